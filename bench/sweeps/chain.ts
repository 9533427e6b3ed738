/**
 * The chain of the study: a node that mines when told to, funded customers, the hot wallet, and deposit addresses with known keys.
 */

import type { Abi } from 'viem';
import { type HDAccount, mnemonicToAccount } from 'viem/accounts';
import { encodeDeployData, encodeFunctionData, getContractAddress } from 'viem/utils';
import sweeper from '../../server/src/rails/evm/Sweeper.artifact.json' with { type: 'json' };
import plain from '../../server/src/sandbox/TestToken.artifact.json' with { type: 'json' };
import { ANVIL_FIRST, ANVIL_MNEMONIC, type Anvil, type Hex, startAnvil } from '../../server/test/support/anvil.ts';
import study from './study.artifact.json' with { type: 'json' };

export const HOT = mnemonicToAccount(ANVIL_MNEMONIC, { addressIndex: 5 });
const ETHER = 10n ** 18n;
/** Units of each deposit: a usual amount of a token with six decimals, in four bytes. */
export const UNITS = 250_000_000n;
/** More than any batch here uses; a transaction may use 2^24 from the Osaka fork on. */
const GAS = 16_000_000n;
const FEE = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

export type Study = keyof typeof study.contracts;
export interface Contract {
  address: Hex;
  abi: Abi;
}

export interface Owner {
  account: HDAccount;
  /** Transactions and authorizations of the address so far. */
  nonce: number;
}

export type Authorization = Awaited<ReturnType<NonNullable<HDAccount['signAuthorization']>>>;

export interface Sent {
  from: Owner;
  to: Hex;
  data?: Hex;
  value?: bigint;
  authorizations?: Authorization[];
}

/** Of one or more transactions. */
export interface Cost {
  gas: number;
  bytes: number;
}

export type Chain = Awaited<ReturnType<typeof openChain>>;

export async function openChain() {
  const anvil = await startAnvil();
  const hot: Owner = { account: HOT, nonce: 0 };
  let next = 1_000;

  /** Sends the transactions and mines them in one block. @throws if one fails */
  async function mined(all: readonly Sent[]): Promise<Cost> {
    const hashes: string[] = [];
    let bytes = 0;
    for (const { from, to, data, value, authorizations } of all) {
      const common = {
        ...FEE,
        chainId: Number(anvil.chainId),
        nonce: from.nonce,
        to,
        gas: gasFor(from),
        ...(data && { data }),
        ...(value && { value }),
      };
      const raw = await (authorizations === undefined
        ? from.account.signTransaction({ ...common, type: 'eip1559' })
        : from.account.signTransaction({ ...common, type: 'eip7702', authorizationList: authorizations }));
      hashes.push(await anvil.rpc<string>('eth_sendRawTransaction', [raw]));
      from.nonce += 1;
      bytes += (raw.length - 2) / 2;
    }
    return { gas: await usedBy(anvil, hashes), bytes };
  }
  /** A deposit address can pay for no more than the gas sent ahead. */
  const gasFor = (from: Owner): bigint => (from === hot ? GAS : 100_000n);

  async function deployed(of: { abi: unknown; bytecode: string }, args: unknown[] = []): Promise<Contract> {
    const abi = of.abi as Abi;
    const nonce = BigInt(await anvil.rpc<string>('eth_getTransactionCount', [ANVIL_FIRST, 'pending']));
    await anvil.send({ data: encodeDeployData({ abi, bytecode: of.bytecode as Hex, args }) });
    await anvil.mine();
    const address = getContractAddress({ from: ANVIL_FIRST, nonce }).toLowerCase() as Hex;
    if ((await anvil.rpc('eth_getCode', [address, 'latest'])) === '0x') throw new Error('a contract was not deployed');
    return { address, abi };
  }

  const chain = {
    anvil,
    hot,
    chainId: Number(anvil.chainId),
    mined,
    deploy: (name: Study, args: unknown[] = []) => deployed(study.contracts[name], args),
    deploySweeper: () => deployed(sweeper, [HOT.address]),
    deployPlain: () => deployed(plain, ['Plain', 'PLN', 6, 10n ** 24n, ANVIL_FIRST]),
    /** Addresses that the chain has never seen. */
    owners(count: number): Owner[] {
      next += count;
      return Array.from({ length: count }, (_, at) => ({
        account: mnemonicToAccount(ANVIL_MNEMONIC, { addressIndex: next - count + at }),
        nonce: 0,
      }));
    },
    /** A customer pays each of these addresses. */
    async pay(token: Contract, to: readonly Hex[], units = UNITS): Promise<void> {
      for (const address of to)
        await anvil.send({ to: token.address, data: call(token, 'transfer', [address, units]) });
      await anvil.mine();
    },
    async balance(token: Contract, of: Hex): Promise<bigint> {
      return BigInt(
        await anvil.rpc<string>('eth_call', [{ to: token.address, data: call(token, 'balanceOf', [of]) }, 'latest']),
      );
    },
    read: (to: Contract, name: string) =>
      anvil.rpc<Hex>('eth_call', [{ to: to.address, data: call(to, name, []) }, 'latest']),
    /** An address's consent to run a contract's code, which uses one of its nonces. */
    async authorized(
      { account, nonce }: Owner,
      { address }: Contract,
      chainId = Number(anvil.chainId),
    ): Promise<Authorization> {
      if (account.signAuthorization === undefined) throw new Error('an account cannot authorize');
      return await account.signAuthorization({ address, chainId, nonce });
    },
    codeOf: (address: Hex) => anvil.rpc<Hex>('eth_getCode', [address, 'latest']),
    stop: () => anvil.stop(),
  };
  await anvil.rpc('anvil_setBalance', [HOT.address, `0x${(1_000n * ETHER).toString(16)}`]);
  return chain;
}

export const call = ({ abi }: Contract, functionName: string, args: unknown[]): Hex =>
  encodeFunctionData({ abi, functionName, args });

async function usedBy(anvil: Anvil, hashes: readonly string[]): Promise<number> {
  await anvil.mine();
  let used = 0;
  for (const hash of hashes) {
    const receipt = await anvil.rpc<{ status: string; gasUsed: string } | null>('eth_getTransactionReceipt', [hash]);
    if (receipt?.status !== '0x1') throw new Error(`${hash} ${receipt === null ? 'is in no block' : 'failed'}`);
    used += Number(receipt.gasUsed);
  }
  return used;
}
