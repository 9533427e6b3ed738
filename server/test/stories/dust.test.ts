/** Two people write off dust in suspense: a single deposit with its case, or many at once; what is held is never written off. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { blockCustomer } from '../../src/customers/index.ts';
import { balancesOf } from '../../src/ledger/index.ts';
import { setDustThreshold } from '../../src/orders/index.ts';
import { verifyLedger } from '../../src/reconcile/index.ts';
import { type Person, type Said } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Sale, Story } from '../support/story.ts';

const ASSET = 'usdc.matic20';
const SUSPENSE = `suspense:evm.matic20:${ASSET}`;
const ROUNDING = `rounding:${ASSET}`;

let world: Story;
let ada: Person;
let bea: Person;
before(async () => {
  ({ world, ada, bea } = await openStaffedStory({ ada: 'admin', bea: 'admin' }));
});
after(async () => await world?.close());

/** An expired order with deposits that came afterwards. */
async function late(...amounts: string[]): Promise<Sale> {
  const order = await world.sells('10', 'usdc');
  await world.deadlinePasses();
  await world.reaches(order, -1);
  for (const amount of amounts) await world.pays(order, amount);
  await world.mines(2);
  await world.until('all lies in suspense', async () => {
    const states = await statesOf(order);
    return states.length === amounts.length && states.every((state) => state === 'suspense');
  });
  return order;
}
const statesOf = async (order: Sale): Promise<string[]> =>
  (await world.traceOf(order)).deposits.map(({ state }) => state);
const held = async (code: string): Promise<bigint> =>
  (await world.read((tx) => balancesOf(tx, [code.split(':')[0] ?? '']))).find((one) => one.code === code)?.units ?? 0n;
const isSound = async () => assert.deepEqual((await world.read((tx) => verifyLedger(tx))).problems, []);
const writesOff = (by: Person, most = 200): Promise<Said> =>
  by.does('/dust/write-off', { asset: ASSET, before: world.clock.now().toISOString(), most });
const proposalOf = (said: Said): string => {
  assert.equal(said.status, 202, JSON.stringify(said.body));
  return said.body.proposal;
};

describe('dust of many deposits', () => {
  test('is written off by two people, the oldest first, up to a number; held deposits and those of a blocked customer stay', async () => {
    const order = await late('0.001', '0.002', '0.003');
    const blocked = await late('0.004');
    const kept = await late('0.005');
    const [keptDeposit] = (await world.traceOf(kept)).deposits;
    assert.equal((await ada.does(`/deposits/${keptDeposit?.id}/hold`)).status, 200);
    await world.read((tx) => blockCustomer(tx, blocked.customerId, world.clock.now()));
    const [suspense, rounding] = [await held(SUSPENSE), await held(ROUNDING)];

    const two = proposalOf(await writesOff(ada, 2));
    assert.equal((await ada.does(`/proposals/${two}/confirm`)).body.reason, 'own_proposal');
    assert.equal(await held(SUSPENSE), suspense, 'one person wrote off the dust');
    assert.equal((await bea.does(`/proposals/${two}/confirm`)).status, 200);
    assert.deepEqual(await statesOf(order), ['written_off', 'written_off', 'suspense']);
    assert.equal(suspense - (await held(SUSPENSE)), 3_000n);
    assert.equal((await held(ROUNDING)) - rounding, 3_000n);
    await isSound();

    // Two people propose and two confirm at once: it is written off once.
    const [one, other] = await Promise.all([writesOff(ada), writesOff(bea)]);
    assert.deepEqual([one.status, other.status].sort(), [202, 409], 'the same was proposed twice');
    const [proposal, second] = one.status === 202 ? [proposalOf(one), bea] : [proposalOf(other), ada];
    const said = await Promise.all([1, 2, 3].map(() => second.does(`/proposals/${proposal}/confirm`)));
    assert.equal(said.filter(({ status }) => status === 200).length, 1, JSON.stringify(said));
    assert.equal(suspense - (await held(SUSPENSE)), 6_000n);
    assert.deepEqual(await statesOf(order), ['written_off', 'written_off', 'written_off']);
    assert.deepEqual([...(await statesOf(blocked)), ...(await statesOf(kept))], ['suspense', 'suspense']);
    assert.deepEqual((await writesOff(ada)).body.reason, 'does_not_fit');
    await isSound();
  });

  test('is not written off when the deposits have changed since the proposal', async () => {
    const order = await late('0.006');
    const proposal = proposalOf(await writesOff(ada));
    const [deposit] = (await world.traceOf(order)).deposits;
    assert.equal((await bea.does(`/deposits/${deposit?.id}/hold`)).status, 200);
    assert.equal((await bea.does(`/proposals/${proposal}/confirm`)).body.reason, 'proposal_overtaken');
    assert.deepEqual(await statesOf(order), ['suspense']);
  });

  test('is not written off with wrong input, and the refusal names the field and the rule', async () => {
    const said = await ada.does('/dust/write-off', { asset: 'gold', before: 'yesterday', most: 201 });
    assert.equal(said.status, 400);
    assert.deepEqual(Object.keys(said.body.fields).sort(), ['before', 'most']);
    const asset = { asset: 'gold', before: world.clock.now().toISOString(), most: 1 };
    assert.match((await ada.does('/dust/write-off', asset)).body.fields.asset, /code of an asset/);
  });
});

describe('a deposit with a case', () => {
  const caseOf = async (order: Sale) => {
    const [deposit] = (await world.traceOf(order)).deposits;
    const { cases } = (await ada.reads('/cases?kind=deposit_late&limit=200')).body;
    const found = cases.find((one: { subject: string }) => one.subject === `deposit:${deposit?.id}`);
    return { id: found?.id as string, evidence: deposit?.reference ?? '' };
  };

  test('that is below the current dust threshold is written off with its evidence, and the case is closed', async () => {
    const order = await late('0.015');
    const { id, evidence } = await caseOf(order);
    const input = { as: 'dust', amount: '0.015', evidence };
    assert.match((await ada.does(`/cases/${id}/correct`, input)).body.error, /is not dust/);
    await world.read((tx) => setDustThreshold(tx, ASSET, 20_000n));
    for (const wrong of [{ evidence: '0x00' }, { amount: '0.014' }, { as: 'debt' }])
      assert.equal((await ada.does(`/cases/${id}/correct`, { ...input, ...wrong })).body.reason, 'does_not_fit');
    const rounding = await held(ROUNDING);
    const proposal = proposalOf(await ada.does(`/cases/${id}/correct`, input));
    assert.equal((await bea.does(`/proposals/${proposal}/confirm`)).status, 200);
    assert.deepEqual(await statesOf(order), ['written_off']);
    assert.equal((await held(ROUNDING)) - rounding, 15_000n);
    assert.equal((await caseOf(order)).id, undefined, 'the case is still open');
    await isSound();
  });

  test('that its chain reverses after the write-off is a loss, and the books agree with the chain', async () => {
    const order = await world.sells('10', 'usdc');
    await world.deadlinePasses();
    await world.reaches(order, -1);
    const paid = await world.pays(order, '0.007');
    await world.mines(2);
    await world.until('it lies in suspense', async () => (await statesOf(order))[0] === 'suspense');
    const proposal = proposalOf(await writesOff(ada));
    assert.equal((await bea.does(`/proposals/${proposal}/confirm`)).status, 200);
    await world.reorgsAway(paid);
    await world.until('it is gone', async () => {
      await world.mines(1);
      return (await statesOf(order))[0] === 'lost';
    });
    await isSound();
  });
});
