/** The runner of the tests: an uncaught error fails its own file, whichever test caused it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freshFolder } from './support/folder.ts';
import { collect, run } from './support/process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** By then earlier asynchronous work has thrown or rejected. */
const WAITS = 'await new Promise((wake) => setImmediate(wake));';

test('an error outside a test, and an unhandled rejection, fail the file and show their origin', async () => {
  const folder = freshFolder('runner');
  const bodies = {
    thrown: `setImmediate(() => { throw new Error('thrown beside it'); }); ${WAITS}`,
    rejected: `void Promise.reject(new Error('awaited by nobody')); ${WAITS}`,
    fine: WAITS,
  };
  for (const [name, body] of Object.entries(bodies))
    writeFileSync(
      join(folder, `${name}.test.ts`),
      `import { test } from 'node:test';\ntest('it', async () => { ${body} });\n`,
    );
  const child = run(['scripts/test.ts', relative(root, folder), '--retries', '0'], {});
  const output = collect(child);
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  const said = output();
  assert.equal(code, 1, said);
  assert.match(said, /Error: thrown beside it\n.*thrown\.test\.ts:2:/);
  assert.match(said, /nobody caught Error: awaited by nobody\n.*rejected\.test\.ts:2:/);
  assert.match(said, /^\u2714 .*fine\.test\.ts/m);
  assert.match(said, /2 passed, 2 failed\n$/);
});
