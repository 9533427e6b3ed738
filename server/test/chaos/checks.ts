/**
 * The invariants at the end, counted from the chain's own logs and the bank's own records, and then from the books.
 *
 * Order by order, by the address or account that only this order has: value out is never above the promise, value back never
 * above the receipt, and one of the two happened once. Any other payment of chain or bank is unexplained. An order that has not
 * ended needs an open case that says so.
 */
import { systemClock } from '../../src/base/clock.ts';
import { openLog } from '../../src/base/log.ts';
import { evmChain } from '../../src/rails/evm/index.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { simulatedBankAt } from '../../src/rails/simulated/index.ts';
import { rails as openRails } from '../../src/registry.ts';
import { beyondCover, underWay, unmatched, unseen, untold } from '../simulation/checks.ts';
import { brokenBooks } from '../support/books.ts';
import { BANK, CURRENCY, deduplicatesForMs } from './bank.ts';
import { FINALITY } from './chain.ts';
import type { ChaosEnvironment } from './environment.ts';
import type { Made } from './load.ts';

export interface Verdict {
  /** In sentences; none is the goal. */
  paidTwice: string[];
  lost: string[];
  unexplained: string[];
  /** Books, events, reconciliation. */
  broken: string[];
  /** Not ended, with a case that says so. */
  left: string[];
}

/** The partner's view of an order that is over and paid. */
const PAID = { offramp: '6', onramp: '4' } as const;

interface Moved {
  cameIn: bigint;
  paidOut: bigint;
  refundedUnits: bigint;
  /** How often value left for it: payments of the bank that were not returned, transfers on the chain. */
  effects: number;
}

/**
 * A deposit that a reorg removes after its payout is a debt until a later block has it again, and its customer is blocked meanwhile.
 * @returns the customers who were refused as blocked and never had such a debt
 */
export async function blockedWithoutDebt(
  { look }: Pick<ChaosEnvironment, 'look'>,
  blocked: ReadonlySet<string>,
): Promise<string[]> {
  const debtors = await look<{ customer: string }>(
    `select distinct o.customer_id as customer from cases c join orders o on o.id = c.order_id where c.kind = 'customer_owes'`,
  );
  const known = new Set(debtors.map(({ customer }) => customer));
  return [...blocked]
    .filter((id) => !known.has(id))
    .map((id) => `customer ${id} was blocked, and has never owed anything`);
}

/** Work that has not ended, and the part of it that an open case covers. */
export async function whatIsLeft({
  look,
}: Pick<ChaosEnvironment, 'look'>): Promise<{ open: string[]; said: string[] }> {
  const [all, cases] = await Promise.all([
    underWay(look),
    look<{ order_id: bigint | null; subject: string; kind: string; reason: string | null }>(
      'select order_id, subject, kind, reason from cases where closed_at is null',
    ),
  ]);
  const saying = (text: string): string[] =>
    cases.filter((one) => speaksOf(one, text)).map(({ kind, reason }) => `${kind}: ${reason}`);
  // Work that has not failed is only a wake-up call: its subject is in this list itself, if it is under way.
  const left = all.filter((text) => !/^work .* 0 $/.test(text)).map((text) => ({ text, said: saying(text) }));
  return {
    open: left.filter(({ said }) => said.length === 0).map(({ text }) => text),
    said: left.filter(({ said }) => said.length > 0).map(({ text, said }) => `${text} (${said.join('; ')})`),
  };
}

/**
 * Whether a case is about this item that is under way. Deposits and refunds have small numbers, so a number alone proves nothing:
 * it also occurs in times and counts, and in keys of another kind.
 *
 * @param text one of `underWay`: a kind, possibly that of work, and a name, before the word `is`
 */
export function speaksOf(
  { order_id, subject }: { order_id: bigint | string | null; subject: string },
  text: string,
): boolean {
  const words = (text.split(' is ', 1)[0] ?? '').split(' ');
  const [kind, name = ''] = [words.slice(0, -1).join(' '), words.at(-1)];
  const [about, id = ''] = subject.includes(':') ? subject.split(/:(.*)/s) : ['rail', subject];
  const isOfOrder = (order: unknown): boolean =>
    name.startsWith(`pay_${order}_`) || (/\border/.test(kind.replaceAll('_', ' ')) && name === String(order));
  if (order_id !== null && isOfOrder(order_id)) return true;
  if (about === 'order' && isOfOrder(id)) return true;
  if (about === 'refund' && name.startsWith(`ref_${id}_`)) return true;
  // A key or a rail has one kind only, in every check.
  return name === id && (kind.includes(String(about)) || /[^0-9]/.test(id));
}

/** Once the servers have stopped. */
export async function judge(
  world: ChaosEnvironment,
  made: readonly Made[],
  statuses: ReadonlyMap<string, string>,
): Promise<Verdict> {
  const { open, said } = await whatIsLeft(world);
  const verdict: Verdict = { paidTwice: [], lost: [], unexplained: [], broken: [...open], left: said };
  await countOutside(world, made, statuses, verdict);
  const outside = (rail: string, wallet: string, asset: string) => balanceOf(world, rail, wallet, asset);
  const { db } = world;
  verdict.broken.push(...(await db.asSystem((tx) => brokenBooks(tx, outside))));
  verdict.broken.push(...(await db.asSystem(untold)), ...(await db.asSystem(unseen)));
  for (const rail of watching(world).values())
    verdict.broken.push(...(await unmatched({ db, clock: systemClock }, rail)));
  return verdict;
}

async function countOutside(
  world: ChaosEnvironment,
  made: readonly Made[],
  statuses: ReadonlyMap<string, string>,
  verdict: Verdict,
): Promise<void> {
  const [transfers, payments, credits] = await Promise.all([
    world.chain.transfers(),
    world.bank.payments(),
    world.bank.credits(),
  ]);
  const taken = payments.filter(({ state }) => state !== 'rejected');
  const outTo = new Map<string, { units: bigint; times: number }>();
  const add = (to: string, units: bigint): void => {
    const before = outTo.get(to) ?? { units: 0n, times: 0 };
    outTo.set(to, { units: before.units + units, times: before.times + 1 });
  };
  for (const { account, units, state } of taken) if (state !== 'returned') add(account, units);
  const cameTo = new Map<string, bigint>();
  for (const { from, to, units } of transfers) {
    if (from === world.hot.toLowerCase()) add(to, units);
    else cameTo.set(to, (cameTo.get(to) ?? 0n) + units);
  }

  const keys = new Map<string, number>();
  for (const { key } of taken) keys.set(key, (keys.get(key) ?? 0) + 1);
  for (const [key, times] of keys) if (times > 1) verdict.paidTwice.push(`the bank paid ${key} ${times} times`);

  const known = new Set<string>();
  const cases = await world.look<{ order_id: bigint | null }>('select order_id from cases where closed_at is null');
  for (const one of made) {
    known.add(one.payoutTo).add(one.refundTo);
    const [out, back] = [outTo.get(one.payoutTo), outTo.get(one.refundTo)];
    const cameIn =
      one.direction === 'offramp'
        ? (cameTo.get(one.depositTarget) ?? 0n)
        : credits.reduce((sum, { text, units }) => (text.includes(one.depositTarget) ? sum + units : sum), 0n);
    const moved: Moved = {
      cameIn,
      paidOut: out?.units ?? 0n,
      refundedUnits: back?.units ?? 0n,
      effects: (out?.times ?? 0) + (back?.times ?? 0),
    };
    if (moved.effects > 1) verdict.paidTwice.push(`order ${one.id}: value left for it ${moved.effects} times`);
    const beyond = beyondCover(one.id, [one], moved);
    if (beyond !== undefined) verdict.paidTwice.push(beyond);
    const isPaid = moved.paidOut === one.payoutUnits;
    if (isPaid !== (statuses.get(one.id) === PAID[one.direction]))
      verdict.broken.push(`order ${one.id}: ${moved.paidOut} went out, and the wire shows ${statuses.get(one.id)}`);
    const isWhole = isPaid || (moved.paidOut === 0n && moved.refundedUnits === moved.cameIn);
    const hasCase = cases.some(({ order_id }) => String(order_id) === one.id);
    if (cameIn > 0n && !isWhole && !hasCase)
      verdict.lost.push(
        `order ${one.id}: ${cameIn} of ${one.depositUnits} came in, ${moved.paidOut} of ${one.payoutUnits} went out, ${moved.refundedUnits} back`,
      );
    if (one.paid && cameIn < one.depositUnits)
      verdict.unexplained.push(`order ${one.id}: ${one.depositUnits} was paid, and ${cameIn} came in`);
  }
  for (const [to, { units }] of outTo)
    if (!known.has(to)) verdict.unexplained.push(`${units} went to ${to}, which belongs to no order that was made`);
}

/** The balance of a wallet at chain or bank: the chain's state and the bank's balance. */
async function balanceOf(
  world: ChaosEnvironment,
  rail: string,
  wallet: string,
  asset: string,
): Promise<bigint | undefined> {
  if (rail === BANK) return await world.bank.balance(CURRENCY);
  const isToken = asset.startsWith('usdc.');
  if (wallet === 'hot') return await world.chain.balance(world.hot, isToken);
  const addresses = await world.look<{ address: string }>('select address from deposit_addresses where rail = $1', [
    rail,
  ]);
  let sum = 0n;
  for (const { address } of addresses) sum += await world.chain.balance(address, isToken);
  return sum;
}

/** The rails as a server has them, without keys: they can only read. */
function watching({ db, vault, chain, bank, hot, xpub }: ChaosEnvironment): ReadonlyMap<string, Rail> {
  return openRails(
    {
      chains: [
        evmChain({
          code: 'evm.base',
          chain: 'base',
          rpcUrl: chain.url,
          chainId: chain.chainId,
          xpub,
          finality: FINALITY,
          maxGasPrice: 500n * 10n ** 9n,
          addresses: { hot },
        }),
      ],
      banks: [
        simulatedBankAt({
          code: BANK,
          url: bank.url,
          token: bank.token,
          deduplicatesForMs: deduplicatesForMs(bank.mode),
        }),
      ],
    },
    {
      db,
      clock: systemClock,
      log: openLog('silent'),
      vault,
      pollMs: 500,
      report: () => Promise.reject(new Error('who only looks reports nothing')),
    },
  );
}
