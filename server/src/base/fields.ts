/**
 * Fields: the rules of values from outside. Each field declares the rule in words, a JSON Schema that describes it, and the
 * reader that decides. Settings (env.ts), files that people write (jsonfile.ts), the operator's API and /v1
 * (protocols/declaration), the white-label wire (protocols/whitelabel/fields.ts) and the forms of hosted pages all use such
 * fields.
 *
 * A reader never throws. It returns the value, or undefined if the value violates the rule; the error is then `<name> must be
 * <rule>`. A wire that reports more than the rule has a type for that, `P`, which its readers return instead.
 *
 * Not here: which values count as absent, the order of errors, and the reply to an error. Each reader of a whole request has its
 * own rules (docs/decisions/0064-one-field.md).
 */
import { isIP } from 'node:net';
import { isDay } from './clock.ts';
import { defined } from './defined.ts';

/** JSON Schema of the values that may be sent. The schema describes the rule; the reader decides. */
export type FieldSchema = Readonly<Record<string, unknown>>;

/** @typeParam P a wire's own report about an invalid value, if it says more than the rule */
export interface Form<T, P = never> {
  /** The rule in words. */
  readonly rule: string;
  readonly schema: FieldSchema;
  /** The value, or undefined if it violates the rule. Numbers, flags and lists may be text, as from a command line. */
  read(given: unknown): T | P | undefined;
}

/** A form under a name. */
export interface Field<T, P = never> extends Form<T, P> {
  /** Meaning of the field, if its name does not say it. */
  readonly says?: string;
  readonly example?: unknown;
  readonly optional?: true;
  /** Identifies or reaches a person: kept out of logs. */
  readonly personal?: true;
  /** Typed by a person, and encrypted as soon as it is read (typed.ts). `looked up`: equal texts have equal encrypted values. */
  readonly typed?: 'kept' | 'looked up';
}

export const optional = <T>(field: Field<T>): Field<T | undefined> => ({ ...field, optional: true });

/** The field with its meaning in this place, and an example value. */
export const about = <T>(field: Field<T>, says: string, example?: unknown): Field<T> => ({
  ...field,
  says,
  ...defined({ example }),
});

/** Marks a field as personal: its value is kept out of logs. */
export const personal = <T>(field: Field<T>): Field<T> => ({ ...field, personal: true });

/** A person's free text, which may contain a name. */
export const typed = (max: number, form?: RegExp, rule?: string): Field<string> => ({
  ...text(max, form, rule),
  typed: 'kept',
});

export const text = (max: number, form: RegExp = /\S/, rule = `a text of 1 to ${max} characters`): Field<string> => ({
  rule,
  schema: { type: 'string', minLength: 1, maxLength: max, ...(form.source === '\\S' ? {} : { pattern: form.source }) },
  read: (given) =>
    typeof given === 'string' && given.length <= max && form.test(given) && isStorable(given) ? given : undefined,
});

/** PostgreSQL cannot store NUL or an unpaired surrogate. */
const isStorable = (given: string): boolean => !given.includes('\0') && given.isWellFormed();

/** Whether a text is one line: control characters are harmful in logs, statement lines and names. */
export const isPlain = (given: string): boolean => given.isWellFormed() && !/\p{Cc}/u.test(given);

/** An id of ours: digits, as text or as a number that JSON can represent. */
export const id: Field<bigint> = {
  rule: 'a number of at most 18 digits',
  schema: { type: 'string', pattern: '^[0-9]{1,18}$' },
  read: (given) => (/^[0-9]{1,18}$/.test(textOf(given)) ? BigInt(textOf(given)) : undefined),
};

/** The id that a text names, in the one way we write it: digits without a leading zero. Undefined for any other text. */
export const idNamed = (given: string): bigint | undefined =>
  /^[1-9][0-9]{0,17}$/.test(given) ? BigInt(given) : undefined;

/** A phone number as people write it. Not checked against numbering plans: partners test with numbers that do not exist. */
export const phone: Field<string> = {
  rule: 'a phone number of 8 to 15 digits',
  schema: { type: 'string', pattern: '^\\+?[0-9][0-9 -]*$', maxLength: 40 },
  read(given) {
    if (typeof given !== 'string' || given.length > 40 || !/^\+?[0-9][0-9 -]*$/.test(given)) return undefined;
    const digits = given.replaceAll(/[^0-9]/g, '').length;
    return digits >= 8 && digits <= 15 ? given : undefined;
  },
};

export const whole = (min: number, max: number): Field<number> => ({
  rule: `a whole number from ${min} to ${max}`,
  schema: { type: 'integer', minimum: min, maximum: max },
  read(given) {
    const value = /^[0-9]{1,15}$/.test(textOf(given)) ? Number(given) : undefined;
    return value !== undefined && value >= min && value <= max ? value : undefined;
  },
});

/** Smallest units, only as text: a JSON number loses digits. */
export const units: Field<bigint> = {
  rule: 'a whole number, as text',
  schema: { type: 'string', pattern: '^[0-9]{1,78}$' },
  read: (given) => (typeof given === 'string' && /^[0-9]{1,78}$/.test(given) ? BigInt(given) : undefined),
};

export const flag: Field<boolean> = {
  rule: 'true or false',
  schema: { type: 'boolean' },
  read: (given) => (textOf(given) === 'true' ? true : textOf(given) === 'false' ? false : undefined),
};

export const oneOf = <const T extends string>(words: readonly T[], rule = `one of ${words.join(', ')}`): Field<T> => ({
  rule,
  schema: { type: 'string', enum: words },
  read: (given) => words.find((word) => word === given),
});

/** A list, or one text with its parts separated by commas. */
export const listOf = <T>(part: Field<T>, most: number): Field<T[]> => ({
  rule: `a list of at most ${most}, each ${part.rule}`,
  schema: { type: 'array', items: part.schema, minItems: 1, maxItems: most },
  read(given) {
    const parts = typeof given === 'string' ? given.split(',').map((one) => one.trim()) : given;
    if (!Array.isArray(parts) || parts.length === 0 || parts.length > most) return undefined;
    const read = parts.map((one) => part.read(one));
    return read.every((one): one is Awaited<T> & T => one !== undefined) ? (read as T[]) : undefined;
  },
});

/** As `listOf`, but the list may be empty. */
export const listOrNone = <T>(part: Field<T>, most: number): Field<T[]> => {
  const { rule, schema, read } = listOf(part, most);
  const { minItems: _, ...free } = schema;
  return {
    rule,
    schema: free,
    read: (given) => (Array.isArray(given) && given.length === 0 ? [] : read(given)),
  };
};

/** A network, such as 203.0.113.0/24, or one address. */
export const network: Field<string> = {
  rule: 'an address or a network such as 203.0.113.0/24, without bits beyond its prefix',
  schema: { type: 'string', maxLength: 43 },
  read(given) {
    if (typeof given !== 'string') return undefined;
    const [base = '', bits, more] = given.split('/');
    const family = isIP(base);
    if (family === 0 || more !== undefined) return undefined;
    const width = family === 4 ? 32 : 128;
    const length = bits === undefined ? width : /^[0-9]{1,3}$/.test(bits) ? Number(bits) : -1;
    return length >= 0 && length <= width ? given : undefined;
  },
};

/** A web address in a browser's normal form. @param takes which URLs are accepted */
export const webAddress = (rule: string, takes: (url: URL) => boolean): Field<string> => ({
  rule,
  schema: { type: 'string', format: 'uri' },
  read(given) {
    const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
    return url !== undefined && takes(url) ? url.href : undefined;
  },
});

/** https, or http on this machine only, because plain http can be altered in transit. */
export const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname));

export const time: Field<Date> = {
  rule: 'a time such as 2027-01-31T00:00:00Z',
  schema: { type: 'string', format: 'date-time' },
  read(given) {
    if (typeof given !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(given))
      return undefined;
    const at = new Date(given);
    return Number.isNaN(at.getTime()) || !isDay(given.slice(0, 10)) ? undefined : at;
  },
};

export const day: Field<string> = {
  rule: 'a day, YYYY-MM-DD',
  schema: { type: 'string', format: 'date' },
  read: (given) => (typeof given === 'string' && isDay(given) ? given : undefined),
};

/** An amount as a plain decimal; its decimal places are checked once the asset is known. */
export const amount = text(
  40,
  /^[0-9]+(\.[0-9]+)?$/,
  'an amount such as 100 or 0.5, without sign, of at most 40 characters',
);

/** An object, or its JSON text. */
export const object: Field<Readonly<Record<string, unknown>>> = {
  rule: 'a JSON object',
  schema: { type: 'object' },
  read(given) {
    const value = typeof given === 'string' ? parsed(given) : given;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  },
};

/** The word `none` (or null) removes a setting. */
export const orNone = <T>(field: Field<T>): Field<T | 'none'> => ({
  rule: `${field.rule}, or none`,
  schema: { anyOf: [field.schema, { const: 'none' }] },
  read: (given) => (given === null || given === 'none' ? 'none' : field.read(given)),
});

const textOf = (given: unknown): string =>
  typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean' || typeof given === 'bigint'
    ? String(given)
    : '';

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
