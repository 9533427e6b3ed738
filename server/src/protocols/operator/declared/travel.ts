/** Travel rule: rules per country, and the data of transfers. */
import { Type } from 'typebox';
import { MAX_TRAVEL_RULES, TRAVEL_EXCHANGES, TRAVEL_POLICIES } from '../../../compliance/index.ts';
import { about, amount, flag, id, oneOf, optional, text, whole } from '../../declaration/fields.ts';
import { whole as number, text as word } from '../../declaration/parts.ts';
import { act, limit, look, PROPOSES } from '../declare.ts';
import { done, maybe, pages, rows } from '../replies.ts';
import { fiatCode } from './forms.ts';

const MOST_DAYS = 30;
const RULE = [
  'id',
  { jurisdiction: word('Country of the customer, or * for every other'), fiat: word('Fiat of the order') },
  { threshold: word('From this worth on, in the fiat'), isOn: Type.Boolean({ description: 'Whether it is used' }) },
  { proofFrom: maybe(word('From this worth on a self-hosted wallet is proven; null: never')) },
  { deadlineS: number('How long a payout waits for the data, in seconds') },
  { policy: word('What happens then: hold, send without the data, or return the deposit') },
  { exchange: word('Whether the provider of a hosted wallet has to answer, or to send its data: none, or required') },
  { version: number('Counts its changes') },
  ...['by', 'why', 'at'],
];

const PROVIDER = [
  'id',
  { host: word('Host of its travel addresses and callbacks'), name: word('Its legal name') },
  { isOn: Type.Boolean({ description: 'Whether data is exchanged with it' }), version: number('Counts its changes') },
  ...['by', 'why', 'at'],
];

export const TRAVEL = {
  rules: look({
    path: '/travel-rules',
    says: 'Lists the travel rules in their present versions.',
    fields: {},
    gives: rows('rules', RULE),
    command: { words: 'travel rules', list: 'rules' },
  }),
  versions: look({
    path: '/travel-rules/versions',
    says: 'Lists all versions of travel rules, the newest first.',
    fields: { below: optional(id), limit: limit(MAX_TRAVEL_RULES) },
    gives: pages('versions', RULE),
    command: { words: 'travel versions', list: 'versions' },
  }),
  set: act({
    name: 'travel.set',
    path: '/travel-rules',
    says: 'Sets from which worth on transfers of coins need data of originator and beneficiary, for customers of a country.',
    right: 'compliance',
    people: 'two',
    fields: {
      jurisdiction: about(
        text(2, /^([A-Z]{2}|\*)$/, 'two capital letters of a country, or *'),
        'Country of the customer, or * for every other',
        'DE',
      ),
      fiat: about(fiatCode, 'Fiat of the order', 'eur'),
      threshold: about(amount, 'From this worth on; 0 for every transfer', '0'),
      proofFrom: optional(about(amount, 'From this worth on a self-hosted wallet is proven by its key', '1000')),
      deadlineHours: about(whole(1, MOST_DAYS * 24), 'How long a payout waits for the data', 24),
      policy: about(
        oneOf(TRAVEL_POLICIES),
        'What happens then: hold it, send it without the data, or return the deposit',
        'hold',
      ),
      exchange: optional(
        about(
          oneOf(TRAVEL_EXCHANGES),
          'required: coins of a hosted wallet move only when its provider has answered, or sent its data; none without it',
          'required',
        ),
      ),
      isOn: optional(about(flag, 'Whether it is used; true without it', true)),
    },
    refuses: ['malformed_amount', ...PROPOSES],
    gives: done(RULE),
    command: { words: 'travel set', args: ['jurisdiction', 'fiat', 'threshold', 'deadlineHours', 'policy'] },
  }),
  providers: look({
    path: '/travel-providers',
    says: 'Lists the providers with which travel rule data is exchanged, each in its present version.',
    fields: {},
    gives: rows('providers', PROVIDER),
    command: { words: 'travel providers', list: 'providers' },
  }),
  setProvider: act({
    name: 'travel.provider',
    path: '/travel-providers',
    says: 'Allows travel rule data to be exchanged with a provider, or ends that.',
    right: 'compliance',
    people: 'two',
    fields: {
      host: about(
        text(
          255,
          /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{2,5})?$/,
          'a host in small letters, with its port if it has another than 443',
        ),
        'Host of its travel addresses and callbacks',
        'trp.exchange.com',
      ),
      name: about(text(100), 'Its legal name', 'An Exchange Ltd'),
      isOn: optional(about(flag, 'Whether data is exchanged with it; true without it', true)),
    },
    refuses: PROPOSES,
    gives: done(PROVIDER),
    command: { words: 'travel provider', args: ['host', 'name'] },
  }),
  open: act({
    name: 'travel.open',
    path: '/orders/:order/travel-rule',
    says: 'Shows the data of the transfers of an order, as IVMS101: names in clear.',
    right: 'personal',
    people: 'one',
    fields: { order: about(id, 'Number of the order', '17') },
    refuses: ['unknown_order'],
    gives: done(null, [
      {
        records: Type.Unknown({ description: 'One for each transfer: direction, address, state, and the data' }),
        needed: Type.Unknown({ description: 'Wallets that something is missing of' }),
        exchanges: Type.Unknown({
          description: 'What was asked of other providers, or came from them, with each answer',
        }),
      },
    ]),
    command: { words: 'travel show' },
  }),
};
