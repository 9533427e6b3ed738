/**
 * What the journal says moved in a rail's wallets: for reconciliation, each line once.
 *
 * Entries are taken by their seals, which put every committed entry in one order and none twice; the newest, not sealed
 * yet, come at the end and are to be taken again, so the taker keeps each line under its entry and number.
 *
 * What a wallet gave beyond what the books had free there stands as `uncovered`: the outside knows it as one movement with
 * the rest, so it counts as moved, too.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { LOOK_BACK } from './seals.ts';

export interface CustodyLine {
  entry: string;
  line: number;
  kind: string;
  facts: Readonly<Record<string, unknown>>;
  hold: string | null;
  /** Null of what is uncovered: of the wallet whose line stands beside it. */
  wallet: string | null;
  asset: AssetCode;
  /** Signed: above zero came in. */
  units: bigint;
}

/** Entries taken at a time, as far as whole seals allow. */
const PAGE_SEALS = 5_000;
const PAGE_ENTRIES = 5_000;

/**
 * Lines of the seals after one. At the end also those of entries that no seal covers yet.
 *
 * @returns `seal` is where the next call goes on
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

async function lines(tx: Tx, rail: string, entries: string, values: readonly unknown[]): Promise<CustodyLine[]> {
  return await tx.rows<CustodyLine>(
    `select e.id as entry, t.line::int as line, e.kind, e.facts, t.hold, t.asset,
            case when a.kind = 'custody' then split_part(a.code, ':', 3) end as wallet,
            -- Custody stands on the debit side. What is uncovered has left as well, and its account is credited for it.
            case when (t.debit = a.id) then t.units else -t.units end as units
       from entries e
       join transfers t on t.entry = e.id and t.step in ('post', 'settle')
       join accounts a on a.id in (t.debit, t.credit)
      where e.seq in (${entries}) and a.kind in ('custody', 'uncovered') and split_part(a.code, ':', 2) = $1
      order by e.seq, t.line`,
    [rail, ...values],
  );
}
