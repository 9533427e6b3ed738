/** Quotes in replies. */
import { Type } from 'typebox';
import { FEE_KINDS } from '../../../quotes/index.ts';
import { closed, decimal, direction, id, list, maybe, moneyAs, text, time, word } from './parts.ts';

export const Fee = Type.Object(
  {
    kind: word(
      FEE_KINDS,
      'Who receives the fee: the operator, you, the payment rail or the chain; or tax that is withheld',
    ),
    amount: moneyAs('Amount of the fee', '12.50', 'inr'),
  },
  { ...closed, description: 'One part of the fees' },
);

export const PriceUsed = Type.Object(
  {
    base: text('Coin whose price it is', 'usdc'),
    quote: text('Currency of the price', 'inr'),
    source: text('Source of the price', 'kraken'),
    rate: decimal('Price of one whole coin in this currency', '86.41'),
    at: time('When the price was valid, according to its source'),
    cross: maybe(
      list(
        text('A pair', 'usdc/usd'),
        'The pairs from which the price was computed, in order; null if the source quotes the pair itself',
      ),
    ),
  },
  { ...closed, description: 'A price from which the rate was computed' },
);

export const QUOTE_STATES = ['open', 'taken', 'expired'] as const;
export const Quote = Type.Object(
  {
    id: id('Id of the quote'),
    state: word(QUOTE_STATES, '`open`: an order may use it until `expiresAt`'),
    market: id('Id of the market', '3'),
    direction: direction(),
    fixed: word(['pay', 'receive'] as const, 'Which amount the request specified'),
    pay: moneyAs('Amount that the customer pays', '250.50', 'usdc.matic20'),
    receive: moneyAs('Amount that the customer receives, after all fees', '21455.20', 'inr'),
    rate: decimal('Fiat per whole coin', '86.41'),
    fees: list(Fee, 'Fees, in the fiat of the market; zero parts are left out'),
    prices: list(PriceUsed, 'The prices from which the rate was computed'),
    orderId: maybe(id('Order that used the quote')),
    createdAt: time('When it was created'),
    expiresAt: time('Until when an order may use it'),
    signature: Type.Object(
      {
        algorithm: Type.Literal('hmac-sha256', {
          description: 'HMAC-SHA256 with the secret of your key',
          examples: ['hmac-sha256'],
        }),
        keyId: text('The key whose secret was used', 'clv_4pQ9aX'),
        text: text(
          'The signed text: `cloverleaf-quote`, id, market, amount and asset paid, amount and asset received, rate, expiry; separated by one space',
          'cloverleaf-quote 747983292881815 3 250.50 usdc.matic20 21455.20 inr 86.41 2026-11-23T09:31:00.000Z',
        ),
        value: text('The signature in hex', 'b7c1…'),
      },
      { ...closed, description: 'Signed proof of the offer, for your own records' },
    ),
  },
  { ...closed, description: 'An offer at a fixed price, which one order may use before it expires' },
);
