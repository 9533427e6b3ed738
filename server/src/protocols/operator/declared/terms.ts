/** Terms of trade: markets, prices, fees, limits, caps, policies, and their changes. */
import { Type } from 'typebox';
import { HIGHEST_LEVEL } from '../../../customers/index.ts';
import {
  about,
  amount,
  flag,
  id,
  listOf,
  object,
  oneOf,
  optional,
  orNone,
  text,
  time,
  whole,
} from '../../declaration/fields.ts';
import { declareAction, declareRead, effectiveAt, limit, PROPOSES } from '../declare.ts';
import { done, many, maybe, rows, thing } from '../replies.ts';
import { coinCode, fiatCode, partnerTerms, policyQuestion } from './forms.ts';

const DAY_S = 86_400;
const MAX_CHANGES = 200;
const CHANGED = ['market', 'fee', 'limit', 'exposure', 'policy', 'partner'] as const;
const code = text(40, /^[a-z0-9.]+$/, "an asset's code");
const railCode = text(40, /^[a-z0-9.-]+$/, "a rail's code");
const times = {
  isDefault: optional(flag),
  quoteTtlS: optional(whole(1, 3_600)),
  depositTtlS: optional(whole(60, 30 * DAY_S)),
  clearingS: optional(whole(0, 120 * DAY_S)),
  priceMaxAgeS: optional(whole(1, 7 * DAY_S)),
  priceQuorum: optional(whole(1, 20)),
  outlierBps: optional(whole(1, 10_000)),
  singleSource: optional(flag),
  jumpBps: optional(whole(1, 1_000_000)),
  resumeAfterS: optional(whole(1, DAY_S)),
  // Withheld from the fiat converted or paid in; none by default. No country takes more than half.
  taxBps: optional(whole(0, 5_000)),
};
const partner = optional(
  about(id, 'Only for this partner; if left out, for every partner without a value of its own', '1'),
);
const level = about(amount, 'Price that the operator confirms: fiat for one coin', '83.25');

const seconds = (what: string) => Type.Number({ description: `${what}, in seconds` });
const bps = (what: string) => Type.String({ description: `${what}, in basis points` });
const MARKET = [
  'id',
  'direction',
  {
    crypto: Type.String({ description: 'Code of the crypto asset' }),
    fiat: Type.String({ description: 'Code of the fiat' }),
  },
  'enabled',
  { isDefault: Type.Boolean({ description: 'Whether it is used if a partner names no chain' }) },
  ...['depositRail', 'payoutRail'],
  {
    min: Type.String({ description: 'Minimum amount of a deposit' }),
    max: Type.String({ description: 'Maximum amount of a deposit' }),
    of: Type.String({ description: 'Asset of `min` and `max`' }),
    quoteTtlS: seconds('How long a quote is valid'),
    depositTtlS: seconds('How long an order waits for its deposit'),
    clearingS: seconds('Clearing time of a fiat deposit'),
    priceSources: Type.Array(Type.String(), { description: 'Sources of its price' }),
    priceMaxAgeS: seconds('Maximum age of a price'),
    priceQuorum: Type.Integer({ description: 'How many sources must agree' }),
    outlierBps: bps('Distance beyond which a source is ignored'),
    singleSource: Type.Boolean({ description: 'Whether a quorum of one is intended' }),
    jumpBps: bps('Price change at which the market halts'),
    resumeAfterS: seconds('How long sources must agree before the market resumes'),
    taxBps: bps('Tax withheld from the fiat'),
  },
];
const seenMarket = done(MARKET);
const row = (description: string) => Type.Object({}, { additionalProperties: true, description });
/** Rows as stored: amounts in smallest units. */
const kept = (description: string) =>
  thing(['action', 'subject', { outcome: Type.Literal('done') }, { after: maybe(row(description)) }]);
const PRICE = ['marketId', 'coin', 'level', 'levelAt', 'haltedAt', 'why', 'seen', 'seenSince'];
const haltedAt = Type.String({ description: 'Since when it is halted: ISO 8601 in UTC' });

export const TERMS_OF_TRADE = {
  markets: declareRead({
    path: '/markets',
    says: 'Lists all markets.',
    fields: {},
    gives: rows('markets', MARKET),
    command: {
      words: 'markets',
      list: 'markets',
      columns: ['id', 'direction', 'crypto', 'fiat', 'enabled', 'min', 'max', 'of', 'priceQuorum', 'singleSource'],
    },
  }),
  market: declareRead({
    path: '/markets/:market',
    says: 'Shows the terms, prices, fees and policy of a market.',
    fields: { market: id, partner: optional(about(id, 'With the fees and policy of this partner', '1')) },
    refuses: ['unknown_market'],
    gives: thing([...MARKET, 'prices', 'fees', 'policy']),
    command: { words: 'market' },
  }),
  prices: declareRead({
    path: '/prices',
    says: 'Lists the accepted price levels of all markets, and where they halt.',
    fields: { halted: optional(about(flag, 'Only markets that are halted, or only those that are not', true)) },
    table: { list: 'prices', columns: PRICE },
    gives: rows('prices', [
      'marketId',
      { coin: Type.String({ description: 'Code of the coin' }) },
      { level: Type.String({ description: 'The accepted level: fiat for one coin; `none` if there is no level' }) },
      { levelAt: maybe(Type.String({ description: 'When it was accepted: ISO 8601 in UTC' })) },
      { haltedAt: maybe(haltedAt), why: maybe(Type.String({ description: 'Why it is halted: jump or quorum' })) },
      { seen: Type.String({ description: 'Price of the sources since then; `none` if they do not agree' }) },
      { seenSince: maybe(Type.String({ description: 'Since when they agree on it: ISO 8601 in UTC' })) },
    ]),
    command: { words: 'prices', columns: PRICE },
  }),
  create: declareAction({
    name: 'market.create',
    path: '/markets',
    says: 'Creates a market. It is closed until `market set` opens it.',
    right: 'terms',
    people: 'rules',
    fields: {
      direction: about(oneOf(['offramp', 'onramp']), 'Whether customers sell the coin (offramp) or buy it (onramp)'),
      crypto: about(code, 'Code of the crypto asset', 'usdc.matic20'),
      fiat: fiatCode,
      depositRail: railCode,
      payoutRail: railCode,
      paymentMethod: about(
        text(40, /^[A-Z0-9_-]+$/, 'a method of payment such as IMPS or AED-BANK-TRANSFER'),
        'Method of payment as partners name it',
        'IMPS',
      ),
      min: amount,
      max: about(amount, 'Maximum amount of a deposit, in its asset', '5000'),
      payoutDecimals: about(whole(0, 18), 'Decimals that a payout is rounded down to', 2),
      priceSources: about(
        listOf(text(20, /^[a-z]+$/, 'the name of a source of prices'), 20),
        'Sources of its price, by name',
        ['kraken', 'coinbase'],
      ),
      ...times,
    },
    refuses: ['malformed_amount', ...PROPOSES],
    gives: seenMarket,
    command: {
      words: 'market create',
      args: ['direction', 'crypto', 'fiat', 'depositRail', 'payoutRail', 'paymentMethod'],
    },
  }),
  set: declareAction({
    name: 'market.set',
    path: '/markets/:market',
    says: 'Changes terms of a market; terms that are left out do not change.',
    right: 'terms',
    people: 'rules',
    plans: true,
    fields: {
      market: id,
      enabled: optional(flag),
      min: optional(amount),
      max: optional(about(amount, 'Maximum amount of a deposit, in its asset', '5000')),
      ...times,
      effectiveAt,
    },
    refuses: ['unknown_market', 'malformed_amount', ...PROPOSES],
    gives: seenMarket,
    command: { words: 'market set' },
  }),
  confirm: declareAction({
    name: 'price.confirm',
    path: '/markets/:market/price',
    says: 'Resumes a halted market at a price level that an operator confirms.',
    right: 'terms',
    people: 'rules',
    fields: { market: id, level, coin: optional(coinCode) },
    refuses: ['unknown_market', 'market_not_halted', 'malformed_amount', ...PROPOSES],
    gives: done([
      {
        halted: many(
          ['why', { coin: Type.String({ description: 'Code of the coin' }), haltedAt }],
          'Halted prices of the market',
        ),
      },
    ]),
    command: { words: 'price confirm', args: ['market', 'level'] },
  }),
  confirmPair: declareAction({
    name: 'price.confirm-pair',
    path: '/prices/:coin/:fiat/confirm',
    says: 'Resumes all markets that are halted for a pair, at a price level that an operator confirms.',
    right: 'terms',
    people: 'rules',
    fields: { coin: coinCode, fiat: coinCode, level },
    refuses: ['market_not_halted', 'malformed_amount', ...PROPOSES],
    gives: done(
      [
        {
          halted: many(
            [{ market: Type.String({ description: 'Number of the market' }) }, 'why', { haltedAt }],
            'Markets that are halted for the pair',
          ),
        },
      ],
      [
        {
          confirmed: Type.Array(Type.Unknown(), { description: 'Markets that quote again' }),
          halted: Type.Array(Type.Unknown(), { description: 'Markets that stay halted, and why' }),
        },
      ],
    ),
    command: { words: 'price confirm-pair', args: ['coin', 'fiat', 'level'] },
  }),
  fee: declareAction({
    name: 'fee.set',
    path: '/markets/:market/fees',
    says: 'Sets all parts of a fee. A part that is left out becomes zero.',
    right: 'terms',
    people: 'rules',
    plans: true,
    fields: {
      market: id,
      partner,
      kind: about(oneOf(['operator', 'partner', 'rail', 'chain']), 'Which fee'),
      fixed: optional(amount),
      bps: optional(whole(0, 10_000)),
      minimum: optional(amount),
      gasUnits: optional(about(whole(0, 100_000_000), 'Gas that the chain fee covers', 65_000)),
      effectiveAt,
    },
    refuses: ['unknown_market', 'unknown_partner', 'malformed_amount', ...PROPOSES],
    gives: kept('The stored fee, in smallest units'),
    command: { words: 'fee set', args: ['market', 'kind'] },
  }),
  limit: declareAction({
    name: 'limit.set',
    path: '/markets/:market/limits',
    says: 'Sets the maximum amount for customers up to a level of verification.',
    right: 'terms',
    people: 'rules',
    plans: true,
    fields: {
      market: id,
      level: whole(0, HIGHEST_LEVEL),
      max: about(orNone(amount), 'The amount, in the asset of the deposit; `none` removes the limit', '1000'),
      effectiveAt,
    },
    refuses: ['unknown_market', 'malformed_amount', ...PROPOSES],
    gives: kept('The stored limit, in smallest units'),
    command: { words: 'limit set', args: ['market', 'level', 'max'] },
  }),
  cap: declareAction({
    name: 'cap.set',
    path: '/partners/:partner/caps',
    says: 'Sets the exposure cap of a partner: the maximum of its live quotes and unpaid orders in a fiat.',
    right: 'terms',
    people: 'rules',
    plans: true,
    fields: {
      partner: id,
      fiat: fiatCode,
      max: about(orNone(amount), 'The sum, in the fiat; `none` removes the cap', '100000'),
      effectiveAt,
    },
    refuses: ['unknown_partner', 'malformed_amount', ...PROPOSES],
    gives: kept('The stored cap, in smallest units'),
    command: { words: 'cap set', args: ['partner', 'fiat', 'max'] },
  }),
  partner: declareAction({
    name: 'partner.set',
    path: '/partners/:partner',
    says: 'Changes terms of a partner; terms that are left out do not change. Its team changes its origins and branding.',
    right: 'terms',
    people: 'rules',
    plans: true,
    fields: { partner: id, ...partnerTerms, effectiveAt },
    refuses: ['unknown_partner', ...PROPOSES],
    gives: kept('The stored terms'),
    command: { words: 'partner set' },
  }),
  policy: declareAction({
    name: 'policy.set',
    path: '/markets/:market/policies',
    says: 'Sets one answer of a policy: how unexpected money is handled.',
    right: 'terms',
    people: 'rules',
    plans: true,
    fields: {
      market: id,
      partner,
      question: policyQuestion,
      answer: about(orNone(object), 'The answer (docs/operating/policies.md); `none` removes it', { then: 'refund' }),
      effectiveAt,
    },
    refuses: ['unknown_market', 'unknown_partner', ...PROPOSES],
    gives: kept('The stored answer'),
    command: { words: 'policy set', args: ['market', 'question', 'answer'] },
  }),
  changes: declareRead({
    path: '/changes',
    says: 'Lists changes of terms, the newest first.',
    fields: {
      market: optional(id),
      partner: optional(about(id, "Only changes of this partner's own terms", '1')),
      what: optional(about(oneOf(CHANGED), 'Only changes of this kind')),
      ...{ from: optional(time), until: optional(time) },
      ...{ below: optional(id), limit: limit(MAX_CHANGES) },
    },
    table: {
      list: 'changes',
      columns: ['id', 'at', 'what', 'marketId', 'partnerId', 'item', 'by', 'why', 'changed', 'before', 'after'],
    },
    command: {
      words: 'changes',
      columns: ['id', 'at', 'what', 'marketId', 'item', 'by', 'why', 'changed'],
    },
  }),
};
