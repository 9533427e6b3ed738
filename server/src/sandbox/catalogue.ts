/** The sandbox's offer: chains, tokens, markets, fees and opening funds. Data, inserted by seed.ts. */

export interface SandboxChain {
  code: string;
  chainId: number;
  native: string;
  nativeDecimals: number;
  /** Chain family; EVM by default. Tron is simulated on an EVM node (tron.ts). */
  family?: 'tron';
  /** Whether its node runs from the start. The nodes of all other chains start when first needed (chains.ts). */
  atStart: boolean;
  /** Number of newest blocks that a reorg of this chain can replace. */
  finality: number;
  tokens: readonly { code: string; name: string; symbol: string; decimals: number }[];
}

const TOKENS = [
  { code: 'usdt', name: 'Test Tether', symbol: 'USDT', decimals: 6 },
  { code: 'usdc', name: 'Test USD Coin', symbol: 'USDC', decimals: 6 },
  { code: 'dai', name: 'Test Dai', symbol: 'DAI', decimals: 18 },
] as const;

/** As on the real chains of these names: two coins, and 18 decimals on bep20. */
const [USDT, USDC] = TOKENS;
const TWO_TOKENS = [USDT, USDC];
const BEP20_TOKENS = TWO_TOKENS.map((token) => ({ ...token, decimals: 18 }));

/** One block a second. */
const EVM = { nativeDecimals: 18 } as const;
export const CHAINS: readonly SandboxChain[] = [
  { code: 'erc20', chainId: 31_337, native: 'eth', ...EVM, atStart: true, finality: 12, tokens: TOKENS },
  { code: 'matic20', chainId: 31_338, native: 'matic', ...EVM, atStart: true, finality: 12, tokens: TOKENS },
  { code: 'bep20', chainId: 31_339, native: 'bnb', ...EVM, atStart: false, finality: 12, tokens: BEP20_TOKENS },
  { code: 'arbitrum', chainId: 31_340, native: 'eth', ...EVM, atStart: false, finality: 12, tokens: TWO_TOKENS },
  { code: 'base', chainId: 31_341, native: 'eth', ...EVM, atStart: false, finality: 12, tokens: TWO_TOKENS },
  { code: 'optimism', chainId: 31_342, native: 'eth', ...EVM, atStart: false, finality: 12, tokens: TWO_TOKENS },
  {
    ...{ code: 'trc20', chainId: 31_343, native: 'trx', nativeDecimals: 6, family: 'tron' },
    ...{ atStart: false, finality: 12, tokens: [USDT] },
  },
];
export const CHAIN_CODES: readonly string[] = CHAINS.map(({ code }) => code);

const TRON_CODES = new Set(CHAINS.filter(({ family }) => family === 'tron').map(({ code }) => code));
export const isTron = (chain: string): boolean => TRON_CODES.has(chain);

/** Code of a chain's rail. */
export const railCode = (chain: string): string => `${isTron(chain) ? 'tron' : 'evm'}.${chain}`;

/** Small deposits need fewer confirmations. Whole tokens and confirmations. */
export const CONFIRMATIONS = [
  { fromWhole: 0n, confirmations: 2 },
  { fromWhole: 10_000n, confirmations: 4 },
] as const;

export interface SandboxFiat {
  code: string;
  decimals: number;
  sellMethod: string;
  buyMethod: string;
  /** Limits of a purchase, whole units. */
  minWhole: bigint;
  maxWhole: bigint;
}

const fiat = (code: string, methods: { sell: string; buy: string }, limits: [bigint, bigint]): SandboxFiat => ({
  ...{ code, decimals: 2, sellMethod: methods.sell, buyMethod: methods.buy },
  ...{ minWhole: limits[0], maxWhole: limits[1] },
});
const both = (method: string) => ({ sell: method, buy: method });

/** Every fiat with a payment method in the reference data; with limits worth about 5 and 150,000 dollars, except for rupees. */
export const FIATS: readonly SandboxFiat[] = [
  fiat('inr', { sell: 'IMPS', buy: 'UPI' }, [100n, 10_000_000n]),
  fiat('eur', { sell: 'SEPA_BANK_TRANSFER', buy: 'OPEN_BANKING' }, [5n, 150_000n]),
  fiat('try', both('TRY_BANK_TRANSFER'), [150n, 5_000_000n]),
  fiat('aed', both('AED-BANK-TRANSFER'), [20n, 550_000n]),
  fiat('mxn', both('SPEI'), [100n, 2_500_000n]),
  fiat('ngn', both('NG-BANK-TRANSFER'), [7_500n, 200_000_000n]),
  fiat('brl', both('PIX'), [30n, 800_000n]),
  fiat('php', both('INSTAPAY'), [300n, 8_000_000n]),
  fiat('gbp', both('FASTER_PAYMENTS'), [5n, 120_000n]),
  fiat('usd', { sell: 'ACH', buy: 'WIRE' }, [5n, 150_000n]),
  fiat('kes', both('MPESA_PAYBILL'), [650n, 15_000_000n]),
];

/** Decimals of the crypto payout when buying: smaller fractions are worthless. */
export const BUY_PLACES = 6;

/** The chain whose market is used when a request names none. */
export const DEFAULT_CHAIN = 'matic20';

/**
 * One source that never fails: the sandbox's table of prices, which a control moves. A price may double and halve; beyond
 * that, quoting halts as it would in production, and resumes ten seconds after the price came back.
 */
export const PRICES = {
  priceQuorum: 1,
  singleSource: true,
  outlierBps: 300n,
  jumpBps: 10_000n,
  resumeMs: 10_000,
} as const;

/** Limits on a deposit, in whole tokens. */
export const LIMITS = { minWhole: 1n, maxWhole: 200_000n };

/** Whole units of the operator's opening funds. */
export const OPENING = { fiat: 500_000_000n, tokens: 1_000_000n } as const;

/** Whole units below which a wallet counts as low. */
export const ENOUGH = { fiat: 50_000_000n, tokens: 100_000n, native: 100n } as const;

/** Money without an order below this amount is dust. Decimal text. */
export const DUST = { inr: '1', eur: '0.05', token: '0.01', native: '0.0001' } as const;
/** Divisor of the minimum purchase that gives the dust threshold of any other fiat. */
export const DUST_PARTS = 100n;

/** Whole tokens for the simulated customer and for visitors' own wallets: not the operator's, so not in the books. */
export const POCKET_MONEY = 10_000_000n;

export const PARTNERS = [
  { name: 'acme-wallet', partnerFeeBps: 100 },
  { name: 'birch-pay', partnerFeeBps: 50 },
] as const;

/** Operator: a quarter percent. Rail: a fixed sum. Chain: gas of one token transfer, twice (the sweep, and its gas). */
export const FEES = { operatorBps: 25, railFixed: { inr: 590n, eur: 20n }, gasUnits: 90_000n } as const;
/** For another fiat: a fiftieth of the minimum purchase, in the fiat's smallest units. */
export const railFixedOf = ({ code, decimals, minWhole }: SandboxFiat): bigint =>
  (FEES.railFixed as Readonly<Record<string, bigint>>)[code] ?? (minWhole * 10n ** BigInt(decimals)) / 50n;
