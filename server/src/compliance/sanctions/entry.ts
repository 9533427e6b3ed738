/**
 * Entries of sanctions lists, in one shape whatever list they come from. Pure.
 *
 * An entry keeps the fields that identify its subject: names with script and quality, dates of birth as periods, countries,
 * identifiers, and addresses of digital currencies. Reasons, regimes and remarks are left out: an operator who decides about a
 * hit reads them at the publisher, under the entry's id.
 *
 * Not here: reading a list's format (ofac.ts, un.ts, eu.ts, uk.ts), comparing entries with names (match.ts).
 */
import { createHash } from 'node:crypto';
import { isCalendarDay } from '../../base/clock.ts';

export const LIST_CODES = ['ofac', 'un', 'eu', 'uk'] as const;
export type ListCode = (typeof LIST_CODES)[number];

export const isListCode = (text: string): text is ListCode => (LIST_CODES as readonly string[]).includes(text);

export type SubjectKind = 'person' | 'entity' | 'vessel' | 'aircraft';

export interface ListName {
  readonly text: string;
  /** ISO 15924, if the list gives it. */
  readonly script?: string;
  /** `weak`: the publisher calls this alias common, or of low quality. */
  readonly quality: 'strong' | 'weak';
  readonly isPrimary: boolean;
}

/** A period that contains the date of birth. Days are `YYYY-MM-DD`, both included. */
export interface Birth {
  readonly from: string;
  readonly to: string;
  readonly isCirca: boolean;
}

export interface Identifier {
  readonly kind: string;
  readonly value: string;
  readonly country?: string;
}

export interface CoinAddress {
  /** As the list writes it, such as XBT. */
  readonly asset: string;
  readonly address: string;
}

export interface ListEntry {
  /** The publisher's own id of the entry. */
  readonly id: string;
  readonly kind: SubjectKind;
  readonly names: readonly ListName[];
  readonly births: readonly Birth[];
  /** ISO 3166-1, two letters. */
  readonly countries: readonly string[];
  readonly identifiers: readonly Identifier[];
  readonly addresses: readonly CoinAddress[];
}

/** Some chains' addresses differ by case alone; two such addresses do not occur by chance. */
export const addressKey = (address: string): string => address.replace(/[\s-]/g, '').toLowerCase();

/** SHA-256 of an entry's content: equal for equal entries in any file. */
export const digestOf = (entry: ListEntry): Buffer => createHash('sha256').update(JSON.stringify(entry)).digest();

/** The same entry without duplicates and in a fixed order, so that a list that only reorders its content has not changed. */
export const tidied = (entry: ListEntry): ListEntry => ({
  id: entry.id,
  kind: entry.kind,
  names: distinct(entry.names),
  births: distinct(entry.births),
  countries: [...new Set(entry.countries)].toSorted(),
  identifiers: distinct(entry.identifiers),
  addresses: distinct(entry.addresses),
});

const distinct = <T>(all: readonly T[]): T[] =>
  [...new Map(all.map((one) => [JSON.stringify(one), one])).entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one);

const EARLIEST_YEAR = 1800;
const LATEST_YEAR = 2200;
const isYear = (year: number): boolean => Number.isInteger(year) && year >= EARLIEST_YEAR && year <= LATEST_YEAR;
const dayOf = (year: number, month: number, day: number): string =>
  `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;

/**
 * The period of a date whose month or day may be unknown.
 *
 * @param on.month 1 to 12; any other value means that month and day are unknown
 * @returns undefined when the year is not valid
 */
export function periodOf(on: { year: number; month?: number; day?: number }): { from: string; to: string } | undefined {
  const { year, month = 0, day = 0 } = on;
  if (!isYear(year)) return undefined;
  if (!Number.isInteger(month) || month < 1 || month > 12) return { from: dayOf(year, 1, 1), to: dayOf(year, 12, 31) };
  const exact = dayOf(year, month, day);
  if (Number.isInteger(day) && day >= 1 && isCalendarDay(exact)) return { from: exact, to: exact };
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return { from: dayOf(year, month, 1), to: dayOf(year, month, last) };
}

/** A period of years; undefined when either year is not valid, or `to` is before `from`. */
export function yearsOf(from: number, to: number): { from: string; to: string } | undefined {
  if (!isYear(from) || !isYear(to) || from > to) return undefined;
  return { from: dayOf(from, 1, 1), to: dayOf(to, 12, 31) };
}

/** Country names that lists use and Intl does not have. */
const SPELLINGS: Readonly<Record<string, string>> = {
  'russian federation': 'RU',
  'syrian arab republic': 'SY',
  "democratic people's republic of korea": 'KP',
  'korea, north': 'KP',
  'north korea': 'KP',
  'republic of korea': 'KR',
  'korea, south': 'KR',
  'democratic republic of the congo': 'CD',
  'congo, democratic republic of the': 'CD',
  'congo (democratic republic)': 'CD',
  'congo, republic of the': 'CG',
  'iran (islamic republic of)': 'IR',
  'islamic republic of iran': 'IR',
  'libyan arab jamahiriya': 'LY',
  'united states of america': 'US',
  'united kingdom of great britain and northern ireland': 'GB',
  'united republic of tanzania': 'TZ',
  'republic of moldova': 'MD',
  'bosnia and herzegovina': 'BA',
  'cote d ivoire': 'CI',
  "cote d'ivoire": 'CI',
  burma: 'MM',
  'occupied palestinian territories': 'PS',
  'state of palestine': 'PS',
  palestinian: 'PS',
  turkey: 'TR',
  'viet nam': 'VN',
  'cabo verde': 'CV',
  'czech republic': 'CZ',
  'gambia, the': 'GM',
  'bahamas, the': 'BS',
  'hong kong': 'HK',
  macau: 'MO',
};

const plain = (text: string): string =>
  text.normalize('NFKD').replaceAll(/\p{M}/gu, '').replaceAll('’', "'").toLowerCase().trim();

/** Withdrawn codes for which Intl returns the name of the successor. */
const WITHDRAWN = new Set([
  'BU',
  'CS',
  'DD',
  'FX',
  'NT',
  'SU',
  'TP',
  'YD',
  'YU',
  'ZR',
  'AN',
  'DY',
  'HV',
  'NH',
  'RH',
  'VD',
  'UK',
]);

const BY_NAME: ReadonlyMap<string, string> = (() => {
  const named = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const found = new Map<string, string>();
  for (let a = 65; a <= 90; a++)
    for (let b = 65; b <= 90; b++) {
      const code = String.fromCharCode(a, b);
      const name = code === 'ZZ' ? undefined : named.of(code);
      // If two codes have the same name the first one is current, except for withdrawn codes.
      if (name !== undefined && !WITHDRAWN.has(code) && !found.has(plain(name))) found.set(plain(name), code);
    }
  for (const [name, code] of Object.entries(SPELLINGS)) found.set(plain(name), code);
  return found;
})();

/** The ISO code of a country that a list gives as a code or an English name; undefined for an unknown name. */
export function countryOf(said: string): string | undefined {
  const text = said.trim();
  const found = BY_NAME.get(plain(text));
  if (found !== undefined) return found;
  return /^[A-Z]{2}$/.test(text) && BY_CODE.has(text) ? text : undefined;
}

const BY_CODE: ReadonlySet<string> = new Set(BY_NAME.values());
