/**
 * The description of this interface as OpenAPI 3.1, generated from the declarations only. docs/openapi-partner.json is the
 * output of this function; a test compares them.
 */
import { exampleIn } from '../declaration/examples.ts';
import { meaningsOf } from '../declaration/names.ts';
import {
  bodySchemaOf,
  type Components,
  isInPath,
  type Json,
  openComponents,
  parametersOf,
  plain,
  templateOf,
} from '../declaration/openapi.ts';
import { type Declared, ENDPOINTS, FAILURE, PREFIX, reasonsOf } from './declared.ts';
import { REASONS, type Reason, statusOf } from './reasons.ts';

export const MEANINGS = meaningsOf({});

/** Example fields of a valid request, without those of the path. */
export const exampleBody = (declared: Declared): Json =>
  Object.fromEntries(
    Object.entries(declared.fields)
      .filter(([name]) => !isInPath(declared, name))
      .map(([name, field]) => [name, MEANINGS.exampleOf(name, field)]),
  );

function request(declared: Declared): Json {
  const parameters = parametersOf(MEANINGS, declared, declared.method !== 'POST');
  const schema = bodySchemaOf(MEANINGS, declared);
  const content = { 'application/json': { schema, example: exampleBody(declared) } };
  return {
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(declared.method === 'POST'
      ? { requestBody: { required: (schema.required as readonly string[]).length > 0, content } }
      : {}),
  };
}

const failure = (reasons: readonly Reason[]): Json => ({
  description: reasons.map((one) => `\`${one}\`: ${REASONS[one].says} ${REASONS[one].todo}`).join(' '),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
  'x-reasons': reasons,
});

function responses(declared: Declared, components: Components): Json {
  const statuses = [...new Set(reasonsOf(declared).map(statusOf))];
  const setsCookie = declared === ENDPOINTS.login || declared === ENDPOINTS.join || declared === ENDPOINTS.logout;
  const cookie = { description: 'Sets the cookie of the session, or removes it', schema: { type: 'string' } };
  return {
    200: {
      description: 'Done',
      ...(setsCookie ? { headers: { 'Set-Cookie': cookie } } : {}),
      content: { 'application/json': { schema: plain(declared.gives), example: exampleIn(declared.gives) } },
    },
    ...Object.fromEntries(
      statuses.map((status) => {
        const reasons = reasonsOf(declared).filter((one) => statusOf(one) === status);
        return [status, components.failure(status, failure(reasons))];
      }),
    ),
  };
}

/** @param version of this software */
export function openapi(version: string): Json {
  const components = openComponents({});
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [operationId, declared] of Object.entries<Declared>(ENDPOINTS)) {
    const at = (paths[templateOf(declared.path)] ??= {});
    at[declared.method.toLowerCase()] = {
      operationId,
      summary: declared.says,
      security: declared.isOpen === true ? [] : [{ session: [] }],
      ...request(declared),
      responses: responses(declared, components),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cloverleaf: sessions of partners’ teams',
      version,
      summary: 'Sign-in of team members to the console of partners.',
      description:
        'Passkeys, sessions, invitations and recovery codes of a member of a partner’s team. A browser calls it from a page of this server; programs use a key and the partner API (`/v1`), which accepts the same session. A request that changes something needs the header `x-console: 1`; so does a login. A request with an unlisted field is declined. Ids are digits as text; times are ISO 8601 in UTC.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `http://127.0.0.1:8080${PREFIX}`, description: 'A sandbox on this machine' }],
    paths,
    components: {
      securitySchemes: {
        session: {
          ...{ type: 'apiKey', in: 'cookie', name: '__Host-partner' },
          description: 'The session of a member. A sandbox without TLS names the cookie `partner`.',
        },
      },
      responses: components.responses(),
      schemas: { Failure: plain(FAILURE) },
    },
  };
}
