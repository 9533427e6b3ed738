/**
 * Watching sends: whether they are mined, final, reorged out, stuck, or forgotten by the node.
 *
 * Unmined bytes are broadcast again, because nodes restart and forget them. After a while a version with a higher fee is created,
 * signed and stored in addition. Every version is watched, and the one that is mined counts.
 */
import { awaitAll } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import type { AssetCode } from '../base/money.ts';
import { type Block, NotSigned, type Prepared, type Receipt } from './chain.adapter.ts';
import * as addressStore from './chain.addresses.store.ts';
import { dropKeptUnder, type KnownNonces, knownNonces } from './chain.adopt.store.ts';
import { movedBy, passNonces } from './chain.batch.ts';
import * as depositStore from './chain.deposits.store.ts';
import { type Engine, HOT, haltIn } from './chain.engine.ts';
import { isBatch, isOwn, SANDBOX_KEY } from './chain.keys.ts';
import type { SendVersion } from './chain.sends.store.ts';
import * as sendStore from './chain.sends.store.ts';
import { askedOf, carryOn, newestOf, slotsTaken, whyKept, withIndex } from './chain.sends.ts';
import * as store from './chain.store.ts';
import type { RailFact } from './rail.ts';

/** Sends checked per run; the next run takes the rest. */
const WATCHED = 200;
/** Maximum number of versions of a send. Each offers a quarter more, so the tenth offers seven times the first. */
const MAX_VERSIONS = 10;
/** A row that has been reserved and unsigned for this long belongs to a process that is gone. */
const ABANDONED_MS = 5_000;

/** Our rows about sends, as one query reads them at the beginning of a check. */
export interface OwnRows {
  open: SendVersion[];
  cursor: store.Cursor | undefined;
  /** On a chain where time proves that a send is absent: the newest final block. */
  final: Block | undefined;
  nonces: KnownNonces;
}

export async function readOwnRows({ adapter, rail, db }: Engine): Promise<OwnRows> {
  return await db.asSystem(async (tx) => {
    const [cursor, open, nonces] = await awaitAll(
      store.cursorOf(tx, rail),
      sendStore.openSends(tx, rail, WATCHED),
      knownNonces(tx, rail, HOT),
    );
    // On an account chain, time alone proves nothing.
    const final = adapter.account === undefined && cursor ? await store.blockAt(tx, rail, cursor.finalized) : undefined;
    return { open, cursor, final, nonces };
  });
}

/**
 * Checks every open send once: mined, reorged out, stuck, or forgotten by the node.
 *
 * @returns whether there was an open send
 * @throws Unavailable
 */
export async function watchSends(engine: Engine, { open, cursor, final }: OwnRows): Promise<boolean> {
  const { adapter, log, rail, memory } = engine;
  if (open.length === 0 || cursor?.headNumber === null || cursor?.haltedWhy !== null) return open.length > 0;

  const sends = [...Map.groupBy(open, (version) => version.key).values()];
  const fates = await adapter.fates(
    sends.map((versions) => askedOf(engine, versions)),
    final,
  );
  const firstOpen = new Set<string>();
  for (const [at, versions] of sends.entries()) {
    const fate = fates[at] ?? { is: 'open' };
    const mined = fate.is === 'included' ? versions.find(({ hash }) => hash === fate.hash) : undefined;
    if (mined !== undefined && fate.is === 'included') {
      memory.foreignSince.delete(mined.key);
      memory.rejectedAt.delete(mined.key);
      if (isStillShallow(engine, mined, fate, cursor?.headNumber ?? 0n)) continue;
      await settle(engine, mined, fate, cursor?.finalized ?? -1n);
      continue;
    }
    // It was final when it was adopted: a node that does not show it lags, and nothing is sent again.
    if (versions.some(({ found }) => found)) continue;
    if (fate.is === 'absent') {
      await endAbsent(engine, versions, fate.proof);
      continue;
    }
    const { wallet } = newestOf(versions);
    // If nonces are ordered, only the lowest open send of a wallet can delay the others.
    try {
      await nudge(engine, versions, adapter.account === undefined || !firstOpen.has(wallet));
    } catch (error) {
      // Without its signer a rail still follows its chain, and broadcasts what was already signed.
      if (!(error instanceof NotSigned)) throw error;
      log.warn({ rail, wallet, key: newestOf(versions).key, why: error.message }, 'not signed');
    }
    firstOpen.add(wallet);
  }
  return true;
}

/**
 * Whether a transfer of our own is in the same block as before, and not final by the head that was read: further blocks change
 * only its depth.
 */
const isStillShallow = (
  { adapter }: Engine,
  { key, state, block }: SendVersion,
  fate: Receipt,
  head: bigint,
): boolean =>
  adapter.saysFinal !== true &&
  isOwn(key) &&
  state === 'mined' &&
  block === fate.block &&
  head - fate.block < BigInt(adapter.finality);

/**
 * Records that none of the versions can ever take effect. A query for the send's key then answers that it is absent, so it may be
 * sent again, through the gate, under another slot or deadline. Only a transaction uses up a slot: so one that is not ours has
 * used it, and the rail halts with the same commit.
 */
async function endAbsent(engine: Engine, versions: readonly SendVersion[], proof: string): Promise<void> {
  const { rail, db, log } = engine;
  const { key, wallet } = newestOf(versions);
  const ids = versions.map(({ id }) => id);
  const stolen = `what wallet ${wallet} was to spend was spent by a transaction that is not ours (key ${key})`;
  await db.asSystem(async (tx) => {
    const cursor = await store.lockCursor(tx, rail);
    if (cursor?.haltedWhy !== null) return;
    await sendStore.markAbsent(tx, rail, key, ids, proof);
    if (versions.some(({ slots }) => slots.length > 0)) await haltIn(engine, tx, stolen);
  });
  log.warn({ rail, key, proof }, 'send proved absent');
}

/** @param finalized the finalized block before the receipt was requested */
async function settle(engine: Engine, version: SendVersion, receipt: Receipt, finalized: bigint): Promise<void> {
  const { adapter, rail, chain, db, clock, report } = engine;
  await db.asSystem(async (tx) => {
    const cursor = await store.lockCursor(tx, rail);
    if (cursor?.headNumber == null || cursor.haltedWhy !== null || receipt.block > cursor.headNumber) return;
    const ours = (await store.blockHashes(tx, rail, receipt.block, receipt.block)).get(receipt.block);
    // A block outside the branch that we follow proves nothing yet. For blocks that were final before the request we store no
    // hashes and need none. A block that became final since may be on an abandoned branch, because this process may have been
    // suspended meanwhile.
    if (receipt.block >= finalized && ours !== receipt.blockHash) return;
    // It had left before it was held back, so the wallet does not wait for it.
    if (version.nonce !== null) await dropKeptUnder(tx, { rail, wallet: version.wallet, nonce: version.nonce });
    const { block, cost, succeeded } = receipt;
    const why = succeeded ? null : 'reverted on chain';
    // A failure frees the money for another attempt, so it counts only when no reorg can turn it into a success. Our own
    // transfers are not urgent, so they, too, are booked only when final.
    const needed =
      succeeded && !isOwn(version.key)
        ? await depositStore.confirmationsNeeded(tx, chain, version.asset, version.units, adapter.finality)
        : BigInt(adapter.finality) + 1n;
    const isDeep = adapter.saysFinal === true ? block <= cursor.finalized : cursor.headNumber - block + 1n >= needed;
    if (!isDeep) return await sendStore.markMined(tx, version.id, block);
    const { ended, before } = await sendStore.endSend(tx, rail, version, {
      state: succeeded ? 'confirmed' : 'failed',
      block,
      cost,
      why,
      at: clock.now(),
    });
    if (!ended || version.key.startsWith(SANDBOX_KEY)) return;
    const moved = isBatch(version.key) ? movedBy(engine, version, receipt) : undefined;
    if (moved !== undefined) await passNonces(engine, tx, version);
    const native = (await addressStore.assetsOf(tx, chain)).find((asset) => asset.native)?.code;
    if (before === undefined)
      await report(tx, { ...outcomeFact(engine, version, cost, native, why), ...defined({ moved }) } as RailFact);
    else if (why !== null) await report(tx, undone(engine, version, why));
    if (before === undefined || before === cost || native === undefined) return;
    const externalId = `${version.hash}:${block}`;
    const { key } = version;
    await report(tx, { type: 'cost_changed', rail, key, externalId, asset: native, before, units: cost });
  });
}

function outcomeFact(
  engine: Engine,
  { key, hash }: SendVersion,
  cost: bigint,
  native: AssetCode | undefined,
  why: string | null,
): RailFact {
  const { rail } = engine;
  const common = {
    rail,
    key,
    reference: hash ?? '',
    ...(native === undefined || cost === 0n ? {} : { cost: { asset: native, units: cost } }),
  };
  if (isOwn(key))
    return why === null ? { type: 'own_transfer_settled', ...common } : { type: 'own_transfer_failed', ...common, why };
  return why === null ? { type: 'payout_settled', ...common } : { type: 'payout_rejected', ...common, why };
}

/**
 * The fact for a send that had succeeded and was booked, and that a reorg undid: the block that includes it again shows it as
 * reverted, too deep for another reorg. The money never left and is in the wallet.
 */
const undone = ({ rail }: Engine, { key, hash, asset, units }: SendVersion, why: string): RailFact => ({
  type: 'payout_returned',
  rail,
  key,
  why,
  reference: hash ?? '',
  // Under this id reconciliation finds it beside the payout. The two cancel out, as on the chain.
  externalId: key,
  asset,
  units,
});

/** Continues a send none of whose versions is in a block, or is any more. */
async function nudge(engine: Engine, before: SendVersion[], holdsUpOthers: boolean): Promise<void> {
  const { adapter, rail, pace, log, memory } = engine;
  const wasMined = before.some((version) => version.state === 'mined');
  const versions = wasMined ? await unmined(engine, before) : before;
  const newest = newestOf(versions);
  const now = Date.now();
  const canSign = adapter.canSend(newest.wallet);
  if (newest.state === 'reserved') {
    if (canSign && now - newest.reservedAt.getTime() >= ABANDONED_MS) await carryOn(engine, versions);
    return;
  }
  const offeredAt = newest.broadcastAt?.getTime() ?? memory.rejectedAt.get(newest.key);
  const offeredMs = offeredAt === undefined ? Number.POSITIVE_INFINITY : now - offeredAt;
  if (
    canSign &&
    !wasMined &&
    // Bytes that were never broadcast need no higher fee: the gate is asked about them first (carryOn).
    offeredAt !== undefined &&
    holdsUpOthers &&
    now - newest.reservedAt.getTime() >= pace.stuckMs &&
    versions.length < MAX_VERSIONS &&
    (await whyKept(engine, versions)) === undefined
  ) {
    const next = await replacement(engine, newest);
    if (next !== undefined) return await bump(engine, newest, next);
    if (newest.slots.length > 0)
      log.warn({ rail, key: newest.key, version: newest.version }, 'send stuck at the highest fee allowed');
  }
  // No block can include it any more: once that time is final, it is either found or proved absent.
  if (newest.deadline !== null && now > newest.deadline.getTime()) return;
  if (wasMined || offeredMs >= pace.rebroadcastMs) await carryOn(engine, versions);
}

/** The next version, if there is one. If the signer does not answer, the versions that it signed before are still broadcast. */
async function replacement(engine: Engine, newest: SendVersion): Promise<Prepared | undefined> {
  const { adapter } = engine;
  const { wallet, slots, deadline, body, fee } = newest;
  const taken = await slotsTaken(engine, wallet);
  try {
    return await adapter.replace(wallet, await withIndex(engine, newest), { slots, deadline, body, fee }, taken);
  } catch (error) {
    if (!(error instanceof NotSigned)) throw error;
    return undefined;
  }
}

/** Records that the block of a send was reorged out. */
export async function unmined(engine: Engine, versions: readonly SendVersion[]): Promise<SendVersion[]> {
  const { rail, db } = engine;
  return await db.asSystem(async (tx) => {
    for (const version of versions) await sendStore.markUnmined(tx, version.id);
    return await sendStore.versionsOf(tx, rail, newestOf(versions).key);
  });
}

async function bump(engine: Engine, newest: SendVersion, next: Prepared): Promise<void> {
  const { rail, db, log } = engine;
  log.info({ rail, key: newest.key, version: newest.version + 1 }, 'higher fee offered for a send');
  const versions = await db.asSystem(async (tx) => {
    await sendStore.reserveSend(tx, rail, { ...newest, ...next, version: newest.version + 1 }, new Date());
    return await sendStore.versionsOf(tx, rail, newest.key);
  });
  await carryOn(engine, versions);
}
