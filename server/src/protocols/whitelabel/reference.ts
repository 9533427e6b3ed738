/**
 * Reference data: the interface's numbers for fiats, chains, coins and payment methods, and maps of those that are offered,
 * generated from the configured markets. A fiat, coin or chain without a market is not listed.
 *
 * The numbers are the interface's own and programs have them in their code, so they never change. A chain or coin without a
 * number (in a local installation) gets one above a million, derived from its code, so that it is the same everywhere.
 */
import { createHash } from 'node:crypto';
import { Refusal } from '../../base/errors.ts';
import type { Asset, Market } from '../../partners/index.ts';

const FIATS =
  numbered(`1 INR, 2 TRY, 3 AED, 4 MXN, 5 VND, 6 NGN, 7 BRL, 8 PEN, 9 COP, 10 CLP, 11 PHP, 12 EUR, 14 IDR, 15 KES,
  16 GHS, 17 ZAR, 18 RWF, 19 XAF, 20 GBP, 21 USD, 22 BWP, 23 MWK, 24 TZS, 25 UGX, 26 ZMW, 27 THB, 28 MYR, 29 ARS, 30 AUD,
  31 EGP, 32 LKR, 33 PLN, 34 TWD, 35 SGD, 36 NZD, 37 JPY, 38 KRW, 44 PYG, 45 UYU, 47 CRC, 48 GTQ, 50 CAD`);
const CHAINS = numbered('0 erc20, 1 bep20, 2 trc20, 3 matic20, 4 spl, 13 arbitrum, 15 ton');
const COINS = numbered('0 btc, 6 eth, 54 usdt, 72 bnb, 83 matic, 116 usdc');

/**
 * Kind of each method: 1 instant, 2 bank transfer. The order matters: one program uses the first method of a fiat, another the
 * last.
 */
const METHODS: Readonly<Record<string, 1 | 2>> = {
  UPI: 1,
  IMPS: 2,
  PIX: 1,
  OPEN_BANKING: 1,
  SEPA_BANK_TRANSFER: 2,
  WIRE: 1,
  ACH: 2,
  TRY_BANK_TRANSFER: 2,
  'AED-BANK-TRANSFER': 2,
  SPEI: 2,
  'NG-BANK-TRANSFER': 2,
  INSTAPAY: 2,
  FASTER_PAYMENTS: 2,
  MPESA_PAYBILL: 2,
};

/** Fiats with a payment method. The sandbox trades each of them in both directions. */
export const LIVE: Readonly<Record<string, readonly string[]>> = {
  inr: ['UPI', 'IMPS'],
  try: ['TRY_BANK_TRANSFER'],
  aed: ['AED-BANK-TRANSFER'],
  mxn: ['SPEI'],
  ngn: ['NG-BANK-TRANSFER'],
  brl: ['PIX'],
  php: ['INSTAPAY'],
  eur: ['OPEN_BANKING', 'SEPA_BANK_TRANSFER'],
  gbp: ['FASTER_PAYMENTS'],
  usd: ['WIRE', 'ACH'],
  kes: ['MPESA_PAYBILL'],
};

function numbered(list: string): ReadonlyMap<string, number> {
  return new Map(
    list.split(',').map((pair) => {
      const [number = '', name = ''] = pair.trim().split(' ');
      return [name.toLowerCase(), Number(number)];
    }),
  );
}

const localNumber = (name: string): number => 1_000_000 + createHash('sha256').update(name).digest().readUIntBE(0, 3);
const numberIn = (table: ReadonlyMap<string, number>, name: string): number =>
  table.get(name.toLowerCase()) ?? localNumber(name.toLowerCase());

export const fiatNumber = (fiat: Pick<Asset, 'coin'>): number => numberIn(FIATS, fiat.coin);
export const coinNumber = (crypto: Pick<Asset, 'coin'>): number => numberIn(COINS, crypto.coin);
export const chainNumber = (chain: string): number => numberIn(CHAINS, chain);

/**
 * A fiat given as its code or its number.
 *
 * @returns the code in lower case
 * @throws Refusal 'unsupported_pair' when no market has it
 */
export function fiatOf(text: string, all: readonly Market[]): Asset {
  const found = all.find(
    ({ fiat }) => fiat.coin.toLowerCase() === text.toLowerCase() || String(fiatNumber(fiat)) === text,
  );
  if (found === undefined) {
    const supported = [...new Set(all.map(({ fiat }) => fiat.coin.toUpperCase()))].toSorted();
    throw new Refusal('unsupported_pair', { fiat: text, supported });
  }
  return found.fiat;
}

/** Countries that pay in euros; for others the currency begins with the country's two letters. */
const EURO_COUNTRIES = new Set('AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK'.split(' '));
/** Six countries share the currency: any of them matches. */
const CFA_COUNTRIES = new Set('CM CF TD CG GQ GA'.split(' '));

/** @returns the currency code of a country (ISO 3166, two letters); undefined when unknown */
export function fiatOfCountry(country: string): string | undefined {
  const code = country.toUpperCase();
  if (EURO_COUNTRIES.has(code)) return 'EUR';
  if (CFA_COUNTRIES.has(code)) return 'XAF';
  return [...FIATS.keys()]
    .map((fiat) => fiat.toUpperCase())
    .find((fiat) => /^[A-Z]{2}$/.test(code) && fiat.startsWith(code));
}

/** 1 instant, 2 bank transfer. */
export const methodKind = (method: string): 1 | 2 => METHODS[method] ?? 2;

type Direction = Market['direction'];
const of = (all: readonly Market[], direction: Direction) => all.filter((market) => market.direction === direction);

/** `{onramp: {"1": "INR"}, offramp: {…}}` */
export function supportedFiats(all: readonly Market[]) {
  const list = (direction: Direction) =>
    Object.fromEntries(of(all, direction).map(({ fiat }) => [fiatNumber(fiat), fiat.coin.toUpperCase()]));
  return { onramp: list('onramp'), offramp: list('offramp') };
}

/** `{"1": {"UPI": 1, "IMPS": 2}}`: fiat, method, kind of method. */
export function paymentMethods(all: readonly Market[]): Record<string, Record<string, number>> {
  const known = Object.keys(METHODS);
  const byFiat: Record<string, Record<string, number>> = {};
  const place = (name: string) => (known.includes(name) ? known.indexOf(name) : known.length);
  for (const market of all.toSorted((a, b) => place(a.paymentMethod) - place(b.paymentMethod))) {
    const methods = (byFiat[fiatNumber(market.fiat)] ??= {});
    methods[market.paymentMethod] = methodKind(market.paymentMethod);
  }
  return byFiat;
}

/** Names of the ways a fiat is paid on any market, in the order of `paymentMethods`. */
export const methodsOf = (fiat: Pick<Asset, 'coin'>, all: readonly Market[]): string[] =>
  Object.keys(paymentMethods(all)[fiatNumber(fiat)] ?? {});

/**
 * `{buy: {"1": {isActive: 1, paymentMethods: {…}}}, sell: {…}}`. Buying lists every method; a fiat that customers can only
 * receive is not active.
 */
export function countryConfig(all: readonly Market[]) {
  const bought = new Set(of(all, 'onramp').map(({ fiat }) => String(fiatNumber(fiat))));
  const side = (methods: Record<string, Record<string, number>>, isActive: (fiat: string) => boolean) =>
    Object.fromEntries(
      Object.entries(methods).map(([fiat, ofFiat]) => [
        fiat,
        { isActive: isActive(fiat) ? 1 : 0, paymentMethods: ofFiat },
      ]),
    );
  return {
    buy: side(paymentMethods(all), (fiat) => bought.has(fiat)),
    sell: side(paymentMethods(of(all, 'offramp')), () => true),
  };
}

const COIN_NAMES: Readonly<Record<string, string>> = {
  btc: 'Bitcoin',
  eth: 'Ethereum',
  usdt: 'Tether',
  bnb: 'BNB',
  trx: 'TRON',
  matic: 'Polygon',
  usdc: 'USD Coin',
  dai: 'Dai',
};

/** An inline picture, so that no other host is needed: the code in a circle. */
function coinIcon(code: string): string {
  const letters = code
    .replaceAll(/[^0-9A-Za-z]/g, '')
    .slice(0, 4)
    .toUpperCase();
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><circle cx="32" cy="32" r="32" fill="#335"/><text x="32" y="38" font-family="sans-serif" font-size="16" fill="#fff" text-anchor="middle">${letters}</text></svg>`;
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
}

/** Balances are shown with at most this many decimals. */
const MOST_PLACES = 8;

interface Coin {
  coinId: number;
  coinIcon: string;
  coinName: string;
  balanceFloatPlaces: number;
}

/** `{usdt: {coinId: 54, coinIcon, coinName: "Tether", balanceFloatPlaces: 6}}` */
export function coins(all: readonly Market[]): Record<string, Coin> {
  const list: Record<string, Coin> = {};
  for (const { crypto } of all) {
    const code = crypto.coin.toLowerCase();
    list[code] ??= {
      coinId: coinNumber(crypto),
      coinIcon: coinIcon(code),
      coinName: COIN_NAMES[code] ?? code.toUpperCase(),
      balanceFloatPlaces: Math.min(crypto.decimals, MOST_PLACES),
    };
  }
  return list;
}

/** The published data of a chain. */
interface Chain {
  chainName: string;
  addressRegex: string;
  memoRegex: string;
  /** -1 if the chain has none. */
  networkId: number;
  nativeToken: number;
  startingWith: string[];
  hashLink: string;
}

const evm = (chainName: string, networkId: number, nativeToken: number, explorer: string): Chain => ({
  chainName,
  addressRegex: '^(0x)[0-9A-Fa-f]{40}$',
  memoRegex: '',
  networkId,
  nativeToken,
  startingWith: ['0x'],
  hashLink: explorer === '' ? '' : `https://${explorer}/tx/`,
});

const KNOWN_CHAINS: Readonly<Record<string, Chain>> = {
  erc20: evm('Ethereum Network', 1, 6, 'etherscan.io'),
  bep20: evm('Binance Smart Chain', 56, 72, 'bscscan.com'),
  matic20: evm('Polygon Mainnet', 137, 83, 'polygonscan.com'),
  arbitrum: evm('Arbitrum', 42161, 6, 'arbiscan.io'),
  base: evm('Base', 8453, 6, 'basescan.org'),
  optimism: evm('Optimism', 10, 6, 'optimistic.etherscan.io'),
  trc20: {
    chainName: 'Tron Network',
    addressRegex: '^T[1-9A-HJ-NP-Za-km-z]{33}$',
    memoRegex: '',
    networkId: 728_126_428,
    nativeToken: coinNumber({ coin: 'trx' }),
    startingWith: ['T'],
    hashLink: 'https://tronscan.org/#/transaction/',
  },
};

/** The chain ids reported by the connected chains, by our code of the chain. */
export type NetworkIds = ReadonlyMap<string, number>;

/** A chain whose id is not the known one for its name (a local chain, for example) has no explorer. */
function chainOf(code: string, networkIds: NetworkIds): Chain {
  const known = KNOWN_CHAINS[code];
  const networkId = networkIds.get(code) ?? known?.networkId ?? -1;
  if (known?.networkId === networkId) return known;
  return { ...(known ?? evm(code, networkId, -1, '')), networkId, hashLink: '' };
}

/** `{"3": {chainSymbol: "matic20", addressRegex, memoRegex, chainName, networkId, nativeToken, startingWith, hashLink, node}}` */
export function networks(all: readonly Market[], networkIds: NetworkIds) {
  const list: Record<string, { chainSymbol: string; node: number } & Chain> = {};
  for (const { crypto } of all) {
    if (crypto.chain === null) continue;
    const chain = chainOf(crypto.chain, networkIds);
    list[chainNumber(crypto.chain)] ??= { chainSymbol: crypto.chain, ...chain, node: chain.nativeToken };
  }
  return list;
}

/** `{fiatSymbolMapping: {"INR": 1}, coinSymbolMapping: {"usdt": 54}, chainSymbolMapping: {"matic20": 3}}` */
export function configMap(all: readonly Market[]) {
  const map = (pairs: (readonly [string, number])[]) => Object.fromEntries(pairs);
  return {
    fiatSymbolMapping: map(all.map(({ fiat }) => [fiat.coin.toUpperCase(), fiatNumber(fiat)])),
    coinSymbolMapping: map(all.map(({ crypto }) => [crypto.coin.toLowerCase(), coinNumber(crypto)])),
    chainSymbolMapping: map(
      all.flatMap(({ crypto }) => (crypto.chain === null ? [] : [[crypto.chain, chainNumber(crypto.chain)] as const])),
    ),
  };
}

/** `{allCoinConfig: {usdt: {coinId: 54, …, networks: [3]}}, networkConfig: {"3": {chainSymbol: "matic20", …}}}` */
export function allConfig(all: readonly Market[], networkIds: NetworkIds) {
  const chainsOf = (code: string): number[] => {
    const on = all.filter(({ crypto }) => crypto.coin.toLowerCase() === code && crypto.chain !== null);
    return [...new Set(on.map(({ crypto }) => chainNumber(crypto.chain ?? '')))].toSorted((a, b) => a - b);
  };
  const allCoinConfig = Object.fromEntries(
    Object.entries(coins(all)).map(([code, coin]) => [
      code,
      { ...coin, coinCode: code, tradeFloatPlaces: coin.balanceFloatPlaces, networks: chainsOf(code) },
    ]),
  );
  return { allCoinConfig, networkConfig: networks(all, networkIds) };
}
