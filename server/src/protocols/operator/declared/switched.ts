/** What kill switches stop, what goes on in spite of them, and what waits for those that are set. */
import { Type } from 'typebox';
import { declareRead } from '../declare.ts';
import { maybe, rows } from '../replies.ts';

const count = (description: string) => Type.Integer({ description });
const WAITING = ['kind', 'subject', 'payouts', 'refunds', 'orders', 'oldestAt', 'underWay'];

export const SWITCHED = {
  kinds: declareRead({
    path: '/kill-switches/kinds',
    says: 'Shows for each kind of kill switch what it stops, and what goes on in spite of it.',
    fields: {},
    gives: rows('kinds', [
      'kind',
      {
        prevents: Type.String({ description: 'What it stops' }),
        continues: Type.String({ description: 'What goes on in spite of it' }),
      },
    ]),
    command: { words: 'kill-switch kinds', list: 'kinds', columns: ['kind', 'prevents', 'continues'] },
  }),
  waiting: declareRead({
    path: '/kill-switches/waiting',
    says: 'Counts for each kill switch that is set the payouts and refunds that wait for it, and the orders that go on.',
    fields: {},
    table: { list: 'waiting', columns: WAITING },
    gives: rows('waiting', [
      ...['kind', 'subject'],
      {
        payouts: count('Payouts that are not submitted; 0 for a market or partner, which stops none'),
        refunds: count('Refunds that are not submitted; 0 for a market or partner'),
        orders: count('Number of their orders'),
        oldestAt: maybe(Type.String({ description: 'Since when the oldest waits: ISO 8601 in UTC' })),
        underWay: count('Orders of the market or partner that are not over, and go on; 0 for a rail or payouts'),
      },
    ]),
    command: { words: 'kill-switch waiting', columns: WAITING },
  }),
};
