/**
 * Attacks on the sessions of both consoles and on what others can show of them, in a real browser: a page of another site frames a
 * page of ours, and a cookie that was in the browser before the login.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { buildConsole } from '../../src/console/index.ts';
import { inviteMember } from '../../src/team/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import { type V1Environment, v1Environment } from '../protocols/v1/environment.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { type Desk, deskOf, openDesk, signIn } from './window.ts';

/** A page that frames the address in its query, and one that it may frame. */
function foreignSite(): Promise<{ server: Server; at: string }> {
  const server = createServer((request, response) => {
    const { searchParams, pathname } = new URL(request.url ?? '/', 'http://foreign.test');
    const frame = (searchParams.get('of') ?? '').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
    response.setHeader('content-type', 'text/html');
    response.end(
      pathname === '/own' ? '<h1>may be framed</h1>' : `<h1>Win a prize</h1><iframe src="${frame}"></iframe>`,
    );
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve({ server, at: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
    );
  });
}

describe('a page of another site, and a cookie of another person', { skip: noChromium }, () => {
  let world: V1Environment;
  let browser: Browser;
  let origin: string;
  let foreign: Awaited<ReturnType<typeof foreignSite>>;
  let ada: Desk & { person: Person };
  let olga: Desk;
  let hosted: Record<string, string>;

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await v1Environment();
    const { server, clock } = world.s;
    origin = server.baseUrl.replace('127.0.0.1', 'localhost');
    foreign = await foreignSite();
    browser = await startChromium();
    ada = await deskOf(browser, origin, { db: server.db, baseUrl: server.baseUrl, clock }, 'ada');
    olga = await openDesk(browser, origin);
    const row = await world.s.read((tx) =>
      tx.row<{ partnerId: bigint }>('select partner_id from api_keys where key = $1', [world.keys.apiKey]),
    );
    const invited = { partnerId: row?.partnerId ?? 0n, name: 'olga', role: 'owner' as const, by: 'operator op' };
    const { code } = await world.s.read((tx) => inviteMember(tx, { ...invited, now: clock.now() }));
    await olga.page.goto(`${origin}/partner/join#${code}`);
    await olga.page.getByRole('button', { name: 'Make a passkey' }).click();
    await olga.page.getByRole('link', { name: 'Open the console' }).click();
    await olga.page.getByRole('heading', { level: 1, name: 'What needs you' }).waitFor();

    const customerId = await world.customer();
    const { url } = await world.api.does('POST', `/customers/${customerId}/verification-link`, {});
    const { link } = await world.s.told<{ link: string }>('/onramp/api/v2/common/transaction/generateLink', {
      ...{ type: '2', coinCode: 'usdc', network: 'matic20', quantity: '100', fiatType: '1' },
    });
    const ours = (address: string) => address.replace(server.baseUrl, origin);
    hosted = { checkout: ours(link), verification: ours(String(url)) };
  });
  after(async () => {
    await browser?.close();
    foreign?.server.close();
    await world?.s.close();
  });

  /** What stands in the frame, once it has come to rest. */
  async function framed(page: Page, of: string): Promise<{ url: string; text: string }> {
    await page.goto(`${foreign.at}/?of=${encodeURIComponent(of)}`, { waitUntil: 'load' });
    await page.getByRole('heading', { name: 'Win a prize' }).waitFor();
    const frame = page.frames().find((one) => one.parentFrame() !== null);
    assert.ok(frame, `the page has no frame of ${of}`);
    return { url: frame.url(), text: await frame.evaluate(`document.body?.innerText ?? ''`) };
  }

  test('a page of another site frames its own page, so an empty frame means something', async () => {
    const { text } = await framed(ada.page, `${foreign.at}/own`);
    assert.equal(text, 'may be framed');
  });

  test('a page of another site shows nothing of a console in a frame, also to who is signed in', async () => {
    for (const [desk, path, title] of [
      [ada, '/console/', 'What needs a person'],
      [ada, '/console/kill-switches', 'Kill switches'],
      [ada, '/console/none', ''],
      [olga, '/partner/', 'What needs you'],
      [olga, '/partner/keys', 'API keys'],
    ] as const) {
      const { page } = desk;
      if (title !== '') {
        await page.goto(`${origin}${path}`);
        await page.getByRole('heading', { level: 1, name: title }).waitFor();
      }
      const { url, text } = await framed(page, `${origin}${path}`);
      assert.match(url, /^chrome-error:/, `${path} is framed`);
      assert.equal(text, '', path);
    }
  });

  test('a page of another site shows nothing of a hosted page in a frame', async () => {
    const { page, close } = await openDesk(browser, origin);
    for (const [name, address] of Object.entries(hosted)) {
      await page.goto(address);
      await page.locator('h1').waitFor();
      const { url, text } = await framed(page, address);
      assert.match(url, /^chrome-error:/, `${name} is framed`);
      assert.equal(text, '', name);
    }
    await close();
  });

  const cookieOf = async ({ page }: Pick<Desk, 'page'>, name: string) =>
    (await page.context().cookies(origin)).find((one) => one.name === name)?.value ?? '';
  /** The status of a request with this cookie alone. */
  const statusWith = async (path: string, cookie: string): Promise<number> =>
    (await fetch(`${world.s.server.baseUrl}${path}`, { headers: { cookie } })).status;
  const plants = ({ page }: Pick<Desk, 'page'>, name: string, value: string) =>
    page.context().addCookies([{ name, value, url: origin, sameSite: 'Strict', httpOnly: true }]);

  test('a cookie that others chose signs nobody in, and the login of an operator replaces it', async () => {
    const session = '/operator/v1/session';
    const { page } = ada;
    const chosen = 'a'.repeat(43);
    await page.goto(`${origin}/console/`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await plants(ada, 'console', chosen);
    await page.reload();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await signIn(page, 'ada');
    const first = await cookieOf(ada, 'console');
    assert.notEqual(first, chosen);
    assert.equal(await statusWith(session, `console=${first}`), 200);
    assert.equal(await statusWith(session, `console=${chosen}`), 401, 'the chosen cookie became a session');
  });

  test('a session of one operator that is planted for another ends with the login of the other', async () => {
    const session = '/operator/v1/session';
    const served = { db: world.s.server.db, baseUrl: world.s.server.baseUrl, clock: world.s.clock };
    const eve = await deskOf(browser, origin, served, 'eve');
    const planted = await cookieOf(eve, 'console');
    assert.equal(await statusWith(session, `console=${planted}`), 200);
    const { page } = ada;
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await plants(ada, 'console', planted);
    await page.goto(`${origin}/console/`);
    // The page says whose session it is: it cannot be mistaken for one's own.
    await page.getByText('eve, ').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    assert.equal(await statusWith(session, `console=${planted}`), 401, 'the planted session outlives the sign-out');
    await signIn(page, 'ada');
    assert.notEqual(await cookieOf(ada, 'console'), planted);
    await eve.close();
  });

  test('a member of a partner gets another cookie at each login, and the one before is refused', async () => {
    const session = '/partner/v1/session';
    const { page } = olga;
    const earlier = await cookieOf(olga, 'partner');
    assert.equal(await statusWith(session, `partner=${earlier}`), 200);
    const chosen = 'b'.repeat(43);
    await page.goto(`${origin}/partner/`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await plants(olga, 'partner', chosen);
    await page.reload();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { level: 1, name: 'What needs you' }).waitFor();
    const now = await cookieOf(olga, 'partner');
    assert.equal(new Set([earlier, chosen, now]).size, 3);
    assert.deepEqual(
      [
        await statusWith(session, `partner=${now}`),
        await statusWith(session, `partner=${chosen}`),
        await statusWith(session, `partner=${earlier}`),
      ],
      [200, 401, 401],
    );
  });

  test('no address leads a member of a partner to another site after the login', async () => {
    const { page } = olga;
    for (const path of [
      '/partner/?next=//evil.test',
      '/partner/?returnTo=https://evil.test/',
      '/partner/?next=javascript:document.title=1',
      '/partner//evil.test',
      '/partner/%5C%5Cevil.test',
    ]) {
      await page.goto(`${origin}/partner/`);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
      await page.goto(`${origin}${path}`);
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      assert.equal(new URL(page.url()).origin, origin, path);
      assert.notEqual(await page.title(), '1', path);
    }
    assert.deepEqual(
      olga.amiss.filter((one) => one.includes('evil')),
      [],
    );
  });
});
