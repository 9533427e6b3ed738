/**
 * Wallets of the sandbox, all from one published test phrase, so that a developer can open each in a wallet program. They
 * never hold anything of value, and production does not use them.
 */
import { pbkdf2Sync } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { addressOfPublicKey } from '../rails/evm/index.ts';

export const MNEMONIC = 'test test test test test test test test test test test junk';

/** Accounts of the phrase by their use in the sandbox; the node funds each with the native asset. */
const ACCOUNTS = { deployer: 0, faucet: 1, hot: 2, customer: 3 } as const;

export type SandboxWallet = keyof typeof ACCOUNTS;

/** BIP-39 seed by OpenSSL: 2,048 rounds in JavaScript would add a fifth of a second to every start. */
const root = HDKey.fromMasterSeed(pbkdf2Sync(MNEMONIC, 'mnemonic', 2_048, 64, 'sha512'));

/** 32 bytes as hex with 0x. */
export function privateKey(wallet: SandboxWallet): string {
  const key = root.derive(`m/44'/60'/0'/0/${ACCOUNTS[wallet]}`).privateKey;
  return `0x${Buffer.from(key ?? []).toString('hex')}`;
}

export function walletAddress(wallet: SandboxWallet): string {
  return addressOf(ACCOUNTS[wallet]);
}

/** Extended private key of the deposit addresses, for sweeps. Only the signer uses it. */
export const depositXprv = (): string => root.derive(`m/44'/60'/1'`).privateExtendedKey;

/** Account of the phrase for people and programs that pay by themselves; the server never signs with it. */
export const VISITOR_ACCOUNT = 4;

export const visitorAddress = (): string => addressOf(VISITOR_ACCOUNT);

const addressOf = (account: number): string =>
  addressOfPublicKey(root.derive(`m/44'/60'/0'/0/${account}`).publicKey ?? new Uint8Array());
