/** Open cases in the order in which a person should take them. */
import { Type } from 'typebox';
import { MAX_CASES } from '../../../compliance/index.ts';
import { declareRead, limit } from '../declare.ts';
import { many, maybe, rows } from '../replies.ts';

const ISO = 'ISO 8601 in UTC';
const CASE = ['id', 'kind', 'subject', 'orderId', 'partnerId', 'reason', 'assignee', 'openedAt', 'dueAt'];
const count = (description: string) => Type.Integer({ description });

export const URGENT = {
  list: declareRead({
    path: '/cases/urgent',
    says: 'Lists open cases that need a person, the most urgent first: overdue ones, then by the worth of the money at risk, then the oldest. It considers all open cases.',
    fields: { limit: limit(MAX_CASES) },
    table: {
      list: 'cases',
      columns: [
        ...['id', 'overdue', 'dueAt', 'worth', 'unit', 'asset', 'units', 'kind', 'subject', 'orderId', 'partnerId'],
        ...['assignee', 'openedAt', 'reason'],
      ],
    },
    gives: rows(
      'cases',
      [
        ...CASE,
        {
          overdue: Type.Boolean({ description: 'Whether it is past its due time, and so escalated' }),
          asset: maybe(Type.String({ description: 'Asset of the money at risk; null if the case is about none' })),
          units: maybe(Type.String({ description: 'Money at risk: a plain decimal of its asset' })),
          unit: maybe(Type.String({ description: 'Coin of the worth, the same in all rows' })),
          worth: maybe(Type.String({ description: 'Its worth in `unit`, rounded down; null without a price' })),
        },
      ],
      [
        {
          unit: maybe(Type.String({ description: 'Coin of the worth; null without any price' })),
          total: count('Number of open cases that need a person'),
          notShown: count('Number of them beyond the rows of the list'),
          kinds: many(
            [
              { kind: Type.String({ description: 'Kind of case' }) },
              { open: count('Number of its open cases, also of those that wait for no person') },
              { overdue: count('Number of those past their due time') },
              { unclaimed: count('Number of those that no operator has claimed') },
              { oldestAt: Type.String({ description: `When the oldest was opened: ${ISO}` }) },
              { claimers: Type.Array(Type.String(), { description: 'Operators who look after the others' }) },
            ],
            'Kinds with an open case',
          ),
        },
      ],
    ),
    command: {
      words: 'cases urgent',
      columns: ['id', 'overdue', 'dueAt', 'worth', 'unit', 'units', 'asset', 'kind', 'subject', 'assignee', 'reason'],
    },
  }),
};
