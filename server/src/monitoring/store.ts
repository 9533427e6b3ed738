/** Rows of monitoring: versions of rules, findings, and the position of the watch. */
import type { Tx } from '../base/db.ts';
import { conditions, parameters } from '../base/scan.ts';
import type { Cursor, PaidCursor } from '../orders/index.ts';
import type { Kind, Saw } from './rules.ts';

export interface RuleRow {
  id: bigint;
  name: string;
  version: number;
  kind: Kind;
  isOn: boolean;
  fiatAsset: string | null;
  worthUnits: bigint | null;
  count: number | null;
  days: number | null;
  withinBps: number | null;
  setBy: string;
  why: string;
  setAt: Date;
}

export interface FindingRow {
  id: bigint;
  rule: string;
  version: number;
  orderId: bigint;
  customerId: string;
  saw: Saw;
  foundAt: Date;
}

/** How far deposits and payouts were checked; `paidAt` is null before the first payout is. */
export type CursorRow = Cursor & { paidAt: Date | null; payoutId: PaidCursor['payoutId'] };

const RULE = `id, name, version, kind, is_on, fiat_asset, worth_units, count, days, within_bps, set_by, why, set_at`;

export const sql = {
  newest: `select distinct on (name) ${RULE} from monitoring_rules order by name, version desc`,
  newestOf: `select ${RULE} from monitoring_rules where name = $1 order by version desc limit 1`,
  versions: `select ${RULE} from monitoring_rules where ($1::text is null or name = $1) and ($2::bigint is null or id < $2)
    order by id desc limit $3`,
  lock: "select pg_advisory_xact_lock(hashtextextended('monitoring rules', 0))",
  insert: `insert into monitoring_rules
      (name, version, kind, is_on, fiat_asset, worth_units, count, days, within_bps, set_by, why, set_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning ${RULE}`,
  insertFinding: `insert into monitoring_findings (rule_id, order_id, customer_id, saw, found_at)
    values ($1, $2, $3, $4::jsonb, $5) on conflict (order_id, rule_id) do nothing`,
  cursor: 'select seen_at, deposit_id, paid_at, payout_id from monitoring_cursor for update',
  begin: 'insert into monitoring_cursor (seen_at, deposit_id) values ($1, $2) on conflict (id) do nothing',
  move: 'update monitoring_cursor set seen_at = $1, deposit_id = $2',
  movePaid: 'update monitoring_cursor set paid_at = $1, payout_id = $2',
} as const;

export const newestRules = (tx: Tx) => tx.rows<RuleRow>(sql.newest);
export const newestRule = (tx: Tx, name: string) => tx.row<RuleRow>(sql.newestOf, [name]);

/** Newest first. Only the given filters are in the statement, so that those of a customer come from their index. */
export function findingsBy(
  tx: Tx,
  of: { customerId?: string | undefined; rule?: string | undefined; below?: bigint | undefined; limit: number },
): Promise<FindingRow[]> {
  const { values, put } = parameters();
  const where = conditions(put, [
    ['f.customer_id =', of.customerId],
    ['r.name =', of.rule],
    ['f.id <', of.below],
  ]);
  return tx.rows<FindingRow>(
    `select f.id, r.name as rule, r.version, f.order_id, f.customer_id, f.saw, f.found_at
      from monitoring_findings f join monitoring_rules r on r.id = f.rule_id
     where ${where} order by f.id desc limit ${put(of.limit)}`,
    values,
  );
}
