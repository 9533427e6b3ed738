/** Waits for a condition: checks it repeatedly until it holds or the patience of the test has run out. */
import { patience } from './patience.ts';

/**
 * Longer waits check less often: a check of a story is a dozen statements, and takes processor time from the server that it waits for.
 */
const SELDOM_MS = 150;
const LONGER = 1.6;

export interface Patience {
  withinMs?: number;
  everyMs?: number;
  /** Additional text for a failure, such as the warnings of the servers. */
  more?: () => string;
}

const hurries = new Set<() => void>();

/**
 * @param hurry called in this process after each look that found nothing; hurries what is waited for (hurry.ts)
 * @returns ends it
 */
export function onWait(hurry: () => void): () => void {
  hurries.add(hurry);
  return () => void hurries.delete(hurry);
}

/** A look has found nothing. */
export const waiting = (): void => {
  for (const hurry of hurries) hurry();
};

/**
 * @param what the end of the sentence "waiting until …"
 * @param look returns the awaited value; undefined or false while it does not exist
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  { withinMs = 20_000, everyMs = 10, more = () => '' }: Patience = {},
): Promise<T> {
  const isOver = patience(withinMs);
  for (let pauseMs = everyMs; ; pauseMs = Math.min(pauseMs * LONGER, Math.max(everyMs, SELDOM_MS))) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    waiting();
    if (isOver()) throw new Error(`timed out after ${withinMs} ms waiting until ${what}\n${more()}`);
    await new Promise((wake) => setTimeout(wake, pauseMs));
  }
}
