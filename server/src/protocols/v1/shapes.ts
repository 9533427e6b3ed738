/** Converts data of the modules to the format of /v1 (schemas/). */
import { createHmac } from 'node:crypto';
import type { Static } from 'typebox';
import type { Tx } from '../../base/db.ts';
import { formatRate, formatUnits } from '../../base/money.ts';
import { isoTime } from '../../base/times.ts';
import { destinationIds, type NamedAddress } from '../../customers/index.ts';
import {
  type DepositRow,
  exposureOf,
  isPayable,
  type Order,
  type Orders,
  type PublicRefund,
  publicReason,
  publicState,
} from '../../orders/index.ts';
import { exposureCaps, type Asset as KnownAsset, type Market } from '../../partners/index.ts';
import { FEE_KINDS, type Fees, type KeptQuote } from '../../quotes/index.ts';
import type { Caller } from './handler.ts';
import type { COMPONENTS } from './schemas/index.ts';

export type Assets = ReadonlyMap<string, KnownAsset>;
/** The type of the reply component with this name. */
export type Is<Name extends keyof typeof COMPONENTS> = Static<(typeof COMPONENTS)[Name]>;

export const iso = isoTime;
export const isoOrNull = (at: Date | null): string | null => (at === null ? null : isoTime(at));

export const moneyOf = (units: bigint, asset: string, known: Assets): Is<'Money'> => ({
  amount: formatUnits(units, known.get(asset)?.decimals ?? 0),
  asset,
});

export const directionOf = (direction: 'offramp' | 'onramp'): 'sell' | 'buy' =>
  direction === 'offramp' ? 'sell' : 'buy';

const feesOf = (fees: Fees, fiat: string, known: Assets): Is<'Fee'>[] =>
  FEE_KINDS.filter((kind) => fees[kind] > 0n).map((kind) => ({ kind, amount: moneyOf(fees[kind], fiat, known) }));

const assetsOf = ({ direction, crypto, fiat }: Market) =>
  direction === 'offramp' ? { pay: crypto, receive: fiat } : { pay: fiat, receive: crypto };

export function quoteShape(
  quote: KeptQuote,
  known: Assets,
  { caller, now }: { caller: Caller; now: Date },
): Is<'Quote'> {
  const { market } = quote;
  const { pay: payAsset, receive: receiveAsset } = assetsOf(market);
  const pay = moneyOf(quote.depositUnits, payAsset.code, known);
  const receive = moneyOf(quote.payoutUnits, receiveAsset.code, known);
  const rate = formatRate(quote.rate);
  const signed = [
    ...['cloverleaf-quote', String(quote.id), String(market.id), pay.amount, pay.asset, receive.amount, receive.asset],
    ...[rate, iso(quote.expiresAt)],
  ].join(' ');
  return {
    id: String(quote.id),
    state: quote.orderId !== null ? 'taken' : quote.expiresAt > now ? 'open' : 'expired',
    market: String(market.id),
    direction: directionOf(market.direction),
    fixed: quote.fixedSide,
    pay,
    receive,
    rate,
    fees: feesOf(quote.fees, market.fiat.code, known),
    prices: quote.prices.map(({ base, source, rate: of, at, composedOf }) => ({
      ...{ base, quote: market.fiat.coin, source, rate: of, at },
      cross: composedOf === undefined ? null : [...composedOf],
    })),
    orderId: quote.orderId === null ? null : String(quote.orderId),
    createdAt: iso(quote.createdAt),
    expiresAt: iso(quote.expiresAt),
    signature: {
      algorithm: 'hmac-sha256',
      keyId: caller.credential.key,
      text: signed,
      value: createHmac('sha256', caller.secret).update(signed).digest('hex'),
    },
  };
}

type Ref = Is<'DestinationRef'>;
/** The destination of some money of an order, and its asset. */
interface Target {
  readonly asset: string;
  readonly address: string | null;
  readonly fiatAccountId: bigint | null;
}

/** Destinations in replies. */
export type Refs = (customerId: string, to: Target) => Ref | null;

/** @param named the destinations to look up, by customer: the ids of addresses are read in one query */
export async function refsOf(
  tx: Tx,
  named: readonly { readonly customerId: string; readonly to: readonly Target[] }[],
  known: Assets,
): Promise<Refs> {
  const addressOf = (customerId: string, { asset, address }: Target): NamedAddress[] => {
    const chain = known.get(asset)?.chain;
    return address === null || chain == null ? [] : [{ customerId, chain, address }];
  };
  const idOf = await destinationIds(
    tx,
    named.flatMap(({ customerId, to }) => to.flatMap((one) => addressOf(customerId, one))),
  );
  return (customerId, to) => {
    const { address, fiatAccountId } = to;
    if (address === null)
      return fiatAccountId === null ? null : { kind: 'account', id: String(fiatAccountId), address: null };
    const [found] = addressOf(customerId, to).map(idOf);
    return { kind: 'address', id: found === undefined ? null : String(found), address };
  };
}

/** The destinations in an order's reply: of its payout, and of a refund of its deposit. */
export function targetsOf(order: Order): [paid: Target, back: Target] {
  const { payoutAddress, fiatAccountId, refundAddress, refundAccountId } = order;
  return [
    { asset: order.payoutAsset, address: payoutAddress, fiatAccountId: payoutAddress === null ? fiatAccountId : null },
    { asset: order.depositAsset, address: refundAddress, fiatAccountId: refundAccountId },
  ];
}

/** How the customer pays, while the order can still be paid. */
function paymentOf(order: Order, orders: Orders, known: Assets, now: Date): Is<'Payment'> | null {
  if (!isPayable(order, now)) return null;
  const { chain } = known.get(order.depositAsset) ?? {};
  if (chain != null) return { kind: 'chain', chain, address: order.depositTarget };
  const { payee, reference } = orders.payInstructions(order);
  const { holder, bank, branch, accountNumber, ifsc, iban, bic } = payee;
  return { kind: 'bank', holder, bank, branch, accountNumber, ifsc, iban, bic, reference };
}

const NOWHERE: Ref = { kind: 'account', id: null, address: null };

/** One order with its deposits, payouts and refunds. */
export async function orderShape(
  tx: Tx,
  order: Order,
  { orders, known, now, refs }: { orders: Orders; known: Assets; now: Date; refs: Refs },
): Promise<Is<'Order'>> {
  const told = await orders.publicMoney(tx, order);
  const [paid, back] = targetsOf(order);
  return {
    id: String(order.id),
    state: publicState(order.state),
    version: order.version,
    direction: directionOf(order.direction),
    market: String(order.marketId),
    customerId: order.customerId,
    reference: order.merchantReference,
    quoteId: order.quoteId === null ? null : String(order.quoteId),
    pay: moneyOf(order.depositUnits, order.depositAsset, known),
    receive: moneyOf(order.payoutUnits, order.payoutAsset, known),
    received: { amount: told.receivedAmount, asset: order.depositAsset },
    refunded: moneyOf(order.refundedUnits, order.depositAsset, known),
    rate: formatRate(order.rate),
    fees: feesOf(order.fees, order.fiatAsset, known),
    method: order.paymentMethod,
    payment: paymentOf(order, orders, known, now),
    destination: refs(order.customerId, paid) ?? NOWHERE,
    refundDestination: refs(order.customerId, back),
    reason: told.reason,
    needsDestination: told.needsDestination,
    payerReference: order.payerReference,
    createdAt: iso(order.createdAt),
    updatedAt: iso(order.updatedAt),
    expiresAt: iso(order.expiresAt),
  };
}

/** A chain's hash, or a bank's reference. */
export function referencesOf(asset: string, reference: string | null, known: Assets) {
  const given = reference === null || reference === '' ? null : reference;
  const isOnChain = known.get(asset)?.chain != null;
  return { hash: isOnChain ? given : null, bankReference: isOnChain ? null : given };
}

export const depositShape = (row: DepositRow, orderId: bigint, known: Assets): Is<'Deposit'> => ({
  id: String(row.id),
  orderId: String(orderId),
  state: row.state,
  amount: moneyOf(row.units, row.asset, known),
  ...referencesOf(row.asset, row.reference, known),
  reason: row.why === null ? null : publicReason(row.why),
  late: row.late,
  cameAt: isoOrNull(row.cameAt),
  seenAt: iso(row.seenAt),
  confirmedAt: isoOrNull(row.confirmedAt),
});

type PayoutRow = Awaited<ReturnType<Orders['parts']>>['payouts'][number];

/** A payout that is being submitted may still be cancelled, so it is shown as created. */
export const payoutState = ({ state }: Pick<PayoutRow, 'state'>): Is<'Payout'>['state'] =>
  state === 'submitting' ? 'created' : state;

export const payoutShape = (row: PayoutRow, order: Order, known: Assets, refs: Refs): Is<'Payout'> => ({
  id: row.id,
  orderId: String(order.id),
  attempt: row.attempt,
  state: payoutState(row),
  amount: moneyOf(row.paidUnits ?? row.units, row.asset, known),
  destination: refs(order.customerId, row) ?? NOWHERE,
  ...referencesOf(row.asset, row.reference, known),
  reason: row.why === null ? null : publicReason(row.why),
  createdAt: iso(row.createdAt),
  submittedAt: isoOrNull(row.submittedAt),
  endedAt: isoOrNull(row.endedAt),
});

export const refundTarget = ({ asset, address, fiatAccountId }: PublicRefund): Target => ({
  ...{ asset, address: address === '' ? null : address },
  fiatAccountId: fiatAccountId === '' ? null : BigInt(fiatAccountId),
});

export const refundShape = (told: PublicRefund, order: Order, known: Assets, refs: Refs): Is<'Refund'> => ({
  id: told.refundId,
  orderId: String(order.id),
  kind: told.kind,
  state: told.status,
  amount: { amount: told.amount, asset: told.asset },
  destination: refs(order.customerId, refundTarget(told)),
  ...referencesOf(told.asset, told.reference, known),
  reason: told.reason,
  createdAt: told.createdAt,
  updatedAt: told.updatedAt,
});

/** The amounts that count against a partner's caps, per fiat: the same that `orders.create` counts. */
export async function exposures(
  tx: Tx,
  { partnerId, markets, now }: { partnerId: bigint; markets: readonly Market[]; now: Date },
): Promise<Is<'Exposure'>[]> {
  const caps = await exposureCaps(tx, partnerId);
  const fiats = new Map(markets.map(({ fiat }) => [fiat.code, fiat]));
  const found = [];
  for (const { code, decimals } of fiats.values()) {
    const { units, until } = await exposureOf(tx, { partnerId, fiat: code, now });
    const cap = caps.get(code);
    const left = cap === undefined ? undefined : cap > units ? cap - units : 0n;
    const amount = (of: bigint | undefined) => (of === undefined ? null : formatUnits(of, decimals));
    const used = formatUnits(units, decimals);
    found.push({ asset: code, cap: amount(cap), used, left: amount(left), resetsAt: isoOrNull(until) });
  }
  return found;
}
