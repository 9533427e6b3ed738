/** Limits of customers across their orders, and how far a customer has used them. */
import { HIGHEST_LEVEL } from '../../../customers/index.ts';
import { PERIODS } from '../../../partners/index.ts';
import { about, amount, id, oneOf, optional, orNone, whole } from '../../declaration/fields.ts';
import { maybe, whole as number, time, text as word } from '../../declaration/parts.ts';
import { declareAction, declareRead, effectiveAt, limit, PROPOSES } from '../declare.ts';
import { done, pages, rows } from '../replies.ts';
import { customerId, fiatCode } from './forms.ts';

const MAX_VERSIONS = 200;
const per = word('The limit applies to one order, to any 24 hours (`day`), or to any 30 days (`month`)');
const SCOPE = [
  { fiat: word('Fiat in which the value of orders is counted'), per },
  { direction: maybe(word('Only orders in this direction count; null: both directions together')) },
  { market: maybe(word('Only orders on the market with this number count; null: all markets of the fiat together')) },
  { level: number('Applies to customers verified up to this level') },
];
const VERSION = [
  'id',
  ...SCOPE,
  {
    max: maybe(word('The maximum, in the fiat; null: the limit was removed')),
    version: number('Version of the limit'),
  },
  ...['by', 'why', 'at'],
];

export const CUSTOMER_LIMITS = {
  list: declareRead({
    path: '/customer-limits',
    says: 'Lists the limits of customers that are in force.',
    fields: {},
    gives: rows('limits', VERSION),
    command: {
      words: 'customer-limits',
      list: 'limits',
      columns: ['fiat', 'per', 'direction', 'market', 'level', 'max', 'version', 'by', 'why', 'at'],
    },
  }),
  versions: declareRead({
    path: '/customer-limits/versions',
    says: 'Lists all versions of the limits of customers, the newest first.',
    fields: { fiat: optional(fiatCode), below: optional(id), limit: limit(MAX_VERSIONS) },
    table: {
      list: 'versions',
      columns: ['id', 'at', 'fiat', 'per', 'direction', 'market', 'level', 'max', 'version', 'by', 'why'],
    },
    gives: pages('versions', VERSION),
    command: { words: 'customer-limit versions' },
  }),
  set: declareAction({
    name: 'customer-limit.set',
    path: '/customer-limits',
    says: 'Sets how much customers up to a level of verification may trade with one order, in any 24 hours or in any 30 days, across all of their orders.',
    right: 'terms',
    people: 'rules',
    plans: true,
    fields: {
      fiat: fiatCode,
      level: whole(0, HIGHEST_LEVEL),
      per: about(
        oneOf(PERIODS),
        'The limit applies to one order, to any 24 hours (`day`), or to any 30 days (`month`)',
        'day',
      ),
      max: about(orNone(amount), 'The maximum, in the fiat; `none` removes the limit', '50000'),
      direction: optional(
        about(
          oneOf(['offramp', 'onramp']),
          'Only orders in this direction count; by default both directions together',
          'offramp',
        ),
      ),
      market: optional(about(id, 'Only orders on this market count; by default all markets of the fiat', '3')),
      effectiveAt,
    },
    refuses: ['unknown_market', 'malformed_amount', ...PROPOSES],
    gives: done(VERSION),
    command: { words: 'customer-limit set', args: ['fiat', 'level', 'per', 'max'] },
  }),
  used: declareRead({
    path: '/customers/:customer/limits',
    says: 'Shows how far a customer has used each limit.',
    fields: { customer: customerId },
    refuses: ['unknown_customer'],
    gives: rows(
      'limits',
      [
        ...SCOPE,
        {
          max: word('The maximum, in the fiat'),
          used: word('Total value of the counted orders'),
          left: word('The remainder'),
        },
        { freesAt: maybe(time('When the oldest counted order stops counting')) },
        { resetsAt: maybe(time('When the whole limit is available again, if no more orders are created')) },
      ],
      [{ customer: word('Id of the customer'), ofLevel: number('Level of the customer') }],
    ),
    command: {
      words: 'customer limits',
      list: 'limits',
      columns: ['fiat', 'per', 'direction', 'market', 'level', 'max', 'used', 'left', 'freesAt', 'resetsAt'],
    },
  }),
};
