/**
 * The verification page with a form that operators have set, and drafts of it: begun on a phone, continued and sent on a desktop, in
 * Chromium. And over HTTP what such a page refuses, keeps and forgets.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import {
  emptyOldDrafts,
  eraseCustomerRows,
  openDraft,
  openGivenDetails,
  saveForm,
} from '../../../src/customers/index.ts';
import { noChromium, startChromium } from '../../support/chromium.ts';
import type { TestPartner } from '../whitelabel/environment.ts';
import { DETAILS, openBrowser, type PagesEnvironment, pagesEnvironment, unescaped } from './environment.ts';
import { isGood, logIn, openWindow, press } from './window.ts';

const FORM = {
  firstName: { label: 'Given name', required: 1, regex: '^(?!\\s).*$' },
  lastName: { label: 'Family name', required: 1 },
  details: {
    dob: { label: 'Born on', required: 1, type: 'date' },
    identityNumber: { label: 'Tax number', required: 1, regex: '^[A-Z]{2}[0-9]{6}$', example: 'AB123456' },
    country: { label: 'Country of residence', required: 1, type: 'country' },
  },
  sourceOfWealth: {
    wealth: { label: 'Where your wealth is from', required: 1, type: 'select', options: ['Work', 'Heritage & gifts'] },
    note: { label: 'Anything else', required: 0 },
  },
} as const;
const ANSWERS = {
  firstName: 'Zebulon',
  lastName: 'Quagmire-Ōtaki',
  dob: '1984-02-29',
  identityNumber: 'ZQ471108',
  country: 'PT',
  wealth: 'Heritage & gifts',
};
const onPage = (answers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(answers).map(([name, value]) => [`answer-${name}`, value]));

let world: PagesEnvironment;
let acme: TestPartner;
let browser: Browser;

before(async () => {
  world = await pagesEnvironment();
  acme = await world.partner('Acme Wallet');
  if (noChromium === undefined) browser = await startChromium();
});
after(async () => {
  await browser?.close();
  await world?.stop();
});
beforeEach(() => {
  world.verifier.finding = undefined;
});

/** Of persons, for the level from which the partner lets its customers trade. */
async function sets(form: object, needsDocument = false): Promise<void> {
  world.clock.advance(1_000);
  const now = world.clock.now();
  const given = { form: form as Record<string, unknown>, needsDocument, effectiveAt: now, by: 'ada, bea', now };
  await world.db.asSystem((tx) => saveForm(tx, { kind: 'INDIVIDUAL', ...given }));
}
/** A customer is sent another code after a while. */
const anotherCode = (): void => world.clock.advance(5 * 60_000);
const detailsOf = (id: string) => world.db.asSystem((tx) => openGivenDetails(tx, world.vault, id));
const draftOf = (id: string) => world.db.asSystem((tx) => openDraft(tx, world.vault, id));
const valueOf = (text: string, name: string): string | undefined => {
  const found = new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(text)?.[1];
  return found === undefined ? undefined : unescaped(found);
};

describe('our own form', () => {
  test('is saved in part on one device and continued on another, after a login; nothing is sent before it is said so', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const phone = openBrowser();
    await phone.login(kycUrl);
    const saved = await phone.go('draft', { firstName: DETAILS.firstName, city: DETAILS.city });
    assert.deepEqual([saved.status, saved.title], [200, 'Your details']);
    assert.match(saved.text, /Saved\. Open the link again/);
    assert.equal(await detailsOf(customerId), undefined, 'a draft was sent to the verifier');

    const wrong = await phone.go('draft', { firstName: DETAILS.firstName, dob: '2999-01-01' });
    assert.equal(wrong.status, 400);
    assert.equal((await draftOf(customerId)).dob, undefined, 'a malformed answer was saved');

    anotherCode();
    const desktop = openBrowser();
    const asked = await desktop.open(kycUrl);
    assert.doesNotMatch(asked.text, /Zebulon/, 'a draft is shown before the login');
    const shown = await desktop.login(kycUrl);
    assert.deepEqual(
      [valueOf(shown.text, 'firstName'), valueOf(shown.text, 'city')],
      [DETAILS.firstName, DETAILS.city],
    );
    assert.equal((await desktop.go('details', DETAILS)).title, 'You are verified');
    assert.deepEqual(await draftOf(customerId), {}, 'a draft is kept after it was sent');
    assert.equal((await phone.go('draft', { firstName: 'Another' })).title, 'You are verified');
    assert.deepEqual(await draftOf(customerId), {}, 'a draft was saved of what is done');
  });

  test('is kept by no one else, in no clear byte, for a month at most, and ends with an erasure', async () => {
    const [one, other] = [await world.invited(acme), await world.invited(acme)];
    for (const { kycUrl } of [one, other]) {
      const device = openBrowser();
      await device.login(kycUrl);
      await device.go('draft', { firstName: 'Xanthippe', identityNumber: 'XV998877' });
    }
    const rows = await world.query('select t::text as row from hosted_drafts t');
    for (const { row } of rows) assert.doesNotMatch(row, new RegExp(Buffer.from('XV998877').toString('hex')));
    await world.partner('Stranger');
    const [stranger] = await world.query("select id from partners where name = 'Stranger'");
    const seen = await world.db.asPartner(BigInt(stranger.id), (tx) => openDraft(tx, world.vault, one.customerId));
    assert.deepEqual(seen, {});
    await world.db.asSystem((tx) =>
      eraseCustomerRows(tx, { customerId: one.customerId, deposits: [], now: world.clock.now() }),
    );
    assert.deepEqual([await draftOf(one.customerId), (await draftOf(other.customerId)).firstName], [{}, 'Xanthippe']);
    const { length } = Object.keys(await draftOf(other.customerId));
    await emptyOldDrafts(world.db, new Date(world.clock.now().getTime() + 29 * 86_400_000));
    assert.equal(Object.keys(await draftOf(other.customerId)).length, length);
    await emptyOldDrafts(world.db, new Date(world.clock.now().getTime() + 31 * 86_400_000));
    assert.deepEqual(await draftOf(other.customerId), {});
  });
});

describe('a form that operators have set', () => {
  before(() => sets(FORM));

  test('is what the page asks, with its labels, and refuses what programs are refused, naming rule and example', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const device = openBrowser();
    const shown = await device.login(kycUrl);
    for (const label of ['Given name', 'Born on', 'Tax number', 'Where your wealth is from', 'Source of wealth'])
      assert.ok(shown.text.includes(label), label);
    assert.ok(!shown.text.includes('Postal code'), 'the page asks what the form does not');
    assert.match(unescaped(shown.text), /<option value="Heritage & gifts">/);
    assert.match(shown.text, /<option value="PT">Portugal<\/option>/);

    const wrong = { ...ANSWERS, identityNumber: 'zq471108', wealth: 'Luck', country: 'XX', dob: '2999-01-01' };
    const refused = await device.go('details', onPage(wrong));
    assert.equal(refused.status, 400);
    const said = unescaped(refused.text);
    assert.ok(said.includes('Tax number must match ^[A-Z]{2}[0-9]{6}$, for example AB123456'), said);
    assert.match(said, /Where your wealth is from must be one of Work, Heritage & gifts/);
    assert.match(said, /Born on must be a day in the past/);
    assert.match(said, /Country of residence must be a country/);
    assert.equal(valueOf(refused.text, 'answer-firstName'), 'Zebulon', 'what was right is lost');
    const missing = await device.go('details', onPage({ ...ANSWERS, lastName: '' }));
    assert.match(missing.text, /Enter: Family name/);
    const long = await device.go('details', onPage({ ...ANSWERS, note: 'x'.repeat(257) }));
    assert.match(long.text, /Anything else must have at most 256 characters/);
    assert.equal(await detailsOf(customerId), undefined);

    assert.equal(
      (await device.go('details', { ...onPage(ANSWERS), 'answer-level': '5', city: 'Pune' })).title,
      'You are verified',
    );
    assert.deepEqual(await detailsOf(customerId), ANSWERS);
  });

  test('goes on with what a program has sent, and after a refusal changes only what was refused', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const { lastName, firstName } = ANSWERS;
    const begun = await acme.post('kyc/submitData', { customerId, fiatType: 1, firstName, lastName });
    assert.equal(begun.status, 200, begun.text);
    const device = openBrowser();
    const shown = await device.login(kycUrl);
    assert.equal(valueOf(shown.text, 'answer-lastName'), lastName);
    world.verifier.finding = { outcome: 'failed', level: 0, fields: { identityNumber: 'not_accepted' } };
    const failed = await device.go('details', onPage(ANSWERS));
    assert.match(failed.text, /Tax number is not accepted/);
    world.verifier.finding = undefined;
    const other = await device.go('details', onPage({ ...ANSWERS, identityNumber: 'ZQ471109', firstName: 'Usha' }));
    assert.equal(other.status, 400);
    assert.match(other.text, /Given name was accepted: only identityNumber may be sent again/);
    const again = await device.go('details', onPage({ ...ANSWERS, identityNumber: 'ZQ471109' }));
    assert.equal(again.title, 'You are verified');
    assert.equal((await detailsOf(customerId))?.identityNumber, 'ZQ471109');
  });

  test('begun on a phone, saved, and sent on a desktop: the same in Chromium', { skip: noChromium }, async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const machine = { browser, mine: [world.baseUrl] };
    const phone = await openWindow(machine, { width: 320, colorScheme: 'light' });
    await phone.page.goto(kycUrl);
    await logIn(phone.page);
    await phone.page.getByRole('heading', { name: 'Your details' }).waitFor();
    await isGood(phone.page, 'Your details');
    await phone.page.getByLabel('Given name').fill(ANSWERS.firstName);
    await phone.page.getByLabel('Country of residence').selectOption('PT');
    await press(phone.page, 'Save and continue later');
    await phone.page.getByText('Saved. Open the link again').waitFor();
    await isGood(phone.page, 'Your details');
    await pictured(phone.page, 'phone');

    anotherCode();
    const desktop = await openWindow(machine, { width: 1280, colorScheme: 'dark' });
    await desktop.page.goto(kycUrl);
    await logIn(desktop.page);
    await desktop.page.getByRole('heading', { name: 'Your details' }).waitFor();
    assert.equal(await desktop.page.getByLabel('Given name').inputValue(), ANSWERS.firstName);
    assert.equal(await desktop.page.getByLabel('Country of residence').inputValue(), 'PT');
    await press(desktop.page, 'Send my details');
    await isGood(desktop.page, 'Your details');
    await pictured(desktop.page, 'desktop');
    await desktop.page.getByRole('link', { name: 'Enter: Family name' }).click();
    assert.equal(await desktop.page.evaluate('document.activeElement.id'), 'answer-lastName');
    await desktop.page.getByLabel('Family name').fill(ANSWERS.lastName);
    await desktop.page.getByLabel('Born on').fill(ANSWERS.dob);
    await desktop.page.getByLabel('Tax number').fill(ANSWERS.identityNumber);
    await desktop.page.getByLabel('Where your wealth is from').selectOption(ANSWERS.wealth);
    // The keyboard sends the form; it does not only save it.
    await desktop.page.getByLabel('Tax number').press('Enter');
    await desktop.page.getByRole('heading', { name: 'You are verified' }).waitFor();
    assert.deepEqual(await detailsOf(customerId), ANSWERS);
    assert.deepEqual([...phone.amiss, ...desktop.amiss], []);
    await phone.close();
    await desktop.close();
  });
});

/** For a person who looks at the pages: FORMS_PICTURES names a folder. */
async function pictured(page: Page, name: string): Promise<void> {
  const folder = process.env.FORMS_PICTURES;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
