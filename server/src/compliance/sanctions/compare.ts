/**
 * Comparing many subjects: their names are read in one transaction, compared in memory, and their results stored in another.
 *
 * A part is stored whole or not at all, and is then done: a process that ends loses only the parts under way. Several parts are
 * under way at once, so that the database works on one while another is compared. If a part fails, each of its subjects is
 * compared alone, so that one that cannot be compared does not hold up the others.
 *
 * A subject whose names and rules are those of its result is compared only with the entries that the lists have added or changed
 * since. If none of them is a hit, and no entry of its result has ended, the result is that of the whole lists, because each entry's
 * score depends on nothing but the entry and the name. Otherwise the subject is compared with everything.
 *
 * Not here: which subjects are due (service.ts), what is stored (results.ts).
 */
import type { Clock } from '../../base/clock.ts';
import type { Vault } from '../../base/crypto.ts';
import { awaitAll, type Database } from '../../base/db.ts';
import { Unavailable } from '../../base/errors.ts';
import type { NameIndex } from './find.ts';
import type { MatchRules } from './match.ts';
import { type Compared, type CurrentRow, type FoundHit, isOfSameInput, keepResults, seenOf } from './results.ts';
import { type Known, knownOf, type PayerOf } from './subjects.ts';

export type EntryIndex = NameIndex<{ id: bigint }>;

export interface ComparisonDeps {
  readonly db: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly payerOf: PayerOf;
  readonly rules: MatchRules;
  /** `rules` and the lists, as results store them. */
  readonly rulesText: string;
  /** The index of the newest version of the lists. */
  readonly indexNow: () => Promise<{ version: bigint; index: EntryIndex }>;
  /** The changes between two versions; undefined when there are none, or too many. */
  readonly changesSince: (from: bigint, to: bigint) => Promise<Changes | undefined>;
}

export interface Changes {
  /** Entries that were added or changed. */
  readonly index: EntryIndex;
  /** Ids of the rows that ended: removed entries, and changed ones as they were before. */
  readonly ended: ReadonlySet<string>;
}

/** Subjects of one part. Their customers are locked while its results are stored: some milliseconds. */
const PART = 50;
/** One more than two, because storing takes the database about as long as comparing takes this process. */
const PARTS_UNDER_WAY = 3;

/** Compares these subjects in one part. @throws the first error; then none of them is stored */
export async function compare(deps: ComparisonDeps, keys: readonly string[]): Promise<void> {
  const { db, vault, clock, payerOf, rules } = deps;
  const { version, index } = await deps.indexNow();
  const [results, known] = await db.asSystem(async (tx) => {
    const [seen, ...all] = await awaitAll(seenOf(tx, keys), ...keys.map((key) => knownOf(tx, vault, payerOf, key)));
    return [seen, all] as const;
  });
  const compared: Compared[] = [];
  for (const [at, key] of keys.entries()) {
    const of = known[at];
    if (of === undefined) continue;
    const before = results.get(key);
    const changes =
      before !== undefined && isOfSameInput(vault, before, of, deps.rulesText)
        ? await deps.changesSince(before.screenedTo, version)
        : undefined;
    if (before !== undefined && changes !== undefined && !touches(changes, { before, known: of, rules })) {
      compared.push({ key, known: of, found: before.found, isUnchanged: true });
      continue;
    }
    const found = of.subjects.flatMap((subject): FoundHit[] =>
      index
        .find(subject, rules)
        .map(({ score, explanation, of: { id } }) => ({ entryId: String(id), score, explanation, subject })),
    );
    compared.push({ key, known: of, found });
    // The event loop gets a turn, so that the server answers requests meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await db.asSystem((tx) =>
    keepResults(tx, vault, {
      ...{ compared, rules: deps.rulesText, version, now: clock.now() },
      knownNow: (key) => knownOf(tx, vault, payerOf, key),
    }),
  );
}

/** Whether the changes concern a result: one of its entries has ended, or a name is similar to a new one. */
const touches = (
  { index, ended }: Changes,
  { before, known, rules }: { before: CurrentRow; known: Known; rules: MatchRules },
): boolean =>
  before.found.some(({ entryId }) => ended.has(entryId)) ||
  (index.size > 0 && known.subjects.some((subject) => index.find(subject, rules).length > 0));

/**
 * Compares these subjects in parts.
 *
 * @param onFailed called for each subject that cannot be compared
 * @throws Unavailable when the lists are away; and what `onFailed` throws. Parts that are under way end first
 */
export async function compareAll(
  deps: ComparisonDeps,
  keys: readonly string[],
  onFailed: (key: string, error: unknown) => void,
): Promise<void> {
  const parts = Array.from({ length: Math.ceil(keys.length / PART) }, (_, at) =>
    keys.slice(at * PART, (at + 1) * PART),
  ).values();
  let isOver = false;
  const works = async (): Promise<void> => {
    for (const part of parts) {
      if (isOver) return;
      try {
        await comparePart(deps, part, onFailed);
      } catch (error) {
        isOver = true;
        throw error;
      }
    }
  };
  await awaitAll(...Array.from({ length: PARTS_UNDER_WAY }, works));
}

async function comparePart(
  deps: ComparisonDeps,
  part: readonly string[],
  onFailed: (key: string, error: unknown) => void,
): Promise<void> {
  try {
    return await compare(deps, part);
  } catch (error) {
    // The lists are away: that is no fault of the subjects, and the job is tried again.
    if (error instanceof Unavailable) throw error;
  }
  for (const key of part)
    try {
      await compare(deps, [key]);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      onFailed(key, error);
    }
}
