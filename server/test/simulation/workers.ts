/**
 * Workers: processes that play seeds side by side (worker.process.ts). They end with their opener, and one that does not answer
 * is ended.
 */
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { patience } from '../support/patience.ts';
import type { Place } from './ground.ts';
import type { Outcome, Play } from './run.ts';

export interface Asked extends Play {
  /** Is played again and compared. */
  twice?: boolean;
}

export type Told = Outcome;

export interface Workers {
  /**
   * Plays all of them on the next free worker.
   *
   * @param tell called with each in the order in which they end; `false` ends the rest
   */
  play(plays: Iterable<Asked>, tell: (told: Told, asked: Asked) => boolean | undefined): Promise<void>;
  close(): Promise<void>;
  /** The ground of each worker. */
  readonly places: readonly Place[];
}

/** A run takes some seconds; on a busy machine, minutes. Time that the machine could not give is not counted in full. */
const PATIENCE_MS = 10 * 60_000;
const GLANCE_MS = 1_000;
const OWN_ROOT = resolve(import.meta.dirname, '..', '..', '..');

export interface Opening {
  /** Folder of the source to play: this one, or a copy with a bug planted in it. */
  root?: string;
  /** Of a worker that does not play meanwhile: its ground, which need not be prepared again. */
  place?: Place | undefined;
  /** The first worker gets this processor, the next one the next; without it the system chooses. */
  cpu?: number;
}

export async function openWorkers(count: number, { root = OWN_ROOT, place, cpu }: Opening = {}): Promise<Workers> {
  const children = Array.from({ length: count }, () =>
    fork(join(root, 'server', 'test', 'simulation', 'worker.process.ts'), {
      cwd: root,
      serialization: 'advanced',
      env: { ...process.env, ...(place === undefined ? {} : { SIMULATION_GROUND: JSON.stringify(place) }) },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    }),
  );
  if (cpu !== undefined) for (const [at, child] of children.entries()) keepOn(cpu + at, child);
  const places = (await Promise.all(children.map((child) => heard(child, 60_000)))) as Place[];
  return {
    places,
    async play(plays, tell) {
      const waiting = plays[Symbol.iterator]();
      let stopped = false;
      const worker = async (child: ChildProcess): Promise<void> => {
        for (let next = waiting.next(); !stopped && !next.done; next = waiting.next()) {
          child.send(next.value);
          const told = (await heard(child, PATIENCE_MS)) as Told;
          if (!stopped && tell(told, next.value) === false) stopped = true;
        }
      };
      await Promise.all(children.map(worker));
    },
    async close() {
      await Promise.all(
        children.map(
          (child) =>
            new Promise<void>((done) => {
              child.once('exit', () => done());
              child.disconnect();
            }),
        ),
      );
    },
  };
}

/**
 * A worker and its PostgreSQL, which it starts later, take turns: while one runs, the other waits. On one processor neither has to
 * wake another processor, and a run takes a sixth less time. Where `taskset` is missing or refuses, the system chooses.
 */
function keepOn(cpu: number, { pid }: ChildProcess): void {
  spawnSync('taskset', ['-apc', String(cpu % availableParallelism()), String(pid)], { stdio: 'ignore' });
}

/** The next message of a worker. */
function heard(child: ChildProcess, patienceMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = (body: () => void): void => {
      clearInterval(timer);
      child.off('message', onMessage).off('exit', onExit);
      body();
    };
    const onMessage = (message: unknown): void => settle(() => resolve(message));
    const onExit = (code: number | null): void => settle(() => reject(new Error(`a worker ended (${code})`)));
    const isOver = patience(patienceMs);
    const timer = setInterval(() => {
      if (!isOver()) return;
      child.kill('SIGKILL');
      settle(() => reject(new Error(`a worker did not answer within ${patienceMs / 1000} s`)));
    }, GLANCE_MS);
    child.on('message', onMessage).on('exit', onExit);
  });
}
