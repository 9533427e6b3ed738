/**
 * Patterns: regular expressions that people write into data, and that must not block the server.
 *
 * JavaScript's engine backtracks, so the time of a pattern such as `(a+)+$` grows exponentially with its text. Engines that do
 * not backtrack have no look-ahead, which the white-label interface itself uses. So a pattern is checked twice:
 * - when it is saved, by its structure (nested repetition, safe-regex2) and by trying it on texts made of its own characters;
 * - whenever it is used, by a time limit, which V8 enforces even within one match.
 *
 * Not here: the server's own fixed patterns, which are written as literals.
 */
import { createContext, Script } from 'node:vm';
import safeRegex from 'safe-regex2';
import { Unavailable } from './errors.ts';

/** The longest pattern, and the longest text on which one is tried or used. */
export const MAX_PATTERN_CHARS = 200;
export const MAX_MATCHED_CHARS = 1_000;
/**
 * A good pattern takes microseconds. Each retry has a longer limit, so that a pause of a busy machine does not decide the result.
 */
const TRIES_MS = [50, 200, 800];

const sandbox = createContext({ source: '', text: '' });
const script = new Script('new RegExp(source, "u").test(text)');

/** @returns undefined if the time limit passed */
function tried(source: string, text: string, timeout: number): boolean | undefined {
  Object.assign(sandbox, { source, text });
  try {
    return script.runInContext(sandbox, { timeout }) as boolean;
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  } finally {
    Object.assign(sandbox, { text: '' });
  }
}

/** Whether the text matches. @throws Unavailable if every time limit passed without a result */
export function matches(source: string, text: string): boolean {
  if (text.length > MAX_MATCHED_CHARS) return false;
  const found = judged(source, text);
  if (found === undefined) throw new Unavailable('pattern', 'a pattern of a form ran out of time');
  return found;
}

/** Why a pattern may not be saved, as the end of a sentence; undefined if it may. */
export function patternProblem(source: string): string | undefined {
  if (source.length > MAX_PATTERN_CHARS) return `must have at most ${MAX_PATTERN_CHARS} characters`;
  if (!isRegular(source)) return 'must be a regular expression';
  const isSlow = !safeRegex(source) || attacks(source).some((text) => judged(source, text) === undefined);
  return isSlow ? 'must not nest repetitions: matching some texts would take too long' : undefined;
}

function isRegular(source: string): boolean {
  try {
    return new RegExp(source, 'u').source !== '';
  } catch {
    return false;
  }
}

/** Undefined if every time limit passed. */
function judged(source: string, text: string): boolean | undefined {
  for (const limitMs of TRIES_MS) {
    const found = tried(source, text, limitMs);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Long texts of one or two of the pattern's own characters, each with an ending that probably does not match. */
function attacks(source: string): string[] {
  const letters = [...new Set(source.replaceAll(/\\[a-zA-Z]/g, '').match(/[\p{L}\p{N} _-]/gu) ?? [])].slice(0, 8);
  const seeds = [...new Set([...letters, 'a', '0', ' ', 'A', '-'])];
  const pairs = letters.slice(0, 3).flatMap((one) => letters.slice(0, 3).map((other) => one + other));
  return [...seeds, ...pairs].map((seed) => `${seed.repeat(400).slice(0, 400)}\n!`);
}
