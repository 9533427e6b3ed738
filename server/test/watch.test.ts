/** The file changes that `npm test -- --watch` recognises, and the tests it runs after them. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { changesIn, reachedBy } from '../../scripts/watch.ts';
import { freshFolder } from './support/folder.ts';

const FILES: Readonly<Record<string, string>> = {
  'src/money.ts': 'export const unit = 1;',
  'src/orders.ts': `import { unit } from './money.ts';\nexport const two = unit;`,
  'src/alone.ts': 'export const alone = 1;',
  'test/orders.test.ts': `import { two } from '../src/orders.ts';\nconst fixture = 'kraken.json';`,
  'test/later.test.ts': `const { two } = await import('../src/orders.ts');`,
  'test/types.test.ts': `import type { unit } from '../src/money.ts';`,
  'test/other.test.ts': 'export const nothing = 1;',
};
function sources(): string {
  const root = freshFolder('watch');
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

test('a change reaches the tests that import it, through others too, and no others', () => {
  const root = sources();
  const reached = (...paths: string[]) =>
    reachedBy(new Set(paths.map((path) => join(root, path))), root).map((path) => relative(root, path));
  assert.deepEqual(reached('src/orders.ts'), ['test/later.test.ts', 'test/orders.test.ts']);
  assert.deepEqual(reached('src/money.ts'), ['test/later.test.ts', 'test/orders.test.ts', 'test/types.test.ts']);
  assert.deepEqual(reached('test/other.test.ts'), ['test/other.test.ts']);
  assert.deepEqual(
    reached('fixtures/kraken.json'),
    ['test/orders.test.ts'],
    'a test is not reached by its fixture’s name',
  );
  assert.deepEqual(reached('src/alone.ts'), []);
  assert.deepEqual(reached('test/gone.test.ts'), [], 'a deleted test was run');
});

test('of our own sources, back-off reaches the tests of its users', () => {
  const root = fileURLToPath(new URL('../', import.meta.url));
  const reached = reachedBy(new Set([join(root, 'src/base/backoff.ts')]), root).map((path) => relative(root, path));
  assert.ok(reached.includes('test/base/http.test.ts'), reached.join());
  assert.ok(reached.includes('test/base/jobs.test.ts'), reached.join());
  assert.ok(!reached.includes('test/base/money.test.ts'), 'a test of arithmetic was reached');
});

test('changes written together are reported together, and later ones later', async () => {
  const root = sources();
  const over = new AbortController();
  const changes = changesIn(root, over.signal);
  const first = changes.next();
  for (const path of ['src/money.ts', 'src/orders.ts', 'notes.txt']) writeFileSync(join(root, path), 'changed');
  const together = (await first).value as Set<string>;
  assert.deepEqual([...together].map((path) => relative(root, path)).sort(), ['src/money.ts', 'src/orders.ts']);
  // While no caller waits, because tests run.
  writeFileSync(join(root, 'src/alone.ts'), 'changed');
  const second = (await changes.next()).value as Set<string>;
  assert.ok(second.has(join(root, 'src/alone.ts')));
  const last = changes.next();
  over.abort();
  assert.equal((await last).done, true, 'Ctrl-C did not end it');
});
