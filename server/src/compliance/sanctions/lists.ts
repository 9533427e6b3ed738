/**
 * Storing a list that was read: a new version is created if its content differs from the previous one, with the added, removed
 * and changed entries.
 *
 * Each entry row is valid from the version that added it to the one that removed it, so any version can be reconstructed, and
 * an entry that has not changed keeps its row: decisions about it stay valid.
 *
 * Digital currency addresses of a list become a deny list of destinations, which the gate looks up in its own transaction.
 */
import type { Vault } from '../../base/crypto.ts';
import { awaitAll, type Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { enqueue } from '../../base/jobs.ts';
import { replaceDenyList } from '../screening.ts';
import { digestOf, type ListCode, type ListEntry } from './entry.ts';
import type { Given } from './fetch.ts';
import { type Delta, deltaOf, type SanctionsList } from './read.ts';
import { sql } from './store.ts';

/** The job that reads a list. */
export const REFRESH_LIST = 'refresh_sanctions';

/** Rows per statement. */
const AT_ONCE = 1_000;

/**
 * A list that lacks more than one in `part` entries of the previous version, and more than `entries`, waits until two people accept
 * it: it may be half a list, and the people it no longer names would be cleared at once. The largest removals that publishers have
 * made are below a twentieth. A checksum does not replace the people: it proves what was sent, and not that it was meant.
 */
const MOST_REMOVED = { part: 10, entries: 20 };

/** When a list was published, as its publisher writes it: an ISO date with or without a time, or day/month/year. In ms, or undefined. */
function publishedAt(text: string): number | undefined {
  const [, day, month, year] = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(text) ?? [];
  const at = Date.parse(day === undefined ? text : `${year}-${month}-${day}`);
  return Number.isNaN(at) ? undefined : at;
}

/** Whether one list was published before another, as far as both say when. */
function isOlder(one: string, than: string): boolean {
  const [at, before] = [publishedAt(one), publishedAt(than)];
  return at !== undefined && before !== undefined && at < before;
}

export interface ListState {
  list: ListCode;
  versionId: bigint;
  /** The time at which its source last gave this version. */
  asOf: Date;
  readAt: Date;
  published: string;
  entries: number;
  added: number;
  removed: number;
  changed: number;
  loadedAt: Date;
  sha256: string;
  /** Of a version that waits for people; null when there is none. */
  refusedSha256: string | null;
  refusedEntries: number | null;
  refusedRemoved: number | null;
}

/** A version that waits for people, because it lacks many entries or is older, and what it would change. */
export interface Shrunken {
  list: string;
  sha256: string;
  published: string;
  /** Entries of the version in use, and of this one. */
  before: number;
  entries: number;
  added: number;
  removed: number;
  changed: number;
  foundAt: Date;
  acceptedAt: Date | null;
}

export const listStates = (tx: Tx): Promise<ListState[]> => tx.rows<ListState>(sql.lists);

/** The newest version of any list; 0n when no list was ever stored. */
export async function newestVersion(tx: Tx): Promise<bigint> {
  return (await tx.row<{ id: bigint }>(sql.newest))?.id ?? 0n;
}

/** What the source said of the stored version; undefined when another source gave it, or nothing was said. */
export async function givenBy(tx: Tx, list: string, source: string): Promise<Given | undefined> {
  const given = await tx.row<Given>(sql.givenBy, [list]);
  return given?.source === source ? given : undefined;
}

/** The source says that the stored version is its newest one. Another that it gave before waits for people no longer. */
export async function keepList(
  tx: Tx,
  { list, given: { source, etag, modified }, asOf, now }: { list: string; given: Given; asOf: Date; now: Date },
): Promise<void> {
  await tx.run(sql.lockLists);
  if ((await tx.run(sql.unchangedList, [list, asOf, now, source, etag, modified])) > 0)
    await tx.run(sql.endShrunken, [list]);
}

export type Taken =
  | { is: 'new'; version: bigint; delta: Delta; before: number }
  /** Nothing has changed, or a server has meanwhile stored what it read later. */
  | { is: 'same' }
  /** `olderThan`: when the version in use was published, if this one was published before. */
  | { is: 'shrunken'; delta: Delta; before: number; olderThan?: string };

/**
 * Stores the list that was read: of its entries, only those that differ from the previous version. Two servers that read
 * concurrently are serialized, and the second one finds no change.
 *
 * A list that lacks too much, or that is an older copy and removes or changes an entry, is not stored; `sanctions_shrunken` then has
 * what it would change.
 *
 * @param l.beganAt when the reading began: what another server has read since is newer
 */
export async function takeList(
  tx: Tx,
  vault: Vault,
  {
    list,
    entries,
    sha256,
    published,
    asOf,
    given,
    now,
    beganAt = now,
  }: SanctionsList & { asOf: Date; given?: Given | undefined; now: Date; beganAt?: Date },
): Promise<Taken> {
  await tx.run(sql.lockLists);
  const inUse = await tx.row<{ isNewer: boolean; published: string }>(sql.inUse, [list, beganAt]);
  if (inUse?.isNewer === true) return { is: 'same' };
  const before = await tx.rows<{ entry: string; digest: Buffer }>(sql.digests, [list]);
  const delta = deltaOf(new Map(before.map(({ entry, digest }) => [entry, digest])), entries);
  const { added, removed, changed } = delta;
  const source = [given?.source ?? null, given?.etag ?? null, given?.modified ?? null];
  const changes = [added.length, removed.length, changed.length];
  const isShort = removed.length > MOST_REMOVED.entries && removed.length * MOST_REMOVED.part > before.length;
  const olderThan =
    removed.length + changed.length > 0 && inUse && isOlder(published, inUse.published) ? inUse.published : undefined;
  if (isShort || olderThan !== undefined) {
    const about = [list, sha256, published, before.length, entries.size, ...changes, now];
    const row = await tx.row<{ isAccepted: boolean }>(sql.putShrunken, about);
    if (row?.isAccepted !== true) return { is: 'shrunken', delta, before: before.length, ...defined({ olderThan }) };
  }
  await tx.run(sql.endShrunken, [list]);
  if (added.length + removed.length + changed.length === 0) {
    await tx.run(sql.stillList, [list, asOf, now, ...source]);
    return { is: 'same' };
  }
  const counts = [entries.size, ...changes];
  const row = await tx.row<{ id: bigint }>(sql.insertVersion, [list, sha256, published, ...counts, now]);
  assert(row !== undefined, 'the inserted version was not returned');
  const version = row.id;
  for (const ids of parts([...removed, ...changed])) await tx.run(sql.endEntries, [list, version, ids]);
  for (const ids of parts([...added, ...changed])) {
    const all = ids.flatMap((id) => entries.get(id) ?? []);
    const columns = [all.map(({ id }) => id), all.map((entry) => JSON.stringify(entry)), all.map(digestOf)];
    await tx.run(sql.insertEntries, [list, version, ...columns]);
  }
  await tx.run(sql.putList, [list, version, asOf, now, ...source]);
  await replaceDenyList(tx, vault, {
    list: `sanctions.${list}`,
    version: String(version),
    destinations: addressesOf(entries.values()),
    now,
  });
  return { is: 'new', version, delta, before: before.length };
}

/** A version that waits for people, locked. @throws Refusal 'unknown_list' when no such version waits */
export async function findShrunken(tx: Tx, { list, sha256 }: { list: string; sha256: string }): Promise<Shrunken> {
  const row = await tx.row<Shrunken>(sql.shrunkenOf, [list, sha256]);
  if (row === undefined) throw new Refusal('unknown_list');
  return row;
}

/**
 * Accepts that a version lacks many entries, or is older. The list is read again at once, and is stored if its source still gives the
 * same bytes.
 *
 * @throws Refusal 'unknown_list' when no such version waits
 */
export async function acceptShrunken(tx: Tx, of: { list: string; sha256: string; now: Date }): Promise<void> {
  const { list } = await findShrunken(tx, of);
  await tx.run(sql.acceptShrunken, [list, of.now]);
  enqueue(tx, { kind: REFRESH_LIST, subject: list, dueAt: of.now });
}

const addressesOf = (entries: Iterable<ListEntry>): { kind: 'address'; value: string }[] =>
  [...entries].flatMap(({ addresses }) =>
    addresses.map(({ address }) => ({ kind: 'address' as const, value: address })),
  );

/**
 * Rewrites the blind indexes of listed addresses under a new master key, because an unchanged list is not stored again.
 *
 * @param r.before only rows loaded before this time
 */
export async function reloadAddresses(tx: Tx, vault: Vault, r: { before: Date; now: Date }): Promise<void> {
  await tx.run(sql.lockLists);
  const old = await tx.rows<{ list: string; version: string; code: string }>(sql.deniedLists, [r.before]);
  for (const { list, version, code } of old) {
    const rows = await tx.rows<{ content: ListEntry }>(sql.listedAddresses, [code]);
    await replaceDenyList(tx, vault, {
      ...{ list, version, now: r.now },
      destinations: addressesOf(rows.map(({ content }) => content)),
    });
  }
}

function* parts<T>(all: readonly T[]): Generator<T[]> {
  for (let at = 0; at < all.length; at += AT_ONCE) yield all.slice(at, at + AT_ONCE);
}

export interface StoredEntry {
  id: bigint;
  list: ListCode;
  content: ListEntry;
}

/**
 * All entries of these lists at a version, in parts.
 *
 * @param read runs one transaction per part, so that no transaction stays open while the caller works
 */
export async function* entriesAt(
  read: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>,
  { version, lists }: { version: bigint; lists: readonly string[] },
): AsyncGenerator<StoredEntry[]> {
  let after = 0n;
  for (;;) {
    const found = await read((tx) => tx.rows<StoredEntry>(sql.entriesAt, [after, version, AT_ONCE, lists]));
    if (found.length > 0) yield found;
    if (found.length < AT_ONCE) return;
    after = found.at(-1)?.id ?? after;
  }
}

/**
 * The difference between two versions of these lists: the entries that were added or changed, and the rows that ended.
 *
 * @param d.most above so many of either, undefined: then comparing with everything costs no more
 */
export async function entriesBetween(
  tx: Tx,
  d: { from: bigint; to: bigint; lists: readonly string[]; most: number },
): Promise<{ current: StoredEntry[]; ended: ReadonlySet<string> } | undefined> {
  const about = [d.from, d.to, d.lists, d.most + 1];
  const [current, ended] = await awaitAll(
    tx.rows<StoredEntry>(sql.entriesSince, about),
    tx.rows<{ id: bigint }>(sql.endedSince, about),
  );
  if (current.length > d.most || ended.length > d.most) return undefined;
  return { current, ended: new Set(ended.map(({ id }) => String(id))) };
}
