/**
 * The same drills where the paid amount is not the amount that the books order now, after a requote in the lost time or after the
 * restore. Two people match the two; the amount that left is booked, and the difference has an entry of its own.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { parseUnits } from '../../src/base/money.ts';
import { balance, chart } from '../../src/ledger/index.ts';
import { CHAIN_RAIL, type Drills, openDrills } from '../support/drills.ts';

let w: Drills;

before(async () => {
  w = await openDrills();
});
after(async () => await w?.close());

const someone = (): string => `0x${randomBytes(20).toString('hex')}`;
const noCases = () => w.until('no case is open', async () => (await w.openCases()).length === 0);
const difference = async () => {
  const { units } = await w.read((tx) => balance(tx, chart.difference('usdc.base')));
  return units;
};
const theMovement = async (): Promise<string> => {
  const [found] = await w.until('the movement has a case', async () => {
    const cases = await w.casesOf('movement_unmatched');
    return cases.length > 0 && cases;
  });
  return found?.subject.replace('movement:', '') ?? '';
};

async function requotes(id: bigint): Promise<void> {
  const { outcome, proposal } = await w.operates(`/orders/${id}/requote`, {});
  if (outcome === 'proposed') await w.operates(`/proposals/${proposal}/confirm`, {}, w.secondToken());
}

/** Two people match it with the option for another amount; without that option the match is declined. */
async function matches(movement: string, key: string): Promise<void> {
  const unsaid = await w.operates(`/movements/${movement}/match`, { key });
  const declined = await w.tries(`/proposals/${unsaid.proposal}/confirm`, {}, w.secondToken());
  assert.equal(declined.status, 409, 'another amount was matched by people who did not say so');
  assert.match(declined.body.error, /otherAmount/);
  await w.twoDo(`/movements/${movement}/match`, { key, otherAmount: true });
}

/** Checks that it was paid once, booked to the unit, and is shown in the order's trace. */
async function isPaidWith(id: bigint, key: string, paid: string, recipient: string, was: bigint): Promise<void> {
  await w.reaches(id, 'settled');
  assert.deepEqual(await w.paidTo(recipient), [paid], 'it was not paid once');
  const { order, payouts, history, entries } = await w.traceOf(id);
  const units = parseUnits(paid, 6);
  assert.notEqual(order.payoutUnits, units, 'the amounts are the same: this drill shows nothing');
  assert.equal(payouts.find((one) => one.id === key)?.paidUnits, units);
  assert.equal(order.exception, 'paid_other_amount');
  const last = history.at(-1)?.facts;
  assert.deepEqual([last?.paidUnits, last?.orderedUnits], [String(units), String(order.payoutUnits)]);
  assert.ok(
    entries.some(({ kind }) => kind === 'payout_difference'),
    'the difference has no entry of its own',
  );
  assert.equal(
    (await difference()) - was,
    order.payoutUnits - units,
    'the difference is not what the order has beyond it',
  );
  await noCases();
  await w.isClean();
}

/** A paid order whose payout waits for the kill switch of its rail to be lifted. */
async function waitsForTheRail() {
  await w.operates('/kill-switches', { kind: 'rail', subject: CHAIN_RAIL });
  const recipient = someone();
  const order = await w.buys('100', recipient);
  w.pays(order);
  await w.takesStatements();
  await w.reaches(order.id, 'paying_out');
  return { order, recipient };
}

test('an order requoted and paid after the backup: two people match the payment, and the difference is booked separately', async () => {
  const was = await difference();
  const { order, recipient } = await waitsForTheRail();
  const restores = await w.backup();
  // A higher fee from now on, so that less leaves than the restored books order.
  await w.feeBecomes(300n);
  await requotes(order.id);
  await w.lifts('rail', CHAIN_RAIL);
  await w.reaches(order.id, 'settled');
  const [paid = ''] = await w.paidTo(recipient);

  await restores();
  await w.lifts('rail', CHAIN_RAIL);
  const movement = await theMovement();
  await matches(movement, `pay_${order.id}_1`);
  await w.lifts('payouts', 'all');
  await isPaidWith(order.id, `pay_${order.id}_1`, paid, recipient, was);
  // A later order is paid as usual.
  const next = await w.buys('20');
  w.pays(next);
  await w.takesStatements();
  await w.reaches(next.id, 'settled');
});

test('an order requoted after the restore: its earlier, larger payment is matched with the new attempt', async () => {
  const was = await difference();
  const { order, recipient } = await waitsForTheRail();
  const restores = await w.backup();
  await w.lifts('rail', CHAIN_RAIL);
  await w.reaches(order.id, 'settled');
  const [paid = ''] = await w.paidTo(recipient);
  // The movement cannot be read yet when the order is requoted.
  await w.anvil.rpc('evm_setIntervalMining', [0]);
  await restores();
  await w.feeBecomes(300n);
  await requotes(order.id);
  await w.reaches(order.id, 'paying_out');
  await w.anvil.rpc('evm_setIntervalMining', [1]);
  await w.lifts('rail', CHAIN_RAIL);
  await w.lifts('payouts', 'all');
  const movement = await theMovement();
  await matches(movement, `pay_${order.id}_2`);
  await isPaidWith(order.id, `pay_${order.id}_2`, paid, recipient, was);
});

test('a payout to another recipient or in another asset is never matched, also with the option for another amount', async () => {
  const restores = await w.backup();
  const lost = await w.buys('40', someone());
  w.pays(lost);
  await w.takesStatements();
  await w.reaches(lost.id, 'settled');
  await restores();
  const movement = await theMovement();
  const order = await w.buys('30', someone());
  w.pays(order);
  await w.takesStatements();
  await w.reaches(order.id, 'paying_out');
  const wrong = await w.operates(`/movements/${movement}/match`, { key: `pay_${order.id}_1`, otherAmount: true });
  const declined = await w.tries(`/proposals/${wrong.proposal}/confirm`, {}, w.secondToken());
  assert.match(declined.body.error, /another recipient/);
  assert.equal(declined.status, 409);
  await w.twoDo(`/movements/${movement}/foreign`, {});
  await w.lifts('payouts', 'all');
  await w.reaches(order.id, 'settled');
  await w.isClean();
});
