/** Provider specifics: the requests they receive, the meaning of their answers, and which of their calls count. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { SettingError } from '../../src/base/env.ts';
import { Unavailable } from '../../src/base/errors.ts';
import { levels, nameFor } from '../../src/verifiers/provider.ts';
import type { VerificationRequest } from '../../src/verifiers/verifier.ts';
import { governmentId, personaEnvironment } from '../fixtures/verifiers/persona.ts';
import { sumsubEnvironment } from '../fixtures/verifiers/sumsub.ts';

const KEY = 'details:Ab3dEf9hIj_17:1';
const asked = (more: Partial<VerificationRequest> = {}): VerificationRequest => ({
  ...{ key: KEY, customerId: 'Ab3dEf9hIj_17', kind: 'INDIVIDUAL', level: 2 },
  ...more,
});
const FIELDS = { firstName: 'Asha', lastName: 'Rao', dob: '1990-02-03', identityNumber: 'ABCDE1234F' };
const IN_REVIEW = { outcome: 'in_review', level: 0, pending: { callsBack: true } };

const sumsub = await sumsubEnvironment({}, FIELDS);

describe('Sumsub', () => {
  const world = sumsub;
  after(() => world.here.stop());
  const { verifier, here, applicants, steps, review, calls } = world;

  test('a check that has not begun is in review', async () => {
    assert.deepEqual(await verifier.finding(asked({ key: 'details:never:1' })), IN_REVIEW);
  });

  test('it receives name and date of birth, and the document shows the rest', async () => {
    const { pageUrl } = await verifier.begin(asked());
    assert.match(pageUrl ?? '', /^https:\/\/in\.sumsub\.com\//);
    assert.deepEqual(applicants.get(KEY)?.fixedInfo, { firstName: 'Asha', lastName: 'Rao', dob: '1990-02-03' });
    assert.equal(
      applicants.get(KEY)?.review.levelName,
      'id-and-liveness',
      'level 2 is verified by the next higher one',
    );
    assert.ok(here.requests.every(({ path, body }) => !`${path}${body}`.includes('ABCDE1234F')));
  });

  test('two concurrent requests make one applicant', async () => {
    const key = 'details:twice:1';
    await Promise.all([verifier.begin(asked({ key })), verifier.begin(asked({ key }))]);
    assert.equal([...applicants.values()].filter(({ externalUserId }) => externalUserId === key).length, 1);
  });

  for (const [status, result, finding] of [
    ['pending', undefined, IN_REVIEW],
    ['queued', { reviewAnswer: 'GREEN' }, IN_REVIEW],
    ['onHold', { reviewAnswer: 'GREEN' }, IN_REVIEW],
    ['completed', { reviewAnswer: 'GREEN' }, { outcome: 'verified', level: 5 }],
    [
      'completed',
      { reviewAnswer: 'RED', reviewRejectType: 'RETRY', rejectLabels: ['UNSATISFACTORY_PHOTOS'] },
      { outcome: 'failed', level: 0, reason: 'unsatisfactory_photos', code: 'document_unreadable' },
    ],
    [
      'completed',
      { reviewAnswer: 'RED', reviewRejectType: 'FINAL', rejectLabels: ['FORGERY'] },
      { outcome: 'refused', level: 0, reason: 'forgery' },
    ],
    // A comment contains a name; it is not passed on.
    [
      'completed',
      { reviewAnswer: 'RED', rejectLabels: ['Asha Rao is 17'], moderationComment: 'Asha Rao is 17' },
      { outcome: 'failed', level: 0 },
    ],
  ] as const) {
    test(`${status} with ${JSON.stringify(result ?? null)} is ${finding.outcome}`, async () => {
      review(KEY, { levelName: 'id-and-liveness', reviewStatus: status, reviewResult: result as never });
      assert.deepEqual(await verifier.finding(asked()), finding);
    });
  }

  test('of the documents that were accepted, the first day on which one expires is passed on', async () => {
    const applicant = applicants.get(KEY);
    assert.ok(applicant !== undefined);
    const shown = (country: string, validUntil?: string) => ({
      ...{ idDocType: 'PASSPORT', country },
      ...(validUntil !== undefined && { validUntil }),
    });
    const days = ['2031-04-30', undefined, '2029-02-28', 'soon', '2027-13-01'];
    applicant.info = { idDocs: [...days.map((day) => shown('IND', day)), shown('GBR', '2020-01-01')] };
    const step = (country: string, reviewAnswer: string) => ({
      ...{ idDocType: 'PASSPORT', country },
      reviewResult: { reviewAnswer },
    });
    steps.set(applicant.id, { IDENTITY: step('IND', 'GREEN'), IDENTITY2: step('GBR', 'RED'), SELFIE: null });
    review(KEY, { levelName: 'id-and-liveness', reviewResult: { reviewAnswer: 'GREEN' } });
    const verified = { outcome: 'verified', level: 5, expiresOn: '2029-02-28' };
    assert.deepEqual(await verifier.finding(asked()), { ...verified, country: 'IN' });
    review(KEY, { reviewResult: { reviewAnswer: 'RED', reviewRejectType: 'RETRY' } });
    assert.deepEqual(await verifier.finding(asked()), { outcome: 'failed', level: 0 });
    delete applicant.info;
  });

  test('numbers are those of accepted documents of identity', async () => {
    const applicant = applicants.get(KEY);
    assert.ok(applicant !== undefined);
    const document = (idDocType: string, country: string, number?: string) => ({
      ...{ idDocType, country },
      ...(number !== undefined && { number }),
    });
    applicant.info = {
      idDocs: [
        ...[
          document('PASSPORT', 'IND', 'K1234567'),
          document('PASSPORT', 'GBR', 'REJECTED1'),
          document('SELFIE', 'IND'),
        ],
        document('UTILITY_BILL', 'IND', 'METER-4711'),
      ],
    };
    const step = (idDocType: string, country: string, reviewAnswer: string) => ({
      ...{ idDocType, country, reviewResult: { reviewAnswer } },
    });
    steps.set(applicant.id, {
      IDENTITY: step('PASSPORT', 'IND', 'GREEN'),
      IDENTITY2: step('PASSPORT', 'GBR', 'RED'),
      PROOF_OF_RESIDENCE: step('UTILITY_BILL', 'IND', 'GREEN'),
      SELFIE: step('SELFIE', 'IND', 'GREEN'),
    });
    review(KEY, { levelName: 'id-and-liveness', reviewResult: { reviewAnswer: 'GREEN' } });
    assert.deepEqual(await verifier.finding(asked()), {
      ...{ outcome: 'verified', level: 5 },
      ...{ documentNumbers: ['K1234567'], country: 'IN' },
    });
    // Documents of two countries decide nothing about the customer's.
    steps.set(applicant.id, {
      IDENTITY: step('PASSPORT', 'IND', 'GREEN'),
      IDENTITY2: step('PASSPORT', 'GBR', 'GREEN'),
    });
    assert.equal((await verifier.finding(asked())).country, undefined);
    review(KEY, { reviewResult: { reviewAnswer: 'RED', reviewRejectType: 'RETRY' } });
    assert.deepEqual(await verifier.finding(asked()), { outcome: 'failed', level: 0 });
    delete applicant.info;
  });

  test('names are those of the documents, in Latin letters, and never those that were passed on', async () => {
    const applicant = applicants.get(KEY);
    assert.ok(applicant !== undefined);
    review(KEY, { levelName: 'id-and-liveness', reviewResult: { reviewAnswer: 'GREEN' } });
    for (const [info, names] of [
      [{}, undefined],
      [{ dob: '1990-02-03' }, undefined],
      [
        { firstName: 'Zoë', firstNameEn: 'Zoe', middleName: 'Ann', lastName: "O'Néill-Ray", lastNameEn: "O'Neill-Ray" },
        { firstName: 'Zoë Ann', lastName: "O'Néill-Ray" },
      ],
      [
        { firstName: 'Ольга', firstNameEn: 'Olga', lastName: 'Орлова', lastNameEn: 'Orlova', dob: '1985-01-02' },
        { firstName: 'Olga', lastName: 'Orlova', dob: '1985-01-02' },
      ],
      [{ firstName: '愛' }, { firstName: '愛' }],
      [{ companyInfo: { companyName: 'Rao Exports Ltd' } }, { companyName: 'Rao Exports Ltd' }],
    ] as const) {
      applicant.info = info;
      assert.deepEqual((await verifier.finding(asked())).names, names, JSON.stringify(info));
    }
    assert.notEqual(applicant.fixedInfo, undefined, 'nothing was passed on');
    delete applicant.info;
  });

  test('an answer that is no review, or about another applicant, is no finding', async () => {
    const completed = (reviewResult: unknown) => ({
      levelName: 'id-and-liveness',
      reviewStatus: 'completed',
      reviewResult,
    });
    for (const json of [
      {},
      { externalUserId: KEY },
      { externalUserId: KEY, review: completed({}) },
      { externalUserId: KEY, review: completed({ reviewAnswer: 'YELLOW' }) },
      { externalUserId: KEY, review: { ...completed({ reviewAnswer: 'GREEN' }), levelName: 'of-another-client' } },
      { externalUserId: 'details:other:1', review: completed({ reviewAnswer: 'GREEN' }) },
    ]) {
      here.instead.push({ status: 200, json });
      await assert.rejects(verifier.finding(asked()), Unavailable, JSON.stringify(json));
    }
    here.instead.push({ status: 401, json: { description: KEY } });
    await assert.rejects(verifier.finding(asked()), /^Unavailable: sumsub: it answered 401$|it answered 401/);
  });

  test('a business is begun at its own levels, and not at all if none is set', async () => {
    const key = 'details:business:1';
    await verifier.begin(asked({ key, kind: 'BUSINESS' }));
    assert.deepEqual([applicants.get(key)?.type, applicants.get(key)?.review.levelName], ['company', 'full-kyb']);
    assert.equal(applicants.get(key)?.fixedInfo, undefined);
    const persons = await sumsubEnvironment({ companyLevels: undefined });
    await assert.rejects(persons.verifier.begin(asked({ kind: 'BUSINESS' })), Unavailable);
    assert.equal(persons.here.requests.length, 0);
    await persons.here.stop();
  });

  test('a webhook counts under SHA-256 and SHA-512 of its own secret, and while it is fresh', () => {
    const read = verifier.readCallback;
    assert.ok(read !== undefined);
    const daysAgo = (days: number) =>
      new Date(Date.now() - days * 86_400_000).toISOString().replace('T', ' ').replace('Z', '');
    assert.equal(read(calls({ key: KEY })), KEY);
    assert.equal(read(calls({ key: KEY }, { algorithm: 'HMAC_SHA512_HEX', digest: 'sha512' })), KEY);
    assert.equal(read(calls({ key: KEY }, { createdAtMs: daysAgo(1) })), KEY, 'the last resent call was refused');
    for (const wrong of [
      { algorithm: 'HMAC_SHA1_HEX', digest: 'sha1' },
      { algorithm: 'HMAC_SHA512_HEX' },
      { secret: 'secret-key-of-the-token' },
      { createdAtMs: daysAgo(3) },
      { createdAtMs: daysAgo(-3) },
      { createdAtMs: '' },
    ])
      assert.equal(read(calls({ key: KEY }, wrong)), undefined, JSON.stringify(wrong));
  });
});

const persona = await personaEnvironment({}, FIELDS);

describe('Persona', () => {
  const world = persona;
  after(() => world.here.stop());
  const { verifier, here, inquiries, documents, becomes, calls, WEBHOOK_SECRET } = world;

  test('name and date of birth are filled in on its page, whose link is good once', async () => {
    const [first, second] = [await verifier.begin(asked()), await verifier.begin(asked())];
    assert.match(first.pageUrl ?? '', /^https:\/\/withpersona\.com\/verify\?code=/);
    assert.notEqual(first.pageUrl, second.pageUrl);
    assert.deepEqual(inquiries[0]?.attributes.fields, {
      'name-first': 'Asha',
      'name-last': 'Rao',
      birthdate: '1990-02-03',
    });
    assert.ok(here.requests.every(({ path, body }) => !`${path}${body}`.includes('ABCDE1234F')));
  });

  test('two concurrent requests make one inquiry', async () => {
    const key = 'details:twice:1';
    await Promise.all([verifier.begin(asked({ key })), verifier.begin(asked({ key }))]);
    assert.equal(inquiries.filter(({ attributes }) => attributes['reference-id'] === key).length, 1);
  });

  test('an error that Persona keeps under the idempotency key ends with the hour', async () => {
    let nowMs = Date.now();
    const slow = await personaEnvironment({ realNow: () => nowMs });
    slow.here.instead.push({ status: 200, json: { data: [] } }, { status: 500, json: { errors: [] } });
    await assert.rejects(slow.verifier.begin(asked()), Unavailable);
    const keyOf = () =>
      slow.here.requests.findLast(({ headers }) => headers['idempotency-key'])?.headers['idempotency-key'];
    const before = keyOf();
    nowMs += 3_600_000;
    await slow.verifier.begin(asked());
    assert.notEqual(keyOf(), before);
    await slow.here.stop();
  });

  for (const [status, finding] of [
    ['created', IN_REVIEW],
    ['pending', IN_REVIEW],
    ['expired', IN_REVIEW],
    ['needs_review', IN_REVIEW],
    ['completed', IN_REVIEW],
    ['approved', { outcome: 'verified', level: 5 }],
    ['declined', { outcome: 'refused', level: 0, reason: 'declined' }],
    ['failed', { outcome: 'failed', level: 0, reason: 'failed' }],
  ] as const) {
    test(`${status} is ${finding.outcome}`, async () => {
      becomes(KEY, status);
      assert.deepEqual(await verifier.finding(asked()), finding);
    });
  }

  test('of the documents that passed, the first day on which one expires is passed on', async () => {
    becomes(KEY, 'approved');
    const id = inquiries.find(({ attributes }) => attributes['reference-id'] === KEY)?.id ?? '';
    const shown = (type: string, status: string, day: string | null) => ({
      ...{ type: `verification/${type}`, id: 'ver_1' },
      attributes: { status, 'expiration-date': day },
    });
    documents.set(id, [
      shown('government-id', 'failed', '2027-01-01'),
      shown('selfie', 'passed', '2027-01-02'),
      shown('government-id', 'passed', '2033-05-06'),
      shown('government-id', 'passed', '2030-02-28'),
      shown('government-id', 'passed', null),
    ]);
    assert.deepEqual(await verifier.finding(asked()), { outcome: 'verified', level: 5, expiresOn: '2030-02-28' });
    here.instead.push(
      { status: 200, json: { data: [inquiries.find((one) => one.id === id)] } },
      { status: 500, json: {} },
    );
    await assert.rejects(verifier.finding(asked()), Unavailable, 'it was verified without its last day');
    documents.delete(id);
  });

  test('numbers are those of documents that passed, each once', async () => {
    becomes(KEY, 'approved');
    const id = inquiries.find(({ attributes }) => attributes['reference-id'] === KEY)?.id ?? '';
    const shown = (type: string, status: string, number: string | null) => ({
      ...{ type: `verification/${type}`, id: 'ver_1' },
      attributes: { status, 'identification-number': number },
    });
    documents.set(id, [
      ...[shown('government-id', 'failed', 'REJECTED1'), shown('database', 'passed', 'TYPED123')],
      ...[shown('government-id', 'passed', 'K1234567'), shown('government-id', 'passed', null)],
      shown('government-id', 'passed', 'K1234567'),
    ]);
    const found = { outcome: 'verified', level: 5, documentNumbers: ['K1234567'] };
    assert.deepEqual(await verifier.finding(asked()), found);
    documents.delete(id);
  });

  test('the country is that of all documents that passed', async () => {
    becomes(KEY, 'approved');
    const id = inquiries.find(({ attributes }) => attributes['reference-id'] === KEY)?.id ?? '';
    const shown = (status: string, country: string | null) => ({
      ...{ type: 'verification/government-id', id: 'ver_1' },
      attributes: { status, 'country-code': country },
    });
    for (const [all, country] of [
      [[shown('passed', 'DE'), shown('failed', 'FR'), shown('passed', 'DE')], 'DE'],
      [[shown('passed', 'DE'), shown('passed', 'FR')], undefined],
      [[shown('passed', 'DE'), shown('passed', null)], undefined],
      [[shown('passed', null)], undefined],
    ] as const) {
      documents.set(id, [...all]);
      assert.equal((await verifier.finding(asked())).country, country, JSON.stringify(all));
    }
    documents.delete(id);
  });

  test('names are those of a document that passed, and never those that were filled in', async () => {
    becomes(KEY, 'approved');
    const inquiry = inquiries.find(({ attributes }) => attributes['reference-id'] === KEY);
    assert.ok(inquiry?.attributes.fields !== undefined, 'nothing was filled in');
    const right = governmentId({ firstName: 'Meera', lastName: 'Iyer', dob: '1988-04-05' });
    const failed = governmentId({ firstName: 'Asha', lastName: 'Rao' });
    failed.attributes.status = 'failed';
    for (const [shown, names] of [
      [[], undefined],
      [[governmentId({})], undefined],
      [[failed, { ...right, type: 'verification/database' }], undefined],
      [[failed, governmentId({}), right], { firstName: 'Meera', lastName: 'Iyer', dob: '1988-04-05' }],
    ] as const) {
      documents.set(inquiry.id, [...shown]);
      assert.deepEqual((await verifier.finding(asked())).names, names);
    }
    right.attributes['name-middle'] = 'Devi' as never;
    assert.equal((await verifier.finding(asked())).names?.firstName, 'Meera Devi');
    documents.delete(inquiry.id);
  });

  test('completed counts as verified if the operator declares that no decision follows', async () => {
    const decided = await personaEnvironment({ completed: 'verified' });
    await decided.verifier.begin(asked());
    decided.becomes(KEY, 'completed');
    assert.deepEqual(await decided.verifier.finding(asked()), { outcome: 'verified', level: 5 });
    await decided.here.stop();
  });

  test('an inquiry that expired is resumed, and one that is done has no page', async () => {
    becomes(KEY, 'expired');
    assert.match((await verifier.begin(asked())).pageUrl ?? '', /^https:/);
    becomes(KEY, 'needs_review');
    assert.equal((await verifier.begin(asked())).pageUrl, undefined);
  });

  test('an answer that is no inquiry, of another template or about another customer, is no finding', async () => {
    const one = (status: string, reference = KEY, template = 'itmpl_full') => ({
      ...{ type: 'inquiry', id: 'inq_1', attributes: { status, 'reference-id': reference } },
      relationships: { 'inquiry-template': { data: { id: template } } },
    });
    for (const json of [
      {},
      { data: {} },
      { data: [{}] },
      { data: [one('approved', 'details:other:1')] },
      { data: [one('approved', KEY, 'itmpl_of_another')] },
      { data: [one('delighted')] },
    ]) {
      here.instead.push({ status: 200, json });
      await assert.rejects(verifier.finding(asked()), Unavailable, JSON.stringify(json));
    }
  });

  test('a webhook counts under one of two secrets, for five minutes', () => {
    const read = verifier.readCallback;
    assert.ok(read !== undefined);
    const now = Math.floor(Date.now() / 1_000);
    assert.equal(read(calls({ key: KEY }, { secrets: ['wbhsec_old', WEBHOOK_SECRET] })), KEY);
    assert.equal(read(calls({ key: KEY }, { sentAt: now - 240 })), KEY);
    for (const wrong of [{ secrets: ['wbhsec_old'] }, { sentAt: now - 600 }, { sentAt: now + 600 }, { secrets: [] }])
      assert.equal(read(calls({ key: KEY }, wrong)), undefined, JSON.stringify(wrong));
  });
});

test('levels are named once each, and a level without a name is verified by the next higher one', () => {
  const setting = levels('SUMSUB_LEVELS', 'levels');
  const read = setting.read('1:basic kyc, 4:id-and-liveness');
  assert.deepEqual(
    [1, 2, 4, 5].map((level) => read && nameFor(read, level)),
    ['basic kyc', 'id-and-liveness', 'id-and-liveness', undefined],
  );
  for (const wrong of ['basic', '6:x', '0:x', '1:', '1:a,1:b', '1:a,,2:b'])
    assert.throws(() => setting.read(wrong), SettingError, wrong);
});
