/** The sandbox's controls: a partner triggers events over `/sandbox/v1`, and its orders react to them. What they refuse: controls.test.ts. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findCustomer, saveDetails } from '../../src/customers/index.ts';
import { CONTROLS } from '../../src/protocols/whitelabel/index.ts';
import type { Fields } from '../support/client.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { openStory, type Purchase, type Sale, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

/** Names of the controls that succeeded, and `name field word` of each word that was used. */
const told = new Set<string>();
const does = (name: string, body: Fields, by = world.partner) => by.post(`/sandbox/v1/${name}`, body);
async function control(name: string, body: Fields): Promise<Record<string, unknown>> {
  const answer = await does(name, body);
  assert.equal(answer.status, 200, `${name}: ${answer.text}`);
  told.add(name);
  for (const [field, value] of Object.entries(body)) told.add(`${name} ${field} ${String(value).toUpperCase()}`);
  return answer.body.data;
}
const of = (order: Sale | Purchase, more: Fields = {}): Fields => ({ transactionId: String(order.id), ...more });
const orderOf = async (order: Sale | Purchase) => (await world.traceOf(order)).order;
const depositsOf = async (order: Sale | Purchase) => (await world.traceOf(order)).deposits;
const shows = (order: Sale | Purchase, exception: string) =>
  world.until(exception, async () => (await orderOf(order)).exception === exception);

describe('pay', () => {
  test('exactly, twice under the same key: one payment is made and the order settles', async () => {
    const [sale, purchase] = [await world.sells('10', 'usdc'), await world.buys('1000', 'usdc')];
    for (const order of [sale, purchase]) {
      const headers = { 'idempotency-key': `pay ${order.id}` };
      const send = () => world.partner.post('/sandbox/v1/pay', of(order), { headers });
      const [first, second] = [await send(), await send()];
      assert.equal(first.status, 200, first.text);
      assert.deepEqual(first.body.data, second.body.data);
    }
    const said = await world.sells('11', 'usdc');
    await control('pay', of(said, { how: 'exact' }));
    await world.mines(3);
    for (const order of [sale, said]) await world.reaches(order, 6);
    await world.reaches(purchase, 4);
    assert.equal((await depositsOf(sale)).length, 1);
    assert.equal((await depositsOf(purchase)).length, 1);
  });

  test('under: half is paid, and after the deadline the order is held for a person', async () => {
    const order = await world.sells('10', 'usdc');
    await control('pay', of(order, { how: 'under' }));
    await world.mines(2);
    await shows(order, 'underpaid');
    assert.deepEqual(
      (await depositsOf(order)).map(({ units }) => units),
      [5_000_000n],
    );
    await control('pay', of(order, { amount: '5' }));
    await world.mines(2);
    await world.reaches(order, 6);
  });

  test('over: half more is paid than was asked for', async () => {
    const [sale, purchase] = [await world.sells('10', 'usdc'), await world.buys('1000', 'usdc')];
    for (const order of [sale, purchase]) await control('pay', of(order, { how: 'over' }));
    await world.mines(2);
    for (const order of [sale, purchase]) await shows(order, 'overpaid');
    assert.deepEqual(
      (await depositsOf(purchase)).map(({ units }) => units),
      [150_000n],
    );
  });

  test('late: the deadline passes first, and the payment does not reopen the order', async () => {
    const order = await world.sells('10', 'usdc');
    await control('pay', of(order, { how: 'late' }));
    assert.equal(await world.statusOf(order), -1);
    await world.mines(2);
    await world.until('the deposit is known', async () => (await depositsOf(order)).length === 1);
    assert.equal(await world.statusOf(order), -1);
  });

  test('twice: the order takes one payment, and the other goes to suspense', async () => {
    const order = await world.sells('10', 'usdc');
    const { payments } = await control('pay', of(order, { how: 'twice' }));
    assert.equal(new Set(payments as string[]).size, 2);
    await world.mines(3);
    await world.reaches(order, 6);
    await world.until('both are known', async () => (await depositsOf(order)).length === 2);
  });

  test('with another token, or on another chain: the order still waits', async () => {
    const order = await world.sells('10', 'usdc');
    await control('pay', of(order, { how: 'another_token' }));
    await control('pay', of(order, { how: 'another_chain' }));
    await world.mines(2);
    await world.mines(2, 'erc20');
    await world.until('the other token is there', async () =>
      (await depositsOf(order)).some(({ asset }) => asset !== order.asset),
    );
    await world.until(
      'it is on the other chain',
      async () => (await world.tokensOf(order.depositAddress, 'usdc', 'erc20')) === '10',
    );
    assert.equal(await world.statusOf(order), 0);
  });
});

describe('with the node of a chain down', () => {
  const isDown = ({ status, body, text }: Awaited<ReturnType<typeof does>>, said: string) => {
    assert.deepEqual([status, body.reason], [503, 'unavailable'], text);
    assert.ok(body.error.includes(said), text);
  };

  test('a payment fails with an error that names the node, and the same key pays once when the node is back', async () => {
    const order = await world.sells('10', 'usdc');
    const headers = { 'idempotency-key': `down ${order.id}` };
    const pay = () => world.partner.post('/sandbox/v1/pay', of(order), { headers });
    await world.nodeDown(async () => isDown(await pay(), 'nothing was paid'));
    const again = await pay();
    assert.equal(again.status, 200, again.text);
    assert.deepEqual(again.body.data, (await pay()).body.data);
    await world.mines(3);
    await world.reaches(order, 6);
    assert.equal((await depositsOf(order)).length, 1, 'the order does not have one deposit');
  });

  test('no deadline passes for a payment that cannot be made late', async () => {
    const order = await world.sells('10', 'usdc');
    await world.nodeDown(async () => isDown(await does('pay', of(order, { how: 'late' })), 'nothing was paid'));
    assert.equal(await world.statusOf(order), 0);
  });

  test('driving a status, filling a treasury and replacing a block fail', async () => {
    const order = await world.sells('10', 'usdc');
    await world.nodeDown(async () => {
      const answers = await Promise.all([
        does('status', of(order, { status: '2' })),
        world.partner.post('test/changeOfframpStatus', {
          customerId: order.customerId,
          transactionId: String(order.id),
          status: '2',
        }),
        does('treasury', { currency: 'usdc', chain: 'matic20', state: 'filled', amount: '5' }),
        does('reorg', { chain: 'matic20', blocks: '1' }),
      ]);
      const said = ['nothing was paid', 'nothing was paid', 'was not filled', 'does not answer'];
      for (const [at, answer] of answers.entries()) isDown(answer, said[at] ?? '');
    });
    assert.equal(await world.statusOf(order), 0);
  });
});

describe('the bank', () => {
  test('credits with the right reference: settled; without, or mistyped: no order takes it', async () => {
    const [right, none, mistyped] = [
      await world.buys('1000', 'usdc'),
      await world.buys('1000', 'usdc'),
      await world.buys('1000', 'usdc'),
    ];
    await control('credit', of(right, { reference: 'right' }));
    const lines = [
      (await control('credit', of(none, { reference: 'none' }))).line,
      (await control('credit', of(mistyped, { reference: 'wrong' }))).line,
    ];
    await world.reaches(right, 4);
    await world.until('both are in suspense', async () => {
      const rows = await world.read((tx) =>
        tx.rows(`select from deposits where external_id = any($1) and state = 'suspense'`, [lines]),
      );
      return rows.length === 2;
    });
    for (const order of [none, mistyped]) assert.equal(await world.statusOf(order), 0);
    for (const line of lines) await control('recall', { line });
  });

  test("credits in the customer's name, or without a name: settled; in another name: held for a person", async () => {
    const customer = await world.verifiedCustomer();
    const details = { firstName: 'Asha', firstSurname: 'Rao' };
    await world.read(async (tx) => {
      const found = await findCustomer(tx, customer.id);
      await saveDetails(tx, world.vault, { customer: found, details, now: world.clock.now() });
    });
    const [right, none, wrong] = [
      await world.buys('1000', 'usdc', { customer }),
      await world.buys('1050', 'usdc', { customer }),
      await world.buys('1100', 'usdc', { customer }),
    ];
    await control('credit', of(right, { name: 'right' }));
    await control('credit', of(none, { name: 'none' }));
    await control('credit', of(wrong, { name: 'wrong' }));
    for (const order of [right, none]) await world.reaches(order, 4);
    assert.deepEqual(
      (await Promise.all([right, none, wrong].map(depositsOf))).map(([deposit]) => deposit?.payer),
      ['same', 'unknown', 'other'],
    );
    assert.equal((await world.opensCase(wrong, 'on_hold')).reason, 'payer_name');
  });

  test('recalls a credit', async () => {
    const order = await world.buys('1000', 'usdc', { reference: 'screen:hold' });
    await control('credit', of(order));
    await world.reaches(order, 2);
    await world.opensCase(order, 'on_hold');
    await control('recall', of(order));
    await world.until('it is lost', async () =>
      (await depositsOf(order)).some(({ state }) => state === 'lost' || state === 'reversed'),
    );
  });

  test('returns a payout that has settled', async () => {
    const order = await world.sells('10', 'usdc');
    assert.equal(
      (await does('bounce', of(order))).body.fields.transactionId,
      'has nothing at the bank that could come back',
    );
    await control('pay', of(order));
    await world.mines(2);
    await world.reaches(order, 6);
    await control('bounce', of(order));
    await world.opensCase(order, 'payout_returned');
  });

  for (const [fault, ends] of [
    ['lose_request', 6],
    ['lose_answer', 6],
    ['reject', 5],
    ['return', 6],
  ] as const) {
    test(`${fault}: the payout and its order reach the expected states`, async () => {
      await control('bank', { fault });
      const order = await world.sells('10', 'usdc');
      await control('pay', of(order));
      await world.mines(2);
      await world.reaches(order, ends);
      if (fault === 'reject') await world.opensCase(order, 'payout_held');
      if (fault === 'return') await world.opensCase(order, 'payout_returned');
      assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 1);
    });
  }

  test('delay_answer, no_status, statement_twice and statement_reordered leave an order paid once; none ends them', async () => {
    await control('bank', { fault: 'delay_answer', delayMs: '300' });
    for (const fault of ['no_status', 'statement_twice', 'statement_reordered'])
      await control('bank', { fault, times: 2 });
    const order = await world.buys('1000', 'usdc');
    const sale = await world.sells('10', 'usdc');
    for (const one of [order, sale]) await control('pay', of(one));
    await world.mines(2);
    await world.reaches(order, 4);
    await world.reaches(sale, 6);
    assert.equal((await depositsOf(order)).length, 1);
    await control('bank', { fault: 'none' });
  });
});

describe('an order', () => {
  test('is driven to a status, and an unknown status is refused', async () => {
    const order = await world.sells('10', 'usdc');
    await control('status', of(order, { status: '-1' }));
    await world.reaches(order, -1);
    const answer = await does('status', of(order, { status: '99' }));
    assert.equal(answer.body.fields.status, 'must be a status number of an offramp transaction');
  });

  test('fails screening while other orders to the same account pass; undone in time, it passes too', async () => {
    const customer = await world.verifiedCustomer();
    const sells = (amount: string) => world.sells(amount, 'usdc', { customer });
    const [held, beside, undone] = [await sells('10'), await sells('11'), await sells('12')];
    await control('screening', of(held, { outcome: 'fail' }));
    await control('screening', of(undone, { outcome: 'fail' }));
    await control('screening', of(undone, { outcome: 'pass' }));
    for (const order of [held, beside, undone]) await control('pay', of(order));
    await world.mines(3);
    await world.reaches(held, 3);
    assert.equal((await world.opensCase(held, 'on_hold')).reason, 'destination_denied');
    for (const order of [beside, undone]) await world.reaches(order, 6);
    await world.rejects(held, { failure: 'other', address: world.newAddress() });
    await world.refundArrives(held, -2);
    assert.equal((await does('screening', of(held, { outcome: 'fail' }))).body.reason, 'order_over');
  });
});

describe('the world', () => {
  test('reorg: a deposit leaves its block, is sent again, and settles once', async () => {
    await world.confirmsAfter('usdt.matic20', 8);
    const order = await world.sells('10', 'usdt');
    await control('pay', of(order));
    await world.mines(1);
    await world.reaches(order, 1);
    await control('reorg', { chain: 'matic20', blocks: '6' });
    await world.until(
      'it was reversed',
      async () => (await world.eventsOf(order)).filter((type) => type === 'created').length === 2,
    );
    await world.mines(2);
    await world.reaches(order, 1);
    await world.mines(9);
    await world.reaches(order, 6);
    assert.equal((await depositsOf(order)).length, 1);
  });

  test('prices: the next quote uses the price that was set, and later the table again', async () => {
    const rate = async () => {
      const pair = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '10' };
      return Number((await world.told('offramp/quote', pair)).rate);
    };
    await control('prices', { coin: 'usdc', fiat: 'inr', price: '91.5' });
    await world.until('it costs 91.5', async () => (await rate()) === 91.5);
    await control('prices', { coin: 'usdc', fiat: 'inr' });
    await world.until('it costs 86', async () => (await rate()) === 86);
  });

  for (const [currency, chain] of [
    ['inr', undefined],
    ['dai', 'matic20'],
  ] as const) {
    test(`treasury: ${currency} runs dry, an order waits, and goes on when it is filled`, async () => {
      const about = { currency, ...(chain === undefined ? {} : { chain }) };
      const dry = await control('treasury', { ...about, state: 'dry' });
      assert.equal(Number(dry.available), 0);
      const order = chain === undefined ? await world.sells('10', 'usdc') : await world.buys('1000', 'dai', { chain });
      await control('pay', of(order));
      await world.mines(2);
      await world.isShort(order);
      await control('treasury', { ...about, state: 'filled' });
      await world.mines(2);
      await world.reaches(order, chain === undefined ? 6 : 4);
    });
  }

  test('webhooks: dropped events arrive once delivery works again, and the clock triggers the next attempt', async () => {
    const receiver: Receiver = await openReceiver();
    try {
      const made = await world.partner.post('/v1/webhooks', { url: receiver.url, format: 'standard' });
      assert.equal(made.status, 200, made.text);
      await control('webhooks', { deliveries: 'drop' });
      const order = await world.sells('10', 'usdc');
      const log = () => world.partner.get(`/v1/webhooks/${made.body.data.id}/deliveries`);
      await world.until('an attempt has failed', async () => (await log()).text.includes('connection_refused'));
      assert.equal(receiver.seen.length, 0);
      await control('webhooks', { deliveries: 'deliver' });
      await control('clock', { advance: '1h' });
      await world.until('it is heard', async () => receiver.seen.some(({ text }) => text.includes(String(order.id))));
      await world.partner.remove(`/v1/webhooks/${made.body.data.id}`);
    } finally {
      await receiver.down();
    }
  });
});

describe('the clock', () => {
  test("advances a partner's own deadlines, and those of no other partner", async () => {
    const order = await world.sells('10', 'usdc');
    await control('clock', { advance: '30m' });
    assert.equal(await world.statusOf(order), 0);
    assert.equal((await does('clock', { advance: '3h' }, world.otherPartner)).status, 200);
    await control('clock', { advance: '29m' });
    assert.equal(await world.statusOf(order), 0);
    await control('clock', { advance: '2m' });
    await world.reaches(order, -1);
  });

  test('expires a quote', async () => {
    const pair = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '12.34' };
    await world.told('offramp/quote', pair);
    const ends = () =>
      world.read((tx) =>
        tx.row<{ live: string }>(
          'select count(*)::text as live from quotes where order_id is null and expires_at > $1',
          [world.clock.now()],
        ),
      );
    assert.notEqual((await ends())?.live, '0');
    await control('clock', { advance: '2m' });
    assert.equal((await ends())?.live, '0');
  });

  test('clears money that a bank may recall', async () => {
    await world.clears('inr', 3_600);
    const order = await world.buys('1000', 'usdc');
    await control('pay', of(order));
    await world.until('it is seen', async () => (await depositsOf(order))[0]?.state === 'seen');
    await control('clock', { advance: '59m' });
    assert.equal(await world.stateOf(order), 'deposit_seen');
    await control('clock', { advance: '2m' });
    await world.reaches(order, 4);
    await world.clears('inr', 0);
  });

  test('ends the delivery of an event that no receiver accepted for three days, with a case', async () => {
    const receiver = await openReceiver();
    await control('webhooks', { deliveries: 'drop' });
    const { id } = await world.told<{ id: string }>('/v1/webhooks', { url: receiver.url, format: 'standard' });
    await world.sells('10', 'usdc');
    const log = async () => (await world.partner.get(`/v1/webhooks/${id}/deliveries`)).text;
    await world.until('it has failed', async () => (await log()).includes('connection_refused'));
    await control('clock', { advance: '3d' });
    await world.until('it is dead', async () => (await log()).includes('"dead"'));
    const cases = await world.read((tx) =>
      tx.rows(`select from cases where kind = 'webhook_undelivered' and subject = $1`, [`endpoint:${id}`]),
    );
    assert.equal(cases.length, 1);
    await control('webhooks', { deliveries: 'deliver' });
    await world.partner.remove(`/v1/webhooks/${id}`);
    await receiver.down();
  });

  test('makes an order that waits for a person overdue', async () => {
    const order = await world.sells('10', 'usdc', { reference: 'screen:hold' });
    await control('pay', of(order));
    await world.mines(2);
    await world.reaches(order, 3);
    await control('clock', { advance: '30d' });
    await world.until('somebody hears of it', async () => (await orderOf(order)).overdue);
  });
});

test('the stories use every control with every word it accepts, and the page of the controls names them all', () => {
  const words = CONTROLS.flatMap(({ name, takes }) => [
    name,
    ...Object.entries(takes).flatMap(([field, { words }]) => words.map((word) => `${name} ${field} ${word}`)),
  ]);
  assert.ok(words.length > CONTROLS.length + 20, 'too few words were collected');
  assert.deepEqual(
    words.filter((word) => !told.has(word)),
    [],
  );
  for (const { takes } of CONTROLS)
    for (const { says, words } of Object.values(takes))
      for (const word of words) assert.ok(says.includes(`\`${word.toLowerCase()}\``), `${word} in: ${says}`);
});
