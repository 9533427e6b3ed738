/** Rows of operators' saved views. */
import type { Tx } from '../base/db.ts';

export interface ViewRow {
  id: bigint;
  page: string;
  /** Encrypted. */
  name: string;
  /** Encrypted. */
  search: string;
  savedAt: Date;
}

const sql = {
  list: 'select id, page, name, search, saved_at from operator_views where operator_id = $1 order by id',
  count: 'select count(*)::integer as count from operator_views where operator_id = $1',
  // A name may be encrypted under the old master key or the new one.
  replace: `update operator_views set search = $4, saved_at = $5
    where operator_id = $1 and page = $2 and name = any($3::text[]) returning id`,
  insert: `insert into operator_views (operator_id, page, name, search, saved_at) values ($1, $2, $3, $4, $5)
    returning id`,
  delete: 'delete from operator_views where operator_id = $1 and id = $2 returning page',
} as const;

export const viewStore = {
  list: (tx: Tx, operatorId: bigint) => tx.rows<ViewRow>(sql.list, [operatorId]),
  count: async (tx: Tx, operatorId: bigint) => (await tx.row<{ count: number }>(sql.count, [operatorId]))?.count ?? 0,
  replace: (tx: Tx, v: { operatorId: bigint; page: string; names: readonly string[]; search: string; savedAt: Date }) =>
    tx.row<{ id: bigint }>(sql.replace, [v.operatorId, v.page, v.names, v.search, v.savedAt]),
  insert: (tx: Tx, v: Omit<ViewRow, 'id'> & { operatorId: bigint }) =>
    tx.row<{ id: bigint }>(sql.insert, [v.operatorId, v.page, v.name, v.search, v.savedAt]),
  delete: (tx: Tx, operatorId: bigint, id: bigint) => tx.row<{ page: string }>(sql.delete, [operatorId, id]),
};
