/**
 * Replies of this API, as schemas: `data` of every success. Each object has these fields and no others. A `title` names a
 * schema in the API description (openapi.ts).
 *
 * Amounts are exact decimals: as text, or as a JSON number with all of its digits where the interface has numbers.
 */
import { type TSchema, Type } from 'typebox';
import { PUBLIC_REASONS } from '../../orders/index.ts';

const object = <P extends Record<string, TSchema>>(
  properties: P,
  about: { title?: string; description?: string } = {},
) => Type.Object(properties, { additionalProperties: false, ...about });
const text = (description: string, more: Record<string, unknown> = {}) => Type.String({ description, ...more });
const whole = (description: string) => Type.Integer({ description });
const maybe = (schema: TSchema) => Type.Union([schema, Type.Null()]);
const byKey = (value: TSchema, description: string) => Type.Record(Type.String(), value, { description });

const DECIMAL = '^[0-9]+(\\.[0-9]+)?$';
const amountText = (description: string) =>
  text(`${description}: a plain decimal`, { pattern: DECIMAL, examples: ['849.24'] });
const amountNumber = (description: string) =>
  Type.Number({ description: `${description}: exact to its last digit`, minimum: 0 });
const numberText = (description: string) =>
  text(description, { pattern: '^[0-9]{1,18}$', examples: ['747983292881815'] });
const isoTime = (description: string) =>
  text(`${description}, ISO 8601 in UTC`, {
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
    examples: ['2026-05-08T12:38:11.000Z'],
  });
const spacedTime = (description: string) =>
  text(`${description}, UTC`, {
    pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$',
    examples: ['2026-05-08 12:38:11'],
  });
const url = (description: string) => text(description, { pattern: '^https?://' });

const transactionId = numberText('Number of the transaction');
const customerId = text('Our id of the customer');
const hash = (description: string) => text(`${description}, in lower case; empty before there is one`);
const statusText = text('Status number of the transaction, as text: see the table of statuses', {
  pattern: '^-?[0-9]{1,2}$',
});

// Trading

const feeTexts = { text: amountText, number: amountNumber };
const feesOf = (form: 'text' | 'number') => {
  const fee = feeTexts[form];
  return Type.Array(
    object({
      type: Type.Literal('fiat'),
      onrampFee: fee('Fee of the operator'),
      clientFee: fee('Fee of the partner'),
      gatewayFee: fee('Fee of the payment rail'),
      gasFee: fee('Fee of the chain'),
      tdsFee: Type.Optional(fee('Tax withheld; only in a market that withholds tax')),
    }),
    { minItems: 1, maxItems: 1, description: 'Fees, in the fiat currency' },
  );
};
const sides = {
  fromCurrency: text('Currency given, as it was sent'),
  toCurrency: text('Currency received, as it was sent'),
};
export const QUOTE = Type.Union(
  [
    object(
      {
        ...sides,
        fromAmount: amountText('Amount given'),
        toAmount: amountText('Amount received, after fees'),
        rate: amountText('Fiat for one coin'),
        fees: feesOf('text'),
      },
      { title: 'QuoteWithRate' },
    ),
    object(
      {
        ...sides,
        toAmount: amountText('Amount received, after fees'),
        fromAmount: Type.Literal(''),
        fees: feesOf('number'),
      },
      { title: 'QuoteWithoutRate' },
    ),
  ],
  { title: 'Quote', description: 'Which of the two forms a partner gets is a setting of the partner' },
);
export const QUOTE_NUMBERS = object(
  {
    rate: amountNumber('Fiat for one coin'),
    quantity: amountNumber('Amount of the coin'),
    fiatAmount: amountNumber('Amount of the fiat'),
    onrampFee: amountNumber('Fee of the operator'),
    clientFee: amountNumber('Fee of the partner'),
    gatewayFee: amountNumber('Fee of the payment rail'),
    gasFee: amountNumber('Fee of the chain'),
    tdsFee: Type.Optional(amountNumber('Tax withheld; only in a market that withholds tax')),
  },
  { title: 'QuoteNumbers' },
);
export const CREATED_SALE = object(
  {
    transactionId,
    createdAt: spacedTime('When the transaction was created'),
    depositAddress: text('Address that the customer sends the coins to'),
    chain: text('Chain of that address'),
    fromAmount: amountText('Coins to send'),
    toAmount: amountText('Fiat that will be paid'),
    rate: amountText('Fiat for one coin'),
    expiresAt: isoTime('Until when the coins must have arrived'),
  },
  { title: 'CreatedSale' },
);
export const PAY_INSTRUCTIONS = object(
  {
    type: text('Payment method'),
    bank: object({
      name: text('Holder of the account'),
      accountNumber: text('Account number, or the IBAN'),
      ifsc: Type.Optional(text('Bank code of an Indian account')),
      type: text('Type of the account'),
      branch: text('Branch'),
      bank: text('Name of the bank'),
      iban: Type.Optional(text('IBAN, of an account that has one')),
      bic: Type.Optional(text('BIC, beside an IBAN')),
      bankCode: Type.Optional(text('Code of the bank, where the country has one of its own')),
      sortCode: Type.Optional(text('Sort code, of a British account')),
      routingNumber: Type.Optional(text('Routing number, of an American account')),
    }),
    bankNotes: Type.Array(
      object({
        type: Type.Union([Type.Literal(1), Type.Literal(-1)], { description: '1: what to do. -1: what not to do' }),
        msg: text('A sentence for the customer'),
      }),
    ),
    otp: text('Reference that the customer writes into the remarks of the transfer'),
  },
  { title: 'PayInstructions' },
);
export const CREATED_PURCHASE = object(
  {
    transactionId,
    createdAt: spacedTime('When the transaction was created'),
    fiatAmount: amountText('Fiat to pay'),
    fiatPaymentInstructions: PAY_INSTRUCTIONS,
  },
  { title: 'CreatedPurchase' },
);
const transaction = {
  transactionId,
  createdAt: isoTime('When the transaction was created'),
  updatedAt: isoTime('When it last changed'),
  fromAmount: amountText('Amount to give'),
  toAmount: amountText('Amount to receive'),
  fromCurrency: text('Currency given'),
  toCurrency: text('Currency received'),
};
const sale = {
  ...transaction,
  chain: text('Chain of the coin'),
  fiatAccountId: text('Account that is paid; empty where none is named'),
  status: statusText,
  transactionHash: hash('Hash of the deposit'),
};
export const SALE = object(sale, { title: 'Sale' });
export const SALES = Type.Array(SALE);
export const PURCHASE = object(
  {
    ...transaction,
    paymentMethodType: text('Payment method'),
    depositAddress: text('Address that is paid'),
    status: statusText,
    transactionHash: hash('Hash of the payout'),
  },
  { title: 'Purchase' },
);
export const PURCHASES = Type.Array(PURCHASE);

const reason = (description: string) =>
  Type.Union(
    [...PUBLIC_REASONS, ''].map((word) => Type.Literal(word)),
    { description: `${description}; empty where there is nothing to say` },
  );
const money = {
  amount: amountText('Amount'),
  currency: text('Coin or fiat, in upper case'),
  chain: text('Chain of a coin; empty for fiat'),
};
const told = {
  unclaimedFrom: Type.Optional(isoTime('From when money that nobody claims is dormant; only where that was announced')),
  receivedAmount: amountText('What has come in for the transaction and was not reversed'),
  receivedCurrency: text('Currency of that'),
  reason: reason('Why the transaction is not as usual'),
  needsDestination: Type.Boolean({ description: 'Money waits until refundDestination names where it goes' }),
  refunds: Type.Array(
    object(
      {
        ...money,
        refundId: numberText('Number of the refund'),
        kind: Type.Union([Type.Literal('refund'), Type.Literal('payout')], {
          description: 'payout: a payout that came back, paid again',
        }),
        status: text('State of the refund'),
        reason: reason('Why it is paid'),
        address: text('Address it goes to; empty for a bank account, or before one is named'),
        fiatAccountId: text('Account it goes to; empty for an address, or before one is named'),
        reference: text('Hash or bank reference; empty before there is one'),
        createdAt: isoTime('When it was created'),
        updatedAt: isoTime('When it last changed'),
      },
      { title: 'Refund' },
    ),
    {
      description:
        'The newest, the oldest of them first: 20 in transactions and events, as many as asked for in refunds',
    },
  ),
  olderRefunds: Type.Optional(
    whole(
      'How many refunds are older than the first one here; only where there are any. The refunds call gives them by before',
    ),
  ),
  returnedPayouts: Type.Array(
    object(
      {
        ...money,
        reference: text('Reference of the bank'),
        reason: reason('Why it came back'),
        returnedAt: isoTime('When it came back'),
      },
      { title: 'ReturnedPayout' },
    ),
    { description: 'The newest, the oldest of them first: 20 in transactions and events, 100 in refunds' },
  ),
  olderReturnedPayouts: Type.Optional(
    whole('How many payouts that came back are not among them; only where there are any'),
  ),
};
export const SALE_DETAIL = object(
  {
    ...sale,
    depositAddress: text('Address that the customer sends the coins to'),
    expiresAt: isoTime('Until when the coins must have arrived'),
    ...told,
  },
  { title: 'SaleDetail' },
);
export const REFUNDS = object({ transactionId, ...told }, { title: 'Refunds' });
export const NAMED_DESTINATION = object(
  {
    transactionId,
    address: Type.Optional(text('The address, as it was sent')),
    fiatAccountId: Type.Optional(text('The account, as it was sent')),
  },
  { title: 'NamedDestination' },
);
export const CLAIMED = object({ transactionId, referenceId: text('The reference, as it was sent') });
const history = {
  orderId: whole('Number of the transaction'),
  customerId,
  coinId: whole('Number of the coin'),
  chainId: whole('Number of the chain'),
  fiatType: whole('Number of the fiat'),
  paymentType: whole('1: instant. 2: a bank transfer'),
  expectedPrice: amountNumber('Fiat for one coin when the transaction was created'),
  actualPrice: amountNumber('The same once the trade was made; 0 before'),
  merchantRecognitionId: text('The partner’s own reference'),
  createdAt: isoTime('When the transaction was created'),
  updatedAt: isoTime('When it last changed'),
  status: whole('Status number'),
  clientFee: amountNumber('Fee of the partner'),
  gatewayFee: amountNumber('Fee of the payment rail'),
  gasFee: amountNumber('Fee of the chain'),
  tdsFee: amountNumber('Tax withheld'),
  walletAddress: text('Deposit address of a sale, paid address of a purchase'),
  transactionHash: hash('Hash on the chain'),
};
export const HISTORY = Type.Array(
  Type.Union([
    object(
      {
        ...history,
        expectedQuantity: amountNumber('Coins asked for'),
        expectedFiatAmount: amountNumber('Fiat to pay'),
        actualQuantity: amountNumber('Coins received'),
        actualFiatAmount: amountNumber('Fiat paid'),
        onrampFee: amountNumber('Fee of the operator'),
      },
      { title: 'SaleRow' },
    ),
    object(
      {
        ...history,
        fiatAmount: amountNumber('Fiat to receive'),
        expectedCryptoAmount: amountNumber('Coins to pay'),
        actualCryptoAmount: amountNumber('Coins paid'),
        onRampFee: amountNumber('Fee of the operator'),
        kycNeeded: whole('Always 0'),
        referenceId: maybe(text('Bank reference that the customer named')),
      },
      { title: 'PurchaseRow' },
    ),
  ]),
);
export const ORDER_STATUS = object({ orderStatus: whole('Status number: see the table of statuses') });

// Customers and accounts

export const KYC_LINK = object(
  {
    kycUrl: url('Page on which the customer logs in and is verified'),
    customerId,
    clientCustomerId: Type.Union([Type.String(), Type.Number()], {
      description: 'The partner’s own id, in the type it was sent in',
    }),
    signature: text('HMAC-SHA512 of kycUrl under the key’s secret, in hex', { pattern: '^[0-9a-f]{128}$' }),
  },
  { title: 'KycLink' },
);
export const KYC_STATUS = object(
  {
    status: text('Where verification stands: see the table of words'),
    updatedAt: spacedTime('When it last changed'),
    countryISO: text('Country of the customer, two letters'),
    currentKycVerificationStep: text('Step that is reached'),
    previousSuccessfulKycStep: text('Step that was passed last'),
    failedReason: Type.Optional(text('Why verification failed')),
  },
  { title: 'KycStatus' },
);
/** Groups of fields and documents: a form described as data. */
export const REQUIREMENTS = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  title: 'Requirements',
  description: 'Groups of fields and documents: name, label, type, whether it is required, options',
});
export const KYC_REQUIREMENTS = object({ kycRequirementData: REQUIREMENTS }, { title: 'KycRequirements' });
export const ADDED_ACCOUNT = object({ fiatAccountId: numberText('Number of the account') });
export const ACCOUNT_LINK = object({
  bankUrl: url('Page on which the customer adds an account'),
  referenceId: numberText('Number of this request'),
});
export const ACCOUNTS = Type.Array(
  Type.Object(
    {
      fiatAccountId: numberText('Number of the account'),
      fiatAccount: text('Account number, or the IBAN'),
      currency: text('Currency of the account, in upper case'),
      createdAt: isoTime('When it was added'),
    },
    {
      additionalProperties: { type: 'string' },
      title: 'Account',
      description: 'Beside these: the details that were given, under the names they were given by',
    },
  ),
);
export const CHANGED_STATUS = object({
  changeStatus: Type.Literal(true),
  message: text('A sentence that names the status'),
});
export const CHECKOUT_LINK = object(
  {
    link: url('Hosted page on which the customer confirms and pays'),
    urlHash: text('Id of the link'),
    expiresAt: isoTime('Until when a transaction can be created on it'),
  },
  { title: 'CheckoutLink' },
);

// Reference data

const numbersByCode = (description: string) => byKey(Type.Integer(), description);
const coin = {
  coinId: whole('Number of the coin'),
  coinIcon: text('Picture, as a data URL'),
  coinName: text('Name'),
  balanceFloatPlaces: whole('Decimals shown of a balance'),
};
const network = object(
  {
    chainSymbol: text('Code of the chain'),
    chainName: text('Name'),
    addressRegex: text('What an address looks like'),
    memoRegex: text('What a memo looks like; empty where there is none'),
    networkId: whole('Number by which the chain calls itself; -1 where it has none'),
    nativeToken: whole('Number of the native coin; -1 where we have none'),
    startingWith: Type.Array(Type.String()),
    hashLink: text('Explorer, to be followed by a hash; empty where there is none'),
    node: whole('The same as nativeToken'),
  },
  { title: 'Network' },
);
export const COINS = byKey(object(coin, { title: 'Coin' }), 'By code of the coin');
export const NETWORKS = byKey(network, 'By number of the chain');
export const ALL_CONFIG = object({
  allCoinConfig: byKey(
    object({
      ...coin,
      coinCode: text('Code of the coin'),
      tradeFloatPlaces: whole('Decimals of a trade'),
      networks: Type.Array(Type.Integer()),
    }),
    'By code of the coin',
  ),
  networkConfig: NETWORKS,
});
export const CONFIG_MAP = object({
  fiatSymbolMapping: numbersByCode('Number of each fiat'),
  coinSymbolMapping: numbersByCode('Number of each coin'),
  chainSymbolMapping: numbersByCode('Number of each chain'),
});
const fiatNames = byKey(Type.String(), 'Code of each fiat, by its number');
export const FIATS = object({ onramp: fiatNames, offramp: fiatNames });
const methods = byKey(Type.Integer(), 'Kind of each method: 1 instant, 2 a bank transfer');
export const METHODS = byKey(methods, 'By number of the fiat');
const country = byKey(object({ isActive: whole('1: on offer'), paymentMethods: methods }), 'By number of the fiat');
export const COUNTRIES = object({ buy: country, sell: country });
export const TIMESTAMP = Type.Integer({ description: 'Milliseconds since 1970' });
const gas = (number: TSchema) => ({ withdrawalFee: number, minimumWithdrawal: number, nodeInSync: Type.Literal(1) });
export const GAS_FEES = object({
  allGasFee: byKey(byKey(object(gas(amountNumber('In the coin'))), 'By number of the chain'), 'By number of the coin'),
});
export const GAS_FEE_MAP = byKey(
  byKey(
    object({ ...gas(amountText('In the coin')), depositEnable: whole('1: the coin is bought from customers') }),
    'By number of the chain',
  ),
  'By number of the coin',
);
const ranges = byKey(object({ min: amountNumber('Least'), max: amountNumber('Most') }), 'By number of the fiat');
export const LIMITS = object({ onramp: Type.Optional(ranges), offramp: Type.Optional(ranges) });
export const COIN_LIMITS = byKey(
  byKey(amountNumber('Least of the fiat'), 'By number of the chain'),
  'By number of the coin',
);
const prices = byKey(amountNumber('Fiat for one coin'), 'By number of the coin');
export const PRICES = object({ onramp: Type.Optional(prices), offramp: Type.Optional(prices) });

// Webhooks

export const WEBHOOK_SET = text('A sentence that repeats the address');
export const WEBHOOK_TAKEN = Type.Literal('Response received from your server');
const time = (description: string) => maybe(isoTime(description));
const endpoint = {
  id: text('Id of the endpoint'),
  url: url('Address that events are posted to'),
  format: Type.Union(['whitelabel', 'flat', 'standard'].map((word) => Type.Literal(word))),
  events: Type.Array(Type.String(), { description: 'Types of events it hears of; none: all' }),
  payloadForm: Type.Union(
    ['body', 'wrapped'].map((word) => Type.Literal(word)),
    { description: 'What the payload header holds' },
  ),
  setByWire: Type.Boolean({ description: 'Set by setWebhookUrl' }),
  enabled: Type.Boolean(),
  apiKey: text('Key whose secret signs'),
  madeByKey: maybe(text('Key that made it')),
  failures: whole('Attempts that failed in a row'),
  pausedUntil: time('Next attempt after failures'),
  failingSince: time('First of those failures'),
  switchedOffAt: time('When it was switched off for failing'),
  heldAt: time('When it was held after a leak'),
  oldSecretUntil: time('Until when the old secret signs as well'),
  createdAt: isoTime('When it was made'),
  updatedAt: isoTime('When it last changed'),
};
export const ENDPOINT = object(endpoint, { title: 'WebhookEndpoint' });
export const ENDPOINT_WITH_SECRET = object(
  { ...endpoint, secret: text('Signs its webhooks; said in this reply alone') },
  { title: 'WebhookEndpointWithSecret' },
);
export const ENDPOINTS = Type.Array(ENDPOINT);
export const REMOVED = object({ removed: Type.Literal(true) });
export const SENT = object({ sent: Type.Literal(true) });
export const REPLAYED = object({
  replayed: whole('Events that go out again'),
  hasMore: Type.Boolean({ description: 'There are more: ask again' }),
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
    next: text('Cursor to go on from'),
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
        endedAt: time('When it was delivered, dropped or given up'),
      },
      { title: 'Delivery' },
    ),
  ),
  next: maybe(text('Cursor to go on from')),
});
export const ATTEMPTS = Type.Array(
  Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    title: 'Attempt',
    description: 'When, how long it took, and what came back',
  }),
);

// Bodies of webhooks

const metadata = {
  eventId: whole('Position of the event; 0 of a sample'),
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
        referenceId: whole('Number of the transaction; 0 of a sample'),
        eventType: word(['ONRAMP', 'OFFRAMP'], 'Buying or selling'),
        status: word(ORDER_WORDS, 'Each is said once of a transaction, in this order'),
        metadata: object({
          ...metadata,
          ...Object.fromEntries(Object.entries(told).map(([name, schema]) => [name, Type.Optional(schema)])),
          failure_reasons: Type.Optional(text('Why it failed; only with FAILED')),
        }),
      },
      { title: 'OrderWebhook' },
    ),
    object(
      {
        eventType: word(['KYC', 'KYB'], 'A person or a business'),
        status: text('Word of verification'),
        metadata: object({ ...metadata, customerId, clientCustomerId: maybe(text('Your own id of the customer')) }),
      },
      { title: 'CustomerWebhook' },
    ),
  ],
  { title: 'WhitelabelWebhook' },
);
const FLAT_WEBHOOK = object(
  {
    orderId: whole('Number of the transaction; 0 of a sample'),
    eventType: word(['onramp', 'offramp'], 'Buying or selling'),
    walletAddress: text('Deposit address of a sale, paid address of a purchase'),
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
    actualCryptoAmount: amountNumber('Amount of the coin that moved'),
    actualFiatAmount: Type.Optional(amountNumber('Fiat that was paid; of a sale')),
    actualQuantity: Type.Optional(amountNumber('Coins that came; of a sale')),
    statusDescription: Type.Optional(text('SUCCESS; of a sale')),
    kycNeeded: whole('Always 0'),
    createdAt: isoTime('When the transaction was created'),
    updatedAt: isoTime('When it last changed'),
    status: whole('Status number'),
    referenceId: text('Bank reference'),
    onRampFee: amountNumber('Fee of the operator'),
    clientFee: amountNumber('Fee of the partner'),
    gatewayFee: amountNumber('Fee of the payment rail'),
    gasFee: amountNumber('Fee of the chain'),
    tdsFee: Type.Optional(amountNumber('Tax withheld; only where some was')),
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
    data: Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'The resource as it is then' }),
  },
  { title: 'StandardWebhook' },
);

/** What is posted to an endpoint, by its format. */
export const WEBHOOK_BODIES = {
  whitelabel: WHITELABEL_WEBHOOK,
  flat: FLAT_WEBHOOK,
  standard: STANDARD_WEBHOOK,
} as const;
