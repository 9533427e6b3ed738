/**
 * Payouts: sending money out through a rail, once.
 *
 * The row and its hold in the ledger are written before anything is sent. A worker marks the row as submitting until a certain
 * time, calls the rail with the payout's id as idempotency key, and records the answer. If the answer is lost, the payout is
 * *unknown*, which is a state and not a failure: from then on we ask the rail.
 *
 *   created ──▶ submitting ──▶ submitted ──▶ settled ──▶ returned
 *                 │  ▲         │
 *       (no answer)  │(same key, while the rail recognises it)
 *                 ▼  │         ▼
 *               unknown ──▶ rejected       settled, returned and rejected may also be observed from any earlier state
 *
 * Guarantees, whatever crashes, freezes or runs twice:
 * - A submission begins with an update that only one worker can win, and never from `submitting` itself; or with the insertion of
 *   the row, if the transaction that creates the payout has asked the gate (openSubmissions). A row found in
 *   `submitting` past its time was left by a worker that died or froze: it becomes unknown and is not sent again.
 * - Submissions are numbered, and an answer is recorded only if its number is still the row's. A worker that wakes up late
 *   records nothing. It also sends nothing, because each sending has a time after which it must not begin.
 * - From unknown, the same key is submitted again only if the rail says that it is absent *and* is certain to recognise the key
 *   (payouts.repeat.ts). If the rail promises nothing about keys, absence ends the attempt as `never_arrived`, but only after the
 *   submission has been over for a while, because bytes may still be in transit. Orders decide whether to make another attempt,
 *   with an id of its own. If the rail may have forgotten the key, absence changes nothing: the statement decides, or an
 *   operator.
 * - Only a payout that passes the gate is submitted: the gate is asked each time, in the transaction in which a submission
 *   begins. A payout that it holds ends unsubmitted, as rejected.
 *
 * Settlement is observed (statement, confirmations) and never an answer: the receiver of the rails' facts calls `settled`,
 * `returned` and `recordRejected` (payouts.observed.ts), in the same transaction.
 *
 * Not here: choosing amount, rail and attempt (orders), reading statements (bank.ts), chain nonces (the chain's adapter).
 */
import { type Clock, later } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import { assert, BugError, Unavailable } from '../base/errors.ts';
import { enqueue, enqueueAt, type Handled, type Handlers, type Run, unclaimedRun } from '../base/jobs.ts';
import type { Log } from '../base/log.ts';
import { brief, recordRejected } from './payouts.observed.ts';
import { submittedPause, unknownPause, within } from './payouts.pauses.ts';
import { GRACE_MS, rejectionEnds, repeatOf } from './payouts.repeat.ts';
import {
  beginSubmission,
  insertPayout,
  insertSubmitting,
  lockPayout,
  type NewPayout,
  noteWaiting,
  type Payout,
  readPayout,
  recordAlarm,
  recordSubmitted,
  recordUnknown,
} from './payouts.store.ts';
import type { Destination, PayoutStatus, Rail, Report, Sent } from './rail.ts';

export { cancelUnlessSubmitted, type Observed, recordRejected, returned, settled } from './payouts.observed.ts';
export {
  enqueueUnsubmitted,
  findPayout,
  findPayouts,
  openPayouts,
  payoutByKey,
  payoutsOf,
  payoutsOfRefund,
  requireOtherAmount,
  unitsPaid,
  waitingPayouts,
} from './payouts.queries.ts';
export {
  lockPayout,
  type NewPayout,
  notePaidUnits,
  type OpenPayouts,
  type Payout,
  type PayoutFilter,
  type PayoutState,
  payoutsBelow,
  readPayout,
} from './payouts.store.ts';
export { whyNotUnpaid } from './payouts.unpaid.ts';

/**
 * Maximum duration of one submission. Two thirds of it are for the call, the rest is for recording; all is within a job's lease
 * (20 s).
 */
const SUBMIT_MS = 15_000;
const ASKING_MS = 4_000;
/** How long an outcome may be unknown before a case is opened. */
const ALARM_AFTER_MS = 15 * 60_000;
/** How long an accepted payout may not be shown as paid before a case is opened: a weekend, and more. */
const SHOWN_AFTER_MS = 3 * 86_400_000;
/** The gate's answer for a payout about to be submitted (orders/payouts/gate.ts). */
export type GateAnswer =
  | { outcome: 'pay' }
  /** It continues automatically. `why`: the present obstacle, in words. */
  | { outcome: 'wait'; why: string; againInMs: number }
  /** It must not leave: it ends unsubmitted, and an operator decides about its money. */
  | { outcome: 'hold'; why: string };

/** A payout at the gate. */
export type AtGate = Pick<
  Payout,
  'id' | 'orderId' | 'refundId' | 'rail' | 'asset' | 'units' | 'address' | 'fiatAccountId'
> & {
  /** Its row is inserted later in this transaction, so that no other row can refer to it yet. */
  isPlanned?: boolean;
};

/** Locks the payout's order, if there is one, and never the payout. */
export type Gate = (tx: Tx, payout: AtGate) => Promise<GateAnswer>;

export interface PayoutContext {
  db: Database;
  clock: Clock;
  rails: ReadonlyMap<string, Rail>;
  /** Receives `payout_rejected` and `payout_unknown`. */
  report: Report;
  /** Decrypts a customer's account for the duration of the call. */
  openAccount: (tx: Tx, fiatAccountId: bigint) => Promise<Record<string, string>>;
  /** Called in every transaction that submits, the first time and again. Its answer stays valid until the transaction ends. */
  gate: Gate;
  log: Log;
  /** Shortened in tests, in milliseconds. */
  submitMs?: number;
  graceMs?: number;
}

/**
 * Inserts a payout and its job, in the transaction of the order's own change.
 *
 * @param written.id `pay_<order>_<attempt>` or `ref_<refund>_<attempt>`: the key under which the rail knows it, permanently.
 *                   Writing the same again has no effect; different content under the same id throws BugError.
 */
export async function write(tx: Tx, written: NewPayout): Promise<void> {
  if (!(await insertPayout(tx, written))) {
    const there = await readPayout(tx, written.id);
    assert(
      there !== undefined && isSamePayout(there, written),
      `payout ${written.id} was written before with another content`,
    );
    if (there.endedAt !== null) return;
  }
  enqueue(tx, { kind: 'send_payout', subject: written.id, dueAt: written.now });
}

/** A payout that passed the gate in the transaction that inserts it. */
export interface Passed {
  /** In place of `write`, in that transaction: inserts the payout as being submitted. */
  write(tx: Tx, written: NewPayout): Promise<void>;
  /** After the commit: calls the rail and records its answer. Does nothing if no payout was written. */
  submit(): Promise<void>;
}

/** Begins submissions in the transactions that create their payouts. */
export interface Submissions {
  /**
   * Asks the gate about a payout that `tx` is about to create. Called before `tx` locks accounts, because the gate locks the
   * customer.
   *
   * @returns undefined if the payout waits, is held, or the gate has no answer: `write` creates it, and its job asks again
   */
  ask(tx: Tx, planned: NewPayout): Promise<Passed | undefined>;
}

export const openSubmissions = (context: PayoutContext): Submissions => ({
  async ask(tx, planned) {
    const { id, rail, asset, units, orderId = null, refundId = null, address = null, fiatAccountId = null } = planned;
    const payout: AtGate = { id, rail, asset, units, orderId, refundId, address, fiatAccountId, isPlanned: true };
    if (!(await passes(context, tx, payout))) return undefined;
    const submitMs = context.submitMs ?? SUBMIT_MS;
    const destination = await destinationOf(context, tx, payout);
    let begun: { submission: Submission; at: number } | undefined;
    return {
      async write(tx2, written) {
        assert(tx2 === tx && isSamePayout(payout, written), `payout ${id} passed the gate as another one`);
        const at = Date.now();
        const inserted = await insertSubmitting(tx, written, submitMs);
        if (inserted === undefined) return await write(tx, written);
        begun = { submission: { payout: inserted, destination }, at };
        // For the case that this process ends. It is ended with the recording of the rail's answer.
        enqueueAt(tx, { kind: 'send_payout', subject: id, dueAt: later(written.now, submitMs + 100) });
      },
      async submit() {
        if (begun === undefined) return;
        const run = unclaimedRun({ kind: 'send_payout', subject: id }, context.clock);
        await submit({ ...context, run }, begun.submission, begun.at);
      },
    };
  },
});

async function passes(context: PayoutContext, tx: Tx, payout: AtGate): Promise<boolean> {
  try {
    return (await context.gate(tx, payout)).outcome === 'pay';
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return false;
  }
}

const isSamePayout = (asked: AtGate, written: NewPayout): boolean =>
  asked.id === written.id &&
  asked.orderId === (written.orderId ?? null) &&
  asked.refundId === (written.refundId ?? null) &&
  asked.rail === written.rail &&
  asked.asset === written.asset &&
  asked.units === written.units &&
  asked.address === (written.address ?? null) &&
  asked.fiatAccountId === (written.fiatAccountId ?? null);

export function payoutHandlers(context: PayoutContext): Handlers {
  return { send_payout: (id, run) => lookAt({ ...context, run }, id) };
}

/**
 * The job handler: reads the row and does what its state requires. Enqueueing the job twice, or from two workers, is harmless.
 */
async function lookAt(context: RunContext, id: string): Promise<Handled> {
  const begunAt = Date.now();
  const next = await unlessOverrun(context, id, async (tx) => {
    const found = await nextOf(context, tx, id);
    if ('handled' in found) context.run?.ends(tx, found.handled);
    return found;
  });
  if ('submission' in next) return await submit(context, next.submission, begunAt);
  if ('ask' in next) return await ask(context, next.ask);
  return next.handled;
}

async function nextOf(context: PayoutContext, tx: Tx, id: string): Promise<Next> {
  const seen = await readPayout(tx, id);
  if (seen === undefined) throw new BugError(`no payout ${id}`);
  if (seen.state === 'created') return await begin(context, tx, seen);
  const payout = await lockPayout(tx, id);
  if (payout === undefined) throw new BugError(`no payout ${id}`);
  if (payout.endedAt !== null) return { handled: undefined };
  if (payout.state === 'created') return { handled: { againInMs: 0 } };
  if (payout.state !== 'submitting') return { ask: payout };
  const leftMs = payout.submitLeftMs ?? 0;
  if (leftMs > 0) return { handled: { againInMs: leftMs + 100 } };
  const why = 'the worker that was submitting it recorded no answer';
  await recordUnknown(tx, payout, { why, now: context.clock.now(), alarm: false });
  return { ask: (await readPayout(tx, id)) ?? payout };
}

type Next = { handled: Handled } | { submission: Submission } | { ask: Payout };

/** The context of one run of the job. */
type RunContext = PayoutContext & { run: Run | undefined };

interface Submission {
  payout: Payout;
  destination: Destination;
}

/**
 * Asks the gate, and begins the submission if it passes. The gate locks the order, and orders are locked before payouts
 * everywhere, so the payout is locked only afterwards. If its state has changed meanwhile, nothing is done.
 */
async function begin(
  context: PayoutContext,
  tx: Tx,
  payout: Payout,
): Promise<{ submission: Submission } | { handled: Handled }> {
  const answer = await context.gate(tx, payout);
  const there = await lockPayout(tx, payout.id);
  unlessOutrun(there?.state === payout.state && there.submissions === payout.submissions ? 1 : 0);
  if (answer.outcome === 'wait') {
    await noteWaiting(tx, payout.id, answer.why);
    return { handled: { againInMs: answer.againInMs } };
  }
  if (answer.outcome === 'hold') {
    context.log.warn({ payout: payout.id, rail: payout.rail, why: answer.why }, 'payout held before it was submitted');
    const ends =
      payout.state === 'created' ? reject(context, tx, payout, answer.why) : endHeld(context, tx, payout, answer.why);
    return { handled: await ends };
  }
  const submission = await beginSubmission(tx, payout, context.submitMs ?? SUBMIT_MS);
  if (submission === undefined) throw new Outrun();
  return { submission: { payout: submission, destination: await destinationOf(context, tx, payout) } };
}

async function destinationOf(context: PayoutContext, tx: Tx, payout: AtGate): Promise<Destination> {
  if (payout.address !== null) return { kind: 'address', address: payout.address };
  assert(payout.fiatAccountId !== null, `payout ${payout.id} has no destination`);
  return { kind: 'account', details: await context.openAccount(tx, payout.fiatAccountId) };
}

/**
 * Calls the rail and records its answer, if the submission is still ours.
 *
 * @param begunAt our clock *before* the submission was stored, so that the remaining time is never overestimated
 */
async function submit(context: RunContext, { payout, destination }: Submission, begunAt: number): Promise<Handled> {
  const callMs = ((context.submitMs ?? SUBMIT_MS) * 2) / 3;
  const leftMs = begunAt + callMs - Date.now();
  // This process was frozen meanwhile: another worker may already have marked the payout unknown. It is checked again instead of
  // sent.
  if (leftMs <= 0) return { againInMs: 0 };

  const sent: Sent = await within(leftMs, () =>
    railOf(context, payout).send({
      key: payout.id,
      asset: payout.asset,
      units: payout.units,
      destination,
      notAfter: new Date(begunAt + callMs),
    }),
  );
  context.log.info(
    { payout: payout.id, rail: payout.rail, submission: payout.submissions, outcome: sent.outcome },
    'payout submitted',
  );
  return await recording(context, payout, async (tx) => {
    if (sent.outcome === 'submitted') return await recordTaken(context, tx, payout, sent.reference);
    if (sent.outcome === 'unknown') return await recordStillUnknown(context, tx, payout, sent.why);
    if (rejectionEnds(railOf(context, payout), payout)) return await reject(context, tx, payout, sent.why);
    return await recordStillUnknown(context, tx, payout, `rejected when it was sent again: ${sent.why}`);
  });
}

/** The rail's present answer about a payout; a late or broken answer counts as none. Calls outside. */
export const statusNow = (rail: Rail, key: string): Promise<PayoutStatus> => within(ASKING_MS, () => rail.status(key));

/** Asks the rail about a payout that is unknown, or whether a submitted one has been rejected since. */
async function ask(context: RunContext, payout: Payout): Promise<Handled> {
  const rail = railOf(context, payout);
  const status: PayoutStatus = await statusNow(rail, payout.id);
  const begunAt = Date.now();
  const next = await recording(context, payout, async (tx): Promise<Handled | { submission: Submission }> => {
    switch (status.outcome) {
      case 'known':
        if (await heldOnList(context, tx, payout)) return undefined;
        return await recordTaken(context, tx, payout, status.reference);
      case 'rejected':
        return await reject(context, tx, payout, status.why);
      case 'absent': {
        const repeat = repeatOf(rail, payout);
        if (repeat === 'unpromised') return await endIfAbsent(context, tx, payout);
        if (repeat === 'may_be_forgotten') return await recordForgotten(context, tx, payout);
        const begun = await begin(context, tx, payout);
        return 'submission' in begun ? begun : begun.handled;
      }
      case 'unknown':
        // If the rail currently has no answer about a submitted payout, it stays submitted.
        if (payout.state === 'submitted') return await stillSubmitted(context, tx, payout, context.clock.now());
        return await recordStillUnknown(context, tx, payout, status.why);
    }
  });
  return next !== undefined && 'submission' in next ? await submit(context, next.submission, begunAt) : next;
}

/**
 * The gate holds a payout that was submitted before, and its rail answers that it has no such payout. It is not submitted again:
 * it ends unsubmitted once no bytes of the earlier submission can still be in transit. A payout that the rail once accepted does
 * not end this way.
 */
async function endHeld(context: PayoutContext, tx: Tx, payout: Payout, why: string): Promise<Handled> {
  const overForMs = -(payout.submitLeftMs ?? 0);
  const graceMs = context.graceMs ?? GRACE_MS;
  if (payout.submittedAt === null && overForMs > graceMs) return await reject(context, tx, payout, why);
  await noteWaiting(tx, payout.id, `${why}; an earlier submission may still be executed`);
  const handled = await recordStillUnknown(context, tx, payout, why);
  return payout.submittedAt === null ? { againInMs: graceMs - overForMs + 100 } : handled;
}

/**
 * Holds a payout that its rail only lists until an operator submits it, if the gate now says so: until then it has not left.
 *
 * @returns whether it ended that way
 */
async function heldOnList(context: PayoutContext, tx: Tx, payout: Payout): Promise<boolean> {
  const rail = railOf(context, payout);
  if (rail.unlist === undefined) return false;
  const answer = await context.gate(tx, payout);
  if (answer.outcome !== 'hold') return false;
  const there = await lockPayout(tx, payout.id);
  unlessOutrun(there?.state === payout.state && there.submissions === payout.submissions ? 1 : 0);
  if (!(await rail.unlist(tx, payout.id, brief(answer.why)))) return false;
  context.log.warn({ payout: payout.id, rail: payout.rail, why: answer.why }, 'payout held before it was in a file');
  await reject(context, tx, payout, answer.why);
  return true;
}

/**
 * The rail reports that it has no such payout, but may only have forgotten its key. A payout that it accepted stays submitted,
 * because its line on the statement may take days.
 */
async function recordForgotten(context: PayoutContext, tx: Tx, payout: Payout): Promise<Handled> {
  if (payout.state === 'submitted') return await recordTaken(context, tx, payout, undefined);
  return await recordStillUnknown(context, tx, payout, 'absent, and the rail may have forgotten its key');
}

/** A rail that promises nothing about keys reports that it has no such payout. */
async function endIfAbsent(context: PayoutContext, tx: Tx, payout: Payout): Promise<Handled> {
  // A payout that the rail once accepted cannot have "never arrived", whatever the rail reports now.
  if (payout.submittedAt !== null)
    return await recordStillUnknown(context, tx, payout, 'accepted once, and absent now');
  const overForMs = -(payout.submitLeftMs ?? 0);
  const graceMs = context.graceMs ?? GRACE_MS;
  if (overForMs > graceMs) return await reject(context, tx, payout, 'never_arrived');
  await recordStillUnknown(context, tx, payout, 'absent, and may still be under way');
  return { againInMs: graceMs - overForMs + 100 };
}

async function recordTaken(
  context: PayoutContext,
  tx: Tx,
  payout: Payout,
  reference: string | undefined,
): Promise<Handled> {
  const now = context.clock.now();
  if (payout.submittedAt === null)
    await context.report(tx, { type: 'payout_submitted', rail: payout.rail, key: payout.id });
  unlessOutrun(await recordSubmitted(tx, payout, { reference, now }));
  return await stillSubmitted(context, tx, payout, now);
}

/** A payout that was accepted long ago and is not shown as paid opens a case, whether its rail still knows it or has no answer. */
async function stillSubmitted(context: PayoutContext, tx: Tx, payout: Payout, now: Date): Promise<Handled> {
  const { id: key, rail, submittedAt, alarmedAt } = payout;
  if (alarmedAt === null && submittedAt !== null && now >= later(submittedAt, SHOWN_AFTER_MS)) {
    await context.report(tx, { type: 'payout_unknown', rail, key, why: 'accepted, and not shown as paid since' });
    unlessOutrun(await recordAlarm(tx, payout, now));
  }
  return { againInMs: submittedPause(submittedAt, now) };
}

/** The receiver of the fact may record the rejection itself, or leave it to the call here. */
async function reject(context: PayoutContext, tx: Tx, payout: Payout, why: string): Promise<Handled> {
  await context.report(tx, { type: 'payout_rejected', rail: payout.rail, key: payout.id, why: brief(why) });
  await recordRejected(tx, { rail: payout.rail, key: payout.id, why, now: context.clock.now() });
  const there = await lockPayout(tx, payout.id);
  unlessOutrun(there?.submissions === payout.submissions ? 1 : 0);
  return undefined;
}

async function recordStillUnknown(context: PayoutContext, tx: Tx, payout: Payout, why: string): Promise<Handled> {
  const now = context.clock.now();
  const since = payout.unknownSince ?? now;
  const alarm = payout.alarmedAt === null && now >= later(since, ALARM_AFTER_MS);
  if (alarm) {
    await context.report(tx, { type: 'payout_unknown', rail: payout.rail, key: payout.id, why: brief(why) });
    context.log.warn({ payout: payout.id, rail: payout.rail, since }, 'payout unknown for too long');
  }
  unlessOutrun(await recordUnknown(tx, payout, { why: brief(why), now, alarm }));
  return { againInMs: unknownPause(payout, now) };
}

/** Thrown to roll back a recording whose payout has moved on, because the answer is older than the row. */
class Outrun extends Error {}

function unlessOutrun(rowsChanged: number): void {
  if (rowsChanged === 0) throw new Outrun();
}

/**
 * Records and reports the rail's answer, unless the row has moved on, and ends this run of the job unless a submission follows.
 *
 * Reports come before the row's own update, because their receiver locks the order, and orders are locked before payouts
 * everywhere. So the state is checked twice: by a plain read first, and then by the update itself, which rolls everything back if
 * it is too late.
 */
async function recording<T extends Handled | { submission: Submission }>(
  context: RunContext,
  payout: Payout,
  body: (tx: Tx) => Promise<T>,
): Promise<T | { againInMs: number }> {
  const recorded = await unlessOverrun(context, payout.id, async (tx) => {
    const there = await readPayout(tx, payout.id);
    unlessOutrun(there?.state === payout.state && there.submissions === payout.submissions ? 1 : 0);
    const value = await body(tx);
    if (value === undefined || 'againInMs' in value) context.run?.ends(tx, value);
    return { value };
  });
  return 'value' in recorded ? recorded.value : recorded.handled;
}

/** Rolls back a transaction whose payout has moved on meanwhile, and has the payout checked again at once. */
async function unlessOverrun<T>(
  context: PayoutContext,
  id: string,
  body: (tx: Tx) => Promise<T>,
): Promise<T | { handled: { againInMs: number } }> {
  try {
    return await context.db.asSystem(body);
  } catch (error) {
    if (!(error instanceof Outrun)) throw error;
    context.log.warn({ payout: id }, 'the payout moved on before this could be recorded');
    return { handled: { againInMs: 0 } };
  }
}

function railOf(context: PayoutContext, payout: Payout): Rail {
  const rail = context.rails.get(payout.rail);
  assert(rail, `payout ${payout.id} is for rail ${payout.rail}, which is not configured`);
  return rail;
}
