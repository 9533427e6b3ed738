/**
 * Waking: dormant money returns to its previous account when a person acts on it.
 *
 * Code that uses money in suspense or an order's account wakes it first, in its own transaction: a destination that the customer
 * names, a refund, a recall, a block. So no other code has to handle dormancy. If code does not wake the money first, triggers
 * reject its write (migrations/0006_orders.sql).
 *
 * Not here: what becomes dormant, and when (unclaimed.ts).
 */
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { assert } from '../../base/errors.ts';
import { cutTyped } from '../../base/typed.ts';
import { closeCases } from '../../compliance/index.ts';
import { type Account, chart, move, post } from '../../ledger/index.ts';
import type { Order } from '../store.ts';
import { type Dormancy, dormantStore, type Whose } from './dormant.store.ts';
import type { DepositRow } from './store.ts';

export interface Waking {
  by: string;
  why: string;
  now: Date;
}

/** The account that a dormancy's money came from and returns to. */
export const homeOf = ({ depositId, orderId, partnerId, rail, asset }: Dormancy): Account => {
  if (depositId !== null) return chart.suspense(rail, asset);
  assert(orderId !== null && partnerId !== null, 'a dormancy has neither deposit nor order');
  return chart.order(orderId, partnerId, asset);
};

/** @param deposit locked, after its order. No effect if no part of the deposit is announced or dormant */
export async function wakeDeposit(tx: Tx, deposit: DepositRow, waking: Waking): Promise<void> {
  if (deposit.dormantFrom !== null) await wake(tx, { depositId: deposit.id }, waking);
}

/** @param order locked. @returns the order after waking */
export async function wakeOrder(tx: Tx, order: Order, waking: Waking): Promise<Order> {
  if (order.dormantFrom === null) return order;
  await wake(tx, { orderId: order.id }, waking);
  return { ...order, dormant: false, dormantFrom: null };
}

/** Ends the announced or dormant state; the waiting time begins again. */
export async function wake(tx: Tx, whose: Whose, { by, why, now }: Waking): Promise<void> {
  const found = await dormantStore.find(tx, whose);
  assert(found !== undefined, `no dormancy of ${subjectOf(whose)} is open`);
  const { id, orderId, rail, asset, units } = found;
  if (found.dormantAt !== null) {
    const posted = await post(tx, {
      id: `dormant_${id}:woken`,
      kind: 'dormant_woken',
      ...defined({ orderId: orderId ?? undefined }),
      at: now,
      facts: factsOf(found),
      lines: move(chart.dormant(rail, asset), homeOf(found), units),
    });
    assert(posted.outcome === 'posted', `dormancy ${id} is not in the books`);
  }
  await dormantStore.mark(tx, whose, { from: null, units: 0n });
  await dormantStore.end(tx, id, { by, why: cutTyped(why, 500), now });
  for (const kind of ['dormant_soon', 'dormant'] as const)
    await closeCases(tx, { kind, subject: subjectOf(whose), outcome: `woken by ${by}`, now });
}

export const factsOf = ({ depositId }: Dormancy): Record<string, string> =>
  depositId === null ? {} : { deposit: String(depositId) };

export const subjectOf = (whose: Whose): string =>
  'depositId' in whose ? `deposit:${whose.depositId}` : `order:${whose.orderId}`;
