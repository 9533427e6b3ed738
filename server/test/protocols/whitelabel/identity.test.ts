/** Submissions over the API: a person in one request, a business in parts, and the answers to each. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { checkHandlers } from '../../../src/compliance/index.ts';
import {
  CHECK_VERIFICATION,
  type Form,
  openGivenDetails,
  recordFinding,
  saveForm,
  setCountry,
} from '../../../src/customers/index.ts';
import { simulatedVerifier } from '../../../src/verifiers/simulated/index.ts';
import { newPhone } from '../../support/client.ts';
import { ADDRESS, BUSINESS, PERSON } from '../../support/identities.ts';
import { type Environment, type TestPartner, wireEnvironment } from './environment.ts';

let world: Environment;
let acme: TestPartner;
let other: TestPartner;
let verify: (customerId: string) => Promise<void>;
before(async () => {
  world = await wireEnvironment();
  acme = await world.partner('acme');
  other = await world.partner('other');
  const { db, clock } = world;
  const jobs = checkHandlers({ db, vault: world.vault, clock, verifier: simulatedVerifier, overdueMs: 86_400_000 });
  verify = async (customerId) => void (await jobs[CHECK_VERIFICATION]?.(customerId));
});
after(async () => await world?.stop());

let count = 0;
async function customer(type: 'INDIVIDUAL' | 'BUSINESS', client = acme): Promise<string> {
  const asked = { clientCustomerId: `identity-${(count += 1)}`, phoneNumber: newPhone(), type };
  return (await client.post('kyc/url', asked)).body.data.customerId;
}
const FIELDS = ['identityNumber', ...Object.keys(BUSINESS.details), ...Object.keys(ADDRESS)];

describe('a person', () => {
  for (const format of ['json', 'form', 'multipart'] as const)
    test(`is submitted at once as ${format}, is in review, and is verified by the verifier`, async () => {
      const customerId = await customer('INDIVIDUAL');
      const { status, body } = await acme.post('kyc/submit', { customerId, fiatType: 1, ...PERSON }, { format });
      assert.equal(status, 200, JSON.stringify(body));
      const { submissionId, createdAt, ...rest } = body.data;
      assert.match(submissionId, /^[0-9]+$/);
      assert.match(createdAt, /^\d{4}-.*Z$/);
      assert.deepEqual(rest, { status: 'IN_REVIEW' });
      assert.equal((await acme.post('kyc/status', { customerId })).body.data.status, 'IN_REVIEW');
      await verify(customerId);
      assert.equal((await acme.post('kyc/status', { customerId })).body.data.status, 'BASIC_KYC_COMPLETED');
      const [row] = await world.query('select state, details_version from submissions where id = $1', [submissionId]);
      assert.deepEqual(row, { state: 'completed', details_version: 1 });
      const given = await world.db.asSystem((tx) => openGivenDetails(tx, world.vault, customerId));
      assert.deepEqual(given, { identityNumber: 'ABCDE1234F', ...PERSON.details, ...ADDRESS });
    });

  test('is refused with all unanswered requirements named at once, because exactly these are accepted', async () => {
    const customerId = await customer('INDIVIDUAL');
    const asked = (await acme.post('kyc/requirements', { customerId, fiatType: 'INR' })).body.kycRequirementData;
    const { identityNumber, details, address } = asked;
    const all = { identityNumber, ...details, ...address } as Record<string, { required: number }>;
    const names = Object.keys(all).filter((name) => all[name]?.required === 1);
    const { status, body } = await acme.post('kyc/submit', { customerId, fiatType: 'INR' });
    assert.deepEqual([status, body.reason, Object.keys(body.fields)], [400, 'missing_fields', names]);
    assert.equal((await world.query('select 1 from submissions where customer_id = $1', [customerId])).length, 0);
  });

  test('a wrong answer is named with its rule and an example, and is not repeated', async () => {
    const customerId = await customer('INDIVIDUAL');
    const details = { ...PERSON.details, dob: '31/01/1990', firstName: ' Asha' };
    const address = { ...ADDRESS, city: '<img src=x onerror=alert(1)>' };
    const answer = await acme.post('kyc/submit', { customerId, fiatType: 1, ...PERSON, details, address });
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.body.fields, {
      firstName: 'must match ^(?!\\s).*$, for example Asha',
      dob: 'must be a day, YYYY-MM-DD, for example 1990-01-31',
      city: 'must match ^[a-zA-Z ]+$, for example Pune',
    });
    assert.doesNotMatch(answer.text, /onerror/);
    for (const wrong of [{ details: '[1]' }, { details: { a: { b: 1 } } }, { address: 'x' }]) {
      const { status, body } = await acme.post('kyc/submit', { customerId, fiatType: 1, ...PERSON, ...wrong });
      assert.deepEqual([status, Object.keys(body.fields)], [400, Object.keys(wrong)]);
    }
  });

  test('a business is not submitted as a person, nor a person as a business, nor another partner’s customer at all', async () => {
    const [person, business] = [await customer('INDIVIDUAL'), await customer('BUSINESS')];
    const asBusiness = await acme.post('kyb/submit', { customerId: person, ...BUSINESS });
    assert.match(asBusiness.body.fields.customerId, /^is a person/);
    const asPerson = await acme.post('kyc/submit', { customerId: business, fiatType: 1, ...PERSON });
    assert.match(asPerson.body.fields.customerId, /^is a business/);
    for (const [path, fields] of [
      ['kyc/submit', { customerId: person, fiatType: 1, ...PERSON }],
      ['kyb/submit', { customerId: business, ...BUSINESS }],
      ['kyb/status', { customerId: business }],
    ] as const)
      assert.deepEqual((await other.post(path, fields)).body.reason, 'unknown_customer', path);
  });
});

describe('a business', () => {
  test('is submitted in parts; each answer says what is missing, and after the last part the verifier is asked', async () => {
    const customerId = await customer('BUSINESS');
    const first = await acme.post(
      'kyb/submit',
      { customerId, entityName: 'Rao Traders', firstName: 'Asha' },
      { format: 'form' },
    );
    assert.equal(first.status, 200, first.text);
    const { submissionId, status, reasons, createdAt } = first.body.data;
    assert.equal(status, 'UPDATE_REQUIRED');
    assert.ok(createdAt);
    assert.deepEqual(Object.keys(reasons).sort(), FIELDS.filter((name) => name !== 'firstName').sort());
    assert.equal(reasons.dob, 'is missing, for example 1990-01-31');
    const shown = (await acme.post('kyb/status', { customerId, submissionId })).body.data;
    assert.deepEqual([shown.status, shown.reasons], [status, reasons]);

    const owners = [{ firstName: 'Asha', lastName: 'Rao', share: '60' }];
    const second = await acme.post('kyb/submit', { customerId, submissionId, ...BUSINESS, owners });
    assert.equal(second.body.data.status, 'IN_REVIEW', second.text);
    assert.deepEqual(Object.keys(second.body.data).sort(), ['status', 'submissionId', 'updatedAt']);
    await verify(customerId);
    assert.equal((await acme.post('kyb/status', { customerId })).body.data.status, 'COMPLETED');
    assert.equal((await acme.post('kyc/status', { customerId })).body.data.status, 'BASIC_KYC_COMPLETED');
    const given = await world.db.asSystem((tx) => openGivenDetails(tx, world.vault, customerId));
    assert.equal(given?.entityName, 'Rao Traders');
    assert.deepEqual(JSON.parse(given?.owners ?? ''), owners);
    const again = await acme.post('kyb/submit', { customerId, submissionId, ...BUSINESS });
    assert.deepEqual([again.status, again.body.reason], [417, 'submission_over']);
  });

  test('cannot have owners with more than 100 percent together', async () => {
    const customerId = await customer('BUSINESS');
    const owner = { firstName: 'Asha', lastName: 'Rao', share: '50.01' };
    const { status, body } = await acme.post('kyb/submit', { customerId, ...BUSINESS, owners: [owner, owner] });
    assert.deepEqual([status, body.fields], [400, { owners: 'must hold at most 100 percent together' }]);
  });

  test('has the fields that the verifier rejects open again, with a reason each, until they are given', async () => {
    const customerId = await customer('BUSINESS');
    const { submissionId } = (await acme.post('kyb/submit', { customerId, ...BUSINESS })).body.data;
    const finding = { outcome: 'failed', level: 0, fields: { dob: 'does_not_match' } } as const;
    const found = { customerId, version: 1, verifier: 'test', finding, now: world.clock.now() };
    await world.db.asSystem((tx) => recordFinding(tx, found));
    const { status, reasons } = (await acme.post('kyb/status', { customerId })).body.data;
    assert.equal(status, 'UPDATE_REQUIRED');
    assert.deepEqual(reasons, { dob: 'does not match the other answers, for example 1990-01-31' });
    const elsewhere = await acme.post('kyb/submit', { customerId, submissionId, address: ADDRESS });
    assert.deepEqual(Object.keys(elsewhere.body.data.reasons), ['dob']);
    const corrected = await acme.post('kyb/submit', { customerId, submissionId, dob: '1990-02-01' });
    assert.equal(corrected.body.data.status, 'IN_REVIEW');
    // A result about the first version arrives late.
    await world.db.asSystem((tx) => recordFinding(tx, found));
    assert.equal((await acme.post('kyb/status', { customerId })).body.data.status, 'IN_REVIEW');
    // The new answers are the ones that are verified and compared with sanctions lists.
    const given = await world.db.asSystem((tx) => openGivenDetails(tx, world.vault, customerId));
    assert.equal(given?.dob, '1990-02-01');
    await verify(customerId);
    const [row] = await world.query('select state, details_version from submissions where id = $1', [submissionId]);
    assert.deepEqual(row, { state: 'completed', details_version: 2 });
  });

  test('one of two concurrent submissions wins, and the other’s refusal names it', async () => {
    const customerId = await customer('BUSINESS');
    const two = await Promise.all(
      ['A', 'B'].map((entityName) => acme.post('kyb/submit', { customerId, ...BUSINESS, entityName })),
    );
    const [won, told] = two.toSorted((a, b) => a.status - b.status);
    assert.deepEqual([won?.status, told?.status], [200, 409]);
    assert.equal(told?.body.reason, 'submission_exists');
    assert.equal(told?.body.submissionId, won?.body.data.submissionId);
    assert.equal((await world.query('select 1 from submissions where customer_id = $1', [customerId])).length, 1);
  });

  test('the same signed request twice is one submission', async () => {
    const customerId = await customer('BUSINESS');
    const headers = { 'idempotency-key': 'identity-once' };
    const [one, two] = [
      await acme.post('kyb/submit', { customerId, ...BUSINESS }, { headers }),
      await acme.post('kyb/submit', { customerId, ...BUSINESS }, { headers }),
    ];
    assert.deepEqual(two.body, one.body);
  });

  test('unknown submissions, and those of another customer, are 404', async () => {
    const [customerId, second] = [await customer('BUSINESS'), await customer('BUSINESS')];
    const none = await acme.post('kyb/status', { customerId });
    assert.deepEqual([none.status, none.body.reason], [404, 'unknown_submission']);
    const { submissionId } = (await acme.post('kyb/submit', { customerId, entityName: 'A' })).body.data;
    for (const path of ['kyb/status', 'kyb/submit'])
      for (const wrong of [
        { customerId, submissionId: 'x' },
        { customerId: second, submissionId },
      ])
        assert.equal((await acme.post(path, { ...wrong })).body.reason, 'unknown_submission', path);
  });

  test('in the sandbox test/changeKybStatus drives its submission through every status', async () => {
    const customerId = await customer('BUSINESS');
    const { submissionId } = (await acme.post('kyb/submit', { customerId, ...BUSINESS })).body.data;
    for (const status of ['UPDATE_REQUIRED', 'IN_REVIEW', 'FAILED', 'COMPLETED']) {
      const driven = await acme.post('test/changeKybStatus', { customerId, submissionId, status });
      assert.equal(driven.body.data.message, `Status changed to ${status}`);
      assert.equal((await acme.post('kyb/status', { customerId, submissionId })).body.data.status, status);
    }
    await verify(customerId);
    const level = await world.query('select level from customers where id = $1', [customerId]);
    assert.deepEqual(level, [{ level: 3 }], 'the verifier’s earlier check changed the level afterwards');
  });
});

describe('the country of a customer', () => {
  const only = (name: string) => ({ details: { [name]: { label: name, required: 1 as const } } });
  const statusOf = async (customerId: string) => (await acme.post('kyc/status', { customerId })).body.data.countryISO;
  const enrolled = async (phoneNumber: string, type = 'INDIVIDUAL'): Promise<string> =>
    (await acme.post('kyc/url', { clientCustomerId: `country-${(count += 1)}`, phoneNumber, type })).body.data
      .customerId;
  const asked = async (customerId: string, body = {}) => {
    const said = await acme.post('kyc/requirements', { customerId, fiatType: '1', ...body });
    return Object.keys(said.body.data.kycRequirementData.details);
  };
  const saves = (kind: 'INDIVIDUAL' | 'BUSINESS', country: string, form: Form) =>
    world.db.asSystem((tx) => {
      const now = world.clock.now();
      return saveForm(tx, { kind, country, form, needsDocument: false, effectiveAt: now, by: 'ada', now });
    });

  test('is that of the calling code until another one is given, and chooses the form', async () => {
    await saves('INDIVIDUAL', 'DE', only('steuerId'));
    await saves('INDIVIDUAL', 'FR', only('numeroFiscal'));
    const german = await enrolled('+49-15112345678');
    assert.equal(await statusOf(german), 'DE');
    assert.deepEqual(await asked(german), ['steuerId']);
    // The answers are checked by the form of the country.
    const { status, body } = await acme.post('kyc/submit', { customerId: german, fiatType: '1', details: {} });
    assert.deepEqual([status, body.fields], [400, { steuerId: 'is missing' }]);
    const wrong = await acme.post('kyc/submit', { customerId: german, fiatType: '1', firstName: 'Asha' });
    assert.deepEqual(wrong.body.fields, { steuerId: 'is missing' });
    assert.equal(
      (await acme.post('kyc/submit', { customerId: german, fiatType: '1', steuerId: '12345678901' })).status,
      200,
    );
    // Several countries share +1, so the country is unknown and the default form asks for it.
    const unknown = await enrolled('+1-2025550123');
    assert.equal(await statusOf(unknown), 'IN');
    assert.ok((await asked(unknown)).includes('firstName'));
    // The customer has a newer phone, but the stated country takes precedence.
    await world.db.asSystem((tx) =>
      setCountry(tx, { customerId: unknown, country: 'FR', by: 'partner', now: world.clock.now() }),
    );
    await acme.post('kyc/url', { customerId: unknown, phoneNumber: '+49-15187654321', type: 'INDIVIDUAL' });
    assert.equal(await statusOf(unknown), 'FR');
    assert.deepEqual(await asked(unknown, { countryCode: 'IN' }), ['numeroFiscal']);
  });

  test('is taken from the submission of a business, and from the form’s own answer', async () => {
    await saves('BUSINESS', 'DE', {
      ...only('handelsregister'),
      address: { country: { label: 'Country', required: 0, type: 'country' } },
    });
    const customerId = await enrolled('+91-9812345678', 'BUSINESS');
    const begun = await acme.post('kyb/submit', { customerId, country: 'de' });
    assert.deepEqual(Object.keys(begun.body.data.reasons), ['handelsregister']);
    assert.equal(await statusOf(customerId), 'DE');
    const { submissionId } = begun.body.data;
    const again = await acme.post('kyb/submit', { customerId, submissionId, address: { country: 'AT' } });
    assert.equal(again.status, 200, JSON.stringify(again.body));
    assert.equal(await statusOf(customerId), 'AT');
    const wrong = await acme.post('kyb/submit', {
      customerId,
      submissionId,
      country: 'DE',
      address: { country: 'XX' },
    });
    assert.equal(wrong.status, 400);
    assert.equal(await statusOf(customerId), 'AT', 'a refused request changed the country');
  });
});

test('nothing that was given is in clear in the database', async () => {
  const customerId = await customer('BUSINESS');
  const secret = { firstName: 'Quillonia', identityNumber: 'ZQX8841K', entityName: 'Zebrafell Works' };
  await acme.post('kyb/submit', { customerId, ...secret });
  const rows = await world.query('select s::text as row from submissions s where customer_id = $1', [customerId]);
  assert.equal(rows.length, 1);
  const events = await world.query('select e::text as row from events e');
  const activity = await world.query('select a::text as row from partner_activity a');
  const dump = [...rows, ...events, ...activity].map(({ row }) => row).join('\n');
  for (const value of Object.values(secret)) {
    assert.ok(!dump.includes(value), value);
    assert.ok(!dump.includes(Buffer.from(value).toString('hex')), value);
  }
});
