/** A refund of an order that was paid by several credits of different sizes, of which its bank recalls one meanwhile. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { chart } from '../../src/ledger/index.ts';
import { amountsDecide, oneOrTwoDo, type Person } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let finn: Person;

before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
  await world.read(amountsDecide);
});
after(async () => await world?.close());

const switches = { kind: 'payouts', subject: 'all' };
const off = async () => assert.equal((await ada.does('/kill-switches', switches)).status, 200);
const on = async () => assert.equal((await oneOrTwoDo(ada, finn, '/kill-switches/lift', switches)).status, 200);
const traced = (order: Purchase) => world.traceOf(order);
const lossOf = async () => (await world.balance(chart.loss('inr'))).units;

/** A purchase of 5,000 INR whose refund keeps two fees, paid by credits of these amounts; it is held. */
async function paidIn(amounts: readonly string[]) {
  const customer = await world.verifiedCustomer();
  const order = await world.buys('5000', 'usdc', { customer });
  await world.read((tx) =>
    tx.run(`update orders set policy = policy || '{"refundFees": {"keep": ["operator", "rail"]}}' where id = $1`, [
      order.id,
    ]),
  );
  const lines: string[] = [];
  for (const amount of amounts) lines.push(await world.credits(order, amount));
  await world.becomes(order, 'paying_out');
  const { fees } = (await traced(order)).order;
  return { order, lines, fiatAccountId: customer.fiatAccountId, keptUnits: fees.operator + fees.rail };
}
async function recalls(id: string, line: string, units: bigint): Promise<void> {
  await world.bankShows({ id, direction: 'debit', units, reference: id, returnOf: line, why: 'recalled' });
  await world.until('the line was read', () =>
    world.read((tx) => tx.row('select from bank_lines where external_id = $1', [id])),
  );
}

describe('the refund of an order paid by a small and a large credit', () => {
  for (const [name, amounts, recalled] of [
    ['the large one is recalled', ['10', '4990'], 1],
    ['the small one is recalled', ['10', '4990'], 0],
    ['the first and large one is recalled', ['4990', '10'], 0],
    ['none is recalled', ['0.01', '4999.99'], undefined],
  ] as const)
    test(`keeps the fees at most once, and returns the rest to the unit: ${name} before the parts leave`, async () => {
      await off();
      const { order, lines, fiatAccountId, keptUnits } = await paidIn(amounts);
      const held = await oneOrTwoDo(finn, ada, `/orders/${order.id}/hold`);
      assert.equal(held.status, 200, JSON.stringify(held.body));
      await world.becomes(order, 'payout_held');
      const books = await world.balances();
      const loss = await lossOf();
      const done = await oneOrTwoDo(finn, ada, `/orders/${order.id}/refund`, { failure: 'other', fiatAccountId });
      assert.equal(done.status, 200, JSON.stringify(done.body));
      const before = (await traced(order)).refunds;
      assert.equal(before.length, 2);
      assert.equal(
        before.reduce((sum, { costUnits }) => sum + costUnits, 0n),
        keptUnits,
      );
      const units = amounts.map((amount) => BigInt(Math.round(Number(amount) * 100)));
      const recalledUnits = recalled === undefined ? 0n : (units[recalled] ?? 0n);
      if (recalled !== undefined) await recalls(`recall-${order.id}`, lines[recalled] ?? '', recalledUnits);
      await on();
      if (recalled !== undefined) {
        // The part of the recalled credit does not leave, and people decide about it; the other one has left.
        await world.becomes(order, 'refund_held');
        await world.until('the other part has left', async () =>
          (await traced(order)).refunds.some(({ state }) => state === 'settled'),
        );
        assert.equal((await oneOrTwoDo(finn, ada, `/orders/${order.id}/retry-refund`, { fiatAccountId })).status, 200);
      }
      await world.becomes(order, 'refunded');
      const { refunds } = await traced(order);
      const settled = refunds.filter(({ state }) => state === 'settled');
      const gone = settled.reduce((sum, { netUnits }) => sum + netUnits, 0n);
      const kept = settled.reduce((sum, { costUnits }) => sum + costUnits, 0n);
      const changes = await world.changesSince(books);
      assert.equal(changes['custody:bank.simulated:main:inr'], -gone - recalledUnits);
      assert.equal(gone + kept, 500_000n - recalledUnits);
      assert.ok(kept <= keptUnits);
      assert.equal(await lossOf(), loss);
      assert.equal(await world.owed(order, 'inr'), 0n);
      assert.deepEqual(await world.openCaseKinds(order), []);
      await world.reconciles();
    });
});
