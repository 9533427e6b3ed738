/**
 * Entries: which lines each transition of an order posts. Pure; both directions by the same lines.
 *
 * The order's account in the deposit asset holds what the customer gave; its account in the payout asset what the customer
 * is to get. Converting exchanges one for the other with the treasury at the booked rate. Fees stand in the market's fiat,
 * which is one of the two, so they come off whichever leg the fiat is.
 */
import { assert } from '../base/errors.ts';
import { type Account, chart, hold, type Line, move, release, settle } from '../ledger/index.ts';
import { FEE_KINDS, type FeeKind, type Fees, total } from '../quotes/index.ts';
import type { EntryName } from './machine.ts';

/** What entries need to know of an order. */
export interface BookedOrder {
  id: bigint;
  partnerId: bigint;
  depositAsset: string;
  /** What the order's account received: what was asked, or less where an underpaid deposit was taken. */
  receivedUnits: bigint;
  payoutAsset: string;
  payoutUnits: bigint;
  grossUnits: bigint;
  fiatAsset: string;
  fees: Fees;
  payoutAttempt: number;
}

/** A refund as entries see it: one attempt's hold is named like its payout, what is kept of it like that with a suffix. */
export interface BookedRefund {
  key: string;
  netUnits: bigint;
  costUnits: bigint;
}

/** Custody accounts of the order's rails. */
export interface Custody {
  deposits: Account;
  payouts: Account;
  /** Where a refund leaves from: the deposit asset, out of the deposit rail's paying wallet. */
  refunds: Account;
}

/** One deposit's share in a receive entry: where its money is now, and how much of it is the order's. */
export interface ReceivedPart {
  from: Account;
  toOrderUnits: bigint;
  /** Above what was asked: to suspense. Only money not booked before can be in excess. */
  excessUnits: bigint;
  suspense: Account;
}

/** What a rail took back of a deposit, and where it stands since: a loss, or what a customer owes. */
export interface LostPart {
  units: bigint;
  bookedTo: Account;
}

/** What only some entries need. */
export interface EntryGiven {
  /** For 'receive'. */
  parts?: readonly ReceivedPart[] | undefined;
  /** Refunds that are held, settled or let go. */
  refunds?: readonly BookedRefund[] | undefined;
  /** Of the order's deposit: reversed by its rail, and not to be refunded by us. */
  lost?: readonly LostPart[] | undefined;
  /** For 'payout_found'; what the order says where left out. */
  paid?: PaidBefore | undefined;
}

/** What has left for an order by an attempt that its rail had rejected, and was booked as a loss then. */
export interface PaidBefore {
  units: bigint;
  /** Where what the order holds beyond that goes, in the payout asset; it stays with us as a difference where left out. */
  rest?: Account | undefined;
}

export function linesFor(
  name: EntryName,
  order: BookedOrder,
  custody: Custody,
  { parts = [], refunds = [], lost = [], paid }: EntryGiven = {},
): Line[] {
  const deposit = chart.order(order.id, order.partnerId, order.depositAsset);
  const payout = chart.order(order.id, order.partnerId, order.payoutAsset);
  switch (name) {
    case 'receive':
      return parts.flatMap((part) => [
        ...move(part.from, deposit, part.toOrderUnits),
        ...move(part.from, part.suspense, part.excessUnits),
      ]);
    case 'convert_and_hold':
      return [...convert(order, deposit, payout), ...holdPayout(order, custody)];
    case 'hold_payout':
      return holdPayout(order, custody);
    case 'settle_payout':
      return settle(payoutId(order));
    case 'void_payout':
      return release(payoutId(order));
    case 'payout_found':
      return foundPayout(order, payout, paid);
    case 'convert_and_payout_found':
      return [...convert(order, deposit, payout), ...foundPayout(order, payout, paid)];
    case 'hold_refund':
      return [...giveUp(deposit, lost), ...holdRefunds(refunds, deposit, custody.refunds)];
    case 'settle_refund':
      return refunds.flatMap(settleRefund);
    case 'void_refund':
      return refunds.flatMap(voidRefund);
    case 'refund_found':
      return refunds.flatMap((refund) => foundRefund(refund, deposit));
    case 'reverse_conversion':
      return convert(order, deposit, payout).map(turned);
    case 'reverse_conversion_and_hold_refund':
      return [
        ...convert(order, deposit, payout).map(turned),
        ...giveUp(deposit, lost),
        ...holdRefunds(refunds, deposit, custody.refunds),
      ];
    case 'give_up_deposit':
      return giveUp(deposit, lost);
    case 'reverse_conversion_and_give_up':
      return [...convert(order, deposit, payout).map(turned), ...giveUp(deposit, lost)];
    case 'move_to_blocked':
      assert(false, 'move_to_blocked is built from balances');
  }
}

/** Id of the attempt that is under way: also the payout row's id, the hold's, and the key the rail gets. */
export const payoutId = (order: { id: bigint; payoutAttempt: number }): string =>
  `pay_${order.id}_${order.payoutAttempt}`;

const kept = (key: string): string => `${key}:kept`;

/** Sets a refund aside where its money stands, be that an order's account or suspense: what goes out, and what is kept. */
export const holdRefund = ({ key, netUnits, costUnits }: BookedRefund, from: Account, to: Account): Line[] => [
  ...hold(key, from, to, netUnits),
  ...(costUnits === 0n ? [] : hold(kept(key), from, chart.feeOperator(from.asset), costUnits)),
];
export const settleRefund = ({ key, costUnits }: BookedRefund): Line[] => [
  ...settle(key),
  ...(costUnits === 0n ? [] : settle(kept(key))),
];
export const voidRefund = ({ key, costUnits }: BookedRefund): Line[] => [
  ...release(key),
  ...(costUnits === 0n ? [] : release(kept(key))),
];
/** A refund that has left although its rail had rejected it, which was booked as a loss then: what is here for it makes that good. */
export const foundRefund = ({ netUnits, costUnits }: BookedRefund, from: Account): Line[] => [
  ...move(from, chart.loss(from.asset), netUnits),
  ...move(from, chart.feeOperator(from.asset), costUnits),
];

const holdRefunds = (refunds: readonly BookedRefund[], from: Account, to: Account): Line[] =>
  refunds.flatMap((refund) => holdRefund(refund, from, to));

/** Whoever paid what was reversed gives up the claim to it: it is no loss any more, and nobody owes it. */
const giveUp = (deposit: Account, lost: readonly LostPart[]): Line[] =>
  lost.flatMap(({ units, bookedTo }) => move(deposit, bookedTo, units));

/** What the order holds makes the loss good. What is left of either is a difference, or still the customer's. */
function foundPayout(order: BookedOrder, payout: Account, paid: PaidBefore = { units: order.payoutUnits }): Line[] {
  const [loss, difference] = [chart.loss(payout.asset), chart.difference(payout.asset)];
  const covered = paid.units < order.payoutUnits ? paid.units : order.payoutUnits;
  return [
    ...move(payout, loss, covered),
    ...move(payout, paid.rest ?? difference, order.payoutUnits - covered),
    ...move(difference, loss, paid.units - covered),
  ];
}

const holdPayout = (order: BookedOrder, custody: Custody): Line[] =>
  hold(payoutId(order), chart.order(order.id, order.partnerId, order.payoutAsset), custody.payouts, order.payoutUnits);

function convert(order: BookedOrder, deposit: Account, payout: Account): Line[] {
  const fiatLeg = order.fiatAsset === order.depositAsset ? deposit : payout;
  const feeLines = FEE_KINDS.flatMap((kind) => move(fiatLeg, feeAccount(kind, order), order.fees[kind]));
  const feesOnDeposit = fiatLeg === deposit ? total(order.fees) : 0n;
  const feesOnPayout = fiatLeg === payout ? total(order.fees) : 0n;
  return [
    ...move(deposit, chart.treasury(order.depositAsset), order.receivedUnits - feesOnDeposit),
    ...move(chart.treasury(order.payoutAsset), payout, order.grossUnits),
    ...feeLines,
    // What was cut off below the places we pay out stays in the books by name.
    ...move(payout, chart.rounding(order.payoutAsset), order.grossUnits - feesOnPayout - order.payoutUnits),
  ];
}

/** Which account a fee of an order stands on. */
export function feeAccount(kind: FeeKind, order: Pick<BookedOrder, 'partnerId' | 'fiatAsset'>): Account {
  switch (kind) {
    case 'operator':
      return chart.feeOperator(order.fiatAsset);
    case 'partner':
      return chart.feePartner(order.partnerId, order.fiatAsset);
    case 'rail':
      return chart.feeRail(order.fiatAsset);
    case 'chain':
      return chart.feeChain(order.fiatAsset);
    case 'tax':
      return chart.tax(order.fiatAsset);
  }
}

/** The same move the other way round: undoing a conversion, fees refunded. */
function turned(line: Line): Line {
  assert(line.step === 'post', 'a conversion is made of plain moves');
  return { ...line, debit: line.credit, credit: line.debit };
}

/** Everything the order's accounts hold, to `blocked`. */
export function blockedLines(
  orderId: bigint,
  partnerId: bigint,
  balances: readonly { asset: string; units: bigint }[],
): Line[] {
  return balances.flatMap(({ asset, units }) =>
    move(chart.order(orderId, partnerId, asset), chart.blocked(asset), units),
  );
}
