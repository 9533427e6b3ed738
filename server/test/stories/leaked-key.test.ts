/**
 * A key leaks. The thief makes an endpoint, rotates the secret of another, adds an account, buys to an address of his own, names a
 * destination for a customer's refund and makes a link; then the partner is suspended with the time of the leak. Endpoints of the
 * thief receive no events and his accounts and addresses are not paid; older orders settle and are announced as before; and
 * delayed events arrive later, complete and in order.
 *
 * Long because its stories share one server, and one test walks every path that changes anything.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { formatUnits } from '../../src/base/money.ts';
import { trace } from '../../src/orders/index.ts';
import { createKey, createPartner, heldDestination, revokeKey, type Scope } from '../../src/partners/index.ts';
import { ROUTES } from '../../src/protocols/whitelabel/index.ts';
import { confirmedBy, oneOrTwoDo, type Person, takes, twoDo } from '../protocols/operator/people.ts';
import { type Came, type Client, newPhone, openClient } from '../support/client.ts';
import { BUSINESS, PERSON } from '../support/identities.ts';
import { png } from '../support/pictures.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story, StoryCustomer } from '../support/story.ts';
import { terminal } from '../support/terminal.ts';

const ALL: Scope[] = ['read', 'trade', 'customers', 'admin'];
const WALLET = '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65';
const LINK = { coinCode: 'usdc', network: 'matic20', quantity: '100', fiatType: '1', type: '2' };
const GENERATE = '/onramp/api/v2/common/transaction/generateLink';

let world: Story;
let ada: Person;
let bea: Person;
let vic: Person;
let partnerId = 0n;

before(async () => {
  ({ world, ada, bea, vic } = await openStaffedStory({ ada: 'admin', bea: 'admin', vic: 'viewer' }));
  await world.read((tx) => takes(tx, 2, { action: 'partner.resume' }));
  partnerId =
    (
      await world.read((tx) =>
        tx.row<{ id: bigint }>('select partner_id as id from api_keys where key = $1', [world.partner.apiKey]),
      )
    )?.id ?? 0n;
});
after(async () => await world?.close());

const keyOf = async (owner: bigint, label: string): Promise<Client> => {
  const { vault, clock, server } = world;
  const made = await world.read((tx) =>
    createKey(tx, vault, { partnerId: owner, label, scopes: ALL, now: clock.now() }),
  );
  return openClient(server.baseUrl, made);
};
const data = (answer: { status: number; text: string; body: Came }): Came => {
  assert.equal(answer.status, 200, answer.text);
  return answer.body.data;
};
const isHeld = async (d: { orderId?: bigint; account?: string; address?: string }) =>
  (
    await world.read((tx) =>
      heldDestination(tx, {
        partnerId,
        fiatAccountId: d.account === undefined ? null : BigInt(d.account),
        address: d.address ?? null,
        orderId: d.orderId ?? null,
        now: world.clock.now(),
      }),
    )
  )?.why;
const agreed = (path: string, body: Record<string, unknown> = {}): Promise<Came> => twoDo(ada, bea, path, body);
const page = async (link: string) => (await fetch(link)).status;

describe('a key that leaked', () => {
  let thief: Client;
  let honest: Receiver;
  let stranger: Receiver;
  let rotated = '';
  let customer: StoryCustomer;
  let sale: Sale;
  let bought: Purchase;
  let olderLink = '';
  let since = '';
  const made = { endpoint: '', account: '', order: 0n, address: '', refund: '', link: '' };
  const path = () => `/partners/${partnerId}`;

  before(async () => {
    [honest, stranger] = [await openReceiver(), await openReceiver()];
    thief = await keyOf(partnerId, 'the one that leaks');
    rotated = data(await world.partner.post('/v1/webhooks', { url: honest.url })).id;
    customer = await world.verifiedCustomer();
    sale = await world.sells('100', 'usdc', { customer });
    bought = await world.buys('5000', 'usdc', { customer });
    olderLink = data(await world.partner.post(GENERATE, { ...LINK, customerId: customer.id })).link;
    await world.until('the first events have come', async () =>
      honest.taken.some(({ body }) => body.subject === `order:${bought.id}`),
    );
    world.clock.advance(2_000);
    since = world.clock.now().toISOString();
  });
  after(async () => {
    await honest?.down();
    await stranger?.down();
  });

  test('is used for a while, and each of its actions is recorded', async () => {
    made.endpoint = data(await thief.post('/v1/webhooks', { url: stranger.url })).id;
    data(await thief.post(`/v1/webhooks/${rotated}/rotate`, { overlapSeconds: '0' }));
    const account = { customerId: customer.id, fiatAccount: '000199998888', ifsc: 'HDFC0000001' };
    made.account = data(await thief.post('bank/addFiatAccount', account)).fiatAccountId;
    made.address = world.newAddress();
    const purchase = { fromCurrency: 'INR', toCurrency: 'usdc', chain: 'matic20', fromAmount: '5000' };
    const order = data(
      await thief.post('onramp/createTransaction', {
        ...{ ...purchase, customerId: customer.id, depositAddress: made.address, paymentMethodType: 'UPI' },
      }),
    );
    made.order = BigInt(order.transactionId);
    made.refund = world.newAddress();
    const named = { customerId: customer.id, transactionId: String(sale.id), address: made.refund };
    data(await thief.put('offramp/refundDestination', named));
    made.link = data(await thief.post(GENERATE, { ...LINK, customerId: customer.id })).link;
    await world.until('the thief has heard of it', async () => stranger.taken.length > 0);

    const { status, body } = await vic.reads(`${path()}/activity?key=${thief.apiKey}&since=${since}`);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body.activity.map((one: Came) => [one.action, one.subject]).toReversed(), [
      ['endpoint.made', `endpoint:${made.endpoint}`],
      ['endpoint.rotated', `endpoint:${rotated}`],
      ['account.added', `account:${made.account}`],
      ['order.created', `order:${made.order}`],
      ['refund_destination.named', `order:${sale.id}`],
      ['link.made', body.activity[0].subject],
    ]);
    const by = (action: string) => body.activity.find((one: Came) => one.action === action).facts;
    assert.equal(by('endpoint.made').url, stranger.url);
    assert.equal(by('order.created').payoutAddress, made.address);
    assert.equal(by('refund_destination.named').address, made.refund);
    assert.ok(!JSON.stringify(body).includes('99998888'), 'the activity list shows an account number to operators');
    const one = await vic.reads(`${path()}/activity?action=account.added&limit=1&since=${since}`);
    assert.deepEqual([one.body.activity.length, one.body.next], [1, null]);
    const until = one.body.activity[0].at;
    const earlier = await vic.reads(`${path()}/activity?since=${since}&until=${until}`);
    assert.ok(earlier.body.activity.length > 0, 'nothing was done before the account was added');
    assert.ok(
      earlier.body.activity.every(({ at }: Came) => at < until),
      'activity at or after `until` is listed',
    );
    const turned = await vic.reads(`${path()}/activity?since=${until}&until=${since}`);
    assert.deepEqual([turned.status, turned.body.fields], [400, { until: 'must be after since' }]);
    const first = await vic.reads(`${path()}/activity?limit=2`);
    const second = await vic.reads(`${path()}/activity?limit=2&below=${first.body.next}`);
    assert.ok(
      BigInt(second.body.activity[0].id) < BigInt(first.body.activity[1].id),
      'the second page does not begin below the first',
    );
    const listed = data(await world.partner.get('/v1/webhooks')).find(
      (endpoint: Came) => endpoint.id === made.endpoint,
    );
    assert.deepEqual([listed.madeByKey, listed.heldAt], [thief.apiKey, null]);
  });

  test('is contained with its partner, from a time within ninety days and by a key of that partner', async () => {
    const suspend = (body: Record<string, unknown>) => ada.does(`${path()}/suspend`, body);
    const ahead = new Date(world.clock.now().getTime() + 60_000).toISOString();
    const long = new Date(world.clock.now().getTime() - 91 * 86_400_000).toISOString();
    assert.match((await suspend({ since: ahead })).body.fields.since, /not be in the future/);
    assert.match((await suspend({ since: long })).body.fields.since, /90 days/);
    assert.match((await suspend({ key: thief.apiKey })).body.fields.since, /required/);
    assert.equal((await suspend({ since, key: world.otherPartner.apiKey })).body.reason, 'unknown_key');

    const said = await suspend({ since, key: thief.apiKey, reason: 'key of the shop was found in a log' });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    assert.deepEqual(said.body.after, {
      ...said.body.after,
      suspended: true,
      held: { key: 1, endpoint: 2, link: 1, account: 1, destination: 2 },
    });
    assert.deepEqual(
      said.body.stillHeld.map((item: Came) => [item.kind, item.subject, item.heldBy, item.state]).sort(),
      [
        ['account', made.account, 'ada', 'held'],
        ['destination', String(made.order), 'ada', 'held'],
        ['destination', String(sale.id), 'ada', 'held'],
        ['endpoint', made.endpoint, 'ada', 'held'],
        ['endpoint', rotated, 'ada', 'held'],
        ['key', thief.apiKey, 'ada', 'held'],
        ['link', said.body.activity.find((one: Came) => one.action === 'link.made').subject.slice(5), 'ada', 'held'],
      ].sort(),
    );
    assert.equal(said.body.activity.length, 6);
    assert.ok(new Date(said.body.recordedFrom) < new Date(since));
    const { audit } = (await vic.reads(`/audit?subject=partner:${partnerId}`)).body;
    assert.deepEqual([audit[0].action, audit[0].operator, audit[0].after.held.endpoint], ['partner.suspend', 'ada', 2]);
  });

  test('opens nothing any more, and its partner is told that it is suspended', async () => {
    const answers = async () => [
      (await thief.get('/v1/webhooks')).status,
      (await world.partner.get('/v1/events?after=0')).body.reason,
      (await world.partner.get('/v1/webhooks')).status,
    ];
    await world.until('every server knows', async () => (await answers())[0] === 401);
    await world.until('every server knows of the partner', async () => (await answers())[1] === 'partner_suspended');
    assert.deepEqual(await answers(), [401, 'partner_suspended', 403]);
  });

  test('has made no destination of anything: every destination it added is held, and no older one', async () => {
    assert.match((await isHeld({ account: made.account })) ?? '', /added since then/);
    assert.match((await isHeld({ orderId: made.order, address: made.address })) ?? '', /by a new order/);
    assert.match((await isHeld({ orderId: sale.id, address: made.refund })) ?? '', /for a refund/);
    assert.match(
      (await isHeld({ address: made.refund })) ?? '',
      /for a refund/,
      'an address named for a refund is held for its own order only',
    );
    assert.equal(await isHeld({ orderId: sale.id, account: customer.fiatAccountId }), undefined);
    assert.equal(await isHeld({ orderId: made.order, account: customer.fiatAccountId }), undefined);
    assert.equal(await isHeld({ orderId: bought.id, address: bought.address }), undefined);
    assert.equal(
      await isHeld({ orderId: bought.id, address: made.address }),
      undefined,
      'the destination of an older order is held',
    );
  });

  test('does not keep older orders from their older destinations', async () => {
    const heard = stranger.seen.length;
    await world.pays(sale, '100');
    await world.mines(2);
    await world.until('the sale is settled', async () => (await world.stateOf(sale)) === 'settled');
    await world.credits(bought, '5000');
    await world.until('the purchase is settled', async () => (await world.stateOf(bought)) === 'settled');
    const waiting = () =>
      world.read((tx) =>
        tx.rows<{ subject: string; state: string; seq: number }>(
          `select subject, state, subject_seq as seq from webhook_deliveries
            where endpoint_id = $1 and subject = $2 and state <> 'delivered' order by subject_seq`,
          [rotated, `order:${sale.id}`],
        ),
      );
    await world.until('what happened waits for the endpoint', async () => (await waiting()).length >= 4);
    assert.deepEqual([...new Set((await waiting()).map(({ state }) => state))], ['waiting']);
    assert.equal(stranger.seen.length, heard, 'the endpoint of the thief received an event');
  });

  test('is listed at a terminal, with the held items', async () => {
    const types = terminal(world.server.baseUrl, vic.token);
    const [activity, held] = await Promise.all([
      types('activity', String(partnerId), '--key', thief.apiKey, '--since', since),
      types('held', String(partnerId), '--kind', 'destination'),
    ]);
    assert.equal(activity.code, 0, activity.err);
    assert.match(activity.out, new RegExp(`endpoint.made +endpoint:${made.endpoint} +${thief.apiKey}`));
    assert.equal(held.code, 0, held.err);
    assert.match(held.out, new RegExp(`destination +${sale.id} +${made.refund}`, 'i'));
  });

  test('stays revoked when two people readmit its partner; held items are listed, and paused endpoints keep their events', async () => {
    const resumed = await agreed(`${path()}/resume`, { reason: 'secrets rotated, the log is clean' });
    assert.equal(resumed.after.suspended, false);
    assert.equal(resumed.stillHeld.length, 7);
    await world.until(
      'the partner is let in again',
      async () => (await world.partner.get('/v1/webhooks')).status === 200,
    );
    assert.equal((await thief.get('/v1/webhooks')).status, 401);
    assert.equal(await page(made.link), 403);
    assert.equal(await page(olderLink), 200);
    const input = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
    const sell = { ...input, customerId: customer.id, fiatAccountId: made.account };
    assert.equal((await world.partner.post('offramp/createTransaction', sell)).body.reason, 'destination_held');
    const back = { ...sell, fiatAccountId: customer.fiatAccountId, refundAddress: made.refund };
    assert.equal((await world.partner.post('offramp/createTransaction', back)).body.reason, 'destination_held');
    const named = { customerId: customer.id, transactionId: String(made.order), fiatAccountId: made.account };
    assert.equal((await world.partner.put('onramp/refundDestination', named)).body.reason, 'destination_held');
    const seen = honest.seen.length;
    await world.verifiedCustomer();
    const shown = data(await world.partner.get(`/v1/webhooks/${rotated}`));
    assert.ok(shown.heldAt !== null && shown.enabled);
    assert.equal(honest.seen.length, seen);
  });

  test('leaves behind an endpoint that the partner resumes with an older key, and hears all it missed, in order', async () => {
    data(await world.partner.post(`/v1/webhooks/${rotated}/resume`));
    const ofSale = () =>
      honest.taken.filter(({ body }) => body.subject === `order:${sale.id}`).map(({ body }) => body.sequence);
    const all = await world.read((tx) =>
      tx.rows<{ seq: number }>('select subject_seq as seq from events where subject = $1 order by subject_seq', [
        `order:${sale.id}`,
      ]),
    );
    await world.until('everything has come', async () => ofSale().length >= all.length);
    assert.deepEqual(
      ofSale(),
      all.map(({ seq }) => seq),
    );
    const dropped = await world.read((tx) =>
      tx.rows(`select from webhook_deliveries where endpoint_id = $1 and state in ('dead', 'dropped')`, [rotated]),
    );
    assert.deepEqual(dropped, []);
    data(await world.partner.remove(`/v1/webhooks/${made.endpoint}`));
    const { body } = await vic.reads(`${path()}/held?kind=endpoint`);
    assert.deepEqual(body.held, []);
  });

  test('is revoked when two people release the rest, and the containment is over', async () => {
    const items = (await vic.reads(`${path()}/held`)).body.held;
    const account = items.find((item: Came) => item.kind === 'account');
    assert.equal((await ada.does(`${path()}/held/reject`, { items: ['999999'] })).body.reason, 'unknown_held_item');
    const rejected = await ada.does(`${path()}/held/reject`, { items: [account.id] });
    assert.equal(rejected.status, 200, JSON.stringify(rejected.body));
    const done = await agreed(`${path()}/held/release`, { items: 'all' });
    assert.deepEqual([done.decided, done.stillHeld], [4, []]);
    assert.match(
      (await isHeld({ account: made.account })) ?? '',
      /added since then/,
      'a rejected item is no longer held',
    );
    assert.equal(await isHeld({ orderId: made.order, address: made.address }), undefined);
    const { body } = await vic.reads(path());
    const key = body.keys.find((one: Came) => one.key === thief.apiKey);
    assert.ok(key.revokedAt !== null, 'the key is not revoked after all items were released');
    assert.deepEqual(
      body.endpoints.map((one: Came) => [one.id, one.madeByKey, one.heldAt]),
      [[rotated, world.partner.apiKey, null]],
    );
    const { containments } = (await vic.reads(`${path()}/held`)).body;
    assert.deepEqual([containments[0].endedBy, containments[0].apiKey], ['bea', thief.apiKey]);
    assert.equal(await page(made.link), 200);
    assert.equal(stranger.seen.at(-1)?.body.subject === `order:${sale.id}`, false);
  });
});

describe('money for a destination that a leaked key added', () => {
  const isHeld = async (id: bigint, kind: string, reason: RegExp): Promise<void> => {
    const found = await world.until(`order ${id} has a case ${kind}`, async () =>
      (
        await world.read((tx) =>
          tx.rows<{ kind: string; reason: string }>(
            'select kind, reason from cases where subject = $1 and closed_at is null',
            [`order:${id}`],
          ),
        )
      ).find((one) => one.kind === kind),
    );
    assert.match(found.reason, reason);
  };

  test('waits until two people release the destination, and is then paid once', async () => {
    const customer = await world.verifiedCustomer();
    await world.goesBy('offramp', 'usdc', { underpaid: { acceptBps: 50, beyond: 'refund' } });
    const sale = await world.sells('100', 'usdc', { customer });
    world.clock.advance(2_000);
    const since = world.clock.now().toISOString();
    const thief = await keyOf(partnerId, 'another that leaks');
    const [address, refund] = [world.newAddress(), world.newAddress()];
    const bought = data(
      await thief.post('onramp/createTransaction', {
        ...{ fromCurrency: 'INR', toCurrency: 'usdc', chain: 'matic20', fromAmount: '5000', paymentMethodType: 'UPI' },
        ...{ customerId: customer.id, depositAddress: address },
      }),
    );
    const order = BigInt(bought.transactionId);
    const account = { customerId: customer.id, fiatAccount: '000155556666', ifsc: 'HDFC0000001' };
    const { fiatAccountId } = data(await thief.post('bank/addFiatAccount', account));
    const sold = await world.sells('10', 'usdc', { customer: { id: customer.id, fiatAccountId } });
    const named = { customerId: customer.id, transactionId: String(sale.id), address: refund };
    data(await thief.put('offramp/refundDestination', named));
    const said = await ada.does(`/partners/${partnerId}/suspend`, { since, key: thief.apiKey });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    const { destination, account: accounts } = said.body.after.held;
    assert.deepEqual([destination, accounts], [2, 1], JSON.stringify(said.body.after));

    await world.credits({ ...bought, fiat: 'INR', reference: bought.fiatPaymentInstructions.otp }, '5000');
    await world.pays(sale, '50');
    await world.pays(sold, '10');
    await world.mines(2);
    await isHeld(order, 'payout_held', /^held: destination_held$/);
    await isHeld(sold.id, 'payout_held', /^held: destination_held$/);
    await world.deadlinePasses();
    await isHeld(sale.id, 'refund_destination_held', /screening does not allow/);
    const states = async () =>
      (await world.read((tx) => Promise.all([order, sold.id, sale.id].map((id) => trace(tx, id))))).map(
        (one) => one.order.state,
      );
    const arrived = async () => [
      ...[await world.tokensOf(address, 'usdc'), await world.tokensOf(refund, 'usdc')],
      (await world.bank.payments(`pay_${sold.id}_1`)).length + (await world.bank.payments(`pay_${sold.id}_2`)).length,
    ];
    assert.deepEqual(await states(), ['payout_held', 'payout_held', 'on_hold']);

    const { held } = (await vic.reads(`/partners/${partnerId}/held?state=held`)).body;
    const isKind = ({ kind }: Came) => kind === 'destination' || kind === 'account';
    const release = { items: held.filter(isKind).map((item: Came) => item.id) };
    assert.equal(release.items.length, 3);
    const proposed = await ada.does(`/partners/${partnerId}/held/release`, release);
    assert.equal(proposed.status, 202, 'one person released it');
    // Two people who agree on the order alone do not make its destination trusted.
    const again = await oneOrTwoDo(ada, bea, `/orders/${sale.id}/refund`, { failure: 'amount' });
    assert.equal(again.body.reason, 'destination_held', JSON.stringify(again.body));
    assert.deepEqual(await states(), ['payout_held', 'payout_held', 'on_hold']);
    assert.deepEqual(await arrived(), ['0', '0', 0]);

    assert.equal((await confirmedBy(bea, proposed)).status, 200);
    for (const [path, input] of [
      [`/orders/${order}/retry`, {}],
      [`/orders/${sold.id}/retry`, {}],
      [`/orders/${sale.id}/refund`, { failure: 'amount' }],
    ] as const) {
      const done = await oneOrTwoDo(ada, bea, path, input);
      assert.equal(done.status, 200, JSON.stringify(done.body));
    }
    await world.until('all have arrived', async () => {
      await world.mines(1);
      return (await states()).join() === 'settled,settled,refunded';
    });
    const { payoutUnits } = (await world.read((tx) => trace(tx, order))).order;
    assert.deepEqual(await arrived(), [formatUnits(payoutUnits, 6), '50', 1]);
    await agreed(`/partners/${partnerId}/held/release`, { items: 'all' });
    await agreed(`/partners/${partnerId}/resume`);
    await world.goesBy('offramp', 'usdc', {});
  });
});

describe('a key that is cut off', () => {
  test('changes nothing from that moment on, on a server that still remembers the key', async () => {
    const { clock, vault } = world;
    const { db } = world.server;
    const owner = await world.read((tx) => createPartner(tx, { name: 'Revoked', now: clock.now() }));
    const { apiKey, apiSecret } = await world.read((tx) =>
      createKey(tx, vault, { partnerId: owner.id, label: 'one', scopes: ALL, now: clock.now() }),
    );
    const client = openClient(world.server.baseUrl, { apiKey, apiSecret });
    const { id } = data(await client.post('/v1/webhooks', { url: 'http://localhost:65000/hook' }));
    // Another server revokes it and does not notify this one.
    await db.asSystem((tx) => revokeKey(tx, apiKey, clock.now()));
    const said = await client.post('/v1/webhooks', { url: 'http://localhost:65000/second' });
    assert.deepEqual([said.status, said.body.reason], [401, 'unauthenticated']);
    assert.equal(
      (await client.post('kyc/url', { clientCustomerId: '1', phoneNumber: '+91-9000000000', type: 'INDIVIDUAL' }))
        .status,
      401,
    );
    const rows = await world.read((tx) =>
      tx.rows<{ id: string }>('select id from webhook_endpoints where partner_id = $1', [owner.id]),
    );
    assert.deepEqual(rows, [{ id }]);
    await world.until('reads end, too', async () => (await client.get('/v1/webhooks')).status === 401);
  });

  test('makes nothing that a containment misses, even in requests under way', async () => {
    const { clock } = world;
    const owner = await world.read((tx) => createPartner(tx, { name: 'Busy', now: clock.now() }));
    const client = await keyOf(owner.id, 'busy');
    const { customerId } = data(
      await client.post('kyc/url', { clientCustomerId: '1', phoneNumber: '+91-9000000000', type: 'INDIVIDUAL' }),
    );
    data(await client.post('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' }));
    clock.advance(1_000);
    const since = clock.now().toISOString();
    const adds = Array.from({ length: 30 }, (_, at) =>
      client.post('bank/addFiatAccount', { customerId, fiatAccount: `00017777${100 + at}`, ifsc: 'HDFC0000001' }),
    );
    await Promise.race(adds);
    const said = await ada.does(`/partners/${owner.id}/suspend`, { since });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    const answers = await Promise.all(adds);
    const added = answers.filter(({ status }) => status === 200).map(({ body }) => body.data.fiatAccountId);
    assert.ok(
      answers.every(({ status }) => status === 200 || status === 403),
      'a request neither succeeded nor was refused',
    );
    const held = said.body.stillHeld.filter((item: Came) => item.kind === 'account').map((item: Came) => item.subject);
    assert.deepEqual(held.sort(), added.sort());
  });
});

describe('the activity of a key', () => {
  /** Paths that only ask for a price, change nothing, or exist in the sandbox alone. */
  const UNRECORDED = ['quote', 'quotes', 'test/', '/sandbox/'];

  // Long because it walks every path that changes anything.
  test('is recorded at every path that changes anything', async () => {
    const owner = await world.read((tx) => createPartner(tx, { name: 'Recorded', now: world.clock.now() }));
    const client = await keyOf(owner.id, 'all of it');
    // Redelivering or testing an endpoint answers with the endpoint's own response.
    const answering = await openReceiver();
    after(() => answering.down());
    const addressOf = (path: string) => answering.url.replace('/hook', path);
    const enrolled = data(
      await client.post('kyc/url', { clientCustomerId: 'x', phoneNumber: '+91-9000000000', type: 'INDIVIDUAL' }),
    );
    const { customerId } = enrolled;
    data(await client.post('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' }));
    const { fiatAccountId } = data(
      await client.post('bank/addFiatAccount', { customerId, fiatAccount: '000122223333', ifsc: 'HDFC0000001' }),
    );
    const sell = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
    const buy = {
      fromCurrency: 'INR',
      toCurrency: 'usdc',
      chain: 'matic20',
      fromAmount: '5000',
      paymentMethodType: 'UPI',
    };
    const sold = data(
      await client.post('offramp/createTransaction', { ...sell, customerId, fiatAccountId }),
    ).transactionId;
    const purchase = data(
      await client.post('onramp/createTransaction', { ...buy, customerId, depositAddress: WALLET }),
    ).transactionId;
    const enrolledAs = async (type: string): Promise<string> =>
      data(await client.post('kyc/url', { clientCustomerId: type, phoneNumber: newPhone(), type })).customerId;
    const [person, business] = [await enrolledAs('INDIVIDUAL'), await enrolledAs('BUSINESS')];
    const endpoint = data(await client.post('/v1/webhooks', { url: 'http://localhost:65000/hook' })).id;
    const removed = data(await client.post('/v1/webhooks', { url: 'http://localhost:65000/other' })).id;
    const at = `/v1/webhooks/${endpoint}`;
    const set = '/onramp/api/v1/merchant/';
    await client.post(`${set}setWebhookUrl`, { webhookUrl: addressOf('/wire') });

    data(await client.post('test/changeOfframpStatus', { customerId, transactionId: sold, status: '2' }));
    await world.until('the receiver has heard of the payment', async () => {
      await world.mines(1);
      return answering.taken.length > 0;
    });

    const sendsPicture = (path: string, of: string) =>
      client.upload(path, { customerId: of }, { passportFront: png() });

    /** By the first path of each route: a call, and the activity it records. */
    const CALLS: Record<string, [actions: string[], call: () => Promise<{ status: number; text: string }>]> = {
      'POST kyc/url': [
        ['customer.contact_changed', 'link.made'],
        () => client.post('kyc/url', { customerId, phoneNumber: '+91-9000000001' }),
      ],
      'POST kyc/submitData': [
        ['submission.given'],
        () => client.post('kyc/submitData', { customerId: person, fiatType: 1, identityNumber: 'ABCDE1234F' }),
      ],
      'POST kyc/submit': [
        ['submission.given'],
        () => client.post('kyc/submit', { customerId: person, fiatType: 1, ...PERSON }),
      ],
      'POST kyc/submitFiles': [['submission.given'], () => sendsPicture('kyc/submitFiles', person)],
      'POST kyb/submit': [['submission.given'], () => client.post('kyb/submit', { customerId: business, ...BUSINESS })],
      'POST kyb/files': [['submission.given'], () => sendsPicture('kyb/files', business)],
      'POST bank/addFiatAccount': [
        ['account.added'],
        () => client.post('bank/addFiatAccount', { customerId, fiatAccount: '000122224444', ifsc: 'HDFC0000001' }),
      ],
      'POST bank/addFiatAccountUrl': [['link.made'], () => client.post('bank/addFiatAccountUrl', { customerId })],
      'POST bank/fiatAccounts': [[], () => client.post('bank/fiatAccounts', { customerId })],
      'POST offramp/createTransaction': [
        ['order.created'],
        () => client.post('offramp/createTransaction', { ...sell, customerId, fiatAccountId }),
      ],
      'POST onramp/createTransaction': [
        ['order.created'],
        () => client.post('onramp/createTransaction', { ...buy, customerId, depositAddress: WALLET }),
      ],
      'PUT onramp/referenceId': [
        ['order.payer_reference_named'],
        () => client.put('onramp/referenceId', { customerId, transactionId: purchase, referenceId: 'ABC12345' }),
      ],
      'PUT offramp/refundDestination': [
        ['refund_destination.named'],
        () => client.put('offramp/refundDestination', { customerId, transactionId: sold, address: WALLET }),
      ],
      'PUT onramp/refundDestination': [
        ['refund_destination.named'],
        () => client.put('onramp/refundDestination', { customerId, transactionId: purchase, fiatAccountId }),
      ],
      'POST generateLink': [
        ['customer.enrolled', 'link.made'],
        () => client.post(GENERATE, { ...LINK, clientCustomerId: 'y', phoneNumber: '+91-9000000002' }),
      ],
      'POST merchant/setWebhookUrl': [
        ['endpoint.changed', 'endpoint.changed'],
        () => client.post(`${set}setWebhookUrl`, { webhookUrl: addressOf('/changed') }),
      ],
      'POST merchant/resendWebhook': [
        ['endpoint.replayed', 'endpoint.replayed'],
        () => client.post(`${set}resendWebhook`, { orderId: sold }),
      ],
      'POST merchant/sendDummyWebhook': [
        ['endpoint.tested'],
        () => client.post(`${set}sendDummyWebhook`, { webhookUrl: addressOf('/try') }),
      ],
      'POST /v1/webhooks': [
        ['endpoint.made'],
        () => client.post('/v1/webhooks', { url: 'http://localhost:65000/new' }),
      ],
      'PUT /v1/webhooks/:id': [['endpoint.changed'], () => client.put(at, { events: 'order.*' })],
      'DELETE /v1/webhooks/:id': [['endpoint.removed'], () => client.remove(`/v1/webhooks/${removed}`)],
      'POST /v1/webhooks/:id/rotate': [['endpoint.rotated'], () => client.post(`${at}/rotate`)],
      'POST /v1/webhooks/:id/resume': [['endpoint.resumed'], () => client.post(`${at}/resume`)],
      'POST /v1/webhooks/:id/test': [['endpoint.tested'], () => client.post(`${at}/test`)],
      'POST /v1/webhooks/:id/replay': [['endpoint.replayed'], () => client.post(`${at}/replay`, { orderId: sold })],
    };
    const short = (path: string) => path.replace(/^\/onramp\/api\/v[0-9]\/(whiteLabel\/|common\/transaction\/|)/, '');
    const changing = ROUTES.filter(({ auth, scope }) => auth === 'signed' && scope !== 'read')
      .map(({ method, paths }) => `${method} ${short(paths[0] ?? '')}`)
      .filter(
        (name) =>
          !UNRECORDED.some((word) => name.includes(` ${word}`) || name.endsWith(`/${word}`) || name.includes(word)),
      );
    assert.deepEqual(changing.sort(), Object.keys(CALLS).sort());
    const newest = async () =>
      BigInt((await vic.reads(`/partners/${owner.id}/activity?limit=1`)).body.activity[0]?.id ?? 0);
    for (const [name, [actions, call]] of Object.entries(CALLS)) {
      const before = await newest();
      const answer = await call();
      assert.equal(answer.status, 200, `${name}: ${answer.text}`);
      const { activity } = (await vic.reads(`/partners/${owner.id}/activity?limit=20`)).body;
      const news = activity.filter((one: Came) => BigInt(one.id) > before).toReversed();
      assert.deepEqual(
        news.map((one: Came) => [one.action, one.apiKey]),
        actions.map((action) => [action, client.apiKey]),
        name,
      );
    }
  });
});
