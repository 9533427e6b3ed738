/**
 * The description of this interface as OpenAPI 3.1, generated from the declarations only. docs/operator-openapi.json is the
 * output of this function; a test compares them. reference.ts generates the same for people.
 */
import { type Fields } from '../declaration/fields.ts';
import {
  bodySchemaOf,
  type Components,
  type Json,
  openComponents,
  operationIdOf,
  parametersOf,
  plain,
  templateOf,
} from '../declaration/openapi.ts';
import { adviceOf, reasonsOf } from './advice.ts';
import { type Declared, type DeclaredAction, type DeclaredRead, reason } from './declare.ts';
import { GROUPS } from './declared/index.ts';
import { PROPOSALS } from './declared/people.ts';
import { type Reason, statusOf } from './errors.ts';
import { MEANINGS, peopleSentence } from './meaning.ts';
import { PARTS } from './parts.ts';
import { FAILURE, PLANNED, PROPOSED } from './replies.ts';

/** All fields of an endpoint: an action also has a reason. */
export function takenBy(declared: Declared): Fields {
  if (declared.method === 'GET' || declared.withoutReason === true) return declared.fields;
  const { reasonIsOptional, takesFile, name } = declared as DeclaredAction;
  // A request that only inspects a file needs no reason.
  if (takesFile === true && name === undefined) return declared.fields;
  return { ...declared.fields, reason: reasonIsOptional === true ? { ...reason, optional: true } : reason };
}

/** Whether the reply may be a proposal instead. */
export const proposes = (declared: Declared): boolean =>
  declared === PROPOSALS.confirm || !['one', undefined].includes((declared as DeclaredAction).people);

/** Whether the reply may be that it waits for its time instead. */
export const mayPlan = (declared: Declared): boolean =>
  declared === PROPOSALS.confirm || (declared as DeclaredAction).plans === true;

const operationId = (declared: Declared): string => {
  const { name } = declared as DeclaredAction;
  return operationIdOf(name ?? `${declared.method.toLowerCase()}${declared.path}`);
};

function parameters(declared: Declared): Json {
  const { takesFile } = declared as DeclaredAction;
  const isQuery = declared.method !== 'POST' || takesFile === true;
  const all = parametersOf(MEANINGS, { ...declared, fields: takenBy(declared) }, isQuery);
  return all.length === 0 ? {} : { parameters: all };
}

function requestBody(declared: Declared): Json {
  const { takesFile, takesForm } = declared as DeclaredAction;
  if (declared.method !== 'POST') return {};
  if (takesForm !== undefined) {
    const fields = bodySchemaOf(MEANINGS, { path: declared.path, fields: takenBy(declared) });
    const file = { type: 'string', format: 'binary', description: takesForm };
    const schema = {
      ...fields,
      properties: { ...(fields.properties as Json), file },
      required: [...(fields.required as string[]), 'file'],
    };
    return { requestBody: { required: true, content: { 'multipart/form-data': { schema } } } };
  }
  if (takesFile === true) {
    const schema = { type: 'string', format: 'binary', description: 'The statement file of the bank, unchanged' };
    return { requestBody: { required: true, content: { 'application/octet-stream': { schema } } } };
  }
  const schema = bodySchemaOf(MEANINGS, { path: declared.path, fields: takenBy(declared) });
  return { requestBody: { required: true, content: { 'application/json': { schema } } } };
}

const failure = (reasons: readonly Reason[]): Json => ({
  description: reasons.map((one) => `\`${one}\`: ${adviceOf(one)?.means}`).join(' '),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
  'x-reasons': reasons,
});

function responses(declared: Declared, components: Components): Json {
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
        description: mayPlan(declared) ? 'The action is done, or planned for its time' : 'Done',
        content: {
          [isFile ? '*/*' : 'application/json']: {
            schema: mayPlan(declared)
              ? { anyOf: [components.referring(gives), { $ref: '#/components/schemas/Planned' }] }
              : components.referring(gives),
          },
          ...(table === undefined
            ? {}
            : { 'text/csv': { schema: { type: 'string', description: `Columns: ${table.columns.join(', ')}` } } }),
        },
      },
      ...(proposes(declared)
        ? {
            202: {
              description: 'The action needs more operators, or waits for its delay: it is now a proposal',
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Proposed' } } },
            },
          }
        : {}),
      ...Object.fromEntries(
        [...byStatus].map(([status, reasons]) => [status, components.failure(status, failure(reasons))]),
      ),
    },
  };
}

/** @param version of this software */
export function openapi(version: string): Json {
  const components = openComponents(PARTS);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { name, endpoints } of GROUPS)
    for (const declared of endpoints) {
      const { people } = declared as DeclaredAction;
      const at = (paths[templateOf(declared.path)] ??= {});
      at[declared.method.toLowerCase()] = {
        operationId: operationId(declared),
        tags: [name],
        summary: declared.says,
        description: [
          `Needs the right \`${declared.right}\`.`,
          ...(people === undefined ? [] : [peopleSentence(declared as DeclaredAction)]),
        ].join(' '),
        security: declared.isOpen === true ? [] : [{ token: [] }, { session: [] }],
        ...parameters(declared),
        ...requestBody(declared),
        ...responses(declared, components),
      };
    }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cloverleaf: operator interface',
      version,
      summary: 'What operators read and do.',
      description:
        'Amounts are plain decimals of their asset, as text; times are ISO 8601 in UTC. A request that changes something has a reason, which the audit records.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8080/operator/v1', description: 'A sandbox on this machine' }],
    tags: GROUPS.map(({ name, says }) => ({ name, description: says })),
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The token of a named operator' },
        session: {
          ...{ type: 'apiKey', in: 'cookie', name: '__Host-console' },
          description:
            'The session of the console. A request that changes something also needs the header `x-console: 1`.',
        },
      },
      responses: components.responses(),
      schemas: {
        Failure: plain(FAILURE),
        Proposed: plain(PROPOSED),
        Planned: plain(PLANNED),
        ...components.schemas(),
      },
    },
  };
}
