/** Orders, their deposits, payouts and refunds, and where their money is. */
import { Type } from 'typebox';
import { MISSING } from '../../../compliance/index.ts';
import {
  ADDRESS,
  closed,
  decimal,
  direction,
  HASH,
  id,
  list,
  Money,
  maybe,
  money,
  moneyAs,
  rarely,
  reason,
  state,
  text,
  time,
  whole,
  word,
  yes,
} from './parts.ts';
import { Fee } from './quotes.ts';

export const DestinationRef = Type.Object(
  {
    kind: word(['account', 'address'] as const, 'A bank account, or an address on a chain'),
    id: maybe(id('Id of the destination; null for an address that was only ever sent through the white-label wire')),
    address: rarely(text('The address on the chain; null for an account', ADDRESS)),
  },
  { ...closed, description: 'A destination to which money is sent' },
);

const onChain = Type.Object(
  {
    kind: Type.Literal('chain', { description: 'A transfer on a chain', examples: ['chain'] }),
    chain: text('Code of the chain', 'matic20'),
    address: text('Address to pay to. It belongs to this order only', ADDRESS),
  },
  closed,
);
const byBank = Type.Object(
  {
    kind: Type.Literal('bank', { description: 'A bank transfer', examples: ['bank'] }),
    holder: text('Holder of the account', 'Cloverleaf Payments'),
    bank: text('Name of the bank', 'A Bank'),
    branch: text('Branch of the bank; may be empty', 'Mumbai'),
    accountNumber: text('Number of the account; may be empty', '000111222333'),
    ifsc: text('Bank code of an Indian account; may be empty', 'HDFC0000001'),
    iban: text('IBAN; may be empty', ''),
    bic: text('BIC; may be empty', ''),
    reference: text('Reference that the transfer must contain. It belongs to this order only', 'CL00000017'),
  },
  closed,
);
export const Payment = Type.Union([onChain, byBank], { description: 'How the customer pays' });

export const Order = Type.Object(
  {
    id: id('Id of the order'),
    state: state(),
    version: whole('Increases with every change of the order: the reply with the larger revision is newer', 3),
    direction: direction(),
    market: id('Id of the market', '3'),
    customerId: text('Id of the customer', '8tvxR5aVmM_1'),
    reference: maybe(text('Your own reference', 'order-17')),
    quoteId: maybe(id('The quote from which it was created')),
    pay: moneyAs('Amount that the customer has to pay', '250.50', 'usdc.matic20'),
    receive: moneyAs('Amount that the customer is to receive, after all fees', '21455.20', 'inr'),
    received: moneyAs('Total of the deposits that were not reversed', '0', 'usdc.matic20'),
    refunded: moneyAs('The part of it that was refunded', '0', 'usdc.matic20'),
    rate: decimal('Fiat per whole coin', '86.41'),
    fees: list(Fee, 'Fees, in the fiat of the market; zero parts are left out'),
    method: text('Payment method', 'IMPS'),
    payment: maybe(Payment),
    destination: DestinationRef,
    refundDestination: maybe(DestinationRef),
    reason: maybe(reason()),
    needsDestination: yes(
      'Whether money waits for a destination: name one with `orders.refund` or `orders.changePayoutDestination`',
      false,
    ),
    payerReference: maybe(text('Bank reference that, according to the customer, the payment has', 'UTR123456')),
    createdAt: time('When it was created'),
    updatedAt: time('When it last changed'),
    expiresAt: time('Until when the customer may pay'),
  },
  { ...closed, description: 'An order: a quote that was accepted, with its deposits and payouts' },
);

const reference = {
  hash: maybe(text('Hash of the chain transaction', HASH)),
  bankReference: maybe(text('The bank’s reference', 'UTR123456')),
};

export const DEPOSIT_STATES = [
  'seen',
  'confirmed',
  'applied',
  'suspense',
  'refunded',
  'reversed',
  'lost',
  'written_off',
] as const;
export const Deposit = Type.Object(
  {
    id: id('Id of the deposit', '42'),
    orderId: id('Id of the order'),
    state: word(
      DEPOSIT_STATES,
      '`seen`: not final yet. `confirmed`: booked. `applied`: credited to the order. `suspense`: waits for a decision. `reversed`, `lost`: the chain or bank reversed it',
    ),
    amount: money('Amount that arrived'),
    ...reference,
    reason: maybe(reason()),
    late: yes('Whether it arrived after the deadline of its order', false),
    cameAt: maybe(time('When it arrived, according to the chain or bank')),
    seenAt: time('When the server first saw it'),
    confirmedAt: maybe(time('When it became final')),
  },
  { ...closed, description: 'Money that arrived for an order' },
);

export const PAYOUT_STATES = ['created', 'submitted', 'unknown', 'settled', 'returned', 'rejected'] as const;
export const Payout = Type.Object(
  {
    id: text('Id of the payout', 'pay_17_1'),
    orderId: id('Id of the order'),
    attempt: whole('Number of the attempt', 1),
    state: word(
      PAYOUT_STATES,
      '`submitted`: the bank or chain has received it. `unknown`: the answer was lost, and the server is asking whether it was sent. `settled`: the bank or chain shows it',
    ),
    amount: money('Amount that is paid'),
    destination: DestinationRef,
    ...reference,
    reason: maybe(reason()),
    createdAt: time('When it was created'),
    submittedAt: maybe(time('When it was submitted')),
    endedAt: maybe(time('When its outcome became known')),
  },
  { ...closed, description: 'One attempt to pay out an order' },
);

export const REFUND_STATES = [
  'needs_destination',
  'created',
  'under_review',
  'submitted',
  'settled',
  'rejected',
  'returned',
] as const;
export const Refund = Type.Object(
  {
    id: id('Id of the refund', '7'),
    orderId: id('Id of the order'),
    kind: word(['refund', 'payout'] as const, '`payout`: repeats a payout that came back'),
    state: word(REFUND_STATES, 'State of the refund'),
    amount: money('Amount that is refunded'),
    destination: maybe(DestinationRef),
    ...reference,
    reason: reason(),
    createdAt: time('When it was created'),
    updatedAt: time('When it last changed'),
  },
  { ...closed, description: 'A refund, or a repeated payout of money that came back' },
);

export const HOLDERS = ['customer', 'in_transit', 'operator', 'recipient'] as const;
export const NEXT_STEPS = [
  'customer_pays',
  'deposit_confirms',
  'screening',
  'operator_funds',
  'review',
  'payout_submits',
  'destination_confirms',
  'payout_arrives',
  'destination_is_named',
  'refund_submits',
  'refund_arrives',
  'nothing',
] as const;
export const Trace = Type.Object(
  {
    orderId: id('Id of the order'),
    state: state(),
    heldBy: word(
      HOLDERS,
      'Who has the money: the paying customer, the chain or bank in transit, the operator, or the recipient',
    ),
    amount: money('The amount'),
    since: time('Since when'),
    evidence: list(
      Type.Object(
        {
          what: word(
            [
              'deposit_seen',
              'deposit_confirmed',
              'payout_submitted',
              'payout_settled',
              'payout_returned',
              'payout_rejected',
              'refund_submitted',
              'refund_settled',
              'refund_returned',
            ] as const,
            'What happened',
          ),
          id: text('Id of the deposit, payout or refund', '42'),
          amount: maybe(Money),
          ...reference,
          at: time('When'),
        },
        closed,
      ),
      'The evidence, oldest first',
    ),
    next: Type.Object(
      {
        step: word(NEXT_STEPS, 'What happens next'),
        by: word(['customer', 'partner', 'operator', 'rail', 'nobody'] as const, 'Who must act'),
        until: maybe(time('Deadline of the step')),
        otherwise: maybe(text('What happens if the step does not happen by then', 'The order expires.')),
        says: text('The step as a sentence', 'The customer pays 250.50 usdc.matic20.'),
      },
      { ...closed, description: 'The next step, who does it, and its deadline' },
    ),
    otherMoney: list(
      Type.Object(
        {
          depositId: id('Id of the deposit', '42'),
          amount: Money,
          reason: reason(),
          next: word(NEXT_STEPS, 'What happens next'),
        },
        closed,
      ),
      'Deposits that are not part of the order’s amount: late, surplus, in another asset, or returned',
    ),
  },
  {
    ...closed,
    description: 'Where the money of an order is: who holds it, since when, the evidence, and the next step',
  },
);

export const Wallets = Type.Object(
  {
    data: list(
      Type.Object(
        {
          direction: word(
            ['in', 'out'] as const,
            'Whether the wallet sends the coins of a sale or receives the coins of a purchase',
          ),
          address: rarely(text('Address of the wallet; null if the chain does not show it', ADDRESS)),
          missing: list(
            word(MISSING, 'What is missing'),
            'Data that is missing: who holds the wallet, its proof, the name of the customer, or the address; for a hosted wallet also its travel address, a known provider, the provider’s answer (`refused`: it refused), or the data of the provider that sent the coins',
          ),
          text: rarely(
            text(
              'The text that the owner of the wallet signs',
              'I control 0x… on evm.matic20, as customer 4kXw9Zb2Lq_7',
            ),
          ),
        },
        closed,
      ),
      'Wallets for which data is missing',
    ),
    dueAt: rarely(time('Until when the payout waits for the data; null if no payout waits')),
    refusedAt: rarely(
      time(
        'When the order was refused because data was missing at the deadline: later data does not change that; otherwise null',
      ),
    ),
    travelAddress: rarely(
      text(
        'For a sale: the travel address that the customer gives to the provider that sends the coins; null if no data is exchanged',
        'ta2W2HPKfHxgSgrzY178knqXHg1H3jfeQrwQ9JrKBs9wv',
      ),
    ),
  },
  closed,
);
