/**
 * Fields of a request: parses its input by a table of names and rules. Shared by the protocols whose endpoints are declared. The
 * rule of one value is in base/fields.ts.
 *
 * All errors are reported at once, each field with its rule. Unknown names are errors, too: a misspelt name must not look
 * like an omitted one.
 */
import type { Vault } from '../../base/crypto.ts';
import { Refusal } from '../../base/errors.ts';
import type { Field } from '../../base/fields.ts';
import { encryptTyped, encryptTypedSame } from '../../base/typed.ts';

export {
  about,
  amount,
  day,
  type Field,
  flag,
  id,
  listOf,
  listOrNone,
  network,
  object,
  oneOf,
  optional,
  orNone,
  personal,
  text,
  time,
  typed,
  whole,
} from '../../base/fields.ts';

export type Fields = Readonly<Record<string, Field<unknown>>>;
export type Values<F extends Fields> = {
  readonly [N in keyof F]: F[N] extends Field<infer T> ? T : never;
};

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
      fields: Object.fromEntries(twice.map((name) => [name, 'is already in the path'])),
    });
  return { ...said, ...named };
}

/** @throws Refusal 'missing_fields' {names} | 'malformed_field' {fields} */
export function readFields<F extends Fields>(fields: F, given: Readonly<Record<string, unknown>>): Values<F> {
  const wrong: Record<string, string> = {};
  const missing: string[] = [];
  const values: Record<string, unknown> = {};
  const known = Object.keys(fields);
  const unknown = known.length === 0 ? 'is not a field of this request' : `is not one of ${known.join(', ')}`;
  for (const name of Object.keys(given)) if (!Object.hasOwn(fields, name)) wrong[name] = unknown;
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
