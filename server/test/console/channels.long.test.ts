/**
 * Pages about who approves, who is told, and the signed report, in a real browser: a rule that names a role, from its form to the
 * proposal that waits for the role; channels and their tests; a day's report with an open difference, saved as it is signed.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { readConfig } from '../../src/config.ts';
import { buildConsole, CONSOLE, consolePages } from '../../src/console/index.ts';
import { readHandbook } from '../../src/protocols/operator/index.ts';
import { messengers } from '../../src/registry.ts';
import { keepDailyReport, reportKeys, verifySigned } from '../../src/reports/index.ts';
import { operatorNamed } from '../protocols/operator/people.ts';
import { type Environment, wireEnvironment } from '../protocols/whitelabel/environment.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { operatorApi } from '../support/operatorapi.ts';
import { type Desk, deskOf, formOn, isGood } from './window.ts';

const DOCS = join(CONSOLE, '../docs');

describe('rules with roles, channels and the signed report', { skip: noChromium }, () => {
  let world: Environment;
  let browser: Browser;
  let origin: string;
  let ada: Desk;
  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    const config = readConfig({ ALERT_CHANNELS: 'slack,email', ALERT_SLACK_URL: 'https://hooks.slack.example/x' });
    world = await wireEnvironment({
      beside: (fixture) => async (app) => {
        const publicUrl = () => fixture.publicUrl().replace('127.0.0.1', 'localhost');
        await app.register(
          operatorApi(fixture, {
            ...{ publicUrl, profile: 'sandbox', loginsPerMinute: 200 },
            ...{ alertChannels: ['slack', 'email'], messengers: messengers(config), sendCode: async () => {} },
            handbook: (page) => readHandbook(DOCS, page),
          }),
        );
        await app.register(consolePages({ dist: join(CONSOLE, 'dist'), publicUrl }));
      },
    });
    origin = world.baseUrl.replace('127.0.0.1', 'localhost');
    browser = await startChromium();
    ada = await deskOf(browser, origin, world, 'ada');
  });
  after(async () => {
    await browser?.close();
    await world?.stop();
  });
  const goes = (path: string) => ada.page.goto(`${origin}/console${path}`);

  test('a rule that names a role is set with the role, and the proposal says for whom it waits', async () => {
    const carol = await operatorNamed(world, 'carol', 'compliance');
    const { page } = ada;
    const form = formOn(page);
    await goes('/operators');
    await form.opens('Set a rule');
    await form.dialog().getByLabel('Action', { exact: true }).fill('customer.unblock');
    await form.dialog().getByLabel('Of them with role').fill('compliance');
    await form.effect().getByText('2 people, 1 of them compliance').waitFor();
    await form.effect().getByText('an operator of each such role').waitFor();
    await isGood(page, 'Operators and rules', 'Form, rule with a role');
    await form.sends('compliance has to agree');
    await page.getByText('waits for approval by compliance').waitFor();
    await form
      .dialog()
      .getByRole('link', { name: /^proposal / })
      .click();
    await page.getByText('It waits for approval by compliance').waitFor();
    await page.getByText('It takes 2 people, 1 of them compliance').waitFor();
    await isGood(page, `rule.set, proposal ${page.url().split('/').at(-1)}`, 'Proposal that waits for a role');
    const id = page.url().split('/').at(-1);
    assert.equal((await carol.does(`/proposals/${id}/confirm`)).status, 200);
    await goes('/operators');
    const row = page.getByRole('row').filter({ hasText: 'customer.unblock' });
    await row.getByText('compliance').waitFor();
    await world.query(`update operators set disabled_at = now() where name = 'carol'`);
    await goes('/operators');
    await row.getByText('too few: compliance').waitFor();
    await page.getByText('too few enabled operators').waitFor();
    await isGood(page, 'Operators and rules', 'Rules, one that nobody meets');
    await goes('/proposals');
    await page.getByText('rule.set').first().waitFor();
    await isGood(page, 'Proposals');
  });

  test('channels are listed with what they lack, and tested', async () => {
    const { page } = ada;
    const form = formOn(page);
    await goes('/channels');
    await page.getByText('used, not tried').first().waitFor();
    await page.getByText('missing here').first().waitFor();
    await isGood(page, 'Channels and senders');
    await form.opens('Test: slack');
    await isGood(page, 'Channels and senders', 'Form, test of a channel');
    await form.sends('does it arrive');
    await form.isDone();
    await page.getByText('sending', { exact: true }).waitFor();
    await world.query(`update alert_messages set attempts = 1, last_error = 'slack: it answered 404'`);
    await page.getByText('does not answer').waitFor();
    await isGood(page, 'Channels and senders', 'Channels, one that does not answer');
    await form.opens('Test: known');
    await form.dialog().getByLabel('Phone').fill('+919812345678');
    await form.sends('does it arrive');
    await form.isDone();
  });

  test('an alert rule is changed as a diff', async () => {
    const { page } = ada;
    const form = formOn(page);
    await goes('/alerts');
    await form.opens('Set a rule');
    await form.dialog().getByLabel('Name').fill('night');
    await form.dialog().getByLabel('Channel').selectOption('slack');
    await form.dialog().getByLabel('Tells of').selectOption('opened');
    await form.dialog().getByLabel('Kinds').fill('payout_unknown');
    await form.sends('somebody has to wake up');
    await form.isDone();
    await form.opens('Change: night');
    await form.effect().getByText('Nothing is changed yet.').waitFor();
    await form.dialog().getByLabel('Channel').selectOption('email');
    await form.dialog().getByLabel('Kinds').fill('');
    await form.effect().getByText('slack becomes email').waitFor();
    await form.effect().getByText('payout_unknown becomes every kind').waitFor();
    await isGood(page, 'Alerts', 'Form, alert changed');
    await form.sends('all kinds, by mail');
    await form.isDone();
    await page.getByText('every kind').waitFor();
  });

  test("a day's report says an open difference first, and what is saved is genuine", async () => {
    await world.query(
      `insert into reconcile_balances (rail, wallet, asset, outside_units, ledger_units, transit_units, position, compared_at)
       values ('bank.simulated', 'main', 'inr', 120000, 150000, 0, '', now())`,
    );
    await world.query(
      `insert into reconcile_items (rail, wallet, asset, key, kind, outside_units, ledger_units, why, names, found_at)
       values ('bank.simulated', 'main', 'inr', 'L-20261127-7', 'break_missing_outside', 0, 30000, 'in the books, and not shown outside',
         '{}', now() - interval '30 hours')`,
    );
    const day = await world.db.asSystem((tx) => keepDailyReport(tx, world.vault, world.clock.now()));
    const { page } = ada;
    await goes('/reports/reconciliation');
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('OPEN DIFFERENCES: 1 item').waitFor();
    await page.getByText('BEGIN PUBLIC KEY').waitFor();
    await isGood(page, 'Reconciliation', 'Report, reconciliation');
    await page.getByRole('link', { name: String(day) }).click();
    await page.getByText(`at the end of ${day} (UTC)`).waitFor();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save signed report' }).click();
    const saved = await saving;
    assert.equal(saved.suggestedFilename(), `reconciliation-${day}.json`);
    const [key] = await world.db.asSystem((tx) => reportKeys(tx, world.vault));
    const found = verifySigned(readFileSync(await saved.path(), 'utf8'), key?.pem ?? '');
    assert.ok(found.isGenuine, JSON.stringify(found));
    assert.equal(found.report.day, day);
    await page.emulateMedia({ media: 'print' });
    if (process.env.CONSOLE_PICTURES !== undefined)
      await page.screenshot({ path: join(process.env.CONSOLE_PICTURES, 'Report-printed.png'), fullPage: true });
    assert.equal(await page.getByRole('heading', { name: 'Keys to publish' }).isVisible(), false);
    await page.emulateMedia({ media: 'screen' });
  });

  test('nothing was amiss in the browser', () => {
    assert.deepEqual(ada.amiss, []);
  });
});
