/**
 * An operator's night shift in a real browser: alert rules, a case that a colleague has claimed, its runbook, breaks, sweeps,
 * terms, and a key whose secret is shown once. Without chains and banks: the other files of this folder test moving money.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import sharp from 'sharp';
import { openFolder } from '../../src/base/blobs.ts';
import { openCase } from '../../src/compliance/index.ts';
import { buildConsole, CONSOLE, consolePages } from '../../src/console/index.ts';
import { readHandbook } from '../../src/protocols/operator/index.ts';
import { oneOrTwoDo, type Person } from '../protocols/operator/people.ts';
import { type Environment, wireEnvironment } from '../protocols/whitelabel/environment.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { operatorApi } from '../support/operatorapi.ts';
import { pdf } from '../support/pictures.ts';
import { until } from '../support/until.ts';
import { type Desk, deskOf, formOn, isGood } from './window.ts';

const DOCS = join(CONSOLE, '../docs');

describe('a night at the console', { skip: noChromium }, () => {
  let world: Environment;
  let browser: Browser;
  let origin: string;
  let ada: Desk & { person: Person };
  let bea: Desk & { person: Person };

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await wireEnvironment({
      beside: (fixture) => async (app) => {
        const publicUrl = () => fixture.publicUrl().replace('127.0.0.1', 'localhost');
        await app.register(
          operatorApi(fixture, {
            ...{ publicUrl, profile: 'sandbox', alertChannels: ['webhook'], loginsPerMinute: 200 },
            handbook: (page) => readHandbook(DOCS, page),
            blobs: openFolder(fixture.blobFolder),
          }),
        );
        await app.register(consolePages({ dist: join(CONSOLE, 'dist'), publicUrl }));
      },
    });
    origin = world.baseUrl.replace('127.0.0.1', 'localhost');
    browser = await startChromium();
    ada = await deskOf(browser, origin, world, 'ada');
    bea = await deskOf(browser, origin, world, 'bea');
  });
  after(async () => {
    await browser?.close();
    await world?.stop();
  });
  const goes = (path: string) => ada.page.goto(`${origin}/console${path}`);

  test('an alert rule is set, changed, tested and removed, and the page shows its messages', async () => {
    const { page } = ada;
    const form = formOn(page);
    await goes('/alerts');
    await page.getByText('There is no rule.').waitFor();
    await form.opens('Set a rule');
    await form.dialog().getByLabel('Name').fill('night');
    await form.dialog().getByLabel('Channel').selectOption('webhook');
    await form.dialog().getByLabel('Tells of').selectOption('opened');
    await form.dialog().getByLabel('Kinds').fill('nonsense');
    await form.sends('somebody has to wake up');
    await form.dialog().getByText('must be kinds of case').first().waitFor();
    await isGood(page, 'Alerts', 'Form, alert');
    await form.dialog().getByLabel('Kinds').fill('payout_contradiction');
    await form.sends('somebody has to wake up');
    await form.isDone();
    await form.opens('Test: night');
    await form.sends('does it arrive');
    await form.isDone();
    await page.getByRole('link', { name: 'a test of this alert' }).waitFor();
    await page.getByText('waiting', { exact: true }).waitFor();
    await isGood(page, 'Alerts');
    await form.opens('Change: night');
    await form.dialog().getByLabel('From hour').fill('22');
    await form.dialog().getByLabel('Until hour').fill('6');
    await form.sends('only at night');
    await form.isDone();
    await page.getByText('22:00 to 06:00').waitFor();
    await form.opens('Remove: night');
    await form.sends('no longer');
    await form.isDone();
    await page.getByText('There is no rule.').waitFor();
  });

  test('a case that a colleague has claimed says so, cannot be closed, and is taken over', async () => {
    await world.db.asSystem((tx) =>
      openCase(tx, {
        ...{ kind: 'payout_contradiction', subject: 'payout:pay_7_1', reason: 'refused, then paid' },
        ...{ facts: { asset: 'inr', units: 120_000n }, now: world.clock.now() },
      }),
    );
    await goes('/');
    await ada.page
      .getByRole('region', { name: 'Most urgent' })
      .getByRole('link', { name: 'payout contradiction' })
      .waitFor();
    await isGood(ada.page, 'What needs a person', 'Home, a case is due');
    const { cases } = (await bea.person.reads('/cases?kind=payout_contradiction')).body;
    const path = `/cases/${cases[0].id}`;
    assert.equal((await bea.person.does(`${path}/assign`, { to: 'bea' })).status, 200);
    const { page } = ada;
    const form = formOn(page);
    await goes(path);
    await page.getByText('bea works on this case').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Close' }).isDisabled(), true);
    const runbook = page.getByRole('region', { name: 'Runbook' });
    await runbook.getByText('Two reports about one payout').waitFor();
    await isGood(page, await page.locator('h1').innerText(), 'Case of a colleague');
    await form.opens('Take over');
    await form.sends('bea sleeps');
    await form.dialog().getByText('The case is claimed by bea').waitFor();
    await form.dialog().getByLabel('Take it over').check();
    await form.sends('bea sleeps');
    await form.isDone();
    await page.getByText('bea works on this case').waitFor({ state: 'detached' });
    await bea.page.goto(`${origin}/console${path}`);
    await bea.page.getByText('ada works on this case').waitFor();
    await runbook.getByRole('link', { name: 'Whole page' }).click();
    await page.getByRole('heading', { level: 1, name: 'Orders and payouts' }).waitFor();
    await isGood(page, 'Orders and payouts', 'Handbook');
  });

  test('a file is dropped on a case and chosen by keyboard, a hostile one is refused, and one is saved and removed by two', async () => {
    const { page } = ada;
    const form = formOn(page);
    await world.db.asSystem((tx) =>
      openCase(tx, {
        ...{ kind: 'uncovered', subject: 'rail:bank', reason: 'more left than was there' },
        ...{ facts: {}, now: world.clock.now() },
      }),
    );
    const { cases } = (await ada.person.reads('/cases?kind=uncovered')).body;
    await goes(`/cases/${cases[0].id}`);
    const panel = page.getByRole('region', { name: 'Attachments' });
    await panel.getByText('None.').waitFor();
    const letter = pdf();
    await page.evaluate(
      `(() => {
        const files = new DataTransfer();
        const bytes = Uint8Array.from(atob('${letter.toString('base64')}'), (one) => one.charCodeAt(0));
        files.items.add(new File([bytes], 'letter of the bank.pdf', { type: 'application/pdf' }));
        const form = document.querySelector('form.drop');
        form.dispatchEvent(new DragEvent('dragover', { dataTransfer: files, bubbles: true, cancelable: true }));
        form.dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }));
      })()`,
    );
    assert.equal(await panel.getByLabel('What it shows').inputValue(), 'letter of the bank.pdf');
    await panel.getByLabel('Reason').fill('it came by mail');
    await page.keyboard.press('Enter');
    await panel.getByText('The file is attached.').waitFor();
    await panel.getByRole('button', { name: 'Save: letter of the bank.pdf' }).waitFor();

    const script = { name: '<img src=x>.png', mimeType: 'image/png', buffer: Buffer.from('<html><script>1</script>') };
    await panel.getByLabel('File', { exact: true }).setInputFiles(script);
    await panel.getByLabel('Reason').fill('a second page');
    await panel.getByRole('button', { name: 'Attach' }).click();
    await panel.getByText(/must be a JPEG, PNG, WEBP or PDF, or plain text/).waitFor();
    await isGood(page, await page.locator('h1').innerText(), 'Case with attachments');
    const note = { name: '<img src=x>.txt', mimeType: 'text/plain', buffer: Buffer.from('rang the bank at 03:10') };
    await panel.getByLabel('File', { exact: true }).setInputFiles(note);
    await panel.getByRole('button', { name: 'Attach' }).click();
    await panel.getByText('<img src=x>.txt', { exact: true }).waitFor();

    const saved = page.waitForEvent('download');
    await form.opens('Save: letter of the bank.pdf');
    await form.sends('to compare it');
    const download = await saved;
    assert.match(download.suggestedFilename(), /^case-\d+-[0-9a-f]{8}\.pdf$/);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    assert.ok(Buffer.concat(chunks).equals(letter));
    await form.isDone();
    await form.opens('Remove: letter of the bank.pdf');
    await form.sends('the wrong customer');
    await form.isConfirmedBy(bea.page, 'case.detach', `case:${cases[0].id}`);
    await panel.getByText(/^removed/).waitFor();
    await isGood(page, await page.locator('h1').innerText(), 'Case with a removed attachment');
  });

  test('a picture and a text are shown in the page after a reason, with a mark, and a hostile file is not rendered', async () => {
    const { page } = ada;
    const form = formOn(page);
    await world.db.asSystem((tx) =>
      openCase(tx, {
        ...{ kind: 'uncovered', subject: 'rail:evm.matic20', reason: 'more left than was there' },
        ...{ facts: {}, now: world.clock.now() },
      }),
    );
    const { cases } = (await ada.person.reads('/cases?kind=uncovered')).body;
    const { id } = cases.find(({ subject }: { subject: string }) => subject === 'rail:evm.matic20');
    await goes(`/cases/${id}`);
    const panel = page.getByRole('region', { name: 'Attachments' });
    const photo = await sharp({ create: { width: 320, height: 200, channels: 3, background: '#9c2a5f' } })
      .png()
      .toBuffer();
    for (const [name, mimeType, buffer] of [
      ['photo.png', 'image/png', photo],
      ['note.txt', 'text/plain', Buffer.from('rang the bank at 03:10\nno answer')],
      ['letter.pdf', 'application/pdf', pdf()],
    ] as const) {
      await panel.getByLabel('File', { exact: true }).setInputFiles({ name, mimeType, buffer });
      await panel.getByLabel('Reason').fill('it came by mail');
      await panel.getByRole('button', { name: 'Attach' }).click();
      await panel.getByRole('button', { name: `Save: ${name}` }).waitFor();
    }
    assert.equal(await panel.locator('img, pre').count(), 0, 'a file is shown before it was opened');
    const looksAt = async (name: string) => {
      await form.opens(`Look at: ${name}`);
      await form.sends('what does it show');
    };
    await looksAt('photo.png');
    const image = panel.getByRole('img', { name: 'photo.png' });
    await image.waitFor();
    await until('the picture is drawn', () =>
      page.evaluate(`document.querySelector('.panel img').naturalWidth === 320`),
    );
    assert.match(
      String(await panel.locator('.marked:has(img)').getAttribute('data-mark')),
      /^ada \d{4}-\d\d-\d\d \d\d:\d\d UTC$/,
    );
    await looksAt('note.txt');
    await panel.locator('pre', { hasText: 'rang the bank at 03:10' }).waitFor();
    await panel.getByRole('button', { name: 'Look at: letter.pdf' }).waitFor();
    await isGood(page, await page.locator('h1').innerText(), 'Case with a picture shown');
    await panel.getByRole('button', { name: 'Hide: photo.png' }).click();
    await image.waitFor({ state: 'detached' });
    const seen = async () =>
      (await ada.person.reads(`/audit?subject=case:${id}`)).body.audit.filter(
        ({ action, reason }: Record<string, string>) => action === 'case.attachment' && reason === 'what does it show',
      ).length;
    assert.equal(await seen(), 2);
    await looksAt('photo.png');
    await image.waitFor();
    assert.equal(await seen(), 3, 'the audit has no line of the second look');
    await page.reload();
    await panel.getByRole('button', { name: 'Look at: photo.png' }).waitFor();
    assert.equal(await panel.locator('img, pre').count(), 0, 'a file is shown without another look');

    const drawing =
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="document.title=1"><script>document.title=1</script></svg>';
    const markup = '<html><script>document.title=1</script><img src=x onerror="document.title=1"></html>';
    for (const [type, body] of [
      ['image/svg+xml', drawing],
      ['image/png', drawing],
      ['text/html', markup],
      ['image/png', markup],
    ] as const) {
      await page.route('**/attachments/*/open', (route) =>
        route.fulfill({
          ...{ status: 200, contentType: type, body },
          headers: { 'content-disposition': 'attachment; filename="case-1-00000000.png"' },
        }),
      );
      await looksAt('photo.png');
      await panel.getByText('is not shown here').waitFor();
      assert.equal(
        await panel.locator('img, pre, svg, iframe, object, embed, script').count(),
        0,
        `${type} is rendered`,
      );
      await page.unroute('**/attachments/*/open');
      await panel.getByRole('button', { name: 'Hide: photo.png' }).click();
    }
    // As a text it is read, and stays one.
    await page.route('**/attachments/*/open', (route) =>
      route.fulfill({
        ...{ status: 200, contentType: 'text/html', body: markup },
        headers: { 'content-disposition': 'attachment; filename="case-1-00000000.txt"' },
      }),
    );
    await looksAt('note.txt');
    assert.equal(await panel.locator('pre').innerText(), markup);
    await page.unroute('**/attachments/*/open');
    assert.notEqual(await page.title(), '1');
  });

  test('breaks and sweeps are lists, empty ones too', async () => {
    const { page } = ada;
    await goes('/breaks');
    await page.getByText('Books and outside agree on everything that these filters show.').waitFor();
    await isGood(page, 'Breaks');
    await page.getByRole('link', { name: 'Movements', exact: true }).click();
    await page.getByText('No movement of our wallets matches these filters.').waitFor();
    await isGood(page, 'Movements');
    await goes('/treasury/sweeps');
    await page.getByRole('heading', { level: 1, name: 'Sweeps' }).waitFor();
    await isGood(page, 'Sweeps');
    await goes('/changes');
    await page.getByRole('heading', { level: 1, name: 'Changes of terms' }).waitFor();
    await isGood(page, 'Changes of terms');
    await goes('/reports/affected');
    await page.getByText('Fill in “Market”, “Created from” and “Created before” to run this report.').waitFor();
    await isGood(page, 'Affected orders');
  });

  test('two operators make a key; its secret is shown once, to its proposer', async () => {
    const { page } = ada;
    const form = formOn(page);
    await oneOrTwoDo(ada.person, bea.person, '/partners', { name: 'Shop Two' });
    const { partners } = (await ada.person.reads('/partners')).body;
    const partner = partners.find(({ name }: { name: string }) => name === 'Shop Two');
    await goes(`/partners/${partner.id}`);
    await form.opens('Create a key');
    await form.dialog().getByLabel('Name').fill('second shop');
    await form.dialog().getByLabel('Scopes').fill('read, trade');
    await form.sends('they open another shop');
    await page.getByText('Nothing is done yet.').waitFor();
    const waiting = form.dialog().getByRole('link', { name: /^proposal / });
    const proposal = (await waiting.innerText()).replace('proposal ', '');
    await form.dialog().getByRole('button', { name: 'Close' }).click();
    assert.equal((await bea.person.does(`/proposals/${proposal}/confirm`)).status, 200);
    const row = page.getByRole('row', { name: /second shop/ });
    await row.getByRole('button', { name: /^Show the secret/ }).click();
    await form.sends('to give it to them');
    const secret = page.getByRole('dialog', { name: 'The secret, once' });
    await secret.getByText('Bearer token', { exact: true }).waitFor();
    await isGood(page, await page.locator('h1').innerText(), 'Secret of a key');
    await secret.getByRole('button', { name: 'Close' }).click();
    await row.getByRole('button', { name: /^Show the secret/ }).click();
    await form.sends('once more');
    await form.dialog().getByRole('alert').waitFor();
  });

  test('asks no other origin, and runs into no policy and no error', () => {
    assert.deepEqual([ada.amiss, bea.amiss], [[], []]);
  });
});
