/**
 * Buying crypto: quote, create with payment instructions, claim a bank reference, get, list.
 */
import { awaitAll } from '../../../base/db.ts';
import { defined } from '../../../base/defined.ts';
import { Refusal } from '../../../base/errors.ts';
import { parseRate } from '../../../base/money.ts';
import { fiatAccounts, findCustomer, requireTrading } from '../../../customers/index.ts';
import type { PayoutAddress } from '../../../orders/index.ts';
import { assets, type Market, recordActivity } from '../../../partners/index.ts';
import type { Reply } from '../../protocol.ts';
import { amount, code, id, malformedField, optional, required, text, unitsOf } from '../fields.ts';
import { idempotencyKey, once } from '../idempotency.ts';
import { ok, type SignedRequest, throughOf, whenNeeded } from '../route.ts';
import { createdOnrampShape, onrampShape, payInstructionsShape } from '../shapes.ts';
import { accountNamed, requireFiat } from './accounts.ts';
import {
  getIn,
  listFields,
  listIn,
  marketOf,
  methodNamed,
  orderIn,
  orderNumberOf,
  type quoteFields,
  quoteIn,
  recordOrder,
  sayLimits,
} from './orders.ts';

export const quoteOnramp = (input: SignedRequest<typeof quoteFields>): Promise<Reply> => quoteIn('onramp', input);

/** In the interface's order, which is also the order in which missing fields are listed. */
export const createOnrampFields = {
  fromCurrency: required(code),
  toCurrency: required(code),
  fromAmount: required(amount),
  chain: required(code),
  customerId: required(id),
  depositAddress: required(text()),
  toAmount: optional(amount),
  rate: optional(amount),
  paymentMethodType: required(code),
  merchantRecognitionId: optional(text()),
  fiatAccountId: optional(id),
};

/** Creates the order, once per request, with the same order of checks as for selling. */
export async function createOnramp(input: SignedRequest<typeof createOnrampFields>): Promise<Reply> {
  const { deps, caller, values, body, call, path } = input;
  const { partner } = caller;
  const market = await marketOf(input, {
    direction: 'onramp',
    coin: values.toCurrency,
    fiat: values.fromCurrency,
    chain: values.chain,
  });
  const read = market instanceof Refusal ? undefined : await readFor(input, market);
  const key = idempotencyKey(call.headers['idempotency-key'], caller.payload);
  const now = deps.clock.now();
  return await once(deps, { partnerId: partner.id, path, key, body, now }, async (tx) => {
    const [customer, accounts] = await awaitAll(
      findCustomer(tx, values.customerId),
      fiatAccounts(tx, values.customerId),
    );
    requireTrading(customer, partner);
    const account = values.fiatAccountId === undefined ? undefined : accountNamed(accounts, values.fiatAccountId);
    if (market instanceof Refusal) throw market;
    if (account !== undefined) requireFiat(account, market, values.fromCurrency);
    const paymentMethod = await methodNamed(tx, market, values.paymentMethodType);
    const order = await sayLimits(market.fiat, () =>
      deps.orders.create(tx, {
        partner,
        customer,
        market,
        depositUnits: read?.deposit ?? 0n,
        payoutAddress: read?.address ?? '',
        paymentMethod,
        ...(read?.payout === undefined ? {} : { payoutUnits: read.payout }),
        ...(values.rate === undefined ? {} : { rate: parseRate(values.rate) }),
        ...defined({ fiatAccountId: account?.id }),
        ...defined({ merchantReference: values.merchantRecognitionId }),
        now,
      }),
    );
    recordOrder(tx, caller, order, now);
    return ok(createdOnrampShape(order, deps.orders.payInstructions(order), await assets(tx)));
  });
}

async function readFor({ deps, values }: SignedRequest<typeof createOnrampFields>, market: Market) {
  const read = await deps.orders.readPayoutAddress(whenNeeded(deps.db), market, values.depositAddress);
  if ('why' in read) throw malformedField('depositAddress', addressTrouble(read.why, market));
  const { address } = read;
  return {
    address,
    deposit: unitsOf('fromAmount', values.fromAmount, market.fiat.decimals),
    payout: values.toAmount === undefined ? undefined : unitsOf('toAmount', values.toAmount, market.crypto.decimals),
  };
}

export const addressTrouble = (why: Extract<PayoutAddress, { why: string }>['why'], { crypto }: Market): string =>
  ({
    no_address: `is not an address on ${crypto.chain}`,
    token_contract: 'is the contract of a token',
    ours: 'is an address of ours',
  })[why];

export const getOnramp = getIn('onramp', onrampShape);

/** One public program always requests 500, which is more than the list of sales allows. */
export const onrampListFields = listFields(500);
export const listOnramp = listIn('onramp', onrampShape);

export const claimFields = {
  customerId: required(id),
  transactionId: required(id),
  referenceId: required(text({ max: 64 })),
};

/**
 * Stores which bank transfer the customer claims to have made. It helps an operator; deposits are matched by the bank's data
 * only.
 */
export async function namePayerReference({
  deps,
  caller,
  values,
  inTx,
}: SignedRequest<typeof claimFields>): Promise<Reply> {
  const now = deps.clock.now();
  return await inTx(async (tx) => {
    const customer = await findCustomer(tx, values.customerId);
    const order = await deps.orders.claim(tx, {
      id: orderNumberOf(values.transactionId),
      direction: 'onramp',
      customerId: customer.id,
      reference: values.referenceId,
      now,
    });
    recordActivity(tx, throughOf(caller), { action: 'order.payer_reference_named', subject: `order:${order.id}`, now });
    return ok({ transactionId: String(order.id), referenceId: values.referenceId });
  });
}

export const bankDetailsFields = {
  customerId: required(id),
  transactionId: required(id),
  fromCurrency: optional(code),
  paymentMethodType: optional(code),
};

export async function bankDetails(input: SignedRequest<typeof bankDetailsFields>): Promise<Reply> {
  return await input.inTx(async (tx) => {
    const order = await orderIn('onramp', tx, input);
    return ok(payInstructionsShape(order, input.deps.orders.payInstructions(order)));
  });
}
