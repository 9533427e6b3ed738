/**
 * Supervise: what programs that we start on this machine have in common (the embedded PostgreSQL, a node per local chain).
 *
 * - **A port of their own** is looked for before they start, so another program may take it in between: then another port is
 *   tried, five times in all.
 * - **Brought back** when they die while we run, on the port they had, since others have been told of it. Tries that fail are
 *   followed by longer and longer pauses, and end only when the program succeeds or is no longer wanted.
 * - **Ended** by signals from gentle to hard, each with its time. One that survives them all is reported as `Unavailable`, never
 *   forgotten.
 *
 * Not here: how each is started, and how it shows that it is ready; whether it outlives us (PostgreSQL ends with us, a node is
 * adopted by the next server); telling processes of one number apart (processes.ts). The signer is run by whoever operates it,
 * not by us.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Pauses, pauseAfter } from './backoff.ts';
import { Unavailable } from './errors.ts';
import { isAlive, isGoneWithin, portOrAnother, signal } from './processes.ts';

const PORTS_TRIED = 5;

/**
 * @param wanted  the port to take if it is free; 0 for any
 * @param isTaken whether a failure says that another program took the port meanwhile
 */
export async function startOnFreePort<T>(
  start: (port: number) => Promise<T>,
  { wanted = 0, isTaken }: { wanted?: number; isTaken: (why: string) => boolean },
): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await start(await portOrAnother(wanted));
    } catch (error) {
      if (tried === PORTS_TRIED || !isTaken(messageOf(error))) throw error;
    }
  }
}

/**
 * Starts what has died, as often as it takes.
 *
 * @param isWanted asked before each try and after each pause
 * @param onFailure told why a try failed
 * @param ref whether a pause keeps a process alive that has nothing else to do
 * @returns what was started, or `undefined` where it was no longer wanted
 */
export async function bringBack<T>(
  start: () => Promise<T>,
  {
    pauses,
    isWanted,
    onFailure,
    ref,
  }: { pauses: Pauses; isWanted: () => boolean; onFailure: (why: string) => void; ref: boolean },
): Promise<T | undefined> {
  for (let failures = 0; isWanted(); failures += 1) {
    try {
      return await start();
    } catch (error) {
      onFailure(messageOf(error));
    }
    await sleep(pauseAfter(failures, pauses), undefined, { ref });
  }
  return undefined;
}

/**
 * @param name    how the error calls the program
 * @param signals from gentle to hard, and how long each is given
 * @param isStill whether the number still belongs to the process that is meant
 * @throws Unavailable when it survives them all
 */
export async function endProcess(
  pid: number,
  {
    name,
    signals,
    isStill = isAlive,
  }: {
    name: string;
    signals: readonly (readonly [NodeJS.Signals, number])[];
    isStill?: (pid: number) => boolean;
  },
): Promise<void> {
  for (const [how, waitMs] of signals) {
    if (!isStill(pid)) return;
    signal(pid, how);
    if (await isGoneWithin(pid, waitMs)) return;
  }
  throw new Unavailable(name, `process ${pid} does not end`);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
