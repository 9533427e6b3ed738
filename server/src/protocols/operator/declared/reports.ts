/** Reports: the trial balance, statements, revenue, and orders affected by a wrong fee or price. */
import { type TSchema, Type } from 'typebox';
import { RECONCILED } from '../../../reports/index.ts';
import { about, day, id, oneOf, optional, text, time } from '../../declaration/fields.ts';
import { declareRead, FILTERS, limit, NARROWED } from '../declare.ts';
import { many, maybe, pages, rows } from '../replies.ts';
import { TERMS } from './forms.ts';

const MAX_ROWS = 500;
const LAST = '`next` of the previous page; without it, the first page';
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
const VERDICT = {
  verdict: Type.String({ description: 'Whether books and outside agree, in words; open differences come first' }),
  isOpen: Type.Boolean({ description: 'Whether there is an open difference, or something that was not compared' }),
};
const publicKey = { publicKey: Type.String({ description: 'Public key of the signature: 32 bytes in hex' }) };
const COUNTRIES = ['country', 'saidBy', 'fiat', 'customers', 'orders', 'settled', 'settledUnits'];
const PARTNER = ['day', 'what', 'marketId', 'asset', 'count', 'units', 'owedUnits'];
const plain = (description: string) => Type.String({ description: `${description}: a plain decimal of its asset` });
const PARTNER_OWN: Readonly<Record<string, TSchema>> = {
  day: maybe(Type.String({ description: 'Day of the fees in UTC; null for rows about the whole period' })),
  count: maybe(Type.String({ description: 'Number of settled orders; for fees, number of bookings' })),
  owedUnits: maybe(plain('Amount owed to the partner afterwards; null for volume')),
};
const sum = (description: string) =>
  Type.Object({}, { additionalProperties: true, description: `${description}: number of orders, and both amounts` });

export const REPORTS_OF = {
  trialBalance: declareRead({
    path: '/trial-balance',
    says: 'Shows the trial balance: by asset, or by account at a point in time.',
    fields: {
      at: optional(about(time, 'Point in time; now by default', '2027-01-31T00:00:00Z')),
      by: optional(about(oneOf(['asset', 'account']), 'Whether rows are assets or accounts')),
    },
    table: {
      list: 'accounts',
      columns: ['account', 'kind', 'asset', 'debits', 'credits', 'heldDebits', 'heldCredits', 'balance'],
    },
    gives: Type.Union([
      many(sides, 'By asset'),
      Type.Object(
        {
          at: maybe(Type.String({ description: 'Point in time; null for now' })),
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
        says: 'Shows the balance of every account at a point in time.',
        options: ['at'],
        always: { by: 'account' },
        columns: ['account', 'kind', 'debits', 'credits', 'heldDebits', 'heldCredits', 'balance', 'asset'],
      },
    ],
  }),
  statement: declareRead({
    path: '/reports/statement',
    says: 'Shows the statement of a customer: payments, payouts, fees and refunds, with opening and closing balance.',
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
          totals: maybe(
            many(
              ['asset', 'what', { lines: Type.Integer({ description: 'Number of lines' }) }, 'units', 'owedUnits'],
              'Totals of the period by asset and kind of line: on the first page, unless the period has more than 5000 lines',
            ),
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
  partner: declareRead({
    path: '/reports/partner',
    says: 'Shows the orders of a partner in a period, and the fees that it earned, returned and was paid, with the amounts owed to it at the beginning and the end.',
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
              created: Type.String({ description: 'Number of created orders' }),
              settled: Type.String({ description: 'Number of them that have settled' }),
              refunded: Type.String({ description: 'Number of them that were refunded' }),
            },
            {
              description:
                'Numbers of orders that were created in the period, and of those that have settled or were refunded',
            },
          ),
        },
        {
          totals: many(
            [
              'asset',
              { openingUnits: plain('Amount owed to the partner at the beginning') },
              { earnedUnits: plain('Fees that it earned') },
              { returnedUnits: plain('Fees that it returned for reversed orders') },
              { settledUnits: plain('Amount that it was paid') },
              { closingUnits: plain('Amount owed to it at the end; negative if it owes fees of reversed orders') },
            ],
            'By asset',
          ),
        },
      ],
    ),
    command: { words: 'report partner', args: ['partner', 'from', 'until'], columns: PARTNER },
  }),
  revenue: declareRead({
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
  countries: declareRead({
    path: '/reports/countries',
    says: 'Counts the orders created in a period by the customers’ country and by fiat, with the settled ones and their value.',
    fields: { ...span, partner: FILTERS.partner },
    table: { list: 'countries', columns: COUNTRIES },
    refuses: NARROWED,
    gives: rows(
      'countries',
      [
        {
          country: Type.String({ description: 'Country of the customer, two letters' }),
          saidBy: Type.String({
            description: 'Source of the country: form, partner, document or phone; `assumed` if there is none',
          }),
          fiat: Type.String({ description: 'Fiat of the orders' }),
          customers: Type.String({ description: 'Number of customers who created them' }),
          orders: Type.String({ description: 'Number of created orders' }),
          settled: Type.String({ description: 'Number of them that have settled' }),
          settledUnits: plain('Value of the settled orders before fees'),
        },
      ],
      ['from', 'until'],
    ),
    command: { words: 'report countries', args: ['from', 'until'], columns: COUNTRIES },
  }),
  reconciliation: declareRead({
    path: '/reports/reconciliation',
    says: 'Shows the balances in the books and at the chains and banks by wallet, breaks, items in transit, and the newest seal of the journal, signed as a whole: now, or as it was at the end of a past day.',
    fields: { day: optional(about(day, 'The day in UTC at whose end it was made; now if not given', '2026-11-27')) },
    table: { list: 'lines', columns: RECONCILED },
    gives: rows(
      'lines',
      [
        {
          what: Type.String({
            description: 'wallet: both balances at the last comparison; break or transit: an item of the difference',
          }),
          rail: Type.String({ description: 'Code of the rail' }),
        },
        ...['wallet', 'asset', 'key'],
        {
          outsideUnits: maybe(plain('Balance at the chain or bank; null if it was not read')),
          ledgerUnits: plain('Balance in the books'),
          differenceUnits: maybe(plain('Balance at the chain or bank minus balance in the books')),
          why: maybe(Type.String({ description: 'For an item: why it differs, or what it waits for' })),
        },
        'at',
        { ageS: Type.Integer({ description: 'Seconds from then until the report was made' }) },
      ],
      [
        {
          kind: Type.Literal('reconciliation report', { description: 'What is signed' }),
          version: Type.Literal(1, { description: 'Version of this form' }),
          ...VERDICT,
        },
        { day: maybe(Type.String({ description: 'The day in UTC at whose end it was made; null for one of now' })) },
        'at',
        {
          seal: maybe(
            Type.Object(
              {
                number: Type.String({ description: 'Number of the seal' }),
                hash: Type.String({ description: 'Hash of the seal, in hex' }),
                at: Type.String({ description: 'When it was made: ISO 8601 in UTC' }),
              },
              {
                description:
                  'The newest seal of the journal; `verify-ledger --seal <number>:<hash>` proves later that it still exists',
              },
            ),
          ),
          unsealed: Type.String({ description: 'Approximate number of entries that were booked since the seal' }),
          breaks: Type.Integer({ description: 'Number of breaks' }),
          transit: Type.Integer({ description: 'Number of items in transit' }),
          isWhole: Type.Boolean({ description: 'Whether all items are among the lines' }),
          assets: many(['asset', 'debits', 'credits'], 'Debits and credits in the books, by asset'),
        },
        {
          sha256: Type.String({
            description: 'SHA-256 of the report as compact JSON, without this field and the two after it, in hex',
          }),
          ...publicKey,
          signature: Type.String({ description: 'Ed25519 signature over the same bytes, in Base64' }),
        },
      ],
    ),
    command: { words: 'report reconciliation', columns: RECONCILED },
  }),
  reconciliationDays: declareRead({
    path: '/reports/reconciliation/days',
    says: 'Lists the days that have a signed reconciliation report, newest first.',
    fields: { below: optional(about(day, 'Only days before this one', '2026-11-01')), limit: limit(MAX_ROWS) },
    table: { list: 'days', columns: ['day', 'madeAt', 'verdict', 'isOpen', 'publicKey'] },
    gives: pages('days', [
      {
        day: Type.String({ description: 'The day in UTC' }),
        madeAt: Type.String({ description: 'When it was made: ISO 8601 in UTC' }),
        ...VERDICT,
        ...publicKey,
      },
    ]),
    command: { words: 'report reconciliations', columns: ['day', 'madeAt', 'verdict'] },
  }),
  reconciliationKeys: declareRead({
    path: '/reports/reconciliation/keys',
    says: 'Shows the public keys that verify signed reports: the present one first.',
    fields: {},
    gives: rows('keys', [
      publicKey,
      {
        pem: Type.String({ description: 'The same key in PEM, to publish' }),
        isPresent: Type.Boolean({ description: 'Whether reports are signed with it now' }),
        fromDay: maybe(Type.String({ description: 'The first day whose report it signed' })),
        untilDay: maybe(Type.String({ description: 'The last day whose report it signed' })),
      },
    ]),
    command: { words: 'report keys', list: 'keys', columns: ['publicKey', 'isPresent', 'fromDay', 'untilDay'] },
  }),
  affected: declareRead({
    path: '/reports/affected',
    says: 'Lists orders created in a period, each with the difference that other terms would make: the terms before a change (for orders since it took effect), another fee, or another rate.',
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
          charged: sum('For orders whose fee has been charged'),
          promised: sum('For orders that are in progress'),
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
