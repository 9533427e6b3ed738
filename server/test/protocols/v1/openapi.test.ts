/**
 * The description of the partner API is as fresh as the declarations, and says something of everything.
 *
 * UPDATE_DOCS=1 writes docs/openapi-v1.json and docs/api-v1.md anew.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Compile } from 'typebox/compile';
import { isInPath } from '../../../src/protocols/declaration/openapi.ts';
import { ENDPOINTS } from '../../../src/protocols/v1/declared/index.ts';
import { exampleReply, exampleRequest } from '../../../src/protocols/v1/examples.ts';
import { MEANINGS } from '../../../src/protocols/v1/names.ts';
import { openapi } from '../../../src/protocols/v1/openapi.ts';
import { REASONS, reasonsOf } from '../../../src/protocols/v1/reasons.ts';
import { referencePage } from '../../../src/protocols/v1/reference.ts';

const root = join(import.meta.dirname, '../../../..');
const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')) as { version: string };

const FILES = {
  'docs/openapi-v1.json': `${JSON.stringify(openapi(version), null, 1)}\n`,
  'docs/api-v1.md': referencePage(),
};

for (const [path, text] of Object.entries(FILES))
  test(`${path} is what the declarations say`, () => {
    if (process.env.UPDATE_DOCS === '1') writeFileSync(join(root, path), text);
    assert.equal(readFileSync(join(root, path), 'utf8'), text, `${path} is stale: UPDATE_DOCS=1 writes it anew`);
  });

test('docs/openapi-v1.json lints without an error or a warning', async () => {
  const redocly = join(dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')), 'bin/cli.js');
  const linting = promisify(execFile)(process.execPath, [redocly, 'lint', join(root, 'docs/openapi-v1.json')], {
    cwd: root,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', NO_COLOR: '1', CI: 'true' },
    timeout: 120_000,
  });
  const { stdout, stderr } = await linting.catch((error: { stdout: string; stderr: string }) => error);
  assert.match(stderr, /Your API description is valid/, `${stdout}${stderr}`);
  assert.doesNotMatch(stderr, /You have \d+ warning/, `${stdout}${stderr}`);
});

test('names and paths are there once, and every part of a path is a field that is needed', () => {
  const names = ENDPOINTS.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  const paths = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
  assert.equal(new Set(paths).size, paths.length);
  for (const { path, fields } of ENDPOINTS)
    for (const [, name = ''] of path.matchAll(/:(\w+)/g))
      assert.ok(fields[name] !== undefined && fields[name].optional !== true, `${path}: ${name} is no field`);
});

test('every field has a meaning and takes its example, and a request that is needed can be made of them', () => {
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

test('the example of every reply is such a reply', () => {
  for (const declared of ENDPOINTS) {
    const reply = exampleReply(declared);
    const validator = Compile(declared.gives);
    assert.ok(validator.Check(reply), `${declared.name}: ${JSON.stringify(validator.Errors(reply).slice(0, 3))}`);
  }
});

test('every name in a reply has a meaning', () => {
  const silent: string[] = [];
  const walk = (where: string, schema: object): void => {
    const {
      properties = {},
      items,
      anyOf = [],
    } = schema as Partial<{
      properties: Record<string, object>;
      items: object;
      anyOf: object[];
    }>;
    for (const [name, property] of Object.entries(properties)) {
      if (!('description' in property)) silent.push(`${where}: ${name}`);
      walk(`${where}: ${name}`, property);
    }
    for (const form of [...(items === undefined ? [] : [items]), ...anyOf]) walk(where, form);
  };
  for (const { name, gives } of ENDPOINTS) walk(name, gives);
  assert.deepEqual(silent, []);
});

test('every reason is declined for by some endpoint, or by what is no endpoint', () => {
  const declared = new Set(ENDPOINTS.flatMap(reasonsOf));
  const OF_NO_ENDPOINT = new Set(['unknown_path', 'method_not_allowed']);
  const unused = Object.keys(REASONS).filter((reason) => !OF_NO_ENDPOINT.has(reason) && !declared.has(reason as never));
  assert.deepEqual(unused, []);
});

test('a write that takes what is personal keeps it out of its path', () => {
  for (const declared of ENDPOINTS)
    for (const [name, field] of Object.entries(declared.fields))
      assert.ok(field.personal !== true || !isInPath(declared, name), `${declared.name}: ${name}`);
});
