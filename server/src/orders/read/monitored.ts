/**
 * The orders that transaction monitoring reads. An order counts once money has arrived for it, whatever its later state. Its
 * value is the customer's payment in the fiat, or for a sale the gross fiat.
 *
 * Not here: the rules that read it (src/monitoring).
 */
import type { Tx } from '../../base/db.ts';
import type { OrderState } from '../machine.ts';

/** States without a deposit. */
const UNPAID: readonly OrderState[] = ['created', 'deposit_seen', 'expired', 'cancelled'];
/** Maximum number of orders counted per customer in 30 days: every rule has matched before that. */
const MOST_BEFORE = 500;

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
