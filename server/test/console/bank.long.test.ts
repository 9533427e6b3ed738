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
import { type ManualWorld, manualWorld } from '../support/manualworld.ts';
import { operatorApi } from '../support/operatorapi.ts';
import { type Desk, enrol, isGood, openDesk, signIn } from './window.ts';

const SCRIPT = '<img src=x onerror="document.title=1">';

describe('the bank desk of the console', { skip: noChromium }, () => {
  let w: ManualWorld;
  let app: ReturnType<typeof createServer>;
  let browser: Browser;
  let ada: Desk & { person: Person };
  let payout: string;

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    w = await manualWorld();
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
    await page.getByText('Nothing waits.').waitFor();
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
    const { audit } = (await ada.person.reads('/audit?action=bank.hand_out_file')).body;
    assert.deepEqual(
      audit.map(({ reason }: { reason: string }) => reason),
      ['to be uploaded'],
    );
  });

  test('shows the matches of a statement, and books nothing until it is taken in', async () => {
    const { page } = ada;
    const statement = w.nextStatement([
      { units: -12_345n, endToEnd: payout.replaceAll('_', '-'), ref: 'D1' },
      { units: 700n, ref: 'C1', text: SCRIPT },
    ]);
    const file = { name: `${SCRIPT}.xml`, mimeType: 'application/xml', buffer: Buffer.from(statement) };
    await page.getByLabel('File of the bank').setInputFiles(file);
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByText('Nothing is booked yet.').waitFor();
    await page.getByText(`${SCRIPT}.xml`).waitFor();
    const lines = page.getByRole('region', { name: 'New lines of the statement' });
    await lines.getByRole('cell', { name: payout }).waitFor();
    await lines.getByText('suspense: no reference of an order').waitFor();
    await isGood(page, 'Bank desk', 'Bank desk, a statement');
    assert.deepEqual((await ada.person.reads('/bank/imports')).body.imports, []);
    await page.getByLabel('Reason').fill('the statement of today');
    await page.getByRole('button', { name: 'Take it in' }).click();
    await page.getByText('The server says: done.').waitFor();
    await page.getByText('2 of 2').waitFor();
    await w.rail.observe();
    assert.equal(await w.state(payout), 'settled');
  });

  test('names the invalid line of a file, and takes nothing in', async () => {
    const { page } = ada;
    const file = { name: 'a.xml', mimeType: 'application/xml', buffer: Buffer.from('no statement at all') };
    await page.getByLabel('File of the bank').setInputFiles(file);
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByRole('alert').waitFor();
    assert.equal((await ada.person.reads('/bank/imports')).body.imports.length, 1);
    assert.deepEqual(ada.amiss, []);
  });
});
