/**
 * Erasing a customer: refused while money or the law prevents it; then its data can be read nowhere in database, files or logs,
 * with any key, and everything else is unchanged. A restore does not bring it back.
 *
 * Long because its claims are about one customer who is erased once.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openFolder } from '../../src/base/blobs.ts';
import { openErasureList } from '../../src/base/erasurelist.ts';
import { textsLike } from '../../src/base/texts.ts';
import { encryptTyped } from '../../src/base/typed.ts';
import {
  attachFile,
  closeCases,
  decideHit,
  listHits,
  openCase,
  openSanctions,
  RULES_VERSION,
  readAttachment,
  recordAnswer,
  replayDecision,
  type Sanctions,
  type Screening,
  screenOwn,
  storeAttachment,
  USUAL_THRESHOLD,
} from '../../src/compliance/index.ts';
import type { ListEntry } from '../../src/compliance/sanctions/entry.ts';
import { newestVersion, takeList } from '../../src/compliance/sanctions/lists.ts';
import { rulesText } from '../../src/compliance/sanctions/match.ts';
import { keepResults } from '../../src/compliance/sanctions/results.ts';
import { knownOf } from '../../src/compliance/sanctions/subjects.ts';
import { requestsErasing } from '../../src/composition/erasing.ts';
import * as customers from '../../src/customers/index.ts';
import { type Erasing, replayErasures } from '../../src/erasure/index.ts';
import { operatorNamed, type Person } from '../protocols/operator/people.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../protocols/whitelabel/environment.ts';
import { findInDump } from '../support/dump.ts';
import { operatorApi, silentBank } from '../support/operatorapi.ts';
import { jpeg, pdf } from '../support/pictures.ts';
import { readableRows } from '../support/readable.ts';

const DAY_MS = 86_400_000;
const KEPT_DAYS = 30;

let world: Environment;
let shop: TestPartner;
let ada: Person;
let bea: Person;
let erasing: Erasing;
let sanctions: Sanctions;
const RULES = { version: RULES_VERSION, threshold: USUAL_THRESHOLD };
let other: Record<string, unknown>;
const logged: string[] = [];

const personal = (name: string) => ({
  clientCustomerId: `${name}-at-the-shop`,
  phone: `+91 70000 ${name.length}${name.charCodeAt(0)}77`,
  email: `${name}@fjordmail.example`,
  firstName: name,
  verifiedName: `${name} Verifiedson`,
  readName: `${name} Readson`,
  document: `Passport of ${name}`,
  account: `5010028374${name.charCodeAt(0)}51`,
  note: `${name} called about it`,
  question: `Where does ${name} work?`,
  answer: `${name} works at the harbour`,
  evidence: `Payslip of ${name}`,
  letter: `Letter from ${name}`,
  label: `${name}, page 1`,
});

before(async () => {
  const log = Object.fromEntries(
    ['error', 'warn', 'info', 'debug'].map((level) => [
      level,
      (...said: unknown[]) => logged.push(JSON.stringify(said)),
    ]),
  );
  world = await wireEnvironment({
    beside: (fixture) => {
      const { db, vault, blobFolder } = fixture;
      const blobs = openFolder(blobFolder);
      erasing = {
        ...{ db, vault, blobs, list: openErasureList(blobFolder), backupsKeptDays: 90 },
        eraseRequests: requestsErasing({ db, vault }),
      };
      return operatorApi(fixture, { blobs, erasing, eraseAfterDays: KEPT_DAYS, log, rails: silentBank });
    },
  });
  ada = await operatorNamed(world, 'ada', 'admin');
  bea = await operatorNamed(world, 'bea', 'admin');
  shop = await world.partner('Shop');
  await listed('ZEBULONA QUAGMIRE', 'BACKULA QUAGMIRE', 'HITTINA QUAGMIRE');
  const { db, vault, clock } = world;
  sanctions = openSanctions({
    ...{ db, vault, clock, ask: async () => assert.fail('nothing is read'), maxAgeMs: 10 * DAY_MS },
    ...{ sources: [{ list: 'uk', from: 'nowhere' }], rules: RULES, payerOf: async () => undefined, rails: () => [] },
    record: async () => {},
  });
});

/** A sanctions list with these names. In capitals, so that they are not mistaken for the customer's input. */
async function listed(...names: readonly string[]): Promise<void> {
  const about = { births: [], countries: [], identifiers: [], addresses: [] };
  const entries = new Map<string, ListEntry>();
  for (const [at, text] of names.entries()) {
    const id = `XXX000${at}`;
    entries.set(id, { id, kind: 'person', names: [{ text, quality: 'strong', isPrimary: true }], ...about });
  }
  const now = world.clock.now();
  const read = { list: 'uk', entries, sha256: Buffer.alloc(32), published: 'a test', asOf: now, now } as const;
  await world.db.asSystem((tx) => takeList(tx, world.vault, read));
}
const moneyOf = (customerId: string): Screening => ({
  ...{ id: 1n, partnerId: shop.partner.id, customerId, merchantReference: null, fiatAccountId: null },
  payoutAddress: '0x0000000000000000000000000000000000000001',
});
const openHits = async (customerId: string) =>
  (await world.db.asSystem((tx) => listHits(tx, { state: 'open', after: 0n, limit: 100 }))).filter(
    (hit) => hit.customerId === customerId,
  );
const openCaseSubjects = async (kind: string): Promise<string[]> =>
  (await ada.reads(`/cases?open=true&kind=${kind}`)).body.cases.map(({ subject }: { subject: string }) => subject);
after(async () => await world?.stop());

/** A customer with every kind of stored data. */
async function enrolled(name: string): Promise<string> {
  const given = personal(name);
  const { db, vault, clock } = world;
  const now = clock.now();
  const partnerId = shop.partner.id;
  const id = await db.asPartner(partnerId, async (tx) => {
    const { clientCustomerId, phone, email } = given;
    const made = await customers.enroll(tx, vault, {
      partnerId,
      clientCustomerId,
      phone,
      email,
      kind: 'BUSINESS',
      now,
    });
    await customers.addFiatAccount(tx, vault, {
      customer: made,
      fiat: 'inr',
      details: { account: given.account },
      now,
    });
    const details = { firstName: given.firstName, lastName: 'Quagmire' };
    await customers.saveDetails(tx, vault, { customer: made, details, now });
    const about = { customerId: made.id, version: 1 };
    await customers.keepReadNames(tx, vault, { ...about, names: { companyName: given.verifiedName } });
    const verified = { outcome: 'verified', level: 1 } as const;
    await customers.recordFinding(tx, { ...about, verifier: 'test', finding: verified, now });
    const over = { version: 1, outcome: 'verified' } as const;
    await customers.saveDetails(tx, vault, { customer: made, details: { ...details, country: 'IN' }, over, now });
    await customers.keepReadNames(tx, vault, {
      customerId: made.id,
      version: 2,
      names: { companyName: given.readName },
    });
    await customers.recordLogin(tx, made.id, now);
    const key = await customers.customerKey(tx, vault, made, now);
    const content = jpeg({ more: [[0xfe, Buffer.from(given.document)]] });
    const sentDigest = createHash('sha256').update(content).digest('hex');
    const file = { slot: 'selfie.jpg', type: 'image/jpeg', content, sentDigest } as const;
    const files = await customers.storeFiles(openFolder(world.blobFolder), vault, {
      ...{ customerId: made.id, key, files: [file] },
    });
    const form = await customers.formFor(tx, { kind: 'BUSINESS' }, now);
    const submitted = { answers: { firstName: given.firstName }, files };
    await customers.submit(tx, vault, { customerId: made.id, form, given: submitted, inParts: true, now });
    return made.id;
  });
  await db.asSystem((tx) =>
    openCase(tx, { kind: 'on_hold', subject: `customer:${id}`, reason: 'a test', facts: {}, now }),
  );
  const { body } = await ada.reads('/cases?open=true');
  const opened = body.cases.find((one: { subject: string }) => one.subject === `customer:${id}`);
  assert.equal((await ada.does(`/cases/${opened.id}/note`, { reason: given.note })).status, 200);
  const attached = await storeAttachment({ blobs: erasing.blobs, vault }, Buffer.from(given.letter), 'ada');
  await db.asSystem((tx) =>
    attachFile(tx, {
      ...{ caseId: BigInt(opened.id), file: attached, label: encryptTyped(vault, given.label), by: 'ada', now },
    }),
  );
  await db.asSystem((tx) => closeCases(tx, { kind: 'on_hold', subject: `customer:${id}`, outcome: 'over', now }));
  const { question, answer, evidence } = given;
  const asked = { customerId: id, question, dueAt: new Date(now.getTime() + DAY_MS), by: 'ada', now };
  const request = await db.asSystem((tx) => customers.askInformation(tx, vault, asked));
  await db.asPartner(partnerId, async (tx) => {
    const key = await customers.customerKey(tx, vault, { id, partnerId }, now);
    const sent = [{ content: pdf(`1 0 obj\n<< /Title (${evidence}) >>\nendobj\n`) }];
    const files = await customers.inspectAny(sent, { id, partnerId });
    const stored = await customers.storeFiles(openFolder(world.blobFolder), vault, { customerId: id, key, files });
    await customers.addInformationFiles(tx, vault, { customerId: id, id: request.id, files: stored, now });
  });
  await db.asSystem((tx) => customers.endInformation(tx, vault, { customerId: id, id: request.id, answer, now }));
  await sanctions.ensure(moneyOf(id));
  const reason = encryptTyped(vault, `${name} has another passport`);
  for (const hit of await openHits(id))
    await db.asSystem((tx) =>
      decideHit(tx, { id: hit.id, outcome: 'false_positive', people: ['ada', 'bea'], reason, now }),
    );
  return id;
}

/** Everything readable with the master key and every customer's key: all rows with all values decrypted, and all files. */
async function everythingReadable(): Promise<string> {
  const said: string[] = Object.values(await readableRows(world)).flat();
  const keys = await world.query('select customer_id from customer_keys');
  for (const { customer_id: customerId } of keys)
    for (const { id } of await world.query('select id from submission_files where customer_id = $1', [customerId])) {
      const found = await customers.openFile({ ...world, blobs: erasing.blobs }, { customerId, id });
      if (found !== undefined) said.push(found.content.toString('latin1'));
    }
  for (const { id, case_id: caseId } of await world.query('select id, case_id from case_attachments')) {
    const found = await readAttachment({ ...world, blobs: erasing.blobs }, { caseId, id });
    if (found !== undefined) said.push(found.content.toString('latin1'));
  }
  for (const name of readdirSync(world.blobFolder, { recursive: true, encoding: 'utf8' }))
    said.push(
      name,
      ...(/\.list$|^..\/[0-9a-f]{32}$/.test(name) ? [readFileSync(join(world.blobFolder, name), 'latin1')] : []),
    );
  return said.join('\n');
}

const wordsOf = (name: string): string[] => Object.values(personal(name));
const missing = (text: string, words: readonly string[]) => words.filter((word) => !text.includes(word));

async function agreed(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const proposed = await ada.does(path);
  if (proposed.status !== 202) return proposed;
  return await bea.does(`/proposals/${proposed.body.proposal}/confirm`);
}
const why = async (id: string): Promise<string> => {
  const { status, body } = await ada.does(`/customers/${id}/erase`);
  assert.equal(status, 409, JSON.stringify(body));
  assert.equal(body.reason, 'erasure_refused');
  return body.error;
};

test('an open case, a legal hold and an open order each refuse the erasure, and say so', async () => {
  const { db, clock } = world;
  const id = shop.customerId;
  assert.equal((await ada.does(`/customers/${id}/legal-hold`)).status, 200);
  assert.match(await why(id), /a legal hold is placed/);
  assert.equal((await agreed(`/customers/${id}/lift-legal-hold`)).status, 200);

  const about = { kind: 'on_hold', subject: `customer:${id}`, now: clock.now() } as const;
  await db.asSystem((tx) => openCase(tx, { ...about, reason: 'a test', facts: {} }));
  assert.match(await why(id), /cases are open: \d+/);
  await db.asSystem((tx) => closeCases(tx, { ...about, outcome: 'over' }));

  const question = { question: 'Where from?', days: 3 };
  const asked = await ada.does(`/customers/${id}/questions`, question);
  assert.equal(asked.status, 200, JSON.stringify(asked.body));
  assert.match(await why(id), new RegExp(`requests for information are open: ${asked.body.request}`));
  assert.equal((await ada.does(`/customers/${id}/questions/${asked.body.request}/withdraw`)).status, 200);

  const order = await orderOf(id);
  assert.match(await why(id), new RegExp(`orders are open: ${order}`));
  await world.query(`update orders set state = 'cancelled' where id = $1`, [order]);
  assert.match(await why(id), /has to be kept until/);
  await world.query(
    `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, reference, seen_at)
     values ('evm.matic20', 'of a test', 'usdc.matic20', 5, '', $1, $2, 'suspense', '', now())`,
    [order, shop.partner.id],
  );
  assert.match(await why(id), /deposits are in suspense or not confirmed: \d+/);
  await world.query(`update deposits set state = 'lost' where order_id = $1`, [order]);
  await world.query(`update orders set updated_at = updated_at - interval '40 days' where id = $1`, [order]);
  const before = await world.query('select * from entries');
  const { status, body } = await agreed(`/customers/${id}/erase`);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(await world.query('select * from entries'), before, 'the erasure changed the books');
  assert.equal((await world.query('select id from orders where id = $1', [order])).length, 1, 'the order was deleted');
});

/** An order that the partner's program makes for its verified customer. */
async function orderOf(customerId: string): Promise<bigint> {
  const pair = { fromCurrency: 'usdc', toCurrency: 'inr', chain: 'matic20', fromAmount: '100' };
  const made = await shop.post('offramp/createTransaction', { ...pair, customerId, fiatAccountId: shop.fiatAccountId });
  assert.equal(made.status, 200, made.text);
  const [row] = await world.query('select id from orders where customer_id = $1', [customerId]);
  return row.id;
}

test('after it, nothing of the customer can be read anywhere with any key, and others are untouched', async () => {
  const [gone, stays] = [await enrolled('Zebulona'), await enrolled('Xanthippe')];
  const full = await everythingReadable();
  assert.deepEqual(
    missing(full, [...wordsOf('Zebulona'), ...wordsOf('Xanthippe')]),
    [],
    'some data was missing before the erasure',
  );
  const screened = await world.query(
    `select inputs_digest as digest from name_screenings where owner = $1
      union select unnest(array[inputs_digest, name_digest]) from sanctions_hits where owner = $1`,
    [`customer:${gone}`],
  );
  const digests = screened.map(({ digest }: { digest: Buffer }) => digest.toString('hex'));
  assert.ok((await findInDump(world.adminUrl, digests)).length > digests.length, 'no digest of a name is stored');
  const exported = async (id: string) => (await ada.does(`/customers/${id}/export`)).body;
  other = await exported(stays);

  const { status, body } = await agreed(`/customers/${gone}/erase`);
  assert.equal(status, 200, JSON.stringify(body));
  const { erasedAt, backupsEndAt } = body.after as Record<string, string>;
  assert.equal(
    Date.parse(backupsEndAt ?? '') - Date.parse(erasedAt ?? ''),
    90 * DAY_MS,
    'the date of the last backup is wrong',
  );

  assert.deepEqual(await findInDump(world.adminUrl, digests), [], 'a digest of a name is left');
  const left = await everythingReadable();
  assert.deepEqual(missing(left, wordsOf('Zebulona')), wordsOf('Zebulona'), 'data is readable after the erasure');
  assert.deepEqual(missing(left, wordsOf('Xanthippe')), []);
  assert.deepEqual(missing(logged.join('\n'), wordsOf('Zebulona')), wordsOf('Zebulona'));
  assert.deepEqual({ ...(await exported(stays)), after: null }, { ...other, after: null });
  const { vault } = world;
  const [row] = await world.query('select phone_index, client_customer_id from customers where id = $1', [gone]);
  assert.deepEqual(row, { phone_index: null, client_customer_id: null });
  assert.ok(!left.includes(textsLike(vault, shop.partner.id, personal('Zebulona').clientCustomerId)[0] ?? ''));
});

test('a verifier’s own words about a customer are in no dump in clear, and an erasure takes them out', async () => {
  const { db, vault, clock } = world;
  const [now, partnerId, words] = [clock.now(), shop.partner.id, 'the face is not that of Wordsella'];
  const customer = await db.asPartner(partnerId, async (tx) => {
    const made = await customers.enroll(tx, vault, { partnerId, clientCustomerId: 'words', kind: 'INDIVIDUAL', now });
    await customers.saveDetails(tx, vault, { customer: made, details: { firstName: 'Wordsella' }, now });
    return made;
  });
  await db.asSystem(async (tx) => {
    const check = await customers.checkUnderWay(tx, customer.id);
    assert.ok(check);
    const finding = { outcome: 'refused', level: 0, reason: words } as const;
    await recordAnswer(tx, vault, { check, verifier: 'test', finding, polls: 0, now });
  });
  assert.deepEqual(missing(await everythingReadable(), [words]), [], 'the words are not recorded');
  assert.deepEqual(await findInDump(world.adminUrl, [words]), []);
  const { status, body } = await agreed(`/customers/${customer.id}/erase`);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(missing(await everythingReadable(), [words]), [words], 'the words are readable after the erasure');
});

test('an undecided hit in a sanctions list refuses the erasure, and an export contains no hit', async () => {
  const { db, clock } = world;
  const id = await enrolled('Hittina');
  await world.query(`update sanctions_hits set state = 'open', people = null, reason = null, decided_at = null
    where customer_id = '${id}'`);
  const [hit] = await openHits(id);
  assert.match(await why(id), new RegExp(`hits in sanctions lists are undecided: ${hit?.id}`));
  const shown = JSON.stringify((await ada.does(`/customers/${id}/export`)).body.export);
  assert.match(shown, /"compared":\[{"names":\["Hittina Quagmire"\]/);
  assert.doesNotMatch(shown, /sanction|XXX000|HITTINA|score/);
  const decided = { outcome: 'false_positive', people: ['ada'], reason: 'another person', now: clock.now() } as const;
  await db.asSystem((tx) => decideHit(tx, { id: hit?.id ?? 0n, ...decided }));
  assert.equal((await agreed(`/customers/${id}/erase`)).status, 200);
});

test('afterwards names are not compared any more, the result says that they were erased, and the money is never cleared', async () => {
  const { db, vault, clock } = world;
  const id = await enrolled('Screenella');
  const results = () => world.query('select id, inputs from name_screenings where customer_id = $1 order by id', [id]);
  const known = await db.asSystem((tx) => knownOf(tx, vault, async () => undefined, `customer:${id}`));
  assert.deepEqual(known.subjects[0]?.names, ['Screenella Quagmire']);
  const [before] = await results();
  assert.equal((await replayDecision({ db, vault }, { kind: 'names', id: before.id })).outcome, 'same');
  assert.equal((await agreed(`/customers/${id}/erase`)).status, 200);
  assert.deepEqual(await replayDecision({ db, vault }, { kind: 'names', id: before.id }), { outcome: 'inputs_erased' });

  // A comparison that had read the names before the erasure.
  const version = await db.asSystem(newestVersion);
  const compared = [{ key: `customer:${id}`, known, found: [] }];
  const late = { compared, knownNow: async () => known, version, now: clock.now() };
  await db.asSystem((tx) => keepResults(tx, vault, { ...late, rules: rulesText(RULES, ['uk']) }));
  await sanctions.ensure(moneyOf(id));
  await sanctions.handlers.screen_names?.('all');
  const rows = await results();
  assert.deepEqual(
    rows.map(({ inputs }: { inputs: Buffer | null }) => inputs),
    rows.map(() => null),
  );
  assert.equal(rows.filter(({ id: result }) => result > before.id).length, 0, 'a new result was stored');

  const held = async () => (await db.asSystem((tx) => screenOwn(tx, vault, moneyOf(id), sanctions))).hits;
  assert.equal(
    await db.asSystem((tx) => sanctions.wait(tx, moneyOf(id))),
    undefined,
    'the gate waits for a comparison',
  );
  assert.deepEqual(
    (await held()).map(({ rule }) => rule),
    ['customer_blocked', 'sanctions_nameless'],
  );
  await db.asSystem((tx) => customers.unblockCustomer(tx, id, clock.now()));
  assert.deepEqual(
    (await held()).map(({ rule }) => rule),
    ['sanctions_nameless'],
  );
  const asked = await ada.does(`/customers/${id}/questions`, { question: 'And now?', days: 3 });
  assert.equal(asked.status, 400, JSON.stringify(asked.body));
  assert.match(asked.body.error, /was erased/);
  const { questions } = (await ada.does(`/customers/${id}/questions/open`)).body;
  assert.deepEqual([questions[0].question, questions[0].answer], ['', '']);
});

test('later reads say that the customer is erased, and storing personal data of it is refused', async () => {
  const id = await enrolled('Laterina');
  assert.equal((await agreed(`/customers/${id}/erase`)).status, 200);
  const shown = (await ada.reads(`/customers/${id}`)).body;
  assert.ok(shown.erasedAt && shown.erasure.backupsEndAt);
  assert.deepEqual(
    [shown.clientCustomerId, shown.accounts.map(({ hint }: { hint: string }) => hint), shown.blocked],
    [null, [''], true],
  );
  const personalNow = await ada.does(`/customers/${id}/personal`);
  assert.equal(personalNow.status, 200);
  assert.equal(personalNow.body.personal.name, null);
  assert.equal((await ada.does(`/customers/${id}/review/open`)).status, 200);
  const exported = await ada.does(`/customers/${id}/export`);
  assert.deepEqual([exported.status, exported.body.export.contact, exported.body.files], [200, {}, []]);
  for (const path of ['kyc/status', 'bank/getFiatAccounts', 'kyb/status'])
    assert.ok((await shop.post(path, { customerId: id })).status < 500, path);

  const { db, vault, clock } = world;
  const now = clock.now();
  await db.asPartner(shop.partner.id, async (tx) => {
    const customer = await customers.findCustomer(tx, id);
    const refused = { code: 'customer_blocked' };
    await assert.rejects(customers.updateContact(tx, vault, id, { phone: '+91 70000 11111', now }), refused);
    await assert.rejects(customers.saveDetails(tx, vault, { customer, details: { firstName: 'x' }, now }), refused);
    const account = { customer, fiat: 'inr', details: { account: '1' }, now };
    await assert.rejects(customers.addFiatAccount(tx, vault, account), refused);
    await assert.rejects(customers.customerKey(tx, vault, customer, now), refused);
  });
  assert.match(await whyErased(id), /already erased/);
});
const whyErased = async (id: string): Promise<string> => (await ada.does(`/customers/${id}/legal-hold`)).body.error;

test('a customer brought back by a restore is erased again, from the list outside the database', async () => {
  const id = await enrolled('Backula');
  const tables = [
    ...['customers', 'customer_details', 'customer_keys', 'fiat_accounts', 'submissions', 'submission_files'],
    ...['information_requests', 'name_screenings', 'sanctions_hits'],
  ];
  for (const table of tables) await world.query(`create table public.kept_${table} as select * from ${table}`);
  assert.equal((await agreed(`/customers/${id}/erase`)).status, 200);
  assert.deepEqual((await erasing.list.all()).includes(id), true);

  // The database before the erasure, as a restore has it.
  await world.query(`delete from erasures where customer_id = $1`, [id]);
  const column = { customers: 'id' } as Record<string, string>;
  await world.query(`set session_replication_role = 'replica'`);
  for (const table of tables) {
    const where = `${column[table] ?? 'customer_id'} = '${id}'`;
    await world.query(`delete from ${table} where ${where}`);
    await world.query(`insert into ${table} overriding system value select * from public.kept_${table} where ${where}`);
  }
  await world.query(`set session_replication_role = 'origin'`);
  const back = await world.db.asSystem((tx) => customers.openContact(tx, world.vault, id));
  assert.equal(back.email, personal('Backula').email, 'the restore did not bring the customer back');

  await world.query(`update sanctions_hits set state = 'open', people = null, reason = null, decided_at = null
    where customer_id = '${id}'`);
  const subject = `sanctions:customer:${id}`;
  const about = { kind: 'sanctions_hit', subject, reason: 'a test', facts: {}, now: world.clock.now() } as const;
  await world.db.asSystem((tx) => openCase(tx, about));

  assert.equal(await replayErasures(erasing, world.clock.now()), 1);
  assert.deepEqual(await openHits(id), []);
  assert.ok(!(await openCaseSubjects('sanctions_hit')).includes(subject), 'the hit can still be decided');
  for (const table of tables) await world.query(`drop table public.kept_${table}`);
  const left = await everythingReadable();
  const words = wordsOf('Backula');
  assert.deepEqual(missing(left, words), words);
  assert.equal(await replayErasures(erasing, world.clock.now()), 0, 'once');
  const { body } = await ada.reads(`/audit?subject=customer:${id}`);
  assert.ok(
    body.audit.some(
      (row: { operator: string; action: string }) => row.operator === 'the machine' && row.action === 'customer.erase',
    ),
  );
});

test('an erasure that was stopped after its order continues at the next start', async () => {
  const id = await enrolled('Stoppina');
  await world.query(`insert into erasures (customer_id, ordered_at, ordered_by) values ($1, now(), 'ada')`, [id]);
  assert.equal(await replayErasures(erasing, world.clock.now()), 1);
  assert.ok((await erasing.list.all()).includes(id));
  const words = wordsOf('Stoppina');
  assert.deepEqual(missing(await everythingReadable(), words), words);
});

test('every read of personal data is in the audit, with its operator', async () => {
  const id = await enrolled('Lookwella');
  const looks: readonly [action: string, look: () => Promise<{ status: number; body: unknown }>][] = [
    ['personal.read', () => bea.reads(`/customers/${id}`)],
    ['personal.read', () => bea.reads(`/lookup?text=${personal('Lookwella').clientCustomerId}`)],
    ['customer.personal', () => bea.does(`/customers/${id}/personal`)],
    ['review.open', () => bea.does(`/customers/${id}/review/open`)],
    ['customer.export', () => bea.does(`/customers/${id}/export`)],
  ];
  for (const [action, look] of looks) {
    const before = await lines(id);
    const { status, body } = await look();
    assert.equal(status, 200, JSON.stringify(body));
    assert.ok(JSON.stringify(body).includes('Lookwella'), action);
    const [newest, ...older] = await lines(id);
    assert.deepEqual(newest, { operator: 'bea', action }, 'the read added no audit row');
    assert.deepEqual(older, before);
    // Later, so that the next read is recorded separately.
    world.clock.advance(15 * 60_000);
  }
  const held = (await ada.does(`/customers/${id}/export`)).body;
  const text = JSON.stringify(held);
  // Notes and files of cases are working papers.
  const { document, evidence, note: _, letter: __, label: ___, ...words } = personal('Lookwella');
  assert.deepEqual(missing(text, Object.values(words)), [], 'the export is incomplete');
  assert.ok(Buffer.from(held.files[0].content, 'base64').includes(document));
  const contents = held.files.map(({ content }: { content: string }) => Buffer.from(content, 'base64'));
  assert.ok(
    contents.some((content: Buffer) => content.includes(evidence)),
    'a file of an answer is missing',
  );
});

test('a polling page counts as one read per operator and quarter of an hour', async () => {
  const id = await enrolled('Repeata');
  for (const person of [bea, bea, ada, bea]) assert.equal((await person.reads(`/customers/${id}`)).status, 200);
  const looks = async () =>
    (await lines(id)).filter(({ action }) => action === 'personal.read').map((one) => one.operator);
  assert.deepEqual(await looks(), ['ada', 'bea']);
  world.clock.advance(15 * 60_000);
  await bea.reads(`/customers/${id}`);
  assert.deepEqual(await looks(), ['bea', 'ada', 'bea']);
});

async function lines(id: string): Promise<{ operator: string; action: string }[]> {
  const { body } = await ada.reads(`/audit?subject=customer:${id}&limit=100`);
  return body.audit.map(({ operator: by, action }: { operator: string; action: string }) => ({ operator: by, action }));
}

test('events and notes of cases change by an erasure only', async () => {
  const refused = /append-only/;
  const { db } = world;
  for (const text of [
    `update events set body = '{}'`,
    `update events set at = now(), body = without_personal(body)`,
    `update case_actions set note = 'other'`,
    `update audit set reason = 'erased'`,
    `update audit set operator = 'eve'`,
    `update order_history set facts = '{"a":1}'`,
    `update case_actions set by = 'eve', note = 'erased'`,
    'delete from events',
  ])
    await assert.rejects(
      db.asSystem((tx) => tx.run(text)),
      (error: Error) => refused.test(error.message) || /permission denied/.test(error.message),
      text,
    );
});
