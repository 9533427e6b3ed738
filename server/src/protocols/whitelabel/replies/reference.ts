/** Reference data: coins, chains, fiats, methods, fees, limits and prices. */
import { type TSchema, Type } from 'typebox';
import { amountNumber, amountText, byKey, object, text, whole } from './parts.ts';

const numbersByCode = (description: string) => byKey(Type.Integer(), description);
const coin = {
  coinId: whole('Number of the coin'),
  coinIcon: text('Picture, as a data URL'),
  coinName: text('Name'),
  balanceFloatPlaces: whole('Decimals with which a balance is shown'),
};
const network = object(
  {
    chainSymbol: text('Code of the chain'),
    chainName: text('Name'),
    addressRegex: text('Pattern of an address'),
    memoRegex: text('Pattern of a memo; empty if there is none'),
    networkId: whole('Network id of the chain; -1 if it has none'),
    nativeToken: whole('Number of the native asset; -1 if it has no number'),
    startingWith: Type.Array(Type.String()),
    hashLink: text('URL of the explorer, without the hash at its end; empty if there is none'),
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
const country = byKey(object({ isActive: whole('1: supported'), paymentMethods: methods }), 'By number of the fiat');
export const COUNTRIES = object({ buy: country, sell: country });
export const TIMESTAMP = Type.Integer({ description: 'Milliseconds since 1970' });
const gas = (number: TSchema) => ({ withdrawalFee: number, minimumWithdrawal: number, nodeInSync: Type.Literal(1) });
export const GAS_FEES = object({
  allGasFee: byKey(byKey(object(gas(amountNumber('In the coin'))), 'By number of the chain'), 'By number of the coin'),
});
export const GAS_FEE_MAP = byKey(
  byKey(
    object({ ...gas(amountText('In the coin')), depositEnable: whole('1: customers can sell the coin') }),
    'By number of the chain',
  ),
  'By number of the coin',
);
const ranges = byKey(object({ min: amountNumber('Minimum'), max: amountNumber('Maximum') }), 'By number of the fiat');
export const LIMITS = object({ onramp: Type.Optional(ranges), offramp: Type.Optional(ranges) });
export const COIN_LIMITS = byKey(
  byKey(amountNumber('Minimum amount of the fiat'), 'By number of the chain'),
  'By number of the coin',
);
const prices = byKey(amountNumber('Fiat for one coin'), 'By number of the coin');
export const PRICES = object({ onramp: Type.Optional(prices), offramp: Type.Optional(prices) });
