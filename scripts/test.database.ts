/** PostgreSQL for a run of tests: on a folder of its own, which the run removes. */
import { startPostgres } from '../server/src/base/postgres.ts';

/** A database lives for the seconds of its test: nothing is archived, vacuumed, or worth a slow hash of a password. */
const SETTINGS = {
  ...{ wal_level: 'minimal', max_wal_senders: '0', max_wal_size: '256MB' },
  ...{ autovacuum: 'off', scram_iterations: '1' },
};

export const startTestDatabase = (dataDir: string): ReturnType<typeof startPostgres> =>
  startPostgres({ dataDir, fast: true, settings: SETTINGS });
