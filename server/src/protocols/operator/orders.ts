/**
 * Reads of one order beside its trace: the webhooks about it, and where its payout goes. Nothing personal: of an account only its
 * last characters. The whole number is personal data, which `customer.personal` shows with a reason.
 */
import { fiatAccounts, waitsUntil } from '../../customers/index.ts';
import { trace } from '../../orders/index.ts';
import { hooksOf } from '../../reports/index.ts';
import { ORDERS } from './declared/orders.ts';
import { place } from './place.ts';
import { type Read, read } from './read.ts';

export const ORDER_READS: readonly Read[] = [
  read({
    ...ORDERS.webhooks,
    async answer({ orders }, tx, { order, below, limit: most = 50 }) {
      const { order: found } = await trace(tx, order, orders.rails);
      const page = await hooksOf(tx, { subject: `order:${found.id}`, below, limit: most });
      const webhooks = page.rows.map(({ url, ...one }) => ({ ...one, url: url === null ? null : place(url) }));
      return { webhooks, next: page.next === null ? null : String(page.next) };
    },
  }),
  read({
    ...ORDERS.goesTo,
    async answer({ clock, orders }, tx, input) {
      const { order } = await trace(tx, input.order, orders.rails);
      const { customerId, fiatAccountId, payoutAddress: address } = order;
      const account =
        fiatAccountId === null
          ? undefined
          : (await fiatAccounts(tx, customerId)).find(({ id }) => id === fiatAccountId);
      const until = await waitsUntil(tx, { customerId, fiatAccountId, address, now: clock.now() });
      return {
        kind: address !== null ? 'address' : fiatAccountId !== null ? 'account' : null,
        ...{ rail: order.payoutRail, asset: order.payoutAsset, address, fiatAccountId },
        ...{ fiat: account?.fiat ?? null, hint: account?.hint ?? null, waitsUntil: until ?? null },
      };
    },
  }),
];
