/** Rules of transaction monitoring, dry runs of them, and their findings. */
import { Type } from 'typebox';
import { KINDS, type Kind, MOST_TRIED } from '../../../monitoring/index.ts';
import { about, amount, flag, id, oneOf, optional, text, time, whole } from '../../declaration/fields.ts';
import { maybe, whole as number, text as word } from '../../declaration/parts.ts';
import { declareAction, declareRead, limit, PROPOSES } from '../declare.ts';
import { done, pages, rows } from '../replies.ts';
import { customerId, fiatCode } from './forms.ts';

const MAX_ROWS = 200;
const kinds = Object.keys(KINDS) as Kind[];
const ruleName = about(
  text(40, /^[a-z0-9][a-z0-9-]{1,39}$/, 'a name of 2 to 40 lower-case letters, digits and hyphens'),
  'Name of the rule',
  'many-in-a-day',
);
const kind = about(oneOf(kinds), `What it finds: ${kinds.map((one) => `${one}: ${KINDS[one].says}`).join('; ')}`);
/** `kind` determines which of these apply. */
const PARAMS = {
  fiat: optional(about(fiatCode, 'Fiat whose orders count', 'inr')),
  worth: optional(
    about(amount, 'Amount in the fiat: the sum, limit or first order that the rule compares with', '50000'),
  ),
  count: optional(about(whole(1, 10_000), 'Number of orders, or of customers of a wallet or account', 5)),
  days: optional(about(whole(1, 30), 'Length of the period in days', 1)),
  withinBps: optional(about(whole(1, 9_999), 'Distance below the limit, in basis points', 1_000)),
};
const rule = word('Name of the rule');
const RULE = [
  'id',
  { name: rule, kind: word('What it finds'), isOn: Type.Boolean({ description: 'Whether the rule is active' }) },
  { fiat: maybe(word('Fiat whose orders count')), worth: maybe(word('Amount in the fiat')) },
  { count: maybe(number('Number of orders or customers')), days: maybe(number('Length of the period in days')) },
  { withinBps: maybe(number('Distance below the limit, in basis points')), version: number('Version of the rule') },
  ...['by', 'why', 'at'],
];
const saw = Type.Unknown({ description: 'The evidence: numbers of orders, sums in smallest units, ids' });

export const MONITORING = {
  rules: declareRead({
    path: '/monitoring/rules',
    says: 'Lists the present versions of the rules of transaction monitoring.',
    fields: {},
    gives: rows('rules', RULE),
    command: { words: 'monitoring rules', list: 'rules' },
  }),
  versions: declareRead({
    path: '/monitoring/rules/versions',
    says: 'Lists all versions of the rules of transaction monitoring, newest first.',
    fields: { name: optional(ruleName), below: optional(id), limit: limit(MAX_ROWS) },
    gives: pages('versions', RULE),
    command: { words: 'monitoring versions', list: 'versions' },
  }),
  set: declareAction({
    name: 'monitoring.set',
    path: '/monitoring/rules',
    says: 'Sets a rule of transaction monitoring. It applies to orders whose money arrives from now on.',
    right: 'compliance',
    people: 'rules',
    fields: {
      name: ruleName,
      kind,
      ...PARAMS,
      isOn: optional(about(flag, 'Whether the rule is active; true by default', true)),
    },
    refuses: ['malformed_amount', ...PROPOSES],
    gives: done(RULE),
    command: { words: 'monitoring set', args: ['name', 'kind'] },
  }),
  attempt: declareRead({
    path: '/monitoring/try',
    says: `Shows what a rule would have found in orders created in a period; nothing is stored. At most ${MOST_TRIED} orders at once: pass \`next\` as \`after\` to continue.`,
    fields: { kind, ...PARAMS, from: time, until: time, after: optional(id) },
    refuses: ['malformed_amount'],
    gives: rows(
      'found',
      ['orderId', { customer: word('Id of the customer'), at: word('When the order was created'), saw }],
      [
        { looked: number('Number of checked orders') },
        { next: maybe(word('`from` of the next run; null if the whole period was checked')) },
        { after: maybe(word('`after` of the next run')) },
      ],
    ),
    command: { words: 'monitoring try', args: ['kind'], list: 'found' },
  }),
  findings: declareRead({
    path: '/monitoring/findings',
    says: 'Lists the findings of transaction monitoring, newest first.',
    fields: { customer: optional(customerId), rule: optional(ruleName), below: optional(id), limit: limit(MAX_ROWS) },
    gives: pages('findings', [
      ...['id', { rule, version: number('Version of the rule') }, 'orderId'],
      { customer: word('Id of the customer'), saw, at: word('When it was found') },
    ]),
    command: { words: 'monitoring findings', list: 'findings' },
  }),
};
