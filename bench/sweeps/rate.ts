/**
 * `node bench/sweeps/rate.ts [sales] [0|1]`: sweeps per second of a fresh sandbox, sent alone (0), in batches (1), or both.
 *
 * Sales are paid and settled first, with sweeping held back by its minimum. Then the minimum is lifted, and the time until every
 * deposit is swept and booked is measured, with what the chain transactions have cost. Blocks come once a second, and a sweep is
 * booked when it is final: so a few seconds of each time are waiting.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { runningPostgres } from '../../server/src/base/postgres.ts';
import { type Cluster, startCluster, withClient } from '../cluster.ts';
import { cpuOf } from '../cpu.ts';
import { measureLives } from '../lives.ts';
import { startOurs } from '../ours.ts';
import { releaseSweeps } from '../sweeps.ts';

const PATIENCE_MS = 400_000;
const NO_IDLE = { transactions: 0, rowsInserted: 0, rowsUpdated: 0, rowsDeleted: 0, walBytes: 0, cpu: 0 };

/** Deposits whose sweep is not submitted; sweeps that are not in the books. */
const UNSENT = `select ((select count(*) from chain_deposits where sweep is null)
                      + (select count(*) from own_transfers where kind = 'sweep' and state = 'created'))::int as count`;
const UNBOOKED = `select count(*)::int as count from own_transfers where kind = 'sweep' and booked_at is null`;

const [salesWanted = '100', onlyBatches] = parseArgs({ allowPositionals: true }).positionals;
const sales = Number(salesWanted);
const folder = mkdtempSync(join(tmpdir(), 'cloverleaf-sweeps-'));
const ending: (() => Promise<void>)[] = [];
const endAll = async () => {
  for (let end = ending.pop(); end !== undefined; end = ending.pop()) await end();
};

async function measure(cluster: Cluster, batches: '0' | '1'): Promise<string> {
  const dataDir = join(folder, `batches${batches}`);
  const ours = await startOurs(dataDir, ending, [], { SWEEP_BATCHES: batches });
  const adminUrl = runningPostgres(dataDir) ?? '';
  return await withClient(
    adminUrl,
    async (client) => {
      await measureLives({ ours, adminUrl, idle: NO_IDLE as never }, cluster, sales);
      await releaseSweeps(client);
      const count = await countOf(client, UNSENT);
      const [began, cpuBefore] = [performance.now(), cpuOf([ours.pid])];
      const until = async (left: string): Promise<number> => {
        while ((await countOf(client, left)) > 0) {
          if (performance.now() - began > PATIENCE_MS) throw new Error('some deposits are not swept');
          await sleep(100);
        }
        return (performance.now() - began) / 1_000;
      };
      const submitted = await until(UNSENT);
      const seconds = await until(UNBOOKED);
      const cpu = (cpuOf([ours.pid]) - cpuBefore) / count;
      const spent = await spentIn(client);
      return `${batches === '1' ? 'in batches' : 'alone'}: ${count} deposits in ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(1)} a second (all submitted after ${submitted.toFixed(1)} s, ${(count / submitted).toFixed(1)} a second); ${(spent.sends / count).toFixed(2)} chain transactions and ${(spent.gasUnits / count / 1e9).toFixed(0)} gwei of fees per deposit; ${(cpu / 1_000).toFixed(1)} ms of CPU (load ${loadavg()[0]?.toFixed(1)})`;
    },
    'cloverleaf',
  );
}

const countOf = async (client: pg.Client, sql: string): Promise<number> =>
  (await client.query<{ count: number }>(sql)).rows[0]?.count ?? 0;

async function spentIn(client: pg.Client): Promise<{ sends: number; gasUnits: number }> {
  const { rows } = await client.query<{ sends: number; gasUnits: number }>(
    `select count(*)::int as sends, sum(cost_units)::float8 as "gasUnits" from chain_sends
      where state = 'confirmed' and (key like 'sweep:%' or key like 'gas:%')`,
  );
  return rows[0] ?? { sends: 0, gasUnits: 0 };
}

try {
  for (const batches of ['0', '1'] as const) {
    if (onlyBatches !== undefined && onlyBatches !== batches) continue;
    const own = join(folder, `cluster${batches}`);
    mkdirSync(own);
    process.stdout.write(`${await measure(await startCluster(own, ending), batches)}\n`);
    await endAll();
  }
} finally {
  await endAll();
  rmSync(folder, { recursive: true, force: true });
}
