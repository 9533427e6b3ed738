/** Verification by a person: a queue, the answers and files, a decision with a reason per field; the audit records all of it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openFolder } from '../../../src/base/blobs.ts';
import { askReview, checkHandlers, closeCases, reviewed, upsertCase } from '../../../src/compliance/index.ts';
import { CHECK_VERIFICATION, keepReadNames } from '../../../src/customers/index.ts';
import { setRule } from '../../../src/operators/index.ts';
import { manualVerifier } from '../../../src/verifiers/manual/index.ts';
import { newPhone } from '../../support/client.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { jpeg, lookOf } from '../../support/pictures.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../whitelabel/environment.ts';
import { confirmedBy, operatorNamed, type Person } from './people.ts';

let world: Environment;
let shop: TestPartner;
let ada: Person;
let bea: Person;
let sue: Person;
let vic: Person;
let checks: (customerId: string) => Promise<void>;
before(async () => {
  world = await wireEnvironment({
    beside: (fixture) => operatorApi(fixture, { blobs: openFolder(fixture.blobFolder) }),
  });
  shop = await world.partner('Shop');
  ada = await operatorNamed(world, 'ada', 'admin');
  bea = await operatorNamed(world, 'bea', 'admin');
  sue = await operatorNamed(world, 'sue', 'support');
  vic = await operatorNamed(world, 'vic', 'viewer');
  const { db, clock } = world;
  const verifier = manualVerifier({
    ask: (asked) => db.asSystem((tx) => askReview(tx, { ...asked, now: clock.now() })),
    found: (asked) => db.asSystem((tx) => reviewed(tx, asked.customerId)),
  });
  const jobs = checkHandlers({ db, vault: world.vault, clock, verifier, overdueMs: 86_400_000 });
  checks = async (customerId) => void (await jobs[CHECK_VERIFICATION]?.(customerId));
});
after(async () => await world?.stop());

const BUSINESS = {
  identityNumber: 'QZX77W1',
  details: {
    firstName: 'Xanthippe',
    secondSurname: 'Vrblova',
    dob: '1990-01-31',
    sourceOfFunds: 'salary',
    sex: 'female',
  },
  address: { addressLine1: '1 Main Road', city: 'Pune', postalCode: '411001' },
};
let numbers = 0;
/** With a document of its own, unless one is named. */
async function submitted(identityNumber = `QZX77W${++numbers}`): Promise<string> {
  const asked = { clientCustomerId: `review-${newPhone()}`, phoneNumber: newPhone(), type: 'BUSINESS' };
  const { customerId } = (await shop.post('kyc/url', asked)).body.data;
  assert.equal(
    (await shop.post('kyb/submit', { customerId, ...BUSINESS, identityNumber })).body.data.status,
    'IN_REVIEW',
  );
  await checks(customerId);
  return customerId;
}
async function sends(customerId: string, content: Buffer): Promise<void> {
  const answer = await shop.upload('kyb/files', { customerId }, { 'selfie.jpg': content });
  assert.equal(answer.status, 200, answer.text);
}
const status = async (customerId: string) => (await shop.post('kyb/status', { customerId })).body.data;

test('an operator takes a submission from the queue, sees answers and files, asks for a field again, and then verifies it', async () => {
  const customerId = await submitted();
  const picture = jpeg();
  await sends(customerId, picture);
  const { cases } = (await sue.reads('/cases?kind=verification_review')).body;
  const found = cases.find(({ subject }: { subject: string }) => subject === `customer:${customerId}`);
  assert.ok(found);
  assert.equal((await sue.does(`/cases/${found.id}/assign`, { to: 'sue' })).status, 200);

  const at = `/customers/${customerId}/review`;
  const { review } = (await sue.does(`${at}/open`)).body;
  assert.equal(review.details.firstName, 'Xanthippe');
  assert.equal(review.submission.state, 'in_review');
  const [file] = review.submission.files;
  assert.deepEqual([file.slot, file.type], ['selfie.jpg', 'image/jpeg']);
  const { document } = (await sue.does(`${at}/document`, { file: file.id })).body;
  assert.equal(document.type, 'image/jpeg');
  assert.equal(await lookOf(Buffer.from(document.content, 'base64')), 'jpeg 32x16');
  assert.equal((await sue.does(`${at}/document`, { file: '0'.repeat(32) })).status, 400);

  const again = ['dob:does_not_match', 'selfie.jpg:unreadable'];
  for (const [wrong, field] of [
    [{ outcome: 'failed', again: ['dob:ugly'] }, 'again'],
    [{ outcome: 'verified', level: 1, again }, 'again'],
  ] as const) {
    const { status: http, body } = await sue.does(`${at}/decide`, { version: 1, ...wrong });
    assert.deepEqual([http, Object.keys(body.fields)], [400, [field]]);
  }
  const decided = await sue.does(`${at}/decide`, { version: 1, outcome: 'failed', again });
  assert.equal(decided.status, 200, JSON.stringify(decided.body));
  assert.deepEqual((await status(customerId)).reasons, {
    dob: 'does not match the other answers, for example 1990-01-31',
    'selfie.jpg': 'cannot be read',
  });
  await sends(customerId, jpeg({ width: 64 }));
  assert.deepEqual(Object.keys((await status(customerId)).reasons).includes('selfie.jpg'), false);
  const missing = (await status(customerId)).reasons;
  const more = Object.keys(missing).some((name) => name.endsWith('.jpg'));
  assert.ok(more, 'the rest of a document that was begun is not required');
});

test('a submission decided as verified is completed, and every read of it is in the audit without its content', async () => {
  const customerId = await submitted();
  const at = `/customers/${customerId}/review`;
  await sue.does(`${at}/open`);
  assert.equal((await sue.does(`${at}/decide`, { version: 1, outcome: 'verified', level: 2 })).status, 200);
  await checks(customerId);
  assert.equal((await status(customerId)).status, 'COMPLETED');
  assert.equal((await shop.post('kyc/status', { customerId })).body.data.status, 'INTERMEDIATE_KYC_COMPLETED');
  const { audit } = (await ada.reads(`/audit?subject=customer:${customerId}`)).body;
  assert.deepEqual(audit.map(({ action }: { action: string }) => action).toSorted(), ['review.decide', 'review.open']);
  assert.doesNotMatch(JSON.stringify(audit), /Xanthippe|Vrblova|QZX77W1/);
  const { cases } = (await sue.reads('/cases?kind=verification_review')).body;
  assert.ok(!cases.some(({ subject }: { subject: string }) => subject === `customer:${customerId}`));
});

test('if a rule requires two, one person cannot verify, and still declines alone', async () => {
  const rule = { action: 'review.decide', right: '*', asset: '*', aboveUnits: 0n };
  await world.db.asSystem((tx) => setRule(tx, { ...rule, people: 2 }));
  const [good, bad] = [await submitted(), await submitted()];
  const decide = (customerId: string, outcome: object) =>
    sue.does(`/customers/${customerId}/review/decide`, { version: 1, ...outcome });
  assert.equal((await decide(bad, { outcome: 'refused' })).status, 200);
  const proposed = await decide(good, { outcome: 'verified', level: 2 });
  assert.deepEqual([proposed.status, proposed.body.people], [202, 2]);
  await checks(good);
  assert.notEqual((await status(good)).status, 'COMPLETED');
  assert.equal((await confirmedBy(ada, proposed)).status, 200);
  await checks(good);
  assert.equal((await status(good)).status, 'COMPLETED');
  await world.db.asSystem((tx) => setRule(tx, { ...rule, people: null }));
});

test('a viewer sees and decides nothing', async () => {
  const customerId = await submitted();
  for (const [path, more] of [
    ['open', {}],
    ['document', { file: '0'.repeat(32) }],
    ['decide', { version: 1, outcome: 'refused' }],
  ] as const)
    assert.equal((await vic.does(`/customers/${customerId}/review/${path}`, more)).status, 403, path);
});

test('a form that an operator sets is shown to programs, and a bad form is refused with its wrong parts', async () => {
  const form = { company: { pan: { label: 'PAN', required: 1, regex: '^[A-Z]{5}[0-9]{4}[A-Z]$' } } };
  const bad = { company: { pan: { label: 'PAN', required: 1, regex: '(A+)+$' } } };
  const asked = { kind: 'BUSINESS', country: 'DE' };
  const refused = await ada.does('/requirements', { ...asked, form: bad });
  assert.deepEqual([refused.status, Object.keys(refused.body.fields)], [400, ['company.pan.regex']]);
  const set = await ada.does('/requirements', { ...asked, form });
  assert.deepEqual([set.status, set.body.after], [200, { version: 1 }], JSON.stringify(set.body));
  const shown = await shop.get('/onramp/api/v2/whiteLabel/kyb/requirements?country=DE');
  assert.deepEqual(shown.body.data, form);
  const customerId = (
    await shop.post('kyc/url', { clientCustomerId: 'german', phoneNumber: newPhone(), type: 'BUSINESS' })
  ).body.data.customerId;
  const wrong = await shop.post('kyb/submit', { customerId, country: 'DE', company: { pan: 'abc' } });
  assert.deepEqual(wrong.body.fields, { pan: 'must match ^[A-Z]{5}[0-9]{4}[A-Z]$, for example AAAAA0000A' });
  const right = await shop.post('kyb/submit', { customerId, country: 'DE', company: { pan: 'ABCDE1234F' } });
  assert.equal(right.body.data.status, 'IN_REVIEW', right.text);
});

test('two people verify a customer whose document number another gave, and a customer of level 4', async () => {
  const [first, second] = [await submitted('SAME1234'), await submitted('same-1234'.replace('-', ''))];
  const decides = (person: Person, customerId: string, over: Record<string, unknown> = {}) =>
    person.does(`/customers/${customerId}/review/decide`, {
      version: 1,
      outcome: 'verified',
      level: 1,
      reason: 'seen',
      ...over,
    });
  const asked = await decides(ada, second);
  assert.equal(asked.status, 202, JSON.stringify(asked.body));
  assert.equal((await status(second)).status, 'IN_REVIEW');
  const shown = (await bea.reads(`/proposals/${asked.body.proposal}`)).body;
  assert.ok(JSON.stringify(shown).includes(first), 'the confirmer does not see the other customer');
  const confirmed = await bea.does(`/proposals/${asked.body.proposal}/confirm`, { reason: 'twins, both seen' });
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body));
  assert.notEqual((await status(second)).status, 'IN_REVIEW');
  assert.equal((await decides(ada, first, { outcome: 'failed' })).status, 200, 'a refusal took two people');
});

/** A hit of this customer, as a comparison stores it. */
const isFound = (customerId: string) =>
  world.db.asSystem(async (tx) => {
    const now = world.clock.now();
    const version = await tx.row<{ id: bigint }>(
      `insert into sanctions_versions (list, sha256, published, entries, added, removed, changed, loaded_at)
       values ('uk', decode(repeat('00', 32), 'hex'), 'today', 1, 1, 0, 0, $1) returning id`,
      [now],
    );
    const entry = await tx.row<{ id: bigint }>(
      `insert into sanctions_entries (list, entry, content, digest, added_in)
       values ('uk', $2, '{}', decode(repeat('00', 32), 'hex'), $1) returning id`,
      [version?.id, customerId],
    );
    const owner = `customer:${customerId}`;
    const screening = await tx.row<{ id: bigint }>(
      `insert into name_screenings (subject, owner, customer_id, inputs_digest, revision, names, rules, screened_to, found, first_at, at)
       values ($1, $1, $2, '', 1, 1, 'names 2', $3, '[]', $4, $4) returning id`,
      [owner, customerId, version?.id, now],
    );
    await tx.run(
      `insert into sanctions_hits (owner, subject, screening_id, customer_id, entry_id, inputs_digest, name_digest, score, explanation,
         state, found_at) values ($1, $1, $2, $3, $4, '', '', 9000, '', 'open', $5)`,
      [owner, screening?.id, customerId, entry?.id, now],
    );
  });

test('two people verify a customer with a hit in a list, an open case of monitoring, or another name on its document', async () => {
  const decides = (person: Person, customerId: string, over: Record<string, unknown> = {}) =>
    person.does(`/customers/${customerId}/review/decide`, { version: 1, outcome: 'verified', level: 1, ...over });
  const monitoring = (customerId: string) => ({ kind: 'monitoring', subject: `customer:${customerId}` }) as const;
  const names = { firstName: 'Ophelia', lastName: 'Otherwise' };
  const now = world.clock.now();
  for (const [risk, arises] of [
    ['sanctions_hit', isFound],
    [
      'monitoring',
      (id: string) =>
        world.db.asSystem((tx) =>
          upsertCase(tx, { ...monitoring(id), reason: 'a rule found something', facts: {}, now }),
        ),
    ],
    [
      'document_name',
      (id: string) =>
        world.db.asSystem((tx) => keepReadNames(tx, world.vault, { customerId: id, version: 1, names }).then(() => {})),
    ],
  ] as const) {
    const customerId = await submitted();
    await arises(customerId);
    const asked = await decides(ada, customerId);
    assert.equal(asked.status, 202, `one person verified it despite ${risk}: ${JSON.stringify(asked.body)}`);
    const shown = JSON.stringify((await bea.reads(`/proposals/${asked.body.proposal}`)).body);
    assert.ok(shown.includes(risk), `the confirmer does not see ${risk}`);
    assert.doesNotMatch(shown, /Otherwise|Ophelia/);
    assert.equal((await confirmedBy(bea, asked)).status, 200);
    const other = await submitted();
    await arises(other);
    assert.equal((await decides(ada, other, { outcome: 'failed' })).status, 200, 'a refusal took two people');
  }
  const watched = await submitted();
  await world.db.asSystem((tx) => upsertCase(tx, { ...monitoring(watched), reason: 'a rule', facts: {}, now }));
  await world.db.asSystem((tx) => closeCases(tx, { ...monitoring(watched), outcome: 'explained', now }));
  assert.equal((await decides(ada, watched)).status, 200, 'a closed case took two people');
});

test('a business whose owners hold less than the form of its submission asks for is not verified', async () => {
  // A submission without a form of its own is judged by the one that applies now.
  const customerId = await submitted();
  const at = `/customers/${customerId}/review`;
  const form = { identityNumber: { label: 'Number', required: 1 }, owners: { minimumTotalShare: 75 } };
  const partner = String(shop.partner.id);
  const sets = async (over: object) => await ada.does('/requirements', { kind: 'BUSINESS', form, partner, ...over });
  assert.equal((await sets({ partner: '999999' })).body.reason, 'unknown_partner');
  assert.equal((await sets({ form: { identityNumber: { label: '<b>', required: 1 } } })).status, 400);
  assert.equal((await sets({})).status, 200);
  try {
    assert.deepEqual((await shop.get('kyb/requirements')).body.data, form);
    const { status: http, body } = await ada.does(`${at}/decide`, { version: 1, outcome: 'verified', level: 1 });
    assert.equal(http, 400);
    assert.match(body.fields.outcome, /the owners must hold at least 75 percent together, for example a share of 75/);
    const asked = { version: 1, outcome: 'failed', again: ['owners:incomplete'] };
    assert.equal((await ada.does(`${at}/decide`, asked)).status, 200);
    const { reasons, submissionId } = await status(customerId);
    assert.match(reasons.owners, /^is incomplete: they must hold at least 75 percent/);
    const owners = [{ firstName: 'Asha', lastName: 'Rao', share: '75' }];
    const sent = await shop.post('kyb/submit', { customerId, submissionId, owners });
    assert.equal(sent.body.data.status, 'IN_REVIEW', sent.text);
    await checks(customerId);
    assert.equal((await ada.does(`${at}/decide`, { version: 2, outcome: 'verified', level: 1 })).status, 200);
  } finally {
    assert.equal((await sets({ form: {} })).status, 200);
  }
});
