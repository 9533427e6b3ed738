/**
 * Trace: where an order's money is. Who holds it, since when, on what evidence, and what happens next.
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { type Balance, orderBalances, type StatementLine, statement } from '../ledger/index.ts';
import { type Payout, payoutsOf } from '../rails/payouts.ts';
import { deadlineOf, holdBeforePayout, isHeldByScreening } from './decide.ts';
import { type OrderState, STATES } from './machine.ts';
import { type Refund, refundsOf } from './refunds.store.ts';
import { type DepositRow, type ListedOrder, type Order, store } from './store.ts';

export interface MoneyTrace {
  order: Order;
  /** In words a person at night understands: who has the customer's money now. */
  heldBy: string;
  since: Date;
  /** What happens next without anybody's doing, or who has to act. */
  next: string;
  /** By when, and what happens then if it has not; null where nothing is waited for. */
  by: Date | null;
  otherwise: string | null;
  /** Orders made of deposits that came for this one too late or a second time. */
  followedBy: bigint[];
  history: Awaited<ReturnType<typeof store.history>>;
  deposits: DepositRow[];
  payouts: Payout[];
  refunds: Refund[];
  balances: Balance[];
  entries: StatementLine[];
}

const HOLDER: Record<OrderState, { heldBy: string; next: string }> = {
  created: { heldBy: 'the customer', next: 'the customer pays before the deadline, or the order expires' },
  deposit_seen: { heldBy: 'under way to us', next: 'the rail confirms the deposit' },
  deposit_confirmed: { heldBy: 'us, for the customer (the deposit)', next: 'screening' },
  awaiting_liquidity: { heldBy: 'us, for the customer (the deposit)', next: 'the operator funds the treasury' },
  on_hold: { heldBy: 'us, for the customer (the deposit)', next: 'a person releases or rejects it: see its case' },
  paying_out: { heldBy: 'us, for the customer (the payout, held for the rail)', next: 'the rail pays and shows it' },
  payout_held: { heldBy: 'us, for the customer (the payout)', next: 'a person retries or rejects it: see its case' },
  refunding: {
    heldBy: 'us, for the customer (the deposit, held for the refund)',
    next: 'the rail refunds and shows it',
  },
  refund_held: { heldBy: 'us, for the customer (the deposit)', next: 'a person retries the refund: see its case' },
  settled: { heldBy: 'the customer (the payout)', next: 'nothing: it is over' },
  refunded: { heldBy: 'the customer (the deposit, returned)', next: 'nothing: it is over' },
  expired: { heldBy: 'the customer', next: 'nothing: it is over' },
  cancelled: { heldBy: 'the customer', next: 'nothing: it is over' },
  frozen: { heldBy: 'us, blocked by law', next: 'a recorded legal release' },
};

/** What is left to do about an order that nobody may have paid out as it stands. */
const CANNOT_GO_ON: Record<NonNullable<ReturnType<typeof holdBeforePayout>>, (not: string) => string> = {
  deposit_lost: (not) =>
    `a person refuses it, or assigns a deposit in place of the one taken back: it cannot be ${not}`,
  underpaid: (not) => `a person refuses it: less came than it asks for, so it cannot be ${not}`,
  overpaid: (not) => `a person refuses it: more came than it asks for, so it cannot be ${not}`,
};

async function nextOf(tx: Tx, order: Order): Promise<string> {
  const { state } = order;
  if (state === 'on_hold' || state === 'payout_held') {
    const why = holdBeforePayout(order, await store.hasLostDeposit(tx, order.id));
    if (why !== undefined) return CANNOT_GO_ON[why](state === 'on_hold' ? 'released' : 'paid');
  }
  return HOLDER[state].next;
}

function deadlineIn(order: Order, history: MoneyTrace['history']): Pick<MoneyTrace, 'by' | 'otherwise'> {
  if (order.state === 'created') return { by: order.expiresAt, otherwise: 'it expires' };
  const deadline = deadlineOf(order.state, order.policy);
  if (deadline === undefined) return { by: null, otherwise: null };
  const again = order.overdue ? 'the case stays open, or is opened anew' : 'a case is opened';
  const goesBack = deadline.then === 'refund' && !(order.state === 'on_hold' && isHeldByScreening(history));
  return { by: order.waitsUntil, otherwise: goesBack ? `${again}, and the money goes back` : again };
}

/** @throws Refusal 'unknown_order' */
export async function trace(tx: Tx, orderId: bigint): Promise<MoneyTrace> {
  const order = await store.get(tx, orderId);
  if (order === undefined) throw new Refusal('unknown_order', {});
  const history = await store.history(tx, orderId);
  return {
    order,
    heldBy: HOLDER[order.state].heldBy,
    next: await nextOf(tx, order),
    ...deadlineIn(order, history),
    followedBy: await store.followersOf(tx, orderId),
    since: history.at(-1)?.at ?? order.createdAt,
    history,
    deposits: await store.depositsOf(tx, orderId),
    payouts: await payoutsOf(tx, orderId),
    refunds: await refundsOf(tx, orderId),
    balances: await orderBalances(tx, orderId),
    entries: await statement(tx, orderId),
  };
}

/** Whether an order's own accounts hold what its state says they hold. Empty when they do. */
export function invariantBroken(order: ListedOrder, balances: readonly Balance[]): string {
  const of = (asset: string) => balances.find((one) => one.asset === asset) ?? { units: 0n, heldUnits: 0n };
  // Parts go back one by one.
  const received = (order.receivedUnits ?? order.depositUnits) - order.refundedUnits;
  const want: Record<string, { units: bigint; heldUnits: bigint }> = {
    [order.depositAsset]: { units: 0n, heldUnits: 0n },
    [order.payoutAsset]: { units: 0n, heldUnits: 0n },
  };
  const { holds } = STATES[order.state];
  if (holds.startsWith('the deposit')) {
    want[order.depositAsset] = { units: received, heldUnits: holds.endsWith('held') ? received : 0n };
  }
  if (holds.startsWith('the payout')) {
    want[order.payoutAsset] = { units: order.payoutUnits, heldUnits: holds.endsWith('held') ? order.payoutUnits : 0n };
  }
  for (const [asset, { units, heldUnits }] of Object.entries(want)) {
    const has = of(asset);
    if (has.units !== units || has.heldUnits !== heldUnits) {
      return `order ${order.id} in ${order.state} holds ${has.units} (${has.heldUnits} held) ${asset}, should hold ${units} (${heldUnits} held)`;
    }
  }
  return '';
}
