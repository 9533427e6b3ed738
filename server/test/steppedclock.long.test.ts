/** A server whose machine's clock steps ahead by an hour and back: the server stays active, and quotes are made all the while. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openLog } from '../src/base/log.ts';
import { readConfig } from '../src/config.ts';
import { type Running, start } from '../src/server.ts';
import { type Client, openClient } from './support/client.ts';
import { freshDatabase } from './support/database.ts';
import { until } from './support/until.ts';

const HOUR = 3_600_000;
const RealDate = Date;
let aheadMs = 0;
/** The machine's clock. PostgreSQL's clock is not changed. */
class SteppedDate extends RealDate {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [RealDate.now() + aheadMs] : given) as [number]));
  }
  static override now(): number {
    return RealDate.now() + aheadMs;
  }
}

let server: Running;
let partner: Client;
let drop: () => Promise<void>;
const dataDir = mkdtempSync(join(tmpdir(), 'cloverleaf-stepped-'));

before(async () => {
  const database = await freshDatabase();
  drop = database.drop;
  server = await start(readConfig({ DATA_DIR: dataDir, DATABASE_URL: database.adminUrl, PORT: '0' }), {
    log: openLog('silent'),
  });
  const [keys] = server.sandbox.partners;
  assert.ok(keys);
  partner = openClient(server.baseUrl, keys);
});
after(async () => {
  globalThis.Date = RealDate;
  await server?.stop();
  await drop?.();
  rmSync(dataDir, { recursive: true, force: true });
});

const input = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '10' };
const quotes = async (): Promise<boolean> => (await partner.post('offramp/quote', input)).status === 200;
const rows = <R>(text: string) => server.db.asSystem((tx) => tx.rows<R>(text));
const check = async (name: string) => {
  const { checks } = (await (await fetch(`${server.baseUrl}/readyz`)).json()) as { checks: Record<string, unknown>[] };
  return checks.find((one) => one.name === name) ?? {};
};
/** Every recurring job has run at least once from now on. */
async function everyTurn(): Promise<void> {
  const [{ at } = { at: '' }] = await rows<{ at: string }>('select clock_timestamp()::text as at');
  await until(
    'prices, chains and bank have been looked at',
    async () => {
      const [prices] = await rows<{ fresh: boolean }>(`select bool_and(fetched_at > '${at}') as fresh from prices`);
      const [heads] = await rows<{ fresh: boolean }>(
        `select bool_and(slept_at > '${at}') as fresh from jobs where kind in ('observe_rail', 'refresh_gas', 'watch_prices')`,
      );
      return prices?.fresh === true && heads?.fresh === true;
    },
    { withinMs: 60_000 },
  );
}

test('an hour ahead and back: quotes, prices and recurring jobs continue, and readiness reports the clock', async () => {
  await everyTurn();
  assert.equal(await quotes(), true);
  aheadMs = HOUR;
  globalThis.Date = SteppedDate as DateConstructor;
  await everyTurn();
  assert.equal(await quotes(), true, 'while it is ahead');
  await until('readiness shows it', async () => (await check('clock')).ok === false);
  assert.ok(Math.abs(Number((await check('clock')).aheadMs) - HOUR) < 5_000);
  const ahead = await rows(
    `select kind, subject, due_at from jobs where kind in ('observe_rail', 'refresh_prices', 'seal') and due_at > now() + interval '2 min'`,
  );
  assert.deepEqual(ahead, [], 'work became due by the wrong clock');
  assert.deepEqual(await rows('select source from prices where priced_at > now()'), []);
  aheadMs = 0;
  globalThis.Date = RealDate;
  await everyTurn();
  assert.equal(await quotes(), true, 'when it is back');
  await until('readiness is well', async () => (await check('clock')).ok === true && (await check('jobs')).ok === true);
  assert.equal((await check('jobs')).asleep, 0);
});
