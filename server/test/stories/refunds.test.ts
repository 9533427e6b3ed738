/**
 * Refunds: of parts, from suspense, to the destination of the customer, once although many ask; and a returned payout, paid
 * again to another account. Every story ends with balanced books (story.ts).
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { BugError } from '../../src/base/errors.ts';
import { formatUnits } from '../../src/base/money.ts';
import { recurringHandlers } from '../../src/composition/recurring.ts';
import {
  assignDeposit,
  block,
  nameDestination,
  refundDeposit,
  releaseBlocked,
  requestRefund,
  retryRefund,
} from '../../src/orders/index.ts';
import { OBSERVE, type Rail } from '../../src/rails/rail.ts';
import { openStory, type Purchase, type Sale, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

const actions = (order: Sale | Purchase) => ({
  orderId: order.id,
  by: 'a person',
  why: 'looked at',
  now: world.clock.now(),
});
const refundsOf = async (order: Sale | Purchase) => (await world.traceOf(order)).refunds;
/** Waits for a state of the order's first refund, while the bank's statement is read. */
const refundIs = (order: Sale | Purchase, state: string) =>
  world.until(`the refund is ${state}`, async () => {
    await world.looksAtTheBank();
    const [refund] = await refundsOf(order);
    return refund?.state === state && refund;
  });
const openCases = async (order: Sale | Purchase) => (await world.casesOf(order)).filter(({ open }) => open);

async function names(order: Sale | Purchase, to: Record<string, string>) {
  const side = 'address' in order ? 'onramp/refundDestination' : 'offramp/refundDestination';
  return await world.partner.put(side, {
    customerId: order.customerId,
    transactionId: String(order.id),
    ...to,
  });
}

async function refunded(order: Sale, state = 'settled'): Promise<void> {
  await world.until(`a refund is ${state}`, async () => {
    await world.mines(1);
    const refunds = await refundsOf(order);
    return refunds.length > 0 && refunds.every((one) => one.state === state);
  });
}

async function overpaid(): Promise<{ order: Sale; depositId: bigint }> {
  const order = await world.sells('10', 'usdc');
  await world.pays(order, '15');
  await world.mines(2);
  await world.reaches(order, 6);
  await world.opensCase(order, 'overpaid');
  return { order, depositId: (await world.traceOf(order)).deposits[0]?.id ?? 0n };
}

test('an order paid in parts is refunded in parts, each for its own deposit', async () => {
  const order = await world.sells('100', 'usdc');
  const books = await world.balances();
  await world.paysInOneBlock(order, '20', '30');
  await world.mines(2);
  await world.until('the parts are booked', async () => (await world.traceOf(order)).order.exception === 'underpaid');
  await world.deadlinePasses();
  await world.reaches(order, 3);
  const address = world.newAddress();
  await world.rejects(order, { failure: 'amount', address });
  await world.until('both have gone', async () => {
    await world.mines(1);
    return (await world.statusOf(order)) === -4;
  });
  assert.equal(await world.tokensOf(address, 'usdc'), '50');
  const { deposits, refunds, payouts } = await world.traceOf(order);
  assert.deepEqual(
    refunds.map(({ depositId, grossUnits, state }) => [depositId, grossUnits, state]).sort(),
    deposits.map(({ id, units }) => [id, units, 'settled']).sort(),
  );
  assert.equal(payouts.length, 2);
  assert.ok(deposits.every(({ state }) => state === 'refunded'));
  assert.deepEqual(await openCases(order), []);
  const changes = await world.changesSince(books);
  assert.equal(changes['suspense:evm.matic20:usdc.matic20'], undefined);
  assert.equal(changes['custody:evm.matic20:hot:usdc.matic20'], -50_000_000n);
});

test('a refund of an order paid in parts keeps the fees once, whichever part is refunded first', async () => {
  const order = await world.sells('100', 'usdc');
  await world.read((tx) =>
    tx.run(`update orders set policy = policy || '{"refundFees": {"keep": ["operator", "rail"]}}' where id = $1`, [
      order.id,
    ]),
  );
  const books = await world.balances();
  await world.paysInOneBlock(order, '20', '30', '25');
  await world.mines(2);
  await world.until('the parts are booked', async () => (await world.traceOf(order)).order.exception === 'underpaid');
  await world.deadlinePasses();
  await world.reaches(order, 3);
  const address = world.newAddress();
  await world.rejects(order, { failure: 'amount', address });
  await refunded(order);
  await world.reaches(order, -4);
  const { fees, rate } = (await world.traceOf(order)).order;
  // The booked fees at the booked rate, rounded down in favour of the customer.
  const kept = ((fees.operator + fees.rail) * rate.den * 10_000n) / rate.num;
  assert.ok(kept > 0n && kept < 20_000_000n);
  const refunds = await refundsOf(order);
  assert.equal(refunds.length, 3);
  assert.equal(
    refunds.reduce((sum, { costUnits }) => sum + costUnits, 0n),
    kept,
    'the kept amount is not the fees of one order',
  );
  assert.equal(await world.tokensOf(address, 'usdc'), formatUnits(75_000_000n - kept, 6));
  assert.equal((await world.changesSince(books))['fee_operator:usdc.matic20'], kept);
});

describe('money in suspense', () => {
  test('waits with a case until the partner names a valid address, and goes there once', async () => {
    const { order, depositId } = await overpaid();
    const refund = await world.read((tx) => refundDeposit(world.server.orders, tx, { depositId, ...actions(order) }));
    assert.deepEqual([refund.state, refund.netUnits], ['needs_destination', 5_000_000n]);
    await world.opensCase(order, 'refund_destination');
    assert.equal((await names(order, { address: 'nowhere' })).status, 400);
    assert.equal((await names(order, { address: order.depositAddress })).status, 400);
    assert.equal((await names(order, {})).status, 400);
    const address = world.newAddress();
    const named = await Promise.all([names(order, { address }), names(order, { address })]);
    assert.ok(named.some(({ status }) => status === 200));
    await refunded(order);
    assert.equal(await world.tokensOf(address, 'usdc'), '5');
    assert.deepEqual(await openCases(order), []);
    assert.equal((await names(order, { address })).status, 200);
    assert.equal((await refundsOf(order)).length, 1);
  });

  test('asked for by many at once is one refund, and never more than came in', async () => {
    const { order, depositId } = await overpaid();
    const address = world.newAddress();
    const want = (units: bigint) =>
      world.read((tx) =>
        requestRefund(world.server.orders, tx, {
          depositId,
          units,
          why: 'overpaid',
          to: { address },
          now: world.clock.now(),
        }),
      );
    assert.equal(await want(5_000_001n), undefined);
    const wanted = await Promise.all([want(5_000_000n), want(5_000_000n), want(5_000_000n), want(5_000_000n)]);
    assert.equal(new Set(wanted.map((one) => one?.id)).size, 1);
    await refunded(order);
    assert.equal(await want(1n), undefined);
    assert.equal(await world.tokensOf(address, 'usdc'), '5');
  });

  test('is not refunded twice by a statement that forgets to look: the table refuses it', async () => {
    const { order, depositId } = await overpaid();
    const insert = (id: number) =>
      world.read((tx) =>
        tx.run(
          `insert into refunds (id, deposit_id, order_id, partner_id, purpose, rail, asset, gross_units, net_units, source,
             why, requested_by, state, created_at, updated_at)
           select $1::bigint, id, order_id, partner_id, 'refund', rail, asset, 5000000, 5000000, 'suspense', '', '',
                  'needs_destination', now(), now() from deposits where id = $2`,
          [id, depositId],
        ),
      );
    const tried = await Promise.allSettled([insert(1), insert(2)]);
    assert.deepEqual(tried.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const [refusal] = tried.filter((one) => one.status === 'rejected');
    assert.equal(refusal?.reason.constraint, 'never_more_than_came_in');
    await world.read((tx) =>
      nameDestination(world.server.orders, tx, {
        ...{ orderId: order.id, to: { address: world.newAddress() }, by: 'partner', now: world.clock.now() },
      }),
    );
    await refunded(order);
  });

  test('goes back by policy to the address given up front, though its order is over', async () => {
    const address = world.newAddress();
    const order = await world.sells('10', 'usdc', { refundAddress: address });
    await world.read((tx) =>
      tx.run(`update orders set policy = jsonb_set(policy, '{late,then}', '"refund"') where id = $1`, [order.id]),
    );
    await world.deadlinePasses();
    await world.reaches(order, -1);
    await world.pays(order, '10');
    await world.mines(2);
    await refunded(order);
    assert.equal(await world.tokensOf(address, 'usdc'), '10');
    assert.equal(await world.statusOf(order), -1);
    assert.deepEqual(await openCases(order), []);
    assert.deepEqual(
      (await world.traceOf(order)).deposits.map(({ state }) => state),
      ['refunded'],
    );
  });
});

test('an order without a destination stays held until one is named, and the refund keeps the fees that its policy names', async () => {
  const order = await world.sells('100', 'usdc');
  await world.read((tx) =>
    tx.run(
      `update orders set policy = policy || '{"underpaid": {"acceptBps": 0, "beyond": "refund"}, "refundFees": {"keep": ["operator"]}}'
        where id = $1`,
      [order.id],
    ),
  );
  const books = await world.balances();
  await world.pays(order, '50');
  await world.mines(2);
  await world.until('the part is booked', async () => (await world.traceOf(order)).order.exception === 'underpaid');
  await world.deadlinePasses();
  await world.opensCase(order, 'refund_destination');
  assert.equal(await world.stateOf(order), 'on_hold');
  const address = world.newAddress();
  const named = await Promise.all([names(order, { address }), names(order, { address })]);
  assert.ok(named.every(({ status }) => status === 200));
  await refunded(order);
  await world.reaches(order, -4);
  const kept = (await world.changesSince(books))['fee_operator:usdc.matic20'] ?? 0n;
  assert.ok(kept > 0n && kept < 50_000_000n);
  assert.equal(await world.tokensOf(address, 'usdc'), formatUnits(50_000_000n - kept, 6));
  // The same destination again succeeds, for a caller that got no answer. A different one is refused.
  assert.equal((await names(order, { address })).status, 200);
  assert.equal((await names(order, { address: world.newAddress() })).body.reason, 'refund_under_way');
  assert.equal((await world.traceOf(order)).refunds.length, 1);
  assert.deepEqual(await openCases(order), []);
});

test('released and refunded at once does one of the two, and a retry of a rejected refund may go to another address', async () => {
  const order = await world.sells('10', 'usdc', { reference: 'screen:hold' });
  await world.pays(order, '10');
  await world.mines(2);
  await world.reaches(order, 3);
  const nowhere = world.newAddress();
  world.takesNothing(nowhere, 'matic20');
  await world.rejects(order, { failure: 'other', address: nowhere });
  await world.opensCase(order, 'refund_held');
  await assert.rejects(world.releases(order), { code: 'order_over' });
  const address = world.newAddress();
  const again = () => retryRefund(world.server.orders, { ...actions(order), to: { address } });
  const tried = await Promise.allSettled([again(), again(), again()]);
  assert.equal(tried.filter(({ status }) => status === 'fulfilled').length, 1);
  await refunded(order);
  await world.reaches(order, -2);
  assert.equal(await world.tokensOf(address, 'usdc'), '10');
  assert.deepEqual(await openCases(order), []);
});

test('an order blocked by law is released once, by a legal act, and refunded', async () => {
  const order = await world.sells('10', 'usdc', { reference: 'screen:hold' });
  await world.pays(order, '10');
  await world.mines(2);
  await world.reaches(order, 3);
  await world.read((tx) => block(world.server.orders, tx, actions(order)));
  const release = () =>
    world.read((tx) => releaseBlocked(world.server.orders, tx, { ...actions(order), legalAct: 'order 12/2026' }));
  const tried = await Promise.allSettled([release(), release()]);
  assert.equal(tried.filter(({ status }) => status === 'fulfilled').length, 1);
  const address = world.newAddress();
  assert.equal((await names(order, { address })).status, 200);
  await refunded(order);
  assert.equal(await world.tokensOf(address, 'usdc'), '10');
  assert.equal(await world.stateOf(order), 'frozen');
});

test('a returned payout is paid again to another account of the customer, once, and the order stays settled', async () => {
  const customer = await world.verifiedCustomer({ ending: '9002' });
  const order = await world.sells('10', 'usdc', { customer });
  await world.pays(order, '10');
  await world.mines(2);
  await world.opensCase(order, 'payout_returned');
  assert.equal(await world.statusOf(order), 6);
  const stranger = await world.verifiedCustomer();
  assert.equal((await names(order, { fiatAccountId: stranger.fiatAccountId })).status, 404);
  const { fiatAccountId = '' } = await world.told('bank/addFiatAccount', {
    customerId: customer.id,
    fiatAccount: '000177770000',
    ifsc: 'HDFC0000001',
  });
  const [first, second] = await Promise.all([names(order, { fiatAccountId }), names(order, { fiatAccountId })]);
  assert.deepEqual([first?.status, second?.status], [200, 200]);
  await world.until('it is paid again', async () => {
    await world.looksAtTheBank();
    return (await refundsOf(order)).every(({ state }) => state === 'settled');
  });
  const { payouts } = await world.traceOf(order);
  assert.deepEqual(
    payouts.map(({ id, purpose, state }) => [id, purpose, state]),
    [
      [`pay_${order.id}_1`, 'payout', 'returned'],
      [`pay_${order.id}_2`, 'payout', 'settled'],
    ],
  );
  assert.equal(await world.statusOf(order), 6);
  assert.deepEqual(await openCases(order), []);
  assert.equal((await names(order, { fiatAccountId })).status, 200, 'naming the same account again was refused');
  assert.equal((await names(order, { fiatAccountId: customer.fiatAccountId })).status, 417);
  assert.equal((await world.traceOf(order)).payouts.length, 2);
});

test('a payout of which a part was returned has only that part paid again', async () => {
  const order = await world.sells('10', 'usdc');
  await world.pays(order, '10');
  await world.mines(2);
  await world.reaches(order, 6);
  const books = await world.balances();
  const [paid] = (await world.traceOf(order)).payouts;
  assert(paid);
  const [kept, cameBack] = [590n, paid.units - 590n];
  await world.bankReturns(paid.id, cameBack);
  await world.opensCase(order, 'payout_returned');
  const { fiatAccountId } = await world.verifiedAccount(order.customerId);
  assert.equal((await names(order, { fiatAccountId })).status, 200);
  await world.until('it is paid again', async () => {
    await world.looksAtTheBank();
    const refunds = await refundsOf(order);
    return refunds.length > 0 && refunds.every(({ state }) => state === 'settled');
  });
  assert.deepEqual(
    (await world.traceOf(order)).payouts.map(({ units, state }) => [units, state]),
    [
      [paid.units, 'returned'],
      [paid.units - kept, 'settled'],
    ],
  );
  // The returned money has left again: our account has its former balance, and nothing is left in suspense.
  assert.deepEqual(await world.changesSince(books), {});
});

test('a refund of which more is returned than was sent is owed as before, and the rest is in suspense with a case', async () => {
  const customer = await world.verifiedCustomer();
  const order = await world.buys('5000', 'usdc', { customer, reference: 'screen:hold' });
  await world.credits(order, '5000');
  await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
  await world.rejects(order, { failure: 'other', fiatAccountId: BigInt(customer.fiatAccountId) });
  await refundIs(order, 'settled');
  const books = await world.balances();
  const [paid] = (await world.traceOf(order)).payouts;
  assert(paid);
  const extra = 590n;
  await world.bankReturns(paid.id, paid.units + extra);
  assert.equal((await refundIs(order, 'returned')).netUnits, paid.units);
  const asset = paid.asset;
  const suspense = Object.entries(await world.changesSince(books)).find(([code]) => code.startsWith('suspense:'));
  assert.equal(suspense?.[1], paid.units + extra);
  const [rest] = await world.read((tx) =>
    tx.rows<{ id: bigint; units: bigint }>(
      `select id, units from deposits where order_id = $1 and asset = $2 and state = 'suspense' and origin = 'credit'`,
      [order.id, asset],
    ),
  );
  assert.equal(rest?.units, extra, 'the rest has no deposit');
  assert.deepEqual((await openCases(order)).map(({ kind }) => kind).toSorted(), ['payout_returned', 'refund_returned']);
});

test('a refund that the bank returned is paid again in the same amount, and its fees are kept once', async () => {
  const customer = await world.verifiedCustomer({ ending: '9002' });
  const order = await world.buys('5000', 'usdc', { customer, reference: 'screen:hold' });
  await world.read((tx) =>
    tx.run(`update orders set policy = policy || '{"refundFees": {"keep": ["operator"]}}' where id = $1`, [order.id]),
  );
  const books = await world.balances();
  await world.credits(order, '5000');
  await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
  await world.rejects(order, { failure: 'other', fiatAccountId: BigInt(customer.fiatAccountId) });
  await refundIs(order, 'returned');
  const { fiatAccountId = '' } = await world.told('bank/addFiatAccount', {
    customerId: customer.id,
    fiatAccount: '000177770000',
    ifsc: 'HDFC0000001',
  });
  assert.equal((await names(order, { fiatAccountId })).status, 200);
  await refundIs(order, 'settled');
  const [refund] = await refundsOf(order);
  const kept = refund?.costUnits ?? 0n;
  assert.ok(kept > 0n);
  const changes = await world.changesSince(books);
  assert.deepEqual(
    [changes['fee_operator:inr'], changes['custody:bank.simulated:main:inr'], changes['suspense:bank.simulated:inr']],
    [kept, kept, undefined],
  );
  assert.deepEqual(await openCases(order), []);
});

test('a partner can name the refund account of a purchase before any refund is requested', async () => {
  const customer = await world.verifiedCustomer();
  const order = await world.buys('5000', 'usdc', { customer });
  // onramp/refundDestination
  assert.equal((await names(order, { fiatAccountId: customer.fiatAccountId })).status, 200);
  assert.equal((await names(order, { fiatAccountId: '7' })).status, 404);
  assert.equal((await world.traceOf(order)).order.refundAccountId, BigInt(customer.fiatAccountId));
});

test('a credit without a reference is assigned to its order once, and pays it', async () => {
  const order = await world.buys('5000', 'usdc');
  const other = await world.buys('4000', 'usdc');
  await world.credits(order, '5000', { text: 'for my coins' });
  const depositId = await world.until('it is in suspense', async () => {
    const [row] = await world.read((tx) =>
      tx.rows<{ id: bigint }>(`select id from deposits where state = 'suspense' and order_id is null`),
    );
    return row?.id;
  });
  const assign = (to: Purchase) =>
    world.read((tx) => assignDeposit(world.server.orders, tx, { ...actions(to), depositId }));
  const tried = await Promise.allSettled([assign(order), assign(order), assign(order)]);
  assert.equal(tried.filter(({ status }) => status === 'fulfilled').length, 1);
  await assert.rejects(assign(other), { code: 'deposit_unfit' });
  await world.payoutIsSubmitted(order);
  await world.mines(2);
  await world.reaches(order, 4);
  assert.equal((await world.transfersTo(order)).length, 1);
  const open = await world.read((tx) =>
    tx.rows(`select from cases where subject = $1 and closed_at is null`, [`deposit:${depositId}`]),
  );
  assert.equal(open.length, 0);
  assert.equal(await world.statusOf(other), 0);
});

test('a fact that cannot be booked opens a case about its rail, which closes when the rail goes on', async () => {
  let isBroken = true;
  const rail = {
    async observe() {
      if (isBroken) throw new BugError('deposit 17 can be booked');
      return { againInMs: 1_000 };
    },
  } as Rail;
  const { db } = world.server;
  const rails = new Map([['bank.test', rail]]);
  const look = () => recurringHandlers({ db, clock: world.clock, rails, chains: new Map() })[OBSERVE]?.('bank.test');
  const open = () =>
    world.read((tx) =>
      tx.rows<{ reason: string }>(`select reason from cases where kind = 'rail_failing' and closed_at is null`),
    );
  await assert.rejects(async () => await look(), BugError);
  await assert.rejects(async () => await look(), BugError);
  assert.deepEqual(await open(), [{ reason: 'deposit 17 can be booked' }]);
  isBroken = false;
  await look();
  assert.deepEqual(await open(), []);
});
