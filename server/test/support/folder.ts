/**
 * A folder for one test, removed with it.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const home =
  process.env.TEST_DATA_DIR ?? join(import.meta.dirname, '..', '..', '..', '.test-data', String(process.pid));
const made: string[] = [];

/** An empty folder, removed when the file's process ends. It is under TEST_DATA_DIR, so that even a killed run leaves nothing. */
export function freshFolder(name: string): string {
  mkdirSync(home, { recursive: true });
  const path = mkdtempSync(join(home, `${name}-`));
  made.push(path);
  return path;
}

process.once('exit', () => {
  for (const path of made) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  if (process.env.TEST_DATA_DIR === undefined && made.length > 0) rmSync(home, { recursive: true, force: true });
});
