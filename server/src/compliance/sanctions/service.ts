/**
 * Sanctions screening of a running server: compares names with the configured lists, and reports the results.
 *
 * Two recurring jobs. One for each list reads its source (refresh.ts). The other compares the subjects that are due: all
 * of them after a new version, new customers, accounts and owners of wallets, and payers of money in suspense; in parts (compare.ts),
 * each stored when it is done, so that the job resumes where it ended. A customer who is due and about to be paid is compared
 * immediately (`ensure`).
 *
 * A subject that cannot be compared, such as one whose data does not decrypt, is paused, so that it does not hold up the others,
 * and a case names it. Its money stays: it has no result for the newest lists.
 *
 * The gate reads stored results (`read`, `wait`) in its own transaction. Only a result for the newest lists clears a customer;
 * while a list is older than allowed, money waits.
 *
 * The index of names is in memory, rebuilt for each version, in pieces, so that the event loop can answer requests meanwhile.
 *
 * Not here: the effect of a hit on money (orders/payouts/gate.ts), decisions about hits (decisions.ts).
 */
import { awaitAll, type Database, type Tx } from '../../base/db.ts';
import { Unavailable } from '../../base/errors.ts';
import type { Handled, Handlers } from '../../base/jobs.ts';
import { closeCases, upsertCase } from '../cases.ts';
import type { Hit, Screening, StoredScreening } from '../screener.ts';
import { type Changes, type ComparisonDeps, compare, compareAll, type EntryIndex } from './compare.ts';
import { openIndex } from './find.ts';
import { entriesAt, entriesBetween, listStates, newestVersion, REFRESH_LIST, type StoredEntry } from './lists.ts';
import { type MatchRules, rulesText } from './match.ts';
import { agedWhy, type RefreshDeps, refreshes } from './refresh.ts';
import { type Standing, standingOf } from './results.ts';
import { sql } from './store.ts';
import { type PayerOf, walletKeys } from './subjects.ts';

export const SCREEN_NAMES = 'screen_names';

/** A new customer's name is compared within this time. */
const DUE_EVERY_MS = 15_000;
/** Subjects of each kind in one run: a second or two. */
const DUE_AT_ONCE = 250;
/** A subject that cannot be compared is tried again after this time; until then it keeps no place in a run. */
const FAILED_AGAIN_MS = 600_000;
/** If more fail, the fault is not theirs: the job itself fails, and says so, until it ends. */
const MOST_FAILED = 1_000;
/** If more entries have changed, comparing with the whole index costs no more than with them. */
const MOST_CHANGES = 2_000;
/** Results are usually of one or two earlier versions; those of others are compared with the whole index. */
const MOST_BASES = 8;
/** Entries put into the index before the event loop gets a turn. */
const INDEXED_AT_ONCE = 50;

export interface SanctionsDeps extends RefreshDeps {
  rules: MatchRules;
  payerOf: PayerOf;
  /** Codes of the rails that run: the job compares payers of these. */
  rails(): readonly string[];
}

/** Options of a running server. */
export interface Sanctions extends StoredScreening {
  /** Codes of the configured lists. */
  readonly lists: readonly string[];
  readonly handlers: Handlers;
  /** Whether money of this deposit lies in suspense, and its payer has no result for the newest lists. Reads rows only. */
  isPayerDue(tx: Tx, depositId: bigint): Promise<boolean>;
}

type Failed = Map<string, { at: number; error: string }>;

export function openSanctions(deps: SanctionsDeps): Sanctions {
  const { db, vault, clock, sources } = deps;
  const codes = sources.map(({ list }) => list);
  const rules = rulesText(deps.rules, codes);
  /** Subjects that could not be compared: when that was last tried, and its error. */
  const failed: Failed = new Map();
  const since = { to: 0n, from: new Map<string, Promise<Changes | undefined>>() };
  let built: { version: bigint; index: Promise<EntryIndex> } | undefined;

  /** The index of the newest version; built once. */
  async function indexNow(): Promise<{ version: bigint; index: EntryIndex }> {
    const version = await db.asSystem(newestVersion);
    if (version === 0n) throw new Unavailable('sanctions lists', 'no list has been read yet');
    if (built === undefined || built.version < version) {
      const index = buildIndex(db, { version, lists: codes });
      const mine = { version, index };
      built = mine;
      index.catch(() => {
        if (built === mine) built = undefined;
      });
    }
    return { version: built.version, index: await built.index };
  }

  /** The changes from a version that results have to the newest one; built once for each. */
  async function changesSince(from: bigint, to: bigint): Promise<Changes | undefined> {
    if (from >= to) return undefined;
    if (since.to !== to) {
      since.to = to;
      since.from.clear();
    }
    const key = String(from);
    const known = since.from.get(key);
    if (known !== undefined) return await known;
    if (since.from.size >= MOST_BASES) return undefined;
    const changes = readChanges(db, { from, to, lists: codes });
    since.from.set(key, changes);
    changes.catch(() => since.from.delete(key));
    return await changes;
  }

  const comparison: ComparisonDeps = {
    ...{ db, vault, clock, payerOf: deps.payerOf, rules: deps.rules, rulesText: rules },
    indexNow,
    changesSince,
  };

  const stands = async (tx: Tx, input: Screening): Promise<Standing> => {
    const keys = [...keysOf(input), ...(await walletKeys(tx, deps.payerOf, input))];
    return await standingOf(tx, { keys, customerId: input.customerId, rules });
  };

  async function screenDue(): Promise<Handled> {
    const newest = await db.asSystem(newestVersion);
    if (newest === 0n) return { againInMs: DUE_EVERY_MS };
    const now = clock.now().getTime();
    for (const [subject, { at }] of failed) if (now - at >= FAILED_AGAIN_MS) failed.delete(subject);
    const { due, isAll } = await db.asSystem((tx) =>
      dueOf(tx, { newest, rules, not: [...failed.keys()], rails: deps.rails() }),
    );
    await compareAll(comparison, due, (subject, error) => {
      // Too many failed: the fault is not theirs, and the job is tried again.
      if (failed.size >= MOST_FAILED) throw error;
      failed.set(subject, { at: now, error: error instanceof Error ? error.name : 'Error' });
    });
    if (isAll || failed.size > 0) await db.asSystem((tx) => updateFailedCase(tx, failed, clock.now()));
    return { againInMs: isAll ? DUE_EVERY_MS : 0 };
  }

  return {
    lists: codes,
    async ensure(input) {
      const { unscreened } = await db.asSystem((tx) => stands(tx, input));
      if (unscreened.length > 0) await compare(comparison, unscreened);
    },
    async read(tx, input) {
      const { hits, nameless } = await stands(tx, input);
      return { hits: [...hits.map(hitOf), ...namelessHits(nameless)], rules };
    },
    async wait(tx, input) {
      const [{ unscreened }, lists] = await awaitAll(stands(tx, input), listStates(tx));
      const now = clock.now();
      for (const code of codes) {
        const state = lists.find(({ list }) => list === code);
        const why = agedWhy(state, code, { now, maxAgeMs: deps.maxAgeMs });
        if (why !== undefined) return { cause: 'lists', why };
      }
      return unscreened.length === 0
        ? undefined
        : { cause: 'screening', why: 'its names must first be compared with the newest lists' };
    },
    isPayerDue: async (tx, depositId) => (await tx.rows(sql.payerDue, [depositId, rules, deps.rails()])).length > 0,
    handlers: { [REFRESH_LIST]: refreshes(deps), [SCREEN_NAMES]: screenDue },
  };
}

async function readChanges(
  db: Database,
  d: { from: bigint; to: bigint; lists: readonly string[] },
): Promise<Changes | undefined> {
  const between = await db.asSystem((tx) => entriesBetween(tx, { ...d, most: MOST_CHANGES }));
  if (between === undefined) return undefined;
  const index = openIndex<{ id: bigint }>();
  await addTo(index, between.current);
  return { index, ended: between.ended };
}

async function buildIndex(db: Database, of: { version: bigint; lists: readonly string[] }): Promise<EntryIndex> {
  const index = openIndex<{ id: bigint }>();
  for await (const entries of entriesAt((body) => db.asSystem(body), of)) await addTo(index, entries);
  return index;
}

async function addTo(index: EntryIndex, entries: readonly StoredEntry[]): Promise<void> {
  for (const [at, { id, content }] of entries.entries()) {
    index.add(content, { id });
    if (at % INDEXED_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * Subjects to compare in one run: those without a result for their names, payers of money in suspense, then those compared with older
 * lists. Each kind has its place, so new customers and deposits do not wait for a whole register that is compared again.
 */
async function dueOf(tx: Tx, q: { newest: bigint; rules: string; not: readonly string[]; rails: readonly string[] }) {
  const outdated = [q.newest, q.rules, DUE_AT_ONCE, q.not];
  const kinds = await awaitAll(
    tx.rows<{ subject: string }>(sql.missing, [DUE_AT_ONCE, q.not]),
    tx.rows<{ subject: string }>(sql.payersDue, [...outdated, q.rails]),
    tx.rows<{ subject: string }>(sql.due, outdated),
  );
  const due = [...new Set(kinds.flat().map(({ subject }) => subject))];
  return { due, isAll: kinds.every((kind) => kind.length < DUE_AT_ONCE) };
}

/** One case for all subjects that cannot be compared. An error may quote a name, so only its class is in it. */
async function updateFailedCase(tx: Tx, failed: Failed, now: Date): Promise<void> {
  const about = { kind: 'names_unscreened', subject: 'sanctions names' } as const;
  const [first] = failed;
  if (first === undefined) return await closeCases(tx, { ...about, outcome: 'all were compared', now });
  const [subject, { error }] = first;
  const reason = `${failed.size} names cannot be compared with the lists, such as those of ${subject}: ${error}`;
  const facts = { subjects: [...failed.keys()].slice(0, 20), count: failed.size };
  await upsertCase(tx, { ...about, reason, facts, now });
}

const keysOf = ({ customerId, fiatAccountId, depositIds = [] }: Screening): string[] => [
  ...(customerId === null ? [] : [`customer:${customerId}`]),
  ...(fiatAccountId === null ? [] : [`account:${fiatAccountId}`]),
  ...depositIds.map((id) => `payer:${id}`),
];

const hitOf = ({ id, state, list, entry }: Standing['hits'][number]): Hit => ({
  rule: state === 'open' ? 'sanctions_undecided' : 'sanctions_hit',
  entry: `${list}:${entry}#${id}`,
  own: true,
});

/**
 * Only customers count: an account, payer or wallet without a name of its own uses its customer's, but a customer without a name was
 * compared with nothing.
 */
const namelessHits = (nameless: readonly string[]): Hit[] =>
  nameless.some((key) => key.startsWith('customer:')) ? [{ rule: 'sanctions_nameless', entry: '', own: true }] : [];
