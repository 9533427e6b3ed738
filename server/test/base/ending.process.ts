/**
 * A worker in a process of its own, whose job ends in its handler's transaction together with an effect: one more job. It says where
 * it is, and waits there to be killed. endings.test.ts starts it with its instructions as JSON in the first argument.
 */
import { systemClock } from '../../src/base/clock.ts';
import { openDatabase } from '../../src/base/db.ts';
import { enqueueAt } from '../../src/base/jobs.ts';
import { openLog } from '../../src/base/log.ts';
import { startWorkers } from '../../src/base/workers.ts';

const { serverUrl, kind, stopsAt } = JSON.parse(process.argv[2] ?? '{}') as {
  serverUrl: string;
  kind: string;
  stopsAt: 'before the commit' | 'after the commit';
};
const db = openDatabase(serverUrl);
const forever = async (): Promise<void> => {
  process.stdout.write('there\n');
  await new Promise(() => {});
};
await startWorkers({
  db,
  clock: systemClock,
  log: openLog('silent'),
  handlers: {
    async [kind](subject, run) {
      await db.asSystem(async (tx) => {
        enqueueAt(tx, { kind: `${kind}_effect`, subject, dueAt: systemClock.now() });
        run?.ends(tx, undefined);
        await tx.rows('select 1');
        if (stopsAt === 'before the commit') await forever();
      });
      await forever();
      return undefined;
    },
  },
});
