/** Attacks on later additions: the login code, the address of a purchase, and a purchase paid in tiny parts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkCode, issueCode } from '../../src/customers/index.ts';
import type { ChainRail } from '../../src/rails/chain.ts';
import { openStory, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

test('a code sent to a phone is worth nothing once the customer has another phone', async () => {
  const { clock, vault, read } = world;
  const now = clock.now();
  const { id: customerId } = await world.verifiedCustomer();
  const customer = { id: customerId, partnerId: BigInt(customerId.split('_')[1] ?? '') };
  const code = '246810';
  const asking = { session: 'whoever has the old phone', link: 'a link', isOpen: false, network: '127.0.0.1' };
  await read((tx) => issueCode(tx, vault, { customer, code, asking, now }));
  await world.told('kyc/url', { customerId, phoneNumber: '+91-9000000002' });
  const tried = { customerId, code, session: asking.session, now };
  assert.equal(await read((tx) => checkCode(tx, vault, tried)), 'over');
  assert.equal(
    (await read((tx) => issueCode(tx, vault, { customer, code, asking, now }))).outcome,
    'wait',
    'limits stay',
  );
});

const asked = (customerId: string, depositAddress: string) => ({
  ...{ fromCurrency: 'INR', toCurrency: 'usdc', chain: 'matic20', fromAmount: '100', paymentMethodType: 'UPI' },
  ...{ customerId, depositAddress },
});

test('a purchase to the paying wallet or to any order’s deposit address is refused', async () => {
  const { customerId, depositAddress } = await world.sells('100', 'usdc');
  const { walletAddresses } = world.server.rails.get('evm.matic20') as ChainRail;
  for (const address of [walletAddresses.hot ?? '', depositAddress, depositAddress.toUpperCase().replace('0X', '0x')]) {
    await assert.rejects(world.told('onramp/createTransaction', asked(customerId, address)), /is an address of ours/);
  }
});

test('a purchase paid in three hundred crumbs is one purchase', async () => {
  const { id: customerId } = await world.verifiedCustomer();
  const address = world.newAddress();
  const order = await world.told<{ transactionId: string; fiatPaymentInstructions: { otp: string } }>(
    'onramp/createTransaction',
    asked(customerId, address),
  );
  const pays = (units: bigint) =>
    world.bank.creditAccount({ currency: 'INR', units, text: order.fiatPaymentInstructions.otp });
  for (let crumb = 0; crumb < 300; crumb += 1) await pays(1n);
  await pays(9_700n);
  const shown = () => world.told('onramp/transaction', { transactionId: order.transactionId, customerId });
  // Three hundred statement lines, each in its own transaction: the time depends on the machine.
  await world.until(
    'it is paid out',
    async () => {
      await world.mines(1);
      return (await shown()).status === '4';
    },
    180_000,
  );
  assert.equal(await world.tokensOf(address, 'usdc'), (await shown()).toAmount);
});
