/**
 * The operators' console in a real browser, on a real server with money that moves: enrolment and login by passkey, an order with
 * its money's path, a case by keyboard alone, a proposal that two people carry out in two browsers. Each page on a desktop and on
 * a phone, light and dark: axe finds no problem, the content security policy blocks nothing, and no other origin is requested.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { openCase } from '../../src/compliance/index.ts';
import { buildConsole } from '../../src/console/index.ts';
import type { Role } from '../../src/operators/index.ts';
import { operatorNamed, type Person, takes } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { isLong } from '../support/long.ts';
import { openStory, type Sale, type Story } from '../support/story.ts';
import { type Desk, enrol, isGood, openDesk, signIn } from './window.ts';

const SCRIPT = '<img src=x onerror="document.title=1">';
const STEP_UP_MS = 10 * 60_000;

describe('the console in a browser', { skip: noChromium }, () => {
  let world: Story;
  let browser: Browser;
  let origin: string;
  let settled: Sale;
  let held: Sale;
  let ada: Desk & { person: Person };
  let bea: Desk & { person: Person };

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await openStory({ operators: 'two', settings: { OPERATOR_NETWORKS: '127.0.0.0/8,203.0.113.0/24' } });
    // A passkey belongs to a host name, and an IP address is not one.
    origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    await world.read((tx) => takes(tx, 2, { right: 'money' }));
    await world.read((tx) => takes(tx, 2, { right: 'resume' }));
    browser = await startChromium();
    settled = await world.sells('1250.50', 'usdc');
    await world.pays(settled, '1250.50');
    await world.mines(2);
    held = await world.sells('30', 'usdc', { reference: 'screen:hold' });
    await world.pays(held, '30');
    await world.mines(2);
    await world.until('one order is settled', async () => (await world.stateOf(settled)) === 'settled');
    await world.until('one order is held', async () => (await world.stateOf(held)) === 'on_hold');
    await world.read((tx) =>
      openCase(tx, {
        kind: 'statement_line_refused',
        subject: 'statement:7',
        reason: `a line says ${SCRIPT}`,
        facts: { line: SCRIPT },
        now: world.clock.now(),
      }),
    );
    ada = await desk('ada', 'admin');
    bea = await desk('bea', 'admin');
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  async function desk(name: string, role: Role): Promise<Desk & { person: Person }> {
    const { db, baseUrl } = world.server;
    const person = await operatorNamed({ db, baseUrl, clock: world.clock }, name, role);
    return { ...(await openDesk(browser, origin)), person };
  }
  const goes = (page: Page, path: string) => page.goto(`${origin}/console${path}`);
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

  test('a token enrols a passkey, the passkey signs in, and the page asked for is there', async () => {
    for (const { page, person } of [ada, bea]) {
      await goes(page, `/orders/${settled.id}`);
      await page.getByText('First time here').waitFor();
      if (person.name === 'ada') {
        await isGood(page, 'Cloverleaf console');
        await page.getByText('First time here').click();
        await page.getByLabel('Operator token').fill('no token of anybody at all');
        await page.getByRole('button', { name: 'Enrol a passkey' }).click();
        await page.getByRole('alert').waitFor();
        await page.getByText('First time here').click();
      }
      await enrol(page, person.token);
      await signIn(page, person.name);
      await heading(page, `Order ${settled.id}`);
      assert.equal(await page.locator('.profile').innerText(), 'SANDBOX');
    }
  });

  test('a settled order shows its deposit, its payout, and the evidence of both', async () => {
    const { page } = ada;
    await goes(page, `/orders/${settled.id}`);
    const way = page.getByLabel('The way of the money');
    await way.waitFor();
    const { deposits, payouts } = await world.traceOf(settled);
    const shown = await way.innerText();
    assert.match(shown, /1\u202f250\.5 usdc\.matic20/, 'the deposit is not shown as a grouped amount');
    assert.match(shown, /holds nothing/);
    for (const evidence of [deposits[0]?.reference, payouts[0]?.reference]) {
      assert.ok(evidence, 'the payout has no evidence');
      await way.getByTitle(evidence).waitFor();
    }
    assert.equal(await page.getByText('submitted', { exact: true }).count(), 0, 'money is still under way');
    await isGood(page, `Order ${settled.id}`);
    await way.getByRole('link', { name: payouts[0]?.id ?? '' }).click();
    await page.getByText('The rail has paid it').waitFor();
    await page.getByTitle(String(payouts[0]?.reference)).waitFor();
    await isGood(page, `Payout ${payouts[0]?.id}`, 'Payout');
  });

  test('a list keeps its filters in the URL, and exports its rows as CSV', async () => {
    const { page } = ada;
    await goes(page, '/orders');
    await page.getByLabel('State').selectOption('on_hold');
    await page.waitForURL(/\?state=on_hold$/);
    const row = page.locator('a[data-row]');
    await world.until('one order is left', async () => (await row.count()) === 1);
    assert.equal(await row.innerText(), String(held.id));
    const href = await page.getByRole('link', { name: 'CSV' }).getAttribute('href');
    const reply = await page.request.get(`${origin}${href}`);
    assert.match(await reply.text(), new RegExp(`\n${held.id},`));
    await isGood(page, 'Orders');
    await page.setViewportSize({ width: 390, height: 844 });
    const amount = page.locator('td[data-head=Payout]', { hasText: '2\u202f541.84 inr' });
    const { x, width } = (await amount.boundingBox()) ?? { x: 0, width: 0 };
    assert.ok(x >= 0 && width > 0 && x + width <= 390, 'on a phone the amount of a row is out of sight');
    await page.getByText('Times in UTC').waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.reload();
    await row.waitFor();
    assert.equal(await page.getByLabel('State').inputValue(), 'on_hold');
  });

  test('a case is claimed, noted and closed by keyboard alone, and typed texts are shown as text', async () => {
    const { page } = ada;
    await goes(page, '/');
    await heading(page, 'What needs a person');
    await page.getByRole('link', { name: 'statement line refused' }).first().waitFor();
    await isGood(page, 'What needs a person');
    const keys = page.keyboard;
    await keys.press('g');
    await keys.press('c');
    await heading(page, 'Cases');
    await page.getByRole('link', { name: 'statement line refused' }).waitFor();
    await isGood(page, 'Cases');
    for (let at = 0; at < 9; at += 1) {
      await keys.press('j');
      if (await page.evaluate(`document.activeElement.textContent === 'statement line refused'`)) break;
    }
    await keys.press('Enter');
    await page.getByText('What to do').waitFor();
    await page.locator('b', { hasText: SCRIPT }).waitFor();
    const title = await page.locator('h1').innerText();
    await isGood(page, title);
    for (const [key, more, says] of [
      ['c', [], 'The server says: done.'],
      ['n', ['<b>asked the bank</b>'], 'The server says: done.'],
      ['x', ['the bank sent it again', '', 'seen by two'], 'The server says: done.'],
    ] as const) {
      await keys.press(key);
      await page.getByRole('dialog').waitFor();
      for (const [at, text] of more.entries()) {
        if (at > 0) await keys.press('Tab');
        await keys.type(text);
      }
      if (more.length === 0) await page.getByRole('dialog').getByLabel('Reason').press('End');
      await keys.press('Control+Enter');
      await page.getByText(says).waitFor();
      await keys.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.getByText(/^Closed /).waitFor();
    await page.getByText('<b>asked the bank</b>').waitFor();
    const [closed] = (await ada.person.reads('/cases?open=false&kind=statement_line_refused')).body.cases;
    assert.deepEqual([closed.assignee, closed.outcome], ['ada', 'the bank sent it again']);
  });

  test('an action that takes two waits as a proposal, after a fresh login, and another operator confirms it', async () => {
    const { page } = ada;
    await goes(page, `/orders/${held.id}`);
    await heading(page, `Order ${held.id}`);
    await page.getByText('Nothing has gone out.').waitFor();
    await isGood(page, `Order ${held.id}`, 'Order held');
    world.clock.advance(STEP_UP_MS + 1_000);
    await page.getByRole('button', { name: 'Release', exact: true }).click();
    await isGood(page, `Order ${held.id}`, 'Order held, a form');
    await page.getByLabel('Reason').fill(`papers are in order ${SCRIPT}`);
    await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click();
    await page.getByRole('heading', { name: 'Show your passkey again' }).waitFor();
    await page.getByRole('button', { name: 'Use passkey' }).click();
    await page.getByText('Nothing is done yet.').waitFor();
    assert.equal(await world.stateOf(held), 'on_hold');
    await page
      .getByRole('dialog')
      .getByRole('link', { name: /proposal/ })
      .click();
    await page.getByText('It is your own proposal').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Confirm' }).isDisabled(), true);

    const other = bea.page;
    await other.keyboard.press('g');
    await other.keyboard.press('p');
    await heading(other, 'Proposals');
    await other.getByRole('link', { name: 'order.release' }).waitFor();
    await isGood(other, 'Proposals');
    await other.getByRole('link', { name: 'order.release' }).click();
    await other.getByText(SCRIPT).first().waitFor();
    await isGood(other, await other.locator('h1').innerText());
    await other.getByRole('button', { name: 'Confirm' }).click();
    await other.getByLabel('Reason').fill('seen the papers');
    await other.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click();
    await other.getByRole('button', { name: 'Use passkey' }).click();
    await other.getByText('The server says: done.').waitFor();
    await world.mines(2);
    await world.until('the order is paid', async () => (await world.stateOf(held)) === 'settled');
    await goes(page, `/orders/${held.id}`);
    await page.locator('.flow').getByText('settled').first().waitFor();
  });

  if (isLong)
    test('a kill switch is set, seen on the first page, and lifted', async () => {
      const { page } = ada;
      await goes(page, '/kill-switches');
      await page.getByRole('button', { name: 'Set a kill switch' }).click();
      await page.getByLabel('Kind', { exact: true }).selectOption('rail');
      await page.getByLabel('Which').fill('evm.erc20');
      await page.getByLabel('Reason').fill(SCRIPT);
      await page.getByRole('dialog').getByRole('button', { name: 'Set a kill switch' }).click();
      await page.getByText('The server says: done.').waitFor();
      await page.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('cell', { name: SCRIPT }).waitFor();
      await isGood(page, 'Kill switches');
      await page.keyboard.press('g');
      await page.keyboard.press('h');
      await page.getByText('rail evm.erc20').waitFor();
      await goes(page, '/kill-switches');
      await page.getByRole('button', { name: 'Lift' }).click();
      await page.getByLabel('Reason').fill('the node is well');
      await page.getByRole('dialog').getByRole('button', { name: 'Lift' }).click();
      const link = page.getByRole('dialog').getByRole('link', { name: /proposal/ });
      const proposal = (await link.innerText()).replace('proposal ', '');
      await page.getByRole('button', { name: 'Close' }).click();
      assert.equal((await bea.person.does(`/proposals/${proposal}/confirm`)).status, 200);
      await page.getByText('Nothing is switched off.').waitFor();
    });

  if (isLong)
    test('a missing answer counts as neither done nor declined, and the page shows the outcome', async () => {
      const { page } = ada;
      await goes(page, '/kill-switches');
      await page.route('**/operator/v1/kill-switches', async (route) => {
        if (route.request().method() !== 'POST') return await route.continue();
        await route.fetch();
        await route.abort();
      });
      await page.getByRole('button', { name: 'Set a kill switch' }).click();
      await page.getByLabel('Kind', { exact: true }).selectOption('rail');
      await page.getByLabel('Which').fill('evm.matic20');
      await page.getByLabel('Reason').fill('looks like theft');
      await page.getByRole('dialog').getByRole('button', { name: 'Set a kill switch' }).click();
      await page.getByText('The action may have been done').waitFor();
      await page.locator('td', { hasText: 'rail evm.matic20' }).waitFor();
      await page.unroute('**/operator/v1/kill-switches');
      const what = { kind: 'rail', subject: 'evm.matic20' };
      const { proposal } = (await ada.person.does('/kill-switches/lift', what)).body;
      assert.equal((await bea.person.does(`/proposals/${proposal}/confirm`)).status, 200);
    });

  if (isLong)
    test('keys are explained, and the palette leads to any page and to an order', async () => {
      const { page } = ada;
      await goes(page, '/');
      await heading(page, 'What needs a person');
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keys' }).waitFor();
      await isGood(page, 'What needs a person', 'Keys');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+k');
      await page.keyboard.type(String(settled.id));
      await page.keyboard.press('Enter');
      await heading(page, `Order ${settled.id}`);
      await page.keyboard.press('/');
      await page.keyboard.type(String(held.id));
      await page.keyboard.press('Enter');
      await heading(page, `Order ${held.id}`);
      await page.keyboard.press('Control+k');
      await page.keyboard.type('trial bal');
      await page.keyboard.press('Enter');
      await heading(page, 'Trial balance');
    });

  if (isLong)
    test('colours follow the system until an operator switches them, and stay switched', async () => {
      const { page } = ada;
      const ground = () => page.evaluate(`getComputedStyle(document.documentElement).backgroundColor`);
      await page.emulateMedia({ colorScheme: 'light' });
      const light = await ground();
      await page.getByRole('button', { name: 'Colours: auto' }).click();
      await page.getByRole('button', { name: 'Colours: light' }).click();
      await page.getByRole('button', { name: 'Colours: dark' }).waitFor();
      const dark = await ground();
      assert.notEqual(dark, light);
      await page.reload();
      await page.getByRole('button', { name: 'Colours: dark' }).waitFor();
      assert.equal(await ground(), dark);
      await page.getByRole('button', { name: 'Colours: dark' }).click();
      await page.getByRole('button', { name: 'Colours: auto' }).waitFor();
      assert.equal(await ground(), light);
    });

  test('a page of each further kind is good on a desktop and on a phone', async () => {
    const { page } = ada;
    // Every page: the files of the long run beside this one.
    for (const [path, title] of [
      ['/suspense', 'Suspense'],
      ['/treasury', 'Treasury'],
      ['/markets', 'Markets'],
      ['/operators', 'Operators and rules'],
      ['/alerts', 'Alerts'],
      ['/handbook', 'Handbook'],
    ] as const) {
      await goes(page, path);
      await heading(page, title);
      await world.until(
        `${title} has loaded`,
        async () => (await page.getByText('Loading', { exact: true }).count()) === 0,
      );
      await isGood(page, title);
    }
  });

  test('sessions are listed, and one that is ended is signed out', async () => {
    const { page } = bea;
    await goes(page, '/sessions');
    await page.getByText('this one').waitFor();
    const allowed = page.getByRole('region', { name: 'Allowed networks' });
    await allowed.getByText('127.0.0.0/8, 203.0.113.0/24').waitFor();
    await allowed.getByText('within').waitFor();
    await allowed.getByText('OPERATOR_NETWORKS').waitFor();
    await isGood(page, 'Sessions and passkeys');
    await page
      .getByRole('row', { name: /this one/ })
      .getByRole('button', { name: /End session/ })
      .click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await ada.page.getByRole('button', { name: 'Sign out' }).click();
    await ada.page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  });

  test('asks no other origin, and runs into no policy and no error', () => {
    assert.deepEqual([ada.amiss, bea.amiss], [[], []]);
  });
});
