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

/** By key, the sweep advanced last at the end. */
export type Turns = Set<string>;

/**
 * The sweeps of a rail that a check should advance: those that waited longest. Forgets those that have ended.
 *
 * @param most how many
 */
export function inTurn(turns: Turns, open: readonly OwnTransfer[], most: number): OwnTransfer[] {
  const isOpen = new Set(open.map(({ key }) => key));
  for (const key of turns) if (!isOpen.has(key)) turns.delete(key);
  const places = new Map([...turns].map((key, place) => [key, place]));
  const placeOf = ({ key }: OwnTransfer): number => places.get(key) ?? -1;
  return open.toSorted((a, b) => placeOf(a) - placeOf(b)).slice(0, most);
}

/** Notes that a check has begun with a sweep. One that its time did not suffice for keeps its place. */
export function tookTurn(turns: Turns, { key }: Pick<OwnTransfer, 'key'>): void {
  turns.delete(key);
  turns.add(key);
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
