/**
 * Money that was paid out of a deposit, and the deposit was reversed: the customer owes it. These are the debts that become known
 * late, because the rail had rejected the payment at first and the reversal was booked as a loss. A debt that is known at the
 * reversal is booked there (reversed.ts).
 */
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { assert } from '../../base/errors.ts';
import { closeCases, openCase } from '../../compliance/index.ts';
import { findCustomer, findFiatAccount, lockCustomer } from '../../customers/index.ts';
import { type Account, chart, type Line, move, post } from '../../ledger/index.ts';
import { type Payout, payoutsOf, payoutsOfRefund } from '../../rails/payouts.ts';
import { custodyOf, fromPosition } from '../advance.ts';
import { blockDebtor } from '../blocked.ts';
import type { Context } from '../context.ts';
import { linesFor } from '../entries.ts';
import { releasedRefunds } from '../refunds/released.ts';
import { mayHaveLeft } from '../refunds/rest.ts';
import { refundsOfDeposit } from '../refunds/store.ts';
import type { Order } from '../store.ts';
import { REASONS } from './facts.ts';
import type { DepositRow } from './store.ts';
import * as depositStore from './store.ts';

export type Debtor = Pick<Order, 'customerId' | 'partnerId'>;

/** The customer whose account was paid; undefined if the account belongs to no customer of ours, as a sender's. */
export async function ownerOf(tx: Tx, fiatAccountId: bigint | null): Promise<Debtor | undefined> {
  if (fiatAccountId === null) return undefined;
  const { customerId } = await findFiatAccount(tx, fiatAccountId);
  if (customerId === null) return undefined;
  return { customerId, partnerId: (await findCustomer(tx, customerId)).partnerId };
}

/**
 * The payments that left, or may have left, out of a deposit: by the payout of the order that accepted it, or by a refund of it.
 * They are read from payouts that were submitted and not rejected, because an order's state does not cover money that the order
 * did not accept.
 */
async function paymentsOf(tx: Tx, row: DepositRow, order: Order | undefined): Promise<Payout[]> {
  const hasTaken = order !== undefined && row.takenUnits > 0n;
  const taken = hasTaken ? (await payoutsOf(tx, order.id)).filter(({ refundId }) => refundId === null) : [];
  const refunds: Payout[] = [];
  const released = hasTaken ? await releasedRefunds(tx, order.id) : [];
  for (const { id, netUnits } of [...(await refundsOfDeposit(tx, row.id)), ...released])
    refunds.push(...(await payoutsOfRefund(tx, id)).filter((one) => !isBack(one, netUnits)));
  return [...taken, ...refunds].filter(mayHaveLeft);
}

/**
 * The customer who was, or may have been, paid out of a deposit (`paymentsOf`). Without an order it is the owner of the account to
 * which a refund went.
 */
export async function whoWasPaid(tx: Tx, row: DepositRow, order: Order | undefined): Promise<Debtor | undefined> {
  const [first] = await paymentsOf(tx, row, order);
  if (order !== undefined) return first && order;
  return await ownerOf(tx, first?.fiatAccountId ?? null);
}

/** Blocks the customer who owes a deposit. The debt's own case is about the deposit's payments. The caller has locked the customer. */
export async function blockOwing(
  tx: Tx,
  { customerId }: Pick<Debtor, 'customerId'>,
  { row, order, now }: { row: DepositRow; order: Order | undefined; now: Date },
): Promise<void> {
  const payments = (await paymentsOf(tx, row, order)).map(({ id }) => id);
  await blockDebtor(tx, customerId, { payments, now });
}

/** Whether a refund was returned in full: its customer received no part of it. */
const isBack = ({ state, units }: Payout, cameBackUnits: bigint): boolean =>
  state === 'returned' && units <= cameBackUnits;

const PAID_AFTER_ALL = 'its order was paid after all';

/**
 * An order was paid after all, by a payout that its rail had rejected, and one of its deposits was reversed meanwhile. The
 * reversal was booked as a loss, because no payout seemed to have left. Now the customer owes it, as if the payout had been known
 * at that time.
 */
export async function owesAfterAll(tx: Tx, order: Order, now: Date): Promise<void> {
  for (const row of await depositStore.depositsOf(tx, order.id)) {
    const { asset, lostUnits: units, stateBeforeLoss: before } = row;
    const loss = chart.loss(asset);
    if (row.state !== 'lost' || before !== 'applied' || units === 0n || row.lostTo !== loss.code) continue;
    await lockCustomer(tx, order.customerId);
    const to = chart.receivable(order.customerId, order.partnerId, asset);
    await owe(tx, { order, debtor: order, row, to, lines: move(to, loss, units), how: PAID_AFTER_ALL, now });
  }
}

/**
 * As `owesAfterAll`, for an order that has given up the reversed deposit and was cancelled. The payout was booked as a loss; the
 * order's exchange is booked instead, against the customer's debt. If the amount differs from the order's, operators decide in
 * the contradiction's case, and the customer is blocked.
 *
 * @param paidUnits the amount that left, booked as a loss of the payout's asset
 */
export async function owesAfterCancelling(
  context: Context,
  tx: Tx,
  { order, paidUnits, now }: { order: Order; paidUnits: bigint; now: Date },
): Promise<void> {
  if (order.state !== 'cancelled') return;
  const lost = (await depositStore.depositsOf(tx, order.id)).filter(
    ({ state, lostUnits }) => state === 'lost' && lostUnits > 0n,
  );
  if (lost.length === 0) return;
  // Of a deposit that was refunded in part, only that part is left: the amounts differ then.
  const givenUp = lost.filter(({ stateBeforeLoss }) => stateBeforeLoss === 'reversed');
  await lockCustomer(tx, order.customerId);
  const receivedUnits = order.receivedUnits ?? order.depositUnits;
  const lostUnits = givenUp.reduce((sum, row) => sum + row.lostUnits, 0n);
  if (paidUnits !== order.payoutUnits || lostUnits !== receivedUnits)
    return await blockDebtor(tx, order.customerId, { now });
  const to = chart.receivable(order.customerId, order.partnerId, order.depositAsset);
  const account = chart.order(order.id, order.partnerId, order.depositAsset);
  const exchange = linesFor('convert_and_payout_found', { ...order, receivedUnits }, custodyOf(context.rails, order));
  for (const [at, row] of givenUp.entries()) {
    const owed = move(to, account, row.lostUnits);
    const lines = at + 1 < givenUp.length ? owed : [...owed, ...exchange];
    await owe(tx, { order, debtor: order, row, to, lines, how: PAID_AFTER_ALL, now });
  }
}

/**
 * A reversed deposit whose money has left becomes its customer's debt, with a case and a block. The caller has locked the
 * customer.
 *
 * @param owed.debtor undefined if no known customer received the money: then it stays lost
 * @param owed.to     the debt's account, or the loss
 * @param owed.lines  none if it is on that account already
 * @param owed.units  the amount that is owed; default: what was lost
 * @param owed.before the deposit's state as if the reversal had come last
 * @param owed.how    how the money turned out to have left
 */
export async function owe(
  tx: Tx,
  owed: {
    order: Order | undefined;
    debtor: Debtor | undefined;
    row: DepositRow;
    to: Account;
    lines: readonly Line[];
    units?: bigint;
    before?: 'applied' | 'refunded';
    how: string;
    now: Date;
  },
): Promise<void> {
  const { order, debtor, row, to, lines, before = 'applied', how, now } = owed;
  const { id, asset, reference } = row;
  const units = owed.units ?? row.lostUnits;
  const entry = {
    id: `dep_${id}:owed`,
    kind: 'deposit_lost',
    ...defined({ orderId: order?.id }),
    at: now,
    facts: { deposit: String(id), reference },
  };
  if (lines.length > 0) {
    let posted = await post(tx, { ...entry, lines: [...lines] });
    // The money has left, whatever the treasury has now: the position account covers it.
    if (posted.outcome === 'short' && order !== undefined)
      posted = await post(tx, { ...entry, lines: lines.flatMap(fromPosition(order.payoutAsset)) });
    assert(posted.outcome === 'posted', `deposit ${id} is not booked as a loss`);
  }
  await depositStore.markLost(tx, id, { why: row.why ?? REASONS.lost, before, units, to: to.code });
  if (debtor !== undefined) await blockOwing(tx, debtor, { row, order, now });
  const about = { subject: `deposit:${id}`, now };
  await closeCases(tx, { ...about, kind: 'deposit_lost', outcome: how });
  await openCase(tx, {
    ...about,
    kind: debtor === undefined ? 'deposit_lost' : 'customer_owes',
    ...defined({ orderId: order?.id, partnerId: debtor?.partnerId ?? row.partnerId ?? undefined }),
    reason:
      debtor === undefined
        ? `reversed, and ${how}: no known customer received it`
        : `reversed, and ${how}: the customer owes it, and is blocked`,
    facts: { units: String(units), asset, reference },
  });
}

/**
 * The opposite of `owesAfterAll`: a deposit was reversed while a payment of it was under way, so its customer owed it. That payment
 * has failed or come back, and no other has left: what the books still miss of the deposit is a loss, as if the payment had never
 * been sent.
 *
 * @param gone.payment the id of the payment, which names the entry
 * @param gone.debt    the account on which the deposit is booked as owed
 */
export async function owesNothing(
  tx: Tx,
  gone: { order: Order; depositId: bigint; payment: string; debt: Account; now: Date },
): Promise<void> {
  const { order, payment, debt, now } = gone;
  const row = await depositStore.lockDepositById(tx, gone.depositId);
  assert(row !== undefined, `deposit ${gone.depositId} has disappeared`);
  const { id, asset, reference, lostUnits: units, stateBeforeLoss: before } = row;
  const loss = chart.loss(asset);
  if (row.state !== 'lost' || units === 0n || row.lostTo !== debt.code || debt.code === loss.code) return;
  if ((await whoWasPaid(tx, row, order)) !== undefined) return;
  const posted = await post(tx, {
    id: `${payment}:not_owed`,
    kind: 'deposit_lost',
    orderId: order.id,
    at: now,
    facts: { deposit: String(id), reference },
    lines: move(loss, debt, units),
  });
  assert(posted.outcome === 'posted', `deposit ${id} is not booked as owed`);
  await depositStore.markLost(tx, id, {
    why: row.why ?? REASONS.lost,
    before: before ?? 'applied',
    units,
    to: loss.code,
  });
  const about = { subject: `deposit:${id}`, now };
  // Also one about money in suspense: there is none any more.
  await closeCases(tx, { ...about, outcome: 'nothing of it was paid after all' });
  await openCase(tx, {
    ...about,
    kind: 'deposit_lost',
    orderId: order.id,
    partnerId: order.partnerId,
    reason: REASONS.lost,
    facts: { units: String(units), asset, reference },
  });
}
