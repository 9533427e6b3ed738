/**
 * The bank engine: everything that all banks share. An adapter provides the calls of one bank (bank.adapter.ts).
 *
 * Only the statement counts as evidence: a webhook merely wakes the poller, and the answer to a payment order only says that the
 * bank accepted it. The statement is read from a stored cursor. Banks show lines twice, late, in another order, and from the
 * beginning again, so every line is stored under the bank's own id, and only a new line becomes a fact.
 *
 * Customers' reference texts may contain names: free text and counterparties are encrypted here and stored nowhere else.
 *
 * Here: the rail, and reading page after page. Not here: interpreting a line (bank.lines.ts), debits that are explained later
 * (bank.match.ts), the time that a restore has lost (bank.lost-time.ts).
 */
import type { Tx } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { assert, Unavailable } from '../base/errors.ts';
import { enqueue } from '../base/jobs.ts';
import { describeError } from '../base/log.ts';
import type { AssetCode } from '../base/money.ts';
import {
  type BankAdapter,
  type BankContext,
  type BankRail,
  type OpenBank,
  referencesOf,
  type StatementLine,
  type StatementPage,
} from './bank.adapter.ts';
import { movementOf, subjectsOf, takeLine, WALLET } from './bank.lines.ts';
import { doubtful, mayHavePaid, mayHaveReturned, sendOnce } from './bank.lost-time.ts';
import { unexplainedLike } from './bank.match.ts';
import { cursorAgeMs, moveCursor, openDetails, type ReadTo, readCursor, readDetails, readToOf } from './bank.store.ts';
import { type Holding, OBSERVE, type Payer, type RailHealth } from './rail.ts';

export type { Bank, BankAdapter, BankContext, BankRail, StatementLine, StatementPage } from './bank.adapter.ts';
export { type BankLine, type BankLineFilter, bankLineExists, bankLinesBelow, bankLinesLike } from './bank.list.ts';
export {
  declareForeign,
  declareNoPayment,
  lookDebit,
  requireNoPayment,
  settlePayoutByLine,
  settlePayoutsByLine,
} from './bank.match.ts';
export { indexPayers, payerIndexes, payerNumber } from './bank.payers.ts';
export { eraseDetails, lockDebit } from './bank.store.ts';
export { indexTexts, textIndexes } from './bank.texts.ts';

const POLL_MS = 2_000;
/** A read is a job with a lease of 20 s. The next one reads the remaining lines at once. */
const LOOK_MS = 8_000;
/** A read that found nothing new is recorded this often. */
const NOTED_EVERY_MS = 4_000;
/** Lines that share a transaction: they lock the account of the bank, which every order on this rail needs, for as long. */
const MOST_TOGETHER = 20;
/** After this time a statement counts as stale, unless the bank is polled even less often. */
const STALE_MS = 60_000;

/** A bank as a rail. */
export function bankRail(adapter: BankAdapter, context: BankContext): BankRail {
  const bank: OpenBank = { adapter, context };
  const { code, deduplicatesForMs, currencies } = adapter;
  const pollMs = context.pollMs ?? POLL_MS;
  const references = referencesOf(adapter);
  const looked: Looked = { notedAt: Number.NEGATIVE_INFINITY };
  assert(
    deduplicatesForMs >= 0 && Number.isFinite(deduplicatesForMs),
    `${code} states no valid time for which it recognises keys`,
  );

  return {
    code,
    kind: 'bank',
    deduplicatesForMs,
    wallets: { deposits: WALLET, payouts: WALLET },
    targets: { are: 'derived', of: (index) => references.make(index) },
    payee: (asset) => adapter.payee(asset),
    send: (sending) => sendOnce(bank, sending),
    status: (key) => adapter.status(key),
    readTo: (tx, asset) => readToOf(tx, code, asset),
    mayHavePaid: (tx, order) => mayHavePaid(adapter, tx, order),
    mayHaveReturned: (tx, order) => mayHaveReturned(adapter, tx, order),
    doubtful: (tx, payout) => doubtful(adapter, tx, payout),
    mayYetPay: (tx, payout) => unexplainedLike(tx, code, payout),
    ...defined({ unreadAtMostMs: context.unreadAtMostMs }),
    async balance(wallet, asset) {
      assert(wallet === WALLET && Object.values(currencies).includes(asset), `${code} holds no ${asset} in ${wallet}`);
      return await adapter.balance(asset);
    },
    /** A page of the statement as it is now, whatever it showed when a line was booked. */
    async movements(after) {
      const { lines, cursor, more } = await adapter.statement(after);
      const movements = lines.flatMap((line) => movementOf(adapter, line));
      return { movements, upTo: cursor, at: new Date(), more: more && cursor !== after };
    },
    holdings: (at) => holdings(adapter, at),
    observe: () => observe(bank, pollMs, looked),
    health: () => health(bank, pollMs),
    payerOf: (tx, externalId) => payerOf(bank, tx, externalId),
    wake: (tx) => enqueue(tx, { kind: OBSERVE, subject: code, dueAt: context.clock.now() }),
  };
}

/** This process's memory between two reads: when it last recorded how far it has read, and the cursor. */
interface Looked {
  notedAt: number;
  cursor?: string | undefined;
}

/**
 * Reads the statement from its cursor, page after page, until its end or until the time for one read is over.
 *
 * Most reads find nothing new: they query only the bank, from the cursor that this process remembers. If there is something new,
 * it is read from the cursor in the row, which another process may have moved. What the bank has shown counts as read only up to
 * that cursor.
 */
async function observe({ adapter, context }: OpenBank, pollMs: number, looked: Looked): Promise<{ againInMs: number }> {
  const { db } = context;
  const until = Date.now() + LOOK_MS;
  const isDue = performance.now() - looked.notedAt >= NOTED_EVERY_MS;
  const inRow = () => db.asSystem((tx) => readCursor(tx, adapter.code));
  let isRemembered = looked.cursor !== undefined;
  let mayHaveMoved = false;
  let cursor = looked.cursor ?? (await inRow());
  looked.cursor = undefined;
  while (Date.now() < until) {
    const askedAt = context.clock.now();
    const page = await adapter.statement(cursor);
    const before = cursor;
    if (isRemembered) {
      const isNew = page.lines.length > 0 || page.cursor !== before || page.readTo !== undefined || page.more;
      if (!isNew && !isDue) {
        looked.cursor = cursor;
        return { againInMs: pollMs };
      }
      isRemembered = false;
      // Also where nothing is new: the row moves back when a standby that lacks the last commits is promoted.
      mayHaveMoved = true;
    }
    const readTo = page.more
      ? undefined
      : { to: page.readTo ?? asNewAs(adapter, askedAt), isStated: page.readTo !== undefined };
    const row = await takePage({ adapter, context }, page, { from: before, readTo, mayHaveMoved });
    mayHaveMoved = false;
    if (row !== before) {
      cursor = row;
      continue;
    }
    looked.notedAt = performance.now();
    cursor = page.cursor;
    if (!page.more) {
      looked.cursor = cursor;
      return { againInMs: pollMs };
    }
    if (cursor === before) {
      context.log.warn({ rail: adapter.code }, 'the bank reports more lines, but does not move the cursor');
      return { againInMs: pollMs };
    }
  }
  return { againInMs: 0 };
}

/**
 * Takes the lines of a page and moves the cursor. The cursor moves with the last of them, or after all, so it never passes an
 * unstored line; a line that was stored before is recognised.
 *
 * Lines that each concern another order share a transaction, which locks these orders first: otherwise it would lock one order
 * after another order's accounts, and could deadlock with a worker on that order. All other lines have one each. If lines cannot
 * be taken together, each is tried alone, so that a line that cannot be taken stops no line before it.
 *
 * @param how.mayHaveMoved the cursor is one that this process remembers: the row's may be another by now
 * @returns the row's cursor; if it is not `from`, nothing was taken
 */
async function takePage(
  bank: OpenBank,
  page: StatementPage,
  how: { from: string; readTo: ReadTo | undefined; mayHaveMoved: boolean },
): Promise<string> {
  const { adapter, context } = bank;
  const { db } = context;
  const { from, readTo } = how;
  const move = (tx: Tx) => moveCursor(tx, adapter.code, { from, to: page.cursor, readTo });
  const parts = inParts(page.lines);
  for (const [at, lines] of parts.entries()) {
    const isLast = at === parts.length - 1;
    const mayHaveMoved = how.mayHaveMoved && at === 0;
    const together = (tx: Tx) => takeTogether(bank, tx, { lines, from, mayHaveMoved, move: isLast ? move : undefined });
    const outcome = await db.asSystem(together).catch((error) => {
      if (lines.length <= 1) throw error;
      context.log.warn(
        { rail: adapter.code, lines: lines.length, ...describeError(error) },
        'lines are taken one by one',
      );
      return 'apart' as const;
    });
    if (typeof outcome === 'object') return outcome.row;
    if (outcome === 'taken') continue;
    for (const line of lines) await db.asSystem((tx) => takeAlone(bank, tx, line));
    if (isLast) await db.asSystem(move);
  }
  return from;
}

/** @returns 'apart' if nothing was taken, because the lines must not share a transaction */
async function takeTogether(
  bank: OpenBank,
  tx: Tx,
  how: {
    lines: readonly StatementLine[];
    from: string;
    mayHaveMoved: boolean;
    move: ((tx: Tx) => Promise<void>) | undefined;
  },
): Promise<'taken' | 'apart' | { row: string }> {
  const { lines } = how;
  if (how.mayHaveMoved) {
    const row = await readCursor(tx, bank.adapter.code);
    if (row !== how.from) return { row };
  }
  const locked = lines.length > 0 && (await lockNamed(bank, tx, lines));
  if (lines.length > 1 && !locked) return 'apart';
  for (const line of lines) await takeLine(bank, tx, line);
  await how.move?.(tx);
  return 'taken';
}

async function takeAlone(bank: OpenBank, tx: Tx, line: StatementLine): Promise<void> {
  await lockNamed(bank, tx, [line]);
  await takeLine(bank, tx, line);
}

/**
 * Locks the orders that lines name, before any of the lines is stored. Also for a single line: another process may have read a
 * longer page, holds the order, and waits to store this line.
 *
 * @returns whether each line names an order of its own
 */
async function lockNamed({ adapter, context }: OpenBank, tx: Tx, lines: readonly StatementLine[]): Promise<boolean> {
  const subjects = subjectsOf(adapter, lines);
  if (subjects === undefined || context.lockOrders === undefined) return false;
  return (await context.lockOrders(tx, { rail: adapter.code, externalIds: [], ...subjects })) === lines.length;
}

/** At least one part, because the cursor moves with the last. */
function inParts(lines: readonly StatementLine[]): (readonly StatementLine[])[] {
  const parts: (readonly StatementLine[])[] = [];
  for (let at = 0; at === 0 || at < lines.length; at += MOST_TOGETHER) parts.push(lines.slice(at, at + MOST_TOGETHER));
  return parts;
}

const asNewAs = ({ currencies }: BankAdapter, at: Date): Record<AssetCode, Date> =>
  Object.fromEntries(Object.values(currencies).map((asset) => [asset, at]));

async function holdings(adapter: BankAdapter, at: string): Promise<Holding[] | undefined> {
  const assets = [...new Set(Object.values(adapter.currencies))];
  const asked = await Promise.allSettled(assets.map((asset) => adapter.balance(asset)));
  const found = asked.flatMap((answer, n) => {
    if (answer.status === 'fulfilled') return [{ wallet: WALLET, asset: assets[n] ?? '', units: answer.value }];
    // If the statements of a bank have no balance, only its lines are compared. If the bank is down, the call below throws.
    if (answer.reason instanceof Unavailable) return [];
    throw answer.reason;
  });
  // Balances have no cursor: they belong to this position of the statement if no line has arrived after it.
  const since = await adapter.statement(at);
  return since.lines.length === 0 ? found : undefined;
}

async function health({ adapter, context }: OpenBank, pollMs: number): Promise<RailHealth> {
  const ageMs = await context.db.asSystem((tx) => cursorAgeMs(tx, adapter.code));
  const healthy = ageMs !== null && ageMs <= Math.max(STALE_MS, 5 * pollMs);
  return {
    healthy,
    ageMs,
    ...(healthy ? {} : { why: ageMs === null ? 'statement never read' : 'statement not read for too long' }),
  };
}

async function payerOf({ adapter, context }: OpenBank, tx: Tx, externalId: string): Promise<Payer | undefined> {
  const encrypted = await readDetails(tx, adapter.code, externalId);
  if (encrypted === undefined) return undefined;
  const { name, account, text } = openDetails(context.vault, { rail: adapter.code, externalId }, encrypted);
  return { name, account, text };
}
