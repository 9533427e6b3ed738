/**
 * Movements in a rail's wallets according to the journal, each line once. Reconciliation reads them.
 *
 * Entries are read by seal: seals put every committed entry into one order, exactly once. Entries that are not sealed yet come at
 * the end and are returned again by a later call, so the caller stores each line under its entry and number.
 *
 * The account `uncovered` has what a wallet paid beyond its free balance in the books. At bank or chain that part and the rest
 * are one movement, so its lines count as movements, too.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { LOOK_BACK } from './seals.ts';
import { EITHER_SIDE } from './store.ts';

export interface CustodyLine {
  entry: string;
  line: number;
  kind: string;
  facts: Readonly<Record<string, unknown>>;
  hold: string | null;
  /** Null for the uncovered part: it belongs to the wallet of the entry's other line. */
  wallet: string | null;
  asset: AssetCode;
  /** Signed: positive is incoming. */
  units: bigint;
}

/** Limits per call: this many seals, and about this many entries, because a seal is never split. */
const PAGE_SEALS = 5_000;
const PAGE_ENTRIES = 5_000;

/**
 * Lines of the seals after the given one. The last page also has the lines of entries that no seal covers yet.
 *
 * @returns `seal` is where the next call continues
 */
export async function custodyLines(
  tx: Tx,
  rail: string,
  afterSeal: bigint,
): Promise<{ lines: CustodyLine[]; seal: bigint; more: boolean }> {
  const end = await tx.row<{ seal: bigint | null; last: bigint | null }>(
    `with ahead as (
       select number, sum(entries) over (order by number) - entries as before
         from (select number, entries from seals where number > $1 order by number limit ${PAGE_SEALS}) s)
     select max(number) filter (where before < ${PAGE_ENTRIES}) as seal, (select max(number) from seals) as last from ahead`,
    [afterSeal],
  );
  const seal = end?.seal ?? afterSeal;
  const more = seal < (end?.last ?? 0n);
  const sealed = await lines(tx, rail, 'select entry_seq from sealed_entries where seal > $2 and seal <= $3', [
    afterSeal,
    seal,
  ]);
  if (more) return { lines: sealed, seal, more };
  const fresh = await lines(
    tx,
    rail,
    `select seq from entries e where seq > coalesce((select last_seq from seals order by number desc limit 1), 0) - $2::bigint
        and not exists (select from sealed_entries where entry_seq = e.seq)`,
    [LOOK_BACK],
  );
  return { lines: [...sealed, ...fresh], seal, more };
}

/**
 * The highest sequence number of an entry. While it does not change nothing was booked, except for entries that drew a lower
 * number and committed later.
 */
export async function newestEntry(tx: Tx): Promise<bigint> {
  const row = await tx.row<{ seq: bigint }>('select coalesce(max(seq), 0) as seq from entries');
  return row?.seq ?? 0n;
}

async function lines(tx: Tx, rail: string, entries: string, values: readonly unknown[]): Promise<CustodyLine[]> {
  return await tx.rows<CustodyLine>(
    `select e.id as entry, t.line::int as line, e.kind, e.facts, t.hold, t.asset,
            case when a.kind = 'custody' then split_part(a.code, ':', 3) end as wallet,
            -- Custody stands on the debit side. What is uncovered has left as well, and its account is credited for it.
            case when (t.debit = a.id) then t.units else -t.units end as units
       from entries e
       join transfers t on t.entry = e.id and t.step in ('post', 'settle') ${EITHER_SIDE}
      where e.seq in (${entries}) and a.kind in ('custody', 'uncovered') and split_part(a.code, ':', 2) = $1
      order by e.seq, t.line`,
    [rail, ...values],
  );
}
