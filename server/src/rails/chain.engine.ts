/**
 * The engine of one chain rail: its adapter, the installation's parts that it uses, and its memory between two runs.
 *
 * The functions of the engine are in chain.*.ts beside this file and take it as their first parameter. Nothing in `memory`
 * matters after a restart: everything that decides about money is a row.
 */
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
  /** Deposit addresses that no order in these books has, and that a customer may have received. */
  readonly ahead: TargetsAhead;
  readonly memory: Memory;
}

export interface Memory {
  /** Whether the rail's row is known to exist. */
  hasRow: boolean;
  /** Since when the node has shown another branch that is lower than ours. */
  lowerSince: number | undefined;
  /** When to compare the wallet's used nonces with the books again, and what the node said when they were compared last. */
  compareNoncesAt: number;
  nonces: { mined: bigint; pending: bigint } | undefined;
  /** How far the blocks of the time that a restore has lost were read. */
  lostReadTo: bigint | undefined;
  /** Since when a send's nonce has looked used by a foreign transaction, by key. */
  foreignSince: Map<string, number>;
  /** When a node last refused the bytes of a send that no node has taken, by key. */
  refusedAt: Map<string, number>;
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
      lostReadTo: undefined,
      foreignSince: new Map(),
      refusedAt: new Map(),
      nativeAfter: -1n,
    },
  };
}

/** Halts the rail until an operator clears it. Reported once. */
export async function haltRail(engine: Engine, why: string): Promise<void> {
  const { rail, db, log, report } = engine;
  log.error({ rail, why }, 'rail halted');
  await db.asSystem(async (tx) => {
    if (await store.haltChain(tx, rail, why)) await report(tx, { type: 'rail_halted', rail, why });
  });
}
