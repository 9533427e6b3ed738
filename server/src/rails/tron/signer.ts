/**
 * Signers of Tron: their interface, and signing. A signature is made over the SHA-256 of the transaction's bytes, with the same
 * key as on EVM chains.
 *
 * The decision to sign is made from the bytes alone (`decodeRawData`), with the same messages and limits as for a transfer on an
 * EVM chain: ../../signer/.
 */
import { secp256k1 } from '@noble/curves/secp256k1';
import { decodeTransferCall } from '../erc20.ts';
import type { RawKeys, RawSigner, RawTransfer } from '../signing.ts';
import { accountOf, addressesOf, addressOf, sha256, signerOf } from './addresses.ts';
import { decodeRawData, type RawData } from './protobuf.ts';

/** A transfer as it is shown to a signer before it is built. */
export interface TronWanted {
  target: string;
  data: Buffer;
  value: bigint;
  /** Maximum cost, in native units. */
  feeUnits: bigint;
  /** Index of the deposit address that is paid, if it is one of ours. */
  depositIndex?: bigint | undefined;
}

export interface TronSigner {
  readonly address: string;
  /**
   * Why this would not be signed; undefined if it would. @throws NotSigned if the keys are in another process that does not
   * answer
   */
  refuses(wanted: TronWanted): Promise<string | undefined>;
  /** @returns the signature: r, s, v. @throws NotSigned */
  sign(rawData: Buffer, depositIndex: bigint | undefined): Promise<Buffer>;
}

/** The signer of an address whose key is in the signer's process. */
export const tronSigner = (raw: RawSigner, address: string): TronSigner => ({
  address,
  refuses: ({ target, ...wanted }) => raw.refuses({ ...wanted, target: accountOf(target) }),
  sign: (rawData, depositIndex) => raw.sign(rawData, depositIndex),
});

/** Signers of the deposit addresses, by index. */
export function tronSweepSigner(
  keys: RawKeys,
  { chainId, xpub }: { chainId: bigint; xpub: string },
): (index: bigint) => TronSigner {
  const [signerAt, addressAt] = [keys.rawDeposits(chainId), addressesOf(xpub)];
  return (index) => tronSigner(signerAt(index), addressAt(index));
}

/** A transaction with a later expiration is not signed, so this bounds when a signed transaction can be included. */
export const LONGEST_MS = 10 * 60_000;

/** Native units burnt per byte of a transaction, and its bytes beyond the raw data: signature and frame. */
export const BYTE_PRICE = 1_000n;
const FRAME_BYTES = 135n;
/** Native units burnt if a native transfer opens an account: for the account, and for its bandwidth. */
export const NEW_ACCOUNT = 1_100_000n;

/** Maximum cost of a transaction: its limit for energy, its bytes, and an account that it may open. */
export const mostOf = ({ feeLimit, data }: Pick<RawData, 'feeLimit' | 'data'>, rawBytes: number): bigint =>
  feeLimit + (BigInt(rawBytes) + FRAME_BYTES) * BYTE_PRICE + (data.length === 0 ? NEW_ACCOUNT : 0n);

/** The transfer, read from the bytes to be signed. `contract` is null for the native asset. */
export function movedBy({
  target,
  data,
  value,
}: Pick<RawData, 'target' | 'data' | 'value'>): { contract: string | null; to: string; units: bigint } | string {
  if (data.length === 0) return { contract: null, to: target, units: value };
  if (value !== 0n) return 'native asset along with a token transfer';
  const transfer = decodeTransferCall(data);
  return transfer === undefined
    ? 'a call that is no transfer'
    : { contract: target, to: addressOf(transfer.to), units: transfer.units };
}

/** The transfer in the bytes, for the signer's decision; or why such bytes are never signed. */
export function readRaw(rawData: Buffer, nowMs: number): RawTransfer | { refused: string } {
  const raw = decodeRawData(rawData);
  if (raw === undefined) return { refused: 'bytes that are no transfer' };
  if (raw.expirationMs > BigInt(nowMs + LONGEST_MS)) return { refused: 'an expiration too far ahead' };
  const { owner, target, data, value } = raw;
  const feeUnits = mostOf(raw, rawData.length);
  return { owner: accountOf(owner), target: accountOf(target), data, value, feeUnits, tx: hashOf(rawData) };
}

/** The address whose key signed a transaction; undefined when the signature is invalid. */
export const tronSignerOf = (rawData: Buffer, signature: Buffer): string | undefined =>
  signerOf(sha256(rawData), signature);

/** The hash of a transaction, known before it is signed. */
export const hashOf = (rawData: Buffer): string => sha256(rawData).toString('hex');

/**
 * Signs without any check: the caller has decided that the transaction may be signed. @param privateKey 32 bytes as hex with `0x`
 */
export function signRawData(privateKey: string, rawData: Buffer): Buffer {
  const signature = secp256k1.sign(sha256(rawData), privateKey.slice(2));
  return Buffer.concat([signature.toCompactRawBytes(), Buffer.from([27 + signature.recovery])]);
}
