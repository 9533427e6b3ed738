/**
 * The operator's desk at a manual bank: what a person does in place of a bank's API.
 *
 * 1. Payouts wait on a list (`waiting`).
 * 2. A person closes a batch (`closeBatch`): the waiting payouts are written into one file, once. Each payout is in one file
 *   only.
 * 3. The person downloads the file (`file`), the same bytes every time, and uploads it at the bank.
 * 4. The person downloads a statement there; it is read and taken in (`readStatement`, `takeStatement`). Only the statement
 *   decides the outcome of payouts.
 *
 * A person can withdraw a batch that was not uploaded, stating how they know. Its payouts are then rejected, so that new
 * attempts get keys of their own; if the old file is uploaded after all, its payments show as unexplained debits.
 *
 * What these functions return contains no personal data, except `file`: its bytes go to authorised people and into no log.
 * The protocol in front authorises the caller, and records the caller in the same transaction.
 */
import { createHash } from 'node:crypto';
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { enqueue } from '../../base/jobs.ts';
import type { AssetCode } from '../../base/money.ts';
import { openTyped } from '../../base/typed.ts';
import type { BankContext } from '../bank.ts';
import { type Gate, payoutByKey } from '../payouts.ts';
import { missing } from './continuity.ts';
import { type Chunks, refuseFile } from './decode.ts';
import { batchName, FILE_TYPES, writeFile } from './files.ts';
import { type Imported, type NewLines, newLinesOf, readStatement, takenSoFar, takeStatement } from './import.ts';
import { type ReadFile } from './lines.ts';
import type { PayeeDetails } from './payee.ts';
import type { StatementPreview } from './preview.ts';
import type { FileFormat, ManualAccount, ManualBankSettings } from './settings.ts';
import * as statementStore from './statements.store.ts';
import * as store from './store.ts';

export type { Imported } from './import.ts';
export type { ReadFile } from './lines.ts';
export type { ImportRow, StatementRow } from './statements.store.ts';
export type { BatchPayout, BatchRow, Listed } from './store.ts';

const DAY_MS = 86_400_000;
/** A weekend and a week of holidays: a bank dates a booking to its next business day. */
const MOST_AHEAD_DAYS = 14;

export type DeskContext = BankContext & { gate: Gate };

export interface ManualDesk {
  /** The rail it belongs to. */
  readonly code: string;
  /** The accounts of the operator at this bank, without their numbers. */
  accounts(): { asset: AssetCode; currency: string; bank: string; payoutFile: FileFormat; csvStatements: boolean }[];

  /** Payouts on the list for the next file, oldest first, at most 1,000. */
  waiting(tx: Tx, asset?: AssetCode): Promise<store.Listed[]>;
  /**
   * Removes a payout from the list before it is in a file: it is rejected with `taken_off_list`.
   * @throws Refusal 'batch_refused' when it is not waiting
   */
  takeOff(tx: Tx, key: string): Promise<void>;
  /**
   * What a file closed now would contain: its payouts in order, without those that the gate holds back. No other file is
   * closed until `tx` ends.
   * @param given.until payouts listed later are left for the next file
   */
  next(tx: Tx, given: { asset: AssetCode; until: Date }): Promise<{ keys: string[]; units: bigint }>;
  /** Which of these are still waiting, and their sum; the gate is not asked. No other file is closed until `tx` ends. */
  stillWaiting(
    tx: Tx,
    given: { asset: AssetCode; keys: readonly string[] },
  ): Promise<{ keys: string[]; units: bigint }>;
  /**
   * Closes the waiting payouts into one file, at most 1,000. Each passes the gate again. With `keys` the file contains
   * exactly those; without, it omits what the gate holds back and what has ended meanwhile.
   * @param given.keys what the operator reviewed
   * @returns also what stays on the list, and why
   * @throws Refusal 'batch_refused' when nothing may leave
   */
  closeBatch(
    tx: Tx,
    given: { asset: AssetCode; by: string; keys?: readonly string[] },
  ): Promise<store.BatchRow & { leftOut: { key: string; why: string }[] }>;
  /** Files, newest first, at most 200. */
  batches(tx: Tx): Promise<store.BatchRow[]>;
  /** One file and the state of its payouts. @throws Refusal 'batch_refused' */
  batch(tx: Tx, id: bigint): Promise<store.BatchRow & { list: store.BatchPayout[] }>;
  /**
   * The file itself, the same bytes every time.
   * @throws Refusal 'batch_refused' when there is none, it was withdrawn, or one of its payouts may not leave now
   */
  file(tx: Tx, id: bigint): Promise<{ name: string; type: string; bytes: Buffer; sha256: string }>;
  /**
   * Checks whether the file could be downloaded now, without returning it.
   * @throws Refusal as `file`
   */
  requireMayLeave(tx: Tx, id: bigint): Promise<void>;
  /** Makes waiting payouts ask the gate again, at once: those of a file, or of an asset those on the list. */
  lookAgain(tx: Tx, of: { file: bigint } | { asset: AssetCode }): Promise<void>;
  /**
   * States that a file was not uploaded and never will be. Its payouts are rejected with `file_withdrawn`.
   * @param given.statement how the person knows, in their words; stored
   * @throws Refusal 'batch_refused' when a statement shows one of its payouts
   */
  withdrawBatch(tx: Tx, id: bigint, given: { by: string; statement: string }): Promise<store.BatchRow>;

  /**
   * After a restore, as long as nobody has confirmed that the statements show every file uploaded before: when it was, and
   * which unexplained debits may have paid which waiting payouts. No file is closed or downloaded until then.
   */
  unconfirmed(tx: Tx): Promise<{ restoredAt: Date; doubtful: { line: string; payout: string }[] } | undefined>;
  /** Confirms it. @throws Refusal 'batch_refused' when there is nothing to confirm, or a statement is being read */
  confirmRestore(tx: Tx, given: { by: string; why: string }): Promise<void>;

  /**
   * Reads a statement, CSV or camt.053, to its end, and changes nothing.
   * @param given.bytes the file, whole or as a stream
   * @throws Refusal 'file_refused' with `why`, a sentence without content of the file
   */
  readStatement(given: { asset: AssetCode; bytes: Uint8Array | Chunks }): Promise<ReadFile>;
  /** What taking it in would do, line by line, in a transaction that is rolled back. Throws what taking it in would throw. */
  preview(file: ReadFile): Promise<StatementPreview>;
  /**
   * What a file closed now would contain, and what the gate would hold back, in a transaction that is rolled back.
   * @throws Refusal 'batch_refused' when nothing may leave
   */
  previewFile(given: { asset: AssetCode }): Promise<{
    asset: AssetCode;
    payouts: number;
    units: bigint;
    format: FileFormat;
    leftOut: { key: string; why: string }[];
  }>;
  /** What is new in a file: sums of the lines that no earlier file brought, none for a file taken before (`importId`). */
  newOf(tx: Tx, file: ReadFile): Promise<NewLines>;
  /** @throws Refusal 'file_refused' for future days without a stated reason, and for days far ahead */
  requireDated(file: ReadFile, reason: string | undefined): void;
  /**
   * Takes in what was read, all of it or nothing.
   * @throws Refusal 'file_refused' when it contradicts earlier statements; then `tx` must be rolled back
   */
  takeStatement(tx: Tx, given: { file: ReadFile; by: string }): Promise<Imported>;
  /** Files taken in, newest first, at most 200. */
  imports(tx: Tx): Promise<statementStore.ImportRow[]>;
  /** Statements that touch a span of days (`YYYY-MM-DD`, both included), with their balances. */
  statements(tx: Tx, asset: AssetCode, span: { from: string; to: string }): Promise<statementStore.StatementRow[]>;
  /** Lines booked in a span of days, in pages of at most 1,000 after a `seq`; no names. */
  lines(
    tx: Tx,
    asset: AssetCode,
    span: { from: string; to: string; after?: bigint },
  ): Promise<statementStore.LineFacts[]>;
  /** Net amount that the taken statements leave unexplained; 0 when they connect, null when they carry no balances. */
  missing(tx: Tx, asset: AssetCode): Promise<bigint | null>;
}

const MOST_PAYOUTS = 1_000;
const MOST_ROWS = 200;
const SHORTEST_STATEMENT = 10;
const LONGEST_STATEMENT = 500;

/** Items named in an error sentence. */
const MOST_NAMED = 20;
const named = (stays: readonly { key: string; why: string }[]): string =>
  stays
    .slice(0, MOST_NAMED)
    .map(({ key, why }) => `${key} (${why})`)
    .concat(stays.length > MOST_NAMED ? [`and ${stays.length - MOST_NAMED} more`] : [])
    .join(', ');

const withWhy = (key: string, why: string | null | undefined): { key: string; why: string }[] =>
  why === null || why === undefined ? [] : [{ key, why }];

const sumOf = (payouts: readonly { key: string; units: bigint }[]): { keys: string[]; units: bigint } => ({
  keys: payouts.map(({ key }) => key),
  units: payouts.reduce((sum, { units }) => sum + units, 0n),
});

const nothingLeaves = (stays: readonly { key: string; why: string }[]): Refusal =>
  refuse(
    stays.length === 0
      ? 'No payout waits for a file.'
      : `None of the ${stays.length} payouts that wait may leave now: ${named(stays)}.`,
  );

/** @throws Refusal 'batch_refused' when the file would differ from the one that was reviewed */
function requireAllOf(
  shown: readonly string[],
  chosen: readonly { key: string }[],
  stays: readonly { key: string; why: string }[],
): void {
  const there = new Set(chosen.map(({ key }) => key));
  const missing = [...new Set(shown)]
    .filter((key) => !there.has(key))
    .map((key) => ({ key, why: stays.find((one) => one.key === key)?.why ?? 'it does not wait for a file any more' }));
  if (missing.length === 0) return;
  const which = missing.length === 1 ? 'Payout' : 'Payouts';
  throw refuse(
    `${which} ${named(missing)} cannot be in this file any more. Nothing was closed: look at the list again.`,
  );
}

const refuse = (why: string): Refusal => new Refusal('batch_refused', { why });
const malformed = (field: string, rule: string): Refusal =>
  new Refusal('malformed_field', { fields: { [field]: rule } });

export const detailsPlace = (rail: string, key: string): string => `manual_payouts.details:${rail}:${key}`;
const filePlace = (rail: string, id: bigint): string => `manual_batches.content:${rail}:${id}`;

/** Without previews: index.ts adds them. */
export function openDesk(
  settings: ManualBankSettings,
  context: DeskContext,
): Omit<ManualDesk, 'preview' | 'previewFile'> {
  const { vault, clock, log } = context;
  const rail = settings.code;

  function accountOf(asset: AssetCode): ManualAccount {
    const account = settings.accounts.find((one) => one.asset === asset);
    if (account === undefined) throw malformed('asset', 'must be an asset that this bank has an account in');
    return account;
  }

  /** The gate's answer for payouts now: null for one that may leave, else what holds it back, in words. */
  async function kept(tx: Tx, keys: readonly string[]): Promise<Map<string, string | null>> {
    const answers = new Map<string, string | null>();
    for (const key of keys.toSorted()) {
      const payout = await payoutByKey(tx, rail, key);
      const answer = payout === undefined ? undefined : await context.gate(tx, payout);
      answers.set(key, answer === undefined ? 'no such payout' : answer.outcome === 'pay' ? null : answer.why);
    }
    return answers;
  }

  async function there(tx: Tx, id: bigint): Promise<store.BatchRow> {
    const batch = await store.readBatch(tx, rail, id);
    if (batch === undefined) throw refuse('There is no such file.');
    return batch;
  }

  const openOf = async (tx: Tx, id: bigint): Promise<string[]> =>
    (await store.payoutsOfBatch(tx, id))
      .filter(({ state }) => state === 'submitted' || state === 'unknown')
      .map(({ key }) => key);

  /** Handing a file out is our last moment of control, so each of its payouts passes the gate as if it were submitted now. */
  async function mayLeave(tx: Tx, id: bigint): Promise<store.BatchRow> {
    const batch = await there(tx, id);
    if (batch.withdrawnAt !== null) throw refuse('The file was withdrawn: it must not be uploaded.');
    const stays = [...(await kept(tx, await openOf(tx, id)))].flatMap(([key, why]) =>
      why === null ? [] : [{ key, why }],
    );
    const held = stays.filter(({ why }) => why.startsWith('held: '));
    const waits = stays.filter((one) => !held.includes(one));
    if (stays.length > 0)
      throw refuse(
        [
          held.length > 0 &&
            `${held.length} of its payouts may not leave any more: ${named(held)}. Withdraw the file if it was not uploaded.`,
          waits.length > 0 &&
            `${waits.length} of its payouts may not leave yet: ${named(waits)}. Ask again when that is over.`,
        ]
          .filter((said) => said !== false)
          .join(' '),
      );
    return batch;
  }

  /** A file closed after the backup may be at the bank, while its payouts wait here as if it had never existed. */
  async function unlessRestored(tx: Tx): Promise<void> {
    const at = await store.unconfirmedRestore(tx, rail);
    if (at !== undefined)
      throw refuse(
        `The database was put back at ${at.toISOString()}. Two operators must first confirm that the statements taken in show every file uploaded before (bank confirm-restore).`,
      );
  }

  return {
    code: rail,
    accounts: () =>
      settings.accounts.map(({ asset, currency, bank, payoutFile, csv }) => ({
        asset,
        currency,
        bank,
        payoutFile,
        csvStatements: csv !== undefined,
      })),

    waiting: (tx, asset) => store.waiting(tx, rail, asset, MOST_PAYOUTS),

    async takeOff(tx, key) {
      const listed = await store.readListed(tx, rail, key);
      if (listed === undefined) throw refuse('There is no such payout on the list.');
      if (!(await unlist(tx, rail, key, { why: 'taken_off_list', now: clock.now() })))
        throw refuse(`It is in file ${(await store.readListed(tx, rail, key))?.batchId}.`);
      enqueue(tx, { kind: 'send_payout', subject: key, dueAt: clock.now() });
    },

    async next(tx, { asset, until }) {
      accountOf(asset);
      await store.lockRail(tx, rail);
      await unlessRestored(tx);
      const listed = (await store.waitingUntil(tx, rail, asset, { until, most: MOST_PAYOUTS })).filter(
        ({ ended }) => !ended,
      );
      const answers = await kept(
        tx,
        listed.map(({ key }) => key),
      );
      const stays = listed.flatMap(({ key }) => withWhy(key, answers.get(key)));
      if (stays.length === listed.length) throw nothingLeaves(stays);
      return sumOf(listed.filter(({ key }) => answers.get(key) === null));
    },

    async stillWaiting(tx, { asset, keys }) {
      accountOf(asset);
      await store.lockRail(tx, rail);
      const listed = await store.waitingOf(tx, rail, asset, keys);
      return sumOf(listed.filter(({ ended }) => !ended));
    },

    async closeBatch(tx, { asset, by, keys: shown }) {
      const account = accountOf(asset);
      await store.lockRail(tx, rail);
      await unlessRestored(tx);
      const decimals = await store.decimalsOf(tx, asset);
      assert(decimals !== undefined, `the asset ${asset} of ${rail} is known`);
      const now = clock.now();
      // The gate locks orders, and an order is locked before any row of its payout, including its row on this list.
      const waits = (await store.waiting(tx, rail, asset, MOST_PAYOUTS)).map(({ key }) => key);
      const leftOut = await kept(tx, [...new Set([...waits, ...(shown ?? [])])]);
      const listed = await store.lockWaitingOf(tx, rail, asset, [...leftOut.keys()]);
      // A payout that ended in another way must not be paid through this file.
      const over = listed.filter(({ ended }) => ended).map(({ key }) => key);
      if (over.length > 0) await store.markRejected(tx, rail, over, 'over_before_it_was_in_a_file', now);
      const isAsked = (key: string) => shown?.includes(key) ?? true;
      const chosen = listed.filter(({ key, ended }) => !ended && leftOut.get(key) === null && isAsked(key));
      const stays = listed.flatMap(({ key, ended }) => (ended ? [] : withWhy(key, leftOut.get(key))));
      if (chosen.length === 0 && shown === undefined) throw nothingLeaves(stays);
      if (shown !== undefined) requireAllOf(shown, chosen, stays);
      // The payout engine holds or releases what stays, in its own transaction.
      for (const { key } of stays) enqueue(tx, { kind: 'send_payout', subject: key, dueAt: now });
      const id = await store.nextBatchId(tx);
      const text = writeFile(account.payoutFile, {
        id,
        closedAt: now,
        account,
        decimals,
        payouts: chosen.map(({ key, endToEnd, units, details }) => ({
          endToEnd,
          units,
          payee: JSON.parse(vault.decrypt(details, detailsPlace(rail, key))) as PayeeDetails,
        })),
      });
      const batch = await store.insertBatch(tx, rail, {
        id,
        asset,
        format: account.payoutFile,
        keys: chosen.map(({ key }) => key),
        units: chosen.reduce((sum, { units }) => sum + units, 0n),
        content: vault.encrypt(text, filePlace(rail, id)),
        sha256: createHash('sha256').update(text).digest(),
        closedAt: now,
        closedBy: by,
      });
      log.info({ rail, batch: batch.id, payouts: batch.payouts }, 'payout file closed');
      return { ...batch, leftOut: stays };
    },

    batches: (tx) => store.batches(tx, rail, MOST_ROWS),

    async batch(tx, id) {
      return { ...(await there(tx, id)), list: await store.payoutsOfBatch(tx, id) };
    },

    async file(tx, id) {
      // Not while another operator withdraws it: the first one to commit wins.
      await store.lockRail(tx, rail);
      await unlessRestored(tx);
      const batch = await mayLeave(tx, id);
      const content = await store.batchContent(tx, id);
      assert(content !== undefined, `file ${id} has content`);
      const bytes = Buffer.from(vault.decrypt(content, filePlace(rail, id)), 'utf8');
      assert(createHash('sha256').update(bytes).digest('hex') === batch.sha256, `file ${id} is what was closed`);
      log.info({ rail, batch: id }, 'payout file downloaded');
      const { type, ending } = FILE_TYPES[batch.format];
      return { name: `${batchName(id)}.${ending}`, type, bytes, sha256: batch.sha256 };
    },

    async requireMayLeave(tx, id) {
      await store.lockRail(tx, rail);
      await unlessRestored(tx);
      await mayLeave(tx, id);
    },
    async lookAgain(tx, of) {
      const keys =
        'file' in of
          ? await openOf(tx, of.file)
          : (await store.waiting(tx, rail, of.asset, MOST_PAYOUTS)).map(({ key }) => key);
      for (const key of keys) enqueue(tx, { kind: 'send_payout', subject: key, dueAt: clock.now() });
    },

    async withdrawBatch(tx, id, { by, statement }) {
      const why = statement.trim();
      const { length } = openTyped(vault, why);
      if (length < SHORTEST_STATEMENT || length > LONGEST_STATEMENT)
        throw malformed(
          'statement',
          `must say in ${SHORTEST_STATEMENT} to ${LONGEST_STATEMENT} characters how you know that the file was not uploaded`,
        );
      await store.lockRail(tx, rail);
      const batch = await there(tx, id);
      if (batch.withdrawnAt !== null) return batch;
      if (await statementStore.hasUnread(tx, rail)) throw refuse('A statement is being read: ask again in a moment.');
      if ((await store.shownOfBatch(tx, rail, id)) > 0)
        throw refuse('A statement shows payouts of this file: it was uploaded.');
      const now = clock.now();
      await store.markWithdrawn(tx, id, { by, why, now });
      const keys = (await store.payoutsOfBatch(tx, id)).map(({ key }) => key);
      await store.markRejected(tx, rail, keys, 'file_withdrawn', now);
      // The payout engine asks for the status of each, and learns of the rejection.
      for (const key of keys) enqueue(tx, { kind: 'send_payout', subject: key, dueAt: now });
      log.warn({ rail, batch: id }, 'payout file withdrawn');
      return await there(tx, id);
    },

    async unconfirmed(tx) {
      const restoredAt = await store.unconfirmedRestore(tx, rail);
      return restoredAt && { restoredAt, doubtful: await store.doubtful(tx, rail, restoredAt) };
    },
    async confirmRestore(tx, { by, why }) {
      await store.lockRail(tx, rail);
      const restoredAt = await store.unconfirmedRestore(tx, rail);
      if (restoredAt === undefined) throw refuse('No restore waits to be confirmed.');
      if (await statementStore.hasUnread(tx, rail)) throw refuse('A statement is being read: ask again in a moment.');
      await store.confirmRestore(tx, rail, { restoredAt, by, why, now: clock.now() });
      log.warn({ rail }, 'payout files are closed again after a restore');
    },

    readStatement: async ({ asset, bytes }) =>
      await readStatement(context, rail, accountOf(asset), bytes instanceof Uint8Array ? [bytes] : bytes),
    newOf: (tx, file) => newLinesOf(context, tx, file),
    requireDated(file, reason) {
      const last = file.statements
        .flatMap(({ to, lines }) => [to, ...lines.map(({ bookedOn }) => bookedOn)])
        .toSorted()
        .at(-1);
      // Somewhere on earth it is tomorrow already.
      const tomorrow = new Date(clock.now().getTime() + DAY_MS).toISOString().slice(0, 10);
      if (last === undefined || last <= tomorrow) return;
      if (reason === undefined)
        throw refuseFile(`The statement goes to ${last}, which has not come: say why with a reason.`);
      // A stated reason may cover a bank that dates by the month's end, but not a wrong year.
      if (last > new Date(clock.now().getTime() + MOST_AHEAD_DAYS * DAY_MS).toISOString().slice(0, 10))
        throw refuseFile(
          `The statement goes to ${last}: no reason allows more than ${MOST_AHEAD_DAYS} days that have not come.`,
        );
    },
    takeStatement: (tx, { file, by }) => takeStatement(context, tx, file, by),

    imports: (tx) => statementStore.imports(tx, rail, MOST_ROWS),
    statements: (tx, asset, span) => statementStore.statementsOf(tx, rail, asset, span),
    lines: (tx, asset, { from, to, after }) =>
      statementStore.linesOfSpan(tx, rail, asset, { from, to, after: after ?? 0n }, MOST_PAYOUTS),
    missing: (tx, asset) => missingOf(tx, rail, asset),
  };
}

/** Removes a payout from the list, if it is in no file yet. @returns whether it is off the list, now or before */
export async function unlist(
  tx: Tx,
  rail: string,
  key: string,
  { why, now }: { why: string; now: Date },
): Promise<boolean> {
  const listed = await store.lockListed(tx, rail, key);
  if (listed === undefined || listed.batchId !== null) return false;
  if (listed.rejectedAt === null) await store.markRejected(tx, rail, [key], why, now);
  return true;
}

/** See `ManualDesk.missing`. */
export async function missingOf(
  tx: Parameters<typeof store.sumTaken>[0],
  rail: string,
  asset: AssetCode,
): Promise<bigint | null> {
  const taken = await takenSoFar(tx, rail, asset);
  return taken === undefined ? 0n : taken === 'unbalanced' ? null : missing(taken);
}
