/**
 * Attacks on the console in a real browser: a script in every field that others fill in stays a text on every page that shows it,
 * and no address leads from the login to another site.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { openCase } from '../../src/compliance/index.ts';
import { buildConsole } from '../../src/console/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { openStory, type Story } from '../support/story.ts';
import { type Desk, deskOf, formOn, openDesk, signIn } from './window.ts';

/** Each with the field's name in it, so that a page shows which field it is. */
const script = (field: string): string => `<img src=x onerror="document.title='${field}'">`;

describe('the console under attack', { skip: noChromium }, () => {
  let world: Story;
  let browser: Browser;
  let origin: string;
  let ada: Desk & { person: Person };
  /** Page by page, the fields that it shows. */
  let shown: readonly [path: string, fields: readonly string[]][];
  /** A deposit whose payer has a script for a name and for the text of the transfer. */
  let deposit: string;

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await openStory({ operators: 'two' });
    origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    browser = await startChromium();
    const { db, baseUrl } = world.server;
    ada = await deskOf(browser, origin, { db, baseUrl, clock: world.clock }, 'ada');
    const does = async (path: string, body: Record<string, unknown>) => {
      const said = await ada.person.does(path, body);
      assert.ok(said.status < 300, `${path}: ${JSON.stringify(said.body)}`);
      return said.body;
    };
    const sale = await world.sells('20', 'usdc');
    const partner = String((await world.traceOf(sale)).order.partnerId);
    const purchase = await world.buys('5000', 'usdc');
    await world.credits(purchase, '5000', { text: script('text'), name: script('payer') });
    deposit = await world.until('the credit waits in suspense', async () => {
      const { suspense } = (await ada.person.reads('/suspense')).body;
      return suspense.find((one: { asset: string }) => one.asset === 'inr')?.deposit;
    });
    await world.pays(sale, '20');
    await world.until('it is paid out', async () => (await world.stateOf(sale)) === 'settled');
    const [payout] = (await ada.person.reads(`/payouts?partner=${partner}`)).body.payouts;
    const now = world.clock.now();
    await world.read(async (tx) => {
      // As a bank explains a rejection, in its own words.
      await tx.run('update payouts set why = $1 where id = $2', [script('bank'), payout.id]);
      await tx.run('update partners set name = $1 where id = $2', [script('partner'), partner]);
      const reason = script('case');
      await openCase(tx, { kind: 'treasury_low', subject: 'scripts', reason, facts: { note: script('fact') }, now });
    });
    const { cases } = (await ada.person.reads('/cases?kind=treasury_low')).body;
    const about = cases.find(({ subject }: { subject: string }) => subject === 'scripts').id;
    await does(`/cases/${about}/note`, { reason: script('note') });
    await does(`/partners/${partner}/keys`, { label: script('key'), scopes: ['read'], reason: script('audit') });
    await does('/kill-switches', { kind: 'partner', subject: partner, reason: script('switch') });
    const { page } = ada;
    await page.goto(`${origin}/console/cases/${about}`);
    const name = `${script('file')}.txt`;
    await page
      .getByLabel('File', { exact: true })
      .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(script('content')) });
    const attached = page.getByRole('region', { name: 'Attachments' });
    await attached.getByLabel('Reason').fill('it came by mail');
    await attached.getByRole('button', { name: 'Attach' }).click();
    await attached.getByText('The file is attached.').waitFor();
    const { proposal } = await does('/operators/ada/role', { role: 'finance', reason: script('proposal') });
    assert.ok(proposal, 'a role takes one person');
    shown = [
      ['/partners', ['partner']],
      [`/partners/${partner}`, ['partner', 'key', 'switch']],
      [`/cases/${about}`, ['case', 'fact', 'note', 'file']],
      ['/cases', ['case']],
      ['/payouts', ['bank']],
      [`/payouts/${payout.id}`, ['bank']],
      ['/kill-switches', ['switch']],
      [`/proposals/${proposal}`, ['proposal']],
      ['/audit', ['audit', 'note', 'switch', 'proposal']],
      [`/search?text=${encodeURIComponent(script('search').replaceAll(' ', ''))}`, ['search']],
    ];
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  test('a script in any field is shown as the text that it is, and runs nowhere', async () => {
    const { page } = ada;
    const missing: string[] = [];
    for (const [path, fields] of shown) {
      await page.goto(`${origin}/console${path}`);
      await page.locator('h1').waitFor();
      for (const field of fields) {
        const text = field === 'search' ? script(field).replaceAll(' ', '') : script(field);
        await page
          .getByText(text)
          .first()
          .waitFor({ timeout: 10_000 })
          .catch(() => missing.push(`${field} on ${path}`));
        assert.notEqual(await page.title(), field, `the script of ${field} ran on ${path}`);
      }
      assert.equal(await page.locator('img[src="x"]').count(), 0, `${path} has an element of a text`);
    }
    assert.deepEqual(missing, [], 'these fields were not shown: nothing is proven of them');
    assert.deepEqual(ada.amiss, []);
  });

  test('the name and the text of a payer are shown to who asks for them, as the texts that they are', async () => {
    const { page } = ada;
    const form = formOn(page);
    for (const path of [`/deposits/${deposit}`, '/suspense', '/bank-lines', '/cases']) {
      await page.goto(`${origin}/console${path}`);
      await page.locator('h1').waitFor();
      assert.equal(await page.getByText(script('payer')).count(), 0, `${path} names the payer to everybody`);
    }
    await page.goto(`${origin}/console/deposits/${deposit}`);
    await form.opens('Look at the payer');
    await form.sends('the payer rang us');
    for (const field of ['payer', 'text']) {
      await form.dialog().getByText(script(field)).first().waitFor();
      assert.notEqual(await page.title(), field, `the script of ${field} ran`);
    }
    assert.equal(await page.locator('img[src="x"]').count(), 0);
    assert.deepEqual(ada.amiss, []);
  });

  test('a file with a script in it is shown as its text', async () => {
    const { page } = ada;
    const form = formOn(page);
    await page.goto(`${origin}/console${shown.find(([path]) => /cases\/\d/.test(path))?.[0]}`);
    await form.opens(`Look at: ${script('file')}.txt`);
    await form.sends('what does it say');
    await page.locator('pre', { hasText: script('content') }).waitFor();
    assert.notEqual(await page.title(), 'content');
    assert.equal(await page.locator('img[src="x"]').count(), 0);
  });

  test('no address of the console leads to another site, before the login or after it', async () => {
    const desk = await openDesk(browser, origin);
    const { page } = desk;
    const left: string[] = [];
    page.on('framenavigated', (frame) => {
      if (!frame.url().startsWith(`${origin}/`) && frame.url() !== 'about:blank') left.push(frame.url());
    });
    for (const path of [
      '/console/?redirect=https://evil.test/',
      '/console/?next=//evil.test&return_to=//evil.test&url=https://evil.test',
      '/console//evil.test',
      '/console/%2F%2Fevil.test',
      '/console/%5C%5Cevil.test',
      '/console/https:%2F%2Fevil.test',
      '/console/javascript:document.title=1',
      '/console/?returnTo=javascript:document.title=1',
      '/console/?next=%5C%5Cevil.test',
      '/console/#https://evil.test',
      '/partner/?redirect=https://evil.test/',
      '/partner//evil.test',
    ]) {
      await page.goto(`${origin}${path}`);
      await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
      assert.equal(new URL(page.url()).origin, origin, path);
    }
    const signed = ada.page;
    for (const path of [
      '/console/?redirect=https://evil.test/',
      '/console/?next=//evil.test',
      '/console/?returnTo=javascript:document.title=1',
      '/console/?next=%5C%5Cevil.test',
      '/console//evil.test',
      '/console/%2F%2Fevil.test',
    ]) {
      await signed.goto(`${origin}/console/`);
      await signed.getByRole('button', { name: 'Sign out' }).click();
      // A page that is left earlier takes its request along.
      await signed.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
      await signed.goto(`${origin}${path}`);
      await signIn(signed, 'ada');
      assert.equal(new URL(signed.url()).origin, origin, path);
      assert.notEqual(await signed.title(), '1', path);
      const links: string[] = await signed.evaluate(
        `[...document.querySelectorAll('a[href]')].map(({ href }) => href)`,
      );
      assert.deepEqual(
        links.filter((href) => !href.startsWith(`${origin}/`)),
        [],
        `${path} links elsewhere`,
      );
    }
    assert.deepEqual(left, []);
    assert.deepEqual(
      [...desk.amiss, ...ada.amiss].filter((one) => one.includes('evil')),
      [],
    );
    await desk.close();
  });
});
