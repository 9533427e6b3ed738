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
import type { AssetCode } from '../base/money.ts';
import {
  type BankAdapter,
  type BankContext,
  type BankRail,
  type OpenBank,
  referencesOf,
  type StatementLine,
} from './bank.adapter.ts';
import { movementOf, takeLine, WALLET } from './bank.lines.ts';
import { doubtful, mayHavePaid, sendOnce } from './bank.lost-time.ts';
import { unexplainedLike } from './bank.match.ts';
import { cursorAgeMs, moveCursor, readCursor, readDetails, readToOf } from './bank.store.ts';
import { type Holding, OBSERVE, type Payer, type RailHealth } from './rail.ts';

export type { Bank, BankAdapter, BankContext, BankRail, StatementLine, StatementPage } from './bank.adapter.ts';
export { type BankLine, type BankLineFilter, bankLineExists, bankLinesBelow } from './bank.list.ts';
export { declareForeign, declareNoPayment, lookDebit, requireNoPayment, settlePayoutByLine } from './bank.match.ts';
export { indexPayers, payerIndexes, payerNumber } from './bank.payers.ts';
export { eraseDetails, lockDebit } from './bank.store.ts';

const POLL_MS = 2_000;
/** A read is a job with a lease of 20 s. The next one reads the remaining lines at once. */
const LOOK_MS = 8_000;
/** A read that found nothing new is recorded this often. */
const NOTED_EVERY_MS = 4_000;
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
 * it is read from the cursor in the row, which another process may have moved.
 */
async function observe({ adapter, context }: OpenBank, pollMs: number, looked: Looked): Promise<{ againInMs: number }> {
  const { db } = context;
  const until = Date.now() + LOOK_MS;
  const isDue = performance.now() - looked.notedAt >= NOTED_EVERY_MS;
  const inRow = () => db.asSystem((tx) => readCursor(tx, adapter.code));
  let isRemembered = looked.cursor !== undefined;
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
      if (isNew) cursor = await inRow();
      if (cursor !== before) continue;
    }
    // One transaction per line. The cursor moves when all are stored, so it never passes an unstored line; a line that was stored
    // before is recognised. One transaction for all lines would lock one order after another order's accounts, and so could
    // deadlock with a worker on that order.
    for (const line of page.lines) await db.asSystem((tx) => takeLine({ adapter, context }, tx, line));
    looked.notedAt = performance.now();
    const readTo = page.more
      ? undefined
      : { to: page.readTo ?? asNewAs(adapter, askedAt), isStated: page.readTo !== undefined };
    await db.asSystem((tx) => moveCursor(tx, adapter.code, { from: before, to: page.cursor, readTo }));
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
  const { name, account, text } = JSON.parse(
    context.vault.decrypt(encrypted, `bank_lines.details:${adapter.code}:${externalId}`),
  ) as StatementLine['free'];
  return { name, account, text };
}
