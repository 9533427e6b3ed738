/**
 * The description of the partner API is up to date with the declarations, and complete.
 *
 * UPDATE_DOCS=1 regenerates docs/openapi-v1.json and docs/api-v1.md.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/compile';
import { isInPath } from '../../../src/protocols/declaration/openapi.ts';
import { ENDPOINTS } from '../../../src/protocols/v1/declared/index.ts';
import { exampleReply, exampleRequest } from '../../../src/protocols/v1/examples.ts';
import { MEANINGS } from '../../../src/protocols/v1/names.ts';
import { openapi } from '../../../src/protocols/v1/openapi.ts';
import { REASONS, reasonsOf, SESSION_REASONS } from '../../../src/protocols/v1/reasons.ts';
import { referencePage } from '../../../src/protocols/v1/reference.ts';
import { assertExplained, testFresh, testLints, version } from '../../support/described.ts';

const FILES = {
  'docs/openapi-v1.json': `${JSON.stringify(openapi(version), null, 1)}\n`,
  'docs/api-v1.md': referencePage(),
};

testFresh(FILES);

testLints('docs/openapi-v1.json');

test('names and paths are unique, and every part of a path is a required field', () => {
  const names = ENDPOINTS.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  const paths = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
  assert.equal(new Set(paths).size, paths.length);
  for (const { path, fields } of ENDPOINTS)
    for (const [, name = ''] of path.matchAll(/:(\w+)/g))
      assert.ok(fields[name] !== undefined && fields[name].optional !== true, `${path}: ${name} is no field`);
});

test('every field has a description and accepts its example, and the examples make a valid request', () => {
  for (const declared of ENDPOINTS) {
    for (const [name, field] of Object.entries(declared.fields)) {
      assert.ok(MEANINGS.meaningOf(declared, name));
      const example = MEANINGS.exampleOf(name, field);
      assert.notEqual(field.read(example), undefined, `${declared.name}: the example of ${name} is refused`);
    }
    for (const [name, value] of Object.entries(exampleRequest(declared)))
      assert.notEqual(declared.fields[name]?.read(value), undefined, `${declared.name}: ${name} in the example`);
  }
});

test('the example of every reply matches its schema', () => {
  for (const declared of ENDPOINTS) {
    const reply = exampleReply(declared);
    const validator = Compile(declared.gives);
    assert.ok(validator.Check(reply), `${declared.name}: ${JSON.stringify(validator.Errors(reply).slice(0, 3))}`);
  }
});

test('every name in a reply has a description', () => {
  assertExplained(ENDPOINTS.map(({ name, gives }) => [name, gives]));
});

test('every reason is used by an endpoint, or before a request reaches one', () => {
  const declared = new Set(ENDPOINTS.flatMap(reasonsOf));
  const OF_NO_ENDPOINT = new Set(['unknown_path', 'method_not_allowed', ...SESSION_REASONS]);
  const unused = Object.keys(REASONS).filter((reason) => !OF_NO_ENDPOINT.has(reason) && !declared.has(reason as never));
  assert.deepEqual(unused, []);
});

test('a write with personal data has none of it in its path', () => {
  for (const declared of ENDPOINTS)
    for (const [name, field] of Object.entries(declared.fields))
      assert.ok(field.personal !== true || !isInPath(declared, name), `${declared.name}: ${name}`);
});
