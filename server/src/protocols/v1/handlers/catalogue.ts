/** Markets and assets to trade, limits, and the caller's key. */
import { formatUnits } from '../../../base/money.ts';
import { type Market, markets } from '../../../partners/index.ts';
import { depositAsset, payoutAsset } from '../../../quotes/index.ts';
import { ACCOUNT, CATALOGUE } from '../declared/catalogue.ts';
import { type Handled, reads } from '../handler.ts';
import { directionOf, exposures, iso } from '../shapes.ts';
import { NEWEST, VERSIONS } from '../version.ts';

const assetsIn = (all: readonly Market[]) => [
  ...new Map(all.flatMap(({ crypto, fiat }) => [crypto, fiat]).map((asset) => [asset.code, asset])).values(),
];

export const CATALOGUE_HANDLERS: readonly Handled[] = [
  reads(CATALOGUE.markets, ({ readOnly }) =>
    readOnly(async (tx) => ({
      data: (await markets(tx)).map((market) => {
        const [pay, receive] = [depositAsset(market), payoutAsset(market)];
        return {
          id: String(market.id),
          direction: directionOf(market.direction),
          payAsset: pay.code,
          receiveAsset: receive.code,
          min: formatUnits(market.minUnits, pay.decimals),
          max: formatUnits(market.maxUnits, pay.decimals),
          receiveDecimals: market.payoutDecimals,
          method: market.paymentMethod,
          quoteSeconds: Math.floor(market.quoteTtlMs / 1_000),
          paySeconds: Math.floor(market.depositTtlMs / 1_000),
        };
      }),
    })),
  ),
  reads(CATALOGUE.assets, ({ readOnly }) =>
    readOnly(async (tx) => ({
      data: assetsIn(await markets(tx)).map(({ code, kind, coin, chain, contract, decimals }) => ({
        ...{ code, kind, symbol: coin.toUpperCase(), chain, contract, decimals },
      })),
    })),
  ),
  reads(CATALOGUE.chains, ({ readOnly, deps }) =>
    readOnly(async (tx) => {
      const assets = assetsIn(await markets(tx));
      const codes = [...new Set(assets.flatMap(({ chain }) => chain ?? []))];
      return {
        data: codes.map((code) => ({
          code,
          networkId: deps.networkIds.get(code) ?? null,
          assets: assets.filter(({ chain }) => chain === code).map((asset) => asset.code),
        })),
      };
    }),
  ),
  reads(CATALOGUE.methods, ({ readOnly }) =>
    readOnly(async (tx) => {
      const found = new Map<string, { code: string; asset: string; directions: Set<'sell' | 'buy'> }>();
      for (const { paymentMethod: code, fiat, direction } of await markets(tx)) {
        const name = `${fiat.code} ${code}`;
        const known = found.get(name) ?? { code, asset: fiat.code, directions: new Set() };
        known.directions.add(directionOf(direction));
        found.set(name, known);
      }
      return { data: [...found.values()].map(({ directions, ...one }) => ({ ...one, directions: [...directions] })) };
    }),
  ),
];

export const ACCOUNT_HANDLERS: readonly Handled[] = [
  reads(ACCOUNT.key, async ({ caller, deps, now }) => {
    const { credential, partner } = caller;
    const isFree = deps.profile === 'sandbox' || credential.unsignedWrites;
    return {
      key: credential.key,
      partner: { id: String(partner.id), name: partner.name },
      scopes: [...credential.scopes],
      version: credential.apiVersion ?? NEWEST,
      versions: [...VERSIONS],
      requestsPerMinute: partner.requestsPerMinute,
      writes: isFree ? ('bearer' as const) : ('signed' as const),
      environment: deps.profile,
      time: iso(now),
    };
  }),
  reads(ACCOUNT.limits, ({ caller, readOnly, now }) =>
    readOnly(async (tx) => ({
      requestsPerMinute: caller.partner.requestsPerMinute,
      exposure: await exposures(tx, { partnerId: caller.partner.id, markets: await markets(tx), now }),
    })),
  ),
];
