/**
 * The engine that every chain shares: an adapter for one chain family (chain.adapter.ts) becomes a rail.
 *
 * chain.follow.ts follows the blocks, and chain.deposits.ts reports deposits of listed tokens; chain.sends.ts sends from our
 * wallets, once per key, and chain.watch.ts follows each send to its end; chain.adopt.ts finds our sends that the books lack;
 * chain.native.ts finds native deposits; chain.outside.ts reads the node for reconciliation. Each file has functions that take
 * the engine (chain.engine.ts). This file has the rest: balances, gas, health, and the assembly of the rail. It keeps no state
 * that is needed after a restart.
 */

import { onClock } from '../base/clock.ts';
import { awaitAll } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { assert, Refusal } from '../base/errors.ts';
import type { AssetCode } from '../base/money.ts';
import type { ChainAdapter, RailContext } from './chain.adapter.ts';
import * as addressStore from './chain.addresses.store.ts';
import { mayHavePaid, mayHaveReturned, waitingFound } from './chain.adopt.store.ts';
import { hasSameNonces, lookForUnknown, readByHash } from './chain.adopt.ts';
import { sendBatch } from './chain.batch.ts';
import * as depositStore from './chain.deposits.store.ts';
import { type Engine, engineOf, HOT } from './chain.engine.ts';
import { followStep } from './chain.follow.ts';
import { hotNative, lookForNative } from './chain.native.ts';
import { chainOutside } from './chain.outside.ts';
import { ownAddress } from './chain.own.store.ts';
import type { ChainRail } from './chain.rail.ts';
import * as sendStore from './chain.sends.store.ts';
import { gasForSend, send, statusOf } from './chain.sends.ts';
import * as store from './chain.store.ts';
import { poolOf } from './chain.targets.store.ts';
import { keepTargets, targetOf, targetsOf } from './chain.targets.ts';
import { readOwnRows, watchSends } from './chain.watch.ts';
import type { RailHealth } from './rail.ts';

export { type ChainAdapter, type ChainPace, NotSigned, type RailContext, type SendAnswer } from './chain.adapter.ts';
export { firstAddress, indexOf, trustFundingSource, watchAddress } from './chain.addresses.store.ts';
export {
  adoptAs,
  countReported,
  endFound,
  type FoundMovement,
  findFound,
  hasSend,
  keysWithSend,
  listFound,
  lockFound,
  noteCancel,
  waitingFound,
} from './chain.adopt.store.ts';
export type { BatchSending } from './chain.batch.ts';
export {
  claimDeposits,
  claimDepositsBefore,
  type DueDeposits,
  depositsDue,
  postponeDeposits,
  releaseDeposits,
} from './chain.deposits.store.ts';
export { batchKeyOf, isBatch, isBetweenWallets, TRANSFER_KEY } from './chain.keys.ts';
export { beginNativeWatch, isNativeWatched, ownNativeAt } from './chain.native.store.ts';
export { ownWallet } from './chain.own.store.ts';
export type { ChainRail } from './chain.rail.ts';
export { broadcastAgain, isMined, keyOfHash, openGap } from './chain.sends.store.ts';
export { clearHalt, followedGenesis, followedHead, whyOff } from './chain.store.ts';
export type { ChainFamily, ConnectedChain } from './family.ts';

/** Addresses per page when the balances of all addresses are summed. */
const BALANCE_PAGE = 1_000;

/** An unchanged gas price is stored again at this interval, because quotes use none that is a minute old. */
const GAS_AGAIN_MS = 20_000;

/** Name of a deposit address as a sending wallet. */
export const depositWallet = (index: bigint): string => `deposit:${index}`;

const DEPOSITS = 'deposits';

/**
 * Why the deposits are not deep enough; undefined if all are. A final deposit is deep enough whatever a policy says: it cannot
 * change as long as the rail is trusted at all.
 */
function notDeep(depths: readonly depositStore.Depth[]): string | undefined {
  const shallow = depths.find((one) => !one.stands || !(one.final || one.confirmations >= BigInt(one.needed)));
  if (shallow === undefined) return undefined;
  const { stands, confirmations, needed } = shallow;
  return stands
    ? `a deposit has ${confirmations} of the ${needed} confirmations that the sum it is part of needs`
    : 'the block of a deposit is not in the chain';
}

export function chainRail(adapter: ChainAdapter, context: RailContext): ChainRail {
  const engine = engineOf(adapter, context);
  const { db, clock, rail, chain } = engine;
  const looked: Looked = { nativeAt: Number.NEGATIVE_INFINITY, checks: 0 };
  const gas: { units?: bigint; at: number } = { at: 0 };

  return {
    code: rail,
    kind: 'chain',
    chain,
    // The nonce makes a second submission the same transaction.
    deduplicatesForMs: Number.POSITIVE_INFINITY,
    wallets: { deposits: DEPOSITS, payouts: HOT },
    walletAddresses: Object.fromEntries(
      Object.entries(adapter.wallets).map(([name, wallet]) => [name, wallet.address]),
    ),
    targets: targetsOf(engine),
    targetOf: (tx, index) => targetOf(engine, tx, index),
    readAddress: (text) => adapter.readAddress(text),
    isOwnAddress: async (tx, address) =>
      address === adapter.wallets[HOT]?.address || (await addressStore.watchedAnywhere(tx, rail, [address])).size > 0,
    payerOf: async (tx, externalId) => {
      const address = await depositStore.payerOf(tx, rail, externalId);
      return address === undefined ? undefined : { address };
    },
    cameFrom: (tx, address, externalIds) => depositStore.creditsFrom(tx, rail, address, externalIds),
    ...defined({ isSignedBy: adapter.isSignedBy, isWalletProof: adapter.isWalletProof, hasCode: adapter.hasCode }),
    async readTo(tx) {
      const cursor = await store.cursorOf(tx, rail);
      return cursor?.headAt == null ? undefined : onClock(clock, cursor.headAt);
    },
    mayHavePaid: (tx, { payoutAddress: recipient, payoutAsset: asset }) =>
      mayHavePaid(tx, rail, HOT, { recipient, asset }),
    mayHaveReturned: (tx, order) => mayHaveReturned(tx, rail, HOT, order),
    async mayYetPay(tx, { key }) {
      const [send] = await sendStore.versionsOf(tx, rail, key);
      if (send === undefined) return undefined;
      const { nonce } = send;
      return `a transaction of it is ${send.state}${nonce === null ? '' : ` and keeps nonce ${nonce}`}: it settles or fails by itself`;
    },
    notDeep: async (tx, externalIds) => notDeep(await depositStore.depthOf(tx, rail, externalIds)),
    observe: () => observe(engine, looked),
    checks: () => looked.checks,
    send: (sending) => send(engine, HOT, sending),
    sendFrom: (wallet, sending) => send(engine, wallet, sending),
    mostInBatch: adapter.batches?.most ?? 0,
    sendBatch: (batch) => sendBatch(engine, batch),
    canSend: (wallet) => adapter.canSend(wallet),
    gasFor: (wallet, sending) => gasForSend(engine, wallet, sending),
    status: (key) => statusOf(engine, key),
    balance: (wallet, asset) => balanceOf(engine, wallet, asset),
    ...chainOutside(engine, { deposits: DEPOSITS, payouts: HOT }),
    nativeAsset: async (tx) => (await addressStore.assetsOf(tx, chain)).find((one) => one.native)?.code,
    hotNative: () => hotNative(engine),
    readByHash: (hash) => readByHash(engine, hash),
    gasPrice: () => adapter.gasPrice(),
    async refreshGas() {
      const units = await adapter.gasPrice();
      // Measured by the clock that dates the row: if it was moved, the row looks old or dated in the future.
      const now = clock.now();
      const ageMs = now.getTime() - gas.at;
      if (units === gas.units && ageMs >= 0 && ageMs < GAS_AGAIN_MS) return;
      await db.asSystem((tx) => sendStore.storeGasPrice(tx, chain, units, now));
      Object.assign(gas, { units, at: now.getTime() });
    },
    health: () => healthOf(engine),
    ...defined({ isAsleep: adapter.isAsleep }),
  };
}

/** This process's memory between two polls. */
interface Looked {
  /** Number of checks that have ended. */
  checks: number;
  nativeAt: number;
  /** The head at which native deposits were last searched for. */
  nativeHead?: string | undefined;
  /** The head when a complete check found nothing to do, when that was, and when our rows were last read. */
  idle?: (Head & { since: number; at: number }) | undefined;
}

/** The newest block's hash, and everything that a node reports about its head. */
interface Head {
  hash: string;
  all: string;
}

/** A full check is made this often even if the rail is idle, for example because the signer may have signed elsewhere. */
const WHOLE_EVERY_MS = 60_000;
/** A head that has not changed for this long is polled less often, but still within a second. */
const STILL_MS = 3_000;
const STILL_POLL_MS = 800;

async function observe(engine: Engine, looked: Looked): Promise<{ againInMs: number }> {
  const { pace, adapter } = engine;
  // Every poll queries the node. The database is queried only if the node has something new, and otherwise now and then.
  const { chainId, genesisHash, newest, final } = await adapter.head();
  const head = { hash: newest.hash, all: [chainId, genesisHash, newest.number, newest.hash, final].join(' ') };
  const hasNativeLeft = looked.nativeHead !== head.hash || engine.memory.nativeAfter !== -1n;
  const isSettled = looked.idle?.all === head.all && !(hasNativeLeft && isNativeDue(engine, looked));
  if (looked.idle !== undefined && isSettled && (await isStill(engine, looked.idle))) {
    const isLong = performance.now() - looked.idle.since > STILL_MS;
    return { againInMs: isLong ? Math.max(pace.pollMs, STILL_POLL_MS) : pace.pollMs };
  }
  looked.idle = undefined;
  try {
    return await check(engine, looked, head);
  } finally {
    looked.checks += 1;
  }
}

async function check(engine: Engine, looked: Looked, head: Head): Promise<{ againInMs: number }> {
  const { pace } = engine;
  await keepTargets(engine);
  const { caughtUp, halted } = await followStep(engine);
  if (halted) return { againInMs: pace.pollMs };
  const rows = await readOwnRows(engine);
  const isAnyOpen = await watchSends(engine, rows);
  if (!caughtUp) return { againInMs: 0 };
  const isKnown = await lookForUnknown(engine, isAnyOpen ? undefined : rows.nonces);
  if (!isKnown) return { againInMs: pace.pollMs };
  const now = performance.now();
  if (!isAnyOpen && engine.memory.lowerSince === undefined) looked.idle = { ...head, since: now, at: now };
  if (isNativeDue(engine, looked)) {
    looked.nativeAt = now;
    await lookForNative(engine);
    looked.nativeHead = head.hash;
  }
  return { againInMs: pace.pollMs };
}

const isNativeDue = ({ adapter, pace }: Engine, { nativeAt }: Looked): boolean =>
  adapter.showsNative !== true && performance.now() - nativeAt >= pace.nativeEveryMs;

/**
 * Whether an unchanged head makes a check unnecessary: for a while without further queries, and then as long as one query finds
 * nothing to do in our rows. Nonces are compared separately, because they change without the head: one of several nodes may lag,
 * and pending transactions are in no block.
 */
async function isStill(engine: Engine, idle: NonNullable<Looked['idle']>): Promise<boolean> {
  const { db, rail, pace, adapter } = engine;
  if (!(await hasSameNonces(engine))) return false;
  const now = performance.now();
  if (now - idle.at < pace.idleMs) return true;
  if (adapter.issuer !== undefined || now - idle.since >= WHOLE_EVERY_MS) return false;
  const [cursor, sends, found] = await db.asSystem((tx) =>
    awaitAll(store.cursorOf(tx, rail), sendStore.openSends(tx, rail, 1), waitingFound(tx, rail, 1)),
  );
  idle.at = now;
  return cursor?.haltedWhy === null && cursor.headHash === idle.hash && sends.length === 0 && found.length === 0;
}

async function balanceOf({ adapter, rail, chain, db }: Engine, wallet: string, asset: AssetCode): Promise<bigint> {
  const known = await db.asSystem(async (tx) =>
    (await addressStore.assetsOf(tx, chain)).find((one) => one.code === asset),
  );
  if (known === undefined) throw new Refusal('unsupported_pair', { asset });
  if (wallet !== DEPOSITS) {
    const address = adapter.wallets[wallet]?.address ?? (await db.asSystem((tx) => ownAddress(tx, rail, wallet)));
    assert(address, `a wallet of ${rail} has no address`);
    const [units] = await adapter.balances(known.contract, [address]);
    assert(units !== undefined, 'the node did not answer with a balance');
    return units;
  }
  let sum = 0n;
  for (let after = -1n; ; ) {
    const page = await db.asSystem((tx) => addressStore.addressPage(tx, rail, after, new Date(0), BALANCE_PAGE));
    for (const units of await adapter.balances(
      known.contract,
      page.map((row) => row.address),
    ))
      sum += units;
    if (page.length < BALANCE_PAGE) return sum;
    after = page.at(-1)?.index ?? after;
  }
}

async function healthOf({ rail, db, pace, adapter }: Engine): Promise<RailHealth> {
  const { cursor, hasNoTarget } = await db.asSystem(async (tx) => ({
    cursor: await store.cursorOf(tx, rail),
    hasNoTarget: adapter.issuer !== undefined && (await poolOf(tx, rail)).free === 0,
  }));
  // Real time and not our movable clock, because a block carries real time.
  const ageMs = cursor?.headAt == null ? null : Math.max(0, Date.now() - cursor.headAt.getTime());
  const why =
    cursor?.haltedWhy ??
    (ageMs === null ? 'no block read yet' : ageMs > pace.headAgeLimitMs ? 'no new block for too long' : undefined) ??
    (hasNoTarget ? 'no free target is left' : undefined);
  return { healthy: why === undefined, ageMs, ...defined({ why }) };
}
