/** A purchase paid from an account in another name: looked at by a person before anything is converted. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findCustomer, saveDetails } from '../../src/customers/index.ts';
import { openOrders, reject, release } from '../../src/orders/index.ts';
import { openStory, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world.close());

const NAME = { firstName: 'Ásha', firstSurname: 'Rao', secondSurname: 'Menon' };

/** A purchase of a customer whose name is known, paid by whoever is named. */
async function paidBy(payerName: string) {
  const { id: customerId, fiatAccountId } = await world.verifiedCustomer();
  await world.read(async (tx) => {
    const customer = await findCustomer(tx, customerId);
    await saveDetails(tx, world.vault, { customer, details: NAME, now: world.clock.now() });
  });
  const pair = { fromCurrency: 'INR', toCurrency: 'usdc', chain: 'matic20', fromAmount: '5000', customerId };
  const asked = { ...pair, depositAddress: world.newAddress(), paymentMethodType: 'IMPS', fiatAccountId };
  const created = await world.told<{ transactionId: string; fiatPaymentInstructions: { otp: string } }>(
    'onramp/createTransaction',
    asked,
  );
  const { otp } = created.fiatPaymentInstructions;
  await world.bank.creditAccount({ currency: 'INR', units: 500_000n, text: otp, payerName });
  const id = BigInt(created.transactionId);
  const shown = () => world.told('onramp/transaction', { transactionId: created.transactionId, customerId });
  const reaches = (status: string) =>
    world.until(`status ${status}`, async () => {
      await world.mines(1);
      return (await shown()).status === status;
    });
  const state = () => world.read(async (tx) => (await openOrders(world.server.orders).get(tx, { id })).state);
  return { id, fiatAccountId: BigInt(fiatAccountId), reaches, state, shown };
}

const act = (orderId: bigint) => ({ orderId, by: 'nadia', why: 'asked the bank', now: world.clock.now() });

describe('a purchase', () => {
  test('paid in the customer’s own name, as banks write it, settles', async () => {
    const order = await paidBy('MENON RAO ASHA');
    await order.reaches('4');
  });

  test('paid by somebody else is held, shown as 2, with the reason kept; rejected it is refunded and shows -3', async () => {
    const order = await paidBy('Ravi Iyer');
    await world.until('it is held', async () => (await order.state()) === 'on_hold');
    assert.equal((await order.shown()).status, '2');
    const [decision] = await world.read((tx) =>
      tx.rows<{ outcome: string }>('select outcome from decisions where order_id = $1', [order.id]),
    );
    assert.equal(decision?.outcome, 'held');
    await reject(world.server.orders, act(order.id), { failure: 'name', fiatAccountId: order.fiatAccountId });
    await order.reaches('-3');
    assert.equal(await order.state(), 'refunded');
  });

  test('paid by somebody else may be released by a person, and settles', async () => {
    const order = await paidBy('Ravi Iyer');
    await world.until('it is held', async () => (await order.state()) === 'on_hold');
    await world.read((tx) => release(world.server.orders, tx, act(order.id)));
    await order.reaches('4');
  });
});
