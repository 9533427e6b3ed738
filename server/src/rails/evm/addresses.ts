/**
 * Addresses: where customers pay, from an extended public key (BIP-32), and how addresses are written.
 *
 * The key given is the account's external chain (for example m/44'/60'/0'/0), and address `index` is its child of that
 * number. Only the public half is here, so the process that watches cannot spend.
 *
 * Inside, an address is lower case; EIP-55 capitals are for showing and for catching typing errors on the way in.
 */
import { ECDH } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3';
import { HDKey } from '@scure/bip32';
import { assert } from '../../base/errors.ts';

/** Unhardened children end here (BIP-32). */
const INDEXES = 2n ** 31n;

/** @param xpub extended public key; a private one is refused, because it must not be where this runs */
export function addressesOf(xpub: string): (index: bigint) => string {
  const parent = HDKey.fromExtendedKey(xpub);
  assert(parent.privateKey === null, 'deposit addresses come from an extended public key, never from a private one');
  return (index) => {
    assert(index >= 0n && index < INDEXES, 'a deposit index is between 0 and 2^31');
    const child = parent.deriveChild(Number(index));
    assert(child.publicKey, 'a derived key has a public half');
    return addressOfPublicKey(child.publicKey);
  };
}

/** The last 20 bytes of the Keccak-256 of the uncompressed point. */
export function addressOfPublicKey(publicKey: Uint8Array): string {
  // Its second half is a square root: OpenSSL takes a fiftieth of the time that JavaScript does.
  const point = ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer;
  return `0x${Buffer.from(keccak_256(point.subarray(1)).subarray(12)).toString('hex')}`;
}

/** EIP-55: a letter is a capital where the hash of the address has a nibble of 8 or more. */
export function checksummed(address: string): string {
  const digits = address.slice(2).toLowerCase();
  const hash = Buffer.from(keccak_256(Buffer.from(digits, 'ascii'))).toString('hex');
  return `0x${[...digits].map((digit, at) => (Number.parseInt(hash[at] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit)).join('')}`;
}

/**
 * Reads an address as people write it.
 *
 * @returns lower case, or undefined where it is none: wrong length, wrong capitals, or the zero address, which nobody has
 */
export function readAddress(text: string): string | undefined {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined;
  const lower = text.toLowerCase();
  if (/^0x0{40}$/.test(lower)) return undefined;
  const digits = text.slice(2);
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return oneCase || checksummed(text) === text ? lower : undefined;
}
