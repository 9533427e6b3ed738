/**
 * What an operator looks at first, in a real browser: the most urgent of all cases, breaks and movements as lists, the webhooks and
 * the destination of an order, what waits for a kill switch, and a proposal whose subject has changed.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { openCase } from '../../src/compliance/index.ts';
import { buildConsole } from '../../src/console/index.ts';
import { takes } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { openStory, type Sale, type Story } from '../support/story.ts';
import { readCsv } from '../support/terminal.ts';
import { type Desk, deskOf, formOn, isGood } from './window.ts';

const HOUR_MS = 3_600_000;
const CASES = 20;
const BANK = 'bank.simulated';
const USDC = 'usdc.matic20';

describe('triage at the console', { skip: noChromium }, () => {
  let world: Story;
  let browser: Browser;
  let origin: string;
  let ada: Awaited<ReturnType<typeof deskOf>>;
  let bea: Awaited<ReturnType<typeof deskOf>>;
  let page: Page;
  let sale: Sale;
  let amiss: Desk['amiss'];

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await openStory({ operators: 'two' });
    origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    browser = await startChromium();
    const { db, baseUrl } = world.server;
    const people = { db, baseUrl, clock: world.clock };
    ada = await deskOf(browser, origin, people, 'ada');
    bea = await deskOf(browser, origin, people, 'bea');
    ({ page, amiss } = ada);
    await plantsBreaks();
    await plantsCases();
    const customer = await world.verifiedCustomer();
    await world.partner.post('/v1/webhooks', { url: 'http://localhost:65017/down' });
    sale = await world.sells('20', 'usdc', { customer });
    assert.equal((await ada.person.does('/kill-switches', { kind: 'rail', subject: BANK })).status, 200);
    await world.pays(sale, '20');
    await world.mines(2);
    await world.until('its payout waits', async () => (await world.stateOf(sale)) === 'paying_out');
    await world.until('its first webhook was tried', async () => {
      const { webhooks } = (await ada.person.reads(`/orders/${sale.id}/webhooks`)).body;
      return webhooks.at(-1).attempts > 0;
    });
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  const goes = (path: string) => page.goto(`${origin}/console${path}`);
  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const region = (name: string) => page.getByRole('region', { name, exact: true });
  const ago = (hours: number) => new Date(world.clock.now().getTime() - hours * HOUR_MS);

  /** Of rails that are not running: no comparison with the outside takes them away. */
  async function plantsBreaks(): Promise<void> {
    for (const [n, rail, asset, kind, outside, ledger, transit] of [
      [1, 'bank.old', 'inr', 'break_missing_outside', 0n, 1_250_000n, null],
      [2, 'evm.old20', USDC, 'break_missing_in_ledger', 150_000_000n, 0n, null],
      [3, 'evm.old20', USDC, 'break_missing_outside', 0n, 20_000_000n, 'the payout is under way'],
    ] as const)
      await world.read((tx) =>
        tx.run(
          `insert into reconcile_items (rail, wallet, asset, key, kind, outside_units, ledger_units, transit, why, names, found_at)
           values ($1, 'hot', $2, $3, $4, $5, $6, $7, 'no movement outside has this name', $8, $9)`,
          [rail, asset, `pay_${n}_1`, kind, outside, ledger, transit, JSON.stringify([`0x${'ab'.repeat(32)}`]), ago(n)],
        ),
      );
  }
  async function plantsCases(): Promise<void> {
    await world.read(async (tx) => {
      for (let n = 1; n <= CASES; n += 1)
        await openCase(tx, {
          ...{ kind: 'deposit_late', subject: `late:${n}`, reason: 'came after its order had ended' },
          ...{ facts: { asset: 'inr', units: String(n * 10_000) }, now: ago(20) },
        });
      await openCase(tx, {
        ...{ kind: 'payout_contradiction', subject: 'payout:pay_7_1', reason: 'refused, then paid' },
        ...{ facts: { asset: USDC, units: '95000000000' }, now: ago(0.1) },
      });
      await openCase(tx, {
        ...{ kind: 'rail_failing', subject: BANK, reason: 'it does not answer', facts: {}, now: ago(5) },
      });
    });
  }

  test('home orders all open cases by urgency, says how, and counts what it does not show', async () => {
    await goes('/');
    await heading('What needs a person');
    const rows = region('Most urgent').locator('tbody tr');
    await rows.locator('a[data-row]').first().waitFor();
    assert.equal(await rows.count(), 12);
    const names = await rows.locator('a[data-row]').allInnerTexts();
    assert.deepEqual(names.slice(0, 2), ['rail failing', 'payout contradiction']);
    await page.getByText('Overdue cases first, then those with the most money at risk').waitFor();
    await page.getByText(/^.*The first 12 of [0-9]+ cases that need a person; [0-9]+ are not shown/).waitFor();
    await isGood(page, 'What needs a person', 'Home by urgency');
    await page.getByRole('link', { name: 'All by urgency' }).click();
    await heading('Most urgent cases');
    await region('Most urgent cases').locator('a[data-row]').first().waitFor();
    await isGood(page, 'Most urgent cases');
  });

  test('home names the wallets below their levels, with what each lacks and the orders that wait for it', async () => {
    await page.route('**/treasury/levels', async (route) => {
      const response = await route.fetch();
      const { levels } = (await response.json()) as { levels: Record<string, unknown>[] };
      const low = { state: 'alarm', freeUnits: '1200', lowUnits: '5000', missingUnits: '3800' };
      const json = { levels: levels.map((one, at) => (at === 0 ? { ...one, ...low, waitingOrders: '2' } : one)) };
      await route.fulfill({ response, json });
    });
    await goes('/');
    const treasury = region('Treasury');
    await treasury.getByText('lacks').waitFor();
    assert.match(await treasury.innerText(), /alarm.*free 1\W?200 of 5\W?000, lacks 3\W?800; orders that wait: 2/s);
    await isGood(page, 'What needs a person', 'Home with a wallet below its level');
    await page.unroute('**/treasury/levels');
  });

  test('breaks are narrowed in the URL, and the CSV has the rows shown', async () => {
    // Without what is in transit of the order.
    await goes(`/breaks?until=${encodeURIComponent(ago(0.5).toISOString())}`);
    await heading('Breaks');
    const rows = region('Breaks').locator('a[data-row]');
    await rows.first().waitFor();
    assert.equal(await rows.count(), 3);
    await isGood(page, 'Breaks', 'Breaks, some');
    await page.getByLabel('State').selectOption('break');
    await page.waitForURL(/state=break/);
    await world.until('the list is narrowed', async () => (await rows.count()) === 2);
    const href = await page.getByRole('link', { name: 'CSV', exact: true }).getAttribute('href');
    const csv = readCsv(await (await page.request.get(`${origin}${href}`)).text());
    assert.deepEqual(
      csv.map(({ kind }) => kind),
      ['break_missing_outside', 'break_missing_in_ledger'],
    );
    await rows.first().click();
    await page.getByRole('dialog').getByText('no movement outside has this name').waitFor();
    await isGood(page, 'Breaks', 'Break, its panel');
  });

  test('an order shows its webhooks, each with its delivery, and where its payout goes', async () => {
    await goes(`/orders/${sale.id}`);
    await heading(`Order ${sale.id}`);
    const hooks = region('Webhooks');
    await hooks.getByText('is sent after the previous one').first().waitFor();
    await page.getByRole('heading', { name: 'Destination' }).waitFor();
    await isGood(page, `Order ${sale.id}`, 'Order with webhooks');
    const form = formOn(page);
    await form.opens('Look at the whole account');
    await form.sends('the customer asks where the money goes');
    await form.dialog().waitFor({ state: 'detached' });
    const { hint } = (await ada.person.reads(`/orders/${sale.id}/payout-destination`)).body;
    await region('Destination')
      .getByText(new RegExp(`[0-9]+${hint}$`))
      .first()
      .waitFor();
    await hooks.getByRole('link', { name: /^1: / }).click();
    await page.waitForURL(/\/webhooks\/.*row=/);
    await page.getByRole('dialog').getByText(`order ${sale.id}`).waitFor();
    await region('Attempts').locator('tbody td').first().waitFor();
  });

  test('a kill switch says what it stops and what goes on, before it is set and after', async () => {
    await goes('/kill-switches');
    await heading('Kill switches');
    await region('Kill switches').getByText('1 payout').waitFor();
    await region('What each kind stops').getByText('New quotes and new orders of this market').waitFor();
    await isGood(page, 'Kill switches', 'Kill switches, one set');
    const form = formOn(page);
    await form.opens('Set a kill switch');
    await form.dialog().getByLabel('Kind').selectOption('payouts');
    await form.effect().getByText('Deposits are swept to our own wallets').waitFor();
    await isGood(page, 'Kill switches', 'Form, kill switch');
    await page.keyboard.press('Escape');
  });

  test('a proposal shows its subject then and now, and marks what has changed', async () => {
    const lift = { kind: 'rail', subject: BANK };
    await world.read((tx) => takes(tx, 2, { right: 'resume' }));
    const { status, body } = await bea.person.does('/kill-switches/lift', lift);
    assert.equal(status, 202, JSON.stringify(body));
    const { proposal } = body;
    await goes(`/proposals/${proposal}`);
    await page.getByText('Nothing has changed since it was proposed.').waitFor();
    assert.equal((await bea.person.does('/kill-switches', lift)).status, 200);
    await page.getByText('A confirmation ends the proposal as overtaken').waitFor();
    const changed = region('The subject, then and now')
      .last()
      .getByRole('row', { name: /changed/ });
    assert.equal(await changed.count(), 2);
    await isGood(page, `kill-switch.lift, proposal ${proposal}`, 'Proposal, changed');
  });

  test('movements are listed, undecided ones first, with what may be done about them', async () => {
    await world.read(async (tx) => {
      for (const [nonce, state] of [
        [901, 'foreign'],
        [902, 'open'],
      ] as const)
        await tx.run(
          `insert into found_movements (rail, wallet, nonce, hash, state, recipient, asset, units, block, block_at, succeeded,
             cost_units, target, data, value, fee, found_at)
           values ('evm.matic20', 'hot', $1, $2, $3, $4, $5, 2500000, 9, now(), true, 1, '0xt', '', 0, '{}', $6)`,
          [nonce, `0x${String(nonce).repeat(21)}a`, state, `0x${'52'.repeat(20)}`, USDC, ago(1)],
        );
    });
    await goes('/breaks/movements');
    await heading('Movements');
    await region('Movements')
      .getByRole('button', { name: /^Match/ })
      .waitFor();
    await isGood(page, 'Movements', 'Movements, some');
    await page.getByLabel('State').selectOption('foreign');
    await page.waitForURL(/state=foreign/);
    await region('Movements').getByText('decided').waitFor();
  });

  test('asks no other origin, and runs into no policy and no error', () => {
    assert.deepEqual(amiss, []);
  });
});
