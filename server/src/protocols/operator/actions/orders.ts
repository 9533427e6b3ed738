/** Actions on orders that move money. Those on deposits are in deposits.ts. */

import type { Tx } from '../../../base/db.ts';
import { defined } from '../../../base/defined.ts';
import { Refusal } from '../../../base/errors.ts';
import { isRefusedByTravelRule } from '../../../compliance/index.ts';
import type { Doing, Need } from '../../../operators/index.ts';
import {
  block,
  cancel,
  goesToSender,
  holdBack,
  isFinal,
  type Leaving,
  lockOrder,
  NAMEABLE,
  nameDestination,
  type Action as OrderAction,
  paidBefore,
  payoutOf,
  type RefundTo,
  readPayTo,
  refundOf,
  refundOrder,
  refundsOf,
  release,
  releaseBlocked,
  reprice,
  requestOrderRefund,
  requireNotHeldByOperator,
  requireRefundable,
  retry,
  retryRefund,
  retryTo,
  type SeenFinding,
  senderOfOrder,
  settleBy,
  suspenseRefundOf,
  trace,
  weightOf,
} from '../../../orders/index.ts';
import { type Action, action } from '../action.ts';
import { ORDERS } from '../declared/orders.ts';
import type { OperatorDeps } from '../deps.ts';
import {
  destinationOf,
  isNamed,
  refusedTo,
  requireDestination,
  requireFit,
  requireFitsSome,
  requireNamed,
  requireOne,
  requireOwnAccount,
  type To,
  toOf,
} from './destinations.ts';
import { approvedIn, approves, needsOf } from './findings.ts';

/** An order's state, without values that change while nothing happens. */
async function look(_deps: OperatorDeps, tx: Tx, input: { order: bigint }): Promise<unknown> {
  const order = await lockOrder(tx, input.order);
  return {
    state: order.state,
    version: order.version,
    exception: order.exception,
    asset: order.depositAsset,
    receivedUnits: order.receivedUnits ?? order.depositUnits,
    payoutAsset: order.payoutAsset,
    payoutUnits: order.payoutUnits,
  };
}

/** The same for a refund of the amount that the order accepted: the named destination has to fit it. */
async function lookBack(deps: OperatorDeps, tx: Tx, input: { order: bigint } & To): Promise<unknown> {
  const { depositRail, depositAsset } = await lockOrder(tx, input.order);
  await requireFit(deps, tx, { rail: depositRail, asset: depositAsset, orderId: input.order }, input);
  const leaving = await goesBack(deps, tx, input);
  const approved = leaving === undefined ? [] : await approves(deps, tx, leaving);
  return { ...(Object(await look(deps, tx, input)) as object), approves: approved };
}

/** The amount received, which is the maximum that can leave. */
async function amountOf(tx: Tx, id: bigint): Promise<{ asset: string; units: bigint }> {
  const order = await lockOrder(tx, id);
  return { asset: order.depositAsset, units: order.receivedUnits ?? order.depositUnits };
}

/** Also the findings that keep the payout from leaving: a release approves exactly these. */
async function lookPaid(deps: OperatorDeps, tx: Tx, input: { order: bigint } & Partial<To>): Promise<unknown> {
  const leaving = await paidTo(deps, tx, input);
  return { ...(Object(await look(deps, tx, input)) as object), approves: await approves(deps, tx, leaving) };
}

/** The order's payout, to the named destination or else to that of the last attempt. */
async function paidTo({ orders }: OperatorDeps, tx: Tx, input: { order: bigint } & Partial<To>): Promise<Leaving> {
  const order = await lockOrder(tx, input.order);
  if (!isNamed(input)) return await payoutOf(tx, order);
  const { address: to = null, fiatAccountId = null } = await readPayTo(orders, tx, order, toOf(input));
  return await payoutOf(tx, order, { address: to, fiatAccountId });
}

/** Needs for continuing an order to its payout despite findings against it. */
async function needsPaid(deps: OperatorDeps, tx: Tx, input: { order: bigint }): Promise<Need[]> {
  const order = await lockOrder(tx, input.order);
  return [await amountOf(tx, input.order), ...(await needsOf(deps, tx, await payoutOf(tx, order)))];
}

/** Whether the hold is about a rejected payout: ending that hold needs no approval, because sending again needs one. */
const isRejected = async (tx: Tx, { order }: { order: bigint }): Promise<boolean> =>
  (await lockOrder(tx, order)).state === 'payout_held';

/** The refund of an order, if the destination is known. */
async function goesBack(
  { orders }: OperatorDeps,
  tx: Tx,
  input: { order: bigint } & Partial<To>,
): Promise<Leaving | undefined> {
  const order = await lockOrder(tx, input.order);
  const { address: to, fiatAccountId } = input;
  const read = await destinationOf(orders, tx, order.depositRail, { address: to, fiatAccountId });
  return read && (await refundOf(tx, order, read));
}

async function needsBack(
  deps: OperatorDeps,
  tx: Tx,
  input: { order: bigint; pastHits: boolean | undefined } & To,
): Promise<Need[]> {
  const leaving = await goesBack(deps, tx, input);
  const pastHits = input.pastHits === true;
  return [
    await amountOf(tx, input.order),
    // The travel rule's policy `refuse` leaves the return to two people, whatever a rule says.
    ...((await isRefusedByTravelRule(tx, input.order)) ? (['always'] as const) : []),
    ...(leaving === undefined ? [] : await needsOf(deps, tx, leaving, { pastHits })),
  ];
}

/** What a named destination would let leave: the deposit's refund if it can arrive there, and the money waiting on its rails. */
async function namedBy({ orders }: OperatorDeps, tx: Tx, input: { order: bigint } & To): Promise<Leaving[]> {
  const order = await lockOrder(tx, input.order);
  const isChain = (rail: string) => orders.rails.get(rail)?.kind === 'chain';
  const isAddress = input.address !== undefined;
  const leavings: Leaving[] = [];
  if (isChain(order.depositRail) === isAddress) {
    const to = await destinationOf(orders, tx, order.depositRail, input);
    if (to !== undefined) leavings.push(await refundOf(tx, order, to));
  }
  for (const refund of await waitingFor(tx, input.order)) {
    if (isChain(refund.rail) !== isAddress) continue;
    const to = await destinationOf(orders, tx, refund.rail, input);
    const { address = null, fiatAccountId = null } = to ?? {};
    leavings.push(await suspenseRefundOf(tx, { ...refund, address, fiatAccountId }, order));
  }
  return leavings;
}

async function needsNamed(
  deps: OperatorDeps,
  tx: Tx,
  input: { order: bigint; pastHits: boolean | undefined } & To,
): Promise<Need[]> {
  const needs: Need[] = [await amountOf(tx, input.order)];
  for (const leaving of await namedBy(deps, tx, input))
    needs.push(...(await needsOf(deps, tx, leaving, { pastHits: input.pastHits === true })));
  return needs;
}

/** The account that the order's only deposit came from, and the refund to it. */
async function toSender({ orders, clock }: OperatorDeps, tx: Tx, input: { order: bigint } & To) {
  if (isNamed(input))
    throw new Refusal('malformed_field', { fields: { toSender: 'must not be given with address or fiatAccountId' } });
  const order = await lockOrder(tx, input.order);
  const sender = await senderOfOrder(orders, tx, order, clock.now());
  return { sender, leaving: await refundOf(tx, order, { fiatAccountId: sender.fiatAccountId }) };
}

async function lookToSender(deps: OperatorDeps, tx: Tx, input: { order: bigint } & To): Promise<unknown> {
  const { sender, leaving } = await toSender(deps, tx, input);
  const approved = await approves(deps, tx, leaving);
  return { ...Object(await look(deps, tx, input)), approves: approved, goesTo: sender };
}

/** Only the bank says who owns the account, so it takes two people, whatever a rule says. */
async function needsToSender(
  deps: OperatorDeps,
  tx: Tx,
  input: { order: bigint; pastHits: boolean | undefined } & To,
): Promise<Need[]> {
  const { leaving } = await toSender(deps, tx, input);
  const found = await needsOf(deps, tx, leaving, { pastHits: input.pastHits === true });
  const amount = { ...(await amountOf(tx, input.order)), asks: 'always' as const };
  return [amount, ...found, { finding: 'destination.new', ...weightOf(leaving) }];
}

const subject = ({ order }: { order: bigint }): string => `order:${order}`;
const said = (input: { order: bigint }, doing: Doing): OrderAction => ({
  orderId: input.order,
  by: doing.operator.name,
  people: doing.people,
  why: doing.reason,
  now: doing.now,
});

/** The hits that the approvers let pass, and the order's version that they were shown. */
const shown = ({ pastHits }: { pastHits?: boolean | undefined }, seen: unknown) => ({
  pastHits,
  seen: approvedIn(seen),
  seenVersion: (seen as { version: number }).version,
});

export const ORDER_ACTIONS: readonly Action[] = [
  action({
    ...ORDERS.release,
    subject,
    look: async (deps, tx, input) =>
      (await isRejected(tx, input))
        ? { ...Object(await look(deps, tx, input)), approves: [] }
        : await lookPaid(deps, tx, input),
    async needs(deps, tx, input) {
      if (await isRejected(tx, input)) return [await amountOf(tx, input.order)];
      // Reported at once instead of after a proposal.
      const { state } = await lockOrder(tx, input.order);
      if (state !== 'on_hold') throw new Refusal('order_over', { state });
      return await needsPaid(deps, tx, input);
    },
    async perform({ orders }, tx, input, doing, seen) {
      await release(orders, tx, { ...said(input, doing), seen: approvedIn(seen) });
    },
  }),
  action({
    ...ORDERS.hold,
    subject,
    look,
    // The action sends no money, so the `night` role may do it.
    async perform({ orders }, tx, input, doing) {
      const { notCancelled } = await holdBack(orders, tx, said(input, doing));
      return notCancelled.length === 0 ? {} : { notCancelled };
    },
  }),
  action({
    ...ORDERS.cancel,
    subject,
    look,
    async perform({ orders }, tx, input, doing) {
      await cancel(orders, tx, said(input, doing));
    },
  }),
  action({
    ...ORDERS.requote,
    subject,
    look,
    needs: needsPaid,
    async perform({ orders }, tx, input, doing) {
      await reprice(orders, tx, said(input, doing));
    },
  }),
  action({
    ...ORDERS.refund,
    subject,
    async look(deps, tx, input) {
      // Hits against a destination pass only if the action names it: a destination named by the customer or partner could
      // change before the money leaves.
      if (input.toSender === true) {
        return await lookToSender(deps, tx, input);
      }
      requireNamed(input);
      const to = await refusedTo(tx, input);
      if (!isNamed(to))
        return { ...Object(await look(deps, tx, input)), approves: [], goesTo: { waitsFor: 'destination' } };
      // Shown to the approvers, so that a confirmation covers this destination.
      return { ...Object(await lookBack(deps, tx, { ...input, ...to })), goesTo: to };
    },
    async needs(deps, tx, input): Promise<Need[]> {
      if (input.toSender === true) {
        requireRefundable(await lockOrder(tx, input.order));
        return await needsToSender(deps, tx, input);
      }
      const to = await refusedTo(tx, input);
      // Reported at once instead of after a proposal.
      if (!isNamed(to)) requireRefundable(await lockOrder(tx, input.order));
      return await needsBack(deps, tx, { ...input, ...to });
    },
    async outside({ db, orders }, input, doing, seen) {
      const { failure } = input;
      const acting = { ...said(input, doing), ...shown(input, seen) };
      if (input.toSender === true) return void (await refundOrder(orders, acting, { failure, toSender: true }));
      // The destination at the time of the confirmation: the partner may have named another one since.
      const { address: to, fiatAccountId } = (seen as { goesTo: Partial<To> }).goesTo;
      if (to === undefined && fiatAccountId === undefined)
        return await db.asSystem(async (tx) => {
          if (isNamed(await refusedTo(tx, input))) throw new Refusal('order_over', { why: 'destination_named_since' });
          await requestOrderRefund(orders, tx, acting, { failure });
        });
      await refundOrder(orders, acting, {
        failure,
        ...defined({ address: to, fiatAccountId }),
      });
    },
  }),
  action({
    ...ORDERS.retry,
    subject,
    async look(deps, tx, input) {
      requireNamed(input);
      requireOne(input);
      const { address: to, fiatAccountId } = await paidTo(deps, tx, input);
      const goesTo = to === null ? { fiatAccountId } : { address: to };
      return { ...Object(await lookPaid(deps, tx, input)), goesTo };
    },
    async needs(deps, tx, input) {
      // Reported at once instead of after a proposal.
      const order = await lockOrder(tx, input.order);
      const { state } = order;
      if (state !== 'payout_held') throw new Refusal('order_over', { state });
      await requireNotHeldByOperator(tx, order);
      // A payout to the last destination passes the shown hits; to another destination, hits pass only on explicit request.
      const pastHits = isNamed(input) ? input.pastHits === true : true;
      return [
        await amountOf(tx, input.order),
        ...(await needsOf(deps, tx, await paidTo(deps, tx, input), { pastHits })),
      ];
    },
    async outside({ db, orders }, input, doing, seen) {
      const acting = { ...said(input, doing), ...shown(input, seen) };
      if (isNamed(input)) await retryTo(orders, acting, toOf(input));
      else await db.asSystem((tx) => retry(orders, tx, acting));
    },
  }),
  action({
    ...ORDERS.retryRefund,
    subject,
    async look(deps, tx, input) {
      if (input.toSender === true) return await lookToSender(deps, tx, input);
      requireNamed(input);
      return await lookBack(deps, tx, input);
    },
    async needs(deps, tx, input): Promise<Need[]> {
      if (input.toSender === true) return await needsToSender(deps, tx, input);
      const needs = await needsBack(deps, tx, input);
      // A retry to the account that only the bank identifies takes two people, whatever a rule says.
      return isNamed(input) || !(await goesToSender(tx, input.order)) ? needs : [...needs, 'always'];
    },
    async outside({ db, orders }, input, doing, seen) {
      const to = await db.asSystem(async (tx): Promise<RefundTo | undefined> => {
        const order = await lockOrder(tx, input.order);
        if (input.toSender !== true) return await destinationOf(orders, tx, order.depositRail, input);
        const { fiatAccountId } = await senderOfOrder(orders, tx, order, doing.now);
        return { fiatAccountId };
      });
      await retryRefund(orders, { ...said(input, doing), ...shown(input, seen), to });
    },
  }),
  action({
    ...ORDERS.destination,
    subject,
    async look(deps, tx, input) {
      requireDestination(input);
      requireOne(input);
      await requireOwnAccount(tx, input);
      const refunds = await waitingFor(tx, input.order);
      const { state, depositRail, depositAsset } = await lockOrder(tx, input.order);
      const own = isFinal(state) ? [] : [{ rail: depositRail, asset: depositAsset }];
      if (refunds.length > 0) await requireFitsSome(deps, tx, [...refunds, ...own], input);
      const waiting = refunds.map(({ id: refund, state, asset, grossUnits }) => ({
        refund,
        state,
        asset,
        units: grossUnits,
      }));
      const approved: SeenFinding[] = [];
      for (const leaving of await namedBy(deps, tx, input)) approved.push(...(await approves(deps, tx, leaving)));
      return { ...(Object(await look(deps, tx, input)) as object), waiting, approves: approved };
    },
    async needs(deps, tx, input) {
      const needs = await needsNamed(deps, tx, input);
      // The sum of everything that this releases is compared with limits. In a person's day each deposit counts separately, as
      // in `deposit.refund`: its money leaves once, and another deposit of the order is other money.
      const waiting = await waitingFor(tx, input.order);
      const deposits = [...new Set(waiting.map(({ depositId }) => depositId))];
      const all = (await refundsOf(tx, input.order)).filter(
        ({ source, state }) => source === 'suspense' && state !== 'cancelled',
      );
      return [
        ...needs,
        ...deposits.map((id): Need => {
          const refunds = all.filter(({ depositId }) => depositId === id);
          const units = refunds.reduce((sum, { grossUnits }) => sum + grossUnits, 0n);
          return { asset: refunds[0]?.asset ?? '', units, counts: `deposit:${id}` };
        }),
      ];
    },
    async perform({ orders }, tx, input, { now, people, reason }, seen) {
      const to = { address: input.address, fiatAccountId: input.fiatAccountId };
      const approvedBy = { people, reason, pastHits: input.pastHits, seen: approvedIn(seen) };
      await nameDestination(orders, tx, { orderId: input.order, to, by: 'operator', approvedBy, now });
    },
  }),
  action({
    ...ORDERS.releaseBlocked,
    subject,
    look,
    needs: async (_deps, tx, input) => ({ ...(await amountOf(tx, input.order)), asks: 'always' as const }),
    async perform({ orders }, tx, input, doing) {
      await releaseBlocked(orders, tx, { ...said(input, doing), legalAct: input.legalAct });
    },
  }),
  action({
    ...ORDERS.settleBy,
    subject,
    async look(deps, tx, input) {
      const seen = Object(await look(deps, tx, input)) as object;
      const attempt = (await trace(tx, input.order)).payouts.find(({ id: of }) => of === input.payout);
      return { ...seen, attempt: attempt && { state: attempt.state, units: attempt.paidUnits ?? attempt.units } };
    },
    // The action decides amounts owed to a customer and to us.
    needs: async (_deps, tx, input) => {
      await paidBefore(tx, await lockOrder(tx, input.order), input);
      return 'always' as const;
    },
    async perform({ orders }, tx, input, doing) {
      const { payout, rest } = input;
      await settleBy(orders, tx, { ...said(input, doing), payout, rest });
    },
  }),
  action({
    ...ORDERS.block,
    subject,
    look,
    // The action sends no money, and a legal order cannot wait for a second person.
    async perform({ orders }, tx, input, doing) {
      await block(orders, tx, said(input, doing));
    },
  }),
];

/** Refunds out of suspense that are sent (again) once a destination is named. */
const waitingFor = async (tx: Tx, order: bigint) =>
  (await refundsOf(tx, order)).filter(({ source, state }) => source === 'suspense' && NAMEABLE.includes(state));
