/** Rows of what is switched off. */
import type { Tx } from '../base/db.ts';

export type StopKind = 'market' | 'partner' | 'rail' | 'payouts';

export interface Stop {
  kind: StopKind;
  /** Id of the market or partner, code of the rail; `all` for payouts. */
  subject: string;
  by: string;
  reason: string;
  at: Date;
}

/** Advisory lock: shared by whoever hands money over, alone for whoever switches. Any constant. */
const HANDING_LOCK = 0x73746f70;

/** Who lays a kill switch by itself. Not a person. */
export const MACHINE = 'the machine';

/** One of those who laid a kill switch. */
export interface Layer {
  by: string;
  reason: string;
  at: Date;
}

const sql = {
  lock: 'select pg_advisory_xact_lock($1)',
  share: 'select pg_advisory_xact_lock_shared($1)',
  insert: `insert into stops (kind, subject, partner_id, by, reason, at) values ($1, $2, $3, $4, $5, $6)
    on conflict (kind, subject) do nothing`,
  insertLayer: `insert into stop_layers (kind, subject, by, reason, at) values ($1, $2, $3, $4, $5)
    on conflict (kind, subject, by) do nothing`,
  layers: 'select by, reason, at from stop_layers where kind = $1 and subject = $2 order by at, by',
  remove: 'delete from stops where kind = $1 and subject = $2',
  all: 'select kind, subject, by, reason, at from stops order by at, kind, subject',
  handing: `select kind, subject, by, reason, at from stops
    where kind = 'payouts' or (kind = 'rail' and subject = $1) limit 1`,
} as const;

export const lockHanding = (tx: Tx) => tx.row(sql.lock, [HANDING_LOCK]);
export const shareHanding = (tx: Tx) => tx.row(sql.share, [HANDING_LOCK]);
export const stopRows = (tx: Tx) => tx.rows<Stop>(sql.all);
export const handingStop = (tx: Tx, rail: string) => tx.row<Stop>(sql.handing, [rail]);
export const removeStop = (tx: Tx, kind: StopKind, subject: string) => tx.run(sql.remove, [kind, subject]);
export const insertStop = (tx: Tx, s: Stop & { partnerId: bigint | null }) =>
  tx.run(sql.insert, [s.kind, s.subject, s.partnerId, s.by, s.reason, s.at]);
export const insertLayer = (tx: Tx, s: Stop) => tx.run(sql.insertLayer, [s.kind, s.subject, s.by, s.reason, s.at]);
export const layersOf = (tx: Tx, kind: StopKind, subject: string) => tx.rows<Layer>(sql.layers, [kind, subject]);
