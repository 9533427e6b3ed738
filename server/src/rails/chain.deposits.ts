/**
 * Deposits: transfers to our addresses in the followed blocks, and the facts reported about them.
 *
 * Transfers are requested by contract and block hash, and their recipients are looked up in the database afterwards. So no cache
 * can be stale: a payer must know the address before the block exists, and no customer sees an address before its row is
 * committed.
 */
import { onClock } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { type Block, NATIVE, type Transfer } from './chain.adapter.ts';
import * as addressStore from './chain.addresses.store.ts';
import { noteHash } from './chain.adopt.store.ts';
import { changed } from './chain.branch.ts';
import * as depositStore from './chain.deposits.store.ts';
import { type Engine, HOT } from './chain.engine.ts';
import { isOurs } from './chain.targets.ts';

/** A block's time is in whole seconds. */
const BLOCK_TIME_MS = 999;

interface Found {
  transfer: Transfer;
  position: number;
  asset: string;
}

/** Transfers to deposit addresses, including those of orders on another chain, and to the paying wallet. */
export async function arrivalsIn(
  engine: Engine,
  blocks: readonly Block[],
  contracts: Map<string, string>,
): Promise<{ deposits: (Found & { watched: addressStore.Watched })[]; credits: Found[] }> {
  const { adapter, rail, db, clock, ahead } = engine;
  if (blocks.length === 0 || contracts.size === 0) return { deposits: [], credits: [] };
  const hashes = new Map(blocks.map((block) => [block.hash, block.number]));
  const transfers = await adapter.transfers(blocks, [...contracts.keys()]);
  for (const { blockHash, block } of transfers) if (hashes.get(blockHash) !== block) throw changed(engine);
  const moving = transfers.filter(
    // A transfer from a wallet to itself is change.
    ({ units, contract, from, to }) => units > 0n && contracts.has(contract) && !(contract === NATIVE && from === to),
  );
  if (moving.length === 0) return { deposits: [], credits: [] };
  const recipients = [...new Set(moving.map((transfer) => transfer.to))];
  const watched = await db.asSystem((tx) => addressStore.watchedAnywhere(tx, rail, recipients));
  for (const [address, row] of watched) if (!isOurs(engine, row)) watched.delete(address);
  const hot = adapter.wallets[HOT]?.address;
  // Deriving the addresses ahead takes a second of CPU, so it waits until there is an unknown recipient.
  const own = new Set(Object.values(adapter.wallets).map(({ address }) => address));
  const unknown = recipients.filter((address) => !watched.has(address) && !own.has(address));
  for (const [address, index] of await db.asSystem((tx) => ahead.among(tx, unknown)))
    watched.set(address, { ...NOBODYS, rail, address, index, madeAt: clock.now() });
  const ours = moving.filter((transfer) => watched.has(transfer.to) || transfer.to === hot);
  const positions = await adapter.positions(ours);
  const found = ours.map((transfer, at) => ({
    transfer,
    position: positions[at] ?? 0,
    asset: contracts.get(transfer.contract) ?? '',
  }));
  return {
    deposits: found.flatMap((one) => {
      const there = watched.get(one.transfer.to);
      return there === undefined ? [] : [{ ...one, watched: there }];
    }),
    credits: found.filter(({ transfer }) => !watched.has(transfer.to)),
  };
}

/**
 * A transfer to one of our addresses is in a block we follow.
 *
 * Normally its id is new, or the id of a deposit whose block was replaced. In two cases a number is appended to the id: a deposit
 * that was confirmed, reversed and booked as lost is new money if it comes back; and a transaction that has another effect when
 * it is mined again is another deposit under the same hash.
 */
export async function takeDeposit(
  engine: Engine,
  tx: Tx,
  { transfer, position, asset, watched }: Found & { watched: addressStore.Watched },
  head: Block,
  minedAt: Date | undefined,
): Promise<void> {
  const { rail, clock, report } = engine;
  const { txHash, block, blockHash, from, to, units } = transfer;
  for (let again = 1; ; again += 1) {
    const externalId = `${txHash}:${position}${again === 1 ? '' : `:${again}`}`;
    const before = await depositStore.depositById(tx, rail, externalId);
    if (before === undefined) {
      await depositStore.addDeposit(
        tx,
        rail,
        { externalId, txHash, asset, units, address: to, block, blockHash, payer: from },
        clock.now(),
      );
    } else {
      const same = before.asset === asset && before.units === units && before.address === to;
      const lost = before.reversedAt !== null && before.confirmedAt !== null;
      if (!same || lost) continue;
      await depositStore.anchorDeposit(tx, rail, externalId, block, blockHash);
      if (before.reversedAt === null) return;
    }
    await report(tx, {
      type: 'deposit_seen',
      rail,
      externalId,
      target: to,
      ...homeOf(engine, watched),
      asset,
      units,
      reference: txHash,
      ...(minedAt === undefined ? {} : { at: onClock(clock, minedAt), withinMs: BLOCK_TIME_MS }),
      facts: { block: Number(block), confirmations: Number(head.number - block + 1n), ...numberOf(watched) },
    });
    return;
  }
}

/**
 * Reports first the deposits that have left the chain, and then those that are confirmed. All of their orders are locked before
 * the first is reported.
 *
 * @param at.isCaughtUp whether the newest block has been read: until then a missing deposit may reappear
 */
export async function reportFates(
  engine: Engine,
  tx: Tx,
  at: { head: Block; finalized: bigint; isCaughtUp: boolean },
): Promise<void> {
  const { adapter, rail, chain, clock, lockOrders } = engine;
  const { head, finalized, isCaughtUp } = at;
  const gone = isCaughtUp ? await depositStore.reverseOrphaned(tx, rail, clock.now()) : [];
  const upTo = adapter.saysFinal === true ? finalized : head.number;
  const reach = { finality: adapter.finality, head: head.number, upTo };
  const reached = (await depositStore.confirmReached(tx, rail, chain, reach, clock.now())).toSorted(inOrder);
  if (gone.length + reached.length > 1)
    await lockOrders?.(tx, { rail, externalIds: [...gone, ...reached].map(({ externalId }) => externalId) });
  for (const one of gone) await giveUp(engine, tx, one);
  for (const one of reached) await confirm(engine, tx, one, head);
}

async function giveUp({ rail, report }: Engine, tx: Tx, gone: depositStore.ChainDeposit): Promise<void> {
  const why =
    gone.confirmedAt === null ? 'left the chain before it was confirmed' : 'left the chain after it was confirmed';
  await report(tx, { type: 'deposit_reversed', rail, externalId: gone.externalId, why });
}

async function confirm(
  { rail, report }: Engine,
  tx: Tx,
  deposit: Awaited<ReturnType<typeof depositStore.confirmReached>>[number],
  head: Block,
): Promise<void> {
  await report(tx, {
    type: 'deposit_confirmed',
    rail,
    externalId: deposit.externalId,
    target: deposit.address,
    ...defined({ homeRail: deposit.homeRail ?? undefined }),
    asset: deposit.asset,
    units: deposit.units,
    reference: deposit.txHash,
    facts: { block: Number(deposit.block), confirmations: Number(head.number - deposit.block + 1n) },
  });
}

/** By block and position: an update returns rows in no particular order, and every run must report them in the same one. */
const inOrder = (a: { block: bigint; externalId: string }, b: { block: bigint; externalId: string }): number =>
  a.block === b.block ? (a.externalId < b.externalId ? -1 : 1) : a.block < b.block ? -1 : 1;

/** Reports final credits to the paying wallet: the operator's own money, or money to be explained. */
export async function reportCredits(engine: Engine, tx: Tx, finalized: bigint): Promise<void> {
  const { rail, clock, report } = engine;
  for (const one of await depositStore.finalCredits(tx, rail, finalized, clock.now())) {
    if (one.own) continue;
    // Only our own key can move money from a deposit address, so this is a sweep that these books lack.
    if (one.depositIndex !== null) {
      await noteHash(tx, rail, `deposit:${one.depositIndex}`, one.txHash);
      continue;
    }
    const { asset, units, payer } = one;
    const fact = { rail, externalId: one.externalId, asset, units, reference: one.txHash, payer };
    await report(tx, { type: one.trusted ? 'funding_confirmed' : 'credit_unexpected', ...fact });
  }
}

/** Stores such an address, so that its native deposits are found and swept like those of any other. No order gets its number. */
export async function keepLost(engine: Engine, tx: Tx, { address, index }: addressStore.Watched): Promise<void> {
  const { rail, clock, log, ahead } = engine;
  log.warn({ rail, index: Number(index) }, 'money arrived at an address that no order in the books has');
  await addressStore.keepLost(tx, rail, { address, index }, clock.now());
  await ahead.passOver(tx, index);
}

const homeOf = ({ rail }: Engine, watched: addressStore.Watched): { homeRail?: string } => {
  const home = watched.homeRail ?? watched.rail;
  return home === rail ? {} : { homeRail: home };
};

const NOBODYS = { orderId: null, partnerId: null, homeRail: null };
/** If no order has the address, an operator needs its number. */
const numberOf = ({ orderId, index }: addressStore.Watched): { index?: number } =>
  orderId === null ? { index: Number(index) } : {};
