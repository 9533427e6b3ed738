/**
 * Lists: orders, deposits, suspense, payouts, webhook endpoints and their deliveries, over all partners. Each has filters by
 * partner, customer, market, state and time in any combination, has pages, and is available as CSV. Nothing personal, and no
 * address, account or secret; of an endpoint only host and path, and of a delivery nothing that the receiver answered.
 */

import { formatRate } from '../../base/money.ts';
import { scan } from '../../base/scan.ts';
import { attemptsOf, type Delivery, deliveries, endpointById, listEndpoints } from '../../events/index.ts';
import { listDeposits, listOrders, listPayouts, listSuspense } from '../../orders/index.ts';
import { DEPOSITS } from './declared/deposits.ts';
import { ORDERS } from './declared/orders.ts';
import { PARTNERS } from './declared/partners.ts';
import { PAYOUTS } from './declared/payouts.ts';
import { place } from './place.ts';
import { amountOf, amountsIn, narrowed, type Read, read } from './read.ts';

const DAY_MS = 86_400_000;

export const LISTS: readonly Read[] = [
  read({
    ...ORDERS.list,
    async answer(_deps, tx, { state, below: last, limit: most = 50, asset, min, max, ...filters }) {
      const amount = await amountsIn(tx);
      const of = await amountOf(tx, { asset, min, max });
      const by = { ...(await narrowed(tx, filters)), state, amount: of };
      const page = await listOrders(tx, { ...by, below: last, limit: most });
      const orders = page.rows.map((one) => ({
        ...{ id: one.id, createdAt: one.createdAt, partnerId: one.partnerId, customerId: one.customerId },
        ...{ marketId: one.marketId, direction: one.direction, state: one.state },
        ...{ exception: one.exception, failure: one.failure },
        ...{ depositRail: one.depositRail, depositAsset: one.depositAsset },
        depositUnits: amount(one.depositUnits, one.depositAsset),
        receivedUnits: amount(one.receivedUnits, one.depositAsset),
        refundedUnits: amount(one.refundedUnits, one.depositAsset),
        ...{ payoutRail: one.payoutRail, payoutAsset: one.payoutAsset },
        payoutUnits: amount(one.payoutUnits, one.payoutAsset),
        rate: formatRate(one.rate),
        feeAsset: one.fiatAsset,
        feeOperator: amount(one.fees.operator, one.fiatAsset),
        feePartner: amount(one.fees.partner, one.fiatAsset),
        feeRail: amount(one.fees.rail, one.fiatAsset),
        feeChain: amount(one.fees.chain, one.fiatAsset),
        updatedAt: one.updatedAt,
      }));
      return { orders, next: page.next };
    },
  }),
  read({
    ...DEPOSITS.list,
    async answer(_deps, tx, { state, below: last, limit: most = 50, ...filters }) {
      const page = await listDeposits(tx, { ...(await narrowed(tx, filters)), state, below: last, limit: most });
      return { deposits: page.rows, next: page.next };
    },
  }),
  // Oldest first: the money that has waited longest matters most here.
  read({
    ...DEPOSITS.suspense,
    async answer({ clock }, tx, { state, after, limit: most = 50, ...filters }) {
      const page = await listSuspense(tx, { ...(await narrowed(tx, filters)), state, after, limit: most });
      const now = clock.now().getTime();
      const suspense = page.rows.map((one) => ({
        ...{ deposit: one.id, seenAt: one.seenAt, days: Math.floor((now - one.seenAt.getTime()) / DAY_MS) },
        ...{ waitsFor: one.waitsFor, until: one.until, partnerId: one.partnerId, customerId: one.customerId },
        ...{ marketId: one.marketId, orderId: one.orderId, rail: one.rail, asset: one.asset },
        ...{ units: one.freeUnits + one.underWayUnits, freeUnits: one.freeUnits, underWayUnits: one.underWayUnits },
        ...{ state: one.state, origin: one.origin, why: one.why, dust: one.dust },
        ...{ refund: one.refund, refundState: one.refundState },
      }));
      return { suspense, next: page.next };
    },
  }),
  read({
    ...PAYOUTS.list,
    async answer(_deps, tx, { state, below: last, limit: most = 50, ...filters }) {
      const page = await listPayouts(tx, { ...(await narrowed(tx, filters)), state, below: last, limit: most });
      return { payouts: page.rows, next: page.next };
    },
  }),
  read({
    ...PARTNERS.endpoints,
    async answer(_deps, tx, { enabled, after, limit: most = 50, ...filters }) {
      const { partnerId, from, until } = await narrowed(tx, filters);
      const page = await listEndpoints(tx, { partnerId, enabled, from, until, after, limit: most });
      const endpoints = page.endpoints.map((one) => ({
        ...{ id: one.id, partnerId: one.partnerId, url: place(one.url), format: one.format, enabled: one.enabled },
        ...{ madeByKey: one.madeByKey, createdAt: one.createdAt },
        ...{ lastAttemptAt: one.lastAttempt?.at ?? null, lastStatus: one.lastAttempt?.status ?? null },
        ...{ failures: one.failures, failingSince: one.failingSince, switchedOffAt: one.switchedOffAt },
        heldAt: one.heldAt,
      }));
      return { endpoints, next: page.next };
    },
  }),
  read({
    ...PARTNERS.deliveries,
    async answer(_deps, tx, { endpoint, state, below: last, limit: most = 50 }) {
      const { id: endpointId, partnerId, url, format, enabled } = await endpointById(tx, endpoint);
      const page = await scan<Delivery & { id: bigint }, bigint>(
        { after: last, limit: most, isFiltered: state !== undefined },
        async (before, count) =>
          (await deliveries(tx, { endpointId, partnerId, before, limit: count })).map((one) => ({
            row: { ...one, id: one.position },
            fits: state === undefined || one.state === state,
          })),
      );
      const shown = page.rows.map((one) => ({
        ...{ eventId: one.eventId, position: one.position, type: one.type, subject: one.subject },
        ...{ sequence: one.sequence, state: one.state, attempts: one.attempts },
        ...{ lastError: one.lastError, endedAt: one.endedAt },
      }));
      return { ...{ partnerId, url: place(url), format, enabled }, deliveries: shown, next: page.next };
    },
  }),
  read({
    ...PARTNERS.attempts,
    async answer({ vault }, tx, { endpoint, position }) {
      const { id: endpointId, partnerId } = await endpointById(tx, endpoint);
      const found = await attemptsOf(tx, vault, { endpointId, partnerId, position });
      return { attempts: found.map(({ at, tookMs, status, error }) => ({ at, tookMs, status, error })) };
    },
  }),
];
