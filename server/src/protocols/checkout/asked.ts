/**
 * What the verification page asks: the form that programs receive for this customer, with the customer's answers so far.
 *
 * The form is the same declaration as on the wires, and its answers pass the same check (customers/identity/). The words of our
 * default forms are in the catalogue of messages. The fields of an operators' form have the operators' labels, and get a prefix
 * in their names, because the page uses some names for other fields.
 *
 * After a refusal the page asks only for what was refused or is missing, each with its reason and remedy, and shows the accepted
 * rest. Answers saved earlier (drafts.ts), or sent by a program or on an earlier visit, are filled in.
 *
 * Not here: files (slots.ts), owners and directors (people.ts), what a press of a button does (kyc.ts).
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import {
  BUSINESS_FORM,
  type ChosenForm,
  COMPANY_NAMES,
  documentsOf,
  FIELD_REASONS,
  type FieldReasons,
  type Form,
  faultOf,
  fieldsOf,
  filesOf,
  findSubmission,
  minimumTotalShareOf,
  missingOf,
  neededOf,
  openDraft,
  openUnderWay,
  ownersFault,
  PERSON_FORM,
} from '../../customers/index.ts';
import { customerForm } from '../submissions.ts';
import { countriesIn, inWords } from './choices.ts';
import { type Field, MOST_CHARS, type Problems } from './form.ts';
import type { Messages } from './messages.ts';
import { type People, peopleIn, ROLES, type Role } from './people.ts';
import { type Slots, slotLabels, slotsIn } from './slots.ts';
import type { Visit } from './visit.ts';

export interface Asked {
  readonly form: ChosenForm;
  /** The open submission that the answers are added to; undefined: they begin one. */
  readonly submissionId: bigint | undefined;
  /** The fields to fill in. */
  readonly groups: readonly Group[];
  /** Answers that were accepted while others were refused: they are shown and stay. */
  readonly accepted: readonly { readonly name: string; readonly label: string; readonly value: string }[];
  readonly slots: Slots;
  /** Owners and directors; undefined for a person. */
  readonly people: People | undefined;
  /** Values saved or sent earlier, by the names of the page. */
  readonly given: URLSearchParams;
  /** What was refused, by the names of the page: reason and remedy. */
  readonly refused: Problems;
  /** The label of anything that the page asks for, by the name of the declaration. */
  labelOf(name: string): string;
  /** The name on the page of a name of the declaration. */
  onPage(name: string): string;
}

interface Group {
  readonly legend: string | undefined;
  readonly fields: readonly Field[];
}

const PREFIX = 'answer-';
/** Texts of a business that wires accept beside its form, with their limits there. */
const BESIDE = { entityName: 256, legalEntityNature: 128 } as const;

export async function askedOf(visit: Visit, tx: Tx): Promise<Asked> {
  const { customer, partner, deps, look, now } = visit;
  const saved = await openDraft(tx, deps.vault, customer.id);
  const begun = await openUnderWay(tx, deps.vault, customer.id);
  const submissionId = begun === undefined ? undefined : (await findSubmission(tx, customer.id)).id;
  const form = begun?.form ?? (await customerForm(tx, partner, { customer }, now));
  const missing = await missingOf(tx, deps.vault, { customerId: customer.id, form, now });
  const files = submissionId === undefined ? [] : await filesOf(tx, submissionId);
  const reasons = refusedIn(begun?.reasons ?? {});
  const known = begun?.answers ?? {};
  const isFixed = (name: string): boolean =>
    Object.keys(reasons).length > 0 && (known[name] ?? '') !== '' && !missing.fields.includes(name);

  // After a refusal an optional answer that was never given is not asked for again.
  const isAsked = (name: string): boolean => Object.keys(reasons).length === 0 || missing.fields.includes(name);

  const isBusiness = customer.kind === 'BUSINESS';
  const names = namesOf(form.form, isBusiness, look.m);
  const said = neededOf(form, { state: 'open', reasons });
  const groups = groupsOf(form.form, { m: look.m, now, isBusiness });
  const all = groups.flatMap(({ fields }) => fields);
  return {
    ...{ form, submissionId, ...names },
    groups: groups
      .map(({ legend, fields }) => ({ legend, fields: fields.filter(({ name }) => isAsked(declaredName(name))) }))
      .filter(({ fields }) => fields.length > 0),
    accepted: all
      .filter(({ name }) => isFixed(declaredName(name)))
      .map(({ name, label, kind }) => {
        const value = known[declaredName(name)] ?? '';
        return { name, label, value: kind instanceof Map ? (kind.get(value) ?? value) : value };
      }),
    slots: slotsIn(form, { files, missing: missing.files, refused: reasons, m: look.m }),
    people: isBusiness
      ? peopleIn({ saved, known, isFixed, minimumTotalShare: minimumTotalShareOf(form.form) })
      : undefined,
    given: new URLSearchParams(
      Object.entries({ ...known, ...saved })
        .filter(([name]) => !ROLES.includes(name as Role))
        .map(([name, value]): [string, string] => [names.onPage(name), value]),
    ),
    refused: new Map(
      said.map(({ name, means, remedy, example }) => {
        const more = example === null ? '' : ` ${look.m.problems.example(example)}`;
        const sentence = `${names.labelOf(name)} ${means}. ${remedy}${more}`;
        return [names.onPage(name), sentence];
      }),
    ),
  };
}

/** Reasons of a verifier, without those that only say what has not been sent yet. */
const refusedIn = (reasons: FieldReasons): FieldReasons =>
  Object.fromEntries(Object.entries(reasons).filter(([, code]) => code !== 'missing'));

/** The values of a page's form, by the names of the declaration: answers to the form, and the texts beside it. */
export function declared(
  values: Readonly<Record<string, string>>,
  { form }: ChosenForm,
): { answers: Record<string, string>; more: Record<string, string> } {
  const names = new Set(fieldsOf(form).map(({ name }) => name));
  const all = Object.entries(values).map(([name, value]) => [declaredName(name), value] as const);
  return {
    answers: Object.fromEntries(all.filter(([name]) => names.has(name))),
    more: Object.fromEntries(all.filter(([name]) => !names.has(name) && Object.hasOwn(BESIDE, name))),
  };
}

const declaredName = (name: string): string => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name);

/** Whether the form is one of our default forms, whose words are in the catalogue. */
const isOurs = (form: Form): boolean => form === BUSINESS_FORM || form === PERSON_FORM;

/** Faults of a refused submission, by the names of the page. @throws the error, when it is no refusal of fields */
export function faultsIn(error: unknown, asked: Asked): Map<string, string> {
  if (!(error instanceof Refusal) || error.code !== 'malformed_field') throw error;
  const faults = Object.entries(error.facts.fields as Record<string, string>);
  return new Map(faults.map(([name, why]) => [asked.onPage(name), `${asked.labelOf(name)} ${why}`]));
}

/** The owners who are named hold less than the form asks for. */
export function ownersLack({ form, people }: Asked, m: Messages): string | undefined {
  if (people?.minimumTotalShare === undefined || ownersFault(form.form, people.owners) === undefined) return undefined;
  return m.business.least(people.minimumTotalShare);
}

/** What an open submission still lacks, by the names of the page. */
export const lackingIn = (asked: Asked, reasons: FieldReasons, m: Messages): Map<string, string> =>
  new Map(
    Object.keys(reasons).map((name) => {
      const label = asked.labelOf(name);
      const missing = asked.slots.has(name) ? m.files.missing(label) : m.problems.missing(label);
      return [asked.onPage(name), asked.refused.get(asked.onPage(name)) ?? missing];
    }),
  );

function namesOf(form: Form, isBusiness: boolean, m: Messages): Pick<Asked, 'labelOf' | 'onPage'> {
  const labels = new Map<string, string>([
    ...Object.entries(isBusiness ? { ...m.business.fields, ...m.business.lists } : {}),
    ...slotLabels(form, m),
    ...fieldsOf(form).map(({ name, label }) => [name, wordsOf(form, name, label, m)] as const),
  ]);
  const slots = new Set([...documentsOf(form).flatMap(({ files }) => files), ...fileFieldsOf(form)]);
  const answers = new Set(fieldsOf(form).map(({ name }) => name));
  return {
    labelOf: (name) => labels.get(name) ?? name,
    onPage: (name) => {
      if (slots.has(name)) return `file-${name}`;
      return answers.has(name) && !isOurs(form) ? `${PREFIX}${name}` : name;
    },
  };
}

const fileFieldsOf = (form: Form): string[] =>
  fieldsOf(form).flatMap(({ name, type }) => (type === 'file' ? [name] : []));

const wordsOf = (form: Form, name: string, label: string, m: Messages): string =>
  isOurs(form) ? ((m.details.fields as Readonly<Record<string, string>>)[name] ?? label) : label;

type FormField = ReturnType<typeof fieldsOf>[number];

interface Making {
  readonly m: Messages;
  readonly now: Date;
  readonly isBusiness: boolean;
}

function groupsOf(form: Form, making: Making): Group[] {
  const { m, isBusiness } = making;
  const groups = new Map<string | null, Field[]>();
  for (const field of fieldsOf(form)) {
    if (field.type === 'file') continue;
    const made = isOurs(form) ? ourField(field, making) : theirField(field, making);
    groups.set(field.group, [...(groups.get(field.group) ?? []), made]);
  }
  const beside = isBusiness ? besideIn(form, m) : [];
  const company = beside.length === 0 ? [] : [{ legend: m.business.company, fields: beside }];
  if (!isOurs(form)) {
    const theirs = [...groups].map(([name, fields]) => ({ legend: name === null ? undefined : inWords(name), fields }));
    return [...company, ...theirs];
  }
  const { person, represents, address, seat } = m.details.groups;
  return [
    ...company,
    {
      legend: isBusiness ? represents : person,
      fields: [...(groups.get('details') ?? []), ...(groups.get(null) ?? [])],
    },
    { legend: isBusiness ? seat : address, fields: groups.get('address') ?? [] },
  ];
}

/** Name and legal form of a business, unless the form itself asks for them. */
function besideIn(form: Form, m: Messages): Field[] {
  const names = new Set(fieldsOf(form).map(({ name }) => name));
  return Object.entries(BESIDE).flatMap(([name, mostChars]) =>
    names.has(name) || (name === 'entityName' && COMPANY_NAMES.some((one) => names.has(one)))
      ? []
      : [
          {
            ...{ name, label: m.business.fields[name as keyof typeof BESIDE], required: false, mostChars },
            autocomplete: name === 'entityName' ? 'organization' : 'off',
            read: (given) => given,
            fault: () => `${m.business.fields[name as keyof typeof BESIDE]} ${FIELD_REASONS.not_accepted}`,
          },
        ],
  );
}

function theirField(field: FormField, { m, now }: Making): Field {
  const { name, label, required, type, options } = field;
  const choices = options && new Map(options.map((one) => [one, one]));
  const kind = type === 'country' ? countriesIn(m.lang) : choices;
  const said = (given: string): string | undefined => faultOf(field, given, now);
  return {
    ...{ name: `${PREFIX}${name}`, label, required: required === 1, mostChars: MAX_CHARS, autocomplete: 'off' },
    kind: kind ?? (type === 'date' ? 'date' : undefined),
    read: (given) => (said(given) === undefined ? given : undefined),
    fault: (given) => `${label} ${said(given) ?? FIELD_REASONS.not_accepted}`,
  };
}

const MAX_CHARS = 256;

/** Autocomplete tokens of HTML, for browsers. */
const AUTOCOMPLETE: Readonly<Record<string, string>> = {
  firstName: 'given-name',
  lastName: 'family-name',
  secondSurname: 'family-name',
  dob: 'bday',
  sex: 'sex',
  addressLine1: 'address-line1',
  addressLine2: 'address-line2',
  city: 'address-level2',
  postalCode: 'postal-code',
};

/** A field of a default form. A select of it has no options of its own: the catalogue has them. */
function ourField(field: FormField, { m, now }: Making): Field {
  const { name, required, type } = field;
  const words = m.details;
  const choices: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    sex: words.sex,
    sourceOfFunds: words.sourceOfFunds,
  };
  const choice = choices[name];
  const kind = choice === undefined ? undefined : new Map(Object.entries(choice));
  return {
    ...{ name, label: (words.fields as Readonly<Record<string, string>>)[name] ?? field.label },
    required: required === 1,
    kind: kind ?? (type === 'date' ? 'date' : undefined),
    ...{ autocomplete: AUTOCOMPLETE[name] ?? 'off', mostChars: MOST_CHARS },
    read: (given) => (faultOf(field, given, now) === undefined && (kind?.has(given) ?? true) ? given : undefined),
  };
}
