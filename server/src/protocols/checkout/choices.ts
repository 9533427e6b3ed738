/** Choices and names that several pages show: countries by their names, and names of declarations as words. */
import { isCountry } from '../../customers/index.ts';

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const COUNTRIES: readonly string[] = LETTERS.flatMap((a) => LETTERS.map((b) => a + b)).filter(isCountry);

/** Countries sorted by name, so that a reader finds one. */
export function countriesIn(lang: string): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames(lang, { type: 'region' });
  const countries = COUNTRIES.map((code) => [code, names.of(code) ?? code] as const);
  return new Map(countries.toSorted(([, a], [, b]) => a.localeCompare(b, lang)));
}

/** Formats `sourceOfWealth` as words. */
export const inWords = (name: string): string => {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[_.-]+/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
};
