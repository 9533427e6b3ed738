/**
 * Reading an EVM chain: its head, blocks, transfers and receipts.
 *
 * Everything decisive is requested by hash: logs by block hash, so they belong to the block that we follow and to no other.
 */
import { assert } from '../../base/errors.ts';
import type { Block, CoinPayment, Receipt, Transfer } from '../chain.adapter.ts';
import { ask, type Evm, hex, lower, refusedIsUnavailable } from './node.ts';
import { address20, count, hash32, list, Malformed, object, orUnavailable, quantity } from './rpc.ts';
import { decodeTransfer, placeOf, TRANSFER_TOPIC } from './transfers.ts';

/** Whole blocks per request; few, because they are large. */
const COIN_BLOCKS_AT_ONCE = 8n;

export async function head(evm: Evm) {
  const { code, rpc } = evm;
  const answers = await refusedIsUnavailable(evm, () =>
    rpc.batch([
      { method: 'eth_chainId', params: [] },
      { method: 'eth_getBlockByNumber', params: ['0x0', false] },
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
    ]),
  );
  return orUnavailable(code, () => ({
    chainId: quantity(answers[0], 'chainId'),
    genesisHash: readBlock(answers[1]).hash,
    newest: readBlock(answers[2]),
  }));
}

export async function blocks(evm: Evm, from: bigint, to: bigint): Promise<Block[]> {
  const numbers = Array.from({ length: Number(to - from) + 1 }, (_, at) => from + BigInt(at));
  return await ask(
    evm,
    'eth_getBlockByNumber',
    numbers.map((number) => [hex(number), false]),
    readBlock,
  );
}

export async function transfers(evm: Evm, within: readonly Block[], contracts: readonly string[]): Promise<Transfer[]> {
  const filters = within.map(({ hash }) => [{ blockHash: hash, address: contracts, topics: [TRANSFER_TOPIC] }]);
  const found = await ask(evm, 'eth_getLogs', filters, (logs, at) => {
    const block = within[at];
    assert(block, 'the node answered for more blocks than were requested');
    return list(logs, 'logs').flatMap((log): Transfer[] => {
      const place = placeOf(log);
      if (place.blockHash !== block.hash) throw new Malformed('a log of another block');
      const transfer = decodeTransfer(log);
      return transfer === undefined ? [] : [{ ...place, block: block.number, ...transfer }];
    });
  });
  return found.flat();
}

export async function transfersBetween(
  evm: Evm,
  from: bigint,
  to: bigint,
  contracts: readonly string[],
): Promise<Transfer[]> {
  if (contracts.length === 0) return [];
  const filter = { fromBlock: hex(from), toBlock: hex(to), address: contracts, topics: [TRANSFER_TOPIC] };
  const [found] = await ask(evm, 'eth_getLogs', [[filter]], (logs) =>
    list(logs, 'logs').flatMap((log): Transfer[] => {
      const block = quantity(object(log, 'log').blockNumber, 'log.blockNumber');
      if (block < from || block > to) throw new Malformed('a log of another block');
      const transfer = decodeTransfer(log);
      return transfer === undefined ? [] : [{ ...placeOf(log), block, ...transfer }];
    }),
  );
  return found ?? [];
}

/** A log's position in its transaction: its index in the block minus that of the transaction's first log. */
export async function positions(evm: Evm, of: readonly Transfer[]): Promise<number[]> {
  const { code } = evm;
  const hashes = [...new Set(of.map((transfer) => transfer.txHash))];
  const firsts = await ask(
    evm,
    'eth_getTransactionReceipt',
    hashes.map((hash) => [hash]),
    (answer) => {
      const receipt = object(answer, 'receipt');
      const logs = list(receipt.logs, 'receipt.logs').map(placeOf);
      const [first] = logs;
      if (first === undefined) throw new Malformed('a receipt without the requested log');
      return { blockHash: hash32(receipt.blockHash, 'receipt.blockHash'), logs, first: first.logIndex };
    },
  );
  const byHash = new Map(hashes.map((hash, at) => [hash, firsts[at]]));
  return orUnavailable(code, () =>
    of.map((transfer) => {
      const receipt = byHash.get(transfer.txHash);
      // The logs were requested by block hash, the receipt by transaction, so the receipt must name the same block.
      const there = receipt?.logs.some((log) => log.logIndex === transfer.logIndex);
      if (receipt === undefined || receipt.blockHash !== transfer.blockHash || !there) {
        throw new Malformed('a receipt from another branch');
      }
      return transfer.logIndex - receipt.first;
    }),
  );
}

export async function coinTo(evm: Evm, from: bigint, to: bigint, address: string): Promise<CoinPayment[]> {
  const found: CoinPayment[] = [];
  for (let at = from; at <= to; at += COIN_BLOCKS_AT_ONCE) {
    const last = lower(to, at + COIN_BLOCKS_AT_ONCE - 1n);
    const numbers = Array.from({ length: Number(last - at) + 1 }, (_, n) => at + BigInt(n));
    const paid = await ask(
      evm,
      'eth_getBlockByNumber',
      numbers.map((number) => [hex(number), true]),
      (block) =>
        list(object(block, 'block').transactions, 'transactions').flatMap((one): CoinPayment[] => {
          const { hash, from: payer, to: payee, value } = object(one, 'transaction');
          if (typeof payee !== 'string' || payee.toLowerCase() !== address) return [];
          const units = quantity(value, 'transaction.value');
          return units === 0n
            ? []
            : [{ txHash: hash32(hash, 'transaction.hash'), from: address20(payer, 'transaction.from'), units }];
        }),
    );
    found.push(...paid.flat());
  }
  if (found.length === 0) return found;
  // A failed transaction was charged for and moved nothing.
  const went = await receipts(
    evm,
    found.map(({ txHash }) => txHash),
  );
  return found.filter((_, at) => went[at]?.succeeded === true);
}

export const receipts = (evm: Evm, hashes: readonly string[]): Promise<(Receipt | undefined)[]> =>
  ask(
    evm,
    'eth_getTransactionReceipt',
    hashes.map((hash) => [hash]),
    readReceipt,
  );

export function readBlock(answer: unknown): Block {
  const block = object(answer, 'block');
  const seconds = quantity(block.timestamp, 'block.timestamp');
  // Beyond the year 9999: not a valid time.
  if (seconds > 253_402_300_799n) throw new Malformed('block.timestamp');
  return {
    number: count(block.number, 'block.number'),
    hash: hash32(block.hash, 'block.hash'),
    parentHash: hash32(block.parentHash, 'block.parentHash'),
    at: new Date(Number(seconds) * 1000),
  };
}

function readReceipt(answer: unknown): Receipt | undefined {
  if (answer === null) return undefined;
  const receipt = object(answer, 'receipt');
  const cost =
    quantity(receipt.gasUsed, 'receipt.gasUsed') * quantity(receipt.effectiveGasPrice, 'receipt.effectiveGasPrice');
  // More than the supply of any coin: it would not fit the column of costs.
  if (cost >= 2n ** 256n) throw new Malformed('receipt.effectiveGasPrice');
  return {
    block: count(receipt.blockNumber, 'receipt.blockNumber'),
    blockHash: hash32(receipt.blockHash, 'receipt.blockHash'),
    succeeded: quantity(receipt.status, 'receipt.status') === 1n,
    cost,
    moved: list(receipt.logs ?? [], 'receipt.logs').flatMap((log) => decodeTransfer(object(log, 'log')) ?? []),
  };
}
