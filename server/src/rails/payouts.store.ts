/**
 * SQL of payouts. Every update that records an answer has the state and the submission to which the answer belongs as conditions,
 * so a late answer changes no row.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { parameters } from '../base/scan.ts';

export type PayoutState = 'created' | 'submitting' | 'submitted' | 'unknown' | 'settled' | 'returned' | 'rejected';

export interface Payout {
  id: string;
  /** Null for money without a known order, which is always a refund. */
  orderId: bigint | null;
  partnerId: bigint | null;
  purpose: 'payout' | 'refund';
  attempt: number;
  depositId: bigint | null;
  /** The refund of which it is an attempt; null for an order's own payout. */
  refundId: bigint | null;
  rail: string;
  asset: AssetCode;
  /** The ordered amount. */
  units: bigint;
  /** The amount that actually left, if operators matched it with a movement of another amount; otherwise null. */
  paidUnits: bigint | null;
  fiatAccountId: bigint | null;
  address: string | null;
  state: PayoutState;
  /** Number of the current submission, from 1. */
  submissions: number;
  /**
   * Milliseconds until the submission's time is over, negative afterwards, by the database's clock. Null before the first
   * submission.
   */
  submitLeftMs: number | null;
  /** Milliseconds since its first submission began, by the database's clock. Null before it, and if its time was not recorded. */
  firstSubmissionAgeMs: number | null;
  unknownSince: Date | null;
  alarmedAt: Date | null;
  reference: string | null;
  why: string | null;
  /** What currently prevents its submission, in words. */
  waitsFor: string | null;
  createdAt: Date;
  submittedAt: Date | null;
  endedAt: Date | null;
}

const COLUMNS = `id, order_id, partner_id, purpose, attempt, deposit_id,
  refund_id, rail, asset, units, paid_units,
  fiat_account_id, address, state, submissions,
  floor(extract(epoch from submitting_until - clock_timestamp()) * 1000)::float8 as submit_left_ms,
  floor(extract(epoch from clock_timestamp() - first_submission_at) * 1000)::float8 as first_submission_age_ms,
  unknown_since, alarmed_at, reference, why, waits_for, created_at,
  submitted_at, ended_at`;

export interface NewPayout {
  id: string;
  orderId?: bigint | undefined;
  partnerId?: bigint | undefined;
  purpose: 'payout' | 'refund';
  attempt: number;
  depositId?: bigint | undefined;
  refundId?: bigint | undefined;
  rail: string;
  asset: AssetCode;
  units: bigint;
  fiatAccountId?: bigint | undefined;
  address?: string | undefined;
  now: Date;
}

const INSERTED = `id, order_id, partner_id, purpose, attempt, deposit_id, rail, asset, units, fiat_account_id, address, created_at, refund_id`;
const INSERTED_VALUES = '$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13';

const valuesOf = (written: NewPayout): unknown[] => [
  written.id,
  written.orderId ?? null,
  written.partnerId ?? null,
  written.purpose,
  written.attempt,
  written.depositId ?? null,
  written.rail,
  written.asset,
  written.units,
  written.fiatAccountId ?? null,
  written.address ?? null,
  written.now,
  written.refundId ?? null,
];

/** @returns whether the row is new */
export async function insertPayout(tx: Tx, written: NewPayout): Promise<boolean> {
  const rows = await tx.run(
    `insert into payouts (${INSERTED}) values (${INSERTED_VALUES}) on conflict (id) do nothing`,
    valuesOf(written),
  );
  return rows > 0;
}

/** Inserts a payout whose first submission begins in this transaction. @returns undefined if the row exists already */
export const insertSubmitting = (tx: Tx, written: NewPayout, submitMs: number): Promise<Payout | undefined> =>
  tx.row<Payout>(
    `insert into payouts (${INSERTED}, state, submissions, first_submission_at, submitting_until)
     values (${INSERTED_VALUES}, 'submitting', 1, clock_timestamp(), clock_timestamp() + make_interval(secs => $14))
     on conflict (id) do nothing returning ${COLUMNS}`,
    [...valuesOf(written), submitMs / 1000],
  );

export const readPayout = (tx: Tx, id: string): Promise<Payout | undefined> =>
  tx.row<Payout>(`select ${COLUMNS} from payouts where id = $1`, [id]);

/** Locks the row until `tx` ends. */
export const lockPayout = (tx: Tx, id: string): Promise<Payout | undefined> =>
  tx.row<Payout>(`select ${COLUMNS} from payouts where id = $1 for update`, [id]);

export const payoutsOfOrder = (tx: Tx, orderId: bigint): Promise<Payout[]> =>
  tx.rows<Payout>(`select ${COLUMNS} from payouts where order_id = $1 order by created_at, id`, [orderId]);

export const attemptsAtRefund = (tx: Tx, refundId: bigint): Promise<Payout[]> =>
  tx.rows<Payout>(`select ${COLUMNS} from payouts where refund_id = $1 order by created_at, id`, [refundId]);

/**
 * When the effect of a payout's last submission ends, `lastsMs` after the submission, and whether it has ended: both by the
 * database's clock. Undefined before the first submission.
 */
export const submissionEnd = (
  tx: Tx,
  id: string,
  lastsMs: number,
): Promise<{ overAt: Date; isOver: boolean } | undefined> =>
  tx.row(
    `select over_at, over_at <= clock_timestamp() as is_over
       from (select submitting_until + make_interval(secs => $2) as over_at from payouts
              where id = $1 and submitting_until is not null) as last`,
    [id, lastsMs / 1000],
  );

/** Records why it is not submitted for now; null once nothing prevents it. Writes only if the text changes. */
export const noteWaiting = (tx: Tx, id: string, why: string | null): Promise<number> =>
  tx.run('update payouts set waits_for = $2 where id = $1 and waits_for is distinct from $2', [id, why]);

/** Moves a payout from created or unknown to submitting, with a new submission number and an end by the database's clock. */
export const beginSubmission = (tx: Tx, payout: Payout, submitMs: number): Promise<Payout | undefined> =>
  tx.row<Payout>(
    `update payouts set state = 'submitting', submissions = submissions + 1, waits_for = null,
            first_submission_at = case submissions when 0 then clock_timestamp() else first_submission_at end,
            submitting_until = clock_timestamp() + make_interval(secs => $4)
      where id = $1 and state = $2 and submissions = $3 returning ${COLUMNS}`,
    [payout.id, payout.state, payout.submissions, submitMs / 1000],
  );

/** The first acceptance closes the case of an unknown outcome, so a later one opens a case again. */
export const recordSubmitted = (
  tx: Tx,
  payout: Payout,
  { reference, now }: { reference: string | undefined; now: Date },
): Promise<number> =>
  tx.run(
    `update payouts set state = 'submitted', reference = coalesce($4, reference), submitted_at = coalesce(submitted_at, $5),
            unknown_since = null, why = null, alarmed_at = case when submitted_at is null then null else alarmed_at end
      where id = $1 and state = $2 and submissions = $3`,
    [payout.id, payout.state, payout.submissions, reference ?? null, now],
  );

/** @param alarm whether a case is opened now, which happens once */
export const recordUnknown = (
  tx: Tx,
  payout: Payout,
  { why, now, alarm }: { why: string; now: Date; alarm: boolean },
): Promise<number> =>
  tx.run(
    `update payouts set state = 'unknown', why = $4, unknown_since = coalesce(unknown_since, $5),
            alarmed_at = case when $6 then $5 else alarmed_at end
      where id = $1 and state = $2 and submissions = $3`,
    [payout.id, payout.state, payout.submissions, why, now, alarm],
  );

/** Cancels a payout, only before its first submission begins: afterwards only the rail can say that it was not paid. */
export const cancelUnsubmitted = (tx: Tx, id: string, { why, now }: { why: string; now: Date }): Promise<number> =>
  tx.run(
    `update payouts set state = 'rejected', why = $2, ended_at = $3 where id = $1 and state = 'created' and submissions = 0`,
    [id, why, now],
  );

/** Records that the amount that left differs from the ordered amount. */
export const notePaidUnits = (tx: Tx, id: string, units: bigint): Promise<number> =>
  tx.run('update payouts set paid_units = $2 where id = $1', [id, units]);

/** Records that a case was opened about a submitted payout. */
export const recordAlarm = (tx: Tx, { id, submissions }: Payout, now: Date): Promise<number> =>
  tx.run(`update payouts set alarmed_at = $2 where id = $1 and state = 'submitted' and submissions = $3`, [
    id,
    now,
    submissions,
  ]);

/** Records what a rail observed, independent of the submission: the caller holds the lock and has checked the state. */
export const recordEnd = (
  tx: Tx,
  id: string,
  end: { state: 'settled' | 'returned' | 'rejected'; reference?: string; why?: string | undefined; now: Date },
): Promise<Payout | undefined> =>
  tx.row<Payout>(
    `update payouts set state = $2, reference = coalesce($3, reference), why = coalesce($4, why), ended_at = coalesce(ended_at, $5)
      where id = $1 returning ${COLUMNS}`,
    [id, end.state, end.reference ?? null, end.why ?? null, end.now],
  );

export interface OpenPayouts {
  rail: string;
  state: PayoutState;
  count: number;
  oldestAt: Date;
}

export const countOpen = (tx: Tx): Promise<OpenPayouts[]> =>
  tx.rows<OpenPayouts>(
    `select rail, state, count(*)::int as count,
        min(case state when 'unknown' then coalesce(unknown_since, created_at) else created_at end) as oldest_at
       from payouts where ended_at is null group by rail, state order by rail, state`,
  );

/** Payouts that are not submitted, or may not be, oldest first. The others wake up by themselves. */
export const notSubmitted = (tx: Tx): Promise<{ id: string }[]> =>
  tx.rows(
    `select id from payouts where ended_at is null and state in ('created', 'unknown') order by created_at limit 1000`,
  );

/** A partner's payouts of which no submission has begun. */
export const waitingOf = (tx: Tx, partnerId: bigint): Promise<{ id: string }[]> =>
  tx.rows(
    `select id from payouts where ended_at is null and state = 'created' and partner_id = $1 order by created_at`,
    [partnerId],
  );

/** Maximum results per reference or address. */
const MOST_FOUND = 50;

/**
 * With one of these texts as key, reference or address, newest first. Each is looked up by itself: with `or`, PostgreSQL read all
 * payouts by time. An address is a range of one, ordered by it, because PostgreSQL did the same for `=` where most payouts have one
 * address.
 */
export const payoutsLike = (tx: Tx, texts: readonly string[]): Promise<Payout[]> =>
  tx.rows<Payout>(
    `select ${COLUMNS} from payouts where id = any(array(
       select found.id from unnest($1::text[]) as t (text) cross join lateral (
         select id from payouts where id = t.text
         union (select id from payouts where reference = t.text limit ${MOST_FOUND})
         union (select id from payouts where address between t.text and t.text
                 order by address desc, created_at desc, id desc limit ${MOST_FOUND})) found))
      order by created_at desc, id desc limit ${MOST_FOUND}`,
    [texts],
  );

export interface PayoutFilter {
  partnerId?: bigint | undefined;
  state?: PayoutState | undefined;
  /** Creation time from `from` (inclusive) to `until` (exclusive). */
  from?: Date | undefined;
  until?: Date | undefined;
  /** Only attempts of these orders and refunds. */
  of?: { orderIds: readonly bigint[]; refundIds: readonly bigint[] } | undefined;
}

/** Payouts created before the given one, newest first, each with whether the whole filter accepts it (base/scan.ts). */
export async function payoutsBelow(
  tx: Tx,
  input: PayoutFilter,
  below: string | undefined,
  count: number,
): Promise<{ row: Payout; fits: boolean }[]> {
  const { values, put } = parameters();
  const span = [
    'true',
    ...(input.from === undefined ? [] : [`created_at >= ${put(input.from)}`]),
    ...(input.until === undefined ? [] : [`created_at < ${put(input.until)}`]),
  ];
  if (below !== undefined) {
    const last = put(below);
    span.push(`(created_at, id) < ((select created_at from payouts where id = ${last}), ${last}::text)`);
  }
  const isOpen = input.state !== undefined && ['created', 'submitting', 'submitted', 'unknown'].includes(input.state);
  const walk = (driving: string): string =>
    `(select * from payouts where ${driving} and ${span.join(' and ')} order by created_at desc, id desc limit ${count})`;
  const driver =
    input.of !== undefined
      ? [
          walk(`purpose = 'payout' and order_id = any(${put(input.of.orderIds)}::bigint[])`),
          walk(`purpose = 'refund' and refund_id = any(${put(input.of.refundIds)}::bigint[])`),
        ].join(' union all ')
      : walk(isOpen ? 'ended_at is null' : 'true');
  const fits = [
    'true',
    ...(input.partnerId === undefined ? [] : [`partner_id is not distinct from ${put(input.partnerId)}`]),
    ...(input.state === undefined ? [] : [`state = ${put(input.state)}`]),
  ];
  const rows = await tx.rows<Payout & { fits: boolean }>(
    `select ${COLUMNS}, (${fits.join(' and ')}) as fits from (${driver}) as p
      order by created_at desc, id desc limit ${count}`,
    values,
  );
  return rows.map(({ fits: isIn, ...row }) => ({ row, fits: isIn }));
}
