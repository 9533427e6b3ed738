/**
 * Accounts of secp256k1 keys, as EVM chains and Tron use them: the last 20 bytes of the hash of a public key, also for the
 * children of an extended public key (BIP-32). Each family has its own spelling. The extended key is that of an external chain
 * (for example m/44'/60'/0'/0), and account `index` is its child of that number. Only public keys are used here, so the process
 * that watches cannot spend.
 */
import { createHmac, ECDH } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1';
import { keccak_256 } from '@noble/hashes/sha3';
import { HDKey } from '@scure/bip32';
import { assert } from '../base/errors.ts';

/** Number of unhardened children (BIP-32). */
const INDEXES = 2n ** 31n;

/**
 * A child is the parent's point plus the generator times a hash of parent and number. Here the parent's point is computed once
 * and the child's is never compressed; the library's own `deriveChild` does both each time. So an address takes little more than
 * half the time. (`multiplyUnsafe` of the generator would be faster, but is wrong in @noble/curves 1.9.1.)
 *
 * @param xpub extended public key; a private one is rejected, because it must not be in this process
 */
export function accountsOf(xpub: string): (index: bigint) => string {
  const made = derivers.get(xpub) ?? remembering(deriver(xpub));
  derivers.set(xpub, made);
  return made;
}

/** One key serves all chains of its family, and each chain needs the same addresses repeatedly. */
const derivers = new Map<string, (index: bigint) => string>();
/** About ten megabytes. The oldest ones are evicted first. */
const MOST_REMEMBERED = 50_000;

function remembering(derive: (index: bigint) => string): (index: bigint) => string {
  const known = new Map<bigint, string>();
  return (index) => {
    const address = known.get(index) ?? derive(index);
    known.set(index, address);
    if (known.size > MOST_REMEMBERED) known.delete(known.keys().next().value ?? index);
    return address;
  };
}

function deriver(xpub: string): (index: bigint) => string {
  const { privateKey, publicKey, chainCode } = HDKey.fromExtendedKey(xpub);
  assert(privateKey === null, 'deposit addresses come from an extended public key, never from a private one');
  assert(publicKey !== null && chainCode !== null, 'an extended public key has no public key or no chain code');
  const parent = Point.fromHex(publicKey);
  return (index) => {
    assert(index >= 0n && index < INDEXES, 'a deposit index is not between 0 and 2^31');
    const number = Buffer.alloc(4);
    number.writeUInt32BE(Number(index));
    const hash = createHmac('sha512', chainCode).update(publicKey).update(number).digest('hex');
    const tweak = BigInt(`0x${hash.slice(0, 64)}`);
    // In that case BIP-32 continues with the next number. No such case is known.
    assert(tweak > 0n && tweak < secp256k1.CURVE.n, 'a child key is invalid');
    return accountOfPoint(Point.BASE.multiply(tweak).add(parent).toRawBytes(false));
  };
}

const Point = secp256k1.ProjectivePoint;

/** The last 20 bytes of the Keccak-256 of the uncompressed point. */
const accountOfPoint = (point: Uint8Array): string =>
  `0x${Buffer.from(keccak_256(point.subarray(1)).subarray(12)).toString('hex')}`;

/**
 * The account of a compressed public key. Decompressing takes a square root, for which OpenSSL needs a fiftieth of JavaScript's
 * time.
 */
export const accountOfPublicKey = (publicKey: Uint8Array): string =>
  accountOfPoint(ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer);
