/**
 * A refund that was replaced by one of the rest of its deposit (rest.ts), and that its rail has paid after all.
 *
 * The customer has received more than was left of the deposit. So the refund of the rest does not leave: it ends as settled, by
 * that payment. Each recalled part gets a settled refund of its own, by the same payment, and is the customer's debt. So the
 * cancelled refund stays as it is, and no deposit refunds more than its amount.
 *
 * If nothing is left of the deposit and its order has ended, the customer owes the whole payment. If its order has accepted another
 * part of the deposit, which is a loss, the customer owes both.
 *
 * settled.ts calls this and books the order's part. Until then the gate holds the refund of the rest (payouts/gate.ts). If that has
 * left as well, the customer was paid twice, and operators decide: docs/operating/cases.md, `payout_contradiction`.
 */
import type { Tx } from '../../base/db.ts';
import { lockCustomer } from '../../customers/index.ts';
import { chart, move } from '../../ledger/index.ts';
import type { Payout } from '../../rails/payouts.ts';
import { wakeDeposit } from '../deposits/dormant.ts';
import { type Debtor, owe, ownerOf } from '../deposits/owed.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import { foundRefund } from '../entries.ts';
import { blank, inSuspense, isOpen } from './request.ts';
import { arrived, recalledName } from './rest.ts';
import { changeRefund, insertRefund, type LockedRefund, type Refund, refundsOfDeposit } from './store.ts';

interface Part {
  row: DepositRow;
  grossUnits: bigint;
  costUnits: bigint;
}

/** The payment of a refund that was replaced, and what was recalled between it and the refund of the rest. */
export interface InPlace {
  paid: Payout;
  replaced: Refund;
  parts: readonly Part[];
}

/** The payment that has paid a refund although its rail had rejected it; undefined if there is none. */
export async function foundFor(
  tx: Tx,
  locked: Pick<LockedRefund, 'refund' | 'deposit'>,
): Promise<{ paid: Payout; inPlace?: InPlace } | undefined> {
  const paid = await arrived(tx, locked.refund);
  if (paid !== undefined) return { paid };
  const inPlace = await inPlaceOf(tx, locked);
  return inPlace && { paid: inPlace.paid, inPlace };
}

async function inPlaceOf(tx: Tx, locked: Pick<LockedRefund, 'refund' | 'deposit'>): Promise<InPlace | undefined> {
  for (const replaced of await refundsOfDeposit(tx, locked.deposit.id)) {
    if (replaced.state !== 'cancelled' || replaced.purpose !== locked.refund.purpose) continue;
    const paid = await arrived(tx, replaced);
    const parts = paid && (await partsBetween(tx, replaced, locked));
    if (paid !== undefined && parts !== undefined) return { paid, replaced, parts };
  }
  return undefined;
}

/**
 * The refund that is open in place of a cancelled one. Money in suspense may have none, because operators decide about the rest of
 * a refund that a recall cancelled: then it is written here, as far as the payment has refunded it.
 */
export async function replacementOf(tx: Tx, locked: LockedRefund, now: Date): Promise<bigint | undefined> {
  const { refund: replaced, deposit } = locked;
  const { purpose, why, requestedBy, source } = replaced;
  const open = (await refundsOfDeposit(tx, deposit.id)).findLast((one) => isOpen(one) && one.purpose === purpose);
  const paid = await arrived(tx, replaced);
  const grossUnits = least(inSuspense(deposit), replaced.grossUnits);
  if (open !== undefined || paid === undefined || source !== 'suspense' || grossUnits === 0n) return open?.id;
  const rest: Refund = {
    ...{ ...blank(deposit, grossUnits, 0n, now), purpose, why, requestedBy, ...paidTo(paid) },
    ...{ source, state: 'rejected', attempt: 1, key: paid.id },
  };
  const after = { ...deposit, refundUnits: deposit.refundUnits + grossUnits };
  if ((await partsBetween(tx, replaced, { refund: rest, deposit: after })) === undefined) return undefined;
  await wakeDeposit(tx, deposit, { by: 'the rail', why: 'it was refunded after all', now });
  return (await insertRefund(tx, rest)).id;
}

/**
 * The parts that were recalled after a refund was cancelled: the newest, as far as they make up what the refund of the rest does
 * not refund. Without one, the deposit itself may be gone.
 *
 * @returns undefined if they do not, for example because other money has replaced a part: then operators decide
 */
async function partsBetween(
  tx: Tx,
  replaced: Refund,
  { refund: rest, deposit }: { refund?: Refund; deposit: DepositRow },
): Promise<Part[] | undefined> {
  let left = replaced.grossUnits - (rest?.grossUnits ?? 0n);
  let cost = most(replaced.costUnits - (rest?.costUnits ?? 0n), 0n);
  // More of the deposit is here than the refund of the rest says, so the customer may owe less.
  if (left < 0n || (left > 0n && replaced.source === 'suspense' && inSuspense(deposit) > 0n)) return undefined;
  const parts: Part[] = [];
  const gone = left === 0n ? [] : await recalledOf(tx, deposit);
  for (const row of rest === undefined ? [deposit, ...gone] : gone) {
    const grossUnits = goneOf(row, replaced);
    if (left === 0n || grossUnits === 0n) continue;
    const costUnits = least(cost, grossUnits - 1n);
    parts.push({ row, grossUnits, costUnits });
    left -= grossUnits;
    cost -= costUnits;
  }
  return left === 0n && cost === 0n ? parts : undefined;
}

/** The amount of a recalled part for which nobody has paid again, and which no refund names. */
const goneOf = ({ state, units, lostUnits, refundUnits }: DepositRow, { source }: Refund): bigint => {
  if (refundUnits > 0n) return 0n;
  if (source === 'order') return state === 'lost' ? lostUnits : 0n;
  return state === 'reversed' ? units : 0n;
};

/** The parts of a deposit that its bank recalled, the newest first. */
async function recalledOf(tx: Tx, { id, rail, orderId }: DepositRow): Promise<DepositRow[]> {
  if (orderId !== null)
    return (await depositStore.depositsOf(tx, orderId)).filter(({ facts }) => facts.partOf === String(id)).toReversed();
  const parts: DepositRow[] = [];
  for (const refund of await refundsOfDeposit(tx, id)) {
    const part = refund.state === 'cancelled' && (await depositStore.findDeposit(tx, rail, recalledName(refund)));
    if (part) parts.unshift(part);
  }
  return parts;
}

/**
 * Writes a settled refund of each part. What the order's account still holds of a part covers the payment; what the order has
 * given up is owed at once.
 *
 * @returns them, in the order of the parts
 */
export async function settleParts(tx: Tx, { paid, replaced, parts }: InPlace, now: Date): Promise<Refund[]> {
  const refunds: Refund[] = [];
  for (const { row, grossUnits, costUnits } of parts) {
    const { purpose, why, requestedBy } = replaced;
    const fresh = await insertRefund(tx, {
      ...{ ...blank(row, grossUnits, costUnits, now), purpose, why, requestedBy, ...paidTo(paid) },
      ...{ source: replaced.source === 'order' && row.takenUnits > 0n ? 'order' : 'suspense' },
      ...{ state: 'rejected', attempt: 1, key: paid.id },
    });
    refunds.push(await changeRefund(tx, fresh, { state: 'settled', now }));
  }
  return refunds;
}

const ARRIVED = 'its refund arrived after all';

export const paidTo = ({ fiatAccountId, address }: Payout) => ({ fiatAccountId, address });

const debtorOf = async (tx: Tx, { order }: LockedRefund, paid: Payout): Promise<Debtor | undefined> =>
  order ?? (await ownerOf(tx, paid.fiatAccountId));

/** Customers are locked before accounts. */
export async function lockDebtor(tx: Tx, locked: LockedRefund, paid: Payout): Promise<void> {
  const debtor = await debtorOf(tx, locked, paid);
  if (debtor !== undefined) await lockCustomer(tx, debtor.customerId);
}

/**
 * A refund was paid after all, and its deposit, or parts of it, were reversed meanwhile: the customer owes that.
 *
 * @param found.parts the refunds of the parts, as `settleParts` has written them
 */
export async function oweFound(
  tx: Tx,
  locked: LockedRefund,
  { paid, parts, now }: { paid: Payout; parts: readonly Refund[]; now: Date },
): Promise<void> {
  const { order, deposit } = locked;
  const isPart = parts.some(({ depositId }) => depositId === deposit.id);
  const isLost = order !== undefined && !isPart && deposit.state === 'lost' && deposit.lostUnits > 0n;
  if (parts.length === 0 && !isLost) return;
  const debtor = await debtorOf(tx, locked, paid);
  const loss = chart.loss(deposit.asset);
  const to = debtor === undefined ? loss : chart.receivable(debtor.customerId, debtor.partnerId, deposit.asset);
  const debt = { order, debtor, to, before: 'refunded', how: ARRIVED, now } as const;
  for (const { depositId, source, grossUnits: units, netUnits, costUnits, key } of parts) {
    const row = await depositStore.lockDepositById(tx, depositId);
    if (row === undefined) continue;
    // What the order has given up covered the recall; the payment is what is lost.
    const isGivenUp = source === 'suspense' && debtor !== undefined;
    const lines = isGivenUp
      ? foundRefund({ key: key ?? '', netUnits, costUnits }, to)
      : row.lostTo === loss.code && debtor !== undefined
        ? move(to, loss, units)
        : [];
    await owe(tx, { ...debt, row, units, lines });
  }
  if (isLost && deposit.lostTo === loss.code)
    await owe(tx, { ...debt, row: deposit, lines: move(to, loss, deposit.lostUnits) });
}

/**
 * A refund was paid after all that was cancelled with nothing left to refund: its order had given up the whole deposit. The
 * customer owes what was paid, and the order stays as it ended.
 */
export async function oweCancelled(tx: Tx, locked: LockedRefund, now: Date): Promise<void> {
  const { refund: replaced, deposit } = locked;
  // Compensations and released money did not come from the customer: operators decide about them.
  if (deposit.origin !== 'rail') return;
  const paid = await arrived(tx, replaced);
  if (paid !== undefined && isRestLost(replaced, deposit)) return await oweAll(tx, locked, paid, now);
  const parts = paid && (await partsBetween(tx, replaced, { deposit }));
  // The order still holds a part: it ends by a decision about the order.
  if (paid === undefined || parts === undefined || parts.some(({ row }) => row.takenUnits > 0n)) return;
  await lockDebtor(tx, locked, paid);
  await oweFound(tx, locked, { paid, parts: await settleParts(tx, { paid, replaced, parts }, now), now });
}

/** Whether a cancelled refund was of the part of a reversed deposit that its order had not accepted. The other part is a loss. */
const isRestLost = ({ source, grossUnits, costUnits }: Refund, deposit: DepositRow): boolean =>
  source === 'suspense' &&
  costUnits === 0n &&
  deposit.state === 'lost' &&
  deposit.stateBeforeLoss === 'applied' &&
  deposit.lostTo === chart.loss(deposit.asset).code &&
  deposit.lostUnits + deposit.refundUnits + grossUnits <= deposit.units;

/** What was paid and what is lost of the deposit are its customer's debt, as if the payment had been known at the reversal. */
async function oweAll(tx: Tx, locked: LockedRefund, paid: Payout, now: Date): Promise<void> {
  const { refund: replaced, deposit } = locked;
  const debtor = await debtorOf(tx, locked, paid);
  if (debtor === undefined) return;
  await lockCustomer(tx, debtor.customerId);
  const { grossUnits, costUnits } = replaced;
  await settleParts(tx, { paid, replaced, parts: [{ row: deposit, grossUnits, costUnits }] }, now);
  const to = chart.receivable(debtor.customerId, debtor.partnerId, deposit.asset);
  const units = deposit.lostUnits + grossUnits;
  const lines = move(to, chart.loss(deposit.asset), units);
  await owe(tx, { order: locked.order, debtor, row: deposit, to, lines, units, how: ARRIVED, now });
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
