/**
 * Pictures: decodes an uploaded image and encodes it again, in a separate process.
 *
 * What comes out has only the pixels: no metadata such as the place where a photograph was taken, no further frames, nothing
 * hidden in the file. Readers later decode bytes that we wrote. A decoder is large and written in C, so it runs in a
 * process that has no secrets in its environment, and that is killed when one picture takes too much time or memory.
 *
 * The process is started with the first picture and ended when none has come for a while. One picture is decoded at a time, and few
 * wait: their callers hold whole files in memory.
 *
 * Not here: what a file may contain besides the picture (customers/identity/inspect.ts, which reads structure and comes first).
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { Unavailable } from './errors.ts';
import { openTurns, type Whose } from './turns.ts';

export type PictureType = 'image/jpeg' | 'image/png' | 'image/webp';

export interface Encoding {
  /** Format of the result. */
  readonly type: PictureType;
  /** Larger pictures are rejected. */
  readonly maxPixels: number;
  /** The result is encoded at a lower quality if it is larger than this. PNG has no such choice. */
  readonly aboutBytes?: number;
  /** A larger picture is scaled down to fit. */
  readonly box?: { readonly width: number; readonly height: number };
}

export interface Encoded {
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
}

/** What the process answers: a picture, or that the decoder rejected the file. It is ready once it has loaded the decoder. */
export type Answer = { is: 'ready' } | { is: 'encoded'; encoded: Encoded } | { is: 'rejected' };
export interface Task {
  readonly content: Buffer;
  readonly encoding: Encoding;
}

/** What one picture may take. */
export interface Bounds {
  readonly ms: number;
  /** Of the process, which has about 60 MB before. */
  readonly residentBytes: number;
}

/** Measured in docs/decisions/0101. Packages give a server more memory than this. */
export const BOUNDS: Bounds = { ms: 20_000, residentBytes: 768 * 1_048_576 };
const START_MS = 30_000;
const IDLE_MS = 60_000;
const WATCHED_EVERY_MS = 50;
/** Whole files are in memory while they wait. Of a partner half, so that others find a place. */
const turns = openTurns({ name: 'pictures', mostEach: 2, mostOfPartner: 4, most: 8, waitMs: 20_000 });
let running: ChildProcess | undefined;
let idle: NodeJS.Timeout | undefined;

/**
 * @param content one whole file of the three types
 * @param whose customer with its partner, or partner
 * @returns undefined when it cannot be decoded: it is damaged, too large, or took more time or memory than a picture does
 * @throws Unavailable 'pictures' when the process does not start, too many pictures wait, or this one has waited too long
 */
export const reencode = (
  content: Buffer,
  encoding: Encoding,
  whose: Whose,
  bounds = BOUNDS,
): Promise<Encoded | undefined> => turns.run(whose, () => encodedBy({ content, encoding }, bounds));

async function encodedBy(task: Task, bounds: Bounds): Promise<Encoded | undefined> {
  clearTimeout(idle);
  try {
    const first = await answerTo(task, bounds);
    // Something else may have ended the process, so a file is only blamed when it does so twice.
    const answer = first === 'ended' ? await answerTo(task, bounds) : first;
    return typeof answer === 'object' && answer.is === 'encoded' ? answer.encoded : undefined;
  } finally {
    idle = setTimeout(stop, IDLE_MS).unref();
  }
}

/** @returns 'ended' when the process ended by itself, 'killed' when this picture took too much */
async function answerTo(task: Task, { ms, residentBytes }: Bounds): Promise<Answer | 'ended' | 'killed'> {
  // It may have ended between two pictures.
  if (running !== undefined && hasEnded(running)) running = undefined;
  const child = (running ??= await started());
  child.ref();
  child.channel?.ref();
  const watch = setInterval(() => residentOf(child.pid) > residentBytes && kill('killed'), WATCHED_EVERY_MS);
  const timer = setTimeout(() => kill('killed'), ms);
  let why: 'ended' | 'killed' = 'ended';
  let give: (what: Answer | typeof why) => void = () => {};
  const kill = (because: typeof why) => {
    why = because;
    // A process that ended meanwhile has no exit to wait for.
    if (!child.kill('SIGKILL')) give(why);
  };
  try {
    return await new Promise((done) => {
      give = done;
      child.once('message', (answer: Answer) => done(answer));
      child.once('exit', () => done(why));
      child.send(task, (error) => error !== null && done(why));
    });
  } finally {
    clearInterval(watch);
    clearTimeout(timer);
    child.removeAllListeners('message');
    child.removeAllListeners('exit');
    child.unref();
    child.channel?.unref();
    if (hasEnded(child)) running = undefined;
  }
}

const hasEnded = ({ connected, exitCode, signalCode, killed }: ChildProcess): boolean =>
  !connected || exitCode !== null || signalCode !== null || killed;

async function started(): Promise<ChildProcess> {
  const child = fork(new URL('./pictures.process.ts', import.meta.url), {
    // Of the server's environment nothing is passed on: it has the keys.
    env: { VIPS_DISC_THRESHOLD: '2g', ...compileCache() },
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  // An error of a running process is followed by its exit.
  child.on('error', () => {});
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
  try {
    await new Promise<void>((done, failed) => {
      child.once('message', () => done());
      const never = () => failed(new Unavailable('pictures', 'the process that decodes pictures does not start'));
      child.once('exit', never);
      child.once('error', never);
    });
  } finally {
    clearTimeout(timer);
    child.removeAllListeners('message');
    child.removeAllListeners('exit');
  }
  killFirst(child.pid);
  return child;
}

function stop(): void {
  const child = running;
  running = undefined;
  if (child?.connected === true) child.disconnect();
}

const compileCache = (): Record<string, string> =>
  process.env.NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };

/** If the machine runs out of memory, this process is ended and not the server. */
function killFirst(pid: number | undefined): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // Another system than Linux, or one that does not permit it.
  }
}

/** 0 where the system does not say: then only the time is bounded. */
function residentOf(pid: number | undefined): number {
  try {
    const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
    return Number(pages) * 4_096;
  } catch {
    return 0;
  }
}
