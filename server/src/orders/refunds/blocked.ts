/** Releasing an order's money that was blocked by law, with a legal act. */
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { closeCases } from '../../compliance/index.ts';
import { type Account, chart, isPosted, type Line, move, post, statement } from '../../ledger/index.ts';
import { custodyOf, fromPosition } from '../advance.ts';
import type { Action, Rails } from '../context.ts';
import * as depositStore from '../deposits/store.ts';
import { type LostPart, linesFor } from '../entries.ts';
import { lockOrder } from '../lock.ts';
import { releaseEntry } from '../payouts/blocked-by-law.ts';
import type { Order } from '../store.ts';
import { giveUpLost, lostOf } from './lost.ts';
import { requestRefund } from './request.ts';

/**
 * Releases money blocked by law, citing a legal act: it moves to suspense as the order's money, and is refunded or paid like
 * other money there. The part that the order's rail has reversed meanwhile is not released: the blocked money covers that loss
 * first, and the order's conversion, if there was one, is undone.
 *
 * @throws Refusal 'unknown_order' | 'order_over'
 */
export async function releaseBlocked(context: Rails, tx: Tx, action: Action & { legalAct: string }): Promise<void> {
  const order = await lockOrder(tx, action.orderId);
  const id = releaseEntry(order);
  if (order.state !== 'frozen' || (await isPosted(tx, id))) throw new Refusal('order_over', { state: order.state });
  const moved = (await statement(tx, order.id)).filter(({ kind }) => kind === 'move_to_blocked');
  const railOf = (asset: string) => (asset === order.depositAsset ? order.depositRail : order.payoutRail);
  const deposits = await depositStore.depositsOf(tx, order.id);
  const lost = lostOf(order, deposits);
  const released = releasedLines(context, order, { moved, lost, railOf });
  const entry = {
    id,
    kind: 'released_by_law',
    orderId: order.id,
    at: action.now,
    facts: { by: action.by, why: action.why, legalAct: action.legalAct },
  };
  let posted = await post(tx, { ...entry, lines: released.lines });
  // The treasury may have spent the conversion's proceeds: the position account covers the rest.
  if (posted.outcome === 'short')
    posted = await post(tx, { ...entry, lines: released.lines.flatMap(fromPosition(order.depositAsset)) });
  assert(posted.outcome === 'posted', `the blocked money of order ${order.id} could not be released`);
  if (lost.length > 0) await giveUpLost(tx, order, deposits, action.now);
  for (const { asset, units } of released.free) {
    const suspense = chart.suspense(railOf(asset), asset);
    const row = await depositStore.insertDeposit(tx, {
      rail: railOf(asset),
      externalId: `released:${order.id}:${asset}`,
      asset,
      units,
      target: '',
      orderId: order.id,
      partnerId: order.partnerId,
      state: 'suspense',
      reference: action.legalAct,
      facts: {},
      seenAt: action.now,
      payer: 'unknown',
      origin: 'released',
    });
    await depositStore.changeDeposit(tx, row.id, {
      state: 'suspense',
      bookedTo: suspense.code,
      why: 'released_by_law',
      confirmedAt: action.now,
    });
    await requestRefund(context, tx, {
      depositId: row.id,
      units,
      why: 'released_by_law',
      by: action.by,
      order,
      now: action.now,
    });
  }
  await closeCases(tx, {
    kind: 'frozen',
    subject: `order:${order.id}`,
    outcome: `released by ${action.by}`,
    now: action.now,
  });
}

interface BlockedMoney {
  moved: readonly { asset: string; units: bigint }[];
  lost: readonly LostPart[];
  railOf(asset: string): string;
}

/** The postings of a legal release, and the part that is free in suspense afterwards. */
function releasedLines(
  context: Rails,
  order: Order,
  { moved, lost, railOf }: BlockedMoney,
): { lines: Line[]; free: { asset: string; units: bigint }[] } {
  const toSuspense = (from: Account, units: bigint) =>
    move(from, chart.suspense(railOf(from.asset), from.asset), units);
  if (lost.length === 0)
    return {
      lines: moved.flatMap(({ asset, units }) => toSuspense(chart.blocked(asset), units)),
      free: [...moved],
    };
  const backToOrder = moved.flatMap(({ asset, units }) =>
    move(chart.blocked(asset), chart.order(order.id, order.partnerId, asset), units),
  );
  const wasConverted = moved.some(({ asset }) => asset !== order.depositAsset);
  const receivedUnits = order.receivedUnits ?? order.depositUnits;
  const booked = { ...order, receivedUnits };
  const undone = linesFor(
    wasConverted ? 'reverse_conversion_and_give_up' : 'give_up_deposit',
    booked,
    custodyOf(context.rails, order),
    { lost },
  );
  const left = receivedUnits - order.refundedUnits - lost.reduce((sum, { units }) => sum + units, 0n);
  const deposit = chart.order(order.id, order.partnerId, order.depositAsset);
  return {
    lines: [...backToOrder, ...undone, ...toSuspense(deposit, left)],
    free: left === 0n ? [] : [{ asset: order.depositAsset, units: left }],
  };
}
