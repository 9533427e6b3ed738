/**
 * Operator actions on unclaimed money: the time after which it becomes dormant, and ending its dormancy, which sends nothing.
 */
import { dormancyPolicy, lookDormancy, requireDormancy, setDormancy, wakeByHand } from '../../../orders/index.ts';
import { type Action, action } from '../action.ts';
import { UNCLAIMED } from '../declared/deposits.ts';

export const DORMANCY_ACTIONS: readonly Action[] = [
  action({
    ...UNCLAIMED.dormancy,
    subject: () => 'dormancy',
    look: async (_deps, tx) => (await dormancyPolicy(tx)) ?? null,
    needs: async () => 'rule',
    async perform(_deps, tx, { afterDays, noticeDays }, { operator, reason, now }) {
      const by = { by: operator.name, reason, now };
      await setDormancy(tx, afterDays === 'none' ? undefined : { afterDays, noticeDays }, by);
    },
  }),
  action({
    ...UNCLAIMED.wakeDeposit,
    subject: ({ deposit }) => `deposit:${deposit}`,
    look: async (_deps, tx, { deposit }) => (await lookDormancy(tx, { depositId: deposit })) ?? null,
    async needs(_deps, tx, { deposit }) {
      await requireDormancy(tx, { depositId: deposit });
      return undefined;
    },
    async perform(_deps, tx, { deposit }, { operator, reason, now }) {
      await wakeByHand(tx, { depositId: deposit }, { by: operator.name, why: reason, now });
    },
  }),
  action({
    ...UNCLAIMED.wakeOrder,
    subject: ({ order }) => `order:${order}`,
    look: async (_deps, tx, { order }) => (await lookDormancy(tx, { orderId: order })) ?? null,
    async needs(_deps, tx, { order }) {
      await requireDormancy(tx, { orderId: order });
      return undefined;
    },
    async perform(_deps, tx, { order }, { operator, reason, now }) {
      await wakeByHand(tx, { orderId: order }, { by: operator.name, why: reason, now });
    },
  }),
];
