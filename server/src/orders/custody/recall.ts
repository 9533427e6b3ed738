/**
 * A bank's recall of a part of a credit that the bank's statement does not name: the debit is booked as unexplained. Two
 * operators who have read the bank's notice then name the deposit.
 *
 * If its money has left, the loss becomes the customer's debt, as after the recall of a whole deposit (deposits/reversed.ts): the
 * debt is repaid or written off, and blocks the customer, by the same rules. If not, the entry of the debit is undone, and the
 * part is booked as a recall that the statement names: whatever is made of the deposit is stopped.
 */
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { closeCases, openCase } from '../../compliance/index.ts';
import { lockCustomer } from '../../customers/index.ts';
import { chart, type Entry, move, post, undo } from '../../ledger/index.ts';
import { declareNoPayment } from '../../rails/bank.ts';
import { change } from '../advance.ts';
import type { Context } from '../context.ts';
import { blockOwing } from '../deposits/owed.ts';
import { depositReversed } from '../deposits/reversed.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import { cancelPayingAgain } from '../refunds/cancel.ts';
import { inSuspense } from '../refunds/request.ts';
import { refundsOfDeposit } from '../refunds/store.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';

type Found = { row: DepositRow } & ({ order: Order; isHere: false } | { order: Order | undefined; isHere: true });

const unfit = (why: string) => new Refusal('does_not_fit', { why });

interface Recalled {
  /** The debit: its rail, and the id of its statement line. */
  rail: string;
  line: string;
  asset: string;
  units: bigint;
  deposit: bigint;
}

/** Locks order and deposit. @throws Refusal 'unknown_deposit' | 'does_not_fit' */
export async function requireRecalled(tx: Tx, debit: Recalled): Promise<Found> {
  const known = await depositStore.depositById(tx, debit.deposit);
  if (known === undefined) throw new Refusal('unknown_deposit', {});
  const order = known.orderId === null ? undefined : await store.lock(tx, known.orderId);
  const row = await depositStore.lockDepositById(tx, known.id);
  assert(row !== undefined, `deposit ${known.id} has disappeared`);
  if (row.rail !== debit.rail || row.asset !== debit.asset || row.origin !== 'rail')
    throw unfit('the deposit is no credit of this account in this currency');
  if (!(await hasLeft(tx, row, order))) {
    if (!IS_HERE.includes(row.state)) throw unfit(`nothing of it can be recalled: it is ${row.state}`);
    if (debit.units > row.units) throw unfit('it is more than the deposit');
    return { order, row, isHere: true };
  }
  if (order === undefined) throw unfit('the deposit belongs to no order: no known customer owes the amount');
  const wasRefunded = (await refundsOfDeposit(tx, row.id)).some(({ state }) => state === 'settled');
  if (order.state !== 'settled' && !(order.state === 'refunded' && wasRefunded))
    throw unfit(`its order is ${order.state}: the customer owes nothing before its payout or refund has settled`);
  const owed = chart.receivable(order.customerId, order.partnerId, row.asset);
  const isOwed = row.state === 'lost' && row.lostTo === owed.code;
  if (row.state !== 'applied' && row.state !== 'refunded' && !isOwed)
    throw unfit(`nothing of it can be recalled: it is ${row.state}`);
  const most = row.units - (isOwed ? row.lostUnits : inSuspense(row));
  if (debit.units > most) throw unfit('it is more than the part of the deposit that has left');
  return { order, row, isHere: false };
}

/** Whether a payout of the order, or a refund of the deposit, was paid. */
async function hasLeft(tx: Tx, row: DepositRow, order: Order | undefined): Promise<boolean> {
  if (row.state === 'lost' || order?.state === 'settled') return true;
  return (await refundsOfDeposit(tx, row.id)).some(({ state }) => state === 'settled');
}

const IS_HERE: readonly DepositRow['state'][] = ['seen', 'confirmed', 'applied', 'suspense'];

/** @throws Refusal as `requireRecalled`, and 'does_not_fit' if the debit has the key of one of our payments */
export async function bookRecalled(
  context: Context,
  tx: Tx,
  debit: Recalled,
  {
    by,
    now,
    ...entry
  }: Omit<Entry, 'lines' | 'at' | 'facts'> & { facts: Record<string, string>; by: string; now: Date },
): Promise<void> {
  const found = await requireRecalled(tx, debit);
  if (found.isHere) return await bookFromHere(context, tx, debit, found.row, { ...entry, at: now });
  const { order, row } = found;
  await lockCustomer(tx, order.customerId);
  await declareNoPayment(tx, debit.rail, debit.line);
  await cancelPayingAgain(context, tx, order.id, now);
  const { asset, units } = debit;
  const owed = chart.receivable(order.customerId, order.partnerId, asset);
  const lines = move(owed, chart.loss(asset), units);
  const posted = await post(tx, { ...entry, orderId: order.id, at: now, lines });
  if (posted.outcome !== 'posted') throw unfit('the loss it was booked as is not there any more');
  const wasOwed = row.state === 'lost';
  await depositStore.markLost(tx, row.id, {
    why: 'recalled in part',
    before: wasOwed ? (row.stateBeforeLoss ?? 'applied') : row.state,
    units: units + (wasOwed ? row.lostUnits : 0n),
    to: owed.code,
  });
  await change(tx, order, { exception: 'deposit_lost', now });
  await blockOwing(tx, order, { row, order, now });
  const about = { kind: 'customer_owes', subject: `deposit:${row.id}`, now } as const;
  await closeCases(tx, { ...about, outcome: `more of it was recalled, says ${by}` });
  await openCase(tx, {
    ...about,
    orderId: order.id,
    partnerId: order.partnerId,
    reason: 'its bank recalled a part of it after it was paid out: the customer owes that, and is blocked',
    facts: { units: String(units + (wasOwed ? row.lostUnits : 0n)), asset, reference: row.reference },
  });
}

/** Books the recall of money that is still here, as if the statement had named the deposit. */
async function bookFromHere(
  context: Context,
  tx: Tx,
  { rail, line, units }: Recalled,
  row: DepositRow,
  { facts: { deposit, ...facts }, ...entry }: Omit<Entry, 'lines' | 'facts'> & { facts: Record<string, string> },
): Promise<void> {
  await declareNoPayment(tx, rail, line);
  // The money leaves the wallet by the deposit's entry instead. Reconciliation has to find both entries under one name: a part is
  // named by the debit, and a whole deposit by its credit.
  const named = units === row.units ? { deposit: String(deposit) } : { credit: String(deposit), movement: line };
  const undone = await undo(tx, `out_${rail}_${line}`, { ...entry, facts: { ...facts, ...named } });
  if (undone.outcome !== 'posted') throw unfit('the loss it was booked as is not there any more');
  const { externalId, reference } = row;
  const part = { line, units, reference };
  await depositReversed(context, tx, { type: 'deposit_reversed', rail, externalId, why: 'recalled in part', part });
}
