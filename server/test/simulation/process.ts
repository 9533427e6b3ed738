/**
 * One of our processes: the modules as server.ts composes them, real except for the outside. It may be ended at any point, and
 * the next one continues from the rows.
 */
import pino from 'pino';
import type { Clock } from '../../src/base/clock.ts';
import { Unavailable } from '../../src/base/errors.ts';
import type { Handlers } from '../../src/base/jobs.ts';
import { startWorkers } from '../../src/base/workers.ts';
import { magicScreener, openScreener, type Screener, type Screening } from '../../src/compliance/index.ts';
import { enqueueRecurring, POLLS, recurringHandlers } from '../../src/composition/recurring.ts';
import { comparePayer, openPayee, waitsUntil } from '../../src/customers/index.ts';
import { peopleNeeded } from '../../src/operators/index.ts';
import { type OrdersContext } from '../../src/orders/context.ts';
import {
  askBeforeSigning,
  askGate,
  lockOrdersOf,
  type Orders,
  openOrders,
  orderFacts,
  orderHandlers,
} from '../../src/orders/index.ts';
import { type PriceSource, quoteHandlers } from '../../src/quotes/index.ts';
import { fixedSource } from '../../src/quotes/sources/fixed.ts';
import { bankRail } from '../../src/rails/bank.ts';
import type { ChainAdapter, RailContext } from '../../src/rails/chain.adapter.ts';
import { type ChainRail, chainRail, TRANSFER_KEY } from '../../src/rails/chain.ts';
import { openSubmissions, type PayoutContext, payoutHandlers } from '../../src/rails/payouts.ts';
import type { Rail, Report } from '../../src/rails/rail.ts';
import {
  askTransfer,
  bookOpening,
  openMovements,
  openTransfers,
  sweepHandlers,
  type TransferRules,
  takeOwnTransfer,
  takeReturned,
  takeTransfer,
  transferHandlers,
} from '../../src/treasury/index.ts';
import { gateRules } from '../support/gate.ts';
import type { Noted } from './actors.ts';
import type { Backends, SimulatedProcess } from './database.ts';
import type { Faults } from './faults.ts';
import { vault } from './ground.ts';
import { type Guard, PEOPLE } from './guard.ts';
import type { BankEnvironment } from './outside.bank.ts';
import { type ChainEnvironment, tokensIn } from './outside.chain.ts';
import { OWN_COOLING_OFF_MS } from './own.ts';
import type { Nameless } from './references.ts';
import type { Scheduler } from './scheduler.ts';
import type { Signing } from './signing.ts';
import type { Stops } from './stops.ts';
import type { Wild } from './wild.ts';

export interface OurProcess extends SimulatedProcess {
  clockOffsetMs: number;
  /** Of jobs that it runs. */
  kinds: readonly string[];
  context: OrdersContext;
  orders: Orders;
  /** Operators' decisions about transactions that the chain has and the books lack. */
  movements: ReturnType<typeof openMovements>;
  /** Operators' decisions about addresses outside this server and transfers to them. */
  transfers: ReturnType<typeof openTransfers>;
}

/** Recurring jobs with longer intervals here: more often costs steps and finds the same. */
const AT_LEAST_MS: Readonly<Record<string, number>> = {
  overdue_orders: 60_000,
  seal: 60_000,
  refresh_gas: 30_000,
  refresh_prices: 20_000,
  watch_prices: 60_000,
  observe_rail: 9_000,
};

const SWEEP_MS = 20_000;

export interface Environment {
  scheduler: Scheduler;
  backends: Backends;
  faults: Faults;
  bank: BankEnvironment;
  chain: ChainEnvironment;
  guard: Guard;
  signing: Signing;
  /** What people have laid, and lifted. */
  stops: Stops;
  /** Destinations that the screener was asked about, with the order or refund: `<id> account:<id>`; and when it answered last. */
  screened: Map<string, number>;
  /** Called with every question to the screener, which waits before it answers. */
  asked?: (input: Screening) => Promise<void> | undefined;
  /** Whether the payer by bank names the order now (references.ts). */
  forgotten?: (one: Noted) => Nameless | undefined;
  /** Called with every payment of a customer by the bank (parts.ts). */
  paidByBank: (one: Noted, line: string, units: bigint) => void;
  /** Called with a send that was not answered. */
  unanswered: (rail: string) => void;
  /** Present prices, as a difference from the table's in basis points. */
  priceBps: () => number;
  /** The source says wild prices for a while (wild.ts). */
  wild?: Pick<Wild, 'fed'> | undefined;
  /** The gate asks whether a destination waits for its customer. */
  waits: boolean;
  /** How long a result of the screener is valid; the usual time by default (rules.ts). */
  screeningMaxAgeMs?: number | undefined;
  /** Called with errors thrown by handlers, and logged errors. */
  complain: (what: string, error: unknown) => void;
}

/** Composes a process. @param works whether it runs workers: an observer does not */
export function startProcess(world: Environment, name: string, works: boolean): OurProcess {
  const { scheduler, backends, bank } = world;
  const process: SimulatedProcess & { clockOffsetMs: number } = {
    name,
    dead: false,
    frozenUntil: 0,
    listeners: new Set(),
    sessions: new Set(),
    clockOffsetMs: 0,
  };
  const clock: Clock = { now: () => new Date(scheduler.time.now() + process.clockOffsetMs) };
  const log = pino({ level: 'error', base: null }, { write: (line: string) => world.complain('logged', line) });
  const db = backends.open(process);
  let rails: ReadonlyMap<string, Rail> = new Map();
  let chains: ReadonlyMap<string, ChainRail> = new Map();
  // As composition/rails.ts connects them.
  const report: Report = async (tx, fact) => {
    const isCredit = fact.type === 'credit_unexpected' || fact.type === 'funding_confirmed';
    const left = isCredit ? await takeReturned({ clock, rails }, tx, fact) : fact;
    if (left === undefined) return;
    await orderFacts(
      { rails, clock, comparePayer: (tx2, id, text) => comparePayer(tx2, vault, id, text) },
      (tx2, own) =>
        own.key.startsWith(TRANSFER_KEY)
          ? takeTransfer({ clock, rails }, tx2, own)
          : takeOwnTransfer({ clock, chains }, tx2, own),
    )(tx, left);
  };
  const mayLeave: RailContext['mayLeave'] = async (tx, what) => {
    const answer = what.key.startsWith(TRANSFER_KEY)
      ? await askTransfer({ clock, rules: transfers }, tx, what)
      : await askBeforeSigning(context, tx, what);
    if (answer.outcome === 'pay') world.signing.lets(name, what.key);
    return answer;
  };
  const railContext = { db, clock, log, report, vault, pollMs: 5_000, lockOrders: lockOrdersOf };
  const onChain = guardedChain(world, chainRail(offering(world, name), { ...railContext, mayLeave }));
  const atBank = bankRail(bank.adapter(), railContext);
  rails = new Map<string, Rail>([onChain, atBank].map((rail) => [rail.code, guarded(world, rail)]));
  chains = new Map([[onChain.code, onChain]]);
  const base = gateRules(vault, PEOPLE);
  const transfers: TransferRules = { screenOwn: base.screenOwn, isSwitchedOff: base.isSwitchedOff, peopleNeeded };
  const payouts: PayoutContext = {
    ...{ db, clock, log, rails, report },
    openAccount: (tx, id) => openPayee(tx, vault, id),
    gate: (tx, payout) => askGate(context, tx, payout),
  };
  const context: OrdersContext = {
    submissions: openSubmissions(payouts),
    db,
    clock,
    log,
    rails,
    screener: noted(
      world,
      magicScreener(openScreener({ db, vault }), vault, async () => ''),
    ),
    vault,
    gate: {
      ...base,
      ...(world.waits ? { unconfirmedUntil: waitsUntil } : {}),
      ...(world.screeningMaxAgeMs === undefined ? {} : { screeningMaxAgeMs: world.screeningMaxAgeMs }),
    },
  };
  const sources = new Map<string, PriceSource>([['fixed', priceSource(world)]]);
  const whole: OurProcess = Object.assign(process, {
    kinds: [] as readonly string[],
    context,
    orders: openOrders({ ...context, vault }),
    movements: openMovements({ db, clock, rails, report }),
    transfers: openTransfers({ clock, chains, rules: transfers, coolingOffMs: OWN_COOLING_OFF_MS }),
  });
  if (!works) return whole;

  const handlers: Handlers = {
    ...orderHandlers(context),
    ...quoteHandlers({ db, clock, sources }),
    ...payoutHandlers(payouts),
    // Nothing is swept here, because no minimum is set: the job fills gaps between nonces.
    ...sweepHandlers({ db, clock, log, chains, everyMs: SWEEP_MS }),
    ...transferHandlers({ db, clock, log, chains, rules: transfers }),
    ...recurringHandlers({ db, clock, rails, chains }),
  };
  whole.kinds = Object.keys(handlers);
  const marked: Handlers = Object.fromEntries(
    Object.entries(handlers).map(([kind, handle]) => [
      kind,
      (subject, run) =>
        scheduler.within({ process, task: kind }, async () => {
          const handled = await handle(subject, run);
          const least = AT_LEAST_MS[kind] ?? 0;
          return handled === undefined ? undefined : { againInMs: Math.max(handled.againInMs, least) };
        }),
    ]),
  );
  const begin = async (): Promise<void> => {
    await startWorkers({
      db,
      clock,
      log,
      handlers: marked,
      polls: POLLS,
      concurrency: 6,
      pollMs: 20_000,
      presentMs: 60_000,
      onFailure: (kind, subject, error) => world.complain(`${kind} ${subject}`, error),
    });
    await enqueueRecurring(db, clock, { rails: [...rails.keys()], sources: ['fixed'], chains: [...chains.keys()] });
    await bookOpening({ db, clock }, onChain);
  };
  scheduler.within({ process, task: 'start' }, () => {
    // One that cannot start is started again, as a process supervisor would.
    const again = (error: unknown): void => {
      world.complain('start', error);
      setTimeout(() => void begin().catch(again), 1_000);
    };
    void begin().catch(again);
  });
  return whole;
}

/** The node, with the guard before the bytes that this process gives it. */
function offering({ chain, signing }: Environment, name: string): ChainAdapter {
  const adapter = chain.adapter();
  return {
    ...adapter,
    async broadcast(raw) {
      const what = tokensIn(raw);
      if (what !== undefined) signing.offers(name, what);
      return await adapter.broadcast(raw);
    },
  };
}

/** The chain, with the guard before what the treasury sends. */
const guardedChain = (world: Environment, rail: ChainRail): ChainRail => ({
  ...rail,
  async sendFrom(wallet, sending) {
    world.guard.moves(sending);
    return await rail.sendFrom(wallet, sending);
  },
});

/** The rail, with the guard before it. */
const guarded = (world: Environment, rail: Rail): Rail => ({
  ...rail,
  async send(sending) {
    world.guard.sends(rail.code, sending);
    const sent = await rail.send(sending);
    if (sent.outcome === 'unknown') world.unanswered(rail.code);
    return sent;
  },
});

const noted = ({ screened, asked, scheduler }: Environment, screener: Screener): Screener => {
  const note = (input: Screening): void => {
    const to = input.payoutAddress === null ? `account:${input.fiatAccountId}` : `address:${input.payoutAddress}`;
    screened.set(`${input.id} ${to}`, scheduler.time.now());
  };
  return {
    async screen(input) {
      const pause = asked?.(input);
      if (pause !== undefined) await pause;
      const verdict = await screener.screen(input);
      note(input);
      return verdict;
    },
    // In runs in which things meet while the screener is asked, it is a provider outside.
    async within(tx, input) {
      const verdict = asked === undefined ? await screener.within?.(tx, input) : undefined;
      if (verdict !== undefined) note(input);
      return verdict;
    },
  };
};

function priceSource({ faults, priceBps, wild }: Environment): PriceSource {
  const fixed = fixedSource();
  return {
    code: 'fixed',
    async fetch(pairs) {
      if (faults.occurs('price_gap')) throw new Unavailable('fixed', 'no prices now');
      const bps = BigInt(10_000 + priceBps());
      const prices = (await fixed.fetch(pairs)).map((one) => ({
        ...one,
        rate: { num: one.rate.num * bps, den: one.rate.den * 10_000n },
      }));
      return wild?.fed(prices) ?? prices;
    },
  };
}
