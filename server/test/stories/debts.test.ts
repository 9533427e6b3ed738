/**
 * Debts: deposits that a chain reversed or a bank recalled after we had paid for them. A debt is paid in parts, operators decide
 * whether to keep a part or send it back, and a deposit that is final again after a reorg ends both debt and block by itself.
 *
 * Long because its stories share one server.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chart, move, post } from '../../src/ledger/index.ts';
import { orderFacts } from '../../src/orders/index.ts';
import { amountsDecide, confirmedBy, oneOrTwoDo, type Person, twoDo } from '../protocols/operator/people.ts';
import { paysAfterAll, settledPurchase, strayCredit } from '../support/orders.ts';
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

const bothDo = (path: string, body: Record<string, unknown> = {}) => twoDo(finn, ada, path, body);

test('the debt of a recall after the crypto was sent is paid in parts: one kept whole, one in part, its rest sent back', async () => {
  const books = await world.balances();
  const customer = await world.verifiedCustomer();
  const { order, line } = await settledPurchase(world, { customer });
  await world.bank.recall(line);
  await world.looksAtTheBank();
  await world.opensCase(order, 'customer_owes');
  assert.equal(await world.owed(order, 'inr'), 500_000n);

  const first = await strayCredit(world, order, '2000');
  await bothDo(`/deposits/${first}/assign`, { order: String(order.id) });
  assert.equal(await world.owed(order, 'inr'), 300_000n);
  assert.deepEqual(
    await world.openCaseKinds(order),
    ['customer_owes'],
    'the case was closed while a part of the debt is owed',
  );
  const seen = await world.read((tx) =>
    tx.row<{ facts: { units: string } }>(
      `select facts from cases where order_id = $1 and kind = 'customer_owes' and closed_at is null`,
      [order.id],
    ),
  );
  assert.equal(seen?.facts.units, '300000', 'the case does not say what is left');

  // Operators keep a part of the second payment and send the rest back.
  const second = await strayCredit(world, order, '4000');
  const path = `/deposits/${second}`;
  const tooMuch = await finn.does(`${path}/assign`, { order: String(order.id), amount: '3000.01' });
  const refused = await confirmedBy(ada, tooMuch);
  assert.equal(refused.body.reason, 'deposit_unfit', JSON.stringify(refused.body));
  await bothDo(`${path}/assign`, { order: String(order.id), amount: '1000' });
  assert.equal(await world.owed(order, 'inr'), 200_000n);
  assert.deepEqual(await world.openCaseKinds(order), ['customer_owes', 'overpaid']);
  const back = { amount: '1500', fiatAccountId: customer.fiatAccountId, pastHits: true };
  const notYet = await oneOrTwoDo(finn, ada, `${path}/refund`, back);
  assert.equal(notYet.body.reason, 'deposit_unfit', JSON.stringify(notYet.body));
  assert.match(String(notYet.body.error), /despiteDebt/);

  // The proposal and the answer show the operators who unblock what is owed now.
  const proposed = await finn.does(`/customers/${customer.id}/unblock`);
  const proposal = (await ada.reads(`/proposals/${proposed.body.proposal}`)).body;
  const { blockedAt, ...shown } = proposal.seen;
  assert.deepEqual(shown, { blocked: true, debts: [{ asset: 'inr', units: '2000' }] });
  assert.ok(blockedAt);
  const done = await confirmedBy(ada, proposed);
  assert.deepEqual(done.body.after, { blocked: false, blockedAt: null, debts: [{ asset: 'inr', units: '2000' }] });

  await bothDo(`${path}/refund`, { ...back, despiteDebt: true });
  await world.until('it is sent back', async () => {
    await world.looksAtTheBank();
    return (await world.traceOf(order)).refunds.some(({ state }) => state === 'settled');
  });
  // The rest of the deposit covers the smaller part of the debt, and a third payment the remainder.
  // The deposit belongs to the order by now, so one operator is enough.
  assert.equal((await finn.does(`${path}/assign`, { order: String(order.id) })).status, 200);
  assert.equal(await world.owed(order, 'inr'), 50_000n);
  const third = await strayCredit(world, order, '500');
  await bothDo(`/deposits/${third}/assign`, { order: String(order.id) });
  assert.equal(await world.owed(order, 'inr'), 0n);
  assert.deepEqual(await world.openCaseKinds(order), []);
  const changed = await world.changesSince(books);
  assert.deepEqual([changed['suspense:bank.simulated:inr'], changed['loss:inr']], [undefined, undefined]);
  assert.equal(
    (await world.traceOf(order)).payouts.length,
    2,
    'something other than the purchase and one refund was paid',
  );
});

/** The case about payouts submitted before a customer's block. */
const lateCase = (customerId: string) =>
  world.read((tx) =>
    tx.row<{ facts: { payouts: string[] }; outcome: string | null }>(
      `select facts, outcome from cases where kind = 'block_too_late' and subject = $1`,
      [`customer:${customerId}`],
    ),
  );

test('a block for a debt names what else was submitted to the customer, and holds at once what waits', async () => {
  const customer = await world.verifiedCustomer();
  const { order: bought, line } = await settledPurchase(world, { customer });
  const sale = async (amount: string): Promise<Sale> => {
    const order = await world.sells(amount, 'usdc', { customer });
    await world.pays(order, amount);
    await world.mines(2);
    return order;
  };
  const paid = await sale('10');
  await world.reaches(paid, 6);
  // As before bank and chain show them.
  const leaving = [`pay_${paid.id}_1`, `pay_${bought.id}_1`];
  await world.read((tx) =>
    tx.run(`update payouts set ended_at = null, state = 'submitted' where id = any($1)`, [leaving]),
  );
  await world.setsAside('inr', 0n);
  const waits = await sale('11');
  await world.until('it waits for funds', async () => (await world.stateOf(waits)) === 'awaiting_liquidity');

  await world.bank.recall(line);
  await world.looksAtTheBank();
  await world.opensCase(bought, 'customer_owes');
  // The payout that made the debt is named by the debt's own case.
  assert.deepEqual((await lateCase(customer.id))?.facts.payouts, [`pay_${paid.id}_1`]);
  assert.match((await world.opensCase(waits, 'on_hold')).reason, /customer_blocked/);
  await world.brings('inr', 9_000_000n);

  await world.read((tx) =>
    tx.run(`update payouts set ended_at = submitted_at, state = 'settled' where id = any($1)`, [leaving]),
  );
});

test('a reorg after the fiat was paid makes a debt and a block, and both end when the same transfer is final again', async () => {
  await world.blocksWait(async () => {
    const customer = await world.verifiedCustomer();
    const other = await world.sells('9', 'usdc', { customer });
    await world.pays(other, '9');
    await world.mines(2);
    await world.reaches(other, 6);
    const books = await world.balances();
    const order = await world.sells('10', 'usdc', { customer });
    const paid = await world.pays(order, '10');
    await world.mines(2);
    await world.reaches(order, 6);
    // As before the bank shows it.
    const payout = [`pay_${other.id}_1`];
    await world.read((tx) =>
      tx.run(`update payouts set ended_at = null, state = 'submitted' where id = any($1)`, [payout]),
    );
    await world.reorgsAway(paid);
    await world.opensCase(order, 'customer_owes');
    assert.deepEqual(await lateCase(customer.id), { facts: { payouts: payout }, outcome: null });
    await world.read((tx) =>
      tx.run(`update payouts set ended_at = submitted_at, state = 'settled' where id = any($1)`, [payout]),
    );
    assert.equal(await world.owed(order, 'usdc.matic20'), 10_000_000n);
    assert.equal((await world.changesSince(books))['loss:usdc.matic20'], undefined);
    assert.equal(await world.isBlocked(order), true, 'the customer may still trade');
    await world.paysAgain(paid);
    await world.mines(3);
    await world.until('the debt is over', async () => (await world.owed(order, 'usdc.matic20')) === 0n);
    assert.deepEqual(await world.openCaseKinds(order), []);
    assert.equal(await world.isBlocked(order), false, 'the block for the debt stands after the debt');
    assert.equal((await lateCase(customer.id))?.outcome, 'the debt and its block have ended');
  });
});

test('a block that an operator set as well remains when the debt ends', async () => {
  await world.blocksWait(async () => {
    const order = await world.sells('10', 'usdc');
    const paid = await world.pays(order, '10');
    await world.mines(2);
    await world.reaches(order, 6);
    await world.reorgsAway(paid);
    await world.opensCase(order, 'customer_owes');
    assert.equal((await finn.does(`/customers/${order.customerId}/block`)).status, 200);
    await world.paysAgain(paid);
    await world.mines(3);
    await world.until('the debt is over', async () => (await world.owed(order, 'usdc.matic20')) === 0n);
    assert.equal(await world.isBlocked(order), true, 'the end of the debt lifted the block of an operator');
  });
});

const caseOf = async (kind: string, order?: Sale | Purchase) =>
  await world.until(`there is an open case ${kind}`, () =>
    world.read((tx) =>
      tx.row<{ id: bigint }>(
        'select id from cases where kind = $1 and closed_at is null and ($2::bigint is null or order_id = $2)',
        [kind, order?.id ?? null],
      ),
    ),
  );

test('a debt that will not be paid is written off by two people, once, and only in its exact amount', async () => {
  const { order, line } = await settledPurchase(world);
  const books = await world.balances();
  await world.bank.recall(line);
  await world.looksAtTheBank();
  await world.opensCase(order, 'customer_owes');
  const { id } = await caseOf('customer_owes', order);
  const [deposit] = (await world.traceOf(order)).deposits;
  const path = `/cases/${id}/correct`;
  const input = { as: 'debt', evidence: deposit?.reference, amount: '5000' };
  for (const wrong of [{ amount: '4999' }, { evidence: 'a letter' }, { as: 'fee' }])
    assert.equal((await finn.does(path, { ...input, ...wrong })).body.reason, 'does_not_fit', JSON.stringify(wrong));
  await bothDo(path, input);
  assert.equal(await world.owed(order, 'inr'), 0n);
  assert.equal((await world.changesSince(books))['loss:inr'], 500_000n);
  assert.deepEqual(await world.openCaseKinds(order), []);
  assert.equal((await finn.does(path, input)).body.reason, 'unknown_case', 'a closed case was corrected');
  assert.equal(await world.isBlocked(order), true, 'writing off the debt lifted the block');
});

test('a returned payout whose deposit was reversed: two people undo the exchange, and no debt or claim is left', async () => {
  await world.blocksWait(async () => {
    const books = await world.balances();
    const order = await world.sells('10', 'usdc', { customer: await world.verifiedCustomer({ ending: '9002' }) });
    const paid = await world.pays(order, '10');
    await world.mines(2);
    await world.reaches(order, 6);
    await world.opensCase(order, 'payout_returned');
    await world.reorgsAway(paid);
    await world.opensCase(order, 'customer_owes');
    const { deposits } = await world.traceOf(order);
    const lost = deposits.find(({ state }) => state === 'lost');
    const back = deposits.find(({ id }) => id !== lost?.id);
    const account = (await world.traceOf(order)).order.fiatAccountId;
    // A newly named account is not paid: no deposit backs the payout.
    const named = await bothOrOne(`/deposits/${back?.id}/refund`, { fiatAccountId: String(account) });
    assert.ok(named < 500, `naming an account failed: ${named}`);
    const payouts = async () => (await world.traceOf(order)).payouts.map(({ state }) => state);
    assert.deepEqual(await payouts(), ['returned']);

    const { id } = await caseOf('customer_owes', order);
    const path = `/cases/${id}/correct`;
    const input = { as: 'undone', evidence: lost?.reference, amount: '10', deposit: String(back?.id) };
    for (const wrong of [{ amount: '9' }, { deposit: String(lost?.id) }, { evidence: 'a letter' }])
      assert.equal((await finn.does(path, { ...input, ...wrong })).body.reason, 'does_not_fit', JSON.stringify(wrong));
    await bothDo(path, input);
    assert.equal(await world.owed(order, 'usdc.matic20'), 0n);
    assert.deepEqual(await world.openCaseKinds(order), []);
    assert.deepEqual(await payouts(), ['returned'], 'the returned payout was paid again');
    assert.deepEqual(await world.changesSince(books), {}, 'the undone exchange left balances in the books');
    assert.equal((await world.traceOf(order)).order.exception, 'deposit_lost');
    assert.equal((await finn.does(path, input)).body.reason, 'unknown_case', 'it is undone twice');
    // The same transfer is mined again: it is the customer's, in suspense, and does not reopen the undone exchange.
    await world.paysAgain(paid);
    await world.mines(3);
    const again = await world.until('what is there again lies in suspense', async () =>
      (await world.openCaseKinds(order)).find((kind) => kind.startsWith('deposit_')),
    );
    assert.equal(again, 'deposit_second');
  });
  await world.reconciles();
});

const refundOf = async (order: Sale | Purchase) => (await world.traceOf(order)).refunds.map(({ state }) => state);

/** A deposit that its bank can recall: held, blocked by law, released by two people, and sent to the customer's account. */
async function letGo(amount: string): Promise<{ order: Purchase; line: string; key: string }> {
  const customer = await world.verifiedCustomer();
  const order = await world.buys(amount, 'usdc', { customer, reference: 'screen:hold' });
  const line = await world.credits(order, amount);
  await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
  assert.equal((await finn.does(`/orders/${order.id}/block`)).status, 200);
  await bothDo(`/orders/${order.id}/release-blocked`, { legalAct: 'court 17/2026' });
  const named = await bothOrOne(`/orders/${order.id}/destination`, { fiatAccountId: customer.fiatAccountId });
  assert.equal(named, 200);
  await world.until('it has arrived', async () => {
    await world.looksAtTheBank();
    return (await refundOf(order))[0] === 'settled';
  });
  const [paid] = (await world.traceOf(order)).payouts;
  assert(paid);
  return { order, line, key: paid.id };
}

test('money released by legal act and paid is a debt once its deposit is recalled, which ends when the payment is returned', async () => {
  for (const [amount, left] of [
    ['5000', 0n],
    ['4000', 1_000n],
  ] as const) {
    const books = await world.balances();
    const { order, line, key } = await letGo(amount);
    const units = BigInt(amount) * 100n;
    await world.bank.recall(line);
    await world.looksAtTheBank();
    await world.opensCase(order, 'customer_owes');
    assert.deepEqual([await world.owed(order, 'inr'), await world.isBlocked(order)], [units, true]);
    // Banks on the way keep a part of the second payment: the customer still owes that part.
    await world.bankReturns(key, units - left);
    await world.until('what came back makes the debt good', async () => (await world.owed(order, 'inr')) === left);
    assert.deepEqual(await refundOf(order), ['cancelled'], 'the returned payment waits to be paid again');
    assert.deepEqual(await world.openCaseKinds(order), left === 0n ? [] : ['customer_owes']);
    assert.equal(await world.isBlocked(order), true, 'the block was lifted without an operator');
    if (left > 0n) {
      const [deposit] = (await world.traceOf(order)).deposits;
      const { id } = await caseOf('customer_owes', order);
      await bothDo(`/cases/${id}/correct`, { as: 'debt', evidence: deposit?.reference, amount: '10' });
      assert.deepEqual(await world.openCaseKinds(order), []);
    }
    const kept = left === 0n ? {} : { 'custody:bank.simulated:main:inr': -left, 'loss:inr': left };
    assert.deepEqual(await world.changesSince(books), kept);
    assert.match((await world.traceOf(order)).heldBy, /reversed/);
  }
  await world.reconciles();
});

test('money released by legal act and not yet sent covers the loss when its deposit is recalled', async () => {
  const books = await world.balances();
  const order = await world.buys('3000', 'usdc', { reference: 'screen:hold' });
  const line = await world.credits(order, '3000');
  await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
  assert.equal((await finn.does(`/orders/${order.id}/block`)).status, 200);
  await bothDo(`/orders/${order.id}/release-blocked`, { legalAct: 'court 17/2026' });
  assert.deepEqual(await refundOf(order), ['needs_destination']);
  await world.bank.recall(line);
  await world.looksAtTheBank();
  await world.until('it stays here', async () => (await refundOf(order))[0] === 'cancelled');
  assert.deepEqual(await world.openCaseKinds(order), []);
  assert.deepEqual(await world.changesSince(books), {});
  assert.equal(await world.isBlocked(order), false, 'the customer is blocked although nothing had left');
  await world.reconciles();
});

test('money released by legal act and not yet sent is kept if another deposit of its order is recalled', async () => {
  const customer = await world.verifiedCustomer();
  const order = await world.buys('3000', 'usdc', { customer, reference: 'screen:hold' });
  await world.credits(order, '3000');
  await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
  assert.equal((await finn.does(`/orders/${order.id}/block`)).status, 200);
  await bothDo(`/orders/${order.id}/release-blocked`, { legalAct: 'court 17/2026' });
  const line = await world.credits(order, '2000');
  const second = async () => (await world.traceOf(order)).deposits.find(({ why }) => why === 'second');
  await world.until('the second is here', async () => (await second()) !== undefined);
  const { fiatAccountId } = customer;
  assert.equal(await bothOrOne(`/deposits/${(await second())?.id}/refund`, { fiatAccountId }), 200);
  await world.until('the second has gone back', async () => {
    await world.looksAtTheBank();
    return (await refundOf(order)).includes('settled');
  });
  await world.bank.recall(line);
  await world.looksAtTheBank();
  await world.opensCase(order, 'customer_owes');
  assert.equal(await world.owed(order, 'inr'), 200_000n);
  assert.deepEqual((await refundOf(order)).toSorted(), ['needs_destination', 'settled']);
  await world.reconciles();
});

test('a recall of blocked money whose excess was on its way back is a loss and no debt once that refund fails, unless it was paid after all', async () => {
  for (const [ending, failure] of [
    ['9005', 'rejected'],
    ['9005', 'rejected, and paid after all'],
    ['0000', 'returned'],
  ] as const) {
    const books = await world.balances();
    const customer = await world.verifiedCustomer({ ending });
    const order = await world.buys('3000', 'usdc', { customer, reference: 'screen:hold' });
    const line = await world.credits(order, '4000');
    await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
    const [deposit] = (await world.traceOf(order)).deposits;
    const { fiatAccountId } = customer;
    await oneOrTwoDo(finn, ada, `/deposits/${deposit?.id}/refund`, { fiatAccountId, pastHits: true });
    const sent = failure === 'returned' ? 'settled' : 'submitted';
    await world.until('the excess is on its way', async () => {
      await world.looksAtTheBank();
      return (await refundOf(order))[0] === sent;
    });
    assert.equal((await finn.does(`/orders/${order.id}/block`)).status, 200);
    await world.bank.recall(line);
    await world.looksAtTheBank();
    await world.opensCase(order, 'customer_owes');
    assert.equal(await world.owed(order, 'inr'), 400_000n);

    const key = (await world.traceOf(order)).refunds[0]?.key ?? '';
    if (failure === 'returned') await world.bankReturns(key, 100_000n);
    else
      await world.read((tx) =>
        orderFacts(world.server.orders)(tx, {
          ...{ type: 'payout_rejected', rail: 'bank.simulated', key, why: 'account_closed' },
        }),
      );
    await world.until('the refund has ended', async () => (await refundOf(order))[0] === 'cancelled');
    assert.equal(await world.owed(order, 'inr'), 0n, 'a customer owes money that was never paid');
    assert.deepEqual((await world.openCaseKinds(order)).toSorted(), ['deposit_lost', 'frozen']);
    assert.deepEqual(await world.changesSince(books), { 'blocked:inr': 300_000n, 'loss:inr': 300_000n });
    assert.equal(await world.isBlocked(order), true, 'the block was lifted without an operator');

    if (failure === 'rejected, and paid after all') {
      await paysAfterAll(world, order);
      assert.deepEqual((await refundOf(order)).toSorted(), ['cancelled', 'settled']);
      assert.deepEqual([await world.owed(order, 'inr'), await world.isBlocked(order)], [400_000n, true]);
      const kinds = (await world.openCaseKinds(order)).toSorted();
      assert.deepEqual(kinds, ['customer_owes', 'frozen', 'payout_contradiction']);
      assert.equal((await world.changesSince(books))['loss:inr'], undefined);
    }

    // What the law releases covers the loss, or as much of the debt: nothing is left to refund.
    await bothDo(`/orders/${order.id}/release-blocked`, { legalAct: 'court 17/2026' });
    const wasPaid = failure === 'rejected, and paid after all';
    const owed = await world.owed(order, 'inr');
    const { 'custody:bank.simulated:main:inr': custody = 0n, 'loss:inr': loss } = await world.changesSince(books);
    assert.deepEqual([owed, custody, loss], wasPaid ? [100_000n, -100_000n, undefined] : [0n, 0n, undefined]);
    if (!wasPaid) assert.deepEqual(await world.openCaseKinds(order), []);
  }
  await world.reconciles();
});

test('an order gives up a recalled credit whose excess is on its way back: only the excess stays owed, until it fails', async () => {
  for (const [ending, end] of [
    ['9005', 'rejected'],
    ['0000', 'returned'],
    ['0000', 'paid'],
  ] as const) {
    const books = await world.balances();
    const customer = await world.verifiedCustomer({ ending });
    const order = await world.buys('3000', 'usdc', { customer, reference: 'screen:hold' });
    const line = await world.credits(order, '4000');
    await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
    const [deposit] = (await world.traceOf(order)).deposits;
    const { fiatAccountId } = customer;
    await oneOrTwoDo(finn, ada, `/deposits/${deposit?.id}/refund`, { fiatAccountId, pastHits: true });
    await world.until('the excess is on its way', async () => {
      await world.looksAtTheBank();
      return (await refundOf(order))[0] === (ending === '9005' ? 'submitted' : 'settled');
    });
    await world.bank.recall(line);
    await world.looksAtTheBank();
    await world.opensCase(order, 'customer_owes');
    assert.equal(await world.owed(order, 'inr'), 400_000n);

    await twoDo(finn, ada, `/customers/${order.customerId}/unblock`, {});
    await oneOrTwoDo(finn, ada, `/orders/${order.id}/refund`, { failure: 'other', fiatAccountId });
    await world.becomes(order, 'cancelled');
    assert.equal(await world.owed(order, 'inr'), 100_000n);
    const open = await world.read((tx) =>
      tx.rows<{ kind: string; facts: { units: string } }>(
        'select kind, facts from cases where order_id = $1 and closed_at is null',
        [order.id],
      ),
    );
    assert.deepEqual(
      open.filter(({ kind }) => kind !== 'overpaid').map(({ kind, facts }) => [kind, facts.units]),
      [['customer_owes', '100000']],
      'nobody is told of what is still owed',
    );

    const key = (await world.traceOf(order)).refunds[0]?.key ?? '';
    if (end === 'returned') await world.bankReturns(key, 100_000n);
    if (end === 'rejected')
      await world.read((tx) =>
        orderFacts(world.server.orders)(tx, {
          ...{ type: 'payout_rejected', rail: 'bank.simulated', key, why: 'account_closed' },
        }),
      );
    if (end === 'paid') {
      assert.deepEqual(await world.openCaseKinds(order), ['customer_owes']);
      continue;
    }
    await world.until('the refund has ended', async () => (await refundOf(order))[0] === 'cancelled');
    assert.equal(await world.owed(order, 'inr'), 0n, 'a customer owes money that was never paid');
    assert.deepEqual(await world.openCaseKinds(order), []);
    assert.deepEqual(await world.changesSince(books), {});
  }
  await world.reconciles();
});

test('a converted order released by legal act is exchanged back where its deposit was reversed, sent or not', async () => {
  await world.blocksWait(async () => {
    for (const isSent of [false, true]) {
      const books = await world.balances();
      const customer = await world.verifiedCustomer({ ending: '9001' });
      const order = await world.sells('10', 'usdc', { customer });
      const paid = await world.pays(order, '10');
      await world.mines(2);
      await world.until('its payout is refused', async () => (await world.stateOf(order)) === 'payout_held');
      assert.equal((await finn.does(`/orders/${order.id}/block`)).status, 200);
      await bothDo(`/orders/${order.id}/release-blocked`, { legalAct: 'court 18/2026' });
      if (isSent) {
        const { fiatAccountId } = await world.verifiedAccount(order.customerId);
        assert.equal(await bothOrOne(`/orders/${order.id}/destination`, { fiatAccountId: String(fiatAccountId) }), 200);
        await world.until('it has arrived', async () => {
          await world.looksAtTheBank();
          return (await refundOf(order))[0] === 'settled';
        });
      }
      await world.reorgsAway(paid);
      if (isSent) {
        await world.opensCase(order, 'customer_owes');
        assert.equal(await world.owed(order, 'usdc.matic20'), 10_000_000n);
        const sent = (await world.traceOf(order)).payouts.find(({ purpose }) => purpose === 'refund');
        assert(sent);
        await world.bankReturns(sent.id, sent.units);
      }
      await world.until('nobody waits for it any more', async () => (await refundOf(order))[0] === 'cancelled');
      assert.equal(await world.owed(order, 'usdc.matic20'), 0n);
      assert.deepEqual(await world.openCaseKinds(order), []);
      assert.deepEqual(await world.changesSince(books), {}, 'the undone exchange left balances in the books');
      assert.equal(await world.stateOf(order), 'frozen');
    }
  });
  await world.reconciles();
});

test('a converted order released by legal act waits for people where its fees were paid out, and the chain is followed on', async () => {
  await world.blocksWait(async () => {
    const books = await world.balances();
    const order = await world.sells('10', 'usdc', { customer: await world.verifiedCustomer({ ending: '9001' }) });
    const paid = await world.pays(order, '10');
    await world.mines(2);
    await world.until('its payout is refused', async () => (await world.stateOf(order)) === 'payout_held');
    assert.equal((await finn.does(`/orders/${order.id}/block`)).status, 200);
    await bothDo(`/orders/${order.id}/release-blocked`, { legalAct: 'court 20/2026' });
    const fee = chart.feeOperator('inr');
    const { units } = await world.balance(fee);
    const moves = (id: string, lines: ReturnType<typeof move>) =>
      world.read((tx) => post(tx, { id, kind: 'test', at: world.clock.now(), facts: {}, lines }));
    await moves('fees_out', move(fee, chart.treasury('inr'), units));
    await world.reorgsAway(paid);
    await world.opensCase(order, 'deposit_lost');
    await world.until('it goes to nobody', async () => (await refundOf(order))[0] === 'cancelled');
    const { deposits } = await world.traceOf(order);
    const [lost, back] = ['lost', 'suspense'].map((state) => deposits.find((one) => one.state === state));
    const { id } = await caseOf('deposit_lost', order);
    const path = `/cases/${id}/correct`;
    const input = { as: 'undone', evidence: lost?.reference, amount: '10', deposit: String(back?.id) };
    const early = await finn.does(path, input);
    const declined = await ada.does(`/proposals/${early.body.proposal}/confirm`);
    assert.match(declined.body.error, /look at its fees/);
    await moves('fees_back', move(chart.treasury('inr'), fee, units));
    await bothDo(path, input);
    assert.deepEqual(await world.openCaseKinds(order), []);
    assert.deepEqual(await world.changesSince(books), {});
  });
  await world.reconciles();
});

test('a converted order released by legal act refunds the part that its bank did not recall once it is exchanged back', async () => {
  const books = await world.balances();
  const customer = await world.verifiedCustomer();
  const nowhere = world.newAddress();
  world.takesNothing(nowhere, 'matic20');
  const order = await world.buys('5000', 'usdc', { customer, address: nowhere });
  const line = await world.credits(order, '2000');
  await world.credits(order, '3000');
  await world.until('its payout is refused', async () => (await world.stateOf(order)) === 'payout_held');
  assert.equal((await finn.does(`/orders/${order.id}/block`)).status, 200);
  await bothDo(`/orders/${order.id}/release-blocked`, { legalAct: 'court 19/2026' });
  await world.bank.recall(line);
  await world.looksAtTheBank();
  await world.until('the other part is free', async () => (await refundOf(order)).length === 2);
  assert.deepEqual(await world.openCaseKinds(order), ['refund_destination']);
  assert.equal(await bothOrOne(`/orders/${order.id}/destination`, { fiatAccountId: customer.fiatAccountId }), 200);
  await world.until('it has arrived', async () => {
    await world.looksAtTheBank();
    return (await refundOf(order)).includes('settled');
  });
  assert.deepEqual((await refundOf(order)).sort(), ['cancelled', 'settled']);
  const paid = (await world.traceOf(order)).payouts.filter(({ state }) => state === 'settled');
  assert.deepEqual(
    paid.map(({ asset, units }) => [asset, units]),
    [['inr', 300_000n]],
  );
  assert.deepEqual(await world.openCaseKinds(order), []);
  const { 'custody:evm.matic20:hot:native.matic20': _, ...changed } = await world.changesSince(books);
  assert.deepEqual(changed, {});
  await world.reconciles();
});

/** @returns the status of the last answer */
const bothOrOne = async (path: string, body: Record<string, unknown>): Promise<number> =>
  (await oneOrTwoDo(finn, ada, path, body)).status;

test('an unexplained debit that was a charge of the bank becomes a cost of its rail', async () => {
  const books = await world.balances();
  await world.bankShows({ id: 'quarterly-fee', direction: 'debit', units: 12_500n, reference: 'FEES Q4' });
  const { id } = await caseOf('unexplained_debit');
  assert.equal((await world.changesSince(books))['loss:inr'], 12_500n);
  const { facts } = (await finn.reads(`/cases/${id}`)).body as { facts: { reference: string } };
  const input = { as: 'fee', evidence: facts.reference, amount: '125' };
  const proposed = await finn.does(`/cases/${id}/correct`, input);
  assert.equal((await ada.does(`/cases/${id}/correct`, input)).body.reason, 'proposal_exists');
  const confirms = () => ada.does(`/proposals/${proposed.body.proposal}/confirm`);
  const confirmed = await Promise.all([confirms(), confirms()]);
  assert.deepEqual(
    confirmed.map(({ status }) => status).toSorted(),
    [200, 409],
    `two confirmations at once did not act exactly once: ${JSON.stringify(confirmed.map(({ body }) => body))}`,
  );
  assert.equal((await finn.does(`/cases/${id}/correct`, input)).body.reason, 'unknown_case');
  const changed = await world.changesSince(books);
  assert.deepEqual([changed['loss:inr'], changed['cost:bank.simulated:inr']], [undefined, 12_500n]);
});
