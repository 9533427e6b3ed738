/** Assets and terms of a market for tests of one module: required values without a meaning for the test. */

/** @returns a fiat with two decimals */
export const fiat = (code: string) =>
  ({ code, kind: 'fiat', coin: code, chain: null, contract: null, decimals: 2, native: false }) as const;

/** Terms of a market without its pair. */
export const marketTerms = {
  direction: 'offramp',
  enabled: true,
  isDefault: true,
  depositRail: 'evm.test',
  payoutRail: 'bank.test',
  paymentMethod: 'IMPS',
  minUnits: 1n,
  maxUnits: 1_000n,
  payoutDecimals: 2,
  quoteTtlMs: 60_000,
  depositTtlMs: 3_600_000,
  priceSources: ['fixed'],
  priceMaxAgeMs: 30_000,
  priceQuorum: 1,
  singleSource: true,
  outlierBps: 300n,
} as const;
