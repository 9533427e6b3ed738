/** Rows of operators' recovery codes. */
import type { Tx } from '../base/db.ts';
import type { OperatorRow } from './store.ts';

const sql = {
  insert: 'insert into operator_codes (hash, operator_id, created_at) values ($1, $2, $3)',
  drop: 'delete from operator_codes where operator_id = $1',
  owner: `select o.id, o.name, o.role, o.created_at, o.disabled_at from operator_codes c
    join operators o on o.id = c.operator_id where c.hash = $1 and o.disabled_at is null`,
  // If two requests use one code, the second waits for the first and then finds no row.
  take: 'delete from operator_codes where hash = $1 and operator_id = $2',
  count: 'select count(*)::integer as count from operator_codes where operator_id = $1',
} as const;

export const recoveryStore = {
  insert: (tx: Tx, hash: Buffer, operatorId: bigint, now: Date) => tx.run(sql.insert, [hash, operatorId, now]),
  drop: (tx: Tx, operatorId: bigint) => tx.run(sql.drop, [operatorId]),
  owner: (tx: Tx, hash: Buffer) => tx.row<OperatorRow>(sql.owner, [hash]),
  take: (tx: Tx, hash: Buffer, operatorId: bigint) => tx.run(sql.take, [hash, operatorId]),
  count: async (tx: Tx, operatorId: bigint) => (await tx.row<{ count: number }>(sql.count, [operatorId]))?.count ?? 0,
};
