/** Customers, their destinations, limits and requirements. */
import { Type } from 'typebox';
import { COUNTRY_SOURCES, VERIFICATION_REASONS, type VerificationReason } from '../../../customers/index.ts';
import {
  ADDRESS,
  closed,
  decimal,
  id,
  LIMIT_AMOUNTS,
  LIMIT_SCOPE,
  list,
  maybe,
  rarely,
  text,
  time,
  whole,
  word,
  yes,
} from './parts.ts';

const REASONS = Object.keys(VERIFICATION_REASONS) as VerificationReason[];
export const VERIFICATION = ['none', 'in_review', 'verified', 'failed', 'refused'] as const;
const MayTrade = Type.Object(
  {
    allowed: yes('Whether orders may be created for the customer'),
    reason: rarely(word(['login_required', 'verification_required', 'customer_blocked'] as const, 'Reason why not')),
  },
  { ...closed, description: 'Whether the customer may trade' },
);
export const Customer = Type.Object(
  {
    id: text('Id of the customer', '8tvxR5aVmM_1'),
    reference: maybe(text('Your own id of the customer', 'customer-1')),
    kind: word(['individual', 'business'] as const, 'A person or a business'),
    level: whole('Level of verification, 0 to 5', 1),
    verification: word(VERIFICATION, 'State of the verification'),
    verificationReason: rarely(
      Type.Object(
        {
          code: word(REASONS, 'Reason why it failed or was refused'),
          means: text('Meaning of the code', 'a document cannot be read'),
          remedy: text(
            'What to do about it',
            'Let the customer try again, with pictures that are complete, sharp and well lit.',
          ),
        },
        { ...closed, description: 'Why the verification failed or was refused' },
      ),
    ),
    hasLoggedIn: yes('Whether the customer has proved the phone number'),
    mayTrade: MayTrade,
    country: text('Country, two letters. Without a source it is the default, and nothing is decided by it', 'IN'),
    countryBy: maybe(
      word(
        COUNTRY_SOURCES,
        'Source of the country: the number of the phone, the country that issued the accepted document, your program, or the customer’s answer; null if the country is unknown',
      ),
    ),
    createdAt: time('When the customer was created'),
    updatedAt: time('When the customer last changed'),
  },
  { ...closed, description: 'A customer of yours' },
);

export const Link = Type.Object(
  {
    url: text(
      'Address of the page on which the customer continues. Give it to the customer only',
      'https://ramp.example/kyc/…',
    ),
    expiresAt: time('Until when the link is valid'),
  },
  { ...closed, description: 'A link to a hosted page' },
);

export const Destination = Type.Object(
  {
    id: id('Id of the destination'),
    customerId: text('Id of the customer', '8tvxR5aVmM_1'),
    kind: word(['account', 'address'] as const, 'A bank account, or an address on a chain'),
    asset: maybe(text('Currency of the account; null for an address', 'inr')),
    chain: rarely(text('Chain of the address; null for an account', 'matic20')),
    address: rarely(text('The address; null for an account', ADDRESS)),
    hint: text('Last characters of the account number or address, for display', '2333'),
    holderMatch: maybe(
      word(
        ['same', 'other', 'unknown'] as const,
        'Whether the holder of the account, as you named it, is the customer by name; `unknown` if the customer’s name is not known, null for an address and for an account without a holder',
      ),
    ),
    usable: yes('Whether money may be sent to it'),
    usableAt: maybe(
      time('From when money may be sent to it without a confirmation by the customer; null if it already may'),
    ),
    confirmedAt: maybe(time('When the customer confirmed it, with a code or on a hosted page')),
    createdAt: time('When it was added'),
  },
  { ...closed, description: 'A destination to which a customer is paid' },
);

export const CodeSent = Type.Object(
  { sentAt: time('When the code was sent to the customer’s phone'), expiresAt: time('Until when it is valid') },
  { ...closed, description: 'A code was sent' },
);

const limitsOf = {
  market: id('Id of the market', '3'),
  asset: text('Asset of the amounts: what the customer pays', 'usdc.matic20'),
  min: decimal('Minimum amount of one order', '10'),
  max: decimal('Maximum amount of one order', '10000'),
};
export const Exposure = Type.Object(
  {
    asset: text('Code of the fiat', 'inr'),
    cap: maybe(decimal('Maximum total value of live quotes and unpaid orders; null: no cap', '5000000')),
    used: decimal('Their present total value', '12000'),
    left: maybe(decimal('Remainder of the cap', '4988000')),
    resetsAt: maybe(
      time(
        'When the last of them expires and the whole cap is available again, unless you create more quotes; null if nothing is used, or if an order waits for its deposit to be confirmed',
      ),
    ),
  },
  { ...closed, description: 'Open quotes and unpaid orders at a fixed rate, in one fiat' },
);
const LimitUse = Type.Object(
  {
    ...LIMIT_SCOPE,
    ...LIMIT_AMOUNTS,
    freesAt: maybe(time('When the oldest counted order stops counting; null if no order counts')),
    resetsAt: maybe(
      time('When the whole limit is available again, unless more orders are created; null if no order counts'),
    ),
  },
  closed,
);
const NextLevel = Type.Object(
  {
    level: whole('The lowest level with higher limits; for a customer who may not trade yet, the lowest that may', 2),
    limits: list(
      Type.Object({ ...LIMIT_SCOPE, max: maybe(decimal('The maximum; null: no limit', '500000')) }, closed),
      'Limits that are higher at that level, or do not exist there; for a customer who may not trade yet, all limits there',
    ),
    needs: list(
      Type.Object(
        {
          asset: text('Fiat that selects the form', 'inr'),
          fields: list(
            text('Field of the form', 'sourceOfFunds'),
            'Fields that a submission for this level still needs',
          ),
          documents: list(text('File of the form', 'passportFront.jpg'), 'Files that it still needs'),
        },
        closed,
      ),
      'What is missing, by fiat: of the submission under way, or without one all that the form requires. A submission starts empty, because the verifier checks its answers and files together',
    ),
  },
  { ...closed, description: 'A higher level, and its requirements' },
);
export const CustomerLimits = Type.Object(
  {
    customerId: text('Id of the customer', '8tvxR5aVmM_1'),
    level: whole('Level of verification', 1),
    mayTrade: MayTrade,
    per: Type.Literal('order', { description: 'What `min` and `max` apply to', examples: ['order'] }),
    markets: list(
      Type.Object(limitsOf, closed),
      'Limits of one order on each market, at this level; without effect until `mayTrade.allowed`',
    ),
    limits: list(
      LimitUse,
      'Limits across all orders of the customer; empty if there are none. Without effect until `mayTrade.allowed`',
    ),
    next: maybe(NextLevel),
    shared: list(Exposure, 'Your caps, which all your customers share; empty if there are none'),
  },
  { ...closed, description: 'The limits of a customer' },
);
export const Limits = Type.Object(
  {
    requestsPerMinute: whole('Requests per minute of one key', 6000),
    exposure: list(Exposure, 'The cap of each fiat'),
  },
  { ...closed, description: 'Your limits: used and remaining amounts' },
);

export const InformationRequest = Type.Object(
  {
    id: id('Id of the information request'),
    customerId: text('Id of the customer', '8tvxR5aVmM_1'),
    submissionId: maybe(id('The newest submission of the customer at the time of the request')),
    state: word(['open', 'answered', 'withdrawn'] as const, 'State of the request'),
    question: text('The question of the operator', 'From which sale of a house is the deposit?'),
    answer: maybe(text('Your answer', 'The contract of sale is of 2 May.')),
    files: list(
      Type.Object(
        {
          type: text('Media type, detected from the content', 'application/pdf'),
          bytes: whole('Size in bytes', 183_204),
          sentAt: time('When it was sent'),
        },
        closed,
      ),
      'Files that you have sent with the answer',
    ),
    dueAt: time('By when the operator wants an answer'),
    askedAt: time('When it was asked'),
    endedAt: maybe(time('When it was answered or withdrawn')),
  },
  { ...closed, description: 'An information request of the operator about a customer' },
);

export const Requirements = Type.Object(
  {
    accounts: list(
      Type.Object(
        {
          asset: text('Code of the fiat', 'inr'),
          fields: list(
            text('Field of `destinations.create`', 'ifsc'),
            'Fields that an account in this currency requires',
          ),
        },
        closed,
      ),
      'Required fields of a bank account, by currency',
    ),
    verification: list(
      Type.Object(
        {
          field: text('Name of the field', 'firstName'),
          label: text('Label of the field, for display', 'First Name'),
          required: yes('Whether it is required'),
          pattern: maybe(text('Regular expression that it must match', '^[a-zA-Z]+$')),
        },
        closed,
      ),
      'Fields that a person fills in on the hosted page to be verified',
    ),
    documents: list(text('Kind of document', 'Passport'), 'Documents that the hosted page accepts'),
  },
  { ...closed, description: 'Requirements of bank accounts and verification' },
);
