/**
 * Coinbase Exchange: `GET /products/{product_id}/ticker`, one call a product. Ten public requests a second are allowed.
 *
 * Time: `time`, that of the last trade, which is never later than the book. The answer does not name its product, so a wrong
 * one can only be noticed by its price (price.ts excludes outliers). USDC counts as dollars there: it has a book in euro and
 * none in US dollars.
 *
 * Source: https://docs.cdp.coinbase.com/api-reference/exchange-api/rest-api/products/get-product-ticker and
 * https://docs.cdp.coinbase.com/exchange/rest-api/rate-limits Not yet run against the live service.
 */
import { adapter } from '../../base/adapter.ts';
import { webAddress } from '../../base/env.ts';
import { exchange, type Where } from './exchange.ts';
import { at, readTime } from './read.ts';

const coinbase = (where: Where) =>
  exchange({
    code: 'coinbase',
    ...where,
    listed: {
      'btc/usd': 'BTC-USD',
      'btc/eur': 'BTC-EUR',
      'btc/gbp': 'BTC-GBP',
      'eth/usd': 'ETH-USD',
      'eth/eur': 'ETH-EUR',
      'eth/gbp': 'ETH-GBP',
      'usdt/usd': 'USDT-USD',
      'usdt/eur': 'USDT-EUR',
      'usdc/eur': 'USDC-EUR',
      'dai/usd': 'DAI-USD',
      // Polygon's coin was renamed, one for one, in 2024.
      'matic/usd': 'POL-USD',
    },
    calls: (symbols) => symbols.map((symbol) => ({ path: `/products/${symbol}/ticker`, symbols: [symbol] })),
    read: (body) => ({ bid: at(body, 'bid'), ask: at(body, 'ask'), time: readTime(at(body, 'time'), 'iso') }),
  });

export const coinbaseSource = adapter({
  code: 'coinbase',
  about: 'Coinbase Exchange',
  settings: { baseUrl: webAddress('PRICE_COINBASE_URL', 'Coinbase Exchange', 'https://api.exchange.coinbase.com') },
  create: coinbase,
});
