/**
 * Credits that a bank can still recall: no money from one leaves before it has cleared, whatever state its order is in, and a
 * customer who was paid from a credit that is recalled later owes it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findCustomer } from '../../src/customers/index.ts';
import { notReady, orderFacts } from '../../src/orders/index.ts';
import type { OrderState } from '../../src/orders/machine.ts';
import { type Person, twoDo } from '../protocols/operator/people.ts';
import { paysAfterAll } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Story, StoryCustomer } from '../support/story.ts';

const HOUR_S = 3_600;

let world: Story;
let ada: Person;
let finn: Person;

before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
});
after(async () => await world?.close());

type Then = 'hold' | 'refund' | 'new_order';

const refunds = async (order: Purchase) => (await world.traceOf(order)).refunds.map(({ state }) => state);
const depositsOf = async (order: Purchase) => (await world.traceOf(order)).deposits;
const followedBy = async (order: Purchase) => (await world.traceOf(order)).followedBy;
const owedBy = async ({ customerId }: Purchase) => (await world.balances()).get(`receivable:${customerId}:inr`) ?? 0n;

/** A job of this kind about the subject has run and waits for a later time. */
const waits = (kind: string, subject: string) =>
  world.until(`${kind} ${subject} waits`, async () => {
    const rows = await world.read((tx) =>
      tx.rows('select from jobs where kind = $1 and subject = $2 and due_at > $3 and lease is null', [
        kind,
        subject,
        new Date(world.clock.now().getTime() + 60_000),
      ]),
    );
    return rows.length === 1;
  });

async function does(path: string, body: Record<string, unknown> = {}): Promise<void> {
  const said = await finn.does(path, body);
  assert.equal(said.status, 200, `${path}: ${JSON.stringify(said.body)}`);
}

const bothDo = (path: string, body: Record<string, unknown>) => twoDo(finn, ada, path, body);

async function recalls(line: string): Promise<void> {
  await world.bank.recall(line);
  await world.looksAtTheBank();
}

const namesAccount = (order: Purchase, { fiatAccountId }: { fiatAccountId: string }) =>
  does(`/orders/${order.id}/destination`, { fiatAccountId });

/** An expired purchase, and what its policy does with a late deposit. */
async function expired(then: Then, clearsInS: number): Promise<Purchase> {
  await world.goesBy('onramp', 'usdc', { late: { then } });
  await world.clears('inr', clearsInS);
  const customer = await world.verifiedCustomer();
  const order = await world.buys('5000', 'usdc', { customer });
  await namesAccount(order, customer);
  await world.deadlinePasses();
  await world.reaches(order, -1);
  return order;
}

const suspended = (order: Purchase) =>
  world.until('the deposit is in suspense', async () =>
    (await depositsOf(order)).find(({ state }) => state === 'suspense'),
  );

describe('a credit that comes late, on a market whose credits can be recalled for an hour', () => {
  test('becomes a new order once it has cleared, and not before', async () => {
    const order = await expired('new_order', HOUR_S);
    await world.credits(order, '5000');
    const deposit = await suspended(order);
    await waits('create_follow_on_order', String(deposit.id));
    assert.deepEqual(await followedBy(order), []);
    assert.deepEqual(await world.openCaseKinds(order), ['deposit_late']);
    world.clock.advance(HOUR_S * 1000);
    const [id = 0n] = await world.until('there is a new order', async () => {
      const found = await followedBy(order);
      return found.length > 0 && found;
    });
    const next = { ...order, id };
    await world.payoutIsSubmitted(next);
    await world.mines(2);
    await world.reaches(next, 4);
    assert.deepEqual(await world.openCaseKinds(order), []);
  });

  test('recalled before that, becomes no order, and leaves the books as they were', async () => {
    const order = await expired('new_order', HOUR_S);
    const books = await world.balances();
    const line = await world.credits(order, '5000');
    const deposit = await suspended(order);
    await waits('create_follow_on_order', String(deposit.id));
    await recalls(line);
    await world.until('it is reversed', async () => (await depositsOf(order))[0]?.state === 'reversed');
    world.clock.advance(HOUR_S * 1000);
    await world.until('nothing waits for it any more', async () => {
      const rows = await world.read((tx) =>
        tx.rows(`select from jobs where kind = 'create_follow_on_order' and subject = $1`, [String(deposit.id)]),
      );
      return rows.length === 0;
    });
    assert.deepEqual(await followedBy(order), []);
    assert.deepEqual(await world.changesSince(books), {});
    assert.equal(await world.isBlocked(order), false);
  });

  test('goes back once it has cleared, and not before', async () => {
    const order = await expired('refund', HOUR_S);
    const books = await world.balances();
    await world.credits(order, '5000');
    const refund = await world.until('a refund waits', async () => (await world.traceOf(order)).refunds[0]);
    await waits('screen_refund', String(refund.id));
    assert.deepEqual(await refunds(order), ['screening']);
    assert.deepEqual((await world.traceOf(order)).payouts, []);
    world.clock.advance(HOUR_S * 1000);
    await world.until('it is paid', async () => (await refunds(order))[0] === 'settled');
    assert.deepEqual(await world.changesSince(books), {});
  });

  test('recalled before that, does not go back, and makes no debt', async () => {
    const order = await expired('refund', HOUR_S);
    const books = await world.balances();
    const line = await world.credits(order, '5000');
    const refund = await world.until('a refund waits', async () => (await world.traceOf(order)).refunds[0]);
    await waits('screen_refund', String(refund.id));
    await recalls(line);
    await world.until('it is cancelled', async () => (await refunds(order))[0] === 'cancelled');
    assert.deepEqual(await world.changesSince(books), {});
    assert.deepEqual((await world.traceOf(order)).payouts, []);
    assert.equal(await world.isBlocked(order), false);
  });

  test('clears earlier when a partner advances its clock in the sandbox', async () => {
    const order = await expired('refund', HOUR_S);
    await world.credits(order, '5000');
    const refund = await world.until('a refund waits', async () => (await world.traceOf(order)).refunds[0]);
    await waits('screen_refund', String(refund.id));
    const said = await world.partner.post('/sandbox/v1/clock', { advance: '1h' });
    assert.equal(said.status, 200, said.text);
    await world.until('it is paid', async () => (await refunds(order))[0] === 'settled');
  });
});

test('a credit without a reference that an operator assigns to an order has to clear all the same', async () => {
  await world.clears('inr', HOUR_S);
  const order = await world.buys('5000', 'usdc');
  await world.credits(order, '5000', { text: 'for my coins' });
  const [row] = await world.until('it is in suspense', async () => {
    const rows = await world.read((tx) =>
      tx.rows<{ id: bigint; clearsAt: Date | null; seenAt: Date }>(
        `select id, clears_at, seen_at from deposits where order_id is null and state = 'suspense' order by id desc limit 1`,
      ),
    );
    return rows.length > 0 && rows;
  });
  assert(row);
  assert.equal(row.clearsAt?.getTime(), row.seenAt.getTime() + HOUR_S * 1000);
  await bothDo(`/deposits/${row.id}/assign`, { order: String(order.id) });
  await world.until('it is the order’s', async () => (await depositsOf(order))[0]?.state === 'applied');
  const { rails } = world.server;
  const asked = async () => {
    const deposits = await depositsOf(order);
    return await world.read((tx) => notReady({ rails }, tx, deposits, world.clock.now()));
  };
  assert.equal((await asked())?.cause, 'clearing');
  await world.until('the payout is created', async () => (await world.traceOf(order)).payouts.length === 1);
  // The gate holds it back before it is submitted.
  assert.equal((await world.traceOf(order)).payouts[0]?.state, 'created');
  assert.deepEqual(await world.transfersTo(order), []);
  // The partner's clock also advances the payout that waits at the gate.
  const said = await world.partner.post('/sandbox/v1/clock', { advance: '1h' });
  assert.equal(said.status, 200, said.text);
  assert.equal(await asked(), undefined);
  await world.payoutIsSubmitted(order);
  await world.mines(2);
  await world.reaches(order, 4);
});

/** A credit without a reference, which operators assign to the order before it has cleared. @returns the bank's line */
async function assigned(order: Purchase, path = 'assign'): Promise<string> {
  const line = await world.credits(order, '5000', { text: 'for my coins' });
  const [row] = await world.until('it is in suspense', async () => {
    const rows = await world.read((tx) =>
      tx.rows<{ id: bigint }>(`select id from deposits where external_id = $1 and state = 'suspense'`, [line]),
    );
    return rows.length > 0 && rows;
  });
  await bothDo(`/deposits/${row?.id}/${path}`, { order: String(order.id) });
  return line;
}

/** The reason why the newest refund of an order is not submitted yet; undefined once it is submitted. */
const refundWaitsFor = (order: { id: bigint }) =>
  world.until('its refund is submitted or waits', async () => {
    const [row] = await world.read((tx) =>
      tx.rows<{ waitsFor: string | null; state: string }>(
        `select p.waits_for, p.state from payouts p join refunds r on r.id = p.refund_id where r.order_id = $1
          order by p.created_at desc limit 1`,
        [order.id],
      ),
    );
    if (row === undefined || (row.state === 'created' && row.waitsFor === null)) return false;
    return { waitsFor: row.state === 'created' ? row.waitsFor : undefined };
  });

test('an order released by legal act waits until the credit behind it has cleared', async () => {
  await world.goesBy('onramp', 'usdc', {});
  await world.clears('inr', HOUR_S);
  const order = await world.buys('5000', 'usdc');
  await assigned(order);
  await world.until('the payout is created', async () => (await world.traceOf(order)).payouts.length === 1);
  await does(`/orders/${order.id}/block`);
  await bothDo(`/orders/${order.id}/release-blocked`, { legalAct: 'court 21/2026' });
  const released = (await depositsOf(order)).find(({ origin }) => origin === 'released');
  await does(`/deposits/${released?.id}/refund`, { address: order.address });
  assert.match((await refundWaitsFor(order)).waitsFor ?? '', /take the money back/);
  assert.deepEqual(await world.transfersTo(order), []);
  world.clock.advance(HOUR_S * 1000);
  await world.until('it is submitted', async () => (await refunds(order))[0] === 'submitted');
  await world.mines(2);
  await world.until('it is paid', async () => (await refunds(order))[0] === 'settled');
});

/** The bank may recall the credit of a paid order for one more hour: sets the stored time. */
const clearsLater = ({ id }: { id: bigint }) =>
  world.read((tx) =>
    tx.run(`update deposits set clears_at = $2 where order_id = $1 and origin = 'rail'`, [
      id,
      new Date(world.clock.now().getTime() + HOUR_S * 1000),
    ]),
  );

test('a returned payout, sent to another account, leaves once the credit of its order has cleared', async () => {
  const customer = await world.verifiedCustomer({ ending: '9002' });
  const order = await world.sells('10', 'usdc', { customer });
  await world.pays(order, '10');
  await world.mines(2);
  await world.opensCase(order, 'payout_returned');
  await clearsLater(order);
  const { fiatAccountId } = await world.verifiedAccount(customer.id);
  await does(`/orders/${order.id}/destination`, { fiatAccountId });
  assert.match((await refundWaitsFor(order)).waitsFor ?? '', /take the money back/);
  const paid = async () =>
    (await world.traceOf(order)).payouts.filter(({ purpose, submittedAt }) => purpose === 'payout' && submittedAt);
  assert.equal((await paid()).length, 1, 'not only the returned payment was made');
  world.clock.advance(HOUR_S * 1000);
  await world.until('it is paid', async () => (await world.traceOf(order)).refunds[0]?.state === 'settled');
  assert.equal((await paid()).length, 2);
});

test('a compensation of a fee leaves once the credit of its order has cleared', async () => {
  await world.clears('inr', 0);
  const order = await world.buys('5000', 'usdc', { customer: await world.verifiedCustomer() });
  await world.credits(order, '5000');
  await world.payoutIsSubmitted(order);
  await world.mines(2);
  await world.becomes(order, 'settled');
  await clearsLater(order);
  const { fiatAccountId } = await world.verifiedAccount(order.customerId);
  await bothDo(`/orders/${order.id}/compensate`, { fee: 'operator', amount: '1.50', asset: 'inr', fiatAccountId });
  assert.match((await refundWaitsFor(order)).waitsFor ?? '', /take the money back/);
  world.clock.advance(HOUR_S * 1000);
  await world.until('it is paid', async () => (await refunds(order))[0] === 'settled');
});

test('what a bank returns beyond what was sent has to clear before it leaves', async () => {
  await world.goesBy('onramp', 'usdc', {});
  await world.clears('inr', 0);
  const customer = await world.verifiedCustomer();
  const order = await world.buys('5000', 'usdc', { customer, reference: 'screen:hold' });
  await world.credits(order, '5000');
  await world.becomes(order, 'on_hold');
  await world.rejects(order, { failure: 'other', fiatAccountId: BigInt(customer.fiatAccountId) });
  await world.until('the refund is paid', async () => (await refunds(order))[0] === 'settled');
  const [paid] = (await world.traceOf(order)).payouts;
  assert(paid);
  await world.clears('inr', HOUR_S);
  await world.bankReturns(paid.id, paid.units + 590n);
  const rest = await world.until('the rest is in suspense', async () =>
    (await depositsOf(order)).find(({ origin }) => origin === 'credit'),
  );
  await does(`/deposits/${rest.id}/refund`, { fiatAccountId: customer.fiatAccountId });
  const refundOfRest = async () => (await world.traceOf(order)).refunds.find(({ depositId }) => depositId === rest.id);
  await waits('screen_refund', String((await refundOfRest())?.id));
  assert.equal((await refundOfRest())?.state, 'screening');
  world.clock.advance(HOUR_S * 1000);
  await world.until('it is paid', async () => (await refundOfRest())?.state === 'settled');
});

test('what comes back of a refund that another attempt has paid is our own money: it is unassigned, and cleared', async () => {
  await world.goesBy('onramp', 'usdc', {});
  await world.clears('inr', 0);
  const customer = await world.verifiedCustomer({ ending: '9001' });
  const order = await world.buys('5000', 'usdc', { customer, reference: 'screen:hold' });
  await world.credits(order, '5000');
  await world.becomes(order, 'on_hold');
  await world.rejects(order, { failure: 'other', fiatAccountId: BigInt(customer.fiatAccountId) });
  await world.becomes(order, 'refund_held');
  const { fiatAccountId } = await world.verifiedAccount(customer.id);
  await does(`/orders/${order.id}/retry-refund`, { fiatAccountId });
  await world.becomes(order, 'refunded');
  await paysAfterAll(world, order);
  const [first] = (await world.traceOf(order)).payouts;
  assert(first);
  await world.clears('inr', HOUR_S);
  await world.bankReturns(first.id, first.units);
  assert.equal((await world.opensCase(order, 'payout_returned')).reason, 'account_closed');
  const back = (await depositsOf(order)).find(({ origin }) => origin === 'credit');
  assert.deepEqual([back?.units, back?.clearsAt], [first.units, back?.seenAt]);
});

test('what a bank returns beyond a payout has to clear before it leaves, and the payout’s own money does not', async () => {
  await world.goesBy('offramp', 'usdc', {});
  await world.clears('inr', HOUR_S);
  const order = await world.sells('10', 'usdc');
  await world.pays(order, '10');
  await world.mines(2);
  await world.reaches(order, 6);
  const [paid] = (await world.traceOf(order)).payouts;
  assert(paid);
  const deposits = async () => (await world.traceOf(order)).deposits;
  await world.bankReturns(paid.id, paid.units + 590n);
  const rest = await world.until('the rest is in suspense', async () =>
    (await deposits()).find(({ origin }) => origin === 'credit'),
  );
  const own = (await deposits()).find(({ origin }) => origin === 'returned');
  assert.deepEqual([own?.units, rest.units], [paid.units, 590n]);
  const refundOf = async (depositId: bigint | undefined) =>
    (await world.traceOf(order)).refunds.find((one) => one.depositId === depositId);
  const to = { fiatAccountId: (await world.verifiedAccount(order.customerId)).fiatAccountId };
  await does(`/deposits/${rest.id}/refund`, to);
  await does(`/orders/${order.id}/destination`, to);
  const isPaid = (what: string, id: bigint | undefined) =>
    world.until(`${what} is paid`, async () => {
      await world.looksAtTheBank();
      return (await refundOf(id))?.state === 'settled';
    });
  await isPaid('the payout', own?.id);
  await waits('screen_refund', String((await refundOf(rest.id))?.id));
  assert.equal((await refundOf(rest.id))?.state, 'screening');
  world.clock.advance(HOUR_S * 1000);
  await isPaid('the rest', rest.id);
});

describe('a credit that is recalled after it was refunded is a debt of its customer', () => {
  async function paidBack(order: Purchase): Promise<void> {
    await world.until('the refund is paid', async () => (await refunds(order))[0] === 'settled');
  }

  async function owes(order: Purchase, state: OrderState): Promise<void> {
    await world.opensCase(order, 'customer_owes');
    assert.equal(await owedBy(order), 500_000n);
    assert.equal(await world.isBlocked(order), true);
    assert.equal(await world.stateOf(order), state);
  }

  test('for a late deposit of an expired order', async () => {
    const order = await expired('refund', 0);
    const books = await world.balances();
    const line = await world.credits(order, '5000');
    await paidBack(order);
    await recalls(line);
    await owes(order, 'expired');
    assert.equal((await world.changesSince(books))['loss:inr'], undefined);
  });

  test('for a late deposit of a cancelled order', async () => {
    await world.goesBy('onramp', 'usdc', { late: { then: 'refund' } });
    await world.clears('inr', 0);
    const customer = await world.verifiedCustomer();
    const order = await world.buys('5000', 'usdc', { customer });
    await namesAccount(order, customer);
    await does(`/orders/${order.id}/cancel`);
    const line = await world.credits(order, '5000');
    await paidBack(order);
    await recalls(line);
    await owes(order, 'cancelled');
  });

  test('for a second deposit of an order on hold, which stays on hold with its first', async () => {
    await world.goesBy('onramp', 'usdc', { second: { then: 'refund' } });
    await world.clears('inr', 0);
    const customer = await world.verifiedCustomer();
    const order = await world.buys('5000', 'usdc', { customer, reference: 'screen:hold' });
    await namesAccount(order, customer);
    await world.credits(order, '5000');
    await world.becomes(order, 'on_hold');
    const line = await world.credits(order, '5000');
    await paidBack(order);
    await recalls(line);
    await owes(order, 'on_hold');
  });

  test('for one of two parts, where the bank rejected the refund of the other', async () => {
    await world.goesBy('onramp', 'usdc', {});
    await world.clears('inr', 0);
    const customer = await world.verifiedCustomer();
    const order = await world.buys('10000', 'usdc', { customer, reference: 'screen:hold' });
    const line = await world.credits(order, '5000');
    await world.credits(order, '5000');
    await world.becomes(order, 'on_hold');
    await does('/kill-switches', { kind: 'payouts', subject: 'all' });
    await does(`/orders/${order.id}/refund`, { failure: 'other', fiatAccountId: customer.fiatAccountId });
    const { refunds: parts, deposits } = await world.traceOf(order);
    const paid = deposits.find(({ externalId: id }) => id === line);
    const other = parts.find(({ depositId }) => depositId !== paid?.id);
    assert(paid && other);
    await world.read(async (tx) => {
      await orderFacts(world.server.orders)(tx, {
        type: 'payout_rejected',
        rail: other.rail,
        key: other.key ?? '',
        why: 'account_closed',
      });
    });
    await does('/kill-switches/lift', { kind: 'payouts', subject: 'all' });
    await world.becomes(order, 'refund_held');
    await recalls(line);
    await owes(order, 'refund_held');
  });

  test('and one that was not refunded makes no debt', async () => {
    await world.goesBy('onramp', 'usdc', {});
    await world.clears('inr', 0);
    const order = await world.buys('5000', 'usdc', { reference: 'screen:hold' });
    const line = await world.credits(order, '5000');
    await world.becomes(order, 'on_hold');
    await recalls(line);
    await world.opensCase(order, 'deposit_lost');
    assert.equal(await owedBy(order), 0n);
    assert.equal(await world.isBlocked(order), false);
  });

  test('also for a credit without an order: the debtor is the holder of the account it was refunded to', async () => {
    await world.clears('inr', 0);
    const customer: StoryCustomer = await world.verifiedCustomer();
    const before = await world.read((tx) => tx.rows<{ id: bigint }>('select max(id) as id from deposits'));
    const line = await world.bank.creditAccount({ currency: 'INR', units: 700_000n, text: 'hello' });
    await world.looksAtTheBank();
    const id = await world.until('it is in suspense', async () => {
      const rows = await world.read((tx) =>
        tx.rows<{ id: bigint }>(`select id from deposits where id > $1 and units = 700000 and state = 'suspense'`, [
          before[0]?.id ?? 0n,
        ]),
      );
      return rows[0]?.id;
    });
    await bothDo(`/deposits/${id}/refund`, { fiatAccountId: customer.fiatAccountId });
    const stateOf = async () =>
      (await world.read((tx) => tx.rows<{ state: string }>('select state from deposits where id = $1', [id])))[0]
        ?.state;
    await world.until('it has gone back', async () => (await stateOf()) === 'refunded');
    await recalls(line);
    await world.until('it is lost', async () => (await stateOf()) === 'lost');
    assert.equal((await world.balances()).get(`receivable:${customer.id}:inr`), 700_000n);
    assert.equal((await world.read((tx) => findCustomer(tx, customer.id))).blocked, true);
  });
});
