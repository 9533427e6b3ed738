/**
 * Fees owed to partners: earned with each order, returned with some refunds, and settled by a transfer to the partner. Two
 * operators name the debit that paid a partner; the settlement's entry id contains the id of that debit's entry.
 *
 * Not here: who may settle, and which debits qualify (orders/custody/correct.ts).
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { chart } from './chart.ts';
import { entriesBefore, owedBefore, startOfDay, transfersOf } from './daily.ts';

export const PARTNER_SETTLEMENT = 'partner_settlement';
/** Undoes a settlement whose debit turned out to be one of our payouts. */
export const PARTNER_SETTLEMENT_UNDONE = 'partner_settlement_undone';
export const SETTLEMENTS = [PARTNER_SETTLEMENT, PARTNER_SETTLEMENT_UNDONE] as const;

export interface PartnerFees {
  /** YYYY-MM-DD, UTC; null for the balance at the beginning of the span. */
  day: string | null;
  asset: AssetCode;
  /** Number of postings of each kind. */
  postings: { fees_earned: bigint; fees_returned: bigint; fees_settled: bigint };
  earnedUnits: bigint;
  /** Returned when a conversion was undone. */
  returnedUnits: bigint;
  settledUnits: bigint;
}

/** Up to this span its entries are read; beyond it the postings of the partner's accounts, however long ago. */
const SHORT_MS = 31 * 86_400_000;

/**
 * Fees of a partner: first what it was owed at `from`, as a row without a day; then, per day until `until`, what it earned, what
 * it returned and what it was paid. One statement reads both, so the days continue the opening balance exactly. The cost grows
 * with the entries of the span and of the day of `from`; in a span of more than a month, with the postings to the partner's accounts.
 *
 * @param input.assets the assets to include
 */
export async function partnerFees(
  tx: Tx,
  input: { partnerId: bigint; assets: readonly AssetCode[]; from: Date; until: Date },
): Promise<PartnerFees[]> {
  const isShort = input.until.getTime() - input.from.getTime() <= SHORT_MS;
  const moved = isShort
    ? `${transfersOf('(select id, at, kind from entries where at >= $2 and at < $3 order by at offset 0)')}
        join account a on a.id in (t.debit, t.credit) where t.step in ('post', 'settle')`
    : `account a join transfers t on (t.debit = a.id or t.credit = a.id) and t.step in ('post', 'settle')
        join entries i on i.id = t.entry where i.at >= $2 and i.at < $3`;
  const rows = await tx.rows<PartnerFeesRow>(
    `with account as materialized (select id, code, asset from accounts where code = any($1)),
          before as materialized (${entriesBefore('$2', '$5')}),
          opening as materialized (${owedBefore('account', 'before', '$5')}),
          moved as (
            select a.asset, i.at, i.kind, case when t.credit = a.id then t.units else -t.units end as units from ${moved})
     select null as day, a.asset, 0::bigint as earned, 0::bigint as returned, 0::bigint as settled,
            coalesce((select sum(o.units) from opening o where o.id = a.id), 0)::numeric(78,0) as earned_units,
            0::numeric(78,0) as returned_units, 0::numeric(78,0) as settled_units
       from account a
     union all
     select to_char(at at time zone 'UTC', 'YYYY-MM-DD'), asset,
            count(*) filter (where units > 0 and kind <> all($4)), count(*) filter (where units < 0 and kind <> all($4)),
            count(*) filter (where kind = any($4)),
            coalesce(sum(units) filter (where units > 0 and kind <> all($4)), 0)::numeric(78,0),
            coalesce(sum(-units) filter (where units < 0 and kind <> all($4)), 0)::numeric(78,0),
            coalesce(sum(-units) filter (where kind = any($4)), 0)::numeric(78,0)
       from moved group by 1, 2
     order by 2, 1 nulls first`,
    [
      input.assets.map((asset) => chart.feePartner(input.partnerId, asset).code),
      ...[input.from, input.until, SETTLEMENTS, startOfDay(input.from)],
    ],
  );
  return rows.map(({ earned, returned, settled, ...row }) => ({
    ...row,
    postings: { fees_earned: earned, fees_returned: returned, fees_settled: settled },
  }));
}

type PartnerFeesRow = Omit<PartnerFees, 'postings'> & { earned: bigint; returned: bigint; settled: bigint };

/**
 * Verifies settlements: each takes from the partner exactly the amount of the debit in its id, and no other entry explains that
 * debit. If the debit turned out to be a payout, both entries are undone. Calls `tell` for each settlement that violates this.
 */
export async function checkSettlements(tx: Tx, tell: (entry: string, why: string) => void): Promise<void> {
  const rows = await tx.rows<SettlementRow>(
    `with settled as (
            select e.id, regexp_replace(e.id, ':[^:]*$', '') as debit, sum(t.units) as units, min(t.asset) as asset,
                   bool_and(d.kind = 'fee_partner' and c.kind = 'loss') and count(distinct t.asset) = 1 as is_plain
              from entries e join transfers t on t.entry = e.id
              join accounts d on d.id = t.debit join accounts c on c.id = t.credit
             where e.kind = $1 group by e.id)
     select s.id, s.units::numeric(78,0) as settled, s.is_plain,
            coalesce((select sum(t.units) from transfers t join accounts a on a.id = t.debit and a.kind = 'loss'
                       where t.entry = s.debit and t.asset = s.asset), 0)::numeric(78,0) as gone,
            coalesce((select sum(t.units) from transfers t where t.entry = s.id || ':undone'), 0)::numeric(78,0) as undone,
            exists (select from entries where id = s.debit || ':undone') as is_debit_undone,
            exists (select from entries where id = any(array[s.debit || ':fee', s.debit || ':recall', s.debit || ':order']))
              as is_twice
       from settled s order by s.id`,
    [PARTNER_SETTLEMENT],
  );
  for (const row of rows) {
    const why = whatIsWrong(row);
    if (why !== undefined) tell(row.id, why);
  }
}

interface SettlementRow {
  id: string;
  settled: bigint;
  isPlain: boolean;
  gone: bigint;
  undone: bigint;
  isDebitUndone: boolean;
  isTwice: boolean;
}

/** The first rule that a settlement violates, if any. Pure. */
function whatIsWrong({ settled, isPlain, gone, undone, isDebitUndone, isTwice }: SettlementRow): string | undefined {
  if (settled !== gone) return `it settles ${settled} units, and the debit that it names was ${gone}`;
  if (!isPlain) return 'it moves other money than fees of a partner against the loss that the debit was booked as';
  if (isTwice) return 'another entry explains the same debit';
  const wasUndone = undone > 0n;
  if (isDebitUndone !== wasUndone) return 'of the settlement and its debit only one is undone';
  return !wasUndone || undone === settled ? undefined : `it settles ${settled} units, and ${undone} are undone`;
}
