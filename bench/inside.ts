/**
 * Loaded into the server before anything else (`--import`): between `start` and `stop` it counts PostgreSQL queries and keeps a
 * CPU profile; outside these calls it neither counts nor samples. If the bench dies, the server stops as after Ctrl-C.
 *
 * It counts calls of the client's `query`: each is one round trip, with one statement or a batch of statements.
 */
import { Session } from 'node:inspector/promises';
import pg from 'pg';
import { type Profile, shares } from './profile.ts';

const plain = pg.Client.prototype.query;
const session = new Session();
let statements = 0;
let roundTrips = 0;

function counted(this: pg.Client, ...given: unknown[]): unknown {
  const [asked] = given as [{ size?: number }];
  roundTrips += 1;
  statements += asked.size ?? 1;
  return Reflect.apply(plain, this, given);
}

async function start(): Promise<void> {
  [statements, roundTrips] = [0, 0];
  Object.assign(pg.Client.prototype, { query: counted });
  await session.post('Profiler.setSamplingInterval', { interval: 500 });
  await session.post('Profiler.start');
  process.send?.({ started: true });
}

async function stop(): Promise<void> {
  const { profile } = await session.post('Profiler.stop');
  Object.assign(pg.Client.prototype, { query: plain });
  process.send?.({ statements, roundTrips, ...shares(profile as Profile) });
}

session.connect();
await session.post('Profiler.enable');
process.on('message', (asked) => void (asked === 'start' ? start() : stop()));
process.once('disconnect', () => process.kill(process.pid, 'SIGINT'));
process.channel?.unref();
