/**
 * Rows of kill switches.
 */
import type { Tx } from '../base/db.ts';

export type KillSwitchKind = 'market' | 'partner' | 'rail' | 'payouts';

export interface KillSwitch {
  kind: KillSwitchKind;
  /** Id of the market or partner, code of the rail; `all` for payouts. */
  subject: string;
  by: string;
  reason: string;
  at: Date;
}

/** Advisory lock: shared by code that submits money, exclusive for code that sets a kill switch. Any constant. */
const SUBMIT_LOCK = 0x73746f70;
/** Advisory lock of code that sets or lifts a kill switch. Any constant. */
const CHANGE_LOCK = 0x73746f71;

/** Name of the setter when the program itself sets a kill switch. */
export const MACHINE = 'the machine';

/** One operator (or the machine) who set a kill switch, with time and reason. */
export interface Layer {
  by: string;
  reason: string;
  at: Date;
}

const sql = {
  lock: 'select pg_advisory_xact_lock($1)',
  share: 'select pg_advisory_xact_lock_shared($1)',
  insert: `insert into kill_switches (kind, subject, partner_id, by, reason, at) values ($1, $2, $3, $4, $5, $6)
    on conflict (kind, subject) do nothing`,
  insertLayer: `insert into kill_switch_layers (kind, subject, by, reason, at) values ($1, $2, $3, $4, $5)
    on conflict (kind, subject, by) do nothing`,
  layers: 'select by, reason, at from kill_switch_layers where kind = $1 and subject = $2 order by at, by',
  remove: 'delete from kill_switches where kind = $1 and subject = $2',
  all: 'select kind, subject, by, reason, at from kill_switches order by at, kind, subject',
  submission: `select kind, subject, by, reason, at from kill_switches
    where kind = 'payouts' or (kind = 'rail' and subject = $1) limit 1`,
} as const;

/** Locks setting and lifting of kill switches until `tx` ends. A caller that also locks submissions does that first. */
export const lockKillSwitches = (tx: Tx) => tx.row(sql.lock, [CHANGE_LOCK]);
export const lockSubmitting = (tx: Tx) => tx.row(sql.lock, [SUBMIT_LOCK]);
export const shareSubmitting = (tx: Tx) => tx.row(sql.share, [SUBMIT_LOCK]);
export const switchRows = (tx: Tx) => tx.rows<KillSwitch>(sql.all);
export const submittingSwitch = (tx: Tx, rail: string) => tx.row<KillSwitch>(sql.submission, [rail]);
export const removeKillSwitch = (tx: Tx, kind: KillSwitchKind, subject: string) => tx.run(sql.remove, [kind, subject]);
export const insertKillSwitch = (tx: Tx, s: KillSwitch & { partnerId: bigint | null }) =>
  tx.run(sql.insert, [s.kind, s.subject, s.partnerId, s.by, s.reason, s.at]);
export const insertLayer = (tx: Tx, s: KillSwitch) =>
  tx.run(sql.insertLayer, [s.kind, s.subject, s.by, s.reason, s.at]);
export const layersOf = (tx: Tx, kind: KillSwitchKind, subject: string) => tx.rows<Layer>(sql.layers, [kind, subject]);
