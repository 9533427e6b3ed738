/** Objects without their undefined fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defined } from '../../src/base/defined.ts';

test('undefined fields are left out; null, false, zero and empty text stay', () => {
  const given: { a?: number | undefined; b: null; c: boolean; d: number; e: string } = {
    ...{ a: undefined, b: null, c: false, d: 0, e: '' },
  };
  const kept: { a?: number; b: null; c: boolean; d: number; e: string } = defined(given);
  assert.deepEqual(kept, { b: null, c: false, d: 0, e: '' });
  assert.ok(!('a' in kept));
  assert.deepEqual(Object.keys({ id: 1, ...defined({ y: 2, x: undefined, z: 3 }) }), ['id', 'y', 'z']);
});
