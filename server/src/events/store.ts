/** Rows of events: only ever added to. */
import type { Tx } from '../base/db.ts';

export const sql = {
  // The newest of the subject is one step down the index of (subject, subject_seq).
  insert: `insert into events (partner_id, type, subject, subject_seq, body, at)
    select $1::bigint, $2::text, $3::text, coalesce(max(subject_seq), 0) + 1, $4::jsonb, $5::timestamptz
      from events where subject = $3
    on conflict (subject, subject_seq) do nothing`,
} as const;

/** False when another transaction took the number meanwhile. */
export async function insertNext(
  tx: Tx,
  e: { partnerId: bigint; type: string; subject: string; body: string; at: Date },
): Promise<boolean> {
  return (await tx.run(sql.insert, [e.partnerId, e.type, e.subject, e.body, e.at])) === 1;
}
