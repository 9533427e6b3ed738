/** A step of the evidence that is stopped half-way leaves no process. The chaos has a test of its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshFolder } from '../support/folder.ts';
import { processesOf } from '../support/leftbehind.ts';
import { collect, run } from '../support/process.ts';
import { until } from '../support/until.ts';

test('fuzzing that is stopped half-way leaves nothing', { timeout: 100_000 }, async () => {
  const folder = freshFolder('fuzz');
  // Distinguishes the processes it starts from others.
  const child = run(['server/test/fuzz/main.process.ts', '--times', '50'], { TMPDIR: folder });
  const output = collect(child);
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  const areRunning = () => processesOf(folder).some(({ command }) => command.includes('scripts/test.files.ts'));
  await until('a test runs', () => areRunning(), { withinMs: 60_000, everyMs: 50, more: output });
  child.kill('SIGINT');
  assert.equal(await ended, 1, output());
  assert.deepEqual(processesOf(folder), []);
});
