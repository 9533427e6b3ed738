/**
 * A bank recalls only a part of a credit: two people name the deposit, and its customer owes that part as after a full recall.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { amountsDecide, type Person, twoDo } from '../protocols/operator/people.ts';
import { settledPurchase, strayCredit } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let finn: Person;

before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
  await world.read(amountsDecide);
});
after(async () => await world?.close());

const bothDo = (path: string, body: Record<string, unknown>) => twoDo(finn, ada, path, body);

/** A debit of the bank without a reference of ours. */
async function debits(id: string, units: bigint): Promise<bigint> {
  await world.bankShows({ id, direction: 'debit', units, reference: 'RECALL IN PART' });
  return await world.until('its case is open', async () => {
    const found = await world.read((tx) =>
      tx.row<{ id: bigint }>(`select id from cases where kind = 'unexplained_debit' and subject = $1`, [
        `bank.simulated:${id}`,
      ]),
    );
    return found?.id;
  });
}

test('a part of a credit is recalled after its crypto was sent: the customer owes that part, and pays it', async () => {
  const { order } = await settledPurchase(world);
  const deposit = (await world.traceOf(order)).deposits[0]?.id;
  const books = await world.balances();

  const id = await debits('recalled-1', 200_000n);
  assert.equal((await world.changesSince(books))['loss:inr'], 200_000n);
  const said = { as: 'recall', evidence: 'RECALL IN PART', amount: '2000' };
  const without = await finn.does(`/cases/${id}/correct`, said);
  assert.deepEqual([without.status, Object.keys(without.body.fields ?? {})], [400, ['deposit']]);
  await bothDo(`/cases/${id}/correct`, { ...said, deposit: String(deposit) });
  const changed = await world.changesSince(books);
  assert.deepEqual([changed['loss:inr'], await world.owed(order, 'inr')], [undefined, 200_000n]);
  assert.deepEqual([await world.openCaseKinds(order), await world.isBlocked(order)], [['customer_owes'], true]);
  const again = await finn.does(`/cases/${id}/correct`, { ...said, deposit: String(deposit) });
  assert.equal(again.body.reason, 'unknown_case', 'one recall was booked twice');

  const more = await debits('recalled-2', 300_100n);
  const over = { as: 'recall', evidence: 'RECALL IN PART', amount: '3001', deposit: String(deposit) };
  assert.equal(
    (await finn.does(`/cases/${more}/correct`, over)).body.reason,
    'does_not_fit',
    'a recall of more than the credit was booked',
  );
  await bothDo(`/cases/${more}/correct`, { as: 'fee', evidence: 'RECALL IN PART', amount: '3001' });

  const paid = await strayCredit(world, order, '2000');
  await bothDo(`/deposits/${paid}/assign`, { order: String(order.id) });
  assert.deepEqual([await world.owed(order, 'inr'), await world.openCaseKinds(order)], [0n, []]);
  await world.reconciles();
});

test('a part that is recalled before anything was sent makes no debt', async () => {
  const order = await world.buys('5000', 'usdc', { reference: 'screen:hold' });
  await world.credits(order, '5000');
  await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
  const deposit = (await world.traceOf(order)).deposits[0]?.id;
  const id = await debits('recalled-3', 100_000n);
  const said = { as: 'recall', evidence: 'RECALL IN PART', amount: '1000', deposit: String(deposit) };
  const declined = await finn.does(`/cases/${id}/correct`, said);
  assert.deepEqual([declined.status, declined.body.reason], [409, 'does_not_fit']);
  assert.match(declined.body.error, /its order is on_hold/);
  assert.equal(await world.owed(order, 'inr'), 0n);
});
