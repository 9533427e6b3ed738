/**
 * How long a test waits. Time in which programs waited for the machine is not counted in full: a test that waits 20 s on a quiet
 * machine waits up to two minutes on one that is busy or whose host uses its processors for others, so that it fails for an error
 * and not for slowness.
 *
 * The kernel reports both: `/proc/pressure/cpu` counts the time in which some program waited for a processor, `/proc/stat` the
 * time that the host took. Where neither file exists, all time counts.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** A wait lasts at most this many times its given length. */
const STRETCH = 6;
const MS_PER_TICK = 10;

export interface Reading {
  atMs: number;
  /** Times since boot: in which programs waited, and which the host took from each processor. */
  waitedMs: number;
  takenMs: number;
}

/** @returns a function that tells whether that much time has passed, less the time that the machine could not give */
export function patience(ms: number, read: () => Reading = readMachine): () => boolean {
  const began = read();
  return () => {
    const now = read();
    const passed = now.atMs - began.atMs;
    const lost = Math.max(now.waitedMs - began.waitedMs, now.takenMs - began.takenMs);
    return Math.max(passed - lost, passed / STRETCH) > ms;
  };
}

function readMachine(): Reading {
  const waited = /^some .*total=(\d+)/.exec(readIfThere('/proc/pressure/cpu'))?.[1] ?? '0';
  // The eighth number is `steal`, in ticks, of all processors together.
  const taken = /^cpu +(?:\d+ +){7}(\d+)/.exec(readIfThere('/proc/stat'))?.[1] ?? '0';
  return {
    // The simulation stops `Date` and `performance`, but a wait of a test takes real time.
    atMs: Number(process.hrtime.bigint()) / 1e6,
    waitedMs: Number(waited) / 1_000,
    takenMs: (Number(taken) * MS_PER_TICK) / availableParallelism(),
  };
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
