/**
 * The Sweeper contract on the sandbox's chains, for sweeps in batches (SWEEP_BATCHES). Its address depends on its code and on the
 * hot wallet alone, so it is the same on each chain.
 */
import type { Hex } from 'viem';
import { concat, getContractAddress } from 'viem/utils';
import { Unavailable } from '../base/errors.ts';
import { sweeperCode } from '../rails/evm/index.ts';
import { call, type SandboxNode } from './nodes.ts';
import { FACTORY } from './tokens.ts';
import { walletAddress } from './wallets.ts';

const SALT: Hex = `0x${'0'.repeat(64)}`;

const code = (): Hex => sweeperCode(walletAddress('hot'));

/** In lower case. */
export const sweeperAddress = (): string =>
  getContractAddress({ opcode: 'CREATE2', from: FACTORY, salt: SALT, bytecode: code() }).toLowerCase();

/** Deploys it if it is missing. */
export async function deploySweeper(node: SandboxNode): Promise<void> {
  const isThere = async () => (await call<Hex>(node.rpcUrl, 'eth_getCode', [sweeperAddress(), 'latest'])) !== '0x';
  if (await isThere()) return;
  const [from] = await call<Hex[]>(node.rpcUrl, 'eth_accounts');
  const data = concat([SALT, code()]);
  await call(node.rpcUrl, 'eth_sendTransaction', [{ from, to: FACTORY, data, gas: '0x2dc6c0' }]);
  await node.mine();
  if (!(await isThere())) throw new Unavailable('anvil', `the sweeper contract was not deployed on ${node.code}`);
}
