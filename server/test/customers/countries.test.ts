/** Sources of a customer's country, in rows: the phone, the document that a verifier accepted, the partner. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import { checkHandlers } from '../../src/compliance/index.ts';
import {
  CHECK_VERIFICATION,
  type Customer,
  enroll,
  findCustomer,
  givenDetails,
  saveDetails,
  setCountry,
  updateContact,
} from '../../src/customers/index.ts';
import { createPartner, type Partner } from '../../src/partners/index.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';

let fixture: Fixture;
let partner: Partner;
let found: { country?: string; names?: { firstName: string } } = {};
let verifies: (customerId: string) => Promise<void>;
let made = 0;
const now = () => fixture.clock.now();
const asSystem = <T>(work: (tx: Tx) => Promise<T>) => fixture.db.asSystem(work);

before(async () => {
  fixture = await freshFixture();
  partner = await asSystem((tx) => createPartner(tx, { name: 'Mine', now: now(), tradeLevel: 1 }));
  const finding = async () => ({ outcome: 'verified' as const, level: 1, ...found });
  const verifier = { code: 'manual', highestLevel: 4, begin: async () => ({ pageUrl: undefined }), finding };
  const jobs = checkHandlers({ ...fixture, verifier, overdueMs: 86_400_000 });
  verifies = async (customerId) => void (await jobs[CHECK_VERIFICATION]?.(customerId));
});
after(() => fixture?.stop());

const enrolled = (phone: string, kind: Customer['kind'] = 'INDIVIDUAL', country?: string): Promise<Customer> =>
  fixture.db.asPartner(partner.id, (tx) => {
    const clientCustomerId = `country-${(made += 1)}`;
    return enroll(tx, fixture.vault, { partnerId: partner.id, clientCustomerId, phone, kind, country, now: now() });
  });

/** The customer gives details, and the verifier accepts them. @returns the country from then on, with its source */
async function verified({ id }: Pick<Customer, 'id'>, read: typeof found): Promise<string> {
  await fixture.db.asPartner(partner.id, async (tx) => {
    const [customer, over] = [await findCustomer(tx, id), await givenDetails(tx, id)];
    await saveDetails(tx, fixture.vault, { customer, details: { firstName: 'Asha' }, over, now: now() });
  });
  found = read;
  await verifies(id);
  return await countryOf(id);
}
const countryOf = async (id: string) => {
  const { country, countryBy } = await asSystem((tx) => findCustomer(tx, id));
  return `${country} ${countryBy}`;
};

test('the country of an accepted document counts before the phone’s, and until the partner states one', async () => {
  const customer = await enrolled('+1-2025550101');
  assert.equal(await countryOf(customer.id), 'IN null');
  assert.equal(await verified(customer, { country: 'DE' }), 'DE document');
  assert.equal(await verified(customer, {}), 'DE document');
  assert.equal(await verified(customer, { country: 'Germany' }), 'DE document');
  assert.equal(await verified(customer, { country: 'AT' }), 'AT document');
  const phone = '+919812340001';
  await asSystem((tx) => updateContact(tx, fixture.vault, customer.id, { phone, now: now() }));
  assert.equal(await countryOf(customer.id), 'AT document');
  await asSystem((tx) => setCountry(tx, { customerId: customer.id, country: 'PT', by: 'partner', now: now() }));
  assert.equal(await verified(customer, { country: 'DE' }), 'PT partner');
});

test('the document of a business’s person, and one with another name, set no country', async () => {
  assert.equal(await verified(await enrolled('+919812340002', 'BUSINESS'), { country: 'DE' }), 'IN phone');
  const other = { country: 'DE', names: { firstName: 'Zebulon' } };
  assert.equal(await verified(await enrolled('+919812340003'), other), 'IN phone');
});

test('a newer phone takes the country of the older one with it', async () => {
  const { id } = await enrolled('+49-15112345001');
  assert.equal(await countryOf(id), 'DE phone');
  for (const [phone, country] of [
    ['+1-2025550102', 'IN null'],
    ['+44 20 7946 0018', 'GB phone'],
  ] as const) {
    await asSystem((tx) => updateContact(tx, fixture.vault, id, { phone, now: now() }));
    assert.equal(await countryOf(id), country);
  }
  await asSystem((tx) => updateContact(tx, fixture.vault, id, { email: 'asha@example.com', now: now() }));
  assert.equal(await countryOf(id), 'GB phone');
  assert.equal(await countryOf((await enrolled('+1-2025550103', 'INDIVIDUAL', 'FR')).id), 'FR partner');
});
