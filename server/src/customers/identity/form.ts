/**
 * Forms: what a customer must supply to be verified, as data.
 *
 * A form is the same object that programs receive: requirements by name, groups of them, `documents`, the kinds of document
 * with the file slots of each, and `owners`, what the owners of a business must hold together. So the check uses exactly what was
 * requested. A name occurs once in a form, in whichever group.
 *
 * Not here: which form applies (forms.ts), the defaults (defaults.ts), the validity of an answer (answers.ts).
 */
import { MAX_PATTERN_CHARS } from '../../base/patterns.ts';

export const FIELD_TYPES = ['text', 'date', 'select', 'country', 'file'] as const;

export interface Requirement {
  readonly label: string;
  readonly required: 0 | 1;
  /** A field without a type is text. */
  readonly type?: (typeof FIELD_TYPES)[number];
  readonly regex?: string;
  /** The choices of a select; without them any text is accepted. */
  readonly options?: readonly string[];
  readonly example?: string;
  /** Of a date: the fields and files that expire when this day is over. */
  readonly expires?: readonly string[];
}

/** As sent to programs. Forms stored before this check may hold other values, which then require nothing. */
export type Form = Readonly<Record<string, unknown>>;

export interface FormField extends Requirement {
  readonly name: string;
  /** null: outside the groups. */
  readonly group: string | null;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isRequirement = (value: unknown): value is Requirement & Record<string, unknown> =>
  isObject(value) && typeof value.label === 'string' && (value.required === 0 || value.required === 1);

/** Every field, in the order of the form. */
export function fieldsOf(form: Form): FormField[] {
  const fields: FormField[] = [];
  for (const [name, value] of Object.entries(form)) {
    if (name === 'documents') continue;
    if (isRequirement(value)) fields.push({ ...value, name, group: null });
    else if (isObject(value))
      for (const [inner, one] of Object.entries(value))
        if (isRequirement(one)) fields.push({ ...one, name: inner, group: name });
  }
  return fields;
}

export interface DocumentKind {
  readonly code: string;
  readonly idName: string;
  readonly files: readonly string[];
}

/** The kinds of document, each with the names of its files. */
export function documentsOf(form: Form): DocumentKind[] {
  if (!isObject(form.documents)) return [];
  return Object.entries(form.documents).flatMap(([code, kind]) =>
    isObject(kind) && Array.isArray(kind.files)
      ? [{ code, idName: String(kind.idName ?? code), files: kind.files.filter((one) => typeof one === 'string') }]
      : [],
  );
}

/** Names of the files of a form's identity documents. */
export const documentSlotsOf = (form: Form): ReadonlySet<string> =>
  new Set(documentsOf(form).flatMap(({ files }) => files));

/** Names of all files that a form accepts: those of its documents, and its fields of type `file`. */
export const slotsOf = (form: Form): ReadonlySet<string> =>
  new Set([
    ...documentSlotsOf(form),
    ...fieldsOf(form)
      .filter(({ type }) => type === 'file')
      .map(({ name }) => name),
  ]);

/**
 * The files that are still needed: of required file fields, and of the document with the most files so far. If none was begun and
 * one is needed, those of the first kind.
 */
export function missingSlots(
  { form, needsDocument }: { form: Form; needsDocument: boolean },
  given: ReadonlySet<string>,
): string[] {
  const fields = fieldsOf(form)
    .filter(({ type, required, name }) => type === 'file' && required === 1 && !given.has(name))
    .map(({ name }) => name);
  const kinds = documentsOf(form).map(({ files }) => ({
    sent: files.filter((file) => given.has(file)).length,
    missing: files.filter((file) => !given.has(file)),
  }));
  const best = kinds.toSorted((a, b) => a.missing.length - b.missing.length || b.sent - a.sent)[0];
  const isBegun = kinds.some(({ sent }) => sent > 0);
  return best === undefined || (!isBegun && !needsDocument) ? fields : [...fields, ...best.missing];
}

/** Percent that the owners of a business must hold together; undefined when the form does not ask for owners. */
export function minimumTotalShareOf({ owners }: Form): number | undefined {
  const percent = isObject(owners) ? owners.minimumTotalShare : undefined;
  return isPercent(percent) ? percent : undefined;
}

/** Above 0 and at most 100, with at most two places. */
const isPercent = (value: unknown): value is number =>
  typeof value === 'number' && value > 0 && value <= 100 && Number(value.toFixed(2)) === value;

const NAME = /^[A-Za-z][A-Za-z0-9]{0,63}$/;
const SLOT = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const MOST_FIELDS = 60;
const MOST_SLOTS = 20;
const MAX_LABEL_CHARS = 128;
const MOST_OPTIONS = 300;
/** Names of a request's own fields, which a form must not use. */
const TAKEN = ['customerId', 'submissionId', 'fiatType', 'countryCode', 'owners', 'directors', 'documents'];

/**
 * What is wrong with a form by its structure, by the path of each part, such as `details.dob.regex`. Not here: what its patterns
 * accept (forms.ts).
 */
export function faultsOfForm(form: Form, kind: 'INDIVIDUAL' | 'BUSINESS'): ReadonlyMap<string, string> {
  const wrong = new Map<string, string>();
  const names = new Set<string>();
  const expiring = new Map<string, unknown>();
  const field = (path: string, name: string, value: unknown): void => {
    if (!NAME.test(name) || TAKEN.includes(name)) wrong.set(path, 'must be a name of letters and digits of its own');
    else if (names.has(name)) wrong.set(path, 'must stand once in a form');
    names.add(name);
    if (isObject(value) && value.expires !== undefined) expiring.set(path, value.expires);
    for (const [part, why] of faultsOf(value)) wrong.set(part === '' ? path : `${path}.${part}`, why);
  };
  for (const [name, value] of Object.entries(form)) {
    if (name === 'documents') checkDocuments(value, wrong);
    else if (isObject(value) && isOwners(name, value)) checkOwners(value, kind, wrong);
    else if (!isObject(value) || 'label' in value || 'required' in value) field(name, name, value);
    else if (!NAME.test(name)) wrong.set(name, 'must be a name of letters and digits');
    else for (const [inner, one] of Object.entries(value)) field(`${name}.${inner}`, inner, one);
  }
  for (const [path, expires] of expiring) {
    const known = new Set([...names, ...slotsOf(form)]);
    if (!Array.isArray(expires) || expires.length === 0 || !expires.every((one) => known.has(one)))
      wrong.set(`${path}.expires`, 'must be a list of fields and files of this form');
  }
  if (names.size === 0) wrong.set('form', 'must ask for at least one field');
  if (names.size > MOST_FIELDS) wrong.set('form', `must have at most ${MOST_FIELDS} fields`);
  return wrong;
}

const isLabel = (value: unknown): boolean =>
  typeof value === 'string' && value.trim() !== '' && value.length <= MAX_LABEL_CHARS && !/[\p{Cc}<>]/u.test(value);

/** The fault of a requirement, by the name of its part. */
function faultsOf(value: unknown): [part: string, why: string][] {
  if (!isObject(value)) return [['', 'must be an object with label and required']];
  const { label, required, type, regex, options, example, expires, ...more } = value;
  const found: [string, string][] = Object.keys(more).map((part) => [part, 'is no part of a field']);
  if (!isLabel(label)) found.push(['label', `must be a text of 1 to ${MAX_LABEL_CHARS} characters without < or >`]);
  if (required !== 0 && required !== 1) found.push(['required', 'must be 0 or 1']);
  if (type !== undefined && !FIELD_TYPES.includes(type as 'text'))
    found.push(['type', `must be one of ${FIELD_TYPES.join(', ')}`]);
  if (regex !== undefined && typeof regex !== 'string')
    found.push(['regex', `must be a text of ${MAX_PATTERN_CHARS} characters`]);
  const areOptions = Array.isArray(options) && options.length > 0 && options.length <= MOST_OPTIONS;
  if (options !== undefined && !(areOptions && options.every(isLabel)))
    found.push(['options', `must be a list of 1 to ${MOST_OPTIONS} texts`]);
  if (expires !== undefined && type !== 'date') found.push(['expires', 'must be part of a field of the type date']);
  if (example !== undefined && !isLabel(example)) found.push(['example', 'must be a text']);
  return found;
}

/** Forms were saved with groups of this name: only this part tells the rule from a group. */
const isOwners = (name: string, value: object): boolean => name === 'owners' && 'minimumTotalShare' in value;

function checkOwners(
  { minimumTotalShare, ...more }: Record<string, unknown>,
  kind: 'INDIVIDUAL' | 'BUSINESS',
  wrong: Map<string, string>,
): void {
  for (const part of Object.keys(more)) wrong.set(`owners.${part}`, 'is no part of owners');
  if (kind !== 'BUSINESS') wrong.set('owners', 'is only for a form of businesses');
  if (!isPercent(minimumTotalShare))
    wrong.set(
      'owners.minimumTotalShare',
      'must be a percentage above 0 and at most 100, with at most two places, for example 75',
    );
}

function checkDocuments(value: unknown, wrong: Map<string, string>): void {
  if (!isObject(value)) return void wrong.set('documents', 'must be an object of kinds of document');
  let slots = 0;
  for (const [code, kind] of Object.entries(value)) {
    const path = `documents.${code.slice(0, 16)}`;
    if (!/^[0-9]{1,4}$/.test(code)) wrong.set(path, 'must be under a number');
    else if (!isObject(kind) || !isLabel(kind.idName)) wrong.set(path, 'must have an idName');
    else if (!Array.isArray(kind.files) || kind.files.length === 0 || !kind.files.every(isSlot))
      wrong.set(`${path}.files`, 'must be a list of file names of letters, digits, points and hyphens');
    else slots += kind.files.length;
  }
  if (slots > MOST_SLOTS) wrong.set('documents', `must have at most ${MOST_SLOTS} files`);
}

const isSlot = (value: unknown): boolean => typeof value === 'string' && SLOT.test(value);
