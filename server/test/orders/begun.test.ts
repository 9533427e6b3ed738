/** Payouts whose submission begins in the transaction that decides on their order. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Unavailable } from '../../src/base/errors.ts';
import { enqueue } from '../../src/base/jobs.ts';
import { combined, openScreener, type StoredScreening } from '../../src/compliance/index.ts';
import { blockCustomer } from '../../src/customers/index.ts';
import { askGate, type Order, orderHandlers } from '../../src/orders/index.ts';
import { payoutOf, screeningOf, screeningSubject } from '../../src/orders/payouts/leaving.ts';
import { liftKillSwitch, setKillSwitch } from '../../src/partners/index.ts';
import type { GateAnswer } from '../../src/rails/payouts.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openSaleEnvironment } from '../support/sale.environment.ts';
import { until } from '../support/until.ts';

const SUBMIT_MS = 600;

let fixture: Fixture;
let world: Awaited<ReturnType<typeof openSaleEnvironment>>;
before(async () => {
  fixture = await freshFixture();
  world = await openSaleEnvironment(fixture, { submitMs: SUBMIT_MS, bank: { deduplicatesForMs: 86_400_000 } });
});
beforeEach(() => {
  world.sent.length = 0;
  world.gate.ask = undefined;
  world.bank.status = async () => ({ outcome: 'unknown', why: 'it does not say' });
});
after(() => fixture?.stop());

/** A sale whose deposit is confirmed and that nobody has screened yet. */
async function paid(): Promise<Order> {
  const order = await world.sells();
  await world.pays(order);
  return order;
}

const run = (kind: 'screen_order' | 'send_payout' | 'rescreen_payout', subject: string) =>
  world.handlers()[kind]?.(subject);
const screens = (order: Order) => run('screen_order', String(order.id));
const submits = (order: Order) => run('send_payout', `pay_${order.id}_1`);
const guardOf = async (order: Order) => (await world.jobsOf(order)).find(({ kind }) => kind === 'send_payout');

test('a payout that passes the gate is created as submitting, sent once, and recorded', async () => {
  const order = await paid();
  await screens(order);
  assert.deepEqual(
    world.sent.map(({ key }) => key),
    [`pay_${order.id}_1`],
  );
  const { state, submissions } = await world.payoutOf(order);
  assert.deepEqual({ state, submissions }, { state: 'submitted', submissions: 1 });
});

const ANSWERS: readonly [string, () => Promise<GateAnswer>][] = [
  ['wait', async () => ({ outcome: 'wait', why: 'a kill switch is on', againInMs: 5_000 })],
  ['hold', async () => ({ outcome: 'hold', why: 'held: customer_blocked' })],
  ['no answer', () => Promise.reject(new Unavailable('a list', 'it is not there'))],
];
for (const [name, answer] of ANSWERS) {
  test(`the gate’s ${name} leaves the payout to its job, and the order is paid out all the same`, async () => {
    const order = await paid();
    world.gate.ask = answer;
    await screens(order);
    assert.deepEqual(world.sent, []);
    assert.equal(await world.stateOf(order), 'paying_out');
    const { state, submissions } = await world.payoutOf(order);
    assert.deepEqual({ state, submissions }, { state: 'created', submissions: 0 });
    const guard = await guardOf(order);
    assert.ok(guard !== undefined && guard.dueAt <= fixture.clock.now(), 'its job is not due');
    if (name === 'hold') {
      await submits(order);
      assert.equal(await world.stateOf(order), 'payout_held');
      assert.deepEqual(world.sent, []);
      return;
    }
    world.gate.ask = undefined;
    await submits(order);
    assert.equal(world.sent.length, 1);
    assert.equal((await world.payoutOf(order)).state, 'submitted');
  });
}

test('a kill switch that is set before the decision commits stops the submission', async () => {
  const order = await paid();
  const { clock, db } = fixture;
  const stop = { kind: 'rail', subject: 'bank.test', by: 'a test', reason: 'an alarm', at: clock.now() } as const;
  await db.asSystem((tx) => setKillSwitch(tx, stop));
  await screens(order);
  assert.deepEqual(world.sent, []);
  assert.equal((await world.payoutOf(order)).state, 'created');
  await db.asSystem((tx) => liftKillSwitch(tx, 'rail', 'bank.test'));
  await submits(order);
  assert.equal(world.sent.length, 1);
});

test('a process that ends after the commit and before the call leaves a job that pays once', async () => {
  const order = await paid();
  const { context } = world;
  const dying = {
    ...context,
    submissions: {
      ask: async (...asked: Parameters<NonNullable<typeof context.submissions>['ask']>) => {
        const passed = await context.submissions?.ask(...asked);
        // The process ends here, and calls nothing.
        return passed && { ...passed, submit: async () => {} };
      },
    },
  };
  await orderHandlers(dying).screen_order?.(String(order.id));
  assert.deepEqual(world.sent, []);
  assert.equal((await world.payoutOf(order)).state, 'submitting');
  const guard = await guardOf(order);
  assert.ok(guard !== undefined && guard.dueAt > fixture.clock.now(), 'nobody looks at it once its time is over');
  // Its job, too early: it waits for the rest of the time, and sends nothing.
  const early = await submits(order);
  assert.ok(early !== undefined && early.againInMs > 0);
  assert.deepEqual(world.sent, []);
  world.bank.status = async () => ({ outcome: 'absent' });
  await until('its time is over', async () => (await submits(order), world.sent.length > 0));
  world.bank.status = async () => ({ outcome: 'known', reference: 'UTR' });
  await submits(order);
  assert.equal(world.sent.length, 1);
  const { state, submissions } = await world.payoutOf(order);
  assert.deepEqual({ state, submissions }, { state: 'submitted', submissions: 2 });
});

test('two workers that decide at once, and its job besides them, send one payment', async () => {
  const order = await paid();
  await Promise.all([screens(order), screens(order), screens(order)]);
  await submits(order);
  assert.equal(world.sent.length, 1);
  assert.equal((await world.payoutOf(order)).submissions, 1);
});

test('an answer that is lost leaves the payout unknown, and its job asks the bank', async () => {
  const order = await paid();
  const { answer } = world.bank;
  world.bank.answer = async () => ({ outcome: 'unknown', why: 'no answer' });
  try {
    await screens(order);
  } finally {
    world.bank.answer = answer;
  }
  assert.equal((await world.payoutOf(order)).state, 'unknown');
  const guard = await guardOf(order);
  assert.ok(guard !== undefined && guard.dueAt.getTime() - fixture.clock.now().getTime() < 5_000);
  world.bank.status = async () => ({ outcome: 'known', reference: 'UTR' });
  await submits(order);
  assert.equal((await world.payoutOf(order)).state, 'submitted');
  assert.equal(world.sent.length, 1);
});

test('a job that was enqueued meanwhile is not ended with the recording', async () => {
  const order = await paid();
  const { answer } = world.bank;
  const { clock, db } = fixture;
  world.bank.answer = async (sending) => {
    await db.asSystem((tx) => enqueue(tx, { kind: 'send_payout', subject: sending.key, dueAt: clock.now() }));
    return await answer(sending);
  };
  try {
    await screens(order);
  } finally {
    world.bank.answer = answer;
  }
  const guard = await guardOf(order);
  assert.ok(guard !== undefined && guard.dueAt <= clock.now());
});

test('a customer who is blocked before the decision is held in it, and nothing is sent', async () => {
  const order = await paid();
  await fixture.db.asSystem((tx) => blockCustomer(tx, order.customerId, fixture.clock.now()));
  await screens(order);
  assert.equal(await world.stateOf(order), 'on_hold');
  assert.deepEqual(world.sent, []);
});

test('a screening result that is too old is not decided on: the payout is left to its job, and screened again first', async () => {
  const order = await paid();
  const key = `pay_${order.id}_1`;
  const subject = await fixture.db.asSystem(async (tx) => screeningSubject(await payoutOf(tx, order)));
  let outcome: GateAnswer['outcome'] | undefined;
  world.gate.ask = async (tx, payout) => {
    // The deciding transaction stores its own result just before: it is replaced by one of the day before yesterday.
    await tx.run(`update screenings set at = at - interval '2 days' where subject = $1`, [subject]);
    const answer = await askGate(world.context, tx, payout);
    outcome = answer.outcome;
    return answer;
  };
  await screens(order);
  assert.deepEqual([outcome, world.sent.length], ['wait', 0]);
  const { state, submissions } = await world.payoutOf(order);
  assert.deepEqual({ state, submissions }, { state: 'created', submissions: 0 });
  world.gate.ask = undefined;
  await submits(order);
  assert.equal(world.sent.length, 0, 'its job sent it with that result');
  await run('rescreen_payout', key);
  await submits(order);
  assert.deepEqual(
    world.sent.map((sending) => sending.key),
    [key],
  );
});

test('the screener answers within a transaction only if nothing outside has to be asked first', async () => {
  const order = await paid();
  const { db, vault } = fixture;
  const input = await db.asSystem(async (tx) => screeningOf(await payoutOf(tx, order)));
  const none = { ensure: async () => {}, read: async () => ({ hits: [], rules: 'none' }), wait: async () => undefined };
  const within = async (stored: StoredScreening | undefined) =>
    (await db.asSystem((tx) => openScreener({ db, vault, stored }).within?.(tx, input)))?.outcome;
  assert.equal(await within(undefined), 'cleared');
  assert.equal(await within(none), undefined);
  assert.equal(await within({ ...none, isEnsured: async () => false }), undefined);
  assert.equal(await within({ ...none, isEnsured: async () => true }), 'cleared');
  assert.equal(await within(combined([none, { ...none, isEnsured: async () => true }])), undefined);
});

// Last, because later orders wait behind it.
test('an order whose conversion falls short creates no payout, although it passed the gate', async () => {
  const order = await world.sells(900_000_000_000n);
  await world.pays(order);
  await screens(order);
  assert.equal(await world.stateOf(order), 'awaiting_liquidity');
  assert.deepEqual(world.sent, []);
  await assert.rejects(world.payoutOf(order), /has no payout/);
});
