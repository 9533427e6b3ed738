/** The lines of each entry of an order, written out: which account gives, which one gets, and how much. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Account, chart, type Line } from '../../src/ledger/index.ts';
import {
  type BookedOrder,
  blockedLines,
  type EntryGiven,
  feeAccount,
  foundRefund,
  holdRefund,
  linesFor,
  payoutId,
  settleRefund,
  voidRefund,
} from '../../src/orders/entries.ts';
import type { EntryName } from '../../src/orders/machine.ts';
import { FEE_KINDS } from '../../src/quotes/index.ts';

const FEES = { operator: 40n, partner: 20n, rail: 10n, chain: 5n, tax: 3n };
const COIN = 'usdc.matic20';
const FIAT = 'inr';
const SALE: BookedOrder = {
  ...{ id: 17n, partnerId: 2n, payoutAttempt: 3, fiatAsset: FIAT, fees: FEES },
  ...{ depositAsset: COIN, receivedUnits: 1_000n, payoutAsset: FIAT, grossUnits: 900n, payoutUnits: 820n },
};
const PURCHASE: BookedOrder = {
  ...{ id: 18n, partnerId: 2n, payoutAttempt: 1, fiatAsset: FIAT, fees: FEES },
  ...{ depositAsset: FIAT, receivedUnits: 1_000n, payoutAsset: COIN, grossUnits: 900n, payoutUnits: 899n },
};
const custodyOf = ({ depositAsset, payoutAsset }: BookedOrder) => ({
  deposits: chart.custody('one', 'deposits', depositAsset),
  payouts: chart.custody('other', 'hot', payoutAsset),
  refunds: chart.custody('one', 'hot', depositAsset),
});
const accountsOf = ({ id, partnerId, depositAsset, payoutAsset }: BookedOrder): [deposit: Account, payout: Account] => [
  chart.order(id, partnerId, depositAsset),
  chart.order(id, partnerId, payoutAsset),
];

/** As one reads them: the account that gives, the one that gets, the amount. */
const read = (lines: readonly Line[]): string[] =>
  lines.map((line) => {
    if (line.step === 'settle' || line.step === 'void') return `${line.step} ${line.hold}`;
    const [debit, credit] = [line.debit.code, line.credit.code].map(String);
    return `${line.step}${line.step === 'hold' ? ` ${line.hold}` : ''}: ${debit} | ${credit} ${line.units}`;
  });
const entry = (name: EntryName, order: BookedOrder, given: EntryGiven = {}): string[] =>
  read(linesFor(name, order, custodyOf(order), given));
/** The change of each account by these lines, its own side counted up. */
function changes(lines: readonly Line[]): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  const add = ({ code, kind }: Account, side: 'debit' | 'credit', units: bigint): void => {
    const isDebits = kind === 'custody' || kind === 'receivable' || kind === 'loss';
    sums[code] = (sums[code] ?? 0n) + ((side === 'debit') === isDebits ? units : -units);
  };
  for (const line of lines) {
    assert(line.step === 'post');
    add(line.debit, 'debit', line.units);
    add(line.credit, 'credit', line.units);
  }
  return sums;
}
const changesOf = (name: EntryName, order: BookedOrder, given: EntryGiven = {}) =>
  changes(linesFor(name, order, custodyOf(order), given));

const REFUNDS = [
  { key: 'ref_1_1', netUnits: 600n, costUnits: 25n },
  { key: 'ref_2_1', netUnits: 375n, costUnits: 0n },
];

describe('a conversion', () => {
  const fees = {
    'fee_operator:inr': 40n,
    'fee_partner:2:inr': 20n,
    'fee_rail:inr': 10n,
    'fee_chain:inr': 5n,
    'tax:inr': 3n,
  };

  test('of a sale takes the fees from the payout, and books the fraction that is left as rounding', () => {
    const {
      'order:17:usdc.matic20': deposit,
      'order:17:inr': payout,
      ...others
    } = changesOf('reverse_conversion', SALE);
    assert.deepEqual([deposit, payout], [1_000n, -820n]);
    assert.deepEqual(
      others,
      negative({ ...fees, 'treasury:usdc.matic20': 1_000n, 'treasury:inr': -900n, 'rounding:inr': 2n }),
    );
  });

  test('of a purchase takes the fees from the deposit', () => {
    const {
      'order:18:inr': deposit,
      'order:18:usdc.matic20': payout,
      ...others
    } = changesOf('reverse_conversion', PURCHASE);
    assert.deepEqual([deposit, payout], [1_000n, -899n]);
    assert.deepEqual(
      others,
      negative({ ...fees, 'treasury:inr': 922n, 'treasury:usdc.matic20': -900n, 'rounding:usdc.matic20': 1n }),
    );
  });

  test('is undone by the same lines in the other direction', () => {
    for (const order of [SALE, PURCHASE]) {
      const made = linesFor('convert_and_payout_found', order, custodyOf(order), { paid: { units: 0n } });
      const undone = linesFor('reverse_conversion', order, custodyOf(order));
      const conversion = made.slice(0, undone.length);
      assert.deepEqual(
        conversion.map((line) => line.step === 'post' && [line.debit, line.credit, line.units]),
        undone.map((line) => line.step === 'post' && [line.credit, line.debit, line.units]),
      );
    }
  });

  test('is undone without a refund, whatever refunds there are', () => {
    assert.deepEqual(entry('reverse_conversion', SALE, { refunds: REFUNDS }), entry('reverse_conversion', SALE));
  });

  test('holds the payout under the key of the attempt', () => {
    for (const order of [SALE, PURCHASE]) {
      const lines = linesFor('convert_and_hold', order, custodyOf(order));
      assert.deepEqual(lines.slice(-1), linesFor('hold_payout', order, custodyOf(order)));
      assert.deepEqual(
        lines.slice(0, -1).map(({ step }) => step),
        linesFor('reverse_conversion', order, custodyOf(order)).map(() => 'post'),
      );
    }
  });

  test('books each fee to the account of its kind', () => {
    assert.deepEqual(
      FEE_KINDS.map((kind) => feeAccount(kind, SALE).code),
      ['fee_operator:inr', 'fee_partner:2:inr', 'fee_rail:inr', 'fee_chain:inr', 'tax:inr'],
    );
  });
});

describe('a payout', () => {
  test('is held on the order’s account for the paying wallet, settled and voided by its key', () => {
    assert.equal(payoutId(SALE), 'pay_17_3');
    assert.deepEqual(entry('hold_payout', SALE), ['hold pay_17_3: order:17:inr | custody:other:hot:inr 820']);
    assert.deepEqual(entry('settle_payout', SALE), ['settle pay_17_3']);
    assert.deepEqual(entry('void_payout', SALE), ['void pay_17_3']);
  });

  test('found paid after its rejection covers the loss that was booked then', () => {
    assert.deepEqual(changesOf('payout_found', SALE), { 'order:17:inr': -820n, 'loss:inr': -820n });
  });

  test('found paid with less leaves the remainder as a difference, or on the account that is named', () => {
    const less = { 'order:17:inr': -820n, 'loss:inr': -700n };
    assert.deepEqual(changesOf('payout_found', SALE, { paid: { units: 700n } }), { ...less, 'difference:inr': 120n });
    const rest = chart.suspense('other', FIAT);
    assert.deepEqual(changesOf('payout_found', SALE, { paid: { units: 700n, rest } }), { ...less, [rest.code]: 120n });
  });

  test('found paid with more covers the whole loss, the excess by a difference', () => {
    const more = { 'order:17:inr': -820n, 'loss:inr': -900n, 'difference:inr': -80n };
    assert.deepEqual(changesOf('payout_found', SALE, { paid: { units: 900n } }), more);
    assert.deepEqual(entry('payout_found', SALE, { paid: { units: 900n } }), [
      'post: order:17:inr | loss:inr 820',
      'post: difference:inr | loss:inr 80',
    ]);
    assert.deepEqual(changesOf('payout_found', SALE, { paid: { units: 820n } }), {
      'order:17:inr': -820n,
      'loss:inr': -820n,
    });
  });

  test('found before the order was converted is converted first', () => {
    const sum = changesOf('convert_and_payout_found', SALE);
    assert.equal(sum['order:17:usdc.matic20'], -1_000n);
    assert.equal(sum['order:17:inr'], 0n);
    assert.equal(sum['loss:inr'], -820n);
  });
});

describe('a deposit', () => {
  const [deposit] = accountsOf(SALE);
  const custody = custodyOf(SALE).deposits;
  const suspense = chart.suspense('one', COIN);

  test('is received part by part, an excess into suspense', () => {
    const parts = [
      { from: custody, toOrderUnits: 400n, excessUnits: 0n, suspense },
      { from: suspense, toOrderUnits: 600n, excessUnits: 0n, suspense },
      { from: custody, toOrderUnits: 0n, excessUnits: 50n, suspense },
    ];
    assert.deepEqual(changesOf('receive', SALE, { parts }), {
      [custody.code]: 450n,
      [deposit.code]: 1_000n,
      [suspense.code]: -550n,
    });
    assert.deepEqual(entry('receive', SALE), []);
  });

  test('that was reversed leaves the order for the account that bears it', () => {
    const debt = chart.receivable('c_1', 2n, COIN);
    const lost = [
      { units: 300n, bookedTo: chart.loss(COIN) },
      { units: 200n, bookedTo: debt },
    ];
    const expected = { [deposit.code]: -500n, 'loss:usdc.matic20': -300n, [debt.code]: -200n };
    assert.deepEqual(changesOf('give_up_deposit', SALE, { lost }), expected);
    const { [deposit.code]: left, ...others } = changesOf('reverse_conversion_and_give_up', SALE, { lost });
    assert.equal(left, 500n);
    assert.equal(others['loss:usdc.matic20'], -300n);
    assert.equal(others['order:17:inr'], -820n);
    assert.deepEqual(entry('give_up_deposit', SALE), []);
  });

  test('is blocked by law whole, in each asset of the order', () => {
    const balances = [
      { asset: COIN, units: 5n },
      { asset: FIAT, units: 7n },
    ];
    assert.deepEqual(changes(blockedLines(17n, 2n, balances)), {
      'order:17:usdc.matic20': -5n,
      'blocked:usdc.matic20': 5n,
      'order:17:inr': -7n,
      'blocked:inr': 7n,
    });
    assert.throws(() => linesFor('move_to_blocked', SALE, custodyOf(SALE)), /built from balances/);
  });
});

describe('a refund', () => {
  const [deposit] = accountsOf(SALE);
  const wallet = custodyOf(SALE).refunds;

  test('is held with the kept fee beside it, and without one where nothing is kept', () => {
    const expected = [
      `hold ref_1_1: ${deposit.code} | ${wallet.code} 600`,
      `hold ref_1_1:kept: ${deposit.code} | fee_operator:usdc.matic20 25`,
      `hold ref_2_1: ${deposit.code} | ${wallet.code} 375`,
    ];
    assert.deepEqual(entry('hold_refund', SALE, { refunds: REFUNDS }), expected);
    assert.deepEqual(read(REFUNDS.flatMap((refund) => holdRefund(refund, deposit, wallet))), expected);
    assert.deepEqual(entry('hold_refund', SALE), []);
  });

  test('is settled and voided with the kept fee', () => {
    assert.deepEqual(entry('settle_refund', SALE, { refunds: REFUNDS }), [
      'settle ref_1_1',
      'settle ref_1_1:kept',
      'settle ref_2_1',
    ]);
    assert.deepEqual(entry('void_refund', SALE, { refunds: REFUNDS }), [
      'void ref_1_1',
      'void ref_1_1:kept',
      'void ref_2_1',
    ]);
    const [first] = REFUNDS;
    assert(first);
    assert.deepEqual(read(settleRefund(first)), ['settle ref_1_1', 'settle ref_1_1:kept']);
    assert.deepEqual(read(voidRefund(first)), ['void ref_1_1', 'void ref_1_1:kept']);
  });

  test('gives up what was reversed first', () => {
    const lost = [{ units: 25n, bookedTo: chart.loss(COIN) }];
    const lines = entry('hold_refund', SALE, { refunds: REFUNDS.slice(1), lost });
    assert.deepEqual(lines, [
      `post: ${deposit.code} | loss:usdc.matic20 25`,
      `hold ref_2_1: ${deposit.code} | ${wallet.code} 375`,
    ]);
  });

  test('after a conversion undoes it before anything is held', () => {
    const lost = [{ units: 25n, bookedTo: chart.loss(COIN) }];
    const undone = entry('reverse_conversion', SALE);
    const lines = entry('reverse_conversion_and_hold_refund', SALE, { refunds: REFUNDS.slice(1), lost });
    assert.deepEqual(lines.slice(0, undone.length), undone);
    assert.deepEqual(lines.slice(undone.length), entry('hold_refund', SALE, { refunds: REFUNDS.slice(1), lost }));
  });

  test('found paid after its rejection covers the loss that was booked then, and keeps its fee', () => {
    const [first] = REFUNDS;
    assert(first);
    const expected = { [deposit.code]: -625n, 'loss:usdc.matic20': -600n, 'fee_operator:usdc.matic20': 25n };
    assert.deepEqual(changes(foundRefund(first, deposit)), expected);
    assert.deepEqual(changesOf('refund_found', SALE, { refunds: [first] }), expected);
  });
});

function negative(of: Record<string, bigint>): Record<string, bigint> {
  return Object.fromEntries(Object.entries(of).map(([name, units]) => [name, -units]));
}
