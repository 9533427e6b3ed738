/**
 * Results: which names were compared with which version of the lists, and the hits. The gate reads them in its own transaction.
 *
 * A row stays until its names, the rules or its hits change; a new version of the lists with the same hits only updates its
 * version. So comparing the whole register every day adds rows only for changes.
 *
 * A hit is one owner, one version of a list entry, and one input. An operator decides again only when one of these three is
 * new. An undecided hit ends by itself only with its entry: a changed customer name or a higher threshold does not end it. If
 * operators decided that a name is no hit for the customer, the same name on an account or a payer of that customer raises no
 * new hit. On a wallet of another person it does: that person is not the customer.
 */
import type { Vault } from '../../base/crypto.ts';
import { awaitAll, type Tx } from '../../base/db.ts';
import { closeCases, upsertCase } from '../cases.ts';
import { type Explanation, type Subject, subjectText } from './match.ts';
import { nameOf } from './names.ts';
import { type FoundEntry, type ResultRow, sql } from './store.ts';
import type { Known } from './subjects.ts';

export interface FoundHit extends FoundEntry {
  /** The one of the compared subjects that produced the hit. */
  subject: Subject;
  explanation: Explanation;
}

const inputsContext = (key: string): string => `name_screenings.inputs:${key}`;
const explanationContext = (owner: string): string => `sanctions_hits.explanation:${owner}`;

/** The encrypted part of a hit. Both of its digests can be computed from it. */
interface Encrypted {
  explanation: Explanation;
  subject: Subject;
}

export const decryptResult = (
  vault: Vault,
  { owner, explanation }: { owner: string; explanation: Buffer },
): Encrypted => JSON.parse(vault.decrypt(explanation, explanationContext(owner))) as Encrypted;

const textOf = ({ subjects }: { subjects: readonly Subject[] }): string => JSON.stringify(subjects.map(subjectText));
/** Text and purpose of each digest, as arguments of the vault's index. */
const inputsKey = (owner: string, subjects: readonly Subject[]): [text: string, purpose: string] => [
  textOf({ subjects }),
  `name_screenings.inputs:${owner}`,
];
const inputKey = (owner: string, subject: Subject): [text: string, purpose: string] => [
  subjectText(subject),
  `sanctions_hits.input:${owner}`,
];
function nameKey(owner: string, { givenName }: Explanation): [text: string, purpose: string] {
  const words = nameOf(givenName).words.map(({ text }) => text);
  return [words.toSorted().join(' '), `sanctions_hits.name:${owner}`];
}

/**
 * A decrypted value, and whether it is encrypted under the new key already (src/rotation). @throws when neither key decrypts it
 */
function openedBy({ from, to }: RotationKeys, value: Buffer, context: string): { text: string; isNew: boolean } {
  try {
    return { text: to.decrypt(value, context), isNew: true };
  } catch {
    return { text: from.decrypt(value, context), isNew: false };
  }
}

interface RotationKeys {
  readonly from: Vault;
  readonly to: Vault;
}

/** A result re-encrypted under the new master key; undefined when that is done already, or the result was erased. */
export function renewedResult(
  keys: RotationKeys,
  row: { subject: string; owner: string; inputs: Buffer | null; inputsDigest: Buffer },
): [inputs: Buffer, digest: Buffer] | undefined {
  if (row.inputs === null) return undefined;
  const context = inputsContext(row.subject);
  const { text, isNew } = openedBy(keys, row.inputs, context);
  const digest = keys.to.index(...inputsKey(row.owner, JSON.parse(text) as Subject[]));
  if (isNew && digest.equals(row.inputsDigest)) return undefined;
  return [isNew ? row.inputs : keys.to.encrypt(text, context), digest];
}

/** The same for a hit. Its identity stays the same, so the decision about it stays valid. */
export function renewedHit(
  keys: RotationKeys,
  row: { owner: string; explanation: Buffer; inputsDigest: Buffer; nameDigest: Buffer },
): [explanation: Buffer, inputsDigest: Buffer, nameDigest: Buffer] | undefined {
  if (row.explanation.length === 0) return undefined;
  const context = explanationContext(row.owner);
  const { text, isNew } = openedBy(keys, row.explanation, context);
  const { explanation, subject } = JSON.parse(text) as Encrypted;
  const input = keys.to.index(...inputKey(row.owner, subject));
  const name = keys.to.index(...nameKey(row.owner, explanation));
  if (isNew && input.equals(row.inputsDigest) && name.equals(row.nameDigest)) return undefined;
  return [isNew ? row.explanation : keys.to.encrypt(text, context), input, name];
}

export const openInputs = (
  vault: Vault,
  { subject, inputs }: Pick<ResultRow, 'subject' | 'inputs'>,
): Subject[] | undefined =>
  inputs === null ? undefined : (JSON.parse(vault.decrypt(inputs, inputsContext(subject))) as Subject[]);

export const caseSubject = (owner: string): string => `sanctions:${owner}`;
const CASE = 'sanctions_hit';

/** A subject with the names that were compared. */
export type Compared = {
  readonly key: string;
  readonly known: Known;
} & (
  | { readonly found: readonly FoundHit[]; readonly isUnchanged?: false }
  /** What was found is that of the stored result: the lists have changed nothing about it. */
  | { readonly found: readonly FoundEntry[]; readonly isUnchanged: true }
);
type Changed = Compared & { readonly isUnchanged?: false };

/** The current results of these subjects, to be compared again; not locked. */
export async function seenOf(tx: Tx, keys: readonly string[]): Promise<Map<string, CurrentRow>> {
  return new Map((await tx.rows<CurrentRow>(sql.seenOf, [keys])).map((row) => [row.subject, row] as const));
}

/** Whether a result is of these names, under these rules. */
export const isOfSameInput = (vault: Vault, row: CurrentRow, { owner, subjects, revision }: Known, rules: string) =>
  row.inputs !== null &&
  row.rules === rules &&
  row.revision === revision &&
  vault.indexes(...inputsKey(owner, subjects)).some((one) => row.inputsDigest.equals(one));

interface Kept {
  compared: readonly Compared[];
  /** Reads a subject's names again, in the transaction that stores the results. */
  knownNow: (key: string) => Promise<Known>;
  rules: string;
  version: bigint;
  now: Date;
}

/**
 * Stores the results and hits of these subjects, and opens or closes the case of each owner.
 *
 * Locks customers, then results, then hits, then cases, each kind in one order: as decisions and erasures do.
 */
export async function keepResults(tx: Tx, vault: Vault, k: Kept): Promise<void> {
  const { rules, version, now } = k;
  const { storable, erased } = await withoutErased(tx, k);
  const keys = storable.map(({ key }) => key);
  const current = new Map((await tx.rows<CurrentRow>(sql.currentOf, [keys])).map((row) => [row.subject, row] as const));
  const same: { id: bigint; of: Compared }[] = [];
  const changed: (Changed & { digest: Buffer; before: CurrentRow | undefined })[] = [];
  for (const of of storable) {
    const { key, known } = of;
    const before = current.get(key);
    // Another process has meanwhile stored a result for a newer version, or for newer names. Of a payer, whose deposit may become another
    // order's, the gate tells by itself which result is of now.
    const isOlder = before !== undefined && before.revision > known.revision && !key.startsWith('payer:');
    if (before !== undefined && (before.screenedTo > version || isOlder)) continue;
    const digests = vault.indexes(...inputsKey(known.owner, known.subjects));
    if (before !== undefined && isSame(before, { of, digests, rules })) same.push({ id: before.id, of });
    // Another process has meanwhile stored another result: this one would be of the result before. The next run compares again.
    else if (of.isUnchanged !== true) changed.push({ ...of, digest: digests[0] as Buffer, before });
  }
  const ended = changed.flatMap(({ before }) => (before === undefined ? [] : [before.id]));
  const [inserted] = await awaitAll(
    insertChanged(tx, vault, { changed, ended, rules, version, now }),
    same.length === 0
      ? 0
      : tx.run(sql.moveOn, [same.map(({ id }) => id), version, now, same.map(({ of }) => of.known.revision)]),
  );
  if (inserted.length > 0) await keepHits(tx, vault, { inserted, version, now });
  const done = [...same.map(({ of }) => of), ...inserted.map(({ of }) => of), ...erased];
  await tx.run(sql.wereCompared, [done.map(({ key }) => key), done.map(({ known }) => known.revision)]);
}

export type CurrentRow = ResultRow & { revision: number };

/**
 * An erasure may have committed since the names were read: erased names are not stored again. Payers of later deposits are stored.
 */
async function withoutErased(tx: Tx, { compared, knownNow }: Kept): Promise<Record<'storable' | 'erased', Compared[]>> {
  const ids = [...new Set(compared.flatMap(({ known }) => known.customerId ?? []))];
  const rows = ids.length === 0 ? [] : await tx.rows<Erased & { id: string }>(sql.erasedLocked, [ids]);
  const gone = new Set(rows.filter(({ erased }) => erased).map(({ id }) => id));
  const storable: Compared[] = [];
  const erased: Compared[] = [];
  for (const of of compared) {
    const { key, known } = of;
    const isGone = known.customerId !== null && gone.has(known.customerId);
    const isStorable = !isGone || (key.startsWith('payer:') && textOf(await knownNow(key)) === textOf(known));
    (isStorable ? storable : erased).push(of);
  }
  return { storable, erased };
}

/** Whether a result says the same as the row: then only the row's version changes. */
function isSame(row: ResultRow, { of, digests, rules }: { of: Compared; digests: Buffer[]; rules: string }): boolean {
  const text = (found: readonly FoundEntry[]): string =>
    JSON.stringify(found.map(({ entryId, score }) => [entryId, score]));
  return (
    row.inputs !== null &&
    row.rules === rules &&
    digests.some((one) => row.inputsDigest.equals(one)) &&
    text(row.found) === text(of.found)
  );
}

/** @returns the rows of those that no other transaction has inserted meanwhile */
async function insertChanged(
  tx: Tx,
  vault: Vault,
  i: {
    changed: readonly (Changed & { digest: Buffer })[];
    ended: readonly bigint[];
    rules: string;
    version: bigint;
    now: Date;
  },
): Promise<{ id: bigint; of: Changed }[]> {
  if (i.ended.length > 0) tx.defer(sql.endResults, [i.ended, i.now]);
  const ordered = i.changed.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const rows = await awaitAll(
    ...ordered.map(({ key, known: { owner, partnerId, customerId, subjects, revision }, found, digest }) => {
      const kept: FoundEntry[] = found.map(({ entryId, score }) => ({ entryId, score }));
      const inputs = vault.encrypt(JSON.stringify(subjects), inputsContext(key));
      const about = [key, owner, partnerId, customerId, inputs, digest, revision, subjects.length];
      const result = [i.rules, i.version, JSON.stringify(kept), i.now];
      return tx.row<{ id: bigint }>(sql.insertResult, [...about, ...result]);
    }),
  );
  return ordered.flatMap((of, at) => {
    const id = rows[at]?.id;
    return id === undefined ? [] : [{ id, of }];
  });
}

/** Stores the hits of new results, and updates the case of each owner. */
async function keepHits(
  tx: Tx,
  vault: Vault,
  h: { inserted: readonly { id: bigint; of: Changed }[]; version: bigint; now: Date },
): Promise<void> {
  for (const { id, of } of h.inserted)
    for (const { entryId, score, subject, explanation } of of.found) {
      const { owner, customerId } = of.known;
      const [name, ...oldNames] = vault.indexes(...nameKey(owner, explanation));
      const content: Encrypted = { explanation, subject };
      const bytes = vault.encrypt(JSON.stringify(content), explanationContext(owner));
      const [input, ...oldInputs] = vault.indexes(...inputKey(owner, subject));
      if (oldInputs.length > 0) tx.defer(sql.renewHit, [owner, entryId, input, oldInputs]);
      const hit = [owner, of.key, id, customerId, entryId, input, name, score, bytes, h.now];
      tx.defer(sql.insertHit, [...hit, [name, ...oldNames]]);
    }
  await tx.run(sql.goneHits, [h.inserted.map(({ of }) => of.key), h.version]);
  await updateOwnerCases(tx, { owners: h.inserted.map(({ of }) => of.known.owner), now: h.now });
}

/** One case for each owner with open hits; it closes with the last of them. */
export async function updateOwnerCases(
  tx: Tx,
  { owners, now }: { owners: readonly string[]; now: Date },
): Promise<void> {
  const rows = await tx.rows<{ owner: string; count: bigint }>(sql.openOf, [owners]);
  const open = new Map(rows.map(({ owner, count }) => [owner, count]));
  const subject = owners.filter((owner) => !open.has(owner)).map(caseSubject);
  const reason = 'a name is similar to one on a sanctions list';
  await awaitAll(
    subject.length === 0
      ? undefined
      : closeCases(tx, { kind: CASE, subject, outcome: 'decided, or no longer found', now }),
    ...[...open]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([owner, count]) =>
        upsertCase(tx, { kind: CASE, subject: caseSubject(owner), reason, facts: { owner, open: count }, now }),
      ),
  );
}

interface Erased {
  erased: boolean;
}

export interface Standing {
  /** Subjects without a result for the newest lists, the current rules and the current names. */
  unscreened: string[];
  /** Subjects whose result was made without any name. */
  nameless: string[];
  /** Hits that are undecided or decided to be true. */
  hits: { id: bigint; subject: string; state: 'open' | 'true_hit'; list: string; entry: string }[];
}

/** The current results of these subjects. Reads rows only. */
export async function standingOf(
  tx: Tx,
  s: { keys: readonly string[]; customerId: string | null; rules: string },
): Promise<Standing> {
  const owner = s.customerId === null ? '' : `customer:${s.customerId}`;
  const [rows, hits, customer] = await awaitAll(
    tx.rows<{ subject: string; names: number; isOfNow: boolean }>(sql.standing, [s.keys, s.customerId, s.rules]),
    tx.rows<Standing['hits'][number]>(sql.standingHits, [owner, s.keys]),
    s.customerId === null ? undefined : tx.row<Erased>(sql.isErased, [s.customerId]),
  );
  const good = new Map(rows.filter(({ isOfNow }) => isOfNow).map(({ subject, names }) => [subject, names]));
  // An erased customer has no data left to compare, so no result is expected, and it never counts as compared. Payers of later
  // deposits are still compared.
  const isGone = (key: string): boolean => customer?.erased === true && !key.startsWith('payer:');
  return {
    unscreened: s.keys.filter((key) => !isGone(key) && !good.has(key)),
    nameless: s.keys.filter((key) => isGone(key) || good.get(key) === 0),
    hits,
  };
}
