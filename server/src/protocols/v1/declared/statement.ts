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
    says: 'Answers what your orders came to and what you earned, by day and market, the newest day first.',
    more: 'An order counts on the UTC day on which it was created, with the state it has now. At most 31 days. A fee that was paid back after an order had settled is not taken off.',
    fields: { from: time, until: time },
    gives: listOf(StatementDay),
  }),
} as const;
