/** `fetch` and `inject` for tests: compare every JSON reply of an API with the declaration of its endpoint. */
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { assertDeclaredOperator } from './declared.operator.ts';
import { assertDeclaredTeam } from './declared.team.ts';
import { assertDeclared, isOfWire } from './declared.ts';
import { assertDeclaredV1 } from './v1.ts';

const OPERATOR_PATHS = '/operator/v1';
const V1_PATHS = '/v1';
const TEAM_PATHS = '/partner/v1';

export interface Read {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly status: number;
  readonly type?: string | undefined;
  readonly text: string;
  /** Without them a reply of the partner API is not compared. */
  readonly headers?: Headers;
}

/** @throws AssertionError for a reply that does not match its declaration */
export function assertAsDeclared({ method, path, status, type, text, headers }: Read): void {
  if (type === undefined || !/^application\/(?:problem\+)?json/.test(type) || text === '') return;
  const body = JSON.parse(text);
  if (path.startsWith(OPERATOR_PATHS))
    assertDeclaredOperator({ method, path: path.slice(OPERATOR_PATHS.length) }, status, body);
  else if (path.startsWith(`${TEAM_PATHS}/`))
    assertDeclaredTeam({ method, path: path.slice(TEAM_PATHS.length) }, status, body);
  else if (path.startsWith(`${V1_PATHS}/`) && !isOfWire(path)) {
    if (headers !== undefined) assertDeclaredV1({ method, path: path.slice(V1_PATHS.length), status, body, headers });
  } else assertDeclared({ method, path }, status, body);
}

/** The reply can still be read afterwards. @throws AssertionError for one that does not match its declaration */
export async function fetchDeclared(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, init);
  const { pathname, search } = new URL(url);
  assertAsDeclared({
    ...{ method: init.method ?? 'GET', path: `${pathname}${search}`, status: response.status },
    type: response.headers.get('content-type') ?? undefined,
    text: await response.clone().text(),
    headers: response.headers,
  });
  return response;
}

/** As `fetchDeclared`, from a server that does not listen. */
export async function injectDeclared(
  app: Pick<FastifyInstance, 'inject'>,
  asked: InjectOptions & { readonly url: string },
): Promise<LightMyRequestResponse> {
  const reply = await app.inject(asked);
  const type = reply.headers['content-type'];
  const { pathname, search } = new URL(asked.url, 'http://127.0.0.1');
  assertAsDeclared({
    ...{ method: asked.method ?? 'GET', path: `${pathname}${search}`, status: reply.statusCode, text: reply.body },
    type: type === undefined ? undefined : String(type),
  });
  return reply;
}
