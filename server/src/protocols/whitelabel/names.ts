/**
 * Names of fields on this wire. A name has the same meaning everywhere, so it is described once; an endpoint describes it
 * only if it differs (`Field.says`).
 */
export interface Name {
  readonly says: string;
  readonly example: string | boolean | readonly string[];
}

const name = (says: string, example: Name['example']): Name => ({ says, example });

export const NAMES: Readonly<Record<string, Name>> = {
  // Customers
  customerId: name('Our id of the customer, as kyc/url answered it', '8tvxR5aVmMEQ'),
  clientCustomerId: name('Your own id of the customer; answered in the type it was sent in', 'customer-1'),
  phoneNumber: name('Phone number of the customer, with its country code: one phone is one customer', '+91-9876543210'),
  email: name('E-mail address of the customer', 'customer@example.org'),
  kycRedirectUrl: name('Page the customer goes back to afterwards', 'https://wallet.example/back'),
  redirectUrl: name('Page the customer goes back to afterwards', 'https://wallet.example/back'),
  closeAfterLogin: name('The page ends with the login, and asks for no details', true),
  countryCode: name(
    'Country, two letters, instead of fiatType: stands for the fiat of that country. Where both are sent, they must agree',
    'IN',
  ),
  submissionId: name('A submission of a business', '1'),

  // Accounts
  fiatAccountId: name('Number of an account, as bank/addFiatAccount answered it', '747983292881815'),
  fiatAccount: name('Account number', '123456789012'),
  ifsc: name('Bank code of an Indian account', 'HDFC0000001'),
  iban: name('IBAN, instead of a number', 'DE89370400440532013000'),
  swift: name('BIC of the bank', 'COBADEFFXXX'),
  sortCode: name('Sort code of a British account', '200000'),
  routingNumber: name('Routing number of an American account', '021000021'),
  bankCode: name('Code of the bank, where the country has another', '001'),
  bankName: name('Name of the bank', 'A Bank'),
  accountHolder: name('Holder of the account', 'A Customer'),
  fiatType: name('Fiat: its code or its number', 'INR'),

  // Trading
  fromCurrency: name('Currency given: a coin when selling, a fiat when buying', 'USDC'),
  toCurrency: name('Currency received: a fiat when selling, a coin when buying', 'INR'),
  fromAmount: name('Amount given, in fromCurrency', '10'),
  toAmount: name(
    'Amount received that the quote promised, in toCurrency; where the price has moved, the request is declined',
    '849.24',
  ),
  rate: name('Rate that the quote promised: fiat for one coin', '86.41'),
  chain: name('Chain of the coin', 'matic20'),
  transactionId: name('Number of a transaction', '747983292881815'),
  orderId: name('Number of a transaction', '747983292881815'),
  merchantRecognitionId: name('Your own reference for the transaction', 'order-17'),
  refundAddress: name(
    'Address that coins go back to, should they have to',
    '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  ),
  depositAddress: name('Address of the customer that is paid', '0x90F79bf6EB2c4f870365E785982E1f101E93b906'),
  walletAddress: name('Address of the customer that is paid', '0x90F79bf6EB2c4f870365E785982E1f101E93b906'),
  address: name('Address that money goes to', '0x90F79bf6EB2c4f870365E785982E1f101E93b906'),
  paymentMethodType: name('Payment method, as fetchPaymentMethodType names it', 'IMPS'),
  paymentMethod: name('Payment method: its name, or 1 for an instant one and 2 for a bank transfer', 'IMPS'),
  referenceId: name('Reference that the customer’s bank gave the transfer', 'N123456789'),
  coinCode: name('Code of the coin', 'usdc'),
  coinId: name('Number of the coin, instead of coinCode', '116'),
  network: name('Chain of the coin', 'matic20'),
  chainId: name('Number of the chain, instead of network', '3'),
  quantity: name('Amount of the coin', '10'),
  fiatAmount: name('Amount of the fiat', '1000'),
  flowType: name('1: buying. 2: selling', '1'),

  // The sandbox's controls describe their own.
  coin: name('Code of the coin', 'usdc'),
  fiat: name('Code of the fiat', 'inr'),
  currency: name('Code of the fiat or the coin', 'inr'),
  amount: name('An amount', '10'),

  // Lists
  page: name('Page, from 1', '1'),
  pageSize: name('Rows of a page', '50'),
  since: name('Only what was created at or after this time', '2026-05-08'),
  order: name('ASC: oldest first. DESC: newest first', 'ASC'),
  after: name('Cursor of the last event that was read', '0'),
  before: name('Cursor of the last row that was read', '100'),
  limit: name('Rows at most', '100'),

  // Webhooks
  webhookUrl: name('Address that events are posted to', 'https://wallet.example/hooks'),
  url: name('Address that events are posted to', 'https://wallet.example/hooks'),
  format: name('Form of the body: see the page on webhooks', 'whitelabel'),
  payloadForm: name('What the payload header holds: the exact body in base64, or the body wrapped with a time', 'body'),
  events: name('Types of events; none: all', ['order.*']),
  enabled: name('Whether events are sent', true),
  apiKey: name('The key that signs this request: it signs the webhooks from now on', 'key'),
  overlapSeconds: name('How long the old secret signs as well', '3600'),
  eventId: name('Id of an event', 'evt_1_17'),
  from: name('First moment', '2026-05-08'),
  to: name('Last moment', '2026-05-09'),
};
