/** Our own money: wallets against their thresholds and against the books, what markets owe, and sweeps under way. */
import { Type } from 'typebox';
import { about, optional, text } from '../../declaration/fields.ts';
import { limit, look } from '../declare.ts';
import { maybe, pages, rows } from '../replies.ts';

const MAX_TRANSFERS = 200;
const amount = (description: string) => Type.String({ description: `${description}: a plain decimal of its asset` });
const count = (description: string) => Type.String({ description });

const LEVELS = ['rail', 'wallet', 'asset', 'account', 'state', 'freeUnits', 'lowUnits', 'alarmUnits'];
const BALANCES = ['rail', 'wallet', 'asset', 'ledgerUnits', 'outsideUnits', 'differenceUnits', 'transitUnits'];
const EXPOSURE = [
  ...['marketId', 'direction', 'unpaid', 'depositAsset', 'unpaidDepositUnits', 'receivedUnits'],
  ...['owed', 'payoutAsset', 'unpaidPayoutUnits', 'owedPayoutUnits'],
];
const TRANSFERS = ['key', 'kind', 'rail', 'asset', 'units', 'state', 'why', 'reference', 'createdAt', 'endedAt'];

export const TREASURY = {
  levels: look({
    path: '/treasury/levels',
    says: 'Lists wallets against their thresholds: available amount, missing amount, and the orders that wait for it.',
    fields: {},
    table: {
      list: 'levels',
      columns: [...LEVELS, 'missingUnits', 'waitingOrders', 'waitingUnits', 'outsideUnits', 'readAt'],
    },
    gives: rows('levels', [
      ...['rail', 'wallet', 'asset', 'account', 'state', 'freeUnits'],
      { lowUnits: amount('Below this it is low') },
      { alarmUnits: amount('Below this there is a case') },
      { missingUnits: amount('Amount missing up to the low threshold') },
      { waitingOrders: count('How many orders wait for funds of this rail and asset') },
      { waitingUnits: amount('What their payouts take') },
      { outsideUnits: maybe(amount('What chain or bank reported last')) },
      { readAt: maybe(Type.String({ description: 'When it was reported: ISO 8601 in UTC' })) },
    ]),
    command: {
      words: 'treasury levels',
      columns: ['asset', 'rail', 'wallet', 'state', 'freeUnits', 'lowUnits', 'missingUnits', 'waitingUnits'],
    },
  }),
  balances: look({
    path: '/treasury/balances',
    says: 'Lists wallets with the result of the last comparison: books, chain or bank, and amounts in transit.',
    fields: {},
    table: { list: 'balances', columns: [...BALANCES, 'breaks', 'comparedAt'] },
    gives: rows('balances', [
      ...['rail', 'wallet', 'asset', 'ledgerUnits'],
      { outsideUnits: maybe(amount('Balance at the chain or bank; null if it was not asked')) },
      { differenceUnits: maybe(amount('Balance at the chain or bank minus the books')) },
      { transitUnits: amount('What of the difference is in transit') },
      { breaks: count('How many items do not agree') },
      { comparedAt: Type.String({ description: 'When both were compared: ISO 8601 in UTC' }) },
    ]),
    command: {
      words: 'treasury balances',
      columns: ['rail', 'wallet', 'asset', 'ledgerUnits', 'outsideUnits', 'differenceUnits', 'transitUnits', 'breaks'],
    },
  }),
  exposure: look({
    path: '/treasury/exposure',
    says: 'Lists by market the payouts of open orders, and the amounts already owed.',
    fields: {},
    table: { list: 'exposure', columns: EXPOSURE },
    gives: rows('exposure', [
      ...['marketId', 'direction', 'depositAsset', 'payoutAsset'],
      { unpaid: count('How many orders wait for their deposit') },
      { unpaidDepositUnits: amount('Their deposits, if paid') },
      { unpaidPayoutUnits: amount('Their payouts') },
      { owed: count('How many orders have their deposit and not paid out') },
      { receivedUnits: amount('Deposits of those') },
      { owedPayoutUnits: amount('Amount owed for those') },
    ]),
    command: {
      words: 'treasury exposure',
      columns: ['marketId', 'direction', 'unpaid', 'unpaidPayoutUnits', 'owed', 'owedPayoutUnits', 'payoutAsset'],
    },
  }),
  sweeps: look({
    path: '/treasury/sweeps',
    says: 'Lists sweeps, and gas for them, the newest first.',
    fields: {
      rail: optional(text(60)),
      below: optional(
        about(
          text(200, /^(sweep|gas):[\x21-\x7e]+$/, 'the key of a sweep or of its gas'),
          'The page that begins after this row: `next` of the page before',
          'gas:fill:evm.matic20:1',
        ),
      ),
      limit: limit(MAX_TRANSFERS),
    },
    table: { list: 'sweeps', columns: TRANSFERS },
    command: {
      words: 'treasury sweeps',
      columns: ['createdAt', 'kind', 'rail', 'units', 'asset', 'state', 'why', 'key'],
    },
  }),
  transfers: look({
    path: '/treasury/transfers',
    says: 'Lists sweeps, and gas for them, that are not in the books yet, the oldest first.',
    fields: {
      after: optional(
        about(
          text(200, /^(sweep|gas):[\x21-\x7e]+$/, 'the key of a sweep or of its gas'),
          'The page that begins after this row: `next` of the page before',
          'gas:fill:evm.matic20:1',
        ),
      ),
      limit: limit(MAX_TRANSFERS),
    },
    table: { list: 'transfers', columns: TRANSFERS },
    gives: pages('transfers', TRANSFERS),
    command: {
      words: 'treasury transfers',
      columns: ['createdAt', 'kind', 'rail', 'units', 'asset', 'state', 'why', 'key'],
    },
  }),
};
