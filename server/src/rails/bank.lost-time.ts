/**
 * At a bank, the time that a restore has lost: whether the bank may have paid orders that the restored books show as unsent, and
 * the checks before anything is sent.
 *
 * The bank's statement may have shown a payment before the payout was created again. Such a debit is unexplained until the payout
 * exists (bank.match.ts) or operators decide about it.
 */
import type { Tx } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import type { AssetCode } from '../base/money.ts';
import { lastRestore, msSinceLost, wasRestored } from './ahead.store.ts';
import type { BankAdapter, OpenBank } from './bank.adapter.ts';
import { attemptsLike, explainByKey } from './bank.match.ts';
import { doubtfulDebits, hasUnknownRefund, readToOf } from './bank.store.ts';
import { countsForMs } from './payouts.repeat.ts';
import type { PaidPerhaps, Rail, ReturnedPerhaps, Sending, Sent } from './rail.ts';

/** See Rail.mayHavePaid. */
export async function mayHavePaid(
  adapter: BankAdapter,
  tx: Tx,
  { id, payoutAsset: asset, payoutUnits: units, createdAt, follows }: PaidPerhaps,
): Promise<'unread' | 'undecided' | undefined> {
  const restoredAt = await lastRestore(tx);
  if (restoredAt === undefined) return undefined;
  const followOn = follows === null ? undefined : { madeAt: createdAt };
  const debits = await doubtfulDebits(tx, adapter.code, { asset, units, keys: `pay_${id}_`, followOn });
  if (debits.length > 0) return 'undecided';
  // A payout created since the restore has not been paid. The payout of a follow-on order may have been, through an order that is
  // lost.
  if (createdAt > restoredAt && followOn === undefined) return undefined;
  return (await isReadTo(adapter, tx, asset, restoredAt)) ? undefined : 'unread';
}

/** See Rail.mayHaveReturned. An order that a customer created since the restore received nothing before. */
export async function mayHaveReturned(
  adapter: BankAdapter,
  tx: Tx,
  { asset, units, createdAt, follows }: ReturnedPerhaps,
): Promise<'unread' | 'undecided' | undefined> {
  const restoredAt = await lastRestore(tx);
  if (restoredAt === undefined || (createdAt > restoredAt && follows === null)) return undefined;
  // Where people hand files to the bank, it may book a file as one debit.
  const atMost = adapter.isShown === undefined ? units : null;
  if (await hasUnknownRefund(tx, adapter.code, { asset, atMost })) return 'undecided';
  return (await isReadTo(adapter, tx, asset, restoredAt)) ? undefined : 'unread';
}

/** Whether everything that the bank paid before the restore is in our rows. */
const isReadTo = async (adapter: BankAdapter, tx: Tx, asset: AssetCode, restoredAt: Date): Promise<boolean> =>
  adapter.isShown === undefined
    ? ((await readToOf(tx, adapter.code, asset)) ?? new Date(0)) >= restoredAt
    : await adapter.isShown(tx);

/** See Rail.doubtful. */
export async function doubtful(
  { code }: BankAdapter,
  tx: Tx,
  { key, asset, units, followOn }: Parameters<NonNullable<Rail['doubtful']>>[1],
): Promise<string | undefined> {
  if (!(await wasRestored(tx))) return undefined;
  // The bank may have paid through another attempt of the same payout, which is lost: operators decide first.
  const keys = attemptsLike(key);
  const lines = await doubtfulDebits(tx, code, { asset, units, keys, own: key, followOn });
  const fitting =
    followOn === undefined ? lines.filter((line) => line.key?.startsWith(keys) || line.units === units) : lines;
  // A debit with exactly this key and amount settles the payout when the payout is sent.
  if (fitting.filter((line) => line.key === key && line.units === units).length === 1) return undefined;
  return fitting[0]?.externalId;
}

/**
 * Sends a payout, unless its debit was shown before the payout was created again. If the bank may no longer recognise keys of the
 * lost time, it is asked first.
 */
export async function sendOnce({ adapter, context }: OpenBank, sending: Sending): Promise<Sent> {
  const { key } = sending;
  const { paid, isOlder } = await context.db.asSystem(async (tx) => ({
    paid: await explainByKey(tx, adapter.code, key, context.report),
    isOlder: ((await msSinceLost(tx)) ?? -1) >= countsForMs(adapter.deduplicatesForMs),
  }));
  if (paid) return { outcome: 'submitted' };
  if (!isOlder) return await adapter.send(sending);
  const there = await adapter.status(key);
  if (there.outcome === 'known') return { outcome: 'submitted', ...defined({ reference: there.reference }) };
  return there.outcome === 'absent' ? await adapter.send(sending) : there;
}
