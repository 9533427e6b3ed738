/**
 * Following a chain: blocks, finality, reorgs.
 *
 * We store the blocks above finality, each linked to the one below by its parent hash, and trust a node only as far as its
 * hashes link to ours. One step first asks the node everything, with no database transaction open, and then writes the result
 * in one: blocks, cursor, deposits and the facts reported of them are stored together or not at all.
 *
 * - A node that is lower than we are, on our branch, is lagging. Nothing moves back for it.
 * - We follow another branch once its blocks link to one of ours: at once if it is as high as we are, else if it persists.
 *   Deposits of the abandoned blocks become orphaned; those found again in the new branch keep their state, and only those
 *   missing after the new branch was read to its end are reversed.
 * - A branch that leaves ours below finality, another chain id or another genesis halts the rail until a person clears it.
 *
 * Transfers are requested by contract and block hash, and recipients are looked up in the database afterwards. A block exists
 * only after its payer knew the address, and no customer is told an address before its row is committed: so no cache can be
 * stale.
 */

import { onClock } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { assert, Unavailable } from '../base/errors.ts';
import { targetsAhead } from './ahead.ts';
import type { Block, ChainAdapter, RailContext, Transfer } from './chain.adapter.ts';
import * as addressStore from './chain.addresses.store.ts';
import { noteHash } from './chain.adopt.store.ts';
import * as depositStore from './chain.deposits.store.ts';
import * as store from './chain.store.ts';

/** The wallet that pays customers. */
export const HOT = 'hot';
/** Headers per request when searching for the fork point. */
const FORK_CHUNK = 32n;
/** A block's time is in whole seconds. */
const BLOCK_TIME_MS = 999;

export interface Step {
  /** The node has no further blocks. */
  caughtUp: boolean;
  halted: boolean;
}

export function follower(adapter: ChainAdapter, { db, clock, log, report }: RailContext) {
  const { code: rail, chain } = adapter;
  const finality = BigInt(adapter.finality);
  /** Since when the node has shown another branch that is lower than ours. */
  let lowerSince: number | undefined;
  const ahead = targetsAhead((index) => adapter.address(index));
  let hasRow = false;

  async function halt(why: string): Promise<Step> {
    log.error({ rail, why }, 'rail halted');
    await db.asSystem(async (tx) => {
      if (await store.haltChain(tx, rail, why)) await report(tx, { type: 'rail_halted', rail, why });
    });
    return { caughtUp: true, halted: true };
  }

  async function step(): Promise<Step> {
    const { cursor, assets } = await db.asSystem(async (tx) => {
      if (!hasRow) await store.ensureChain(tx, rail, chain, adapter.finality);
      const found = await store.cursorOf(tx, rail);
      assert(found, 'a chain has its row');
      return { cursor: found, assets: await addressStore.assetsOf(tx, chain) };
    });
    hasRow = true;
    if (cursor.halted_why !== null) return { caughtUp: true, halted: true };

    const node = await adapter.head();
    if (node.chainId !== adapter.chainId)
      return await halt(`the node is on chain ${node.chainId}, not ${adapter.chainId}`);
    if (cursor.genesis_hash !== null && node.genesisHash !== cursor.genesis_hash) {
      return await halt(`the node has another genesis block: ${node.genesisHash}`);
    }
    if (cursor.head_number === null || cursor.head_hash === null) return await begin(node, cursor.finalized);

    const known = { number: cursor.head_number, hash: cursor.head_hash };
    const branch = await branchOf(known, cursor.finalized, node.newest);
    if (branch === 'nothing new') return { caughtUp: true, halted: false };
    if (branch === 'too deep') {
      // Another process may have dropped the block we compared with since we read our position.
      const now = await db.asSystem((tx) => store.cursorOf(tx, rail));
      if (now?.head_hash !== known.hash || now.finalized !== cursor.finalized)
        return { caughtUp: false, halted: false };
      return await halt(`a reorg deeper than ${finality} blocks, below block ${known.number}`);
    }

    const { ancestor, fresh } = branch;
    const head = fresh.at(-1) ?? ancestor;
    const contracts = new Map(
      assets.flatMap((asset) => (asset.contract === null ? [] : [[asset.contract, asset.code]])),
    );
    const { deposits, credits } = await arrivalsIn(fresh, contracts);
    const caughtUp = head.number >= node.newest.number;

    await db.asSystem(async (tx) => {
      const now = await store.lockCursor(tx, rail);
      // If another process took the same step meanwhile, this result is outdated.
      if (now?.head_hash !== known.hash || now.finalized !== cursor.finalized || now.halted_why !== null) return;
      if (ancestor.number < known.number) {
        log.warn({ rail, from: Number(known.number), ancestor: Number(ancestor.number) }, 'reorg');
        await store.dropBlocksAbove(tx, rail, ancestor.number);
      }
      await store.addBlocks(tx, rail, fresh);
      for (const { watched } of deposits) {
        if (watched.orderId === null) await keepLost(tx, watched);
        if (watched.rail !== rail) await addressStore.adopt(tx, rail, watched);
      }
      const times = new Map(fresh.map((block) => [block.number, block.at]));
      for (const deposit of deposits) await take(tx, deposit, head, times.get(deposit.transfer.block));
      for (const { transfer, position, asset } of credits) {
        const { txHash, from, units, block } = transfer;
        const external_id = `${txHash}:${position}`;
        await depositStore.noteCredit(tx, rail, { external_id, tx_hash: txHash, payer: from, asset, units, block });
      }
      if (caughtUp) await giveUpOrphaned(tx);
      await confirm(tx, head);
      const depth = head.number - finality;
      const finalized = depth > cursor.finalized ? depth : cursor.finalized;
      await store.moveCursor(tx, rail, {
        chainId: node.chainId,
        genesisHash: node.genesisHash,
        finalized,
        head,
        at: clock.now(),
      });
      await credit(tx, finalized);
    });
    return { caughtUp, halted: false };
  }

  /**
   * The first step ever: starts as far below the head as deposits may still be unconfirmed. Restarted after a halt, it starts
   * that far below the finalized block of that time: nobody has read the blocks since, and some of those we read may have
   * been replaced.
   *
   * @param finalized -1 when there was no step before
   */
  async function begin(node: Awaited<ReturnType<ChainAdapter['head']>>, finalized: bigint): Promise<Step> {
    const top = finalized >= 0n && finalized < node.newest.number ? finalized : node.newest.number;
    const start = top > finality ? top - finality : 0n;
    const anchor = only(await adapter.blocks(start, start));
    await db.asSystem(async (tx) => {
      const now = await store.lockCursor(tx, rail);
      if (now?.head_hash !== null) return;
      await store.addBlocks(tx, rail, [anchor]);
      const at = clock.now();
      await store.moveCursor(tx, rail, {
        chainId: node.chainId,
        genesisHash: node.genesisHash,
        finalized: anchor.number,
        head: anchor,
        at,
      });
    });
    return { caughtUp: false, halted: false };
  }

  /** What the node's branch adds to ours: the last common block, and up to one step of blocks above it. */
  async function branchOf(
    known: { number: bigint; hash: string },
    finalized: bigint,
    newest: Block,
  ): Promise<'nothing new' | 'too deep' | { ancestor: Block; fresh: Block[] }> {
    const limit = BigInt(adapter.pace.blocksPerStep);
    if (newest.number > known.number) {
      const to = newest.number < known.number + limit ? newest.number : known.number + limit;
      const fresh = await linked(known.number + 1n, to);
      if (fresh[0]?.parentHash === known.hash) {
        lowerSince = undefined;
        return { ancestor: { ...known, parentHash: '', at: new Date(0) }, fresh };
      }
    } else {
      const ours = await db.asSystem((tx) => store.blockHashes(tx, rail, newest.number, newest.number));
      const isOurs = ours.get(newest.number) === newest.hash;
      // Below the blocks we store there is nothing to compare: a node that far behind tells us nothing.
      if (isOurs || newest.number < finalized) {
        lowerSince = undefined;
        if (newest.number < known.number)
          log.debug({ rail, node: Number(newest.number), known: Number(known.number) }, 'node is behind');
        return 'nothing new';
      }
      // A lower branch may be a node lagging on abandoned blocks: it counts if it persists.
      if (newest.number < known.number) {
        lowerSince ??= Date.now();
        if (Date.now() - lowerSince < adapter.pace.lowerBranchMs) return 'nothing new';
      }
    }

    const top = newest.number < known.number ? newest.number : known.number;
    const ancestor = await commonAncestor(finalized, top);
    if (ancestor === undefined) return 'too deep';
    const to = newest.number < ancestor.number + limit ? newest.number : ancestor.number + limit;
    const fresh = to > ancestor.number ? await linked(ancestor.number + 1n, to) : [];
    if (fresh.length > 0 && fresh[0]?.parentHash !== ancestor.hash) throw changed();
    lowerSince = undefined;
    return { ancestor, fresh };
  }

  async function commonAncestor(finalized: bigint, top: bigint): Promise<Block | undefined> {
    const ours = await db.asSystem((tx) => store.blockHashes(tx, rail, finalized, top));
    let above: Block | undefined;
    for (let high = top; high >= finalized; high -= FORK_CHUNK) {
      const low = high - FORK_CHUNK + 1n > finalized ? high - FORK_CHUNK + 1n : finalized;
      const theirs = await linked(low, high);
      if (above !== undefined && above.parentHash !== theirs.at(-1)?.hash) throw changed();
      const common = theirs.findLast((block) => ours.get(block.number) === block.hash);
      if (common !== undefined) return common;
      above = theirs[0];
    }
    return undefined;
  }

  /** Blocks that link to each other; otherwise the node contradicts itself. */
  async function linked(from: bigint, to: bigint): Promise<Block[]> {
    const blocks = await adapter.blocks(from, to);
    blocks.forEach((block, at) => {
      const below = blocks[at - 1];
      if (block.number !== from + BigInt(at) || (below !== undefined && block.parentHash !== below.hash))
        throw changed();
    });
    if (BigInt(blocks.length) !== to - from + 1n) throw changed();
    return blocks;
  }

  interface Found {
    transfer: Transfer;
    position: number;
    asset: string;
  }

  /** Transfers to deposit addresses, including those of orders on another chain, and to the paying wallet. */
  async function arrivalsIn(
    blocks: readonly Block[],
    contracts: Map<string, string>,
  ): Promise<{ deposits: (Found & { watched: addressStore.Watched })[]; credits: Found[] }> {
    if (blocks.length === 0 || contracts.size === 0) return { deposits: [], credits: [] };
    const hashes = new Map(blocks.map((block) => [block.hash, block.number]));
    const transfers = await adapter.transfers(blocks, [...contracts.keys()]);
    for (const { blockHash, block } of transfers) if (hashes.get(blockHash) !== block) throw changed();
    const moving = transfers.filter((transfer) => transfer.units > 0n && contracts.has(transfer.contract));
    const recipients = [...new Set(moving.map((transfer) => transfer.to))];
    const watched = await db.asSystem((tx) => addressStore.watchedAnywhere(tx, rail, recipients));
    // Ours only if the same number has the same address here: then we have its key.
    for (const [address, { index }] of watched) if (adapter.address(index) !== address) watched.delete(address);
    const hot = adapter.wallets[HOT]?.address;
    // Deriving the addresses ahead takes a second of CPU, so it is delayed until the first unknown recipient.
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

  /** Final credits to the paying wallet: the operator's own money, or money to be explained. */
  async function credit(tx: Tx, finalized: bigint): Promise<void> {
    for (const one of await depositStore.finalCredits(tx, rail, finalized, clock.now())) {
      if (one.own) continue;
      // Only our own key can move what is on a deposit address: a sweep that these books do not know.
      if (one.depositIndex !== null) {
        await noteHash(tx, rail, `deposit:${one.depositIndex}`, one.tx_hash);
        continue;
      }
      const { asset, units, payer } = one;
      const fact = { rail, externalId: one.external_id, asset, units, reference: one.tx_hash };
      await report(
        tx,
        one.trusted ? { type: 'funding_confirmed', ...fact } : { type: 'credit_unexpected', ...fact, payer },
      );
    }
  }

  /**
   * A transfer to one of our addresses is in a block we follow.
   *
   * Normally its id is new, or that of a deposit whose block was replaced. In two cases a number is appended to the id: a
   * deposit that was confirmed, reversed and booked as lost is new money when it comes back; and a transaction that does
   * something else when it is mined again is another deposit under the same hash.
   */
  async function take(
    tx: Tx,
    { transfer, position, asset, watched }: Found & { watched: addressStore.Watched },
    head: Block,
    minedAt: Date | undefined,
  ): Promise<void> {
    const { txHash, block, blockHash, from, to, units } = transfer;
    for (let again = 1; ; again += 1) {
      const externalId = `${txHash}:${position}${again === 1 ? '' : `:${again}`}`;
      const before = await depositStore.depositById(tx, rail, externalId);
      if (before === undefined) {
        await depositStore.addDeposit(
          tx,
          rail,
          { external_id: externalId, tx_hash: txHash, asset, units, address: to, block, blockHash, payer: from },
          clock.now(),
        );
      } else {
        const same = before.asset === asset && before.units === units && before.address === to;
        const lost = before.reversed_at !== null && before.confirmed_at !== null;
        if (!same || lost) continue;
        await depositStore.anchorDeposit(tx, rail, externalId, block, blockHash);
        if (before.reversed_at === null) return;
      }
      await report(tx, {
        type: 'deposit_seen',
        rail,
        externalId,
        target: to,
        ...homeOf(watched),
        asset,
        units,
        reference: txHash,
        ...(minedAt === undefined ? {} : { at: onClock(clock, minedAt), withinMs: BLOCK_TIME_MS }),
        facts: { block: Number(block), confirmations: Number(head.number - block + 1n), ...numberOf(watched) },
      });
      return;
    }
  }

  async function giveUpOrphaned(tx: Tx): Promise<void> {
    for (const gone of await depositStore.reverseOrphaned(tx, rail, clock.now())) {
      const why =
        gone.confirmed_at === null ? 'left the chain before it was confirmed' : 'left the chain after it was confirmed';
      await report(tx, { type: 'deposit_reversed', rail, externalId: gone.external_id, why });
    }
  }

  async function confirm(tx: Tx, head: Block): Promise<void> {
    const reached = await depositStore.confirmReached(tx, rail, chain, adapter.finality, head.number, clock.now());
    for (const deposit of reached) {
      await report(tx, {
        type: 'deposit_confirmed',
        rail,
        externalId: deposit.external_id,
        target: deposit.address,
        ...(deposit.home_rail === null ? {} : { homeRail: deposit.home_rail }),
        asset: deposit.asset,
        units: deposit.units,
        reference: deposit.tx_hash,
        facts: { block: Number(deposit.block), confirmations: Number(head.number - deposit.block + 1n) },
      });
    }
  }

  /** Stored, so that its native coin is found and swept like that of any other address; no order gets its number. */
  async function keepLost(tx: Tx, { address, index }: addressStore.Watched): Promise<void> {
    log.warn({ rail, index: Number(index) }, 'money came to an address that no order in the books has');
    await addressStore.keepLost(tx, rail, { address, index }, clock.now());
    await ahead.passOver(tx, index);
  }

  const homeOf = (watched: addressStore.Watched): { homeRail?: string } => {
    const home = watched.homeRail ?? watched.rail;
    return home === rail ? {} : { homeRail: home };
  };

  const changed = () =>
    new Unavailable(rail, 'the node contradicted itself: its chain changed, or it lies', { retryAfterMs: 1_000 });

  return { step, halt };
}

const NOBODYS = { orderId: null, partnerId: null, homeRail: null };
/** If no order has it, an operator needs its number. */
const numberOf = ({ orderId, index }: addressStore.Watched): { index?: number } =>
  orderId === null ? { index: Number(index) } : {};

function only(blocks: readonly Block[]): Block {
  const [block] = blocks;
  assert(block !== undefined && blocks.length === 1, 'one block was asked for');
  return block;
}
