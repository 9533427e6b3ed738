/**
 * The description of the wire of partners' teams is up to date with the declarations, and complete.
 *
 * UPDATE_DOCS=1 regenerates docs/openapi-partner.json.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/compile';
import { exampleIn } from '../../../src/protocols/declaration/examples.ts';
import { type Declared, ENDPOINTS, reasonsOf } from '../../../src/protocols/team/declared.ts';
import { exampleBody, MEANINGS, openapi } from '../../../src/protocols/team/openapi.ts';
import { REASONS } from '../../../src/protocols/team/reasons.ts';
import { assertExplained, testFresh, testLints, version } from '../../support/described.ts';

const DECLARED = Object.entries<Declared>(ENDPOINTS);

testFresh({ 'docs/openapi-partner.json': `${JSON.stringify(openapi(version), null, 1)}\n` });

testLints('docs/openapi-partner.json');

test('paths are unique, and every part of a path is a field', () => {
  const paths = DECLARED.map(([, { method, path }]) => `${method} ${path}`);
  assert.equal(new Set(paths).size, paths.length);
  for (const [name, { path, fields }] of DECLARED)
    for (const [, part = ''] of path.matchAll(/:(\w+)/g)) assert.ok(part in fields, `${name}: ${part} is no field`);
});

test('every field has a meaning and accepts its example', () => {
  for (const [name, declared] of DECLARED)
    for (const [field, rule] of Object.entries(declared.fields)) {
      assert.ok(MEANINGS.meaningOf(declared, field));
      const example = MEANINGS.exampleOf(field, rule);
      assert.notEqual(rule.read(example), undefined, `${name}: the example of ${field} is refused`);
      if (!declared.path.includes(`:${field}`)) assert.deepEqual(exampleBody(declared)[field], example);
    }
});

test('the example of every reply matches its schema, and every name in a reply has a description', () => {
  for (const [name, { gives }] of DECLARED) {
    const validator = Compile(gives);
    const example = exampleIn(gives);
    assert.ok(validator.Check(example), `${name}: ${JSON.stringify(validator.Errors(example).slice(0, 3))}`);
  }
  assertExplained(DECLARED.map(([name, { gives }]) => [name, gives]));
});

test('every reason is one of an endpoint, or comes before a request reaches one', () => {
  const declared = new Set(DECLARED.flatMap(([, one]) => reasonsOf(one)));
  assert.deepEqual(
    Object.keys(REASONS).filter((reason) => !declared.has(reason as never)),
    ['unknown_path'],
  );
});
