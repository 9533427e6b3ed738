/** Balances of wallets over time are those that the trial balance had at each instant. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { balancesAt, chart, custodyAt, hold, type Line, move, post, settle } from '../../src/ledger/index.ts';
import { upsertAsset } from '../../src/partners/index.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { fiat } from '../support/terms.ts';

const hot = chart.custody('bank.one', 'main', 'inr');
const other = chart.custody('bank.two', 'main', 'eur');
const owner = (asset: string) => chart.suspense('someone', asset);
const at = (hour: number) => new Date(Date.UTC(2027, 0, 1, hour));

let fixture: Fixture;
before(async () => {
  fixture = await freshFixture();
  await fixture.db.asSystem(async (tx) => {
    for (const code of ['inr', 'eur']) await upsertAsset(tx, fiat(code));
    const entries: [hour: number, lines: Line[]][] = [
      [1, move(hot, owner('inr'), 500n)],
      [3, move(other, owner('eur'), 70n)],
      [3, hold('h', owner('inr'), hot, 200n)],
      [4, settle('h')],
      [5, move(hot, owner('inr'), 5n)],
    ];
    for (const [hour, lines] of entries)
      assert.deepEqual(await post(tx, { id: `e${hour}${lines[0]?.step}`, kind: 'test', at: at(hour), lines }), {
        outcome: 'posted',
      });
  });
});
after(() => fixture.stop());

const units = async (hours: number[], asset?: string) => {
  const found = await fixture.db.asSystem((tx) => custodyAt(tx, { at: hours.map(at), asset }));
  return found.map((one) => [one.rail, one.wallet, one.asset, one.at.getUTCHours(), one.units]);
};

test('a balance counts the entries before its instant, and money on hold until it has left', async () => {
  assert.deepEqual(await units([0, 1, 2, 4, 6]), [
    ['bank.one', 'main', 'inr', 0, 0n],
    ['bank.one', 'main', 'inr', 1, 0n],
    ['bank.one', 'main', 'inr', 2, 500n],
    ['bank.one', 'main', 'inr', 4, 500n],
    ['bank.one', 'main', 'inr', 6, 305n],
    ...[0, 1, 2].map((hour) => ['bank.two', 'main', 'eur', hour, 0n]),
    ...[4, 6].map((hour) => ['bank.two', 'main', 'eur', hour, 70n]),
  ]);
});

test('one asset alone, and a single instant', async () => {
  assert.deepEqual(await units([5], 'inr'), [['bank.one', 'main', 'inr', 5, 300n]]);
  assert.deepEqual(await units([5], 'usd'), []);
});

test('each is the balance of its account in the trial balance of that instant', async () => {
  for (const hour of [0, 1, 2, 3, 4, 5, 6]) {
    const books = await fixture.db.asSystem((tx) => balancesAt(tx, at(hour)));
    const had = new Map(books.map(({ account, balance }) => [account, balance]));
    for (const [rail, wallet, asset, , amount] of await units([hour]))
      assert.equal(amount, had.get(`custody:${rail}:${wallet}:${asset}`) ?? 0n, `${rail} at ${hour}`);
  }
});
