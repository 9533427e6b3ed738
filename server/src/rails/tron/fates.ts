/**
 * The fate of a transaction on Tron, and the proof that one can never be included.
 *
 * A block may include a transaction only if the block below it is older than the expiration. So once a final block is not older
 * than that, no block above it can include it: every block that could is final. A transaction is absent if none of those contains
 * it. Each of them is read with all its transactions, and they must link to each other. Asking for the transaction by its hash is
 * not enough, because an index may lag behind the blocks, and another node behind this one.
 *
 * A transaction that was included and failed is not absent: it cost energy and transferred nothing, and its block shows that.
 */
import { Unavailable } from '../../base/errors.ts';
import type { Block, Fate, SendAsked } from '../chain.adapter.ts';
import { blockAt, blockWithIds, each, infoOf, newestBlock, type Tron } from './node.ts';
import { VALID_MS } from './sends.ts';

export async function fates(tron: Tron, sends: readonly SendAsked[], final: Block | undefined): Promise<Fate[]> {
  return await each(sends, (one) => fateOf(tron, one, final));
}

async function fateOf(tron: Tron, { versions }: SendAsked, final: Block | undefined): Promise<Fate> {
  for (const { hash } of versions) {
    const info = await infoOf(tron, hash, 'wallet');
    if (info === undefined) continue;
    const { hash: blockHash } = await blockAt(tron, info.block);
    const { block, succeeded, cost } = info;
    return { is: 'included', hash, block, blockHash, succeeded, cost };
  }
  const proofs: string[] = [];
  for (const { hash, deadline } of versions) {
    if (deadline === null || final === undefined || final.at < deadline) return { is: 'open' };
    const proof = await absenceOf(tron, hash, deadline, final);
    if (proof === undefined) return { is: 'open' };
    proofs.push(proof);
  }
  return proofs.length === 0 ? { is: 'open' } : { is: 'absent', proof: proofs.join('; ') };
}

/** @returns the proof of absence; undefined if a final block contains it */
async function absenceOf(tron: Tron, hash: string, deadline: Date, final: Block): Promise<string | undefined> {
  const { code } = tron;
  // The node must have solidified our final block, on the same branch.
  const solid = await newestBlock(tron, 'walletsolidity');
  if (solid.number < final.number || (await blockAt(tron, final.number)).hash !== final.hash)
    throw new Unavailable(code, `the node has not solidified block ${final.number}, or another one`);
  if ((await infoOf(tron, hash, 'walletsolidity')) !== undefined) return undefined;
  const last = await firstNotBefore(tron, deadline, final);
  // Its expiration was set this long after the block that was the newest then.
  const first = await firstNotBefore(tron, new Date(deadline.getTime() - VALID_MS), last);
  const numbers = Array.from({ length: Number(last.number - first.number) + 1 }, (_, at) => first.number + BigInt(at));
  const blocks = await each(numbers, (number) => blockWithIds(tron, number, 'walletsolidity'));
  const isLinked = blocks.every(({ block }, at) => at === 0 || block.parentHash === blocks[at - 1]?.block.hash);
  if (!isLinked || blocks.at(-1)?.block.hash !== last.hash)
    throw new Unavailable(code, 'the node contradicted itself about solidified blocks');
  if (blocks.some(({ ids }) => ids.includes(hash))) return undefined;
  return (
    `${hash} is in none of the blocks ${first.number} to ${last.number}, all final; the last one, of ` +
    `${last.at.toISOString()}, is not before its expiration ${deadline.toISOString()}`
  );
}

/** The lowest block of this time or later; `top` is such a block. Binary search, because blocks are ordered by time. */
async function firstNotBefore(tron: Tron, time: Date, top: Block): Promise<Block> {
  let [low, found] = [0n, top];
  while (low < found.number) {
    const middle = await blockAt(tron, (low + found.number) / 2n);
    if (middle.at >= time) found = middle;
    else low = middle.number + 1n;
  }
  return found;
}
