/** Work left under way after the chaos is excused only by a case about it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { speaksOf } from './checks.ts';

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
