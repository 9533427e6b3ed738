/** SQL of the bank engine: how far a statement was read, every line once, and the lines that could not be booked. */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import type { StatementLine } from './bank.adapter.ts';
import type { FollowOn } from './rail.ts';

export type LineMeaning = 'deposit' | 'funding' | 'return' | 'payout' | 'recall' | 'unexplained';

export interface BankLine {
  direction: 'credit' | 'debit';
  asset: AssetCode;
  units: bigint;
  meaning: LineMeaning;
  key: string | null;
  chargeUnits: bigint;
}

export const readCursor = async (tx: Tx, rail: string): Promise<string> =>
  (await tx.row<{ cursor: string }>('select cursor from bank_cursors where rail = $1', [rail]))?.cursor ?? '';

/** The bank time up to which the statement of an asset was read. */
export const readToOf = async (tx: Tx, rail: string, asset: AssetCode): Promise<Date | undefined> => {
  const row = await tx.row<{ at: string | null }>('select read_to ->> $2 as at from bank_cursors where rail = $1', [
    rail,
    asset,
  ]);
  return row?.at == null ? undefined : new Date(row.at);
};

/** A newer time of reading is stored only if it is newer by this much, because most reads find nothing new. */
const READ_EVERY_S = 2;

/**
 * Stores the statement cursor and the times up to which every line was processed, unless the row has another cursor meanwhile:
 * another process has moved it, or the database is an older one. A time never moves back. One statement does both, because this
 * is the most frequent write of an idle bank rail.
 *
 * @param how.readTo.isStated whether the bank states the times; otherwise they are the times of our requests, of which only a few
 *   are stored. `readTo` is absent while the bank has more to show.
 */
export async function moveCursor(
  tx: Tx,
  rail: string,
  { from, to, readTo }: { from: string; to: string; readTo: ReadTo | undefined },
): Promise<void> {
  const times = Object.values(readTo?.to ?? {}).map((at) => at.toISOString());
  await tx.run(
    `insert into bank_cursors as b (rail, cursor, read_at, read_to)
     select $1, $3, clock_timestamp(), coalesce(jsonb_object_agg(n.asset, n.at), '{}')
       from unnest($5::text[], $6::text[]) as n (asset, at)
     on conflict (rail) do update
       set cursor = excluded.cursor, read_at = excluded.read_at,
           read_to = b.read_to || coalesce((
             select jsonb_object_agg(n.asset, n.at) from unnest($5::text[], $6::text[]) as n (asset, at)
              where coalesce(b.read_to ->> n.asset, '') < n.at), '{}')
       where b.cursor = $2 and ($2 <> excluded.cursor
          or b.read_at < excluded.read_at - make_interval(secs => $4)
          or exists (select from unnest($5::text[], $6::text[]) as n (asset, at)
            where coalesce(b.read_to ->> n.asset, '') < n.at
              and coalesce((b.read_to ->> n.asset)::timestamptz, '-infinity') <= n.at::timestamptz - make_interval(secs => $7)))`,
    [rail, from, to, READ_EVERY_S, Object.keys(readTo?.to ?? {}), times, readTo?.isStated === true ? 0 : READ_EVERY_S],
  );
}

export interface ReadTo {
  to: Readonly<Record<AssetCode, Date>>;
  isStated: boolean;
}

/** Real milliseconds since the statement was last read; null before the first read. */
export const cursorAgeMs = async (tx: Tx, rail: string): Promise<number | null> =>
  (
    await tx.row<{ ageMs: number }>(
      `select (extract(epoch from clock_timestamp() - read_at) * 1000)::float8 as age_ms from bank_cursors where rail = $1`,
      [rail],
    )
  )?.ageMs ?? null;

export const readLine = (tx: Tx, rail: string, externalId: string): Promise<BankLine | undefined> =>
  tx.row<BankLine>(
    `select direction, asset, units, meaning, key, charge_units from bank_lines where rail = $1 and external_id = $2`,
    [rail, externalId],
  );

/** @returns whether the line is new */
export async function insertLine(
  tx: Tx,
  rail: string,
  line: BankLine & { externalId: string; reference: string; details: Buffer; textIndex: Buffer; bookedAt: Date },
): Promise<boolean> {
  const rows = await tx.run(
    `insert into bank_lines (rail, external_id, direction, asset, units, details, meaning, key, charge_units, booked_at, read_at,
       reference, text_index)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, clock_timestamp(), nullif($11, ''), $12)
     on conflict (rail, external_id) do nothing`,
    [
      rail,
      line.externalId,
      line.direction,
      line.asset,
      line.units,
      line.details,
      line.meaning,
      line.key,
      line.chargeUnits,
      line.bookedAt,
      line.reference,
      line.textIndex,
    ],
  );
  return rows > 0;
}

/**
 * Whether a line of this meaning exists for a payout. A debit that two operators declared to have paid several payouts has the
 * key of none of them: each payout has the debit's id as its reference.
 */
export const hasLine = async (tx: Tx, rail: string, key: string, meaning: LineMeaning): Promise<boolean> =>
  (await tx.row(
    `select from bank_lines where rail = $1 and key = $2 and meaning = $3
     union all
     select from payouts p join bank_lines l on l.rail = p.rail and l.external_id = p.reference
      where p.rail = $1 and p.id = $2 and p.ended_at is not null and $3 = 'payout' and l.meaning = 'payout'
     limit 1`,
    [rail, key, meaning],
  )) !== undefined;

/** How much of a credit its bank has recalled so far. */
export const recalledUnits = async (tx: Tx, rail: string, key: string): Promise<bigint> =>
  (
    await tx.row<{ units: bigint }>(
      `select coalesce(sum(units), 0) as units from bank_lines where rail = $1 and key = $2 and meaning = 'recall'`,
      [rail, key],
    )
  )?.units ?? 0n;

export interface UnexplainedLine {
  externalId: string;
  asset: AssetCode;
  units: bigint;
  chargeUnits: bigint;
  key: string | null;
  bookedAt: Date;
}

const UNEXPLAINED = `external_id, asset, units, charge_units, key, booked_at`;

/** Debits without a payout, locked: one by its id, or those that have a payout's key. */
export const lockUnexplained = (
  tx: Tx,
  rail: string,
  input: { externalId: string } | { key: string },
): Promise<UnexplainedLine[]> =>
  tx.rows<UnexplainedLine>(
    `select ${UNEXPLAINED} from bank_lines
      where rail = $1 and direction = 'debit' and meaning = 'unexplained' and ${'key' in input ? 'key' : 'external_id'} = $2
      order by external_id limit 10 for update`,
    [rail, 'key' in input ? input.key : input.externalId],
  );

export interface DoubtfulLine {
  externalId: string;
  key: string | null;
  units: bigint;
}

/**
 * Unexplained debits read since the first restore that operators have not decided about, with this amount or this key prefix. A
 * debit with the key of another payout in these books belongs to that payout.
 *
 * @param input.own the key of an existing payout: a debit with this key is that payout's, whatever operators decided earlier
 * @param input.followOn for a follow-on order created since that restore: then a debit may have any amount, if it has no key or
 *   that of a lost payout
 */
export const doubtfulDebits = (
  tx: Tx,
  rail: string,
  input: { asset: AssetCode; units: bigint; keys: string; own?: string; followOn?: FollowOn | undefined },
): Promise<DoubtfulLine[]> =>
  tx.rows<DoubtfulLine>(
    `select external_id, key, units from bank_lines l
      where rail = $1 and asset = $2 and direction = 'debit' and meaning = 'unexplained' and (foreign_at is null or key = $6)
        and read_at >= (select min(restored_at) from restores)
        and (starts_with(coalesce(key, ''), $4)
             or (units = $3 and not exists (select from payouts p where p.id = l.key))
             or ($5::timestamptz > (select min(restored_at) from restores) and coalesce(starts_with(l.key, 'pay_'), true)
                 and not exists (select from payouts p where p.id = l.key)))
      order by starts_with(coalesce(key, ''), $4) desc, units = $3 desc, external_id limit 10`,
    [rail, input.asset, input.units, input.keys, input.followOn?.madeAt ?? null, input.own ?? null],
  );

/**
 * Whether an undecided unexplained debit of the asset, read since a restore, may be a refund that the books have lost: it has the
 * key of a refund without a row, whatever a charge added to it, or no key and not more than `atMost`.
 *
 * @param of.atMost null where a debit may be several payments, such as a whole file
 */
export const hasUnknownRefund = async (
  tx: Tx,
  rail: string,
  of: { asset: AssetCode; atMost: bigint | null },
): Promise<boolean> =>
  (await tx.row(
    `select from bank_lines l
      where rail = $1 and asset = $2 and direction = 'debit' and meaning = 'unexplained' and foreign_at is null
        and read_at >= (select min(restored_at) from restores)
        and (key is null and ($3::bigint is null or units <= $3)
             or starts_with(key, 'ref_') and not exists (select from payouts p where p.id = l.key))
      limit 1`,
    [rail, of.asset, of.atMost],
  )) !== undefined;

/** An unexplained debit shown since a payout's first submission, with its key, or with its amount and no known key. */
export const debitLike = (
  tx: Tx,
  rail: string,
  input: { key: string; asset: AssetCode; units: bigint },
): Promise<{ externalId: string } | undefined> =>
  tx.row(
    `select external_id from bank_lines l
      where rail = $1 and asset = $2 and direction = 'debit' and meaning = 'unexplained'
        and (key = $4 or (units = $3 and foreign_at is null and not exists (select from payouts p where p.id = l.key)))
        and read_at >= coalesce((select first_submission_at from payouts p where p.id = $4), '-infinity')
      order by key = $4 desc nulls last, external_id limit 1`,
    [rail, input.asset, input.units, input.key],
  );

/** Marks a debit as paying no payout of ours. @returns 0 if no such debit is unexplained and undecided */
export const markForeign = (tx: Tx, rail: string, externalId: string): Promise<number> =>
  tx.run(
    `update bank_lines set foreign_at = clock_timestamp()
      where rail = $1 and external_id = $2 and direction = 'debit' and meaning = 'unexplained' and foreign_at is null`,
    [rail, externalId],
  );

/** State of an unexplained debit, locked. */
export const lockDebit = (
  tx: Tx,
  rail: string,
  externalId: string,
): Promise<
  { asset: AssetCode; units: bigint; meaning: LineMeaning; foreignAt: Date | null; key: string | null } | undefined
> =>
  tx.row(
    `select asset, units, meaning, foreign_at, key from bank_lines
      where rail = $1 and external_id = $2 and direction = 'debit' for update`,
    [rail, externalId],
  );

/** Links the debit to this payout, or to the file of several. */
export const explainLine = (tx: Tx, rail: string, externalId: string, key: string): Promise<number> =>
  tx.run(
    `update bank_lines set meaning = 'payout', key = $3 where rail = $1 and external_id = $2 and meaning = 'unexplained'`,
    [rail, externalId, key],
  );

/** @returns whether the line is new with this content */
export async function insertOddLine(
  tx: Tx,
  rail: string,
  odd: { externalId: string; content: Buffer; why: string; details: Buffer },
): Promise<boolean> {
  const rows = await tx.run(
    `insert into bank_odd_lines (rail, external_id, content, why, details, read_at)
     values ($1, $2, $3, $4, $5, clock_timestamp()) on conflict do nothing`,
    [rail, odd.externalId, odd.content, odd.why, odd.details],
  );
  return rows > 0;
}

/** The account's balance according to the lines, for reconciliation with the bank's own balance. */
export const sumOfLines = async (tx: Tx, rail: string, asset: AssetCode): Promise<bigint> =>
  (
    await tx.row<{ units: bigint }>(
      `select coalesce(sum(case direction when 'credit' then units else -units - charge_units end), 0)::numeric as units
         from bank_lines where rail = $1 and asset = $2`,
      [rail, asset],
    )
  )?.units ?? 0n;

/** The encrypted details of a line's other party. */
export const readDetails = async (tx: Tx, rail: string, externalId: string): Promise<Buffer | undefined> =>
  (
    await tx.row<{ details: Buffer | null }>('select details from bank_lines where rail = $1 and external_id = $2', [
      rail,
      externalId,
    ])
  )?.details ?? undefined;

/** Decrypts what the bank says about the other party of a line, and its text. */
export const openDetails = (
  vault: Vault,
  { rail, externalId }: { rail: string; externalId: string },
  details: Buffer,
): StatementLine['free'] => JSON.parse(vault.decrypt(details, `bank_lines.details:${rail}:${externalId}`));

/**
 * Erases the payers and payees of these deposits and payouts, as the bank's statement showed them. A trigger erases the payer's
 * index with them. The amounts stay.
 */
export const eraseDetails = async (
  tx: Tx,
  input: { deposits: readonly bigint[]; payouts: readonly string[] },
): Promise<number> =>
  await tx.run(
    `update bank_lines l set details = null where details is not null and (l.key = any($2::text[])
       or exists (select from payouts p
                   where p.id = any($2::text[]) and p.rail = l.rail and p.reference = l.external_id and l.direction = 'debit')
       or exists (select from deposits d where d.id = any($1::bigint[]) and d.rail = l.rail and d.external_id = l.external_id))`,
    [input.deposits, input.payouts],
  );
