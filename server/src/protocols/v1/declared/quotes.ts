/** Quotes. */
import { about, amount, id, optional, text } from '../../declaration/fields.ts';
import { declare } from '../declare.ts';
import type { Reason } from '../reasons.ts';
import { Quote } from '../schemas/quotes.ts';

export const assetCode = text(64, /^[a-z0-9]+(\.[a-z0-9_-]+)?$/, 'the code of an asset, such as usdc.matic20 or inr');

/** Reasons for which no price is promised. */
const PRICED: readonly Reason[] = [
  'unsupported_pair',
  'amount_outside_limits',
  'amount_below_fees',
  'exposure_exceeded',
  'market_switched_off',
  'partner_switched_off',
  'price_halted',
];

export const QUOTES = {
  create: declare({
    name: 'quotes.create',
    method: 'POST',
    path: '/quotes',
    scope: 'trade',
    member: 'none',
    says: 'Creates a quote for a sale or a purchase, for an amount to pay or an amount to receive. Its price is fixed until it expires.',
    more: 'With `receiveAmount`, the quote has the smallest amount to pay for which the customer receives at least that much. Amounts are rounded to the decimal places of their asset, so `receive` may be slightly more than the requested amount.',
    fields: {
      payAsset: assetCode,
      receiveAsset: assetCode,
      payAmount: optional(amount),
      receiveAmount: optional(amount),
    },
    gives: Quote,
    status: 201,
    refuses: PRICED,
    example: { payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '250.50' },
  }),
  get: declare({
    name: 'quotes.get',
    method: 'GET',
    path: '/quotes/:quote',
    scope: 'read',
    member: 'none',
    says: 'Returns a quote, and whether an order can still use it.',
    more: 'A quote that no order used is deleted some time after it expires.',
    fields: { quote: about(id, 'Id of the quote') },
    gives: Quote,
    refuses: ['unknown_quote'],
  }),
} as const;
