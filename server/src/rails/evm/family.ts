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

/** The confirmation without which batches stay off: a restore to a time before a batch cannot be ended by any command. */
const RESTORE_BEFORE_BATCH = 'halts-this-chain';

/**
 * The contract of batches, which is accepted only together with its confirmation. @throws SettingError
 */
function batchAt({ sweeper, restoreBeforeBatch }: Readonly<Record<string, unknown>>, at: string) {
  if (sweeper === undefined) {
    if (restoreBeforeBatch === undefined) return {};
    throw new SettingError(`${at}.restoreBeforeBatch must be left out without sweeper`);
  }
  const address = typeof sweeper === 'string' ? readAddress(sweeper) : undefined;
  if (address === undefined) throw new SettingError(`${at}.sweeper must be the address of the Sweeper contract`);
  if (restoreBeforeBatch !== RESTORE_BEFORE_BATCH)
    throw new SettingError(
      `${at}.restoreBeforeBatch must be "${RESTORE_BEFORE_BATCH}" beside sweeper: after a restore to a time before a batch this chain halts, its sweeps and payouts wait, and no command ends this. Without both fields each deposit is swept alone`,
    );
  return { batch: { sweeper: address } };
}

export const evmFamily: ChainFamily<EvmKeys> = {
  code: 'evm',
  nativeDecimals: 18,
  fields: ['rpcUrls', 'finality', 'maxGasPrice', 'sweeper', 'restoreBeforeBatch'],
  read(given, at) {
    const [rpcUrl, ...spareRpcUrls] = nodesAt(given.rpcUrls, `${at}.rpcUrls`);
    const own = {
      ...{ rpcUrl, spareRpcUrls },
      finality: readAt(given.finality, `${at}.finality`, whole(1, 10_000)),
      maxGasPrice: readAt(given.maxGasPrice, `${at}.maxGasPrice`, units),
      ...batchAt(given, at),
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
  signing: { readAccount: readAddress, hasSweeper: true },
};
