/**
 * A worker in a process of its own, which runs one kind of poll and says so. jobs.test.ts starts it with its instructions as JSON
 * in the first argument, and has the kernel stop it.
 */
import { systemClock } from '../../src/base/clock.ts';
import { openDatabase } from '../../src/base/db.ts';
import { openLog } from '../../src/base/log.ts';
import { startWorkers } from '../../src/base/workers.ts';

const { serverUrl, kind, presentMs } = JSON.parse(process.argv[2] ?? '{}') as {
  serverUrl: string;
  kind: string;
  presentMs: number;
};
await startWorkers({
  db: openDatabase(serverUrl),
  clock: systemClock,
  log: openLog('silent'),
  polls: [kind],
  presentMs,
  handlers: {
    [kind]: async () => {
      process.stdout.write('ran\n');
      return { againInMs: 20 };
    },
  },
});
