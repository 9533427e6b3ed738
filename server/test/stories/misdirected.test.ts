/**
 * Misdirected deposits: on another of our chains, as another token, at the hot wallet, as dust, or without a reference; and how
 * operators handle them over their API.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { parseUnits } from '../../src/base/money.ts';
import { trustFundingSource } from '../../src/rails/chain.ts';
import { amountsDecide, type Person, twoDo } from '../protocols/operator/people.ts';
import { settledPurchase } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let finn: Person;
let hot = '';

before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
  const { rails } = world.server;
  await world.read(amountsDecide);
  const rail = rails.get('evm.matic20') as { walletAddresses?: Record<string, string> } | undefined;
  hot = rail?.walletAddresses?.hot ?? '';
});
after(async () => await world?.close());

const onEthereum = (order: Sale): Sale => ({ ...order, chain: 'erc20' });
/** The order with the hot wallet as its deposit address. */
const atHot = (order: Sale): Sale => ({ ...order, depositAddress: hot });
const depositsOf = async (order: Sale | Purchase) =>
  (await world.traceOf(order)).deposits.map(({ asset, units, state, why }) => [asset, units, state, why]);
const exceptionOf = async (order: Sale | Purchase) => (await world.traceOf(order)).order.exception;
const suspended = (where: string, ...values: unknown[]) =>
  world.read((tx) =>
    tx.rows<{ id: bigint; units: bigint; state: string; dust: boolean }>(
      `select id, units, state, dust from deposits where ${where} order by id`,
      values,
    ),
  );
const casesAbout = (depositId: bigint) =>
  world.read((tx) =>
    tx.rows<{ kind: string; open: boolean }>(
      'select kind, closed_at is null as open from cases where subject = $1 order by id',
      [`deposit:${depositId}`],
    ),
  );

async function goesBy(order: Sale, answers: Record<string, unknown>): Promise<void> {
  await world.read((tx) =>
    tx.run('update orders set policy = policy || $2::jsonb where id = $1', [order.id, JSON.stringify(answers)]),
  );
}

async function arrives(address: string, amount: string, coin: string, chain: string): Promise<void> {
  await world.until(`${amount} ${coin} arrive on ${chain}`, async () => {
    await world.mines(1, chain);
    return (await world.tokensOf(address, coin, chain)) === amount;
  });
}

const bothDo = (path: string, body: Record<string, unknown>) => twoDo(finn, ada, path, body);

describe('the right token on another of our chains', () => {
  test('is kept in suspense under its order, an operator refunds it on that chain, and the order can still be paid', async () => {
    const order = await world.sells('10', 'usdc');
    const books = await world.balances();
    await world.pays(onEthereum(order), '10');
    await world.mines(2, 'erc20');
    await world.opensCase(order, 'deposit_wrong_chain');
    assert.equal(await world.statusOf(order), 0);
    assert.equal(await exceptionOf(order), 'wrong_chain');
    assert.deepEqual(await depositsOf(order), [['usdc.erc20', 10_000_000n, 'suspense', 'wrong_chain']]);
    assert.deepEqual(await world.changesSince(books), {
      'custody:evm.erc20:deposits:usdc.erc20': 10_000_000n,
      'suspense:evm.erc20:usdc.erc20': 10_000_000n,
    });
    assert.deepEqual(
      (await world.changesOf(order)).map(({ state, exception }) => [state, exception]),
      [['created', 'wrong_chain']],
    );
    const [told] = (await finn.reads('/cases?kind=deposit_wrong_chain')).body.cases;
    assert.match(told.remedy, /on the chain it came on/);
    assert.deepEqual([told.who, told.reason], ['operator', 'on another chain than the order asked for']);
    assert.ok(Date.parse(told.openedAt) <= world.clock.now().getTime());
    const { deposits } = await world.traceOf(order);
    const address = world.newAddress();
    const said = await finn.does(`/deposits/${deposits[0]?.id}/refund`, { address });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    await arrives(address, '10', 'usdc', 'erc20');
    await world.until('it is refunded', async () => (await depositsOf(order))[0]?.[2] === 'refunded');
    assert.deepEqual(await world.openCaseKinds(order), []);
    assert.equal((await world.changesSince(books))['suspense:evm.erc20:usdc.erc20'], undefined);
    await world.pays(order, '10');
    await world.mines(2);
    await world.reaches(order, 6);
    assert.deepEqual(await world.eventsOf(order), [
      'created',
      'deposit_seen',
      'deposit_confirmed',
      'paying_out',
      'settled',
    ]);
  });

  test('goes back by policy to the refund address of the order, because one key controls it on every chain', async () => {
    const address = world.newAddress();
    const order = await world.sells('10', 'usdc', { refundAddress: address });
    await goesBy(order, { wrongChain: { then: 'refund' } });
    await world.pays(onEthereum(order), '7');
    await world.mines(2, 'erc20');
    await arrives(address, '7', 'usdc', 'erc20');
    await world.until('it is refunded', async () => (await depositsOf(order))[0]?.[2] === 'refunded');
    assert.deepEqual(await world.openCaseKinds(order), []);
    assert.equal(await world.tokensOf(address, 'usdc', 'matic20'), '0');
    assert.equal(await world.statusOf(order), 0);
  });

  test('does not go to a contract address that does not exist on that chain: an operator names another address', async () => {
    const address = world.newAddress();
    await world.rpc('matic20', 'anvil_setCode', [address, '0x00']);
    const order = await world.sells('10', 'usdc', { refundAddress: address });
    await goesBy(order, { wrongChain: { then: 'refund' } });
    await world.pays(onEthereum(order), '7');
    await world.mines(2, 'erc20');
    assert.match((await world.opensCase(order, 'refund_destination_held')).reason, /contract/);
    const elsewhere = world.newAddress();
    assert.equal((await finn.does(`/orders/${order.id}/destination`, { address: elsewhere })).status, 200);
    await arrives(elsewhere, '7', 'usdc', 'erc20');
    await world.until('nothing is open', async () => (await world.openCaseKinds(order)).length === 0);
    assert.equal(await world.tokensOf(address, 'usdc', 'erc20'), '0');
  });

  test('is found when final as that chain’s native asset, too', async () => {
    const order = await world.sells('10', 'usdc');
    await world.paysNative(onEthereum(order), '0.25');
    await world.mines(13, 'erc20');
    await world.opensCase(order, 'deposit_wrong_chain');
    assert.deepEqual(await depositsOf(order), [['eth.erc20', parseUnits('0.25', 18), 'suspense', 'wrong_chain']]);
    const { deposits } = await world.traceOf(order);
    const address = world.newAddress();
    assert.equal((await finn.does(`/deposits/${deposits[0]?.id}/refund`, { address })).status, 200);
    await world.until('it is refunded', async () => {
      await world.mines(1, 'erc20');
      return (await depositsOf(order))[0]?.[2] === 'refunded';
    });
    assert.equal(
      BigInt(await world.rpc<string>('erc20', 'eth_getBalance', [address, 'latest'])),
      parseUnits('0.25', 18),
    );
    assert.deepEqual(await world.openCaseKinds(order), []);
  });
});

test('another listed token goes back by policy, and the order still waits for its own', async () => {
  const address = world.newAddress();
  const order = await world.sells('10', 'usdc', { refundAddress: address });
  await goesBy(order, { wrongAsset: { then: 'refund' } });
  await world.pays(order, '9', 'usdt');
  await world.mines(2);
  await arrives(address, '9', 'usdt', 'matic20');
  await world.until('it is refunded', async () => (await depositsOf(order))[0]?.[2] === 'refunded');
  assert.equal(await exceptionOf(order), 'wrong_asset');
  assert.deepEqual(await world.openCaseKinds(order), []);
  assert.equal(await world.statusOf(order), 0);
});

describe('at the hot wallet', () => {
  test('tokens from an unknown sender are a deposit in suspense, and two operators refund them', async () => {
    const order = await world.sells('10', 'usdc');
    const books = await world.balances();
    const { hash } = await world.pays(atHot(order), '4');
    await world.mines(13);
    const [deposit] = await world.until('it is booked', async () => {
      const found = await suspended(`origin = 'credit' and reference = $1`, hash);
      return found.length > 0 && found;
    });
    assert(deposit);
    assert.deepEqual(await casesAbout(deposit.id), [{ kind: 'unexpected_credit', open: true }]);
    const changes = await world.changesSince(books);
    assert.equal(changes['suspense:evm.matic20:usdc.matic20'], 4_000_000n);
    assert.equal(changes['custody:evm.matic20:hot:usdc.matic20'], 4_000_000n);
    const address = world.newAddress();
    await bothDo(`/deposits/${deposit.id}/refund`, { address });
    await arrives(address, '4', 'usdc', 'matic20');
    await world.until('it is refunded', async () => (await suspended('id = $1', deposit.id))[0]?.state === 'refunded');
    assert.deepEqual(await casesAbout(deposit.id), [{ kind: 'unexpected_credit', open: false }]);
    assert.equal(await world.statusOf(order), 0);
  });

  test('the native asset goes to suspense from an unknown sender, and to the gas capital from a known source', async () => {
    const order = await world.sells('10', 'usdc');
    const books = await world.balances();
    const { hash } = await world.paysNative(atHot(order), '0.5');
    await world.mines(13);
    const [deposit] = await world.until('it is booked', async () => {
      const found = await suspended(`origin = 'credit' and reference = $1`, hash);
      return found.length > 0 && found;
    });
    const half = parseUnits('0.5', 18);
    assert.equal(deposit?.units, half);
    assert.deepEqual(await casesAbout(deposit?.id ?? 0n), [{ kind: 'unexpected_credit', open: true }]);
    assert.equal((await world.changesSince(books))['suspense:evm.matic20:matic.matic20'], half);
    const { from } = await world.rpc<{ from: string }>('matic20', 'eth_getTransactionByHash', [hash]);
    await world.read((tx) => trustFundingSource(tx, 'evm.matic20', from, 'ours after all'));
    try {
      await world.paysNative(atHot(order), '0.75');
      await world.mines(13);
      const capital = parseUnits('0.75', 18);
      await world.until(
        'it is gas',
        async () => (await world.changesSince(books))['capital:matic.matic20'] === capital,
      );
      assert.equal((await world.changesSince(books))['suspense:evm.matic20:matic.matic20'], half);
    } finally {
      await world.read((tx) => tx.run('delete from funding_sources where address = $1', [from]));
    }
  });
});

describe('dust', () => {
  test('that no order takes is booked, counted and shown in the trace, and opens no case', async () => {
    const order = await world.sells('10', 'usdc');
    await world.deadlinePasses();
    await world.reaches(order, -1);
    const books = await world.balances();
    await world.paysInOneBlock(order, '0.009', '0.001', '0.002');
    await world.mines(2);
    await world.until('all is booked', async () => {
      const found = await depositsOf(order);
      return found.length === 3 && found.every(([, , state]) => state === 'suspense');
    });
    const { deposits } = await world.traceOf(order);
    assert.deepEqual(
      deposits.map(({ dust, why }) => [dust, why]),
      [1, 2, 3].map(() => [true, 'late']),
    );
    assert.deepEqual(await world.casesOf(order), []);
    assert.deepEqual(await world.changesOf(order), [], 'the partner was told');
    assert.equal((await world.changesSince(books))['suspense:evm.matic20:usdc.matic20'], 12_000n);
    const metrics = await (await fetch(world.server.metricsUrl)).text();
    assert.match(metrics, /cloverleaf_dust_deposits\{rail="evm\.matic20"\} [3-9]/);
    const told = await finn.reads(`/orders/${order.id}/timeline`);
    assert.match(JSON.stringify(told.body.lines), /dust/);
    await world.pays(order, '0.01');
    await world.mines(2);
    await world.opensCase(order, 'deposit_late');
  });

  test('is what is below the threshold of its asset, which an operator changes', async () => {
    const order = await world.sells('10', 'usdt');
    const said = await ada.does('/dust', { asset: 'usdt.matic20', below: 'none' });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    await world.deadlinePasses();
    await world.reaches(order, -1);
    await world.pays(order, '0.000001');
    await world.mines(2);
    await world.opensCase(order, 'deposit_late');
    assert.equal((await finn.does('/dust', { asset: 'gold', below: '1' })).status, 403);
    assert.match((await ada.does('/dust', { asset: 'gold', below: '1' })).body.error, /code of an asset/);
  });
});

describe('a credit without a reference', () => {
  /** A credit in suspense, with a text that names no order. */
  async function stray(order: Purchase, amount: string): Promise<bigint> {
    const known = new Set((await suspended(`order_id is null and origin = 'rail'`)).map(({ id }) => id));
    await world.credits(order, amount, { text: 'for my coins' });
    return await world.until('it is in suspense', async () => {
      const found = await suspended(`order_id is null and origin = 'rail' and state = 'suspense'`);
      return found.find(({ id }) => !known.has(id))?.id;
    });
  }

  test('is assigned to its order by two operators, once, and pays it', async () => {
    const order = await world.buys('5000', 'usdc');
    const depositId = await stray(order, '5000');
    assert.deepEqual(await casesAbout(depositId), [{ kind: 'deposit_unknown_target', open: true }]);
    const path = `/deposits/${depositId}/assign`;
    assert.equal((await finn.does(path, { order: '17' })).body.reason, 'unknown_order');
    const sale = await world.sells('10', 'usdc');
    const said = await finn.does(path, { order: String(sale.id) });
    const proposal = `/proposals/${said.body.proposal}`;
    assert.equal((await ada.does(`${proposal}/confirm`)).body.reason, 'deposit_unfit');
    const over = (await ada.reads(proposal)).body;
    assert.deepEqual([over.state, over.failedWhy], ['failed', 'deposit_unfit'], 'the failed proposal is still open');
    await bothDo(path, { order: String(order.id) });
    await world.payoutIsSubmitted(order);
    await world.mines(2);
    await world.reaches(order, 4);
    assert.deepEqual(await casesAbout(depositId), [{ kind: 'deposit_unknown_target', open: false }]);
    const again = await finn.does(path, { order: String(order.id) });
    assert.equal(again.body.reason, 'order_over', JSON.stringify(again.body));
    assert.deepEqual(await depositsOf(order), [['inr', 500_000n, 'applied', 'unknown_target']]);
  });

  test('given to its order as a part keeps that order from being cancelled', async () => {
    const order = await world.buys('5000', 'usdc');
    const depositId = await stray(order, '2000');
    await bothDo(`/deposits/${depositId}/assign`, { order: String(order.id) });
    const { body } = await finn.does(`/orders/${order.id}/cancel`);
    assert.equal(body.reason, 'order_over', JSON.stringify(body));
    assert.match(body.error, /created \(part_arrived\)/);
    await world.deadlinePasses();
    await world.opensCase(order, 'on_hold');
    assert.deepEqual(await depositsOf(order), [['inr', 200_000n, 'applied', 'part']]);
  });

  test('pays the debt of a customer whose bank recalled a credit that we had paid out', async () => {
    const { order, line } = await settledPurchase(world);
    const books = await world.balances();
    await world.bank.recall(line);
    await world.looksAtTheBank();
    await world.opensCase(order, 'customer_owes');
    const owed = Object.entries(await world.changesSince(books)).filter(([code]) => code.startsWith('receivable:'));
    assert.deepEqual(
      owed.map(([, units]) => units),
      [500_000n],
    );
    const depositId = await stray(order, '5001');
    await bothDo(`/deposits/${depositId}/assign`, { order: String(order.id) });
    const after = Object.keys(await world.changesSince(books)).filter((code) => code.startsWith('receivable:'));
    assert.deepEqual(after, []);
    assert.deepEqual(await world.openCaseKinds(order), ['overpaid']);
    assert.equal(await exceptionOf(order), 'deposit_replaced');
    assert.equal(await world.statusOf(order), 4);
    assert.equal((await world.traceOf(order)).payouts.length, 1, 'the order was paid a second time');
    assert.equal((await finn.does(`/deposits/${depositId}/refund`, { amount: '2' })).body.reason, 'refund_exceeds');
  });
});

test('a deposit that a reorg reversed is replaced by a later one, and the order goes on', async () => {
  await world.blocksWait(async () => {
    const order = await world.sells('10', 'usdc', { reference: 'screen:hold' });
    const paid = await world.pays(order, '10');
    await world.mines(1);
    await world.reaches(order, 3);
    await world.reorgsAway(paid);
    await world.opensCase(order, 'deposit_lost');
    assert.equal((await finn.does(`/orders/${order.id}/release`)).body.reason, 'order_over');
    const books = await world.balances();
    // A different payment with the nonce that the reorg freed: an identical one would be the same transaction.
    await world.pays(await world.sells('10', 'usdc'), '1');
    await world.pays(order, '10');
    await world.mines(2);
    await world.opensCase(order, 'deposit_second');
    const again = (await world.traceOf(order)).deposits.find(({ state }) => state === 'suspense');
    const said = await finn.does(`/deposits/${again?.id}/assign`, { order: String(order.id) });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    assert.equal((await world.changesSince(books))['loss:usdc.matic20'], -10_000_000n);
    assert.deepEqual(await world.openCaseKinds(order), ['on_hold']);
    assert.equal((await finn.does(`/orders/${order.id}/release`)).status, 200);
    await world.reaches(order, 6);
    assert.deepEqual(await world.openCaseKinds(order), []);
  });
});
