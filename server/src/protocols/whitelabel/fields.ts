/**
 * Fields: parses a request's fields one by one, with a reason for each invalid one.
 *
 * Every field is a text on this wire, and programs send numbers for them; so a JSON number counts as its own text. Absent,
 * null and "" are the same and mean "missing". All missing fields are reported at once, in declaration order; only if none is
 * missing are the values checked, again all at once. An object, array or boolean instead of a text is a different error
 * (`wrong_type`) with its own status.
 *
 * Each reader also declares what it accepts as a JSON Schema, from which the API is described (openapi.ts).
 *
 * Not here: whether the thing a field names exists.
 */
import { Refusal } from '../../base/errors.ts';
import { MAX_AMOUNT_CHARS, parseUnits } from '../../base/money.ts';
import { type Body, type BodyValue, isAbsent, JsonNumber, plainDecimal } from './body.ts';

/** JSON Schema of what a program may send. It describes; the reader decides. */
export type FieldSchema = Readonly<Record<string, unknown>>;

/** Parses a present value, or throws `Malformed`. */
export type Reader<T> = ((value: BodyValue) => T) & { readonly schema: FieldSchema };
export interface Field<T> {
  readonly optional: boolean;
  readonly read: Reader<T>;
  /** Its meaning here, if different from the name's general meaning (names.ts). */
  readonly says?: string;
}
export type Fields = Readonly<Record<string, Field<unknown>>>;
export type Values<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

export class Malformed extends Error {
  readonly wrongType: boolean;
  /** The complete sentence of the answer, when programs compare it literally. */
  readonly sentence: string | undefined;
  constructor(why: string, options: { wrongType?: boolean; sentence?: string } = {}) {
    super(why);
    this.wrongType = options.wrongType ?? false;
    this.sentence = options.sentence;
  }
}

export const reader = <T>(schema: FieldSchema, read: (value: BodyValue) => T): Reader<T> =>
  Object.assign((value: BodyValue) => read(value), { schema });

const field = <T>(optional: boolean, read: Reader<T>, says?: string): Field<T> => ({
  optional,
  read,
  ...(says === undefined ? {} : { says }),
});
export const required = <T>(read: Reader<T>, says?: string): Field<T> => field(false, read, says);
export const optional = <T>(read: Reader<T>, says?: string): Field<T | undefined> =>
  field<T | undefined>(true, read, says);

/** @throws Refusal 'missing_fields' | 'malformed_field' | 'wrong_type', with every field concerned */
export function readFields<F extends Fields>(fields: F, body: Body): Values<F> {
  const missing = Object.keys(fields).filter((name) => !fields[name]?.optional && isAbsent(body.get(name)));
  if (missing.length > 0) throw missingFields(missing);
  const values: Record<string, unknown> = {};
  const wrong: [string, Malformed][] = [];
  for (const [name, field] of Object.entries(fields)) {
    const value = body.get(name);
    if (isAbsent(value)) continue;
    try {
      values[name] = field.read(value);
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      wrong.push([name, error]);
    }
  }
  if (wrong.length > 0) throw malformedFields(wrong);
  return values as Values<F>;
}

export const missingFields = (names: readonly string[]): Refusal => new Refusal('missing_fields', { names });

export const malformedField = (name: string, why: string): Refusal => malformedFields([[name, new Malformed(why)]]);

export function malformedFields(wrong: readonly (readonly [string, Malformed])[]): Refusal {
  const first = wrong[0]?.[1];
  return new Refusal(first?.wrongType ? 'wrong_type' : 'malformed_field', {
    fields: Object.fromEntries(wrong.map(([name, error]) => [name, error.message])),
    ...(first?.sentence === undefined ? {} : { sentence: first.sentence }),
  });
}

/** Maximum length of texts that are stored or looked up. */
const MAX_TEXT_CHARS = 128;

function asText(value: BodyValue, max: number): string {
  if (typeof value !== 'string' && !(value instanceof JsonNumber))
    throw new Malformed('must be a string', { wrongType: true });
  const read = typeof value === 'string' ? value : value.text;
  if (read.length > max) throw new Malformed(`must have at most ${max} characters`);
  // PostgreSQL cannot store NUL, and other control characters only harm logs and statement lines.
  if (!read.isWellFormed() || /\p{Cc}/u.test(read)) throw new Malformed('must not contain control characters');
  return read;
}

export const text = ({ max = MAX_TEXT_CHARS }: { max?: number } = {}): Reader<string> =>
  reader({ type: 'string', maxLength: max }, (value) => asText(value, max));

/** An identifier of ours or of the partner's. A well-formed unknown one is "not found", whatever it looks like. */
export const id: Reader<string> = text({ max: MAX_TEXT_CHARS });

/** A coin, currency or chain. */
export const code: Reader<string> = text({ max: 32 });

/**
 * A decimal amount above zero as plain text; its decimal places are checked once the asset is known.
 *
 * A string is digits with at most one point. Only a JSON number may have an exponent, because some languages write ten
 * million so; it is expanded digit by digit.
 */
export const amount: Reader<string> = reader(
  { type: 'string', pattern: '^([0-9]+\\.?[0-9]*|\\.[0-9]+)$', maxLength: MAX_AMOUNT_CHARS },
  (value) => {
    let read = asText(value, 200);
    if (value instanceof JsonNumber) {
      const plain = plainDecimal(value);
      if (plain === undefined) throw new Malformed(`must have at most ${MAX_AMOUNT_CHARS} characters`);
      read = plain;
    }
    if (read.length > MAX_AMOUNT_CHARS) throw new Malformed(`must have at most ${MAX_AMOUNT_CHARS} characters`);
    if (!/^(?:[0-9]+\.?[0-9]*|\.[0-9]+)$/.test(read)) {
      throw new Malformed('must be a plain decimal number: digits with at most one point');
    }
    if (!/[1-9]/.test(read)) throw new Malformed('must be greater than 0');
    return read;
  },
);

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

/** A whole number between two bounds, written with at most nine ASCII digits and nothing else. */
export const wholeNumber = ({ min, max }: { min: number; max?: number }): Reader<number> =>
  reader(
    { type: 'integer', minimum: min, examples: [min], ...(max === undefined ? {} : { maximum: max }) },
    (value) => {
      const read = asText(value, 200);
      if (!/^[0-9]{1,9}$/.test(read)) throw new Malformed('must be a whole number of at most 9 digits');
      const number = Number(read);
      if (number < min) throw new Malformed(`must be greater than ${min - 1}`);
      if (max !== undefined && number > max) throw new Malformed(`must be less than ${max + 1}`);
      return number;
    },
  );

/** A day, or a time of day, in ISO 8601; without a zone it is UTC. */
export const moment: Reader<Date> = reader(
  { type: 'string', maxLength: 40, examples: ['2024-05-08T12:38:11.000Z'] },
  (value) => {
    const read = asText(value, 40);
    const form =
      /^([12][0-9]{3}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)(Z|[+-][0-9]{2}:[0-9]{2})?)?$/;
    const [, day = '', time = '00:00', zone = 'Z'] = form.exec(read) ?? [];
    const at = new Date(`${day}T${time}${zone}`);
    const midnight = new Date(`${day}T00:00Z`);
    // JavaScript turns an impossible day into another one.
    const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
    if (!isDay || Number.isNaN(at.getTime())) throw new Malformed('must be a time such as 2024-05-08T12:38:11.000Z');
    return at;
  },
);

/** No numbering plan: partners test with numbers that do not exist. */
export const phone: Reader<string> = reader(
  { type: 'string', pattern: '^\\+?[0-9][0-9 -]*$', maxLength: 40 },
  (value) => {
    const read = asText(value, 40);
    const digits = read.replaceAll(/[^0-9]/g, '').length;
    if (!/^\+?[0-9][0-9 -]*$/.test(read) || digits < 8 || digits > 15) {
      throw new Malformed('must be a phone number of 8 to 15 digits', {
        sentence: 'Please provide a valid phone number string',
      });
    }
    return read;
  },
);

export const email: Reader<string> = reader({ type: 'string', format: 'email', maxLength: 254 }, (value) => {
  const read = asText(value, 254);
  if (!/^[^\s@]+@[^\s@]+$/.test(read)) throw new Malformed('must be an e-mail address');
  return read;
});

const MAX_ADDRESS_CHARS = 1_000;

export const webAddress: Reader<string> = reader(
  { type: 'string', format: 'uri', maxLength: MAX_ADDRESS_CHARS },
  (value) => {
    const read = asText(value, MAX_ADDRESS_CHARS);
    const url = URL.canParse(read) ? new URL(read) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
      throw new Malformed('must be an http or https address');
    }
    // Escaping turns one character into up to nine, and the result must fit into the link we return.
    if (url.href.length > MAX_ADDRESS_CHARS) throw new Malformed(`must have at most ${MAX_ADDRESS_CHARS} characters`);
    return url.href;
  },
);

/** One of a few words, in any case. */
export const oneOf = <T extends string>(...words: readonly T[]): Reader<T> =>
  reader({ type: 'string', enum: words }, (value) => {
    const given = asText(value, MAX_TEXT_CHARS);
    const found = words.find((word) => word === given.toUpperCase());
    if (found === undefined) throw new Malformed(`must be ${words.join(' or ')}`);
    return found;
  });

/** One of a few lower-case words, exactly. */
export const oneWordOf = <T extends string>(...words: readonly T[]): Reader<T> =>
  reader({ type: 'string', enum: words }, (value) => {
    const given = asText(value, MAX_TEXT_CHARS);
    const found = words.find((word) => word === given);
    if (found === undefined) throw new Malformed(`must be ${words.join(' or ')}`);
    return found;
  });

/** Programs send a boolean, its text, or 0 and 1. */
export const flag: Reader<boolean> = reader({ type: 'boolean' }, (value) => {
  const read = typeof value === 'boolean' ? String(value) : asText(value, 16).toLowerCase();
  if (read === 'true' || read === '1') return true;
  if (read === 'false' || read === '0') return false;
  throw new Malformed('must be true or false');
});

/** The value and its original form, to return it in the type it was sent in; it must be a text. */
export const sameType = (read: Reader<string>): Reader<{ text: string; sent: string | JsonNumber }> =>
  reader(read.schema, (value) => ({ text: read(value), sent: value as string | JsonNumber }));
