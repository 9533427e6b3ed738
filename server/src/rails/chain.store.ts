/**
 * SQL of the chain engine: chains, chain_blocks, chain_deposits, deposit_addresses, native_balances, chain_sends,
 * chain_nonces, gas_prices. Of tables that others own it reads two: assets and confirmation_policies.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import type { Block, Call, Fee } from './chain.adapter.ts';

// Where the follower is.

export interface Cursor {
  chain_id: bigint | null;
  genesis_hash: string | null;
  stopped_why: string | null;
  /** -1 before the first look. */
  finalized: bigint;
  head_number: bigint | null;
  head_hash: string | null;
  head_at: Date | null;
}

const CURSOR = 'chain_id, genesis_hash, stopped_why, finalized, head_number, head_hash, head_at';

export async function ensureChain(tx: Tx, rail: string, chain: string, finality: number): Promise<void> {
  await tx.run(
    `insert into chains (rail, chain, finality) values ($1, $2, $3)
     on conflict (rail) do update set finality = excluded.finality where chains.finality <> excluded.finality`,
    [rail, chain, finality],
  );
}

export const cursorOf = (tx: Tx, rail: string) =>
  tx.row<Cursor>(`select ${CURSOR} from chains where rail = $1`, [rail]);

/** The cursor, with the row locked: one process at a time writes what a chain did. */
export const lockCursor = (tx: Tx, rail: string) =>
  tx.row<Cursor>(`select ${CURSOR} from chains where rail = $1 for update`, [rail]);

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

/** @returns false when it was stopped already */
export async function stopChain(tx: Tx, rail: string, why: string): Promise<boolean> {
  return (await tx.run('update chains set stopped_why = $2 where rail = $1 and stopped_why is null', [rail, why])) > 0;
}

/**
 * A person has looked, and the line goes on.
 *
 * @param restart begins again below the head of the chain as it is now, for when the chain we followed is not the one
 *                that stayed: deposits not yet confirmed are then found again or reversed; confirmed ones are as they are
 */
export async function clearStop(tx: Tx, rail: string, options: { restart: boolean }): Promise<void> {
  await tx.run('update chains set stopped_why = null where rail = $1', [rail]);
  if (!options.restart) return;
  await tx.run(
    'update chain_deposits set adrift = true where rail = $1 and reversed_at is null and confirmed_at is null',
    [rail],
  );
  await tx.run('delete from chain_blocks where rail = $1', [rail]);
  await tx.run(
    `update chains set finalized = -1, chain_id = null, genesis_hash = null, head_number = null, head_hash = null,
            head_at = null where rail = $1`,
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

/** The blocks above are no longer in the chain; what was seen or sent in them waits to be found again. */
export async function dropBlocksAbove(tx: Tx, rail: string, number: bigint): Promise<void> {
  await tx.run('delete from chain_blocks where rail = $1 and number > $2', [rail, number]);
  await tx.run('update chain_deposits set adrift = true where rail = $1 and block > $2 and reversed_at is null', [
    rail,
    number,
  ]);
  await tx.run(`update chain_sends set state = 'mined' where rail = $1 and block > $2 and state = 'confirmed'`, [
    rail,
    number,
  ]);
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
 * Gives an address to an order for good. Called in the transaction that makes the order, so an address that a customer
 * was told is always one we look for.
 */
export async function watchAddress(
  tx: Tx,
  watched: { rail: string; address: string; index: bigint; orderId: bigint; partnerId: bigint; at?: Date },
): Promise<void> {
  await tx.run(
    `insert into deposit_addresses (rail, address, index, order_id, partner_id, made_at)
     values ($1, $2, $3, $4, $5, coalesce($6, now()))`,
    [watched.rail, watched.address, watched.index, watched.orderId, watched.partnerId, watched.at ?? null],
  );
}

/** Which of these addresses are ours to watch. */
export async function watchedAmong(tx: Tx, rail: string, addresses: readonly string[]): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const rows = await tx.rows<{ address: string }>(
    'select address from deposit_addresses where rail = $1 and address = any($2::text[])',
    [rail, addresses],
  );
  return new Set(rows.map((row) => row.address));
}

/** Addresses in the order of their numbers, a page at a time. */
export async function addressPage(tx: Tx, rail: string, after: bigint, since: Date, limit: number) {
  return await tx.rows<{ address: string; index: bigint }>(
    `select address, index from deposit_addresses where rail = $1 and index > $2 and made_at >= $3 order by index limit $4`,
    [rail, after, since, limit],
  );
}

// Deposits as the chain has them.

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
  },
  at: Date,
): Promise<void> {
  await tx.run(
    `insert into chain_deposits (rail, external_id, tx_hash, asset, units, address, block, block_hash, seen_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
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
    ],
  );
}

/** It is in this block now. */
export async function anchorDeposit(
  tx: Tx,
  rail: string,
  externalId: string,
  block: bigint,
  blockHash: string,
): Promise<void> {
  await tx.run(
    `update chain_deposits set block = $3, block_hash = $4, adrift = false, reversed_at = null
      where rail = $1 and external_id = $2`,
    [rail, externalId, block, blockHash],
  );
}

export const reverseAdrift = (tx: Tx, rail: string, at: Date) =>
  tx.rows<ChainDeposit>(
    `update chain_deposits set adrift = false, reversed_at = $2 where rail = $1 and adrift and reversed_at is null
     returning ${DEPOSIT}`,
    [rail, at],
  );

/** Confirmations an amount wants; every block down to finality where no policy speaks. */
const NEEDED = (chain: string, asset: string, units: string, finality: string) =>
  `coalesce((select confirmations from confirmation_policies p
              where p.chain = ${chain} and p.asset = ${asset} and p.from_units <= ${units}
              order by p.from_units desc limit 1), ${finality})`;

/** Marks those deep enough below `head` as confirmed, each once. */
export const confirmReached = (tx: Tx, rail: string, chain: string, finality: number, head: bigint, at: Date) =>
  tx.rows<ChainDeposit>(
    `update chain_deposits d set confirmed_at = $5
      where rail = $1 and confirmed_at is null and reversed_at is null and not adrift
        and $4::bigint - block + 1 >= ${NEEDED('$2', 'd.asset', 'd.units', '$3::integer')}
      returning ${DEPOSIT}`,
    [rail, chain, finality, head, at],
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
}

const SEND =
  'id, wallet, nonce, key, version, target, data, value, asset, units, fee, hash, raw, state, block, why, reserved_at, broadcast_at';

export const versionsOf = (tx: Tx, rail: string, key: string) =>
  tx.rows<SendVersion>(`select ${SEND} from chain_sends where rail = $1 and key = $2 order by version`, [rail, key]);

/** Every version of the sends that have not ended, oldest nonce first. */
export const openSends = (tx: Tx, rail: string, limit: number) =>
  tx.rows<SendVersion>(
    `select ${SEND} from chain_sends where rail = $1 and key in (
       select key from chain_sends where rail = $1 and state in ('reserved', 'signed', 'mined') order by id limit $2)
     order by wallet, nonce, version`,
    [rail, limit],
  );

/** The wallet's next nonce, with its row locked; `first` where the wallet has never sent through us. */
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

/** @returns false where this version is there already */
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
    `insert into chain_sends (rail, wallet, nonce, key, version, target, data, value, asset, units, fee, reserved_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict (rail, key, version) do nothing`,
    [rail, wallet, nonce, key, version, target, data, value, asset, units, JSON.stringify(fee), at],
  );
  return added > 0;
}

/** Stores the signed bytes, unless another process has stored its own: what is stored first is what is broadcast. */
export async function storeSigned(tx: Tx, id: bigint, signed: { raw: Buffer; hash: string }): Promise<void> {
  await tx.run(`update chain_sends set state = 'signed', raw = $2, hash = $3 where id = $1 and state = 'reserved'`, [
    id,
    signed.raw,
    signed.hash,
  ]);
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

/** It was in a block that left the chain. */
export async function markUnmined(tx: Tx, id: bigint): Promise<void> {
  await tx.run(`update chain_sends set state = 'signed', block = null where id = $1 and state = 'mined'`, [id]);
}

/**
 * @returns whether it ended now, and whether that is the first time: after a reorg the same bytes are mined again
 */
export async function endSend(
  tx: Tx,
  rail: string,
  send: { id: bigint; key: string },
  end: { state: 'confirmed' | 'failed'; block: bigint; cost: bigint; why: string | null; at: Date },
): Promise<{ ended: boolean; first: boolean }> {
  const ended = await tx.run(
    `update chain_sends set state = $2, block = $3, cost_units = $4, why = $5
      where id = $1 and state in ('signed', 'mined', 'replaced')`,
    [send.id, end.state, end.block, end.cost, end.why],
  );
  await tx.run(
    `update chain_sends set state = 'replaced' where rail = $1 and key = $2 and id <> $3 and state in ('reserved', 'signed', 'mined')`,
    [rail, send.key, send.id],
  );
  const first = await tx.row(`select from chain_sends where rail = $1 and key = $2 and reported_at is not null`, [
    rail,
    send.key,
  ]);
  await tx.run('update chain_sends set reported_at = coalesce(reported_at, $2) where id = $1', [send.id, end.at]);
  return { ended: ended > 0, first: first === undefined };
}

// Gas.

export async function storeGasPrice(tx: Tx, chain: string, units: bigint, at: Date): Promise<void> {
  await tx.run(
    `insert into gas_prices (chain, units, fetched_at) values ($1, $2, $3)
     on conflict (chain) do update set units = excluded.units, fetched_at = excluded.fetched_at`,
    [chain, units, at],
  );
}
