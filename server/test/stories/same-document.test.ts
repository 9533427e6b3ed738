/**
 * One person as two customers: the picture of one passport, sent by both. Operators are told, the partner is not, and an erased customer
 * is recognised no longer.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Person, twoDo } from '../protocols/operator/people.ts';
import { type Came, newPhone } from '../support/client.ts';
import { ADDRESS, PERSON } from '../support/identities.ts';
import { jpeg } from '../support/pictures.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Story } from '../support/story.ts';
import { openV1, type V1Client } from '../support/v1.ts';

let world: Story;
let ada: Person;
let bea: Person;
let [mine, theirs]: V1Client[] = [];

before(async () => {
  const settings = { ERASE_AFTER_DAYS: '0' };
  ({ world, ada, bea } = await openStaffedStory({ ada: 'admin', bea: 'admin' }, { settings }));
  [mine, theirs] = world.server.sandbox.partners.map((keys) => openV1(world.server.baseUrl, keys));
});
after(async () => await world?.close());

const picture = () => jpeg({ more: [[0xfe, Buffer.from(randomUUID())]] });

/** A customer with a number of its own, whom the verifier accepts. @returns its id and its submission's */
async function verified(front: Buffer, api = mine as V1Client): Promise<{ id: string; submission: string }> {
  const { id } = await api.does('POST', '/customers', {
    reference: randomUUID(),
    kind: 'individual',
    phone: newPhone(),
  });
  const number = randomUUID().replaceAll('-', '').slice(0, 12).toUpperCase();
  const answers = { ...PERSON.details, ...ADDRESS, identityNumber: `ZQ${number}` };
  const { id: submission } = await api.does('POST', `/customers/${id}/submissions`, { asset: 'inr', answers });
  const files = { 'passportFront.jpg': front, 'passportBack.jpg': picture(), 'selfie.jpg': picture() };
  const sent = await api.upload(`/customers/${id}/submissions/${submission}/files`, files);
  assert.equal(sent.status, 200, sent.text);
  await world.until(
    'it is verified',
    async () => (await api.does('GET', `/customers/${id}`)).verification === 'verified',
  );
  return { id, submission };
}
const casesOf = async (id: string): Promise<Came[]> =>
  (await ada.reads('/cases?open=true&kind=identity_duplicate')).body.cases.filter(
    ({ subject }: Came) => subject === `customer:${id}`,
  );
const told = (id: string): Promise<Came> => world.until('operators are told', async () => (await casesOf(id))[0]);
const compared = async (id: string): Promise<number> =>
  (await world.read((tx) => tx.rows('select from compared_documents where customer_id = $1', [id]))).length;

test('two customers with one picture of a passport are a case for operators, until one of them is erased', async () => {
  const passport = picture();
  const { id: first } = await verified(passport);
  const { id: elsewhere } = await verified(passport, theirs);
  const { id: second } = await verified(passport);
  const { facts, reason } = await told(second);
  assert.deepEqual(facts, { others: [first], by: ['file'] });
  assert.equal(reason, 'the same document file as another customer');
  assert.deepEqual([await casesOf(first), await casesOf(elsewhere)], [[], []]);

  // The partner is told nothing, and the second customer stays verified.
  const seen = await (mine as V1Client).does('GET', `/customers/${second}`);
  assert.equal(seen.verification, 'verified');
  const events = await world.read((tx) =>
    tx.rows('select body from events where subject = $1', [`customer:${second}`]),
  );
  assert.doesNotMatch(JSON.stringify([seen, events]), new RegExp(`duplicate|${first}`));

  assert.equal(await compared(first), 3);
  const { statement } = await twoDo(ada, bea, `/customers/${first}/erase`);
  assert.equal(statement.erased.find(({ kind }: Came) => kind === 'compared_documents')?.count, 3);
  assert.equal(await compared(first), 0);
  const { id: third } = await verified(passport);
  assert.deepEqual((await told(third)).facts, { others: [second], by: ['file'] });
});

test('a picture that comes after the verification is compared too', async () => {
  const passport = picture();
  const { id: first } = await verified(passport);
  const { id, submission } = await verified(picture());
  const path = `/customers/${id}/submissions/${submission}/files`;
  const sent = await (mine as V1Client).upload(path, { 'passportFront.jpg': passport });
  assert.equal(sent.status, 200, sent.text);
  assert.deepEqual((await told(id)).facts, { others: [first], by: ['file'] });
});
