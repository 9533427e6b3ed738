/**
 * The operator's desk at a manual bank: what a person does in place of a bank's API.
 *
 * 1. Payouts wait on a list (`waiting`).
 * 2. A person closes a batch (`closeBatch`): what waits is written into one file, once. Each payout is in one file for good.
 * 3. The file is handed out (`file`), the same bytes every time, and uploaded at the bank.
 * 4. A statement is downloaded there and taken in (`importStatement`). It alone says what became of payouts.
 *
 * A batch that was not uploaded can be withdrawn, by a person who states how they know. Its payouts are then refused, so
 * that whoever wants them paid makes new attempts with keys of their own, and the old file, should it be uploaded after all,
 * shows as money that left without explanation.
 *
 * What these functions return names nobody, but for `file`: that goes to authorised hands and into no log. Who may call them
 * is decided by the protocol in front.
 */
import { createHash } from 'node:crypto';
import { assert, Refusal } from '../../base/errors.ts';
import type { AssetCode } from '../../base/money.ts';
import { ring } from '../../base/work.ts';
import type { BankContext } from '../bank.ts';
import { missing } from './continuity.ts';
import type { Chunks } from './decode.ts';
import { batchName, FILE_TYPES, writeFile } from './files.ts';
import { endsOf, type Imported, takeStatement } from './import.ts';
import type { PayeeDetails } from './payee.ts';
import type { FileFormat, ManualAccount, ManualBankSettings } from './settings.ts';
import * as store from './store.ts';

export type { Imported } from './import.ts';
export type { BatchPayout, BatchRow, ImportRow, Listed, StatementRow } from './store.ts';

export interface ManualDesk {
  /** The rail it belongs to. */
  readonly code: string;
  /** The accounts of the operator at this bank, without their numbers. */
  accounts(): { asset: AssetCode; currency: string; bank: string; payoutFile: FileFormat; csvStatements: boolean }[];

  /** Payouts on the list for the next file, oldest first, at most 1,000. */
  waiting(asset?: AssetCode): Promise<store.Listed[]>;
  /**
   * Takes a payout off the list before it is in a file: it is refused with `taken_off_list`.
   * @throws Refusal 'batch_refused' where it does not wait
   */
  takeOff(key: string, by: string): Promise<void>;
  /**
   * Closes the payouts that wait into one file, at most 1,000. Payouts that have ended meanwhile are left out of it.
   * @throws Refusal 'batch_refused' where nothing waits
   */
  closeBatch(given: { asset: AssetCode; by: string }): Promise<store.BatchRow>;
  /** Files, newest first, at most 200. */
  batches(): Promise<store.BatchRow[]>;
  /** One file and what became of its payouts. @throws Refusal 'batch_refused' */
  batch(id: bigint): Promise<store.BatchRow & { list: store.BatchPayout[] }>;
  /**
   * The file itself, the same bytes whenever it is asked for.
   * @throws Refusal 'batch_refused' where there is none, or it was withdrawn
   */
  file(id: bigint, by: string): Promise<{ name: string; type: string; bytes: Buffer; sha256: string }>;
  /**
   * States that a file was not uploaded and never will be. Its payouts are refused with `file_withdrawn`.
   * @param given.statement how the person knows, in their words; kept
   * @throws Refusal 'batch_refused' where a statement shows one of its payouts
   */
  withdrawBatch(id: bigint, given: { by: string; statement: string }): Promise<store.BatchRow>;

  /**
   * Takes a statement in, CSV or camt.053, all of it or nothing.
   * @param given.bytes the file, as a whole or as it comes in
   * @throws Refusal 'file_refused' with `why`, a sentence without content of the file
   */
  importStatement(given: { asset: AssetCode; by: string; bytes: Uint8Array | Chunks }): Promise<Imported>;
  /** Files taken in, newest first, at most 200. */
  imports(): Promise<store.ImportRow[]>;
  /** Statements that touch a span of days (`YYYY-MM-DD`, both included), with their balances. */
  statements(asset: AssetCode, span: { from: string; to: string }): Promise<store.StatementRow[]>;
  /** Lines booked in a span of days, in pages of at most 1,000 after a `seq`; no names. */
  lines(asset: AssetCode, span: { from: string; to: string; after?: bigint }): Promise<store.LineFacts[]>;
  /** What the statements taken in leave unexplained, net; 0 where they join, null where they carry no balances. */
  missing(asset: AssetCode): Promise<bigint | null>;
}

const MOST_PAYOUTS = 1_000;
const MOST_ROWS = 200;
const SHORTEST_STATEMENT = 10;
const LONGEST_STATEMENT = 500;

const refuse = (why: string): Refusal => new Refusal('batch_refused', { why });

export const detailsPlace = (rail: string, key: string): string => `manual_payouts.details:${rail}:${key}`;
const filePlace = (rail: string, id: bigint): string => `manual_batches.content:${rail}:${id}`;

export function openManualDesk(settings: ManualBankSettings, context: BankContext): ManualDesk {
  const { db, vault, clock, log } = context;
  const rail = settings.code;

  function accountOf(asset: AssetCode): ManualAccount {
    const account = settings.accounts.find((one) => one.asset === asset);
    if (account === undefined)
      throw new Refusal('malformed_field', {
        field: 'asset',
        why: 'must be an asset that this bank has an account in',
      });
    return account;
  }

  function person(by: string): string {
    if (by.trim() === '' || by.length > 100)
      throw new Refusal('malformed_field', { field: 'by', why: 'must name a person' });
    return by;
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

    waiting: (asset) => db.asSystem((tx) => store.waiting(tx, rail, asset, MOST_PAYOUTS)),

    async takeOff(key, by) {
      person(by);
      await db.asSystem(async (tx) => {
        const listed = await store.lockListed(tx, rail, key);
        if (listed === undefined) throw refuse('There is no such payout on the list.');
        if (listed.batchId !== null) throw refuse(`It is in file ${listed.batchId}.`);
        if (listed.refusedAt !== null) return;
        await store.markRefused(tx, rail, [key], 'taken_off_list', clock.now());
        await ring(tx, { kind: 'send_payout', subject: key, dueAt: clock.now() });
      });
      log.info({ rail, payout: key, by }, 'payout taken off the list');
    },

    async closeBatch({ asset, by }) {
      const account = accountOf(asset);
      person(by);
      const batch = await db.asSystem(async (tx) => {
        await store.lockRail(tx, rail);
        const decimals = await store.decimalsOf(tx, asset);
        assert(decimals !== undefined, `the asset ${asset} of ${rail} is known`);
        const now = clock.now();
        const listed = await store.lockWaiting(tx, rail, asset, MOST_PAYOUTS);
        // What is over by another way must not be paid by this one.
        const over = listed.filter(({ ended }) => ended).map(({ key }) => key);
        if (over.length > 0) await store.markRefused(tx, rail, over, 'over_before_it_was_in_a_file', now);
        const chosen = listed.filter(({ ended }) => !ended);
        if (chosen.length === 0) return undefined;
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
        return await store.insertBatch(tx, rail, {
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
      });
      if (batch === undefined) throw refuse('No payout waits for a file.');
      log.info({ rail, batch: batch.id, payouts: batch.payouts, by }, 'payout file closed');
      return batch;
    },

    batches: () => db.asSystem((tx) => store.batches(tx, rail, MOST_ROWS)),

    async batch(id) {
      return await db.asSystem(async (tx) => {
        const batch = await store.readBatch(tx, rail, id);
        if (batch === undefined) throw refuse('There is no such file.');
        return { ...batch, list: await store.payoutsOfBatch(tx, id) };
      });
    },

    async file(id, by) {
      person(by);
      const { batch, content } = await db.asSystem(async (tx) => ({
        batch: await store.readBatch(tx, rail, id),
        content: await store.batchContent(tx, id),
      }));
      if (batch === undefined || content === undefined) throw refuse('There is no such file.');
      if (batch.withdrawnAt !== null) throw refuse('The file was withdrawn: it must not be uploaded.');
      const bytes = Buffer.from(vault.open(content, filePlace(rail, id)), 'utf8');
      assert(createHash('sha256').update(bytes).digest('hex') === batch.sha256, `file ${id} is what was closed`);
      log.info({ rail, batch: id, by }, 'payout file handed out');
      const { type, ending } = FILE_TYPES[batch.format];
      return { name: `${batchName(id)}.${ending}`, type, bytes, sha256: batch.sha256 };
    },

    async withdrawBatch(id, { by, statement }) {
      person(by);
      const why = statement.trim();
      if (why.length < SHORTEST_STATEMENT || why.length > LONGEST_STATEMENT)
        throw new Refusal('malformed_field', {
          field: 'statement',
          why: `must say in ${SHORTEST_STATEMENT} to ${LONGEST_STATEMENT} characters how you know that the file was not uploaded`,
        });
      const batch = await db.asSystem(async (tx) => {
        await store.lockRail(tx, rail);
        const there = await store.lockBatch(tx, rail, id);
        if (there === undefined) throw refuse('There is no such file.');
        if (there.withdrawnAt !== null) return there;
        if (await store.hasUnread(tx, rail)) throw refuse('A statement is being read: ask again in a moment.');
        if ((await store.shownOfBatch(tx, rail, id)) > 0)
          throw refuse('A statement shows payouts of this file: it was uploaded.');
        const now = clock.now();
        await store.markWithdrawn(tx, id, { by, why, now });
        const keys = (await store.payoutsOfBatch(tx, id)).map(({ key }) => key);
        await store.markRefused(tx, rail, keys, 'file_withdrawn', now);
        // The payout engine asks for the status of each, and is told of the refusal.
        for (const key of keys) await ring(tx, { kind: 'send_payout', subject: key, dueAt: now });
        return (await store.readBatch(tx, rail, id)) ?? there;
      });
      log.warn({ rail, batch: id, by }, 'payout file withdrawn');
      return batch;
    },

    async importStatement({ asset, by, bytes }) {
      const account = accountOf(asset);
      const chunks = bytes instanceof Uint8Array ? [bytes] : bytes;
      return await takeStatement(context, rail, account, { chunks, by: person(by) });
    },

    imports: () => db.asSystem((tx) => store.imports(tx, rail, MOST_ROWS)),
    statements: (asset, span) => db.asSystem((tx) => store.statementsOf(tx, rail, asset, span)),

    lines: (asset, { from, to, after }) =>
      db.asSystem((tx) => store.linesOfSpan(tx, rail, asset, { from, to, after: after ?? 0n }, MOST_PAYOUTS)),

    missing: (asset) => db.asSystem((tx) => missingOf(tx, rail, asset)),
  };
}

/** See `ManualDesk.missing`. */
export async function missingOf(
  tx: Parameters<typeof store.sumTaken>[0],
  rail: string,
  asset: AssetCode,
): Promise<bigint | null> {
  const [first, newest] = [await store.firstStatement(tx, rail, asset), await store.newestStatement(tx, rail, asset)];
  if (first === undefined || newest === undefined) return 0n;
  const [from, to] = [endsOf(first), endsOf(newest)];
  if (from === undefined || to === undefined || !(await store.allHaveBalances(tx, rail, asset))) return null;
  return missing({ first: from, newest: to, sum: await store.sumTaken(tx, rail, asset) });
}
