/**
 * Applying deposits: an order takes the money it waits for once all of it has arrived. Callers: a rail's fact
 * (facts.ts), the deadline that accepts less (jobs.ts), a person (refunds/actions.ts), the order made of late money
 * (follow-on-order.ts).
 *
 * Five steps, in this order: each deposit is the order's, as far as the order takes it; the order advances; one entry moves the
 * money to its account; the order can always take it; what it does not take has a case.
 *
 * Not here, because no transition belongs to it and the money goes elsewhere: replacing a reversed deposit (replace.ts books
 * against the loss), undoing an exchange (payouts/undone.ts books to the payout's asset), a deposit given for an order that
 * is lost (custody/correct.ts books to the treasury).
 */
import type { Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import { openCase } from '../../compliance/index.ts';
import { type Account, chart } from '../../ledger/index.ts';
import { type AdvanceFacts, advance } from '../advance.ts';
import type { Rails } from '../context.ts';
import type { ReceivedPart } from '../entries.ts';
import type { Order } from '../store.ts';
import type { DepositRow } from './store.ts';
import * as depositStore from './store.ts';

/** One deposit, and how much of it the order takes. */
export interface Taken {
  row: DepositRow;
  units: bigint;
  /** The account that its money is on, if it was not booked before; else it is in suspense. */
  from?: Account;
}

/** All of these deposits, from suspense. */
export const wholly = (rows: readonly DepositRow[]): Taken[] => rows.map((row) => ({ row, units: row.units }));

/**
 * @param given of the transition: facts, references, exception
 * @param confirmedAt when all of it was there; if absent, the deposits keep their own times
 * @returns the order after its transition
 */
export async function applyDeposits(
  context: Rails,
  tx: Tx,
  order: Order,
  taken: readonly Taken[],
  given: Omit<AdvanceFacts, 'parts' | 'receivedUnits'> & { confirmedAt?: Date },
): Promise<Order> {
  const { confirmedAt, ...transition } = given;
  const bookedTo = chart.order(order.id, order.partnerId, order.depositAsset).code;
  // Before the transition that announces them: the event is built from these rows.
  for (const { row, units: takenUnits } of taken)
    await depositStore.changeDeposit(tx, row.id, {
      ...{ state: 'applied', bookedTo, takenUnits },
      ...(confirmedAt === undefined ? {} : { confirmedAt }),
    });
  const advanced = await advance(context, tx, order, 'deposit_confirmed', {
    ...transition,
    parts: taken.map(partOf),
    receivedUnits: taken.reduce((sum, { units }) => sum + units, 0n),
  });
  assert(advanced.outcome === 'advanced', `order ${order.id} does not take the deposit it waits for`);
  for (const { row, units } of taken) if (units < row.units) await openExcess(tx, order, row, units, given.now);
  return advanced.order;
}

/** What is in suspense already stays there beyond what the order takes. */
function partOf({ row, units: toOrderUnits, from }: Taken): ReceivedPart {
  const suspense = chart.suspense(row.rail, row.asset);
  if (from === undefined) return { from: suspense, toOrderUnits, excessUnits: 0n, suspense };
  return { from, toOrderUnits, excessUnits: row.units - toOrderUnits, suspense };
}

const openExcess = (tx: Tx, order: Order, row: DepositRow, takenUnits: bigint, now: Date): Promise<unknown> =>
  openCase(tx, {
    kind: 'overpaid',
    subject: `deposit:${row.id}`,
    orderId: order.id,
    partnerId: order.partnerId,
    reason: 'more was deposited than asked; the rest is in suspense',
    facts: { units: String(row.units - takenUnits), asset: row.asset },
    now,
  });
