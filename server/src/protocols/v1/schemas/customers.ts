/** Customers, their destinations, limits and requirements. */
import { Type } from 'typebox';
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
        reason: rarely(word(['login_required', 'verification_required', 'customer_blocked'] as const, 'Why not')),
      },
      { ...closed, description: 'Whether the customer may trade' },
    ),
    country: text('Country, two letters', 'IN'),
    countryBy: maybe(
      word(
        ['phone', 'partner', 'form'] as const,
        'Where it is known from: the calling code of the phone, your program, or the customer’s answer; null: the default is used',
      ),
    ),
    createdAt: time('When the customer was created'),
    updatedAt: time('When the customer last changed'),
  },
  { ...closed, description: 'A customer of yours' },
);

export const Link = Type.Object(
  {
    url: text('Page where the customer continues: give the link to the customer only', 'https://ramp.example/kyc/…'),
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
    chain: rarely(text('Chain of the address; null of an account', 'matic20')),
    address: rarely(text('The address; null of an account', ADDRESS)),
    hint: text('Last characters of number or address, for people', '2333'),
    usable: yes('Whether money may leave to it'),
    usableAt: maybe(time('From when money may go to it without a code of the customer; null if it already may')),
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
export const Exposure = Type.Object(
  {
    asset: text('Code of the fiat', 'inr'),
    cap: maybe(decimal('Most that live quotes and unpaid orders may be worth together; null: no cap', '5000000')),
    used: decimal('Their present value', '12000'),
    left: maybe(decimal('Remainder of the cap', '4988000')),
    resetsAt: maybe(
      time(
        'When the last of them expires: by then all of it is left again, unless more is quoted; null where nothing is used',
      ),
    ),
  },
  { ...closed, description: 'Open quotes and unpaid orders at a fixed rate, in one fiat' },
);
const LimitUse = Type.Object(
  {
    ...LIMIT_SCOPE,
    ...LIMIT_AMOUNTS,
    freesAt: maybe(time('When the oldest order that counts no longer does; null where none counts')),
    resetsAt: maybe(time('When all of it is left again, unless more is ordered; null where none counts')),
  },
  closed,
);
const NextLevel = Type.Object(
  {
    level: whole('The lowest level at which the customer may do more', 2),
    limits: list(
      Type.Object({ ...LIMIT_SCOPE, max: maybe(decimal('The most; null: no limit', '500000')) }, closed),
      'Limits that are larger there, or gone',
    ),
    needs: list(
      Type.Object(
        {
          asset: text('Fiat whose form is meant', 'inr'),
          fields: list(text('Field of the form', 'sourceOfFunds'), 'Fields without an answer that is accepted'),
          documents: list(text('File of the form', 'passport-front.jpg'), 'Files that were not sent yet'),
        },
        closed,
      ),
      'Missing fields of the form, by fiat',
    ),
  },
  { ...closed, description: 'A higher level, and its requirements' },
);
export const CustomerLimits = Type.Object(
  {
    customerId: text('Id of the customer', '8tvxR5aVmM_1'),
    level: whole('Level of verification', 1),
    per: Type.Literal('order', { description: 'What `min` and `max` are counted by', examples: ['order'] }),
    markets: list(Type.Object(limitsOf, closed), 'Of each market, at this level'),
    limits: list(LimitUse, 'Across all orders of the customer; empty where nothing is limited so'),
    next: maybe(NextLevel),
    shared: list(Exposure, 'Your caps, which the orders of all your customers share; empty without one'),
  },
  { ...closed, description: 'What a customer may pay' },
);
export const Limits = Type.Object(
  {
    requestsPerMinute: whole('Requests a minute of one key', 6000),
    exposure: list(Exposure, 'Of each fiat'),
  },
  { ...closed, description: 'Your limits: used and remaining amounts' },
);

export const InformationRequest = Type.Object(
  {
    id: id('Id of the question'),
    customerId: text('Id of the customer', '8tvxR5aVmM_1'),
    submissionId: maybe(id('Submission that was the newest when it was asked')),
    state: word(['open', 'answered', 'withdrawn'] as const, 'Whether an answer is awaited'),
    question: text('What the operator wants to know', 'From which sale of a house is the deposit?'),
    answer: maybe(text('What you answered', 'The contract of sale is of 2 May.')),
    files: list(
      Type.Object(
        {
          type: text('What it is, by its content', 'application/pdf'),
          bytes: whole('Its size', 183_204),
          sentAt: time('When it was sent'),
        },
        closed,
      ),
      'Files that you have sent for the answer',
    ),
    dueAt: time('By when the operator wants an answer'),
    askedAt: time('When it was asked'),
    endedAt: maybe(time('When it was answered or withdrawn')),
  },
  { ...closed, description: 'What the operator asks about a customer' },
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
