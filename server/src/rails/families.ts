/** The list of chain families. registry.ts passes it on to the server; the signer, which needs no database, reads it here. */
import { evmFamily } from './evm/index.ts';
import { tronFamily } from './tron/index.ts';

export type { ChainSigning, RawKeys, RawSigner, RawWanted } from './signing.ts';

/** Families of a chain in the chains file; the first is the default. */
export const CHAIN_FAMILIES = [
  evmFamily,
  tronFamily,
  // A family of chains: one line here.
] as const;
