/**
 * Transactions that are in the signer's journal and in no block. They were signed in the time that a restore has lost and may
 * still be mined. They are stored as movements, reported, and cancelled if two operators request it (chain.adopt.ts).
 */
import type { Tx } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';
import { type Call, type Fee, NotSigned, type Prepared, type SignedBefore } from './chain.adapter.ts';
import * as addressStore from './chain.addresses.store.ts';
import * as found from './chain.adopt.store.ts';
import { type Engine, HOT } from './chain.engine.ts';
import { NONCE_GAP } from './chain.nonces.ts';
import * as sendStore from './chain.sends.store.ts';

/** If a signed transaction that the node knows is not mined within this time, a case is opened. */
const REPORT_SIGNED_AFTER_MS = 10 * 60_000;

/**
 * The signer's journal from a nonce on, as long as the lost time is not examined; undefined if the signer does not answer.
 *
 * @throws Unavailable if the signer reports more nonces than is possible
 */
export async function signedSince(engine: Engine, nonce: bigint): Promise<SignedBefore[] | undefined> {
  const { adapter, rail, db, log } = engine;
  const { account } = adapter;
  const all: SignedBefore[] = [];
  if (account?.signedFrom === undefined || !(await db.asSystem((tx) => found.isUnlooked(tx, rail, HOT)))) return all;
  try {
    for (let from = nonce; ; ) {
      const some = await account.signedFrom(HOT, from);
      all.push(...some);
      const last = some.at(-1);
      if (last === undefined) return all;
      if (last.nonce - nonce > NONCE_GAP)
        throw new Unavailable(rail, 'the signer’s journal has far more nonces than our records');
      from = last.nonce + 1n;
    }
  } catch (error) {
    if (!(error instanceof NotSigned)) throw error;
    log.warn({ rail, why: error.message }, 'the signer did not list its signed transactions');
    return undefined;
  }
}

/**
 * Inserts rows for transactions that were signed under nonces that no send of ours has. The caller has locked the wallet's row.
 *
 * @param next the wallet's next nonce
 * @returns the new next nonce
 */
export async function noteSigned(
  engine: Engine,
  tx: Tx,
  signed: readonly SignedBefore[],
  next: bigint,
): Promise<bigint> {
  const { rail, chain, log } = engine;
  const assets = await addressStore.assetsOf(tx, chain);
  let after = next;
  for (const one of signed) {
    const own = (await found.sendsUnder(tx, rail, HOT, one.nonce)).at(-1);
    if (own !== undefined && !(await isGivenUp(engine, tx, own, one))) continue;
    // Nonces between two signed ones that were not signed themselves are free.
    for (; after < one.nonce; after += 1n)
      await sendStore.addFree(tx, rail, HOT, after, 'never signed before the restore');
    await sendStore.takeFree(tx, rail, HOT, one.nonce, 'a transaction signed under it before the restore');
    const asset = assets.find(({ native, contract }) => (one.contract === null ? native : contract === one.contract));
    log.warn(
      { rail, nonce: one.nonce },
      'a transaction was signed in the time that a restore has lost, and no row has it',
    );
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
async function isGivenUp(
  engine: Engine,
  tx: Tx,
  own: found.OwnSend,
  { contract, to, units }: SignedBefore,
): Promise<boolean> {
  const { adapter, rail } = engine;
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
 * A transfer between our own wallets whose nonce was signed for another transfer, such as a sweep of the lost time that no node
 * has. Its reservation is released, and it waits until the other transfer is mined or two operators cancel that one.
 *
 * @throws NotSigned if the signer does not answer
 */
export async function signedOtherwise(
  engine: Engine,
  { wallet, nonce }: { wallet: string; nonce: bigint },
): Promise<void> {
  const { adapter, rail, chain, db, log } = engine;
  const before = (await adapter.account?.signedFrom?.(wallet, nonce))?.find((one) => one.nonce === nonce);
  if (before === undefined || wallet === HOT) return;
  await db.asSystem(async (tx) => {
    await sendStore.lockNonce(tx, rail, wallet, nonce);
    const own = (await found.sendsUnder(tx, rail, wallet, nonce)).at(-1);
    if (own === undefined || !(await isGivenUp(engine, tx, own, before))) return;
    await sendStore.takeFree(tx, rail, wallet, nonce, 'a transaction signed under it before the restore');
    const { contract, to: recipient, units } = before;
    const assets = await addressStore.assetsOf(tx, chain);
    const asset = assets.find((one) => (contract === null ? one.native : one.contract === contract))?.code;
    log.warn(
      { rail, wallet, nonce },
      'a transaction was signed in the time that a restore has lost, and no row has it',
    );
    await found.noteSigned(tx, { rail, wallet, nonce }, { recipient, asset, units });
    const row = (await found.waitingFound(tx, rail, found.AT_ONCE)).find(
      (one) => one.wallet === wallet && one.nonce === nonce,
    );
    if (row === undefined || row.toldAt !== null) return;
    await found.markReported(tx, row.id);
    await reportSignedSend(engine, tx, row);
  });
}

const reportSignedSend = ({ rail, report }: Engine, tx: Tx, row: found.FoundMovement) =>
  report(tx, {
    type: 'send_found',
    rail,
    movement: row.id,
    reference: `nonce ${row.nonce}`,
    ...(row.asset === null || row.units === null ? {} : { moved: { asset: row.asset, units: row.units } }),
    why: 'signed in the time that a restore has lost, and in no block: it may still be mined, or two people cancel it',
  });

/** Reports each signed transaction once: at once if the node does not know it, otherwise if it stays unmined for long. */
export async function reportSigned(engine: Engine, tx: Tx, pending: bigint): Promise<void> {
  const { rail } = engine;
  for (const row of await found.waitingFound(tx, rail, found.AT_ONCE)) {
    if (!row.signed || row.state !== 'unread' || row.toldAt !== null || row.nonce === null) continue;
    if (row.cancelAt !== null) continue;
    if (row.nonce < pending && Date.now() - row.foundAt.getTime() < REPORT_SIGNED_AFTER_MS) continue;
    await found.markReported(tx, row.id);
    await reportSignedSend(engine, tx, row);
  }
}

/**
 * Signs and sends the empty transfer that uses up a movement's nonce. Repeated with a higher fee until the nonce is used.
 *
 * @throws Unavailable
 */
export async function sendCancel(engine: Engine, row: found.FoundMovement): Promise<void> {
  const { adapter, rail, pace, db, log } = engine;
  const { account } = adapter;
  const call = account?.cancelCall?.(row.wallet);
  if (account === undefined || call === undefined || row.nonce === null || !adapter.canSend(row.wallet)) return;
  const sentMs = row.cancelSentAt === null ? Number.POSITIVE_INFINITY : Date.now() - row.cancelSentAt.getTime();
  if (sentMs < pace.rebroadcastMs) return;
  const { mined } = await account.nonces(row.wallet);
  if (mined > row.nonce) return;
  if (row.cancelFee === null) await makeWay(engine, row.wallet, mined, row.nonce);
  try {
    const fee = await feeOfCancel(engine, row, call);
    if (fee === undefined) return;
    const { raw, hash } = await adapter.sign(row.wallet, call, preparedAt(row.nonce, fee));
    await db.asSystem((tx) => found.noteCancelSent(tx, row.id, fee));
    const answer = await adapter.broadcast(raw);
    log.warn(
      { rail, nonce: row.nonce, hash, taken: answer.taken },
      'empty transfer sent under the nonce of a cancelled transaction',
    );
  } catch (error) {
    if (!(error instanceof NotSigned)) throw error;
    log.warn({ rail, nonce: row.nonce, why: error.message }, 'not signed');
  }
}

/**
 * No transaction is mined above an unused nonce. So lower nonces under which nothing was signed, or whose bytes we lack, are used
 * up together with the cancelled one. No send takes them meanwhile, because all sends wait.
 */
async function makeWay(engine: Engine, wallet: string, mined: bigint, below: bigint): Promise<void> {
  const { rail, db } = engine;
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

/** A higher fee each time, because the competing transaction may have offered more. */
async function feeOfCancel(
  engine: Engine,
  { wallet, nonce, cancelFee }: found.FoundMovement,
  call: Call,
): Promise<Fee | undefined> {
  const { adapter, rail, log } = engine;
  const none = new Set<string>();
  if (cancelFee !== null && nonce !== null)
    return (await adapter.replace(wallet, call, preparedAt(nonce, cancelFee), none))?.fee ?? cancelFee;
  const prepared = await adapter.prepare(wallet, call, none);
  if ('fee' in prepared) return prepared.fee;
  log.warn({ rail, why: prepared.rejected }, 'empty transfer rejected');
  return undefined;
}

const preparedAt = (nonce: bigint, fee: Fee): Prepared => ({ slots: [String(nonce)], deadline: null, body: null, fee });
