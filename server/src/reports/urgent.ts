/**
 * Open cases that need a person, the most urgent first: overdue ones, then by the worth of the money at risk, then the oldest.
 * Over all open cases, so that neither an old nor a new one is missed; the list shows the first ones and counts the others.
 *
 * The money at risk of a case is, in this order: the amount that the case names; what the two sides of its break differ by; its
 * deposit; what its order has received, or else waits for. A case about no money has none. What has a known worth comes before
 * what has only an amount, because an amount without a price cannot be compared.
 *
 * One statement reads every open case with its deposit, order and break: some milliseconds for a thousand of them.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { pow10 } from '../base/money.ts';
import { CASE_KINDS, DUE, OTHERS } from '../compliance/index.ts';
import { assets } from '../partners/index.ts';
import { type PairPrice, type Worth, worthIn } from './worth.ts';

export interface UrgentCase {
  id: bigint;
  kind: string;
  subject: string;
  orderId: bigint | null;
  partnerId: bigint | null;
  reason: string;
  assignee: string | null;
  openedAt: Date;
  dueAt: Date;
  isOverdue: boolean;
  /** The money at risk; null if the case is about none. */
  asset: AssetCode | null;
  units: bigint | null;
  /** Its worth in hundredths of the unit; null without a price. */
  worthCents: bigint | null;
}

export interface CaseKindCount {
  kind: string;
  open: number;
  overdue: number;
  unclaimed: number;
  oldestAt: Date;
  claimers: string[];
}

export interface UrgentCases {
  cases: UrgentCase[];
  /** The coin of `worthCents`; null without any price. */
  unit: string | null;
  /** Open cases that need a person. */
  total: number;
  /** Every kind with an open case, also those that need no action. */
  kinds: CaseKindCount[];
}

/** Places of the worth. */
export const WORTH_PLACES = 2;
/** A daily rate may be as old as the longest gap between two of them (quotes/crosses.ts). */
const PRICE_DAYS = 7;
/** Kinds that wait for a time or a law, and for no person. */
const WAIT_FOR_NOBODY = Object.entries(CASE_KINDS)
  .filter(([, { who }]) => who === 'nobody')
  .map(([kind]) => kind);

const PRICES = `select base, quote, num, den from prices where fetched_at > now() - make_interval(days => ${PRICE_DAYS})`;

const NUMBER = '^-?[0-9]{1,60}([.][0-9]{1,36})?$';
const DUE_AT = `c.opened_at + make_interval(hours => coalesce(
  (select h.hours from unnest($1::text[], $2::int[]) as h(kind, hours) where h.kind = c.kind), $3))`;

/** Facts are text in smallest units; `missing` is a decimal. Of a wallet below its threshold, what is missing up to it. */
const URGENT = `with named as (
  select c.*, ${DUE_AT} as due_at, n.decimals,
         case when c.facts->>'units' ~ '${NUMBER}' then (c.facts->>'units')::numeric end as units,
         case when c.facts->>'alarm' ~ '${NUMBER}' then (c.facts->>'alarm')::numeric end as alarm,
         case when c.facts->>'missing' ~ '${NUMBER}' then (c.facts->>'missing')::numeric end as missing
    from cases c left join assets n on n.code = c.facts->>'asset'
   where c.closed_at is null and c.kind <> all($4)),
amounts as (
  select c.id, c.kind, c.subject, c.order_id, c.partner_id, c.reason, c.assignee, c.opened_at, c.due_at, c.due_at <= $5 as is_overdue,
         case when c.decimals is not null and coalesce(c.units, c.missing) is not null then c.facts->>'asset'
              else coalesce(i.asset, d.asset, o.deposit_asset) end as asset,
         trunc(abs(case when c.decimals is not null and c.alarm is not null then greatest(c.alarm - coalesce(c.units, 0), 0)
                  when c.decimals is not null and c.units is not null then c.units
                  when c.decimals is not null and c.missing is not null then c.missing * 10::numeric ^ c.decimals
                  else coalesce(i.outside_units - i.ledger_units, d.units, nullif(o.received_units, 0), o.deposit_units) end)) as units
    from named c
    left join deposits d on d.id = (substring(c.subject from '^deposit:([1-9][0-9]{0,17})$'))::bigint
    left join orders o on o.id = c.order_id
    left join reconcile_items i on i.closed_at is null and i.kind = c.kind
      and c.subject = 'reconcile:' || i.rail || ':' || i.wallet || ':' || i.asset || ':' || i.key)
select a.*, trunc(a.units * r.num / r.den) as worth_cents, count(*) over () as total
  from amounts a
  left join unnest($6::text[], $7::numeric[], $8::numeric[]) as r(asset, num, den) on r.asset = a.asset
 order by a.is_overdue desc, worth_cents desc nulls last, a.units is null, a.opened_at, a.id limit $9`;

const KINDS = `select kind, count(*)::int as open, count(*) filter (where due_at <= $4)::int as overdue,
       count(*) filter (where assignee is null)::int as unclaimed, min(opened_at) as oldest_at,
       coalesce(array_agg(distinct assignee) filter (where assignee is not null), '{}') as claimers
  from (select c.kind, c.assignee, c.opened_at, ${DUE_AT} as due_at from cases c where c.closed_at is null) one
 group by kind order by oldest_at, kind`;

export async function urgentCases(tx: Tx, { now, limit }: { now: Date; limit: number }): Promise<UrgentCases> {
  const worth = worthIn(await tx.rows<PairPrice>(PRICES));
  const rates = await ratesOf(tx, worth);
  const found = await tx.rows<UrgentCase & { total: bigint }>(URGENT, [
    ...[DUE.kinds, DUE.hours, OTHERS, WAIT_FOR_NOBODY, now],
    ...[rates.map(({ asset }) => asset), rates.map(({ num }) => num), rates.map(({ den }) => den), limit],
  ]);
  const kinds = await tx.rows<CaseKindCount>(KINDS, [DUE.kinds, DUE.hours, OTHERS, now]);
  return {
    cases: found.map((row) => {
      const { total: _, ...one } = row;
      return one;
    }),
    unit: worth?.unit ?? null,
    total: Number(found[0]?.total ?? 0n),
    kinds,
  };
}

/** Hundredths of the unit for one smallest unit of each asset whose coin has a price. */
async function ratesOf(tx: Tx, worth: Worth | undefined): Promise<{ asset: AssetCode; num: bigint; den: bigint }[]> {
  return [...(await assets(tx)).values()].flatMap(({ code, coin, decimals }) => {
    const rate = worth?.rates.get(coin);
    if (rate === undefined) return [];
    return [{ asset: code, num: rate.num * pow10(WORTH_PLACES), den: rate.den * pow10(decimals) }];
  });
}
