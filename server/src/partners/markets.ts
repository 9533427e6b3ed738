/**
 * Markets: the traded asset, direction, rails and terms.
 *
 * A market is one crypto asset (a coin on a chain), one fiat and a direction. All markets together are a small table that
 * every quote reads, so it is cached for a moment; a changed row takes effect within that, without a restart.
 *
 * Not here: fees (fees.ts), prices (quotes).
 */
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import type { AssetCode } from '../base/money.ts';
import { jsonOf, type Reason, recordChange, rowsJson, UNSAID } from './changes.ts';
import { remember } from './remember.ts';
import { assetRows, type MarketRow, marketRows, sql } from './store.ts';

export interface Asset {
  readonly code: AssetCode;
  readonly kind: 'crypto' | 'fiat';
  /** The coin's usual name; several assets share a coin, one per chain. */
  readonly coin: string;
  readonly chain: string | null;
  /** Lower-case contract address; null for a native asset and for fiat. */
  readonly contract: string | null;
  readonly decimals: number;
  readonly native: boolean;
}

export interface Market {
  readonly id: bigint;
  readonly direction: 'offramp' | 'onramp';
  readonly crypto: Asset;
  readonly fiat: Asset;
  readonly enabled: boolean;
  /** Used when a request names a coin but no chain. */
  readonly isDefault: boolean;
  readonly depositRail: string;
  readonly payoutRail: string;
  readonly paymentMethod: string;
  /** Limits on the deposit, in the deposit asset's units. */
  readonly minUnits: bigint;
  readonly maxUnits: bigint;
  /** Decimal places of the payout. */
  readonly payoutDecimals: number;
  readonly quoteTtlMs: number;
  readonly depositTtlMs: number;
  readonly priceSources: readonly string[];
  readonly priceMaxAgeMs: number;
  readonly priceQuorum: number;
  readonly outlierBps: bigint;
  /** The market deliberately quotes on a single source: a quorum of one is intended. */
  readonly singleSource: boolean;
  /** A price further than this from the last accepted level, up or down, halts quoting. */
  readonly jumpBps: bigint;
  /** How long sources must agree before a halted market resumes by itself. */
  readonly resumeMs: number;
  /** Time between a bank's credit and its use by an order, on rails whose payments can be recalled. */
  readonly clearingMs: number;
  /** Tax withheld from the fiat that is converted (selling) or paid in (buying), before fees. */
  readonly taxBps: bigint;
}

interface Registry {
  assets: ReadonlyMap<AssetCode, Asset>;
  all: readonly Market[];
  enabled: readonly Market[];
  /** Enabled markets by direction, coin and fiat. */
  byPair: ReadonlyMap<string, readonly Market[]>;
}

const remembered = remember<Registry | undefined>({ forMs: 2_000, most: 1 });

/** All enabled markets, in creation order. */
export async function markets(tx: Tx): Promise<readonly Market[]> {
  return (await registry(tx)).enabled;
}

/** All markets, including disabled ones. */
export async function allMarkets(tx: Tx): Promise<readonly Market[]> {
  return (await registry(tx)).all;
}

/** Enabled markets as they are now, uncached, for callers that must see a market enabled a moment ago. */
export async function currentMarkets(tx: Tx): Promise<readonly Market[]> {
  return (await readRegistry(tx)).enabled;
}

/** All markets as they are now, locked against other changes until `tx` ends. Readers do not wait. */
export async function lockMarkets(tx: Tx): Promise<readonly Market[]> {
  await tx.run(sql.lockMarkets);
  return (await readRegistry(tx)).all;
}

/** Every asset, by its code. */
export async function assets(tx: Tx): Promise<ReadonlyMap<AssetCode, Asset>> {
  return (await registry(tx)).assets;
}

/** A market by id, enabled or not: an order keeps the market it was created on. */
export async function marketById(tx: Tx, id: bigint): Promise<Market> {
  const found = (await registry(tx)).all.find((market) => market.id === id);
  assert(found !== undefined, `market ${id} is missing`);
  return found;
}

/**
 * The market a request means. Codes are compared case-insensitively (ASCII letters only, so that no look-alike matches).
 *
 * @param input.chain undefined, empty or the coin's own code: the default market of coin and fiat
 * @throws Refusal 'unsupported_pair' {coin, fiat} | 'unsupported_chain' {chain, coin}
 */
export async function findMarket(
  tx: Tx,
  input: { direction: 'offramp' | 'onramp'; coin: string; fiat: string; chain?: string | undefined },
): Promise<Market> {
  const coin = folded(input.coin);
  const fiat = folded(input.fiat);
  const chain = folded(input.chain ?? '');
  const { enabled, byPair } = await registry(tx);
  const pair = byPair.get(`${input.direction} ${coin} ${fiat}`) ?? [];
  const [first] = pair;
  if (first === undefined) {
    const sameWay = enabled.filter((market) => market.direction === input.direction);
    const supported = listed(sameWay.map((market) => `${market.crypto.coin}/${market.fiat.code}`.toUpperCase()));
    throw new Refusal('unsupported_pair', { coin: input.coin, fiat: input.fiat, supported });
  }
  const named = pair.find((market) => folded(market.crypto.chain ?? '') === chain);
  if (named !== undefined) return named;
  if (chain === '' || chain === coin) return pair.find((market) => market.isDefault) ?? first;
  const supported = listed(pair.map((market) => market.crypto.chain ?? ''));
  throw new Refusal('unsupported_chain', { chain: input.chain, coin: input.coin, supported });
}

/** Maximum number of names in an error sentence. */
const MOST_LISTED = 50;
/** Names for an error that says what is supported: sorted, each once, at most 50. */
export const listed = (names: readonly string[]): string[] => [...new Set(names)].toSorted().slice(0, MOST_LISTED);

/**
 * Adds an asset, or leaves it unchanged.
 *
 * @throws BugError when it exists with other decimals, chain or contract: booked units would change their meaning
 */
export async function upsertAsset(tx: Tx, asset: Asset): Promise<void> {
  const { code, kind, coin, chain, contract, decimals, native } = asset;
  const rows = await tx.run(sql.upsertAsset, [code, kind, coin, chain, contract, decimals, native]);
  assert(rows === 1, `asset ${code} keeps its decimals, chain and contract`);
  remembered.forget(tx);
}

/** Terms that a caller may omit, because they have a default. */
type Unsaid = 'clearingMs' | 'singleSource' | 'jumpBps' | 'resumeMs' | 'taxBps';
/** A price move of ten percent between two polls is either news or an error. */
const JUMP_BPS = 1_000n;
const RESUME_MS = 300_000;

/** A market's terms as given by the caller. */
export type MarketTerms = Omit<Market, 'id' | 'crypto' | 'fiat' | Unsaid> &
  Partial<Pick<Market, Unsaid>> & { crypto: AssetCode; fiat: AssetCode };

/** Columns of a market in insert order. */
const columnsOf = (m: MarketTerms) => ({
  direction: m.direction,
  crypto_asset: m.crypto,
  fiat_asset: m.fiat,
  enabled: m.enabled,
  is_default: m.isDefault,
  deposit_rail: m.depositRail,
  payout_rail: m.payoutRail,
  payment_method: m.paymentMethod,
  min_units: m.minUnits,
  max_units: m.maxUnits,
  payout_decimals: m.payoutDecimals,
  quote_ttl_s: m.quoteTtlMs / 1000,
  deposit_ttl_s: m.depositTtlMs / 1000,
  price_sources: m.priceSources,
  price_max_age_s: m.priceMaxAgeMs / 1000,
  price_quorum: m.priceQuorum,
  outlier_bps: m.outlierBps,
  clearing_s: (m.clearingMs ?? 0) / 1000,
  single_source: m.singleSource ?? false,
  jump_bps: m.jumpBps ?? JUMP_BPS,
  resume_s: (m.resumeMs ?? RESUME_MS) / 1000,
  tax_bps: m.taxBps ?? 0n,
});

/** Adds many markets at once; existing ones stay. Each is recorded with who and why. @returns the markets that were added */
export async function addMarkets(
  tx: Tx,
  added: readonly MarketTerms[],
  { by, why }: Reason = UNSAID,
): Promise<(Pick<Market, 'id' | 'direction'> & { crypto: AssetCode; fiat: AssetCode })[]> {
  if (added.length === 0) return [];
  const rows = await tx.rows<Awaited<ReturnType<typeof addMarkets>>[number]>(sql.addMarkets, [
    rowsJson(added.map(columnsOf)),
    by,
    why,
  ]);
  remembered.forget(tx);
  return rows;
}

/**
 * Adds a market, or updates the terms of the one with this direction, crypto and fiat; a change is recorded with who and why.
 */
export async function upsertMarket(tx: Tx, m: MarketTerms, reason: Reason = UNSAID): Promise<bigint> {
  const look = () => jsonOf(tx, sql.marketJson, [m.direction, m.crypto, m.fiat]);
  const before = await look();
  const row = await tx.row<{ id: bigint }>(sql.upsertMarket, Object.values(columnsOf(m)));
  assert(row !== undefined, 'an upserted market is returned');
  await recordChange(tx, { what: 'market', marketId: row.id, before, after: await look(), reason });
  remembered.forget(tx);
  return row.id;
}

/**
 * How many confirmations a deposit needs, by its amount; replaces the setting for this chain and asset.
 *
 * @param p.steps confirmations from each amount (smallest units) on; the first step starts at zero
 */
export async function setConfirmationPolicy(
  tx: Tx,
  p: { chain: string; asset: AssetCode; steps: readonly { fromUnits: bigint; confirmations: number }[] },
): Promise<void> {
  assert(
    p.steps.some((step) => step.fromUnits === 0n),
    'the confirmation policy has no step from zero',
  );
  await tx.run(sql.clearPolicies, [p.chain, p.asset]);
  for (const step of p.steps) await tx.run(sql.insertPolicy, [p.chain, p.asset, step.fromUnits, step.confirmations]);
}

/** An empty registry is not cached: a new installation is still being filled, and gets requests as soon as it is ready. */
async function registry(tx: Tx): Promise<Registry> {
  const kept = await remembered.get(tx, '', async () => {
    const read = await readRegistry(tx);
    return read.all.length === 0 ? undefined : read;
  });
  return kept ?? (await readRegistry(tx));
}

async function readRegistry(tx: Tx): Promise<Registry> {
  const byCode = new Map((await assetRows(tx)).map((row): [AssetCode, Asset] => [row.code, row]));
  const all = (await marketRows(tx)).map((row) => marketOf(row, byCode));
  const enabled = all.filter((market) => market.enabled);
  const byPair = Map.groupBy(enabled, (one) => `${one.direction} ${folded(one.crypto.coin)} ${folded(one.fiat.code)}`);
  return { assets: byCode, all, enabled, byPair };
}

function marketOf(row: MarketRow, byCode: ReadonlyMap<AssetCode, Asset>): Market {
  const crypto = byCode.get(row.cryptoAsset);
  const fiat = byCode.get(row.fiatAsset);
  assert(crypto !== undefined && fiat !== undefined, `an asset of market ${row.id} is missing`);
  return {
    id: row.id,
    direction: row.direction,
    crypto,
    fiat,
    enabled: row.enabled,
    isDefault: row.isDefault,
    depositRail: row.depositRail,
    payoutRail: row.payoutRail,
    paymentMethod: row.paymentMethod,
    minUnits: row.minUnits,
    maxUnits: row.maxUnits,
    payoutDecimals: row.payoutDecimals,
    quoteTtlMs: row.quoteTtlS * 1000,
    depositTtlMs: row.depositTtlS * 1000,
    priceSources: row.priceSources,
    priceMaxAgeMs: row.priceMaxAgeS * 1000,
    priceQuorum: row.priceQuorum,
    clearingMs: row.clearingS * 1000,
    outlierBps: BigInt(row.outlierBps),
    singleSource: row.singleSource,
    jumpBps: BigInt(row.jumpBps),
    resumeMs: row.resumeS * 1000,
    taxBps: BigInt(row.taxBps),
  };
}

const folded = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
