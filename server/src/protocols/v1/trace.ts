/**
 * Where the money of an order is, for its partner: from the same facts as the order's reply (orders/read/told.ts), in the words
 * of /v1. Pure. Money under review is shown as such without details.
 */
import {
  type DepositRow,
  isPayable,
  type Order,
  type OrderMoney,
  type OrderParts,
  publicReason,
  toldState,
} from '../../orders/index.ts';
import { type Assets, type Is, iso, moneyOf, referencesOf } from './shapes.ts';

export interface Facts {
  order: Order;
  money: OrderMoney;
  parts: OrderParts;
  /** Time until which the destination waits for its customer's confirmation. */
  unconfirmedUntil: Date | undefined;
  known: Assets;
  now: Date;
}

type Trace = Is<'Trace'>;
type Next = Trace['next'];
type Step = Next['step'];
type By = Next['by'];

const SAYS: Readonly<Record<Step, string>> = {
  customer_pays: 'The customer pays.',
  deposit_confirms: 'The chain or bank confirms the payment.',
  screening: 'The payment is screened.',
  operator_funds: 'The operator provides the funds.',
  review: 'The operator reviews the money.',
  payout_submits: 'The payout is submitted.',
  destination_confirms: 'The customer confirms the destination, or its cooling-off time passes.',
  payout_arrives: 'The chain or bank confirms the payout.',
  destination_is_named: 'You name a destination of the customer.',
  refund_submits: 'The refund is submitted.',
  refund_arrives: 'The chain or bank confirms the refund.',
  nothing: 'The order is over: nothing more happens.',
};

const next = (step: Step, by: By, more: { until?: Date | null; otherwise?: string; says?: string } = {}): Next => ({
  ...{ step, by, until: more.until == null ? null : iso(more.until), otherwise: more.otherwise ?? null },
  says: more.says ?? SAYS[step],
});

const OVER = next('nothing', 'nobody');
const REVIEW = next('review', 'operator');
const NAMED = next('destination_is_named', 'partner');

export function traceShape(facts: Facts): Trace {
  const { order, parts, known } = facts;
  const state = toldState(order.state);
  const where = whereIs(facts);
  return {
    orderId: String(order.id),
    state,
    heldBy: where.heldBy,
    amount: where.amount,
    since: iso(parts.since),
    evidence: evidenceOf(facts),
    next: where.next,
    otherMoney: othersOf(facts).map((row) => ({
      depositId: String(row.id),
      amount: moneyOf(freeUnits(row), row.asset, known),
      reason: publicReason(row.why ?? ''),
      next: nextOf(row, facts),
    })),
  };
}

type Where = { heldBy: Trace['heldBy']; amount: Trace['amount']; next: Next };

function whereIs(facts: Facts): Where {
  const { order, money, known, now } = facts;
  const asked = moneyOf(order.depositUnits, order.depositAsset, known);
  const came = moneyOf(order.receivedUnits ?? order.depositUnits, order.depositAsset, known);
  const paid = moneyOf(order.payoutUnits, order.payoutAsset, known);
  switch (toldState(order.state)) {
    case 'created': {
      const parts = money.deposits.filter(({ state }) => state === 'confirmed' || state === 'seen');
      const missing = moneyOf(money.missingUnits, order.depositAsset, known);
      const pays = next('customer_pays', 'customer', {
        until: order.expiresAt,
        otherwise:
          parts.length === 0 ? 'The order expires.' : 'The order is underpaid, and its policy decides what happens.',
        says: `The customer pays ${missing.amount} ${missing.asset}.`,
      });
      const over = next('nothing', 'nobody', { says: 'The payment deadline has passed: the order expires.' });
      const isOurs = parts.some(({ state }) => state === 'confirmed');
      return { heldBy: isOurs ? 'operator' : 'customer', amount: asked, next: isPayable(order, now) ? pays : over };
    }
    case 'deposit_seen':
      return { heldBy: 'in_transit', amount: asked, next: next('deposit_confirms', 'rail') };
    case 'deposit_confirmed':
      return { heldBy: 'operator', amount: came, next: next('screening', 'operator') };
    case 'awaiting_liquidity':
      return {
        heldBy: 'operator',
        amount: came,
        next: next('operator_funds', 'operator', { until: order.waitsUntil }),
      };
    case 'on_hold':
      return { heldBy: 'operator', amount: came, next: money.goesBack ? goesBack(facts) : REVIEW };
    case 'paying_out':
      return paying(facts, paid);
    case 'payout_held': {
      const { reason } = money.told;
      const isReviewed = reason === null || reason === 'under_review' || reason === 'payer_name';
      return { heldBy: 'operator', amount: paid, next: isReviewed ? REVIEW : NAMED };
    }
    case 'refunding':
      return refunding(facts, came);
    case 'refund_held':
      return { heldBy: 'operator', amount: came, next: REVIEW };
    case 'settled':
      return money.cameBack
        ? { heldBy: 'operator', amount: paid, next: goesBack(facts) }
        : { heldBy: 'recipient', amount: paid, next: OVER };
    case 'refunded':
      return { heldBy: 'customer', amount: came, next: OVER };
    case 'expired':
    case 'cancelled':
      return { heldBy: 'customer', amount: asked, next: OVER };
  }
}

/** Money that waits for a destination, or is on its way to one. */
const goesBack = ({ money }: Facts): Next =>
  money.told.needsDestination ? NAMED : money.destinations.length > 0 ? NAMED : REVIEW;

function paying({ parts, unconfirmedUntil }: Facts, amount: Trace['amount']): Where {
  const last = parts.payouts.filter(({ refundId }) => refundId === null).at(-1);
  if (last !== undefined && (last.state === 'submitted' || last.state === 'unknown'))
    return { heldBy: 'in_transit', amount, next: next('payout_arrives', 'rail') };
  if (unconfirmedUntil !== undefined)
    return { heldBy: 'operator', amount, next: next('destination_confirms', 'customer', { until: unconfirmedUntil }) };
  return { heldBy: 'operator', amount, next: next('payout_submits', 'operator') };
}

function refunding({ parts }: Facts, amount: Trace['amount']): Where {
  const open = parts.payouts.filter(({ purpose, endedAt }) => purpose === 'refund' && endedAt === null);
  const isOnItsWay = open.some(({ state }) => state === 'submitted' || state === 'unknown');
  return isOnItsWay
    ? { heldBy: 'in_transit', amount, next: next('refund_arrives', 'rail') }
    : { heldBy: 'operator', amount, next: next('refund_submits', 'operator') };
}

const freeUnits = (row: DepositRow): bigint =>
  row.state === 'suspense' || row.state === 'applied' || row.state === 'refunded'
    ? row.units - row.takenUnits - row.refundUnits
    : 0n;

const isOpenRefund = ({ state }: { state: string }): boolean => state !== 'settled' && state !== 'cancelled';

/** Deposits that are partly in suspense, or being refunded from there. */
const othersOf = ({ parts }: Facts): DepositRow[] =>
  parts.deposits.filter(
    (row) =>
      !row.dust &&
      (freeUnits(row) > 0n ||
        parts.refunds.some((one) => one.depositId === row.id && one.source === 'suspense' && isOpenRefund(one))),
  );

function nextOf(row: DepositRow, { parts }: Facts): Step {
  const refund = parts.refunds.find(
    (one) => one.depositId === row.id && one.source === 'suspense' && isOpenRefund(one),
  );
  switch (refund?.state) {
    case 'needs_destination':
      return 'destination_is_named';
    case 'screening':
    case 'created':
      return 'refund_submits';
    case 'submitted':
      return 'refund_arrives';
    default:
      return 'review';
  }
}

type Evidence = Trace['evidence'][number];

function evidenceOf({ parts, known }: Facts): Evidence[] {
  const line = (
    what: Evidence['what'],
    of: { id: string; units: bigint; asset: string; reference: string | null },
    at: Date | null,
  ): Evidence[] =>
    at === null
      ? []
      : [
          {
            ...{ what, id: of.id, amount: moneyOf(of.units, of.asset, known) },
            ...{ ...referencesOf(of.asset, of.reference, known), at: iso(at) },
          },
        ];
  const deposits = parts.deposits.flatMap(({ id, ...row }) => {
    const of = { ...row, id: String(id) };
    return [...line('deposit_seen', of, row.seenAt), ...line('deposit_confirmed', of, row.confirmedAt)];
  });
  const payouts = parts.payouts.flatMap((row) => {
    const kind = row.refundId === null && row.purpose === 'payout' ? 'payout' : 'refund';
    const ended =
      row.state === 'settled'
        ? (`${kind}_settled` as const)
        : row.state === 'returned'
          ? (`${kind}_returned` as const)
          : undefined;
    // A payout held by the gate never reached its rail.
    const isRails = row.state === 'rejected' && publicReason(row.why ?? '') !== 'under_review';
    const rejected = isRails && kind === 'payout' ? line('payout_rejected', row, row.endedAt) : [];
    return [
      ...line(`${kind}_submitted`, row, row.submittedAt),
      ...(ended === undefined ? [] : line(ended, row, row.endedAt)),
      ...rejected,
    ];
  });

  return [...deposits, ...payouts].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}
