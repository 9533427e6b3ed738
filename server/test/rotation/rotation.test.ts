/**
 * Exchange of the master key: killed at any point it loses nothing, servers read and look up meanwhile, and at its end the new key
 * alone reads everything.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { openFolder } from '../../src/base/blobs.ts';
import { openVault, type Vault } from '../../src/base/crypto.ts';
import { type Database, openDatabase, txOn } from '../../src/base/db.ts';
import { migrateFor } from '../../src/base/migrate.ts';
import { joinServers } from '../../src/base/servers.ts';
import { encryptTyped, encryptTypedSame, openTyped } from '../../src/base/typed.ts';
import {
  attachFile,
  decideHit,
  listCases,
  listHits,
  openCase,
  openHit,
  openSanctions,
  RULES_VERSION,
  readAttachment,
  replaceDenyList,
  replayDecision,
  type Screening,
  screenOwn,
  storeAttachment,
} from '../../src/compliance/index.ts';
import type { ListCode, ListEntry } from '../../src/compliance/sanctions/entry.ts';
import { takeList } from '../../src/compliance/sanctions/lists.ts';
import { keepCompared } from '../../src/customers/compared-documents.ts';
import * as customers from '../../src/customers/index.ts';
import {
  createOperator,
  recordByMachine,
  saveView,
  sealAudit,
  verifyAudit,
  viewsOf,
} from '../../src/operators/index.ts';
import { createKey, createPartner, openPartners, upsertAsset } from '../../src/partners/index.ts';
import { indexPayers, indexTexts, payerIndexes, payerNumber, textIndexes } from '../../src/rails/bank.ts';
import { noteRotation, rotate } from '../../src/rotation/index.ts';
import { OTHER_BYTES, PARTS } from '../../src/rotation/parts.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { freshFolder } from '../support/folder.ts';
import { fiat } from '../support/terms.ts';
import { until } from '../support/until.ts';

const OLD = createHash('sha256').update('a master key for tests').digest();
const NEW = createHash('sha256').update('the next master key for tests').digest();
const PROGRAM = fileURLToPath(new URL('../../src/apps/rotate.ts', import.meta.url));
const MANY = 40;
/** Each customer has the documents of one other. */
const PAIRS = MANY / 2;
const SAID = 'Mrs Zenobia Quagmire called';

let fixture: Fixture;
let owner: Client;
let partnerId = 0n;
let apiKey = '';
let apiSecret = '';
let first = '';
let operatorId: bigint;
let auditSeal: { number: bigint; hash: string };
let attachment: { caseId: bigint; id: string };
const blobs = openFolder(freshFolder('attachments'));
const LETTER = Buffer.from('Letter to Zebulon Quagmire');
const both = openVault(NEW, OLD);
const alone = openVault(NEW);

const phoneOf = (n: number): string => `+91 98765 ${String(43_210 + n)}`;
const details = { account: '50100283746519', ifsc: 'HDFC0ZQ4711', holder: 'Zebulon Quagmire' };

before(async () => {
  fixture = await freshFixture();
  const { db, vault } = fixture;
  const now = fixture.clock.now();
  owner = new Client({ connectionString: fixture.adminUrl, options: '-c search_path=cloverleaf' });
  await owner.connect();
  await db.asSystem(async (tx) => {
    await upsertAsset(tx, fiat('inr'));
    partnerId = (await createPartner(tx, { name: 'Rotated', now })).id;
    ({ apiKey, apiSecret } = await createKey(tx, vault, { partnerId, label: 'one', scopes: ['read'], now }));
    for (let n = 0; n < MANY; n += 1)
      await recordByMachine(tx, { action: 'a.test', subject: `s:${n}`, reason: encryptTyped(vault, SAID), now });
    const destinations = [{ kind: 'account' as const, value: 'GB33BUKB20201555555555' }];
    await replaceDenyList(tx, vault, { list: 'test', version: '1', destinations, now: new Date(0) });
    ({ id: operatorId } = await createOperator(tx, { name: 'ada', role: 'viewer', now }));
    await saveView(tx, vault, { operatorId, page: '/orders', ...viewUnder(vault), now });
  });
  await db.asPartner(partnerId, async (tx) => {
    for (let n = 0; n < MANY; n += 1) {
      const contact = { phone: phoneOf(n), email: `quagmire${n}@fjordmail.example`, kind: 'INDIVIDUAL', now } as const;
      const customer = await customers.enroll(tx, vault, { partnerId, clientCustomerId: `name ${n}`, ...contact });
      first ||= customer.id;
      await customers.addFiatAccount(tx, vault, { customer, fiat: 'inr', details, now: new Date(now.getTime() + n) });
      await customers.saveDetails(tx, vault, { customer, details: { firstName: `Zebulon ${n}` }, now });
      const names = { firstName: `Zebulon ${n}`, lastName: 'Quagmire' };
      await customers.keepReadNames(tx, vault, { customerId: customer.id, version: 1, names });
      for (const kind of ['file', 'number'] as const)
        await keepCompared(tx, vault, { customer, kind, values: [`${kind} of pair ${n % PAIRS}`], now });
      const about = { customerId: customer.id, version: 1, verifier: 'test', now };
      if (n > 0) await customers.recordFinding(tx, { ...about, finding: { outcome: 'verified', level: 1 } });
      await customers.customerKey(tx, vault, customer, now);
      await customers.recordLogin(tx, customer.id, now);
    }
  });
  await db.asSystem(async (tx) => {
    const dueAt = new Date(now.getTime() + 1_000);
    const asked = { customerId: first, question: QUESTION, dueAt, by: 'ada', now };
    const { id } = await customers.askInformation(tx, vault, asked);
    await customers.endInformation(tx, vault, { customerId: first, id, answer: ANSWER, now });
  });
  const file = await storeAttachment({ blobs, vault }, LETTER, 'ada');
  attachment = await db.asSystem(async (tx) => {
    await openCase(tx, { kind: 'on_hold', subject: 'order:1', reason: 'a test', now });
    const [found] = await listCases(tx, { open: true, limit: 1 });
    const caseId = found?.id ?? 0n;
    await attachFile(tx, { caseId, file, label: encryptTyped(vault, SAID), by: 'ada', now });
    return { caseId, id: file.id };
  });
  for (let n = 0; n < MANY; n += 1)
    await owner.query(
      `insert into bank_lines (rail, external_id, direction, asset, units, details, meaning, booked_at, read_at)
       values ('bank.test', $1, 'credit', 'inr', 1, $2, 'deposit', now(), now())`,
      [
        `line ${n}`,
        vault.encrypt(
          JSON.stringify({ account: details.account, text: 'Rent  May' }),
          `bank_lines.details:bank.test:line ${n}`,
        ),
      ],
    );
  assert.deepEqual(await indexPayers(db, vault), { count: MANY, isAll: true });
  assert.equal(await indexTexts(db, vault), MANY);
  await takes(db, vault, 'uk', 'XXX0001', 'Taras ORLENKOV');
  await compares(db, vault);
  await db.asSystem(async (tx) => {
    const [hit] = await listHits(tx, { state: 'open', after: 0n, limit: 5 });
    const decided = { outcome: 'false_positive', people: ['ada', 'bea'], reason: 'another person', now } as const;
    await decideHit(tx, { id: hit?.id ?? 0n, ...decided });
  });
  await until('the audit is sealed', async () => {
    await db.asSystem((tx) => sealAudit(tx, now));
    return (await owner.query('select from sealed_audit')).rowCount === MANY;
  });
  const { newest } = await db.asSystem((tx) => verifyAudit(tx, () => assert.fail('not as sealed'), now));
  assert.ok(newest);
  auditSeal = newest;
});

after(async () => {
  await owner?.end();
  await fixture?.stop();
});

const VIEW = { name: 'Quagmire', search: 'customer=Zebulon' };
const viewUnder = (vault: Vault) => ({
  name: encryptTypedSame(vault, VIEW.name),
  search: encryptTyped(vault, VIEW.search),
});

const runs = (): ChildProcess =>
  spawn(process.execPath, [PROGRAM, '--batch', '3'], {
    env: {
      ...process.env,
      ...{ PROFILE: 'sandbox', DATABASE_URL: fixture.adminUrl, DATA_DIR: freshFolder('rotation') },
      ...{ MASTER_KEY: NEW.toString('hex'), OLD_MASTER_KEY: OLD.toString('hex') },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
const rewritten = async (): Promise<number> =>
  Number((await owner.query('select coalesce(sum(rewritten), 0) as n from key_rotation_parts')).rows[0].n);

const PAYER = 'Taras Orlenkov';
const LISTED = '0x00000000000000000000000000000000000d1ced';
const DEPOSIT = 900n;
const QUESTION = 'Where does Zebulon work?';
const ANSWER = 'Quagmire and Sons';
const paid: Screening = {
  ...{ id: 1n, partnerId: null, customerId: null, merchantReference: null, fiatAccountId: null },
  ...{ payoutAddress: LISTED, depositIds: [DEPOSIT] },
};

async function takes(db: Database, vault: Vault, list: ListCode, id: string, name: string): Promise<void> {
  const names = [{ text: name, quality: 'strong', isPrimary: true } as const];
  const addresses = list === 'uk' ? [{ asset: 'ETH', address: LISTED }] : [];
  const about = { births: [], countries: [], identifiers: [], addresses };
  const entries = new Map<string, ListEntry>([[id, { id, kind: 'person', names, ...about }]]);
  const now = new Date(0);
  const read = { list, entries, sha256: createHash('sha256').update(id).digest(), published: id, asOf: now, now };
  await db.asSystem((tx) => takeList(tx, vault, read));
}

/** Compares again with new rules each time, so that a result is stored again. */
let threshold = 8_000;
async function compares(db: Database, vault: Vault): Promise<void> {
  threshold += 1;
  const sanctions = openSanctions({
    ...{ db, vault, clock: fixture.clock, ask: async () => assert.fail('nothing is read'), maxAgeMs: 1 },
    sources: [{ list: 'uk', from: 'nowhere' }],
    rules: { version: RULES_VERSION, threshold },
    payerOf: async () => ({ names: [PAYER], revision: 0 }),
    rails: () => [],
    record: async () => {},
  });
  await sanctions.ensure(paid);
}

async function dismissed(db: Database, vault: Vault): Promise<void> {
  const results = async (): Promise<number> => (await owner.query('select from name_screenings')).rowCount ?? 0;
  const before = await results();
  await compares(db, vault);
  assert.equal(await results(), before + 1, 'it was compared again');
  const { rows } = await owner.query('select id, state, screening_id from sanctions_hits');
  assert.deepEqual(
    rows.map(({ state }) => state),
    ['false_positive'],
    'the same question is not asked again',
  );
  const { id, screening_id: screening } = rows[0];
  const { alert } = await db.asSystem((tx) => openHit(tx, vault, id));
  assert.deepEqual([alert.given?.names, alert.explanation?.givenName], [[PAYER], PAYER]);
  assert.equal((await replayDecision({ db, vault }, { kind: 'names', id: screening })).outcome, 'same');
  const isSame = 'select from name_screenings where ended_at is null';
  assert.equal((await owner.query(isSame)).rowCount, 1);
}

/** Everything as decrypted by a server with this vault. */
async function readsAll(db: Database, vault: Vault): Promise<void> {
  await db.asPartner(partnerId, async (tx) => {
    for (let n = 0; n < MANY; n += 1) {
      const found = await customers.customerNamed(tx, vault, partnerId, `name ${n}`);
      assert.ok(found, `name ${n} is found`);
      assert.equal(customers.clientIdOf(vault, found), `name ${n}`);
      const email = `quagmire${n}@fjordmail.example`;
      assert.deepEqual(await customers.openContact(tx, vault, found.id), { phone: phoneOf(n), email });
      assert.equal(await customers.hasPhone(tx, vault, found, phoneOf(n)), true);
      // The first customer's document was not accepted yet.
      assert.equal(await customers.customerName(tx, vault, found.id), `Zebulon ${n}${n > 0 ? ' Quagmire' : ''}`);
      const { read, verified } = await customers.knownNames(tx, vault, found.id);
      assert.equal((n > 0 ? verified : read)?.lastName, 'Quagmire');
      const other = await customers.customerNamed(tx, vault, partnerId, `name ${(n + PAIRS) % MANY}`);
      assert.deepEqual(await customers.sameDocument(tx, vault, found.id), [
        { customerId: other?.id, by: ['file', 'number'] },
      ]);
      const [account] = await customers.fiatAccounts(tx, found.id);
      assert.deepEqual((await customers.openFiatAccount(tx, vault, account?.id ?? 0n)).details, details);
      const same = await customers.addFiatAccount(tx, vault, {
        customer: found,
        fiat: 'inr',
        details,
        now: new Date(),
      });
      assert.equal(same.id, account?.id, 'equal details made a second account');
      await customers.customerKey(tx, vault, found, new Date());
    }
    const enrolled = customers.enroll(tx, vault, {
      ...{ partnerId, clientCustomerId: 'name 3', kind: 'INDIVIDUAL', now: new Date() },
    });
    await assert.rejects(enrolled, { code: 'customer_exists' });
    const named = { partnerId, clientCustomerId: 'another', phone: phoneOf(5), kind: 'INDIVIDUAL' } as const;
    await assert.rejects(customers.enroll(tx, vault, { ...named, now: new Date() }), { code: 'customer_exists' });
  });
  const payers = payerIndexes(vault, null, details.account);
  const lines = await owner.query<{ external_id: string }>(
    'select external_id from bank_lines where payer_index = any($1)',
    [payers],
  );
  assert.equal(lines.rowCount, MANY, 'lines of one payer are found');
  const said = await owner.query('select from bank_lines where text_index = any($1)', [textIndexes(vault, 'rent may')]);
  assert.equal(said.rowCount, MANY, 'lines with one text are found');
  for (const { external_id: externalId } of lines.rows)
    assert.equal(await db.asSystem((tx) => payerNumber(tx, vault, { rail: 'bank.test', externalId })), details.account);
  const { clock } = fixture;
  assert.deepEqual((await openPartners({ db, vault, clock }).credential(apiKey))?.secrets, [apiSecret]);
  const { rows } = await owner.query<{ reason: string }>('select reason from audit');
  for (const { reason } of rows) assert.equal(openTyped(vault, reason), SAID);
  const views = await db.asSystem((tx) => viewsOf(tx, operatorId));
  assert.deepEqual(
    views.map(({ name, search }) => ({ name: openTyped(vault, name), search: openTyped(vault, search) })),
    [VIEW],
  );
  const asked = await db.asSystem((tx) => customers.informationOf(tx, vault, { customerId: first, limit: 5 }));
  assert.deepEqual(
    asked.map(({ question, answer }) => [question, answer]),
    [[QUESTION, ANSWER]],
  );
  assert.ok((await readAttachment({ db, blobs, vault }, attachment))?.content.equals(LETTER));
  await dismissed(db, vault);
}

async function auditProblems(vault?: Vault): Promise<string[]> {
  const told: string[] = [];
  const tell = ({ subject, why }: { subject: string; why: string }) => void told.push(`${subject}: ${why}`);
  await verifyAudit(txOn(owner), tell, fixture.clock.now(), auditSeal, vault);
  return told;
}

test('every column of bytes is re-encrypted, or is known to hold nothing of the master key', async () => {
  const { rows } = await owner.query<{ name: string }>(
    `select c.relname || '.' || a.attname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'cloverleaf'::regnamespace and c.relkind = 'r' and a.atttypid in ('bytea'::regtype, 'bytea[]'::regtype)
        and not a.attisdropped order by 1`,
  );
  const known = new Set([
    ...PARTS.flatMap(({ table, writes }) => writes.map((column) => `${table}.${column}`)),
    ...Object.keys(OTHER_BYTES),
  ]);
  assert.deepEqual(
    rows.map(({ name }) => name).filter((name) => !known.has(name)),
    [],
  );
});

test('a server with the new key waits until those with the old one are stopped', async () => {
  const place = await joinServers(fixture.db, { version: 'a test', onOutdated: () => {} });
  await assert.rejects(migrateFor(fixture.adminUrl, both), /stop them all first/);
  await place.leave();
});

test('killed repeatedly it continues, servers read and look up meanwhile, and nothing is lost', async () => {
  const db = openDatabase(await migrateFor(fixture.adminUrl, both));
  try {
    await noteRotation(db, both);
    await assert.rejects(noteRotation(db, alone), { name: 'SettingError', message: /OLD_MASTER_KEY is missing/ });
    for (let kills = 0; kills < 3; kills += 1) {
      const from = await rewritten();
      const child = runs();
      const ended = new Promise((resolve) => child.once('exit', resolve));
      await until('it has got further', async () => (await rewritten()) > from + 5 || child.exitCode !== null);
      assert.equal(child.exitCode, null, 'the exchange was finished already');
      child.kill('SIGKILL');
      await ended;
      await until('its session has ended', async () => {
        const sql = `select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
          and pid <> pg_backend_pid() and objid = (hashtext('exchange of the master key')::bigint & 4294967295)`;
        return (await owner.query(sql)).rowCount === 0;
      });
      await readsAll(db, both);
    }
    const report = await rotate(fixture.adminUrl, both, { batch: 7 });
    assert.deepEqual(
      report.left.map(({ part, values, how }) => [part, values, how]),
      [['denied_destinations.index', 1, 'load the deny lists again']],
    );
    const counted = new Map(report.rewritten.map(({ part, values }) => [part, Number(values)]));
    for (const part of [
      'customers.phone',
      'customers.email',
      'customer_details.details',
      'fiat_accounts.details',
      'bank_lines.details',
      'customer_keys.wrapped',
      'texts of audit',
    ])
      assert.equal(counted.get(part), MANY, `${part}: each once, however often it was killed`);
    assert.equal(counted.get('compared_documents.value'), 2 * MANY);
    // One customer's names are not accepted yet.
    assert.deepEqual(
      ['read_names', 'verified_names'].map((column) => counted.get(`customer_details.${column}`)),
      [1, MANY - 1],
    );
    for (const part of [
      'information_requests.question',
      'information_requests.answer',
      'sanctions_hits.explanation',
      'case_attachments.wrapped',
    ])
      assert.equal(counted.get(part), 1, part);
    assert.ok(Number(counted.get('name_screenings.inputs')) > 0);
    await assert.rejects(noteRotation(db, alone), { name: 'SettingError' });

    const destinations = [{ kind: 'account' as const, value: 'GB33BUKB20201555555555' }];
    await db.asSystem((tx) => replaceDenyList(tx, both, { list: 'test', version: '2', destinations, now: new Date() }));
    assert.deepEqual((await rotate(fixture.adminUrl, both)).left, []);
  } finally {
    await db.close();
  }
});

test('afterwards the new key alone reads and finds everything, and the old one nothing', async () => {
  const db = openDatabase(await migrateFor(fixture.adminUrl, alone));
  try {
    await noteRotation(db, alone);
    await readsAll(db, alone);
    const again = { operatorId, page: '/orders', ...viewUnder(alone), now: new Date() };
    await db.asSystem((tx) => saveView(tx, alone, again));
    assert.equal((await db.asSystem((tx) => viewsOf(tx, operatorId))).length, 1, 'a view is found by its name');
    const { hits } = await db.asSystem((tx) => screenOwn(tx, alone, paid));
    assert.deepEqual(
      hits.map(({ rule }) => rule),
      ['destination_denied'],
      'the list did not change, and its address is found',
    );
    const old = openVault(OLD);
    const { rows } = await owner.query<{ reason: string; phone: Buffer }>(
      `select (select reason from audit limit 1) as reason, phone from customers where id = $1`,
      [first],
    );
    const [row] = rows;
    assert.ok(row);
    assert.notEqual(openTyped(old, row.reason), SAID);
    assert.throws(() => old.decrypt(row.phone, `customers.phone:${first}`));
  } finally {
    await db.close();
  }
});

test('the audit matches its seals with the key; an edited row is still found', async () => {
  assert.deepEqual(await auditProblems(alone), []);
  assert.equal((await auditProblems()).length, MANY, 'a proof counted without the key');
  await owner.query('begin');
  await owner.query(`set local session_replication_role = 'replica'`);
  await owner.query(`update audit set reason = 'in clear' where subject = 's:1'`);
  await owner.query(
    `update audit_reencrypted set content = (select content from audit_reencrypted where audit_id = 3) where audit_id = 4`,
  );
  assert.equal((await auditProblems(alone)).length, 2);
  await owner.query('rollback');
});

test('only the owner can rewrite an append-only row, and only by the declared way', async () => {
  await assert.rejects(owner.query(`update audit set reason = 'x' where subject = 's:1'`), /append-only/);
  const tried = fixture.db.asSystem(async (tx) => {
    await tx.rows(`select set_config('cloverleaf.reencrypting', 'on', true)`);
    await tx.run(`update audit set reason = 'x'`);
  });
  await assert.rejects(tried);
});
