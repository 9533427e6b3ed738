/** An order's reaction to an unexpected amount, time or price: pure decisions, as tables and as properties. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../../src/base/errors.ts';
import { chart } from '../../src/ledger/index.ts';
import {
  beforePayout,
  deadlineOf,
  failureOf,
  holdBeforePayout,
  keptOnRefund,
  onAmount,
  onExtra,
  onPrice,
  rateIsOpen,
  takeOfTooMuch,
} from '../../src/orders/decide.ts';
import { linesFor } from '../../src/orders/entries.ts';
import { isFinal, isWaiting, next, type OrderState, STATES } from '../../src/orders/machine.ts';
import { BUILT_IN_POLICY, type Policy, readPolicy } from '../../src/partners/index.ts';
import { type Priced, price } from '../../src/quotes/price.ts';

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

  test('an overpaid amount is accepted whole within the tolerance and below the limit, or in order to be refunded', () => {
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

  test('a wider tolerance accepts everything that a narrower one does, and a rejected amount is never converted', () => {
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

  test('an order accepts its quoted amount, or the whole deposit and then decides about all of it', () => {
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

  test('a deposit within the rate lock is honoured under any policy', () => {
    for (const then of ['honour', 'requote', 'refund'] as const) {
      assert.equal(rateIsOpen({ rateLockedUntil: locked }, at(0), moved(then)), false);
      assert.equal(rateIsOpen({ rateLockedUntil: locked }, undefined, moved(then)), false);
      assert.equal(rateIsOpen({ rateLockedUntil: locked }, at(1), moved(then)), then !== 'honour');
    }
  });

  test('within the tolerance nothing happens, beyond it the policy decides, in both directions', () => {
    const rate = (num: bigint) => ({ num, den: 100n });
    for (const then of ['requote', 'refund'] as const) {
      const { priceMoved } = moved(then);
      assert.equal(onPrice(rate(10_000n), rate(10_100n), priceMoved), 'honour');
      assert.equal(onPrice(rate(10_000n), rate(9_900n), priceMoved), 'honour');
      assert.equal(onPrice(rate(10_000n), rate(10_101n), priceMoved), then);
      assert.equal(onPrice(rate(10_000n), rate(9_899n), priceMoved), then);
    }
    assert.equal(
      onPrice(rate(1n), { num: 2n, den: 200n }, moved('refund', 0).priceMoved),
      'honour',
      'an identical rate was not accepted',
    );
  });
});

test('a policy covers money that no order accepts only if it came for an order', () => {
  for (const then of ['hold', 'refund', 'new_order'] as const) {
    assert.equal(onExtra('late', policy({ late: { then } })), then);
    assert.equal(onExtra('second', policy({ second: { then } })), then);
    const both = policy({ late: { then }, second: { then } });
    for (const why of ['unknown_target', 'wrong_asset', 'wrong_chain', 'lost'] as const)
      assert.equal(onExtra(why, both), 'hold');
    assert.equal(onExtra('late', undefined), 'hold');
  }
  for (const then of ['hold', 'refund'] as const) {
    assert.equal(onExtra('wrong_asset', policy({ wrongAsset: { then } })), then);
    assert.equal(onExtra('wrong_chain', policy({ wrongChain: { then } })), then);
  }
});

describe('the fee kept of a refund', () => {
  const fees = { operator: 500n, partner: 200n, rail: 86n, chain: 100n };
  const order = (depositAsset: string, keep: Policy['refundFees']['keep']) => ({
    ...{ depositAsset, fiatAsset: 'inr', fees, rate: { num: 86n, den: 1n } },
    policy: policy({ refundFees: { keep } }),
  });
  const decimals = { base: 6, quote: 2 };

  test('is what the policy names, in fiat unchanged and in crypto at the booked rate, rounded down', () => {
    assert.equal(keptOnRefund(order('inr', []), 500_000n, decimals), 0n);
    assert.equal(keptOnRefund(order('inr', ['rail', 'chain']), 500_000n, decimals), 186n);
    assert.equal(keptOnRefund(order('usdc.test', ['rail']), 100_000_000n, decimals), 10_000n);
    assert.equal(keptOnRefund(order('usdc.test', ['chain']), 100_000_000n, decimals), 11_627n);
  });

  test('is zero if it would be the whole deposit', () => {
    assert.equal(keptOnRefund(order('inr', ['operator']), 500n, decimals), 0n);
    assert.equal(keptOnRefund(order('inr', ['operator']), 501n, decimals), 500n);
  });
});

describe('findings before a payout', () => {
  test('refund automatically only if all of them allow it', () => {
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

  test('give the reason of the refund in the partner’s terms', () => {
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

test('every state that must end has a deadline, and no other state has one', () => {
  for (const state of states) {
    const waits = !isFinal(state) && state !== 'created';
    assert.equal(isWaiting(state), waits, state);
    assert.equal(deadlineOf(state, BUILT_IN_POLICY) !== undefined, waits, state);
  }
  assert.deepEqual(Object.keys(BUILT_IN_POLICY.waiting).toSorted(), states.filter(isWaiting).toSorted());
});

test('a deadline’s effect is a row of the machine: a refund begins only in states that allow it', () => {
  const mayRefund = ['awaiting_liquidity', 'on_hold'];
  for (const state of states.filter(isWaiting)) {
    const { afterS, then } = BUILT_IN_POLICY.waiting[state];
    assert.ok(afterS > 0 && then === 'case', state);
    const kept = { waiting: { [state]: { afterS: 60, then: 'refund' } } };
    if (!mayRefund.includes(state)) {
      assert.throws(() => readPolicy(kept), { name: 'BugError' }, state);
      continue;
    }
    assert.equal(deadlineOf(state, readPolicy(kept))?.then, 'refund');
    // By a hold first, if the machine requires one.
    const from = next(state, 'held')?.to ?? state;
    assert.equal(next(from, 'refund_requested')?.to, 'refunding', state);
  }
  assert.equal(next('created', 'deadline_passed')?.to, 'expired');
});

test('for any deposit and any requote the order holds the received amount, and then the payout, to the unit', () => {
  const term = fc.record({
    fixedUnits: fc.bigInt(0n, 500n),
    bps: fc.bigInt(0n, 300n),
    minimumUnits: fc.bigInt(0n, 900n),
  });
  const feeTerms = fc.record({ operator: term, partner: term, rail: term, chain: term });
  const rate = fc.record({ num: fc.bigInt(1n, 10n ** 6n), den: fc.bigInt(1n, 10n ** 4n) });
  const direction = fc.constantFrom('offramp' as const, 'onramp' as const);
  const tax = fc.bigInt(0n, 500n);
  const units = fc.bigInt(1n, 10n ** 14n);
  let converted = 0;
  fc.assert(
    fc.property(units, units, rate, feeTerms, direction, tax, (asked, receivedUnits, at, fees, way, taxBps) => {
      const withGas = (one: { fixedUnits: bigint; bps: bigint; minimumUnits: bigint }) => ({ ...one, gasUnits: 0n });
      const terms = {
        direction: way,
        cryptoDecimals: 6,
        fiatDecimals: 2,
        payoutDecimals: way === 'offramp' ? 2 : 4,
        rate: at,
        fees: {
          operator: withGas(fees.operator),
          partner: withGas(fees.partner),
          rail: withGas(fees.rail),
          chain: withGas(fees.chain),
        },
        gasCost: { num: 0n, den: 1n },
        taxBps,
      };
      let priced: Priced;
      try {
        priced = price(receivedUnits, terms);
      } catch (error) {
        assert.ok(error instanceof Refusal, 'nothing left after the fees');
        return;
      }
      const [depositAsset, payoutAsset] = way === 'offramp' ? ['usdc.test', 'inr'] : ['inr', 'usdc.test'];
      const before = {
        id: 1n,
        partnerId: 1n,
        depositAsset,
        payoutAsset,
        fiatAsset: 'inr',
        payoutAttempt: 1,
      };
      const order = { ...before, depositUnits: asked, receivedUnits, ...priced };
      const at1 = (asset: string) => chart.custody('any', 'any', asset);
      const custody = { deposits: at1(depositAsset), refunds: at1(depositAsset), payouts: at1(payoutAsset) };
      const own = (asset: string) => chart.order(1n, 1n, asset);
      const part = { toOrderUnits: receivedUnits, excessUnits: 0n };
      const parts = [{ ...part, from: custody.deposits, suspense: chart.suspense('any', depositAsset) }];
      const balances = new Map<string, bigint>();
      const apply = (name: 'receive' | 'convert_and_hold') => {
        for (const line of linesFor(name, order, custody, { parts })) {
          if (line.step === 'hold') {
            assert.deepEqual([line.debit.code, line.units], [own(payoutAsset).code, order.payoutUnits]);
            continue;
          }
          assert.ok(line.step === 'post' && line.units > 0n && line.debit.asset === line.credit.asset);
          balances.set(line.debit.code, (balances.get(line.debit.code) ?? 0n) - line.units);
          balances.set(line.credit.code, (balances.get(line.credit.code) ?? 0n) + line.units);
        }
      };
      const of = (asset: string) => balances.get(own(asset).code) ?? 0n;
      apply('receive');
      assert.deepEqual([of(depositAsset), of(payoutAsset)], [receivedUnits, 0n]);
      apply('convert_and_hold');
      assert.deepEqual([of(depositAsset), of(payoutAsset)], [0n, order.payoutUnits]);
      converted += 1;
    }),
    { numRuns: 500 },
  );
  assert.ok(converted > 100, `${converted} were converted`);
});
