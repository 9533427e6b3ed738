/**
 * Tron for tests: the sandbox's node of Tron over an anvil that mines when told to, and rails with signers of their own.
 */
import { HDKey } from '@scure/bip32';
import { randomHex } from '../../src/base/ids.ts';
import type { ChainPace, ChainRail, RailContext } from '../../src/rails/chain.ts';
import {
  accountOf,
  addressOf,
  type TronOptions,
  tronRail,
  tronSigner,
  tronSweepSigner,
} from '../../src/rails/tron/index.ts';
import { startTron, type TronNode } from '../../src/sandbox/tron.ts';
import {
  type ChainLimits,
  type Keys,
  openJournal,
  openSigner,
  publicOf,
  type SignerClient,
  signerClient,
  signerWithin,
} from '../../src/signer/index.ts';
import { type Anvil, data, deployToken, startAnvil } from './anvil.ts';

export const TRON_CHAIN = 31_343n;
/** How far below the head a block is solidified here. */
export const SOLID = 4;
const parent = HDKey.fromMasterSeed(Buffer.alloc(32, 9)).derive("m/44'/60'/1'");

export interface Trc20 {
  anvil: Anvil;
  node: TronNode;
  /** The address of the contract in Tron's format. */
  token: string;
  mine(blocks?: number): Promise<void>;
  /** Advances the chain's time, and mines a block at the new time. */
  passes(seconds: number): Promise<void>;
  chainMs(): Promise<number>;
  mint(to: string, units: bigint): Promise<void>;
  held(address: string): Promise<bigint>;
  /** Funds an account with the native asset, in TRX. */
  fund(address: string, whole: bigint): Promise<void>;
  stop(): Promise<void>;
}

export async function startTrc20(): Promise<Trc20> {
  const anvil = await startAnvil({ chainId: TRON_CHAIN });
  const account = await deployToken(anvil);
  const node = await startTron({ rpcUrl: () => anvil.url, chainId: Number(TRON_CHAIN), solidBlocks: SOLID });
  const newest = () => anvil.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false]);
  return {
    anvil,
    node,
    token: addressOf(account),
    mine: (blocks = 1) => anvil.mine(blocks),
    async passes(seconds) {
      await anvil.rpc('evm_setNextBlockTimestamp', [Number((await newest()).timestamp) + seconds]);
      await anvil.mine();
    },
    chainMs: async () => Number((await newest()).timestamp) * 1_000,
    async mint(to, units) {
      await anvil.send({ to: account, data: data('mint(address,uint256)', accountOf(to), units) });
    },
    held: async (address) =>
      BigInt(
        await anvil.rpc<string>('eth_call', [
          { to: account, data: data('balanceOf(address)', accountOf(address)) },
          'latest',
        ]),
      ),
    async fund(address, whole) {
      await anvil.rpc('anvil_setBalance', [accountOf(address), `0x${(whole * 10n ** 18n).toString(16)}`]);
    },
    async stop() {
      await node.stop();
      await anvil.stop();
    },
  };
}

export interface TronWallets {
  settings: TronOptions;
  client: SignerClient;
  hot: string;
  open(context: RailContext, changes?: Partial<TronOptions>): ChainRail;
}

/** Settings of a rail with keys of its own behind a signer in this process. */
export function tronWallets(
  { node, token }: Pick<Trc20, 'node' | 'token'>,
  options: { code: string; chain: string; pace?: Partial<ChainPace>; limits?: Partial<ChainLimits> },
): TronWallets {
  const keys: Keys = { wallets: { hot: `0x${randomHex(32)}` }, deposits: parent.privateExtendedKey };
  const limit = (perTransfer: bigint) => ({ perTransfer, perHour: perTransfer * 1_000n });
  const limits: ChainLimits = {
    chainId: TRON_CHAIN,
    family: 'tron',
    tokens: { [accountOf(token)]: limit(10n ** 12n) },
    gas: limit(10n ** 9n),
    native: limit(10n ** 9n),
    fees: limit(10n ** 9n),
    ...options.limits,
  };
  // The chain's time runs ahead of ours where a test lets it pass.
  const nowMs = () => Date.now() + 86_400_000;
  const secret = randomHex(32);
  const connect = signerWithin(openSigner(keys, [limits], openJournal(undefined), { nowMs }), secret);
  const expected = publicOf(keys);
  const client = signerClient({ connect, secret, expected });
  const hot = addressOf(expected.wallets.hot ?? '');
  const settings: TronOptions = {
    code: options.code,
    chain: options.chain,
    url: node.url,
    chainId: TRON_CHAIN,
    xpub: expected.xpub,
    signers: { hot: tronSigner(client.rawWallet(TRON_CHAIN, 'hot'), hot) },
    sweepSigner: tronSweepSigner(client, { chainId: TRON_CHAIN, xpub: expected.xpub }),
    finality: SOLID,
    maxFeeLimit: 10n ** 9n,
    maxEnergyPrice: 1_000n,
    pace: { lowerBranchMs: 0, nativeEveryMs: 0, rebroadcastMs: 0, stuckMs: 0, ...options.pace },
  };
  return { settings, client, hot, open: (context, changes = {}) => tronRail({ ...settings, ...changes }, context) };
}
