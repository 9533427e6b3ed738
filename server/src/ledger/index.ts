/**
 * Ledger: who owns which money. No other module decides that.
 *
 * An entry is a list of lines under one id, its cause (`ord_17:receive`). A line moves units of one asset from one account to
 * another: it debits one and credits the other, so no entry can be out of balance. A `hold` sets units aside for a transfer
 * that may still not happen; `settle` makes the transfer, `void` releases it.
 *
 * Promises:
 * - posting the same entry twice has no effect the second time; the same id with other content throws BugError;
 * - no account is overdrawn: `post` returns `short` and writes nothing, and a check in the table enforces it;
 * - accounts are locked in id order (locks.ts), so entries that touch the same accounts queue up instead of deadlocking. Others
 *   wait for the accounts that all orders share, so everything is checked when they are locked, and what is written then goes out
 *   with the caller's next statement.
 *
 * Not here: which entries an order causes (orders/entries.ts), comparison with bank and chain (reconcile).
 */
import { awaitAll, type Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import type { AssetCode } from '../base/money.ts';
import type { Account } from './chart.ts';
import { type DigestedLine, digestOf } from './digest.ts';
import type { Entry, Line, ResolvedLine, StatementLine, TrialBalance } from './entry.ts';
import { accountIds, lockAccounts } from './locks.ts';
import { type AccountRow, type HoldRow, type PostedLine, store } from './store.ts';

export { type Account, type AccountKind, chart } from './chart.ts';
export { type CustodyLine, custodyLines, newestEntry } from './custody.ts';
export {
  addToCustomers,
  type HadBefore,
  HELD_KINDS,
  hadBefore,
  type Place,
  type PostedFor,
  placeOf,
  postedFor,
  SHARED_KINDS,
} from './customers.ts';
export { type Debt, debtsAfter } from './debts.ts';
export { EARNING_KINDS, type Earned, type EarningKind, earnedWithin } from './earned.ts';
export type { Entry, Line, StatementLine, TrialBalance } from './entry.ts';
export { eraseEntryTexts } from './erase.ts';
export { custodyAt } from './history.ts';
export {
  checkSettlements,
  PARTNER_SETTLEMENT,
  PARTNER_SETTLEMENT_UNDONE,
  type PartnerFees,
  partnerFees,
} from './partnerfees.ts';
export {
  type AccountAt,
  balancesAt,
  chargedOf,
  longReport,
} from './reports.ts';
export { type NewestSeal, newestSeal, seal, sealLag, unsealedSince } from './seals.ts';
export { addToDailyTotals } from './totals.ts';
export { type JournalSummary, type Problem, verifyJournal, verifySums } from './verify.ts';

/** The `account` of a `short` result when the units are available but older orders wait for them. */
export const OTHERS_WAIT = 'others wait';

export type Posted = { outcome: 'posted' } | { outcome: 'duplicate' } | { outcome: 'short'; account: string };

/** Moves units between two accounts; no line if `units` is zero. */
export const move = (debit: Account, credit: Account, units: bigint): Line[] =>
  units === 0n ? [] : [{ step: 'post', debit, credit, units }];
export const hold = (id: string, debit: Account, credit: Account, units: bigint): Line[] => [
  { step: 'hold', hold: id, debit, credit, units },
];
export const settle = (id: string): Line[] => [{ step: 'settle', hold: id }];
export const release = (id: string): Line[] => [{ step: 'void', hold: id }];

/**
 * Posts an entry within the caller's transaction.
 *
 * @param mayTake called when the units are available. The accounts stay locked until `tx` ends, so of two callers that want the
 *   same units the second sees the first one's decision. If it returns false, the result is `short` as if the units were missing
 * @returns `short` with the account that lacks the units: nothing was written and the transaction is still usable
 * @throws BugError for an empty entry, an amount that is not above zero, an unknown or finished hold, the same id with other
 *   content
 */
export async function post(tx: Tx, entry: Entry, mayTake?: () => Promise<boolean>): Promise<Posted> {
  assert(entry.lines.length > 0, `entry ${entry.id} has a line`);
  const content = digest(entry);

  const named = entry.lines.flatMap((line) => ('debit' in line ? [line.debit, line.credit] : []));
  const [holds, ids] = await awaitAll(lockHolds(tx, entry.lines), accountIds(tx, named));
  const touched = [...ids.values(), ...[...holds.values()].flatMap((row) => [row.debit, row.credit])];
  // Only with the accounts locked is it certain that no other transaction is posting the same entry. Both statements share a round
  // trip, but the second begins when the first has its locks.
  const [accounts, before] = await awaitAll(lockAccounts(tx, touched), store.entryContent(tx, entry.id));
  if (before !== undefined) {
    assert(before.equals(content), `entry ${entry.id} was posted before with other content`);
    return { outcome: 'duplicate' };
  }

  const lines = entry.lines.map((line) => resolve(line, ids, holds));
  const ended = lines.flatMap((line) => (line.step === 'settle' || line.step === 'void' ? [line.hold] : []));
  for (const [at, id] of ended.entries()) assert(ended.indexOf(id) === at, `hold ${id} is not open`);
  for (const line of lines) apply(line, accounts);
  for (const account of accounts.values()) {
    if (overdrawn(account)) return { outcome: 'short', account: account.code };
  }
  if (mayTake !== undefined && !(await mayTake())) return { outcome: 'short', account: OTHERS_WAIT };
  store.insertEntry(tx, entry, content, lines);
  store.updateAccounts(tx, [...accounts.values()]);
  return { outcome: 'posted' };
}

/**
 * Posts the reverse of an entry whose lines all have step `post`: every line with its sides exchanged.
 *
 * @returns as `post`; 'duplicate' also if there is nothing to reverse
 * @throws BugError if the entry has a hold, a settle or a void
 */
export async function undo(tx: Tx, id: string, entry: Omit<Entry, 'lines'>): Promise<Posted> {
  const lines = (await store.linesOf(tx, id)).map((line): Line => {
    assert(line.step === 'post', `entry ${id} only moves`);
    return { step: 'post', debit: accountOf(line, 'credit'), credit: accountOf(line, 'debit'), units: line.units };
  });
  return lines.length === 0 ? { outcome: 'duplicate' } : await post(tx, { ...entry, lines });
}

const accountOf = (line: PostedLine, side: 'debit' | 'credit'): Account => ({
  code: line[side],
  kind: line[`${side}Kind`],
  asset: line.asset,
  side: line[`${side}Side`],
});

/** Whether an entry of this id has been posted. */
export const isPosted = async (tx: Tx, id: string): Promise<boolean> =>
  (await store.entryContent(tx, id)) !== undefined;

async function lockHolds(tx: Tx, lines: readonly Line[]): Promise<Map<string, HoldRow>> {
  const ended = lines.flatMap((line) => (line.step === 'settle' || line.step === 'void' ? [line.hold] : []));
  return ended.length === 0 ? new Map() : await store.lockHolds(tx, ended);
}

function resolve(line: Line, ids: Map<string, bigint>, holds: Map<string, HoldRow>): ResolvedLine {
  if (line.step === 'settle' || line.step === 'void') {
    const row = holds.get(line.hold);
    assert(row !== undefined, `hold ${line.hold} exists`);
    assert(row.state === 'held', `hold ${line.hold} is still held`);
    return {
      step: line.step,
      hold: line.hold,
      debit: row.debit,
      credit: row.credit,
      asset: row.asset,
      units: row.units,
    };
  }
  assert(line.units > 0n, 'a line moves more than nothing');
  assert(line.debit.asset === line.credit.asset, `one asset a line: ${line.debit.code} and ${line.credit.code}`);
  const [debit, credit] = [ids.get(line.debit.code), ids.get(line.credit.code)];
  assert(debit !== undefined && credit !== undefined && debit !== credit, 'two accounts a line');
  const holdId = line.step === 'hold' ? line.hold : null;
  return { step: line.step, hold: holdId, debit, credit, asset: line.debit.asset, units: line.units };
}

function apply(line: ResolvedLine, accounts: Map<bigint, AccountRow>): void {
  const debit = accounts.get(line.debit);
  const credit = accounts.get(line.credit);
  assert(debit !== undefined && credit !== undefined, 'accounts of a line are locked');
  if (line.step === 'hold') {
    debit.debitsHeld += line.units;
    credit.creditsHeld += line.units;
    return;
  }
  if (line.step !== 'post') {
    debit.debitsHeld -= line.units;
    credit.creditsHeld -= line.units;
  }
  if (line.step !== 'void') {
    debit.debits += line.units;
    credit.credits += line.units;
  }
}

function overdrawn(account: AccountRow): boolean {
  if (account.side === 'debit') return account.debits < account.credits + account.creditsHeld;
  if (account.side === 'credit') return account.credits < account.debits + account.debitsHeld;
  return false;
}

function digest({ kind, orderId, lines }: Entry): Buffer {
  const digested = lines.map((line): DigestedLine => {
    if (!('debit' in line)) return { ...line, debit: '', credit: '', units: '' };
    const { step, debit, credit, units } = line;
    return {
      step,
      hold: step === 'hold' ? line.hold : '',
      debit: debit.code,
      credit: credit.code,
      units: String(units),
    };
  });
  return digestOf(kind, orderId, digested);
}

export interface Balance {
  code: string;
  asset: AssetCode;
  /** On the account's own side; for `either`, credits minus debits. */
  units: bigint;
  /** The part set aside by holds. */
  heldUnits: bigint;
}

const asBalance = (row: AccountRow): Balance => ({
  code: row.code,
  asset: row.asset,
  units: row.side === 'debit' ? row.debits - row.credits : row.credits - row.debits,
  heldUnits: row.side === 'debit' ? row.creditsHeld : row.debitsHeld,
});

/** An account never posted to has a balance of zero. */
export async function balance(tx: Tx, account: Account): Promise<Balance> {
  const row = await store.accountByCode(tx, account.code);
  return row === undefined ? { code: account.code, asset: account.asset, units: 0n, heldUnits: 0n } : asBalance(row);
}

export async function orderBalances(tx: Tx, orderId: bigint): Promise<Balance[]> {
  return (await store.accountsOfOrder(tx, orderId)).map(asBalance);
}

/** Balances of each of these orders' accounts. */
export async function balancesOfOrders(
  tx: Tx,
  orderIds: readonly bigint[],
): Promise<(Balance & { orderId: bigint })[]> {
  return (await store.accountsOfOrders(tx, orderIds)).map((row) => ({ ...asBalance(row), orderId: row.orderId }));
}

/** Per asset, the sums of both sides over all accounts. If they differ, the books are broken. */
export const trialBalance = (tx: Tx): Promise<TrialBalance[]> => store.trialBalance(tx);

/** Balances of every account of a kind, for reports. */
export async function balancesOf(tx: Tx, kinds: readonly string[]): Promise<Balance[]> {
  return (await store.accountsOfKinds(tx, kinds)).map(asBalance);
}

/** Everything posted for an order, oldest first. */
export const statement = (tx: Tx, orderId: bigint): Promise<StatementLine[]> => store.statement(tx, orderId);
