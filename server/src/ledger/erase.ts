/**
 * Erasing what operators typed beside entries. Facts are not part of an entry's hash (digest.ts), so seals stay valid. Accounts,
 * amounts and times never change.
 */
import type { Tx } from '../base/db.ts';

/**
 * @param of.accounts codes of accounts that belong to the customer, such as its receivables
 * @returns number of changed entries
 */
export const eraseEntryTexts = (
  tx: Tx,
  of: { orders: readonly bigint[]; accounts: readonly string[] },
): Promise<number> =>
  tx.run(
    `update entries set facts = without_typed(facts::text)::jsonb where facts::text like '%enc:op1:%'
      and (order_id = any($1::bigint[]) or id in (select t.entry from transfers t join accounts a on a.id in (t.debit, t.credit)
        where a.code = any($2::text[])))`,
    [of.orders, of.accounts],
  );
