/** Nodes of one chain, used in turn: shared by the clients of all families (evm/rpc.ts, tron/http.ts). */
import { Unavailable } from '../base/errors.ts';
import { NoAnswer } from '../base/http.ts';

/** A node's URL: fixed, or a function that returns the present URL and throws Unavailable while there is none. */
export type NodeUrl = string | (() => string);

/** Uses the current node until it fails, then the next one. @returns a function that throws the error of the last node */
export function nodesInTurn(urls: readonly NodeUrl[]): <T>(ask: (url: string) => Promise<T>) => Promise<T> {
  let current = 0;
  return async (ask) => {
    for (let tried = 1; ; tried += 1) {
      const at = current;
      try {
        const url = urls[at] ?? '';
        return await ask(typeof url === 'function' ? url() : url);
      } catch (error) {
        // Another request may have moved on to the next node meanwhile.
        if (current === at) current = (at + 1) % urls.length;
        if (tried >= urls.length) throw error;
      }
    }
  };
}

/** The error for a node that did not answer. It does not contain the URL, which may contain an API key. */
export const notAnswered = (source: string, error: unknown, longestBytes: number): Unavailable =>
  new Unavailable(source, `the node did not answer: ${reason(error, longestBytes)}`, { cause: error });

function reason(error: unknown, longestBytes: number): string {
  if (error instanceof SyntaxError) return 'not JSON';
  if (!(error instanceof NoAnswer)) return error instanceof Error ? error.message.slice(0, 80) : 'unknown';
  if (error.why === 'late') return 'too late';
  return error.why === 'long' ? `more than ${longestBytes} bytes` : (error.code ?? error.message);
}

/** A part of an answer that has an unexpected format. */
export class Malformed extends Error {
  override name = 'Malformed';
}
