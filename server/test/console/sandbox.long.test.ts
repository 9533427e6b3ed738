/**
 * What a partner does without a program, in a real browser: pays an order by button, moves the test clock, reads its account, and
 * sets the origins whose pages may call. Each shows on the page what came of it.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { buildConsole } from '../../src/console/index.ts';
import { inviteMember } from '../../src/team/index.ts';
import { type V1Environment, v1Environment } from '../protocols/v1/environment.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { readCsv } from '../support/terminal.ts';
import { type Desk, isGood, openDesk } from './window.ts';

const SHOP = 'https://shop.example';

describe('the buttons of the sandbox, the account and allowed origins', { skip: noChromium }, () => {
  let world: V1Environment;
  let browser: Browser;
  let origin: string;
  let desk: Desk;
  let page: Page;

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await v1Environment();
    origin = world.s.server.baseUrl.replace('127.0.0.1', 'localhost');
    browser = await startChromium();
    desk = await openDesk(browser, origin);
    page = desk.page;
    const row = await world.s.read((tx) =>
      tx.row<{ partnerId: bigint }>('select partner_id from api_keys where key = $1', [world.keys.apiKey]),
    );
    const invited = { partnerId: row?.partnerId ?? 0n, name: 'olga', role: 'owner' as const, by: 'operator op' };
    const { code } = await world.s.read((tx) => inviteMember(tx, { ...invited, now: world.s.clock.now() }));
    await goes(`/join#${code}`);
    await page.getByRole('button', { name: 'Make a passkey' }).click();
    await page.getByRole('link', { name: 'Open the console' }).click();
    await heading('What needs you');
  });
  after(async () => {
    await browser?.close();
    await world?.s.close();
  });

  const goes = (path: string) => page.goto(`${origin}/partner${path}`);
  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const presses = (name: string) => page.getByRole('button', { name, exact: true }).first().click();
  const inDialog = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
  const theOrder = (state: string) => page.getByRole('status', { name: 'The order' }).getByText(state, { exact: true });

  test('an order is paid by button, from its own page, and the page follows it to its end', async () => {
    const order = await world.sells('60');
    await goes(`/orders/${order.id}`);
    await heading(`Order ${order.id}`);
    await page
      .getByRole('main')
      .getByRole('link', { name: /sandbox/i })
      .click();
    await heading('Sandbox');
    assert.equal(await page.getByLabel('Id of the order').inputValue(), order.id);
    await theOrder('created').waitFor();
    await isGood(page, 'Sandbox', 'partner sandbox order');
    await presses('Pay');
    await isGood(page, 'Sandbox', 'partner sandbox pay');
    await inDialog('Pay');
    await page.getByText('Done.').waitFor();
    await isGood(page, 'Sandbox', 'partner sandbox paid');
    await inDialog('Close');
    await theOrder('settled').waitFor({ timeout: 60_000 });
    const settled = await world.get(order);
    assert.deepEqual([settled.state, settled.received.amount], ['settled', settled.pay.amount]);
    await page.getByRole('status', { name: 'The order' }).getByRole('link', { name: order.id }).click();
    await heading(`Order ${order.id}`);
    await page.getByText('The recipient', { exact: true }).waitFor();
  });

  test('a control that cannot be says why, in its dialog, and nothing moves', async () => {
    const order = await world.sells('45');
    await goes(`/sandbox?order=${order.id}`);
    await theOrder('created').waitFor();
    await presses('Bank credit');
    await inDialog('Bank credit');
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await isGood(page, 'Sandbox', 'partner sandbox declined');
    await inDialog('Cancel');
    assert.equal((await world.get(order)).state, 'created');
  });

  test('an id that is no order of the partner is told apart, and names nothing of another partner', async () => {
    for (const id of ['999999999', '1']) {
      await goes(`/sandbox?order=${id}`);
      await page.getByRole('alert').waitFor();
      assert.equal(await page.getByRole('status', { name: 'The order' }).count(), 0);
    }
  });

  test('screening holds the order of which a partner says so, and the page shows it', async () => {
    const order = await world.sells('35');
    await goes(`/sandbox?order=${order.id}`);
    await presses('Screening');
    await page.getByLabel('What it finds').selectOption('fail');
    await inDialog('Screening');
    await page.getByText('Done.').waitFor();
    await inDialog('Close');
    await presses('Pay');
    await inDialog('Pay');
    await page.getByText('Done.').waitFor();
    await inDialog('Close');
    await theOrder('on hold').waitFor({ timeout: 60_000 });
  });

  test('the test clock moves, says how many orders it affected, and an unpaid order expires', async () => {
    const order = await world.sells('40');
    await goes(`/sandbox?order=${order.id}`);
    await theOrder('created').waitFor();
    await presses('Forward a day');
    await inDialog('Forward a day');
    await page.getByText('The clock was moved.').waitFor();
    const affected = page.getByRole('dialog').locator('dl');
    assert.match(await affected.innerText(), /orders\s*[1-9]/i);
    await isGood(page, 'Sandbox', 'partner sandbox clock');
    await inDialog('Close');
    await theOrder('expired').waitFor({ timeout: 60_000 });
    assert.equal((await world.get(order)).state, 'expired');
  });

  test('the account has the fee of the paid order, by day and by month, and its CSV has the same lines', async () => {
    await goes('/statement');
    await page.getByRole('navigation', { name: 'Statements' }).getByRole('link', { name: 'Account' }).click();
    await heading('Account');
    const lines = page.getByRole('region', { name: 'Lines' });
    const earned = lines.getByRole('row', { name: /Fees earned/ });
    await earned.waitFor();
    await isGood(page, 'Account', 'partner account of fees');
    const [download] = await Promise.all([page.waitForEvent('download'), presses('CSV')]);
    assert.match(download.suggestedFilename(), /^statement-\d{4}-\d\d-01-\d{4}-\d\d-01\.csv$/);
    const rows = readCsv(readFileSync(await download.path(), 'utf8'));
    assert.deepEqual(
      rows.map(({ what }) => what),
      ['paid_in', 'paid_out', 'opening', 'fees_earned', 'closing'],
    );
    const fee = rows.find(({ what }) => what === 'fees_earned');
    assert.match(fee?.day ?? '', /^\d{4}-\d\d-\d\d$/);
    assert.equal(rows.at(-1)?.owed, fee?.amount);
    await presses('This year');
    await earned.getByText(/^\d{4}-\d\d$/).waitFor();
    await isGood(page, 'Account', 'partner account of a year');
    await page.emulateMedia({ media: 'print' });
    assert.ok(await earned.isVisible());
    assert.equal(await page.getByRole('button', { name: 'CSV' }).isVisible(), false, 'paper has buttons');
    await page.emulateMedia({ media: 'screen' });
    await presses('Last year');
    await page.getByRole('cell', { name: 'Owed at the beginning' }).waitFor();
    assert.equal(await earned.count(), 0);
  });

  test('allowed origins are typed, shown and kept; an address that is no origin is declined', async () => {
    // A server remembers a partner for two seconds.
    const areKept = (...origins: readonly string[]) =>
      world.s.until('the server has the origins', async () =>
        isDeepStrictEqual((await world.api.does('GET', '/settings')).origins, origins),
      );
    await areKept();
    await goes('/branding');
    await heading('Branding and origins');
    await page.getByText('None: no page of a browser').waitFor();
    await page.getByText('This sandbox answers pages of every origin').waitFor();
    await presses('Change origins');
    await page.getByRole('textbox', { name: 'Origins' }).fill(`${SHOP}/cart\nhttps://*.example`);
    await inDialog('Change origins');
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await isGood(page, 'Branding and origins', 'partner origins declined');
    await areKept();
    await page.getByRole('textbox', { name: 'Origins' }).fill(`${SHOP}\nhttps://other.example`);
    await inDialog('Change origins');
    await page.getByRole('cell', { name: SHOP }).waitFor();
    await page.getByRole('cell', { name: 'https://other.example' }).waitFor();
    await isGood(page, 'Branding and origins', 'partner origins');
    await areKept(SHOP, 'https://other.example');
    await presses('Change origins');
    assert.equal(await page.getByRole('textbox', { name: 'Origins' }).inputValue(), `${SHOP}\nhttps://other.example`);
    await page.getByRole('textbox', { name: 'Origins' }).fill('');
    await inDialog('Change origins');
    await page.getByText('None: no page of a browser').waitFor();
    await areKept();
    await goes('/activity');
    await heading('Activity');
    await page.getByText('olga').first().waitFor();
  });

  test('nothing was asked of another origin, and the policy stopped nothing', () => {
    assert.deepEqual(desk.amiss, []);
  });
});
