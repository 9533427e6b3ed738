/**
 * The public price hosts, simulated on loopback from fixtures that were built from their documentation: one HTTP server for all of
 * them, because no two share a path. Each answers with present times, and a test can change its answers.
 *
 * An exchange needs only its fixture, `fixtures/prices/<code>.json`, and its line in registry.ts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readSettings } from '../../src/base/env.ts';
import type { Http } from '../../src/base/http.ts';
import type { PriceSource } from '../../src/quotes/index.ts';
import { LISTS } from '../../src/registry.ts';

const FIXTURES = new URL('../fixtures/prices/', import.meta.url);

/** The exchanges that tests name; EXCHANGES has one for each fixture. */
export type ExchangeName = 'binance' | 'coinbase' | 'kraken' | 'bitstamp';
export type HostName = ExchangeName | 'ecb';
export const EXCHANGES = LISTS.priceSources
  .map(({ code }) => code)
  .filter((code) => readdirSync(FIXTURES).includes(`${code}.json`)) as readonly ExchangeName[];

interface Fixture {
  /** The path of the request; `{symbol}` is one symbol, or several with commas where one answer has them all. */
  path: string;
  /** The pair in the answer, and the middle of its bid and ask. */
  of: { pair: string; symbol: string; middle: string };
  /** Paths of the fields in the answer, with dots. */
  fields: { bid: string; ask: string; symbol?: string; time?: string };
  /** Its format of times; left out where it gives none. */
  time?: 'iso' | 's' | 'ms';
  answer: Record<string, unknown>;
  /** Where one answer has several symbols: the whole answer, and the path of the map by symbol. */
  together?: Record<string, unknown>;
  under?: string;
  unknown: { status: number; body: unknown };
}

const fixture = (name: string): Fixture => JSON.parse(readFileSync(new URL(`${name}.json`, FIXTURES), 'utf8'));
export const FIXTURE = Object.fromEntries(EXCHANGES.map((name) => [name, fixture(name)])) as Record<
  ExchangeName,
  Fixture
>;
/** The document without its first line, which names its source. */
const ECB_DOCUMENT = readFileSync(new URL('eurofxref-daily.xml', FIXTURES), 'utf8').replace(/^<!--[^>]*-->\n/, '');

/** A time in the exchange's own format. */
export function writeTime(name: ExchangeName, ms: number): unknown {
  const { time } = FIXTURE[name];
  if (time === 'iso') return new Date(ms).toISOString();
  return time === 's' ? String(Math.floor(ms / 1_000)) : ms;
}

/** The document of a day, as the bank would publish it. */
export const ecbDocument = (day: string): string => ECB_DOCUMENT.replace('2024-06-28', day);
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** Differences of a ticker from the fixture. */
export interface Said {
  bid?: unknown;
  ask?: unknown;
  /** In the exchange's own format; now by default. */
  time?: unknown;
  symbol?: unknown;
}

/** The body for these symbols. */
export function tickers(name: ExchangeName, symbols: readonly string[], said: (symbol: string) => Said): unknown {
  const { together, under } = FIXTURE[name];
  const of = (symbol: string): Record<string, unknown> => write(name, symbol, said(symbol));
  if (together === undefined || under === undefined) return of(symbols[0] ?? '');
  const each = symbols.map((symbol) => [said(symbol).symbol ?? symbol, of(symbol)]);
  return { ...together, [under]: Object.fromEntries(each) };
}

function write(name: ExchangeName, symbol: string, said: Said): Record<string, unknown> {
  const { answer, fields } = FIXTURE[name];
  const written = structuredClone(answer);
  const put = (path: string | undefined, value: unknown): void => {
    const steps = path?.split('.') ?? [];
    const last = steps.pop();
    const parent = steps.reduce((at, step) => at[step] as Record<string, unknown>, written);
    if (last !== undefined) parent[last] = value;
  };
  put(fields.symbol, 'symbol' in said ? said.symbol : symbol);
  if ('bid' in said) put(fields.bid, said.bid);
  if ('ask' in said) put(fields.ask, said.ask);
  put(fields.time, 'time' in said ? said.time : writeTime(name, Date.now()));
  return written;
}

export interface Told {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** A fault in place of a complete answer. */
  action?: (response: ServerResponse) => void;
}

/** The symbols in the path of a request. */
function asksFor(name: ExchangeName, path: string): string[] | undefined {
  const [before = '', after = ''] = FIXTURE[name].path.split('{symbol}');
  if (!path.startsWith(before) || !path.endsWith(after)) return undefined;
  const symbols = path.slice(before.length, path.length - after.length);
  return /^[A-Za-z0-9,-]+$/.test(symbols) ? symbols.split(',') : undefined;
}

/** A price source of the registry, at another address than its own. */
export function sourceAt(code: string, where: { baseUrl: string; deadlineMs?: number; http?: Http }): PriceSource {
  const found = LISTS.priceSources.find((one) => one.code === code);
  if (found === undefined) throw new Error(`registry.ts lists no price source ${code}`);
  return found.create({ ...readSettings(found.settings, {}), ...where });
}

export async function priceHosts() {
  /** The ticker of each host for a symbol; a host does not list a symbol without one. */
  const books = Object.fromEntries(EXCHANGES.map((name) => [name, {}])) as Record<ExchangeName, Record<string, Said>>;
  const instead = new Map<HostName, (symbols: string[]) => Told | undefined>();
  const asked: string[] = [];
  const bank = { day: dayOf(new Date(Date.now() - 24 * 3_600_000)) };

  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const found = EXCHANGES.flatMap((name) => {
      const symbols = asksFor(name, path);
      return symbols === undefined ? [] : [{ name, symbols }];
    })[0] ?? { name: 'ecb' as const, symbols: [] };
    const told = instead.get(found.name)?.(found.symbols) ?? usual(found.name, found.symbols, path);
    if (told.action !== undefined) return told.action(response);
    response.writeHead(told.status ?? 200, { 'content-type': 'application/json', ...told.headers });
    response.end(told.body ?? '');
  });

  function usual(name: HostName, symbols: string[], path: string): Told {
    if (name === 'ecb') {
      if (path !== '/stats/eurofxref/eurofxref-daily.xml') return { status: 404 };
      return { headers: { 'content-type': 'text/xml' }, body: ecbDocument(bank.day) };
    }
    const book = books[name];
    if (!symbols.every((symbol) => symbol in book)) {
      const { status, body } = FIXTURE[name].unknown;
      return { status, body: JSON.stringify(body) };
    }
    return { body: JSON.stringify(tickers(name, symbols, (symbol) => book[symbol] ?? {})) };
  }

  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl,
    books,
    bank,
    instead,
    asked,
    source: (name: string, deadlineMs = 3_000): PriceSource => sourceAt(name, { baseUrl, deadlineMs }),
    async stop() {
      server.closeAllConnections();
      await new Promise((down) => server.close(down));
    },
  };
}

export type PriceHosts = Awaited<ReturnType<typeof priceHosts>>;
