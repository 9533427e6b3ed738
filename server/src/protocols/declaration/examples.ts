/** Examples of a reply, made from the examples of its parts. */
import type { TSchema } from 'typebox';

type Schema = TSchema & {
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
};

/** A value that the schema accepts. @throws Error when none is declared */
export function exampleIn(schema: TSchema): unknown {
  const { examples, properties, required = [], items, anyOf } = schema as Schema;
  if (examples !== undefined) return examples[0];
  if (properties !== undefined)
    return Object.fromEntries(required.map((name) => [name, exampleIn(properties[name] as TSchema)]));
  if (items !== undefined) return [exampleIn(items)];
  if (anyOf?.[0] !== undefined) return exampleIn(anyOf[0]);
  throw new Error(`no example of ${JSON.stringify(schema)}`);
}
