/** EVM chains as rails (adapter.ts), and as the chains file names them (family.ts). */

export type { SignedBefore } from '../chain.adapter.ts';
export { evmAdapter, evmRail } from './adapter.ts';
export { addressesOf, addressOfPublicKey } from './addresses.ts';
export { batchMoves, type Delegating } from './batch.ts';
export { evmChain, evmFamily } from './family.ts';
export type { EvmOptions } from './options.ts';
export {
  type Asked,
  depositKey,
  localSigner,
  movedBy,
  refusalOf,
  type SignedTransfer,
  type Signer,
  signingWith,
  sweepSigner,
  type Unsigned,
  type Wanted,
} from './signer.ts';
export { sweeperCode } from './sweeper.ts';
