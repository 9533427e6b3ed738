/**
 * Personal data in the console, in a real browser: its export as a file, a phone number that is detached with evidence, and an
 * erasure that is declined with its causes, proposed by one operator and confirmed by another.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pino from 'pino';
import type { Browser, Page } from 'playwright-core';
import { movableClock } from '../../src/base/clock.ts';
import { readConfig } from '../../src/config.ts';
import { buildConsole } from '../../src/console/index.ts';
import { verifyLedger } from '../../src/reconcile/index.ts';
import { type Running, start } from '../../src/server.ts';
import type { Person } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { type Came, newPhone, openClient } from '../support/client.ts';
import { freshDatabase } from '../support/database.ts';
import { type Desk, deskOf, formOn, isGood } from './window.ts';

describe('personal data in the console', { skip: noChromium }, () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let dataDir: string;
  let server: Running;
  const clock = movableClock();
  let browser: Browser;
  let origin: string;
  let ada: Desk & { person: Person };
  let bea: Desk & { person: Person };
  let page: Page;
  let form: ReturnType<typeof formOn>;
  let customer: string;

  // No story: its books are verified without the master key, which proves what an erasure changed in the audit.
  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    database = await freshDatabase();
    dataDir = mkdtempSync(join(tmpdir(), 'personal-'));
    const settings = { DATA_DIR: dataDir, DATABASE_URL: database.adminUrl, PORT: '0', OPERATORS: 'two' };
    server = await start(readConfig(settings), { clock, log: pino({ level: 'silent' }) });
    const [keys] = server.sandbox.partners;
    assert.ok(keys);
    const given = { clientCustomerId: 'one of the shop', phoneNumber: newPhone(), type: 'INDIVIDUAL' };
    customer = (await openClient(server.baseUrl, keys).post('kyc/url', given)).body.data.customerId;
    browser = await startChromium();
    origin = server.baseUrl.replace('127.0.0.1', 'localhost');
    const world = { db: server.db, baseUrl: server.baseUrl, clock };
    ada = await deskOf(browser, origin, world, 'ada');
    bea = await deskOf(browser, origin, world, 'bea');
    page = ada.page;
    form = formOn(page);
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    await database?.drop();
    if (dataDir !== undefined) rmSync(dataDir, { recursive: true });
  });

  test('the data about a customer is saved as a file, and the audit has the reason', async () => {
    await page.goto(`${origin}/console/customers/${customer}`);
    await page.getByRole('heading', { level: 1, name: `Customer ${customer}`, exact: true }).waitFor();
    await form.opens('Export');
    await form.effect().getByText('It does not contain hits in sanctions lists.').waitFor();
    await form.effect().getByText('One operator is enough').waitFor();
    await isGood(page, `Customer ${customer}`, 'Form, export');
    const saved = page.waitForEvent('download');
    await form.sends('request of the person');
    const file = await saved;
    assert.equal(file.suggestedFilename(), `customer-${customer}.json`);
    const held = JSON.parse(readFileSync(await file.path(), 'utf8'));
    assert.equal(held.export.customer.id, customer);
    assert.deepEqual(held.files, []);
    await page.getByText(`Saved as customer-${customer}.json`).waitFor();
    assert.equal(await page.getByText(held.export.contact.phone).count(), 0, 'the page shows personal data');
    const { audit } = (await ada.person.reads(`/audit?subject=customer:${customer}&action=customer.export`)).body;
    assert.deepEqual(
      audit.map(({ reason }: Came) => reason),
      ['request of the person'],
    );
  });

  test('a phone number is detached with evidence; without it the field and its rule are named', async () => {
    await form.opens('Detach phone');
    await form.effect().getByText('cannot sign in with it').waitFor();
    await form.dialog().getByLabel('Evidence').fill('a');
    await form.sends('its network reassigned it');
    await form.dialog().getByText('what was verified, in 3 to 500 characters').first().waitFor();
    assert.equal(await page.evaluate('document.activeElement.name'), 'evidence');
    await isGood(page, `Customer ${customer}`, 'Form, detach');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('new owner verified, ticket 4711');
    await form.sends('its network reassigned it');
    await form.isDone();
    const { personal } = (await ada.person.does(`/customers/${customer}/personal`)).body;
    assert.equal(personal.phone ?? null, null);
  });

  test('an erasure is declined with its causes, proposed by one and confirmed by another', async () => {
    assert.equal((await ada.person.does(`/customers/${customer}/legal-hold`)).status, 200);
    await form.opens('Erase');
    await form.effect().getByText('It needs two operators').waitFor();
    await form.effect().getByText('the books', { exact: false }).waitFor();
    await form.sends('request of the person');
    await form.dialog().getByRole('alert').getByText('a legal hold is placed').waitFor();
    await isGood(page, `Customer ${customer}`, 'Form, erase');
    const { proposal } = (await ada.person.does(`/customers/${customer}/lift-legal-hold`)).body;
    assert.equal((await bea.person.does(`/proposals/${proposal}/confirm`)).status, 200);
    await form.sends('request of the person');
    await form.isConfirmedBy(bea.page, 'customer.erase', `customer:${customer}`);
    await page.locator('.title').getByText('erased', { exact: true }).waitFor();
    assert.notEqual((await ada.person.reads(`/customers/${customer}`)).body.erasedAt, null);
    assert.equal(await page.getByRole('button', { name: 'Erase', exact: true }).count(), 0);
    await page.reload();
    await page.getByRole('heading', { name: 'What remains' }).waitFor();
    await isGood(page, `Customer ${customer}`, 'Customer, erased');
  });

  test('the audit matches its seals, except the changes proved by the erasure', async () => {
    const { problems } = await server.db.asSystem((tx) => verifyLedger(tx, { now: clock.now(), vault: server.vault }));
    assert.deepEqual(problems, []);
  });

  test('asks no other origin, and meets no policy and no error', () => {
    assert.deepEqual([ada.amiss, bea.amiss], [[], []]);
  });
});
