/**
 * SQL of the chain engine: chains, chain_blocks, chain_deposits, chain_credits, funding_sources, deposit_addresses,
 * native_balances, chain_sends, chain_nonces, released_nonces, gas_prices. It reads two tables of other modules: assets and
 * confirmation_policies.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import type { Block, Call, Fee } from './chain.adapter.ts';

// The follower's position.

export interface Cursor {
  chain_id: bigint | null;
  genesis_hash: string | null;
  halted_why: string | null;
  /** -1 before the first step. */
  finalized: bigint;
  head_number: bigint | null;
  head_hash: string | null;
  head_at: Date | null;
}

const CURSOR = 'chain_id, genesis_hash, halted_why, finalized, head_number, head_hash, head_at';

export async function ensureChain(tx: Tx, rail: string, chain: string, finality: number): Promise<void> {
  await tx.run(
    `insert into chains (rail, chain, finality) values ($1, $2, $3)
     on conflict (rail) do update set finality = excluded.finality where chains.finality <> excluded.finality`,
    [rail, chain, finality],
  );
}

export const cursorOf = (tx: Tx, rail: string) =>
  tx.row<Cursor>(`select ${CURSOR} from chains where rail = $1`, [rail]);

/** Genesis of the chain that a rail has followed; undefined before its first step. */
export const followedGenesis = async (tx: Tx, rail: string): Promise<string | undefined> =>
  (await cursorOf(tx, rail))?.genesis_hash ?? undefined;

/** The cursor, with the row locked: one process at a time writes a chain's events. */
export const lockCursor = (tx: Tx, rail: string) =>
  tx.row<Cursor>(`select ${CURSOR} from chains where rail = $1 for no key update`, [rail]);

export async function moveCursor(
  tx: Tx,
  rail: string,
  to: { chainId: bigint; genesisHash: string; finalized: bigint; head: Block; at: Date },
): Promise<void> {
  await tx.run(
    `update chains set chain_id = $2, genesis_hash = $3, finalized = $4, head_number = $5, head_hash = $6, head_at = $7,
            checked_at = $8 where rail = $1`,
    [rail, to.chainId, to.genesisHash, to.finalized, to.head.number, to.head.hash, to.head.at, to.at],
  );
  await tx.run('delete from chain_blocks where rail = $1 and number < $2', [rail, to.finalized]);
}

/** @returns false when it was halted already */
export async function haltChain(tx: Tx, rail: string, why: string): Promise<boolean> {
  return (await tx.run('update chains set halted_why = $2 where rail = $1 and halted_why is null', [rail, why])) > 0;
}

/** Why a chain halted by itself, with its cursor locked; null when it has not. */
export const whyOff = async (tx: Tx, rail: string): Promise<string | null> =>
  (await lockCursor(tx, rail))?.halted_why ?? null;

/**
 * An operator lifts the halt.
 *
 * @param restart begins again below the block that was final when it halted, for when we followed a chain that was abandoned:
 *                unconfirmed deposits are then found again or reversed; confirmed ones stay as they are
 */
export async function clearHalt(tx: Tx, rail: string, options: { restart: boolean }): Promise<void> {
  await tx.run('update chains set halted_why = null where rail = $1', [rail]);
  if (!options.restart) return;
  await tx.run(
    'update chain_deposits set orphaned = true where rail = $1 and reversed_at is null and confirmed_at is null',
    [rail],
  );
  await tx.run('delete from chain_blocks where rail = $1', [rail]);
  // As after any reorg: credits are found again if they are still there, and unmined sends are broadcast again.
  await tx.run('delete from chain_credits where rail = $1 and reported_at is null', [rail]);
  await tx.run(
    `update chain_sends set state = 'mined'
      where rail = $1 and state = 'confirmed' and block > (select finalized from chains where rail = $1)`,
    [rail],
  );
  await tx.run(
    `update chains set chain_id = null, genesis_hash = null, head_number = null, head_hash = null, head_at = null
      where rail = $1`,
    [rail],
  );
}

// Blocks.

export async function blockHashes(tx: Tx, rail: string, from: bigint, to: bigint): Promise<Map<bigint, string>> {
  const rows = await tx.rows<{ number: bigint; hash: string }>(
    'select number, hash from chain_blocks where rail = $1 and number between $2 and $3',
    [rail, from, to],
  );
  return new Map(rows.map((row) => [row.number, row.hash]));
}

export async function blockAt(tx: Tx, rail: string, number: bigint): Promise<Block | undefined> {
  return await tx.row<Block>(
    'select number, hash, parent_hash as "parentHash", at from chain_blocks where rail = $1 and number = $2',
    [rail, number],
  );
}

export async function addBlocks(tx: Tx, rail: string, blocks: readonly Block[]): Promise<void> {
  if (blocks.length === 0) return;
  await tx.run(
    `insert into chain_blocks (rail, number, hash, parent_hash, at)
     select $1, * from unnest($2::bigint[], $3::text[], $4::text[], $5::timestamptz[])`,
    [
      rail,
      blocks.map((b) => b.number),
      blocks.map((b) => b.hash),
      blocks.map((b) => b.parentHash),
      blocks.map((b) => b.at),
    ],
  );
}

/** Drops the blocks above, which are no longer in the chain; deposits and sends in them wait to be found again. */
export async function dropBlocksAbove(tx: Tx, rail: string, number: bigint): Promise<void> {
  await tx.run('delete from chain_blocks where rail = $1 and number > $2', [rail, number]);
  await tx.run('update chain_deposits set orphaned = true where rail = $1 and block > $2 and reversed_at is null', [
    rail,
    number,
  ]);
  await tx.run(`update chain_sends set state = 'mined' where rail = $1 and block > $2 and state = 'confirmed'`, [
    rail,
    number,
  ]);
  await tx.run('delete from chain_credits where rail = $1 and block > $2 and reported_at is null', [rail, number]);
}

// Assets and addresses.

export interface ChainAsset {
  code: AssetCode;
  contract: string | null;
  native: boolean;
}

export const assetsOf = (tx: Tx, chain: string) =>
  tx.rows<ChainAsset>('select code, contract, native from assets where chain = $1', [chain]);

/**
 * Assigns an address to an order permanently, in the transaction that creates the order: so we watch every address that a
 * customer was given.
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

/** Which of these addresses we watch. */
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
  /** Null when no order in the books has it: it was given out after the last commit restored. */
  orderId: bigint | null;
  partnerId: bigint | null;
  homeRail: string | null;
  madeAt: Date;
}

/** This rail, or one of a chain known to be another: one chain under two names has each address once. */
const OWN_OR_OTHER_CHAIN = `(c.rail = $1 or c.chain_id <> (select chain_id from chains where rail = $1))`;

/** Which of these addresses belong to an order, on any chain; the row of `rail` if there is one. */
export async function watchedAnywhere(
  tx: Tx,
  rail: string,
  addresses: readonly string[],
): Promise<Map<string, Watched>> {
  if (addresses.length === 0) return new Map();
  const rows = await tx.rows<Watched>(
    `select d.rail, d.address, d.index, d.order_id as "orderId", d.partner_id as "partnerId", d.home_rail as "homeRail",
            d.made_at as "madeAt"
       from unnest($2::text[]) as asked (address) cross join chains c
       join deposit_addresses d on d.rail = c.rail and d.address = asked.address
      where ${OWN_OR_OTHER_CHAIN}
      order by d.rail = $1`,
    [rail, addresses],
  );
  return new Map(rows.map((row) => [row.address, row]));
}

/** Recent addresses of all chains in number order, each once; the row of `rail` if there is one. */
export const addressesAnywhere = (tx: Tx, rail: string, after: bigint, since: Date, limit: number) =>
  tx.rows<Watched>(
    `select distinct on (d.index) d.* from chains c cross join lateral (
       select rail, address, index, order_id as "orderId", partner_id as "partnerId", home_rail as "homeRail", made_at as "madeAt"
         from deposit_addresses where rail = c.rail and index > $2 and made_at >= $3 order by index limit $4) d
      where ${OWN_OR_OTHER_CHAIN}
      order by d.index, d.rail <> $1 limit $4`,
    [rail, after, since, limit],
  );

/** Watches, sweeps and counts an order's address of another chain on this one, too, from now on. */
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

/** Watches an address that received money and that no order in the books has; no order gets it. */
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

// Deposits as the chain reports them.

export interface ChainDeposit {
  external_id: string;
  tx_hash: string;
  asset: AssetCode;
  units: bigint;
  address: string;
  block: bigint;
  confirmed_at: Date | null;
  reversed_at: Date | null;
}

const DEPOSIT = 'external_id, tx_hash, asset, units, address, block, confirmed_at, reversed_at';

export const depositById = (tx: Tx, rail: string, externalId: string) =>
  tx.row<ChainDeposit>(`select ${DEPOSIT} from chain_deposits where rail = $1 and external_id = $2`, [
    rail,
    externalId,
  ]);

export async function addDeposit(
  tx: Tx,
  rail: string,
  deposit: Pick<ChainDeposit, 'external_id' | 'tx_hash' | 'asset' | 'units' | 'address' | 'block'> & {
    blockHash: string;
    payer: string;
  },
  at: Date,
): Promise<void> {
  await tx.run(
    `insert into chain_deposits (rail, external_id, tx_hash, asset, units, address, block, block_hash, seen_at, payer)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      rail,
      deposit.external_id,
      deposit.tx_hash,
      deposit.asset,
      deposit.units,
      deposit.address,
      deposit.block,
      deposit.blockHash,
      at,
      deposit.payer,
    ],
  );
}

/** Records the block that it is in now. */
export async function anchorDeposit(
  tx: Tx,
  rail: string,
  externalId: string,
  block: bigint,
  blockHash: string,
): Promise<void> {
  await tx.run(
    `update chain_deposits set block = $3, block_hash = $4, orphaned = false, reversed_at = null
      where rail = $1 and external_id = $2`,
    [rail, externalId, block, blockHash],
  );
}

export const reverseOrphaned = (tx: Tx, rail: string, at: Date) =>
  tx.rows<ChainDeposit>(
    `update chain_deposits set orphaned = false, reversed_at = $2 where rail = $1 and orphaned and reversed_at is null
     returning ${DEPOSIT}`,
    [rail, at],
  );

/** Confirmations an amount needs; finality if no policy applies. */
const NEEDED = (chain: string, asset: string, units: string, finality: string) =>
  `coalesce((select confirmations from confirmation_policies p
              where p.chain = ${chain} and p.asset = ${asset} and p.from_units <= ${units}
              order by p.from_units desc limit 1), ${finality})`;

/**
 * The sum that a deposit is part of, so that many small transfers wait as long as one large transfer: everything of the asset
 * that its address received, or everything its sender paid us of it in the same block, whichever is more.
 */
const SUM = (deposit: string) =>
  `greatest((select sum(s.units) from chain_deposits s
              where s.rail = ${deposit}.rail and s.address = ${deposit}.address and s.asset = ${deposit}.asset
                and s.reversed_at is null),
            (select sum(s.units) from chain_deposits s
              where s.rail = ${deposit}.rail and s.block = ${deposit}.block and s.payer = ${deposit}.payer
                and s.asset = ${deposit}.asset and s.reversed_at is null))`;

/** Marks deposits deep enough below `head`, for the sum they are part of, as confirmed, each once. */
export const confirmReached = (tx: Tx, rail: string, chain: string, finality: number, head: bigint, at: Date) =>
  tx.rows<ChainDeposit & { home_rail: string | null }>(
    `update chain_deposits d set confirmed_at = $5
      where rail = $1 and confirmed_at is null and reversed_at is null and not orphaned
        and $4::bigint - block + 1 >= ${NEEDED('$2', 'd.asset', SUM('d'), '$3::integer')}
      returning ${DEPOSIT}, (select home_rail from deposit_addresses a where a.rail = d.rail and a.address = d.address)`,
    [rail, chain, finality, head, at],
  );

export interface Depth {
  external_id: string;
  /** Its block is in the branch we follow. */
  stands: boolean;
  /** 0 when the chain is not followed. */
  confirmations: bigint;
  /** For its current sum: a deposit confirmed before the sum grew may have too few. */
  needed: number;
  final: boolean;
}

/** How deep these deposits are, and how deep they must be. Only those known to this table. */
export const depthOf = (tx: Tx, rail: string, externalIds: readonly string[]) =>
  tx.rows<Depth>(
    `select d.external_id, d.reversed_at is null and not d.orphaned as stands,
            coalesce(c.head_number - d.block + 1, 0) as confirmations,
            ${NEEDED('c.chain', 'd.asset', SUM('d'), 'c.finality')} as needed, d.block <= c.finalized as final
       from chain_deposits d join chains c on c.rail = d.rail
      where d.rail = $1 and d.external_id = any($2::text[]) order by d.external_id`,
    [rail, externalIds],
  );

export async function confirmationsNeeded(
  tx: Tx,
  chain: string,
  asset: AssetCode,
  units: bigint,
  finality: number,
): Promise<bigint> {
  const row = await tx.row<{ needed: number }>(`select ${NEEDED('$1', '$2', '$3::numeric', '$4::integer')} as needed`, [
    chain,
    asset,
    units,
    finality,
  ]);
  return BigInt(row?.needed ?? finality);
}

// Native coin at deposit addresses.

export async function nativeBalances(tx: Tx, rail: string, addresses: readonly string[]) {
  const rows = await tx.rows<{ address: string; units: bigint; block: bigint }>(
    'select address, units, block from native_balances where rail = $1 and address = any($2::text[])',
    [rail, addresses],
  );
  return new Map(rows.map((row) => [row.address, row]));
}

export async function setNativeBalance(
  tx: Tx,
  rail: string,
  address: string,
  units: bigint,
  block: bigint,
): Promise<void> {
  await tx.run(
    `insert into native_balances (rail, address, units, block) values ($1, $2, $3, $4)
     on conflict (rail, address) do update set units = excluded.units, block = excluded.block`,
    [rail, address, units, block],
  );
}

/**
 * Effect of our own sends on the native balances of addresses, after the block of the last stored balance up to and including
 * block `upTo`: gas that arrived, minus what sends from there cost. `underWay`: one of them has not ended.
 */
export async function ownNativeMoves(
  tx: Tx,
  rail: string,
  addresses: readonly { address: string; index: bigint }[],
  upTo: bigint,
): Promise<Map<string, { movedUnits: bigint; underWay: boolean }>> {
  const rows = await tx.rows<{ address: string; movedUnits: bigint; underWay: boolean }>(
    `select a.address, coalesce(sum(s.moved) filter (where s.ended and s.block > coalesce(b.block, -1) and s.block <= $4), 0)
              ::numeric(78,0) as "movedUnits", bool_or(s.open) as "underWay"
       from unnest($2::text[], $3::text[]) as a (address, wallet)
       left join native_balances b on b.rail = $1 and b.address = a.address
       cross join lateral (
         select value as moved, block, state = 'confirmed' as ended, state in ('reserved', 'signed', 'mined') as open
           from chain_sends where rail = $1 and target = a.address and key like 'gas:%'
         union all
         select -cost_units, block, state in ('confirmed', 'failed'), state in ('reserved', 'signed', 'mined')
           from chain_sends where rail = $1 and wallet = a.wallet) s
      group by a.address`,
    [rail, addresses.map((row) => row.address), addresses.map((row) => `deposit:${row.index}`), upTo],
  );
  return new Map(rows.map((row) => [row.address, row]));
}

/**
 * Effect of our own sends from a wallet on its native balance in these blocks, and whether the cost of one of them is not
 * known yet.
 */
export async function walletMoves(
  tx: Tx,
  rail: string,
  wallet: string,
  after: bigint,
  upTo: bigint,
): Promise<{ movedUnits: bigint; underWay: boolean; isSending: boolean }> {
  const row = await tx.row<{ movedUnits: bigint; underWay: boolean; isSending: boolean }>(
    `select (select coalesce(-sum(cost_units + case when state = 'confirmed' then value else 0 end), 0)::numeric(78,0)
               from chain_sends where rail = $1 and wallet = $2 and block > $3 and block <= $4
                and state in ('confirmed', 'failed')) as "movedUnits",
            coalesce(bool_or(block <= $4), false) as "underWay", count(*) > 0 as "isSending"
       from chain_sends where rail = $1 and wallet = $2 and state in ('reserved', 'signed', 'mined')`,
    [rail, wallet, after, upTo],
  );
  return row ?? { movedUnits: 0n, underWay: false, isSending: false };
}

/** From this block on, native credits to the paying wallet are detected. */
export async function beginNativeWatch(
  tx: Tx,
  rail: string,
  from: { address: string; units: bigint; block: bigint },
): Promise<void> {
  await tx.run(
    'insert into native_balances (rail, address, units, block) values ($1, $2, $3, $4) on conflict do nothing',
    [rail, from.address, from.units, from.block],
  );
}

export const isNativeWatched = async (tx: Tx, rail: string, address: string): Promise<boolean> =>
  (await nativeBalances(tx, rail, [address])).has(address);

export async function trustedAmong(tx: Tx, rail: string, addresses: readonly string[]): Promise<Set<string>> {
  const rows = await tx.rows<{ address: string }>(
    'select address from funding_sources where rail = $1 and address = any($2::text[])',
    [rail, addresses],
  );
  return new Set(rows.map((row) => row.address));
}

/**
 * Native balance of a deposit address according to the books: what was found there, and the effect of our own final sends
 * since.
 */
export async function ownNativeAt(tx: Tx, rail: string, at: { address: string; index: bigint }): Promise<bigint> {
  const known = (await nativeBalances(tx, rail, [at.address])).get(at.address)?.units ?? 0n;
  const moved = (await ownNativeMoves(tx, rail, [at], MAX_BLOCK)).get(at.address)?.movedUnits ?? 0n;
  return known + moved;
}

/** Above every block number. */
const MAX_BLOCK = 2n ** 62n;

// Deposits to sweep: of listed tokens, and final, so that no reorg undoes what was moved on.

export interface DueDeposits {
  address: string;
  index: bigint;
  orderId: bigint | null;
  asset: AssetCode;
  units: bigint;
}

/**
 * Addresses with unswept deposits that are due, oldest first, with everything a sweep would take there. The limit applies to
 * the deposits that lead to an address, not to those added up: any number of tiny deposits hides nothing.
 */
export const depositsDue = (tx: Tx, rail: string, now: Date, limit: number) =>
  tx.rows<DueDeposits>(
    `select d.address, a.index, a.order_id as "orderId", d.asset, u.units
       from (select address, asset, min(block) as block
               from (select address, asset, block from chain_deposits
                      where rail = $1 and sweep is null and reversed_at is null and confirmed_at is not null
                        and sweep_due <= $2 and block <= (select finalized from chains where rail = $1)
                      order by sweep_due, block limit $3) first
              group by address, asset) d
       join deposit_addresses a on a.rail = $1 and a.address = d.address
       cross join lateral (
         select sum(units)::numeric(78,0) as units from chain_deposits
          where rail = $1 and address = d.address and asset = d.asset and sweep is null and reversed_at is null
            and confirmed_at is not null and block <= (select finalized from chains where rail = $1)) u
      order by d.block, d.address`,
    [rail, now, limit],
  );

/** Assigns the unswept deposits of an asset at an address to a sweep. @returns their sum; 0 when another sweep was first */
export async function claimDeposits(
  tx: Tx,
  rail: string,
  at: { address: string; asset: AssetCode },
  sweep: string,
): Promise<bigint> {
  const rows = await tx.rows<{ units: bigint }>(
    `update chain_deposits set sweep = $4
      where rail = $1 and address = $2 and asset = $3 and sweep is null and reversed_at is null
        and confirmed_at is not null and block <= (select finalized from chains where rail = $1) returning units`,
    [rail, at.address, at.asset, sweep],
  );
  return rows.reduce((sum, row) => sum + row.units, 0n);
}

/** The same for deposits before a block only, and only if they sum to exactly this amount. @returns whether they do */
export async function claimDepositsBefore(
  tx: Tx,
  rail: string,
  at: { address: string; asset: AssetCode; block: bigint; units: bigint; claimedBy?: string | undefined },
  sweep: string,
): Promise<boolean> {
  const all = await tx.rows<{ external_id: string; units: bigint }>(
    `select external_id, units from chain_deposits
      where rail = $1 and address = $2 and asset = $3 and block <= $4 and (sweep is null or sweep = $5) and reversed_at is null
        and confirmed_at is not null order by block, external_id for update`,
    [rail, at.address, at.asset, at.block, at.claimedBy ?? null],
  );
  // What came after it was signed, and before it was mined, it did not take.
  let sum = 0n;
  const rows = all.filter(({ units }) => {
    sum += units;
    return sum <= at.units;
  });
  if (rows.reduce((taken, row) => taken + row.units, 0n) !== at.units) return false;
  await tx.run('update chain_deposits set sweep = $3 where rail = $1 and external_id = any($2::text[])', [
    rail,
    rows.map((row) => row.external_id),
    sweep,
  ]);
  return true;
}

/** Follows a final send again: it is broadcast again when no block contains it. */
export const broadcastAgain = (tx: Tx, rail: string, key: string): Promise<number> =>
  tx.run(
    `update chain_sends set state = 'mined', reported_at = null where rail = $1 and key = $2 and state = 'confirmed'`,
    [rail, key],
  );

/** The sweep moved nothing: another sweep may take its deposits, not before `due`. */
export async function releaseDeposits(tx: Tx, rail: string, sweep: string, due: Date): Promise<void> {
  await tx.run('update chain_deposits set sweep = null, sweep_due = $3 where rail = $1 and sweep = $2', [
    rail,
    sweep,
    due,
  ]);
}

/** Postpones them until `due`. */
export async function postponeDeposits(
  tx: Tx,
  rail: string,
  at: { address: string; asset: AssetCode },
  due: Date,
): Promise<void> {
  await tx.run(
    `update chain_deposits set sweep_due = $4 where rail = $1 and address = $2 and asset = $3 and sweep is null
        and sweep_due < $4`,
    [rail, at.address, at.asset, due],
  );
}

// Tokens that arrive at the paying wallet.

export interface ChainCredit {
  external_id: string;
  tx_hash: string;
  payer: string;
  asset: AssetCode;
  units: bigint;
  block: bigint;
}

export async function noteCredit(tx: Tx, rail: string, credit: ChainCredit): Promise<void> {
  await tx.run(
    `insert into chain_credits (rail, external_id, tx_hash, payer, asset, units, block) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (rail, external_id) do nothing`,
    [rail, credit.external_id, credit.tx_hash, credit.payer, credit.asset, credit.units, credit.block],
  );
}

/**
 * Credits that have become final, each reported once. Our sweeps are not among them: they are recognised by their hash, which
 * was stored before they were broadcast.
 */
export const finalCredits = (tx: Tx, rail: string, finalized: bigint, at: Date) =>
  tx.rows<ChainCredit & { own: boolean; trusted: boolean; depositIndex: bigint | null }>(
    `update chain_credits c set reported_at = $3 where rail = $1 and block <= $2 and reported_at is null
     returning external_id, tx_hash, payer, asset, units, block,
       exists (select from chain_sends s where s.rail = c.rail and s.hash = c.tx_hash and s.key like 'sweep:%') as own,
       (select index from deposit_addresses d where d.rail = c.rail and d.address = c.payer) as "depositIndex",
       exists (select from funding_sources f where f.rail = c.rail and f.address = c.payer) as trusted`,
    [rail, finalized, at],
  );

/** From now on, money from this address to the paying wallet is the operator's own. */
export async function trustFundingSource(tx: Tx, rail: string, address: string, note: string): Promise<void> {
  await tx.run('insert into funding_sources (rail, address, note) values ($1, $2, $3) on conflict do nothing', [
    rail,
    address,
    note,
  ]);
}

// Sends.

export type SendState = 'reserved' | 'signed' | 'mined' | 'confirmed' | 'failed' | 'replaced';

/** One version of a send: versions of one key share nonce, target, data and value. */
export interface SendVersion extends Call {
  id: bigint;
  wallet: string;
  nonce: bigint;
  key: string;
  version: number;
  asset: AssetCode;
  units: bigint;
  fee: Fee;
  hash: string | null;
  raw: Buffer | null;
  state: SendState;
  block: bigint | null;
  why: string | null;
  reserved_at: Date;
  broadcast_at: Date | null;
  /** Adopted from the chain, with the call that was made there; final, and we have no bytes of it. */
  found: boolean;
  /** When a signer was last asked; null before. */
  signing_at: Date | null;
}

const SEND =
  'id, wallet, nonce, key, version, target, data, value, asset, units, fee, hash, raw, state, block, why, reserved_at, broadcast_at, found, signing_at';

export const versionsOf = (tx: Tx, rail: string, key: string) =>
  tx.rows<SendVersion>(`select ${SEND} from chain_sends where rail = $1 and key = $2 order by version`, [rail, key]);

/** Whether a block contains it, as far as we know. */
export const isMined = async (tx: Tx, rail: string, key: string): Promise<boolean> =>
  (await tx.row(`select from chain_sends where rail = $1 and key = $2 and state in ('mined', 'confirmed', 'failed')`, [
    rail,
    key,
  ])) !== undefined;

/** Every version of the open sends, lowest nonce first. */
export const openSends = (tx: Tx, rail: string, limit: number) =>
  tx.rows<SendVersion>(
    `select ${SEND} from chain_sends where rail = $1 and key in (
       select key from chain_sends where rail = $1 and state in ('reserved', 'signed', 'mined') order by id limit $2)
     order by wallet, nonce, version`,
    [rail, limit],
  );

/** The wallet's next nonce, with its row locked; `first` when the wallet has never sent through us. */
export async function lockNonce(tx: Tx, rail: string, wallet: string, first: bigint): Promise<bigint> {
  await tx.run('insert into chain_nonces (rail, wallet, next) values ($1, $2, $3) on conflict do nothing', [
    rail,
    wallet,
    first,
  ]);
  const row = await tx.row<{ next: bigint }>(
    'select next from chain_nonces where rail = $1 and wallet = $2 for update',
    [rail, wallet],
  );
  return row?.next ?? first;
}

export async function setNextNonce(tx: Tx, rail: string, wallet: string, next: bigint): Promise<void> {
  await tx.run('update chain_nonces set next = $3 where rail = $1 and wallet = $2', [rail, wallet, next]);
}

/** @returns false when this version already exists */
export async function reserveSend(
  tx: Tx,
  rail: string,
  send: Pick<
    SendVersion,
    'wallet' | 'nonce' | 'key' | 'version' | 'target' | 'data' | 'value' | 'asset' | 'units' | 'fee'
  >,
  at: Date,
): Promise<boolean> {
  const { wallet, nonce, key, version, target, data, value, asset, units, fee } = send;
  const added = await tx.run(
    `insert into chain_sends (rail, wallet, nonce, key, version, target, data, value, asset, units, fee, reserved_at, signing_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, null) on conflict (rail, key, version) do nothing`,
    [rail, wallet, nonce, key, version, target, data, value, asset, units, JSON.stringify(fee), at],
  );
  return added > 0;
}

/** A send whose reservation may still be released, locked; undefined when it was released. */
export const lockSend = (tx: Tx, id: bigint): Promise<Pick<SendVersion, 'raw' | 'state' | 'signing_at'> | undefined> =>
  tx.row('select raw, state, signing_at from chain_sends where id = $1 for update', [id]);

/** Records that a signer is asked next, or that it has not signed. */
export const markSigning = (tx: Tx, id: bigint, isAsked: boolean): Promise<number> =>
  tx.run('update chain_sends set signing_at = case when $2 then clock_timestamp() end where id = $1', [id, isAsked]);

/** Releases a reservation of which no signer was asked; its nonce is free. */
export async function releaseSend(
  tx: Tx,
  rail: string,
  { id, key, wallet, nonce }: Pick<SendVersion, 'id' | 'key' | 'wallet' | 'nonce'>,
  why: string,
): Promise<void> {
  await tx.run('delete from chain_sends where id = $1', [id]);
  await tx.run('insert into released_nonces (rail, wallet, nonce, key, why) values ($1, $2, $3, $4, $5)', [
    rail,
    wallet,
    nonce,
    key,
    why,
  ]);
}

/** The lowest nonce of a wallet that was released and not taken again. Its row in chain_nonces is locked. */
export const freeNonce = (tx: Tx, rail: string, wallet: string): Promise<{ id: bigint; nonce: bigint } | undefined> =>
  tx.row(
    `select id, nonce from released_nonces where rail = $1 and wallet = $2 and taken_by is null order by nonce limit 1`,
    [rail, wallet],
  );

export const takeNonce = (tx: Tx, id: bigint, by: string): Promise<number> =>
  tx.run('update released_nonces set taken_by = $2 where id = $1', [id, by]);

/** A nonce below the next one under which nothing was signed. The wallet's row in chain_nonces is locked. */
export const addFree = (tx: Tx, rail: string, wallet: string, nonce: bigint, why: string): Promise<number> =>
  tx.run(
    `insert into released_nonces (rail, wallet, nonce, key, why) values ($1, $2, $3, 'nobody', $4)
     on conflict (rail, wallet, nonce) where taken_by is null do nothing`,
    [rail, wallet, nonce, why],
  );

export const takeFree = (tx: Tx, rail: string, wallet: string, nonce: bigint, by: string): Promise<number> =>
  tx.run(
    `update released_nonces set taken_by = $4 where rail = $1 and wallet = $2 and nonce = $3 and taken_by is null`,
    [rail, wallet, nonce, by],
  );

/**
 * Releases a reservation whose own transfer can never be signed.
 *
 * @returns false when it was signed
 */
export async function giveUpUnsigned(tx: Tx, rail: string, key: string, why: string): Promise<boolean> {
  const [first, ...later] = await versionsOf(tx, rail, key);
  if (first === undefined || later.length > 0) return false;
  const there = await lockSend(tx, first.id);
  if (there?.state !== 'reserved' || there.raw !== null) return false;
  await markSigning(tx, first.id, false);
  await releaseSend(tx, rail, first, why);
  return true;
}

/** A nonce released a while ago that later ones of its wallet wait for. */
export const openGap = (tx: Tx, rail: string, wallet: string, forMs: number): Promise<{ nonce: bigint } | undefined> =>
  tx.row(
    `select r.nonce from released_nonces r
      where r.rail = $1 and r.wallet = $2 and r.taken_by is null
        and r.released_at <= clock_timestamp() - make_interval(secs => $3)
        and exists (select from chain_sends s where s.rail = $1 and s.wallet = $2 and s.nonce > r.nonce and s.state = 'signed')
      order by r.nonce limit 1`,
    [rail, wallet, forMs / 1000],
  );

/** Our first deposit address. */
export const firstAddress = (tx: Tx, rail: string): Promise<{ address: string; index: bigint } | undefined> =>
  tx.row('select address, index from deposit_addresses where rail = $1 order by index limit 1', [rail]);

/**
 * Stores the signed bytes, unless another process has stored its own: the bytes stored first are broadcast.
 *
 * @param withinMs how long after the gate's answer they may be stored; later bytes are discarded
 */
export async function storeSigned(
  tx: Tx,
  id: bigint,
  signed: { raw: Buffer; hash: string },
  withinMs?: number,
): Promise<void> {
  await tx.run(
    `update chain_sends set state = 'signed', raw = $2, hash = $3
      where id = $1 and state = 'reserved'
        and ($4::float8 is null or signing_at >= clock_timestamp() - make_interval(secs => $4))`,
    [id, signed.raw, signed.hash, withinMs === undefined ? null : withinMs / 1000],
  );
}

export async function markBroadcast(tx: Tx, id: bigint, at: Date): Promise<void> {
  await tx.run('update chain_sends set broadcast_at = $2 where id = $1', [id, at]);
}

export async function markMined(tx: Tx, id: bigint, block: bigint): Promise<void> {
  await tx.run(`update chain_sends set state = 'mined', block = $2 where id = $1 and state in ('signed', 'mined')`, [
    id,
    block,
  ]);
}

/** Its block was reorged out. Versions that were not signed because this one was mined wait to be signed again. */
export async function markUnmined(tx: Tx, id: bigint): Promise<void> {
  await tx.run(
    `update chain_sends set state = case when raw is null then 'reserved' else 'signed' end, block = null
      where id = $1 and (state = 'mined' or (state = 'replaced' and raw is null))`,
    [id],
  );
}

/**
 * @returns whether it ended now, and whether that is the first time: after a reorg the same bytes are mined again, and their
 *   cost in the earlier block (`before`) no longer applies
 */
export async function endSend(
  tx: Tx,
  rail: string,
  send: { id: bigint; key: string },
  end: { state: 'confirmed' | 'failed'; block: bigint; cost: bigint; why: string | null; at: Date },
): Promise<{ ended: boolean; before: bigint | undefined }> {
  const before = await tx.row<{ cost_units: bigint }>(
    `select cost_units from chain_sends where rail = $1 and key = $2 and reported_at is not null
      order by reported_at desc, id desc limit 1`,
    [rail, send.key],
  );
  const ended = await tx.run(
    `update chain_sends set state = $2, block = $3, cost_units = $4, why = $5
      where id = $1 and state in ('signed', 'mined', 'replaced')`,
    [send.id, end.state, end.block, end.cost, end.why],
  );
  await tx.run(
    `update chain_sends set state = 'replaced' where rail = $1 and key = $2 and id <> $3 and state in ('reserved', 'signed', 'mined')`,
    [rail, send.key, send.id],
  );
  await tx.run('update chain_sends set reported_at = $2 where id = $1', [send.id, end.at]);
  return { ended: ended > 0, before: before?.cost_units };
}

// For reconciliation.

/** First block of reconciliation: below every block in which we ever saw anything of ours. */
export async function firstBlock(tx: Tx, rail: string): Promise<bigint | undefined> {
  const row = await tx.row<{ block: bigint | null }>(
    `select least((select min(block) from chain_deposits where rail = $1), (select min(block) from chain_credits where rail = $1),
                  (select min(block) from chain_sends where rail = $1 and block is not null),
                  (select nullif(finalized, -1) from chains where rail = $1)) as block`,
    [rail],
  );
  return row?.block ?? undefined;
}

/** Which of these chain transactions are sends from our wallets, by hash. */
export async function keysOf(
  tx: Tx,
  rail: string,
  hashes: readonly string[],
  wallet: string,
): Promise<Map<string, string>> {
  const rows = await tx.rows<{ hash: string; key: string }>(
    `select hash, key from chain_sends where rail = $1 and hash = any($2::text[]) and (wallet = $3 or wallet like 'deposit:%')`,
    [rail, hashes, wallet],
  );
  return new Map(rows.map((row) => [row.hash, row.key]));
}

/** Our sends in blocks of this range, and those whose block is not known yet. A simulated customer's wallet is not ours. */
export const sendsAround = (tx: Tx, rail: string, after: bigint, upTo: bigint, wallet: string) =>
  tx.rows<Pick<SendVersion, 'wallet' | 'key' | 'target' | 'value'> & { hash: string }>(
    `select wallet, key, target, value, hash from chain_sends
      where rail = $1 and hash is not null and (wallet = $4 or wallet like 'deposit:%')
        and ((block > $2 and block <= $3) or (block is null and state in ('signed', 'mined')))`,
    [rail, after, upTo, wallet],
  );

/** Addresses of the numbers in the names of deposit wallets. */
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

// Gas.

export async function storeGasPrice(tx: Tx, chain: string, units: bigint, at: Date): Promise<void> {
  await tx.run(
    `insert into gas_prices (chain, units, fetched_at) values ($1, $2, $3)
     on conflict (chain) do update set units = excluded.units, fetched_at = excluded.fetched_at`,
    [chain, units, at],
  );
}

/** The address that a deposit or a credit came from; undefined for those older than this column. */
export async function payerOf(tx: Tx, rail: string, externalId: string): Promise<string | undefined> {
  const row = await tx.row<{ payer: string | null }>(
    `select payer from chain_deposits where rail = $1 and external_id = $2
     union all select payer from chain_credits where rail = $1 and external_id = $2 limit 1`,
    [rail, externalId],
  );
  return row?.payer || undefined;
}
