/** The database and keys of the configuration, for commands other than the server. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openVault, type Vault } from '../base/crypto.ts';
import { SettingError } from '../base/env.ts';
import { Unavailable } from '../base/errors.ts';
import { lockDataDir } from '../base/lock.ts';
import { runningPostgres, startPostgres } from '../base/postgres.ts';
import type { Config } from '../config.ts';
import { productionProfile } from '../production/index.ts';

/** @throws SettingError when no server was ever started with this configuration */
export function configuredVault(config: Config): Vault {
  if (config.profile === 'production') {
    const { masterKey, oldMasterKey } = productionProfile(config);
    return openVault(masterKey, oldMasterKey);
  }
  const vault = vaultIfThere(config);
  if (vault !== undefined) return vault;
  throw new SettingError(
    `DATA_DIR ${config.dataDir} has no master.key, and MASTER_KEY is not set: no server was ever started here`,
  );
}

/** The vault, or undefined: for a command that reports more with the master key and also works without it. */
export function vaultIfThere({ masterKey, oldMasterKey, dataDir }: Config): Vault | undefined {
  const path = join(dataDir, 'master.key');
  const key = masterKey ?? (existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined);
  if (key === undefined) return undefined;
  return openVault(Buffer.from(key, 'hex'), oldMasterKey === undefined ? undefined : Buffer.from(oldMasterKey, 'hex'));
}

/**
 * Runs a command and ends its process with the returned code, or with `failed` and a message. What an operator can mend (a setting, a
 * system that is away) has no stack in it.
 */
export function runCommand(main: () => Promise<number>, failed: number): void {
  main().then(
    (code) => process.exit(code),
    (error: unknown) => {
      const isExpected = error instanceof SettingError || error instanceof Unavailable;
      process.stderr.write(`${isExpected ? error.message : ((error as Error)?.stack ?? String(error))}\n`);
      process.exit(failed);
    },
  );
}

/**
 * The database of this configuration: the operator's own, that of the running server, or the embedded one, started for this
 * command. If no server runs, the data folder is locked, so that none starts meanwhile.
 */
export async function onDatabase(
  config: Config,
  body: (adminUrl: string, isRunning: boolean) => Promise<number>,
): Promise<number> {
  const release = lockIfFree(config.dataDir);
  try {
    const url = config.databaseUrl ?? runningPostgres(config.dataDir);
    if (url !== undefined) return await body(url, release === undefined);
    const postgres = await startPostgres({ dataDir: config.dataDir });
    try {
      return await body(postgres.adminUrl, release === undefined);
    } finally {
      await postgres.stop();
    }
  } finally {
    release?.();
  }
}

/** Locks the data folder; undefined when a server holds the lock. */
function lockIfFree(dataDir: string): (() => void) | undefined {
  try {
    return lockDataDir(dataDir);
  } catch (error) {
    if (error instanceof Unavailable) return undefined;
    throw error;
  }
}
