/**
 * A chaos that is stopped half-way leaves no process.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { processesOf } from '../support/leftbehind.ts';
import { chaos } from './program.ts';

test('a run that is stopped half-way leaves nothing', { timeout: 300_000 }, async () => {
  const one = chaos(['--seconds', '60', '--bank', 'repeating']);
  while (!one.output().includes('servers on one PostgreSQL') && one.child.exitCode === null) await sleep(50);
  one.child.kill('SIGINT');
  assert.equal(await one.ended, 1, one.output());
  assert.deepEqual(processesOf(one.folder), []);
});
