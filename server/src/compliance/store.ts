/** Rows of compliance: decisions (only ever added to), cases, and lists of denied destinations. */
import type { Tx } from '../base/db.ts';

export type DestinationKind = 'address' | 'account';

export interface CaseRow {
  id: bigint;
  kind: string;
  subject: string;
  order_id: bigint | null;
  partner_id: bigint | null;
  reason: string;
  facts: Readonly<Record<string, unknown>>;
  assignee: string | null;
  opened_at: Date;
  closed_at: Date | null;
  outcome: string | null;
}

const CASE = 'id, kind, subject, order_id, partner_id, reason, facts, assignee, opened_at, closed_at, outcome';

export const sql = {
  insertDecision: `insert into decisions (partner_id, order_id, about, outcome, rules, inputs, at)
    values ($1, $2, $3, $4, $5, $6::jsonb, $7)`,
  openCase: `insert into cases (kind, subject, order_id, partner_id, reason, facts, opened_at)
    values ($1, $2, $3, $4, $5, $6::jsonb, $7) on conflict (kind, subject) where closed_at is null do nothing`,
  closeCases: `update cases set closed_at = $4, outcome = $3
    where subject = $2 and ($1::text is null or kind = $1) and closed_at is null`,
  // One statement each for open and closed, so that either walks its own index.
  openCases: `select ${CASE} from cases where closed_at is null and ($1::text is null or kind = $1)
      and ($2::text is null or assignee = $2) and ($3::timestamptz is null or (opened_at, id) > ($3, $4::bigint))
    order by opened_at, id limit $5`,
  closedCases: `select ${CASE} from cases where closed_at is not null and ($1::text is null or kind = $1)
      and ($2::text is null or assignee = $2) and ($3::timestamptz is null or (opened_at, id) > ($3, $4::bigint))
    order by opened_at, id limit $5`,
  caseById: `select ${CASE} from cases where id = $1`,
  casesOfOrder: `select ${CASE} from cases where order_id = $1 order by opened_at, id limit 200`,
  decisionsOf: `select about, outcome, rules, at from decisions where order_id = $1 order by id limit 200`,
  caseActs: 'select at, by, what, note from case_acts where case_id = $1 order by id limit 500',
  insertCaseAct: 'insert into case_acts (case_id, at, by, what, note) values ($1, $2, $3, $4, $5)',
  assignCase: 'update cases set assignee = $2 where id = $1 and closed_at is null',
  closeCase: 'update cases set closed_at = $3, outcome = $2 where id = $1 and closed_at is null',
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
