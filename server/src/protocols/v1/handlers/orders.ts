/** Orders: create, read, cancel, refund, and where their money is. */
import { awaitAll, type Tx } from '../../../base/db.ts';
import { defined } from '../../../base/defined.ts';
import { assert, Refusal } from '../../../base/errors.ts';
import {
  type Destination,
  destinationById,
  findCustomer,
  isUsable,
  requireTrading,
  waitsUntil,
} from '../../../customers/index.ts';
import {
  cancelUnpaid,
  changePayoutFor,
  MAX_LISTED,
  type Order,
  payElsewhereFor,
  payoutPlanned,
  refundHeldFor,
  refundSuspenseFor,
} from '../../../orders/index.ts';
import { assets, markets, recordActivity, requireNotHeld } from '../../../partners/index.ts';
import { findQuote } from '../../../quotes/index.ts';
import { ORDERS } from '../declared/orders.ts';
import { type Asked, byOf, type Handled, reads, throughOf, writes } from '../handler.ts';
import { cursorOf, pageFrom, readCursor, unknownCursor } from '../pages.ts';
import { depositShape, orderShape, payoutShape, refsOf, refundShape, refundTarget, targetsOf } from '../shapes.ts';
import { traceShape } from '../trace.ts';
import { sayLimits } from './quotes.ts';

const PAGE = 50;
/** Maximum refunds read per order: a payer who pays in small parts may cause many. */
const MOST_REFUNDS = 10_000;

type About = Asked<{ order: (typeof ORDERS.get)['fields']['order'] }>;

/** The partner's role sees no other partner's orders. @throws Refusal 'unknown_order' */
const own = (tx: Tx, { deps, values }: Pick<About, 'deps' | 'values'>): Promise<Order> =>
  deps.orders.get(tx, { id: values.order });

async function shapedAll(tx: Tx, orders: readonly Order[], { deps, now }: Pick<Asked, 'deps' | 'now'>) {
  const known = await assets(tx);
  const named = orders.map((order) => ({ customerId: order.customerId, to: targetsOf(order) }));
  const how = { orders: deps.orders, known, now, refs: await refsOf(tx, named, known) };
  const data = [];
  for (const order of orders) data.push(await orderShape(tx, order, how));
  return data;
}

async function shaped(tx: Tx, order: Order, asked: Pick<Asked, 'deps' | 'now'>) {
  const [shape] = await shapedAll(tx, [order], asked);
  assert(shape !== undefined, 'the order has no shape');
  return shape;
}

const destinationOf = ({ id, address }: Destination) => (address === null ? { fiatAccountId: id } : { address });

/**
 * A customer's destination to which the order's money may be redirected although the order does not name it.
 *
 * @throws Refusal 'unknown_destination' | 'destination_waits' | 'destination_held'
 */
async function usable(tx: Tx, order: Order, id: bigint, { deps, caller, now }: Asked) {
  const destination = await destinationById(tx, { customerId: order.customerId, id });
  const from = isUsable(destination, { coolingOffMs: deps.coolingOffMs, now });
  if (from !== true) throw new Refusal('destination_waits', { usableAt: from });
  const fiatAccountId = destination.kind === 'account' ? id : null;
  await requireNotHeld(tx, { ...throughOf(caller), fiatAccountId, address: destination.address, orderId: null, now });
  return { to: destinationOf(destination), isConfirmed: destination.confirmedAt !== null };
}

/** Checks that a cursor is an order of the partner. @throws Refusal 'malformed_field' */
async function requireShown(tx: Tx, { orders }: Asked['deps'], id: bigint): Promise<void> {
  try {
    await orders.get(tx, { id });
  } catch (error) {
    throw error instanceof Refusal && error.code === 'unknown_order' ? unknownCursor() : error;
  }
}

const asks = ({ caller, now }: Asked, orderId: bigint) => ({ orderId, by: byOf(caller), now });

/** Recorded as activity, where a containment looks after a leak. */
function recordNamed(tx: Tx, { caller, now }: Asked, { id }: Order, to: ReturnType<typeof destinationOf>): void {
  const facts = 'address' in to ? to : { account: String(to.fiatAccountId) };
  const action = 'refund_destination.named' as const;
  recordActivity(tx, throughOf(caller), { action, subject: `order:${id}`, facts, now });
}

/** Finds the order with the partner role, before the system role acts on it. */
const mine = {
  as: 'system',
  check: async (tx: Tx, asked: About): Promise<void> => void (await own(tx, asked)),
} as const;

export const ORDER_HANDLERS: readonly Handled[] = [
  writes(ORDERS.create, async (tx, asked) => {
    const { values, caller, now, deps } = asked;
    const { partner } = caller;
    const { quoteId, customerId, destinationId, refundDestinationId, method, reference } = values;
    const [quote, customer] = await awaitAll(findQuote(tx, quoteId), findCustomer(tx, customerId));
    if (quote === undefined) throw new Refusal('unknown_quote');
    requireTrading(customer, partner);
    if (quote.orderId !== null || quote.expiresAt <= now) throw new Refusal('quote_over');
    const { market } = quote;
    const [paid, back] = await awaitAll(
      destinationById(tx, { customerId, id: destinationId }),
      refundDestinationId === undefined ? undefined : destinationById(tx, { customerId, id: refundDestinationId }),
    );
    const isSale = market.direction === 'offramp';
    requireFit('destinationId', paid, isSale ? { fiat: market.fiat.code } : { chain: market.crypto.chain });
    if (back !== undefined)
      requireFit('refundDestinationId', back, isSale ? { chain: market.crypto.chain } : { fiat: market.fiat.code });
    const fiatAccountId = isSale ? paid.id : back?.id;
    const order = await sayLimits(market, async () =>
      deps.orders.create(tx, {
        ...{ partner, customer, market, depositUnits: quote.depositUnits, quoteId, now },
        ...defined({ fiatAccountId }),
        ...(isSale || paid.address === null ? {} : { payoutAddress: paid.address }),
        ...(!isSale || back === undefined || back.address === null ? {} : { refundAddress: back.address }),
        ...defined({ merchantReference: reference }),
        ...(method === undefined ? {} : { paymentMethod: await methodOf(tx, market.fiat.code, method) }),
      }),
    );
    const facts = { direction: order.direction, customer: customerId, destination: String(destinationId) };
    recordActivity(tx, throughOf(caller), {
      action: 'order.created',
      subject: `order:${order.id}`,
      facts: { ...facts, payoutAddress: order.payoutAddress, refundAddress: order.refundAddress },
      now,
    });
    return await shaped(tx, order, asked);
  }),

  reads(ORDERS.get, (asked) => asked.readOnly(async (tx) => shaped(tx, await own(tx, asked), asked))),

  reads(ORDERS.list, (asked) => {
    const { values, deps, caller, readOnly } = asked;
    const { cursor, limit = PAGE, market, customerId, ...filters } = values;
    return readOnly(async (tx) => {
      if (customerId !== undefined) await findCustomer(tx, customerId);
      const below = readCursor(cursor);
      if (below !== undefined) await requireShown(tx, deps, below);
      const { orders, next } = await deps.orders.page(tx, {
        ...{ ...filters, partnerId: caller.partner.id, customerId, marketId: market },
        ...{ below, limit: Math.min(limit, MAX_LISTED) },
      });
      return { data: await shapedAll(tx, orders, asked), nextCursor: cursorOf(next) };
    });
  }),

  reads(ORDERS.trace, (asked) =>
    asked.readOnly(async (tx) => {
      const { deps, now } = asked;
      const order = await own(tx, asked);
      const [money, parts, known] = await awaitAll(
        deps.orders.money(tx, order),
        deps.orders.parts(tx, order),
        assets(tx),
      );
      const { customerId, payoutAddress: address } = order;
      const fiatAccountId = address === null ? order.fiatAccountId : null;
      const unconfirmedUntil = await waitsUntil(tx, { customerId, fiatAccountId, address, now });
      return traceShape({ order, money, parts, unconfirmedUntil, known, now });
    }),
  ),

  reads(ORDERS.deposits, (asked) =>
    asked.readOnly(async (tx) => {
      const order = await own(tx, asked);
      const { deposits } = await asked.deps.orders.parts(tx, order);
      const known = await assets(tx);
      // Deposits of other origins are shown elsewhere: with the payout that was returned, or the review that they ended.
      const came = deposits.filter(({ origin }) => origin === 'rail' || origin === 'credit');
      return pageFrom(came, asked.values, (row) => depositShape(row, order.id, known));
    }),
  ),
  reads(ORDERS.payouts, (asked) =>
    asked.readOnly(async (tx) => {
      const order = await own(tx, asked);
      const { payouts } = await asked.deps.orders.parts(tx, order);
      const known = await assets(tx);
      const own_ = payouts.filter(({ purpose }) => purpose === 'payout');
      const refs = await refsOf(tx, [{ customerId: order.customerId, to: own_ }], known);
      return pageFrom(own_, asked.values, (row) => payoutShape(row, order, known, refs));
    }),
  ),
  reads(ORDERS.refunds, (asked) =>
    asked.readOnly(async (tx) => {
      const order = await own(tx, asked);
      const { refunds } = await asked.deps.orders.publicMoney(tx, order, { most: MOST_REFUNDS });
      const known = await assets(tx);
      const refs = await refsOf(tx, [{ customerId: order.customerId, to: refunds.map(refundTarget) }], known);
      return pageFrom(refunds, asked.values, (told) => refundShape(told, order, known, refs));
    }),
  ),

  writes(
    ORDERS.cancel,
    async (tx, asked) => {
      const { deps, values, caller, now } = asked;
      const order = await cancelUnpaid(deps.context, tx, asks(asked, values.order));
      recordActivity(tx, throughOf(caller), { action: 'order.cancelled', subject: `order:${order.id}`, now });
      return await shaped(tx, await own(tx, asked), asked);
    },
    mine,
  ),

  writes(
    ORDERS.refund,
    async (tx, asked) => {
      const { deps, values } = asked;
      const before = await own(tx, asked);
      const { to, isConfirmed } = await usable(tx, before, values.destinationId, asked);
      const what = { ...asks(asked, before.id), to };
      const { depositId } = values;
      if (depositId === undefined) await refundHeldFor(deps.context, tx, what);
      else await refundSuspenseFor(deps.context, tx, { ...what, isConfirmed, depositId });
      recordNamed(tx, asked, before, to);
      return await shaped(tx, await own(tx, asked), asked);
    },
    mine,
  ),

  writes(
    ORDERS.changePayoutDestination,
    async (tx, asked) => {
      const { deps, values } = asked;
      const before = await own(tx, asked);
      const { to } = await usable(tx, before, values.destinationId, asked);
      await changePayoutFor(deps.context, tx, { ...asks(asked, before.id), to });
      recordNamed(tx, asked, before, to);
      return await shaped(tx, await own(tx, asked), asked);
    },
    {
      ...mine,
      // A rejected payout is screened outside a transaction. Idempotent: if the order is paid there already, the reply says so.
      async before(asked) {
        const { deps, inTx, values } = asked;
        const order = await inTx((tx) => own(tx, asked));
        const found = await inTx(async (tx) => {
          const named = await usable(tx, order, values.destinationId, asked);
          // Recorded first, because the insert fails for a key that was revoked meanwhile.
          recordNamed(tx, asked, order, named.to);
          return named;
        });
        await payElsewhereFor(deps.context, { ...asks(asked, order.id), ...found });
      },
    },
  ),

  reads(ORDERS.wallets, async (asked) => {
    const order = await asked.readOnly((tx) => own(tx, asked));
    return await asked.deps.db.asSystem((tx) => walletsOf(tx, asked, order));
  }),

  writes(
    ORDERS.nameWallet,
    async (tx, asked) => {
      const { deps, values, caller, now } = asked;
      const order = await own(tx, asked);
      const { customerId, partnerId, id } = order;
      const of = await travelOf(tx, order);
      const { payoutAddress } = of;
      const rail = payoutAddress === null ? order.depositRail : order.payoutRail;
      const address = deps.context.rails.get(rail)?.readAddress?.(values.address);
      const wrong = (rule: string) => new Refusal('malformed_field', { fields: { address: rule } });
      if (address === undefined) throw wrong('must be an address on the chain of the order');
      if (payoutAddress !== null && address !== payoutAddress)
        throw wrong('must be the address that the order is paid to');
      const { kind, owner, ownerName, provider, travelAddress, signature } = values;
      const said = { kind, owner, ...defined({ ownerName, provider, travelAddress, signature }) };
      await deps.context.travelRule?.declare(tx, of, { customerId, partnerId, rail, address, ...said });
      recordActivity(tx, throughOf(caller), {
        action: 'order.wallet_named',
        subject: `order:${id}`,
        facts: { address },
        now,
      });
      return await walletsOf(tx, asked, order);
    },
    mine,
  ),

  writes(ORDERS.namePayerReference, async (tx, asked) => {
    const { deps, values, caller, now } = asked;
    const { direction, customerId, id } = await own(tx, asked);
    const named = { id, direction, customerId, reference: values.payerReference, now };
    await deps.orders.claim(tx, named);
    const action = 'order.payer_reference_named' as const;
    recordActivity(tx, throughOf(caller), { action, subject: `order:${id}`, now });
    return await shaped(tx, await own(tx, asked), asked);
  }),
];

/** Its payout may have been sent to another address than the order names. */
const travelOf = async (tx: Tx, { id, payoutAddress, payoutRail: rail }: Order) => ({
  ...{ id, payoutAddress, rail },
  ...(await payoutPlanned(tx, id)),
});

/** Uses the system role: the partner role cannot read travel rule data. */
async function walletsOf(tx: Tx, { deps }: Pick<Asked, 'deps'>, order: Order) {
  const { needed = [], dueAt, refusedAt } = (await deps.context.travelRule?.needs(tx, await travelOf(tx, order))) ?? {};
  return {
    data: needed.map(({ direction, address, missing, text }) => ({ direction, address, missing: [...missing], text })),
    dueAt: dueAt?.toISOString() ?? null,
    refusedAt: refusedAt?.toISOString() ?? null,
    travelAddress:
      order.payoutAddress === null ? (deps.context.travelRule?.exchange?.addressOf(order.id) ?? null) : null,
  };
}

/** @throws Refusal 'unknown_destination' when money of this asset cannot arrive there */
function requireFit(
  field: string,
  { fiat, chain }: Destination,
  needed: { fiat: string } | { chain: string | null },
): void {
  const fits = 'fiat' in needed ? fiat === needed.fiat : chain !== null && chain === needed.chain;
  if (fits) return;
  const rule = 'fiat' in needed ? `must be an account in ${needed.fiat}` : `must be an address on ${needed.chain}`;
  throw new Refusal('malformed_field', { fields: { [field]: rule } });
}

/** A method of paying the fiat, in our spelling. @throws Refusal 'unsupported_method' */
async function methodOf(tx: Tx, fiat: string, named: string): Promise<string> {
  const offered = [
    ...new Set((await markets(tx)).filter((one) => one.fiat.code === fiat).map(({ paymentMethod }) => paymentMethod)),
  ];
  const found = offered.find((one) => one.toLowerCase() === named.toLowerCase());
  if (found === undefined) throw new Refusal('unsupported_method', { supported: offered.toSorted() });
  return found;
}
