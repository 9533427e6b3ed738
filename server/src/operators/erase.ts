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

/** Rows about the subjects, and of refunds of shared deposits those to the customer's accounts. @param proposal its column */
const about = (proposal: string): string =>
  `(subject = any($1::text[]) or (subject = any($2::text[]) and ${proposal} in
      (select p.id from proposals p where p.subject = any($2::text[]) and p.input ->> 'fiatAccountId' = any($3::text[]))))`;

const sql = {
  // No row is sealed while it is being changed.
  lock: `select pg_advisory_xact_lock(hashtext('seal audit'))`,
  audit: `update audit set reason = without_typed(reason), before = without_typed(before::text)::jsonb,
      after = without_typed(after::text)::jsonb
    where ${about('proposal')} and concat_ws(' ', reason, before::text, after::text) ~ '${TYPED}' returning id`,
  proposals: `update proposals set reason = without_typed(reason), input = without_typed(input::text)::jsonb,
      seen = without_typed(seen::text)::jsonb
    where ${about('id')} and state <> 'open' and concat_ws(' ', reason, input::text, seen::text) ~ '${TYPED}'`,
  approvals: `update proposal_approvals set reason = without_typed(reason) where reason ~ '${TYPED}'
    and proposal_id in (select id from proposals where ${about('id')} and state <> 'open')`,
} as const;

/**
 * @param e.subjects what the actions were about: the customer, its orders, deposits and cases
 * @param e.shared   deposits of which another customer has a part: of them only what was proposed for one of `accounts`
 * @returns number of changed rows
 */
export async function eraseAuditTexts(
  tx: Tx,
  vault: Vault,
  e: { subjects: readonly string[]; shared?: readonly string[]; accounts?: readonly bigint[] },
): Promise<number> {
  const { subjects, shared = [], accounts = [] } = e;
  const values = [subjects, shared, accounts.map(String)];
  await tx.rows(sql.lock);
  const rows = await tx.rows<{ id: bigint }>(sql.audit, values);
  for (const { id } of rows) await proveAudit(tx, vault, id, true);
  const approvals = await tx.run(sql.approvals, values);
  return rows.length + approvals + (await tx.run(sql.proposals, values));
}
