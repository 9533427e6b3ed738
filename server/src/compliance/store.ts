/**
 * Rows of compliance: decisions (insert-only), cases, and lists of denied destinations.
 */
import type { Tx } from '../base/db.ts';
import { conditions, parameters } from '../base/scan.ts';
import { DUE, dueGroups } from './due.ts';

export type DestinationKind = 'address' | 'account';

export interface CaseRow {
  id: bigint;
  kind: string;
  subject: string;
  orderId: bigint | null;
  partnerId: bigint | null;
  reason: string;
  facts: Readonly<Record<string, unknown>>;
  assignee: string | null;
  openedAt: Date;
  closedAt: Date | null;
  outcome: string | null;
}

const CASE = 'id, kind, subject, order_id, partner_id, reason, facts, assignee, opened_at, closed_at, outcome';

export const sql = {
  insertDecision: `insert into decisions (partner_id, order_id, about, outcome, rules, inputs, at)
    values ($1, $2, $3, $4, $5, $6::jsonb, $7)`,
  openCase: `insert into cases (kind, subject, order_id, partner_id, reason, facts, opened_at)
    values ($1, $2, $3, $4, $5, $6::jsonb, $7) on conflict (kind, subject) where closed_at is null do nothing`,
  upsertCase: `insert into cases (kind, subject, reason, facts, opened_at) values ($1, $2, $3, $4::jsonb, $5)
    on conflict (kind, subject) where closed_at is null do update set reason = excluded.reason, facts = excluded.facts
    where (cases.reason, cases.facts) is distinct from (excluded.reason, excluded.facts)`,
  closeCases: `update cases set closed_at = $4, outcome = $3
    where subject = any($2::text[]) and ($1::text is null or kind = $1) and closed_at is null`,
  newestCase: 'select facts from cases where kind = $1 and subject = $2 order by id desc limit 1',
  caseById: `select ${CASE} from cases where id = $1`,
  casesOfOrder: `select ${CASE} from cases where order_id = $1 order by opened_at, id limit 200`,
  decisionById: 'select about, order_id, rules, inputs from decisions where id = $1',
  decisionsOf: `select id, about, outcome, rules, at from decisions where order_id = $1 order by id limit 200`,
  caseActions: 'select at, by, what, note from case_actions where case_id = $1 order by id limit 500',
  insertCaseAction: 'insert into case_actions (case_id, at, by, what, note) values ($1, $2, $3, $4, $5)',
  lockCase: 'select assignee from cases where id = $1 and closed_at is null for no key update',
  assignCase: 'update cases set assignee = $2 where id = $1 and closed_at is null',
  closeCase: 'update cases set closed_at = $3, outcome = $2 where id = $1 and closed_at is null',
  isCaseOpen: 'select from cases where kind = $1 and subject = $2 and closed_at is null limit 1',
  openCaseCounts: `select kind, count(*) as count, min(opened_at) as oldest from cases where closed_at is null group by kind`,
  lists: 'select list, version from deny_lists order by list',
  hits: 'select list, index from denied_destinations where kind = $1 and index = any($2) order by list, index',
  keepScreening: `insert into screenings (subject, partner_id, order_id, outcome, hits, rules, at)
    values ($1, $2, $3, $4, $5::jsonb, $6, $7)
    on conflict (subject) do update set outcome = excluded.outcome, hits = excluded.hits, rules = excluded.rules, at = excluded.at`,
  keptScreening: 'select outcome, hits, at from screenings where subject = $1',
  extension: 'select max_age_s, until from screening_extensions where until > $1 order by max_age_s desc limit 1',
  extend: `insert into screening_extensions (max_age_s, until, people, reason, at) values ($1, $2, $3, $4, $5)`,
  approve: `insert into approvals (partner_id, order_id, deposit_id, rule, entry, destination, asset, units, people, reason, at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
  // For an order its own approvals; for a deposit in suspense the deposit's.
  approvals: `select id, rule, entry, units, people from approvals
    where destination = $1 and asset = $2 and order_id is not distinct from $3::bigint
      and deposit_id is not distinct from $4::bigint order by id`,
  approvalUses: `select approval_id, payout_id, units from approval_uses
    where approval_id = any($1::bigint[]) order by approval_id, payout_id`,
  useApprovals: `insert into approval_uses (approval_id, payout_id, units, at)
    select id, $2, $3, $4 from unnest($1::bigint[]) as used (id) on conflict do nothing`,
  putList: `insert into deny_lists (list, version, loaded_at) values ($1, $2, $3)
    on conflict (list) do update set version = excluded.version, loaded_at = excluded.loaded_at`,
  deniedBefore: `select count(*)::int as count from denied_destinations d join deny_lists l using (list) where l.loaded_at < $1`,
  eraseNotes: `update case_actions set note = without_typed(note) where note ~ 'enc:op1:' and case_id in
    (select id from cases where closed_at is not null and (subject = any($1::text[]) or order_id = any($2::bigint[])))`,
  eraseOutcomes: `update cases set outcome = without_typed(outcome) where closed_at is not null and outcome ~ 'enc:op1:'
    and (subject = any($1::text[]) or order_id = any($2::bigint[]))`,
  // The indexes of the customer's account stand in the inputs. A refund without an order is named where an order would be.
  eraseDecisions: `update decisions set inputs = without_typed(inputs::text)::jsonb where inputs::text ~ '(enc:op1:|:[0-9a-f]{64})'
    and (order_id = any($1::bigint[]) or (order_id is null and (inputs ->> 'customerId' = $2
      or (inputs ->> 'customerId' = '' and inputs ->> 'orderId' = any($3::text[])))))`,
  eraseScreenings: `update screenings set hits = without_typed(hits::text)::jsonb
    where hits::text ~ ':[0-9a-f]{64}' and (order_id = any($1::bigint[])
      or (order_id is null and exists (select from unnest($2::text[]) as prefix where starts_with(subject, prefix))))`,
  eraseApprovals: `update approvals set entry = without_typed(entry), reason = without_typed(reason)
    where concat_ws(' ', entry, reason) ~ '(enc:op1:|:[0-9a-f]{64})' and (order_id = any($1::bigint[]) or deposit_id = any($2::bigint[])
      or (deposit_id = any($3::bigint[]) and destination = any($4::text[])))`,
  emptyList: 'delete from denied_destinations where list = $1',
  insertDenied: `insert into denied_destinations (kind, index, list)
    select kind, index, $1 from unnest($2::text[], $3::bytea[]) as given (kind, index) on conflict do nothing`,
} as const;

export interface CasesBy {
  open: boolean;
  kind?: string | undefined;
  assignee?: string | undefined;
  after?: { openedAt: Date; id: bigint } | undefined;
  /** Only cases that are due by then. */
  dueBy?: Date | undefined;
  limit: number;
}

/** Oldest first. Only the given filters are in the statement, so that each has its index; due times are in none. */
export function casesBy(tx: Tx, { open, kind, assignee, after, dueBy, limit }: CasesBy): Promise<CaseRow[]> {
  const { values, put } = parameters();
  const where = [
    `closed_at is ${open ? 'null' : 'not null'}`,
    conditions(put, [
      ['kind =', kind],
      ['assignee =', assignee],
    ]),
  ];
  if (after !== undefined)
    where.push(`(opened_at, id) > (${put(after.openedAt)}::timestamptz, ${put(after.id)}::bigint)`);
  if (dueBy !== undefined) {
    const parts = dueGroups(dueBy).map(({ kinds, openedBy }) => {
      const ofKind = kinds === undefined ? `<> all(${put(DUE.kinds)}::text[])` : `= any(${put(kinds)}::text[])`;
      return `(kind ${ofKind} and opened_at <= ${put(openedBy)})`;
    });
    where.push(`(${parts.join(' or ')})`);
  }
  return tx.rows<CaseRow>(
    `select ${CASE} from cases where ${where.join(' and ')} order by opened_at, id limit ${put(limit)}`,
    values,
  );
}

/** The current lists, and their entries that match any of the indexes. */
export async function look(tx: Tx, kind: DestinationKind, indexes: readonly Buffer[]) {
  const lists = await tx.rows<{ list: string; version: string }>(sql.lists);
  const hits = await tx.rows<{ list: string; index: Buffer }>(sql.hits, [kind, indexes]);
  return { lists, entries: hits.map(({ list, index }) => ({ list, entry: `${list}:${index.toString('hex')}` })) };
}
