/**
 * A separate database for a test, dropped afterwards.
 *
 * Under `npm test` it is created in the run's shared PostgreSQL; a file that runs alone starts one and stops it at the end.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../../src/base/migrate.ts';
import { startPostgres } from '../../src/base/postgres.ts';
import { openPersonal, type Personal } from './personal.ts';

export interface FreshDatabase {
  /** Connection string of the superuser for this database. */
  adminUrl: string;
  /** What is looked for when it is dropped. */
  personal: Personal;
  /** @throws AssertionError when it, or what was named beside it, has a person's value in clear */
  drop(): Promise<void>;
}

/**
 * Copied from TEST_DATABASE_TEMPLATE, a migrated database without connections, where the runner has created one: a copy takes a
 * tenth of the time of the migrations.
 *
 * @param isEmpty for tests of the migrations themselves
 */
export async function freshDatabase({ isEmpty = false }: { isEmpty?: boolean } = {}): Promise<FreshDatabase> {
  const serverUrl = await adminUrlOfServer();
  const name = `test_${process.pid}_${randomBytes(4).toString('hex')}`;
  const template = isEmpty ? undefined : process.env.TEST_DATABASE_TEMPLATE;
  await onServer(
    serverUrl,
    `create database ${name} strategy file_copy${template === undefined ? '' : ` template ${pg.escapeIdentifier(template)}`}`,
  );
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const personal = openPersonal();
  return {
    adminUrl: url.href,
    personal,
    async drop() {
      let found: string[] = [];
      try {
        found = await personal.found(url.href);
      } finally {
        await onServer(serverUrl, `drop database if exists ${name} with (force)`);
      }
      assert.deepEqual(found, [], 'a value of a person is in clear');
    },
  };
}

/**
 * Creates a migrated database without connections, for TEST_DATABASE_TEMPLATE. A program that watches the migrations creates one
 * more after each change.
 *
 * @returns its name
 */
export async function migratedTemplate(serverUrl: string): Promise<string> {
  const name = `test_template_${randomBytes(4).toString('hex')}`;
  await onServer(serverUrl, `create database ${name}`);
  await migrate(Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href, randomBytes(16).toString('hex'));
  return name;
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

let own: Promise<string> | undefined;

function adminUrlOfServer(): Promise<string> {
  const given = process.env.TEST_DATABASE_ADMIN_URL;
  if (given !== undefined) return Promise.resolve(given);
  own ??= startOwn();
  return own;
}

async function startOwn(): Promise<string> {
  const folder = join(import.meta.dirname, '..', '..', '..', '.test-data', String(process.pid));
  const postgres = await startPostgres({ dataDir: folder, fast: true });
  process.once('beforeExit', async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return postgres.adminUrl;
}
