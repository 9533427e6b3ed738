/**
 * Balances on Tron. A node knows them only at its newest block and at its newest solidified one. So a balance at a block is read
 * between two checks that this is still the newest block.
 */
import type { Block } from '../chain.adapter.ts';
import { encodeBalanceOf } from '../erc20.ts';
import { accountOf } from './addresses.ts';
import { amount, hexOf, list, Malformed, object, reading } from './http.ts';
import { each, type From, newestBlock, type Tron } from './node.ts';

export const balances = (tron: Tron, contract: string | null, addresses: readonly string[]): Promise<bigint[]> =>
  balancesFrom(tron, 'wallet', contract, addresses);

const balancesFrom = (
  tron: Tron,
  from: From,
  contract: string | null,
  addresses: readonly string[],
): Promise<bigint[]> =>
  each(addresses, (address) =>
    contract === null ? coinOf(tron, from, address) : tokensOf(tron, from, contract, address),
  );

/** An account that has never received native units does not exist, and its balance is zero. */
async function coinOf({ code, ask }: Tron, from: From, address: string): Promise<bigint> {
  const answer = await ask(`${from}/getaccount`, { address, visible: true });
  return reading(code, () => amount(object(answer, 'account').balance, 'balance'));
}

async function tokensOf({ code, ask }: Tron, from: From, contract: string, address: string): Promise<bigint> {
  const answer = await ask(`${from}/triggerconstantcontract`, {
    owner_address: address,
    contract_address: contract,
    data: encodeBalanceOf(accountOf(address)).slice(2),
    visible: true,
  });
  return reading(code, () => {
    const [word] = list(object(answer, 'call').constant_result, 'constant_result');
    if (word === '') throw new Malformed('balanceOf');
    return BigInt(`0x${hexOf(word, 32, 'balanceOf')}`);
  });
}

/** Native balances at a block, as long as it is the newest or the newest solidified one. */
export async function nativeBalancesAt(
  tron: Tron,
  block: Block,
  addresses: readonly string[],
): Promise<bigint[] | undefined> {
  const from = await whereNewest(tron, block);
  if (from === undefined) return undefined;
  const found = await balancesFrom(tron, from, null, addresses);
  return (await newestBlock(tron, from)).hash === block.hash ? found : undefined;
}

async function whereNewest(tron: Tron, { hash }: Block): Promise<From | undefined> {
  for (const from of ['walletsolidity', 'wallet'] as const)
    if ((await newestBlock(tron, from)).hash === hash) return from;
  return undefined;
}

/** Balances at a final block, as long as it is the newest solidified one. */
export async function balancesAt(
  tron: Tron,
  block: bigint,
  contract: string | null,
  addresses: readonly string[],
): Promise<bigint[] | undefined> {
  const isThere = async () => (await newestBlock(tron, 'walletsolidity')).number === block;
  if (!(await isThere())) return undefined;
  const found = await balancesFrom(tron, 'walletsolidity', contract, addresses);
  return (await isThere()) ? found : undefined;
}

/** Whether there is a contract at an address. */
export async function hasCode({ code, ask }: Tron, address: string): Promise<boolean> {
  const answer = await ask('wallet/getcontract', { value: address, visible: true });
  return reading(code, () => object(answer, 'contract').contract_address !== undefined);
}
