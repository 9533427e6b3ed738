/** The refund that the travel rule's policy `return` requests at its deadline, unless people have to decide about the order. */
import type { Tx } from '../../base/db.ts';
import { enqueue } from '../../base/jobs.ts';
import { requestOrderRefund } from '../actions.ts';
import type { Action, GateContext } from '../context.ts';
import { HELD_AT_GATE, isForAPerson, lastHold } from '../decide.ts';
import { history } from '../history.store.ts';
import { lockOrder } from '../lock.ts';
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
