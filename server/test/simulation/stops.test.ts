/** A stop is in force until a person lifts it; setting it again makes a new one; an uncertain stop does not count as in force. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStops } from './stops.ts';

const WHAT = 'customer 1';
function opened() {
  const time = { now: 0 };
  return { time, stops: openStops(() => time.now) };
}

test('a stop is in force from its commit until a person begins to lift it', () => {
  const { stops } = opened();
  const committed = stops.laying(WHAT);
  assert.equal(stops.since(WHAT), undefined);
  committed();
  assert.ok(stops.since(WHAT));
  assert.equal(stops.since('customer 2'), undefined);
  stops.lifting(WHAT)();
  assert.equal(stops.since(WHAT), undefined);
});

test('an approval covers a stop set before it, and not one set again', () => {
  const { stops } = opened();
  stops.laying(WHAT)();
  const first = stops.since(WHAT) ?? 0;
  stops.approved(['7']);
  stops.laying(WHAT)();
  const second = stops.since(WHAT) ?? 0;
  stops.approved(['7', '8']);
  assert.deepEqual(
    [stops.covers('7', first), stops.covers('7', second), stops.covers('8', second), stops.covers('9', first)],
    [true, false, true, false],
  );
});

test('a proposal lifts the stops in force when it was made, and no newer one', () => {
  const { stops } = opened();
  stops.laying(WHAT)();
  const proposed = stops.next();
  stops.lifting(WHAT, proposed)();
  assert.equal(stops.since(WHAT), undefined);
  stops.laying(WHAT)();
  stops.lifting(WHAT, proposed)();
  assert.ok(stops.since(WHAT));
});

test('a stop set while another is lifted may be lifted with it, unless the lift takes impossibly long', () => {
  const { stops, time } = opened();
  const over = stops.lifting(WHAT);
  stops.laying(WHAT)();
  assert.equal(stops.since(WHAT), undefined);
  over();
  stops.laying(WHAT)();
  assert.ok(stops.since(WHAT));
  stops.lifting(WHAT);
  time.now += 180_000;
  stops.laying(WHAT)();
  assert.ok(stops.since(WHAT));
});
