/**
 * Fuzzing over HTTP: every path for partners and operators, on a whole sandbox.
 *
 * A request that is correct except for some parts gets a well-formed answer: never a 500, never internal words. The partners'
 * paths are called with a body in which every field of this wire has a valid value, so that its changes are also processed after
 * the fields. At the end the books balance, and agree with chain and bank.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { OPERATOR_API_ACTIONS } from '../../src/protocols/operator/index.ts';
import { READS } from '../../src/protocols/operator/reads.ts';
import { ROUTES } from '../../src/protocols/whitelabel/index.ts';
import { operatorNamed, type Person } from '../protocols/operator/people.ts';
import { ask, newPhone, sign } from '../support/client.ts';
import { BUSINESS, PERSON } from '../support/identities.ts';
import { openStory, type Story } from '../support/story.ts';
import { assertUnpolluted, fuzz, nasty, nastyJson } from './fuzz.ts';

let s: Story;
let chief: Person;
/** A valid value for every name on this wire. */
let right: Record<string, unknown>;
let params: Record<string, string>;
const reached = new Set<string>();

before(async () => {
  s = await openStory();
  chief = await operatorNamed({ db: s.server.db, baseUrl: s.server.baseUrl, clock: s.clock }, 'chief', 'admin');
  const sale = await s.sells('120', 'usdc');
  const purchase = await s.buys('9000', 'usdc');
  const made = await s.partner.post('/v1/webhooks', { url: 'http://127.0.0.1:1999/', format: 'standard' });
  assert.equal(made.status, 200, made.text);
  const enrolled = { clientCustomerId: 'fuzz-business', phoneNumber: newPhone(), type: 'BUSINESS' };
  const business = (await s.partner.post('kyc/url', enrolled)).body.data.customerId;
  const account = (await s.partner.post('bank/fiatAccounts', { customerId: sale.customerId })).body.data[0];
  const events = await s.partner.get('/v1/events');
  params = { id: made.body.data.id, event: events.body.data.events[0]?.id ?? 'evt_1_1' };
  right = {
    customerId: sale.customerId,
    fiatAccountId: account.fiatAccountId,
    transactionId: String(sale.id),
    purchaseId: String(purchase.id),
    businessId: business,
    clientCustomerId: 'fuzz',
    phoneNumber: newPhone(),
    fromCurrency: 'usdc',
    toCurrency: 'INR',
    chain: 'matic20',
    fromAmount: '100',
    fiatAccount: '000111222333',
    ifsc: 'HDFC0000001',
    iban: 'DE89370400440532013000',
    depositAddress: '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
    refundAddress: '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
    address: '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
    paymentMethodType: 'UPI',
    referenceId: 'UTR123456',
    page: '1',
    pageSize: '10',
    status: '2',
    fiatType: '1',
    order: 'DESC',
    since: '2024-01-01',
    coinCode: 'usdc',
    network: 'matic20',
    fiatAmount: '1000',
    orderId: String(sale.id),
    eventId: params.event,
    url: 'http://127.0.0.1:1999/',
    webhookUrl: 'http://127.0.0.1:1999/',
    events: 'order.*',
    kycRedirectUrl: 'https://wallet.example/',
    redirectUrl: 'https://wallet.example/',
    overlapSeconds: '60',
    after: '0',
    before: '100',
    limit: '10',
    from: '2024-01-01',
    to: '2030-01-01',
    how: 'EXACT',
    reference: 'RIGHT',
    name: 'RIGHT',
    outcome: 'PASS',
    advance: '1s',
    line: 'no such line',
    fault: 'NONE',
    deliveries: 'DELIVER',
    blocks: '1',
    coin: 'usdc',
    fiat: 'inr',
    currency: 'inr',
    state: 'FILLED',
  };
});
after(async () => {
  await s?.close();
});

/** Exceptions for names with two meanings. */
const OTHERWISE: readonly [RegExp, Record<string, unknown>][] = [
  [/kyc\/url$/, { type: 'INDIVIDUAL', clientCustomerId: undefined }],
  [/addFiatAccount$/, { iban: undefined }],
  [
    /onramp\/(quote|createTransaction)$/,
    { fromCurrency: 'INR', toCurrency: 'usdc', fromAmount: '5000', fiatAccountId: undefined },
  ],
  [/offramp\/quote$|offramp\/createTransaction$/, { paymentMethodType: undefined }],
  [/test\/changeKyc/, { status: 'BASIC_KYC_COMPLETED' }],
  [
    /onramp\/(transaction|referenceId|refundDestination)$|bankDetails$|changeOnramp|\/credit$|\/recall$/,
    { transactionId: 'purchase' },
  ],
  [/merchantHistory$|orderStatus$|\/quotes$|generateLink$/, { type: '1' }],
  [/sandbox\/v1\/(pay|bounce|settle|screening|status)$/, { status: '6' }],
  [/sandbox\/v1\/treasury$/, { chain: undefined }],
  [/kyc\/requirements$/, { fiatType: '1' }],
  [/kyc\/submitData$/, PERSON],
  [/kyb\/submit$|kyb\/status$|changeKyb/, { customerId: 'business', ...BUSINESS }],
  [/changeKyb/, { status: 'IN_REVIEW' }],
];

function bodyFor(path: string): Record<string, unknown> {
  const changes = Object.assign({}, ...OTHERWISE.filter(([form]) => form.test(path)).map(([, change]) => change));
  const body = { ...right, ...changes };
  if (body.transactionId === 'purchase') body.transactionId = right.purchaseId;
  if (body.customerId === 'business') body.customerId = right.businessId;
  delete body.purchaseId;
  delete body.businessId;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

/** Internal words. */
const INSIDE = /node_modules|\.ts:\d|at async|select .* from|insert into|postgres|cloverleaf_|violates|stack/i;

function answeredInForm(what: string, { status, text }: { status: number; text: string }): void {
  assert.ok(status < 500 || status === 503, `${what}: ${status} ${text}`);
  assert.ok(!INSIDE.test(text), `${what}: ${text}`);
  assertUnpolluted();
}

const alteration = fc.record({
  at: fc.nat(1_000),
  value: fc.oneof({ weight: 3, arbitrary: nasty as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: nastyJson }),
  gone: fc.nat(4).map((n) => n === 0),
});
const alterations = fc.array(alteration, { maxLength: 3 });
const OPEN = ROUTES.filter(
  ({ paths }) => !/sandbox\/v1\/(clock|reorg|treasury|bank|webhooks|prices)$/.test(paths[0] ?? ''),
);
/** They change what all partners share: a correct request would change every later result. */
const SHARED = ROUTES.filter((route) => !OPEN.includes(route));

function altered(
  path: string,
  changes: readonly { at: number; value: unknown; gone: boolean }[],
): Record<string, unknown> {
  const body = bodyFor(path);
  const names = [...Object.keys(body), 'toAmount', 'rate', 'type', 'amount', 'email', 'constructor', 'x'];
  for (const { at, value, gone } of changes) {
    const name = names[at % names.length] ?? '';
    if (gone) delete body[name];
    else body[name] = value;
  }
  return body;
}

async function sent(
  route: (typeof ROUTES)[number],
  alias: number,
  body: Record<string, unknown>,
  format: 'json' | 'form' | 'multipart',
  inPath: string | undefined,
): Promise<void> {
  const pattern = route.paths[alias % route.paths.length] ?? '';
  let path = pattern;
  for (const [name, value] of Object.entries(params))
    path = path.replace(`:${name}`, encodeURIComponent((inPath ?? value).toWellFormed().slice(0, 300)));
  if (route.method === 'GET') {
    const query = new URLSearchParams(
      Object.entries(body).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value] as [string, string]] : [],
      ),
    );
    const { headers } = sign(s.partner, {});
    const url = `${path}?${query}`.slice(0, 12_000);
    const answer = await ask(s.server.baseUrl, url, { headers });
    return told(route.paths[0] ?? '', answer);
  }
  const { headers, text } = sign(s.partner, body, { format });
  // A header cannot be longer, and Node itself rejects it.
  if ((headers.payload ?? '').length > 60_000) return;
  told(route.paths[0] ?? '', await ask(s.server.baseUrl, path, { method: route.method, headers, body: text }));
}

function told(path: string, answer: { status: number; text: string; body: unknown }): void {
  answeredInForm(path, answer);
  const { status, code, reason, fields } = answer.body as Record<string, unknown>;
  if (answer.status === 200) {
    reached.add(path);
    assert.notEqual(status, 0, answer.text);
    return;
  }
  assert.deepEqual([status, code], [0, answer.status], answer.text);
  assert.equal(typeof reason, 'string');
  if (reason === 'malformed_field' || reason === 'missing_fields')
    assert.ok(typeof fields === 'object' && fields !== null && Object.keys(fields).length > 0, answer.text);
}

const format = fc.constantFrom('json' as const, 'json' as const, 'form' as const, 'multipart' as const);

fuzz(
  'requests: partners',
  'every path answers in form, whatever a field of the body is',
  400,
  fc.tuple(fc.nat(OPEN.length - 1), fc.nat(3), alterations, format, fc.option(nasty, { nil: undefined, freq: 4 })),
  async ([at, alias, changes, how, inPath]) => {
    const route = OPEN[at] ?? assert.fail();
    // A removed endpoint cannot be queried.
    if (route.method === 'DELETE' && inPath === undefined) return;
    await sent(route, alias, altered(route.paths[0] ?? '', changes), how, inPath);
  },
);

fuzz(
  'requests: sandbox controls',
  'of the world refuse what is no wish',
  60,
  fc.tuple(fc.nat(SHARED.length - 1), nastyJson),
  async ([at, value]) => {
    const route = SHARED[at] ?? assert.fail();
    const body = Object.fromEntries(Object.keys(bodyFor(route.paths[0] ?? '')).map((name) => [name, value]));
    await sent(route, 0, body, 'json', undefined);
  },
);

/** On our own paths an undeclared field is refused. */
function declaredOf({ strict, forms, paths }: (typeof ROUTES)[number]): Record<string, unknown> {
  const body = bodyFor(paths[0] ?? '');
  if (!strict) return body;
  const declared = new Set(forms.flatMap((fields) => Object.keys(fields)));
  return Object.fromEntries(Object.entries(body).filter(([name]) => declared.has(name)));
}

test('a valid body passes the field checks on nearly every path', async () => {
  for (const route of OPEN) {
    if (route.method !== 'DELETE') await sent(route, 0, declaredOf(route), 'json', undefined);
  }
  const paths = OPEN.filter(({ method }) => method !== 'DELETE').map((route) => route.paths[0] ?? '');
  const missed = paths.filter((path) => !reached.has(path));
  // Paths without a subject here: no event was sent, there is nothing to refund, and no payout is returned.
  assert.ok(missed.length <= paths.length / 4, `only refusals from ${missed.join(', ')}`);
});

test('requests of no path, method, type or length that is served are refused in form', async () => {
  for (const [method, path, type, body] of [
    ['POST', '/onramp/api/v2/whiteLabel/__proto__', 'application/json', '{}'],
    ['POST', '/v1/constructor', 'application/json', '{}'],
    ['PATCH', '/v1/webhooks', 'application/json', '{}'],
    ['POST', '/v1/webhooks', 'text/xml', '<a/>'],
    ['POST', '/v1/webhooks', 'application/json', `{"url":"${'x'.repeat(70_000)}"}`],
    ['GET', '/v1/webhooks/%00', '', undefined],
    ['GET', '/v1/webhooks/%zz', '', undefined],
    ['GET', '/v1/events?after=1&after=__proto__&__proto__[x]=1', '', undefined],
    ['GET', `/v1/events?${'a=1&'.repeat(2_000)}`, '', undefined],
  ] as const) {
    const { headers } = sign(s.partner, {});
    const answer = await ask(s.server.baseUrl, path, {
      method,
      headers: { ...headers, ...(type === '' ? {} : { 'content-type': type }) },
      ...(body === undefined ? {} : { body }),
    });
    answeredInForm(`${method} ${path.slice(0, 60)}`, answer);
    assert.ok(answer.status >= 400 || path.startsWith('/v1/events'), `${path}: ${answer.status}`);
  }
});

const OPERATORS = {
  order: () => String(right.transactionId),
  customer: () => String(right.customerId),
  partner: () => '1',
  market: () => '1',
  reason: () => 'a test of broken input',
} as const;
/** Actions that remove the caller's own token, or every operator's access. */
const APART = new Set([
  'operator.disable',
  'operator.role',
  'operator.revoke-token',
  'self.revoke-token',
  'partner.suspend',
  'key.revoke',
  'kill-switch.set',
  'market.set',
]);
const actions = OPERATOR_API_ACTIONS.filter(({ name }) => !APART.has(name));

fuzz(
  'requests: operators',
  'every action and look answers in form, whatever a field is',
  350,
  fc.tuple(
    fc.nat(actions.length + READS.length - 1),
    fc.array(fc.tuple(fc.nat(20), nastyJson), { maxLength: 2 }),
    fc.option(nasty, { nil: undefined, freq: 3 }),
    nasty,
  ),
  async ([at, changes, inPath, filler]) => {
    const action = actions[at];
    const { path, fields } = action ?? READS[at - actions.length] ?? assert.fail();
    const value = (name: string): unknown =>
      OPERATORS[name as keyof typeof OPERATORS]?.() ??
      exampleOf((fields as Record<string, { rule: string }>)[name]?.rule ?? '') ??
      filler;
    const inThePath = [...path.matchAll(/:([a-z]+)/gi)].map(([, name = '']) => name);
    const body: Record<string, unknown> = Object.fromEntries(
      [...Object.keys(fields), 'reason'].filter((name) => !inThePath.includes(name)).map((name) => [name, value(name)]),
    );
    const names = [...Object.keys(body), 'x', '__proto__'];
    for (const [which, other] of changes)
      Object.defineProperty(body, names[which % names.length] ?? '', {
        value: other,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    let address = path;
    for (const name of inThePath)
      address = address.replace(
        `:${name}`,
        encodeURIComponent(
          String(inPath ?? value(name))
            .toWellFormed()
            .slice(0, 300)
            // A client takes a segment of dots out of the path, and asks for another one.
            .replace(/^\.{1,2}$/, 'dots'),
        ),
      );
    if (action === undefined) {
      delete body.reason;
      const texts = Object.entries(body).flatMap(([name, one]) =>
        typeof one === 'string' ? [[name, one] as [string, string]] : [],
      );
      address = `${address}?${new URLSearchParams(texts)}`.slice(0, 12_000);
    }
    const answer = await (action === undefined ? chief.reads(address) : chief.sends(address, body));
    answeredInForm(`${action?.name ?? ''} ${path}`, { status: answer.status, text: JSON.stringify(answer.body) });
    if (answer.status >= 400)
      assert.equal(typeof (answer.body.reason ?? answer.body.code), 'string', JSON.stringify(answer.body));
  },
);

/** A value that satisfies a rule, by its words. */
function exampleOf(rule: string): unknown {
  if (/^one of (\S+?)(,|$)/.test(rule)) return /^one of (\S+?)(,|$)/.exec(rule)?.[1];
  if (/number of at most 18/.test(rule)) return '1';
  if (/whole number from (\d+)/.test(rule)) return /from (\d+)/.exec(rule)?.[1];
  if (rule.startsWith('true or false')) return 'true';
  if (/an amount/.test(rule)) return '1';
  if (/a time such/.test(rule)) return '2030-01-01T00:00:00Z';
  if (/a network|an address/.test(rule)) return '203.0.113.0/24';
  if (/JSON object/.test(rule)) return { then: 'hold' };
  return undefined;
}
