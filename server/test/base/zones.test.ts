import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dayEnd, dayIn, dayStart, instantsAt, isZone } from '../../src/base/zones.ts';

const HOUR_MS = 3_600_000;
const hoursOf = (zone: string, day: string) => (dayEnd(zone, day).getTime() - dayStart(zone, day).getTime()) / HOUR_MS;
const spanOf = (zone: string, time: string) => {
  const span = instantsAt(zone, time);
  return span && [span.earliest.toISOString(), span.latest.toISOString()];
};
const exactly = (at: string) => [at, at];

describe('a day in a time zone', () => {
  it('begins when its clocks say so', () => {
    for (const [zone, day, start] of [
      ['UTC', '2026-11-27', '2026-11-27T00:00:00.000Z'],
      ['Asia/Kolkata', '2026-11-27', '2026-11-26T18:30:00.000Z'],
      ['America/New_York', '2026-11-27', '2026-11-27T05:00:00.000Z'],
      ['America/New_York', '2026-07-01', '2026-07-01T04:00:00.000Z'],
      ['Pacific/Kiritimati', '2026-11-27', '2026-11-26T10:00:00.000Z'],
      // Clocks went from 23:59 to 01:00.
      ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000Z'],
    ] as const)
      assert.equal(dayStart(zone, day).toISOString(), start, `${zone} ${day}`);
  });

  it('has 23 or 25 hours where clocks change, and 24 otherwise', () => {
    for (const [zone, day, hours] of [
      ['UTC', '2026-03-08', 24],
      ['Asia/Kolkata', '2026-03-08', 24],
      ['America/New_York', '2026-03-07', 24],
      ['America/New_York', '2026-03-08', 23],
      ['America/New_York', '2026-11-01', 25],
      ['Europe/Berlin', '2026-03-29', 23],
      ['Europe/Berlin', '2026-10-25', 25],
      ['Australia/Lord_Howe', '2026-04-05', 24.5],
      ['America/Sao_Paulo', '2018-11-04', 23],
      // The island moved across the date line.
      ['Pacific/Apia', '2011-12-30', 0],
    ] as const)
      assert.equal(hoursOf(zone, day), hours, `${zone} ${day}`);
  });

  it('contains every instant from its start to its end, and no other', () => {
    for (const zone of ['Asia/Kolkata', 'America/New_York', 'America/Nuuk', 'Europe/London', 'Pacific/Chatham']) {
      for (let at = Date.UTC(2024, 0, 1); at < Date.UTC(2027, 0, 1); at += 24 * HOUR_MS) {
        const day = new Date(at).toISOString().slice(0, 10);
        const [start, end] = [dayStart(zone, day).getTime(), dayEnd(zone, day).getTime()];
        for (const inside of [start, start + 1, end - 1]) assert.equal(dayIn(zone, new Date(inside)), day, zone);
        for (const outside of [start - 1, end]) assert.notEqual(dayIn(zone, new Date(outside)), day, zone);
      }
    }
  });
});

describe('a time', () => {
  it('with an offset is one instant in any zone', () => {
    for (const zone of ['UTC', 'Asia/Kolkata']) {
      assert.deepEqual(spanOf(zone, '2026-11-27T23:30:00-05:00'), exactly('2026-11-28T04:30:00.000Z'));
      assert.deepEqual(spanOf(zone, '2026-11-27T23:30:00.5+05:30'), exactly('2026-11-27T18:00:00.500Z'));
      assert.deepEqual(spanOf(zone, '2026-11-27T23:30:00Z'), exactly('2026-11-27T23:30:00.000Z'));
    }
  });

  it('without an offset is one of the zone', () => {
    assert.deepEqual(spanOf('Asia/Kolkata', '2026-11-27T01:00:00'), exactly('2026-11-26T19:30:00.000Z'));
    assert.deepEqual(spanOf('America/New_York', '2026-11-27T23:30:00'), exactly('2026-11-28T04:30:00.000Z'));
    assert.deepEqual(spanOf('America/New_York', '2026-11-27T24:00:00'), exactly('2026-11-28T05:00:00.000Z'));
  });

  it('that clocks show twice, or skip, may be either', () => {
    const twice = ['2026-11-01T05:30:00.000Z', '2026-11-01T06:30:00.000Z'];
    assert.deepEqual(spanOf('America/New_York', '2026-11-01T01:30:00'), twice);
    const skipped = ['2026-03-08T06:30:00.000Z', '2026-03-08T07:30:00.000Z'];
    assert.deepEqual(spanOf('America/New_York', '2026-03-08T02:30:00'), skipped);
  });

  it('that no clock shows is none', () => {
    for (const time of [
      '',
      '2026-11-27',
      '2026-11-27T12:00',
      '2026-02-30T12:00:00',
      '2026-11-27T24:00:01',
      '2026-11-27T12:60:00',
      '2026-11-27T12:00:00+15:00',
      '2026-11-27T12:00:00 UTC',
    ])
      assert.equal(instantsAt('UTC', time), undefined, time);
  });
});

it('a zone has a name that Intl knows', () => {
  assert.ok(isZone('Asia/Kolkata') && isZone('UTC'));
  assert.ok(!isZone('Asia/Kolkatta') && !isZone(''));
});
