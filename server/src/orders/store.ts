/**
 * SQL that writes orders and reads single ones: creation, changes of state, and other changes.
 *
 * Not here: the row and its columns (row.ts), pages and counts (read/pages.store.ts), history (history.store.ts), deposits
 * (deposits/store.ts).
 */
import type { Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { isFinal, type OrderState, STATES } from './machine.ts';
import { ALL, type Direction, type OneRow, type Order, type OrderTerms, type RefundRequest, toOrder } from './row.ts';

export type { Direction, ListedOrder, Order, OrderTerms, RefundRequest } from './row.ts';

/** The fields that can change without a change of state; omitted fields stay. */
export interface Noted {
  exception?: string;
  failure?: string;
  depositReference?: string;
  payoutReference?: string;
  expiresAt?: Date;
}

/**
 * An order's id never changes, so its lock need not block rows that reference the order. With `for update`, the second update of
 * a follow-on order in one transaction waited for the lock of the order that it follows, because PostgreSQL checks the foreign
 * key again. Two transactions that each held one of the two orders and needed the same accounts deadlocked.
 */
const LOCKED = 'for no key update';

/** Frequent statements. Their plans are tested with a hundred thousand orders (test/plans.test.ts). */
const SQL = {
  get: `select ${ALL} from orders where id = $1`,
  unpaid: `select coalesce(sum(units), 0) as units, case when bool_or(ends_at <= $3) then null else max(ends_at) end as until
             from (select case when deposit_asset = fiat_asset then deposit_units else gross_units end as units,
                          case when honours then expires_at else rate_locked_until end as ends_at
                     from orders, lateral (select coalesce(policy -> 'priceMoved' ->> 'then', 'honour') = 'honour' as honours) as p
                    where partner_id = $1 and fiat_asset = $2 and state in ('created', 'deposit_seen')
                      and (honours or state = 'deposit_seen' or rate_locked_until > $3 or rate_locked_until >= expires_at)) as promised`,
  byTarget: `select ${ALL} from orders where deposit_rail = $1 and deposit_target = $2 ${LOCKED}`,
};

/** The orders with these ids, unsorted. */
export const named = async (tx: Tx, ids: readonly bigint[]): Promise<Order[]> =>
  ids.length === 0
    ? []
    : (await tx.rows<OneRow>(`select ${ALL} from orders where id = any($1::bigint[])`, [ids])).map(toOrder);

/** Maximum number of orders shown for one reference; normally there is one. */
const MOST_OF_REFERENCE = 1_000;

/** Orders with this reference of the partner (as stored), newest first. */
export const ofReference = async (tx: Tx, references: readonly string[]): Promise<Order[]> =>
  (
    await tx.rows<OneRow>(
      `select ${ALL} from orders where merchant_reference = any($1::text[]) order by id desc limit ${MOST_OF_REFERENCE}`,
      [references],
    )
  ).map(toOrder);

const OVER = (Object.keys(STATES) as OrderState[]).filter(isFinal);

export async function nextSeq(
  tx: Tx,
  input: { partnerId: bigint; customerId: string; direction: Direction },
): Promise<bigint> {
  const row = await tx.row<{ count: bigint }>(
    `insert into order_counts (partner_id, customer_id, direction, count) values ($1, $2, $3, 1)
     on conflict (customer_id, direction) do update set count = order_counts.count + 1
     returning count`,
    [input.partnerId, input.customerId, input.direction],
  );
  assert(row !== undefined, 'the sequence number of an order was not returned');
  return row.count;
}

export async function nextIndex(tx: Tx): Promise<bigint> {
  const row = await tx.row<{ index: bigint }>(`select nextval('deposit_indexes') as index`);
  assert(row !== undefined, 'the deposit index of an order was not returned');
  return row.index;
}

export function insert(tx: Tx, order: Order): void {
  tx.defer(
    `insert into orders (id, partner_id, customer_id, direction, customer_seq, market_id, quote_id, state,
       deposit_asset, deposit_units, payout_asset, payout_units, gross_units, fiat_asset,
       fee_operator, fee_partner, fee_rail, fee_chain, rate_num, rate_den, rate_locked_until,
       deposit_rail, deposit_target, deposit_index, payout_rail, payment_method, fiat_account_id, payout_address,
       merchant_reference, expires_at, created_at, updated_at, follows, policy, refund_address, refund_account_id, fee_tax)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
       $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $31, $32, $33, $34, $35, $36)`,
    [
      order.id,
      order.partnerId,
      order.customerId,
      order.direction,
      order.customerSeq,
      order.marketId,
      order.quoteId,
      order.state,
      order.depositAsset,
      order.depositUnits,
      order.payoutAsset,
      order.payoutUnits,
      order.grossUnits,
      order.fiatAsset,
      order.fees.operator,
      order.fees.partner,
      order.fees.rail,
      order.fees.chain,
      order.rate.num,
      order.rate.den,
      order.rateLockedUntil,
      order.depositRail,
      order.depositTarget,
      order.depositIndex,
      order.payoutRail,
      order.paymentMethod,
      order.fiatAccountId,
      order.payoutAddress,
      order.merchantReference,
      order.expiresAt,
      order.createdAt,
      order.follows,
      JSON.stringify(order.policy),
      order.refundAddress,
      order.refundAccountId,
      order.fees.tax,
    ],
  );
}

export async function get(tx: Tx, id: bigint): Promise<Order | undefined> {
  const row = await tx.row<OneRow>(SQL.get, [id]);
  return row && toOrder(row);
}

export async function lock(tx: Tx, id: bigint): Promise<Order | undefined> {
  const row = await tx.row<OneRow>(`${SQL.get} ${LOCKED}`, [id]);
  return row && toOrder(row);
}

export async function lockByTarget(tx: Tx, rail: string, target: string): Promise<Order | undefined> {
  const row = await tx.row<OneRow>(SQL.byTarget, [rail, target]);
  return row && toOrder(row);
}

/**
 * The state change itself. The SQL repeats from which states it is legal, so a lost race changes no row.
 * @returns the changed order, or undefined if it was in another state
 */
export async function change(
  tx: Tx,
  order: Order,
  change: {
    to: OrderState;
    legalFrom: readonly OrderState[];
    now: Date;
    failure: string | null;
    waitsUntil: Date | null;
    overdue: boolean;
    terms?: OrderTerms;
  } & Partial<
    Pick<
      Order,
      | 'exception'
      | 'payoutAttempt'
      | 'refundAttempt'
      | 'depositReference'
      | 'payoutReference'
      | 'receivedUnits'
      | 'refundedUnits'
    >
  >,
): Promise<Order | undefined> {
  const row = await tx.row<OneRow>(
    `update orders set state = $2, updated_at = $4, version = version + 1,
            exception = $5, failure = $6, payout_attempt = $7, refund_attempt = $8,
            deposit_reference = $9, payout_reference = $10, received_units = $11,
            was_held = was_held or $2 = 'on_hold', waits_until = $13, overdue = $14, refunded_units = $15,
            short_since = case when $2 = 'awaiting_liquidity' then coalesce(short_since, $4) else short_since end
      where id = $1 and state = any($3) and version = $12
     returning ${ALL}`,
    [
      order.id,
      change.to,
      change.legalFrom,
      change.now,
      change.exception ?? order.exception,
      change.failure,
      change.payoutAttempt ?? order.payoutAttempt,
      change.refundAttempt ?? order.refundAttempt,
      change.depositReference ?? order.depositReference,
      change.payoutReference ?? order.payoutReference,
      change.receivedUnits ?? order.receivedUnits,
      order.version,
      change.waitsUntil,
      change.overdue,
      change.refundedUnits ?? order.refundedUnits,
    ],
  );
  if (row === undefined || change.terms === undefined) return row && toOrder(row);
  return await requote(tx, order.id, change.terms);
}

/**
 * Writes the new terms. Called only together with `change`, which locks the row. A separate statement, because requoting is rare:
 * other state changes need not write nine more columns.
 */
export async function requote(tx: Tx, id: bigint, terms: OrderTerms): Promise<Order> {
  const row = await tx.row<OneRow>(
    `update orders set deposit_units = $2, payout_units = $3, gross_units = $4, rate_num = $5, rate_den = $6,
            fee_operator = $7, fee_partner = $8, fee_rail = $9, fee_chain = $10, quote_id = $11, fee_tax = $12
      where id = $1 returning ${ALL}`,
    [
      id,
      terms.depositUnits,
      terms.payoutUnits,
      terms.grossUnits,
      terms.rate.num,
      terms.rate.den,
      terms.fees.operator,
      terms.fees.partner,
      terms.fees.rail,
      terms.fees.chain,
      terms.quoteId,
      terms.fees.tax,
    ],
  );
  assert(row !== undefined, `order ${id} does not exist`);
  return toOrder(row);
}

export async function note(tx: Tx, orderId: bigint, note: Noted & { now: Date }): Promise<Order> {
  const row = await tx.row<OneRow>(
    `update orders set exception = coalesce($2, exception), deposit_reference = coalesce($3, deposit_reference),
            expires_at = coalesce($4, expires_at), failure = coalesce($5, failure), updated_at = $6,
            payout_reference = coalesce($7, payout_reference)
      where id = $1 returning ${ALL}`,
    [
      orderId,
      note.exception ?? null,
      note.depositReference ?? null,
      note.expiresAt ?? null,
      note.failure ?? null,
      note.now,
      note.payoutReference ?? null,
    ],
  );
  assert(row !== undefined, `order ${orderId} does not exist`);
  return toOrder(row);
}

/**
 * Moves due times earlier. Orders are locked in id order, as by all code that locks several. @returns ids of those that are not
 * over
 */
export async function shiftDueTimes(tx: Tx, { partnerId, ms }: { partnerId: bigint; ms: number }): Promise<string[]> {
  const rows = await tx.rows<{ id: bigint }>(
    `with open as (
       select id from orders where partner_id = $1 and state <> all($3) order by id ${LOCKED})
     update orders set expires_at = expires_at - moved.by, rate_locked_until = rate_locked_until - moved.by,
            waits_until = waits_until - moved.by
       from open, (select $2::float8 * interval '1 millisecond' as by) as moved
      where orders.id = open.id returning orders.id`,
    [partnerId, ms, OVER],
  );
  return rows.map(({ id }) => String(id));
}

/** Marks an order as overdue and has it checked again at `until`; null clears both. */
export async function waitOn(tx: Tx, orderId: bigint, until: Date | null): Promise<void> {
  await tx.run('update orders set overdue = $2::timestamptz is not null, waits_until = $2 where id = $1', [
    orderId,
    until,
  ]);
}

/** Postpones the time at which an order becomes overdue. */
export async function waitLonger(tx: Tx, orderId: bigint, until: Date): Promise<void> {
  await tx.run('update orders set waits_until = $2 where id = $1', [orderId, until]);
}

/** Orders whose state has lasted too long, the most overdue first. */
export const overdue = (tx: Tx, input: { now: Date; limit: number }) =>
  tx.rows<{ id: bigint }>('select id from orders where waits_until <= $1 order by waits_until limit $2', [
    input.now,
    input.limit,
  ]);

export async function followersOf(tx: Tx, id: bigint): Promise<bigint[]> {
  return (await tx.rows<{ id: bigint }>('select id from orders where follows = $1 order by id', [id])).map(
    (row) => row.id,
  );
}

/**
 * Value, in the fiat's units, of a partner's unpaid orders in it whose rate may have to be honoured (see `exposureOf`). The last of
 * them expires at `until`; null if one has expired already, and waits for its rail.
 */
export async function unpaidExposure(
  tx: Tx,
  input: { partnerId: bigint; fiat: string; now: Date },
): Promise<{ units: bigint; until: Date | null }> {
  const row = await tx.row<{ units: bigint; until: Date | null }>(SQL.unpaid, [input.partnerId, input.fiat, input.now]);
  return row ?? { units: 0n, until: null };
}

/** @returns undefined if a payout was submitted before */
export async function noteSubmitted(tx: Tx, orderId: bigint, at: Date): Promise<Order | undefined> {
  const row = await tx.row<OneRow>(
    `update orders set payout_submitted_at = $2, updated_at = $2 where id = $1 and payout_submitted_at is null returning ${ALL}`,
    [orderId, at],
  );
  return row && toOrder(row);
}

export async function noteRefunded(tx: Tx, orderId: bigint, units: bigint, now: Date): Promise<void> {
  await tx.run('update orders set refunded_units = refunded_units + $2, updated_at = $3 where id = $1', [
    orderId,
    units,
    now,
  ]);
}

/** Records another payout attempt of an order, with its number. */
export async function noteAttempt(tx: Tx, orderId: bigint, attempt: number, now: Date): Promise<void> {
  await tx.run('update orders set payout_attempt = $2, updated_at = $3 where id = $1', [orderId, attempt, now]);
}

export async function noteRefundTo(
  tx: Tx,
  orderId: bigint,
  to: { address?: string | undefined; fiatAccountId?: bigint | undefined; by: 'partner' | 'operator' },
  now: Date,
): Promise<void> {
  await tx.run(
    `update orders set refund_address = $2, refund_account_id = $3, refund_to_by = $5, updated_at = $4 where id = $1`,
    [orderId, to.address ?? null, to.fiatAccountId ?? null, now, to.by],
  );
}

/** @param wanted null withdraws the request */
export async function noteRefundRequest(
  tx: Tx,
  orderId: bigint,
  wanted: RefundRequest | null,
  now: Date,
): Promise<void> {
  await tx.run('update orders set refund_request = $2, updated_at = $3 where id = $1', [
    orderId,
    wanted === null ? null : JSON.stringify(wanted),
    now,
  ]);
}

export async function claim(tx: Tx, orderId: bigint, reference: string, now: Date): Promise<void> {
  await tx.run('update orders set payer_reference = $2, updated_at = $3 where id = $1', [orderId, reference, now]);
}

/** A customer's open payouts and refunds, and the customer's orders that wait for funds. */
export async function underWay(tx: Tx, customerId: string, limit: number) {
  const payouts = await tx.rows<{ id: string; submitted: boolean }>(
    `select p.id, p.state <> 'created' as submitted from payouts p join orders o on o.id = p.order_id
      where o.customer_id = $1 and p.ended_at is null order by p.created_at, p.id limit $2`,
    [customerId, limit],
  );
  // Money without an order that goes to one of the customer's accounts.
  const others = await tx.rows<{ id: string; submitted: boolean }>(
    `select p.id, p.state <> 'created' as submitted from payouts p join fiat_accounts f on f.id = p.fiat_account_id
      where f.customer_id = $1 and p.order_id is null and p.ended_at is null order by p.created_at, p.id limit $2`,
    [customerId, limit],
  );
  const orders = await tx.rows<{ id: bigint }>(
    `select id from orders where customer_id = $1 and state = 'awaiting_liquidity' order by id limit $2`,
    [customerId, limit],
  );
  return { payouts: [...payouts, ...others], orders: orders.map(({ id }) => id) };
}

/** Whether some of the order's money came from a payer with another name. */
export async function paidByAnother(tx: Tx, orderId: bigint): Promise<boolean> {
  const row = await tx.row(
    `select from deposits where order_id = $1 and state = 'applied' and payer = 'other' limit 1`,
    [orderId],
  );
  return row !== undefined;
}

/**
 * Orders that wait for funds of this asset on this rail: their number, and the sums of their deposits and payouts in its units.
 */
export async function short(tx: Tx, { rail, asset }: { rail: string; asset: string }) {
  const row = await tx.row<{ orders: bigint; given: bigint; payout: bigint }>(
    `select count(*) as orders, coalesce(sum(payout_units), 0) as payout,
            coalesce(sum(case when payout_asset = fiat_asset then gross_units else payout_units end), 0) as given
       from orders where state = 'awaiting_liquidity' and payout_rail = $1 and payout_asset = $2`,
    [rail, asset],
  );
  return { orders: Number(row?.orders ?? 0n), givenUnits: row?.given ?? 0n, payoutUnits: row?.payout ?? 0n };
}

/** The orders among these whose customer may still pay. */
export const stillWaiting = async (tx: Tx, ids: readonly bigint[]): Promise<Set<bigint>> => {
  const rows = await tx.rows<{ id: bigint }>(
    `select id from orders where id = any($1::bigint[]) and state in ('created', 'deposit_seen')`,
    [ids],
  );
  return new Set(rows.map((row) => row.id));
};

/** Orders not in a final state, by state, with the oldest's age. */
export const open = (tx: Tx) =>
  tx.rows<{ state: OrderState; count: bigint; oldest: Date }>(
    `select state, count(*) as count, min(updated_at) as oldest from orders
      where state not in ('settled', 'refunded', 'expired', 'cancelled', 'frozen') group by state`,
  );
