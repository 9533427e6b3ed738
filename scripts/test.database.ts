/** PostgreSQL for a run of tests: on a folder of its own, which the run removes. */
import { type Postgres, startPostgres } from '../server/src/base/postgres.ts';
import { socketIn } from '../server/test/support/socket.ts';

/** A database lives for the seconds of its test: nothing is archived, vacuumed, or worth a slow hash of a password. */
const SETTINGS = {
  ...{ wal_level: 'minimal', max_wal_senders: '0', max_wal_size: '256MB' },
  ...{ autovacuum: 'off', scram_iterations: '1' },
};

/** Tests reach it by its socket, where a round trip costs a third less than over TCP: `adminUrl` names both. */
export async function startTestDatabase(dataDir: string): Promise<Postgres> {
  const socket = socketIn(dataDir);
  const postgres = await startPostgres({ dataDir, fast: true, settings: { ...SETTINGS, ...socket.settings } });
  return { ...postgres, adminUrl: socket.urlOf(postgres) };
}
