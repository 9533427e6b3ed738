/**
 * From nothing to trading by API: a person and a business by /v1 and a business by the white-label wire, each from its creation to a
 * settled order, on a sandbox whose operators verify by hand. Each refusal on the way is read with its rule and its remedy.
 */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { BUSINESS_FORM } from '../../src/customers/index.ts';
import { SANDBOX_CODE } from '../../src/protocols/checkout/index.ts';
import { openBrowser } from '../protocols/checkout/environment.ts';
import { confirmedBy, oneOrTwoDo, type Person, type Said } from '../protocols/operator/people.ts';
import { type V1Environment, v1Environment } from '../protocols/v1/environment.ts';
import { type Answer, type Came, newPhone } from '../support/client.ts';
import { ADDRESS, BUSINESS, PERSON } from '../support/identities.ts';
import { jpeg, lookOf, pdf, png } from '../support/pictures.ts';
import { operatorIn } from '../support/staffed.ts';

const DAY_MS = 86_400_000;
/** What a person may trade in a day, in rupees. */
const DAILY = '20000';

let w: V1Environment;
let ada: Person;
let bea: Person;
before(async () => {
  w = await v1Environment({ operators: 'two', settings: { VERIFIER: 'manual' } });
  ada = await operatorIn(w.s, 'ada', 'admin');
  bea = await operatorIn(w.s, 'bea', 'admin');
  const limited = await ada.does('/customer-limits', { fiat: 'inr', level: 1, per: 'day', max: DAILY });
  assert.equal(limited.status, 200, JSON.stringify(limited.body));
});
// Compares the books with chains and bank (story.ts).
after(async () => {
  await w?.s.close();
});

interface Remedied {
  status: number;
  reason: string;
  /** As the docs of the interface say it. */
  remedy: string;
  fields?: Record<string, string>;
}
/** The request was refused like this, and the page that the docs have for its reason says what to do. */
async function isRefused(said: Pick<Answer, 'status' | 'body' | 'text'>, as: Remedied, by = 'API'): Promise<void> {
  const { reason, fields } = said.body;
  assert.deepEqual([said.status, reason, fields], [as.status, as.reason, as.fields], said.text);
  const page = await (await fetch(`${w.s.server.baseUrl}/docs/errors/${reason}.md`)).text();
  // Where the interfaces differ, each has a part of its own.
  const parts = page.includes('### What to do') ? page.split(/^## /m) : [];
  const own = parts.find((part) => part.startsWith(by)) ?? page;
  assert.equal(/# What to do\n\n(.+)/.exec(own)?.[1], as.remedy, page);
}
const wrong = (fields: Record<string, string>, remedy = 'Correct the field, or leave it out.'): Remedied => ({
  ...{ status: 400, reason: 'malformed_field', remedy, fields },
});

/** Of each customer its own: the same file under two customers is a case. */
const picture = (): Buffer => jpeg({ more: [[0xfe, randomBytes(16)]] });
const passport = (): Record<string, Buffer> => ({
  'passportFront.jpg': picture(),
  'passportBack.jpg': picture(),
  'selfie.jpg': picture(),
});
const known = (customerId: string): Promise<Came> => w.api.does('GET', `/customers/${customerId}`);
/** The limit of rupees in a day. */
async function dailyOf(customerId: string) {
  const { limits } = await w.api.does('GET', `/customers/${customerId}/limits`);
  const { max, used, left } = limits.find(({ per, asset }: Came) => per === 'day' && asset === 'inr');
  return { max, used, left };
}
const sends = async (path: string, files: Record<string, Buffer>): Promise<Came> => {
  const answer = await w.api.upload(path, files);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};
const quoted = (payAsset: string, receiveAsset: string, payAmount: string): Promise<Came> =>
  w.api.does('POST', '/quotes', { payAsset, receiveAsset, payAmount });

/** The customer opens the link on a phone and logs in with the code. */
async function logsIn(customerId: string): Promise<void> {
  const { url } = await w.api.does('POST', `/customers/${customerId}/verification-link`, {});
  await openBrowser().login(url);
  assert.ok((await known(customerId)).hasLoggedIn);
}

/** An operator claims the case about a customer and reads what was sent. */
async function claims(by: Person, customerId: string): Promise<Came> {
  const found = await w.s.until('the review is in the queue', async () => {
    const { cases } = (await by.reads('/cases?kind=verification_review')).body;
    return cases.find(({ subject }: Came) => subject === `customer:${customerId}`);
  });
  assert.equal((await by.does(`/cases/${found.id}/assign`, { to: by.name })).status, 200);
  return (await by.does(`/customers/${customerId}/review/open`)).body.review;
}
const decides = (by: Person, customerId: string, decision: Record<string, unknown>): Promise<Said> =>
  by.does(`/customers/${customerId}/review/decide`, decision);
async function decided(by: Person, customerId: string, decision: Record<string, unknown>): Promise<void> {
  const { status, body } = await decides(by, customerId, decision);
  assert.equal(status, 200, JSON.stringify(body));
}
/** The partner is told of the result by an event. */
const told = (customerId: string, verification: string): Promise<Came> =>
  w.s.until(`${verification} is in the feed`, async () => {
    const { data } = await w.api.does('GET', '/event-feed?limit=100');
    const isIt = ({ type, data: of }: Came) =>
      type === 'customer.verification' && of.customerId === customerId && of.verification === verification;
    return data.find(isIt);
  });
const openCases = () =>
  w.s.read((tx) =>
    tx.rows<{ kind: string; reason: string }>('select kind, subject, reason from cases where closed_at is null'),
  );

/** By the sandbox's control, as its customer would. */
async function paysAndSettles(order: Came): Promise<Came> {
  await w.api.does('POST', `/sandbox/orders/${order.id}/pay`, {});
  return await w.s.until(`order ${order.id} is settled`, async () => {
    await w.s.mines(1);
    const now = await w.get(order);
    return now.state === 'settled' && now;
  });
}

test('a person by /v1 sends again what an operator declines, names an account, and trades up to the daily limit', async () => {
  const made = { reference: randomUUID(), kind: 'individual', phone: newPhone() };
  const customer = await w.api.does('POST', '/customers', made);
  const { id: customerId } = customer;
  assert.deepEqual([customer.level, customer.mayTrade], [0, { allowed: false, reason: 'login_required' }]);
  assert.deepEqual(await dailyOf(customerId), { max: DAILY, used: '0', left: DAILY });
  const to = { kind: 'account', asset: 'inr', accountNumber: '000111222333', ifsc: 'HDFC0000001' };
  const destinations = `/customers/${customerId}/destinations`;
  await isRefused(await w.api.post(destinations, to), {
    ...{ status: 403, reason: 'login_required' },
    remedy: 'Send the customer to the link of `customers.verificationLink`.',
  });
  await logsIn(customerId);
  const { id: destinationId } = await w.api.does('POST', destinations, to);
  const asks = async (payAmount: string) => {
    const { id: quoteId } = await quoted('usdc.matic20', 'inr', payAmount);
    return await w.api.post('/orders', { quoteId, customerId, destinationId });
  };
  await isRefused(await asks('120.5'), {
    ...{ status: 403, reason: 'verification_required' },
    remedy: 'Send the customer to the link of `customers.verificationLink`.',
  });

  await isVerified(customerId);
  await isConfirmed(`${destinations}/${destinationId}`);
  const { status, body: order, text } = await asks('120.5');
  assert.equal(status, 201, text);
  const { received, receive } = await paysAndSettles(order);
  assert.deepEqual([received.amount, receive], ['120.5', order.receive]);
  const { used, left } = await dailyOf(customerId);
  assert.deepEqual([used, left], ['10363', '9637']);
  const over = await asks('200');
  await isRefused(over, {
    ...{ status: 422, reason: 'customer_limit_exceeded' },
    remedy:
      'Choose an amount of at most `left`, wait until `fitsAt`, or have the customer verified for `nextLevel`: `customers.limits` lists what is missing.',
  });
  assert.deepEqual([over.body.customerLimit.left, over.body.customerLimit.nextLevel], [left, 2]);
  assert.deepEqual(await openCases(), []);
});

/** From the form to level 1, with one wrong answer, one wrong file, and one file that an operator declines. */
async function isVerified(customerId: string): Promise<void> {
  const form = await w.api.does('GET', `/customers/${customerId}/requirements?asset=inr`);
  const { identityNumber, ...others } = { identityNumber: 'PERSON1234', ...PERSON.details, ...ADDRESS };
  const required = form.fields.filter((one: Came) => one.required).map(({ name }: Came) => name);
  assert.deepEqual(required.toSorted(), ['identityNumber', ...Object.keys(others)].toSorted());
  assert.deepEqual(form.documents[1].files, Object.keys(passport()));

  const path = `/customers/${customerId}/submissions`;
  const bad = { asset: 'inr', answers: { ...others, dob: '31/01/1990' } };
  await isRefused(await w.api.post(path, bad), wrong({ dob: 'must be a day, YYYY-MM-DD, for example 1990-01-31' }));
  const begun = await w.api.does('POST', path, { asset: 'inr', answers: others });
  const at = `${path}/${begun.id}`;
  const missing = { reason: 'missing', means: 'is missing', remedy: 'Send it.' };
  assert.deepEqual(begun.needs, [{ name: 'identityNumber', what: 'field', ...missing, example: 'ABCDE1234F' }]);
  const { 'selfie.jpg': selfie = png(), ...sides } = passport();
  const half = await sends(`${at}/files`, sides);
  const ofSelfie = half.needs.find(({ name }: Came) => name === 'selfie.jpg');
  assert.deepEqual(ofSelfie, { name: 'selfie.jpg', what: 'file', ...missing, example: null });
  const page = { 'selfie.jpg': Buffer.from('<html></html>') };
  await isRefused(await w.api.upload(`${at}/files`, page), wrong({ 'selfie.jpg': 'must be a JPEG, PNG, WEBP or PDF' }));
  await sends(`${at}/files`, { 'selfie.jpg': selfie });
  assert.equal((await w.api.does('PATCH', at, { answers: { identityNumber } })).state, 'in_review');

  const { version } = await claims(ada, customerId);
  await decided(ada, customerId, { version, outcome: 'failed', again: ['selfie.jpg:unreadable'] });
  await told(customerId, 'failed');
  const declined = await w.api.does('GET', at);
  const unreadable = { reason: 'unreadable', means: 'cannot be read' };
  const remedy = 'Send it again, complete, sharp and well lit.';
  assert.deepEqual(
    [declined.state, declined.needs],
    ['open', [{ name: 'selfie.jpg', what: 'file', ...unreadable, remedy, example: null }]],
  );
  const accepted = 'was accepted: only selfie.jpg may be sent again';
  const other = await w.api.upload(`${at}/files`, { 'passportFront.jpg': png() });
  await isRefused(other, wrong({ 'passportFront.jpg': accepted }));
  assert.equal((await sends(`${at}/files`, { 'selfie.jpg': png() })).state, 'in_review');

  const again = await claims(bea, customerId);
  await decided(bea, customerId, { version: again.version, outcome: 'verified', level: 1 });
  await told(customerId, 'verified');
  const { level, mayTrade } = await known(customerId);
  assert.deepEqual([level, mayTrade], [1, { allowed: true, reason: null }]);
  assert.equal((await w.api.does('GET', at)).state, 'completed');
}

/** The customer confirms a destination with the code, after a wrong one. */
async function isConfirmed(destination: string): Promise<void> {
  await w.api.does('POST', `${destination}/code`);
  await isRefused(await w.api.post(`${destination}/confirm`, { code: '000000' }), {
    ...{ status: 409, reason: 'wrong_code' },
    remedy: 'Ask the customer for the code again.',
  });
  const confirmed = await w.api.does('POST', `${destination}/confirm`, { code: SANDBOX_CODE });
  assert.ok(confirmed.usable && confirmed.confirmedAt !== null);
}

test('a business by /v1 names enough owners, answers a question with a file, is verified by two operators, and trades', async () => {
  const extract = { label: 'Extract of the register', required: 1, type: 'file' };
  const form = { ...BUSINESS_FORM, extract, owners: { minimumTotalShare: 75 } };
  const set = await oneOrTwoDo(ada, bea, '/requirements', { kind: 'BUSINESS', country: 'DE', form });
  assert.equal(set.status, 200, JSON.stringify(set.body));
  const made = { reference: randomUUID(), kind: 'business', phone: newPhone(), country: 'DE' };
  const { id: customerId } = await w.api.does('POST', '/customers', made);
  const asked = await w.api.does('GET', `/customers/${customerId}/requirements?level=4`);
  assert.deepEqual([asked.kind, asked.level, asked.ownersMinimumTotalShare], ['business', 4, '75']);
  assert.equal(asked.fields.at(-1).label, extract.label);

  const { version, submission } = await isInReview(customerId);
  await isQuestioned(customerId, submission.id);
  const proposed = await decides(ada, customerId, { version, outcome: 'verified', level: 4 });
  assert.deepEqual([proposed.status, proposed.body.people], [202, 2]);
  const alone = await ada.does(`/proposals/${proposed.body.proposal}/confirm`);
  assert.deepEqual([alone.status, alone.body.reason], [403, 'own_proposal']);
  assert.match(alone.body.error, /^Another operator has to confirm this/);
  assert.equal((await known(customerId)).verification, 'in_review');
  assert.equal((await confirmedBy(bea, proposed)).status, 200);
  await told(customerId, 'verified');
  assert.equal((await known(customerId)).level, 4);

  await logsIn(customerId);
  const { id: destinationId, address } = await w.address(customerId);
  const { id: quoteId } = await quoted('inr', 'usdc.matic20', '5000');
  const order = await w.api.does('POST', '/orders', { quoteId, customerId, destinationId });
  const { receive } = await paysAndSettles(order);
  assert.equal(await w.s.tokensOf(address, 'usdc'), receive.amount);
  assert.deepEqual(await openCases(), []);
});

/** The business sends all that its form asks for, after owners who hold too much and too little. @returns its review */
async function isInReview(customerId: string): Promise<Came> {
  const path = `/customers/${customerId}/submissions`;
  const asha = { firstName: 'Asha', lastName: 'Rao', share: '74.99' };
  const vikram = { firstName: 'Vikram', lastName: 'Sen' };
  const answers = { ...BUSINESS.details, ...ADDRESS, identityNumber: 'BUSINESS1234' };
  const firm = { level: 4, answers, entityName: 'Rao Traders', directors: [vikram] };
  const tries = async (more: object, fields: Record<string, string>) =>
    await isRefused(await w.api.post(path, { ...firm, ...more }), wrong(fields));
  await tries({ owners: [asha, { ...vikram, share: '25.02' }] }, { owners: 'must hold at most 100 percent together' });
  await tries({ owners: [asha] }, { owners: 'must hold at least 75 percent together, for example a share of 75' });
  await tries({ directors: [asha] }, { 'directors[0].share': 'is only for owners' });
  const owners = [asha, { ...vikram, share: '25.01' }];
  const begun = await w.api.does('POST', path, { ...firm, owners });
  assert.deepEqual([begun.state, begun.needs.map(({ name }: Came) => name)], ['open', ['extract']]);
  const whole = await sends(`${path}/${begun.id}/files`, { ...passport(), extract: pdf() });
  assert.deepEqual([whole.state, whole.needs], ['in_review', []]);

  const review = await claims(ada, customerId);
  const [waiting] = await openCases();
  assert.deepEqual([review.requestedLevel, waiting?.reason], [4, 'asked for level 4']);
  assert.deepEqual([review.details.entityName, JSON.parse(review.details.owners)], ['Rao Traders', owners]);
  const files = review.submission.files.map(({ slot }: Came) => slot);
  assert.deepEqual(files.toSorted(), ['extract', ...Object.keys(passport())].toSorted());
  return review;
}

/** The reviewer asks with a due date. The partner reads it, answers with a file, and the reviewer reads both. */
async function isQuestioned(customerId: string, submissionId: string): Promise<void> {
  const question = 'Where is the office?';
  const by = `/customers/${customerId}/questions`;
  const { request, dueAt } = (await ada.does(by, { question, days: 7 })).body;
  const [open] = (await w.api.does('GET', '/information-requests')).data;
  assert.deepEqual(
    [open.id, open.customerId, open.submissionId, open.state, open.question, open.dueAt],
    [request, customerId, submissionId, 'open', question, dueAt],
  );
  assert.equal(Date.parse(open.dueAt) - Date.parse(open.askedAt), 7 * DAY_MS);
  const questions = async (): Promise<string[]> =>
    (await w.api.does('GET', `/customers/${customerId}/submissions/${submissionId}`)).informationRequests;
  assert.deepEqual(await questions(), [request]);
  const at = `/customers/${customerId}/information-requests/${request}`;
  await sends(`${at}/files`, { lease: jpeg() });
  const answered = await w.api.does('POST', `${at}/answer`, { answer: 'In Pune, as the lease shows.' });
  assert.deepEqual([answered.state, answered.files.length], ['answered', 1]);
  await isRefused(await w.api.post(`${at}/answer`, { answer: 'In Mumbai.' }), {
    ...{ status: 409, reason: 'information_request_over' },
    remedy: 'Read `informationRequests.list`.',
  });
  assert.deepEqual((await w.api.does('GET', '/information-requests')).data, []);
  assert.deepEqual(await questions(), []);
  assert.ok((await openCases()).some(({ kind }) => kind === 'information_answered'));
  const [read] = (await ada.does(`${by}/open`)).body.questions;
  assert.equal(read.answer, 'In Pune, as the lease shows.');
  const { document } = (await ada.does(`/customers/${customerId}/review/document`, { file: read.files[0].id })).body;
  assert.equal(await lookOf(Buffer.from(document.content, 'base64')), 'jpeg 32x16');
  assert.deepEqual(
    (await openCases()).map(({ kind }) => kind),
    ['verification_review'],
  );
}

test('a business by the white-label wire sends again an expired file, logs in at the link it is given, and trades', async () => {
  const { partner } = w.s;
  const invited = { clientCustomerId: randomUUID(), phoneNumber: newPhone(), type: 'BUSINESS' };
  const { customerId = '' } = await w.s.told('kyc/url', invited);
  const isRefusedHere = (said: Answer, as: Remedied) => isRefused(said, as, 'White-label');
  const submits = (body: object) => partner.post('kyb/submit', { customerId, ...body });
  const status = () => w.s.told<Came>('kyb/status', { customerId });
  const uploads = (files: Record<string, Buffer>) => partner.upload('kyb/files', { customerId }, files);

  await isRefusedHere(
    await submits({ details: { ...BUSINESS.details, dob: '31/01/1990' } }),
    wrong({ dob: 'must be a day, YYYY-MM-DD, for example 1990-01-31' }, 'Correct the field.'),
  );
  const firm = { identityNumber: 'WIRE1234', details: BUSINESS.details, entityName: 'Rao Traders' };
  const begun = await submits(firm);
  assert.equal(begun.body.data.reasons.city, 'is missing, for example Pune', begun.text);
  const { submissionId } = begun.body.data;
  assert.equal((await uploads(passport())).body.data.status, 'UPDATE_REQUIRED');
  assert.equal((await submits({ submissionId, address: ADDRESS })).body.data.status, 'IN_REVIEW');
  const { version } = await claims(ada, customerId);
  await decided(ada, customerId, { version, outcome: 'failed', again: ['passportFront.jpg:expired'] });
  const declined = await status();
  const remedies = { 'passportFront.jpg': 'Send one that is still valid.' };
  assert.deepEqual(
    [declined.status, declined.reasons, declined.remedies],
    ['UPDATE_REQUIRED', { 'passportFront.jpg': 'has expired' }, remedies],
  );
  assert.equal((await uploads({ 'passportFront.jpg': picture() })).body.data.status, 'IN_REVIEW');
  const again = await claims(bea, customerId);
  await decided(bea, customerId, { version: again.version, outcome: 'verified', level: 1 });
  assert.equal((await status()).status, 'COMPLETED');

  const account = { customerId, fiatAccount: '000111222444', ifsc: 'HDFC0000001' };
  const early = await partner.post('bank/addFiatAccount', account);
  await isRefusedHere(early, {
    ...{ status: 403, reason: 'login_required' },
    remedy: 'Send the customer to that link.',
  });
  await openBrowser().login(early.body.kycUrl);
  const { fiatAccountId = '' } = await w.s.told('bank/addFiatAccount', account);
  const order = await w.s.sells('50', 'usdc', { customer: { id: customerId, fiatAccountId } });
  await w.s.pays(order, '50');
  await w.s.mines(3);
  await w.s.becomes(order, 'settled');
  const { receivedAmount, toAmount } = await w.s.shown(order);
  assert.deepEqual([receivedAmount, toAmount], ['50', order.toAmount]);
  assert.deepEqual(await openCases(), []);
});
