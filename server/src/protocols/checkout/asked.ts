/**
 * The questions of the verification page: the form that operators have set for this customer, or our own.
 *
 * An operators' form is the declaration that programs receive, with its own labels, and its answers pass the same check
 * (customers/identity/answers.ts). On the page its field names get a prefix, because the page uses some names for other fields.
 * The words of our own form are in the catalogue of messages.
 *
 * Values saved earlier (drafts.ts), or sent by a program or on an earlier visit, are filled in.
 *
 * Not here: files. This page accepts none, and lists those still needed.
 */
import type { Tx } from '../../base/db.ts';
import {
  BUSINESS_FORM,
  type ChosenForm,
  FIELD_REASONS,
  faultOf,
  fieldsOf,
  isCountry,
  missingOf,
  openDraft,
  openUnderWay,
  type Requirement,
} from '../../customers/index.ts';
import { customerForm } from '../submissions.ts';
import type { Field, Problems } from './form.ts';
import type { Messages } from './messages.ts';
import type { Visit } from './visit.ts';

export interface Asked {
  /** The operators' form, whose answers become a submission; undefined for our own form. */
  readonly own: ChosenForm | undefined;
  readonly groups: readonly { readonly legend: string | undefined; readonly fields: readonly Field[] }[];
  /** Values saved or sent earlier, by the names of the page. */
  readonly given: URLSearchParams;
  /** Faults that the verifier has reported. */
  readonly problems: Problems;
  /** Labels of files that are needed and that this page does not accept. */
  readonly files: readonly string[];
}

const PREFIX = 'answer-';
const pageName = (name: string): string => `${PREFIX}${name}`;
/** The values of a page's form, by the names of the declaration. */
export const declared = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name, value]),
  );
/** Converts names in the other direction, for reasons and faults of fields. */
export const onPage = (of: Readonly<Record<string, string>>, asked: Pick<Asked, 'own'>): Map<string, string> =>
  new Map(Object.entries(of).map(([name, value]) => [asked.own === undefined ? name : pageName(name), value]));

export async function askedOf(visit: Visit, tx: Tx): Promise<Asked> {
  const { customer, partner, deps, look, now } = visit;
  const saved = await openDraft(tx, deps.vault, customer.id);
  const begun = customer.kind === 'INDIVIDUAL' ? await openUnderWay(tx, deps.vault, customer.id) : undefined;
  const applies = begun?.form ?? (await customerForm(tx, partner, { customer }, now));
  // A business has owners and documents, so only a program can submit its form.
  if (customer.kind !== 'INDIVIDUAL' || applies.id === null)
    return {
      own: undefined,
      groups: ourGroups(look.m, now),
      given: new URLSearchParams(saved),
      problems: new Map(),
      files: [],
    };
  const { files } = await missingOf(tx, deps.vault, { customerId: customer.id, form: applies, now });
  const labels = new Map(fieldsOf(applies.form).map(({ name, label }) => [name, label]));
  const refused = Object.entries(begun?.reasons ?? {}).filter(
    ([name, code]) => code !== 'missing' && !files.includes(name),
  );
  const asked = { own: applies };
  return {
    ...asked,
    groups: ownGroups(applies, look.m, now),
    given: new URLSearchParams([...onPage({ ...begun?.answers, ...saved }, asked)]),
    problems: new Map(
      refused.map(([name, code]) => [pageName(name), `${labels.get(name) ?? name} ${FIELD_REASONS[code]}`]),
    ),
    files: files.map((name) => labels.get(name) ?? name),
  };
}

function ownGroups({ form }: ChosenForm, m: Messages, now: Date): Asked['groups'] {
  const groups = new Map<string | null, Field[]>();
  for (const field of fieldsOf(form)) {
    if (field.type === 'file') continue;
    const { name, label, required, type, options } = field;
    const choices = options && new Map(options.map((one) => [one, one]));
    const kind = type === 'country' ? countriesIn(m.lang) : choices;
    const said = (given: string): string | undefined => faultOf(field, given, now);
    groups.set(field.group, [
      ...(groups.get(field.group) ?? []),
      {
        ...{ name: pageName(name), label, required: required === 1, mostChars: MAX_CHARS, autocomplete: 'off' },
        kind: kind ?? (type === 'date' ? 'date' : undefined),
        read: (given) => (said(given) === undefined ? given : undefined),
        fault: (given) => `${label} ${said(given) ?? FIELD_REASONS.not_accepted}`,
      },
    ]);
  }
  return [...groups].map(([name, fields]) => ({ legend: name === null ? undefined : inWords(name), fields }));
}

const MAX_CHARS = 256;

/** Formats `sourceOfWealth` as words. */
const inWords = (name: string): string => {
  const words = name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const COUNTRIES: readonly string[] = LETTERS.flatMap((a) => LETTERS.map((b) => a + b)).filter(isCountry);

/** Countries sorted by name, so that a reader finds one. */
function countriesIn(lang: string): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames(lang, { type: 'region' });
  const countries = COUNTRIES.map((code) => [code, names.of(code) ?? code] as const);
  return new Map(countries.toSorted(([, a], [, b]) => a.localeCompare(b, lang)));
}

/** Autocomplete tokens of HTML, for browsers. */
const AUTOCOMPLETE: Readonly<Record<string, string>> = {
  firstName: 'given-name',
  secondSurname: 'family-name',
  dob: 'bday',
  sex: 'sex',
  addressLine1: 'address-line1',
  addressLine2: 'address-line2',
  city: 'address-level2',
  postalCode: 'postal-code',
};

function ourGroups(m: Messages, now: Date): Asked['groups'] {
  const words = m.details;
  const choices: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    sex: words.sex,
    sourceOfFunds: words.sourceOfFunds,
  };
  const field = (name: keyof typeof words.fields, asked: Requirement): Field => {
    const { required, type } = asked;
    const choice = choices[name];
    const kind = choice === undefined ? undefined : new Map(Object.entries(choice));
    return {
      name,
      label: words.fields[name],
      required: required === 1,
      kind: kind ?? (type === 'date' ? 'date' : undefined),
      autocomplete: AUTOCOMPLETE[name] ?? 'off',
      read(given) {
        const isRight = faultOf({ ...asked, name }, given, now) === undefined && (kind?.has(given) ?? true);
        return isRight ? given : undefined;
      },
    };
  };
  const { details, address, identityNumber } = BUSINESS_FORM;
  const person = [
    field('firstName', details.firstName),
    field('firstSurname', details.firstSurname),
    field('secondSurname', details.secondSurname),
    field('dob', details.dob),
    field('sex', details.sex),
    field('identityNumber', identityNumber),
    field('sourceOfFunds', details.sourceOfFunds),
  ];
  const home = [
    field('addressLine1', address.addressLine1),
    field('addressLine2', address.addressLine2),
    field('city', address.city),
    field('postalCode', address.postalCode),
  ];
  return [
    { legend: words.groups.person, fields: person },
    { legend: words.groups.address, fields: home },
  ];
}
