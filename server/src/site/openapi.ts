/**
 * An OpenAPI description as a list of endpoints, limited to the parts that our pages need: rows of fields, rows of replies,
 * reasons for refusals. It reads docs/openapi*.json, which are generated from the declarations of the endpoints, and adds no
 * text.
 */
import { readFileSync } from 'node:fs';

type Json = Readonly<Record<string, unknown>>;
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

interface Operation {
  readonly operationId: string;
  /** Name of the function in the SDK, such as `orders.create`; absent in an interface that is called by path. */
  readonly 'x-name'?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
  };
  readonly responses: Readonly<Record<string, Response>>;
  readonly security?: readonly Json[];
}

interface Response {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string; readonly $ref?: string }>>;
  readonly content?: Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;
  readonly 'x-reasons'?: readonly string[];
}

interface Document {
  readonly servers?: readonly { readonly url: string }[];
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly responses?: Readonly<Record<string, Response>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
    readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
  };
  /** The meaning and remedy of each reason. */
  readonly 'x-reasons'?: Readonly<
    Record<string, { readonly status: number; readonly means: string; readonly todo: string }>
  >;
}

/** A field of a request or reply; the name of a nested one is a path: `data.fees[].gasFee`. */
export interface Field {
  readonly name: string;
  readonly place: 'path' | 'query' | 'header' | 'body';
  readonly required: boolean;
  readonly form: string;
  readonly says: string;
  readonly example: unknown;
}

export interface Endpoint {
  readonly id: string;
  /** Name of the function in the SDK, such as `orders.create`; empty when it is called by its path. */
  readonly name: string;
  /** Name in the page's URL: `post-offramp-quote`. */
  readonly slug: string;
  readonly group: string;
  readonly method: string;
  readonly path: string;
  /** Path without the common prefix of the interface's paths: `offramp/quote`. */
  readonly short: string;
  readonly says: string;
  readonly more: string;
  readonly isSigned: boolean;
  /** Whether its body consists of files only. */
  readonly takesFiles: boolean;
  /** The body as the description shows it; undefined when only its fields have examples. */
  readonly example: Readonly<Record<string, unknown>> | undefined;
  readonly fields: readonly Field[];
  readonly replies: readonly {
    readonly status: string;
    readonly says: string;
    readonly fields: readonly Field[];
    readonly example: unknown;
  }[];
  readonly headers: readonly { readonly name: string; readonly says: string }[];
  readonly reasons: readonly { readonly status: string; readonly reason: string }[];
}

export interface Reason {
  readonly code: string;
  readonly status: number;
  readonly means: string;
  readonly todo: string;
}

export interface Interface {
  readonly title: string;
  readonly version: string;
  readonly signing: string;
  readonly groups: readonly { readonly name: string; readonly says: string; readonly endpoints: readonly Endpoint[] }[];
  readonly endpoints: readonly Endpoint[];
  readonly reasons: readonly Reason[];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
/** Deeper fields are shown as a list or an object in one line. */
const DEEPEST = 4;

export function readInterface(file: string): Interface {
  const document = JSON.parse(readFileSync(file, 'utf8')) as Document;
  const { components = {} } = document;
  const found = <T>(table: Readonly<Record<string, T>> | undefined, ref: string): T => {
    const one = table?.[ref.split('/').at(-1) ?? ''];
    if (one === undefined) throw new Error(`${file}: ${ref} leads nowhere`);
    return one;
  };
  const whole = (schema: Schema): Schema => {
    if (schema.$ref === undefined) return schema;
    const { $ref, ...beside } = schema;
    return { ...whole(found(components.schemas, $ref)), ...beside };
  };

  function rows(schema: Schema, place: Field['place'], prefix = '', depth = 0): Field[] {
    const { properties, items, required = [], anyOf, oneOf, allOf } = whole(schema);
    if (items !== undefined) return rows(items, place, `${prefix}[]`, depth);
    const inner = [...(allOf ?? []), ...(anyOf ?? oneOf ?? [])].flatMap((one) => rows(one, place, prefix, depth));
    const own = Object.entries(properties ?? {}).flatMap(([name, property]): Field[] => {
      const path = prefix === '' ? name : `${prefix}.${name}`;
      const told = whole(property);
      const field: Field = {
        ...{ name: path, place, required: required.includes(name), form: formOf(told, whole) },
        ...{ says: told.description ?? '', example: told.examples?.[0] ?? told.const ?? told.enum?.[0] },
      };
      return [field, ...(depth < DEEPEST ? rows(property, place, path, depth + 1) : [])];
    });
    const all = [...own, ...inner];
    return all.filter((field, at) => all.findIndex(({ name }) => name === field.name) === at);
  }

  const base = new URL(document.servers?.[0]?.url ?? 'http://x').pathname.replace(/\/$/, '');
  const endpoints = Object.entries(document.paths).flatMap(([below, methods]) =>
    METHODS.flatMap((method): Endpoint[] => {
      const operation = methods[method];
      if (operation === undefined) return [];
      const path = `${base}${below}`;
      const parameters = (operation.parameters ?? []).map((one) =>
        one.$ref === undefined ? one : found(components.parameters, one.$ref),
      );
      const body = Object.values(operation.requestBody?.content ?? {})[0];
      const shown = body?.example as Endpoint['example'];
      const answers = Object.entries(operation.responses).map(([status, one]) => ({
        status,
        ...(one.$ref === undefined ? one : found(components.responses, one.$ref)),
      }));
      const good = answers.filter(({ status }) => /^[23]/.test(status));
      return [
        {
          ...{
            id: operation.operationId,
            name: operation['x-name'] ?? '',
            slug: slugOf(operation.operationId),
            method: method.toUpperCase(),
            path,
          },
          ...{ group: operation.tags?.[0] ?? '', short: shortOf(path), says: operation.summary ?? '' },
          more: operation.description ?? '',
          example: shown,
          takesFiles: Object.keys(operation.requestBody?.content ?? {}).join() === 'multipart/form-data',
          isSigned: (operation.security ?? [{}]).some((one) => Object.keys(one).length > 0),
          fields: [
            ...parameters.map(({ name, in: place, required = false, description = '', schema = {} }) => ({
              ...{ name, place, required, says: description || (whole(schema).description ?? '') },
              ...{ form: formOf(whole(schema), whole), example: whole(schema).examples?.[0] },
            })),
            ...(body === undefined ? [] : rows(body.schema, 'body')),
          ],
          replies: good.map(({ status, description = '', content }) => {
            const { schema, example } = Object.values(content ?? {})[0] ?? {};
            return { status, says: description, fields: schema === undefined ? [] : rows(schema, 'body'), example };
          }),
          headers: good.flatMap(({ headers = {} }) =>
            Object.entries(headers).map(([name, { $ref, description }]) => ({
              name,
              says: description ?? ($ref === undefined ? '' : (found(components.headers, $ref).description ?? '')),
            })),
          ),
          reasons: answers.flatMap(({ status, 'x-reasons': reasons = [] }) =>
            reasons.map((reason) => ({ status, reason })),
          ),
        },
      ];
    }),
  );
  const tags = document.tags ?? [...new Set(endpoints.map(({ group }) => group))].map((name) => ({ name }));
  return {
    ...{ title: document.info.title, version: document.info.version, signing: document.info.description ?? '' },
    endpoints,
    groups: tags
      .map((tag) => ({
        name: tag.name,
        says: ('description' in tag ? tag.description : undefined) ?? '',
        endpoints: endpoints.filter(({ group }) => group === tag.name),
      }))
      .filter((group) => group.endpoints.length > 0),
    reasons: Object.entries(document['x-reasons'] ?? {}).map(([code, reason]) => ({ code, ...reason })),
  };
}

const slugOf = (id: string): string => id.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();

const shortOf = (path: string): string =>
  path.replace(/^\/onramp\/api\/v[0-9]\/(?:whiteLabel\/)?/, '').replace(/^\/(?=(?:v1|sandbox)\/)/, '/');

/** Describes a schema in a few words. */
function formOf(schema: Schema, whole: (schema: Schema) => Schema): string {
  const { type, enum: words, const: only, pattern, maxLength, minimum, maximum, items, anyOf, oneOf, format } = schema;
  if (only !== undefined) return `\`${String(only)}\``;
  if (words !== undefined) return words.map((word) => `\`${String(word)}\``).join(', ');
  if (items !== undefined) return `list of ${formOf(whole(items), whole)}`;
  const forms = (anyOf ?? oneOf)?.map((one) => formOf(whole(one), whole));
  if (forms !== undefined) return [...new Set(forms)].join(' or ');
  if (pattern?.startsWith('^([0-9]+') === true || pattern?.startsWith('^[0-9]+(\\.') === true) return 'decimal';
  const types = (Array.isArray(type) ? type : [type ?? 'object']).map((one) =>
    one === 'string' ? 'text' : String(one),
  );
  const bounds = [
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(minimum === undefined || maximum === undefined ? [] : [`${minimum} to ${maximum}`]),
    ...(format === undefined ? [] : [format]),
  ];
  return [types.join(' or '), ...bounds].join(', ');
}
