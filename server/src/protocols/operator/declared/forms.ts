/** Fields shared by several declarations. */
import { HIGHEST_LEVEL } from '../../../customers/index.ts';
import { POLICY_QUESTIONS } from '../../../partners/index.ts';
import { PRICED_FEES } from '../../../quotes/index.ts';
import { about, amount, type Field, id, listOf, oneOf, optional, text, whole } from '../../declaration/fields.ts';

export const address = text(128, /^[\x21-\x7e]+$/, 'an address of at most 128 characters without spaces');
export const customerId = text(40, /^[0-9A-Za-z]{10}_[0-9]{1,19}$/, "a customer's id");
export const assetCode = text(40, /^[a-z0-9.]+$/, 'the code of an asset');
export const fiatCode = text(20, /^[a-z0-9]+$/, "a fiat's code, such as inr");
export const coinCode = text(20, /^[a-z0-9]+$/, 'the code of a coin or fiat, such as usdc');
export const keyName = text(128, /^[\x21-\x7e]+$/, 'an API key');
export const operatorName = text(
  40,
  /^[a-z0-9][a-z0-9._-]{1,39}$/,
  'a name of 2 to 40 small letters, digits, dots, hyphens and underscores',
);
export const policyQuestion = about(
  oneOf(POLICY_QUESTIONS),
  'Which question of the policy is answered',
  POLICY_QUESTIONS[0],
);

/** Items by their numbers, or all of them. */
export const itemsOf = (most: number): Field<bigint[] | 'all'> => ({
  rule: `all, or a list of at most ${most} numbers of held items`,
  schema: { anyOf: [listOf(id, most).schema, { const: 'all' }] },
  read: (given) => (given === 'all' ? given : listOf(id, most).read(given)),
});

/** A partner's own terms, when it is created and when they are changed. */
export const partnerTerms = {
  quoteShape: optional(about(oneOf(['A', 'B']), 'Format of quotes that its program expects')),
  toleranceBps: optional(
    about(whole(0, 10_000), 'Tolerated change of the price between quote and order, in basis points', 50),
  ),
  tradeLevel: optional(about(whole(0, HIGHEST_LEVEL), 'Verification level required for trading', 1)),
  requestsPerMinute: optional(about(whole(0, 1_000_000), 'Maximum number of requests per minute and key', 600)),
};

/** Terms to compare with those the orders were charged by, given in one of three ways. */
export const TERMS = {
  change: optional(id),
  fee: optional(oneOf(PRICED_FEES)),
  bps: optional(whole(0, 10_000)),
  fixed: optional(amount),
  minimum: optional(amount),
  rate: optional(text(40, /^[0-9]*\.?[0-9]+$/, 'a price such as 83.25')),
};
