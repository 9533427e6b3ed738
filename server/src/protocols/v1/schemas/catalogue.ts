/** Markets, assets, chains and payment methods. */
import { Type } from 'typebox';
import { ADDRESS, closed, decimal, direction, id, list, maybe, text, whole, word } from './parts.ts';

export const Market = Type.Object(
  {
    id: id('Id of the market', '3'),
    direction: direction(),
    payAsset: text('Asset that the customer pays', 'usdc.matic20'),
    receiveAsset: text('Asset that the customer receives', 'inr'),
    min: decimal('Least amount that the customer pays', '10'),
    max: decimal('Largest amount that the customer pays', '10000'),
    receiveDecimals: whole('Decimal places of what is received', 2),
    method: text('Usual payment method', 'IMPS'),
    quoteSeconds: whole('For how many seconds a quote holds', 60),
    paySeconds: whole('For how many seconds an order waits for its payment', 3600),
  },
  { ...closed, description: 'A pair of assets in one direction, and its terms' },
);
export const Asset = Type.Object(
  {
    code: text('Code of the asset', 'usdc.matic20'),
    kind: word(['crypto', 'fiat'] as const, 'A coin on a chain, or a currency'),
    symbol: text('Symbol of coin or currency', 'USDC'),
    chain: maybe(text('Code of its chain; null of a fiat', 'matic20')),
    contract: maybe(text('Contract of the token; null of a native coin and of a fiat', ADDRESS.toLowerCase())),
    decimals: whole('Decimal places', 6),
  },
  { ...closed, description: 'What can be paid or received' },
);
export const Chain = Type.Object(
  {
    code: text('Code of the chain', 'matic20'),
    networkId: maybe(whole('EIP-155 chain id', 137)),
    assets: list(text('Code', 'usdc.matic20'), 'Assets on it'),
  },
  { ...closed, description: 'A chain' },
);
export const PaymentMethod = Type.Object(
  {
    code: text('Name of the method', 'IMPS'),
    asset: text('Code of the fiat', 'inr'),
    directions: list(direction(), 'Where it is used'),
  },
  { ...closed, description: 'How fiat is paid' },
);
