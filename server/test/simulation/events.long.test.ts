/**
 * Seeds of the simulation by what happens in them: of each kind of move, some play shows each of its events, and none violates
 * anything. `npm test` plays a few of them (simulation.test.ts).
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Fixture, prepareFixture } from './ground.ts';
import { everyTenth, playUntil } from './until.ts';

let fixture: Fixture;
before(async () => {
  fixture = await prepareFixture();
});
after(async () => await fixture?.drop());

test('put back to an older copy: everybody has what is due once, and people end it by the documented actions', async () => {
  // `lost_order` needs an order that the copy lacks, and a payment of it that is shown: one seed of nine.
  const seeds = [91, 402, 11, 5, 3, 4, 404, 509, 403, 511, 410, 61];
  await playUntil(
    fixture,
    ['lost_order', 'cancelled what nobody mined'],
    [{ seed: 407, orders: 20, restore: true }, ...seeds.map((seed) => ({ seed, orders: 10, restore: true }))],
    ({ restored }) => {
      assert.equal(restored?.get('let go'), 1, 'payouts were not released after the restore');
      return restored;
    },
  );
});

test('with a bank that forgets keys: no payout of ours runs longer than the bank remembers, and none is paid twice', async () => {
  await playUntil(
    fixture,
    ['was off for longer than the bank remembers', 'asked the bank'],
    // Operators ask about a payout that is unknown, or not shown, for too long: one seed of twelve.
    [219, 199, 289, 89, 129, 79, 119, 99, 49, 39].map((seed) => ({ seed, orders: 12 })),
    ({ outages }) => outages,
  );
});

test('with a payout that stays unknown: two declare it never paid, and what the statement shows settles it', async () => {
  await playUntil(
    fixture,
    ['declared never paid', 'a declaration refused', 'settled by a line without its key'],
    [189, 229, 469, 69, 109, 389, 429].map((seed) => ({ seed, orders: 10 })),
    ({ outages }) => outages,
  );
});

test('where things meet: law keeps what lies beside an order, and a hold stands against what was decided before', async () => {
  await playUntil(
    fixture,
    [
      'blocked by law',
      'paid once more beside a block',
      'let go by law at once',
      'held while the screener is asked about a payout',
      'held while the screener is asked about a refund',
      'a transfer prepared after its submission was over',
    ],
    [233, 153, 373, 43, 63, 133, 123, 103, 23].map((seed) => ({ seed, orders: 10 })),
    ({ meetings }) => meetings,
  );
});

test('without a reference: a credit is assigned before it has cleared, and what law lets go of it waits', async () => {
  await playUntil(
    fixture,
    ['assigned before it has cleared', 'let go by law at once'],
    [258, 118, 218, 38, 18, 138, 278].map((seed) => ({ seed, orders: 10 })),
    ({ references, meetings }) => new Map([...(references ?? []), ...(meetings ?? [])]),
  );
});

test('where rules change: what was denied, limited or screened meanwhile counts when money leaves', async () => {
  await playUntil(
    fixture,
    ['denied a destination', 'limited customers across their orders', 'switched off for long'],
    [26, 176, 156, ...everyTenth(6, 6)].map((seed) => ({ seed, orders: 10 })),
    ({ rules }) => rules,
  );
});

test('where what stands is laid again: approvals and proposals of before say nothing about it', async () => {
  await playUntil(
    fixture,
    [
      'blocked again after people had let a payout pass',
      'the owner of an account blocked before it was refunded to',
      'customer.unblock overtaken',
      'deposit.release overtaken',
      'kill-switch.lift overtaken',
    ],
    [352, 251, 292, 112, 11, 12, 32, 71].map((seed) => ({ seed, orders: 10 })),
    ({ again }) => again,
  );
});

test('with a bank that shows as paid what it has rejected: a deposit reversed meanwhile is owed', async () => {
  await playUntil(
    fixture,
    ['shown as paid after the coins were reversed'],
    [174, 34, 14, 134, 54, 94].map((seed) => ({ seed, orders: 10 })),
    ({ contradictions }) => contradictions,
  );
});

test('with a bank that recalls parts: what had left of them is owed, to the unit, and the rest is not', async () => {
  await playUntil(
    fixture,
    ['a part recalled before anything left', 'a part recalled after the payout', 'a part recalled after a refund'],
    // A part recalled after a refund needs a refund of that very order: one seed of eight.
    [104, 224, 15, 215, 44, 184, 264, 155, 164].map((seed) => ({ seed, orders: 10 })),
    ({ parts }) => parts,
  );
});

test('with transfers to own addresses: each leaves once, and only past what people have set', async () => {
  await playUntil(
    fixture,
    [
      'two people sent',
      'three people sent',
      'one person alone: own_proposal',
      'held: screening denies its address',
      'cancelled a transfer',
      'money came back',
    ],
    // Money comes back of what settled before the faults ended: one long play of a dozen.
    [
      { seed: 50, orders: 16 },
      ...[315, 50, 55, 35, 115, 170, 155, 75, 10, 30, 90, 150, 130].map((seed) => ({ seed, orders: 4 })),
    ],
    ({ own }) => own,
  );
});

test('with a cap on promises: unpaid orders never pass it, though customers come at the same moment', async () => {
  await playUntil(
    fixture,
    ['promised below the cap', 'refused for the cap'],
    [22, 62, 102, 142, 182].map((seed) => ({ seed, orders: 20 })),
    ({ promises }) => promises,
  );
});

test('with a source that says wild prices: no order is made at them', async () => {
  await playUntil(
    fixture,
    ['a hundred times the price said', 'a hundredth of the price said', 'an order made meanwhile'],
    [28, 77, 68, 117, 108].map((seed) => ({ seed, orders: 20 })),
    ({ wild }) => wild,
  );
});
