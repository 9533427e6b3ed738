/**
 * Rows of each market's accepted price levels, and of price halts.
 */
import type { Tx } from '../base/db.ts';
import type { Rate } from '../base/money.ts';
import type { Level } from './breaker.ts';
import type { KeptPrice } from './crosses.ts';

/** The price level of one market and coin. */
export interface LevelRow extends Level {
  marketId: bigint;
  coin: string;
}

interface Row {
  marketId: bigint;
  coin: string;
  levelNum: bigint | null;
  levelDen: bigint | null;
  levelAt: Date | null;
  missingSince: Date | null;
  haltedAt: Date | null;
  why: 'jump' | 'quorum' | null;
  seenNum: bigint | null;
  seenDen: bigint | null;
  seenSince: Date | null;
}

/**
 * Key of the advisory lock that serializes storing and judging prices, so that each judgement sees what the last one stored; an
 * arbitrary constant.
 */
const PRICES_LOCK = 0x70726963;

const COLUMNS = `market_id, coin, level_num, level_den, level_at, missing_since, halted_at, why, seen_num, seen_den, seen_since`;

const sql = {
  lock: 'select pg_advisory_xact_lock($1)',
  // A source that was silent for a minute does not count, as in quotes.
  prices: `select source, base, quote, num, den, priced_at from prices where fetched_at > now() - interval '1 minute'`,
  levels: `select ${COLUMNS} from price_levels order by market_id, coin`,
  of: `select ${COLUMNS} from price_levels where market_id = $1 order by coin`,
  save: `insert into price_levels (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    on conflict (market_id, coin) do update set level_num = excluded.level_num, level_den = excluded.level_den,
      level_at = excluded.level_at, missing_since = excluded.missing_since, halted_at = excluded.halted_at,
      why = excluded.why, seen_num = excluded.seen_num, seen_den = excluded.seen_den, seen_since = excluded.seen_since`,
  halted: `select l.why, count(*) as count from price_levels l join markets m on m.id = l.market_id and m.enabled
    where l.halted_at is not null group by l.why order by l.why`,
  endQuotes: `update quotes set expires_at = created_at where market_id = $1 and order_id is null and expires_at > now()
    and prices @> jsonb_build_array(jsonb_build_object('base', $2::text))`,
} as const;

const rateOf = (num: bigint | null, den: bigint | null): Rate | null =>
  num === null || den === null ? null : { num, den };

const levelOf = (row: Row): LevelRow => ({
  marketId: row.marketId,
  coin: row.coin,
  level: rateOf(row.levelNum, row.levelDen),
  levelAt: row.levelAt,
  missingSince: row.missingSince,
  haltedAt: row.haltedAt,
  why: row.why,
  seen: rateOf(row.seenNum, row.seenDen),
  seenSince: row.seenSince,
});

export const lockPrices = (tx: Tx) => tx.row(sql.lock, [PRICES_LOCK]);

export const livePrices = (tx: Tx): Promise<KeptPrice[]> =>
  tx
    .rows<{ source: string; base: string; quote: string; num: bigint; den: bigint; pricedAt: Date }>(sql.prices)
    .then((rows) => rows.map(({ num, den, pricedAt, ...of }) => ({ ...of, rate: { num, den }, pricedAt })));

export const levelRows = (tx: Tx): Promise<LevelRow[]> => tx.rows<Row>(sql.levels).then((rows) => rows.map(levelOf));
export const levelsOf = (tx: Tx, marketId: bigint): Promise<LevelRow[]> =>
  tx.rows<Row>(sql.of, [marketId]).then((rows) => rows.map(levelOf));

export function saveLevel(tx: Tx, row: LevelRow): void {
  tx.defer(sql.save, [
    row.marketId,
    row.coin,
    row.level?.num ?? null,
    row.level?.den ?? null,
    row.levelAt,
    row.missingSince,
    row.haltedAt,
    row.why,
    row.seen?.num ?? null,
    row.seen?.den ?? null,
    row.seenSince,
  ]);
}

/** Ends the unused quotes of a market that depend on the price of this coin. */
export const endQuotes = (tx: Tx, marketId: bigint, coin: string) => tx.defer(sql.endQuotes, [marketId, coin]);

export const haltedPrices = (tx: Tx) => tx.rows<{ why: string; count: bigint }>(sql.halted);
