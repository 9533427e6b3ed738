/**
 * Fields of the white-label wire: parses a request's fields one by one, with a reason for each invalid one.
 *
 * Every field is a text, but programs also send numbers, so a JSON number counts as its source text. Absent, null and "" are
 * the same and mean "missing". All missing fields are reported at once, in declaration order; only if none is missing are the
 * values checked, again all at once. An object, array or boolean instead of a text is a different error (`wrong_type`) with its
 * own status. Fields that are not declared are ignored.
 *
 * A field has the same type as everywhere (base/fields.ts). If a fault needs more than the field's one rule, its reader returns
 * `Malformed` with the sentence.
 *
 * Not here: whether the thing that a field names exists.
 */
import { isCalendarDay } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { Refusal } from '../../base/errors.ts';
import * as base from '../../base/fields.ts';
import { MAX_AMOUNT_CHARS, parseUnits } from '../../base/money.ts';
import { type Body, isAbsent, JsonNumber, plainDecimal } from './body.ts';

/** Reads a `BodyValue` that is present. */
export type Field<T> = base.Field<T, Malformed>;
export type Fields = Readonly<Record<string, Field<unknown>>>;
export type Values<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

/** A refused value: the rule, as the end of a sentence that begins with the field's name. */
export class Malformed {
  readonly why: string;
  readonly wrongType: boolean;
  /** The complete sentence, for faults whose text programs compare literally. */
  readonly sentence: string | undefined;
  constructor(why: string, options: { wrongType?: boolean; sentence?: string } = {}) {
    this.why = why;
    this.wrongType = options.wrongType ?? false;
    this.sentence = options.sentence;
  }
}

/** @param says, example description and example value, if they differ from those of the name (names.ts) */
export const required = <T>(field: Field<T>, says?: string, example?: string): Field<T> =>
  says === undefined ? field : { ...field, says, ...defined({ example }) };
export const optional = <T>(field: Field<T>, says?: string, example?: string): Field<T | undefined> => ({
  ...required(field, says, example),
  optional: true,
});

/** The value, or why it is refused. */
export function readField<T>(field: Field<T>, value: unknown): T | Malformed {
  const read = field.read(value);
  return read === undefined ? new Malformed(`must be ${field.rule}`) : read;
}

/**
 * @param options.only an undeclared field is an error instead of being ignored
 * @throws Refusal 'missing_fields' | 'malformed_field' | 'wrong_type', with every field concerned
 */
export function readFields<F extends Fields>(fields: F, body: Body, { only = false } = {}): Values<F> {
  const missing = Object.keys(fields).filter((name) => fields[name]?.optional !== true && isAbsent(body.get(name)));
  if (missing.length > 0) throw missingFields(missing);
  const values: Record<string, unknown> = {};
  const wrong: [string, Malformed][] = only ? undeclared(fields, body).map((name) => [name, noneOf(fields)]) : [];
  for (const [name, field] of Object.entries(fields)) {
    const value = body.get(name);
    if (isAbsent(value)) continue;
    const read = readField(field, value);
    if (read instanceof Malformed) wrong.push([name, read]);
    else values[name] = read;
  }
  if (wrong.length > 0) throw malformedFields(wrong);
  return values as Values<F>;
}

/** Sent names that are not fields: at most a few, and none longer than our longest name. */
export const undeclared = (fields: Fields, body: Body): string[] =>
  [...body.keys()]
    .filter((name) => !Object.hasOwn(fields, name))
    .slice(0, MOST_UNDECLARED)
    .map((name) => name.slice(0, LONGEST_NAME));
const MOST_UNDECLARED = 10;
const LONGEST_NAME = 64;

function noneOf(fields: Fields): Malformed {
  const names = Object.keys(fields);
  return new Malformed(names.length === 0 ? 'is no field: there are none here' : `is not one of ${names.join(', ')}`);
}

export const missingFields = (names: readonly string[]): Refusal => new Refusal('missing_fields', { names });

export const malformedField = (name: string, why: string): Refusal => malformedFields([[name, new Malformed(why)]]);

export function malformedFields(wrong: readonly (readonly [string, Malformed])[]): Refusal {
  const first = wrong[0]?.[1];
  return new Refusal(first?.wrongType ? 'wrong_type' : 'malformed_field', {
    fields: Object.fromEntries(wrong.map(([name, { why }]) => [name, why])),
    ...(first?.sentence === undefined ? {} : { sentence: first.sentence }),
  });
}

/** Maximum length of texts that are stored or looked up. */
const MAX_TEXT_CHARS = 128;

function asText(value: unknown, max: number): string | Malformed {
  if (typeof value !== 'string' && !(value instanceof JsonNumber))
    return new Malformed('must be a string', { wrongType: true });
  const read = typeof value === 'string' ? value : value.text;
  if (read.length > max) return new Malformed(`must have at most ${max} characters`);
  // PostgreSQL cannot store NUL, and other control characters only harm logs and statement lines.
  if (!base.isPlain(read)) return new Malformed('must not contain control characters');
  return read;
}

/** The rule for the text of a field. */
interface TextForm<T> extends Pick<Field<T>, 'rule' | 'schema'> {
  read(text: string): T | Malformed | undefined;
}

/** A text field with a maximum length and a further rule. */
export const ofText = <T>(max: number, { rule, schema, read }: TextForm<T>): Field<T> => ({
  rule,
  schema,
  read(value) {
    const text = asText(value, max);
    return text instanceof Malformed ? text : read(text);
  },
});

export const text = ({ max = MAX_TEXT_CHARS }: { max?: number } = {}): Field<string> => ({
  rule: `a text of at most ${max} characters`,
  schema: { type: 'string', maxLength: max },
  read: (value) => asText(value, max),
});

/** An identifier of ours or of the partner. A well-formed unknown one is "not found". */
export const id: Field<string> = text({ max: MAX_TEXT_CHARS });

/** A coin, currency or chain. */
export const code: Field<string> = text({ max: 32 });

/**
 * A decimal amount above zero as plain text; its decimal places are checked once the asset is known.
 *
 * A string is digits with at most one point. Only a JSON number may have an exponent, because some languages write ten million
 * as 1E7; it is expanded digit by digit.
 */
export const amount: Field<string> = {
  rule: 'a plain decimal number: digits with at most one point',
  schema: { type: 'string', pattern: '^([0-9]+\\.?[0-9]*|\\.[0-9]+)$', maxLength: MAX_AMOUNT_CHARS },
  read(value) {
    const sent = asText(value, 200);
    if (sent instanceof Malformed) return sent;
    const read = value instanceof JsonNumber ? plainDecimal(value) : sent;
    if (read === undefined || read.length > MAX_AMOUNT_CHARS)
      return new Malformed(`must have at most ${MAX_AMOUNT_CHARS} characters`);
    if (!/^(?:[0-9]+\.?[0-9]*|\.[0-9]+)$/.test(read)) return undefined;
    return /[1-9]/.test(read) ? read : new Malformed('must be greater than 0');
  },
};

/**
 * Smallest units of a parsed amount.
 *
 * @throws Refusal 'malformed_field' when it has more decimal places than the asset
 */
export function unitsOf(name: string, read: string, decimals: number): bigint {
  try {
    return parseUnits(read, decimals);
  } catch (error) {
    if (error instanceof Refusal) throw malformedField(name, String(error.facts.why));
    throw error;
  }
}

/** A whole number between two bounds, written with at most nine ASCII digits. */
export const wholeNumber = ({ min, max }: { min: number; max?: number }): Field<number> =>
  ofText(200, {
    rule: 'a whole number of at most 9 digits',
    schema: { type: 'integer', minimum: min, examples: [min], ...defined({ maximum: max }) },
    read(given) {
      const number = given.length > 9 ? undefined : ANY_WHOLE.read(given);
      if (number === undefined) return undefined;
      if (number < min) return new Malformed(`must be greater than ${min - 1}`);
      return max !== undefined && number > max ? new Malformed(`must be less than ${max + 1}`) : number;
    },
  });
const ANY_WHOLE = base.whole(0, 999_999_999);

/** A date, or a date with a time, in ISO 8601; without a zone it is UTC. */
export const moment: Field<Date> = ofText(40, {
  rule: 'a time such as 2024-05-08T12:38:11.000Z',
  schema: { type: 'string', maxLength: 40, examples: ['2024-05-08T12:38:11.000Z'] },
  read(given) {
    const form =
      /^([12][0-9]{3}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)(Z|[+-][0-9]{2}:[0-9]{2})?)?$/;
    const [, day = '', time = '00:00', zone = 'Z'] = form.exec(given) ?? [];
    const at = new Date(`${day}T${time}${zone}`);
    return isCalendarDay(day) && !Number.isNaN(at.getTime()) ? at : undefined;
  },
});

export const phone: Field<string> = ofText(40, {
  ...base.phone,
  read: (given) =>
    base.phone.read(given) ??
    new Malformed(`must be ${base.phone.rule}`, { sentence: 'Please provide a valid phone number string' }),
});

export const email: Field<string> = ofText(254, {
  ...base.text(254, /^[^\s@]+@[^\s@]+$/, 'an e-mail address'),
  schema: { type: 'string', format: 'email', maxLength: 254 },
});

const MAX_ADDRESS_CHARS = 1_000;
const anyAddress = base.webAddress(
  'an http or https address',
  ({ protocol, username, password }) => /^https?:$/.test(protocol) && username === '' && password === '',
);

export const webAddress: Field<string> = ofText(MAX_ADDRESS_CHARS, {
  rule: anyAddress.rule,
  schema: { ...anyAddress.schema, maxLength: MAX_ADDRESS_CHARS },
  read(given) {
    const href = anyAddress.read(given);
    // Escaping turns one character into up to nine, and the result must fit into the link we return.
    return href !== undefined && href.length > MAX_ADDRESS_CHARS
      ? new Malformed(`must have at most ${MAX_ADDRESS_CHARS} characters`)
      : href;
  },
});

/** One of a few lower-case words, exactly. */
export const oneWordOf = <T extends string>(...words: readonly T[]): Field<T> =>
  ofText(MAX_TEXT_CHARS, base.oneOf<T>(words, words.join(' or ')));

/** One of a few words, in any case. */
export function oneOf<T extends string>(...words: readonly T[]): Field<T> {
  const exact = base.oneOf<T>(words, words.join(' or '));
  return ofText(MAX_TEXT_CHARS, { ...exact, read: (given) => exact.read(given.toUpperCase()) });
}

const flagText = ofText(16, {
  ...base.flag,
  read: (given) => (given === '1' ? true : given === '0' ? false : base.flag.read(given.toLowerCase())),
});
/** Programs send a boolean, its text, or 0 or 1. */
export const flag: Field<boolean> = {
  ...flagText,
  read: (value) => (typeof value === 'boolean' ? value : flagText.read(value)),
};

/** The parsed value and its original form, which must be a text, for returning it in the type in which it was sent. */
export const sameType = ({
  rule,
  schema,
  read,
}: Field<string>): Field<{ text: string; sent: string | JsonNumber }> => ({
  rule,
  schema,
  read(value) {
    const known = read(value);
    return typeof known === 'string' ? { text: known, sent: value as string | JsonNumber } : known;
  },
});
