/**
 * One run: a seed, two processes of ours, a chain, a bank, some customers, faults for a while, and then no faults until all
 * orders have come to their end. It returns the violations, with the history that led there.
 *
 * Long because `simulate` puts one run together and takes it apart: its steps share all that it opened.
 */
import { isLost, type Noted, openActors } from './actors.ts';
import { type Again, laysAgain, openAgain } from './again.ts';
import { openCalls } from './calls.ts';
import { chanceOf } from './chance.ts';
import { broken, type Kind, overpaid, roundedUp, underWay, type Violation } from './checks.ts';
import { type Contradictions, contradicts, openContradictions } from './contradictions.ts';
import { openBackends, type SimulatedProcess } from './database.ts';
import { type Fault, openFaults } from './faults.ts';
import type { Fixture } from './ground.ts';
import { type Guard, openGuard, type Truth } from './guard.ts';
import { type Kept, openKept } from './kept.ts';
import { hasMeetings, type Meetings, openMeetings } from './meetings.ts';
import { hasMoves } from './moves.ts';
import { FORGETS_AFTER_MS, forgets, type Outage, openOutage, SHOWN_WITHIN_MS } from './outage.ts';
import { openBank } from './outside.bank.ts';
import { openChain } from './outside.chain.ts';
import { type Own, openOwn, sendsToOwn } from './own.ts';
import { openParts, type Parts, recallsParts } from './parts.ts';
import { type Environment, type OurProcess, startProcess } from './process.ts';
import { hasCap, openPromises, type Promises } from './promises.ts';
import { lacksReferences, openReferences, type References } from './references.ts';
import { openRestore, type Restore, restores } from './restore.ts';
import { changesRules, openRules, type Rules, SCREENING_MAX_AGE_MS } from './rules.ts';
import { openScheduler, type Scheduler } from './scheduler.ts';
import { openSigning, type Signing } from './signing.ts';
import { openStops } from './stops.ts';
import { hasStrays, openStrays, type Strays } from './strays.ts';
import { realNow } from './time.ts';
import { goesWild, openWild, type Wild } from './wild.ts';

export interface Outcome {
  seed: number;
  /** None is the goal. */
  violations: Violation[];
  orders: number;
  unmade: number;
  states: Record<string, number>;
  /** Payouts and refunds that a rail was asked to send, each checked. */
  submissions: number;
  faults: ReadonlyMap<Fault, number>;
  /** Points that a process passed, and at which it may have been ended. */
  points: ReadonlyMap<string, number>;
  /** Points at which one was ended. */
  ends: ReadonlyMap<string, number>;
  /** Operators' actions after the database was replaced; undefined if it was not. */
  restored?: ReadonlyMap<string, number>;
  /** People's actions on money without an order; undefined if there was none. */
  strays?: ReadonlyMap<string, number>;
  /** Events of a bank that forgets keys, and operators' questions to it; undefined if it remembers. */
  outages?: ReadonlyMap<string, number>;
  /** Further actions of people, with counts (moves.ts). */
  moves?: ReadonlyMap<string, number>;
  /** Events that coincided at the worst moment, with counts (meetings.ts). */
  meetings?: ReadonlyMap<string, number>;
  /** Outcomes of credits without a reference, with counts (references.ts). */
  references?: ReadonlyMap<string, number>;
  /** Rejected payments that a bank showed as paid (contradictions.ts). */
  contradictions?: ReadonlyMap<string, number>;
  /** Recalls of a part of a payment, with counts (parts.ts). */
  parts?: ReadonlyMap<string, number>;
  /** Blocks, holds and switches that were laid again, and stale confirmations of the earlier ones (again.ts). */
  again?: ReadonlyMap<string, number>;
  /** Signed transactions that may not leave, with what people did (kept.ts). */
  kept?: ReadonlyMap<string, number>;
  /** Transfers to addresses of the operator's own, and what met them (own.ts). */
  own?: ReadonlyMap<string, number>;
  /** Changes of rules, with counts (rules.ts). */
  rules?: ReadonlyMap<string, number>;
  /** Orders below a cap on promises, and refused for it (promises.ts). */
  promises?: ReadonlyMap<string, number>;
  /** Wild prices that a source said, with counts (wild.ts). */
  wild?: ReadonlyMap<string, number>;
  steps: number;
  waits: number;
  /** Statements that PostgreSQL ended because of a deadlock. */
  deadlocks: string[];
  digest: string;
  virtualMs: number;
  realMs: number;
  /** Every point that was passed, in order. */
  schedule: readonly string[];
  history: string[];
}

/** How long customers come and faults occur. */
const BUSY_MS = 150_000;
/** Until when customers come. */
const ORDERS_MS = 90_000;
/** Maximum deviation of a price from the table's: less than a partner's tolerance between a quote and its order. */
const MOST_BPS = 30;
const DAY_MS = 86_400_000;
const MINE_EVERY_MS = 4_000;
const NOTIFIED_MS = 20;
/** Wakes workers without naming a job. */
const NO_JOB = 'none';
/** An observer, which is not ended. */
const AUDITOR = 'auditor';
const LOOK_EVERY_MS = 15_000;
/** After this a run that has not come to its end never will. */
const PATIENCE_MS = 40 * 60_000;

/** Broken promises of the environment, to see that the checks find them. */
export type Lie = 'the bank deduplicates' | 'the chain mines what we send';

export interface Play {
  seed: number;
  orders: number;
  /** Its database is replaced by an older copy, independently of its seed. */
  restore?: boolean;
  /**
   * A process is ended the first time that it reaches each of these points; until the first of them the run is the one without.
   */
  endAt?: readonly string[];
  lie?: Lie;
  /** The run ends as soon as it has shown a violation of one of these kinds. */
  until?: readonly Kind[];
}

// Long because `simulate` puts one run together and takes it apart: its steps share all that it opened.
export async function simulate(
  fixture: Fixture,
  { seed, orders, restore, endAt, lie, until = [] }: Play,
): Promise<Outcome> {
  const startedAt = realNow();
  const isRestored = restore ?? restores(seed);
  // The books of an older copy lack promises that customers know of.
  const promises: Promises | undefined =
    hasCap(seed) && !isRestored
      ? openPromises({ seed, now: () => scheduler.time.now(), spreadMs: () => guard.spreadMs })
      : undefined;
  const database = await fixture.database({ capUnits: promises?.capUnits });
  const chance = chanceOf(seed);
  // Some runs are calm, some wild.
  const faults = openFaults(chance, chance.pick([0.3, 1, 1, 2]));
  const points = new Map<string, number>();
  const deadlocks: string[] = [];
  const ends = new Map<string, number>();
  const violations: Violation[] = [];
  const processes: OurProcess[] = [];
  let scheduler: Scheduler;
  let made = 0;

  let caught = false;
  const violated = (kind: Kind, what: string) => {
    caught ||= until.includes(kind);
    if (violations.length < 50 && !violations.some((one) => one.what === what)) violations.push({ kind, what });
  };
  const complain = (what: string, error: unknown): void => {
    if (isLost(error)) return;
    const text =
      typeof error === 'string' ? error : error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    // Only systems outside are unavailable; the rows schedule the retry.
    if (error instanceof Error && error.name === 'Unavailable') return;
    if (what === 'logged' && !/BugError|TypeError|RangeError|"level":60/.test(text)) return;
    violated(
      'bug',
      `${what}: ${text.slice(0, 400)}${error instanceof Error ? ` ${error.stack?.split('\n').slice(1, 6).join(' ')}` : ''}`,
    );
  };
  /** Counts a point of a process, and says whether it ends here. */
  function endsAt(process: SimulatedProcess, point: string, fault: Fault): boolean {
    if (process.name === AUDITOR) return false;
    points.set(point, (points.get(point) ?? 0) + 1);
    if (!faults.occurs(fault) && !(endAt?.includes(point) === true && !ends.has(point))) return false;
    ends.set(point, (ends.get(point) ?? 0) + 1);
    return true;
  }

  async function crash(process: SimulatedProcess, offMs = chance.int(100, 5_000)): Promise<void> {
    if (process.dead) return;
    process.dead = true;
    await backends.kill(process);
    scheduler.after(offMs, launch);
  }
  async function crashAll(offMs?: number): Promise<void> {
    for (const process of processes) await crash(process, offMs);
  }
  function freeze(process: SimulatedProcess): void {
    process.frozenUntil = scheduler.time.now() + chance.int(2_000, 120_000);
    backends.freeze(process);
  }
  function launch(): void {
    for (const [at, one] of processes.entries()) if (one.dead) processes.splice(at, 1);
    made += 1;
    processes.push(startProcess(world, `P${made}`, true));
  }

  const backends = await openBackends({
    ...database,
    scheduler: () => scheduler,
    faults,
    crash,
    freeze,
    notified: (names) => notify(names),
    endsAt,
    deadlocked: (between) => {
      deadlocks.push(between);
      violated('deadlock', `two waited for each other: ${between}`);
    },
    submitting: (ids, look) => guard.submitting(ids, look),
    signing: (ids, look) => signing.signing(ids, look),
    creating: (look) => signing.creating(look),
    async approved() {
      const rows = await backends.look<{ id: string }>('select id::text from approvals order by id');
      stops.approved(rows.map(({ id }) => id));
    },
    outlived: (what) => violated('isolation', what),
  });
  const wake = (): void => {
    for (const { listeners } of processes) for (const heard of listeners) heard(NO_JOB);
  };
  /** A notification takes time, and those sent meanwhile are merged. */
  const notify = (names: ReadonlySet<string>): void => {
    for (const process of processes) {
      if (process.notified !== undefined) {
        for (const name of names) process.notified.add(name);
        continue;
      }
      const underWay = new Set(names);
      process.notified = underWay;
      scheduler.after(chance.int(1, NOTIFIED_MS), () => {
        delete process.notified;
        for (const heard of process.listeners) for (const name of underWay) heard(name);
      });
    }
  };
  scheduler = openScheduler({
    chance,
    locks: backends.locks,
    async nextDue() {
      const [row] = await backends.look<{ due: Date | null }>(
        `select min(case when lease is null then due_at else leased_until end) as due from jobs
          where dead_at is null and kind = any($1)`,
        [[...(processes[0]?.kinds ?? [])]],
      );
      return row?.due?.getTime();
    },
    wake,
  });
  const calls = openCalls({ chance, faults, scheduler: () => scheduler, crash, freeze, endsAt });
  const outside = {
    chance,
    faults,
    calls,
    now: () => scheduler.time.now(),
    after: (ms: number, body: () => void) => scheduler.after(ms, body),
  };
  const watch = (): void => {
    for (const what of own?.twice() ?? []) violated('paid_twice', what);
    for (const one of actors?.noted ?? []) {
      const why = overpaid(world, one);
      if (why !== undefined) violated('paid_twice', why);
    }
  };
  let actors: ReturnType<typeof openActors> | undefined;
  let restored: Restore | undefined;
  let strays: Strays | undefined;
  let outage: Outage | undefined;
  let meetings: Meetings | undefined;
  let references: References | undefined;
  let contradictions: Contradictions | undefined;
  let parts: Parts | undefined;
  let kept: Kept | undefined;
  let own: Own | undefined;
  let rules: Rules | undefined;
  let again: Again | undefined;
  const notedOf = (id: string) => actors?.noted.find(({ order }) => String(order.id) === id);
  const screened = new Map<string, number>();
  const stops = openStops(() => scheduler.time.now());
  const truth: Truth = {
    customerOf: (id) => {
      const one = notedOf(id);
      return (
        one && {
          named: [one.address],
          operators: [one.elsewhere, ...(one.back === undefined ? [] : [one.back])],
          accounts: one.accounts.map(({ id: account, fiat }) => ({ id: String(account), fiat })),
          held: one.held,
        }
      );
    },
    firstShown: (line) => bank.firstShown(line),
    deepest: (hash) => chain.deepest(hash),
    wasScreened: (of, destination) => screened.has(`${of} ${destination}`),
    now: () => scheduler.time.now(),
    spreadMs: () => guard.spreadMs,
    mayPay: (...of) => actors?.moves?.mayPay(...of),
    stops: isRestored ? undefined : stops,
    byRules(one, of) {
      const screenedAt = screened.get(`${one.order_id ?? one.refund_id} ${of.destination}`);
      return rules?.against(one, { ...of, screenedAt, spreadMs: guard.spreadMs }) ?? [];
    },
  };
  const against = (what: string): void => violated('paid_against', what);
  const guard: Guard = openGuard({
    violated: against,
    submitted: ({ order_id, follows, purpose, asset, deposits, deposit_units, payout_units }) => {
      // Money of a converted order that law releases leaves in place of its payout.
      const paysOut = purpose === 'payout' || deposits.some(({ origin }) => origin === 'released');
      if (order_id === null || !paysOut) return;
      const terms = { depositUnits: BigInt(deposit_units ?? 0), payoutUnits: BigInt(payout_units ?? 0) };
      const why = purpose === 'payout' ? wild?.paysOut(asset, terms) : undefined;
      if (why !== undefined) violated('promised', `order ${order_id} ${why}`);
      notedOf(follows ?? order_id)?.terms.set(order_id, terms);
    },
    truth,
  });
  const signing: Signing = openSigning({
    truth,
    violated: against,
    own: {
      now: () => scheduler.time.now(),
      spreadMs: () => guard.spreadMs,
      isOrdered: (...of) => own?.truth.isOrdered(...of) ?? false,
      isDenied: (address) => own?.truth.isDenied(address) ?? false,
      isNeeded: (people) => own?.truth.isNeeded(people) ?? false,
      stops: isRestored ? undefined : stops,
    },
  });
  const deduplicates = chance.happens(0.5);
  const bank = openBank({
    ...outside,
    deduplicatesForMs: forgets(seed) ? FORGETS_AFTER_MS : deduplicates ? DAY_MS : 0,
    ...(forgets(seed) ? { settlesWithinMs: SHOWN_WITHIN_MS } : {}),
    lies: lie === 'the bank deduplicates',
    refusesForNow: (key) => contradictions?.refuses(key) ?? false,
    answersWithLine: () => meetings?.answersWithLine() ?? false,
    loses: () => outage?.loses() ?? false,
    hidesKey: (key) => outage?.hidesKey(key) ?? false,
    paid({ key }) {
      watch();
      outage?.paid(key);
    },
    leaves: (key) => guard.leaves({ key }),
  });
  const chain = openChain({
    ...outside,
    lies: lie === 'the chain mines what we send',
    paid: watch,
    answersLateMs: () => meetings?.answersLateMs(),
    leaves(what) {
      guard.leaves(what);
      signing.left(what);
    },
  });
  let priceBps = 0;
  const wild: Wild | undefined =
    goesWild(seed) && !isRestored
      ? openWild({
          ...{ seed, after: outside.after },
          ...{ hasOrders: () => (actors?.noted.length ?? 0) > 0, ended: () => faults.ended },
        })
      : undefined;
  const world: Environment = {
    scheduler,
    backends,
    faults,
    bank,
    chain,
    guard,
    signing,
    stops,
    screened,
    complain,
    asked(input) {
      rules?.asked();
      return meetings?.asked(input);
    },
    forgotten: (one) => references?.forgotten(one),
    paidByBank: (...payment) => parts?.paid(...payment),
    unanswered(rail) {
      actors?.unanswered();
      if (rail.startsWith('bank.')) outage?.unanswered();
    },
    priceBps: () => priceBps,
    wild,
    waits: hasMoves(seed),
    screeningMaxAgeMs: changesRules(seed) ? SCREENING_MAX_AGE_MS : undefined,
  };
  const since = scheduler.time.now();

  try {
    const mining = (): void => {
      chain.mine();
      watch();
      scheduler.after(MINE_EVERY_MS, mining);
    };
    scheduler.after(1, mining);
    const made = (one: Noted) => {
      const why = roundedUp(one.order);
      if (why !== undefined) violated('rounding', why);
      for (const wrong of [promises?.made(one), wild?.made(one.order)])
        if (wrong !== undefined) violated('promised', wrong);
      rules?.made(one);
    };
    actors = openActors(world, {
      ...{ moves: hasMoves(seed) && restore !== true ? seed : undefined },
      ...{ chance, made, orders, promises, forMs: ORDERS_MS, processes: () => processes },
      isRestoring: () => restored?.isUnderWay ?? false,
      compensations: chanceOf(seed ^ 0x5eed),
      mayCompensate: () => restored?.isLosing !== true,
    });
    if (isRestored)
      restored = openRestore(world, {
        ...{ chance, database, crashAll, noted: () => actors?.noted ?? [], hands: () => actors?.hands },
        matches: (movement) => own?.matches(movement) ?? false,
      });
    else if (hasStrays(seed))
      strays = openStrays(world, {
        ...{ seed, forMs: ORDERS_MS, noted: () => actors?.noted ?? [], hands: () => actors?.hands },
      });
    if (hasMeetings(seed) && !isRestored)
      meetings = openMeetings(world, {
        ...{ seed, noted: () => actors?.noted ?? [], hands: () => actors?.hands },
      });
    if (lacksReferences(seed) && !isRestored) references = openReferences(world, { seed, hands: () => actors?.hands });
    if (contradicts(seed) && !isRestored)
      contradictions = openContradictions(world, { seed, bank, chain, noted: () => actors?.noted ?? [] });
    if (recallsParts(seed) && !isRestored) parts = openParts(world, { seed });
    if (changesRules(seed) && !isRestored) rules = openRules(world, { seed, hands: () => actors?.hands });
    if (laysAgain(seed) && !isRestored)
      again = openAgain(world, {
        ...{ seed, forMs: ORDERS_MS, noted: () => actors?.noted ?? [], hands: () => actors?.hands },
      });
    if (sendsToOwn(seed))
      own = openOwn(world, {
        ...{ seed, forMs: ORDERS_MS, hands: () => actors?.hands },
        ...{ isRestored, isRestoring: () => restored?.isUnderWay ?? false },
      });
    kept = openKept(world, { seed, hands: () => actors?.hands });
    if (forgets(seed)) outage = openOutage(world, { seed, bank, crashAll, hands: () => actors?.hands });
    launch();
    launch();

    let ended = false;
    let overSince = Number.POSITIVE_INFINITY;
    let booked: bigint | undefined;
    const looking = async (): Promise<void> => {
      const now = scheduler.time.now();
      if (!faults.ended && now - since > BUSY_MS) faults.end();
      for (const process of processes)
        if (faults.occurs('clock_jump')) {
          process.clockOffsetMs += chance.int(-5_000, 30_000);
          guard.clockIsOff(process.clockOffsetMs);
        }
      if (!faults.ended) priceBps = chance.int(-MOST_BPS, MOST_BPS);
      actors?.operate();
      restored?.operate();
      if (restored?.isUnderWay !== true) kept?.operate();
      strays?.operate();
      outage?.operate();
      rules?.operate();
      again?.operate();
      if (
        faults.ended &&
        actors?.idle &&
        bank.idle &&
        chain.waiting.length === 0 &&
        restored?.isOver !== false &&
        strays?.isOver !== false &&
        references?.isOver !== false &&
        contradictions?.isOver !== false &&
        parts?.isOver !== false &&
        own?.isOver !== false &&
        rules?.isOver !== false &&
        again?.isOver !== false
      ) {
        const left = await scheduler.perform('is it over', () => underWay(backends.look));
        // Something that began and ended between two checks also counts as an event.
        const [books] = await scheduler.perform('what was booked', () =>
          backends.look<{ entries: bigint }>('select count(*) as entries from entries'),
        );
        if (left.length > 0 || books?.entries !== booked) overSince = Number.POSITIVE_INFINITY;
        booked = books?.entries;
        overSince = left.length > 0 ? overSince : Math.min(overSince, now);
        // Twelve blocks on top of the last event: nothing can be reversed any more.
        if (now - overSince > 14 * MINE_EVERY_MS) {
          ended = true;
          return;
        }
      }
      // A transaction that waits outside without end, such as one above an unfilled nonce, is not an end either.
      if (now - since > PATIENCE_MS) {
        const left = await scheduler.perform('why is it not over', () => underWay(backends.look));
        const people = [
          ...(restored?.isOver === false ? ['the restore is not over'] : []),
          ...(strays?.isOver === false ? ['money of nobody waits for people'] : []),
          ...(own?.isOver === false ? ['what was sent to own addresses is not over'] : []),
          ...(again?.isOver === false ? ['what was laid again is not over'] : []),
          ...(references?.isOver === false ? ['a credit without a reference waits for people'] : []),
        ];
        violated(
          'stuck',
          `it does not come to its end: ${[...new Set([...left, ...chain.waiting, ...people])].join('; ')}`,
        );
        ended = true;
        return;
      }
      scheduler.after(faults.ended ? LOOK_EVERY_MS * 2 : LOOK_EVERY_MS, look);
    };
    const look = (): void =>
      void looking().catch((error: unknown) => violated('run', `the run itself: ${String(error)}`));
    look();
    await scheduler.run(() => ended || caught);

    let audited = caught;
    const audit = (auditor: OurProcess): void => {
      broken(world, auditor, actors?.noted ?? [], restored?.lost, strays?.all)
        .then(async (found) => {
          for (const { kind, what } of found) violated(kind, what);
          const wrong = async () => (await meetings?.wrong()) ?? [];
          const ofOwn = async () => (await own?.wrong()) ?? [];
          for (const what of await scheduler.perform('what lies at own addresses', ofOwn)) violated('ends', what);
          for (const what of outage?.wrong() ?? []) violated('paid_twice', what);
          for (const what of await scheduler.perform('what went past a hold', wrong)) violated('paid_against', what);
        })
        .catch((error: unknown) =>
          violated('run', `the audit failed: ${error instanceof Error ? error.stack : String(error)}`),
        )
        .finally(() => {
          audited = true;
        });
    };
    if (!caught) {
      const auditor = startProcess(world, AUDITOR, false);
      scheduler.within({ process: auditor, task: 'audit' }, () => audit(auditor));
    }
    await scheduler.run(() => audited);
  } catch (error) {
    violated('run', `the run itself: ${error instanceof Error ? error.stack : String(error)}`);
  }
  const states = await backends.look<{ state: string; times: number }>(
    'select state, count(*)::int as times from orders group by state order by state',
  );
  const outcome: Outcome = {
    seed,
    violations,
    orders: actors?.noted.length ?? 0,
    unmade: actors?.unmade ?? 0,
    submissions: guard.looked + signing.looked,
    kept: kept?.done ?? new Map(),
    states: Object.fromEntries(states.map(({ state, times }) => [state, times])),
    faults: faults.counts,
    points,
    ends,
    ...(restored === undefined ? {} : { restored: restored.ended }),
    ...(strays === undefined ? {} : { strays: strays.done }),
    ...(outage === undefined ? {} : { outages: outage.done }),
    ...(actors?.moves === undefined ? {} : { moves: actors.moves.done }),
    ...(meetings === undefined ? {} : { meetings: meetings.done }),
    ...(references === undefined ? {} : { references: references.done }),
    ...(contradictions === undefined ? {} : { contradictions: contradictions.done }),
    ...(parts === undefined ? {} : { parts: parts.done }),
    ...(own === undefined ? {} : { own: own.done }),
    ...(rules === undefined ? {} : { rules: rules.done }),
    ...(again === undefined ? {} : { again: again.done }),
    ...(promises === undefined ? {} : { promises: promises.done }),
    ...(wild === undefined ? {} : { wild: wild.done }),
    steps: scheduler.steps,
    waits: scheduler.waits,
    deadlocks,
    digest: scheduler.digest(),
    virtualMs: scheduler.time.now() - since,
    realMs: realNow() - startedAt,
    schedule: scheduler.schedule,
    history: violations.length === 0 ? [] : await historyOf(backends.look, violations),
  };
  scheduler.stop();
  await backends.close();
  await database.drop();
  return outcome;
}

/** The first difference between two runs of one seed, in a sentence; undefined if they are the same to the last step. */
export function parting(one: Outcome, other: Outcome): string | undefined {
  if (one.digest === other.digest) return undefined;
  const at = one.schedule.findIndex((step, n) => step !== other.schedule[n]);
  const before = one.schedule.slice(Math.max(0, at - 5), Math.max(0, at));
  return [
    `seed ${one.seed} parts at step ${at}, after`,
    ...before,
    'into',
    one.schedule[at],
    'and',
    other.schedule[at],
  ].join('\n  ');
}

/** The history of the orders named in the violations, in the order of the events. */
async function historyOf(
  look: <R>(text: string, values?: unknown[]) => Promise<R[]>,
  violations: readonly Violation[],
): Promise<string[]> {
  const ids = [...new Set(violations.flatMap(({ what }) => what.match(/\b[0-9]{12,16}\b/g) ?? []))];
  const rows = await look<{ at: Date; what: string }>(
    `select at, 'order ' || order_id || ': ' || event || ' → ' || state_to || ' ' || facts::text as what from order_history
      where order_id::text = any($1)
     union all
     select created_at, 'payout ' || id || ' ' || state || ' ' || units || ' ' || asset || ' ' || coalesce(why, '') from payouts
      where order_id::text = any($1)
     union all
     select seen_at, 'deposit ' || external_id || ' ' || state || ' ' || units || ' ' || asset || ' ' || coalesce(why, '')
       from deposits where order_id::text = any($1)
     union all
     select reserved_at, 'send ' || key || ' version ' || version || ' nonce ' || nonce || ' ' || state || ' block ' || coalesce(block::text, '-')
       from chain_sends
     union all
     select opened_at, 'case ' || kind || ' ' || subject || ' ' || coalesce(reason, '') from cases where closed_at is null
     order by 1`,
    [ids],
  ).catch((error: unknown) => [{ at: new Date(), what: `no history: ${String(error)}` }]);
  return rows.map(({ at, what }) => `${at.toISOString()} ${what}`);
}
