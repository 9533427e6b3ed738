/** Submissions: the data that customers supply to be verified, in parts. */
import { about, type Field, id, optional, personal, text, whole } from '../../declaration/fields.ts';
import { declare, PAGED } from '../declare.ts';
import { pageOf } from '../schemas/parts.ts';
import { CustomerRequirements, Submission } from '../schemas/submissions.ts';
import { customerId } from './orders.ts';
import { assetCode } from './quotes.ts';

const customer = { customer: customerId };
const one = { ...customer, submission: about(id, 'Id of the submission', '747983292881815') };

type Texts = Readonly<Record<string, string>>;

const MOST_NAMES = 60;
const MOST_CHARS = 4_000;
const MOST_PEOPLE = 100;

const areTexts = (given: unknown): given is Texts =>
  typeof given === 'object' &&
  given !== null &&
  !Array.isArray(given) &&
  Object.keys(given).length <= MOST_NAMES &&
  Object.values(given).every((each) => typeof each === 'string' && each.length <= MOST_CHARS && each.isWellFormed());

const TEXTS = { type: 'object', additionalProperties: { type: 'string' }, maxProperties: MOST_NAMES } as const;
const texts: Field<Texts> = {
  rule: `an object of at most ${MOST_NAMES} texts`,
  schema: TEXTS,
  read: (given) => (areTexts(given) ? given : undefined),
};
/** The form determines how many people are allowed and which data each needs. */
const people: Field<readonly Texts[]> = {
  rule: 'a list of people, each an object of texts',
  schema: { type: 'array', items: TEXTS, maxItems: MOST_PEOPLE },
  read: (given) =>
    Array.isArray(given) && given.length <= MOST_PEOPLE && given.every(areTexts) ? (given as Texts[]) : undefined,
};

const ANSWERS = {
  answers: optional(
    personal(about(texts, 'Answers, by the names of `submissions.requirements`', { firstName: 'Asha', city: 'Pune' })),
  ),
  entityName: optional(personal(about(text(256), 'Name of a business', 'Rao Traders'))),
  legalEntityNature: optional(personal(about(text(128), 'Legal form of a business', 'Private limited'))),
  owners: optional(
    personal(
      about(
        people,
        'Owners of a business: firstName, lastName, share in percent, and dob and country if known. All shares together are at most 100 percent',
        [{ firstName: 'Asha', lastName: 'Rao', share: '51' }],
      ),
    ),
  ),
  directors: optional(
    personal(
      about(people, 'Directors of a business, with the same fields as owners except share', [
        { firstName: 'Asha', lastName: 'Rao' },
      ]),
    ),
  ),
};
const asset = optional(about(assetCode, 'For an individual: the fiat that selects the form', 'inr'));
const levelFor = (what: string) =>
  optional(about(whole(1, 5), `${what}; by default the lowest level at which your customers may trade`, 1));
const CHANGES = ['unknown_customer', 'customer_blocked'] as const;

export const SUBMISSIONS = {
  requirements: declare({
    name: 'submissions.requirements',
    method: 'GET',
    path: '/customers/:customer/requirements',
    scope: 'read',
    says: 'Returns the form with which a customer is verified: its fields, and its documents with the names of their files.',
    more: 'The form depends on the kind and the country of the customer, on the fiat and on the level.',
    fields: { ...customer, asset, level: levelFor('Level that the form is for') },
    gives: CustomerRequirements,
    refuses: ['unknown_customer'],
  }),
  create: declare({
    name: 'submissions.create',
    method: 'POST',
    path: '/customers/:customer/submissions',
    scope: 'customers',
    says: 'Starts a submission with all, some or none of its answers.',
    more: '`needs` lists what is missing: send it with `submissions.update` and `submissions.addFiles`, in any order. When nothing is missing, the submission is in review. The customer’s level afterwards is the one that the verifier finds, and never lower than before. A customer has at most one submission under way. If an answer is wrong, `fields` has its name in the form.',
    fields: {
      ...customer,
      asset,
      level: levelFor('Level to verify the customer to, which also selects the form'),
      ...ANSWERS,
    },
    gives: Submission,
    status: 201,
    refuses: [...CHANGES, 'submission_exists'],
    example: { customer: '8tvxR5aVmM_1', asset: 'inr', answers: { firstName: 'Asha', city: 'Pune' } },
  }),
  update: declare({
    name: 'submissions.update',
    method: 'PATCH',
    path: '/customers/:customer/submissions/:submission',
    scope: 'customers',
    says: 'Adds answers to an open submission, or corrects them.',
    more: 'After the verifier has declined some of them, only those that `needs` lists may change; the others are accepted.',
    fields: { ...one, ...ANSWERS },
    gives: Submission,
    refuses: [...CHANGES, 'unknown_submission', 'submission_exists', 'submission_over'],
    example: { customer: '8tvxR5aVmM_1', submission: '747983292881815', answers: { firstName: 'Asha', city: 'Pune' } },
  }),
  addFiles: declare({
    name: 'submissions.addFiles',
    method: 'POST',
    path: '/customers/:customer/submissions/:submission/files',
    scope: 'customers',
    files: true,
    says: 'Adds files to a submission, as multipart/form-data.',
    more: 'The name of each part is the name of a file in `submissions.requirements`, such as `passportFront.jpg`. Send JPEG, PNG, WEBP or PDF files of at most 5 MiB; at most 10 files and 20 MiB in a request. A file sent again replaces the previous one. A signature covers the whole body through its Content-Digest. Files for a submission that is in review or over are stored with it.',
    fields: one,
    gives: Submission,
    refuses: [...CHANGES, 'unknown_submission', 'submission_exists', 'submission_over'],
  }),
  get: declare({
    name: 'submissions.get',
    method: 'GET',
    path: '/customers/:customer/submissions/:submission',
    scope: 'read',
    says: 'Returns one submission: its state, and what it still needs, each with the reason and the remedy.',
    fields: one,
    gives: Submission,
    refuses: ['unknown_customer', 'unknown_submission'],
  }),
  list: declare({
    name: 'submissions.list',
    method: 'GET',
    path: '/customers/:customer/submissions',
    scope: 'read',
    says: 'Lists the submissions of a customer, the newest first.',
    fields: { ...customer, ...PAGED },
    gives: pageOf(Submission),
    refuses: ['unknown_customer'],
  }),
} as const;
