/**
 * How long a test waits. The time in which the machine kept its programs waiting does not count in full: a test that waits 20 s
 * on a quiet machine waits up to two minutes on one that is busy or whose host gives its processors to others, and fails there
 * for what is wrong and not for what is slow.
 *
 * The kernel tells both: `/proc/pressure/cpu` counts the time in which some program waited for a processor, `/proc/stat` the
 * time that the host took. Where neither file exists, all time counts.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** A wait lasts at most so many times as long as it says. */
const STRETCH = 6;
const MS_PER_TICK = 10;

export interface Reading {
  atMs: number;
  /** Since the machine began: in which programs waited, and which the host took of each processor. */
  waitedMs: number;
  takenMs: number;
}

/** @returns a question: whether that much time is over, without what the machine could not give */
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
    // The simulation stops `Date` and `performance`; a wait of a test is real all the same.
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
