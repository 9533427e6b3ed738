/**
 * `npm run reconcile` and `npm run verify-ledger`: the commands. They read the database of this configuration, whether the
 * server runs or not, and exit with 0 when everything agrees, 1 when something does not, 2 when the check could not be made.
 */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import pg from 'pg';
import { systemClock } from '../base/clock.ts';
import { openDatabase, type Tx, txOn } from '../base/db.ts';
import { SettingError } from '../base/env.ts';
import { openLog } from '../base/log.ts';
import { migrateFor } from '../base/migrate.ts';
import { configuredVault, onDatabase, runCommand, vaultIfThere } from '../composition/command.ts';
import { type Config, readConfig } from '../config.ts';
import { productionProfile } from '../production/index.ts';
import { reconcileAll } from '../reconcile/all.ts';
import { reconciledTable } from '../reconcile/show.ts';
import { verifiedTable, verifyLedger } from '../reconcile/verify.ts';
import { rails as railsOf } from '../registry.ts';
import { watchOutside } from '../sandbox/watch.ts';

const HELP = `
  npm run reconcile
      Compares the books with chains and banks, item by item, from the beginning.

  npm run verify-ledger [-- --seal <number>:<hash>] [--audit-seal <number>:<hash>]
      Recomputes the books from the journal, and verifies the audit against its seals. --seal, --audit-seal: newest seals of an
      earlier run, stored elsewhere.
`;

/** Exit codes. */
const CLEAN = 0;
const BROKEN = 1;
const COULD_NOT = 2;

async function main(): Promise<number> {
  const [command, ...args] = process.argv.slice(2);
  const config = readConfig(process.env);
  if (command === 'verify-ledger') {
    const kept = parsed(args, { seal: { type: 'string' }, 'audit-seal': { type: 'string' } });
    return await onDatabase(config, async (adminUrl) => await verify(config, adminUrl, kept));
  }
  if (command !== 'reconcile') throw new SettingError(HELP);
  parsed(args, {});
  return await onDatabase(config, async (adminUrl, isRunning) => await reconcile(config, adminUrl, isRunning));
}

async function reconcile(config: Config, adminUrl: string, isRunning: boolean): Promise<number> {
  const [clock, log] = [systemClock, openLog(config.logLevel)];
  const production = config.profile === 'production' ? productionProfile(config) : undefined;
  const vault = configuredVault(config);
  const db = openDatabase(await migrateFor(adminUrl, vault));
  try {
    const deps = { db, adminUrl, vault, clock, log };
    const watched = await (production?.connect(deps) ?? watchOutside({ config, isRunning, ...deps }));
    try {
      const report = async (): Promise<never> => {
        throw new Error('a reconciliation on demand reports no facts');
      };
      const rails = railsOf(watched.connections, { ...deps, report });
      const shown = await reconcileAll(deps, rails, isRunning);
      process.stdout.write(reconciledTable(shown));
      if (shown.some(({ items }) => items.some(({ transit }) => transit === null))) return BROKEN;
      return shown.some(({ failed }) => failed !== undefined) ? COULD_NOT : CLEAN;
    } finally {
      await watched.stop();
    }
  } finally {
    await db.close();
  }
}

async function verify(config: Config, adminUrl: string, kept: Readonly<Record<string, unknown>>): Promise<number> {
  const [journal, audit] = ['seal', 'audit-seal'].map((name) =>
    kept[name] === undefined ? undefined : readSeal(name, String(kept[name])),
  );
  const [first, second] = [snapshotReader(adminUrl), snapshotReader(adminUrl)];
  try {
    const tx = await first.begin();
    const snapshot = await tx.row<{ id: string }>('select pg_export_snapshot() as id');
    const beside = await second.begin(snapshot?.id);
    const verified = await verifyLedger(tx, { kept: journal, keptAudit: audit, vault: vaultIfThere(config), beside });
    process.stdout.write(verifiedTable(verified));
    return verified.problems.length === 0 ? CLEAN : BROKEN;
  } finally {
    await Promise.all([first.end(), second.end()]);
  }
}

/** A connection with one transaction that only reads. */
function snapshotReader(adminUrl: string) {
  const client = new pg.Client({ connectionString: adminUrl, options: '-c search_path=cloverleaf' });
  client.on('error', () => {});
  return {
    /** @param snapshot of another transaction, which is still open; without one, the transaction has its own */
    begin: async (snapshot?: string): Promise<Tx> => {
      await client.connect();
      await client.query('begin isolation level repeatable read read only');
      if (snapshot !== undefined) await client.query(`set transaction snapshot ${client.escapeLiteral(snapshot)}`);
      return txOn(client);
    },
    end: async () => await client.end(),
  };
}

function readSeal(name: string, text: string): { number: bigint; hash: string } {
  const found = /^([1-9][0-9]{0,17}):([0-9a-fA-F]{64})$/.exec(text);
  if (found === null) throw new SettingError(`--${name} must be <number>:<64 hex digits>, as verify-ledger prints it`);
  return { number: BigInt(found[1] ?? 0), hash: (found[2] ?? '').toLowerCase() };
}

function parsed(args: string[], options: NonNullable<ParseArgsConfig['options']>) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new SettingError(`${(error as Error).message}\n${HELP}`);
  }
}

runCommand(main, COULD_NOT);
