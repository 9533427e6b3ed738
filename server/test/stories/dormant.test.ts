/** Unclaimed money: announced, kept on an account of its own, and still refundable. The books balance at every step. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { enqueue } from '../../src/base/jobs.ts';
import { blockCustomer } from '../../src/customers/index.ts';
import { balancesOf } from '../../src/ledger/index.ts';
import { dormancyHandlers } from '../../src/orders/deposits/unclaimed.ts';
import { DORMANCY, requestRefund } from '../../src/orders/index.ts';
import { verifyLedger } from '../../src/reconcile/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import { salePaidTwice } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Sale, Story } from '../support/story.ts';

const DAY_MS = 86_400_000;
const SUSPENSE = 'suspense:evm.matic20:usdc.matic20';
const DORMANT = 'dormant:evm.matic20:usdc.matic20';

let world: Story;
let ada: Person;
let bea: Person;
before(async () => {
  ({ world, ada, bea } = await openStaffedStory({ ada: 'admin', bea: 'admin' }));
});
after(async () => await world?.close());

async function agreed(said: { status: number; body: { proposal?: string } }): Promise<number> {
  if (said.status !== 202) return said.status;
  return (await bea.does(`/proposals/${said.body.proposal}/confirm`)).status;
}
const sets = async (afterDays: number | 'none', noticeDays = 30) =>
  assert.equal(await agreed(await ada.does('/dormancy', { afterDays, noticeDays })), 200);

const unclaimed = (amount: string) => salePaidTwice(world, amount);

/** The recurring job has run over all money at the current time of the clock. */
async function looksAtAll(): Promise<void> {
  const asked = world.clock.now();
  await world.read((tx) => enqueue(tx, { kind: DORMANCY, subject: 'all', dueAt: asked }));
  // Two more servers run it at the same time.
  const look = dormancyHandlers(world.server.orders)[DORMANCY];
  assert(look, `no job handles ${DORMANCY}`);
  await Promise.all([look('all'), look('all')]);
  await world.until('the job has looked', () =>
    world.read(async (tx) => {
      const row = await tx.row<{ dueAt: Date }>('select due_at from jobs where kind = $1', [DORMANCY]);
      return row !== undefined && row.dueAt > asked;
    }),
  );
}
async function passDays(days: number): Promise<void> {
  world.clock.advance(days * DAY_MS);
  await looksAtAll();
}
/** Balance of an account. */
const held = async (code: string): Promise<bigint> =>
  (await world.read((tx) => balancesOf(tx, [code.split(':')[0] ?? '']))).find((one) => one.code === code)?.units ?? 0n;
const isSound = async () => assert.deepEqual((await world.read((tx) => verifyLedger(tx))).problems, []);
const reported = async (deposit: bigint) =>
  (await ada.reads('/dormant?limit=200')).body.money.find(
    (one: { depositId: string }) => one.depositId === String(deposit),
  );
const dormantUnits = async (order: Sale, deposit: bigint) =>
  (await world.traceOf(order)).deposits.find(({ id }) => id === deposit)?.dormantUnits;
const casesAbout = async (subject: string): Promise<string[]> =>
  (await ada.reads('/cases?limit=200')).body.cases
    .filter((one: { subject: string }) => one.subject === subject)
    .map((one: { kind: string }) => one.kind)
    .sort();
const dormant = async (amount: string) => {
  const made = await unclaimed(amount);
  await sets(90);
  await passDays(61);
  await passDays(31);
  assert.equal((await reported(made.deposit)).state, 'dormant');
  return made;
};

describe('unclaimed money', () => {
  beforeEach(async () => await sets('none'));

  test('stays where it is for as long as no time is set', async () => {
    const { deposit } = await unclaimed('3');
    await passDays(4000);
    assert.equal(await reported(deposit), undefined);
    await isSound();
  });

  test('is announced, then moved to an account of its own, and the report shows since when and how much', async () => {
    const { order, deposit } = await unclaimed('4');
    await sets(90);
    const before = [await held(SUSPENSE), await held(DORMANT)] as const;
    await passDays(59);
    assert.equal(await reported(deposit), undefined, 'it was announced too early');
    await passDays(2);
    const announced = await reported(deposit);
    assert.deepEqual([announced.state, announced.days, announced.units], ['announced', 61, '4']);
    assert.deepEqual(await casesAbout(`deposit:${deposit}`), ['deposit_second', 'dormant_soon']);
    const told = (await world.eventBodies(order)).at(-1) as { unclaimedFrom?: string };
    assert.equal(told.unclaimedFrom, announced.dormantFrom, 'the partner was not told the date');
    const ids = { transactionId: String(order.id), customerId: order.customerId };
    const asked = await world.partner.post('offramp/transaction', ids);
    assert.equal(asked.body.data?.unclaimedFrom, announced.dormantFrom, `the call does not say so: ${asked.text}`);
    await passDays(28);
    assert.equal((await reported(deposit)).state, 'announced', 'the notice was cut short');
    assert.equal(await dormantUnits(order, deposit), 0n);
    await passDays(3);
    assert.deepEqual([(await reported(deposit)).state, (await reported(deposit)).days], ['dormant', 92]);
    const [suspense, apart] = [await held(SUSPENSE), await held(DORMANT)];
    assert.equal(apart - before[1], before[0] - suspense);
    assert.ok(apart - before[1] >= 4_000_000n);
    assert.equal(await dormantUnits(order, deposit), 4_000_000n);
    assert.deepEqual(await casesAbout(`deposit:${deposit}`), ['deposit_second', 'dormant']);
    const total = (await ada.reads('/dormant')).body.totals.find(
      (one: { asset: string }) => one.asset === 'usdc.matic20',
    );
    assert.ok(Number(total.dormantUnits) >= 4 && total.oldestDays >= 92, JSON.stringify(total));
    await isSound();
  });

  test('goes back to the destination that the customer names, without an operator', async () => {
    const { order, deposit } = await dormant('5');
    const address = world.newAddress();
    const refund = { transactionId: String(order.id), customerId: order.customerId, address };
    assert.equal((await world.partner.put('offramp/refundDestination', refund)).status, 200);
    assert.equal(await agreed(await ada.does(`/deposits/${deposit}/refund`, { address })), 200);
    assert.equal(await reported(deposit), undefined);
    await isSound();
    await world.until('the refund is with the node', async () => {
      await world.mines(1);
      return (await world.tokensOf(address, 'usdc')) === '5';
    });
    await world.until('it is settled', async () => (await world.traceOf(order)).refunds[0]?.state === 'settled');
    assert.deepEqual(await casesAbout(`deposit:${deposit}`), []);
    await isSound();
  });

  test('is taken out of dormancy once when several operators ask at once, and its time starts again', async () => {
    const { deposit } = await dormant('6');
    const suspense = await held(SUSPENSE);
    const said = await Promise.all([ada, bea, ada, bea].map((one) => one.does(`/deposits/${deposit}/wake`)));
    assert.deepEqual(said.map(({ status }) => status).sort(), [200, 409, 409, 409], JSON.stringify(said));
    assert.equal(await reported(deposit), undefined);
    assert.equal((await held(SUSPENSE)) - suspense, 6_000_000n);
    await looksAtAll();
    assert.equal(await reported(deposit), undefined, 'it was announced again at once');
    const again = await ada.does(`/deposits/${deposit}/wake`);
    assert.deepEqual([again.status, again.body.reason], [409, 'does_not_fit']);
    await isSound();
  });

  test('stays in suspense while its customer is blocked, an operator holds it, or a person works on its case', async () => {
    const [blocked, kept, dealt] = [await unclaimed('7'), await unclaimed('8'), await unclaimed('9')];
    await sets(90);
    await passDays(61);
    assert.equal((await reported(blocked.deposit)).state, 'announced');
    await world.read((tx) => blockCustomer(tx, blocked.order.customerId, world.clock.now()));
    await ada.does(`/deposits/${kept.deposit}/hold`);
    await world.read((tx) =>
      requestRefund(world.server.orders, tx, {
        ...{ depositId: dealt.deposit, units: 9_000_000n, why: 'second', by: 'ada', now: world.clock.now() },
      }),
    );
    await passDays(31);
    for (const { order, deposit } of [blocked, kept, dealt]) assert.equal(await dormantUnits(order, deposit), 0n);
    for (const { deposit } of [blocked, kept]) assert.equal(await reported(deposit), undefined);
    assert.notEqual((await reported(dealt.deposit))?.state, 'dormant');
    await isSound();
  });

  test('leaves the books as it entered them when its chain reverses it', async () => {
    const order = await world.sells('10', 'usdc');
    await world.pays(order, '10');
    await world.mines(2);
    await world.reaches(order, 6);
    const second = await world.pays(order, '11');
    await world.mines(2);
    const deposit = await world.until('it lies in suspense', async () => {
      const { deposits } = await world.traceOf(order);
      return deposits.find(({ state }) => state === 'suspense')?.id;
    });
    await sets(90);
    await passDays(61);
    await passDays(31);
    assert.equal((await reported(deposit)).state, 'dormant');
    await world.reorgsAway(second);
    await world.until('it is gone', async () => {
      await world.mines(1);
      return (await world.traceOf(order)).deposits.find(({ id }) => id === deposit)?.state === 'reversed';
    });
    assert.equal(await reported(deposit), undefined);
    await isSound();
  });

  test('cannot be changed in the database while it is dormant', async () => {
    const { deposit } = await dormant('12');
    for (const sql of [
      `update deposits set state = 'reversed' where id = $1`,
      `update deposits set taken_units = 1, state = 'applied' where id = $1`,
    ])
      await assert.rejects(
        world.read((tx) => tx.run(sql, [deposit])),
        /is dormant/,
      );
    await isSound();
  });

  test('has settings whose refusal names the field and the rule', async () => {
    const short = await ada.does('/dormancy', { afterDays: 10, noticeDays: 11 });
    const said = short.status === 202 ? await bea.does(`/proposals/${short.body.proposal}/confirm`) : short;
    assert.deepEqual([said.status, said.body.fields], [400, { noticeDays: 'must be at most 10, as afterDays' }]);
    assert.equal((await ada.does('/dormancy', { afterDays: 0, noticeDays: 1 })).status, 400);
    assert.equal((await ada.does('/deposits/999999999/wake')).body.reason, 'unknown_deposit');
  });
});

describe('money that an order holds until a destination is named', () => {
  test('becomes dormant, and goes back when a destination is named', async () => {
    const order = await world.sells('20', 'usdc', { customer: await world.verifiedCustomer({ ending: '9001' }) });
    await world.pays(order, '20');
    await world.mines(2);
    await world.until('its payout was rejected', async () => (await world.stateOf(order)) === 'payout_held');
    await sets(90);
    await passDays(61);
    await passDays(31);
    const trace = await world.traceOf(order);
    assert.match(trace.heldBy, /unclaimed and dormant/);
    assert.deepEqual((await casesAbout(`order:${order.id}`)).includes('dormant'), true);
    await isSound();
    const address = world.newAddress();
    await world.rejects(order, { failure: 'other', address });
    await isSound();
    await world.refundArrives(order, -2);
    assert.equal(await world.tokensOf(address, 'usdc'), '20');
    await isSound();
  });
});
