/**
 * Files for a manual bank: closing waiting payouts into one, downloading it, withdrawing it.
 *
 * Each payout is in only one file, and passes the gate when the file is closed and each time it is downloaded, because after that
 * we have no control. The rail's lock comes first everywhere, so of two operators the first one to commit wins.
 *
 * Not here: operators' steps and their order (desk.ts); the format of a file (files.ts).
 */
import { createHash } from 'node:crypto';
import type { Vault } from '../../base/crypto.ts';
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { enqueue } from '../../base/jobs.ts';
import type { AssetCode } from '../../base/money.ts';
import { openTyped } from '../../base/typed.ts';
import type { BankContext } from '../bank.ts';
import { type Gate, type PayoutState, payoutByKey } from '../payouts.ts';
import { batchName, FILE_TYPES, writeFile } from './files.ts';
import { contentPlace, type LineContent } from './lines.ts';
import type { PayeeDetails } from './payee.ts';
import type { ManualAccount, ManualBankSettings } from './settings.ts';
import * as statementStore from './statements.store.ts';
import * as store from './store.ts';

export type DeskContext = BankContext & { gate: Gate };

/** The context of every function of the desk. */
export interface Desk {
  readonly settings: ManualBankSettings;
  readonly context: DeskContext;
  readonly rail: string;
}

export const MOST_PAYOUTS = 1_000;
const SHORTEST_STATEMENT = 10;
const LONGEST_STATEMENT = 500;

/** See `ManualDesk.takeOff`; likewise for all functions exported here. */
export async function takeOff({ rail, context: { clock } }: Desk, tx: Tx, key: string): Promise<void> {
  const listed = await store.readListed(tx, rail, key);
  if (listed === undefined) throw refuse('The list has no such payout.');
  if (!(await unlist(tx, rail, key, { why: 'taken_off_list', now: clock.now() })))
    throw refuse(`The payout is in file ${(await store.readListed(tx, rail, key))?.batchId}.`);
  enqueue(tx, { kind: 'send_payout', subject: key, dueAt: clock.now() });
}

export async function next(
  desk: Desk,
  tx: Tx,
  { asset, until }: { asset: AssetCode; until: Date },
): Promise<{ keys: string[]; units: bigint }> {
  const { rail } = desk;
  accountOf(desk, asset);
  await store.lockRail(tx, rail);
  await unlessRestored(desk, tx);
  const listed = (await store.waitingUntil(tx, rail, asset, { until, most: MOST_PAYOUTS })).filter(
    ({ ended }) => !ended,
  );
  const answers = await kept(
    desk,
    tx,
    listed.map(({ key }) => key),
  );
  const stays = listed.flatMap(({ key }) => withWhy(key, answers.get(key)));
  if (stays.length === listed.length) throw nothingLeaves(stays);
  return sumOf(listed.filter(({ key }) => answers.get(key) === null));
}

export async function stillWaiting(
  desk: Desk,
  tx: Tx,
  { asset, keys }: { asset: AssetCode; keys: readonly string[] },
): Promise<{ keys: string[]; units: bigint }> {
  const { rail } = desk;
  accountOf(desk, asset);
  await store.lockRail(tx, rail);
  const listed = await store.waitingOf(tx, rail, asset, keys);
  return sumOf(listed.filter(({ ended }) => !ended));
}

export async function closeBatch(
  desk: Desk,
  tx: Tx,
  { asset, by, keys: shown }: { asset: AssetCode; by: string; keys?: readonly string[] },
): Promise<store.BatchRow & { leftOut: { key: string; why: string }[] }> {
  const { rail, context } = desk;
  const { vault, clock, log } = context;
  const account = accountOf(desk, asset);
  await store.lockRail(tx, rail);
  await unlessRestored(desk, tx);
  const decimals = await store.decimalsOf(tx, asset);
  assert(decimals !== undefined, `the asset ${asset} of ${rail} is unknown`);
  const now = clock.now();
  // The gate locks orders, and an order is locked before any row of its payout, including its row on this list.
  const waits = (await store.waiting(tx, rail, asset, MOST_PAYOUTS)).map(({ key }) => key);
  const leftOut = await kept(desk, tx, [...new Set([...waits, ...(shown ?? [])])]);
  const listed = await store.lockWaitingOf(tx, rail, asset, [...leftOut.keys()]);
  // A payout that has ended in another way must not be paid through this file.
  const over = listed.filter(({ ended }) => ended).map(({ key }) => key);
  if (over.length > 0) await store.markRejected(tx, rail, over, 'over_before_it_was_in_a_file', now);
  const isAsked = (key: string) => shown?.includes(key) ?? true;
  const chosen = listed.filter(({ key, ended }) => !ended && leftOut.get(key) === null && isAsked(key));
  const stays = listed.flatMap(({ key, ended }) => (ended ? [] : withWhy(key, leftOut.get(key))));
  if (chosen.length === 0 && shown === undefined) throw nothingLeaves(stays);
  if (shown !== undefined) requireAllOf(shown, chosen, stays);
  // The payout engine holds or releases the remaining ones, in a transaction of its own.
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
}

export async function batch(desk: Desk, tx: Tx, id: bigint): Promise<store.BatchRow & { list: store.BatchPayout[] }> {
  return { ...(await there(desk, tx, id)), list: await store.payoutsOfBatch(tx, id) };
}

export async function file(
  desk: Desk,
  tx: Tx,
  id: bigint,
): Promise<{ name: string; type: string; bytes: Buffer; sha256: string }> {
  const { rail, context } = desk;
  const { vault, log } = context;
  // Locks the rail, so that another operator cannot withdraw the file meanwhile: the first one to commit wins.
  await store.lockRail(tx, rail);
  await unlessRestored(desk, tx);
  const batch = await mayLeave(desk, tx, id);
  const content = await store.batchContent(tx, id);
  assert(content !== undefined, `file ${id} has no content`);
  const bytes = Buffer.from(vault.decrypt(content, filePlace(rail, id)), 'utf8');
  assert(createHash('sha256').update(bytes).digest('hex') === batch.sha256, `file ${id} differs from the closed one`);
  log.info({ rail, batch: id }, 'payout file downloaded');
  const { type, ending } = FILE_TYPES[batch.format];
  return { name: `${batchName(id)}.${ending}`, type, bytes, sha256: batch.sha256 };
}

export async function requireMayLeave(desk: Desk, tx: Tx, id: bigint): Promise<void> {
  await store.lockRail(tx, desk.rail);
  await unlessRestored(desk, tx);
  await mayLeave(desk, tx, id);
}

export async function lookAgain(
  { rail, context: { clock } }: Desk,
  tx: Tx,
  of: { file: bigint } | { asset: AssetCode },
): Promise<void> {
  const keys =
    'file' in of
      ? await openOf(tx, of.file)
      : (await store.waiting(tx, rail, of.asset, MOST_PAYOUTS)).map(({ key }) => key);
  for (const key of keys) enqueue(tx, { kind: 'send_payout', subject: key, dueAt: clock.now() });
}

export async function withdrawBatch(
  desk: Desk,
  tx: Tx,
  id: bigint,
  { by, statement }: { by: string; statement: string },
): Promise<store.BatchRow> {
  const { rail, context } = desk;
  const { vault, clock, log } = context;
  const why = statement.trim();
  const { length } = openTyped(vault, why);
  if (length < SHORTEST_STATEMENT || length > LONGEST_STATEMENT)
    throw malformed(
      'statement',
      `must say how you know that the file was not uploaded, in ${SHORTEST_STATEMENT} to ${LONGEST_STATEMENT} characters`,
    );
  await store.lockRail(tx, rail);
  const batch = await there(desk, tx, id);
  if (batch.withdrawnAt !== null) return batch;
  if (await statementStore.hasUnread(tx, rail)) throw refuse('A statement is being imported. Retry in a few seconds.');
  if (await store.isShown(tx, rail, id)) throw refuse('A statement shows payouts of this file, so it was uploaded.');
  if (await isNamedByDebit(vault, tx, rail, batch)) throw refuse(NAMED);
  const now = clock.now();
  await store.markWithdrawn(tx, id, { by, why, now });
  const keys = (await store.payoutsOfBatch(tx, id)).map(({ key }) => key);
  await store.markRejected(tx, rail, keys, 'file_withdrawn', now);
  // The payout engine asks for the status of each payout, and so learns of the rejection.
  for (const key of keys) enqueue(tx, { kind: 'send_payout', subject: key, dueAt: now });
  log.warn({ rail, batch: id }, 'payout file withdrawn');
  return await there(desk, tx, id);
}

export async function unconfirmed({ rail }: Desk, tx: Tx) {
  const restoredAt = await store.unconfirmedRestore(tx, rail);
  return restoredAt && { restoredAt, doubtful: await store.doubtful(tx, rail, restoredAt) };
}

export async function confirmRestore(
  { rail, context: { clock, log } }: Desk,
  tx: Tx,
  { by, why }: { by: string; why: string },
): Promise<void> {
  await store.lockRail(tx, rail);
  const restoredAt = await store.unconfirmedRestore(tx, rail);
  if (restoredAt === undefined) throw refuse('No restore waits for a confirmation.');
  if (await statementStore.hasUnread(tx, rail)) throw refuse('A statement is being imported. Retry in a few seconds.');
  await store.confirmRestore(tx, rail, { restoredAt, by, why, now: clock.now() });
  log.warn({ rail }, 'payout files are closed again after a restore');
}

export function accountOf({ settings }: Desk, asset: AssetCode): ManualAccount {
  const account = settings.accounts.find((one) => one.asset === asset);
  if (account === undefined) throw malformed('asset', 'must be an asset that this bank has an account in');
  return account;
}

/** The gate's present answer for these payouts: null for one that may leave, otherwise why it may not, in words. */
async function kept({ rail, context }: Desk, tx: Tx, keys: readonly string[]): Promise<Map<string, string | null>> {
  const answers = new Map<string, string | null>();
  for (const key of keys.toSorted()) {
    const payout = await payoutByKey(tx, rail, key);
    const answer = payout === undefined ? undefined : await context.gate(tx, payout);
    answers.set(key, answer === undefined ? 'no such payout' : answer.outcome === 'pay' ? null : answer.why);
  }
  return answers;
}

export async function there({ rail }: Desk, tx: Tx, id: bigint): Promise<store.BatchRow> {
  const batch = await store.readBatch(tx, rail, id);
  if (batch === undefined) throw refuse('There is no such file.');
  return batch;
}

const NAMED =
  'A statement shows a debit that names this file or its payouts, so it was uploaded. Settle its payouts by the debit (bank settle-by), or declare the debit foreign if it paid nothing of it.';

/**
 * Whether a debit that no payout explains names this file or payouts of it: the bank booked the file as one, with another amount
 * than ours (without a payment that it could not make, or with a charge).
 */
export async function isNamedByDebit(
  vault: Vault,
  tx: Tx,
  rail: string,
  { id, asset }: Pick<store.BatchRow, 'id' | 'asset'>,
): Promise<boolean> {
  const debits = await statementStore.unexplainedDebits(tx, rail, asset);
  return debits.length > 0 && isNamedIn(vault, rail, debits, { id, payouts: await store.payoutsOfBatch(tx, id) });
}

/** Whether one of these stored debits names the file or payouts of it, and is not the debit of one payout. */
export function isNamedIn(
  vault: Vault,
  rail: string,
  debits: readonly Pick<statementStore.LineRow, 'externalId' | 'content'>[],
  { id, payouts }: { id: bigint; payouts: readonly { key: string }[] },
): boolean {
  const keys = new Set(payouts.map(({ key }) => key));
  return debits.some(({ externalId, content }) => {
    const { names } = JSON.parse(vault.decrypt(content, contentPlace(rail, externalId))) as LineContent;
    return names !== undefined && (names.file === String(id) || names.payouts.some((key) => keys.has(key)));
  });
}

/**
 * The payouts of a file that have not ended. One may still be `submitting`: its worker died after it had listed the payout, and
 * before it recorded that.
 */
const openOf = async (tx: Tx, id: bigint): Promise<string[]> =>
  (await store.payoutsOfBatch(tx, id))
    .filter(({ state }) => state !== null && !ENDED.includes(state))
    .map(({ key }) => key);

const ENDED: readonly string[] = ['settled', 'returned', 'rejected'] satisfies PayoutState[];

/**
 * After a download we have no control over the file, so each of its payouts passes the gate as if it were submitted now. A payout
 * that ended unpaid must not be paid by the file.
 */
async function mayLeave(desk: Desk, tx: Tx, id: bigint): Promise<store.BatchRow> {
  const batch = await there(desk, tx, id);
  if (batch.withdrawnAt !== null) throw refuse('The file was withdrawn: it must not be uploaded.');
  if (await isNamedByDebit(desk.context.vault, tx, desk.rail, batch)) throw refuse(NAMED);
  const list = await store.payoutsOfBatch(tx, id);
  // The bank paid them: through this file, which must not be uploaded twice, or in another way.
  const paid = list.filter(({ state }) => state === 'settled' || state === 'returned');
  if (paid.length > 0)
    throw refuse(
      `${paid.length} of its payouts were paid: ${named(paid.map(({ key, state }) => ({ key, why: state ?? '' })))}. The file must not be uploaded any more.`,
    );
  // Another attempt may pay their orders, or refund their deposits.
  const over = list.filter(({ state }) => state === 'rejected');
  if (over.length > 0)
    throw refuse(
      `${over.length} of its payouts ended unpaid: ${named(over.map(({ key }) => ({ key, why: 'ended' })))}. Withdraw the file if it was not uploaded.`,
    );
  const stays = [...(await kept(desk, tx, await openOf(tx, id)))].flatMap(([key, why]) =>
    why === null ? [] : [{ key, why }],
  );
  const held = stays.filter(({ why }) => why.startsWith('held: '));
  const waits = stays.filter((one) => !held.includes(one));
  if (stays.length > 0)
    throw refuse(
      [
        held.length > 0 &&
          `${held.length} of its payouts must not be paid now: ${named(held)}. Withdraw the file if it was not uploaded.`,
        waits.length > 0 &&
          `${waits.length} of its payouts may not leave yet: ${named(waits)}. Retry once these causes have ended.`,
      ]
        .filter((said) => said !== false)
        .join(' '),
    );
  return batch;
}

/**
 * Refuses until a restore is confirmed: a file closed after the backup may be at the bank, while its payouts wait here as if it
 * had never existed.
 */
async function unlessRestored({ rail }: Desk, tx: Tx): Promise<void> {
  const at = await store.unconfirmedRestore(tx, rail);
  if (at !== undefined)
    throw refuse(
      `The database was restored at ${at.toISOString()}. First, two operators must confirm that the imported statements show every file uploaded before (bank confirm-restore).`,
    );
}

/** Removes a payout from the list, if it is in no file yet. @returns whether it is off the list, now or already before */
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

/** Maximum number of items in an error sentence. */
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
      : `None of the ${stays.length} waiting payouts may be paid now: ${named(stays)}.`,
  );

/** @throws Refusal 'batch_refused' if the file would differ from the one that was reviewed */
function requireAllOf(
  shown: readonly string[],
  chosen: readonly { key: string }[],
  stays: readonly { key: string; why: string }[],
): void {
  const there = new Set(chosen.map(({ key }) => key));
  const missing = [...new Set(shown)]
    .filter((key) => !there.has(key))
    .map((key) => ({ key, why: stays.find((one) => one.key === key)?.why ?? 'it no longer waits for a file' }));
  if (missing.length === 0) return;
  const which = missing.length === 1 ? 'Payout' : 'Payouts';
  throw refuse(`${which} ${named(missing)} can no longer be in this file. No file was closed: look at the list again.`);
}

export const refuse = (why: string): Refusal => new Refusal('batch_refused', { why });
const malformed = (field: string, rule: string): Refusal =>
  new Refusal('malformed_field', { fields: { [field]: rule } });

export const detailsPlace = (rail: string, key: string): string => `manual_payouts.details:${rail}:${key}`;
const filePlace = (rail: string, id: bigint): string => `manual_batches.content:${rail}:${id}`;
