/**
 * A node for the follower's pair: answers the JSON-RPC requests of one generated chain, and does nothing else. Every block has
 * a fixed number of transfers of one token, and one in EVERY goes to one of our addresses.
 *
 * It is a process of its own, so that its time is not counted. It derives our addresses from the xpub, like the follower.
 */
import { createServer } from 'node:http';
import { addressesOf } from '../server/src/rails/evm/addresses.ts';
import { TRANSFER_TOPIC } from '../server/src/rails/evm/transfers.ts';
import { CHAIN_ID, type Shape, TOKEN, TRANSFERS_IN_A_BLOCK } from './follower.shape.ts';

const { blocks, ours, xpub } = JSON.parse(process.env.SHAPE ?? '{}') as Shape;
const derive = addressesOf(xpub);
const addresses = Array.from({ length: ours }, (_, at) => derive(BigInt(at)));
/** One in this many transfers goes to one of our addresses. */
const EVERY = Math.floor((blocks * TRANSFERS_IN_A_BLOCK) / ours);
const START_S = 1_700_000_000;

const word = (value: bigint | number | string): string => BigInt(value).toString(16).padStart(64, '0');
const hashOf = (kind: 'b' | 'c', number: number): string => `0x${kind}${word(number).slice(1)}`;
const hex = (value: number): string => `0x${value.toString(16)}`;

const block = (number: number) => ({
  number: hex(number),
  hash: hashOf('b', number),
  parentHash: hashOf('b', Math.max(0, number - 1)),
  timestamp: hex(START_S + number * 2),
  transactions: [],
});

function log(number: number, at: number) {
  const nth = (number - 1) * TRANSFERS_IN_A_BLOCK + at;
  const to = nth % EVERY === 0 ? addresses[nth / EVERY] : undefined;
  return {
    address: TOKEN,
    topics: [TRANSFER_TOPIC, `0x${word(nth + 1)}`, `0x${word(to ?? 10n ** 30n + BigInt(nth))}`],
    data: `0x${word(1_000_000 + nth)}`,
    blockNumber: hex(number),
    blockHash: hashOf('b', number),
    transactionHash: hashOf('c', nth),
    transactionIndex: hex(at),
    logIndex: hex(at),
    removed: false,
  };
}

const logsOf = (number: number) =>
  number === 0 ? [] : Array.from({ length: TRANSFERS_IN_A_BLOCK }, (_, at) => log(number, at));

/** The number encoded in a hash that this node has made. */
const numberIn = (hash: string): number => Number(BigInt(`0x${hash.slice(3)}`));

function logs({ blockHash, fromBlock, toBlock }: Record<string, string>) {
  if (blockHash !== undefined) return logsOf(numberIn(blockHash));
  const [from, to] = [Number(fromBlock), Number(toBlock)];
  return Array.from({ length: to - from + 1 }, (_, at) => logsOf(from + at)).flat();
}

function receipt(hash: string) {
  const nth = numberIn(hash);
  const number = Math.floor(nth / TRANSFERS_IN_A_BLOCK) + 1;
  const only = log(number, nth % TRANSFERS_IN_A_BLOCK);
  return { blockNumber: only.blockNumber, blockHash: only.blockHash, logs: [only] };
}

/** Answers by method, from its first parameter. */
const ANSWERS: Readonly<Record<string, (first: never) => unknown>> = {
  eth_chainId: () => hex(CHAIN_ID),
  eth_getBlockByNumber: (number: string) => block(number === 'latest' ? blocks : Number(number)),
  eth_getLogs: logs,
  eth_getTransactionReceipt: receipt,
};

interface Asked {
  id: number;
  method: string;
  params: [never];
}

const server = createServer(async (request, reply) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  const answer = ({ id, method, params }: Asked) => ({ jsonrpc: '2.0', id, result: ANSWERS[method]?.(params[0]) });
  const asked = JSON.parse(text) as Asked | Asked[];
  reply.setHeader('content-type', 'application/json');
  reply.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)));
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, addresses }),
);
