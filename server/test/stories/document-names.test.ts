/**
 * A customer who gave us no name and was verified on a provider's page: its document's name is compared with payers, with holders of
 * accounts and with sanctions lists. It is in no reply, event, case, audit row or log, but for the personal actions of operators.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { addFiatAccount, findCustomer, recordLogin, saveDetails } from '../../src/customers/index.ts';
import { sumsubEnvironment } from '../fixtures/verifiers/sumsub.ts';
import { oneOrTwoDo, type Person } from '../protocols/operator/people.ts';
import { newPhone } from '../support/client.ts';
import { findInDump } from '../support/dump.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Story, StoryCustomer } from '../support/story.ts';

let world: Story;
let ada: Person;
let bea: Person;
let dir: string;
let sumsub: Awaited<ReturnType<typeof sumsubEnvironment>>;

const LIST = `<Designations><Designation><UniqueID>TST0001</UniqueID><IndividualEntityShip>Individual</IndividualEntityShip>
  <Names><Name><Name1>Taras Ilyich</Name1><Name6>ORLENKOV</Name6><NameType>Primary Name</NameType></Name></Names></Designation></Designations>`;

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'document-names-'));
  writeFileSync(join(dir, 'uk.xml'), LIST);
  sumsub = await sumsubEnvironment();
  const settings = { ...sumsub.settings, ACCOUNT_NAMES: 'hold', SANCTIONS_LISTS: `uk=${join(dir, 'uk.xml')}` };
  ({ world, ada, bea } = await openStaffedStory({ ada: 'admin', bea: 'admin' }, { settings }));
  await world.until('the list is read', async () => (await ada.reads('/sanctions/lists')).body.lists.length === 1);
});
after(async () => {
  await world?.close();
  await sumsub?.here.stop();
  if (dir !== undefined) rmSync(dir, { recursive: true });
});

/** A customer whom Sumsub has verified with a document of this name. */
async function verifiedAtSumsub(
  firstName: string,
  lastName: string,
  typed: Record<string, string> = { country: 'IN' },
): Promise<string> {
  const asked = { clientCustomerId: `c-${newPhone()}`, phoneNumber: newPhone(), type: 'INDIVIDUAL' };
  const { customerId: id } = (await world.partner.post('kyc/url', asked)).body.data;
  await world.read(async (tx) => {
    await recordLogin(tx, id, world.clock.now());
    const customer = await findCustomer(tx, id);
    await saveDetails(tx, world.vault, { customer, details: typed, now: world.clock.now() });
  });
  const key = `details:${id}:1`;
  await world.until('Sumsub knows the customer', async () => sumsub.applicants.has(key));
  const applicant = sumsub.applicants.get(key);
  assert.ok(applicant !== undefined);
  applicant.info = { firstName, lastName, dob: '1990-02-03' };
  sumsub.review(key, { levelName: 'id-and-liveness', reviewResult: { reviewAnswer: 'GREEN' } });
  const { headers, body } = sumsub.calls({ key });
  const called = await fetch(`${world.server.baseUrl}/verifiers/sumsub/callback`, {
    ...{ method: 'POST', body: new Uint8Array(body) },
    headers: { ...(headers as Record<string, string>), 'content-type': 'application/json' },
  });
  assert.equal(called.status, 204);
  return id;
}
const stateOf = async (id: string): Promise<string> => (await ada.reads(`/customers/${id}`)).body.verification;
const isVerified = (id: string) => world.until('it is verified', async () => (await stateOf(id)) === 'verified');

/** The customer with an account. */
async function paidTo(id: string, accountHolder?: string): Promise<StoryCustomer> {
  const made = await world.read(async (tx) => {
    const customer = await findCustomer(tx, id);
    const account = newPhone().replace('+', '');
    const details = { account, ifsc: 'HDFC0000001', ...(accountHolder !== undefined && { accountHolder }) };
    return await addFiatAccount(tx, world.vault, { customer, fiat: 'inr', details, now: world.clock.now() });
  });
  return { id, fiatAccountId: String(made.id) };
}
async function sold(customer: StoryCustomer, amount: string) {
  const order = await world.sells(amount, 'usdc', { customer });
  await world.pays(order, amount);
  await world.mines(2);
  return order;
}
async function bought(customer: StoryCustomer, name: string): Promise<Purchase> {
  const order = await world.buys('5000', 'usdc', { customer });
  await world.credits(order, '5000', { name });
  return order;
}
const agree = (path: string, body: Record<string, unknown> = {}) => oneOrTwoDo(ada, bea, path, body);

test('a credit by the name of the document is the customer’s own, and another is held; so is an account of another holder', async () => {
  const id = await verifiedAtSumsub('Zephyrine', 'Quillfeather');
  await isVerified(id);
  const own = await paidTo(id);
  const right = await bought(own, 'QUILLFEATHER ZEPHYRINE');
  const wrong = await bought(own, 'Ravi Iyer');
  assert.equal((await world.opensCase(wrong, 'on_hold')).reason, 'payer_name');
  await world.payoutIsSubmitted(right);
  await world.mines(2);
  await world.reaches(right, 4);

  await world.reaches(await sold(await paidTo(id, 'Zephyrine Quillfeather'), '31'), 6);
  const toOther = await sold(await paidTo(id, 'Ravi Iyer'), '32');
  await world.opensCase(toOther, 'on_hold');
  await world.reaches(await sold(own, '33'), 6);

  // The name is shown to an operator who asks for personal data, and nowhere else.
  const quiet = [
    ...(await Promise.all([ada.reads(`/customers/${id}`), ada.reads('/cases?open=true'), ada.reads('/audit')])),
    ...(await Promise.all([right, wrong, toOther].map((order) => ada.reads(`/orders/${order.id}`)))),
    ...(await Promise.all([right, wrong, toOther].map((order) => world.eventBodies(order)))),
    (await world.partner.post('kyc/status', { customerId: id })).body,
  ];
  assert.doesNotMatch(JSON.stringify(quiet), /quillfeather|zephyrine/i);
  assert.doesNotMatch(world.complaints.join(''), /quillfeather|zephyrine/i);
  const personal = (await ada.does(`/customers/${id}/personal`)).body.personal;
  assert.equal(personal.name, 'Zephyrine Quillfeather');
  const { review } = (await ada.does(`/customers/${id}/review/open`)).body;
  assert.deepEqual(review.verifiedNames, { firstName: 'Zephyrine', lastName: 'Quillfeather', dob: '1990-02-03' });
  assert.doesNotMatch(JSON.stringify((await ada.reads('/audit')).body), /quillfeather/i);
  // The simulated bank's own rows are another company's: payers and payees have names there.
  const found = await findInDump(world.adminUrl, ['Quillfeather', 'Zephyrine']);
  assert.deepEqual(
    found.filter(({ table }) => !table.startsWith('simulated_bank.')),
    [],
  );
});

test('a customer whose document’s name is on a list is held', async () => {
  const id = await verifiedAtSumsub('Taras', 'Orlenkov');
  await isVerified(id);
  const order = await sold(await paidTo(id), '34');
  await world.opensCase(order, 'on_hold');
  const { hits } = (await ada.reads('/sanctions/hits')).body;
  assert.ok(hits.some(({ subject }: { subject: string }) => subject === `customer:${id}`));
});

test('a name that differs from the typed one waits for an operator, and nothing trades before', async () => {
  const id = await verifiedAtSumsub('Zephyrine', 'Quillfeather', { firstName: 'Ravi', lastName: 'Iyer' });
  const opened = await world.until('a person is asked', async () =>
    (await ada.reads('/cases?open=true&kind=verification_review')).body.cases.find(
      ({ subject }: { subject: string }) => subject === `customer:${id}`,
    ),
  );
  assert.doesNotMatch(JSON.stringify(opened), /quillfeather|iyer/i);
  assert.equal(await stateOf(id), 'in_review');
  const { review } = (await ada.does(`/customers/${id}/review/open`)).body;
  assert.deepEqual([review.details.lastName, review.readNames.lastName], ['Iyer', 'Quillfeather']);
  const decided = await agree(`/customers/${id}/review/decide`, {
    version: review.version,
    outcome: 'verified',
    level: 3,
  });
  assert.equal(decided.status, 200, JSON.stringify(decided.body));
  assert.equal(await stateOf(id), 'verified');
  const own = await paidTo(id);
  const wrong = await bought(own, 'Ravi Iyer');
  assert.equal((await world.opensCase(wrong, 'on_hold')).reason, 'payer_name', 'the typed name of a stranger counts');
});
