/** What operators release of the items that a containment holds: all of a kind, and for how long it stays released. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { heldDestination } from '../../../src/partners/index.ts';
import { type Came, type Client, openClient } from '../../support/client.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { until } from '../../support/until.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../whitelabel/environment.ts';
import { oneOpensGates, operatorNamed, type Person, takes } from './people.ts';

const BUY = { fromCurrency: 'INR', toCurrency: 'usdc', chain: 'matic20', fromAmount: '5000', paymentMethodType: 'UPI' };

let world: Environment;
let ada: Person;
let shop: TestPartner;
/** A key from before the time since which the partner is distrusted. */
let owner: Client;
let since = '';
let shops = 0;
let accounts = 0;

before(async () => {
  world = await wireEnvironment({ beside: operatorApi });
  await world.db.asSystem(async (tx) => {
    await oneOpensGates(tx);
    await takes(tx, 1, { action: 'held.*' });
  });
  ada = await operatorNamed(world, 'ada', 'admin');
});
after(async () => await world?.stop());

beforeEach(async () => {
  shops += 1;
  shop = await world.partner(`Shop ${shops}`);
  owner = await newKey('its own');
  world.clock.advance(10_000);
  since = world.clock.now().toISOString();
});

async function newKey(label: string): Promise<Client & { apiKey: string }> {
  const scopes = 'read,trade,customers,admin';
  return openClient(world.baseUrl, (await ada.does(`/partners/${shop.partner.id}/keys`, { label, scopes })).body);
}
async function does(path: string, body: Record<string, unknown> = {}): Promise<Came> {
  const said = await ada.does(`/partners/${shop.partner.id}/${path}`, body);
  assert.equal(said.status, 200, JSON.stringify(said.body));
  return said.body;
}
const suspends = (more: Record<string, unknown> = {}): Promise<Came> => does('suspend', { since, ...more });
async function resumes(): Promise<void> {
  await does('resume');
  await until('the partner is let in', async () => (await shop.get('/v1/webhooks')).status !== 403);
}
const data = (answer: { status: number; text: string; body: Came }): Came => {
  assert.equal(answer.status, 200, answer.text);
  return answer.body.data;
};
const heldBy = (said: Came): string[] =>
  said.stillHeld.map((item: Came) => `${item.kind} ${item.address ?? item.subject}`).sort();
async function account(client: Client): Promise<string> {
  accounts += 1;
  const given = { customerId: shop.customerId, fiatAccount: `00033344${4000 + accounts}`, ifsc: 'HDFC0001234' };
  return data(await client.post('bank/addFiatAccount', given)).fiatAccountId;
}
const endpoint = async (client: Client): Promise<string> =>
  data(await client.post('/v1/webhooks', { url: `http://localhost:6500${shops % 10}/hook` })).id;
const buys = async (client: Client, depositAddress: string) =>
  data(await client.post('onramp/createTransaction', { ...BUY, customerId: shop.customerId, depositAddress }));
async function why(d: { account?: string; address?: string }): Promise<string | undefined> {
  const asked = {
    ...{ partnerId: shop.partner.id, orderId: null, now: world.clock.now() },
    ...{ fiatAccountId: d.account === undefined ? null : BigInt(d.account), address: d.address ?? null },
  };
  return (await world.db.asSystem((tx) => heldDestination(tx, asked)))?.why;
}

describe('releasing all', () => {
  const held = async () => (await ada.reads(`/partners/${shop.partner.id}/held`)).body.held;
  const kindsLeft = async () => (await held()).map(({ kind }: Came) => kind).sort();

  test('of one kind, made since a time, or up to a number leaves the others held', async () => {
    const first = await account(owner);
    await endpoint(owner);
    world.clock.advance(10_000);
    const later = world.clock.now().toISOString();
    const second = await account(owner);
    const { after: seen } = await suspends({ key: owner.apiKey });
    assert.equal((await does('held/release', { items: 'all', kind: 'account', since: later })).decided, 1);
    assert.deepEqual([await why({ account: second }), await kindsLeft()], [undefined, ['account', 'endpoint', 'key']]);
    assert.match((await why({ account: first })) ?? '', /added since/);
    await does('held/release', { items: 'all', kind: 'account', upTo: seen.newestHeld });
    assert.deepEqual(await kindsLeft(), ['endpoint', 'key']);
  });

  test('with a limit opens no link from before links were recorded', async () => {
    await account(owner);
    await suspends();
    await does('held/release', { items: 'all', kind: 'account' });
    const of = [shop.partner.id];
    assert.deepEqual(await world.query('select links_released from containments where partner_id = $1', of), [
      { links_released: false },
    ]);
  });

  test('takes no kind of credential, and takes limits only with all', async () => {
    await suspends({ key: owner.apiKey });
    const [item] = await held();
    const path = `/partners/${shop.partner.id}/held/release`;
    for (const body of [
      ...[{ kind: 'key' }, { kind: 'session' }, { kind: 'code' }].map((limit) => ({ items: 'all', ...limit })),
      ...[{ kind: 'account' }, { since }, { upTo: item.id }].map((limit) => ({ items: [item.id], ...limit })),
    ]) {
      const said = await ada.does(path, body);
      assert.deepEqual([said.status, said.body.reason], [400, 'malformed_field'], JSON.stringify(body));
    }
    assert.deepEqual(await kindsLeft(), ['key']);
  });
});

describe('what an operator has released', () => {
  const accountsHeld = (said: Came) => heldBy(said).filter((one) => /^(account|endpoint|destination)/.test(one));
  /** Everything is released, and the partner works on. */
  async function releasesAll(): Promise<void> {
    await does('held/release', { items: 'all' });
    await resumes();
    world.clock.advance(10_000);
  }

  test('is not held again by a later suspension over the same or a shorter time', async () => {
    const theirs = await account(owner);
    const target = `0x${'9'.repeat(40)}`;
    await buys(owner, target);
    await endpoint(owner);
    const first = await suspends();
    assert.equal(accountsHeld(first).length, 3, JSON.stringify(heldBy(first)));
    await releasesAll();
    const again = await account(owner);
    assert.deepEqual(accountsHeld(await suspends()), [`account ${again}`]);
    assert.deepEqual([await why({ account: theirs }), await why({ address: target })], [undefined, undefined]);
  });

  test('is held again by one over a longer time', async () => {
    const before = since;
    const theirs = await account(owner);
    world.clock.advance(10_000);
    since = new Date(Date.parse(before) + 1).toISOString();
    assert.deepEqual(accountsHeld(await suspends()), [`account ${theirs}`]);
    await releasesAll();
    assert.deepEqual(accountsHeld(await suspends({ since: before })), [`account ${theirs}`]);
  });

  test('is held again if it has changed since it was released', async () => {
    const hook = await endpoint(owner);
    await suspends();
    await releasesAll();
    data(await owner.put(`/v1/webhooks/${hook}`, { url: 'http://localhost:65008/elsewhere' }));
    assert.deepEqual(accountsHeld(await suspends()), [`endpoint ${hook}`]);
  });

  test('is held again if it is a credential: one that was honest may have leaked since', async () => {
    const { apiKey } = await newKey('new');
    const { stillHeld } = await suspends();
    const item = stillHeld.find(({ kind, subject }: Came) => kind === 'key' && subject === apiKey);
    await does('held/release', { items: [item.id] });
    await resumes();
    assert.ok(heldBy(await suspends()).includes(`key ${apiKey}`));
  });
});
