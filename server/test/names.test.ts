/**
 * Names in free fields: a caller who writes one into any field of the partners' wire or of the hosted pages reads it back there,
 * and it is in no dump.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { encryptText, openText } from '../src/base/texts.ts';
import { clientIdOf, customerNamed, customersLike, enroll } from '../src/customers/index.ts';
import { emit } from '../src/events/index.ts';
import { lookUp } from '../src/orders/index.ts';
import { createPartner, partnerIds } from '../src/partners/index.ts';
import { ROUTES } from '../src/protocols/whitelabel/index.ts';
import { DETAILS, openBrowser, type PagesEnvironment, pagesEnvironment } from './protocols/checkout/environment.ts';
import type { TestPartner } from './protocols/whitelabel/environment.ts';
import { newPhone } from './support/client.ts';
import { findInDump } from './support/dump.ts';
import { type Fixture, freshFixture } from './support/fixture.ts';

/** A name in every form that some field takes. */
const NAMES = ['Ebenezer Quagmire', 'quagmire', 'ebenezer@quagmire.example', 'https://quagmire.example/ebenezer'];
const WORDS = ['Ebenezer', 'Quagmire', 'Fjordmail', 'Wolverhampton'];

/** Fields in which a partner's text is unencrypted, and why it is not personal. */
const IN_CLEAR: Readonly<Record<string, string>> = {
  'cloverleaf.webhook_endpoints': 'the address of a receiver of the partner: a system of its own, called by us',
};

const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7';

describe('a name in every field', () => {
  let world: PagesEnvironment;
  let acme: TestPartner;
  before(async () => {
    world = await pagesEnvironment();
    acme = await world.partner('Acme');
  });
  after(() => world?.stop());

  const sale = () => ({
    ...{ fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '10' },
    ...{ customerId: acme.customerId, fiatAccountId: acme.fiatAccountId },
  });
  const purchase = () => ({
    ...{ fromCurrency: 'INR', toCurrency: 'usdc', chain: 'matic20', fromAmount: '1000', depositAddress: WALLET },
    ...{ customerId: acme.customerId, paymentMethodType: 'UPI' },
  });
  /** By the end of a path: a valid request, for the endpoints that store a text. */
  const GOOD: Readonly<Record<string, () => Promise<Record<string, unknown>> | Record<string, unknown>>> = {
    'kyc/url': () => ({ clientCustomerId: `n${Math.random()}`, phoneNumber: newPhone(), type: 'INDIVIDUAL' }),
    'bank/addFiatAccount': () => ({ customerId: acme.customerId, fiatAccount: '000111222333', ifsc: 'HDFC0001234' }),
    'bank/addFiatAccountUrl': () => ({ customerId: acme.customerId }),
    'offramp/createTransaction': sale,
    'onramp/createTransaction': purchase,
    'onramp/referenceId': async () => {
      const { body } = await acme.post('onramp/createTransaction', purchase());
      return { customerId: acme.customerId, transactionId: body.data.transactionId, referenceId: '1' };
    },
    'common/transaction/generateLink': () => ({
      ...{ coinCode: 'usdc', network: 'matic20', fiatAmount: '5000', fiatType: '1', type: '1' },
      ...{ customerId: acme.customerId },
    }),
    'test/changeKycStatus': () => ({ customerId: acme.customerId, status: 'BASIC_KYC_COMPLETED' }),
    '/v1/webhooks': () => ({ url: 'https://93.184.216.34/', format: 'standard' }),
  };

  test('of the wire is in no dump', async () => {
    let taken = 0;
    for (const route of ROUTES) {
      await world.refreshPrices();
      const path = route.paths[0] ?? '';
      const good = Object.entries(GOOD).find(([end]) => path.endsWith(end))?.[1] ?? (() => ({}));
      const base = await good();
      const names = new Set([
        ...Object.keys(base),
        ...Object.keys(route.fields(new Map(Object.entries(base).map(([name, value]) => [name, String(value)])))),
      ]);
      for (const name of names) {
        for (const text of NAMES) {
          const body = { ...(await good()), [name]: text };
          const send = route.method === 'PUT' ? acme.put : route.method === 'DELETE' ? acme.remove : acme.post;
          const headers = { 'idempotency-key': `${text} ${path} ${name}` };
          const answer =
            route.method === 'GET'
              ? await acme.get(`${path}?${name}=${encodeURIComponent(text)}`)
              : await send(path, body, { headers });
          assert.ok(answer.status < 500, `${path} ${name} ${text}: ${answer.text}`);
          if (answer.status === 200 && Object.keys(GOOD).some((end) => path.endsWith(end))) taken += 1;
        }
      }
    }
    assert.ok(taken >= 8, `only ${taken} requests with a name were taken`);
    const found = (await findInDump(world.adminUrl, WORDS)).filter(({ table }) => !(table in IN_CLEAR));
    assert.deepEqual(found, []);
  });

  test('of the hosted pages is in no dump', async () => {
    await world.refreshPrices();
    const link = await acme.post('/onramp/api/v2/common/transaction/generateLink', {
      ...{ coinCode: 'usdc', network: 'matic20', fiatAmount: '5000', fiatType: '1', type: '1', walletAddress: WALLET },
      ...{ clientCustomerId: 'Quagmire by link', phoneNumber: '+91 90000 12345', merchantRecognitionId: 'Quagmire 7' },
    });
    const browser = openBrowser();
    await browser.login(link.body.data.link);
    await browser.open(`${link.body.data.link}?go=1`);
    await browser.go('code');
    const offer = await (async () => {
      const shown = await browser.go('login', { code: '123456' });
      return shown.title === 'Your details' ? await browser.go('details', DETAILS) : shown;
    })();
    const quote = /name="quote" value="(\d+)"/.exec(offer.text)?.[1] ?? '';
    assert.equal((await browser.go('order', { quote })).title, 'Pay in INR');
    const { kycUrl } = await world.invited(acme, { clientCustomerId: 'Ebenezer himself' });
    const details = openBrowser();
    await details.login(kycUrl);
    for (const name of Object.keys(DETAILS)) await details.send('details', { ...DETAILS, [name]: 'Ebenezer Quagmire' });
    await details.go('details', DETAILS);
    const found = (await findInDump(world.adminUrl, WORDS)).filter(({ table }) => !(table in IN_CLEAR));
    assert.deepEqual(found, []);
  });

  test('is read back unchanged: by the partner, in lists, history and events, and by the operator who searches for it', async () => {
    await world.refreshPrices();
    const given = { clientCustomerId: 'Mrs Quagmire', phoneNumber: '+91 98765 43210', type: 'INDIVIDUAL' };
    const first = await acme.post('kyc/url', given);
    const { customerId } = first.body.data;
    assert.equal(first.body.data.clientCustomerId, 'Mrs Quagmire');
    const again = await acme.post('kyc/url', given);
    assert.deepEqual([again.status, again.body.customerId], [400, customerId], 'the same name made another customer');
    const known = await acme.post('kyc/url', { customerId, type: 'INDIVIDUAL' });
    assert.equal(known.body.data.clientCustomerId, 'Mrs Quagmire');
    const headers = { 'idempotency-key': 'once' };
    const asked = { ...purchase(), merchantRecognitionId: 'for Quagmire' };
    const made = await acme.post('onramp/createTransaction', asked, { headers });
    assert.deepEqual((await acme.post('onramp/createTransaction', asked, { headers })).body, made.body);
    const { transactionId } = made.body.data;
    const claim = { customerId: acme.customerId, transactionId, referenceId: 'QUAGMIRE1' };
    assert.equal((await acme.put('onramp/referenceId', claim)).status, 200);
    const history = await acme.post('/onramp/api/v1/transaction/merchantHistory', { type: '1', order: 'DESC' });
    const rows: Record<string, unknown>[] = history.body.data.transactions ?? history.body.data;
    const row = rows.find(({ orderId }) => String(orderId) === String(transactionId));
    assert.deepEqual([row?.merchantRecognitionId, row?.referenceId], ['for Quagmire', 'QUAGMIRE1']);
    const looked = await world.db.asSystem(async (tx) => {
      const input = { text: 'for Quagmire', vault: world.vault, partnerIds: await partnerIds(tx) };
      const { orders } = await lookUp(tx, { ...input, rails: [] });
      return { orders, customers: await customersLike(tx, world.vault, { ...input, texts: ['Mrs Quagmire'] }) };
    });
    assert.deepEqual(
      looked.orders.map(({ id }) => String(id)),
      [String(transactionId)],
    );
    assert.deepEqual(
      looked.customers.map(({ id }) => id),
      [customerId],
    );
    // The dispatcher assigns positions, and does not run here.
    await world.query(
      'update event_feed f set position = n from (select event_id, row_number() over (order by event_id) n from event_feed) o where o.event_id = f.event_id',
    );
    const feed = await acme.get('/v1/events?after=0&limit=100');
    assert.equal(feed.status, 200, feed.text);
    assert.ok(feed.text.includes('for Quagmire'), 'the event of the order does not say its reference');
    assert.ok(!feed.text.includes('enc:v1:'), 'an event shows an encrypted text');
    assert.ok(!history.text.includes('enc:v1:'), 'the history shows an encrypted text');
  });
});

describe('a text in a column', () => {
  let fixture: Fixture;
  let partnerId: bigint;
  before(async () => {
    fixture = await freshFixture();
    const now = fixture.clock.now();
    partnerId = await fixture.db.asSystem(async (tx) => (await createPartner(tx, { name: 'Acme', now })).id);
  });
  after(() => fixture?.stop());

  test('two requests at once that enroll one name make one customer, who is found by it', async () => {
    const { db, vault, clock } = fixture;
    const enrolled = () =>
      db.asPartner(partnerId, (tx) =>
        enroll(tx, vault, { partnerId, clientCustomerId: 'Ebenezer', kind: 'INDIVIDUAL', now: clock.now() }),
      );
    const both = await Promise.allSettled([enrolled(), enrolled(), enrolled()]);
    const [made, ...others] = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    assert.ok(made !== undefined && others.length === 0, `${others.length + 1} customers were made`);
    for (const one of both)
      if (one.status === 'rejected')
        assert.deepEqual([one.reason.code, one.reason.facts], ['customer_exists', { customerId: made.id }]);
    const named = await db.asPartner(partnerId, (tx) => customerNamed(tx, vault, partnerId, 'Ebenezer'));
    assert.ok(named !== undefined && named.id === made.id, 'the customer is not found by its name');
    assert.equal(clientIdOf(vault, named), 'Ebenezer');
    assert.deepEqual(await findInDump(fixture.adminUrl, WORDS), []);
  });

  test('an event is never deleted, nor changed but by an erasure', async () => {
    const { db, vault, clock } = fixture;
    const body = { clientCustomerId: encryptText(vault, partnerId, 'Ebenezer'), level: 1 };
    await db.asPartner(partnerId, (tx) =>
      emit(tx, { partnerId, type: 'customer.login', subject: 'customer:1', body, at: clock.now() }),
    );
    // An erasure may update: the trigger rejects everything else.
    for (const [statement, code] of [
      [`update events set body = body || '{"level": 2}'`, '23001'],
      ['delete from events', '42501'],
    ] as const)
      await assert.rejects(
        db.asSystem((tx) => tx.run(statement)),
        { code },
        statement,
      );
    const admin = new pg.Client({ connectionString: fixture.adminUrl, options: '-c search_path=cloverleaf' });
    await admin.connect();
    try {
      for (const statement of [`update events set body = body || '{"level": 2}'`, 'delete from events'])
        await assert.rejects(admin.query(statement), { code: '23001' }, statement);
    } finally {
      await admin.end();
    }
  });

  test('a text decrypts for its partner alone, encrypts to equal bytes, and one that looks encrypted is stored unchanged', () => {
    const { vault } = fixture;
    const encrypted = encryptText(vault, 1n, 'Ebenezer');
    assert.equal(encryptText(vault, 1n, 'Ebenezer'), encrypted);
    assert.notEqual(encryptText(vault, 2n, 'Ebenezer'), encrypted);
    assert.equal(openText(vault, 1n, encrypted), 'Ebenezer');
    assert.equal(openText(vault, 2n, encrypted), encrypted);
    for (const odd of ['enc:v1:', 'enc:v1:AAAA', encrypted])
      assert.equal(openText(vault, 1n, encryptText(vault, 1n, odd)), odd);
  });
});
