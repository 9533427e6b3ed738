/**
 * The output of a server that logs as much as it can has no personal data: a person and a business from their enrolment to their
 * export, with every kind of money that carries a name, and requests that have personal data where it does not belong. Nor have its
 * database, files, metrics, backup and archived log.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { randomText } from '../../src/base/ids.ts';
import { runningPostgres } from '../../src/base/postgres.ts';
import { oneOrTwoDo, type Person, withToken } from '../protocols/operator/people.ts';
import { type Came, type Client, openClient } from '../support/client.ts';
import { findInDump, findInFiles, findInText } from '../support/dump.ts';
import { freshFolder } from '../support/folder.ts';
import { FIRM, LISTED, TYPED, WORDS, ZEBULONA } from '../support/persons.ts';
import { jpeg } from '../support/pictures.ts';
import { backedUp, freePort, type ServerProcess, startProcess } from '../support/process.ts';
import { until } from '../support/until.ts';
import { openV1, type V1Client } from '../support/v1.ts';

const PERSON = ZEBULONA;
const LIST = `<Designations><Designation><UniqueID>XXX0001</UniqueID><IndividualEntityShip>Individual</IndividualEntityShip>
  <Names><Name><Name1>${LISTED.first}</Name1><Name6>${LISTED.last}</Name6><NameType>Primary Name</NameType></Name></Names></Designation></Designations>`;

const dataDir = freshFolder('output');
const archive = join(freshFolder('output-archive'), 'wal');
let server: ServerProcess;
let metricsPort: number;
let api: V1Client;
let wire: Client;
let ada: Person;
let bea: Person;
let customerId: string;

before(async () => {
  const list = join(freshFolder('output-list'), 'uk.xml');
  writeFileSync(list, LIST);
  metricsPort = await freePort();
  const env = {
    ...{ LOG_LEVEL: 'debug', LOG_REQUESTS: '1', METRICS_PORT: String(metricsPort) },
    ...{ OPERATORS: 'two', SANCTIONS_LISTS: `uk=${list}`, WAL_ARCHIVE_DIR: archive },
  };
  server = await startProcess({ dataDir, port: 0, env });
  await seen('the sandbox is ready', async () => existsSync(join(dataDir, 'sandbox.json')));
  const { baseUrl, partners } = server.sandbox();
  const partner = partners[0] ?? assert.fail();
  api = openV1(baseUrl, partner);
  wire = openClient(baseUrl, partner);
  ada = withToken(baseUrl, readFileSync(join(dataDir, 'operator.token'), 'utf8').trim(), 'ada');
  const token = `clo_${randomText(43)}`;
  const tokenSha256 = createHash('sha256').update(token).digest('hex');
  const made = await ada.does('/operators', { operator: 'bea', role: 'admin', tokenSha256 });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  bea = withToken(baseUrl, token, 'bea');
  await seen('the list is read', async () => (await ada.reads('/sanctions/lists')).body.lists.length === 1);
});
after(async () => {
  await server?.interrupt();
});

const seen = <T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> =>
  until(what, look, { withinMs: 40_000, everyMs: 100, more: () => server.output().slice(-2_000) });
const agree = (path: string, body: Record<string, unknown> = {}) => oneOrTwoDo(ada, bea, path, body);
const isVerified = (id: string) => async (): Promise<boolean> =>
  (await api.does('GET', `/customers/${id}`)).verification === 'verified';
const ADDRESS = { city: 'Pune', postalCode: '411001' };

/** Nothing of it is in what the server has written, and it has written something. */
function assertSilent(about: RegExp): void {
  assert.match(server.output(), about);
  assert.deepEqual(findInText(server.output(), WORDS), []);
}

test('of a person: enrolment, answers, files, an account, a sale, a refund to that account', async () => {
  const { reference, phone, email, firstName, lastName, dob, identityNumber, accountNumber } = PERSON;
  customerId = (await api.does('POST', '/customers', { reference, kind: 'individual', phone, email })).id;
  const answers = { firstName, lastName, dob, identityNumber, addressLine1: PERSON.addressLine, ...ADDRESS };
  const begun = await api.does('POST', `/customers/${customerId}/submissions`, { asset: 'inr', answers });
  const picture = jpeg({ more: [[0xfe, Buffer.from(PERSON.inDocument)]] });
  const files = { 'passportFront.jpg': picture, 'passportBack.jpg': picture, 'selfie.jpg': picture };
  const sent = await api.upload(`/customers/${customerId}/submissions/${begun.id}/files`, files);
  assert.equal(sent.status, 200, sent.text);
  await seen('the person is verified', isVerified(customerId));
  // This control also logs the customer in.
  await wire.post('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' });
  const account = await api.does('POST', `/customers/${customerId}/destinations`, {
    ...{ kind: 'account', asset: 'inr', accountNumber, ifsc: 'HDFC0000001' },
  });
  const sale = await orders({ payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '50' }, account.id);
  await api.does('POST', `/sandbox/orders/${sale.id}/pay`, {});
  await seen('it is settled', async () => (await api.does('GET', `/orders/${sale.id}`)).state === 'settled');

  const address = `0x${randomHexOf(20)}`;
  const wallet = await api.does('POST', `/customers/${customerId}/destinations`, {
    ...{ kind: 'address', chain: 'matic20', address },
  });
  const bought = await orders({ payAsset: 'inr', receiveAsset: 'usdc.matic20', payAmount: '5000' }, wallet.id);
  await api.does('POST', `/orders/${bought.id}/cancel`);
  await api.does('POST', `/sandbox/orders/${bought.id}/credit`, { amount: '5000' });
  const deposit = await seen('the credit is in suspense', async () => {
    const { data } = await api.does('GET', `/orders/${bought.id}/deposits`);
    return data[0]?.state === 'suspense' && data[0];
  });
  await api.does('POST', `/orders/${bought.id}/refund`, { depositId: deposit.id, destinationId: account.id });
  await seen('it is refunded', async () => {
    const { data } = await api.does('GET', `/orders/${bought.id}/refunds`);
    return data[0]?.state === 'settled';
  });
  assertSilent(/"path":"\/v1\/customers\/:customer\/destinations"/);
});
const orders = async (asked: Record<string, string>, destinationId: string): Promise<Came> => {
  const quote = await api.does('POST', '/quotes', asked);
  return await api.does('POST', '/orders', { quoteId: quote.id, customerId, destinationId });
};
const randomHexOf = (bytes: number): string =>
  createHash('sha256')
    .update('a wallet')
    .digest('hex')
    .slice(0, 2 * bytes);

test('of a business with its people, and of a customer whose name is on a sanctions list', async () => {
  const { entityName, phone, owner, ownerDob, director, identityNumber } = FIRM;
  const firm = await api.does('POST', '/customers', { reference: 'firm-1', kind: 'business', phone });
  const answers = { firstName: owner, secondSurname: director, dob: ownerDob, sourceOfFunds: 'salary', sex: 'female' };
  const asked = { answers: { identityNumber, ...answers, addressLine1: PERSON.addressLine, ...ADDRESS }, entityName };
  const owners = [{ firstName: owner, lastName: director, share: '60', dob: ownerDob }];
  const directors = [{ firstName: LISTED.first, lastName: LISTED.last }];
  await api.does('POST', `/customers/${firm.id}/submissions`, { ...asked, owners, directors });
  await seen('the business is verified', isVerified(firm.id));
  const hit = await seen('the director is a hit', async () => {
    const { hits } = (await ada.reads('/sanctions/hits')).body;
    return hits.find((one: Came) => one.customerId === firm.id);
  });
  const opened = await agree(`/sanctions/hits/${hit.hit ?? hit.id}/open`);
  assert.equal(opened.status, 200, JSON.stringify(opened.body));
  assertSilent(/"path":"\/operator\/v1\/sanctions\/hits/);
});

test('of travel rule data, notes, questions with their answers, reviews and an export', async () => {
  const rule = { jurisdiction: '*', fiat: 'inr', threshold: '0', deadlineHours: 24, policy: 'hold' };
  assert.equal((await agree('/travel-rules', rule)).status, 200);
  const address = `0x${'5a'.repeat(20)}`;
  const wallet = await api.does('POST', `/customers/${customerId}/destinations`, {
    ...{ kind: 'address', chain: 'matic20', address },
  });
  const bought = await orders({ payAsset: 'inr', receiveAsset: 'usdc.matic20', payAmount: '5000' }, wallet.id);
  const named = await api.post(`/orders/${bought.id}/wallets`, {
    ...{ address, kind: 'hosted', owner: 'other', ownerName: TYPED.walletOwner, provider: TYPED.walletOwner },
  });
  assert.equal(named.status, 200, named.text);
  await api.does('POST', `/sandbox/orders/${bought.id}/pay`, {});
  await seen('its record is kept', async () => {
    const shown = (await agree(`/orders/${bought.id}/travel-rule`)).body;
    return JSON.stringify(shown).includes(TYPED.walletOwner);
  });
  const asks = await agree(`/customers/${customerId}/questions`, { question: TYPED.question, days: 7 });
  assert.equal(asks.status, 200, JSON.stringify(asks.body));
  const [request] = (await api.does('GET', '/information-requests')).data;
  await api.does('POST', `/customers/${customerId}/information-requests/${request.id}/answer`, {
    answer: TYPED.answer,
  });
  const found = await seen('the answer is a case', async () => (await ada.reads('/cases')).body.cases[0]);
  const noted = await ada.does(`/cases/${found.id}/note`, { reason: TYPED.note });
  assert.equal(noted.status, 200, JSON.stringify(noted.body));
  for (const path of ['review/open', 'export', 'questions/open']) {
    const said = await agree(`/customers/${customerId}/${path}`);
    assert.equal(said.status, 200, `${path}: ${JSON.stringify(said.body).slice(0, 300)}`);
  }
  assertSilent(/"path":"\/operator\/v1\/customers\/:customer\/export"/);
});

test('of requests that have personal data where it does not belong', async () => {
  const { baseUrl } = server.sandbox();
  const { misplaced, misplacedIban } = TYPED;
  const encoded = encodeURIComponent(misplaced);
  const headers = {
    'x-name': encoded,
    'user-agent': misplaced,
    referer: `${baseUrl}/${encoded}`,
    'x-request-id': misplacedIban,
    'idempotency-key': misplaced,
    authorization: `Bearer ${misplacedIban}`,
    cookie: `name=${encoded}`,
  };
  const wl = '/onramp/api/v2/whiteLabel';
  const paths = [
    ...['/v1/customers/', `/v1/orders?reference=`, '/v1/', `${wl}/kyb/`, `${wl}/kyb/requirements?country=`],
    ...['/kyc/', '/operator/v1/customers/', '/operator/v1/cases?kind=', '/console/', '/partner/', '/docs/', '/'],
    ...['/verifiers/persona/callback?name=', '/travel/', '/team/v1/'],
  ].map((path) => `${path}${encoded}`);
  const bodies = [
    `{"name": "${misplaced}"`,
    `{"reference": "${misplaced}", "phone": "${misplacedIban}", "kind": "${misplaced}"}`,
    `name=${encoded}&%%%`,
    Buffer.from(misplaced).toString('base64'),
    `--x\r\ncontent-disposition: form-data; name="${misplaced}"; filename="${misplaced}"\r\n\r\n${misplaced}`,
  ];
  const types = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', misplaced];
  for (const path of [...paths, '/v1/customers', `${wl}/kyb/submit`, `${wl}/kyc/url`, '/operator/v1/operators'])
    for (const [at, body] of [undefined, ...bodies].entries()) {
      const type = { 'content-type': types[at % types.length] ?? '' };
      const asked = body === undefined ? { headers } : { method: 'POST', headers: { ...headers, ...type }, body };
      const { status } = await fetch(`${baseUrl}${path}`, { ...asked, redirect: 'manual' });
      assert.ok(status < 500, `${path} answered ${status}`);
    }
  // With a right key too: the values reach the fields.
  for (const body of [
    { reference: misplaced, kind: misplaced, phone: misplaced },
    { reference: misplaced, kind: 'individual', phone: '+91-9876500001', email: misplacedIban, [misplaced]: misplaced },
  ])
    assert.equal((await api.post('/customers', body)).status, 400);
  const answers = { [misplaced]: misplaced, dob: misplaced, firstName: ` ${misplaced}` };
  assert.equal((await api.post(`/customers/${customerId}/submissions`, { answers })).status, 400);
  for (const path of ['kyb/submit', 'kyc/submit', 'kyc/url', 'bank/addFiatAccount', 'offramp/createTransaction'])
    await wire.post(path, { customerId: misplaced, fiatType: misplaced, [encoded]: misplaced, details: misplaced });
  assert.ok((await ada.reads(`/customers/${encoded}`)).status >= 400);
  for (const raw of [
    `GET /${misplaced} HTTP/1.1\r\nhost: x\r\n\r\n`,
    `${misplaced} / HTTP/1.1\r\nhost: x\r\n\r\n`,
    `POST /v1/customers HTTP/1.1\r\nhost: ${misplaced}\r\ncontent-length: 400\r\n\r\n{"name": "${misplaced}`,
    `GET /%zz${encoded} HTTP/1.1\r\nhost: x\r\n\r\n`,
  ])
    await says(new URL(baseUrl).port, raw);
  assertSilent(/"status":400/);
  // Neither the log of requests in the database has them, nor a label of the metrics.
  await api.does('GET', `/customers/${customerId}`);
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  assert.match(metrics, /^cloverleaf_/m);
  assert.deepEqual(findInText(metrics, WORDS), []);
  const found = await findInDump(runningPostgres(dataDir) ?? '', WORDS);
  // The bank that the sandbox plays knows its own customers, and a list of sanctions is public.
  const isOwn = ({ table }: { table: string }) => !/^simulated_bank\.|\.sanctions_entries$/.test(table);
  assert.deepEqual([...new Set(found.filter(isOwn).map(({ table, word }) => `${table}: ${word}`))], []);
  others = new Set(found.map(({ word }) => word));
});

/** What the bank and the list of sanctions have in clear, and so the files of the database that they are in. */
let others: ReadonlySet<string>;

test('of the files: those of customers, a backup and the archived log, as stored', async () => {
  const { accountNumber, firstName, lastName } = PERSON;
  const { first, last } = LISTED;
  assert.deepEqual([...others].toSorted(), [accountNumber, firstName, lastName, first, last].toSorted());
  const taken = await backedUp(dataDir, freshFolder('output-backups'));
  const words = WORDS.filter((word) => !others.has(word));
  for (const folder of [taken, archive]) {
    assert.notDeepEqual(
      findInFiles(folder, [customerId]),
      [],
      `the search does not find what is in clear in ${folder}`,
    );
    assert.deepEqual(findInFiles(folder, words), []);
  }
  // Without the database: the bank's and the list's words are not in these.
  assert.deepEqual(findInFiles(join(taken, 'documents'), WORDS), []);
  assert.deepEqual(findInFiles(join(dataDir, 'documents'), WORDS), []);
});

/** Sends bytes and ends the connection in the middle of the request. */
const says = (port: string, raw: string): Promise<void> =>
  new Promise((done) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.end(raw));
    socket.on('error', () => done());
    socket.on('close', () => done());
    socket.resume();
  });

test('the search finds what is in the output, also encoded for a URL', () => {
  assert.ok(findInText(server.output(), ['127.0.0.1']).length > 0 || server.output().includes('is ready'));
  for (const text of [TYPED.note, encodeURIComponent(TYPED.note), encodeURIComponent(FIRM.director)])
    assert.ok(findInText(text, WORDS).length > 0, text);
  assert.ok(findInText(TYPED.note.replaceAll(' ', '+'), [TYPED.note]).length > 0);
});
