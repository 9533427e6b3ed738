/**
 * Generates the parts of the SDK that follow from the API's descriptions: types, and the table of endpoints that the client and its
 * commands work from. docs/openapi.json is the only source; nothing here is written twice.
 *
 * `UPDATE_DOCS=1 npm test -- server/test/sdk/generated.test.ts` writes src/generated/; the same test without it compares.
 *
 * Our own, and not openapi-typescript: that needs TypeScript 5 beside the one that checks this repository, and generates no table.
 */

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  security?: readonly Json[];
  parameters?: readonly Json[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Json; example?: Json }> };
  responses: Record<string, Json>;
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json>; responses?: Record<string, Json>; parameters?: Record<string, Json> };
}

const HEADER = (source: string) => `/**
 * Generated from ${source} by sdk/generate.ts. Do not edit: change the declarations of the API.
 */
`;

/** A schema as a TypeScript type. */
export function typeOf(schema: unknown, indent = ''): string {
  if (typeof schema !== 'object' || schema === null) return 'unknown';
  const one = schema as Json;
  if (typeof one.$ref === 'string') return one.$ref.split('/').at(-1) ?? 'unknown';
  if ('const' in one) return literal(one.const);
  if (Array.isArray(one.enum)) return one.enum.map(literal).join(' | ');
  for (const [key, glue] of [
    ['anyOf', ' | '],
    ['oneOf', ' | '],
    ['allOf', ' & '],
  ] as const)
    if (Array.isArray(one[key])) return [...new Set(one[key].map((each) => typeOf(each, indent)))].join(glue);
  if (Array.isArray(one.type)) return one.type.map((type) => typeOf({ ...one, type }, indent)).join(' | ');
  switch (one.type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array':
      return `readonly ${grouped(typeOf(one.items, indent))}[]`;
    case 'object':
      return objectOf(one, indent);
    default:
      return 'unknown';
  }
}

const literal = (value: unknown): string => (typeof value === 'string' ? quoted(value) : JSON.stringify(value));
const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const grouped = (type: string): string => (/[|&]/.test(type) && !type.startsWith('{') ? `(${type})` : type);
const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name));

function objectOf(schema: Json, indent: string): string {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Json>);
  const others = [...Object.values((schema.patternProperties ?? {}) as Json), schema.additionalProperties];
  const other = others.find((one) => typeof one === 'object' && one !== null);
  const rest = other === undefined ? 'unknown' : typeOf(other, indent);
  if (properties.length === 0) return `Readonly<Record<string, ${rest}>>`;
  const required = (schema.required ?? []) as readonly string[];
  const inner = `${indent}  `;
  const lines = properties.flatMap(([name, property]) => [
    ...comment(property.description, inner),
    `${inner}readonly ${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(property, inner)}${required.includes(name) ? '' : ' | undefined'};`,
  ]);
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function comment(text: unknown, indent: string): string[] {
  if (typeof text !== 'string' || text === '') return [];
  return [`${indent}/** ${text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ').trim()} */`];
}

/** Everything that stands under components/schemas. */
export function schemaTypes({ components }: OpenApi): string {
  return Object.entries(components.schemas)
    .map(([name, schema]) => {
      const type = typeOf(schema);
      const says = comment(schema.description, '');
      const declared =
        type.startsWith('{') && !/^\{[^]*\n\} [|&]/.test(type)
          ? `export interface ${name} ${type}`
          : `export type ${name} = ${type};`;
      return [...says, declared].join('\n');
    })
    .join('\n\n');
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

export interface Endpoint {
  method: string;
  path: string;
  operation: Operation;
}

export const endpointsOf = ({ paths }: OpenApi): Endpoint[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    METHODS.flatMap((method) => {
      const operation = operations[method];
      return operation === undefined ? [] : [{ method: method.toUpperCase(), path, operation }];
    }),
  );

/** Reasons to decline, of every endpoint of every description. */
export function reasonsFile(apis: readonly OpenApi[]): string {
  const found = new Set(
    apis.flatMap((api) =>
      endpointsOf(api).flatMap(({ operation }) =>
        Object.values(operation.responses).flatMap(
          (response) => (resolved(api, response)['x-reasons'] ?? []) as string[],
        ),
      ),
    ),
  );
  return `${HEADER('docs/openapi*.json')}
/** Why the server declines a request. Later versions may add reasons. */
export type Reason =
${[...found]
  .toSorted()
  .map((reason) => `  | ${quoted(reason)}`)
  .join('\n')};
`;
}

export function resolved(api: OpenApi, value: Json): Json {
  if (typeof value.$ref !== 'string') return value;
  const steps = value.$ref.split('/').slice(1);
  return steps.reduce((at, step) => (at as Record<string, unknown>)[step], api as unknown) as Json;
}

/** Path and query parameters as the properties of an object type, and the schema of the body. */
export function inputsOf(
  api: OpenApi,
  { operation }: Endpoint,
): { parameters: Json[]; body: string | undefined; needsBody: boolean } {
  const parameters = (operation.parameters ?? []).map((one) => resolved(api, one)).filter((one) => one.in !== 'header');
  const schema = operation.requestBody?.content['application/json']?.schema;
  return {
    parameters,
    body: schema === undefined ? undefined : typeOf(schema, '    '),
    needsBody: operation.requestBody?.required === true,
  };
}

/** What an endpoint takes, as one object. */
export function takesOf(api: OpenApi, endpoint: Endpoint): string {
  const { parameters, body } = inputsOf(api, endpoint);
  const fields = parameters.map(
    ({ name, required, schema }) =>
      `readonly ${key(String(name))}${required === true ? '' : '?'}: ${typeOf(schema, '    ')}${required === true ? '' : ' | undefined'}`,
  );
  const all = [...(fields.length === 0 ? [] : [`{ ${fields.join('; ')} }`]), ...(body === undefined ? [] : [body])];
  return all.length === 0 ? 'Nothing' : all.join(' & ');
}

const hasKey = (api: OpenApi, { operation }: Endpoint): boolean =>
  (operation.parameters ?? []).some((one) => resolved(api, one).name === 'Idempotency-Key');

/** Paths of the white-label wire as partners name them. */
const shortPath = (path: string): string =>
  path
    .replace(/^\/onramp\/api\/v[0-9]\//, '')
    .replace(/^whiteLabel\//, '')
    .replace(/^\//, '');

/**
 * The white-label wire: types, and for each endpoint its full path and whether a repetition is harmless, because it only reads or because
 * the server takes an Idempotency-Key.
 */
export function whitelabelFile(api: OpenApi): string {
  const endpoints = endpointsOf(api);
  const rows = METHODS.flatMap((method) => {
    const own = endpoints.filter((one) => one.method === method.toUpperCase());
    if (own.length === 0) return [];
    return [
      {
        method,
        types: own.map((one) => {
          const data = (successOf(api, one).properties as Record<string, Json> | undefined)?.data;
          return [
            ...comment(one.operation.summary, '    '),
            `    ${quoted(shortPath(one.path))}: { takes: ${takesOf(api, one)}; gives: ${typeOf(data, '    ')} };`,
          ].join('\n');
        }),
        table: own.map((one) => {
          const isRead = /Needs the scope `read`/.test(one.operation.description ?? '');
          const flags = hasKey(api, one) ? 'once' : isRead || method !== 'post' ? 'read' : 'unsafe';
          return `    ${quoted(shortPath(one.path))}: [${quoted(one.path)}, ${quoted(flags)}],`;
        }),
      },
    ];
  });
  const names = endpoints.map((one) => `${one.method} ${shortPath(one.path)}`);
  if (new Set(names).size !== names.length)
    throw new Error('two endpoints of the white-label wire have one short path');
  const controls = endpoints.filter(({ path }) => path.startsWith('/sandbox/v1/'));
  return `${HEADER('docs/openapi.json')}
/** An endpoint without fields. */
export type Nothing = Readonly<Record<string, never>>;

${schemaTypes(api)}

/** What each endpoint takes and gives, by method and path. */
export interface WhitelabelEndpoints {
${rows.map(({ method, types }) => `  ${method}: {\n${types.join('\n')}\n  };`).join('\n')}
}

/** The full path; whether it may be repeated: it reads or replaces, or the server knows a repetition by its key, or neither. */
export const WHITELABEL: Record<string, Record<string, readonly [path: string, repeat: 'read' | 'once' | 'unsafe']>> = {
${rows.map(({ method, table }) => `  ${method}: {\n${table.join('\n')}\n  },`).join('\n')}
};

/** Makes something happen. In a sandbox only; elsewhere each ends in an ApiError of status 404. */
export interface SandboxControls {
${controls
  .map((one) => {
    const name = one.path.split('/').at(-1) ?? '';
    return [
      ...comment(one.operation.summary, '  '),
      `  ${key(name)}(takes: ${takesOf(api, one)}, options?: CallOptions): Promise<${typeOf((successOf(api, one).properties as Record<string, Json>).data, '  ')}>;`,
    ].join('\n');
  })
  .join('\n')}
}

import type { CallOptions } from '../http.ts';
`;
}

export function successOf(api: OpenApi, { operation }: Endpoint): Json {
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1];
  if (success === undefined) throw new Error(`${operation.operationId} never succeeds`);
  const content = resolved(api, success).content as Record<string, { schema: Json }> | undefined;
  return content?.['application/json']?.schema ?? {};
}

/** An endpoint of /v1 by its own name: `orders.create` is `client.orders.create`. */
interface Named extends Endpoint {
  group: string;
  verb: string;
  inPath: string[];
  /** Where fields go that are not in the path. */
  input: 'query' | 'body' | 'files' | 'none';
  inputType: string;
  needsInput: boolean;
  gives: string;
  isPaged: boolean;
}

const takesFiles = ({ operation }: Endpoint): boolean =>
  operation.requestBody?.content['application/json'] === undefined &&
  operation.requestBody?.content['multipart/form-data'] !== undefined;

function namedOf(api: OpenApi): Named[] {
  return endpointsOf(api).map((endpoint) => {
    const [group = '', verb = ''] = String((endpoint.operation as unknown as Json)['x-name']).split('.');
    const { parameters, needsBody } = inputsOf(api, endpoint);
    const inQuery = parameters.filter((one) => one.in === 'query');
    const schema = endpoint.operation.requestBody?.content['application/json']?.schema;
    const hasBody = Object.keys((schema?.properties ?? {}) as Json).length > 0;
    const hasFiles = takesFiles(endpoint);
    const success = successOf(api, endpoint);
    const rows = (success.properties as Record<string, Json> | undefined)?.data?.items;
    const isPaged = inQuery.some(({ name }) => name === 'cursor');
    const fields = inQuery.map((one) => ({
      ...one,
      schema: { ...(one.schema as Json), description: one.description },
    }));
    const query = {
      type: 'object',
      properties: Object.fromEntries(fields.map((one) => [String((one as Json).name), one.schema])),
      required: inQuery.filter(({ required }) => required === true).map(({ name }) => name),
    };
    return {
      ...{ ...endpoint, group, verb, isPaged },
      inPath: [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
      input: hasFiles ? 'files' : inQuery.length > 0 ? 'query' : hasBody ? 'body' : 'none',
      inputType: hasFiles
        ? 'Files'
        : inQuery.length > 0
          ? typeOf(query, '    ')
          : hasBody
            ? typeOf(schema, '    ')
            : '',
      needsInput: needsBody || query.required.length > 0,
      gives: isPaged ? `Pages<${typeOf(rows, '    ')}>` : `Promise<${typeOf(success, '    ')}>`,
    };
  });
}

/** The native API: types, the methods of the client, and the table that they are made from. */
export function v1File(api: OpenApi & { info: Json }): string {
  const all = namedOf(api);
  const groups = [...new Set(all.map(({ group }) => group))];
  const method = (one: Named): string => {
    const takes = [
      ...one.inPath.map((name) => `${name}: string`),
      ...(one.input === 'none' ? [] : [`${one.input}${one.needsInput ? '' : '?'}: ${one.inputType}`]),
      'options?: CallOptions',
    ];
    return [...comment(one.operation.summary, '    '), `    ${key(one.verb)}(${takes.join(', ')}): ${one.gives};`].join(
      '\n',
    );
  };
  return `${HEADER('docs/openapi-v1.json')}
import type { CallOptions, Files } from '../http.ts';
import type { Pages } from '../pages.ts';

/** The version of the API that these types describe: every request names it. */
export const API_VERSION = ${quoted(String(api.info['x-api-version']))};

${schemaTypes(api)}

/** The native API, by name. */
export interface V1 {
${groups
  .map((group) => {
    const own = all.filter((one) => one.group === group);
    return `  readonly ${key(group)}: {\n${own.map(method).join('\n')}\n  };`;
  })
  .join('\n')}
}

export type Operation = readonly [
  method: string,
  path: string,
  input: 'query' | 'body' | 'files' | 'none',
  paged: boolean,
];

export const OPERATIONS: Readonly<Record<string, Operation>> = {
${all.map((one) => `  ${quoted(`${one.group}.${one.verb}`)}: [${quoted(one.method)}, ${quoted(one.path)}, ${quoted(one.input)}, ${one.isPaged}],`).join('\n')}
};
`;
}

/** Types that a text on a command line is read as. */
const TYPED = new Set<unknown>(['integer', 'boolean', 'array', 'object']);
const shown = (example: unknown): string =>
  typeof example === 'object' &&
  example !== null &&
  !(Array.isArray(example) && example.every((one) => typeof one !== 'object'))
    ? JSON.stringify(example)
    : String(example);
const FILES: Json = {
  name: 'files',
  place: 'files',
  says: 'Files: the name of each in the form, =, and its path; several with commas between',
  required: true,
  type: 'array',
  example: 'passportFront.jpg=front.jpg',
};

/** What the commands say of themselves: sentences, fields and words, from the same declarations. */
export function commandsFile(api: OpenApi, controls: OpenApi): string {
  const field = (name: string, schema: Json, description: unknown, required: boolean, place: string): Json => ({
    name,
    place,
    says: oneLine(description ?? schema.description),
    ...(required ? { required } : {}),
    ...(Array.isArray(schema.enum) ? { words: schema.enum } : {}),
    ...(TYPED.has(schema.type) ? { type: schema.type } : {}),
    ...(Array.isArray(schema.examples) ? { example: shown(schema.examples[0]) } : {}),
  });
  const fieldsOf = (of: OpenApi, endpoint: Endpoint): Json[] => {
    const parameters = inputsOf(of, endpoint).parameters.map((one) =>
      field(String(one.name), one.schema as Json, one.description, one.required === true, String(one.in)),
    );
    const declared = endpoint.operation.requestBody?.content['application/json']?.schema ?? {};
    const schema = resolved(of, declared);
    const required = (schema.required ?? []) as string[];
    // A field that is not required may be needed beside others: what the example request has, the example of the command has.
    const example = endpoint.operation.requestBody?.content['application/json']?.example ?? {};
    const inBody = Object.entries((schema.properties ?? {}) as Record<string, Json>).map(([name, one]) => ({
      ...field(name, one, undefined, required.includes(name), 'body'),
      ...(example[name] === undefined ? {} : { example: shown(example[name]) }),
      ...(example[name] === undefined || required.includes(name) ? {} : { isInExample: true }),
    }));
    return [...parameters, ...inBody, ...(takesFiles(endpoint) ? [FILES] : [])];
  };
  const rows = [
    ...namedOf(api).map((one) => ({
      name: `${one.group}.${one.verb}`,
      says: oneLine(one.operation.summary),
      fields: fieldsOf(api, one),
      ...('secret' in ((resolved(api, successOf(api, one)).properties ?? {}) as Json) ? { givesSecret: true } : {}),
    })),
    ...endpointsOf(controls)
      .filter(({ path }) => path.startsWith('/sandbox/v1/'))
      .map((one) => ({
        name: `sandbox.${one.path.split('/').at(-1)}`,
        says: oneLine(one.operation.summary),
        fields: fieldsOf(controls, one),
      })),
  ];
  return `${HEADER('docs/openapi*.json')}
export interface Field {
  readonly name: string;
  readonly place: 'path' | 'query' | 'body' | 'files';
  readonly says: string;
  readonly required?: boolean;
  readonly words?: readonly string[];
  readonly type?: 'integer' | 'boolean' | 'array' | 'object';
  readonly example?: string;
  /** Not required, and in the example request. */
  readonly isInExample?: boolean;
}

export interface Declared {
  /** \`orders.create\`. */
  readonly name: string;
  readonly says: string;
  readonly fields: readonly Field[];
  /** The answer contains a secret, once. */
  readonly givesSecret?: boolean;
}

export const DECLARED: readonly Declared[] = ${JSON.stringify(rows, null, 2)};
`;
}

const oneLine = (text: unknown): string =>
  String(text ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim();
