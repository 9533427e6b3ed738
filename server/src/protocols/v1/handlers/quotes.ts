/** Quotes. */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { formatUnits, parseUnits } from '../../../base/money.ts';
import { type Asset, assets, listed, type Market, markets } from '../../../partners/index.ts';
import { depositAsset, findQuote, payoutAsset, quoteFor } from '../../../quotes/index.ts';
import { QUOTES } from '../declared/quotes.ts';
import { type Handled, reads, writes } from '../handler.ts';
import { quoteShape } from '../shapes.ts';

const wrong = (field: string, rule: string): Refusal => new Refusal('malformed_field', { fields: { [field]: rule } });

/** @throws Refusal 'unsupported_pair' with the pairs of either asset, such as `usdc.matic20/inr`; if there are none, with all */
export async function marketOf(tx: Tx, { pay, receive }: { pay: string; receive: string }): Promise<Market> {
  const all = (await markets(tx)).map((market) => ({
    market,
    from: depositAsset(market).code,
    to: payoutAsset(market).code,
  }));
  const found = all.find(({ from, to }) => from === pay && to === receive);
  if (found !== undefined) return found.market;
  const near = all.filter(({ from, to }) => from === pay || to === receive);
  const supported = listed((near.length > 0 ? near : all).map(({ from, to }) => `${from}/${to}`));
  throw new Refusal('unsupported_pair', { supported });
}

/** An amount in the units of its asset. @throws Refusal 'malformed_field' */
export function unitsOf(field: string, text: string, { decimals }: Asset): bigint {
  let units: bigint;
  try {
    units = parseUnits(text, decimals);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw wrong(field, String(error.facts.why ?? 'must be an amount'));
  }
  if (units <= 0n) throw wrong(field, 'must be above zero');
  return units;
}

/** Converts the limits in a Refusal from units to amounts, for the partner. */
export async function sayLimits<T>(market: Market, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof Refusal) || typeof error.facts.minUnits !== 'bigint') throw error;
    const asset = depositAsset(market);
    const amount = (units: unknown) => formatUnits(units as bigint, asset.decimals);
    const { minUnits, maxUnits } = error.facts;
    throw new Refusal(error.code, { min: amount(minUnits), max: amount(maxUnits), asset: asset.code });
  }
}

export const QUOTE_HANDLERS: readonly Handled[] = [
  writes(QUOTES.create, async (tx, { values, caller, now }) => {
    const { payAsset, receiveAsset, payAmount, receiveAmount } = values;
    if ((payAmount === undefined) === (receiveAmount === undefined))
      throw wrong('payAmount', 'or receiveAmount must be sent, but not both');
    const market = await marketOf(tx, { pay: payAsset, receive: receiveAsset });
    const [side, units] =
      payAmount === undefined
        ? (['receive', unitsOf('receiveAmount', receiveAmount ?? '', payoutAsset(market))] as const)
        : (['pay', unitsOf('payAmount', payAmount, depositAsset(market))] as const);
    const { partner } = caller;
    const quote = await sayLimits(market, () => quoteFor(tx, { partner, market, side, units, now }));
    return quoteShape(quote, await assets(tx), { caller, now });
  }),
  reads(QUOTES.get, ({ values, caller, now, readOnly }) =>
    readOnly(async (tx) => {
      const quote = await findQuote(tx, values.quote);
      if (quote === undefined) throw new Refusal('unknown_quote');
      return quoteShape(quote, await assets(tx), { caller, now });
    }),
  ),
];
