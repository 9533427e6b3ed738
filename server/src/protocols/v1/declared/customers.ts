/** Customers, and the destinations they are paid to. */
import { accountForms, isCountry } from '../../../customers/index.ts';
import { about, type Field, id, oneOf, optional, personal, text, time } from '../../declaration/fields.ts';
import { declare, PAGED } from '../declare.ts';
import {
  CodeSent,
  Customer,
  CustomerLimits,
  Destination,
  InformationRequest,
  Link,
  Requirements,
  VERIFICATION,
} from '../schemas/customers.ts';
import { listOf, pageOf } from '../schemas/parts.ts';
import { customerId } from './orders.ts';
import { assetCode } from './quotes.ts';

const customer = { customer: customerId };
const phone = personal(
  text(32, /^\+[0-9]{1,4}-?[0-9]{4,14}$/, 'a phone number with its country code, such as +91-9876543210'),
);
const email = personal(text(254, /^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'an e-mail address'));
const country: Field<string> = {
  ...about(text(2, /^[A-Z]{2}$/, 'a country of ISO 3166-1, two capital letters'), 'Country of the customer', 'IN'),
  read: (given) => (typeof given === 'string' && isCountry(given) ? given : undefined),
};
// Marked as personal, because it may contain a session of the customer.
const redirectUrl = personal(text(1_000, /^https?:\/\/[^\s]+$/, 'a web address'));

/** Parsed by the same rules as on our own pages. */
const formed = (form: keyof typeof accountForms, rule: string): Field<string> =>
  personal({
    ...text(64),
    rule,
    read(given) {
      const known = text(64).read(given);
      const read = known === undefined ? undefined : accountForms[form](known);
      return read === undefined || 'why' in read ? undefined : read.value;
    },
  });
const routing = formed('routing', 'a bank code of letters and digits');

export const KINDS = ['individual', 'business'] as const;

export const CUSTOMERS = {
  create: declare({
    name: 'customers.create',
    method: 'POST',
    path: '/customers',
    scope: 'customers',
    says: 'Adds a customer.',
    fields: {
      reference: personal(about(text(255), 'Your own id of the customer', 'customer-1')),
      kind: about(oneOf(KINDS), 'A person or a business', 'individual'),
      phone,
      email: optional(email),
      country: optional(country),
    },
    gives: Customer,
    status: 201,
    refuses: ['customer_exists'],
  }),
  get: declare({
    name: 'customers.get',
    method: 'GET',
    path: '/customers/:customer',
    scope: 'read',
    says: 'Returns one customer.',
    fields: customer,
    gives: Customer,
    refuses: ['unknown_customer'],
  }),
  list: declare({
    name: 'customers.list',
    method: 'GET',
    path: '/customers',
    scope: 'read',
    says: 'Lists your customers, newest first. With `reference`, only the customer with this reference.',
    fields: {
      reference: optional(personal(about(text(255), 'Only the customer with this reference', 'customer-1'))),
      verification: optional(about(oneOf(VERIFICATION), 'Only customers with this state of verification', 'verified')),
      from: optional(about(time, 'Only customers created at this time or later', '2026-11-01T00:00:00Z')),
      until: optional(about(time, 'Only customers created before this time', '2026-12-01T00:00:00Z')),
      ...PAGED,
    },
    gives: pageOf(Customer),
  }),
  update: declare({
    name: 'customers.update',
    method: 'PATCH',
    path: '/customers/:customer',
    scope: 'customers',
    says: 'Changes the phone number, e-mail address or country of a customer.',
    more: 'The country determines which verification form applies.',
    fields: { ...customer, phone: optional(phone), email: optional(email), country: optional(country) },
    gives: Customer,
    refuses: ['unknown_customer', 'customer_exists'],
    example: { customer: '8tvxR5aVmM_1', email: 'customer@example.org' },
  }),
  verificationLink: declare({
    name: 'customers.verificationLink',
    method: 'POST',
    path: '/customers/:customer/verification-link',
    scope: 'customers',
    says: 'Creates a link to a hosted page on which the customer logs in and is verified.',
    fields: { ...customer, redirectUrl: optional(redirectUrl) },
    gives: Link,
    status: 201,
    refuses: ['unknown_customer'],
  }),
  accountLink: declare({
    name: 'customers.accountLink',
    method: 'POST',
    path: '/customers/:customer/account-link',
    scope: 'customers',
    says: 'Creates a link to a hosted page on which the customer logs in and adds a bank account. Adding it there also confirms it.',
    fields: { ...customer, asset: optional(assetCode), redirectUrl: optional(redirectUrl) },
    gives: Link,
    status: 201,
    refuses: ['unknown_customer', 'unsupported_pair'],
  }),
  limits: declare({
    name: 'customers.limits',
    method: 'GET',
    path: '/customers/:customer/limits',
    scope: 'read',
    says: 'Returns the maximum of one order on each market, the used and remaining amounts of the customer’s limits across orders, what a higher level allows and requires, and what is left of the caps that your customers share.',
    more: 'An order counts towards `limits` with its value in the fiat for 24 hours or 30 days from its creation. An order that expires, is cancelled or is refunded no longer counts. Live quotes and unpaid orders count towards a cap with their value until they are paid or expire.',
    fields: customer,
    gives: CustomerLimits,
    refuses: ['unknown_customer'],
  }),
  requirements: declare({
    name: 'requirements.get',
    method: 'GET',
    path: '/requirements',
    scope: 'read',
    says: 'Returns the fields that bank accounts and verification require.',
    fields: {},
    gives: Requirements,
  }),
} as const;

export const INFORMATION = {
  open: declare({
    name: 'informationRequests.open',
    method: 'GET',
    path: '/information-requests',
    scope: 'customers',
    says: 'Lists the information requests of all customers that you have not answered yet, the most urgent first, at most 100.',
    fields: {},
    gives: listOf(InformationRequest),
  }),
  list: declare({
    name: 'informationRequests.list',
    method: 'GET',
    path: '/customers/:customer/information-requests',
    scope: 'customers',
    says: 'Lists the information requests of the operator about a customer, newest first.',
    more: 'Each new one is announced by the event `information.requested`.',
    fields: { ...customer, ...PAGED },
    gives: pageOf(InformationRequest),
    refuses: ['unknown_customer'],
  }),
  addFiles: declare({
    name: 'informationRequests.addFiles',
    method: 'POST',
    path: '/customers/:customer/information-requests/:request/files',
    scope: 'customers',
    files: true,
    says: 'Adds files to an open information request, as multipart/form-data. Send the answer afterwards.',
    more: 'Send JPEG, PNG, WEBP or PDF files of at most 5 MiB, each as a part with a file name (file names are not stored); at most 10 files for an information request.',
    fields: { ...customer, request: about(id, 'Id of the information request', '747983292881815') },
    gives: InformationRequest,
    refuses: ['unknown_customer', 'unknown_information_request', 'information_request_over'],
  }),
  answer: declare({
    name: 'informationRequests.answer',
    method: 'POST',
    path: '/customers/:customer/information-requests/:request/answer',
    scope: 'customers',
    says: 'Answers an information request of the operator about a customer.',
    more: 'Send files first, with `informationRequests.addFiles`. An information request takes one answer; if it is not sufficient, the operator opens a new request.',
    fields: {
      ...customer,
      request: about(id, 'Id of the information request', '747983292881815'),
      answer: personal(
        about(text(4_000), 'The answer to the operator’s question', 'The contract of sale is of 2 May.'),
      ),
    },
    gives: InformationRequest,
    refuses: ['unknown_customer', 'unknown_information_request', 'information_request_over'],
  }),
} as const;

const destination = { ...customer, destination: id };

export const DESTINATIONS = {
  create: declare({
    name: 'destinations.create',
    method: 'POST',
    path: '/customers/:customer/destinations',
    scope: 'customers',
    member: 'none',
    says: 'Adds a bank account or an address to which a customer can be paid.',
    more: 'No money is sent to it before the customer has confirmed it with a code or its cooling-off time has passed. Sending the same details again returns the same destination. An account takes `asset` and the fields that `requirements.get` lists for it; an address takes `chain` and `address`.',
    fields: {
      ...customer,
      kind: about(oneOf(['account', 'address'] as const), 'A bank account, or an address on a chain', 'account'),
      asset: optional(assetCode),
      accountNumber: optional(formed('account', 'an account number of 3 to 34 digits and letters')),
      ifsc: optional(formed('ifsc', 'four letters and seven digits or letters')),
      iban: optional(formed('iban', 'an IBAN with correct check digits')),
      bic: optional(routing),
      sortCode: optional(routing),
      routingNumber: optional(routing),
      bankCode: optional(routing),
      bankName: optional(personal(text(100))),
      accountHolder: optional(personal(text(100))),
      chain: optional(text(64, /^[a-z0-9_-]+$/, 'the code of a chain')),
      address: optional(text(128, /^[\x21-\x7e]+$/, 'an address on the chain')),
    },
    gives: Destination,
    status: 201,
    refuses: ['unknown_customer', 'login_required', 'customer_blocked'],
    example: {
      customer: '8tvxR5aVmM_1',
      kind: 'account',
      asset: 'inr',
      accountNumber: '000111222333',
      ifsc: 'HDFC0000001',
    },
  }),
  get: declare({
    name: 'destinations.get',
    method: 'GET',
    path: '/customers/:customer/destinations/:destination',
    scope: 'read',
    says: 'Returns one destination of a customer.',
    fields: destination,
    gives: Destination,
    refuses: ['unknown_customer', 'unknown_destination'],
  }),
  list: declare({
    name: 'destinations.list',
    method: 'GET',
    path: '/customers/:customer/destinations',
    scope: 'read',
    says: 'Lists the destinations of a customer, the oldest first.',
    fields: { ...customer, ...PAGED },
    gives: pageOf(Destination),
    refuses: ['unknown_customer'],
  }),
  confirmationLink: declare({
    name: 'destinations.confirmationLink',
    method: 'POST',
    path: '/customers/:customer/destinations/:destination/confirmation-link',
    scope: 'customers',
    says: 'Creates a link to a hosted page on which the customer logs in, sees the destination and confirms it with a code.',
    more: 'Use it instead of `destinations.sendCode` and `destinations.confirm` if your program should never handle the code. The page redirects to `redirectUrl` with `destinationId`.',
    fields: { ...destination, redirectUrl: optional(redirectUrl) },
    gives: Link,
    status: 201,
    refuses: ['unknown_customer', 'unknown_destination'],
  }),
  sendCode: declare({
    name: 'destinations.sendCode',
    method: 'POST',
    path: '/customers/:customer/destinations/:destination/code',
    scope: 'customers',
    member: 'none',
    says: 'Sends a code to the customer’s phone, with which the customer confirms the destination.',
    more: 'If you have changed the phone number, no code is sent to it before its cooling-off time has passed.',
    fields: destination,
    gives: CodeSent,
    refuses: ['unknown_customer', 'unknown_destination', 'destination_waits', 'login_required', 'customer_blocked'],
  }),
  confirm: declare({
    name: 'destinations.confirm',
    method: 'POST',
    path: '/customers/:customer/destinations/:destination/confirm',
    scope: 'customers',
    member: 'none',
    says: 'Confirms a destination with the code that was sent to the customer.',
    fields: { ...destination, code: personal(text(6, /^[0-9]{6}$/, 'six digits')) },
    gives: Destination,
    refuses: ['unknown_customer', 'unknown_destination', 'wrong_code', 'code_over', 'customer_blocked'],
  }),
} as const;
