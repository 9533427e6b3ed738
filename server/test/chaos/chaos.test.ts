/**
 * A share of the chaos: one fault of each kind, after which every customer was paid the amount due, once. The whole of it: `npm
 * run chaos -- --minutes 5`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processesOf } from '../support/leftbehind.ts';
import { KINDS } from './faults.ts';
import { chaos } from './program.ts';

test('one fault of each kind: every order is paid once, and chain, bank and books agree', {
  timeout: 400_000,
}, async () => {
  const one = chaos(['--seconds', '22', '--rate', '1', '--bank', 'deduplicating', '--seed', '3']);
  assert.equal(await one.ended, 0, one.output());
  const [outcome] = one.outcome();
  assert.ok(outcome !== undefined && outcome.orders > 10, one.output());
  const never = KINDS.filter((kind) => (outcome.faults[kind] ?? 0) === 0);
  assert.ok(never.length <= 3, `never injected: ${never.join(', ')}; without effect: ${outcome.missed.join(', ')}`);
  assert.deepEqual(processesOf(one.folder), [], 'processes are left running');
});
