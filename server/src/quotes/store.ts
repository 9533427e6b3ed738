/** SQL of quotes, prices and gas prices. */
import type { Tx } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import type { Rate } from '../base/money.ts';
import type { Market } from '../partners/index.ts';
import type { KeptPrice } from './crosses.ts';
import type { Fees, SourcedPrice } from './price.ts';
import type { FixedSide, Quote, TakeInput, UsedPrice } from './quote.ts';
import type { FetchedPrice, SourceHealth } from './source.ts';

const QUOTE = `id, deposit_units, payout_units, gross_units, rate_num, rate_den, fee_operator, fee_partner, fee_rail,
  fee_chain, fee_tax, created_at, expires_at`;

/** Frequent statements, exported so that tests can check their plans. */
export const quoteSql = {
  // A source that was silent for a minute does not count, however old a market lets prices be: a market may have to allow days,
  // for a currency's daily rate.
  prices: `select base, source, num, den, priced_at, null::numeric as units, null::timestamptz as fetched_at
                , null::timestamptz as halted_at, null::timestamptz as seen_since, clock_timestamp() as now, composed_of
             from prices where base = any($1) and quote = $2 and fetched_at > now() - interval '1 minute'
           union all
           select null, null, null, null, null, units, fetched_at, null, null, clock_timestamp(), null from gas_prices where chain = $3
           union all
           select coin, null, level_num, level_den, null, null, null, halted_at, seen_since, clock_timestamp(), null
             from price_levels where market_id = $4`,
  insert: `insert into quotes (id, partner_id, market_id, deposit_units, payout_units, gross_units, rate_num, rate_den,
             fee_operator, fee_partner, fee_rail, fee_chain, prices, created_at, expires_at, fiat_asset, fiat_units, order_id, fee_tax, fixed_side)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`,
  liveExposure: `select coalesce(sum(fiat_units), 0) as units, max(expires_at) as until from quotes
               where partner_id = $1 and fiat_asset = $2 and order_id is null and expires_at > $3`,
  // Takes no quote while a price that it is based on is halted. The gas asset's price matters only if gas is charged.
  take: `update quotes set order_id = $8
          where id = (select id from quotes q
                       where partner_id = $1 and market_id = $2 and deposit_text = $3::text and order_id is null
                         and not exists (select from price_levels l where l.market_id = $2 and l.halted_at is not null
                           and q.prices @> jsonb_build_array(jsonb_build_object('base', l.coin)))
                         and expires_at > $4 and payout_units = $5 and rate_num * $7::numeric = $6::numeric * rate_den
                       order by expires_at desc limit 1 for update skip locked)
         returning ${QUOTE}`,
  // As `take`, for one quote by its id.
  takeOne: `update quotes set order_id = $4
          where id = (select id from quotes q
                       where id = $2 and partner_id = $1 and order_id is null and expires_at > $3
                         and not exists (select from price_levels l where l.market_id = q.market_id and l.halted_at is not null
                           and q.prices @> jsonb_build_array(jsonb_build_object('base', l.coin)))
                       for update)
         returning ${QUOTE}`,
  byId: `select partner_id, market_id, order_id, prices, fixed_side, ${QUOTE} from quotes where id = $1`,
  live: `select partner_id, ${QUOTE} from quotes
          where id = $1 and market_id = $2 and deposit_units = $3 and order_id is null and expires_at > $4`,
  shown: `select partner_id, ${QUOTE} from quotes where id = $1 and market_id = $2 and deposit_units = $3`,
};

interface PriceRow {
  base: string | null;
  source: string | null;
  num: bigint | null;
  den: bigint | null;
  pricedAt: Date | null;
  units: bigint | null;
  fetchedAt: Date | null;
  haltedAt: Date | null;
  seenSince: Date | null;
  now: Date;
  composedOf: string[] | null;
}

/** The level against which the market's prices were judged, as far as a quote needs it. */
export interface JudgedLevel {
  coin: string;
  level: Rate | null;
  haltedAt: Date | null;
  seenSince: Date | null;
}

/** Rate and fees as stored in a quote's row, and in the row of the order that took it. */
export interface PricedRow {
  rateNum: bigint;
  rateDen: bigint;
  feeOperator: bigint;
  feePartner: bigint;
  feeRail: bigint;
  feeChain: bigint;
  feeTax: bigint;
}

export const pricedOf = (row: PricedRow): { rate: Rate; fees: Fees } => ({
  rate: { num: row.rateNum, den: row.rateDen },
  fees: {
    operator: row.feeOperator,
    partner: row.feePartner,
    rail: row.feeRail,
    chain: row.feeChain,
    tax: row.feeTax,
  },
});

interface QuoteRow extends PricedRow {
  id: bigint;
  depositUnits: bigint;
  payoutUnits: bigint;
  grossUnits: bigint;
  createdAt: Date;
  expiresAt: Date;
}

const quoteOf = (row: QuoteRow, partnerId: bigint, market: Market): Quote => ({
  id: row.id,
  partnerId,
  market,
  depositUnits: row.depositUnits,
  payoutUnits: row.payoutUnits,
  grossUnits: row.grossUnits,
  ...pricedOf(row),
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
});

export const store = {
  async prices(tx: Tx, input: { bases: string[]; quote: string; chain: string | null; marketId: bigint }) {
    const rows = await tx.rows<PriceRow>(quoteSql.prices, [input.bases, input.quote, input.chain, input.marketId]);
    const prices: (SourcedPrice & { base: string })[] = [];
    const levels: JudgedLevel[] = [];
    let gasUnits: bigint | null = null;
    let gasAgeMs = Number.POSITIVE_INFINITY;
    for (const row of rows) {
      if (row.base !== null && row.source === null) {
        const level = row.num === null || row.den === null ? null : { num: row.num, den: row.den };
        levels.push({ coin: row.base, level, haltedAt: row.haltedAt, seenSince: row.seenSince });
      } else if (
        row.base !== null &&
        row.source !== null &&
        row.num !== null &&
        row.den !== null &&
        row.pricedAt !== null
      ) {
        prices.push({
          base: row.base,
          source: row.source,
          rate: { num: row.num, den: row.den },
          pricedAt: row.pricedAt,
          ...defined({ composedOf: row.composedOf ?? undefined }),
        });
      } else if (row.units !== null && row.fetchedAt !== null) {
        gasUnits = row.units;
        gasAgeMs = row.now.getTime() - row.fetchedAt.getTime();
      }
    }
    return { prices, levels, gasUnits, gasAgeMs, now: rows[0]?.now ?? new Date() };
  },

  /** @param made.orderId the order that takes it at once, or null */
  insert(
    tx: Tx,
    quote: Quote,
    {
      prices,
      fiatUnits,
      orderId,
      fixedSide = 'pay',
    }: { prices: unknown[]; fiatUnits: bigint; orderId: bigint | null; fixedSide?: FixedSide },
  ): void {
    tx.defer(quoteSql.insert, [
      quote.id,
      quote.partnerId,
      quote.market.id,
      quote.depositUnits,
      quote.payoutUnits,
      quote.grossUnits,
      quote.rate.num,
      quote.rate.den,
      quote.fees.operator,
      quote.fees.partner,
      quote.fees.rail,
      quote.fees.chain,
      JSON.stringify(prices),
      quote.createdAt,
      quote.expiresAt,
      quote.market.fiat.code,
      fiatUnits,
      orderId,
      quote.fees.tax,
      fixedSide,
    ]);
  },

  async liveExposure(
    tx: Tx,
    input: { partnerId: bigint; fiat: string; now: Date },
  ): Promise<{ units: bigint; until: Date | null }> {
    const values = [input.partnerId, input.fiat, input.now];
    return (
      (await tx.row<{ units: bigint; until: Date | null }>(quoteSql.liveExposure, values)) ?? { units: 0n, until: null }
    );
  },

  async take(tx: Tx, input: TakeInput): Promise<Quote | undefined> {
    const row = await tx.row<QuoteRow>(quoteSql.take, [
      input.partner.id,
      input.market.id,
      input.depositUnits,
      input.now,
      input.payoutUnits,
      input.rate.num,
      input.rate.den,
      input.orderId,
    ]);
    return row === undefined ? undefined : quoteOf(row, input.partner.id, input.market);
  },

  async takeOne(
    tx: Tx,
    input: { partnerId: bigint; id: bigint; market: Market; orderId: bigint; now: Date },
  ): Promise<Quote | undefined> {
    const row = await tx.row<QuoteRow>(quoteSql.takeOne, [input.partnerId, input.id, input.now, input.orderId]);
    return row === undefined ? undefined : quoteOf(row, input.partnerId, input.market);
  },

  /** @param marketOf reads a market by its id */
  async byId(tx: Tx, id: bigint, marketOf: (id: bigint) => Promise<Market>) {
    const row = await tx.row<
      QuoteRow & {
        partnerId: bigint;
        marketId: bigint;
        orderId: bigint | null;
        prices: UsedPrice[];
        fixedSide: FixedSide;
      }
    >(quoteSql.byId, [id]);
    if (row === undefined) return undefined;
    const quote = quoteOf(row, row.partnerId, await marketOf(row.marketId));
    return { ...quote, orderId: row.orderId, prices: row.prices, fixedSide: row.fixedSide };
  },

  async live(
    tx: Tx,
    input: { id: bigint; market: Market; depositUnits: bigint; now: Date },
  ): Promise<Quote | undefined> {
    const { id, market, depositUnits, now } = input;
    const row = await tx.row<QuoteRow & { partnerId: bigint }>(quoteSql.live, [id, market.id, depositUnits, now]);
    return row === undefined ? undefined : quoteOf(row, row.partnerId, market);
  },

  async shown(tx: Tx, { id, market, depositUnits }: { id: bigint; market: Market; depositUnits: bigint }) {
    const row = await tx.row<QuoteRow & { partnerId: bigint }>(quoteSql.shown, [id, market.id, depositUnits]);
    return row === undefined ? undefined : quoteOf(row, row.partnerId, market);
  },

  /**
   * Stores all prices of one answer of a source, in one statement. An older price does not replace a newer one, unless a wrong
   * clock dated the newer one in the future. An unchanged price is rewritten once it is as old as `rewriteMs`.
   */
  async savePrices(tx: Tx, source: string, prices: readonly FetchedPrice[], rewriteMs = 0): Promise<void> {
    // One price per pair: a statement cannot update a row twice.
    const said = new Map(prices.map((price) => [`${price.base}/${price.quote}`, price]));
    const rows = [...said.values()].map(({ base, quote, rate, pricedAt, composedOf }) => ({
      ...{ base, quote, num: String(rate.num), den: String(rate.den) },
      ...{ priced_at: pricedAt, composed_of: composedOf },
    }));
    tx.defer(
      `insert into prices (source, base, quote, num, den, priced_at, fetched_at, composed_of)
       select $1, p.base, p.quote, p.num, p.den, least(p.priced_at, clock_timestamp()), clock_timestamp(), p.composed_of
         from jsonb_to_recordset($2::jsonb)
           as p (base text, quote text, num numeric, den numeric, priced_at timestamptz, composed_of text[])
        -- Left out here, because a conflict locks the row even if it is not updated.
        where not exists (
          select from prices q
           where (q.source, q.base, q.quote, q.num, q.den) = ($1, p.base, p.quote, p.num, p.den)
             and q.composed_of is not distinct from p.composed_of
             and q.priced_at <= p.priced_at and least(q.priced_at, q.fetched_at) > clock_timestamp() - make_interval(secs => $3))
       on conflict (base, quote, source) do update
         set num = excluded.num, den = excluded.den, priced_at = excluded.priced_at, fetched_at = excluded.fetched_at, composed_of = excluded.composed_of
       where prices.priced_at <= excluded.priced_at or prices.priced_at > clock_timestamp()`,
      [source, JSON.stringify(rows), rewriteMs / 1_000],
    );
  },

  /** The shared legs of composed prices: USDT in dollars, and a dollar in other currencies. */
  sharedLegs: (tx: Tx): Promise<KeptPrice[]> =>
    tx
      .rows<{ source: string; base: string; quote: string; num: bigint; den: bigint; pricedAt: Date }>(
        `select source, base, quote, num, den, priced_at from prices where base = 'usd' or (base = 'usdt' and quote = 'usd')`,
      )
      .then((rows) =>
        rows.map(({ source, base, quote, num, den, pricedAt }) => ({
          source,
          base,
          quote,
          rate: { num, den },
          pricedAt,
        })),
      ),

  async pauseOf(tx: Tx, source: string): Promise<{ failures: number; pausedMs: number }> {
    const row = await tx.row<{ failures: number; pausedMs: number | null }>(
      `select failures, (extract(epoch from paused_until - clock_timestamp()) * 1000)::float8 as paused_ms
         from price_sources where source = $1`,
      [source],
    );
    return { failures: row?.failures ?? 0, pausedMs: row?.pausedMs ?? 0 };
  },

  heard: (tx: Tx, source: string) =>
    tx.run(
      `insert into price_sources (source, last_success_at) values ($1, clock_timestamp())
       on conflict (source) do update set last_success_at = excluded.last_success_at, failures = 0, paused_until = null`,
      [source],
    ),

  failed: (tx: Tx, source: string, { why, pauseMs }: { why: string; pauseMs: number }) =>
    tx.run(
      `insert into price_sources (source, last_failure_at, last_failure, failures, paused_until)
       values ($1, clock_timestamp(), $2, 1, clock_timestamp() + $3::float8 * interval '1 millisecond')
       on conflict (source) do update
         set last_failure_at = excluded.last_failure_at, last_failure = excluded.last_failure,
             failures = price_sources.failures + 1, paused_until = excluded.paused_until`,
      [source, why, pauseMs],
    ),

  sourceHealth: (tx: Tx): Promise<SourceHealth[]> =>
    tx.rows<SourceHealth>(
      `select source, (extract(epoch from clock_timestamp() - last_success_at) * 1000)::float8 as last_success_age_ms,
              (extract(epoch from clock_timestamp() - last_failure_at) * 1000)::float8 as last_failure_age_ms,
              last_failure, failures
         from price_sources order by source`,
    ),

  /** Moves the expiry of a partner's unused quotes earlier. @returns the number of quotes */
  shiftDueTimes: (tx: Tx, { partnerId, ms }: { partnerId: bigint; ms: number }) =>
    tx.run(
      `update quotes set expires_at = expires_at - $2::float8 * interval '1 millisecond'
        where partner_id = $1 and order_id is null and expires_at > created_at`,
      [partnerId, ms],
    ),

  /** Deletes quotes that expired before this time and that no order took. */
  purge: (tx: Tx, before: Date) =>
    tx.run(
      `delete from quotes where id in
         (select id from quotes where order_id is null and expires_at < $1 order by expires_at limit 1000)`,
      [before],
    ),

  /**
   * Age of each source's newest coin price, in milliseconds. Excluded are currencies' daily rates, and sources that were silent
   * for a day, because they are no longer polled; polled sources have their own health. A negative age means that the price is
   * dated in the future.
   */
  async priceAges(tx: Tx): Promise<{ source: string; ageMs: number }[]> {
    const rows = await tx.rows<{ source: string; ageMs: number }>(
      `select source, (extract(epoch from clock_timestamp() - max(priced_at)) * 1000)::float8 as age_ms from prices
        where base <> 'usd' and fetched_at > now() - interval '1 day' group by source order by source`,
    );
    return rows.map((row) => ({ source: row.source, ageMs: Math.round(row.ageMs) }));
  },
};
