/** What an order does when amount, time or price are not as expected: pure decisions, as tables and as properties. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  beforePayout,
  deadlineOf,
  failureOf,
  holdBeforePayout,
  onAmount,
  onPrice,
  rateIsOpen,
  takeOfTooMuch,
} from '../../src/orders/decide.ts';
import { isFinal, isWaiting, type OrderState, STATES } from '../../src/orders/machine.ts';
import { BUILT_IN_POLICY, type Policy } from '../../src/partners/index.ts';

const states = Object.keys(STATES) as OrderState[];
const policy = (answers: Partial<Policy>): Policy => ({ ...BUILT_IN_POLICY, ...answers });
const MUCH = 10n ** 30n;

describe('another amount than was asked', () => {
  const half = policy({
    underpaid: { acceptBps: 50, beyond: 'refund' },
    overpaid: { acceptBps: 50, beyond: 'refund_all' },
  });
  const of = (receivedUnits: bigint, by: Policy) => onAmount({ depositUnits: 10_000n, receivedUnits }, by);

  for (const [received, by, expected] of [
    [10_000n, half, 'as_asked'],
    [9_999n, half, 'accept'],
    [9_950n, half, 'accept'],
    [9_949n, half, 'refund'],
    [10_050n, half, 'accept'],
    [10_051n, half, 'refund'],
    [9_999n, BUILT_IN_POLICY, 'hold'],
    [1n, BUILT_IN_POLICY, 'hold'],
    [10_001n, BUILT_IN_POLICY, 'refund'],
  ] as const) {
    const name = by === half ? 'half a percent, else back' : 'the built-in policy';
    test(`${received} of 10000 under ${name}: ${expected}`, () => assert.equal(of(received, by), expected));
  }

  test('nothing received yet is nothing wrong', () => {
    assert.equal(onAmount({ depositUnits: 1n, receivedUnits: null }, BUILT_IN_POLICY), 'as_asked');
  });

  test('of too much, all is taken within the band and below the limit, or to go back as a whole', () => {
    const take = (sum: bigint, by: Policy['overpaid'], most = MUCH) =>
      takeOfTooMuch({ depositUnits: 10_000n }, sum, by, most);
    assert.equal(take(10_050n, { acceptBps: 50, beyond: 'hold_excess' }), 'all');
    assert.equal(take(10_050n, { acceptBps: 50, beyond: 'hold_excess' }, 10_049n), 'hold_excess');
    assert.equal(take(10_051n, { acceptBps: 50, beyond: 'refund_excess' }), 'refund_excess');
    assert.equal(take(10_051n, { acceptBps: 50, beyond: 'refund_all' }), 'all');
    assert.equal(take(10_001n, BUILT_IN_POLICY.overpaid), 'hold_excess');
  });

  const units = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });
  const bps = fc.integer({ min: 0, max: 10_000 });

  test('a wider band accepts whatever a narrower one does, and what is not accepted is never converted', () => {
    fc.assert(
      fc.property(units, units, bps, bps, (depositUnits, receivedUnits, a, b) => {
        const under = (acceptBps: number) =>
          policy({
            underpaid: { acceptBps, beyond: 'hold' },
            overpaid: { acceptBps, beyond: 'refund_all' },
          });
        const [narrow, wide] = [Math.min(a, b), Math.max(a, b)];
        const order = { depositUnits, receivedUnits };
        if (onAmount(order, under(narrow)) === 'accept') assert.equal(onAmount(order, under(wide)), 'accept');
        assert.equal(onAmount(order, under(a)) === 'as_asked', holdBeforePayout(order, false) === undefined);
      }),
    );
  });

  test('what an order takes is what it asked for, or all that came and then it decides about all of it', () => {
    const beyond = fc.constantFrom('hold_excess', 'refund_excess', 'refund_all' as const);
    fc.assert(
      fc.property(units, units, bps, beyond, units, (depositUnits, more, acceptBps, then, most) => {
        const sum = depositUnits + more;
        const by = policy({ overpaid: { acceptBps, beyond: then } });
        const taken = takeOfTooMuch({ depositUnits }, sum, by.overpaid, most);
        const decided = onAmount({ depositUnits, receivedUnits: sum }, by);
        if (taken !== 'all') assert.notEqual(then, 'refund_all');
        else assert.ok(decided === 'accept' || then === 'refund_all');
      }),
    );
  });
});

describe('another price than was booked', () => {
  const locked = new Date('2026-03-01T12:00:00Z');
  const at = (ms: number) => new Date(locked.getTime() + ms);
  const moved = (then: Policy['priceMoved']['then'], bps = 100) => policy({ priceMoved: { lockS: 0, bps, then } });

  test('what came while the rate was locked is honoured, whatever the policy', () => {
    for (const then of ['honour', 'requote', 'refund'] as const) {
      assert.equal(rateIsOpen({ rateLockedUntil: locked }, at(0), moved(then)), false);
      assert.equal(rateIsOpen({ rateLockedUntil: locked }, undefined, moved(then)), false);
      assert.equal(rateIsOpen({ rateLockedUntil: locked }, at(1), moved(then)), then !== 'honour');
    }
  });

  test('within the band nothing happens, beyond it what the policy says, in whichever direction', () => {
    const rate = (num: bigint) => ({ num, den: 100n });
    for (const then of ['requote', 'refund'] as const) {
      const { priceMoved } = moved(then);
      assert.equal(onPrice(rate(10_000n), rate(10_100n), priceMoved), 'honour');
      assert.equal(onPrice(rate(10_000n), rate(9_900n), priceMoved), 'honour');
      assert.equal(onPrice(rate(10_000n), rate(10_101n), priceMoved), then);
      assert.equal(onPrice(rate(10_000n), rate(9_899n), priceMoved), then);
    }
    assert.equal(onPrice(rate(1n), { num: 2n, den: 200n }, moved('refund', 0).priceMoved), 'honour', 'the very same');
  });
});

describe('what is found before a payout', () => {
  test('sends money back by itself only where everything found says so', () => {
    assert.equal(beforePayout([]), undefined);
    const under = { reason: 'underpaid', then: 'refund' } as const;
    assert.deepEqual(beforePayout([under]), { reason: 'underpaid', refund: true });
    assert.deepEqual(beforePayout([under, { reason: 'payer_name', then: 'refund' }]), {
      reason: 'underpaid',
      refund: true,
    });
    assert.deepEqual(beforePayout([under, { reason: 'destination_denied', then: 'hold' }]), {
      reason: 'underpaid',
      refund: false,
    });
  });

  test('says why it goes back in the words a partner knows', () => {
    for (const [reason, failure] of [
      ['underpaid', 'amount'],
      ['overpaid', 'amount'],
      ['payer_name', 'name'],
      ['price_moved', 'other'],
      ['waited_too_long', 'other'],
    ] as const) {
      assert.equal(failureOf(reason), failure);
    }
  });
});

test('every state that something has to end has a deadline, and no other', () => {
  for (const state of states) {
    const waits = !isFinal(state) && state !== 'created';
    assert.equal(isWaiting(state), waits, state);
    assert.equal(deadlineOf(state, BUILT_IN_POLICY) !== undefined, waits, state);
  }
  assert.deepEqual(Object.keys(BUILT_IN_POLICY.waiting).toSorted(), states.filter(isWaiting).toSorted());
});
