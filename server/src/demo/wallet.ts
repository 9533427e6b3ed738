/**
 * A customer's wallet: one account of the sandbox's test phrase that sends tokens by JSON-RPC, as any wallet would.
 */
import { createPublicClient, createWalletClient, encodeFunctionData, erc20Abi, http } from 'viem';
import { generatePrivateKey, mnemonicToAccount, privateKeyToAccount } from 'viem/accounts';
import { MNEMONIC, VISITOR_ACCOUNT } from '../sandbox/wallets.ts';

/**
 * @param units smallest units of the token
 * @returns the transaction's hash, once the node has it
 */
export async function sendTokens(
  chain: { rpcUrl: string; chainId: number },
  transfer: { token: string; to: string; units: bigint },
): Promise<string> {
  const account = mnemonicToAccount(MNEMONIC, { addressIndex: VISITOR_ACCOUNT });
  const transport = http(chain.rpcUrl, { timeout: 10_000, retryCount: 10 });
  const nativeCurrency = { name: 'native', symbol: 'NAT', decimals: 18 };
  const described = {
    id: chain.chainId,
    name: 'sandbox',
    nativeCurrency,
    rpcUrls: { default: { http: [chain.rpcUrl] } },
  };
  const nonce = await createPublicClient({ transport, chain: described }).getTransactionCount({
    address: account.address,
    blockTag: 'pending',
  });
  return await createWalletClient({ account, transport, chain: described }).sendTransaction({
    nonce,
    to: transfer.token as `0x${string}`,
    data: encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [transfer.to as `0x${string}`, transfer.units],
    }),
  });
}

/** A newly generated address. */
export const newAddress = (): string => privateKeyToAccount(generatePrivateKey()).address;

/** Token balance of an address, smallest units. */
export async function tokensOf(chain: { rpcUrl: string }, token: string, owner: string): Promise<bigint> {
  const client = createPublicClient({ transport: http(chain.rpcUrl, { timeout: 10_000, retryCount: 10 }) });
  const input = {
    address: token as `0x${string}`,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [owner as `0x${string}`],
  } as const;
  return await client.readContract(input);
}
