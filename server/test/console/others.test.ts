/**
 * Forms that are generated from the declarations: an overpaid credit is refunded to its payer from the page of its case, by two
 * operators, and a rule of monitoring is tried and set.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { buildConsole } from '../../src/console/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { openStory, type Story } from '../support/story.ts';
import { type Desk, deskOf, formOn, isGood } from './window.ts';

const PAYER = 'Asha Rao';

describe('an action without a form of its own', { skip: noChromium }, () => {
  let world: Story;
  let browser: Browser;
  let origin: string;
  let ada: Desk & { person: Person };
  let bea: Desk & { person: Person };
  let page: Page;
  let form: ReturnType<typeof formOn>;

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await openStory({ operators: 'two' });
    origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    browser = await startChromium();
    const { db, baseUrl } = world.server;
    ada = await deskOf(browser, origin, { db, baseUrl, clock: world.clock }, 'ada');
    bea = await deskOf(browser, origin, { db, baseUrl, clock: world.clock }, 'bea');
    page = ada.page;
    form = formOn(page);
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });
  const goes = (path: string) => page.goto(`${origin}/console${path}`);

  test('sends what was paid too much back to its payer, from the case, and the case closes', async () => {
    const order = await world.buys('5000', 'usdc');
    await world.credits(order, '6000', { name: PAYER });
    await world.opensCase(order, 'overpaid');
    const [deposit] = (await world.traceOf(order)).deposits;
    const id = String(deposit?.id);
    const { cases } = (await ada.person.reads('/cases?kind=overpaid')).body;
    await goes(`/cases/${cases[0].id}`);
    await page.getByRole('heading', { name: 'Actions on its subject' }).waitFor();
    await isGood(page, `Overpaid, case ${cases[0].id}`, 'Case, actions on its subject');
    await form.opens('Look at the payer');
    await form.sends('to write to the payer');
    await form.dialog().getByText(PAYER).waitFor();
    await form.dialog().getByRole('button', { name: 'Close' }).click();
    assert.equal(await page.getByText(PAYER).count(), 0, 'the payer stays on the page');
    await form.opens('Send back to the payer');
    await form.effect().getByText('It needs two operators').waitFor();
    await form.sends('1,000 were paid too much');
    await form.isConfirmedBy(bea.page, 'deposit.return', `deposit:${id}`);
    const paid = await world.until('the bank has paid it back', async () => {
      const { refunds } = (await ada.person.reads(`/deposits/${id}`)).body;
      return refunds[0]?.state === 'settled' ? await world.bank.payments(`ref_${refunds[0].id}_1`) : undefined;
    });
    assert.deepEqual(
      paid.map(({ name, units }) => ({ name, units })),
      [{ name: PAYER, units: 100_000n }],
    );
    await page.getByText(/^Closed /).waitFor();
    await goes(`/deposits/${id}`);
    await page.getByRole('heading', { name: 'Other actions' }).waitFor();
    await isGood(page, `Deposit ${id}`, 'Deposit, other actions');
    await world.payoutIsSubmitted(order);
    await world.mines(2);
    await world.reaches(order, 4);
    await world.reconciles();
  });

  test('asks for a name of its path that the page does not know, and says when it is wrong', async () => {
    await goes('/kill-switches');
    await form.opens('Resume a halted chain');
    await form.dialog().getByLabel('Rail').fill('evm.matic20');
    await form.sends('its node is right again');
    await form.dialog().getByRole('alert').waitFor();
    assert.match(await form.dialog().getByRole('alert').innerText(), /halted/);
    await isGood(page, 'Kill switches', 'Form, halted chain');
    await page.keyboard.press('Escape');
  });

  test('tries a rule of monitoring, and sets it', async () => {
    const span = 'from=2020-01-01T00:00:00.000Z&until=2040-01-01T00:00:00.000Z';
    await goes(`/monitoring/try?kind=velocity&fiat=inr&count=1&days=1&${span}`);
    await page.getByText(/^It looked at /).waitFor();
    await page
      .getByRole('link', { name: /^[0-9]+$/ })
      .first()
      .waitFor();
    await isGood(page, 'Try a rule', 'Monitoring, try');
    await goes('/monitoring');
    await form.opens('Set a rule');
    await form.dialog().getByLabel('Name').fill('many-in-a-day');
    await form.dialog().getByLabel('Kind').selectOption('velocity');
    await form.dialog().getByLabel('Fiat').fill('inr');
    await form.dialog().getByLabel('Count').fill('5');
    await form.dialog().getByLabel('Days').fill('1');
    await form.dialog().getByLabel('Is on').selectOption('false');
    await form.sends('the auditor asked for it');
    await form.isDone();
    const row = page.getByRole('row', { name: 'many-in-a-day' });
    await row.getByText('off', { exact: true }).waitFor();
    await isGood(page, 'Monitoring', 'Monitoring');
  });

  test('stands on the pages of markets, suspense, treasury and own sessions', async () => {
    const { markets } = (await ada.person.reads('/markets')).body;
    for (const [path, heading, title] of [
      [`/markets/${markets[0].id}`, 'Orders of a span', undefined],
      ['/suspense', 'Dust and dormant money', 'Suspense'],
      ['/treasury', 'Orders that wait for funds', undefined],
      ['/sessions', 'Tokens for the terminal', undefined],
    ] as const) {
      await goes(path);
      await page.getByRole('heading', { name: heading }).waitFor();
      if (title !== undefined) await isGood(page, title, `${title}, other actions`);
    }
  });

  test('asks no other origin, and runs into no policy and no error', () => {
    assert.deepEqual([ada.amiss, bea.amiss], [[], []]);
  });
});
