/**
 * A bank recalls a credit, or a part of it, at a moment that is hard to decide: its payout is being submitted and the answer is not
 * known, its refund was rejected, or the bank's line names neither payer nor credit. Nothing is paid twice or lost, and the
 * customer owes what was paid out of the recalled money.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { chart } from '../../src/ledger/index.ts';
import { orderFacts } from '../../src/orders/index.ts';
import type { Rail, Sending, Sent } from '../../src/rails/rail.ts';
import { amountsDecide, oneOrTwoDo, type Person, twoDo } from '../protocols/operator/people.ts';
import { paysAfterAll, settledPurchase } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let finn: Person;

before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
  await world.read(amountsDecide);
});
after(async () => await world?.close());

/** The bank recalls this much of a credit, and names it. Waits until the statement's line was processed. */
async function recalls(id: string, line: string, units: bigint): Promise<void> {
  await world.bankShows({ id, direction: 'debit', units, reference: id, returnOf: line, why: 'recalled' });
  await world.until('the line was read', () =>
    world.read((tx) => tx.row('select from bank_lines where external_id = $1', [id])),
  );
}
/** The bank debits this much without a name or a reference, and two people name the deposit that it recalls. */
async function recallsNameless(line: string, order: Purchase, units: bigint): Promise<void> {
  await world.bankShows({ id: line, direction: 'debit', units, reference: '' });
  const id = await world.until('its case is open', async () => {
    const found = await world.read((tx) =>
      tx.row<{ id: bigint }>(`select id from cases where kind = 'unexplained_debit' and subject = $1`, [
        `bank.simulated:${line}`,
      ]),
    );
    return found?.id;
  });
  const deposit = String((await world.traceOf(order)).deposits[0]?.id);
  const said = { as: 'recall', evidence: line, amount: String(units / 100n), deposit };
  await twoDo(finn, ada, `/cases/${id}/correct`, said);
}
async function refunds(order: Purchase, fiatAccountId: string): Promise<void> {
  const done = await oneOrTwoDo(finn, ada, `/orders/${order.id}/refund`, { failure: 'other', fiatAccountId });
  assert.equal(done.status, 200, JSON.stringify(done.body));
}
const depositsOf = async (order: Purchase) =>
  (await world.traceOf(order)).deposits.map(({ state, units }) => [state, units]);
const refundsOf = async (order: Purchase) =>
  (await world.traceOf(order)).refunds.map(({ state, grossUnits }) => [state, grossUnits]);
const lossOf = async () => (await world.balance(chart.loss('inr'))).units;
/** What the order and its customer ended with: nothing may be lost or paid twice. */
const endsWith = async (order: Purchase) => ({
  state: await world.stateOf(order),
  paid: (await world.transfersTo(order)).length,
  refunds: await refundsOf(order),
  owed: await world.owed(order, 'inr'),
  cases: await world.openCaseKinds(order),
  blocked: await world.isBlocked(order),
});
const OWES = { cases: ['customer_owes'], blocked: true };
const OWES_NOTHING = { owed: 0n, cases: [], blocked: false };

type Caught = (send: () => Promise<Sent>, recalled: Promise<void>) => Promise<Sent>;

/** A purchase of which 2000 rupees are recalled while its payout is being submitted. @param catches how the submission goes */
async function recalledWhileCaught(id: string, catches: Caught) {
  const rail = world.server.rails.get('evm.matic20') as Rail;
  const { send } = rail;
  const [caught, recalled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const customer = await world.verifiedCustomer();
  const order = await world.buys('5000', 'usdc', { customer });
  let sends = 0;
  rail.send = async (sending: Sending) => {
    sends += sending.key === `pay_${order.id}_1` ? 1 : 0;
    if (sends !== 1) return await send(sending);
    const sent = catches(() => send(sending), recalled.promise);
    caught.resolve();
    return await sent;
  };
  try {
    const line = await world.credits(order, '5000');
    await caught.promise;
    assert.equal((await world.traceOf(order)).payouts[0]?.state, 'submitting');
    await recalls(id, line, 200_000n);
    assert.deepEqual(await depositsOf(order), [
      ['applied', 300_000n],
      ['lost', 200_000n],
    ]);
    recalled.resolve();
    await world.until(
      'the submission has ended',
      async () => {
        world.clock.advance(5_000);
        await world.mines(1);
        return ['settled', 'payout_held'].includes(await world.stateOf(order));
      },
      100_000,
    );
  } finally {
    recalled.resolve();
    rail.send = send;
  }
  return { order, fiatAccountId: customer.fiatAccountId };
}

const NO_ANSWER: Sent = { outcome: 'unknown', why: 'no answer' };
const LEFT: readonly [string, Caught][] = [
  ['whose transaction the node has', async (send, recalled) => (await Promise.all([send(), recalled]))[0]],
  [
    'whose transaction the node has, with its answer lost,',
    async (send, recalled) => {
      await Promise.all([send(), recalled]);
      return NO_ANSWER;
    },
  ],
];
const NOT_LEFT: readonly [string, Caught][] = [
  [
    'that its rail then rejects',
    async (_, recalled) => {
      await recalled;
      return { outcome: 'rejected', why: 'not now' };
    },
  ],
];

describe('a part of a credit that is recalled while its payout is being submitted', () => {
  for (const [at, [name, catches]] of LEFT.entries())
    test(`${name} is owed by the customer, who was paid once`, async () => {
      const loss = await lossOf();
      const { order } = await recalledWhileCaught(`caught-${at}`, catches);
      const paid = { state: 'settled', paid: 1, refunds: [] };
      assert.deepEqual(await endsWith(order), { ...paid, ...OWES, owed: 200_000n });
      assert.equal(await lossOf(), loss);
      await world.reconciles();
    });

  for (const [at, [name, catches]] of NOT_LEFT.entries())
    test(`${name} stops the payout, and the rest goes back`, async () => {
      const loss = await lossOf();
      const { order, fiatAccountId } = await recalledWhileCaught(`stopped-${at}`, catches);
      assert.equal(await world.stateOf(order), 'payout_held');
      const again = await oneOrTwoDo(finn, ada, `/orders/${order.id}/retry`);
      assert.equal(again.body.reason, 'order_over', 'the payout of a recalled deposit was sent again');
      // The customer seemed to have been paid. Two people end the block, and the refund ends the debt.
      await twoDo(finn, ada, `/customers/${order.customerId}/unblock`, {});
      await refunds(order, fiatAccountId);
      await world.becomes(order, 'refunded');
      const gone = { state: 'refunded', paid: 0, refunds: [['settled', 300_000n]] };
      assert.deepEqual(await endsWith(order), { ...gone, ...OWES_NOTHING });
      assert.equal(await lossOf(), loss);
      await world.reconciles();
    });
});

describe('a whole credit that is recalled by a line without a name or a reference', () => {
  test('after its payout was sent, is owed by the customer', async () => {
    const { order } = await settledPurchase(world);
    const loss = await lossOf();
    await recallsNameless('nameless-1', order, 500_000n);
    const paid = { state: 'settled', paid: 1, refunds: [] };
    assert.deepEqual(await endsWith(order), { ...paid, ...OWES, owed: 500_000n });
    assert.equal(await lossOf(), loss);
    await world.reconciles();
  });

  test('before its payout was sent, stops it, and its order ends with nothing', async () => {
    const switches = { kind: 'payouts', subject: 'all' };
    assert.equal((await ada.does('/kill-switches', switches)).status, 200);
    const customer = await world.verifiedCustomer();
    const order = await world.buys('5000', 'usdc', { customer });
    await world.credits(order, '5000');
    await world.becomes(order, 'paying_out');
    const loss = await lossOf();
    await recallsNameless('nameless-2', order, 500_000n);
    await world.opensCase(order, 'payout_held');
    assert.deepEqual(await depositsOf(order), [['lost', 500_000n]]);
    await refunds(order, customer.fiatAccountId);
    assert.equal((await oneOrTwoDo(ada, finn, '/kill-switches/lift', switches)).status, 200);
    await world.becomes(order, 'cancelled');
    assert.deepEqual(await endsWith(order), { state: 'cancelled', paid: 0, refunds: [], ...OWES_NOTHING });
    assert.equal(await lossOf(), loss);
    await world.reconciles();
  });

  test('while it clears, never becomes a payout', async () => {
    await world.clears('inr', 3_600);
    const order = await world.buys('5000', 'usdc');
    await world.credits(order, '5000');
    await world.becomes(order, 'deposit_seen');
    const loss = await lossOf();
    await recallsNameless('nameless-3', order, 500_000n);
    assert.deepEqual(await depositsOf(order), [['reversed', 500_000n]]);
    world.clock.advance(3_600_000);
    await world.clears('inr', 0);
    await world.deadlinePasses();
    await world.becomes(order, 'expired');
    assert.deepEqual(await endsWith(order), { state: 'expired', paid: 0, refunds: [], ...OWES_NOTHING });
    assert.equal(await lossOf(), loss);
    await world.reconciles();
  });
});

describe('a refund that its bank rejected, of a credit that is then recalled in part', () => {
  /** A purchase for 5000 rupees whose refund the bank rejected, and then recalled 2000 of. */
  async function replaced(id: string) {
    const customer = await world.verifiedCustomer({ ending: '9001' });
    const order = await world.buys('5000', 'usdc', { customer, reference: 'screen:hold' });
    const line = await world.credits(order, '5000');
    await world.becomes(order, 'on_hold');
    await refunds(order, customer.fiatAccountId);
    await world.becomes(order, 'refund_held');
    const loss = await lossOf();
    await recalls(id, line, 200_000n);
    assert.deepEqual(await refundsOf(order), [
      ['cancelled', 500_000n],
      ['rejected', 300_000n],
    ]);
    const { fiatAccountId } = await world.verifiedAccount(customer.id);
    return { order, line, loss, fiatAccountId };
  }
  const retries = async (order: Purchase, fiatAccountId: string) =>
    await oneOrTwoDo(finn, ada, `/orders/${order.id}/retry-refund`, { fiatAccountId });

  test('is replaced by a refund of the rest, which is paid once', async () => {
    const { order, loss, fiatAccountId } = await replaced('rest-1');
    assert.equal((await retries(order, fiatAccountId)).status, 200);
    await world.becomes(order, 'refunded');
    const gone = { state: 'refunded', paid: 0 };
    const all = [
      ['cancelled', 500_000n],
      ['settled', 300_000n],
    ];
    assert.deepEqual(await endsWith(order), { ...gone, refunds: all, ...OWES_NOTHING });
    assert.equal(await lossOf(), loss);
    await world.reconciles();
  });

  test('and of which another part is recalled after the refund of the rest was paid: that part is owed', async () => {
    const { order, line, loss, fiatAccountId } = await replaced('rest-3');
    assert.equal((await retries(order, fiatAccountId)).status, 200);
    await world.becomes(order, 'refunded');
    await recalls('rest-4', line, 100_000n);
    const all = [
      ['cancelled', 500_000n],
      ['settled', 300_000n],
    ];
    assert.deepEqual(await endsWith(order), { state: 'refunded', paid: 0, refunds: all, ...OWES, owed: 100_000n });
    assert.equal(await lossOf(), loss);
    await world.reconciles();
  });

  describe('and is shown as paid after all', () => {
    const ALL = { kind: 'payouts', subject: 'all' };
    async function whileStopped(body: () => Promise<void>): Promise<void> {
      assert.equal((await ada.does('/kill-switches', ALL)).status, 200);
      await body();
      assert.equal((await oneOrTwoDo(ada, finn, '/kill-switches/lift', ALL)).status, 200);
    }
    /** The customer has received the whole credit once, and owes what was recalled of it. */
    async function owesRecalled(order: Purchase, loss: bigint, gone: readonly bigint[] = [200_000n]): Promise<void> {
      await world.until('the order has ended', async () => (await world.stateOf(order)) === 'refunded');
      const owed = gone.reduce((sum, units) => sum + units, 0n);
      const { refunds, ...end } = await endsWith(order);
      const cases = ['customer_owes', 'payout_contradiction'];
      assert.deepEqual(
        { ...end, cases: [...new Set(end.cases)].toSorted() },
        { state: 'refunded', paid: 0, owed, cases, blocked: true },
      );
      assert.deepEqual(
        new Set(refunds.filter(([state]) => state !== 'cancelled').map(String)),
        new Set([500_000n - owed, ...gone].map((units) => `settled,${units}`)),
      );
      assert.equal(await lossOf(), loss);
      const { deposits, payouts } = await world.traceOf(order);
      assert.deepEqual(
        deposits.map(({ state, takenUnits, refundUnits, units }) => [state, takenUnits, refundUnits === units]),
        deposits.map((_, at) => [at === 0 ? 'refunded' : 'lost', 0n, true]),
      );
      assert.deepEqual(
        payouts.filter(({ state }) => state === 'settled').map(({ units }) => units),
        [500_000n],
      );
      await world.reconciles();
    }

    test('is what the customer has received: the recalled part is owed, and the rest does not leave', async () => {
      const { order, loss, fiatAccountId } = await replaced('late-1');
      await paysAfterAll(world, order);
      await owesRecalled(order, loss);
      assert.equal((await retries(order, fiatAccountId)).body.reason, 'order_over', 'the rest was sent again');
      assert.equal((await world.eventsOf(order)).at(-1), 'refunded');
    });

    test('is so after two recalls have replaced it twice', async () => {
      const { order, line, loss } = await replaced('late-2');
      await recalls('late-3', line, 100_000n);
      await paysAfterAll(world, order);
      await owesRecalled(order, loss, [100_000n, 200_000n]);
    });

    test('is so after the rest was recalled, too: then all of it is owed', async () => {
      const { order, line, loss } = await replaced('late-4');
      await recalls('late-5', line, 300_000n);
      await paysAfterAll(world, order);
      await world.becomes(order, 'refunded');
      assert.deepEqual([await world.owed(order, 'inr'), await lossOf()], [500_000n, loss]);
      await world.reconciles();
    });

    test('is so after its order has given up the rest and ended', async () => {
      const { order, line, loss, fiatAccountId } = await replaced('late-9');
      await recalls('late-10', line, 300_000n);
      assert.equal((await retries(order, fiatAccountId)).status, 200);
      await world.becomes(order, 'cancelled');
      assert.equal(await lossOf(), loss);
      await paysAfterAll(world, order);
      assert.deepEqual([await world.owed(order, 'inr'), await lossOf()], [500_000n, loss]);
      const kinds = new Set(await world.openCaseKinds(order));
      assert.deepEqual(kinds, new Set(['customer_owes', 'payout_contradiction']));
      assert.deepEqual([await world.stateOf(order), await world.isBlocked(order)], ['cancelled', true]);
      await world.reconciles();
    });

    test('stops the refund of the rest, as long as its submission has not begun', async () => {
      const { order, loss, fiatAccountId } = await replaced('late-6');
      await whileStopped(async () => {
        assert.equal((await retries(order, fiatAccountId)).status, 200);
        await world.becomes(order, 'refunding');
        await paysAfterAll(world, order);
      });
      await owesRecalled(order, loss);
    });

    test('is so once the refund of the rest, which was under way, is rejected', async () => {
      const { order, loss } = await replaced('late-7');
      const { fiatAccountId } = await world.verifiedAccount(order.customerId, '9005');
      assert.equal((await retries(order, fiatAccountId)).status, 200);
      const key = await world.until('it is submitted', async () => {
        const { payouts } = await world.traceOf(order);
        return payouts.find(({ state }) => state === 'submitted')?.id;
      });
      await paysAfterAll(world, order);
      assert.equal(await world.stateOf(order), 'refunding');
      await world.read((tx) =>
        orderFacts(world.server.orders)(tx, {
          ...{ type: 'payout_rejected', rail: 'bank.simulated', key, why: 'account_closed' },
        }),
      );
      await owesRecalled(order, loss);
    });

    test('has paid twice if the rest has left; what comes back of the rest ends that', async () => {
      const { order, loss, fiatAccountId } = await replaced('late-8');
      assert.equal((await retries(order, fiatAccountId)).status, 200);
      await world.becomes(order, 'refunded');
      await paysAfterAll(world, order);
      assert.deepEqual(await world.openCaseKinds(order), ['payout_contradiction']);
      assert.deepEqual([await lossOf(), await world.owed(order, 'inr')], [loss + 500_000n, 0n]);
      const rest = (await world.traceOf(order)).refunds.find(({ grossUnits }) => grossUnits === 300_000n);
      await world.bankReturns(String(rest?.key), 300_000n);
      await world.until('it is back', async () => (await world.owed(order, 'inr')) > 0n);
      await owesRecalled(order, loss);
    });
  });

  test('and paid again in suspense: the first attempt is shown as paid, and the recalled part is owed', async () => {
    const customer = await world.verifiedCustomer({ ending: '9001' });
    const order = await world.buys('5000', 'usdc', { customer, reference: 'screen:hold' });
    const line = await world.credits(order, '5000');
    await world.becomes(order, 'on_hold');
    await refunds(order, customer.fiatAccountId);
    await world.becomes(order, 'refund_held');
    const { fiatAccountId } = await world.verifiedAccount(customer.id);
    assert.equal((await retries(order, fiatAccountId)).status, 200);
    await world.becomes(order, 'refunded');
    const loss = await lossOf();
    await recalls('suspense-1', line, 200_000n);
    const [first] = (await world.traceOf(order)).refunds;
    await world.bankReturns(String(first?.key), 500_000n);
    await world.opensCase(order, 'refund_returned');
    assert.deepEqual(await refundsOf(order), [
      ['cancelled', 500_000n],
      ['returned', 300_000n],
    ]);
    await paysAfterAll(world, order);
    const all = new Set((await refundsOf(order)).map(String));
    assert.deepEqual(all, new Set(['cancelled,500000', 'settled,300000', 'settled,200000']));
    const cases = ['customer_owes', 'payout_contradiction'];
    assert.deepEqual((await world.openCaseKinds(order)).toSorted(), cases);
    assert.deepEqual([await world.owed(order, 'inr'), await lossOf()], [200_000n, loss]);
    await world.reconciles();
  });

  test('and lies in suspense without a refund: the payment refunds it, and the recalled part is owed', async () => {
    const customer = await world.verifiedCustomer({ ending: '9001' });
    const order = await world.buys('5000', 'usdc', { customer });
    await world.credits(order, '5000');
    await world.becomes(order, 'settled');
    const line = await world.credits(order, '5000');
    await world.opensCase(order, 'deposit_second');
    const second = (await world.traceOf(order)).deposits.find(({ state }) => state === 'suspense');
    const { fiatAccountId } = customer;
    assert.equal((await oneOrTwoDo(finn, ada, `/deposits/${second?.id}/refund`, { fiatAccountId })).status, 200);
    await world.opensCase(order, 'refund_rejected');
    const loss = await lossOf();
    await recalls('suspense-2', line, 200_000n);
    assert.deepEqual(await refundsOf(order), [['cancelled', 500_000n]]);
    await paysAfterAll(world, order);
    const all = new Set((await refundsOf(order)).map(String));
    assert.deepEqual(all, new Set(['cancelled,500000', 'settled,300000', 'settled,200000']));
    const kinds = (await world.openCaseKinds(order)).toSorted();
    assert.deepEqual(kinds, ['customer_owes', 'payout_contradiction']);
    assert.deepEqual([await world.owed(order, 'inr'), await lossOf()], [200_000n, loss]);
    await world.reconciles();
  });
});
