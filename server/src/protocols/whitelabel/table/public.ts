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
    says: 'Answers the fiats on offer.',
    gives: replies.FIATS,
    answer: listFiats,
  }),
  open({
    paths: ['/onramp/api/v2/common/public/fetchPaymentMethodType'],
    says: 'Answers the payment methods of each fiat.',
    gives: replies.METHODS,
    answer: listPaymentMethods,
  }),
  open({
    paths: ['/onramp/api/v2/common/public/currentTimestamp'],
    says: 'Answers the time, for signing.',
    gives: replies.TIMESTAMP,
    answer: currentTimestamp,
  }),
  open({
    paths: ['/onramp/api/v2/common/public/fetchAllCountryConfig'],
    says: 'Answers which fiats are bought and sold with which methods.',
    gives: replies.COUNTRIES,
    answer: listCountries,
  }),
  open({
    paths: ['/onramp/api/v3/buy/public/listAllCoins'],
    says: 'Answers the coins on offer.',
    gives: replies.COINS,
    answer: listCoins,
  }),
  open({
    paths: ['/onramp/api/v3/buy/public/listAllNetworks'],
    says: 'Answers the chains on offer.',
    gives: replies.NETWORKS,
    answer: listNetworks,
  }),
  open({
    paths: ['/onramp/api/v2/sell/public/allConfig'],
    says: 'Answers coins and chains with their details.',
    gives: replies.ALL_CONFIG,
    answer: sellConfig,
  }),
  open({
    paths: ['/onramp/api/v1/public/allGasFee'],
    says: 'Answers what a withdrawal costs on each chain, in numbers.',
    gives: replies.GAS_FEES,
    answer: gasFees,
  }),
];
