/** What the follower's pair and its node agree on. */
export interface Shape {
  blocks: number;
  /** How many transfers go to one of our addresses, each to another. */
  ours: number;
  /** How many addresses are watched. */
  watched: number;
  xpub: string;
}

export const TRANSFERS_IN_A_BLOCK = 10;
export const CHAIN_ID = 4_343;
export const TOKEN = '0x00000000000000000000000000000000000070c3';
