/**
 * Operators' lists: orders, deposits, suspense, payouts; by partner, customer, market, state and time, in any combination,
 * page by page (base/scan.ts). Nothing personal: no address, account, name or partner's reference.
 *
 * Not here: the history of one order or deposit (trace.ts), lists that partners see (store.ts).
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { type Page, scan } from '../../base/scan.ts';
import { type BankLine, type BankLineFilter, bankLineExists, bankLinesBelow } from '../../rails/bank.ts';
import { type Payout, type PayoutFilter, payoutsBelow, readPayout } from '../../rails/payouts.ts';
import {
  type DepositFilter,
  type DepositLine,
  depositsBelow,
  newestOrders,
  type OrderFilter,
  type OrderLine,
  ordersBelow,
  refundIdsOf,
  type SuspenseLine,
  suspenseAfter,
  whoseOrders,
} from './lists.store.ts';
import { findDeposit } from './lookup.ts';

export type { AmountFilter, DepositLine, OrderLine, SuspenseLine } from './lists.store.ts';

/** Maximum page size of these lists. */
export const MAX_LISTED = 200;

/** For a customer with more orders than this, deposits and payouts are searched among all of the partner's. */
const FEW_ORDERS = 400;

interface Paging {
  limit: number;
}

const isGiven = (...values: unknown[]): boolean => values.some((value) => value !== undefined);

/**
 * Orders, newest first.
 *
 * @param input.below the `next` of the previous page
 * @throws Refusal 'unknown_order' if no order has this id: a list from a missing cursor would look empty
 */
export async function listOrders(
  tx: Tx,
  input: OrderFilter & Paging & { below?: bigint | undefined },
): Promise<Page<OrderLine, bigint>> {
  if (input.below !== undefined && (await whoseOrders(tx, [input.below])).length === 0)
    throw new Refusal('unknown_order');
  await walkOnly(tx);
  return await scan(
    {
      after: input.below,
      limit: input.limit,
      isFiltered: isGiven(input.partnerId, input.marketId, input.state, input.amount),
    },
    (below, count) => ordersBelow(tx, input, below, count),
  );
}

/** All orders of a customer who has few; undefined if no customer is given, or if the customer has many. */
async function fewOrders(tx: Tx, customerId: string | undefined): Promise<bigint[] | undefined> {
  if (customerId === undefined) return undefined;
  const ids = await newestOrders(tx, customerId, FEW_ORDERS + 1);
  return ids.length > FEW_ORDERS ? undefined : ids;
}

/**
 * Deposits, newest first.
 *
 * @param input.partnerId the customer's partner, if a customer is given
 * @throws Refusal 'unknown_deposit' for a cursor that does not exist
 */
export async function listDeposits(
  tx: Tx,
  input: DepositFilter & Paging & { below?: bigint | undefined },
): Promise<Page<DepositLine, bigint>> {
  if (input.below !== undefined) await findDeposit(tx, input.below);
  const orderIds = await fewOrders(tx, input.customerId);
  await walkOnly(tx);
  return await scan(
    {
      after: input.below,
      limit: input.limit,
      isFiltered: isGiven(input.partnerId, input.customerId, input.marketId, input.state),
    },
    (below, count) => depositsBelow(tx, { ...input, orderIds }, below, count),
  );
}

/** Who must act on money in suspense. */
export type Awaited = 'customer' | 'operator' | 'rail' | 'nobody';

/**
 * Money in suspense, oldest first, each with who must act and why. @throws Refusal 'unknown_deposit' for a cursor that does not
 * exist
 */
export async function listSuspense(
  tx: Tx,
  input: DepositFilter & Paging & { after?: bigint | undefined },
): Promise<Page<SuspenseLine & { waitsFor: Awaited; until: string }, bigint>> {
  if (input.after !== undefined) await findDeposit(tx, input.after);
  await walkOnly(tx);
  const { rows, next } = await scan(
    {
      after: input.after,
      limit: input.limit,
      isFiltered: isGiven(input.partnerId, input.customerId, input.marketId, input.state),
    },
    (after, count) => suspenseAfter(tx, input, after, count),
  );
  return { rows: rows.map((row) => ({ ...row, ...awaited(row) })), next };
}

/** Who must do what before this money continues. Pure. */
export function awaited(
  line: Pick<SuspenseLine, 'isHeld' | 'isConfirmed' | 'refundState' | 'dust' | 'state' | 'orderState' | 'why'>,
): {
  waitsFor: Awaited;
  until: string;
} {
  if (line.isHeld) return { waitsFor: 'operator', until: 'an operator releases the hold' };
  const isOnItsWay =
    line.refundState === 'screening' || line.refundState === 'created' || line.refundState === 'submitted';
  if (line.isConfirmed && !isOnItsWay)
    return { waitsFor: 'operator', until: 'two operators return it to the address that its customer has confirmed' };
  switch (line.refundState) {
    case 'needs_destination':
      return { waitsFor: 'customer', until: 'the customer or its partner names a destination' };
    case 'screening':
    case 'created':
    case 'submitted':
      return { waitsFor: 'rail', until: 'its refund arrives' };
    case 'held':
    case 'rejected':
    case 'returned':
      return { waitsFor: 'operator', until: 'an operator sends its refund again, or to another destination' };
  }
  if (line.dust) return { waitsFor: 'nobody', until: 'an operator refunds it or writes it off: it is dust' };
  const isPart = line.state === 'confirmed' && (line.orderState === 'created' || line.orderState === 'deposit_seen');
  if (isPart) return { waitsFor: 'customer', until: 'the customer pays the rest, or the order expires' };
  return { waitsFor: 'operator', until: 'an operator assigns or refunds it' };
}

export type PayoutLine = Pick<
  Payout,
  | ('id' | 'orderId' | 'refundId' | 'partnerId' | 'purpose' | 'attempt' | 'rail' | 'asset' | 'units' | 'paidUnits')
  | ('state' | 'why' | 'waitsFor' | 'reference' | 'createdAt' | 'submittedAt' | 'endedAt')
> & { customerId: string | null; marketId: bigint | null };

/** Payouts and refunds, newest first. @throws Refusal 'unknown_payout' for a cursor that does not exist */
export async function listPayouts(
  tx: Tx,
  input: Omit<PayoutFilter, 'of'> &
    Paging & { customerId?: string | undefined; marketId?: bigint | undefined; below?: string | undefined },
): Promise<Page<PayoutLine, string>> {
  if (input.below !== undefined && (await readPayout(tx, input.below)) === undefined)
    throw new Refusal('unknown_payout');
  const orderIds = await fewOrders(tx, input.customerId);
  await walkOnly(tx);
  const of = orderIds && { orderIds, refundIds: await refundIdsOf(tx, orderIds) };
  return await scan(
    {
      after: input.below,
      limit: input.limit,
      isFiltered: isGiven(input.partnerId, input.customerId, input.marketId, input.state),
    },
    async (below, count) => {
      const read = await payoutsBelow(tx, { ...input, of }, below, count);
      const owners = new Map(
        (
          await whoseOrders(tx, [...new Set(read.flatMap(({ row }) => (row.orderId === null ? [] : [row.orderId])))])
        ).map((owner) => [owner.id, owner]),
      );
      return read.map(({ row, fits }) => {
        const owner = row.orderId === null ? undefined : owners.get(row.orderId);
        const { customerId = null, marketId = null } = owner ?? {};
        const isOf =
          (input.customerId === undefined || input.customerId === customerId) &&
          (input.marketId === undefined || input.marketId === marketId);
        return { row: { ...shownPayout(row), customerId, marketId }, fits: fits && isOf };
      });
    },
  );
}

/** Lines of bank statements, newest first. @throws Refusal 'malformed_field' for a cursor that does not exist */
export async function listBankLines(
  tx: Tx,
  { below, limit, ...filter }: BankLineFilter & Paging & { below?: string | undefined },
): Promise<Page<BankLine, string>> {
  if (below !== undefined && !(await bankLineExists(tx, below)))
    throw new Refusal('malformed_field', { fields: { below: 'must be the id of a line' } });
  const { from: _, until: __, ...others } = filter;
  await walkOnly(tx);
  return await scan({ after: below, limit, isFiltered: isGiven(...Object.values(others)) }, (after, count) =>
    bankLinesBelow(tx, filter, after, count),
  );
}

/** A payout without its destination and the workers' timestamps. */
function shownPayout(payout: Payout): Omit<PayoutLine, 'customerId' | 'marketId'> {
  const { id, orderId, refundId, partnerId, purpose, attempt, rail, asset, units, paidUnits } = payout;
  const { state, why, waitsFor, reference, createdAt, submittedAt, endedAt } = payout;
  return {
    ...{ id, orderId, refundId, partnerId, purpose, attempt, rail, asset, units, paidUnits },
    ...{ state, why, waitsFor, reference, createdAt, submittedAt, endedAt },
  };
}

/**
 * For the rest of the transaction the planner may not combine whole indexes: for a time span it estimates that as cheaper than a
 * walk that ends with the page.
 */
const walkOnly = (tx: Tx) => tx.row(`select set_config('enable_bitmapscan', 'off', true)`);
