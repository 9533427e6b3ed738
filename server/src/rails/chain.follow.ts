/**
 * Following a chain: blocks, finality, reorgs.
 *
 * We store the blocks above finality, each linked to the one below by its parent hash, and trust a node only as far as its hashes
 * link to ours. A step first queries the node, with no database transaction open, and then writes the result in one transaction:
 * blocks, cursor, deposits and the facts about them are stored together or not at all.
 *
 * - A node that is on our branch and lower than our position lags. Our position does not move back.
 * - We follow another branch if its blocks link to one of ours: at once if it is as high as ours, otherwise once it has
 *   persisted. Deposits of the abandoned blocks become orphaned; those found again in the new branch keep their state, and only
 *   those that are missing after the new branch has been read to its end are reversed.
 * - A branch that forks from ours below finality, another chain id or another genesis block halts the rail until an operator
 *   clears the halt.
 *
 * Not here: which branch to follow (chain.branch.ts), the deposits in the blocks (chain.deposits.ts).
 */
import { assert } from '../base/errors.ts';
import type { Block, ChainAdapter } from './chain.adapter.ts';
import * as addressStore from './chain.addresses.store.ts';
import { SKEW_MS } from './chain.adopt.store.ts';
import { branchOf, firstNotBefore } from './chain.branch.ts';
import { contractsOf } from './chain.contracts.ts';
import * as depositStore from './chain.deposits.store.ts';
import { arrivalsIn, keepLost, reportCredits, reportFates, takeDeposit } from './chain.deposits.ts';
import { type Engine, haltIn } from './chain.engine.ts';
import * as store from './chain.store.ts';

type Head = Awaited<ReturnType<ChainAdapter['head']>>;

export interface Step {
  /** Whether the node has no further blocks. */
  caughtUp: boolean;
  halted: boolean;
}

export async function followStep(engine: Engine): Promise<Step> {
  const { adapter, rail, chain, db, clock, log, memory } = engine;
  const finality = BigInt(adapter.finality);
  const { cursor, assets } = await db.asSystem(async (tx) => {
    if (!memory.hasRow) await store.ensureChain(tx, rail, chain, adapter.finality);
    const found = await store.cursorOf(tx, rail);
    assert(found, 'the row of a chain is missing');
    return { cursor: found, assets: await addressStore.assetsOf(tx, chain) };
  });
  memory.hasRow = true;
  if (cursor.haltedWhy !== null) return { caughtUp: true, halted: true };

  const node = await adapter.head();
  if (node.chainId !== adapter.chainId)
    return await halt(engine, cursor, `the node is on chain ${node.chainId}, not ${adapter.chainId}`);
  if (cursor.genesisHash !== null && node.genesisHash !== cursor.genesisHash) {
    return await halt(engine, cursor, `the node has another genesis block: ${node.genesisHash}`);
  }
  if (cursor.headNumber === null || cursor.headHash === null) return await begin(engine, node, cursor.finalized);

  const known = { number: cursor.headNumber, hash: cursor.headHash };
  const branch = await branchOf(engine, known, cursor.finalized, node.newest);
  if (branch === 'nothing new') return { caughtUp: true, halted: false };
  if (branch === 'too deep')
    return await halt(engine, cursor, `a reorg deeper than ${finality} blocks, below block ${known.number}`);

  const { ancestor, fresh } = branch;
  const head = fresh.at(-1) ?? ancestor;
  const { deposits, credits } = await arrivalsIn(engine, fresh, contractsOf(adapter, assets));
  const caughtUp = head.number >= node.newest.number;

  await db.asSystem(async (tx) => {
    const now = await store.lockCursor(tx, rail);
    // If another process has taken the same step meanwhile, this result is outdated.
    if (now?.headHash !== known.hash || now.finalized !== cursor.finalized || now.haltedWhy !== null) return;
    if (ancestor.number < known.number) {
      log.warn({ rail, from: Number(known.number), ancestor: Number(ancestor.number) }, 'reorg');
      await store.dropBlocksAbove(tx, rail, ancestor.number);
    }
    await store.addBlocks(tx, rail, fresh);
    for (const { watched } of deposits) {
      if (watched.orderId === null) await keepLost(engine, tx, watched);
      if (watched.rail !== rail) await addressStore.adopt(tx, rail, watched);
    }
    const times = new Map(fresh.map((block) => [block.number, block.at]));
    for (const deposit of deposits) await takeDeposit(engine, tx, deposit, head, times.get(deposit.transfer.block));
    for (const { transfer, position, asset } of credits) {
      const { txHash, from, units, block } = transfer;
      const external_id = `${txHash}:${position}`;
      await depositStore.noteCredit(tx, rail, { externalId: external_id, txHash, payer: from, asset, units, block });
    }
    const finalized = finalAt(engine, node, head, cursor.finalized);
    await reportFates(engine, tx, { head, finalized, isCaughtUp: caughtUp });
    await store.moveCursor(tx, rail, {
      chainId: node.chainId,
      genesisHash: node.genesisHash,
      finalized,
      head,
      at: clock.now(),
    });
    await reportCredits(engine, tx, finalized);
  });
  return { caughtUp, halted: false };
}

/**
 * The first step. It starts as far below the head as deposits may still be unconfirmed, and as far below the block at the time
 * when the first address was assigned, because the node may not have answered since. After a halt it starts that far below the
 * block that was final then: later blocks are unread, and some of those that were read may have been replaced.
 *
 * @param finalized -1 if there was no step before
 */
export async function begin(engine: Engine, node: Head, finalized: bigint): Promise<Step> {
  const { adapter, rail, db, clock } = engine;
  const finality = BigInt(adapter.finality);
  const top = finalized >= 0n ? least(finalized, node.newest.number) : await firstOfOurs(engine, node.newest);
  const start = top > finality ? top - finality : 0n;
  const anchor = only(await adapter.blocks(start, start));
  await db.asSystem(async (tx) => {
    const now = await store.lockCursor(tx, rail);
    if (now?.headHash !== null) return;
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

/** The block at the time when the first address was assigned; the newest block if none was. */
async function firstOfOurs(engine: Engine, newest: Block): Promise<bigint> {
  const at = await engine.db.asSystem((tx) => addressStore.firstGivenOut(tx, engine.rail));
  return at === undefined ? newest.number : await firstNotBefore(engine, new Date(at.getTime() - SKEW_MS), newest);
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** The newest block that no reorg may replace. A final block stays final, whatever a node reports later. */
function finalAt({ adapter }: Engine, node: Head, head: Block, before: bigint): bigint {
  const said = node.final ?? head.number - BigInt(adapter.finality);
  // Blocks that we have not read yet are not final for us.
  const depth = said < head.number ? said : head.number;
  return depth > before ? depth : before;
}

/**
 * Halts the rail, unless its row has changed since this step has read it. Another process may have dropped the block with which
 * this step compared, or an operator may have cleared a halt: then the next step decides with new answers.
 */
async function halt(engine: Engine, seen: store.Cursor, why: string): Promise<Step> {
  const { rail, db } = engine;
  const isHalted = await db.asSystem(async (tx) => {
    const now = await store.lockCursor(tx, rail);
    return now?.version === seen.version && (await haltIn(engine, tx, why));
  });
  return { caughtUp: isHalted, halted: isHalted };
}

function only(blocks: readonly Block[]): Block {
  const [block] = blocks;
  assert(block !== undefined && blocks.length === 1, 'the node did not answer with exactly one block');
  return block;
}
