/**
 * SQL of found_movements. Of other tables of the rails it reads payouts, deposit_addresses and released_nonces, and writes
 * chain_sends and chain_nonces.
 */
import { awaitAll, type Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import type { Fee, SentTransaction } from './chain.adapter.ts';
import type { ReturnedPerhaps } from './rail.ts';

/** Rows per run; the next run takes the rest. */
export const AT_ONCE = 2_000;
/** A block's time may be behind that of the process that created the payout. */
export const SKEW_MS = 15_000;

export type FoundState = 'unread' | 'open' | 'adopted' | 'foreign' | 'cancelled';

/**
 * A transaction of one of our wallets that no send of ours explains. Fields that come from a block are null until the block is
 * read.
 */
export interface FoundMovement {
  id: bigint;
  rail: string;
  wallet: string;
  nonce: bigint | null;
  hash: string | null;
  state: FoundState;
  /** Whether it is known from the signer's journal, possibly before a block contains it. */
  signed: boolean;
  /** When two operators requested to use up its nonce with an empty transfer; the last fee offered for that, and when. */
  cancelAt: Date | null;
  cancelFee: Fee | null;
  cancelSentAt: Date | null;
  searchedTo: bigint | null;
  block: bigint | null;
  blockAt: Date | null;
  succeeded: boolean | null;
  costUnits: bigint | null;
  target: string | null;
  data: Buffer | null;
  value: bigint | null;
  fee: Fee | null;
  recipient: string | null;
  asset: AssetCode | null;
  units: bigint | null;
  key: string | null;
  foundAt: Date;
  toldAt: Date | null;
  endedAt: Date | null;
}

const FOUND = `id, rail, wallet, nonce, hash, state, signed, cancel_at, cancel_fee, cancel_sent_at, searched_to, block, block_at, succeeded, cost_units, target, data, value, fee,
  recipient, asset, units, key, found_at, told_at, ended_at`;

/** Records that nonces `from` (inclusive) to `to` (exclusive) are used by no send of ours. */
export const noteNonces = (tx: Tx, rail: string, wallet: string, from: bigint, to: bigint): Promise<number> =>
  tx.run(
    `insert into found_movements (rail, wallet, nonce) select $1, $2, n from generate_series($3::bigint, $4::bigint - 1) n
     on conflict do nothing`,
    [rail, wallet, from, to],
  );

export const noteHash = (tx: Tx, rail: string, wallet: string, hash: string): Promise<number> =>
  tx.run('insert into found_movements (rail, wallet, hash) values ($1, $2, $3) on conflict do nothing', [
    rail,
    wallet,
    hash,
  ]);

/**
 * Removes nonces that were reported as used and are not, because of a reorg or another node. A nonce that a send of ours has stays
 * recorded until that send is mined. If the signer's journal has a transaction from `used` on, all of them wait for that one.
 *
 * @returns the removed nonces, which no row has any more
 */
export async function forgetUnused(tx: Tx, rail: string, wallet: string, used: bigint): Promise<bigint[]> {
  const rows = await tx.rows<{ nonce: bigint }>(
    `delete from found_movements f where rail = $1 and wallet = $2 and state = 'unread' and hash is null and nonce >= $3
        and not exists (select from chain_sends s where s.rail = $1 and s.wallet = $2 and s.nonce = f.nonce)
        and not exists (select from found_movements g where g.rail = $1 and g.wallet = $2 and g.nonce >= $3 and g.signed)
      returning nonce`,
    [rail, wallet, used],
  );
  return rows.map(({ nonce }) => nonce);
}

/**
 * Whether a movement is bytes of one of our sends, signed or possibly signed, that wait because they may not leave
 * (chain.sends.ts). Until two operators cancel them, they block nothing and are not read from the chain.
 */
const isKept = (f: string) => `(${f}.signed and ${f}.cancel_at is null and exists (
  select from chain_sends k where k.rail = ${f}.rail and k.wallet = ${f}.wallet and k.nonce = ${f}.nonce
     and (k.state = 'signed' or (k.state = 'reserved' and k.signing_at is not null))))`;

/** Movements that are neither matched nor declared foreign, oldest first. */
export const waitingFound = (tx: Tx, rail: string, limit: number): Promise<FoundMovement[]> =>
  tx.rows<FoundMovement>(
    `select ${FOUND} from found_movements f where rail = $1 and state in ('unread', 'open') and not ${isKept('f')}
      order by wallet, nonce, id limit $2`,
    [rail, limit],
  );

/** What decides whether a wallet's nonces, as the chain counts them, need more than a comparison. */
export interface KnownNonces {
  /** Whether a movement of the rail waits. */
  isWaiting: boolean;
  /** Whether a restore has lost time in which the wallet's sends are not known yet. */
  isUnlooked: boolean;
  /** The lowest nonce that no row has; null if the wallet has never sent through these books. */
  next: bigint | null;
}

export async function knownNonces(tx: Tx, rail: string, wallet: string): Promise<KnownNonces> {
  const [waiting, isLost, row] = await awaitAll(
    waitingFound(tx, rail, 1),
    isUnlooked(tx, rail, wallet),
    tx.row<{ next: bigint }>(
      `select least(next, (select min(nonce) from released_nonces where rail = $1 and wallet = $2 and taken_by is null)) as next
         from chain_nonces where rail = $1 and wallet = $2`,
      [rail, wallet],
    ),
  );
  return { isWaiting: waiting.length > 0, isUnlooked: isLost, next: row?.next ?? null };
}

/** As `waitingFound`, locked: no other process decides about them before `tx` ends. */
export const lockWaiting = (tx: Tx, rail: string, limit: number): Promise<FoundMovement[]> =>
  tx.rows<FoundMovement>(
    `select ${FOUND} from found_movements f where rail = $1 and state in ('unread', 'open') and not ${isKept('f')}
      order by id limit $2 for update`,
    [rail, limit],
  );

export const findFound = (tx: Tx, id: bigint): Promise<FoundMovement | undefined> =>
  tx.row<FoundMovement>(`select ${FOUND} from found_movements where id = $1`, [id]);

export const lockFound = (tx: Tx, id: bigint): Promise<FoundMovement | undefined> =>
  tx.row<FoundMovement>(`select ${FOUND} from found_movements where id = $1 for update`, [id]);

export const foundByHash = (tx: Tx, rail: string, hash: string): Promise<FoundMovement | undefined> =>
  tx.row<FoundMovement>(`select ${FOUND} from found_movements where rail = $1 and hash = $2`, [rail, hash]);

/** Movements for an operator: waiting ones first, then the newest. */
export const listFound = (tx: Tx, limit: number): Promise<FoundMovement[]> =>
  tx.rows<FoundMovement>(
    `select ${FOUND} from found_movements order by state in ('unread', 'open') desc, id desc limit $1`,
    [limit],
  );

/**
 * A block below every block that may contain a nonce: the block of the wallet's previous transaction, or else our first block.
 */
export async function searchFrom(tx: Tx, rail: string, wallet: string, nonce: bigint): Promise<bigint> {
  const row = await tx.row<{ block: bigint | null }>(
    `select max(block) as block from chain_sends where rail = $1 and wallet = $2 and nonce < $3 and block is not null`,
    [rail, wallet, nonce],
  );
  return row?.block ?? 0n;
}

export const noteSearched = (tx: Tx, id: bigint, upTo: bigint): Promise<number> =>
  tx.run('update found_movements set searched_to = $2 where id = $1', [id, upTo]);

/** Stores a movement's fields from a block. If it was known both by its nonce and by its hash, the two rows become one. */
export async function fillFound(
  tx: Tx,
  row: Pick<FoundMovement, 'id' | 'rail' | 'wallet'>,
  sent: SentTransaction,
  asset: AssetCode | undefined,
): Promise<void> {
  await tx.run(
    `delete from found_movements where rail = $1 and id <> $2 and state = 'unread'
        and ((wallet = $3 and nonce = $4) or hash = $5)`,
    [row.rail, row.id, row.wallet, sent.nonce, sent.hash],
  );
  await tx.run(
    `update found_movements set state = 'open', nonce = $2, hash = $3, block = $4, block_at = $5, succeeded = $6, cost_units = $7,
            target = $8, data = $9, value = $10, fee = $11, recipient = $12, asset = $13, units = $14
      where id = $1 and state = 'unread'`,
    [
      row.id,
      sent.nonce,
      sent.hash,
      sent.block,
      sent.blockAt,
      sent.succeeded,
      sent.cost,
      sent.target,
      sent.data,
      sent.value,
      JSON.stringify(sent.fee),
      sent.moved?.to ?? null,
      asset ?? null,
      asset === undefined ? null : (sent.moved?.units ?? null),
    ],
  );
}

export interface OwnSend {
  key: string;
  version: number;
  hash: string | null;
  target: string;
  data: Buffer;
  value: bigint;
  asset: AssetCode;
  units: bigint;
}

/** Our own sends under the same nonce. */
export const sendsUnder = (tx: Tx, rail: string, wallet: string, nonce: bigint): Promise<OwnSend[]> =>
  tx.rows<OwnSend>(
    `select key, version, hash, target, data, value, asset, units from chain_sends
      where rail = $1 and wallet = $2 and nonce = $3 order by version`,
    [rail, wallet, nonce],
  );

export interface Candidate {
  key: string;
  recipient: string;
  asset: AssetCode;
  units: bigint;
  orderId: bigint | null;
  refundId: bigint | null;
  createdAt: Date;
}

/** Open payouts and refunds of a chain that have no send: candidates for an unknown transaction. */
export const unsentPayouts = (tx: Tx, rail: string): Promise<Candidate[]> =>
  tx.rows<Candidate>(
    `select id as key, address as recipient, asset, units, order_id, refund_id, created_at
       from payouts p
      where rail = $1 and ended_at is null and address is not null
        and not exists (select from chain_sends s where s.rail = $1 and s.key = p.id and s.state <> 'absent')
      order by created_at limit 5000`,
    [rail],
  );

export const hasSend = async (tx: Tx, rail: string, key: string): Promise<boolean> =>
  (await tx.row(`select from chain_sends where rail = $1 and key = $2 and state <> 'absent' limit 1`, [rail, key])) !==
  undefined;

/** Which of these keys have a send, of any state. */
export const keysWithSend = async (tx: Tx, rail: string, keys: readonly string[]): Promise<ReadonlySet<string>> => {
  const rows = await tx.rows<{ key: string }>(
    'select distinct key from chain_sends where rail = $1 and key = any($2)',
    [rail, keys],
  );
  return new Set(rows.map(({ key }) => key));
};

/**
 * Matches a movement with a send of ours: it is stored as if we had sent it, final, and its receipt settles it like any other.
 */
export async function adoptAs(
  tx: Tx,
  found: FoundMovement,
  as: { key: string; version: number; asset: AssetCode; units: bigint },
): Promise<void> {
  await tx.run(
    `insert into chain_sends (rail, wallet, nonce, key, version, target, data, value, asset, units, fee, hash, state, block,
                              reserved_at, broadcast_at, found)
     select rail, wallet, nonce, $2,
            greatest($3, (select coalesce(max(s.version), 0) + 1 from chain_sends s where s.rail = f.rail and s.key = $2)), target, data, value, $4, $5, fee, hash, 'mined', block, block_at, block_at, true
       from found_movements f where id = $1`,
    [found.id, as.key, as.version, as.asset, as.units],
  );
  await tx.run(
    `insert into chain_nonces (rail, wallet, next) select rail, wallet, nonce + 1 from found_movements where id = $1 and nonce is not null
     on conflict (rail, wallet) do update set next = greatest(chain_nonces.next, excluded.next)`,
    [found.id],
  );
  await endFound(tx, found.id, { state: 'adopted', key: as.key });
}

export const endFound = (
  tx: Tx,
  id: bigint,
  end: { state: 'adopted'; key: string } | { state: 'foreign' | 'cancelled' },
): Promise<number> =>
  tx.run(
    `update found_movements set state = $2, key = $3, ended_at = clock_timestamp() where id = $1 and state = 'open'`,
    [id, end.state, 'key' in end ? end.key : null],
  );

export const markReported = (tx: Tx, id: bigint): Promise<number> =>
  tx.run('update found_movements set told_at = clock_timestamp() where id = $1 and told_at is null', [id]);

/** Number of reported movements that are still open. */
export const countReported = async (tx: Tx, rail: string): Promise<bigint> =>
  (
    await tx.row<{ count: bigint }>(
      `select count(*) as count from found_movements where rail = $1 and state in ('unread', 'open') and told_at is not null`,
      [rail],
    )
  )?.count ?? 0n;

/**
 * Records that the wallet's used nonces were compared with the books, and that none of its unknown transactions waits to be
 * mined.
 */
export const noteLooked = (tx: Tx, rail: string, wallet: string): Promise<number> =>
  tx.run(
    `update chain_nonces n set looked_at = clock_timestamp() where rail = $1 and wallet = $2
        and exists (select from restores r where n.looked_at is null or n.looked_at <= r.restored_at)`,
    [rail, wallet],
  );

/** The time that restores have lost and in which a wallet's sends are not known yet; undefined if there is none. */
export async function lostTime(
  tx: Tx,
  rail: string,
  wallet: string,
): Promise<{ since: Date; until: Date } | undefined> {
  const row = await tx.row<{ since: Date | null; until: Date | null }>(
    `select min(backup_taken_at) as since, max(restored_at) as until from restores r where not exists (
       select from chain_nonces n where n.rail = $1 and n.wallet = $2 and n.looked_at > r.restored_at)`,
    [rail, wallet],
  );
  return row?.since == null || row.until === null ? undefined : { since: row.since, until: row.until };
}

/** Whether a wallet may have paid a recipient in the time that the books have lost. */
export async function mayHavePaid(
  tx: Tx,
  rail: string,
  wallet: string,
  to: { recipient: string | null; asset: AssetCode },
): Promise<'unread' | 'undecided' | undefined> {
  const row = await tx.row<{ unread: boolean; open: boolean }>(
    `select exists (select from restores r where not exists (
                      select from chain_nonces n where n.rail = $1 and n.wallet = $2 and n.looked_at > r.restored_at))
            or exists (select from found_movements f where rail = $1 and wallet = $2 and state = 'unread' and not ${isKept('f')}) as unread,
            exists (select from found_movements
                     where rail = $1 and wallet = $2 and state = 'open' and recipient = $3 and asset = $4) as open`,
    [rail, wallet, to.recipient, to.asset],
  );
  return row?.unread === true ? 'unread' : row?.open === true ? 'undecided' : undefined;
}

/**
 * Whether a wallet may have returned what an order received in the time that the books have lost. An order that a customer created
 * since the restore received nothing before.
 */
export async function mayHaveReturned(
  tx: Tx,
  rail: string,
  wallet: string,
  order: ReturnedPerhaps,
): Promise<'unread' | 'undecided' | undefined> {
  const row = await tx.row<{ unread: boolean; open: boolean }>(
    `select exists (select from restores r where not exists (
                      select from chain_nonces n where n.rail = $1 and n.wallet = $2 and n.looked_at > r.restored_at))
            or exists (select from found_movements f where rail = $1 and wallet = $2 and state = 'unread' and not ${isKept('f')}) as unread,
            exists (select from found_movements
                     where rail = $1 and wallet = $2 and state = 'open' and asset = $3 and units <= $4) as open
       where $5::timestamptz <= (select max(restored_at) from restores)`,
    [rail, wallet, order.asset, order.units, order.follows === null ? order.createdAt : new Date(0)],
  );
  return row?.unread === true ? 'unread' : row?.open === true ? 'undecided' : undefined;
}

/** Whether it is still unknown which transactions a wallet signed and sent in the lost time. */
export const isUnlooked = async (tx: Tx, rail: string, wallet: string): Promise<boolean> =>
  (await tx.row(
    `select from restores r where not exists (
       select from chain_nonces n where n.rail = $1 and n.wallet = $2 and n.looked_at > r.restored_at) limit 1`,
    [rail, wallet],
  )) !== undefined;

/** Stores a transaction of the signer's journal under a nonce that no row of ours has. */
export const noteSigned = (
  tx: Tx,
  of: { rail: string; wallet: string; nonce: bigint },
  what: { recipient: string; asset: AssetCode | undefined; units: bigint },
): Promise<number> =>
  tx.run(
    `insert into found_movements (rail, wallet, nonce, signed, recipient, asset, units) values ($1, $2, $3, true, $4, $5, $6)
     on conflict (rail, wallet, nonce) do update
       set signed = true, recipient = excluded.recipient, asset = excluded.asset, units = excluded.units
       where found_movements.state = 'unread'`,
    [of.rail, of.wallet, of.nonce, what.recipient, what.asset ?? null, what.asset === undefined ? null : what.units],
  );

/** Records signed bytes of a payout that may not leave. */
export const noteKept = (
  tx: Tx,
  rail: string,
  { wallet, nonce, key, asset, units }: { wallet: string; nonce: bigint; key: string; asset: AssetCode; units: bigint },
): Promise<number> =>
  tx.run(
    `insert into found_movements (rail, wallet, nonce, signed, recipient, asset, units)
     values ($1, $2, $3, true, (select address from payouts where id = $4), $5, $6) on conflict do nothing`,
    [rail, wallet, nonce, key, asset, units],
  );

/** The record of signed bytes that wait, locked, because operators may be cancelling them. */
export const lockKept = (
  tx: Tx,
  { rail, wallet, nonce }: { rail: string; wallet: string; nonce: bigint },
): Promise<Pick<FoundMovement, 'id' | 'cancelAt'> | undefined> =>
  tx.row(
    `select id, cancel_at from found_movements
      where rail = $1 and wallet = $2 and nonce = $3 and signed and state in ('unread', 'open') for update`,
    [rail, wallet, nonce],
  );

/** Removes the record of bytes that leave after all, unless operators have requested to cancel them. */
export const dropKept = (tx: Tx, id: bigint): Promise<number> =>
  tx.run(`delete from found_movements where id = $1 and state = 'unread' and cancel_at is null`, [id]);

/** Removes the record of bytes that have left meanwhile: the send's own row shows their fate. */
export const dropKeptUnder = (
  tx: Tx,
  { rail, wallet, nonce }: { rail: string; wallet: string; nonce: bigint },
): Promise<number> =>
  tx.run(
    `delete from found_movements
      where rail = $1 and wallet = $2 and nonce = $3 and signed and state = 'unread' and hash is null and cancel_at is null`,
    [rail, wallet, nonce],
  );

/** @returns false if it has been read by now, or was not found through the signer's journal */
export const noteCancel = async (tx: Tx, id: bigint): Promise<boolean> =>
  (await tx.run(
    `update found_movements set cancel_at = coalesce(cancel_at, clock_timestamp())
      where id = $1 and state = 'unread' and signed and hash is null`,
    [id],
  )) > 0;

/** As `noteCancel`, for a nonce below a cancelled one, under which possibly nothing was signed. */
export const cancelUnder = (tx: Tx, rail: string, wallet: string, nonce: bigint): Promise<number> =>
  tx.run(
    `insert into found_movements (rail, wallet, nonce, signed, cancel_at) values ($1, $2, $3, true, clock_timestamp())
     on conflict (rail, wallet, nonce) do update
       set signed = true, cancel_at = coalesce(found_movements.cancel_at, excluded.cancel_at)
       where found_movements.state = 'unread' and found_movements.hash is null`,
    [rail, wallet, nonce],
  );

export const noteCancelSent = (tx: Tx, id: bigint, fee: Fee): Promise<number> =>
  tx.run('update found_movements set cancel_fee = $2, cancel_sent_at = clock_timestamp() where id = $1', [
    id,
    JSON.stringify(fee),
  ]);

/** A movement that blocks a transfer from this wallet: one that is unread, or one to the same recipient in the same asset. */
export const hindrance = (
  tx: Tx,
  rail: string,
  wallet: string,
  to: { recipient: string; asset: AssetCode },
): Promise<Pick<FoundMovement, 'id' | 'state' | 'signed' | 'nonce'> | undefined> =>
  tx.row(
    `select id, state, signed, nonce from found_movements f
      where rail = $1 and wallet = $2 and not ${isKept('f')}
        and (state = 'unread' or (state = 'open' and recipient = $3 and asset = $4))
      order by id limit 1`,
    [rail, wallet, to.recipient, to.asset],
  );

export const foundUnder = (tx: Tx, rail: string, wallet: string, nonce: bigint): Promise<FoundMovement | undefined> =>
  tx.row<FoundMovement>(`select ${FOUND} from found_movements where rail = $1 and wallet = $2 and nonce = $3`, [
    rail,
    wallet,
    nonce,
  ]);
