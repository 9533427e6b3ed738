/** Reference data that needs no key. */
import {
  currentTimestamp,
  gasFees,
  listCoins,
  listCountries,
  listFiats,
  listNetworks,
  listPaymentMethods,
  sellConfig,
} from '../endpoints/public.ts';
import * as replies from '../replies.ts';
import { open, type Route, wl } from '../route.ts';

export const PUBLIC: readonly Route[] = [
  open({
    paths: wl('public/listSupportedFiat'),
    says: 'Returns the supported fiats.',
    gives: replies.FIATS,
    answer: listFiats,
  }),
  open({
    paths: ['/onramp/api/v2/common/public/fetchPaymentMethodType'],
    says: 'Returns the payment methods of each fiat.',
    gives: replies.METHODS,
    answer: listPaymentMethods,
  }),
  open({
    paths: ['/onramp/api/v2/common/public/currentTimestamp'],
    says: 'Returns the current time, for signing.',
    gives: replies.TIMESTAMP,
    answer: currentTimestamp,
  }),
  open({
    paths: ['/onramp/api/v2/common/public/fetchAllCountryConfig'],
    says: 'Returns the fiats for buying and selling, with their payment methods.',
    gives: replies.COUNTRIES,
    answer: listCountries,
  }),
  open({
    paths: ['/onramp/api/v3/buy/public/listAllCoins'],
    says: 'Returns the supported coins.',
    gives: replies.COINS,
    answer: listCoins,
  }),
  open({
    paths: ['/onramp/api/v3/buy/public/listAllNetworks'],
    says: 'Returns the supported chains.',
    gives: replies.NETWORKS,
    answer: listNetworks,
  }),
  open({
    paths: ['/onramp/api/v2/sell/public/allConfig'],
    says: 'Returns coins and chains with their details.',
    gives: replies.ALL_CONFIG,
    answer: sellConfig,
  }),
  open({
    paths: ['/onramp/api/v1/public/allGasFee'],
    says: 'Returns what a withdrawal costs on each chain, with amounts as JSON numbers.',
    gives: replies.GAS_FEES,
    answer: gasFees,
  }),
];
