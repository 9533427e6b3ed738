/** Reports: the trial balance, statements, revenue, and orders affected by a wrong fee or price. */
import { type TSchema, Type } from 'typebox';
import { about, day, id, oneOf, optional, text, time } from '../../declaration/fields.ts';
import { FILTERS, limit, look, NARROWED } from '../declare.ts';
import { many, maybe, pages, rows } from '../replies.ts';
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
const RECONCILED = [
  ...['what', 'rail', 'wallet', 'asset', 'key', 'outsideUnits', 'ledgerUnits', 'differenceUnits', 'why', 'at'],
];
const COUNTRIES = ['country', 'saidBy', 'fiat', 'customers', 'orders', 'settled', 'settledUnits'];
const PARTNER = ['day', 'what', 'marketId', 'asset', 'count', 'units', 'owedUnits'];
const plain = (description: string) => Type.String({ description: `${description}: a plain decimal of its asset` });
const PARTNER_OWN: Readonly<Record<string, TSchema>> = {
  day: maybe(Type.String({ description: 'Day of the fees, UTC; null for what is about the whole span' })),
  count: maybe(Type.String({ description: 'How many orders settled; of fees, how many were booked' })),
  owedUnits: maybe(plain('What the partner is owed after it; null for volume')),
};
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
  partner: look({
    path: '/reports/partner',
    says: 'Shows the orders of a partner in a span, and the fees it earned, gave back and was paid, with what it was owed at both ends.',
    fields: { partner: id, ...span },
    table: { list: 'lines', columns: PARTNER },
    refuses: ['unknown_partner'],
    gives: rows(
      'lines',
      [
        ...PARTNER.filter((name) => !(name in PARTNER_OWN)),
        ...Object.entries(PARTNER_OWN).map(([name, of]) => ({ [name]: of })),
      ],
      [
        ...['partner', 'name', 'from', 'until'],
        {
          orders: Type.Object(
            {
              created: Type.String({ description: 'How many were created' }),
              settled: Type.String({ description: 'How many of them have settled' }),
              refunded: Type.String({ description: 'How many of them were refunded' }),
            },
            {
              description:
                'How many orders were created in the span, and how many of them have settled or were refunded',
            },
          ),
        },
        {
          totals: many(
            [
              'asset',
              { openingUnits: plain('What the partner was owed at the begin') },
              { earnedUnits: plain('What it earned') },
              { returnedUnits: plain('What it gave back with undone orders') },
              { settledUnits: plain('What it was paid') },
              { closingUnits: plain('What it is owed at the end; negative if it owes fees of undone orders') },
            ],
            'By asset',
          ),
        },
      ],
    ),
    command: { words: 'report partner', args: ['partner', 'from', 'until'], columns: PARTNER },
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
  countries: look({
    path: '/reports/countries',
    says: 'Counts the orders created in a span by the country of their customers and by fiat, with what has settled.',
    fields: { ...span, partner: FILTERS.partner },
    table: { list: 'countries', columns: COUNTRIES },
    refuses: NARROWED,
    gives: rows(
      'countries',
      [
        {
          country: Type.String({ description: 'Where the customer resides, two letters' }),
          saidBy: Type.String({ description: 'Who said it: form, partner or phone; assumed: nobody did' }),
          fiat: Type.String({ description: 'Fiat of the orders' }),
          customers: Type.String({ description: 'How many customers created them' }),
          orders: Type.String({ description: 'How many were created' }),
          settled: Type.String({ description: 'How many of them have settled' }),
          settledUnits: plain('Worth of the settled ones before fees'),
        },
      ],
      ['from', 'until'],
    ),
    command: { words: 'report countries', args: ['from', 'until'], columns: COUNTRIES },
  }),
  reconciliation: look({
    path: '/reports/reconciliation',
    says: 'Shows books and outside by wallet, breaks and items in transit, and the newest seal of the journal, with a hash over all of it.',
    fields: {},
    table: { list: 'lines', columns: RECONCILED },
    gives: rows(
      'lines',
      [
        {
          what: Type.String({
            description: 'wallet: both sides as compared last; break or transit: an item that differs',
          }),
          rail: Type.String({ description: 'Code of the rail' }),
        },
        ...['wallet', 'asset', 'key'],
        {
          outsideUnits: maybe(plain('What there is outside; null where it was not asked')),
          ledgerUnits: plain('What the books say'),
          differenceUnits: maybe(plain('The first less the second')),
          why: maybe(Type.String({ description: 'Of an item: why it differs, or what it waits for' })),
        },
        'at',
      ],
      [
        'at',
        {
          seal: maybe(
            Type.Object(
              {
                number: Type.String({ description: 'Its number' }),
                hash: Type.String({ description: 'Its hash, in hex' }),
                at: Type.String({ description: 'When it was made: ISO 8601 in UTC' }),
              },
              {
                description:
                  'The newest seal of the journal: verify-ledger --seal <number>:<hash> proves that it is still there',
              },
            ),
          ),
          unsealed: Type.String({ description: 'About how many entries were booked since the seal' }),
          breaks: Type.Integer({ description: 'How many items do not agree' }),
          transit: Type.Integer({ description: 'How many items are in transit' }),
          isWhole: Type.Boolean({ description: 'Whether all items are among the lines' }),
          assets: many(['asset', 'debits', 'credits'], 'Both sides of the books by asset'),
        },
        { sha256: Type.String({ description: 'SHA-256 of the rest of this answer as JSON, in hex' }) },
      ],
    ),
    command: { words: 'report reconciliation', columns: RECONCILED },
  }),
  affected: look({
    path: '/reports/affected',
    says: 'Lists orders created in a span, with the difference to other terms: those before a change (of the orders since it took effect), another fee, or another rate.',
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
