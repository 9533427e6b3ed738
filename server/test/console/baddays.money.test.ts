/**
 * Incidents with money and keys that two operators resolve at the console alone: a credit that is recalled after its coins were
 * sent, a payout that the bank lost and a person paid by hand, and a partner's key that leaked.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { buildConsole } from '../../src/console/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { isLong } from '../support/long.ts';
import { settledPurchase } from '../support/orders.ts';
import { openStory, type Story } from '../support/story.ts';
import { openV1 } from '../support/v1.ts';
import { type Desk, deskOf, formOn, signIn } from './window.ts';

const ALARM_MS = 16 * 60_000;

describe('a bad day with money or keys at the console', { skip: noChromium }, () => {
  let world: Story;
  let browser: Browser;
  let origin: string;
  let ada: Desk & { person: Person };
  let bea: Desk & { person: Person };

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await openStory({ operators: 'two', bankSettleMs: 40 * 60_000 });
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

  /** The case of a kind, from the first page, claimed. @returns its number */
  async function claims(kind: string): Promise<string> {
    const { page } = ada;
    await page.goto(`${origin}/console/`);
    const due = page.getByRole('region', { name: 'Most urgent' });
    await due.getByRole('link', { name: kind, exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name: new RegExp(`^${kind}, case `, 'i') }).waitFor();
    await page.getByText('What to do').waitFor();
    await page.keyboard.press('c');
    await page.getByRole('dialog').getByLabel('Reason').press('Control+Enter');
    await formOn(page).isDone();
    return new URL(page.url()).pathname.split('/').at(-1) ?? '';
  }

  test('a credit is recalled after its coins were sent: the debt is seen, and two write it off', async () => {
    const { page } = ada;
    const books = await world.balances();
    const { order, line } = await settledPurchase(world);
    await world.bank.recall(line);
    await world.looksAtTheBank();
    await world.opensCase(order, 'customer_owes');
    await page.goto(`${origin}/console/debts`);
    const debts = page.getByRole('region', { name: 'Debts' });
    await debts.getByText('5\u202f000').waitFor();
    await debts.getByRole('link', { name: String(order.id) }).click();
    await page.getByRole('heading', { level: 1, name: `Order ${order.id}` }).waitFor();
    await page.locator('.flow').getByText('lost').first().waitFor();
    const about = await claims('customer owes');
    const [deposit] = (await world.traceOf(order)).deposits;
    const form = formOn(page);
    await form.opens('Correct the books');
    await form.dialog().getByLabel('As', { exact: true }).selectOption('debt');
    await form.dialog().getByLabel('Amount').fill('4999');
    await form
      .dialog()
      .getByLabel('Evidence')
      .fill(deposit?.reference ?? '');
    await form.sends('the customer does not answer');
    await form.dialog().getByRole('alert').getByText('the amount is not all').waitFor();
    await form.dialog().getByLabel('Amount').fill('5000');
    await form.sends('the customer does not answer');
    await form.isConfirmedBy(bea.page, 'entry.correct-case', `case:${about}`);
    await page.getByText(/^Closed /).waitFor();
    await page.goto(`${origin}/console/debts`);
    await page.getByText('No customer owes us anything').waitFor();
    assert.equal((await world.changesSince(books))['loss:inr'], 500_000n);
    assert.equal(await world.owed(order, 'inr'), 0n);
    await world.reconciles();
  });

  test('a payout that the bank lost is paid by hand, found among the bank lines, and settled by two', async () => {
    const { page } = ada;
    const order = await world.sells('100', 'usdc');
    await world.bank.setFault({ kind: 'lose_answer_before_effect' });
    await world.bank.setFault({ kind: 'status_unavailable', times: 100_000 });
    await world.pays(order, '100');
    await world.mines(2);
    const key = `pay_${order.id}_1`;
    await world.until(
      'the payout is unknown',
      async () => (await ada.person.reads(`/payouts/${key}`)).body.state === 'unknown',
    );
    world.clock.advance(ALARM_MS);
    await world.opensCase(order, 'payout_unknown');
    // Money takes a login of the last ten minutes.
    for (const [desk, name] of [
      [ada, 'ada'],
      [bea, 'bea'],
    ] as const) {
      await desk.page.goto(`${origin}/console/`);
      await desk.page.getByRole('button', { name: 'Sign out' }).click();
      await signIn(desk.page, name);
    }
    await claims('payout unknown');
    // Somebody pays at the bank itself; the line has no key of ours.
    const { units } = (await ada.person.reads(`/payouts/${key}`)).body;
    const paid = BigInt(Math.round(Number(units) * 100));
    await world.bankShows({ id: 'by-hand-1', direction: 'debit', units: paid, reference: 'BY HAND' });
    await world.until('the line is read', async () => {
      const { lines } = (await ada.person.reads('/bank-lines?direction=debit')).body;
      return lines.some(({ line }: { line: string }) => line === 'by-hand-1');
    });
    await page.goto(`${origin}/console/bank-lines?meaning=unexplained`);
    await page.getByText('by-hand-1').waitFor();
    await page.goto(`${origin}/console/payouts/${key}`);
    await page.getByText('unknown', { exact: true }).first().waitFor();
    assert.equal(await page.getByText('settled', { exact: true }).count(), 0, 'a payout of unknown outcome looks paid');
    const form = formOn(page);
    await form.opens('Settle by evidence');
    await form.dialog().getByLabel('Statement line').fill('by-hand-1');
    await form.sends('paid at the desk of the bank');
    await form.isConfirmedBy(bea.page, 'payout.settle-by', `payout:${key}`);
    await page.getByText('settled', { exact: true }).first().waitFor();
    await world.until('the order is settled', async () => (await world.stateOf(order)) === 'settled');
    assert.deepEqual(await world.openCaseKinds(order), []);
    await page.goto(`${origin}/console/bank-lines?meaning=payout&direction=debit`);
    await page.getByRole('link', { name: key }).waitFor();
    await world.bank.clearFaults();
    await world.reconciles();
  });

  if (isLong)
    test('the key of a partner leaks: what it made is held and rejected, it is revoked, and the partner trades again', async () => {
      const { page } = ada;
      const [keys] = world.server.sandbox.partners;
      assert.ok(keys);
      const partner = String((await ada.person.reads('/partners')).body.partners[0].id);
      const key = keys.apiKey;
      const api = openV1(world.server.baseUrl, keys);
      assert.equal((await api.get('/orders?limit=1')).status, 200);
      const hook = await world.partner.post('/v1/webhooks', { url: 'http://localhost:65003/stolen' });
      assert.ok(hook.status < 300, hook.text);
      await page.goto(`${origin}/console/partners/${partner}`);
      await page.getByText('localhost:65003/stolen').waitFor();
      const form = formOn(page);
      const local = new Date(Math.max(Date.now(), world.clock.now().getTime()) - 3_600_000);
      const typed = new Date(local.getTime() - local.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
      await form.opens('Suspend');
      await form.dialog().getByLabel('A key may have leaked since').fill(typed);
      await form.dialog().getByLabel('Key that leaked').fill(key);
      await form.sends('the key stands in a public repository');
      await form.isDone();
      await page.getByText('suspended', { exact: true }).waitFor();
      await world.until('its requests are refused', async () => (await api.get('/orders?limit=1')).status >= 400);
      const held = page.getByRole('region', { name: 'Held since a leak' });
      await held.getByText('endpoint').first().waitFor();
      // Why an item is held is what its reviewer decides by.
      for (const why of ['made since then', 'named as leaked']) await held.getByText(why).first().waitFor();
      await form.opens(`Revoke ${key}`);
      await form.sends('it leaked');
      await form.isDone();
      while ((await held.getByRole('button', { name: /^Reject item / }).count()) > 0) {
        const button = held.getByRole('button', { name: /^Reject item / }).first();
        const name = String(await button.getAttribute('aria-label'));
        await button.click();
        await form.sends('the thief made it');
        await page.getByRole('button', { name, exact: true }).waitFor({ state: 'detached' });
        // With the last item its list is gone, and the form with it.
        if ((await form.dialog().count()) > 0) await page.keyboard.press('Escape');
        await form.dialog().waitFor({ state: 'detached' });
      }
      await page.getByText('localhost:65003/stolen').waitFor({ state: 'detached' });
      await form.opens('Resume');
      await form.sends('nothing of the thief is left');
      await form.isDone();
      await page.getByText('suspended', { exact: true }).waitFor({ state: 'detached' });
      const fresh = (await ada.person.does(`/partners/${partner}/keys`, { label: 'fresh', scopes: ['read'] })).body;
      const renewed = openV1(world.server.baseUrl, { ...keys, ...fresh });
      assert.equal((await renewed.get('/orders?limit=1')).status, 200, 'the partner cannot trade');
      await world.until('the leaked key is refused', async () => (await api.get('/orders?limit=1')).status === 401);
      await page.goto(`${origin}/console/partners/${partner}/requests?key=${key}`);
      await page.getByText('orders.list').first().waitFor();
    });

  test('asks no other origin, and runs into no policy and no error', () => {
    assert.deepEqual([ada.amiss, bea.amiss], [[], []]);
  });
});
