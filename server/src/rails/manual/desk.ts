/**
 * The operator's desk at a manual bank: what a person does in place of a bank's API.
 *
 * 1. Payouts wait on a list (`waiting`).
 * 2. A person closes a batch (`closeBatch`): what waits is written into one file, once. Each payout is in one file for good.
 * 3. The file is handed out (`file`), the same bytes every time, and uploaded at the bank.
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
import type { AssetCode } from '../../base/money.ts';
import { ring } from '../../base/work.ts';
import type { BankContext } from '../bank.ts';
import { missing } from './continuity.ts';
import type { Chunks } from './decode.ts';
import { batchName, FILE_TYPES, writeFile } from './files.ts';
import { type Imported, type ReadFile, readStatement, takenSoFar, takeStatement } from './import.ts';
import type { PayeeDetails } from './payee.ts';
import type { FileFormat, ManualAccount, ManualBankSettings } from './settings.ts';
import * as store from './store.ts';

export type { Imported, ReadFile } from './import.ts';
export type { BatchPayout, BatchRow, ImportRow, Listed, StatementRow } from './store.ts';

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
   * Closes the payouts that wait into one file, at most 1,000. Payouts that have ended meanwhile are left out of it.
   * @throws Refusal 'batch_refused' where nothing waits
   */
  closeBatch(tx: Tx, given: { asset: AssetCode; by: string }): Promise<store.BatchRow>;
  /** Files, newest first, at most 200. */
  batches(tx: Tx): Promise<store.BatchRow[]>;
  /** One file and what became of its payouts. @throws Refusal 'batch_refused' */
  batch(tx: Tx, id: bigint): Promise<store.BatchRow & { list: store.BatchPayout[] }>;
  /**
   * The file itself, the same bytes whenever it is asked for.
   * @throws Refusal 'batch_refused' where there is none, or it was withdrawn
   */
  file(tx: Tx, id: bigint): Promise<{ name: string; type: string; bytes: Buffer; sha256: string }>;
  /**
   * States that a file was not uploaded and never will be. Its payouts are refused with `file_withdrawn`.
   * @param given.statement how the person knows, in their words; kept
   * @throws Refusal 'batch_refused' where a statement shows one of its payouts
   */
  withdrawBatch(tx: Tx, id: bigint, given: { by: string; statement: string }): Promise<store.BatchRow>;

  /**
   * Reads a statement, CSV or camt.053, to its end, and changes nothing.
   * @param given.bytes the file, as a whole or as it comes in
   * @throws Refusal 'file_refused' with `why`, a sentence without content of the file
   */
  readStatement(given: { asset: AssetCode; bytes: Uint8Array | Chunks }): Promise<ReadFile>;
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

const refuse = (why: string): Refusal => new Refusal('batch_refused', { why });
const malformed = (field: string, rule: string): Refusal =>
  new Refusal('malformed_field', { fields: { [field]: rule } });

export const detailsPlace = (rail: string, key: string): string => `manual_payouts.details:${rail}:${key}`;
const filePlace = (rail: string, id: bigint): string => `manual_batches.content:${rail}:${id}`;

export function openManualDesk(settings: ManualBankSettings, context: BankContext): ManualDesk {
  const { vault, clock, log } = context;
  const rail = settings.code;

  function accountOf(asset: AssetCode): ManualAccount {
    const account = settings.accounts.find((one) => one.asset === asset);
    if (account === undefined) throw malformed('asset', 'must be an asset that this bank has an account in');
    return account;
  }

  async function there(tx: Tx, id: bigint): Promise<store.BatchRow> {
    const batch = await store.readBatch(tx, rail, id);
    if (batch === undefined) throw refuse('There is no such file.');
    return batch;
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
      const listed = await store.lockListed(tx, rail, key);
      if (listed === undefined) throw refuse('There is no such payout on the list.');
      if (listed.batchId !== null) throw refuse(`It is in file ${listed.batchId}.`);
      if (listed.refusedAt !== null) return;
      await store.markRefused(tx, rail, [key], 'taken_off_list', clock.now());
      ring(tx, { kind: 'send_payout', subject: key, dueAt: clock.now() });
    },

    async closeBatch(tx, { asset, by }) {
      const account = accountOf(asset);
      await store.lockRail(tx, rail);
      const decimals = await store.decimalsOf(tx, asset);
      assert(decimals !== undefined, `the asset ${asset} of ${rail} is known`);
      const now = clock.now();
      const listed = await store.lockWaiting(tx, rail, asset, MOST_PAYOUTS);
      // What is over by another way must not be paid by this one.
      const over = listed.filter(({ ended }) => ended).map(({ key }) => key);
      if (over.length > 0) await store.markRefused(tx, rail, over, 'over_before_it_was_in_a_file', now);
      const chosen = listed.filter(({ ended }) => !ended);
      if (chosen.length === 0) throw refuse('No payout waits for a file.');
      const id = await store.nextBatchId(tx);
      const text = writeFile(account.payoutFile, {
        id,
        closedAt: now,
        account,
        decimals,
        payouts: chosen.map(({ key, endToEnd, units, details }) => ({
          endToEnd,
          units,
          payee: JSON.parse(vault.open(details, detailsPlace(rail, key))) as PayeeDetails,
        })),
      });
      const batch = await store.insertBatch(tx, rail, {
        id,
        asset,
        format: account.payoutFile,
        keys: chosen.map(({ key }) => key),
        units: chosen.reduce((sum, { units }) => sum + units, 0n),
        content: vault.seal(text, filePlace(rail, id)),
        sha256: createHash('sha256').update(text).digest(),
        closedAt: now,
        closedBy: by,
      });
      log.info({ rail, batch: batch.id, payouts: batch.payouts }, 'payout file closed');
      return batch;
    },

    batches: (tx) => store.batches(tx, rail, MOST_ROWS),

    async batch(tx, id) {
      return { ...(await there(tx, id)), list: await store.payoutsOfBatch(tx, id) };
    },

    async file(tx, id) {
      // Not while somebody withdraws it: who answers first is believed.
      await store.lockRail(tx, rail);
      const batch = await there(tx, id);
      if (batch.withdrawnAt !== null) throw refuse('The file was withdrawn: it must not be uploaded.');
      const content = await store.batchContent(tx, id);
      assert(content !== undefined, `file ${id} has content`);
      const bytes = Buffer.from(vault.open(content, filePlace(rail, id)), 'utf8');
      assert(createHash('sha256').update(bytes).digest('hex') === batch.sha256, `file ${id} is what was closed`);
      log.info({ rail, batch: id }, 'payout file handed out');
      const { type, ending } = FILE_TYPES[batch.format];
      return { name: `${batchName(id)}.${ending}`, type, bytes, sha256: batch.sha256 };
    },

    async withdrawBatch(tx, id, { by, statement }) {
      const why = statement.trim();
      if (why.length < SHORTEST_STATEMENT || why.length > LONGEST_STATEMENT)
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
      await store.markRefused(tx, rail, keys, 'file_withdrawn', now);
      // The payout engine asks for the status of each, and is told of the refusal.
      for (const key of keys) ring(tx, { kind: 'send_payout', subject: key, dueAt: now });
      log.warn({ rail, batch: id }, 'payout file withdrawn');
      return await there(tx, id);
    },

    readStatement: async ({ asset, bytes }) =>
      await readStatement(context, rail, accountOf(asset), bytes instanceof Uint8Array ? [bytes] : bytes),
    takeStatement: (tx, { file, by }) => takeStatement(context, tx, file, by),

    imports: (tx) => store.imports(tx, rail, MOST_ROWS),
    statements: (tx, asset, span) => store.statementsOf(tx, rail, asset, span),
    lines: (tx, asset, { from, to, after }) =>
      store.linesOfSpan(tx, rail, asset, { from, to, after: after ?? 0n }, MOST_PAYOUTS),
    missing: (tx, asset) => missingOf(tx, rail, asset),
  };
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
