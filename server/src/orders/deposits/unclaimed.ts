/**
 * Unclaimed money: money in suspense, or of an order that waits for its customer, that was not touched for as long as the
 * operator's policy says. It is announced, and later becomes dormant: it moves to an account of its own until the customer claims
 * it or an operator acts on it (dormant.ts). It remains owed to the customer.
 *
 *   unclaimed ──(after − notice)──▶ announced ──(notice)──▶ dormant ──(a claim, or an operator)──▶ where it was
 *
 * Promises:
 * - money is announced for the whole notice period before it moves, however old it is when the policy is set;
 * - it is checked again under the locks before it moves: money that was touched meanwhile does not move;
 * - excluded are money held by law, screening or an operator, money of a blocked customer, dust, and money that may replace a
 *   reversed deposit.
 *
 * Source: docs/decisions/0044-dormant-money.md
 */
import { dayOf, later } from '../../base/clock.ts';
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { assert, Refusal } from '../../base/errors.ts';
import type { Handlers } from '../../base/jobs.ts';
import { closeCases, openCase } from '../../compliance/index.ts';
import { findCustomer } from '../../customers/index.ts';
import { balance, balancesOf, chart, move, orderBalances, post } from '../../ledger/index.ts';
import { payoutsOf, payoutsOfRefund } from '../../rails/payouts.ts';
import { change } from '../advance.ts';
import type { OrdersContext } from '../context.ts';
import { awaitsPerson, HELD_AT_GATE } from '../decide.ts';
import * as historyStore from '../history.store.ts';
import { refundsOfDeposit } from '../refunds/store.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';
import { type Dormancy, type DormancyPolicy, dormantStore, type Whose } from './dormant.store.ts';
import { factsOf, homeOf, subjectOf, wake } from './dormant.ts';
import * as depositStore from './store.ts';

/** Job kind that re-enqueues itself forever; its subject has no meaning. */
export const DORMANCY = 'note_dormant';
/** The periods are days, so a minute more does not matter. */
const EVERY_MS = 60_000;
const PAGE = 200;
const DAY_MS = 86_400_000;
export const MAX_DORMANT = 200;

export const dormancyPolicy = (tx: Tx): Promise<DormancyPolicy | undefined> => dormantStore.policy(tx);

/** @param set undefined: no money becomes dormant from now on, and announcements are withdrawn */
export async function setDormancy(
  tx: Tx,
  set: DormancyPolicy | undefined,
  { by, reason, now }: { by: string; reason: string; now: Date },
): Promise<void> {
  if (set !== undefined && set.noticeDays > set.afterDays)
    throw new Refusal('malformed_field', { fields: { noticeDays: `must be at most ${set.afterDays}, as afterDays` } });
  await (set === undefined ? dormantStore.deletePolicy(tx) : dormantStore.setPolicy(tx, { ...set, by, reason, now }));
}

export function dormancyHandlers(context: OrdersContext): Handlers {
  return {
    async [DORMANCY]() {
      const policy = await context.db.asSystem((tx) => dormantStore.policy(tx));
      const failures: unknown[] = [];
      const each = async (whose: Whose, body: (tx: Tx, order: Order | undefined) => Promise<void>): Promise<void> => {
        // A failure does not stop the items after it. The job still fails at the end, so the error is visible.
        await context.db
          .asSystem(async (tx) => await body(tx, await lockFor(tx, whose)))
          .catch((error: unknown) => failures.push(error));
      };
      await allOpen(context, (one) => each(whoseOf(one), (tx, order) => ripen(context, tx, { one, policy, order })));
      if (policy !== undefined)
        await allUnclaimed(context, policy, (whose) =>
          each(whose, (tx, order) => announceOne(context, tx, { whose, policy, order })),
        );
      if (failures.length > 0) throw failures[0];
      return { againInMs: EVERY_MS };
    },
  };
}

const whoseOf = ({ depositId, orderId }: Dormancy): Whose => {
  if (depositId !== null) return { depositId };
  assert(orderId !== null, 'a dormancy has neither deposit nor order');
  return { orderId };
};

async function allOpen(context: OrdersContext, body: (one: Dormancy) => Promise<void>): Promise<void> {
  for (let after = 0n; ; ) {
    const page = await context.db.asSystem((tx) => dormantStore.open(tx, { after, limit: PAGE }));
    for (const one of page) if (one.dormantAt === null) await body(one);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.id;
  }
}

/** Money that has been unclaimed long enough to be announced now. */
async function allUnclaimed(
  context: OrdersContext,
  policy: DormancyPolicy,
  body: (whose: Whose) => Promise<void>,
): Promise<void> {
  const before = announcedUntil(policy, context.clock.now());
  const kinds = [
    [dormantStore.unclaimedDeposits, (id: bigint): Whose => ({ depositId: id })],
    [dormantStore.unclaimedOrders, (id: bigint): Whose => ({ orderId: id })],
  ] as const;
  for (const [look, whose] of kinds)
    for (let after = 0n; ; ) {
      const page = await context.db.asSystem((tx) => look(tx, { after, limit: PAGE }));
      for (const { id, since } of page) if (since <= before) await body(whose(id));
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      after = last.id;
    }
}

const announcedUntil = ({ afterDays, noticeDays }: DormancyPolicy, now: Date): Date =>
  later(now, -(afterDays - noticeDays) * DAY_MS);

/** Locks the order, then the deposit. @returns the order, if there is one */
async function lockFor(tx: Tx, whose: Whose): Promise<Order | undefined> {
  if ('orderId' in whose) return await store.lock(tx, whose.orderId);
  const known = await depositStore.depositById(tx, whose.depositId);
  const order = known?.orderId == null ? undefined : await store.lock(tx, known.orderId);
  await depositStore.lockDepositById(tx, whose.depositId);
  return order;
}

type Unclaimed = Pick<Dormancy, 'depositId' | 'orderId' | 'partnerId' | 'rail' | 'asset' | 'units' | 'since'>;

/** The amount that is unclaimed now, under its locks; undefined if an operator handles it, or it is excluded. */
async function unclaimed(tx: Tx, whose: Whose, order: Order | undefined): Promise<Unclaimed | undefined> {
  if (order !== undefined && (await findCustomer(tx, order.customerId)).blocked) return undefined;
  return 'depositId' in whose
    ? await unclaimedDeposit(tx, whose.depositId)
    : order && (await unclaimedOrder(tx, order));
}

async function unclaimedDeposit(tx: Tx, id: bigint): Promise<Unclaimed | undefined> {
  const [found] = await dormantStore.unclaimedDeposits(tx, { after: 0n, limit: 1, only: id });
  const row = await depositStore.depositById(tx, id);
  if (found === undefined || row === undefined || found.units <= 0n) return undefined;
  for (const refund of await refundsOfDeposit(tx, id)) {
    if (refund.source !== 'suspense' || refund.state !== 'rejected') continue;
    const attempts = await payoutsOfRefund(tx, refund.id);
    if (attempts.some((one) => one.id === refund.key && one.why?.startsWith(HELD_AT_GATE) === true)) return undefined;
  }
  const { orderId, partnerId, rail, asset } = row;
  return { depositId: id, orderId, partnerId, rail, asset, units: found.units, since: found.since };
}

async function unclaimedOrder(tx: Tx, order: Order): Promise<Unclaimed | undefined> {
  const [found] = await dormantStore.unclaimedOrders(tx, { after: 0n, limit: 1, only: order.id });
  if (found === undefined || awaitsPerson(order, await historyStore.history(tx, order.id))) return undefined;
  const attempts = await payoutsOf(tx, order.id);
  if (attempts.at(-1)?.why?.startsWith(HELD_AT_GATE) === true) return undefined;
  const [held, ...others] = (await orderBalances(tx, order.id)).filter(({ units }) => units > 0n);
  if (held === undefined || others.length > 0 || held.heldUnits > 0n) return undefined;
  const rail = held.asset === order.depositAsset ? order.depositRail : order.payoutRail;
  const { id: orderId, partnerId } = order;
  return { depositId: null, orderId, partnerId, rail, asset: held.asset, units: held.units, since: found.since };
}

async function announceOne(
  context: OrdersContext,
  tx: Tx,
  { whose, policy, order }: { whose: Whose; policy: DormancyPolicy; order: Order | undefined },
): Promise<void> {
  const now = context.clock.now();
  if ((await dormantStore.find(tx, whose)) !== undefined) return;
  const found = await unclaimed(tx, whose, order);
  if (found === undefined || found.since > announcedUntil(policy, now)) return;
  const [due, noticed] = [later(found.since, policy.afterDays * DAY_MS), later(now, policy.noticeDays * DAY_MS)];
  const dormantFrom = due > noticed ? due : noticed;
  await dormantStore.insert(tx, { ...found, noticedAt: now, dormantFrom });
  await dormantStore.mark(tx, whose, { from: dormantFrom, units: 0n });
  await openCase(tx, {
    kind: 'dormant_soon',
    ...aboutOf(whose, found),
    reason: `unclaimed since ${dayOf(found.since)}: dormant from ${dayOf(dormantFrom)} on`,
    now,
  });
  await announceOrder(tx, order, now);
}

/** Processes announced money: it becomes dormant when its time has come, and its dormancy ends if it was touched since. */
async function ripen(
  context: OrdersContext,
  tx: Tx,
  { one, policy, order }: { one: Dormancy; policy: DormancyPolicy | undefined; order: Order | undefined },
): Promise<void> {
  const now = context.clock.now();
  const whose = whoseOf(one);
  const row = await dormantStore.find(tx, whose);
  if (row === undefined || row.id !== one.id || row.dormantAt !== null) return;
  const found = await unclaimed(tx, whose, order);
  if (policy === undefined || found === undefined || found.since.getTime() !== row.since.getTime()) {
    const why = policy === undefined ? 'no money becomes dormant any more' : 'someone is dealing with it';
    await wake(tx, whose, { by: 'the machine', why, now });
    return await announceOrder(tx, order, now);
  }
  if (row.dormantFrom > now) return;
  const { id, rail, asset, orderId } = row;
  const { units } = found;
  const posted = await post(tx, {
    id: `dormant_${id}`,
    kind: 'dormant',
    ...defined({ orderId: orderId ?? undefined }),
    at: now,
    facts: { ...factsOf(row), since: row.since.toISOString() },
    lines: move(homeOf(row), chart.dormant(rail, asset), units),
  });
  assert(posted.outcome === 'posted', `the unclaimed money of ${subjectOf(whose)} is not in the books`);
  await dormantStore.markDormant(tx, id, units, now);
  await dormantStore.mark(tx, whose, { from: row.dormantFrom, units });
  await closeCases(tx, { kind: 'dormant_soon', subject: subjectOf(whose), outcome: 'it is dormant', now });
  await openCase(tx, {
    kind: 'dormant',
    ...aboutOf(whose, found),
    reason: `unclaimed since ${dayOf(row.since)}`,
    now,
  });
  await announceOrder(tx, order, now);
}

const aboutOf = (whose: Whose, { orderId, partnerId, units, asset }: Unclaimed) => ({
  subject: subjectOf(whose),
  orderId: orderId ?? undefined,
  partnerId: partnerId ?? undefined,
  facts: { units: String(units), asset },
});

/** Announces the whole order again, because the announcement includes when its unclaimed money becomes dormant (public.ts). */
const announceOrder = async (tx: Tx, order: Order | undefined, now: Date): Promise<void> => {
  if (order !== undefined) await change(tx, order, { now });
};

/**
 * An operator ends the dormancy: the money counts as unclaimed from now on.
 *
 * @throws Refusal 'unknown_deposit' | 'unknown_order' | 'does_not_fit' if no part of it is announced or dormant
 */
export async function wakeByHand(tx: Tx, whose: Whose, action: { by: string; why: string; now: Date }): Promise<void> {
  const order = await requireDormancy(tx, whose);
  await wake(tx, whose, action);
  await announceOrder(tx, order, action.now);
}

/** The open dormancy of a deposit or order, locked after its order. */
export async function lookDormancy(tx: Tx, whose: Whose): Promise<Dormancy | undefined> {
  await lockFor(tx, whose);
  return await dormantStore.find(tx, whose);
}

/** @throws Refusal as `wakeByHand` */
export async function requireDormancy(tx: Tx, whose: Whose): Promise<Order | undefined> {
  const order = await lockFor(tx, whose);
  if ('orderId' in whose && order === undefined) throw new Refusal('unknown_order', {});
  if ('depositId' in whose && (await depositStore.depositById(tx, whose.depositId)) === undefined)
    throw new Refusal('unknown_deposit', {});
  if ((await dormantStore.find(tx, whose)) === undefined)
    throw new Refusal('does_not_fit', { why: 'it is not dormant, and no dormancy was announced' });
  return order;
}

export interface DormantReport {
  policy: DormancyPolicy | null;
  /** One row per asset. The sums by age include both announced and dormant money. */
  totals: {
    asset: string;
    count: number;
    oldestDays: number;
    announcedUnits: bigint;
    dormantUnits: bigint;
    under1yUnits: bigint;
    under3yUnits: bigint;
    over3yUnits: bigint;
  }[];
  money: (Omit<Dormancy, 'id'> & { id: bigint; days: number; state: 'announced' | 'dormant' })[];
  next: bigint | null;
}

/** Announced and dormant money, with its age, by dormancy id. */
export async function dormantReport(
  tx: Tx,
  { after, limit, now }: { after: bigint; limit: number; now: Date },
): Promise<DormantReport> {
  const days = (since: Date) => Math.floor((now.getTime() - since.getTime()) / DAY_MS);
  const rows = await dormantStore.open(tx, { after, limit: limit + 1 });
  const page = rows.slice(0, limit);
  return {
    policy: (await dormantStore.policy(tx)) ?? null,
    totals: (await dormantStore.ageing(tx, now)).map(({ oldest, ...row }) => ({ ...row, oldestDays: days(oldest) })),
    money: page.map((row) => ({
      ...row,
      days: days(row.since),
      state: row.dormantAt === null ? ('announced' as const) : ('dormant' as const),
    })),
    next: rows.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}

/** Checks that the dormant accounts match the rows, and that the rows match each other. */
export async function checkDormant(tx: Tx, tell: (subject: string, why: string) => void): Promise<void> {
  const want = new Map((await dormantStore.sums(tx)).map((row) => [chart.dormant(row.rail, row.asset).code, row]));
  for (const { code, units } of await balancesOf(tx, ['dormant']))
    if (units !== (want.get(code)?.units ?? 0n))
      tell(code, `it holds ${units}, and its rows come to ${want.get(code)?.units ?? 0n}`);
  for (const [code, { rail, asset, units }] of want)
    if ((await balance(tx, chart.dormant(rail, asset))).units !== units) tell(code, `its rows come to ${units}`);
  for (const { subject } of await dormantStore.unlike(tx)) tell(subject, 'its row and its dormancy do not agree');
}
