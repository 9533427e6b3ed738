/**
 * The customer's wallet of the bench: an account of the sandbox's test phrase that the server never signs with. It sends tokens
 * straight to the chain's node, so the server's books and CPU time include nothing of the payer.
 *
 * Nonces are counted here, because many payments are under way at once. Gas and fee are fixed and ample.
 */
import { encodeFunctionData, erc20Abi } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { MNEMONIC, VISITOR_ACCOUNT } from '../server/src/sandbox/wallets.ts';
import type { Ours } from './ours.ts';

const GAS = 100_000n;
const FEE = { maxFeePerGas: 50_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

export interface Payer {
  /** @param amount whole tokens, as text with at most as many decimals as the token has; resolves once the node has it */
  pay(to: string, amount: string): Promise<void>;
}

/** @param coin a token of the chain, by its code in sandbox.json */
export async function openPayer(ours: Pick<Ours, 'chains'>, chain: string, coin: string): Promise<Payer> {
  const listed = ours.chains.find(({ code }) => code === chain);
  const token = listed?.tokens.find(({ code }) => code === coin);
  if (listed === undefined || token === undefined) throw new Error(`the sandbox has no ${coin} on ${chain}`);
  const account = mnemonicToAccount(MNEMONIC, { addressIndex: VISITOR_ACCOUNT });
  const rpc = rpcOf(listed.rpcUrl);
  let nonce = Number(await rpc('eth_getTransactionCount', [account.address, 'pending']));
  return {
    async pay(to, amount) {
      const [whole = '', decimals = ''] = amount.split('.');
      const units = BigInt(whole + decimals.padEnd(token.decimals, '0'));
      const args = [to as `0x${string}`, units] as const;
      const signed = {
        ...FEE,
        type: 'eip1559',
        chainId: listed.chainId,
        gas: GAS,
        to: token.address as `0x${string}`,
        data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }),
        nonce: nonce++,
      } as const;
      await rpc('eth_sendRawTransaction', [await account.signTransaction(signed)]);
    },
  };
}

const rpcOf =
  (url: string) =>
  async (method: string, params: readonly unknown[]): Promise<string> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const reply = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const { result, error } = (await reply.json()) as { result?: string; error?: { message: string } };
    if (result === undefined) throw new Error(`${method} answered: ${error?.message ?? reply.status}`);
    return result;
  };
