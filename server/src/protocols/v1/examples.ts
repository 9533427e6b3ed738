/** Examples of a request and its reply, made from the examples of their parts. */
import type { TSchema } from 'typebox';
import { isInPath } from '../declaration/openapi.ts';
import type { Declared } from './declare.ts';
import { MEANINGS } from './names.ts';

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

/** Fields of a request that is understood. */
export function exampleRequest(declared: Declared): Readonly<Record<string, unknown>> {
  if (declared.example !== undefined) return declared.example;
  const required = Object.entries(declared.fields).filter(([, field]) => field.optional !== true);
  return Object.fromEntries(required.map(([name, field]) => [name, MEANINGS.exampleOf(name, field)]));
}

/** The same by part of the request: path, query and body. */
export function exampleParts(declared: Declared): {
  path: string;
  body: Readonly<Record<string, unknown>> | undefined;
} {
  const fields = exampleRequest(declared);
  const path = declared.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(fields[name])));
  const rest = Object.entries(fields).filter(([name]) => !isInPath(declared, name));
  if (declared.method !== 'GET') return { path, body: Object.fromEntries(rest) };
  const query = rest.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&');
  return { path: query === '' ? path : `${path}?${query}`, body: undefined };
}

export const exampleReply = ({ gives }: Declared): unknown => exampleIn(gives);
