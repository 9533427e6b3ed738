/**
 * Submissions on this wire: a program submits the required data, and asks for the result.
 *
 * Answers come in the groups of the form (`details`, `address`), each an object or its JSON text, or one by one under their own
 * names, because programs send both. A refusal names each field, its rule and an example.
 */
import type { Tx } from '../../../base/db.ts';
import { defined } from '../../../base/defined.ts';
import { Refusal } from '../../../base/errors.ts';
import {
  addFiles,
  type ChosenForm,
  type Customer,
  findCustomer,
  findSubmission,
  type Given,
  isCountry,
  neededOf,
  readPeople,
  type Submission,
  saidReasons,
  setCountry,
  submit,
} from '../../../customers/index.ts';
import { markets, type Partner, recordActivity } from '../../../partners/index.ts';
import type { Reply } from '../../protocol.ts';
import { businessForm, customerForm, formBegunWith, storedFiles } from '../../submissions.ts';
import { digestOfFiles } from '../../uploads.ts';
import { type Body, type BodyValue, isAbsent, JsonNumber, parseJson } from '../body.ts';
import { fiatNamed, namesFiat, optionalFiat, requiredFiat } from '../fiat.ts';
import {
  type Field,
  type Fields,
  id,
  Malformed,
  malformedField,
  missingFields,
  optional,
  required,
  text,
} from '../fields.ts';
import { idempotencyKey, once } from '../idempotency.ts';
import { ok, type SignedRequest, throughOf } from '../route.ts';

type Texts = Readonly<Record<string, string>>;

const MOST_NAMES = 60;
const MAX_GROUP_CHARS = 16_384;

/** Texts by name; an object's numbers and booleans count as their text. */
function textsOf(value: BodyValue | undefined): Texts | undefined {
  if (!(value instanceof Map) || value.size > MOST_NAMES) return undefined;
  const texts: [string, string][] = [];
  for (const [name, one] of value as Body) {
    if (isAbsent(one)) continue;
    if (typeof one === 'object' && !(one instanceof JsonNumber)) return undefined;
    texts.push([name, one instanceof JsonNumber ? one.text : String(one)]);
  }
  return Object.fromEntries(texts);
}

const opened = (value: unknown): BodyValue | undefined =>
  typeof value === 'string' && value.length <= MAX_GROUP_CHARS ? parseJson(value) : (value as BodyValue);

const group: Field<Texts> = {
  rule: 'an object of texts, or its JSON text',
  schema: { anyOf: [{ type: 'object', additionalProperties: { type: 'string' } }, { type: 'string' }] },
  read: (value) => textsOf(opened(value)),
};

const people: Field<readonly Texts[]> = {
  rule: 'a list of people, each an object of texts, or its JSON text',
  schema: {
    anyOf: [{ type: 'array', items: { type: 'object', additionalProperties: { type: 'string' } } }, { type: 'string' }],
  },
  read(value) {
    const list = opened(value);
    if (!Array.isArray(list)) return undefined;
    const read = list.map((one) => textsOf(one as BodyValue));
    return read.every((one) => one !== undefined) ? read : undefined;
  },
};

/** An answer under its own name, or a group that only this form has: the form then decides which texts it accepts. */
const answer: Field<string | Texts> = {
  rule: 'a text, or a group of texts',
  schema: group.schema,
  read(value) {
    const found = textsOf(value instanceof Map || /^\s*\{/.test(String(value)) ? opened(value) : undefined);
    if (found !== undefined) return found;
    if (value instanceof JsonNumber) return value.text;
    return typeof value === 'string' ? value : new Malformed('must be a string', { wrongType: true });
  },
};

const ANSWERS = {
  identityNumber: optional(answer, 'Number of the identity document', 'ABCDE1234F'),
  details: optional(group, 'Answers of the group `details`', '{"firstName": "Asha", "dob": "1990-01-31"}'),
  address: optional(group, 'Answers of the group `address`', '{"addressLine1": "1 Main Road", "city": "Pune"}'),
};
const BUSINESS = {
  entityName: optional(text({ max: 256 }), 'Name of the business', 'Rao Traders'),
  legalEntityNature: optional(text({ max: 128 }), 'Legal form of the business', 'Private limited'),
  owners: optional(
    people,
    'Owners: firstName, lastName, share in percent, and dob and country if known',
    '[{"firstName": "Asha", "lastName": "Rao", "share": "51"}]',
  ),
  directors: optional(
    people,
    'Directors, with the same fields as owners except share',
    '[{"firstName": "Asha", "lastName": "Rao"}]',
  ),
};
const COUNTRY = {
  country: optional(text({ max: 8 }), 'Country that selects the form, two letters, as in kyb/requirements', 'IN'),
};

/** Declares every further name of the body, because the form may ask for it. */
const beside = (declared: Fields, body: Body): Fields =>
  Object.fromEntries(
    [...body.keys()]
      .filter((name) => !Object.hasOwn(declared, name) && /^[A-Za-z]\w{0,63}$/.test(name))
      .slice(0, MOST_NAMES)
      .map((name) => [name, optional(answer)]),
  );

const kycDeclared = (body: Body) => ({ customerId: required(id), ...requiredFiat(body), ...ANSWERS });
const kybDeclared = {
  customerId: required(id),
  submissionId: optional(id),
  ...optionalFiat,
  ...COUNTRY,
  ...ANSWERS,
  ...BUSINESS,
};
export const kycSubmitFields = (body: Body): ReturnType<typeof kycDeclared> => {
  const declared = kycDeclared(body);
  return { ...beside(declared, body), ...declared } as ReturnType<typeof kycDeclared>;
};
export const kybSubmitFields = (body: Body): typeof kybDeclared =>
  ({ ...beside(kybDeclared, body), ...kybDeclared }) as typeof kybDeclared;

const OF_THE_REQUEST = new Set(['customerId', 'submissionId', 'fiatType', 'countryCode', ...Object.keys(COUNTRY)]);

/** All answers, including those in groups. */
function answersOf(values: Readonly<Record<string, unknown>>): Texts {
  const all: [string, string][] = [];
  for (const [name, value] of Object.entries(values)) {
    if (OF_THE_REQUEST.has(name) || Object.hasOwn(BUSINESS, name)) continue;
    if (typeof value === 'string') all.push([name, value]);
    else if (typeof value === 'object' && value !== null) all.push(...Object.entries(value as Texts));
  }
  return Object.fromEntries(all);
}

const WORDS = { open: 'UPDATE_REQUIRED', in_review: 'IN_REVIEW', completed: 'COMPLETED', failed: 'FAILED' } as const;

function shape(form: ChosenForm, submission: Submission) {
  const { id: submissionId, state, reasons, createdAt, updatedAt } = submission;
  const remedies = Object.fromEntries(neededOf(form, submission).map(({ name, remedy }) => [name, remedy]));
  const said = saidReasons(form, state === 'in_review' || state === 'completed' ? {} : reasons);
  return {
    submissionId: String(submissionId),
    status: WORDS[state],
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    ...(Object.keys(said).length > 0 ? { reasons: said } : {}),
    ...(Object.keys(remedies).length > 0 ? { remedies } : {}),
  };
}

/** A submission's id as sent; one that is not ours is unknown. */
export function submissionIdOf(sent: string | undefined): bigint | undefined {
  if (sent === undefined) return undefined;
  if (!/^[0-9]{1,18}$/.test(sent)) throw new Refusal('unknown_submission');
  return BigInt(sent);
}

export const countryOf = (sent: string | undefined): string | undefined => {
  const country = sent?.toUpperCase();
  return country !== undefined && isCountry(country) ? country : undefined;
};

/** The form of a person, by the fiat that the request names. */
export async function personForm(
  tx: Tx,
  { partner, customer }: { partner: Pick<Partner, 'id' | 'tradeLevel'>; customer: Customer },
  values: { fiatType?: string | undefined; countryCode?: string | undefined },
  now: Date,
): Promise<ChosenForm> {
  const fiat = fiatNamed(values, await markets(tx)).code;
  return await customerForm(tx, partner, { customer, fiat, country: countryOf(values.countryCode) }, now);
}

type Submitting = Pick<SignedRequest<Fields>, 'deps' | 'caller' | 'body' | 'files' | 'call' | 'path'>;

/** Runs a submission once per request, with a row of the key's activity. */
async function submitted(
  { deps, caller, body, files, call, path }: Submitting,
  work: (tx: Tx, now: Date) => Promise<{ form: ChosenForm; submission: Submission & { isNew: boolean } }>,
): Promise<Reply> {
  // Files are not signed: the same texts with other files are another request.
  const content = digestOfFiles(files);
  const key = idempotencyKey(call.headers['idempotency-key'], `${caller.payload}${content}`);
  const whole: Body = content === '' ? body : new Map([...body, ['files', content]]);
  const now = deps.clock.now();
  return await once(deps, { partnerId: caller.partner.id, path, key, body: whole, now }, async (tx) => {
    const { form, submission } = await work(tx, now);
    const { customerId: customer, state } = submission;
    const about = { subject: `submission:${submission.id}`, facts: { customer, state } };
    recordActivity(tx, throughOf(caller), { action: 'submission.given', ...about, now });
    const { createdAt, updatedAt, ...shown } = shape(form, submission);
    return ok({ ...shown, ...(submission.isNew ? { createdAt } : { updatedAt }) });
  });
}

export async function kycSubmit(input: SignedRequest<ReturnType<typeof kycSubmitFields>>): Promise<Reply> {
  const { values, deps } = input;
  const formOf = namedForm(input);
  const files = await storedFiles(input, values.customerId, formOf);
  return await submitted(input, async (tx, now) => {
    const form = await formOf(tx, now);
    const given: Given = { answers: answersOf(values), files };
    const about = { customerId: values.customerId, form, given, inParts: false, now };
    return { form, submission: await submit(tx, deps.vault, about) };
  });
}

/** Stores a person's answers: one part of what kyc/submit accepts at once. */
export async function kycSubmitData(input: SignedRequest<ReturnType<typeof kycSubmitFields>>): Promise<Reply> {
  const { values, deps } = input;
  return await submitted(input, async (tx, now) => {
    const form = await namedForm(input)(tx, now);
    const about = { customerId: values.customerId, form, given: { answers: answersOf(values) }, inParts: true, now };
    return { form, submission: await submit(tx, deps.vault, about) };
  });
}

const namedForm =
  ({ values, caller }: SignedRequest<ReturnType<typeof kycSubmitFields>>) =>
  async (tx: Tx, now: Date): Promise<ChosenForm> => {
    const customer = await personOf(tx, values.customerId);
    return await personForm(tx, { partner: caller.partner, customer }, values, now);
  };

export const kycFilesFields = { customerId: required(id), ...optionalFiat };

/** Stores a person's files: the other part. Without a fiat, they belong to the form that the submission was begun with. */
export async function kycSubmitFiles(input: SignedRequest<typeof kycFilesFields>): Promise<Reply> {
  const { values, caller, deps } = input;
  const { customerId } = values;
  if (input.files.length === 0) {
    await input.inTx((tx) => personOf(tx, customerId));
    throw missingFields(['files']);
  }
  const formOf = async (tx: Tx, now: Date) => {
    const customer = await personOf(tx, customerId);
    if (namesFiat(input.body)) return await personForm(tx, { partner: caller.partner, customer }, values, now);
    return await formBegunWith(tx, caller.partner, { customer }, now);
  };
  const files = await storedFiles(input, customerId, formOf);
  return await submitted(input, async (tx, now) => {
    const form = await formOf(tx, now);
    return { form, submission: await addFiles(tx, deps.vault, { customerId, form, files, now }) };
  });
}

async function personOf(tx: Tx, customerId: string): Promise<Customer> {
  const customer = await findCustomer(tx, customerId);
  if (customer.kind !== 'INDIVIDUAL')
    throw malformedField('customerId', 'is a business: it is submitted by kyb/submit');
  return customer;
}

export const kybFilesFields = { customerId: required(id), submissionId: optional(id), ...COUNTRY };

export async function kybFiles(input: SignedRequest<typeof kybFilesFields>): Promise<Reply> {
  const { values, caller, deps } = input;
  if (input.files.length === 0) {
    await input.inTx((tx) => businessOf(tx, values.customerId));
    throw missingFields(['files']);
  }
  const formOf = async (tx: Tx, now: Date) => {
    const customer = await businessOf(tx, values.customerId);
    return await businessForm(tx, caller.partner, { customer, country: countryOf(values.country) }, now);
  };
  const files = await storedFiles(input, values.customerId, formOf);
  return await submitted(input, async (tx, now) => {
    const form = await formOf(tx, now);
    const about = {
      customerId: values.customerId,
      submissionId: submissionIdOf(values.submissionId),
      form,
      files,
      now,
    };
    return { form, submission: await addFiles(tx, deps.vault, about) };
  });
}

async function businessOf(tx: Tx, customerId: string): Promise<Customer> {
  const customer = await findCustomer(tx, customerId);
  if (customer.kind !== 'BUSINESS') throw malformedField('customerId', 'is a person: it is submitted by kyc/submit');
  return customer;
}

export async function kybSubmit(input: SignedRequest<typeof kybDeclared>): Promise<Reply> {
  const { values, caller, deps } = input;
  return await submitted(input, async (tx, now) => {
    const known = await businessOf(tx, values.customerId);
    const said = countryOf(values.country);
    if (said !== undefined) await setCountry(tx, { customerId: known.id, country: said, by: 'partner', now });
    const customer = said === undefined ? known : await findCustomer(tx, known.id);
    const form = await businessForm(tx, caller.partner, { customer, country: countryOf(values.countryCode) }, now);
    const given: Given = {
      answers: answersOf(values),
      more: defined({ entityName: values.entityName, legalEntityNature: values.legalEntityNature }),
      ...defined({
        owners: peopleOf('owners', values.owners, now),
        directors: peopleOf('directors', values.directors, now),
      }),
    };
    const submissionId = submissionIdOf(values.submissionId);
    const about = { customerId: values.customerId, form, given, inParts: true, now };
    return { form, submission: await submit(tx, deps.vault, { ...about, submissionId }) };
  });
}

function peopleOf(role: 'owners' | 'directors', given: readonly Texts[] | undefined, now: Date) {
  if (given === undefined) return undefined;
  const read = readPeople(role, given, now);
  if ('faults' in read) throw new Refusal('malformed_field', { fields: read.faults });
  return read.people;
}

export const kybStatusFields = { customerId: required(id), submissionId: optional(id), ...COUNTRY };

export async function kybStatus({
  deps,
  caller,
  values,
  readOnly,
}: SignedRequest<typeof kybStatusFields>): Promise<Reply> {
  return await readOnly(async (tx) => {
    const found = await findSubmission(tx, values.customerId, submissionIdOf(values.submissionId));
    const now = deps.clock.now();
    const customer = await findCustomer(tx, values.customerId);
    const form = await businessForm(tx, caller.partner, { customer, country: countryOf(values.country) }, now);
    return ok(shape(form, found));
  });
}
