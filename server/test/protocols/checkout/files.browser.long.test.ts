/**
 * Verification with files in Chromium: a business on a small phone, light, without the script; a person on a desktop, dark, with
 * it; each to a refusal, a question and the end. Axe finds no problem, and nothing is wider than the screen.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { decideReview } from '../../../src/compliance/index.ts';
import { askInformation, givenDetails, saveForm } from '../../../src/customers/index.ts';
import { changeBranding } from '../../../src/partners/index.ts';
import { drawLogo } from '../../../src/protocols/v1/logo.ts';
import { noChromium, startChromium } from '../../support/chromium.ts';
import { pdf } from '../../support/pictures.ts';
import type { TestPartner } from '../whitelabel/environment.ts';
import { type PagesEnvironment, pagesEnvironment } from './environment.ts';
import { isGood, logIn, openWindow, press, type Screen } from './window.ts';

/** Folder for screenshots, for a person to look at. */
const PICTURES = process.env.FILES_PICTURES;

const FORM = {
  details: {
    companyName: { label: 'Registered name', required: 1 },
    registerNumber: { label: 'Register number', required: 1, regex: '^[A-Z]{2}[0-9]{6}$', example: 'HR471108' },
    seat: { label: 'Country of the register', required: 1, type: 'country' },
  },
  extract: { label: 'Extract of the register', required: 1, type: 'file' },
} as const;
const PERSON = {
  details: { name: { label: 'Full name', required: 1 }, taxNumber: { label: 'Tax number', required: 1 } },
  documents: {
    1: { idName: 'National ID', files: ['idFront1.jpg', 'idBack1.jpg', 'selfie.jpg'] },
    3: { idName: 'Passport', files: ['passportFront.jpg', 'selfie.jpg'] },
  },
} as const;

let world: PagesEnvironment;
let acme: TestPartner;
let browser: Browser;
let photo: Buffer;

before(async () => {
  if (noChromium !== undefined) return;
  world = await pagesEnvironment();
  acme = await world.partner('Acme Wallet');
  browser = await startChromium();
  photo = await sharp({ create: { width: 900, height: 600, channels: 3, background: '#7a1fa2' } })
    .jpeg()
    .toBuffer();
  world.clock.advance(1_000);
  const now = world.clock.now();
  const of = { needsDocument: true, effectiveAt: now, by: 'ada', now };
  const logo = await drawLogo((await sharp(photo).resize(480, 144).png().toBuffer()).toString('base64'), 1n);
  await world.db.asSystem(async (tx) => {
    await saveForm(tx, { kind: 'BUSINESS', form: FORM as unknown as Record<string, unknown>, ...of });
    await saveForm(tx, { kind: 'INDIVIDUAL', form: PERSON as unknown as Record<string, unknown>, ...of });
    await changeBranding(tx, { partnerId: acme.partner.id, displayName: null, accent: '#7a1fa2', logo, now });
  });
});
after(async () => {
  await browser?.close();
  await world?.stop();
});

async function decides(customerId: string, outcome: 'verified' | 'failed', fields = {}): Promise<void> {
  const of = { customerId, outcome, level: outcome === 'verified' ? 1 : 0, reason: 'looked at', told: 'looked at' };
  await world.db.asSystem(async (tx) => {
    const { version = 0 } = (await givenDetails(tx, customerId)) ?? {};
    await decideReview(tx, { ...of, version, fields, by: 'ada', now: world.clock.now() });
  });
}
const asks = (customerId: string, question: string) =>
  world.db.asSystem(async (tx) => {
    const now = world.clock.now();
    const dueAt = new Date(now.getTime() + 7 * 86_400_000);
    await askInformation(tx, world.vault, { customerId, question, dueAt, by: 'ada', now });
  });

/** @param picture its name, when one is taken */
async function looked(page: Page, title: string, picture: string): Promise<void> {
  await page.getByRole('heading', { name: title, level: 1 }).waitFor();
  await isGood(page, title);
  const { width = 0 } = page.viewportSize() ?? {};
  if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/${picture}.${width}.png`, fullPage: true });
}

const file = (name: string, buffer: Buffer, mimeType = 'image/jpeg') => ({ name, mimeType, buffer });

async function business(screen: Screen, hasScript: boolean): Promise<void> {
  const { kycUrl, customerId } = await world.invited(acme, { type: 'BUSINESS', kycRedirectUrl: '' });
  const { page, amiss, close } = await openWindow({ browser, mine: [world.baseUrl] }, screen);
  if (!hasScript)
    await page.route('**/page.js*', (route) => route.fulfill({ body: '', contentType: 'text/javascript' }));
  await page.goto(kycUrl);
  await logIn(page, world.refreshPrices);
  await looked(page, 'Your business', 'business-empty');
  await page.getByLabel('Registered name').fill('Rao Traders Private Limited');
  await press(page, 'Add an owner');
  await looked(page, 'Add an owner', 'business-owner');
  await press(page, 'Save');
  await looked(page, 'Add an owner', 'business-owner-wrong');
  await page.getByLabel('First name').fill('Asha');
  await page.getByLabel('Surname').fill('Rao');
  await page.getByLabel('Country of residence').selectOption('IN');
  await page.getByLabel('Share in percent').fill('51.5');
  await page.keyboard.press('Enter');
  await page.getByText('Together: 51.5 %').waitFor();
  assert.equal(await page.getByLabel('Registered name').inputValue(), 'Rao Traders Private Limited');
  await press(page, 'Add a director');
  await page.getByLabel('First name').fill('Meera Lakshmi Venkataraman');
  await page.getByLabel('Surname').fill('Nair-Balasubramanian');
  await press(page, 'Save');
  await page.getByText('Nair-Balasubramanian', { exact: false }).first().waitFor();
  // Enter sends, although other buttons stand before.
  await page.getByLabel('Registered name').press('Enter');
  await page.getByRole('heading', { name: 'There is a problem' }).waitFor();
  await looked(page, 'Your business', 'business-wrong');
  await page.getByRole('link', { name: 'Enter: Register number' }).click();
  assert.equal(await page.evaluate('document.activeElement.id'), 'answer-registerNumber');
  await page.getByLabel('Register number').fill('HR471108');
  await page.getByLabel('Country of the register').selectOption('IN');
  await page.getByLabel('Extract of the register').setInputFiles(file('extract.pdf', pdf(), 'application/pdf'));
  world.verifier.finding = { outcome: 'in_review', level: 0 };
  await press(page, 'Send for verification');
  await looked(page, 'We are checking your details', 'business-review');
  await asks(customerId, 'Who has owned the other 48.5 percent since 2 May? Send the contract of sale.');
  await page.goto(kycUrl);
  await looked(page, 'We are checking your details', 'business-asked');
  await page.getByRole('link', { name: /Answer by/ }).click();
  await looked(page, 'A question for you', 'question');
  await page
    .getByLabel('Files')
    .setInputFiles([file('contract.pdf', pdf(), 'application/pdf'), file('page.jpg', photo)]);
  await press(page, 'Send the answer');
  await page.getByRole('alert').waitFor();
  await looked(page, 'A question for you', 'question-wrong');
  await page.getByLabel('Your answer').fill('Vikram Sen. See the contract.');
  await press(page, 'Send the answer');
  await page.getByRole('heading', { name: 'We are checking your details' }).waitFor();
  await decides(customerId, 'failed', { owners: 'incomplete', extract: 'expired' });
  await page.goto(kycUrl);
  await page.getByRole('heading', { name: 'We need these again' }).waitFor();
  await looked(page, 'Your business', 'business-refused');
  await press(page, 'Add an owner');
  await page.getByLabel('First name').fill('Vikram');
  await page.getByLabel('Surname').fill('Sen');
  await page.getByLabel('Share in percent').fill('48.5');
  await press(page, 'Save');
  await page.getByText('Together: 100 %').waitFor();
  await page.getByLabel('Extract of the register').setInputFiles(file('extract.jpg', photo));
  await press(page, 'Send for verification');
  await page.getByRole('heading', { name: 'We are checking your details' }).waitFor();
  await decides(customerId, 'verified');
  world.verifier.finding = undefined;
  await page.goto(kycUrl);
  await looked(page, 'You are verified', 'verified');
  assert.deepEqual(amiss, []);
  await close();
}

async function person(screen: Screen): Promise<void> {
  const { kycUrl, customerId } = await world.invited(acme, { kycRedirectUrl: '' });
  const { page, amiss, close } = await openWindow({ browser, mine: [world.baseUrl] }, screen);
  world.verifier.finding = undefined;
  await page.goto(kycUrl);
  await logIn(page, world.refreshPrices);
  await looked(page, 'Your details', 'person-empty');
  // The keyboard opens another kind of document, and closes the first.
  await page.locator('summary', { hasText: 'Passport' }).focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Page with your photo').waitFor();
  assert.equal(await page.getByLabel('Front').isVisible(), false);

  const hostile = '<img src=x onerror=alert(1)>.jpg';
  await drop(page, 'passportFront.jpg', hostile, photo);
  const dropped = `document.getElementById('file-passportFront.jpg').files[0]?.name`;
  assert.equal(await page.evaluate(dropped), hostile);
  await page.getByLabel('A photo of your face').setInputFiles(file('big.jpg', Buffer.alloc(5 * 1_048_576 + 1)));
  await page.getByText('This file is larger than 5 MB').waitFor();
  await press(page, 'Send my details');
  assert.equal(
    await page.locator('.sending.wrong').innerText(),
    'This file is larger than 5 MB. Choose a smaller one.',
  );
  await looked(page, 'Your details', 'person-too-big');
  await page
    .getByLabel('A photo of your face')
    .setInputFiles(file('face.jpg', Buffer.from('<svg onload="alert(1)"/>')));
  await page.getByLabel('Full name').fill('Zebulon Quagmire');
  await page.getByLabel('Tax number').fill('ZQ471108');
  await press(page, 'Send my details');
  await page.getByRole('link', { name: 'A photo of your face must be a JPEG, PNG, WEBP or PDF' }).waitFor();
  assert.equal(await page.evaluate('document.activeElement.className'), 'problems', 'the problems have no focus');
  await looked(page, 'Your details', 'person-wrong');
  assert.equal(await page.getByLabel('Full name').inputValue(), 'Zebulon Quagmire');
  await page.getByText('Received: JPEG').waitFor();

  await page.getByLabel('A photo of your face').setInputFiles(file('face.jpg', photo));
  world.verifier.finding = {
    outcome: 'failed',
    level: 0,
    fields: { taxNumber: 'does_not_match', 'selfie.jpg': 'unreadable' },
  };
  await press(page, 'Send my details');
  await page.getByRole('heading', { name: 'We need these again' }).waitFor();
  await looked(page, 'Your details', 'person-refused');
  world.verifier.finding = undefined;
  await page.getByLabel('Tax number').fill('ZQ471109');
  await page.getByLabel('A photo of your face').setInputFiles(file('face.jpg', photo));
  await press(page, 'Send my details');
  await page.getByRole('heading', { name: 'You are verified' }).waitFor();
  assert.equal(page.url(), kycUrl);
  await asks(customerId, 'Where do you live?');
  await page.goto(kycUrl);
  await page.getByRole('link', { name: /Answer by/ }).click();
  await page.getByLabel('Files').setInputFiles([file(hostile, photo), file('b.jpg', photo)]);
  await page.getByText(`Chosen: ${hostile}, b.jpg`).waitFor();
  await looked(page, 'A question for you', 'person-question');
  await page.getByLabel('Your answer').fill('At home.');
  await press(page, 'Send the answer');
  await page.getByRole('heading', { name: 'You are verified' }).waitFor();
  const rows = await world.query('select id from submissions where customer_id = $1', [customerId]);
  assert.equal(rows.length, 1);
  assert.deepEqual(amiss, []);
  await close();
}

/** A file that is dropped on a field, from its content in hex. */
async function drop(page: Page, slot: string, name: string, content: Buffer): Promise<void> {
  await page.evaluate(`(() => {
    const bytes = Uint8Array.from('${content.toString('hex')}'.match(/../g), (two) => parseInt(two, 16));
    const data = new DataTransfer();
    data.items.add(new File([bytes], ${JSON.stringify(name)}, { type: 'image/jpeg' }));
    const field = document.getElementById('file-${slot}').closest('.file');
    for (const type of ['dragenter', 'dragover', 'drop'])
      field.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
  })()`);
}

test('a business is verified by the page alone at 390 px, without the script', { skip: noChromium }, () =>
  business({ width: 390, colorScheme: 'light' }, false),
);
test(
  'a person is verified by the page alone at 1440 px, dark, with files dropped and refused',
  { skip: noChromium },
  () => person({ width: 1440, colorScheme: 'dark' }),
);
