/** Lists from an address: a real https server that sends them whole, late, cut off, compressed, or somewhere else. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Refusal, Unavailable } from '../../../src/base/errors.ts';
import { checksumIn, type Downloads, fileNameIn, type Validators } from '../../../src/compliance/sanctions/download.ts';
import { fetchList } from '../../../src/compliance/sanctions/fetch.ts';
import { checkedRoutes, outsideFor } from '../../../src/events/index.ts';
import { openPublisher, type Publisher, sends } from './source.ts';

const UK = readFileSync(new URL('../../fixtures/sanctions/uk.xml', import.meta.url), 'utf8');
const NOW = new Date('2026-11-23T12:00:00Z');
const sumOf = (text: string) => createHash('sha256').update(text).digest('hex');

let publisher: Publisher;
let dir: string;
const formerDir = process.env.TMPDIR;
before(async () => {
  publisher = await openPublisher();
  dir = mkdtempSync(join(tmpdir(), 'downloads-'));
  process.env.TMPDIR = dir;
});
after(async () => {
  if (formerDir === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = formerDir;
  await publisher?.close();
  if (dir !== undefined) rmSync(dir, { recursive: true });
});
beforeEach(() => void publisher.asked.splice(0));

const fetches = (
  path: string,
  { sha256, known, ...more }: Partial<Downloads> & { sha256?: string; known?: Validators } = {},
) =>
  fetchList(
    { ask: publisher.client, ...more },
    { list: 'uk', from: publisher.url(path), ...(sha256 === undefined ? {} : { sha256 }) },
    { now: NOW, known },
  );
const unavailable = (promise: Promise<unknown>, why: RegExp) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof Unavailable, String(error));
    assert.match(error.message, why);
    return true;
  });
const refused = (promise: Promise<unknown>, why: RegExp) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof Refusal && error.code === 'file_refused', String(error));
    assert.match(String(error.facts.why), why);
    return true;
  });

test('a list is read from an address, plain or compressed, with what its source says of it, and no file stays', async () => {
  const modified = 'Fri, 20 Nov 2026 08:00:00 GMT';
  publisher.at('/uk.xml', sends(UK, { etag: '"v1"', modified }));
  const found = await fetches('/uk.xml');
  assert.deepEqual([found?.entries.size, found?.asOf, found?.sha256.toString('hex')], [3, NOW, sumOf(UK)]);
  assert.deepEqual(found?.given, { source: publisher.url('/uk.xml'), etag: '"v1"', modified });
  publisher.at('/packed.xml', (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', etag: 'no quotes', 'last-modified': 'x'.repeat(100) });
    response.end(gzipSync(UK));
  });
  const packed = await fetches('/packed.xml');
  assert.equal(packed?.sha256.toString('hex'), sumOf(UK), 'the checksum is not of the list');
  assert.deepEqual([packed?.given?.etag, packed?.given?.modified], [null, null]);
  assert.deepEqual(readdirSync(dir), []);
});

test('an unchanged list is not sent: by its ETag, or by its time where there is no ETag', async () => {
  const modified = 'Fri, 20 Nov 2026 08:00:00 GMT';
  publisher.at('/etag.xml', sends(UK, { etag: 'W/"v1"' }));
  assert.equal(await fetches('/etag.xml', { known: { etag: 'W/"v1"', modified: null } }), undefined);
  assert.equal((await fetches('/etag.xml', { known: { etag: '"v0"', modified: null } }))?.entries.size, 3);
  publisher.at('/time.xml', sends(UK, { modified }));
  assert.equal(await fetches('/time.xml', { known: { etag: null, modified } }), undefined);
  // Nothing was known, so nothing can be unchanged.
  publisher.at('/odd.xml', (response) => void response.writeHead(304).end());
  await unavailable(fetches('/odd.xml'), /304 to a request without conditions/);
});

test('a download that is cut off, late, trickles, is too long or truncated is no list, and no file stays', async () => {
  publisher.at('/cut.xml', (response) => {
    response.writeHead(200, { 'content-length': String(UK.length) });
    response.write(UK.slice(0, 500), () => response.destroy());
  });
  await unavailable(fetches('/cut.xml'), /no whole answer|cut short/);
  publisher.at('/chunked.xml', (response) => {
    response.write(UK.slice(0, 500), () => response.destroy());
  });
  await unavailable(fetches('/chunked.xml'), /no whole answer|cut short/);
  publisher.at('/silent.xml', () => {});
  await unavailable(fetches('/silent.xml', { deadlineMs: 200 }), /in time/);
  publisher.at('/slow.xml', (response) => {
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  });
  await unavailable(fetches('/slow.xml', { deadlineMs: 300 }), /in time/);
  publisher.at('/long.xml', sends(UK));
  await unavailable(fetches('/long.xml', { mostBytes: 1_000 }), /too long/);
  publisher.at('/bomb.xml', (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.end(gzipSync(Buffer.alloc(20_000_000)));
  });
  await unavailable(fetches('/bomb.xml', { mostBytes: 1_000_000 }), /too long/);
  publisher.at('/half.xml', sends(UK.slice(0, UK.length - 30)));
  await refused(fetches('/half.xml'), /not well-formed/);
  publisher.at('/away.xml', (response) => void response.writeHead(503).end());
  await unavailable(fetches('/away.xml'), /answers 503/);
  assert.deepEqual(readdirSync(dir), []);
});

test('the checksum is that of the setting or that of the publisher, and is compared before the list is read', async () => {
  publisher.at('/uk.xml', sends(UK));
  assert.equal((await fetches('/uk.xml', { sha256: sumOf(UK).toUpperCase() }))?.entries.size, 3);
  publisher.at('/sums', sends(`${sumOf('x')}  other.xml\n${sumOf(UK)} *lists/UK.xml\n`));
  assert.equal((await fetches('/uk.xml', { sha256: publisher.url('/sums') }))?.entries.size, 3);
  // Not even a list: the checksum is what is wrong with it.
  publisher.at('/html.xml', sends('<html>'));
  await refused(fetches('/html.xml', { sha256: '0'.repeat(64) }), /checksum/);
  await refused(fetches('/uk.xml', { sha256: '0'.repeat(64) }), /checksum/);
  publisher.at('/others', sends(`${sumOf(UK)}  a.xml\n${sumOf(UK)}  b.xml\n`));
  await refused(fetches('/uk.xml', { sha256: publisher.url('/others') }), /checksum/);
  await unavailable(fetches('/uk.xml', { sha256: publisher.url('/missing') }), /answers 404/);
});

test('the file of an address has its name as it is written on a disk', () => {
  for (const [path, name] of [
    ['a/list%20of%20names.xml', 'list of names.xml'],
    ['a/list%ZZ.xml', 'list%ZZ.xml'],
    ['', ''],
  ])
    assert.equal(fileNameIn(`https://lists.example/${path}`), name);
});

test('a checksum file names its file, or has one checksum', () => {
  const [a, b] = ['a'.repeat(64), 'b'.repeat(64)];
  for (const [text, found] of [
    [`${a}\n`, a],
    [`  ${a.toUpperCase()}  \r\n`, a],
    [`${a}  renamed.xml\n`, a],
    [`${a}  one.xml\n${b} *dir/list.xml\n`, b],
    [`${a}  one.xml\n${b}  two.xml\n`, undefined],
    [`${a}\n${b}\n`, undefined],
    ['', undefined],
    [a.slice(1), undefined],
    [`<p>${a}</p>`, undefined],
  ] as const)
    assert.equal(checksumIn(text, 'list.xml'), found, text);
});

test('redirects are followed to https, three at most, and never into a network that the server may not call', async () => {
  const to =
    (location: string) =>
    (response: Parameters<Parameters<Publisher['at']>[1]>[0]): void =>
      void response.writeHead(302, { location }).end();
  publisher.at('/uk.xml', sends(UK, { etag: '"v1"' }));
  publisher.at('/moved.xml', to('/uk.xml'));
  assert.equal((await fetches('/moved.xml'))?.given?.source, publisher.url('/moved.xml'));
  assert.equal(await fetches('/moved.xml', { known: { etag: '"v1"', modified: null } }), undefined);
  publisher.at('/plain.xml', to('http://lists.example/uk.xml'));
  await unavailable(fetches('/plain.xml'), /no https address/);
  publisher.at('/nowhere.xml', (response) => void response.writeHead(302).end());
  publisher.at('/loop.xml', to('/loop.xml'));
  publisher.asked.splice(0);
  await unavailable(fetches('/loop.xml'), /too often/);
  assert.equal(publisher.asked.length, 4);

  const production = checkedRoutes(outsideFor('production'));
  for (const inside of [
    'https://127.0.0.1/x',
    'https://169.254.169.254/x',
    'https://[::1]/x',
    publisher.url('/uk.xml'),
  ]) {
    publisher.at('/inside.xml', to(inside));
    publisher.asked.splice(0);
    await unavailable(fetches('/inside.xml', { route: production }), /may not be called/);
    assert.deepEqual(
      publisher.asked.map(({ path }) => path),
      ['/inside.xml'],
      inside,
    );
  }
  const ca = readFileSync(new URL('../../fixtures/tls/cert.pem', import.meta.url), 'utf8');
  assert.equal((await fetches('/moved.xml', { route: checkedRoutes(outsideFor('sandbox'), { ca }) }))?.entries.size, 3);
});
