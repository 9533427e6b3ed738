/**
 * The night of an operator in a real browser: told by an alert, a case that a colleague has claimed, its runbook, a payout with its
 * evidence, breaks, sweeps, and a key whose secret is shown once.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { openCase } from '../../src/compliance/index.ts';
import { buildConsole } from '../../src/console/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { openStory, type Sale, type Story } from '../support/story.ts';
import { type Desk, deskOf, formOn, isGood } from './window.ts';

describe('a night at the console', { skip: noChromium }, () => {
  let world: Story;
  let browser: Browser;
  let origin: string;
  let receiver: Server;
  let settled: Sale;
  let ada: Desk & { person: Person };
  let bea: Desk & { person: Person };
  const told: string[] = [];

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    receiver = createServer(async (request, response) => {
      let body = '';
      for await (const part of request) body += String(part);
      told.push(String((JSON.parse(body) as { title: string }).title));
      response.writeHead(204).end();
    });
    await new Promise<void>((listens) => receiver.listen(0, '127.0.0.1', listens));
    world = await openStory({
      operators: 'two',
      settings: {
        ALERT_CHANNELS: 'webhook',
        ALERT_WEBHOOK_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
        ALERT_WEBHOOK_SECRET: 'a-secret-for-alerts-of-forty-characters!',
      },
    });
    origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    settled = await world.sells('25', 'usdc');
    await world.pays(settled, '25');
    await world.mines(2);
    await world.until('it is settled', async () => (await world.stateOf(settled)) === 'settled');
    browser = await startChromium();
    const { db, baseUrl } = world.server;
    ada = await deskOf(browser, origin, { db, baseUrl, clock: world.clock }, 'ada');
    bea = await deskOf(browser, origin, { db, baseUrl, clock: world.clock }, 'bea');
  });
  after(async () => {
    await browser?.close();
    await world?.close();
    receiver?.close();
  });
  const goes = (path: string) => ada.page.goto(`${origin}/console${path}`);

  test('a rule is set, tried and tells of a case; what was told stands on the page', async () => {
    const { page } = ada;
    const form = formOn(page);
    await goes('/alerts');
    await page.getByText('There is no rule.').waitFor();
    await form.opens('Set a rule');
    await form.dialog().getByLabel('Name').fill('night');
    await form.dialog().getByLabel('Channel').fill('pigeon');
    await form.dialog().getByLabel('Tells of').selectOption('opened');
    await form.dialog().getByLabel('Kinds').fill('payout_contradiction');
    await form.sends('somebody has to wake up');
    await form.dialog().getByText('must be one of webhook').waitFor();
    await isGood(page, 'Alerts', 'Form, alert');
    await form.dialog().getByLabel('Channel').fill('webhook');
    await form.sends('somebody has to wake up');
    await form.isDone();
    await form.opens('Send a test: night');
    await form.sends('does it arrive');
    await form.isDone();
    await world.until('the test arrives', async () => told.includes('Cloverleaf: a test of this alert'));
    await world.read((tx) =>
      openCase(tx, { kind: 'payout_contradiction', subject: 'payout:x', reason: 'Ravi Iyer', now: world.clock.now() }),
    );
    await world.until('the case is told of', async () => told.some((title) => /payout contradiction/.test(title)));
    assert.ok(!told.some((title) => /Ravi/.test(title)), 'a name left the server');
    await page.getByRole('link', { name: /payout contradiction, needs a person/ }).waitFor();
    await page.getByText('sent', { exact: true }).first().waitFor();
    await isGood(page, 'Alerts');
  });

  test('a case that a colleague has claimed says so, cannot be closed, and is taken over', async () => {
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
    await form.opens('Take over c');
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

  test('a payout has a page with its way and its evidence', async () => {
    const { page } = ada;
    const [payout] = (await world.traceOf(settled)).payouts;
    await goes(`/payouts/${payout?.id}`);
    await page.getByText('The rail has paid it').waitFor();
    await page.getByTitle(String(payout?.reference)).waitFor();
    await isGood(page, `Payout ${payout?.id}`, 'Payout');
    await page
      .getByRole('link', { name: String(settled.id) })
      .first()
      .click();
    await page.getByRole('heading', { level: 1, name: `Order ${settled.id}` }).waitFor();
  });

  test('breaks and sweeps are lists, empty ones too', async () => {
    const { page } = ada;
    await goes('/breaks');
    await page.getByText('Books and outside agree.').waitFor();
    await page.getByText('Every movement of our wallets is in the books.').waitFor();
    await isGood(page, 'Breaks and movements');
    await goes('/treasury/sweeps');
    await page.getByRole('heading', { level: 1, name: 'Sweeps' }).waitFor();
    await isGood(page, 'Sweeps');
  });

  test('a key is made by two; its secret is shown once, to the one who asked for it', async () => {
    const { page } = ada;
    const form = formOn(page);
    const [partner] = (await ada.person.reads('/partners')).body.partners;
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
    await secret.getByText('Bearer token').waitFor();
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
