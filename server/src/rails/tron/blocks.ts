/**
 * Reading Tron: its head, the solidified block, blocks, and the token transfers in them.
 *
 * Outcomes of transactions are requested by block number, because the API offers nothing else, and a node that lags answers as if
 * the block were empty. So the block itself is read afterwards: it must be the requested one, and contain no transaction whose
 * outcome is missing.
 */
import { Unavailable } from '../../base/errors.ts';
import type { Block, SentTransaction, Transfer } from '../chain.adapter.ts';
import { decodeTransfer } from '../erc20.ts';
import { addressOf } from './addresses.ts';
import { hexOf, object, reading } from './http.ts';
import { blockAt, blockWithIds, each, type From, infoOf, infosOf, newestBlock, type Tron } from './node.ts';
import { decodeRawData } from './protobuf.ts';
import { movedBy } from './signer.ts';

/** The head is read last, so it is never older than the solidified block that was requested before it. */
export async function head(tron: Tron) {
  const genesis = await blockAt(tron, 0n);
  const final = await newestBlock(tron, 'walletsolidity');
  const newest = await newestBlock(tron, 'wallet');
  return {
    chainId: BigInt(`0x${genesis.hash.slice(-8)}`),
    genesisHash: genesis.hash,
    newest,
    final: final.number < newest.number ? final.number : newest.number,
  };
}

const range = (from: bigint, to: bigint): bigint[] =>
  Array.from({ length: Number(to - from) + 1 }, (_, at) => from + BigInt(at));

export const blocks = (tron: Tron, from: bigint, to: bigint): Promise<Block[]> =>
  each(range(from, to), (number) => blockAt(tron, number));

export async function transfers(
  tron: Tron,
  within: readonly Block[],
  contracts: readonly string[],
): Promise<Transfer[]> {
  const found = await each(within, async ({ number, hash }) => {
    const { moved, blockHash } = await transfersIn(tron, number, 'wallet', contracts);
    if (blockHash !== hash) throw new Unavailable(tron.code, `block ${number} was replaced while it was read`);
    return moved;
  });
  return found.flat();
}

/** Transfers in final blocks, requested by number. */
export async function transfersBetween(
  tron: Tron,
  from: bigint,
  to: bigint,
  contracts: readonly string[],
): Promise<Transfer[]> {
  if (contracts.length === 0) return [];
  const found = await each(range(from, to), (number) => transfersIn(tron, number, 'walletsolidity', contracts));
  return found.flatMap(({ moved }) => moved);
}

/** A log's index here is its index in the transaction, which is its position. */
async function transfersIn(
  tron: Tron,
  number: bigint,
  from: From,
  contracts: readonly string[],
): Promise<{ moved: Transfer[]; blockHash: string }> {
  const wanted = new Set(contracts);
  const infos = await infosOf(tron, number, from);
  const { block, ids } = await blockWithIds(tron, number, from);
  const told = new Set(infos.map(({ id }) => id));
  if (!ids.every((id) => told.has(id)))
    throw new Unavailable(tron.code, `the node does not say what all transactions of block ${number} did`);
  const blockHash = block.hash;
  const inBlock = new Set(ids);
  const moved = infos
    .filter(({ id }) => inBlock.has(id))
    .filter(({ succeeded }) => succeeded)
    .flatMap(({ id, logs }) =>
      logs.flatMap((log, logIndex) => {
        const transfer = readLog(log);
        if (transfer === undefined) return [];
        const contract = addressOf(transfer.contract);
        if (!wanted.has(contract)) return [];
        const { units } = transfer;
        const [payer, payee] = [addressOf(transfer.from), addressOf(transfer.to)];
        return [{ txHash: id, block: number, blockHash, logIndex, contract, from: payer, to: payee, units }];
      }),
    );
  return { moved, blockHash };
}

/** Tron writes the same logs as EVM chains, without `0x`. */
function readLog(log: unknown): ReturnType<typeof decodeTransfer> {
  if (typeof log !== 'object' || log === null) return undefined;
  const { address, topics, data } = log as { address?: unknown; topics?: unknown; data?: unknown };
  if (!Array.isArray(topics)) return undefined;
  return decodeTransfer({ address: `0x${address}`, topics: topics.map((topic) => `0x${topic}`), data: `0x${data}` });
}

/** The transaction that a wallet of ours sent under a hash. */
export async function sentAs(tron: Tron, owner: string, hash: string): Promise<SentTransaction | undefined> {
  if (!/^[0-9a-f]{64}$/.test(hash)) return undefined;
  const answer = await tron.ask('wallet/gettransactionbyid', { value: hash });
  const raw = reading(tron.code, () => {
    const { raw_data_hex } = object(answer, 'transaction');
    if (typeof raw_data_hex !== 'string') return undefined;
    return decodeRawData(Buffer.from(hexOf(raw_data_hex, raw_data_hex.length / 2, 'raw_data_hex'), 'hex'));
  });
  const info = raw?.owner === owner ? await infoOf(tron, hash, 'wallet') : undefined;
  if (raw === undefined || info === undefined) return undefined;
  const { at } = await blockAt(tron, info.block);
  const { target, data, value, feeLimit } = raw;
  const moved = movedBy(raw);
  return {
    hash,
    nonce: null,
    block: info.block,
    blockAt: at,
    target,
    data,
    value,
    fee: { limit: String(feeLimit) },
    succeeded: info.succeeded,
    cost: info.cost,
    moved: typeof moved === 'string' ? undefined : moved,
  };
}
