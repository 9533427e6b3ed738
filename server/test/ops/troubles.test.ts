/** docs/operating/troubles/README.md lists every page that a story writes, and every page has a story. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const FOLDER = new URL('../../../docs/operating/troubles/', import.meta.url);
const TESTS = new URL('./', import.meta.url);

const pages = readdirSync(FOLDER)
  .filter((name) => name !== 'README.md')
  .sort();

test('the index links to every page once', () => {
  const index = readFileSync(new URL('README.md', FOLDER), 'utf8');
  const linked = [...index.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name]) => name);
  assert.deepEqual(linked.sort(), pages);
});

test('every page is played', () => {
  const played = readdirSync(TESTS)
    .filter((name) => /^troubles\.\w+(?:\.long)?\.test\.ts$/.test(name))
    .flatMap((name) => [...readFileSync(new URL(name, TESTS), 'utf8').matchAll(/^plays\(\s*'([\w-]+)'/gm)])
    .map(([, name]) => `${name}.md`);
  assert.deepEqual(played.sort(), pages);
});
