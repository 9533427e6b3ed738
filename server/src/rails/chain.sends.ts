/**
 * Sends: money leaving one of our wallets on a chain, once per key.
 *
 * A send is stored as a row first. Its slots (a nonce, outpoints) or its deadline are reserved and written with it in one
 * transaction; then it is signed; then the signed bytes are stored; then they are broadcast. After a crash at any point the row
 * exists, and the next worker continues from it, with the same slots, recipient, amount and bytes. Once a signer has been asked
 * about a version, that version keeps its slots permanently, so it can happen only once on the chain. A version that has only a
 * deadline is followed by another one only after it is proved absent.
 *
 * A transfer that must be rejected is rejected before a slot is reserved, because a gap in the nonces would delay every later
 * send.
 *
 * The gate is asked again right before signing, however long ago the slots were reserved, and signed bytes that arrive much later
 * are discarded. A halted rail answers in its place: nothing is signed, or broadcast for the first time. A send that may not leave
 * releases its reservation, provided that no signer was asked about it. The next send takes the nonce; if later sends wait for it,
 * the treasury sends the smallest possible transfer under it (treasury/sweeps.ts).
 * Once a signer was asked, the reservation stays, because signed bytes may exist. The gate is still asked before each signing. It
 * is also asked before signed bytes are broadcast for the first time, unless the same call has just signed them, because a
 * process may have been killed in between. Bytes that may not leave wait, expire, or are cancelled by two operators
 * (chain.adopt.ts); the send may then be made again under another slot or deadline.
 *
 * Not here: following a send after it is broadcast (chain.watch.ts), taking nonces (chain.nonces.ts).
 */
import { awaitAll, type Tx } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { assert, Unavailable } from '../base/errors.ts';
import type { AssetCode } from '../base/money.ts';
import { type Call, NotSigned, type Prepared, type SendAnswer, type SendAsked } from './chain.adapter.ts';
import * as addressStore from './chain.addresses.store.ts';
import { signedOtherwise } from './chain.adopt.signed.ts';
import { dropKept, hindrance, isUnlooked, lockKept, noteKept } from './chain.adopt.store.ts';
import { type Engine, HOT } from './chain.engine.ts';
import { isOwn, SANDBOX_KEY, SWEEP_KEY, TRANSFER_KEY } from './chain.keys.ts';
import { lockWallet, suspectForeign, takeNonce, whyUnknown } from './chain.nonces.ts';
import type { SendVersion } from './chain.sends.store.ts';
import * as sendStore from './chain.sends.store.ts';
import * as store from './chain.store.ts';
import type { PayoutStatus, Sending, Sent } from './rail.ts';

const HALTED = 'the line is halted';
/** How long after the gate's answer signed bytes may be stored. A signer answers within ten seconds or not at all. */
const SIGNING_MS = 30_000;

export async function send(engine: Engine, wallet: string, sending: Sending): Promise<Sent> {
  try {
    return await reserve(engine, wallet, sending);
  } catch (error) {
    if (error instanceof Unavailable) return { outcome: 'unknown', why: error.message };
    throw error;
  }
}

async function reserve(engine: Engine, wallet: string, sending: Sending): Promise<Sent> {
  const { adapter } = engine;
  const { units, destination } = sending;
  if (destination.kind !== 'address') return { outcome: 'rejected', why: 'a chain pays to addresses only' };
  const { address } = destination;
  return await reserveCall(engine, wallet, { ...sending, recipient: address }, async (contract) => {
    const made = adapter.call(contract, address, units);
    if ('rejected' in made) return made;
    const call = await withIndex(engine, made);
    return { call, prepare: async () => await adapter.prepare(wallet, call, await slotsTaken(engine, wallet)) };
  });
}

/** A call that is written under a key, and how it is prepared if the key has no versions yet. */
export interface Made {
  call: Call;
  prepare(): Promise<Prepared | { rejected: string }>;
}

/**
 * Writes a send before it is signed, or continues the one that its key has.
 *
 * @param make builds the call for the asset's contract
 * @throws Unavailable
 */
export async function reserveCall(
  engine: Engine,
  wallet: string,
  { key, asset, units, recipient, notAfter, guard }: Omit<Sending, 'destination'> & { recipient: string },
  make: (contract: string | null) => Promise<Made | { rejected: string }>,
): Promise<Sent> {
  const { adapter, rail, chain, db } = engine;
  const { listed, cursor } = await db.asSystem(async (tx) => {
    await store.ensureChain(tx, rail, chain, adapter.finality);
    return { listed: await addressStore.assetsOf(tx, chain), cursor: await store.cursorOf(tx, rail) };
  });
  const known = listed.find((one) => one.code === asset);
  if (known === undefined) return { outcome: 'rejected', why: 'not an asset of this chain' };
  const made = await make(known.contract);
  if ('rejected' in made) return { outcome: 'rejected', why: made.rejected };
  const { call } = made;

  const before = await db.asSystem((tx) => sendStore.versionsOf(tx, rail, key));
  if (before.length > 0) return await carryOn(engine, sameCall(before, wallet, call));
  if (cursor?.haltedWhy) throw new Unavailable(rail, HALTED);

  const prepared = await made.prepare();
  if ('rejected' in prepared) return { outcome: 'rejected', why: prepared.rejected };
  const used = await adapter.account?.nonces(wallet);
  const reserved = await db.asSystem(async (tx) => {
    const next = await lockWallet(engine, tx, { wallet, key, used });
    // Read under the lock: another process with the same key has either written its row, or waits for ours.
    const there = await sendStore.versionsOf(tx, rail, key);
    if (there.length > 0) return there;
    // A worker that reads the payout now treats this submission as over, and may have ended the payout.
    if (notAfter !== undefined && Date.now() > notAfter.getTime()) return 'the submission took too long';
    if (!key.startsWith(SANDBOX_KEY)) {
      const unknown = used && (await whyUnknown(engine, tx, { wallet, next, used }));
      const why = unknown ?? (await whyLost(engine, tx, wallet, { recipient, asset }));
      if (why !== undefined) return why;
    }
    const kept = await guard?.(tx);
    if (kept !== undefined) return kept;
    const nonce = used === undefined ? null : await takeNonce(engine, tx, { wallet, key, next, used });
    if (typeof nonce === 'string') return nonce;
    // Earlier versions are proved absent: they expired, or their nonce was cancelled.
    const version = await sendStore.nextVersion(tx, rail, key);
    const send = { wallet, nonce, key, version, ...call, asset, units, ...prepared };
    await sendStore.reserveSend(tx, rail, send, new Date());
    return await sendStore.versionsOf(tx, rail, key);
  });
  if (typeof reserved === 'string') throw new Unavailable(rail, reserved);
  return await carryOn(engine, sameCall(reserved, wallet, call));
}

/** Why a wallet sends nothing while its payments in the time lost by a restore are unknown. */
async function whyLost(
  { rail }: Engine,
  tx: Tx,
  wallet: string,
  to: { recipient: string; asset: AssetCode },
): Promise<string | undefined> {
  // Bytes from the lost time that no node has now may reappear, and pay the same payout.
  if (wallet === HOT && (await isUnlooked(tx, rail, wallet)))
    return 'what the wallet signed in the time that a restore has lost is looked for first';
  const found = await hindrance(tx, rail, wallet, to);
  if (found === undefined) return undefined;
  if (found.state === 'unread' && found.signed)
    return `nonce ${found.nonce} was signed, and no final block holds it: movement ${found.id} ends first`;
  return found.state === 'unread'
    ? 'a transaction that is not in the books is read first'
    : `movement ${found.id} paid the same recipient and is not in the books: it is matched first`;
}

export const slotsTaken = async ({ adapter, rail, db }: Engine, wallet: string): Promise<Set<string>> =>
  // On an account chain the slot is a nonce, which is chosen later, under a lock.
  adapter.account === undefined ? await db.asSystem((tx) => sendStore.slotsTaken(tx, rail, wallet)) : new Set();

/**
 * The query for a send: its versions that may have left. One whose bytes are not stored is among them if its hash follows from its
 * content, so that it can be proved absent although the process that asked the signer was killed.
 */
export const askedOf = ({ adapter }: Engine, versions: readonly SendVersion[]): SendAsked => ({
  wallet: newestOf(versions).wallet,
  versions: versions.flatMap((version) => {
    const { slots, deadline, body } = version;
    const hash = version.hash ?? (version.signingAt === null ? undefined : adapter.hashOf?.(version));
    return hash === undefined ? [] : [{ hash, slots, deadline, body }];
  }),
});

/**
 * Continues from the send's current state.
 *
 * @param has.isAsked whether the gate was asked just now; if not, it is asked about bytes that are not known to be broadcast
 * @throws Unavailable
 */
export async function carryOn(engine: Engine, versions: SendVersion[], has = { isAsked: false }): Promise<Sent> {
  const { adapter, rail, db, log, mayLeave } = engine;
  const ended = endOf(versions);
  if (ended !== undefined) return ended;
  const newest = newestOf(versions);
  const { id, key, raw, hash } = newest;
  if (raw === null || hash === null) {
    if (!adapter.canSend(newest.wallet)) throw new Unavailable(rail, 'no signer for this wallet here');
    // An earlier version may already have reached the node: not signing a later one would prevent nothing.
    const isAsked = versions.length === 1 && mayLeave !== undefined && !key.startsWith(SANDBOX_KEY);
    const why = isAsked ? await askAgain(engine, newest) : undefined;
    if (why !== undefined) return { outcome: 'unknown', why };
    const signed = await sign(engine, newest);
    const stored = await db.asSystem(async (tx) => {
      await sendStore.storeSigned(tx, id, signed, isAsked ? SIGNING_MS : undefined);
      return await sendStore.versionsOf(tx, rail, key);
    });
    if (stored.at(-1)?.raw == null)
      return { outcome: 'unknown', why: 'signing took too long, and is asked about again' };
    // The stored bytes are broadcast. Another process may have stored, and even mined, its own.
    return await carryOn(engine, stored, { isAsked });
  }
  const kept = has.isAsked ? undefined : await whyKept(engine, versions);
  if (kept !== undefined) return { outcome: 'unknown', why: kept };
  const answer = await adapter.broadcast(raw);
  // If this node rejected the bytes, no node is known to have them, and the gate is asked before they are offered again.
  if (answer.taken || answer.slotUsed) await db.asSystem((tx) => sendStore.markBroadcast(tx, id, new Date()));
  else engine.memory.rejectedAt.set(key, Date.now());
  if (answer.taken) engine.memory.foreignSince.delete(key);
  if (answer.taken) return { outcome: 'submitted', reference: hash };
  // The slot may be used because this version or an earlier one is already in a block.
  const mined = answer.slotUsed ? await minedAmong(engine, versions) : undefined;
  if (mined !== undefined) return { outcome: 'submitted', reference: mined };
  if (answer.slotUsed && newest.nonce !== null) await suspectForeign(engine, newest, newest.nonce);
  log.warn({ rail, key, version: newest.version, why: answer.why }, 'the node did not accept the broadcast');
  return { outcome: 'unknown', why: `not taken by the node: ${answer.why}` };
}

/**
 * Why signed bytes that possibly no node has wait before their first broadcast: they may not leave. They keep their slots, and a
 * case is opened if an operator has to decide, because sends with the next nonces wait for them. Once a node has accepted a
 * version, later ones are not checked.
 */
export async function whyKept(engine: Engine, versions: readonly SendVersion[]): Promise<string | undefined> {
  const { rail, db, mayLeave } = engine;
  const newest = newestOf(versions);
  const { key, wallet, nonce } = newest;
  if (mayLeave === undefined || wasBroadcast(versions) || key.startsWith(SANDBOX_KEY)) return undefined;
  return await db.asSystem(async (tx) => {
    const answer = await askGate(engine, tx, key);
    const movement = nonce === null ? undefined : await lockKept(tx, { rail, wallet, nonce });
    const is = `it was signed${nonce === null ? '' : ` with nonce ${nonce}`} and is not broadcast`;
    return await whyNow(engine, tx, newest, { answer, movement, is });
  });
}

/**
 * Why bytes that exist, or may exist, do not leave now: the gate says so, or a movement cancels them. A movement of bytes that may
 * leave is dropped again.
 *
 * @param asked.movement the movement of these bytes, locked
 * @param asked.is       what became of them
 */
async function whyNow(
  engine: Engine,
  tx: Tx,
  version: SendVersion,
  asked: { answer: SendAnswer; movement: Awaited<ReturnType<typeof lockKept>>; is: string },
): Promise<string | undefined> {
  const { answer, movement, is } = asked;
  if (movement?.cancelAt != null) return `${is}: movement ${movement.id} cancels it`;
  if (answer.outcome === 'pay') {
    if (movement !== undefined) await dropKept(tx, movement.id);
    return undefined;
  }
  const why = `${is}: ${answer.why}`;
  if (answer.outcome === 'hold') await tellKept(engine, tx, version, { id: movement?.id, why });
  const { rail, log } = engine;
  log.warn({ rail, key: version.key, nonce: version.nonce, why }, 'send stopped: the gate does not let it leave');
  return why;
}

/** Opens the case of a send that is kept, or might be signed, and that may not leave, and names the movement that cancels it. */
async function tellKept(
  engine: Engine,
  tx: Tx,
  version: SendVersion,
  kept: { id: bigint | undefined; why: string },
): Promise<void> {
  const { rail, report } = engine;
  const { key } = version;
  // The treasury tells operators about its own transfers, who may then cancel what was signed.
  if (isOwn(key) && !key.startsWith(TRANSFER_KEY)) return;
  const id = kept.id ?? (await movementOf(engine, tx, version));
  if (isOwn(key)) return;
  const how = id === undefined ? '' : `; if it must never leave, cancel movement ${id}`;
  await report(tx, { type: 'payout_unknown', rail, key, why: `${kept.why}${how}` });
}

/**
 * Creates the movement of signed bytes that may not leave, where a nonce guarantees that a send happens once: such bytes never
 * expire. If they must never leave, two operators cancel the movement, and an empty transfer uses up the nonce (chain.adopt.ts).
 */
async function movementOf({ adapter, rail }: Engine, tx: Tx, version: SendVersion): Promise<bigint | undefined> {
  const { wallet, nonce } = version;
  if (nonce === null || adapter.account?.cancelCall === undefined) return undefined;
  await noteKept(tx, rail, { ...version, nonce });
  return (await lockKept(tx, { rail, wallet, nonce }))?.id;
}

/** The gate's answer; a rail that has halted sends nothing until an operator has looked. */
async function askGate({ rail, mayLeave }: Engine, tx: Tx, key: string): Promise<SendAnswer> {
  const pay: SendAnswer = { outcome: 'pay' };
  const [answer, cursor] = await awaitAll(mayLeave?.(tx, { rail, key }) ?? pay, store.cursorOf(tx, rail));
  return answer.outcome === 'pay' && cursor?.haltedWhy != null ? { outcome: 'wait', why: HALTED } : answer;
}

/**
 * Asks the gate in the transaction before a version is signed. If the version may not leave, its reservation is released,
 * provided that no signer was asked about it. Otherwise the process that asked may have been killed before it stored the bytes:
 * they keep their slots, as stored ones do (whyKept).
 *
 * @returns why it is not signed now
 */
async function askAgain(engine: Engine, version: SendVersion): Promise<string | undefined> {
  const { rail, db, log } = engine;
  const { id, key, wallet, nonce } = version;
  return await db.asSystem(async (tx) => {
    const answer = await askGate(engine, tx, key);
    // Before the send, as where a movement ends.
    const movement =
      nonce === null || version.signingAt === null ? undefined : await lockKept(tx, { rail, wallet, nonce });
    const there = await sendStore.lockSend(tx, id);
    if (there === undefined) return 'its reservation was given up';
    // Another process has signed it: its stored bytes are broadcast if they may leave.
    if (there.state !== 'reserved' || there.raw !== null) return answer.outcome === 'pay' ? undefined : answer.why;
    if (there.signingAt === null && answer.outcome !== 'pay' && movement?.cancelAt == null) {
      await sendStore.releaseSend(tx, rail, version, answer.why);
      log.warn({ rail, key, nonce, why: answer.why }, 'send not signed: the gate does not let it leave');
      return answer.why;
    }
    // Another process asks the signer just now: the next look locks the movement first.
    if (version.signingAt === null && answer.outcome !== 'pay') return answer.why;
    const is = `it may be signed${nonce === null ? '' : ` with nonce ${nonce}`}`;
    const why = await whyNow(engine, tx, version, { answer, movement, is });
    if (why === undefined) await sendStore.markSigning(tx, id, true);
    return why;
  });
}

/**
 * Signs a version. If the signer declines it here, it was acceptable a moment before: a limit was used up meanwhile, or the
 * signer's journal has another transfer under the nonce. The row waits and is retried; for a payout a case is opened.
 */
export async function sign(engine: Engine, version: SendVersion): Promise<{ raw: Buffer; hash: string }> {
  const { adapter, rail, db, report } = engine;
  try {
    return await adapter.sign(version.wallet, await withIndex(engine, version), version);
  } catch (error) {
    const { id, key } = version;
    if (error instanceof NotSigned && error.declined) await db.asSystem((tx) => sendStore.markSigning(tx, id, false));
    if (error instanceof NotSigned && error.declined && !isOwn(key) && !key.startsWith(SANDBOX_KEY)) {
      const held = version.nonce === null ? 'it is reserved' : `nonce ${version.nonce} is taken for it`;
      const why = `${held}, and ${error.message}`;
      await db.asSystem((tx) => report(tx, { type: 'payout_unknown', rail, key, why }));
    }
    if (error instanceof NotSigned && error.declined && key.startsWith(SWEEP_KEY) && version.nonce !== null)
      await signedOtherwise(engine, { wallet: version.wallet, nonce: version.nonce });
    throw error;
  }
}

/** Adds the index of the deposit address that receives native units: the proof that it is one of ours. */
export async function withIndex<C extends Call>(engine: Engine, call: C): Promise<C> {
  const { rail, db } = engine;
  if (call.data.length > 0) return call;
  return { ...call, depositIndex: await db.asSystem((tx) => addressStore.indexOf(tx, rail, call.target)) };
}

export async function statusOf(engine: Engine, key: string): Promise<PayoutStatus> {
  const { rail, db } = engine;
  const versions = await db.asSystem((tx) => sendStore.versionsOf(tx, rail, key));
  if (versions.length === 0) return { outcome: 'absent' };
  // Whatever its version number: earlier versions may have been proved absent.
  if (versions.length === 1 && versions[0]?.raw == null) return await statusOfUnsigned(engine, versions);
  const ended = endOf(versions);
  if (ended?.outcome === 'rejected') return ended;
  const newest = newestOf(versions);
  // The treasury must know that a sweep is signed, because bytes that the node refused may lack gas.
  const isOffered = wasBroadcast(versions) || isOwn(key);
  if (ended === undefined && newest.broadcastAt === null) {
    const why = await whyKept(engine, versions);
    if (why !== undefined) return { outcome: 'unknown', why };
    try {
      const sent = await carryOn(engine, versions, { isAsked: true });
      // Its bytes may still be kept or cancelled, so it does not count as submitted.
      if (sent.outcome === 'unknown' && !isOffered) return sent;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      if (!isOffered) return { outcome: 'unknown', why: error.message };
    }
  }
  const reference = ended?.outcome === 'submitted' ? ended.reference : newest.hash;
  return { outcome: 'known', ...(reference ? { reference } : {}) };
}

/** The status of a send that cannot have left: it is signed now, its reservation is released, or it keeps waiting. */
async function statusOfUnsigned(engine: Engine, versions: SendVersion[]): Promise<PayoutStatus> {
  const { rail, db } = engine;
  const { key } = newestOf(versions);
  let why = 'it is reserved, and not signed yet';
  try {
    const sent = await carryOn(engine, versions);
    if (sent.outcome === 'rejected') return sent;
    if (sent.outcome === 'unknown') why = sent.why;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    why = error.message;
  }
  const after = await db.asSystem((tx) => sendStore.versionsOf(tx, rail, key));
  if (after.length === 0) return { outcome: 'absent' };
  const { hash } = newestOf(after);
  return hash === null ? { outcome: 'unknown', why } : { outcome: 'known', reference: hash };
}

/** Hash of the version that a block contains. */
async function minedAmong(engine: Engine, versions: readonly SendVersion[]): Promise<string | undefined> {
  const [fate] = await engine.adapter.fates([askedOf(engine, versions)], undefined);
  return fate?.is === 'included' ? fate.hash : undefined;
}

/** @see ChainRail.gasFor */
export async function gasForSend(engine: Engine, wallet: string, { asset, units, destination }: Omit<Sending, 'key'>) {
  const { adapter, chain, db } = engine;
  const listed = await db.asSystem((tx) => addressStore.assetsOf(tx, chain));
  const known = listed.find((one) => one.code === asset);
  if (known === undefined || destination.kind !== 'address') return { rejected: 'not an asset of this chain' };
  const call = adapter.call(known.contract, destination.address, units);
  return 'rejected' in call ? call : await adapter.gasFor(wallet, await withIndex(engine, call));
}

/** Using a key again for another transfer is a bug of ours that would pay twice, so it is never accepted. */
function sameCall(versions: SendVersion[], wallet: string, call: Call): SendVersion[] {
  // Operators may have matched the payout with another amount: that amount was paid, and nothing more is sent for it.
  if (versions.some(({ found }) => found)) return versions;
  for (const version of versions) {
    const same = version.target === call.target && version.value === call.value && version.data.equals(call.data);
    assert(same && version.wallet === wallet, `key ${version.key} was used for another transfer`);
  }
  return versions;
}

/** Whether a node is known to have accepted one of the versions, or a block contains one. */
const wasBroadcast = (versions: readonly SendVersion[]): boolean =>
  versions.some(({ broadcastAt }) => broadcastAt !== null);

export function newestOf(versions: readonly SendVersion[]): SendVersion {
  const newest = versions.at(-1);
  assert(newest !== undefined, 'a send has no version');
  return newest;
}

/** How the send ended, or that it is in a block; undefined if it is not mined. */
function endOf(versions: readonly SendVersion[]): Exclude<Sent, { outcome: 'unknown' }> | undefined {
  for (const { state, hash, why } of versions) {
    if (state === 'failed') return { outcome: 'rejected', why: why ?? 'failed' };
    if (state === 'confirmed' || state === 'mined')
      return { outcome: 'submitted', ...defined({ reference: hash ?? undefined }) };
  }
  return undefined;
}
