/** Our own money: wallets compared with their thresholds and with the books, amounts owed by markets, and sweeps under way. */
import { Type } from 'typebox';
import { about, amount, id, oneOf, optional, text, time, typed, whole } from '../../declaration/fields.ts';
import { act, limit, look, PROPOSES } from '../declare.ts';
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
  { label: Type.String({ description: 'What it is' }) },
  { usableAt: Type.String({ description: 'From when on money may be sent there: ISO 8601 in UTC' }) },
  { open: Type.Boolean({ description: 'Whether it is registered' }) },
];
const REGISTERED = ['id', ...ADDRESS];

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
      { lowUnits: units('Below this it is low') },
      { alarmUnits: units('Below this there is a case') },
      { missingUnits: units('Amount missing up to the low threshold') },
      { waitingOrders: count('How many orders wait for funds of this rail and asset') },
      { waitingUnits: units('What their payouts take') },
      { outsideUnits: maybe(units('What chain or bank reported last')) },
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
      { outsideUnits: maybe(units('Balance at the chain or bank; null if it was not asked')) },
      { differenceUnits: maybe(units('Balance at the chain or bank minus the books')) },
      { transitUnits: units('What of the difference is in transit') },
      { breaks: count('How many items do not agree') },
      { comparedAt: Type.String({ description: 'When both were compared: ISO 8601 in UTC' }) },
    ]),
    command: {
      words: 'treasury balances',
      columns: ['rail', 'wallet', 'asset', 'ledgerUnits', 'outsideUnits', 'differenceUnits', 'transitUnits', 'breaks'],
    },
  }),
  history: look({
    path: '/treasury/history',
    says: 'Shows what each wallet had over time, according to the books.',
    fields: {
      until: optional(about(time, 'The last instant; now without it', '2027-02-01T00:00:00Z')),
      step: optional(about(oneOf(['day', 'hour']), 'Time between two instants; a day without it')),
      steps: optional(about(whole(1, MAX_STEPS), 'How many steps before it the first instant is; 30 without it')),
      asset: optional(about(assetCode, 'Wallets of this asset only')),
    },
    table: { list: 'history', columns: HISTORY },
    gives: rows('history', [
      { at: Type.String({ description: 'The instant: ISO 8601 in UTC' }) },
      ...['rail', 'wallet', 'asset'],
      { units: units('Balance in the books before this instant') },
    ]),
    command: { words: 'treasury history', columns: HISTORY },
  }),
  exposure: look({
    path: '/treasury/exposure',
    says: 'Lists by market the payouts of open orders, and the amounts already owed.',
    fields: {},
    table: { list: 'exposure', columns: EXPOSURE },
    gives: rows('exposure', [
      ...['marketId', 'direction', 'depositAsset', 'payoutAsset'],
      { unpaid: count('How many orders wait for their deposit') },
      { unpaidDepositUnits: units('Their deposits, if paid') },
      { unpaidPayoutUnits: units('Their payouts') },
      { owed: count('How many orders have their deposit and not paid out') },
      { receivedUnits: units('Deposits of those') },
      { owedPayoutUnits: units('Amount owed for those') },
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
  addresses: look({
    path: '/treasury/own-addresses',
    says: 'Lists addresses of ours outside this server, such as cold storage, also those that are no longer registered.',
    fields: {},
    gives: rows('addresses', [
      ...['id', 'rail'],
      { address: Type.String({ description: 'Address, in the spelling of its rail' }) },
      { label: Type.String({ description: 'What it is' }) },
      { wallet: Type.String({ description: 'Its wallet in the books' }) },
      { registeredBy: Type.String({ description: 'Who registered it' }) },
      { registeredAt: Type.String({ description: 'When it was registered: ISO 8601 in UTC' }) },
      { usableAt: Type.String({ description: 'From when on money may be sent there: ISO 8601 in UTC' }) },
      'endedAt',
    ]),
    command: {
      words: 'treasury addresses',
      list: 'addresses',
      columns: ['id', 'rail', 'address', 'label', 'usableAt', 'endedAt'],
    },
  }),
  register: act({
    name: 'own-address.register',
    path: '/treasury/own-addresses',
    says: 'Registers an address of ours outside this server. Money may be sent there after the cooling-off time.',
    right: 'treasury',
    people: 'two',
    fields: {
      rail: text(60),
      address: about(ownAddress, 'The address', EXAMPLE),
      label: about(typed(200), 'What it is', 'cold storage, safe in Basel'),
    },
    refuses: ['does_not_fit', 'destination_held', ...PROPOSES],
    gives: done(REGISTERED),
    command: { words: 'treasury register', args: ['rail', 'address', 'label'] },
  }),
  endAddress: act({
    name: 'own-address.end',
    path: '/treasury/own-addresses/:id/end',
    says: 'Ends the registration of an own address: nothing more is sent there. What was sent stays in the books.',
    right: 'block',
    people: 'one',
    fields: { id: about(id, 'Number of the own address', '1') },
    refuses: ['unknown_own_address'],
    gives: done(ADDRESS),
    command: { words: 'treasury end-address' },
  }),
  ownTransfers: look({
    path: '/treasury/own-transfers',
    says: 'Lists transfers to own addresses, the newest first.',
    fields: { below: optional(id), limit: limit(MAX_TRANSFERS) },
    table: { list: 'transfers', columns: OWN_TRANSFERS },
    gives: pages('transfers', [
      ...['id', 'key', 'rail', 'asset', 'units', 'state', 'why', 'reference', 'createdAt', 'endedAt'],
      { own: Type.String({ description: 'Number of the own address' }) },
      { target: Type.String({ description: 'The address' }) },
      { people: Type.Array(Type.String(), { description: 'Who agreed' }) },
    ]),
    command: {
      words: 'treasury own-transfers',
      columns: ['createdAt', 'key', 'own', 'units', 'asset', 'state', 'why', 'reference'],
    },
  }),
  send: act({
    name: 'transfer.send',
    path: '/treasury/own-addresses/:id/transfers',
    says: 'Sends tokens from the wallet that pays on a chain to an own address. The wallet keeps its low threshold, and money that orders wait for stays.',
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
  cancel: act({
    name: 'transfer.cancel',
    path: '/treasury/own-transfers/:transfer/cancel',
    says: 'Cancels a transfer to an own address of which no transaction is reserved or signed.',
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
