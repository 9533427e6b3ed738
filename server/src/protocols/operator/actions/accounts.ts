/**
 * Finding an account by its number. This is an action, because the result tells who owns the account. The number is only in the
 * body of the request; the audit records who searched and why, and has a row for each owner that was found.
 */
import { openTyped } from '../../../base/typed.ts';
import { accountsOfNumber } from '../../../customers/index.ts';
import { recordLooks } from '../../../operators/index.ts';
import { ordersOfAccounts } from '../../../orders/index.ts';
import { partnerIds } from '../../../partners/index.ts';
import { type Action, action } from '../action.ts';
import { ACCOUNTS } from '../declared/accounts.ts';

export const ACCOUNT_ACTIONS: readonly Action[] = [
  action({
    ...ACCOUNTS.find,
    subject: () => 'accounts',
    look: async () => null,
    async perform({ vault }, tx, input, doing) {
      const number = openTyped(vault, input.number);
      const found = await accountsOfNumber(tx, vault, { number, partnerIds: await partnerIds(tx) });
      const orders = await ordersOfAccounts(tx, found);
      const owners = found.map(({ customerId, senderOf }) =>
        customerId === null ? `deposit:${senderOf}` : `customer:${customerId}`,
      );
      await recordLooks(tx, doing, { subjects: [...new Set(owners)], after: { search: 'account number' } });
      return {
        accounts: found.map((one) => ({
          ...{ fiatAccountId: one.id, partnerId: one.partnerId, customerId: one.customerId, senderOf: one.senderOf },
          ...{ fiat: one.fiat, hint: one.hint, createdAt: one.createdAt, orders: orders.get(one.id) ?? [] },
        })),
      };
    },
  }),
];
