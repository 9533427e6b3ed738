/**
 * The index: finds the entries of all lists that are worth comparing with a name, so that a whole register of customers is
 * screened in minutes. In memory; pure once it is built.
 *
 * It indexes words of list names by their text, sound, consonants, and each sound with one letter left out: two sounds that are
 * one change apart share one of those. A name on a list is compared when enough words of the given name were found in it;
 * "enough" never exceeds the minimum of match.ts, so the index loses no hit (a test compares it with trying everything).
 */
import { addressKey, type ListEntry } from './entry.ts';
import { type Match, type MatchRules, matchEntry, type Prepared, prepare, type Subject } from './match.ts';
import { likeness, MEANS, type Name, nameOf, SHORTEST_NEAR, type Unit } from './names.ts';

/** An entry in the index. `E` is the caller's data for it. */
export interface Indexed<E> extends Prepared {
  readonly of: E;
}

export interface Found<E> extends Match {
  entry: ListEntry;
  of: E;
}

export interface NameIndex<E> {
  readonly size: number;
  add(entry: ListEntry, of: E): void;
  /** Every entry whose score reaches the threshold, best first. */
  find(subject: Subject, rules: MatchRules): Found<E>[];
}

/** An index of all of them at once. */
export function indexOf<E>(entries: Iterable<{ entry: ListEntry; of: E }>): NameIndex<E> {
  const index = openIndex<E>();
  for (const { entry, of } of entries) index.add(entry, of);
  return index;
}

export function openIndex<E>(): NameIndex<E> {
  const all: Indexed<E>[] = [];
  /** Every name of every entry; its index here is its number. */
  const names: { name: Name; entry: number }[] = [];
  /** Distinct units of those names, each with the numbers of the names that have it. */
  const units: { unit: Unit; names: number[] }[] = [];
  const unitOf = new Map<string, number>();
  const byKey = new Map<string, number[]>();
  const byAddress = new Map<string, number[]>();
  /** For each name on a list a bit set of the words of the given name that were found in it; all 0 between two searches. */
  let found = new Uint32Array(0);

  function add(entry: ListEntry, of: E): void {
    const indexed = { ...prepare(entry), of };
    for (const { address } of entry.addresses) put(byAddress, addressKey(address), all.length);
    for (const name of indexed.names) {
      for (const unit of name.units) place(unit, names.length);
      names.push({ name, entry: all.length });
    }
    all.push(indexed);
  }

  function place(unit: Unit, name: number): void {
    if (unit.isInitial) return;
    const id = `${unit.text}${unit.isBones ? '*' : ''}${unit.mayBeNear ? '~' : ''}`;
    const known = unitOf.get(id);
    if (known !== undefined) return void units[known]?.names.push(name);
    unitOf.set(id, units.length);
    for (const key of keysOf(unit)) put(byKey, key, units.length);
    units.push({ unit, names: [name] });
  }

  function candidates(name: Name): Set<number> {
    if (found.length < names.length) found = new Uint32Array(names.length);
    const touched: number[] = [];
    for (const unit of name.units) {
      if (unit.isInitial) continue;
      const mask = 2 ** unit.to - 2 ** unit.from;
      for (const at of alike(unit))
        for (const listed of units[at]?.names ?? []) {
          if (found[listed] === 0) touched.push(listed);
          found[listed] = (found[listed] ?? 0) | mask;
        }
    }
    const meaning = name.words.reduce((bits, { weight }, at) => (weight >= MEANS ? bits + 2 ** at : bits), 0);
    const worth = new Set<number>();
    for (const at of touched) {
      const listed = names[at];
      if (listed !== undefined && bitsIn((found[at] ?? 0) & meaning) >= enough(name, listed.name))
        worth.add(listed.entry);
      found[at] = 0;
    }
    return worth;
  }

  /** Units on lists that are similar to this one. */
  function alike(unit: Unit): Set<number> {
    const like = new Set<number>();
    for (const key of keysOf(unit))
      for (const at of byKey.get(key) ?? []) {
        const listed = like.has(at) ? undefined : units[at];
        if (listed !== undefined && likeness(unit, listed.unit) !== undefined) like.add(at);
      }
    return like;
  }

  return {
    get size() {
      return all.length;
    },
    add,
    find(subject, { threshold }) {
      const given = subject.names.map(nameOf);
      const worth = new Set(given.flatMap((name) => [...candidates(name)]));
      for (const at of byAddress.get(addressKey(subject.address ?? '')) ?? []) worth.add(at);
      const hits: Found<E>[] = [];
      for (const at of worth) {
        const one = all[at];
        const match = one && matchEntry(subject, given, one);
        if (one !== undefined && match !== undefined && match.score >= threshold)
          hits.push({ ...match, entry: one.entry, of: one.of });
      }
      return hits.toSorted((a, b) => b.score - a.score || (a.entry.id < b.entry.id ? -1 : 1));
    },
  };
}

function bitsIn(bits: number): number {
  let count = 0;
  for (let left = bits >>> 0; left !== 0; left = (left & (left - 1)) >>> 0) count += 1;
  return count;
}

/** The minimum number of significant words that must be found; an initial on either side counts as one and is in no index. */
const enough = (given: Name, listed: Name): number =>
  Math.min(2, given.meaning, listed.meaning) - (given.hasInitial || listed.hasInitial ? 1 : 0);

function put<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const there = map.get(key);
  if (there === undefined) map.set(key, [value]);
  else there.push(value);
}

/** Two similar units share at least one key: the same text has the same sound. */
function keysOf({ sound, bones, mayBeNear }: Unit): Set<string> {
  const keys = new Set([`s${sound}`]);
  if (bones !== '') keys.add(`b${bones}`);
  if (mayBeNear && sound.length >= SHORTEST_NEAR) {
    keys.add(`n${sound}`);
    for (let at = 0; at < sound.length; at++) keys.add(`n${sound.slice(0, at)}${sound.slice(at + 1)}`);
  }
  return keys;
}
