/** Orders, one at a time and all of a time span: reads and actions. */
import { Type } from 'typebox';
import { MAX_LISTED, MAX_UNPAID, STATES } from '../../../orders/index.ts';
import { PRICED_FEES } from '../../../quotes/index.ts';
import { about, amount, flag, id, oneOf, optional, text, time, whole } from '../../declaration/fields.ts';
import { declareAction, declareRead, FILTERS, FINDS, limit, NARROWED, PROPOSES } from '../declare.ts';
import { done, many, maybe, pages, thing } from '../replies.ts';
import { address, assetCode, TERMS } from './forms.ts';
import { BANK_LINE } from './outside.ts';
import { REQUEST_LINE } from './partners.ts';

/** How often one fee of an order may be compensated. */
const MOST_TIMES = 20;
const ORDER_STATES = Object.keys(STATES) as (keyof typeof STATES)[];
const ORDER = ['state', 'version', 'exception', 'asset', 'receivedUnits', 'payoutAsset', 'payoutUnits'] as const;
const to = { address: optional(address), fiatAccountId: optional(id), pastHits: optional(flag) };
/** Sentence for refunds that may go to the account of a sender. */
const SENDER_FINDS = `${FINDS} At least two if the money goes to the account that paid the deposit, because only the bank knows who owns it.`;
const toSender = optional(
  about(flag, 'Sends the money to the bank account that its only deposit came from; needs two operators', true),
);
const span = { market: id, from: time, until: time };

export const ORDERS = {
  lookup: declareRead({
    path: '/lookup',
    says: 'Finds orders, deposits, payouts, bank lines, customers and requests of programs by an id, address, hash, reference or the whole text of a bank line, in any spacing.',
    fields: {
      text: about(
        text(300, /\S\s*\S/, 'an id, address, hash, reference or text of a bank line of 2 to 300 characters'),
        'Id, address, hash, reference or text of a bank line to search for',
        '0x52908400098527886E0F7030069857D2E4169EE7',
      ),
    },
    gives: thing([
      ...['orders', 'deposits', 'payouts', 'customers'],
      { bankLines: many(BANK_LINE, 'Lines of bank statements') },
      { requests: many(REQUEST_LINE, 'Requests of programs with this id, of the last 30 days') },
    ]),
    command: { words: 'lookup', args: ['text'] },
  }),
  list: declareRead({
    path: '/orders',
    says: 'Lists orders of all partners, the newest first.',
    fields: {
      ...FILTERS,
      state: optional(oneOf(ORDER_STATES)),
      asset: optional(about(assetCode, 'Only orders with this asset as deposit or payout', 'usdc.matic20')),
      min: optional(about(amount, 'With asset: only orders with a deposit or payout of at least this amount', '100')),
      max: optional(about(amount, 'With asset: only orders with a deposit or payout of at most this amount', '5000')),
      ...{ below: optional(id), limit: limit(MAX_LISTED) },
    },
    table: {
      list: 'orders',
      columns: [
        ...['id', 'createdAt', 'partnerId', 'customerId', 'marketId', 'direction', 'state', 'exception', 'failure'],
        ...['depositRail', 'depositAsset', 'depositUnits', 'receivedUnits', 'refundedUnits'],
        ...['payoutRail', 'payoutAsset', 'payoutUnits', 'rate'],
        ...['feeAsset', 'feeOperator', 'feePartner', 'feeRail', 'feeChain', 'updatedAt'],
      ],
    },
    refuses: [...NARROWED, 'unknown_order', 'malformed_amount'],
    command: {
      words: 'orders list',
      columns: [
        ...['id', 'createdAt', 'partnerId', 'customerId', 'marketId', 'state', 'depositUnits', 'depositAsset'],
        ...['payoutUnits', 'payoutAsset', 'exception'],
      ],
    },
  }),
  timeline: declareRead({
    path: '/orders/:order/timeline',
    says: 'Shows the history of an order, the next step and its deadline.',
    fields: { order: id },
    refuses: ['unknown_order'],
    gives: thing([
      ...['order', 'partner', 'customer', 'state', 'exception', 'heldBy', 'since', 'next', 'otherwise', 'lines'],
      { by: maybe(Type.String({ description: 'Deadline of the next step: ISO 8601 in UTC' })) },
    ]),
    command: {
      words: 'order',
      list: 'lines',
      columns: ['at', 'kind', 'what', 'amount', 'reference'],
      brief: ['entry', 'event', 'decision'],
    },
  }),
  trace: declareRead({
    path: '/orders/:order/trace',
    says: 'Shows the stored order, with its balances and ledger entries.',
    fields: { order: id },
    refuses: ['unknown_order'],
    gives: Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'The order, its history, deposits, payouts, refunds, links, balances and entries',
      },
    ),
    command: { words: 'order trace' },
  }),
  webhooks: declareRead({
    path: '/orders/:order/webhooks',
    says: 'Lists the events of an order, the newest first, each with its delivery to every endpoint: state, attempts, and when it is tried next.',
    fields: {
      order: id,
      below: optional(about(whole(2, 1_000_000), '`next` of the previous page; without it, the first page', 12)),
      limit: limit(MAX_LISTED),
    },
    refuses: ['unknown_order'],
    table: {
      list: 'webhooks',
      columns: [
        ...[
          'sequence',
          'at',
          'type',
          'position',
          'endpointId',
          'url',
          'state',
          'attempts',
          'nextAttemptAt',
          'waitsFor',
        ],
        ...['lastError', 'endedAt'],
      ],
    },
    gives: pages('webhooks', [
      ...['at', 'endedAt', 'waitsFor'],
      {
        sequence: Type.Integer({ description: 'Number of the event among those of the order' }),
        type: Type.String({ description: 'Type of the event' }),
        position: maybe(Type.String({ description: 'Position among the events of the partner; null until published' })),
        endpointId: maybe(Type.String({ description: 'Endpoint; null if no delivery is kept' })),
        url: maybe(Type.String({ description: 'Host and path of the endpoint' })),
        state: maybe(Type.String({ description: 'State of the delivery: waiting, delivered, dead or dropped' })),
        attempts: Type.Integer({ description: 'Number of attempts' }),
        nextAttemptAt: maybe(Type.String({ description: 'When it is tried next: ISO 8601 in UTC' })),
        lastError: maybe(Type.String({ description: 'Why the last attempt failed' })),
      },
    ]),
    command: {
      words: 'order webhooks',
      columns: ['sequence', 'at', 'type', 'endpointId', 'state', 'attempts', 'nextAttemptAt', 'waitsFor', 'lastError'],
    },
  }),
  goesTo: declareRead({
    path: '/orders/:order/payout-destination',
    says: 'Shows where the payout of an order goes: the address, or the last characters of the account.',
    fields: { order: id },
    refuses: ['unknown_order'],
    gives: thing([
      {
        kind: maybe(Type.String({ description: 'account or address; null if none is named yet' })),
        rail: Type.String({ description: 'Rail of the payout' }),
        asset: Type.String({ description: 'Asset of the payout' }),
        address: maybe(Type.String({ description: 'Address, if it is one' })),
        fiatAccountId: maybe(Type.String({ description: 'Number of the account, if it is one' })),
        fiat: maybe(Type.String({ description: 'Currency of the account' })),
        hint: maybe(Type.String({ description: 'Last characters of the account; the whole is personal data' })),
        waitsUntil: maybe(
          Type.String({
            description:
              'Until when no money leaves for it, because the customer has not confirmed it: ISO 8601 in UTC',
          }),
        ),
      },
    ]),
    command: { words: 'order goes-to' },
  }),
  release: declareAction({
    name: 'order.release',
    path: '/orders/:order/release',
    says: 'Releases a held order, which then continues to its payout. If the payout was rejected, it only ends an operator’s hold.',
    right: 'money',
    people: 'rules',
    morePeople: FINDS,
    weighs: true,
    fields: { order: id },
    refuses: ['unknown_order', 'order_over', ...PROPOSES],
    gives: done([...ORDER, 'approves']),
    command: { words: 'order release' },
  }),
  hold: declareAction({
    name: 'order.hold',
    path: '/orders/:order/hold',
    says: 'Holds an order whose payout or refund is not submitted yet. An order that is already held is then held for an operator’s reason.',
    right: 'block',
    people: 'one',
    fields: { order: id },
    refuses: ['unknown_order', 'order_over', 'payout_submitted'],
    gives: done(ORDER, ['notCancelled?']),
    command: { words: 'order hold' },
  }),
  cancel: declareAction({
    name: 'order.cancel',
    path: '/orders/:order/cancel',
    says: 'Cancels an order that has no deposit.',
    right: 'money',
    people: 'one',
    fields: { order: id },
    refuses: ['unknown_order', 'order_over'],
    gives: done(ORDER),
    command: { words: 'order cancel' },
  }),
  requote: declareAction({
    name: 'order.requote',
    path: '/orders/:order/requote',
    says: 'Reprices an order at the current price while it is held, waits for funds, or its payout is not submitted yet.',
    right: 'money',
    people: 'rules',
    morePeople: FINDS,
    weighs: true,
    fields: { order: id },
    refuses: [
      ...(['unknown_order', 'order_over', 'payout_submitted', 'amount_outside_limits', 'amount_below_fees'] as const),
      ...(['unknown_customer', 'verification_required'] as const),
      ...PROPOSES,
    ],
    gives: done([...ORDER, 'approves?']),
    command: { words: 'order requote' },
  }),
  refund: declareAction({
    name: 'order.refund',
    path: '/orders/:order/refund',
    says: 'Refunds the deposit of an order: to the destination in the request, or else to the one that the customer or the partner named. Without a destination, the refund waits for one.',
    right: 'money',
    people: 'rules',
    morePeople: SENDER_FINDS,
    weighs: true,
    fields: {
      order: id,
      failure: about(
        oneOf(['amount', 'name', 'other']),
        'Cause of the refund; the partner sees it as a status',
        'amount',
      ),
      ...to,
      toSender,
    },
    refuses: [
      ...(['unknown_order', 'unknown_account', 'order_over', 'payout_submitted', 'destination_held'] as const),
      ...(['refund_under_way', 'funds_short', 'does_not_fit'] as const),
      ...PROPOSES,
    ],
    gives: done([
      ...ORDER,
      'approves',
      { goesTo: Type.Object({}, { description: 'The destination, or a note that the refund waits for one' }) },
    ]),
    command: { words: 'order refund', args: ['order', 'failure'] },
  }),
  retry: declareAction({
    name: 'order.retry',
    path: '/orders/:order/retry',
    says: 'Sends a rejected payout again, optionally to another destination of the customer.',
    right: 'money',
    people: 'rules',
    morePeople: FINDS,
    weighs: true,
    fields: { order: id, ...to, address: optional(about(address, 'Address on the chain of the payout')) },
    refuses: [
      ...(['unknown_order', 'unknown_account', 'order_over', 'funds_short', 'destination_held'] as const),
      ...PROPOSES,
    ],
    gives: done([...ORDER, 'approves', { goesTo: Type.Object({}, { description: 'The destination' }) }]),
    command: { words: 'order retry' },
  }),
  retryRefund: declareAction({
    name: 'order.retry-refund',
    path: '/orders/:order/retry-refund',
    says: 'Sends a rejected refund again, optionally to another destination.',
    right: 'money',
    people: 'rules',
    morePeople: SENDER_FINDS,
    weighs: true,
    fields: { order: id, ...to, toSender },
    refuses: [
      ...(['unknown_order', 'unknown_account', 'order_over', 'refund_under_way', 'funds_short'] as const),
      ...(['destination_held', 'does_not_fit'] as const),
      ...PROPOSES,
    ],
    gives: done([
      ...ORDER,
      'approves',
      { 'goesTo?': Type.Object({}, { description: 'With toSender: the destination' }) },
    ]),
    command: { words: 'order retry-refund' },
  }),
  destination: declareAction({
    name: 'order.destination',
    path: '/orders/:order/destination',
    says: 'Names the destination for money of an order that waits to be refunded or paid again.',
    right: 'money',
    people: 'rules',
    morePeople: FINDS,
    weighs: true,
    fields: { order: id, ...to },
    refuses: ['unknown_order', 'unknown_account', 'refund_under_way', 'unknown_refund', ...PROPOSES],
    gives: done([...ORDER, 'waiting', 'approves']),
    command: { words: 'order destination' },
  }),
  releaseBlocked: declareAction({
    name: 'order.release-blocked',
    path: '/orders/:order/release-blocked',
    says: 'Releases money that was frozen because the law required it.',
    right: 'money',
    people: 'two',
    weighs: true,
    fields: {
      order: id,
      legalAct: about(
        { ...text(200), typed: 'looked up' as const },
        'Reference of the order or judgement that lifts the block',
        'LG 17 O 33/27',
      ),
    },
    refuses: ['unknown_order', 'order_over', 'unknown_account', ...PROPOSES],
    gives: done(ORDER),
    command: { words: 'order release-blocked', args: ['order', 'legalAct'] },
  }),
  settleBy: declareAction({
    name: 'order.settle-by',
    path: '/orders/:order/settle-by',
    says: 'Settles an order by a rejected payout attempt that was paid after all, if the order has other terms now.',
    right: 'money',
    people: 'two',
    fields: {
      order: id,
      payout: text(60, /^pay_[0-9]+_[0-9]+$/, 'the id of an attempt, such as pay_17_1'),
      rest: optional(
        about(oneOf(['keep', 'pay']), 'Use of the difference: the operator keeps it, or it is paid to the customer'),
      ),
    },
    refuses: ['unknown_order', 'unknown_payout', 'does_not_fit', 'order_over', 'unknown_account', ...PROPOSES],
    gives: done([
      ...ORDER,
      { 'attempt?': Type.Object({}, { description: 'State and amount of the attempt that paid' }) },
    ]),
    command: { words: 'order settle-by', args: ['order', 'payout'] },
  }),
  block: declareAction({
    name: 'order.block',
    path: '/orders/:order/block',
    says: 'Freezes the money of an order because the law requires it. Only `order.release-blocked` ends the freeze.',
    right: 'money',
    people: 'one',
    fields: { order: id },
    refuses: ['unknown_order', 'order_over', 'payout_submitted'],
    gives: done(ORDER),
    command: { words: 'order block' },
  }),
  compensate: declareAction({
    name: 'order.compensate',
    path: '/orders/:order/compensate',
    says: 'Refunds to the customer the excess of a wrong fee on a settled order.',
    right: 'money',
    people: 'named',
    morePeople: 'At least two if only the bank knows who owns the account.',
    weighs: true,
    fields: {
      ...{ order: id, fee: about(oneOf(PRICED_FEES), 'The fee that was too high') },
      amount,
      asset: about(text(60), 'Code of the asset in which the compensation is paid'),
      nth: optional(
        about(
          whole(1, MOST_TIMES),
          'Number of the compensation of this fee, for a second one 2; guards against paying twice by mistake',
          2,
        ),
      ),
      fiatAccountId: optional(id),
    },
    refuses: ['unknown_order', 'unknown_account', 'unknown_deposit', 'does_not_fit', 'malformed_amount', ...PROPOSES],
    gives: done(
      [
        'state',
        {
          fee: Type.String({ description: 'The fee' }),
          asset: Type.String({ description: 'Asset of the fee' }),
          chargedUnits: Type.String({ description: 'Amount of the fee that was charged' }),
          compensated: Type.Array(Type.Unknown(), { description: 'Earlier compensations of the fee' }),
          goesTo: Type.Unknown({ description: 'The destination' }),
        },
      ],
      ['refund'],
    ),
    command: { words: 'order compensate', args: ['order', 'fee', 'amount', 'asset'] },
  }),
};

const last = maybe(Type.String({ description: 'Number of the last such action of the market' }));
const bulk = Type.String({ description: 'Number of the bulk action; `orders bulk` shows its progress' });
const SPAN_PARTNER = optional(about(id, 'Only orders of this partner', '1'));

export const BULK = {
  unpaid: declareRead({
    path: '/markets/:market/unpaid',
    says: 'Lists unpaid orders created in a period: those that cancelling or requoting all of them would affect.',
    fields: { ...span, partner: SPAN_PARTNER, after: optional(id), limit: limit(MAX_UNPAID) },
    table: {
      list: 'orders',
      columns: [
        ...['id', 'partnerId', 'createdAt', 'expiresAt', 'depositAsset', 'depositUnits', 'payoutAsset', 'payoutUnits'],
        ...['rate', 'isClaimed'],
      ],
    },
    refuses: ['unknown_market'],
    command: {
      words: 'orders unpaid',
      args: ['market', 'from', 'until'],
      columns: [
        ...['id', 'partnerId', 'createdAt', 'rate', 'depositUnits', 'depositAsset', 'payoutUnits', 'payoutAsset'],
        'isClaimed',
      ],
    },
  }),
  cancel: declareAction({
    name: 'orders.cancel-unpaid',
    path: '/markets/:market/unpaid/cancel',
    says: 'Cancels all orders created in a period that are unpaid when the action reaches them.',
    right: 'terms',
    people: 'rules',
    fields: { ...span, partner: SPAN_PARTNER },
    refuses: ['unknown_market', 'unknown_partner', ...PROPOSES],
    gives: done([{ last }], [{ bulk }]),
    command: { words: 'orders cancel-unpaid', args: ['market', 'from', 'until'] },
  }),
  requote: declareAction({
    name: 'orders.requote-unpaid',
    path: '/markets/:market/unpaid/requote',
    says: 'Requotes all unpaid orders created in a period at the current price and fees, for the same amount to pay.',
    right: 'terms',
    people: 'rules',
    fields: { ...span, partner: SPAN_PARTNER },
    refuses: ['unknown_market', 'unknown_partner', ...PROPOSES],
    gives: done([{ last }], [{ bulk }]),
    command: { words: 'orders requote-unpaid', args: ['market', 'from', 'until'] },
  }),
  compensate: declareAction({
    name: 'orders.compensate',
    path: '/markets/:market/settled/compensate',
    says: 'Refunds the excess of a wrong fee on all settled orders created in a period (`report affected` lists them).',
    right: 'money',
    people: 'two',
    weighs: true,
    fields: {
      ...{ ...span, partner: SPAN_PARTNER },
      ...{ change: TERMS.change, fee: TERMS.fee, bps: TERMS.bps, fixed: TERMS.fixed, minimum: TERMS.minimum },
      most: about(amount, 'Maximum total of the compensations, in the fiat of the market', '250'),
    },
    refuses: ['unknown_market', 'unknown_partner', 'malformed_amount', ...PROPOSES],
    gives: done(['asset', { last }], [{ bulk }]),
    command: { words: 'orders compensate', args: ['market', 'from', 'until', 'most'] },
  }),
  progress: declareRead({
    path: '/bulk/:bulk',
    says: 'Shows the progress of a bulk action on orders.',
    fields: { bulk: id },
    refuses: ['unknown_bulk'],
    gives: thing([
      ...['id', 'kind', 'marketId', 'partnerId', 'from', 'until', 'by'],
      { people: Type.Array(Type.String(), { description: 'Operators who approved it' }) },
      'why',
      {
        begunAt: Type.String({ description: 'When it began: ISO 8601 in UTC' }),
        endedAt: maybe(Type.String({ description: 'When it ended: ISO 8601 in UTC' })),
        cursor: Type.String({ description: 'Number of the order that was processed last' }),
        changed: Type.Integer({ description: 'Number of changed orders' }),
        leftAlone: Type.Integer({ description: 'Number of orders that no longer met the conditions' }),
        refused: Type.Integer({ description: 'Number of orders for which the action was refused' }),
        asset: maybe(Type.String({ description: 'For a compensation: asset of the fee' })),
        fee: maybe(Type.String({ description: 'For a compensation: name of the fee' })),
        fixedUnits: maybe(Type.String({ description: 'For a compensation: fixed part of the correct fee' })),
        bps: maybe(Type.String({ description: 'For a compensation: share of the correct fee, in basis points' })),
        minimumUnits: maybe(Type.String({ description: 'For a compensation: minimum of the correct fee' })),
        notFor: maybe(
          Type.Array(Type.String(), {
            description: 'For a compensation: partners with a fee of their own, which are left out',
          }),
        ),
        mostUnits: maybe(Type.String({ description: 'For a compensation: the maximum total' })),
        doneUnits: Type.String({ description: 'For a compensation: the amount paid so far' }),
      },
    ]),
    command: { words: 'orders bulk' },
  }),
};
