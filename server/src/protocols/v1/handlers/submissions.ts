/**
 * Submissions: the data that a customer supplies to be verified, in parts.
 *
 * Files are inspected and stored before the transaction that writes their rows: the store is outside the database.
 * customers/identity/ decides whether answers and files are valid and what is missing, for both wires.
 */
import type { Tx } from '../../../base/db.ts';
import { defined } from '../../../base/defined.ts';
import { Refusal } from '../../../base/errors.ts';
import {
  addFiles,
  answeredFields,
  type ChosenForm,
  type Customer,
  documentsOf,
  exampleOf,
  fieldsOf,
  filesOf,
  findCustomer,
  findSubmission,
  type Given,
  minimumTotalShareOf,
  neededOf,
  openAboutSubmission,
  readPeople,
  type StoredFile,
  type Submission,
  submissionsOf,
  submit,
} from '../../../customers/index.ts';
import { recordActivity } from '../../../partners/index.ts';
import { customerForm, formBegunWith, storedFiles } from '../../submissions.ts';
import { SUBMISSIONS } from '../declared/submissions.ts';
import { type Asked, type Handled, reads, throughOf, writes } from '../handler.ts';
import { cursorOf, readCursor } from '../pages.ts';
import { type Is, iso } from '../shapes.ts';
import { requireFiat } from './customers.ts';

const PAGE = 20;

type Answers = Asked<(typeof SUBMISSIONS.update)['fields']>;
type Files = Asked<(typeof SUBMISSIONS.addFiles)['fields']>;

const wordOf = ({ kind }: Pick<Customer, 'kind'>) =>
  kind === 'BUSINESS' ? ('business' as const) : ('individual' as const);

export const SUBMISSION_HANDLERS: readonly Handled[] = [
  reads(SUBMISSIONS.requirements, ({ values, caller, readOnly, now }) =>
    readOnly(async (tx) => {
      const { asset, level = caller.partner.tradeLevel } = values;
      const customer = await findCustomer(tx, values.customer);
      if (asset !== undefined) await requireFiat(tx, asset);
      const { form, needsDocument } = await customerForm(tx, caller.partner, { customer, fiat: asset, level }, now);
      return {
        ...{ customerId: customer.id, kind: wordOf(customer), asset: asset ?? null, level },
        fields: fieldsOf(form).map((field) => ({
          ...{ name: field.name, group: field.group, label: field.label, required: field.required === 1 },
          ...{ type: field.type ?? 'text', pattern: field.regex ?? null },
          ...{ options: field.options === undefined ? null : [...field.options], example: exampleOf(field) ?? null },
        })),
        documents: documentsOf(form).map(({ idName, files }) => ({ name: idName, files: [...files] })),
        needsDocument,
        ownersMinimumTotalShare: minimumTotalShareOf(form)?.toString() ?? null,
      };
    }),
  ),
  writes(SUBMISSIONS.create, async (tx, asked) => {
    const { values, deps, caller, now } = asked;
    const { asset, level } = values;
    const customer = await findCustomer(tx, values.customer);
    const highest = deps.highestLevelFor(customer.kind);
    const rule =
      highest === 0
        ? 'must be left out: the verifier verifies no customers of this kind'
        : `must be at most ${highest}, the highest level of the verifier`;
    if (level !== undefined && level > highest) throw new Refusal('malformed_field', { fields: { level: rule } });
    if (asset !== undefined) await requireFiat(tx, asset);
    const form = await customerForm(tx, caller.partner, { customer, fiat: asset, level }, now);
    const given = givenOf(values, { customer, form, now });
    const about = { customerId: customer.id, begins: true, level, form, given, inParts: true, now };
    return await changed(tx, asked, form, await submit(tx, deps.vault, about));
  }),
  writes(SUBMISSIONS.update, async (tx, asked) => {
    const { values, deps, now } = asked;
    const { customer, form } = await meant(tx, asked);
    const given = givenOf(values, { customer, form, now });
    const about = { customerId: customer.id, submissionId: values.submission, form, given, inParts: true, now };
    return await changed(tx, asked, form, await submit(tx, deps.vault, about));
  }),
  writes(
    SUBMISSIONS.addFiles,
    async (tx, asked) => {
      const { values, deps, now } = asked;
      const files = stored.get(asked);
      // The answer that was kept has lapsed since it was looked for: asked again, the files are stored.
      if (files === undefined) throw new Refusal('idempotency_in_flight', { retryAfterMs: 1_000 });
      const { customer, form } = await meant(tx, asked);
      const about = { customerId: customer.id, submissionId: values.submission, form, files, now };
      return await changed(tx, asked, form, await addFiles(tx, deps.vault, about));
    },
    {
      async before(asked) {
        if (asked.files.length === 0) {
          await asked.readOnly((tx) => meant(tx, asked));
          throw new Refusal('missing_fields', { names: ['files'] });
        }
        const formOf = async (tx: Tx) => (await meant(tx, asked)).form;
        stored.set(asked, await storedFiles(asked, asked.values.customer, formOf));
      },
    },
  ),
  reads(SUBMISSIONS.get, (asked) =>
    asked.readOnly(async (tx) => {
      const { form, submission } = await meant(tx, asked);
      return await shape(tx, asked, form, submission);
    }),
  ),
  reads(SUBMISSIONS.list, (asked) =>
    asked.readOnly(async (tx) => {
      const { values, caller, now } = asked;
      const limit = Math.min(values.limit ?? PAGE, PAGE);
      const customer = await findCustomer(tx, values.customer);
      const of = { customerId: customer.id, below: readCursor(values.cursor), limit: limit + 1 };
      const rows = await submissionsOf(tx, of);
      const data = [];
      for (const one of rows.slice(0, limit)) {
        const form = await formBegunWith(tx, caller.partner, { customer, submissionId: one.id }, now);
        data.push(await shape(tx, asked, form, one));
      }
      return { data, nextCursor: rows.length > limit ? cursorOf(rows[limit - 1]?.id ?? null) : null };
    }),
  ),
];

/** Files of a request that are in the store and have no rows yet. */
const stored = new WeakMap<object, StoredFile[]>();

/** @throws Refusal 'unknown_customer' | 'unknown_submission' */
async function meant(tx: Tx, { values, caller, now }: Pick<Files, 'values' | 'caller' | 'now'>) {
  const customer = await findCustomer(tx, values.customer);
  const submission = await findSubmission(tx, customer.id, values.submission);
  const form = await formBegunWith(tx, caller.partner, { customer, submissionId: submission.id }, now);
  return { customer, submission, form };
}

/** @throws Refusal 'malformed_field' that names each answer as in the form */
function givenOf(
  values: Pick<Answers['values'], 'answers' | 'entityName' | 'legalEntityNature' | 'owners' | 'directors'>,
  { customer, form, now }: { customer: Customer; form: ChosenForm; now: Date },
): Given {
  const { answers = {}, entityName, legalEntityNature, owners, directors } = values;
  const of = { entityName, legalEntityNature, owners, directors };
  const faults: Record<string, string> = {};
  if (customer.kind !== 'BUSINESS')
    for (const name of Object.keys(defined(of))) faults[name] = 'must be left out for an individual';
  const names = fieldsOf(form.form).map(({ name }) => name);
  // The name is not repeated: an unknown name may be anything.
  if (!Object.keys(answers).every((name) => names.includes(name)))
    faults.answers = `must have only these names: ${names.join(', ')}`;
  const read = {
    owners: readPeople('owners', owners ?? [], now),
    directors: readPeople('directors', directors ?? [], now),
  };
  for (const one of Object.values(read)) if ('faults' in one) Object.assign(faults, one.faults);
  if (Object.keys(faults).length > 0) throw new Refusal('malformed_field', { fields: faults });
  return {
    answers,
    more: defined({ entityName, legalEntityNature }),
    ...(owners === undefined ? {} : { owners: peopleIn(read.owners) }),
    ...(directors === undefined ? {} : { directors: peopleIn(read.directors) }),
  };
}

const peopleIn = (read: ReturnType<typeof readPeople>) => ('people' in read ? read.people : []);

async function changed(
  tx: Tx,
  asked: Pick<Asked, 'caller' | 'deps' | 'now'>,
  form: ChosenForm,
  submission: Submission,
): Promise<Is<'Submission'>> {
  const { customerId: customer, state } = submission;
  const about = { subject: `submission:${submission.id}`, facts: { customer, state } };
  recordActivity(tx, throughOf(asked.caller), { action: 'submission.given', ...about, now: asked.now });
  return await shape(tx, asked, form, submission);
}

async function shape(
  tx: Tx,
  { deps }: Pick<Asked, 'deps'>,
  form: ChosenForm,
  submission: Submission,
): Promise<Is<'Submission'>> {
  const files = await filesOf(tx, submission.id);
  return {
    ...{ id: String(submission.id), customerId: submission.customerId, kind: wordOf(submission) },
    ...{ state: submission.state, needs: neededOf(form, submission) },
    informationRequests: (await openAboutSubmission(tx, submission)).map(String),
    answered: await answeredFields(tx, deps.vault, submission),
    files: files.map(({ slot, type, bytes, createdAt }) => ({ name: slot, type, bytes, sentAt: iso(createdAt) })),
    ...{ createdAt: iso(submission.createdAt), updatedAt: iso(submission.updatedAt) },
  };
}
