/**
 * What is stored outside the tables, or leaves the machine, has no personal data in clear: backups and the archived log, as stored
 * and restored; files of customers; the server's output; metrics. Real commands against a server process.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { restoreBackup } from '../../src/backup/index.ts';
import { randomText } from '../../src/base/ids.ts';
import { runningPostgres, startPostgres } from '../../src/base/postgres.ts';
import { type Person, withToken } from '../protocols/operator/people.ts';
import { type Came, openClient } from '../support/client.ts';
import { findInDump, findInFiles, findInText } from '../support/dump.ts';
import { freshFolder } from '../support/folder.ts';
import { type Given, WORDS, XANTHIPPE, ZEBULONA } from '../support/persons.ts';
import { jpeg, pdf } from '../support/pictures.ts';
import { backedUp, completed, freePort, type ServerProcess, startProcess } from '../support/process.ts';
import { until } from '../support/until.ts';
import { openV1, type V1Client } from '../support/v1.ts';

const dataDir = freshFolder('personal');
const archive = join(freshFolder('personal-archive'), 'wal');
const backups = freshFolder('personal-backups');

const [GONE, STAYS] = [ZEBULONA, XANTHIPPE];

let server: ServerProcess;
let metricsPort: number;
let api: V1Client;
let ada: Person;
let bea: Person;
const ids = { gone: '', stays: '' };

before(async () => {
  metricsPort = await freePort();
  const env = {
    WAL_ARCHIVE_DIR: archive,
    METRICS_PORT: String(metricsPort),
    LOG_LEVEL: 'debug',
    OPERATORS: 'two',
    BACKUPS_KEPT_DAYS: '90',
  };
  server = await startProcess({ dataDir, port: 0, env });
  await seen('the sandbox is ready', async () => existsSync(join(dataDir, 'sandbox.json')));
  const { baseUrl, partners } = server.sandbox();
  api = openV1(baseUrl, partners[0] ?? assert.fail());
  ada = withToken(baseUrl, readFileSync(join(dataDir, 'operator.token'), 'utf8').trim(), 'ada');
  const token = `clo_${randomText(43)}`;
  const tokenSha256 = createHash('sha256').update(token).digest('hex');
  const made = await ada.does('/operators', { operator: 'bea', role: 'admin', tokenSha256 });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  bea = withToken(baseUrl, token, 'bea');
  ids.gone = await verifiedWith(GONE);
  await accountOf(ids.gone, GONE.accountNumber);
  ids.stays = await verifiedWith(STAYS);
});
after(async () => {
  await server?.interrupt();
});

const seen = <T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> =>
  until(what, look, { withinMs: 30_000, everyMs: 100, more: () => server.output().slice(-2_000) });

/** A customer who has given everything, with a picture of a document. */
async function verifiedWith(given: Given): Promise<string> {
  const { reference, phone, email, firstName, lastName, dob, identityNumber, addressLine, inDocument } = given;
  const { id } = await api.does('POST', '/customers', { reference, kind: 'individual', phone, email });
  const address = { addressLine1: `1 ${addressLine}`, city: 'Pune', postalCode: '411001' };
  const begun = await api.does('POST', `/customers/${id}/submissions`, {
    asset: 'inr',
    answers: { firstName, lastName, dob, identityNumber, ...address },
  });
  const picture = jpeg({ more: [[0xfe, Buffer.from(inDocument)]] });
  // A picture is encoded again, without its texts; a document is kept byte for byte.
  const scan = pdf(`1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n3 0 obj\n(${inDocument})\nendobj\n`);
  const files = { 'passportFront.jpg': picture, 'passportBack.jpg': scan, 'selfie.jpg': picture };
  const sent = await api.upload(`/customers/${id}/submissions/${begun.id}/files`, files);
  assert.equal(sent.status, 200, sent.text);
  await seen(`${id} is verified`, async () => {
    const customer = await api.does('GET', `/customers/${id}`);
    return customer.verification === 'verified' && customer;
  });
  // This control also logs the customer in.
  const { baseUrl, partners } = server.sandbox();
  const wire = openClient(baseUrl, partners[0] ?? assert.fail());
  const passed = await wire.post('test/changeKycStatus', { customerId: id, status: 'ADVANCE_KYC_COMPLETED' });
  assert.equal(passed.status, 200, passed.text);
  return id;
}
/** The customer sells at once, and is paid at the bank account. */
async function sells(customerId: string, { accountNumber }: Given): Promise<void> {
  const destination = await accountOf(customerId, accountNumber);
  const quote = await api.does('POST', '/quotes', {
    ...{ payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '50' },
  });
  const order = await api.does('POST', '/orders', { quoteId: quote.id, customerId, destinationId: destination.id });
  await api.does('POST', `/sandbox/orders/${order.id}/pay`, {});
  await seen('the sale is settled', async () => (await api.does('GET', `/orders/${order.id}`)).state === 'settled');
}
const accountOf = (id: string, accountNumber: string): Promise<Came> =>
  api.does('POST', `/customers/${id}/destinations`, {
    ...{ kind: 'account', asset: 'inr', accountNumber, ifsc: 'HDFC0000001' },
  });

const backup = (): Promise<string> => backedUp(dataDir, backups);

/** Restores a backup beside the running server, and runs `body` on its database. */
async function restored<T>(from: string, body: (adminUrl: string) => Promise<T>): Promise<T> {
  const into = freshFolder('personal-restored');
  await restoreBackup({ backup: from, dataDir: into, replace: false, now: new Date() });
  const postgres = await startPostgres({ dataDir: into, fast: true });
  try {
    return await body(postgres.adminUrl);
  } finally {
    await postgres.stop();
  }
}

async function metrics(): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  assert.equal(response.status, 200);
  return await response.text();
}

/** The bank that the sandbox plays knows its own customers. */
const ours = (found: readonly { table: string }[]) => found.filter(({ table }) => !table.startsWith('simulated_bank.'));

test('a backup, as stored, has no personal data in clear', async () => {
  const taken = await backup();
  const control = findInFiles(taken, [ids.gone, ids.stays, 'INDIVIDUAL']);
  assert.equal(new Set(control.map(({ word }) => word)).size, 3, 'the search does not find what is in clear');
  assert.deepEqual(findInFiles(taken, WORDS), []);
  assert.deepEqual(findInFiles(archive, WORDS), []);
});

test('after a sale neither the server’s output, nor metrics, nor a backup, as restored, have personal data in clear', async () => {
  await sells(ids.stays, STAYS);
  assert.notEqual(server.output(), '');
  assert.deepEqual(findInText(server.output(), WORDS), []);
  const told = await metrics();
  assert.match(told, /^cloverleaf_/m);
  assert.deepEqual(findInText(told, WORDS), []);
  const found = await restored(await backup(), (adminUrl) => findInDump(adminUrl, WORDS));
  assert.ok(found.length > ours(found).length, 'the search does not find what the bank keeps');
  assert.deepEqual(ours(found), []);
});

/** Every value that is stored encrypted about the customer, as hex. */
async function encryptedOf(id: string): Promise<string[]> {
  const { rows } = await on(
    runningPostgres(dataDir),
    `select encode(bytes, 'hex') as hex from (
       select unnest(array[phone, email]) as bytes from cloverleaf.customers where id = $1
       union all select wrapped from cloverleaf.customer_keys where customer_id = $1
       union all select details from cloverleaf.customer_details where customer_id = $1
       union all select answers from cloverleaf.submissions where customer_id = $1
       union all select details from cloverleaf.fiat_accounts where customer_id = $1) as stored
     where length(bytes) > 0`,
    [id],
  );
  return rows.map(({ hex }) => String(hex));
}
async function on(url: string | undefined, text: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query<Record<string, unknown>>(text, values);
  } finally {
    await client.end();
  }
}

test('after an erasure no backup restores the customer’s data, and after npm run compact none has its bytes; others are whole', async () => {
  // The planner's statistics have samples of the values.
  await on(runningPostgres(dataDir), 'analyze');
  const [gone, stays] = [await encryptedOf(ids.gone), await encryptedOf(ids.stays)];
  assert.deepEqual([gone.length, stays.length], [ENCRYPTED, ENCRYPTED]);
  const proposed = await ada.does(`/customers/${ids.gone}/erase`);
  assert.equal(proposed.status, 202, JSON.stringify(proposed.body));
  const done = await bea.does(`/proposals/${proposed.body.proposal}/confirm`);
  const { erasedAt, backupsEndAt } = done.body.after;
  assert.equal(Date.parse(backupsEndAt) - Date.parse(erasedAt), 90 * 86_400_000);

  const taken = await backup();
  const left = await restored(taken, (adminUrl) => findInDump(adminUrl, [...gone, ...stays]));
  assert.deepEqual(wordsAmong(left, gone), []);
  assert.deepEqual(wordsAmong(left, stays), stays.toSorted());
  const files = (id: string) =>
    on(runningPostgres(dataDir), 'select id from cloverleaf.submission_files where customer_id = $1', [id]);
  const [ofGone, ofStays] = [(await files(ids.gone)).rows, (await files(ids.stays)).rows];
  assert.deepEqual([ofGone.length, ofStays.length], [0, 3]);
  assert.equal(readdirSync(join(taken, 'documents'), { recursive: true }).filter((one) => one.length > 30).length, 3);

  // PostgreSQL leaves the bytes of deleted rows in its files until it needs the place.
  assert.notDeepEqual(bytesAmong(taken, gone), [], 'nothing was left to remove');
  assert.match(
    await completed(['server/src/apps/compact.ts'], { DATA_DIR: dataDir, LOG_LEVEL: 'debug' }),
    /  customers: locked for at most \d+\.\d s, .* tables are rewritten/s,
  );
  const clean = await backup();
  assert.deepEqual(bytesAmong(clean, gone), []);
  assert.deepEqual(bytesAmong(clean, stays), stays.toSorted());
  assert.deepEqual(findInText(server.output() + (await metrics()), WORDS), []);
});

/** Phone, e-mail, key, details, answers and an account. */
const ENCRYPTED = 6;
const wordsAmong = (found: readonly { word: string }[], words: readonly string[]): string[] =>
  [...new Set(found.map(({ word }) => word))].filter((word) => words.includes(word)).toSorted();

/** Which of these values, given as hex, any file of the backup contains. */
function bytesAmong(folder: string, values: readonly string[]): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const has = new Set(
    files.flatMap((entry) => {
      const bytes = readFileSync(join(entry.parentPath, entry.name));
      return values.filter((hex) => bytes.includes(Buffer.from(hex, 'hex')));
    }),
  );
  return [...has].toSorted();
}
