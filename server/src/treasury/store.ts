/** SQL of own_transfers, sweep_minimums, treasury_thresholds and treasury_outside. */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { conditions, parameters } from '../base/scan.ts';

/** `dropped`: given up before it was submitted. If the transfer turns out to have been sent, it is still booked. */
export type TransferState = 'created' | 'submitted' | 'settled' | 'failed' | 'dropped';

export interface OwnTransfer {
  key: string;
  kind: 'sweep' | 'gas';
  rail: string;
  address: string;
  index: bigint;
  asset: AssetCode;
  units: bigint;
  /** The recipient. */
  target: string;
  sweep: string | null;
  state: TransferState;
  why: string | null;
  costAsset: AssetCode | null;
  costUnits: bigint;
  createdAt: Date;
  endedAt: Date | null;
  bookedAt: Date | null;
  /** Hash of its chain transaction once it has ended; before that the key of its batch, if it is in one. */
  reference: string | null;
}

const COLUMNS =
  'key, kind, rail, address, index, asset, units, target, sweep, state, why, cost_asset, cost_units, created_at, ended_at, booked_at, reference';

/** Locks until `tx` ends: one process at a time chooses what a rail sweeps next. */
export async function lockChoice(tx: Tx, rail: string): Promise<void> {
  await tx.run(`select pg_advisory_xact_lock(hashtext('sweep'), hashtext($1))`, [rail]);
}

export async function minimums(tx: Tx): Promise<Map<AssetCode, bigint>> {
  const rows = await tx.rows<{ asset: AssetCode; minUnits: bigint }>('select asset, min_units from sweep_minimums');
  return new Map(rows.map((row) => [row.asset, row.minUnits]));
}

/** Leaves an existing row unchanged, so that a restart does not undo an operator's change. */
export async function seedMinimum(tx: Tx, asset: AssetCode, units: bigint): Promise<void> {
  await tx.run('insert into sweep_minimums (asset, min_units) values ($1, $2) on conflict do nothing', [asset, units]);
}

export async function setMinimum(tx: Tx, asset: AssetCode, units: bigint): Promise<void> {
  await tx.run(
    `insert into sweep_minimums (asset, min_units) values ($1, $2)
     on conflict (asset) do update set min_units = excluded.min_units`,
    [asset, units],
  );
}

export async function write(
  tx: Tx,
  t: Pick<OwnTransfer, 'key' | 'kind' | 'rail' | 'address' | 'index' | 'asset' | 'units' | 'target' | 'sweep'>,
  at: Date,
): Promise<void> {
  await tx.run(
    `insert into own_transfers (key, kind, rail, address, index, asset, units, target, sweep, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [t.key, t.kind, t.rail, t.address, t.index, t.asset, t.units, t.target, t.sweep, at],
  );
}

export const find = (tx: Tx, key: string) =>
  tx.row<OwnTransfer>(`select ${COLUMNS} from own_transfers where key = $1`, [key]);

export const lock = (tx: Tx, key: string) =>
  tx.row<OwnTransfer>(`select ${COLUMNS} from own_transfers where key = $1 for update`, [key]);

/** Sweeps under way, least recently checked first. */
export const openSweeps = (tx: Tx, rail: string) =>
  tx.rows<OwnTransfer>(
    `select ${COLUMNS} from own_transfers where rail = $1 and kind = 'sweep' and booked_at is null and ended_at is null
      order by looked_at, created_at`,
    [rail],
  );

/** An open gas transfer that belongs to no sweep. */
export const openFill = (tx: Tx, rail: string) =>
  tx.row<OwnTransfer>(
    `select ${COLUMNS} from own_transfers where rail = $1 and kind = 'gas' and sweep is null and ended_at is null
      order by created_at limit 1`,
    [rail],
  );

export async function nextFillKey(tx: Tx, rail: string): Promise<string> {
  const row = await tx.row<{ count: bigint }>(
    `select count(*) as count from own_transfers where rail = $1 and kind = 'gas' and sweep is null`,
    [rail],
  );
  return `gas:fill:${rail}:${(row?.count ?? 0n) + 1n}`;
}

/**
 * Transfers that ended and are not in the ledger yet, in the order in which they ended, so that gas is booked before it is spent.
 */
export const unbooked = (tx: Tx, rail: string) =>
  tx.rows<OwnTransfer>(
    `select ${COLUMNS} from own_transfers where rail = $1 and booked_at is null and ended_at is not null
      order by ended_at, kind, key for update`,
    [rail],
  );

/**
 * Sweeps and gas transfers of all rails that are not in the ledger yet, oldest first.
 *
 * @param input.after the last key of the previous page
 */
export const waitingTransfers = (
  tx: Tx,
  input: { after?: string | undefined; limit: number },
): Promise<OwnTransfer[]> => {
  const { values, put } = parameters();
  const after = input.after === undefined ? '' : `and (created_at, key) > ${placeOf(put(input.after))}`;
  return tx.rows<OwnTransfer>(
    `select ${COLUMNS} from own_transfers where booked_at is null ${after} order by created_at, key limit ${put(input.limit)}`,
    values,
  );
};

/** Sweeps and gas transfers, newest first. @param input.below the last key of the previous page */
export const newestTransfers = (
  tx: Tx,
  input: { rail?: string | undefined; below?: string | undefined; limit: number },
): Promise<OwnTransfer[]> => {
  const { values, put } = parameters();
  const where = conditions(put, [['rail =', input.rail]]);
  const below = input.below === undefined ? '' : `and (created_at, key) < ${placeOf(put(input.below))}`;
  return tx.rows<OwnTransfer>(
    `select ${COLUMNS} from own_transfers where ${where} ${below}
      order by created_at desc, key desc limit ${put(input.limit)}`,
    values,
  );
};

/** Where a transfer stands in a list by time. */
const placeOf = (key: string): string => `((select created_at from own_transfers where key = ${key}), ${key})`;

/** Number of sweeps of an asset at an address so far. */
async function countSweeps(tx: Tx, rail: string, address: string, asset: AssetCode): Promise<number> {
  const row = await tx.row<{ count: bigint }>(
    `select count(*) as count from own_transfers where rail = $1 and address = $2 and asset = $3 and kind = 'sweep'`,
    [rail, address, asset],
  );
  return Number(row?.count ?? 0n);
}

export const nextSweepKey = async (tx: Tx, rail: string, address: string, asset: AssetCode): Promise<string> =>
  `sweep:${rail}:${address}:${asset}:${(await countSweeps(tx, rail, address, asset)) + 1}`;

/** @param before number of earlier gas transfers for the sweep */
export const gasKey = (sweep: string, before: number): string => `${sweep.replace(/^sweep:/, 'gas:')}.${before + 1}`;

export const gasOf = (tx: Tx, sweep: string) =>
  tx.rows<OwnTransfer>(`select ${COLUMNS} from own_transfers where sweep = $1 order by created_at, key`, [sweep]);

/** Gas transfers of several sweeps, by sweep. */
export const gasOfAll = async (tx: Tx, sweeps: readonly string[]): Promise<Map<string | null, OwnTransfer[]>> =>
  Map.groupBy(
    await tx.rows<OwnTransfer>(`select ${COLUMNS} from own_transfers where sweep = any($1) order by created_at, key`, [
      sweeps,
    ]),
    ({ sweep }) => sweep,
  );

/** Transfers of this asset and amount, from or to a deposit address, that the books have as not submitted. */
export const unsent = (
  tx: Tx,
  rail: string,
  of: { kind: 'sweep' | 'gas'; address: string; asset: AssetCode; units: bigint },
): Promise<OwnTransfer[]> =>
  tx.rows<OwnTransfer>(
    `select ${COLUMNS} from own_transfers
      where rail = $1 and kind = $2 and address = $3 and asset = $4 and units = $5 and state = 'created' and ended_at is null`,
    [rail, of.kind, of.address, of.asset, of.units],
  );

/** The sweeps of an address, newest first. Gas found on the chain was for one of them. */
export const sweepsAt = (tx: Tx, rail: string, address: string): Promise<OwnTransfer[]> =>
  tx.rows<OwnTransfer>(
    `select ${COLUMNS} from own_transfers where rail = $1 and address = $2 and kind = 'sweep' order by created_at desc, key desc limit 20`,
    [rail, address],
  );

/** Records the result of submitting a transfer, if it is still open. */
export async function note(
  tx: Tx,
  key: string,
  what: { state: 'created' | 'submitted'; why: string | null; at: Date },
): Promise<void> {
  await tx.run(`update own_transfers set state = $2, why = $3, looked_at = $4 where key = $1 and ended_at is null`, [
    key,
    what.state,
    what.why,
    what.at,
  ]);
}

export async function end(
  tx: Tx,
  key: string,
  how: {
    state: 'settled' | 'failed' | 'dropped';
    why: string | null;
    reference?: string;
    cost?: { asset: AssetCode; units: bigint } | undefined;
    at: Date;
  },
): Promise<void> {
  await tx.run(
    `update own_transfers set state = $2, why = $3, reference = $4, cost_asset = $5, cost_units = $6, ended_at = $7,
            booked_at = case when $2 = 'dropped' then $7::timestamptz end
      where key = $1`,
    [key, how.state, how.why, how.reference ?? null, how.cost?.asset ?? null, how.cost?.units ?? 0n, how.at],
  );
}

/** Reopens a transfer whose chain transaction a reorg removed. */
export const reopen = (tx: Tx, key: string) =>
  tx.run(
    `update own_transfers set state = 'submitted', why = $2, reference = null, cost_asset = null, cost_units = 0, ended_at = null,
            booked_at = null
      where key = $1 and state = 'settled'`,
    [key, 'a reorg reversed it'],
  );

// Batches: sweeps that one chain transaction makes.

/** Sweeps that may be put into a batch, oldest first: nothing of them has begun, and the last sweep of the address did not fail. */
export const batchable = (tx: Tx, rail: string) =>
  tx.rows<OwnTransfer>(
    `select ${COLUMNS} from own_transfers t
      where rail = $1 and kind = 'sweep' and booked_at is null and ended_at is null and state = 'created' and reference is null
        and not exists (select from own_transfers g where g.sweep = t.key)
        and coalesce((select f.state from own_transfers f
                       where f.rail = t.rail and f.address = t.address and f.kind = 'sweep' and f.ended_at is not null
                       order by f.ended_at desc limit 1), '') <> 'failed'
      order by created_at, key`,
    [rail],
  );

/** Marks sweeps that nothing has begun as submitted in a batch, if all of them still are so. @returns how many are */
export const joinBatch = (tx: Tx, keys: readonly string[], batch: string, at: Date): Promise<number> =>
  tx.run(
    `with free as materialized (
       select key from own_transfers t
        where key = any($1::text[]) and state = 'created' and ended_at is null and reference is null
          and not exists (select from own_transfers g where g.sweep = t.key)
        order by key for update)
     update own_transfers t set state = 'submitted', reference = $2, why = null, looked_at = $3
       from free where t.key = free.key and (select count(*) from free) = cardinality($1::text[])`,
    [keys, batch, at],
  );

/** The open sweeps of a batch, locked. */
export const lockBatch = (tx: Tx, rail: string, batch: string) =>
  tx.rows<OwnTransfer>(
    `select ${COLUMNS} from own_transfers
      where rail = $1 and booked_at is null and ended_at is null and reference = $2 order by key for update`,
    [rail, batch],
  );

export const leaveBatch = (tx: Tx, keys: readonly string[]): Promise<number> =>
  tx.run(
    `update own_transfers set state = 'created', reference = null where key = any($1::text[]) and ended_at is null`,
    [keys],
  );

/** Unbooked sweeps that ended with this chain transaction. */
export const sweepsUnder = (tx: Tx, rail: string, hash: string) =>
  tx.rows<OwnTransfer>(
    `select ${COLUMNS} from own_transfers
      where rail = $1 and booked_at is null and ended_at is not null and kind = 'sweep' and reference = $2 order by key`,
    [rail, hash],
  );

/** @param how.cost what the chain transaction of them all has cost, noted with one of them */
export const endAll = (
  tx: Tx,
  keys: readonly string[],
  how: {
    state: 'settled' | 'failed';
    why: string | null;
    reference: string;
    at: Date;
    cost: { key: string; asset: AssetCode; units: bigint } | undefined;
  },
): void => {
  const { state, why, reference, at, cost } = how;
  tx.defer(
    `update own_transfers set state = $2, why = $3, reference = $4, ended_at = $5,
            cost_asset = case when key = $6 then $7 else cost_asset end, cost_units = case when key = $6 then $8 else cost_units end
      where key = any($1::text[])`,
    [keys, state, why, reference, at, cost?.key ?? null, cost?.asset ?? null, cost?.units ?? null],
  );
};

export const markBooked = (tx: Tx, keys: readonly string[], at: Date): void =>
  tx.defer('update own_transfers set booked_at = $2 where key = any($1::text[])', [keys, at]);

// Thresholds.

export interface ThresholdRow {
  rail: string;
  wallet: string;
  asset: AssetCode;
  lowUnits: bigint;
  alarmUnits: bigint;
  outsideUnits: bigint | null;
  readAt: Date | null;
}

export const thresholds = (tx: Tx) =>
  tx.rows<ThresholdRow>(
    `select t.rail, t.wallet, t.asset, t.low_units, t.alarm_units, o.units as outside_units, o.read_at
       from treasury_thresholds t left join treasury_outside o using (rail, wallet, asset)
      order by t.asset, t.rail, t.wallet`,
  );

export interface Threshold {
  rail: string;
  wallet: string;
  asset: AssetCode;
  lowUnits: bigint;
  alarmUnits: bigint;
}

/** Leaves an existing row unchanged. */
export async function seedThreshold(tx: Tx, t: Threshold): Promise<void> {
  await tx.run(
    `insert into treasury_thresholds (rail, wallet, asset, low_units, alarm_units) values ($1, $2, $3, $4, $5)
     on conflict do nothing`,
    [t.rail, t.wallet, t.asset, t.lowUnits, t.alarmUnits],
  );
}

export async function setThreshold(tx: Tx, t: Threshold): Promise<void> {
  await tx.run(
    `insert into treasury_thresholds (rail, wallet, asset, low_units, alarm_units) values ($1, $2, $3, $4, $5)
     on conflict (rail, wallet, asset) do update set low_units = excluded.low_units, alarm_units = excluded.alarm_units`,
    [t.rail, t.wallet, t.asset, t.lowUnits, t.alarmUnits],
  );
}

/** The balance that chain or bank reported, and when. */
export interface OutsideUnits {
  wallet: string;
  asset: AssetCode;
  units: bigint;
  at: Date;
}

export async function noteOutside(tx: Tx, rail: string, read: readonly OutsideUnits[]): Promise<void> {
  await tx.run(
    `insert into treasury_outside (rail, wallet, asset, units, read_at)
     select $1, * from unnest($2::text[], $3::text[], $4::numeric[], $5::timestamptz[])
     on conflict (rail, wallet, asset) do update set units = excluded.units, read_at = excluded.read_at
       where treasury_outside.units <> excluded.units
          or treasury_outside.read_at not between excluded.read_at - interval '3 minutes' and excluded.read_at`,
    [
      rail,
      ...[read.map(({ wallet }) => wallet), read.map(({ asset }) => asset)],
      ...[read.map(({ units }) => units), read.map(({ at }) => at)],
    ],
  );
}
