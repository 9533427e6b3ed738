/** SQL of pages of orders, by customer and by partner. Each page is a range of a dense sequence. */
import type { Tx } from '../../base/db.ts';
import { COLUMNS, type Direction, type ListedOrder, type ListedRow, toListed } from '../row.ts';

/** Frequent statements. Their plans are tested with a hundred thousand orders (test/plans.test.ts). */
const SQL = {
  count: `select count from order_counts where customer_id = $1 and direction = $2`,
  /**
   * A page is a range of the customer's dense sequence, so page 50,000 costs as much as page 1. The limit tells the planner how
   * few rows that is. Without it the planner assumes that position and customer are independent, and would read the whole table
   * for the last page of the largest customer, because every customer's orders have small numbers.
   */
  page: `select ${COLUMNS} from orders
          where customer_id = $1 and direction = $2
            and customer_seq <= (select count from order_counts where customer_id = $1 and direction = $2) - $3::bigint
          order by customer_seq desc limit $4`,
  /** All orders of a partner, or all in one fiat: each of the two has its own dense sequence. */
  countAll: `select count from order_lists where partner_id = $1 and direction = $2 and fiat_asset = $3`,
  pageAll: `select ${COLUMNS} from orders
             where partner_id = $1 and direction = $2 and partner_seq > $3 and partner_seq <= $4
             order by partner_seq desc limit $4::bigint - $3::bigint`,
  pageOfFiat: `select ${COLUMNS} from orders
                where partner_id = $1 and direction = $2 and fiat_asset = $3 and fiat_seq > $4 and fiat_seq <= $5
                order by fiat_seq desc limit $5::bigint - $4::bigint`,
  /**
   * The position from which on orders are at least as recent as requested. Of orders created at nearly the same time, the later
   * one may have committed first.
   */
  since: `select min(seq) as seq from (
            select partner_seq as seq from orders where partner_id = $1 and direction = $2 and created_at >= $3
             order by created_at limit 100) as first`,
  sinceOfFiat: `select min(seq) as seq from (
            select fiat_seq as seq from orders
             where partner_id = $1 and direction = $2 and fiat_asset = $3 and created_at >= $4
             order by created_at limit 100) as first`,
};

/** Orders after an id, oldest first. */
export async function pageOf(tx: Tx, after: bigint, limit: number): Promise<ListedOrder[]> {
  const rows = await tx.rows<ListedRow>(`select ${COLUMNS} from orders where id > $1 order by id limit $2`, [
    after,
    limit,
  ]);
  return rows.map(toListed);
}

export async function count(tx: Tx, customerId: string, direction: Direction): Promise<bigint> {
  return (await tx.row<{ count: bigint }>(SQL.count, [customerId, direction]))?.count ?? 0n;
}

export async function page(
  tx: Tx,
  input: { customerId: string; direction: Direction; skipped: bigint; size: bigint },
): Promise<ListedOrder[]> {
  const rows = await tx.rows<ListedRow>(SQL.page, [input.customerId, input.direction, input.skipped, input.size]);
  return rows.map(toListed);
}

/** Number of a partner's orders of a direction, in all fiats or in one. */
export async function countAll(
  tx: Tx,
  input: { partnerId: bigint; direction: Direction; fiat?: string },
): Promise<bigint> {
  const row = await tx.row<{ count: bigint }>(SQL.countAll, [input.partnerId, input.direction, input.fiat ?? '']);
  return row?.count ?? 0n;
}

/** Orders above one position and up to another, newest first. */
export async function pageAll(
  tx: Tx,
  input: { partnerId: bigint; direction: Direction; fiat?: string; above: bigint; upTo: bigint },
): Promise<ListedOrder[]> {
  const { partnerId, direction, fiat, above, upTo } = input;
  const rows =
    fiat === undefined
      ? await tx.rows<ListedRow>(SQL.pageAll, [partnerId, direction, above, upTo])
      : await tx.rows<ListedRow>(SQL.pageOfFiat, [partnerId, direction, fiat, above, upTo]);
  return rows.map(toListed);
}

/** Position of the first order created at or after a time; undefined if there is none. */
export async function positionSince(
  tx: Tx,
  input: { partnerId: bigint; direction: Direction; fiat?: string; since: Date },
): Promise<bigint | undefined> {
  const { partnerId, direction, fiat, since } = input;
  const row =
    fiat === undefined
      ? await tx.row<{ seq: bigint | null }>(SQL.since, [partnerId, direction, since])
      : await tx.row<{ seq: bigint | null }>(SQL.sinceOfFiat, [partnerId, direction, fiat, since]);
  return row?.seq ?? undefined;
}
