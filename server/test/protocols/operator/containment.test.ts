/** The items that a containment holds: by key, by time, after several leaks, and for the time before activity was recorded. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Client as Postgres } from 'pg';
import { openFolder } from '../../../src/base/blobs.ts';
import { encryptLink, LINK_FOR_MS } from '../../../src/customers/index.ts';
import { addEndpoint } from '../../../src/events/index.ts';
import { heldDestination, recordActivity, suspendPartner } from '../../../src/partners/index.ts';
import { checkout, sandboxSender } from '../../../src/protocols/checkout/index.ts';
import { contain } from '../../../src/protocols/operator/containment.ts';
import { verificationWords } from '../../../src/protocols/whitelabel/index.ts';
import { simulatedVerifier } from '../../../src/verifiers/simulated/index.ts';
import { type Came, type Client, openClient } from '../../support/client.ts';
import { untilLocked } from '../../support/locks.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { until } from '../../support/until.ts';
import { openBrowser } from '../checkout/environment.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../whitelabel/environment.ts';
import { oneOpensGates, operatorNamed, type Person, takes } from './people.ts';

const SCOPES = 'read,trade,customers,admin';
const BUY = { fromCurrency: 'INR', toCurrency: 'usdc', chain: 'matic20', fromAmount: '5000', paymentMethodType: 'UPI' };

let world: Environment;
let ada: Person;
let admin: Postgres;
let shop: TestPartner;
let shops = 0;
/** The thief's key, older than the leak. */
let thief: Client;
let since = '';

before(async () => {
  world = await wireEnvironment({
    beside:
      ({ db, vault, blobFolder, clock, log, orders, publicUrl }) =>
      async (app) => {
        await app.register(operatorApi({ db, vault, clock, log }));
        await app.register(
          checkout({
            ...{ db, vault, clock, log, orders, publicUrl, sender: sandboxSender, requestsPerMinute: 10_000 },
            blobs: openFolder(blobFolder),
            statusWord: (customer, partner) => verificationWords(customer, partner).status,
            verifier: simulatedVerifier,
          }),
        );
      },
  });
  await world.db.asSystem(async (tx) => {
    await oneOpensGates(tx);
    await takes(tx, 1, { action: 'held.*' });
  });
  ada = await operatorNamed(world, 'ada', 'admin');
  admin = new Postgres({ connectionString: world.adminUrl, options: '-c search_path=cloverleaf' });
  await admin.connect();
});
after(async () => {
  await admin?.end();
  await world?.stop();
});

beforeEach(async () => {
  shops += 1;
  shop = await world.partner(`Shop ${shops}`);
  thief = await newKey('leaks');
  world.clock.advance(10_000);
  since = world.clock.now().toISOString();
});

async function newKey(label: string): Promise<Client> {
  const { body } = await ada.does(`/partners/${shop.partner.id}/keys`, { label, scopes: SCOPES });
  return openClient(world.baseUrl, body);
}
const data = (answer: { status: number; text: string; body: Came }): Came => {
  assert.equal(answer.status, 200, answer.text);
  return answer.body.data;
};
async function does(path: string, body: Record<string, unknown> = {}): Promise<Came> {
  const said = await ada.does(`/partners/${shop.partner.id}/${path}`, body);
  assert.equal(said.status, 200, JSON.stringify(said.body));
  return said.body;
}
const suspends = (more: Record<string, unknown> = {}): Promise<Came> => does('suspend', { since, ...more });
const heldBy = (said: Came): string[] =>
  said.stillHeld.map((item: Came) => `${item.kind} ${item.address ?? item.subject}`).sort();
const resumes = async (): Promise<void> => {
  await does('resume');
  await until('the partner is let in', async () => (await shop.get('/v1/webhooks')).status === 200);
};
let accounts = 0;
const account = async (client: Client): Promise<string> => {
  accounts += 1;
  const given = { customerId: shop.customerId, fiatAccount: `00033344${4000 + accounts}`, ifsc: 'HDFC0001234' };
  return data(await client.post('bank/addFiatAccount', given)).fiatAccountId;
};
const endpoint = async (client: Client): Promise<string> =>
  data(await client.post('/v1/webhooks', { url: `http://localhost:6500${shops % 10}/hook` })).id;
const buys = async (client: Client, depositAddress: string): Promise<string> =>
  data(await client.post('onramp/createTransaction', { ...BUY, customerId: shop.customerId, depositAddress }))
    .transactionId;
const address = (digit: string): string => `0x${digit.repeat(40)}`;
const why = async (d: { account?: string; address?: string; order?: string }): Promise<string | undefined> =>
  (
    await world.db.asSystem((tx) =>
      heldDestination(tx, {
        partnerId: shop.partner.id,
        fiatAccountId: d.account === undefined ? null : BigInt(d.account),
        address: d.address ?? null,
        orderId: d.order === undefined ? null : BigInt(d.order),
        now: world.clock.now(),
      }),
    )
  )?.why;
/** Adds an account on the page behind a link. */
async function addsByPage(link: string): Promise<string> {
  // A customer can request one code per minute.
  world.clock.advance(60_000);
  const browser = openBrowser();
  await browser.login(link);
  await browser.open(`${link}?currency=inr`);
  accounts += 1;
  const shown = await browser.go('account', {
    currency: 'inr',
    account: `00033344${4000 + accounts}`,
    ifsc: 'HDFC0001234',
  });
  assert.equal(shown.title, 'Account added', shown.text);
  const { rows } = await admin.query('select max(id)::text as id from fiat_accounts');
  return rows[0].id;
}
const bankLink = async (client: Client): Promise<string> =>
  data(await client.post('bank/addFiatAccountUrl', { customerId: shop.customerId })).bankUrl;

test('a containment without a key holds items and keys made since the time, and nothing older', async () => {
  const newer = await newKey('made since');
  const [mine, theirs] = [await account(shop), await account(thief)];
  const hook = await endpoint(newer);
  const said = await suspends();
  assert.deepEqual(
    heldBy(said),
    [`account ${mine}`, `account ${theirs}`, `endpoint ${hook}`, `key ${newer.apiKey}`].sort(),
  );
  assert.equal(await why({ account: shop.fiatAccountId }), undefined);
  const given = await newKey('made afterwards');
  await resumes();
  await until('the newer key is out', async () => (await newer.get('/v1/webhooks')).status === 401);
  assert.equal((await thief.get('/v1/webhooks')).status, 200, 'an older key that was not named is refused');
  assert.equal((await given.get('/v1/webhooks')).status, 200);
});

test('a containment of one key does not hold items made by other keys, through programs or on pages behind their links', async () => {
  const [honestLink, thiefLink] = [await bankLink(shop), await bankLink(thief)];
  const [mine, theirs] = [await account(shop), await account(thief)];
  const [byPage, byTheirPage] = [await addsByPage(honestLink), await addsByPage(thiefLink)];
  await buys(shop, address('a'));
  await buys(thief, address('b'));
  const said = await suspends({ key: thief.apiKey });
  const [link] = said.stillHeld.filter((item: Came) => item.kind === 'link');
  assert.equal(link.madeByKey, thief.apiKey);
  assert.deepEqual(
    heldBy(said).filter((one) => !one.startsWith('link')),
    [`account ${byTheirPage}`, `account ${theirs}`, `destination ${address('b')}`, `key ${thief.apiKey}`].sort(),
  );
  for (const one of [mine, byPage]) assert.equal(await why({ account: one }), undefined);
  const { activity } = (await ada.reads(`/partners/${shop.partner.id}/activity?key=${thief.apiKey}`)).body;
  const onPage = activity.find((one: Came) => one.subject === `account:${byTheirPage}`);
  assert.equal(onPage.link, link.subject);
  await resumes();
  assert.deepEqual([(await fetch(honestLink)).status, (await fetch(thiefLink)).status], [200, 403]);
});

test('an address that the same customer was paid to before does not count as new', async () => {
  const older = await account(shop);
  await buys(shop, address('c'));
  world.clock.advance(10_000);
  since = world.clock.now().toISOString();
  await buys(thief, address('c'));
  const again = await buys(thief, address('d'));
  const said = await suspends();
  assert.deepEqual(heldBy(said), [`destination ${address('d')}`]);
  assert.equal(await why({ address: address('c') }), undefined);
  assert.equal(await why({ account: older }), undefined);
  assert.match((await why({ order: again, address: address('d').toUpperCase().replace('0X', '0x') })) ?? '', /named/);
});

test('an address that a program has added for a customer since is held before anything names it', async () => {
  await world.db.asPartner(shop.partner.id, (tx) =>
    recordActivity(
      tx,
      { partnerId: shop.partner.id, apiKey: thief.apiKey },
      {
        ...{ action: 'destination.added', subject: 'destination:17', facts: { address: address('9') } },
        now: world.clock.now(),
      },
    ),
  );
  const said = await suspends();
  assert.deepEqual(heldBy(said), [`destination ${address('9')}`]);
  assert.match((await why({ address: address('9') })) ?? '', /added/);
});

test('for the time before activity was recorded, a containment holds everything that may have been made since, by any key', async () => {
  const order = await buys(shop, address('e'));
  const { id: partnerId } = shop.partner;
  const hook = await world.db.asPartner(partnerId, (tx) =>
    addEndpoint(tx, world.vault, {
      ...{ partnerId, url: 'http://localhost:65009/hook', format: 'standard', filter: [], apiKey: shop.apiKey },
      now: world.clock.now(),
    }),
  );
  world.clock.advance(10_000);
  since = world.clock.now().toISOString();
  // The rows as an older version of the server leaves them, without recorded activity.
  const later = new Date(world.clock.now().getTime() + 1_000);
  await admin.query('update orders set refund_address = $2, updated_at = $3 where id = $1', [
    order,
    address('f'),
    later,
  ]);
  await admin.query('update webhook_endpoints set url = $2, updated_at = $3 where id = $1', [
    hook.endpoint.id,
    'http://localhost:65008/hook',
    later,
  ]);
  const { customerId } = shop;
  const token = encryptLink(world.vault, 'bank', {
    partnerId: String(partnerId),
    customerId,
    until: later.getTime() + LINK_FOR_MS,
    redirectUrl: null,
    closeAfterLogin: false,
  });
  await admin.query('update partner_activity_began set at = $1', [new Date(later.getTime() + 1_000)]);
  world.clock.advance(5_000);
  const said = await suspends({ key: thief.apiKey });
  assert.deepEqual(
    heldBy(said),
    [`destination ${address('f')}`, `endpoint ${hook.endpoint.id}`, `key ${thief.apiKey}`].sort(),
  );
  assert.ok(new Date(said.recordedFrom) > new Date(since));
  await resumes();
  assert.equal((await fetch(`${world.baseUrl}/bank/${token}`)).status, 403);
  await does('held/release', { items: 'all' });
  assert.equal((await fetch(`${world.baseUrl}/bank/${token}`)).status, 200);
  await admin.query('update partner_activity_began set at = $1', [new Date(0)]);
});

test('a confirmation is refused when the held items differ from the proposed ones, although their number is the same', async () => {
  const bea = await operatorNamed(world, 'bea', 'admin');
  const before = since;
  await account(thief);
  world.clock.advance(10_000);
  since = world.clock.now().toISOString();
  await account(thief);
  const [first] = (await suspends({ key: thief.apiKey })).stillHeld.filter((item: Came) => item.kind === 'account');
  await world.db.asSystem((tx) => takes(tx, 2, { action: 'held.release' }));
  const path = `/partners/${shop.partner.id}/held/release`;
  const all = await ada.does(path, { items: 'all' });
  assert.equal(all.status, 202, JSON.stringify(all.body));
  await does('held/reject', { items: 'all' });
  // With an earlier time the older account is held instead, and the numbers stay the same.
  const again = (await suspends({ since: before, key: thief.apiKey })).stillHeld;
  const accounts = again.filter((item: Came) => item.kind === 'account');
  await does('held/reject', { items: [accounts.at(-1).id] });
  const left = (await ada.reads(`/partners/${shop.partner.id}/held?state=held`)).body.held;
  assert.deepEqual(left.map(({ kind }: Came) => kind).sort(), ['account', 'key']);
  assert.equal(
    left.some((item: Came) => item.id === first.id),
    false,
  );
  const said = await bea.does(`/proposals/${all.body.proposal}/confirm`);
  assert.deepEqual([said.status, said.body.reason], [409, 'proposal_overtaken'], JSON.stringify(said.body));
  await world.db.asSystem((tx) => takes(tx, 1, { action: 'held.release' }));
});

test('an unrecorded link stays closed when a containment ended with a rejection, and opens when all items are released', async () => {
  world.clock.advance(5_000);
  const token = encryptLink(world.vault, 'bank', {
    partnerId: String(shop.partner.id),
    customerId: shop.customerId,
    until: world.clock.now().getTime() + LINK_FOR_MS,
    redirectUrl: null,
    closeAfterLogin: false,
  });
  const shown = async () => (await fetch(`${world.baseUrl}/bank/${token}`)).status;
  world.clock.advance(5_000);
  await suspends({ key: thief.apiKey });
  await resumes();
  assert.equal(await shown(), 403);
  await does('held/reject', { items: 'all' });
  const { containments } = (await ada.reads(`/partners/${shop.partner.id}/held`)).body;
  assert.ok(containments[0].endedAt !== null, 'the containment is not over');
  assert.equal(await shown(), 403);
});

test('an item that two containments hold is held until both release it', async () => {
  const theirs = await account(thief);
  const first = await suspends({ key: thief.apiKey });
  const second = await suspends();
  const both = second.stillHeld.filter((item: Came) => item.kind === 'account');
  assert.equal(both.length, 2);
  assert.deepEqual([first.containment.apiKey, second.containment.apiKey], [thief.apiKey, null]);
  await does('held/release', { items: [both[0].id] });
  assert.match((await why({ account: theirs })) ?? '', /added since/);
  await does('held/release', { items: [both[1].id] });
  assert.equal(await why({ account: theirs }), undefined);
  const left = (await ada.reads(`/partners/${shop.partner.id}/held`)).body;
  assert.deepEqual(
    left.held.map((item: Came) => item.kind),
    ['key'],
  );
  assert.deepEqual(
    left.containments.map((one: Came) => one.endedAt === null),
    [false, true],
  );
  const cases = async () => (await ada.reads('/cases?kind=partner_contained')).body.cases;
  const isOpen = async () => (await cases()).some((one: Came) => one.subject === `partner:${shop.partner.id}`);
  assert.ok(await isOpen());
  await does('held/release', { items: [left.held[0].id] });
  assert.equal(await isOpen(), false);
  await resumes();
  await until(
    'the key that was released by its number is accepted',
    async () => (await thief.get('/v1/webhooks')).status === 200,
  );
});

test('an item that one containment rejected stays refused, whatever another holds or releases', async () => {
  const theirs = await account(thief);
  const target = address('7');
  const order = await buys(thief, target);
  const other = await buys(thief, target);
  const heldAs = (d: { account?: string; order?: string }) =>
    world.db.asSystem((tx) =>
      heldDestination(tx, {
        partnerId: shop.partner.id,
        fiatAccountId: d.account === undefined ? null : BigInt(d.account),
        address: d.order === undefined ? null : target,
        orderId: d.order === undefined ? null : BigInt(d.order),
        now: world.clock.now(),
      }),
    );
  const first = await suspends({ key: thief.apiKey });
  await suspends();
  const of = (kind: string, subject: string) =>
    first.stillHeld.find((item: Came) => item.kind === kind && item.subject === subject).id;
  assert.deepEqual(
    [(await heldAs({ account: theirs }))?.isRejected, (await heldAs({ order }))?.isRejected],
    [false, false],
  );
  await does('held/reject', { items: [of('account', theirs), of('destination', other)] });
  assert.equal((await heldAs({ account: theirs }))?.isRejected, true);
  // The address was rejected for one order, so no later order is paid to it.
  for (const one of [order, other]) assert.equal((await heldAs({ order: one }))?.isRejected, true);
  await does('held/release', { items: 'all' });
  assert.equal((await heldAs({ account: theirs }))?.isRejected, true);
  assert.equal((await heldAs({ order }))?.isRejected, true);
  await resumes();
});

test('an endpoint that was changed since is held, and a rejected one is removed with its waiting deliveries', async () => {
  const owner = await newKey('its own');
  const hook = await endpoint(owner);
  const untouched = await endpoint(owner);
  world.clock.advance(10_000);
  since = world.clock.now().toISOString();
  data(await thief.put(`/v1/webhooks/${hook}`, { url: 'http://localhost:65007/elsewhere', enabled: false }));
  const said = await suspends();
  assert.deepEqual(heldBy(said), [`endpoint ${hook}`]);
  await resumes();
  const shown = data(await shop.get('/v1/webhooks'));
  assert.deepEqual(
    shown.map((one: Came) => [one.id, one.heldAt !== null, one.madeByKey]),
    [hook, untouched].map((one) => [one, one === hook, owner.apiKey]),
  );
  const done = await does('held/reject', { items: 'all' });
  assert.deepEqual([done.decided, done.stillHeld], [1, []]);
  assert.deepEqual(
    data(await shop.get('/v1/webhooks')).map((one: Came) => one.id),
    [untouched],
  );
  assert.equal((await ada.does(`/partners/${shop.partner.id}/held/reject`, { items: 'some' })).status, 400);
});

/** Suspends the partner again, and does something else before that is committed. */
async function suspendsWhile<T>(meanwhile: () => Promise<T>): Promise<T> {
  const { id: partnerId } = shop.partner;
  const now = new Date(world.clock.now().getTime() + 1_000);
  let began: Promise<T> | undefined;
  await world.db.asSystem(async (tx) => {
    await suspendPartner(tx, partnerId, now);
    await contain(tx, { partnerId, since: new Date(since), by: 'bob', reason: 'more keys leaked', now });
    began = meanwhile();
    await untilLocked('it waits', tx);
  });
  return await (began as Promise<T>);
}

test('a key that a second containment holds at this moment is not freed by releasing it from the first', async () => {
  const newer = await newKey('made since');
  const { stillHeld } = await suspends();
  const [item] = stillHeld.filter(({ subject }: Came) => subject === newer.apiKey);
  await suspendsWhile(() => does('held/release', { items: [item.id] }));
  const { rows } = await admin.query('select held_at from api_keys where key = $1', [newer.apiKey]);
  assert.notEqual(rows[0].held_at, null, 'the key of the second containment signs requests again');
});

test('a partner who is suspended again while a resumption is confirmed stays suspended', async () => {
  const cem = await operatorNamed(world, 'cem', 'admin');
  await suspends();
  await world.db.asSystem((tx) => takes(tx, 2, { action: 'partner.resume' }));
  const asked = await ada.does(`/partners/${shop.partner.id}/resume`);
  assert.equal(asked.status, 202, JSON.stringify(asked.body));
  const said = await suspendsWhile(() => cem.does(`/proposals/${asked.body.proposal}/confirm`));
  assert.deepEqual([said.status, said.body.reason], [409, 'proposal_overtaken'], JSON.stringify(said.body));
  const { partners } = (await ada.reads('/partners')).body;
  assert.equal(partners.find(({ id }: Came) => String(id) === String(shop.partner.id)).suspended, true);
  await world.db.asSystem((tx) => takes(tx, 1, { action: 'partner.resume' }));
});

describe('rejecting all', () => {
  const kindsLeft = async () =>
    (await ada.reads(`/partners/${shop.partner.id}/held`)).body.held.map(({ kind }: Came) => kind).sort();

  test('of one kind, or made since a time, leaves the others', async () => {
    await account(thief);
    await endpoint(thief);
    world.clock.advance(10_000);
    const later = world.clock.now().toISOString();
    await account(thief);
    await suspends({ key: thief.apiKey });
    assert.deepEqual(await kindsLeft(), ['account', 'account', 'endpoint', 'key']);
    assert.equal((await does('held/reject', { items: 'all', kind: 'account', since: later })).decided, 1);
    assert.deepEqual(await kindsLeft(), ['account', 'endpoint', 'key']);
    assert.equal((await does('held/reject', { items: 'all', kind: 'account' })).decided, 1);
    assert.deepEqual(await kindsLeft(), ['endpoint', 'key']);
  });

  test('up to the newest item that the operator saw does not reject what is held later', async () => {
    const before = since;
    const mine = await account(shop);
    world.clock.advance(10_000);
    since = world.clock.now().toISOString();
    await account(thief);
    const { after: seen } = await suspends({ key: thief.apiKey });
    await suspends({ since: before });
    await does('held/reject', { items: 'all', upTo: seen.newestHeld });
    const left = (await ada.reads(`/partners/${shop.partner.id}/held`)).body.held;
    assert.ok(left.some(({ kind, subject }: Came) => kind === 'account' && subject === mine));
  });

  test('takes these limits only with all', async () => {
    await suspends({ key: thief.apiKey });
    const [item] = (await ada.reads(`/partners/${shop.partner.id}/held`)).body.held;
    for (const limit of [{ kind: 'account' }, { since }, { upTo: item.id }]) {
      const path = `/partners/${shop.partner.id}/held/reject`;
      const said = await ada.does(path, { items: [item.id], ...limit });
      assert.deepEqual([said.status, said.body.reason], [400, 'malformed_field'], JSON.stringify(limit));
    }
    assert.deepEqual(await kindsLeft(), ['key']);
  });
});

test('an item says everything that happened to it since', async () => {
  const owner = await newKey('its own');
  const hook = await endpoint(owner);
  world.clock.advance(10_000);
  since = world.clock.now().toISOString();
  data(await thief.put(`/v1/webhooks/${hook}`, { url: 'http://localhost:65007/elsewhere' }));
  data(await thief.post(`/v1/webhooks/${hook}/rotate`));
  const said = await suspends();
  const whyOf = (of: Came, subject: string) => of.stillHeld.find((one: Came) => one.subject === subject).why;
  assert.equal(whyOf(said, hook), 'changed, and its secret was rotated since then');
  await does('held/reject', { items: 'all', kind: 'endpoint' });
  const again = await suspends({ key: thief.apiKey });
  const [named] = again.stillHeld.filter(({ why: of }: Came) => of === 'named as leaked');
  const { rows } = await admin.query('select created_at from api_keys where key = $1', [thief.apiKey]);
  assert.equal(new Date(named.madeAt).getTime(), rows[0].created_at.getTime(), 'made at is not when the key was made');
});
