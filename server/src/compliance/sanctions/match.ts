/**
 * Matching: the similarity of a customer's name and a name on a list, as a score from 0 to 1 with its explanation. Pure.
 *
 * The words of both names are paired, most similar first, whatever their order; neighbours may be joined ("Abd al-Rahman"). For a
 * person the shorter name has to be found in the longer one, because banks and lists leave names out, and each further word of
 * the longer one reduces the score a little; at least two words must be found if there are two. For a company both names have to
 * be found in each other.
 *
 * Then evidence: a date of birth inside a period of the entry, or outside all of them, and countries. Evidence changes the score
 * and decides nothing alone: dates on lists are often wrong, and a full match of a name stays a hit against a different date.
 *
 * Rules are data with a version. A change of scores, here or in names.ts, or of the names that are compared (subjects.ts), needs a
 * new version: results are stored under it, and a new version screens all subjects again.
 */
import { createHash } from 'node:crypto';
import { addressKey, type Birth, type ListEntry, type SubjectKind } from './entry.ts';
import { type Likeness, likeness, MEANS, type Name, nameOf, type Unit } from './names.ts';

export interface MatchRules {
  /** Changes whenever a score or the compared names may change. */
  readonly version: number;
  /** In ten-thousandths: a score at or above this is a hit. */
  readonly threshold: number;
}

/**
 * 2: a business is compared by all of its names, also by `entityName`; scores are those of 1. Names that a verifier reads need no
 * new version: they change the revision of the customer's names.
 */
export const RULES_VERSION = 2;
/** Versions with the present scores: their results can be computed again. */
export const REPLAYED: readonly number[] = [1, 2];
/**
 * Chosen with the pairs of server/test/fixtures/sanctions/pairs.tsv: a higher value misses true pairs, a lower one adds false
 * ones.
 */
export const USUAL_THRESHOLD = 8_000;

/** @param lists codes of the compared lists: another choice of lists is another result */
export const rulesText = ({ version, threshold }: MatchRules, lists: readonly string[]): string =>
  `names ${version}, threshold ${threshold}, lists ${lists.toSorted().join(' ')}`;

/** The rules that a stored result names; undefined when the text has another format. */
export function readRules(text: string): (MatchRules & { lists: string[] }) | undefined {
  const [, version, threshold, lists] = /^names (\d+), threshold (\d+), lists ([a-z ]+)$/.exec(text) ?? [];
  return version === undefined || threshold === undefined || lists === undefined
    ? undefined
    : { version: Number(version), threshold: Number(threshold), lists: lists.split(' ') };
}

/** The compared subject. */
export interface Subject {
  readonly names: readonly string[];
  /** Undefined when unknown, such as for the payer of a deposit. */
  readonly kind?: 'person' | 'entity';
  /** `YYYY-MM-DD` */
  readonly born?: string;
  /** ISO 3166-1, two letters. */
  readonly countries?: readonly string[];
  /** On a chain: compared with the digital currency addresses of entries. */
  readonly address?: string;
}

/** Equal for subjects that compare equally, so that the same subject is the same input. */
export const subjectText = (subject: Subject): string =>
  JSON.stringify([
    subject.names,
    subject.kind ?? null,
    subject.born ?? null,
    [...(subject.countries ?? [])].toSorted(),
    ...(subject.address === undefined ? [] : [subject.address]),
  ]);

export const subjectDigest = (subject: Subject): Buffer => createHash('sha256').update(subjectText(subject)).digest();

export interface WordMatch {
  /** In Latin letters, as they were compared. */
  given: string;
  listed: string;
  how: Likeness;
}

export interface Explanation {
  givenName: string;
  listedName: string;
  isWeakAlias: boolean;
  words: WordMatch[];
  /** Words of either name that were paired with no word of the other. */
  unmatched: { given: string[]; listed: string[] };
  born: 'agrees' | 'near' | 'contradicts' | 'unknown';
  country: 'agrees' | 'differs' | 'unknown';
  kind: 'agrees' | 'differs' | 'unknown';
}

export interface Match {
  /** In ten-thousandths. */
  score: number;
  explanation: Explanation;
}

const LIKE: Readonly<Record<Likeness, number>> = { same: 1, sound: 0.95, consonants: 0.9, near: 0.85, initial: 0.75 };

/** Cost of each further word of the longer name, and the maximum. */
const EXTRA_WORD = 0.06;
const MOST_EXTRA = 0.2;
const WEAK_ALIAS = 0.1;
const BORN = { agrees: 0.05, near: 0, contradicts: -0.15, unknown: 0 } as const;
const COUNTRY = { agrees: 0.02, differs: -0.02, unknown: 0 } as const;
const OTHER_KIND = 0.1;
/** Deducted if the entry is a thing: a ship with a customer's name is not that customer. */
const THING = 0.25;
/** Maximum name score if too few words were found: never a hit, whatever the evidence. */
const TOO_FEW = 0.5;
/** Lists often give the first of January for a year, and calendars differ by a year or two. */
const NEAR_YEARS = 2;

interface Paired {
  given: Unit;
  listed: Unit;
  how: Likeness;
}

/** Compares two names by their words alone. `score` is from 0 to 1. */
export function compareNames(given: Name, listed: Name, isPerson: boolean): { score: number; pairs: Paired[] } {
  const pairs = paired(given, listed);
  if (pairs.length === 0) return { score: 0, pairs };
  const [mine, theirs] = [covered(given, pairs, 'given'), covered(listed, pairs, 'listed')];
  if (!isPerson) return { score: (mine.share + theirs.share) / 2, pairs };
  const isEnough =
    mine.meaning >= Math.min(2, given.meaning) && theirs.meaning >= Math.min(2, listed.meaning) && mine.meaning > 0;
  const [short, long] = given.weight <= listed.weight ? [mine, theirs] : [theirs, mine];
  const score = short.share - Math.min(MOST_EXTRA, EXTRA_WORD * long.unmatched);
  return { score: isEnough ? score : Math.min(score, TOO_FEW), pairs };
}

/** Pairs of units that share no word, most similar and weightiest first. */
function paired(given: Name, listed: Name): Paired[] {
  const all: (Paired & { worth: number })[] = [];
  for (const mine of given.units)
    for (const theirs of listed.units) {
      // A pair joined on both sides equals two pairs of single words, which are compared anyway.
      if (mine.to - mine.from > 1 && theirs.to - theirs.from > 1) continue;
      const how = likeness(mine, theirs);
      if (how !== undefined)
        all.push({ given: mine, listed: theirs, how, worth: worthOf(given, listed, mine, theirs, how) });
    }
  all.sort((a, b) => b.worth - a.worth || a.given.from - b.given.from || a.listed.from - b.listed.from);
  const [taken, takenToo] = [new Set<number>(), new Set<number>()];
  const chosen: Paired[] = [];
  for (const { given: mine, listed: theirs, how } of all) {
    if (isTaken(mine, taken) || isTaken(theirs, takenToo)) continue;
    for (let at = mine.from; at < mine.to; at++) taken.add(at);
    for (let at = theirs.from; at < theirs.to; at++) takenToo.add(at);
    chosen.push({ given: mine, listed: theirs, how });
  }
  return chosen;
}

const isTaken = ({ from, to }: Unit, taken: ReadonlySet<number>): boolean => {
  for (let at = from; at < to; at++) if (taken.has(at)) return true;
  return false;
};

const weigh = ({ words }: Name, { from, to }: Unit): number => {
  let sum = 0;
  for (let at = from; at < to; at++) sum += words[at]?.weight ?? 0;
  return sum;
};

const worthOf = (given: Name, listed: Name, mine: Unit, theirs: Unit, how: Likeness): number =>
  LIKE[how] * Math.min(weigh(given, mine), weigh(listed, theirs));

/** The part of a name that was found: by weight, and by its number of significant words. */
function covered(name: Name, pairs: readonly Paired[], side: 'given' | 'listed') {
  let found = 0;
  let meaning = 0;
  let matched = 0;
  for (const pair of pairs) {
    const unit = pair[side];
    found += LIKE[pair.how] * weigh(name, unit);
    for (let at = unit.from; at < unit.to; at++) {
      const { weight = 0 } = name.words[at] ?? {};
      matched += weight;
      if (weight >= MEANS) meaning += 1;
    }
  }
  return { share: name.weight === 0 ? 0 : found / name.weight, unmatched: name.weight - matched, meaning };
}

/** A list's entry with its names prepared for comparison. */
export interface Prepared {
  readonly entry: ListEntry;
  readonly names: readonly Name[];
}

export const prepare = (entry: ListEntry): Prepared => ({ entry, names: entry.names.map(({ text }) => nameOf(text)) });

/** The best match of a subject with an entry; undefined when no word of any name is similar. */
export function matchEntry(subject: Subject, given: readonly Name[], prepared: Prepared): Match | undefined {
  const { entry } = prepared;
  const atAddress = matchAddress(subject, entry);
  if (atAddress !== undefined) return atAddress;
  let best: { score: number; mine: number; theirs: number; pairs: Paired[] } | undefined;
  for (const [mine, name] of given.entries())
    for (const [theirs, listed] of prepared.names.entries()) {
      const { score, pairs } = compareNames(name, listed, entry.kind === 'person');
      const weighed = score - (entry.names[theirs]?.quality === 'weak' ? WEAK_ALIAS : 0);
      if (pairs.length > 0 && (best === undefined || weighed > best.score))
        best = { score: weighed, mine, theirs, pairs };
    }
  if (best === undefined) return undefined;
  const evidence = evidenceOf(subject, entry);
  const isThing = entry.kind === 'vessel' || entry.kind === 'aircraft';
  const score =
    best.score +
    BORN[evidence.born] +
    COUNTRY[evidence.country] -
    (isThing ? THING : evidence.kind === 'differs' ? OTHER_KIND : 0);
  const bounded = Math.round(Math.min(1, Math.max(0, score)) * 10_000);
  return { score: bounded, explanation: { ...explained(subject, given, prepared, best), ...evidence } };
}

/** An address matches only if it is equal. */
function matchAddress({ address }: Subject, { addresses }: ListEntry): Match | undefined {
  if (address === undefined) return undefined;
  const listed = addresses.find((one) => addressKey(one.address) === addressKey(address));
  if (listed === undefined) return undefined;
  const unmatched = { given: [], listed: [] };
  const evidence = { born: 'unknown', country: 'unknown', kind: 'unknown' } as const;
  const names = { givenName: address, listedName: listed.address, isWeakAlias: false };
  return { score: 10_000, explanation: { ...names, words: [], unmatched, ...evidence } };
}

function explained(
  subject: Subject,
  given: readonly Name[],
  { entry, names }: Prepared,
  { mine, theirs, pairs }: { mine: number; theirs: number; pairs: readonly Paired[] },
): Pick<Explanation, 'givenName' | 'listedName' | 'isWeakAlias' | 'words' | 'unmatched'> {
  const listed = entry.names[theirs];
  return {
    givenName: subject.names[mine] ?? '',
    listedName: listed?.text ?? '',
    isWeakAlias: listed?.quality === 'weak',
    words: pairs.map((pair) => ({ given: pair.given.text, listed: pair.listed.text, how: pair.how })),
    unmatched: { given: left(given[mine], pairs, 'given'), listed: left(names[theirs], pairs, 'listed') },
  };
}

const left = (name: Name | undefined, pairs: readonly Paired[], side: 'given' | 'listed'): string[] =>
  (name?.words ?? [])
    .filter((_, at) => !pairs.some((pair) => pair[side].from <= at && at < pair[side].to))
    .map(({ text }) => text);

function evidenceOf(
  subject: Subject,
  { births, countries, kind }: ListEntry,
): Pick<Explanation, 'born' | 'country' | 'kind'> {
  const own = subject.countries ?? [];
  return {
    born: subject.born === undefined || births.length === 0 ? 'unknown' : bornAs(subject.born, births),
    country:
      own.length === 0 || countries.length === 0
        ? 'unknown'
        : own.some((one) => countries.includes(one))
          ? 'agrees'
          : 'differs',
    kind: subject.kind === undefined ? 'unknown' : sameKind(subject.kind, kind) ? 'agrees' : 'differs',
  };
}

const sameKind = (mine: 'person' | 'entity', theirs: SubjectKind): boolean => mine === theirs;

function bornAs(born: string, births: readonly Birth[]): 'agrees' | 'near' | 'contradicts' {
  const shifted = (day: string, years: number) => `${Number(day.slice(0, 4)) + years}${day.slice(4)}`;
  if (births.some(({ from, to }) => from <= born && born <= to)) return 'agrees';
  const isNear = births.some(({ from, to, isCirca }) => {
    const years = isCirca ? NEAR_YEARS * 2 : NEAR_YEARS;
    return shifted(from, -years) <= born && born <= shifted(to, years);
  });
  return isNear ? 'near' : 'contradicts';
}
