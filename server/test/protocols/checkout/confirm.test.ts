/**
 * The page on which a customer confirms a destination: over HTTP, and in a real browser on a small phone and on a desktop, light
 * and dark, where axe finds no problem.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AssetCode } from '../../../src/base/money.ts';
import {
  addAddress,
  addFiatAccount,
  encryptLink,
  findCustomer,
  noteApiAccount,
  updateContact,
  waitsUntil,
} from '../../../src/customers/index.ts';
import { noChromium, startChromium } from '../../support/chromium.ts';
import { newPhone } from '../../support/client.ts';
import { isLong, looksOf } from '../../support/long.ts';
import type { TestPartner } from '../whitelabel/environment.ts';
import { openBrowser, type PagesEnvironment, pagesEnvironment, wayBack } from './environment.ts';
import { isGood, logIn, openWindow, press } from './window.ts';

const DAY_MS = 86_400_000;
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const ACCOUNT = '000155598765';
const HOLDER = 'Grace Hopper';
let world: PagesEnvironment;
let acme: TestPartner;

before(async () => {
  world = await pagesEnvironment({ coolingOffMs: DAY_MS });
  acme = await world.partner('acme');
});
after(async () => await world?.stop());

/** A destination that a program has added: an address, or an account with this number. */
type What = { address?: string } | { account: string };

/** A customer with a destination added by a program, and the link to confirm it. */
async function waiting(what: What = {}) {
  const { clock, db, vault } = world;
  const { customerId } = await world.invited(acme);
  const { id: partnerId } = acme.partner;
  const now = clock.now();
  const by = { customer: { id: customerId, partnerId }, coolingOffMs: DAY_MS, now };
  const { id } = await db.asPartner(partnerId, async (tx) => {
    if (!('account' in what))
      return await addAddress(tx, { ...by, chain: 'matic20', address: what.address ?? ADDRESS });
    const customer = await findCustomer(tx, customerId);
    const details = { account: what.account, ifsc: 'HDFC0000001', accountHolder: HOLDER };
    const { id: accountId } = await addFiatAccount(tx, vault, { customer, fiat: 'inr' as AssetCode, details, now });
    return await noteApiAccount(tx, { ...by, accountId, isNew: true });
  });
  const url = (of: { customerId: string; destinationId: bigint }) =>
    `${world.baseUrl}/confirm/${encryptLink(vault, 'confirm', {
      ...{ id: 'test', partnerId: String(partnerId), customerId: of.customerId, until: clock.now().getTime() + DAY_MS },
      ...{ redirectUrl: 'https://wallet.example/back', closeAfterLogin: false },
      destinationId: String(of.destinationId),
    })}`;
  const paid =
    'account' in what
      ? { fiatAccountId: id, address: null }
      : { fiatAccountId: null, address: what.address ?? ADDRESS };
  const waits = async () =>
    await db.asPartner(partnerId, (tx) => waitsUntil(tx, { customerId, ...paid, now: clock.now() }));
  return { customerId, id, url, link: url({ customerId, destinationId: id }), waits };
}

test('a customer logs in, sees the whole address, confirms it with a code of its own, and goes back', async () => {
  const { id, link, waits } = await waiting();
  const browser = openBrowser();
  const before_ = await browser.open(link);
  assert.equal(before_.title, 'Log in');
  assert.ok(!before_.text.includes('5290'), 'the destination is shown before the login');
  const ask = await browser.login(link);
  assert.equal(ask.title, 'Is this yours?');
  assert.ok(ask.text.replaceAll(/<[^>]+>/g, '').includes(ADDRESS));
  assert.doesNotMatch(ask.text, /Six-digit code/, 'the page accepts the code of the login');
  assert.notEqual(await waits(), undefined);
  assert.match((await browser.go('send')).text, /Six-digit code/);
  const wrong = await browser.go('confirm', { code: '000000' });
  assert.deepEqual([wrong.status, wrong.title], [400, 'Is this yours?']);
  assert.notEqual(await waits(), undefined);
  const done = await browser.go('confirm', { code: '123456' });
  assert.equal(done.title, 'Confirmed');
  assert.equal(await waits(), undefined);
  assert.equal(wayBack(done)?.href, `https://wallet.example/back?destinationId=${id}`);
  assert.equal((await browser.open(link)).title, 'Confirmed', 'the page opened again does not show the confirmation');
  assert.equal((await browser.go('send')).title, 'Confirmed', 'a code was sent for a confirmed destination');
});

test('a bank account is shown by its last characters and confirmed the same way; no page shows the rest', async () => {
  const { id, link, waits } = await waiting({ account: ACCOUNT });
  const browser = openBrowser();
  const pages = [await browser.open(link), await browser.login(link)];
  assert.ok(!pages[0]?.text.includes('8765'), 'the destination is shown before the login');
  const ask = pages[1];
  assert.equal(ask?.title, 'Is this yours?');
  assert.match(ask?.text ?? '', /Account ending in 8765/);
  assert.match(ask?.text ?? '', /INR/);
  assert.notEqual(await waits(), undefined, 'the login confirmed the account');
  pages.push(await browser.go('send'));
  const wrong = await browser.go('confirm', { code: '000000' });
  assert.deepEqual([wrong.status, wrong.title], [400, 'Is this yours?']);
  assert.notEqual(await waits(), undefined);
  const done = await browser.go('confirm', { code: '123456' });
  pages.push(wrong, done);
  assert.equal(done.title, 'Confirmed');
  assert.match(done.text, /Account ending in 8765/);
  assert.equal(await waits(), undefined);
  assert.equal(wayBack(done)?.href, `https://wallet.example/back?destinationId=${id}`);
  for (const { text } of pages)
    for (const hidden of [ACCOUNT, ACCOUNT.slice(0, -4), 'HDFC0000001', HOLDER])
      assert.ok(!text.includes(hidden), `${hidden} is on a page`);
});

test('the code for an address confirms no account of the same customer', async () => {
  const one = await waiting({ account: ACCOUNT });
  const { id: partnerId } = acme.partner;
  const address = await world.db.asPartner(partnerId, (tx) =>
    addAddress(tx, {
      ...{ customer: { id: one.customerId, partnerId }, chain: 'matic20', address: ADDRESS },
      ...{ coolingOffMs: DAY_MS, now: world.clock.now() },
    }),
  );
  const browser = openBrowser();
  await browser.login(one.url({ customerId: one.customerId, destinationId: address.id }));
  await browser.go('send');
  await browser.open(one.link);
  assert.equal((await browser.go('confirm', { code: '123456' })).status, 400);
  assert.notEqual(await one.waits(), undefined);
});

test('the code of the login confirms nothing, nor does that of another destination or browser', async () => {
  const one = await waiting({ address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' });
  const browser = openBrowser();
  await browser.login(one.link);
  assert.equal((await browser.go('confirm', { code: '123456' })).status, 400);
  assert.notEqual(await one.waits(), undefined);

  const { id: partnerId } = acme.partner;
  const second = await world.db.asPartner(partnerId, (tx) =>
    addAddress(tx, {
      ...{ customer: { id: one.customerId, partnerId }, chain: 'matic20', address: ADDRESS },
      ...{ coolingOffMs: DAY_MS, now: world.clock.now() },
    }),
  );
  await browser.go('send');
  await browser.open(one.url({ customerId: one.customerId, destinationId: second.id }));
  assert.equal((await browser.go('confirm', { code: '123456' })).status, 400);
  const other = openBrowser();
  world.clock.advance(31_000);
  await other.login(one.link);
  assert.equal((await other.go('confirm', { code: '123456' })).status, 400);
  assert.notEqual(await one.waits(), undefined);
});

test('a phone that the partner has just changed confirms nothing, and the page says when it can', async () => {
  const { customerId, link, waits } = await waiting();
  const { db, vault, clock } = world;
  await db.asPartner(acme.partner.id, (tx) =>
    updateContact(tx, vault, customerId, { phone: newPhone(), now: clock.now() }),
  );
  const browser = openBrowser();
  const shown = await browser.login(link);
  assert.equal(shown.title, 'This cannot be confirmed yet');
  await browser.go('send');
  await browser.go('confirm', { code: '123456' });
  assert.notEqual(await waits(), undefined);
});

test('the destination of another customer, and the link of another page, open nothing', async () => {
  const [one, two] = [await waiting(), await waiting()];
  const theirs = await openBrowser().login(one.url({ customerId: one.customerId, destinationId: two.id }));
  assert.deepEqual([theirs.status, theirs.title], [404, 'This link does not work']);
  const token = one.link.split('/').at(-1);
  for (const page of ['kyc', 'bank', 'checkout', 'return'])
    assert.equal((await openBrowser().open(`${world.baseUrl}/${page}/${token}`)).status, 404, page);
  await world.query('update customers set blocked_at = now() where id = $1', [one.customerId]);
  const browser = openBrowser();
  await browser.login(one.link);
  await browser.go('send');
  await browser.go('confirm', { code: '123456' });
  assert.notEqual(await one.waits(), undefined, 'a blocked customer confirmed a destination');
});

if (isLong)
  test('in a real browser: from the link to the confirmation at 320 and 1440 px, light and dark', {
    skip: noChromium,
  }, async () => {
    const browser = await startChromium();
    try {
      for (const [at, look] of looksOf(1440, 320).entries()) {
        const { link, waits } = await (at % 2 === 0 ? waiting({ account: ACCOUNT }) : waiting());
        const { page, amiss, close } = await openWindow({ browser, mine: [world.baseUrl] }, look);
        await page.goto(link);
        await logIn(page);
        await page.getByRole('heading', { name: 'Is this yours?' }).waitFor();
        await isGood(page, 'Is this yours?');
        await press(page, 'Send code');
        await page.getByLabel('Six-digit code').fill('000000');
        await press(page, 'Yes, this is mine');
        await isGood(page, 'Is this yours?');
        assert.equal(await page.getByLabel('Six-digit code').getAttribute('aria-invalid'), 'true');
        await page.getByLabel('Six-digit code').fill('123456');
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Confirmed' }).waitFor();
        await isGood(page, 'Confirmed');
        assert.equal(await waits(), undefined);
        assert.deepEqual(amiss, []);
        await close();
      }
    } finally {
      await browser.close();
    }
  });
