/** A partner's program tests: test/changeOfframpStatus brings orders to a status by money that really moves. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openStory, type Sale, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

async function drives(order: Sale, status: string): Promise<void> {
  const answer = await world.drives(order, status);
  assert.equal(answer.status, 200, `${status}: ${answer.text}`);
  assert.equal(answer.body.data.changeStatus, true);
  assert.match(answer.body.data.message, new RegExp(`^Status changed to ${status} i\\.e [A-Z_]+$`));
}
async function refuses(order: Sale, status: string): Promise<void> {
  const before = await world.statusOf(order);
  const answer = await world.drives(order, status);
  assert.deepEqual([answer.status, answer.body.reason], [417, 'order_over'], `${status}: ${answer.text}`);
  assert.equal(await world.statusOf(order), before);
}

/** An order that was held and whose deposit is being refunded. */
async function refunded(failure: 'amount' | 'other'): Promise<Sale> {
  const order = await world.sells('10', 'usdc', { reference: 'screen:hold' });
  await drives(order, '2');
  await world.mines(2);
  await world.reaches(order, 3);
  await world.rejects(order, { failure, address: world.newAddress() });
  return order;
}

describe('an order driven', () => {
  test('to any of 1 to 6, or their twins 10 to 15, is paid for on the chain and runs on to 6', async () => {
    const customer = await world.verifiedCustomer();
    const asked = ['1', '2', '3', '4', '5', '6', '10', '11', '12', '13', '14', '15'];
    const orders = await Promise.all(asked.map((_, at) => world.sells(String(10 + at), 'usdc', { customer })));
    await Promise.all(orders.map((order, at) => drives(order, asked[at] ?? '')));
    for (const order of orders) assert.ok((await world.statusOf(order)) >= 1, 'the deposit was not seen');
    await world.mines(2);
    for (const order of orders) {
      await world.reaches(order, 6);
      const shown = await world.shown(order);
      const receipt = await world.rpc<{ status: string } | null>('matic20', 'eth_getTransactionReceipt', [
        shown.transactionHash,
      ]);
      assert.equal(receipt?.status, '0x1', 'the hash is not that of a successful transaction');
    }
  });

  test('to 6 step by step is paid once, and driving it to a passed status succeeds again', async () => {
    const order = await world.sells('10', 'usdc');
    for (const status of ['0', '1', '2', '6']) await drives(order, status);
    await world.mines(2);
    await world.reaches(order, 6);
    for (const status of ['0', '1', '2', '3', '4', '5', '6', '15']) await drives(order, status);
    assert.equal((await world.traceOf(order)).deposits.length, 1);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 1);
    for (const status of ['-1', '-2', '-4']) await refuses(order, status);
  });

  test('to 6 by five programs at once is paid once', async () => {
    const order = await world.sells('10', 'usdc');
    await Promise.all(Array.from({ length: 5 }, () => drives(order, '6')));
    await world.mines(2);
    await world.reaches(order, 6);
    assert.equal((await world.traceOf(order)).deposits.length, 1);
  });

  test('to -1 is expired; -1 again is a success, and any other status is refused', async () => {
    const order = await world.sells('10', 'usdc');
    await drives(order, '-1');
    assert.equal(await world.statusOf(order), -1);
    await drives(order, '-1');
    await drives(order, '0');
    for (const status of ['1', '6', '-2', '-4']) await refuses(order, status);
    assert.deepEqual(await world.eventsOf(order), ['created', 'expired']);
  });

  test('to -2 is cancelled before money came', async () => {
    const order = await world.sells('10', 'usdc');
    await drives(order, '-2');
    assert.equal(await world.statusOf(order), -2);
    assert.equal(await world.stateOf(order), 'cancelled');
    await drives(order, '-2');
    for (const status of ['1', '6', '-1', '-4']) await refuses(order, status);
  });

  test('to -2 is refunded while it is held', async () => {
    const order = await world.sells('10', 'usdc', { reference: 'screen:hold' });
    await drives(order, '3');
    await world.mines(2);
    await world.reaches(order, 3);
    await drives(order, '-2');
    await world.refundArrives(order, -2);
    assert.equal(await world.stateOf(order), 'refunded');
    await drives(order, '-2');
    await refuses(order, '6');
  });

  test('to -4 is paid half, held at the deadline, and refunded', async () => {
    const order = await world.sells('10', 'usdc');
    const driving = drives(order, '-4');
    await world.until('half was seen', async () => (await world.statusOf(order)) === 1);
    await world.mines(2);
    await driving;
    await world.refundArrives(order, -4);
    const { deposits, payouts } = await world.traceOf(order);
    assert.deepEqual(
      deposits.map(({ units }) => units),
      [5_000_000n],
    );
    assert.deepEqual(
      payouts.map(({ purpose, state }) => [purpose, state]),
      [['refund', 'settled']],
    );
    await drives(order, '-4');
    await refuses(order, '6');
  });

  test('after a refund for a wrong amount cannot be driven to -2, which means abandoned', async () => {
    const order = await refunded('amount');
    await world.refundArrives(order, -4);
    await refuses(order, '-2');
  });

  test('after a refund to a status it has passed is a success', async () => {
    const order = await refunded('other');
    await world.refundArrives(order, -2);
    for (const status of ['1', '2', '3']) await drives(order, status);
    for (const status of ['4', '6', '-1', '-4']) await refuses(order, status);
  });
});

test('an order of another partner cannot be driven, and the answer is that of an unknown order', async () => {
  const order = await world.sells('10', 'usdc');
  const stranger = world.otherPartner;
  const asked = { customerId: order.customerId, transactionId: String(order.id), status: '6' };
  const answer = await stranger.post('test/changeOfframpStatus', asked);
  assert.equal(answer.status, 404);
  assert.equal(await world.statusOf(order), 0);
});
