/**
 * Terms: a quote for display, and amounts with their asset.
 */
import { formatRate, formatUnits } from '../../base/money.ts';
import type { Asset } from '../../partners/index.ts';
import { FEE_KINDS, type Quote } from '../../quotes/index.ts';
import type { Html } from './html.ts';
import { facts, type Look } from './pages.ts';

export const coinOf = ({ coin }: Pick<Asset, 'coin'>): string => coin.toUpperCase();
export const amountOf = (units: bigint, asset: Asset): string =>
  `${formatUnits(units, asset.decimals)} ${coinOf(asset)}`;

/** The amount paid, each fee (and tax, if the market withholds one), the rate, and the amount received. */
export function terms(
  { m, partner }: Look,
  quote: Pick<Quote, 'market' | 'depositUnits' | 'payoutUnits' | 'fees' | 'rate'>,
): Html {
  const { market, fees } = quote;
  const { crypto, fiat, direction } = market;
  const [give, get] = direction === 'offramp' ? [crypto, fiat] : [fiat, crypto];
  const words = m.checkout;
  const feeName = (kind: (typeof FEE_KINDS)[number]): string =>
    kind === 'partner' ? words.fees.partner(partner) : words.fees[kind];
  return facts([
    [words.give[direction], amountOf(quote.depositUnits, give)],
    [words.rate, words.rateOf(coinOf(crypto), formatRate(quote.rate), coinOf(fiat))],
    ...FEE_KINDS.filter((kind) => kind !== 'tax' || market.taxBps > 0n).map(
      (kind) => [feeName(kind), amountOf(fees[kind], fiat)] as const,
    ),
    [words.get, amountOf(quote.payoutUnits, get)],
    [words.network, crypto.chain ?? ''],
  ]);
}
