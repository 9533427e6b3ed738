/** Submissions by an operators' form: shares that the owners must hold together, and a form or a day that changes meanwhile. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { BUSINESS_FORM, type Form, openGivenDetails, recordFinding, saveForm } from '../../../src/customers/index.ts';
import { newPhone } from '../../support/client.ts';
import { BUSINESS, PERSON } from '../../support/identities.ts';
import { type Environment, type TestPartner, wireEnvironment } from './environment.ts';

const DAY_MS = 86_400_000;
let world: Environment;
let acme: TestPartner;
before(async () => {
  world = await wireEnvironment();
  acme = await world.partner('acme');
});
after(async () => await world?.stop());

let count = 0;
async function enrolled(type: 'INDIVIDUAL' | 'BUSINESS' = 'BUSINESS'): Promise<string> {
  const asked = { clientCustomerId: `forms-${(count += 1)}`, phoneNumber: newPhone(), type };
  return (await acme.post('kyc/url', asked)).body.data.customerId;
}
const saves = (kind: 'INDIVIDUAL' | 'BUSINESS', country: string, form: Form) =>
  world.db.asSystem((tx) => {
    const now = world.clock.now();
    return saveForm(tx, { kind, country, form, needsDocument: false, effectiveAt: now, by: 'ada', now });
  });
const details = (customerId: string) => world.db.asSystem((tx) => openGivenDetails(tx, world.vault, customerId));
const owner = (share: string, firstName = 'Asha') => ({ firstName, lastName: 'Rao', share });
const register = { label: 'Register', required: 1, regex: '^[A-Z]{3}[0-9]+$' } as const;

describe('a form that asks for owners', () => {
  const RULE = 'must hold at least 75.5 percent together, for example a share of 75.5';
  const form = { register, owners: { minimumTotalShare: 75.5 } };

  test('refuses owners with less, or more than everything, and is complete only with enough of them', async () => {
    await saves('BUSINESS', 'NL', form);
    const customerId = await enrolled();
    const submit = (given: object) => acme.post('kyb/submit', { customerId, country: 'NL', ...given });
    for (const owners of [[owner('75.49')], [owner('50'), owner('25.49')], []]) {
      const { status, body } = await submit({ register: 'ABC1', owners });
      assert.deepEqual([status, body.fields], [400, { owners: RULE }], JSON.stringify(owners));
    }
    const much = await submit({ register: 'ABC1', owners: [owner('75.5'), owner('24.51')] });
    assert.deepEqual(much.body.fields, { owners: 'must hold at most 100 percent together' });
    const without = await submit({ register: 'ABC1', directors: [{ firstName: 'Asha', lastName: 'Rao' }] });
    assert.deepEqual(without.body.data.reasons, { owners: `is missing: they ${RULE}` });
    const { submissionId } = without.body.data;
    const less = await submit({ submissionId, owners: [owner('75')] });
    assert.deepEqual([less.status, less.body.fields], [400, { owners: RULE }]);
    const enough = await submit({ submissionId, owners: [owner('50.25'), owner('25.25', 'Vikram')] });
    assert.equal(enough.body.data.status, 'IN_REVIEW', enough.text);
    assert.equal(JSON.parse((await details(customerId))?.owners ?? '[]').length, 2);
  });

  test('names the rule with a verifier’s own reason', async () => {
    await saves('BUSINESS', 'BE', form);
    const customerId = await enrolled();
    const owners = [owner('80')];
    const begun = await acme.post('kyb/submit', { customerId, country: 'BE', register: 'ABC1', owners });
    assert.equal(begun.body.data.status, 'IN_REVIEW', begun.text);
    const finding = { outcome: 'failed', level: 0, fields: { owners: 'incomplete' } } as const;
    const found = { customerId, version: 1, verifier: 'test', finding, now: world.clock.now() };
    await world.db.asSystem((tx) => recordFinding(tx, found));
    const { reasons } = (await acme.post('kyb/status', { customerId })).body.data;
    assert.deepEqual(reasons, { owners: `is incomplete: they ${RULE}` });
  });

  test('is served as it was saved; the default form has no such part, and asks for no owners', async () => {
    await saves('BUSINESS', 'LU', form);
    const asked = async (query = '') => (await acme.get(`kyb/requirements${query}`)).body.data;
    assert.deepEqual(await asked('?country=LU'), form);
    assert.equal(JSON.stringify(await asked()), JSON.stringify(BUSINESS_FORM));
    const customerId = await enrolled();
    assert.equal((await acme.post('kyb/submit', { customerId, ...BUSINESS })).body.data.status, 'IN_REVIEW');
  });

  test('that takes effect while a submission is open applies to what it has already', async () => {
    await saves('BUSINESS', 'IE', { register, name: { label: 'Name', required: 1 } });
    const customerId = await enrolled();
    const owners = [owner('60')];
    const submit = (given: object) => acme.post('kyb/submit', { customerId, country: 'IE', ...given });
    const { submissionId } = (await submit({ register: 'ABC1', owners })).body.data;
    await saves('BUSINESS', 'IE', { ...form, name: { label: 'Name', required: 1 } });
    const named = await submit({ submissionId, name: 'Rao Traders' });
    assert.deepEqual(named.body.data.reasons, { owners: `is missing: they ${RULE}` });
    const enough = await submit({ submissionId, owners: [owner('76')] });
    assert.equal(enough.body.data.status, 'IN_REVIEW', enough.text);
  });
});

describe('an answer that was accepted, and is not any more,', () => {
  test('is asked for again when the form has changed since', async () => {
    await saves('BUSINESS', 'DK', { register, name: { label: 'Name', required: 1 } });
    const customerId = await enrolled();
    const submit = (given: object) => acme.post('kyb/submit', { customerId, country: 'DK', ...given });
    const { submissionId } = (await submit({ register: 'ABC1' })).body.data;
    const stricter = { ...register, regex: '^[A-Z]{3}[0-9]{8}$', example: 'ABC12345678' };
    await saves('BUSINESS', 'DK', { register: stricter, name: { label: 'Name', required: 1 } });
    const named = await submit({ submissionId, name: 'Rao Traders' });
    assert.deepEqual(named.body.data.reasons, { register: 'is missing, for example ABC12345678' });
    assert.equal(await details(customerId), undefined, 'the verifier was asked about an answer that the form refuses');
    const corrected = await submit({ submissionId, register: 'ABC12345678' });
    assert.equal(corrected.body.data.status, 'IN_REVIEW', corrected.text);
  });

  test('is refused by kyc/submit, which takes everything at once', async () => {
    const until = { label: 'Valid until', required: 1, type: 'date', expires: ['identityNumber'] } as const;
    await saves('INDIVIDUAL', 'IN', {
      identityNumber: { label: 'Number', required: 1 },
      until,
      name: { label: 'Name', required: 1 },
    });
    const customerId = await enrolled('INDIVIDUAL');
    const today = world.clock.now().toISOString().slice(0, 10);
    const yesterday = new Date(world.clock.now().getTime() - DAY_MS).toISOString().slice(0, 10);
    const { identityNumber } = PERSON;
    const post = (path: string, given: object) => acme.post(path, { customerId, fiatType: 1, ...given });
    const over = await post('kyc/submitData', { until: yesterday, identityNumber });
    assert.deepEqual(over.body.fields, { until: 'must be today or later, YYYY-MM-DD, for example 2039-01-31' });
    // Valid through its last day, and not the day after it, however long the submission was open.
    const begun = await post('kyc/submitData', { until: today, identityNumber });
    assert.deepEqual(begun.body.data.reasons, { name: 'is missing' });
    world.clock.advance(DAY_MS);
    const late = await post('kyc/submit', { name: 'Asha' });
    assert.deepEqual([late.status, Object.keys(late.body.fields)], [400, ['until']], late.text);
    const parts = await post('kyc/submitData', { name: 'Asha' });
    assert.deepEqual(Object.keys(parts.body.data.reasons), ['until']);
    assert.equal(await details(customerId), undefined);
    const renewed = await post('kyc/submitData', { until: '2039-01-31' });
    assert.equal(renewed.body.data.status, 'IN_REVIEW', renewed.text);
  });
});
