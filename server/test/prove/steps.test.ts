/** The steps run all that `npm test` leaves out: a file that no step names would never run. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { reachedBy } from '../../../scripts/watch.ts';
import { stepsOf, WHOLE } from './steps.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The files that steps run in their full size. The runner reads a path in the same way (scripts/test.ts). */
const inFull = new Set(
  stepsOf(WHOLE)
    .filter(({ env }) => env?.LONG_TESTS === '1')
    .flatMap(({ args }) => args.filter((arg) => arg.startsWith('server/')))
    .flatMap((path) => globSync([path, `${path}/**/*.test.ts`], { cwd: ROOT })),
);

test('every file of the long run is in a step', () => {
  const long = globSync('server/test/**/*.long.test.ts', { cwd: ROOT });
  assert.ok(long.length > 30, `${long.length}`);
  assert.deepEqual(
    long.filter((path) => !inFull.has(path)),
    [],
  );
});

test('every file that does more in the long run is in a step', () => {
  const size = join(ROOT, 'server/test/support/long.ts');
  const more = reachedBy(new Set([size]), join(ROOT, 'server')).map((path) => relative(ROOT, path));
  assert.ok(more.length > 10, `${more.length}`);
  assert.deepEqual(
    more.filter((path) => !inFull.has(path)),
    [],
  );
});
