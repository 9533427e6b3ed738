/**
 * The orders that transaction monitoring reads. An order counts once money has arrived for it, whatever its later state. Its
 * value is the customer's payment in the fiat, or for a sale the gross fiat. It also lists other customers with the same wallet or
 * bank account: they are counted up to the time of this order's use, so of two customers the later one is found with the earlier.
 *
 * Not here: the rules that read it (src/monitoring).
 */
import type { Tx } from '../../base/db.ts';
import type { OrderState } from '../machine.ts';

/** States without a deposit. */
const UNPAID: readonly OrderState[] = ['created', 'deposit_seen', 'expired', 'cancelled'];
/** Maximum number of orders counted per customer in 30 days: every rule has matched before that. */
const MOST_BEFORE = 500;
/** Maximum uses of one account that are counted, and uses of one order: an account of a payment company pays many customers. */
const MOST_USES = 5_000;
const MOST_USES_OF_ORDER = 50;

export interface MonitoredOrder {
  orderId: bigint;
  partnerId: bigint;
  customerId: string;
  createdAt: Date;
  fiat: string;
  worthUnits: bigint;
  payoutAddress: string | null;
}

const COLUMNS = `o.id as order_id, o.partner_id, o.customer_id, o.created_at, o.fiat_asset as fiat, o.payout_address,
  case when o.deposit_asset = o.fiat_asset then o.deposit_units else o.gross_units end as worth_units`;

const SQL = {
  deposited: `select d.seen_at, d.id as deposit_id, ${COLUMNS} from deposits d join orders o on o.id = d.order_id
    where d.id > 0 and (d.seen_at, d.id) > ($1, $2) and d.seen_at <= $3 order by d.seen_at, d.id limit $4`,
  span: `select ${COLUMNS} from orders o
    where o.id > 0 and (o.created_at, o.id) > ($1, $2) and o.created_at < $3 and o.state <> all($4)
    order by o.created_at, o.id limit $5`,
  before: `select ${COLUMNS} from orders o
    where o.customer_id = $1 and o.created_at > $2 and (o.created_at, o.id) < ($3, $4) and o.state <> all($5)
    order by o.created_at desc, o.id desc limit ${MOST_BEFORE}`,
  anyBefore: `select from orders o where o.customer_id = $1 and (o.created_at, o.id) < ($2, $3) and o.state <> all($4) limit 1`,
  others: `select count(distinct o.customer_id) as customers from payouts p join orders o on o.id = p.order_id
    where p.address = $1 and p.purpose = 'payout' and p.created_at <= $2 and o.customer_id <> $3`,
  // With no id all payouts of that time were read.
  paid: `select p.created_at as paid_at, p.id as payout_id, ${COLUMNS} from payouts p join orders o on o.id = p.order_id
    where p.created_at >= $1 and (p.created_at > $1 or p.id > $2) and p.created_at <= $3 order by p.created_at, p.id limit $4`,
  // A refund's payout is found by its refund: only payouts of an order itself are indexed by the order.
  uses: `select p.address, p.fiat_account_id, null as rail, null as external_id, p.created_at as at from payouts p
      where p.order_id = $1 and p.purpose = 'payout'
    union all
    select p.address, p.fiat_account_id, null, null, p.created_at from refunds r join payouts p on p.refund_id = r.id where r.order_id = $1
    union all
    select null, null, d.rail, d.external_id, d.seen_at from deposits d where d.order_id = $1 and d.origin = 'rail'
    order by at desc limit ${MOST_USES_OF_ORDER}`,
  othersAtAccount: `with used as (
      (select f.customer_id, true as is_paid from fiat_accounts f
        where f.number_index = any($1::bytea[]) and f.customer_id <> $4
          and exists (select from payouts p where p.fiat_account_id = f.id and p.created_at <= $3) limit ${MOST_USES})
      union all
      (select o.customer_id, false from bank_lines l join deposits d on d.rail = l.rail and d.external_id = l.external_id
          join orders o on o.id = d.order_id
        where l.payer_index = any($2::bytea[]) and d.seen_at <= $3 and o.customer_id <> $4 limit ${MOST_USES}))
    select count(distinct customer_id)::int as customers, count(distinct customer_id) filter (where is_paid)::int as paid,
      count(distinct customer_id) filter (where not is_paid)::int as paying from used`,
} as const;

export interface Cursor {
  seenAt: Date;
  depositId: bigint;
}

/**
 * Orders with deposits seen since `after`, in the order of the deposits. An order with several deposits appears several times.
 */
export const depositedSince = (tx: Tx, after: Cursor, until: Date, limit: number) =>
  tx.rows<MonitoredOrder & Cursor>(SQL.deposited, [after.seenAt, after.depositId, until, limit]);

/** Orders of a time span that have received money, oldest first. */
export const paidIn = (tx: Tx, of: { after: { createdAt: Date; orderId: bigint }; until: Date; limit: number }) =>
  tx.rows<MonitoredOrder>(SQL.span, [of.after.createdAt, of.after.orderId, of.until, UNPAID, of.limit]);

/** The customer's orders before this one, since a time, oldest first. */
export const tradedBefore = async (tx: Tx, order: MonitoredOrder, from: Date): Promise<MonitoredOrder[]> =>
  (
    await tx.rows<MonitoredOrder>(SQL.before, [order.customerId, from, order.createdAt, order.orderId, UNPAID])
  ).toReversed();

export const isFirstPaid = async (tx: Tx, order: MonitoredOrder): Promise<boolean> =>
  (await tx.row(SQL.anyBefore, [order.customerId, order.createdAt, order.orderId, UNPAID])) === undefined;

/** Number of other customers who were paid at an address until a time. */
export const othersPaidAt = async (tx: Tx, of: { address: string; until: Date; customerId: string }): Promise<number> =>
  Number((await tx.row<{ customers: bigint }>(SQL.others, [of.address, of.until, of.customerId]))?.customers ?? 0);

export interface PaidCursor {
  paidAt: Date;
  payoutId: string | null;
}

/** Orders with payouts and refunds written since `after`, in that order. An order with several appears several times. */
export const paidSince = (tx: Tx, after: PaidCursor, until: Date, limit: number) =>
  tx.rows<MonitoredOrder & { paidAt: Date; payoutId: string }>(SQL.paid, [after.paidAt, after.payoutId, until, limit]);

/** A wallet or account that an order was paid or refunded to, or a deposit that came for it. */
export interface Use {
  address: string | null;
  fiatAccountId: bigint | null;
  /** Of the deposit. */
  rail: string | null;
  externalId: string | null;
  at: Date;
}

/** What the order has used until now, the newest first. */
export const usesOf = (tx: Tx, orderId: bigint): Promise<Use[]> => tx.rows<Use>(SQL.uses, [orderId]);

/**
 * Other customers who were paid at an account, or whose deposits came from it, until a time. Of more than MOST_USES uses of
 * either kind, MOST_USES count.
 *
 * @param of.payees,of.payers the values that the indexes of the account's number may have
 */
export const othersAtAccount = async (
  tx: Tx,
  of: { payees: readonly Buffer[]; payers: readonly Buffer[]; until: Date; customerId: string },
): Promise<{ customers: number; paid: number; paying: number }> =>
  (await tx.row(SQL.othersAtAccount, [of.payees, of.payers, of.until, of.customerId])) ?? {
    ...{ customers: 0, paid: 0, paying: 0 },
  };
