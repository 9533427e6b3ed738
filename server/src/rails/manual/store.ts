/** SQL of the manual bank: the list of payouts, the files in which they left, and the sums of statements. */
import type { Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import type { AssetCode } from '../../base/money.ts';
import { batchName } from './files.ts';
import type { FileFormat } from './settings.ts';
import { openingId } from './statements.store.ts';

/** Serializes changes to one rail's files and lists, because line numbers must become visible in their order. */
export const lockRail = (tx: Tx, rail: string): Promise<number> =>
  tx.run(`select pg_advisory_xact_lock(hashtextextended('cloverleaf manual bank ' || $1, 0))`, [rail]);

export const decimalsOf = async (tx: Tx, asset: AssetCode): Promise<number | undefined> =>
  (await tx.row<{ decimals: number }>('select decimals from assets where code = $1', [asset]))?.decimals;

// Payouts.

export interface Listed {
  key: string;
  endToEnd: string;
  asset: AssetCode;
  units: bigint;
  listedAt: Date;
  batchId: bigint | null;
  rejectedAt: Date | null;
  rejectedWhy: string | null;
}

const LISTED = `key, end_to_end, asset, units, listed_at, batch_id,
  rejected_at, rejected_why`;

/**
 * Lists a payout, unless its submission is over: a worker that was frozen meanwhile must not list a payout that another one has
 * ended. The payout's row decides, by the database's clock, as for that other worker.
 *
 * @returns whether the row is new; false if the key is already listed or its submission is over
 */
export async function insertListed(
  tx: Tx,
  rail: string,
  listed: {
    key: string;
    endToEnd: string;
    asset: AssetCode;
    units: bigint;
    details: Buffer;
    now: Date;
  },
): Promise<boolean> {
  const rows = await tx.run(
    `insert into manual_payouts (rail, key, end_to_end, asset, units, details, listed_at)
     select $1, $2, $3, $4, $5::numeric, $6, $7
      where not exists (select from payouts where rail = $1 and id = $2
                         and (state not in ('created', 'submitting') or submitting_until < clock_timestamp()))
     on conflict do nothing`,
    [rail, listed.key, listed.endToEnd, listed.asset, listed.units, listed.details, listed.now],
  );
  return rows > 0;
}

export const readListed = (tx: Tx, rail: string, key: string): Promise<Listed | undefined> =>
  tx.row<Listed>(`select ${LISTED} from manual_payouts where rail = $1 and key = $2`, [rail, key]);

export const lockListed = (tx: Tx, rail: string, key: string): Promise<Listed | undefined> =>
  tx.row<Listed>(`select ${LISTED} from manual_payouts where rail = $1 and key = $2 for update`, [rail, key]);

export const waiting = (tx: Tx, rail: string, asset: AssetCode | undefined, most: number): Promise<Listed[]> =>
  tx.rows<Listed>(
    `select ${LISTED} from manual_payouts
      where rail = $1 and ($2::text is null or asset = $2) and batch_id is null and rejected_at is null
      order by listed_at, key limit $3`,
    [rail, asset ?? null, most],
  );

const ON_LIST = `select ${LISTED}, details,
            exists (select from payouts p where p.id = manual_payouts.key and p.ended_at is not null) as ended
       from manual_payouts
      where rail = $1 and asset = $2 and batch_id is null and rejected_at is null`;
const WAITING_OF = `${ON_LIST} and key = any($3::text[]) order by listed_at, key`;
const WAITING = `${ON_LIST}
        and ($4::timestamptz is null or listed_at <= $4)
      order by listed_at, key limit $3`;

type Waiting = Listed & { details: Buffer; ended: boolean };
interface Until {
  until: Date | undefined;
  most: number;
}

/** The oldest waiting payouts, each with whether it has ended in another way. */
export const waitingUntil = (tx: Tx, rail: string, asset: AssetCode, { until, most }: Until): Promise<Waiting[]> =>
  tx.rows(WAITING, [rail, asset, most, until ?? null]);

/** The payouts among these that are waiting. */
export const waitingOf = (tx: Tx, rail: string, asset: AssetCode, keys: readonly string[]): Promise<Waiting[]> =>
  tx.rows(WAITING_OF, [rail, asset, keys]);

/** As `waitingOf`, locked; the orders are locked before. */
export const lockWaitingOf = (tx: Tx, rail: string, asset: AssetCode, keys: readonly string[]): Promise<Waiting[]> =>
  tx.rows(`${WAITING_OF} for update`, [rail, asset, keys]);

export const markRejected = (tx: Tx, rail: string, keys: readonly string[], why: string, now: Date): Promise<number> =>
  tx.run(
    `update manual_payouts set rejected_at = $3, rejected_why = $4
      where rail = $1 and key = any($2) and rejected_at is null`,
    [rail, keys, now, why],
  );

// Files.

export interface BatchRow {
  id: bigint;
  asset: AssetCode;
  format: FileFormat;
  payouts: number;
  units: bigint;
  sha256: string;
  closedAt: Date;
  closedBy: string;
  withdrawnAt: Date | null;
  withdrawnBy: string | null;
  withdrawnWhy: string | null;
}

const BATCH = `id, asset, format, payouts, units, encode(sha256, 'hex') as sha256, closed_at,
  closed_by, withdrawn_at, withdrawn_by, withdrawn_why`;

export async function nextBatchId(tx: Tx): Promise<bigint> {
  const row = await tx.row<{ id: bigint }>(`select nextval('manual_batch_ids') as id`);
  return row?.id ?? 0n;
}

export async function insertBatch(
  tx: Tx,
  rail: string,
  batch: {
    id: bigint;
    asset: AssetCode;
    format: FileFormat;
    keys: readonly string[];
    units: bigint;
    content: Buffer;
    sha256: Buffer;
    closedAt: Date;
    closedBy: string;
  },
): Promise<BatchRow> {
  const row = await tx.row<BatchRow>(
    `insert into manual_batches (id, rail, asset, format, payouts, units, content, sha256, closed_at, closed_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning ${BATCH}`,
    [
      batch.id,
      rail,
      batch.asset,
      batch.format,
      batch.keys.length,
      batch.units,
      batch.content,
      batch.sha256,
      batch.closedAt,
      batch.closedBy,
    ],
  );
  await tx.run('update manual_payouts set batch_id = $3 where rail = $1 and key = any($2)', [
    rail,
    batch.keys,
    batch.id,
  ]);
  assert(row, 'the insert of a batch returned no row');
  return row;
}

export const readBatch = (tx: Tx, rail: string, id: bigint): Promise<BatchRow | undefined> =>
  tx.row<BatchRow>(`select ${BATCH} from manual_batches where rail = $1 and id = $2`, [rail, id]);

export const batches = (tx: Tx, rail: string, most: number): Promise<BatchRow[]> =>
  tx.rows<BatchRow>(`select ${BATCH} from manual_batches where rail = $1 order by id desc limit $2`, [rail, most]);

export const batchContent = async (tx: Tx, id: bigint): Promise<Buffer | undefined> =>
  (await tx.row<{ content: Buffer }>('select content from manual_batches where id = $1', [id]))?.content;

export interface BatchPayout {
  key: string;
  endToEnd: string;
  units: bigint;
  /** State of the payout. */
  state: string | null;
}

export const payoutsOfBatch = (tx: Tx, id: bigint): Promise<BatchPayout[]> =>
  tx.rows<BatchPayout>(
    `select m.key, m.end_to_end, m.units, p.state
       from manual_payouts m left join payouts p on p.id = m.key where m.batch_id = $1 order by m.key`,
    [id],
  );

/**
 * Whether statements have shown payouts of a file, whatever the state of the payouts, or a debit that operators declared to have
 * paid payouts of it.
 */
export const isShown = async (tx: Tx, rail: string, id: bigint): Promise<boolean> =>
  (await tx.row(
    `select from manual_payouts m
      where m.batch_id = $2 and exists (select from bank_lines l where l.rail = $1 and l.key = m.key)
     union all
     select from bank_lines where rail = $1 and key = $3 and meaning = 'payout'
     limit 1`,
    [rail, id, batchName(id)],
  )) !== undefined;

export const markWithdrawn = (tx: Tx, id: bigint, action: { by: string; why: string; now: Date }): Promise<number> =>
  tx.run(
    `update manual_batches set withdrawn_at = $2, withdrawn_by = $3, withdrawn_why = $4
      where id = $1 and withdrawn_at is null`,
    [id, action.now, action.by, action.why],
  );

// After a restore.

/**
 * When the database was last restored, if no operator has confirmed since that the statements show every file uploaded before.
 */
export const unconfirmedRestore = async (tx: Tx, rail: string): Promise<Date | undefined> =>
  (
    await tx.row<{ at: Date }>(
      `select restored_at as at from restores r
        where not exists (select from confirmed_restores c where c.rail = $1 and c.restored_at >= r.restored_at)
        order by restored_at desc limit 1`,
      [rail],
    )
  )?.at;

export const confirmRestore = (
  tx: Tx,
  rail: string,
  done: { restoredAt: Date; by: string; why: string; now: Date },
): Promise<number> =>
  tx.run(
    `insert into confirmed_restores (rail, restored_at, confirmed_by, why, confirmed_at) values ($1, $2, $3, $4, $5)
     on conflict do nothing`,
    [rail, done.restoredAt, done.by, done.why, done.now],
  );

/**
 * Debits shown since the restore that no payout explains and that are undecided, with the payouts that they may have paid: of the
 * same amount, or by another attempt of the same payout, and in no file. Includes payouts that are on no list yet because payouts
 * are switched off.
 */
export const doubtful = (tx: Tx, rail: string, since: Date): Promise<{ line: string; payout: string }[]> =>
  tx.rows(
    `select l.external_id as line, p.id as payout from bank_lines l
       join payouts p on p.rail = l.rail and p.asset = l.asset and p.ended_at is null
        and (p.units = l.units or starts_with(l.key, regexp_replace(p.id, '[0-9]+$', '')))
      where l.rail = $1 and l.direction = 'debit' and l.meaning = 'unexplained' and l.read_at >= $2
        and (l.foreign_at is null or l.key = p.id)
        and not exists (select from manual_payouts m
                         where m.rail = p.rail and m.key = p.id and (m.batch_id is not null or m.rejected_at is not null))
      order by l.external_id, p.id limit 200`,
    [rail, since],
  );

/** Sum of all statement lines, without the opening balance; optionally up to and including a day. */
export const sumTaken = async (tx: Tx, rail: string, asset: AssetCode, upTo?: string): Promise<bigint> =>
  (
    await tx.row<{ units: bigint }>(
      `select coalesce(sum(case direction when 'credit' then units else -units - charge_units end), 0)::numeric as units
         from manual_lines where rail = $1 and asset = $2 and external_id <> $3 and ($4::date is null or booked_on <= $4::date)`,
      [rail, asset, openingId(asset), upTo ?? null],
    )
  )?.units ?? 0n;

/** Credits of at least this amount with a relation: candidates for a debit that reverses one, or a part of it. */
export const creditsRelated = async (
  tx: Tx,
  rail: string,
  asset: AssetCode,
  relations: readonly Buffer[],
  units: bigint,
): Promise<{ id: string; units: bigint }[]> =>
  tx.rows<{ id: string; units: bigint }>(
    `select external_id as id, units from manual_lines
      where rail = $1 and relation = any($2::bytea[]) and asset = $3 and direction = 'credit' and units >= $4
      order by units = $4 desc, seq limit 2`,
    [rail, relations, asset, units],
  );

export interface NewLine {
  externalId: string;
  direction: 'credit' | 'debit';
  units: bigint;
  chargeUnits: bigint;
  bookedOn: string;
  statementId: bigint;
  relation: Buffer | null;
  content: Buffer;
}

/** Inserts all lines in one statement; they are numbered in the given order. */
export const insertLines = (tx: Tx, rail: string, asset: AssetCode, lines: readonly NewLine[]): Promise<number> =>
  tx.run(
    `insert into manual_lines (rail, asset, external_id, direction, units, charge_units, booked_on, statement_id, relation, content)
     select $1, $2, external_id, direction, units, charge_units, booked_on, statement_id, relation, content
       from unnest($3::text[], $4::text[], $5::numeric[], $6::numeric[], $7::date[], $8::bigint[], $9::bytea[], $10::bytea[])
            with ordinality as l (external_id, direction, units, charge_units, booked_on, statement_id, relation, content, nr)
      order by nr`,
    [
      rail,
      asset,
      lines.map(({ externalId }) => externalId),
      lines.map(({ direction }) => direction),
      lines.map(({ units }) => units),
      lines.map(({ chargeUnits }) => chargeUnits),
      lines.map(({ bookedOn }) => bookedOn),
      lines.map(({ statementId }) => statementId),
      lines.map(({ relation }) => relation),
      lines.map(({ content }) => content),
    ],
  );
