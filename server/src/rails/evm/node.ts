/** One EVM chain for the functions in this folder: its options, its nodes, and batched queries. */
import { Unavailable } from '../../base/errors.ts';
import type { EvmOptions } from './options.ts';
import { orUnavailable, type Rpc, RpcError } from './rpc.ts';

export interface Evm {
  readonly code: string;
  readonly chainId: bigint;
  readonly options: EvmOptions;
  readonly rpc: Rpc;
  /** Deposit address by index. */
  readonly address: (index: bigint) => string;
}

/** Sends one batch of calls, whose answers `read` parses. An error answer or a wrong format throws Unavailable. */
export async function ask<T>(
  evm: Evm,
  method: string,
  params: unknown[][],
  read: (answer: unknown, at: number) => T,
): Promise<T[]> {
  const { code, rpc } = evm;
  const answers = await refusedIsUnavailable(evm, () => rpc.batch(params.map((one) => ({ method, params: one }))));
  return orUnavailable(code, () => answers.map(read));
}

export async function refusedIsUnavailable<T>(evm: Evm, work: () => Promise<T>): Promise<T> {
  const { code } = evm;
  try {
    return await work();
  } catch (error) {
    if (error instanceof RpcError) throw new Unavailable(code, `the node rejected: ${error.message}`, { cause: error });
    throw error;
  }
}

export const hex = (value: bigint): string => `0x${value.toString(16)}`;

export const lower = (a: bigint, b: bigint): bigint => (a < b ? a : b);
export const higher = (a: bigint, b: bigint): bigint => (a > b ? a : b);
