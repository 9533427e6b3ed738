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
    id: maybe(id('Id of the destination; null of an address that was named through the older wire alone')),
    address: rarely(text('The address on the chain; null of an account', ADDRESS)),
  },
  { ...closed, description: 'Where money goes' },
);

const onChain = Type.Object(
  {
    kind: Type.Literal('chain', { description: 'A transfer on a chain', examples: ['chain'] }),
    chain: text('Code of the chain', 'matic20'),
    address: text('Address to pay to: of this order alone', ADDRESS),
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
    reference: text('Text that the transfer must carry: of this order alone', 'CL00000017'),
  },
  closed,
);
export const Payment = Type.Union([onChain, byBank], { description: 'How the customer pays' });

export const Order = Type.Object(
  {
    id: id('Id of the order'),
    state: state(),
    version: whole('Grows with every change of the order: of two, the larger is the newer', 3),
    direction: direction(),
    market: id('Id of the market', '3'),
    customerId: text('Id of the customer', '8tvxR5aVmM_1'),
    reference: maybe(text('Your own reference', 'order-17')),
    quoteId: maybe(id('The quote that it was created with')),
    pay: moneyAs('What the customer is to pay', '250.50', 'usdc.matic20'),
    receive: moneyAs('What the customer is to receive, after all fees', '21455.20', 'inr'),
    received: moneyAs('Deposits that were not reversed', '0', 'usdc.matic20'),
    refunded: moneyAs('What of it was sent back', '0', 'usdc.matic20'),
    rate: decimal('Fiat for one whole coin', '86.41'),
    fees: list(Fee, 'Fees, in the fiat of the market; zero parts are left out'),
    method: text('Payment method', 'IMPS'),
    payment: maybe(Payment),
    destination: DestinationRef,
    refundDestination: maybe(DestinationRef),
    reason: maybe(reason()),
    needsDestination: yes(
      'Money waits for a destination: see `orders.refund` and `orders.changePayoutDestination`',
      false,
    ),
    payerReference: maybe(text('Bank reference that the customer claims to have paid with', 'UTR123456')),
    createdAt: time('When it was created'),
    updatedAt: time('When it last changed'),
    expiresAt: time('Until when the customer may pay'),
  },
  { ...closed, description: 'An order: a quote with money coming in and money going out' },
);

const reference = {
  hash: maybe(text('Hash of the transaction on the chain', HASH)),
  bankReference: maybe(text('Reference of the bank', 'UTR123456')),
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
      '`seen`: not final yet. `confirmed`: booked. `applied`: the order took it. `suspense`: it waits for a decision. `reversed`, `lost`: chain or bank took it back',
    ),
    amount: money('What came'),
    ...reference,
    reason: maybe(reason()),
    late: yes('Whether it came after its order’s deadline', false),
    cameAt: maybe(time('When it came, by the time of chain or bank')),
    seenAt: time('When we saw it'),
    confirmedAt: maybe(time('When it was final')),
  },
  { ...closed, description: 'Money that came for an order' },
);

export const PAYOUT_STATES = ['created', 'submitted', 'unknown', 'settled', 'returned', 'rejected'] as const;
export const Payout = Type.Object(
  {
    id: text('Id of the payout', 'pay_17_1'),
    orderId: id('Id of the order'),
    attempt: whole('Which attempt it is', 1),
    state: word(
      PAYOUT_STATES,
      '`submitted`: handed to bank or chain. `unknown`: whether it left is being found out. `settled`: bank or chain shows it',
    ),
    amount: money('What is paid'),
    destination: DestinationRef,
    ...reference,
    reason: maybe(reason()),
    createdAt: time('When it was written'),
    submittedAt: maybe(time('When it was submitted')),
    endedAt: maybe(time('When its outcome was known')),
  },
  { ...closed, description: 'Money that leaves for an order: one attempt' },
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
    kind: word(['refund', 'payout'] as const, '`payout`: a payout that came back, paid again'),
    state: word(REFUND_STATES, 'How far it is'),
    amount: money('What goes back'),
    destination: maybe(DestinationRef),
    ...reference,
    reason: reason(),
    createdAt: time('When it was decided on'),
    updatedAt: time('When it last changed'),
  },
  { ...closed, description: 'Money that goes back' },
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
      'Who has the money: the customer who pays, chain or bank on the way to us, the operator, or who was to receive it',
    ),
    amount: money('How much it is'),
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
      'What shows it, oldest first',
    ),
    next: Type.Object(
      {
        step: word(NEXT_STEPS, 'What happens next'),
        by: word(['customer', 'partner', 'operator', 'rail', 'nobody'] as const, 'Who has to do it'),
        until: maybe(time('By when')),
        otherwise: maybe(text('What happens if it does not', 'The order expires.')),
        says: text('The same as a sentence', 'The customer pays 250.50 usdc.matic20.'),
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
      'Money of the order that is apart from it: late, too much, of another asset, or returned',
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
            'Where the coins of a sale come from, or where those of a purchase go',
          ),
          address: rarely(text('The wallet; null where the chain does not say', ADDRESS)),
          missing: list(
            word(MISSING, 'What is missing'),
            'What is missing: who holds the wallet, its proof, the name of the customer, or the address; of a hosted wallet also its travel address, a provider that we know, its answer (`refused`: it refused), or the data of the provider that sent the coins',
          ),
          text: rarely(text('The text that its owner signs', 'I control 0x… on evm.matic20, as customer 4kXw9Zb2Lq_7')),
        },
        closed,
      ),
      'Wallets that something is missing of',
    ),
    dueAt: rarely(time('Until when the payout waits for it; null while none does')),
    travelAddress: rarely(
      text(
        'Of a sale: what the customer passes on to the provider that sends the coins; null where no data is exchanged',
        'ta2W2HPKfHxgSgrzY178knqXHg1H3jfeQrwQ9JrKBs9wv',
      ),
    ),
  },
  closed,
);
