/** A window of a real browser on the hosted pages, and what each of them must be. */
import assert from 'node:assert/strict';
import axe, { type AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';

export interface Machine {
  readonly browser: Browser;
  /** Beginnings of addresses that may be asked. */
  readonly mine: readonly string[];
}

export interface Screen {
  width: number;
  colorScheme: 'light' | 'dark';
}

/** A window, and what is amiss in it: words on the console, requests to strangers. */
export async function openWindow(
  { browser, mine }: Machine,
  { width, colorScheme }: Screen,
): Promise<{ page: Page; amiss: string[]; close(): Promise<void> }> {
  const context = await browser.newContext({ viewport: { width, height: 720 }, colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const amiss: string[] = [];
  page.on('console', (message) => {
    // What Chromium itself says of an answer that is an error by its status, as a form's mistakes are.
    if (!/status of 40\d|status of 503/.test(message.text())) amiss.push(message.text());
  });
  page.on('pageerror', (error) => amiss.push(error.message));
  page.on('request', (request) => {
    if (![...mine, 'data:'].some((own) => request.url().startsWith(own))) amiss.push(request.url());
  });
  return { page, amiss, close: () => context.close() };
}

/** Nothing that axe finds, nothing wider than the screen, in either direction of writing. */
export async function isGood(page: Page, title: string): Promise<void> {
  assert.equal(await page.locator('h1').innerText(), title);
  await page.evaluate(axe.source);
  // As text: these run in the page, and the page's own policy lets nothing be loaded for them.
  const { violations } = await page.evaluate<AxeResults>('axe.run(document, { preload: false })');
  assert.deepEqual(
    violations.map(({ id, nodes }) => `${title}: ${id} ${nodes.map(({ html }) => html).join(' ')}`),
    [],
  );
  const overflow = (dir: string): Promise<number> =>
    page.evaluate(`(() => {
      const root = document.documentElement;
      const before = root.dir;
      root.dir = '${dir}';
      const over = root.scrollWidth - root.clientWidth;
      root.dir = before;
      return over;
    })()`);
  assert.equal(await overflow('ltr'), 0, `${title}: no sideways scrolling`);
  assert.equal(await overflow('rtl'), 0, `${title}: nor from right to left`);
}

export const press = (page: Page, name: string) => page.getByRole('button', { name }).click();

/** With a wrong code first. @param refresh runs before the code is entered */
export async function logIn(page: Page, refresh: () => Promise<void> = async () => {}): Promise<void> {
  await isGood(page, 'Log in');
  await press(page, 'Send code');
  await page.getByLabel('Six-digit code').fill('000000');
  await press(page, 'Log in');
  await isGood(page, 'Log in');
  assert.equal(await page.getByLabel('Six-digit code').getAttribute('aria-invalid'), 'true');
  await refresh();
  // By keyboard alone.
  await page.getByLabel('Six-digit code').focus();
  await page.keyboard.type('123456');
  await page.keyboard.press('Enter');
}
