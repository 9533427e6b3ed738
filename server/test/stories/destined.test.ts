/**
 * An operator names a destination for money that waits for one: money released by legal act, or a returned payout. Whatever the
 * order was, the destination has to fit the money itself: crypto goes to an address, fiat to an account in its currency.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { oneOrTwoDo, type Person } from '../protocols/operator/people.ts';
import { heldSale } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let finn: Person;

before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
});
after(async () => await world?.close());

type Order = Sale | Purchase;

async function does(path: string, body: Record<string, unknown> = {}): Promise<void> {
  const done = await oneOrTwoDo(finn, ada, path, body);
  assert.equal(done.status, 200, `${path}: ${JSON.stringify(done.body)}`);
}

const soldAndHeld = async (): Promise<Sale> => (await heldSale(world, '10')).order;
async function convertedSale(): Promise<Sale> {
  const order = await world.sells('10', 'usdc', { customer: await world.verifiedCustomer({ ending: '9001' }) });
  await world.pays(order, '10');
  await world.mines(2);
  await world.becomes(order, 'payout_held');
  return order;
}
async function heldPurchase(): Promise<Purchase> {
  const order = await world.buys('5000', 'usdc', { reference: 'screen:hold' });
  await world.credits(order, '5000');
  await world.becomes(order, 'on_hold');
  return order;
}
async function convertedPurchase(): Promise<Purchase> {
  const address = world.newAddress();
  world.takesNothing(address, 'matic20');
  const order = await world.buys('5000', 'usdc', { address });
  await world.credits(order, '5000');
  await world.becomes(order, 'payout_held');
  return order;
}
async function released<O extends Order>(made: Promise<O>): Promise<O> {
  const order = await made;
  await does(`/orders/${order.id}/block`);
  await does(`/orders/${order.id}/release-blocked`, { legalAct: 'court 7/2026' });
  return order;
}
/** A sale whose payout the bank paid and sent back. */
async function cameBack(): Promise<Sale> {
  const order = await world.sells('10', 'usdc', { customer: await world.verifiedCustomer({ ending: '9002' }) });
  await world.pays(order, '10');
  await world.mines(2);
  await world.opensCase(order, 'payout_returned');
  return order;
}

const WAITING: readonly [what: string, money: 'coins' | 'rupees', make: () => Promise<Order>][] = [
  ['the deposit of a sale, released', 'coins', () => released(soldAndHeld())],
  ['the payout of a sale that had been converted, released', 'rupees', () => released(convertedSale())],
  ['the payout of a sale, returned', 'rupees', cameBack],
  ['the deposit of a purchase, released', 'rupees', () => released(heldPurchase())],
  ['the payout of a purchase that had been converted, released', 'coins', () => released(convertedPurchase())],
];

describe('an operator names where it goes:', () => {
  for (const [what, money, make] of WAITING)
    test(what, async () => {
      const order = await make();
      const refund = async () => (await world.traceOf(order)).refunds[0];
      const { fiatAccountId } = await world.verifiedAccount(order.customerId);
      const euros = await world.told('bank/addFiatAccount', {
        ...{ customerId: order.customerId, iban: 'DE89370400440532013000' },
      });
      const { fiatAccountId: strangers } = await world.verifiedCustomer();
      const address = world.newAddress();
      const path = `/orders/${order.id}/destination`;
      const said = async (to: Record<string, unknown>) => {
        const { status, body } = await finn.does(path, to);
        return [status, body.reason, body.fields];
      };
      const isCoins = money === 'coins';
      const wrong = (field: string, rule: string) => [400, 'malformed_field', { [field]: rule }];
      const coins = 'must be left out: usdc.matic20 is paid to an address on matic20';
      if (isCoins) {
        assert.deepEqual(await said({ fiatAccountId }), wrong('fiatAccountId', coins));
        assert.deepEqual(await said({ fiatAccountId: euros.fiatAccountId }), wrong('fiatAccountId', coins));
        assert.deepEqual(await said({ address: '0x12' }), wrong('address', 'must be an address on matic20'));
      } else {
        assert.deepEqual(await said({ address }), wrong('address', 'must be left out: inr is paid to an account'));
        assert.deepEqual(
          await said({ fiatAccountId: euros.fiatAccountId }),
          wrong('fiatAccountId', 'must be an account in inr'),
        );
      }
      assert.deepEqual((await said({ fiatAccountId: strangers })).slice(0, 2), [404, 'unknown_account']);
      assert.equal((await refund())?.state, 'needs_destination');

      await does(path, isCoins ? { address } : { fiatAccountId });
      await world.until('it is paid', async () => {
        await world.mines(1);
        return (await refund())?.state === 'settled';
      });
      const paid = await refund();
      assert.deepEqual(
        [paid?.address?.toLowerCase() ?? null, paid?.fiatAccountId ?? null],
        isCoins ? [address.toLowerCase(), null] : [null, BigInt(fiatAccountId)],
      );
    });
});

test('the books agree with bank and chain', async () => {
  await world.reconciles();
});
