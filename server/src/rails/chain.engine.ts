/**
 * The engine of one chain rail: its adapter, the installation's parts that it uses, and its memory between two runs.
 *
 * The engine's functions are in chain.*.ts in this folder and take it as their first parameter. Nothing in `memory` is needed
 * after a restart: everything that decides about money is a row.
 */
import type { Tx } from '../base/db.ts';
import { freeTargets, type TargetsAhead, targetsAhead } from './ahead.ts';
import type { ChainAdapter, ChainPace, RailContext } from './chain.adapter.ts';
import * as store from './chain.store.ts';

/** The wallet that pays customers. */
export const HOT = 'hot';

export interface Engine extends RailContext {
  readonly adapter: ChainAdapter;
  /** The codes of the rail and its chain, and the chain's pace. */
  readonly rail: string;
  readonly chain: string;
  readonly pace: ChainPace;
  /** Deposit addresses that no order in these books has, and that a customer may have been given. */
  readonly ahead: TargetsAhead;
  readonly memory: Memory;
}

export interface Memory {
  /** Whether the rail's row is known to exist. */
  hasRow: boolean;
  /** Since when the node has shown another branch that is lower than ours. */
  lowerSince: number | undefined;
  /** When to compare the wallet's used nonces with the books again, and the node's answer at the last comparison. */
  compareNoncesAt: number;
  nonces: { mined: bigint; pending: bigint } | undefined;
  /** The block up to which the time that restores have lost was read, and when the last of them was made. */
  lostRead: { to: bigint; restoredAt: number } | undefined;
  /** By key: since when a send's nonce has looked as if a foreign transaction had used it, until a row says so. */
  foreignSince: Map<string, number>;
  /** By key: when a node last rejected the bytes of a send that no node has accepted. */
  rejectedAt: Map<string, number>;
  /** The deposit address after which the next page of native balances begins. */
  nativeAfter: bigint;
}

export function engineOf(adapter: ChainAdapter, context: RailContext): Engine {
  return {
    ...context,
    adapter,
    rail: adapter.code,
    chain: adapter.chain,
    pace: adapter.pace,
    ahead:
      adapter.address === undefined
        ? freeTargets(adapter.code, () => context.clock.now())
        : targetsAhead(adapter.address),
    memory: {
      hasRow: false,
      lowerSince: undefined,
      compareNoncesAt: 0,
      nonces: undefined,
      lostRead: undefined,
      foreignSince: new Map(),
      rejectedAt: new Map(),
      nativeAfter: -1n,
    },
  };
}

/** Halts the rail until an operator clears the halt. Reported once. */
export const haltRail = (engine: Engine, why: string): Promise<boolean> =>
  engine.db.asSystem((tx) => haltIn(engine, tx, why));

/** As `haltRail`, in the caller's transaction. @returns false if it was already halted */
export async function haltIn({ rail, log, report }: Engine, tx: Tx, why: string): Promise<boolean> {
  if (!(await store.haltChain(tx, rail, why))) return false;
  await report(tx, { type: 'rail_halted', rail, why });
  log.error({ rail, why }, 'rail halted');
  return true;
}
