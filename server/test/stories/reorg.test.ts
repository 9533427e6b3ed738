/** Reorgs that remove a customer's deposit from the chain, before and after it was confirmed. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setConfirmationPolicy } from '../../src/partners/index.ts';
import { openStory, type Paid, type Sale, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

/** More blocks than the chain mines on its own during a story. */
const MANY = 11;
const USDC = 'usdc.matic20';
const usually = () => world.confirmsAfter(USDC, 2);
const patiently = () => world.confirmsAfter(USDC, MANY);

const exceptionOf = async (order: Sale) => (await world.traceOf(order)).order.exception;
const depositStates = async (order: Sale) => (await world.traceOf(order)).deposits.map(({ state }) => state);

/** The transaction that a reorg removed is in a block again, and the order has it as its deposit. */
const isMadeGood = (order: Sale) =>
  world.until('the order has its deposit again', async () => (await exceptionOf(order)) === 'deposit_replaced');

describe('a deposit reorged out before it was confirmed', () => {
  test('returns the order to created, and mined again it settles once', async () => {
    await patiently();
    const order = await world.sells('100', 'usdc');
    const books = await world.balances();
    const paid = await world.pays(order, '100');
    await world.mines(1);
    await world.reaches(order, 1);
    await world.reorgsAway(paid);
    await world.reaches(order, 0);
    assert.deepEqual(await depositStates(order), ['reversed']);
    assert.deepEqual(await world.changesSince(books), {});

    await world.paysAgain(paid);
    await world.mines(1);
    await world.reaches(order, 1);
    await world.mines(MANY);
    await world.reaches(order, 6);
    assert.deepEqual(await depositStates(order), ['applied']);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 1);
    assert.deepEqual(await world.eventsOf(order), [
      'created',
      'deposit_seen',
      'created',
      'deposit_seen',
      'deposit_confirmed',
      'paying_out',
      'settled',
    ]);
    assert.deepEqual(await world.casesOf(order), []);
  });

  test('and never mined again lets the order expire', async () => {
    await patiently();
    const order = await world.sells('100', 'usdc');
    const paid = await world.pays(order, '100');
    await world.mines(1);
    await world.reaches(order, 1);
    await world.reorgsAway(paid);
    await world.reaches(order, 0);
    await world.deadlinePasses();
    await world.reaches(order, -1);
  });

  test('while another part of it stays leaves the order where it is', async () => {
    await patiently();
    const order = await world.sells('100', 'usdc');
    await world.pays(order, '40');
    await world.mines(1);
    await world.reaches(order, 1);
    const second = await world.pays(order, '60');
    await world.mines(1);
    await world.until('both are seen', async () => (await depositStates(order)).length === 2);
    await world.reorgsAway(second);
    await world.until('one is gone', async () => (await depositStates(order)).includes('reversed'));
    assert.equal(await world.statusOf(order), 1);
    await world.paysAgain(second);
    await world.mines(MANY + 1);
    await world.reaches(order, 6);
    assert.deepEqual(await depositStates(order), ['applied', 'applied']);
  });
});

test('a large amount in small parts waits for as many blocks as in one transfer, and a reorg of fewer blocks costs nothing', async () => {
  const fromWhole = (units: bigint, confirmations: number) => ({ fromUnits: units * 1_000_000n, confirmations });
  await world.read((tx) =>
    setConfirmationPolicy(tx, { chain: 'matic20', asset: USDC, steps: [fromWhole(0n, 2), fromWhole(1_000n, MANY)] }),
  );
  await world.blocksWait(async () => {
    const order = await world.sells('2000', 'usdc');
    const books = await world.balances();
    const [first] = await world.paysInOneBlock(order, '999', '999', '2');
    assert(first);
    await world.mines(2);
    const head = BigInt(await world.rpc<string>('matic20', 'eth_blockNumber'));
    await world.until('the blocks are followed', async () => {
      const [chain] = await world.read((tx) =>
        tx.rows<{ headNumber: bigint }>(`select head_number from chains where rail = 'evm.matic20'`),
      );
      return chain?.headNumber === head;
    });
    assert.deepEqual(
      await depositStates(order),
      ['seen', 'seen', 'seen'],
      'a part was confirmed with too few blocks for the sum',
    );
    await world.reorgsAway(first);
    await world.reaches(order, 0);
    assert.deepEqual(await world.changesSince(books), {});
    await world.paysInOneBlock(order, '999', '999', '2');
    await world.mines(MANY - 1);
    await world.reaches(order, 6);
  });
  await usually();
});

describe('a confirmed deposit reversed by a reorg', () => {
  const lossOf = (books: Map<string, bigint>) => world.changesSince(books).then((changes) => changes[`loss:${USDC}`]);

  async function pays(order: Sale): Promise<Paid> {
    await usually();
    const paid = await world.pays(order, '100');
    await world.mines(2);
    return paid;
  }

  test('of a held order is a loss and a case, and it is not paid out', async () => {
    const order = await world.sells('100', 'usdc', { reference: 'screen:hold' });
    const books = await world.balances();
    const paid = await pays(order);
    await world.reaches(order, 3);
    await world.reorgsAway(paid);
    await world.opensCase(order, 'deposit_lost');
    assert.equal(await lossOf(books), 100_000_000n);
    assert.equal((await world.changesSince(books))[`custody:evm.matic20:deposits:${USDC}`], undefined);
    assert.equal(await exceptionOf(order), 'deposit_lost');
    assert.deepEqual(await depositStates(order), ['lost']);

    await assert.rejects(world.releases(order), { name: 'Refusal', code: 'order_over' });
    assert.match((await world.traceOf(order)).next, /^a person refunds it, or assigns .*: it cannot be released/);
    assert.equal(await world.statusOf(order), 3);
    assert.deepEqual((await world.traceOf(order)).payouts, []);

    // Nothing is left to refund: the order ends, and the booked loss is reversed because no claim backs it.
    await world.rejects(order, { failure: 'other', address: world.newAddress() });
    assert.equal(await world.stateOf(order), 'cancelled');
    assert.equal(await lossOf(books), undefined);
    assert.deepEqual(await world.openCaseKinds(order), []);
  });

  test('of a held order that is mined again is its deposit again, and an operator may release the order, which pays once', async () => {
    const order = await world.sells('100', 'usdc', { reference: 'screen:hold' });
    const books = await world.balances();
    const paid = await pays(order);
    await world.reaches(order, 3);
    await world.reorgsAway(paid);
    await world.opensCase(order, 'deposit_lost');
    await world.paysAgain(paid);
    await world.mines(2);
    await isMadeGood(order);
    const changes = await world.changesSince(books);
    assert.equal(changes[`loss:${USDC}`], undefined);
    assert.equal(changes[`suspense:evm.matic20:${USDC}`], undefined);
    assert.equal(changes[`custody:evm.matic20:deposits:${USDC}`], 100_000_000n);
    assert.deepEqual(await depositStates(order), ['reversed', 'applied']);
    assert.ok(!(await world.casesOf(order)).some(({ kind, open }) => open && kind.startsWith('deposit_')));

    await world.releases(order);
    await world.reaches(order, 6);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 1);
  });

  test('of a settled order that is mined again ends the debt, and is not refunded as a second deposit', async () => {
    await world.goesBy('offramp', 'usdc', { second: { then: 'refund' } });
    const order = await world.sells('100', 'usdc', { refundAddress: world.newAddress() });
    const books = await world.balances();
    const paid = await pays(order);
    await world.reaches(order, 6);
    await world.reorgsAway(paid);
    await world.opensCase(order, 'customer_owes');
    await world.paysAgain(paid);
    await world.mines(2);
    await isMadeGood(order);
    assert.equal((await world.changesSince(books))[`loss:${USDC}`], undefined);
    assert.equal(await world.statusOf(order), 6);
    const { refunds } = await world.traceOf(order);
    assert.deepEqual(refunds, []);
    await world.goesBy('offramp', 'usdc', {});
  });

  test('of a settled order keeps another payment of its customer from being refunded until an operator decides', async () => {
    await world.goesBy('offramp', 'usdc', { second: { then: 'refund' } });
    const order = await world.sells('100', 'usdc', { refundAddress: world.newAddress() });
    const paid = await pays(order);
    await world.reaches(order, 6);
    await world.reorgsAway(paid);
    await world.opensCase(order, 'customer_owes');
    // A different amount, because an identical transfer would be the same transaction.
    await world.pays(order, '90');
    await world.mines(2);
    await world.opensCase(order, 'deposit_second');
    const { refunds } = await world.traceOf(order);
    assert.deepEqual(refunds, []);
    await world.goesBy('offramp', 'usdc', {});
  });

  test('of an order that waits for funds keeps the order from being paid out when they come', async () => {
    await world.setsAside('inr', 0n);
    const order = await world.sells('100', 'usdc');
    const paid = await pays(order);
    await world.isShort(order);
    await world.reorgsAway(paid);
    await world.opensCase(order, 'deposit_lost');
    await world.bank.fund({ currency: 'INR', units: 100_000_000_00n, id: 'after the reorg' });
    await world.reaches(order, 3);
    assert.equal((await world.opensCase(order, 'on_hold')).reason, 'deposit_lost');
    assert.deepEqual((await world.traceOf(order)).payouts, []);
    await world.until('no shortage is open', async () => (await world.shortages('inr')).every(({ open }) => !open));
  });

  test('of a settled order is a debt of its customer and a case, and the order stays settled', async () => {
    const order = await world.sells('100', 'usdc');
    const books = await world.balances();
    const paid = await pays(order);
    await world.reaches(order, 6);
    await world.reorgsAway(paid);
    await world.opensCase(order, 'customer_owes');
    assert.equal(await world.statusOf(order), 6);
    assert.equal(await exceptionOf(order), 'deposit_lost');
    assert.equal((await world.changesSince(books))[`loss:${USDC}`], undefined);
    assert.equal((await world.eventsOf(order)).at(-1), 'settled');
  });

  test('of an order that is being paid out is a debt and a case, and the payout is completed', async () => {
    const order = await world.sells('100', 'usdc', { customer: await world.verifiedCustomer({ ending: '9005' }) });
    const paid = await pays(order);
    await world.reaches(order, 5);
    await world.reorgsAway(paid);
    await world.opensCase(order, 'customer_owes');
    assert.equal(await world.statusOf(order), 5);
    world.clock.advance(60_000);
    await world.reaches(order, 6);
  });

  test('that was one of two keeps the held order from being paid out, and the other one is refunded', async () => {
    await usually();
    const order = await world.sells('100', 'usdc', { reference: 'screen:hold' });
    await world.pays(order, '40');
    await world.mines(1);
    const second = await world.pays(order, '60');
    await world.mines(2);
    await world.reaches(order, 3);
    await world.reorgsAway(second);
    await world.opensCase(order, 'deposit_lost');
    assert.deepEqual(await depositStates(order), ['applied', 'lost']);
    await assert.rejects(world.releases(order), { name: 'Refusal' });
    const address = world.newAddress();
    await world.rejects(order, { failure: 'other', address });
    await world.refundArrives(order, -2);
    assert.equal(await world.tokensOf(address, 'usdc'), '40');
    assert.deepEqual(await depositStates(order), ['refunded', 'lost']);
    assert.deepEqual(await world.openCaseKinds(order), []);
  });

  test('that was a part and is paid again settles the order', async () => {
    const order = await world.sells('300', 'usdc');
    const paid = await pays(order);
    await world.until('the part is booked', async () => (await exceptionOf(order)) === 'underpaid');
    await world.reorgsAway(paid);
    await world.reaches(order, 0);
    await world.pays(order, '300');
    await world.mines(2);
    await world.reaches(order, 6);
  });

  test('that was a part does not keep the order from expiring', async () => {
    const order = await world.sells('300', 'usdc');
    const paid = await pays(order);
    await world.until('the part is booked', async () => (await exceptionOf(order)) === 'underpaid');
    await world.reorgsAway(paid);
    await world.reaches(order, 0);
    await world.deadlinePasses();
    await world.reaches(order, -1);
  });
});
