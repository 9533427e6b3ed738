/** One run: an environment, load and faults for a while, all faults undone, an operator who does the usual work, and the count. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chanceOf } from '../simulation/chance.ts';
import { collect, run as command } from '../support/process.ts';
import type { BankMode } from './bank.ts';
import { FINALITY } from './chain.ts';
import { blockedWithoutDebt, judge, type Verdict, whatIsLeft } from './checks.ts';
import { type ChaosEnvironment, openEnvironment, until } from './environment.ts';
import { FAILOVER, failOverFor, liftPayouts } from './failover.ts';
import { faultFor, KINDS } from './faults.ts';
import { openLoad } from './load.ts';

export interface Outcome extends Verdict {
  /** Orders that were acknowledged and are not in the database. */
  gone: string[];
  mode: BankMode;
  seed: number;
  seconds: number;
  /** Time until all orders had come to their end. */
  healedAfterS: number;
  orders: number;
  sales: number;
  states: Record<string, number>;
  perSecond: number;
  /** Requests that were repeated. */
  retries: number;
  faults: Record<string, number>;
  /** Faults without an effect, because another was just injected. */
  missed: string[];
  /** The report of `npm run verify-ledger` about the final books. */
  ledger: string;
  /** What ended by itself, what the wire refused, what did not come to its end. */
  trouble: string[];
  good: boolean;
  summary: string;
}

/** A bank that does not deduplicate is asked about a payout for a minute before it is sent again. */
const HEAL_MS = 240_000;
/** Work covered by a case is left alone when it has not changed for this long. */
const SAID_MS = 30_000;
/** Servers poll the chain four times in this time, and sweep twice. */
const CALM_MS = 3_000;
/** For orders being made when the faults end, on a busy machine. */
const LATE_MS = 120_000;
/** Checks between two reports about work under way. */
const SAY_EVERY = 20;

export async function run(options: {
  folder: string;
  mode: BankMode;
  seed: number;
  ms: number;
  rate: number;
  only?: readonly string[] | undefined;
  /** Has one payment repeated unnoticed, to see that the checks find it. */
  plant?: boolean | undefined;
  /** Instead of all other faults, the primary dies this many times; with `behindMs`, its standby is asynchronous and that late. */
  failover?: { times: number; behindMs: number } | undefined;
  signal: AbortSignal;
  say: (line: string) => void;
}): Promise<Outcome> {
  const { mode, seed, say, signal } = options;
  const { int } = chanceOf(seed);
  const chance = (below: number): number => int(0, Math.max(0, below - 1));
  const { failover } = options;
  const standby = failover && (failover.behindMs > 0 ? 'asynchronous' : 'synchronous');
  const world = await openEnvironment({ ...options, standby, chance });
  try {
    signal.throwIfAborted();
    const begun = Date.now();
    const load = openLoad(world, { chance, perSecond: options.rate });
    const person = openOperator(world, say);
    const faults = failover
      ? await failOverFor(world, { ...failover, ms: options.ms, signal, say })
      : await faultFor(
          { world, chance },
          { ms: options.ms, signal, say, ...(options.only ? { only: options.only } : {}) },
        );
    const seconds = (Date.now() - begun) / 1_000;
    signal.throwIfAborted();
    say(`healing: ${load.made.length} orders made`);
    await world.bank.clearFaults();
    const late = await untilBack(world);
    if (standby === 'asynchronous') await liftPayouts(world, say);
    if (options.plant) {
      await until('the bank has paid something', async () => (await world.bank.payments()).length > 0);
      await world.bank.paysAgain();
    }
    await load.stop(LATE_MS);
    const trouble = [...late, ...(await heal(world, options))];
    await person.stop();
    const healedAfterS = (Date.now() - begun) / 1_000 - seconds;
    say(`all has come to its end, ${healedAfterS.toFixed(1)} s later`);
    const gone = await goneFrom(world, load.made);
    const statuses = await load.statuses(new Set(gone));
    await world.stopServers();
    const verdict = await judge(world, load.made, statuses);
    const ledger = await verified(world);
    if (ledger.code !== 0) trouble.push(`npm run verify-ledger ended with ${ledger.code}: ${ledger.said}`);
    const states = await world.look<{ state: string; times: number }>(
      'select state, count(*)::int as times from orders group by state order by state',
    );
    const unowed = await blockedWithoutDebt(world, load.blocked);
    trouble.push(...sharedTargets(load.made));
    const all = [...trouble, ...load.trouble, ...unowed, ...world.trouble];
    const outcome = {
      ...verdict,
      gone: gone.map((id) => `order ${id}: its partner has the answer, and the database does not have it`),
      mode,
      seed,
      seconds,
      healedAfterS,
      orders: load.made.length,
      sales: load.made.filter(({ direction }) => direction === 'offramp').length,
      states: Object.fromEntries(states.map(({ state, times }) => [state, times])),
      perSecond: load.made.length / (seconds + healedAfterS),
      retries: load.retries,
      faults: faults.counts,
      missed: faults.missed,
      ledger: ledger.said,
      trouble: all,
    };
    const { paidTwice, lost, unexplained, broken } = verdict;
    const good =
      [gone, paidTwice, lost, unexplained, broken, all].every(({ length }) => length === 0) && outcome.orders > 0;
    return { ...outcome, good, summary: summaryOf({ ...outcome, good }) };
  } finally {
    await world.stop();
  }
}

/** Orders whose partner got an answer, and that the database does not have. */
async function goneFrom({ look }: ChaosEnvironment, made: readonly { id: string }[]): Promise<string[]> {
  const rows = await look<{ id: string }>('select id::text from orders');
  const there = new Set(rows.map(({ id }) => id));
  return made.map(({ id }) => id).filter((id) => !there.has(id));
}

/** Two orders with one address or reference: the money of one is credited to the other. */
function sharedTargets(made: readonly { id: string; depositTarget: string }[]): string[] {
  const owners = new Map<string, string[]>();
  for (const { id, depositTarget } of made) owners.set(depositTarget, [...(owners.get(depositTarget) ?? []), id]);
  return [...owners].flatMap(([target, ids]) =>
    ids.length > 1 ? [`orders ${ids.join(' and ')} have the same deposit target ${target}`] : [],
  );
}

/** Before an order that is still being made is awaited. @returns the parts that do not come back */
async function untilBack({ slots }: ChaosEnvironment): Promise<string[]> {
  const areBack = async () => slots.every(({ process, frozen }) => process !== undefined && !frozen);
  return await until('the servers are back', areBack).then(
    () => [],
    (error: Error) => [error.message],
  );
}

/** Waits until only work covered by a case is under way. @returns the work that did not end */
async function heal(
  world: ChaosEnvironment,
  { signal, say, plant }: { signal: AbortSignal; say: (line: string) => void; plant?: boolean | undefined },
): Promise<string[]> {
  const trouble: string[] = [];
  await until('the chain has all that was paid', () => world.chain.isPaidIn()).catch((error: Error) =>
    trouble.push(error.message),
  );
  const begun = Date.now();
  let calm = false;
  let saidSince = begun;
  let lastSaid: string | undefined;
  for (let turn = 1; Date.now() - begun < HEAL_MS; turn += 1) {
    signal.throwIfAborted();
    const left = await whatIsLeft(world).catch((error: Error) => ({ open: [error.message], said: [] }));
    // A case that has just been opened goes to the operator first.
    const said = left.open.length > 0 ? undefined : left.said.join();
    if (said === undefined || said !== lastSaid) saidSince = Date.now();
    lastSaid = said;
    const isOver = left.open.length === 0 && (left.said.length === 0 || plant || Date.now() - saidSince > SAID_MS);
    if (isOver && calm) break; // what is open after HEAL_MS is counted as broken
    if (turn % SAY_EVERY === 0)
      say(
        `under way: ${left.open.length}, with a case: ${left.said.length}; ${[...left.open, ...left.said].slice(0, 4).join('; ')}`,
      );
    calm = isOver;
    // Deep enough that no reversal is possible any more, and that the node knows the balances of the blocks that count. Deposits
    // that became final by it may be swept now, which is work under way again.
    await world.chain.mine(isOver ? FINALITY + 4 : 2);
    await sleep(isOver ? CALM_MS : 500);
  }
  return trouble;
}

/** The command itself, on the run's database. */
async function verified({ folder, postgres }: ChaosEnvironment): Promise<{ code: number | null; said: string }> {
  const child = command(['server/src/apps/reconcile.ts', 'verify-ledger'], {
    DATABASE_URL: postgres.adminUrl,
    DATA_DIR: join(folder, 'verify'),
  });
  const output = collect(child);
  const code = await new Promise<number | null>((done) => child.once('close', (ended) => done(ended)));
  return { code, said: output().trim() };
}

/** Two operators who check the cases every few seconds and have the work repeated: one proposes, the other confirms. */
function openOperator({ look, operates, confirms }: ChaosEnvironment, say: (line: string) => void) {
  const told = new Set<string>();
  let stopped = false;
  const OPERATOR_API_ACTIONS: Readonly<Record<string, string>> = {
    on_hold: 'release',
    payout_held: 'retry',
    refund_held: 'retry-refund',
  };
  const going = (async () => {
    while (!stopped) {
      await sleep(3_000);
      const waiting = await look<{ id: bigint; state: string }>('select id, state from orders where state = any($1)', [
        Object.keys(OPERATOR_API_ACTIONS),
      ]).catch(() => []);
      for (const { id, state } of waiting)
        await operates(`/orders/${id}/${OPERATOR_API_ACTIONS[state]}`, {}).catch((error: Error) => {
          const why = `the operator was rejected: order ${id}, ${state}: ${error.message}`;
          if (!told.has(why)) say(why);
          told.add(why);
        });
      // What paid an order that a failover has lost. A movement that fits a payout of the books is adopted without a case.
      const unmatched = await look<{ movement: string }>(
        `select split_part(subject, ':', 2) as movement from cases where kind = 'movement_unmatched' and closed_at is null`,
      ).catch(() => []);
      for (const { movement } of unmatched) await operates(`/movements/${movement}/foreign`, {}).catch(() => {});
      const proposed = await look<{ id: bigint }>(`select id from proposals where state = 'open'`).catch(() => []);
      for (const { id } of proposed) await confirms(id).catch(() => {});
    }
  })();
  return {
    async stop(): Promise<void> {
      stopped = true;
      await going;
    },
  };
}

function summaryOf(outcome: Omit<Outcome, 'summary'>): string {
  const lines = [
    '',
    `${outcome.mode} bank, seed ${outcome.seed}: ${outcome.seconds.toFixed(0)} s of faults, healed ${outcome.healedAfterS.toFixed(0)} s later`,
    `orders ${outcome.orders} (${outcome.sales} sales), ${outcome.perSecond.toFixed(2)} a second; ended as ${list(outcome.states)}; ${outcome.retries} requests made again`,
    `faults: ${list(outcome.faults)}; came to nothing: ${outcome.missed.length}${FAILOVER in outcome.faults ? '' : `; never: ${KINDS.filter((kind) => outcome.faults[kind] === undefined).join(', ') || 'none'}`}`,
    `acknowledged and gone ${outcome.gone.length}, paid twice ${outcome.paidTwice.length}, lost ${outcome.lost.length}, unexplained ${outcome.unexplained.length}, broken ${outcome.broken.length}, trouble ${outcome.trouble.length}; left with a case ${outcome.left.length}`,
  ];
  const { gone, paidTwice, lost, unexplained, broken, trouble, left } = outcome;
  for (const [what, found] of Object.entries({ gone, paidTwice, lost, unexplained, broken, trouble, left }))
    for (const sentence of found) lines.push(`  ${what}: ${sentence}`);
  lines.push(outcome.good ? 'good' : 'FAILED');
  return lines.join('\n');
}

const list = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .map(([name, times]) => `${name} ${times}`)
    .join(', ');
