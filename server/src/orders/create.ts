/**
 * Creates an order in one transaction at the partner role: at a live quote, or at a fresh price within the partner's tolerance,
 * with its own deposit target.
 */
import { type Clock, later } from '../base/clock.ts';
import { awaitAll, type Tx } from '../base/db.ts';
import { assert, Refusal, Unavailable } from '../base/errors.ts';
import { numericId } from '../base/ids.ts';
import { enqueueAt } from '../base/jobs.ts';
import { type Rate, ratesWithin } from '../base/money.ts';
import { type Customer, fiatAccounts } from '../customers/index.ts';
import {
  lockExposure,
  type Market,
  type Partner,
  type Policy,
  policyFor,
  requireNotHeld,
  requireOpen,
} from '../partners/index.ts';
import {
  createQuote,
  depositAsset,
  liveExposure,
  payoutAsset,
  priceHalted,
  type Quote,
  requireWithin,
  requireWithinLevel,
  requote,
  takeQuote,
  takeQuoteById,
} from '../quotes/index.ts';
import { watchAddress } from '../rails/chain.ts';
import type { Rail } from '../rails/rail.ts';
import { emitState } from './advance.ts';
import * as historyStore from './history.store.ts';
import { type HighestLevelFor, lockLimitsOf, requireWithinLimits, worthOf, worthOnMarket } from './limits.ts';
import type { Order } from './store.ts';
import * as store from './store.ts';

export interface CreateInput {
  partner: Partner;
  customer: Customer;
  market: Market;
  /** In the deposit asset's units. */
  depositUnits: bigint;
  /** The rate that the partner was quoted. With neither quote nor rate the fresh price is used. */
  rate?: Rate;
  payoutUnits?: bigint;
  /** The quote that is accepted; its amounts and rate then apply. */
  quoteId?: bigint;
  /**
   * Payout destination: an account of the customer's, or an address. If an address is given, the account is where a deposit would
   * be refunded.
   */
  fiatAccountId?: bigint;
  payoutAddress?: string;
  /** Address to which a deposit on a chain would be refunded. */
  refundAddress?: string;
  /** As stored (encrypted); `openOrders` returns it as the partner sent it. */
  merchantReference?: string;
  /** How the customer pays or is paid, if it differs from the market's default method. */
  paymentMethod?: string;
  /** The order whose late or second deposit pays for this one. */
  follows?: bigint;
  /** Time of the request, with which the quote's expiry is compared. */
  now: Date;
}

/**
 * @throws Refusal 'unknown_account' | 'destination_held' | 'verification_required' | 'amount_outside_limits' |
 *   'customer_limit_exceeded' | 'exposure_exceeded' | 'amount_below_fees' | 'price_moved' | 'quote_over'
 * @throws Unavailable without a price, while quoting is halted, or if the node of its chain has not been started yet
 */
export async function create(
  context: { rails: ReadonlyMap<string, Rail>; clock: Clock; highestLevelFor?: HighestLevelFor },
  tx: Tx,
  input: CreateInput,
): Promise<Order> {
  const { partner, customer, market } = input;
  requireAwake(context.rails, market);
  assert(
    input.fiatAccountId !== undefined || input.payoutAddress !== undefined,
    'an order has neither a payout account nor a payout address',
  );
  // Concurrent orders of one customer wait here for their sequence number. The time is read afterwards, so that a list sorted by
  // number is also sorted by id and time.
  const [customerSeq] = await awaitAll(
    store.nextSeq(tx, { partnerId: partner.id, customerId: customer.id, direction: market.direction }),
    // A follow-on order is made from money already received, so it continues despite a kill switch.
    input.follows === undefined && requireOpen(tx, { partnerId: partner.id, marketId: market.id, exactly: true }),
    input.fiatAccountId !== undefined && requireOwn(tx, customer, { id: input.fiatAccountId, fiat: market.fiat.code }),
    input.follows === undefined && requireFree(tx, input),
  );
  const now = context.clock.now();
  await requireWithinLevel(tx, { market, level: customer.level, depositUnits: input.depositUnits });
  const limits = await lockLimitsOf(tx, { customer, market });
  const id = numericId(now);
  const [quote, index] = await awaitAll(priceFor(tx, input, id), store.nextIndex(tx));
  await requireRoom(tx, input, quote, now);
  const highestLevel = context.highestLevelFor?.(customer.kind);
  await requireWithinLimits(tx, { limits, customer, market, units: worthOnMarket(market, quote), highestLevel, now });
  const rail = context.rails.get(market.depositRail);
  assert(rail !== undefined, `rail ${market.depositRail} is not running`);
  const policy = await policyFor(tx, market, partner.id);
  const target = rail.targets.are === 'derived' ? rail.targets.of(index) : await rail.targets.take(tx);

  const order: Order = {
    id,
    partnerId: partner.id,
    customerId: customer.id,
    direction: market.direction,
    customerSeq,
    marketId: market.id,
    quoteId: quote.id,
    state: 'created',
    depositAsset: depositAsset(market).code,
    depositUnits: quote.depositUnits,
    payoutAsset: payoutAsset(market).code,
    payoutUnits: quote.payoutUnits,
    receivedUnits: null,
    grossUnits: quote.grossUnits,
    fiatAsset: market.fiat.code,
    fees: quote.fees,
    rate: quote.rate,
    rateLockedUntil: lockedUntil(now, market, policy),
    depositRail: market.depositRail,
    depositTarget: target,
    depositIndex: index,
    payoutRail: market.payoutRail,
    paymentMethod: input.paymentMethod ?? market.paymentMethod,
    fiatAccountId: input.fiatAccountId ?? null,
    payoutAddress: input.payoutAddress ?? null,
    refundAddress: input.refundAddress ?? null,
    refundAccountId: input.payoutAddress === undefined ? null : (input.fiatAccountId ?? null),
    refundToBy: null,
    refundRequest: null,
    refundedUnits: 0n,
    merchantReference: input.merchantReference ?? null,
    payerReference: null,
    exception: null,
    failure: null,
    payoutAttempt: 0,
    refundAttempt: 0,
    wasHeld: false,
    dormant: false,
    dormantFrom: null,
    submittedPayout: false,
    depositReference: null,
    payoutReference: null,
    expiresAt: later(now, market.depositTtlMs),
    createdAt: now,
    updatedAt: now,
    follows: input.follows ?? null,
    waitsUntil: null,
    overdue: false,
    policy,
    version: 0,
  };
  store.insert(tx, order);
  if (rail.kind === 'chain')
    watchAddress(tx, { rail: rail.code, address: target, index, orderId: id, partnerId: partner.id });
  historyStore.insertHistory(tx, { order, from: 'none', event: 'created', facts: {}, at: now });
  await emitState(tx, order, now);
  enqueueAt(tx, { kind: 'expire_order', subject: String(id), dueAt: order.expiresAt });
  return order;
}

/**
 * Checks that the rails of an order can be read and paid from now on. @throws Unavailable with the chain whose node is not
 * started
 */
function requireAwake(rails: ReadonlyMap<string, Rail>, { depositRail, payoutRail }: Market): void {
  for (const code of [depositRail, payoutRail]) {
    const rail = rails.get(code);
    if (rail?.chain !== undefined && rail.isAsleep?.() === true)
      throw new Unavailable(code, 'its node has not been started yet', { chain: rail.chain });
  }
}

/** Refuses a destination that is held since a key leaked. @throws Refusal 'destination_held' */
async function requireFree(tx: Tx, { partner, fiatAccountId, payoutAddress, refundAddress, now }: CreateInput) {
  const of = { partnerId: partner.id, orderId: null, now };
  await awaitAll(
    requireNotHeld(tx, { ...of, fiatAccountId: fiatAccountId ?? null, address: payoutAddress ?? null }),
    refundAddress !== undefined && requireNotHeld(tx, { ...of, fiatAccountId: null, address: refundAddress }),
  );
}

async function requireOwn(tx: Tx, customer: Customer, named: { id: bigint; fiat: string }): Promise<void> {
  const accounts = await fiatAccounts(tx, customer.id);
  if (!accounts.some(({ id, fiat }) => id === named.id && fiat === named.fiat))
    throw new Refusal('unknown_account', {});
}

/**
 * Sum of a partner's live quotes and unpaid orders in a fiat, in its units: the amount that counts against its exposure cap.
 *
 * An unpaid order counts as long as its rate may have to be honoured: while it is locked; always, if its policy honours every
 * rate; and after the lock, while a deposit that was in time is confirming or may not be read yet.
 *
 * @returns `until`: when the last of them expires; null if there are none, or if one of them waits for its rail
 */
export async function exposureOf(
  tx: Tx,
  of: { partnerId: bigint; fiat: string; now: Date },
): Promise<{ units: bigint; until: Date | null }> {
  const [quoted, unpaid] = [await liveExposure(tx, of), await store.unpaidExposure(tx, of)];
  if (unpaid.units > 0n && unpaid.until === null) return { units: quoted.units + unpaid.units, until: null };
  const until = [quoted.until, unpaid.until].filter((one) => one !== null).toSorted((a, b) => Number(b) - Number(a))[0];
  return { units: quoted.units + unpaid.units, until: until ?? null };
}

/**
 * An unpaid order at a locked rate is a commitment like a live quote. If the partner has an exposure cap, the sum of both,
 * including this order, must not exceed it. The sum is read under the same lock that quotes take. It is checked here and not when
 * quoting, so that a quote reads no order. A follow-on order is exempt: its money has arrived.
 */
async function requireRoom(tx: Tx, input: CreateInput, quote: Quote, now: Date): Promise<void> {
  const { fiat } = input.market;
  const cap = input.follows === undefined ? await lockExposure(tx, input.partner.id, fiat.code) : null;
  if (cap === null) return;
  const of = { partnerId: input.partner.id, fiat: fiat.code, now };
  const { units: live } = await exposureOf(tx, of);
  requireWithin(cap, { asked: worthOnMarket(input.market, quote), live, fiat });
}

/**
 * As for a new order, for an unpaid one that is to promise more: the increase must fit the partner's exposure cap.
 *
 * @throws Refusal 'exposure_exceeded'
 */
export async function requireRoomForMore(
  tx: Tx,
  order: Order,
  { quote, market, now }: { quote: Quote; market: Market; now: Date },
): Promise<void> {
  const asked = worthOnMarket(market, quote) - worthOf(order);
  const cap = asked > 0n ? await lockExposure(tx, order.partnerId, market.fiat.code) : null;
  if (cap === null) return;
  const { units: live } = await exposureOf(tx, { partnerId: order.partnerId, fiat: market.fiat.code, now });
  requireWithin(cap, { asked, live, fiat: market.fiat });
}

/** The policy's lock time, but never longer than the customer's time to pay. */
function lockedUntil(now: Date, market: Market, { priceMoved: { lockS } }: Policy): Date {
  const ttlMs = market.depositTtlMs;
  return later(now, lockS === null ? ttlMs : Math.min(ttlMs, lockS * 1000));
}

async function priceFor(tx: Tx, input: CreateInput, orderId: bigint): Promise<Quote> {
  const { partner, market, depositUnits, rate, payoutUnits, now } = input;
  if (input.follows !== undefined) return await requote(tx, { partner, market, depositUnits, orderId, now });
  if (input.quoteId !== undefined) {
    const taken = await takeQuoteById(tx, { partnerId: partner.id, id: input.quoteId, market, orderId, now });
    if (taken === undefined || taken.depositUnits !== depositUnits) throw new Refusal('quote_over', {});
    return taken;
  }
  if (rate !== undefined && payoutUnits !== undefined) {
    const live = await takeQuote(tx, { partner, market, depositUnits, rate, payoutUnits, orderId, now });
    if (live !== undefined) return live;
  }
  const fresh = await createQuote(tx, { partner, market, depositUnits, now, forOrder: true });
  const rateMoved = rate !== undefined && !ratesWithin(fresh.rate, rate, partner.toleranceBps);
  const payoutMoved = payoutUnits !== undefined && !unitsWithin(fresh.payoutUnits, payoutUnits, partner.toleranceBps);
  if (rateMoved || payoutMoved) throw new Refusal('price_moved', { toleranceBps: String(partner.toleranceBps) });
  const taken = await takeQuote(tx, {
    partner,
    market,
    depositUnits,
    rate: fresh.rate,
    payoutUnits: fresh.payoutUnits,
    orderId,
    now,
  });
  // The quote was created in this transaction, so it can only be missing because its prices were halted meanwhile.
  if (taken === undefined) throw priceHalted(market);
  return taken;
}

const unitsWithin = (a: bigint, b: bigint, bps: bigint): boolean => (a > b ? a - b : b - a) * 10_000n <= b * bps;
