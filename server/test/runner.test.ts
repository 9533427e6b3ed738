/**
 * The runner of the tests: errors of a file are reported under its name, whether it has a process of its own or shares one, and the
 * other files continue.
 */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freshFolder } from './support/folder.ts';
import { isLong } from './support/long.ts';
import { memoryFolder } from './support/memory.ts';
import { collect, run } from './support/process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** By then earlier asynchronous work has thrown or rejected. */
const WAITS = 'await new Promise((wake) => setImmediate(wake));';

/** Runs files with these bodies, in the order of their names, all in one shared process as long as it lives. */
async function ranWith(files: Readonly<Record<string, string>>, ...options: string[]) {
  const folder = freshFolder('runner');
  for (const [name, body] of Object.entries(files))
    writeFileSync(
      join(folder, `${name}.test.ts`),
      `import { after, before, beforeEach, describe, test } from 'node:test';\n${body}\n`,
    );
  const args = [relative(root, folder), '--retries', '0', '--concurrency', '1', ...options];
  const child = run(['scripts/test.ts', ...args], {});
  const output = collect(child);
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { code, said: output() };
}

const it = (body: string): string => `test('it', async () => { ${body} });`;

const WHERE = [['in a shared process'], ['in a process of its own', '--name', 'it']] as const;
for (const [where, ...options] of isLong ? WHERE : WHERE.slice(0, 1))
  test(`an error outside a test, and an unhandled rejection, fail the file and show their origin, ${where}`, async () => {
    const { code, said } = await ranWith(
      {
        fine: it(WAITS),
        late: it(`setTimeout(() => { throw new Error('thrown after its tests'); }, 50);`),
        rejected: it(`void Promise.reject(new Error('awaited by nobody')); ${WAITS}`),
        thrown: it(`setImmediate(() => { throw new Error('thrown beside it'); }); ${WAITS}`),
        whole: it(WAITS),
      },
      ...options,
    );
    assert.equal(code, 1, said);
    for (const [name, why] of [
      ['late', 'thrown after its tests'],
      ['rejected', 'awaited by nobody'],
      ['thrown', 'thrown beside it'],
    ]) {
      assert.match(said, new RegExp(`uncaught Error: ${why}\\n.*${name}\\.test\\.ts:2:`));
      assert.match(said, new RegExp(`^\\u2716 .*${name}\\.test\\.ts \\(`, 'm'));
    }
    for (const name of ['fine', 'whole']) assert.match(said, new RegExp(`^\\u2714 .*${name}\\.test\\.ts`, 'm'));
    assert.doesNotMatch(said, / 0 failed\n$/);
  });

if (isLong)
  test('files that share a process do not see each other: hooks, environment, working folder, time', async () => {
    const { code, said } = await ranWith({
      a: `process.env.LEFT = 'by a'; process.env.HOME = '/nowhere'; process.chdir('/');
        let began = 0; before(() => { began += 1; }); after(() => console.log('a began ' + began));
        describe('inside', () => { let each = 0; beforeEach(() => { each += 1; });
          test('one', () => {}); test('two', () => { if (each !== 2) throw new Error('each ' + each);
            const waits = setInterval(() => {}, 1_000); after(() => clearInterval(waits)); }); });`,
      b: `import { mock } from 'node:test'; globalThis.pid = process.pid;
        ${it(`mock.timers.enable({ apis: ['Date'], now: 0 }); if (began()) throw new Error('hooks of a');`)}
        const began = () => process.env.LEFT !== undefined || process.env.HOME === '/nowhere' || process.cwd() === '/';`,
      c: it(
        `if (Date.now() === 0) throw new Error('the time of b'); if (globalThis.pid !== process.pid) throw new Error('alone');`,
      ),
    });
    assert.equal(code, 0, said);
    assert.equal(said.match(/a began 1/g)?.length, 1, said);
    assert.match(said, /4 passed, 0 failed\n$/);
  });

test('a file that fails, cannot be loaded, ends its process, or does not end is told by its name, and the others run', async () => {
  const { code, said } = await ranWith(
    {
      a: it('throw new Error("wrong");'),
      aa: "describe('later', async () => { await new Promise((wake) => setImmediate(wake)); test('it', () => {}); });",
      b: 'import "./is-not-there.ts";',
      c: it('process.exit(0);'),
      d: it(WAITS),
      e: `import { createServer } from 'node:http'; ${it('createServer().listen(0);')}`,
      f: it('await new Promise(() => setInterval(() => {}, 1_000));'),
      g: it(WAITS),
    },
    ...['--timeout', '15'],
  );
  assert.equal(code, 1, said);
  assert.match(said, /\u2716 .*a\.test\.ts: it\nError: wrong/);
  assert.match(said, /test\(\) was called when the file had been loaded/);
  assert.match(said, /\u2716 .*b\.test\.ts: loads\nError.*is-not-there/);
  assert.match(said, /\u2716 .*c\.test\.ts: its process ended before its tests/);
  assert.match(said, /still open after its tests: TCPServerWrap \(1\)/);
  assert.match(said, /\u2716 .*e\.test\.ts: took longer than 15 s/);
  assert.match(said, /\u2716 .*f\.test\.ts: took longer than 15 s/);
  for (const name of ['d', 'g']) assert.match(said, new RegExp(`^\\u2714 .*${name}\\.test\\.ts`, 'm'));
  // The test of the fifth passed: what it left open is the file's.
  assert.match(said, /3 passed, 6 failed\n$/);
});

if (isLong)
  test('a process that a test leaves behind is named, and a failure', async () => {
    const left = `import { spawn } from 'node:child_process';
      ${it(`spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)', 'left behind'], { detached: true, stdio: 'ignore' }).unref();`)}`;
    const { code, said } = await ranWith({ a: left });
    assert.equal(code, 1, said);
    assert.match(said, /left running by a test: \d+ .*left behind/);
    assert.match(said, /1 passed, 1 failed\n$/);
  });

if (isLong)
  test('a name chooses tests and not files, and a failed file runs once more', async () => {
    const chosen = await ranWith(
      { it: `${it('')} test('other', () => { throw new Error('not chosen'); });` },
      '--name',
      '^it',
    );
    assert.equal(chosen.code, 0, chosen.said);
    assert.match(chosen.said, /1 passed, 0 failed\n$/);
    const mark = join(freshFolder('mark'), 'ran');
    const flaky = await ranWith(
      {
        a: `import { existsSync, writeFileSync } from 'node:fs';
        ${it(`const again = existsSync('${mark}'); writeFileSync('${mark}', ''); if (!again) throw new Error('only at first');`)}`,
        b: it(WAITS),
      },
      ...['--retries', '1'],
    );
    assert.equal(flaky.code, 0, flaky.said);
    assert.match(flaky.said, /flaky, failed at first: .*a\.test\.ts/);
    assert.match(flaky.said, /1 flaky\n2 passed, 0 failed\n$/);
  });

test('a path without tests is an error, also beside one that has some', async () => {
  const folder = freshFolder('runner');
  writeFileSync(join(folder, 'fine.test.ts'), `import { test } from 'node:test';\ntest('it', () => {});\n`);
  const child = run(['scripts/test.ts', relative(root, folder), 'server/test/mistyped', '--retries', '0'], {});
  const output = collect(child);
  assert.equal(await new Promise<number | null>((resolve) => child.once('exit', resolve)), 1);
  assert.match(output(), /server\/test\/mistyped: there is no file of tests/);
  const folders = [memoryFolder('cloverleaf-tests') ?? folder, join(root, '.test-data')];
  for (const path of folders) assert.ok(!existsSync(join(path, String(child.pid))), `a folder is left in ${path}`);
});
