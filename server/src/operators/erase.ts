/**
 * Erasing operators' texts about a customer: in the audit, in proposals, and in approvals. Who did what, and when, stays.
 *
 * Sealed rows of the audit stay sealed: each changed row gets a proof by the master key (seals.ts).
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { proveAudit } from './seals.ts';

const TYPED = 'enc:op1:';

const sql = {
  // No row is sealed while it is being changed.
  lock: `select pg_advisory_xact_lock(hashtext('seal audit'))`,
  audit: `update audit set reason = without_typed(reason), before = without_typed(before::text)::jsonb,
      after = without_typed(after::text)::jsonb
    where subject = any($1::text[]) and concat_ws(' ', reason, before::text, after::text) like '%${TYPED}%' returning id`,
  proposals: `update proposals set reason = without_typed(reason), input = without_typed(input::text)::jsonb,
      seen = without_typed(seen::text)::jsonb where subject = any($1::text[]) and state <> 'open'`,
  approvals: `update proposal_approvals set reason = without_typed(reason) where reason like '%${TYPED}%'
    and proposal_id in (select id from proposals where subject = any($1::text[]) and state <> 'open')`,
} as const;

/** @param subjects what the actions were about: the customer, its orders, deposits and cases */
export async function eraseAuditTexts(tx: Tx, vault: Vault, subjects: readonly string[]): Promise<void> {
  await tx.rows(sql.lock);
  for (const { id } of await tx.rows<{ id: bigint }>(sql.audit, [subjects])) await proveAudit(tx, vault, id, true);
  await tx.run(sql.approvals, [subjects]);
  await tx.run(sql.proposals, [subjects]);
}
