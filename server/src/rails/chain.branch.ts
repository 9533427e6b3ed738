/** Branches: the blocks that a node's chain adds to ours, and the fork point. This file writes nothing. */
import { Unavailable } from '../base/errors.ts';
import type { Block } from './chain.adapter.ts';
import type { Engine } from './chain.engine.ts';
import * as store from './chain.store.ts';

/** Headers per request when searching for the fork point. */
const FORK_CHUNK = 32n;

/** The blocks that the node's branch adds to ours: the last common block, and at most one step of blocks above it. */
export async function branchOf(
  engine: Engine,
  known: { number: bigint; hash: string },
  finalized: bigint,
  newest: Block,
): Promise<'nothing new' | 'too deep' | { ancestor: Block; fresh: Block[] }> {
  const { adapter, rail, db, log, memory } = engine;
  const limit = BigInt(adapter.pace.blocksPerStep);
  if (newest.number > known.number) {
    const to = newest.number < known.number + limit ? newest.number : known.number + limit;
    const fresh = await linked(engine, known.number + 1n, to);
    if (fresh[0]?.parentHash === known.hash) {
      memory.lowerSince = undefined;
      return { ancestor: { ...known, parentHash: '', at: new Date(0) }, fresh };
    }
  } else {
    const ours = await db.asSystem((tx) => store.blockHashes(tx, rail, newest.number, newest.number));
    const isOurs = ours.get(newest.number) === newest.hash;
    // Below the blocks that we store there is nothing to compare: a node that is so far behind gives no information.
    if (isOurs || newest.number < finalized) {
      memory.lowerSince = undefined;
      if (newest.number < known.number)
        log.debug({ rail, node: Number(newest.number), known: Number(known.number) }, 'node is behind');
      return 'nothing new';
    }
    // A lower branch may come from a node that lags on abandoned blocks: it counts only if it persists.
    if (newest.number < known.number) {
      memory.lowerSince ??= Date.now();
      if (Date.now() - memory.lowerSince < adapter.pace.lowerBranchMs) return 'nothing new';
    }
  }

  const top = newest.number < known.number ? newest.number : known.number;
  const ancestor = await commonAncestor(engine, finalized, top);
  if (ancestor === undefined) return 'too deep';
  const to = newest.number < ancestor.number + limit ? newest.number : ancestor.number + limit;
  const fresh = to > ancestor.number ? await linked(engine, ancestor.number + 1n, to) : [];
  if (fresh.length > 0 && fresh[0]?.parentHash !== ancestor.hash) throw changed(engine);
  memory.lowerSince = undefined;
  return { ancestor, fresh };
}

async function commonAncestor(engine: Engine, finalized: bigint, top: bigint): Promise<Block | undefined> {
  const { rail, db } = engine;
  const ours = await db.asSystem((tx) => store.blockHashes(tx, rail, finalized, top));
  let above: Block | undefined;
  for (let high = top; high >= finalized; high -= FORK_CHUNK) {
    const low = high - FORK_CHUNK + 1n > finalized ? high - FORK_CHUNK + 1n : finalized;
    const theirs = await linked(engine, low, high);
    if (above !== undefined && above.parentHash !== theirs.at(-1)?.hash) throw changed(engine);
    const common = theirs.findLast((block) => ours.get(block.number) === block.hash);
    if (common !== undefined) return common;
    above = theirs[0];
  }
  return undefined;
}

/** Reads blocks that must link to each other; otherwise the node contradicts itself. */
export async function linked(engine: Engine, from: bigint, to: bigint): Promise<Block[]> {
  const { adapter } = engine;
  const blocks = await adapter.blocks(from, to);
  blocks.forEach((block, at) => {
    const below = blocks[at - 1];
    if (block.number !== from + BigInt(at) || (below !== undefined && block.parentHash !== below.hash))
      throw changed(engine);
  });
  if (BigInt(blocks.length) !== to - from + 1n) throw changed(engine);
  return blocks;
}

export const changed = ({ rail }: Engine) =>
  new Unavailable(rail, 'the node contradicted itself: its chain changed, or its answers are wrong', {
    retryAfterMs: 1_000,
  });

/**
 * Number of the first block of this time or later; that of `newest` if all are earlier. Binary search, because blocks are ordered
 * by time.
 */
export async function firstNotBefore({ adapter }: Engine, time: Date, newest: Block): Promise<bigint> {
  let [low, high] = [0n, newest.number];
  while (low < high) {
    const middle = (low + high) / 2n;
    const [block] = await adapter.blocks(middle, middle);
    if (block !== undefined && block.at >= time) high = middle;
    else low = middle + 1n;
  }
  return low;
}
