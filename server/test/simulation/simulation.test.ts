/**
 * A share of the simulation: seeds that once found a bug, and a few others. Other tests show that it can fail, and that a seed
 * plays the same twice. Seeds for the events of every kind of move: events.long.test.ts. The whole of it: `npm run simulate`.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Noted } from './actors.ts';
import { overpaid } from './checks.ts';
import { type Fixture, prepareFixture } from './ground.ts';
import { misnamed, misplaced } from './mutants.ts';
import { TOKENS } from './outside.chain.ts';
import type { Environment } from './process.ts';
import { type Outcome, parting, simulate } from './run.ts';
import { everyTenth, playUntil, told } from './until.ts';
import { openWorkers } from './workers.ts';

/** Each says what it found when it was recorded. */
const KEPT: readonly { seed: number; orders: number; found: string }[] = [
  { seed: 8, orders: 10, found: 'a payout that was paid and reverted in another branch, which nobody owed any more' },
  { seed: 2, orders: 8, found: 'what was given up stood as a debt and not as a loss' },
];

let fixture: Fixture;
before(async () => {
  fixture = await prepareFixture();
});
after(async () => await fixture?.drop());

for (const { seed, orders, found } of KEPT)
  test(`seed ${seed}: everybody is paid what is due, once (${found})`, async () => {
    const outcome = await simulate(fixture, { seed, orders });
    assert.equal(told(outcome), '');
    assert.ok(outcome.faults.size > 0 && outcome.orders > 0, 'no order was made, or no fault occurred');
  });

test('seed 20, put back: a payout comes back whose debit was read while the payout was created again', async () => {
  const outcome = await simulate(fixture, { seed: 20, orders: 10, restore: true });
  assert.equal(told(outcome), '');
});

test('with money of no order: it goes back to its sender, is dust, or lies dormant, to the unit', async () => {
  // The first was recorded when it found a payout that waited for ever for another deposit, which its customer owed.
  const recorded = { seed: 180, orders: 5 };
  await playUntil(
    fixture,
    ['returned to its account', 'returned to a signed address', 'corrected as dust', 'dust written off', 'woken'],
    [recorded, ...[160, 330, 60, ...everyTenth(20, 4)].map((seed) => ({ seed, orders: 6 }))],
    ({ strays }) => {
      for (const never of ['returned to a thief', 'returned elsewhere', 'returned unconfirmed'])
        assert.equal(strays?.get(never), undefined, `it was ${never}`);
      return strays;
    },
  );
});

test('with transfers to own addresses, put back: what had left is matched, or ordered again and matched', async () => {
  await playUntil(
    fixture,
    ['matched after a restore', 'ordered again after a restore'],
    [275, 10, 130, 255, 90, 50, 315, 70].map((seed) => ({ seed, orders: 4, restore: true })),
    ({ own }) => own,
  );
});

test('a seed plays the same twice, to the last step, with statements that wait for each other; in another process, too', async () => {
  const play = { seed: 21, orders: 6 };
  const first = await simulate(fixture, play);
  const second = await simulate(fixture, play);
  assert.equal(told(first), '');
  assert.equal(parting(first, second), undefined);
  assert.ok(first.waits > 3, 'statements waited');
  // On a ground of its own: its customers have the same ids.
  const other = await openWorkers(1);
  let elsewhere: Outcome | undefined;
  await other.play([play], (outcome) => {
    elsewhere = outcome;
    return undefined;
  });
  await other.close();
  assert.equal(elsewhere?.digest, first.digest);
});

test('a bank that promises to deduplicate and does not is found to have paid twice', async () => {
  for (let seed = 4; seed <= 20; seed += 1) {
    const { violations } = await simulate(fixture, { seed, orders: 3, lie: 'the bank deduplicates' });
    if (violations.some(({ kind }) => kind === 'paid_twice')) return;
  }
  assert.fail('nothing was found in seventeen seeds');
});

test('a chain that never mines what we send is found to be stuck, and the run ends', async () => {
  const seen: string[] = [];
  // Not every seed has a payment to send by then.
  for (let seed = 4; seed <= 12; seed += 1) {
    const { violations } = await simulate(fixture, { seed, orders: 3, lie: 'the chain mines what we send' });
    seen.push(...violations.map(({ kind, what }) => `${kind}: ${what}`));
    const stuck = violations.find(({ kind }) => kind === 'stuck');
    if (/send (pay|ref)_[0-9_]+ is signed.*waits to be mined with nonce 0/.test(stuck?.what ?? '')) return;
  }
  assert.fail(`nothing was stuck in nine seeds: ${seen.join('; ')}`);
});

test('coins without an order go back once', () => {
  const order = { id: 1n, direction: 'offramp', depositTarget: '0xdeposit1', depositAsset: 'usdc', payoutAsset: 'inr' };
  const terms = new Map([['1', { depositUnits: 100n, payoutUnits: 80n }]]);
  const one = { order, accounts: [], address: '0xown1', elsewhere: '0xelse1', terms } as unknown as Noted;
  const after = (usdt: bigint) =>
    overpaid(
      {
        bank: { outTo: () => 0n, everIn: () => 0n } as unknown as Environment['bank'],
        chain: {
          believedAt: (_: string, contract: string) => (contract === TOKENS.usdt ? 100n : 0n),
          paidTo: (to: string, contract: string) => (to === '0xown1' && contract === TOKENS.usdt ? usdt : 0n),
        } as unknown as Environment['chain'],
      },
      one,
    );
  assert.equal(after(100n), undefined);
  assert.equal(after(200n), 'order 1: 200 refunded of another asset, 100 came in');
});

test('each planted bug still has its place in the source', () => {
  assert.deepEqual(misplaced(), []);
});

test('each planted bug names only what the source has', () => {
  assert.deepEqual(misnamed(), []);
});
