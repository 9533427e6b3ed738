/**
 * Threads for work on what strangers sent, which may take too long: a few threads of one file, each with one task at a time. A thread
 * that has not answered at its deadline is ended, and its task has no answer.
 *
 * A thread is started with the first task and ended when none has come for a while, and keeps no process alive. It gets nothing of the
 * server's environment, and its memory is bounded. It says 'ready' once it has loaded, and then answers each message with one.
 *
 * Not here: programs in other languages, which may crash: they need a process (pictures.ts).
 */
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { Unavailable } from './errors.ts';

export interface Threads<Task, Answer> {
  /**
   * @param how.ms     deadline of the task
   * @param how.waitMs how long to wait for a thread
   * @param how.loads  the thread loads something for this task first, and says 'ready' again
   * @returns undefined when the thread was ended at the deadline, or ended itself
   * @throws Unavailable when too many tasks wait, or no thread starts
   */
  run(task: Task, how: { ms: number; waitMs: number; loads?: boolean }): Promise<Answer | undefined>;
  /** Ends the threads without a task. */
  endIdle(): Promise<void>;
}

const START_MS = 30_000;
const IDLE_MS = 60_000;

/** @param of.name names the source of `Unavailable`, too */
export function openThreads<Task, Answer>(of: {
  file: URL;
  name: string;
  most: number;
  mostWaiting: number;
  limits: ResourceLimits;
}): Threads<Task, Answer> {
  const { name, most, mostWaiting, limits } = of;
  const idle: Worker[] = [];
  const waiting: (() => void)[] = [];
  let busy = 0;
  let ending: NodeJS.Timeout | undefined;

  const tooMany = () => new Unavailable(name, 'too many at once', { retryAfterMs: 2_000 });
  const endIdle = async (): Promise<void> => void (await Promise.all(idle.splice(0).map((one) => one.terminate())));

  /** Waits until a caller that has finished passes its thread's place on. */
  const turn = (ms: number): Promise<void> =>
    new Promise((done, failed) => {
      const enter = () => {
        clearTimeout(timer);
        done();
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(enter), 1);
        failed(tooMany());
      }, ms);
      waiting.push(enter);
    });

  /** One that has not ended by itself meanwhile. */
  function idleThread(): Worker | undefined {
    for (let thread = idle.pop(); thread !== undefined; thread = idle.pop()) if (thread.threadId >= 0) return thread;
    return undefined;
  }

  async function started(): Promise<Worker> {
    const thread = new Worker(of.file, { ...{ name, env: {}, execArgv: [] }, resourceLimits: limits });
    // An error of a thread is followed by its exit.
    thread.on('error', () => {});
    if ((await firstOf(thread, START_MS)) !== undefined) return thread;
    await thread.terminate();
    throw new Unavailable(name, 'its thread does not start');
  }

  async function answerOf(thread: Worker, task: Task, how: { ms: number; loads?: boolean }) {
    thread.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    thread.postMessage(task);
    if (how.loads === true) await firstOf(thread, START_MS);
    const answer = (await firstOf(thread, how.ms)) as Answer | undefined;
    if (answer === undefined) await thread.terminate();
    else {
      thread.unref();
      idle.push(thread);
    }
    return answer;
  }

  return {
    async run(task, { waitMs, ...how }) {
      if (waiting.length >= mostWaiting) throw tooMany();
      if (busy < most) busy += 1;
      else await turn(waitMs);
      clearTimeout(ending);
      try {
        return await answerOf(idleThread() ?? (await started()), task, how);
      } finally {
        const next = waiting.shift();
        if (next === undefined) busy -= 1;
        else next();
        ending = setTimeout(() => void endIdle(), IDLE_MS).unref();
      }
    },
    endIdle,
  };
}

/** The next message of a thread; undefined when none came in time, or the thread has ended. */
async function firstOf(thread: Worker, ms: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((done) => {
      thread.once('message', done);
      thread.once('exit', () => done(undefined));
      // After a pause of this thread the timer fires before the message is read, so it waits for one more turn.
      timer = setTimeout(() => setImmediate(() => setImmediate(() => done(undefined))), ms);
    });
  } finally {
    clearTimeout(timer);
    thread.removeAllListeners('message');
    thread.removeAllListeners('exit');
  }
}
