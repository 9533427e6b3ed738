/**
 * `npm run grow [-- --orders 1000000] [--customers 200000] [--data-dir data-grown] [--full]`: a sandbox's database with as many
 * whole orders as after years, made by COPY.
 *
 * It starts a sandbox, makes a few orders of each kind in it (lives.ts), stops it, and multiplies their rows (capture.ts,
 * compile.ts, generate.ts). A server then starts on the result: `DATA_DIR=data-grown npm start`. The chains' nodes and the bank
 * do not show the copies' movements, so the daily full reconciliation would report them as missing.
 *
 * `--full` makes ten million orders, or as many as leave 30 GB of the disk free.
 */
import { existsSync, statfsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../server/src/base/postgres.ts';
import { startOurs } from '../ours.ts';
import { clientOf, grow } from './grow.ts';
import { allIsDone, type Lived, live } from './lives.ts';

const { values } = parseArgs({
  options: {
    orders: { type: 'string', default: '1000000' },
    customers: { type: 'string', default: '200000' },
    years: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    'data-dir': { type: 'string', default: 'data-grown' },
    full: { type: 'boolean', default: false },
  },
});

/** Measured, including indexes and the temporary space for building them. */
const BYTES_PER_ORDER = 26_000;
const KEPT_FREE = 30e9;
const MOST_ORDERS = 10_000_000;

/** While rows are copied the database need not survive a crash, and has no other clients. */
const LOADING = {
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
  autovacuum: 'off',
  maintenance_work_mem: '1GB',
  synchronous_commit: 'off',
};

const began = performance.now();
const tell = (what: string): void => {
  process.stdout.write(`${((performance.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${what}\n`);
};

async function main(): Promise<void> {
  const dataDir = resolve(values['data-dir']);
  if (existsSync(join(dataDir, 'postgres'))) throw new Error(`${dataDir} has a database: name a new folder`);
  const ending: (() => Promise<void>)[] = [];
  try {
    const postgres = await startPostgres({ dataDir, fast: true, settings: LOADING });
    ending.push(() => postgres.stop());
    const lived = await livesIn(dataDir, postgres.adminUrl);
    const orders = values.full ? affordable(dataDir) : Number(values.orders);
    const plan = {
      orders,
      customers: Number(values.customers),
      seed: Number(values.seed),
      years: Number(values.years),
    };
    await grow({ dataDir, adminUrl: postgres.adminUrl, lived, plan, tell });
  } finally {
    for (const end of ending.toReversed()) await end();
  }
}

const affordable = (dataDir: string): number => {
  const { bavail, bsize } = statfsSync(dataDir);
  return Math.min(MOST_ORDERS, Math.floor((bavail * bsize - KEPT_FREE) / BYTES_PER_ORDER));
};

/** Starts a sandbox, makes some orders in it, and stops it. */
async function livesIn(dataDir: string, adminUrl: string): Promise<Lived[]> {
  const ending: (() => Promise<void>)[] = [];
  try {
    const ours = await startOurs(dataDir, ending, [], { DATABASE_URL: adminUrl });
    tell('a sandbox is ready');
    const all: Lived[] = [];
    for (const [at, partner] of ours.partners.entries()) all.push(await live(partner, `+91-70000000${at}0`));
    await using client = await clientOf(adminUrl);
    await allIsDone(client.pg);
    tell(`${all.reduce((sum, { orders }) => sum + orders.length, 0)} orders lived`);
    return all;
  } finally {
    for (const end of ending.toReversed()) await end();
  }
}

await main();
