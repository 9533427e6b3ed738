/**
 * Reading a sanctions list: from its bytes to entries, and the changes between two versions.
 *
 * A list is accepted as a whole or not at all: one unreadable entry rejects the list, because without that entry the people it
 * names would be cleared. Entries with the same id are merged into one.
 */
import { assert } from '../../base/errors.ts';
import { digestOf, type ListCode, type ListEntry, tidied } from './entry.ts';
import { readEu } from './eu.ts';
import { readOfac } from './ofac.ts';
import { readUk } from './uk.ts';
import { type ReadList, readUn } from './un.ts';
import { type Chunks, refuseList } from './xml.ts';

type Reader = (chunks: Chunks, onEntry: (entry: ListEntry) => void) => Promise<ReadList>;

const READERS: Readonly<Record<ListCode, Reader>> = { ofac: readOfac, un: readUn, eu: readEu, uk: readUk };

/** All four lists together have about 40,000 entries. */
const MOST_ENTRIES = 200_000;

export interface SanctionsList extends ReadList {
  list: ListCode;
  /** By the publisher's id. */
  entries: ReadonlyMap<string, ListEntry>;
}

/**
 * @param sha256 the file's required checksum, if its source gives one
 * @throws Refusal 'file_refused' with a sentence that quotes no content of the file
 */
export async function readList(list: ListCode, chunks: Chunks, sha256?: Buffer): Promise<SanctionsList> {
  const entries = new Map<string, ListEntry>();
  const read = await READERS[list](chunks, (entry) => {
    const before = entries.get(entry.id);
    entries.set(entry.id, tidied(before === undefined ? entry : merged(before, entry)));
    if (entries.size > MOST_ENTRIES) throw refuseList(`The list has more than ${MOST_ENTRIES} entries.`);
  });
  if (entries.size === 0) throw refuseList('There is no entry in the list.');
  if (sha256 !== undefined && !sha256.equals(read.sha256))
    throw refuseList('The list does not have the checksum that its source gives.');
  return { ...read, list, entries };
}

const merged = (one: ListEntry, other: ListEntry): ListEntry => ({
  ...one,
  names: [...one.names, ...other.names],
  births: [...one.births, ...other.births],
  countries: [...one.countries, ...other.countries],
  identifiers: [...one.identifiers, ...other.identifiers],
  addresses: [...one.addresses, ...other.addresses],
});

/** Ids of entries; each id is in exactly one of the three. */
export interface Delta {
  added: string[];
  removed: string[];
  changed: string[];
}

/** The changes from one version to another, by the digests of their entries. */
export function deltaOf(before: ReadonlyMap<string, Buffer>, after: ReadonlyMap<string, ListEntry>): Delta {
  const delta: Delta = { added: [], removed: [], changed: [] };
  for (const [id, entry] of after) {
    const was = before.get(id);
    if (was === undefined) delta.added.push(id);
    else if (!was.equals(digestOf(entry))) delta.changed.push(id);
  }
  for (const id of before.keys()) if (!after.has(id)) delta.removed.push(id);
  assert(delta.added.length + delta.changed.length <= after.size, 'an entry is in two parts of a delta');
  return delta;
}
