/** Balances on an EVM chain, now or at a block, and whether an address is a contract. */
import type { Block } from '../chain.adapter.ts';
import { readBlock } from './blocks.ts';
import { ask, type Evm, hex, refusedIsUnavailable } from './node.ts';
import { hexOf, Malformed, orUnavailable, quantity, RpcError } from './rpc.ts';
import { encodeBalanceOf } from './transfers.ts';

export async function balances(evm: Evm, contract: string | null, addresses: readonly string[]): Promise<bigint[]> {
  if (contract === null)
    return await ask(
      evm,
      'eth_getBalance',
      addresses.map((one) => [one, 'latest']),
      (units) => quantity(units, 'balance'),
    );
  return await ask(
    evm,
    'eth_call',
    addresses.map((one) => [{ to: contract, data: encodeBalanceOf(one) }, 'latest']),
    (units) => BigInt(hexOf(units, 32, 'balanceOf')),
  );
}

export async function nativeBalancesAt(
  evm: Evm,
  block: Block,
  addresses: readonly string[],
): Promise<bigint[] | undefined> {
  const { code, rpc } = evm;
  const answers = await refusedIsUnavailable(evm, () =>
    rpc.batch([
      { method: 'eth_getBlockByNumber', params: [hex(block.number), false] },
      ...addresses.map((one) => ({ method: 'eth_getBalance', params: [one, hex(block.number)] })),
    ]),
  );
  if (answers.some((answer, at) => at > 0 && answer instanceof RpcError)) return undefined;
  return orUnavailable(code, () => {
    if (readBlock(answers[0]).hash !== block.hash) throw new Malformed('balances of another branch');
    return answers.slice(1).map((units) => quantity(units, 'balance'));
  });
}

export async function balancesAt(
  evm: Evm,
  block: bigint,
  contract: string | null,
  addresses: readonly string[],
): Promise<bigint[] | undefined> {
  const { code, rpc } = evm;
  const calls = addresses.map((one) =>
    contract === null
      ? { method: 'eth_getBalance', params: [one, hex(block)] }
      : { method: 'eth_call', params: [{ to: contract, data: encodeBalanceOf(one) }, hex(block)] },
  );
  const answers = await refusedIsUnavailable(evm, () => rpc.batch(calls));
  if (answers.some((answer) => answer instanceof RpcError)) return undefined;
  return orUnavailable(code, () =>
    answers.map((units) => {
      if (contract === null) return quantity(units, 'balance');
      // The contract did not exist at that block.
      return units === '0x' ? 0n : BigInt(hexOf(units, 32, 'balanceOf'));
    }),
  );
}

/**
 * Whether an address is a contract. An account that delegates to a contract's code (EIP-7702) still belongs to its owner, so it
 * does not count as a contract.
 */
export async function hasCode(evm: Evm, address: string): Promise<boolean> {
  const [is] = await ask(evm, 'eth_getCode', [[address, 'latest']], (answer) => {
    if (typeof answer !== 'string') throw new Malformed('code');
    return answer !== '0x' && !answer.startsWith('0xef0100');
  });
  return is === true;
}
