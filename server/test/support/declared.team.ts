/**
 * Compares a reply of the wire of partners' teams with the declaration of its endpoint: a success with the schema, a failure with
 * the list of reasons. The clients of the tests check every reply.
 */
import assert from 'node:assert/strict';
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { type Declared, ENDPOINTS, FAILURE, reasonsOf } from '../../src/protocols/team/declared.ts';
import { REASONS, statusOf } from '../../src/protocols/team/reasons.ts';
import type { Came } from './client.ts';

const forms = Object.entries<Declared>(ENDPOINTS).map(([name, declared]) => ({
  name,
  declared,
  form: new RegExp(`^${declared.path.replaceAll(/:\w+/g, '[^/]+')}$`),
}));
const validators = new Map<TSchema, Validator>();

function assertSchema(schema: TSchema, body: Came, where: string): void {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  if (validator.Check(body)) return;
  const wrong = JSON.stringify(validator.Errors(body).slice(0, 3));
  assert.fail(`${where} answers what it does not declare: ${wrong} in ${JSON.stringify(body).slice(0, 800)}`);
}

/**
 * @param asked.path below /partner/v1, with or without a query; a path that is not declared is declined as unknown
 * @throws AssertionError
 */
export function assertDeclaredTeam(asked: { method: string; path: string }, status: number, body: Came): void {
  const path = asked.path.split('?')[0] ?? '';
  const found = forms.find(({ declared, form }) => declared.method === asked.method && form.test(path));
  const where = `${asked.method} ${path} (${found?.name ?? 'undeclared'})`;
  if (status < 400) {
    assert.ok(found, `${where} is served and not declared`);
    return assertSchema(found.declared.gives, body, where);
  }
  assertSchema(FAILURE, body, where);
  const reasons: readonly string[] = found === undefined ? ['unknown_path'] : reasonsOf(found.declared);
  assert.ok(reasons.includes(body.reason), `${where} declines for ${body.reason}, which it does not declare`);
  assert.equal(status, statusOf(body.reason as keyof typeof REASONS), `${where}: the status of ${body.reason}`);
}
