/** Acts on the terms of trade: markets, fees, limits, caps, policies. Each keeps its history in the module's own rows, too. */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { formatUnits, parseRate, parseUnits } from '../../../base/money.ts';
import { HIGHEST_LEVEL } from '../../../customers/index.ts';
import type { Doing } from '../../../operators/index.ts';
import { dustThreshold, setDustThreshold } from '../../../orders/index.ts';
import {
  type Asset,
  allMarkets,
  assets,
  capRow,
  feeRow,
  findPartner,
  limitRow,
  lockMarkets,
  type Market,
  POLICY_QUESTIONS,
  type PolicyQuestion,
  policyRow,
  setExposureCap,
  setFee,
  setLimit,
  setPolicy,
  upsertMarket,
} from '../../../partners/index.ts';
import { confirmLevel, confirmPair, priceLevels } from '../../../quotes/index.ts';
import { type Act, act } from '../act.ts';
import { amount, flag, id, listOf, object, oneOf, optional, orNone, text, whole } from '../fields.ts';

const DAY_S = 86_400;
const terms = async () => 'rule' as const;
const coin = text(20, /^[a-z0-9]+$/, 'the code of a coin or fiat, such as usdc');
const subject = ({ market }: { market: bigint }): string => `market:${market}`;
const reasonOf = ({ operator, reason }: Doing) => ({ by: operator.name, why: reason });

/** @throws Refusal 'unknown_market' */
export const marketOf = async (tx: Tx, market: bigint): Promise<Market> => findIn(await allMarkets(tx), market);
/** As it stands, and nobody else's to change until `tx` ends. @throws Refusal 'unknown_market' */
const lockMarket = async (tx: Tx, market: bigint): Promise<Market> => findIn(await lockMarkets(tx), market);

function findIn(all: readonly Market[], id: bigint): Market {
  const found = all.find((market) => market.id === id);
  if (found === undefined) throw new Refusal('unknown_market');
  return found;
}

/** The one of this direction and pair, locked like all of them. */
const lockPair = async (
  tx: Tx,
  ask: { direction: string; crypto: string; fiat: string },
): Promise<Market | undefined> =>
  (await lockMarkets(tx)).find(
    ({ direction, crypto, fiat }) =>
      direction === ask.direction && crypto.code === ask.crypto && fiat.code === ask.fiat,
  );

const depositAssetOf = (market: Market) => (market.direction === 'offramp' ? market.crypto : market.fiat);

/** The terms of a market as an operator reads and sets them: amounts as decimals, times in seconds. */
export function shownMarket(market: Market): Readonly<Record<string, unknown>> {
  const { decimals, code } = depositAssetOf(market);
  return {
    id: market.id,
    direction: market.direction,
    crypto: market.crypto.code,
    fiat: market.fiat.code,
    enabled: market.enabled,
    isDefault: market.isDefault,
    depositRail: market.depositRail,
    payoutRail: market.payoutRail,
    min: formatUnits(market.minUnits, decimals),
    max: formatUnits(market.maxUnits, decimals),
    of: code,
    quoteTtlS: market.quoteTtlMs / 1000,
    depositTtlS: market.depositTtlMs / 1000,
    clearingS: market.clearingMs / 1000,
    priceSources: market.priceSources,
    priceMaxAgeS: market.priceMaxAgeMs / 1000,
    priceQuorum: market.priceQuorum,
    outlierBps: market.outlierBps,
    singleSource: market.singleSource,
    jumpBps: market.jumpBps,
    resumeAfterS: market.resumeMs / 1000,
    taxBps: market.taxBps,
  };
}

/**
 * A quorum of one is said to be meant, and one that no number of sources reaches is none.
 *
 * @throws Refusal 'malformed_field'
 */
function requireDeclared(quorum: number, singleSource: boolean, sources: readonly string[]): void {
  const wrong = (field: string, why: string) => new Refusal('malformed_field', { fields: { [field]: why } });
  if (quorum > sources.length) throw wrong('priceQuorum', `must not be above the ${sources.length} sources of prices`);
  if (quorum === 1 && !singleSource)
    throw wrong(
      'singleSource',
      'must be true where priceQuorum is 1: the market then quotes at the word of one source',
    );
  if (quorum > 1 && singleSource) throw wrong('singleSource', 'must be false where priceQuorum is above 1');
}

export async function requirePartner(tx: Tx, partner: bigint | undefined): Promise<bigint | null> {
  if (partner === undefined) return null;
  if ((await findPartner(tx, { id: partner })) === undefined) throw new Refusal('unknown_partner');
  return partner;
}

/** A row as it is kept, with units as text: those of a coin with eighteen places have more digits than a JSON number keeps. */
const json = (row: string | null): unknown =>
  row === null ? null : JSON.parse(row, unitsAsText as (name: string, value: unknown) => unknown);
const unitsAsText = (name: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === 'number' && name.endsWith('_units') ? source : value;

const feeKind = oneOf(['operator', 'partner', 'rail', 'chain']);
const fiatCode = text(20, /^[a-z0-9]+$/, "a fiat's code, such as inr");

const code = text(40, /^[a-z0-9.]+$/, "an asset's code");
const railCode = text(40, /^[a-z0-9.-]+$/, "a rail's code");
const times = {
  isDefault: optional(flag),
  quoteTtlS: optional(whole(1, 3_600)),
  depositTtlS: optional(whole(60, 30 * DAY_S)),
  clearingS: optional(whole(0, 120 * DAY_S)),
  priceMaxAgeS: optional(whole(1, 7 * DAY_S)),
  priceQuorum: optional(whole(1, 20)),
  outlierBps: optional(whole(1, 10_000)),
  singleSource: optional(flag),
  jumpBps: optional(whole(1, 1_000_000)),
  resumeAfterS: optional(whole(1, DAY_S)),
  // Withheld of the fiat converted or paid in; none where left out. No country takes more than half.
  taxBps: optional(whole(0, 5_000)),
};

export const TERM_ACTS: readonly Act[] = [
  // Made disabled: fees and limits come first, then `market.set` opens it.
  act({
    name: 'market.create',
    path: '/markets',
    right: 'terms',
    fields: {
      direction: oneOf(['offramp', 'onramp']),
      crypto: code,
      fiat: fiatCode,
      depositRail: railCode,
      payoutRail: railCode,
      paymentMethod: text(40, /^[A-Z0-9_-]+$/, 'a method of payment such as IMPS or AED-BANK-TRANSFER'),
      min: amount,
      max: amount,
      payoutPlaces: whole(0, 18),
      priceSources: listOf(text(20, /^[a-z]+$/, 'the name of a source of prices'), 20),
      ...times,
    },
    subject: ({ direction, crypto, fiat }) => `market:${direction}:${crypto}:${fiat}`,
    async look(_deps, tx, ask) {
      const found = await lockPair(tx, ask);
      return found === undefined ? null : shownMarket(found);
    },
    needs: terms,
    async perform({ orders }, tx, ask, doing) {
      const known = await assets(tx);
      const wrong: Record<string, string> = {};
      if (known.get(ask.crypto)?.kind !== 'crypto') wrong.crypto = 'must be the code of a crypto asset';
      if (known.get(ask.fiat)?.kind !== 'fiat') wrong.fiat = 'must be the code of a fiat';
      for (const side of ['depositRail', 'payoutRail'] as const)
        if (!orders.rails.has(ask[side])) wrong[side] = `must be one of ${[...orders.rails.keys()].join(', ')}`;
      if ((await lockPair(tx, ask)) !== undefined) wrong.crypto = 'has this market already';
      const decimals = known.get(ask.direction === 'offramp' ? ask.crypto : ask.fiat)?.decimals ?? 0;
      const [minUnits, maxUnits] = [parseUnits(ask.min, decimals), parseUnits(ask.max, decimals)];
      if (minUnits <= 0n) wrong.min = 'must be above zero';
      if (maxUnits < minUnits) wrong.max = 'must not be below min';
      if (Object.keys(wrong).length > 0) throw new Refusal('malformed_field', { fields: wrong });
      const { direction, crypto, fiat, depositRail, payoutRail, paymentMethod, payoutPlaces, priceSources } = ask;
      const { singleSource = false, priceQuorum = singleSource || priceSources.length === 1 ? 1 : 2 } = ask;
      requireDeclared(priceQuorum, singleSource, priceSources);
      await upsertMarket(
        tx,
        {
          ...{ direction, crypto, fiat, depositRail, payoutRail, paymentMethod, payoutPlaces, priceSources },
          ...{ enabled: false, isDefault: ask.isDefault ?? false, minUnits, maxUnits },
          quoteTtlMs: (ask.quoteTtlS ?? 60) * 1000,
          depositTtlMs: (ask.depositTtlS ?? 3_600) * 1000,
          clearingMs: (ask.clearingS ?? 0) * 1000,
          priceMaxAgeMs: (ask.priceMaxAgeS ?? 30) * 1000,
          priceQuorum,
          outlierBps: BigInt(ask.outlierBps ?? 300),
          singleSource,
          ...(ask.jumpBps === undefined ? {} : { jumpBps: BigInt(ask.jumpBps) }),
          ...(ask.resumeAfterS === undefined ? {} : { resumeMs: ask.resumeAfterS * 1000 }),
          taxBps: BigInt(ask.taxBps ?? 0),
        },
        reasonOf(doing),
      );
    },
  }),
  act({
    name: 'market.set',
    path: '/markets/:market',
    right: 'terms',
    fields: {
      market: id,
      enabled: optional(flag),
      min: optional(amount),
      max: optional(amount),
      ...times,
    },
    subject,
    look: async (_deps, tx, ask) => shownMarket(await lockMarket(tx, ask.market)),
    needs: terms,
    async perform(_deps, tx, ask, doing) {
      const market = await lockMarket(tx, ask.market);
      const { decimals } = depositAssetOf(market);
      const units = (text: string | undefined, before: bigint) =>
        text === undefined ? before : parseUnits(text, decimals);
      const ms = (seconds: number | undefined, before: number) => (seconds === undefined ? before : seconds * 1000);
      const minUnits = units(ask.min, market.minUnits);
      const maxUnits = units(ask.max, market.maxUnits);
      if (minUnits <= 0n) throw new Refusal('malformed_field', { fields: { min: 'must be above zero' } });
      if (maxUnits < minUnits) throw new Refusal('malformed_field', { fields: { max: 'must not be below min' } });
      const { priceQuorum = market.priceQuorum, singleSource = market.singleSource && priceQuorum === 1 } = ask;
      // One that was never declared is asked to be where its prices are set or it is opened, and not for its limits.
      if (ask.priceQuorum !== undefined || ask.singleSource !== undefined || ask.enabled === true)
        requireDeclared(priceQuorum, singleSource, market.priceSources);
      await upsertMarket(
        tx,
        {
          ...market,
          crypto: market.crypto.code,
          fiat: market.fiat.code,
          enabled: ask.enabled ?? market.enabled,
          isDefault: ask.isDefault ?? market.isDefault,
          minUnits,
          maxUnits,
          quoteTtlMs: ms(ask.quoteTtlS, market.quoteTtlMs),
          depositTtlMs: ms(ask.depositTtlS, market.depositTtlMs),
          clearingMs: ms(ask.clearingS, market.clearingMs),
          priceMaxAgeMs: ms(ask.priceMaxAgeS, market.priceMaxAgeMs),
          priceQuorum,
          outlierBps: ask.outlierBps === undefined ? market.outlierBps : BigInt(ask.outlierBps),
          singleSource,
          jumpBps: ask.jumpBps === undefined ? market.jumpBps : BigInt(ask.jumpBps),
          resumeMs: ms(ask.resumeAfterS, market.resumeMs),
          taxBps: ask.taxBps === undefined ? market.taxBps : BigInt(ask.taxBps),
        },
        reasonOf(doing),
      );
    },
  }),
  // A person vouches for the level of a halted market. What the sources say moves; what is vouched for stands in the act.
  act({
    name: 'price.confirm',
    path: '/markets/:market/price',
    right: 'terms',
    fields: { market: id, level: amount, coin: optional(coin) },
    subject,
    async look(_deps, tx, ask) {
      const market = await marketOf(tx, ask.market);
      const levels = await priceLevels(tx, { marketId: market.id });
      return {
        halted: levels
          .filter((one) => one.haltedAt !== null)
          .map(({ coin, why, haltedAt }) => ({ coin, why, haltedAt })),
      };
    },
    needs: terms,
    async perform(_deps, tx, ask, doing) {
      const market = await marketOf(tx, ask.market);
      const coin = ask.coin ?? market.crypto.coin;
      await confirmLevel(tx, {
        marketId: market.id,
        coin,
        level: parseRate(ask.level),
        by: doing.people.join(' and '),
      });
    },
  }),
  // The same of all markets that are halted for a pair: one cause, one word.
  act({
    name: 'price.confirm-pair',
    path: '/prices/:coin/:fiat/confirm',
    right: 'terms',
    fields: { coin, fiat: coin, level: amount },
    subject: (ask) => `price:${ask.coin}/${ask.fiat}`,
    async look(_deps, tx, ask) {
      const fiats = new Map((await allMarkets(tx)).map((one) => [one.id, one.fiat.coin]));
      return {
        halted: (await priceLevels(tx))
          .filter((one) => one.haltedAt !== null && one.coin === ask.coin && fiats.get(one.marketId) === ask.fiat)
          .map(({ marketId: market, why, haltedAt }) => ({ market, why, haltedAt })),
      };
    },
    needs: terms,
    async perform(_deps, tx, ask, doing) {
      return await confirmPair(tx, {
        ...{ coin: ask.coin, fiat: ask.fiat, level: parseRate(ask.level) },
        by: doing.people.join(' and '),
      });
    },
  }),
  // A fee is set whole: what is left out is nothing.
  act({
    name: 'fee.set',
    path: '/markets/:market/fees',
    right: 'terms',
    fields: {
      market: id,
      partner: optional(id),
      kind: feeKind,
      fixed: optional(amount),
      bps: optional(whole(0, 10_000)),
      minimum: optional(amount),
      gasUnits: optional(whole(0, 100_000_000)),
    },
    subject,
    async look(_deps, tx, ask) {
      await marketOf(tx, ask.market);
      return json(await feeRow(tx, ask.market, await requirePartner(tx, ask.partner), ask.kind));
    },
    needs: terms,
    async perform(_deps, tx, ask, doing) {
      const { decimals } = (await marketOf(tx, ask.market)).fiat;
      const fee = {
        marketId: ask.market,
        partnerId: ask.partner ?? null,
        kind: ask.kind,
        fixedUnits: parseUnits(ask.fixed ?? '0', decimals),
        bps: BigInt(ask.bps ?? 0),
        minimumUnits: parseUnits(ask.minimum ?? '0', decimals),
        gasUnits: BigInt(ask.gasUnits ?? 0),
      };
      await setFee(tx, fee, reasonOf(doing));
    },
  }),
  act({
    name: 'limit.set',
    path: '/markets/:market/limits',
    right: 'terms',
    fields: { market: id, level: whole(0, HIGHEST_LEVEL), max: orNone(amount) },
    subject,
    async look(_deps, tx, ask) {
      await marketOf(tx, ask.market);
      return json(await limitRow(tx, ask.market, ask.level));
    },
    needs: terms,
    async perform(_deps, tx, ask, doing) {
      const { decimals } = depositAssetOf(await marketOf(tx, ask.market));
      const maxUnits = ask.max === 'none' ? null : parseUnits(ask.max, decimals);
      await setLimit(tx, { marketId: ask.market, level: ask.level, maxUnits }, reasonOf(doing));
    },
  }),
  act({
    name: 'cap.set',
    path: '/partners/:partner/caps',
    right: 'terms',
    fields: { partner: id, fiat: fiatCode, max: orNone(amount) },
    subject: ({ partner }) => `partner:${partner}`,
    async look(_deps, tx, ask) {
      await requirePartner(tx, ask.partner);
      await decimalsOf(tx, ask.fiat);
      return json(await capRow(tx, ask.partner, ask.fiat));
    },
    needs: terms,
    async perform(_deps, tx, ask, doing) {
      const maxUnits = ask.max === 'none' ? null : parseUnits(ask.max, await decimalsOf(tx, ask.fiat));
      await setExposureCap(tx, { partnerId: ask.partner, fiat: ask.fiat, maxUnits }, reasonOf(doing));
    },
  }),
  act({
    name: 'dust.set',
    path: '/dust',
    right: 'terms',
    fields: { asset: text(40, /^[a-z0-9.]+$/, 'the code of an asset'), below: orNone(amount) },
    subject: ({ asset }) => `asset:${asset}`,
    async look(_deps, tx, { asset }) {
      await assetOf(tx, asset);
      return { belowUnits: (await dustThreshold(tx, asset)) ?? null };
    },
    needs: terms,
    async perform(_deps, tx, { asset, below }) {
      const { decimals } = await assetOf(tx, asset);
      await setDustThreshold(tx, asset, below === 'none' ? 0n : parseUnits(below, decimals));
    },
  }),
  act({
    name: 'policy.set',
    path: '/markets/:market/policies',
    right: 'terms',
    fields: { market: id, partner: optional(id), question: oneOf(POLICY_QUESTIONS), answer: orNone(object) },
    subject,
    async look(_deps, tx, ask) {
      await marketOf(tx, ask.market);
      return json(await policyRow(tx, ask.market, await requirePartner(tx, ask.partner), ask.question));
    },
    needs: terms,
    async perform(_deps, tx, ask, doing) {
      const answer = ask.answer === 'none' ? null : ask.answer;
      const { market: marketId, partner, question } = ask;
      await setPolicy<PolicyQuestion>(tx, { marketId, partnerId: partner ?? null, question, answer }, reasonOf(doing));
    },
  }),
];

async function assetOf(tx: Tx, code: string): Promise<Asset> {
  const asset = (await assets(tx)).get(code);
  if (asset === undefined) throw new Refusal('malformed_field', { fields: { asset: 'must be the code of an asset' } });
  return asset;
}

async function decimalsOf(tx: Tx, fiat: string): Promise<number> {
  const asset = (await assets(tx)).get(fiat);
  if (asset?.kind !== 'fiat') throw new Refusal('malformed_field', { fields: { fiat: 'must be the code of a fiat' } });
  return asset.decimals;
}
