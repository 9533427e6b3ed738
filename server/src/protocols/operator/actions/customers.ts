/** Actions on customers: permission to trade, and reading personal data. */
import type { Tx } from '../../../base/db.ts';
import {
  blockCustomer,
  blockOf,
  customerName,
  fiatAccounts,
  findCustomer,
  lockCustomer,
  openContact,
  openFiatAccount,
  unblockCustomer,
} from '../../../customers/index.ts';
import { balance, chart } from '../../../ledger/index.ts';
import { blockedNow } from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import { type Action, action } from '../action.ts';
import { CUSTOMERS } from '../declared/cases.ts';
import type { OperatorDeps } from '../deps.ts';

/** Includes the customer's debt: a debt does not prevent unblocking, but operators who unblock the customer see it. */
async function customerLook(_deps: OperatorDeps, tx: Tx, input: { customer: string }) {
  await lockCustomer(tx, input.customer);
  const { blocked, partnerId } = await findCustomer(tx, input.customer);
  // A proposal to unblock refers to the present block, and not to a later one.
  const blockedAt = await blockOf(tx, input.customer);
  const debts: { asset: string; units: bigint }[] = [];
  for (const asset of (await assets(tx)).keys()) {
    const { units } = await balance(tx, chart.receivable(input.customer, partnerId, asset));
    if (units > 0n) debts.push({ asset, units });
  }
  return { blocked, blockedAt, debts };
}
const customerSubject = (input: { customer: string }) => `customer:${input.customer}`;

export const CUSTOMER_ACTIONS: readonly Action[] = [
  action({
    ...CUSTOMERS.block,
    subject: customerSubject,
    look: customerLook,
    // From now on payouts that are not submitted are held. A submitted payout may still arrive, and the reply says so.
    async perform(_deps, tx, input, doing) {
      await blockCustomer(tx, input.customer, doing.now);
      return { underWay: await blockedNow(tx, input.customer, doing.now) };
    },
  }),
  action({
    ...CUSTOMERS.unblock,
    subject: customerSubject,
    look: customerLook,
    needs: async () => 'always' as const,
    async perform(_deps, tx, input, doing) {
      await unblockCustomer(tx, input.customer, doing.now);
    },
  }),
  // Reading personal data is an action, so that the audit records it.
  action({
    ...CUSTOMERS.personal,
    subject: customerSubject,
    async look(_deps, tx, input) {
      await findCustomer(tx, input.customer);
      return null;
    },
    async perform({ vault }, tx, input) {
      const accounts = await fiatAccounts(tx, input.customer);
      return {
        personal: {
          ...(await openContact(tx, vault, input.customer)),
          name: (await customerName(tx, vault, input.customer)) ?? null,
          accounts: await Promise.all(
            accounts.map(async (account) => ({
              fiatAccountId: account.id,
              fiat: account.fiat,
              ...(await openFiatAccount(tx, vault, account.id)).details,
            })),
          ),
        },
      };
    },
  }),
];
