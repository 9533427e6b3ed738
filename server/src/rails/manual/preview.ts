/**
 * Previews: the effect of taking a statement in, or of closing a file, in a transaction that is rolled back.
 *
 * The same code runs as for the real action, so a preview differs from the action only if something changes in between. Facts are
 * collected instead of reported, so a statement's preview locks and changes no order, and does not show the effect on orders
 * (protocols/operator/bank.ts finds the order of a reference).
 */
import type { Database, Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import { openLog } from '../../base/log.ts';
import type { BankAdapter, BankContext, StatementLine } from '../bank.adapter.ts';
import { takeLine } from '../bank.lines.ts';
import type { RailFact } from '../rail.ts';
import { newLinesOf, takeStatement } from './import.ts';
import { type ReadFile } from './lines.ts';

import * as statementStore from './statements.store.ts';

/** The meaning of one new line of a statement. */
export interface PreviewedLine {
  day: string;
  direction: 'credit' | 'debit';
  asset: string;
  units: bigint;
  chargeUnits: bigint;
  /** The bank's reference for display; no names. */
  reference: string;
  /** In the bank engine's terms: `payout_settled`, `deposit_confirmed`, `unexplained_debit` … */
  means: RailFact['type'] | 'nothing';
  /** The payout that the line settles or returns. */
  payout?: string;
  /** Our reference that was found in its text; '' if there is none. */
  target?: string;
  /** Why a payout was returned, a deposit was recalled, or a line is not understood. */
  why?: string;
}

export interface StatementPreview {
  asset: string;
  /** `known`: exactly this file was taken in before, and taking it in again changes nothing. */
  outcome: 'new' | 'known';
  spans: { from: string; to: string }[];
  creditUnits: bigint;
  debitUnits: bigint;
  newLines: number;
  /** Sentences about statements that seem to be missing. */
  gaps: string[];
  /** At most `MOST_SHOWN`, in reading order. */
  lines: PreviewedLine[];
}

const MOST_SHOWN = 1_000;
const silent = openLog('silent');

/** Rolls a preview's transaction back once its result is known. */
class OnlyLooked extends Error {}

/** @returns what `body` returns; everything it wrote is rolled back */
export async function rolledBack<T>(db: Database, body: (tx: Tx) => Promise<T>): Promise<T> {
  let found: { answer: T } | undefined;
  try {
    await db.asSystem(async (tx) => {
      found = { answer: await body(tx) };
      // Executes the deferred statements, too, so that their errors appear.
      await tx.row('select');
      throw new OnlyLooked();
    });
  } catch (error) {
    if (!(error instanceof OnlyLooked)) throw error;
  }
  assert(found !== undefined, 'a preview ended without a result');
  return found.answer;
}

/** @throws Refusal 'file_refused' if taking the file in would be rejected, with the same sentence */
export function previewStatement(
  context: BankContext,
  adapter: BankAdapter,
  { file, lineOf }: { file: ReadFile; lineOf(row: statementStore.LineRow): StatementLine },
): Promise<StatementPreview> {
  const { rail, account } = file;
  return rolledBack(context.db, async (tx) => {
    const facts: RailFact[] = [];
    const quiet: BankContext = { ...context, log: silent, report: async (_tx, fact) => void facts.push(fact) };
    const { creditUnits, debitUnits, lines: newLines } = await newLinesOf(quiet, tx, file);
    const last = await statementStore.lastLine(tx, rail);
    const taken = await takeStatement(quiet, tx, file, 'preview');
    const rows = await statementStore.linesAfter(tx, rail, last, MOST_SHOWN);
    const lines: PreviewedLine[] = [];
    for (const row of rows) {
      facts.length = 0;
      const line = lineOf(row);
      await takeLine({ adapter, context: quiet }, tx, line);
      const { asset, units, chargeUnits, direction, bookedOn: day } = row;
      lines.push({ day, direction, asset, units, chargeUnits, reference: line.reference, ...meaningOf(facts) });
    }
    return {
      asset: account.asset,
      outcome: taken.outcome === 'known' ? 'known' : 'new',
      spans: file.statements.map(({ from, to }) => ({ from, to })),
      ...{ creditUnits, debitUnits, newLines },
      gaps: taken.gaps,
      lines,
    };
  });
}

/** If a payout's return is shown before its debit, the settlement is reported with it: the line then means the return. */
function meaningOf(facts: readonly RailFact[]): Pick<PreviewedLine, 'means' | 'payout' | 'target' | 'why'> {
  const fact = facts.findLast(({ type }) => type !== 'cost_changed') ?? facts.at(-1);
  if (fact === undefined) return { means: 'nothing' };
  return {
    means: fact.type,
    ...('key' in fact ? { payout: fact.key } : {}),
    ...(fact.type === 'deposit_confirmed' ? { target: fact.target } : {}),
    ...('why' in fact ? { why: fact.why } : {}),
  };
}
