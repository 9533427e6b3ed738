/**
 * European Central Bank: the euro reference rates of a day, from which a US dollar's rate in other currencies is computed.
 *
 * The rates are set at 14:15 Central European time on each TARGET day and published around 16:00. So on any day the newest may be
 * the previous day's; after a weekend it is three days old, and after Easter or Christmas five. A price composed with such a rate
 * has the same time, so a market priced through them needs a `price_max_age_s` of six days (518400). Its coin legs must still be
 * at most a minute old (crosses.ts). They are reference rates, "for information purposes only": the extra cost of a real currency
 * exchange belongs in the market's fees.
 *
 * The document is matched against its published form and no other; an XML parser would also accept what it must not contain.
 *
 * Source: https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html Not yet
 * run against the live service.
 */
import { adapter } from '../../base/adapter.ts';
import { systemClock } from '../../base/clock.ts';
import { webAddress } from '../../base/env.ts';
import { Unavailable } from '../../base/errors.ts';
import { fraction, type Rate } from '../../base/money.ts';
import { CROSS_MAX_AGE_MS } from '../crosses.ts';
import type { FetchedPrice, PriceSource } from '../source.ts';
import { getText } from './answer.ts';
import type { Where } from './exchange.ts';
import { isTimely, readPrice } from './read.ts';

const CODE = 'ecb';
const PATH = '/stats/eurofxref/eurofxref-daily.xml';
const DEADLINE_MS = 8_000;
/** The document has about two kilobytes. */
const LONGEST_ANSWER = 32 * 1024;
/** The rates change once a day. */
const EVERY_MS = 30 * 60_000;

function ecb({ baseUrl, deadlineMs = DEADLINE_MS, http }: Where): PriceSource {
  return {
    code: CODE,
    everyMs: EVERY_MS,
    async fetch(pairs, clock = systemClock) {
      const signal = AbortSignal.timeout(deadlineMs);
      const url = `${baseUrl}${PATH}`;
      const text = await getText(CODE, { url, type: 'xml', longestBytes: LONGEST_ANSWER, signal, http });
      const day = text === undefined ? undefined : readDay(text);
      const dollar = day?.perEuro.get('usd');
      if (day === undefined || dollar === undefined) throw new Unavailable(CODE, 'the answer is not its daily rates');
      if (!isTimely(day.setAt, clock.now(), CROSS_MAX_AGE_MS)) throw new Unavailable(CODE, 'of a day that is not near');
      const { perEuro, setAt } = day;
      return [...new Set(pairs.map(({ quote }) => quote))].flatMap((quote): FetchedPrice[] => {
        const other = quote === 'eur' ? ONE : perEuro.get(quote);
        if (quote === 'usd' || other === undefined) return [];
        return [
          { base: 'usd', quote, rate: fraction(other.num * dollar.den, other.den * dollar.num), pricedAt: setAt },
        ];
      });
    },
  };
}

const ONE: Rate = { num: 1n, den: 1n };

const RATE = /<Cube\s+currency='([A-Z]{3})'\s+rate='([0-9.]+)'\s*\/>/;
const DOCUMENT = new RegExp(
  String.raw`^<\?xml version="1\.0" encoding="UTF-8"\?>\s*<gesmes:Envelope [^<>]*>` +
    String.raw`\s*<gesmes:subject>[^<>]*</gesmes:subject>\s*<gesmes:Sender>\s*<gesmes:name>[^<>]*</gesmes:name>\s*</gesmes:Sender>` +
    String.raw`\s*<Cube>\s*<Cube\s+time='([0-9]{4}-[0-9]{2}-[0-9]{2})'\s*>((?:\s*${RATE.source.replace(/\((?!\?)/g, '(?:')})+)` +
    String.raw`\s*</Cube>\s*</Cube>\s*</gesmes:Envelope>\s*$`,
);

/** Whole units of each currency per euro. All or nothing: a truncated document or one with an invalid rate is rejected. */
function readDay(text: string): { setAt: Date; perEuro: Map<string, Rate> } | undefined {
  // Attributes may be quoted either way.
  const [, day, rates] = DOCUMENT.exec(withSingleQuotes(text)) ?? [];
  // 14:15 in Central European summer time; in winter the rates are set an hour later (UTC), and a date that is an hour too old
  // does no harm.
  const setAt = new Date(`${day}T12:15:00Z`);
  if (rates === undefined || Number.isNaN(setAt.getTime())) return undefined;
  const perEuro = new Map<string, Rate>();
  for (const [, currency = '', number] of rates.matchAll(new RegExp(RATE, 'g'))) {
    const rate = readPrice(number);
    const coin = currency.toLowerCase();
    if (rate === undefined || perEuro.has(coin)) return undefined;
    perEuro.set(coin, rate);
  }
  return { setAt, perEuro };
}

const withSingleQuotes = (text: string): string => text.replace(/(time|currency|rate)="([^"'<>]*)"/g, "$1='$2'");

export const ecbSource = adapter({
  code: 'ecb',
  about: 'European Central Bank, daily reference rates',
  settings: {
    baseUrl: webAddress('PRICE_ECB_URL', 'European Central Bank, daily reference rates', 'https://www.ecb.europa.eu'),
  },
  create: ecb,
});
