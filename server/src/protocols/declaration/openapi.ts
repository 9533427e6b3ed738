/**
 * OpenAPI 3.1 of declared endpoints: the parts that all declared interfaces share. Each interface adds its security, its
 * headers, and its envelope of failures.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Field, Fields } from './fields.ts';
import type { Meanings } from './names.ts';
import type { Parts } from './parts.ts';

export type Json = Readonly<Record<string, unknown>>;

interface Described {
  readonly path: string;
  readonly fields: Fields;
}

export const isInPath = ({ path }: Pick<Described, 'path'>, name: string): boolean =>
  path.split('/').includes(`:${name}`);

/** `/orders/:order` in the notation of OpenAPI: `/orders/{order}`. */
export const templateOf = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}');

/** `order.release` → `orderRelease` */
export const operationIdOf = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');

/** A schema as plain JSON, without the parts that only the compiler needs. */
export const plain = (schema: unknown): unknown => JSON.parse(JSON.stringify(schema));

function schemaOf({ exampleOf }: Meanings, name: string, field: Field<unknown>, description: string): Json {
  const example = exampleOf(name, field);
  return { ...field.schema, description, ...(example === undefined ? {} : { examples: [example] }) };
}

/** @param isQuery whether fields outside the path are in the query */
export function parametersOf(meanings: Meanings, declared: Described, isQuery: boolean): readonly Json[] {
  return Object.entries(declared.fields).flatMap(([name, field]) => {
    const inPath = isInPath(declared, name);
    if (!inPath && !isQuery) return [];
    const { description, ...schema } = schemaOf(meanings, name, field, meanings.meaningOf(declared, name));
    return [{ name, in: inPath ? 'path' : 'query', required: inPath || field.optional !== true, description, schema }];
  });
}

/** The schema of a JSON body: the fields that are not in the path, and no others. */
export function bodySchemaOf(meanings: Meanings, { path, fields }: Described): Json {
  const own = Object.entries(fields).filter(([name]) => !isInPath({ path }, name));
  const body = Object.fromEntries(own);
  return {
    type: 'object',
    properties: Object.fromEntries(
      own.map(([name, field]) => [
        name,
        schemaOf(meanings, name, field, meanings.meaningOf({ path, fields: body }, name)),
      ]),
    ),
    required: own.filter(([, field]) => field.optional !== true).map(([name]) => name),
    additionalProperties: false,
  };
}

/** Components: a reply shared by several endpoints appears there once. */
export interface Components {
  /** The same schema with a reference for every part that has a name. */
  referring(schema: unknown): unknown;
  /** A failure. Most endpoints refuse for the same reasons with the same status, so these are shared. @returns a reference */
  failure(status: number, answer: Json): Json;
  readonly responses: () => Json;
  /** The parts that were referenced. */
  readonly schemas: () => Json;
}

/**
 * @param options.ownWords a part that differs only in description and example becomes a reference, with that description beside
 *   it
 */
export function openComponents(parts: Parts, { ownWords = false } = {}): Components {
  const textOf = (schema: object): string => {
    if (!ownWords) return JSON.stringify(schema);
    return JSON.stringify({ ...schema, description: undefined, examples: undefined });
  };
  const named = new Map(Object.entries(parts).map(([name, part]) => [textOf(part), name]));
  const used = new Set<string>();
  const answers = new Map<string, unknown>();
  /** The content of a named part, with references inside. */
  const shown = new Map<string, unknown>();
  const refer = (schema: unknown, root?: unknown): unknown => {
    if (typeof schema !== 'object' || schema === null) return schema;
    const name = named.get(textOf(schema));
    if (name !== undefined && schema !== root) {
      const inside = parts[name];
      if (!used.has(name)) {
        used.add(name);
        if (ownWords) shown.set(name, refer(inside, inside));
      }
      const { description } = schema as { description?: string };
      const isOwn =
        ownWords && description !== undefined && description !== (inside as { description?: string }).description;
      return { $ref: `#/components/schemas/${name}`, ...(isOwn ? { description } : {}) };
    }
    if (Array.isArray(schema)) return schema.map((one) => refer(one));
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, refer(value)]));
  };
  return {
    referring: (schema) => refer(schema),
    failure(status, answer) {
      const alike = [...answers].find(([, known]) => isDeepStrictEqual(known, answer))?.[0];
      const beside = [...answers.keys()].filter((name) => name.startsWith(`Failure${status}`)).length;
      const name = alike ?? `Failure${status}${beside === 0 ? '' : `_${beside + 1}`}`;
      answers.set(name, answer);
      return { $ref: `#/components/responses/${name}` };
    },
    responses: () =>
      Object.fromEntries([...answers].toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))),
    schemas: () =>
      Object.fromEntries([...used].toSorted().map((name) => [name, plain(shown.get(name) ?? parts[name])])),
  };
}
