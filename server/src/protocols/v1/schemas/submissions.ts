/** Submissions of customers, and the forms they fill in. */
import { Type } from 'typebox';
import { FIELD_REASONS, FIELD_TYPES } from '../../../customers/index.ts';
import { closed, id, list, maybe, rarely, text, time, whole, word, yes } from './parts.ts';

const KINDS = ['individual', 'business'] as const;

export const CustomerRequirements = Type.Object(
  {
    customerId: text('Id of the customer', '8tvxR5aVmM_1'),
    kind: word(KINDS, 'A person or a business'),
    asset: maybe(text('Fiat of the form; null: the form for any fiat', 'inr')),
    level: whole('Level that the form is for', 1),
    fields: list(
      Type.Object(
        {
          name: text('Name of the field, for `answers`', 'firstName'),
          group: maybe(text('Group of the field; fields of one group belong together', 'details')),
          label: text('Label of the field, for display', 'First Name'),
          required: yes('Whether it is required'),
          type: word(FIELD_TYPES, 'Type of the answer; send a `file` with `submissions.addFiles`'),
          pattern: maybe(text('Regular expression that the answer must match', '^[a-zA-Z]+$')),
          options: rarely(list(text('A choice', 'salary'), 'Its choices')),
          example: maybe(text('An example of a valid answer', 'Asha')),
        },
        closed,
      ),
      'Fields, in the order of the form',
    ),
    documents: list(
      Type.Object(
        {
          name: text('Kind of document', 'Passport'),
          files: list(
            text('Name of a file', 'passportFront.jpg'),
            'Files of the document; if you send one of them, all are required',
          ),
        },
        closed,
      ),
      'Kinds of document, one of which is sufficient',
    ),
    needsDocument: yes('Whether a document is required', false),
    ownersMinimumTotalShare: maybe(
      text('Percent that the `owners` of a business must hold together; null: the form does not ask for owners', '75'),
    ),
  },
  { ...closed, description: 'The form with which a customer is verified' },
);

export const Submission = Type.Object(
  {
    id: id('Id of the submission'),
    customerId: text('Id of the customer', '8tvxR5aVmM_1'),
    kind: word(KINDS, 'A person or a business'),
    state: word(
      ['open', 'in_review', 'completed', 'failed'] as const,
      '`open`: send what `needs` lists; `in_review`: the verifier is checking it; `completed` and `failed`: final',
    ),
    needs: list(
      Type.Object(
        {
          name: text('Name of the field or file', 'dob'),
          what: word(['field', 'file'] as const, 'Whether a field or a file is missing'),
          reason: word(Object.keys(FIELD_REASONS) as (keyof typeof FIELD_REASONS)[], 'Why it is needed'),
          means: text('The reason as text that follows the name', 'is missing'),
          remedy: text('What to do', 'Send it.'),
          example: maybe(text('An example of a valid answer', '1990-01-31')),
        },
        closed,
      ),
      'What must be sent, or sent again; empty unless the submission is open',
    ),
    informationRequests: list(
      id('Id of an information request'),
      'Open questions of the operator about it, for `informationRequests.answer`',
    ),
    answered: list(text('Name of a field', 'firstName'), 'Fields that have an answer'),
    files: list(
      Type.Object(
        {
          name: text('Name of the file in the form', 'passportFront.jpg'),
          type: text('Media type, detected from the content', 'image/jpeg'),
          bytes: whole('Size in bytes', 183_204),
          sentAt: time('When it was sent'),
        },
        closed,
      ),
      'The files in use: the newest of each name',
    ),
    createdAt: time('When it was started'),
    updatedAt: time('When it last changed'),
  },
  { ...closed, description: 'The answers and files for the verification of a customer' },
);
