/**
 * Erasing what operators typed beside entries. Facts are not part of an entry's hash (digest.ts), so seals stay valid. Accounts,
 * amounts and times never change.
 */
import type { Tx } from '../base/db.ts';

/**
 * The entries of the customer are looked up first: with `or`, PostgreSQL read the whole journal.
 *
 * @param of.accounts codes of accounts that belong to the customer, such as its receivables
 * @returns number of changed entries
 */
export const eraseEntryTexts = (
  tx: Tx,
  of: { orders: readonly bigint[]; accounts: readonly string[] },
): Promise<number> =>
  tx.run(
    `update entries set facts = without_typed(facts::text)::jsonb where facts::text like '%enc:op1:%' and id = any(array(
       select id from entries where order_id = any($1::bigint[])
       union all select t.entry from accounts a cross join lateral (
         select entry from transfers where debit = a.id union all select entry from transfers where credit = a.id) t
        where a.code = any($2::text[])))`,
    [of.orders, of.accounts],
  );
