/**
 * Whereabouts: who holds an order's money and what happens next, in plain words for an on-call operator. Pure.
 *
 * The state describes the order's own deposit and payout. We may hold other money of the customer's: a partial deposit, money in
 * suspense, a returned payout, money released by law. As long as we hold any of it, or the customer owes money, no sentence here
 * says that the order is over.
 */
import { formatUnits } from '../../base/money.ts';
import type { Payout } from '../../rails/payouts.ts';
import type { DepositRow } from '../deposits/store.ts';
import { isFinal, type OrderState } from '../machine.ts';
import type { Refund } from '../refunds/store.ts';
import type { Order } from '../store.ts';

export interface Whereabouts {
  heldBy: string;
  next: string;
}

const OVER = 'nothing: it is over';

export const HOLDER: Record<OrderState, Whereabouts> = {
  created: { heldBy: 'the customer', next: 'the customer pays before the deadline, or the order expires' },
  deposit_seen: { heldBy: 'under way to us', next: 'the rail confirms the deposit' },
  deposit_confirmed: { heldBy: 'us, for the customer (the deposit)', next: 'screening' },
  awaiting_liquidity: { heldBy: 'us, for the customer (the deposit)', next: 'the operator funds the treasury' },
  on_hold: { heldBy: 'us, for the customer (the deposit)', next: 'a person releases or refunds it: see its case' },
  paying_out: { heldBy: 'us, for the customer (the payout, held for the rail)', next: 'the rail pays and reports it' },
  payout_held: {
    heldBy: 'us, for the customer (the payout)',
    next: 'a person retries the payout or refunds the deposit: see its case',
  },
  refunding: {
    heldBy: 'us, for the customer (the deposit, held for the refund)',
    next: 'the rail refunds and reports it',
  },
  refund_held: { heldBy: 'us, for the customer (the deposit)', next: 'a person retries the refund: see its case' },
  settled: { heldBy: 'the customer (the payout)', next: OVER },
  refunded: { heldBy: 'the customer (the deposit, returned)', next: OVER },
  expired: { heldBy: 'the customer', next: OVER },
  cancelled: { heldBy: 'the customer', next: OVER },
  frozen: { heldBy: 'us, blocked by law', next: 'a recorded legal release' },
};

export interface Seen {
  order: Pick<Order, 'state' | 'depositAsset' | 'depositUnits'> & Partial<Pick<Order, 'dormant'>>;
  deposits: readonly DepositRow[];
  refunds: readonly Refund[];
  payouts: readonly Payout[];
  /** Why the order cannot continue, if its state does not show it. */
  ownNext: string | undefined;
  /** Payout → what an operator has to do before its rail submits it. */
  waitsForPerson: ReadonlyMap<string, string>;
  /** Subjects of refunds that wait for funds (refunds/short.ts). */
  short: ReadonlyMap<string, unknown>;
  /** Deposits whose customer has confirmed the refund address. */
  confirmed: ReadonlySet<bigint>;
  decimals: (asset: string) => number;
}

export function whereabouts(seen: Seen): Whereabouts {
  const { order } = seen;
  const own = ofOrder(seen);
  const others = inOurHands(seen);
  const apart = others.filter(({ isItsOwn }) => !isItsOwn);
  const back = others.find(({ isItsOwn }) => isItsOwn);
  // The returned or released money is all of the order's money.
  const held = back === undefined ? own : { heldBy: back.heldBy, next: back.next };
  const debt = owed(seen);
  const base = { ...held, next: [...(held.next === OVER && debt.length > 0 ? [] : [held.next]), ...debt].join('; ') };
  if (apart.length === 0) return base;
  const suspense = `us, in suspense: ${apart.map(({ heldBy }) => heldBy).join(', ')}`;
  const isNothingElse = order.state === 'expired' || order.state === 'cancelled';
  return {
    heldBy: isNothingElse ? suspense : `${base.heldBy}; ${suspense}`,
    next: [...(base.next === OVER ? [] : [base.next]), ...apart.map(({ next }) => next)].join('; '),
  };
}

/** Partial deposits that wait for the rest; `underWay` is the amount not confirmed yet. */
export function partsOf({ order, deposits }: Pick<Seen, 'order' | 'deposits'>): { units: bigint; underWay: bigint } {
  const sum = (state: DepositRow['state']) =>
    deposits
      .filter((row) => row.state === state && row.asset === order.depositAsset && !row.late)
      .reduce((units, row) => units + row.units, 0n);
  const isUnpaid = order.state === 'created' || order.state === 'deposit_seen';
  return isUnpaid ? { units: sum('confirmed'), underWay: sum('seen') } : { units: 0n, underWay: 0n };
}

function ofOrder(seen: Seen): Whereabouts {
  const { order, ownNext, deposits, refunds } = seen;
  const usual = HOLDER[order.state];
  const parts = partsOf(seen);
  const amount = (units: bigint) => `${formatUnits(units, seen.decimals(order.depositAsset))}`;
  if (parts.units > 0n) {
    const ours = `us, for the customer (${amount(parts.units)} ${order.depositAsset} of ${amount(order.depositUnits)})`;
    const missing = order.depositUnits - parts.units - parts.underWay;
    const more = `the customer pays the missing ${amount(missing)} ${order.depositAsset} before the deadline`;
    if (parts.underWay === 0n) return { heldBy: ours, next: more };
    return {
      heldBy: `${ours}; under way to us: ${amount(parts.underWay)} ${order.depositAsset}`,
      next: missing > 0n ? `${usual.next}; ${more}` : usual.next,
    };
  }
  const released = deposits.filter(({ origin }) => origin === 'released');
  if (order.state === 'frozen' && released.length > 0) {
    if (released.every(({ state }) => state === 'reversed'))
      return { heldBy: 'no one (released by law, and its deposit was reversed)', next: OVER };
    const open = released.some((row) => !isOver(row, refunds));
    return { heldBy: `${open ? 'us, for the customer' : 'the customer'} (released by law)`, next: OVER };
  }
  if (order.dormant) return { heldBy: `${usual.heldBy}, unclaimed and dormant`, next: ownNext ?? usual.next };
  const waiting = order.state === 'paying_out' || order.state === 'refunding' ? waitsFor(seen, undefined) : undefined;
  return { heldBy: usual.heldBy, next: ownNext ?? waiting ?? usual.next };
}

/** Why an open attempt does not continue: a cause at the gate, or a step of an operator for which its rail waits. */
function waitsFor({ payouts, waitsForPerson }: Seen, key: string | null | undefined): string | undefined {
  for (const { id, endedAt, waitsFor: cause } of payouts) {
    if (endedAt !== null || (key !== undefined && id !== key)) continue;
    if (cause !== null) return `${id} waits before it is submitted: ${cause}`;
    const person = waitsForPerson.get(id);
    if (person !== undefined) return `${id} has not been sent: ${person}`;
  }
  return undefined;
}

interface InOurHands extends Whereabouts {
  /**
   * Whether this is the order's own money, returned or released by law: it replaces the order's money instead of adding to it.
   */
  isItsOwn: boolean;
}

function inOurHands(seen: Seen): InOurHands[] {
  return seen.deposits
    .filter((row) => !isOver(row, seen.refunds))
    .map((row) => {
      const refund = seen.refunds.find((one) => one.depositId === row.id && one.source === 'suspense' && isOpen(one));
      const units = refund?.netUnits ?? freeUnits(row);
      const next = refund === undefined ? undecided(seen, row) : nextOf(seen, row, refund);
      const what = `${formatUnits(units, seen.decimals(row.asset))} ${row.asset}`;
      const cameBack = row.origin === 'returned' && row.why === 'payout_returned';
      if (cameBack) return { isItsOwn: true, heldBy: 'us, for the customer (the payout, which came back)', next };
      if (row.origin === 'released') return { isItsOwn: true, heldBy: 'us, for the customer (released by law)', next };
      const refundCameBack =
        seen.order.state === 'refunded' &&
        seen.payouts.some(({ refundId, state }) => refundId === refund?.id && state === 'returned');
      if (refundCameBack)
        return { isItsOwn: true, heldBy: 'us, for the customer (the deposit, whose refund came back)', next };
      return {
        isItsOwn: false,
        heldBy: `${what} (deposit ${row.id}, ${row.why ?? row.state}${row.dormantUnits > 0n ? ', dormant' : ''})`,
        next,
      };
    });
}

/** Sentences about the amount that the chain or bank reversed after the payout, minus the customer's repayments. */
const owed = ({ deposits, decimals }: Seen): string[] =>
  deposits
    .filter(({ state, lostTo, lostUnits }) => state === 'lost' && lostTo?.startsWith('receivable') && lostUnits > 0n)
    .map(
      ({ id, asset, lostUnits }) =>
        `the customer owes ${formatUnits(lostUnits, decimals(asset))} ${asset} (deposit ${id}, reversed after it was paid out): see its case`,
    );

const undecided = ({ confirmed }: Seen, { id }: DepositRow): string =>
  confirmed.has(id) ? returned(id) : `a person decides about deposit ${id}: see its case`;

const returned = (id: bigint): string =>
  `two people return deposit ${id} to the address that its customer has confirmed: see its case`;

function nextOf(seen: Seen, row: DepositRow, refund: Refund): string {
  const of = `refund ${refund.id} of deposit ${row.id}`;
  const isOnItsWay = refund.state === 'screening' || refund.state === 'created' || refund.state === 'submitted';
  if (seen.confirmed.has(row.id) && !isOnItsWay) return returned(row.id);
  switch (refund.state) {
    case 'needs_destination':
      return `the customer or its partner names a destination (${of})`;
    case 'screening':
      return seen.short.has(`refund:${refund.id}`)
        ? `${of} is sent once the wallet or account that pays it has the funds: see the case refund_short about ${refund.rail}:${refund.asset}`
        : `${of} is screened and sent`;
    case 'created':
    case 'submitted':
      return waitsFor(seen, refund.key) ?? `the rail pays ${of} and reports it`;
    default:
      return `a person sends ${of} again, or another destination is named: see its case`;
  }
}

const isOpen = ({ state }: Refund): boolean => state !== 'settled' && state !== 'cancelled';

const freeUnits = (row: DepositRow): bigint =>
  row.state === 'suspense' || row.state === 'applied' || row.state === 'refunded'
    ? row.units - row.takenUnits - row.refundUnits
    : 0n;

/** Whether no part of a deposit is in suspense and no refund of it is under way. Dust does not count. */
const isOver = (row: DepositRow, refunds: readonly Refund[]): boolean =>
  row.dust ||
  (freeUnits(row) <= 0n &&
    !refunds.some((one) => one.depositId === row.id && one.source === 'suspense' && isOpen(one)));

/** Whether an order has ended and we hold none of its money. */
export const isAllOver = (
  { state }: { state: OrderState },
  { deposits, refunds }: { deposits: readonly DepositRow[]; refunds: readonly Refund[] },
): boolean => isFinal(state) && deposits.every((row) => isOver(row, refunds));
