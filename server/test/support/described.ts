/** Tests of files generated from declarations: they are up to date, the description lints, and every reply is described. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../../..');
/** Of this software. */
export const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')) as { version: string };

/** A test for each file, by path; UPDATE_DOCS=1 writes the files again. */
export function testFresh(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files))
    test(`${path} matches the declarations`, () => {
      if (process.env.UPDATE_DOCS === '1') writeFileSync(join(root, path), text);
      assert.equal(readFileSync(join(root, path), 'utf8'), text, `${path} is stale: regenerate it with UPDATE_DOCS=1`);
    });
}

/** @param file an OpenAPI description */
export function testLints(file: string): void {
  test(`${file} lints without an error or a warning`, async () => {
    const redocly = join(dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')), 'bin/cli.js');
    const linting = promisify(execFile)(process.execPath, [redocly, 'lint', join(root, file)], {
      cwd: root,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', NO_COLOR: '1', CI: 'true' },
      timeout: 120_000,
    });
    const { stdout, stderr } = await linting.catch((error: { stdout: string; stderr: string }) => error);
    assert.match(stderr, /Your API description is valid/, `${stdout}${stderr}`);
    assert.doesNotMatch(stderr, /You have \d+ warning/, `${stdout}${stderr}`);
  });
}

interface Form {
  properties?: Record<string, object>;
  items?: object;
  anyOf?: object[];
}

/**
 * Every name in these replies has a description.
 *
 * @param replies  the place and the schema of each reply
 * @param exempt   names that need no description
 */
export function assertExplained(replies: readonly (readonly [string, object])[], exempt: readonly string[] = []): void {
  const silent: string[] = [];
  const walk = (where: string, schema: object): void => {
    const { properties = {}, items, anyOf = [] } = schema as Form;
    for (const [name, property] of Object.entries(properties)) {
      if (!('description' in property) && !exempt.includes(name)) silent.push(`${where}: ${name}`);
      walk(`${where}: ${name}`, property);
    }
    for (const form of [...(items === undefined ? [] : [items]), ...anyOf]) walk(where, form);
  };
  for (const [where, schema] of replies) walk(where, schema);
  assert.deepEqual(silent, []);
}
