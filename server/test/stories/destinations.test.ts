/** Destinations of refunds: money in one currency never goes to an account in another, whether a partner or an operator names it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { refundOrder } from '../../src/orders/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import { operatorIn } from '../support/staffed.ts';
import { openStory, type Purchase, type Story } from '../support/story.ts';

let world: Story;
let finn: Person;
before(async () => {
  world = await openStory();
  finn = await operatorIn(world, 'finn', 'admin');
});
after(async () => await world?.close());

const refunds = async (order: Purchase) => (await world.traceOf(order)).refunds.map(({ state }) => state);
const names = (order: Purchase, fiatAccountId: string) =>
  world.partner.put('onramp/refundDestination', {
    customerId: order.customerId,
    transactionId: String(order.id),
    fiatAccountId,
  });
const euroAccount = async (customerId: string, iban: string): Promise<string> => {
  const { fiatAccountId = '' } = await world.told('bank/addFiatAccount', { customerId, iban });
  return fiatAccountId;
};

/** 70 euros came with the reference of an order that asks for rupees and has a refund account in rupees. */
async function paidInEuros(): Promise<Purchase> {
  await world.goesBy('onramp', 'usdc', { wrongAsset: { then: 'refund' } });
  const customer = await world.verifiedCustomer();
  const order = await world.buys('5000', 'usdc', { customer });
  assert.equal((await names(order, customer.fiatAccountId)).status, 200);
  await world.bank.creditAccount({ currency: 'EUR', units: 7_000n, text: order.reference });
  await world.looksAtTheBank();
  await world.until('a refund is there', async () => (await refunds(order)).length === 1);
  return order;
}

test('a refund of euros by policy waits for an account in euros, where the order names one in rupees', async () => {
  const order = await paidInEuros();
  await world.opensCase(order, 'refund_destination');
  assert.deepEqual(await refunds(order), ['needs_destination']);
  assert.deepEqual((await world.traceOf(order)).payouts, []);

  const rupees = (await world.verifiedAccount(order.customerId)).fiatAccountId;
  const said = await names(order, rupees);
  assert.equal(said.status, 200, 'the account in rupees was refused for the order, which is in rupees');
  assert.deepEqual(await refunds(order), ['needs_destination'], 'the refund in euros took the account in rupees');
  assert.equal((await world.traceOf(order)).order.refundAccountId, BigInt(rupees));

  const strangers = await euroAccount((await world.verifiedCustomer()).id, 'GB33BUKB20201555555555');
  assert.equal((await names(order, strangers)).body.reason, 'unknown_account');

  const euros = await euroAccount(order.customerId, 'DE89370400440532013000');
  assert.equal((await names(order, euros)).status, 200);
  await world.until('the euros are back', async () => (await refunds(order))[0] === 'settled');
  const [payout] = (await world.traceOf(order)).payouts;
  assert.deepEqual([payout?.asset, payout?.units, payout?.fiatAccountId], ['eur', 7_000n, BigInt(euros)]);
  assert.equal(
    (await world.traceOf(order)).order.refundAccountId,
    BigInt(rupees),
    'the order lost its refund account in rupees',
  );
  assert.deepEqual(await world.openCaseKinds(order), []);
});

test('a refund that an older server created for an account in another currency waits for one that fits', async () => {
  const order = await paidInEuros();
  const rupees = (await world.verifiedAccount(order.customerId)).fiatAccountId;
  const [refund] = (await world.traceOf(order)).refunds;
  await world.read(async (tx) => {
    await tx.run(`update refunds set state = 'screening', fiat_account_id = $2 where id = $1`, [refund?.id, rupees]);
    await tx.run(`insert into jobs (kind, subject, due_at) values ('screen_refund', $1, now())`, [String(refund?.id)]);
  });
  await world.until('it asks again', async () => (await refunds(order))[0] === 'needs_destination');
  assert.deepEqual((await world.traceOf(order)).payouts, []);
  assert.deepEqual(await world.openCaseKinds(order), ['deposit_wrong_asset', 'refund_destination']);
});

test('an operator who refunds an order’s deposit names an account of its customer in its currency', async () => {
  const order = await world.buys('5000', 'usdc', { reference: 'screen:hold' });
  await world.credits(order, '5000');
  await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
  const back = (to: { fiatAccountId?: bigint; address?: string }) =>
    refundOrder(
      world.server.orders,
      { orderId: order.id, by: 'a person', why: 'a test', now: world.clock.now() },
      { failure: 'other', ...to },
    );
  const euros = await euroAccount(order.customerId, 'FR1420041010050500013M02606');
  await assert.rejects(back({ fiatAccountId: BigInt(euros) }), { code: 'unknown_account' });
  const { fiatAccountId: strangers } = await world.verifiedCustomer();
  await assert.rejects(back({ fiatAccountId: BigInt(strangers) }), { code: 'unknown_account' });
  await assert.rejects(back({ address: world.newAddress() }), { code: 'malformed_field' });
  assert.equal(await world.stateOf(order), 'on_hold');
  const { fiatAccountId } = await world.verifiedAccount(order.customerId);
  await back({ fiatAccountId: BigInt(fiatAccountId) });
  await world.until('it is back', async () => (await world.stateOf(order)) === 'refunded');
});

test('an account is not accepted for a rejected payout, and no answer says that the money is on its way', async () => {
  const customer = await world.verifiedCustomer({ ending: '9001' });
  const order = await world.sells('10', 'usdc', { customer });
  const said = async () => {
    const { fiatAccountId } = await world.verifiedAccount(customer.id);
    const { status, body } = await world.partner.put('offramp/refundDestination', {
      ...{ customerId: customer.id, transactionId: String(order.id), fiatAccountId },
    });
    return [status, body.reason];
  };
  assert.deepEqual(await said(), [404, 'unknown_refund'], 'an account was accepted before anything was paid');
  await world.pays(order, '10');
  await world.mines(2);
  await world.until('its payout is refused', async () => (await world.stateOf(order)) === 'payout_held');
  assert.deepEqual(await said(), [404, 'unknown_refund']);
  const ada = await operatorIn(world, 'ada', 'admin');
  const { fiatAccountId } = await world.verifiedAccount(customer.id);
  const action = { fiatAccountId, reason: 'the customer named another account' };
  const { error } = (await ada.does(`/orders/${order.id}/destination`, action)).body;
  assert.equal(error, 'The order is payout_held: none of its money waits to be refunded or paid again.');
});

describe('a refund that an operator asks for without a destination', () => {
  /** A purchase held by screening, for which an operator has requested a refund. */
  async function asked(how: { reference?: string } = { reference: 'screen:hold' }): Promise<Purchase> {
    const order = await world.buys('5000', 'usdc', how);
    await world.credits(order, '5000');
    await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
    const said = await finn.does(`/orders/${order.id}/refund`, { failure: 'other', reason: 'not theirs' });
    assert.deepEqual([said.status, said.body.after?.goesTo], [200, { waitsFor: 'destination' }], JSON.stringify(said));
    return order;
  }
  const needs = async (order: Purchase) =>
    (
      await world.told<{ needsDestination: boolean }>('onramp/refunds', {
        ...{ customerId: order.customerId, transactionId: String(order.id) },
      })
    ).needsDestination;
  const goesBack = async (order: Purchase) => {
    await world.until('it is back', async () => (await world.stateOf(order)) === 'refunded');
    assert.deepEqual(await world.openCaseKinds(order), []);
    assert.equal(await world.statusOf(order), -2);
  };

  test('waits for it, says so in its case and to the partner, and goes where the partner names', async () => {
    const order = await asked();
    assert.deepEqual([await world.stateOf(order), await refunds(order)], ['on_hold', []]);
    assert.deepEqual(await world.openCaseKinds(order), ['refund_destination'], 'the case of the hold is still open');
    const { reason } = await world.opensCase(order, 'refund_destination');
    assert.equal(reason, 'the customer must name a destination');
    assert.equal(await needs(order), true);
    const { next } = (await finn.reads(`/orders/${order.id}/timeline`)).body;
    assert.equal(next, 'the customer or its partner names a destination');

    const { fiatAccountId } = await world.verifiedAccount(order.customerId);
    assert.equal((await names(order, fiatAccountId)).status, 200);
    await goesBack(order);
    assert.equal(await needs(order), false);
  });

  test('goes where an operator names it', async () => {
    const order = await asked();
    const { fiatAccountId } = await world.verifiedAccount(order.customerId);
    const said = await finn.does(`/orders/${order.id}/destination`, { fiatAccountId });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    await goesBack(order);
  });

  test('may be requested twice, and passes no hit before the destination is named', async () => {
    const order = await asked();
    const again = await finn.does(`/orders/${order.id}/refund`, { failure: 'other' });
    assert.equal(again.status, 200, JSON.stringify(again.body));
    assert.deepEqual(await world.openCaseKinds(order), ['refund_destination']);
    const past = await finn.does(`/orders/${order.id}/refund`, { failure: 'other', pastHits: true });
    assert.deepEqual([past.status, past.body.reason], [400, 'missing_fields']);
  });

  test('ends when its bank recalls the whole deposit: nothing is refunded, and no one is asked for a destination', async () => {
    const books = await world.balances();
    const order = await world.buys('5000', 'usdc', { reference: 'screen:hold' });
    const lines = [await world.credits(order, '2000'), await world.credits(order, '3000')];
    await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
    assert.equal((await finn.does(`/orders/${order.id}/refund`, { failure: 'other' })).status, 200);
    for (const [at, line] of lines.entries()) {
      assert.equal(await world.stateOf(order), 'on_hold', 'it ended while a part was still here');
      await world.bank.recall(line);
      await world.looksAtTheBank();
      await world.until('it is recalled', async () => {
        const { deposits } = await world.traceOf(order);
        return deposits.filter(({ state }) => state === 'lost' || state === 'reversed').length === at + 1;
      });
    }
    await world.until('it is over', async () => (await world.stateOf(order)) === 'cancelled');
    assert.deepEqual(await world.openCaseKinds(order), []);
    assert.equal(await needs(order), false);
    assert.deepEqual(await refunds(order), []);
    assert.deepEqual(await world.changesSince(books), {});
  });

  test('that is requested after the whole deposit was recalled ends at once', async () => {
    const order = await world.buys('5000', 'usdc', { reference: 'screen:hold' });
    const line = await world.credits(order, '5000');
    await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
    await world.bank.recall(line);
    await world.looksAtTheBank();
    await world.opensCase(order, 'deposit_lost');
    assert.equal((await finn.does(`/orders/${order.id}/refund`, { failure: 'other' })).status, 200);
    await world.until('it is over', async () => (await world.stateOf(order)) === 'cancelled');
    assert.deepEqual(await world.openCaseKinds(order), []);
  });

  test('ends when the order is released: a destination named later refunds nothing', async () => {
    const order = await asked();
    await world.releases(order);
    assert.equal(await needs(order), false);
    await world.payoutIsSubmitted(order);
    await world.mines(2);
    await world.until('it is settled', async () => (await world.stateOf(order)) === 'settled');
    assert.deepEqual([await refunds(order), await world.openCaseKinds(order)], [[], []]);
  });

  test('is refused for an order that is over', async () => {
    const order = await asked();
    const { fiatAccountId } = await world.verifiedAccount(order.customerId);
    await names(order, fiatAccountId);
    await goesBack(order);
    const unpaid = await world.buys('5000', 'usdc');
    const said = await finn.does(`/orders/${unpaid.id}/refund`, { failure: 'other' });
    assert.deepEqual([said.status, said.body.reason], [409, 'order_over']);
    assert.equal(await needs(unpaid), false);
  });
});
