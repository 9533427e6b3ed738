/** Submissions of customers by hostile or hasty programs, and verifiers that answer late, twice, wrong or never. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Refusal } from '../../src/base/errors.ts';
import { checkHandlers } from '../../src/compliance/index.ts';
import {
  CHECK_VERIFICATION,
  findCustomer,
  openGivenDetails,
  recordFinding,
  saveForm,
} from '../../src/customers/index.ts';
import type { Finding } from '../../src/verifiers/verifier.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../protocols/whitelabel/environment.ts';
import { newPhone } from '../support/client.ts';
import { ADDRESS, BUSINESS, PERSON } from '../support/identities.ts';
import { patience } from '../support/patience.ts';

let world: Environment;
let acme: TestPartner;
/** What the verifier answers next; an error, when it does not answer. */
let finding: Finding | Error;
let checks: (customerId: string) => Promise<void>;
before(async () => {
  world = await wireEnvironment();
  acme = await world.partner('acme');
  const { db, clock, vault } = world;
  const verifier = {
    ...{ code: 'test', highestLevel: 3, begin: async () => ({ pageUrl: undefined }) },
    finding: async () => (finding instanceof Error ? Promise.reject(finding) : finding),
  };
  const jobs = checkHandlers({ db, vault, clock, verifier, overdueMs: 86_400_000 });
  checks = async (customerId) => void (await jobs[CHECK_VERIFICATION]?.(customerId));
});
after(async () => await world?.stop());

async function enrolled(type: 'INDIVIDUAL' | 'BUSINESS'): Promise<string> {
  const asked = { clientCustomerId: randomUUID(), phoneNumber: newPhone(), type };
  return (await acme.post('kyc/url', asked)).body.data.customerId;
}
const stateOf = async (customerId: string): Promise<[string, number]> => {
  const { verification, level } = await world.db.asSystem((tx) => findCustomer(tx, customerId));
  return [verification, level];
};
const detailsOf = (customerId: string) => world.db.asSystem((tx) => openGivenDetails(tx, world.vault, customerId));
const submissions = (customerId: string) =>
  world.query('select state from submissions where customer_id = $1', [customerId]);
const finds = (customerId: string, version: number, found: Finding) =>
  world.db.asSystem((tx) =>
    recordFinding(tx, { customerId, version, verifier: 'test', finding: found, now: world.clock.now() }),
  );
const VERIFIED: Finding = { outcome: 'verified', level: 1 };
const FAILED: Finding = { outcome: 'failed', level: 0, fields: { dob: 'does_not_match' } };

/**
 * What `work` returns. While it goes on, `beside` runs again and again, and no transaction waits for something that is not a statement:
 * patterns run before a transaction, not in one.
 */
async function withoutIdling<T>(work: () => Promise<T>, beside = async (): Promise<void> => {}): Promise<T> {
  let isOver = false;
  const going = work().finally(() => {
    isOver = true;
  });
  const idles = `select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'
    and state_change < clock_timestamp() - interval '300 milliseconds'`;
  let most = 0;
  while (!isOver) {
    await beside();
    most = Math.max(most, (await world.query(idles)).length);
  }
  assert.equal(most, 0, 'a transaction waits while a pattern runs');
  return await going;
}

describe('a program', () => {
  test('that sends a person ten times at once has one submission, and one version is verified', async () => {
    const customerId = await enrolled('INDIVIDUAL');
    const sent = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        acme.post('kyc/submit', { customerId, fiatType: 1, ...PERSON, identityNumber: `ABCDE${at}` }),
      ),
    );
    assert.deepEqual(sent.map(({ status }) => status).toSorted(), [200, ...Array.from({ length: 9 }, () => 409)]);
    assert.deepEqual(await submissions(customerId), [{ state: 'in_review' }]);
    const [row] = await world.query('select version from customer_details where customer_id = $1', [customerId]);
    assert.deepEqual(row, { version: 1 });
  });

  test('that names ten thousand owners, or deep and long JSON, is refused in time', async () => {
    const customerId = await enrolled('BUSINESS');
    const isLate = patience(10_000);
    const owners = Array.from({ length: 10_000 }, () => ({ firstName: 'A', lastName: 'B', share: '0.01' }));
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`x${at}`, 'y']));
    for (const more of [
      ...[{ owners }, { owners: JSON.stringify(owners.slice(0, 400)) }, { owners: deep }, { directors: wide }],
      ...[{ details: wide }, { details: deep }, { owners: [wide] }, { owners: [{ firstName: owners }] }],
    ]) {
      const { status, body } = await acme.post('kyb/submit', { customerId, ...BUSINESS, ...more });
      assert.ok([400, 413, 431].includes(status), `${Object.keys(more)[0]}: ${status} ${JSON.stringify(body)}`);
    }
    const refused = await acme.post('kyb/submit', { customerId, ...BUSINESS, owners: owners.slice(0, 21) });
    assert.deepEqual(refused.body.fields, { owners: 'must be at most 20 people' });
    assert.ok(!isLate(), 'the refusals took ten seconds');
    assert.deepEqual(await submissions(customerId), []);
  });

  test('may name an owner who is a director too, and the same person in two scripts', async () => {
    const customerId = await enrolled('BUSINESS');
    const [asha, aisha] = [
      { firstName: 'Asha', lastName: 'Rao' },
      { firstName: 'عائشة', lastName: 'راو' },
    ];
    const owners = [
      { ...asha, share: '50' },
      { ...aisha, share: '50' },
    ];
    const sent = await acme.post('kyb/submit', { customerId, ...BUSINESS, owners, directors: [asha, aisha] });
    assert.equal(sent.body.data.status, 'IN_REVIEW', sent.text);
    assert.deepEqual(JSON.parse((await detailsOf(customerId))?.owners ?? ''), owners);
  });

  test('cannot give a name that nobody can read, in any place for one', async () => {
    const [person, business] = [await enrolled('INDIVIDUAL'), await enrolled('BUSINESS')];
    const why = /^must have only characters that can be seen/;
    for (const name of ['\u200b', '\u202eoaR ahsA', `Asha${'\u0301'.repeat(200)}`, '\u3164\u3164']) {
      const details = { ...PERSON.details, firstName: name };
      const one = await acme.post('kyc/submit', { customerId: person, fiatType: 1, ...PERSON, details });
      assert.match(one.body.fields?.firstName ?? '', why, one.text);
      const firm = await acme.post('kyb/submit', { customerId: business, ...BUSINESS, entityName: name });
      assert.match(firm.body.fields?.entityName ?? '', why, firm.text);
      const owners = [{ firstName: 'Asha', lastName: name, share: '100' }];
      const owned = await acme.post('kyb/submit', { customerId: business, ...BUSINESS, owners });
      assert.match(owned.body.fields?.['owners[0].lastName'] ?? '', /characters that can be seen/, owned.text);
    }
    assert.deepEqual([...(await submissions(person)), ...(await submissions(business))], []);
  });

  test('whose form has a pattern that does not end on some text is told the field, and others are answered meanwhile', async () => {
    const now = world.clock.now();
    const regex = '^(?:hello|hell[o])+$';
    const form = {
      code: { label: 'Code', required: 1, regex, example: 'hello' },
      city: { label: 'City', required: 1, regex: '^[A-Z][a-z]+$' },
    } as const;
    const set = {
      kind: 'BUSINESS',
      country: 'SE',
      form,
      needsDocument: false,
      effectiveAt: now,
      by: 'ada',
      now,
    } as const;
    await withoutIdling(async () => {
      const refused = ({ code, facts }: Refusal) =>
        code === 'malformed_field' && Object.keys(facts.fields as object)[0] === 'code.regex';
      await assert.rejects(
        world.db.asSystem((tx) => saveForm(tx, set)),
        refused,
      );
    });
    // One that was saved before patterns were tried like this.
    await world.query(
      `insert into requirement_forms (kind, country, version, form, needs_document, effective_at, set_by, set_at)
       values ('BUSINESS', 'SE', 1, $1, false, $2, 'ada', $2)`,
      [JSON.stringify(form), now],
    );
    const customerId = await enrolled('BUSINESS');
    const submit = (code: string) => acme.post('kyb/submit', { customerId, country: 'SE', code, city: 'Lund' });
    let answered = 0;
    const { status, body } = await withoutIdling(
      () => submit(`${'hello'.repeat(50)}!`),
      async () => {
        assert.equal((await acme.post('kyc/status', { customerId })).status, 200);
        answered += 1;
      },
    );
    assert.ok(answered >= 3, `${answered} answers beside a pattern that does not end`);
    assert.equal(status, 400, JSON.stringify(body));
    const why = `took too long to compare with ${regex}: give a shorter answer, for example hello`;
    assert.deepEqual(body.fields, { code: why });
    assert.deepEqual(await submissions(customerId), []);
    assert.equal((await submit('hello')).body.data.status, 'IN_REVIEW');
  });

  test('changes nothing that was accepted, also not beside what is asked for again, and not by an empty answer', async () => {
    const customerId = await enrolled('BUSINESS');
    const owners = [{ firstName: 'Asha', lastName: 'Rao', share: '60' }];
    const { submissionId } = (await acme.post('kyb/submit', { customerId, ...BUSINESS, owners })).body.data;
    await finds(customerId, 1, FAILED);
    const submit = (given: object) => acme.post('kyb/submit', { customerId, submissionId, ...given });
    for (const [field, given] of [
      ['owners', { owners: [{ ...owners[0], share: '61' }] }],
      ['owners', { owners: [] }],
      ['city', { dob: '1990-02-01', address: { ...ADDRESS, city: 'Delhi' } }],
      ['identityNumber', { identityNumber: 'ABCDE1234G', dob: '1990-02-01' }],
    ] as const) {
      const { status, body } = await submit(given);
      assert.deepEqual([status, Object.keys(body.fields)], [400, [field]], JSON.stringify(body));
    }
    const blank = await submit({ dob: ' ', city: '' });
    assert.deepEqual(Object.keys(blank.body.data.reasons), ['dob'], blank.text);
    assert.equal((await submit({ dob: '1990-02-01' })).body.data.status, 'IN_REVIEW');
    const given = await detailsOf(customerId);
    assert.deepEqual([given?.dob, given?.city], ['1990-02-01', 'Pune']);
    assert.deepEqual(JSON.parse(given?.owners ?? ''), owners);
  });
});

describe('a verifier', () => {
  test('that asks for the name of a business again gets it, and an empty one is none', async () => {
    const customerId = await enrolled('BUSINESS');
    const { submissionId } = (await acme.post('kyb/submit', { customerId, ...BUSINESS, entityName: 'Rao' })).body.data;
    await finds(customerId, 1, { outcome: 'failed', level: 0, fields: { entityName: 'does_not_match' } });
    const submit = (given: object) => acme.post('kyb/submit', { customerId, submissionId, ...given });
    for (const blank of ['', ' ']) {
      const { body } = await submit({ entityName: blank });
      assert.ok(body.fields?.entityName ?? body.data?.reasons?.entityName, JSON.stringify(body));
    }
    const corrected = await submit({ entityName: 'Rao Traders' });
    assert.equal(corrected.body.data.status, 'IN_REVIEW', corrected.text);
    assert.equal((await detailsOf(customerId))?.entityName, 'Rao Traders');
  });

  test('that answers twice, or about older details, changes nothing the second time', async () => {
    const customerId = await enrolled('BUSINESS');
    const { submissionId } = (await acme.post('kyb/submit', { customerId, ...BUSINESS })).body.data;
    await finds(customerId, 1, FAILED);
    for (const late of [VERIFIED, { outcome: 'refused', level: 0 } as const]) await finds(customerId, 1, late);
    assert.deepEqual(await stateOf(customerId), ['failed', 0]);
    await acme.post('kyb/submit', { customerId, submissionId, dob: '1990-02-01' });
    for (const version of [1, 3]) await finds(customerId, version, VERIFIED);
    assert.deepEqual(await stateOf(customerId), ['in_review', 0]);
    await Promise.all([finds(customerId, 2, VERIFIED), finds(customerId, 2, FAILED), finds(customerId, 2, VERIFIED)]);
    const first = await stateOf(customerId);
    await finds(customerId, 2, first[0] === 'verified' ? FAILED : VERIFIED);
    assert.deepEqual(await stateOf(customerId), first);
    assert.equal((await world.query('select 1 from verifications where customer_id = $1', [customerId])).length, 4);
  });

  test('that names a code of any length, or one that is no word, leaves a small row without it', async () => {
    const codes: readonly [code: string, kept: string | null][] = [
      ['x'.repeat(1_000_000), null],
      ['the face is not that of Asha Rao', null],
      ['SELFIE_MISMATCH', 'SELFIE_MISMATCH'],
    ];
    for (const [code, kept] of codes) {
      const customerId = await enrolled('INDIVIDUAL');
      await acme.post('kyc/submit', { customerId, fiatType: 1, ...PERSON });
      finding = { outcome: 'failed', level: 0, code };
      await checks(customerId);
      const [row, ...more] = await world.query(
        `select left(inputs ->> 'code', 80) as code, length(inputs::text) as chars from decisions where inputs ->> 'customerId' = $1`,
        [customerId],
      );
      assert.deepEqual([row.code, more.length], [kept, 0]);
      assert.ok(row.chars < 500, `${row.chars} characters`);
      assert.deepEqual(await stateOf(customerId), ['failed', 0]);
    }
  });

  test('that does not answer, or names a day or a field that is none, leaves the submission in review or asks again', async () => {
    const customerId = await enrolled('INDIVIDUAL');
    await acme.post('kyc/submit', { customerId, fiatType: 1, ...PERSON });
    finding = new Error('gone');
    await assert.rejects(checks(customerId));
    assert.deepEqual(await stateOf(customerId), ['in_review', 0]);
    finding = { outcome: 'failed', level: 0, fields: { 'no such.field': 'ugly', __proto__: 'x', dob: 'ugly' } };
    await checks(customerId);
    const { reasons, status } = (await acme.post('kyb/status', { customerId })).body.data;
    assert.deepEqual([status, reasons], ['UPDATE_REQUIRED', { dob: 'is not accepted, for example 1990-01-31' }]);
  });
});
