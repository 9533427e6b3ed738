/** Names of fields on this wire: their meaning, described once (declaration/names.ts). */
import { meaningsOf, type Name, name } from '../declaration/names.ts';

const ID = '747983292881815';

export const NAMES: Readonly<Record<string, Name>> = {
  // Subjects
  quote: name('Id of the quote', ID),
  order: name('Id of the order', ID),
  customer: name('Id of the customer', '8tvxR5aVmM_1'),
  destination: name('Id of the destination', ID),
  endpoint: name('Id of the webhook endpoint', 'whe_4pQ9aXbT7mK2vN8c'),
  event: name('Id of the event', 'evt_1_17'),
  request: name('Id of the request, or what you sent as X-Client-Request-Id', '4f1c2a9d0e00001a'),

  // Quotes and orders
  payAsset: name('Code of the asset that the customer pays', 'usdc.matic20'),
  receiveAsset: name('Code of the asset that the customer receives', 'inr'),
  payAmount: name('Amount that the customer pays; either this or receiveAmount', '250.50'),
  receiveAmount: name('Amount that the customer receives, after all fees; either this or payAmount', '20000.00'),
  method: name('Payment method, as methods.list names it', 'IMPS'),
  quoteId: name('Quote that the order uses', ID),
  customerId: name('Id of the customer', '8tvxR5aVmM_1'),
  destinationId: name('Destination of the customer to which money is sent', ID),
  refundDestinationId: name('Destination of the customer for a refund, if one is necessary', ID),
  reference: name('Your own reference', 'order-17'),
  depositId: name('A deposit in suspense; without it, all money that the order holds', '42'),
  payerReference: name('Reference that the customer’s bank gave the transfer', 'UTR123456'),

  // Customers and destinations
  kind: name('Its kind', 'account'),
  phone: name('Phone number with its country code, such as +91-9876543210', '+91-9876543210'),
  email: name('E-mail address', 'customer@example.org'),
  redirectUrl: name('Page to which the customer is redirected afterwards', 'https://wallet.example/back'),
  asset: name('Code of the asset', 'inr'),
  chain: name('Code of the chain', 'matic20'),
  address: name('Address on the chain', '0x90F79bf6EB2c4f870365E785982E1f101E93b906'),
  accountNumber: name('Number of the account', '000111222333'),
  ifsc: name('Bank code of an Indian account', 'HDFC0000001'),
  iban: name('IBAN', 'DE89370400440532013000'),
  bic: name('BIC of the bank', 'COBADEFFXXX'),
  sortCode: name('Sort code of a British account', '200000'),
  routingNumber: name('Routing number of an American account', '021000021'),
  bankCode: name('National code of the bank, in countries with another kind of code', '001'),
  bankName: name('Name of the bank', 'A Bank'),
  accountHolder: name('Holder of the account', 'A Customer'),
  code: name('Code that was sent to the customer’s phone', '123456'),

  // Webhooks
  url: name('Address that events are posted to', 'https://wallet.example/hooks'),
  events: name('Event types, such as order.settled or order.*; an empty list means all', ['order.*']),
  enabled: name('Whether events are sent', true),
  overlapSeconds: name('For how many seconds the previous secret stays valid', 86_400),
  eventId: name('Id of an event', 'evt_1_17'),
  orderId: name('Id of an order', ID),

  // Lists
  state: name('Only items in this state', 'settled'),
  market: name('Only items of this market', '3'),
  from: name('Only items of this time or later', '2026-11-01T00:00:00Z'),
  until: name('Only items before this time', '2026-12-01T00:00:00Z'),
  cursor: name('`nextCursor` of the previous page; without it, the first page', 'MTcwMA'),
  limit: name('Maximum number of rows on the page', 50),
  operation: name('Only requests to this endpoint', 'orders.create'),
  status: name('Only requests that were answered with this HTTP status', 409),
  reason: name('Only requests that were declined for this reason', 'quote_over'),
};

export const MEANINGS = meaningsOf(NAMES);
