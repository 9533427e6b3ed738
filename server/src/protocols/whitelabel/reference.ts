/**
 * Reference data: the numbers this interface has for fiats, chains, coins and payment methods, and maps of what is on
 * offer, made from the markets that are configured. A fiat, coin or chain without a market is not listed.
 *
 * The numbers are the interface's own and programs carry them in their code, so they never change. What it has no number
 * for (a chain or coin of a local installation) gets one above a million, made from its code and so the same everywhere.
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

/** 1 is instant, 2 a bank transfer. Order matters: one program takes the first of a fiat, another the last. */
const METHODS: Readonly<Record<string, 1 | 2>> = {
  UPI: 1,
  IMPS: 2,
  PIX: 1,
  OPEN_BANKING: 1,
  SEPA_BANK_TRANSFER: 2,
  WIRE: 1,
  ACH: 2,
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
 * A fiat said as its code or as its number.
 *
 * @returns the code in lower case
 * @throws Refusal 'unsupported_pair' where no market has it
 */
export function fiatOf(text: string, all: readonly Market[]): Asset {
  const found = all.find(
    ({ fiat }) => fiat.coin.toLowerCase() === text.toLowerCase() || String(fiatNumber(fiat)) === text,
  );
  if (found === undefined) throw new Refusal('unsupported_pair', { coin: '', fiat: text });
  return found.fiat;
}

/** 1 instant, 2 a bank transfer. */
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

/** `{buy: {"1": {isActive: 1, paymentMethods: {…}}}, sell: {…}}` */
export function countryConfig(all: readonly Market[]) {
  const side = (direction: Direction) =>
    Object.fromEntries(
      Object.entries(paymentMethods(of(all, direction))).map(([fiat, methods]) => [
        fiat,
        { isActive: 1, paymentMethods: methods },
      ]),
    );
  return { buy: side('onramp'), sell: side('offramp') };
}

/** `{"54": {coinId: 54, coinCode: "usdt", networks: {"3": "matic20"}}}` */
export function coins(all: readonly Market[]) {
  const list: Record<string, { coinId: number; coinCode: string; networks: Record<string, string> }> = {};
  for (const { crypto } of all) {
    const coinId = coinNumber(crypto);
    const coin = (list[coinId] ??= { coinId, coinCode: crypto.coin.toLowerCase(), networks: {} });
    if (crypto.chain !== null) coin.networks[chainNumber(crypto.chain)] = crypto.chain;
  }
  return list;
}

/** `{"3": {chainId: 3, network: "matic20", coins: {"54": "usdt"}}}` */
export function networks(all: readonly Market[]) {
  const list: Record<string, { chainId: number; network: string; coins: Record<string, string> }> = {};
  for (const { crypto } of all) {
    if (crypto.chain === null) continue;
    const chainId = chainNumber(crypto.chain);
    const network = (list[chainId] ??= { chainId, network: crypto.chain, coins: {} });
    network.coins[coinNumber(crypto)] = crypto.coin.toLowerCase();
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

/** `{allCoinConfig: {"usdt": {coinId: 54, networks: [3]}}, networkConfig: {"3": {chainSymbol: "matic20"}}}` */
export function chainMap(all: readonly Market[]) {
  const coinList = Object.values(coins(all)).map(({ coinId, coinCode, networks: on }) => [
    coinCode,
    { coinId, coinCode, networks: Object.keys(on).map(Number) },
  ]);
  const chainList = Object.values(networks(all)).map(({ chainId, network }) => [
    chainId,
    { chainId, chainSymbol: network },
  ]);
  return { allCoinConfig: Object.fromEntries(coinList), networkConfig: Object.fromEntries(chainList) };
}
