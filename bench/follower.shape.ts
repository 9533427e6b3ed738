/** Parameters that the follower's pair and its node share. */
export interface Shape {
  blocks: number;
  /** Number of transfers to our addresses, each to a different one. */
  ours: number;
  /** Number of watched addresses. */
  watched: number;
  xpub: string;
}

export const TRANSFERS_IN_A_BLOCK = 10;
export const CHAIN_ID = 4_343;
export const TOKEN = '0x00000000000000000000000000000000000070c3';
