/**
 * The hosted pages in a real browser: a customer comes from the partner, logs in, fills in the form and returns to the partner;
 * then the same for a bank account, and for a sale and a purchase by links. On a small phone, light, or a desktop, dark, in the
 * long run on both (support/long.ts): axe finds no problem, the console is empty, and no other origin is requested.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { encryptLink, recordFinding } from '../../../src/customers/index.ts';
import { changeBranding } from '../../../src/partners/index.ts';
import { drawLogo } from '../../../src/protocols/v1/logo.ts';
import { noChromium, startChromium } from '../../support/chromium.ts';
import { isLong } from '../../support/long.ts';
import type { TestPartner } from '../whitelabel/environment.ts';
import { DETAILS, type PagesEnvironment, pagesEnvironment } from './environment.ts';
import { isGood, isGood as isGoodAlone, logIn, openWindow, press, type Screen } from './window.ts';

/** Folder for screenshots, for a person to look at. */
const PICTURES = process.env.CONSOLE_PICTURES;

let world: PagesEnvironment;
let acme: TestPartner;
let browser: Browser;
let wallet: Server;
let walletUrl = '';

before(async () => {
  if (noChromium !== undefined) return;
  world = await pagesEnvironment();
  acme = await world.partner('Acme Wallet');
  wallet = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><html lang="en"><title>Wallet</title><link rel="icon" href="data:,"><h1>Wallet</h1>');
  });
  await new Promise<void>((listening) => wallet.listen(0, '127.0.0.1', listening));
  walletUrl = `http://127.0.0.1:${(wallet.address() as AddressInfo).port}`;
  browser = await startChromium();
});
after(async () => {
  await browser?.close();
  wallet?.close();
  await world?.stop();
});

async function fillIn(page: Page): Promise<void> {
  for (const [name, value] of Object.entries(DETAILS)) {
    const field = page.locator(`#${name}`);
    // Who acts for a business has two surnames.
    if (name === 'secondSurname') continue;
    if (name === 'sex' || name === 'sourceOfFunds') await field.selectOption(value);
    else await field.fill(value);
  }
  await press(page, 'Send my details');
}

async function life(screen: Screen): Promise<void> {
  const { page, amiss, close } = await openWindow({ browser, mine: [world.baseUrl, walletUrl] }, screen);
  const { kycUrl, customerId } = await world.invited(acme, { kycRedirectUrl: `${walletUrl}/verified?flow=7` });
  await page.goto(kycUrl);
  await logIn(page, world.refreshPrices);

  await page.getByRole('heading', { name: 'Your details' }).waitFor();
  await isGood(page, 'Your details');
  await press(page, 'Send my details');
  await isGood(page, 'Your details');
  assert.equal(
    await page.evaluate('document.activeElement.className'),
    'problems',
    'the list of errors does not have the focus',
  );
  await page.getByRole('link', { name: 'Enter: First name' }).click();
  assert.equal(
    await page.evaluate('document.activeElement.id'),
    'firstName',
    'an entry of the list does not lead to its field',
  );
  await fillIn(page);
  await page.getByRole('heading', { name: 'You are verified' }).waitFor();
  await isGood(page, 'You are verified');
  await page.getByRole('link', { name: 'Back to Acme Wallet' }).click();
  await page.waitForURL(`${walletUrl}/verified?flow=7&customerId=${customerId}&status=BASIC_KYC_COMPLETED`);

  const { body } = await acme.post('bank/addFiatAccountUrl', { customerId, redirectUrl: `${walletUrl}/accounts` });
  await page.goto(body.data.bankUrl);
  await isGood(page, 'Add a bank account');
  await page.getByLabel('Currency').selectOption('eur');
  await press(page, 'Continue');
  await page.getByLabel('IBAN').fill('DE88370400440532013000');
  await press(page, 'Add account');
  await isGood(page, 'Add a bank account');
  await page.getByLabel('IBAN').fill('DE89 3704 0044 0532 0130 00');
  await press(page, 'Add account');
  await page.getByRole('heading', { name: 'Account added' }).waitFor();
  await isGood(page, 'Account added');
  await page.getByRole('link', { name: 'Back to Acme Wallet' }).click();
  const [account] = (await acme.post('bank/fiatAccounts', { customerId })).body.data;
  await page.waitForURL(
    `${walletUrl}/accounts?fiatAccountId=${account.fiatAccountId}&referenceId=${body.data.referenceId}`,
  );
  assert.deepEqual(amiss, []);
  await close();
}

test('from invitation to bank account at 320 px', { skip: noChromium }, () =>
  life({ width: 320, colorScheme: 'light' }),
);

if (isLong)
  test('from invitation to bank account at 1280 px, dark', { skip: noChromium }, () =>
    life({ width: 1280, colorScheme: 'dark' }),
  );

const GENERATE = '/onramp/api/v2/common/transaction/generateLink';
/** Prices age in real time and a browser may be slow, so they are fetched again where a test needs one. */
async function linked(fields: Record<string, unknown>): Promise<string> {
  await world.refreshPrices();
  const asked = { coinCode: 'usdc', network: 'matic20', fiatType: 1, redirectUrl: walletUrl, ...fields };
  const { body, text } = await acme.post(GENERATE, asked);
  assert.ok(body.data, text);
  return body.data.link;
}

/** Logs in by phone, because the link names no customer. */
async function logInByPhone(page: Page, phone: string): Promise<void> {
  await page.getByRole('link', { name: 'Continue' }).click();
  await isGood(page, 'Your phone number');
  await page.getByLabel('Phone number').fill('nobody');
  await press(page, 'Send code');
  await isGood(page, 'Your phone number');
  await page.getByLabel('Phone number').fill(phone);
  await press(page, 'Send code');
  await logIn(page, world.refreshPrices);
}

/** The order's state changes on the server, and the open page shows it without a reload. */
async function seesWhenItIsOver(page: Page, orderId: string): Promise<void> {
  for (const [state, title] of [
    ['deposit_seen', 'Your payment is on its way'],
    ['settled', 'Done'],
  ] as const) {
    await world.query('update orders set state = $2 where id = $1', [orderId, state]);
    // The first change arrives while the page is open; the second is shown when the customer returns to the page.
    if (state === 'settled') await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await page.getByRole('heading', { name: title }).waitFor();
    await isGood(page, title);
  }
}

async function sale(screen: Screen): Promise<void> {
  const { page, amiss, close } = await openWindow({ browser, mine: [world.baseUrl, walletUrl] }, screen);
  await page.goto(await linked({ type: 2, quantity: 100 }));
  await isGood(page, 'Sell USDC');
  await logInByPhone(page, '+91 70000 00001');
  await page.getByRole('heading', { name: 'Your details' }).waitFor();
  await fillIn(page);
  await page.getByRole('heading', { name: 'Add a bank account' }).waitFor();
  await isGood(page, 'Add a bank account');
  await page.getByLabel('Account number').fill('501002837465');
  await page.getByLabel('IFSC code').fill('HDFC0001234');
  await world.refreshPrices();
  await press(page, 'Add account');
  await page.getByLabel('Bank account you are paid to').waitFor();
  await isGood(page, 'Sell USDC');
  world.clock.advance(61_000);
  await world.refreshPrices();
  await world.query('update prices set num = num * 101, den = den * 100');
  await press(page, 'Sell');
  await page.getByText('The price has changed').waitFor();
  await isGood(page, 'Sell USDC');
  await press(page, 'Sell');
  await world.refreshPrices();
  await page.getByRole('heading', { name: 'Send your USDC' }).waitFor();
  await isGood(page, 'Send your USDC');
  const address = await page.locator('#address').innerText();
  assert.equal(await page.getByRole('img', { name: `QR code of the address ${address}` }).count(), 1);
  const [order] = await world.query('select id from orders where deposit_target = $1', [address]);
  await seesWhenItIsOver(page, String(order.id));
  await page.getByRole('link', { name: 'Back to Acme Wallet' }).click();
  await page.waitForURL(
    (url) => url.href.startsWith(walletUrl) && url.searchParams.get('orderId') === String(order.id),
  );
  assert.deepEqual(amiss, []);
  await close();
}

async function purchase(screen: Screen): Promise<void> {
  const { page, amiss, close } = await openWindow({ browser, mine: [world.baseUrl, walletUrl] }, screen);
  await page.goto(await linked({ type: 1, fiatAmount: 5000, customerId: acme.customerId }));
  await isGood(page, 'Buy USDC');
  await page.getByRole('link', { name: 'Continue' }).click();
  await logIn(page, world.refreshPrices);
  await page.getByRole('heading', { name: 'Buy USDC' }).waitFor();
  await isGood(page, 'Buy USDC');
  await page.getByLabel('Your wallet address').fill('0x1');
  await press(page, 'Buy');
  await isGood(page, 'Buy USDC');
  await page.getByLabel('Your wallet address').fill('0x52908400098527886E0F7030069857D2E4169EE7');
  await press(page, 'Buy');
  await page.getByRole('heading', { name: 'Pay in INR' }).waitFor();
  await isGood(page, 'Pay in INR');
  const reference = await page.locator('#reference').innerText();
  const [order] = await world.query('select id from orders where deposit_target = $1', [reference]);
  await seesWhenItIsOver(page, String(order.id));
  assert.deepEqual(amiss, []);
  await close();
}

if (isLong)
  test(
    'a new customer sells by a link at 320 px: phone, details, account, address, and updates of the order',
    {
      skip: noChromium,
    },
    () => sale({ width: 320, colorScheme: 'light' }),
  );

test('a customer buys by a link at 1280 px, dark: wallet, payee, and updates of the order', { skip: noChromium }, () =>
  purchase({ width: 1280, colorScheme: 'dark' }),
);

/** Writes rows on the server: a part of the amount arrives, then the rest, then the payout is returned. */
async function partArrives(id: string): Promise<void> {
  await world.query(
    `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, reference, seen_at)
     select deposit_rail, 'part-' || id, deposit_asset, deposit_units * 2 / 5, deposit_target, id, partner_id, 'confirmed', '', now()
       from orders where id = $1`,
    [id],
  );
  await world.query(`update orders set state = 'deposit_seen', exception = 'underpaid' where id = $1`, [id]);
}

async function payoutComesBack(id: string): Promise<void> {
  const key = `pay_${id}_1`;
  await world.query(
    `insert into payouts (id, order_id, partner_id, purpose, attempt, rail, asset, units, fiat_account_id, created_at, state, reference,
       submissions, ended_at, why)
     select $2, id, partner_id, 'payout', 1, payout_rail, payout_asset, payout_units, fiat_account_id, now(), 'returned', 'UTR-1',
            1, now(), 'account_closed (AC04)' from orders where id = $1`,
    [id, key],
  );
  const [{ id: deposit }] = await world.query(
    `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, reference, seen_at, origin, why,
       booked_to, confirmed_at, facts)
     select payout_rail, 'returned:' || id, payout_asset, payout_units, '', id, partner_id, 'suspense', 'UTR-2', now(), 'returned',
            'payout_returned', 'suspense', now(), jsonb_build_object('payout', $2::text) from orders where id = $1 returning id`,
    [id, key],
  );
  await world.query(
    `insert into refunds (id, deposit_id, order_id, partner_id, purpose, rail, asset, gross_units, net_units, source, why, requested_by,
       state, attempt, created_at, updated_at)
     select $2, $2, id, partner_id, 'payout', payout_rail, payout_asset, payout_units, payout_units, 'suspense', 'payout_returned',
            'policy', 'needs_destination', 0, now(), now() from orders where id = $1`,
    [id, deposit],
  );
  await world.query(`delete from deposits where external_id = 'part-' || $1::text`, [id]);
  await world.query(
    `update orders set state = 'settled', exception = 'payout_returned', payout_attempt = 1, received_units = deposit_units
      where id = $1`,
    [id],
  );
}

async function partAndReturn(screen: Screen): Promise<void> {
  const { page, amiss, close } = await openWindow({ browser, mine: [world.baseUrl, walletUrl] }, screen);
  const customerId = await world.customer(acme, acme.partner, `returned-${screen.width}`);
  await acme.post('bank/addFiatAccount', { customerId, fiatAccount: '111222333444', ifsc: 'HDFC0001234' });
  await page.goto(await linked({ type: 2, quantity: 100, customerId }));
  await page.getByRole('link', { name: 'Continue' }).click();
  await logIn(page, world.refreshPrices);
  await press(page, 'Sell');
  await page.getByRole('heading', { name: 'Send your USDC' }).waitFor();
  const address = await page.locator('#address').innerText();
  const until = await page.getByText(/^before /).innerText();
  const [{ id }] = await world.query('select id from orders where deposit_target = $1', [address]);

  await partArrives(String(id));
  await page.getByRole('heading', { name: 'Send the rest of your USDC' }).waitFor();
  await isGood(page, 'Send the rest of your USDC');
  assert.equal(await page.locator('#address').innerText(), address);
  assert.equal(await page.getByRole('img', { name: `QR code of the address ${address}` }).count(), 1);
  assert.equal(await page.getByText(/^before /).innerText(), until);
  await page.getByText('40 USDC of 100 USDC have arrived').waitFor();
  await page.getByText('Send exactly 60 USDC').waitFor();

  await payoutComesBack(String(id));
  await page.getByRole('heading', { name: 'Your payout came back to us' }).waitFor();
  await isGood(page, 'Your payout came back to us');
  await press(page, 'Send it there');
  await isGood(page, 'Your payout came back to us');
  assert.equal(await page.getByLabel('Bank account you are paid to').getAttribute('aria-invalid'), 'true');
  await page.getByRole('link', { name: 'Add another account' }).click();
  await page.getByLabel('Account number').fill('501002837465');
  await page.getByLabel('IFSC code').fill('HDFC0001234');
  await press(page, 'Add account');
  await isGood(page, 'Your payout came back to us');
  await press(page, 'Send it there');
  await page.getByText('being prepared').waitFor();
  await isGood(page, 'Your payout came back to us');
  assert.equal(await page.getByRole('button', { name: 'Send it there' }).count(), 0);
  const [refund] = await world.query(
    `select r.state, a.hint from refunds r join fiat_accounts a on a.id = r.fiat_account_id where r.order_id = $1`,
    [id],
  );
  assert.deepEqual([refund.state, refund.hint], ['screening', '7465']);
  await world.query(
    `update refunds set state = 'settled', attempt = 1, key = $2, settled_at = now() where order_id = $1`,
    [id, `pay_${id}_2`],
  );
  await page.getByRole('heading', { name: 'Done' }).waitFor();
  await isGood(page, 'Done');
  assert.deepEqual(amiss, []);
  await close();
}

if (isLong) {
  test(
    'a partly paid order keeps address, code, remainder and deadline at 320 px, and a returned payout goes to another account',
    { skip: noChromium },
    () => partAndReturn({ width: 320, colorScheme: 'light' }),
  );
  test('the same at 1280 px, dark', { skip: noChromium }, () => partAndReturn({ width: 1280, colorScheme: 'dark' }));
}

if (isLong)
  test('a pending check is shown, and its result appears on the open page', {
    skip: noChromium,
  }, async () => {
    const { page, amiss, close } = await openWindow(
      { browser, mine: [world.baseUrl, walletUrl] },
      { width: 320, colorScheme: 'light' },
    );
    const { kycUrl, customerId } = await world.invited(acme);
    await page.goto(kycUrl);
    await logIn(page, world.refreshPrices);
    await page.getByRole('heading', { name: 'Your details' }).waitFor();
    world.verifier.finding = { outcome: 'in_review', level: 0 };
    await fillIn(page);
    await page.getByRole('heading', { name: 'We are checking your details' }).waitFor();
    await isGood(page, 'We are checking your details');
    world.verifier.finding = undefined;
    // The row that the job records once the verifier has a result.
    await world.db.asSystem((tx) =>
      recordFinding(tx, {
        ...{ customerId, version: 1, verifier: 'simulated', finding: { outcome: 'verified', level: 2 } },
        now: world.clock.now(),
      }),
    );
    await page.getByRole('heading', { name: 'You are verified' }).waitFor();
    assert.deepEqual(amiss, []);
    await close();
  });

if (isLong)
  test('with closeAfterLogin the browser returns to the partner without a click', { skip: noChromium }, async () => {
    const { page, amiss, close } = await openWindow(
      { browser, mine: [world.baseUrl, walletUrl] },
      { width: 320, colorScheme: 'light' },
    );
    const { kycUrl, customerId } = await world.invited(acme, { kycRedirectUrl: walletUrl, closeAfterLogin: true });
    await page.goto(kycUrl);
    await logIn(page, world.refreshPrices);
    await page.waitForURL(`${walletUrl}/?customerId=${customerId}&status=OTP_COMPLETED`);
    assert.deepEqual(amiss, []);
    await close();
  });

test('error pages pass the same checks', { skip: noChromium }, async () => {
  const { page, close } = await openWindow(
    { browser, mine: [world.baseUrl, walletUrl] },
    { width: 320, colorScheme: 'light' },
  );
  await page.goto(`${world.baseUrl}/kyc/nothing`);
  await isGood(page, 'This link does not work');
  await close();
});

/** Writes the rows of a settled order that was paid again. @returns the URL of its page */
async function paidAgain(partner: TestPartner, customerId: string): Promise<string> {
  const account = await partner.post('bank/addFiatAccount', {
    customerId,
    fiatAccount: '111222333444',
    ifsc: 'HDFC0001234',
  });
  await world.refreshPrices();
  const pair = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
  const { toAmount, rate } = (await partner.post('offramp/quote', pair)).body.data;
  const { fiatAccountId } = account.body.data;
  const sold = await partner.post('offramp/createTransaction', { ...pair, toAmount, rate, customerId, fiatAccountId });
  const orderId: string = sold.body.data.transactionId;
  await world.query(`update orders set state = 'settled', received_units = deposit_units where id = $1`, [orderId]);
  const [{ id: deposit, partner_id: partnerId }] = await world.query(
    `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, reference, seen_at, why, booked_to,
       confirmed_at)
     select deposit_rail, 'again-' || id, deposit_asset, deposit_units, deposit_target, id, partner_id, 'suspense',
            '0x' || repeat('c0ffee11', 8), now(), 'second_payment', 'suspense', now() from orders where id = $1
     returning id, partner_id`,
    [orderId],
  );
  const id = orderId.padStart(32, '0');
  const until = new Date(world.clock.now().getTime() + 3_600_000);
  await world.query(
    `insert into return_links (id, deposit_id, partner_id, customer_id, made_by, made_at, expires_at)
     values ($1, $2, $3, $4, 'ada', now(), $5)`,
    [id, deposit, partnerId, customerId, until],
  );
  const link = { id, partnerId: String(partnerId), customerId, until: until.getTime() };
  const token = encryptLink(world.vault, 'return', { ...link, redirectUrl: null, closeAfterLogin: false });
  return `${world.baseUrl}/return/${token}`;
}

/** @param looksLike what every page has, besides being good */
async function givesBack(
  screen: Screen,
  partner = acme,
  looksLike: (page: Page, title: string) => Promise<void> = async () => {},
): Promise<void> {
  const { page, amiss, close } = await openWindow({ browser, mine: [world.baseUrl, walletUrl] }, screen);
  const customerId = await world.customer(partner, partner.partner, `again-${screen.width}`);
  const isGood = async (at: Page, title: string): Promise<void> => {
    await isGoodAlone(at, title);
    await looksLike(at, title);
  };
  const url = await paidAgain(partner, customerId);
  await page.goto(url);
  await looksLike(page, 'Log in');
  await logIn(page, world.refreshPrices);
  await page.getByRole('heading', { name: 'Where we send your coins back' }).waitFor();
  await isGood(page, 'Where we send your coins back');
  await page.getByLabel('Your address').fill('0x52908400098527886E0F7030069857D2E4169Ee7');
  await press(page, 'Continue');
  await page.getByRole('alert').waitFor();
  await isGood(page, 'Where we send your coins back');
  await page.getByLabel('Your address').fill('0x52908400098527886E0F7030069857D2E4169EE7');
  await press(page, 'Continue');
  await page.getByRole('heading', { name: 'Is this your address?' }).waitFor();
  await isGood(page, 'Is this your address?');
  await press(page, 'Use another address');
  await page.getByRole('heading', { name: 'Where we send your coins back' }).waitFor();
  await page.getByLabel('Your address').fill('0x52908400098527886E0F7030069857D2E4169EE7');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Is this your address?' }).waitFor();
  await press(page, 'Yes, this is my address');
  await page.getByRole('heading', { name: 'We have your address' }).waitFor();
  await isGood(page, 'We have your address');
  assert.equal(page.url(), url, 'the URL is not that of the link alone');
  assert.deepEqual(amiss, []);
  await close();
}

if (isLong) {
  test(
    'a refund of crypto at 320 px: the deposit, the form for the address, the address in full, and the confirmation',
    { skip: noChromium },
    () => givesBack({ width: 320, colorScheme: 'light' }),
  );
  test('the same return at 1280 px, dark', { skip: noChromium }, () => givesBack({ width: 1280, colorScheme: 'dark' }));
}

const ACCENT = '#7a1fa2';
/** A partner whose pages have a name, a colour and a logo of its own. */
async function branded(): Promise<TestPartner> {
  const made = await world.partner('Zoë Wallet');
  const size = { width: 960, height: 288, channels: 4 } as const;
  const picture = await sharp({ create: { ...size, background: ACCENT } })
    .png()
    .toBuffer();
  const logo = await drawLogo(picture.toString('base64'), 1n);
  const change = { displayName: 'Zoë’s Coins', accent: ACCENT, logo, now: world.clock.now() };
  await world.db.asSystem((tx) => changeBranding(tx, { partnerId: made.partner.id, ...change }));
  return made;
}

if (isLong)
  test('every page of the return has name, colour and logo of its partner, light and dark', {
    skip: noChromium,
  }, async () => {
    const zoe = await branded();
    for (const [width, colorScheme] of [
      [320, 'dark'],
      [1280, 'light'],
    ] as const)
      await givesBack({ width, colorScheme }, zoe, async (page, title) => {
        await page.getByText('For Zoë’s Coins').waitFor();
        const at = `${title} at ${width} px`;
        assert.equal(await page.evaluate(`document.querySelector('img.logo').naturalWidth`), 480, at);
        const grounds = await page.evaluate<string[]>(
          `[...document.querySelectorAll('button')].map((one) => getComputedStyle(one).backgroundColor)`,
        );
        // On dark ground it is another one of the same hue.
        const isThere = grounds.includes('rgb(122, 31, 162)');
        assert.equal(isThere, colorScheme === 'light' && grounds.length > 0, `${at}: ${grounds.join(', ')}`);
        if (PICTURES === undefined) return;
        const name = `return-${title.replace(/[^A-Za-z]+/g, '-')}.${width}.${colorScheme}.png`;
        await page.screenshot({ path: join(PICTURES, name), fullPage: true });
      });
  });
