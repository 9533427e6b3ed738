/**
 * The contract of every price source. Its host is simulated on loopback from a fixture that was built from its documentation, and
 * then answers late, half, malformed, enormous, by redirects and by errors: a source returns exact prices or none.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { Unavailable } from '../../src/base/errors.ts';
import type { FetchedPrice, Pair, PriceSource } from '../../src/quotes/index.ts';
import type { Told } from '../support/pricehosts.ts';

export interface PriceSourceEnvironment {
  /** The source, connected to the simulated host. */
  source(deadlineMs?: number): PriceSource;
  /** The source, connected to a closed port. */
  nowhere(): PriceSource;
  /** Pairs of which the fixture prices at least one. */
  wanted: readonly Pair[];
  /** All pairs that may be composed of them: `eth/usd`. */
  legs: readonly string[];
  contentType: string;
  /** The correct answer; with a value, that replaces each number in it. */
  good(symbols: readonly string[], value?: string): string;
  /** Sets the host's answer from now on. */
  tells(how: (symbols: string[]) => Told): void;
  /** Requested paths. */
  asked: readonly string[];
}

const HOUR = 3_600_000;
const MB = 1024 * 1024;

// Long because one function is one contract.
export function testPriceSource(code: string, world: () => PriceSourceEnvironment): void {
  const answered = (how: Told | ((symbols: string[]) => Told), deadlineMs?: number): Promise<FetchedPrice[]> => {
    const w = world();
    w.tells(typeof how === 'function' ? how : () => how);
    return w.source(deadlineMs).fetch(w.wanted);
  };
  const isSilent = (asking: Promise<unknown>, what: string) =>
    assert.rejects(asking, (error) => error instanceof Unavailable, what);
  const typed = () => ({ 'content-type': world().contentType });

  describe(`price source contract: ${code}`, () => {
    test('its code is that of its line in registry.ts', () => {
      assert.equal(world().source().code, code);
      assert.match(code, /^[a-z0-9]{1,20}$/);
    });

    test('empty, half, HTML, of a wrong type, too long, cut, a redirect, an error', async () => {
      const headers = typed();
      const right = (symbols: string[]) => world().good(symbols);
      assert.ok(
        (await answered((symbols) => ({ headers, body: right(symbols) }))).length > 0,
        'the unchanged answer gives no price',
      );
      const told: Record<string, (symbols: string[]) => Told> = {
        empty: () => ({ headers }),
        half: (symbols) => ({ headers, body: right(symbols).slice(0, -20) }),
        html: () => ({ headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Just a moment</title>' }),
        'html that says it is not': () => ({ headers, body: '<!doctype html><title>Just a moment</title>' }),
        'wrong type': (symbols) => ({ headers: { 'content-type': 'text/plain' }, body: right(symbols) }),
        'not text': () => ({ headers, body: Buffer.from([0xff, 0xfe, 0x00, 0x80]) }),
        'ten megabytes': (symbols) => ({ headers, body: right(symbols) + ' '.repeat(10 * MB) }),
        'ten megabytes packed': (symbols) => ({
          headers: { ...headers, 'content-encoding': 'gzip' },
          body: gzipSync(right(symbols) + ' '.repeat(10 * MB)),
        }),
        'badly packed': () => ({ headers: { ...headers, 'content-encoding': 'gzip' }, body: 'no gzip at all' }),
        'deeply nested': () => ({ headers, body: '['.repeat(60_000) }),
        redirect: () => ({ status: 302, headers: { location: '/elsewhere' } }),
        '500': (symbols) => ({ status: 500, headers, body: right(symbols) }),
        '204': () => ({ status: 204 }),
        '403': () => ({ status: 403, headers, body: '{}' }),
        '404': () => ({ status: 404, headers, body: '{}' }),
        cut: (symbols) => ({
          action: (response) => {
            response.writeHead(200, { ...headers, 'content-length': '100000' });
            response.write(right(symbols), () => response.destroy());
          },
        }),
        'hung up': () => ({ action: (response) => void response.destroy() }),
      };
      for (const [what, tell] of Object.entries(told)) await isSilent(answered(tell), what);
      assert.ok(!world().asked.includes('/elsewhere'), 'a redirect was followed');
    });

    test('late, and slow without end: one deadline ends all of it', async () => {
      const from = performance.now();
      await isSilent(answered({ action: () => {} }, 100), 'late');
      const dripping = answered(
        {
          action: (response) => {
            response.writeHead(200, typed());
            const drip = setInterval(() => response.write(' '), 10);
            response.on('close', () => clearInterval(drip));
          },
        },
        100,
      );
      await isSilent(dripping, 'slow');
      assert.ok(performance.now() - from < 10_000, 'it waited longer than the given deadline');
    });

    test('a closed port', async () => {
      await assert.rejects(world().nowhere().fetch(world().wanted), /ECONNREFUSED|no whole answer/);
    });

    test('a rate limit is reported with its duration', async () => {
      const pauseOf = async (after: string | undefined, status = 429) =>
        await answered({ status, headers: after === undefined ? {} : { 'retry-after': after } }).then(
          () => assert.fail('answered'),
          (error: unknown) => (error instanceof Unavailable ? error.retryAfterMs : assert.fail(String(error))),
        );
      assert.equal(await pauseOf('120'), 120_000);
      assert.equal(await pauseOf('999999999', 418), 3 * 24 * HOUR, 'a pause is longer than three days');
      const until = await pauseOf(new Date(Date.now() + 60_000).toUTCString());
      assert.ok(until > 30_000 && until <= 60_000, `${until}`);
      for (const odd of [undefined, '-5', 'soon', '']) assert.ok((await pauseOf(odd)) <= 5_000, odd);
    });

    test('a failure is reported without text of the answer', async () => {
      const secret = 'swordfish';
      for (const body of [secret, `{"${secret}"`, JSON.stringify({ symbol: secret }), `<${secret}>`])
        await assert.rejects(answered({ headers: typed(), body }), (error: Error) => !error.message.includes(secret));
    });

    test('any bytes give a positive, finite, recent price, or Unavailable', async () => {
      const status = fc.constantFrom(200, 200, 200, 200, 200, 200, 200, 200, 200, 201, 301, 400, 429, 503);
      let prices = 0;
      await fc.assert(
        fc.asyncProperty(
          anyBody,
          status,
          fc.nat(7).map((n) => n === 0),
          async (body, said, isPlain) => {
            const { contentType, good, legs } = world();
            const headers = { 'content-type': isPlain ? 'application/octet-stream' : contentType };
            let heard: FetchedPrice[] = [];
            try {
              heard = await answered((symbols) => ({
                status: said,
                headers,
                body: body((value) => good(symbols, value)),
              }));
            } catch (error) {
              assert.ok(error instanceof Unavailable, String(error));
            }
            prices += heard.length;
            for (const { base, quote, rate, pricedAt } of heard) {
              assert.ok(legs.includes(`${base}/${quote}`), `${base}/${quote} was not requested`);
              assert.ok(rate.num > 0n && rate.den > 0n && rate.num < 10n ** 78n && rate.den < 10n ** 78n);
              assert.ok(Math.abs(Date.now() - pricedAt.getTime()) < 8 * 24 * HOUR);
            }
          },
        ),
        { numRuns: 200 },
      );
      assert.ok(prices > 0, 'none of the answers was a price: the test tries nothing');
    });
  });
}

/** @returns a body, made from the correct answer or from nothing */
const anyBody: fc.Arbitrary<(good: (value?: string) => string) => Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 400 }).map((bytes) => () => Buffer.from(bytes)),
  fc.json().map((text) => () => Buffer.from(text)),
  // A correct answer with one value in every place.
  fc
    .oneof(
      fc.string(),
      fc.double().map(String),
      fc.bigInt().map(String),
      fc.nat(999_999).map((cents) => String(cents / 100)),
    )
    .map((value) => (good: (value?: string) => string) => Buffer.from(good(value))),
  // A correct answer with some bytes changed or missing.
  fc
    .tuple(fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), fc.option(fc.nat(2_000)))
    .map(([changes, length]) => (good: (value?: string) => string) => {
      const bytes = Buffer.from(good());
      for (const [where, byte] of changes) bytes[where % bytes.length] = byte;
      return length === null ? bytes : bytes.subarray(0, length);
    }),
);
