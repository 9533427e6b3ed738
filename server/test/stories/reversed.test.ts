/**
 * Deposits that are reversed and payments that are returned while money is on its way: payouts and refunds that are created but
 * not submitted, submitted, rejected in part, or returned. Also two operators with opposite actions at once.
 *
 * Long because its stories share one server.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findCustomer } from '../../src/customers/index.ts';
import { orderFacts, STATES } from '../../src/orders/index.ts';
import { isWaiting, type OrderState } from '../../src/orders/machine.ts';
import { allMarkets, BUILT_IN_POLICY, setFee } from '../../src/partners/index.ts';
import { FEES } from '../../src/sandbox/catalogue.ts';
import { amountsDecide, type Person } from '../protocols/operator/people.ts';
import { paysAfterAll } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let finn: Person;

before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
  await world.read(amountsDecide);
});
after(async () => await world?.close());

const ALL = { kind: 'payouts', subject: 'all' };

async function does(path: string, body: Record<string, unknown> = {}): Promise<void> {
  const said = await finn.does(path, body);
  assert.equal(said.status, 200, `${path}: ${JSON.stringify(said.body)}`);
}

/** Payouts created meanwhile are not submitted. */
async function whileStopped(body: () => Promise<void>): Promise<void> {
  await does('/kill-switches', ALL);
  try {
    await body();
  } finally {
    await does('/kill-switches/lift', ALL);
  }
}

const payouts = async (order: Sale | Purchase) =>
  (await world.traceOf(order)).payouts.map(({ purpose, state }) => `${purpose} ${state}`);
const refunds = async (order: Sale | Purchase) => (await world.traceOf(order)).refunds.map(({ state }) => state);

async function held(amount = '10'): Promise<{ order: Sale; paid: Awaited<ReturnType<Story['pays']>> }> {
  const order = await world.sells(amount, 'usdc', { reference: 'screen:hold' });
  const paid = await world.pays(order, amount);
  await world.mines(1);
  await world.reaches(order, 3);
  return { order, paid };
}

describe('a payout that was rejected and is then shown as paid', () => {
  async function refused(): Promise<Sale> {
    const order = await world.sells('20', 'usdc', { customer: await world.verifiedCustomer({ ending: '9001' }) });
    await world.pays(order, '20');
    await world.mines(2);
    await world.becomes(order, 'payout_held');
    return order;
  }
  async function isPaidOnce(order: Sale): Promise<void> {
    await world.reaches(order, 6);
    assert.equal((await world.eventsOf(order)).at(-1), 'settled');
    assert.equal((await world.traceOf(order)).order.payoutReference, 'UTR-LATE');
    // The bank contradicted itself, which has to open a case.
    assert.deepEqual(await world.openCaseKinds(order), ['payout_contradiction']);
    assert.equal((await finn.does(`/orders/${order.id}/retry`)).body.reason, 'order_over');
  }

  /** The customer was paid for 20 tokens that were reversed: the customer owes them and is blocked. */
  async function owes(order: Sale, books: Awaited<ReturnType<Story['balances']>>, state: OrderState): Promise<void> {
    assert.equal(await world.stateOf(order), state);
    assert.equal((await world.read((tx) => findCustomer(tx, order.customerId))).blocked, true);
    const changes = await world.changesSince(books);
    assert.equal(changes[`receivable:${order.customerId}:usdc.matic20`], 20_000_000n);
  }

  test('has paid its order: nothing is lost, and it cannot be sent again', async () => {
    const books = await world.balances();
    const order = await refused();
    await paysAfterAll(world, order);
    await isPaidOnce(order);
    assert.deepEqual(await payouts(order), ['payout settled']);
    assert.equal((await world.changesSince(books))['loss:inr'], undefined);
  });

  test('after its deposit was reversed makes a debt, because its customer was paid without a deposit', async () => {
    await world.blocksWait(async () => {
      const books = await world.balances();
      const order = await world.sells('20', 'usdc', { customer: await world.verifiedCustomer({ ending: '9001' }) });
      const paid = await world.pays(order, '20');
      await world.mines(2);
      await world.becomes(order, 'payout_held');
      await world.reorgsAway(paid);
      await world.mines(2);
      await world.opensCase(order, 'deposit_lost');
      await paysAfterAll(world, order);
      await world.becomes(order, 'settled');
      assert.deepEqual((await world.openCaseKinds(order)).toSorted(), ['customer_owes', 'payout_contradiction']);
      assert.equal((await world.read((tx) => findCustomer(tx, order.customerId))).blocked, true);
      const changes = await world.changesSince(books);
      assert.equal(changes[`receivable:${order.customerId}:usdc.matic20`], 20_000_000n);
      assert.equal(changes['loss:usdc.matic20'], undefined);
    });
  });

  test('makes a debt as well where its deposit was reversed during a refund and people settle the order', async () => {
    await world.blocksWait(async () => {
      const order = await world.sells('20', 'usdc', { customer: await world.verifiedCustomer({ ending: '9001' }) });
      const paid = await world.pays(order, '20');
      await world.mines(2);
      await world.becomes(order, 'payout_held');
      await whileStopped(async () => {
        await does(`/orders/${order.id}/refund`, { failure: 'other', address: world.newAddress() });
        await world.becomes(order, 'refunding');
        await world.reorgsAway(paid);
        await world.mines(2);
        await world.becomes(order, 'refund_held');
      });
      const books = await world.balances();
      await paysAfterAll(world, order);
      const asked = await finn.does(`/orders/${order.id}/settle-by`, { payout: `pay_${order.id}_1` });
      assert.equal(asked.status, 202, JSON.stringify(asked.body));
      const agreed = await ada.does(`/proposals/${asked.body.proposal}/confirm`, {});
      assert.equal(agreed.status, 200, JSON.stringify(agreed.body));
      await owes(order, books, 'settled');
      assert.deepEqual(await world.openCaseKinds(order), ['customer_owes']);
    });
  });

  test('makes a debt as well where its order had given up the reversed deposit and ended', async () => {
    await world.blocksWait(async () => {
      const order = await world.sells('20', 'usdc', { customer: await world.verifiedCustomer({ ending: '9001' }) });
      const paid = await world.pays(order, '20');
      await world.mines(2);
      await world.becomes(order, 'payout_held');
      await world.reorgsAway(paid);
      await world.mines(2);
      await world.opensCase(order, 'deposit_lost');
      await does(`/orders/${order.id}/refund`, { failure: 'other', address: world.newAddress() });
      await world.becomes(order, 'cancelled');
      const books = await world.balances();
      await paysAfterAll(world, order);
      await owes(order, books, 'cancelled');
      assert.deepEqual((await world.openCaseKinds(order)).toSorted(), ['customer_owes', 'payout_contradiction']);
      assert.equal((await world.changesSince(books))['loss:inr'], undefined);
    });
  });

  test('stops the next attempt, as long as its submission has not begun', async () => {
    const order = await refused();
    await whileStopped(async () => {
      await does(`/orders/${order.id}/retry`);
      assert.deepEqual(await payouts(order), ['payout rejected', 'payout created']);
      await paysAfterAll(world, order);
    });
    await isPaidOnce(order);
    assert.deepEqual(await payouts(order), ['payout settled', 'payout rejected']);
    assert.deepEqual(
      (await world.bank.payments()).filter(({ key }) => key === `pay_${order.id}_2`),
      [],
    );
  });

  test('settles its order once the next attempt, which was under way, is rejected too', async () => {
    const books = await world.balances();
    const order = await refused();
    // The bank rejects it as well, but its answer and status are not available for a while.
    await world.bank.setFault({ kind: 'lose_answer_after_effect' });
    await world.bank.setFault({ kind: 'status_unavailable', times: 1_000 });
    await does(`/orders/${order.id}/retry`);
    await world.until('it is under way', async () => (await payouts(order)).includes('payout unknown'));
    await paysAfterAll(world, order);
    assert.equal(await world.stateOf(order), 'paying_out');
    await world.bank.clearFaults();
    await isPaidOnce(order);
    assert.deepEqual(await payouts(order), ['payout settled', 'payout rejected']);
    assert.equal((await world.changesSince(books))['loss:inr'], undefined);
  });
});

describe('an order requoted after a rejected payout that is then shown as paid', () => {
  const LOSS = 'loss:inr';
  const DIFFERENCE = 'difference:inr';
  /** Finn proposes, and ada confirms. */
  async function twoDo(path: string, body: Record<string, unknown> = {}): Promise<void> {
    const asked = await finn.does(path, body);
    assert.equal(asked.status, 202, `${path} was done by one person: ${JSON.stringify(asked.body)}`);
    const agreed = await ada.does(`/proposals/${asked.body.proposal}/confirm`, {});
    assert.equal(agreed.status, 200, JSON.stringify(agreed.body));
  }
  const feeIs = (bps: bigint) =>
    world.read(async (tx) => {
      for (const { id: marketId } of await allMarkets(tx))
        await setFee(tx, { marketId, partnerId: null, kind: 'operator', bps });
    });
  after(() => feeIs(BigInt(FEES.operatorBps)));
  const unitsOf = async (order: Sale) => (await world.traceOf(order)).order.payoutUnits;

  /** Rejected once, requoted at another fee, and rejected again: its payout is held on other terms than the first. */
  async function repriced(bps: bigint): Promise<{ order: Sale; first: bigint; then: bigint }> {
    const customer = await world.verifiedCustomer({ ending: '9001' });
    const order = await world.sells('20', 'usdc', { customer });
    await world.pays(order, '20');
    await world.mines(2);
    await world.becomes(order, 'payout_held');
    const first = await unitsOf(order);
    await feeIs(bps);
    await world.until('another amount is due', async () => {
      const asked = await finn.does(`/orders/${order.id}/requote`);
      assert.equal(asked.status, 200, JSON.stringify(asked.body));
      await world.until('the second attempt has ended', async () => {
        const { order: row, payouts: all } = await world.traceOf(order);
        return row.state === 'payout_held' && all.at(-1)?.endedAt !== null && all.length > 1;
      });
      return (await unitsOf(order)) !== first;
    });
    const then = await unitsOf(order);
    return { order, first, then };
  }
  const firstOf = (order: Sale): string => `pay_${order.id}_1`;
  async function isStuck(order: Sale): Promise<void> {
    assert.equal(await world.stateOf(order), 'payout_held');
    for (const path of ['retry', 'requote']) {
      const said = await finn.does(`/orders/${order.id}/${path}`);
      assert.equal(said.status, 409, `${path} was done for an order that has been paid`);
    }
  }
  async function isOver(order: Sale, paid: bigint, ordered: bigint): Promise<void> {
    await world.reaches(order, 6);
    const { order: row, history } = await world.traceOf(order);
    assert.equal(row.payoutReference, 'UTR-LATE');
    assert.equal(row.exception, 'paid_other_amount');
    const settled = history.find(({ event }) => event === 'payout_found');
    assert.deepEqual(
      [settled?.facts.paidUnits, settled?.facts.orderedUnits, settled?.facts.payout],
      [String(paid), String(ordered), firstOf(order)],
    );
    assert.deepEqual(await world.openCaseKinds(order), []);
  }

  test('is settled by two people with the payment that left: an amount above the new quote is a difference and no loss', async () => {
    await feeIs(0n);
    const { order, first, then } = await repriced(500n);
    assert.ok(first > then);
    const books = await world.balances();
    await paysAfterAll(world, order);
    await isStuck(order);
    await twoDo(`/orders/${order.id}/settle-by`, { payout: firstOf(order) });
    await isOver(order, first, then);
    const changes = await world.changesSince(books);
    assert.equal(changes[LOSS], undefined, 'what was paid is booked as lost');
    assert.equal(changes[DIFFERENCE], then - first);
  });

  test('is settled by a smaller payment that left, and the rest stays with us where people decide so', async () => {
    await feeIs(700n);
    const { order, first, then } = await repriced(0n);
    assert.ok(first < then);
    const books = await world.balances();
    await paysAfterAll(world, order);
    await isStuck(order);
    const unsaid = await finn.does(`/orders/${order.id}/settle-by`, { payout: firstOf(order) });
    assert.equal(unsaid.status, 400);
    assert.deepEqual(Object.keys(unsaid.body.fields as object), ['rest']);
    await twoDo(`/orders/${order.id}/settle-by`, { payout: firstOf(order), rest: 'keep' });
    await isOver(order, first, then);
    const changes = await world.changesSince(books);
    assert.equal(changes[LOSS], undefined, 'what was paid is booked as lost');
    assert.equal(changes[DIFFERENCE], then - first);
  });

  test('is settled by a smaller payment that left, and the rest is paid once where people decide so', async () => {
    await feeIs(500n);
    const { order, first, then } = await repriced(0n);
    const books = await world.balances();
    await paysAfterAll(world, order);
    // Its account accepts payments from now on.
    const { fiatAccountId } = await world.verifiedAccount(order.customerId);
    await world.read((tx) =>
      tx.run('update payouts set fiat_account_id = $2 where id = $1', [firstOf(order), fiatAccountId]),
    );
    await twoDo(`/orders/${order.id}/settle-by`, { payout: firstOf(order), rest: 'pay' });
    await world.until('the rest is paid', async () => (await refunds(order))[0] === 'settled');
    const { payouts: all } = await world.traceOf(order);
    const paid = all.filter(({ state }) => state === 'settled').reduce((sum, { units }) => sum + units, 0n);
    assert.equal(paid, then, 'the customer did not receive the amount of the order');
    assert.deepEqual(await world.openCaseKinds(order), []);
    const changes = await world.changesSince(books);
    assert.deepEqual([changes[LOSS], changes[DIFFERENCE]], [undefined, undefined]);
    assert.equal(await world.stateOf(order), 'settled');
    const again = await finn.does(`/orders/${order.id}/settle-by`, { payout: firstOf(order), rest: 'pay' });
    assert.equal(again.status, 409, 'it was settled twice');
    assert.equal(first + (all.at(-1)?.units ?? 0n), then);
  });

  test('is settled by that payment also where it is held before its conversion and where its refund has failed', async () => {
    await feeIs(0n);
    const customer = await world.verifiedCustomer({ ending: '9001' });
    const books = await world.balances();
    const order = await world.sells('20', 'usdc', { customer });
    await world.pays(order, '20');
    await world.mines(2);
    await world.becomes(order, 'payout_held');
    const first = await unitsOf(order);
    await whileStopped(async () => {
      await does(`/orders/${order.id}/refund`, { failure: 'other', address: world.newAddress() });
      await world.becomes(order, 'refunding');
      await paysAfterAll(world, order);
    });
    await world.becomes(order, 'refund_held');
    await twoDo(`/orders/${order.id}/settle-by`, { payout: firstOf(order) });
    await world.reaches(order, 6);
    assert.equal(await unitsOf(order), first);
    assert.deepEqual(await refunds(order), ['cancelled']);
    assert.deepEqual(await world.openCaseKinds(order), []);
    const changes = await world.changesSince(books);
    assert.deepEqual([changes[LOSS], changes[DIFFERENCE]], [undefined, undefined]);
  });

  test('is not settled by an attempt that is not shown as paid, nor by one of another order', async () => {
    await feeIs(0n);
    const { order } = await repriced(500n);
    const other = await repriced(0n);
    for (const [payout, says] of [
      [firstOf(order), /does not show it as paid/],
      [firstOf(other.order), /no such payout/],
    ] as const) {
      const said = await finn.does(`/orders/${order.id}/settle-by`, { payout, rest: 'keep' });
      assert.ok(said.status === 409 || said.status === 404);
      assert.match(String(said.body.error), says);
    }
    for (const one of [order, other.order]) {
      await does(`/orders/${one.id}/refund`, { failure: 'other', address: world.newAddress() });
      await world.mines(2);
      await world.becomes(one, 'refunded');
    }
  });
});

describe('a refund that was rejected and is then shown as paid', () => {
  async function isRefundedOnce(order: Purchase, books: Awaited<ReturnType<typeof world.balances>>): Promise<void> {
    await world.until('the refund is made', async () => (await refunds(order))[0] === 'settled');
    assert.deepEqual(await world.openCaseKinds(order), ['payout_contradiction']);
    assert.equal((await world.changesSince(books))['loss:inr'], undefined);
  }

  test('has refunded its order, and cannot be sent again', async () => {
    const customer = await world.verifiedCustomer({ ending: '9001' });
    const order = await world.buys('5000', 'usdc', { customer, reference: 'screen:hold' });
    const books = await world.balances();
    await world.credits(order, '5000');
    await world.becomes(order, 'on_hold');
    await does(`/orders/${order.id}/refund`, { failure: 'other', fiatAccountId: customer.fiatAccountId });
    await world.becomes(order, 'refund_held');
    await paysAfterAll(world, order);
    await isRefundedOnce(order, books);
    assert.equal(await world.stateOf(order), 'refunded');
    assert.equal(await world.statusOf(order), -2);
    assert.deepEqual(await world.changesSince(books), {});
    assert.equal(
      (await finn.does(`/orders/${order.id}/retry-refund`, { fiatAccountId: customer.fiatAccountId })).status,
      409,
    );
  });

  test('from suspense stops the refund that was created after it', async () => {
    const customer = await world.verifiedCustomer({ ending: '9001' });
    const order = await world.buys('5000', 'usdc', { customer });
    await world.credits(order, '5000');
    await world.becomes(order, 'settled');
    const books = await world.balances();
    await world.credits(order, '5000');
    await world.opensCase(order, 'deposit_second');
    const second = (await world.traceOf(order)).deposits.find(({ state }) => state === 'suspense');
    await does(`/deposits/${second?.id}/refund`, { fiatAccountId: customer.fiatAccountId });
    await world.opensCase(order, 'refund_rejected');
    const { fiatAccountId } = await world.verifiedAccount(customer.id);
    await whileStopped(async () => {
      await does(`/orders/${order.id}/destination`, { fiatAccountId });
      await world.until('a new one is created', async () => (await refunds(order))[0] === 'created');
      await paysAfterAll(world, order);
    });
    await isRefundedOnce(order, books);
    assert.deepEqual((await payouts(order)).slice(-2), ['refund settled', 'refund rejected']);
    assert.deepEqual(await world.changesSince(books), {});
  });
});

describe('between created and submitted', () => {
  test('a recall stops the payout: the credit is gone and our crypto has not left', async () => {
    const order = await world.buys('5000', 'usdc');
    const books = await world.balances();
    await whileStopped(async () => {
      const line = await world.credits(order, '5000');
      await world.becomes(order, 'paying_out');
      assert.deepEqual(await payouts(order), ['payout created']);
      await world.bank.recall(line);
      await world.looksAtTheBank();
      await world.becomes(order, 'payout_held');
    });
    assert.deepEqual(await payouts(order), ['payout rejected']);
    assert.deepEqual((await world.openCaseKinds(order)).sort(), ['deposit_lost', 'payout_held']);
    assert.equal((await finn.does(`/orders/${order.id}/retry`)).body.reason, 'order_over');
    await does(`/orders/${order.id}/refund`, {
      failure: 'other',
      fiatAccountId: (await world.verifiedAccount(order.customerId)).fiatAccountId,
    });
    await world.reaches(order, -2);
    assert.equal(await world.stateOf(order), 'cancelled');
    assert.deepEqual(await world.openCaseKinds(order), []);
    assert.deepEqual(await world.changesSince(books), {}, 'the reversed deposit left balances in the books');
    assert.deepEqual(await world.transfersTo(order), []);
    assert.equal((await world.eventsOf(order)).at(-1), 'cancelled');
  });

  test('a reorg stops the refund of money in suspense', async () => {
    await world.blocksWait(async () => {
      const address = world.newAddress();
      const order = await world.sells('10', 'usdc', { refundAddress: address });
      await world.read((tx) =>
        tx.run(`update orders set policy = jsonb_set(policy, '{late,then}', '"refund"') where id = $1`, [order.id]),
      );
      await world.deadlinePasses();
      await world.until('a block past it is read', async () => {
        await world.mines(1);
        return (await world.statusOf(order)) === -1;
      });
      const books = await world.balances();
      await whileStopped(async () => {
        const paid = await world.pays(order, '10');
        await world.mines(1);
        await world.until('the refund is written', async () => (await refunds(order))[0] === 'created');
        await world.reorgsAway(paid);
        await world.until('it is cancelled', async () => (await refunds(order))[0] === 'cancelled');
      });
      assert.deepEqual(await payouts(order), ['refund rejected']);
      assert.deepEqual(await world.changesSince(books), {});
      assert.deepEqual(await world.openCaseKinds(order), []);
      assert.equal(await world.statusOf(order), -1);
      assert.equal(await world.tokensOf(address, 'usdc'), '0');
    });
  });

  test('a reorg stops the refund of a whole order, which ends because nothing is left to refund', async () => {
    await world.blocksWait(async () => {
      const { order, paid } = await held();
      const address = world.newAddress();
      await whileStopped(async () => {
        await does(`/orders/${order.id}/refund`, { failure: 'other', address });
        assert.equal(await world.stateOf(order), 'refunding');
        await world.reorgsAway(paid);
        await world.becomes(order, 'refund_held');
      });
      assert.deepEqual((await world.openCaseKinds(order)).sort(), ['deposit_lost', 'refund_held']);
      await does(`/orders/${order.id}/retry-refund`);
      await world.becomes(order, 'cancelled');
      assert.deepEqual(await world.openCaseKinds(order), []);
      assert.deepEqual(await refunds(order), ['cancelled']);
      assert.equal(await world.tokensOf(address, 'usdc'), '0');
      assert.equal(
        (await world.balance({ code: 'loss:usdc.matic20', kind: 'loss', asset: 'usdc.matic20', side: 'debit' })).units,
        0n,
      );
    });
  });
});

test('an order of which one deposit was refunded and the other one reversed ends as refunded, not as cancelled', async () => {
  await world.blocksWait(async () => {
    const order = await world.sells('10', 'usdc', { reference: 'screen:hold' });
    await world.pays(order, '6');
    await world.mines(3);
    const paid = await world.pays(order, '4');
    await world.mines(2);
    await world.becomes(order, 'on_hold');
    const books = await world.balances();
    const address = world.newAddress();
    await whileStopped(async () => {
      await does(`/orders/${order.id}/refund`, { failure: 'other', address });
      assert.equal(await world.stateOf(order), 'refunding');
      await world.reorgsAway(paid);
      await world.until('its refund is rejected', async () => (await refunds(order)).includes('rejected'));
    });
    await world.until('the other refund arrives', async () => {
      await world.mines(1);
      return (await world.stateOf(order)) === 'refund_held';
    });
    assert.deepEqual((await refunds(order)).toSorted(), ['rejected', 'settled']);
    await does(`/orders/${order.id}/retry-refund`);
    await world.becomes(order, 'refunded');
    assert.deepEqual((await refunds(order)).toSorted(), ['cancelled', 'settled']);
    assert.equal(await world.tokensOf(address, 'usdc'), '6');
    assert.equal((await world.traceOf(order)).order.refundedUnits, 6_000_000n);
    assert.deepEqual(await world.openCaseKinds(order), []);
    assert.equal((await world.changesSince(books))['loss:usdc.matic20'], undefined);
  });
});

test('a recall during a refund makes a debt, which ends when the refund is rejected and given up', async () => {
  const customer = await world.verifiedCustomer({ ending: '9001' });
  const order = await world.buys('5000', 'usdc', { customer, reference: 'screen:hold' });
  const books = await world.balances();
  const line = await world.credits(order, '5000');
  await world.becomes(order, 'on_hold');
  // The bank rejects the refund, and its answer does not reach us for a while.
  await world.bank.setFault({ kind: 'lose_answer_after_effect' });
  await world.bank.setFault({ kind: 'status_unavailable', times: 1_000 });
  await does(`/orders/${order.id}/refund`, { failure: 'other', fiatAccountId: customer.fiatAccountId });
  await world.until('it is under way', async () => (await payouts(order)).includes('refund unknown'));
  await world.bank.recall(line);
  await world.looksAtTheBank();
  await world.opensCase(order, 'customer_owes');
  await world.bank.clearFaults();
  await world.becomes(order, 'refund_held');
  // The operator who unblocks the customer sees the debt.
  const { proposal } = (await finn.does(`/customers/${customer.id}/unblock`)).body;
  const { seen } = (await ada.reads(`/proposals/${proposal}`)).body;
  assert.deepEqual([seen.blocked, seen.debts], [true, [{ asset: 'inr', units: '5000' }]]);
  assert.equal((await ada.does(`/proposals/${proposal}/confirm`)).status, 200);
  await does(`/orders/${order.id}/retry-refund`, { fiatAccountId: customer.fiatAccountId });
  await world.becomes(order, 'cancelled');
  assert.deepEqual(await world.openCaseKinds(order), []);
  assert.deepEqual(await world.changesSince(books), {}, 'the reversed deposit left balances in the books');
});

test('a refund that has left when a reorg reverses its deposit arrives, and the deposit is a debt with a case', async () => {
  await world.blocksWait(async () => {
    const { order, paid } = await held();
    const books = await world.balances();
    const address = world.newAddress();
    await does(`/orders/${order.id}/refund`, { failure: 'other', address });
    await world.until('it is with the node', async () => (await payouts(order))[0] === 'refund submitted');
    await world.reorgsAway(paid);
    await world.opensCase(order, 'customer_owes');
    await world.until('it arrives', async () => {
      await world.mines(1);
      return (await world.stateOf(order)) === 'refunded';
    });
    assert.equal(await world.tokensOf(address, 'usdc'), '10');
    assert.deepEqual(await refunds(order), ['settled']);
    assert.deepEqual(await world.openCaseKinds(order), ['customer_owes']);
    const changed = await world.changesSince(books);
    assert.equal(changed['loss:usdc.matic20'], undefined);
    const debts = Object.entries(changed).filter(([code]) => code.startsWith('receivable:'));
    assert.deepEqual(
      debts.map(([, units]) => units),
      [10_000_000n],
    );
    assert.equal(await world.statusOf(order), -2);
  });
});

test('a payment that its customer replaces with another of the same nonce after it was seen counts as the replacement', async () => {
  await world.blocksWait(async () => {
    await world.confirmsAfter('usdc.matic20', 11);
    const order = await world.sells('10', 'usdc');
    const books = await world.balances();
    const first = await world.pays(order, '10');
    await world.mines(1);
    await world.reaches(order, 1);
    await world.reorgsAway(first);
    await world.reaches(order, 0);
    const second = await world.pays(order, '4');
    await world.confirmsAfter('usdc.matic20', 2);
    await world.mines(2);
    await world.until(
      'what it became is booked',
      async () => (await world.traceOf(order)).order.exception === 'underpaid',
    );
    await assert.rejects(world.paysAgain(first), /nonce/);
    const { deposits } = await world.traceOf(order);
    assert.deepEqual(
      deposits.map(({ units, state, reference }) => [units, state, reference]),
      [
        [10_000_000n, 'reversed', first.hash],
        [4_000_000n, 'confirmed', second.hash],
      ],
    );
    assert.equal((await world.changesSince(books))['suspense:evm.matic20:usdc.matic20'], 4_000_000n);
    assert.deepEqual(await world.openCaseKinds(order), []);
    await world.pays(order, '6');
    await world.mines(2);
    await world.reaches(order, 6);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 1);
  });
});

test('a refund that the bank returns is still owed, and is paid to the next account that is named', async () => {
  const customer = await world.verifiedCustomer({ ending: '9002' });
  const order = await world.buys('5000', 'usdc', { customer, reference: 'screen:hold' });
  const books = await world.balances();
  await world.credits(order, '5000');
  await world.becomes(order, 'on_hold');
  await does(`/orders/${order.id}/refund`, { failure: 'other', fiatAccountId: customer.fiatAccountId });
  await world.opensCase(order, 'refund_returned');
  assert.equal(await world.stateOf(order), 'refunded');
  assert.deepEqual(await refunds(order), ['returned']);
  assert.equal((await world.changesSince(books))['suspense:bank.simulated:inr'], 500_000n);
  const { fiatAccountId } = await world.verifiedAccount(customer.id);
  await does(`/orders/${order.id}/destination`, { fiatAccountId });
  await world.until('it is paid', async () => {
    await world.looksAtTheBank();
    return (await refunds(order))[0] === 'settled';
  });
  assert.deepEqual(await payouts(order), ['refund returned', 'refund settled']);
  assert.deepEqual(await world.openCaseKinds(order), []);
  assert.deepEqual(await world.changesSince(books), {});
  assert.equal(await world.statusOf(order), -2);
});

describe('a returned refund whose deposit the bank then recalls', () => {
  /** A purchase that was refunded to an account that is closed. */
  async function cameBack(keep: readonly string[] = []) {
    const customer = await world.verifiedCustomer({ ending: '9002' });
    const order = await world.buys('5000', 'usdc', { customer, reference: 'screen:hold' });
    await world.read((tx) =>
      tx.run(`update orders set policy = jsonb_set(policy, '{refundFees,keep}', $2::jsonb) where id = $1`, [
        order.id,
        JSON.stringify(keep),
      ]),
    );
    const books = await world.balances();
    const line = await world.credits(order, '5000');
    await world.becomes(order, 'on_hold');
    await does(`/orders/${order.id}/refund`, { failure: 'other', fiatAccountId: customer.fiatAccountId });
    await world.opensCase(order, 'refund_returned');
    return { customer, order, books, line };
  }
  const blocked = async (id: string) => (await world.read((tx) => findCustomer(tx, id))).blocked;

  test('makes no debt: its money is here, and leaves the books as it entered them', async () => {
    const { customer, order, books, line } = await cameBack();
    await world.bank.recall(line);
    await world.looksAtTheBank();
    await world.until('it is cancelled', async () => (await refunds(order))[0] === 'cancelled');
    assert.deepEqual(await world.openCaseKinds(order), []);
    assert.deepEqual(await world.changesSince(books), {}, 'the reversed deposit left balances in the books');
    assert.equal(await blocked(customer.id), false, 'the customer is blocked for a debt although nothing was paid');
    const { fiatAccountId } = await world.verifiedAccount(customer.id);
    assert.equal((await finn.does(`/orders/${order.id}/destination`, { fiatAccountId })).status, 409);
  });

  test('from which fees were kept makes a loss of these fees alone', async () => {
    const { customer, order, books, line } = await cameBack(['operator']);
    const kept = (await world.changesSince(books))['fee_operator:inr'] ?? 0n;
    assert.ok(kept > 0n, 'no fee was kept');
    await world.bank.recall(line);
    await world.looksAtTheBank();
    await world.opensCase(order, 'deposit_lost');
    const changes = await world.changesSince(books);
    assert.deepEqual(
      [changes['loss:inr'], changes['fee_operator:inr'], changes['suspense:bank.simulated:inr']],
      [kept, kept, undefined],
    );
    assert.equal(await blocked(customer.id), false);
  });
});

describe('a refund out of suspense that is under way when the bank recalls its deposit', () => {
  /** A refund of a second deposit to a closed account; its answer and status are not available for a while. */
  async function underWay(ending: string) {
    const customer = await world.verifiedCustomer({ ending });
    const order = await world.buys('5000', 'usdc', { customer });
    await world.credits(order, '5000');
    await world.becomes(order, 'settled');
    const books = await world.balances();
    const line = await world.credits(order, '5000');
    await world.opensCase(order, 'deposit_second');
    const second = (await world.traceOf(order)).deposits.find(({ state }) => state === 'suspense');
    await world.bank.setFault({ kind: 'lose_answer_after_effect' });
    await world.bank.setFault({ kind: 'status_unavailable', times: 1_000 });
    await does(`/deposits/${second?.id}/refund`, { fiatAccountId: customer.fiatAccountId });
    await world.until('it is under way', async () => (await payouts(order)).includes('refund unknown'));
    return { customer, order, books, line };
  }
  const owes = async (id: string) => (await world.balances()).get(`receivable:${id}:inr`) ?? 0n;

  test('makes a debt, which ends when the refund is rejected, because nothing has left', async () => {
    const { customer, order, books, line } = await underWay('9001');
    await world.bank.recall(line);
    await world.looksAtTheBank();
    await world.opensCase(order, 'customer_owes');
    assert.equal(await owes(customer.id), 500_000n);
    await world.bank.clearFaults();
    await world.until('it is cancelled', async () => (await refunds(order))[0] === 'cancelled');
    assert.equal(await owes(customer.id), 0n);
    assert.deepEqual(await world.openCaseKinds(order), []);
    assert.deepEqual(await world.changesSince(books), {}, 'the recalled second deposit left balances in the books');
  });
});

test('when one of two partial refunds fails, the other arrives, the order waits, and an operator retries the failed one', async () => {
  const order = await world.sells('100', 'usdc');
  await world.paysInOneBlock(order, '20', '30');
  await world.mines(2);
  await world.until('the parts are booked', async () => (await world.traceOf(order)).order.exception === 'underpaid');
  await world.deadlinePasses();
  await world.reaches(order, 3);
  const address = world.newAddress();
  await whileStopped(async () => {
    await does(`/orders/${order.id}/refund`, { failure: 'amount', address });
    const [first] = (await world.traceOf(order)).payouts;
    assert(first);
    // The chain accepts one refund and rejects the other.
    await world.read(async (tx) => {
      const fact = { type: 'payout_rejected', rail: 'evm.matic20', key: first.id, why: 'reverted on chain' } as const;
      await orderFacts(world.server.orders)(tx, fact);
    });
    assert.equal(
      await world.stateOf(order),
      'refunding',
      'the order is not refunding while the other refund is under way',
    );
  });
  await world.until('the other arrives', async () => {
    await world.mines(1);
    return (await world.stateOf(order)) === 'refund_held';
  });
  assert.deepEqual((await refunds(order)).sort(), ['rejected', 'settled']);
  assert.deepEqual(await world.openCaseKinds(order), ['refund_held']);
  const once = await world.tokensOf(address, 'usdc');
  assert.ok(once === '20' || once === '30', once);
  const elsewhere = world.newAddress();
  await does(`/orders/${order.id}/retry-refund`, { address: elsewhere });
  await world.until('all is back', async () => {
    await world.mines(1);
    return (await world.stateOf(order)) === 'refunded';
  });
  assert.equal(Number(once) + Number(await world.tokensOf(elsewhere, 'usdc')), 50);
  assert.deepEqual(await world.openCaseKinds(order), []);
  assert.equal(await world.statusOf(order), -4);
});

test('when one of two partial refunds is submitted, a hold stops the other and names the one it came too late for', async () => {
  const order = await world.sells('100', 'usdc');
  await world.paysInOneBlock(order, '20', '30');
  await world.mines(2);
  await world.until('the parts are booked', async () => (await world.traceOf(order)).order.exception === 'underpaid');
  world.deadlinePasses();
  await world.reaches(order, 3);
  const address = world.newAddress();
  let [submitted, other]: string[] = [];
  await whileStopped(async () => {
    await does(`/orders/${order.id}/refund`, { failure: 'amount', address });
    [submitted, other] = (await world.traceOf(order)).payouts.map(({ id }) => id);
    // The state after its worker was just before the kill switch and its rail has not answered yet.
    await world.read((tx) =>
      tx.run(
        `update payouts set state = 'unknown', submissions = 1, unknown_since = now(), submitting_until = now() where id = $1`,
        [submitted],
      ),
    );
    const said = await finn.does(`/orders/${order.id}/hold`, { reason: 'looks like fraud' });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    assert.deepEqual(said.body.notCancelled, [submitted]);
    const stateOf = async (key?: string) => (await world.traceOf(order)).payouts.find(({ id }) => id === key)?.state;
    assert.deepEqual([await stateOf(other), await world.stateOf(order)], ['rejected', 'refunding']);
    assert.deepEqual(await world.openCaseKinds(order), ['hold_too_late']);
    // An action that would end the order has to wait for the submitted refund, and changes nothing.
    assert.equal((await finn.does(`/orders/${order.id}/block`)).body.reason, 'payout_submitted');
  });
  await world.until('the one that was submitted arrives', async () => {
    await world.mines(1);
    return (await world.stateOf(order)) === 'refund_held';
  });
  assert.deepEqual((await refunds(order)).sort(), ['rejected', 'settled']);
  assert.deepEqual(await world.openCaseKinds(order), ['refund_held']);
  assert.equal((await payouts(order)).length, 2, 'the held part was submitted again');
  await does(`/orders/${order.id}/retry-refund`, { address });
  await world.until('all is back', async () => {
    await world.mines(1);
    return (await world.stateOf(order)) === 'refunded';
  });
  assert.equal(await world.tokensOf(address, 'usdc'), '50');
});

test('an order blocked by law is released by two operators, and refunded to an address that is named afterwards', async () => {
  const { order } = await held();
  await does(`/orders/${order.id}/block`);
  assert.deepEqual(await world.openCaseKinds(order), ['frozen']);
  const said = await finn.does(`/orders/${order.id}/release-blocked`, { legalAct: 'court 17/2026' });
  assert.equal(said.status, 202);
  assert.equal((await ada.does(`/proposals/${said.body.proposal}/confirm`)).status, 200);
  assert.deepEqual(await world.openCaseKinds(order), ['refund_destination']);
  const address = world.newAddress();
  await does(`/orders/${order.id}/destination`, { address });
  await world.until('it has arrived', async () => {
    await world.mines(1);
    return (await refunds(order))[0] === 'settled';
  });
  assert.equal(await world.tokensOf(address, 'usdc'), '10');
  assert.equal(await world.stateOf(order), 'frozen');
  assert.deepEqual(await world.openCaseKinds(order), []);
});

test('many releases and refunds at once: each order is paid out or refunded, never both', async () => {
  const orders = await Promise.all([1, 2, 3, 4].map(() => world.sells('10', 'usdc', { reference: 'screen:hold' })));
  for (const order of orders) await world.pays(order, '10');
  await world.mines(2);
  for (const order of orders) await world.reaches(order, 3);
  const address = world.newAddress();
  const refused = new Set<bigint>();
  await Promise.all(
    orders.map(async ({ id }) => {
      const release = () => finn.does(`/orders/${id}/release`);
      const refuse = () => ada.does(`/orders/${id}/refund`, { failure: 'other', address });
      const said = await Promise.all([release(), refuse(), release(), refuse()]);
      const done = said.filter(({ status }) => status === 200).map(({ body }) => body.action as string);
      // A released order can be refunded until its payout is submitted; a refunded one is over.
      const told = JSON.stringify(said.map(({ body }) => body));
      assert.ok(done.length > 0 && new Set(done).size === done.length, told);
      if (done.includes('order.refund')) refused.add(id);
    }),
  );
  let back = 0;
  for (const order of orders) {
    await world.until('it is over', async () => {
      await world.mines(1);
      return ['settled', 'refunded'].includes(await world.stateOf(order));
    });
    const isBack = (await world.stateOf(order)) === 'refunded';
    if (isBack) back += 1;
    assert.equal(isBack, refused.has(order.id), 'the answer to the refund contradicts the state of the order');
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, isBack ? 0 : 1);
    // A payout that we cancelled before it was submitted is rejected.
    const sent = (await payouts(order)).filter((payout) => payout !== 'payout rejected');
    assert.deepEqual(sent, [isBack ? 'refund settled' : 'payout settled']);
  }
  assert.equal(await world.tokensOf(address, 'usdc'), String(back * 10));
});

/** The case about the overdue orders that the kill switch stops. */
const aboutSwitch = () =>
  world.read((tx) =>
    tx.row<{ orders: number; reason: string; isOpen: boolean }>(
      `select (facts ->> 'orders')::int as orders, reason, closed_at is null as is_open from cases
        where kind = 'overdue' and subject = 'kill_switch:payouts:all'`,
    ),
  );

test('an order in any waiting state opens a case when it is overdue', async () => {
  const reached = new Map<OrderState, Sale>();
  const sale = async (reference?: string, ending?: string) => {
    const customer = await world.verifiedCustomer(ending === undefined ? {} : { ending });
    return await world.sells('10', 'usdc', { customer, ...(reference === undefined ? {} : { reference }) });
  };
  /** Sets the price source of the offramp markets. */
  const sources = async (source: string) => {
    await world.read((tx) => tx.run(`update markets set price_sources = $1 where direction = 'offramp'`, [[source]]));
    await world.until('the markets are read again', async () => {
      const asked = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '10' };
      return ((await world.partner.post('offramp/quote', asked)).status === 200) === (source === 'fixed');
    });
  };
  const refundHeld = (await held()).order;
  const nowhere = world.newAddress();
  world.takesNothing(nowhere, 'matic20');
  await world.rejects(refundHeld, { failure: 'other', address: nowhere });
  reached.set('refund_held', refundHeld);
  reached.set('on_hold', (await held()).order);
  reached.set('payout_held', await sale(undefined, '9001'));
  await world.pays(reached.get('payout_held') as Sale, '10');
  await world.mines(2);
  await world.becomes(reached.get('payout_held') as Sale, 'payout_held');
  await world.becomes(refundHeld, 'refund_held');
  await whileStopped(async () => {
    const refunding = (await held()).order;
    await world.rejects(refunding, { failure: 'other', address: world.newAddress() });
    reached.set('refunding', refunding);
    const payingOut = await sale();
    await world.pays(payingOut, '10');
    await world.mines(2);
    await world.becomes(payingOut, 'paying_out');
    reached.set('paying_out', payingOut);
    const { units } = await world.balance({ code: 'treasury:inr', kind: 'treasury', asset: 'inr', side: 'credit' });
    await world.setsAside('inr', 0n);
    const short = await sale();
    await world.pays(short, '10');
    await world.mines(2);
    await world.becomes(short, 'awaiting_liquidity');
    reached.set('awaiting_liquidity', short);
    await world.confirmsAfter('dai.matic20', 1_000);
    const seen = await world.sells('10', 'dai');
    await world.pays(seen, '10');
    await world.mines(1);
    await world.becomes(seen, 'deposit_seen');
    reached.set('deposit_seen', seen);
    // Its rate lock had ended when it was paid and there is no price for a requote, so it waits for one.
    const priceless = await sale();
    await world.read(async (tx) => {
      const answers = { priceMoved: { lockS: 0, bps: 1, then: 'requote' } };
      await tx.run('update orders set policy = policy || $2, rate_locked_until = created_at where id = $1', [
        priceless.id,
        JSON.stringify(answers),
      ]);
    });
    await sources('nobody');
    await world.pays(priceless, '10');
    await world.mines(2);
    await world.becomes(priceless, 'deposit_confirmed');
    reached.set('deposit_confirmed', priceless);

    for (const [state, order] of reached) {
      const { by, otherwise } = await world.traceOf(order);
      assert.ok(
        by !== null && otherwise !== null && /case/.test(otherwise),
        `${state} has no deadline or no case after it`,
      );
    }
    const ids = [...reached.values()].map(({ id }) => id);
    await world.read((tx) =>
      tx.run(`update orders set waits_until = now() - interval '1 s' where id = any($1)`, [ids]),
    );
    const stopped: readonly OrderState[] = ['paying_out', 'refunding'];
    for (const [state, order] of reached) if (!stopped.includes(state)) await world.opensCase(order, 'overdue');
    // Those that the kill switch stops have one case, about the switch.
    await world.until('the switch has a case', async () => (await aboutSwitch())?.orders === 2);
    for (const state of stopped) assert.deepEqual(await world.openCaseKinds(reached.get(state) as Sale), []);
    const waiting = (Object.keys(STATES) as OrderState[]).filter(isWaiting);
    assert.deepEqual([...reached.keys()].sort(), [...waiting].sort());
    assert.deepEqual(Object.keys(BUILT_IN_POLICY.waiting).sort(), [...waiting].sort());
    await sources('fixed');
    await world.brings('inr', units);
    await world.confirmsAfter('dai.matic20', 2);
  });
  world.clock.advance(60_000);
  await world.until('the case of the switch is closed', async () => (await aboutSwitch())?.isOpen === false);
  for (const state of ['paying_out', 'awaiting_liquidity', 'deposit_confirmed', 'deposit_seen'] as const) {
    const order = reached.get(state) as Sale;
    await world.mines(2);
    // Each attempt without a price doubled the pause before the next; the test does not wait for it.
    await world.read((tx) => tx.run(`update jobs set due_at = now() where kind = 'screen_order' and lease is null`));
    await world.reaches(order, 6);
    assert.deepEqual(await world.openCaseKinds(order), [], `the order went on from ${state} and kept an open case`);
  }
});
