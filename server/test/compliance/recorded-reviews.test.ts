/** The record of a person's decision about a customer: who decided what, about which details, and why. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { askReview, decideReview } from '../../src/compliance/index.ts';
import { enroll, findCustomer, saveDetails } from '../../src/customers/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { newPhone } from '../support/client.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';

let fixture: Fixture;
let partnerId: bigint;
before(async () => {
  fixture = await freshFixture();
  const now = fixture.clock.now();
  partnerId = (await fixture.db.asSystem((tx) => createPartner(tx, { name: 'Mine', now, tradeLevel: 1 }))).id;
});
after(() => fixture?.stop());

const BY = { by: 'Ada', told: 'the name differs', reason: 'passport seen' };

for (const [outcome, changes, fields] of [
  ['verified', {}, {}],
  ['failed', { fields: { firstName: 'does_not_match' } }, { firstName: 'does_not_match' }],
  ['refused', {}, {}],
] as const)
  test(`${outcome}: is recorded with the operator, the reason and the fields, and closes the case with that outcome`, async () => {
    const now = fixture.clock.now();
    const given = { partnerId, clientCustomerId: outcome, phone: newPhone(), kind: 'INDIVIDUAL', now } as const;
    const { customerId, version } = await fixture.db.asPartner(partnerId, async (tx) => {
      const { id } = await enroll(tx, fixture.vault, given);
      const customer = await findCustomer(tx, id);
      const details = { firstName: 'Asha' };
      const saved = await saveDetails(tx, fixture.vault, { customer, details, over: undefined, now });
      return { customerId: id, version: saved.version };
    });
    const decided = { customerId, version, outcome, level: 2, ...BY, ...changes, now };
    await fixture.db.asSystem((tx) => askReview(tx, { customerId, level: 2, now }));
    await fixture.db.asSystem((tx) => decideReview(tx, decided));
    const [recorded, closed, customer] = await fixture.db.asSystem((tx) =>
      Promise.all([
        tx.rows(
          `select partner_id, order_id, about, outcome, rules, inputs from decisions where inputs ->> 'customerId' = $1`,
          [customerId],
        ),
        tx.rows(`select kind, outcome, closed_at from cases where subject like '%' || $1`, [customerId]),
        findCustomer(tx, customerId),
      ]),
    );
    assert.deepEqual(recorded, [
      {
        ...{ partnerId, orderId: null, about: 'verification', outcome, rules: 'manual' },
        inputs: { customerId, version, level: 2, by: BY.by, reason: BY.reason, fields },
      },
    ]);
    assert.deepEqual(closed, [{ kind: 'verification_review', outcome, closedAt: now }]);
    assert.deepEqual([customer.verification, customer.level], [outcome, outcome === 'verified' ? 2 : 0]);
  });
