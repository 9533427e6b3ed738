/** The holder of an account is compared with its customer when the account is added, however the customer was verified. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findCustomer, saveDetails } from '../../src/customers/index.ts';
import { openStory, type Story } from '../support/story.ts';
import { openV1, type V1Client } from '../support/v1.ts';

let world: Story;
let api: V1Client;
before(async () => {
  world = await openStory({ settings: { ACCOUNT_NAMES: 'hold' } });
  const [keys] = world.server.sandbox.partners;
  assert(keys);
  api = openV1(world.server.baseUrl, keys);
});
after(async () => await world?.close());

async function verified(names?: Record<string, string>): Promise<string> {
  const { id } = await world.verifiedCustomer();
  if (names !== undefined)
    await world.read(async (tx) => {
      const customer = await findCustomer(tx, id);
      await saveDetails(tx, world.server.vault, { customer, details: names, now: world.clock.now() });
    });
  return id;
}
let number = 10_000_000;
const account = (accountHolder?: string) => ({
  ...{ kind: 'account', asset: 'inr', ifsc: 'HDFC0000001', accountNumber: `000155${(number += 1)}` },
  ...(accountHolder !== undefined && { accountHolder }),
});
const adds = (customerId: string, accountHolder?: string) =>
  api.does('POST', `/customers/${customerId}/destinations`, account(accountHolder));

test('the reply to an account says whether its holder is the customer, and so does every later look', async () => {
  const person = await verified({ firstName: 'Zebulon', lastName: 'Quagmire' });
  const business = await verified({ companyName: 'Fjord Trading Ltd' });
  for (const [customerId, holder, match] of [
    [person, 'QUAGMIRE ZEBULON', 'same'],
    [person, 'Xanthippe Vrblova', 'other'],
    [business, 'FJORD TRADING LTD.', 'same'],
    [business, 'Xanthippe Vrblova', 'other'],
    // Verified by its partner or in the sandbox, without details.
    [await verified(), 'Zebulon Quagmire', 'unknown'],
    // It is paid under the customer's own name.
    [person, undefined, null],
  ] as const) {
    const added = await adds(customerId, holder);
    assert.equal(added.holderMatch, match, `${holder}`);
    const path = `/customers/${customerId}/destinations`;
    assert.equal((await api.does('GET', `${path}/${added.id}`)).holderMatch, match);
    const listed = (await api.does('GET', path)).data.find(({ id }: { id: string }) => id === added.id);
    assert.equal(listed.holderMatch, match);
  }
  const to = { kind: 'address', chain: 'matic20', address: world.newAddress() };
  assert.equal((await api.does('POST', `/customers/${person}/destinations`, to)).holderMatch, null);
});

test('a name that becomes known later counts, and the activity keeps what was found at entry', async () => {
  const customerId = await verified();
  const { id } = await adds(customerId, 'Zebulon Quagmire');
  await world.read(async (tx) => {
    const customer = await findCustomer(tx, customerId);
    const details = { firstName: 'Zebulon', lastName: 'Quagmire' };
    await saveDetails(tx, world.server.vault, { customer, details, now: world.clock.now() });
  });
  assert.equal((await api.does('GET', `/customers/${customerId}/destinations/${id}`)).holderMatch, 'same');
  const [kept] = await world.read((tx) =>
    tx.rows<{ facts: { holder: string } }>('select facts from partner_activity where subject = $1', [`account:${id}`]),
  );
  assert.equal(kept?.facts.holder, 'unknown');
});

test('on the older wire too; an account of another holder is taken, and its payout is held', async () => {
  const customerId = await verified({ firstName: 'Zebulon', lastName: 'Quagmire' });
  const details = { customerId, fiatAccount: '000155501234', ifsc: 'HDFC0000001', accountHolder: 'Xanthippe Vrblova' };
  const added = await world.told('bank/addFiatAccount', details);
  assert.equal(added.holderMatch, 'other');
  const customer = { id: customerId, fiatAccountId: added.fiatAccountId ?? '' };
  const order = await world.sells('10', 'usdc', { customer });
  await world.pays(order, '10');
  await world.mines(2);
  assert.match((await world.opensCase(order, 'on_hold')).reason, /account_name_differs/);
});
