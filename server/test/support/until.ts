/** Waits for a condition: looks again and again until it holds, or until the test's patience is over. */
import { patience } from './patience.ts';

/** What does not come soon is looked for less often: the looks of several files at once take the servers' processor time. */
const SELDOM_MS = 100;

export interface Patience {
  withinMs?: number;
  everyMs?: number;
  /** What else is said when it was in vain: what the servers complained of, say. */
  more?: () => string;
}

/**
 * @param what how the sentence "waited in vain until …" ends
 * @param look answers what was waited for; undefined or false where it is not there yet
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  { withinMs = 20_000, everyMs = 10, more = () => '' }: Patience = {},
): Promise<T> {
  const isOver = patience(withinMs);
  for (let pauseMs = everyMs; ; pauseMs = Math.min(pauseMs * 1.3, Math.max(everyMs, SELDOM_MS))) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (isOver()) throw new Error(`waited ${withinMs} ms in vain until ${what}\n${more()}`);
    await new Promise((wake) => setTimeout(wake, pauseMs));
  }
}
