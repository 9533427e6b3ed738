/**
 * Selling crypto: quote, create, get, list.
 */
import { awaitAll } from '../../../base/db.ts';
import { defined } from '../../../base/defined.ts';
import { Refusal } from '../../../base/errors.ts';
import { parseRate } from '../../../base/money.ts';
import { type FiatAccount, fiatAccounts, findCustomer, requireTrading } from '../../../customers/index.ts';
import { assets, type Market } from '../../../partners/index.ts';
import type { Reply } from '../../protocol.ts';
import { amount, code, id, malformedField, missingFields, optional, required, text, unitsOf } from '../fields.ts';
import { idempotencyKey, once } from '../idempotency.ts';
import { ok, type SignedRequest, whenNeeded } from '../route.ts';
import { createdOfframpShape, offrampDetailShape, offrampShape } from '../shapes.ts';
import { accountNamed, requireFiat } from './accounts.ts';
import { addressTrouble } from './onramp.ts';
import {
  getIn,
  listFields,
  listIn,
  marketOf,
  type quoteFields,
  quoteIn,
  recordOrder,
  sayLimits,
  type transactionFields,
} from './orders.ts';

export const quoteOfframp = (input: SignedRequest<typeof quoteFields>): Promise<Reply> => quoteIn('offramp', input);

export const createFields = {
  fromCurrency: required(code),
  toCurrency: required(code),
  chain: required(code),
  fromAmount: required(amount),
  toAmount: optional(amount),
  rate: optional(amount),
  customerId: required(id),
  fiatAccountId: optional(id),
  merchantRecognitionId: optional(text()),
  /** Our own field, which the interface does not have: where the deposit is refunded to, if necessary. */
  refundAddress: optional(text()),
};

/**
 * Creates the order, once per request. First the fields are checked (decimals of amounts, too, once the market is known);
 * then, in the transaction that also stores the reply: customer, login, account, market, price.
 */
export async function createOfframp(input: SignedRequest<typeof createFields>): Promise<Reply> {
  const { deps, caller, values, body, call, path } = input;
  const { partner } = caller;
  const market = await marketOf(input, {
    direction: 'offramp',
    coin: values.fromCurrency,
    fiat: values.toCurrency,
    chain: values.chain,
  });
  const refundAddress = market instanceof Refusal ? undefined : await refundAddressOf(input, market);
  const units =
    market instanceof Refusal
      ? undefined
      : {
          deposit: unitsOf('fromAmount', values.fromAmount, market.crypto.decimals),
          payout:
            values.toAmount === undefined ? undefined : unitsOf('toAmount', values.toAmount, market.fiat.decimals),
        };
  const key = idempotencyKey(call.headers['idempotency-key'], caller.payload);
  const now = deps.clock.now();
  return await once(deps, { partnerId: partner.id, path, key, body, now }, async (tx) => {
    const [customer, accounts] = await awaitAll(
      findCustomer(tx, values.customerId),
      fiatAccounts(tx, values.customerId),
    );
    requireTrading(customer, partner);
    const account = accountOf(accounts, values.fiatAccountId);
    if (market instanceof Refusal) throw market;
    requireFiat(account, market, values.toCurrency);
    const order = await sayLimits(market.crypto, () =>
      deps.orders.create(tx, {
        partner,
        customer,
        market,
        depositUnits: units?.deposit ?? 0n,
        ...(units?.payout === undefined ? {} : { payoutUnits: units.payout }),
        ...(values.rate === undefined ? {} : { rate: parseRate(values.rate) }),
        ...defined({ merchantReference: values.merchantRecognitionId }),
        fiatAccountId: account.id,
        ...defined({ refundAddress }),
        now,
      }),
    );
    recordOrder(tx, caller, order, now);
    return ok(createdOfframpShape(order, await assets(tx)));
  });
}

async function refundAddressOf(
  { deps, values }: SignedRequest<typeof createFields>,
  market: Market,
): Promise<string | undefined> {
  if (values.refundAddress === undefined) return undefined;
  const read = await deps.orders.readRefundAddress(whenNeeded(deps.db), market, values.refundAddress);
  if ('why' in read) throw malformedField('refundAddress', addressTrouble(read.why, market));
  return read.address;
}

/** The named account, or the customer's only one. */
function accountOf(accounts: readonly FiatAccount[], named: string | undefined): FiatAccount {
  if (named !== undefined) return accountNamed(accounts, named);
  const [only, second] = accounts;
  if (only === undefined || second !== undefined) throw missingFields(['fiatAccountId']);
  return only;
}

/** In addition to the interface's own fields: deposits, why they are unusual, refunds, and returned payouts. */
export const getOfframp = (input: SignedRequest<typeof transactionFields>): Promise<Reply> =>
  getIn('offramp', async (order, known, tx) =>
    offrampDetailShape(order, known, await input.deps.orders.publicMoney(tx, order)),
  )(input);

export const offrampListFields = listFields(499);
export const listOfframp = listIn('offramp', offrampShape);
