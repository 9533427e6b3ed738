/**
 * Which open sweeps of a rail a check advances, and what our rows say about them.
 *
 * The order is kept in memory, so a sweep that only waits is not written. After a restart all have waited equally long.
 */
import { awaitAll } from '../base/db.ts';
import { isRailOff } from '../partners/index.ts';
import { type ChainRail, keysWithSend } from '../rails/chain.ts';
import type { SweepContext } from './own.ts';
import type { OwnTransfer } from './store.ts';
import * as store from './store.ts';

/** By key: at which check of its rail a sweep was advanced last. */
export type Turns = Map<string, number>;

/** The sweeps of a rail that are advanced now: those that waited longest. @param most how many */
export function inTurn(
  turns: Map<string, Turns>,
  code: string,
  open: readonly OwnTransfer[],
  most: number,
): OwnTransfer[] {
  const before = turns.get(code);
  const turn = Math.max(0, ...(before?.values() ?? [])) + 1;
  const of = ({ key }: OwnTransfer): number => before?.get(key) ?? 0;
  const due = open.toSorted((a, b) => of(a) - of(b)).slice(0, most);
  const taken = new Set(due);
  turns.set(code, new Map(open.map((sweep) => [sweep.key, taken.has(sweep) ? turn : of(sweep)])));
  return due;
}

/** A sweep with what our rows say about it. */
export interface KnownSweep {
  sweep: OwnTransfer;
  gas: OwnTransfer[];
  /** Whether the rail has a send of it. */
  hasSend: boolean;
  /** Whether an operator has stopped the rail; asked again before anything is sent. */
  isOff: boolean;
}

/** One query for all sweeps of a check: most of them wait for their gas or their block. */
export async function readSweeps(
  { db }: SweepContext,
  rail: ChainRail,
  sweeps: readonly OwnTransfer[],
): Promise<KnownSweep[]> {
  if (sweeps.length === 0) return [];
  const keys = sweeps.map(({ key }) => key);
  const [gas, sent, isOff] = await db.asSystem((tx) =>
    awaitAll(store.gasOfAll(tx, keys), keysWithSend(tx, rail.code, keys), isRailOff(tx, rail.code)),
  );
  return sweeps.map((sweep) => ({ sweep, gas: gas.get(sweep.key) ?? [], hasSend: sent.has(sweep.key), isOff }));
}
