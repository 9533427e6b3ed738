/**
 * Fixture for tests: a separate migrated database, with the pools, the vault and a clock that can be moved.
 */
import { createHash } from 'node:crypto';
import pino from 'pino';
import { movableClock } from '../../src/base/clock.ts';
import { openVault } from '../../src/base/crypto.ts';
import { openDatabase } from '../../src/base/db.ts';
import { openLog } from '../../src/base/log.ts';
import { migrate } from '../../src/base/migrate.ts';
import { freshDatabase } from './database.ts';

export async function freshFixture() {
  const { adminUrl, personal, drop } = await freshDatabase();
  const vault = openVault(createHash('sha256').update('a master key for tests').digest());
  personal.of(vault);
  const said: string[] = [];
  personal.says('the log', () => said.join(''));
  const level = process.env.LOG_LEVEL;
  const serverUrl = await migrate(adminUrl, vault.derive('database login'));
  const db = openDatabase(serverUrl);
  return {
    adminUrl,
    serverUrl,
    db,
    vault,
    clock: movableClock(),
    log:
      level === undefined
        ? pino({ level: 'info', base: null }, { write: (line: string) => void said.push(line) })
        : openLog(level),
    personal,
    async stop() {
      await db.close();
      await drop();
    },
  };
}

export type Fixture = Awaited<ReturnType<typeof freshFixture>>;
