/** Personal data is in no dump of the database, and an encrypted value decrypts only in its own row. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { openFolder } from '../src/base/blobs.ts';
import { describeError } from '../src/base/log.ts';
import { openScreener, record, replaceDenyList } from '../src/compliance/index.ts';
import * as customers from '../src/customers/index.ts';
import { createKey, createPartner, openPartners, rotateKey, upsertAsset } from '../src/partners/index.ts';
import { findInDump } from './support/dump.ts';
import { type Fixture, freshFixture } from './support/fixture.ts';
import { freshFolder } from './support/folder.ts';
import { jpeg } from './support/pictures.ts';
import { fiat } from './support/terms.ts';

const GIVEN = {
  phone: '+91-98765-43210',
  otherPhone: '+44 7700 900461',
  email: 'Zebulon.Quagmire@fjordmail.example',
  holder: 'Zebulon Quagmire-Ōtaki',
  documentName: 'Zebulonius',
  account: '50100 2837 4651 90',
  ifsc: 'HDFC0ZQ4711',
  iban: 'DE89 3704 0044 0532 0130 00',
  deniedAccount: 'GB33BUKB20201555555555',
};

let fixture: Fixture;
let admin: Client;
let partnerId = 0n;
let first: customers.Customer;
let second: customers.Customer;
let accounts: customers.FiatAccount[];
let keys: { apiKey: string; apiSecret: string }[];
let rotated: { apiSecret: string };

before(async () => {
  fixture = await freshFixture();
  const { db, vault } = fixture;
  const now = fixture.clock.now();
  admin = new Client({ connectionString: fixture.adminUrl, options: '-c search_path=cloverleaf' });
  await admin.connect();
  await db.asSystem(async (tx) => {
    await upsertAsset(tx, fiat('inr'));
    partnerId = (await createPartner(tx, { name: 'Encrypted', now })).id;
    keys = [
      await createKey(tx, vault, { partnerId, label: 'one', scopes: ['read'], now }),
      await createKey(tx, vault, { partnerId, label: 'two', scopes: ['read'], now }),
    ];
    rotated = await rotateKey(tx, vault, { key: keys[0]?.apiKey ?? '', now });
    await replaceDenyList(tx, vault, {
      list: 'test',
      version: '1',
      destinations: [{ kind: 'account', value: GIVEN.deniedAccount }],
      now,
    });
  });
  await db.asPartner(partnerId, async (tx) => {
    const enroll = (clientCustomerId: string, phone: string) =>
      customers.enroll(tx, vault, { partnerId, clientCustomerId, phone, email: GIVEN.email, kind: 'INDIVIDUAL', now });
    first = await enroll('1', GIVEN.phone);
    second = await enroll('2', '+91 90000 00002');
    await customers.updateContact(tx, vault, second.id, { phone: GIVEN.otherPhone, now });
    await customers.saveDetails(tx, vault, { customer: second, details: { country: 'IN' }, now });
    const names = { firstName: GIVEN.documentName, lastName: 'Quagmire' };
    const read = { customerId: second.id, version: 1 };
    await customers.keepReadNames(tx, vault, { ...read, names });
    const finding = { outcome: 'verified', level: 1 } as const;
    await customers.recordFinding(tx, { ...read, verifier: 'simulated', finding, now });
    await customers.recordLogin(tx, first.id, now);
    await customers.recordVerification(tx, {
      customer: first,
      verifier: 'simulated',
      outcome: 'verified',
      level: 2,
      now,
    });
    const add = (customer: customers.Customer, details: Record<string, string>) =>
      customers.addFiatAccount(tx, vault, { customer, fiat: 'inr', details, now: new Date() });
    accounts = [
      await add(first, { account: GIVEN.account, ifsc: GIVEN.ifsc, holder: GIVEN.holder }),
      await add(second, { iban: GIVEN.iban, holder: GIVEN.holder }),
      await add(second, { iban: GIVEN.deniedAccount, holder: GIVEN.holder }),
    ];
  });
});

after(async () => {
  await admin?.end();
  await fixture?.stop();
});

const screened = (customer: customers.Customer, fiatAccountId: bigint) =>
  openScreener(fixture).screen({
    id: 1n,
    partnerId,
    customerId: customer.id,
    merchantReference: null,
    fiatAccountId,
    payoutAddress: null,
  });

test('nothing of a submission, its people and its files is in a dump, nor in the folder of files', async () => {
  const { db, vault } = fixture;
  const now = fixture.clock.now();
  const folder = freshFolder('encrypted-documents');
  const name = 'Xanthippe Vrblova';
  const content = jpeg({ more: [[0xfe, Buffer.from(name)]] });
  const owner = { firstName: 'Xanthippe', lastName: 'Vrblova', share: '51' };
  const given = { answers: { identityNumber: 'QZX77W1', firstName: 'Xanthippe' }, owners: [owner] };
  await db.asPartner(partnerId, async (tx) => {
    const contact = { phone: '+91 90000 00003', kind: 'BUSINESS', now } as const;
    const business = await customers.enroll(tx, vault, { partnerId, clientCustomerId: '3', ...contact });
    const key = await customers.customerKey(tx, vault, business, now);
    const sentDigest = createHash('sha256').update(content).digest('hex');
    const file = { slot: 'selfie.jpg', type: 'image/jpeg', content, sentDigest } as const;
    const files = await customers.storeFiles(openFolder(folder), vault, {
      customerId: business.id,
      key,
      files: [file],
    });
    const form = await customers.formFor(tx, { kind: 'BUSINESS' }, now);
    await customers.submit(tx, vault, {
      customerId: business.id,
      form,
      given: { ...given, files },
      inParts: true,
      now,
    });
  });
  const digest = createHash('sha256').update(content).digest('hex');
  assert.deepEqual(await findInDump(fixture.adminUrl, ['Xanthippe', 'Vrblova', 'QZX77W1', digest]), []);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((one) => one.length > 2);
  assert.equal(names.length, 1);
  const bytes = readFileSync(join(folder, names[0] ?? ''));
  for (const clear of [name, 'JFIF', 'selfie'])
    assert.ok(!bytes.includes(clear) && !names.join().includes(clear), clear);
});

test('nothing that names a person, and no secret, is in a dump of the database', async () => {
  const verdict = await screened(second, accounts[2]?.id ?? 0n);
  assert.equal(verdict.outcome, 'held', 'the denied account is not found by its blind index');
  await fixture.db.asSystem((tx) => record(tx, { partnerId, about: 'payout', ...verdict, now: fixture.clock.now() }));

  const secrets = [...keys.map(({ apiSecret }) => apiSecret), rotated.apiSecret];
  const words = [
    ...Object.values(GIVEN),
    ...secrets,
    'Quagmire',
    'fjordmail',
    '9876543210',
    '7700900461',
    '50100283746519',
  ];
  assert.deepEqual(await findInDump(fixture.adminUrl, words), []);
});

test('the search finds existing values, in text and inside bytes', async () => {
  const words = ['Encrypted', first.id, 'two'];
  const found = await findInDump(fixture.adminUrl, words);
  for (const word of words)
    assert.ok(
      found.some((one) => one.word === word),
      word,
    );
  await admin.query('create table cloverleaf.leak (a bytea, b text)');
  try {
    for (const ahead of ['', 'x', 'xy']) {
      await admin.query('insert into cloverleaf.leak values ($1, $2)', [
        Buffer.from(`${ahead}Quagmire`),
        Buffer.from(`${ahead}Quagmire`).toString('base64'),
      ]);
    }
    const leaks = await findInDump(fixture.adminUrl, ['Quagmire']);
    assert.deepEqual([...new Set(leaks.map(({ how }) => how))].toSorted(), [
      'base64 after 0',
      'base64 after 1',
      'base64 after 2',
      'hex',
    ]);
  } finally {
    await admin.query('drop table cloverleaf.leak');
  }
});

test('an encrypted value decrypts to the original', async () => {
  const { db, vault } = fixture;
  await db.asPartner(partnerId, async (tx) => {
    assert.deepEqual(await customers.openContact(tx, vault, first.id), { phone: GIVEN.phone, email: GIVEN.email });
    assert.deepEqual(await customers.openContact(tx, vault, second.id), {
      phone: GIVEN.otherPhone,
      email: GIVEN.email,
    });
    const opened = await customers.openFiatAccount(tx, vault, accounts[0]?.id ?? 0n);
    assert.deepEqual(opened.details, { account: GIVEN.account, ifsc: GIVEN.ifsc, holder: GIVEN.holder });
  });
  const credential = await openPartners(fixture).credential(keys[0]?.apiKey ?? '');
  assert.deepEqual(credential?.secrets, [keys[0]?.apiSecret, rotated.apiSecret]);
});

test('the same phone of two partners does not look the same', async () => {
  const { db, vault } = fixture;
  const now = fixture.clock.now();
  const other = await db.asSystem((tx) => createPartner(tx, { name: 'Other', now }));
  await db.asPartner(other.id, (tx) =>
    customers.enroll(tx, vault, {
      partnerId: other.id,
      clientCustomerId: '1',
      phone: GIVEN.phone,
      kind: 'INDIVIDUAL',
      now,
    }),
  );
  const { rows } = await admin.query('select count(distinct phone_index) as distinct, count(*) as all from customers');
  assert.equal(rows[0].distinct, rows[0].all);
});

test('an encrypted value moved to another row does not open there', async () => {
  const { db, vault } = fixture;
  const [own, , denied] = accounts;
  await admin.query('update customers set phone = (select phone from customers where id = $1) where id = $2', [
    first.id,
    second.id,
  ]);
  await admin.query(
    'update fiat_accounts set details = (select details from fiat_accounts where id = $1) where id = $2',
    [own?.id, denied?.id],
  );
  await admin.query('update api_keys set secret = (select secret from api_keys where key = $1) where key = $2', [
    keys[0]?.apiKey,
    keys[1]?.apiKey,
  ]);
  const attempts = [
    () => db.asPartner(partnerId, (tx) => customers.openContact(tx, vault, second.id)),
    () => db.asPartner(partnerId, (tx) => customers.openFiatAccount(tx, vault, denied?.id ?? 0n)),
    () => openPartners(fixture).credential(keys[1]?.apiKey ?? ''),
  ];
  for (const attempt of attempts) {
    const error = await attempt().then<unknown, unknown>(
      () => assert.fail('it opened'),
      (reason) => reason,
    );
    const said = JSON.stringify(describeError(error));
    for (const word of Object.values(GIVEN)) assert.ok(!said.includes(word), 'the error contains the text');
  }
});
