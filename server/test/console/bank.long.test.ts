/**
 * The bank desk of the console in a real browser, with a bank without an API behind it: a file is closed and downloaded exactly
 * as the bank gets it, and a statement is previewed before any of it is booked.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { buildConsole, CONSOLE, consolePages } from '../../src/console/index.ts';
import { createServer } from '../../src/protocols/whitelabel/index.ts';
import { oneOpensGates, operatorNamed, type Person, takes } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { type ManualEnvironment, manualEnvironment } from '../support/manual.environment.ts';
import { operatorApi } from '../support/operatorapi.ts';
import { type Desk, enrol, isGood, openDesk, signIn } from './window.ts';

const SCRIPT = '<img src=x onerror="document.title=1">';

describe('the bank desk of the console', { skip: noChromium }, () => {
  let w: ManualEnvironment;
  let app: ReturnType<typeof createServer>;
  let browser: Browser;
  let ada: Desk & { person: Person };
  let payout: string;

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    w = await manualEnvironment();
    app = createServer({ log: w.log });
    let origin = '';
    const rails = new Map([[w.rail.code, w.rail]]);
    await app.register(operatorApi(w, { bank: w.desk, rails, profile: 'sandbox', publicUrl: () => origin }));
    await app.register(consolePages({ dist: join(CONSOLE, 'dist'), publicUrl: () => origin }));
    origin = (await app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'localhost');
    await w.db.asSystem(oneOpensGates);
    await w.db.asSystem((tx) => takes(tx, 1, { action: 'bank.*' }));
    payout = await w.pays(12_345n);
    browser = await startChromium();
    const person = await operatorNamed({ ...w, baseUrl: origin }, 'ada', 'finance');
    ada = { ...(await openDesk(browser, origin)), person };
    await ada.page.goto(`${origin}/console/bank`);
    await enrol(ada.page, person.token);
    await signIn(ada.page, 'ada');
  });
  after(async () => {
    await browser?.close();
    await app?.close();
    await w?.stop();
  });

  test('closes the waiting payouts into a file, and downloads it byte for byte', async () => {
    const { page } = ada;
    await page.getByRole('cell', { name: payout, exact: true }).waitFor();
    await page.getByText('A file of eur closed now takes 1 payout,').waitFor();
    await isGood(page, 'Bank desk', 'Bank desk, a payout waits');
    await page.getByRole('button', { name: 'Close a file of eur' }).click();
    await page.getByLabel('Reason').fill('the day is over');
    await page.getByRole('dialog').getByRole('button', { name: 'Close a file' }).click();
    await page.getByText('The server says: done.').waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByText('No payout waits.').waitFor();
    await page.getByText('closed now takes').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Download' }).click();
    await page.getByLabel('Reason').fill('to be uploaded');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('dialog').getByRole('button', { name: 'Download' }).click(),
    ]);
    assert.match(download.suggestedFilename(), /^CLOVERLEAF-[0-9]+\.xml$/);
    const bytes = readFileSync(await download.path());
    const { files } = (await ada.person.reads('/bank/files')).body;
    assert.equal(createHash('sha256').update(bytes).digest('hex'), files[0].sha256);
    await page.getByText('The server says: done.').waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    const { audit } = (await ada.person.reads('/audit?action=bank.download_file')).body;
    assert.deepEqual(
      audit.map(({ reason }: { reason: string }) => reason),
      ['to be uploaded'],
    );
  });

  /** As a person drops it: the browser has the bytes, and no path. */
  const drops = (...files: readonly { name: string; text: string }[]) =>
    ada.page.evaluate(
      `(() => {
        const dropped = new DataTransfer();
        for (const [name, base64] of ${JSON.stringify(files.map(({ name, text }) => [name, Buffer.from(text).toString('base64')]))})
          dropped.items.add(new File([Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))], name));
        const form = document.querySelector('form.drop');
        for (const kind of ['dragover', 'drop'])
          form.dispatchEvent(new DragEvent(kind, { dataTransfer: dropped, bubbles: true, cancelable: true }));
      })()`,
    );
  const imports = async () => (await ada.person.reads('/bank/imports')).body.imports;
  let statement = '';

  test('shows the matches of a dropped statement, and books nothing until it is taken in', async () => {
    const { page } = ada;
    statement = w.nextStatement([
      { units: -12_345n, endToEnd: payout.replaceAll('_', '-'), ref: 'D1' },
      { units: 700n, ref: SCRIPT, text: SCRIPT },
    ]);
    await drops({ name: `${SCRIPT}.xml`, text: statement });
    await page.getByText('Nothing is booked yet.').waitFor();
    await page.getByText(`${SCRIPT}.xml`).waitFor();
    await page.getByText('has 2 new lines').waitFor();
    const lines = page.getByRole('region', { name: 'New lines of the statement' });
    await lines.getByRole('cell', { name: payout }).waitFor();
    await lines.getByRole('cell', { name: SCRIPT }).waitFor();
    await lines.getByText('suspense: no reference of an order').waitFor();
    assert.notEqual(await page.title(), '1', 'the script ran');
    assert.equal(await page.locator('img[src="x"]').count(), 0, 'the page has an element of a text');
    await isGood(page, 'Bank desk', 'Bank desk, a statement');
    assert.deepEqual(await imports(), []);
    assert.notEqual(await w.state(payout), 'settled');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await lines.waitFor({ state: 'detached' });
    await drops({ name: `${SCRIPT}.xml`, text: statement });
    await page.getByLabel('Reason').fill('the statement of today');
    await page.getByRole('button', { name: 'Import it' }).click();
    await page.getByText('The server says: done.').waitFor();
    await page.getByText('2 of 2').waitFor();
    await w.rail.observe();
    assert.equal(await w.state(payout), 'settled');
  });

  test('shows the lines of a statement that was taken in, in their list', async () => {
    const { page } = ada;
    await page.goto(new URL('/console/bank-lines', page.url()).href);
    await page.locator('h1').waitFor();
    for (const units of ['123.45', '7'])
      await page
        .getByRole('cell', { name: `${units} eur` })
        .first()
        .waitFor();
    await page.getByText(payout).first().waitFor();
    await page.goto(new URL('/console/bank', page.url()).href);
    await page.getByRole('heading', { name: 'Import a statement' }).waitFor();
  });

  test('says so when the same file is dropped again, and offers nothing to book', async () => {
    const { page } = ada;
    await drops({ name: 'again.xml', text: statement });
    await page.getByText('This file was imported before.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Import it' }).count(), 0);
    await isGood(page, 'Bank desk', 'Bank desk, the same file again');
    assert.equal((await imports()).length, 1);
  });

  test('names what is wrong with a file, and takes nothing in', async () => {
    const { page } = ada;
    await drops({ name: 'a.xml', text: 'no statement at all' });
    await page.getByRole('alert').waitFor();
    await isGood(page, 'Bank desk', 'Bank desk, no statement');
    const why = await page.getByRole('alert').innerText();
    assert.doesNotMatch(why, /no statement at all/, 'the page shows what is in the file');
    await drops({ name: 'empty.xml', text: '' });
    await page.getByText('empty.xml is empty').waitFor();
    await drops({ name: 'one.xml', text: statement }, { name: 'two.xml', text: statement });
    await page.getByText('Drop one file').waitFor();
    // A chosen file is read as a dropped one is.
    const file = { name: 'b.csv', mimeType: 'text/csv', buffer: Buffer.from('Date;Amount\n') };
    await page.getByLabel('File of the bank').setInputFiles(file);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Drop one file').waitFor({ state: 'detached' });
    await page.getByRole('alert').waitFor();
    assert.equal((await imports()).length, 1);
    assert.deepEqual(ada.amiss, []);
  });
});
