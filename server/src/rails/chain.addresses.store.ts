/** SQL of the addresses that are watched on a chain, and of those that are known on other chains. */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';

export interface ChainAsset {
  code: AssetCode;
  contract: string | null;
  native: boolean;
}

export const assetsOf = (tx: Tx, chain: string) =>
  tx.rows<ChainAsset>('select code, contract, native from assets where chain = $1', [chain]);

/**
 * Assigns an address to an order permanently, in the transaction that creates the order, so that every address given to a
 * customer is watched.
 */
export function watchAddress(
  tx: Tx,
  watched: { rail: string; address: string; index: bigint; orderId: bigint; partnerId: bigint; at?: Date },
): void {
  tx.defer(
    `insert into deposit_addresses (rail, address, index, order_id, partner_id, made_at)
     values ($1, $2, $3, $4, $5, coalesce($6, now()))`,
    [watched.rail, watched.address, watched.index, watched.orderId, watched.partnerId, watched.at ?? null],
  );
}

/** When the first address on this rail was assigned; undefined if none was. */
export const firstGivenOut = async (tx: Tx, rail: string): Promise<Date | undefined> =>
  (await tx.row<{ at: Date | null }>('select min(made_at) as at from deposit_addresses where rail = $1', [rail]))?.at ??
  undefined;

/** The addresses among these that we watch. */
export async function watchedAmong(tx: Tx, rail: string, addresses: readonly string[]): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const rows = await tx.rows<{ address: string }>(
    'select address from deposit_addresses where rail = $1 and address = any($2::text[])',
    [rail, addresses],
  );
  return new Set(rows.map((row) => row.address));
}

export interface Watched {
  rail: string;
  address: string;
  index: bigint;
  /** Null if no order in the books has it: it was assigned after the last commit that was restored. */
  orderId: bigint | null;
  partnerId: bigint | null;
  homeRail: string | null;
  madeAt: Date;
}

/** This rail, or the rail of a chain known to be another one: a chain with two names contributes each address once. */
const OWN_OR_OTHER_CHAIN = `(c.rail = $1 or c.chain_id <> (select chain_id from chains where rail = $1))`;

/**
 * The addresses among these that are watched on any chain; the row of `rail` if there is one.
 *
 * A key has at most one row, and the limit tells the planner so. Otherwise it would read every watched address for the recipients
 * of many blocks.
 */
export async function watchedAnywhere(
  tx: Tx,
  rail: string,
  addresses: readonly string[],
): Promise<Map<string, Watched>> {
  if (addresses.length === 0) return new Map();
  const rows = await tx.rows<Watched>(
    `select d.rail, d.address, d.index, d.order_id, d.partner_id, d.home_rail,
            d.made_at
       from unnest($2::text[]) as asked (address) cross join chains c
      cross join lateral (select * from deposit_addresses where rail = c.rail and address = asked.address limit 1) d
      where ${OWN_OR_OTHER_CHAIN}
      order by d.rail = $1`,
    [rail, addresses],
  );
  return new Map(rows.map((row) => [row.address, row]));
}

/** Recent addresses of all chains, in number order, each once; the row of `rail` if there is one. */
export const addressesAnywhere = (tx: Tx, rail: string, after: bigint, since: Date, limit: number) =>
  tx.rows<Watched>(
    `select distinct on (d.index) d.* from chains c cross join lateral (
       select rail, address, index, order_id, partner_id, home_rail, made_at
         from deposit_addresses where rail = c.rail and index > $2 and made_at >= $3 order by index limit $4) d
      where ${OWN_OR_OTHER_CHAIN}
      order by d.index, d.rail <> $1 limit $4`,
    [rail, after, since, limit],
  );

/** From now on, an address of an order on another chain is watched, swept and counted on this one, too. */
export async function adopt(
  tx: Tx,
  rail: string,
  { address, index, orderId, partnerId, ...home }: Watched,
): Promise<void> {
  await tx.run(
    `insert into deposit_addresses (rail, address, index, order_id, partner_id, made_at, home_rail)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [rail, address, index, orderId, partnerId, home.madeAt, home.homeRail ?? home.rail],
  );
}

/** Watches an address that received money and that no order in the books has. No order gets it. */
export async function keepLost(
  tx: Tx,
  rail: string,
  lost: { address: string; index: bigint },
  at: Date,
): Promise<void> {
  await tx.run(
    `insert into deposit_addresses (rail, address, index, made_at) values ($1, $2, $3, $4) on conflict do nothing`,
    [rail, lost.address, lost.index, at],
  );
}

/** The number of a deposit address of ours; undefined for any other address. */
export async function indexOf(tx: Tx, rail: string, address: string): Promise<bigint | undefined> {
  const row = await tx.row<{ index: bigint }>(`select index from deposit_addresses where rail = $1 and address = $2`, [
    rail,
    address,
  ]);
  return row?.index;
}

/** Addresses in number order, one page at a time. */
export async function addressPage(tx: Tx, rail: string, after: bigint, since: Date, limit: number) {
  return await tx.rows<{ address: string; index: bigint }>(
    `select address, index from deposit_addresses where rail = $1 and index > $2 and made_at >= $3 order by index limit $4`,
    [rail, after, since, limit],
  );
}

export async function trustedAmong(tx: Tx, rail: string, addresses: readonly string[]): Promise<Set<string>> {
  const rows = await tx.rows<{ address: string }>(
    'select address from funding_sources where rail = $1 and address = any($2::text[])',
    [rail, addresses],
  );
  return new Set(rows.map((row) => row.address));
}

/** From now on, money from this address to the paying wallet is the operator's own. */
export async function trustFundingSource(tx: Tx, rail: string, address: string, note: string): Promise<void> {
  await tx.run('insert into funding_sources (rail, address, note) values ($1, $2, $3) on conflict do nothing', [
    rail,
    address,
    note,
  ]);
}

/** Our first deposit address. */
export const firstAddress = (tx: Tx, rail: string): Promise<{ address: string; index: bigint } | undefined> =>
  tx.row('select address, index from deposit_addresses where rail = $1 order by index limit 1', [rail]);

/** Addresses by their numbers, which the names of deposit wallets contain. */
export async function addressesOfIndexes(
  tx: Tx,
  rail: string,
  indexes: readonly bigint[],
): Promise<Map<bigint, string>> {
  const rows = await tx.rows<{ index: bigint; address: string }>(
    'select index, address from deposit_addresses where rail = $1 and index = any($2::bigint[])',
    [rail, indexes],
  );
  return new Map(rows.map((row) => [row.index, row.address]));
}
