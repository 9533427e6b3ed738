/**
 * Finding an account by its number. This is an action, because the result tells who owns the account. The number is only in the
 * body of the request; the audit records who searched and why.
 */
import { openTyped } from '../../../base/typed.ts';
import { accountsOfNumber } from '../../../customers/index.ts';
import { ordersOfAccounts } from '../../../orders/index.ts';
import { partnerIds } from '../../../partners/index.ts';
import { type Action, action } from '../action.ts';
import { ACCOUNTS } from '../declared/accounts.ts';

export const ACCOUNT_ACTIONS: readonly Action[] = [
  action({
    ...ACCOUNTS.find,
    subject: () => 'accounts',
    look: async () => null,
    async perform({ vault }, tx, input) {
      const number = openTyped(vault, input.number);
      const found = await accountsOfNumber(tx, vault, { number, partnerIds: await partnerIds(tx) });
      const orders = await ordersOfAccounts(tx, found);
      return {
        accounts: found.map((one) => ({
          ...{ fiatAccountId: one.id, partnerId: one.partnerId, customerId: one.customerId, senderOf: one.senderOf },
          ...{ fiat: one.fiat, hint: one.hint, createdAt: one.createdAt, orders: orders.get(one.id) ?? [] },
        })),
      };
    },
  }),
];
