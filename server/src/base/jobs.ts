/**
 * Jobs: due work as rows, inserted in the same transaction as its cause.
 *
 * A row names what to look at, not what to do: the handler for "payout 17" reads the payout and decides. Enqueueing twice is
 * therefore harmless: a second enqueue for the same (kind, subject) merges into the existing row. An enqueue that arrives
 * *while* the row is being worked on is counted, and the row runs once more instead of being deleted. A handler may have its last
 * transaction delete or postpone its row (`Run`); otherwise its worker does so afterwards.
 *
 * workers.ts runs jobs; jobs.store.ts has the SQL. Two libraries were measured first: docs/decisions/0003-own-work-table.md.
 */
import { type Clock, later } from './clock.ts';
import type { Tx } from './db.ts';

export interface Job {
  kind: string;
  /** The id of the row to look at. */
  subject: string;
  dueAt: Date;
  /** Rows with the same ordering key run one after the other, oldest first. */
  orderingKey?: string;
}

/** `undefined`: done. `againInMs`: keep the row, due again after that many milliseconds; a poll is a row that never ends. */
export type Handled = undefined | { againInMs: number };

/** One run of a job: its worker passes it to the handler. */
export interface Run {
  /**
   * Has the handler's last transaction record the outcome, which otherwise takes a transaction of its own: if `tx` commits, the
   * job is deleted or postponed with it. Changes nothing if the job was enqueued again while it ran, or if another worker has it
   * now; the worker then records the outcome that the handler returns, as usual. A handler that fails afterwards is not retried.
   *
   * @param handled the outcome that the handler returns
   */
  ends(tx: Tx, handled: Handled): void;
}

/**
 * The run of a job that is worked on without being claimed, because its cause is at hand: `ends` takes effect unless a worker
 * has the row, or it was enqueued again.
 */
export const unclaimedRun = ({ kind, subject }: Pick<Job, 'kind' | 'subject'>, clock: Clock): Run => ({
  ends(tx, handled) {
    const now = clock.now();
    const unclaimed = 'kind = $1 and subject = $2 and lease is null and enqueued = 1';
    tx.deferLast(
      nameOf({ kind, subject }),
      handled === undefined
        ? `delete from jobs where ${unclaimed}`
        : `update jobs set due_at = $3, slept_at = $4 where ${unclaimed}`,
      handled === undefined ? [kind, subject] : [kind, subject, later(now, handled.againInMs), now],
    );
  },
});

/** @param run absent where no worker runs it: the outcome is then only returned */
export type Handler = (subject: string, run?: Run) => Promise<Handled>;
export type Handlers = Readonly<Record<string, Handler>>;

/** Inserts a job and wakes the workers. Both happen only if `tx` commits. */
export function enqueue(tx: Tx, work: Job): void {
  insertJob(tx, work);
  // The notification names the job, so that a worker that keeps its row recognises it.
  tx.defer(`select pg_notify('jobs', $1)`, [nameOf(work)]);
}

/** A job's name in a notification. */
export const nameOf = ({ kind, subject }: { kind: string; subject: string }): string => `${kind} ${subject}`;

/** A worker that is alone looks for jobs of which it was not notified this often. */
export const ALONE_MS = 5_000;

/** In a notification of `jobs`: not a job's name, but when one is due, in milliseconds. */
export const DUE_AT = '@';

/** Inserts a job that is due later, and notifies workers of its due time: they wake then, and not before. */
export function enqueueAt(tx: Tx, work: Job): void {
  insertJob(tx, work);
  tx.defer(`select pg_notify('jobs', $1)`, [`${DUE_AT}${work.dueAt.getTime()}`]);
}

function insertJob(tx: Tx, work: Job): void {
  tx.deferLast(
    nameOf(work),
    `insert into jobs (kind, subject, ordering_key, due_at) values ($1, $2, $3, $4)
     on conflict (kind, subject) do update
       set due_at = least(jobs.due_at, excluded.due_at), enqueued = jobs.enqueued + 1, attempts = 0, dead_at = null`,
    [work.kind, work.subject, work.orderingKey ?? null, work.dueAt],
  );
}

/**
 * Moves the due times of these subjects earlier by the given time. A row that a worker holds counts as enqueued again: its worker
 * runs it once more, because the data that it read and its next due time are from before the move.
 */
export async function shiftDueTimes(
  tx: Tx,
  work: { kinds: readonly string[]; subjects: readonly string[]; ms: number },
): Promise<void> {
  const moved = await tx.run(
    `update jobs set due_at = due_at - $3::float8 * interval '1 millisecond',
            enqueued = enqueued + case when lease is null then 0 else 1 end
      where kind = any($1) and subject = any($2)`,
    [work.kinds, work.subjects, work.ms],
  );
  if (moved > 0) await tx.run(`select pg_notify('jobs', '')`);
}
