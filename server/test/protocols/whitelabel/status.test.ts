import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Direction, type OrderState, STATES } from '../../../src/orders/index.ts';
import { TRANSITIONS } from '../../../src/orders/machine.ts';
import { drivenStatus, type Shown, statusNumber } from '../../../src/protocols/whitelabel/status.ts';

const shown = (state: OrderState, direction: Direction, over: Partial<Shown> = {}): Shown => ({
  state,
  direction,
  payoutAttempt: 0,
  submittedPayout: false,
  exception: null,
  failure: null,
  wasHeld: false,
  payerReference: null,
  ...over,
});

/** The facts that an order keeps when it enters a state. */
const carry = (over: Partial<Shown>, to: OrderState): Partial<Shown> => ({
  payoutAttempt: (over.payoutAttempt ?? 0) + (to === 'paying_out' ? 1 : 0),
  // A payout that failed had been submitted.
  submittedPayout: over.submittedPayout === true || to === 'payout_held',
  wasHeld: over.wasHeld === true || to === 'on_hold',
});

describe('status numbers', () => {
  test('a sale goes 0, 1, 2, 4, 5, 6 and stops there', () => {
    const life: [OrderState, Partial<Shown>][] = [
      ['created', {}],
      ['deposit_seen', {}],
      ['deposit_confirmed', {}],
      ['paying_out', { payoutAttempt: 1 }],
      ['paying_out', { payoutAttempt: 1, submittedPayout: true }],
      ['settled', { payoutAttempt: 1, submittedPayout: true }],
    ];
    assert.deepEqual(
      life.map(([state, over]) => statusNumber(shown(state, 'offramp', over))),
      [0, 1, 2, 4, 5, 6],
    );
  });

  test('a purchase goes 0, 1, 2, 3, 4 and stops there', () => {
    const life: OrderState[] = ['created', 'deposit_seen', 'deposit_confirmed', 'paying_out', 'settled'];
    assert.deepEqual(
      life.map((state) => statusNumber(shown(state, 'onramp'))),
      [0, 1, 2, 3, 4],
    );
  });

  test('a refund shows its reason: amount, name, or other', () => {
    assert.equal(statusNumber(shown('refunded', 'offramp', { failure: 'amount' })), -4);
    assert.equal(statusNumber(shown('refunded', 'offramp', { exception: 'underpaid' })), -4);
    assert.equal(statusNumber(shown('refunded', 'offramp')), -2);
    assert.equal(statusNumber(shown('refunded', 'onramp', { failure: 'name' })), -3);
    assert.equal(statusNumber(shown('refunded', 'onramp')), -2);
    assert.equal(statusNumber(shown('expired', 'offramp')), -1);
    assert.equal(statusNumber(shown('cancelled', 'offramp')), -2);
  });

  test('the status shown never goes back along any transition, except from seen to created', () => {
    for (const direction of ['offramp', 'onramp'] as const) {
      const seen = new Set<string>();
      const walk = (state: OrderState, over: Partial<Shown>) => {
        const known = JSON.stringify([state, Math.min(over.payoutAttempt ?? 0, 2), over.submittedPayout, over.wasHeld]);
        if (seen.has(known)) return;
        seen.add(known);
        const before = statusNumber(shown(state, direction, over));
        for (const { from, on, to } of TRANSITIONS) {
          if (!(from as readonly OrderState[]).includes(state)) continue;
          const next = carry(over, to);
          const after = statusNumber(shown(to, direction, next));
          const mayGoBack = on === 'deposit_reversed' || after < 0;
          assert.ok(mayGoBack || after >= before, `${direction} ${state} --${on}--> ${to}: ${before} → ${after}`);
          walk(to, next);
        }
      };
      walk('created', {});
      assert.ok(seen.size > Object.keys(STATES).length - 1);
    }
  });

  test('numbers of the second track mean those of the first: 10 to 15 of a sale are 1 to 6', () => {
    assert.deepEqual(
      ['10', '11', '12', '13', '14', '15'].map((sent) => drivenStatus('offramp', sent)?.number),
      [1, 2, 3, 4, 5, 6],
    );
    assert.equal(drivenStatus('offramp', '10')?.word, 'ON_CHAIN_DEPOSIT_RECEIVED');
  });

  test('an unknown number is refused', () => {
    for (const none of ['7', '16', '-3', '-5', '99', 'x', '1.0', '', '+1', '1e0'])
      assert.equal(drivenStatus('offramp', none), undefined, none);
    for (const some of ['-4', '-2', '-1', '0', '6']) assert.ok(drivenStatus('offramp', some));
  });
});
