/**
 * Parts of a wire's replies, as schemas. A name in a reply has the same meaning everywhere: a wire declares the form and meaning
 * of each once, in a table of parts, and its declarations name them (`shapesOf`).
 */
import { type TSchema, Type } from 'typebox';
import { defined } from '../../base/defined.ts';

const TIME = '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$';
export const text = (description: string): TSchema => Type.String({ description });
export const id = (description: string): TSchema => Type.String({ description, pattern: '^[0-9]+$' });
export const whole = (description: string): TSchema => Type.Integer({ description });
export const yes = (description: string): TSchema => Type.Boolean({ description });
export const amount = (description: string): TSchema =>
  Type.String({ description: `${description}: a plain decimal`, pattern: '^-?[0-9]+(\\.[0-9]+)?$' });
export const time = (description: string): TSchema =>
  Type.String({ description: `${description}: ISO 8601 in UTC`, pattern: TIME });
export const object = (description: string): TSchema => Type.Object({}, { description, additionalProperties: true });
export const list = (description: string): TSchema => Type.Array(Type.Unknown(), { description });
export const texts = (description: string): TSchema => Type.Array(Type.String(), { description });
/** The value may be null: it does not exist, or is not known yet. */
export const maybe = (schema: TSchema): TSchema => {
  const { description, ...rest } = schema as TSchema & { description?: string };
  return Type.Union([rest as TSchema, Type.Null()], description === undefined ? {} : { description });
};

export type Parts = Readonly<Record<string, TSchema>>;
/** A name of the table, or names with their own schemas. A name that ends with `?` is optional in the reply. */
export type Names = readonly (string | Readonly<Record<string, TSchema>>)[];

export interface Shapes {
  /** An object with exactly these fields. */
  thing(names: Names, description?: string): TSchema;
  many(names: Names, description: string): TSchema;
}

/** @throws Error for a name that the table lacks */
export function shapesOf(parts: Parts): Shapes {
  const thing: Shapes['thing'] = (names, description) => {
    const properties: Record<string, TSchema> = {};
    for (const name of names) {
      if (typeof name !== 'string') {
        for (const [own, schema] of Object.entries(name)) set(properties, own, schema);
        continue;
      }
      const known = parts[name.replace(/\?$/, '')];
      if (known === undefined) throw new Error(`${name} has no meaning among the parts`);
      set(properties, name, known);
    }
    return Type.Object(properties, {
      additionalProperties: false,
      ...defined({ description }),
    });
  };
  return { thing, many: (names, description) => Type.Array(thing(names), { description }) };
}

function set(properties: Record<string, TSchema>, name: string, schema: TSchema): void {
  if (name.endsWith('?')) properties[name.slice(0, -1)] = Type.Optional(schema);
  else properties[name] = schema;
}
