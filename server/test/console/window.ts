/** An operator at a real browser: a passkey in software, and the checks of each page of the console. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { Clock } from '../../src/base/clock.ts';
import type { Database } from '../../src/base/db.ts';
import { operatorNamed, type Person } from '../protocols/operator/people.ts';
import { axeFindings } from '../support/axe.ts';
import { isLong, looksOf } from '../support/long.ts';

const LOOKS = looksOf(1440, 390);
/** Folder for screenshots of the pages, for a person to look at. */
const PICTURES = process.env.CONSOLE_PICTURES;

export interface Desk {
  readonly page: Page;
  /** Messages on the browser's console, requests to foreign origins, requests that the page's policy blocked. */
  readonly amiss: string[];
  close(): Promise<void>;
}

/** @param origin the only permitted one */
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
    // Chromium's own message about an error status, or an answer that a test held back.
    if (!/status of (40\d|503)|net::ERR_FAILED/.test(message.text())) amiss.push(message.text());
  });
  page.on('pageerror', (error) => amiss.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) amiss.push(request.url());
  });
  return { page, amiss, close: () => context.close() };
}

/** An administrator in a separate browser, signed in. */
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

/** The open form of a page. */
export function formOn(page: Page) {
  const dialog = () => page.getByRole('dialog');
  return {
    dialog,
    opens: (button: string) => page.getByRole('button', { name: button, exact: true }).first().click(),
    /** The form's description of its effect. */
    effect: () => page.getByRole('region', { name: 'What it will do' }),
    /** By keyboard alone. */
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
    /**
     * The action is not carried out: the page names the proposal, and another operator confirms it by keyboard in another
     * browser.
     */
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

/** By the page for an operator without a passkey. */
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

/**
 * On a desktop and on a phone, light and dark (support/long.ts): nothing is wider than the screen, and axe finds nothing. Axe takes
 * longer than all else on a page, so in `npm test` it looks at one of the two, by the length of the name: always the same one.
 *
 * @param picture its name in a file
 */
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
  for (const [at, { width, colorScheme }] of LOOKS.entries()) {
    await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
    await page.emulateMedia({ colorScheme });
    const where = `${title} at ${width} px, ${colorScheme}`;
    assert.equal(await page.locator('h1').innerText(), title);
    if (PICTURES !== undefined) {
      mkdirSync(PICTURES, { recursive: true });
      const name = `${picture.replace(/[^A-Za-z]+/g, '-')}.${width}.${colorScheme}.png`;
      // A dialog covers the rest of the screen.
      const fullPage = (await page.getByRole('dialog').count()) === 0;
      await page.screenshot({ path: join(PICTURES, name), fullPage });
    }
    if (isLong || at === picture.length % LOOKS.length) assert.deepEqual(await axeFindings(page), [], where);
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
