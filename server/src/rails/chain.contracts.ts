/** The assets of a chain that its transfers can show, by the contract that a transfer names. */
import { type ChainAdapter, NATIVE } from './chain.adapter.ts';
import type { ChainAsset } from './chain.addresses.store.ts';

/** Codes of the assets by contract. Includes the native asset if blocks show each of its movements. */
export const contractsOf = (
  { showsNative = false }: Pick<ChainAdapter, 'showsNative'>,
  assets: readonly ChainAsset[],
): Map<string, string> =>
  new Map(
    assets.flatMap(({ contract, native, code }): [string, string][] =>
      contract !== null ? [[contract, code]] : native && showsNative ? [[NATIVE, code]] : [],
    ),
  );
