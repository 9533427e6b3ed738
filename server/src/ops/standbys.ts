/**
 * Standbys of the database that follow it by streaming: whether those that there should be are attached, and how late they are.
 *
 * A primary knows of a standby by three things, of which any login may read this much: the connections that send the log (their
 * number), the replication slots (whether one is used, and what its standby has on disk), and the setting of the standbys that
 * commits wait for. So a lost standby is noticed if it has a slot or is named in the setting.
 *
 * Not here: setting them up, and what to do after a failover (docs/operating/production.md, docs/operating/scaling.md).
 */
import type { Database, Tx } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import type { Readings } from './metrics.ts';
import type { Check } from './routes.ts';

export interface Standbys {
  /** Connections over which the log is sent now. */
  attached: number;
  /** Slots of standbys; a base backup's own ends with it and does not count. */
  slots: number;
  /** Slots that no standby uses now. */
  missing: number;
  /** Standbys that each commit waits for; 0 if a commit does not wait. */
  waitedFor: number;
  /** Log that the latest standby with a slot does not have on disk; null without such a standby. */
  lagBytes: number | null;
}

/** The standbys, if the database has or should have any. Reads no table, and does not wait for a standby. */
export async function standbysOf(tx: Tx): Promise<Standbys | undefined> {
  const row = await tx.row<{ attached: bigint; slots: bigint; missing: bigint; names: string; lag: bigint | null }>(
    `select (select count(*) from pg_stat_replication) as attached, count(s.slot_name) as slots,
            count(s.slot_name) filter (where not s.active) as missing,
            current_setting('synchronous_standby_names') as names,
            case when not pg_is_in_recovery() then max(pg_wal_lsn_diff(pg_current_wal_flush_lsn(), s.restart_lsn)) end::bigint as lag
       from (select 1) as once left join pg_replication_slots s on s.slot_type = 'physical' and not s.temporary`,
  );
  if (row === undefined) return undefined;
  const found: Standbys = {
    attached: Number(row.attached),
    slots: Number(row.slots),
    missing: Number(row.missing),
    waitedFor: waitedFor(row.names),
    lagBytes: row.lag === null ? null : Math.max(0, Number(row.lag)),
  };
  return found.attached + found.slots + found.waitedFor === 0 ? undefined : found;
}

/** How many standbys a value of `synchronous_standby_names` demands: `a, b` and `FIRST 1 (a, b)` one, `ANY 2 (a, b, c)` two. */
export function waitedFor(names: string): number {
  if (names.trim() === '') return 0;
  const [, many] = /^\s*(?:any|first)?\s*(\d+)\s*\(/i.exec(names) ?? [];
  return many === undefined ? 1 : Number(many);
}

/**
 * Not essential: without its standby the server still answers what it reads, and what it writes waits with every other process.
 *
 * @returns a check that shows no numbers where the database has no standby
 */
export function standbysCheck(db: Pick<Database, 'asSystem'>): Check {
  return {
    name: 'standbys',
    essential: false,
    async run() {
      const found = await db.asSystem(standbysOf);
      if (found === undefined) return {};
      const { attached, missing, lagBytes } = found;
      const why = whyShort(found);
      return {
        ok: why === undefined,
        attached,
        missing,
        waitedFor: found.waitedFor,
        ...(lagBytes === null ? {} : { lagBytes }),
        ...defined({ why }),
      };
    },
  };
}

function whyShort({ attached, missing, waitedFor: wanted }: Standbys): string | undefined {
  if (attached < wanted)
    return `commits wait for ${wanted} standby, and ${attached} is attached: no write is done until it is back`;
  return missing > 0
    ? `${missing} standby is not attached: a failover to it would lose what it has not received`
    : undefined;
}

/** All 0 where the database has no standby. */
export function standbyReadings(db: Pick<Database, 'asSystem'>): Readings {
  return {
    readings: [
      { name: 'cloverleaf_standbys_attached', help: 'Standbys to which the database sends its log.' },
      { name: 'cloverleaf_standbys_missing', help: 'Standbys with a replication slot that do not use it.' },
      { name: 'cloverleaf_standbys_waited_for', help: 'Standbys that each commit waits for.' },
      { name: 'cloverleaf_standby_lag_bytes', help: 'Log that the latest standby with a slot does not have on disk.' },
    ],
    async read() {
      const found = await db.asSystem(standbysOf);
      const one = (value: number | null | undefined) => [{ value: value ?? 0 }];
      return {
        cloverleaf_standbys_attached: one(found?.attached),
        cloverleaf_standbys_missing: one(found?.missing),
        cloverleaf_standbys_waited_for: one(found?.waitedFor),
        cloverleaf_standby_lag_bytes: one(found?.lagBytes),
      };
    },
  };
}
