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
  customerId: name('Our id of the customer, as kyc/url returned it', '8tvxR5aVmMEQ'),
  clientCustomerId: name('Your own id of the customer; returned in the type in which it was sent', 'customer-1'),
  phoneNumber: name(
    'Phone number of the customer, with its country code. A phone number identifies one customer',
    '+91-9876543210',
  ),
  email: name('E-mail address of the customer', 'customer@example.org'),
  kycRedirectUrl: name('Page to which the customer returns afterwards', 'https://wallet.example/back'),
  redirectUrl: name('Page to which the customer returns afterwards', 'https://wallet.example/back'),
  closeAfterLogin: name('Whether the page ends after the login, without asking for details', true),
  countryCode: name(
    'Country, two letters, instead of fiatType: selects the fiat of that country. If both are sent, they must agree',
    'IN',
  ),
  submissionId: name('A submission of a business', '1'),

  // Accounts
  fiatAccountId: name('Number of an account, as bank/addFiatAccount returned it', '747983292881815'),
  fiatAccount: name('Account number', '123456789012'),
  ifsc: name('Bank code of an Indian account', 'HDFC0000001'),
  iban: name('IBAN, instead of an account number', 'DE89370400440532013000'),
  swift: name('BIC of the bank', 'COBADEFFXXX'),
  sortCode: name('Sort code of a British account', '200000'),
  routingNumber: name('Routing number of an American account', '021000021'),
  bankCode: name('Code of the bank, in countries with another kind of bank code', '001'),
  bankName: name('Name of the bank', 'A Bank'),
  accountHolder: name('Holder of the account', 'A Customer'),
  fiatType: name('Fiat: its code or its number', 'INR'),

  // Trading
  fromCurrency: name('Currency given: a coin when selling, a fiat when buying', 'USDC'),
  toCurrency: name('Currency received: a fiat when selling, a coin when buying', 'INR'),
  fromAmount: name('Amount given, in fromCurrency', '10'),
  toAmount: name(
    'Amount received according to the quote, in toCurrency; if the price has changed, the request is declined',
    '849.24',
  ),
  rate: name('Rate of the quote: fiat for one coin', '86.41'),
  chain: name('Chain of the coin', 'matic20'),
  transactionId: name('Number of a transaction', '747983292881815'),
  orderId: name('Number of a transaction', '747983292881815'),
  merchantRecognitionId: name('Your own reference for the transaction', 'order-17'),
  refundAddress: name(
    'Address to which coins are refunded, if necessary',
    '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  ),
  depositAddress: name(
    'Address of the customer to which the coins are paid',
    '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  ),
  walletAddress: name(
    'Address of the customer to which the coins are paid',
    '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  ),
  address: name('Address to which money is sent', '0x90F79bf6EB2c4f870365E785982E1f101E93b906'),
  paymentMethodType: name('Payment method, as fetchPaymentMethodType names it', 'IMPS'),
  paymentMethod: name('Payment method: its name, or 1 for an instant method and 2 for a bank transfer', 'IMPS'),
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
  pageSize: name('Rows per page', '50'),
  since: name('Only what was created at or after this time', '2026-05-08'),
  order: name('ASC: oldest first. DESC: newest first', 'ASC'),
  after: name('Cursor of the last event that was read', '0'),
  before: name('Cursor of the last row that was read', '100'),
  limit: name('Maximum number of rows', '100'),

  // Webhooks
  webhookUrl: name('Address that events are posted to', 'https://wallet.example/hooks'),
  url: name('Address that events are posted to', 'https://wallet.example/hooks'),
  format: name('Format of the body: see the page on webhooks', 'whitelabel'),
  payloadForm: name(
    'Content of the payload header: the exact body in base64, or an object of the body and a time',
    'body',
  ),
  events: name('Types of events; all if the list is empty', ['order.*']),
  enabled: name('Whether events are sent', true),
  apiKey: name('The key that signs this request; webhooks are signed with it from now on', 'key'),
  overlapSeconds: name('How long webhooks are also signed with the old secret', '3600'),
  eventId: name('Id of an event', 'evt_1_17'),
  from: name('Start of the period', '2026-05-08'),
  to: name('End of the period', '2026-05-09'),
};
