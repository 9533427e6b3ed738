/** The reports' own computations: the owner of money in suspense, and the result of other terms, in both directions. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HadBefore, PostedFor } from '../../src/ledger/index.ts';
import { otherFee } from '../../src/orders/index.ts';
import { otherPayout } from '../../src/reports/affected.ts';
import { ends, linesOf, standingOf } from '../../src/reports/statement.ts';

const at = new Date('2027-03-01T12:00:00Z');
let seq = 0n;
type Kinds = [PostedFor['debitKind'], PostedFor['creditKind']];
const posted = (
  kind: string,
  [debitKind, creditKind]: Kinds,
  units: bigint,
  more: Partial<PostedFor> = {},
): PostedFor => ({
  ...{ entry: `e${(seq += 1n)}`, kind, seq, line: 1, at, orderId: 7n, asset: 'inr', units },
  ...{ debit: `${debitKind}:x:inr`, debitKind, credit: `${creditKind}:x:inr`, creditKind, ownUnits: 0n },
  ...more,
});
const until = new Date('2028-01-01T00:00:00Z');
const after = (had: readonly HadBefore[], ...lines: PostedFor[]) => {
  const standing = standingOf(had);
  return [...linesOf(lines, 'C', standing), ...ends('closing', until, standing)].map(
    ({ what, units, owedUnits, heldAfterUnits }) => [what, units, owedUnits, heldAfterUnits],
  );
};
const of = (...lines: PostedFor[]) => after([], ...lines);

describe('a statement', () => {
  test("counts an order's own money in suspense once, from its coming to its going back", () => {
    assert.deepEqual(
      of(
        posted('deposit_book', ['custody', 'suspense'], 50n),
        posted('settle_refund', ['suspense', 'custody'], 50n, { ownUnits: 50n }),
      ),
      [
        ['deposit', 50n, 0n, 50n],
        ['refund', -50n, 0n, 0n],
        ['closing', 0n, 0n, 0n],
      ],
    );
  });

  test("counts a part that waited in suspense as the order's from the beginning", () => {
    assert.deepEqual(
      of(
        posted('deposit_book', ['custody', 'suspense'], 50n),
        posted('receive', ['suspense', 'order'], 50n, { ownUnits: 50n }),
      ),
      [
        ['deposit', 50n, 0n, 50n],
        ['closing', 50n, 0n, 50n],
      ],
    );
  });

  test('counts unidentified money in suspense from when it is assigned to the order', () => {
    assert.deepEqual(
      of(
        posted('deposit_book', ['custody', 'suspense'], 20n),
        posted('receive', ['suspense', 'order'], 50n, { ownUnits: 20n }),
      ),
      [
        ['deposit', 20n, 0n, 20n],
        ['deposit', 30n, 0n, 50n],
        ['closing', 50n, 0n, 50n],
      ],
    );
  });

  test('shows a customer’s debt, and its payment', () => {
    const owed = { debit: 'receivable:C:inr' };
    assert.deepEqual(
      of(
        posted('deposit_recalled', ['receivable', 'custody'], 80n, owed),
        posted('deposit_replaced', ['suspense', 'receivable'], 80n, { credit: 'receivable:C:inr' }),
      ),
      [
        ['owed', 0n, 80n, 0n],
        ['owed', 0n, -80n, 0n],
        ['closing', 0n, 0n, 0n],
      ],
    );
  });

  test('does not take the debt of another customer for this one', () => {
    assert.deepEqual(of(posted('deposit_recalled', ['receivable', 'custody'], 80n, { debit: 'receivable:D:inr' })), []);
  });

  test('continues with what the customer had before, also on accounts of many', () => {
    const had = [{ asset: 'inr', heldUnits: 25n, owedUnits: 2n }];
    assert.deepEqual(after(had, posted('receive', ['suspense', 'order'], 50n, { ownUnits: 20n })), [
      ['deposit', 30n, 0n, 55n],
      ['closing', 55n, 2n, 55n],
    ]);
  });
});

const market = {
  crypto: { code: 'usdc.x', kind: 'crypto', coin: 'usdc', chain: 'x', contract: null, decimals: 6, native: false },
  fiat: { code: 'inr', kind: 'fiat', coin: 'inr', chain: null, contract: null, decimals: 2, native: false },
  payoutDecimals: 2,
} as unknown as Parameters<typeof otherPayout>[1];
const fees = { operator: 101n, partner: 0n, rail: 0n, chain: 0n, tax: 0n };
const sale = { payoutAsset: 'inr', fiatAsset: 'inr', grossUnits: 830_000n, depositUnits: 100_000_000n, fees };
const purchase = { payoutAsset: 'usdc.x', fiatAsset: 'inr', grossUnits: 60_000_000n, depositUnits: 500_000n, fees };

describe('other terms', () => {
  test('take a fee from the fiat: from the proceeds of a sale, from the payment of a purchase, rounded up', () => {
    const terms = { fixedUnits: 10n, bps: 33n, minimumUnits: 0n };
    assert.equal(otherFee(sale, terms), 10n + 2_739n);
    assert.equal(otherFee(purchase, terms), 10n + 1_650n);
    assert.equal(otherFee({ ...purchase, depositUnits: 500_001n }, terms), 10n + 1_651n);
    assert.equal(otherFee(sale, { ...terms, minimumUnits: 5_000n }), 5_000n);
  });

  test('pay out at another price the remainder after the fees, rounded down, and never below zero', () => {
    assert.equal(otherPayout(sale, market, { num: 81n, den: 1n }), 810_000n - 101n);
    assert.equal(otherPayout(purchase, market, { num: 81n, den: 1n }), 61_710_000n);
    assert.equal(otherPayout(sale, market, { num: 1n, den: 1_000_000n }), 0n);
    assert.equal(otherPayout({ ...purchase, depositUnits: 100n }, market, { num: 81n, den: 1n }), 0n);
  });
});
