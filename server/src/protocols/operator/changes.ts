/** Formats a change of terms as one line, so that people can find, say, a fee of March without comparing two rows of JSON. */
import type { Asset, Market, MarketChange } from '../../partners/index.ts';
import { termsRow } from './actions/terms.ts';

/** Columns that identify a row; the others are its terms. */
const NAMES = new Set(['id', 'market_id', 'partner_id', 'kind', 'fiat_asset', 'crypto_asset', 'direction', 'question']);

/**
 * @returns `bps 25 → 100, fixed_units 0 → 5`, amounts in the typed form; `set: …` for a first row, `removed` for a deleted one
 */
export function changed(
  { what, marketId, item, before, after }: MarketChange,
  markets: ReadonlyMap<bigint, Market>,
  assets: ReadonlyMap<string, Asset>,
): string {
  if (after === null) return 'removed';
  const market = marketId === null ? undefined : markets.get(marketId);
  const paid = market?.direction === 'offramp' ? market.crypto : market?.fiat;
  const asset = what === 'exposure' ? assets.get(item) : what === 'fee' ? market?.fiat : paid;
  const rowOf = (text: string | null) => termsRow(text, asset?.decimals ?? 0) ?? {};
  const was = rowOf(before);
  const terms = Object.entries(rowOf(after))
    .filter(([name]) => !NAMES.has(name))
    .map(([name, value]) => ({ name, from: said(was[name]), to: said(value) }));
  if (before === null) return `set: ${terms.map(({ name, to }) => `${name} ${to}`).join(', ')}`;
  return terms
    .filter(({ from, to }) => from !== to)
    .map(({ name, from, to }) => `${name} ${from} → ${to}`)
    .join(', ');
}

const said = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));
