/** SQL of quotes, prices and gas prices. */
import type { Tx } from '../base/db.ts';
import type { Market } from '../partners/index.ts';
import type { KeptPrice } from './crosses.ts';
import type { Quote, TakeAsk } from './index.ts';
import type { SourcedPrice } from './price.ts';
import type { FetchedPrice, SourceHealth } from './refresh.ts';

const QUOTE = `id, deposit_units, payout_units, gross_units, rate_num, rate_den, fee_operator, fee_partner, fee_rail,
  fee_chain, created_at, expires_at`;

/** Hot statements, exported so that their plans can be asserted. */
export const quoteSql = {
  // A source not heard for a minute has no say, however old a market lets prices be: it may have to, for a currency's daily rate.
  prices: `select base, source, num, den, priced_at, null::numeric as units, null::timestamptz as fetched_at
             from prices where base = any($1) and quote = $2 and fetched_at > now() - interval '1 minute'
           union all
           select null, null, null, null, null, units, fetched_at from gas_prices where chain = $3`,
  insert: `insert into quotes (id, partner_id, market_id, deposit_units, payout_units, gross_units, rate_num, rate_den,
             fee_operator, fee_partner, fee_rail, fee_chain, prices, created_at, expires_at, fiat_asset, fiat_units, order_id)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
  liveUnits: `select coalesce(sum(fiat_units), 0) as units from quotes
               where partner_id = $1 and fiat_asset = $2 and order_id is null and expires_at > $3`,
  take: `update quotes set order_id = $8
          where id = (select id from quotes
                       where partner_id = $1 and market_id = $2 and deposit_text = $3::text and order_id is null
                         and expires_at > $4 and payout_units = $5 and rate_num * $7::numeric = $6::numeric * rate_den
                       order by expires_at desc limit 1 for update skip locked)
         returning ${QUOTE}`,
  live: `select partner_id, ${QUOTE} from quotes
          where id = $1 and market_id = $2 and deposit_units = $3 and order_id is null and expires_at > $4`,
};

interface PriceRow {
  base: string | null;
  source: string | null;
  num: bigint | null;
  den: bigint | null;
  priced_at: Date | null;
  units: bigint | null;
  fetched_at: Date | null;
}

interface QuoteRow {
  id: bigint;
  deposit_units: bigint;
  payout_units: bigint;
  gross_units: bigint;
  rate_num: bigint;
  rate_den: bigint;
  fee_operator: bigint;
  fee_partner: bigint;
  fee_rail: bigint;
  fee_chain: bigint;
  created_at: Date;
  expires_at: Date;
}

const quoteOf = (row: QuoteRow, partnerId: bigint, market: Market): Quote => ({
  id: row.id,
  partnerId,
  market,
  depositUnits: row.deposit_units,
  payoutUnits: row.payout_units,
  grossUnits: row.gross_units,
  rate: { num: row.rate_num, den: row.rate_den },
  fees: { operator: row.fee_operator, partner: row.fee_partner, rail: row.fee_rail, chain: row.fee_chain },
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});

export const store = {
  async prices(tx: Tx, ask: { bases: string[]; quote: string; chain: string | null }) {
    const rows = await tx.rows<PriceRow>(quoteSql.prices, [ask.bases, ask.quote, ask.chain]);
    const prices: (SourcedPrice & { base: string })[] = [];
    let gasUnits: bigint | null = null;
    let gasAgeMs = Number.POSITIVE_INFINITY;
    for (const row of rows) {
      if (row.base !== null && row.source !== null && row.num !== null && row.den !== null && row.priced_at !== null) {
        prices.push({
          base: row.base,
          source: row.source,
          rate: { num: row.num, den: row.den },
          pricedAt: row.priced_at,
        });
      } else if (row.units !== null && row.fetched_at !== null) {
        gasUnits = row.units;
        gasAgeMs = Date.now() - row.fetched_at.getTime();
      }
    }
    return { prices, gasUnits, gasAgeMs };
  },

  /** @param made.orderId the order it is taken by at once, or null */
  insert(
    tx: Tx,
    quote: Quote,
    { prices, fiatUnits, orderId }: { prices: unknown[]; fiatUnits: bigint; orderId: bigint | null },
  ): void {
    tx.send(quoteSql.insert, [
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
    ]);
  },

  /** What a partner's live quotes of a fiat come to, in its units. */
  async liveUnits(tx: Tx, ask: { partnerId: bigint; fiat: string; now: Date }): Promise<bigint> {
    const row = await tx.row<{ units: bigint }>(quoteSql.liveUnits, [ask.partnerId, ask.fiat, ask.now]);
    return row?.units ?? 0n;
  },

  async take(tx: Tx, ask: TakeAsk): Promise<Quote | undefined> {
    const row = await tx.row<QuoteRow>(quoteSql.take, [
      ask.partner.id,
      ask.market.id,
      ask.depositUnits,
      ask.now,
      ask.payoutUnits,
      ask.rate.num,
      ask.rate.den,
      ask.orderId,
    ]);
    return row === undefined ? undefined : quoteOf(row, ask.partner.id, ask.market);
  },

  async live(tx: Tx, ask: { id: bigint; market: Market; depositUnits: bigint; now: Date }): Promise<Quote | undefined> {
    const { id, market, depositUnits, now } = ask;
    const row = await tx.row<QuoteRow & { partner_id: bigint }>(quoteSql.live, [id, market.id, depositUnits, now]);
    return row === undefined ? undefined : quoteOf(row, row.partner_id, market);
  },

  async savePrices(tx: Tx, source: string, prices: readonly FetchedPrice[], now: Date): Promise<void> {
    for (const price of prices) {
      await tx.run(
        `insert into prices (source, base, quote, num, den, priced_at, fetched_at) values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (base, quote, source) do update
           set num = excluded.num, den = excluded.den, priced_at = excluded.priced_at, fetched_at = excluded.fetched_at
         where prices.priced_at <= excluded.priced_at`,
        [source, price.base, price.quote, price.rate.num, price.rate.den, price.pricedAt, now],
      );
    }
  },

  /** What prices are composed of that is not one source's own: what a USDT is in dollars, and a dollar in other currencies. */
  sharedLegs: (tx: Tx): Promise<KeptPrice[]> =>
    tx
      .rows<{ source: string; base: string; quote: string; num: bigint; den: bigint; priced_at: Date }>(
        `select source, base, quote, num, den, priced_at from prices where base = 'usd' or (base = 'usdt' and quote = 'usd')`,
      )
      .then((rows) =>
        rows.map(({ source, base, quote, num, den, priced_at }) => ({
          source,
          base,
          quote,
          rate: { num, den },
          pricedAt: priced_at,
        })),
      ),

  async pauseOf(tx: Tx, source: string): Promise<{ failures: number; pausedUntil: Date | null }> {
    const row = await tx.row<{ failures: number; paused_until: Date | null }>(
      'select failures, paused_until from price_sources where source = $1',
      [source],
    );
    return { failures: row?.failures ?? 0, pausedUntil: row?.paused_until ?? null };
  },

  heard: (tx: Tx, source: string, now: Date) =>
    tx.run(
      `insert into price_sources (source, last_success_at) values ($1, $2)
       on conflict (source) do update set last_success_at = excluded.last_success_at, failures = 0, paused_until = null`,
      [source, now],
    ),

  failed: (tx: Tx, source: string, { why, now, pausedUntil }: { why: string; now: Date; pausedUntil: Date }) =>
    tx.run(
      `insert into price_sources (source, last_failure_at, last_failure, failures, paused_until) values ($1, $2, $3, 1, $4)
       on conflict (source) do update
         set last_failure_at = excluded.last_failure_at, last_failure = excluded.last_failure,
             failures = price_sources.failures + 1, paused_until = excluded.paused_until`,
      [source, now, why, pausedUntil],
    ),

  sourceHealth: (tx: Tx): Promise<SourceHealth[]> =>
    tx.rows<SourceHealth>(
      `select source, last_success_at as "lastSuccessAt", last_failure_at as "lastFailureAt",
              last_failure as "lastFailure", failures
         from price_sources order by source`,
    ),

  /** Quotes that expired long ago and were not taken. */
  bringForward: (tx: Tx, { partnerId, ms }: { partnerId: bigint; ms: number }) =>
    tx.run(
      `update quotes set expires_at = expires_at - $2::float8 * interval '1 millisecond'
        where partner_id = $1 and order_id is null and expires_at > created_at`,
      [partnerId, ms],
    ),

  purge: (tx: Tx, before: Date) =>
    tx.run(
      `delete from quotes where id in
         (select id from quotes where order_id is null and expires_at < $1 order by expires_at limit 1000)`,
      [before],
    ),

  /**
   * Age of the newest price of a coin per source, milliseconds. Currencies' daily rates are not coins, and a source not
   * heard for a day is one that is no longer asked; what is asked has its own health.
   */
  async priceAges(tx: Tx): Promise<{ source: string; ageMs: number }[]> {
    const rows = await tx.rows<{ source: string; newest: Date }>(
      `select source, max(priced_at) as newest from prices
        where base <> 'usd' and fetched_at > now() - interval '1 day' group by source order by source`,
    );
    return rows.map((row) => ({ source: row.source, ageMs: Date.now() - row.newest.getTime() }));
  },
};
