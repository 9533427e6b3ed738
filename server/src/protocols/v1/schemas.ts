/**
 * What this wire answers, as schemas: each is the static type of a handler's reply, the check of the tests, and a component of
 * OpenAPI. Every leaf has a meaning and an example, so that every endpoint has an example of its reply.
 *
 * Amounts are decimals as text beside the code of their asset; ids are text; times are RFC 3339 in UTC; null says that there is none.
 */
import { type TSchema, Type } from 'typebox';
import { PUBLIC_REASONS, STATES } from '../../orders/index.ts';
import { SCOPES } from '../../partners/index.ts';
import { FEE_KINDS } from '../../quotes/index.ts';

const AT = '2026-11-23T09:30:00.000Z';
const HASH = '0x9f2e4d1c7b6a5948372615049382716050493827160504938271605049382716';
const ADDRESS = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

const text = (description: string, example: string) => Type.String({ description, examples: [example] });
const id = (description: string, example = '747983292881815') =>
  Type.String({ description, pattern: '^[0-9]{1,18}$', examples: [example] });
const time = (description: string, example = AT) =>
  Type.String({
    description,
    format: 'date-time',
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
    examples: [example],
  });
const yes = (description: string, example = true) => Type.Boolean({ description, examples: [example] });
const whole = (description: string, example: number) => Type.Integer({ description, examples: [example] });
const decimal = (description: string, example: string) =>
  Type.String({ description, pattern: '^-?[0-9]+(\\.[0-9]+)?$', examples: [example] });
const word = <const T extends readonly string[]>(words: T, description: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...words], description, examples: [words[0]] });
/** Or null: there is none, or it is not known yet. */
const maybe = <S extends TSchema>(schema: S) => {
  const { description } = schema as { description?: string };
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
};
const list = <S extends TSchema>(items: S, description: string) => Type.Array(items, { description });
const closed = { additionalProperties: false } as const;

/** A page of a list. */
export const pageOf = <S extends TSchema>(items: S) =>
  Type.Object(
    {
      data: list(items, 'Rows of this page'),
      nextCursor: maybe(text('Send it as `cursor` to read on; null where there is nothing more', 'MTcwMA')),
    },
    closed,
  );
/** A list that is short enough to be told at once. */
export const listOf = <S extends TSchema>(items: S) => Type.Object({ data: list(items, 'All of them') }, closed);

const moneyAs = (description: string, amount: string, asset: string) =>
  Type.Object(
    {
      amount: decimal('Plain decimal, as text', '250.50'),
      asset: text('Code of the asset: `inr`, or a coin on a chain such as `usdc.matic20`', 'usdc.matic20'),
    },
    { ...closed, description, examples: [{ amount, asset }] },
  );
const MONEY_EXAMPLE = ['250.50', 'usdc.matic20'] as const;
const money = (description: string) => moneyAs(description, ...MONEY_EXAMPLE);
export const Money = money('An amount of an asset');

export const DIRECTIONS = ['sell', 'buy'] as const;
const direction = () => word(DIRECTIONS, '`sell`: crypto is paid, fiat received. `buy`: the reverse');
/** What a partner sees: an order that the law stops is shown as held. */
export const SHOWN_STATES = (Object.keys(STATES) as (keyof typeof STATES)[]).filter(
  (state): state is Exclude<keyof typeof STATES, 'frozen'> => state !== 'frozen',
);
const state = () =>
  Type.Unsafe<(typeof SHOWN_STATES)[number]>({
    type: 'string',
    enum: SHOWN_STATES,
    description: 'State of the order',
    examples: ['created'],
  });
const reason = () => word(PUBLIC_REASONS, 'Why something about it is unusual');

// Quotes

export const Fee = Type.Object(
  {
    kind: word(FEE_KINDS, 'Whose fee it is: the operator’s, yours, the payment rail’s, the chain’s, or tax withheld'),
    amount: moneyAs('What is taken', '12.50', 'inr'),
  },
  { ...closed, description: 'A part of what is taken' },
);

export const PriceUsed = Type.Object(
  {
    base: text('Coin that is priced', 'usdc'),
    quote: text('Currency that it is priced in', 'inr'),
    source: text('Where the price comes from', 'kraken'),
    rate: decimal('Quote currency for one whole coin', '86.41'),
    at: time('When the price was valid, according to its source'),
    cross: maybe(
      list(
        text('A pair', 'usdc/usd'),
        'The pairs it was computed through, in order; null where the source quotes the pair',
      ),
    ),
  },
  { ...closed, description: 'A price that the rate was made of' },
);

export const QUOTE_STATES = ['open', 'taken', 'expired'] as const;
export const Quote = Type.Object(
  {
    id: id('Id of the quote'),
    state: word(QUOTE_STATES, '`open`: an order may take it until `expiresAt`'),
    market: id('Id of the market', '3'),
    direction: direction(),
    fixed: word(['pay', 'receive'] as const, 'Which side the request named'),
    pay: moneyAs('What the customer pays', '250.50', 'usdc.matic20'),
    receive: moneyAs('What the customer receives, after all fees', '21455.20', 'inr'),
    rate: decimal('Fiat for one whole coin', '86.41'),
    fees: list(Fee, 'What is taken, in the fiat of the market; parts of zero are left out'),
    prices: list(PriceUsed, 'The prices it was made of'),
    orderId: maybe(id('Order that has taken it')),
    createdAt: time('When it was made'),
    expiresAt: time('Until when an order may take it'),
    signature: Type.Object(
      {
        algorithm: Type.Literal('hmac-sha256', {
          description: 'Under the secret of your key',
          examples: ['hmac-sha256'],
        }),
        keyId: text('The key whose secret signs', 'clv_4pQ9aX'),
        text: text(
          'What is signed: `cloverleaf-quote`, id, market, amount and asset paid, amount and asset received, rate, expiry; one space between',
          'cloverleaf-quote 747983292881815 3 250.50 usdc.matic20 21455.20 inr 86.41 2026-11-23T09:31:00.000Z',
        ),
        value: text('The signature in hex', 'b7c1…'),
      },
      { ...closed, description: 'Proof of what was offered, for your own records' },
    ),
  },
  { ...closed, description: 'An offer at a price, valid until it expires, and taken once' },
);

// Orders

export const DestinationRef = Type.Object(
  {
    kind: word(['account', 'address'] as const, 'A bank account, or an address on a chain'),
    id: maybe(id('Id of the bank account; null of an address')),
    address: maybe(text('The address on the chain; null of an account', ADDRESS)),
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
    received: moneyAs('What came for it and was not reversed', '0', 'usdc.matic20'),
    refunded: moneyAs('What of it was sent back', '0', 'usdc.matic20'),
    rate: decimal('Fiat for one whole coin', '86.41'),
    fees: list(Fee, 'What is taken, in the fiat of the market; parts of zero are left out'),
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
      { ...closed, description: 'What happens next, by whom and by when' },
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
    description: 'Where the money of an order is: who holds it, since when, on what evidence, and what is next',
  },
);

// Customers

export const VERIFICATION = ['none', 'in_review', 'verified', 'failed', 'refused'] as const;
export const Customer = Type.Object(
  {
    id: text('Id of the customer', '8tvxR5aVmM_1'),
    reference: maybe(text('Your own name for the customer', 'customer-1')),
    kind: word(['individual', 'business'] as const, 'A person or a business'),
    level: whole('Level of verification, 0 to 5', 1),
    verification: word(VERIFICATION, 'How far the verification is'),
    hasLoggedIn: yes('Whether the customer has proved the phone number'),
    mayTrade: Type.Object(
      {
        allowed: yes('Whether orders may be created for the customer'),
        reason: maybe(word(['login_required', 'verification_required', 'customer_blocked'] as const, 'Why not')),
      },
      { ...closed, description: 'Whether the customer may trade' },
    ),
    country: text('Country, two letters', 'IN'),
    createdAt: time('When the customer was created'),
    updatedAt: time('When the customer last changed'),
  },
  { ...closed, description: 'A customer of yours' },
);

export const Link = Type.Object(
  {
    url: text(
      'Page on which the customer goes on: send the customer there, and nobody else',
      'https://ramp.example/kyc/…',
    ),
    expiresAt: time('Until when it opens'),
  },
  { ...closed, description: 'A link to a hosted page' },
);

export const Destination = Type.Object(
  {
    id: id('Id of the destination'),
    customerId: text('Id of the customer', '8tvxR5aVmM_1'),
    kind: word(['account', 'address'] as const, 'A bank account, or an address on a chain'),
    asset: maybe(text('Currency of the account; null of an address', 'inr')),
    chain: maybe(text('Chain of the address; null of an account', 'matic20')),
    address: maybe(text('The address; null of an account', ADDRESS)),
    hint: text('Last characters of number or address, for people', '2333'),
    usable: yes('Whether money may leave to it'),
    usableAt: maybe(
      time('From when on money may leave to it without a code of the customer; null where it already may'),
    ),
    confirmedAt: maybe(time('When the customer confirmed it with a code, or on a hosted page')),
    createdAt: time('When it was added'),
  },
  { ...closed, description: 'Where a customer is paid' },
);

export const CodeSent = Type.Object(
  { sentAt: time('When the code was sent to the phone of the customer'), expiresAt: time('Until when it is valid') },
  { ...closed, description: 'A code was sent' },
);

const limitsOf = {
  market: id('Id of the market', '3'),
  asset: text('Asset of the amounts: what the customer pays', 'usdc.matic20'),
  min: decimal('Least amount of one order', '10'),
  max: decimal('Largest amount of one order', '10000'),
};
export const CustomerLimits = Type.Object(
  {
    customerId: text('Id of the customer', '8tvxR5aVmM_1'),
    level: whole('Level of verification', 1),
    markets: list(Type.Object(limitsOf, closed), 'Of each market, at this level'),
  },
  { ...closed, description: 'What a customer may pay at once' },
);
export const Limits = Type.Object(
  {
    requestsPerMinute: whole('Requests a minute of one key', 6000),
    exposure: list(
      Type.Object(
        {
          asset: text('Code of the fiat', 'inr'),
          cap: maybe(decimal('Most that live quotes and unpaid orders may be worth together; null: no cap', '5000000')),
          used: decimal('What they are worth now', '12000'),
          left: maybe(decimal('What is left of the cap', '4988000')),
        },
        closed,
      ),
      'Of each fiat',
    ),
  },
  { ...closed, description: 'Your limits: what is used and what is left' },
);

export const Requirements = Type.Object(
  {
    accounts: list(
      Type.Object(
        {
          asset: text('Code of the fiat', 'inr'),
          fields: list(text('Field of `destinations.create`', 'ifsc'), 'Fields that an account in it needs'),
        },
        closed,
      ),
      'What a bank account needs, by currency',
    ),
    verification: list(
      Type.Object(
        {
          field: text('Name of the field', 'firstName'),
          label: text('Its label, for people', 'First Name'),
          required: yes('Whether it is needed'),
          pattern: maybe(text('Regular expression that it must match', '^[a-zA-Z]+$')),
        },
        closed,
      ),
      'What a person supplies on the hosted page to be verified',
    ),
    documents: list(text('Kind of document', 'Passport'), 'Documents that are taken there'),
  },
  { ...closed, description: 'What accounts and verification need' },
);

// Catalogue

export const Market = Type.Object(
  {
    id: id('Id of the market', '3'),
    direction: direction(),
    payAsset: text('Asset that the customer pays', 'usdc.matic20'),
    receiveAsset: text('Asset that the customer receives', 'inr'),
    min: decimal('Least amount that the customer pays', '10'),
    max: decimal('Largest amount that the customer pays', '10000'),
    receiveDecimals: whole('Decimal places of what is received', 2),
    method: text('Usual payment method', 'IMPS'),
    quoteSeconds: whole('For how many seconds a quote holds', 60),
    paySeconds: whole('For how many seconds an order waits for its payment', 3600),
  },
  { ...closed, description: 'A pair of assets in one direction, and its terms' },
);
export const Asset = Type.Object(
  {
    code: text('Code of the asset', 'usdc.matic20'),
    kind: word(['crypto', 'fiat'] as const, 'A coin on a chain, or a currency'),
    symbol: text('Symbol of coin or currency', 'USDC'),
    chain: maybe(text('Code of its chain; null of a fiat', 'matic20')),
    contract: maybe(text('Contract of the token; null of a native coin and of a fiat', ADDRESS.toLowerCase())),
    decimals: whole('Decimal places', 6),
  },
  { ...closed, description: 'What can be paid or received' },
);
export const Chain = Type.Object(
  {
    code: text('Code of the chain', 'matic20'),
    networkId: maybe(whole('EIP-155 chain id', 137)),
    assets: list(text('Code', 'usdc.matic20'), 'Assets on it'),
  },
  { ...closed, description: 'A chain' },
);
export const PaymentMethod = Type.Object(
  {
    code: text('Name of the method', 'IMPS'),
    asset: text('Code of the fiat', 'inr'),
    directions: list(direction(), 'Where it is used'),
  },
  { ...closed, description: 'How fiat is paid' },
);

// Events and webhooks

export const Event = Type.Object(
  {
    id: text('Id of the event: the same in every delivery', 'evt_1_17'),
    type: text('What happened', 'order.settled'),
    timestamp: time('When it happened'),
    subject: text('What it is about', 'order:747983292881815'),
    sequence: whole('Position among the events of its subject, from 1 without gaps', 3),
    data: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'The resource as it was then: see the page on webhooks',
      examples: [{ orderId: '747983292881815', state: 'settled' }],
    }),
  },
  { ...closed, description: 'Something that happened' },
);

const endpoint = {
  id: text('Id of the endpoint', 'whe_4pQ9aXbT7mK2vN8c'),
  url: text('Address that events are posted to', 'https://wallet.example/hooks'),
  format: word(['standard', 'whitelabel', 'flat'] as const, 'Form of the body; `standard` is this API’s'),
  events: list(text('Type of events, or `order.*`', 'order.*'), 'Types of events; none: all'),
  enabled: yes('Whether events are sent'),
  failures: whole('How many attempts have failed in a row', 0),
  pausedUntil: maybe(time('Until when no attempt is made, after failures')),
  failingSince: maybe(time('Since when every attempt has failed')),
  switchedOffAt: maybe(time('When it was switched off, because every attempt had failed for five days')),
  heldAt: maybe(time('Since when it is held, because a key of yours may have leaked')),
  oldSecretUntil: maybe(time('Until when the previous secret signs as well')),
  createdAt: time('When it was added'),
  updatedAt: time('When it last changed'),
};
export const WebhookEndpoint = Type.Object(endpoint, { ...closed, description: 'Where events are posted to' });
export const WebhookEndpointWithSecret = Type.Object(
  { ...endpoint, secret: text('Secret that signs the webhooks: shown here and never again', 'whsec_…') },
  { ...closed, description: 'A webhook endpoint with its secret' },
);
export const Removed = Type.Object(
  {
    id: text('Id of what was removed', 'whe_4pQ9aXbT7mK2vN8c'),
    removed: Type.Literal(true, { description: 'It is gone', examples: [true] }),
  },
  { ...closed, description: 'Removed' },
);
export const TestSent = Type.Object(
  { sent: Type.Literal(true, { description: 'A test event is on its way', examples: [true] }) },
  { ...closed, description: 'Sent' },
);
export const Replayed = Type.Object(
  {
    replayed: whole('How many events are sent again', 3),
    hasMore: yes('Whether there are more: ask for a shorter span', false),
  },
  { ...closed, description: 'What is sent again' },
);
export const Delivery = Type.Object(
  {
    eventId: text('Id of the event', 'evt_1_17'),
    type: text('What happened', 'order.settled'),
    subject: text('What it is about', 'order:747983292881815'),
    sequence: whole('Position among the events of its subject', 3),
    state: word(['waiting', 'delivered', 'dead', 'dropped'] as const, 'How far the delivery is'),
    attempts: whole('How many attempts were made', 1),
    lastError: maybe(text('Why the last attempt failed', 'answered 500')),
    endedAt: maybe(time('When it ended')),
  },
  { ...closed, description: 'An event on its way to an endpoint' },
);
export const Attempt = Type.Object(
  {
    at: time('When'),
    tookMs: whole('How long it took, in milliseconds', 41),
    status: maybe(whole('HTTP status of the answer', 200)),
    error: maybe(text('Why it failed', 'timed out')),
    answer: text('Beginning of what your server answered', 'ok'),
  },
  { ...closed, description: 'An attempt to deliver an event' },
);

// Your key and your requests

export const Key = Type.Object(
  {
    key: text('The key that asks', 'clv_4pQ9aX'),
    partner: Type.Object(
      { id: id('Number of the partner', '1'), name: text('Name of the partner', 'A Wallet') },
      { ...closed, description: 'Whose key it is' },
    ),
    scopes: list(word(SCOPES, 'A scope'), 'What the key may do'),
    version: text('Version that answers this key where it names none', '2026-11-23'),
    versions: list(text('A version', '2026-11-23'), 'Versions there are, oldest first'),
    requestsPerMinute: whole('Requests a minute', 6000),
    writes: word(['bearer', 'signed'] as const, '`signed`: a write must be signed; `bearer`: it may carry the token'),
    environment: word(['sandbox', 'production'] as const, 'Where you are'),
    time: time('Time of the server: signatures are checked against it'),
  },
  { ...closed, description: 'The key that asks' },
);

export const RequestLine = Type.Object(
  {
    id: text('Id of the request: `X-Request-Id` of its answer', '4f1c2a9d0e00001a'),
    clientRequestId: maybe(text('What you sent as `X-Client-Request-Id`', 'abc-1')),
    at: time('When it came'),
    key: text('The key that asked', 'clv_4pQ9aX'),
    operation: text('Name of the endpoint', 'orders.create'),
    method: text('HTTP method', 'POST'),
    path: text('Path as asked, without its query', '/v1/orders'),
    status: whole('HTTP status that was answered', 201),
    reason: maybe(text('Why it was declined', 'quote_over')),
    tookMs: whole('How long it took, in milliseconds', 12),
    replayed: yes('Whether an earlier answer was given again', false),
    version: text('Version that answered', '2026-11-23'),
  },
  { ...closed, description: 'A request of yours' },
);
const logged = (description: string, example: Record<string, unknown>) =>
  maybe(Type.Unsafe<Record<string, unknown>>({ type: 'object', description, examples: [example] }));
export const RequestDetail = Type.Object(
  {
    ...RequestLine.properties,
    idempotencyKey: maybe(text('Idempotency-Key that was sent', 'k-1')),
    request: logged('Fields that were sent, without what is personal', { quoteId: '747983292881815' }),
    reply: logged('What was answered, without what is personal', { id: '747983292881815', state: 'created' }),
  },
  { ...closed, description: 'A request of yours with what was sent and answered' },
);

export const Problem = Type.Object(
  {
    type: text('Page that explains the reason', 'https://ramp.example/v1/problems/quote_over'),
    title: text('The reason in a few words', 'The quote is over'),
    status: whole('HTTP status', 409),
    detail: text('What is wrong with this request', 'The quote expired at 2026-11-23T09:31:00.000Z.'),
    reason: text('The word to branch on', 'quote_over'),
    requestId: text('Id of the request', '4f1c2a9d0e00001a'),
    fields: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'Which field is wrong, and the rule it breaks',
        examples: [{ payAmount: 'must be an amount such as 100 or 0.5, without sign' }],
      }),
    ),
    limits: Type.Optional(
      Type.Object(
        {
          asset: text('Code of the asset', 'usdc.matic20'),
          min: decimal('Least amount', '10'),
          max: decimal('Largest amount', '10000'),
        },
        { ...closed, description: 'What is allowed' },
      ),
    ),
    supported: Type.Optional(list(text('A value', 'IMPS'), 'What there is instead')),
    state: Type.Optional(text('State that does not allow it', 'settled')),
    customerId: Type.Optional(text('The customer that exists', '8tvxR5aVmM_1')),
    usableAt: Type.Optional(time('From when on the destination may be paid')),
  },
  { ...closed, description: 'Why a request was declined: RFC 9457' },
);

/** Schemas with a name of their own among the components of OpenAPI. */
export const COMPONENTS = {
  Asset,
  Attempt,
  Chain,
  CodeSent,
  Customer,
  CustomerLimits,
  Delivery,
  Deposit,
  Destination,
  DestinationRef,
  Event,
  Fee,
  Key,
  Limits,
  Link,
  Market,
  Money,
  Order,
  Payment,
  PaymentMethod,
  Payout,
  PriceUsed,
  Problem,
  Quote,
  Refund,
  Removed,
  Replayed,
  RequestDetail,
  RequestLine,
  Requirements,
  TestSent,
  Trace,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} as const satisfies Readonly<Record<string, TSchema>>;
