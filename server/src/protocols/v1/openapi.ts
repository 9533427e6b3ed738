/**
 * The description of this wire as OpenAPI 3.1, generated from the declarations only. docs/openapi-v1.json is the output of this
 * function; a test compares them. reference.ts generates the same for people.
 */
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
import { type Declared, isWrite } from './declare.ts';
import { GROUPS } from './declared/index.ts';
import { exampleParts, exampleReply } from './examples.ts';
import { MEANINGS } from './names.ts';
import { REASONS, type Reason, reasonsOf, statusOf } from './reasons.ts';
import { COMPONENTS } from './schemas/index.ts';
import { Event } from './schemas/webhooks.ts';
import { NEWEST, VERSIONS } from './version.ts';

const header = (description: string, example?: string): Json => ({
  description,
  schema: { type: 'string', ...(example === undefined ? {} : { examples: [example] }) },
});
const ref = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` });

/** Headers of every reply. */
const ANSWER_HEADERS = {
  'X-Request-Id': ref('headers', 'RequestId'),
  'Cloverleaf-Version': ref('headers', 'Version'),
  'RateLimit-Limit': ref('headers', 'RateLimitLimit'),
  'RateLimit-Remaining': ref('headers', 'RateLimitRemaining'),
  'RateLimit-Reset': ref('headers', 'RateLimitReset'),
} as const;
const REPLAYED = { 'Idempotency-Replayed': ref('headers', 'Replayed') } as const;
const DEPRECATED = {
  Deprecation: header('Since when the endpoint is deprecated: RFC 9745', '@1795600000'),
  Sunset: header('When the endpoint is removed: RFC 8594', 'Sat, 01 May 2027 00:00:00 GMT'),
} as const;

const HEADERS = {
  RequestId: header('Id of the request: quote it when you contact the operator', '4f1c2a9d0e00001a'),
  Version: header('API version of the reply', NEWEST),
  RateLimitLimit: header(
    'Requests per minute. The sandbox shows the limit of production but does not enforce it',
    '6000',
  ),
  RateLimitRemaining: header('Remaining requests', '5999'),
  RateLimitReset: header('Seconds until the full limit is available again', '1'),
  Replayed: header('`true` if the reply repeats that of an earlier request with the same Idempotency-Key', 'true'),
  RetryAfter: header('Seconds after which to retry', '2'),
};

const inHeader = (name: string, description: string, schema: Json): Json => ({
  name,
  in: 'header',
  description,
  schema,
});
const PARAMETERS = {
  Version: inHeader('Cloverleaf-Version', 'API version of the request; by default that of your key.', {
    type: 'string',
    enum: VERSIONS,
  }),
  ClientRequestId: inHeader(
    'X-Client-Request-Id',
    'Your own id of the request. The reply repeats it, and you can find the request in the log by it.',
    { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,64}$' },
  ),
  IdempotencyKey: {
    ...inHeader(
      'Idempotency-Key',
      'A text that you choose, new for each operation. Repeated requests with the same key and body take effect once and get the same reply for 24 hours.',
      { type: 'string', minLength: 1, maxLength: 255, examples: ['9b2f6c1e-7f0a-4a53-9d0c-2f5f6a3d1b11'] },
    ),
    required: true,
  },
  ContentDigest: inHeader('Content-Digest', 'For a signed request: RFC 9530, with sha-256 or sha-512.', {
    type: 'string',
    examples: ['sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:'],
  }),
  SignatureInput: inHeader(
    'Signature-Input',
    'For a signed request: RFC 9421. It covers `@method`, `@path`, `@query` if there is a query, `content-digest` and `idempotency-key`; with `created`, `keyid` (your key) and `alg` (`hmac-sha256`).',
    {
      type: 'string',
      examples: [
        'sig=("@method" "@path" "content-digest" "idempotency-key");created=1795600000;keyid="clv_4pQ9aX";alg="hmac-sha256"',
      ],
    },
  ),
  Signature: inHeader('Signature', 'For a signed request: HMAC-SHA256 with the secret of your key.', {
    type: 'string',
    examples: ['sig=:6bcXrrv7mF5xJbIGpuKYPe0gZd6TkxnLcqOGsKFbCYE=:'],
  }),
};

function parameters(declared: Declared): readonly Json[] {
  const writes = ['IdempotencyKey', 'ContentDigest', 'SignatureInput', 'Signature'];
  return [
    ...parametersOf(MEANINGS, declared, declared.method === 'GET'),
    ...['Version', 'ClientRequestId', ...(isWrite(declared) ? writes : [])].map((name) => ref('parameters', name)),
  ];
}

const FILES_BODY: Json = {
  required: true,
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        description: 'Files, each in a part with its name from the form',
        additionalProperties: { type: 'string', format: 'binary' },
      },
    },
  },
};

function requestBody(declared: Declared): Json {
  if (declared.method === 'GET') return {};
  if (declared.files === true) return { requestBody: FILES_BODY };
  const { body = {} } = exampleParts(declared);
  const schema = bodySchemaOf(MEANINGS, declared);
  const required = (schema.required as readonly string[]).length > 0;
  return { requestBody: { required, content: { 'application/json': { schema, example: body } } } };
}

const failure = (status: number, reasons: readonly Reason[]): Json => ({
  description: reasons.map((one) => `\`${one}\`: ${REASONS[one].means}`).join(' '),
  headers: {
    ...ANSWER_HEADERS,
    ...(status === 409 || status === 429 || status === 503 ? { 'Retry-After': ref('headers', 'RetryAfter') } : {}),
  },
  content: { 'application/problem+json': { schema: ref('schemas', 'Problem') } },
  'x-reasons': reasons,
});

function responses(declared: Declared, components: Components): Json {
  const byStatus = new Map<number, Reason[]>();
  for (const one of reasonsOf(declared)) {
    const status = statusOf(one);
    byStatus.set(status, [...(byStatus.get(status) ?? []), one]);
  }
  const headers = {
    ...ANSWER_HEADERS,
    ...(isWrite(declared) ? REPLAYED : {}),
    ...(declared.deprecated === undefined ? {} : DEPRECATED),
  };
  const schema = components.referring(plain(declared.gives));
  return {
    [declared.status ?? 200]: {
      description: declared.status === 201 ? 'Created' : 'Done',
      headers,
      content: { 'application/json': { schema, example: exampleReply(declared) } },
    },
    ...Object.fromEntries(
      [...byStatus].map(([status, reasons]) => [status, components.failure(status, failure(status, reasons))]),
    ),
  };
}

/**
 * @param version of this software
 * @param groups  the endpoints; tests pass more
 */
export function openapi(version: string, groups: typeof GROUPS = GROUPS): Json {
  const components = openComponents(
    Object.fromEntries(Object.entries(COMPONENTS).map(([name, schema]) => [name, plain(schema) as never])),
    { ownWords: true },
  );
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { name, endpoints } of groups)
    for (const declared of endpoints) {
      const at = (paths[templateOf(declared.path)] ??= {});
      at[declared.method.toLowerCase()] = {
        operationId: operationIdOf(declared.name),
        'x-name': declared.name,
        tags: [name],
        summary: declared.says,
        description: [
          ...(declared.more === undefined ? [] : [declared.more]),
          declared.person === true
            ? 'Only a team member who is signed in to the console can do this, not an API key.'
            : `Needs the scope \`${declared.scope}\`.`,
        ].join(' '),
        ...(declared.deprecated === undefined ? {} : { deprecated: true }),
        security: [{ bearer: [] }],
        parameters: parameters(declared),
        ...requestBody(declared),
        responses: responses(declared, components),
      };
    }
  const problem = components.referring(plain(COMPONENTS.Problem));
  const event = components.referring(plain(Event));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cloverleaf: partner API',
      version,
      summary: 'Quotes, orders, customers and webhooks, for partners.',
      description: [
        'Amounts are plain decimal numbers, as text, with the code of their asset; times are RFC 3339 in UTC; ids are text; lists are paginated.',
        'A request carries a bearer token. In production a write is also signed (RFC 9421), unless the operator lets the key write without a signature.',
        'Failures are RFC 9457 problems: branch on `reason`; `type` is a page that explains it.',
        'Requests with unlisted fields are refused. Fields may be added to replies.',
      ].join(' '),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      'x-api-version': NEWEST,
    },
    servers: [{ url: 'http://127.0.0.1:8080/v1', description: 'A sandbox on this machine' }],
    tags: groups.map(({ name, says }) => ({ name, description: says })),
    paths,
    webhooks: { event: webhook(event as Json) },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The bearer token of an API key' },
      },
      headers: HEADERS,
      parameters: PARAMETERS,
      responses: components.responses(),
      schemas: { ...components.schemas(), ...('$ref' in (problem as Json) ? {} : { Problem: problem }) },
    },
    'x-reasons': Object.fromEntries(
      Object.entries(REASONS).map(([reason, { status, title, means, todo }]) => [
        reason,
        { status, title, means, todo },
      ]),
    ),
  };
}

const webhook = (event: Json): Json => ({
  post: {
    operationId: 'webhookEvent',
    summary: 'An event, posted to each of your endpoints that is subscribed to its type.',
    description:
      'It has the Standard Webhooks format. It is sent again until your server responds with 2xx. Verify the signature first.',
    security: [{}],
    parameters: [
      ['webhook-id', 'Id of the event: the same in every attempt'],
      ['webhook-timestamp', 'When it was sent, in seconds since 1970'],
      [
        'webhook-signature',
        '`v1,` and the HMAC-SHA256, in base64, of id, time and body joined by dots, with the secret of the endpoint',
      ],
    ].map(([name, description]) => ({ name, in: 'header', required: true, description, schema: { type: 'string' } })),
    requestBody: { required: true, content: { 'application/json': { schema: event } } },
    responses: { '2XX': { description: 'Taken' }, '4XX': { description: 'The event is sent again later' } },
  },
});
