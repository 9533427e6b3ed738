/** What operator actions need of chains that halt by themselves; the composition gives it. */
import type { Tx } from '../../base/db.ts';

/** Chains that halt by themselves, and continue once a person has checked. */
export interface ChainHalts {
  /** Codes of the rails that are chains. */
  codes: readonly string[];
  /** Null when it is not halted; locked, so that the answer stays valid. */
  why(tx: Tx, rail: string): Promise<string | null>;
  /** `restart` begins again below the block that was final when it halted. */
  clear(tx: Tx, rail: string, options: { restart: boolean }): Promise<void>;
}
