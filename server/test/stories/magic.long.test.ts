/** Magic values of the sandbox: the effect of each on an order or a page. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listCases } from '../../src/compliance/index.ts';
import { MAGIC } from '../../src/sandbox/magic.ts';
import { MAGIC_DOCUMENT, MAGIC_IDENTITIES } from '../../src/verifiers/simulated/index.ts';
import { openVisitor } from '../blackbox/visitor.ts';
import { DETAILS, openBrowser } from '../protocols/checkout/environment.ts';
import { newPhone } from '../support/client.ts';
import { openStory, type Sale, type Story } from '../support/story.ts';
import { until } from '../support/until.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

const told = new Set<string>();
const magic = (value: string): string => {
  const found = MAGIC.find((one) => one.value === value || one.value === `… ${value}`);
  assert.ok(found, `there is no magic value ${value}`);
  told.add(found.value);
  return value;
};
async function pays(order: Sale): Promise<void> {
  await world.pays(order, order.fromAmount);
  await world.mines(2);
}
const timesPaid = async (order: Sale) =>
  (await world.bank.payments(`pay_${order.id}_1`)).filter(({ state }) => state !== 'rejected').length;

/** A customer with an account held in this name. */
async function named(accountHolder: string) {
  const { id } = await world.verifiedCustomer();
  const account = { customerId: id, fiatAccount: '000155501234', ifsc: 'HDFC0000001', accountHolder };
  const { fiatAccountId = '' } = await world.told('bank/addFiatAccount', account);
  return { id, fiatAccountId };
}

describe('an account or a holder', () => {
  for (const [ending, kind, times] of [
    ['9001', 'payout_held', 0],
    ['9002', 'payout_returned', 1],
    ['9003', undefined, 1],
    ['9004', undefined, 1],
    ['9005', undefined, 1],
  ] as const) {
    test(`ending ${ending}`, async () => {
      const order = await world.sells('10', 'usdc', {
        customer: await world.verifiedCustomer({ ending: magic(ending) }),
      });
      await pays(order);
      if (ending === '9005') {
        await world.reaches(order, 5);
        world.clock.advance(61_000);
      }
      if (ending !== '9001') await world.reaches(order, 6);
      if (kind !== undefined) await world.opensCase(order, kind);
      assert.equal(await timesPaid(order), times);
    });
  }

  for (const [name, kind] of [
    ['Reject Me', 'payout_held'],
    ['Return Me', 'payout_returned'],
  ] as const) {
    test(`called ${name}`, async () => {
      const order = await world.sells('10', 'usdc', { customer: await named(magic(name).toUpperCase()) });
      await pays(order);
      await world.opensCase(order, kind);
    });
  }
});

describe('an order held by screening', () => {
  test('for its reference', async () => {
    const order = await world.sells('10', 'usdc', { reference: magic('screen:hold') });
    await pays(order);
    assert.equal((await world.opensCase(order, 'on_hold')).reason, 'held_by_magic_value');
  });

  test('for its amount in a token or a fiat, and not for an amount close to it', async () => {
    const amount = magic('666');
    const [held, beside] = [await world.sells(amount, 'usdc'), await world.sells('666.5', 'usdc')];
    for (const order of [held, beside]) await pays(order);
    assert.equal((await world.opensCase(held, 'on_hold')).reason, 'held_by_magic_value');
    await world.reaches(beside, 6);
    const bought = await world.buys(amount, 'usdc');
    await world.credits(bought, amount);
    assert.equal((await world.opensCase(bought, 'on_hold')).reason, 'held_by_magic_value');
  });

  test('for the address it is to be paid to', async () => {
    const address = magic('0x000000000000000000000000000000000000dead');
    const order = await world.buys('1000', 'usdc', { address });
    await world.credits(order, '1000');
    assert.equal((await world.opensCase(order, 'on_hold')).reason, 'held_by_magic_value');
  });
});

describe('a hosted page', () => {
  const page = async (phoneNumber: string) => {
    const { kycUrl = '' } = await world.told('kyc/url', {
      clientCustomerId: phoneNumber,
      phoneNumber,
      type: 'INDIVIDUAL',
    });
    const visitor = openVisitor();
    await visitor.go(kycUrl);
    return visitor;
  };

  test('lets in with the code', async () => {
    const visitor = await page('+91-9000000001');
    await visitor.press('Send code');
    const before = visitor.title();
    await visitor.press('Log in', { code: magic('123456') });
    assert.notEqual(visitor.title(), before);
  });

  test('says that a phone cannot be reached', async () => {
    const visitor = await page(`+91-9000${magic('000404')}`);
    await visitor.press('Send code');
    assert.match(visitor.text(), /could not send the code/);
  });
});

describe('an identity number', () => {
  for (const [ending, later] of [
    ['LATER', 'BASIC_KYC_COMPLETED'],
    ['NEVER', 'IN_REVIEW'],
  ] as const)
    test(`ending ${ending}`, async () => {
      const { kycUrl = '', customerId = '' } = await world.told('kyc/url', {
        clientCustomerId: ending,
        phoneNumber: newPhone(),
        type: 'INDIVIDUAL',
      });
      const browser = openBrowser();
      await browser.login(kycUrl);
      const details = { ...DETAILS, identityNumber: `ZQ${magic(ending)}` };
      assert.equal((await browser.go('details', details)).title, 'We are checking your details');
      const status = async () => (await world.told('kyc/status', { customerId })).status;
      assert.equal(await status(), 'IN_REVIEW');
      world.clock.advance(ending === 'LATER' ? 60_000 : 25 * 3_600_000);
      if (ending === 'NEVER')
        await until('a case', async () =>
          (
            await world.server.db.asSystem((tx) =>
              listCases(tx, { open: true, kind: 'verification_overdue', limit: 10 }),
            )
          ).some(({ subject }) => subject === `customer:${customerId}`),
        );
      await until(later, async () => (await status()) === later);
    });
});

test('the tests above, and those of verification-outcomes.test.ts, use every magic value', () => {
  for (const { ending } of MAGIC_IDENTITIES) magic(ending);
  magic(MAGIC_DOCUMENT.firstName);
  assert.deepEqual(
    MAGIC.map(({ value }) => value).filter((value) => !told.has(value)),
    [],
  );
});
