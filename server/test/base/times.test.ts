/** Times are read and written as the driver and the language do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import pg from 'pg';
import { isoTime, readTime } from '../../src/base/times.ts';

const byDriver = pg.types.getTypeParser(1184, 'text');

/** With every length of a fraction, days in any order, and years in which PostgreSQL writes four digits. */
const moments = fc.record({
  ms: fc.integer({ min: Date.parse('0100-01-01T00:00:00Z'), max: Date.UTC(9999, 11, 31, 23, 59, 59, 999) }),
  micros: fc.integer({ min: 0, max: 999 }),
});

/** As PostgreSQL writes it: no fraction of zero, and no zeros at its end. */
function written({ ms, micros }: { ms: number; micros: number }): string {
  const iso = new Date(ms).toISOString();
  const fraction = `${iso.slice(20, 23)}${String(micros).padStart(3, '0')}`.replace(/0+$/, '');
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}${fraction === '' ? '' : `.${fraction}`}+00`;
}

test('a time from PostgreSQL is read to the millisecond in which it lies', () => {
  fc.assert(
    fc.property(moments, (moment) => {
      assert.equal(readTime(written(moment)).getTime(), moment.ms);
    }),
    { numRuns: 5_000 },
  );
});

test('a time of another zone, of a far year or without an end is read as the driver reads it', () => {
  for (const text of [
    '2026-11-26 19:46:20.078+05:30',
    '2026-11-26 09:16:20-05',
    '0044-03-15 12:00:00+00 BC',
    '12026-01-01 00:00:00+00',
    'infinity',
    '-infinity',
  ])
    assert.deepEqual(readTime(text), byDriver(text), text);
});

test('a time is written as toISOString writes it', () => {
  const any = fc.oneof(
    fc.integer({ min: -8.64e15, max: 8.64e15 }),
    // Neighbours of midnight, where the day changes.
    fc
      .tuple(fc.integer({ min: -30_000, max: 60_000 }), fc.integer({ min: -2, max: 2 }))
      .map(([day, ms]) => day * 86_400_000 + ms),
  );
  fc.assert(
    fc.property(any, (ms) => {
      assert.equal(isoTime(new Date(ms)), new Date(ms).toISOString());
    }),
    { numRuns: 5_000 },
  );
  assert.throws(() => isoTime(new Date(Number.NaN)), RangeError);
});
