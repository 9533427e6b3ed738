/**
 * The console's pages of debts, bank lines, a partner's requests and its statement, accounts by number, and the reconciliation
 * report, in a real browser: the CSV has the rows shown, filters are in the URL, and a number that was typed is in no URL.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { buildConsole } from '../../src/console/index.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { settledPurchase } from '../support/orders.ts';
import { openStory, type Purchase, type Story } from '../support/story.ts';
import { readCsv } from '../support/terminal.ts';
import { openV1 } from '../support/v1.ts';
import { type Desk, deskOf, isGood } from './window.ts';

const NUMBER = '0001 4477 1203 9988';
const DAY_MS = 86_400_000;

describe('what customers owe, banks showed and programs asked, at the console', { skip: noChromium }, () => {
  let world: Story;
  let browser: Browser;
  let origin: string;
  let ada: Desk;
  let page: Page;
  let order: Purchase;
  let partner: string;
  let customer: string;

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await openStory({ operators: 'two' });
    origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    const bought = await settledPurchase(world);
    order = bought.order;
    partner = String((await world.traceOf(order)).order.partnerId);
    await world.bank.recall(bought.line);
    await world.looksAtTheBank();
    await world.opensCase(order, 'customer_owes');
    customer = (await world.verifiedCustomer()).id;
    const details = { customerId: customer, fiatAccount: NUMBER.replaceAll(' ', ''), ifsc: 'HDFC0000001' };
    const { fiatAccountId = '' } = await world.told('bank/addFiatAccount', details);
    const sale = await world.sells('40', 'usdc', { customer: { id: customer, fiatAccountId } });
    await world.pays(sale, '40');
    await world.mines(2);
    await world.until('it is settled', async () => (await world.stateOf(sale)) === 'settled');
    const [keys] = world.server.sandbox.partners;
    assert.ok(keys);
    const api = openV1(world.server.baseUrl, keys);
    await api.get('/orders?limit=1', { headers: { 'x-client-request-id': 'mine-1' } });
    await api.get('/orders/1');
    browser = await startChromium();
    const { db, baseUrl } = world.server;
    ada = await deskOf(browser, origin, { db, baseUrl, clock: world.clock }, 'ada');
    page = ada.page;
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  const goes = (path: string) => page.goto(`${origin}/console${path}`);
  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  async function csvOf(): Promise<Record<string, string>[]> {
    const href = await page.getByRole('link', { name: 'CSV', exact: true }).first().getAttribute('href');
    return readCsv(await (await page.request.get(`${origin}${href}`)).text());
  }
  /** The table has as many rows as its CSV. */
  const sameCount = (table: string) =>
    world.until('both tell the same', async () => {
      const rows = await csvOf();
      const shown = await page.getByRole('region', { name: table, exact: true }).locator('tbody tr').count();
      return shown === rows.length && rows.length > 0 && rows;
    });

  test('debts name customer, amount and orders', async () => {
    await goes('/debts');
    await heading('Debts');
    await page
      .getByRole('region', { name: 'Debts' })
      .getByRole('link', { name: String(order.id) })
      .waitFor();
    const [row] = await sameCount('Debts');
    assert.deepEqual([row?.customerId, row?.units, row?.orderIds], [order.customerId, '5000', String(order.id)]);
    await isGood(page, 'Debts');
    await page.getByLabel('Asset').fill('eur');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(/asset=eur$/);
    await page.getByText('No customer owes us anything').waitFor();
  });

  test('bank lines are filtered in the URL, and lead to their payouts', async () => {
    await goes('/bank-lines');
    await heading('Bank lines');
    await page.getByRole('region', { name: 'Bank lines' }).getByText('recall', { exact: true }).first().waitFor();
    await sameCount('Bank lines');
    await isGood(page, 'Bank lines');
    await page.getByLabel('Meaning').selectOption('payout');
    await page.waitForURL(/meaning=payout$/);
    const rows = await world.until('only payouts are left', async () => {
      const csv = await csvOf();
      const keys = (await page.locator('main a[data-row]').allInnerTexts()).map((text) => text.trim());
      return csv.length > 0 && keys.join() === csv.map(({ key }) => key).join() && csv;
    });
    await page.locator('main a[data-row]').first().click();
    await page.waitForURL(new RegExp(`/payouts/${rows[0]?.key}$`));
  });

  test('a request is listed at its partner and found by its id', async () => {
    await goes(`/partners/${partner}`);
    await page.getByRole('link', { name: 'Requests' }).click();
    await heading(`Requests of partner ${partner}`);
    await page.locator('main a[data-row]').first().waitFor();
    await sameCount(`Requests of partner ${partner}`);
    await isGood(page, `Requests of partner ${partner}`, 'Requests');
    await page.getByLabel('Status').fill('404');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(/status=404$/);
    await page.getByText('unknown_order').first().waitFor();
    await page.locator('main a[data-row]').first().click();
    await page
      .getByRole('dialog')
      .getByRole('heading', { name: /^Request / })
      .waitFor();
    await isGood(page, `Requests of partner ${partner}`, 'Requests, one');
    await page.keyboard.press('Escape');
    await goes('/search?text=mine-1');
    await page.getByRole('region', { name: 'Requests of programs' }).getByText('orders.list').waitFor();
    await isGood(page, 'Found for mine-1', 'Search, a request');
  });

  test('an account is found by its full number, which is in no URL', async () => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await goes('/search?text=nothing-here');
    const form = page.getByRole('region', { name: 'Find an account' });
    await form.getByLabel('Account number or IBAN').fill(NUMBER);
    await form.getByLabel('Reason').fill('the bank named the account');
    await form.getByRole('button', { name: 'Find', exact: true }).click();
    await form.getByRole('link', { name: customer }).waitFor();
    await isGood(page, 'Found for nothing-here', 'Search, an account');
    const number = NUMBER.replaceAll(' ', '');
    for (const url of [...asked, page.url()])
      assert.ok(!decodeURIComponent(url).replaceAll(/[ +]/g, '').includes(number), `the number is in ${url}`);
    await form.getByLabel('Account number or IBAN').fill('0001 4477 1203 9980');
    await form.getByRole('button', { name: 'Find', exact: true }).click();
    await form.getByText('No account has this number.').waitFor();
  });

  test('the statement of a partner has volume, fees and what is owed, and prints without its controls', async () => {
    const now = world.clock.now().getTime();
    const [from, until] = [now - DAY_MS, now + DAY_MS].map((at) => encodeURIComponent(new Date(at).toISOString()));
    await goes(`/reports/partner?partner=${partner}&from=${from}&until=${until}`);
    await heading('Statement of a partner');
    await page.getByText('fees earned').first().waitFor();
    const rows = await sameCount('Statement of a partner');
    assert.deepEqual([rows.at(-1)?.what, rows.at(-1)?.units], ['closing', rows.at(-1)?.owedUnits]);
    await isGood(page, 'Statement of a partner');
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.getByRole('button', { name: 'Print' }).isVisible(), false);
    if (process.env.CONSOLE_PICTURES !== undefined)
      await page.screenshot({ path: `${process.env.CONSOLE_PICTURES}/Statement-print.png`, fullPage: true });
    await page.emulateMedia({ media: 'screen' });
  });

  test('the reconciliation report says whether books and outside agree, with seal and hash', async () => {
    await world.until('something is sealed', async () =>
      world.read(async (tx) => (await tx.row('select from seals limit 1')) !== undefined),
    );
    await goes('/reports/reconciliation');
    await heading('Reconciliation');
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('both sides of the books are equal').waitFor();
    await result
      .getByText(/^[0-9a-f]{64}$/)
      .first()
      .waitFor();
    assert.equal(await result.getByText(/^[0-9a-f]{64}$/).count(), 3, 'seal, report and key');
    await sameCount('Reconciliation');
    await isGood(page, 'Reconciliation');
  });

  test('asks no other origin, and runs into no policy and no error', () => {
    assert.deepEqual(ada.amiss, []);
  });
});
