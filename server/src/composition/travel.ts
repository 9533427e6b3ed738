/** Travel rule: connects its rules and its exchange with orders, rails and customers' names. */
import type { Tx } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { Refusal } from '../base/errors.ts';
import { type Fate, openTravelRule, type TravelProtocol, type TravelRule } from '../compliance/index.ts';
import { comparePayer, findCustomer } from '../customers/index.ts';
import {
  fundingOf,
  holdRefused,
  isFinal,
  type OrdersContext,
  payoutPlanned,
  returnByTravelRule,
  senderOf,
  wakePayouts,
} from '../orders/index.ts';
import { payoutsOf } from '../rails/payouts.ts';
import type { Rail } from '../rails/rail.ts';
import type { Base } from './base.ts';

export function connectTravelRule(
  { db, vault, clock }: Base,
  more: {
    /** Undefined when no protocol is configured: then no data is exchanged. */
    protocol: TravelProtocol | undefined;
    rails(): ReadonlyMap<string, Rail>;
    context(): OrdersContext;
    publicUrl(): string;
  },
): TravelRule {
  const { protocol, publicUrl } = more;
  return openTravelRule({
    ...{ db, vault, clock },
    senderOf: (tx, depositId) => senderOf({ rails: more.rails() }, tx, depositId),
    depositsOf: (tx, orderId) => fundingOf(tx, { id: orderId }),
    payoutOf: payoutPlanned,
    wake: (tx, orderId) => wakePayouts(tx, orderId, clock.now()),
    async isSignedBy(rail, ...signed) {
      const found = more.rails().get(rail);
      return (await found?.isSignedBy?.(...signed)) === true || (await found?.isWalletProof?.(...signed)) === true;
    },

    async requestRefund(orderId) {
      const why = 'travel rule data is missing';
      const action = { orderId, by: 'travel rule', why, now: clock.now() };
      try {
        return await db.asSystem((tx) => returnByTravelRule(more.context(), tx, action));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        // The order is paid, or its refund is under way.
        return 'requested';
      }
    },

    holdRefused: (tx, orderId) =>
      holdRefused(more.context(), tx, { orderId, by: 'travel rule', why: '', now: clock.now() }),

    ...defined({
      exchange: protocol && {
        ...{ protocol, publicUrl },
        readAddress: (rail: string, address: string) => more.rails().get(rail)?.readAddress?.(address),
        fateOf,
        async isCustomer(tx: Tx, customerId: string, names: readonly string[]): Promise<boolean> {
          for (const name of names) if ((await comparePayer(tx, vault, customerId, name)) === 'same') return true;
          return false;
        },
        async isOpen(tx: Tx, orderId: bigint): Promise<boolean> {
          const order = await payoutPlanned(tx, orderId);
          if (order === undefined || isFinal(order.state)) return false;
          const { blocked, erasedAt } = await findCustomer(tx, order.customerId);
          return !blocked && erasedAt === null;
        },
      },
    }),
  });
}

async function fateOf(tx: Tx, orderId: bigint, address: string): Promise<Fate> {
  const order = await payoutPlanned(tx, orderId);
  const paid = (await payoutsOf(tx, orderId)).find(
    (one) => one.refundId === null && one.state === 'settled' && one.address === address,
  );
  return { isOver: order === undefined || isFinal(order.state), tx: paid?.reference ?? null };
}
