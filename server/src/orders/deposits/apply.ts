/**
 * Applying deposits: an order accepts the deposits it waits for once all of them have arrived. Callers: a rail's fact
 * (facts.ts), the deadline that accepts less (jobs.ts), an operator (refunds/actions.ts), an order made from late money
 * (follow-on-order.ts).
 *
 * Five steps, in this order: each deposit is assigned to the order, up to the accepted amount; the order advances; one entry
 * moves the money to its account; an assertion checks that the transition was legal; a case covers the part not accepted.
 *
 * Not here, because they are no transition and use other accounts: replacing a reversed deposit (replace.ts books
 * against the loss), undoing an exchange (payouts/undone.ts books to the payout's asset), using a deposit for a lost order
 * (custody/correct.ts books to the treasury).
 */
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { assert } from '../../base/errors.ts';
import { openCase } from '../../compliance/index.ts';
import { type Account, chart } from '../../ledger/index.ts';
import { type AdvanceFacts, advance } from '../advance.ts';
import type { Rails } from '../context.ts';
import type { ReceivedPart } from '../entries.ts';
import type { Order } from '../store.ts';
import type { DepositRow } from './store.ts';
import * as depositStore from './store.ts';

/** One deposit, and how much of it the order accepts. */
export interface Taken {
  row: DepositRow;
  units: bigint;
  /** The account that holds its money if it was not booked before; otherwise it is in suspense. */
  from?: Account;
}

/** All of these deposits in full, from suspense. */
export const wholly = (rows: readonly DepositRow[]): Taken[] => rows.map((row) => ({ row, units: row.units }));

/**
 * Assigns deposits to an order and advances it.
 *
 * @param given for the transition: facts, references, exception
 * @param confirmedAt when the last deposit was confirmed; if absent, the deposits keep their own times
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
  // Before the transition, because it announces the deposits and builds the event from these rows.
  for (const { row, units: takenUnits } of taken)
    await depositStore.changeDeposit(tx, row.id, {
      ...{ state: 'applied', bookedTo, takenUnits },
      ...defined({ confirmedAt }),
    });
  const advanced = await advance(context, tx, order, 'deposit_confirmed', {
    ...transition,
    parts: taken.map(partOf),
    receivedUnits: taken.reduce((sum, { units }) => sum + units, 0n),
  });
  assert(advanced.outcome === 'advanced', `order ${order.id} did not accept the deposit it waits for`);
  for (const { row, units } of taken) if (units < row.units) await openExcess(tx, order, row, units, given.now);
  return advanced.order;
}

/** The lines for one deposit. If the deposit was in suspense before, the part that the order does not accept stays there. */
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
    reason: 'the deposit exceeds the order; the excess is in suspense',
    facts: { units: String(row.units - takenUnits), asset: row.asset },
    now,
  });
