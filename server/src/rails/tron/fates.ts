/**
 * The fate of a transaction on Tron, and the proof that one can never be included.
 *
 * A block may include a transaction only if the block below it is older than the expiration. So once a final block is not older
 * than that, no block above it can include it: every block that could is final. A transaction is absent if none of those contains
 * it. Each of them is read with all its transactions, and they must link to each other. Asking for the transaction by its hash is
 * not enough, because an index may lag behind the blocks, and another node behind this one.
 *
 * The first of those blocks follows the one that the transaction names: no other chain of blocks can include it, and its id was
 * unknown before it existed. The expiration says little about it: it was computed from a node's head, which may have been far
 * ahead of the clock.
 *
 * A transaction that was included and failed is not absent: it cost energy and transferred nothing, and its block shows that.
 */
import { Unavailable } from '../../base/errors.ts';
import type { Block, Fate, SendAsked } from '../chain.adapter.ts';
import { blockAt, blockWithIds, each, infoOf, newestBlock, type Tron } from './node.ts';
import { decodeRawData } from './protobuf.ts';
import { LONGEST_MS } from './signer.ts';

/** How far the signer's clock may be ahead of the chain's. */
const SKEW_MS = 60_000;

/** Reads a solidified block, and which of the queried transactions it contains. */
type Read = (number: bigint) => Promise<{ block: Block; found: readonly string[] }>;

export async function fates(tron: Tron, sends: readonly SendAsked[], final: Block | undefined): Promise<Fate[]> {
  const read = readOnce(tron, new Set(sends.flatMap(({ versions }) => versions.map(({ hash }) => hash))));
  return await each(sends, (one) => fateOf(tron, one, final, read));
}

/** Sends that were lost together share most blocks of their proofs, and a block of this chain is large. */
function readOnce(tron: Tron, hashes: ReadonlySet<string>): Read {
  const blocks = new Map<bigint, ReturnType<Read>>();
  const ask = async (number: bigint) => {
    const { block, ids } = await blockWithIds(tron, number, 'walletsolidity');
    return { block, found: ids.filter((id) => hashes.has(id)) };
  };
  return (number) => {
    const asked = blocks.get(number) ?? ask(number);
    blocks.set(number, asked);
    return asked;
  };
}

async function fateOf(tron: Tron, { versions }: SendAsked, final: Block | undefined, read: Read): Promise<Fate> {
  for (const { hash } of versions) {
    const info = await infoOf(tron, hash, 'wallet');
    if (info === undefined) continue;
    const { hash: blockHash } = await blockAt(tron, info.block);
    const { block, succeeded, cost } = info;
    return { is: 'included', hash, block, blockHash, succeeded, cost };
  }
  const proofs: string[] = [];
  for (const { hash, deadline, body } of versions) {
    if (deadline === null || final === undefined || final.at < deadline) return { is: 'open' };
    const proof = await absenceOf(tron, { hash, deadline, body }, final, read);
    if (proof === undefined) return { is: 'open' };
    proofs.push(proof);
  }
  return proofs.length === 0 ? { is: 'open' } : { is: 'absent', proof: proofs.join('; ') };
}

/** @returns the proof of absence; undefined if a final block contains it */
async function absenceOf(
  tron: Tron,
  { hash, deadline, body }: { hash: string; deadline: Date; body: Buffer | null },
  final: Block,
  read: Read,
): Promise<string | undefined> {
  const { code } = tron;
  // The node must have solidified our final block, on the same branch.
  const solid = await newestBlock(tron, 'walletsolidity');
  if (solid.number < final.number || (await blockAt(tron, final.number)).hash !== final.hash)
    throw new Unavailable(code, `the node has not solidified block ${final.number}, or another one`);
  if ((await infoOf(tron, hash, 'walletsolidity')) !== undefined) return undefined;
  const last = await firstNotBefore(tron, deadline, final);
  const first =
    (await namedBlock(tron, body, last)) ??
    // The signer signs no later expiration, so nothing was signed before this time.
    (await firstNotBefore(tron, new Date(deadline.getTime() - LONGEST_MS - SKEW_MS), last));
  const numbers = Array.from({ length: Number(last.number - first.number) + 1 }, (_, at) => first.number + BigInt(at));
  const blocks = await each(numbers, read);
  const isLinked = blocks.every(({ block }, at) => at === 0 || block.parentHash === blocks[at - 1]?.block.hash);
  if (!isLinked || blocks[0]?.block.hash !== first.hash || blocks.at(-1)?.block.hash !== last.hash)
    throw new Unavailable(code, 'the node contradicted itself about solidified blocks');
  if (blocks.some(({ found }) => found.includes(hash))) return undefined;
  return (
    `${hash} is in none of the blocks ${first.number} to ${last.number}, all final; the last one, of ` +
    `${last.at.toISOString()}, is not before its expiration ${deadline.toISOString()}`
  );
}

/**
 * The block that a transaction names (its reference). Only blocks above it can include the transaction.
 *
 * @returns undefined if the chain up to `top` has no such block: the node that named it was on another branch
 */
async function namedBlock(tron: Tron, body: Buffer | null, top: Block): Promise<Block | undefined> {
  const raw = body === null ? undefined : decodeRawData(body);
  if (raw === undefined) return undefined;
  const end = BigInt(`0x${raw.refBlockBytes.toString('hex') || '0'}`);
  // It has two bytes of the number.
  const number = top.number - BigInt.asUintN(16, top.number - end);
  if (number < 0n) return undefined;
  const block = await blockAt(tron, number);
  return block.hash.slice(16, 32) === raw.refBlockHash.toString('hex') ? block : undefined;
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
