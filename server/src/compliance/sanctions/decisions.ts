/**
 * Decisions about hits: alert and list entry side by side for an operator, the operator's decision, and a repeat of the
 * comparison from the stored inputs.
 *
 * A true hit blocks the customer. A false positive is kept for this owner, this version of the list entry, and this input;
 * another version of the entry or another name is a new question.
 */
import type { Vault } from '../../base/crypto.ts';
import type { Database, Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { blockCustomer } from '../../customers/index.ts';
import { record } from '../decisions.ts';
import type { ListEntry } from './entry.ts';
import { entriesAt } from './lists.ts';
import { matchEntry, prepare, REPLAYED, readRules, type Subject } from './match.ts';
import { nameOf } from './names.ts';
import { decryptResult, openInputs, updateOwnerCases } from './results.ts';
import { type FoundEntry, type HitRow, type ResultRow, sql } from './store.ts';

export const HIT_STATES = ['open', 'true_hit', 'false_positive', 'gone'] as const;
export const MAX_HITS = 200;

type Shown = HitRow & { list: string; entry: string };
type Whole = Shown & { content: ListEntry; addedIn: bigint; removedIn: bigint | null };

const shown = ({
  id,
  owner,
  subject,
  screeningId,
  customerId,
  list,
  entry,
  score,
  state,
  people,
  reason,
  foundAt,
  decidedAt,
}: Shown) => ({
  ...{ id, owner, subject, screening: screeningId, customerId, list, listEntry: entry, score: scoreText(score), state },
  ...{ people, reason, foundAt, decidedAt },
});

/** From 0 to 1, exact. */
export const scoreText = (score: number): string => (score / 10_000).toFixed(4);

/** Hits in a state, oldest first, without personal data. */
export const listHits = async (tx: Tx, l: { state: HitRow['state']; after: bigint; limit: number }) =>
  (await tx.rows<Shown>(sql.hits, [l.state, l.after, Math.min(l.limit, MAX_HITS + 1)])).map(shown);

/** Those of these deposits whose payer has a hit that is undecided or true. */
export async function listedPayers(tx: Tx, deposits: readonly bigint[]): Promise<ReadonlySet<bigint>> {
  const rows = await tx.rows<{ subject: string }>(sql.listedPayers, [deposits.map((id) => `payer:${id}`)]);
  return new Set(rows.map(({ subject }) => BigInt(subject.slice('payer:'.length))));
}

/** Whether a hit of a customer, its accounts, payers or wallets is undecided or true. */
export const hasHit = async (tx: Tx, customerId: string): Promise<boolean> =>
  (await tx.rows(sql.standingHits, [`customer:${customerId}`, []])).length > 0;

/** A hit, locked. @throws Refusal 'unknown_hit' */
async function hitOf(tx: Tx, id: bigint): Promise<Whole> {
  // Lock order as in results.ts: the customer first.
  await tx.rows(sql.lockCustomerOf, [id]);
  const row = await tx.row<Whole>(sql.hitById, [id]);
  if (row === undefined) throw new Refusal('unknown_hit');
  return row;
}

/** @throws Refusal 'unknown_hit' */
export const findHit = async (tx: Tx, id: bigint) => shown(await hitOf(tx, id));

/** Alert and entry side by side: personal data, for the operators who decide. @throws Refusal 'unknown_hit' */
export async function openHit(tx: Tx, vault: Vault, id: bigint) {
  const hit = await hitOf(tx, id);
  // After an erasure only the list entry is left.
  const { explanation = null, subject = null } = hit.explanation.length === 0 ? {} : decryptResult(vault, hit);
  const { list, content, addedIn, removedIn } = hit;
  return {
    alert: { given: subject, explanation },
    listEntry: { list, ...content, sinceVersion: addedIn, untilVersion: removedIn },
  };
}

/**
 * Stores the operators' decision.
 *
 * @throws Refusal 'unknown_hit'; 'hit_over' when it was decided, or the newest lists no longer produce it
 */
export async function decideHit(
  tx: Tx,
  d: { id: bigint; outcome: 'true_hit' | 'false_positive'; people: readonly string[]; reason: string; now: Date },
): Promise<void> {
  const { id, outcome, people, reason, now } = d;
  const hit = await hitOf(tx, id);
  // A false positive may later be decided a true hit. A true hit is final; ending the customer's block is a separate action.
  if (hit.state !== 'open' && !(hit.state === 'false_positive' && outcome === 'true_hit'))
    throw new Refusal('hit_over', { state: hit.state });
  await tx.run(sql.decide, [id, outcome, people, reason, now]);
  if (outcome === 'true_hit' && hit.customerId !== null) await blockCustomer(tx, hit.customerId, now);
  const { owner, subject, list, entry, addedIn, score, screeningId } = hit;
  await record(tx, {
    partnerId: null,
    about: 'sanctions',
    outcome,
    rules: `${list} entry of version ${addedIn}`,
    inputs: {
      hit: String(id),
      owner,
      subject,
      list,
      entry,
      score: scoreText(score),
      screening: String(screeningId),
      people,
    },
    now,
  });
  await updateOwnerCases(tx, { owners: [owner], now });
}

export type Replayed =
  | { outcome: 'same' | 'different'; stored: readonly FoundEntry[]; found: readonly FoundEntry[] }
  | { outcome: 'inputs_erased' | 'rules_changed' };

/** Entries compared before the event loop gets a turn. */
const AT_ONCE = 50;

/** @throws Refusal 'unknown_screening' */
export async function findScreening(tx: Tx, id: bigint) {
  const row = await tx.row<ResultRow>(sql.resultById, [id]);
  if (row === undefined) throw new Refusal('unknown_screening');
  const { subject, customerId, rules, screenedTo, found } = row;
  return { subject, customerId, rules, screenedTo, found: found.length, isErased: row.inputs === null };
}

/**
 * Compares the stored names with that version of the lists, entry by entry without the index, and reports whether the result is
 * the same.
 *
 * @throws Refusal 'unknown_screening'
 */
export async function replayScreening(db: Pick<Database, 'asSystem'>, vault: Vault, id: bigint): Promise<Replayed> {
  const row = await db.asSystem((tx) => tx.row<ResultRow>(sql.resultById, [id]));
  if (row === undefined) throw new Refusal('unknown_screening');
  const subjects = openInputs(vault, row);
  if (subjects === undefined) return { outcome: 'inputs_erased' };
  const rules = readRules(row.rules);
  if (rules === undefined || !REPLAYED.includes(rules.version)) return { outcome: 'rules_changed' };
  const found: FoundEntry[] = [];
  const given = subjects.map((subject: Subject) => ({ subject, names: subject.names.map(nameOf) }));
  for await (const entries of entriesAt((body) => db.asSystem(body), { version: row.screenedTo, lists: rules.lists }))
    for (const [at, { id: entryId, content }] of entries.entries()) {
      const prepared = prepare(content);
      for (const { subject, names } of given) {
        const score = matchEntry(subject, names, prepared)?.score ?? 0;
        if (score >= rules.threshold) found.push({ entryId: String(entryId), score });
      }
      if (at % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  const stored = sorted(row.found);
  const again = sorted(found);
  const outcome = JSON.stringify(stored) === JSON.stringify(again) ? 'same' : 'different';
  return { outcome, stored, found: again };
}

const sorted = (found: readonly FoundEntry[]): FoundEntry[] =>
  found
    .map(({ entryId, score }) => ({ entryId, score }))
    .toSorted((a, b) => Number(BigInt(a.entryId) - BigInt(b.entryId)) || a.score - b.score);
