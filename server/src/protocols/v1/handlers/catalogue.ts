/** What there is to trade, limits, and the key that asks. */
import { formatUnits } from '../../../base/money.ts';
import { unpaidUnits } from '../../../orders/index.ts';
import { exposureCaps, type Market, markets } from '../../../partners/index.ts';
import { depositAsset, liveUnits, payoutAsset } from '../../../quotes/index.ts';
import { ACCOUNT, CATALOGUE } from '../declared/catalogue.ts';
import { type Handled, reads } from '../handler.ts';
import { directionOf, iso } from '../shapes.ts';
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
    readOnly(async (tx) => {
      const partnerId = caller.partner.id;
      const caps = await exposureCaps(tx, partnerId);
      const fiats = assetsIn(await markets(tx)).filter(({ kind }) => kind === 'fiat');
      const exposure = [];
      for (const { code, decimals } of fiats) {
        const of = { partnerId, fiat: code, now };
        const used = (await liveUnits(tx, of)) + (await unpaidUnits(tx, of));
        const cap = caps.get(code);
        const left = cap === undefined ? undefined : cap > used ? cap - used : 0n;
        const amount = (units: bigint | undefined) => (units === undefined ? null : formatUnits(units, decimals));
        exposure.push({ asset: code, cap: amount(cap), used: formatUnits(used, decimals), left: amount(left) });
      }
      return { requestsPerMinute: caller.partner.requestsPerMinute, exposure };
    }),
  ),
];
