/**
 * The description of the interface is up to date with the table it is generated from, and complete.
 *
 * UPDATE_DOCS=1 regenerates docs/openapi.json and docs/api.md.
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { adviceOf } from '../../../src/protocols/whitelabel/advice.ts';
import { Malformed, readField } from '../../../src/protocols/whitelabel/fields.ts';
import { fieldsOf, openapi, reasonsOf, referencePage } from '../../../src/protocols/whitelabel/openapi.ts';
import { ROUTES } from '../../../src/protocols/whitelabel/table.ts';
import { testFresh, testLints, version } from '../../support/described.ts';

const FILES = {
  'docs/openapi.json': `${JSON.stringify(openapi(version), null, 2)}\n`,
  'docs/api.md': referencePage(),
};

testFresh(FILES);

testLints('docs/openapi.json');

test('every field has a description, and every required one an example', () => {
  for (const route of ROUTES)
    for (const { name, required, example } of fieldsOf(route))
      assert.ok(!required || example !== undefined, `${route.paths[0]}: ${name} has no example`);
});

test('an example has the form that its field takes', () => {
  for (const route of ROUTES)
    for (const { name, example, field } of fieldsOf(route)) {
      if (example === undefined) continue;
      const sent = Array.isArray(example) || typeof example === 'boolean' ? example : String(example);
      const read = readField(field, sent);
      assert.ok(!(read instanceof Malformed), `${route.paths[0]}: the example of ${name} is refused`);
    }
});

test('an endpoint reads what was sent through its declared fields only, so that the reference lists them all', async () => {
  const folder = fileURLToPath(new URL('../../../src/protocols/whitelabel/endpoints/', import.meta.url));
  for (const file of await readdir(folder)) {
    const found = /\bcall\.(?:query|body)\b/.exec(await readFile(`${folder}${file}`, 'utf8'));
    assert.equal(found, null, `${file} reads ${found?.[0]}; declare the field with its endpoint`);
  }
});

test('every reason has advice', () => {
  for (const route of ROUTES)
    for (const reason of reasonsOf(route)) assert.ok(adviceOf(reason), `${route.paths[0]}: ${reason} has no advice`);
});

test('every reference leads to a component, and operation names are unique', () => {
  const text = JSON.stringify(openapi(version));
  const { components, paths } = JSON.parse(text) as {
    components: Record<string, object>;
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  for (const [, ref = ''] of text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)) {
    const [kind, name = ''] = ref.split('/');
    assert.ok(Object.hasOwn(components[kind ?? ''] ?? {}, name), `${ref} leads nowhere`);
  }
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  assert.equal(new Set(ids).size, ids.length, 'two operations have one name');
});
