/**
 * Books that were restored to an earlier moment, before chain and bank have been read for the time since: nothing is refunded by
 * policy, no order is requoted, and no payout leaves for which a debit may exist. All of it goes on once both are read, or once
 * two people decide.
 *
 * Long because its stories share one server.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { formatUnits } from '../../src/base/money.ts';
import { chart } from '../../src/ledger/index.ts';
import { amountsDecide, type Person, twoDo } from '../protocols/operator/people.ts';
import { daiHasOwnPrices, daiIsAt } from '../support/ownprices.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let finn: Person;
let outside: pg.Client;

before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
  await world.read(amountsDecide);
  outside = new pg.Client({ connectionString: world.adminUrl, options: '-c search_path=cloverleaf' });
  await outside.connect();
  // The books are still empty, so this restore loses nothing.
  await outside.query(
    `insert into restores (backup_taken_at, restored_at) values (now() - interval '1 hour', now() - interval '1 hour')`,
  );
});
after(async () => {
  await outside.end();
  await world?.close();
});

/** Chain and bank count as unread since the restore, because its time lies in the future. */
async function whileUnread(body: () => Promise<void>): Promise<void> {
  await outside.query(`update restores set restored_at = now() + interval '1 year'`);
  try {
    await body();
  } finally {
    await outside.query(`update restores set restored_at = now() - interval '1 hour'`);
  }
}

const traceOf = (order: Sale | Purchase) => world.traceOf(order);
const bothDo = (path: string, body: Record<string, unknown> = {}) => twoDo(finn, ada, path, body);
async function goesBackTo(order: Sale): Promise<string> {
  const address = world.newAddress();
  await world.read((tx) => tx.run('update orders set refund_address = $2 where id = $1', [order.id, address]));
  return address;
}
const arrives = (address: string, amount: string, coin = 'usdc') =>
  world.until(`${amount} ${coin} arrive`, async () => {
    await world.mines(1);
    return (await world.tokensOf(address, coin)) === amount;
  });
/** The deadline of its state has passed, and a job has run and postponed it. */
async function isLeftForLater(order: Sale | Purchase): Promise<void> {
  const { by } = await traceOf(order);
  assert.ok(by !== null && by <= world.clock.now());
  await world.until('it is looked at again later', async () => ((await traceOf(order)).by ?? by) > by);
}
/** A job about it was leased and postponed twice: it is neither done nor merely leased. */
async function isPutOffTwice(kind: string, order: Sale): Promise<void> {
  const putOff = async () => {
    const [row] = await world.read((tx) =>
      tx.rows<{ at: Date | null }>(
        'select slept_at as at from jobs where kind = $1 and subject = $2 and lease is null and attempts = 0',
        [kind, String(order.id)],
      ),
    );
    return row?.at ?? undefined;
  };
  const first = await world.until(`${kind} is put off`, putOff);
  await world.until(`${kind} is put off again`, async () => ((await putOff()) ?? first) > first);
}
let lines = 0;
/** The bank shows a debit. */
async function debits(units: bigint, key: string | null): Promise<string> {
  lines += 1;
  const id = `before-${lines}`;
  await world.bankShows({ id, direction: 'debit', units, reference: 'UTR-BEFORE', ...(key === null ? {} : { key }) });
  await world.until('the debit is read', async () => {
    const rows = await world.read((tx) => tx.rows('select from bank_lines where external_id = $1', [id]));
    return rows.length > 0;
  });
  return id;
}
const closesCases = (debit: string) =>
  world.read((tx) =>
    tx.run(`update cases set closed_at = now(), outcome = 'seen' where closed_at is null and subject like '%' || $1`, [
      debit,
    ]),
  );

describe('an order that may have been paid in the time that was lost', () => {
  test('does not go back for having waited too long, until the bank is read; then it does by itself', async () => {
    await world.goesBy('offramp', 'usdc', { waiting: { awaiting_liquidity: { afterS: 60, then: 'refund' } } });
    const { units } = await world.balance(chart.treasury('inr'));
    await world.setsAside('inr', 0n);
    const order = await world.sells('100', 'usdc');
    const address = await goesBackTo(order);
    await whileUnread(async () => {
      await world.pays(order, '100');
      await world.mines(2);
      await world.isShort(order);
      world.clock.advance(60_000);
      await isLeftForLater(order);
      assert.equal(await world.stateOf(order), 'awaiting_liquidity');
      assert.deepEqual((await traceOf(order)).refunds, []);
    });
    world.clock.advance(10_000);
    await arrives(address, '100');
    await world.reaches(order, -2);
    await world.brings('inr', units);
    await world.goesBy('offramp', 'usdc', {});
  });

  test('does not go back as a purchase either, until people decide on a transfer that the chain shows to the same wallet', async () => {
    await world.goesBy('onramp', 'usdc', { waiting: { awaiting_liquidity: { afterS: 60, then: 'refund' } } });
    const asset = 'usdc.matic20';
    const { units } = await world.balance(chart.treasury(asset));
    await world.setsAside(asset, 0n);
    const customer = await world.verifiedCustomer();
    const order = await world.buys('5000', 'usdc', { customer });
    await world.read((tx) =>
      tx.run('update orders set refund_account_id = $2 where id = $1', [order.id, customer.fiatAccountId]),
    );
    await whileUnread(async () => {
      await world.credits(order, '5000');
      await world.isShort(order);
      world.clock.advance(60_000);
      await isLeftForLater(order);
      await outside.query(
        `insert into found_movements (rail, wallet, nonce, hash, state, block, block_at, succeeded, cost_units, target, data, value,
           fee, recipient, asset, units, told_at)
         values ('evm.matic20', 'hot', 1000000, $1, 'open', 1, now(), true, 0, '', '\\x00', 0, '{}', $2, $3, 1, now())`,
        [`0x${'ab'.repeat(32)}`, order.address, asset],
      );
    });
    world.clock.advance(10_000);
    await isLeftForLater(order);
    assert.equal(await world.stateOf(order), 'awaiting_liquidity');
    assert.deepEqual((await traceOf(order)).refunds, []);
    await outside.query(`update found_movements set state = 'foreign', ended_at = now()`);
    world.clock.advance(10_000);
    await world.until('it has gone back', async () => (await world.stateOf(order)) === 'refunded');
    await world.brings(asset, units);
    await world.goesBy('onramp', 'usdc', {});
  });

  test('is not paid while its deposit may have been refunded: until the chain is read, and until people decide on a payment that fits nothing', async () => {
    const order = await world.sells('41', 'usdc');
    const waitsFor = (words: RegExp) =>
      world.until(`its payout waits: ${words}`, async () =>
        (await traceOf(order)).payouts.some((payout) => words.test(payout.waitsFor ?? '')),
      );
    await whileUnread(async () => {
      await world.pays(order, '41');
      await world.mines(2);
      await waitsFor(/rail of its deposit must first be read/);
      await outside.query(`update orders set created_at = created_at - interval '2 hours' where id = $1`, [order.id]);
      // Its refund in that time went to an address that the books do not have.
      await outside.query(
        `insert into found_movements (rail, wallet, nonce, hash, state, block, block_at, succeeded, cost_units, target, data, value,
           fee, recipient, asset, units, told_at)
         values ('evm.matic20', 'hot', 1000001, $1, 'open', 1, now(), true, 0, '', '\\x00', 0, '{}', $2, 'usdc.matic20', 41000000, now())`,
        [`0x${'cd'.repeat(32)}`, world.newAddress()],
      );
    });
    await waitsFor(/may be the refund of its deposit: people must decide/);
    // An order of after the restore cannot have been refunded before it.
    const later = await world.sells('42', 'usdc');
    await world.pays(later, '42');
    await world.mines(2);
    await world.reaches(later, 6);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 0);
    await outside.query(`update found_movements set state = 'foreign', ended_at = now() where nonce = 1000001`);
    await world.reaches(order, 6);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 1);
  });

  test('is not paid as a purchase either, while a debit that fits nothing may be the refund of what it received', async () => {
    const order = await world.buys('4300', 'usdc', { customer: await world.verifiedCustomer() });
    let line = '';
    await whileUnread(async () => {
      await world.credits(order, '4300');
      await world.until('its payout is created', async () => (await traceOf(order)).payouts.length === 1);
      await outside.query(`update orders set created_at = created_at - interval '2 hours' where id = $1`, [order.id]);
      // With a charge in it, it is of more than the order received; the key says what it is.
      line = await debits(430_001n, 'ref_700000000000002_1');
    });
    // One is more than it received, one the payout of a lost order.
    const more = await debits(430_005n, null);
    const payout = await debits(1_000n, 'pay_700000000000002_1');
    await world.until('its payout waits for a decision', async () =>
      (await traceOf(order)).payouts.some(({ waitsFor }) => waitsFor?.includes('may be the refund of its deposit')),
    );
    assert.equal(await world.tokensOf(order.address, 'usdc'), '0');
    await bothDo('/debits/foreign', { debit: `bank.simulated:${line}` });
    await world.reaches(order, 4);
    for (const debit of [more, payout]) await bothDo('/debits/foreign', { debit: `bank.simulated:${debit}` });
  });

  test('does not go back because of its amount until the bank is read, although its policy refunds it', async () => {
    await world.goesBy('offramp', 'usdc', { underpaid: { acceptBps: 50, beyond: 'refund' } });
    const order = await world.sells('100', 'usdc');
    const address = await goesBackTo(order);
    await whileUnread(async () => {
      await world.pays(order, '50');
      await world.mines(2);
      await world.until('the part is booked', async () => (await traceOf(order)).order.exception === 'underpaid');
      await world.deadlinePasses();
      // The deadline only waits for the chain, which has been read; the refund is what waits.
      await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
      await isPutOffTwice('refund_order', order);
      assert.equal(await world.stateOf(order), 'on_hold');
      assert.deepEqual((await traceOf(order)).refunds, []);
    });
    await arrives(address, '50');
    await world.reaches(order, -4);
    await world.goesBy('offramp', 'usdc', {});
  });
});

describe('a price that has moved in the time that was lost', () => {
  before(async () => {
    await daiHasOwnPrices(world);
    await world.goesBy('offramp', 'dai', { priceMoved: { lockS: 0, bps: 0, then: 'refund' } });
  });

  async function soldBefore(): Promise<Sale> {
    await daiIsAt(world, '86');
    const order = await world.sells('100', 'dai');
    await daiIsAt(world, '80');
    return order;
  }

  test('refunds nothing before the bank is read; then it does by itself', async () => {
    const order = await soldBefore();
    const address = await goesBackTo(order);
    await whileUnread(async () => {
      await world.pays(order, '100', 'dai');
      await world.mines(2);
      await isPutOffTwice('screen_order', order);
      assert.equal(await world.stateOf(order), 'deposit_confirmed');
    });
    await daiIsAt(world, '80');
    await arrives(address, '100', 'dai');
    await world.reaches(order, -2);
  });

  test('refunds nothing where the bank shows that the order was paid: the order is settled by that payment on its old terms', async () => {
    const order = await soldBefore();
    const { payoutUnits } = (await traceOf(order)).order;
    const line = await debits(payoutUnits, `pay_${order.id}_1`);
    await world.pays(order, '100', 'dai');
    await world.mines(2);
    await world.reaches(order, 6);
    const { refunds, order: row, payouts } = await traceOf(order);
    assert.deepEqual([refunds.length, row.payoutReference, payouts.length], [0, line, 1]);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 0, 'it was paid a second time');
    await world.goesBy('offramp', 'dai', {});
  });
});

describe('a debit of the time that was lost, of exactly the amount of a payout', () => {
  async function waits(amount: string, key: string | null = null): Promise<{ order: Sale; line: string }> {
    const order = await world.sells(amount, 'usdc');
    const { payoutUnits } = (await traceOf(order)).order;
    const line = await debits(payoutUnits, key);
    await world.pays(order, amount);
    await world.mines(2);
    await world.until('the payout waits for it to be decided', async () =>
      (await traceOf(order)).payouts.some(({ waitsFor }) => waitsFor?.includes(line)),
    );
    assert.match((await traceOf(order)).next, new RegExp(line));
    return { order, line };
  }
  const caseOf = async (line: string) => {
    const rows = await world.read((tx) =>
      tx.rows<{ id: bigint }>(
        `select id from cases where kind = 'unexplained_debit' and closed_at is null and subject = $1`,
        [`bank.simulated:${line}`],
      ),
    );
    return rows.length;
  };

  test('holds the payout with one case, also after an operator closed it, until two people declare the debit foreign', async () => {
    const { order, line } = await waits('31');
    const alike = await world.sells('31', 'usdc');
    await world.pays(alike, '31');
    await world.mines(2);
    await world.until('the other one waits, too', async () =>
      (await traceOf(alike)).payouts.some(({ waitsFor }) => waitsFor !== null),
    );
    assert.equal(await caseOf(line), 1);
    await closesCases(line);
    await world.until('it is open again', async () => (await caseOf(line)) === 1);
    // A payout of another amount is not held.
    const other = await world.sells('32', 'usdc');
    await world.pays(other, '32');
    await world.mines(2);
    await world.reaches(other, 6);
    assert.equal(await world.stateOf(order), 'paying_out');
    await bothDo('/debits/foreign', { debit: `bank.simulated:${line}` });
    await world.reaches(order, 6);
    await world.reaches(alike, 6);
    const again = await finn.does('/debits/foreign', { debit: `bank.simulated:${line}` });
    const declined = await ada.does(`/proposals/${again.body.proposal}/confirm`, {});
    assert.equal(declined.status, 409, 'it was decided twice');
    await closesCases(line);
  });

  test('under the key of a refund that the books have lost: two people settle the payout by it', async () => {
    const { order, line } = await waits('33', 'ref_700000000000001_1');
    await bothDo(`/payouts/pay_${order.id}_1/settle-by`, { line });
    await world.reaches(order, 6);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 0, 'it was paid a second time');
    assert.deepEqual(await world.openCaseKinds(order), []);
    assert.equal(await caseOf(line), 0);
  });

  test('of the payout’s own key and another amount: two people settle the payout by it, and the difference is booked separately', async () => {
    const books = await world.balances();
    const order = await world.sells('34', 'usdc');
    const { payoutUnits } = (await traceOf(order)).order;
    const line = await debits(payoutUnits - 700n, `pay_${order.id}_1`);
    await world.pays(order, '34');
    await world.mines(2);
    await world.until('the payout waits for it to be decided', async () =>
      (await traceOf(order)).payouts.some(({ waitsFor }) => waitsFor?.includes(line)),
    );
    await bothDo(`/payouts/pay_${order.id}_1/settle-by`, { line, otherAmount: true });
    await world.reaches(order, 6);
    const { order: row, payouts } = await traceOf(order);
    assert.deepEqual([row.exception, payouts[0]?.paidUnits], ['paid_other_amount', payoutUnits - 700n]);
    const changes = await world.changesSince(books);
    assert.deepEqual([changes['loss:inr'], changes['difference:inr']], [undefined, 700n]);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 0, 'it was paid a second time');
  });

  test('of the payout’s own key and another amount, declared foreign before the payout was created, still counts as that payout', async () => {
    const books = await world.balances();
    const order = await world.sells('35', 'usdc');
    const { payoutUnits } = (await traceOf(order)).order;
    const key = `pay_${order.id}_1`;
    const line = await debits(payoutUnits + 700n, key);
    await bothDo('/debits/foreign', { debit: `bank.simulated:${line}` });
    await closesCases(line);
    await world.pays(order, '35');
    await world.mines(2);
    await world.until('the payout waits for it', async () =>
      (await traceOf(order)).payouts.some(({ waitsFor }) => waitsFor?.includes(line)),
    );
    assert.equal(await caseOf(line), 1, 'the debit has no case');
    await bothDo(`/payouts/${key}/settle-by`, { line, otherAmount: true });
    await world.reaches(order, 6);
    assert.equal((await traceOf(order)).payouts[0]?.paidUnits, payoutUnits + 700n);
    assert.equal((await world.changesSince(books))['loss:inr'], undefined);
    assert.equal((await world.bank.payments(key)).length, 0, 'it was paid a second time');
    assert.equal(await caseOf(line), 0);
  });

  test('of the payout’s own key cannot be declared foreign while the payout exists', async () => {
    const order = await world.sells('36', 'usdc');
    const { payoutUnits } = (await traceOf(order)).order;
    const key = `pay_${order.id}_1`;
    const line = await debits(payoutUnits - 700n, key);
    await world.pays(order, '36');
    await world.mines(2);
    await world.until('the payout waits for it', async () =>
      (await traceOf(order)).payouts.some(({ waitsFor }) => waitsFor?.includes(line)),
    );
    const asked = await finn.does('/debits/foreign', { debit: `bank.simulated:${line}` });
    const declined = await ada.does(`/proposals/${asked.body.proposal}/confirm`, {});
    assert.equal(declined.body.reason, 'does_not_fit', JSON.stringify(declined.body));
    assert.match(declined.body.error, new RegExp(`${key}.*settle-by`));
    await bothDo(`/payouts/${key}/settle-by`, { line, otherAmount: true });
    await world.reaches(order, 6);
  });

  test('of a lost later attempt: the earlier payout waits, and two people settle it by the debit, also at another amount', async () => {
    const order = await world.sells('37', 'usdc');
    const { payoutUnits } = (await traceOf(order)).order;
    const line = await debits(payoutUnits - 700n, `pay_${order.id}_2`);
    await world.pays(order, '37');
    await world.mines(2);
    await world.until('the payout waits for it', async () =>
      (await traceOf(order)).payouts.some(({ waitsFor }) => waitsFor?.includes(line)),
    );
    await bothDo(`/payouts/pay_${order.id}_1/settle-by`, { line, otherAmount: true });
    await world.reaches(order, 6);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 0, 'it was paid a second time');
    assert.equal(await caseOf(line), 0);
  });
});

describe('a late deposit whose follow-on order and payout a restore has lost', () => {
  before(() => world.goesBy('offramp', 'usdc', { late: { then: 'new_order' } }));
  after(() => world.goesBy('offramp', 'usdc', {}));

  /** The deposit is seen again after its first order has ended, and a follow-on order is created from it. */
  async function becomesAnother(amount: string): Promise<Sale> {
    const first = await world.sells(amount, 'usdc');
    await world.deadlinePasses();
    await world.reaches(first, -1);
    await world.pays(first, amount);
    await world.mines(2);
    const [id] = await world.until('there is a new order', async () => {
      const { followedBy } = await world.traceOf(first);
      return followedBy.length > 0 && followedBy;
    });
    return { ...first, id: id ?? 0n };
  }
  const waitsForDebit = (order: Sale, line: string) =>
    world.until('its payout waits for people', async () =>
      (await traceOf(order)).payouts.some(({ waitsFor }) => waitsFor?.includes(line)),
    );
  const openDebits = (line: string) =>
    world.read((tx) =>
      tx.rows(`select from cases where kind = 'unexplained_debit' and closed_at is null and subject = $1`, [
        `bank.simulated:${line}`,
      ]),
    );

  test('waits with a case while a debit of another amount may have paid it at another price; two people settle it by the debit', async () => {
    const books = await world.balances();
    const line = await debits(123_456n, 'pay_700000000000001_1');
    const order = await becomesAnother('51');
    await waitsForDebit(order, line);
    assert.equal((await openDebits(line)).length, 1);
    const key = `pay_${order.id}_1`;
    const unsaid = await finn.does(`/payouts/${key}/settle-by`, { line });
    const declined = await ada.does(`/proposals/${unsaid.body.proposal}/confirm`, {});
    assert.equal(declined.status, 409, 'a debit of another amount was accepted without otherAmount');
    await bothDo(`/payouts/${key}/settle-by`, { line, otherAmount: true });
    await world.reaches(order, 6);
    const { order: row, payouts } = await traceOf(order);
    assert.deepEqual([row.exception, payouts[0]?.paidUnits], ['paid_other_amount', 123_456n]);
    assert.equal((await world.bank.payments(key)).length, 0, 'it was paid a second time');
    assert.equal((await world.changesSince(books))['loss:inr'], undefined);
    assert.equal((await openDebits(line)).length, 0);
  });

  test('is paid once two people declare the debit foreign', async () => {
    const line = await debits(123_457n, 'pay_700000000000002_1');
    const order = await becomesAnother('52');
    await waitsForDebit(order, line);
    // An order that follows on no other order is not held by the debit.
    const other = await world.sells('53', 'usdc');
    await world.pays(other, '53');
    await world.mines(2);
    await world.reaches(other, 6);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 0, 'it left before people had decided');
    await bothDo('/debits/foreign', { debit: `bank.simulated:${line}` });
    await world.reaches(order, 6);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 1);
    await closesCases(line);
  });

  test('waits until the bank is read up to the restore, because such a debit is only known then', async () => {
    // A payout created before this restore has its own key, and the bank is asked about that key.
    let order: Sale | undefined;
    await whileUnread(async () => {
      order = await becomesAnother('54');
      const { id } = order;
      await world.until('its payout waits', async () =>
        (await world.traceOf({ ...(order as Sale), id })).payouts.some(({ waitsFor }) => waitsFor?.includes('restore')),
      );
      assert.equal((await world.bank.payments(`pay_${id}_1`)).length, 0);
    });
    await world.reaches(order as Sale, 6);
  });

  test('of an unchanged price is held because its amount equals the debit, and settled by the debit', async () => {
    const order = await world.sells('55', 'usdc');
    const { payoutUnits } = (await traceOf(order)).order;
    const line = await debits(payoutUnits, 'pay_700000000000003_1');
    await world.deadlinePasses();
    await world.reaches(order, -1);
    await world.pays(order, '55');
    await world.mines(2);
    const [id = 0n] = await world.until('there is a new order', async () => {
      const { followedBy } = await world.traceOf(order);
      return followedBy.length > 0 && followedBy;
    });
    const next = { ...order, id };
    await waitsForDebit(next, line);
    await bothDo(`/payouts/pay_${id}_1/settle-by`, { line });
    await world.reaches(next, 6);
    assert.equal((await world.bank.payments(`pay_${id}_1`)).length, 0, 'it was paid a second time');
  });
});

describe('a debit corrected as that of a lost order', () => {
  test('and whose deposit the bank then recalls causes no loss once the debit turns out to have paid an order of the books', async () => {
    const sale = await world.sells('36', 'usdc');
    const { payoutUnits } = (await traceOf(sale)).order;
    const books = await world.balances();
    const bought = await world.buys('5000', 'usdc');
    const given = await world.credits(bought, '5000', { text: 'for an order that nobody has' });
    const depositOf = () =>
      world.read((tx) =>
        tx.row<{ id: bigint; state: string }>(
          `select id, state from deposits where order_id is null and rail = 'bank.simulated' and external_id = $1`,
          [given],
        ),
      );
    const deposit = await world.until('it lies in suspense', async () => {
      const row = await depositOf();
      return row?.state === 'suspense' && row;
    });
    const line = await debits(payoutUnits, null);
    const [debit] = await world.until('the debit has a case', async () => {
      const rows = await world.read((tx) =>
        tx.rows<{ id: bigint; reference: string }>(
          `select id, facts ->> 'reference' as reference from cases
            where kind = 'unexplained_debit' and closed_at is null and subject = $1`,
          [`bank.simulated:${line}`],
        ),
      );
      return rows.length > 0 && rows;
    });
    await bothDo(`/cases/${debit?.id}/correct`, {
      as: 'lost_order',
      amount: formatUnits(payoutUnits, 2),
      evidence: debit?.reference,
      deposit: String(deposit.id),
    });
    await world.bank.recall(given);
    await world.looksAtTheBank();
    await world.until('it is reversed', async () => (await depositOf())?.state === 'lost');
    const lost = (await world.changesSince(books))['loss:inr'];
    assert.equal(lost, 500_000n, 'the recalled deposit is not booked as a loss');

    await world.pays(sale, '36');
    await world.mines(2);
    await world.until('its payout waits for it', async () =>
      (await traceOf(sale)).payouts.some(({ waitsFor }) => waitsFor?.includes(line)),
    );
    await bothDo(`/payouts/pay_${sale.id}_1/settle-by`, { line });
    await world.reaches(sale, 6);
    assert.equal((await world.bank.payments(`pay_${sale.id}_1`)).length, 0, 'it was paid a second time');
    assert.equal((await depositOf())?.state, 'reversed', 'the recalled deposit is not reversed');
    const changes = await world.changesSince(books);
    const inSuspense = Object.keys(changes).filter((account) => account.startsWith('suspense:'));
    assert.deepEqual([changes['loss:inr'], inSuspense], [undefined, []], 'a loss or a balance in suspense remains');
    const left = await world.read((tx) =>
      tx.rows<{ kind: string }>('select kind from cases where closed_at is null and subject = $1', [
        `deposit:${deposit.id}`,
      ]),
    );
    assert.deepEqual(left, []);
  });
});
