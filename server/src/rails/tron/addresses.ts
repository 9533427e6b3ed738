/**
 * Addresses: the spelling of accounts on Tron. An address is 0x41 and the 20 bytes of an account, followed by the first four
 * bytes of their double SHA-256, in Base58: `T` and 33 characters, case-sensitive. This spelling is the canonical one here; an
 * account appears as 20 bytes in hex only where a contract's words are written and read.
 */
import { createHash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1';
import { keccak_256 } from '@noble/hashes/sha3';
import { assert } from '../../base/errors.ts';
import { accountOfPublicKey, accountsOf } from '../secp256k1.ts';

const PREFIX = 0x41;
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** Bytes of prefix, account and checksum. */
const LENGTH = 25;

export const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

const checksumOf = (payload: Uint8Array): Buffer => sha256(sha256(payload)).subarray(0, 4);

/** @param account 20 bytes as hex with `0x` */
export function addressOf(account: string): string {
  assert(/^0x[0-9a-f]{40}$/.test(account), 'an account is not 20 bytes in lower-case hex');
  const payload = Buffer.concat([Buffer.from([PREFIX]), Buffer.from(account.slice(2), 'hex')]);
  let rest = BigInt(`0x${Buffer.concat([payload, checksumOf(payload)]).toString('hex')}`);
  let text = '';
  for (; rest > 0n; rest /= 58n) text = ALPHABET[Number(rest % 58n)] + text;
  return text;
}

/** The 20 bytes of an address that `readAddress` has accepted. @returns hex with `0x` */
export function accountOf(address: string): string {
  const account = accountIn(address);
  assert(account !== undefined, 'an address of Tron is not in its canonical spelling');
  return account;
}

function accountIn(text: string): string | undefined {
  if (!/^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(text)) return undefined;
  let value = 0n;
  for (const letter of text) value = value * 58n + BigInt(ALPHABET.indexOf(letter));
  const hex = value.toString(16).padStart(LENGTH * 2, '0');
  if (hex.length !== LENGTH * 2) return undefined;
  const bytes = Buffer.from(hex, 'hex');
  const payload = bytes.subarray(0, 21);
  if (payload[0] !== PREFIX || !checksumOf(payload).equals(bytes.subarray(21))) return undefined;
  return `0x${payload.subarray(1).toString('hex')}`;
}

/**
 * Parses an address.
 *
 * @returns the same text, or undefined when invalid: another spelling, a typing error, or the zero address, which has no owner
 */
export function readAddress(text: string): string | undefined {
  const account = accountIn(text);
  return account === undefined || /^0x0{40}$/.test(account) ? undefined : text;
}

/** Addresses of the children of an extended public key, like `accountsOf`. */
export function addressesOf(xpub: string): (index: bigint) => string {
  const accounts = accountsOf(xpub);
  return (index) => addressOf(accounts(index));
}

/** Whether the key of an address signed a text as wallets do (TIP-191). The signature is r, s and v as 65 bytes in hex. */
export function isSignedBy(address: string, text: string, signature: string): boolean {
  const bytes = Buffer.from(text, 'utf8');
  const prefixed = Buffer.concat([Buffer.from(`\x19TRON Signed Message:\n${bytes.length}`), bytes]);
  return signerOf(keccak_256(prefixed), Buffer.from(signature.replace(/^0x/, ''), 'hex')) === address;
}

/** The address whose key made a signature of a hash; undefined when the signature is invalid. */
export function signerOf(hash: Uint8Array, signature: Uint8Array): string | undefined {
  if (signature.length !== 65) return undefined;
  const recovery = (signature[64] ?? 0) % 27;
  if (recovery > 1) return undefined;
  try {
    const read = secp256k1.Signature.fromCompact(signature.slice(0, 64)).addRecoveryBit(recovery);
    return addressOf(accountOfPublicKey(read.recoverPublicKey(hash).toRawBytes(true)));
  } catch {
    return undefined;
  }
}
