/** Deposits, money in suspense, payers, and unclaimed money. */
import { Type } from 'typebox';
import { MAX_DORMANT, MAX_DUST, MAX_LISTED } from '../../../orders/index.ts';
import { about, amount, flag, id, oneOf, optional, orNone, text, time, whole } from '../../declaration/fields.ts';
import { declareAction, declareRead, FILTERS, FINDS, limit, NARROWED, PROPOSES } from '../declare.ts';
import { done, many, maybe, pages, thing } from '../replies.ts';
import { address, assetCode } from './forms.ts';

const DEPOSIT_STATES = ['seen', 'confirmed', 'reversed', 'applied', 'suspense', 'refunded', 'lost'] as const;
const MOST_DAYS = 36_500;
const MOST_NOTICE_DAYS = 365;
const HELD = [
  ...['state', 'asset', 'units', 'refunds'],
  {
    heldBy: maybe(Type.String({ description: 'Who holds it' })),
    heldSince: maybe(Type.String({ description: 'When it was last held: ISO 8601 in UTC' })),
  },
];

const DESPITE_DEBT = about(flag, 'Refunds it although its order owes money; the debt stays', false);

export const DEPOSITS = {
  list: declareRead({
    path: '/deposits',
    says: 'Lists deposits of all rails, the newest first.',
    fields: {
      ...FILTERS,
      state: optional(oneOf(DEPOSIT_STATES)),
      ...{ below: optional(id), limit: limit(MAX_LISTED) },
    },
    table: {
      list: 'deposits',
      columns: [
        ...['id', 'seenAt', 'confirmedAt', 'partnerId', 'customerId', 'marketId', 'orderId', 'orderState', 'rail'],
        ...['asset', 'units', 'takenUnits', 'refundUnits', 'state', 'origin', 'why', 'late', 'dust', 'reference'],
      ],
    },
    refuses: [...NARROWED, 'unknown_deposit'],
    command: {
      words: 'deposit list',
      columns: ['id', 'seenAt', 'rail', 'units', 'asset', 'state', 'why', 'orderId', 'partnerId', 'reference'],
    },
  }),
  suspense: declareRead({
    path: '/suspense',
    says: 'Lists money in suspense, oldest first: how long it has been there, and what it waits for.',
    fields: {
      ...FILTERS,
      state: optional(oneOf(['confirmed', 'applied', 'suspense', 'refunded', 'lost'])),
      ...{ after: optional(id), limit: limit(MAX_LISTED) },
    },
    gives: pages('suspense', [
      ...['deposit', 'seenAt', 'days', 'waitsFor', 'partnerId', 'customerId', 'marketId', 'orderId', 'rail'],
      { until: Type.String({ description: 'What must happen before it moves' }) },
      ...['asset', 'units', 'freeUnits', 'underWayUnits', 'state', 'origin', 'why', 'dust', 'refund', 'refundState'],
    ]),
    table: {
      list: 'suspense',
      columns: [
        ...['deposit', 'seenAt', 'days', 'waitsFor', 'until', 'partnerId', 'customerId', 'marketId', 'orderId', 'rail'],
        ...['asset', 'units', 'freeUnits', 'underWayUnits', 'state', 'origin', 'why', 'dust', 'refund', 'refundState'],
      ],
    },
    refuses: [...NARROWED, 'unknown_deposit'],
    command: {
      words: 'suspense list',
      columns: ['deposit', 'days', 'units', 'asset', 'waitsFor', 'until', 'why', 'orderId', 'partnerId', 'refund'],
    },
  }),
  one: declareRead({
    path: '/deposits/:deposit',
    says: 'Shows a deposit and its refunds, without anything personal.',
    fields: { deposit: id },
    refuses: ['unknown_deposit'],
    gives: thing([
      ...[
        'id',
        'rail',
        { externalId: Type.String({ description: 'Id of the deposit on its rail' }) },
        'orderId',
        'partnerId',
      ],
      ...[
        'state',
        'asset',
        'units',
        { target: Type.String({ description: 'Address or reference that it was paid to' }) },
      ],
      ...['reference', 'why', 'seenAt', 'confirmedAt', 'refunds'],
      {
        ageDays: Type.Integer({ description: 'How many days old it is' }),
        returnLinks: Type.Array(Type.Unknown(), {
          description: 'Return links that were created, and the customer’s confirmations',
        }),
        heldBy: maybe(Type.String({ description: 'Who holds it' })),
      },
    ]),
    command: { words: 'deposit' },
  }),
  payer: declareAction({
    name: 'deposit.payer',
    path: '/deposits/:deposit/payer',
    says: 'Shows who paid: name, account, text, address.',
    right: 'personal',
    people: 'one',
    fields: { deposit: id },
    refuses: ['unknown_deposit'],
    gives: done(null, ['payer']),
    command: { words: 'deposit payer' },
  }),
  return: declareAction({
    name: 'deposit.return',
    path: '/deposits/:deposit/return',
    says: 'Returns a deposit to the account that it came from. Coins are sent to the address that the customer confirmed on the return-link page, or that their sender signed for.',
    right: 'money',
    people: 'two',
    morePeople: FINDS,
    weighs: true,
    fields: {
      deposit: id,
      address: optional(address),
      signature: optional(
        about(
          text(132, /^0x[0-9a-fA-F]{130}$/, 'a signature: 0x and 130 hex digits'),
          'Signature of the sender over the text that `deposit return-text` shows',
          `0x${'0'.repeat(130)}`,
        ),
      ),
      pastHits: optional(flag),
      despiteDebt: optional(DESPITE_DEBT),
    },
    refuses: [
      ...(['unknown_deposit', 'unknown_order', 'unknown_customer', 'unknown_account', 'deposit_unfit'] as const),
      ...(['does_not_fit', 'refund_under_way', 'refund_exceeds'] as const),
      ...PROPOSES,
    ],
    gives: done([
      ...['state', 'asset', 'units'],
      {
        to: Type.String({ description: 'Where it goes: an address, or account:<number>' }),
        'confirmed?': Type.Object({}, { description: 'The return link on which the customer confirmed the address' }),
      },
      ...['refunds', 'approves'],
    ]),
    command: { words: 'deposit return' },
  }),
  returnText: declareRead({
    path: '/deposits/:deposit/return-text',
    says: 'Shows the text that the sender of coins signs to have them returned to an address.',
    fields: { deposit: id, address },
    refuses: ['unknown_deposit'],
    gives: thing(['text']),
    command: { words: 'deposit return-text', args: ['deposit', 'address'] },
  }),
  returnLink: declareAction({
    name: 'deposit.return-link',
    path: '/deposits/:deposit/return-link',
    says: 'Creates a link for the customer, to a page that asks for the address to return the coins to. The link is shown once and expires after 7 days.',
    right: 'money',
    people: 'one',
    fields: { deposit: id },
    refuses: ['unknown_deposit', 'does_not_fit', 'refund_under_way', 'deposit_unfit'],
    gives: done(
      [
        ...['state', 'asset', 'units'],
        {
          confirmed: maybe(
            Type.String({ description: 'Address that the customer confirmed earlier on a return link' }),
          ),
        },
      ],
      [{ returnUrl: Type.String({ description: 'The link: shown once' }) }, 'expiresAt'],
    ),
    command: { words: 'deposit return-link' },
  }),
  refund: declareAction({
    name: 'deposit.refund',
    path: '/deposits/:deposit/refund',
    says: 'Refunds the part of a deposit that is in suspense.',
    right: 'money',
    people: 'rules',
    morePeople: `At least two if it belongs to no order, or if its order owes money. ${FINDS}`,
    weighs: true,
    fields: {
      deposit: id,
      amount: optional(about(amount, 'Amount to refund; all of it if left out', '25')),
      ...{ address: optional(address), fiatAccountId: optional(id), pastHits: optional(flag) },
      despiteDebt: optional(DESPITE_DEBT),
    },
    refuses: [
      ...(['unknown_deposit', 'unknown_order', 'unknown_account', 'unknown_customer', 'deposit_unfit'] as const),
      ...(['malformed_amount', 'refund_under_way', 'refund_exceeds'] as const),
      ...PROPOSES,
    ],
    gives: done(['state', 'asset', 'units', 'refunds', 'approves']),
    command: { words: 'deposit refund' },
  }),
  hold: declareAction({
    name: 'deposit.hold',
    path: '/deposits/:deposit/hold',
    says: 'Holds the part of a deposit that is in suspense: it cannot leave until it is released.',
    right: 'block',
    people: 'one',
    fields: { deposit: id },
    refuses: ['unknown_deposit', 'payout_submitted', 'deposit_unfit', 'unknown_customer'],
    gives: done(HELD),
    command: { words: 'deposit hold' },
  }),
  release: declareAction({
    name: 'deposit.release',
    path: '/deposits/:deposit/release',
    says: 'Ends the hold on a deposit.',
    right: 'money',
    people: 'rules',
    morePeople: 'At least two if it belongs to no order.',
    weighs: true,
    fields: { deposit: id },
    refuses: ['unknown_deposit', 'deposit_unfit', ...PROPOSES],
    gives: done(HELD),
    command: { words: 'deposit release' },
  }),
  assign: declareAction({
    name: 'deposit.assign',
    path: '/deposits/:deposit/assign',
    says: 'Assigns the deposit’s money in suspense to an order. It may replace a reversed deposit or pay a debt.',
    right: 'money',
    people: 'rules',
    morePeople: 'At least two if the deposit belongs to another order or to none.',
    weighs: true,
    fields: {
      deposit: id,
      order: id,
      amount: optional(about(amount, 'Amount to assign; all of it if left out', '25')),
    },
    refuses: [
      ...(['unknown_deposit', 'unknown_order', 'deposit_unfit', 'malformed_amount', 'order_over'] as const),
      ...(['refund_under_way'] as const),
      ...PROPOSES,
    ],
    gives: done([
      ...['state', 'asset', 'units'],
      {
        belongs: maybe(Type.String({ description: 'Number of the order that it belongs to' })),
        order: Type.Object({}, { description: 'The order: number, state, version' }),
      },
    ]),
    command: { words: 'deposit assign', args: ['deposit', 'order'] },
  }),
};

/** The announced date; null when the money is no longer dormant. */
const woken = thing([
  ...['action', 'subject', { outcome: Type.Literal('done') }],
  { after: Type.Unknown({ description: 'The part that is still dormant; null if none is' }) },
]);
const amounts = (description: string) => Type.String({ description });

export const UNCLAIMED = {
  dormant: declareRead({
    path: '/dormant',
    says: 'Lists unclaimed money: announced and dormant, with its age, and totals by asset.',
    fields: { after: optional(id), limit: limit(MAX_DORMANT) },
    gives: pages(
      'money',
      [
        ...['id', 'depositId', 'orderId', 'partnerId', 'rail', 'asset', 'units', 'since'],
        { noticedAt: maybe(Type.String({ description: 'When it was announced: ISO 8601 in UTC' })) },
        ...['dormantFrom', 'dormantAt', 'days', 'state'],
      ],
      [
        {
          policy: maybe(
            Type.Object(
              {},
              { description: 'After how many days money is dormant, and how many days before that it is announced' },
            ),
          ),
          totals: many(
            [
              'asset',
              {
                announcedUnits: amounts('Announced money'),
                dormantUnits: amounts('Dormant money'),
                under1yUnits: amounts('The part younger than a year'),
                under3yUnits: amounts('The part between one and three years old'),
                over3yUnits: amounts('The part older than three years'),
                count: Type.Integer({ description: 'Number of items' }),
                oldestDays: Type.Integer({ description: 'Age of the oldest, in days' }),
              },
            ],
            'Sums by asset',
          ),
        },
      ],
    ),
    command: {
      words: 'dormant',
      list: 'money',
      columns: ['id', 'state', 'days', 'depositId', 'orderId', 'asset', 'units', 'since', 'dormantFrom', 'dormantAt'],
    },
  }),
  wakeDeposit: declareAction({
    name: 'deposit.wake',
    path: '/deposits/:deposit/wake',
    says: 'Moves a dormant deposit back into suspense.',
    right: 'money',
    people: 'one',
    fields: { deposit: id },
    refuses: ['unknown_deposit', 'unknown_order', 'does_not_fit'],
    gives: woken,
    command: { words: 'dormant wake-deposit' },
  }),
  wakeOrder: declareAction({
    name: 'order.wake',
    path: '/orders/:order/wake',
    says: 'Ends the dormancy of the money that an order holds.',
    right: 'money',
    people: 'one',
    fields: { order: id },
    refuses: ['unknown_deposit', 'unknown_order', 'does_not_fit'],
    gives: woken,
    command: { words: 'dormant wake-order' },
  }),
  dormancy: declareAction({
    name: 'dormancy.set',
    path: '/dormancy',
    says: 'Sets after how many days unclaimed money is dormant, and how many days before that it is announced.',
    right: 'terms',
    people: 'rules',
    fields: {
      afterDays: about(orNone(whole(1, MOST_DAYS)), 'Days until money is dormant; `none` for never', 1095),
      noticeDays: about(whole(1, MOST_NOTICE_DAYS), 'Days before that at which it is announced', 90),
    },
    refuses: PROPOSES,
    gives: done([
      {
        afterDays: Type.Integer({ description: 'Days until money is dormant' }),
        noticeDays: Type.Integer({ description: 'Days before that at which it is announced' }),
      },
    ]),
    command: { words: 'dormancy set', args: ['afterDays', 'noticeDays'] },
  }),
  dust: declareAction({
    name: 'dust.set',
    path: '/dust',
    says: 'Sets the amount below which money without an order opens no case.',
    right: 'terms',
    people: 'rules',
    fields: { asset: assetCode, below: about(orNone(amount), 'The amount; `none` removes the limit', '0.10') },
    refuses: ['malformed_amount', ...PROPOSES],
    gives: done(['belowUnits']),
    command: { words: 'dust set', args: ['asset', 'below'] },
  }),
  writeOff: declareAction({
    name: 'dust.write-off',
    path: '/dust/write-off',
    says: 'Books dust in suspense that arrived before a time as rounding, the oldest first.',
    right: 'money',
    people: 'two',
    weighs: true,
    fields: {
      asset: assetCode,
      before: about(time, 'Only what arrived before this time', '2027-01-31T00:00:00Z'),
      most: about(whole(1, MAX_DUST), 'Maximum number of deposits', 100),
    },
    refuses: ['does_not_fit', 'unknown_customer', ...PROPOSES],
    gives: done(['asset', { count: Type.Integer({ description: 'Number of deposits left' }) }, 'units', 'deposits']),
    command: { words: 'dust write-off', args: ['asset', 'before', 'most'] },
  }),
};
