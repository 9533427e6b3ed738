/**
 * An erasure right after a customer's requests: their bodies, their replies, and everything that its orders left behind. Nothing of it
 * can be read afterwards, and no blind index that is computed from its values is in any table; another customer keeps all of it.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { replaceDenyList } from '../../src/compliance/index.ts';
import {
  comparedIndexes,
  detailsIndexes,
  identityIndexes,
  numberIndexes,
  phoneIndexes,
} from '../../src/customers/index.ts';
import { indexPayers, payerIndexes } from '../../src/rails/bank.ts';
import { oneOrTwoDo, type Person, twoDo } from '../protocols/operator/people.ts';
import type { Came } from '../support/client.ts';
import { findInDump, findInText } from '../support/dump.ts';
import { ADDRESS } from '../support/identities.ts';
import { jpeg } from '../support/pictures.ts';
import { readableRows } from '../support/readable.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story } from '../support/story.ts';
import { openV1, type V1Client } from '../support/v1.ts';

let world: Story;
let ada: Person;
let bea: Person;
let api: V1Client;
let admin: pg.Client;
const query = async (text: string, values: unknown[] = []) => (await admin.query(text, values)).rows;

/** What the shop and its customer give. */
const given = (name: string, digit: string) => ({
  reference: `${name.toLowerCase()}-of-the-shop`,
  phone: `+91-98765047${digit}1`,
  email: `${name.toLowerCase()}@fjordmail.example`,
  firstName: name,
  lastName: `${name}dottir`,
  identityNumber: `QZXWV77${digit}9K`,
  accountNumber: `50100283746${digit}`,
  addressLine1: `1 ${name} Lane`,
});
type Given = ReturnType<typeof given>;
const GONE = given('Zebulona', '3');
const STAYS = given('Xanthippe', '7');
/** Pictures of its passport and face. */
const picturesOf = ({ reference }: Given): [Buffer, Buffer, Buffer] => {
  const of = (what: string) => jpeg({ more: [[0xfe, Buffer.from(`${what} of ${reference}`)]] });
  return [of('front'), of('back'), of('face')];
};
const DOB = '1931-03-29';
const customers = new Map<Given, Came>();

before(async () => {
  const settings = { ERASE_AFTER_DAYS: '0', BACKUPS_KEPT_DAYS: '90' };
  ({ world, ada, bea } = await openStaffedStory({ ada: 'admin', bea: 'admin' }, { settings }));
  admin = new pg.Client({ connectionString: world.adminUrl, options: '-c search_path=cloverleaf' });
  await admin.connect();
  const [keys] = world.server.sandbox.partners;
  assert.ok(keys);
  api = openV1(world.server.baseUrl, keys);
  for (const one of [GONE, STAYS]) customers.set(one, await lives(one));
});
after(async () => {
  await admin?.end();
  await world?.close();
});

/** A customer who is verified, sells to an account that a deny list names, is paid nevertheless, and buys. */
async function lives(of: Given): Promise<Came> {
  const { reference, phone, email, accountNumber, ...answers } = of;
  const enrols = { reference, kind: 'individual', phone, email };
  const { id } = (await api.send('POST', '/customers', enrols, { key: `enrol-${reference}` })).body;
  const { dob: _, ...address } = { dob: '', ...ADDRESS };
  const begun = await api.does('POST', `/customers/${id}/submissions`, {
    ...{ asset: 'inr', answers: { ...address, ...answers, dob: DOB } },
  });
  const [front, back, selfie] = picturesOf(of);
  const files = { 'passportFront.jpg': front, 'passportBack.jpg': back, 'selfie.jpg': selfie };
  const sent = await api.upload(`/customers/${id}/submissions/${begun.id}/files`, files);
  assert.equal(sent.status, 200, sent.text);
  await world.until(`${id} is verified`, async () => {
    const customer = await api.does('GET', `/customers/${id}`);
    return customer.verification === 'verified';
  });
  await world.partner.post('test/changeKycStatus', { customerId: id, status: 'ADVANCE_KYC_COMPLETED' });
  const account = { kind: 'account', asset: 'inr', accountNumber, ifsc: 'HDFC0000001' };
  const destination = await api.does('POST', `/customers/${id}/destinations`, account);
  const customer = { id, fiatAccountId: destination.id };
  await denies(accountNumber);
  const sale: Sale = await world.sells('10', 'usdc', { customer });
  await world.pays(sale, '10');
  await world.mines(2);
  await world.becomes(sale, 'on_hold');
  const released = await oneOrTwoDo(ada, bea, `/orders/${sale.id}/release`, { reason: `${answers.firstName} called` });
  assert.equal(released.status, 200, JSON.stringify(released.body));
  await world.reaches(sale, 6);
  const purchase: Purchase = await world.buys('5000', 'usdc', { customer });
  await world.bank.creditAccount({
    ...{ currency: 'INR', units: 500_000n, text: purchase.reference },
    ...{ payerName: `${answers.firstName} ${answers.lastName}`, payerAccount: accountNumber },
  });
  await world.looksAtTheBank();
  await world.payoutIsSubmitted(purchase);
  await world.mines(2);
  await world.reaches(purchase, 4);
  const held = { reason: `${answers.firstName} is sued` };
  assert.equal((await ada.does(`/customers/${id}/legal-hold`, held)).status, 200);
  await twoDo(ada, bea, `/customers/${id}/lift-legal-hold`, { reason: `${answers.firstName} is not` });
  await query(
    `insert into checkouts (id, partner_id, begun_at, phones, phones_named) select $1, partner_id, now(), 1, array[$2::bytea]
      from customers where id = $3`,
    [`link-${id}`, phoneOfLink(id, phone), id],
  );
  // Requests whose bodies and replies have its data, at the last moment.
  await api.does('PATCH', `/customers/${id}`, { email });
  await api.does('POST', `/customers/${id}/destinations`, { ...account, accountNumber: `9${accountNumber}` });
  return { id };
}

/** The hash of a number that was entered through a link, without an order. */
const phoneOfLink = (id: string, phone: string): Buffer =>
  world.server.vault.index(phone.replaceAll(/[^0-9]/g, ''), `checkouts.phones_named:link-${id}`);

let loads = 0;
/** Names these accounts in a deny list, in place of those that it had. */
const denies = (...values: readonly string[]): Promise<void> =>
  world.read((tx) =>
    replaceDenyList(tx, world.server.vault, {
      ...{ list: 'own.test', version: String((loads += 1)), now: world.clock.now() },
      destinations: values.map((value) => ({ kind: 'account' as const, value })),
    }),
  );

const bare = (phone: string) => phone.replaceAll(/[^0-9]/g, '').slice(2);
const wordsOf = (of: Given): string[] => [...Object.values(of), bare(of.phone)];
/** The words that can be read, by table, with every key. The bank that the sandbox plays knows its own customers. */
async function readable(words: readonly string[]): Promise<Map<string, string[]>> {
  const tables = await readableRows({ query, vault: world.server.vault });
  const found = Object.entries(tables).map(([table, rows]): [string, string[]] => [
    table,
    [...new Set(rows.flatMap((row) => findInText(row, words)).map(({ word }) => word))].toSorted(),
  ]);
  return new Map(found.filter(([, some]) => some.length > 0));
}

/** All blind indexes that are computed from these values, as hex. */
async function indexesOf(of: Given): Promise<Map<string, string>> {
  const { vault } = world.server;
  const partnerId = (await query('select partner_id from customers where id = $1', [customers.get(of)?.id]))[0]
    .partner_id;
  const id: string = customers.get(of)?.id;
  const accounts = [of.accountNumber, `9${of.accountNumber}`].map((account) => ({ account, ifsc: 'HDFC0000001' }));
  const denied = accounts.map(({ account }) => vault.index(account, 'denied_destinations.account'));
  const files = await query('select digest from submission_files where customer_id = $1', [id]);
  const all: Record<string, readonly Buffer[]> = {
    phone: phoneIndexes(vault, partnerId, of.phone),
    'phone of a link': [phoneOfLink(id, of.phone)],
    identity: identityIndexes(vault, partnerId, { identityNumber: of.identityNumber }),
    'compared file': picturesOf(of).flatMap((content) =>
      comparedIndexes(vault, partnerId, 'file', createHash('sha256').update(content).digest('hex')),
    ),
    details: accounts.flatMap((one) => detailsIndexes(vault, id, 'inr', one)),
    number: accounts.flatMap((one) => [null, partnerId].flatMap((owner) => numberIndexes(vault, owner, one))),
    payer: [null, partnerId].flatMap((owner) => payerIndexes(vault, owner, of.accountNumber)),
    'denied account': denied,
    file: files.map(({ digest }: { digest: Buffer }) => digest),
  };
  return new Map(
    Object.entries(all).flatMap(([what, some]) => some.map((one, at) => [one.toString('hex'), `${what} ${at}`])),
  );
}

/** Where these indexes are, as `table: what`. A deny list is the operator's own, and stays as it was loaded. */
async function foundIndexes(indexes: ReadonlyMap<string, string>): Promise<string[]> {
  const found = await findInDump(world.adminUrl, [...indexes.keys()]);
  const where = found.map(({ table, word }) => `${table.replace('cloverleaf.', '')}: ${indexes.get(word)}`);
  return [...new Set(where)].filter((one) => !one.startsWith('denied_destinations')).toSorted();
}

test('after an erasure nothing of requests and replies is readable, and no blind index is left; others keep theirs', async () => {
  await indexPayers(world.server.db, world.server.vault);
  const [gone, stays] = [await indexesOf(GONE), await indexesOf(STAYS)];
  await world.until('the request log is written', async () => {
    const lines = await query(`select from request_log where operation = 'destinations.create'`);
    return lines.length >= 4;
  });
  const before = {
    gone: await foundIndexes(gone),
    stays: await foundIndexes(stays),
    known: await readable(wordsOf(STAYS)),
  };
  // The search finds what is there.
  const kinds = [...new Set([...before.gone].map((one) => one.replace(/.*: (.*) \d+$/, '$1')))].toSorted();
  assert.deepEqual(kinds, [
    'compared file',
    'denied account',
    'details',
    'file',
    'identity',
    'number',
    'payer',
    'phone',
    'phone of a link',
  ]);
  for (const table of ['decisions', 'screenings', 'approvals', 'audit', 'proposals'])
    assert.ok(before.gone.includes(`${table}: denied account 0`), `${table} has no index of the account`);
  const known = await readable(wordsOf(GONE));
  for (const table of ['idempotency_records', 'request_log', 'entries', 'approvals', 'legal_holds'])
    assert.ok(known.has(table), `${table} has nothing to erase`);

  /** Of the decisions about its payouts, the oldest first: to an account, and to an address. */
  const replays = async (of: Given) => {
    const decisions = await query(
      `select id from decisions where about = 'payout' and inputs->>'customerId' = $1 order by id`,
      [customers.get(of)?.id],
    );
    const replayed: Came[] = [];
    for (const { id } of decisions)
      replayed.push((await ada.does(`/screening/decisions/${id}/replay`, { kind: 'own' })).body.replay);
    return replayed;
  };
  const held = { outcome: 'same', stored: ['destination_denied'], found: ['destination_denied'] };
  // The list was replaced since, so what was found in it counts.
  const replayed = await replays(GONE);
  assert.deepEqual(replayed[0], { ...held, basis: 'kept_answer' });
  assert.deepEqual((await replays(STAYS))[0], { ...held, basis: 'inputs' });
  assert.ok(replayed.length > 1, 'there is no decision about a payout to an address');
  const rows = await rowsOf(GONE);
  const { statement } = await twoDo(ada, bea, `/customers/${customers.get(GONE)?.id}/erase`);
  await agrees(statement, rows);
  assert.deepEqual(
    await replays(GONE),
    replayed.map(() => ({ outcome: 'inputs_erased' })),
  );
  assert.deepEqual([...(await readable(wordsOf(GONE)))], []);
  assert.deepEqual(await foundIndexes(gone), []);
  assert.deepEqual(await foundIndexes(stays), before.stays);
  assert.deepEqual(await readable(wordsOf(STAYS)), before.known);
});

/** Numbers of rows that the tables have of a customer, counted without the program. */
async function rowsOf(of: Given): Promise<Record<string, number>> {
  const id: string = customers.get(of)?.id;
  const its = `(select id from orders where customer_id = $1)`;
  const deposits = `(select id from deposits where order_id in ${its})`;
  const payouts = `(select id from payouts where order_id in ${its})`;
  const cases = `(select id from cases where order_id in ${its} or subject = 'customer:' || $1)`;
  const about = `('customer:' || $1 = subject or subject in (select 'order:' || id from orders where customer_id = $1 union all
    select 'case:' || id from ${cases} c union all select 'deposit:' || id from ${deposits} d union all select 'payout:' || id from ${payouts} p))`;
  const counted: Record<string, string> = {
    contact: 'customers where id = $1 and phone is not null',
    details: 'customer_details where customer_id = $1',
    compared_documents: 'compared_documents where customer_id = $1',
    submissions: `submissions where customer_id = $1 and answers <> ''`,
    accounts: `fiat_accounts where (customer_id = $1 or sender_of in ${deposits}) and details <> ''`,
    files: 'submission_files where customer_id = $1',
    file_keys: 'customer_keys where customer_id = $1',
    destinations: 'customer_destinations where customer_id = $1',
    legal_holds: `legal_holds where customer_id = $1 and reason like 'enc:%'`,
    link_phones: `checkouts where id = 'link-' || $1 and phones_named <> '{}'`,
    statement_lines: `bank_lines where details is not null and (key in ${payouts} or external_id in
      (select external_id from deposits where order_id in ${its}) or external_id in (select reference from payouts where order_id in ${its}))`,
    customer: 'customers where id = $1',
    orders: 'orders where customer_id = $1',
    deposits: `deposits where order_id in ${its}`,
    payouts: `payouts where order_id in ${its}`,
    entries: `entries where order_id in ${its}`,
    order_history: `order_history where order_id in ${its}`,
    events: `events where ${about}`,
    decisions: `decisions where order_id in ${its}`,
    approvals: `approvals where order_id in ${its}`,
    cases: `cases where id in ${cases}`,
    audit: `audit where ${about}`,
  };
  const found: Record<string, number> = {};
  for (const [kind, from] of Object.entries(counted))
    found[kind] = (await query(`select count(*)::int as count from ${from}`, [id]))[0].count;
  return found;
}

/** The statement names the rows that were there, and those that are there now, and nothing besides. */
async function agrees(statement: Came, before: Record<string, number>): Promise<void> {
  const after = await rowsOf(GONE);
  const erased = Object.fromEntries(statement.erased.map(({ kind, count }: Came) => [kind, count]));
  const ERASED = [
    ...['contact', 'details', 'compared_documents', 'submissions', 'accounts', 'files', 'file_keys', 'destinations'],
    'legal_holds',
  ];
  for (const kind of [...ERASED, 'link_phones', 'statement_lines']) {
    assert.equal(erased[kind] ?? 0, before[kind], `${kind} were there before`);
    assert.equal(after[kind], 0, `${kind} are still there`);
  }
  const OTHERS = [
    'stored_replies',
    'request_lines',
    'decisions',
    'entry_texts',
    'events',
    'operator_texts',
    'order_texts',
  ];
  for (const kind of OTHERS) assert.ok(erased[kind] > 0, `no ${kind} were erased`);
  const known = [
    ...ERASED,
    ...OTHERS,
    'link_phones',
    'statement_lines',
    'case_texts',
    'document_dates',
    'drafts',
    'login_codes',
  ];
  assert.deepEqual(
    Object.keys(erased).filter((kind) => !known.includes(kind)),
    [],
  );

  const remains = new Map<string, Came>(statement.remains.map((one: Came) => [one.kind, one]));
  const REMAINS = [
    'customer',
    'orders',
    'deposits',
    'payouts',
    'entries',
    'order_history',
    'events',
    'decisions',
    'approvals',
  ];
  for (const kind of [...REMAINS, 'cases', 'audit']) {
    assert.ok((after[kind] ?? 0) > 0, `there are no ${kind}`);
    assert.equal(remains.get(kind)?.count, after[kind], kind);
    assert.ok(remains.get(kind)?.why.length > 20, `${kind} remain without a reason`);
  }
  assert.equal(remains.get('blind_indexes')?.count, 0);
  assert.equal(remains.get('backups')?.until, statement.backupsEndAt);
  assert.deepEqual(
    [...remains.keys()].filter((kind) => ![...REMAINS, 'cases', 'audit', 'blind_indexes'].includes(kind)),
    ['request_log', 'backups', 'erasure_list'],
  );
  const read = (await ada.reads(`/customers/${statement.customerId}/erasure`)).body;
  assert.deepEqual(read, { statement, request: null });
  const none = (await ada.reads(`/customers/${customers.get(STAYS)?.id}/erasure`)).body;
  assert.deepEqual(none, { statement: null, request: null });
}

test('a repeat of a request from before the erasure enrols nobody again, and others’ replies are repeated', async () => {
  const again = (of: Given) => {
    const { reference, phone, email } = of;
    const body = { reference, kind: 'individual', phone, email };
    return api.send('POST', '/customers', body, { key: `enrol-${reference}` });
  };
  const [gone, stays] = [await again(GONE), await again(STAYS)];
  assert.deepEqual([gone.status, gone.body.reason], [409, 'idempotency_conflict'], gone.text);
  assert.deepEqual([stays.status, stays.body.id], [201, customers.get(STAYS)?.id], stays.text);
});

test('an erasure leaves the replies about others whose data only contains that of the customer', async () => {
  const enrols = (reference: string) => {
    const phone = `+91-91${String(reference.length).padStart(8, '0')}`;
    return api.send('POST', '/customers', { reference, kind: 'individual', phone }, { key: `enrols-${reference}` });
  };
  const gone = (await enrols('1')).body;
  const longer = (await enrols('of-the-shop')).body;
  const others = ['21', 'most-of-the-shops', 'INDIVIDUAL'];
  const stays = await Promise.all(others.map(async (reference) => (await enrols(reference)).body.id));
  for (const { id } of [gone, longer]) await twoDo(ada, bea, `/customers/${id}/erase`);
  for (const reference of ['1', 'of-the-shop'])
    assert.equal((await enrols(reference)).body.reason, 'idempotency_conflict');
  for (const [at, reference] of others.entries()) {
    const { status, body, text } = await enrols(reference);
    assert.deepEqual([status, body.id], [201, stays[at]], `${reference}: ${text}`);
  }
});
