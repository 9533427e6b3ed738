/**
 * The chaos as a program, for tests of it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder } from '../support/folder.ts';
import { collect, run } from '../support/process.ts';
import type { Outcome } from './run.ts';

/** In a temporary folder of its own, which distinguishes its processes from others. */
export function chaos(args: string[]) {
  const folder = freshFolder('chaos');
  const json = join(folder, 'outcome.json');
  const child = run(['server/test/chaos/main.process.ts', ...args, '--json', json], { TEST_DATA_DIR: folder });
  const output = collect(child);
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  return { folder, child, output, ended, outcome: () => JSON.parse(readFileSync(json, 'utf8')) as Outcome[] };
}
