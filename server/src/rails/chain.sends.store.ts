/** SQL of sends from our wallets: reserved with their slots, signed, mined, confirmed, each with its versions. */
import { awaitAll, type Tx } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';
import type { AssetCode } from '../base/money.ts';
import type { Call, Prepared } from './chain.adapter.ts';

/** Resumes following a final send: it is broadcast again if no block contains it. */
export const broadcastAgain = (tx: Tx, rail: string, key: string): Promise<number> =>
  tx.run(
    `update chain_sends set state = 'mined', reported_at = null where rail = $1 and key = $2 and state = 'confirmed'`,
    [rail, key],
  );
export type SendState = 'reserved' | 'signed' | 'mined' | 'confirmed' | 'failed' | 'replaced' | 'absent';

/** One version of a send. Versions of one key share target, data and value, and a slot as long as one of them may take effect. */
export interface SendVersion extends Call, Prepared {
  id: bigint;
  wallet: string;
  /** Null on a chain without ordered nonces. */
  nonce: bigint | null;
  key: string;
  version: number;
  asset: AssetCode;
  units: bigint;
  hash: string | null;
  raw: Buffer | null;
  state: SendState;
  block: bigint | null;
  why: string | null;
  reservedAt: Date;
  broadcastAt: Date | null;
  /** True if it was adopted from the chain, with the call that was made there. It is final, and we do not have its bytes. */
  found: boolean;
  /** When a signer was last asked; null if none was. */
  signingAt: Date | null;
}

const SEND =
  'id, wallet, nonce, key, version, target, data, value, asset, units, fee, hash, raw, state, block, why, reserved_at, broadcast_at, found, signing_at, deadline, body, case when nonce is null then slots else array[nonce::text] end as slots';

/** The versions that may take effect or have taken effect: all except those proved absent. */
export const versionsOf = (tx: Tx, rail: string, key: string) =>
  tx.rows<SendVersion>(
    `select ${SEND} from chain_sends where rail = $1 and key = $2 and state <> 'absent' order by version`,
    [rail, key],
  );

/** The number of the next version; versions proved absent count, too. */
export const nextVersion = async (tx: Tx, rail: string, key: string): Promise<number> =>
  ((
    await tx.row<{ last: number | null }>('select max(version) as last from chain_sends where rail = $1 and key = $2', [
      rail,
      key,
    ])
  )?.last ?? 0) + 1;

/** Whether a block contains it, as far as we know. */
export const isMined = async (tx: Tx, rail: string, key: string): Promise<boolean> =>
  (await tx.row(`select from chain_sends where rail = $1 and key = $2 and state in ('mined', 'confirmed', 'failed')`, [
    rail,
    key,
  ])) !== undefined;

/** Every version of the open sends except those proved absent, lowest nonce first. */
export const openSends = (tx: Tx, rail: string, limit: number) =>
  tx.rows<SendVersion>(
    `select ${SEND} from chain_sends where rail = $1 and key in (
       select key from chain_sends where rail = $1 and state in ('reserved', 'signed', 'mined') order by id limit $2)
       and state <> 'absent'
     order by wallet, nonce, version`,
    [rail, limit],
  );

/**
 * The wallet's next nonce, with its row locked; `first` if the wallet has never sent through us. The row also locks a wallet
 * without nonces, whose next one stays 0.
 */
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

type Reserved =
  | keyof Prepared
  | 'wallet'
  | 'nonce'
  | 'key'
  | 'version'
  | 'target'
  | 'data'
  | 'value'
  | 'asset'
  | 'units';

/**
 * Writes a version with the slots that it takes.
 *
 * @returns false if this version already exists
 * @throws Unavailable if another send has one of the slots; the transaction then writes nothing
 */
export async function reserveSend(tx: Tx, rail: string, send: Pick<SendVersion, Reserved>, at: Date): Promise<boolean> {
  const { wallet, nonce, key, version, target, data, value, asset, units, fee, deadline, body } = send;
  // A nonce is its own slot.
  const slots = nonce === null ? send.slots : [];
  const added = await tx.run(
    `insert into chain_sends (rail, wallet, nonce, key, version, target, data, value, asset, units, fee, reserved_at, signing_at, slots, deadline, body)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, null, $13, $14, $15) on conflict (rail, key, version) do nothing`,
    [
      rail,
      wallet,
      nonce,
      key,
      version,
      target,
      data,
      value,
      asset,
      units,
      JSON.stringify(fee),
      at,
      slots,
      deadline,
      body,
    ],
  );
  if (added > 0 && slots.length > 0) await takeSlots(tx, rail, { wallet, key, version, slots });
  return added > 0;
}

async function takeSlots(
  tx: Tx,
  rail: string,
  { wallet, key, version, slots }: Pick<SendVersion, 'wallet' | 'key' | 'version' | 'slots'>,
): Promise<void> {
  await tx.run(
    `insert into chain_slots (rail, wallet, slot, key, version) select $1, $2, slot, $3, $4 from unnest($5::text[]) slot
     on conflict (rail, wallet, slot) do nothing`,
    [rail, wallet, key, version, slots],
  );
  const others = await tx.row<{ slot: string }>(
    'select slot from chain_slots where rail = $1 and wallet = $2 and slot = any($3::text[]) and key <> $4 limit 1',
    [rail, wallet, slots, key],
  );
  if (others !== undefined) throw new Unavailable(rail, 'another send has taken what this one would use up');
}

/** Slots of a wallet that a send has and that no final block is known to have used. */
export async function slotsTaken(tx: Tx, rail: string, wallet: string): Promise<Set<string>> {
  const rows = await tx.rows<{ slot: string }>(
    `select t.slot from chain_slots t join chain_sends s on s.rail = t.rail and s.key = t.key and s.version = t.version
      where t.rail = $1 and t.wallet = $2
        and not exists (select from chain_sends e
                         where e.rail = t.rail and e.key = t.key and e.state in ('confirmed', 'failed')
                           and e.block <= (select finalized from chains where rail = $1))`,
    [rail, wallet],
  );
  return new Set(rows.map(({ slot }) => slot));
}

/** Marks versions of which none is in a final block and none ever can be. */
export const markAbsent = (tx: Tx, rail: string, key: string, ids: readonly bigint[], proof: string): Promise<number> =>
  tx.run(
    `update chain_sends set state = 'absent', why = $4
      where rail = $1 and key = $2 and id = any($3::bigint[]) and state in ('reserved', 'signed', 'mined', 'replaced')`,
    [rail, key, ids, proof],
  );

/** As `markAbsent`, for the versions under a nonce that another transaction has used. Later ones may have another nonce. */
export const markAbsentUnder = (
  tx: Tx,
  rail: string,
  { key, nonce }: { key: string; nonce: bigint },
  proof: string,
): Promise<number> =>
  tx.run(
    `update chain_sends set state = 'absent', why = $4
      where rail = $1 and key = $2 and nonce = $3 and state in ('reserved', 'signed', 'mined', 'replaced')`,
    [rail, key, nonce, proof],
  );

/** A send whose reservation may still be released, locked; undefined if it was released. */
export const lockSend = (tx: Tx, id: bigint): Promise<Pick<SendVersion, 'raw' | 'state' | 'signingAt'> | undefined> =>
  tx.row('select raw, state, signing_at from chain_sends where id = $1 for update', [id]);

/** Records that a signer is asked next, or that it has not signed. */
export const markSigning = (tx: Tx, id: bigint, isAsked: boolean): Promise<number> =>
  tx.run('update chain_sends set signing_at = case when $2 then clock_timestamp() end where id = $1', [id, isAsked]);

/** Releases a reservation about which no signer was asked. Its nonce, or its slots, are free again. */
export async function releaseSend(
  tx: Tx,
  rail: string,
  { id, key, wallet, nonce }: Pick<SendVersion, 'id' | 'key' | 'wallet' | 'nonce'>,
  why: string,
): Promise<void> {
  await tx.run('delete from chain_sends where id = $1', [id]);
  if (nonce === null) return;
  await tx.run('insert into released_nonces (rail, wallet, nonce, key, why) values ($1, $2, $3, $4, $5)', [
    rail,
    wallet,
    nonce,
    key,
    why,
  ]);
}

/** The lowest nonce of a wallet that was released and not taken again. The caller has locked the wallet's row in chain_nonces. */
export const freeNonce = (tx: Tx, rail: string, wallet: string): Promise<{ id: bigint; nonce: bigint } | undefined> =>
  tx.row(
    `select id, nonce from released_nonces where rail = $1 and wallet = $2 and taken_by is null order by nonce limit 1`,
    [rail, wallet],
  );

export const takeNonce = (tx: Tx, id: bigint, by: string): Promise<number> =>
  tx.run('update released_nonces set taken_by = $2 where id = $1', [id, by]);

/**
 * Adds a nonce below the next one, under which no transaction was signed, to the free ones. The caller has locked the wallet's
 * row in chain_nonces.
 */
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
 * @returns false if it was signed
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

/** A nonce that was released a while ago and for which later sends of its wallet wait. */
export const openGap = (tx: Tx, rail: string, wallet: string, forMs: number): Promise<{ nonce: bigint } | undefined> =>
  tx.row(
    `select r.nonce from released_nonces r
      where r.rail = $1 and r.wallet = $2 and r.taken_by is null
        and r.released_at <= clock_timestamp() - make_interval(secs => $3)
        and exists (select from chain_sends s where s.rail = $1 and s.wallet = $2 and s.nonce > r.nonce and s.state = 'signed')
      order by r.nonce limit 1`,
    [rail, wallet, forMs / 1000],
  );

/**
 * Stores the signed bytes, unless another process has stored its own: the bytes that were stored first are broadcast.
 *
 * @param withinMs how long after the gate's answer bytes may be stored; later bytes are discarded
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

/**
 * Records the block of a mined send. Writes nothing if it is known, because a send is checked with every block until it is deep
 * enough.
 */
export async function markMined(tx: Tx, id: bigint, block: bigint): Promise<void> {
  await tx.run(
    `update chain_sends set state = 'mined', block = $2
      where id = $1 and state in ('signed', 'mined') and (state, block) is distinct from ('mined', $2::bigint)`,
    [id, block],
  );
}

/**
 * Records that its block was reorged out. A transaction that was in a block was broadcast, even if the node's answer was lost.
 * Versions that were not signed because this one was mined wait to be signed again.
 */
export async function markUnmined(tx: Tx, id: bigint): Promise<void> {
  await tx.run(
    `update chain_sends set state = case when raw is null then 'reserved' else 'signed' end, block = null,
            broadcast_at = case when state = 'mined' then coalesce(broadcast_at, clock_timestamp()) else broadcast_at end
      where id = $1 and (state = 'mined' or (state = 'replaced' and raw is null))`,
    [id],
  );
}

/**
 * @returns whether the send ended now, and whether that is the first time: after a reorg the same bytes are mined again, and
 *   their cost in the earlier block (`before`) no longer applies
 */
export async function endSend(
  tx: Tx,
  rail: string,
  send: { id: bigint; key: string },
  end: { state: 'confirmed' | 'failed'; block: bigint; cost: bigint; why: string | null; at: Date },
): Promise<{ ended: boolean; before: bigint | undefined }> {
  // In this order: what was reported earlier is read before this send becomes the newest.
  const [before, ended] = await awaitAll(
    tx.row<{ costUnits: bigint }>(
      `select cost_units from chain_sends where rail = $1 and key = $2 and reported_at is not null
        order by reported_at desc, id desc limit 1`,
      [rail, send.key],
    ),
    tx.run(
      `update chain_sends set state = $2, block = $3, cost_units = $4, why = $5, reported_at = $6
        where id = $1 and state in ('signed', 'mined', 'replaced')`,
      [send.id, end.state, end.block, end.cost, end.why, end.at],
    ),
  );
  tx.defer(
    `update chain_sends set state = 'replaced' where rail = $1 and key = $2 and id <> $3 and state in ('reserved', 'signed', 'mined')`,
    [rail, send.key, send.id],
  );
  return { ended: ended > 0, before: before?.costUnits };
}

/** The chain transactions among these that are sends from our wallets, by hash. */
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

/** The key of the send with this hash. */
export const keyOfHash = async (tx: Tx, rail: string, hash: string): Promise<string | undefined> =>
  (await tx.row<{ key: string }>('select key from chain_sends where rail = $1 and hash = $2', [rail, hash]))?.key;

/**
 * Our sends in blocks of this range, and those whose block is not known yet. Sends of a simulated customer's wallet are not
 * included.
 */
export const sendsAround = (tx: Tx, rail: string, after: bigint, upTo: bigint, wallet: string) =>
  tx.rows<Pick<SendVersion, 'wallet' | 'key' | 'target' | 'value'> & { hash: string }>(
    `select wallet, key, target, value, hash from chain_sends
      where rail = $1 and hash is not null and (wallet = $4 or wallet like 'deposit:%')
        and ((block > $2 and block <= $3) or (block is null and state in ('signed', 'mined')))`,
    [rail, after, upTo, wallet],
  );
// Gas.

export async function storeGasPrice(tx: Tx, chain: string, units: bigint, at: Date): Promise<void> {
  await tx.run(
    `insert into gas_prices (chain, units, fetched_at) values ($1, $2, $3)
     on conflict (chain) do update set units = excluded.units, fetched_at = excluded.fetched_at`,
    [chain, units, at],
  );
}
