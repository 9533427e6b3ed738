/** Limits of customers across their orders, and how far a customer has used them. */
import { HIGHEST_LEVEL } from '../../../customers/index.ts';
import { PERIODS } from '../../../partners/index.ts';
import { about, amount, id, oneOf, optional, orNone, whole } from '../../declaration/fields.ts';
import { maybe, whole as number, time, text as word } from '../../declaration/parts.ts';
import { act, effectiveAt, limit, look, PROPOSES } from '../declare.ts';
import { done, pages, rows } from '../replies.ts';
import { customerId, fiatCode } from './forms.ts';

const MAX_VERSIONS = 200;
const per = word('Per order, day (any 24 hours) or month (any 30 days)');
const SCOPE = [
  { fiat: word('Fiat whose worth counts'), per },
  { direction: maybe(word('The one direction that counts; null: both together')) },
  { market: maybe(word('Number of the one market that counts; null: all of the fiat together')) },
  { level: number('For customers verified up to this level') },
];
const VERSION = [
  'id',
  ...SCOPE,
  { max: maybe(word('The most, in the fiat; null: it was taken away')), version: number('Counts its changes') },
  ...['by', 'why', 'at'],
];

export const CUSTOMER_LIMITS = {
  list: look({
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
  versions: look({
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
  set: act({
    name: 'customer-limit.set',
    path: '/customer-limits',
    says: 'Sets how much customers up to a level of verification may trade with one order, in any 24 hours or in any 30 days, across all of their orders.',
    right: 'terms',
    people: 'rules',
    plans: true,
    fields: {
      fiat: fiatCode,
      level: whole(0, HIGHEST_LEVEL),
      per: about(oneOf(PERIODS), 'With one order, in any 24 hours (day), in any 30 days (month)', 'day'),
      max: about(orNone(amount), 'The most, in the fiat; none takes the limit away', '50000'),
      direction: optional(
        about(
          oneOf(['offramp', 'onramp']),
          'Only orders in this direction count; without it, both together',
          'offramp',
        ),
      ),
      market: optional(about(id, 'Only orders on this market count; without it, all markets of the fiat', '3')),
      effectiveAt,
    },
    refuses: ['unknown_market', 'malformed_amount', ...PROPOSES],
    gives: done(VERSION),
    command: { words: 'customer-limit set', args: ['fiat', 'level', 'per', 'max'] },
  }),
  used: look({
    path: '/customers/:customer/limits',
    says: 'Shows how far a customer has used each limit.',
    fields: { customer: customerId },
    refuses: ['unknown_customer'],
    gives: rows(
      'limits',
      [
        ...SCOPE,
        { max: word('The most, in the fiat'), used: word('What counts of the orders'), left: word('What is left') },
        { freesAt: maybe(time('When the oldest order that counts no longer does')) },
        { resetsAt: maybe(time('When all of it is left again, if nothing more is ordered')) },
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
