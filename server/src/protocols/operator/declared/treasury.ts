/** Our own money: wallets compared with their thresholds and with the books, amounts owed by markets, and sweeps under way. */
import { Type } from 'typebox';
import { about, amount, id, oneOf, optional, text, time, typed, whole } from '../../declaration/fields.ts';
import { declareAction, declareRead, limit, PROPOSES } from '../declare.ts';
import { done, maybe, pages, rows } from '../replies.ts';
import { assetCode, address as ownAddress } from './forms.ts';

const MAX_TRANSFERS = 200;
/** A quarter of a year by days, or nearly four days by hours. */
const MAX_STEPS = 92;
const units = (description: string) => Type.String({ description: `${description}: a plain decimal of its asset` });
const count = (description: string) => Type.String({ description });

const LEVELS = ['rail', 'wallet', 'asset', 'account', 'state', 'freeUnits', 'lowUnits', 'alarmUnits'];
const HISTORY = ['at', 'rail', 'wallet', 'asset', 'units'];
const BALANCES = ['rail', 'wallet', 'asset', 'ledgerUnits', 'outsideUnits', 'differenceUnits', 'transitUnits'];
const EXPOSURE = [
  ...['marketId', 'direction', 'unpaid', 'depositAsset', 'unpaidDepositUnits', 'receivedUnits'],
  ...['owed', 'payoutAsset', 'unpaidPayoutUnits', 'owedPayoutUnits'],
];
const TRANSFERS = ['key', 'kind', 'rail', 'asset', 'units', 'state', 'why', 'reference', 'createdAt', 'endedAt'];

const OWN_TRANSFERS = [
  ...[
    'id',
    'key',
    'own',
    'rail',
    'target',
    'asset',
    'units',
    'people',
    'state',
    'why',
    'reference',
    'createdAt',
    'endedAt',
  ],
];
const EXAMPLE = '0x52908400098527886E0F7030069857D2E4169EE7';
const ADDRESS = [
  'rail',
  { address: Type.String({ description: 'The address' }) },
  { label: Type.String({ description: 'Label of the address' }) },
  { usableAt: Type.String({ description: 'From when money may be sent there: ISO 8601 in UTC' }) },
  { open: Type.Boolean({ description: 'Whether the address is registered' }) },
];
const REGISTERED = ['id', ...ADDRESS];

export const TREASURY = {
  levels: declareRead({
    path: '/treasury/levels',
    says: 'Compares wallets with their thresholds: available amount, missing amount, and the orders that wait for funds.',
    fields: {},
    table: {
      list: 'levels',
      columns: [...LEVELS, 'missingUnits', 'waitingOrders', 'waitingUnits', 'outsideUnits', 'readAt'],
    },
    gives: rows('levels', [
      ...['rail', 'wallet', 'asset', 'account', 'state', 'freeUnits'],
      { lowUnits: units('Low threshold: below it, the wallet counts as low') },
      { alarmUnits: units('Case threshold: below it, a case is opened') },
      { missingUnits: units('Amount missing up to the low threshold') },
      { waitingOrders: count('Number of orders that wait for funds of this rail and asset') },
      { waitingUnits: units('Total of their payouts') },
      { outsideUnits: maybe(units('Balance that the chain or bank last reported')) },
      { readAt: maybe(Type.String({ description: 'When it was reported: ISO 8601 in UTC' })) },
    ]),
    command: {
      words: 'treasury levels',
      columns: ['asset', 'rail', 'wallet', 'state', 'freeUnits', 'lowUnits', 'missingUnits', 'waitingUnits'],
    },
  }),
  balances: declareRead({
    path: '/treasury/balances',
    says: 'Lists wallets with the result of the last comparison: balance in the books, balance at the chain or bank, and amounts in transit.',
    fields: {},
    table: { list: 'balances', columns: [...BALANCES, 'breaks', 'comparedAt'] },
    gives: rows('balances', [
      ...['rail', 'wallet', 'asset', 'ledgerUnits'],
      { outsideUnits: maybe(units('Balance at the chain or bank; null if it was not asked')) },
      { differenceUnits: maybe(units('Balance at the chain or bank minus the books')) },
      { transitUnits: units('The part of the difference that is in transit') },
      { breaks: count('Number of breaks') },
      { comparedAt: Type.String({ description: 'When the balances were compared: ISO 8601 in UTC' }) },
    ]),
    command: {
      words: 'treasury balances',
      columns: ['rail', 'wallet', 'asset', 'ledgerUnits', 'outsideUnits', 'differenceUnits', 'transitUnits', 'breaks'],
    },
  }),
  history: declareRead({
    path: '/treasury/history',
    says: 'Shows the balance of each wallet over time, according to the books.',
    fields: {
      until: optional(about(time, 'Last point in time; now by default', '2027-02-01T00:00:00Z')),
      step: optional(
        about(
          oneOf(['day', 'hour']),
          'Step between two points; a day by default, and then each point but the last is the beginning of a day (UTC)',
        ),
      ),
      steps: optional(about(whole(1, MAX_STEPS), 'Number of steps from the first point to the last; 30 by default')),
      asset: optional(about(assetCode, 'Only wallets of this asset')),
    },
    table: { list: 'history', columns: HISTORY },
    gives: rows('history', [
      { at: Type.String({ description: 'Point in time: ISO 8601 in UTC' }) },
      ...['rail', 'wallet', 'asset'],
      { units: units('Balance in the books before this point in time') },
    ]),
    command: { words: 'treasury history', columns: HISTORY },
  }),
  exposure: declareRead({
    path: '/treasury/exposure',
    says: 'Shows, by market, the payouts of open orders and the amounts already owed.',
    fields: {},
    table: { list: 'exposure', columns: EXPOSURE },
    gives: rows('exposure', [
      ...['marketId', 'direction', 'depositAsset', 'payoutAsset'],
      { unpaid: count('Number of orders that wait for their deposit') },
      { unpaidDepositUnits: units('Total of their deposits, if they are paid') },
      { unpaidPayoutUnits: units('Total of their payouts') },
      { owed: count('Number of orders that have their deposit but are not paid out') },
      { receivedUnits: units('Total of the deposits of those orders') },
      { owedPayoutUnits: units('Amount owed for those orders') },
    ]),
    command: {
      words: 'treasury exposure',
      columns: ['marketId', 'direction', 'unpaid', 'unpaidPayoutUnits', 'owed', 'owedPayoutUnits', 'payoutAsset'],
    },
  }),
  sweeps: declareRead({
    path: '/treasury/sweeps',
    says: 'Lists sweeps and the gas transfers for them, newest first.',
    fields: {
      rail: optional(text(60)),
      below: optional(
        about(
          text(200, /^(sweep|gas):[\x21-\x7e]+$/, 'the key of a sweep or of its gas'),
          '`next` of the previous page; without it, the first page',
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
  transfers: declareRead({
    path: '/treasury/transfers',
    says: 'Lists sweeps and gas transfers that are not booked yet, oldest first.',
    fields: {
      after: optional(
        about(
          text(200, /^(sweep|gas):[\x21-\x7e]+$/, 'the key of a sweep or of its gas'),
          '`next` of the previous page; without it, the first page',
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
  addresses: declareRead({
    path: '/treasury/own-addresses',
    says: 'Lists own addresses: ours, but without a key on this server, such as cold storage. The list includes addresses that are no longer registered.',
    fields: {},
    gives: rows('addresses', [
      ...['id', 'rail'],
      { address: Type.String({ description: 'Address in the notation of its rail' }) },
      { label: Type.String({ description: 'Label of the address' }) },
      { wallet: Type.String({ description: 'Wallet of the address in the books' }) },
      { registeredBy: Type.String({ description: 'Who registered it' }) },
      { registeredAt: Type.String({ description: 'When it was registered: ISO 8601 in UTC' }) },
      { usableAt: Type.String({ description: 'From when money may be sent there: ISO 8601 in UTC' }) },
      'endedAt',
    ]),
    command: {
      words: 'treasury addresses',
      list: 'addresses',
      columns: ['id', 'rail', 'address', 'label', 'usableAt', 'endedAt'],
    },
  }),
  register: declareAction({
    name: 'own-address.register',
    path: '/treasury/own-addresses',
    says: 'Registers an own address, such as cold storage. Money may be sent there after the cooling-off time.',
    right: 'treasury',
    people: 'two',
    fields: {
      rail: text(60),
      address: about(ownAddress, 'The address', EXAMPLE),
      label: about(typed(200), 'Label of the address', 'cold storage, safe in Basel'),
    },
    refuses: ['does_not_fit', 'destination_held', ...PROPOSES],
    gives: done(REGISTERED),
    command: { words: 'treasury register', args: ['rail', 'address', 'label'] },
  }),
  endAddress: declareAction({
    name: 'own-address.end',
    path: '/treasury/own-addresses/:id/end',
    says: 'Ends the registration of an own address: no more money is sent there. Its balance in the books stays.',
    right: 'block',
    people: 'one',
    fields: { id: about(id, 'Number of the own address', '1') },
    refuses: ['unknown_own_address'],
    gives: done(ADDRESS),
    command: { words: 'treasury end-address' },
  }),
  ownTransfers: declareRead({
    path: '/treasury/own-transfers',
    says: 'Lists transfers to own addresses, the newest first.',
    fields: { below: optional(id), limit: limit(MAX_TRANSFERS) },
    table: { list: 'transfers', columns: OWN_TRANSFERS },
    gives: pages('transfers', [
      ...['id', 'key', 'rail', 'asset', 'units', 'state', 'why', 'reference', 'createdAt', 'endedAt'],
      { own: Type.String({ description: 'Number of the own address' }) },
      { target: Type.String({ description: 'The address' }) },
      { people: Type.Array(Type.String(), { description: 'Operators who approved it' }) },
    ]),
    command: {
      words: 'treasury own-transfers',
      columns: ['createdAt', 'key', 'own', 'units', 'asset', 'state', 'why', 'reference'],
    },
  }),
  send: declareAction({
    name: 'transfer.send',
    path: '/treasury/own-addresses/:id/transfers',
    says: 'Sends tokens from the hot wallet of a chain to an own address. The wallet keeps at least its low threshold and the funds that orders wait for.',
    right: 'treasury',
    people: 'two',
    weighs: true,
    fields: { id: about(id, 'Number of the own address', '1'), asset: assetCode, amount },
    refuses: [
      'unknown_own_address',
      'does_not_fit',
      'malformed_amount',
      'destination_held',
      'funds_short',
      ...PROPOSES,
    ],
    gives: done(ADDRESS, [{ transfer: Type.String({ description: 'Key of the transfer' }) }]),
    command: { words: 'treasury send', args: ['id', 'asset', 'amount'] },
  }),
  cancel: declareAction({
    name: 'transfer.cancel',
    path: '/treasury/own-transfers/:transfer/cancel',
    says: 'Cancels a transfer to an own address for which no transaction is reserved or signed yet.',
    right: 'block',
    people: 'one',
    fields: {
      transfer: about(
        text(40, /^transfer:[1-9][0-9]{0,17}$/, 'the key of a transfer'),
        'Key of the transfer',
        'transfer:4',
      ),
    },
    refuses: ['unknown_transfer', 'does_not_fit'],
    gives: done([
      'key',
      'rail',
      'asset',
      'units',
      'state',
      'why',
      { target: Type.String({ description: 'The address' }) },
    ]),
    command: { words: 'treasury cancel' },
  }),
};
