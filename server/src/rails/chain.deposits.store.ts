/** SQL of the deposits and credits that a chain has shown: seen, confirmed, reversed, and claimed by sweeps. */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';

export interface ChainDeposit {
  externalId: string;
  txHash: string;
  asset: AssetCode;
  units: bigint;
  address: string;
  block: bigint;
  confirmedAt: Date | null;
  reversedAt: Date | null;
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
  deposit: Pick<ChainDeposit, 'externalId' | 'txHash' | 'asset' | 'units' | 'address' | 'block'> & {
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
      deposit.externalId,
      deposit.txHash,
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

/** Records the block in which a deposit is now. */
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

/** Number of confirmations that an amount needs: finality if no policy applies. */
const NEEDED = (
  chain: string,
  asset: string,
  units: string,
  finality: string,
) => `coalesce((select confirmations from confirmation_policies p
              where p.chain = ${chain} and p.asset = ${asset} and p.from_units <= ${units}
              order by p.from_units desc limit 1), ${finality})`;

/**
 * The sum of which a deposit is a part, so that many small transfers wait as long as one large transfer: all that its address
 * received of the asset, or all that its sender paid us of it in the same block, whichever is more.
 */
const SUM = (deposit: string) => `greatest((select sum(s.units) from chain_deposits s
              where s.rail = ${deposit}.rail and s.address = ${deposit}.address and s.asset = ${deposit}.asset
                and s.reversed_at is null),
            (select sum(s.units) from chain_deposits s
              where s.rail = ${deposit}.rail and s.block = ${deposit}.block and s.payer = ${deposit}.payer
                and s.asset = ${deposit}.asset and s.reversed_at is null))`;

/**
 * Marks deposits up to a block that are deep enough below `head` for the sum of which they are a part as confirmed, each once.
 */
export const confirmReached = (
  tx: Tx,
  rail: string,
  chain: string,
  { finality, head, upTo }: { finality: number; head: bigint; upTo: bigint },
  at: Date,
) =>
  tx.rows<ChainDeposit & { homeRail: string | null }>(
    `update chain_deposits d set confirmed_at = $5
      where rail = $1 and confirmed_at is null and reversed_at is null and not orphaned
        and block <= $6 and $4::bigint - block + 1 >= ${NEEDED('$2', 'd.asset', SUM('d'), '$3::integer')}
      returning ${DEPOSIT}, (select home_rail from deposit_addresses a where a.rail = d.rail and a.address = d.address)`,
    [rail, chain, finality, head, at, upTo],
  );

/** The sum of the deposits that are asked about ($2), of the asset of one of them. */
const SUM_OF_ALL = `(select sum(s.units) from chain_deposits s
              where s.rail = d.rail and s.external_id = any($2::text[]) and s.asset = d.asset and s.reversed_at is null)`;

export interface Depth {
  externalId: string;
  /** Whether its block is in the branch that we follow. */
  stands: boolean;
  /** 0 if the chain is not followed. */
  confirmations: bigint;
  /** Needed for its current sum: a deposit that was confirmed before the sum grew may have too few. */
  needed: number;
  final: boolean;
}

/**
 * The depth of these deposits, and the depth that they need. Only deposits that this table has.
 *
 * They fund one payment, so each also needs the depth of their sum: operators may assign to an order money that came to the
 * address of another one.
 */
export const depthOf = (tx: Tx, rail: string, externalIds: readonly string[]) =>
  tx.rows<Depth>(
    `select d.external_id, d.reversed_at is null and not d.orphaned as stands,
            coalesce(c.head_number - d.block + 1, 0) as confirmations,
            ${NEEDED('c.chain', 'd.asset', `greatest(${SUM('d')}, ${SUM_OF_ALL})`, 'c.finality')} as needed,
            d.block <= c.finalized as final
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

/** Greater than every block number. */
export const MAX_BLOCK = 2n ** 62n;
// Deposits to sweep: of listed tokens, and final, so that no reorg can undo a deposit after it was swept.

export interface DueDeposits {
  address: string;
  index: bigint;
  orderId: bigint | null;
  asset: AssetCode;
  units: bigint;
}

/**
 * Addresses with unswept deposits that are due, oldest first, with everything that a sweep would take there. The limit counts the
 * deposits that lead to an address, not those in the sum, so many tiny deposits cannot hide a large one.
 */
export const depositsDue = (tx: Tx, rail: string, now: Date, limit: number) =>
  tx.rows<DueDeposits>(
    `select d.address, a.index, a.order_id, d.asset, u.units
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

/** Assigns the unswept deposits of an asset at an address to a sweep. @returns their sum; 0 if another sweep was first */
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

/** As `claimDeposits`, but only deposits before a block, and only if they sum to exactly this amount. @returns whether they do */
export async function claimDepositsBefore(
  tx: Tx,
  rail: string,
  at: { address: string; asset: AssetCode; block: bigint; units: bigint; claimedBy?: string | undefined },
  sweep: string,
): Promise<boolean> {
  const all = await tx.rows<{ externalId: string; units: bigint }>(
    `select external_id, units from chain_deposits
      where rail = $1 and address = $2 and asset = $3 and block <= $4 and (sweep is null or sweep = $5) and reversed_at is null
        and confirmed_at is not null order by block, external_id for update`,
    [rail, at.address, at.asset, at.block, at.claimedBy ?? null],
  );
  // The sweep did not include deposits that arrived after it was signed.
  let sum = 0n;
  const rows = all.filter(({ units }) => {
    sum += units;
    return sum <= at.units;
  });
  if (rows.reduce((taken, row) => taken + row.units, 0n) !== at.units) return false;
  await tx.run('update chain_deposits set sweep = $3 where rail = $1 and external_id = any($2::text[])', [
    rail,
    rows.map((row) => row.externalId),
    sweep,
  ]);
  return true;
}

/** A sweep that moved nothing releases its deposits: another sweep may take them, not before `due`. */
export async function releaseDeposits(tx: Tx, rail: string, sweep: string, due: Date): Promise<void> {
  await tx.run('update chain_deposits set sweep = null, sweep_due = $3 where rail = $1 and sweep = $2', [
    rail,
    sweep,
    due,
  ]);
}

/** Postpones sweeping these deposits until `due`. */
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
  externalId: string;
  txHash: string;
  payer: string;
  asset: AssetCode;
  units: bigint;
  block: bigint;
}

export async function noteCredit(tx: Tx, rail: string, credit: ChainCredit): Promise<void> {
  await tx.run(
    `insert into chain_credits (rail, external_id, tx_hash, payer, asset, units, block) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (rail, external_id) do nothing`,
    [rail, credit.externalId, credit.txHash, credit.payer, credit.asset, credit.units, credit.block],
  );
}

/**
 * Credits that have become final, each reported once. Our own sweeps are excluded: they are recognised by their hash, which was
 * stored before they were broadcast.
 */
export const finalCredits = (tx: Tx, rail: string, finalized: bigint, at: Date) =>
  tx.rows<ChainCredit & { own: boolean; trusted: boolean; depositIndex: bigint | null }>(
    `update chain_credits c set reported_at = $3 where rail = $1 and block <= $2 and reported_at is null
     returning external_id, tx_hash, payer, asset, units, block,
       exists (select from chain_sends s where s.rail = c.rail and s.hash = c.tx_hash and s.key like 'sweep:%') as own,
       (select index from deposit_addresses d where d.rail = c.rail and d.address = c.payer) as deposit_index,
       exists (select from funding_sources f where f.rail = c.rail and f.address = c.payer) as trusted`,
    [rail, finalized, at],
  );

/** The address from which a deposit or a credit came; undefined for rows that are older than this column. */
export async function payerOf(tx: Tx, rail: string, externalId: string): Promise<string | undefined> {
  const row = await tx.row<{ payer: string | null }>(
    `select payer from chain_deposits where rail = $1 and external_id = $2
     union all select payer from chain_credits where rail = $1 and external_id = $2 limit 1`,
    [rail, externalId],
  );
  return row?.payer || undefined;
}

/** Which of these credits came from an address. */
export async function creditsFrom(
  tx: Tx,
  rail: string,
  payer: string,
  externalIds: readonly string[],
): Promise<string[]> {
  const rows = await tx.rows<{ externalId: string }>(
    'select external_id from chain_credits where rail = $1 and external_id = any($2::text[]) and payer = $3',
    [rail, externalIds, payer],
  );
  return rows.map(({ externalId }) => externalId);
}
