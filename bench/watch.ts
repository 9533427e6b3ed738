/**
 * Counts the PostgreSQL queries of this process and keeps a CPU profile, between `start` and `stop`; outside these calls it
 * neither counts nor samples.
 *
 * It counts calls of the client's `query`: each is one round trip, with one statement or a batch of statements.
 */
import { Session } from 'node:inspector/promises';
import pg from 'pg';
import { type Profile, type Shares, shares } from './profile.ts';

export interface Watched extends Shares {
  statements: number;
  roundTrips: number;
}

export interface Watch {
  start(): Promise<void>;
  stop(): Promise<Watched>;
}

export async function openWatch(): Promise<Watch> {
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

  session.connect();
  await session.post('Profiler.enable');
  return {
    async start() {
      [statements, roundTrips] = [0, 0];
      Object.assign(pg.Client.prototype, { query: counted });
      await session.post('Profiler.setSamplingInterval', { interval: 500 });
      await session.post('Profiler.start');
    },
    async stop() {
      const { profile } = await session.post('Profiler.stop');
      Object.assign(pg.Client.prototype, { query: plain });
      return { statements, roundTrips, ...shares(profile as Profile) };
    },
  };
}
