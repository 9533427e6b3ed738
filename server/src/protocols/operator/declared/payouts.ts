/** Payouts and refunds, and the items that a restore from an older backup left to be matched: movements, debits, breaks. */
import { Type } from 'typebox';
import { MAX_LISTED } from '../../../orders/index.ts';
import { BREAK_KINDS, BREAK_STATES, MOVEMENT_PLACE, MOVEMENT_STATES } from '../../../reports/index.ts';
import { about, amount, flag, id, oneOf, optional, text, time, typed } from '../../declaration/fields.ts';
import { declareAction, declareRead, FILTERS, limit, NARROWED, PROPOSES } from '../declare.ts';
import { CORRECTIONS } from '../deps.ts';
import { done, maybe, pages, thing } from '../replies.ts';
import { assetCode } from './forms.ts';

const PAYOUT_STATES = ['created', 'submitting', 'submitted', 'unknown', 'settled', 'returned', 'rejected'] as const;
const asset = maybe(Type.String({ description: 'Code of the asset; null until the transaction has been read' }));
const MOVEMENT = [
  ...['rail', 'wallet', 'nonce', 'hash', 'state'],
  {
    signed: Type.Unknown({ description: 'Whether it is signed but in no block yet' }),
    block: maybe(Type.String({ description: 'Block that contains it' })),
    succeeded: maybe(Type.Boolean({ description: 'Whether the transaction succeeded' })),
  },
  ...['recipient', { asset }, 'units', 'key'],
];
const BREAK = [
  ...['id', 'rail', 'wallet', 'asset', 'key', 'kind', 'outsideUnits', 'ledgerUnits', 'differenceUnits'],
  { transit: maybe(Type.String({ description: 'The part of the difference that is in transit' })) },
  ...['why', 'names', 'foundAt'],
];
const BREAK_COLUMNS = [
  ...['id', 'foundAt', 'kind', 'rail', 'wallet', 'asset', 'outsideUnits', 'ledgerUnits', 'differenceUnits'],
  ...['transit', 'why', 'key', 'names'],
];
const MOVED = [
  ...['foundAt', 'rail', 'wallet', 'state', 'asset', 'units', 'recipient', 'nonce', 'hash', 'block', 'succeeded'],
  ...['signed', 'cancelAt', 'key', 'endedAt'],
];
const LAST = '`next` of the previous page; without it, the first page';
const evidence = about(text(200), 'The name in the break that proves it', '0x5f2c…');
const PAYOUT = text(60, /^[a-z]+_[0-9]+_[0-9]+$/, "a payout's id, such as pay_17_1 or ref_4_2");
const PAYOUT_NOW = [
  ...['rail', 'state', 'asset', 'units', 'address'],
  {
    submissions: Type.Integer({ description: 'How many times it was submitted' }),
    sent: Type.Boolean({ description: 'Whether a transaction for it is on the chain' }),
  },
];

export const PAYOUTS = {
  list: declareRead({
    path: '/payouts',
    says: 'Lists payouts and refunds, the newest first.',
    fields: {
      ...FILTERS,
      state: optional(oneOf(PAYOUT_STATES)),
      below: optional(
        about(
          text(80, /^[a-z]+_[0-9_]+$/, 'the id of a payout'),
          '`next` of the previous page; without it, the first page',
          'pay_17_1',
        ),
      ),
      limit: limit(MAX_LISTED),
    },
    table: {
      list: 'payouts',
      columns: [
        ...['id', 'createdAt', 'submittedAt', 'endedAt', 'purpose', 'partnerId', 'customerId', 'marketId', 'orderId'],
        ...['refundId', 'attempt', 'rail', 'asset', 'units', 'paidUnits', 'state', 'waitsFor', 'why', 'reference'],
      ],
    },
    refuses: [...NARROWED, 'unknown_payout'],
    command: {
      words: 'payout list',
      columns: [
        ...['id', 'createdAt', 'purpose', 'rail', 'units', 'asset', 'state', 'why', 'orderId', 'partnerId'],
        'reference',
      ],
    },
  }),
  one: declareRead({
    path: '/payouts/:payout',
    says: 'Shows one payout or refund: what it waits for, its destination, and the evidence of its outcome.',
    fields: { payout: PAYOUT },
    refuses: ['unknown_payout'],
    gives: thing([
      ...['id', 'purpose', 'partnerId', 'orderId', 'refundId', 'attempt', 'rail', 'asset', 'units'],
      ...['paidUnits', 'state', 'address'],
      {
        fiatAccountId: maybe(Type.String({ description: 'Number of the account it goes to' })),
        submissions: Type.Integer({ description: 'How many times it was submitted' }),
        unknownSince: maybe(Type.String({ description: 'Since when its outcome is unknown: ISO 8601 in UTC' })),
        depositId: maybe(Type.String({ description: 'For a refund: number of the refunded deposit' })),
      },
      ...['waitsFor', 'why', 'reference', 'createdAt', 'submittedAt', 'endedAt'],
    ]),
    command: { words: 'payout' },
  }),
  settleBy: declareAction({
    name: 'payout.settle-by',
    path: '/payouts/:payout/settle-by',
    says: 'Settles a payout by the transaction (hash) or statement line (line) that paid it.',
    right: 'money',
    people: 'two',
    fields: {
      payout: PAYOUT,
      hash: optional(
        about(
          // Tron writes none before the digits.
          text(
            66,
            /^(?:0x)?[0-9a-f]{64}$/,
            'the hash of a transaction, in lower case, with 0x where its chain writes it',
          ),
          'The transaction that paid it',
          `0x${'0'.repeat(64)}`,
        ),
      ),
      line: optional(
        about(
          text(200, /\S/, "a statement line's id, as its case names it"),
          'The statement line that paid it',
          '2027-01-31:4',
        ),
      ),
      otherAmount: optional(flag),
    },
    refuses: ['unknown_payout', 'unknown_order', 'does_not_fit', 'movement_over', ...PROPOSES],
    gives: done(PAYOUT_NOW),
    command: { words: 'payout settle-by' },
  }),
  neverPaid: declareAction({
    name: 'payout.never-paid',
    path: '/payouts/:payout/never-paid',
    says: 'Records, with evidence, that a payout with an unknown outcome was never paid. Its order or refund then continues.',
    right: 'money',
    people: 'two',
    weighs: true,
    fields: {
      payout: PAYOUT,
      evidence: about(
        typed(500, /\S{2}/, 'the evidence that it was not paid, in 3 to 500 characters'),
        'Evidence that its rail did not pay it and will not pay it',
        "the bank's letter of 4 March: no payment with this reference",
      ),
    },
    refuses: ['unknown_payout', 'does_not_fit', ...PROPOSES],
    gives: done(PAYOUT_NOW),
    command: { words: 'payout never-paid' },
  }),
  debitForeign: declareAction({
    name: 'debit.foreign',
    path: '/debits/foreign',
    says: 'Records that an unexplained debit paid none of our payouts. Waiting payouts of the same amount then continue.',
    right: 'treasury',
    people: 'two',
    fields: {
      debit: about(
        text(260, /^[a-z0-9.]+:./, "an unexplained debit as its case names it, 'rail:line'"),
        'The debit, as rail:line',
        'bank.simulated:2027-01-31:4',
      ),
    },
    refuses: ['does_not_fit', ...PROPOSES],
    gives: thing([
      ...['action', 'subject', { outcome: Type.Literal('done') }],
      { after: Type.Object({}, { additionalProperties: true, description: 'The stored debit' }) },
    ]),
    command: { words: 'debit foreign', args: ['debit'] },
  }),
};

const ending = (how: 'foreign' | 'cancel', says: string) =>
  declareAction({
    name: `movement.${how}`,
    path: `/movements/:movement/${how}`,
    says,
    right: 'treasury',
    people: 'two',
    fields: { movement: id },
    refuses: ['unknown_movement', 'movement_over', 'does_not_fit', ...PROPOSES],
    gives: done(MOVEMENT),
    command: { words: `movement ${how}` },
  });

export const MOVEMENTS = {
  list: declareRead({
    path: '/movements',
    says: 'Lists movements out of our wallets that no payout, refund or own transfer explains. Undecided ones come first, then the newest.',
    fields: {
      rail: optional(about(text(60), 'Code of the chain', 'evm.matic20')),
      asset: optional(about(assetCode, 'Only movements of this asset', 'usdc.matic20')),
      state: optional(about(oneOf(MOVEMENT_STATES), 'Only movements in this state')),
      from: optional(about(time, 'Found at this time or later', '2027-01-31T00:00:00Z')),
      until: optional(about(time, 'Found before this time', '2027-02-01T00:00:00Z')),
      below: optional(about(text(30, MOVEMENT_PLACE, '`next` of a page'), LAST, 'waiting:12')),
      limit: limit(MAX_LISTED),
    },
    table: { list: 'movements', columns: ['id', ...MOVED] },
    gives: pages('movements', [
      'id',
      ...MOVEMENT,
      ...['foundAt', 'endedAt'],
      { cancelAt: maybe(Type.String({ description: 'When two operators cancelled it: ISO 8601 in UTC' })) },
    ]),
    command: {
      words: 'movements',
      columns: ['id', 'rail', 'wallet', 'nonce', 'hash', 'state', 'asset', 'units', 'recipient', 'key'],
    },
  }),
  match: declareAction({
    name: 'movement.match',
    path: '/movements/:movement/match',
    says: 'Matches a movement with the payout, refund, sweep or gas transfer that it paid.',
    right: 'treasury',
    people: 'two',
    fields: {
      movement: id,
      key: about(
        text(160, /^[\x21-\x7e]+$/, 'the id of a payout or refund attempt, or the key of a sweep or its gas'),
        'Id of the payout or refund attempt, or key of the sweep or its gas, that the movement paid',
        'pay_17_1',
      ),
      otherAmount: optional(flag),
    },
    refuses: ['unknown_movement', 'movement_over', 'does_not_fit', 'unknown_payout', ...PROPOSES],
    gives: done([
      ...MOVEMENT,
      { 'to?': Type.Object({}, { description: 'The transfer that the books have under the key' }) },
    ]),
    command: { words: 'movement match', args: ['movement', 'key'] },
  }),
  foreign: ending('foreign', 'Declares that a movement paid nothing of ours, and books it as a loss.'),
  cancel: ending('cancel', 'Cancels a movement that is signed but in no block: an empty transfer uses its nonce.'),
  breaks: declareRead({
    path: '/breaks',
    says: 'Lists items on which the books and the chains or banks differ now, oldest first: breaks, and amounts in transit.',
    fields: {
      kind: optional(about(oneOf(BREAK_KINDS), 'Only differences of this kind')),
      state: optional(about(oneOf(BREAK_STATES), 'A break waits for a person; an item in transit resolves by itself')),
      rail: optional(about(text(60), 'Code of the chain or bank', 'bank.simulated')),
      asset: optional(about(assetCode, 'Only items of this asset', 'inr')),
      from: optional(about(time, 'Found at this time or later', '2027-01-31T00:00:00Z')),
      until: optional(about(time, 'Found before this time', '2027-02-01T00:00:00Z')),
      ...{ after: optional(about(id, LAST, '36')), limit: limit(MAX_LISTED) },
    },
    table: { list: 'breaks', columns: BREAK_COLUMNS },
    gives: pages('breaks', BREAK),
    command: {
      words: 'breaks',
      columns: ['id', 'kind', 'rail', 'wallet', 'asset', 'differenceUnits', 'transit', 'why', 'names'],
    },
  }),
  correct: declareAction({
    name: 'break.correct',
    path: '/breaks/:item/correct',
    says: 'Corrects a break with a ledger entry.',
    right: 'treasury',
    people: 'two',
    weighs: true,
    fields: {
      item: about(id, 'Number of the break', '36'),
      as: about(oneOf(CORRECTIONS), 'Kind of the entry, which determines its accounts'),
      amount,
      evidence,
    },
    refuses: ['unknown_break', 'break_over', 'does_not_fit', 'malformed_amount', ...PROPOSES],
    gives: done([...BREAK, 'open']),
    command: { words: 'break correct', args: ['item', 'as', 'amount', 'evidence'] },
  }),
};
