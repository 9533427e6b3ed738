/**
 * Rewriting the tables with personal data, so that their files hold no byte of overwritten and deleted rows any more.
 *
 * PostgreSQL leaves old versions of rows in the files of a table until it needs the place; `vacuum full` writes a new file of the
 * rows that are there. The tables are those whose columns the master key encrypts (parts.ts), and those with encrypted texts, also
 * where an erasure has emptied all of them. Statistics of the planner hold samples of the columns, so they are made again.
 *
 * One table at a time, each locked while it is rewritten. A table that stays locked by others is tried again and then reported. A
 * process that is stopped leaves each table as it was or rewritten, and the next run rewrites them all.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pauseAfter } from '../base/backoff.ts';
import { SettingError } from '../base/env.ts';
import { encryptedTables } from './rotate.ts';

export interface CompactReport {
  rewritten: { table: string; lockedMs: number; bytesBefore: bigint; bytesAfter: bigint }[];
  /** Tables that other transactions kept locked. */
  left: string[];
}

const ATTEMPTS = 5;
const PAUSES = { firstMs: 200, longestMs: 1_600 };
const LOCK_TIMEOUT = '55P03';
const DEADLOCK = '40P01';
const LOCK = `hashtext('compacting tables')`;

/**
 * @param adminUrl the login that owns the database, or a superuser
 * @param options.lockTimeoutMs maximum wait for a table's lock: others that want the table wait as long behind it
 * @param options.onTable called when a table is rewritten
 * @throws SettingError when the login may not, or another process is compacting
 */
export async function compact(
  adminUrl: string,
  options: { lockTimeoutMs: number; onTable?: (of: CompactReport['rewritten'][number]) => void },
): Promise<CompactReport> {
  const client = new pg.Client({
    connectionString: adminUrl,
    connectionTimeoutMillis: 10_000,
    // PostgreSQL ends the statement within a second if this process ends.
    options: `-c search_path=cloverleaf -c lock_timeout=${options.lockTimeoutMs} -c client_connection_check_interval=1000`,
  });
  client.on('error', () => {});
  await client.connect();
  try {
    await requireOwner(client);
    const { rows } = await client.query(`select pg_try_advisory_lock(${LOCK}) as locked`);
    if (rows[0]?.locked !== true) throw new SettingError('Another process compacts this database at this moment.');
    const report: CompactReport = { rewritten: [], left: [] };
    for (const table of [...(await personalTables(client)), 'pg_catalog.pg_statistic']) {
      const done = await rewrite(client, table);
      if (done === undefined) report.left.push(table);
      else {
        report.rewritten.push(done);
        options.onTable?.(done);
      }
    }
    return report;
  } finally {
    await client.end();
  }
}

/** `vacuum` only warns about a table that the login does not own, and leaves it. */
async function requireOwner(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ owner: string; mayCompact: boolean }>(
    `select pg_get_userbyid(datdba) as owner, rolsuper or pg_has_role(r.oid, datdba, 'usage') as "mayCompact"
       from pg_database, pg_roles r where datname = current_database() and rolname = current_user`,
  );
  if (rows[0]?.mayCompact !== true)
    throw new SettingError(`Only the owner of the database, ${rows[0]?.owner}, or a superuser may rewrite its tables.`);
}

/** Tables whose columns are encrypted, and those in which an encrypted text is or was. */
async function personalTables(client: pg.Client): Promise<string[]> {
  const tables = new Set<string>();
  for (const { table, texts } of await encryptedTables(client)) {
    if (tables.has(table)) continue;
    // An erasure writes this word instead of a typed text.
    const isUsed = `select from "${table}" where ${texts} ~ '(erased|enc:(op1|v1):)' limit 1`;
    if (texts === undefined || (await client.query(isUsed)).rowCount === 1) tables.add(table);
  }
  return [...tables].toSorted();
}

async function rewrite(client: pg.Client, table: string): Promise<CompactReport['rewritten'][number] | undefined> {
  const bytes = async (): Promise<bigint> =>
    (await client.query<{ bytes: bigint }>('select pg_total_relation_size($1::regclass) as bytes', [table])).rows[0]
      ?.bytes ?? 0n;
  const bytesBefore = await bytes();
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const began = performance.now();
    try {
      await client.query(`vacuum (full, analyze) ${table}`);
      return { table, lockedMs: Math.round(performance.now() - began), bytesBefore, bytesAfter: await bytes() };
    } catch (error) {
      const { code = '' } = error as { code?: string };
      if (code !== LOCK_TIMEOUT && code !== DEADLOCK) throw error;
      // Those who waited behind this one get their turn.
      await sleep(pauseAfter(attempt - 1, PAUSES));
    }
  }
  return undefined;
}
