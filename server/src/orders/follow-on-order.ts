/**
 * Follow-on order: a new order made from a late or second deposit, if the first order's policy says so.
 *
 * The first order stays as it ended. The new order has the same customer, market and destination, and the current price; it names
 * the first order as the one it follows. It has its deposit from the start, so its first step is screening. Until it is created
 * the money is in suspense, with a case, so that it is tracked while prices are missing. If the trade is not allowed (the limits,
 * the fees, a closed market, a partner or customer that may not trade), the money is refunded instead.
 *
 * Not here: what the policy says (decide.ts and facts.ts).
 */
import type { Tx } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { assert, Refusal } from '../base/errors.ts';
import type { Handled } from '../base/jobs.ts';
import { closeCases } from '../compliance/index.ts';
import { findCustomer, requireTrading } from '../customers/index.ts';
import { findPartner, marketById } from '../partners/index.ts';
import type { OrdersContext } from './context.ts';
import { create } from './create.ts';
import { applyDeposits, wholly } from './deposits/apply.ts';
import { wakeDeposit } from './deposits/dormant.ts';
import { areHeld } from './deposits/held.store.ts';
import { whyListed } from './deposits/listed.ts';
import type { DepositRow } from './deposits/store.ts';
import * as depositStore from './deposits/store.ts';
import { isBlockedByLaw } from './payouts/blocked-by-law.ts';
import { lookAgain, notReady } from './payouts/ready.ts';
import { requestRefund } from './refunds/request.ts';
import type { Order } from './store.ts';
import * as store from './store.ts';

/** How often to check again a deposit that an operator holds, whose payer may be listed, or whose order is blocked by law. */
const HELD_AGAIN_MS = 30_000;

/**
 * Creates the follow-on order of a deposit in suspense, once its rail can no longer reverse the deposit. The order has its
 * deposit from the start, so it could be paid out at once. Enqueueing twice is harmless.
 */
export async function createFollowOnOrder(context: OrdersContext, depositId: bigint): Promise<Handled> {
  try {
    return await context.db.asSystem(async (tx) => {
      const found = await waiting(tx, depositId);
      if (found === undefined) return undefined;
      const now = context.clock.now();
      if ((await areHeld(tx, [found.row])) || (await isBlockedByLaw(tx, found.first)))
        return { againInMs: HELD_AGAIN_MS };
      if ((await whyListed(tx, depositId)) !== undefined) return { againInMs: HELD_AGAIN_MS };
      const early = await notReady(context, tx, [found.row], now);
      if (early !== undefined) return lookAgain(early, now);
      await makeOrder(context, tx, found);
      return undefined;
    });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    await context.db.asSystem(async (tx) => {
      const found = await waiting(tx, depositId);
      if (found === undefined) return;
      const now = context.clock.now();
      await requestRefund(context, tx, { depositId, units: found.row.units, why: error.code, order: found.first, now });
    });
    return undefined;
  }
}

/** The deposit and the order for which it came, both locked, order first; undefined if the deposit was already used. */
async function waiting(tx: Tx, depositId: bigint): Promise<{ row: DepositRow; first: Order } | undefined> {
  const known = await depositStore.depositById(tx, depositId);
  if (known === undefined || known.orderId === null) return undefined;
  const first = await store.lock(tx, known.orderId);
  const row = await depositStore.lockDeposit(tx, known.rail, known.externalId);
  if (first === undefined || row?.state !== 'suspense' || row.orderId !== first.id) return undefined;
  // A refund names part of the deposit: it is refunded and creates no order.
  if (row.refundUnits > 0n) return undefined;
  return { row, first };
}

async function makeOrder(
  context: OrdersContext,
  tx: Tx,
  { row, first }: { row: DepositRow; first: Order },
): Promise<void> {
  const now = context.clock.now();
  await wakeDeposit(tx, row, { by: 'the machine', why: 'a new order is created from it', now });
  const partner = await findPartner(tx, { id: first.partnerId });
  const customer = await findCustomer(tx, first.customerId);
  assert(partner !== undefined, `partner ${first.partnerId} does not exist`);
  if (partner.suspended) throw new Refusal('partner_suspended');
  requireTrading(customer, partner);
  const market = await marketById(tx, first.marketId);
  if (!market.enabled) throw new Refusal('unsupported_pair', {});
  const made = await create(context, tx, {
    partner,
    customer,
    market,
    depositUnits: row.units,
    ...defined({
      fiatAccountId: first.fiatAccountId ?? undefined,
      payoutAddress: first.payoutAddress ?? undefined,
      merchantReference: first.merchantReference ?? undefined,
    }),
    paymentMethod: first.paymentMethod,
    follows: first.id,
    now,
  });
  const order = await store.lock(tx, made.id);
  assert(order !== undefined, `order ${made.id} was not created`);
  await applyDeposits(context, tx, order, wholly([row]), {
    now,
    facts: { reference: row.reference, deposit: String(row.id), follows: String(first.id) },
    depositReference: row.reference,
  });
  await depositStore.giveDepositTo(tx, row.id, order.id);
  await closeCases(tx, { subject: `deposit:${row.id}`, outcome: `became order ${order.id}`, now });
}
