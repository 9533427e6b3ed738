/**
 * The rest of a deposit of which its bank recalled a part: what its refund becomes.
 *
 * The amount of a refund never changes. A refund that did not arrive is cancelled, the recalled part is split off as a deposit of its
 * own, and a new refund of the rest takes the old one's place. If the refund may still arrive, the whole amount stays its customer's
 * debt until that is known (deposits/reversed.ts). If the rail pays the cancelled refund after all, the refund of the rest ends by
 * that payment (replaced.ts).
 */
import type { Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import { closeCases, openCase } from '../../compliance/index.ts';
import { type Payout, payoutsOfRefund } from '../../rails/payouts.ts';
import * as depositStore from '../deposits/store.ts';
import { blank, isOpen } from './request.ts';
import { changeRefund, insertRefund, type LockedRefund, type Refund, refundsOfDeposit } from './store.ts';

/** Whether a payout was submitted and its rail has not reported that it was not paid. A returned payout had left. */
export const mayHaveLeft = ({ state }: Payout): boolean => state !== 'created' && state !== 'rejected';

/** The attempt that settled although its rail had rejected it. */
export const arrived = async (tx: Tx, { id, netUnits }: Refund): Promise<Payout | undefined> =>
  (await payoutsOfRefund(tx, id)).find(({ state, units }) => state === 'settled' && units === netUnits);

/** Cancels the rejected refunds of a deposit whose order holds it: what is left of it is refunded instead. @returns them */
export async function reverseRejected(tx: Tx, depositId: bigint, now: Date): Promise<Refund[]> {
  const taken: Refund[] = [];
  for (const refund of await refundsOfDeposit(tx, depositId)) {
    if (refund.source !== 'order' || refund.state !== 'rejected') continue;
    // An attempt that its rail had rejected may have settled after all.
    if ((await payoutsOfRefund(tx, refund.id)).some(mayHaveLeft)) continue;
    taken.push(await changeRefund(tx, refund, { state: 'cancelled', now }));
  }
  return taken;
}

/** Writes a rejected refund of what is left of a deposit in place of a cancelled one: operators send it, to its destination. */
export async function refundRest(tx: Tx, depositId: bigint, cancelled: readonly Refund[], now: Date): Promise<void> {
  for (const refund of cancelled) {
    const deposit = await depositStore.lockDepositById(tx, depositId);
    assert(deposit !== undefined && deposit.takenUnits > 0n, `nothing is left of deposit ${depositId}`);
    const { purpose, why, requestedBy, fiatAccountId, address, source } = refund;
    const fresh = blank(deposit, deposit.takenUnits, least(refund.costUnits, deposit.takenUnits - 1n), now);
    const key = `ref_${fresh.id}_1`;
    await insertRefund(tx, {
      ...{ ...fresh, purpose, why, requestedBy, fiatAccountId, address, source },
      ...{ state: 'rejected', attempt: 1, key },
    });
  }
}

/**
 * The refund of an order was rejected, and a part of its deposit was recalled while it was under way. The order holds the money
 * again: it gives up the recalled part when the rest is sent (refunds/lost.ts), as it does for a deposit recalled in part later.
 */
export async function splitRejected(tx: Tx, { refund, order, deposit }: LockedRefund, now: Date): Promise<void> {
  const { lostUnits: units, lostTo: to } = deposit;
  if (refund.state !== 'rejected' || refund.source !== 'order' || deposit.state !== 'lost' || to === null) return;
  if (units === 0n || units >= refund.grossUnits) return;
  if ((await payoutsOfRefund(tx, refund.id)).some(mayHaveLeft)) return;
  const cancelled = await changeRefund(tx, refund, { state: 'cancelled', now });
  const gone = await splitGone(tx, cancelled, { units, takenUnits: units });
  await depositStore.markLost(tx, gone.id, { why: deposit.why ?? '', before: 'applied', units, to });
  await depositStore.markFound(tx, deposit.id);
  await refundRest(tx, deposit.id, [cancelled], now);
  await closeCases(tx, {
    subject: `deposit:${deposit.id}`,
    outcome: `refund ${refund.id} was not sent after all`,
    now,
  });
  await openCase(tx, {
    kind: 'deposit_lost',
    subject: `deposit:${gone.id}`,
    ...(order === undefined ? {} : { orderId: order.id, partnerId: order.partnerId }),
    reason: 'a part was recalled, and its refund was rejected: the order gives the part up when the rest is refunded',
    facts: { units: String(units), asset: deposit.asset, reference: deposit.reference },
    now,
  });
}

/**
 * A cancelled refund in suspense covered what was recalled of its deposit, and more of its money is there.
 *
 * @param coveredUnits how much of its money covered the recalled part, which is all that was lost
 * @returns the refund of the rest, in the state of the cancelled one
 */
export async function refundRestOf(tx: Tx, refund: Refund, coveredUnits: bigint, now: Date): Promise<Refund> {
  const deposit = await depositStore.lockDepositById(tx, refund.depositId);
  assert(deposit !== undefined, `deposit ${refund.depositId} has disappeared`);
  const grossUnits = refund.grossUnits - coveredUnits;
  const units = deposit.units - deposit.takenUnits - deposit.refundUnits - grossUnits;
  const gone = await splitGone(tx, refund, { units, takenUnits: 0n });
  await depositStore.changeDeposit(tx, gone.id, { state: 'reversed' });
  const { purpose, why, requestedBy, fiatAccountId, address, source, state } = refund;
  const fresh = blank(deposit, grossUnits, refund.costUnits, now);
  const rest = await insertRefund(tx, {
    ...{ ...fresh, purpose, why, requestedBy, fiatAccountId, address, source, state },
    ...{ attempt: 1, key: `ref_${fresh.id}_1` },
  });
  await depositStore.markFound(tx, deposit.id);
  return rest;
}

/** Refunds in suspense that a reversal of their deposit would cancel, and for which an amount was kept. */
export const pricedRefunds = async (tx: Tx, depositId: bigint): Promise<Refund[]> =>
  (await refundsOfDeposit(tx, depositId)).filter(
    (one) => one.source === 'suspense' && one.costUnits > 0n && isOpen(one),
  );

/**
 * A part of a deposit was recalled, and refunds of it were cancelled of which an amount had been kept: by us as a fee, or by the bank
 * that returned them. That amount is not in suspense, and belongs to a refund as before. So what is left is owed again by refunds
 * in their place, each with what was kept.
 *
 * @param before as `pricedRefunds` listed them before
 * @param leftUnits what is left of the deposit's money in suspense
 * @returns what was kept and belongs to no refund any more, because nothing is left to refund
 */
export async function refundPriced(
  tx: Tx,
  before: readonly Refund[],
  leftUnits: bigint,
  now: Date,
): Promise<{ refunds: Refund[]; keptUnits: bigint }> {
  const refunds: Refund[] = [];
  let [units, keptUnits] = [leftUnits, 0n];
  for (const { id, depositId } of before) {
    const deposit = await depositStore.lockDepositById(tx, depositId);
    const refund = (await refundsOfDeposit(tx, depositId)).find((one) => one.id === id);
    assert(deposit !== undefined && refund !== undefined, `refund ${id} has disappeared`);
    // One that could not be cancelled is under way, and still has its amount.
    if (refund.state !== 'cancelled') continue;
    const { purpose, why, requestedBy, fiatAccountId, address, costUnits, source } = refund;
    const netUnits = least(refund.netUnits, units);
    if (netUnits === 0n) {
      keptUnits += costUnits;
      continue;
    }
    units -= netUnits;
    const fresh = blank(deposit, netUnits + costUnits, costUnits, now);
    refunds.push(
      await insertRefund(tx, {
        ...{ ...fresh, purpose, why, requestedBy, fiatAccountId, address, source },
        ...(fiatAccountId === null && address === null
          ? { state: 'needs_destination' }
          : { state: 'returned', attempt: 1, key: `ref_${fresh.id}_1` }),
      }),
    );
  }
  return { refunds, keptUnits };
}

/** The name of the part that was recalled while this refund was under way: it follows from the refund's last attempt. */
export const recalledName = ({ key }: Refund): string => `${key}:recalled`;

/** Splits the recalled part off its deposit. */
async function splitGone(tx: Tx, refund: Refund, part: { units: bigint; takenUnits: bigint }) {
  const { depositId } = refund;
  const deposit = await depositStore.lockDepositById(tx, depositId);
  assert(deposit !== undefined, `deposit ${depositId} has disappeared`);
  return await depositStore.splitDeposit(tx, deposit, { line: recalledName(refund), ...part });
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
