/**
 * A journal: the results so far, one per line. A stopped run of many parts continues after its last line, and results of ranges that
 * were played separately are combined. A line that was cut off is ignored.
 *
 * A journal does not know which code gave its results: its caller puts that into the file’s name.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

export interface Journal {
  /** What was kept under this name last; undefined where nothing was. */
  known<T>(name: string): T | undefined;
  keep(name: string, value: unknown): void;
}

interface Line {
  name: string;
  value: unknown;
}

/** @param path where it lies; without one nothing is kept */
export function openJournal(path: string | undefined): Journal {
  const kept = new Map<string, unknown>();
  if (path !== undefined && existsSync(path)) {
    const text = readFileSync(path, 'utf8');
    for (const line of text.split('\n')) {
      const read = lineOf(line);
      if (read !== undefined) kept.set(read.name, read.value);
    }
    if (text !== '' && !text.endsWith('\n')) appendFileSync(path, '\n');
  }
  return {
    known: <T>(name: string) => kept.get(name) as T | undefined,
    keep(name, value) {
      kept.set(name, value);
      if (path !== undefined) appendFileSync(path, `${JSON.stringify({ name, value } satisfies Line, written)}\n`);
    },
  };
}

const MAP = 'entries of a map';

const written = (_: string, value: unknown): unknown => (value instanceof Map ? { [MAP]: [...value] } : value);

const read = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && MAP in value ? new Map(value[MAP] as [unknown, unknown][]) : value;

function lineOf(text: string): Line | undefined {
  try {
    const line: unknown = JSON.parse(text, read);
    return typeof line === 'object' && line !== null && 'name' in line ? (line as Line) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
