/**
 * The manual bank: a rail for an operator whose bank has no API. Payouts leave as files that an operator uploads; statements
 * arrive as files that an operator downloads.
 *
 * To the rest of the system it is a bank like any other. The engine (rails/bank.ts) reads its statement, which here consists of
 * the lines that were taken in (import.ts). `send` submits a payout, which here means listing it for the next file; from then on
 * only the statement decides its outcome. desk.ts has the operator's steps in between.
 *
 * Like every bank that accepts files, it promises nothing about keys (`deduplicatesForMs` is 0), so no payout is sent twice. A
 * payout that is already on the list is not accepted a second time, and the database rejects a payout in a second file.
 */
import { adapter } from '../../base/adapter.ts';
import { later } from '../../base/clock.ts';
import type { Vault } from '../../base/crypto.ts';
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { demanded, readTextFile, text } from '../../base/env.ts';
import { Unavailable } from '../../base/errors.ts';
import { openLog } from '../../base/log.ts';
import type { AssetCode } from '../../base/money.ts';
import { dayEnd, dayIn, dayStart, instantsAt } from '../../base/zones.ts';
import { type Bank, type BankAdapter, type BankContext, bankRail, type StatementLine } from '../bank.ts';
import type { Payee, PayoutStatus, RailHealth, Sending, Sent } from '../rail.ts';
import { isNamedByDebit } from './desk.files.ts';
import { type DeskContext, detailsPlace, type ManualDesk, missingOf, openDesk, unlist } from './desk.ts';
import { contentPlace, type LineContent } from './lines.ts';
import { endToEndOf, payeeOf } from './payee.ts';
import { previewStatement, rolledBack } from './preview.ts';
import { type ManualAccount, type ManualBankSettings, readManualBank } from './settings.ts';
import * as statementStore from './statements.store.ts';
import * as store from './store.ts';

export type { DeskContext, Imported, ManualDesk } from './desk.ts';
export { type ManualBankSettings, readManualBank } from './settings.ts';

/** An import wakes the reader. This interval is the fallback for a lost wake-up. */
const POLL_MS = 30_000;
const PAGE_LINES = 200;
const DAY_MS = 86_400_000;
/** A weekend, a holiday, and a day to take the statement in. */
const UNREAD_AT_MOST_MS = 5 * DAY_MS;
/** A statement of a whole day ends at 23:59:59, or at 23:59. */
const LAST_MINUTE_MS = 60_000;

export function manualBank(settings: ManualBankSettings, context: BankContext): ReturnType<typeof bankRail> {
  const rail = bankRail(adapterOf(settings, context), {
    ...context,
    pollMs: POLL_MS,
    unreadAtMostMs: UNREAD_AT_MOST_MS,
  });
  return {
    ...rail,
    health: () => health(settings, context),
    unlist: (tx, key, why) => unlist(tx, settings.code, key, { why, now: context.clock.now() }),
    waitsForPerson: (tx, key) => waitsForPerson(tx, settings.code, key),
    mayYetPay: async (tx, payout) =>
      (await mayYetLeave(context, tx, settings.code, payout.key)) ?? (await rail.mayYetPay?.(tx, payout)),
  };
}

/** A payout whose file an operator may still upload cannot be declared never paid. A file that a statement shows was uploaded. */
async function mayYetLeave({ vault }: BankContext, tx: Tx, code: string, key: string): Promise<string | undefined> {
  const listed = await store.readListed(tx, code, key);
  if (listed === undefined || listed.rejectedAt !== null) return undefined;
  const { batchId } = listed;
  if (batchId === null) return `it waits on the list of ${code}: take it off the list`;
  if (await store.isShown(tx, code, batchId)) return undefined;
  if (await isNamedByDebit(vault, tx, code, { id: batchId, asset: listed.asset })) return undefined;
  return `it is in file ${batchId}, which is not in the statement: withdraw the file`;
}

async function waitsForPerson(tx: Tx, code: string, key: string): Promise<string | undefined> {
  const listed = await store.readListed(tx, code, key);
  if (listed === undefined || listed.rejectedAt !== null) return undefined;
  if (listed.batchId === null) return `it waits on the list of ${code}, and a person closes a file with it`;
  return `it is in file ${listed.batchId} of ${code}, which a person uploads; then the bank's statement shows it`;
}

export const fileBank = adapter({
  code: 'manual',
  about: 'A bank without an API: an operator uploads payout files and imports statements',
  settings: {
    file: demanded(
      text('MANUAL_BANK_FILE', 'JSON file of the accounts at a bank without an API', undefined),
      'the accounts that money comes to',
    ),
  },
  create({ file = '' }): Bank & { openDesk(context: DeskContext): ManualDesk } {
    const settings = readManualBank(readTextFile('MANUAL_BANK_FILE', file), 'MANUAL_BANK_FILE');
    return {
      code: settings.code,
      accounts: settings.accounts,
      open: (context) => manualBank(settings, context),
      openDesk: (context) => openManualDesk(settings, context),
    };
  },
});

/** The desk with its previews, which interpret lines as the rail does. */
export function openManualDesk(settings: ManualBankSettings, context: DeskContext): ManualDesk {
  const adapter = adapterOf(settings, context);
  const quiet = openDesk(settings, { ...context, log: openLog('silent') });
  return {
    ...openDesk(settings, context),
    preview: (file) =>
      previewStatement(context, adapter, { file, lineOf: (row) => lineOf(settings, context.vault, row) }),
    previewFile: ({ asset }) =>
      rolledBack(context.db, async (tx) => {
        const { payouts, units, format, leftOut } = await quiet.closeBatch(tx, { asset, by: 'preview' });
        return { asset, payouts, units, format, leftOut };
      }),
  };
}

/** A stored line in the engine's form. */
function lineOf({ code, accounts }: ManualBankSettings, vault: Vault, row: statementStore.LineRow): StatementLine {
  const account = accounts.find(({ asset }) => asset === row.asset);
  const said = vault.decrypt(row.content, contentPlace(code, row.externalId));
  const { bookedTime, names: _names, ...content } = JSON.parse(said) as LineContent;
  return {
    ...content,
    externalId: row.externalId,
    direction: row.direction,
    currency: account?.currency ?? '',
    units: row.units,
    chargeUnits: row.chargeUnits,
    ...bookedIn(account?.timeZone ?? 'UTC', row.bookedOn, bookedTime),
  };
}

/** When a line was booked: at its time, if the bank gave one that exists, or within its day at the bank. */
function bookedIn(zone: string, day: string, time = ''): Pick<StatementLine, 'bookedAt' | 'withinMs'> {
  const { earliest, latest } = instantsAt(zone, time) ?? { earliest: dayStart(zone, day), latest: dayEnd(zone, day) };
  const withinMs = latest.getTime() - earliest.getTime();
  return { bookedAt: earliest, ...(withinMs === 0 ? {} : { withinMs }) };
}

function adapterOf(settings: ManualBankSettings, { db, vault, clock }: BankContext): BankAdapter {
  const { code, accounts } = settings;
  const accountOf = (asset: AssetCode): ManualAccount | undefined => accounts.find((one) => one.asset === asset);
  /** This bank consists of our own tables only: if they do not answer, the bank is unavailable. */
  const asked = async <T>(what: string, input: () => Promise<T>): Promise<T> => {
    try {
      return await input();
    } catch (error) {
      throw error instanceof Unavailable ? error : new Unavailable(code, `${what} cannot be read`, { cause: error });
    }
  };

  return {
    code,
    deduplicatesForMs: 0,
    currencies: Object.fromEntries(accounts.map(({ currency, asset }) => [currency, asset])),

    payee(asset): Payee | undefined {
      const account = accountOf(asset);
      if (account === undefined) return undefined;
      const { holder, bank, branch, accountType, accountNumber, ifsc, iban, bic } = account;
      return { holder, bank, branch, accountType, accountNumber, ifsc, iban, bic };
    },

    statement: (cursor) =>
      asked('the statement', async () => {
        const after = /^\d{1,18}$/.test(cursor) ? BigInt(cursor) : 0n;
        const { rows, readTo } = await db.asSystem(async (tx) => ({
          // Read before the lines, so that lines taken in meanwhile are left for the next read.
          readTo: await coverage(tx, settings),
          rows: await statementStore.linesAfter(tx, code, after, PAGE_LINES + 1),
        }));
        const page = rows.slice(0, PAGE_LINES);
        return {
          readTo,
          lines: page.map((row) => lineOf(settings, vault, row)),
          cursor: String(page.at(-1)?.seq ?? after),
          more: rows.length > PAGE_LINES,
        };
      }),

    async send({ key, asset, units, destination, notAfter }: Sending): Promise<Sent> {
      const account = accountOf(asset);
      if (account === undefined) return { outcome: 'rejected', why: 'currency_not_held' };
      if (notAfter !== undefined && Date.now() > notAfter.getTime())
        return { outcome: 'unknown', why: 'the submission took too long' };
      const payee = payeeOf(destination, account);
      if ('why' in payee) return { outcome: 'rejected', why: payee.why };
      const endToEnd = endToEndOf(key);
      if (endToEnd === '') return { outcome: 'rejected', why: 'key_not_writable' };
      const details = vault.encrypt(JSON.stringify(payee), detailsPlace(code, key));
      try {
        const fresh = await db.asSystem((tx) =>
          store.insertListed(tx, code, { key, endToEnd, asset, units, details, now: clock.now() }),
        );
        if (fresh) return { outcome: 'submitted', reference: endToEnd };
        return { outcome: 'unknown', why: 'it is on the list already, or it is too late to list it' };
      } catch {
        return { outcome: 'unknown', why: 'the list did not answer' };
      }
    },

    async status(key): Promise<PayoutStatus> {
      try {
        const listed = await db.asSystem((tx) => store.readListed(tx, code, key));
        if (listed === undefined) return { outcome: 'absent' };
        if (listed.rejectedWhy !== null) return { outcome: 'rejected', why: listed.rejectedWhy };
        return { outcome: 'known', reference: listed.endToEnd };
      } catch {
        return { outcome: 'unknown', why: 'the list did not answer' };
      }
    },

    isShown: async (tx) => (await store.unconfirmedRestore(tx, code)) === undefined,

    balance: (asset) =>
      asked('the balance', async () => {
        const newest = await db.asSystem((tx) => statementStore.newestStatement(tx, code, asset));
        if (newest === undefined || newest.closing === null)
          throw new Unavailable(code, 'no statement with a balance was imported');
        return newest.closing;
      }),
  };
}

/**
 * The time up to which the statements are complete, per asset. Lines may have a day and no time, so only whole days count, as the
 * bank counts them. Empty while a statement is missing.
 */
async function coverage(tx: Tx, { code, accounts }: ManualBankSettings): Promise<Record<AssetCode, Date>> {
  const covered: [AssetCode, Date][] = [];
  for (const { asset, timeZone } of accounts) {
    const newest = await statementStore.newestTaken(tx, code, asset);
    if (newest.length === 0 || ((await missingOf(tx, code, asset)) ?? 0n) !== 0n) continue;
    covered.push([asset, new Date(Math.max(...newest.map((one) => coveredTo(timeZone, one).getTime())))]);
  }
  return Object.fromEntries(covered);
}

/**
 * The end of the last whole day that a statement covers. Its last day may still get lines if the statement was taken in before
 * that day was over at the bank, or says that it ends earlier.
 */
function coveredTo(zone: string, statement: statementStore.Reach): Date {
  const lastDay = lastDayOf(zone, statement);
  const end = dayEnd(zone, lastDay);
  const { importedAt, shownTo } = statement;
  const isOver = importedAt >= end && (shownTo === null || later(shownTo, LAST_MINUTE_MS) >= end);
  return isOver ? end : dayStart(zone, lastDay);
}

/** The last day that a statement covers, never later than the day on which it ended or was taken in. */
function lastDayOf(zone: string, { to, shownTo, importedAt }: statementStore.Reach): string {
  const day = dayIn(zone, shownTo !== null && shownTo < importedAt ? shownTo : importedAt);
  return to < day ? to : day;
}

/** Depends on the account whose newest statement is the oldest, and on missing statements. */
async function health(
  { code, accounts, statementDeadlineMs }: ManualBankSettings,
  { db, clock }: BankContext,
): Promise<RailHealth> {
  const now = clock.now().getTime();
  const states = await db.asSystem(async (tx) => {
    const all = [];
    for (const { asset, timeZone } of accounts) {
      const [newest] = await statementStore.newestTaken(tx, code, asset);
      // A statement covers its last day until that day is over.
      const end = newest && dayEnd(timeZone, lastDayOf(timeZone, newest));
      const ageMs = end === undefined ? null : Math.max(0, now - end.getTime());
      all.push({ asset, ageMs, missing: await missingOf(tx, code, asset) });
    }
    return all;
  });
  const never = states.find(({ ageMs }) => ageMs === null);
  const oldest = states.toSorted((a, b) => (b.ageMs ?? 0) - (a.ageMs ?? 0))[0];
  const ageMs = never === undefined ? (oldest?.ageMs ?? null) : null;
  const torn = states.find(({ missing }) => missing !== null && missing !== 0n);
  const why =
    never !== undefined
      ? `no statement of ${never.asset} was imported yet`
      : ageMs !== null && ageMs > statementDeadlineMs
        ? `the newest statement of ${oldest?.asset} is too old`
        : torn !== undefined
          ? `a statement of ${torn.asset} is missing`
          : undefined;
  return { healthy: why === undefined, ageMs, ...defined({ why }) };
}
