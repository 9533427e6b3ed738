/**
 * The operator's desk at a manual bank: the steps that replace a bank's API.
 *
 * 1. Payouts wait on a list (`waiting`).
 * 2. An operator closes a batch (`closeBatch`): the waiting payouts are written into one file, once. Each payout is in only one
 *   file.
 * 3. The operator downloads the file (`file`), the same bytes every time, and uploads it at the bank.
 * 4. The operator downloads a statement at the bank; it is read and taken in (`readStatement`, `takeStatement`). Only the
 *   statement decides the outcome of payouts.
 *
 * An operator can withdraw a batch that was not uploaded, stating how they know that. Its payouts are then rejected, so new
 * attempts get keys of their own. If the old file is uploaded after all, its payments show as unexplained debits.
 *
 * The results of these functions contain no personal data, except that of `file`: its bytes go to authorised people and into no
 * log. The protocol that calls these functions authorises the caller, and records the caller in the same transaction.
 *
 * Here: the contract, and the functions for statements. Files are in desk.files.ts.
 */
import { dayOf, later } from '../../base/clock.ts';
import type { Tx } from '../../base/db.ts';
import type { AssetCode } from '../../base/money.ts';
import { missing } from './continuity.ts';
import { type Chunks, refuseFile } from './decode.ts';
import {
  accountOf,
  batch,
  closeBatch,
  confirmRestore,
  type Desk,
  type DeskContext,
  file,
  lookAgain,
  MOST_PAYOUTS,
  next,
  requireMayLeave,
  stillWaiting,
  takeOff,
  unconfirmed,
  withdrawBatch,
} from './desk.files.ts';
import {
  type FileDebit,
  fileDebit,
  keysOfFile,
  openOfFile,
  requireSettleable,
  type SettleFile,
  settleFile,
} from './desk.settle.ts';
import { type Imported, type NewLines, newLinesOf, readStatement, takenSoFar, takeStatement } from './import.ts';
import { type ReadFile } from './lines.ts';
import type { StatementPreview } from './preview.ts';
import type { FileFormat, ManualBankSettings } from './settings.ts';
import * as statementStore from './statements.store.ts';
import * as store from './store.ts';

export { type DeskContext, detailsPlace, unlist } from './desk.files.ts';
export type { Imported } from './import.ts';
export type { ReadFile } from './lines.ts';
export type { ImportRow, StatementRow } from './statements.store.ts';
export type { BatchPayout, BatchRow, Listed } from './store.ts';

const DAY_MS = 86_400_000;
/** A bank dates a booking to its next business day: at most a weekend and a week of holidays ahead. */
const MOST_AHEAD_DAYS = 14;

export interface ManualDesk {
  /** The rail it belongs to. */
  readonly code: string;
  /** The operator's accounts at this bank, without their numbers. */
  accounts(): { asset: AssetCode; currency: string; bank: string; payoutFile: FileFormat; csvStatements: boolean }[];

  /** Payouts on the list for the next file, oldest first, at most 1,000. */
  waiting(tx: Tx, asset?: AssetCode): Promise<store.Listed[]>;
  /**
   * Removes a payout from the list before it is in a file: it is rejected with `taken_off_list`.
   * @throws Refusal 'batch_refused' if it is not waiting
   */
  takeOff(tx: Tx, key: string): Promise<void>;
  /**
   * What a file that is closed now would contain: its payouts in order, without those that the gate holds back. No other file is
   * closed until `tx` ends.
   * @param given.until payouts listed later are left for the next file
   */
  next(tx: Tx, given: { asset: AssetCode; until: Date }): Promise<{ keys: string[]; units: bigint }>;
  /**
   * The payouts among these that are still waiting, and their sum. The gate is not asked. No other file is closed until `tx`
   * ends.
   */
  stillWaiting(
    tx: Tx,
    given: { asset: AssetCode; keys: readonly string[] },
  ): Promise<{ keys: string[]; units: bigint }>;
  /**
   * Closes the waiting payouts into one file, at most 1,000. Each one passes the gate again. With `keys` the file contains
   * exactly those; without, it omits payouts that the gate holds back or that have ended meanwhile.
   * @param given.keys the payouts that the operator reviewed
   * @returns also the payouts that stay on the list, with the reason
   * @throws Refusal 'batch_refused' if no payout may leave
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
   * @throws Refusal 'batch_refused' if there is none, it was withdrawn, or one of its payouts may not leave now
   */
  file(tx: Tx, id: bigint): Promise<{ name: string; type: string; bytes: Buffer; sha256: string }>;
  /**
   * Checks whether the file could be downloaded now, without returning it.
   * @throws Refusal as `file`
   */
  requireMayLeave(tx: Tx, id: bigint): Promise<void>;
  /** Has waiting payouts ask the gate again at once: those of a file, or those on the list for an asset. */
  lookAgain(tx: Tx, of: { file: bigint } | { asset: AssetCode }): Promise<void>;
  /**
   * States that a file was not uploaded and never will be. Its payouts are rejected with `file_withdrawn`.
   * @param given.statement how the operator knows that, in their own words; stored
   * @throws Refusal 'batch_refused' if a statement shows one of its payouts
   */
  withdrawBatch(tx: Tx, id: bigint, given: { by: string; statement: string }): Promise<store.BatchRow>;
  /** The payouts of a file. @throws Refusal 'batch_refused' if there is no such file */
  keysOfFile(tx: Tx, id: bigint): Promise<string[]>;
  /** The payouts of a file that are not settled or returned. @throws Refusal 'batch_refused' if there is no such file */
  openOfFile(tx: Tx, id: bigint): Promise<string[]>;
  /**
   * A debit beside payouts of a file, as operators see them before they decide.
   * @throws Refusal 'batch_refused' | 'does_not_fit' if there is no such file, debit, or payout in the file
   */
  fileDebit(tx: Tx, given: SettleFile): Promise<FileDebit>;
  /** The same, if the payouts may be settled by that debit now. @throws Refusal also 'does_not_fit' with the reason */
  requireSettleable(tx: Tx, given: SettleFile): Promise<FileDebit>;
  /**
   * Settles payouts of a file by one debit of any amount that was booked as unexplained. The difference is booked under the
   * debit's id.
   * @throws Refusal as `requireSettleable`
   */
  settleFile(tx: Tx, given: SettleFile): Promise<void>;

  /**
   * After a restore, until an operator has confirmed that the statements show every file that was uploaded before: the time of
   * the restore, and which unexplained debits may have paid which waiting payouts. No file is closed or downloaded until then.
   */
  unconfirmed(tx: Tx): Promise<{ restoredAt: Date; doubtful: { line: string; payout: string }[] } | undefined>;
  /** An operator confirms that. @throws Refusal 'batch_refused' if there is nothing to confirm, or a statement is being read */
  confirmRestore(tx: Tx, given: { by: string; why: string }): Promise<void>;

  /**
   * Reads a statement, CSV or camt.053, to its end, and changes nothing.
   * @param given.bytes the file, whole or as a stream
   * @throws Refusal 'file_refused' with `why`, a sentence without content of the file
   */
  readStatement(given: { asset: AssetCode; bytes: Uint8Array | Chunks }): Promise<ReadFile>;
  /** The effect of a file line by line, in a transaction that is rolled back. Throws what taking the file in would throw. */
  preview(file: ReadFile): Promise<StatementPreview>;
  /**
   * What a file that is closed now would contain, and the payouts that the gate would hold back, in a transaction that is rolled
   * back.
   * @throws Refusal 'batch_refused' if no payout may leave
   */
  previewFile(given: { asset: AssetCode }): Promise<{
    asset: AssetCode;
    payouts: number;
    units: bigint;
    format: FileFormat;
    leftOut: { key: string; why: string }[];
  }>;
  /** Sums of a file's new lines, without lines of earlier files; zero for a file that was taken in before (`importId`). */
  newOf(tx: Tx, file: ReadFile): Promise<NewLines>;
  /** @throws Refusal 'file_refused' for future days without a reason, and for days too far ahead */
  requireDated(file: ReadFile, reason: string | undefined): void;
  /**
   * Takes in a file that was read, all of it or nothing.
   * @throws Refusal 'file_refused' if it contradicts earlier statements; `tx` must then be rolled back
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
  /** Net amount that the statements leave unexplained; 0 if they connect, null if they have no balances. */
  missing(tx: Tx, asset: AssetCode): Promise<bigint | null>;
}

const MOST_ROWS = 200;

/** Without previews, which index.ts adds. */
export function openDesk(
  settings: ManualBankSettings,
  context: DeskContext,
): Omit<ManualDesk, 'preview' | 'previewFile'> {
  const { code: rail } = settings;
  const desk: Desk = { settings, context, rail };
  return {
    code: rail,
    accounts: () =>
      settings.accounts.map(({ asset, currency, bank, payoutFile, csv }) => ({
        ...{ asset, currency, bank, payoutFile },
        csvStatements: csv !== undefined,
      })),

    waiting: (tx, asset) => store.waiting(tx, rail, asset, MOST_PAYOUTS),
    takeOff: (tx, key) => takeOff(desk, tx, key),
    next: (tx, given) => next(desk, tx, given),
    stillWaiting: (tx, given) => stillWaiting(desk, tx, given),
    closeBatch: (tx, given) => closeBatch(desk, tx, given),
    batches: (tx) => store.batches(tx, rail, MOST_ROWS),
    batch: (tx, id) => batch(desk, tx, id),
    file: (tx, id) => file(desk, tx, id),
    requireMayLeave: (tx, id) => requireMayLeave(desk, tx, id),
    lookAgain: (tx, of) => lookAgain(desk, tx, of),
    withdrawBatch: (tx, id, given) => withdrawBatch(desk, tx, id, given),

    keysOfFile: (tx, id) => keysOfFile(desk, tx, id),
    openOfFile: (tx, id) => openOfFile(desk, tx, id),
    fileDebit: (tx, given) => fileDebit(desk, tx, given),
    requireSettleable: (tx, given) => requireSettleable(desk, tx, given),
    settleFile: (tx, given) => settleFile(desk, tx, given),

    unconfirmed: (tx) => unconfirmed(desk, tx),
    confirmRestore: (tx, given) => confirmRestore(desk, tx, given),

    readStatement: async ({ asset, bytes }) =>
      await readStatement(context, rail, accountOf(desk, asset), bytes instanceof Uint8Array ? [bytes] : bytes),
    newOf: (tx, read) => newLinesOf(context, tx, read),
    requireDated: (read, reason) => requireDated(context, read, reason),
    takeStatement: (tx, { file: read, by }) => takeStatement(context, tx, read, by),

    imports: (tx) => statementStore.imports(tx, rail, MOST_ROWS),
    statements: (tx, asset, span) => statementStore.statementsOf(tx, rail, asset, span),
    lines: (tx, asset, { from, to, after }) =>
      statementStore.linesOfSpan(tx, rail, asset, { from, to, after: after ?? 0n }, MOST_PAYOUTS),
    missing: (tx, asset) => missingOf(tx, rail, asset),
  };
}

/** See `ManualDesk.requireDated`. */
function requireDated({ clock }: DeskContext, file: ReadFile, reason: string | undefined): void {
  const last = file.statements
    .flatMap(({ to, lines }) => [to, ...lines.map(({ bookedOn }) => bookedOn)])
    .toSorted()
    .at(-1);
  // In some time zone it may already be tomorrow.
  const tomorrow = dayOf(later(clock.now(), DAY_MS));
  if (last === undefined || last <= tomorrow) return;
  if (reason === undefined) throw refuseFile(`The statement ends on ${last}, which is in the future: give a reason.`);
  // A reason may justify that a bank dates by the end of the month, but not a wrong year.
  if (last > dayOf(later(clock.now(), MOST_AHEAD_DAYS * DAY_MS)))
    throw refuseFile(
      `The statement ends on ${last}: it may end at most ${MOST_AHEAD_DAYS} days in the future, whatever the reason.`,
    );
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
