/**
 * Erasing operators' texts about a customer: in the audit, in proposals, and in approvals; with them the blind indexes of its
 * accounts, which findings name. Who did what, and when, stays.
 *
 * Sealed rows of the audit stay sealed: each changed row gets a proof by the master key (seals.ts).
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { proveAudit } from './seals.ts';

/** What `without_typed` takes out: typed texts, and blind indexes of destinations. */
const TYPED = '(enc:op1:|:[0-9a-f]{64})';

const sql = {
  // No row is sealed while it is being changed.
  lock: `select pg_advisory_xact_lock(hashtext('seal audit'))`,
  audit: `update audit set reason = without_typed(reason), before = without_typed(before::text)::jsonb,
      after = without_typed(after::text)::jsonb
    where subject = any($1::text[]) and concat_ws(' ', reason, before::text, after::text) ~ '${TYPED}' returning id`,
  proposals: `update proposals set reason = without_typed(reason), input = without_typed(input::text)::jsonb,
      seen = without_typed(seen::text)::jsonb
    where subject = any($1::text[]) and state <> 'open' and concat_ws(' ', reason, input::text, seen::text) ~ '${TYPED}'`,
  approvals: `update proposal_approvals set reason = without_typed(reason) where reason ~ '${TYPED}'
    and proposal_id in (select id from proposals where subject = any($1::text[]) and state <> 'open')`,
} as const;

/**
 * @param subjects what the actions were about: the customer, its orders, deposits and cases
 * @returns number of changed rows
 */
export async function eraseAuditTexts(tx: Tx, vault: Vault, subjects: readonly string[]): Promise<number> {
  await tx.rows(sql.lock);
  const rows = await tx.rows<{ id: bigint }>(sql.audit, [subjects]);
  for (const { id } of rows) await proveAudit(tx, vault, id, true);
  const approvals = await tx.run(sql.approvals, [subjects]);
  return rows.length + approvals + (await tx.run(sql.proposals, [subjects]));
}
