/**
 * Adopting: finds transactions of our own wallets that are on the chain and in no row of ours.
 *
 * After a restore from an older backup the chain is ahead: the books lack payments that were sent since, or show them as not
 * sent. Sending them again would pay twice. So each such transaction is read from the chain once it is final, and stored as a
 * row:
 *
 *   unread ──read──▶ open ──fits exactly one payout, and only it fits that──▶ adopted (a send like any other; its receipt settles it)
 *                      │
 *                      ├──two people match it──▶ adopted
 *                      └──two people declare it foreign──▶ foreign (booked as an unexplained debit)
 *
 * The signer's journal has transactions that are signed and in no block yet. Each is a row, too, and unread until a final block
 * has used its nonce, because its bytes may still be broadcast although no node shows them. Two operators may cancel it: an empty
 * transfer from the wallet to itself is signed under the same nonce and sent until either it or the cancelled one is mined. The
 * block shows which of the two was mined, and only then does anything else leave the wallet. So nothing is paid twice, whichever
 * is mined.
 *
 * Signed bytes of a payout that may not leave, and that are not known to be broadcast, have such a row as well. It blocks nothing
 * until it is cancelled, and is deleted when the payout may leave again (chain.sends.ts).
 *
 * While a movement is unread, its wallet sends nothing. While one is open, nothing is sent to the same recipient in the same
 * asset, and the rail is switched off until an operator lifts that or all movements are matched. Movements of the paying wallet
 * are found by its used nonces, and those of deposit addresses by transfers to the paying wallet (chain.follow.ts).
 *
 * Not here: transfers between our own wallets, which the treasury matches; operators' decisions (treasury/movements.ts).
 */

import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import type { SentTransaction } from './chain.adapter.ts';
import * as addressStore from './chain.addresses.store.ts';
import { matchFound } from './chain.adopt.match.ts';
import { noteSigned, reportSigned, sendCancel, signedSince } from './chain.adopt.signed.ts';
import * as found from './chain.adopt.store.ts';
import { type Engine, HOT } from './chain.engine.ts';
import { lookForLost } from './chain.lost.ts';
import { firstNonce, noteGap, noteReleased, surelyUnused } from './chain.nonces.ts';
import * as sendStore from './chain.sends.store.ts';
import * as store from './chain.store.ts';

/** Transactions read per run, each with some twenty calls. */
const READ_AT_ONCE = 20;
/** Blocks that are read whole per run, if the node cannot say which block used a nonce. */
const SEARCHED = 400n;

/**
 * Finds transactions that are not in the books, reads those that are final, and adopts the ones that fit.
 *
 * @param known our rows as this check has read them, if it has written nothing since
 * @returns whether every transaction that moved native units is known: only then does a balance show incoming money
 * @throws Unavailable
 */
export async function lookForUnknown(engine: Engine, known: found.KnownNonces | undefined): Promise<boolean> {
  const { rail, pace, db, memory } = engine;
  let hasNone = known?.isWaiting === false;
  if (Date.now() >= memory.compareNoncesAt) {
    memory.compareNoncesAt = Date.now() + pace.nativeEveryMs;
    const isAsKnown = await findNonces(engine, known);
    const isLost = await lookForLost(engine);
    hasNone &&= isAsKnown && !isLost;
  }
  if (hasNone) return true;
  const waiting = await db.asSystem((tx) => found.waitingFound(tx, rail, found.AT_ONCE));
  if (waiting.length === 0) return true;
  const unread = waiting.filter(({ state }) => state === 'unread');
  for (const row of unread.slice(0, READ_AT_ONCE)) await readFound(engine, row);
  for (const row of unread) if (row.cancelAt !== null) await sendCancel(engine, row);
  return await db.asSystem(async (tx) => {
    const rows = await matchFound(engine, tx);
    return rows.every((row) => row.state === 'open' && (row.data?.length ?? 0) > 0);
  });
}

/**
 * Whether the node reports the same nonces of the paying wallet as at the last comparison with the books. This queries the node
 * as often as a comparison is due, but not the database.
 *
 * @throws Unavailable
 */
export async function hasSameNonces({ adapter, memory, pace }: Engine): Promise<boolean> {
  const { account } = adapter;
  if (account === undefined || !adapter.canSend(HOT) || Date.now() < memory.compareNoncesAt) return true;
  const { mined, pending } = await account.nonces(HOT);
  if (memory.nonces?.mined !== mined || memory.nonces.pending !== pending) return false;
  memory.compareNoncesAt = Date.now() + pace.nativeEveryMs;
  return true;
}

/**
 * Compares the nonces of the paying wallet with the books. Where the books know all of them and nothing waits, nothing is locked.
 *
 * @returns whether the books were right
 * @throws Unavailable
 */
async function findNonces(engine: Engine, known: found.KnownNonces | undefined): Promise<boolean> {
  const { adapter, rail, db, memory } = engine;
  const { account } = adapter;
  if (account === undefined || !adapter.canSend(HOT)) return true;
  const said = await account.nonces(HOT);
  if (known !== undefined && isAsKnown(known, said.mined)) {
    memory.nonces = said;
    return true;
  }
  const { mined, pending } = said;
  const unused = await surelyUnused(engine, mined);
  const signed = await signedSince(engine, mined);
  await db.asSystem(async (tx) => {
    // Also in the first run: after a restore to before the first payout ever, that payout must be found, too.
    const next = await sendStore.lockNonce(tx, rail, HOT, await firstNonce(tx, pending));
    await noteReleased(engine, tx, HOT, mined);
    if (mined > next) await noteGap(engine, tx, HOT, next, mined);
    else if (mined < next && unused !== undefined)
      // The next nonce stays, because sends of ours or other free nonces may be above them.
      for (const nonce of await found.forgetUnused(tx, rail, HOT, unused))
        await sendStore.addFree(tx, rail, HOT, nonce, 'the transaction that had used it has left the chain');
    if (signed === undefined) return;
    const after = await noteSigned(engine, tx, signed, mined > next ? mined : next);
    await reportSigned(engine, tx, pending);
    const free = await sendStore.freeNonce(tx, rail, HOT);
    if (pending <= (free?.nonce ?? after)) await found.noteLooked(tx, rail, HOT);
  });
  memory.nonces = said;
  return false;
}

/** The next nonce may have grown since it was read: then more nonces look used than are known, and all is read again. */
const isAsKnown = ({ isWaiting, isUnlooked, next }: found.KnownNonces, mined: bigint): boolean =>
  !isWaiting && !isUnlooked && next !== null && mined <= next;

async function readFound(engine: Engine, row: found.FoundMovement): Promise<void> {
  const { adapter, rail, db } = engine;
  const { cursor, from } = await db.asSystem(async (tx) => ({
    cursor: await store.cursorOf(tx, rail),
    from: row.nonce === null ? 0n : await found.searchFrom(tx, rail, row.wallet, row.nonce),
  }));
  const finalized = cursor?.finalized ?? -1n;
  if (finalized < 0n) return;
  const sent =
    row.hash !== null
      ? await adapter.sentAs?.(row.wallet, row.hash)
      : await underNonce(engine, row, row.nonce ?? 0n, from, finalized);
  if (sent === undefined || sent.block > finalized) return;
  await db.asSystem((tx) => fill(engine, tx, row, sent));
}

async function fill(engine: Engine, tx: Tx, row: found.FoundMovement, sent: SentTransaction): Promise<void> {
  const { chain } = engine;
  const { moved } = sent;
  const asset = (await addressStore.assetsOf(tx, chain)).find(
    (one) => moved !== undefined && (moved.contract === null ? one.native : one.contract === moved.contract),
  );
  await found.fillFound(tx, row, sent, moved !== undefined && moved.units > 0n ? asset?.code : undefined);
}

async function underNonce(
  engine: Engine,
  row: found.FoundMovement,
  nonce: bigint,
  from: bigint,
  finalized: bigint,
): Promise<SentTransaction | undefined> {
  const { adapter, db } = engine;
  const { account } = adapter;
  const sent = await account?.sentUnder(row.wallet, nonce, from, finalized);
  if (account === undefined || sent !== 'no state') return sent === 'no state' ? undefined : sent;
  const begin = row.searchedTo === null ? from : row.searchedTo + 1n;
  const end = begin + SEARCHED - 1n < finalized ? begin + SEARCHED - 1n : finalized;
  if (begin > end) return undefined;
  const there = (await account.sentIn(row.wallet, begin, end)).find((one) => one.nonce === nonce);
  if (there === undefined) await db.asSystem((tx) => found.noteSearched(tx, row.id, end));
  return there;
}

/**
 * Stores a transaction of the paying wallet, by its hash, as a movement that can be matched.
 *
 * @throws Refusal 'does_not_fit' if no final block contains it, or it is known; Unavailable
 */
export async function readByHash(engine: Engine, hash: string): Promise<bigint> {
  const { adapter, rail, db } = engine;
  const sent = await adapter.sentAs?.(HOT, hash);
  const cursor = await db.asSystem((tx) => store.cursorOf(tx, rail));
  if (sent === undefined || sent.block > (cursor?.finalized ?? -1n))
    throw new Refusal('does_not_fit', { why: 'no final block holds a transaction of our wallet under this hash' });
  return await db.asSystem(async (tx) => {
    if ((await sendStore.keysOf(tx, rail, [hash], HOT)).size > 0)
      throw new Refusal('does_not_fit', { why: 'the transaction is in the books already' });
    await found.noteHash(tx, rail, HOT, hash);
    const row = await found.foundByHash(tx, rail, hash);
    assert(row !== undefined, 'a stored movement has disappeared');
    if (row.state === 'unread') await fill(engine, tx, row, sent);
    return row.id;
  });
}
