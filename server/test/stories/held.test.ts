/** Orders held for a person: released, refunded, and refunds to destinations that are denied. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { replaceDenyList } from '../../src/compliance/index.ts';
import { blockCustomer } from '../../src/customers/index.ts';
import { heldSale } from '../support/orders.ts';
import { openStory, type Sale, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

/** A sale of a hundred whose deposit has come and which screening holds. */
const HELD = {
  status: 3,
  told: 'on_hold',
  exception: null,
  cases: ['on_hold'],
  books: { 'custody:evm.matic20:deposits:usdc.matic20': 100_000_000n, 'treasury:usdc.matic20': 0n },
};

const held = async (amount = '100'): Promise<Sale> => (await heldSale(world, amount)).order;
const decisionsOn = (order: Sale) =>
  world.read((tx) =>
    tx.rows<{ about: string; outcome: string; rules: string }>(
      'select about, outcome, rules from decisions where order_id = $1 order by id',
      [order.id],
    ),
  );

describe('an order held by screening', () => {
  test('shows 3, has a case with the reason, and its decision is stored with the rules it followed', async () => {
    const books = await world.balances();
    const order = await held();
    const { reason, open } = await world.opensCase(order, 'on_hold');
    assert.deepEqual([reason, open], ['held_by_magic_value', true]);
    const [decision] = await decisionsOn(order);
    assert.deepEqual([decision?.about, decision?.outcome], ['payout', 'held']);
    assert.match(decision?.rules ?? '', /built-in/);
    assert.deepEqual(await world.changesSince(books), { 'custody:evm.matic20:deposits:usdc.matic20': 100_000_000n });
    assert.equal((await world.traceOf(order)).heldBy, 'us, for the customer (the deposit)');
  });

  test('is settled at the promised rate once released, and its case is closed', async () => {
    const order = await held();
    await world.releases(order);
    await world.reaches(order, 6);
    assert.equal((await world.shown(order)).toAmount, order.toAmount);
    assert.deepEqual(
      (await world.casesOf(order)).map(({ kind, open }) => [kind, open]),
      [['on_hold', false]],
    );
    assert.deepEqual(await world.eventsOf(order), [
      'created',
      'deposit_seen',
      'deposit_confirmed',
      'on_hold',
      'paying_out',
      'settled',
    ]);
    const release = (await world.traceOf(order)).history.find(({ event }) => event === 'released');
    assert.deepEqual(release?.facts, { by: 'a person', why: 'looked at and found good' });
  });

  test('is refunded to the requested address when an operator refunds it, shows -2, and the refund was screened', async () => {
    const order = await held();
    const address = world.newAddress();
    await world.rejects(order, { failure: 'other', address });
    assert.equal(await world.statusOf(order), 3);
    await world.refundArrives(order, -2);
    assert.equal(await world.tokensOf(address, 'usdc'), '100');
    assert.deepEqual(
      (await decisionsOn(order)).map(({ about, outcome }) => [about, outcome]),
      [
        ['payout', 'held'],
        ['refund', 'cleared'],
      ],
    );
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 0);
    const { deposits, payouts, refunds } = await world.traceOf(order);
    assert.deepEqual(
      deposits.map(({ state }) => state),
      ['refunded'],
    );
    assert.deepEqual(
      payouts.map(({ id, purpose, depositId, state }) => [id, purpose, depositId, state]),
      [[refunds[0]?.key, 'refund', deposits[0]?.id, 'settled']],
    );
  });

  test('is either settled or refunded when both are requested at once', async () => {
    const order = await held();
    const address = world.newAddress();
    const actions = await Promise.allSettled([
      world.releases(order),
      world.rejects(order, { failure: 'other', address }),
      world.releases(order),
      world.rejects(order, { failure: 'other', address }),
    ]);
    // A refund may follow a release, until the payout is submitted; a release never follows a refund.
    assert.equal(
      actions.some(({ status }) => status === 'fulfilled'),
      true,
    );
    for (const action of actions) {
      if (action.status === 'rejected') assert.match(action.reason.code, /^(order_over|payout_submitted)$/);
    }
    await world.mines(2);
    await world.until('it is over', async () => [6, -2].includes(await world.statusOf(order)));
    const paidBack = (await world.statusOf(order)) === -2;
    assert.equal(await world.tokensOf(address, 'usdc'), paidBack ? '100' : '0');
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, paidBack ? 0 : 1);
  });
});

describe('a refund', () => {
  test('to a denied destination is refused, and the order stays held until another is named', async () => {
    const order = await held();
    const denied = world.newAddress();
    await world.read((tx) =>
      replaceDenyList(tx, world.vault, {
        list: 'sanctions',
        version: '2026-01-05',
        destinations: [{ kind: 'address', value: denied.toUpperCase().replace('0X', '0x') }],
        now: world.clock.now(),
      }),
    );
    await assert.rejects(world.rejects(order, { failure: 'other', address: denied }), { code: 'destination_held' });
    assert.equal(await world.statusOf(order), 3);
    assert.equal((await world.opensCase(order, 'on_hold')).open, true);
    const [, refused] = await decisionsOn(order);
    assert.deepEqual([refused?.about, refused?.outcome], ['refund', 'held']);
    assert.match(refused?.rules ?? '', /sanctions@2026-01-05/);

    const address = world.newAddress();
    await world.rejects(order, { failure: 'other', address });
    await world.refundArrives(order, -2);
    assert.deepEqual([await world.tokensOf(address, 'usdc'), await world.tokensOf(denied, 'usdc')], ['100', '0']);
  });

  test('that the chain rejects leaves the deposit with the order, and opens a case', async () => {
    const books = await world.balances();
    const order = await held();
    const address = world.newAddress();
    world.takesNothing(address, 'matic20');
    await world.rejects(order, { failure: 'other', address });
    await world.stands(order, books, { ...HELD, told: 'refund_held', cases: ['refund_held'] });
    assert.deepEqual(
      (await world.traceOf(order)).payouts.map(({ state }) => state),
      ['rejected'],
    );
  });
});

describe('compliance without magic values', () => {
  test('holds a payout to a denied account', async () => {
    const books = await world.balances();
    const customer = await world.verifiedCustomer({ iban: 'GB33BUKB20201555555555' });
    await world.read((tx) =>
      replaceDenyList(tx, world.vault, {
        list: 'accounts',
        version: '1',
        destinations: [{ kind: 'account', value: 'GB33 BUKB 2020 1555 5555 55' }],
        now: world.clock.now(),
      }),
    );
    const order = await world.sells('100', 'usdc', { fiat: 'EUR', customer });
    await world.pays(order, '100');
    await world.mines(2);
    assert.equal((await world.opensCase(order, 'on_hold')).reason, 'destination_denied');
    await world.stands(order, books, HELD);
  });

  test('does not pay a customer who was blocked after paying', async () => {
    const books = await world.balances();
    const customer = await world.verifiedCustomer();
    const order = await world.sells('100', 'usdc', { customer });
    await world.read((tx) => blockCustomer(tx, customer.id, world.clock.now()));
    await world.pays(order, '100');
    await world.mines(2);
    assert.equal((await world.opensCase(order, 'on_hold')).reason, 'customer_blocked');
    await world.stands(order, books, HELD);
  });
});
