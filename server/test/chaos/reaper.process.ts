/**
 * The reaper of a run: waits until the run has ended, in whatever way, and ends its remaining processes. It is in a session of
 * its own, so a Ctrl-C or a kill -9 of the run does not reach it; it notices the end of its standard input.
 *
 * Argument: the run's folder. It is removed, unless the word `keep` arrived.
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { signal } from '../../src/base/processes.ts';
import { processesOf } from '../support/leftbehind.ts';

const [, , folder = ''] = process.argv;
if (folder.length < 10) throw new Error('the folder of a run');
let said = '';
for await (const part of process.stdin) said += String(part);

// Repeated, because a dying process may have been about to start another.
for (let round = 0; round < 50; round += 1) {
  const left = processesOf(folder);
  if (left.length === 0) break;
  for (const { pid } of left) signal(pid, 'SIGKILL');
  await sleep(100);
}
if (!said.includes('keep')) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
