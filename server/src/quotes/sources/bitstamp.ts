/**
 * Bitstamp: `GET /api/v2/ticker/{market_symbol}/`, one call a market.
 *
 * Time: `timestamp`, in seconds. The answer does not name its market, as at Coinbase.
 *
 * Source: https://www.bitstamp.net/api/#tag/Tickers/operation/GetMarketTicker
 * and its fields at https://schemas.apis.io/schemas/bitstamp/ticker/
 * Not yet run against the live service.
 */
import { adapter } from '../../base/adapter.ts';
import { webAddress } from '../../base/env.ts';
import { exchange, type Where } from './exchange.ts';
import { at, readTime } from './read.ts';

const bitstamp = (where: Where) =>
  exchange({
    code: 'bitstamp',
    ...where,
    listed: {
      'btc/usd': 'btcusd',
      'btc/eur': 'btceur',
      'btc/gbp': 'btcgbp',
      'eth/usd': 'ethusd',
      'eth/eur': 'etheur',
      'eth/gbp': 'ethgbp',
      'usdt/usd': 'usdtusd',
      'usdt/eur': 'usdteur',
      'usdc/usd': 'usdcusd',
      'usdc/eur': 'usdceur',
    },
    calls: (symbols) => symbols.map((symbol) => ({ path: `/api/v2/ticker/${symbol}/`, symbols: [symbol] })),
    read: (body) => ({ bid: at(body, 'bid'), ask: at(body, 'ask'), time: readTime(at(body, 'timestamp'), 's') }),
  });

export const bitstampSource = adapter({
  code: 'bitstamp',
  about: 'Bitstamp',
  settings: { baseUrl: webAddress('PRICE_BITSTAMP_URL', 'Bitstamp', 'https://www.bitstamp.net') },
  create: bitstamp,
});
