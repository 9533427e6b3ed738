/**
 * A chain in memory, for faults that a real node cannot produce: lies, contradictions and arbitrary forks.
 * It can only be watched; sending is tested on a real node (test/rails/evm.test.ts).
 */
import { createHash } from 'node:crypto';
import { Unavailable } from '../../src/base/errors.ts';
import {
  type AccountChain,
  type Block,
  type ChainAdapter,
  type ChainPace,
  PACE,
  type Transfer,
} from '../../src/rails/chain.adapter.ts';

export interface Paid {
  txHash: string;
  to: string;
  units: bigint;
  contract?: string;
  from?: string;
  /** Position among the logs of its transaction. */
  position?: number;
}

interface FakeBlock extends Block {
  paid: readonly Paid[];
}

export const TOKEN = '0xtoken';

const sendsNothing = (): never => {
  throw new Error('the chain in memory sends nothing');
};

export function fakeChain(options: { finality: number; pace?: Partial<ChainPace> }) {
  let branch = 0;
  const encrypted = (number: bigint, parentHash: string, paid: readonly Paid[]): FakeBlock => {
    branch += 1;
    const hash = `0x${createHash('sha256').update(`${number} ${parentHash} ${branch}`).digest('hex')}`;
    return { number, hash, parentHash, paid, at: new Date() };
  };
  let chain: FakeBlock[] = [encrypted(0n, '0x', [])];
  /** Every block that ever existed, because a node knows orphaned ones too. */
  const all = new Map<string, FakeBlock>(chain.map((block) => [block.hash, block]));

  const at = (number: bigint): FakeBlock => {
    const block = chain[Number(number)];
    if (block === undefined) throw new Unavailable('fake', `no block ${number}`);
    return block;
  };
  const adapter = {
    code: 'fake.chain',
    chain: 'fake',
    chainId: 7n,
    finality: options.finality,
    pace: { ...PACE, nativeEveryMs: 0, idleMs: 0, ...options.pace },
    wallets: {} as ChainAdapter['wallets'],
    canSend: () => false,
    readAddress: (text: string) => text,
    address: (index: bigint) => `0xdeposit${index}`,
    head: async () => ({ chainId: 7n, genesisHash: at(0n).hash, newest: at(BigInt(chain.length - 1)) as Block }),
    blocks: async (from: bigint, to: bigint): Promise<Block[]> => {
      const found: Block[] = [];
      for (let number = from; number <= to; number += 1n) found.push(at(number));
      return found;
    },
    transfers: async (blocks: readonly Block[], contracts: readonly string[]): Promise<Transfer[]> =>
      blocks.flatMap(({ hash }) => {
        const block = all.get(hash);
        if (block === undefined) throw new Unavailable('fake', 'unknown block');
        return block.paid.flatMap((paid, logIndex): Transfer[] => {
          const { txHash, to, units, contract = TOKEN, from = '0xpayer' } = paid;
          const { number } = block;
          return contracts.includes(contract)
            ? [{ txHash, from, to, units, contract, logIndex, block: number, blockHash: hash }]
            : [];
        });
      }),
    positions: async (transfers: readonly Transfer[]): Promise<number[]> =>
      transfers.map(({ blockHash, logIndex }) => all.get(blockHash)?.paid[logIndex]?.position ?? 0),
    balances: async (_: string | null, addresses: readonly string[]): Promise<bigint[]> => addresses.map(() => 0n),
    nativeBalancesAt: async (_: Block, addresses: readonly string[]): Promise<bigint[] | undefined> =>
      addresses.map(() => 0n),
    gasPrice: async () => 1n,
    call: sendsNothing,
    prepare: sendsNothing,
    gasFor: sendsNothing,
    sign: sendsNothing,
    broadcast: sendsNothing,
    replace: sendsNothing,
    fates: sendsNothing,
    sentAs: sendsNothing,
    account: { nonces: sendsNothing, sentUnder: sendsNothing, sentIn: sendsNothing } as AccountChain,
  } satisfies ChainAdapter;

  return {
    /** A test may replace its methods to make it lie. */
    adapter: adapter as { -readonly [K in keyof typeof adapter]: (typeof adapter)[K] },
    height: () => BigInt(chain.length - 1),
    at,
    blocks: () => chain as readonly FakeBlock[],
    mine(...paid: Paid[]) {
      const last = at(BigInt(chain.length - 1));
      const block = encrypted(last.number + 1n, last.hash, paid);
      all.set(block.hash, block);
      chain = [...chain, block];
    },
    mineEmpty(count: number) {
      for (let i = 0; i < count; i += 1) this.mine();
    },
    /** Removes the newest blocks; their transactions are gone until they are mined again. */
    drop(depth: number) {
      chain = chain.slice(0, chain.length - depth);
    },
    /** Starts a different chain, as after the loss of a node's data. */
    restart() {
      chain = [encrypted(0n, '0x', [])];
      for (const block of chain) all.set(block.hash, block);
    },
    /** A snapshot of the node's present state. */
    snapshot: () => chain,
    revert(to: FakeBlock[]) {
      chain = to;
    },
  };
}

export type FakeChain = ReturnType<typeof fakeChain>;
