/** A person in two parts, answers and files: the same submission as of kyc/submit, whichever part comes first. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { checkHandlers } from '../../../src/compliance/index.ts';
import { CHECK_VERIFICATION, openGivenDetails, recordFinding, saveForm } from '../../../src/customers/index.ts';
import { simulatedVerifier } from '../../../src/verifiers/simulated/index.ts';
import { type Answer, ask, newPhone, sign } from '../../support/client.ts';
import { findInDump } from '../../support/dump.ts';
import { ADDRESS, PERSON } from '../../support/identities.ts';
import { jpeg, png } from '../../support/pictures.ts';
import { type Environment, type TestPartner, wireEnvironment } from './environment.ts';

const LIMITS = { fileBytes: 100_000, files: 4, bytes: 250_000, ms: 20_000 };
const PASSPORT = ['passportFront.jpg', 'passportBack.jpg', 'selfie.jpg'];

let world: Environment;
let acme: TestPartner;
let other: TestPartner;
let verify: (customerId: string) => Promise<void>;
before(async () => {
  world = await wireEnvironment({ uploadLimits: LIMITS });
  acme = await world.partner('acme');
  other = await world.partner('other');
  const { db, clock, vault } = world;
  const jobs = checkHandlers({ db, vault, clock, verifier: simulatedVerifier, overdueMs: 86_400_000 });
  verify = async (customerId) => void (await jobs[CHECK_VERIFICATION]?.(customerId));
});
after(async () => await world?.stop());

let count = 0;
async function person(type = 'INDIVIDUAL'): Promise<string> {
  const asked = { clientCustomerId: `parts-${(count += 1)}`, phoneNumber: newPhone(), type };
  return (await acme.post('kyc/url', asked)).body.data.customerId;
}
const sendData = (customerId: string, answers: Record<string, unknown> = PERSON, format: 'json' | 'form' = 'json') =>
  acme.post('kyc/submitData', { customerId, fiatType: 1, ...answers }, { format });
function sendFiles(
  customerId: string,
  files: Record<string, Buffer>,
  texts: Record<string, string> = {},
  client = acme,
): Promise<Answer> {
  const form = new FormData();
  const fields = { customerId, ...texts };
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  for (const [name, content] of Object.entries(files)) form.set(name, new Blob([Uint8Array.from(content)]), 'scan');
  const { 'content-type': _, ...headers } = sign(client, fields).headers;
  return ask(world.baseUrl, 'kyc/submitFiles', { method: 'POST', headers, body: form });
}
const passport = () => Object.fromEntries(PASSPORT.map((name) => [name, jpeg()]));

/** What became of a customer, as the partner, the verifier and an operator see it. */
async function outcomeOf(customerId: string) {
  const [submission] = await world.query(
    'select state, reasons, details_version, (select count(*)::int from submission_files f where f.submission_id = s.id) files from submissions s where customer_id = $1',
    [customerId],
  );
  const details = await world.db.asSystem((tx) => openGivenDetails(tx, world.vault, customerId));
  const { status } = (await acme.post('kyc/status', { customerId })).body.data;
  return { submission, details, status };
}

describe('answers and files', () => {
  test('in either order end as one kyc/submit does, and the customer is verified', async () => {
    const whole = await person();
    const form = new FormData();
    const texts = { customerId: whole, fiatType: '1', identityNumber: PERSON.identityNumber };
    const groups = { details: JSON.stringify(PERSON.details), address: JSON.stringify(ADDRESS) };
    for (const [name, value] of Object.entries({ ...texts, ...groups })) form.set(name, value);
    for (const name of PASSPORT) form.set(name, new Blob([Uint8Array.from(jpeg())]), name);
    const { 'content-type': _, ...headers } = sign(acme, { ...texts, ...groups }).headers;
    const at = await ask(world.baseUrl, 'kyc/submit', { method: 'POST', headers, body: form });
    assert.equal(at.body.data?.status, 'IN_REVIEW', at.text);

    const dataFirst = await person();
    assert.equal((await sendData(dataFirst, PERSON, 'form')).body.data.status, 'IN_REVIEW');
    assert.equal((await sendFiles(dataFirst, passport())).body.data.status, 'IN_REVIEW');

    const filesFirst = await person();
    const begun = await sendFiles(filesFirst, passport());
    const { submissionId, status, reasons, createdAt } = begun.body.data;
    assert.deepEqual([begun.status, status], [200, 'UPDATE_REQUIRED'], begun.text);
    assert.ok(createdAt);
    assert.deepEqual(
      Object.keys(reasons).toSorted(),
      ['identityNumber', ...Object.keys(PERSON.details), ...Object.keys(ADDRESS)].toSorted(),
    );
    const done = await sendData(filesFirst);
    assert.deepEqual([done.body.data.submissionId, done.body.data.status], [submissionId, 'IN_REVIEW'], done.text);

    const expected = await outcomeOf(whole);
    assert.deepEqual(expected.submission, { state: 'in_review', reasons: {}, details_version: 1, files: 3 });
    for (const customerId of [dataFirst, filesFirst]) {
      assert.deepEqual(await outcomeOf(customerId), expected);
      await verify(customerId);
      assert.equal((await outcomeOf(customerId)).status, 'BASIC_KYC_COMPLETED');
    }
  });

  test('a begun document is missing the rest of it, and answers may come one by one', async () => {
    const customerId = await person();
    const front = await sendFiles(customerId, { passportFront: png() });
    const lacking = Object.keys(front.body.data.reasons).filter((name) => name.includes('.'));
    assert.deepEqual(lacking.toSorted(), ['passportBack.jpg', 'selfie.jpg'], front.text);
    const some = await sendData(customerId, { details: PERSON.details });
    assert.deepEqual(
      Object.keys(some.body.data.reasons).toSorted(),
      ['identityNumber', ...Object.keys(ADDRESS), 'passportBack.jpg', 'selfie.jpg'].toSorted(),
    );
    assert.equal(some.body.data.reasons.identityNumber, 'is missing, for example ABCDE1234F');
    await sendFiles(customerId, { 'passportBack.jpg': jpeg(), 'selfie.jpg': jpeg() });
    const last = await sendData(customerId, { identityNumber: PERSON.identityNumber, address: ADDRESS });
    assert.equal(last.body.data.status, 'IN_REVIEW', last.text);
  });

  test('at the same time lose nothing', async () => {
    for (let round = 0; round < 5; round += 1) {
      const customerId = await person();
      const [data, files] = await Promise.all([sendData(customerId), sendFiles(customerId, passport())]);
      assert.deepEqual([data.status, files.status], [200, 200], `${data.text} ${files.text}`);
      assert.equal(data.body.data.submissionId, files.body.data.submissionId);
      const { submission } = await outcomeOf(customerId);
      assert.deepEqual(submission, { state: 'in_review', reasons: {}, details_version: 1, files: 3 });
    }
    const customerId = await person();
    const halves = [{ identityNumber: 'ABCDE1234F', details: PERSON.details }, { address: ADDRESS }];
    const two = await Promise.all(halves.map((half) => sendData(customerId, half)));
    assert.deepEqual(two.map(({ body }) => body.data?.status).toSorted(), ['IN_REVIEW', 'UPDATE_REQUIRED']);
    const given = (await outcomeOf(customerId)).details;
    assert.deepEqual(given, { identityNumber: 'ABCDE1234F', ...PERSON.details, ...ADDRESS });
  });

  test('that were refused may be sent again, and nothing else may change', async () => {
    const customerId = await person();
    await sendFiles(customerId, passport());
    await sendData(customerId);
    const fields = { dob: 'does_not_match', 'selfie.jpg': 'unreadable' } as const;
    const finding = { outcome: 'failed', level: 0, fields } as const;
    const found = { customerId, version: 1, verifier: 'test', finding, now: world.clock.now() };
    await world.db.asSystem((tx) => recordFinding(tx, found));
    const asked = await sendData(customerId, {});
    assert.deepEqual(asked.body.data.reasons, {
      dob: 'does not match the other answers, for example 1990-01-31',
      'selfie.jpg': 'cannot be read',
    });
    const name = await sendData(customerId, { firstName: 'Usha', dob: '1990-02-01' });
    assert.deepEqual(
      [name.status, name.body.fields],
      [400, { firstName: 'was accepted: only dob, selfie.jpg may be sent again' }],
    );
    assert.doesNotMatch(name.text, /Usha/);
    const other = await sendFiles(customerId, { 'passportBack.jpg': png(), 'selfie.jpg': png() });
    assert.deepEqual([other.status, Object.keys(other.body.fields)], [400, ['passportBack.jpg']]);
    // What was accepted may be sent along as it was.
    const selfie = await sendFiles(customerId, { ...passport(), 'selfie.jpg': png() });
    assert.deepEqual(Object.keys(selfie.body.data.reasons), ['dob'], selfie.text);
    const corrected = await sendData(customerId, { ...PERSON, details: { ...PERSON.details, dob: '1990-02-01' } });
    assert.equal(corrected.body.data.status, 'IN_REVIEW', corrected.text);
    await verify(customerId);
    const { status, details, submission } = await outcomeOf(customerId);
    assert.deepEqual([status, details?.dob, submission?.details_version], ['BASIC_KYC_COMPLETED', '1990-02-01', 2]);
  });

  test('the fiat chooses the form of both; files that name none belong to the form that was begun', async () => {
    const now = world.clock.now();
    const form = {
      tax: { taxNumber: { label: 'Tax number', required: 1 }, proof: { label: 'Proof', required: 1, type: 'file' } },
    } as const;
    await world.db.asSystem((tx) =>
      saveForm(tx, {
        ...{ kind: 'INDIVIDUAL', fiat: 'eur', form, needsDocument: false, effectiveAt: now, by: 'ada', now },
      }),
    );
    const customerId = await person();
    const unknown = await sendFiles(customerId, { proof: png() });
    assert.deepEqual(Object.keys(unknown.body.fields), ['files'], unknown.text);
    const first = await sendData(customerId, { fiatType: 'EUR', taxNumber: '12' });
    assert.deepEqual(first.body.data.reasons, { proof: 'is missing' });
    assert.equal((await sendFiles(customerId, { proof: png() })).body.data.status, 'IN_REVIEW');
    const elsewhere = await person();
    const named = await sendFiles(elsewhere, { proof: png() }, { fiatType: 'EUR' });
    assert.deepEqual(Object.keys(named.body.data.reasons), ['taxNumber'], named.text);
    const [row] = await world.query(
      'select f.fiat from submissions s join requirement_forms f on f.id = s.form_id where customer_id = $1',
      [elsewhere],
    );
    assert.deepEqual(row, { fiat: 'eur' });
  });
});

describe('refused, with nothing stored:', () => {
  const stored = async (customerId: string) =>
    (await world.query('select 1 from submissions where customer_id = $1', [customerId])).length;

  test('wrong answers, named as by kyc/submit', async () => {
    const customerId = await person();
    const wrong = { ...PERSON, details: { ...PERSON.details, dob: '31/01/1990' } };
    const parts = await sendData(customerId, wrong);
    const whole = await acme.post('kyc/submit', { customerId, fiatType: 1, ...wrong });
    assert.equal(parts.status, 400);
    assert.deepEqual(parts.body, whole.body);
    const noFiat = await acme.post('kyc/submitData', { customerId, ...PERSON });
    assert.deepEqual([noFiat.status, Object.keys(noFiat.body.fields)], [400, ['fiatType']]);
    assert.equal(await stored(customerId), 0);
  });

  test('files of no accepted type or slot, too large ones, and none', async () => {
    const customerId = await person();
    const script = Buffer.from('<html><script>alert(1)</script></html>');
    const type = await sendFiles(customerId, { 'selfie.jpg': script });
    assert.deepEqual([type.status, type.body.fields], [400, { 'selfie.jpg': 'must be a JPEG, PNG, WEBP or PDF' }]);
    const slot = await sendFiles(customerId, { '../../etc/passwd': png() });
    assert.deepEqual([slot.status, Object.keys(slot.body.fields)], [400, ['files']]);
    const large = await sendFiles(customerId, { 'selfie.jpg': Buffer.alloc(100_001, 1) });
    assert.deepEqual([large.status, large.body.reason], [413, 'body_too_large']);
    assert.deepEqual(Object.keys((await sendFiles(customerId, {})).body.fields), ['files']);
    const asJson = await acme.post('kyc/submitFiles', { customerId });
    assert.deepEqual([asJson.status, asJson.body.reason], [400, 'missing_fields']);
    assert.equal(await stored(customerId), 0);
  });

  test('a business, another partner’s customer, and a blocked one', async () => {
    const [customerId, business] = [await person(), await person('BUSINESS')];
    for (const answer of [await sendData(business), await sendFiles(business, { selfie: png() })])
      assert.match(answer.body.fields.customerId, /^is a business/);
    const theirs = await other.post('kyc/submitData', { customerId, fiatType: 1, ...PERSON });
    assert.deepEqual([theirs.status, theirs.body.reason], [404, 'unknown_customer']);
    const files = await sendFiles(customerId, { selfie: png() }, {}, other);
    assert.deepEqual([files.status, files.body.reason], [404, 'unknown_customer']);
    await acme.post('test/changeKycStatus', { customerId, status: 'PERMANENT_FAILED' });
    for (const answer of [await sendData(customerId), await sendFiles(customerId, { selfie: png() })])
      assert.equal(answer.body.reason, 'customer_blocked', answer.text);
    assert.equal((await stored(customerId)) + (await stored(business)), 0);
  });

  test('a submission in review takes no other answers', async () => {
    const customerId = await person();
    await sendData(customerId);
    const again = await sendData(customerId, { ...PERSON, identityNumber: 'ZZZZZ9999Z' });
    assert.deepEqual([again.status, again.body.reason], [409, 'submission_exists']);
  });
});

test('nothing of both parts is in clear in the database', async () => {
  const customerId = await person();
  await sendData(customerId, { details: { firstName: 'Quillonia' }, identityNumber: 'ZQX8841K' });
  await sendFiles(customerId, { 'selfie.jpg': jpeg({ more: [[0xfe, Buffer.from('Zebrafell')]] }) });
  assert.deepEqual(await findInDump(world.adminUrl, ['Quillonia', 'ZQX8841K', 'Zebrafell']), []);
});
