/**
 * The proof of control over a wallet as typed data (EIP-712), for wallets that show fields instead of a text.
 *
 * The message has the same text that is signed by EIP-191, and the wallet's address. The domain names this use and the chain, so the
 * signature proves nothing on another chain, and no other program's typed data proves anything here. There is no contract that
 * verifies it, so the domain names none.
 */
import { verifyTypedData } from 'viem/utils';

type Hex = `0x${string}`;

/** The typed data that the key of an address signs, as `eth_signTypedData_v4` takes it. */
export const walletProof = (chainId: bigint, address: Hex, text: string) =>
  ({
    domain: { name: 'Travel rule wallet proof', version: '1', chainId },
    types: {
      WalletProof: [
        { name: 'statement', type: 'string' },
        { name: 'wallet', type: 'address' },
      ],
    },
    primaryType: 'WalletProof',
    message: { statement: text, wallet: address },
  }) as const;

/** Whether the key of the address signed the proof with this text. Pure; never true for a contract, which has no key. */
export const isTypedSignedBy = async (chainId: bigint, address: Hex, text: string, signature: Hex): Promise<boolean> =>
  await verifyTypedData({ ...walletProof(chainId, address, text), address, signature }).catch(() => false);
