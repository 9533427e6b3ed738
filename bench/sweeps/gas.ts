/**
 * `node bench/sweeps/gas.ts [sizes]`: gas per deposit of each way to sweep, on a node of its own.
 *
 * Gas depends on nothing but the bytes, so one run is enough and each machine measures the same. For each way, batches of several
 * sizes sweep addresses that were never used, and then the same addresses again after a second deposit. The hot wallet's balance
 * proves that the tokens have arrived. Table for docs/decisions/0100-batched-sweeps.md.
 */
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Hex } from '../../server/test/support/anvil.ts';
import { type Chain, type Contract, type Cost, call, HOT, openChain, UNITS } from './chain.ts';
import { type Deposits, TODAY, WAYS, type Way } from './ways.ts';

const SIZES = [1, 10, 50, 100] as const;
const SWEEPS = 2;

export interface Measured {
  token: string;
  way: string;
  size: number;
  /** Of the first sweep of an address, and of the second. */
  perDeposit: PerDeposit[];
}

interface PerDeposit {
  /** By the node's receipts. */
  gas: number;
  /** By the rule of EIP-7702, where the node differs (see `byRule`). */
  gasByRule: number;
  /** Of the signed transactions: what a rollup pays its parent chain for. */
  bytes: number;
}

interface Token {
  name: string;
  contract: Contract;
  isSigned: boolean;
}

/** @param filter whether to measure a way with a token */
export async function measureGas(
  sizes: readonly number[] = SIZES,
  filter: (way: Way, token: string) => boolean = () => true,
): Promise<Measured[]> {
  const chain = await openChain();
  try {
    const found: Measured[] = [];
    for (const token of await tokensOn(chain))
      for (const way of WAYS) {
        if ((way.needs === 'signed' && !token.isSigned) || !filter(way, token.name)) continue;
        const open = await way.open(chain, token.contract);
        for (const size of sizes) {
          const swept = await sweptTwice(chain, token.contract, await open(size));
          const perDeposit = swept.map(({ gas, bytes }, at) => ({
            gas: gas / size,
            gasByRule: (at === 0 && way.isNew === true ? byRule(gas, size) : gas) / size,
            bytes: bytes / size,
          }));
          found.push({ token: token.name, way: way.name, size, perDeposit });
        }
      }
    return found;
  } finally {
    await chain.stop();
  }
}

async function tokensOn(chain: Chain): Promise<Token[]> {
  const signed = await chain.deploy('SignedToken', [await first(chain)]);
  // The sandbox's artifact describes its constructor only.
  const plain = { ...(await chain.deployPlain()), abi: signed.abi };
  const guarded = await chain.deploy('GuardedToken');
  const proxy = { ...(await chain.deploy('GuardedProxy', [guarded.address])), abi: guarded.abi };
  await chain.anvil.send({ to: proxy.address, data: call(proxy, 'mint', [await first(chain), 10n ** 24n]) });
  await chain.anvil.mine();
  const all = [
    { name: 'plain', contract: plain, isSigned: false },
    { name: 'signed', contract: signed, isSigned: true },
    { name: 'guarded', contract: proxy, isSigned: false },
  ];
  // The hot wallet of a running operator has some of each token: its first balance would cost 17,100 more.
  for (const { contract } of all) await chain.pay(contract, [HOT.address]);
  return all;
}

const first = async ({ anvil }: Chain): Promise<Hex> =>
  (await anvil.rpc<Hex[]>('eth_accounts'))[0] ?? Promise.reject(new Error('the node has no account'));

/** Gas of each sweep. @throws if any unit has not arrived */
async function sweptTwice(chain: Chain, token: Contract, { addresses, sweep }: Deposits): Promise<Cost[]> {
  const costs: Cost[] = [];
  for (let nth = 1; nth <= SWEEPS; nth += 1) {
    await chain.pay(token, addresses);
    const before = await chain.balance(token, HOT.address);
    costs.push(await sweep(nth));
    const came = (await chain.balance(token, HOT.address)) - before;
    if (came !== UNITS * BigInt(addresses.length)) throw new Error(`sweep ${nth} has moved ${came} units`);
  }
  return costs;
}

/** EIP-3529: at most a fifth of a transaction's gas is refunded. */
const MOST_REFUNDED = 5;
/** Refund for a balance that becomes zero (EIP-3529), and for an authorization of an account that existed (EIP-7702). */
const CLEARED = 4_800;
const EXISTED = 12_500;

/**
 * Gas of a batch that delegates accounts which never existed. EIP-7702 refunds half of an authorization's 25,000 only if the account
 * exists in the state. anvil 1.7.1 refunds it always, so its receipts are too low: we take its refund off and the right one on.
 */
export function byRule(gas: number, size: number): number {
  const uncapped = gas + size * (CLEARED + EXISTED);
  const isCapped = size * (CLEARED + EXISTED) > uncapped / MOST_REFUNDED;
  const spent = isCapped ? (gas * MOST_REFUNDED) / (MOST_REFUNDED - 1) : uncapped;
  return spent - Math.min(size * CLEARED, spent / MOST_REFUNDED);
}

/**
 * Markdown, one table per token: first sweep / second sweep of the same address. The share is that of today's way with the same
 * token in the largest batch.
 */
export function tables(all: readonly Measured[]): string {
  const sizes = [...new Set(all.map(({ size }) => size))];
  const last = sizes.at(-1) ?? 0;
  const out: string[] = [];
  for (const token of new Set(all.map((one) => one.token))) {
    const mine = all.filter((one) => one.token === token);
    const of = (way: string, size: number): PerDeposit[] =>
      mine.find((one) => one.way === way && one.size === size)?.perDeposit ?? [];
    const both = (way: string, size: number, read: (one: PerDeposit) => number): string =>
      of(way, size)
        .map((one) => whole(read(one)))
        .join(' / ');
    out.push(
      `Gas per deposit, ${token} token`,
      '',
      `| batch of | ${sizes.join(' | ')} | share of today | bytes |`,
      `|---|${sizes.map(() => '--:|').join('')}--:|--:|`,
    );
    for (const way of new Set(mine.map((one) => one.way))) {
      const shares = of(way, last).map(
        (one, nth) => (100 * one.gasByRule) / (of(TODAY.name, last)[nth]?.gasByRule ?? 0),
      );
      const cells = [
        ...sizes.map((size) => both(way, size, (one) => one.gasByRule)),
        `${shares.map(whole).join(' / ')} %`,
        both(way, last, (one) => one.bytes),
      ];
      out.push(`| ${way} | ${cells.join(' | ')} |`);
      if (of(way, last).some((one) => one.gas !== one.gasByRule))
        out.push(
          `| *the same by the node's receipts* | ${sizes.map((size) => both(way, size, (one) => one.gas)).join(' | ')} | | |`,
        );
    }
    out.push('');
  }
  return out.join('\n');
}

const whole = (gas: number): string => Math.round(gas).toLocaleString('en');

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const sizes = parseArgs({ allowPositionals: true }).positionals.map(Number);
  process.stdout.write(`${tables(await measureGas(sizes.length > 0 ? sizes : SIZES))}\n`);
}
