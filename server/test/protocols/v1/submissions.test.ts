/** Submissions by /v1: persons and businesses from nothing to verified, in parts; refusals with reason and remedy; files. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Cloverleaf } from '../../../../sdk/src/index.ts';
import {
  checkUnderWay,
  findCustomer,
  givenDetails,
  openGivenDetails,
  recordFinding,
  saveDetails,
  saveForm,
} from '../../../src/customers/index.ts';
import { type Came, filesOf, newPhone } from '../../support/client.ts';
import { fetchDeclared } from '../../support/declared.fetch.ts';
import { findInDump } from '../../support/dump.ts';
import { ADDRESS, BUSINESS, PERSON } from '../../support/identities.ts';
import { jpeg, pdf, png } from '../../support/pictures.ts';
import { openV1, signed, type V1Client } from '../../support/v1.ts';
import { besideStory, type V1Environment, v1Environment } from './environment.ts';

const LIMITS = { fileBytes: 100_000, files: 4, bytes: 250_000, ms: 20_000 };
const PASSPORT = ['passportFront.jpg', 'passportBack.jpg', 'selfie.jpg'];
const ANSWERS = { identityNumber: PERSON.identityNumber, ...PERSON.details, ...ADDRESS };
const OF_BUSINESS = { identityNumber: BUSINESS.identityNumber, ...BUSINESS.details, ...ADDRESS };
/** The simulated verifier does not answer of its own accord. */
const NEVER = 'ABCDENEVER';

let w: V1Environment;
let strict: Awaited<ReturnType<typeof besideStory>>;
let signer: V1Client;
before(async () => {
  w = await v1Environment();
  strict = await besideStory(w.s, { uploadLimits: LIMITS });
  signer = openV1(strict.baseUrl, w.keys, { signs: true });
});
after(async () => {
  await strict?.close();
  await w?.s.close();
});

const enrolled = async (kind = 'individual'): Promise<string> =>
  (await w.api.does('POST', '/customers', { reference: randomUUID(), kind, phone: newPhone() })).id;
const at = (customerId: string, submission?: Came, rest = ''): string =>
  `/customers/${customerId}/submissions${submission === undefined ? '' : `/${submission.id}`}${rest}`;
const namesOf = (submission: Came): string[] => submission.needs.map(({ name }: Came) => name).toSorted();
const sends = async (
  customerId: string,
  submission: Came,
  files: Record<string, Buffer>,
  by = w.api,
): Promise<Came> => {
  const answer = await by.upload(at(customerId, submission, '/files'), files);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};
/** As a program does that sends files at the same time: of a third picture of one customer the server says when to send it again. */
const sendsUntilTaken = (customerId: string, submission: Came, files: Record<string, Buffer>): Promise<unknown> =>
  w.s.until('the files are taken', async () => {
    const answer = await w.api.upload(at(customerId, submission, '/files'), files);
    if (answer.status === 200) return true;
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '2'], answer.text);
    return false;
  });
const verified = (customerId: string): Promise<Came> =>
  w.s.until(`${customerId} is verified`, async () => {
    const customer = await w.api.does('GET', `/customers/${customerId}`);
    return customer.verification === 'verified' && customer;
  });
const finds = (customerId: string, version: number, fields: Record<string, string>) =>
  w.s.read((tx) => {
    const finding = { outcome: 'failed', level: 0, fields } as const;
    return recordFinding(tx, { customerId, version, verifier: 'test', finding, now: w.s.clock.now() });
  });
const detailsOf = (customerId: string) => w.s.read((tx) => openGivenDetails(tx, w.s.server.vault, customerId));

const ANSWERS_WAITING = { ...ANSWERS, identityNumber: NEVER };

describe('a person', () => {
  test('goes from nothing to verified in parts; a refusal has its reason and remedy, and only what was refused may change', async () => {
    const customerId = await enrolled();
    const form = await w.api.does('GET', `/customers/${customerId}/requirements?asset=inr`);
    assert.deepEqual([form.kind, form.asset, form.level, form.needsDocument], ['individual', 'inr', 1, false]);
    const required = form.fields.filter((one: Came) => one.required).map(({ name }: Came) => name);
    assert.deepEqual(required.toSorted(), Object.keys(ANSWERS).toSorted());
    assert.ok(form.documents.some(({ files }: Came) => PASSPORT.every((name) => files.includes(name))));

    const begun = await w.api.does('POST', at(customerId), { asset: 'inr', answers: { firstName: 'Asha' } });
    assert.deepEqual([begun.state, begun.answered, begun.files], ['open', ['firstName'], []]);
    assert.deepEqual(namesOf(begun), required.filter((name: string) => name !== 'firstName').toSorted());
    const dob = begun.needs.find(({ name }: Came) => name === 'dob');
    assert.deepEqual(dob, {
      ...{ name: 'dob', what: 'field', reason: 'missing', means: 'is missing', remedy: 'Send it.' },
      example: '1990-01-31',
    });

    const half = await sends(customerId, begun, { passportFront: png() });
    assert.deepEqual(
      namesOf(half).filter((name) => name.includes('.')),
      ['passportBack.jpg', 'selfie.jpg'],
    );
    const answers = { ...ANSWERS, identityNumber: NEVER };
    assert.equal((await w.api.does('PATCH', at(customerId, begun), { answers })).state, 'open');
    const whole = await sends(customerId, begun, { 'passportBack.jpg': jpeg(), 'selfie.jpg': pdf() });
    assert.deepEqual([whole.state, whole.needs], ['in_review', []]);
    assert.deepEqual(
      whole.files.map(({ name, type }: Came) => [name, type]).toSorted(),
      [
        ['passportBack.jpg', 'image/jpeg'],
        ['passportFront.jpg', 'image/png'],
        ['selfie.jpg', 'application/pdf'],
      ].toSorted(),
    );

    await finds(customerId, 1, { identityNumber: 'not_accepted', 'selfie.jpg': 'unreadable' });
    const refused = await w.api.does('GET', at(customerId, begun));
    assert.equal(refused.state, 'open');
    assert.deepEqual(
      refused.needs.toSorted((a: Came, b: Came) => a.name.localeCompare(b.name)),
      [
        {
          ...{ name: 'identityNumber', what: 'field', reason: 'not_accepted', means: 'is not accepted' },
          ...{ remedy: 'Send another one.', example: 'ABCDE1234F' },
        },
        {
          ...{ name: 'selfie.jpg', what: 'file', reason: 'unreadable', means: 'cannot be read' },
          ...{ remedy: 'Send it again, complete, sharp and well lit.', example: null },
        },
      ],
    );
    const other = await w.api.patch(at(customerId, begun), { answers: { firstName: 'Usha' } });
    assert.deepEqual([other.status, Object.keys(other.body.fields)], [400, ['firstName']]);
    const file = await w.api.upload(at(customerId, begun, '/files'), { 'passportFront.jpg': jpeg() });
    assert.deepEqual([file.status, Object.keys(file.body.fields)], [400, ['passportFront.jpg']]);

    await sends(customerId, begun, { 'selfie.jpg': jpeg() });
    const again = await w.api.does('PATCH', at(customerId, begun), { answers: ANSWERS });
    assert.equal(again.state, 'in_review');
    assert.equal((await verified(customerId)).level, 1);
    assert.equal((await w.api.does('GET', at(customerId, begun))).state, 'completed');
    assert.deepEqual(await detailsOf(customerId), ANSWERS);
    const over = await w.api.patch(at(customerId, begun), { answers: ANSWERS });
    assert.deepEqual([over.status, over.body.reason], [409, 'submission_over']);
    const { data } = await w.api.does('GET', at(customerId));
    assert.deepEqual(
      data.map(({ id }: Came) => id),
      [begun.id],
    );
  });

  test('has the form of the fiat and of the level that are asked for, and the submission keeps it', async () => {
    const now = w.s.clock.now();
    const form = {
      wealth: { funds: { label: 'Funds', required: 1 }, proof: { label: 'Proof', required: 1, type: 'file' } },
    };
    await w.s.read((tx) =>
      saveForm(tx, {
        ...{ kind: 'INDIVIDUAL', fiat: 'eur', level: 2, form, needsDocument: false, effectiveAt: now, by: 'ada', now },
      }),
    );
    const customerId = await enrolled();
    const asked = await w.api.does('GET', `/customers/${customerId}/requirements?asset=eur&level=2`);
    assert.deepEqual(
      asked.fields.map(({ name, type }: Came) => [name, type]),
      [
        ['funds', 'text'],
        ['proof', 'file'],
      ],
    );
    const begun = await w.api.does('POST', at(customerId), { asset: 'eur', level: 2 });
    assert.deepEqual(namesOf(begun), ['funds', 'proof']);
    await sends(customerId, begun, { proof: png() });
    const done = await w.api.does('PATCH', at(customerId, begun), { answers: { funds: 'salary' } });
    assert.equal(done.state, 'in_review');
  });
});

describe('the level of a submission', () => {
  const whole = { asset: 'inr', answers: ANSWERS };
  const waits = { asset: 'inr', answers: ANSWERS_WAITING };
  const begins = (customerId: string, body: object) => w.api.does('POST', at(customerId), body);
  const askedLevel = async (customerId: string) => (await w.s.read((tx) => checkUnderWay(tx, customerId)))?.level;

  test('is the one that the verifier is asked for; a lower one does not lower the customer', async () => {
    const customerId = await enrolled();
    await begins(customerId, { ...whole, level: 2 });
    assert.equal((await verified(customerId)).level, 2);
    const lower = await begins(customerId, { ...waits, level: 1 });
    assert.equal(await askedLevel(customerId), 1);
    await w.api.does('GET', at(customerId, lower));
    const finding = { outcome: 'verified', level: 1 } as const;
    await w.s.read((tx) =>
      recordFinding(tx, { customerId, version: 2, verifier: 'test', finding, now: w.s.clock.now() }),
    );
    assert.equal((await verified(customerId)).level, 2);
  });

  test('is asked for again when declined parts are sent again, and is by default the one from which customers trade', async () => {
    const customerId = await enrolled();
    const begun = await begins(customerId, { ...waits, level: 3 });
    await finds(customerId, 1, { identityNumber: 'not_accepted' });
    const answers = { identityNumber: ANSWERS.identityNumber };
    assert.equal((await w.api.does('PATCH', at(customerId, begun), { answers })).state, 'in_review');
    assert.equal((await verified(customerId)).level, 3);
    const other = await enrolled();
    await begins(other, waits);
    assert.equal(await askedLevel(other), 1);
  });

  test('is not reached if the verifier finds a lower one, and stays open if the customer reaches a lower one elsewhere', async () => {
    const customerId = await enrolled();
    const begun = await begins(customerId, { ...waits, level: 3 });
    const finding = { outcome: 'verified', level: 2 } as const;
    const found = (version: number) =>
      w.s.read((tx) => recordFinding(tx, { customerId, version, verifier: 'test', finding, now: w.s.clock.now() }));
    await found(1);
    assert.equal((await verified(customerId)).level, 2);
    assert.equal((await w.api.does('GET', at(customerId, begun))).state, 'completed');

    const open = await begins(customerId, { asset: 'inr', level: 3, answers: { firstName: 'Asha' } });
    // As an older page of ours, whose details belong to no submission.
    const { version } = await w.s.read(async (tx) => {
      const of = { customer: await findCustomer(tx, customerId), over: await givenDetails(tx, customerId) };
      return await saveDetails(tx, w.s.server.vault, { ...of, details: { city: 'Pune' }, now: w.s.clock.now() });
    });
    await found(version);
    assert.equal((await w.api.does('GET', at(customerId, open))).state, 'open');
  });
});

test('a form that asks what the owners hold together says so, and takes no fewer of them', async () => {
  const now = w.s.clock.now();
  const form = { name: { label: 'Name', required: 1 }, owners: { minimumTotalShare: 75 } };
  const set = { kind: 'BUSINESS', level: 4, form, needsDocument: false, effectiveAt: now, by: 'ada', now } as const;
  await w.s.read((tx) => saveForm(tx, set));
  const customerId = await enrolled('business');
  const asks = (level: number) => w.api.does('GET', `/customers/${customerId}/requirements?level=${level}`);
  assert.deepEqual([(await asks(4)).ownersMinimumTotalShare, (await asks(1)).ownersMinimumTotalShare], ['75', null]);
  const rule = 'must hold at least 75 percent together, for example a share of 75';
  const owner = { firstName: 'Asha', lastName: 'Rao', share: '74.99' };
  const short = await w.api.post(at(customerId), { level: 4, answers: { name: 'Rao Traders' }, owners: [owner] });
  assert.deepEqual([short.status, short.body.fields], [400, { owners: rule }]);
  const begun = await w.api.does('POST', at(customerId), { level: 4, answers: { name: 'Rao Traders' } });
  assert.deepEqual(begun.needs, [
    {
      ...{ name: 'owners', what: 'field', reason: 'missing', means: 'is missing' },
      ...{ remedy: `Send it. The owners ${rule}.`, example: null },
    },
  ]);
  const again = await w.api.patch(at(customerId, begun), { owners: [owner] });
  assert.deepEqual([again.status, again.body.fields], [400, { owners: rule }]);
  const done = await w.api.does('PATCH', at(customerId, begun), { owners: [{ ...owner, share: '75' }] });
  assert.equal(done.state, 'in_review');
});

test('a business goes from nothing to verified in parts, with its owners', async () => {
  const customerId = await enrolled('business');
  const asked = await w.api.does('GET', `/customers/${customerId}/requirements`);
  assert.equal(asked.kind, 'business');
  const owner = { firstName: 'Asha', lastName: 'Rao', share: '50.01' };
  const much = await w.api.post(at(customerId), { owners: [owner, owner] });
  assert.deepEqual([much.status, much.body.fields], [400, { owners: 'must hold at most 100 percent together' }]);
  const owners = [{ ...owner, share: '60' }];
  const directors = [{ firstName: 'Asha', lastName: 'Rao' }];
  const begun = await w.api.does('POST', at(customerId), { entityName: 'Rao Traders', owners, directors });
  assert.equal(begun.kind, 'business');
  assert.deepEqual(begun.answered.toSorted(), ['directors', 'entityName', 'owners']);
  await sends(customerId, begun, Object.fromEntries(PASSPORT.map((name) => [name, jpeg()])));
  const answers = { ...OF_BUSINESS, identityNumber: NEVER };
  assert.equal((await w.api.does('PATCH', at(customerId, begun), { answers })).state, 'in_review');
  await finds(customerId, 1, { identityNumber: 'does_not_match' });
  const refused = await w.api.does('GET', at(customerId, begun));
  assert.deepEqual(
    refused.needs.map(({ name, reason }: Came) => [name, reason]),
    [['identityNumber', 'does_not_match']],
  );
  const name = await w.api.patch(at(customerId, begun), { entityName: 'Other Traders' });
  assert.deepEqual([name.status, Object.keys(name.body.fields)], [400, ['entityName']]);
  await w.api.does('PATCH', at(customerId, begun), { answers: { identityNumber: 'ABCDE1234F' } });
  await verified(customerId);
  assert.equal((await w.api.does('GET', at(customerId, begun))).state, 'completed');
  const given = await detailsOf(customerId);
  assert.deepEqual(JSON.parse(given?.owners ?? ''), owners);
  assert.equal(given?.entityName, 'Rao Traders');
});

describe('at the same time', () => {
  test('of two submissions one is begun, and the other request is told which', async () => {
    const customerId = await enrolled();
    const two = await Promise.all(['A', 'B'].map((city) => w.api.post(at(customerId), { answers: { city } })));
    const [won, told] = two.toSorted((a, b) => a.status - b.status);
    assert.deepEqual([won?.status, told?.status], [201, 409]);
    assert.deepEqual([told?.body.reason, told?.body.submissionId], ['submission_exists', won?.body.id]);
  });

  test('answers and files lose nothing', async () => {
    const customerId = await enrolled();
    const begun = await w.api.does('POST', at(customerId), { asset: 'inr' });
    const { identityNumber, ...others } = { ...ANSWERS, identityNumber: NEVER };
    await Promise.all([
      w.api.does('PATCH', at(customerId, begun), { answers: { identityNumber } }),
      w.api.does('PATCH', at(customerId, begun), { answers: others }),
      ...PASSPORT.map((name) => sendsUntilTaken(customerId, begun, { [name]: jpeg() })),
    ]);
    const done = await w.api.does('GET', at(customerId, begun));
    assert.deepEqual([done.state, done.files.length], ['in_review', 3]);
    assert.deepEqual(await detailsOf(customerId), { identityNumber, ...others });
  });
});

describe('refused', () => {
  test('wrong answers, by their names in the form and without their values; unknown names, without repeating them', async () => {
    const customerId = await enrolled();
    const wrong = await w.api.post(at(customerId), { answers: { dob: '31/01/1990', city: 'Quillonia 9' } });
    assert.deepEqual([wrong.status, Object.keys(wrong.body.fields).toSorted()], [400, ['city', 'dob']]);
    assert.equal(wrong.body.fields.dob, 'must be a day, YYYY-MM-DD, for example 1990-01-31');
    assert.doesNotMatch(wrong.text, /Quillonia|31\/01/);
    const unknown = await w.api.post(at(customerId), { answers: { 'Zebrafell Quixotenham': 'x' } });
    assert.deepEqual([unknown.status, Object.keys(unknown.body.fields)], [400, ['answers']]);
    assert.doesNotMatch(unknown.text, /Zebrafell/);
    const person = await w.api.post(at(customerId), { entityName: 'Rao Traders', owners: [] });
    assert.deepEqual(Object.keys(person.body.fields).toSorted(), ['entityName', 'owners']);
    const fiat = await w.api.get(`/customers/${customerId}/requirements?asset=xyz`);
    assert.deepEqual([fiat.status, Object.keys(fiat.body.fields)], [400, ['asset']]);
    assert.deepEqual((await w.api.does('GET', at(customerId))).data, []);
  });

  test('files of another type, without a place in the form, too large, too many, none, or not as multipart', async () => {
    const customerId = await enrolled();
    const begun = await w.api.does('POST', at(customerId), { asset: 'inr' });
    const path = at(customerId, begun, '/files');
    const script = Buffer.from('<html><script>alert(1)</script></html>');
    const type = await w.api.upload(path, { 'selfie.jpg': script });
    assert.deepEqual([type.status, type.body.fields], [400, { 'selfie.jpg': 'must be a JPEG, PNG, WEBP or PDF' }]);
    const slot = await w.api.upload(path, { 'Zebrafell.jpg': png() });
    assert.deepEqual([slot.status, Object.keys(slot.body.fields)], [400, ['files']]);
    assert.doesNotMatch(slot.text, /Zebrafell/);
    const large = await signer.upload(path, { 'selfie.jpg': Buffer.alloc(100_001, 1) });
    assert.deepEqual([large.status, large.body.reason], [413, 'body_too_large']);
    const many = Object.fromEntries(Array.from({ length: 5 }, (_, one) => [`f${one}`, png()]));
    const more = await signer.upload(path, many);
    assert.deepEqual([more.status, more.body.reason], [400, 'malformed_body']);
    const texts = filesOf({ 'selfie.jpg': png() });
    texts.set('Quixotenham', 'Zebrafell');
    const beside = await w.api.post(path, texts);
    assert.deepEqual([beside.status, Object.keys(beside.body.fields)], [400, ['files']]);
    assert.doesNotMatch(beside.text, /Zebrafell|Quixotenham/);
    const none = await w.api.post(path);
    assert.deepEqual([none.status, none.body.reason], [400, 'missing_fields']);
    const json = await w.api.post(path, { 'selfie.jpg': 'x' });
    assert.deepEqual([json.status, json.body.reason], [415, 'unsupported_media_type']);
    const now = await w.api.does('GET', at(customerId, begun));
    assert.deepEqual([now.files, now.state], [[], 'open']);
  });

  test('another partner’s customer and submission look like none; one of another customer is unknown', async () => {
    const [customerId, second] = [await enrolled(), await enrolled()];
    const begun = await w.api.does('POST', at(customerId), {});
    const calls = (by: V1Client, of: string, submission: Came) => [
      by.get(at(of, submission)),
      by.patch(at(of, submission), { answers: { city: 'Pune' } }),
      by.upload(at(of, submission, '/files'), { 'selfie.jpg': png() }),
    ];
    const strangers = [
      ...calls(w.other, customerId, begun),
      w.other.get(`/customers/${customerId}/requirements`),
      w.other.get(at(customerId)),
      w.other.post(at(customerId), {}),
    ];
    for (const answer of await Promise.all(strangers))
      assert.deepEqual([answer.status, answer.body.reason], [404, 'unknown_customer'], answer.path);
    for (const answer of await Promise.all(calls(w.api, second, begun)))
      assert.deepEqual([answer.status, answer.body.reason], [404, 'unknown_submission'], answer.path);
    assert.deepEqual((await w.api.does('GET', at(customerId, begun))).files, []);
  });
});

describe('a request with files', () => {
  test('is made, signed and sent once by the SDK', async () => {
    const customerId = await enrolled();
    const client = new Cloverleaf({ baseUrl: strict.baseUrl, apiKey: w.keys.apiKey, apiSecret: w.keys.apiSecret });
    const begun = await client.submissions.create(customerId, { asset: 'inr', answers: ANSWERS_WAITING });
    assert.equal(begun.state, 'in_review');
    const files = { 'passportFront.jpg': new Blob([Uint8Array.from(png())]), 'selfie.jpg': Uint8Array.from(jpeg()) };
    const added = await client.submissions.addFiles(customerId, begun.id, files);
    assert.deepEqual(added.files.map(({ name }) => name).toSorted(), Object.keys(files));
  });

  test('has its reply repeated under the same key, and is another request with other files', async () => {
    const customerId = await enrolled();
    const begun = await w.api.does('POST', at(customerId), { asset: 'inr' });
    const path = at(customerId, begun, '/files');
    const key = randomUUID();
    const first = await w.api.upload(path, { 'selfie.jpg': jpeg() }, { key });
    const again = await w.api.upload(path, { 'selfie.jpg': jpeg() }, { key });
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    assert.deepEqual(again.body, first.body);
    for (const other of [{ 'selfie.jpg': png() }, { 'passportFront.jpg': jpeg() }])
      assert.equal((await w.api.upload(path, other, { key })).body.reason, 'idempotency_conflict');
    assert.equal((await w.api.send('POST', path, filesOf({}), { headers: { 'idempotency-key': '' } })).status, 400);
  });

  test('is signed over its whole body; what somebody else sends under the signature does not spoil it', async () => {
    const customerId = await enrolled();
    const begun = await w.api.does('POST', at(customerId), { asset: 'inr' });
    const url = `${strict.baseUrl}/v1${at(customerId, begun, '/files')}`;
    const encoded = async (content: Buffer) => {
      const form = new Response(filesOf({ 'selfie.jpg': content }));
      return { type: form.headers.get('content-type') ?? '', text: Buffer.from(await form.arrayBuffer()) };
    };
    const [mine, other] = [await encoded(jpeg()), await encoded(png())];
    const headers = await signed(
      { method: 'POST', url, headers: { 'content-type': mine.type, 'idempotency-key': randomUUID() }, text: mine.text },
      w.keys,
    );
    const post = async (body: Buffer, type: string) => {
      const sent = { ...headers, 'content-type': type };
      const answer = await fetchDeclared(url, { method: 'POST', headers: sent, body: Uint8Array.from(body) });
      return { status: answer.status, body: (await answer.json()) as Came };
    };
    const forged = await post(other.text, other.type);
    assert.deepEqual([forged.status, forged.body.reason], [401, 'unauthenticated'], JSON.stringify(forged.body));
    const right = await post(mine.text, mine.type);
    assert.deepEqual([right.status, right.body.files?.[0]?.type], [200, 'image/jpeg'], JSON.stringify(right.body));
    const bearer = await openV1(strict.baseUrl, w.keys).upload(at(customerId, begun, '/files'), { selfie: png() });
    assert.equal(bearer.body.reason, 'signature_required');
  });
});

test('nothing personal is in clear in the database, and the request log shows neither answers nor owners', async () => {
  const customerId = await enrolled('business');
  const secret = { firstName: 'Quillonia', identityNumber: 'ZQX8841KNEVER' };
  const owners = [{ firstName: 'Zebrafell', lastName: 'Quixotenham', share: '10' }];
  const mine = randomUUID();
  const given = { answers: secret, owners, entityName: 'Xylograph Works' };
  const begun = await w.api.does('POST', at(customerId), given, { headers: { 'x-client-request-id': mine } });
  await w.api.patch(at(customerId, begun), { answers: { firstName: ' Quillonia', Zebrafell: 'Quixotenham' } });
  await sends(customerId, begun, { 'selfie.jpg': jpeg({ more: [[0xfe, Buffer.from('Zebrafell')]] }) });
  const line = await w.s.until('the request is in the log', async () => {
    const found = await w.api.get(`/request-log/${mine}`);
    return found.status === 200 && found.body;
  });
  assert.equal(line.operation, 'submissions.create');
  assert.doesNotMatch(JSON.stringify(line), /Quillonia|Zebrafell|Xylograph|ZQX8841K/);
  const words = ['Quillonia', 'Zebrafell', 'Quixotenham', 'Xylograph', 'ZQX8841K'];
  assert.deepEqual(await findInDump(w.s.adminUrl, words), []);
});
