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
import type { Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import { replaceDenyList } from '../screening.ts';
import { digestOf, type ListCode, type ListEntry } from './entry.ts';
import { type Delta, deltaOf, type SanctionsList } from './read.ts';
import { sql } from './store.ts';
import { refuseList } from './xml.ts';

/** Rows per statement. */
const AT_ONCE = 1_000;

/**
 * A list that lacks more than one in `part` entries of the previous version, and more than `entries`, is treated as truncated:
 * otherwise the people it no longer names would be cleared at once. The largest removals that publishers have made are below a
 * twentieth.
 */
const MOST_REMOVED = { part: 10, entries: 20 };

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
}

export const listStates = (tx: Tx): Promise<ListState[]> => tx.rows<ListState>(sql.lists);

/** The newest version of any list; 0n when no list was ever stored. */
export async function newestVersion(tx: Tx): Promise<bigint> {
  return (await tx.row<{ id: bigint }>(sql.newest))?.id ?? 0n;
}

/**
 * Stores the list that was read. Two servers that read concurrently are serialized, and the second one finds no change.
 *
 * @param l.isWhole its checksum proves that it is complete, however short
 * @returns the new version, or undefined when nothing has changed
 * @throws Refusal 'file_refused' when too much of the previous version is missing
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
    isWhole = false,
    now,
  }: SanctionsList & { asOf: Date; isWhole?: boolean; now: Date },
): Promise<{ version: bigint; delta: Delta } | undefined> {
  await tx.run(sql.lockLists);
  const before = await tx.rows<{ entry: string; digest: Buffer }>(sql.digests, [list]);
  const delta = deltaOf(new Map(before.map(({ entry, digest }) => [entry, digest])), entries);
  const { added, removed, changed } = delta;
  const isCut = removed.length > MOST_REMOVED.entries && removed.length * MOST_REMOVED.part > before.length;
  if (isCut && !isWhole)
    throw refuseList(
      `The list lacks ${removed.length} of the ${before.length} entries of the version before: see that it is whole.`,
    );
  if (added.length + removed.length + changed.length === 0) {
    await tx.run(sql.stillList, [list, asOf, now]);
    return undefined;
  }
  const counts = [entries.size, added.length, removed.length, changed.length];
  const row = await tx.row<{ id: bigint }>(sql.insertVersion, [list, sha256, published, ...counts, now]);
  assert(row !== undefined, 'the inserted version was not returned');
  const version = row.id;
  for (const ids of parts([...removed, ...changed])) await tx.run(sql.endEntries, [list, version, ids]);
  for (const ids of parts([...added, ...changed])) {
    const all = ids.flatMap((id) => entries.get(id) ?? []);
    const columns = [all.map(({ id }) => id), all.map((entry) => JSON.stringify(entry)), all.map(digestOf)];
    await tx.run(sql.insertEntries, [list, version, ...columns]);
  }
  await tx.run(sql.putList, [list, version, asOf, now]);
  await replaceDenyList(tx, vault, {
    list: `sanctions.${list}`,
    version: String(version),
    destinations: addressesOf(entries.values()),
    now,
  });
  return { version, delta };
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
