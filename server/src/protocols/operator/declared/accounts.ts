/** Fiat accounts of customers, found by their number. */
import { Type } from 'typebox';
import { about, typed } from '../../declaration/fields.ts';
import { declareAction } from '../declare.ts';
import { done, many, maybe } from '../replies.ts';

const SHOWN = [
  { fiatAccountId: Type.String({ description: 'Number of the account in our books' }) },
  ...[
    'partnerId',
    {
      customerId: maybe(
        Type.String({ description: 'Customer of the account; null if the account belongs to a sender of deposits' }),
      ),
    },
  ],
  { senderOf: maybe(Type.String({ description: 'The deposit that came from the account' })) },
  {
    fiat: Type.String({ description: 'Code of the fiat' }),
    hint: Type.String({ description: 'Last characters of the account number' }),
  },
  'createdAt',
  { orders: Type.Array(Type.String(), { description: 'Numbers of its newest orders, at most fifty' }) },
];

export const ACCOUNTS = {
  find: declareAction({
    name: 'account.find',
    path: '/accounts/find',
    says: 'Finds accounts by their full number, with their customers and orders.',
    right: 'personal',
    people: 'one',
    fields: {
      number: about(
        typed(64, /^[0-9A-Za-z][0-9A-Za-z .-]*$/, 'the number of an account: 5 to 64 digits and letters'),
        'Full number of the account, with any spacing. The server writes it to no log',
        'IN 0012 3456 7890',
      ),
    },
    gives: done(null, [{ accounts: many(SHOWN, 'Accounts with this number, newest first, at most fifty') }]),
    command: { words: 'account find', args: ['number'] },
  }),
};
