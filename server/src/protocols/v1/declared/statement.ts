/** The statement. */
import { time } from '../../declaration/fields.ts';
import { declare } from '../declare.ts';
import { listOf } from '../schemas/parts.ts';
import { StatementDay } from '../schemas/statement.ts';

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
} as const;
