/** Verification by an operator: a customer stays in review until a decision, and a late request cannot undo it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import { Refusal } from '../../src/base/errors.ts';
import { askReview, decideReview, listCases, openReview, reviewed } from '../../src/compliance/index.ts';
import {
  enroll,
  findCustomer,
  givenDetails,
  HIGHEST_LEVEL,
  recordFinding,
  saveDetails,
} from '../../src/customers/index.ts';
import { createPartner, type Partner } from '../../src/partners/index.ts';
import { manualVerifier } from '../../src/verifiers/manual/index.ts';
import { newPhone } from '../support/client.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';

let fixture: Fixture;
let partner: Partner;
const now = () => fixture.clock.now();
const inTx = <T>(work: (tx: Tx) => Promise<T>) => fixture.db.asPartner(partner.id, work);

before(async () => {
  fixture = await freshFixture();
  partner = await fixture.db.asSystem((tx) => createPartner(tx, { name: 'Mine', now: now(), tradeLevel: 1 }));
});
after(() => fixture?.stop());

const verifier = manualVerifier({
  ask: (asked) => fixture.db.asSystem((tx) => askReview(tx, { ...asked, now: now() })),
  found: (asked) => fixture.db.asSystem((tx) => reviewed(tx, asked.customerId)),
});

/** The hosted page's steps after a form was sent. */
async function gives(customerId: string, details: Record<string, string>): Promise<number> {
  const customer = await inTx((tx) => findCustomer(tx, customerId));
  const { version } = await inTx(async (tx) => {
    const over = await givenDetails(tx, customerId);
    return await saveDetails(tx, fixture.vault, { customer, details, over, now: now() });
  });
  await looks(customerId, version);
  return version;
}

async function looks(customerId: string, version: number): Promise<void> {
  const input = { key: `details:${customerId}:${version}`, customerId, kind: 'INDIVIDUAL', level: 1 } as const;
  await verifier.begin(input);
  const finding = await verifier.finding(input);
  await inTx((tx) => recordFinding(tx, { customerId, version, verifier: verifier.code, finding, now: now() }));
}

const newCustomer = async (name: string) => {
  const kind = 'INDIVIDUAL';
  const given = { partnerId: partner.id, clientCustomerId: name, phone: newPhone(), kind, now: now() } as const;
  return (await inTx((tx) => enroll(tx, fixture.vault, given))).id;
};
const stands = async (customerId: string) => {
  const { verification, level, failedReason } = await inTx((tx) => findCustomer(tx, customerId));
  return { verification, level, failedReason };
};
type Decision = Partial<Parameters<typeof decideReview>[1]>;
const decides = (customerId: string, version: number, d: Decision = {}) =>
  fixture.db.asSystem((tx) =>
    decideReview(tx, {
      ...{
        customerId,
        version,
        outcome: 'verified',
        level: 1,
        reason: 'passport seen',
        told: 'passport seen',
        by: 'Ada',
        now: now(),
      },
      ...d,
    } as Parameters<typeof decideReview>[1]),
  );
const names = (field: string) => (error: unknown) =>
  error instanceof Refusal && field in (error.facts.fields as Record<string, string>);
const openCases = async (customerId: string) =>
  (await fixture.db.asSystem((tx) => listCases(tx, { open: true, limit: 100 }))).filter(({ subject }) =>
    subject.endsWith(customerId),
  );

test('waits for an operator, who sees the submitted details, and verifies', async () => {
  const id = await newCustomer('verified');
  const version = await gives(id, { firstName: 'Asha', firstSurname: 'Rao' });
  assert.deepEqual(await stands(id), { verification: 'in_review', level: 0, failedReason: null });
  assert.deepEqual(
    (await openCases(id)).map(({ kind }) => kind),
    ['verification_review'],
  );
  const seen = await fixture.db.asSystem((tx) => openReview(tx, fixture.vault, id));
  assert.deepEqual(seen.details, { firstName: 'Asha', firstSurname: 'Rao' });

  await decides(id, version);
  assert.deepEqual(await stands(id), { verification: 'verified', level: 1, failedReason: null });
  assert.deepEqual(await openCases(id), []);
  await looks(id, version);
  assert.equal((await stands(id)).verification, 'verified', 'looking at it again changed the result');
  await inTx((tx) =>
    recordFinding(tx, {
      customerId: id,
      version,
      verifier: 'manual',
      finding: { outcome: 'in_review', level: 0 },
      now: now(),
    }),
  );
  assert.equal((await stands(id)).verification, 'verified', 'a late answer changed the result');
});

test('may end at any level that an operator may decide for', async () => {
  const id = await newCustomer('highest');
  const version = await gives(id, { firstName: 'Asha' });
  await decides(id, version, { level: HIGHEST_LEVEL });
  const found = await verifier.finding({ key: '', customerId: id, kind: 'INDIVIDUAL', level: 1 });
  // A finding above the verifier's highest level is no finding, and its check would never end.
  assert.deepEqual([found.outcome, found.level, verifier.highestLevel], ['verified', HIGHEST_LEVEL, HIGHEST_LEVEL]);
});

test('lets details be given again, and looks at the new ones', async () => {
  const id = await newCustomer('again');
  const first = await gives(id, { firstName: 'Asha' });
  await decides(id, first, { outcome: 'failed', reason: 'bad picture', told: 'the picture cannot be read' });
  assert.deepEqual(await stands(id), { verification: 'failed', level: 0, failedReason: 'the picture cannot be read' });
  const second = await gives(id, { firstName: 'Asha', firstSurname: 'Rao' });
  assert.equal((await openCases(id)).length, 1);
  await assert.rejects(decides(id, first), names('version'));
  await decides(id, second, { outcome: 'refused', told: 'on a list' });
  assert.equal((await stands(id)).verification, 'refused');
  await assert.rejects(decides(id, second), names('version'));
});

test('is decided with a reason, and verified to a level', async () => {
  const id = await newCustomer('why');
  const version = await gives(id, { firstName: 'Asha' });
  for (const [change, field] of [
    [{ reason: ' ' }, 'reason'],
    [{ level: 0 }, 'level'],
    [{ level: 6 }, 'level'],
  ] as const)
    await assert.rejects(decides(id, version, change), names(field));
  assert.equal((await stands(id)).verification, 'in_review');
});

test('two concurrent decisions: one counts, and the other operator is told that it was decided before', async () => {
  for (let round = 0; round < 5; round += 1) {
    const id = await newCustomer(`both ${round}`);
    const version = await gives(id, { firstName: 'Asha', firstSurname: 'Rao' });
    const said = await Promise.allSettled([
      decides(id, version),
      decides(id, version, { outcome: 'refused', level: 0, reason: 'the passport is another’s', by: 'Bea' }),
    ]);
    assert.deepEqual(said.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
    const { verification } = await stands(id);
    assert.equal(verification, said[0]?.status === 'fulfilled' ? 'verified' : 'refused');
  }
});
