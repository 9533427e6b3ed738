/**
 * The docs as they are served: every page answers, every link has a target, nothing comes from another host, and search finds the
 * expected pages. In a real browser: wide and narrow, light and dark, without findings of axe.
 */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import vm from 'node:vm';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Browser } from 'playwright-core';
import { bearerToken, signRequest } from '../../../sdk/src/sign.ts';
import { site } from '../../src/site/index.ts';
import { openLibrary } from '../../src/site/library.ts';
import { V1_SCRIPT, WHITELABEL_SCRIPT } from '../../src/site/programs.ts';
import { axeFindings } from '../support/axe.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { hmac } from '../support/client.ts';
import { isLong, looksOf } from '../support/long.ts';

const docs = join(import.meta.dirname, '../../../docs/');
const library = openLibrary(docs);
let app: FastifyInstance;
let baseUrl = '';

before(async () => {
  app = Fastify();
  // The explorer's requests go to the server that served it.
  app.post('/v1/quotes', async ({ headers, body }) => ({
    key: headers['idempotency-key'],
    by: headers.authorization,
    body,
  }));
  await app.register(site({ docs, publicUrl: () => 'https://ramp.example', sends: true }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  baseUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
});
after(() => app?.close());

const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${baseUrl}${path}`, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
};
const urlOf = (path: string): string => `/docs${path === '' ? '' : `/${path}`}`;
const unescaped = (text: string): string =>
  text.replaceAll(/&#(\d+);/g, (_all, code) => String.fromCharCode(Number(code)));

test('every page answers, as HTML and as Markdown, with one heading and a policy that lets nothing else in', async () => {
  assert.ok(library.pages.size > 150, `${library.pages.size} pages`);
  for (const { path, title, summary } of library.pages.values()) {
    const page = await get(urlOf(path));
    assert.equal(page.status, 200, path);
    assert.equal(page.text.match(/<h1/g)?.length, 1, `${path}: one h1`);
    assert.ok(title !== '' && summary !== '', `${path}: a title and a summary`);
    assert.match(
      page.headers.get('content-security-policy') ?? '',
      /^default-src 'none'; style-src 'self'; script-src 'self'; /,
    );
    assert.doesNotMatch(
      page.text,
      /<script(?![^>]* src="\/docs\/)|<style|style="|<!-- |\son[a-z]+="/,
      `${path}: nothing inline`,
    );
    const source = await get(`${urlOf(path === '' ? 'index' : path)}.md`);
    assert.equal(source.status, 200, path);
    assert.match(source.headers.get('content-type') ?? '', /^text\/markdown/);
    assert.match(source.text, /^# /, path);
  }
});

test('every link leads somewhere, and so does the anchor in it', async () => {
  const ids = new Map<string, Set<string>>();
  const links: { from: string; to: string }[] = [];
  for (const { path } of library.pages.values()) {
    const { text } = await get(urlOf(path));
    ids.set(urlOf(path), new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => unescaped(id))));
    for (const [, href = ''] of text.matchAll(/ href="([^"]+)"/g))
      links.push({ from: urlOf(path), to: unescaped(href) });
  }
  const answers = new Map<string, number>();
  for (const { from, to } of links) {
    if (to.startsWith('https://')) continue;
    const [path = '', anchor] = (to.startsWith('#') ? from + to : to).split('#', 2);
    const known = answers.get(path) ?? (await get(path)).status;
    answers.set(path, known);
    assert.equal(known, 200, `${from} links to ${to}`);
    if (anchor !== undefined && ids.has(path))
      assert.ok(ids.get(path)?.has(anchor), `${from} links to ${to}: no such heading`);
  }
  const outside = [...new Set(links.map(({ to }) => to).filter((to) => /^https?:/.test(to)))].map(
    (to) => new URL(to).host,
  );
  assert.deepEqual(
    [...new Set(outside)].toSorted(),
    ['127.0.0.1:8080', 'keepachangelog.com', 'semver.org', 'www.standardwebhooks.com'].filter((host) =>
      outside.includes(host),
    ),
  );
});

test('the facts that people get wrong are on the pages', async () => {
  for (const [path, fact] of [
    ['signing', /A GET is signed over <code>\{\}<\/code>/],
    ['headers', /<code>Quote-Id<\/code>[^]*<code>Quote-Expires-At<\/code>/],
    ['webhook-types', /The format <code>whitelabel<\/code> skips sequence numbers/],
    ['going-live', /Setting a new address is safe while events wait/],
  ] as const)
    assert.match((await get(urlOf(path))).text, fact, path);
});

test('a page that is not there is 404, and an unchanged one is 304', async () => {
  for (const path of ['constructor', '__proto__', 'toString.md'])
    assert.equal((await get(`/docs/${path}`)).status, 404, path);
  const missing = await get('/docs/nothing-of-that-name');
  assert.deepEqual([missing.status, /There is no such page/.test(missing.text)], [404, true]);
  assert.equal((await get('/docs/../../package.json')).status, 404);
  assert.equal((await get('/docs/..%2f..%2fpackage.json')).status, 404);
  const first = await get('/docs/start');
  const again = await get('/docs/start', { 'if-none-match': first.headers.get('etag') ?? '' });
  assert.deepEqual([again.status, again.text], [304, '']);
});

describe('search', () => {
  const found = async (question: string): Promise<{ title: string; url: string; section: string }[]> =>
    JSON.parse((await get(`/docs/search.json?q=${encodeURIComponent(question)}`)).text);

  for (const [question, url] of [
    ['price_moved', '/docs/errors/price_moved'],
    ['offramp/quote', '/docs/api/post-offramp-quote'],
    ['setWebhookUrl', '/docs/api/post-merchant-set-webhook-url'],
    ['orders.create', '/docs/v1/orders-create'],
    ['idempotency_key_missing', '/docs/errors/idempotency_key_missing'],
    ['refundDestinationId', '/docs/v1/orders-create'],
    ['underpayment', '/docs/situations/underpayment'],
    ['duplicate webhook', '/docs/situations/duplicate-webhook'],
    ['quote expires', '/docs/situations/expired-quote'],
    ['magic values', '/docs/magic-values'],
    ['undrepayment', '/docs/situations/underpayment'],
    ['GET signed over', '/docs/signing'],
  ] as const)
    test(`finds ${question}`, async () => {
      const results = await found(question);
      assert.ok(
        results.slice(0, 5).some((one) => one.url.split('#', 1)[0] === url),
        JSON.stringify(results.map((one) => one.url)),
      );
    });

  test('works without a script, shows the query as text, and is bounded', async () => {
    const page = await get(`/docs/search?q=${encodeURIComponent('<b>refund</b> "x')}`);
    assert.equal(page.status, 200);
    assert.doesNotMatch(page.text, /<b>refund/);
    assert.match(page.text, /<ol class="results"><li><a href="\/docs\//);
    assert.equal((await get(`/docs/search?q=${'refund '.repeat(500)}`)).status, 200);
    for (const odd of ['', '?q=', '?q=a&q=b', '?q=%00', '?q=%F0%9F%8D%80', '?q=(((('])
      assert.equal((await get(`/docs/search${odd}`)).status, 200, odd);
    assert.deepEqual(await found('zzzqqqxxx'), []);
  });
});

test('every link of a page as Markdown leads to a served path', async () => {
  const links = new Set<string>();
  for (const path of library.pages.keys()) {
    const { text } = await get(`${urlOf(path === '' ? 'index' : path)}.md`);
    for (const [, href = ''] of text.replaceAll(/```[\s\S]*?```/g, '').matchAll(/\]\(([^()\s]+)\)/g)) {
      assert.match(href, /^(?:https?:|#|\/)/, `${path}: ${href} is relative`);
      if (href.startsWith('/docs')) links.add(href.split('#', 1)[0] ?? '');
    }
  }
  assert.ok([...links].some((link) => link.endsWith('.md')));
  for (const link of links) assert.equal((await get(link)).status, 200, link);
});

test('llms.txt lists every page, and all of them are in one file', async () => {
  const { text, headers } = await get('/llms.txt');
  assert.match(headers.get('content-type') ?? '', /^text\/plain/);
  assert.match(text, /^# Cloverleaf\n\n> /);
  for (const [, path = ''] of text.matchAll(/\]\((\/docs\/[^)]+)\)/g))
    assert.equal((await get(path)).status, 200, path);
  const all = await get('/docs/llms-full.txt');
  for (const { pages } of library.sections) for (const { title } of pages) assert.ok(all.text.includes(title), title);
});

describe('the collection', () => {
  interface Item {
    name: string;
    item?: Item[];
    request?: { method: string; url: { raw: string }; body?: { raw: string } };
  }
  const collection = async () =>
    JSON.parse((await get('/docs/collection.json')).text) as { info: { schema: string }; item: Item[] };

  test('has every endpoint of the description, with a body that is JSON', async () => {
    const { info, item } = await collection();
    assert.match(info.schema, /v2\.1\.0/);
    const requests = item.flatMap(({ item: groups = [] }) => groups.flatMap((group) => group.item ?? []));
    const endpoints = library.interfaces.flatMap(({ api }) => api.endpoints);
    assert.equal(requests.length, endpoints.length);
    for (const { name, request } of requests) {
      assert.match(request?.url.raw ?? '', /^\{\{baseUrl\}\}\/[^{}<]+$/, name);
      if (request?.body !== undefined) assert.doesNotThrow(() => JSON.parse(request.body?.raw ?? ''), name);
    }
  });

  /** A script of the collection on a request, with the parts of Postman and CryptoJS that it uses. */
  function scripted(script: string, method: string, path: string, raw: string | undefined): Record<string, string> {
    const headers: Record<string, string> = {};
    const variables: Record<string, string> = { apiKey: 'key', apiSecret: 'secret' };
    const mac = (kind: string) => (text: string, secret: string) => {
      const made = createHmac(kind, secret).update(text).digest();
      const hex = made.toString('hex');
      return Object.assign(made, { toString: () => hex });
    };
    const CryptoJS = {
      enc: {
        Utf8: { parse: (text: string) => Buffer.from(text) },
        Base64: { stringify: (bytes: Buffer) => Buffer.from(bytes).toString('base64') },
      },
      HmacSHA512: mac('sha512'),
      HmacSHA256: mac('sha256'),
      SHA256: (text: string) => createHash('sha256').update(text).digest(),
    };
    const upsert = ({ key, value }: { key: string; value: string }) => (headers[key.toLowerCase()] = value);
    vm.runInNewContext(script, {
      require: () => CryptoJS,
      pm: {
        request: {
          method,
          url: { getPath: () => path },
          body: raw === undefined ? undefined : { raw },
          headers: { upsert },
        },
        variables: {
          get: (name: string) => variables[name],
          replaceIn: (text: string) => text.replace('{{$guid}}', 'a-guid'),
        },
      },
    });
    return headers;
  }

  test('signs as the white-label interface demands: the body, and {} of a GET', () => {
    for (const [method, raw, body] of [
      ['POST', '{"a": "1"}', { a: '1' }],
      ['GET', undefined, {}],
    ] as const) {
      const { payload = '', signature, apikey } = scripted(WHITELABEL_SCRIPT, method, '/x', raw);
      assert.equal(signature, hmac(payload, 'secret'));
      assert.equal(apikey, 'key');
      assert.deepEqual(JSON.parse(Buffer.from(payload, 'base64').toString()).body, body);
    }
  });

  test('signs as the SDK does under /v1', async () => {
    const key = { apiKey: 'key', apiSecret: 'secret' };
    const body = '{"quoteId": "1"}';
    const made = scripted(V1_SCRIPT, 'POST', '/v1/orders', body);
    const created = Number(/created=(\d+)/.exec(made['signature-input'] ?? '')?.[1]) * 1000;
    assert.ok(Math.abs(created - Date.now()) < 60_000);
    const right = await signRequest(
      { method: 'POST', path: '/v1/orders', body, idempotencyKey: 'a-guid' },
      key,
      created,
    );
    for (const [name, value] of Object.entries(right)) assert.equal(made[name], value, name);
    assert.equal(made.authorization, `Bearer ${await bearerToken(key)}`);
    assert.deepEqual(Object.keys(scripted(V1_SCRIPT, 'GET', '/v1/orders', undefined)), ['authorization']);
  });
});

test('style and script are named by their content and never asked for again', async () => {
  const { text } = await get('/docs');
  for (const [, path = ''] of text.matchAll(/(?:href|src)="(\/docs\/assets\/[^"]+)"/g)) {
    const asset = await get(path);
    assert.equal(asset.status, 200, path);
    assert.match(asset.headers.get('cache-control') ?? '', /immutable/);
    const hash = createHash('sha256').update(asset.text).digest('base64url').slice(0, 12);
    assert.ok(path.includes(hash), path);
  }
});

test('the viewer is the one whose hashes are noted, and production sends nothing from it', async () => {
  const vendor = join(import.meta.dirname, '../../vendor/swagger-ui');
  const noted = readFileSync(join(vendor, 'SHA256SUMS'), 'utf8').trim().split('\n');
  assert.equal(noted.length, 2);
  for (const line of noted) {
    const [hash, name = ''] = line.split(/ +/);
    assert.equal(
      createHash('sha256')
        .update(readFileSync(join(vendor, name)))
        .digest('hex'),
      hash,
      name,
    );
  }
  const production = Fastify();
  await production.register(site({ docs, publicUrl: () => 'https://ramp.example', sends: false }));
  const { body } = await production.inject('/docs/explorer');
  await production.close();
  assert.match(body, /data-sends="false"/);
  assert.match((await get('/docs/explorer')).text, /data-sends="true"/);
});

describe('in a browser', () => {
  let browser: Browser;
  before(async () => {
    if (noChromium === undefined) browser = await startChromium();
  });
  after(async () => await browser?.close());

  const PAGES = [
    '',
    'start',
    'selling',
    'situations/underpayment',
    'v1',
    'v1/orders-create',
    'api/post-offramp-quote',
    'errors',
    'statuses',
    'search?q=refund',
  ];
  const looks = looksOf(1440, 390);
  for (const [nth, { width, colorScheme }] of looks.entries())
    test(`${width} wide, ${colorScheme}: axe finds nothing, nothing is wider than the screen, no other host is asked`, async () => {
      assert.equal(noChromium, undefined, noChromium);
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await context.newPage();
      const amiss: string[] = [];
      page.on('console', (message) => amiss.push(message.text()));
      page.on('pageerror', (error) => amiss.push(error.message));
      page.on('request', (request) => {
        if (!request.url().startsWith(baseUrl)) amiss.push(request.url());
      });
      for (const [at, path] of PAGES.entries()) {
        await page.goto(`${baseUrl}${urlOf(path)}`);
        // Axe takes longer than all else on a page: in `npm test` it looks at each once.
        if (isLong || at % looks.length === nth) assert.deepEqual(await axeFindings(page), [], path);
        const over = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
        assert.equal(over, 0, `${path}: no sideways scrolling`);
      }
      assert.deepEqual(amiss, []);
      await context.close();
    });

  if (isLong)
    test('a language chosen once is shown on the next page; results come while typing and by keyboard', async () => {
      const page = await browser.newPage();
      await page.goto(`${baseUrl}/docs/api/post-offramp-quote`);
      await page.getByText('Python', { exact: true }).first().click();
      await page.goto(`${baseUrl}/docs/start`);
      assert.equal(await page.locator('input[data-language="Python"]').first().isChecked(), true);
      assert.equal(await page.getByText('def v1(method, path, body=None, key=None)').first().isVisible(), true);
      await page.keyboard.press('/');
      // Each further letter shows other results, and a chosen one would go with those before it.
      const last = page.waitForResponse(/search\.json\?q=price_mo$/);
      await page.keyboard.type('price_mo');
      await (await last).finished();
      await page.locator('#found a').first().waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/docs\/errors\/price_moved/);
      await page.close();
    });

  if (isLong)
    test('the explorer runs under a policy without anything inline, unfolds an endpoint by its link and sends a request', async () => {
      const policy = (await get('/docs/explorer')).headers.get('content-security-policy') ?? '';
      assert.match(policy, /^default-src 'none'; style-src 'self'; script-src 'self'; /);
      assert.doesNotMatch(policy, /unsafe|https?:/);
      const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
      const amiss: string[] = [];
      page.on('console', (message) => amiss.push(message.text()));
      page.on('pageerror', (error) => amiss.push(error.message));
      page.on('request', (request) => {
        if (!/^(?:data:|blob:)/.test(request.url()) && !request.url().startsWith(baseUrl)) amiss.push(request.url());
      });
      await page.goto(`${baseUrl}/docs/v1/quotes-create`);
      await page.getByRole('link', { name: 'in the explorer' }).click();
      const quote = page.locator('#operations-Quotes-quotesCreate');
      await quote.locator('.execute').waitFor();
      await page.getByRole('button', { name: 'Authorize' }).first().click();
      await page.locator('.auth-container input').first().fill('key.token');
      await page.locator('.auth-btn-wrapper .authorize').click();
      await page.locator('.auth-btn-wrapper .btn-done').click();
      await quote.locator('.execute').click();
      const answer = quote.locator('.live-responses-table .response-col_description pre').first();
      await answer.waitFor();
      const sent = JSON.parse(await answer.innerText());
      assert.match(sent.key, /^[0-9a-f-]{36}$/);
      assert.deepEqual([sent.by, sent.body.payAsset], ['Bearer key.token', 'usdc.matic20']);
      assert.equal(
        await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
        0,
      );
      assert.deepEqual(amiss, []);
      await page.close();
    });

  test('without a script the pages list, the tabs and the search work', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${baseUrl}/docs/signing`);
    await page.getByText('Go', { exact: true }).first().click();
    assert.equal(await page.getByText('package main').first().isVisible(), true);
    assert.equal(await page.getByRole('link', { name: 'Limits' }).isVisible(), true);
    await page.getByRole('searchbox').fill('underpayment');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/search\?q=underpayment/);
    assert.match(await page.locator('.results li').first().innerText(), /underpayment/i);
    await context.close();
  });
});
