/**
 * What would come of it: a statement taken in, or a file closed, in a transaction that is never committed.
 *
 * The very code that does it runs, so a preview cannot say anything else than what is done, for as long as nothing else
 * happens meanwhile. Facts are gathered instead of reported, so no order is touched or locked by a statement's preview; what
 * orders make of money is theirs to say (protocols/operator/bank.ts looks up whose reference it is).
 */
import type { Database, Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import { openLog } from '../../base/log.ts';
import { type BankAdapter, type BankContext, readerOf, type StatementLine } from '../bank.ts';
import type { RailFact } from '../rail.ts';
import { newLinesOf, type ReadFile, takeStatement } from './import.ts';
import * as store from './store.ts';

/** What one new line of a statement would mean. */
export interface PreviewedLine {
  day: string;
  direction: 'credit' | 'debit';
  asset: string;
  units: bigint;
  chargeUnits: bigint;
  /** The bank's reference, for showing; no names. */
  reference: string;
  /** In the words of the bank engine: `payout_settled`, `deposit_confirmed`, `unexplained_debit` … */
  means: RailFact['type'] | 'nothing';
  /** The payout that the line settles, or that came back by it. */
  payout?: string;
  /** The reference of ours found in its text; '' where there is none. */
  target?: string;
  /** Why a payout came back, a deposit was recalled, or a line is not understood. */
  why?: string;
}

export interface StatementPreview {
  asset: string;
  /** `known`: this very file was taken in before, and taking it in again changes nothing. */
  outcome: 'new' | 'known';
  spans: { from: string; to: string }[];
  creditUnits: bigint;
  debitUnits: bigint;
  newLines: number;
  /** Sentences about statements that seem to be missing. */
  gaps: string[];
  /** At most `MOST_SHOWN`, in the order in which they would be read. */
  lines: PreviewedLine[];
}

const MOST_SHOWN = 1_000;
const silent = openLog('silent');

/** Ends a transaction that has told what it would do. */
class OnlyLooked extends Error {}

/** @returns what `body` answers; nothing of what it wrote is kept */
export async function rolledBack<T>(db: Database, body: (tx: Tx) => Promise<T>): Promise<T> {
  let found: { answer: T } | undefined;
  try {
    await db.asSystem(async (tx) => {
      found = { answer: await body(tx) };
      // What was said without waiting for an answer must be possible, too.
      await tx.row('select');
      throw new OnlyLooked();
    });
  } catch (error) {
    if (!(error instanceof OnlyLooked)) throw error;
  }
  assert(found !== undefined, 'a preview ends by its answer or by an error');
  return found.answer;
}

/** @throws Refusal 'file_refused' where taking it in would be refused, with the same sentence */
export function previewStatement(
  context: BankContext,
  adapter: BankAdapter,
  { file, lineOf }: { file: ReadFile; lineOf(row: store.LineRow): StatementLine },
): Promise<StatementPreview> {
  const { rail, account } = file;
  return rolledBack(context.db, async (tx) => {
    const facts: RailFact[] = [];
    const quiet: BankContext = { ...context, log: silent, report: async (_tx, fact) => void facts.push(fact) };
    const { creditUnits, debitUnits, lines: newLines } = await newLinesOf(quiet, tx, file);
    const last = await store.lastLine(tx, rail);
    const taken = await takeStatement(quiet, tx, file, 'preview');
    const rows = await store.linesAfter(tx, rail, last, MOST_SHOWN);
    const reader = readerOf(adapter, quiet);
    const lines: PreviewedLine[] = [];
    for (const row of rows) {
      facts.length = 0;
      const line = lineOf(row);
      await reader(tx, line);
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

/** Of a payout's return shown first the settling comes along: the return is what the line is about. */
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
