/**
 * The examples of docs/adding-a-price-source.md and docs/adding-a-verifier.md, applied to a copy of the sources: they compile,
 * their settings exist, and they keep the contracts. They need exactly what is promised: one file or folder, one line, one
 * fixture.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { applyDiffs } from './support/diffs.ts';
import { freshFolder } from './support/folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = (name: string): string => readFileSync(join(root, 'docs', `${name}.md`), 'utf8');

describe('the examples of adding an adapter', () => {
  let copy: string;
  const made: Record<string, string[]> = {};
  before(() => {
    copy = freshFolder('examples');
    for (const name of [
      'server/src',
      'server/test',
      'server/package.json',
      'sdk',
      'console/src',
      'scripts',
      'package.json',
      'tsconfig.json',
    ])
      cpSync(join(root, name), join(copy, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    for (const name of ['adding-a-price-source', 'adding-a-verifier']) made[name] = applyDiffs(page(name), copy);
  });
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    // A run of tests within a test would report to this one's runner.
    const { NODE_TEST_CONTEXT: _within, ...mine } = process.env;
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: copy,
      env: { ...mine, ...env },
      encoding: 'utf8',
    });
    return { status, said: `${stdout}${stderr}` };
  };

  test('a price source is one file, one line and one fixture; a verifier one folder, one line and one fixture', () => {
    assert.deepEqual(made, {
      'adding-a-price-source': [
        'server/src/quotes/sources/gemini.ts',
        'server/src/registry.ts',
        'server/test/fixtures/prices/gemini.json',
      ],
      'adding-a-verifier': [
        'server/src/verifiers/inhouse/index.ts',
        'server/src/registry.ts',
        'server/test/fixtures/verifiers/inhouse.ts',
      ],
    });
  });

  test('they compile, with everything that they import', () => {
    const files = Object.values(made)
      .flat()
      .filter((path) => path.endsWith('.ts'));
    const project = join(copy, 'tsconfig.examples.json');
    writeFileSync(project, JSON.stringify({ extends: './tsconfig.json', include: [], files: [...new Set(files)] }));
    const { status, said } = run([join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', project]);
    assert.equal(status, 0, said);
  });

  test('npm run config has their settings, and their codes can be chosen', () => {
    const env = { PRICE_SOURCES: 'fixed,gemini', VERIFIER: 'inhouse', PRICE_GEMINI_URL: '', INHOUSE_TOKEN: 'hidden' };
    const { status, said } = run(['server/src/apps/server.ts', '--print-config'], env);
    assert.equal(status, 0, said);
    assert.match(said, /^PRICE_SOURCES +fixed,gemini /m);
    assert.match(said, /^VERIFIER +inhouse /m);
    assert.match(said, /^PRICE_GEMINI_URL +https:\/\/api\.gemini\.com +Gemini, its public REST API$/m);
    assert.match(said, /^INHOUSE_TOKEN +\(set\) /m);
    assert.ok(!said.includes('hidden'), 'the secret was printed');
  });

  test('they keep the contracts of their kinds', () => {
    const files = ['server/test/contracts/adapters.test.ts', 'server/test/quotes/sources.test.ts'];
    const only = ['gemini', 'inhouse', 'lists'].map((name) => `--test-name-pattern=${name}`);
    const { status, said } = run(['--test', '--test-reporter=tap', ...only, ...files]);
    assert.equal(status, 0, said);
    for (const contract of [
      'price source contract: gemini',
      'verifier contract: inhouse',
      'gemini: a book that is crossed',
    ])
      assert.match(said, new RegExp(`^ *ok \\d+ - ${contract}`, 'm'), said);
    assert.ok(Number(/^# pass (\d+)$/m.exec(said)?.[1]) >= 15, said);
    assert.match(said, /^# skipped 0$/m);
  });
});
