/**
 * The money of a customer, for its erasure and export: its orders with their deposits, refunds and payouts, and deposits without
 * an order that a refund sends to an account of the customer. Of a deposit that was refunded in parts to several customers, or whose
 * rest was assigned to another customer's order, each has its own refunds; what is known of the deposit itself, and of parts that went
 * to nobody's account, goes with the last of them.
 *
 * A cancelled refund gives its customer no part of the deposit, but names the customer: it stays the customer's, whoever has the deposit.
 *
 * A refund to an address names no customer: such deposits, and those without a refund, are erased by time (erasure/ownerless.ts).
 */
import type { Tx } from '../base/db.ts';

const deposits = (customer = '$1'): string =>
  `select od.id from deposits od join orders oo on oo.id = od.order_id where oo.customer_id = ${customer}
    union select rr.deposit_id from refunds rr join fiat_accounts ra on ra.id = rr.fiat_account_id
      where ra.customer_id = ${customer} and rr.order_id is null and rr.state <> 'cancelled'`;
/** The customer of a refund; null if it goes to an address, or to the account that a deposit without an order came from. */
const OWNER = 'coalesce(no.customer_id, na.customer_id)';
/** Refunds of deposits without an order to accounts of the customer that were cancelled. */
const cancelled = (column: 'id' | 'deposit_id', customer = '$1'): string =>
  `select cr.${column} as id from refunds cr join fiat_accounts ca on ca.id = cr.fiat_account_id
    where ca.customer_id = ${customer} and cr.order_id is null and cr.state = 'cancelled'`;
/**
 * Without those of other customers. The ids are found first, each way by its index: with `or` PostgreSQL would read and join all
 * refunds.
 */
const refunds = (customer = '$1'): string =>
  `select r.id from (
      select dr.id from refunds dr where dr.deposit_id in (${deposits(customer)}) union ${cancelled('id', customer)}) as fr
    join refunds r on r.id = fr.id
    left join orders no on no.id = r.order_id left join fiat_accounts na on na.id = r.fiat_account_id
    where coalesce(${OWNER}, ${customer}) = ${customer}`;
/**
 * Deposits of which another customer, who is not erased, has a part: by an order, or by a refund. From the parts to their customers:
 * with `in`, PostgreSQL would go through all customers for each deposit.
 */
const shared = (customer = '$1'): string =>
  `select xd.id from deposits xd where xd.id in (${deposits(customer)}) and exists (
    select from (
      select xo.customer_id from orders xo where xo.id = xd.order_id
      union all select xa.customer_id from refunds xr join fiat_accounts xa on xa.id = xr.fiat_account_id
        where xr.deposit_id = xd.id and xr.order_id is null and xr.state <> 'cancelled') as xp
    join customers xc on xc.id = xp.customer_id where xc.id <> ${customer} and xc.erased_at is null)`;
/** What is erased with the customer: a refund of nobody goes with the deposit. */
const erasedRefunds = `${refunds()} and (${OWNER} is not null or r.deposit_id not in (${shared()}))`;
/** By order only those that an index finds; the others of an order are of its refunds. */
const payouts = (customer = '$1', of = refunds(customer)): string =>
  `select op.id from payouts op join orders oo on oo.id = op.order_id where oo.customer_id = ${customer} and op.purpose = 'payout'
    union select tp.id from payouts tp join refunds tr on tr.id = tp.refund_id join orders o on o.id = tr.order_id
      where o.customer_id = ${customer}
    union select rp.id from payouts rp where rp.refund_id in (${of})`;

/** SQL that selects the ids of a customer's money. Each takes an expression of the customer's id, by default `$1`. */
export const selectOf = { deposits, refunds, payouts } as const;

export interface MoneyOf {
  readonly orders: readonly bigint[];
  readonly deposits: readonly bigint[];
  /** Deposits that are not in `deposits` yet, because another customer has a part of them. */
  readonly shared: readonly bigint[];
  /** Deposits that are others', or nobody's: a refund of them to the customer was cancelled. */
  readonly ofCancelled: readonly bigint[];
  readonly refunds: readonly bigint[];
  readonly payouts: readonly string[];
}

/**
 * Ids of the customer's orders, deposits, refunds and payouts.
 *
 * @param o.isLocked locks the deposits that the customer shares: of two customers that are erased at once, the second one sees that the
 *   first one is
 */
export async function moneyOf(tx: Tx, customerId: string, { isLocked = false } = {}): Promise<MoneyOf> {
  // A statement of its own: the next ones see what was committed while this one waited.
  if (isLocked) await tx.rows(`select from deposits where id in (${shared()}) order by id for update`, [customerId]);
  return {
    shared: await idsOf<bigint>(tx, shared(), customerId),
    ofCancelled: await idsOf<bigint>(tx, `(${cancelled('deposit_id')}) except (${deposits()})`, customerId),
    orders: await idsOf<bigint>(tx, 'select id from orders where customer_id = $1', customerId),
    deposits: await idsOf<bigint>(tx, `(${deposits()}) except (${shared()})`, customerId),
    refunds: await idsOf<bigint>(tx, erasedRefunds, customerId),
    payouts: await idsOf<string>(tx, payouts('$1', erasedRefunds), customerId),
  };
}

const idsOf = async <T>(tx: Tx, text: string, customerId: string): Promise<T[]> =>
  (await tx.rows<{ id: T }>(text, [customerId])).map(({ id }) => id);

/**
 * When the customer's money last changed: its newest order, or the newest refund of a deposit without an order, also if it was
 * cancelled. Undefined without either.
 */
export const lastOrderOrRefund = async (tx: Tx, customerId: string): Promise<Date | undefined> =>
  (
    await tx.row<{ at: Date | null }>(
      `select greatest((select max(updated_at) from orders where customer_id = $1),
        (select max(updated_at) from refunds where order_id is null and id in (${refunds()}))) as at`,
      [customerId],
    )
  )?.at ?? undefined;

/**
 * Erases the bank references that the customer stated for its orders, and operators' texts about orders, deposits and refunds.
 *
 * @returns number of changed rows
 */
export async function eraseOrderTexts(tx: Tx, of: Pick<MoneyOf, 'orders' | 'deposits' | 'refunds'>): Promise<number> {
  let changed = 0;
  for (const text of ERASED_OF_ORDERS) changed += await tx.run(text, [of.orders]);
  for (const text of ERASED_OF_DEPOSITS) changed += await tx.run(text, [of.deposits]);
  changed += await tx.run(ERASED_OF_REFUNDS, [of.refunds]);
  return changed;
}

const ERASED_OF_ORDERS: readonly string[] = [
  'update orders set payer_reference = null where id = any($1::bigint[]) and payer_reference is not null',
  `update order_history set facts = without_typed(facts::text)::jsonb
    where facts::text ~ '(enc:op1:|:[0-9a-f]{64})' and order_id = any($1::bigint[])`,
  `update dormancies set ended_why = without_typed(ended_why)
    where ended_why like '%enc:op1:%' and order_id = any($1::bigint[])`,
];
const ERASED_OF_DEPOSITS: readonly string[] = [
  `update deposits set why = without_typed(why) where why like '%enc:op1:%' and id = any($1::bigint[])`,
  `update refunds set why = without_typed(why) where why like '%enc:op1:%' and deposit_id = any($1::bigint[])`,
  `update dormancies set ended_why = without_typed(ended_why)
    where ended_why like '%enc:op1:%' and deposit_id = any($1::bigint[])`,
  // Such a row is never updated. It stays: an erasure after a restore may find the deposit in suspense again.
  `with was as (delete from held_deposits where why like '%enc:op1:%' and deposit_id = any($1::bigint[]) returning *)
    insert into held_deposits (deposit_id, by, why, at) select deposit_id, by, without_typed(why), at from was`,
];
const ERASED_OF_REFUNDS = `update refunds set why = without_typed(why) where why like '%enc:op1:%' and id = any($1::bigint[])`;
