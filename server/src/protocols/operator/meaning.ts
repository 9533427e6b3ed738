/** What a declaration says in words: of a field, and of how many people an action takes. */
import type { Declared, DeclaredAction, People } from './declare.ts';
import type { Field } from './fields.ts';
import { NAMES } from './names.ts';

const EXAMPLES: Readonly<Record<string, unknown>> = {
  boolean: true,
  'date-time': '2027-01-31T00:00:00Z',
  date: '2027-01-31',
};

/** @throws Error where a field has no meaning: it has to be said in names.ts, or with the field */
export function meaningOf({ path, fields }: Pick<Declared, 'path' | 'fields'>, name: string): string {
  const says = fields[name]?.says ?? (Object.hasOwn(NAMES, name) ? NAMES[name]?.says : undefined);
  if (says === undefined) throw new Error(`${path}: the field ${name} has no meaning`);
  return says;
}

/** A value that the field takes; undefined where nobody has named one. */
export function exampleOf(name: string, field: Field<unknown>): unknown {
  const {
    enum: words,
    type,
    format,
    minimum,
  } = field.schema as Partial<Record<'enum' | 'type' | 'format' | 'minimum', unknown>>;
  const known = field.example ?? (Object.hasOwn(NAMES, name) ? NAMES[name]?.example : undefined);
  if (known !== undefined && (!Array.isArray(words) || words.includes(known))) return known;
  if (Array.isArray(words)) return words[0];
  return EXAMPLES[String(format ?? type)] ?? minimum;
}

const PEOPLE: Readonly<Record<People, string>> = {
  one: 'Takes one person.',
  rules: 'Takes as many people as the rules say; two where no rule matches.',
  named: 'Takes two people, unless a rule names the action or its family.',
  two: 'Takes two people at least, whatever the rules say.',
  second: 'Takes one person until two operators may confirm; then two at least.',
};

export const peopleSentence = ({ people, morePeople }: Pick<DeclaredAction, 'people' | 'morePeople'>): string =>
  morePeople === undefined ? PEOPLE[people] : `${PEOPLE[people]} ${morePeople}`;
