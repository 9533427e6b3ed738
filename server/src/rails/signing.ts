/**
 * The signer's part of a chain family: how it reads the limits of such a chain, and the bytes that it is asked to sign. The signer
 * (../signer/) decides and keeps the keys; nothing here does.
 *
 * Every family is shown to the policy in one form: accounts of 20 bytes, as lower-case hex with `0x`, and the calls of EVM tokens.
 */

/** A transaction that is signed as bytes, read strictly from them: the signature covers only their content. */
export interface RawTransfer {
  /** Account of the wallet that pays. */
  readonly owner: string;
  readonly target: string;
  readonly data: Buffer;
  readonly value: bigint;
  /** Maximum cost, in native units. */
  readonly feeUnits: bigint;
  /** Hash of the transaction, which takes the place of a nonce. */
  readonly tx: string;
}

/** How a family without nonces has its transactions signed. */
export interface RawSigning {
  /** @returns the transfer, or why such bytes are never signed */
  read(rawData: Buffer, nowMs: number): RawTransfer | { refused: string };
  /** Signs without any check: the caller has decided. @param privateKey 32 bytes as hex with `0x` */
  sign(privateKey: string, rawData: Buffer): Buffer;
}

export interface ChainSigning {
  /** The account of an address in the limits file; undefined if the text is no address of the family. */
  readAccount(text: string): string | undefined;
  /** Whether the limits of such a chain may list a Sweeper contract. */
  readonly hasSweeper: boolean;
  /** Of a family without nonces; the transactions of the others are signed field by field, under a nonce. */
  readonly raw?: RawSigning;
}

/** A transfer as a signer in another process is asked about it, before it is built. */
export interface RawWanted {
  /** Account. */
  readonly target: string;
  readonly data: Buffer;
  readonly value: bigint;
  /** Maximum cost, in native units. */
  readonly feeUnits: bigint;
  /** Index of the deposit address that is paid, if it is one of ours. */
  readonly depositIndex?: bigint | undefined;
}

/** A key in the signer's process, on a chain without nonces. */
export interface RawSigner {
  /** Why this would not be signed; undefined if it would. @throws NotSigned */
  refuses(wanted: RawWanted): Promise<string | undefined>;
  /** @returns the signature: r, s, v. @throws NotSigned */
  sign(rawData: Buffer, depositIndex: bigint | undefined): Promise<Buffer>;
}

/** Keys in the signer's process, by wallet and by the index of a deposit address. */
export interface RawKeys {
  rawWallet(chainId: bigint, name: string): RawSigner;
  rawDeposits(chainId: bigint): (index: bigint) => RawSigner;
}
