/** What is found after the chaos: work left under way that no case is about, and a customer who was blocked without a debt. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshFixture } from '../support/fixture.ts';
import { openRows } from '../support/rows.ts';
import { blockedWithoutDebt, speaksOf } from './checks.ts';

const ORDER = '1795314000123';
const surplus = { order_id: ORDER, subject: 'deposit:22' };
const held = { order_id: ORDER, subject: `order:${ORDER}` };
const stopped = { order_id: null, subject: 'bank.remote' };
const unknown = { order_id: null, subject: `payout:pay_${ORDER}_1` };
const short = { order_id: null, subject: 'refund:22' };

for (const [one, text, speaks] of [
  [surplus, 'deposit 22 is seen', true],
  [surplus, `order ${ORDER} is payout_held`, true],
  [surplus, 'deposit 2 is seen', false],
  [surplus, 'refund 22 is submitted', false],
  [surplus, 'payout ref_22_1 is unknown', false],
  [surplus, 'work advance_order 1795314000999 is due 2026-11-22 03:22:05+00 orders  22 it failed', false],
  [held, `payout pay_${ORDER}_2 is unknown`, true],
  [held, `send pay_${ORDER}_2 is signed`, true],
  [held, `work advance_order ${ORDER} is due 2026-11-22 03:22:05+00 orders  3 it failed`, true],
  [held, 'order 1795314000999 is paying_out', false],
  [unknown, `send pay_${ORDER}_1 is mined`, true],
  [unknown, `work hand_payout pay_${ORDER}_1 is due 2026-11-22 03:22:05+00 bank  3 it failed`, true],
  [unknown, `payout pay_${ORDER}_12 is unknown`, false],
  [short, 'refund 22 is written', true],
  [short, 'payout ref_22_1 is written', true],
  [short, 'payout ref_2_22 is written', false],
  [short, 'deposit 22 is seen', false],
  [stopped, 'rail bank.remote is stopped: nonces', true],
  [stopped, 'rail evm.base is stopped: bank.remote', false],
] as const)
  test(`a case of ${one.subject} ${speaks ? 'speaks' : 'says nothing'} of: ${text}`, () =>
    assert.equal(speaksOf(one, text), speaks));

test('a customer who was refused as blocked is excused by a debt, open or closed, and by no other case', async (t) => {
  const fixture = await freshFixture();
  const rows = await openRows(fixture.adminUrl);
  t.after(async () => {
    await rows.close();
    await fixture.stop();
  });
  await rows.cryptoAsset('usdc.test', 'test', '0x01');
  const customers = ['owes_1', 'owed_1', 'held_1', 'free_1'];
  for (const [n, id] of customers.entries()) {
    const { orderId, partnerId } = await rows.order('usdc.test', 'evm.test', `0x${n}`);
    await rows.query(
      `insert into customers (id, partner_id, kind, created_at, updated_at) values ($1, $2, 'INDIVIDUAL', now(), now())`,
      [id, partnerId],
    );
    await rows.query('update orders set customer_id = $2 where id = $1', [orderId, id]);
    const of = { owes_1: ['customer_owes', null], owed_1: ['customer_owes', 'now()'], held_1: ['on_hold', null] }[id];
    if (of === undefined) continue;
    await rows.query(
      `insert into cases (kind, subject, order_id, reason, opened_at, closed_at) values ($1, $2, $3, '', now(), ${of[1]})`,
      [of[0], `order:${orderId}`, orderId],
    );
  }
  const look = { look: rows.query as Parameters<typeof blockedWithoutDebt>[0]['look'] };
  assert.deepEqual(await blockedWithoutDebt(look, new Set(customers)), [
    'customer held_1 was blocked, and has never owed anything',
    'customer free_1 was blocked, and has never owed anything',
  ]);
  assert.deepEqual(await blockedWithoutDebt(look, new Set(['owes_1'])), []);
});
