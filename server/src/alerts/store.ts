/** Rows of alerts: rules, messages, and the cases that a rule has reported. */
import type { Tx } from '../base/db.ts';

export const ABOUT = ['opened', 'unclaimed', 'overdue', 'digest'] as const;
export type About = (typeof ABOUT)[number];

export interface RuleRow {
  id: bigint;
  name: string;
  channel: string;
  about: About;
  kinds: string[];
  asset: string | null;
  leastUnits: bigint | null;
  afterMinutes: number;
  fromHour: number;
  untilHour: number;
  zone: string;
  createdBy: string;
  createdAt: Date;
}

export interface Says {
  title: string;
  lines: string[];
  /** Path in the console. */
  path: string;
  isUrgent: boolean;
}

export interface MessageRow {
  id: bigint;
  /** Null for the test of a channel without a rule. */
  rule: string | null;
  channel: string;
  about: 'cases' | 'digest' | 'test' | 'change';
  says: Says;
  createdAt: Date;
  attempts: number;
  lastError: string | null;
  sentAt: Date | null;
  failedAt: Date | null;
}

export interface NewCase {
  id: bigint;
  kind: string;
  orderId: bigint | null;
  openedAt: Date;
}

const RULE = `id, name, channel, about, kinds, asset, least_units, after_minutes, from_hour, until_hour, zone, created_by, created_at`;
const MESSAGE = `m.id, r.name as rule, m.channel, m.about, m.says, m.created_at, m.attempts, m.last_error, m.sent_at, m.failed_at`;

const sql = {
  rules: `select ${RULE} from alert_rules where removed_at is null order by name limit 200`,
  rule: `select ${RULE} from alert_rules where name = $1 and removed_at is null`,
  remove: 'update alert_rules set removed_at = $2 where name = $1 and removed_at is null',
  insertRule: `insert into alert_rules (name, channel, about, kinds, asset, least_units, after_minutes, from_hour, until_hour,
      zone, created_by, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
  // A rule that replaces another one of its name does not report that rule's cases again.
  inherit: `insert into alert_told (rule_id, case_id, message_id)
    select n.id, t.case_id, t.message_id from alert_told t join alert_rules o on o.id = t.rule_id
      join alert_rules n on n.name = o.name and n.removed_at is null
      join cases c on c.id = t.case_id and c.closed_at is null
     where o.name = $1 and o.removed_at is not null on conflict do nothing`,
  // One worker writes messages at a time; the lock ends with the transaction.
  lock: 'select id from alert_rules where id = $1 and removed_at is null for update',
  lastTold: `select max(created_at) as at from alert_messages where rule_id = $1 and about = 'cases'`,
  // The amount of a case: its deposit's, or else its order's.
  cases: `select c.id, c.kind, c.order_id, c.opened_at
      from cases c
      left join deposits d on d.id = (substring(c.subject from '^deposit:([1-9][0-9]{0,17})$'))::bigint
      left join orders o on o.id = c.order_id
     where c.closed_at is null
       and (cardinality($2::text[]) = 0 or c.kind = any($2))
       and c.opened_at + make_interval(hours => case when $3 then
             coalesce((select h.hours from unnest($4::text[], $5::int[]) as h(kind, hours) where h.kind = c.kind), $6)
           else 0 end, mins => $7) <= $8
       and (not $9 or c.assignee is null)
       and ($10::text is null or (d.asset = $10 and d.units >= $11)
         or (d.id is null and ((o.deposit_asset = $10 and o.deposit_units >= $11)
           or (o.payout_asset = $10 and o.payout_units >= $11))))
       and not exists (select from alert_told t where t.rule_id = $1 and t.case_id = c.id)
     order by c.opened_at, c.id limit $12`,
  insertMessage: `insert into alert_messages (rule_id, channel, about, day, says, created_at) values ($1, $2, $3, $4, $5::jsonb, $6)
    on conflict (rule_id, day) where day is not null do nothing returning id`,
  told: `insert into alert_told (rule_id, case_id, message_id) select $1, c, $3 from unnest($2::bigint[]) as c`,
  messages: `select ${MESSAGE} from alert_messages m left join alert_rules r on r.id = m.rule_id
    where ($1::bigint is null or m.id < $1) order by m.id desc limit $2`,
  message: `select ${MESSAGE} from alert_messages m left join alert_rules r on r.id = m.rule_id where m.id = $1`,
  // The newest of each channel, by its index.
  newest: `select m.* from unnest($1::text[]) as c (channel) cross join lateral (
      select ${MESSAGE} from alert_messages m left join alert_rules r on r.id = m.rule_id
       where m.channel = c.channel order by m.id desc limit 1) m`,
  sent: 'update alert_messages set attempts = attempts + 1, sent_at = $2, last_error = null where id = $1',
  missed: `update alert_messages set attempts = attempts + 1, last_error = $2, failed_at = $3 where id = $1 and sent_at is null`,
  summary: `select count(*) as open, count(*) filter (where assignee is null) as unclaimed, min(opened_at) as oldest
    from cases where closed_at is null`,
  kinds: `select kind, count(*) as count from cases where closed_at is null group by kind order by count(*) desc, kind limit 30`,
  waiting: `select (select count(*) from proposals where state = 'open') as proposals,
    (select count(*) from kill_switches) as switches`,
} as const;

export const store = {
  rules: (tx: Tx) => tx.rows<RuleRow>(sql.rules),
  rule: (tx: Tx, name: string) => tx.row<RuleRow>(sql.rule, [name]),
  remove: (tx: Tx, name: string, now: Date) => tx.run(sql.remove, [name, now]),
  async insertRule(tx: Tx, r: Omit<RuleRow, 'id'>): Promise<void> {
    await tx.run(sql.insertRule, [
      ...[r.name, r.channel, r.about, r.kinds, r.asset, r.leastUnits, r.afterMinutes],
      ...[r.fromHour, r.untilHour, r.zone, r.createdBy, r.createdAt],
    ]);
    await tx.run(sql.inherit, [r.name]);
  },
  newest: (tx: Tx, channels: readonly string[]) => tx.rows<MessageRow>(sql.newest, [channels]),
  lock: async (tx: Tx, rule: bigint): Promise<boolean> => (await tx.row(sql.lock, [rule])) !== undefined,
  lastTold: async (tx: Tx, rule: bigint) => (await tx.row<{ at: Date | null }>(sql.lastTold, [rule]))?.at ?? null,
  cases: (
    tx: Tx,
    rule: RuleRow,
    due: { kinds: readonly string[]; hours: readonly number[]; others: number },
    now: Date,
    most: number,
  ) =>
    tx.rows<NewCase>(sql.cases, [
      ...[rule.id, rule.kinds, rule.about === 'overdue', due.kinds, due.hours, due.others, rule.afterMinutes, now],
      ...[rule.about === 'unclaimed', rule.asset, rule.leastUnits, most],
    ]),
  async insertMessage(
    tx: Tx,
    m: { rule: bigint | null; channel: string; about: MessageRow['about']; day: string | null; says: Says; now: Date },
  ): Promise<bigint | undefined> {
    const values = [m.rule, m.channel, m.about, m.day, JSON.stringify(m.says), m.now];
    return (await tx.row<{ id: bigint }>(sql.insertMessage, values))?.id;
  },
  told: (tx: Tx, rule: bigint, cases: readonly bigint[], message: bigint) => tx.run(sql.told, [rule, cases, message]),
  messages: (tx: Tx, page: { below: bigint | undefined; limit: number }) =>
    tx.rows<MessageRow>(sql.messages, [page.below ?? null, page.limit]),
  message: (tx: Tx, id: bigint) => tx.row<MessageRow>(sql.message, [id]),
  sent: (tx: Tx, id: bigint, now: Date) => tx.run(sql.sent, [id, now]),
  missed: (tx: Tx, id: bigint, m: { error: string; failedAt: Date | null }) =>
    tx.run(sql.missed, [id, m.error, m.failedAt]),
  summary: (tx: Tx) => tx.row<{ open: bigint; unclaimed: bigint; oldest: Date | null }>(sql.summary),
  kinds: (tx: Tx) => tx.rows<{ kind: string; count: bigint }>(sql.kinds),
  waiting: (tx: Tx) => tx.row<{ proposals: bigint; switches: bigint }>(sql.waiting),
};
