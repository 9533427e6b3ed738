/**
 * One partner against another: every endpoint, called by a partner with each kind of id of another's.
 *
 * The list of endpoints is the wire's own, so one that is added without a row here fails. For the caller, another partner's id
 * must be like a nonexistent one: the same answer to the byte, headers too, from the same statements in PostgreSQL, so that
 * timing reveals nothing either; and the other partner's data is unchanged.
 *
 * Timings, which are not asserted, are printed if FUZZ is set (`npm run fuzz`).
 *
 * Long because every endpoint of every protocol is one row of its table.
 */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { OPERATOR_API_ACTIONS } from '../../src/protocols/operator/index.ts';
import { READS } from '../../src/protocols/operator/reads.ts';
import { ROUTES } from '../../src/protocols/whitelabel/index.ts';
import { openBrowser } from '../protocols/checkout/environment.ts';
import { type Answer, ask, type Client, type Fields, sign } from '../support/client.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { openStory, type Story } from '../support/story.ts';

/** Every kind of id that this wire takes. */
type Kind =
  | 'customer'
  | 'known'
  | 'account'
  | 'sale'
  | 'purchase'
  | 'line'
  | 'endpoint'
  | 'event'
  | 'reference'
  | 'key';
type Ids = Readonly<Record<Kind, string>>;

interface Row {
  /** Kinds of ids it takes; none if it takes no id. */
  takes: readonly Kind[];
  body?: (ids: Ids) => Fields;
  /** It creates something with new ids each time: then the form of the answer counts. */
  makes?: true;
}

const NOTHING: Row = { takes: [] };
const WALLET = '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65';
const SELL = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
const BUY = { fromCurrency: 'INR', toCurrency: 'usdc', chain: 'matic20', fromAmount: '5000', paymentMethodType: 'UPI' };
const LIST = { page: '1', pageSize: '10' };

const ofCustomer = (more: Fields = {}): Row => ({
  takes: ['customer'],
  body: (ids) => ({ customerId: ids.customer, ...more }),
});
const ofSale = (more: Fields = {}): Row => ({
  takes: ['customer', 'sale'],
  body: (ids) => ({ customerId: ids.customer, transactionId: ids.sale, ...more }),
});
const ofPurchase = (more: Fields = {}): Row => ({
  takes: ['customer', 'purchase'],
  body: (ids) => ({ customerId: ids.customer, transactionId: ids.purchase, ...more }),
});
const ofEndpoint = (body: Fields = {}): Row => ({ takes: ['endpoint'], body: () => body });
const control = (more: Fields = {}): Row => ({
  takes: ['sale'],
  body: (ids) => ({ transactionId: ids.sale, ...more }),
});

/** By method and the first of its paths. */
const ROWS: Readonly<Record<string, Row>> = {
  'POST whiteLabel/kyc/url': {
    takes: ['customer', 'known'],
    body: (ids) => ({
      customerId: ids.customer,
      clientCustomerId: ids.known,
      phoneNumber: '+91-9000000000',
      type: 'INDIVIDUAL',
    }),
    makes: true,
  },
  'POST whiteLabel/kyc/status': ofCustomer(),
  'POST whiteLabel/kyc/requirements': ofCustomer({ fiatType: '1' }),
  'POST whiteLabel/kyc/submit': {
    ...ofCustomer({
      ...{ fiatType: '1', identityNumber: 'ABCDE1234F' },
      details: '{"firstName": "Asha", "lastName": "Rao", "dob": "1990-01-31"}',
      address: '{"addressLine1": "1 Main Road", "city": "Pune", "postalCode": "411001"}',
    }),
    makes: true,
  },
  'POST whiteLabel/kyc/submitData': { ...ofCustomer({ fiatType: '1', identityNumber: 'ABCDE1234F' }), makes: true },
  'POST whiteLabel/kyc/submitFiles': ofCustomer(),
  'POST whiteLabel/kyb/submit': { ...ofCustomer({ entityName: 'Rao Traders' }), makes: true },
  'POST whiteLabel/kyb/files': ofCustomer(),
  'POST whiteLabel/kyb/status': ofCustomer(),
  'GET whiteLabel/kyb/requirements': NOTHING,
  'POST whiteLabel/bank/addFiatAccount': {
    ...ofCustomer({ fiatAccount: '000999888777', ifsc: 'HDFC0000001' }),
    makes: true,
  },
  'POST whiteLabel/bank/addFiatAccountUrl': { ...ofCustomer(), makes: true },
  'POST whiteLabel/bank/fiatAccounts': ofCustomer(),
  'POST whiteLabel/offramp/quote': NOTHING,
  'POST whiteLabel/offramp/createTransaction': {
    takes: ['customer', 'account', 'reference'],
    body: (ids) => ({
      ...SELL,
      customerId: ids.customer,
      fiatAccountId: ids.account,
      merchantRecognitionId: ids.reference,
    }),
    makes: true,
  },
  'POST whiteLabel/offramp/transaction': ofSale(),
  'POST whiteLabel/offramp/allUserTransaction': ofCustomer(LIST),
  'POST whiteLabel/offramp/allTransaction': NOTHING,
  'POST whiteLabel/onramp/quote': NOTHING,
  'POST whiteLabel/onramp/createTransaction': {
    takes: ['customer', 'account', 'reference'],
    body: (ids) => ({
      ...BUY,
      customerId: ids.customer,
      fiatAccountId: ids.account,
      merchantRecognitionId: ids.reference,
      depositAddress: WALLET,
    }),
    makes: true,
  },
  'PUT whiteLabel/onramp/referenceId': {
    takes: ['customer', 'purchase', 'reference'],
    body: (ids) => ({ customerId: ids.customer, transactionId: ids.purchase, referenceId: ids.reference }),
  },
  'PUT whiteLabel/offramp/refundDestination': ofSale({ address: WALLET }),
  'POST whiteLabel/offramp/refunds': ofSale(),
  'POST whiteLabel/onramp/refunds': ofPurchase(),
  'PUT whiteLabel/onramp/refundDestination': {
    takes: ['customer', 'purchase', 'account'],
    body: (ids) => ({ customerId: ids.customer, transactionId: ids.purchase, fiatAccountId: ids.account }),
  },
  'POST whiteLabel/bank/bankDetails': ofPurchase(),
  'POST whiteLabel/onramp/transaction': ofPurchase(),
  'POST whiteLabel/onramp/allUserTransaction': ofCustomer(LIST),
  'POST whiteLabel/onramp/allTransaction': NOTHING,
  'POST whiteLabel/test/changeKycStatus': ofCustomer({ status: 'ADVANCE_KYC_COMPLETED' }),
  'POST whiteLabel/test/changeKybStatus': ofCustomer({ status: 'COMPLETED' }),
  'POST whiteLabel/test/changeOfframpStatus': ofSale({ status: '0' }),
  'POST whiteLabel/test/changeOnrampStatus': ofPurchase({ status: '0' }),
  'POST transaction/allConfigMapping': NOTHING,
  'POST transaction/allChainMapping': NOTHING,
  'POST transaction/allGasFee': NOTHING,
  'POST transaction/limits': NOTHING,
  'POST transaction/allCoinLimits': NOTHING,
  'POST transaction/priceTicker': NOTHING,
  'POST transaction/orderStatus': { takes: ['sale'], body: (ids) => ({ orderId: ids.sale, type: '2' }) },
  'POST transaction/quotes': NOTHING,
  'POST transaction/generateLink': {
    ...ofCustomer({ coinCode: 'usdc', network: 'matic20', quantity: '100', fiatType: '1', type: '2' }),
    makes: true,
  },
  'POST transaction/merchantHistory': NOTHING,
  'POST merchant/setWebhookUrl': NOTHING,
  'POST merchant/resendWebhook': { takes: ['sale'], body: (ids) => ({ orderId: ids.sale }) },
  'POST merchant/sendDummyWebhook': NOTHING,
  'GET v1/events': NOTHING,
  'GET v1/webhooks': NOTHING,
  'POST v1/webhooks': NOTHING,
  'GET v1/webhooks/:id': ofEndpoint(),
  'PUT v1/webhooks/:id': {
    takes: ['endpoint', 'key'],
    body: (ids) => ({ url: 'http://127.0.0.1:1999/', apiKey: ids.key }),
  },
  'DELETE v1/webhooks/:id': ofEndpoint(),
  'POST v1/webhooks/:id/rotate': { ...ofEndpoint({ overlapSeconds: '0' }), makes: true },
  'POST v1/webhooks/:id/resume': ofEndpoint(),
  'POST v1/webhooks/:id/test': ofEndpoint(),
  'POST v1/webhooks/:id/replay': {
    takes: ['endpoint', 'event', 'sale'],
    body: (ids) => ({ eventId: ids.event, orderId: ids.sale }),
  },
  'GET v1/webhooks/:id/deliveries': ofEndpoint(),
  'GET v1/webhooks/:id/deliveries/:event': { takes: ['endpoint', 'event'] },
  'POST v1/pay': control(),
  'POST v1/credit': { takes: ['purchase'], body: (ids) => ({ transactionId: ids.purchase }) },
  'POST v1/recall': {
    takes: ['line', 'purchase'],
    body: (ids) => (ids.line === '' ? { transactionId: ids.purchase } : { line: ids.line }),
  },
  'POST v1/bounce': control(),
  'POST v1/status': control({ status: '0' }),
  'POST v1/screening': control({ outcome: 'PASS' }),
  // Due times of the caller's own rows, or the environment shared by all partners of a sandbox.
  'POST v1/clock': NOTHING,
  'POST v1/reorg': NOTHING,
  'POST v1/bank': NOTHING,
  'POST v1/prices': NOTHING,
  'POST v1/treasury': NOTHING,
  'POST v1/webhooks!': NOTHING,
  'GET public/listSupportedFiat': NOTHING,
  'GET public/fetchPaymentMethodType': NOTHING,
  'GET public/currentTimestamp': NOTHING,
  'GET public/fetchAllCountryConfig': NOTHING,
  'GET public/allConfig': NOTHING,
  'GET public/listAllCoins': NOTHING,
  'GET public/listAllNetworks': NOTHING,
  'GET public/allGasFee': NOTHING,
};

/** The distinguishing end of its first path; the sandbox's switch for webhooks has a mark. */
function nameOf({ method, paths }: (typeof ROUTES)[number]): string {
  const path = (paths[0] ?? '').replace(/^\/sandbox\/v1\/webhooks$/, '/sandbox/v1/webhooks!');
  const [, tail = ''] =
    /\/(whiteLabel\/.*|transaction\/\w+|merchant\/\w+|public\/\w+|(?<!api\/)v1\/.*)$/.exec(path) ?? [];
  return `${method} ${tail.replace('whiteLabel/public', 'public')}`;
}

let s: Story;
let receiver: Receiver;
let acme: Client;
let rival: Client;
let theirs: Ids;
let own: Ids;
let none: Ids;
let acmeId: string;

/** A partner's data so far: a customer with an account, a sale, a purchase, an endpoint that got its events. */
async function live(client: Client, name: string): Promise<Ids> {
  const told = async (path: string, body: Fields) => {
    const answer = await client.post(path, body);
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    return answer.body.data;
  };
  const { id: endpoint } = await told('/v1/webhooks', { url: receiver.url, events: 'order.*' });
  const known = `known-to-${name}`;
  const { customerId } = await told('kyc/url', {
    clientCustomerId: known,
    phoneNumber: '+91-9000000000',
    type: 'INDIVIDUAL',
  });
  await told('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' });
  const { fiatAccountId } = await told('bank/addFiatAccount', {
    customerId,
    fiatAccount: '000111222333',
    ifsc: 'HDFC0000001',
  });
  const reference = `reference-of-${name}`;
  const both = { customerId, merchantRecognitionId: reference };
  const sale = await told('offramp/createTransaction', { ...SELL, ...both, fiatAccountId });
  const purchase = await told('onramp/createTransaction', { ...BUY, ...both, depositAddress: WALLET });
  const paid = await told('onramp/createTransaction', { ...BUY, ...both, depositAddress: WALLET });
  await client.put('onramp/referenceId', { customerId, transactionId: purchase.transactionId, referenceId: reference });
  const { line } = await told('/sandbox/v1/credit', { transactionId: paid.transactionId });
  await s.until('the purchase is over', async () => {
    const { status } = await told('onramp/transaction', { customerId, transactionId: paid.transactionId });
    return status === '4';
  });
  const { events } = (await client.get('/v1/events')).body.data;
  const ids = { known, customer: customerId, account: fiatAccountId, reference, line, endpoint, key: client.apiKey };
  return { ...ids, sale: sale.transactionId, purchase: purchase.transactionId, event: events[0].id };
}

/** The statements of a request in PostgreSQL, identified by its header. */
const asking = new AsyncLocalStorage<string[]>();
const statements = new Map<string, string[]>();
const begun = (message: unknown): void => {
  const { request } = message as { request: { headers: Record<string, string | undefined> } };
  const list: string[] = [];
  const name = request.headers['x-test'];
  if (name !== undefined) statements.set(name, list);
  asking.enterWith(list);
};
const { query } = pg.Client.prototype;

before(async () => {
  receiver = await openReceiver();
  s = await openStory();
  [acme, rival] = [s.partner, s.otherPartner];
  theirs = await live(acme, 'acme');
  own = await live(rival, 'rival');
  const beside = (id: string): string => String(BigInt(id) + 1n);
  none = {
    customer: theirs.customer.replace(/^./, (letter) => (letter === 'a' ? 'b' : 'a')),
    known: 'known-to-nobody',
    account: beside(theirs.account),
    sale: beside(theirs.sale),
    purchase: beside(theirs.purchase),
    reference: 'reference-of-none',
    line: `${theirs.line.slice(0, -1)}${theirs.line.endsWith('1') ? '2' : '1'}`,
    endpoint: theirs.endpoint.replace(/.$/, (letter) => (letter === '1' ? '2' : '1')),
    event: theirs.event.replace(/^evt_[0-9]+_/, 'evt_99_'),
    key: theirs.key.replace(/.$/, (letter) => (letter === '1' ? '2' : '1')),
  };
  const [row] = await s.read((tx) =>
    tx.rows<{ id: bigint }>(`select partner_id as id from api_keys where key = $1`, [acme.apiKey]),
  );
  acmeId = String(row?.id);
  pg.Client.prototype.query = function noted(this: pg.Client, ...args: unknown[]) {
    const asked = args[0] as string | { text?: string };
    asking.getStore()?.push((typeof asked === 'string' ? asked : (asked?.text ?? '')).replaceAll(/\s+/g, ' '));
    return (query as (...all: unknown[]) => unknown).apply(this, args);
  } as typeof query;
  subscribe('http.server.request.start', begun);
});
after(async () => {
  unsubscribe('http.server.request.start', begun);
  pg.Client.prototype.query = query;
  await s?.close();
  await receiver?.down();
});

let requests = 0;
let counted = 0;

async function send(
  client: Client,
  route: (typeof ROUTES)[number],
  path: string,
  ids: Ids,
  headers: Record<string, string> = {},
): Promise<Answer & { asked: string[] }> {
  requests += 1;
  const name = `request ${requests}`;
  const row = ROWS[nameOf(route)] ?? assert.fail();
  const body = row.body?.(ids) ?? {};
  const to = path.replace(':id', ids.endpoint).replace(':event', ids.event);
  const signed = sign(client, body);
  const answer = await ask(s.server.baseUrl, to, {
    method: route.method,
    headers: { ...signed.headers, 'x-test': name, ...headers },
    ...(route.method === 'GET' ? {} : { body: signed.text }),
  });
  const asked = statements.get(name) ?? [];
  statements.delete(name);
  return { ...answer, asked };
}

/** The caller's view of an answer, without parts that depend on time and request. @param sent is masked */
const seen = ({ status, text, headers }: Answer, sent = '\0') => ({
  status,
  text: text.replaceAll(sent, '?'),
  headers: [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name)),
});

/** The same without parts that are new each time. */
const form = ({ status, body, headers }: Answer) => ({
  status,
  keys: Object.keys(body?.data ?? body ?? {}),
  reason: body?.reason,
  headers: [...headers.keys()],
});

/** All data of a partner in the database, table by table. */
async function rowsOf(partnerId: string): Promise<Record<string, string>> {
  return await s.read(async (tx) => {
    const tables = await tx.rows<{ name: string }>(
      `select table_name::text as name from information_schema.columns
        where table_schema = 'cloverleaf' and column_name = 'partner_id' order by 1`,
    );
    const all: Record<string, string> = {};
    for (const { name } of tables) {
      // The last use of a key is updated by its own request; earlier requests have their line after their answer.
      if (name === 'api_keys' || name === 'request_log') continue;
      const [row] = await tx.rows<{ sum: string }>(
        `select count(*)::text || coalesce(md5(string_agg(r::text, '|' order by r::text)), '') as sum from ${name} r where partner_id = $1`,
        [BigInt(partnerId)],
      );
      all[name] = row?.sum ?? '';
    }
    return all;
  });
}

/**
 * Rates, assets, markets and keys are cached briefly: whether a request reads them again is random. So is when lines of the request log
 * are written.
 */
const REMEMBERED =
  /insert into request_log|from (api_keys|partners|markets|assets|fee_schedules|prices|gas_prices|market_limits|customer_limits|exposure_caps|stops|policies)\b|^(begin|commit|rollback)$/;
const ownStatements = (asked: readonly string[]): string[] => asked.filter((text) => !REMEMBERED.test(text));

const different = (a: readonly string[], b: readonly string[]): boolean =>
  JSON.stringify(ownStatements(a)) !== JSON.stringify(ownStatements(b));

test('every endpoint of the wire has a row here, and every row has an endpoint', () => {
  assert.deepEqual(ROUTES.map(nameOf).toSorted(), Object.keys(ROWS).toSorted());
});

describe("another partner's id looks like an unknown one to the caller", () => {
  let before: Record<string, string>;
  test('all events of the other partner are published, so its rows do not change by themselves', async () => {
    const waits = async () =>
      await s.read((tx) =>
        tx.rows(
          `select 'event' from event_feed where partner_id = $1 and position is null
           union all select 'delivery' from webhook_deliveries where partner_id = $1 and state = 'waiting'
           union all select 'ordering key' from webhook_ordering_keys where partner_id = $1`,
          [BigInt(acmeId)],
        ),
      );
    await s.until('all is delivered', async () => (await waits()).length === 0);
    before = await rowsOf(acmeId);
  });

  for (const route of ROUTES) {
    const row = ROWS[nameOf(route)];
    for (const kind of row?.takes ?? []) {
      test(`${nameOf(route)} with a ${kind}`, async () => {
        for (const path of route.paths) {
          const without: Ids = kind === 'purchase' && route.paths[0]?.endsWith('/recall') ? { ...own, line: '' } : own;
          const foreign = { ...without, [kind]: theirs[kind] };
          const unknown = { ...without, [kind]: none[kind] };
          let [a, b] = [await send(rival, route, path, foreign), await send(rival, route, path, unknown)];
          // A cache may expire at any moment; a difference counts if it persists.
          for (let more = 0; more < 3 && different(a.asked, b.asked); more += 1)
            [a, b] = [await send(rival, route, path, foreign), await send(rival, route, path, unknown)];
          assert.deepEqual(ownStatements(a.asked), ownStatements(b.asked), `${path}: the same is asked of PostgreSQL`);
          if (row?.makes && a.status === 200) assert.deepEqual(form(a), form(b), path);
          else assert.deepEqual(seen(a, theirs[kind]), seen(b, none[kind]), path);
          counted += a.asked.length;
          for (const id of Object.values(theirs))
            if (!JSON.stringify(foreign).includes(id)) assert.ok(!a.text.includes(id), `${path} says ${id}`);
        }
      });
    }
  }

  for (const route of ROUTES.filter((one) => (ROWS[nameOf(one)]?.takes.length ?? 0) > 1)) {
    test(`${nameOf(route)} with nothing but another's`, async () => {
      const [path = ''] = route.paths;
      const [a, b] = [await send(rival, route, path, theirs), await send(rival, route, path, none)];
      if (a.status === 200) assert.deepEqual(form(a), form(b));
      else assert.deepEqual(seen(a), seen(b));
    });
  }

  test('lists, history and events show nothing of it', async () => {
    for (const route of ROUTES) {
      if (route.sandbox || route.method === 'DELETE') continue;
      const [path = ''] = route.paths;
      const lists = { ...LIST, ...SELL, type: '1', fiatType: '1' };
      const { headers, text } = sign(rival, lists);
      if (ROWS[nameOf(route)] !== NOTHING || /webhook/i.test(path)) continue;
      const answer = await ask(s.server.baseUrl, path, {
        method: route.method,
        headers,
        ...(route.method === 'GET' ? {} : { body: text }),
      });
      // The caller itself has supplied this one, for an order of its own.
      for (const [kind, id] of Object.entries(theirs))
        if (kind !== 'reference') assert.ok(!answer.text.includes(id), `${path} says ${id}`);
    }
  });

  test("and its key to another's reply is a key of one's own", async () => {
    const create = 'offramp/createTransaction';
    const body = (ids: Ids) => ({ ...SELL, customerId: ids.customer, fiatAccountId: ids.account });
    const keyed = { headers: { 'idempotency-key': 'the same text' } };
    const first = await acme.post(create, body(theirs), keyed);
    const second = await rival.post(create, body(own), keyed);
    const again = await rival.post(create, body(own), keyed);
    assert.deepEqual([first.status, second.status, again.status], [200, 200, 200]);
    assert.notEqual(second.body.data.transactionId, first.body.data.transactionId);
    assert.equal(again.body.data.transactionId, second.body.data.transactionId);
    const stolen = await rival.post(create, body(theirs), keyed);
    const unheard = await rival.post(create, body(none), { headers: { 'idempotency-key': 'the same text' } });
    assert.deepEqual(seen(stolen), seen(unheard));
    before = await rowsOf(acmeId);
  });

  test('a link of its own customers is nothing to the session of another', async () => {
    const linkFor = async (client: Client, ids: Ids) =>
      String((await client.post('bank/addFiatAccountUrl', { customerId: ids.customer })).body.data.bankUrl);
    const [theirLink, ownLink] = [await linkFor(acme, theirs), await linkFor(rival, own)];
    const insider = openBrowser();
    await insider.login(ownLink);
    const masked = (text: string) => text.replaceAll(/value="[0-9a-f]{16,}"/g, 'value=""').replaceAll(theirLink, '');
    const [asInsider, asNobody] = [await insider.open(theirLink), await openBrowser().open(theirLink)];
    assert.equal(masked(asInsider.text), masked(asNobody.text), 'the page differs from everyone’s login page');
    before = await rowsOf(acmeId);
    await insider.send('account', { fiatAccount: '000999888777', ifsc: 'HDFC0000001' });
  });

  test('and nothing of it has changed by all this', async () => {
    assert.ok(counted > 100, 'no statements were counted');
    assert.deepEqual(await rowsOf(acmeId), before);
    const accounts = await acme.post('bank/fiatAccounts', { customerId: theirs.customer });
    assert.equal(accounts.body.data.length, 1);
  });
});

test("a partner's keys open nothing of the operators'", async () => {
  for (const { path, method } of [
    ...OPERATOR_API_ACTIONS.map(({ path }) => ({ path, method: 'POST' })),
    ...READS.map(({ path }) => ({ path, method: 'GET' })),
  ]) {
    for (const token of [rival.apiSecret, rival.apiKey]) {
      const { headers, text } = sign(rival, {});
      const answer = await ask(s.server.baseUrl, `/operator/v1${path.replaceAll(/:\w+/g, '1')}`, {
        method,
        headers: { ...headers, authorization: `Bearer ${token}` },
        ...(method === 'GET' ? {} : { body: text }),
      });
      assert.deepEqual([answer.status, answer.body.reason], [401, 'unauthenticated'], path);
    }
  }
});

test('the times of the two are printed, not asserted', async () => {
  const times = process.env.FUZZ === undefined ? 1 : 150;
  const told: string[] = [];
  for (const route of ROUTES.filter(
    (one) => (ROWS[nameOf(one)]?.takes.length ?? 0) > 0 && ROWS[nameOf(one)]?.makes !== true,
  )) {
    const [path = ''] = route.paths;
    const kind = ROWS[nameOf(route)]?.takes[0] ?? 'customer';
    const took = { foreign: [] as number[], unknown: [] as number[] };
    for (let n = 0; n < times; n += 1) {
      for (const [which, ids] of [
        ['foreign', theirs],
        ['unknown', none],
      ] as const) {
        const began = performance.now();
        await send(rival, route, path, { ...own, [kind]: ids[kind] });
        took[which].push(performance.now() - began);
      }
    }
    const median = (all: number[]) => (all.toSorted((a, b) => a - b)[all.length >> 1] ?? 0).toFixed(2);
    if (times > 0)
      told.push(
        `${nameOf(route)} with a ${kind}: ${median(took.foreign)} ms another's, ${median(took.unknown)} ms nobody's`,
      );
  }
  if (times > 1) console.log(told.join('\n'));
  assert.ok(told.length > 20);
});
