/**
 * Names of a wire's fields. A name means the same wherever it stands, so its meaning is said once; a declaration says its own only
 * where it differs (`about` in fields.ts).
 */
import type { Field, Fields } from './fields.ts';

export interface Name {
  readonly says: string;
  readonly example?: unknown;
}

export const name = (says: string, example?: unknown): Name => (example === undefined ? { says } : { says, example });

/** Examples by the form of a field, where neither field nor name has one. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  boolean: true,
  'date-time': '2027-01-31T00:00:00Z',
  date: '2027-01-31',
};

export interface Meanings {
  /** @throws Error where a field has no meaning: it has to be said among the names, or with the field */
  meaningOf(declared: { readonly path: string; readonly fields: Fields }, name: string): string;
  /** A value that the field takes; undefined where nobody has named one. */
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
