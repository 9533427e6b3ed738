/**
 * Log: one JSON object per line, with ids and never with names, documents, account numbers, keys or bodies.
 *
 * By default requests are not logged: one line per request reduces throughput to 62 %. `LOG_REQUESTS=1` turns these lines on.
 */

import pino from 'pino';
import { defined } from './defined.ts';

export type Log = pino.Logger;

export function openLog(level: string): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }));
}

/**
 * The loggable part of an error: its name, the first 300 characters of its message, three lines of its stack, and the code,
 * constraint and table of a database error. PostgreSQL puts row values into `detail`, so `detail` is never logged.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const { code, constraint, table } = error as { code?: string; constraint?: string; table?: string };
  return {
    error: error.name,
    message: error.message.slice(0, 300),
    ...defined({ code, constraint, table }),
    at: error.stack
      ?.split('\n')
      .slice(1, 4)
      .map((line) => line.trim().replace(/^at .*[/\\](?=[^/\\]+$)/, '')),
  };
}
