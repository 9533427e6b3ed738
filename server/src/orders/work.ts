/**
 * Work on orders: deadlines, screening, waiting for funds. Each handler reads the order and does what its state calls for;
 * ringing twice is harmless.
 */
import type { Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import type { Handled, Handlers } from '../base/work.ts';
import { closeCases, record } from '../compliance/index.ts';
import { chart } from '../ledger/index.ts';
import { advance } from './advance.ts';
import { atDeadline, holdBeforePayout } from './decide.ts';
import { clearDeposit, receivedFromSuspense } from './facts.ts';
import type { OrdersContext } from './index.ts';
import { type Order, store } from './store.ts';

/** How often an order waits anew for funds, or for a deposit that is seen but not confirmed at the deadline. */
const FUNDS_EVERY_MS = 5_000;
const CONFIRMATION_EVERY_MS = 10_000;

export function orderHandlers(context: OrdersContext): Handlers {
  const locked = (subject: string, body: (tx: Tx, order: Order) => Promise<Handled>): Promise<Handled> =>
    context.db.asSystem(async (tx) => {
      const order = await store.lock(tx, BigInt(subject));
      assert(order !== undefined, `order ${subject} exists`);
      return await body(tx, order);
    });

  return {
    clear_deposit: (subject) => context.db.asSystem((tx) => clearDeposit(context, tx, BigInt(subject))),

    expire_order: (subject) => locked(subject, (tx, order) => expire(context, tx, order)),

    async screen_order(subject) {
      const order = await context.db.asSystem((tx) => store.get(tx, BigInt(subject)));
      if (order?.state !== 'deposit_confirmed') return undefined;
      // Screening may ask somebody outside, so it happens between two transactions; the second looks again.
      const screened = await context.screener.screen(order);
      return await locked(subject, async (tx, now) => {
        if (now.state !== 'deposit_confirmed') return undefined;
        await decideScreened(context, tx, now, screened);
        return undefined;
      });
    },

    fund_order: (subject) =>
      locked(subject, async (tx, order) => {
        if (order.state !== 'awaiting_liquidity') return undefined;
        const now = context.clock.now();
        // While it waited its deposit may have been taken back.
        const reason = holdBeforePayout(order, await store.hasLostDeposit(tx, order.id));
        const advanced = await (reason === undefined
          ? advance(context, tx, order, 'funded', { now })
          : advance(context, tx, order, 'held', { now, reason, facts: { reason } }));
        if (advanced.outcome === 'ignored') return { againInMs: FUNDS_EVERY_MS };
        await closeCases(tx, {
          kind: 'treasury_short',
          subject: `order:${order.id}`,
          outcome: reason ?? 'funded',
          now,
        });
        return undefined;
      }),
  };
}

async function expire(context: OrdersContext, tx: Tx, order: Order): Promise<Handled> {
  const now = context.clock.now();
  if (now < order.expiresAt) return { againInMs: order.expiresAt.getTime() - now.getTime() };
  const deposits = (await store.depositsOf(tx, order.id)).filter((row) => row.asset === order.depositAsset);
  const parts = deposits.filter((row) => row.state === 'confirmed');
  const decision = atDeadline(order.state, {
    unconfirmed: deposits.filter((row) => row.state === 'seen').length,
    confirmedUnits: parts.reduce((sum, row) => sum + row.units, 0n),
  });
  switch (decision) {
    case 'nothing':
      return undefined;
    case 'wait':
      return { againInMs: CONFIRMATION_EVERY_MS };
    case 'expire':
      await advance(context, tx, order, 'deadline_passed', { now });
      return undefined;
    case 'take_what_came': {
      const advanced = await advance(context, tx, order, 'deposit_confirmed', {
        now,
        parts: parts.map((row) => receivedFromSuspense(row, 0n)),
        receivedUnits: parts.reduce((sum, row) => sum + row.units, 0n),
        exception: 'underpaid',
        facts: { why: 'deadline_passed' },
      });
      assert(advanced.outcome === 'advanced', `order ${order.id} takes the parts that came`);
      const bookedTo = chart.order(order.id, order.partnerId, order.depositAsset).code;
      for (const row of parts) await store.changeDeposit(tx, row.id, { state: 'applied', bookedTo });
      return undefined;
    }
  }
}

async function decideScreened(
  context: OrdersContext,
  tx: Tx,
  order: Order,
  screened: Awaited<ReturnType<OrdersContext['screener']['screen']>>,
): Promise<void> {
  const now = context.clock.now();
  const own = holdBeforePayout(order, await store.hasLostDeposit(tx, order.id));
  // A person may release it: names differ for good reasons, too.
  const another = (await store.paidByAnother(tx, order.id)) ? 'payer_name' : undefined;
  const reason = own ?? another ?? (screened.outcome === 'held' ? (screened.reason ?? 'screening') : undefined);
  await record(tx, {
    partnerId: order.partnerId,
    orderId: order.id,
    about: 'payout',
    outcome: reason === undefined ? 'cleared' : 'held',
    rules: screened.rules,
    inputs: screened.inputs,
    now,
  });
  await advance(context, tx, order, reason === undefined ? 'cleared' : 'held', {
    now,
    ...(reason === undefined ? {} : { reason, facts: { reason } }),
  });
}
