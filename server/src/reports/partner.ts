/**
 * Statement of a partner: the orders of a time span and their volume; the fees that the partner earned, returned and was paid;
 * and what it was owed at both ends. Fees come from the journal, so the opening balance plus the lines equals the closing
 * balance.
 *
 * An order counts in the span in which it was created, and its volume counts once the order has settled. A fee counts on the
 * day it was booked; a span of more than a quarter has a line per month instead, so that a statement of years stays readable.
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import type { AssetCode } from '../base/money.ts';
import { type PartnerFees, partnerFees } from '../ledger/index.ts';
import { type DayRow, partnerDays } from '../orders/index.ts';
import { allMarkets } from '../partners/index.ts';

/** A quarter: up to it fees have a line per day. */
const MOST_DAYS_BY_DAY = 93;
/** Ten years. It bounds the number of rows: three per month and asset, two per market and asset. */
const MOST_DAYS = 3_653;
const DAY_MS = 86_400_000;

export interface PartnerRow {
  /** Of fees: YYYY-MM-DD, or YYYY-MM in a long span. Null for rows about the whole span. */
  day: string | null;
  what: 'opening' | 'paid_in' | 'paid_out' | 'fees_earned' | 'fees_returned' | 'fees_settled' | 'closing';
  marketId: bigint | null;
  asset: AssetCode;
  /** Number of settled orders, or of fee postings. Null for balances. */
  count: bigint | null;
  units: bigint;
  /** What the partner is owed after this row; null for volume. */
  owedUnits: bigint | null;
}

export interface PartnerTotal {
  asset: AssetCode;
  openingUnits: bigint;
  earnedUnits: bigint;
  returnedUnits: bigint;
  settledUnits: bigint;
  closingUnits: bigint;
}

export interface PartnerStatement {
  orders: { created: bigint; settled: bigint; refunded: bigint };
  totals: PartnerTotal[];
  lines: PartnerRow[];
}

interface Input {
  partnerId: bigint;
  from: Date;
  until: Date;
}

/** @throws Refusal 'malformed_field' for a longer span */
export async function partnerStatement(tx: Tx, input: Input): Promise<PartnerStatement> {
  const { orders, lines } = await partnerVolume(tx, input);
  const fees = await partnerAccount(tx, input);
  return { orders, totals: fees.totals, lines: [...lines, ...fees.lines] };
}

/** The part from the orders. */
export async function partnerVolume(tx: Tx, input: Input): Promise<Pick<PartnerStatement, 'orders' | 'lines'>> {
  requireSpan(input);
  const days = await partnerDays(tx, input);
  const sum = (name: 'created' | 'settled' | 'refunded') => days.reduce((all, day) => all + day[name], 0n);
  return {
    orders: { created: sum('created'), settled: sum('settled'), refunded: sum('refunded') },
    lines: volumes(days),
  };
}

/** The part from the journal, which only the system role may read. */
export async function partnerAccount(tx: Tx, input: Input): Promise<Pick<PartnerStatement, 'totals' | 'lines'>> {
  const spanMs = requireSpan(input);
  const assets = [...new Set((await allMarkets(tx)).map(({ fiat }) => fiat.code))];
  const booked = await partnerFees(tx, { ...input, assets });
  return feeLines(spanMs > MOST_DAYS_BY_DAY * DAY_MS ? byMonth(booked) : booked);
}

/** @throws Refusal 'malformed_field' */
function requireSpan({ from, until }: Input): number {
  const spanMs = until.getTime() - from.getTime();
  if (spanMs > MOST_DAYS * DAY_MS)
    throw new Refusal('malformed_field', { fields: { until: `must be at most ${MOST_DAYS} days after from` } });
  return spanMs;
}

/** Pure. Deposits and payouts of settled orders, by market. */
export function volumes(days: readonly DayRow[]): PartnerRow[] {
  const sums = new Map<string, PartnerRow & { count: bigint }>();
  const add = (what: 'paid_in' | 'paid_out', { marketId, settled }: DayRow, asset: AssetCode, units: bigint) => {
    const key = `${marketId} ${what} ${asset}`;
    const row = sums.get(key) ?? { day: null, what, marketId, asset, count: 0n, units: 0n, owedUnits: null };
    row.count += settled;
    row.units += units;
    sums.set(key, row);
  };
  for (const day of days.filter(({ settled }) => settled > 0n)) {
    add('paid_in', day, day.depositAsset, day.depositUnits);
    add('paid_out', day, day.payoutAsset, day.payoutUnits);
  }
  return [...sums.values()].sort(
    (a, b) => Number((a.marketId ?? 0n) - (b.marketId ?? 0n)) || (a.what < b.what ? -1 : 1),
  );
}

/** Pure. The days of each month as one, in the order of the months; balances stay as they are. */
export function byMonth(fees: readonly PartnerFees[]): PartnerFees[] {
  const months = new Map<string, PartnerFees>();
  for (const { day, ...one } of fees) {
    const month = day?.slice(0, 7) ?? null;
    const key = `${one.asset} ${month}`;
    const sum = months.get(key);
    if (sum === undefined) {
      months.set(key, { ...one, postings: { ...one.postings }, day: month });
      continue;
    }
    for (const name of ['earnedUnits', 'returnedUnits', 'settledUnits'] as const) sum[name] += one[name];
    for (const what of ['fees_earned', 'fees_returned', 'fees_settled'] as const)
      sum.postings[what] += one.postings[what];
  }
  return [...months.values()];
}

/** Pure. @param fees by asset: the opening balance, then the days in order */
export function feeLines(fees: readonly PartnerFees[]): { totals: PartnerTotal[]; lines: PartnerRow[] } {
  const lines: PartnerRow[] = [];
  const totals: PartnerTotal[] = [];
  for (const [asset, rows] of Map.groupBy(fees, (row) => row.asset)) {
    const openingUnits = rows.find(({ day }) => day === null)?.earnedUnits ?? 0n;
    let owedUnits = openingUnits;
    const end = (what: 'opening' | 'closing'): PartnerRow => ({
      ...{ day: null, what, marketId: null, asset, count: null, units: owedUnits, owedUnits },
    });
    lines.push(end('opening'));
    const all = { earnedUnits: 0n, returnedUnits: 0n, settledUnits: 0n };
    for (const { day, postings, ...of } of rows.filter((row) => row.day !== null))
      for (const [name, what, sign] of [
        ['earnedUnits', 'fees_earned', 1n],
        ['returnedUnits', 'fees_returned', -1n],
        ['settledUnits', 'fees_settled', -1n],
      ] as const) {
        const units = sign * of[name];
        if (units === 0n) continue;
        all[name] += of[name];
        owedUnits += units;
        lines.push({ day, what, marketId: null, asset, count: postings[what], units, owedUnits });
      }
    lines.push(end('closing'));
    totals.push({ asset, openingUnits, ...all, closingUnits: owedUnits });
  }
  return { totals, lines };
}
