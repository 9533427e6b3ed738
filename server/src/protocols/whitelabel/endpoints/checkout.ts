/**
 * A link to the hosted checkout: a page of ours where a customer buys (type 1) or sells (type 2) once, without the partner's
 * program.
 *
 * The fields are those of `quotes`. Public programs send no more than these, and some send `flowType` for `type` and
 * `fiatAmount` for a sale too. Optional: `walletAddress` (buying; otherwise the customer is asked), `paymentMethod` by name or
 * kind, `merchantRecognitionId`, `redirectUrl` (gets `orderId` and `customerId`), and the customer: `customerId`, or
 * `clientCustomerId` with the `phoneNumber` of a new one, or `phoneNumber` alone, or none, and then the customer enters a phone
 * number on the page.
 *
 * Replies `link`, `urlHash` (the link's name, which some programs store) and `expiresAt`, the time until which an order can be
 * created. No price is promised yet: the page fixes it. The same request sent twice returns one link, because two links could
 * make two orders.
 */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { randomText } from '../../../base/ids.ts';
import { divide, pow10, quoteToBase } from '../../../base/money.ts';
import { isoTime } from '../../../base/times.ts';
import {
  CHECKOUT_FOR_MS,
  type Customer,
  clientIdOf,
  customerNamed,
  encryptLink,
  enroll,
  findCustomer,
  LINK_FOR_MS,
  openContact,
  updateContact,
} from '../../../customers/index.ts';
import { type Market, markets, recordActivity } from '../../../partners/index.ts';
import { depositAsset, previewQuote, rateNow } from '../../../quotes/index.ts';
import type { Reply } from '../../protocol.ts';
import { type Body, isAbsent, JsonNumber } from '../body.ts';
import { requiredFiat } from '../fiat.ts';
import {
  amount,
  code,
  id,
  malformedField,
  missingFields,
  oneOf,
  optional,
  phone,
  required,
  text,
  unitsOf,
  webAddress,
} from '../fields.ts';
import { idempotencyKey, once } from '../idempotency.ts';
import { methodKind, methodsOf } from '../reference.ts';
import { ok, type SignedRequest, throughOf, whenNeeded } from '../route.ts';
import { marketNamed } from './common.ts';
import { addressTrouble } from './onramp.ts';
import { sayLimits, unsupportedMethod } from './orders.ts';

const word = (body: Body, name: string): string | undefined => {
  const value = body.get(name);
  if (isAbsent(value)) return undefined;
  return value instanceof JsonNumber ? value.text : String(value);
};

/** Without `type`, `flowType` is used. */
const kindOf = (body: Body): string | undefined => word(body, 'type') ?? word(body, 'flowType');

export const generateLinkFields = (body: Body) => {
  const isSale = kindOf(body) === '2';
  const needed = (isNeeded: boolean) => (isNeeded ? required : optional) as typeof optional;
  return {
    coinCode: needed(isAbsent(body.get('coinId')))(code),
    coinId: optional(code),
    network: optional(code),
    chainId: optional(code),
    fiatAmount: needed(!isSale)(amount),
    quantity: needed(isSale && isAbsent(body.get('fiatAmount')))(amount),
    ...requiredFiat(body),
    type: needed(isAbsent(body.get('flowType')))(oneOf('1', '2'), '1: buying. 2: selling'),
    flowType: optional(oneOf('1', '2'), 'Older name of `type`'),
    walletAddress: optional(text()),
    paymentMethod: optional(code),
    customerId: optional(id),
    clientCustomerId: optional(id),
    phoneNumber: optional(phone),
    merchantRecognitionId: optional(text()),
    redirectUrl: optional(webAddress),
  };
};

type LinkInput = SignedRequest<ReturnType<typeof generateLinkFields>>;

export async function generateLink(input: LinkInput): Promise<Reply> {
  const { deps, caller, values, body, call, path } = input;
  if (values.type !== undefined && values.flowType !== undefined && values.type !== values.flowType)
    throw malformedField('flowType', 'must be the same as type');
  const direction = (values.type ?? values.flowType) === '2' ? 'offramp' : 'onramp';
  const market = await marketOrRefusal(input, direction);
  const walletAddress = market instanceof Refusal ? null : await walletOf(input, market);
  const now = deps.clock.now();
  const { id: partnerId } = caller.partner;
  const key = idempotencyKey(call.headers['idempotency-key'], caller.payload);
  return await once(deps, { partnerId, path, key, body, now }, async (tx) => {
    const customer = await customerOf(tx, input, now);
    if (market instanceof Refusal) throw market;
    const paymentMethod = await methodOf(tx, market, values.paymentMethod);
    const depositUnits = await depositOf(tx, input, market);
    // Refuses already here what the page would refuse, because the partner can still correct it.
    await sayLimits(depositAsset(market), () =>
      previewQuote(tx, { partner: caller.partner, market, depositUnits, now }),
    );
    const id = randomText(20);
    const through = throughOf(caller);
    const facts = { purpose: 'checkout', customer: customer?.id ?? null, walletAddress };
    recordActivity(tx, through, { action: 'link.made', subject: `link:${id}`, facts, now });
    const token = encryptLink(deps.vault, 'checkout', {
      id,
      madeBy: caller.credential.key,
      partnerId: String(partnerId),
      customerId: customer?.id ?? null,
      phone: customer === undefined ? (values.phoneNumber ?? null) : null,
      marketId: String(market.id),
      depositUnits: String(depositUnits),
      walletAddress,
      paymentMethod,
      merchantReference: values.merchantRecognitionId ?? null,
      orderUntil: now.getTime() + LINK_FOR_MS,
      until: now.getTime() + CHECKOUT_FOR_MS,
      redirectUrl: values.redirectUrl ?? null,
    });
    return ok({
      link: `${deps.publicUrl()}/checkout/${token}`,
      urlHash: id,
      expiresAt: isoTime(new Date(now.getTime() + LINK_FOR_MS)),
    });
  });
}

async function marketOrRefusal({ deps, values }: LinkInput, direction: Market['direction']): Promise<Market | Refusal> {
  try {
    return await marketNamed(whenNeeded(deps.db), direction, values);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** Destination of bought crypto. A sale has none. */
async function walletOf({ deps, values }: LinkInput, market: Market): Promise<string | null> {
  if (values.walletAddress === undefined || market.direction === 'offramp') return null;
  const read = await deps.orders.readPayoutAddress(whenNeeded(deps.db), market, values.walletAddress);
  if ('why' in read) throw malformedField('walletAddress', addressTrouble(read.why, market));
  return read.address;
}

/** @throws Refusal 'unknown_customer', also when the two ids belong to two customers; 'missing_fields' for a new customer */
async function customerOf(tx: Tx, { deps, caller, values }: LinkInput, now: Date): Promise<Customer | undefined> {
  const { customerId, clientCustomerId, phoneNumber } = values;
  const partnerId = caller.partner.id;
  if (customerId === undefined && clientCustomerId === undefined) return undefined;
  const known =
    customerId === undefined
      ? await customerNamed(tx, deps.vault, partnerId, clientCustomerId ?? '')
      : await findCustomer(tx, customerId);
  if (known === undefined) {
    if (phoneNumber === undefined) throw missingFields(['phoneNumber']);
    const enrolled = await enroll(tx, deps.vault, {
      partnerId,
      clientCustomerId: clientCustomerId ?? '',
      phone: phoneNumber,
      kind: 'INDIVIDUAL',
      now,
    });
    recordActivity(tx, throughOf(caller), { action: 'customer.enrolled', subject: `customer:${enrolled.id}`, now });
    return enrolled;
  }
  if (clientCustomerId !== undefined && clientIdOf(deps.vault, known) !== clientCustomerId)
    throw new Refusal('unknown_customer');
  // Setting the same number again would invalidate a code that is on its way to it.
  const { phone: kept } = await openContact(tx, deps.vault, known.id);
  if (phoneNumber !== undefined && phoneNumber !== kept) {
    await updateContact(tx, deps.vault, known.id, { phone: phoneNumber, now });
    const about = { subject: `customer:${known.id}`, facts: { phone: true, email: false } };
    recordActivity(tx, throughOf(caller), { action: 'customer.contact_changed', ...about, now });
  }
  return known;
}

/** A payment method of the fiat by name, or the first of a kind (1 instant, 2 bank transfer). */
async function methodOf(tx: Tx, market: Market, asked: string | undefined): Promise<string | null> {
  if (asked === undefined) return null;
  const methods = market.direction === 'offramp' ? [market.paymentMethod] : methodsOf(market.fiat, await markets(tx));
  const found = methods.find((one) => one.toLowerCase() === asked.toLowerCase() || String(methodKind(one)) === asked);
  if (found === undefined) throw unsupportedMethod(asked, market.fiat, methods);
  return found;
}

/** A number of decimals that people can read; a coin may have eighteen. */
const MOST_PLACES = 6;

/** The customer's deposit. A sale given in fiat is converted to the quantity that is worth it now, before fees, rounded up. */
async function depositOf(tx: Tx, { values }: LinkInput, market: Market): Promise<bigint> {
  const { crypto, fiat, direction } = market;
  if (direction === 'offramp' && values.quantity !== undefined)
    return unitsOf('quantity', values.quantity, crypto.decimals);
  const fiatUnits = unitsOf('fiatAmount', values.fiatAmount ?? '', fiat.decimals);
  if (direction === 'onramp') return fiatUnits;
  const units = quoteToBase(
    fiatUnits,
    await rateNow(tx, market),
    { base: crypto.decimals, quote: fiat.decimals },
    'up',
  );
  const step = pow10(Math.max(0, crypto.decimals - MOST_PLACES));
  return divide(units, step, 'up') * step;
}
