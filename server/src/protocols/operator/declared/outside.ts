/** Debts of customers, and booked lines of bank statements. */
import { Type } from 'typebox';
import { MAX_LISTED } from '../../../orders/index.ts';
import { about, amount, id, oneOf, optional, text } from '../../declaration/fields.ts';
import { declareRead, FILTERS, limit, NARROWED } from '../declare.ts';
import { maybe, pages } from '../replies.ts';
import { assetCode } from './forms.ts';

const LAST = '`next` of the previous page; without it, the first page';
const DEBT = ['id', 'partnerId', 'customerId', 'asset', 'units', 'since', 'days'];
const LINE = ['id', 'rail', 'line', 'bookedAt', 'direction', 'asset', 'units', 'chargeUnits', 'meaning', 'key'];
const maybeTime = (description: string) => maybe(Type.String({ description: `${description}: ISO 8601 in UTC` }));
/** A line as lists and the search show it. */
export const BANK_LINE = [
  ...LINE.filter((name) => !['bookedAt', 'chargeUnits', 'meaning'].includes(name)),
  {
    bookedAt: Type.String({ description: 'When the bank booked it: ISO 8601 in UTC' }),
    chargeUnits: Type.String({ description: 'Charge of the bank for it: a plain decimal of its asset' }),
    meaning: Type.String({ description: 'Kind of booking' }),
    foreignAt: maybeTime('When two operators declared that the debit paid none of our payouts'),
    readAt: Type.String({ description: 'When it was read: ISO 8601 in UTC' }),
  },
];
const BANK_MEANINGS = ['deposit', 'funding', 'return', 'payout', 'recall', 'unexplained'] as const;

export const OUTSIDE = {
  debts: declareRead({
    path: '/debts',
    says: 'Lists the debts of customers: money that was recalled or reversed after it had been paid out. The customer whose debt is oldest comes first.',
    fields: {
      ...{ partner: FILTERS.partner, customer: FILTERS.customer },
      asset: optional(about(assetCode, 'Only debts in this asset', 'inr')),
      ...{ after: optional(about(id, LAST)), limit: limit(MAX_LISTED) },
    },
    table: { list: 'debts', columns: [...DEBT, 'orderIds'] },
    refuses: NARROWED.filter((reason) => reason !== 'unknown_market'),
    gives: pages('debts', [
      ...DEBT,
      { orderIds: Type.String({ description: 'Numbers of the orders that caused it, separated by spaces' }) },
    ]),
    command: { words: 'debts', columns: ['customerId', 'partnerId', 'units', 'asset', 'since', 'days', 'orderIds'] },
  }),
  bankLines: declareRead({
    path: '/bank-lines',
    says: 'Lists the booked lines of bank statements, newest first, without their texts.',
    fields: {
      rail: optional(about(text(60), 'Code of the bank', 'bank.simulated')),
      direction: optional(about(oneOf(['credit', 'debit']), 'Direction of the money: in or out')),
      meaning: optional(about(oneOf(BANK_MEANINGS), 'Kind of booking')),
      asset: optional(about(assetCode, 'Only lines in this asset', 'inr')),
      min: optional(about(amount, 'With asset: only lines of at least this much', '100')),
      max: optional(about(amount, 'With asset: only lines of at most this much', '5000')),
      ...{ from: FILTERS.from, until: FILTERS.until },
      below: optional(about(text(260, /^[a-z0-9.]+:./, 'the id of a line'), LAST, 'bank.simulated:2027-01-31:4')),
      limit: limit(MAX_LISTED),
    },
    table: { list: 'lines', columns: [...LINE, 'foreignAt', 'readAt'] },
    refuses: ['malformed_amount'],
    gives: pages('lines', BANK_LINE),
    command: {
      words: 'bank lines',
      columns: ['bookedAt', 'rail', 'line', 'direction', 'units', 'asset', 'meaning', 'key'],
    },
  }),
};
