/**
 * Compares a reply with the declaration of its endpoint: `data` of a success with the schema, a failure with the list of reasons.
 * The clients of the tests check every reply.
 */
import assert from 'node:assert/strict';

import { Compile, type Validator } from 'typebox/compile';
import { statusOf } from '../../src/protocols/whitelabel/errors.ts';
import { type Reason, reasonsOf } from '../../src/protocols/whitelabel/openapi.ts';
import { WEBHOOK_BODIES } from '../../src/protocols/whitelabel/replies.ts';
import { ROUTES } from '../../src/protocols/whitelabel/table.ts';
import type { Came } from './client.ts';

const validators = new Map<(typeof ROUTES)[number], Validator>();

const pathForm = (path: string): RegExp => new RegExp(`^${path.replaceAll(/:[a-z]+/g, '[^/]+')}$`);
const forms = ROUTES.flatMap((route) => route.paths.map((path) => ({ route, form: pathForm(path) })));

/** Paths that belong to this wire only. */
const WIRE = /^\/onramp(?:-bank)?\//;

/** Whether a path, with or without a query, is an endpoint's of this wire. */
export const isOfWire = (path: string): boolean => forms.some(({ form }) => form.test(path.split('?')[0] ?? ''));

const bodies = Object.fromEntries(
  Object.entries(WEBHOOK_BODIES).map(([format, schema]) => [format, Compile(schema)]),
) as Record<keyof typeof WEBHOOK_BODIES, Validator>;

/** Receivers recognise the format of a webhook by its top level. @throws AssertionError */
export function assertDeclaredWebhook(body: Came): void {
  const format = 'orderId' in body ? 'flat' : 'subject' in body ? 'standard' : 'whitelabel';
  if (bodies[format].Check(body)) return;
  const wrong = bodies[format].Errors(body).slice(0, 3);
  assert.fail(
    `a webhook in the format ${format} is not as declared: ${JSON.stringify(wrong)} in ${JSON.stringify(body)}`,
  );
}

/** @param path with or without a query. @throws AssertionError */
export function assertDeclared(asked: { method: string; path: string }, status: number, body: Came): void {
  const path = asked.path.split('?')[0] ?? '';
  const found = forms.find(({ route, form }) => route.method === asked.method && form.test(path));
  const where = `${asked.method} ${path}`;
  // A preflight has no endpoint of its own.
  if (found === undefined && WIRE.test(path) && asked.method !== 'OPTIONS')
    assert.ok(status >= 400, `${where} answers ${status}, and is not declared`);
  if (found === undefined || body === undefined || typeof body !== 'object' || body === null) return;
  const { route } = found;
  if (status !== 200) {
    const reasons: readonly string[] = reasonsOf(route);
    // An unknown path or a wrong method is refused before the request reaches an endpoint.
    assert.ok(
      reasons.includes(body.reason as Reason),
      `${where} declines for ${body.reason}, which it does not declare`,
    );
    const declared = statusOf(body.reason as Reason);
    assert.equal(status, declared, `${where} declines for ${body.reason} with ${status}, and not with ${declared}`);
    assert.equal(body.code, status, `${where} has another code in its body than its status`);
    return;
  }
  assert.deepEqual([body.status, body.code], [1, 200], `${where} answers 200 in another envelope`);
  const validator = validators.get(route) ?? Compile(route.gives);
  validators.set(route, validator);
  if (validator.Check(body.data)) return;
  const wrong = validator.Errors(body.data).slice(0, 3);
  assert.fail(
    `${where} answers what it does not declare: ${JSON.stringify(wrong)} in ${JSON.stringify(body.data).slice(0, 800)}`,
  );
}
