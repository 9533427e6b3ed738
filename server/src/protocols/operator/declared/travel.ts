/** Travel rule: rules per country, and the data of transfers. */
import { Type } from 'typebox';
import { MAX_TRAVEL_RULES, TRAVEL_EXCHANGES, TRAVEL_POLICIES } from '../../../compliance/index.ts';
import { about, amount, flag, id, oneOf, optional, text, whole } from '../../declaration/fields.ts';
import { whole as number, text as word } from '../../declaration/parts.ts';
import { declareAction, declareRead, limit, PROPOSES } from '../declare.ts';
import { done, maybe, pages, rows } from '../replies.ts';
import { fiatCode } from './forms.ts';

const MOST_DAYS = 30;
const RULE = [
  'id',
  { jurisdiction: word('Country of the customer, or * for all other countries'), fiat: word('Fiat of the order') },
  {
    threshold: word('Value of a transfer from which the rule applies, in the fiat'),
    isOn: Type.Boolean({ description: 'Whether the rule is active' }),
  },
  { proofFrom: maybe(word('Value from which the ownership of a self-hosted wallet must be proven; null: never')) },
  { deadlineS: number('How long a payout waits for the data, in seconds') },
  {
    policy: word(
      'What happens after that time: hold the payout, send it without the data, return the deposit, or refuse the order',
    ),
  },
  { exchange: word('`required` if the provider of a hosted wallet must answer or send its data; otherwise `none`') },
  { version: number('Version number') },
  ...['by', 'why', 'at'],
];

const PROVIDER = [
  'id',
  { host: word('Host of its travel addresses and callbacks'), name: word('Legal name of the provider') },
  { isOn: Type.Boolean({ description: 'Whether data is exchanged with it' }), version: number('Version number') },
  ...['by', 'why', 'at'],
];

export const TRAVEL = {
  rules: declareRead({
    path: '/travel-rules',
    says: 'Lists the present versions of the travel rules.',
    fields: {},
    gives: rows('rules', RULE),
    command: { words: 'travel rules', list: 'rules' },
  }),
  versions: declareRead({
    path: '/travel-rules/versions',
    says: 'Lists all versions of travel rules, the newest first.',
    fields: { below: optional(id), limit: limit(MAX_TRAVEL_RULES) },
    gives: pages('versions', RULE),
    command: { words: 'travel versions', list: 'versions' },
  }),
  set: declareAction({
    name: 'travel.set',
    path: '/travel-rules',
    says: 'Sets the value from which transfers of coins need originator and beneficiary data, for customers of a country.',
    right: 'compliance',
    people: 'two',
    fields: {
      jurisdiction: about(
        text(2, /^([A-Z]{2}|\*)$/, 'two capital letters of a country, or *'),
        'Country of the customer, or * for all other countries',
        'DE',
      ),
      fiat: about(fiatCode, 'Fiat of the order', 'eur'),
      threshold: about(amount, 'Value of a transfer from which the rule applies; 0 for every transfer', '0'),
      proofFrom: optional(
        about(amount, 'Value from which the ownership of a self-hosted wallet must be proven with its key', '1000'),
      ),
      deadlineHours: about(whole(1, MOST_DAYS * 24), 'How long a payout waits for the data', 24),
      policy: about(
        oneOf(TRAVEL_POLICIES),
        'What happens after that time: hold the payout, send it without the data, return the deposit, or refuse the order',
        'hold',
      ),
      exchange: optional(
        about(
          oneOf(TRAVEL_EXCHANGES),
          '`required`: coins of a hosted wallet move only after its provider has answered or sent its data; `none` by default',
          'required',
        ),
      ),
      isOn: optional(about(flag, 'Whether the rule is active; true by default', true)),
    },
    refuses: ['malformed_amount', ...PROPOSES],
    gives: done(RULE),
    command: { words: 'travel set', args: ['jurisdiction', 'fiat', 'threshold', 'deadlineHours', 'policy'] },
  }),
  providers: declareRead({
    path: '/travel-providers',
    says: 'Lists the providers with which travel rule data is exchanged, each in its present version.',
    fields: {},
    gives: rows('providers', PROVIDER),
    command: { words: 'travel providers', list: 'providers' },
  }),
  setProvider: declareAction({
    name: 'travel.provider',
    path: '/travel-providers',
    says: 'Starts or stops the exchange of travel rule data with a provider.',
    right: 'compliance',
    people: 'two',
    fields: {
      host: about(
        text(
          255,
          /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{2,5})?$/,
          'a host in lower case, with its port if that is not 443',
        ),
        'Host of its travel addresses and callbacks',
        'trp.exchange.com',
      ),
      name: about(text(100), 'Legal name of the provider', 'An Exchange Ltd'),
      isOn: optional(about(flag, 'Whether data is exchanged with it; true by default', true)),
    },
    refuses: PROPOSES,
    gives: done(PROVIDER),
    command: { words: 'travel provider', args: ['host', 'name'] },
  }),
  open: declareAction({
    name: 'travel.open',
    path: '/orders/:order/travel-rule',
    says: 'Shows the travel rule data of an order’s transfers in the IVMS101 format, with names in plain text.',
    right: 'personal',
    people: 'one',
    fields: { order: about(id, 'Number of the order', '17') },
    refuses: ['unknown_order'],
    gives: done(null, [
      {
        records: Type.Unknown({ description: 'One item for each transfer: direction, address, state, and the data' }),
        needed: Type.Unknown({ description: 'Wallets for which data is missing' }),
        exchanges: Type.Unknown({
          description: 'Messages to and from other providers, with the answers',
        }),
      },
    ]),
    command: { words: 'travel show' },
  }),
};
