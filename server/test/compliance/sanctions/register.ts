/** Made-up lists and customers of any size, always the same: for the bench, and to compare the index with trying everything. */
import type { ListEntry } from '../../../src/compliance/sanctions/entry.ts';
import type { Subject } from '../../../src/compliance/sanctions/match.ts';

/** Uniform numbers from 0 up to 1, from a seed (mulberry32). */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Names that many people bear, so that the index has long rows as with real lists. */
const GIVEN =
  'Mohammed Ahmed Ali Hassan Hussein Omar Khalid Yusuf Ibrahim Mustafa Ivan Sergei Dmitri Alexander Vladimir Andrei Elena Olga Maria Juan Carlos Jose Luis Ana Lucia John Michael David Anna Peter Wei Li Ming Hong Jun Kim Min Priya Amit Raj Fatima Amina Grace Samuel Joseph'.split(
    ' ',
  );
const ONSETS = 'b d f g h k l m n p r s t v z br dr gr kr pr st tr sh ch kh'.split(' ');
const VOWELS = 'a e i o u a i o ya ei'.split(' ');
const CODAS = ['', '', '', 'n', 'r', 's', 'l', 'k', 'm', 't'];
const ENDINGS = 'ov ova enko ski ani i ez son ic oglu yan dze uk a er '.split(' ');
const COMPANY = 'Trading Shipping Energy Electronics Logistics Minerals Bank Foundation Industries Aviation'.split(' ');
const FORMS = ['LLC', 'Ltd', 'GmbH', 'Co. Ltd.', 'OOO', 'S.A.'];

function words(next: () => number) {
  const one = <T>(all: readonly T[]): T => all[Math.floor(next() * all.length)] as T;
  const syllable = () => `${one(ONSETS)}${one(VOWELS)}${one(CODAS)}`;
  const capital = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}`;
  const family = () => capital(`${syllable()}${next() < 0.6 ? syllable() : ''}${one(ENDINGS)}`);
  const given = () => (next() < 0.5 ? one(GIVEN) : capital(`${syllable()}${syllable()}`));
  const person = () => [given(), ...(next() < 0.4 ? [given()] : []), family()].join(' ');
  const company = () => `${family()} ${next() < 0.5 ? `${family()} ` : ''}${one(COMPANY)} ${one(FORMS)}`;
  return { one, person, company };
}

/** A list: two thirds people, one third companies, with one to five names each. */
export function register(size: number, seed = 1): ListEntry[] {
  const next = chance(seed);
  const { person, company } = words(next);
  return Array.from({ length: size }, (_, at) => {
    const isPerson = next() < 0.66;
    const year = 1930 + Math.floor(next() * 75);
    return {
      id: `made.${at}`,
      kind: isPerson ? 'person' : 'entity',
      names: Array.from({ length: 1 + Math.floor(next() * 5) }, (__, which) => ({
        text: isPerson ? person() : company(),
        quality: which > 3 ? 'weak' : 'strong',
        isPrimary: which === 0,
      })),
      births: isPerson && next() < 0.7 ? [{ from: `${year}-01-01`, to: `${year}-12-31`, isCirca: false }] : [],
      countries: [],
      identifiers: [],
      addresses: [],
    } satisfies ListEntry;
  });
}

/** Customers: one of a thousand has a name of the list, the others their own. */
export function customers(size: number, listed: readonly ListEntry[], seed = 2): Subject[] {
  const next = chance(seed);
  const { one, person, company } = words(next);
  return Array.from({ length: size }, (_, at) => {
    const isPerson = next() < 0.9;
    const year = 1940 + Math.floor(next() * 65);
    const taken = at % 1_000 === 7 ? one(listed).names[0]?.text : undefined;
    return {
      names: [taken ?? (isPerson ? person() : company())],
      kind: isPerson ? 'person' : 'entity',
      ...(isPerson ? { born: `${year}-06-15` } : {}),
    };
  });
}
