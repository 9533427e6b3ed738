/**
 * Kraken spot: `GET /0/public/Ticker?pair=A,B`, one call for all pairs, because Kraken allows few public calls a second.
 * Drawback: one delisted pair fails the call, and /readyz shows that Kraken has no usable price.
 *
 * Time: the ticker has none, so it is the time of our receipt. Kraken answers older pairs under another name (ETHUSD under
 * XETHZUSD), so we request them under the name in the answer.
 *
 * Source: https://docs.kraken.com/api/docs/rest-api/get-ticker-information and
 * https://support.kraken.com/hc/en-us/articles/360000920306-API-symbols-and-tickers Not yet run against the live service.
 */
import { adapter } from '../../base/adapter.ts';
import { webAddress } from '../../base/env.ts';
import { exchange, type Where } from './exchange.ts';
import { at, type Json } from './read.ts';

const kraken = (where: Where) =>
  exchange({
    code: 'kraken',
    ...where,
    listed: {
      'btc/usd': 'XXBTZUSD',
      'btc/eur': 'XXBTZEUR',
      'btc/gbp': 'XXBTZGBP',
      'eth/usd': 'XETHZUSD',
      'eth/eur': 'XETHZEUR',
      'eth/gbp': 'XETHZGBP',
      'usdt/usd': 'USDTZUSD',
      'usdt/eur': 'USDTEUR',
      'usdt/gbp': 'USDTGBP',
      'usdc/usd': 'USDCUSD',
      'usdc/eur': 'USDCEUR',
      'usdc/gbp': 'USDCGBP',
      'dai/usd': 'DAIUSD',
      'dai/eur': 'DAIEUR',
      // Polygon's coin was renamed, one for one, in 2024.
      'matic/usd': 'POLUSD',
      'matic/eur': 'POLEUR',
    },
    calls: (symbols) => [{ path: `/0/public/Ticker?pair=${symbols.join(',')}`, symbols }],
    read: (body, symbol, heardAt) => ({
      bid: isWell(body) ? at(body, 'result', symbol, 'b', '0') : undefined,
      ask: at(body, 'result', symbol, 'a', '0'),
      time: heardAt,
    }),
  });

/** Errors come with status 200. */
function isWell(body: Json): boolean {
  const errors = at(body, 'error');
  return Array.isArray(errors) && errors.length === 0;
}

export const krakenSource = adapter({
  code: 'kraken',
  about: 'Kraken, its public REST API',
  settings: { baseUrl: webAddress('PRICE_KRAKEN_URL', 'Kraken, its public REST API', 'https://api.kraken.com') },
  create: kraken,
});
