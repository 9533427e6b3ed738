/** Questions about a customer: an operator asks, the partner gets an event and answers once; cases show late and new answers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { informationHandlers } from '../../../src/compliance/index.ts';
import { INFORMATION_DUE } from '../../../src/customers/index.ts';
import type { Came } from '../../support/client.ts';
import { findInDump } from '../../support/dump.ts';
import { jpeg, lookOf, png } from '../../support/pictures.ts';
import { operatorNamed, type Person } from '../operator/people.ts';
import { type V1Environment, v1Environment } from './environment.ts';

let w: V1Environment;
let ada: Person;
let vic: Person;
before(async () => {
  w = await v1Environment();
  const { db, baseUrl } = w.s.server;
  ada = await operatorNamed({ db, baseUrl, clock: w.s.clock }, 'ada', 'admin');
  vic = await operatorNamed({ db, baseUrl, clock: w.s.clock }, 'vic', 'viewer');
});
after(async () => {
  await w?.s.close();
});

const QUESTION = 'Where did the Xylograph money come from?';
const ANSWER = 'From the sale of the Quixote house.';
const DAY_MS = 86_400_000;

const asks = async (customerId: string, question = QUESTION): Promise<string> => {
  const { status, body } = await ada.does(`/customers/${customerId}/questions`, { question, days: 7 });
  assert.equal(status, 200, JSON.stringify(body));
  return body.request;
};
const listed = async (customerId: string): Promise<Came[]> =>
  (await w.api.does('GET', `/customers/${customerId}/information-requests`)).data;
const casesAbout = async (request: string): Promise<[kind: string, open: boolean][]> =>
  (
    await w.s.read((tx) =>
      tx.rows<{ kind: string; closedAt: Date | null }>(
        'select kind, closed_at from cases where subject = $1 order by id',
        [`information:${request}`],
      ),
    )
  ).map(({ kind, closedAt }) => [kind, closedAt === null]);
const falls = (request: string, days: number) =>
  informationHandlers({
    db: w.s.server.db,
    clock: { now: () => new Date(w.s.clock.now().getTime() + days * DAY_MS) },
  })[INFORMATION_DUE]?.(request);

test('a question is announced by an event and answered once, and its answer is a case until an operator reads it', async () => {
  const customerId = await w.customer();
  const request = await asks(customerId);
  const event = await w.s.until('the event is in the feed', async () => {
    const { data } = await w.api.does('GET', '/event-feed?limit=100');
    return data.find((one: Came) => one.type === 'information.requested' && one.data.requestId === request);
  });
  assert.deepEqual([event.data.customerId, event.data.submissionId], [customerId, null]);
  assert.doesNotMatch(JSON.stringify(event), /Xylograph/, 'the event contains the question');
  const [open] = await listed(customerId);
  assert.deepEqual([open?.id, open?.state, open?.question, open?.answer], [request, 'open', QUESTION, null]);
  assert.equal(Date.parse(open?.dueAt) - Date.parse(open?.askedAt), 7 * DAY_MS);

  const path = `/customers/${customerId}/information-requests/${request}/answer`;
  const answered = await w.api.does('POST', path, { answer: ANSWER });
  assert.deepEqual([answered.state, answered.answer], ['answered', ANSWER]);
  const again = await w.api.post(path, { answer: 'Something else.' });
  assert.deepEqual([again.status, again.body.reason], [409, 'information_request_over']);
  assert.deepEqual(await casesAbout(request), [['information_answered', true]]);

  assert.equal(
    (await vic.does(`/customers/${customerId}/questions/open`)).status,
    403,
    'an operator without the right read the answer',
  );
  const read = await ada.does(`/customers/${customerId}/questions/open`);
  const [shown] = read.body.questions;
  assert.deepEqual([shown.question, shown.answer, read.body.after.answered], [QUESTION, ANSWER, [request]]);
  assert.deepEqual(await casesAbout(request), [['information_answered', false]]);
  assert.deepEqual(await findInDump(w.s.adminUrl, ['Xylograph', 'Quixote']), []);
});

test('a question without an answer is a case from its due date, which the answer or a withdrawal closes', async () => {
  const customerId = await w.customer();
  const [one, two] = [await asks(customerId), await asks(customerId, 'Who is the director?')];
  await falls(one, 6.9);
  assert.deepEqual(await casesAbout(one), []);
  for (const request of [one, two]) await falls(request, 7.1);
  assert.deepEqual(await casesAbout(one), [['information_overdue', true]]);
  await w.api.does('POST', `/customers/${customerId}/information-requests/${one}/answer`, { answer: ANSWER });
  assert.deepEqual((await casesAbout(one)).toSorted(), [
    ['information_answered', true],
    ['information_overdue', false],
  ]);
  assert.equal((await ada.does(`/customers/${customerId}/questions/${two}/withdraw`)).status, 200);
  assert.deepEqual(await casesAbout(two), [['information_overdue', false]]);
  const late = await w.api.post(`/customers/${customerId}/information-requests/${two}/answer`, { answer: ANSWER });
  assert.equal(late.body.reason, 'information_request_over');
  await falls(two, 8);
  assert.deepEqual(
    await casesAbout(two),
    [['information_overdue', false]],
    'the withdrawn question still has an open case',
  );
  assert.deepEqual(
    (await listed(customerId)).map(({ state }) => state),
    ['withdrawn', 'answered'],
  );
});

test('only the partner of the customer reads and answers a question, and at most twenty questions wait for an answer', async () => {
  const [customerId, elsewhere] = [await w.customer(), await w.customer()];
  const request = await asks(customerId);
  const path = (customer: string) => `/customers/${customer}/information-requests`;
  assert.equal((await w.other.get(path(customerId))).body.reason, 'unknown_customer');
  const theirs = await w.other.post(`${path(customerId)}/${request}/answer`, { answer: 'x y' });
  assert.equal(theirs.body.reason, 'unknown_customer');
  const wrong = await w.api.post(`${path(elsewhere)}/${request}/answer`, { answer: 'x y' });
  assert.deepEqual([wrong.status, wrong.body.reason], [404, 'unknown_information_request']);
  for (let at = 1; at < 20; at += 1) await asks(customerId, `Question ${at}?`);
  const more = await ada.does(`/customers/${customerId}/questions`, { question: 'One more?', days: 7 });
  assert.deepEqual([more.status, Object.keys(more.body.fields)], [400, ['customer']]);
  const first = await w.api.does('GET', `${path(customerId)}?limit=15`);
  const rest = await w.api.does('GET', `${path(customerId)}?limit=15&cursor=${first.nextCursor}`);
  assert.deepEqual([first.data.length, rest.data.length, rest.nextCursor], [15, 5, null]);
});

test('files are sent for an open question, and the operator reads them with its answer', async () => {
  const customerId = await w.customer();
  const request = await asks(customerId);
  const path = `/customers/${customerId}/information-requests/${request}`;
  const picture = jpeg({ more: [[0xfe, Buffer.from('Xylograph')]] });
  const script = Buffer.from('<html><script>alert(1)</script></html>');
  const wrong = await w.api.upload(`${path}/files`, { 'Quixote.jpg': png(), 'house.jpg': script });
  assert.deepEqual([wrong.status, wrong.body.fields], [400, { 'files[1]': 'must be a JPEG, PNG, WEBP or PDF' }]);
  assert.equal((await w.other.upload(`${path}/files`, { a: png() })).body.reason, 'unknown_customer');
  const elsewhere = await w.customer();
  const another = await w.api.upload(`/customers/${elsewhere}/information-requests/${request}/files`, { a: png() });
  assert.deepEqual([another.status, another.body.reason], [404, 'unknown_information_request']);
  assert.equal((await w.api.post(`${path}/files`)).body.reason, 'missing_fields');

  const sent = await Promise.all(
    [picture, png()].map((content) => w.api.upload(`${path}/files`, { 'Quixote.jpg': content })),
  );
  assert.deepEqual(
    sent.map(({ status, body }) => [status, body.state]),
    [
      [200, 'open'],
      [200, 'open'],
    ],
  );
  const nine = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`f${at}`, png()]));
  assert.deepEqual(Object.keys((await w.api.upload(`${path}/files`, nine)).body.fields), ['files']);
  const answered = await w.api.does('POST', `${path}/answer`, { answer: ANSWER });
  assert.deepEqual(answered.files.map(({ type }: Came) => type).toSorted(), ['image/jpeg', 'image/png']);
  const late = await w.api.upload(`${path}/files`, { a: png() });
  assert.deepEqual([late.status, late.body.reason], [409, 'information_request_over']);

  const [shown] = (await ada.does(`/customers/${customerId}/questions/open`)).body.questions;
  const file = shown.files.find(({ type }: Came) => type === 'image/jpeg').id;
  const { status, body } = await ada.does(`/customers/${customerId}/review/document`, { file });
  assert.equal(status, 200, JSON.stringify(body));
  const shownPicture = Buffer.from(body.document.content, 'base64');
  assert.equal(await lookOf(shownPicture), 'jpeg 32x16');
  assert.doesNotMatch(shownPicture.toString('latin1'), /Xylograph/);
  const theirs = await ada.does(`/customers/${elsewhere}/review/document`, { file });
  assert.equal(theirs.status, 400);
  assert.deepEqual(await findInDump(w.s.adminUrl, ['Xylograph', 'Quixote']), []);
});
