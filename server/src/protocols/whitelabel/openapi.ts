/**
 * The description of this API: OpenAPI 3.1, and the same as pages for people, both made only from the table of endpoints.
 * docs/openapi.json and docs/api.md are the output of these functions; a test compares them.
 */
import { defined } from '../../base/defined.ts';
import { type Components, openComponents, operationIdOf } from '../declaration/openapi.ts';
import { cell } from '../declaration/page.ts';
import { adviceOf, COMMON_REASONS, FIELD_REASONS, type Reason, SIGNED_REASONS } from './advice.ts';
import { statusOf } from './errors.ts';
import type { Field, Fields } from './fields.ts';
import { NAMES } from './names.ts';
import { WEBHOOK_BODIES } from './replies.ts';
import type { Route } from './route.ts';
import { STATUS_WORDS } from './status.ts';
import { GROUPS } from './table.ts';
import { VERIFICATION } from './verification.ts';

export type { Reason } from './advice.ts';

type Json = Readonly<Record<string, unknown>>;

/** A field with its whole description, combined over all forms of a request. */
interface Told {
  name: string;
  field: Field<unknown>;
  says: string;
  example: unknown;
  /** `required`: in every form. `sometimes`: in some forms only. */
  required: boolean;
  sometimes: boolean;
  /**
   * Whether the example shows it. The example uses the first form, because the fields common to all forms may not make a
   * complete request.
   */
  shown: boolean;
}

interface Form {
  type?: string;
  enum?: readonly string[];
  examples?: readonly (string | number)[];
}

/** @throws Error when a field has no description: it must be in names.ts, or with the field */
export function fieldsOf({ forms, paths }: Pick<Route, 'forms' | 'paths'>): Told[] {
  const names = new Set(forms.flatMap((form) => Object.keys(form)));
  return [...names].map((name) => {
    const field = forms.find((form) => name in form)?.[name] as Field<unknown>;
    const known = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
    const says = field.says ?? known?.says;
    if (says === undefined) throw new Error(`${paths[0]}: the field ${name} has no meaning`);
    const { type, enum: words, examples } = field.schema as Form;
    const fits = words === undefined || words.includes(String(known?.example));
    const example = field.example ?? examples?.[0] ?? (known !== undefined && fits ? known.example : words?.[0]);
    const typed = type === 'integer' ? Number(example) : example;
    const needs = (form: Fields) => name in form && form[name]?.optional !== true;
    const needed = { required: forms.every(needs), sometimes: forms.some(needs), shown: forms.slice(0, 1).some(needs) };
    return { name, field, says, example: typed, ...needed };
  });
}

/** Refusal codes of an endpoint, in the order of their HTTP status. */
export function reasonsOf(route: Route): Reason[] {
  const takes = route.strict || route.forms.some((form) => Object.keys(form).length > 0);
  const all = [
    ...Object.keys(COMMON_REASONS),
    ...(route.auth === 'public' ? [] : Object.keys(SIGNED_REASONS)),
    ...(takes ? Object.keys(FIELD_REASONS) : []),
    ...(route.refuses ?? []),
    // An endpoint that reads prices may find its market halted.
    ...((route.refuses ?? []).includes('exposure_exceeded') ? ['price_halted'] : []),
  ] as Reason[];
  return [...new Set(all)].toSorted((a, b) => statusOf(a) - statusOf(b));
}

/** Refusal codes of all endpoints, in the order of their HTTP status. */
const allReasons = (): Reason[] =>
  [...new Set(GROUPS.flatMap(({ routes }) => routes.flatMap(reasonsOf)))].toSorted(
    (a, b) => statusOf(a) - statusOf(b) || a.localeCompare(b),
  );

const operationId = ({ method, paths }: Route): string =>
  operationIdOf(`${method.toLowerCase()} ${(paths[0] ?? '').replace(/^\/onramp\/api\/v[0-9]\/(whiteLabel\/)?/, '')}`);

const fieldSchema = ({ field, says, example }: Told): Json => ({
  ...field.schema,
  description: says,
  ...(example === undefined ? {} : { examples: [example] }),
});

function requestBody(route: Route, schemas: Map<string, unknown>): Json {
  const told = fieldsOf(route);
  if (route.method === 'GET' || told.length === 0) return {};
  const required = told.filter((one) => one.required).map(({ name }) => name);
  const id = operationId(route);
  const title = `${id.charAt(0).toUpperCase()}${id.slice(1)}Request`;
  schemas.set(title, {
    type: 'object',
    properties: Object.fromEntries(told.map((one) => [one.name, fieldSchema(one)])),
    ...(required.length === 0 ? {} : { required }),
    ...(route.strict ? { additionalProperties: false } : {}),
  });
  const schema = {
    schema: { $ref: `#/components/schemas/${title}` },
    ...defined({ example: route.example }),
  };
  const content = Object.fromEntries(
    ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'].map((type) => [type, schema]),
  );
  return { requestBody: { required: told.some(({ sometimes }) => sometimes), content } };
}

function parameters(route: Route): Json {
  const inPath = [...(route.paths[0] ?? '').matchAll(/:([a-z]+)/g)].map(([, name = '']) => ({
    ...{ name, in: 'path', required: true, schema: { type: 'string' } },
    description: name === 'event' ? 'Id of an event' : 'Id of the webhook endpoint',
  }));
  const inQuery =
    route.method !== 'GET'
      ? []
      : fieldsOf(route).map((one) => ({
          ...{ name: one.name, in: 'query', required: one.required },
          description: one.says,
          schema: one.field.schema,
        }));
  const once = (route.refuses ?? []).includes('idempotency_conflict');
  const key = { $ref: '#/components/parameters/IdempotencyKey' };
  const all = [...inPath, ...inQuery, ...(once ? [key] : [])];
  return all.length === 0 ? {} : { parameters: all };
}

function responses(route: Route, named: Named, failures: Failures): Json {
  const byStatus = new Map<number, Reason[]>();
  for (const reason of reasonsOf(route)) {
    const status = statusOf(reason);
    byStatus.set(status, [...(byStatus.get(status) ?? []), reason]);
  }
  const headers = Object.entries(route.headers ?? {}).map(([name, says]) => [
    name,
    { description: says, schema: { type: 'string' } },
  ]);
  const success = {
    type: 'object',
    properties: { status: { const: 1 }, code: { const: 200 }, data: named(route.gives) },
    required: ['status', 'code', 'data'],
  };
  return {
    responses: {
      200: {
        description: 'Done',
        ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
        content: { 'application/json': { schema: success } },
      },
      ...Object.fromEntries([...byStatus].map(([status, reasons]) => [status, failures(status, reasons)])),
    },
  };
}

type Named = (schema: unknown) => unknown;
type Failures = (status: number, reasons: readonly Reason[]) => Json;

const failuresOf =
  ({ failure }: Components): Failures =>
  (status, reasons) =>
    failure(status, {
      description: reasons.map((reason) => `\`${reason}\`: ${adviceOf(reason)?.means}`).join(' '),
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
      'x-reasons': reasons,
    });

/** Puts every schema with a title among the components, and returns a reference to it. */
function componentsOf(schemas: Map<string, unknown>): Named {
  const named: Named = (schema) => {
    if (Array.isArray(schema)) return schema.map(named);
    if (typeof schema !== 'object' || schema === null) return schema;
    const { title, ...rest } = schema as { title?: string };
    const inner = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, named(value)]));
    if (typeof title !== 'string') return inner;
    schemas.set(title, inner);
    return { $ref: `#/components/schemas/${title}` };
  };
  return named;
}

const FAILURE = {
  type: 'object',
  properties: {
    status: { const: 0 },
    code: { type: 'integer', description: 'The HTTP status' },
    error: { type: 'string', description: 'The error as a sentence' },
    message: { type: 'string', description: 'The same sentence' },
    reason: { type: 'string', description: 'Code of the reason, for programs' },
    fields: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Which field is wrong, and the rule it breaks',
    },
    customerId: {
      type: 'string',
      description: 'With customer_exists: the customer who has the phone number or the clientCustomerId',
    },
    kycUrl: { type: 'string', description: 'With login_required: a link for the customer to log in' },
  },
  required: ['status', 'code', 'error', 'message', 'reason'],
};

const SIGNING =
  'Signed: `payload` is the base64 of `{"body": …, "timestamp": …}` with the exact body and the time in milliseconds, `signature` the hex HMAC-SHA512 of the text of `payload` under the secret of the key. The headers may be spelled X-ONRAMP-APIKEY, X-ONRAMP-PAYLOAD and X-ONRAMP-SIGNATURE.';
const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description });

/** OpenAPI 3.1 of every possible endpoint. @param version of this software */
export function openapi(version: string): Json {
  const schemas = new Map<string, unknown>([['Failure', FAILURE]]);
  const named = componentsOf(schemas);
  const components = openComponents({});
  const failures = failuresOf(components);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { name, routes } of GROUPS)
    for (const route of routes) {
      const [path = '', ...aliases] = route.paths;
      const says = [
        ...(route.auth === 'signed' ? [`Needs the scope \`${route.scope}\`.`] : []),
        ...(aliases.length === 0 ? [] : [`The same at ${aliases.map((one) => `\`${one}\``).join(', ')}.`]),
      ];
      const at = (paths[path.replaceAll(/:([a-z]+)/g, '{$1}')] ??= {});
      at[route.method.toLowerCase()] = {
        operationId: operationId(route),
        tags: [name],
        summary: route.says,
        ...(says.length === 0 ? {} : { description: says.join(' ') }),
        security: { signed: [SIGNED], optional: [SIGNED, {}], public: [{}] }[route.auth],
        ...parameters(route),
        ...requestBody(route, schemas),
        ...responses(route, named, failures),
      };
    }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cloverleaf: white-label interface',
      version,
      summary: 'Selling and buying crypto for fiat.',
      description: SIGNING,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8080', description: 'A sandbox on this machine' }],
    webhooks: webhooks(named),
    'x-reasons': Object.fromEntries(
      allReasons().map((reason) => [reason, { status: statusOf(reason), ...adviceOf(reason) }]),
    ),
    tags: GROUPS.map(({ name, says }) => ({ name, description: says })),
    paths,
    components: {
      securitySchemes: {
        key: header('apiKey', 'The API key'),
        payload: header('payload', 'The signed payload'),
        signature: header('signature', 'The signature'),
      },
      parameters: {
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          description:
            'Requests with the same key and body are executed once and get the same reply. Without the header, the signed payload is the key.',
          schema: { type: 'string', maxLength: 128 },
        },
      },
      responses: components.responses(),
      schemas: Object.fromEntries([...schemas].toSorted(([a], [b]) => a.localeCompare(b))),
    },
  };
}

/** The message posted to an endpoint in each format. */
const webhooks = (named: Named): Json =>
  Object.fromEntries(
    Object.entries(WEBHOOK_BODIES).map(([format, schema]) => [
      format,
      {
        post: {
          operationId: `webhook${format.charAt(0).toUpperCase()}${format.slice(1)}`,
          summary: `An event in the format ${format}.`,
          description: 'Sent again until the response is 2xx. Verify the signature before anything else.',
          security: [{}],
          parameters: WEBHOOK_HEADERS[format as keyof typeof WEBHOOK_BODIES].map(([name, description]) => ({
            ...{ name, in: 'header', required: true, description },
            schema: { type: 'string' },
          })),
          requestBody: { required: true, content: { 'application/json': { schema: named(schema) } } },
          responses: { '2XX': { description: 'Accepted' }, '4XX': { description: 'Sent again later' } },
        },
      },
    ]),
  );

const WIRE_HEADERS = [
  ['x-onramp-payload', 'base64 of the exact body'],
  ['x-onramp-signature', 'HMAC-SHA512 of the text of that header under the secret of the key, in hex'],
  ['x-onramp-timestamp', 'when it was sent, in milliseconds since 1970'],
] as const;
const WEBHOOK_HEADERS = {
  whitelabel: WIRE_HEADERS,
  flat: WIRE_HEADERS,
  standard: [
    ['webhook-id', 'id of the event'],
    ['webhook-timestamp', 'when it was sent, in seconds since 1970'],
    ['webhook-signature', 'Standard Webhooks, of id, time and body under the secret of the endpoint'],
  ],
} as const;

const SIGNED = { key: [], payload: [], signature: [] };

/** A short description of a field's rule. */
function formOf({ rule, schema }: Field<unknown>): string {
  const { enum: words, minimum, maximum } = schema;
  if (Array.isArray(words)) return words.map((word) => `\`${word}\``).join(', ');
  const range = minimum === undefined ? '' : `, from ${minimum}${maximum === undefined ? '' : ` to ${maximum}`}`;
  return `${rule}${range}`;
}

/** The reference as a page: every endpoint with its fields, its example and its refusals, then every refusal. */
export function referencePage(): string {
  const lines = [
    '# Reference of the white-label interface',
    '',
    'Generated from the declarations of the endpoints. The same as OpenAPI 3.1: [openapi.json](openapi.json).',
    '',
    SIGNING,
    '',
    'A success is `{"status": 1, "code": 200, "data": …}`. A failure is `{"status": 0, "code": …, "error": …, "message": …, "reason": …}`: branch on `reason`. Every request may be declined for the [reasons common to all](#reasons); each endpoint lists its other reasons.',
    '',
    'A field that is not listed is ignored, and the sandbox names it in the header `x-ignored-fields`; on paths under `/v1` and `/sandbox` it is refused with 400.',
    '',
  ];
  for (const { name, says, routes } of GROUPS) {
    lines.push(`## ${name}`, '', says, '');
    for (const route of routes) lines.push(...endpointSection(route));
  }
  lines.push(...statusTables());
  lines.push('## Reasons', '', '| Code | Reason | Meaning | What to do |', '|---|---|---|---|');
  for (const reason of allReasons()) {
    const advice = adviceOf(reason);
    lines.push(`| ${statusOf(reason)} | \`${reason}\` | ${cell(advice?.means ?? '')} | ${cell(advice?.todo ?? '')} |`);
  }
  return `${lines.join('\n')}\n`;
}

/** The meaning of each status number, and of each verification word. */
function statusTables(): string[] {
  const statuses = (direction: 'offramp' | 'onramp', title: string) => [
    `### ${title}`,
    '',
    '| Status | Word |',
    '|---:|---|',
    ...[...STATUS_WORDS[direction]].map(([number, word]) => `| ${number} | \`${word}\` |`),
    '',
  ];
  const levels = Object.entries(VERIFICATION).map(([word, { outcome, level, login }]) => {
    const stands = level === undefined ? 'as it was' : String(level);
    const means = outcome === 'none' && login === true ? 'logged in, not verified yet' : OUTCOMES[outcome];
    return `| \`${word}\` | ${stands} | ${means} |`;
  });
  return [
    '## Statuses',
    '',
    'A status never decreases, except if a deposit was seen and then disappeared before it was confirmed.',
    '',
    ...statuses('offramp', 'Of a sale'),
    ...statuses('onramp', 'Of a purchase'),
    '## Words of verification',
    '',
    'A setting of the partner may replace these words.',
    '',
    '| Word | Level | Meaning |',
    '|---|---|---|',
    ...levels,
    '',
  ];
}

const OUTCOMES = {
  none: 'has not logged in yet',
  verified: 'verified to this level',
  in_review: 'under review',
  failed: 'failed: the customer may try again',
  refused: 'refused for good',
} as const;

function endpointSection(route: Route): string[] {
  const [path = '', ...aliases] = route.paths;
  const told = fieldsOf(route);
  const common = new Set([COMMON_REASONS, FIELD_REASONS, SIGNED_REASONS].flatMap((reasons) => Object.keys(reasons)));
  const own = reasonsOf(route).filter((reason) => !common.has(reason));
  const example =
    route.example ??
    Object.fromEntries(
      told.filter(({ shown, example: one }) => shown && one !== undefined).map((one) => [one.name, one.example]),
    );
  return [
    `### \`${route.method} ${path}\``,
    '',
    `${route.says}${route.auth === 'signed' ? ` Scope: \`${route.scope}\`.` : ''}`,
    ...(aliases.length === 0 ? [] : ['', `Also at ${aliases.map((one) => `\`${one}\``).join(', ')}.`]),
    ...(told.length === 0
      ? []
      : [
          '',
          '| Field | Required | Form | Meaning |',
          '|---|---|---|---|',
          ...told.map(
            (one) =>
              `| \`${one.name}\` | ${one.required ? 'yes' : one.sometimes ? 'in some requests' : ''} | ${cell(formOf(one.field))} | ${cell(one.says)} |`,
          ),
        ]),
    ...(Object.keys(example).length === 0 || route.method === 'GET'
      ? []
      : ['', '```json', JSON.stringify(example), '```']),
    '',
    ...answerLines(route.gives as unknown as Json),
    ...Object.entries(route.headers ?? {}).map(([name, says]) => `- header \`${name}\`: ${says}`),
    '',
    ...(own.length === 0
      ? []
      : [`Declines for ${own.map((reason) => `\`${reason}\` (${statusOf(reason)})`).join(', ')}.`, '']),
  ];
}

/** `data`, two levels deep. */
function answerLines(schema: Json): string[] {
  const lines = ['`data`:', ''];
  const walk = (one: Json, indent: string, depth: number): void => {
    const { properties, items, anyOf } = one as { properties?: Record<string, Json>; items?: Json; anyOf?: Json[] };
    if (items !== undefined) return walk(items, indent, depth);
    if (anyOf !== undefined && anyOf.some((form) => 'properties' in form)) {
      for (const [at, form] of anyOf.entries()) {
        lines.push(`${indent}- form ${at + 1}:`);
        walk(form, `${indent}  `, depth);
      }
      return;
    }
    for (const [name, property] of Object.entries(properties ?? {})) {
      const says = typeof property.description === 'string' ? `: ${property.description}` : '';
      lines.push(`${indent}- \`${name}\`${says}`);
      if (depth < 2) walk(property, `${indent}  `, depth + 1);
    }
    if (properties === undefined && depth === 0)
      lines.push(`${indent}- ${typeof one.description === 'string' ? one.description : String(one.const ?? one.type)}`);
  };
  walk(schema, '', 0);
  return lines;
}
