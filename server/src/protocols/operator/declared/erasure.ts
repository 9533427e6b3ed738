/** Personal data: its export, legal holds, and the erasure of a customer. */
import { Type } from 'typebox';
import { act, PROPOSES } from '../declare.ts';
import { done, maybe } from '../replies.ts';
import { customerId } from './forms.ts';

const at = (description: string) => maybe(Type.String({ description: `${description}: ISO 8601 in UTC` }));
const STATE = [
  {
    orderedAt: at('When the erasure was ordered'),
    erasedAt: at('Since when the erasure is complete'),
    backupsEndAt: at('When the last backup that holds the data and its key is deleted, by BACKUPS_KEPT_DAYS'),
    heldAt: at('Since when a legal hold is placed'),
  },
] as const;

export const ERASURES = {
  export: act({
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
  hold: act({
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
  lift: act({
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
  erase: act({
    name: 'customer.erase',
    path: '/customers/:customer/erase',
    says: 'Erases the personal data of a customer permanently. Orders, amounts and ids stay.',
    right: 'money',
    people: 'two',
    fields: { customer: customerId },
    refuses: ['unknown_customer', 'erasure_refused', ...PROPOSES],
    gives: done(STATE),
    command: { words: 'customer erase' },
  }),
};
