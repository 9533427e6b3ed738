/** The thread that runs patterns; patterns.ts starts it, and ends it when a pattern takes too long. */
import { parentPort } from 'node:worker_threads';
import { type Answer, FOUND, type Pair, type Task } from './patterns.ts';

const MOST_COMPILED = 500;
/** Of processor time, so that a pause of a busy machine does not decide: what one text may take, and all of a pattern's texts. */
const MAX_TEXT_MS = 50;
const MAX_ALL_MS = 700;

const compiled = new Map<string, RegExp>();

function patternOf(source: string): RegExp {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  const pattern = new RegExp(source, 'u');
  compiled.set(source, pattern);
  return pattern;
}

function codeOf({ source, text }: Pair): number {
  try {
    return patternOf(source).test(text) ? FOUND.yes : FOUND.no;
  } catch {
    // No stack is left for the engine, or the pattern is none: an old form may have it.
    return FOUND.gaveUp;
  }
}

const busyMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

async function isSlow(source: string): Promise<boolean> {
  const { attacksOn } = await import('./patterns.words.ts');
  say({ is: 'ready' });
  const pattern = new RegExp(source, 'u');
  const began = busyMs();
  for (const text of attacksOn(source)) {
    const before = busyMs();
    pattern.test(text);
    const after = busyMs();
    if (after - before > MAX_TEXT_MS || after - began > MAX_ALL_MS) return true;
  }
  return false;
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
const say = (answer: Answer): void => parentPort?.postMessage(answer);

parentPort?.on('message', async (task: Task) => {
  if (task.is === 'try') return say({ is: 'tried', isSlow: await isSlow(task.source).catch(() => true) });
  for (const [at, pair] of task.pairs.entries()) task.found[at] = codeOf(pair);
  say({ is: 'matched' });
});
say({ is: 'ready' });
