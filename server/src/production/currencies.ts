/**
 * Currencies: the number of decimals of each, by ISO 4217.
 *
 * The platform's own data (Intl) is not used: it describes how prices are usually shown (no decimals for PKR, HUF, COP or IQD),
 * and changes with its version. A bank books minor units, and the number of decimals in the books must never change.
 */

/** Currencies without two decimals. Source: ISO 4217, list one. */
const PLACES: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

const decimals = new Map(
  Object.entries(PLACES).flatMap(([count, codes]) => codes.split(' ').map((code) => [code, Number(count)] as const)),
);

/** @param currency three capital letters */
export const decimalsOf = (currency: string): number => decimals.get(currency) ?? 2;
