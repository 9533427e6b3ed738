/** What sweeps sent alone (sweeps.ts) and in batches (batches.ts) have in common. */
import type { Clock } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import type { Log } from '../base/log.ts';
import { isPosted } from '../ledger/index.ts';
import type { ChainRail } from '../rails/chain.ts';
import type { OwnTransfer } from './store.ts';

export interface SweepContext {
  db: Database;
  clock: Clock;
  log: Log;
  chains: ReadonlyMap<string, ChainRail>;
  /** Interval between two runs, in milliseconds. */
  everyMs?: number;
}

/** Pause before deposits of a failed or dropped sweep are tried again: each try may cost gas. */
export const FAILED_AGAIN_MS = 3_600_000;

/** A wallet without gas is one problem of the rail, for all addresses; a problem with a sweep is a case of its own. */
export const caseOf = (transfer: OwnTransfer) =>
  transfer.kind === 'gas'
    ? { kind: 'gas_short' as const, subject: `rail:${transfer.rail}` }
    : { kind: 'sweep_rejected' as const, subject: `sweep:${transfer.rail}:${transfer.address}:${transfer.asset}` };

/** An entry's id for a key: the key, unless an earlier entry of it was reversed. */
export async function freeId(tx: Tx, key: string): Promise<string> {
  for (let nth = 1; ; nth += 1) {
    const id = nth === 1 ? key : `${key}:again:${nth}`;
    if (!(await isPosted(tx, id))) return id;
  }
}
