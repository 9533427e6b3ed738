/**
 * Sanctions screening on a real database: lists with versions, results, hits and decisions, as the gate reads them.
 *
 * Long because its claims are about one register and its lists.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Database, Tx } from '../../../src/base/db.ts';
import { Refusal, Unavailable } from '../../../src/base/errors.ts';
import {
  acceptShrunken,
  decideHit,
  findDecided,
  listCases,
  listHits,
  listStates,
  openHit,
  openSanctions,
  RULES_VERSION,
  replayDecision,
  type Screening,
  screenOwn,
  USUAL_THRESHOLD,
} from '../../../src/compliance/index.ts';
import {
  addFiatAccount,
  blockOf,
  enroll,
  findCustomer,
  givenDetails,
  saveDetails,
} from '../../../src/customers/index.ts';
import { createPartner, type Partner, upsertAsset } from '../../../src/partners/index.ts';
import { newPhone } from '../../support/client.ts';
import { type Fixture, freshFixture } from '../../support/fixture.ts';

let fixture: Fixture;
let partner: Partner;
let dir: string;
const now = () => fixture.clock.now();
const inTx = <T>(work: (tx: Tx) => Promise<T>) => fixture.db.asSystem(work);
/** What the audit would have. */
const recorded: { subject: string; after: unknown }[] = [];
const payers = new Map<bigint, { names: string[]; address?: string; revision: number }>();

before(async () => {
  fixture = await freshFixture();
  await inTx((tx) =>
    upsertAsset(tx, {
      code: 'inr',
      kind: 'fiat',
      coin: 'inr',
      chain: null,
      contract: null,
      decimals: 2,
      native: false,
    }),
  );
  partner = await inTx((tx) => createPartner(tx, { name: 'Mine', now: now(), tradeLevel: 1 }));
  dir = mkdtempSync(join(tmpdir(), 'sanctions-'));
});
after(async () => {
  await fixture?.stop();
  if (dir !== undefined) rmSync(dir, { recursive: true });
});

interface Options {
  db?: Database;
  maxAgeMs?: number;
  threshold?: number;
  source?: { list: 'ofac'; from: string };
}

const open = (more: Options = {}) =>
  openSanctions({
    db: more.db ?? fixture.db,
    vault: fixture.vault,
    clock: fixture.clock,
    ask: async () => assert.fail('these lists are files'),
    sources: [more.source ?? { list: 'uk', from: join(dir, 'uk.xml') }],
    rules: { version: RULES_VERSION, threshold: more.threshold ?? USUAL_THRESHOLD },
    maxAgeMs: more.maxAgeMs ?? 86_400_000,
    payerOf: async (_tx, id) => payers.get(id),
    rails: () => [],
    record: async (_tx, { subject, after }) => void recorded.push({ subject, after }),
  });

interface Listed {
  id: string;
  name: string;
  born?: string;
  kind?: 'Individual' | 'Entity';
}

const designation = ({ id, name, born = '', kind = 'Individual' }: Listed): string =>
  `<Designation><UniqueID>${id}</UniqueID><IndividualEntityShip>${kind}</IndividualEntityShip>
      <Names><Name><Name6>${name}</Name6><NameType>Primary Name</NameType></Name></Names>
      <IndividualDetails><Individual><DOBs><DOB>${born}</DOB></DOBs></Individual></IndividualDetails></Designation>`;

/** Writes the list, and has it read. */
async function lists(sanctions: ReturnType<typeof open>, entries: readonly Listed[]): Promise<void> {
  writeFileSync(join(dir, 'uk.xml'), `<Designations>${entries.map(designation).join('')}</Designations>`);
  utimesSync(join(dir, 'uk.xml'), now(), now());
  await sanctions.handlers.refresh_sanctions?.('uk');
}

async function businessOf(details: Record<string, string>): Promise<string> {
  const given = { partnerId: partner.id, phone: newPhone(), kind: 'BUSINESS', now: now() } as const;
  const { id } = await inTx((tx) => enroll(tx, fixture.vault, { ...given, clientCustomerId: newPhone() }));
  await gives(id, details);
  return id;
}

async function customerNamed(
  firstName: string,
  lastName: string,
  more: Record<string, string> = {},
  clientCustomerId = `${firstName} ${lastName}`,
): Promise<string> {
  const given = { partnerId: partner.id, phone: newPhone(), kind: 'INDIVIDUAL', now: now() } as const;
  const { id } = await inTx((tx) => enroll(tx, fixture.vault, { ...given, clientCustomerId }));
  await gives(id, { firstName, lastName, ...more });
  return id;
}

async function gives(id: string, details: Record<string, string>): Promise<void> {
  const customer = await inTx((tx) => findCustomer(tx, id));
  await inTx(async (tx) =>
    saveDetails(tx, fixture.vault, { customer, details, over: await givenDetails(tx, id), now: now() }),
  );
}

const input = (customerId: string, depositIds: bigint[] = []): Screening => ({
  ...{ id: 1n, partnerId: partner.id, customerId, merchantReference: null, fiatAccountId: null },
  ...{ payoutAddress: '0x0000000000000000000000000000000000000001', depositIds },
});
const rulesOf = async (sanctions: ReturnType<typeof open>, customerId: string, deposits: bigint[] = []) =>
  (await inTx((tx) => sanctions.read(tx, input(customerId, deposits)))).hits.map(({ rule }) => rule);
const openHits = async (customerId: string) =>
  (await inTx((tx) => listHits(tx, { state: 'open', after: 0n, limit: 100 }))).filter(
    (hit) => hit.customerId === customerId,
  );
const cases = async (kind: string) =>
  (await inTx((tx) => listCases(tx, { open: true, kind, limit: 100 }))).map(({ subject }) => subject);
const decides = (id: bigint, outcome: 'true_hit' | 'false_positive') =>
  inTx((tx) => decideHit(tx, { id, outcome, people: ['ada', 'bea'], reason: 'looked at the passport', now: now() }));
const only = <T>(all: readonly T[]): T => {
  assert.equal(all.length, 1);
  return all[0] as T;
};

const TARAS = { id: 'XXX0001', name: 'Taras Ilyich ORLENKOV', born: 'dd/mm/1971' };
const OTHER = { id: 'XXX0002', name: 'Harun Mustafa KHAYALI' };

const WORKS = { id: 'XXX0009', name: 'ZEBRAFELL MARITIME WORKS', kind: 'Entity' } as const;

test('without any list no customer is cleared: the screener is unavailable, and the gate waits', async () => {
  const sanctions = open();
  const id = await customerNamed('Asha', 'Rao');
  await assert.rejects(sanctions.ensure(input(id)), Unavailable);
  const wait = await inTx((tx) => sanctions.wait(tx, input(id)));
  assert.deepEqual(wait, { cause: 'lists', why: 'sanctions list uk was never read' });
  // A list that cannot be read opens one case, and changes nothing.
  await sanctions.handlers.refresh_sanctions?.('uk');
  assert.deepEqual(await cases('sanctions_list'), ['sanctions list uk']);
  assert.deepEqual(await inTx(listStates), []);
});

test('a list gets a new version only if it differs, and an unchanged entry keeps its row', async () => {
  const sanctions = open();
  await lists(sanctions, [TARAS, OTHER]);
  assert.deepEqual(await cases('sanctions_list'), []);
  const first = only(await inTx(listStates));
  await lists(sanctions, [OTHER, TARAS]);
  assert.equal(only(await inTx(listStates)).versionId, first.versionId);
  await lists(sanctions, [TARAS, { id: 'XXX0003', name: 'Lucia MENDEZ QUIROGA' }]);
  const { versionId, entries, added, removed, changed } = only(await inTx(listStates));
  assert.ok(versionId > first.versionId);
  assert.deepEqual({ entries, added, removed, changed }, { entries: 2, added: 1, removed: 1, changed: 0 });
  const rows = await inTx((tx) =>
    tx.rows<{ addedIn: bigint }>(`select added_in from sanctions_entries where entry = 'XXX0001'`),
  );
  assert.deepEqual(rows, [{ addedIn: first.versionId }]);
});

test('a business is compared by every name that a form or a wire gives it, beside its contact person', async () => {
  const sanctions = open();
  await lists(sanctions, [WORKS]);
  const contact = { firstName: 'Asha', lastName: 'Rao' };
  for (const field of ['entityName', 'companyName', 'legalName', 'businessName']) {
    const id = await businessOf({ ...contact, [field]: 'Zebrafell Maritime Works' });
    await sanctions.ensure(input(id));
    assert.deepEqual(await rulesOf(sanctions, id), ['sanctions_undecided'], field);
  }
  // A form may ask for a name, and the wire may give another beside it: neither hides the other.
  const both = await businessOf({ ...contact, companyName: 'Rao Traders', entityName: 'Zebrafell Maritime Works' });
  await sanctions.ensure(input(both));
  assert.deepEqual(await rulesOf(sanctions, both), ['sanctions_undecided']);
});

test('a customer with a listed name has an open hit with a case; people see alert and entry; two dismiss it for good', async () => {
  const sanctions = open();
  await lists(sanctions, [TARAS]);
  const id = await customerNamed('Taras', 'Orlenkov', { dob: '1971-05-05' });
  assert.equal((await inTx((tx) => sanctions.wait(tx, input(id))))?.cause, 'screening');
  await sanctions.ensure(input(id));
  assert.equal(await inTx((tx) => sanctions.wait(tx, input(id))), undefined);
  assert.deepEqual(await rulesOf(sanctions, id), ['sanctions_undecided']);
  assert.ok((await cases('sanctions_hit')).includes(`sanctions:customer:${id}`));
  const hit = only(await openHits(id));
  assert.deepEqual([hit.list, hit.listEntry, hit.score], ['uk', 'XXX0001', '0.9900']);
  const { alert, listEntry } = await inTx((tx) => openHit(tx, fixture.vault, hit.id));
  assert.deepEqual(alert.given, { names: ['Taras Orlenkov'], kind: 'person', born: '1971-05-05' });
  assert.deepEqual([alert.explanation?.born, alert.explanation?.unmatched.listed], ['agrees', ['ilyich']]);
  assert.equal(listEntry.id, 'XXX0001');

  await decides(hit.id, 'false_positive');
  assert.deepEqual(await rulesOf(sanctions, id), []);
  assert.ok(!(await cases('sanctions_hit')).includes(`sanctions:customer:${id}`));
  await assert.rejects(
    decides(hit.id, 'false_positive'),
    (error) => error instanceof Refusal && error.code === 'hit_over',
  );
  // Another entry makes a new version: all subjects are compared again, and no earlier hit is asked again.
  await lists(sanctions, [TARAS, OTHER]);
  assert.equal((await inTx((tx) => sanctions.wait(tx, input(id))))?.cause, 'screening');
  await sanctions.handlers.screen_names?.('all');
  assert.equal(await inTx((tx) => sanctions.wait(tx, input(id))), undefined);
  assert.deepEqual(await rulesOf(sanctions, id), []);
});

test('a new question is asked: a changed entry, another name, a list that names a customer', async () => {
  const sanctions = open();
  await lists(sanctions, [TARAS]);
  const id = await customerNamed('Taras', 'Orlenkow');
  await sanctions.ensure(input(id));
  await decides(only(await openHits(id)).id, 'false_positive');
  await lists(sanctions, [{ ...TARAS, born: '01/02/1972' }]);
  await sanctions.ensure(input(id));
  const again = only(await openHits(id));
  await decides(again.id, 'false_positive');
  assert.deepEqual(await rulesOf(sanctions, id), []);
  await gives(id, { firstName: 'Taras Ilyich', lastName: 'Orlenkov' });
  assert.equal((await inTx((tx) => sanctions.wait(tx, input(id))))?.cause, 'screening');
  await sanctions.ensure(input(id));
  assert.deepEqual(await rulesOf(sanctions, id), ['sanctions_undecided']);

  const clear = await customerNamed('Harun', 'Khayali');
  await sanctions.ensure(input(clear));
  assert.deepEqual(await rulesOf(sanctions, clear), []);
  await lists(sanctions, [TARAS, OTHER]);
  await sanctions.handlers.screen_names?.('all');
  assert.deepEqual(await rulesOf(sanctions, clear), ['sanctions_undecided']);
  // A removed entry closes its undecided hit.
  await lists(sanctions, [TARAS]);
  await sanctions.handlers.screen_names?.('all');
  assert.deepEqual(await rulesOf(sanctions, clear), []);
});

test('an undecided hit stays when the customer gives another name, or less is found', async () => {
  const sanctions = open();
  await lists(sanctions, [TARAS]);
  const id = await customerNamed('Orlenkov', 'Taras Ilyich');
  await sanctions.ensure(input(id));
  const hit = only(await openHits(id));
  await gives(id, { firstName: 'Asha', lastName: 'Rao' });
  await sanctions.ensure(input(id));
  assert.deepEqual(await rulesOf(sanctions, id), ['sanctions_undecided']);
  const strict = open({ threshold: 10_000 });
  await strict.ensure(input(id));
  assert.deepEqual(await rulesOf(strict, id), ['sanctions_undecided']);
  await decides(hit.id, 'false_positive');
  assert.deepEqual(await rulesOf(sanctions, id), []);
});

test('a true hit on any of a customer’s subjects blocks the customer, and our own screening reports it', async () => {
  const sanctions = open();
  await lists(sanctions, [TARAS, OTHER]);
  const id = await customerNamed('Haroun', 'Al Khayali');
  await sanctions.ensure(input(id));
  await decides(only(await openHits(id)).id, 'true_hit');
  assert.ok((await inTx((tx) => blockOf(tx, id))) !== null);
  assert.deepEqual(await rulesOf(sanctions, id), ['sanctions_hit']);
  const verdict = await inTx((tx) => screenOwn(tx, fixture.vault, input(id), sanctions));
  assert.deepEqual(
    verdict.hits.map(({ rule }) => rule),
    ['customer_blocked', 'sanctions_hit'],
  );
  assert.match(verdict.rules, /names 2, threshold 8000, lists uk/);
});

test('a payer without a customer is compared too, and the deposit owns its hit', async () => {
  const sanctions = open();
  await lists(sanctions, [TARAS]);
  payers.set(900n, { names: ['T. ORLENKOV'], revision: 0 });
  const of: Screening = { ...input(''), customerId: null, depositIds: [900n] };
  await sanctions.ensure(of);
  assert.deepEqual(
    (await inTx((tx) => sanctions.read(tx, of))).hits.map(({ rule }) => rule),
    ['sanctions_undecided'],
  );
  const hits = await inTx((tx) => listHits(tx, { state: 'open', after: 0n, limit: 100 }));
  assert.equal(only(hits.filter(({ subject }) => subject === 'payer:900')).owner, 'deposit:900');
});

test('a holder of an account with a name that was decided about for its customer is no new question; another name is', async () => {
  const sanctions = open();
  await lists(sanctions, [TARAS]);
  const id = await customerNamed('Orlenkov', 'Taras');
  await sanctions.ensure(input(id));
  await decides(only(await openHits(id)).id, 'false_positive');
  const customer = await inTx((tx) => findCustomer(tx, id));
  const held = async (accountHolder: string, account: string): Promise<Screening> => {
    const details = { account, ifsc: 'HDFC0000001', accountHolder };
    const added = await inTx((tx) => addFiatAccount(tx, fixture.vault, { customer, fiat: 'inr', details, now: now() }));
    return { ...input(id), fiatAccountId: added.id, payoutAddress: null };
  };
  for (const [name, number, hits] of [
    ['TARAS ORLENKOV', '00010001', []],
    ['Taras I Orlenkov', '00010002', ['sanctions_undecided']],
  ] as const) {
    const to = await held(name, number);
    await sanctions.ensure(to);
    assert.deepEqual(
      (await inTx((tx) => sanctions.read(tx, to))).hits.map(({ rule }) => rule),
      hits,
      name,
    );
  }
});

test('an address on a list is a denied destination, in any spelling, until the list no longer has it', async () => {
  const ofac = fileURLToPath(new URL('../../fixtures/sanctions/ofac.xml', import.meta.url));
  const clean = join(dir, 'ofac.xml');
  writeFileSync(
    clean,
    readFileSync(ofac, 'utf8').replaceAll(/0x0+deadc0de/g, '0x00000000000000000000000000000000000000aa'),
  );
  const id = await customerNamed('Priya', 'Nair');
  const to = { ...input(id), payoutAddress: '0x00000000000000000000000000000000DEADC0DE' };
  const rules = async () => (await inTx((tx) => screenOwn(tx, fixture.vault, to))).hits.map(({ rule }) => rule);
  assert.deepEqual(await rules(), []);
  await open({ source: { list: 'ofac', from: ofac } }).handlers.refresh_sanctions?.('ofac');
  assert.deepEqual(await rules(), ['destination_denied']);
  await open({ source: { list: 'ofac', from: clean } }).handlers.refresh_sanctions?.('ofac');
  assert.deepEqual(await rules(), []);
});

test('coins from an address on a list are a hit of their deposit, and replayed alike', async () => {
  const from = fileURLToPath(new URL('../../fixtures/sanctions/ofac.xml', import.meta.url));
  const sanctions = open({ source: { list: 'ofac', from } });
  await sanctions.handlers.refresh_sanctions?.('ofac');
  payers.set(901n, { names: [], address: '0x00000000000000000000000000000000DEADC0DE', revision: 0 });
  payers.set(902n, { names: [], address: '0x00000000000000000000000000000000000000bb', revision: 0 });
  const of = (id: bigint): Screening => ({ ...input(''), customerId: null, depositIds: [id] });
  for (const id of [901n, 902n]) await sanctions.ensure(of(id));
  const rules = async (id: bigint) => (await inTx((tx) => sanctions.read(tx, of(id)))).hits.map(({ rule }) => rule);
  assert.deepEqual([await rules(901n), await rules(902n)], [['sanctions_undecided'], []]);
  const hits = await inTx((tx) => listHits(tx, { state: 'open', after: 0n, limit: 100 }));
  const hit = only(hits.filter(({ owner }) => owner === 'deposit:901'));
  assert.deepEqual([hit.list, hit.listEntry, hit.score], ['ofac', '90001', '1.0000']);
  assert.equal((await replayDecision(fixture, { kind: 'names', id: hit.screening })).outcome, 'same');
});

test('a customer without any name is never cleared', async () => {
  const sanctions = open();
  await lists(sanctions, [TARAS]);
  const given = {
    partnerId: partner.id,
    clientCustomerId: 'nameless',
    phone: newPhone(),
    kind: 'INDIVIDUAL',
    now: now(),
  } as const;
  const { id } = await inTx((tx) => enroll(tx, fixture.vault, given));
  await sanctions.ensure(input(id));
  assert.deepEqual(await rulesOf(sanctions, id), ['sanctions_nameless']);
});

test('a list that is older than allowed makes money wait, with one case, until it is read again', async () => {
  const sanctions = open({ maxAgeMs: 3_600_000 });
  await lists(sanctions, [TARAS]);
  const id = await customerNamed('Grace', 'Okafor');
  await sanctions.ensure(input(id));
  assert.equal(await inTx((tx) => sanctions.wait(tx, input(id))), undefined);
  const later = new Date(now().getTime() - 7_200_000);
  await inTx((tx) => tx.run('update sanctions_lists set as_of = $1', [later]));
  utimesSync(join(dir, 'uk.xml'), later, later);
  assert.equal((await inTx((tx) => sanctions.wait(tx, input(id))))?.cause, 'lists');
  await sanctions.handlers.refresh_sanctions?.('uk');
  assert.deepEqual(await cases('sanctions_list'), ['sanctions list uk']);
  await lists(sanctions, [TARAS]);
  assert.deepEqual(await cases('sanctions_list'), []);
  assert.equal(await inTx((tx) => sanctions.wait(tx, input(id))), undefined);
});

test('a list with many entries missing is rejected, with a case, also with its checksum; people accept these bytes', async () => {
  const sanctions = open();
  const id = await customerNamed('Yevdokim', 'Zhiltsov');
  const many = Array.from({ length: 60 }, (_, at) => ({ id: `MANY${at}`, name: `Somebody NUMBER${at}` }));
  const listed = { id: 'MANY', name: 'Yevdokim ZHILTSOV' };
  await lists(sanctions, [...many, listed]);
  await sanctions.ensure(input(id));
  assert.deepEqual(await rulesOf(sanctions, id), ['sanctions_undecided']);
  await lists(sanctions, many.slice(0, 3));
  await sanctions.ensure(input(id));
  assert.deepEqual(
    await rulesOf(sanctions, id),
    ['sanctions_undecided'],
    'a person missing in the rejected list was cleared',
  );
  assert.deepEqual(await cases('sanctions_list'), ['sanctions list uk']);
  // As little missing as in publishers' largest removals.
  await lists(sanctions, [...many.slice(2), listed]);
  assert.deepEqual(await cases('sanctions_list'), []);
  const few = many.slice(2, 3);
  const state = async () => (await inTx(listStates)).find(({ list }) => list === 'uk');
  const sum = createHash('sha256')
    .update(`<Designations>${few.map(designation).join('')}</Designations>`)
    .digest('hex');
  writeFileSync(join(dir, 'uk.xml.sha256'), sum);
  await lists(sanctions, few);
  rmSync(join(dir, 'uk.xml.sha256'));
  const waits = await state();
  assert.deepEqual([waits?.refusedSha256, waits?.refusedEntries, waits?.refusedRemoved], [sum, 1, 58]);
  assert.deepEqual(await rulesOf(sanctions, id), ['sanctions_undecided'], 'a checksum replaced the people');

  const accepts = (sha256: string) => inTx((tx) => acceptShrunken(tx, { list: 'uk', sha256, now: now() }));
  await assert.rejects(accepts('0'.repeat(64)), (error) => error instanceof Refusal && error.code === 'unknown_list');
  await accepts(sum);
  // Other bytes than those that were accepted.
  await lists(sanctions, many.slice(3, 5));
  assert.equal((await state())?.entries, 59);
  await lists(sanctions, few);
  assert.equal((await state())?.entries, 59, 'an acceptance outlived the bytes it was for');
  await accepts(sum);
  await lists(sanctions, few);
  const taken = await state();
  assert.deepEqual([taken?.entries, taken?.removed, taken?.refusedSha256], [1, 58, null]);
  assert.deepEqual(await cases('sanctions_list'), []);
  const { subject, after: said } = recorded.at(-1) ?? {};
  const { version: _, published: __, ...counts } = said as Record<string, unknown>;
  assert.equal(subject, 'sanctions_list:uk');
  assert.deepEqual(counts, { sha256: sum, entries: 1, added: 0, changed: 0, removed: 58 });
  await sanctions.ensure(input(id));
  assert.deepEqual(await rulesOf(sanctions, id), []);
});

test('a result can be computed again from its stored names and lists, also after newer ones, unless they were erased', async () => {
  const sanctions = open();
  await lists(sanctions, [TARAS, OTHER]);
  const id = await customerNamed('Taras', 'Orlenkov Ilyich');
  await sanctions.ensure(input(id));
  const { screening } = only(await openHits(id));
  await lists(sanctions, [OTHER]);
  const replayed = await replayDecision(fixture, { kind: 'names', id: screening });
  assert.equal(replayed.outcome, 'same');
  assert.ok('found' in replayed && Array.isArray(replayed.found));
  assert.equal(replayed.found.length, 1);
  await inTx((tx) => tx.run(`update name_screenings set found = '[]' where id = $1`, [screening]));
  assert.equal((await replayDecision(fixture, { kind: 'names', id: screening })).outcome, 'different');
  await inTx((tx) =>
    tx.run(`update name_screenings set rules = 'names 0, threshold 8000, lists uk' where id = $1`, [screening]),
  );
  assert.equal((await replayDecision(fixture, { kind: 'names', id: screening })).outcome, 'rules_changed');
  await inTx((tx) => tx.run('update name_screenings set inputs = null where id = $1', [screening]));
  assert.equal((await replayDecision(fixture, { kind: 'names', id: screening })).outcome, 'inputs_erased');
  assert.equal((await inTx((tx) => findDecided(tx, { kind: 'names', id: screening }))).isErased, true);
  await assert.rejects(replayDecision(fixture, { kind: 'names', id: 10n ** 15n }), Refusal);
});

test('comparing a whole register again resumes from its position, and equal results make no new rows', async () => {
  const sanctions = open();
  await lists(sanctions, [TARAS]);
  for (let at = 0; at < 5; at++) await customerNamed('Emma', `Johansson${at}`);
  await sanctions.handlers.screen_names?.('all');
  const count = async () =>
    (await inTx((tx) => tx.row<{ count: bigint }>('select count(*) as count from name_screenings')))?.count;
  const rows = await count();
  await lists(sanctions, [TARAS, OTHER]);
  // A part of it, by another process that ended.
  const two = await inTx((tx) =>
    tx.rows<{ subject: string }>(
      `select subject from name_screenings where ended_at is null and subject like 'customer:%' order by id desc limit 2`,
    ),
  );
  for (const { subject } of two) await sanctions.ensure(input(subject.slice('customer:'.length)));
  await sanctions.handlers.screen_names?.('all');
  assert.ok(((await count()) ?? 0n) - (rows ?? 0n) <= 2n, 'an unchanged result got a new row');
  const due = await inTx((tx) =>
    tx.rows(`select from name_screenings where ended_at is null and subject not like 'payer:%'
    and screened_to < (select max(id) from sanctions_versions)`),
  );
  assert.equal(due.length, 0);
});

/** A database whose transactions of the system are counted. `before` runs before each, `then` after it with its result. */
function counted({
  before = () => {},
  then = async () => {},
}: {
  before?: (number: number) => void;
  then?: (result: unknown) => Promise<void>;
} = {}) {
  let count = 0;
  const asSystem: Database['asSystem'] = async (body) => {
    count += 1;
    before(count);
    const result = await fixture.db.asSystem(body);
    await then(result);
    return result;
  };
  return { db: { ...fixture.db, asSystem }, count: () => count };
}

const PETRONIUS = ['Petronius', 'Quillfeather'] as const;

test('many customers are compared in few transactions; a process that ends keeps those done, and a hit opens its case once', async () => {
  const calm = open();
  await lists(calm, [TARAS]);
  const ids: string[] = [];
  for (let at = 0; at < 160; at += 1) {
    const [first, last] = at % 50 === 7 ? PETRONIUS : (['Emma', 'Svenningsen'] as const);
    ids.push(await customerNamed(first, last, {}, `many-${at}`));
  }
  await screens(calm);
  const listed = ids.filter((_, at) => at % 50 === 7);
  await lists(calm, [TARAS, { id: 'UK9', name: 'Petronius Quillfeather' }]);

  // The process ends at a transaction in the middle.
  const dying = counted({
    before: (number) => {
      if (number > 12) throw new Error('the process has ended');
    },
  });
  await assert.rejects(screens(open({ db: dying.db })));
  const done = await currentOf(ids);
  assert.ok(done > 0 && done < ids.length, `${done} results of ${ids.length} were kept`);

  const whole = counted();
  const sanctions = open({ db: whole.db });
  let isOver = false;
  const watched = (async () => {
    while (!isOver)
      for (const id of listed) {
        const seen = await inTx(async (tx) => {
          const wait = await sanctions.wait(tx, input(id));
          return wait === undefined ? (await sanctions.read(tx, input(id))).hits.length : undefined;
        });
        assert.notEqual(seen, 0, 'the gate read a result without its hit');
      }
  })();
  await screens(sanctions);
  isOver = true;
  await watched;
  assert.equal(await currentOf(ids), ids.length);
  assert.ok(whole.count() < 60, `${whole.count()} transactions`);
  for (const id of listed) assert.equal((await openHits(id)).length, 1);
  const opened = (await inTx((tx) => listCases(tx, { open: true, kind: 'sanctions_hit', limit: 200 }))).filter(
    ({ facts }) => listed.some((id) => facts.owner === `customer:${id}`),
  );
  assert.deepEqual(
    opened.map(({ facts }) => facts.open),
    listed.map(() => '1'),
  );
});

test('a name that changes while it is compared is compared again, and nothing is searched for afterwards', async () => {
  const id = await customerNamed('Emma', 'Beforehand');
  const account = await inTx(async (tx) =>
    addFiatAccount(tx, fixture.vault, {
      ...{ customer: await findCustomer(tx, id), fiat: 'inr', now: now() },
      details: { account: '7100000001', name: 'Emma Beforehand' },
    }),
  );
  let hasChanged = false;
  const { db } = counted({
    // The names were read, and their result is not stored yet.
    then: async (read) => {
      if (hasChanged || !Array.isArray(read) || !read.flat().some((one) => one?.owner === `customer:${id}`)) return;
      hasChanged = true;
      await gives(id, { firstName: 'Emma', lastName: 'Afterwards' });
    },
  });
  const sanctions = open({ db });
  await lists(sanctions, [TARAS]);
  await sanctions.handlers.screen_names?.('all');
  assert.ok(hasChanged);
  assert.deepEqual(await waiting(), [`customer:${id}`]);
  assert.equal((await inTx((tx) => sanctions.wait(tx, input(id))))?.cause, 'screening');
  await screens(sanctions);
  assert.equal(await inTx((tx) => sanctions.wait(tx, { ...input(id), fiatAccountId: account.id })), undefined);
  assert.deepEqual(await waiting(), []);
});

const screens = async (sanctions: ReturnType<typeof open>) => {
  while ((await sanctions.handlers.screen_names?.('all'))?.againInMs === 0);
};
const currentOf = async (ids: readonly string[]): Promise<number> =>
  (
    await inTx((tx) =>
      tx.rows(
        `select from name_screenings where ended_at is null and subject = any($1)
          and screened_to = (select max(id) from sanctions_versions)`,
        [ids.map((id) => `customer:${id}`)],
      ),
    )
  ).length;
const waiting = async () =>
  (await inTx((tx) => tx.rows<{ subject: string }>('select subject from names_to_compare order by subject'))).map(
    ({ subject }) => subject,
  );

test('a hundred subjects that cannot be read hold up no other, and one case names them until they can', async () => {
  const sanctions = open();
  await lists(sanctions, [TARAS]);
  const id = await customerNamed('Emma', 'Manyaccounts');
  const customer = await inTx((tx) => findCustomer(tx, id));
  await inTx(async (tx) => {
    for (let at = 0; at < 101; at += 1) {
      const details = { account: `70000${String(at).padStart(5, '0')}`, name: 'Emma Manyaccounts' };
      await addFiatAccount(tx, fixture.vault, { customer, fiat: 'inr', details, now: now() });
    }
  });
  await screens(sanctions);
  const spoil = () =>
    inTx((tx) => tx.run(`update fiat_accounts set details = '\\x00'::bytea || details where customer_id = $1`, [id]));
  await spoil();
  await lists(sanctions, [TARAS, OTHER]);
  const late = await customerNamed('Emma', 'Latecomer');
  await screens(sanctions);
  const stale = async () =>
    await inTx((tx) =>
      tx.rows<{ subject: string }>(`select subject from name_screenings s where ended_at is null
        and subject not like 'payer:%' and screened_to < (select max(id) from sanctions_versions) order by id`),
    );
  assert.equal((await stale()).length, 101);
  const compared = await inTx((tx) => tx.rows('select from name_screenings where subject = $1', [`customer:${late}`]));
  assert.equal(compared.length, 1, 'a new customer waited for them');
  const [opened] = (await inTx((tx) => listCases(tx, { open: true, limit: 100 }))).filter(
    ({ kind }) => kind === 'names_unscreened',
  );
  assert.equal(opened?.facts.count, 101);
  assert.doesNotMatch(JSON.stringify([opened?.reason, opened?.facts]), /Emma|Manyaccounts|70000/);

  await inTx((tx) =>
    tx.run(`update fiat_accounts set details = substring(details from 2) where customer_id = $1`, [id]),
  );
  await screens(sanctions);
  assert.equal((await stale()).length, 101, 'they are tried again only after a pause');
  fixture.clock.advance(600_000);
  await screens(sanctions);
  assert.deepEqual(await stale(), []);
  assert.deepEqual(await cases('names_unscreened'), []);
});

test('no row contains personal data in clear', async () => {
  for (const table of ['name_screenings', 'sanctions_hits']) {
    const rows = await inTx((tx) =>
      tx.rows<{ row: string }>(
        `select t::text || encode(coalesce(${table === 'name_screenings' ? 'inputs' : 'explanation'}, ''), 'escape') as row from ${table} t`,
      ),
    );
    assert.ok(rows.length > 0);
    for (const { row } of rows) assert.doesNotMatch(row, /orlenkov|khayali|taras|johansson/i);
  }
});
