/**
 * Mined transactions of our wallets: by nonce, by hash, or all in a range of blocks.
 *
 * The block of a nonce is found by bisection, because the node says how many nonces were used at a block. A node without the
 * state of old blocks cannot say that; then blocks are read whole.
 */
import { assert, Unavailable } from '../../base/errors.ts';
import type { Fee, Receipt, SentTransaction } from '../chain.adapter.ts';
import {
  address20,
  bytesOf,
  count,
  hash32,
  list,
  Malformed,
  object,
  orUnavailable,
  quantity,
  type Rpc,
  RpcError,
} from './rpc.ts';
import { decodeTransferCall } from './transfers.ts';

/** Whole blocks per request; few, because they are large. */
const BLOCKS_AT_ONCE = 8n;

interface Deps {
  code: string;
  rpc: Rpc;
  ask<T>(method: string, params: unknown[][], read: (answer: unknown, at: number) => T): Promise<T[]>;
  receipts(hashes: readonly string[]): Promise<(Receipt | undefined)[]>;
  addressOf(wallet: string): string;
  /** A fee as stored. */
  feeOf(given: { gas: bigint; price: bigint; tip: bigint | undefined }): Fee;
}

type Bare = Omit<SentTransaction, 'succeeded' | 'cost' | 'blockAt'>;

const hex = (value: bigint): string => `0x${value.toString(16)}`;

export function sentBy({ code, rpc, ask, receipts, addressOf, feeOf }: Deps) {
  /** Number of nonces used at a block; undefined if the node does not have its state. */
  async function usedAt(address: string, block: bigint): Promise<bigint | undefined> {
    try {
      const answer = await rpc.call('eth_getTransactionCount', [address, hex(block)]);
      return orUnavailable(code, () => count(answer, 'nonce'));
    } catch (error) {
      if (error instanceof RpcError) return undefined;
      throw error;
    }
  }

  async function sentUnder(wallet: string, nonce: bigint, from: bigint, to: bigint) {
    const address = addressOf(wallet);
    const used = await usedAt(address, to);
    if (used === undefined) return 'no state' as const;
    if (used <= nonce) return undefined;
    let [low, high] = [from, to];
    while (low < high) {
      const middle = (low + high) / 2n;
      const there = await usedAt(address, middle);
      if (there === undefined) return 'no state' as const;
      if (there > nonce) high = middle;
      else low = middle + 1n;
    }
    const found = (await sentIn(wallet, low, low)).find((one) => one.nonce === nonce);
    if (found === undefined)
      throw new Unavailable(code, `the node says that block ${low} used nonce ${nonce}, and shows it not`);
    return found;
  }

  async function sentIn(wallet: string, from: bigint, to: bigint): Promise<SentTransaction[]> {
    const address = addressOf(wallet);
    const found: SentTransaction[] = [];
    for (let at = from; at <= to; at += BLOCKS_AT_ONCE) {
      const last = to < at + BLOCKS_AT_ONCE - 1n ? to : at + BLOCKS_AT_ONCE - 1n;
      const numbers = Array.from({ length: Number(last - at) + 1 }, (_, n) => at + BigInt(n));
      const blocks = await ask(
        'eth_getBlockByNumber',
        numbers.map((number) => [hex(number), true]),
        (answer) => {
          const { transactions, timestamp } = object(answer, 'block');
          const blockAt = timeOf(timestamp);
          return list(transactions, 'transactions').flatMap((one) => {
            const read = readSent(object(one, 'transaction'), address);
            return read === undefined ? [] : [{ ...read, blockAt }];
          });
        },
      );
      found.push(...(await ended(blocks.flat())));
    }
    return found;
  }

  async function sentAs(wallet: string, hash: string): Promise<SentTransaction | undefined> {
    if (!/^0x[0-9a-f]{64}$/.test(hash)) return undefined;
    const [bare] = await ask('eth_getTransactionByHash', [[hash]], (answer) => {
      if (answer === null) return undefined;
      const fields = object(answer, 'transaction');
      return fields.blockNumber === null ? undefined : readSent(fields, addressOf(wallet));
    });
    if (bare === undefined) return undefined;
    const [blockAt] = await ask('eth_getBlockByNumber', [[hex(bare.block), false]], (answer) =>
      timeOf(object(answer, 'block').timestamp),
    );
    assert(blockAt !== undefined, 'the node did not answer with a block');
    return (await ended([{ ...bare, blockAt }]))[0];
  }

  async function ended(bare: readonly (Bare & { blockAt: Date })[]): Promise<SentTransaction[]> {
    if (bare.length === 0) return [];
    const found = await receipts(bare.map(({ hash }) => hash));
    return bare.map((one, at) => {
      const receipt = found[at];
      if (receipt === undefined || receipt.block !== one.block)
        throw new Unavailable(code, 'the node shows a transaction and no receipt of it');
      return { ...one, succeeded: receipt.succeeded, cost: receipt.cost };
    });
  }

  function readSent(fields: Record<string, unknown>, address: string): Bare | undefined {
    if (address20(fields.from, 'transaction.from') !== address) return undefined;
    const target = fields.to === null || fields.to === undefined ? '' : address20(fields.to, 'transaction.to');
    const data = bytesOf(fields.input, 'transaction.input');
    const value = quantity(fields.value, 'transaction.value');
    const tip = fields.maxPriorityFeePerGas;
    return {
      hash: hash32(fields.hash, 'transaction.hash'),
      nonce: count(fields.nonce, 'transaction.nonce'),
      block: count(fields.blockNumber, 'transaction.blockNumber'),
      target,
      data,
      value,
      fee: feeOf({
        gas: quantity(fields.gas, 'transaction.gas'),
        price: quantity(fields.maxFeePerGas ?? fields.gasPrice, 'transaction.gasPrice'),
        tip: tip === undefined || tip === null ? undefined : quantity(tip, 'transaction.maxPriorityFeePerGas'),
      }),
      moved: movedBy({ target, data, value }),
    };
  }

  return { sentUnder, sentIn, sentAs };
}

/**
 * The transfer, if the call is exactly a plain native or token transfer. The effect of any other call depends on its contract.
 */
function movedBy({ target, data, value }: Pick<Bare, 'target' | 'data' | 'value'>): Bare['moved'] {
  if (target === '') return undefined;
  if (data.length === 0) return { contract: null, to: target, units: value };
  const call = value === 0n ? decodeTransferCall(data) : undefined;
  return call && { contract: target, ...call };
}

function timeOf(timestamp: unknown): Date {
  const seconds = quantity(timestamp, 'block.timestamp');
  // Beyond the year 9999: not a valid time.
  if (seconds > 253_402_300_799n) throw new Malformed('block.timestamp');
  return new Date(Number(seconds) * 1000);
}
