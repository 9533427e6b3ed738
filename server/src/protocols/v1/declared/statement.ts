/** The statements. */
import { time } from '../../declaration/fields.ts';
import { declare } from '../declare.ts';
import { listOf } from '../schemas/parts.ts';
import { BookStatement, StatementDay } from '../schemas/statement.ts';

export const STATEMENT = {
  get: declare({
    name: 'statement.get',
    method: 'GET',
    path: '/statement',
    scope: 'read',
    member: 'finance',
    says: 'Returns the totals of your orders and your earnings by day and market, newest day first.',
    more: 'An order counts on the UTC day of its creation, in its present state. The period is at most 31 days. Fees that were paid back after an order had settled are not deducted.',
    fields: { from: time, until: time },
    gives: listOf(StatementDay),
  }),
  books: declare({
    name: 'statement.books',
    method: 'GET',
    path: '/statement/books',
    scope: 'read',
    member: 'finance',
    says: 'Returns your statement from the operator’s books: volume, the fees that you earned, returned and were paid, and what you are owed.',
    more: 'Fees are lines of the journal, so the opening balance plus the lines equals the closing balance, which is the opening balance of the next period. Fees have a line per day, or per month in a period of more than 93 days. The period is at most 3653 days.',
    fields: { from: time, until: time },
    gives: BookStatement,
  }),
} as const;
