/**
 * A worker: a process that plays one seed after the other, for the process that started it (workers.ts): on a PostgreSQL of its
 * own, or on that of another worker which does not play meanwhile. Time is shared in a whole process (time.ts), so two concurrent
 * runs need two of them.
 */
import { fixtureAt, type Place, prepareFixture } from './ground.ts';
import { parting, simulate } from './run.ts';
import type { Asked, Told } from './workers.ts';

/** Of a failed run: how many of its last points are reported. */
const LAST_POINTS = 400;

const { SIMULATION_GROUND } = process.env;
const fixture =
  SIMULATION_GROUND === undefined ? await prepareFixture() : fixtureAt(JSON.parse(SIMULATION_GROUND) as Place);
process.on('message', (asked: Asked) => void play(asked).then((told) => process.send?.(told)));
process.on('disconnect', () => void fixture.drop().then(() => process.exit()));
// Ctrl-C at the terminal ends the process that started this one, and that ends this one.
process.on('SIGINT', () => {});
process.send?.(fixture.place);

async function play({ twice, ...asked }: Asked): Promise<Told> {
  const outcome = await simulate(fixture, asked);
  if (twice) {
    const parts = parting(outcome, await simulate(fixture, asked));
    if (parts !== undefined) outcome.violations.push({ kind: 'run', what: parts });
  }
  return { ...outcome, schedule: outcome.violations.length === 0 ? [] : outcome.schedule.slice(-LAST_POINTS) };
}
