/** Personal data: its export, legal holds, and the erasure of a customer. */
import { Type } from 'typebox';
import { declareAction, declareRead, PROPOSES } from '../declare.ts';
import { done, maybe, thing } from '../replies.ts';
import { customerId } from './forms.ts';

const at = (description: string) => maybe(Type.String({ description: `${description}: ISO 8601 in UTC` }));
const STATE = [
  {
    orderedAt: at('When the erasure was ordered'),
    erasedAt: at('Since when the erasure is complete'),
    backupsEndAt: at('When the last backup that holds the data and its key is deleted, by BACKUPS_KEPT_DAYS'),
    heldAt: at('Since when a legal hold is placed'),
    askedAt: at('Since when an erasure waits until nothing prevents it'),
  },
] as const;

const STATEMENT = Type.Object(
  {
    customerId: Type.String({ description: 'Id of the customer' }),
    orderedAt: Type.String({ description: 'When the erasure was ordered: ISO 8601 in UTC' }),
    orderedBy: Type.String({ description: 'Who ordered it' }),
    erasedAt: at('Since when it is complete'),
    backupsEndAt: at('When the last backup that holds the data and its key is deleted, by BACKUPS_KEPT_DAYS'),
    erased: Type.Array(
      Type.Object({
        kind: Type.String({ description: 'Kind of rows' }),
        count: Type.Integer({ description: 'Number of rows that were emptied or deleted' }),
      }),
      { description: 'What was erased' },
    ),
    remains: Type.Array(
      Type.Object({
        kind: Type.String({ description: 'Kind of rows' }),
        count: maybe(Type.Integer({ description: 'Number of rows now; null: not counted' })),
        personal: Type.Boolean({ description: 'Whether it still has names, numbers or texts of the customer' }),
        why: Type.String({ description: 'Why it remains' }),
        until: at('Until when it is kept; null: without an end'),
      }),
      { description: 'What remains, and why' },
    ),
  },
  { description: 'What was erased, and what remains; without personal data' },
);

const REQUEST = Type.Object(
  {
    id: Type.String({ description: 'Number of the request' }),
    customerId: Type.String({ description: 'Id of the customer' }),
    askedAt: Type.String({ description: 'When it was asked for: ISO 8601 in UTC' }),
    people: Type.Array(Type.String(), { description: 'Who asked for it' }),
    lookedAt: at('When the server looked last whether it can be erased'),
    waitsFor: maybe(Type.String({ description: 'What prevented it then' })),
  },
  { description: 'A request that waits until nothing prevents the erasure' },
);

export const ERASURES = {
  statement: declareRead({
    path: '/customers/:customer/erasure',
    says: 'Returns the proof of an erasure: how many rows of each kind were erased, and what remains, why and until when, as counted now. Also a request that waits, with what prevents it.',
    fields: { customer: customerId },
    gives: thing([{ statement: maybe(STATEMENT), request: maybe(REQUEST) }]),
    refuses: ['unknown_customer'],
    command: { words: 'customer erasure' },
  }),
  export: declareAction({
    name: 'customer.export',
    path: '/customers/:customer/export',
    says: 'Exports all data about a customer, decrypted, with the content of files. Hits in sanctions lists are left out.',
    right: 'personal',
    people: 'one',
    fields: { customer: customerId },
    refuses: ['unknown_customer'],
    gives: done(STATE, [
      {
        export: Type.Object(
          {},
          { description: 'The data of the customer; it is personal', additionalProperties: true },
        ),
      },
      {
        files: Type.Array(Type.Unknown(), {
          description: 'Files with id, type, and content in base64; they are personal',
        }),
      },
    ]),
    command: { words: 'customer export' },
  }),
  hold: declareAction({
    name: 'customer.legal_hold',
    path: '/customers/:customer/legal-hold',
    says: 'Places a legal hold: the customer cannot be erased until it is lifted.',
    right: 'reviews',
    people: 'one',
    fields: { customer: customerId },
    refuses: ['unknown_customer', 'erasure_refused'],
    gives: done(STATE),
    command: { words: 'customer legal-hold' },
  }),
  lift: declareAction({
    name: 'customer.lift_legal_hold',
    path: '/customers/:customer/lift-legal-hold',
    says: 'Lifts a legal hold.',
    right: 'money',
    people: 'two',
    fields: { customer: customerId },
    refuses: ['unknown_customer', ...PROPOSES],
    gives: done(STATE),
    command: { words: 'customer lift-legal-hold' },
  }),
  erase: declareAction({
    name: 'customer.erase',
    path: '/customers/:customer/erase',
    says: 'Erases the personal data of a customer permanently. Orders, amounts and ids stay.',
    right: 'money',
    people: 'two',
    fields: { customer: customerId },
    refuses: ['unknown_customer', 'erasure_refused', ...PROPOSES],
    gives: done(STATE, [{ statement: STATEMENT }]),
    command: { words: 'customer erase' },
  }),
  request: declareAction({
    name: 'customer.request_erasure',
    path: '/customers/:customer/request-erasure',
    says: 'Asks for an erasure that something prevents now. The server erases the customer within an hour after the retention time has ended, no legal hold is placed, and nothing else prevents it.',
    right: 'money',
    people: 'two',
    fields: { customer: customerId },
    refuses: ['unknown_customer', 'erasure_refused', ...PROPOSES],
    gives: done(STATE),
    command: { words: 'customer request-erasure' },
  }),
  withdraw: declareAction({
    name: 'customer.withdraw_erasure',
    path: '/customers/:customer/withdraw-erasure',
    says: 'Withdraws a request for erasure that waits.',
    right: 'reviews',
    people: 'one',
    fields: { customer: customerId },
    refuses: ['unknown_customer', 'erasure_refused'],
    gives: done(STATE),
    command: { words: 'customer withdraw-erasure' },
  }),
};
