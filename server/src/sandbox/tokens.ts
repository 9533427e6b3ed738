/**
 * Test tokens on the sandbox's chains.
 *
 * An address depends on chain, token and code alone (CREATE2, through the factory included in anvil), not on what the
 * deploying account did before: a chain with a new genesis has its tokens at the same addresses. The same token has another
 * address on each chain, as on real chains, so a program that mixes up chains finds nothing.
 */
import type { Hex } from 'viem';
import {
  concat,
  encodeDeployData,
  getAddress,
  getContractAddress,
  keccak256,
  parseUnits,
  stringToHex,
} from 'viem/utils';
import { Unavailable } from '../base/errors.ts';
import { addressOf } from '../rails/tron/index.ts';
import { isTron } from './catalogue.ts';
import { call, type SandboxNode } from './nodes.ts';
import artifact from './TestToken.artifact.json' with { type: 'json' };
import { walletAddress } from './wallets.ts';

/** The usual deterministic deployment proxy: salt and code in, contract out. Included in every anvil's genesis. */
export const FACTORY = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
/** In whole tokens: more than any test spends. */
const SUPPLY = '1000000000000';

export interface TokenSpec {
  code: string;
  name: string;
  symbol: string;
  decimals: number;
}

export interface DeployedToken {
  code: string;
  /** The address in the chain's spelling. */
  address: string;
  decimals: number;
}

interface Deployment {
  spec: TokenSpec;
  address: Hex;
  /** Call data for the factory. */
  data: Hex;
}

/** @param holder receives the whole supply */
const deploymentsOf = (chain: string, specs: readonly TokenSpec[], holder: Hex): Deployment[] =>
  specs.map((spec) => {
    const args = [spec.name, spec.symbol, spec.decimals, parseUnits(SUPPLY, spec.decimals), holder] as const;
    const code = encodeDeployData({ abi: artifact.abi, bytecode: artifact.bytecode as Hex, args });
    const salt = keccak256(stringToHex(`${chain}/${spec.code}`));
    const address = getContractAddress({ opcode: 'CREATE2', from: FACTORY, salt, bytecode: code });
    return { spec, address, data: concat([salt, code]) };
  });

const deployed = (chain: string, { spec, address }: Deployment): DeployedToken => ({
  code: spec.code,
  address: isTron(chain) ? addressOf(address.toLowerCase()) : address,
  decimals: spec.decimals,
});

/** An account in the spelling of a chain. @param account 20 bytes as hex with 0x */
export const spelledOn = (chain: string, account: string): string =>
  isTron(chain) ? addressOf(account.toLowerCase()) : account;

/** A token's contract in the spelling that its rail keeps. */
export const contractOf = (chain: string, { address }: { address: string }): string =>
  isTron(chain) ? address : address.toLowerCase();

/** The tokens of a chain, at their present or future addresses, whether or not its node has ever run. Pure. */
export const tokensOf = (chain: { code: string; tokens: readonly TokenSpec[] }): DeployedToken[] =>
  deploymentsOf(chain.code, chain.tokens, getAddress(walletAddress('faucet'))).map((one) => deployed(chain.code, one));

/**
 * Deploys missing tokens; deploying twice changes nothing.
 *
 * The first account of the node's mnemonic pays, the second holds the whole supply.
 *
 * @returns one per spec, in their order, addresses with checksum
 */
export async function deployTokens(node: SandboxNode, specs: readonly TokenSpec[]): Promise<DeployedToken[]> {
  const [deployer, faucet] = await call<Hex[]>(node.rpcUrl, 'eth_accounts');
  if (deployer === undefined || faucet === undefined) throw new Unavailable('anvil', 'it has no accounts of its own');
  const wanted = deploymentsOf(node.code, specs, faucet);
  const isThere = async (address: Hex) => (await call<Hex>(node.rpcUrl, 'eth_getCode', [address, 'latest'])) !== '0x';

  let sent = 0;
  for (const { address, data } of wanted) {
    if (await isThere(address)) continue;
    await call(node.rpcUrl, 'eth_sendTransaction', [{ from: deployer, to: FACTORY, data, gas: '0x2dc6c0' }]);
    sent++;
  }
  if (sent > 0) await node.mine();
  for (const { spec, address } of wanted) {
    if (!(await isThere(address)))
      throw new Unavailable('anvil', `token ${spec.code} was not deployed on ${node.code}`);
  }
  return wanted.map((one) => deployed(node.code, one));
}
