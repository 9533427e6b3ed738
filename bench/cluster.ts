/** A PostgreSQL cluster for the limits, and for the parts of ours that need no whole server, with a database for each. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../server/src/base/postgres.ts';
import { postmasterOf } from './cpu.ts';

export interface Cluster {
  /** The superuser's URL of the database `postgres`. */
  adminUrl: string;
  /** The postmaster's pid; its other processes descend from it. */
  pid: number;
}

export async function startCluster(folder: string, ending: (() => Promise<void>)[]): Promise<Cluster> {
  const dataDir = join(folder, 'limit');
  mkdirSync(dataDir);
  const postgres = await startPostgres({ dataDir });
  ending.push(() => postgres.stop());
  return { adminUrl: postgres.adminUrl, pid: postmasterOf(dataDir) };
}

/** @returns the superuser's URL of a new database */
export async function newDatabase({ adminUrl }: Cluster, name: string): Promise<string> {
  await withClient(adminUrl, (client) => client.query(`create database ${name}`));
  return Object.assign(new URL(adminUrl), { pathname: `/${name}` }).href;
}

/** @param schema first schema of the search path */
export async function withClient<T>(
  url: string,
  body: (client: pg.Client) => Promise<T>,
  schema = 'public',
): Promise<T> {
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema} -c timezone=UTC` });
  await client.connect();
  try {
    return await body(client);
  } finally {
    await client.end();
  }
}
