/**
 * The public hosts of prices, played on loopback from fixtures that were built from their documentation: one HTTP server
 * for all of them, since no two have a path in common. Each answers with times of now, and can be told to do otherwise.
 */
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PriceSource } from '../../src/quotes/index.ts';
import { binance } from '../../src/quotes/sources/binance.ts';
import { bitstamp } from '../../src/quotes/sources/bitstamp.ts';
import { coinbase } from '../../src/quotes/sources/coinbase.ts';
import { ecb } from '../../src/quotes/sources/ecb.ts';
import { kraken } from '../../src/quotes/sources/kraken.ts';

const FIXTURES = new URL('../fixtures/prices/', import.meta.url);

export const EXCHANGES = ['binance', 'coinbase', 'kraken', 'bitstamp'] as const;
export type ExchangeName = (typeof EXCHANGES)[number];
export type HostName = ExchangeName | 'ecb';

interface Fixture {
  answer: Record<string, unknown>;
  unknown: { status: number; body: unknown };
}

const fixture = (name: ExchangeName): Fixture => JSON.parse(readFileSync(new URL(`${name}.json`, FIXTURES), 'utf8'));
const FIXTURE = Object.fromEntries(EXCHANGES.map((name) => [name, fixture(name)])) as Record<ExchangeName, Fixture>;
/** Without its first line, which says where it is from. */
const ECB_DOCUMENT = readFileSync(new URL('eurofxref-daily.xml', FIXTURES), 'utf8').replace(/^<!--[^>]*-->\n/, '');

/** Of the day, as the bank would publish it. */
export const ecbDocument = (day: string): string => ECB_DOCUMENT.replace('2024-06-28', day);
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** What a ticker says: the fixture's, but for these. */
export interface Said {
  bid?: unknown;
  ask?: unknown;
  /** As the exchange would write it; of now if not said. */
  time?: unknown;
  symbol?: unknown;
}

/** The body that tells of these symbols. */
export function tickers(name: ExchangeName, symbols: readonly string[], said: (symbol: string) => Said): unknown {
  const of = (symbol: string): Record<string, unknown> => write(name, symbol, said(symbol));
  if (name !== 'kraken') return of(symbols[0] ?? '');
  return {
    error: [],
    result: Object.fromEntries(symbols.map((symbol) => [said(symbol).symbol ?? symbol, of(symbol)])),
  };
}

function write(name: ExchangeName, symbol: string, said: Said): Record<string, unknown> {
  const answer = structuredClone(FIXTURE[name].answer);
  const now = Date.now();
  const put = (key: string, value: unknown): void => void (answer[key] = value);
  if (name === 'binance') {
    put('symbol', 'symbol' in said ? said.symbol : symbol);
    if ('bid' in said) put('bidPrice', said.bid);
    if ('ask' in said) put('askPrice', said.ask);
    put('closeTime', 'time' in said ? said.time : now);
  } else if (name === 'kraken') {
    if ('bid' in said) put('b', [said.bid, '1', '1.000']);
    if ('ask' in said) put('a', [said.ask, '1', '1.000']);
  } else {
    if ('bid' in said) put('bid', said.bid);
    if ('ask' in said) put('ask', said.ask);
    const written = name === 'coinbase' ? new Date(now).toISOString() : String(Math.floor(now / 1_000));
    put(name === 'coinbase' ? 'time' : 'timestamp', 'time' in said ? said.time : written);
  }
  return answer;
}

export interface Told {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Something else than a whole answer. */
  act?: (response: ServerResponse) => void;
}

const SYMBOL: Record<ExchangeName, RegExp> = {
  binance: /^\/api\/v3\/ticker\/24hr\?symbol=([A-Z]+)$/,
  coinbase: /^\/products\/([A-Z-]+)\/ticker$/,
  kraken: /^\/0\/public\/Ticker\?pair=([A-Z,]+)$/,
  bitstamp: /^\/api\/v2\/ticker\/([a-z]+)\/$/,
};

export async function priceHosts() {
  /** What each host says of a symbol; what is not there it does not list. */
  const books: Record<ExchangeName, Record<string, Said>> = { binance: {}, coinbase: {}, kraken: {}, bitstamp: {} };
  const instead = new Map<HostName, (symbols: string[]) => Told | undefined>();
  const asked: string[] = [];
  const bank = { day: dayOf(new Date(Date.now() - 24 * 3_600_000)) };

  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const found = EXCHANGES.flatMap((name) => {
      const [, symbols] = SYMBOL[name].exec(path) ?? [];
      return symbols === undefined ? [] : [{ name, symbols: symbols.split(',') }];
    })[0] ?? { name: 'ecb' as const, symbols: [] };
    const told = instead.get(found.name)?.(found.symbols) ?? usual(found.name, found.symbols, path);
    if (told.act !== undefined) return told.act(response);
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
    source(name: HostName, deadlineMs = 3_000): PriceSource {
      return { binance, coinbase, kraken, bitstamp, ecb }[name]({ baseUrl, deadlineMs });
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((down) => server.close(down));
    },
  };
}

export type PriceHosts = Awaited<ReturnType<typeof priceHosts>>;
