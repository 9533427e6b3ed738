/** Quotes in replies. */
import { Type } from 'typebox';
import { FEE_KINDS } from '../../../quotes/index.ts';
import { closed, decimal, direction, id, list, maybe, moneyAs, text, time, word } from './parts.ts';

export const Fee = Type.Object(
  {
    kind: word(FEE_KINDS, 'Whose fee it is: the operator’s, yours, the payment rail’s, the chain’s, or tax withheld'),
    amount: moneyAs('What is taken', '12.50', 'inr'),
  },
  { ...closed, description: 'A part of what is taken' },
);

export const PriceUsed = Type.Object(
  {
    base: text('Coin that is priced', 'usdc'),
    quote: text('Currency that it is priced in', 'inr'),
    source: text('Where the price comes from', 'kraken'),
    rate: decimal('Quote currency for one whole coin', '86.41'),
    at: time('When the price was valid, according to its source'),
    cross: maybe(
      list(
        text('A pair', 'usdc/usd'),
        'The pairs it was computed through, in order; null where the source quotes the pair',
      ),
    ),
  },
  { ...closed, description: 'A price that the rate was made of' },
);

export const QUOTE_STATES = ['open', 'taken', 'expired'] as const;
export const Quote = Type.Object(
  {
    id: id('Id of the quote'),
    state: word(QUOTE_STATES, '`open`: an order may take it until `expiresAt`'),
    market: id('Id of the market', '3'),
    direction: direction(),
    fixed: word(['pay', 'receive'] as const, 'Which side the request named'),
    pay: moneyAs('What the customer pays', '250.50', 'usdc.matic20'),
    receive: moneyAs('What the customer receives, after all fees', '21455.20', 'inr'),
    rate: decimal('Fiat for one whole coin', '86.41'),
    fees: list(Fee, 'Fees, in the fiat of the market; zero parts are left out'),
    prices: list(PriceUsed, 'The prices it was made of'),
    orderId: maybe(id('Order that has taken it')),
    createdAt: time('When it was made'),
    expiresAt: time('Until when an order may take it'),
    signature: Type.Object(
      {
        algorithm: Type.Literal('hmac-sha256', {
          description: 'Under the secret of your key',
          examples: ['hmac-sha256'],
        }),
        keyId: text('The key whose secret signs', 'clv_4pQ9aX'),
        text: text(
          'What is signed: `cloverleaf-quote`, id, market, amount and asset paid, amount and asset received, rate, expiry; one space between',
          'cloverleaf-quote 747983292881815 3 250.50 usdc.matic20 21455.20 inr 86.41 2026-11-23T09:31:00.000Z',
        ),
        value: text('The signature in hex', 'b7c1…'),
      },
      { ...closed, description: 'Proof of the offer, for your own records' },
    ),
  },
  { ...closed, description: 'An offer at a price, valid until it expires, and taken once' },
);
