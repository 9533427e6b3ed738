/** The page for adding an account, over HTTP. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { updateContact, waitsUntil } from '../../../src/customers/index.ts';
import { newPhone } from '../../support/client.ts';
import { findInDump } from '../../support/dump.ts';
import type { TestPartner } from '../whitelabel/environment.ts';
import { openBrowser, type PagesEnvironment, pagesEnvironment, wayBack } from './environment.ts';

const DAY_MS = 86_400_000;
let world: PagesEnvironment;
let acme: TestPartner;

before(async () => {
  world = await pagesEnvironment({ coolingOffMs: DAY_MS });
  acme = await world.partner('acme');
});
after(async () => await world?.stop());

async function invitedToBank(over: Record<string, unknown> = {}) {
  const { customerId } = await world.invited(acme);
  const { body } = await acme.post('bank/addFiatAccountUrl', {
    customerId,
    redirectUrl: 'https://wallet.example/accounts',
    ...over,
  });
  return { customerId, ...(body.data as { bankUrl: string; referenceId: string }) };
}

const accountsOf = async (customerId: string) => (await acme.post('bank/fiatAccounts', { customerId })).body.data;

test('addFiatAccountUrl gives a link of ours and a reference, for a customer of the partner only', async () => {
  const { customerId } = await world.invited(acme);
  const { status, body } = await acme.post('bank/addFiatAccountUrl', { customerId });
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body.data), ['bankUrl', 'referenceId']);
  assert.ok(body.data.bankUrl.startsWith(`${world.baseUrl}/bank/`));
  assert.match(body.data.referenceId, /^\d+$/);
  const other = await world.partner('other');
  assert.equal((await other.post('bank/addFiatAccountUrl', { customerId })).status, 404);
  assert.equal((await acme.post('bank/addFiatAccountUrl', {})).body.error, 'Missing parameter -> customerId.');
  assert.equal((await acme.post('bank/addFiatAccountUrl', { customerId, redirectUrl: 'javascript:x' })).status, 400);
});

test('a customer logs in, chooses a currency, adds an account and goes back with both ids', async () => {
  const { customerId, bankUrl, referenceId } = await invitedToBank();
  const browser = openBrowser();
  const choice = await browser.login(bankUrl);
  assert.equal(choice.title, 'Add a bank account');
  assert.match(choice.text, /<option value="inr">INR/);
  await browser.open(`${bankUrl}?currency=inr`);
  const added = await browser.go('account', { currency: 'inr', account: '5010 0283 7465', ifsc: 'hdfc0001234' });
  assert.equal(added.title, 'Account added');
  assert.match(added.text, /INR ending in 7465/);
  const [account] = await accountsOf(customerId);
  const back = wayBack(added);
  assert.equal(back?.pathname, '/accounts');
  assert.deepEqual(Object.fromEntries(back?.searchParams ?? []), { fiatAccountId: account.fiatAccountId, referenceId });

  const same = await acme.post('bank/addFiatAccount', { customerId, fiatAccount: '501002837465', ifsc: 'HDFC0001234' });
  assert.equal(
    same.body.data.fiatAccountId,
    account.fiatAccountId,
    'the same details from a program made a second account',
  );
  assert.deepEqual(await findInDump(world.adminUrl, ['501002837465', 'HDFC0001234']), []);
});

test('the page does not ask for a currency that the partner has named, and accepts no other', async () => {
  const { customerId } = await world.invited(acme);
  const named = await acme.post('bank/addFiatAccountUrl', { customerId, fiatType: 'EUR' });
  assert.equal(named.status, 200, named.text);
  const browser = openBrowser();
  const form = await browser.login(named.body.data.bankUrl);
  assert.match(form.text, /id="iban"/, 'the page does not use the currency that the call has named');
  assert.doesNotMatch(form.text, /<select|Another currency/);
  const other = await browser.go('account', { currency: 'inr', account: '501002837465', ifsc: 'HDFC0001234' });
  assert.match(other.text, /id="iban"/);
  const added = await browser.go('account', { currency: 'eur', iban: 'DE89 3704 0044 0532 0130 00' });
  assert.equal(added.title, 'Account added');
  assert.equal((await accountsOf(customerId)).length, 1);
  assert.equal((await acme.post('bank/addFiatAccountUrl', { customerId, fiatType: 'XYZ' })).status, 406);
  const byCountry = await acme.post('bank/addFiatAccountUrl', { customerId, countryCode: 'DE' });
  const german = await openBrowser().login(byCountry.body.data.bankUrl);
  assert.match(german.text, /id="iban"/, 'the country did not choose its currency');
  assert.doesNotMatch(german.text, /<select|Another currency/);
});

test('an IBAN is verified by its check digits, and is the same account as one that a program adds', async () => {
  const { customerId, bankUrl } = await invitedToBank();
  const browser = openBrowser();
  await browser.login(bankUrl);
  await browser.open(`${bankUrl}?currency=eur`);
  const wrong = await browser.go('account', { currency: 'eur', iban: 'DE88 3704 0044 0532 0130 00' });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /aria-describedby="iban-hint iban-why" aria-invalid="true"/);
  assert.deepEqual(await accountsOf(customerId), []);
  const values = { currency: 'eur', iban: 'de89 3704 0044 0532 0130 00' };
  const twice = await Promise.all([browser.send('account', values), browser.send('account', values)]);
  assert.equal(twice[0]?.location, twice[1]?.location, 'the form sent twice made two accounts');
  const program = await acme.post('bank/addFiatAccount', { customerId, iban: 'DE89370400440532013000' });
  assert.equal((await accountsOf(customerId)).length, 1);
  assert.ok(twice[0]?.location?.endsWith(`?added=${program.body.data.fiatAccountId}`));
});

test('an unknown currency, a missing or hostile account number and foreign ids are refused', async () => {
  const { customerId, bankUrl } = await invitedToBank({ redirectUrl: '' });
  const browser = openBrowser();
  await browser.login(bankUrl);
  assert.equal((await browser.open(`${bankUrl}?currency=`)).status, 400);
  assert.equal((await browser.open(`${bankUrl}?currency=xyz`)).status, 400);
  await browser.open(`${bankUrl}?currency=inr`);
  assert.equal((await browser.go('account', { currency: 'nope', account: '1' })).status, 400);
  await browser.open(`${bankUrl}?currency=inr`);
  const wrong = await browser.go('account', { currency: 'inr', account: '<img src=x onerror=y>', ifsc: '' });
  assert.equal(wrong.status, 400);
  assert.doesNotMatch(wrong.text, /<img/);
  assert.equal((await browser.open(`${bankUrl}?added=${acme.fiatAccountId}`)).title, 'Add a bank account');
  assert.deepEqual(await accountsOf(customerId), []);
});

test('nothing is added without logging in, and a kyc link does not open this page', async () => {
  const { bankUrl, customerId } = await invitedToBank();
  const browser = openBrowser();
  await browser.open(bankUrl);
  await browser.go('account', { currency: 'inr', account: '501002837465', ifsc: 'HDFC0001234' });
  assert.deepEqual(await accountsOf(customerId), []);
  const { kycUrl } = await world.invited(acme, { customerId, clientCustomerId: '' });
  assert.equal((await browser.open(kycUrl.replace('/kyc/', '/bank/'))).status, 404);
  assert.equal((await browser.open(bankUrl.replace('/bank/', '/kyc/'))).status, 404);
});

test('an account added with a phone that the partner has just changed is not paid at once', async () => {
  const { db, vault, clock } = world;
  const { id: partnerId } = acme.partner;
  const waits = async (changesPhone: boolean) => {
    const { customerId, bankUrl } = await invitedToBank();
    if (changesPhone)
      await db.asPartner(partnerId, (tx) =>
        updateContact(tx, vault, customerId, { phone: newPhone(), now: clock.now() }),
      );
    const browser = openBrowser();
    await browser.login(bankUrl);
    await browser.open(`${bankUrl}?currency=inr`);
    await browser.go('account', { currency: 'inr', account: '5010 0283 7466', ifsc: 'hdfc0001234' });
    const [account] = await accountsOf(customerId);
    const fiatAccountId = BigInt(account.fiatAccountId);
    return await db.asPartner(partnerId, (tx) =>
      waitsUntil(tx, { customerId, fiatAccountId, address: null, now: clock.now() }),
    );
  };
  assert.equal(await waits(false), undefined);
  assert.ok(((await waits(true))?.getTime() ?? 0) > clock.now().getTime() + DAY_MS / 2);
});
