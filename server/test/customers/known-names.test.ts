/**
 * Names that a verifier reads from a document: which names of a customer count with money and with sanctions lists, and the review of
 * a name that differs from the typed one.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import { checkHandlers, decideReview, listCases, openReview } from '../../src/compliance/index.ts';
import { knownOf } from '../../src/compliance/sanctions/subjects.ts';
import {
  CHECK_VERIFICATION,
  comparePayer,
  customerName,
  enroll,
  eraseCustomerRows,
  findCustomer,
  givenDetails,
  knownNames,
  legalDetails,
  saveDetails,
} from '../../src/customers/index.ts';
import { countingNames } from '../../src/customers/known-names.ts';
import { exportCustomer } from '../../src/erasure/export.ts';
import { createPartner, type Partner } from '../../src/partners/index.ts';
import type { Finding } from '../../src/verifiers/verifier.ts';
import { newPhone } from '../support/client.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';

let fixture: Fixture;
let partner: Partner;
let finding: Finding;
let checks: (customerId: string) => Promise<unknown>;
const now = () => fixture.clock.now();
const asSystem = <T>(work: (tx: Tx) => Promise<T>) => fixture.db.asSystem(work);

before(async () => {
  fixture = await freshFixture();
  partner = await asSystem((tx) => createPartner(tx, { name: 'Mine', now: now(), tradeLevel: 1 }));
  const verifier = {
    ...{ code: 'sumsub', highestLevel: 4, begin: async () => ({ pageUrl: undefined }), finding: async () => finding },
  };
  const jobs = checkHandlers({ ...fixture, verifier, overdueMs: 0 });
  checks = async (customerId) => await jobs[CHECK_VERIFICATION]?.(customerId);
});
after(() => fixture?.stop());

const reads = (names: Finding['names']): Finding => ({ outcome: 'verified', level: 2, ...(names && { names }) });

/** Submits details, and lets the verifier find this in their document. @returns the customer's id */
async function checked(
  details: Record<string, string>,
  found: Finding,
  { id, kind = 'INDIVIDUAL' }: { id?: string; kind?: 'INDIVIDUAL' | 'BUSINESS' } = {},
): Promise<string> {
  const customerId = await fixture.db.asPartner(partner.id, async (tx) => {
    const asked = { partnerId: partner.id, clientCustomerId: `c-${newPhone()}`, phone: newPhone(), kind, now: now() };
    const customer = id === undefined ? await enroll(tx, fixture.vault, asked) : await findCustomer(tx, id);
    const over = await givenDetails(tx, customer.id);
    await saveDetails(tx, fixture.vault, { customer, details, over, now: now() });
    return customer.id;
  });
  finding = found;
  await checks(customerId);
  return customerId;
}
const match = (id: string, payer: string) => asSystem((tx) => comparePayer(tx, fixture.vault, id, payer));
const state = async (id: string) => {
  const { verification, level } = await asSystem((tx) => findCustomer(tx, id));
  return `${verification} ${level}`;
};
const openCases = async (id: string) =>
  (await asSystem((tx) => listCases(tx, { open: true, limit: 100 }))).filter(({ subject }) => subject.endsWith(id));
const screened = async (id: string) =>
  await asSystem((tx) => knownOf(tx, fixture.vault, async () => undefined, `customer:${id}`));
async function decides(id: string, outcome: 'verified' | 'failed'): Promise<void> {
  const { version = 0 } = (await asSystem((tx) => givenDetails(tx, id))) ?? {};
  const said = { reason: 'seen', told: 'seen', by: 'Ada', now: now() };
  await asSystem((tx) => decideReview(tx, { customerId: id, version, outcome, level: 1, ...said }));
}

test('without a typed name the name of the document counts with payers, payees, lists and the travel rule', async () => {
  const id = await checked({ country: 'IN' }, reads({ firstName: 'Asha', lastName: 'Rao', dob: '1990-02-03' }));
  assert.equal(await state(id), 'verified 2');
  assert.deepEqual(await openCases(id), []);
  assert.deepEqual([await match(id, 'RAO ASHA'), await match(id, 'Ravi Kumar')], ['same', 'other']);
  assert.equal(await asSystem((tx) => customerName(tx, fixture.vault, id)), 'Asha Rao');
  const { subjects } = await screened(id);
  assert.deepEqual(subjects, [{ names: ['Asha Rao'], kind: 'person', born: '1990-02-03', countries: ['IN'] }]);
  const legal = await asSystem((tx) => legalDetails(tx, fixture.vault, id));
  assert.deepEqual(legal, { country: 'IN', firstName: 'Asha', lastName: 'Rao', dob: '1990-02-03' });
});

test('a typed name that is the same stays one of the names, and the same data is one subject of screening', async () => {
  const typed = { firstName: 'Asha', firstSurname: 'Rao', secondSurname: 'Menon', dob: '1990-02-03' };
  const id = await checked(typed, reads({ firstName: 'Asha', lastName: 'Rao', dob: '1990-02-03' }));
  assert.equal(await state(id), 'verified 2');
  assert.equal(await match(id, 'Asha Rao Menon'), 'same');
  assert.deepEqual(
    (await screened(id)).subjects.map(({ names }) => names),
    [['Asha Rao Menon'], ['Asha Rao']],
  );
  const same = await checked({ firstName: 'Asha', lastName: 'Rao' }, reads({ firstName: 'Asha', lastName: 'Rao' }));
  assert.equal((await screened(same)).subjects.length, 1);
});

test('another typed name waits for a person, and then the name of the document counts, not the stranger’s', async () => {
  const found = reads({ firstName: 'Asha', lastName: 'Rao' });
  const id = await checked({ firstName: 'Ravi', lastName: 'Kumar' }, { ...found, expiresOn: '2031-01-31' });
  assert.equal(await state(id), 'in_review 0');
  await checks(id);
  const [opened, ...more] = await openCases(id);
  assert.deepEqual([opened?.kind, more], ['verification_review', []]);
  assert.deepEqual(opened?.facts, { level: 2, verifier: 'sumsub', expiresOn: '2031-01-31' });
  assert.doesNotMatch(
    JSON.stringify(opened, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    /Asha|Ravi/,
  );
  const seen = await asSystem((tx) => openReview(tx, fixture.vault, id));
  assert.deepEqual([seen.details.firstName, seen.readNames?.firstName], ['Ravi', 'Asha']);
  // Nobody has accepted it: money uses the typed name, and nothing trades. Lists are compared with both.
  assert.equal(await match(id, 'Asha Rao'), 'other');
  const all = async () => (await screened(id)).subjects.map(({ names }) => names[0]);
  assert.deepEqual(await all(), ['Ravi Kumar', 'Asha Rao']);

  await decides(id, 'verified');
  assert.equal(await state(id), 'verified 1');
  assert.deepEqual([await match(id, 'Asha Rao'), await match(id, 'Ravi Kumar')], ['same', 'other']);
  assert.deepEqual(await all(), ['Ravi Kumar', 'Asha Rao']);
  assert.deepEqual(await openCases(id), []);
});

test('a rejected name is not known any more, and asking again changes nothing', async () => {
  const id = await checked({ firstName: 'Ravi', lastName: 'Kumar' }, reads({ firstName: 'Asha', lastName: 'Rao' }));
  const before = (await screened(id)).revision;
  await checks(id);
  assert.equal((await screened(id)).revision, before, 'unchanged names are compared with lists again');
  await decides(id, 'failed');
  const { read, verified, revision } = await asSystem((tx) => knownNames(tx, fixture.vault, id));
  assert.deepEqual([read, verified], [undefined, undefined]);
  assert.ok(revision > before, 'the lists are not compared with what is left');
  assert.equal(await state(id), 'failed 0');
});

test('the first names count, and a result of the verifier, or matching details, close the case', async () => {
  const typed = { firstName: 'Ravi', lastName: 'Kumar' };
  const read = async (id: string) => (await asSystem((tx) => knownNames(tx, fixture.vault, id))).read?.firstName;
  const id = await checked(typed, reads({ firstName: 'Asha', lastName: 'Rao' }));
  finding = reads(typed);
  await checks(id);
  assert.deepEqual([await state(id), await read(id)], ['in_review 0', 'Asha']);
  finding = { outcome: 'failed', level: 0 };
  for (const _ of ['records', 'closes']) await checks(id);
  assert.deepEqual([await state(id), await read(id), await openCases(id)], ['failed 0', undefined, []]);

  const corrected = await checked(typed, reads({ firstName: 'Asha', lastName: 'Rao' }));
  const right = { firstName: 'Asha', lastName: 'Rao' };
  await checked(right, reads(right), { id: corrected });
  await checks(corrected);
  assert.deepEqual([await state(corrected), await openCases(corrected)], ['verified 2', []]);
});

test('verified names stay while newer details are checked, and until an operator confirms a typed name', async () => {
  const id = await checked({ country: 'IN' }, reads({ firstName: 'Asha', lastName: 'Rao' }));
  await checked({ firstName: 'Ravi', lastName: 'Kumar' }, { outcome: 'in_review', level: 0 }, { id });
  assert.deepEqual([await match(id, 'Asha Rao'), await match(id, 'Ravi Kumar')], ['same', 'other']);
  finding = reads(undefined);
  await checks(id);
  assert.equal(await match(id, 'Ravi Kumar'), 'other', 'a verifier that reads no name confirmed the typed one');
  await checked({ firstName: 'Asha', lastName: 'Menon' }, { outcome: 'in_review', level: 0 }, { id });
  await decides(id, 'verified');
  assert.deepEqual([await match(id, 'Asha Menon'), await match(id, 'Asha Rao')], ['same', 'other']);
});

test('a business is compared by its registered name', async () => {
  const typed = { companyName: 'Rao Exports', firstName: 'Ravi', lastName: 'Kumar' };
  const company = (companyName: string) => reads({ companyName, firstName: 'Not', lastName: 'Read' });
  const id = await checked(typed, company('Rao Exports'), { kind: 'BUSINESS' });
  assert.equal(await state(id), 'verified 2');
  assert.deepEqual([await match(id, 'RAO EXPORTS'), await match(id, 'Ravi Kumar')], ['same', 'other']);
  assert.deepEqual(
    (await screened(id)).subjects.map(({ names }) => names),
    [['Ravi Kumar'], ['Rao Exports']],
  );
  const other = await checked(typed, company('Kumar Shipping'), { kind: 'BUSINESS' });
  assert.equal(await state(other), 'in_review 0');
});

test('names without letters, of another type of customer, or too long are not taken', async () => {
  const nobody = await checked(
    { country: 'IN' },
    reads({ firstName: ' ', dob: '1990-02-03', companyName: 'Rao Exports' }),
  );
  assert.deepEqual((await asSystem((tx) => knownNames(tx, fixture.vault, nobody))).verified, undefined);
  const long = await checked({ country: 'IN' }, reads({ firstName: 'A'.repeat(5_000), dob: 'soon' }));
  const { verified } = await asSystem((tx) => knownNames(tx, fixture.vault, long));
  assert.deepEqual([verified?.firstName?.length, verified?.dob], [200, undefined]);
});

test('an export has the names, and an erasure leaves none', async () => {
  const id = await checked({ country: 'IN' }, reads({ firstName: 'Asha', lastName: 'Rao' }));
  const exported = await asSystem((tx) => exportCustomer(tx, fixture.vault, id));
  assert.deepEqual(exported.names, { read: null, verified: { firstName: 'Asha', lastName: 'Rao' } });
  await asSystem((tx) => eraseCustomerRows(tx, { customerId: id, deposits: [], now: now() }));
  assert.deepEqual(await asSystem((tx) => knownNames(tx, fixture.vault, id)), { revision: 0, typed: {} });
  assert.equal(await match(id, 'Asha Rao'), 'unknown');
});

for (const [typed, verified, names] of [
  [{ firstName: 'Asha', lastName: 'Rao' }, undefined, ['Asha Rao']],
  [{}, { firstName: 'Asha', lastName: 'Rao' }, ['Asha Rao']],
  [{ firstName: 'A.', lastName: 'Rao' }, { firstName: 'Asha', lastName: 'Rao' }, ['Asha Rao']],
  [
    { firstName: 'Asha D', lastName: 'Rao' },
    { firstName: 'Asha Devi', lastName: 'Rao' },
    ['Asha Devi Rao', 'Asha D Rao'],
  ],
  [{ firstName: 'Ravi', lastName: 'Kumar' }, { firstName: 'Asha', lastName: 'Rao' }, ['Asha Rao']],
] as const) {
  test(`${JSON.stringify(typed)} with the document ${JSON.stringify(verified ?? null)}: ${names.join(' and ')}`, () => {
    assert.deepEqual(countingNames({ typed, ...(verified && { verified }) }), names);
  });
}
