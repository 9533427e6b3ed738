/**
 * The partners' console in a real browser, on a real server with money that moves: joining by a link, a passkey, a failed webhook
 * found and sent again, and every page on a desktop and on a phone, light and dark: axe finds no problem, the content security
 * policy blocks nothing, and no other origin is requested.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { buildConsole } from '../../src/console/index.ts';
import { inviteMember, type MemberRole } from '../../src/team/index.ts';
import { type V1Environment, v1Environment } from '../protocols/v1/environment.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import type { Came } from '../support/client.ts';
import { fetchDeclared } from '../support/declared.fetch.ts';
import { isLong } from '../support/long.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { type Desk, isGood, openDesk } from './window.ts';

const SCRIPT = '<img src=x onerror="document.title=1">';

/** A logo as a partner has it: a sign and a word on nothing, larger than a page shows it. */
const drawnLogo = (): Promise<Buffer> =>
  sharp(
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="320" viewBox="0 0 600 160">
      <circle cx="80" cy="80" r="60" fill="#9c2a5f"/><path d="M20 80a60 60 0 0 0 120 0z" fill="#f2a03d"/>
      <g fill="#3b1230"><rect x="180" y="50" width="300" height="28" rx="8"/><rect x="180" y="92" width="200" height="16" rx="8"/></g>
    </svg>`),
  )
    .png()
    .toBuffer();

describe('the console of partners in a browser', { skip: noChromium }, () => {
  let world: V1Environment;
  let browser: Browser;
  let origin: string;
  let receiver: Receiver;
  let order: Came;
  let held: Came;
  let olga: Desk;
  let vera: Desk;
  let partnerId = 0n;

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await v1Environment();
    origin = world.s.server.baseUrl.replace('127.0.0.1', 'localhost');
    receiver = await openReceiver();
    const row = await world.s.read((tx) =>
      tx.row<{ partnerId: bigint }>('select partner_id from api_keys where key = $1', [world.keys.apiKey]),
    );
    partnerId = row?.partnerId ?? 0n;
    order = await world.sells('250.5', { reference: SCRIPT });
    held = await world.sells('30', { reference: 'screen:hold' });
    await world.s.pays(world.sale(order), '250.5');
    await world.s.pays(world.sale(held), '30');
    await world.becomes(order, 'settled');
    await world.becomes(held, 'on_hold');
    browser = await startChromium();
    olga = await openDesk(browser, origin);
    vera = await openDesk(browser, origin);
  });
  after(async () => {
    await browser?.close();
    await receiver?.down();
    await world?.s.close();
  });

  const goes = (page: Page, path: string) => page.goto(`${origin}/partner${path}`);
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const opens = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
  const inDialog = (page: Page, name: string) =>
    page.getByRole('dialog').getByRole('button', { name, exact: true }).click();

  /** By the link of an invitation. */
  async function joins({ page }: Desk, name: string, role: MemberRole): Promise<void> {
    const now = world.s.clock.now();
    const { code } = await world.s.read((tx) => inviteMember(tx, { partnerId, name, role, by: 'operator op', now }));
    await goes(page, `/join#${code}`);
    await heading(page, 'Join your team');
    assert.equal(new URL(page.url()).hash, '', 'the code stays in the URL');
    if (role === 'owner') await isGood(page, 'Join your team', 'partner join');
    await page.getByRole('button', { name: 'Make a passkey' }).click();
    await heading(page, `You are in, ${name}`);
    assert.equal(await page.locator('.codes li').count(), 10);
    if (role === 'owner') await isGood(page, `You are in, ${name}`, 'partner welcome');
    await page.getByRole('link', { name: 'Open the console' }).click();
    await heading(page, 'What needs you');
  }

  test('a link makes a passkey and shows recovery codes; the passkey signs in to the page that was asked for', async () => {
    await joins(olga, 'olga', 'owner');
    const { page } = olga;
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading(page, 'Cloverleaf for partners');
    await isGood(page, 'Cloverleaf for partners', 'partner sign in');
    await goes(page, `/orders/${order.id}`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await heading(page, `Order ${order.id}`);
  });

  test('home names the waiting order, and an order shows who has the money and on what evidence', async () => {
    const { page } = olga;
    await goes(page, '/');
    await page.getByRole('heading', { name: 'Orders that wait' }).waitFor();
    await isGood(page, 'What needs you', 'partner home');
    await page.getByLabel('Orders that wait').getByRole('link', { name: held.id, exact: true }).click();
    await heading(page, `Order ${held.id}`);
    await page.getByText('The operator', { exact: true }).waitFor();
    await isGood(page, `Order ${held.id}`, 'partner order held');
    await goes(page, `/orders/${order.id}`);
    await page.getByText('The recipient', { exact: true }).waitFor();
    await page.getByText(SCRIPT).first().waitFor();
    await isGood(page, `Order ${order.id}`, 'partner order');
  });

  test('a failed webhook is found, its attempts are read, and it is sent again', async () => {
    const { page } = olga;
    receiver.behaves((_received, response) => response.writeHead(500).end('out of paper'));
    await goes(page, '/webhooks');
    await opens(page, 'Add an endpoint');
    await page.getByLabel('Address').fill(receiver.url);
    await isGood(page, 'Webhook endpoints', 'partner form');
    await inDialog(page, 'Add an endpoint');
    await page.getByText(/^whsec_/).waitFor();
    await isGood(page, 'Webhook endpoints', 'partner secret');
    await inDialog(page, 'Close');
    await page.getByRole('link', { name: receiver.url }).click();
    await heading(page, 'Webhook endpoint');
    await opens(page, 'Send a test event');
    await inDialog(page, 'Send a test event');
    await page.getByText('not answered with 2xx').first().waitFor();
    await goes(page, '/');
    await page.getByRole('heading', { name: 'Webhooks that fail' }).waitFor();
    await page.getByLabel('Webhooks that fail').getByRole('link', { name: receiver.url }).click();
    await isGood(page, 'Webhook endpoint', 'partner webhook');
    await page.getByLabel('Deliveries').getByRole('link').first().click();
    await page.getByText('out of paper').first().waitFor();
    await isGood(page, 'Webhook endpoint', 'partner attempts');
    receiver.behaves(receiver.takes);
    await opens(page, 'Send again');
    await page.getByRole('dialog', { name: 'Send again' }).getByRole('button', { name: 'Send again' }).click();
    await world.s.until('the event arrives', async () => receiver.taken.length > 0);
    await page.getByRole('dialog').getByText('delivered').first().waitFor();
  });

  if (isLong)
    test('a key is made after the passkey was shown again, and its secret is shown once', async () => {
      const { page } = olga;
      world.s.clock.advance(11 * 60_000);
      await goes(page, '/keys');
      await opens(page, 'Make a key');
      await page.getByLabel('What it is for').fill(SCRIPT);
      await inDialog(page, 'Make a key');
      await page
        .getByRole('dialog', { name: 'Show your passkey again' })
        .getByRole('button', { name: 'Use passkey' })
        .click();
      await page.getByText('Secret and token are shown only now.').waitFor();
      await isGood(page, 'API keys', 'partner key secret');
      await inDialog(page, 'Close');
      await page.getByText(SCRIPT).first().waitFor();
      await isGood(page, 'API keys', 'partner keys');
      await opens(page, `Revoke key ${SCRIPT}`);
      await inDialog(page, 'Revoke');
      await page.locator('.badge', { hasText: 'revoked' }).first().waitFor();
    });

  if (isLong)
    test('the request log says why a signature was not accepted, and the doctor says what to change', async () => {
      const { page } = olga;
      const reply = await fetchDeclared(`${world.s.server.baseUrl}/v1/orders`, {
        headers: { authorization: `Bearer ${world.keys.apiKey}.${'0'.repeat(64)}` },
      });
      const id = reply.headers.get('x-request-id') ?? '';
      await world.s.until(
        'the line is written',
        async () => (await world.api.send('GET', `/request-log/${id}`, undefined)).status === 200,
      );
      await goes(page, '/requests?reason=unauthenticated');
      await page.getByRole('link', { name: id }).waitFor();
      await isGood(page, 'Request log', 'partner requests');
      await page.getByRole('link', { name: id }).click();
      await page.getByText('the token is not that of the key').waitFor();
      await isGood(page, `Request ${id}`, 'partner request');
      await page.getByRole('link', { name: 'Check a request with the doctor' }).click();
      await page
        .getByLabel('Headers, a line each')
        .fill(`authorization: Bearer ${world.keys.apiKey}.${'0'.repeat(64)}\nidempotency-key: a`);
      await page.getByRole('button', { name: 'Look at it' }).click();
      await page.getByText('a rotated secret has another token').waitFor();
      await isGood(page, 'Signature doctor', 'partner doctor');
    });

  test('the other pages are good on a desk and on a phone, by keys as well', async () => {
    const { page } = olga;
    for (const [path, title] of [
      ['/orders', 'Orders'],
      ['/customers', 'Customers'],
      [`/customers/${order.customerId}`, `Customer ${order.customerId}`],
      ['/statement', 'Statement'],
      ['/statement/books', 'Account'],
      ['/branding', 'Branding and origins'],
      ['/team', 'Team'],
      ['/activity', 'Activity'],
      ['/account', 'You'],
      [`/sandbox?order=${held.id}`, 'Sandbox'],
    ] as const) {
      await goes(page, path);
      await heading(page, title);
      await world.s.until(
        'it has loaded',
        async () => (await page.getByText('Loading', { exact: true }).count()) === 0,
      );
      await isGood(
        page,
        title,
        `partner ${path.split('/')[1]?.split('?')[0]}${path.includes(order.customerId) ? ' one' : ''}`,
      );
    }
    const keys = page.keyboard;
    await keys.press('g');
    await keys.press('o');
    await heading(page, 'Orders');
    await page.getByRole('link', { name: order.id, exact: true }).waitFor();
    await keys.press('j');
    await keys.press('Enter');
    await page.getByText('Where the money is').or(page.getByLabel('Where the money is')).first().waitFor();
    await keys.press('Control+k');
    await keys.type('team');
    await keys.press('Enter');
    await heading(page, 'Team');
  });

  if (isLong)
    test('name, colours and logo are previewed as they are typed, and every hosted page has them', async () => {
      const { page } = olga;
      await goes(page, '/branding');
      const light = page.getByLabel('Preview on light background');
      const has = async (colour: string) => String(await light.getAttribute('style')).includes(colour);
      await page.getByLabel('Name on hosted pages').fill('Morgenrot Wallet');
      await light.getByText('For Morgenrot Wallet').waitFor();
      const colour = page.getByLabel('Colour of links and buttons (optional)');
      await colour.fill('#ffcc00');
      await page.getByText(/WCAG 2\.2, 1\.4\.3/).waitFor();
      await colour.fill('#9c2a5f');
      await world.s.until('the preview has the colour', () => has('#9c2a5f'));
      await page
        .getByLabel('Logo')
        .setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: await drawnLogo() });
      await light.locator('img').waitFor();
      await page.getByRole('button', { name: 'Save' }).click();
      await world.s.until('the logo is served', async () =>
        String(await light.locator('img').getAttribute('src')).startsWith('/hosted/logo/'),
      );
      await isGood(page, 'Branding and origins', 'partner branding');

      const customerId = await world.customer();
      const { url } = await world.api.does('POST', `/customers/${customerId}/verification-link`, {});
      const { link } = await world.s.told<{ link: string }>('/onramp/api/v2/common/transaction/generateLink', {
        ...{ type: '2', coinCode: 'usdc', network: 'matic20', quantity: '100', fiatType: '1' },
      });
      const hers = await openDesk(browser, origin);
      for (const [name, address] of Object.entries({ checkout: link, verification: url })) {
        await hers.page.goto(String(address).replace(world.s.server.baseUrl, origin));
        await hers.page.getByText('For Morgenrot Wallet').waitFor();
        const width = await hers.page.evaluate(`document.querySelector('img.logo').naturalWidth`);
        assert.equal(width, 480, 'the logo is not shown');
        await isGood(hers.page, await hers.page.locator('h1').innerText(), `branded ${name}`);
      }
      assert.deepEqual(hers.amiss, []);
      await hers.close();
    });

  if (isLong)
    test('a viewer has no buttons that act, and is shown no statement', async () => {
      const { page } = vera;
      await joins(vera, 'vera', 'viewer');
      for (const [path, title, button] of [
        ['/keys', 'API keys', 'Make a key'],
        ['/team', 'Team', 'Invite'],
        ['/webhooks', 'Webhook endpoints', 'Add an endpoint'],
        [`/orders/${held.id}`, `Order ${held.id}`, 'Refund'],
      ] as const) {
        await goes(page, path);
        await heading(page, title);
        await world.s.until(
          'it has loaded',
          async () => (await page.getByText('Loading', { exact: true }).count()) === 0,
        );
        assert.equal(await page.getByRole('button', { name: button, exact: true }).count(), 0, `${button} on ${path}`);
      }
      await goes(page, '/statement');
      await page.getByText('Only the roles finance and owner see statements').waitFor();
    });

  if (isLong)
    test('an owner ends the session of another, whose browser has to sign in again', async () => {
      const { page } = olga;
      await goes(page, '/team');
      await opens(page, 'Sign out vera');
      await inDialog(page, 'Sign out');
      await vera.page.reload();
      await heading(vera.page, 'Cloverleaf for partners');
    });

  test('nothing was asked of another origin, and the policy stopped nothing', () => {
    for (const { amiss } of [olga, vera]) assert.deepEqual(amiss, []);
  });
});
