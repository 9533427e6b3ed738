/**
 * Attacks on the pages in a real browser: a script in every field that others fill in (scripts.lists.ts) runs on no page of the consoles
 * and on no hosted page, and is shown as the text that it is; no address leads from the login to another site.
 *
 * Which fields and pages there are, is derived: scripts.fields.test.ts compares the lists with declarations and routes.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, Locator, Page, Request } from 'playwright-core';
import { buildConsole } from '../../src/console/index.ts';
import { inviteMember } from '../../src/team/index.ts';
import { operatorNamed, type Person } from '../protocols/operator/people.ts';
import { type V1Environment, v1Environment } from '../protocols/v1/environment.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import type { Came } from '../support/client.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { elementOf, fillsAll, listWith, type Made, scriptOf, titleOf } from './scripts.environment.ts';
import { CONSOLE_PAGES, PARTNER_PAGES, readNames } from './scripts.fields.ts';
import { FILLED, type Filled, HIDDEN, HOSTED, type ObjectPage } from './scripts.lists.ts';
import { type Desk, deskOf, formOn, openDesk, signIn } from './window.ts';

/** Rows at each end of a list that are opened. */
const ROWS = 2;
/** Rows of the audit with a text that no other page shows. */
const IN_AUDIT = '/console/audit?action=customer.detach_phone';
const TITLES = new Set<string>(FILLED.map(titleOf));
/** All texts of a page, those of controls and of its attributes too. */
const TEXTS = `(() => {
  const of = (one) => [one.value, ...['title', 'aria-label', 'placeholder', 'href', 'label'].map((name) => one.getAttribute(name))];
  return [document.body.textContent, ...[...document.querySelectorAll('body *')].flatMap(of)].filter(Boolean).join('\\n');
})()`;
/** How a page may show the script. In an address, `URL` has escaped it. */
const spellingsOf = (script: string): string[] => [
  ...[script, elementOf(script)],
  ...[new URL(`?${script}`, 'https://a.test').search, String(new URLSearchParams(script))],
];
/** Elements that only a script's text has. */
const ELEMENTS = `[...document.querySelectorAll('*')]
  .filter((one) => /^x-f/i.test(one.tagName) || one.matches('img[src="x"], [onerror]')).map((one) => one.outerHTML)`;

describe('the pages under attack', { skip: noChromium }, () => {
  let dir: string;
  let w: V1Environment;
  let receiver: Receiver;
  let browser: Browser;
  let origin: string;
  let ada: Desk & { person: Person };
  let olga: Desk;
  let made: Made;
  /** What was typed, and what a page has shown. */
  const typed = new Set<Filled>();
  const seen = new Set<Filled>();

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    dir = mkdtempSync(join(tmpdir(), 'scripts-'));
    const list = join(dir, 'uk.xml');
    writeFileSync(list, listWith(text('sanctions list name')));
    w = await v1Environment({
      operators: 'two',
      settings: {
        ...{ SANCTIONS_LISTS: `uk=${list}`, ADDRESS_RISK: 'simulated' },
        ...{ TRAVEL_PROTOCOL: 'trp', TRP_LEGAL_NAME: 'A Ramp Ltd', TRP_ASSETS: 'usdc.matic20=dti:4H95J0R2X' },
      },
    });
    const { server, clock } = w.s;
    origin = server.baseUrl.replace('127.0.0.1', 'localhost');
    receiver = await openReceiver();
    browser = await startChromium();
    ada = await deskOf(browser, origin, { db: server.db, baseUrl: server.baseUrl, clock }, 'ada');
    olga = await openDesk(browser, origin);
    for (const { page, amiss } of [ada, olga]) watches(page, amiss);
    await joins();
    const bea = await operatorNamed({ db: server.db, baseUrl: server.baseUrl, clock }, 'bea', 'admin');
    made = await fillsAll({ w, ada: ada.person, bea, receiver, owner, text });
  });
  after(async () => {
    await browser?.close();
    await receiver?.down();
    await w?.s.close();
    if (dir !== undefined) rmSync(dir, { recursive: true });
  });

  function text(field: Filled): string {
    typed.add(field);
    return scriptOf(field);
  }

  /** Requests of a page that are not answered. */
  const underWay = new Map<Page, Set<Request>>();

  function watches(page: Page, amiss: string[]): void {
    const open = new Set<Request>();
    underWay.set(page, open);
    page.on('request', (request) => open.add(request));
    for (const over of ['requestfinished', 'requestfailed'] as const)
      page.on(over as 'requestfinished', (request) => open.delete(request));
    page.on('framenavigated', () => open.clear());
    page.on('dialog', (dialog) => {
      amiss.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  /** The owner of the partner's team. */
  async function joins(): Promise<void> {
    const { code } = await w.s.read(async (tx) => {
      const row = await tx.row<{ partnerId: bigint }>('select partner_id from api_keys where key = $1', [
        w.keys.apiKey,
      ]);
      assert.ok(row);
      const member = { name: 'olga', role: 'owner', by: 'operator op' } as const;
      return await inviteMember(tx, { ...row, ...member, now: w.s.clock.now() });
    });
    const { page } = olga;
    await page.goto(`${origin}/partner/join#${code}`);
    await page.getByRole('button', { name: 'Make a passkey' }).click();
    await page.getByRole('link', { name: 'Open the console' }).click();
    await page.getByRole('heading', { level: 1, name: 'What needs you' }).waitFor();
  }

  async function owner(method: string, path: string, body: Record<string, unknown>): Promise<Came> {
    const sent = JSON.stringify({
      method,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'x-console': '1', 'idempotency-key': randomUUID() },
    });
    const came = (await olga.page.evaluate(
      `fetch(${JSON.stringify(`/v1${path}`)}, ${sent}).then(async (reply) => ({ status: reply.status, body: await reply.json() }))`,
    )) as { status: number; body: Came };
    assert.ok(came.status < 300, `${method} ${path}: ${JSON.stringify(came.body)}`);
    return came.body;
  }

  /** Nothing that was typed runs or is an element on this page; notes which fields it shows. */
  async function isText(page: Page, where: string): Promise<void> {
    const found = await page.evaluate(TEXTS).then(String);
    for (const field of FILLED) if (spellingsOf(scriptOf(field)).some((one) => found.includes(one))) seen.add(field);
    assert.deepEqual(await page.evaluate(ELEMENTS), [], `${where} has an element of a text`);
    const title = await page.title();
    assert.ok(!TITLES.has(title), `the script of ${FILLED.find((one) => titleOf(one) === title)} ran on ${where}`);
  }

  /** The page and all that it has asked for. */
  async function opens(page: Page, path: string): Promise<void> {
    await page.goto(`${origin}${path}`);

    await page.locator('h1').waitFor();
    await rests(page);
    await isText(page, path);
  }
  /** Until what the page has asked for has come, and is drawn, and it asks for nothing more. */
  async function rests(page: Page): Promise<void> {
    for (let calm = 0; calm < 3; ) {
      await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
      calm = (underWay.get(page)?.size ?? 0) === 0 ? calm + 1 : 0;
    }
  }

  const objects = (): Readonly<Record<ObjectPage, readonly string[]>> => ({
    '/console/orders/$order': [made.order, ...made.sales],
    '/console/cases/$case': [made.case, made.closed, made.debit],
    '/console/proposals/$proposal': made.proposals,
    '/console/deposits/$deposit': [made.deposit, made.coins],
    '/console/payouts/$payout': [made.payout],
    '/console/partners/$partner': made.partners,
    '/console/partners/$partner/requests': [made.partner],
    '/console/markets/$market': ['1'],
    '/console/webhooks/$endpoint': made.endpoints,
    '/console/reviews/$customer': [made.customer, made.firm, made.changed, ...made.enrolled],
    '/console/screening/$hit': [made.hit],
    '/console/customers/$customer': [
      ...[made.customer, made.firm, made.changed, made.holder, made.recycled, made.wireHolder],
      ...made.enrolled,
    ],
    '/console/address-risk/$hit': [made.addressHit],
    '/partner/orders/$order': [made.order, ...made.sales],
    '/partner/customers/$customer': [made.customer, made.firm, made.changed, made.holder, made.wireHolder],
    '/partner/webhooks/$endpoint': made.endpoints,
    '/partner/requests/$request': [made.request],
  });
  /** Addresses of a page, one for each object. */
  const addresses = (path: string): string[] =>
    path.includes('$')
      ? objects()[path as ObjectPage].map((id) => path.replace(/\$\w+/, encodeURIComponent(id)))
      : [path, ...(path === '/console/audit' ? [IN_AUDIT] : [])];

  const CONSOLES: readonly (readonly [name: string, desk: () => Desk, pages: readonly string[]])[] = [
    ['/console', () => ada, CONSOLE_PAGES],
    ['/partner', () => olga, PARTNER_PAGES],
  ];
  for (const [console, desk, pages] of CONSOLES) {
    test(`no script runs on a page of ${console}, nor where a panel with personal data is opened`, async () => {
      const { page, amiss } = desk();
      for (const path of pages.flatMap((one) => addresses(`${console}${one}`))) {
        await opens(page, path);
        await looksAtAll(page, path);
        for (const row of await rowsOf(page)) await opens(page, row);
      }
      assert.deepEqual(amiss, []);
    });

    test(`no script runs that is in the address of a page of ${console}`, async () => {
      const { page, amiss } = desk();
      const search = new URLSearchParams(
        Object.fromEntries(readNames().map((name) => [name, text('operator reason')])),
      );
      for (const path of pages.flatMap((one) => addresses(`${console}${one}`).slice(0, 1)))
        await opens(page, `${path}?${search}`);
      assert.deepEqual(amiss, []);
    });
  }

  /** Opens each panel and file that takes a reason. */
  async function looksAtAll(page: Page, where: string): Promise<void> {
    const form = formOn(page);
    const buttons = await page.getByRole('button', { name: /^Look at/ }).all();
    // A line of its own is the shortcut, which is not in the name.
    const nameOf = async (one: Locator) =>
      (await one.getAttribute('aria-label')) ?? (await one.innerText()).split('\n', 1).join('').trim();
    const names = new Set(await Promise.all(buttons.map(nameOf)));
    for (const name of names) {
      await page.getByRole('button', { name }).first().click();
      if (await isOpen(form.dialog())) await form.sends('what does it say');
      await rests(page);
      await isText(page, `${where}, ${name}`);
      const close = form.dialog().getByRole('button', { name: 'Close' });
      if ((await close.count()) > 0) await close.click();
    }
  }
  /** Addresses of the first and the last rows that open within their list. */
  async function rowsOf(page: Page): Promise<string[]> {
    const hrefs = `[...document.querySelectorAll('a[href*="row="]')].map((one) => one.getAttribute('href'))`;
    const all: string[] = await page.evaluate(hrefs);
    const rows = [...new Set(all)];
    return [...new Set([...rows.slice(0, ROWS), ...rows.slice(-ROWS)])];
  }
  const isOpen = (dialog: Locator): Promise<boolean> =>
    dialog.waitFor({ timeout: 1_000 }).then(
      () => true,
      () => false,
    );

  test('no script runs that a member of the team gives to the doctor', async () => {
    const { page, amiss } = olga;
    await opens(page, '/partner/doctor');
    await page.getByLabel('Path with query').fill(`/${text('v1 requests.diagnose path')}`);
    await page.getByLabel('Headers, a line each').fill(`x-a: ${text('v1 requests.diagnose headers')}`);
    await page.getByLabel('Body, exactly as it is sent').fill(text('v1 requests.diagnose body'));
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByText('The server would not take it.').waitFor();
    await isText(page, 'the doctor');
    assert.deepEqual(amiss, []);
  });

  test('no address of the console leads to another site, before the login or after it', async () => {
    const desk = await openDesk(browser, origin);
    const { page } = desk;
    const left: string[] = [];
    page.on('framenavigated', (frame) => {
      if (!frame.url().startsWith(`${origin}/`) && frame.url() !== 'about:blank') left.push(frame.url());
    });
    for (const path of [
      '/console/?redirect=https://evil.test/',
      '/console/?next=//evil.test&return_to=//evil.test&url=https://evil.test',
      '/console//evil.test',
      '/console/%2F%2Fevil.test',
      '/console/%5C%5Cevil.test',
      '/console/https:%2F%2Fevil.test',
      '/console/javascript:document.title=1',
      '/console/?returnTo=javascript:document.title=1',
      '/console/?next=%5C%5Cevil.test',
      '/console/#https://evil.test',
      '/partner/?redirect=https://evil.test/',
      '/partner//evil.test',
    ]) {
      await page.goto(`${origin}${path}`);
      await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
      assert.equal(new URL(page.url()).origin, origin, path);
    }
    const signed = ada.page;
    for (const path of [
      '/console/?redirect=https://evil.test/',
      '/console/?next=//evil.test',
      '/console/?returnTo=javascript:document.title=1',
      '/console/?next=%5C%5Cevil.test',
      '/console//evil.test',
      '/console/%2F%2Fevil.test',
    ]) {
      await signed.goto(`${origin}/console/`);
      await signed.getByRole('button', { name: 'Sign out' }).click();
      // A page that is left earlier takes its request along.
      await signed.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
      await signed.goto(`${origin}${path}`);
      await signIn(signed, 'ada');
      assert.equal(new URL(signed.url()).origin, origin, path);
      assert.notEqual(await signed.title(), '1', path);
      const links: string[] = await signed.evaluate(
        `[...document.querySelectorAll('a[href]')].map(({ href }) => href)`,
      );
      assert.deepEqual(
        links.filter((href) => !href.startsWith(`${origin}/`)),
        [],
        `${path} links elsewhere`,
      );
    }
    assert.deepEqual(left, []);
    assert.deepEqual(
      [...desk.amiss, ...ada.amiss].filter((one) => one.includes('evil')),
      [],
    );
    await desk.close();
  });

  for (const name of HOSTED)
    test(`no script runs on the hosted page ${name}, nor in a field of its forms`, async () => {
      for (const url of made[name]) {
        const context = await browser.newContext();
        const page = await context.newPage();
        page.setDefaultTimeout(20_000);
        const amiss: string[] = [];
        watches(page, amiss);
        await page.goto(url.replace('127.0.0.1', 'localhost'));
        await isText(page, name);
        await logsIn(page);
        await isText(page, `${name} after the login`);
        await fillsIn(page, name);
        await finishes(page, name);
        assert.deepEqual(amiss, []);
        await context.close();
      }
    });

  async function logsIn(page: Page): Promise<void> {
    const send = page.getByRole('button', { name: 'Send code' });
    if ((await send.count()) === 0) return;
    w.s.clock.advance(5 * 60_000);
    await send.click();
    await page.getByLabel('Six-digit code').fill('123456');
    await page.getByRole('button', { name: 'Log in' }).click();
  }

  /** A script in every field, past the checks of the browser: the page with the mistakes has it again. */
  async function fillsIn(page: Page, where: string): Promise<void> {
    const count = await page.locator('input:not([type=hidden]):not([type=file]), textarea').count();
    if (count === 0) return;
    await page.evaluate(`for (const one of document.querySelectorAll('input:not([type=hidden]):not([type=file]), textarea')) {
      one.type = 'text'; one.removeAttribute('maxlength'); one.value = ${JSON.stringify(text('operator reason'))};
      one.form.noValidate = true;
    }`);
    await page.locator('form:has(input:not([type=hidden]), textarea) button.first').first().click();
    await page.waitForLoadState('load');
    await isText(page, `${where} with mistakes`);
  }

  /** The last steps of a confirmation and of an account, after which the page leads back to the partner. */
  async function finishes(page: Page, where: string): Promise<void> {
    const submits = async (fields: Readonly<Record<string, string>>, button: string): Promise<void> => {
      for (const [name, value] of Object.entries(fields)) await page.getByLabel(name).fill(value);
      await page.getByRole('button', { name: button }).click();
      await page.getByRole('link', { name: /^Back to/ }).waitFor();
      await isText(page, `${where} at its end`);
    };
    if ((await page.getByLabel('IFSC code').count()) > 0)
      await submits({ 'Account number': '000112345671111', 'IFSC code': 'HDFC0000001' }, 'Add account');
    const send = page.getByRole('button', { name: 'Send code' });
    if (where !== 'confirm' || (await send.count()) === 0) return;
    w.s.clock.advance(5 * 60_000);
    await send.click();
    await fillsIn(page, where);
    await submits({ 'Six-digit code': '123456' }, 'Yes, this is mine');
  }

  test('every field that is listed was typed, and is shown as text on a page', () => {
    assert.deepEqual(
      FILLED.filter((one) => !typed.has(one)),
      [],
      'not typed',
    );
    assert.deepEqual(
      FILLED.filter((one) => !seen.has(one)).toSorted(),
      Object.keys(HIDDEN).toSorted(),
      'the fields that no page shows are not those of the list',
    );
  });
});
