/** Reports: the trial balance, statements, revenue, and orders affected by a wrong fee or price. */
import { Type } from 'typebox';
import { about, day, id, oneOf, optional, text, time } from '../../declaration/fields.ts';
import { FILTERS, limit, look, NARROWED } from '../declare.ts';
import { many, maybe, pages } from '../replies.ts';
import { TERMS } from './forms.ts';

const MAX_ROWS = 500;
const LAST = 'The page that begins after this row: `next` of the page before';
const sides = ['asset', 'debits', 'credits', 'heldDebits', 'heldCredits'] as const;
const span = { from: time, until: time };
const ROW = [
  'order',
  'createdAt',
  'partnerId',
  'customerId',
  'state',
  'isCharged',
  'was',
  'other',
  'difference',
] as const;
const sum = (description: string) =>
  Type.Object({}, { additionalProperties: true, description: `${description}: how many orders, and both amounts` });

export const REPORTS_OF = {
  trialBalance: look({
    path: '/trial-balance',
    says: 'Shows the trial balance: by asset, or what every account had at an instant.',
    fields: {
      at: optional(about(time, 'The instant; now without it', '2027-01-31T00:00:00Z')),
      by: optional(about(oneOf(['asset', 'account']), 'Rows for assets, or for accounts')),
    },
    table: {
      list: 'accounts',
      columns: ['account', 'kind', 'asset', 'debits', 'credits', 'heldDebits', 'heldCredits', 'balance'],
    },
    gives: Type.Union([
      many(sides, 'By asset'),
      Type.Object(
        {
          at: maybe(Type.String({ description: 'The instant; null for now' })),
          assets: many(sides, 'By asset'),
          accounts: many(
            ['account', 'kind', 'asset', 'debits', 'credits', 'heldDebits', 'heldCredits', 'balance'],
            'By account',
          ),
        },
        { additionalProperties: false },
      ),
    ]),
    command: [
      { words: 'balance', says: 'Shows the trial balance by asset.', options: [], plain: true },
      {
        words: 'report trial-balance',
        says: 'Shows what every account had at an instant.',
        options: ['at'],
        always: { by: 'account' },
        columns: ['account', 'kind', 'debits', 'credits', 'heldDebits', 'heldCredits', 'balance', 'asset'],
      },
    ],
  }),
  statement: look({
    path: '/reports/statement',
    says: 'Shows what a customer paid and received, fees and refunds, with opening and closing balance.',
    fields: {
      ...{ customer: text(40), ...span },
      after: optional(
        about(text(40, /^(opening|closing|[0-9]+\.[0-9]+)$/, 'the line of a statement'), LAST, 'opening'),
      ),
      limit: limit(MAX_ROWS),
    },
    table: {
      list: 'lines',
      columns: ['line', 'at', 'order', 'what', 'asset', 'units', 'owedUnits', 'heldAfterUnits', 'entry'],
    },
    refuses: ['unknown_customer'],
    gives: pages(
      'lines',
      ['line', 'at', 'order', 'what', 'asset', 'units', 'owedUnits', 'heldAfterUnits', 'entry'],
      [
        ...['customer', 'partnerId', 'from', 'until'],
        {
          totals: many(
            ['asset', 'what', { lines: Type.Integer({ description: 'How many lines' }) }, 'units', 'owedUnits'],
            'Sums by asset and kind of line',
          ),
        },
      ],
    ),
    command: {
      words: 'report statement',
      args: ['customer', 'from', 'until'],
      columns: ['line', 'at', 'order', 'what', 'units', 'asset', 'heldAfterUnits', 'entry'],
    },
  }),
  revenue: look({
    path: '/reports/revenue',
    says: 'Shows fees and costs per day (UTC), partner, market and asset.',
    fields: {
      ...{ ...span, partner: FILTERS.partner, market: FILTERS.market },
      after: optional(about(day, LAST, '2027-01-31')),
      limit: limit(MAX_ROWS),
    },
    table: {
      list: 'revenue',
      columns: ['day', 'partnerId', 'marketId', 'asset', 'operatorFee', 'partnerFee', 'railFee', 'gasFee', 'costs'],
    },
    refuses: NARROWED,
    gives: pages(
      'revenue',
      ['day', 'partnerId', 'marketId', 'asset', 'operatorFee', 'partnerFee', 'railFee', 'gasFee', 'costs'],
      ['from', 'until'],
    ),
    command: {
      words: 'report revenue',
      args: ['from', 'until'],
      columns: ['day', 'partnerId', 'marketId', 'asset', 'operatorFee', 'partnerFee', 'railFee', 'gasFee', 'costs'],
    },
  }),
  affected: look({
    path: '/reports/affected',
    says: 'Lists orders created in a span, with the difference to other terms: those before a change, another fee, or another rate.',
    fields: {
      ...{ market: id, ...span, partner: FILTERS.partner, ...TERMS },
      ...{ after: optional(id), limit: limit(MAX_ROWS) },
    },
    table: { list: 'orders', columns: [...ROW, 'asset'] },
    refuses: ['unknown_market', 'unknown_partner', 'unknown_order', 'malformed_amount'],
    gives: pages(
      'orders',
      [...ROW, 'asset'],
      [
        {
          compared: Type.Object({}, { additionalProperties: true, description: 'The other terms' }),
          charged: sum('Of orders whose fee has been charged'),
          promised: sum('Of orders that are under way'),
        },
      ],
    ),
    command: {
      words: 'report affected',
      args: ['market', 'from', 'until'],
      columns: ['order', 'createdAt', 'partnerId', 'customerId', 'state', 'was', 'other', 'difference', 'asset'],
    },
  }),
};
