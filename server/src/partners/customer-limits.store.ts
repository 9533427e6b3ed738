/** Rows of customer limits: versions that never change. */
import type { Tx } from '../base/db.ts';

export interface CustomerLimitRow {
  id: bigint;
  fiatAsset: string;
  direction: 'offramp' | 'onramp' | null;
  marketId: bigint | null;
  level: number;
  period: 'order' | 'day' | 'month';
  version: number;
  maxUnits: bigint | null;
  setBy: string;
  why: string;
  setAt: Date;
}

/** The scope of a limit: these columns together have versions. */
export type LimitScope = Pick<CustomerLimitRow, 'fiatAsset' | 'direction' | 'marketId' | 'level' | 'period'>;

const COLUMNS = 'id, fiat_asset, direction, market_id, level, period, version, max_units, set_by, why, set_at';
const SCOPE = `fiat_asset = $1 and direction is not distinct from $2::text and market_id is not distinct from $3::bigint
  and level = $4 and period = $5`;
const SQL = {
  newest: `select distinct on (fiat_asset, direction, market_id, level, period) ${COLUMNS} from customer_limits
    order by fiat_asset, direction, market_id, level, period, version desc`,
  newestOf: `select ${COLUMNS} from customer_limits where ${SCOPE} order by version desc limit 1`,
  versions: `select ${COLUMNS} from customer_limits where ($1::text is null or fiat_asset = $1) and ($2::bigint is null or id < $2)
    order by id desc limit $3`,
  lock: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
  insert: `insert into customer_limits (fiat_asset, direction, market_id, level, period, version, max_units, set_by, why, set_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning ${COLUMNS}`,
} as const;

const scopeOf = ({ fiatAsset, direction, marketId, level, period }: LimitScope) => [
  ...[fiatAsset, direction, marketId, level, period],
];

export const newestLimits = (tx: Tx) => tx.rows<CustomerLimitRow>(SQL.newest);
export const newestLimit = (tx: Tx, scope: LimitScope) => tx.row<CustomerLimitRow>(SQL.newestOf, scopeOf(scope));
export const limitVersions = (tx: Tx, of: { fiat: string | null; below: bigint | null; limit: number }) =>
  tx.rows<CustomerLimitRow>(SQL.versions, [of.fiat, of.below, of.limit]);
/** Serializes operators who set limits concurrently. */
export const lockLimits = (tx: Tx) => tx.run(SQL.lock, ['customer limits']);
/** Deferred, so that it is sent ahead of the statement that counts and sees what the last holder committed. */
export const lockCustomerOrders = (tx: Tx, customerId: string) => tx.defer(SQL.lock, [`limits ${customerId}`]);
export const insertLimit = (
  tx: Tx,
  l: LimitScope & { version: number; maxUnits: bigint | null; by: string; why: string; now: Date },
) => tx.row<CustomerLimitRow>(SQL.insert, [...scopeOf(l), l.version, l.maxUnits, l.by, l.why, l.now]);
