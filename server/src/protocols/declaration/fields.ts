/**
 * Fields: parses a request's input by a table of names and rules. Shared by the protocols whose endpoints are declared.
 *
 * All errors are reported at once, each field with its rule. Unknown names are errors, too: a misspelt name must not look
 * like an omitted one. Numbers, flags and lists may be text, as from a command line.
 */
import { isIP } from 'node:net';
import { isDay } from '../../base/clock.ts';
import type { Vault } from '../../base/crypto.ts';
import { Refusal } from '../../base/errors.ts';
import { encryptTyped, encryptTypedSame } from '../../base/typed.ts';

type FieldSchema = Readonly<Record<string, unknown>>;

export interface Field<T> {
  /** In words: what it must be. */
  readonly rule: string;
  /** JSON Schema of the form in JSON. It describes `read`, which decides. */
  readonly schema: FieldSchema;
  /** Meaning, where the name alone does not say it (names.ts). */
  readonly says?: string;
  readonly example?: unknown;
  /** The value, or undefined when it violates the rule. */
  read(given: unknown): T | undefined;
  readonly optional?: true;
  /** Names or reaches a person: kept out of logs. */
  readonly personal?: true;
  /** Typed by a person, and encrypted from here on (base/typed.ts). `looked up`: equal texts stay equal. */
  readonly typed?: 'kept' | 'looked up';
}

export type Fields = Readonly<Record<string, Field<unknown>>>;
export type Values<F extends Fields> = {
  readonly [N in keyof F]: F[N] extends Field<infer T> ? T : never;
};

export const text = (max: number, form: RegExp = /\S/, rule = `a text of 1 to ${max} characters`): Field<string> => ({
  rule,
  schema: { type: 'string', minLength: 1, maxLength: max, ...(form.source === '\\S' ? {} : { pattern: form.source }) },
  read: (given) =>
    typeof given === 'string' && given.length <= max && form.test(given) && isStorable(given) ? given : undefined,
});

/** PostgreSQL can store neither NUL nor half a surrogate pair. */
const isStorable = (given: string): boolean => !given.includes('\0') && given.isWellFormed();

/** An id of ours: digits, as text or a number that JSON can carry. */
export const id: Field<bigint> = {
  rule: 'a number of at most 18 digits',
  schema: { type: 'string', pattern: '^[0-9]{1,18}$' },
  read: (given) => (/^[0-9]{1,18}$/.test(textOf(given)) ? BigInt(textOf(given)) : undefined),
};

export const whole = (min: number, max: number): Field<number> => ({
  rule: `a whole number from ${min} to ${max}`,
  schema: { type: 'integer', minimum: min, maximum: max },
  read(given) {
    const value = /^[0-9]{1,15}$/.test(textOf(given)) ? Number(given) : undefined;
    return value !== undefined && value >= min && value <= max ? value : undefined;
  },
});

export const flag: Field<boolean> = {
  rule: 'true or false',
  schema: { type: 'boolean' },
  read: (given) => (textOf(given) === 'true' ? true : textOf(given) === 'false' ? false : undefined),
};

export const oneOf = <const T extends string>(words: readonly T[]): Field<T> => ({
  rule: `one of ${words.join(', ')}`,
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
export const amount = text(40, /^[0-9]+(\.[0-9]+)?$/, 'an amount such as 100 or 0.5, without sign');

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

export const optional = <T>(field: Field<T>): Field<T | undefined> => ({ ...field, optional: true });
/** The word `none` (or null) removes a setting. */
export const orNone = <T>(field: Field<T>): Field<T | 'none'> => ({
  rule: `${field.rule}, or none`,
  schema: { anyOf: [field.schema, { const: 'none' }] },
  read: (given) => (given === null || given === 'none' ? 'none' : field.read(given)),
});

/** The field with its meaning where it stands, and a value that it takes. */
export const about = <T>(field: Field<T>, says: string, example?: unknown): Field<T> => ({
  ...field,
  says,
  ...(example === undefined ? {} : { example }),
});

/** Kept out of logs. */
export const personal = <T>(field: Field<T>): Field<T> => ({ ...field, personal: true });

/** A person's free text, which may contain a name. */
export const typed = (max: number, form?: RegExp, rule?: string): Field<string> => ({
  ...text(max, form, rule),
  typed: 'kept',
});

/**
 * A request's fields, from its body or query and from its path; a name in both is an error.
 *
 * @throws Refusal 'malformed_body' | 'malformed_field'
 */
export function givenBy(said: unknown, params: unknown): Record<string, unknown> {
  if (typeof said !== 'object' || said === null || Array.isArray(said)) throw new Refusal('malformed_body');
  const named = params as Record<string, string>;
  const twice = Object.keys(said).filter((name) => Object.hasOwn(named, name));
  if (twice.length > 0)
    throw new Refusal('malformed_field', {
      fields: Object.fromEntries(twice.map((name) => [name, 'stands in the path'])),
    });
  return { ...said, ...named };
}

/** @throws Refusal 'missing_fields' {names} | 'malformed_field' {fields} */
export function readFields<F extends Fields>(fields: F, given: Readonly<Record<string, unknown>>): Values<F> {
  const wrong: Record<string, string> = {};
  const missing: string[] = [];
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(fields, name)) wrong[name] = `is not one of ${Object.keys(fields).join(', ')}`;
  }
  for (const [name, field] of Object.entries(fields)) {
    const value = given[name];
    const isAbsent = value === undefined || value === '' || (value === null && field.read(null) === undefined);
    if (isAbsent && field.optional !== true) missing.push(name);
    if (isAbsent) continue;
    const read = field.read(value);
    if (read === undefined) wrong[name] = `must be ${field.rule}`;
    else values[name] = read;
  }
  if (missing.length > 0) throw new Refusal('missing_fields', { names: missing });
  if (Object.keys(wrong).length > 0) throw new Refusal('malformed_field', { fields: wrong });
  return values as Values<F>;
}

/** The parsed values, with typed texts encrypted. */
export const encryptFields = <V extends Readonly<Record<string, unknown>>>(
  vault: Vault,
  fields: Fields,
  values: V,
): V =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const how = fields[name]?.typed;
      if (how === undefined || typeof value !== 'string') return [name, value];
      return [name, how === 'kept' ? encryptTyped(vault, value) : encryptTypedSame(vault, value)];
    }),
  ) as V;

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
