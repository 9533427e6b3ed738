/**
 * Results: which names were compared with which version of the lists, and the hits. The gate reads them in its own transaction.
 *
 * A row stays until its names, the rules or its hits change; a new version of the lists with the same hits only updates its
 * version. So comparing the whole register every day adds rows only for changes.
 *
 * A hit is one owner, one version of a list entry, and one input. An operator decides again only when one of these three is
 * new. An undecided hit ends by itself only with its entry: a changed customer name or a higher threshold does not end it. If
 * operators decided that a name is no hit for the customer, the same name on an account or a payer of that customer raises no
 * new hit.
 */
import type { Vault } from '../../base/crypto.ts';
import { awaitAll, type Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
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
interface Sealed {
  explanation: Explanation;
  subject: Subject;
}

export const openSealed = (vault: Vault, { owner, explanation }: { owner: string; explanation: Buffer }): Sealed =>
  JSON.parse(vault.decrypt(explanation, explanationContext(owner))) as Sealed;

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
  const { explanation, subject } = JSON.parse(text) as Sealed;
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

/** Stores the result and the hits of one subject, and opens or closes the case of its owner. */
export async function keepResult(
  tx: Tx,
  vault: Vault,
  r: {
    key: string;
    known: Known;
    /** Reads the subject's names again, in the transaction that stores the result. */
    knownNow: (tx: Tx) => Promise<Known>;
    found: readonly FoundHit[];
    rules: string;
    version: bigint;
    now: Date;
  },
): Promise<void> {
  const { key, known, found, rules, version, now } = r;
  const { owner, customerId, partnerId, revision, subjects } = known;
  if (customerId !== null && (await tx.row<Erased>(sql.isErasedLocked, [customerId]))?.erased) {
    // An erasure may have committed since the names were read: erased names are not stored again. Payers of later deposits are
    // stored.
    if (!key.startsWith('payer:')) return;
    if (textOf(await r.knownNow(tx)) !== textOf(known)) return;
  }
  const digests = vault.indexes(...inputsKey(owner, subjects));
  const kept: FoundEntry[] = found.map(({ entryId, score }) => ({ entryId, score }));
  const before = await tx.row<ResultRow>(sql.current, [key]);
  // Another process has stored a result for a newer version meanwhile.
  if (before !== undefined && before.screenedTo > version) return;
  const isSame =
    before !== undefined &&
    digests.some((one) => before.inputsDigest.equals(one)) &&
    before.rules === rules &&
    before.inputs !== null &&
    JSON.stringify(before.found.map(({ entryId, score }) => [entryId, score])) ===
      JSON.stringify(kept.map(({ entryId, score }) => [entryId, score]));
  if (isSame) return void (await tx.run(sql.moveOn, [before.id, version, revision, now]));
  if (before !== undefined) await tx.run(sql.endResult, [before.id, now]);
  const inputs = vault.encrypt(JSON.stringify(subjects), inputsContext(key));
  const names = subjects.length;
  const row = await tx.row<{ id: bigint }>(sql.insertResult, [
    ...[
      key,
      owner,
      partnerId,
      customerId,
      inputs,
      digests[0],
      revision,
      names,
      rules,
      version,
      JSON.stringify(kept),
      now,
    ],
  ]);
  assert(row !== undefined, 'the inserted result was not returned');
  for (const { entryId, score, subject, explanation } of found) {
    const [name, ...oldNames] = vault.indexes(...nameKey(owner, explanation));
    const sealed: Sealed = { explanation, subject };
    const bytes = vault.encrypt(JSON.stringify(sealed), explanationContext(owner));
    const [input, ...oldInputs] = vault.indexes(...inputKey(owner, subject));
    if (oldInputs.length > 0) await tx.run(sql.renewHit, [owner, entryId, input, oldInputs]);
    const hit = [owner, key, row.id, customerId, entryId, input, name, score, bytes, now];
    await tx.run(sql.insertHit, [...hit, [name, ...oldNames]]);
  }
  await tx.run(sql.goneHits, [key, version]);
  await updateOwnerCase(tx, { owner, now });
}

/** One case for each owner with open hits; it closes with the last of them. */
export async function updateOwnerCase(tx: Tx, { owner, now }: { owner: string; now: Date }): Promise<void> {
  const { count = 0n } = (await tx.row<{ count: bigint }>(sql.openOf, [owner])) ?? {};
  const about = { kind: CASE, subject: caseSubject(owner) } as const;
  if (count === 0n) return await closeCases(tx, { ...about, outcome: 'decided, or no longer found', now });
  await upsertCase(tx, {
    ...about,
    reason: 'a name is similar to one on a sanctions list',
    facts: { owner, open: count },
    now,
  });
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
