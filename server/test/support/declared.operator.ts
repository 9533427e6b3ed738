/**
 * Compares a reply of the operator API with the declaration of its endpoint: a success with the schema, a failure with the list of
 * reasons. The operator clients of the tests check every reply.
 */
import assert from 'node:assert/strict';
import { Compile, type Validator } from 'typebox/compile';
import { reasonsOf } from '../../src/protocols/operator/advice.ts';
import type { Declared, DeclaredAction } from '../../src/protocols/operator/declare.ts';
import { ENDPOINTS } from '../../src/protocols/operator/declared/index.ts';
import { PROPOSALS } from '../../src/protocols/operator/declared/people.ts';
import { type Reason, statusOf } from '../../src/protocols/operator/errors.ts';
import { mayPlan, proposes } from '../../src/protocols/operator/openapi.ts';
import { FAILURE, PLANNED, PROPOSED } from '../../src/protocols/operator/replies.ts';
import type { Came } from './client.ts';

const forms = ENDPOINTS.map((declared) => ({
  declared,
  form: new RegExp(`^${declared.path.replaceAll(/:\w+/g, '[^/]+')}$`),
}))
  // A path without parameters comes before one with them.
  .toSorted((a, b) => Number(a.declared.path.includes(':')) - Number(b.declared.path.includes(':')));
const byName = new Map(ENDPOINTS.map((declared) => [(declared as DeclaredAction).name, declared]));
const validators = new Map<unknown, Validator>();

function assertSchema(schema: Declared['gives'], body: Came, where: string): void {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  if (validator.Check(body)) return;
  const wrong = validator.Errors(body).slice(0, 3);
  assert.fail(
    `${where} answers what it does not declare: ${JSON.stringify(wrong)} in ${JSON.stringify(body).slice(0, 800)}`,
  );
}

/** @param path below /operator/v1, with or without a query. @throws AssertionError */
export function assertDeclaredOperator(asked: { method: string; path: string }, status: number, body: Came): void {
  const path = asked.path.split('?')[0] ?? '';
  const found = forms.find(({ declared, form }) => declared.method === asked.method && form.test(path))?.declared;
  if (found === undefined) assert.ok(status >= 400, `${asked.method} ${path} answers ${status}, and is not declared`);
  if (found === undefined || body === undefined || typeof body !== 'object' || body === null) return;
  const where = `${asked.method} ${found.path}`;
  if (status >= 400) {
    assertSchema(FAILURE, body, where);
    const declared = statusOf(body.reason as Reason);
    assert.equal(status, declared, `${where} declines for ${body.reason} with ${status}, and not with ${declared}`);
    // A confirmation may be refused for the reasons of the action it carries out.
    if (found === PROPOSALS.confirm) return;
    const reasons: readonly string[] = reasonsOf(found);
    assert.ok(reasons.includes(String(body.reason)), `${where} declines for ${body.reason}, which it does not declare`);
    return;
  }
  if (status === 202) {
    assert.ok(proposes(found), `${where} proposes, and declares that one person does it`);
    return assertSchema(PROPOSED, body, where);
  }
  // A confirmed proposal answers with the schema of its action.
  const does = found === PROPOSALS.confirm ? (byName.get(String(body.action)) ?? found) : found;
  if (body.outcome === 'planned') {
    assert.ok(mayPlan(does), `${where} plans, and does not declare it`);
    return assertSchema(PLANNED, body, where);
  }
  assertSchema(does.gives, body, `${where}${does === found ? '' : ` of ${body.action}`}`);
}
