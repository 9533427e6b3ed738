/** Every outcome of a verifier, by a magic value, as the partner's program sees it: state, code, remedy, and what to send again. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { listCases } from '../../src/compliance/index.ts';
import { FIELD_REASONS, VERIFICATION_REASONS } from '../../src/customers/index.ts';
import { MAGIC_DOCUMENT, MAGIC_IDENTITIES } from '../../src/verifiers/simulated/index.ts';
import { type V1Environment, v1Environment } from '../protocols/v1/environment.ts';
import { type Came, newPhone } from '../support/client.ts';
import { ADDRESS, PERSON } from '../support/identities.ts';
import { jpeg } from '../support/pictures.ts';

let w: V1Environment;
before(async () => {
  w = await v1Environment();
});
after(async () => await w?.s.close());

const of = (customerId: string, submission?: Came, rest = ''): string =>
  `/customers/${customerId}/submissions${submission === undefined ? '' : `/${submission.id}`}${rest}`;

async function submitted(
  identityNumber: string,
  firstName: string = PERSON.details.firstName,
): Promise<{ customerId: string; submission: Came }> {
  const person = { reference: randomUUID(), kind: 'individual', phone: newPhone() };
  const { id: customerId } = await w.api.does('POST', '/customers', person);
  const answers = { ...PERSON.details, ...ADDRESS, identityNumber, firstName };
  const submission = await w.api.does('POST', of(customerId), { asset: 'inr' });
  // Of its own: an equal file is another reason for a case.
  const own = () => jpeg({ more: [[0xfe, Buffer.from(randomUUID())]] });
  const files = { 'passportFront.jpg': own(), 'passportBack.jpg': own(), 'selfie.jpg': own() };
  for (const [name, file] of Object.entries(files))
    await w.s.until('the file is taken', async () => {
      return (await w.api.upload(of(customerId, submission, '/files'), { [name]: file })).status === 200;
    });
  await w.api.does('PATCH', of(customerId, submission), { answers });
  return { customerId, submission };
}
const seen = (customerId: string): Promise<Came> => w.api.does('GET', `/customers/${customerId}`);
const becomes = (customerId: string, state: string): Promise<Came> =>
  w.s.until(`the customer is ${state}`, async () => {
    const customer = await seen(customerId);
    return customer.verification === state && customer;
  });
const statusOf = (customerId: string) => w.s.told('kyc/status', { customerId });

test('each outcome, each reason that may be told and each reason of an item has a magic value', () => {
  const findings = MAGIC_IDENTITIES.flatMap(({ finding }) => (finding === undefined ? [] : [finding]));
  const items = findings.filter(({ fields }) => fields !== undefined);
  const told = new Set(findings.map(({ code }) => code));
  const implied = { items_rejected: items.length, not_verified: 1, not_accepted: 1 };
  for (const code of Object.keys(VERIFICATION_REASONS)) assert.ok(told.has(code) || Object.hasOwn(implied, code), code);
  const reasons = new Set(items.flatMap(({ fields = {} }) => Object.values(fields)));
  assert.deepEqual(
    [...reasons].toSorted(),
    Object.keys(FIELD_REASONS)
      .filter((one) => one !== 'missing')
      .toSorted(),
  );
  const endings = MAGIC_IDENTITIES.map(({ ending }) => ending);
  for (const one of endings)
    assert.deepEqual(
      endings.filter((other) => one.endsWith(other)),
      [one],
    );
  assert.deepEqual(new Set(findings.map(({ outcome }) => outcome)), new Set(['failed', 'refused']));
});

for (const { ending, finding } of MAGIC_IDENTITIES.filter((one) => one.finding !== undefined))
  test(`${ending}: the partner is told a code and a remedy`, async () => {
    assert.ok(finding !== undefined);
    const { customerId, submission } = await submitted(`ZQ${ending}`);
    const { verificationReason: why, mayTrade } = await becomes(customerId, finding.outcome);
    const hasItems = finding.fields !== undefined;
    const code = hasItems
      ? 'items_rejected'
      : (finding.code ?? (finding.outcome === 'failed' ? 'not_verified' : 'not_accepted'));
    assert.deepEqual(why, { code, ...VERIFICATION_REASONS[code as keyof typeof VERIFICATION_REASONS] });
    assert.equal(mayTrade.allowed, false);
    const wire = await statusOf(customerId);
    assert.equal(wire.failedReasonCode, code);
    assert.equal(wire.failedReason, why.means);
    assert.doesNotMatch(JSON.stringify([why, wire]), /forgery/i, 'a suspicion is told');
    const now = await w.api.does('GET', of(customerId, submission));
    assert.equal(now.state, hasItems ? 'open' : 'failed');
    if (hasItems) {
      assert.deepEqual(Object.fromEntries(now.needs.map(({ name, reason }: Came) => [name, reason])), finding.fields);
      assert.ok(now.needs.every(({ remedy }: Came) => remedy.length > 0));
      if (finding.fields?.['selfie.jpg'] !== undefined)
        await w.s.until('the file is taken', async () => {
          return (await w.api.upload(of(customerId, submission, '/files'), { 'selfie.jpg': jpeg() })).status === 200;
        });
      await w.api.does('PATCH', of(customerId, submission), { answers: { identityNumber: PERSON.identityNumber } });
      assert.equal((await becomes(customerId, 'verified')).verificationReason, null);
    }
  });

test('an answer that comes late, never, twice, or not at first', async () => {
  const [late, never, twice, down] = await Promise.all(
    ['LATER', 'NEVER', 'TWICE', 'DOWN'].map(async (ending) => (await submitted(`ZQ${ending}`)).customerId),
  );
  assert.ok(late && never && twice && down);
  await becomes(twice, 'verified');
  for (const id of [late, never, down]) assert.equal((await seen(id)).verification, 'in_review');
  w.s.clock.advance(60_000);
  for (const id of [late, down]) await becomes(id, 'verified');
  w.s.clock.advance(3_600_000);
  assert.deepEqual([(await seen(twice)).verification, (await seen(never)).verification], ['verified', 'in_review']);
});

test('a document that expires tomorrow is over in two days, with its reason', async () => {
  const { customerId } = await submitted('ZQEXPIRING');
  await becomes(customerId, 'verified');
  w.s.clock.advance(2 * 86_400_000);
  const { verificationReason } = await becomes(customerId, 'failed');
  assert.equal(verificationReason.code, 'document_expired');
});

test('a document in another name waits for a person, and the number of another customer is told to operators only', async () => {
  const cases = (kind: string, customerId: string) =>
    w.s.until(`a case ${kind}`, async () =>
      (await w.s.read((tx) => listCases(tx, { open: true, kind, limit: 50 }))).some(
        ({ subject }) => subject === `customer:${customerId}`,
      ),
    );
  const { customerId: other } = await submitted('ZQNUMBER17', MAGIC_DOCUMENT.firstName);
  await cases('verification_review', other);
  assert.deepEqual((await seen(other)).verificationReason, null);

  const { customerId: same } = await submitted('ZQNUMBER17');
  const told = await becomes(same, 'verified');
  await cases('identity_duplicate', same);
  assert.doesNotMatch(JSON.stringify([told, await statusOf(same)]), new RegExp(`duplicate|${other}`));
});
