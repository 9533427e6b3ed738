/** A window of a real browser on the hosted pages, and the checks that every page has to pass. */
import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { axeFindings } from '../../support/axe.ts';

export interface Machine {
  readonly browser: Browser;
  /** Prefixes of the URLs that the page may request. */
  readonly mine: readonly string[];
}

export interface Screen {
  width: number;
  colorScheme: 'light' | 'dark';
}

/** A window and its problems: messages on the console, requests to foreign origins. */
export async function openWindow(
  { browser, mine }: Machine,
  { width, colorScheme }: Screen,
): Promise<{ page: Page; amiss: string[]; close(): Promise<void> }> {
  const context = await browser.newContext({ viewport: { width, height: 720 }, colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const amiss: string[] = [];
  page.on('console', (message) => {
    // Chromium's own messages about an error status, such as the answer to a form with mistakes, and about a page that the test has
    // given the focus before it was loaded.
    if (!/status of 40\d|status of 503|^Autofocus processing was blocked/.test(message.text()))
      amiss.push(message.text());
  });
  page.on('pageerror', (error) => amiss.push(error.message));
  page.on('request', (request) => {
    if (![...mine, 'data:'].some((own) => request.url().startsWith(own))) amiss.push(request.url());
  });
  return { page, amiss, close: () => context.close() };
}

/** Axe finds no problem and nothing is wider than the screen, in either writing direction. */
export async function isGood(page: Page, title: string): Promise<void> {
  assert.equal(await page.locator('h1').innerText(), title);
  assert.deepEqual(await axeFindings(page), [], title);
  const overflow = (dir: string): Promise<number> =>
    page.evaluate(`(() => {
      const root = document.documentElement;
      const before = root.dir;
      root.dir = '${dir}';
      const over = root.scrollWidth - root.clientWidth;
      root.dir = before;
      return over;
    })()`);
  assert.equal(await overflow('ltr'), 0, `${title}: the page scrolls sideways`);
  assert.equal(await overflow('rtl'), 0, `${title}: the page scrolls sideways from right to left`);
}

export const press = (page: Page, name: string) => page.getByRole('button', { name }).click();

/** Logs in, with a wrong code first. @param refresh runs before the code is entered */
export async function logIn(page: Page, refresh: () => Promise<void> = async () => {}): Promise<void> {
  await isGood(page, 'Log in');
  await press(page, 'Send code');
  await page.getByLabel('Six-digit code').fill('000000');
  await press(page, 'Log in');
  await isGood(page, 'Log in');
  assert.equal(await page.getByLabel('Six-digit code').getAttribute('aria-invalid'), 'true');
  await refresh();
  // Only the keyboard is used.
  await page.getByLabel('Six-digit code').focus();
  await page.keyboard.type('123456');
  await page.keyboard.press('Enter');
}
