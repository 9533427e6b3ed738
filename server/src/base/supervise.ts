/**
 * Supervision of the programs that we start on this machine (the embedded PostgreSQL, a node per local chain).
 *
 * - **A free port** is found before the start. Another program may take it in between; then another port is tried, five in all.
 * - **Restarted** on the same port if they die while we run, because clients know the port. Pauses between failed tries grow
 *   until the program starts or is no longer wanted.
 * - **Ended** by signals from gentle to hard, each with its timeout. If a program survives them all, `Unavailable` is thrown.
 *
 * Not here: how each is started and how it shows that it is ready; whether it outlives this process (PostgreSQL does not; a node
 * does, and the next server adopts it); telling processes with the same id apart (processes.ts). The operator runs the signer; we
 * do not.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Pauses, pauseAfter } from './backoff.ts';
import { Unavailable } from './errors.ts';
import { isAlive, isGoneWithin, portOrAnother, signal } from './processes.ts';

const PORTS_TRIED = 5;

/**
 * @param wanted  the port to take if it is free; 0 for any
 * @param isTaken whether a failure means that another program took the port meanwhile
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
 * Restarts a program that died, with as many tries as it takes.
 *
 * @param isWanted asked before each try and after each pause
 * @param onFailure called with the reason of each failed try
 * @param ref whether the pause keeps this process alive
 * @returns what was started, or `undefined` if it was no longer wanted
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
 * @param name    the program's name in the error
 * @param signals from gentle to hard, with the timeout of each
 * @param isStill whether the process id still belongs to the same process
 * @throws Unavailable if the process survives all signals
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
