/**
 * `npm run verify-ledger`: the command. It reads the database of this configuration, whether the server runs or not, and
 * ends with 0 where all holds, 1 where something does not, 2 where it could not look.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { txOn } from '../base/db.ts';
import { SettingError } from '../base/env.ts';
import { Unavailable } from '../base/errors.ts';
import { lockDataDir } from '../base/lock.ts';
import { type Config, readConfig } from '../config.ts';
import { runningPostgres, startPostgres } from '../sandbox/postgres.ts';
import { verifiedTable, verifyLedger } from './verify.ts';

const HELP = `
  npm run verify-ledger [-- --seal <number>:<hash>]
      Computes the books again from the journal. --seal: a newest seal that an earlier run printed and somebody kept.
`;

/** Exit codes. */
const CLEAN = 0;
const BROKEN = 1;
const COULD_NOT = 2;

async function main(): Promise<number> {
  const [command, ...args] = process.argv.slice(2);
  const config = readConfig(process.env);
  if (command !== 'verify-ledger') throw new SettingError(HELP);
  const { seal } = parsed(args);
  return await onDatabase(config, async (adminUrl) => await verify(adminUrl, seal));
}

async function verify(adminUrl: string, seal: string | undefined): Promise<number> {
  const kept = seal === undefined ? undefined : readSeal(seal);
  const client = new pg.Client({ connectionString: adminUrl, options: '-c search_path=cloverleaf' });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    const verified = await verifyLedger(txOn(client), kept);
    process.stdout.write(verifiedTable(verified));
    return verified.problems.length === 0 ? CLEAN : BROKEN;
  } finally {
    await client.end();
  }
}

/** The database of this configuration: one's own, that of the running server, or the embedded one, started for this. */
async function onDatabase<T>(config: Config, body: (adminUrl: string) => Promise<T>): Promise<T> {
  const running = config.databaseUrl ?? runningPostgres(config.dataDir);
  if (running !== undefined) return await body(running);
  const release = lockDataDir(config.dataDir);
  try {
    const postgres = await startPostgres({ dataDir: config.dataDir });
    try {
      return await body(postgres.adminUrl);
    } finally {
      await postgres.stop();
    }
  } finally {
    release();
  }
}

function readSeal(text: string): { number: bigint; hash: string } {
  const found = /^([1-9][0-9]{0,17}):([0-9a-fA-F]{64})$/.exec(text);
  if (found === null) throw new SettingError('--seal must be <number>:<64 hex digits>, as verify-ledger prints it');
  return { number: BigInt(found[1] ?? 0), hash: (found[2] ?? '').toLowerCase() };
}

function parsed(args: string[]): { seal?: string | undefined } {
  try {
    return parseArgs({ args, options: { seal: { type: 'string' } } }).values;
  } catch (error) {
    throw new SettingError(`${(error as Error).message}\n${HELP}`);
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    const expected = error instanceof SettingError || error instanceof Unavailable;
    process.stderr.write(`${expected ? (error as Error).message : ((error as Error)?.stack ?? String(error))}\n`);
    process.exit(COULD_NOT);
  },
);
