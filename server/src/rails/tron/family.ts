/** The family of Tron's chains, as the chains file configures it. */
import { defined } from '../../base/defined.ts';
import { text, units, whole } from '../../base/fields.ts';
import { readAt } from '../../base/jsonfile.ts';
import { type ChainFamily, type ConnectedChain, nodesAt } from '../family.ts';
import type { RawKeys } from '../signing.ts';
import { tronRail } from './adapter.ts';
import { accountOf, readAddress } from './addresses.ts';
import type { TronOptions } from './node.ts';
import { readRaw, signRawData, tronSigner, tronSweepSigner } from './signer.ts';

const API_KEY = text(200, /^[!-~]+$/, 'a key of up to 200 characters');

export const tronChain = (options: TronOptions): ConnectedChain => ({
  chain: options.chain,
  chainId: options.chainId,
  open: (context, pace = options.pace) => tronRail({ ...options, ...defined({ pace }) }, context),
});

export const tronFamily: ChainFamily<RawKeys> = {
  code: 'tron',
  nativeDecimals: 6,
  fields: ['nodeUrls', 'solidityUrls', 'apiKey', 'finality', 'maxFeeLimit', 'maxEnergyPrice'],
  read(given, at) {
    const [url, ...spareUrls] = nodesAt(given.nodeUrls, `${at}.nodeUrls`);
    const own = {
      ...{ url, spareUrls },
      solidityUrls: nodesAt(given.solidityUrls, `${at}.solidityUrls`),
      ...(given.apiKey === undefined ? {} : { apiKey: readAt(given.apiKey, `${at}.apiKey`, API_KEY) }),
      ...(given.finality === undefined ? {} : { finality: readAt(given.finality, `${at}.finality`, whole(1, 10_000)) }),
      maxFeeLimit: readAt(given.maxFeeLimit, `${at}.maxFeeLimit`, units),
      maxEnergyPrice: readAt(given.maxEnergyPrice, `${at}.maxEnergyPrice`, units),
    };
    return ({ hotWallet, ...chain }, keys) =>
      tronChain({
        ...{ ...chain, ...own, addresses: { hot: hotWallet } },
        ...(keys === undefined
          ? {}
          : {
              signers: { hot: tronSigner(keys.rawWallet(chain.chainId, 'hot'), hotWallet) },
              sweepSigner: tronSweepSigner(keys, chain),
            }),
      });
  },
  readAddress,
  addressRule: 'an address of Tron (T…)',
  accountOf,
  signing: {
    readAccount(text) {
      const address = readAddress(text);
      return address === undefined ? undefined : accountOf(address);
    },
    hasSweeper: false,
    raw: { read: readRaw, sign: signRawData },
  },
};
