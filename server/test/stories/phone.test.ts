/** A phone number that its network has reassigned: the new owner is not taken for the former one. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newPhone } from '../support/client.ts';
import { operatorIn } from '../support/staffed.ts';
import { openStory, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

test('a recycled number is detached after a fresh verification, which the audit records, and then enrolls another customer', async () => {
  const ada = await operatorIn(world, 'ada', 'admin');
  const phoneNumber = newPhone();
  const named = (clientCustomerId: string, over: object = {}) =>
    world.partner.post('kyc/url', { clientCustomerId, phoneNumber, type: 'INDIVIDUAL', ...over });
  const { customerId: former } = (await named('former')).body.data;
  await world.told('test/changeKycStatus', { customerId: former, status: 'ADVANCE_KYC_COMPLETED' });
  const refused = await named('later');
  assert.deepEqual([refused.status, refused.body.customerId], [400, former]);

  const bare = await ada.does(`/customers/${former}/detach-phone`, { reason: 'the number is another person’s' });
  assert.equal(bare.status, 400, 'a number was detached without evidence of a verification');
  const evidence = 'video call of the new owner, kept as ticket 4711';
  const done = await ada.does(`/customers/${former}/detach-phone`, { reason: 'recycled number', evidence });
  assert.deepEqual([done.status, done.body.detached], [200, true], JSON.stringify(done.body));
  const again = await ada.does(`/customers/${former}/detach-phone`, { reason: 'recycled number', evidence });
  assert.equal(again.body.detached, false);
  const { audit } = (await ada.reads('/audit')).body;
  const rows = audit.filter((row: unknown) => JSON.stringify(row).includes('customer.detach_phone'));
  assert.ok(JSON.stringify(rows).includes('ticket 4711'), 'the audit does not say what was verified');
  assert.ok(!JSON.stringify(audit).includes(phoneNumber), 'the audit names the number');

  const later = await named('later');
  assert.equal(later.status, 200, later.text);
  assert.notEqual(later.body.data.customerId, former);
  const stands = await world.told('kyc/status', { customerId: former });
  assert.equal(stands.status, 'ADVANCE_KYC_COMPLETED');
  const sale = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100', customerId: former };
  const early = await world.partner.post('bank/addFiatAccount', {
    customerId: former,
    fiatAccount: '000111222333',
    ifsc: 'HDFC0000001',
  });
  assert.deepEqual([early.status, early.body.reason], [403, 'login_required'], JSON.stringify(sale));
  const moved = await named('former', { customerId: former, phoneNumber: newPhone() });
  assert.equal(moved.body.data.customerId, former);
});
