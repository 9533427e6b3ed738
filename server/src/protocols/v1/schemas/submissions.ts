/** Submissions of customers, and the forms they fill in. */
import { Type } from 'typebox';
import { FIELD_REASONS, FIELD_TYPES } from '../../../customers/index.ts';
import { closed, id, list, maybe, rarely, text, time, whole, word, yes } from './parts.ts';

const KINDS = ['individual', 'business'] as const;

export const CustomerRequirements = Type.Object(
  {
    customerId: text('Id of the customer', '8tvxR5aVmM_1'),
    kind: word(KINDS, 'A person or a business'),
    asset: maybe(text('Fiat whose form it is; null: the one for any', 'inr')),
    level: whole('Level that it is for', 1),
    fields: list(
      Type.Object(
        {
          name: text('Name of the field, for `answers`', 'firstName'),
          group: maybe(text('Fields of one group belong together', 'details')),
          label: text('Its label, for people', 'First Name'),
          required: yes('Whether it is needed'),
          type: word(FIELD_TYPES, 'What it takes; a `file` is sent with `submissions.addFiles`'),
          pattern: maybe(text('Regular expression that it must match', '^[a-zA-Z]+$')),
          options: rarely(list(text('A choice', 'salary'), 'Its choices')),
          example: maybe(text('An answer that is accepted', 'Asha')),
        },
        closed,
      ),
      'Fields, in the order of the form',
    ),
    documents: list(
      Type.Object(
        {
          name: text('Kind of document', 'Passport'),
          files: list(text('Name of a file', 'passportFront.jpg'), 'Its files: all of them, once one was sent'),
        },
        closed,
      ),
      'Kinds of document, of which one is enough',
    ),
    needsDocument: yes('Whether a document is needed', false),
  },
  { ...closed, description: 'What a customer supplies to be verified' },
);

export const Submission = Type.Object(
  {
    id: id('Id of the submission'),
    customerId: text('Id of the customer', '8tvxR5aVmM_1'),
    kind: word(KINDS, 'A person or a business'),
    state: word(
      ['open', 'in_review', 'completed', 'failed'] as const,
      'open: send what `needs` names; in_review: the verifier has it; completed, failed: over',
    ),
    needs: list(
      Type.Object(
        {
          name: text('Name of the field or file', 'dob'),
          what: word(['field', 'file'] as const, 'Whether it is an answer or a file'),
          reason: word(Object.keys(FIELD_REASONS) as (keyof typeof FIELD_REASONS)[], 'Why it is needed'),
          means: text('The reason as the end of a sentence', 'is missing'),
          remedy: text('What to do', 'Send it.'),
          example: maybe(text('An answer that is accepted', '1990-01-31')),
        },
        closed,
      ),
      'What must be sent, or sent again; empty unless it is open',
    ),
    answered: list(text('Name of a field', 'firstName'), 'Fields that have an answer'),
    files: list(
      Type.Object(
        {
          name: text('Name of the file in the form', 'passportFront.jpg'),
          type: text('What it is, by its content', 'image/jpeg'),
          bytes: whole('Its size', 183_204),
          sentAt: time('When it was sent'),
        },
        closed,
      ),
      'Files that count: the newest of each name',
    ),
    createdAt: time('When it was begun'),
    updatedAt: time('When it last changed'),
  },
  { ...closed, description: 'What a customer has supplied to be verified' },
);
