/**
 * Log: one JSON object per line, with ids and never with names, documents, account numbers, keys or bodies.
 *
 * By default no line is written per request: writing one leaves 0.62 of the throughput. `LOG_REQUESTS=1` turns them on.
 */

import pino from 'pino';
import { defined } from './defined.ts';

export type Log = pino.Logger;

export function openLog(level: string): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }));
}

/**
 * The loggable part of an error: kind, code and message of our errors and of known libraries' errors, with anything that
 * looks like a data value cut off. PostgreSQL puts row values into `detail`, so `detail` is never logged.
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
