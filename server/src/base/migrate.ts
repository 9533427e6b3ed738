/**
 * Migrations: plain SQL files, forward only, each applied once, in the order of their names.
 *
 * Runs as the owner of the database (the admin URL), under an advisory lock, so that several servers may start at once. A
 * file that changed after it was applied is an error: applied migrations are never edited.
 *
 * During an upgrade servers of two versions run side by side, so a migration must work with older code: it adds, and removes
 * nothing that the previous version reads or writes. A migration for which this is impossible starts with the line `-- Breaking:
 * <why>`. It is not applied while a server runs that does not know it. A server that does not know an applied breaking migration
 * refuses to start, or stops at its next check (servers.ts). Other unknown migrations are accepted.
 *
 * Files are numbered from 0001 without gaps. A database whose first migration differs from ours was made by a development
 * version before 0.1.0, or by another program, and is an error.
 *
 * The server then connects with its own login, which has no rights except through the two roles (0001_base.sql). The login's
 * password is derived from the master key, so every process of an installation derives the same one. A server with another master
 * key could not decrypt anything and would lock the others out, so it does not start. A server that has both the old and the new
 * key changes the password, once no server runs with only the old key.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import type { Vault } from './crypto.ts';
import { SettingError } from './env.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);
const FROM_BEFORE =
  'The database was made by a development version before 0.1.0, whose migrations no longer exist. Start on an empty database: in the sandbox delete the data folder (DATA_DIR), elsewhere name another database in DATABASE_URL. A database that holds money of customers has to be finished with the version that made it.';
const BREAKING = /^-- Breaking: (.+)$/m;
/** A server reports every ten seconds (servers.ts). One that was not seen for this long counts as gone. */
const GONE_AFTER_S = 30;
/** Advisory lock key, an arbitrary constant. */
export const MIGRATION_LOCK = 0x6d696772;
/** SQLSTATE invalid_password. */
const WRONG_PASSWORD = '28P01';

/**
 * @param adminUrl URL of a role that may create schemas, tables and roles in this database
 * @param password of the server's own login
 * @param folder   of migrations, ending in a slash
 * @param oldPassword the login's password under the old master key, during a rotation
 * @returns the URL with which the server connects
 */
export async function migrate(
  adminUrl: string,
  password: string,
  folder: URL = FOLDER,
  oldPassword?: string,
): Promise<string> {
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await client.query('create schema if not exists cloverleaf_meta');
    await client.query(
      `create table if not exists cloverleaf_meta.migrations
         (name text primary key, content text not null, applied_at timestamptz not null default now())`,
    );
    await client.query('alter table cloverleaf_meta.migrations add column if not exists breaking text');
    const isNew = await apply(client, folder);
    return await ensureLogin(client, { adminUrl, password, oldPassword, isNew });
  } finally {
    await client.end();
  }
}

/** As `migrate`, with the passwords that a vault derives from its master key and its old one. */
export const migrateFor = (adminUrl: string, vault: Vault): Promise<string> =>
  migrate(adminUrl, vault.derive('database login'), FOLDER, vault.old?.derive('database login'));

/** Names of this version's migrations, in order. */
export const knownMigrations = async (folder: URL = FOLDER): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();

/** @returns whether the database was empty */
async function apply(client: pg.Client, folder: URL): Promise<boolean> {
  const names = await knownMigrations(folder);
  const applied = new Map<string, { content: string; breaking: string | null }>(
    (await client.query('select name, content, breaking from cloverleaf_meta.migrations')).rows.map((row) => [
      row.name,
      row,
    ]),
  );
  if (applied.size > 0 && !applied.has(names[0] ?? '')) throw new SettingError(FROM_BEFORE);
  for (const [name, { breaking }] of applied)
    if (breaking !== null && !names.includes(name)) throw tooOld(name, breaking);
  for (const name of names) {
    const text = await readFile(new URL(name, folder), 'utf8');
    const content = createHash('sha256').update(text).digest('hex');
    const before = applied.get(name)?.content;
    const breaking = BREAKING.exec(text.slice(0, text.indexOf('\n')))?.[1] ?? null;
    if (before === content) continue;
    if (before !== undefined) throw new Error(`Migration ${name} has changed since it was applied to this database.`);
    if (breaking !== null) await refuseWhileOlderRun(client, name, breaking);
    try {
      await client.query('begin');
      await client.query(text);
      await client.query('insert into cloverleaf_meta.migrations (name, content, breaking) values ($1, $2, $3)', [
        name,
        content,
        breaking,
      ]);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw new Error(`Migration ${name} failed: ${(error as Error).message}`, { cause: error });
    }
    await client.query('reset search_path');
  }
  return applied.size === 0;
}

export const tooOld = (name: string, why: string): SettingError =>
  new SettingError(
    `The database has been migrated by a newer version in a way that this one cannot work with (${name}: ${why}): run that version, or a later one.`,
  );

async function refuseWhileOlderRun(client: pg.Client, name: string, why: string): Promise<void> {
  const { rows: found } = await client.query("select to_regclass('cloverleaf.servers') is not null as there");
  if (!found[0]?.there) return;
  const { rows } = await client.query<{ version: string; count: bigint }>(
    `select version, count(*) as count from cloverleaf.servers
      where not known @> array[$1] and seen_at > now() - make_interval(secs => $2) group by version order by version`,
    [name, GONE_AFTER_S],
  );
  if (rows.length === 0) return;
  throw new SettingError(
    `Migration ${name} is breaking (${why}), and servers that do not know it still run (${rows.map((row) => `${row.count} of version ${row.version}`).join(', ')}): stop them first. One that was killed counts for ${GONE_AFTER_S} seconds.`,
  );
}

/** Servers that have only the old master key could neither reconnect nor read values encrypted from now on. */
async function refuseWhileServersRun(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ count: bigint }>(
    'select count(*) as count from cloverleaf.servers where seen_at > now() - make_interval(secs => $1)',
    [GONE_AFTER_S],
  );
  if (Number(rows[0]?.count) > 0)
    throw new SettingError(
      `MASTER_KEY is new, and ${rows[0]?.count} servers run with the old one: stop them all first. One that was killed counts for ${GONE_AFTER_S} seconds.`,
    );
}

/** The login is named after its database: logins belong to the whole cluster, and several databases may share a cluster. */
async function ensureLogin(
  client: pg.Client,
  {
    adminUrl,
    password,
    oldPassword,
    isNew,
  }: { adminUrl: string; password: string; oldPassword: string | undefined; isNew: boolean },
): Promise<string> {
  const { rows } = await client.query('select current_database() as database');
  const database: string = rows[0].database;
  const login = `${database}_server`.slice(0, 63);
  const url = new URL(adminUrl);
  url.username = encodeURIComponent(login);
  url.password = encodeURIComponent(password);

  const tries = async (tried = password): Promise<'works' | 'wrong password' | 'fails'> => {
    const at = new URL(url);
    at.password = encodeURIComponent(tried);
    const probe = new pg.Client({ connectionString: at.href, connectionTimeoutMillis: 10_000 });
    try {
      await probe.connect();
      return 'works';
    } catch (error) {
      return (error as { code?: string }).code === WRONG_PASSWORD ? 'wrong password' : 'fails';
    } finally {
      await probe.end().catch(() => {});
    }
  };
  const known = await client.query('select rolsuper or rolbypassrls as unbound from pg_roles where rolname = $1', [
    login,
  ]);
  if (known.rows[0]?.unbound) throw new Error(`The role ${login} bypasses row-level security: it must not.`);
  const before = known.rows.length > 0 ? await tries() : 'fails';
  const isOld = before === 'wrong password' && oldPassword !== undefined && (await tries(oldPassword)) === 'works';
  if (isOld) await refuseWhileServersRun(client);
  if (before === 'wrong password' && !isNew && !isOld)
    throw new SettingError(
      'MASTER_KEY: this database was set up with another master key. Start with that key, or with the DATA_DIR that has it as master.key, or on a database of its own.',
    );

  const quoted = client.escapeIdentifier(login);
  const secret = client.escapeLiteral(password);
  if (known.rows.length === 0)
    await client.query(`create role ${quoted} login noinherit nobypassrls password ${secret}`);
  else if (before !== 'works') await client.query(`alter role ${quoted} login noinherit password ${secret}`);
  // Also if the login exists: the process that created it may have been killed before this grant.
  await client.query(`grant cloverleaf_partner, cloverleaf_system to ${quoted}`);
  if (before !== 'works' && (await tries()) !== 'works')
    throw new Error(`The server's own login ${login} cannot connect: check pg_hba.conf of the database.`);
  return url.href;
}
