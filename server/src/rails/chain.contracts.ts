/**
 * Which of a chain's assets its transfers can show, by the contract that they name.
 */
import { type ChainAdapter, NATIVE } from './chain.adapter.ts';
import type { ChainAsset } from './chain.addresses.store.ts';

/** Codes of the assets by contract; includes native coin if blocks show each of its movements. */
export const contractsOf = (
  { showsNative = false }: Pick<ChainAdapter, 'showsNative'>,
  assets: readonly ChainAsset[],
): Map<string, string> =>
  new Map(
    assets.flatMap(({ contract, native, code }): [string, string][] =>
      contract !== null ? [[contract, code]] : native && showsNative ? [[NATIVE, code]] : [],
    ),
  );
