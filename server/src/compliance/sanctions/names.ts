/**
 * Names prepared for comparison: in Latin letters, in words, each with its sound. Pure.
 *
 * Any script is transliterated to Latin letters (any-ascii), accents and case are removed, and the name is split into words.
 * Each word has a sound: a spelling in which the usual romanisations of one name agree (Mohamed and Muhammad, Yevgeny and
 * Evgenii). Arabic and Hebrew omit vowels, so a word in those scripts is compared by its consonants as well.
 *
 * Some words carry little information: particles and titles (al, bin, von, Mullah), legal forms of companies (Ltd, GmbH), and
 * common company words (trading, group). They weigh less, and alone they do not match.
 *
 * Not here: comparing two names (match.ts), finding those worth comparing (find.ts).
 */
import anyAscii from 'any-ascii';

export interface Word {
  readonly text: string;
  readonly sound: string;
  /** Only the consonants: for a word written without vowels, and for words that may be compared with such a word. */
  readonly bones: string;
  readonly isBones: boolean;
  readonly weight: number;
  /** One letter that stands for a word. */
  readonly isInitial: boolean;
}

/** Adjacent words taken together: "Abd al-Rahman" is "Abdulrahman". */
export interface Unit extends Pick<Word, 'text' | 'sound' | 'bones' | 'isBones' | 'isInitial'> {
  /** Index of the first word; `to` is the index after the last one. */
  readonly from: number;
  readonly to: number;
  /** Whether a spelling with one edit counts as similar. For joined words only if one of them is a particle. */
  readonly mayBeNear: boolean;
}

export interface Name {
  readonly words: readonly Word[];
  readonly units: readonly Unit[];
  /** The number of significant words. */
  readonly meaning: number;
  readonly hasInitial: boolean;
  readonly weight: number;
}

/** A longer name is compared by its beginning; the longest that lists have is a company of about twenty words. */
const MOST_WORDS = 24;
const LONGEST_NAME = 500;
const MOST_JOINED = 3;

const PARTICLE = 0.2;
const FORM = 0.1;
const GENERIC = 0.4;
/** Minimum weight of a word that is significant by itself. */
export const MEANS = 0.5;

const WEIGHTS: ReadonlyMap<string, number> = new Map([
  ...said(
    PARTICLE,
    'al el ul ad an ar as ash az bin ibn ben bint de da do dos du di del della la le les van von der den ter zu y e i of the and und et',
  ),
  ...said(
    PARTICLE,
    'mr mrs ms dr prof sir sheikh shaykh sheik haji hajji mullah maulavi maulawi general colonel major captain eng ing',
  ),
  ...said(
    FORM,
    'ltd limited llc llp lp inc incorporated corp corporation co company plc pte pty gmbh ag kg mbh ug ohg kgaa sa sas sarl srl spa sl bv nv ab as asa oy oyj aps kft zrt doo dd ad eood sp zoo oo ooo oao zao pao ao pjsc jsc ojsc cjsc tov ip fze fzco fz jlt wll bsc kk yk bhd sdn tbk pt cv',
  ),
  ...said(
    GENERIC,
    'trading trade international global group holding holdings general import export services service industries industrial industry enterprise enterprises shipping exchange bank foundation association organization organisation establishment commercial development investment investments technology technologies',
  ),
]);

function said(weight: number, words: string): [string, number][] {
  return words.split(' ').map((word) => [word, weight]);
}

/** Scripts with one sign per syllable: each sign is a word, and neighbours are also compared joined. */
const SYLLABLES = /[\p{Script=Han}\p{Script=Hangul}]/gu;
const WITHOUT_VOWELS = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/** Prepares a name for comparison. A name without words matches nothing. */
export function nameOf(text: string): Name {
  const apart = text.slice(0, LONGEST_NAME).normalize('NFKC').replaceAll(SYLLABLES, ' $& ');
  const words = apart
    .split(/\s+/u)
    .flatMap((piece) => wordsOf(piece))
    .slice(0, MOST_WORDS);
  return {
    words,
    units: unitsOf(words),
    meaning: words.filter(({ weight }) => weight >= MEANS).length,
    hasInitial: words.some(({ isInitial }) => isInitial),
    weight: words.reduce((sum, { weight }) => sum + weight, 0),
  };
}

function wordsOf(piece: string): Word[] {
  const isBones = WITHOUT_VOWELS.test(piece);
  const bare = piece.normalize('NFKD').replaceAll(/\p{M}/gu, '').normalize('NFKC');
  // Greek writes one sound with two letters, each of which is transliterated by itself.
  const latin = anyAscii(bare.replaceAll(/[οΟ][υΥ]/g, 'ou')).toLowerCase();
  return (
    latin
      // O'Brien is one word; Al-Rashid is two; Ltd. and L.L.C. are one each.
      .replaceAll(/['`’]/g, '')
      .replaceAll(/\b(?:[a-z]\.){2,}/g, (letters) =>
        letters.length > 5 ? `${letters.replaceAll('.', '')} ` : letters.replaceAll('.', '. '),
      )
      .split(/[^a-z0-9]+/)
      .filter((text) => text !== '')
      .map((text) => wordOf(text, isBones))
  );
}

function wordOf(text: string, isBones: boolean): Word {
  const isInitial = text.length === 1 && /[a-z]/.test(text) && !WEIGHTS.has(text);
  const weight = isInitial ? 1 : (WEIGHTS.get(text) ?? 1);
  return { ...spelled(text, isBones), weight, isInitial };
}

const spelled = (text: string, isBones: boolean) => ({ text, sound: soundOf(text), bones: bonesOf(text), isBones });

/** Equivalent romanisations, in the order in which they are replaced. */
const SOUNDS: readonly (readonly [RegExp, string])[] = [
  [/(?<=[oe])ff$/g, 'v'],
  [/shch|sch|sh/g, 's'],
  [/tsch|tch|ch/g, 'C'],
  [/dzh|dsch|dj|zh/g, 'J'],
  [/^j(?=[uo])/g, 'i'],
  [/j/g, 'J'],
  [/ts|tz|cz|z/g, 's'],
  [/kh|q|ck/g, 'k'],
  [/gh/g, 'g'],
  [/ph/g, 'f'],
  [/th/g, 't'],
  [/dh/g, 'd'],
  [/c(?=[eiy])/g, 's'],
  [/c/g, 'k'],
  [/x/g, 'ks'],
  [/aw(?=[^aeiouy])|au/g, 'u'],
  [/w/g, 'v'],
  [/ou|oo|ue/g, 'u'],
  [/ee/g, 'i'],
  [/ae/g, 'a'],
  [/oe/g, 'o'],
  [/^(?:ie|ye|e)/g, 'a'],
  [/y|iJ/g, 'i'],
  [/ia/g, 'a'],
  [/e/g, 'a'],
  [/o/g, 'u'],
  [/(.)\1+/g, '$1'],
];

/** How a word in Latin letters sounds: equal for its usual romanisations. Digits stay. */
export const soundOf = (text: string): string =>
  SOUNDS.reduce((sound, [from, to]) => sound.replaceAll(from, to), text).replaceAll(/(.)\1+/g, '$1');

const SHORTEST_BONES = 2;

/** Consonants, without those that Arabic writes for vowels. */
function bonesOf(text: string): string {
  const bones = soundOf(text).replaceAll(/[aeiouvh]/g, '');
  return bones.length >= SHORTEST_BONES ? bones : '';
}

function unitsOf(words: readonly Word[]): Unit[] {
  const units: Unit[] = [];
  for (let from = 0; from < words.length; from++)
    for (let to = from + 1; to <= Math.min(words.length, from + MOST_JOINED); to++) {
      const unit = unitOf(words.slice(from, to), from, to);
      if (unit !== undefined) units.push(unit);
    }
  return units;
}

/** Initials represent words, and legal forms of companies are not joined. */
function unitOf(taken: readonly Word[], from: number, to: number): Unit | undefined {
  const [only] = taken;
  if (only !== undefined && taken.length === 1) return { ...only, from, to, mayBeNear: true };
  if (taken.some(({ isInitial, weight }) => isInitial || weight <= FORM)) return undefined;
  const mayBeNear = taken.some(({ weight, text }) => weight <= PARTICLE || text === 'abd' || text === 'abdul');
  const isBones = taken.some((word) => word.isBones);
  const whole = spelled(taken.map((word) => word.text).join(''), isBones);
  return { ...whole, bones: mayBeNear || isBones ? whole.bones : '', isInitial: false, from, to, mayBeNear };
}

/** Whether two words differ by at most one edit: an inserted, missing or changed letter, or two neighbours exchanged. */
function isNear(a: string, b: string): boolean {
  if (a === b) return true;
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at++;
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1);
  if (short.slice(at + 1) === long.slice(at + 1)) return true;
  return short[at] === long[at + 1] && short[at + 1] === long[at] && short.slice(at + 2) === long.slice(at + 2);
}

/** Shorter sounds have too many neighbours. */
export const SHORTEST_NEAR = 4;
/** Shorter sounds must begin with the same letter: Hansen is not Jansen. */
const FIRST_MAY_DIFFER = 7;

function areNear(a: string, b: string): boolean {
  const shortest = Math.min(a.length, b.length);
  if (shortest < SHORTEST_NEAR || (shortest < FIRST_MAY_DIFFER && a[0] !== b[0])) return false;
  return isNear(a, b);
}

export type Likeness = 'same' | 'sound' | 'consonants' | 'near' | 'initial';

/** The similarity of two units, or undefined. */
export function likeness(a: Unit, b: Unit): Likeness | undefined {
  if (a.text === b.text) return 'same';
  if (a.isInitial || b.isInitial)
    return a.text[0] === b.text[0] && a.to - a.from === b.to - b.from ? 'initial' : undefined;
  if (a.sound === b.sound) return 'sound';
  if ((a.isBones || b.isBones) && a.bones !== '' && a.bones === b.bones) return 'consonants';
  if (a.mayBeNear && b.mayBeNear && areNear(a.sound, b.sound)) return 'near';
  return undefined;
}
