/** Markets, assets, chains and payment methods. */
import { Type } from 'typebox';
import { ADDRESS, closed, decimal, direction, id, list, maybe, text, whole, word } from './parts.ts';

export const Market = Type.Object(
  {
    id: id('Id of the market', '3'),
    direction: direction(),
    payAsset: text('Asset that the customer pays', 'usdc.matic20'),
    receiveAsset: text('Asset that the customer receives', 'inr'),
    min: decimal('Minimum amount that the customer pays', '10'),
    max: decimal('Maximum amount that the customer pays', '10000'),
    receiveDecimals: whole('Decimal places of the received amount', 2),
    method: text('Default payment method', 'IMPS'),
    quoteSeconds: whole('For how many seconds a quote is valid', 60),
    paySeconds: whole('For how many seconds an order waits for its payment', 3600),
  },
  { ...closed, description: 'A pair of assets in one direction, and its terms' },
);
export const Asset = Type.Object(
  {
    code: text('Code of the asset', 'usdc.matic20'),
    kind: word(['crypto', 'fiat'] as const, 'A coin on a chain, or a currency'),
    symbol: text('Symbol of the coin or currency', 'USDC'),
    chain: maybe(text('Code of its chain; null for a fiat', 'matic20')),
    contract: maybe(text('Contract of the token; null for a native asset and for a fiat', ADDRESS.toLowerCase())),
    decimals: whole('Decimal places', 6),
  },
  { ...closed, description: 'An asset that can be paid or received' },
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
  { ...closed, description: 'A way to pay fiat' },
);
