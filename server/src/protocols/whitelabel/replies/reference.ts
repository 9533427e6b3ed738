/** Reference data: coins, chains, fiats, methods, fees, limits and prices. */
import { type TSchema, Type } from 'typebox';
import { amountNumber, amountText, byKey, object, text, whole } from './parts.ts';

const numbersByCode = (description: string) => byKey(Type.Integer(), description);
const coin = {
  coinId: whole('Number of the coin'),
  coinIcon: text('Picture, as a data URL'),
  coinName: text('Name'),
  balanceFloatPlaces: whole('Decimals shown of a balance'),
};
const network = object(
  {
    chainSymbol: text('Code of the chain'),
    chainName: text('Name'),
    addressRegex: text('What an address looks like'),
    memoRegex: text('What a memo looks like; empty where there is none'),
    networkId: whole('Number by which the chain calls itself; -1 where it has none'),
    nativeToken: whole('Number of the native coin; -1 where we have none'),
    startingWith: Type.Array(Type.String()),
    hashLink: text('Explorer, to be followed by a hash; empty where there is none'),
    node: whole('The same as nativeToken'),
  },
  { title: 'Network' },
);
export const COINS = byKey(object(coin, { title: 'Coin' }), 'By code of the coin');
export const NETWORKS = byKey(network, 'By number of the chain');
export const ALL_CONFIG = object({
  allCoinConfig: byKey(
    object({
      ...coin,
      coinCode: text('Code of the coin'),
      tradeFloatPlaces: whole('Decimals of a trade'),
      networks: Type.Array(Type.Integer()),
    }),
    'By code of the coin',
  ),
  networkConfig: NETWORKS,
});
export const CONFIG_MAP = object({
  fiatSymbolMapping: numbersByCode('Number of each fiat'),
  coinSymbolMapping: numbersByCode('Number of each coin'),
  chainSymbolMapping: numbersByCode('Number of each chain'),
});
const fiatNames = byKey(Type.String(), 'Code of each fiat, by its number');
export const FIATS = object({ onramp: fiatNames, offramp: fiatNames });
const methods = byKey(Type.Integer(), 'Kind of each method: 1 instant, 2 a bank transfer');
export const METHODS = byKey(methods, 'By number of the fiat');
const country = byKey(object({ isActive: whole('1: on offer'), paymentMethods: methods }), 'By number of the fiat');
export const COUNTRIES = object({ buy: country, sell: country });
export const TIMESTAMP = Type.Integer({ description: 'Milliseconds since 1970' });
const gas = (number: TSchema) => ({ withdrawalFee: number, minimumWithdrawal: number, nodeInSync: Type.Literal(1) });
export const GAS_FEES = object({
  allGasFee: byKey(byKey(object(gas(amountNumber('In the coin'))), 'By number of the chain'), 'By number of the coin'),
});
export const GAS_FEE_MAP = byKey(
  byKey(
    object({ ...gas(amountText('In the coin')), depositEnable: whole('1: the coin is bought from customers') }),
    'By number of the chain',
  ),
  'By number of the coin',
);
const ranges = byKey(object({ min: amountNumber('Least'), max: amountNumber('Most') }), 'By number of the fiat');
export const LIMITS = object({ onramp: Type.Optional(ranges), offramp: Type.Optional(ranges) });
export const COIN_LIMITS = byKey(
  byKey(amountNumber('Least of the fiat'), 'By number of the chain'),
  'By number of the coin',
);
const prices = byKey(amountNumber('Fiat for one coin'), 'By number of the coin');
export const PRICES = object({ onramp: Type.Optional(prices), offramp: Type.Optional(prices) });
