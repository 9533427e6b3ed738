/**
 * Binance spot: `GET /api/v3/ticker/24hr?symbol=`, one call a symbol, because one unknown symbol fails a call for many
 * symbols (error −1121), and one symbol weighs little against its limits. A 429 or 418 says how long to wait.
 *
 * Time: `closeTime`, the end of the ticker's window, in milliseconds. Binance has no books in US dollars; its prices are in USDT,
 * which is a coin like any other (crosses.ts).
 *
 * Source: https://github.com/binance/binance-spot-api-docs/blob/master/rest-api.md#24hr-ticker-price-change-statistics
 * Not yet run against the live service.
 */
import { adapter } from '../../base/adapter.ts';
import { webAddress } from '../../base/env.ts';
import { exchange, type Where } from './exchange.ts';
import { at, readTime } from './read.ts';

const binance = (where: Where) =>
  exchange({
    code: 'binance',
    ...where,
    listed: {
      'btc/usdt': 'BTCUSDT',
      'btc/eur': 'BTCEUR',
      'eth/usdt': 'ETHUSDT',
      'eth/eur': 'ETHEUR',
      'bnb/usdt': 'BNBUSDT',
      'bnb/eur': 'BNBEUR',
      'usdc/usdt': 'USDCUSDT',
      // Polygon's coin was renamed, one for one, in 2024.
      'matic/usdt': 'POLUSDT',
    },
    calls: (symbols) => symbols.map((symbol) => ({ path: `/api/v3/ticker/24hr?symbol=${symbol}`, symbols: [symbol] })),
    read: (body, symbol) => ({
      bid: at(body, 'symbol') === symbol ? at(body, 'bidPrice') : undefined,
      ask: at(body, 'askPrice'),
      time: readTime(at(body, 'closeTime'), 'ms'),
    }),
  });

export const binanceSource = adapter({
  code: 'binance',
  about: 'Binance, its public REST API',
  settings: { baseUrl: webAddress('PRICE_BINANCE_URL', 'Binance, its public REST API', 'https://api.binance.com') },
  create: binance,
});
