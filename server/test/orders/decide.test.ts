/** The boundaries of decisions about an order: the amount, the moment and the count at which the answer changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  atDeadline,
  awaitsPerson,
  beforePayout,
  type DepositTrouble,
  deadlineOf,
  failureOf,
  HELD_AT_GATE,
  holdBeforePayout,
  isForAPerson,
  isHeldByOperator,
  isHeldSince,
  keptOnRefund,
  lastHold,
  mayRetryByItself,
  onAmount,
  onExtra,
  onPrice,
  PAID_BEFORE,
  PAID_OTHER_AMOUNT,
  paidOtherwise,
  placeDeposit,
  rateIsOpen,
  takeOfTooMuch,
} from '../../src/orders/decide.ts';
import { BUILT_IN_POLICY, type Policy } from '../../src/partners/index.ts';

const policy = (answers: Partial<Policy>): Policy => ({ ...BUILT_IN_POLICY, ...answers });
const order = { state: 'created', depositRail: 'evm.test', depositAsset: 'usdc', depositUnits: 100n } as const;
const pays = (change: object = {}) => ({ rail: 'evm.test', asset: 'usdc', units: 100n, ...change });

test('order, chain, asset and time decide where a deposit goes, in this order', () => {
  const suspense = (why: DepositTrouble) => ({ outcome: 'suspense', why });
  assert.deepEqual(placeDeposit(undefined, pays(), 0n), suspense('unknown_target'));
  assert.deepEqual(placeDeposit(order, pays({ rail: 'evm.other' }), 0n), suspense('wrong_chain'));
  assert.deepEqual(placeDeposit(order, pays({ rail: 'evm.other', asset: 'dai' }), 0n), suspense('wrong_chain'));
  assert.deepEqual(placeDeposit(order, pays({ asset: 'dai' }), 0n), suspense('wrong_asset'));
  for (const state of ['expired', 'cancelled'] as const)
    assert.deepEqual(placeDeposit({ ...order, state }, pays(), 0n), suspense('late'), state);
  for (const state of ['created', 'deposit_seen'] as const)
    assert.deepEqual(placeDeposit({ ...order, state }, { ...pays(), late: true }, 0n), suspense('late'), state);
  for (const state of ['deposit_confirmed', 'paying_out', 'settled', 'on_hold', 'refunded'] as const)
    assert.deepEqual(placeDeposit({ ...order, state }, pays(), 0n), suspense('second'), state);
});

test('parts add up to the unit, and the rest is the excess', () => {
  for (const state of ['created', 'deposit_seen'] as const) {
    const of = { ...order, state };
    assert.deepEqual(placeDeposit(of, pays({ units: 60n }), 39n), { outcome: 'part', missingUnits: 1n });
    assert.deepEqual(placeDeposit(of, pays({ units: 60n }), 40n), { outcome: 'complete', excessUnits: 0n });
    assert.deepEqual(placeDeposit(of, pays({ units: 60n }), 41n), { outcome: 'complete', excessUnits: 1n });
  }
});

test('at the deadline an order waits for unconfirmed money and applies confirmed parts; only an unpaid order expires', () => {
  const at = (
    state: 'created' | 'deposit_seen' | 'on_hold',
    unconfirmed: number,
    confirmedUnits: bigint,
    allRead = true,
  ) => atDeadline(state, { unconfirmed, confirmedUnits, allRead });
  assert.equal(at('created', 0, 0n, false), 'wait');
  assert.equal(at('deposit_seen', 0, 1n, false), 'wait');
  assert.equal(at('created', 0, 0n), 'expire');
  assert.equal(at('created', 1, 0n), 'wait');
  assert.equal(at('deposit_seen', 1, 5n), 'wait');
  assert.equal(at('deposit_seen', 0, 1n), 'take_what_came');
  assert.equal(at('created', 0, 1n), 'take_what_came');
  assert.equal(at('deposit_seen', 0, 0n), 'wait');
  assert.equal(at('on_hold', 0, 0n), 'nothing');
});

test('money that no order accepts follows the policy if it covers the case, otherwise an operator decides', () => {
  const answers = policy({
    late: { then: 'refund' },
    second: { then: 'new_order' },
    wrongAsset: { then: 'refund' },
    wrongChain: { then: 'refund' },
  });
  const all = ['late', 'second', 'wrong_asset', 'wrong_chain', 'unknown_target', 'lost'] as const;
  assert.deepEqual(
    all.map((why) => onExtra(why, answers)),
    ['refund', 'new_order', 'refund', 'refund', 'hold', 'hold'],
  );
  assert.deepEqual(
    all.map((why) => onExtra(why, undefined)),
    all.map(() => 'hold'),
  );
});

test('an overpaid amount is accepted whole within the tolerance and the market’s limit, otherwise as quoted', () => {
  const take = (sum: bigint, most = 20_000n, beyond: Policy['overpaid']['beyond'] = 'hold_excess') =>
    takeOfTooMuch({ depositUnits: 10_000n }, sum, { acceptBps: 50, beyond }, most);
  assert.equal(take(10_050n), 'all');
  assert.equal(take(10_051n), 'hold_excess');
  assert.equal(take(10_050n, 10_050n), 'all');
  assert.equal(take(10_050n, 10_049n), 'hold_excess');
  assert.equal(take(10_051n, 20_000n, 'refund_excess'), 'refund_excess');
  assert.equal(take(10_051n, 20_000n, 'refund_all'), 'all');
});

test('another amount is accepted up to the tolerance on its own side, and then held or sent back', () => {
  const of = policy({
    underpaid: { acceptBps: 50, beyond: 'refund' },
    overpaid: { acceptBps: 0, beyond: 'hold' } as never,
  });
  const got = (receivedUnits: bigint | null, by = of) => onAmount({ depositUnits: 10_000n, receivedUnits }, by);
  assert.equal(got(null), 'as_asked');
  assert.equal(got(10_000n), 'as_asked');
  assert.equal(got(9_950n), 'accept');
  assert.equal(got(9_949n), 'refund');
  assert.equal(got(10_001n), 'hold');
  assert.equal(got(10_001n, policy({ overpaid: { acceptBps: 1, beyond: 'refund_all' } })), 'accept');
  assert.equal(got(10_002n, policy({ overpaid: { acceptBps: 1, beyond: 'refund_all' } })), 'refund');
  assert.equal(got(9_949n, policy({ underpaid: { acceptBps: 50, beyond: 'hold' } })), 'hold');
});

test('a booked rate is checked from the moment after its lock, if the policy requires it', () => {
  const lock = { rateLockedUntil: new Date(1_000) };
  const asks = policy({ priceMoved: { lockS: null, bps: 100, then: 'refund' } });
  assert.equal(rateIsOpen(lock, new Date(1_001), asks), true);
  assert.equal(rateIsOpen(lock, new Date(1_000), asks), false);
  assert.equal(rateIsOpen(lock, undefined, asks), false);
  assert.equal(
    rateIsOpen(lock, new Date(9_999), policy({ priceMoved: { lockS: null, bps: 100, then: 'honour' } })),
    false,
  );
});

test('an open rate is honoured within its band, and asked about beyond', () => {
  const booked = { num: 10_000n, den: 1n };
  const at = (num: bigint) => onPrice(booked, { num, den: 1n }, { lockS: null, bps: 100, then: 'requote' });
  assert.deepEqual([9_899n, 9_900n, 10_100n, 10_101n].map(at), ['requote', 'honour', 'honour', 'requote']);
});

test('a refund has one of three public reasons', () => {
  assert.deepEqual(['underpaid', 'overpaid', 'payer_name', 'screening', ''].map(failureOf), [
    'amount',
    'amount',
    'name',
    'other',
    'other',
  ]);
});

test('an order is refunded automatically only if all findings allow it, with the first one’s reason', () => {
  const [back, look] = [
    { reason: 'underpaid', then: 'refund' as const },
    { reason: 'payer_name', then: 'hold' as const },
  ];
  assert.equal(beforePayout([]), undefined);
  assert.deepEqual(beforePayout([back]), { reason: 'underpaid', refund: true });
  assert.deepEqual(beforePayout([back, look]), { reason: 'underpaid', refund: false });
  assert.deepEqual(beforePayout([look, back]), { reason: 'payer_name', refund: false });
  assert.deepEqual(beforePayout([back, back]), { reason: 'underpaid', refund: true });
});

test('no approval converts an order whose deposit is lost or has another amount', () => {
  const of = (receivedUnits: bigint | null, lost = false) =>
    holdBeforePayout({ depositUnits: 100n, receivedUnits }, lost);
  assert.equal(of(null), undefined);
  assert.equal(of(100n), undefined);
  assert.equal(of(99n), 'underpaid');
  assert.equal(of(101n), 'overpaid');
  assert.equal(of(100n, true), 'deposit_lost');
});

test('a refund keeps the named fees, in its own asset, and never its whole amount', () => {
  const fees = { operator: 200n, partner: 100n, rail: 50n, chain: 25n };
  const keeping = (keep: Policy['refundFees']['keep']) => policy({ refundFees: { keep } });
  const fiat = { depositAsset: 'inr', fiatAsset: 'inr', fees, rate: { num: 80n, den: 1n } };
  const places = { base: 6, quote: 2 };
  assert.equal(keptOnRefund({ ...fiat, policy: keeping([]) }, 1_000n, places), 0n);
  assert.equal(keptOnRefund({ ...fiat, policy: keeping(['operator', 'chain']) }, 1_000n, places), 225n);
  assert.equal(keptOnRefund({ ...fiat, policy: keeping(['operator', 'chain']) }, 226n, places), 225n);
  assert.equal(keptOnRefund({ ...fiat, policy: keeping(['operator', 'chain']) }, 225n, places), 0n);
  // 2.25 rupees at 80 are 0.028125 coins.
  const crypto = { ...fiat, depositAsset: 'usdc', policy: keeping(['operator', 'chain']) };
  assert.equal(keptOnRefund(crypto, 1_000_000n, places), 28_125n);
  assert.equal(keptOnRefund({ ...crypto, rate: { num: 7n, den: 1n } }, 1_000_000n, places), 321_428n, 'rounded down');
});

test('an order last held by screening waits for an operator', () => {
  const held = (by: string) => ({ event: 'held', facts: { by } });
  assert.equal(isForAPerson([]), false);
  assert.equal(isForAPerson([held('policy')]), false);
  assert.equal(isForAPerson([held('policy'), held('screening'), { event: 'short', facts: {} }]), true);
  assert.equal(isForAPerson([held('screening'), held('policy')]), false);
});

test('an order held by the gate or by an operator waits for a person', () => {
  const held = (facts: Record<string, unknown>) => [{ event: 'held', facts }];
  assert.equal(isForAPerson(held({ by: 'policy', why: `${HELD_AT_GATE}blocked` })), true);
  assert.equal(isForAPerson(held({ why: `not ${HELD_AT_GATE}` })), false, 'a prefix in the middle of a text counted');
  assert.equal(isForAPerson(held({ why: 'underpaid' })), false);
  assert.equal(isForAPerson(held({ heldBy: 'operator' })), true);
  assert.equal(isForAPerson(held({ heldBy: 'partner' })), false);
  assert.equal(isForAPerson([{ event: 'held' }]), false, 'a hold without facts counted as an operator’s');
  // Stored orders contain these words: another text would release orders that are held today.
  assert.deepEqual(
    [HELD_AT_GATE, PAID_BEFORE, PAID_OTHER_AMOUNT],
    ['held: ', 'an attempt before it was paid after all', 'paid_other_amount'],
  );
});

test('a refund request answers only the hold that it was decided on', () => {
  const history = [{ event: 'held', facts: { by: 'screening' }, version: 4 }];
  assert.equal(awaitsPerson({ refundRequest: null }, history), true);
  assert.equal(awaitsPerson({ refundRequest: {} }, history), true);
  assert.equal(awaitsPerson({ refundRequest: { decidedHold: 4 } }, history), false);
  const again = [...history, { event: 'held', facts: { by: 'screening' }, version: 6 }];
  assert.equal(
    awaitsPerson({ refundRequest: { decidedHold: 4 } }, again),
    true,
    'an older refund request answered a newer hold',
  );
  assert.equal(
    awaitsPerson({ refundRequest: { decidedHold: 3 } }, []),
    false,
    'an order without a hold counted as held',
  );
  const first = { event: 'held', facts: { by: 'screening' }, version: 0 };
  assert.equal(awaitsPerson({ refundRequest: null }, [first]), true, 'a hold of version 0 was not seen');
  // The decision on an operator's hold is made in sight of the rejection below it, which applies again when the hold is released.
  const rejected = { event: 'payout_rejected', facts: { why: `${HELD_AT_GATE}blocked` }, version: 5 };
  const beside = { event: 'held', stateFrom: 'payout_held', facts: { heldBy: 'operator' }, version: 6 };
  const released = { event: 'released', stateFrom: 'payout_held', version: 7 };
  assert.equal(awaitsPerson({ refundRequest: { decidedHold: 6 } }, [rejected, beside, released]), false);
  assert.equal(awaitsPerson({ refundRequest: { decidedHold: 4 } }, [rejected, beside, released]), true);
  assert.equal(awaitsPerson({ refundRequest: null }, [{ event: 'held', facts: { by: 'policy' }, version: 1 }]), false);
});

test('the last hold is the latest unreleased one, below an operator’s hold', () => {
  const bounced = { event: 'payout_rejected', stateFrom: 'paying_out', facts: { why: 'account closed' } };
  const refused = { event: 'refund_rejected', stateFrom: 'refunding', facts: {} };
  const beside = { event: 'held', stateFrom: 'payout_held', facts: { heldBy: 'operator' } };
  const gate = { event: 'held', stateFrom: 'payout_held', facts: { why: `${HELD_AT_GATE}limit` } };
  const released = { event: 'released', stateFrom: 'payout_held' };
  assert.equal(lastHold([]), undefined);
  assert.equal(lastHold([{ event: 'settled', stateFrom: 'paying_out' }]), undefined);
  assert.equal(lastHold([bounced]), bounced);
  assert.equal(lastHold([refused]), refused);
  assert.equal(lastHold([bounced, beside]), beside);
  assert.equal(lastHold([bounced, beside, released]), bounced, 'the earlier hold does not apply again');
  assert.equal(lastHold([bounced, gate, beside, released]), gate, 'the release ended the earlier hold too');
  assert.equal(lastHold([beside, released]), undefined);
  // A repeated hold replaces the earlier ones: a release does not bring them back.
  const held = { event: 'held', stateFrom: 'deposit_confirmed', facts: { heldBy: 'operator' } };
  assert.equal(lastHold([bounced, held, released]), undefined);
  // A release from another state ends the hold by the order's state, and not by its history.
  assert.equal(lastHold([held, { event: 'released', stateFrom: 'on_hold' }]), held);
  assert.equal(lastHold([held, { event: 'settled', stateFrom: 'payout_held' }]), held);
  assert.deepEqual(
    [isHeldByOperator([]), isHeldByOperator([bounced]), isHeldByOperator([{ event: 'held' }])],
    [false, false, false],
  );
  assert.deepEqual([isHeldByOperator([bounced, beside]), isHeldByOperator([bounced, beside, released])], [true, false]);
});

test('an operator’s hold after a version of the order is found, and no other step', () => {
  const by = (version: number, event = 'held', heldBy = 'operator') => ({ event, facts: { heldBy }, version });
  assert.equal(isHeldSince([by(3), by(5)], 4), true);
  assert.equal(isHeldSince([by(5), { event: 'released', version: 6 }], 4), true, 'a released hold counts too');
  assert.equal(isHeldSince([by(4)], 4), false, 'the hold of that version was seen');
  assert.equal(isHeldSince([by(3)], 4), false);
  assert.equal(isHeldSince([by(5, 'released')], 4), false);
  assert.equal(isHeldSince([by(5, 'held', 'partner')], 4), false);
  assert.equal(isHeldSince([by(5, 'held', 'rule')], 4), true, 'one person confirmed a refund that takes two by now');
  assert.equal(isHeldSince([], 0), false);
});

test('a payout of another amount is shown beside the amount of the order', () => {
  assert.deepEqual(paidOtherwise({ paidUnits: null, units: 100n }, { payoutUnits: 100n }), {});
  assert.deepEqual(paidOtherwise({ paidUnits: 100n, units: 90n }, { payoutUnits: 100n }), {});
  assert.deepEqual(paidOtherwise({ paidUnits: 99n, units: 100n }, { payoutUnits: 100n }), {
    paidUnits: '99',
    orderedUnits: '100',
  });
  assert.deepEqual(paidOtherwise({ paidUnits: null, units: 90n }, { payoutUnits: 100n }), {
    paidUnits: '90',
    orderedUnits: '100',
  });
});

test('a state that waits has the deadline of the policy, and no other has one', () => {
  assert.equal(deadlineOf('created', BUILT_IN_POLICY), undefined);
  assert.equal(deadlineOf('settled', BUILT_IN_POLICY), undefined);
  const waiting = {
    ...BUILT_IN_POLICY.waiting,
    on_hold: { afterMs: 5, then: 'refund' },
  } as unknown as Policy['waiting'];
  assert.equal(deadlineOf('on_hold', policy({ waiting })), waiting.on_hold);
});

test('only a payout that provably never arrived is retried automatically, twice', () => {
  assert.deepEqual(
    [1, 2, 3, 4].map((attempt) => mayRetryByItself('never_arrived', attempt)),
    [true, true, false, false],
  );
  for (const why of ['refused', 'unknown', '']) assert.equal(mayRetryByItself(why, 1), false);
});
