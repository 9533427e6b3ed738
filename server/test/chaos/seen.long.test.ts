/** The chaos finds a fault: one payment that the bank made twice. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { processesOf } from '../support/leftbehind.ts';
import { chaos } from './program.ts';

test('a payment that is made twice is found, and the folder of the run is kept', { timeout: 400_000 }, async () => {
  const one = chaos(['--seconds', '3', '--bank', 'repeating', '--only', 'server killed', '--plant']);
  assert.equal(await one.ended, 1, one.output());
  assert.match(one.output(), /paid twice [1-9]/);
  assert.match(one.output(), /paidTwice: the bank paid pay_\d+_1 2 times/);
  const [, kept = ''] = /kept to look at: (\S+)/.exec(one.output()) ?? [];
  assert.ok(kept.startsWith(one.folder) && existsSync(kept), kept);
  assert.deepEqual(processesOf(one.folder), []);
});
