/** The family of EVM chains, as the chains file configures it. */
import { defined } from '../../base/defined.ts';
import { SettingError } from '../../base/env.ts';
import { units, whole } from '../../base/fields.ts';
import { readAt } from '../../base/jsonfile.ts';
import { type ChainFamily, type ConnectedChain, nodesAt } from '../family.ts';
import { evmRail } from './adapter.ts';
import { addressesOf, readAddress } from './addresses.ts';
import type { EvmOptions } from './options.ts';
import type { Signer } from './signer.ts';

interface EvmKeys {
  wallet(chainId: bigint, name: string, address: string): Signer;
  deposits(chainId: bigint, addressOf: (index: bigint) => string): (index: bigint) => Signer;
}

export const evmChain = (options: EvmOptions): ConnectedChain => ({
  chain: options.chain,
  chainId: options.chainId,
  open: (context, pace = options.pace) => evmRail({ ...options, ...defined({ pace }) }, context),
});

/** @throws SettingError */
function sweeperAt(value: unknown, at: string): string {
  const address = typeof value === 'string' ? readAddress(value) : undefined;
  if (address === undefined) throw new SettingError(`${at} must be the address of the Sweeper contract`);
  return address;
}

export const evmFamily: ChainFamily<EvmKeys> = {
  code: 'evm',
  nativeDecimals: 18,
  fields: ['rpcUrls', 'finality', 'maxGasPrice', 'sweeper'],
  read(given, at) {
    const [rpcUrl, ...spareRpcUrls] = nodesAt(given.rpcUrls, `${at}.rpcUrls`);
    const own = {
      ...{ rpcUrl, spareRpcUrls },
      finality: readAt(given.finality, `${at}.finality`, whole(1, 10_000)),
      maxGasPrice: readAt(given.maxGasPrice, `${at}.maxGasPrice`, units),
      ...(given.sweeper === undefined ? {} : { batch: { sweeper: sweeperAt(given.sweeper, `${at}.sweeper`) } }),
    };
    return ({ hotWallet, ...chain }, keys) =>
      evmChain({
        ...{ ...chain, ...own, addresses: { hot: hotWallet } },
        ...(keys === undefined
          ? {}
          : {
              signers: { hot: keys.wallet(chain.chainId, 'hot', hotWallet) },
              sweepSigner: keys.deposits(chain.chainId, addressesOf(chain.xpub)),
            }),
      });
  },
  readAddress,
  addressRule: 'an address, with right capitals if it has any',
  accountOf: (address) => address,
};
