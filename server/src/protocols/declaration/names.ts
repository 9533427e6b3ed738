/**
 * Names of a wire's fields. A name has the same meaning everywhere, so it is described once; a declaration describes it only if
 * it differs (`about` in fields.ts).
 */
import type { Field, Fields } from './fields.ts';

export interface Name {
  readonly says: string;
  readonly example?: unknown;
}

export const name = (says: string, example?: unknown): Name => (example === undefined ? { says } : { says, example });

/** Examples by the form of a field, when neither field nor name has one. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  boolean: true,
  'date-time': '2027-01-31T00:00:00Z',
  date: '2027-01-31',
};

export interface Meanings {
  /** @throws Error when a field has no meaning: describe it among the names, or with the field */
  meaningOf(declared: { readonly path: string; readonly fields: Fields }, name: string): string;
  /** A value that the field accepts; undefined when none is declared. */
  exampleOf(name: string, field: Field<unknown>): unknown;
}

export const meaningsOf = (names: Readonly<Record<string, Name>>): Meanings => ({
  meaningOf({ path, fields }, name) {
    const says = fields[name]?.says ?? (Object.hasOwn(names, name) ? names[name]?.says : undefined);
    if (says === undefined) throw new Error(`${path}: the field ${name} has no meaning`);
    return says;
  },
  exampleOf(name, field) {
    const {
      enum: words,
      type,
      format,
      minimum,
    } = field.schema as Partial<Record<'enum' | 'type' | 'format' | 'minimum', unknown>>;
    const known = field.example ?? (Object.hasOwn(names, name) ? names[name]?.example : undefined);
    if (known !== undefined && (!Array.isArray(words) || words.includes(known))) return known;
    if (Array.isArray(words)) return words[0];
    return EXAMPLES[String(format ?? type)] ?? minimum;
  },
});
