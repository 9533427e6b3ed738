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
    says: 'Lists wallets against their thresholds: what is free, what is missing, and what waits for it.',
    fields: {},
    table: {
      list: 'levels',
      columns: [...LEVELS, 'missingUnits', 'waitingOrders', 'waitingUnits', 'outsideUnits', 'readAt'],
    },
    gives: rows('levels', [
      ...['rail', 'wallet', 'asset', 'account', 'state', 'freeUnits'],
      { lowUnits: amount('Below this it is low') },
      { alarmUnits: amount('Below this there is a case') },
      { missingUnits: amount('What is missing to where low begins') },
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
    says: 'Lists wallets as they were compared last: the books, chain or bank, and what is in transit.',
    fields: {},
    table: { list: 'balances', columns: [...BALANCES, 'breaks', 'comparedAt'] },
    gives: rows('balances', [
      ...['rail', 'wallet', 'asset', 'ledgerUnits'],
      { outsideUnits: maybe(amount('What there is outside; null where it was not asked')) },
      { differenceUnits: maybe(amount('What is outside less what the books say')) },
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
    says: 'Lists by market what orders that are not over would pay out, and what is owed already.',
    fields: {},
    table: { list: 'exposure', columns: EXPOSURE },
    gives: rows('exposure', [
      ...['marketId', 'direction', 'depositAsset', 'payoutAsset'],
      { unpaid: count('How many orders wait for their deposit') },
      { unpaidDepositUnits: amount('What is to be paid for them') },
      { unpaidPayoutUnits: amount('What they would pay out') },
      { owed: count('How many orders have their deposit and not paid out') },
      { receivedUnits: amount('What came in for those') },
      { owedPayoutUnits: amount('What is owed for those') },
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
