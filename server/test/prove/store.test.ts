/** What is kept of a step: it is committed, and read on other machines. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { without } from './store.ts';

test('a result names no path of the machine that it was made on', () => {
  const report = {
    command: 'npm run simulate -- --seeds 1..2 --json /here/a.report',
    seeds: 2,
    said: [null, 'in /here/it'],
  };
  assert.deepEqual(without(report, [' --json /here/a.report', '/here']), {
    ...{ command: 'npm run simulate -- --seeds 1..2', seeds: 2 },
    said: [null, 'in /it'],
  });
});

test('no committed result names such a path, in the trace of an error either', () => {
  const folder = join(import.meta.dirname, '..', '..', '..', 'docs', 'evidence');
  const results = globSync('*.json', { cwd: folder });
  assert.ok(results.length > 0);
  assert.deepEqual(
    results.flatMap(
      (name) => readFileSync(join(folder, name), 'utf8').match(/(file:\/\/|\/(tmp|root|home)\/).{0,60}/g) ?? [],
    ),
    [],
  );
});
