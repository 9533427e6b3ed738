/** One Tron chain for the functions in this folder: its options, and requests to its nodes. */
import type { Http } from '../../base/http.ts';
import type { Block, ChainPace } from '../chain.adapter.ts';
import { type Ask, amount, count, hexOf, list, Malformed, type NodeUrl, object, reading } from './http.ts';
import type { TronSigner } from './signer.ts';

export interface TronOptions {
  /** `tron.trc20` and `trc20`. */
  code: string;
  chain: string;
  /** A full node's HTTP API: `https://api.trongrid.io`. */
  url: NodeUrl;
  /** Whether that node has not been started yet. */
  isAsleep?: () => boolean;
  /** Further nodes of the chain, used if that one does not answer. */
  spareUrls?: readonly string[];
  /** Nodes for solidified blocks; absent if the full nodes answer for these, too. */
  solidityUrls?: readonly string[];
  apiKey?: string;
  /** The last four bytes of the genesis block's id, as in Tron's JSON-RPC: 728126428 for the main chain. */
  chainId: bigint;
  /** Extended public key whose children are the deposit addresses. */
  xpub: string;
  /** Wallets by name; `hot` pays customers. */
  signers?: Readonly<Record<string, TronSigner>>;
  /** Addresses of wallets whose signers are elsewhere: they are watched, and this process cannot send from them. */
  addresses?: Readonly<Record<string, string>>;
  /** Signers of the deposit addresses by index; only in a process that sweeps. */
  sweepSigner?: (index: bigint) => TronSigner;
  /** How far below the head a block is usually solidified; the chain itself reports the actual one. */
  finality?: number;
  /**
   * Maximum native units that one transaction may burn for energy, and maximum native units that a quote charges per unit of it.
   */
  maxFeeLimit: bigint;
  maxEnergyPrice: bigint;
  pace?: Partial<ChainPace>;
  deadlineMs?: number;
  maxResponseBytes?: number;
  /** HTTP client. */
  http?: Http;
}

export interface Tron {
  readonly code: string;
  readonly options: TronOptions;
  readonly ask: Ask;
  /** Deposit address by index. */
  readonly address: (index: bigint) => string;
}

/** Concurrent requests: the number that public providers accept. */
const AT_ONCE = 8;

/** Sends one request for each item, a few at a time. @returns the answers in order */
export async function each<T, R>(all: readonly T[], question: (one: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let at = 0; at < all.length; at += AT_ONCE)
    answers.push(...(await Promise.all(all.slice(at, at + AT_ONCE).map(question))));
  return answers;
}

/** Which kind of node answers: one that shows every block, or only solidified ones. */
export type From = 'wallet' | 'walletsolidity';

export async function newestBlock({ code, ask }: Tron, from: From): Promise<Block> {
  const answer = await ask(`${from}/getnowblock`);
  return reading(code, () => readBlock(answer));
}

/** @throws Unavailable if the node has no such block */
export async function blockAt({ code, ask }: Tron, number: bigint): Promise<Block> {
  const answer = await ask('wallet/getblock', { id_or_num: String(number), detail: false });
  return reading(code, () => {
    const block = readBlock(answer);
    if (block.number !== number) throw new Malformed('not the requested block');
    return block;
  });
}

/** A block's id begins with its number. */
export function readBlock(answer: unknown): Block {
  const block = object(answer, 'block');
  const raw = object(object(block.block_header, 'block_header').raw_data, 'block_header.raw_data');
  const hash = hexOf(block.blockID, 32, 'blockID');
  const number = count(raw.number, 'block.number');
  if (BigInt(`0x${hash.slice(0, 16)}`) !== number) throw new Malformed('blockID of another number');
  const ms = count(raw.timestamp, 'block.timestamp');
  // Beyond the year 9999: not a valid time.
  if (ms > 253_402_300_799_999n) throw new Malformed('block.timestamp');
  return { number, hash, parentHash: hexOf(raw.parentHash, 32, 'parentHash'), at: new Date(Number(ms)) };
}

/** Outcome of a transaction in its block. */
export interface Info {
  id: string;
  block: bigint;
  succeeded: boolean;
  /** Native units that were burnt for energy and bandwidth. */
  cost: bigint;
  logs: readonly unknown[];
}

/** A block with the ids of all its transactions. @throws Unavailable if the node has no such block */
export async function blockWithIds(
  { code, ask }: Tron,
  number: bigint,
  from: From,
): Promise<{ block: Block; ids: string[] }> {
  const answer = await ask(`${from}/getblockbynum`, { num: number });
  return reading(code, () => {
    const block = readBlock(answer);
    if (block.number !== number) throw new Malformed('not the requested block');
    const { transactions = [] } = object(answer, 'block');
    const ids = list(transactions, 'transactions').map((one) => hexOf(object(one, 'transaction').txID, 32, 'txID'));
    return { block, ids };
  });
}

/** All transactions of a block with their outcomes. A node that has no such block returns an empty list. */
export async function infosOf({ code, ask }: Tron, number: bigint, from: From): Promise<Info[]> {
  const answer = await ask(`${from}/gettransactioninfobyblocknum`, { num: number });
  // An empty block is answered with an empty list, or an empty object.
  return reading(code, () =>
    (Array.isArray(answer) ? list(answer, 'transactions') : []).map((one) => {
      const info = readInfo(one);
      if (info === undefined || info.block !== number) throw new Malformed('a transaction of another block');
      return info;
    }),
  );
}

/** Undefined if no block of this node contains it. */
export async function infoOf({ code, ask }: Tron, id: string, from: From): Promise<Info | undefined> {
  const answer = await ask(`${from}/gettransactioninfobyid`, { value: id });
  return reading(code, () => {
    const info = readInfo(answer);
    if (info !== undefined && info.id !== id) throw new Malformed('not the requested transaction');
    return info;
  });
}

function readInfo(answer: unknown): Info | undefined {
  const info = object(answer, 'transaction');
  if (info.id === undefined) return undefined;
  const receipt = object(info.receipt ?? {}, 'receipt');
  // A call reports its result. A plain transfer reports none, and has succeeded if it is in a block.
  const ended = receipt.result ?? 'SUCCESS';
  return {
    id: hexOf(info.id, 32, 'id'),
    block: count(info.blockNumber, 'blockNumber'),
    succeeded: info.result !== 'FAILED' && ended === 'SUCCESS',
    cost: amount(info.fee, 'fee'),
    logs: list(info.log ?? [], 'log'),
  };
}
