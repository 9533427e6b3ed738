/** SQL of reconcile_rails, outside_movements, booked_movements, reconcile_sums, reconcile_balances, reconcile_items. */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';

export interface RailRow {
  rail: string;
  position: string;
  positionAt: Date | null;
  run: number;
  runBeganAt: Date;
  runEndedAt: Date | null;
  seal: bigint;
  comparedAt: Date | null;
  failedWhy: string | null;
}

const RAIL = 'rail, position, position_at, run, run_began_at, run_ended_at, seal, compared_at, failed_why';

export async function ensureRail(tx: Tx, rail: string): Promise<RailRow> {
  const found = () => tx.row<RailRow>(`select ${RAIL} from reconcile_rails where rail = $1`, [rail]);
  const row = await found();
  if (row !== undefined) return row;
  await tx.run('insert into reconcile_rails (rail) values ($1) on conflict do nothing', [rail]);
  return (await found()) as RailRow;
}

/** A rail's row, locked: one process at a time writes a rail's results. */
export const lockRail = (tx: Tx, rail: string) =>
  tx.row<RailRow>(`select ${RAIL} from reconcile_rails where rail = $1 for update`, [rail]);

export const moveRail = (tx: Tx, rail: string, position: string, at: Date) =>
  tx.run('update reconcile_rails set position = $2, position_at = $3 where rail = $1', [rail, position, at]);

export const beginRun = (tx: Tx, rail: string) =>
  tx.run(
    `update reconcile_rails set run = run + 1, position = '', position_at = null, run_began_at = clock_timestamp(),
            run_ended_at = null where rail = $1`,
    [rail],
  );

/** One update for what a comparison found: the row is written once. @param found.ending whether it ends a run of the outside */
export const noteCompared = (
  tx: Tx,
  rail: string,
  found: { ending: boolean; seal: bigint; why: string | null },
): void =>
  tx.defer(
    `update reconcile_rails set compared_at = clock_timestamp(), seal = $2, failed_why = $3,
            run_ended_at = case when $4 then coalesce(run_ended_at, clock_timestamp()) else run_ended_at end where rail = $1`,
    [rail, found.seal, found.why, found.ending],
  );

/** After a comparison of one item alone. */
export const takenUpTo = (tx: Tx, rail: string, seal: bigint): void =>
  tx.defer('update reconcile_rails set seal = $2 where rail = $1 and seal <> $2', [rail, seal]);

export const noteFailed = (tx: Tx, rail: string, why: string) =>
  tx.run('update reconcile_rails set failed_why = $2 where rail = $1', [rail, why]);

// The outside.

export interface Shown {
  name: string;
  wallet: string;
  asset: AssetCode;
  units: bigint;
  place: string;
  key: string;
}

/** Stores movements as they are now, each once. A changed movement is open again. */
export async function keepShown(tx: Tx, rail: string, run: number, shown: readonly Shown[]): Promise<void> {
  if (shown.length === 0) return;
  const columns = [
    shown.map(({ name }) => name),
    shown.map(({ wallet }) => wallet),
    shown.map(({ asset }) => asset),
    shown.map(({ units }) => units),
    shown.map(({ place }) => place),
    shown.map(({ key }) => key),
  ];
  // Sums first: they need the previous rows.
  await tx.run(
    `insert into reconcile_sums (rail, wallet, place, asset, outside_units)
     select $1, s.wallet, s.place, s.asset, sum(s.units - coalesce(o.units, 0))
       from unnest($2::text[], $3::text[], $4::text[], $5::numeric[], $6::text[]) as s (name, wallet, asset, units, place)
       left join outside_movements o on o.rail = $1 and o.name = s.name and o.wallet = s.wallet and o.asset = s.asset
         and o.place = s.place and o.gone_at is null
      group by s.wallet, s.place, s.asset
     on conflict (rail, wallet, place, asset) do update set outside_units = reconcile_sums.outside_units + excluded.outside_units`,
    [rail, ...columns.slice(0, 5)],
  );
  await tx.run(
    `insert into outside_movements as o (rail, name, wallet, asset, units, place, key, run)
     select $1, s.name, s.wallet, s.asset, s.units, s.place, s.key, $8
       from unnest($2::text[], $3::text[], $4::text[], $5::numeric[], $6::text[], $7::text[]) as s (name, wallet, asset, units, place, key)
     on conflict (rail, name, wallet, asset, place) do update set run = excluded.run, units = excluded.units,
       key = excluded.key, gone_at = null,
       before = case when o.units <> excluded.units then o.units else o.before end,
       open = o.open or o.units <> excluded.units or o.gone_at is not null or o.key <> excluded.key`,
    [rail, ...columns, run],
  );
  // Journal lines that were stored before get the key under which the outside groups their movement.
  await tx.run(
    `update booked_movements b set key = o.key, open = true from outside_movements o
      where b.rail = $1 and o.rail = $1 and o.name = any($2::text[]) and b.name = o.name and b.key <> o.key`,
    [rail, shown.map(({ name }) => name)],
  );
}

/**
 * Movements that an earlier run showed and a completed run did not are no longer counted. Remainders are excluded: they come with
 * balances and not with pages.
 */
export async function forgetUnshown(tx: Tx, rail: string, run: number): Promise<void> {
  await tx.run(
    `with gone as (
       update outside_movements set gone_at = clock_timestamp(), open = true
        where rail = $1 and run < $2 and gone_at is null and name not like 'native:%' and name not like 'other:%'
       returning wallet, place, asset, units)
     update reconcile_sums s set outside_units = s.outside_units - g.units
       from (select wallet, place, asset, sum(units) as units from gone group by wallet, place, asset) g
      where s.rail = $1 and s.wallet = g.wallet and s.place = g.place and s.asset = g.asset`,
    [rail, run],
  );
}

/** Sum of the movements shown, by wallet and place, and the stored remainder, which is part of it. */
export const shownSums = (tx: Tx, rail: string) =>
  tx.rows<{ wallet: string; place: string; asset: AssetCode; units: bigint; remainder: bigint }>(
    `select s.wallet, s.place, s.asset, s.outside_units as units, coalesce(o.units, 0) as remainder
       from reconcile_sums s
       left join outside_movements o on o.rail = s.rail and o.wallet = s.wallet and o.place = s.place and o.asset = s.asset
         and s.place <> '' and (o.name like 'native:%' or o.name like 'other:%')
      where s.rail = $1 and s.outside_units <> 0 or s.rail = $1 and o.name is not null`,
    [rail],
  );

// The journal.

export interface Booked {
  entry: string;
  line: number;
  wallet: string;
  asset: AssetCode;
  units: bigint;
  name: string;
}

/** Stores journal lines, each once, under the key by which the outside groups their movement. */
export async function keepBooked(tx: Tx, rail: string, booked: readonly Booked[]): Promise<void> {
  if (booked.length === 0) return;
  await tx.run(
    `with fresh as (
       insert into booked_movements (rail, entry, line, wallet, asset, units, name, key)
       select $1, b.entry, b.line, b.wallet, b.asset, b.units, b.name,
              coalesce((select key from outside_movements o where o.rail = $1 and o.name = b.name limit 1), b.name)
         from unnest($2::text[], $3::smallint[], $4::text[], $5::text[], $6::numeric[], $7::text[]) as b (entry, line, wallet, asset, units, name)
       on conflict do nothing returning wallet, asset, units)
     insert into reconcile_sums (rail, wallet, place, asset, booked_units)
     select $1, wallet, '', asset, sum(units) from fresh group by wallet, asset
     on conflict (rail, wallet, place, asset) do update set booked_units = reconcile_sums.booked_units + excluded.booked_units`,
    [
      rail,
      booked.map(({ entry }) => entry),
      booked.map(({ line }) => line),
      booked.map(({ wallet }) => wallet),
      booked.map(({ asset }) => asset),
      booked.map(({ units }) => units),
      booked.map(({ name }) => name),
    ],
  );
}

// Comparing.

/** Both sides' sums under a key, in one wallet and asset. */
export interface Side {
  key: string;
  wallet: string;
  asset: AssetCode;
  outside: bigint;
  booked: bigint;
  /** Names that the outside shows; names that it showed before and no longer shows; ids of entries. */
  shownNames: string[] | null;
  goneNames: string[] | null;
  entries: string[] | null;
  altered: boolean;
  /** When the newest journal line was stored. */
  bookedAt: Date | null;
}

/** Every key that has changed since its sides were last equal, with all its rows. */
export const openSides = (tx: Tx, rail: string) =>
  tx.rows<Side>(
    `with keys as (
       select key from outside_movements where rail = $1 and open
       union select key from booked_movements where rail = $1 and open),
     sides as (
       select key, wallet, asset, units as outside, 0::numeric as booked, name as shown, null as gone, null as entry,
              before is not null as altered, null::timestamptz as booked_at
         from outside_movements where rail = $1 and gone_at is null and key in (select key from keys)
       union all
       select key, wallet, asset, 0, 0, null, name, null, false, null
         from outside_movements where rail = $1 and gone_at is not null and key in (select key from keys)
       union all
       select key, wallet, asset, 0, units, null, null, entry, false, seen_at
         from booked_movements where rail = $1 and key in (select key from keys))
     select key, wallet, asset, sum(outside) as outside, sum(booked) as booked, array_agg(distinct shown) filter (where shown is not null) as shown_names,
            array_agg(distinct gone) filter (where gone is not null) as gone_names,
            array_agg(distinct entry) filter (where entry is not null) as entries, bool_or(altered) as altered, max(booked_at) as booked_at
       from sides group by key, wallet, asset order by key, wallet, asset`,
    [rail],
  );

/** Keys found equal need no further comparison until one of their rows changes. */
export async function closeKeys(tx: Tx, rail: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.run('update outside_movements set open = false where rail = $1 and open and key = any($2::text[])', [
    rail,
    keys,
  ]);
  await tx.run('update booked_movements set open = false where rail = $1 and open and key = any($2::text[])', [
    rail,
    keys,
  ]);
}

export interface ItemRow {
  id: bigint;
  rail: string;
  wallet: string;
  asset: AssetCode;
  key: string;
  kind: 'break_missing_in_ledger' | 'break_missing_outside' | 'break_amount' | 'break_balance';
  outsideUnits: bigint;
  ledgerUnits: bigint;
  transit: string | null;
  why: string;
  names: string[];
  foundAt: Date;
}

const ITEM = 'id, rail, wallet, asset, key, kind, outside_units, ledger_units, transit, why, names, found_at';

export type KeptItem = ItemRow & { closedAt: Date | null };

export const itemById = (tx: Tx, id: bigint) =>
  tx.row<KeptItem>(`select ${ITEM}, closed_at from reconcile_items where id = $1`, [id]);

export const openItems = (tx: Tx, rail: string | null) =>
  tx.rows<ItemRow>(
    `select ${ITEM} from reconcile_items where closed_at is null and ($1::text is null or rail = $1) order by rail, found_at, id`,
    [rail],
  );

/** Stores an item. One whose kind changed is closed and opened again, so that each case describes its own finding. */
export async function keepItem(tx: Tx, item: Omit<ItemRow, 'id' | 'foundAt'>): Promise<void> {
  const { rail, wallet, asset, key, kind, outsideUnits, ledgerUnits, transit, why, names } = item;
  await tx.run(
    `insert into reconcile_items (rail, wallet, asset, key, kind, outside_units, ledger_units, transit, why, names)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (rail, wallet, asset, key) where closed_at is null do update set kind = excluded.kind,
       outside_units = excluded.outside_units, ledger_units = excluded.ledger_units, transit = excluded.transit,
       why = excluded.why, names = excluded.names`,
    [rail, wallet, asset, key, kind, outsideUnits, ledgerUnits, transit, why, JSON.stringify(names)],
  );
}

export const closeItem = (tx: Tx, id: bigint) =>
  tx.run('update reconcile_items set closed_at = clock_timestamp() where id = $1', [id]);

/** An upper bound: an installation has few wallets. */
const MOST_BALANCES = 1_000;

export interface BalanceRow {
  rail: string;
  wallet: string;
  asset: AssetCode;
  ledgerUnits: bigint;
  outsideUnits: bigint | null;
  transitUnits: bigint;
  position: string;
  comparedAt: Date;
}

export async function keepBalance(tx: Tx, row: Omit<BalanceRow, 'comparedAt'>): Promise<void> {
  await tx.run(
    `insert into reconcile_balances (rail, wallet, asset, ledger_units, outside_units, transit_units, position, compared_at)
     values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp())
     on conflict (rail, wallet, asset) do update set ledger_units = excluded.ledger_units, outside_units = excluded.outside_units,
       transit_units = excluded.transit_units, position = excluded.position, compared_at = excluded.compared_at
     where (reconcile_balances.ledger_units, reconcile_balances.outside_units, reconcile_balances.transit_units)
             is distinct from (excluded.ledger_units, excluded.outside_units, excluded.transit_units)
        or reconcile_balances.compared_at < excluded.compared_at - interval '1 minute'`,
    [row.rail, row.wallet, row.asset, row.ledgerUnits, row.outsideUnits, row.transitUnits, row.position],
  );
}

export const balances = (tx: Tx, rail: string) =>
  tx.rows<BalanceRow & { decimals: number }>(
    `select b.*, a.decimals from reconcile_balances b join assets a on a.code = b.asset where rail = $1 order by wallet, asset`,
    [rail],
  );

export const allBalances = (tx: Tx) =>
  tx.rows<BalanceRow & { breaks: bigint }>(
    `select b.*, (select count(*) from reconcile_items i where i.rail = b.rail and i.wallet = b.wallet and i.asset = b.asset
              and i.closed_at is null and i.transit is null) as breaks
       from reconcile_balances b order by b.rail, b.wallet, b.asset limit ${MOST_BALANCES}`,
  );

/** Sums of both sides by wallet and asset. */
export const walletSums = (tx: Tx, rail: string) =>
  tx.rows<{ wallet: string; asset: AssetCode; outside: bigint; booked: bigint }>(
    `select wallet, asset, sum(outside_units) as outside, sum(booked_units) as booked from reconcile_sums where rail = $1
      group by wallet, asset order by wallet, asset`,
    [rail],
  );

/** For readiness and metrics. */
export const states = (tx: Tx) =>
  tx.rows<{
    rail: string;
    comparedMs: number | null;
    fullMs: number | null;
    failedWhy: string | null;
    breaks: bigint;
    oldestMs: number | null;
    transit: bigint;
  }>(
    `select r.rail, (extract(epoch from clock_timestamp() - r.compared_at) * 1000)::float8 as compared_ms,
            (extract(epoch from clock_timestamp() - r.run_ended_at) * 1000)::float8 as full_ms, r.failed_why,
            count(i.id) filter (where i.transit is null) as breaks,
            (extract(epoch from clock_timestamp() - min(i.found_at) filter (where i.transit is null)) * 1000)::float8 as oldest_ms,
            count(i.id) filter (where i.transit is not null) as transit
       from reconcile_rails r left join reconcile_items i on i.rail = r.rail and i.closed_at is null
      group by r.rail, r.compared_at, r.run_ended_at, r.failed_why order by r.rail`,
  );
