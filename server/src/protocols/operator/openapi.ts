/**
 * The description of this wire as OpenAPI 3.1, made from the declarations and from nothing else. docs/operator-openapi.json is what
 * this function returns; a test compares them. The same for people: reference.ts.
 */
import { isDeepStrictEqual } from 'node:util';
import { adviceOf, reasonsOf } from './advice.ts';
import type { Declared, DeclaredAction, DeclaredRead } from './declare.ts';
import { GROUPS } from './declared/index.ts';
import { PROPOSALS } from './declared/people.ts';
import { type Reason, statusOf } from './errors.ts';
import { type Field, type Fields, reason } from './fields.ts';
import { exampleOf, meaningOf, peopleSentence } from './meaning.ts';
import { PARTS } from './parts.ts';
import { FAILURE, PROPOSED } from './replies.ts';

type Json = Readonly<Record<string, unknown>>;

/** All that it takes: an action takes a reason besides. */
export function takenBy(declared: Declared): Fields {
  if (declared.method === 'GET') return declared.fields;
  const { reasonIsOptional, takesFile, name } = declared as DeclaredAction;
  // What only looks at a file needs none.
  if (takesFile === true && name === undefined) return declared.fields;
  return { ...declared.fields, reason: reasonIsOptional === true ? { ...reason, optional: true } : reason };
}

export const isInPath = ({ path }: Pick<Declared, 'path'>, name: string): boolean =>
  path.split('/').includes(`:${name}`);

/** Whether it may be answered by a proposal instead. */
export const proposes = (declared: Declared): boolean =>
  declared === PROPOSALS.confirm || !['one', undefined].includes((declared as DeclaredAction).people);

const operationId = (declared: Declared): string => {
  const { name } = declared as DeclaredAction;
  const words = (name ?? `${declared.method.toLowerCase()}${declared.path}`).split(/[^A-Za-z0-9]+/);
  return words
    .filter((word) => word !== '')
    .map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');
};

function schemaOf(name: string, field: Field<unknown>, description: string): Json {
  const example = exampleOf(name, field);
  return { ...field.schema, description, ...(example === undefined ? {} : { examples: [example] }) };
}

function parameters(declared: Declared): Json {
  const { takesFile } = declared as DeclaredAction;
  const isQuery = declared.method === 'GET' || takesFile === true;
  const all = Object.entries(takenBy(declared)).flatMap(([name, field]) => {
    const inPath = isInPath(declared, name);
    if (!inPath && !isQuery) return [];
    const { description, ...schema } = schemaOf(
      name,
      field,
      meaningOf({ ...declared, fields: takenBy(declared) }, name),
    );
    return [{ name, in: inPath ? 'path' : 'query', required: inPath || field.optional !== true, description, schema }];
  });
  return all.length === 0 ? {} : { parameters: all };
}

function requestBody(declared: Declared): Json {
  const { takesFile } = declared as DeclaredAction;
  if (declared.method === 'GET') return {};
  if (takesFile === true) {
    const schema = { type: 'string', format: 'binary', description: 'The statement as the bank wrote it' };
    return { requestBody: { required: true, content: { 'application/octet-stream': { schema } } } };
  }
  const own = Object.entries(takenBy(declared)).filter(([name]) => !isInPath(declared, name));
  const fields = Object.fromEntries(own);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(
      own.map(([name, field]) => [name, schemaOf(name, field, meaningOf({ path: declared.path, fields }, name))]),
    ),
    required: own.filter(([, field]) => field.optional !== true).map(([name]) => name),
    additionalProperties: false,
  };
  return { requestBody: { required: true, content: { 'application/json': { schema } } } };
}

type Failures = (status: number, reasons: readonly Reason[]) => Json;

/** Most endpoints decline for the same reasons with the same status: each such answer stands among the components once. */
function failuresOf(answers: Map<string, unknown>): Failures {
  return (status, reasons) => {
    const answer = {
      description: reasons.map((one) => `\`${one}\`: ${adviceOf(one)?.means}`).join(' '),
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
      'x-reasons': reasons,
    };
    const alike = [...answers].find(([, known]) => isDeepStrictEqual(known, answer))?.[0];
    const beside = [...answers.keys()].filter((name) => name.startsWith(`Failure${status}`)).length;
    const name = alike ?? `Failure${status}${beside === 0 ? '' : `_${beside + 1}`}`;
    answers.set(name, answer);
    return { $ref: `#/components/responses/${name}` };
  };
}

/** As JSON has it: what a schema carries for the compiler is left out. */
const plain = (schema: unknown): unknown => JSON.parse(JSON.stringify(schema));
const NAMED = new Map(Object.entries(PARTS).map(([name, part]) => [JSON.stringify(part), name]));

/** The same with a reference wherever a part stands that has a name. */
function referring(schema: unknown, used: Set<string>): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const name = NAMED.get(JSON.stringify(schema));
  if (name !== undefined) {
    used.add(name);
    return { $ref: `#/components/schemas/${name}` };
  }
  if (Array.isArray(schema)) return schema.map((one) => referring(one, used));
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, referring(value, used)]));
}

function responses(declared: Declared, failures: Failures, used: Set<string>): Json {
  const byStatus = new Map<number, Reason[]>();
  for (const one of reasonsOf(declared)) {
    const status = statusOf(one);
    byStatus.set(status, [...(byStatus.get(status) ?? []), one]);
  }
  const { table } = declared as DeclaredRead;
  const gives = plain(declared.gives) as { format?: string };
  const isFile = gives.format === 'binary';
  return {
    responses: {
      200: {
        description: 'Done',
        content: {
          [isFile ? '*/*' : 'application/json']: { schema: referring(gives, used) },
          ...(table === undefined
            ? {}
            : { 'text/csv': { schema: { type: 'string', description: `Columns: ${table.columns.join(', ')}` } } }),
        },
      },
      ...(proposes(declared)
        ? {
            202: {
              description: 'It takes more people, or waits for its delay: it is a proposal now',
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Proposed' } } },
            },
          }
        : {}),
      ...Object.fromEntries([...byStatus].map(([status, reasons]) => [status, failures(status, reasons)])),
    },
  };
}

/** @param version of this software */
export function openapi(version: string): Json {
  const answers = new Map<string, unknown>();
  const failures = failuresOf(answers);
  const used = new Set<string>();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { name, endpoints } of GROUPS)
    for (const declared of endpoints) {
      const { people } = declared as DeclaredAction;
      const at = (paths[declared.path.replaceAll(/:(\w+)/g, '{$1}')] ??= {});
      at[declared.method.toLowerCase()] = {
        operationId: operationId(declared),
        tags: [name],
        summary: declared.says,
        description: [
          `Needs the right \`${declared.right}\`.`,
          ...(people === undefined ? [] : [peopleSentence(declared as DeclaredAction)]),
        ].join(' '),
        security: [{ token: [] }],
        ...parameters(declared),
        ...requestBody(declared),
        ...responses(declared, failures, used),
      };
    }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cloverleaf: operator interface',
      version,
      summary: 'What those who run it read and do.',
      description:
        'Amounts are plain decimals of their asset, as text; times are ISO 8601 in UTC. What changes something takes a reason, and stands in the audit.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8080/operator/v1', description: 'A sandbox on this machine' }],
    tags: GROUPS.map(({ name, says }) => ({ name, description: says })),
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The token of a named operator' },
      },
      responses: Object.fromEntries([...answers].toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))),
      schemas: {
        Failure: plain(FAILURE),
        Proposed: plain(PROPOSED),
        ...Object.fromEntries([...used].toSorted().map((name) => [name, plain(PARTS[name])])),
      },
    },
  };
}
