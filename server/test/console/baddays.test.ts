/** Bad days that two operators end at the console alone: what happened is seen, one proposes, another confirms, and the books agree. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { buildConsole } from '../../src/console/index.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { openStory, type Story } from '../support/story.ts';
import { type Desk, deskOf, formOn } from './window.ts';

describe('a bad day at the console', { skip: noChromium }, () => {
  let world: Story;
  let browser: Browser;
  let origin: string;
  let ada: Desk;
  let bea: Desk;

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
    assert.equal(await world.stateOf(order), 'created', 'one alone has assigned it');
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

  test('asks no other origin, and runs into no policy and no error', () => {
    assert.deepEqual([ada.amiss, bea.amiss], [[], []]);
  });
});
