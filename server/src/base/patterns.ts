/**
 * Patterns: regular expressions that people write into data, and that must not block the server.
 *
 * JavaScript's engine backtracks, so the time of a pattern such as `(a+)+$` grows exponentially with its text. Engines that do
 * not backtrack have no look-ahead, which the white-label interface itself uses. So a pattern is checked twice:
 * - when it is saved, by its structure (nested repetition, safe-regex2) and by trying it on texts that are made from its own parts
 *   (patterns.words.ts), such as repetitions of what two of its alternatives both accept;
 * - whenever it is used: no pattern runs on the main thread. Threads run them (patterns.thread.ts), and a thread that has not
 *   answered at its deadline is ended.
 *
 * A caller sends all pairs of one request together, so that they cost one round trip.
 *
 * Not here: the server's own fixed patterns, which are written as literals.
 */
import safeRegex from 'safe-regex2';
import { openThreads } from './threads.ts';

/** The longest pattern, and the longest text on which one is used. */
export const MAX_PATTERN_CHARS = 200;
export const MAX_MATCHED_CHARS = 1_000;

export interface Pair {
  readonly source: string;
  readonly text: string;
}
/**
 * Whether a text matches. 'late': the pattern did not end in time, or the engine gave up. 'unknown': an earlier pair of the request
 * was late, so this one was not tried.
 */
export type Judgement = boolean | 'late' | 'unknown';

/**
 * What a thread is told to do. It writes a code into `found` after each pair. When it is ended at its deadline, the first pair without
 * a code is the one that was late.
 */
export type Task =
  | { readonly is: 'match'; readonly pairs: readonly Pair[]; readonly found: Uint8Array<SharedArrayBuffer> }
  | { readonly is: 'try'; readonly source: string };
export type Answer = { is: 'ready' } | { is: 'matched' } | { is: 'tried'; isSlow: boolean };
export const FOUND = { unknown: 0, yes: 1, no: 2, gaveUp: 3 } as const;
const WORDS = new Map<number | undefined, boolean>([
  [FOUND.yes, true],
  [FOUND.no, false],
]);

/** A client gives up after seconds. No transaction waits meanwhile (`Tx.outside` in db.ts). */
const WAIT_MS = 8_000;
/** A good pattern takes microseconds. The rest is for pauses of a busy machine. */
const MATCH_MS = 1_000;
/** To try a good pattern takes up to a fifth of a second. */
const TRY_MS = 1_500;

const threads = openThreads<Task, Answer>({
  ...{ file: new URL('./patterns.thread.ts', import.meta.url), name: 'patterns' },
  ...{ most: 2, mostWaiting: 100, limits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 } },
});

/**
 * @param waitMs how long to wait for a thread
 * @returns a judgement per pair, in order
 * @throws Unavailable 'patterns' when too many requests wait, or no thread starts
 */
export async function judge(pairs: readonly Pair[], waitMs = WAIT_MS): Promise<Judgement[]> {
  const short = [...pairs.keys()].filter((at) => (pairs[at]?.text.length ?? 0) <= MAX_MATCHED_CHARS);
  const judged: Judgement[] = pairs.map(() => false);
  if (short.length === 0) return judged;
  const found = new Uint8Array(new SharedArrayBuffer(short.length));
  await threads.run({ is: 'match', pairs: short.map((at) => pairs[at] as Pair), found }, { ms: MATCH_MS, waitMs });
  const late = found.indexOf(FOUND.unknown);
  for (const [n, at] of short.entries()) {
    const code = found[n];
    judged[at] = code === FOUND.unknown && n !== late ? 'unknown' : (WORDS.get(code) ?? 'late');
    if (judged[at] === 'late') for (const tell of watchers) tell(pairs[at]?.source ?? '');
  }
  return judged;
}

/** Why a pattern may not be saved, as the end of a sentence; undefined if it may. @throws Unavailable as `judge` */
export async function patternProblem(source: string): Promise<string | undefined> {
  if (source.length > MAX_PATTERN_CHARS) return `must have at most ${MAX_PATTERN_CHARS} characters`;
  if (!isRegular(source)) return 'must be a regular expression';
  const isSlow = !safeRegex(source) || (await isSlowOnSome(source));
  return isSlow
    ? 'must not nest repetitions, or repeat alternatives that overlap: matching some texts would take too long'
    : undefined;
}

async function isSlowOnSome(source: string): Promise<boolean> {
  // It loads the parser first.
  const answer = await threads.run({ is: 'try', source }, { ms: TRY_MS, waitMs: WAIT_MS, loads: true });
  return answer?.is !== 'tried' || answer.isSlow;
}

function isRegular(source: string): boolean {
  try {
    return new RegExp(source, 'u').source !== '';
  } catch {
    return false;
  }
}

const watchers = new Set<(source: string) => void>();

/**
 * Tells of patterns that did not end in time.
 *
 * @returns what ends the watch, and with the last watch the threads
 */
export function watchPatterns(onLate: (source: string) => void): () => Promise<void> {
  watchers.add(onLate);
  return async () => {
    watchers.delete(onLate);
    if (watchers.size === 0) await threads.endIdle();
  };
}
