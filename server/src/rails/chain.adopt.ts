/**
 * Adopting: transactions of our own wallets that are on the chain and in no row of ours.
 *
 * After a restore from an older backup the chain is ahead: what was sent since is in the books as not sent, or not at all.
 * Sending it again would pay twice. So each such transaction is read from the chain, once it is final, and stored as a row:
 *
 *   unread ──read──▶ open ──fits exactly one payout, and only it fits that──▶ adopted (a send like any other; its receipt settles it)
 *                      │
 *                      ├──two people match it──▶ adopted
 *                      └──two people declare it foreign──▶ foreign (booked as an unexplained debit)
 *
 * The signer's journal knows what was signed and is in no block yet. That is a row too, and unread until a final block has
 * used its nonce: its bytes may still be broadcast although no node shows them. Two people may cancel it: an empty transfer
 * from the wallet to itself is signed under the same nonce and sent until either it, or what it cancels, is mined. The block
 * shows which one it was, and only then does anything else leave the wallet. So nothing is paid twice, whichever is mined.
 *
 * While one is unread nothing leaves its wallet. While one is open nothing leaves for the same recipient in the same asset,
 * and the rail is halted until a person lifts that or all are matched. They are found by the wallet's used nonces, and those
 * of deposit addresses by what arrives at the paying wallet (chain.follow.ts).
 *
 * Not here: transfers between our own wallets, which the treasury matches; what a person decides (treasury/movements.ts).
 */
import type { Tx } from '../base/db.ts';
import { assert, Refusal, Unavailable } from '../base/errors.ts';
import { timeOfId } from '../base/ids.ts';
import { wasRestored } from './ahead.store.ts';
import {
  type Call,
  type ChainAdapter,
  type Fee,
  NotSigned,
  type RailContext,
  type SentTransaction,
  type SignedBefore,
} from './chain.adapter.ts';
import * as addressStore from './chain.addresses.store.ts';
import * as found from './chain.adopt.store.ts';
import { HOT } from './chain.follow.ts';
import * as sendStore from './chain.sends.store.ts';
import * as store from './chain.store.ts';

/** A node that reports more unknown nonces than this is not trusted. */
export const NONCE_GAP = 1_000n;
/** Rows per run; the next run takes the rest. */
const AT_ONCE = 2_000;
/** Transactions read per run, each with some twenty calls. */
const READ_AT_ONCE = 20;
/** Blocks read whole per run, when the node does not say which block used a nonce. */
const SEARCHED = 400n;
/** A block's time may be behind that of the process that created the payout. */
const SKEW_MS = 15_000;
/** A signed transaction known to the node is mined within this time, or a person is told. */
const SIGNED_TOLD_AFTER_MS = 10 * 60_000;
/** A transfer between our own wallets may be matched by the next rows of the treasury; after this a person is told. */
const OWN_TOLD_AFTER_MS = 10 * 60_000;

export function adopter(adapter: ChainAdapter, { db, log, report }: RailContext) {
  const { code: rail, chain, pace } = adapter;
  let nextAt = 0;

  /**
   * Finds transactions that are not in the books, reads those that are final, and adopts the ones that fit.
   *
   * @returns whether every transaction that moved native coin is known: only then does a balance show what came in
   * @throws Unavailable
   */
  async function look(): Promise<boolean> {
    if (Date.now() >= nextAt) {
      nextAt = Date.now() + pace.nativeEveryMs;
      await findNonces();
    }
    const waiting = await db.asSystem((tx) => found.waitingFound(tx, rail, AT_ONCE));
    if (waiting.length === 0) return true;
    const unread = waiting.filter(({ state }) => state === 'unread');
    for (const row of unread.slice(0, READ_AT_ONCE)) await read(row);
    for (const row of unread) if (row.cancel_at !== null) await sendCancel(row);
    return await db.asSystem(async (tx) => {
      const rows = await match(tx);
      return rows.every((row) => row.state === 'open' && (row.data?.length ?? 0) > 0);
    });
  }

  /** For the paying wallet. @throws Unavailable */
  async function findNonces(): Promise<void> {
    if (!adapter.canSend(HOT)) return;
    const { mined, pending } = await adapter.nonces(HOT);
    const unused = await surelyUnused(mined);
    const signed = await signedSince(mined);
    await db.asSystem(async (tx) => {
      // From the first run on: a restore to before the first payout ever must find that one, too.
      const next = await sendStore.lockNonce(tx, rail, HOT, await firstNonce(tx, pending));
      if (mined > next) await noteGap(tx, HOT, next, mined);
      else if (mined < next && unused !== undefined) {
        const lowest = await found.forgetUnused(tx, rail, HOT, unused);
        if (lowest !== undefined) await sendStore.setNextNonce(tx, rail, HOT, lowest);
      }
      if (signed === undefined) return;
      const after = await noteSigned(tx, signed, mined > next ? mined : next);
      await tellSigned(tx, pending);
      if (pending <= after) await found.noteLooked(tx, rail, HOT);
    });
  }

  /**
   * What the signer's journal has from a nonce on, while the lost time is not examined; undefined when it does not answer.
   *
   * @throws Unavailable when it reports more than is possible
   */
  async function signedSince(nonce: bigint): Promise<SignedBefore[] | undefined> {
    const all: SignedBefore[] = [];
    if (adapter.signedFrom === undefined || !(await db.asSystem((tx) => found.isUnlooked(tx, rail, HOT)))) return all;
    try {
      for (let from = nonce; ; ) {
        const some = await adapter.signedFrom(HOT, from);
        all.push(...some);
        const last = some.at(-1);
        if (last === undefined) return all;
        if (last.nonce - nonce > NONCE_GAP) throw new Unavailable(rail, 'the signer knows far more nonces than we do');
        from = last.nonce + 1n;
      }
    } catch (error) {
      if (!(error instanceof NotSigned)) throw error;
      log.warn({ rail, why: error.message }, 'the signer does not say what it has signed before');
      return undefined;
    }
  }

  /**
   * Inserts rows for what was signed under nonces that no send of ours has. The wallet's row is locked.
   *
   * @param next the wallet's next nonce
   * @returns the new next nonce
   */
  async function noteSigned(tx: Tx, signed: readonly SignedBefore[], next: bigint): Promise<bigint> {
    const assets = await addressStore.assetsOf(tx, chain);
    let after = next;
    for (const one of signed) {
      const own = (await found.sendsUnder(tx, rail, HOT, one.nonce)).at(-1);
      if (own !== undefined && !(await isGivenUp(tx, own, one))) continue;
      // Unsigned nonces between two signed ones are free.
      for (; after < one.nonce; after += 1n)
        await sendStore.addFree(tx, rail, HOT, after, 'never signed before the restore');
      await sendStore.takeFree(tx, rail, HOT, one.nonce, 'what was signed under it before the restore');
      const asset = assets.find(({ native, contract }) => (one.contract === null ? native : contract === one.contract));
      log.warn({ rail, nonce: one.nonce }, 'signed in the time that was lost, and in no row of ours');
      await found.noteSigned(
        tx,
        { rail, wallet: HOT, nonce: one.nonce },
        { recipient: one.to, asset: asset?.code, units: one.units },
      );
      if (one.nonce >= after) after = one.nonce + 1n;
    }
    if (after > next) await sendStore.setNextNonce(tx, rail, HOT, after);
    return after;
  }

  /** A send of ours has a nonce that was signed for another transfer: this send was never signed, and never can be. */
  async function isGivenUp(tx: Tx, own: found.OwnSend, { contract, to, units }: SignedBefore): Promise<boolean> {
    const call = adapter.call(contract, to, units);
    if (!('rejected' in call) && call.target === own.target && call.value === own.value && call.data.equals(own.data))
      return false;
    return await sendStore.giveUpUnsigned(
      tx,
      rail,
      own.key,
      'its nonce was signed for another transfer before the restore',
    );
  }

  /**
   * A transfer between our own wallets whose nonce was signed for another, as a sweep of the lost time that no node has: its reservation
   * is given up, and it waits until what was signed is mined, or two people cancel that.
   *
   * @throws NotSigned where the signer does not answer
   */
  async function signedOtherwise({ wallet, nonce }: { wallet: string; nonce: bigint }): Promise<void> {
    const before = (await adapter.signedFrom?.(wallet, nonce))?.find((one) => one.nonce === nonce);
    if (before === undefined || wallet === HOT) return;
    await db.asSystem(async (tx) => {
      await sendStore.lockNonce(tx, rail, wallet, nonce);
      const own = (await found.sendsUnder(tx, rail, wallet, nonce)).at(-1);
      if (own === undefined || !(await isGivenUp(tx, own, before))) return;
      await sendStore.takeFree(tx, rail, wallet, nonce, 'what was signed under it before the restore');
      const { contract, to: recipient, units } = before;
      const assets = await addressStore.assetsOf(tx, chain);
      const asset = assets.find((one) => (contract === null ? one.native : one.contract === contract))?.code;
      log.warn({ rail, wallet, nonce }, 'signed in the time that was lost, and in no row of ours');
      await found.noteSigned(tx, { rail, wallet, nonce }, { recipient, asset, units });
      const row = (await found.waitingFound(tx, rail, AT_ONCE)).find(
        (one) => one.wallet === wallet && one.nonce === nonce,
      );
      if (row === undefined || row.told_at !== null) return;
      await found.markTold(tx, row.id);
      await tellOfSigned(tx, row);
    });
  }

  const tellOfSigned = (tx: Tx, row: found.FoundMovement) =>
    report(tx, {
      type: 'send_found',
      rail,
      movement: row.id,
      reference: `nonce ${row.nonce}`,
      ...(row.asset === null || row.units === null ? {} : { moved: { asset: row.asset, units: row.units } }),
      why: 'signed in the time that a restore has lost, and in no block: it may still be mined, or two people cancel it',
    });

  /** Reports each once: at once when the node does not know it, else when it stays unmined for long. */
  async function tellSigned(tx: Tx, pending: bigint): Promise<void> {
    for (const row of await found.waitingFound(tx, rail, AT_ONCE)) {
      if (!row.signed || row.state !== 'unread' || row.told_at !== null || row.nonce === null) continue;
      if (row.cancel_at !== null) continue;
      if (row.nonce < pending && Date.now() - row.found_at.getTime() < SIGNED_TOLD_AFTER_MS) continue;
      await found.markTold(tx, row.id);
      await tellOfSigned(tx, row);
    }
  }

  /**
   * Signs and sends the transfer that uses its nonce up; repeated with a higher fee until the nonce is used. @throws
   * Unavailable
   */
  async function sendCancel(row: found.FoundMovement): Promise<void> {
    const call = adapter.cancelCall?.(row.wallet);
    if (call === undefined || row.nonce === null || !adapter.canSend(row.wallet)) return;
    const sentMs = row.cancel_sent_at === null ? Number.POSITIVE_INFINITY : Date.now() - row.cancel_sent_at.getTime();
    if (sentMs < pace.rebroadcastMs) return;
    const { mined } = await adapter.nonces(row.wallet);
    if (mined > row.nonce) return;
    if (row.cancel_fee === null) await makeWay(row.wallet, mined, row.nonce);
    try {
      const fee = await feeOfCancel(row, call);
      if (fee === undefined) return;
      const { raw, hash } = await adapter.sign(row.wallet, call, row.nonce, fee);
      await db.asSystem((tx) => found.noteCancelSent(tx, row.id, fee));
      const answer = await adapter.broadcast(raw);
      log.warn({ rail, nonce: row.nonce, hash, taken: answer.taken }, 'an empty transfer is sent under the nonce');
    } catch (error) {
      if (!(error instanceof NotSigned)) throw error;
      log.warn({ rail, nonce: row.nonce, why: error.message }, 'not signed');
    }
  }

  /**
   * Nothing is mined above an unused nonce. Nonces below a cancelled one that nobody signed, or of whose bytes we have none,
   * are used up with it: no send takes them meanwhile, because all sends wait.
   */
  async function makeWay(wallet: string, mined: bigint, below: bigint): Promise<void> {
    if (below - mined > NONCE_GAP) throw new Unavailable(rail, 'far more nonces are unused than can be');
    await db.asSystem(async (tx) => {
      await sendStore.lockNonce(tx, rail, wallet, mined);
      for (let nonce = mined; nonce < below; nonce += 1n) {
        const own = (await found.sendsUnder(tx, rail, wallet, nonce)).at(-1);
        const why = `nonce ${below} is cancelled, and waits for it`;
        if (own !== undefined && !(await sendStore.giveUpUnsigned(tx, rail, own.key, why))) continue;
        await sendStore.takeFree(tx, rail, wallet, nonce, 'an empty transfer');
        await found.cancelUnder(tx, rail, wallet, nonce);
      }
    });
  }

  /** Higher each time, because the competing transaction may have offered more. */
  async function feeOfCancel({ wallet, cancel_fee }: found.FoundMovement, call: Call): Promise<Fee | undefined> {
    if (cancel_fee !== null) return (await adapter.raise(wallet, call, cancel_fee)) ?? cancel_fee;
    const estimate = await adapter.estimate(wallet, call);
    if ('fee' in estimate) return estimate.fee;
    log.warn({ rail, why: estimate.rejected }, 'no empty transfer can be sent');
    return undefined;
  }

  /**
   * The lowest unread nonce that this node reports as unused, if a final block newer than its discovery confirms that: a
   * lagging node does not know what another one has seen.
   */
  async function surelyUnused(mined: bigint): Promise<bigint | undefined> {
    const { cursor, row } = await db.asSystem(async (tx) => ({
      cursor: await store.cursorOf(tx, rail),
      row: (await found.waitingFound(tx, rail, AT_ONCE)).find(
        ({ wallet, state, signed, nonce, hash }) =>
          wallet === HOT && state === 'unread' && !signed && hash === null && nonce !== null && nonce >= mined,
      ),
    }));
    const finalized = cursor?.finalized ?? -1n;
    if (row === undefined || row.nonce === null || finalized < 0n) return undefined;
    const { nonce, found_at } = row;
    const [block] = await adapter.blocks(finalized, finalized);
    if (block === undefined || block.at.getTime() < found_at.getTime() + SKEW_MS) return undefined;
    const from = await db.asSystem((tx) => found.searchFrom(tx, rail, HOT, nonce));
    return (await adapter.sentUnder(HOT, nonce, from, finalized)) === undefined ? nonce : undefined;
  }

  /** Nonces `next` (inclusive) to `used` (exclusive) are on the chain and not in the books. The wallet's row is locked. */
  async function noteGap(tx: Tx, wallet: string, next: bigint, used: bigint): Promise<void> {
    if (used - next > NONCE_GAP)
      throw new Unavailable(rail, 'the node says that far more nonces were used than we know of');
    log.warn({ rail, wallet, from: Number(next), used: Number(used) }, 'nonces used that are not in the books');
    await found.noteNonces(tx, rail, wallet, next, used);
    await sendStore.setNextNonce(tx, rail, wallet, used);
  }

  async function read(row: found.FoundMovement): Promise<void> {
    const { cursor, from } = await db.asSystem(async (tx) => ({
      cursor: await store.cursorOf(tx, rail),
      from: row.nonce === null ? 0n : await found.searchFrom(tx, rail, row.wallet, row.nonce),
    }));
    const finalized = cursor?.finalized ?? -1n;
    if (finalized < 0n) return;
    const sent =
      row.hash !== null
        ? await adapter.sentAs(row.wallet, row.hash)
        : await underNonce(row, row.nonce ?? 0n, from, finalized);
    if (sent === undefined || sent.block > finalized) return;
    await db.asSystem((tx) => fill(tx, row, sent));
  }

  async function fill(tx: Tx, row: found.FoundMovement, sent: SentTransaction): Promise<void> {
    const { moved } = sent;
    const asset = (await addressStore.assetsOf(tx, chain)).find(
      (one) => moved !== undefined && (moved.contract === null ? one.native : one.contract === moved.contract),
    );
    await found.fillFound(tx, row, sent, moved !== undefined && moved.units > 0n ? asset?.code : undefined);
  }

  async function underNonce(
    row: found.FoundMovement,
    nonce: bigint,
    from: bigint,
    finalized: bigint,
  ): Promise<SentTransaction | undefined> {
    const sent = await adapter.sentUnder(row.wallet, nonce, from, finalized);
    if (sent !== 'no state') return sent;
    const begin = row.searched_to === null ? from : row.searched_to + 1n;
    const end = begin + SEARCHED - 1n < finalized ? begin + SEARCHED - 1n : finalized;
    if (begin > end) return undefined;
    const there = (await adapter.sentIn(row.wallet, begin, end)).find((one) => one.nonce === nonce);
    if (there === undefined) await db.asSystem((tx) => found.noteSearched(tx, row.id, end));
    return there;
  }

  /** Adopts movements that match exactly one payout and vice versa, and reports the others. @returns those still waiting */
  async function match(tx: Tx): Promise<found.FoundMovement[]> {
    // Two people may be deciding about one of them, or another process matching it, right now.
    const waiting = await found.lockWaiting(tx, rail, AT_ONCE);
    // An unread one may turn out to be a second match.
    const unread = new Set(waiting.filter(({ state }) => state === 'unread').map(({ wallet }) => wallet));
    const open = waiting.filter(({ state, wallet }) => state === 'open' && !unread.has(wallet));
    if (open.length === 0) return waiting;
    const candidates = open.some(fitsPayouts) ? await found.unsentPayouts(tx, rail) : [];
    const perMovement = Map.groupBy(open.filter(fitsPayouts), place);
    const perPayout = Map.groupBy(candidates, place);
    for (const row of open) {
      const under = row.nonce === null ? [] : await found.sendsUnder(tx, rail, row.wallet, row.nonce);
      const own = under.at(-1);
      if (own !== undefined) {
        if (under.some(({ hash }) => hash === row.hash)) await settleAs(tx, row, { ...own, known: true });
        else if (isSameCall(own, row)) await settleAs(tx, row, { ...own, version: own.version + 1 });
        continue;
      }
      if (row.signed && isCancel(row)) {
        await endCancelled(tx, row);
        continue;
      }
      // A transaction that moved nothing paid no payout, whatever it looks like.
      if (!fitsPayouts(row)) continue;
      const [candidate, ...others] = perPayout.get(place(row)) ?? [];
      const isAlone = perMovement.get(place(row))?.length === 1 && others.length === 0;
      if (candidate === undefined || !isAlone || !isOlder(candidate, row)) continue;
      await settleAs(tx, row, { ...candidate, version: 1 });
    }
    const left = await found.waitingFound(tx, rail, AT_ONCE);
    await tell(
      tx,
      left.filter(({ state, wallet }) => state === 'open' && !unread.has(wallet)),
    );
    return left;
  }

  async function settleAs(
    tx: Tx,
    row: found.FoundMovement,
    as: { key: string; version: number; asset: string; units: bigint; known?: boolean },
  ): Promise<void> {
    if (as.known === true) await found.endFound(tx, row.id, { state: 'adopted', key: as.key });
    else await found.adoptAs(tx, row, as);
    log.warn({ rail, key: as.key, hash: row.hash }, 'adopted: it was sent before');
    await report(tx, {
      type: 'send_matched',
      rail,
      movement: row.id,
      key: as.key,
      left: await found.countTold(tx, rail),
    });
  }

  const isCancel = (row: found.FoundMovement): boolean => {
    const call = adapter.cancelCall?.(row.wallet);
    return call !== undefined && row.target === call.target && row.value === call.value && row.data?.length === 0;
  };

  /** The nonce is used up, and what was signed under it can never be mined. Its fee has left; nothing else has moved. */
  async function endCancelled(tx: Tx, row: found.FoundMovement): Promise<void> {
    await found.endFound(tx, row.id, { state: 'cancelled' });
    log.warn({ rail, nonce: row.nonce, hash: row.hash }, 'cancelled: an empty transfer has used the nonce');
    const native = (await addressStore.assetsOf(tx, chain)).find((asset) => asset.native)?.code;
    // Of a deposit address reconciliation knows what its balance lacks by the address.
    const isHot = row.wallet === HOT;
    if (native !== undefined && row.cost_units !== null && row.cost_units > 0n)
      await report(tx, {
        type: 'unexplained_debit',
        rail,
        externalId: isHot ? `${row.hash}:coin` : `native:${row.target}:${row.block}`,
        asset: native,
        units: row.cost_units,
        reference: row.hash ?? '',
        ...(isHot ? {} : { ofDeposits: true }),
      });
    await report(tx, {
      type: 'send_matched',
      rail,
      movement: row.id,
      key: 'an empty transfer that cancels it',
      left: await found.countTold(tx, rail),
    });
  }

  /** Reports each once. For those not between our own wallets, the receiver halts the rail's payouts. */
  async function tell(tx: Tx, open: readonly found.FoundMovement[]): Promise<void> {
    const strange: found.FoundMovement[] = [];
    for (const row of open) {
      if (row.told_at !== null) continue;
      const isOwn =
        row.wallet !== HOT ||
        (row.recipient !== null && (await addressStore.indexOf(tx, rail, row.recipient)) !== undefined);
      if (isOwn && Date.now() - row.found_at.getTime() < OWN_TOLD_AFTER_MS) continue;
      if (!isOwn) strange.push(row);
      await found.markTold(tx, row.id);
      await report(tx, {
        type: 'send_found',
        rail,
        movement: row.id,
        reference: row.hash ?? '',
        ...(row.asset === null || row.units === null ? {} : { moved: { asset: row.asset, units: row.units } }),
        why: whyOpen(row),
      });
    }
    if (strange.length === 0) return;
    const nonces = strange.map(({ nonce }) => String(nonce)).join(', ');
    const which = strange.length === 1 ? `nonce ${nonces}` : `nonces ${nonces}`;
    const why = `${which} of wallet ${HOT} used by transactions that are not in the books`;
    await report(tx, { type: 'nonces_used', rail, why });
  }

  /** A row of ours reserved this nonce, and a block has it under a hash that we did not store. */
  const suspect = (wallet: string, nonce: bigint) =>
    db.asSystem(async (tx) => {
      await found.noteNonces(tx, rail, wallet, nonce, nonce + 1n);
      return await found.isUnread(tx, rail, wallet, nonce);
    });

  /**
   * Stores a transaction of the paying wallet, by its hash, as a movement that can be matched.
   *
   * @throws Refusal 'does_not_fit' when no final block contains it, or it is known; Unavailable
   */
  async function readByHash(hash: string): Promise<bigint> {
    const sent = await adapter.sentAs(HOT, hash);
    const cursor = await db.asSystem((tx) => store.cursorOf(tx, rail));
    if (sent === undefined || sent.block > (cursor?.finalized ?? -1n))
      throw new Refusal('does_not_fit', { why: 'no final block holds a transaction of our wallet under this hash' });
    return await db.asSystem(async (tx) => {
      if ((await sendStore.keysOf(tx, rail, [hash], HOT)).size > 0)
        throw new Refusal('does_not_fit', { why: 'the transaction is in the books already' });
      await found.noteHash(tx, rail, HOT, hash);
      const row = await found.foundByHash(tx, rail, hash);
      assert(row !== undefined, 'what was noted is there');
      if (row.state === 'unread') await fill(tx, row, sent);
      return row.id;
    });
  }

  return { look, noteGap, suspect, readByHash, signedOtherwise };
}

/** First nonce of a wallet that has never sent through these books: after a restore, its earlier transactions may be ours. */
export const firstNonce = async (tx: Tx, pending: bigint): Promise<bigint> => ((await wasRestored(tx)) ? 0n : pending);

const place = ({ recipient, asset, units }: { recipient: string | null; asset: string | null; units: bigint | null }) =>
  `${recipient} ${asset} ${units}`;

/** Only a successful transfer of one of our assets from the paying wallet may have paid a payout. */
const fitsPayouts = (row: found.FoundMovement): boolean =>
  row.wallet === HOT && row.succeeded === true && row.asset !== null && row.units !== null;

const isSameCall = (a: found.OwnSend, b: found.FoundMovement): boolean =>
  a.target === b.target && a.value === b.value && b.data !== null && a.data.equals(b.data);

/** A payout ordered after the block cannot have been paid in it. */
function isOlder({ orderId, refundId, createdAt }: found.Candidate, { block_at }: found.FoundMovement): boolean {
  const since = orderId !== null ? timeOfId(orderId) : refundId !== null ? timeOfId(refundId) : createdAt;
  return block_at !== null && since.getTime() <= block_at.getTime() + SKEW_MS;
}

function whyOpen(row: found.FoundMovement): string {
  if (row.succeeded === false)
    return 'sent by our wallet, reverted, and in no row of ours: it cost gas and moved nothing';
  if (row.asset === null) return 'sent by our wallet, in no row of ours, and no plain transfer';
  return 'sent by our wallet and in no row of ours: no payout fits it alone';
}
