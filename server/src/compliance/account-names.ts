/**
 * Account names: holds a payout to an account whose holder is not the customer, if the operator requires that (ACCOUNT_NAMES).
 *
 * The gate runs it in its transaction, like our own lists. It compares the account's holder with the names that the customer
 * gave, using customers/names.ts. The hit names account and score, so an approval covers this account with these names. An
 * account without a holder's name is paid under the customer's own name (openPayee), so there is nothing to compare. A customer
 * without a known name is held too: the owner of the account is not verified.
 *
 * Refunds to the account that a deposit came from are not checked: the payer was compared with the customer when the deposit
 * came.
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { compareAccount } from '../customers/index.ts';
import type { Hit, Screening } from './screener.ts';

/** @returns the score in ten-thousandths, or `none` if no name is known; undefined when there is nothing to compare */
export async function holderScore(tx: Tx, vault: Vault, input: Screening): Promise<string | undefined> {
  const { customerId, fiatAccountId, purpose = 'payout' } = input;
  if (customerId === null || fiatAccountId === null || purpose !== 'payout') return undefined;
  const compared = await compareAccount(tx, vault, { customerId, accountId: fiatAccountId });
  return compared && String(compared.score ?? 'none');
}

export const accountNameHit = ({ fiatAccountId }: Screening, score: string): Hit => ({
  ...{ rule: 'account_name_differs', entry: `account ${fiatAccountId}, score ${score}`, own: true },
});
