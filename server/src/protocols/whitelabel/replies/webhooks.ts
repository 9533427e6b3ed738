/** Endpoints, events and deliveries, and the bodies that are posted. */
import { Type } from 'typebox';
import { amountNumber, customerId, hash, isoTime, maybe, object, text, url, whole } from './parts.ts';
import { publicMoney } from './trading.ts';

export const WEBHOOK_SET = text('A sentence with the address');
export const WEBHOOK_TAKEN = Type.Literal('Response received from your server');
const time = (description: string) => maybe(isoTime(description));
const endpoint = {
  id: text('Id of the endpoint'),
  url: url('Address that events are posted to'),
  format: Type.Union(['whitelabel', 'flat', 'standard'].map((word) => Type.Literal(word))),
  events: Type.Array(Type.String(), { description: 'Types of events it receives; all if the list is empty' }),
  payloadForm: Type.Union(
    ['body', 'wrapped'].map((word) => Type.Literal(word)),
    { description: 'Content of the payload header' },
  ),
  setByWire: Type.Boolean({ description: 'Whether setWebhookUrl set it' }),
  enabled: Type.Boolean(),
  apiKey: text('Key whose secret signs the webhooks'),
  madeByKey: maybe(text('Key that created it')),
  failures: whole('Number of consecutive failed attempts'),
  pausedUntil: time('When the next attempt after failures is made'),
  failingSince: time('When the first of those attempts failed'),
  switchedOffAt: time('When it was switched off because of failures'),
  heldAt: time('When it was held after a leak'),
  oldSecretUntil: time('Until when webhooks are also signed with the old secret'),
  createdAt: isoTime('When it was created'),
  updatedAt: isoTime('When it last changed'),
};
export const ENDPOINT = object(endpoint, { title: 'WebhookEndpoint' });
export const ENDPOINT_WITH_SECRET = object(
  { ...endpoint, secret: text('Secret that signs its webhooks; returned only in this reply') },
  { title: 'WebhookEndpointWithSecret' },
);
export const ENDPOINTS = Type.Array(ENDPOINT);
export const REMOVED = object({ removed: Type.Literal(true) });
export const SENT = object({ sent: Type.Literal(true) });
export const REPLAYED = object({
  replayed: whole('Number of events that are sent again'),
  hasMore: Type.Boolean({ description: 'Whether there are more; repeat the request for them' }),
});
export const EVENTS = object(
  {
    events: Type.Array(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        title: 'Event',
        description: 'id, type, time, and data about the subject',
      }),
    ),
    next: text('Cursor of the next page'),
    hasMore: Type.Boolean(),
  },
  { title: 'Events' },
);
export const DELIVERIES = object({
  deliveries: Type.Array(
    object(
      {
        eventId: text('Id of the event'),
        type: text('Type of the event'),
        subject: text('What it is about'),
        sequence: whole('Position among the events of its subject'),
        state: text('waiting, delivered, dropped or dead'),
        attempts: whole('Attempts so far'),
        lastError: maybe(text('Why the last attempt failed')),
        endedAt: time('When it was delivered or dropped, or when attempts ended'),
      },
      { title: 'Delivery' },
    ),
  ),
  next: maybe(text('Cursor of the next page')),
});
export const ATTEMPTS = Type.Array(
  Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    title: 'Attempt',
    description: 'The time, the duration and the response of each attempt',
  }),
);

// Bodies

const metadata = {
  eventId: whole('Position of the event; 0 for a sample'),
  eventCreatedAt: isoTime('When it happened'),
  sequence: Type.Optional(whole('Position among the events of its subject')),
  timestamp: Type.Optional(whole('When this attempt was sent, in milliseconds since 1970')),
  sample: Type.Optional(Type.Literal(true)),
};
const word = (words: readonly string[], description: string) =>
  Type.Union(
    words.map((one) => Type.Literal(one)),
    { description },
  );
const ORDER_WORDS = [
  'ON_CHAIN_DEPOSIT_RECEIVED',
  'FIAT_DEPOSIT_RECEIVED',
  'TRADE_COMPLETED',
  'TRADE COMPLETED',
  'FIAT_TRANSFER_INITIATED',
  'ON_CHAIN_INITIATED',
  'FIAT_TRANSFER_COMPLETED',
  'ON_CHAIN_COMPLETED',
  'FAILED',
];
const WHITELABEL_WEBHOOK = Type.Union(
  [
    object(
      {
        referenceId: whole('Number of the transaction; 0 for a sample'),
        eventType: word(['ONRAMP', 'OFFRAMP'], 'Buying or selling'),
        status: word(ORDER_WORDS, 'Each is sent once per transaction, in this order'),
        metadata: object({
          ...metadata,
          ...Object.fromEntries(Object.entries(publicMoney).map(([name, schema]) => [name, Type.Optional(schema)])),
          failure_reasons: Type.Optional(text('Why it failed; only with FAILED')),
        }),
      },
      { title: 'OrderWebhook' },
    ),
    object(
      {
        eventType: word(['KYC', 'KYB'], 'A person or a business'),
        status: text('Verification status'),
        metadata: object({ ...metadata, customerId, clientCustomerId: maybe(text('Your own id of the customer')) }),
      },
      { title: 'CustomerWebhook' },
    ),
  ],
  { title: 'WhitelabelWebhook' },
);
const FLAT_WEBHOOK = object(
  {
    orderId: whole('Number of the transaction; 0 for a sample'),
    eventType: word(['onramp', 'offramp'], 'Buying or selling'),
    walletAddress: text('Deposit address of a sale, destination address of a purchase'),
    coinId: whole('Number of the coin'),
    coinCode: text('Code of the coin'),
    chainId: whole('Number of the chain'),
    network: text('Code of the chain'),
    fiatType: whole('Number of the fiat'),
    fiatAmount: amountNumber('Amount of the fiat'),
    paymentType: whole('1: instant. 2: a bank transfer'),
    expectedPrice: amountNumber('Fiat for one coin'),
    expectedCryptoAmount: amountNumber('Amount of the coin'),
    actualPrice: amountNumber('Fiat for one coin'),
    actualCryptoAmount: amountNumber('Amount of the coin that was transferred'),
    actualFiatAmount: Type.Optional(amountNumber('Fiat that was paid; only of a sale')),
    actualQuantity: Type.Optional(amountNumber('Coins that arrived; only of a sale')),
    statusDescription: Type.Optional(text('SUCCESS; only of a sale')),
    kycNeeded: whole('Always 0'),
    createdAt: isoTime('When the transaction was created'),
    updatedAt: isoTime('When it last changed'),
    status: whole('Status number'),
    referenceId: text('Bank reference'),
    onRampFee: amountNumber('Fee of the operator'),
    clientFee: amountNumber('Fee of the partner'),
    gatewayFee: amountNumber('Fee of the payment rail'),
    gasFee: amountNumber('Fee of the chain'),
    tdsFee: Type.Optional(amountNumber('Tax withheld; only if tax was withheld')),
    transactionHash: hash('Hash on the chain'),
    merchantRecognitionId: text('The partner’s own reference'),
    webhookTrials: whole('Which attempt this is, from 1'),
  },
  { title: 'FlatWebhook' },
);
const STANDARD_WEBHOOK = object(
  {
    id: text('Id of the event'),
    type: text('Type of the event, such as order.settled'),
    timestamp: isoTime('When it happened'),
    subject: text('What it is about, such as order:17'),
    sequence: whole('Position among the events of its subject'),
    data: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'The resource at the time of the event',
    }),
  },
  { title: 'StandardWebhook' },
);

/** The message posted to an endpoint, by its format. */
export const WEBHOOK_BODIES = {
  whitelabel: WHITELABEL_WEBHOOK,
  flat: FLAT_WEBHOOK,
  standard: STANDARD_WEBHOOK,
} as const;
