/** Plays of seeds by tests: what a play found, as text, and plays until events have happened. */
import assert from 'node:assert/strict';
import type { Fixture } from './ground.ts';
import { type Outcome, type Play, simulate } from './run.ts';

/** @returns what a play violated, with its history; empty if it violated nothing */
export const told = ({ seed, violations, history, schedule }: Outcome) =>
  violations.length === 0
    ? ''
    : [
        `seed ${seed}`,
        ...violations.map(({ kind, what }) => `${kind}: ${what}`),
        ...history,
        ...schedule.slice(-40),
      ].join('\n');

/**
 * Plays these until each of the wanted events happened in one of them. Which seed shows an event changes with everything that
 * changes the order of steps; all of them must be free of violations.
 *
 * When the lists were last noted, the first seed of each showed all of its events, or the first two did together. The others
 * show as many as possible, and are a reserve. If a test plays several seeds again, note the seeds again: play fifty that have
 * such events (`hasStrays`, `forgets`, …), and put first those that show all in the fewest steps.
 */
export async function playUntil(
  fixture: Fixture,
  wanted: readonly string[],
  plays: readonly Play[],
  happened: (outcome: Outcome) => ReadonlyMap<string, number> | undefined,
): Promise<void> {
  const missing = new Set(wanted);
  for (const play of plays) {
    const outcome = await simulate(fixture, play);
    assert.equal(told(outcome), '');
    for (const what of wanted) if ((happened(outcome)?.get(what) ?? 0) > 0) missing.delete(what);
    if (missing.size === 0) return;
  }
  assert.fail(`of ${plays.length} seeds none showed: ${[...missing].join(', ')}`);
}

export const everyTenth = (from: number, times: number): number[] =>
  Array.from({ length: times }, (_, n) => from + 10 * n);
