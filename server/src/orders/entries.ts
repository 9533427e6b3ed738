/**
 * Entries: the lines that each transition of an order posts. Pure; both directions use the same lines.
 *
 * The order's account in the deposit asset holds what the customer paid; its account in the payout asset holds what the
 * customer is to receive. Converting exchanges one for the other with the treasury at the booked rate. Fees are in the
 * market's fiat, which is one of the two assets, so they are taken from whichever leg is the fiat.
 */
import { assert } from '../base/errors.ts';
import { type Account, chart, hold, type Line, move, release, settle } from '../ledger/index.ts';
import { FEE_KINDS, type FeeKind, type Fees, total } from '../quotes/index.ts';
import type { EntryName } from './machine.ts';

/** The fields of an order that entries use. */
export interface BookedOrder {
  id: bigint;
  partnerId: bigint;
  depositAsset: string;
  /** Units that the order's account received: the amount asked for, or less if an underpaid deposit was accepted. */
  receivedUnits: bigint;
  payoutAsset: string;
  payoutUnits: bigint;
  grossUnits: bigint;
  fiatAsset: string;
  fees: Fees;
  payoutAttempt: number;
}

/**
 * A refund as entries see it. The hold of an attempt has the id of its payout, and the hold of the fee kept has that id with a
 * suffix.
 */
export interface BookedRefund {
  key: string;
  netUnits: bigint;
  costUnits: bigint;
}

/** Custody accounts of the order's rails. */
export interface Custody {
  deposits: Account;
  payouts: Account;
  /** The account from which refunds leave: the deposit asset in the deposit rail's paying wallet. */
  refunds: Account;
}

/** One deposit's share of a receive entry: the account on which its money is now, and how much of it belongs to the order. */
export interface ReceivedPart {
  from: Account;
  toOrderUnits: bigint;
  /** The excess, which goes to suspense. Only money not booked before can be in excess. */
  excessUnits: bigint;
  suspense: Account;
}

/** The part of a deposit that its rail reversed, and the account on which it is booked since: a loss, or the customer's debt. */
export interface LostPart {
  units: bigint;
  bookedTo: Account;
}

/** Input that only some entries need. */
export interface EntryGiven {
  /** For 'receive'. */
  parts?: readonly ReceivedPart[] | undefined;
  /** Refunds that are held, settled or released. */
  refunds?: readonly BookedRefund[] | undefined;
  /** Parts of the order's deposit that its rail reversed and that we do not refund. */
  lost?: readonly LostPart[] | undefined;
  /** For 'payout_found'; the order's own amounts by default. */
  paid?: PaidBefore | undefined;
}

/** The amount that left through an attempt that its rail had rejected. It was booked as a loss. */
export interface PaidBefore {
  units: bigint;
  /** The account for the rest of the order's balance, in the payout asset; default: it is booked as a difference. */
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

/** Id of the current attempt: also the id of the payout row and of the hold, and the key passed to the rail. */
export const payoutId = (order: { id: bigint; payoutAttempt: number }): string =>
  `pay_${order.id}_${order.payoutAttempt}`;

const kept = (key: string): string => `${key}:kept`;

/** Holds a refund on the account where its money is (an order's, or suspense): the amount sent, and the fee kept. */
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
/** A refund that its rail rejected and later paid. The payment was booked as a loss, which the refund's money now covers. */
export const foundRefund = ({ netUnits, costUnits }: BookedRefund, from: Account): Line[] => [
  ...move(from, chart.loss(from.asset), netUnits),
  ...move(from, chart.feeOperator(from.asset), costUnits),
];

const holdRefunds = (refunds: readonly BookedRefund[], from: Account, to: Account): Line[] =>
  refunds.flatMap((refund) => holdRefund(refund, from, to));

/** Clears the loss or debt of the reversed parts with the order's deposit balance: the order gives up its claim. */
const giveUp = (deposit: Account, lost: readonly LostPart[]): Line[] =>
  lost.flatMap(({ units, bookedTo }) => move(deposit, bookedTo, units));

/** The order's balance covers the loss. What remains is booked as a difference, or stays the customer's. */
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
    // The fraction below the payout's decimals has an account of its own.
    ...move(payout, chart.rounding(order.payoutAsset), order.grossUnits - feesOnPayout - order.payoutUnits),
  ];
}

/** The account that a fee of an order is booked to. */
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

/** The same line in the opposite direction: to undo a conversion or to refund fees. */
function turned(line: Line): Line {
  assert(line.step === 'post', 'a conversion is made of plain moves');
  return { ...line, debit: line.credit, credit: line.debit };
}

/** Moves everything on the order's accounts to `blocked`. */
export function blockedLines(
  orderId: bigint,
  partnerId: bigint,
  balances: readonly { asset: string; units: bigint }[],
): Line[] {
  return balances.flatMap(({ asset, units }) =>
    move(chart.order(orderId, partnerId, asset), chart.blocked(asset), units),
  );
}
