/**
 * The page of a checkout agrees with the state of its order's money: it either asks the customer for something, or says that
 * there is nothing to do, never both.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { block, releaseBlocked } from '../../src/orders/index.ts';
import { openBrowser } from '../protocols/checkout/environment.ts';
import type { Came } from '../support/client.ts';
import { operatorIn } from '../support/staffed.ts';
import { openStory, type Sale, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

const NOTHING_TO_DO = /You need not do anything/;
const ASKS = /Where your money goes/;
const LOOKED_INTO = 'We are checking your payment';
const GOES_BACK = 'We are refunding your payment';

const actions = (order: Sale) => ({ orderId: order.id, by: 'a person', why: 'looked at', now: world.clock.now() });
const refundsOf = async (order: Sale): Promise<Came[]> =>
  (await world.told<Came>('offramp/refunds', { customerId: order.customerId, transactionId: String(order.id) }))
    .refunds;

/** A sale of ten that its customer creates on our page. */
async function checksOut(how: { reference?: string } = {}) {
  const { id: customerId } = await world.verifiedCustomer();
  const { link } = await world.told<{ link: string }>('/onramp/api/v2/common/transaction/generateLink', {
    type: '2',
    coinCode: 'usdc',
    network: 'matic20',
    quantity: '10',
    fiatType: '1',
    customerId,
    ...(how.reference === undefined ? {} : { merchantRecognitionId: how.reference }),
  });
  const browser = openBrowser();
  const login = async () => {
    await browser.open(`${link}?go=1`);
    await browser.go('code');
    return await browser.go('login', { code: '123456' });
  };
  const { text } = await login();
  const quote = /name="quote" value="(\d+)"/.exec(text)?.[1] ?? '';
  const fiatAccount = /<option value="(\d+)"/.exec(text)?.[1] ?? '';
  const paid = await browser.go('order', { quote, fiatAccount });
  const [row] = await world.read((tx) =>
    tx.rows<{ id: bigint; depositTarget: string }>('select id, deposit_target from orders where customer_id = $1', [
      customerId,
    ]),
  );
  assert.ok(row !== undefined, paid.text);
  const order: Sale = {
    ...{ id: row.id, customerId, chain: 'matic20', coin: 'usdc', asset: 'usdc.matic20', fiat: 'INR' },
    ...{ depositAddress: row.depositTarget, fromAmount: '10', toAmount: '' },
    fees: { operator: 0n, partner: 0n, rail: 0n, chain: 0n },
  };
  return { order, browser, login, page: async () => await browser.open(link) };
}

describe('the page of a sale', () => {
  test('released from a legal block asks for a destination, and then says that the money goes back', async () => {
    const { order, browser, page } = await checksOut({ reference: 'screen:hold' });
    await world.pays(order, '10');
    await world.mines(2);
    await world.reaches(order, 3);
    await world.read((tx) => block(world.server.orders, tx, actions(order)));
    const blocked = await page();
    assert.equal(blocked.title, LOOKED_INTO);
    assert.match(blocked.text, NOTHING_TO_DO);
    await world.read((tx) => releaseBlocked(world.server.orders, tx, { ...actions(order), legalAct: 'order 12/2026' }));
    const released = await page();
    assert.match(released.text, ASKS);
    assert.doesNotMatch(
      released.text,
      NOTHING_TO_DO,
      'the page asks for an address and says that nothing is to be done',
    );
    assert.equal(released.title, GOES_BACK);
    const named = await browser.go('destination', { wallet: world.newAddress() });
    assert.equal(named.title, GOES_BACK, 'the page still says that we are looking into a payment that goes back');
    await world.until('it went back', async () => {
      await world.mines(1);
      return (await refundsOf(order))[0]?.status === 'settled';
    });
    assert.equal((await page()).title, 'Your payment was refunded');
  });

  test('with a refund requested by an operator without a destination asks its customer for one', async () => {
    const { order, browser, page } = await checksOut({ reference: 'screen:hold' });
    await world.pays(order, '10');
    await world.mines(2);
    await world.reaches(order, 3);
    assert.doesNotMatch((await page()).text, ASKS);
    const ada = await operatorIn(world, 'ada', 'admin');
    const said = await ada.does(`/orders/${order.id}/refund`, { failure: 'other' });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    const asked = await page();
    assert.match(asked.text, ASKS);
    assert.doesNotMatch(asked.text, NOTHING_TO_DO);
    assert.equal(asked.title, GOES_BACK);
    await browser.go('destination', { wallet: world.newAddress() });
    await world.until('it went back', async () => {
      await world.mines(1);
      return (await refundsOf(order))[0]?.status === 'settled';
    });
    assert.equal((await page()).title, 'Your payment was refunded');
  });

  test('refunded by policy asks for a destination, and does not say that there is nothing to do', async () => {
    await world.goesBy('offramp', 'usdc', { underpaid: { acceptBps: 0, beyond: 'refund' } });
    const { order, browser, login, page } = await checksOut();
    await world.pays(order, '4');
    await world.mines(2);
    await world.until('the part is there', async () => /4 USDC of 10 USDC have arrived/.test((await page()).text));
    await world.deadlinePasses();
    await login();
    const asked = await world.until('it asks where the part goes', async () => {
      const shown = await page();
      return ASKS.test(shown.text) ? shown : undefined;
    });
    assert.doesNotMatch(asked.text, NOTHING_TO_DO, 'the page asks for an address and says that nothing is to be done');
    assert.equal(asked.title, GOES_BACK);
    await browser.go('destination', { wallet: world.newAddress() });
    await world.until('it went back', async () => {
      await world.mines(1);
      return (await refundsOf(order))[0]?.status === 'settled';
    });
    assert.equal((await page()).title, 'Your payment was refunded');
    await world.goesBy('offramp', 'usdc', {});
  });
});
