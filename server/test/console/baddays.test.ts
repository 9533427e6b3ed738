/**
 * Incidents that two operators resolve at the console alone: they see the event, one proposes, another confirms, and the books
 * agree.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { buildConsole } from '../../src/console/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { openStory, type Story } from '../support/story.ts';
import { type Desk, deskOf, formOn } from './window.ts';

describe('a bad day at the console', { skip: noChromium }, () => {
  let world: Story;
  let browser: Browser;
  let origin: string;
  let ada: Desk & { person: Person };
  let bea: Desk & { person: Person };

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await openStory({ operators: 'two' });
    origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    browser = await startChromium();
    const { db, baseUrl } = world.server;
    ada = await deskOf(browser, origin, { db, baseUrl, clock: world.clock }, 'ada');
    bea = await deskOf(browser, origin, { db, baseUrl, clock: world.clock }, 'bea');
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  test('a credit that names no order is found in suspense, and two give it to its order', async () => {
    const { page } = ada;
    const order = await world.buys('5000', 'usdc');
    await world.credits(order, '5000', { text: 'for my coins' });
    await page.goto(`${origin}/console/suspense`);
    const row = page.locator('a[data-row]');
    await row.waitFor();
    await row.click();
    await page.getByRole('heading', { level: 1, name: /^Deposit / }).waitFor();
    const deposit = new URL(page.url()).pathname.replace('/console', '');
    const form = formOn(page);
    await form.opens('Give to an order');
    await form.dialog().getByLabel('Order').fill(String(order.id));
    await form.sends('the customer named the transfer by phone');
    await page.getByText('Nothing is done yet.').waitFor();
    assert.equal(await world.stateOf(order), 'created', 'one operator alone assigned it');
    await form
      .dialog()
      .getByRole('link', { name: /^proposal / })
      .click();
    await page.getByText('It is your own proposal').waitFor();
    await bea.page.goto(`${origin}/console${deposit}`);
    await bea.page.getByRole('link', { name: /^proposal / }).click();
    await bea.page.getByRole('heading', { level: 1, name: 'deposit.assign, proposal' }).waitFor();
    await bea.page.keyboard.press('y');
    await bea.page.getByLabel('Reason').fill('compared with the statement');
    await bea.page.keyboard.press('Control+Enter');
    await bea.page.getByText('The server says: done.').waitFor();
    await world.until('the order is settled', async () => {
      await world.mines(1);
      return (await world.stateOf(order)) === 'settled';
    });
    await page.goto(`${origin}/console/orders/${order.id}`);
    await page.locator('.flow').getByText('settled').first().waitFor();
    await page.goto(`${origin}/console/suspense`);
    await page.getByText('No deposit in suspense matches these filters.').waitFor();
    assert.deepEqual(await world.openCaseKinds(order), []);
    await world.reconciles();
  });

  /** The one open case of a kind, opened from the first page by the notified operator. */
  async function opensFromHome(kind: string): Promise<void> {
    await ada.page.goto(`${origin}/console/`);
    const link = ada.page.getByRole('region', { name: 'Most urgent' }).getByRole('link', { name: kind, exact: true });
    await link.first().click();
    await ada.page.getByRole('heading', { level: 1, name: new RegExp(`^${kind}, case `, 'i') }).waitFor();
    await ada.page.getByText('What to do').waitFor();
    await ada.page.keyboard.press('c');
    await ada.page.getByRole('dialog').getByLabel('Reason').press('Control+Enter');
    await formOn(ada.page).isDone();
  }

  test('a payout that the bank rejects goes back to the customer as coins, by two', async () => {
    const { page } = ada;
    const order = await world.sells('100', 'usdc', { customer: await world.verifiedCustomer({ ending: '9001' }) });
    await world.pays(order, '100');
    await world.mines(2);
    await world.until('the payout is held', async () => (await world.stateOf(order)) === 'payout_held');
    await opensFromHome('payout held');
    await page.getByRole('region', { name: 'Runbook' }).getByText('A payout was rejected or returned').waitFor();
    await page
      .getByRole('link', { name: String(order.id) })
      .first()
      .click();
    await page.getByRole('heading', { level: 1, name: `Order ${order.id}` }).waitFor();
    assert.equal(
      await page.locator('.flow .leg.is-ok', { hasText: 'Payout' }).count(),
      0,
      'a rejected payout looks done',
    );
    const form = formOn(page);
    const address = world.newAddress();
    await form.opens('Refund');
    await form.dialog().getByLabel('What was wrong').selectOption('other');
    await form.dialog().getByLabel('Address').fill(address);
    await form.sends('the bank closed the account');
    await form.isConfirmedBy(bea.page, 'order.refund', `order:${order.id}`);
    await world.refundArrives(order, -2);
    assert.equal(await world.tokensOf(address, 'usdc'), '100');
    await page.locator('.flow').getByText('settled').first().waitFor();
    assert.deepEqual(await world.openCaseKinds(order), []);
    await world.reconciles();
  });

  test('a debit that no payout explains is found to be a charge of the bank, and booked as one by two', async () => {
    const { page } = ada;
    const books = await world.balances();
    await world.bankShows({ id: 'quarterly-fee', direction: 'debit', units: 12_500n, reference: 'FEES Q4' });
    await world.until('there is a case', async () =>
      (await ada.person.reads('/cases?kind=unexplained_debit')).body.cases.length === 1 ? true : undefined,
    );
    await opensFromHome('unexplained debit');
    const about = new URL(page.url()).pathname.split('/').at(-1);
    const { facts } = (await ada.person.reads(`/cases/${about}`)).body;
    const form = formOn(page);
    await form.opens('Correct the books');
    await form.dialog().getByLabel('As', { exact: true }).selectOption('fee');
    await form.dialog().getByLabel('Amount').fill('125');
    await form.dialog().getByLabel('Evidence').fill(facts.reference);
    await form.sends('their letter of Monday');
    await form.isConfirmedBy(bea.page, 'entry.correct-case', `case:${about}`);
    const changed = await world.changesSince(books);
    assert.deepEqual([changed['loss:inr'], changed['cost:bank.simulated:inr']], [undefined, 12_500n]);
    await page.getByText(/^Closed /).waitFor();
    await world.reconciles();
  });

  test('asks no other origin, and runs into no policy and no error', () => {
    assert.deepEqual([ada.amiss, bea.amiss], [[], []]);
  });
});
