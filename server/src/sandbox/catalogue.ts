/**
 * What the sandbox trades: chains, tokens, markets, fees and opening funds. Data, put into rows by seed.ts.
 */

export interface SandboxChain {
  code: string;
  chainId: number;
  native: string;
  /** Most blocks a reorg of this chain can take back. */
  finality: number;
  tokens: readonly { code: string; name: string; symbol: string; decimals: number }[];
}

const TOKENS = [
  { code: 'usdt', name: 'Test Tether', symbol: 'USDT', decimals: 6 },
  { code: 'usdc', name: 'Test USD Coin', symbol: 'USDC', decimals: 6 },
  { code: 'dai', name: 'Test Dai', symbol: 'DAI', decimals: 18 },
] as const;

/** One block a second. */
export const CHAINS: readonly SandboxChain[] = [
  { code: 'erc20', chainId: 31_337, native: 'eth', finality: 12, tokens: TOKENS },
  { code: 'matic20', chainId: 31_338, native: 'matic', finality: 12, tokens: TOKENS },
];

/** Small deposits are believed sooner. Whole tokens and confirmations. */
export const CONFIRMATIONS = [
  { fromWhole: 0n, confirmations: 2 },
  { fromWhole: 10_000n, confirmations: 4 },
] as const;

export const FIATS = [
  { code: 'inr', decimals: 2, sellMethod: 'IMPS', buyMethod: 'UPI', minWhole: 100n, maxWhole: 10_000_000n },
  {
    code: 'eur',
    decimals: 2,
    sellMethod: 'SEPA_BANK_TRANSFER',
    buyMethod: 'OPEN_BANKING',
    minWhole: 5n,
    maxWhole: 150_000n,
  },
] as const;

/** Places of the crypto paid out when buying: nobody wants a ten-thousandth of a thousandth. */
export const BUY_PLACES = 6;

/** The chain whose market is taken where a request names none. */
export const DEFAULT_CHAIN = 'matic20';

/** Limits on a deposit, in whole tokens. */
export const LIMITS = { minWhole: 1n, maxWhole: 200_000n };

/** Whole units that the operator puts in before the first customer comes. */
export const OPENING = { fiat: 500_000_000n, tokens: 1_000_000n } as const;

/** Whole units below which a wallet is called low. */
export const ENOUGH = { fiat: 50_000_000n, tokens: 100_000n, native: 100n } as const;

/** Below this, money that no order takes is dust. As people write it. */
export const DUST = { inr: '1', eur: '0.05', token: '0.01', native: '0.0001' } as const;

/** Whole tokens for the simulated customer and for visitors' own wallets: not the operator's, so in no book. */
export const POCKET_MONEY = 10_000_000n;

export const PARTNERS = [
  { name: 'acme-wallet', partnerFeeBps: 100 },
  { name: 'birch-pay', partnerFeeBps: 50 },
] as const;

/** Operator: a quarter percent. Rail: a fixed sum. Chain: gas of one token transfer, twice (sweep and its funding). */
export const FEES = { operatorBps: 25, railFixed: { inr: 590n, eur: 20n }, gasUnits: 90_000n } as const;
