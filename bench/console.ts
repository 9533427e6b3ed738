/**
 * The operators' console in a real Chromium: the time from the navigation to the first row of the list of orders on the screen, and
 * the bytes that the page takes.
 *
 * Cold: a browser context without a cache, whose operator is signed in. Warm: the same page again, with its files in the cache. The
 * time is the browser's own, up to the frame after the row is in the document; it is of this machine at this moment. The bytes are
 * of all replies until the network is quiet, as the server sends them, and with each body compressed by gzip, as a proxy sends them
 * (deploy/compose/Caddyfile).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page, Response } from 'playwright-core';
import { enrol, openDesk, signIn } from '../server/test/console/window.ts';
import { noChromium, startChromium } from '../server/test/support/chromium.ts';
import { percentile } from './load.ts';

/** More is not a console that opens at once on a slow line. */
export const MOST_COMPRESSED_BYTES = 200_000;

export interface FirstRow {
  orders: number;
  rounds: number;
  coldMs: { p50: number; most: number };
  warmMs: { p50: number; most: number };
  requests: number;
  bytes: number;
  compressedBytes: number;
}

const ROW = 'main a[data-row]';
/** In the page, before its own scripts. A frame is drawn after the callback of `requestAnimationFrame`. */
const WATCH = `new MutationObserver((_, observer) => {
  if (document.querySelector('${ROW}') === null) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.firstRowMs = performance.now(); }));
}).observe(document, { childList: true, subtree: true });`;

/**
 * @param on.baseUrl of a sandbox whose first page of orders is full
 * @param on.dataDir has the operator's token
 * @returns undefined where this machine has no Chromium
 */
export async function measureConsole(
  on: { baseUrl: string; dataDir: string; orders: number },
  rounds: number,
): Promise<FirstRow | undefined> {
  if (noChromium !== undefined) return undefined;
  // A passkey belongs to a host name, and an IP address is not one.
  const origin = on.baseUrl.replace('127.0.0.1', 'localhost');
  const browser = await startChromium();
  try {
    const signedIn = await sessionAt(browser, origin, readFileSync(join(on.dataDir, 'operator.token'), 'utf8').trim());
    const cold: number[] = [];
    const warm: number[] = [];
    let sizes: Pick<FirstRow, 'requests' | 'bytes' | 'compressedBytes'> | undefined;
    // The first round also starts processes of the browser, and does not count.
    for (let round = 0; round <= rounds; round += 1) {
      const context = await browser.newContext({ storageState: signedIn, viewport: { width: 1440, height: 900 } });
      await context.addInitScript(WATCH);
      const page = await context.newPage();
      const replies: Response[] = [];
      page.on('response', (reply) => void replies.push(reply));
      const first = await firstRowMs(page, origin);
      await page.waitForLoadState('networkidle');
      sizes = await sizesOf(replies);
      const again = await firstRowMs(page, origin);
      if (round > 0) {
        cold.push(first);
        warm.push(again);
      }
      await context.close();
    }
    if (sizes === undefined) throw new Error('the console was not opened');
    return { orders: on.orders, rounds, coldMs: summed(cold), warmMs: summed(warm), ...sizes };
  } finally {
    await browser.close();
  }
}

async function sessionAt(
  browser: Browser,
  origin: string,
  token: string,
): Promise<Awaited<ReturnType<BrowserContext['storageState']>>> {
  const desk = await openDesk(browser, origin);
  await desk.page.goto(`${origin}/console/`);
  await enrol(desk.page, token);
  await signIn(desk.page, 'sandbox');
  const state = await desk.page.context().storageState();
  await desk.close();
  return state;
}

async function firstRowMs(page: Page, origin: string): Promise<number> {
  await page.goto('about:blank');
  await page.goto(`${origin}/console/orders`, { waitUntil: 'commit' });
  await page.locator(ROW).first().waitFor();
  for (;;) {
    const ms = await page.evaluate<number | undefined>('window.firstRowMs');
    if (ms !== undefined) return ms;
    await sleep(5);
  }
}

async function sizesOf(replies: readonly Response[]) {
  const each = await Promise.all(
    replies.map(async (reply) => {
      const { responseHeadersSize, responseBodySize } = await reply.request().sizes();
      const { length } = gzipSync(await reply.body());
      return { whole: responseHeadersSize + responseBodySize, compressed: responseHeadersSize + length };
    }),
  );
  return {
    requests: each.length,
    bytes: each.reduce((sum, { whole }) => sum + whole, 0),
    compressedBytes: each.reduce((sum, { compressed }) => sum + compressed, 0),
  };
}

function summed(times: readonly number[]): { p50: number; most: number } {
  const ascending = times.toSorted((one, other) => one - other);
  return { p50: Math.round(percentile(ascending, 0.5)), most: Math.round(ascending.at(-1) ?? 0) };
}
