/** An operator at a real browser: a passkey made of software, and what each page of the console must be. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import type { Clock } from '../../src/base/clock.ts';
import type { Database } from '../../src/base/db.ts';
import { operatorNamed, type Person } from '../protocols/operator/people.ts';

const WIDTHS = [1440, 390];
const SCHEMES = ['light', 'dark'] as const;
/** Where pictures of the pages go, for somebody who wants to look at them. */
const PICTURES = process.env.CONSOLE_PICTURES;

export interface Desk {
  readonly page: Page;
  /** Words on the console of the browser, requests to strangers, what the policy of the page stopped. */
  readonly amiss: string[];
  close(): Promise<void>;
}

/** @param origin the only one that may be asked */
export async function openDesk(browser: Browser, origin: string): Promise<Desk> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: 'light' });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true },
      ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
    },
  });
  const amiss: string[] = [];
  page.on('console', (message) => {
    // What Chromium itself says of an answer that is an error by its status, or that a test held back.
    if (!/status of (40\d|503)|net::ERR_FAILED/.test(message.text())) amiss.push(message.text());
  });
  page.on('pageerror', (error) => amiss.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) amiss.push(request.url());
  });
  return { page, amiss, close: () => context.close() };
}

/** An administrator at a browser of its own, signed in. */
export async function deskOf(
  browser: Browser,
  origin: string,
  world: { db: Database; baseUrl: string; clock: Clock },
  name: string,
): Promise<Desk & { person: Person }> {
  const person = await operatorNamed(world, name, 'admin');
  const desk = await openDesk(browser, origin);
  await desk.page.goto(`${origin}/console/`);
  await enrol(desk.page, person.token);
  await signIn(desk.page, name);
  return { ...desk, person };
}

/** The form that is open on a page. */
export function formOn(page: Page) {
  const dialog = () => page.getByRole('dialog');
  return {
    dialog,
    opens: (button: string) => page.getByRole('button', { name: button, exact: true }).first().click(),
    /** What the form says that it will do. */
    effect: () => page.getByRole('region', { name: 'What it will do' }),
    /** By keys alone. */
    async sends(reason: string): Promise<void> {
      await dialog().getByLabel('Reason').focus();
      await page.keyboard.press('Control+a');
      await page.keyboard.type(reason);
      await page.keyboard.press('Control+Enter');
    },
    async isDone(): Promise<void> {
      await page.getByText('The server says: done.').waitFor();
      await dialog().getByRole('button', { name: 'Close' }).click();
    },
    /** Nothing is done: the page names the proposal, and another operator confirms it by keys in another browser. */
    async isConfirmedBy(other: Page, action: string, subject: string): Promise<void> {
      await page.getByText('Nothing is done yet.').waitFor();
      await dialog().getByRole('button', { name: 'Close' }).click();
      const waiting = page.getByText(`proposed ${action} of ${subject}`);
      await waiting.waitFor();
      const href = await waiting.getByRole('link', { name: /^proposal / }).getAttribute('href');
      await other.goto(new URL(String(href), page.url()).href);
      await other.getByRole('heading', { level: 1, name: `${action}, proposal` }).waitFor();
      await other.keyboard.press('y');
      await other.getByLabel('Reason').fill('compared with the request');
      await other.keyboard.press('Control+Enter');
      await other.getByText('The server says: done.').waitFor();
      await waiting.waitFor({ state: 'detached' });
    },
  };
}

/** By the page that an operator sees who was never here. */
export async function enrol(page: Page, token: string): Promise<void> {
  await page.getByText('First time here').click();
  await page.getByLabel('Operator token').fill(token);
  await page.getByRole('button', { name: 'Enrol a passkey' }).click();
  await page.getByText('Your passkey is enrolled').waitFor();
}

export async function signIn(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByText(`${name}, `).waitFor();
}

/** On a desk and on a phone, light and dark: nothing that axe finds, nothing wider than the screen. @param picture its name in a file */
export async function isGood(page: Page, title: string, picture = title): Promise<void> {
  const was = page.viewportSize();
  try {
    await lookedAt(page, title, picture);
  } finally {
    await page.emulateMedia({ colorScheme: 'light' });
    if (was !== null) await page.setViewportSize(was);
  }
}

async function lookedAt(page: Page, title: string, picture: string): Promise<void> {
  for (const width of WIDTHS)
    for (const colorScheme of SCHEMES) {
      await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
      await page.emulateMedia({ colorScheme });
      const where = `${title} at ${width} px, ${colorScheme}`;
      assert.equal(await page.locator('h1').innerText(), title);
      if (PICTURES !== undefined) {
        mkdirSync(PICTURES, { recursive: true });
        const name = `${picture.replace(/[^A-Za-z]+/g, '-')}.${width}.${colorScheme}.png`;
        // A dialog lies over what is on the screen.
        const fullPage = (await page.getByRole('dialog').count()) === 0;
        await page.screenshot({ path: join(PICTURES, name), fullPage });
      }
      await page.evaluate(axe.source);
      // As text: these run in the page, and the page's own policy lets nothing be loaded for them.
      const { violations } = await page.evaluate<AxeResults>('axe.run(document, { preload: false })');
      assert.deepEqual(
        violations.map(({ id, nodes }) => `${where}: ${id} ${nodes.map(({ html }) => html).join(' ')}`),
        [],
      );
      const over = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      assert.ok(Number(await page.evaluate(over)) <= 0, `${where}: it scrolls sideways`);
      if (width === 390) assert.deepEqual(await tooSmall(page), [], `${where}: small for a finger`);
    }
}

/** Controls of less than 44 px; a link within a sentence is as high as its line, and a row's own link is its target. */
const tooSmall = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('button, select, input:not([type=checkbox]), nav a, a[data-row]')]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 43.5)
    .map((one) => one.outerHTML.slice(0, 120))`);
