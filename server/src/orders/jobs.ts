/**
 * Jobs of orders: deadlines, screening, handling another amount or price, waiting for funds. Each handler reads the order and
 * does what its state requires; enqueueing twice is harmless.
 */
import { later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { assert, Refusal } from '../base/errors.ts';
import { enqueue, type Handled, type Handlers, type Run } from '../base/jobs.ts';
import { openCase, record, type Screening, type Verdict } from '../compliance/index.ts';
import { findCustomer } from '../customers/index.ts';
import { type Market, marketById } from '../partners/index.ts';
import { rateNow, repriceAt, requireWithinLevel, requote } from '../quotes/index.ts';
import type { Passed } from '../rails/payouts.ts';
import { advance, change, nextPayout } from './advance.ts';
import { bulkHandlers } from './bulk.ts';
import type { OrdersContext } from './context.ts';
import { LOST_TIME_EVERY_MS, mayHavePaid } from './custody/lost-time.ts';
import {
  atDeadline,
  awaitsPerson,
  beforePayout,
  deadlineOf,
  type Finding,
  failureOf,
  onAmount,
  onPrice,
  rateIsOpen,
} from './decide.ts';
import { applyDeposits, wholly } from './deposits/apply.ts';
import { clearDeposit } from './deposits/facts.ts';
import * as depositStore from './deposits/store.ts';
import { dormancyHandlers } from './deposits/unclaimed.ts';
import { createFollowOnOrder } from './follow-on-order.ts';
import * as historyStore from './history.store.ts';
import { lockLimitsOf, requireWithinLimits, worthOf } from './limits.ts';
import { keepVerdict, uncoveredFindings } from './payouts/gate.ts';
import { payoutOf, screeningOf } from './payouts/leaving.ts';
import { rescreenHandlers, screenOutside, screenWithin } from './payouts/rescreen.ts';
import { shortageHandlers } from './payouts/short.ts';
import { switchedOffBy, switchedOffHandlers, switchedOffIsOverdue } from './payouts/switched-off.ts';
import { refundHandlers } from './refunds/refunds.ts';
import type { Order } from './store.ts';
import * as store from './store.ts';

/** How often an order checks again for funds, and for a deposit that is seen but not confirmed at the deadline. */
const FUNDS_EVERY_MS = 5_000;
const CONFIRMATION_EVERY_MS = 10_000;
const SOON_MS = 500;
/**
 * How long after its deadline an order waits at most for its rail to be read up to the deadline, unless the rail says otherwise.
 */
const UNREAD_AT_MOST_MS = 86_400_000;
/** How often overdue orders are looked for, and how many are processed at a time. */
const OVERDUE_EVERY_MS = 5_000;
/** How often an overdue order that a kill switch stops is checked. */
const SWITCHED_OFF_EVERY_MS = 600_000;
const OVERDUE_AT_ONCE = 100;

/** Job kind that re-enqueues itself forever; its subject has no meaning. */
export const OVERDUE = 'overdue_orders';

export function orderHandlers(context: OrdersContext): Handlers {
  const locked = (subject: string, body: (tx: Tx, order: Order) => Promise<Handled>, run?: Run): Promise<Handled> =>
    context.db.asSystem(async (tx) => {
      const order = await store.lock(tx, BigInt(subject));
      assert(order !== undefined, `order ${subject} does not exist`);
      const handled = await body(tx, order);
      run?.ends(tx, handled);
      return handled;
    });

  return {
    ...refundHandlers(context),
    ...rescreenHandlers(context),
    ...bulkHandlers(context),
    ...shortageHandlers(context),
    ...switchedOffHandlers(context),
    ...dormancyHandlers(context),
    create_follow_on_order: (subject) => createFollowOnOrder(context, BigInt(subject)),

    clear_deposit: (subject) => context.db.asSystem((tx) => clearDeposit(context, tx, BigInt(subject))),

    expire_order: (subject, run) => locked(subject, (tx, order) => expire(context, tx, order), run),

    async screen_order(subject, run) {
      type Screens = (tx: Tx, input: Screening) => Promise<Verdict | undefined>;
      const decide = (screens: Screens): Promise<Decided | { outside: Screening }> =>
        context.db.asSystem(async (tx) => {
          const order = await store.lock(tx, BigInt(subject));
          let decided: Decided = { handled: undefined };
          if (order?.state === 'deposit_confirmed') {
            const leaving = await payoutOf(tx, order);
            const input = screeningOf(leaving);
            const screened = await screens(tx, input);
            if (screened === undefined) return { outside: input };
            keepVerdict(tx, leaving, screened, context.clock.now());
            decided = await decideScreened(context, tx, order, screened);
          }
          run?.ends(tx, decided.handled);
          return decided;
        });
      let decided = await decide((tx, input) => screenWithin(context, tx, input));
      if ('outside' in decided) {
        // A provider is called outside of transactions; the next one reads the order again.
        const screened = await screenOutside(context, decided.outside);
        decided = await decide(async () => screened);
      }
      assert('handled' in decided, `order ${subject} was screened and not decided on`);
      await decided.passed?.submit();
      return decided.handled;
    },

    /** Recurring job: one query finds all overdue orders, so that an order within its deadline needs no job of its own. */
    async [OVERDUE]() {
      const now = context.clock.now();
      const found = await context.db.asSystem((tx) => store.overdue(tx, { now, limit: OVERDUE_AT_ONCE }));
      // An order that fails does not stop those after it. The job still fails at the end, so the error is visible.
      const failures: unknown[] = [];
      for (const { id } of found)
        await locked(String(id), async (tx, order) => void (await waitedTooLong(context, tx, order))).catch(
          (error: unknown) => failures.push(error),
        );
      if (failures.length > 0) throw failures[0];
      return { againInMs: found.length === OVERDUE_AT_ONCE ? 0 : OVERDUE_EVERY_MS };
    },

    fund_order: (subject, run) =>
      locked(
        subject,
        async (tx, order) => {
          if (order.state !== 'awaiting_liquidity') return undefined;
          const now = context.clock.now();
          // While the order waited, its deposit may have been reversed or its customer blocked.
          const [found] = await uncoveredFindings(context, tx, await payoutOf(tx, order), now);
          const reason = found?.rule;
          const by = found?.action === null ? 'policy' : 'screening';
          const advanced = await (reason === undefined
            ? advance(context, tx, order, 'funded', { now })
            : advance(context, tx, order, 'held', { now, reason, facts: { reason, by } }));
          return advanced.outcome === 'ignored' ? { againInMs: FUNDS_EVERY_MS } : undefined;
        },
        run,
      ),
  };
}

async function expire(context: OrdersContext, tx: Tx, order: Order): Promise<Handled> {
  const now = context.clock.now();
  if (now < order.expiresAt) return { againInMs: order.expiresAt.getTime() - now.getTime() };
  const deposits = (await depositStore.depositsOf(tx, order.id)).filter(
    (row) => row.asset === order.depositAsset && !row.late,
  );
  const parts = deposits.filter((row) => row.state === 'confirmed');
  const read = await readUpTo(context, tx, order, now);
  const decision = atDeadline(order.state, {
    unconfirmed: deposits.filter((row) => row.state === 'seen').length,
    confirmedUnits: parts.reduce((sum, row) => sum + row.units, 0n),
    allRead: read !== 'not yet',
  });
  if (read === 'given up' && (decision === 'expire' || decision === 'take_what_came'))
    await openCase(tx, {
      kind: 'rail_unread',
      subject: order.depositRail,
      reason: 'an order ended without its rail having been read up to its deadline',
      facts: { order: String(order.id), asset: order.depositAsset, deadline: order.expiresAt.toISOString() },
      now,
    });
  switch (decision) {
    case 'nothing':
      return undefined;
    case 'wait':
      return { againInMs: lookAgainMs(now, order) };
    case 'expire':
      await advance(context, tx, order, 'deadline_passed', { now });
      return undefined;
    case 'take_what_came': {
      const facts = { why: 'deadline_passed' };
      await applyDeposits(context, tx, order, wholly(parts), { now, exception: 'underpaid', facts });
      return undefined;
    }
  }
}

/** States in which nothing continues by itself. */
const STANDS_STILL: readonly Order['state'][] = ['on_hold', 'payout_held', 'refund_held'];
/** Checks soon after the deadline, because the next block or statement usually decides, and less often later. */
const lookAgainMs = (now: Date, { expiresAt }: Order): number =>
  Math.min(Math.max((now.getTime() - expiresAt.getTime()) / 2, SOON_MS), CONFIRMATION_EVERY_MS);

/**
 * Whether everything that arrived before an order's deadline is known: its rail has been read up to the deadline, by the rail's
 * clock. After an outage this takes as long as catching up. A very long outage does not keep orders open indefinitely.
 */
async function readUpTo(
  { rails }: OrdersContext,
  tx: Tx,
  { depositRail, depositAsset, expiresAt }: Order,
  now: Date,
): Promise<'read' | 'not yet' | 'given up'> {
  const rail = rails.get(depositRail);
  if (rail?.readTo === undefined) return 'read';
  const readTo = await rail.readTo(tx, depositAsset);
  if (readTo !== undefined && readTo >= expiresAt) return 'read';
  return now >= later(expiresAt, rail.unreadAtMostMs ?? UNREAD_AT_MOST_MS) ? 'given up' : 'not yet';
}

/** Combines all checks before a deposit is converted: amount, price, payer, screening. */
async function decideScreened(context: OrdersContext, tx: Tx, before: Order, screened: Verdict): Promise<Decided> {
  const now = context.clock.now();
  const found: Finding[] = [];
  let order = before;
  if (await depositStore.hasLostDeposit(tx, order.id)) found.push({ reason: 'deposit_lost', then: 'hold' });
  else {
    const terms = await settleTerms(context, tx, order);
    if (terms.outcome === 'wait') return { handled: { againInMs: LOST_TIME_EVERY_MS } };
    order = terms.order;
    if (terms.wrong !== undefined) found.push(terms.wrong);
  }
  // An operator may release such an order, because names can differ for good reasons.
  if (await store.paidByAnother(tx, order.id)) found.push({ reason: 'payer_name', ...order.policy.payerName });
  if (screened.outcome === 'held') found.push({ reason: screened.reason ?? 'screening', then: 'hold' });
  const held = beforePayout(found);
  await record(tx, {
    partnerId: order.partnerId,
    orderId: order.id,
    about: 'payout',
    outcome: held === undefined ? 'cleared' : 'held',
    rules: screened.rules,
    inputs: screened.inputs,
    now,
  });
  if (held !== undefined) {
    await hold(context, tx, order, { ...held, by: screened.outcome === 'held' ? 'screening' : 'policy' });
    return { handled: undefined };
  }
  // Before the conversion, which locks accounts.
  const passed = await context.submissions?.ask(tx, await nextPayout(tx, order, now));
  await advance(context, tx, order, 'cleared', { now, ...defined({ passed }) });
  return { handled: undefined, ...defined({ passed }) };
}

/** `passed`: the payout that is submitted once the decision is committed. */
type Decided = { handled: Handled; passed?: Passed };

/** Holds the order for an operator, or refunds it to the payer if its policy says so. */
async function hold(
  context: OrdersContext,
  tx: Tx,
  order: Order,
  { reason, refund, by = 'policy' }: { reason: string; refund: boolean; by?: 'policy' | 'screening' },
): Promise<void> {
  const now = context.clock.now();
  const failure = refund ? { failure: failureOf(reason) } : {};
  await advance(context, tx, order, 'held', { now, reason, facts: { reason, by }, ...failure });
  if (refund) enqueue(tx, { kind: 'refund_order', subject: String(order.id), dueAt: now });
}

/**
 * Adjusts an order's amount and rate to the amount and time of its deposit, or says why that is impossible. Each change is a
 * separate step of the order's history.
 *
 * @returns 'wait' if another rate is due and it is not known yet whether the order was paid in the time that a restore has lost
 * @throws Unavailable if the current price is needed and none is fresh: the order waits for one, until its deadline
 */
async function settleTerms(
  context: OrdersContext,
  tx: Tx,
  order: Order,
): Promise<{ outcome: 'wait' } | { outcome: 'settled'; order: Order; wrong?: Finding }> {
  const outcome = 'settled';
  const now = context.clock.now();
  const amount = onAmount(order, order.policy);
  const depositUnits = order.receivedUnits ?? order.depositUnits;
  const wrongAmount = depositUnits < order.depositUnits ? 'underpaid' : 'overpaid';
  if (amount === 'hold' || amount === 'refund') return { outcome, order, wrong: { reason: wrongAmount, then: amount } };
  const market = await marketById(tx, order.marketId);
  const open = rateIsOpen(order, await historyStore.completedAt(tx, order.id), order.policy);
  const lost = open ? await mayHavePaid(context, tx, order) : undefined;
  if (lost === 'unread') return { outcome: 'wait' };
  // An unexplained debit may have paid this order's payout. Operators match the two, and the payout waits for that; the rate
  // stays.
  const price =
    open && lost === undefined ? onPrice(order.rate, await rateNow(tx, market), order.policy.priceMoved) : 'honour';
  if (price === 'refund') return { outcome, order, wrong: { reason: 'price_moved', then: 'refund' } };
  if (amount === 'as_asked' && price === 'honour') return { outcome, order };
  const reason = price === 'requote' ? 'price_moved' : wrongAmount;
  const input = { partner: { id: order.partnerId }, market, depositUnits };
  try {
    const { level } = await findCustomer(tx, order.customerId);
    await requireWithinLevel(tx, { market, level, depositUnits });
    const terms =
      price === 'requote'
        ? await requote(tx, { ...input, orderId: order.id, now }).then(({ id, ...quote }) => ({
            ...quote,
            quoteId: id,
          }))
        : {
            ...order,
            ...(await repriceAt(tx, { ...input, rate: order.rate, chainFee: order.fees.chain })),
            depositUnits,
          };
    if (depositUnits > order.depositUnits) await requireRoomFor(tx, order, terms, { market, now });
    const advanced = await advance(context, tx, order, 'requoted', { now, terms, facts: { reason } });
    assert(advanced.outcome === 'advanced', `order ${order.id} was not requoted`);
    return { outcome, order: advanced.order };
  } catch (error) {
    // The new amount violates the limits, or fees exceed it: the order cannot continue with it, and no approval changes that.
    if (!(error instanceof Refusal)) throw error;
    return { outcome, order, wrong: { reason, then: 'refund' } };
  }
}

/**
 * An order that accepts more than agreed must fit its customer's limits with the larger amount. @throws Refusal
 * 'customer_limit_exceeded'
 */
async function requireRoomFor(
  tx: Tx,
  order: Order,
  terms: { depositUnits: bigint; grossUnits: bigint },
  { market, now }: { market: Market; now: Date },
): Promise<void> {
  const customer = await findCustomer(tx, order.customerId);
  const limits = await lockLimitsOf(tx, { customer, market });
  const { depositAsset, fiatAsset, id: orderId } = order;
  const units = worthOf({ depositAsset, fiatAsset, ...terms });
  await requireWithinLimits(tx, { limits, customer, market, units, orderId, now });
}

/**
 * A state has lasted too long: opens a case (of the kill switch, if one stops the order), and refunds the money if the policy says
 * so. The order is checked again after the same time, so that the case reopens if it was closed but the order did not move.
 */
async function waitedTooLong(context: OrdersContext, tx: Tx, order: Order): Promise<void> {
  const now = context.clock.now();
  if (order.waitsUntil === null || order.waitsUntil > now) return;
  const deadline = deadlineOf(order.state, order.policy);
  // A server version without deadlines moved the order to this state.
  if (deadline === undefined) return await store.waitOn(tx, order.id, null);
  const { afterS } = deadline;
  const mayGoBack =
    !STANDS_STILL.includes(order.state) || !awaitsPerson(order, await historyStore.history(tx, order.id));
  const then = mayGoBack ? deadline.then : 'case';
  // The order may have been paid in the time that a restore has lost: no refund before that is known.
  if (then === 'refund' && (await mayHavePaid(context, tx, order)) !== undefined)
    return await store.waitLonger(tx, order.id, later(now, LOST_TIME_EVERY_MS));
  if (order.state === 'awaiting_liquidity' && then === 'refund')
    return await hold(context, tx, order, { reason: 'waited_too_long', refund: true });
  const off = then === 'case' ? await switchedOffBy(tx, order) : undefined;
  if (off !== undefined) {
    // Checked again soon, because it gets a case of its own if it is still there after the switch is lifted.
    await store.waitOn(tx, order.id, later(now, Math.min(afterS * 1000, SWITCHED_OFF_EVERY_MS)));
    return switchedOffIsOverdue(tx, off, now);
  }
  await store.waitOn(tx, order.id, later(now, afterS * 1000));
  await openCase(tx, {
    kind: 'overdue',
    subject: `order:${order.id}`,
    orderId: order.id,
    partnerId: order.partnerId,
    reason: `${order.state} for longer than ${afterS} s`,
    facts: { state: order.state, then },
    now,
  });
  if (then !== 'refund') return;
  await change(tx, order, { failure: order.failure ?? failureOf('waited_too_long'), now });
  enqueue(tx, { kind: 'refund_order', subject: String(order.id), dueAt: now });
}
