/** Tron as a rail (adapter.ts), and as the chains file names it (family.ts). */
export { tronRail } from './adapter.ts';
export { accountOf, addressesOf as tronAddressesOf, addressOf, readAddress as readTronAddress } from './addresses.ts';
export { tronChain, tronFamily } from './family.ts';
export type { TronOptions } from './node.ts';
export { decodeRawData, decodeTransaction, encodeRawData, type RawData } from './protobuf.ts';
export {
  hashOf,
  type TronSigner,
  type TronWanted,
  tronSigner,
  tronSignerOf,
  tronSweepSigner,
} from './signer.ts';
