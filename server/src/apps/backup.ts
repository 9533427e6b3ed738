/**
 * `npm run backup -- --to <folder>` and `npm run restore -- --from <backup>`: the commands.
 *
 * A backup is taken from the running server's database. If the server is stopped, the command starts its database. A restore
 * needs the server stopped, which the data folder's lock ensures. It ends with all payouts switched off, in the database, until
 * an operator switches them on; `--restored` does only that, for a PostgreSQL that other tools have restored.
 */

import { type ParseArgsConfig, parseArgs } from 'node:util';
import { markRestored, restoreBackup, takeBackup } from '../backup/index.ts';
import { defined } from '../base/defined.ts';
import { SettingError } from '../base/env.ts';
import { Unavailable } from '../base/errors.ts';
import { lockDataDir } from '../base/lock.ts';
import { runningPostgres, startPostgres } from '../base/postgres.ts';
import { type Config, readConfig } from '../config.ts';

const HELP = `
  npm run backup -- --to <folder>
      Copies the embedded database in DATA_DIR into a new folder in <folder>. The server may be running.

  npm run restore -- --from <backup> [--archive <folder>] [--replace]
      Restores a backup into DATA_DIR. The server must be stopped.
      --archive  folder with the log since the backup; WAL_ARCHIVE_DIR by default
      --replace  move the existing database aside, and also restore from its last log

  npm run restore -- --restored
      For your own PostgreSQL (DATABASE_URL) after its tools have restored it, before the first server starts: payouts
      are switched off, and no number that was issued after the backup is issued again.

  After both, no payout is submitted until an operator allows it: docs/operating/backup.md.
  No backup contains the master key: keep DATA_DIR/master.key, or MASTER_KEY, in another safe place.
`;

async function main(): Promise<void> {
  const [command, ...args] = process.argv.slice(2);
  const config = readConfig(process.env);
  if (command === 'backup') return await backup(config, parsed({ args, options: { to: { type: 'string' } } }));
  if (command === 'restore')
    return await restore(
      config,
      parsed({
        args,
        options: {
          from: { type: 'string' },
          archive: { type: 'string' },
          replace: { type: 'boolean' },
          restored: { type: 'boolean' },
        },
      }),
    );
  process.stdout.write(HELP);
}

async function backup(config: Config, { to }: { to?: string }): Promise<void> {
  if (to === undefined) throw new SettingError(`--to is missing: the folder of the backups\n${HELP}`);
  if (config.databaseUrl !== undefined)
    throw new SettingError(
      'DATABASE_URL is set: a PostgreSQL of your own is backed up by its own tools (docs/operating/backup.md)',
    );
  let adminUrl = runningPostgres(config.dataDir);
  let end = async () => {};
  if (adminUrl === undefined) {
    const release = lockDataDir(config.dataDir);
    const postgres = await startPostgres({ dataDir: config.dataDir });
    adminUrl = postgres.adminUrl;
    end = async () => {
      await postgres.stop();
      release();
    };
  }
  try {
    const { folder, manifest, bytes } = await takeBackup({ adminUrl, dataDir: config.dataDir }, to, new Date());
    say(
      `${folder}: ${manifest.files.length} files, ${(bytes / 1e6).toFixed(0)} MB, log ${manifest.startLsn} to ${manifest.stopLsn}`,
    );
  } finally {
    await end();
  }
}

async function restore(
  config: Config,
  input: { from?: string; archive?: string; replace?: boolean; restored?: boolean },
): Promise<void> {
  if (input.restored) return await restored(config, input.from);
  if (config.databaseUrl !== undefined)
    throw new SettingError(
      'DATABASE_URL is set: restore your own PostgreSQL with its own tools, then mark it with --restored',
    );
  if (input.from === undefined) throw new SettingError(`--from is missing: the backup's folder\n${HELP}`);
  const release = lockDataDir(config.dataDir);
  try {
    const archive = input.archive ?? config.walArchiveDir;
    const restored = await restoreBackup({
      backup: input.from,
      dataDir: config.dataDir,
      replace: input.replace === true,
      now: new Date(),
      ...defined({ archive }),
    });
    say(`Restored the backup of ${restored.manifest.takenAt} and ${restored.laterPieces} later pieces of log.`);
    say(`Its newest entry: ${restored.lastCommitAt?.toISOString() ?? 'none'}.`);
    if (restored.movedTo !== undefined) say(`The previous data is in ${restored.movedTo}.`);
    say(STOPPED);
  } finally {
    release();
  }
}

/** An external PostgreSQL was restored with another tool. */
async function restored({ databaseUrl }: Config, from: string | undefined): Promise<void> {
  if (from !== undefined) throw new SettingError('--restored and --from exclude each other');
  if (databaseUrl === undefined) throw new SettingError('--restored is for DATABASE_URL, which is not set');
  const { lastCommitAt } = await markRestored(databaseUrl, { now: new Date() });
  say(`Its newest entry: ${lastCommitAt?.toISOString() ?? 'none'}.`);
  say(STOPPED);
}

const STOPPED = `Payouts are switched off: what was paid after that moment is not in the books.
Compare the books with chains and banks first, then run: npm run operator -- kill-switch lift payouts all (docs/operating/backup.md).`;

/** @throws SettingError with the help, for an unknown option */
function parsed<T extends ParseArgsConfig>(config: T) {
  try {
    return parseArgs(config).values;
  } catch (error) {
    throw new SettingError(`${(error as Error).message}\n${HELP}`);
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

main().catch((error: unknown) => {
  const expected = error instanceof SettingError || error instanceof Unavailable;
  process.stderr.write(`${expected ? (error as Error).message : ((error as Error)?.stack ?? String(error))}\n`);
  process.exit(1);
});
