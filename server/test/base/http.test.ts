/** The one HTTP client: its limits, its guarantees, and that there is no other. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { pauseAfter, shaken } from '../../src/base/backoff.ts';
import { ask, type HttpRequest, NoAnswer } from '../../src/base/http.ts';

type Told = (response: ServerResponse, request: IncomingMessage) => void;

let told: Told = (response) => response.end();
let heard: IncomingMessage[] = [];
const server = createServer((request, response) => {
  heard.push(request);
  request.resume();
  told(response, request);
});
let url = '';
before(async () => {
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
after(async () => {
  server.closeAllConnections();
  await new Promise((down) => server.close(down));
});
beforeEach(() => {
  heard = [];
});

const asking = (more: Partial<HttpRequest> = {}) =>
  ask({ url, deadline: AbortSignal.timeout(60_000), longestBytes: 1_000, ...more });
const noAnswer = async (why: NoAnswer['why'], promise: Promise<unknown>): Promise<NoAnswer> =>
  await promise.then(
    () => assert.fail('it was taken for an answer'),
    (error: unknown) => {
      assert.ok(error instanceof NoAnswer, String(error));
      assert.equal(error.why, why);
      return error;
    },
  );

test('an answer is status, heads and bytes', async () => {
  told = (response, request) => response.writeHead(418, { 'x-said': request.headers['x-asked'] ?? '' }).end('short');
  const { status, headers, body } = await asking({ method: 'POST', body: 'ü', headers: { 'x-asked': 'tea' } });
  assert.deepEqual([status, headers['x-said'], body.toString()], [418, 'tea', 'short']);
  assert.deepEqual([heard[0]?.method, heard[0]?.headers['content-length']], ['POST', '2']);
});

test('one deadline covers the head and the last byte of the body', async () => {
  for (const silent of [
    () => {},
    (response: ServerResponse) => void response.writeHead(200, { 'content-length': 10 }).write('half'),
  ]) {
    told = silent;
    const late = await noAnswer('late', asking({ deadline: AbortSignal.timeout(50) }));
    assert.equal(late.message, 'no whole answer in time');
  }
  await noAnswer('late', asking({ deadline: AbortSignal.abort() }));
  assert.equal(heard.length, 2, 'a request was begun after its deadline');
});

test('an answer beyond the bound is not read to its end, and its connection is not used again', async () => {
  let closed = false;
  told = (response) => {
    response.on('close', () => {
      closed = true;
    });
    const more = () => {
      while (!closed && response.write('x'.repeat(10_000)));
      if (!closed) response.once('drain', more);
    };
    more();
  };
  await noAnswer('long', asking());
  while (!closed) await new Promise((turn) => setImmediate(turn));
  told = (response) => response.end('x'.repeat(1_000));
  assert.equal((await asking()).body.length, 1_000, 'an answer of exactly the limit was refused');
});

test('a compressed answer is decompressed, and bounded by its decompressed size', async () => {
  for (const [encoding, pack] of Object.entries({ gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync })) {
    told = (response) => response.writeHead(200, { 'content-encoding': encoding }).end(pack('plain'));
    assert.equal((await asking()).body.toString(), 'plain', encoding);
    told = (response) => response.writeHead(200, { 'content-encoding': encoding }).end(pack('0'.repeat(1_000_000)));
    await noAnswer('long', asking());
    told = (response) => response.writeHead(200, { 'content-encoding': encoding }).end('not packed at all');
    await noAnswer('failed', asking());
  }
});

test('a truncated answer counts as none', async () => {
  told = (response) => {
    response.writeHead(200, { 'content-length': 10 });
    response.write('half', () => response.destroy());
  };
  await noAnswer('failed', asking());
});

test('a connection that is cut is not tried again', async () => {
  told = (response) => response.end('kept alive');
  await asking();
  told = (response) => response.destroy();
  for (const method of ['GET', 'POST'] as const) {
    heard = [];
    assert.equal((await noAnswer('failed', asking({ method }))).code, 'ECONNRESET');
    assert.equal(heard.length, 1, method);
  }
});

test('a redirect is an answer and is not followed', async () => {
  told = (response) => response.writeHead(302, { location: `${url}elsewhere` }).end();
  assert.equal((await asking()).status, 302);
  assert.deepEqual(
    heard.map((request) => request.url),
    ['/'],
  );
});

test('an unneeded rest of a body is not awaited', async () => {
  told = (response) => void response.writeHead(200).write('and so on');
  assert.deepEqual((await asking({ wants: () => 'none' })).body, Buffer.alloc(0));
  told = (response) => void response.writeHead(200).write('x'.repeat(2_000));
  assert.equal((await asking({ wants: () => 'beginning', longestBytes: 7 })).body.toString(), 'xxxxxxx');
  told = (response) => {
    response.writeHead(200, { 'content-length': 10 });
    response.write('half', () => response.destroy());
  };
  assert.equal((await asking({ wants: () => 'beginning' })).body.toString(), 'half', 'the received part is missing');
});

test('an unreachable host is reported by a code and without the address', async () => {
  const error = await noAnswer('failed', asking({ url: 'http://127.0.0.1:1/?key=secret' }));
  assert.deepEqual([error.code, error.message], ['ECONNREFUSED', 'no whole answer (ECONNREFUSED)']);
  await noAnswer('failed', asking({ url: 'no address' }));
});

/** A call of `fetch`, or an import that can make requests: the functions by name, a whole module, or another client. */
const ASKS = new RegExp(
  [
    String.raw`(?<![.\w])fetch\(`,
    String.raw`\bimport\b[^;]*\b(?:request|get)\b[^;]*from '(?:node:)?https?'`,
    String.raw`\bimport (?!type\b)(?:\w+|\* as \w+)(?:, [^;]*)? from '(?:node:)?https?'`,
    String.raw`\b(?:import|require)\('(?:node:)?https?'\)`,
    String.raw`'(?:node:)?(?:http2|undici)'`,
  ].join('|'),
);

test('each way to make a request is noticed', () => {
  for (const text of [
    "await fetch('http://a.test')",
    "import { type Agent, request as http } from 'node:http';",
    "import {\n  get,\n} from 'node:https';",
    "import http from 'node:http';",
    "import https, { Agent } from 'https';",
    "import * as http from 'http';",
    "const { get } = await import('node:https');",
    "import { connect } from 'node:http2';",
    "import { Pool } from 'undici';",
  ])
    assert.match(text, ASKS);
  for (const text of [
    "import { createServer, type IncomingMessage } from 'node:http';",
    "import type { Agent } from 'node:https';",
    'await prices.fetch(pairs)',
  ])
    assert.doesNotMatch(text, ASKS);
});

test('no other file of the server makes HTTP requests', () => {
  const src = fileURLToPath(new URL('../../src/', import.meta.url));
  /** Browser code: it must not need anything of the server. */
  const elsewhere = new Set(['base/http.ts', 'protocols/checkout/page.js', 'site/explorer.js', 'site/site.js']);
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(ts|js)$/.test(name));
  const found = files.filter((name) => ASKS.test(readFileSync(join(src, name), 'utf8')));
  // `fetch(` also begins the method of a price source, at the beginning of a line.
  const others = found.filter((name) => !elsewhere.has(name) && !name.startsWith('quotes/'));
  assert.deepEqual(others, []);
  assert.deepEqual(
    [...elsewhere].filter((name) => !found.includes(name)),
    [],
    'those named here do',
  );
});

test('each failure in a row doubles the pause, up to the longest one', () => {
  const pauses = { firstMs: 5_000, longestMs: 60_000 };
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 2_000].map((failures) => pauseAfter(failures, pauses)),
    [5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000],
  );
  for (let i = 0; i < 1_000; i += 1) {
    const ms = shaken(1_000);
    assert.ok(ms >= 750 && ms < 1_250, `${ms}`);
  }
});
