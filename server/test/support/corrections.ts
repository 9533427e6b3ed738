/** The desk for corrections where a test has no rails. */
import type { Clock } from '../../src/base/clock.ts';
import { type Corrections, openCorrections } from '../../src/reconcile/index.ts';
import { sweepUndone } from '../../src/treasury/index.ts';

export const noCorrections = (clock: Clock): Corrections => openCorrections({ clock, rails: new Map(), sweepUndone });

/** The desk of our own wallets where a test has none. */
export const noTreasury = {
  levels: async () => [],
  balances: async () => [],
  transfers: async () => [],
  sweeps: async () => [],
};
