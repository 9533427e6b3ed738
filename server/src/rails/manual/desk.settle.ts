/**
 * Payouts of a file that the bank booked as one debit of another amount: operators settle them by that debit.
 *
 * The bank may have added its fee, or left a payment out. Only the bank knows which: operators name the payouts that it paid, and
 * the others stay as they are. A debit of exactly the file's sum is taken apart by itself when it is imported (apart.ts).
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import type { AssetCode } from '../../base/money.ts';
import { readLine } from '../bank.store.ts';
import { settlePayoutsByLine } from '../bank.ts';
import { type Desk, isNamedIn, refuse, there } from './desk.files.ts';
import { batchName } from './files.ts';
import { contentPlace, type LineContent } from './lines.ts';
import * as statementStore from './statements.store.ts';
import * as store from './store.ts';

export interface SettleFile {
  id: bigint;
  /** Id of the debit's statement line. */
  line: string;
  /** Default: the payouts of the file that are not settled or returned. */
  payouts?: readonly string[] | undefined;
}

/** What operators see before they decide. Amounts in the asset's smallest units. */
export interface FileDebit {
  file: bigint;
  line: string;
  asset: AssetCode;
  /** Whether a payout or file of ours explains the debit. */
  explained: boolean;
  /** Whether the debit names the file or a payout of it. */
  named: boolean;
  debitUnits: bigint;
  chargeUnits: bigint;
  /** Sum of the named payouts. */
  units: bigint;
  /** `debitUnits` less `units`. */
  differenceUnits: bigint;
  payouts: { key: string; asset: AssetCode; units: bigint; state: 'open' | 'rejected' | 'settled' | 'returned' }[];
}

const wrong = (why: string) => new Refusal('does_not_fit', { why });
const isPaid = ({ state }: { state: string | null }): boolean => state === 'settled' || state === 'returned';

/** See `ManualDesk.keysOfFile`; likewise for all functions exported here. */
export async function keysOfFile(desk: Desk, tx: Tx, id: bigint): Promise<string[]> {
  await there(desk, tx, id);
  return (await store.payoutsOfBatch(tx, id)).map(({ key }) => key);
}

export async function openOfFile(desk: Desk, tx: Tx, id: bigint): Promise<string[]> {
  await there(desk, tx, id);
  return (await store.payoutsOfBatch(tx, id)).filter((one) => !isPaid(one)).map(({ key }) => key);
}

export async function fileDebit(desk: Desk, tx: Tx, given: SettleFile): Promise<FileDebit> {
  return (await read(desk, tx, given)).shown;
}

export async function requireSettleable(desk: Desk, tx: Tx, given: SettleFile): Promise<FileDebit> {
  const { rail } = desk;
  await store.lockRail(tx, rail);
  if (await statementStore.hasUnread(tx, rail)) throw refuse('A statement is being imported. Retry in a few seconds.');
  const { shown, key, names, all } = await read(desk, tx, given);
  const { file, explained, payouts } = shown;
  if (explained) throw wrong('a payout of ours explains the debit');
  if (key !== null && !all.has(key)) throw wrong(`the debit carries the key of ${key}, which is not in file ${file}`);
  if (names?.file !== undefined && names.file !== String(file)) throw wrong(`the debit names file ${names.file}`);
  const other = names?.payouts.find((one) => !all.has(one));
  if (other !== undefined) throw wrong(`the debit names ${other}, which is not in file ${file}`);
  if (payouts.length === 0) throw wrong(`no payout of file ${file} is open`);
  const paid = payouts.find(isPaid);
  if (paid !== undefined) throw wrong(`${paid.key} is ${paid.state} by another line`);
  return shown;
}

export async function settleFile(desk: Desk, tx: Tx, given: SettleFile): Promise<void> {
  const { rail, context } = desk;
  const { file, line, payouts } = await requireSettleable(desk, tx, given);
  const keys = payouts.map(({ key }) => key);
  await settlePayoutsByLine(tx, { rail, line, name: batchName(file), keys }, context.report);
  context.log.warn({ rail, batch: file, line, payouts: keys.length }, 'payouts of a file settled by one debit');
}

async function read(desk: Desk, tx: Tx, { id, line, payouts: keys }: SettleFile) {
  const { rail, context } = desk;
  const batch = await there(desk, tx, id);
  const debit = await readLine(tx, rail, line);
  if (debit?.direction !== 'debit') throw wrong('this rail has no debit of this name');
  if (debit.asset !== batch.asset) throw wrong(`the debit is in ${debit.asset}, and the file in ${batch.asset}`);
  const list = await store.payoutsOfBatch(tx, id);
  const all = new Map(list.map((one) => [one.key, one]));
  const stranger = keys?.find((one) => !all.has(one));
  if (stranger !== undefined) throw wrong(`${stranger} is not in file ${id}`);
  const named = keys === undefined ? list.filter((one) => !isPaid(one)) : list.filter(({ key }) => keys.includes(key));
  const content = await statementStore.contentOf(tx, rail, line);
  const stored = content === undefined ? [] : [{ externalId: line, content }];
  const [names] = stored.map(
    (one) => (JSON.parse(context.vault.decrypt(one.content, contentPlace(rail, line))) as LineContent).names,
  );
  const units = named.reduce((sum, one) => sum + one.units, 0n);
  const isOwn = debit.key !== null && all.has(debit.key);
  const shown: FileDebit = {
    ...{ file: id, line, asset: batch.asset, explained: debit.meaning !== 'unexplained' },
    ...{ named: isOwn || isNamedIn(context.vault, rail, stored, { id, payouts: list }) },
    ...{ debitUnits: debit.units, chargeUnits: debit.chargeUnits, units, differenceUnits: debit.units - units },
    // An open payout changes its state by itself.
    payouts: named.map(({ key, units: part, state }) => ({
      ...{ key, asset: batch.asset, units: part },
      state: state === 'settled' || state === 'returned' || state === 'rejected' ? state : 'open',
    })),
  };
  return { shown, key: debit.key, names, all };
}
