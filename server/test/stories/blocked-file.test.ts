/**
 * A customer who is blocked, and the files of a bank without an API, with the gate of a server: the payout is in no file that is
 * handed out, whenever the block comes, and an operator is told why.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { startWorkers } from '../../src/base/workers.ts';
import { askGate, type Order } from '../../src/orders/index.ts';
import { createServer } from '../../src/protocols/whitelabel/index.ts';
import { type ManualDesk, manualBank, openManualDesk, readManualBank } from '../../src/rails/manual/index.ts';
import { confirmedBy, oneOrTwoDo, operatorNamed, type Person, type Said } from '../protocols/operator/people.ts';
import { fetchDeclared } from '../support/declared.fetch.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { operatorApi } from '../support/operatorapi.ts';
import { openSaleEnvironment } from '../support/sale.environment.ts';
import { SETTINGS } from '../support/statements.ts';
import { until } from '../support/until.ts';

let fixture: Fixture;
let world: Awaited<ReturnType<typeof openSaleEnvironment>>;
let desk: ManualDesk;
let workers: Awaited<ReturnType<typeof startWorkers>>;
let app: ReturnType<typeof createServer>;
let baseUrl: string;
let ada: Person;
let bea: Person;

before(async () => {
  fixture = await freshFixture();
  const settings = readManualBank(JSON.stringify(SETTINGS));
  world = await openSaleEnvironment(fixture, {
    account: () => ({ name: 'Asha Rao', ifsc: 'HDFC0001234', account: String(randomInt(10 ** 11, 10 ** 12)) }),
    openBank(code, context) {
      const own = { ...settings, code };
      desk = openManualDesk(own, { ...context, gate: (tx, payout) => askGate(world.context, tx, payout) });
      return manualBank(own, context);
    },
  });
  const { db, clock, log } = fixture;
  workers = await startWorkers({ db, clock, log, handlers: world.handlers() });
  app = createServer({ log });
  await app.register(operatorApi(fixture, { bank: desk, rails: world.context.rails, orders: world.context }));
  baseUrl = await app.listen({ port: 0, host: '127.0.0.1' });
  ada = await operatorNamed({ ...fixture, baseUrl }, 'ada', 'admin');
  bea = await operatorNamed({ ...fixture, baseUrl }, 'bea', 'admin');
});
after(async () => {
  await workers?.stop();
  await app?.close();
  await fixture?.stop();
});

const agree = (path: string, body: Record<string, unknown> = {}): Promise<Said> => oneOrTwoDo(ada, bea, path, body);
const isIn = (order: Order, state: Order['state']) =>
  until(`the order is ${state}`, async () => (await world.stateOf(order)) === state);
/** Its payout is on the list for the next file. */
async function listed(): Promise<Order> {
  const order = await world.sells();
  await world.pays(order);
  await isIn(order, 'paying_out');
  await until('its payout is on the list', async () => (await world.payoutOf(order)).state === 'submitted');
  return order;
}
const blocks = async (order: Order): Promise<void> => {
  assert.equal((await ada.does(`/customers/${order.customerId}/block`)).status, 200);
};
/** What an operator is told in the open cases about the order. */
const whyHeld = async ({ id }: Order): Promise<string> => {
  const { body } = await ada.reads('/cases');
  const cases = body.cases as { subject: string; reason: string }[];
  return cases.flatMap(({ subject, reason }) => (subject === `order:${id}` ? [reason] : [])).join('\n');
};
const fileOf = async (id: bigint): Promise<string> =>
  (await fixture.db.asSystem((tx) => desk.file(tx, id))).bytes.toString();
const keyOf = ({ id }: Order) => `pay_${id}_1`;
const keysOf = ({ id }: Order) => new RegExp(`pay[-_]${id}[-_]`, 'i');
/** Every file that can be handed out now. */
async function files(): Promise<string> {
  const found: string[] = [];
  for (const { id } of await fixture.db.asSystem((tx) => desk.batches(tx)))
    found.push(await fileOf(id).catch(() => ''));
  return found.join('\n');
}

/** Two people download a closed file. @returns its bytes as text */
async function downloads(file: string): Promise<string> {
  const proposed = await ada.does(`/bank/files/${file}/download`);
  assert.equal(proposed.status, 202, JSON.stringify(proposed.body));
  const reply = await fetchDeclared(`${baseUrl}/operator/v1/proposals/${proposed.body.proposal}/confirm`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bea.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ reason: 'to be uploaded' }),
  });
  assert.equal(reply.status, 200);
  return await reply.text();
}

/**
 * One operator cannot release the order or try its payout again. Two can, because a release names the block that they let pass
 * (blocked-again.test.ts); until they do, no file of theirs has the payout. Another customer's payout is in each file.
 */
async function staysIn(order: Order): Promise<void> {
  for (const path of [`/orders/${order.id}/release`, `/orders/${order.id}/retry`]) {
    const alone = await ada.does(path);
    assert.notEqual(alone.status, 200, `${path} by one operator: ${JSON.stringify(alone.body)}`);
    if (alone.status === 202) assert.equal(alone.body.people, 2);
  }
  const other = await listed();
  const closed = await agree('/bank/files', { asset: 'inr' });
  assert.equal(closed.status, 200, JSON.stringify(closed.body));
  const file = await fileOf(BigInt(closed.body.id));
  assert.match(file, keysOf(other));
  assert.doesNotMatch(file, keysOf(order));
  assert.doesNotMatch(await files(), keysOf(order));
}

describe('a customer who is blocked', () => {
  test('before its payout is created: the order is held, and never on the list', async () => {
    const order = await world.sells();
    await blocks(order);
    await world.pays(order);
    await isIn(order, 'on_hold');
    assert.match(await whyHeld(order), /customer_blocked/);
    await staysIn(order);
  });

  test('while its payout waits for the next file: the file is closed without it, and the order is held', async () => {
    const [order, other] = [await listed(), await listed()];
    // Two people close it, and the block comes between them: what the first one saw cannot be closed any more.
    const proposed = await ada.does('/bank/files', { asset: 'inr' });
    assert.equal(proposed.status, 202, JSON.stringify(proposed.body));
    await blocks(order);
    const late = await confirmedBy(bea, proposed);
    assert.equal(late.status, 409, JSON.stringify(late.body));
    // A worker may have held the payout by now: then the proposal was about another list.
    assert.match(late.body.error, new RegExp(`${keyOf(order)} .* can no longer be in this file|has changed since`));
    assert.doesNotMatch(await files(), keysOf(order));
    const closed = await agree('/bank/files', { asset: 'inr' });
    assert.equal(closed.status, 200, JSON.stringify(closed.body));
    const file = await fileOf(BigInt(closed.body.id));
    assert.match(file, keysOf(other));
    assert.doesNotMatch(file, keysOf(order));
    await isIn(order, 'payout_held');
    assert.match(await whyHeld(order), /customer_blocked/);
    await staysIn(order);
  });

  test('after its file was closed: the file is not handed out, and after it is withdrawn the order is held', async () => {
    const [order, other] = [await listed(), await listed()];
    const closed = await agree('/bank/files', { asset: 'inr' });
    const { id: file } = closed.body;
    const proposed = await ada.does(`/bank/files/${file}/download`);
    assert.equal(proposed.status, 202, JSON.stringify(proposed.body));
    await blocks(order);
    const isRefused = ({ status, body }: Said) => {
      assert.equal(status, 409, JSON.stringify(body));
      assert.match(body.error, new RegExp(`1 of its payouts must not be paid now: ${keyOf(order)} .*customer_blocked`));
    };
    isRefused(await confirmedBy(bea, proposed));
    isRefused(await bea.does(`/bank/files/${file}/download`));
    assert.doesNotMatch(await files(), keysOf(order));
    assert.equal((await world.payoutOf(order)).state, 'submitted');
    const withdrawn = await agree(`/bank/files/${file}/withdraw`, { reason: 'the file was never downloaded' });
    assert.equal(withdrawn.status, 200, JSON.stringify(withdrawn.body));
    await isIn(order, 'payout_held');
    await staysIn(order);
    assert.notEqual(await world.stateOf(other), 'paying_out');
  });

  test('after its file was downloaded: nothing stops the payout, the reply names it as submitted, and a case says so', async () => {
    const order = await listed();
    const closed = await agree('/bank/files', { asset: 'inr' });
    assert.match(await downloads(closed.body.id), keysOf(order));
    const other = await world.sells();
    const said = await ada.does(`/customers/${order.customerId}/block`);
    assert.equal(said.status, 200, JSON.stringify(said.body));
    assert.deepEqual(said.body.underWay, { held: [], submitted: [keyOf(order)], orders: [] });
    const { cases } = (await ada.reads('/cases?kind=block_too_late')).body;
    const of = (customerId: string) =>
      cases.filter(({ subject }: { subject: string }) => subject === `customer:${customerId}`);
    const [late, ...more] = of(order.customerId);
    assert.deepEqual(more, []);
    assert.equal(late?.reason, '1 submitted before the block');
    const { facts } = (await ada.reads(`/cases/${late.id}`)).body;
    assert.deepEqual(facts.payouts, [keyOf(order)]);
    // It may have been paid, so it stays as it is until the bank's statement shows what happened.
    assert.equal((await world.payoutOf(order)).state, 'submitted');
    assert.equal(await world.stateOf(order), 'paying_out');
    assert.deepEqual(of(other.customerId), []);
  });
});
