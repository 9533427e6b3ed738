/**
 * The chain: a node that may be killed and restored to an older state, customers' payments into it, and reads from it.
 *
 * Customers behave as wallets do: they broadcast a signed transaction again until it stays. So money that a reorg removed comes
 * back, by the very same transaction, and a lost deposit of an order can only be our fault.
 *
 * A branch is never replaced deeper than MOST_DEPTH below the highest head there ever was: finality (12 blocks) holds.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPublicClient, erc20Abi, type Hex, http, parseAbiItem } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { isGoneWithin, signal } from '../../src/base/processes.ts';
import { call, startNode } from '../../src/sandbox/nodes.ts';
import { newPhrase } from '../../src/signer/keys.ts';
import { type Anvil, data, deployToken } from '../support/anvil.ts';

export const FINALITY = 12;
/** A state that is kept may be four blocks older than the head was (sandbox/nodes.ts). */
const MOST_DEPTH = 6;
const CHAIN_ID = 31_337;
const GWEI = 10n ** 9n;
/** Older states kept for reorgs: a few more than the deepest reorg has blocks. */
const STATES_KEPT = 20;

const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');

export interface Paid {
  from: string;
  to: string;
  units: bigint;
  hash: string;
}

export type Chain = Awaited<ReturnType<typeof openChain>>;

// Long because `openChain` is one closure: node, payments and reads share the process that is killed.
export async function openChain(folder: string, chance: (below: number) => number) {
  const phrase = newPhrase();
  const node = await startNode(
    { code: 'base', chainId: CHAIN_ID },
    { dataDir: folder, mnemonic: phrase, blockMs: 300, idleMs: 1_000 },
  );
  const [operator, cold, payer] = [0, 1, 2].map((addressIndex) => mnemonicToAccount(phrase, { addressIndex }));
  if (operator === undefined || cold === undefined || payer === undefined) throw new Error('three accounts');
  const rpc = <T>(method: string, params: unknown[] = []) => call<T>(node.rpcUrl, method, params);
  const anvil: Anvil = {
    url: node.rpcUrl,
    chainId: BigInt(CHAIN_ID),
    rpc,
    mine: (blocks) => node.mine(blocks),
    send: ({ to, data: input, from }) =>
      rpc('eth_sendTransaction', [
        { from: from ?? operator.address, gas: '0x2dc6c0', data: input, ...(to === undefined ? {} : { to }) },
      ]),
    stop: () => node.stop(),
  };
  const token = await deployToken(anvil);
  const client = createPublicClient({ transport: http(node.rpcUrl, { retryCount: 5 }) });
  const head = async () => Number(await rpc<string>('eth_blockNumber'));

  const signed: Hex[] = [];
  let signing: Promise<unknown> = Promise.resolve();
  let stopped = false;
  let highest = 0;
  let sinceStart = 0;
  const states: { block: number; path: string }[] = [];
  const home = join(folder, 'chains', 'base');
  mkdirSync(join(folder, 'older'), { recursive: true });

  /** Saves states for reorgs, and broadcasts transactions that have not stayed. */
  async function look(turn: number): Promise<void> {
    const block = await head();
    highest = Math.max(highest, block);
    const saved = join(home, 'state.json.gz');
    if (existsSync(saved) && states.at(-1)?.block !== block) {
      const path = join(folder, 'older', `${turn % STATES_KEPT}.gz`);
      copyFileSync(saved, path);
      states.push({ block, path });
      if (states.length > STATES_KEPT) states.shift();
    }
    const nonce = Number(await rpc<string>('eth_getTransactionCount', [payer?.address, 'latest']));
    for (const raw of signed.slice(nonce, nonce + 50)) await rpc('eth_sendRawTransaction', [raw]).catch(() => {});
  }
  const looking = (async () => {
    for (let turn = 0; !stopped; turn += 1) {
      await look(turn).catch(() => {}); // it may be dead just now
      await sleep(500);
    }
  })();

  const transfers = async (): Promise<Paid[]> => {
    const logs = await client.getLogs({
      address: token as Hex,
      event: TRANSFER,
      fromBlock: 0n,
      strict: true,
    });
    return logs.map(({ args: { from, to, value }, transactionHash }) => ({
      from: from.toLowerCase(),
      to: to.toLowerCase(),
      units: value,
      hash: transactionHash,
    }));
  };

  return {
    anvil,
    token,
    url: node.rpcUrl,
    chainId: BigInt(CHAIN_ID),
    cold: cold.address.toLowerCase(),
    operator: operator.address,
    /** Native coin for the paying wallet. It is booked as found, so it is there first. */
    fuel: (hot: string) => rpc('anvil_setBalance', [hot, `0x${(1_000n * 10n ** 18n).toString(16)}`]),
    /** Tokens for the paying wallet, from the operator's own source, and for the customers. */
    async fund(hot: string, units: bigint): Promise<void> {
      const mint = (to: string) => anvil.send({ to: token, data: data('mint(address,uint256)', to, units) });
      await mint(cold.address);
      await mint(payer.address);
      await node.mine();
      await anvil.send({ from: cold.address, to: token, data: data('transfer(address,uint256)', hot, units) });
      await node.mine(FINALITY + 1);
    },
    /** A customer pays, once the chain keeps the transaction. */
    async pays(to: string, units: bigint): Promise<void> {
      signing = signing.then(async () => {
        const raw = await payer.signTransaction({
          type: 'legacy',
          chainId: CHAIN_ID,
          nonce: signed.length,
          to: token as Hex,
          data: data('transfer(address,uint256)', to, units) as Hex,
          gas: 100_000n,
          gasPrice: 50n * GWEI,
        });
        signed.push(raw);
      });
      await signing;
    },
    /** Whether all transactions that customers have signed are in the chain. */
    async isPaidIn(): Promise<boolean> {
      const nonce = Number(await rpc<string>('eth_getTransactionCount', [payer.address, 'latest']));
      return nonce === signed.length;
    },
    /** kill -9 of the node; it restarts from an older state. @returns by how many blocks, once it answers */
    async kill(): Promise<number> {
      const before = await head();
      highest = Math.max(highest, before);
      const older = states.filter(({ block }) => block < before && highest - block <= MOST_DEPTH);
      const deep = older.filter(({ block }) => before - block > 1);
      const among = deep.length > 0 ? deep : older;
      const state = among[chance(Math.max(1, among.length))];
      const { pid } = JSON.parse(readFileSync(join(home, 'node.json'), 'utf8')) as { pid: number };
      signal(pid, 'SIGKILL');
      await isGoneWithin(pid, 5_000);
      if (state !== undefined) copyFileSync(state.path, join(home, 'state.json.gz'));
      states.length = 0; // they belong to the abandoned branch
      for (const until = Date.now() + 30_000; ; await sleep(50)) {
        const back = await head().catch(() => undefined);
        if (back !== undefined) {
          sinceStart = back;
          return before - back;
        }
        if (Date.now() > until) throw new Error('the node does not come back');
      }
    },
    /** @returns how many blocks were replaced; none when the node has no state to return to */
    async reorg(): Promise<number> {
      const before = await head();
      highest = Math.max(highest, before);
      const deepest = Math.min(MOST_DEPTH - (highest - before), before - sinceStart - 1);
      if (deepest < 1) return 0;
      const blocks = 1 + chance(deepest);
      await node.reorg(blocks);
      states.length = 0;
      return blocks;
    },
    mine: (blocks: number) => node.mine(blocks),
    /** Every transfer of the token in the present branch. */
    transfers,
    async balance(address: string, isToken: boolean): Promise<bigint> {
      if (!isToken) return await client.getBalance({ address: address as Hex });
      const args = [address as Hex] as const;
      return await client.readContract({ address: token as Hex, abi: erc20Abi, functionName: 'balanceOf', args });
    },
    async stop() {
      stopped = true;
      await looking;
      await node.stop();
    },
  };
}
