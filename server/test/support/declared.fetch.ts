/** `fetch` for tests: compares every JSON reply of an API with the declaration of its endpoint. */

import { assertDeclaredOperator } from './declared.operator.ts';
import { assertDeclared } from './declared.ts';

const OPERATOR_PATHS = '/operator/v1';

export interface Read {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly status: number;
  readonly type?: string | undefined;
  readonly text: string;
}

/** @throws AssertionError for a reply that does not match its declaration */
export function assertAsDeclared({ method, path, status, type, text }: Read): void {
  if (type?.startsWith('application/json') !== true || text === '') return;
  const body = JSON.parse(text);
  if (path.startsWith(OPERATOR_PATHS))
    assertDeclaredOperator({ method, path: path.slice(OPERATOR_PATHS.length) }, status, body);
  else assertDeclared({ method, path }, status, body);
}

/** The reply can still be read afterwards. @throws AssertionError for one that does not match its declaration */
export async function fetchDeclared(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, init);
  const { pathname, search } = new URL(url);
  assertAsDeclared({
    ...{ method: init.method ?? 'GET', path: `${pathname}${search}`, status: response.status },
    type: response.headers.get('content-type') ?? undefined,
    text: await response.clone().text(),
  });
  return response;
}
