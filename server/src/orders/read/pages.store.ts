/**
 * Pages of orders, by customer and by partner, each a range of a dense sequence.
 */
import type { Tx } from '../../base/db.ts';
import { COLUMNS, type Direction, type ListedOrder, type ListedRow, orderSql, toListed } from '../store.ts';

/** Orders after an id, oldest first. */
export async function pageOf(tx: Tx, after: bigint, limit: number): Promise<ListedOrder[]> {
  const rows = await tx.rows<ListedRow>(`select ${COLUMNS} from orders where id > $1 order by id limit $2`, [
    after,
    limit,
  ]);
  return rows.map(toListed);
}

export async function count(tx: Tx, customerId: string, direction: Direction): Promise<bigint> {
  return (await tx.row<{ count: bigint }>(orderSql.count, [customerId, direction]))?.count ?? 0n;
}

export async function page(
  tx: Tx,
  input: { customerId: string; direction: Direction; skipped: bigint; size: bigint },
): Promise<ListedOrder[]> {
  const rows = await tx.rows<ListedRow>(orderSql.page, [input.customerId, input.direction, input.skipped, input.size]);
  return rows.map(toListed);
}

/** Number of a partner's orders of a direction, in all fiats or in one. */
export async function countAll(
  tx: Tx,
  input: { partnerId: bigint; direction: Direction; fiat?: string },
): Promise<bigint> {
  const row = await tx.row<{ count: bigint }>(orderSql.countAll, [input.partnerId, input.direction, input.fiat ?? '']);
  return row?.count ?? 0n;
}

/** Newest first: those above one position and up to another. */
export async function pageAll(
  tx: Tx,
  input: { partnerId: bigint; direction: Direction; fiat?: string; above: bigint; upTo: bigint },
): Promise<ListedOrder[]> {
  const { partnerId, direction, fiat, above, upTo } = input;
  const rows =
    fiat === undefined
      ? await tx.rows<ListedRow>(orderSql.pageAll, [partnerId, direction, above, upTo])
      : await tx.rows<ListedRow>(orderSql.pageOfFiat, [partnerId, direction, fiat, above, upTo]);
  return rows.map(toListed);
}

/** Position of the first order created at or after a time; undefined when there is none. */
export async function positionSince(
  tx: Tx,
  input: { partnerId: bigint; direction: Direction; fiat?: string; since: Date },
): Promise<bigint | undefined> {
  const { partnerId, direction, fiat, since } = input;
  const row =
    fiat === undefined
      ? await tx.row<{ seq: bigint | null }>(orderSql.since, [partnerId, direction, since])
      : await tx.row<{ seq: bigint | null }>(orderSql.sinceOfFiat, [partnerId, direction, fiat, since]);
  return row?.seq ?? undefined;
}
