/** A customer's limits across its orders, and the requirements of a higher level, in the format of /v1. */
import type { Vault } from '../../base/crypto.ts';
import type { Tx } from '../../base/db.ts';
import { formatUnits } from '../../base/money.ts';
import { type Customer, countryFor, formFor, missingOf } from '../../customers/index.ts';
import type { LimitUse } from '../../orders/index.ts';
import {
  type CustomerLimit,
  customerLimits,
  isSameScope,
  type LimitScope,
  type Market,
  maxUnitsFor,
} from '../../partners/index.ts';
import { directionOf, type Is, isoOrNull } from './shapes.ts';

type Limits = Is<'CustomerLimits'>;

const scopeShape = ({ period: per, fiatAsset: asset, direction, marketId }: LimitScope) => ({
  ...{ per, asset },
  direction: direction === null ? null : directionOf(direction),
  market: marketId === null ? null : String(marketId),
});

const decimalsOf = (limit: LimitScope, markets: readonly Market[]): number =>
  markets.find(({ fiat }) => fiat.code === limit.fiatAsset)?.fiat.decimals ?? 0;

export function limitUseShape(
  { limit, usedUnits, leftUnits, freesAt, resetsAt }: LimitUse,
  markets: readonly Market[],
): Limits['limits'][number] {
  const amount = (units: bigint) => formatUnits(units, decimalsOf(limit, markets));
  return {
    ...scopeShape(limit),
    ...{ max: amount(limit.maxUnits), used: amount(usedUnits), left: amount(leftUnits) },
    ...{ freesAt: isoOrNull(freesAt), resetsAt: isoOrNull(resetsAt) },
  };
}

/**
 * The lowest level that allows more than the present one, on a market or across orders; null when no level that the verifier gives
 * does. Below the level from which customers trade nothing is allowed: then it is that level, with all limits there.
 */
export async function nextLevelOf(
  tx: Tx,
  {
    customer,
    tradeLevel,
    highestLevel,
    uses,
    markets,
    vault,
    now,
  }: {
    customer: Customer;
    tradeLevel: number;
    highestLevel: number;
    uses: readonly LimitUse[];
    markets: readonly Market[];
    vault: Vault;
    now: Date;
  },
): Promise<Limits['next']> {
  const isFirst = customer.level < tradeLevel;
  for (let level = isFirst ? tradeLevel : customer.level + 1; level <= highestLevel; level += 1) {
    const there = await customerLimits(tx, level);
    const larger = uses.flatMap(({ limit }) => {
      const other = there.find((one) => isSameScope(one, limit));
      return isFirst || other === undefined || other.maxUnits > limit.maxUnits ? [{ limit, other }] : [];
    });
    if (!isFirst && larger.length === 0 && !(await isMoreOnMarket(tx, markets, customer.level, level))) continue;
    return {
      level,
      limits: larger.map(({ limit, other }) => ({ ...scopeShape(limit), max: maxOf(other, markets) })),
      needs: await needsFor(tx, { customer, level, markets, vault, now }),
    };
  }
  return null;
}

const maxOf = (limit: CustomerLimit | undefined, markets: readonly Market[]): string | null =>
  limit === undefined ? null : formatUnits(limit.maxUnits, decimalsOf(limit, markets));

async function isMoreOnMarket(tx: Tx, markets: readonly Market[], from: number, to: number): Promise<boolean> {
  for (const market of markets)
    if ((await maxUnitsFor(tx, market, to)) > (await maxUnitsFor(tx, market, from))) return true;
  return false;
}

async function needsFor(
  tx: Tx,
  {
    customer,
    level,
    markets,
    vault,
    now,
  }: {
    customer: Customer;
    level: number;
    markets: readonly Market[];
    vault: Vault;
    now: Date;
  },
) {
  const { id: customerId, kind, partnerId } = customer;
  const country = countryFor(customer);
  const needs = [];
  for (const fiat of new Set(markets.map((market) => market.fiat.code))) {
    const form = await formFor(tx, { kind, fiat, country, level, partnerId }, now);
    const { fields, files } = await missingOf(tx, vault, { customerId, form, now });
    needs.push({ asset: fiat, fields, documents: files });
  }
  return needs;
}
