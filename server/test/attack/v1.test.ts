/**
 * The partner API in the hands of a thief who has a key: money that it must not move, and requests that must not stop the server.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { replaceDenyList } from '../../src/compliance/index.ts';
import { declareInstallation } from '../../src/operators/index.ts';
import { besideStory, type V1Environment, v1Environment } from '../protocols/v1/environment.ts';
import { type Came, newPhone } from '../support/client.ts';
import { openV1 } from '../support/v1.ts';

let w: V1Environment;

before(async () => {
  w = await v1Environment();
});
after(async () => {
  await w?.s.close();
});

test('a phone that is changed while a code is on its way to the one before gets no code', async () => {
  const { s } = w;
  const phones: string[] = [];
  const careful = await besideStory(s, {
    profile: 'sandbox',
    codes: { nextCode: () => '246810', sendCode: async (phone) => void phones.push(phone) },
  });
  const by = openV1(careful.baseUrl, w.keys);
  try {
    const customerId = await w.customer();
    const added = await w.account(customerId, '0000', by);
    const thiefs = newPhone();
    const waiting = (least: number) =>
      s.until(`${least} wait for a lock`, async () => {
        const row = await s.read((tx) => tx.row<{ n: bigint }>('select count(*) as n from pg_locks where not granted'));
        return Number(row?.n) >= least;
      });
    let changed: Promise<unknown> = Promise.resolve();
    let isChanged = false;
    let sent: Promise<Came> = Promise.resolve();
    // Sending waits for its customer's lock: between reading the phone's age and reading the phone.
    await s.read(async (tx) => {
      const lock = s.vault.index(customerId, 'login_sends.customer').readBigInt64BE(0);
      await tx.run('select pg_advisory_xact_lock($1)', [lock]);
      sent = by.post(`/customers/${customerId}/destinations/${added.id}/code`);
      await waiting(1);
      changed = by.patch(`/customers/${customerId}`, { phone: thiefs }).then(() => {
        isChanged = true;
      });
      await Promise.race([changed, waiting(2)]);
    });
    await Promise.all([sent, changed]);
    assert.ok(isChanged);
    assert.ok(
      !phones.some((phone) => phone.replace(/\D/g, '') === thiefs.replace(/\D/g, '')),
      'the thief gets no code',
    );
  } finally {
    await careful.close();
  }
});

test('a refund that screening has stopped is not sent elsewhere with the money of its order', async () => {
  const { s, api } = w;
  await s.goesBy('offramp', 'usdc', { underpaid: { acceptBps: 0, beyond: 'hold' } });
  const order = await w.sells('60');
  await s.goesBy('offramp', 'usdc', {});
  await s.pays(w.sale(order), '50');
  await s.pays(w.sale(order), '5', 'usdt');
  await s.mines(3);
  const stray = await s.until('both are there', async () => {
    const { data } = await api.does('GET', `/orders/${order.id}/deposits`);
    const found = data.find(({ state }: Came) => state === 'suspense');
    return (await w.get(order)).received.amount === '50' && found;
  });
  await s.deadlinePasses();
  await w.becomes(order, 'on_hold');
  const [denied, clean] = [await w.address(order.customerId), await w.address(order.customerId)];
  await s.read((tx) =>
    replaceDenyList(tx, s.vault, {
      ...{ list: 'sanctions', version: 'one', destinations: [{ kind: 'address', value: denied.address }] },
      now: s.clock.now(),
    }),
  );
  await api.does('POST', `/orders/${order.id}/refund`, { depositId: stray.id, destinationId: denied.id });
  const stopped = async () => {
    const { data } = await api.does('GET', `/orders/${order.id}/refunds`);
    return data.find(({ state, destination }: Came) => state === 'under_review' && destination?.id !== clean.id);
  };
  await s.until('it is stopped', stopped);
  const one = await api.post(`/orders/${order.id}/refund`, { depositId: stray.id, destinationId: clean.id });
  assert.equal(one.body.reason, 'under_review');
  const all = await api.post(`/orders/${order.id}/refund`, { destinationId: clean.id });
  assert.equal(all.body.reason, 'under_review', all.text);
  assert.ok(await stopped());
});

test('as many concurrent tries of codes as connections all get an answer', async () => {
  const { api } = w;
  const customerId = await w.customer();
  const added = await w.account(customerId);
  const tried = await Promise.all(
    Array.from({ length: 40 }, () =>
      api.post(`/customers/${customerId}/destinations/${added.id}/confirm`, { code: '000000' }),
    ),
  );
  assert.deepEqual([...new Set(tried.map(({ body }) => body.reason))], ['code_over']);
});

test('a web address that may open something is in no request log', async () => {
  const { s, api } = w;
  const customerId = await w.customer();
  const redirectUrl = 'https://wallet.example/back?session=opensesame';
  const made = await api.post(`/customers/${customerId}/account-link`, { redirectUrl });
  assert.equal(made.status, 201);
  const line = await s.until('it is logged', async () => {
    const found = await api.get(`/request-log/${made.headers.get('x-request-id')}`);
    return found.status === 200 && found;
  });
  assert.ok(!line.text.includes('opensesame'), line.text);
});

test('a cooling-off time that has passed does not replace one of the two people who approve a new destination', async () => {
  const { s } = w;
  const declare = (operators: 'one' | 'two') =>
    s.read((tx) => declareInstallation(tx, { operators, delayS: 0, now: s.clock.now() }));
  const careful = await besideStory(s, {
    profile: 'sandbox',
    codes: { nextCode: () => '246810', sendCode: async () => {} },
  });
  const by = openV1(careful.baseUrl, w.keys);
  try {
    const order = await w.sells('63', { ending: '9001' });
    await s.pays(w.sale(order), '63');
    await s.mines(3);
    await w.becomes(order, 'payout_held');
    const [added, confirmed] = [
      await w.account(order.customerId, '0000', by),
      await w.account(order.customerId, '0000', by),
    ];
    const path = `/customers/${order.customerId}/destinations/${confirmed.id}`;
    await by.does('POST', `${path}/code`);
    await by.does('POST', `${path}/confirm`, { code: '246810' });
    s.clock.advance(86_400_001);
    await declare('two');
    const asks = (destinationId: string) => by.post(`/orders/${order.id}/payout-destination`, { destinationId });
    const declined = await asks(added.id);
    assert.equal(declined.body.reason, 'destination_held', declined.text);
    assert.equal((await asks(confirmed.id)).status, 200);
    await w.becomes(order, 'settled');
  } finally {
    await declare('one');
    await careful.close();
  }
});

test('a key whose answer has lapsed does not confirm another destination without its code', async () => {
  const { s } = w;
  const careful = await besideStory(s, {
    profile: 'sandbox',
    codes: { nextCode: () => '246810', sendCode: async () => {} },
  });
  const by = openV1(careful.baseUrl, w.keys);
  try {
    const [own, other] = [await w.customer(), await w.customer()];
    const mine = `/customers/${own}/destinations/${(await w.account(own, '0000', by)).id}`;
    await by.does('POST', `${mine}/code`);
    await by.does('POST', `${mine}/confirm`, { code: '246810' }, { key: 'once' });
    const theirs = `/customers/${other}/destinations/${(await w.account(other, '0000', by)).id}`;
    s.clock.advance(86_400_000);
    const guess = await by.post(`${theirs}/confirm`, { code: '000000' }, { key: 'once' });
    assert.equal(guess.body.reason, 'code_over', guess.text);
    assert.equal((await by.does('GET', theirs)).confirmedAt, null);
  } finally {
    await careful.close();
  }
});
