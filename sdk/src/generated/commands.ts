/**
 * Generated from docs/openapi*.json by sdk/generate.ts. Do not edit: change the declarations of the API.
 */

export interface Field {
  readonly name: string;
  readonly place: 'path' | 'query' | 'body';
  readonly says: string;
  readonly required?: boolean;
  readonly words?: readonly string[];
  readonly type?: 'integer' | 'boolean' | 'array';
  readonly example?: string;
  /** Not required, and in the example request. */
  readonly isInExample?: boolean;
}

export interface Declared {
  /** `orders.create`. */
  readonly name: string;
  readonly says: string;
  readonly fields: readonly Field[];
  /** The answer contains a secret, once. */
  readonly givesSecret?: boolean;
}

export const DECLARED: readonly Declared[] = [
  {
    name: 'markets.list',
    says: 'Lists the pairs that are traded, each with its limits and terms.',
    fields: [],
  },
  {
    name: 'assets.list',
    says: 'Lists the assets of the markets.',
    fields: [],
  },
  {
    name: 'chains.list',
    says: 'Lists the chains of the markets.',
    fields: [],
  },
  {
    name: 'methods.list',
    says: 'Lists the payment methods of the markets.',
    fields: [],
  },
  {
    name: 'quotes.create',
    says: 'Quotes a sale or a purchase at a price that holds until the quote expires, for an amount paid or an amount received.',
    fields: [
      {
        name: 'payAsset',
        place: 'body',
        says: 'Code of the asset that the customer pays',
        required: true,
        example: 'usdc.matic20',
      },
      {
        name: 'receiveAsset',
        place: 'body',
        says: 'Code of the asset that the customer receives',
        required: true,
        example: 'inr',
      },
      {
        name: 'payAmount',
        place: 'body',
        says: 'Amount that the customer pays; either this or receiveAmount',
        example: '250.50',
        isInExample: true,
      },
      {
        name: 'receiveAmount',
        place: 'body',
        says: 'Amount that the customer receives, after all fees; either this or payAmount',
        example: '20000.00',
      },
    ],
  },
  {
    name: 'quotes.get',
    says: 'Shows a stored quote, and whether an order can still use it.',
    fields: [
      {
        name: 'quote',
        place: 'path',
        says: 'Id of the quote',
        required: true,
        example: '747983292881815',
      },
    ],
  },
  {
    name: 'orders.list',
    says: 'Lists orders, the newest first.',
    fields: [
      {
        name: 'state',
        place: 'query',
        says: 'Only those in this state',
        words: [
          'created',
          'deposit_seen',
          'deposit_confirmed',
          'awaiting_liquidity',
          'on_hold',
          'paying_out',
          'payout_held',
          'refunding',
          'refund_held',
          'settled',
          'refunded',
          'expired',
          'cancelled',
        ],
        example: 'settled',
      },
      {
        name: 'market',
        place: 'query',
        says: 'Only those of this market',
        example: '3',
      },
      {
        name: 'customerId',
        place: 'query',
        says: 'Id of the customer',
        example: '8tvxR5aVmM_1',
      },
      {
        name: 'reference',
        place: 'query',
        says: 'Your own reference',
        example: 'order-17',
      },
      {
        name: 'from',
        place: 'query',
        says: 'Only items of this time or later',
        example: '2026-11-01T00:00:00Z',
      },
      {
        name: 'until',
        place: 'query',
        says: 'Only items before this time',
        example: '2026-12-01T00:00:00Z',
      },
      {
        name: 'cursor',
        place: 'query',
        says: 'The page that begins after this: `nextCursor` of the page before',
        example: 'MTcwMA',
      },
      {
        name: 'limit',
        place: 'query',
        says: 'Most rows of the page',
        type: 'integer',
        example: '50',
      },
    ],
  },
  {
    name: 'orders.create',
    says: 'Creates an order from an open quote, and answers how the customer pays.',
    fields: [
      {
        name: 'quoteId',
        place: 'body',
        says: 'Quote that the order takes',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'customerId',
        place: 'body',
        says: 'Id of the customer',
        required: true,
        example: '8tvxR5aVmM_1',
      },
      {
        name: 'destinationId',
        place: 'body',
        says: 'Destination of the customer that is paid',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'refundDestinationId',
        place: 'body',
        says: 'Destination of the customer that money goes back to, should it have to',
        example: '747983292881815',
      },
      {
        name: 'method',
        place: 'body',
        says: 'Payment method, as methods.list names it',
        example: 'IMPS',
      },
      {
        name: 'reference',
        place: 'body',
        says: 'Your own reference',
        example: 'order-17',
      },
    ],
  },
  {
    name: 'orders.get',
    says: 'Answers one order.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
    ],
  },
  {
    name: 'orders.trace',
    says: 'Shows where the money of an order is: who holds it, since when, the evidence, the next step and its deadline.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
    ],
  },
  {
    name: 'orders.deposits',
    says: 'Lists the deposits of an order, oldest first.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'cursor',
        place: 'query',
        says: 'The page that begins after this: `nextCursor` of the page before',
        example: 'MTcwMA',
      },
      {
        name: 'limit',
        place: 'query',
        says: 'Most rows of the page',
        type: 'integer',
        example: '50',
      },
    ],
  },
  {
    name: 'orders.payouts',
    says: 'Lists the attempts to pay an order out, the oldest first.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'cursor',
        place: 'query',
        says: 'The page that begins after this: `nextCursor` of the page before',
        example: 'MTcwMA',
      },
      {
        name: 'limit',
        place: 'query',
        says: 'Most rows of the page',
        type: 'integer',
        example: '50',
      },
    ],
  },
  {
    name: 'orders.refunds',
    says: 'Lists what goes back of an order, and what of it is paid again; the oldest first.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'cursor',
        place: 'query',
        says: 'The page that begins after this: `nextCursor` of the page before',
        example: 'MTcwMA',
      },
      {
        name: 'limit',
        place: 'query',
        says: 'Most rows of the page',
        type: 'integer',
        example: '50',
      },
    ],
  },
  {
    name: 'orders.cancel',
    says: 'Cancels an order while nothing has come for it.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
    ],
  },
  {
    name: 'orders.refund',
    says: 'Requests a refund of the money held for an order, or of one of its deposits in suspense, to a destination of the customer.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'destinationId',
        place: 'body',
        says: 'Destination of the customer that is paid',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'depositId',
        place: 'body',
        says: 'A deposit in suspense; without it, all that the order holds',
        example: '42',
      },
    ],
  },
  {
    name: 'orders.changePayoutDestination',
    says: 'Pays an order whose payout was rejected or came back to another destination of the same customer.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'destinationId',
        place: 'body',
        says: 'Destination of the customer that is paid',
        required: true,
        example: '747983292881815',
      },
    ],
  },
  {
    name: 'orders.wallets',
    says: 'Lists the wallets on the other side of an order that the travel rule still asks about.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
    ],
  },
  {
    name: 'orders.nameWallet',
    says: 'Says of a wallet on the other side of an order who holds it and whose it is, and answers what is still missing.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'address',
        place: 'body',
        says: 'The wallet: that a purchase is paid to, or that the coins of a sale come from',
        required: true,
        example: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
      },
      {
        name: 'kind',
        place: 'body',
        says: 'Held by a provider, or by its owner',
        required: true,
        words: ['hosted', 'self_hosted'],
        example: 'self_hosted',
      },
      {
        name: 'owner',
        place: 'body',
        says: "The customer's own, or another's",
        required: true,
        words: ['customer', 'other'],
        example: 'customer',
      },
      {
        name: 'ownerName',
        place: 'body',
        says: "Name of the owner, if it is another's",
        example: 'Asha Rao',
      },
      {
        name: 'provider',
        place: 'body',
        says: 'Name of the provider of a hosted wallet',
        example: 'An Exchange Ltd',
      },
      {
        name: 'signature',
        place: 'body',
        says: 'Over the text that orders.wallets answers, by the key of the address',
        example: '0x1b',
      },
    ],
  },
  {
    name: 'orders.namePayerReference',
    says: 'Notes the bank reference that the customer claims to have paid with.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'payerReference',
        place: 'body',
        says: 'Reference that the customer’s bank gave the transfer',
        required: true,
        example: 'UTR123456',
      },
    ],
  },
  {
    name: 'customers.list',
    says: 'Lists your customers, the newest first; by `reference`, the one of this name.',
    fields: [
      {
        name: 'reference',
        place: 'query',
        says: 'Only the one with this name of yours',
        example: 'customer-1',
      },
      {
        name: 'verification',
        place: 'query',
        says: 'Only those whose verification is so far',
        words: ['none', 'in_review', 'verified', 'failed', 'refused'],
        example: 'verified',
      },
      {
        name: 'from',
        place: 'query',
        says: 'Only those created not earlier',
        example: '2026-11-01T00:00:00Z',
      },
      {
        name: 'until',
        place: 'query',
        says: 'Only those created earlier',
        example: '2026-12-01T00:00:00Z',
      },
      {
        name: 'cursor',
        place: 'query',
        says: 'The page that begins after this: `nextCursor` of the page before',
        example: 'MTcwMA',
      },
      {
        name: 'limit',
        place: 'query',
        says: 'Most rows of the page',
        type: 'integer',
        example: '50',
      },
    ],
  },
  {
    name: 'customers.create',
    says: 'Adds a customer.',
    fields: [
      {
        name: 'reference',
        place: 'body',
        says: 'Your own name for the customer',
        required: true,
        example: 'customer-1',
      },
      {
        name: 'kind',
        place: 'body',
        says: 'A person or a business',
        required: true,
        words: ['individual', 'business'],
        example: 'individual',
      },
      {
        name: 'phone',
        place: 'body',
        says: 'Phone number with its country code, such as +91-9876543210',
        required: true,
        example: '+91-9876543210',
      },
      {
        name: 'email',
        place: 'body',
        says: 'E-mail address',
        example: 'customer@example.org',
      },
      {
        name: 'country',
        place: 'body',
        says: 'Country of the customer',
        example: 'IN',
      },
    ],
  },
  {
    name: 'customers.get',
    says: 'Answers one customer.',
    fields: [
      {
        name: 'customer',
        place: 'path',
        says: 'Id of the customer',
        required: true,
        example: '8tvxR5aVmM_1',
      },
    ],
  },
  {
    name: 'customers.update',
    says: 'Changes phone, e-mail address or country of a customer.',
    fields: [
      {
        name: 'customer',
        place: 'path',
        says: 'Id of the customer',
        required: true,
        example: '8tvxR5aVmM_1',
      },
      {
        name: 'phone',
        place: 'body',
        says: 'Phone number with its country code, such as +91-9876543210',
        example: '+91-9876543210',
      },
      {
        name: 'email',
        place: 'body',
        says: 'E-mail address',
        example: 'customer@example.org',
        isInExample: true,
      },
      {
        name: 'country',
        place: 'body',
        says: 'Country of the customer',
        example: 'IN',
      },
    ],
  },
  {
    name: 'customers.verificationLink',
    says: 'Makes a link to a page on which the customer logs in and is verified.',
    fields: [
      {
        name: 'customer',
        place: 'path',
        says: 'Id of the customer',
        required: true,
        example: '8tvxR5aVmM_1',
      },
      {
        name: 'redirectUrl',
        place: 'body',
        says: 'Page that the customer goes back to afterwards',
        example: 'https://wallet.example/back',
      },
    ],
  },
  {
    name: 'customers.accountLink',
    says: 'Makes a link to a page on which the customer logs in and adds a bank account, which is confirmed thereby.',
    fields: [
      {
        name: 'customer',
        place: 'path',
        says: 'Id of the customer',
        required: true,
        example: '8tvxR5aVmM_1',
      },
      {
        name: 'asset',
        place: 'body',
        says: 'Code of the asset',
        example: 'inr',
      },
      {
        name: 'redirectUrl',
        place: 'body',
        says: 'Page that the customer goes back to afterwards',
        example: 'https://wallet.example/back',
      },
    ],
  },
  {
    name: 'customers.limits',
    says: 'Shows the maximum of one order on each market, the use of the customer’s limits across orders, what a higher level allows and needs, and the remainder of the caps that your customers share.',
    fields: [
      {
        name: 'customer',
        place: 'path',
        says: 'Id of the customer',
        required: true,
        example: '8tvxR5aVmM_1',
      },
    ],
  },
  {
    name: 'requirements.get',
    says: 'Answers what bank accounts and verification need.',
    fields: [],
  },
  {
    name: 'informationRequests.open',
    says: 'Lists what the operator waits for you to answer about any customer, the most urgent first: at most 100.',
    fields: [],
  },
  {
    name: 'informationRequests.list',
    says: 'Lists what the operator has asked about a customer, the newest first.',
    fields: [
      {
        name: 'customer',
        place: 'path',
        says: 'Id of the customer',
        required: true,
        example: '8tvxR5aVmM_1',
      },
      {
        name: 'cursor',
        place: 'query',
        says: 'The page that begins after this: `nextCursor` of the page before',
        example: 'MTcwMA',
      },
      {
        name: 'limit',
        place: 'query',
        says: 'Most rows of the page',
        type: 'integer',
        example: '50',
      },
    ],
  },
  {
    name: 'informationRequests.answer',
    says: 'Answers what the operator has asked about a customer.',
    fields: [
      {
        name: 'customer',
        place: 'path',
        says: 'Id of the customer',
        required: true,
        example: '8tvxR5aVmM_1',
      },
      {
        name: 'request',
        place: 'path',
        says: 'Id of the question',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'answer',
        place: 'body',
        says: 'What the operator wants to know',
        required: true,
        example: 'The contract of sale is of 2 May.',
      },
    ],
  },
  {
    name: 'destinations.list',
    says: 'Lists the destinations of a customer, the oldest first.',
    fields: [
      {
        name: 'customer',
        place: 'path',
        says: 'Id of the customer',
        required: true,
        example: '8tvxR5aVmM_1',
      },
      {
        name: 'cursor',
        place: 'query',
        says: 'The page that begins after this: `nextCursor` of the page before',
        example: 'MTcwMA',
      },
      {
        name: 'limit',
        place: 'query',
        says: 'Most rows of the page',
        type: 'integer',
        example: '50',
      },
    ],
  },
  {
    name: 'destinations.create',
    says: 'Adds a bank account or an address to which a customer is paid.',
    fields: [
      {
        name: 'customer',
        place: 'path',
        says: 'Id of the customer',
        required: true,
        example: '8tvxR5aVmM_1',
      },
      {
        name: 'kind',
        place: 'body',
        says: 'A bank account, or an address on a chain',
        required: true,
        words: ['account', 'address'],
        example: 'account',
      },
      {
        name: 'asset',
        place: 'body',
        says: 'Code of the asset',
        example: 'inr',
        isInExample: true,
      },
      {
        name: 'accountNumber',
        place: 'body',
        says: 'Number of the account',
        example: '000111222333',
        isInExample: true,
      },
      {
        name: 'ifsc',
        place: 'body',
        says: 'Bank code of an Indian account',
        example: 'HDFC0000001',
        isInExample: true,
      },
      {
        name: 'iban',
        place: 'body',
        says: 'IBAN',
        example: 'DE89370400440532013000',
      },
      {
        name: 'bic',
        place: 'body',
        says: 'BIC of the bank',
        example: 'COBADEFFXXX',
      },
      {
        name: 'sortCode',
        place: 'body',
        says: 'Sort code of a British account',
        example: '200000',
      },
      {
        name: 'routingNumber',
        place: 'body',
        says: 'Routing number of an American account',
        example: '021000021',
      },
      {
        name: 'bankCode',
        place: 'body',
        says: 'Code of the bank, where the country has another',
        example: '001',
      },
      {
        name: 'bankName',
        place: 'body',
        says: 'Name of the bank',
        example: 'A Bank',
      },
      {
        name: 'accountHolder',
        place: 'body',
        says: 'Holder of the account',
        example: 'A Customer',
      },
      {
        name: 'chain',
        place: 'body',
        says: 'Code of the chain',
        example: 'matic20',
      },
      {
        name: 'address',
        place: 'body',
        says: 'Address on the chain',
        example: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
      },
    ],
  },
  {
    name: 'destinations.get',
    says: 'Answers one destination of a customer.',
    fields: [
      {
        name: 'customer',
        place: 'path',
        says: 'Id of the customer',
        required: true,
        example: '8tvxR5aVmM_1',
      },
      {
        name: 'destination',
        place: 'path',
        says: 'Id of the destination',
        required: true,
        example: '747983292881815',
      },
    ],
  },
  {
    name: 'destinations.confirmationLink',
    says: 'Makes a link to a page on which the customer logs in, sees the destination and confirms it with a code.',
    fields: [
      {
        name: 'customer',
        place: 'path',
        says: 'Id of the customer',
        required: true,
        example: '8tvxR5aVmM_1',
      },
      {
        name: 'destination',
        place: 'path',
        says: 'Id of the destination',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'redirectUrl',
        place: 'body',
        says: 'Page that the customer goes back to afterwards',
        example: 'https://wallet.example/back',
      },
    ],
  },
  {
    name: 'destinations.sendCode',
    says: 'Sends the customer a code to the phone, with which the destination is confirmed.',
    fields: [
      {
        name: 'customer',
        place: 'path',
        says: 'Id of the customer',
        required: true,
        example: '8tvxR5aVmM_1',
      },
      {
        name: 'destination',
        place: 'path',
        says: 'Id of the destination',
        required: true,
        example: '747983292881815',
      },
    ],
  },
  {
    name: 'destinations.confirm',
    says: 'Confirms a destination with the code that was sent to the customer.',
    fields: [
      {
        name: 'customer',
        place: 'path',
        says: 'Id of the customer',
        required: true,
        example: '8tvxR5aVmM_1',
      },
      {
        name: 'destination',
        place: 'path',
        says: 'Id of the destination',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'code',
        place: 'body',
        says: 'Code that was sent to the phone of the customer',
        required: true,
        example: '123456',
      },
    ],
  },
  {
    name: 'events.list',
    says: 'Lists your events, the oldest first, in an order that never changes.',
    fields: [
      {
        name: 'cursor',
        place: 'query',
        says: 'The page that begins after this: `nextCursor` of the page before',
        example: 'MTcwMA',
      },
      {
        name: 'limit',
        place: 'query',
        says: 'Most rows of the page',
        type: 'integer',
        example: '50',
      },
    ],
  },
  {
    name: 'webhooks.list',
    says: 'Lists webhook endpoints, the oldest first.',
    fields: [],
  },
  {
    name: 'webhooks.create',
    says: 'Adds a webhook endpoint, and answers its secret.',
    fields: [
      {
        name: 'url',
        place: 'body',
        says: 'Address that events are posted to',
        required: true,
        example: 'https://wallet.example/hooks',
      },
      {
        name: 'events',
        place: 'body',
        says: 'Types of events, such as order.settled or order.*; none: all',
        type: 'array',
        example: 'order.*',
      },
    ],
    givesSecret: true,
  },
  {
    name: 'webhooks.get',
    says: 'Answers one webhook endpoint.',
    fields: [
      {
        name: 'endpoint',
        place: 'path',
        says: 'Id of the webhook endpoint',
        required: true,
        example: 'whe_4pQ9aXbT7mK2vN8c',
      },
    ],
  },
  {
    name: 'webhooks.update',
    says: 'Changes a webhook endpoint.',
    fields: [
      {
        name: 'endpoint',
        place: 'path',
        says: 'Id of the webhook endpoint',
        required: true,
        example: 'whe_4pQ9aXbT7mK2vN8c',
      },
      {
        name: 'url',
        place: 'body',
        says: 'Address that events are posted to',
        example: 'https://wallet.example/hooks',
      },
      {
        name: 'events',
        place: 'body',
        says: 'Types of events, such as order.settled or order.*; none: all',
        type: 'array',
        example: 'order.*',
      },
      {
        name: 'enabled',
        place: 'body',
        says: 'Whether events are sent',
        type: 'boolean',
        example: 'true',
        isInExample: true,
      },
    ],
  },
  {
    name: 'webhooks.remove',
    says: 'Removes a webhook endpoint. What still waits for it is dropped.',
    fields: [
      {
        name: 'endpoint',
        place: 'path',
        says: 'Id of the webhook endpoint',
        required: true,
        example: 'whe_4pQ9aXbT7mK2vN8c',
      },
    ],
  },
  {
    name: 'webhooks.rotateSecret',
    says: 'Gives a webhook endpoint a new secret; the previous one signs as well for a while.',
    fields: [
      {
        name: 'endpoint',
        place: 'path',
        says: 'Id of the webhook endpoint',
        required: true,
        example: 'whe_4pQ9aXbT7mK2vN8c',
      },
      {
        name: 'overlapSeconds',
        place: 'body',
        says: 'For how many seconds the previous secret signs as well',
        type: 'integer',
        example: '86400',
      },
    ],
    givesSecret: true,
  },
  {
    name: 'webhooks.resume',
    says: 'Sends to a held webhook endpoint again, from the first event that it missed.',
    fields: [
      {
        name: 'endpoint',
        place: 'path',
        says: 'Id of the webhook endpoint',
        required: true,
        example: 'whe_4pQ9aXbT7mK2vN8c',
      },
    ],
  },
  {
    name: 'webhooks.test',
    says: 'Sends a test event to a webhook endpoint.',
    fields: [
      {
        name: 'endpoint',
        place: 'path',
        says: 'Id of the webhook endpoint',
        required: true,
        example: 'whe_4pQ9aXbT7mK2vN8c',
      },
    ],
  },
  {
    name: 'webhooks.replay',
    says: 'Sends events again: one, those of an order, or those of a span of time.',
    fields: [
      {
        name: 'endpoint',
        place: 'path',
        says: 'Id of the webhook endpoint',
        required: true,
        example: 'whe_4pQ9aXbT7mK2vN8c',
      },
      {
        name: 'eventId',
        place: 'body',
        says: 'Id of an event',
        example: 'evt_1_17',
        isInExample: true,
      },
      {
        name: 'orderId',
        place: 'body',
        says: 'Id of an order',
        example: '747983292881815',
      },
      {
        name: 'from',
        place: 'body',
        says: 'Only items of this time or later',
        example: '2026-11-01T00:00:00Z',
      },
      {
        name: 'until',
        place: 'body',
        says: 'Only items before this time',
        example: '2026-12-01T00:00:00Z',
      },
    ],
  },
  {
    name: 'webhooks.deliveries',
    says: 'Lists past and pending deliveries to an endpoint, newest first.',
    fields: [
      {
        name: 'endpoint',
        place: 'path',
        says: 'Id of the webhook endpoint',
        required: true,
        example: 'whe_4pQ9aXbT7mK2vN8c',
      },
      {
        name: 'state',
        place: 'query',
        says: 'Only those in this state',
        words: ['waiting', 'delivered', 'dead', 'dropped'],
        example: 'dead',
      },
      {
        name: 'cursor',
        place: 'query',
        says: 'The page that begins after this: `nextCursor` of the page before',
        example: 'MTcwMA',
      },
      {
        name: 'limit',
        place: 'query',
        says: 'Most rows of the page',
        type: 'integer',
        example: '50',
      },
    ],
  },
  {
    name: 'webhooks.attempts',
    says: 'Lists the attempts to deliver one event to an endpoint.',
    fields: [
      {
        name: 'endpoint',
        place: 'path',
        says: 'Id of the webhook endpoint',
        required: true,
        example: 'whe_4pQ9aXbT7mK2vN8c',
      },
      {
        name: 'event',
        place: 'path',
        says: 'Id of the event',
        required: true,
        example: 'evt_1_17',
      },
    ],
  },
  {
    name: 'key.get',
    says: 'Answers what the key that asks may do, and which version answers it.',
    fields: [],
  },
  {
    name: 'limits.get',
    says: 'Shows your limits: used and remaining amounts.',
    fields: [],
  },
  {
    name: 'requests.list',
    says: 'Lists your requests of the last 30 days, the newest first.',
    fields: [
      {
        name: 'operation',
        place: 'query',
        says: 'Only requests of this endpoint',
        example: 'orders.create',
      },
      {
        name: 'status',
        place: 'query',
        says: 'Only requests that were answered with this HTTP status',
        type: 'integer',
        example: '409',
      },
      {
        name: 'reason',
        place: 'query',
        says: 'Only requests that were declined for this reason',
        example: 'quote_over',
      },
      {
        name: 'from',
        place: 'query',
        says: 'Only items of this time or later',
        example: '2026-11-01T00:00:00Z',
      },
      {
        name: 'until',
        place: 'query',
        says: 'Only items before this time',
        example: '2026-12-01T00:00:00Z',
      },
      {
        name: 'cursor',
        place: 'query',
        says: 'The page that begins after this: `nextCursor` of the page before',
        example: 'MTcwMA',
      },
      {
        name: 'limit',
        place: 'query',
        says: 'Most rows of the page',
        type: 'integer',
        example: '50',
      },
    ],
  },
  {
    name: 'requests.get',
    says: 'Shows one of your requests of the last 30 days, with its reply and the reason.',
    fields: [
      {
        name: 'request',
        place: 'path',
        says: 'Id of the request, or what you sent as X-Client-Request-Id',
        required: true,
        example: '4f1c2a9d0e00001a',
      },
    ],
  },
  {
    name: 'requests.diagnose',
    says: 'Says why a request of your program is accepted or not: key, token, covered parts, digest, time and signature.',
    fields: [
      {
        name: 'method',
        place: 'body',
        says: 'Method of the request',
        required: true,
        words: ['GET', 'POST', 'PATCH', 'DELETE'],
        example: 'POST',
      },
      {
        name: 'path',
        place: 'body',
        says: 'Path and query',
        required: true,
        example: '/v1/orders',
      },
      {
        name: 'headers',
        place: 'body',
        says: 'Headers by name',
        example: '[object Object]',
      },
      {
        name: 'body',
        place: 'body',
        says: 'Body, exactly as it was sent',
        example: '{"quoteId":"7"}',
      },
    ],
  },
  {
    name: 'keys.list',
    says: 'Lists your API keys, the oldest first, without their secrets.',
    fields: [],
  },
  {
    name: 'keys.create',
    says: 'Creates an API key, and answers its secret.',
    fields: [
      {
        name: 'label',
        place: 'body',
        says: 'What the key is for',
        required: true,
        example: 'checkout server',
      },
      {
        name: 'scopes',
        place: 'body',
        says: 'What the key may do',
        required: true,
        type: 'array',
        example: 'read,trade',
      },
      {
        name: 'networks',
        place: 'body',
        says: 'Networks it may be used from; none: any',
        type: 'array',
        example: '203.0.113.0/24',
      },
      {
        name: 'expiresAt',
        place: 'body',
        says: 'When it ends by itself',
        example: '2027-01-31T00:00:00Z',
      },
    ],
    givesSecret: true,
  },
  {
    name: 'keys.update',
    says: 'Changes label, scopes or networks of an API key. It counts within three seconds.',
    fields: [
      {
        name: 'key',
        place: 'path',
        says: 'The key',
        required: true,
        example: 'clv_4pQ9aX',
      },
      {
        name: 'label',
        place: 'body',
        says: 'What the key is for',
        example: 'checkout server',
      },
      {
        name: 'scopes',
        place: 'body',
        says: 'What the key may do',
        type: 'array',
        example: 'read',
        isInExample: true,
      },
      {
        name: 'networks',
        place: 'body',
        says: 'Networks it may be used from; none: any',
        type: 'array',
        example: '203.0.113.0/24',
      },
    ],
  },
  {
    name: 'keys.rotate',
    says: 'Gives an API key a new secret; the previous one is valid for a while: a day, or as long as you say.',
    fields: [
      {
        name: 'key',
        place: 'path',
        says: 'The key',
        required: true,
        example: 'clv_4pQ9aX',
      },
      {
        name: 'overlapSeconds',
        place: 'body',
        says: 'For how many seconds the previous secret signs as well',
        type: 'integer',
        example: '86400',
      },
    ],
    givesSecret: true,
  },
  {
    name: 'keys.revoke',
    says: 'Revokes an API key for good. Once this is answered, nothing is changed with it any more.',
    fields: [
      {
        name: 'key',
        place: 'path',
        says: 'The key',
        required: true,
        example: 'clv_4pQ9aX',
      },
    ],
  },
  {
    name: 'team.list',
    says: 'Lists the people of your team, those removed last.',
    fields: [],
  },
  {
    name: 'team.invite',
    says: 'Invites a person to your team: the reply has a link that enrols one passkey within three days.',
    fields: [
      {
        name: 'name',
        place: 'body',
        says: 'Short name',
        required: true,
        example: 'ada',
      },
      {
        name: 'role',
        place: 'body',
        says: 'What the member may do',
        required: true,
        words: ['owner', 'developer', 'support', 'finance', 'viewer'],
        example: 'developer',
      },
    ],
  },
  {
    name: 'team.inviteAgain',
    says: 'Makes a new link for a member who has not joined yet. The earlier link ends.',
    fields: [
      {
        name: 'member',
        place: 'path',
        says: 'Number of the member',
        required: true,
        example: '7',
      },
    ],
  },
  {
    name: 'team.changeRole',
    says: 'Gives a member another role.',
    fields: [
      {
        name: 'member',
        place: 'path',
        says: 'Number of the member',
        required: true,
        example: '7',
      },
      {
        name: 'role',
        place: 'body',
        says: 'What the member may do',
        required: true,
        words: ['owner', 'developer', 'support', 'finance', 'viewer'],
        example: 'developer',
      },
    ],
  },
  {
    name: 'team.remove',
    says: 'Removes a member for good: passkeys, sessions and invitations end.',
    fields: [
      {
        name: 'member',
        place: 'path',
        says: 'Number of the member',
        required: true,
        example: '7',
      },
    ],
  },
  {
    name: 'team.signOut',
    says: 'Ends the sessions of a member; its passkeys stay.',
    fields: [
      {
        name: 'member',
        place: 'path',
        says: 'Number of the member',
        required: true,
        example: '7',
      },
    ],
  },
  {
    name: 'team.activity',
    says: 'Lists what your keys and your team have changed, the newest first.',
    fields: [
      {
        name: 'from',
        place: 'query',
        says: 'Only items of this time or later',
        example: '2026-11-01T00:00:00Z',
      },
      {
        name: 'until',
        place: 'query',
        says: 'Only items before this time',
        example: '2026-12-01T00:00:00Z',
      },
      {
        name: 'cursor',
        place: 'query',
        says: 'The page that begins after this: `nextCursor` of the page before',
        example: 'MTcwMA',
      },
      {
        name: 'limit',
        place: 'query',
        says: 'Most rows of the page',
        type: 'integer',
        example: '50',
      },
    ],
  },
  {
    name: 'settings.get',
    says: 'Answers how you appear to customers, and which pages may call with your keys.',
    fields: [],
  },
  {
    name: 'settings.update',
    says: 'Sets the origins whose pages may call with your keys, all of them at once.',
    fields: [
      {
        name: 'origins',
        place: 'body',
        says: 'Origins; none: no page',
        required: true,
        type: 'array',
        example: 'https://shop.example',
      },
    ],
  },
  {
    name: 'statement.get',
    says: 'Answers what your orders came to and what you earned, by day and market, the newest day first.',
    fields: [
      {
        name: 'from',
        place: 'query',
        says: 'Only items of this time or later',
        required: true,
        example: '2026-11-01T00:00:00Z',
      },
      {
        name: 'until',
        place: 'query',
        says: 'Only items before this time',
        required: true,
        example: '2026-12-01T00:00:00Z',
      },
    ],
  },
  {
    name: 'controls.pay',
    says: 'The customer pays an order, on its chain or by bank: as asked, or in one of the ways that customers get wrong.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'how',
        place: 'body',
        says: 'How it is paid; exactly, if nothing is said',
        words: ['exact', 'under', 'over', 'late', 'twice', 'another_token', 'another_chain'],
        example: 'under',
      },
      {
        name: 'amount',
        place: 'body',
        says: 'Instead of the amount asked for, in the same currency',
        example: '12.5',
      },
    ],
  },
  {
    name: 'controls.credit',
    says: 'Money comes to our bank for a purchase, as its payer wrote it.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'amount',
        place: 'body',
        says: 'Instead of the amount asked for, in the same currency',
        example: '12.5',
      },
      {
        name: 'payerReference',
        place: 'body',
        says: 'Reference of the transfer; right, if nothing is said',
        words: ['right', 'none', 'wrong'],
        example: 'none',
      },
      {
        name: 'payerName',
        place: 'body',
        says: 'Name of the payer; the customer’s, if nothing is said',
        words: ['right', 'wrong', 'none'],
        example: 'wrong',
      },
    ],
  },
  {
    name: 'controls.recall',
    says: 'The bank of the payer takes the last credit of an order back.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
    ],
  },
  {
    name: 'controls.bounce',
    says: 'A payout to an account is returned.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
    ],
  },
  {
    name: 'controls.screening',
    says: 'Screening holds an order, or does so no longer.',
    fields: [
      {
        name: 'order',
        place: 'path',
        says: 'Id of the order',
        required: true,
        example: '747983292881815',
      },
      {
        name: 'outcome',
        place: 'body',
        says: 'What screening finds',
        required: true,
        words: ['fail', 'pass'],
        example: 'fail',
      },
    ],
  },
  {
    name: 'controls.clock',
    says: 'Moves the test clock: everything of yours that is due within this time is due now.',
    fields: [
      {
        name: 'seconds',
        place: 'body',
        says: 'By how much, at most 30 days',
        required: true,
        type: 'integer',
        example: '900',
      },
    ],
  },
  {
    name: 'controls.webhooks',
    says: 'Webhooks of all partners of this sandbox are dropped on their way, or delivered again.',
    fields: [
      {
        name: 'deliveries',
        place: 'body',
        says: 'What becomes of them',
        required: true,
        words: ['drop', 'deliver'],
        example: 'drop',
      },
    ],
  },
  {
    name: 'controls.prices',
    says: 'Moves a price, for all partners of this sandbox; without one it is the table’s again.',
    fields: [
      {
        name: 'coin',
        place: 'body',
        says: 'Coin',
        required: true,
        example: 'usdc',
      },
      {
        name: 'fiat',
        place: 'body',
        says: 'Fiat',
        required: true,
        example: 'inr',
      },
      {
        name: 'price',
        place: 'body',
        says: 'Fiat for one coin',
        example: '91.5',
      },
    ],
  },
  {
    name: 'controls.treasury',
    says: 'Empties what payouts are made from, or fills it, for all partners of this sandbox.',
    fields: [
      {
        name: 'currency',
        place: 'body',
        says: 'A fiat, or a coin with its chain',
        required: true,
        example: 'inr',
      },
      {
        name: 'chain',
        place: 'body',
        says: 'Chain of a coin',
        example: 'matic20',
      },
      {
        name: 'level',
        place: 'body',
        says: 'The new value',
        required: true,
        words: ['dry', 'filled'],
        example: 'dry',
      },
    ],
  },
  {
    name: 'controls.bank',
    says: 'The bank gets the next payments wrong, for all partners of this sandbox.',
    fields: [
      {
        name: 'fault',
        place: 'body',
        says: 'The fault; none removes the remaining faults',
        required: true,
        words: [
          'none',
          'lose_request',
          'lose_answer',
          'delay_answer',
          'refuse',
          'return',
          'no_status',
          'statement_twice',
          'statement_reordered',
        ],
        example: 'lose_answer',
      },
      {
        name: 'times',
        place: 'body',
        says: 'How often; once, if nothing is said',
        type: 'integer',
        example: '1',
      },
    ],
  },
  {
    name: 'controls.reorg',
    says: 'A chain forgets its last blocks, for all partners of this sandbox.',
    fields: [
      {
        name: 'chain',
        place: 'body',
        says: 'Code of the chain',
        required: true,
        example: 'matic20',
      },
      {
        name: 'blocks',
        place: 'body',
        says: 'How many',
        required: true,
        type: 'integer',
        example: '2',
      },
    ],
  },
  {
    name: 'sandbox.pay',
    says: 'Sandbox: the customer pays an order, on its chain or by bank. The same Idempotency-Key pays once.',
    fields: [
      {
        name: 'transactionId',
        place: 'body',
        says: 'number of one of your orders',
        required: true,
        example: '123456789',
      },
      {
        name: 'how',
        place: 'body',
        says: '`exact` (if nothing is said), `under` (half), `over` (half more), `late` (after the deadline, which passes now), `twice`, `another_token` (on the same chain), `another_chain` (the same coin)',
        words: ['EXACT', 'UNDER', 'OVER', 'LATE', 'TWICE', 'ANOTHER_TOKEN', 'ANOTHER_CHAIN'],
        example: 'UNDER',
        isInExample: true,
      },
      {
        name: 'amount',
        place: 'body',
        says: 'instead of the amount asked for, in the same currency',
        example: '10',
      },
    ],
  },
  {
    name: 'sandbox.credit',
    says: 'Sandbox: money comes to our bank for an order, as its payer wrote it. The same Idempotency-Key pays once.',
    fields: [
      {
        name: 'transactionId',
        place: 'body',
        says: 'number of one of your orders, a purchase',
        required: true,
        example: '123456789',
      },
      {
        name: 'amount',
        place: 'body',
        says: 'instead of the amount asked for, in the same currency',
        example: '10',
      },
      {
        name: 'reference',
        place: 'body',
        says: '`right` (if nothing is said), `none`, `wrong` (one letter mistyped)',
        words: ['RIGHT', 'NONE', 'WRONG'],
        example: 'NONE',
        isInExample: true,
      },
      {
        name: 'name',
        place: 'body',
        says: "payer's name: `right` (the customer's, if nothing is said), `wrong`, `none`",
        words: ['RIGHT', 'WRONG', 'NONE'],
        example: 'WRONG',
        isInExample: true,
      },
    ],
  },
  {
    name: 'sandbox.recall',
    says: "Sandbox: the payer's bank takes a credit back.",
    fields: [
      {
        name: 'transactionId',
        place: 'body',
        says: 'number of one of your orders: its last credit',
        example: '123456789',
        isInExample: true,
      },
      {
        name: 'line',
        place: 'body',
        says: 'or the line that `credit` answered',
      },
    ],
  },
  {
    name: 'sandbox.bounce',
    says: 'Sandbox: what was paid to an account comes back, before or after it arrived.',
    fields: [
      {
        name: 'transactionId',
        place: 'body',
        says: 'number of one of your orders, with a payout or refund at the bank',
        required: true,
        example: '123456789',
      },
    ],
  },
  {
    name: 'sandbox.status',
    says: 'Sandbox: drives an order to a status by causing the facts that lead there; it runs on by itself.',
    fields: [
      {
        name: 'transactionId',
        place: 'body',
        says: 'number of one of your orders',
        required: true,
        example: '123456789',
      },
      {
        name: 'status',
        place: 'body',
        says: 'the number, as in webhooks',
        required: true,
        example: '-4',
      },
    ],
  },
  {
    name: 'sandbox.screening',
    says: 'Sandbox: screening holds the order as if its destination were denied, until a person releases it; or no longer.',
    fields: [
      {
        name: 'transactionId',
        place: 'body',
        says: 'number of one of your orders',
        required: true,
        example: '123456789',
      },
      {
        name: 'outcome',
        place: 'body',
        says: '`fail`, `pass`',
        required: true,
        words: ['FAIL', 'PASS'],
        example: 'FAIL',
      },
    ],
  },
  {
    name: 'sandbox.clock',
    says: 'Sandbox: your due times come nearer: deadlines, locked rates and quotes, waits, clearing, attempts of webhooks.',
    fields: [
      {
        name: 'advance',
        place: 'body',
        says: '`90s`, `15m`, `2h`, `3d`; at most 30 days',
        required: true,
        example: '3d',
      },
    ],
  },
  {
    name: 'sandbox.reorg',
    says: 'Sandbox: the newest blocks of a chain are replaced by empty ones; transfers of ours and of simulated customers are sent again.',
    fields: [
      {
        name: 'chain',
        place: 'body',
        says: '`matic20`, `erc20`, `bep20`, `arbitrum`, `base`, `optimism`, `trc20`',
        required: true,
        example: 'matic20',
      },
      {
        name: 'blocks',
        place: 'body',
        says: '1 to 12; more would be deeper than final and halt the chain',
        required: true,
        type: 'integer',
        example: '3',
      },
    ],
  },
  {
    name: 'sandbox.bank',
    says: "Sandbox: the bank's next calls go wrong.",
    fields: [
      {
        name: 'fault',
        place: 'body',
        says: '`lose_request` (nothing is paid), `lose_answer` (it is paid), `delay_answer`, `refuse`, `return` (paid, and comes back), `no_status`, `statement_twice`, `statement_reordered`; `none` ends what is left',
        required: true,
        words: [
          'NONE',
          'LOSE_REQUEST',
          'LOSE_ANSWER',
          'DELAY_ANSWER',
          'REFUSE',
          'RETURN',
          'NO_STATUS',
          'STATEMENT_TWICE',
          'STATEMENT_REORDERED',
        ],
        example: 'LOSE_ANSWER',
      },
      {
        name: 'times',
        place: 'body',
        says: 'how often; 1 if nothing is said',
        type: 'integer',
        example: '2',
        isInExample: true,
      },
      {
        name: 'delayMs',
        place: 'body',
        says: 'of `delay_answer`, in milliseconds: 8000 if nothing is said, which is longer than we wait',
        type: 'integer',
        example: '1',
      },
    ],
  },
  {
    name: 'sandbox.prices',
    says: 'Sandbox: the price of a coin is what you say, until you say otherwise or the server restarts.',
    fields: [
      {
        name: 'coin',
        place: 'body',
        says: '`usdc`',
        required: true,
        example: 'usdc',
      },
      {
        name: 'fiat',
        place: 'body',
        says: '`inr`',
        required: true,
        example: 'inr',
      },
      {
        name: 'price',
        place: 'body',
        says: "fiat for one coin; without it, the table's again",
        example: '91.5',
        isInExample: true,
      },
    ],
  },
  {
    name: 'sandbox.treasury',
    says: "Sandbox: the operator's money of a currency runs dry (it is set aside in the books), or is brought anew.",
    fields: [
      {
        name: 'currency',
        place: 'body',
        says: 'a fiat such as `inr`, or a coin with its `chain`',
        required: true,
        example: 'inr',
      },
      {
        name: 'state',
        place: 'body',
        says: '`dry`, `filled`',
        required: true,
        words: ['DRY', 'FILLED'],
        example: 'DRY',
      },
      {
        name: 'chain',
        place: 'body',
        says: 'of a coin',
        example: 'matic20',
      },
      {
        name: 'amount',
        place: 'body',
        says: 'how much is brought, in that currency; as much as at the beginning if nothing is said',
        example: '10',
      },
    ],
  },
  {
    name: 'sandbox.webhooks',
    says: 'Sandbox: deliveries fail as if every receiver were down, until you say otherwise or the server restarts.',
    fields: [
      {
        name: 'deliveries',
        place: 'body',
        says: '`drop`, `deliver`',
        required: true,
        words: ['DROP', 'DELIVER'],
        example: 'DROP',
      },
    ],
  },
];
