/**
 * Actions on the terms of trade: markets, fees, limits, caps, policies. Each is also recorded in the module's own history.
 */
import type { Tx } from '../../../base/db.ts';
import { defined } from '../../../base/defined.ts';
import { Refusal } from '../../../base/errors.ts';
import { formatUnits, parseRate, parseUnits } from '../../../base/money.ts';
import { type Doing, MAX_PLANNED, plans } from '../../../operators/index.ts';
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
  type PolicyQuestion,
  partnerRow,
  policyRow,
  requirePolicy,
  setExposureCap,
  setFee,
  setLimit,
  setPartner,
  setPolicy,
  upsertMarket,
} from '../../../partners/index.ts';
import { confirmLevel, confirmPair, pollPrices, priceLevels } from '../../../quotes/index.ts';
import type { Values } from '../../declaration/fields.ts';
import { type Action, action, plannable } from '../action.ts';
import { UNCLAIMED } from '../declared/deposits.ts';
import { TERMS_OF_TRADE } from '../declared/terms.ts';

const terms = async () => 'rule' as const;
const subject = ({ market }: { market: bigint }): string => `market:${market}`;
const reasonOf = ({ operator, reason }: Doing) => ({ by: operator.name, why: reason });

/** @throws Refusal 'unknown_market' */
export const marketOf = async (tx: Tx, market: bigint): Promise<Market> => findIn(await allMarkets(tx), market);
/** Its current terms, locked for other changes until `tx` ends. @throws Refusal 'unknown_market' */
const lockMarket = async (tx: Tx, market: bigint): Promise<Market> => findIn(await lockMarkets(tx), market);

function findIn(all: readonly Market[], id: bigint): Market {
  const found = all.find((market) => market.id === id);
  if (found === undefined) throw new Refusal('unknown_market');
  return found;
}

/** The market with this direction and pair, locked like all of them. */
const lockPair = async (
  tx: Tx,
  input: { direction: string; crypto: string; fiat: string },
): Promise<Market | undefined> =>
  (await lockMarkets(tx)).find(
    ({ direction, crypto, fiat }) =>
      direction === input.direction && crypto.code === input.crypto && fiat.code === input.fiat,
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
 * A quorum of one must be declared as intended, and a quorum above the number of sources is impossible.
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

const json = (row: string | null): unknown => (row === null ? null : JSON.parse(row));

/** A row as JSON text, with its amounts in the typed form: units with this many decimals, except gas, which is not money. */
export function termsRow(row: string | null, decimals: number): Record<string, unknown> | null {
  const asAmount = (name: string, value: unknown, { source }: { source?: string }): unknown =>
    typeof value === 'number' && name.endsWith('_units') && name !== 'gas_units' && source !== undefined
      ? formatUnits(BigInt(source), decimals)
      : value;
  return row === null ? null : JSON.parse(row, asAmount as (name: string, value: unknown) => unknown);
}

export const TERM_ACTIONS: readonly Action[] = [
  // Created disabled: fees and limits are set first, then `market.set` enables the market.
  action({
    ...TERMS_OF_TRADE.create,
    subject: ({ direction, crypto, fiat }) => `market:${direction}:${crypto}:${fiat}`,
    async look(_deps, tx, input) {
      const found = await lockPair(tx, input);
      return found === undefined ? null : shownMarket(found);
    },
    needs: terms,
    async perform({ orders }, tx, input, doing) {
      const known = await assets(tx);
      const wrong: Record<string, string> = {};
      if (known.get(input.crypto)?.kind !== 'crypto') wrong.crypto = 'must be the code of a crypto asset';
      if (known.get(input.fiat)?.kind !== 'fiat') wrong.fiat = 'must be the code of a fiat';
      for (const side of ['depositRail', 'payoutRail'] as const)
        if (!orders.rails.has(input[side])) wrong[side] = `must be one of ${[...orders.rails.keys()].join(', ')}`;
      if ((await lockPair(tx, input)) !== undefined) wrong.crypto = 'has this market already';
      const decimals = known.get(input.direction === 'offramp' ? input.crypto : input.fiat)?.decimals ?? 0;
      const [minUnits, maxUnits] = [parseUnits(input.min, decimals), parseUnits(input.max, decimals)];
      if (minUnits <= 0n) wrong.min = 'must be above zero';
      if (maxUnits < minUnits) wrong.max = 'must not be below min';
      if (Object.keys(wrong).length > 0) throw new Refusal('malformed_field', { fields: wrong });
      const { direction, crypto, fiat, depositRail, payoutRail, paymentMethod, payoutDecimals, priceSources } = input;
      const { singleSource = false, priceQuorum = singleSource || priceSources.length === 1 ? 1 : 2 } = input;
      requireDeclared(priceQuorum, singleSource, priceSources);
      await upsertMarket(
        tx,
        {
          ...{ direction, crypto, fiat, depositRail, payoutRail, paymentMethod, payoutDecimals, priceSources },
          ...{ enabled: false, isDefault: input.isDefault ?? false, minUnits, maxUnits },
          quoteTtlMs: (input.quoteTtlS ?? 60) * 1000,
          depositTtlMs: (input.depositTtlS ?? 3_600) * 1000,
          clearingMs: (input.clearingS ?? 0) * 1000,
          priceMaxAgeMs: (input.priceMaxAgeS ?? 30) * 1000,
          priceQuorum,
          outlierBps: BigInt(input.outlierBps ?? 300),
          singleSource,
          ...(input.jumpBps === undefined ? {} : { jumpBps: BigInt(input.jumpBps) }),
          ...(input.resumeAfterS === undefined ? {} : { resumeMs: input.resumeAfterS * 1000 }),
          taxBps: BigInt(input.taxBps ?? 0),
        },
        reasonOf(doing),
      );
    },
  }),
  plannable({
    ...TERMS_OF_TRADE.set,
    subject,
    look: async (tx, input) => shownMarket(await lockMarket(tx, input.market)),
    check: requireInOrder,
    async perform(tx, input, doing) {
      const market = changedMarket(await lockMarket(tx, input.market), input);
      await upsertMarket(tx, { ...market, crypto: market.crypto.code, fiat: market.fiat.code }, reasonOf(doing));
      if (input.enabled === true) pollPrices(tx, market.priceSources, doing.now);
    },
  }),
  // Confirms the level of a halted market. The sources' prices keep moving, so the action contains the confirmed level.
  action({
    ...TERMS_OF_TRADE.confirm,
    subject,
    async look(_deps, tx, input) {
      const market = await marketOf(tx, input.market);
      const levels = await priceLevels(tx, { marketId: market.id });
      return {
        halted: levels
          .filter((one) => one.haltedAt !== null)
          .map(({ coin, why, haltedAt }) => ({ coin, why, haltedAt })),
      };
    },
    needs: terms,
    async perform(_deps, tx, input, doing) {
      const market = await marketOf(tx, input.market);
      const coin = input.coin ?? market.crypto.coin;
      await confirmLevel(tx, {
        marketId: market.id,
        coin,
        level: parseRate(input.level),
        by: doing.people.join(' and '),
      });
    },
  }),
  // The same for all markets halted for one pair: they have one cause, and one confirmation is enough.
  action({
    ...TERMS_OF_TRADE.confirmPair,
    subject: (input) => `price:${input.coin}/${input.fiat}`,
    async look(_deps, tx, input) {
      const fiats = new Map((await allMarkets(tx)).map((one) => [one.id, one.fiat.coin]));
      return {
        halted: (await priceLevels(tx))
          .filter((one) => one.haltedAt !== null && one.coin === input.coin && fiats.get(one.marketId) === input.fiat)
          .map(({ marketId: market, why, haltedAt }) => ({ market, why, haltedAt })),
      };
    },
    needs: terms,
    async perform(_deps, tx, input, doing) {
      return await confirmPair(tx, {
        ...{ coin: input.coin, fiat: input.fiat, level: parseRate(input.level) },
        by: doing.people.join(' and '),
      });
    },
  }),
  // A fee is set as a whole: omitted parts become zero.
  plannable({
    ...TERMS_OF_TRADE.fee,
    subject,
    async look(tx, input) {
      const { decimals } = (await marketOf(tx, input.market)).fiat;
      return termsRow(await feeRow(tx, input.market, await requirePartner(tx, input.partner), input.kind), decimals);
    },
    async check(tx, input) {
      await feeOf(tx, input);
    },
    perform: async (tx, input, doing) => await setFee(tx, await feeOf(tx, input), reasonOf(doing)),
  }),
  plannable({
    ...TERMS_OF_TRADE.limit,
    subject,
    async look(tx, input) {
      const { decimals } = depositAssetOf(await marketOf(tx, input.market));
      return termsRow(await limitRow(tx, input.market, input.level), decimals);
    },
    async check(tx, input) {
      await limitOf(tx, input);
    },
    perform: async (tx, input, doing) => await setLimit(tx, await limitOf(tx, input), reasonOf(doing)),
  }),
  plannable({
    ...TERMS_OF_TRADE.cap,
    subject: ({ partner }) => `partner:${partner}`,
    async look(tx, input) {
      await requirePartner(tx, input.partner);
      return termsRow(await capRow(tx, input.partner, input.fiat), await decimalsOf(tx, input.fiat));
    },
    async check(tx, input) {
      await capFrom(tx, input);
    },
    perform: async (tx, input, doing) => await setExposureCap(tx, await capFrom(tx, input), reasonOf(doing)),
  }),
  plannable({
    ...TERMS_OF_TRADE.partner,
    subject: ({ partner }) => `partner:${partner}`,
    async look(tx, { partner }) {
      await requirePartner(tx, partner);
      return json(await partnerRow(tx, partner));
    },
    async check(tx, { partner }) {
      await requirePartner(tx, partner);
    },
    async perform(tx, { partner, quoteShape, toleranceBps, tradeLevel, requestsPerMinute }, doing) {
      const tolerance = toleranceBps === undefined ? undefined : BigInt(toleranceBps);
      const terms = defined({ quoteShape, toleranceBps: tolerance, tradeLevel, requestsPerMinute });
      await setPartner(tx, { id: partner, ...terms }, reasonOf(doing));
    },
  }),
  action({
    ...UNCLAIMED.dust,
    subject: ({ asset }) => `asset:${asset}`,
    async look(_deps, tx, { asset }) {
      const { decimals } = await assetOf(tx, asset);
      const below = await dustThreshold(tx, asset);
      return { belowUnits: below === undefined || below === null ? null : formatUnits(below, decimals) };
    },
    needs: terms,
    async perform(_deps, tx, { asset, below }) {
      const { decimals } = await assetOf(tx, asset);
      await setDustThreshold(tx, asset, below === 'none' ? 0n : parseUnits(below, decimals));
    },
  }),
  plannable({
    ...TERMS_OF_TRADE.policy,
    subject,
    async look(tx, input) {
      await marketOf(tx, input.market);
      return json(await policyRow(tx, input.market, await requirePartner(tx, input.partner), input.question));
    },
    check: async (_tx, { question, answer }) => requirePolicy(question, answer === 'none' ? {} : answer),
    async perform(tx, input, doing) {
      const answer = input.answer === 'none' ? null : input.answer;
      const { market: marketId, partner, question } = input;
      await setPolicy<PolicyQuestion>(tx, { marketId, partnerId: partner ?? null, question, answer }, reasonOf(doing));
    },
  }),
];

type Setting = Values<(typeof TERMS_OF_TRADE.set)['fields']>;

/** The market with changed terms; terms that are left out stay. @throws Refusal 'malformed_field' | 'malformed_amount' */
function changedMarket(market: Market, input: Omit<Setting, 'market' | 'effectiveAt'>): Market {
  const { decimals } = depositAssetOf(market);
  const units = (text: string | undefined, before: bigint) =>
    text === undefined ? before : parseUnits(text, decimals);
  const ms = (seconds: number | undefined, before: number) => (seconds === undefined ? before : seconds * 1000);
  const bps = (given: number | undefined, before: bigint) => (given === undefined ? before : BigInt(given));
  const minUnits = units(input.min, market.minUnits);
  const maxUnits = units(input.max, market.maxUnits);
  if (minUnits <= 0n) throw new Refusal('malformed_field', { fields: { min: 'must be above zero' } });
  if (maxUnits < minUnits) throw new Refusal('malformed_field', { fields: { max: 'must not be below min' } });
  const { priceQuorum = market.priceQuorum, singleSource = market.singleSource && priceQuorum === 1 } = input;
  // An undeclared market must be declared when its prices are set or it is opened, not when its limits are.
  if (input.priceQuorum !== undefined || input.singleSource !== undefined || input.enabled === true)
    requireDeclared(priceQuorum, singleSource, market.priceSources);
  return {
    ...market,
    enabled: input.enabled ?? market.enabled,
    isDefault: input.isDefault ?? market.isDefault,
    minUnits,
    maxUnits,
    quoteTtlMs: ms(input.quoteTtlS, market.quoteTtlMs),
    depositTtlMs: ms(input.depositTtlS, market.depositTtlMs),
    clearingMs: ms(input.clearingS, market.clearingMs),
    priceMaxAgeMs: ms(input.priceMaxAgeS, market.priceMaxAgeMs),
    priceQuorum,
    outlierBps: bps(input.outlierBps, market.outlierBps),
    singleSource,
    jumpBps: bps(input.jumpBps, market.jumpBps),
    resumeMs: ms(input.resumeAfterS, market.resumeMs),
    taxBps: bps(input.taxBps, market.taxBps),
  };
}

/**
 * Carries out all planned changes of a market's terms on paper, in their order, with this one among them.
 *
 * @throws Refusal of this change after those before it; 'malformed_field' that names a later change that it would break
 */
async function requireInOrder(tx: Tx, input: Setting): Promise<void> {
  const at = input.effectiveAt ?? new Date(0);
  const waiting = (await plans(tx, { state: 'planned', subject: subject(input), limit: MAX_PLANNED })).filter(
    ({ action }) => action === TERMS_OF_TRADE.set.name,
  );
  const before = waiting.filter(({ effectiveAt }) => effectiveAt <= at);
  const later = waiting.filter(({ effectiveAt }) => effectiveAt > at);
  const start = before.reduce(planned, await lockMarket(tx, input.market));
  let market = changedMarket(start, input);
  for (const row of later)
    try {
      market = changedMarket(market, row.input as Setting);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw new Refusal('malformed_field', {
        fields: { effectiveAt: `must not come before planned change ${row.id}, which would then break a rule` },
      });
    }
}

/** One that would fail at its time changes nothing. */
function planned(market: Market, row: { input: Record<string, unknown> }): Market {
  try {
    return changedMarket(market, row.input as Setting);
  } catch (error) {
    if (error instanceof Refusal) return market;
    throw error;
  }
}

/** @throws Refusal 'unknown_market' | 'unknown_partner' | 'malformed_amount' */
async function feeOf(tx: Tx, input: Values<(typeof TERMS_OF_TRADE.fee)['fields']>) {
  const { decimals } = (await marketOf(tx, input.market)).fiat;
  return {
    marketId: input.market,
    partnerId: await requirePartner(tx, input.partner),
    kind: input.kind,
    fixedUnits: parseUnits(input.fixed ?? '0', decimals),
    bps: BigInt(input.bps ?? 0),
    minimumUnits: parseUnits(input.minimum ?? '0', decimals),
    gasUnits: BigInt(input.gasUnits ?? 0),
  };
}

/** @param max an amount above zero, or none. @throws Refusal 'malformed_field' | 'malformed_amount' */
function mostOf(max: string, decimals: number): bigint | null {
  if (max === 'none') return null;
  const units = parseUnits(max, decimals);
  if (units <= 0n) throw new Refusal('malformed_field', { fields: { max: 'must be above zero, or none' } });
  return units;
}

/** @throws Refusal 'unknown_market' | 'malformed_field' | 'malformed_amount' */
async function limitOf(tx: Tx, { market, level, max }: Values<(typeof TERMS_OF_TRADE.limit)['fields']>) {
  const { decimals } = depositAssetOf(await marketOf(tx, market));
  return { marketId: market, level, maxUnits: mostOf(max, decimals) };
}

/** @throws Refusal 'malformed_field' | 'malformed_amount' */
async function capFrom(tx: Tx, { partner, fiat, max }: Values<(typeof TERMS_OF_TRADE.cap)['fields']>) {
  return { partnerId: partner, fiat, maxUnits: mostOf(max, await decimalsOf(tx, fiat)) };
}

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
