/**
 * Addresses: the spelling of accounts on EVM chains (../secp256k1.ts).
 *
 * Internally an address is lower case; EIP-55 capitals are for display and for catching typing errors in input.
 */
import { keccak_256 } from '@noble/hashes/sha3';

export { accountOfPublicKey as addressOfPublicKey, accountsOf as addressesOf } from '../secp256k1.ts';

/** EIP-55: a letter is a capital where the corresponding nibble of the address's hash is 8 or more. */
export function checksummed(address: string): string {
  const digits = address.slice(2).toLowerCase();
  const hash = Buffer.from(keccak_256(Buffer.from(digits, 'ascii'))).toString('hex');
  return `0x${[...digits].map((digit, at) => (Number.parseInt(hash[at] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit)).join('')}`;
}

/**
 * Parses an address.
 *
 * @returns lower case, or undefined when invalid: wrong length, wrong capitals, or the zero address, which has no owner
 */
export function readAddress(text: string): string | undefined {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined;
  const lower = text.toLowerCase();
  if (/^0x0{40}$/.test(lower)) return undefined;
  const digits = text.slice(2);
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return oneCase || checksummed(text) === text ? lower : undefined;
}
