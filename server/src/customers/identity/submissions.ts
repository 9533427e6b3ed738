/**
 * Submissions: the data that a partner's program sends about a customer, in parts, until the form is complete and the verifier
 * has it.
 *
 * A customer has at most one submission under way. While something is missing it is `open`, and a retry with its id adds to it.
 * When it is complete, its answers become the customer's details (details.ts) and go to the verifier like those from our own
 * pages; the result closes it, or opens it again with a reason per field. Then only rejected parts may change: accepted parts
 * may be sent again unchanged, which has no effect. An answer that the form does not accept any more counts as missing: the form
 * may have changed, or a document expired, since the answer was given.
 *
 * Reasons are codes: they are stored unencrypted, and contain no personal data.
 */
import type { Vault } from '../../base/crypto.ts';
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { numericId } from '../../base/ids.ts';
import { lookNow } from '../checks.ts';
import { setCountry } from '../countries.ts';
import { type Customer, findCustomer, lockCustomer } from '../customers.ts';
import { lockGivenDetails, saveDetails } from '../details.ts';
import { sql as customers } from '../store.ts';
import { announceReview } from '../verification.ts';
import {
  type Answers,
  checkAnswers,
  exampleOf,
  isVisible,
  type Judged,
  judgeAnswers,
  VISIBLE_RULE,
} from './answers.ts';
import { type DocumentRow, recordFiles, type StoredFile } from './documents.ts';
import { type Expiry, expiryIn, saveExpiry } from './expiry.ts';
import { type Form, fieldsOf, minimumTotalShareOf, missingSlots, slotsOf } from './form.ts';
import { type ChosenForm, formById } from './forms.ts';
import { FIELD_REASONS, type FieldReason, type FieldReasons, REMEDIES, stateAfter } from './outcome.ts';
import { ownersFault, ownersRule, type Person, storedOwnersFault } from './people.ts';
import { newestSubmission, type SubmissionRow, sql } from './store.ts';

export interface Submission {
  readonly id: bigint;
  readonly customerId: string;
  readonly kind: 'INDIVIDUAL' | 'BUSINESS';
  readonly state: SubmissionRow['state'];
  /** As in `SubmissionRow`. */
  readonly level: number | null;
  /** Code by field, or by file. */
  readonly reasons: FieldReasons;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The content of a request: answers by the names of the form, further texts, and the people behind a business. */
export interface Given {
  readonly answers: Answers;
  readonly more?: Answers;
  readonly owners?: readonly Person[] | undefined;
  readonly directors?: readonly Person[] | undefined;
  /** Files that are in the store already. */
  readonly files?: readonly StoredFile[];
}

const contextOf = (id: bigint): string => `submissions.answers:${id}`;
const submissionOf = (row: SubmissionRow): Submission => ({
  ...{ id: row.id, customerId: row.customerId, kind: row.kind, state: row.state, level: row.level },
  reasons: row.reasons as FieldReasons,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

/**
 * Adds the given parts to the customer's submission, or begins one.
 *
 * @param s.submissionId  the submission to add to
 * @param s.begins        without an id, begins one even if a person's is open
 * @param s.level         with a new one: the level to ask the verifier for; by default the one from which customers may trade
 * @param s.inParts       missing parts may come later; otherwise the request is refused
 * @param s.asksNow       the caller asks the verifier after the commit, and the job only if that brings no result
 * @throws Refusal 'unknown_customer' | 'unknown_submission' | 'customer_blocked'; 'malformed_field' | 'missing_fields' with every
 *   field; 'submission_exists' {submissionId} when another is under way, or this one is in review; 'submission_over'
 */
export async function submit(
  tx: Tx,
  vault: Vault,
  s: {
    customerId: string;
    submissionId?: bigint | undefined;
    begins?: boolean;
    level?: number | undefined;
    form: ChosenForm;
    given: Given;
    inParts: boolean;
    asksNow?: boolean;
    now: Date;
  },
): Promise<Submission & { isNew: boolean }> {
  const { customerId, form, given, asksNow = false, now } = s;
  // Two concurrent requests: the second waits here, and then sees the result of the first.
  await lockCustomer(tx, customerId);
  const customer = await findCustomer(tx, customerId);
  if (customer.blocked || customer.verification === 'refused') throw new Refusal('customer_blocked');
  const before = await addedTo(tx, customer, s);
  const known = before === undefined ? {} : openAnswers(vault, before);
  const judged = await judgeAnswers(form.form, [given.answers, known], { now, tx });
  const { faults, answers: taken } = checkAnswers(form.form, given.answers, now, judged);
  const more = Object.entries(given.more ?? {}).filter(([, text]) => text.trim() !== '');
  for (const [name, text] of more) if (!isVisible(text)) faults[name] = VISIBLE_RULE;
  const short = given.owners && ownersFault(form.form, given.owners);
  if (short !== undefined) faults.owners = short;
  if (Object.keys(faults).length > 0) throw new Refusal('malformed_field', { fields: faults });
  const said: Record<string, string> = { ...Object.fromEntries(more), ...taken };
  for (const role of ['owners', 'directors'] as const)
    if (given[role] !== undefined) said[role] = JSON.stringify(given[role]);
  const sent = given.files ?? [];
  const there = await digestsBefore(tx, before);
  requireAsked(before, { known, said, there, sent, faults: checkStored(form.form, known, now, judged).faults });
  const answers = { ...known, ...said };
  const { missing, faults: lapsed } = checkStored(form.form, answers, now, judged);
  const slots = new Set([...there.keys(), ...sent.map(({ slot }) => slot)]);
  missing.push(...missingSlots(form, slots));
  if (missing.length > 0 && !s.inParts) throw new Refusal('missing_fields', { names: missing });
  if (Object.keys(lapsed).length > 0 && !s.inParts) throw new Refusal('malformed_field', { fields: lapsed });
  const reasons: Record<string, FieldReason> = Object.fromEntries(missing.map((name) => [name, 'missing']));
  // A part that the verifier asked for again stays required until it is sent.
  for (const [name, code] of Object.entries((before?.reasons ?? {}) as FieldReasons))
    if (code !== 'missing' && !isGivenAgain({ said, sent }, name)) reasons[name] ??= code;
  for (const name of Object.keys(lapsed)) reasons[name] ??= 'missing';

  if (taken.country !== undefined && fieldsOf(form.form).some(isCountryField))
    await setCountry(tx, { customerId, country: taken.country, by: 'form', now });
  const id = before?.id ?? numericId(now);
  const isComplete = Object.keys(reasons).length === 0;
  const version = isComplete
    ? await toVerifier(tx, vault, { customer, answers, expiry: expiryIn(form.form, answers, slots), asksNow, now })
    : (before?.detailsVersion ?? null);
  const state = isComplete ? 'in_review' : 'open';
  const encrypted = vault.encrypt(JSON.stringify(answers), contextOf(id));
  const written = [state, encrypted, reasons, version, now] as const;
  const row =
    before === undefined
      ? await tx.row<SubmissionRow>(sql.insert, [
          ...[id, customer.partnerId, customerId, customer.kind, form.id],
          ...written,
          s.level ?? null,
        ])
      : await tx.row<SubmissionRow>(sql.change, [id, ...written, form.id]);
  assert(row !== undefined, 'the written submission was not returned');
  const submission = { id, customerId, partnerId: customer.partnerId };
  await recordFiles(tx, vault, { submission, form: form.form, files: sent, now });
  return { ...submissionOf(row), isNew: before === undefined };
}

/** The country that the customer answers here is the customer's country. */
const isCountryField = ({ name, type }: { name: string; type?: string }): boolean =>
  name === 'country' && type === 'country';

/**
 * Checks the stored answers of a submission. Owners who hold too little are a fault; without any, `owners` is missing. An answer
 * that a pattern could not be compared with in time stays: it was accepted when it was given.
 */
function checkStored(
  form: Form,
  answers: Answers,
  now: Date,
  judged: Judged,
): { faults: Record<string, string>; missing: string[] } {
  const { faults, missing } = checkAnswers(form, answers, now, (regex, text) => judged(regex, text) !== false);
  const owners = storedOwnersFault(form, answers);
  if (owners === undefined) return { faults, missing };
  return answers.owners === undefined
    ? { faults, missing: [...missing, 'owners'] }
    : { faults: { ...faults, owners }, missing };
}

async function digestsBefore(tx: Tx, before: SubmissionRow | undefined): Promise<Map<string, Buffer>> {
  if (before === undefined) return new Map();
  const rows = await tx.rows<{ slot: string; digest: Buffer }>(sql.digestsOf, [before.id]);
  return new Map(rows.map(({ slot, digest }) => [slot, digest]));
}

/**
 * While parts of a submission are rejected, missing parts may be added and accepted ones may be sent again unchanged.
 *
 * @throws Refusal 'malformed_field' that names each accepted part that would change
 */
function requireAsked(
  before: SubmissionRow | undefined,
  is: {
    known: Answers;
    said: Answers;
    there: ReadonlyMap<string, Buffer>;
    sent: readonly StoredFile[];
    /** Stored answers that the form no longer accepts: they may change too. */
    faults: Readonly<Record<string, string>>;
  },
): void {
  const { known, said, there, sent, faults } = is;
  const refused = Object.entries(before?.reasons ?? {}).flatMap(([name, code]) => (code === 'missing' ? [] : [name]));
  if (refused.length === 0) return;
  const changed = [
    ...Object.keys(said).filter((name) => Object.hasOwn(known, name) && known[name] !== said[name]),
    ...sent.filter(({ slot, digest }) => there.get(slot)?.equals(digest) === false).map(({ slot }) => slot),
  ].filter((name) => !refused.includes(name) && !Object.hasOwn(faults, name));
  if (changed.length === 0) return;
  const why = `was accepted: only ${refused.join(', ')} may be sent again`;
  throw new Refusal('malformed_field', { fields: Object.fromEntries(changed.map((name) => [name, why])) });
}

/** Whether this request has the part. An empty text is not in it: what was rejected stays so. */
const isGivenAgain = ({ said, sent }: { said: Answers; sent: readonly StoredFile[] }, name: string): boolean =>
  Object.hasOwn(said, name) || sent.some(({ slot }) => slot === name);

/**
 * Adds files. To an open submission they are added like every other part; for one that the verifier has, or has had, they are
 * stored beside it and change nothing. Without a submission they begin one.
 *
 * @throws as `submit`; 'submission_over' when it has failed
 */
export async function addFiles(
  tx: Tx,
  vault: Vault,
  f: {
    customerId: string;
    submissionId?: bigint | undefined;
    form: ChosenForm;
    files: readonly StoredFile[];
    now: Date;
  },
): Promise<Submission & { isNew: boolean }> {
  const { customerId, files, now } = f;
  await lockCustomer(tx, customerId);
  const customer = await findCustomer(tx, customerId);
  const meant =
    f.submissionId === undefined
      ? await newestSubmission(tx, customerId)
      : await tx.row<SubmissionRow>(sql.submissionById, [f.submissionId, customerId]);
  if (f.submissionId !== undefined && meant === undefined) throw new Refusal('unknown_submission');
  if (f.submissionId !== undefined && meant?.state === 'failed') throw new Refusal('submission_over');
  if (meant === undefined || meant.state === 'failed')
    return await submit(tx, vault, { ...f, submissionId: undefined, given: { answers: {}, files }, inParts: true });
  if (meant.state === 'open')
    return await submit(tx, vault, { ...f, submissionId: meant.id, given: { answers: {}, files }, inParts: true });
  if (customer.blocked || customer.verification === 'refused') throw new Refusal('customer_blocked');
  const submission = { id: meant.id, customerId, partnerId: customer.partnerId };
  await recordFiles(tx, vault, { submission, form: f.form.form, files, now });
  // Its job compares the files with those of other customers.
  lookNow(tx, customerId, now);
  return { ...submissionOf(meant), isNew: false };
}

/** The submission that a request adds to; undefined when it begins one. */
async function addedTo(
  tx: Tx,
  { id: customerId, kind }: Customer,
  s: { submissionId?: bigint | undefined; begins?: boolean },
): Promise<SubmissionRow | undefined> {
  const current = await tx.row<SubmissionRow>(sql.underWay, [customerId]);
  const named =
    s.submissionId === undefined
      ? undefined
      : await tx.row<SubmissionRow>(sql.submissionById, [s.submissionId, customerId]);
  if (s.submissionId !== undefined && named === undefined) throw new Refusal('unknown_submission');
  if (named?.state === 'completed' || named?.state === 'failed') throw new Refusal('submission_over');
  // The older wire has no submissionId for persons: a retry without one refers to the open submission.
  const isMeant = named !== undefined || (s.begins !== true && kind === 'INDIVIDUAL' && current?.state === 'open');
  if (current !== undefined && (current.state === 'in_review' || !isMeant))
    throw new Refusal('submission_exists', { submissionId: String(current.id), state: current.state });
  return current;
}

/** @returns the version of the details that the verifier is asked about */
async function toVerifier(
  tx: Tx,
  vault: Vault,
  {
    customer,
    answers,
    expiry,
    asksNow,
    now,
  }: { customer: Customer; answers: Answers; expiry: Expiry | undefined; asksNow: boolean; now: Date },
): Promise<number> {
  // Replaces earlier details, whatever their result. The lock prevents a result from being recorded in between.
  const over = await lockGivenDetails(tx, customer.id);
  const { version } = await saveDetails(tx, vault, { customer, details: answers, over, now });
  await saveExpiry(tx, { customer, version, expiry });
  await announceReview(tx, customer, now);
  if (!asksNow) lookNow(tx, customer.id, now);
  return version;
}

const openAnswers = (vault: Vault, row: Pick<SubmissionRow, 'id' | 'answers'>): Record<string, string> =>
  // The answers were erased.
  row.answers.length === 0 ? {} : (JSON.parse(vault.decrypt(row.answers, contextOf(row.id))) as Record<string, string>);

/** The submission that a person may continue, with its form if that has a row; undefined without one. */
export async function openUnderWay(
  tx: Tx,
  vault: Vault,
  customerId: string,
): Promise<{ form: ChosenForm | undefined; answers: Record<string, string>; reasons: FieldReasons } | undefined> {
  const row = await tx.row<SubmissionRow>(sql.underWay, [customerId]);
  if (row === undefined || row.state !== 'open') return undefined;
  const form = row.formId === null ? undefined : await formById(tx, row.formId);
  return { form, answers: openAnswers(vault, row), reasons: row.reasons as FieldReasons };
}

/** All answers from the customer's programs and people, decrypted, oldest first. */
export async function openSubmissions(
  tx: Tx,
  vault: Vault,
  of: { customerId: string; limit: number },
): Promise<{ id: bigint; state: string; answers: Record<string, string>; files: DocumentRow[]; createdAt: Date }[]> {
  const rows = await tx.rows<SubmissionRow>(sql.ofCustomer, [of.customerId, of.limit]);
  const opened = [];
  for (const row of rows)
    opened.push({
      ...{ id: row.id, state: row.state, createdAt: row.createdAt },
      ...{ answers: openAnswers(vault, row), files: await tx.rows<DocumentRow>(sql.allFilesOf, [row.id]) },
    });
  return opened;
}

/**
 * The fields and files that a form still requires of a customer: those missing from its open submission, or to be sent again.
 * Without an open submission, all that the form requires; nothing while one is in review.
 */
export async function missingOf(
  tx: Tx,
  vault: Vault,
  { customerId, form, now }: { customerId: string; form: ChosenForm; now: Date },
): Promise<{ fields: string[]; files: string[] }> {
  const current = await tx.row<SubmissionRow>(sql.underWay, [customerId]);
  if (current?.state === 'in_review') return { fields: [], files: [] };
  const answers = current === undefined ? {} : openAnswers(vault, current);
  const judged = await judgeAnswers(form.form, [answers], { now, tx });
  const { missing, faults } = checkStored(form.form, answers, now, judged);
  const files = missingSlots(form, new Set((await digestsBefore(tx, current)).keys()));
  const again = Object.entries(current?.reasons ?? {}).flatMap(([name, code]) => (code === 'missing' ? [] : [name]));
  const slots = slotsOf(form.form);
  const fields = [...missing, ...Object.keys(faults), ...again.filter((name) => !slots.has(name))];
  return {
    fields: [...new Set(fields)],
    files: [...new Set([...files, ...again.filter((name) => slots.has(name))])],
  };
}

/** @param submissionId the submission; without it, the newest @throws Refusal 'unknown_customer' | 'unknown_submission' */
export async function findSubmission(tx: Tx, customerId: string, submissionId?: bigint): Promise<Submission> {
  await findCustomer(tx, customerId);
  const row =
    submissionId === undefined
      ? await newestSubmission(tx, customerId)
      : await tx.row<SubmissionRow>(sql.submissionById, [submissionId, customerId]);
  if (row === undefined) throw new Refusal('unknown_submission');
  return submissionOf(row);
}

/** The form that a submission was begun with, by default the newest submission; undefined when the form has no row. */
export async function formOfSubmission(
  tx: Tx,
  customerId: string,
  submissionId?: bigint,
): Promise<ChosenForm | undefined> {
  const row =
    submissionId === undefined
      ? await newestSubmission(tx, customerId)
      : await tx.row<SubmissionRow>(sql.submissionById, [submissionId, customerId]);
  const formId = row?.formId ?? null;
  return formId === null ? undefined : await formById(tx, formId);
}

/** The level that the customer's submission under way asks for; undefined without one, or if it names none. */
export const levelUnderWay = async (tx: Tx, customerId: string): Promise<number | undefined> =>
  (await tx.row<SubmissionRow>(sql.underWay, [customerId]))?.level ?? undefined;

/** A customer's submissions, newest first. @param of.below only submissions older than this id */
export const submissionsOf = async (
  tx: Tx,
  of: { customerId: string; below?: bigint | undefined; limit: number },
): Promise<Submission[]> =>
  (await tx.rows<SubmissionRow>(sql.page, [of.customerId, of.below ?? null, of.limit])).map(submissionOf);

/** Names of the fields that have an answer. */
export async function answeredFields(tx: Tx, vault: Vault, submission: Submission): Promise<string[]> {
  const row = await tx.row<SubmissionRow>(sql.submissionById, [submission.id, submission.customerId]);
  return row === undefined ? [] : Object.keys(openAnswers(vault, row));
}

/** Sets the result that the sandbox control requests, in addition to the customer's own verification state. */
export async function driveSubmission(
  tx: Tx,
  d: { submission: Submission; outcome: Customer['verification']; reasons: FieldReasons; now: Date },
): Promise<void> {
  const { id, customerId } = d.submission;
  if (d.outcome === 'none') return;
  const current = await tx.row<SubmissionRow>(sql.underWay, [customerId]);
  if (current !== undefined && current.id !== id)
    throw new Refusal('submission_exists', { submissionId: String(current.id), state: current.state });
  if (d.outcome === 'verified') {
    await tx.run(sql.endAllExpiries, [customerId, d.now]);
    await tx.run(sql.unlapsed, [customerId]);
  }
  await tx.run(sql.drive, [id, stateAfter(d.outcome, d.reasons), d.reasons, d.now]);
  // Ensures that a later answer of the verifier about the same details has no effect.
  const version = (await tx.row<SubmissionRow>(sql.submissionById, [id, customerId]))?.detailsVersion;
  if (version !== null && version !== undefined) await tx.run(customers.detailsFound, [customerId, version, d.outcome]);
}

/** Reasons as sentences for a program, with an example where the form has one. */
export function saidReasons({ form }: ChosenForm, reasons: FieldReasons): Record<string, string> {
  const fields = new Map(fieldsOf(form).map((field) => [field.name, field]));
  return Object.fromEntries(
    Object.entries(reasons).map(([name, code]) => {
      const field = fields.get(name);
      const example = field === undefined ? undefined : exampleOf(field);
      const said = FIELD_REASONS[code] ?? FIELD_REASONS.not_accepted;
      const percent = name === 'owners' ? minimumTotalShareOf(form) : undefined;
      if (percent !== undefined) return [name, `${said}: they ${ownersRule(percent)}`];
      return [name, example === undefined ? said : `${said}, for example ${example}`];
    }),
  );
}

/** What to do about a reason, with the rule about owners if the form has one. */
function remedyOf(form: Form, name: string, reason: FieldReason): string {
  const percent = name === 'owners' ? minimumTotalShareOf(form) : undefined;
  const more = percent === undefined ? '' : ` The owners ${ownersRule(percent)}.`;
  return `${REMEDIES[reason]}${more}`;
}

interface Need {
  readonly name: string;
  readonly what: 'field' | 'file';
  readonly reason: FieldReason;
  readonly means: string;
  readonly remedy: string;
  readonly example: string | null;
}

/** What an open submission needs, each with its reason and remedy. */
export function neededOf({ form }: ChosenForm, { state, reasons }: Pick<Submission, 'state' | 'reasons'>): Need[] {
  if (state !== 'open') return [];
  const fields = new Map(fieldsOf(form).map((field) => [field.name, field]));
  const slots = slotsOf(form);
  return Object.entries(reasons).map(([name, reason]) => {
    const field = fields.get(name);
    return {
      ...{ name, what: slots.has(name) ? 'file' : 'field', reason },
      ...{ means: FIELD_REASONS[reason], remedy: remedyOf(form, name, reason) },
      example: (field === undefined || field.type === 'file' ? undefined : exampleOf(field)) ?? null,
    };
  });
}
