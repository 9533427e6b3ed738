/** A purchase as the partner, the bank, the chain and the books see it: fiat arrives by bank, crypto leaves by chain. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { formatUnits, parseUnits } from '../../src/base/money.ts';
import { unblockCustomer } from '../../src/customers/index.ts';
import { chart } from '../../src/ledger/index.ts';
import { isLong } from '../support/long.ts';
import { openStory, type Purchase, type Sale, type Story, type StoryCustomer } from '../support/story.ts';

const USDC = 'usdc.matic20';
const BANK = 'custody:bank.simulated:main:inr';
const SUSPENSE = 'suspense:bank.simulated:inr';

let world: Story;
let customer: StoryCustomer;
before(async () => {
  world = await openStory();
  customer = await world.verifiedCustomer();
});
after(async () => await world?.close());

const buys = (amount = '5000', how: { address?: string; customer?: StoryCustomer } = {}) =>
  world.buys(amount, 'usdc', { customer, ...how });
const exceptionOf = async (order: Purchase) => (await world.traceOf(order)).order.exception;
const depositsOf = async (order: Purchase) =>
  (await world.traceOf(order)).deposits.map(({ units, state, why }) => [units, state, why]);
const caseKinds = async (order: Purchase) => (await world.casesOf(order)).map(({ kind, open }) => [kind, open]);
const suspended = async () => (await world.balances()).get(SUSPENSE) ?? 0n;
const strangers = async (): Promise<number> => {
  const rows = await world.read((tx) =>
    tx.rows(`select from cases where kind = 'deposit_unknown_target' and closed_at is null`),
  );
  return rows.length;
};

const refundKey = async (order: Purchase) => (await world.traceOf(order)).refunds[0]?.key ?? '';

async function recalls(line: string): Promise<void> {
  await world.bank.recall(line);
  await world.looksAtTheBank();
}

/** Its payout is mined, the partner is shown 4, and the wallet has received the quoted amount in one transfer. */
async function isPaidOnce(order: Purchase): Promise<void> {
  await world.payoutIsSubmitted(order);
  await world.mines(2, order.chain);
  await world.reaches(order, 4);
  const { transactionHash } = await world.shown(order);
  const units = parseUnits(order.toAmount, 6);
  assert.deepEqual(await world.transfersTo(order), [{ hash: transactionHash, units }]);
  assert.equal((await world.eventsOf(order)).filter((event) => event === 'settled').length, 1);
}

async function paid(amount = '5000', how: { address?: string } = {}): Promise<Purchase> {
  const order = await buys(amount, how);
  await world.credits(order, amount);
  await isPaidOnce(order);
  return order;
}

test('a purchase paid exactly is settled by one transfer on the chain, and each party has the quoted amount', async () => {
  const books = await world.balances();
  const order = await buys();
  assert.equal(await world.statusOf(order), 0);
  await world.credits(order, '5000.00');
  await isPaidOnce(order);
  assert.equal(await world.tokensOf(order.address, 'usdc'), order.toAmount);

  const { operator, partner, rail, chain } = order.fees;
  const changes = await world.changesSince(books);
  const traced = await world.traceOf(order);
  const units = parseUnits(order.toAmount, 6);
  const gross = traced.order.grossUnits;
  const gas = changes['cost:evm.matic20:matic.matic20'] ?? 0n;
  assert.ok(gas > 0n, 'no gas was booked');
  assert.deepEqual(changes, {
    [BANK]: 500_000n,
    'custody:evm.matic20:hot:usdc.matic20': -units,
    'custody:evm.matic20:hot:matic.matic20': -gas,
    'cost:evm.matic20:matic.matic20': gas,
    'treasury:inr': 500_000n - operator - partner - rail - chain,
    [`treasury:${USDC}`]: -gross,
    ...(gross === units ? {} : { [`rounding:${USDC}`]: gross - units }),
    'fee_operator:inr': operator,
    [`fee_partner:${traced.order.partnerId}:inr`]: partner,
    'fee_rail:inr': rail,
    'fee_chain:inr': chain,
  });
  assert.ok(traced.balances.every((one) => one.units === 0n && one.heldUnits === 0n));
  assert.deepEqual(await world.casesOf(order), []);
  const events = await world.eventsOf(order);
  assert.deepEqual(
    events.filter((event) => event !== 'deposit_seen'),
    ['created', 'deposit_confirmed', 'paying_out', 'settled'],
  );
});

test('the status shown to the partner goes 0, 1 once a bank reference is claimed, 2, 3, 4 and never back', async () => {
  const order = await buys();
  assert.equal(await world.statusOf(order), 0);
  const claim = { customerId: order.customerId, transactionId: String(order.id), referenceId: '000011112222' };
  assert.equal((await world.partner.put('onramp/referenceId', claim)).status, 200);
  const seen = [await world.statusOf(order)];
  assert.deepEqual(seen, [1]);
  await world.credits(order, '5000');
  await world.until('it is settled', async () => {
    const status = await world.statusOf(order);
    if (seen.at(-1) !== status) seen.push(status);
    return status === 4;
  });
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  );
  assert.ok(
    seen.every((status) => [1, 2, 3, 4].includes(status)),
    String(seen),
  );
});

describe('a credit', () => {
  // That a reference is found in such texts is shown by rails/bank.test.ts.
  const typed = [
    ['in lower case', (text: string) => text.toLowerCase()],
    ['with spaces and hyphens', (text: string) => text.replace(/(.{3})/g, '$1 - ')],
    ['among other words', (text: string) => `UPI/Payment from me/ref ${text} /thank you`],
  ] as const;
  for (const [how, write] of isLong ? typed : typed.slice(-1)) {
    test(`whose reference is written ${how} finds its order`, async () => {
      const order = await buys('1000');
      await world.credits(order, '1000', { text: write(order.reference) });
      await isPaidOnce(order);
    });
  }

  for (const [what, write] of [
    ['without a reference', () => 'for my friend'],
    ['with a mistyped reference', (text: string) => `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`],
    ['with two references', (text: string, other: string) => `${text} ${other}`],
  ] as const) {
    test(`${what} belongs to no order: it goes to suspense with a case, and the order still waits`, async () => {
      const [order, other] = [await buys('1000'), await buys('1000')];
      const [books, cases] = [await world.balances(), await strangers()];
      await world.credits(order, '1000', { text: write(order.reference, other.reference) });
      await world.until('there is a case', async () => (await strangers()) === cases + 1);
      assert.deepEqual(await world.changesSince(books), { [BANK]: 100_000n, [SUSPENSE]: 100_000n });
      for (const one of [order, other]) {
        assert.equal(await world.statusOf(one), 0);
        assert.deepEqual(await depositsOf(one), []);
      }
    });
  }

  test('with the reference of an order that is settled goes to suspense with a case, and nothing is paid again', async () => {
    const order = await paid('1000');
    const books = await world.balances();
    await world.credits(order, '1000');
    await world.stands(order, books, {
      status: 4,
      told: 'settled',
      exception: 'second',
      cases: ['deposit_second'],
      books: { [BANK]: 100_000n, [SUSPENSE]: 100_000n },
    });
    await isPaidOnce(order);
  });
});

describe('an amount', () => {
  test('that arrives in parts settles the order when they add up', async () => {
    const order = await buys();
    const before = await suspended();
    await world.credits(order, '2000');
    await world.until('the part is booked', async () => (await exceptionOf(order)) === 'underpaid');
    assert.equal((await suspended()) - before, 200_000n);
    assert.ok((await world.statusOf(order)) < 2);
    await world.credits(order, '3000');
    await isPaidOnce(order);
    assert.equal(await suspended(), before);
    assert.equal(await exceptionOf(order), 'paid_in_parts');
    assert.deepEqual(await world.casesOf(order), []);
  });

  test('that is too much settles the order, and the excess is in suspense with a case', async () => {
    const order = await buys();
    const books = await world.balances();
    await world.credits(order, '5000.01');
    await isPaidOnce(order);
    await world.stands(order, books, {
      status: 4,
      told: 'settled',
      exception: 'overpaid',
      cases: ['overpaid'],
      books: { [BANK]: 500_001n, [SUSPENSE]: 1n },
    });
  });

  test('that is too little at the deadline is held; an operator refunds it to the account of the customer, and it shows -4', async () => {
    const books = await world.balances();
    const order = await buys();
    await world.credits(order, '4999.99');
    await world.until('it is booked', async () => (await exceptionOf(order)) === 'underpaid');
    await world.deadlinePasses();
    const { reason } = await world.opensCase(order, 'on_hold');
    assert.equal(reason, 'underpaid');
    assert.equal(await world.statusOf(order), 2);
    await assert.rejects(world.releases(order), /order_over/);
    await world.rejects(order, { failure: 'amount', fiatAccountId: BigInt(customer.fiatAccountId) });
    await world.reaches(order, -4);
    const payments = await world.bank.payments(await refundKey(order));
    assert.deepEqual(
      payments.map(({ state, units }) => [state, units]),
      [['settled', 499_999n]],
    );
    assert.deepEqual(await world.changesSince(books), {});
    assert.deepEqual(await world.transfersTo(order), []);
    assert.deepEqual(await caseKinds(order), [['on_hold', false]]);
    const events = await world.eventsOf(order);
    assert.deepEqual(events.slice(-3), ['on_hold', 'refunding', 'refunded']);
  });

  test('that comes after the order has expired goes to suspense with a case', async () => {
    const order = await buys();
    await world.deadlinePasses();
    await world.reaches(order, -1);
    const books = await world.balances();
    await world.credits(order, '5000');
    await world.stands(order, books, {
      status: -1,
      told: 'expired',
      exception: 'late',
      cases: ['deposit_late'],
      books: { [BANK]: 500_000n, [SUSPENSE]: 500_000n },
    });
    assert.deepEqual(await world.transfersTo(order), []);
  });
});

describe('a credit that is recalled', () => {
  test('before it has cleared leaves no entry in the books, and the order waits as before', async () => {
    await world.clears('inr', 600);
    const books = await world.balances();
    const order = await buys();
    const line = await world.credits(order, '5000');
    await world.reaches(order, 1);
    assert.deepEqual(await world.changesSince(books), {});
    await recalls(line);
    await world.reaches(order, 0);
    await world.deadlinePasses();
    await world.reaches(order, -1);
    assert.deepEqual(await world.changesSince(books), {});
    assert.deepEqual(await world.transfersTo(order), []);
  });

  test('without a time is accepted once it has cleared', async () => {
    const order = await buys();
    await world.credits(order, '5000');
    await world.reaches(order, 1);
    world.clock.advance(600_000);
    await isPaidOnce(order);
    await world.clears('inr', 0);
  });

  test('and was one part of the amount causes no loss, and the order expires', async () => {
    const books = await world.balances();
    const order = await buys();
    const line = await world.credits(order, '2000');
    await world.until('the part is booked', async () => Object.keys(await world.changesSince(books)).length > 0);
    await recalls(line);
    await world.until('it is out again', async () => Object.keys(await world.changesSince(books)).length === 0);
    await world.deadlinePasses();
    await world.reaches(order, -1);
  });

  test('after the crypto was sent is a debt of the customer, who cannot order until an operator lifts the block', async () => {
    const debtor = await world.verifiedCustomer();
    const order = await buys('5000', { customer: debtor });
    const line = await world.credits(order, '5000');
    await isPaidOnce(order);
    const books = await world.balances();
    await recalls(line);
    await world.opensCase(order, 'customer_owes');
    assert.deepEqual(await world.changesSince(books), {
      [BANK]: -500_000n,
      [`receivable:${debtor.id}:inr`]: 500_000n,
    });
    await isPaidOnce(order);
    await assert.rejects(buys('5000', { customer: debtor }), /403/);
    await world.read((tx) => unblockCustomer(tx, debtor.id, world.clock.now()));
    await buys('5000', { customer: debtor });
  });

  test('after it was taken and before the payout is a loss with a case, and nothing is paid', async () => {
    const { units } = await world.balance(chart.treasury(USDC));
    await world.setsAside(USDC, 0n);
    const books = await world.balances();
    const order = await buys();
    const line = await world.credits(order, '5000');
    await world.isShort(order);
    await recalls(line);
    await world.opensCase(order, 'deposit_lost');
    await world.brings(USDC, units);
    const { reason } = await world.opensCase(order, 'on_hold');
    assert.equal(reason, 'deposit_lost');
    await assert.rejects(world.releases(order), /order_over/);
    await world.stands(order, books, {
      status: 2,
      told: 'on_hold',
      exception: 'deposit_lost',
      cases: ['deposit_lost', 'on_hold'],
      books: { [BANK]: 0n, [SUSPENSE]: 0n },
    });
    assert.deepEqual(await world.transfersTo(order), []);
    assert.deepEqual((await world.traceOf(order)).payouts, []);
  });
});

test('a purchase the treasury cannot fill waits at 2 with a case, and goes on when the operator funds it', async () => {
  const { units } = await world.balance(chart.treasury(USDC));
  await world.setsAside(USDC, 0n);
  const order = await buys();
  await world.credits(order, '5000');
  const { reason } = await world.isShort(order);
  assert.match(reason, /usdc/);
  assert.equal(await world.statusOf(order), 2);
  assert.equal(await world.stateOf(order), 'awaiting_liquidity');
  await world.brings(USDC, units);
  await isPaidOnce(order);
  await world.until('the case is closed', async () => (await world.shortages(USDC)).every(({ open }) => !open));
});

test('a wallet that is the contract of a token is refused at creation, whatever its case', async () => {
  const tokens = world.server.sandbox.chains.find(({ code }) => code === 'matic20')?.tokens ?? [];
  assert.ok(tokens.length > 0);
  for (const { address } of tokens) {
    const answer = await world.partner.post('onramp/createTransaction', {
      fromCurrency: 'INR',
      toCurrency: 'usdc',
      chain: 'matic20',
      fromAmount: '5000',
      paymentMethodType: 'UPI',
      customerId: customer.id,
      depositAddress: address.toLowerCase(),
    });
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, /depositAddress/);
  }
});

if (isLong)
  test('a node that forgets its pending transactions still pays once', async () => {
    // The node mines on its own schedule, so one transaction may be in a block already: then the next one is used.
    const order = await world.until('a payout is forgotten', async () => {
      const one = await buys('1000');
      await world.credits(one, '1000');
      await world.payoutIsSubmitted(one);
      await world.rpc('matic20', 'anvil_dropAllTransactions');
      if ((await world.transfersTo(one)).length === 0) return one;
      await isPaidOnce(one);
      return false;
    });
    await isPaidOnce(order);
  });

test('two purchases for one wallet are two transfers', async () => {
  const address = world.newAddress();
  const orders = [await buys('1000', { address }), await buys('1000', { address })];
  await Promise.all(orders.map((order) => world.credits(order, '1000')));
  for (const order of orders) await world.reaches(order, 4);
  const hashes = (await world.transfersTo(orders[0] as Purchase)).map(({ hash }) => hash);
  const shown = await Promise.all(orders.map(async (order) => (await world.shown(order)).transactionHash));
  assert.deepEqual(hashes.toSorted(), shown.toSorted());
  assert.equal(new Set(hashes).size, 2);
  const sum = orders.reduce((units, { toAmount }) => units + parseUnits(toAmount, 6), 0n);
  assert.equal(await world.tokensOf(address, 'usdc'), formatUnits(sum, 6));
});

describe('a purchase driven', () => {
  async function drives(order: Purchase, status: string): Promise<void> {
    const answer = await world.drives(order, status);
    assert.equal(answer.status, 200, `${status}: ${answer.text}`);
    assert.match(answer.body.data.message, new RegExp(`^Status changed to ${status} i\\.e [A-Z_]+$`));
  }
  async function refuses(order: Purchase, status: string): Promise<void> {
    const before = await world.statusOf(order);
    const answer = await world.drives(order, status);
    assert.deepEqual([answer.status, answer.body.reason], [417, 'order_over'], `${status}: ${answer.text}`);
    assert.equal(await world.statusOf(order), before);
  }

  test('to any of 2 to 4, or their twins 10 to 16, is paid by bank and runs on to 4', async () => {
    const asked = ['2', '3', '4', '10', '11', '12', '13', '14', '15', '16'];
    const orders: Purchase[] = [];
    for (const _ of asked) orders.push(await buys('1000'));
    const driving = Promise.all(orders.map((order, at) => drives(order, asked[at] ?? '')));
    await world.looksAtTheBank();
    await driving;
    for (const order of orders) await isPaidOnce(order);
  });

  if (isLong)
    test('step by step is paid for once; a status it has passed is a success, one it can no longer reach is refused', async () => {
      const order = await buys('1000');
      for (const status of ['0', '2', '3', '4']) await drives(order, status);
      await isPaidOnce(order);
      for (const status of ['0', '2', '3', '4', '16']) await drives(order, status);
      assert.equal((await depositsOf(order)).length, 1);
      for (const status of ['-1', '-2', '-4']) await refuses(order, status);
      assert.equal((await world.drives(order, '99')).status, 400);
    });

  if (isLong)
    test('to -1 is expired, and any other status is refused', async () => {
      const order = await buys('1000');
      await drives(order, '-1');
      assert.equal(await world.statusOf(order), -1);
      await drives(order, '-1');
      for (const status of ['2', '4', '-2', '-4']) await refuses(order, status);
      assert.deepEqual(await world.eventsOf(order), ['created', 'expired']);
    });

  if (isLong)
    test('to -2 is cancelled, and any other status is refused', async () => {
      const order = await buys('1000');
      await drives(order, '-2');
      assert.equal(await world.statusOf(order), -2);
      await drives(order, '-2');
      for (const status of ['2', '4', '-1', '-4']) await refuses(order, status);
      assert.deepEqual(await world.eventsOf(order), ['created', 'cancelled']);
    });

  if (isLong)
    test('to -4 is paid half, held at the deadline, and refunded', async () => {
      const books = await world.balances();
      const order = await buys('1000');
      await drives(order, '-4');
      await world.reaches(order, -4);
      assert.deepEqual(await world.changesSince(books), {});
      const [payment] = await world.bank.payments(await refundKey(order));
      assert.equal(payment?.units, 50_000n);
      await drives(order, '-4');
      await refuses(order, '4');
      await refuses(order, '-1');
    });
});

test('purchases and sales of one customer are numbered and listed apart, newest first', async () => {
  const both = await world.verifiedCustomer();
  const bought: Purchase[] = [];
  const sold: Sale[] = [];
  for (const amount of ['1000', '2000', '3000']) {
    bought.unshift(await buys(amount, { customer: both }));
    if (sold.length < 2) sold.unshift(await world.sells('10', 'usdc', { customer: both }));
  }
  for (const [direction, orders] of [
    ['onramp', bought],
    ['offramp', sold],
  ] as const) {
    const seqs = await Promise.all(orders.map(async (order) => (await world.traceOf(order)).order.customerSeq));
    assert.deepEqual(
      seqs.map(Number),
      [...orders.keys()].map((at) => orders.length - at),
    );
    const body = { customerId: both.id, page: '1', pageSize: '50' };
    const answer = await world.partner.post(`${direction}/allUserTransaction`, body);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(
      answer.body.data.map((one: { transactionId: string }) => one.transactionId),
      orders.map(({ id }) => String(id)),
    );
    assert.equal(answer.headers.get('x-total-count'), String(orders.length));
  }
  const wrongWay = { customerId: both.id, transactionId: String(bought[0]?.id) };
  assert.equal((await world.partner.post('offramp/transaction', wrongWay)).status, 404);
});
