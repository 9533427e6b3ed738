/** Deposits of an order that were reversed: the claims that it gives up before the rest is refunded. */
import type { Tx } from '../../base/db.ts';
import { closeCases, upsertCase } from '../../compliance/index.ts';
import { chart } from '../../ledger/index.ts';
import { payoutsOf } from '../../rails/payouts.ts';
import { lossAccount } from '../deposits/replace.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import type { LostPart } from '../entries.ts';
import type { OrderEvent } from '../machine.ts';
import type { Order } from '../store.ts';
import type { Refund } from './store.ts';

/** Parts that an order accepted and that its rail has reversed since, while the order still claims them. */
export const lostOf = (order: Order, deposits: readonly DepositRow[]): LostPart[] =>
  deposits
    .filter((row) => row.state === 'lost' && row.takenUnits > 0n)
    .map((row) => ({ units: row.takenUnits, bookedTo: lossAccount(order, row) }));

/** Whether the rail has reversed everything that the order accepted: no refund could send anything. */
export const isAllLost = (order: Order, deposits: readonly DepositRow[]): boolean =>
  lostOf(order, deposits).length > 0 && !deposits.some(({ state }) => state === 'applied');

/**
 * The event that ends an order of which nothing is left to refund: as refunded if the refund of another of its deposits settled.
 */
export const endOfLost = (refunds: readonly Refund[]): OrderEvent =>
  refunds.some(({ source, state }) => source === 'order' && state === 'settled') ? 'rest_gone' : 'deposit_gone';

/** The caller has booked that the order gives up `lostOf`. What refunds have sent of a deposit stays owed, with its case. */
export async function giveUpLost(tx: Tx, order: Order, deposits: readonly DepositRow[], now: Date): Promise<void> {
  await depositStore.markGivenUp(tx, order.id);
  for (const { id, state, takenUnits, lostUnits, lostTo, asset, reference } of deposits) {
    if (state !== 'lost' || takenUnits === 0n) continue;
    const [subject, leftUnits] = [`deposit:${id}`, lostUnits - takenUnits];
    if (leftUnits > 0n)
      await upsertCase(tx, {
        kind: lostTo === chart.loss(asset).code ? 'deposit_lost' : 'customer_owes',
        subject,
        reason: 'reversed; its order has given up its part, and what was refunded of it is in units',
        facts: { units: String(leftUnits), asset, reference },
        now,
      });
    else await closeCases(tx, { subject, outcome: 'given up with its order', now });
  }
}

/** Whether the customer has received the order's payout: then nothing is refunded, unless the payout is returned. */
export const isPaidOut = async (tx: Tx, orderId: bigint): Promise<boolean> =>
  (await payoutsOf(tx, orderId)).some(({ purpose, state }) => purpose === 'payout' && state === 'settled');
