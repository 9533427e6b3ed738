/** The console as a browser gets it: built from its sources, served from memory, with headers that allow nothing else. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import fastify, { type FastifyInstance } from 'fastify';
import { buildConsole, CONSOLE, consolePages } from '../../src/console/index.ts';

describe('the console', () => {
  let app: FastifyInstance;
  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    app = fastify();
    await app.register(consolePages({ dist: join(CONSOLE, 'dist'), publicUrl: () => 'https://ramp.test' }));
  });
  after(async () => await app?.close());
  const get = (url: string) => app.inject({ method: 'GET', url });

  test('is not built again while its sources are the same', async () => {
    const said: string[] = [];
    assert.equal(await buildConsole((what) => said.push(what)), undefined);
    assert.deepEqual(said, []);
  });

  test('answers every route of the app with one page, which is never cached', async () => {
    const page = await get('/console');
    assert.equal(page.statusCode, 200);
    assert.match(String(page.headers['content-type']), /^text\/html/);
    assert.equal(page.headers['cache-control'], 'no-store');
    assert.equal((await get('/console/orders/17?tab=2')).body, page.body);
    assert.doesNotMatch(
      page.body,
      /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/,
      'the page has an inline script or style',
    );
  });

  test('names existing files that may be cached permanently', async () => {
    const { body } = await get('/console');
    const names = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url);
    assert.ok(names.length > 0);
    for (const url of names) {
      assert.match(url, /^\/console\/assets\//);
      const file = await get(url);
      assert.equal(file.statusCode, 200, url);
      assert.equal(file.headers['cache-control'], 'public, max-age=31536000, immutable');
    }
  });

  test('is compressed as the browser accepts it, and is the same afterwards', async () => {
    const { body } = await get('/console');
    const [, script = ''] = /src="([^"]+\.js)"/.exec(body) ?? [];
    const plain = await get(script);
    assert.equal(plain.headers['content-encoding'], undefined);
    for (const [accepts, encoding, decoded] of [
      ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
      ['gzip;q=0.5, br;q=0', 'gzip', gunzipSync],
      ['GZIP', 'gzip', gunzipSync],
      ['br;q=0.0, gzip;q=0', undefined, (bytes: Buffer) => bytes],
      ['brotli, xgzip', undefined, (bytes: Buffer) => bytes],
    ] as const)
      for (const url of ['/console', script, script]) {
        const came = await app.inject({ method: 'GET', url, headers: { 'accept-encoding': accepts } });
        assert.deepEqual([came.statusCode, came.headers['content-encoding']], [200, encoding], `${url}: ${accepts}`);
        assert.equal(came.headers.vary, 'accept-encoding');
        assert.equal(came.headers['content-length'], String(came.rawPayload.length));
        assert.equal(decoded(came.rawPayload).toString(), url === script ? plain.body : body);
      }
  });

  for (const root of ['/console', '/partner'])
    test(`${root} is less than 200 kB on its way to the browser, until another page is opened`, async () => {
      const namesIn = (text: string, pattern: RegExp): string[] =>
        [...text.matchAll(pattern)].map(([, name = '']) => name);
      const assets = new Set(readdirSync(join(CONSOLE, 'dist/assets')));
      const needed = new Set<string>();
      const waiting = namesIn((await get(root)).body, /([\w-]+\.(?:js|css|svg))["']/g);
      for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
        if (needed.has(name) || !assets.has(name)) continue;
        needed.add(name);
        // What `import()` names is loaded when its page is opened.
        if (name.endsWith('.js'))
          waiting.push(
            ...namesIn(
              readFileSync(join(CONSOLE, 'dist/assets', name), 'utf8'),
              /(?:from|import)\s*["'`]\.\/([\w-]+\.js)["'`]/g,
            ),
          );
      }
      assert.ok(
        [...needed].filter((name) => name.endsWith('.js')).length > 2,
        'the files that the first one imports were not found',
      );
      const bytes = [...needed].reduce(
        (sum, name) => sum + gzipSync(readFileSync(join(CONSOLE, 'dist/assets', name))).length,
        0,
      );
      assert.ok(bytes > 50_000 && bytes < 200_000, `${bytes} bytes compressed`);
    });

  test('partners have a page of their own', async () => {
    const page = await get('/partner');
    assert.equal((await get('/partner/orders/17')).body, page.body);
    assert.notEqual((await get('/console')).body, page.body);
  });

  test('has the headers of a page that loads nothing from elsewhere', async () => {
    for (const url of ['/console', '/console/x', '/console/assets/none.js']) {
      const { headers } = await get(url);
      assert.equal(
        headers['content-security-policy'],
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      );
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['referrer-policy'], 'no-referrer');
      assert.match(String(headers['strict-transport-security']), /^max-age=31536000$/);
    }
  });

  test('serves only files that the build made', async () => {
    for (const path of [
      '..%2f..%2fpackage.json',
      '../.built',
      '..%2findex.html',
      '%2e%2e/%2e%2e/package.json',
      '.built',
    ]) {
      const { statusCode, body } = await get(`/console/assets/${path}`);
      assert.ok(statusCode === 404 || /<div id="root">/.test(body), path);
      assert.doesNotMatch(body, /"name"|[0-9a-f]{64}/, path);
    }
  });
});

test('the files of pdf.js are the ones whose hashes are noted', () => {
  const folder = join(CONSOLE, 'public', 'assets/pdfjs-6.5.438');
  const noted = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n');
  for (const line of noted) {
    const [hash, name = ''] = line.split(/ +/);
    const is = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    assert.equal(is, hash, name);
  }
  const there = readdirSync(folder, { recursive: true }).filter((name) =>
    statSync(join(folder, String(name))).isFile(),
  );
  assert.equal(there.length, noted.length + 2, 'all but the list and the README are noted');
});

test('a server without a built console says so and continues', async () => {
  const dist = mkdtempSync(join(tmpdir(), 'console-'));
  const app = fastify();
  try {
    writeFileSync(join(dist, 'secret.txt'), 'not of the console');
    await app.register(consolePages({ dist, publicUrl: () => 'http://127.0.0.1' }));
    const { statusCode, headers } = await app.inject({ method: 'GET', url: '/console' });
    assert.equal(statusCode, 503);
    assert.equal(headers['strict-transport-security'], undefined);
  } finally {
    await app.close();
    rmSync(dist, { recursive: true });
  }
});
