/**
 * The reconciliation report: books and outside by wallet, every item that differs with its reason and age, both sides of the books, and
 * the newest seal of the journal, all signed (signed.ts).
 *
 * Chains and banks are known only as they are now. So the report of a day is made by a job when the day has ended (UTC), and kept; `at`
 * says when it was really made. A day at whose end, and after it, no server ran has no report.
 *
 * Amounts and times are formatted here, because the signature covers exactly that text.
 */
import { type Clock, dayOf, later } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import type { Handlers } from '../base/jobs.ts';
import { formatUnits } from '../base/money.ts';
import { newestSeal, sealLag, trialBalance } from '../ledger/index.ts';
import { assets } from '../partners/index.ts';
import { type Envelope, pemOf, published, signingKey, signText } from './signed.ts';

/** Job kind that makes the report of the last day. */
export const SIGN_REPORT = 'sign_report';

/** Items and wallets of a report; if there are more, it says that it is not whole. */
const MOST_ITEMS = 1_000;
const DAY_MS = 86_400_000;
const EVERY_MS = 300_000;
/** A rail is compared at least once a minute; the verdict names one that was not for this long, and readiness fails then, too. */
const STALE_MS = 600_000;

interface Row {
  what: string;
  rail: string;
  wallet: string;
  asset: string;
  key: string | null;
  outside: bigint | null;
  ledger: bigint;
  why: string | null;
  at: Date;
}

interface RailRow {
  rail: string;
  /** Null if it never was: such a rail has no wallets in the report. */
  comparedAt: Date | null;
}

/** Fields of a signed report, in their order: the signature depends on it. */
export interface ReconciliationReport {
  kind: 'reconciliation report';
  version: 1;
  /** Whether the two sides agree, in words: open differences come first. */
  verdict: string;
  /** Whether there is anything that must be looked at. */
  isOpen: boolean;
  /** The day at whose end it was made; null for one that was asked for. */
  day: string | null;
  at: string;
  seal: { number: string; hash: string; at: string } | null;
  unsealed: string;
  breaks: number;
  transit: number;
  isWhole: boolean;
  assets: { asset: string; debits: string; credits: string }[];
  lines: {
    what: string;
    rail: string;
    wallet: string;
    asset: string;
    key: string | null;
    outsideUnits: string | null;
    ledgerUnits: string;
    differenceUnits: string | null;
    why: string | null;
    at: string;
    ageS: number;
  }[];
}

const sql = {
  rails: 'select rail, compared_at from reconcile_rails order by rail',
  // One statement, because a comparison may end meanwhile: a wallet would differ, and the item that explains it be closed.
  lines: `(select 'wallet' as what, rail, wallet, asset, null::text as key, outside_units as outside, ledger_units as ledger,
      null::text as why, compared_at as at from reconcile_balances order by rail, wallet, asset limit $1)
    union all
    (select case when transit is null then 'break' else 'transit' end, rail, wallet, asset, key, outside_units, ledger_units,
      coalesce(transit, why), found_at
    from reconcile_items where closed_at is null order by transit is not null, rail, found_at, id limit $1)`,
  keep: `insert into reconciliation_reports (day, made_at, verdict, is_open, report, signature, public_key)
    values ($1, $2, $3, $4, $5, $6, $7) on conflict (day) do nothing`,
  has: 'select from reconciliation_reports where day = $1',
  ofDay: 'select report, signature, public_key from reconciliation_reports where day = $1',
  days: `select to_char(day, 'YYYY-MM-DD') as day, made_at, verdict, is_open, encode(public_key, 'hex') as public_key
    from reconciliation_reports where $1::date is null or day < $1 order by day desc limit $2`,
  keys: `select public_key, to_char(min(day), 'YYYY-MM-DD') as from_day, to_char(max(day), 'YYYY-MM-DD') as until_day
    from reconciliation_reports group by public_key order by min(day) desc`,
} as const;

/** The report as it is now, unsigned. */
async function reportNow(tx: Tx, { now, day }: { now: Date; day: string | null }): Promise<ReconciliationReport> {
  const known = await assets(tx);
  const amount = (units: bigint, asset: string) => formatUnits(units, known.get(asset)?.decimals ?? 0);
  const rails = await tx.rows<RailRow>(sql.rails);
  const rows = await tx.rows<Row>(sql.lines, [MOST_ITEMS + 1]);
  const wallets = rows.filter(({ what }) => what === 'wallet');
  const items = rows.filter(({ what }) => what !== 'wallet');
  const sides = (await trialBalance(tx)).map(({ asset, debits, credits }) => ({
    ...{ asset, debits: amount(debits, asset), credits: amount(credits, asset) },
  }));
  const seal = await newestSeal(tx);
  const counts = {
    breaks: items.filter(({ what }) => what === 'break').length,
    transit: items.filter(({ what }) => what === 'transit').length,
    isWhole: wallets.length <= MOST_ITEMS && items.length <= MOST_ITEMS,
  };
  return {
    ...{ kind: 'reconciliation report', version: 1 },
    ...verdictOf({ wallets, rails }, sides, counts, now),
    ...{ day, at: now.toISOString() },
    seal: seal ? { number: String(seal.number), hash: seal.hash, at: seal.sealedAt.toISOString() } : null,
    unsealed: String(await sealLag(tx)),
    ...counts,
    assets: sides,
    lines: [...wallets.slice(0, MOST_ITEMS), ...items.slice(0, MOST_ITEMS)].map(({ outside, ledger, at, ...one }) => ({
      ...{ what: one.what, rail: one.rail, wallet: one.wallet, asset: one.asset, key: one.key },
      outsideUnits: outside === null ? null : amount(outside, one.asset),
      ledgerUnits: amount(ledger, one.asset),
      differenceUnits: outside === null ? null : amount(outside - ledger, one.asset),
      ...{ why: one.why, at: at.toISOString(), ageS: Math.max(0, Math.round((now.getTime() - at.getTime()) / 1_000)) },
    })),
  };
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

/** What a reader has to know first. */
export function verdictOf(
  {
    wallets,
    rails,
  }: { wallets: readonly Pick<Row, 'rail' | 'wallet' | 'asset' | 'outside' | 'at'>[]; rails: readonly RailRow[] },
  sides: readonly { asset: string; debits: string; credits: string }[],
  { breaks, transit, isWhole }: { breaks: number; transit: number; isWhole: boolean },
  now: Date,
): { verdict: string; isOpen: boolean } {
  const named = (some: typeof wallets) =>
    some.map(({ rail, wallet, asset }) => `${rail} ${wallet} ${asset}`).join(', ');
  const unequal = sides.filter(({ debits, credits }) => debits !== credits).map(({ asset }) => asset);
  const unread = wallets.filter(({ outside }) => outside === null);
  const isOld = (at: Date | null): boolean => at === null || now.getTime() - at.getTime() > STALE_MS;
  const silent = rails.filter(({ comparedAt }) => isOld(comparedAt)).map(({ rail }) => rail);
  const old = wallets.filter(({ outside, at, rail }) => outside !== null && isOld(at) && !silent.includes(rail));
  const stale = [...silent, ...(old.length > 0 ? [named(old)] : [])];
  const open = [
    ...(breaks > 0 ? [`OPEN DIFFERENCES: ${counted(breaks, 'item', 'items')}`] : []),
    ...(unequal.length > 0 ? [`BOOKS NOT BALANCED: ${unequal.join(', ')}`] : []),
    ...(isWhole ? [] : ['NOT WHOLE: there are more lines than a report shows']),
    ...(unread.length > 0 ? [`NOT READ OUTSIDE: ${named(unread)}`] : []),
    ...(stale.length > 0 ? [`NOT COMPARED IN TEN MINUTES: ${stale.join(', ')}`] : []),
    ...(wallets.length === 0 ? ['NOTHING WAS COMPARED'] : []),
  ];
  const waiting = transit === 0 ? [] : [`${counted(transit, 'item', 'items')} in transit`];
  if (open.length > 0) return { verdict: [...open, ...waiting].join('; '), isOpen: true };
  return { verdict: ['Books and outside agree', ...waiting].join('; '), isOpen: false };
}

/** The signed report as it is now. */
export async function reconciliationReport(tx: Tx, vault: Vault, now: Date): Promise<ReconciliationReport & Envelope> {
  const text = JSON.stringify(await reportNow(tx, { now, day: null }));
  return published<ReconciliationReport & Record<string, unknown>>(text, signText(vault, text));
}

/** The report that was made at the end of this day; undefined if none was. @param day `2026-11-27` */
export async function reconciliationOfDay(tx: Tx, day: string): Promise<(ReconciliationReport & Envelope) | undefined> {
  const row = await tx.row<{ report: string; signature: Buffer; publicKey: Buffer }>(sql.ofDay, [day]);
  return row && published<ReconciliationReport & Record<string, unknown>>(row.report, row);
}

export interface ReportDay {
  day: string;
  madeAt: Date;
  verdict: string;
  isOpen: boolean;
  publicKey: string;
}

/** Days with a report, the newest first. */
export const reconciliationDays = (tx: Tx, { below, limit }: { below: string | undefined; limit: number }) =>
  tx.rows<ReportDay>(sql.days, [below, limit]);

/** The present key, then earlier ones, each with the days whose reports it verifies. */
export async function reportKeys(
  tx: Tx,
  vault: Vault,
): Promise<{ publicKey: string; pem: string; isPresent: boolean; fromDay: string | null; untilDay: string | null }[]> {
  const present = signingKey(vault);
  const used = await tx.rows<{ publicKey: Buffer; fromDay: string; untilDay: string }>(sql.keys);
  const now = used.find(({ publicKey }) => publicKey.equals(present)) ?? {
    publicKey: present,
    fromDay: null,
    untilDay: null,
  };
  return [now, ...used.filter(({ publicKey }) => !publicKey.equals(present))].map(
    ({ publicKey, fromDay, untilDay }) => ({
      ...{ publicKey: publicKey.toString('hex'), pem: pemOf(publicKey) },
      ...{ isPresent: publicKey.equals(present), fromDay, untilDay },
    }),
  );
}

/** Makes and keeps the report of the day that ended last, once. @returns the day, if it was made now */
export async function keepDailyReport(tx: Tx, vault: Vault, now: Date): Promise<string | undefined> {
  const day = dayOf(later(now, -DAY_MS));
  if ((await tx.row(sql.has, [day])) !== undefined) return undefined;
  const report = await reportNow(tx, { now, day });
  const text = JSON.stringify(report);
  const { signature, publicKey } = signText(vault, text);
  const kept = await tx.run(sql.keep, [day, now, report.verdict, report.isOpen, text, signature, publicKey]);
  return kept === 1 ? day : undefined;
}

export function reportHandlers({ db, vault, clock }: { db: Database; vault: Vault; clock: Clock }): Handlers {
  return {
    async [SIGN_REPORT]() {
      const now = clock.now();
      await db.asSystem((tx) => keepDailyReport(tx, vault, now));
      // At midnight, so that it shows the end of the day; in between for a server that was stopped then.
      return { againInMs: Math.min(EVERY_MS, DAY_MS - (now.getTime() % DAY_MS)) };
    },
  };
}
