/**
 * A block applies to the owner of the money, not only to its order's customer; and a repeated block is a new one: decisions about
 * the earlier block do not apply to it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import { addFiatAccount, blockCustomer, findCustomer, openFiatAccount } from '../../src/customers/index.ts';
import { refundOrder } from '../../src/orders/index.ts';
import { oneOrTwoDo, type Person, takes, twoDo } from '../protocols/operator/people.ts';
import { heldSale, strayCredit } from '../support/orders.ts';
import { openStaffedStory, operatorIn } from '../support/staffed.ts';
import type { Sale, Story, StoryCustomer } from '../support/story.ts';

let world: Story;
let ada: Person;
let finn: Person;
let nia: Person;

before(async () => {
  ({ world, ada, finn, nia } = await openStaffedStory({ ada: 'admin', finn: 'admin', nia: 'night' }));
});
after(async () => await world?.close());

const everything = { kind: 'payouts', subject: 'all' };
const bothDo = (path: string, body: Record<string, unknown> = {}) => twoDo(finn, ada, path, body);
const blocks = async ({ id }: Pick<StoryCustomer, 'id'>) => {
  const said = await ada.does(`/customers/${id}/block`);
  assert.equal(said.status, 200);
  return said.body.underWay;
};

const isOvertaken = async ({ body }: { body: { proposal?: string } }) => {
  const said = await ada.does(`/proposals/${body.proposal}/confirm`);
  assert.deepEqual([said.status, said.body.reason], [409, 'proposal_overtaken'], JSON.stringify(said.body));
};

const refundOf = (deposit: bigint) =>
  world.read((tx) =>
    tx.row<{ state: string }>('select state from refunds where deposit_id = $1 order by id desc limit 1', [deposit]),
  );
/** A state in which it stays, or which shows that it left. */
const ends = (deposit: bigint) =>
  world.until('its refund is held, or on its way', async () => {
    const state = (await refundOf(deposit))?.state ?? '';
    return ['held', 'rejected', 'submitted', 'settled'].includes(state) ? state : undefined;
  });

async function creditOfNobody(): Promise<{ deposit: bigint; customer: StoryCustomer }> {
  const customer = await world.verifiedCustomer();
  return { deposit: await strayCredit(world, await world.buys('500', 'usdc', { customer }), '300'), customer };
}

test('money of no order does not go to an account of a blocked customer, unless two let it pass the block', async () => {
  const { deposit, customer } = await creditOfNobody();
  await blocks(customer);
  const back = { fiatAccountId: customer.fiatAccountId };
  await bothDo(`/deposits/${deposit}/refund`, back);
  assert.equal(await ends(deposit), 'held');
  await bothDo(`/deposits/${deposit}/refund`, { ...back, pastHits: true });
  await world.until('it goes back', async () => (await refundOf(deposit))?.state === 'settled');
});

test('money of no order that waits to be submitted is held when the owner of its account is blocked', async () => {
  const { deposit, customer } = await creditOfNobody();
  assert.equal((await ada.does('/kill-switches', everything)).status, 200);
  await bothDo(`/deposits/${deposit}/refund`, { fiatAccountId: customer.fiatAccountId });
  await world.until('its payout is created', async () => (await refundOf(deposit))?.state === 'created');
  const { held } = await blocks(customer);
  assert.equal(held.length, 1, 'the reply does not name the refund to the account of the blocked customer');
  assert.equal((await oneOrTwoDo(finn, ada, '/kill-switches/lift', everything)).status, 200);
  assert.equal(await ends(deposit), 'rejected');
});

test('a payout that people let pass a block is not paid once its customer is blocked again', async () => {
  const customer = await world.verifiedCustomer();
  const { order } = await heldSale(world, '10', { customer });
  await blocks(customer);
  assert.equal((await ada.does('/kill-switches', everything)).status, 200);
  await bothDo(`/orders/${order.id}/release`);
  await world.until('its payout waits', async () => (await world.stateOf(order)) === 'paying_out');
  await blocks(customer);
  assert.equal((await oneOrTwoDo(finn, ada, '/kill-switches/lift', everything)).status, 200);
  await leavesOrIsHeld(order);
  assert.equal(await world.stateOf(order), 'payout_held');
});

test('a second customer with the account of a blocked one is paid only if two people let it pass that block', async () => {
  const [one, two] = [await world.verifiedCustomer(), await world.verifiedCustomer()];
  const shared = await world.read(async (tx) => {
    const { details } = await openFiatAccount(tx, world.vault, BigInt(one.fiatAccountId));
    const customer = await findCustomer(tx, two.id);
    return await addFiatAccount(tx, world.vault, { customer, fiat: 'inr', details, now: world.clock.now() });
  });
  const second = { id: two.id, fiatAccountId: String(shared.id) };
  const order = await world.sells('10', 'usdc', { customer: second });
  await blocks(one);
  await world.pays(order, '10');
  await world.mines(2);
  await world.becomes(order, 'on_hold');
  const release = `/orders/${order.id}/release`;
  const alone = await finn.does(release);
  assert.equal(alone.status, 202, JSON.stringify(alone.body));
  assert.equal(await world.stateOf(order), 'on_hold', 'one person released it');
  await blocks(one);
  await isOvertaken(alone);
  assert.equal(await world.stateOf(order), 'on_hold');
  await bothDo(release);
  await world.becomes(order, 'settled');
});

test('of fifty orders that are paid while their customer is being blocked, none is paid after the block', async () => {
  const ORDERS = 50;
  const customer = await world.verifiedCustomer();
  // Each with a text of its own: two equal requests in the same millisecond count as one.
  const sell = (at: number) => world.sells('10', 'usdc', { customer, reference: `one-of-fifty-${at}` });
  const orders = await Promise.all(Array.from({ length: ORDERS }, (_, at) => sell(at)));
  assert.equal((await ada.does('/kill-switches', everything)).status, 200);
  for (const order of orders) await world.pays(order, '10');
  await world.mines(2);
  const states = () =>
    world.read((tx) => tx.rows<{ state: string }>('select state from orders where customer_id = $1', [customer.id]));
  const areAll = async (...wanted: string[]) => (await states()).every(({ state }) => wanted.includes(state));
  await world.until('all payouts wait', () => areAll('paying_out'), WITHIN_MS);
  const submitted = (tx: Tx) =>
    tx.rows<{ orderId: bigint }>(
      `select p.order_id from payouts p join orders o on o.id = p.order_id
        where o.customer_id = $1 and p.submissions > 0 order by p.order_id`,
      [customer.id],
    );
  assert.equal((await oneOrTwoDo(finn, ada, '/kill-switches/lift', everything)).status, 200);
  await world.until('the first is submitted', async () => (await world.read(submitted)).length > 0);
  // The block waits for submissions that are under way, so exactly these have left when it is committed.
  const left = await world.read(async (tx) => {
    await blockCustomer(tx, customer.id, world.clock.now());
    return await submitted(tx);
  });
  await world.until('all are paid or held', () => areAll('settled', 'on_hold', 'payout_held'), WITHIN_MS);
  const payments = new Set((await world.bank.payments()).map(({ key }) => key));
  const paid = orders.filter(({ id }) => payments.has(`pay_${id}_1`)).map(({ id }) => id);
  assert.deepEqual(paid.toSorted(), left.map(({ orderId }) => orderId).toSorted());
  assert.deepEqual(await world.read(submitted), left);
  const held = (await states()).filter(({ state }) => state !== 'settled');
  assert.equal(held.length, ORDERS - left.length);
  assert.ok(held.length > 0, 'the block came after the last payment, so this shows nothing');
});
/** Fifty payments on a busy machine. */
const WITHIN_MS = 60_000;

const leavesOrIsHeld = (order: Sale) =>
  world.until('it is held, or has left', async () =>
    ['on_hold', 'payout_held', 'settled'].includes(await world.stateOf(order)),
  );

test('a proposal to release a deposit, or to resume a partner, ends no hold and no suspension that was laid since', async () => {
  const { deposit, customer } = await creditOfNobody();
  const { partnerId } = await world.read((tx) => findCustomer(tx, customer.id));
  await world.read((tx) => takes(tx, 2, { action: 'partner.resume' }));
  for (const [stop, go, path] of [
    ['hold', 'release', `/deposits/${deposit}`],
    ['suspend', 'resume', `/partners/${partnerId}`],
  ] as const) {
    assert.equal((await ada.does(`${path}/${stop}`)).status, 200);
    const proposed = await finn.does(`${path}/${go}`);
    assert.equal(proposed.status, 202, JSON.stringify(proposed.body));
    assert.equal((await ada.does(`${path}/${stop}`)).status, 200);
    await isOvertaken(proposed);
    await bothDo(`${path}/${go}`);
  }
});

test('a proposal to unblock a customer does not end a block that was laid since', async () => {
  const customer = await world.verifiedCustomer();
  await blocks(customer);
  const proposed = await finn.does(`/customers/${customer.id}/unblock`);
  assert.equal(proposed.status, 202);
  await blocks(customer);
  await isOvertaken(proposed);
  await bothDo(`/customers/${customer.id}/unblock`);
});

test('a proposal to lift a kill switch does not lift one that the same person has set again', async () => {
  const all = { kind: 'payouts', subject: 'all' };
  const sets = async () => assert.equal((await ada.does('/kill-switches', all)).status, 200);
  await world.read((tx) => takes(tx, 2, { action: 'kill-switch.lift' }));
  await sets();
  const proposed = await finn.does('/kill-switches/lift', all);
  assert.equal(proposed.status, 202, JSON.stringify(proposed.body));
  await sets();
  await isOvertaken(proposed);
  assert.equal((await finn.reads('/kill-switches')).body.killSwitches.length, 1, 'it was lifted');
  await bothDo('/kill-switches/lift', all);
  assert.equal((await finn.reads('/kill-switches')).body.killSwitches.length, 0);
});

test('a proposal to enable an operator, or to lift a legal hold, undoes nothing that was laid since', async () => {
  const { id } = await world.verifiedCustomer();
  await operatorIn(world, 'otto', 'support');
  for (const [stop, go, path] of [
    ['disable', 'enable', '/operators/otto'],
    ['legal-hold', 'lift-legal-hold', `/customers/${id}`],
  ] as const) {
    assert.equal((await ada.does(`${path}/${stop}`)).status, 200);
    const proposed = await finn.does(`${path}/${go}`);
    assert.equal(proposed.status, 202, JSON.stringify(proposed.body));
    assert.equal((await ada.does(`${path}/${stop}`)).status, 200);
    await isOvertaken(proposed);
    await bothDo(`${path}/${go}`);
  }
});

describe('an order that is held already, and that the night desk holds for another reason', () => {
  const holds = async ({ id }: { id: bigint }, reason: string) => {
    const said = await nia.does(`/orders/${id}/hold`, { reason });
    assert.equal(said.status, 200, JSON.stringify(said.body));
  };
  const reasonOf = async (order: Sale) => {
    const [last] = (await world.traceOf(order)).history.toReversed();
    return [last?.event, last?.facts?.by, (await world.openCaseKinds(order)).length];
  };

  test('is not paid by a release that was proposed before', async () => {
    await world.read((tx) => takes(tx, 2, { action: 'order.release' }));
    const { order } = await heldSale(world, '10');
    const proposed = await finn.does(`/orders/${order.id}/release`);
    assert.equal(proposed.status, 202, JSON.stringify(proposed.body));
    await holds(order, 'the number is on a list of the police');
    await isOvertaken(proposed);
    assert.deepEqual([await world.stateOf(order), ...(await reasonOf(order))], ['on_hold', 'held', 'nia', 1]);
    assert.equal((await nia.does(`/orders/${order.id}/release`)).status, 403, 'the night desk released it');
    await bothDo(`/orders/${order.id}/release`);
    await world.until('it goes on', async () => (await world.stateOf(order)) !== 'on_hold');
  });

  test('is not refunded by an earlier decision, even if people confirmed it in an earlier transaction', async () => {
    const { order } = await heldSale(world, '10');
    const refund = (to: Record<string, string> = {}) =>
      oneOrTwoDo(finn, ada, `/orders/${order.id}/refund`, { failure: 'other', ...to });
    assert.equal((await refund()).status, 200);
    const { version } = (await world.traceOf(order)).order;
    await holds(order, 'somebody else claims it');
    const address = world.newAddress();
    const named = await world.partner.put('offramp/refundDestination', {
      ...{ customerId: order.customerId, transactionId: String(order.id), address },
    });
    assert.equal(named.status, 200, JSON.stringify(named.body));
    const late = {
      orderId: order.id,
      by: 'finn',
      people: ['finn', 'ada'],
      why: 'a test',
      seenVersion: version,
      now: world.clock.now(),
    };
    await assert.rejects(refundOrder(world.server.orders, late, { failure: 'other', address }), { code: 'order_over' });
    assert.deepEqual([await world.stateOf(order), (await world.traceOf(order)).refunds], ['on_hold', []]);
    const said = await refund({ address });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    await world.refundArrives(order, -2);
  });

  test('with its payout rejected, or its refund, it gets the new reason and waits', async () => {
    const refused = await world.sells('10', 'usdc', { customer: await world.verifiedCustomer({ ending: '9001' }) });
    await world.pays(refused, '10');
    await world.mines(2);
    await world.until('its payout is refused', async () => (await world.stateOf(refused)) === 'payout_held');
    const { order: back } = await heldSale(world, '10');
    assert.equal((await ada.does('/kill-switches', everything)).status, 200);
    const refund = `/orders/${back.id}/refund`;
    const said = await oneOrTwoDo(finn, ada, refund, { failure: 'other', address: world.newAddress() });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    await holds(back, 'the first reason');
    await bothDo('/kill-switches/lift', everything);
    for (const [order, state] of [
      [refused, 'payout_held'],
      [back, 'refund_held'],
    ] as const) {
      await holds(order, 'one reason');
      const { version } = (await world.traceOf(order)).order;
      await holds(order, 'another reason');
      assert.deepEqual([await world.stateOf(order), ...(await reasonOf(order))], [state, 'held', 'nia', 1]);
      assert.equal((await world.traceOf(order)).order.version, version + 1, 'a proposal of before would stand');
    }
    await bothDo(`/orders/${refused.id}/release`);
    assert.deepEqual(await world.openCaseKinds(refused), ['payout_held']);
  });
});
