/**
 * Lines that a bank booked for a whole payout file, taken apart: each payout of the file becomes a line.
 *
 * A debit is taken apart if its amount equals the file's exactly. A credit that returns such a debit is taken apart if it covers
 * the file: what it has beyond that is a line of its own, which no payout explains. A credit of less stays whole, because only the
 * bank knows which payments it lacks; and so does one that returns a debit that no payout explains, because payouts that had
 * never left by a debit of theirs would count as paid.
 *
 * The same line must be taken apart in the same way in every file that shows it: a credit that was stored whole stays whole.
 */
import type { Tx } from '../../base/db.ts';
import type { BankContext } from '../bank.ts';
import { isNamedIn } from './desk.files.ts';
import { batchIn } from './files.ts';
import { lineIds } from './identity.ts';
import type { ReadFile } from './lines.ts';
import { keyIn } from './payee.ts';
import type { ReadLine, ReadStatement } from './read.ts';
import * as statementStore from './statements.store.ts';
import * as store from './store.ts';

export async function withFilesTakenApart(
  { vault }: Pick<BankContext, 'vault'>,
  tx: Tx,
  { rail, account, statements }: ReadFile,
): Promise<ReadStatement[]> {
  const { asset } = account;
  const debits = statements.flatMap(({ lines }) => lines).filter(({ direction }) => direction === 'debit');

  async function apart(line: ReadLine): Promise<ReadLine[]> {
    const comesBack = line.returned !== undefined || line.reversal;
    const isWhole = (line.direction === 'credit') === comesBack;
    const id = isWhole && keyIn(line.endToEnd, line.text) === undefined ? batchIn(line) : undefined;
    const batch = id === undefined ? undefined : await store.readBatch(tx, rail, id);
    if (batch === undefined || batch.asset !== asset) return [line];
    const payouts = await store.payoutsOfBatch(tx, batch.id);
    if (comesBack ? !(await covers(line, batch, payouts)) : batch.units !== line.units) return [line];
    const named = (what: string) => (line.bankRef === '' ? '' : `${line.bankRef} ${what}`);
    const each = payouts.map(({ endToEnd, units }, i) => ({
      ...line,
      units,
      chargeUnits: i === 0 ? line.chargeUnits : 0n,
      endToEnd,
      text: endToEnd,
      bankRef: named(endToEnd),
    }));
    const restUnits = line.units - batch.units;
    return restUnits === 0n ? each : [...each, { ...line, units: restUnits, chargeUnits: 0n, bankRef: named('rest') }];
  }

  async function covers(
    line: ReadLine,
    { id, units }: store.BatchRow,
    payouts: readonly store.BatchPayout[],
  ): Promise<boolean> {
    if (line.units < units || line.chargeUnits !== 0n) return false;
    if ((await statementStore.linesByIds(tx, rail, lineIds(asset, [line]))).length > 0) return false;
    if (payouts.every(({ state }) => state === 'settled' || state === 'returned')) return true;
    const isOdd = (debit: ReadLine) =>
      debit.units !== units && keyIn(debit.endToEnd, debit.text) === undefined && batchIn(debit) === id;
    if (debits.some(isOdd)) return false;
    const stored = await statementStore.unsettledDebits(tx, rail, asset);
    return !isNamedIn(vault, rail, stored, { id, payouts });
  }

  const all: ReadStatement[] = [];
  for (const statement of statements) {
    const lines: ReadLine[] = [];
    for (const line of statement.lines) lines.push(...(await apart(line)));
    all.push({ ...statement, lines });
  }
  return all;
}
