/**
 * Rows of the activity of keys (migrations/0003_partners.sql): insert-only.
 */

export interface ActivityRow {
  id: bigint;
  at: Date;
  action: string;
  subject: string;
  apiKey: string | null;
  link: string | null;
  memberId: bigint | null;
  facts: Record<string, unknown>;
}

export const sql = {
  insert: `insert into partner_activity (partner_id, api_key, link, action, subject, facts, at, member_id)
    values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8)`,
  page: `select id, at, action, subject, api_key, link, member_id, facts from partner_activity
    where partner_id = $1 and ($2::text is null or api_key = $2) and ($3::text is null or action = $3)
      and at >= coalesce($4::timestamptz, '-infinity') and at < coalesce($7::timestamptz, 'infinity')
      and (at, id) < (coalesce((select at from partner_activity where id = $5), 'infinity'), coalesce($5::bigint, 0))
    order by at desc, id desc limit $6`,
  began: 'select at from partner_activity_began',
  close: 'select pg_advisory_xact_lock(1702194543, hashint8($1))',
} as const;
