/** Rows of compliance: decisions (only ever added to), cases, and lists of denied destinations. */
import type { Tx } from '../base/db.ts';

export type DestinationKind = 'address' | 'account';

export const sql = {
  insertDecision: `insert into decisions (partner_id, order_id, about, outcome, rules, inputs, at)
    values ($1, $2, $3, $4, $5, $6::jsonb, $7)`,
  openCase: `insert into cases (kind, subject, order_id, partner_id, reason, facts, opened_at)
    values ($1, $2, $3, $4, $5, $6::jsonb, $7) on conflict (kind, subject) where closed_at is null do nothing`,
  closeCases: `update cases set closed_at = $4, outcome = $3
    where subject = $2 and ($1::text is null or kind = $1) and closed_at is null`,
  openCaseCounts: `select kind, count(*) as count, min(opened_at) as oldest from cases where closed_at is null group by kind`,
  lists: 'select list, version from deny_lists order by list',
  hits: 'select list from denied_destinations where kind = $1 and index = any($2) order by list',
  putList: `insert into deny_lists (list, version, loaded_at) values ($1, $2, $3)
    on conflict (list) do update set version = excluded.version, loaded_at = excluded.loaded_at`,
  emptyList: 'delete from denied_destinations where list = $1',
  insertDenied: `insert into denied_destinations (kind, index, list)
    select kind, index, $1 from unnest($2::text[], $3::bytea[]) as given (kind, index) on conflict do nothing`,
} as const;

/** The lists as they stand, and on which of them any of the indexes is. */
export async function look(tx: Tx, kind: DestinationKind, indexes: readonly Buffer[]) {
  const lists = await tx.rows<{ list: string; version: string }>(sql.lists);
  const hits = await tx.rows<{ list: string }>(sql.hits, [kind, indexes]);
  return { lists, foundOn: [...new Set(hits.map(({ list }) => list))] };
}
