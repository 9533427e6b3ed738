/** `fetch` for tests: every JSON reply of a wire that declares its endpoints is compared with what is declared. */

import { assertDeclaredOperator } from './declared.operator.ts';
import { assertDeclared } from './declared.ts';

const OPERATOR_PATHS = '/operator/v1';

export interface Read {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly status: number;
  readonly type?: string | undefined;
  readonly text: string;
}

/** @throws AssertionError for a reply that is not as declared */
export function assertAsDeclared({ method, path, status, type, text }: Read): void {
  if (type?.startsWith('application/json') !== true || text === '') return;
  const body = JSON.parse(text);
  if (path.startsWith(OPERATOR_PATHS))
    assertDeclaredOperator({ method, path: path.slice(OPERATOR_PATHS.length) }, status, body);
  else assertDeclared({ method, path }, status, body);
}

/** The reply can still be read. @throws AssertionError for one that is not as declared */
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
