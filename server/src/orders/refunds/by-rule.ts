/**
 * What the travel rule does with an order's money at its deadline: `return` requests a refund, unless people have to decide about the
 * order; `refuse` holds the order for people.
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { enqueue } from '../../base/jobs.ts';
import { TOO_LATE } from '../../compliance/index.ts';
import { holdBack, requestOrderRefund } from '../actions.ts';
import type { Action, GateContext, Rails } from '../context.ts';
import { HELD_AT_GATE, isForAPerson, lastHold } from '../decide.ts';
import { history } from '../history.store.ts';
import { lockOrder } from '../lock.ts';
import { isFinal } from '../machine.ts';
import { uncoveredFindings } from '../payouts/gate.ts';
import { payoutOf } from '../payouts/leaving.ts';

/** Findings of the travel rule begin with this, and so does the reason of a payout that the gate held for one of them. */
const RULE = 'travel_rule_';

/**
 * Requests the refund: it is paid at once if its destination is known, otherwise its partner or customer is asked for one. An
 * order that an operator, screening or another finding of the gate holds stays held. Does nothing if a refund is requested
 * already, or if the rule no longer keeps the payout, for example because operators have approved it.
 *
 * @returns `held` if the request must be repeated once people have decided
 * @throws Refusal as `requestOrderRefund`, if the order is paid or its refund is under way
 */
export async function returnByTravelRule(context: GateContext, tx: Tx, action: Action): Promise<'requested' | 'held'> {
  const order = await lockOrder(tx, action.orderId);
  if (order.refundRequest !== null) return 'requested';
  const isStill = order.state === 'on_hold' || order.state === 'payout_held';
  const steps = await history(tx, order.id);
  const why = lastHold(steps)?.facts?.why;
  const isRules = typeof why === 'string' && why.startsWith(HELD_AT_GATE + RULE);
  if (isStill && isForAPerson(steps) && !isRules) return 'held';
  const found = await uncoveredFindings(context, tx, await payoutOf(tx, order), action.now);
  if (!found.some(({ rule }) => rule.startsWith(RULE))) return 'requested';
  await requestOrderRefund(context, tx, action, { failure: 'other' });
  enqueue(tx, { kind: 'refund_order', subject: String(order.id), dueAt: action.now });
  return 'requested';
}

/**
 * Holds an order that the travel rule refuses, whatever held it before, so that no deadline and no partner refunds it: operators
 * decide about its deposit. A refund that was requested before stays requested, and needs no other decision.
 *
 * @returns `over` if its money has left, or goes back already; `later` if it has lost its deposit or its payout is submitted
 */
export async function holdRefused(context: Rails, tx: Tx, action: Action): Promise<'held' | 'over' | 'later'> {
  const order = await lockOrder(tx, action.orderId);
  const { state } = order;
  if (isFinal(state) || state === 'refunding' || state === 'refund_held') return 'over';
  // Until its destination is named, a retry could pay the order in place of that refund.
  if (order.refundRequest !== null) return 'held';
  try {
    await holdBack(context, tx, { ...action, why: HELD_AT_GATE + TOO_LATE }, 'rule');
    return 'held';
  } catch (error) {
    // Refused before anything was written.
    if (error instanceof Refusal) return 'later';
    throw error;
  }
}
