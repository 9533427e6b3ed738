import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atDeadline, placeDeposit } from '../../src/orders/decide.ts';
import { isFinal, legalFrom, next, type OrderState, STATES, TRANSITIONS } from '../../src/orders/machine.ts';

const states = Object.keys(STATES) as OrderState[];

test('no state answers one event in two ways', () => {
  const seen = new Set<string>();
  for (const row of TRANSITIONS) {
    for (const from of row.from) {
      const key = `${from} ${row.on}`;
      assert.ok(!seen.has(key), key);
      seen.add(key);
    }
  }
});

test('every state can be reached from created', () => {
  const reached = new Set<OrderState>(['created']);
  for (let grew = true; grew; ) {
    grew = false;
    for (const row of TRANSITIONS) {
      if (row.from.some((from) => reached.has(from)) && !reached.has(row.to)) {
        reached.add(row.to);
        grew = true;
      }
    }
  }
  assert.deepEqual([...reached].sort(), [...states].sort());
});

test('every state that is not final leads to a final one, and no final state leads anywhere', () => {
  const ends = (state: OrderState, seen = new Set<OrderState>()): boolean => {
    if (isFinal(state)) return true;
    if (seen.has(state)) return false;
    seen.add(state);
    return TRANSITIONS.some((row) => row.from.includes(state) && ends(row.to, seen));
  };
  for (const state of states) {
    assert.ok(ends(state), `${state} never ends`);
    if (isFinal(state)) assert.ok(!TRANSITIONS.some((row) => row.from.includes(state)), `${state} goes on`);
  }
});

test('the held amount changes only with an entry', () => {
  for (const row of TRANSITIONS) {
    for (const from of row.from) {
      const changes = STATES[from].holds !== STATES[row.to].holds;
      assert.equal(row.post !== undefined, changes, `${from} ${row.on} ${row.to}`);
    }
  }
});

test('nothing is paid out and refunded from one state', () => {
  for (const state of states) {
    if (STATES[state].holds !== 'the payout, held') continue;
    assert.ok(!TRANSITIONS.some((row) => row.from.includes(state) && row.then === 'send_refund'), state);
  }
});

test('an event without a row has no effect: settled twice, refunded after settling, expired after the deposit', () => {
  assert.equal(next('settled', 'payout_settled'), undefined);
  assert.equal(next('settled', 'refund_requested'), undefined);
  assert.equal(next('deposit_confirmed', 'deadline_passed'), undefined);
  assert.equal(next('paying_out', 'refund_requested'), undefined);
});

test('the states an event is legal from are those of the table', () => {
  assert.deepEqual(legalFrom('deposit_confirmed', 'deposit_confirmed').sort(), ['created', 'deposit_seen']);
  assert.deepEqual(legalFrom('retried', 'refunding'), ['refund_held']);
});

const rail = 'evm.local';
const waiting = {
  state: 'deposit_seen' as OrderState,
  depositRail: rail,
  depositAsset: 'usdc.local',
  depositUnits: 100n,
};

test('parts add up to the whole, and the rest is excess', () => {
  assert.deepEqual(placeDeposit(waiting, { rail, asset: 'usdc.local', units: 60n }, 0n), {
    outcome: 'part',
    missingUnits: 40n,
  });
  assert.deepEqual(placeDeposit(waiting, { rail, asset: 'usdc.local', units: 40n }, 60n), {
    outcome: 'complete',
    excessUnits: 0n,
  });
  assert.deepEqual(placeDeposit(waiting, { rail, asset: 'usdc.local', units: 70n }, 60n), {
    outcome: 'complete',
    excessUnits: 30n,
  });
});

test('unexpected money goes to suspense, with the reason', () => {
  const why = (state: OrderState, asset = 'usdc.local') => {
    const placed = placeDeposit({ ...waiting, state }, { rail, asset, units: 100n }, 0n);
    return placed.outcome === 'suspense' ? placed.why : placed.outcome;
  };
  assert.equal(why('created', 'usdt.local'), 'wrong_asset');
  assert.equal(why('expired'), 'late');
  assert.equal(why('cancelled'), 'late');
  assert.equal(why('settled'), 'second');
  assert.equal(why('paying_out'), 'second');
  const unknown = placeDeposit(undefined, { rail, asset: 'usdc.local', units: 1n }, 0n);
  assert.deepEqual(unknown, { outcome: 'suspense', why: 'unknown_target' });
});

test('a deadline expires only unpaid orders', () => {
  assert.equal(atDeadline('created', { unconfirmed: 0, confirmedUnits: 0n, allRead: true }), 'expire');
  assert.equal(atDeadline('deposit_seen', { unconfirmed: 1, confirmedUnits: 0n, allRead: true }), 'wait');
  assert.equal(atDeadline('deposit_seen', { unconfirmed: 0, confirmedUnits: 5n, allRead: true }), 'take_what_came');
  assert.equal(atDeadline('created', { unconfirmed: 0, confirmedUnits: 0n, allRead: false }), 'wait');
  assert.equal(atDeadline('deposit_seen', { unconfirmed: 0, confirmedUnits: 5n, allRead: false }), 'wait');
  assert.equal(atDeadline('paying_out', { unconfirmed: 0, confirmedUnits: 0n, allRead: true }), 'nothing');
});
