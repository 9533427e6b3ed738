/**
 * Travel rule data between providers: two servers of ours, each on a database of its own, over HTTP. What one sends before its
 * coins leave is what the other matches with the deposit. And a third provider that answers twice, late, never, or wrongly.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { findCustomer, saveDetails } from '../../src/customers/index.ts';
import { oneOrTwoDo, type Person } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story, StoryCustomer } from '../support/story.ts';
import { type Other, openOther, person, post, urlOf } from '../support/trp.ts';
import { openV1, type V1Client } from '../support/v1.ts';

const SETTINGS = { TRAVEL_PROTOCOL: 'trp', TRP_ASSETS: 'usdc.matic20=dti:4H95J0R2X' };
const FIRST = { firstName: 'Zebulon', lastName: 'Quagmire' };
const INR = '5000';

interface Side {
  world: Story;
  ada: Person;
  bea: Person;
  api: V1Client;
  host: string;
}

let a: Side;
let b: Side;
let other: Other;

before(async () => {
  a = await opened('A Ramp Ltd');
  b = await opened('B Ramp Ltd');
  other = await openOther();
  for (const [side, hosts] of [
    [a, [b.host, other.host]],
    [b, [a.host, other.host]],
  ] as const) {
    const terms = { threshold: '4000', deadlineHours: 2, policy: 'hold', exchange: 'required' };
    await twoDo(side, '/travel-rules', { jurisdiction: '*', fiat: 'inr', ...terms });
    for (const host of hosts) await twoDo(side, '/travel-providers', { host, name: 'Another Ltd' });
  }
});
after(async () => {
  other?.server.closeAllConnections();
  other?.server.close();
  await a?.world.close();
  await b?.world.close();
});
beforeEach(() => {
  other.asked.length = 0;
  other.answers = () => ({ status: 200, body: { version: '3.1.0' } });
});

async function opened(name: string): Promise<Side> {
  const staffed = await openStaffedStory(
    { ada: 'admin', bea: 'admin' },
    { settings: { ...SETTINGS, TRP_LEGAL_NAME: name } },
  );
  const [keys] = staffed.world.server.sandbox.partners;
  assert(keys);
  const { baseUrl } = staffed.world.server;
  return { ...staffed, api: openV1(baseUrl, keys), host: new URL(baseUrl).host };
}

async function twoDo({ ada, bea }: Side, path: string, body: Record<string, unknown>): Promise<void> {
  const alone = await ada.does(path, body);
  assert.equal(alone.status, 202, `one person did it: ${JSON.stringify(alone.body)}`);
  assert.equal((await bea.does(`/proposals/${alone.body.proposal}/confirm`)).status, 200);
}

async function named({ world }: Side, details = FIRST): Promise<StoryCustomer> {
  const made = await world.verifiedCustomer();
  await world.read(async (tx) => {
    const customer = await findCustomer(tx, made.id);
    await saveDetails(tx, world.server.vault, { customer, details, now: world.clock.now() });
  });
  return made;
}

const stateIs = ({ world }: Side, order: Sale | Purchase, state: string) =>
  world.until(`the order is ${state}`, async () => (await world.stateOf(order)) === state);
const walletsOf = ({ api }: Side, order: Sale | Purchase) => api.does('GET', `/orders/${order.id}/wallets`);
const missingOf = async (side: Side, order: Sale | Purchase): Promise<string[]> =>
  (await walletsOf(side, order)).data.flatMap(({ missing }: { missing: string[] }) => missing);
const shownOf = async ({ ada }: Side, order: Sale | Purchase) =>
  (await ada.does(`/orders/${order.id}/travel-rule`)).body;

interface Row {
  id: bigint;
  state: string;
  outcome: string | null;
  failure: string | null;
  attempts: number;
}
const exchangesOf = ({ world }: Side, order: Sale | Purchase): Promise<Row[]> =>
  world.read((tx) =>
    tx.rows<Row>('select id, state, outcome, failure, attempts from travel_exchanges where order_id = $1 order by id', [
      order.id,
    ]),
  );
/** Lets jobs that look again later do so now. */
async function exchangeIs(side: Side, order: Sale | Purchase, wanted: (row: Row) => boolean): Promise<void> {
  await side.world.until('the exchange is as wanted', async () => {
    const [row] = await exchangesOf(side, order);
    if (row !== undefined && wanted(row)) return true;
    await side.world.read((tx) =>
      tx.run("update jobs set due_at = now() where kind = 'travel_exchange' and lease is null"),
    );
    return false;
  });
}

async function bought(address: string, details = FIRST): Promise<Purchase> {
  const order = await a.world.buys(INR, 'usdc', { address, customer: await named(a, details) });
  await a.world.credits(order, INR, { name: `${details.firstName} ${details.lastName}` });
  await stateIs(a, order, 'paying_out');
  return order;
}
const names = (order: Purchase, travelAddress: string) =>
  a.api.does('POST', `/orders/${order.id}/wallets`, {
    ...{ kind: 'hosted', owner: 'customer', provider: 'Another Ltd' },
    ...{ address: order.address, travelAddress },
  });
const anAddress = () => a.world.newAddress().toLowerCase();

/** What a purchase of this worth pays out. */
async function coinsOf(): Promise<string> {
  return (await a.world.buys(INR, 'usdc', { customer: await named(a) })).toAmount;
}

interface Told {
  callback: string;
  amount: number;
  asset: unknown;
  IVMS101: unknown;
}
const toldOther = async (): Promise<Told> => {
  await a.world.until('it is asked', async () => other.asked.length > 0);
  return JSON.parse(other.asked[0]?.body ?? '') as Told;
};
const approvalOf = (address: string, path = 'confirm/1') => ({
  approved: { address, callback: `http://${other.host}/${path}` },
});

test('a deposit waits for the data of its provider; the other server sends it before it pays, both leave, and both keep the same names', async () => {
  const amount = await coinsOf();
  const sale = await b.world.sells(amount, 'usdc', { customer: await named(b) });
  const { travelAddress } = await walletsOf(b, sale);
  assert.match(travelAddress, /^ta[1-9A-HJ-NP-Za-km-z]+$/);
  await b.world.pays(sale, amount);
  await b.world.mines(2);
  await stateIs(b, sale, 'paying_out');
  await b.world.until('it waits for data', async () => (await missingOf(b, sale)).includes('wallet'));

  const order = await bought(sale.depositAddress.toLowerCase());
  await a.world.until('it waits', async () => /travel rule/.test((await a.world.traceOf(order)).next));
  assert.deepEqual(await exchangesOf(a, order), [], 'a provider was asked before the wallet was named');
  await names(order, travelAddress);
  await a.world.payoutIsSubmitted(order);
  await a.world.mines(2);
  await a.world.reaches(order, 4);
  await b.world.reaches(sale, 6);

  const [sent, kept] = [await shownOf(a, order), await shownOf(b, sale)];
  assert.deepEqual([sent.records[0].state, kept.records[0].state], ['complete', 'complete']);
  assert.deepEqual([sent.exchanges[0].state, kept.exchanges[0].state], ['approved', 'approved']);
  assert.match(JSON.stringify(kept.records[0].ivms.originator), /Quagmire/);
  assert.match(JSON.stringify(kept.records[0].ivms.originatingVASP), /A Ramp Ltd/);
  await exchangeIs(a, order, ({ outcome }) => outcome === 'transferred');
  await exchangeIs(b, sale, ({ outcome }) => outcome === 'transferred');
});

test('a beneficiary of another name is refused by its provider, and the payout is held, with the reason for operators only', async () => {
  const sale = await b.world.sells('60', 'usdc', {
    customer: await named(b, { firstName: 'Xanthippe', lastName: 'Vrblova' }),
  });
  const { travelAddress } = await walletsOf(b, sale);
  const order = await bought(sale.depositAddress.toLowerCase());
  await names(order, travelAddress);
  await stateIs(a, order, 'payout_held');
  const shown = await shownOf(a, order);
  assert.deepEqual(
    [shown.exchanges[0].state, shown.exchanges[0].reason],
    ['rejected', 'the beneficiary does not match'],
  );
  assert.doesNotMatch(JSON.stringify(shown), /Xanthippe|Vrblova/, 'a refusal told the name of the other customer');
  assert.equal((await exchangesOf(b, sale))[0]?.state, 'rejected');
  const alone = await a.ada.does(`/orders/${order.id}/retry`);
  assert.equal(alone.status, 202, 'one person let it leave against the refusal');
  assert.equal((await a.ada.does(`/proposals/${alone.body.proposal}/decline`)).status, 200);
});

test('another provider is queried once with exact data, and its first answer counts: a repeat is accepted, a different one rejected', async () => {
  const order = await bought(anAddress());
  await names(order, other.travelAddress('x/1'));
  const told = await toldOther();
  assert.equal(other.asked[0]?.path, '/x/1?t=i');
  assert.equal(other.asked[0]?.headers['api-version'], '3.1.0');
  assert.deepEqual(told.asset, { dti: '4H95J0R2X' });
  assert.match(other.asked[0]?.body ?? '', new RegExp(`"amount":${order.toAmount.replace(/0+$/, '')}\\d*,`));
  assert.match(JSON.stringify(told.IVMS101), /Quagmire.*A Ramp Ltd/);
  await exchangeIs(a, order, ({ state }) => state === 'sent');
  assert.equal(await a.world.stateOf(order), 'paying_out', 'it left before the answer');
  assert.deepEqual(await missingOf(a, order), ['answer']);

  for (const [what, url, body, status] of [
    ['a wrong secret', told.callback.replace(/[0-9a-f]{8}$/, '00000000'), approvalOf(order.address), 404],
    ['a secret of another kind', told.callback.replace('resolution', 'confirmation'), { txid: '0x1' }, 404],
    ['no JSON', told.callback, 'approved', 400],
    ['both at once', told.callback, { ...approvalOf(order.address), rejected: 'no' }, 400],
    ['only a version', told.callback, { version: '3.1.0' }, 400],
    ['an approval without a callback', told.callback, { approved: { address: order.address } }, 400],
    [
      'a callback without TLS elsewhere',
      told.callback,
      { approved: { address: order.address, callback: 'http://example.com/1' } },
      400,
    ],
    ['a body too large', told.callback, { rejected: 'x'.repeat(70_000) }, 413],
  ] as const) {
    const answer = await post(url, body);
    assert.equal(answer.status, status, `${what}: ${answer.text}`);
  }
  const isOld = await post(told.callback, approvalOf(order.address), { 'api-version': '2.1.0' });
  assert.deepEqual([isOld.status, JSON.parse(isOld.text).error], [400, 'api-version must be 3, such as 3.1.0']);
  assert.equal(await a.world.stateOf(order), 'paying_out', 'a malformed answer let it leave');

  const both = await Promise.all([1, 2].map(() => post(told.callback, approvalOf(order.address))));
  assert.deepEqual(
    both.map(({ status }) => status),
    [204, 204],
  );
  assert.equal((await post(told.callback, { rejected: 'no' })).status, 409);
  assert.equal((await post(told.callback, approvalOf(order.address, 'confirm/2'))).status, 409);
  other.answers = () => ({ status: 204 });
  await a.world.payoutIsSubmitted(order);
  await a.world.mines(2);
  await a.world.reaches(order, 4);
  await exchangeIs(a, order, ({ outcome }) => outcome === 'transferred');
  const confirmed = other.asked.filter(({ path }) => path === '/confirm/1');
  assert.equal(confirmed.length, 1);
  assert.match(JSON.parse(confirmed[0]?.body ?? '').txid, /^0x[0-9a-f]{64}$/);
  assert.equal(confirmed[0]?.headers['request-identifier'], other.asked[0]?.headers['request-identifier']);
});

test('a lost answer means the same bytes again under the same identifier; an answer that cannot be read is none', async () => {
  const order = await bought(anAddress());
  other.answers = (at) =>
    at === 1
      ? 'silence'
      : at === 2
        ? { status: 500 }
        : at === 3
          ? { status: 200, body: { approved: 'yes' } }
          : { status: 200, body: approvalOf(order.address) };
  await names(order, other.travelAddress('x/2'));
  await exchangeIs(a, order, ({ state }) => state === 'approved');
  const asked = other.asked.filter(({ path }) => path.startsWith('/x/2'));
  assert.ok(asked.length >= 4, `asked ${asked.length} times`);
  assert.equal(new Set(asked.map(({ body }) => body)).size, 1, 'it was asked with other bytes');
  assert.equal(new Set(asked.map(({ headers }) => headers['request-identifier'])).size, 1);
  assert.equal((await exchangesOf(a, order)).length, 1);
  await a.world.payoutIsSubmitted(order);
  await a.world.mines(2);
  await a.world.reaches(order, 4);
});

test('an approval of another address, or with a callback elsewhere, is a refusal', async () => {
  for (const given of [approvalOf(anAddress()), { approved: { address: '', callback: '' } }]) {
    const order = await bought(anAddress());
    const elsewhere = { approved: { address: order.address, callback: `http://${b.host}/confirm` } };
    await names(order, other.travelAddress(`x/${order.id}`));
    const { callback } = JSON.parse((await last(`/x/${order.id}`)).body) as Told;
    assert.equal((await post(callback, given.approved.address === '' ? elsewhere : given)).status, 204);
    await stateIs(a, order, 'payout_held');
    assert.equal((await exchangesOf(a, order))[0]?.state, 'rejected');
  }
});
async function last(path: string) {
  return await a.world.until('it is asked', async () => other.asked.find((one) => one.path.startsWith(path)));
}

test('an answer that never comes holds the payout at the deadline; one that is late lets people send it on', async () => {
  const order = await bought(anAddress());
  await names(order, other.travelAddress('x/never'));
  const { callback } = JSON.parse((await last('/x/never')).body) as Told;
  // The deadline is counted from the wait, which may be written after the other side was asked.
  const waits = () => a.world.read((tx) => tx.rows('select from travel_waits where order_id = $1', [order.id]));
  await a.world.until('the order waits for the answer', async () => (await waits()).length > 0);
  // As if it had waited for long, and looked seldom: the deadline itself has to wake it.
  await a.world.server.db.asSystem((tx) =>
    tx.run(
      `update jobs set due_at = due_at + interval '1 day'
        where kind in ('send_payout', 'fund_order') and subject in ($1, 'pay_' || $1 || '_1')`,
      [String(order.id)],
    ),
  );
  a.world.clock.advance(2 * 3_600_000 + 60_000);
  await stateIs(a, order, 'payout_held');
  assert.equal((await post(callback, approvalOf(order.address))).status, 204);
  assert.equal(await a.world.stateOf(order), 'payout_held', 'it left without anybody’s decision');
  assert.equal((await oneOrTwoDo(a.ada, a.bea, `/orders/${order.id}/retry`)).status, 200);
  await a.world.payoutIsSubmitted(order);
  await a.world.mines(2);
  await a.world.reaches(order, 4);
});

test('names go to no provider that operators have not listed, and what is no travel address is refused', async () => {
  const order = await bought(anAddress());
  await twoDo(a, '/travel-providers', { host: other.host, name: 'Another Ltd', isOn: false });
  await names(order, other.travelAddress('x/unlisted'));
  assert.deepEqual(await missingOf(a, order), ['provider']);
  assert.deepEqual([await exchangesOf(a, order), other.asked], [[], []]);
  await twoDo(a, '/travel-providers', { host: other.host, name: 'Another Ltd' });
  for (const wrong of ['ta', 'tb123', `${other.travelAddress('x/1')}z`, 'https://example.com/?t=i']) {
    const answer = await a.api.post(`/orders/${order.id}/wallets`, {
      ...{ kind: 'hosted', owner: 'customer', provider: 'Another Ltd', address: order.address, travelAddress: wrong },
    });
    assert.equal(answer.status, 400, wrong);
  }
});

test('an inquiry counts only of a known provider that owns it: wrong secret, asset, origin, replay and flood change nothing', async () => {
  const sale = await b.world.sells('61', 'usdc', { customer: await named(b) });
  const url = urlOf((await walletsOf(b, sale)).travelAddress);
  const ivms = {
    originator: { originatorPersons: [person('Ophelia', 'Sender')] },
    beneficiary: { beneficiaryPersons: [person('Zebulon', 'Quagmire')] },
  };
  const inquiry = (more: Record<string, unknown> = {}) => ({
    ...{ asset: { dti: '4H95J0R2X' }, amount: 61, callback: `http://${other.host}/resolve`, IVMS101: ivms },
    ...more,
  });
  for (const [what, to, body, status] of [
    ['another order’s path', url.replace(/\/(\d+)-/, '/1-'), inquiry(), 404],
    ['a wrong secret', url.replace(/[0-9a-f]{4}\?/, '0000?'), inquiry(), 404],
    ['another asset', url, inquiry({ asset: { dti: 'AAAAAAAAA' } }), 400],
    ['no amount', url, inquiry({ amount: 0 }), 400],
    ['a negative amount', url, inquiry({ amount: -61 }), 400],
    ['more decimals than the asset has', url, inquiry({ amount: '61.0000001' }), 400],
    ['no names', url, inquiry({ IVMS101: {} }), 400],
    ['a callback at an unknown host', url, inquiry({ callback: 'https://stranger.example.com/cb' }), 403],
    ['a callback with a login', url, inquiry({ callback: `http://u:p@${other.host}/` }), 400],
    ['a body too large', url, inquiry({ extensions: 'x'.repeat(70_000) }), 413],
  ] as const) {
    const answer = await post(to, body);
    assert.equal(answer.status, status, `${what}: ${answer.text}`);
    assert.doesNotMatch(answer.text, /Quagmire|Ophelia|0000001|stranger/, `${what} was quoted`);
  }
  assert.equal((await post(url, inquiry(), { 'request-identifier': '' })).status, 400);
  assert.deepEqual(await exchangesOf(b, sale), []);

  // Its provider does not know of it: no data.
  other.answers = () => ({ status: 404 });
  assert.equal((await post(url, inquiry(), { 'request-identifier': 'forged' })).status, 200);
  await exchangeIs(b, sale, ({ state }) => state === 'disowned');
  await b.world.pays(sale, '61');
  await b.world.mines(2);
  await stateIs(b, sale, 'paying_out');
  await b.world.until('it waits', async () => (await missingOf(b, sale)).includes('wallet'));

  // Of another amount: it covers no deposit.
  other.answers = () => ({ status: 204 });
  assert.equal((await post(url, inquiry({ amount: 60 }), { 'request-identifier': 'less' })).status, 200);
  await b.world.until('it is told', async () =>
    other.asked.some(({ headers }) => headers['request-identifier'] === 'less'),
  );
  // The same again is one, the same identifier for other data is refused.
  const real = { 'request-identifier': 'real' };
  other.answers = () => 'silence';
  const twice = await Promise.all([1, 2].map(() => post(url, inquiry({ amount: 6.1e1 }), real)));
  assert.deepEqual(
    twice.map(({ status, text }) => [status, text]),
    [1, 2].map(() => [200, '{"version":"3.1.0"}']),
  );
  assert.equal((await post(url, inquiry({ amount: 62 }), real)).status, 409);
  assert.equal((await exchangesOf(b, sale)).length, 3);
  assert.deepEqual(await missingOf(b, sale), ['wallet'], 'data counted that its provider has not confirmed');
  other.answers = () => ({ status: 204 });
  await b.world.until('it is told again', async () => {
    await b.world.read((tx) =>
      tx.run("update jobs set due_at = now() where kind = 'travel_exchange' and lease is null"),
    );
    return (await missingOf(b, sale)).length === 0;
  });
  await b.world.reaches(sale, 6);
  const shown = await shownOf(b, sale);
  assert.match(JSON.stringify(shown.records[0].ivms), /Sender/);

  // Confirmed once; a cancellation afterwards is another answer.
  const approved = other.asked.findLast(
    ({ path, headers }) => path === '/resolve' && headers['request-identifier'] === 'real',
  );
  const { callback } = JSON.parse(approved?.body ?? '').approved as { callback: string };
  const txid = `0x${'ab'.repeat(32)}`;
  assert.equal((await post(callback, { txid }, real)).status, 204);
  assert.equal((await post(callback, { txid }, real)).status, 204);
  assert.equal((await post(callback, { canceled: 'no' }, real)).status, 409);
  assert.equal((await post(callback, { txid, canceled: 'no' }, real)).status, 400);

  for (let at = 3; at < 20; at += 1) await post(url, inquiry(), { 'request-identifier': `flood-${at}` });
  assert.equal((await post(url, inquiry(), { 'request-identifier': 'one-more' })).status, 429);
});

test('no table and no log has a name or the secret of a callback in clear', async () => {
  for (const { world } of [a, b]) {
    const tables = [
      'travel_exchanges',
      'travel_records',
      'travel_wallets',
      'cases',
      'decisions',
      'jobs',
      'events',
      'request_log',
    ];
    for (const table of tables) {
      const rows = await world.read((tx) => tx.rows<{ row: string }>(`select t::text as row from ${table} t`, []));
      for (const { row } of rows) {
        assert.doesNotMatch(row, /quagmire|zebulon|vrblova|ophelia|\/(resolution|confirmation)\//i, table);
        assert.doesNotMatch(row, new RegExp(Buffer.from('Quagmire').toString('hex')), table);
      }
    }
    assert.ok((await world.read((tx) => tx.rows('select 1 from travel_exchanges', []))).length > 2);
  }
});
