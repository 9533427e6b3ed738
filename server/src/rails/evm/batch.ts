/**
 * Encoding of batch sweeps on an EVM chain: one transaction of the paying wallet moves tokens from many deposit addresses to it (EIP-7702).
 *
 * Each address has authorized the sweeper contract (Sweeper.sol), in the same transaction or in an earlier one. An authorization
 * uses a nonce of the address. Which addresses need one is stored with the send (`body`), so all its versions have the same.
 *
 * A call inside the transaction may fail, or reach an address that is not delegated, and the transaction succeeds all the same.
 * Only the token's logs tell what has moved.
 *
 * Not here: preparing and signing a batch (batch.sends.ts).
 */
import type { Call } from '../chain.adapter.ts';

/** First four bytes of keccak256('sweep(address,uint256,bytes32[])'). */
const SELECTOR = 'b1e8fa16';
const WORD = 64;
/** What an item can hold: 12 bytes. */
const MOST_UNITS = 2n ** 96n;

/** Gas limits, with room: unused gas is not charged. The call data of an item at its highest price, and the loop around its call. */
const BASE_GAS = 60_000n;
const ITEM_GAS = 5_000n;
const AUTHORIZATION_GAS = 25_000n;
/** Gas for one transfer: a token behind a proxy that checks a list of blocked accounts used 14,600 (decision 100). */
export const GAS_EACH = 60_000n;
/** At most 16.7 million gas fit in one transaction (EIP-7825): this many are 9 million. */
const MOST = 100;

export interface BatchOptions {
  /** Our Sweeper contract on this chain, in lower case. */
  sweeper: string;
  /** Deposits in one transaction, at most 100. */
  most?: number;
}

/** One deposit address of a batch, and what is moved from it. */
export interface BatchMove {
  address: string;
  units: bigint;
}

const word = (value: bigint): string => value.toString(16).padStart(WORD, '0');

export const mostOf = ({ most = MOST }: BatchOptions): number => Math.min(most, MOST);

export function batchCall(sweeper: string, contract: string, moves: readonly BatchMove[]): Call | { rejected: string } {
  if (moves.some(({ units }) => units <= 0n || units >= MOST_UNITS)) return { rejected: 'an amount that does not fit' };
  const items = moves.map(({ address, units }) => address.slice(2) + units.toString(16).padStart(24, '0')).join('');
  // The list begins after the three words of the head.
  const head = word(BigInt(contract)) + word(GAS_EACH) + word(96n) + word(BigInt(moves.length));
  return { target: sweeper, data: Buffer.from(SELECTOR + head + items, 'hex'), value: 0n };
}

/** Reads exactly what `batchCall` writes; undefined for any other call data. */
export function batchMoves(data: Buffer): { contract: string; moves: BatchMove[] } | undefined {
  const text = data.toString('hex');
  if (!text.startsWith(SELECTOR) || (text.length - SELECTOR.length) % WORD !== 0) return undefined;
  const words = text.slice(SELECTOR.length).match(/.{64}/g) ?? [];
  const [contract = '', gasEach, offset, length, ...items] = words;
  if (!contract.startsWith('0'.repeat(24)) || gasEach !== word(GAS_EACH) || offset !== word(96n)) return undefined;
  if (length !== word(BigInt(items.length)) || items.length === 0) return undefined;
  const moves = items.map((item) => ({ address: `0x${item.slice(0, 40)}`, units: BigInt(`0x${item.slice(40)}`) }));
  return { contract: `0x${contract.slice(24)}`, moves };
}

/** A deposit address that delegates in a send, and the nonce that this uses. */
export interface Delegating {
  index: bigint;
  nonce: bigint;
}

export const bodyOf = (all: readonly Delegating[]): Buffer =>
  Buffer.from(JSON.stringify({ authorize: all.map(({ index, nonce }) => [String(index), String(nonce)]) }));

/** @param body as stored; null for a send that is no batch */
export function delegatingIn(body: Buffer | null): Delegating[] {
  if (body === null) return [];
  const { authorize } = JSON.parse(body.toString()) as { authorize: [index: string, nonce: string][] };
  return authorize.map(([index, nonce]) => ({ index: BigInt(index), nonce: BigInt(nonce) }));
}

/** The gas that a batch may use. */
export const gasOf = (moves: number, authorizations: number): bigint =>
  BASE_GAS + BigInt(moves) * (GAS_EACH + ITEM_GAS) + BigInt(authorizations) * AUTHORIZATION_GAS;
