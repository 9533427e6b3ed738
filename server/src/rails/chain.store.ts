/**
 * SQL of the chain engine: chains, chain_blocks, chain_deposits, chain_credits, funding_sources, deposit_addresses,
 * native_balances, chain_sends, chain_nonces, released_nonces, gas_prices. It reads two tables of other modules: assets and
 * confirmation_policies.
 */
import type { Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import type { Block } from './chain.adapter.ts';

// The follower's position.

export interface Cursor {
  chainId: bigint | null;
  genesisHash: string | null;
  haltedWhy: string | null;
  /** -1 before the first step. */
  finalized: bigint;
  headNumber: bigint | null;
  headHash: string | null;
  headAt: Date | null;
  /** Changes with every update of the row, so that a result can be compared with the row that it began with. */
  version: string;
}

const CURSOR = 'chain_id, genesis_hash, halted_why, finalized, head_number, head_hash, head_at, xmin::text as version';

export async function ensureChain(tx: Tx, rail: string, chain: string, finality: number): Promise<void> {
  await tx.run(
    `insert into chains (rail, chain, finality) values ($1, $2, $3)
     on conflict (rail) do update set finality = excluded.finality where chains.finality <> excluded.finality`,
    [rail, chain, finality],
  );
}

export const cursorOf = (tx: Tx, rail: string) =>
  tx.row<Cursor>(`select ${CURSOR} from chains where rail = $1`, [rail]);

/** Genesis hash of the chain that a rail has followed; undefined before its first step. */
export const followedGenesis = async (tx: Tx, rail: string): Promise<string | undefined> =>
  (await cursorOf(tx, rail))?.genesisHash ?? undefined;

/** The newest block that was read; undefined before the first one. */
export const followedHead = async (tx: Tx, rail: string): Promise<bigint | undefined> =>
  (await cursorOf(tx, rail))?.headNumber ?? undefined;

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

/** @returns false if it was already halted */
export async function haltChain(tx: Tx, rail: string, why: string): Promise<boolean> {
  return (await tx.run('update chains set halted_why = $2 where rail = $1 and halted_why is null', [rail, why])) > 0;
}

/** Why a chain halted by itself, with its cursor locked; null if it has not. */
export const whyOff = async (tx: Tx, rail: string): Promise<string | null> =>
  (await lockCursor(tx, rail))?.haltedWhy ?? null;

/**
 * An operator lifts the halt.
 *
 * @param restart begins again below the block that was final when it halted, for a branch that was abandoned after we followed
 *   it:
 *                unconfirmed deposits are then found again or reversed; confirmed ones keep their state
 */
export async function clearHalt(tx: Tx, rail: string, options: { restart: boolean }): Promise<void> {
  await tx.run('update chains set halted_why = null where rail = $1', [rail]);
  if (!options.restart) return;
  await tx.run(
    'update chain_deposits set orphaned = true where rail = $1 and reversed_at is null and confirmed_at is null',
    [rail],
  );
  await tx.run('delete from chain_blocks where rail = $1', [rail]);
  // As after any reorg: credits are found again if they are still on the chain, and unmined sends are broadcast again.
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
  return await tx.row<Block>('select number, hash, parent_hash, at from chain_blocks where rail = $1 and number = $2', [
    rail,
    number,
  ]);
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

/** Drops blocks that are no longer in the chain. Deposits and sends in them wait to be found again. */
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

// For reconciliation.

/**
 * First block of reconciliation, of a chain that has a final block: below every block in which we ever saw a transfer of ours. Reads
 * all of them: only for the first page.
 */
export async function firstBlock(tx: Tx, rail: string): Promise<bigint> {
  const row = await tx.row<{ block: bigint | null }>(
    `select least((select min(block) from chain_deposits where rail = $1), (select min(block) from chain_credits where rail = $1),
                  (select min(block) from chain_sends where rail = $1 and block is not null),
                  (select nullif(finalized, -1) from chains where rail = $1)) as block`,
    [rail],
  );
  const block = row?.block ?? undefined;
  assert(block !== undefined, `chain ${rail} has no final block`);
  return block;
}
