/**
 * The operator's desk at a manual bank: what a person does in place of a bank's API.
 *
 * 1. Payouts wait on a list (`waiting`).
 * 2. A person closes a batch (`closeBatch`): what waits is written into one file, once. Each payout is in one file for good.
 * 3. The file is downloaded (`file`), the same bytes every time, and uploaded at the bank.
 * 4. A statement is downloaded there, read and taken in (`readStatement`, `takeStatement`). It alone says what became of
 *    payouts.
 *
 * A batch that was not uploaded can be withdrawn, by a person who states how they know. Its payouts are then refused, so
 * that whoever wants them paid makes new attempts with keys of their own, and the old file, should it be uploaded after all,
 * shows as money that left without explanation.
 *
 * What these functions return names nobody, but for `file`: that goes to authorised hands and into no log. Who may call them
 * is decided by the protocol in front, and who did is recorded there, in the same transaction.
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
import {
  type Imported,
  type NewLines,
  newLinesOf,
  type ReadFile,
  readStatement,
  takenSoFar,
  takeStatement,
} from './import.ts';
import type { PayeeDetails } from './payee.ts';
import type { StatementPreview } from './preview.ts';
import type { FileFormat, ManualAccount, ManualBankSettings } from './settings.ts';
import * as store from './store.ts';

export type { Imported, ReadFile } from './import.ts';
export type { BatchPayout, BatchRow, ImportRow, Listed, StatementRow } from './store.ts';

const DAY_MS = 86_400_000;
/** A weekend and a week of holidays: a bank dates a booking to the next day on which it is open. */
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
   * Takes a payout off the list before it is in a file: it is refused with `taken_off_list`.
   * @throws Refusal 'batch_refused' where it does not wait
   */
  takeOff(tx: Tx, key: string): Promise<void>;
  /**
   * What a file closed now would take: its payouts in order, without those that the gate leaves out. No other file is closed
   * until `tx` ends.
   * @param given.until payouts that were listed later are left for the next file
   */
  next(tx: Tx, given: { asset: AssetCode; until: Date }): Promise<{ keys: string[]; units: bigint }>;
  /** Which of these wait still, and what they come to; the gate is not asked. No other file is closed until `tx` ends. */
  stillWaiting(
    tx: Tx,
    given: { asset: AssetCode; keys: readonly string[] },
  ): Promise<{ keys: string[]; units: bigint }>;
  /**
   * Closes the payouts that wait into one file, at most 1,000. Each passes the gate again. With `keys` the file holds exactly those; without,
   * what the gate does not let pass and what has ended meanwhile is left out.
   * @param given.keys what was looked at
   * @returns also what stays on the list, and why
   * @throws Refusal 'batch_refused' where nothing may leave
   */
  closeBatch(
    tx: Tx,
    given: { asset: AssetCode; by: string; keys?: readonly string[] },
  ): Promise<store.BatchRow & { leftOut: { key: string; why: string }[] }>;
  /** Files, newest first, at most 200. */
  batches(tx: Tx): Promise<store.BatchRow[]>;
  /** One file and what became of its payouts. @throws Refusal 'batch_refused' */
  batch(tx: Tx, id: bigint): Promise<store.BatchRow & { list: store.BatchPayout[] }>;
  /**
   * The file itself, the same bytes whenever it is asked for.
   * @throws Refusal 'batch_refused' where there is none, it was withdrawn, or one of its payouts may not leave now
   */
  file(tx: Tx, id: bigint): Promise<{ name: string; type: string; bytes: Buffer; sha256: string }>;
  /**
   * The same question without the answer's file: whether it could be downloaded now.
   * @throws Refusal as `file`
   */
  requireMayLeave(tx: Tx, id: bigint): Promise<void>;
  /** Has what waits look at the gate again, at once: the payouts of a file, or of an asset those on the list. */
  lookAgain(tx: Tx, of: { file: bigint } | { asset: AssetCode }): Promise<void>;
  /**
   * States that a file was not uploaded and never will be. Its payouts are refused with `file_withdrawn`.
   * @param given.statement how the person knows, in their words; kept
   * @throws Refusal 'batch_refused' where a statement shows one of its payouts
   */
  withdrawBatch(tx: Tx, id: bigint, given: { by: string; statement: string }): Promise<store.BatchRow>;

  /**
   * Where the database was put back and nobody has stated yet that its statements show every file that was uploaded before:
   * when, and which unexplained debits may have paid which payouts that wait. No file is closed or downloaded until then.
   */
  unconfirmed(tx: Tx): Promise<{ restoredAt: Date; doubtful: { line: string; payout: string }[] } | undefined>;
  /** States it. @throws Refusal 'batch_refused' where there is nothing to state, or a statement is being read */
  confirmRestore(tx: Tx, given: { by: string; why: string }): Promise<void>;

  /**
   * Reads a statement, CSV or camt.053, to its end, and changes nothing.
   * @param given.bytes the file, as a whole or as it comes in
   * @throws Refusal 'file_refused' with `why`, a sentence without content of the file
   */
  readStatement(given: { asset: AssetCode; bytes: Uint8Array | Chunks }): Promise<ReadFile>;
  /** What taking it in would do, line by line, in a transaction of its own that is not kept. Throws what taking it in throws. */
  preview(file: ReadFile): Promise<StatementPreview>;
  /**
   * What a file closed now would take, and what the gate would leave out, in a transaction of its own that is not kept.
   * @throws Refusal 'batch_refused' where nothing may leave
   */
  previewFile(given: { asset: AssetCode }): Promise<{
    asset: AssetCode;
    payouts: number;
    units: bigint;
    format: FileFormat;
    leftOut: { key: string; why: string }[];
  }>;
  /** What is new in a file: sums of the lines that no file brought before, none of a file that was taken before (`importId`). */
  newOf(tx: Tx, file: ReadFile): Promise<NewLines>;
  /** @throws Refusal 'file_refused' for days that have not come, where nobody says why, and for days far ahead */
  requireDated(file: ReadFile, reason: string | undefined): void;
  /**
   * Takes in what was read, all of it or nothing.
   * @throws Refusal 'file_refused' where it contradicts what was taken before; then nothing of `tx` may be kept
   */
  takeStatement(tx: Tx, given: { file: ReadFile; by: string }): Promise<Imported>;
  /** Files taken in, newest first, at most 200. */
  imports(tx: Tx): Promise<store.ImportRow[]>;
  /** Statements that touch a span of days (`YYYY-MM-DD`, both included), with their balances. */
  statements(tx: Tx, asset: AssetCode, span: { from: string; to: string }): Promise<store.StatementRow[]>;
  /** Lines booked in a span of days, in pages of at most 1,000 after a `seq`; no names. */
  lines(tx: Tx, asset: AssetCode, span: { from: string; to: string; after?: bigint }): Promise<store.LineFacts[]>;
  /** What the statements taken in leave unexplained, net; 0 where they join, null where they carry no balances. */
  missing(tx: Tx, asset: AssetCode): Promise<bigint | null>;
}

const MOST_PAYOUTS = 1_000;
const MOST_ROWS = 200;
const SHORTEST_STATEMENT = 10;
const LONGEST_STATEMENT = 500;

/** In a sentence, as many as one reads. */
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

/** @throws Refusal 'batch_refused' where the file would be another than the one that was looked at */
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

  /** What the gate says of payouts now: null where one may leave, else what keeps it, in words. */
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

  /** Submission a file out is the last moment of ours, so each of its payouts passes the gate as if it were submitted now. */
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

  /** A file closed after the backup may be at the bank: its payouts wait here as if it had never been. */
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
      // The gate locks orders, and orders are locked before anything of a payout's, its row on this list included.
      const waits = (await store.waiting(tx, rail, asset, MOST_PAYOUTS)).map(({ key }) => key);
      const leftOut = await kept(tx, [...new Set([...waits, ...(shown ?? [])])]);
      const listed = await store.lockWaitingOf(tx, rail, asset, [...leftOut.keys()]);
      // What is over by another way must not be paid by this one.
      const over = listed.filter(({ ended }) => ended).map(({ key }) => key);
      if (over.length > 0) await store.markRejected(tx, rail, over, 'over_before_it_was_in_a_file', now);
      const isAsked = (key: string) => shown?.includes(key) ?? true;
      const chosen = listed.filter(({ key, ended }) => !ended && leftOut.get(key) === null && isAsked(key));
      const stays = listed.flatMap(({ key, ended }) => (ended ? [] : withWhy(key, leftOut.get(key))));
      if (chosen.length === 0 && shown === undefined) throw nothingLeaves(stays);
      if (shown !== undefined) requireAllOf(shown, chosen, stays);
      // The engine holds or releases what stays, in a transaction of its own.
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
      // Not while somebody withdraws it: who answers first is believed.
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
      if (await store.hasUnread(tx, rail)) throw refuse('A statement is being read: ask again in a moment.');
      if ((await store.shownOfBatch(tx, rail, id)) > 0)
        throw refuse('A statement shows payouts of this file: it was uploaded.');
      const now = clock.now();
      await store.markWithdrawn(tx, id, { by, why, now });
      const keys = (await store.payoutsOfBatch(tx, id)).map(({ key }) => key);
      await store.markRejected(tx, rail, keys, 'file_withdrawn', now);
      // The payout engine asks for the status of each, and is told of the refusal.
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
      if (await store.hasUnread(tx, rail)) throw refuse('A statement is being read: ask again in a moment.');
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
      // What a person lets pass is a bank that dates by the month's end, and not a wrong year.
      if (last > new Date(clock.now().getTime() + MOST_AHEAD_DAYS * DAY_MS).toISOString().slice(0, 10))
        throw refuseFile(
          `The statement goes to ${last}: no reason allows more than ${MOST_AHEAD_DAYS} days that have not come.`,
        );
    },
    takeStatement: (tx, { file, by }) => takeStatement(context, tx, file, by),

    imports: (tx) => store.imports(tx, rail, MOST_ROWS),
    statements: (tx, asset, span) => store.statementsOf(tx, rail, asset, span),
    lines: (tx, asset, { from, to, after }) =>
      store.linesOfSpan(tx, rail, asset, { from, to, after: after ?? 0n }, MOST_PAYOUTS),
    missing: (tx, asset) => missingOf(tx, rail, asset),
  };
}

/** Takes a payout off the list, where it is in no file yet. @returns whether it is off it, now or before */
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
