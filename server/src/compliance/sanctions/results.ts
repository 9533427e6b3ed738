/**
 * Results: what was compared with which version of the lists, and what was found. The gate reads them in its own transaction.
 *
 * A row stands until its names, the rules or what was found change; a new version of the lists that finds the same only moves it
 * on. So a register that is compared every day grows by what has changed.
 *
 * A hit is one owner, one entry as it stood in the list, and one input. What a person decided about it is asked again only
 * when one of them is new. A name of an account or a payer that was decided to be no hit of its customer is not asked again.
 */
import type { Vault } from '../../base/crypto.ts';
import { awaitAll, type Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import { closeCases, tellCase } from '../cases.ts';
import { type Explanation, type Subject, subjectText } from './match.ts';
import { nameOf } from './names.ts';
import { type FoundEntry, type ResultRow, sql } from './store.ts';
import type { Known } from './subjects.ts';

export interface FoundHit extends FoundEntry {
  /** Which of the subjects it was. */
  subject: Subject;
  explanation: Explanation;
}

const inputsContext = (key: string): string => `name_screenings.inputs:${key}`;
export const explanationContext = (owner: string): string => `sanctions_hits.explanation:${owner}`;

export const openInputs = (
  vault: Vault,
  { subject, inputs }: Pick<ResultRow, 'subject' | 'inputs'>,
): Subject[] | undefined =>
  inputs === null ? undefined : (JSON.parse(vault.decrypt(inputs, inputsContext(subject))) as Subject[]);

export const caseSubject = (owner: string): string => `sanctions:${owner}`;
const CASE = 'sanctions_hit';

/** Stores what was found about one of them, and opens or closes the case of its owner. */
export async function keepResult(
  tx: Tx,
  vault: Vault,
  r: { key: string; known: Known; found: readonly FoundHit[]; rules: string; version: bigint; now: Date },
): Promise<void> {
  const { key, known, found, rules, version, now } = r;
  const { owner, customerId, partnerId, revision, subjects } = known;
  const digest = vault.index(JSON.stringify(subjects.map(subjectText)), `name_screenings.inputs:${owner}`);
  const kept: FoundEntry[] = found.map(({ entryId, score }) => ({ entryId, score }));
  const before = await tx.row<ResultRow>(sql.current, [key]);
  // Compared meanwhile with a newer version, by another process.
  if (before !== undefined && before.screenedTo > version) return;
  const isSame =
    before !== undefined &&
    before.inputsDigest.equals(digest) &&
    before.rules === rules &&
    before.inputs !== null &&
    JSON.stringify(before.found.map(({ entryId, score }) => [entryId, score])) ===
      JSON.stringify(kept.map(({ entryId, score }) => [entryId, score]));
  if (isSame) return void (await tx.run(sql.moveOn, [before.id, version, revision, now]));
  if (before !== undefined) await tx.run(sql.endResult, [before.id, now]);
  const inputs = vault.encrypt(JSON.stringify(subjects), inputsContext(key));
  const names = subjects.length;
  const row = await tx.row<{ id: bigint }>(sql.insertResult, [
    ...[key, partnerId, customerId, inputs, digest, revision, names, rules, version, JSON.stringify(kept), now],
  ]);
  assert(row !== undefined, 'an inserted result has an id');
  for (const { entryId, score, subject, explanation } of found) {
    const words = nameOf(explanation.givenName).words.map(({ text }) => text);
    const nameDigest = vault.index(words.toSorted().join(' '), `sanctions_hits.name:${owner}`);
    const sealed = vault.encrypt(JSON.stringify(explanation), explanationContext(owner));
    const input = vault.index(subjectText(subject), `sanctions_hits.input:${owner}`);
    await tx.run(sql.insertHit, [owner, key, row.id, customerId, entryId, input, nameDigest, score, sealed, now]);
  }
  await endUnfound(tx, vault, { key, owner, found });
  await tellOwner(tx, { owner, now });
}

/** Open hits of this subject that are found no longer: their entry was removed or changed, or the name is another one. */
async function endUnfound(
  tx: Tx,
  vault: Vault,
  { key, owner, found }: { key: string; owner: string; found: readonly FoundHit[] },
): Promise<void> {
  const byInput = new Map<string, { input: Buffer; ids: string[] }>();
  for (const { subject, entryId } of found) {
    const text = subjectText(subject);
    const there = byInput.get(text) ?? { input: vault.index(text, `sanctions_hits.input:${owner}`), ids: [] };
    byInput.set(text, { ...there, ids: [...there.ids, entryId] });
  }
  await tx.run(sql.goneHits, [
    key,
    [...byInput.values()].flatMap(({ ids }) => ids),
    [...byInput.values()].map(({ input }) => input),
  ]);
}

/** One case for each owner with open hits; it ends with the last of them. */
export async function tellOwner(tx: Tx, { owner, now }: { owner: string; now: Date }): Promise<void> {
  const { count = 0n } = (await tx.row<{ count: bigint }>(sql.openOf, [owner])) ?? {};
  const about = { kind: CASE, subject: caseSubject(owner) } as const;
  if (count === 0n) return await closeCases(tx, { ...about, outcome: 'decided, or found no longer', now });
  await tellCase(tx, {
    ...about,
    reason: 'a name is like one on a sanctions list',
    facts: { owner, open: count },
    now,
  });
}

export interface Standing {
  /** Without a result that is of the newest lists, the current rules and the current names. */
  unscreened: string[];
  /** Results without any name. */
  nameless: string[];
  /** Undecided, and decided to be true. */
  hits: { id: bigint; subject: string; state: 'open' | 'true_hit'; list: string; entry: string }[];
}

/** What stands about them now. Rows only. */
export async function standingOf(
  tx: Tx,
  s: { keys: readonly string[]; customerId: string | null; rules: string },
): Promise<Standing> {
  const owner = s.customerId === null ? '' : `customer:${s.customerId}`;
  const [rows, hits] = await awaitAll(
    tx.rows<{ subject: string; names: number; isOfNow: boolean }>(sql.standing, [s.keys, s.customerId, s.rules]),
    tx.rows<Standing['hits'][number]>(sql.standingHits, [owner, s.keys]),
  );
  const good = new Map(rows.filter(({ isOfNow }) => isOfNow).map(({ subject, names }) => [subject, names]));
  return {
    unscreened: s.keys.filter((key) => !good.has(key)),
    nameless: s.keys.filter((key) => good.get(key) === 0),
    hits,
  };
}
