/** The bank, on a separate PostgreSQL: no fault of ours touches its records, which are the basis of the counts. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import pg from 'pg';
import { systemClock } from '../../src/base/clock.ts';
import { openLog } from '../../src/base/log.ts';
import { startPostgres } from '../../src/base/postgres.ts';
import { HOUR_MS, startSimulatedBank } from '../../src/rails/simulated/index.ts';

/** Its rail. Not the sandbox's name, which production refuses to find in a database. */
export const BANK = 'bank.remote';
export const CURRENCY = 'EUR';

/** The bank's behaviour when the same key is submitted twice. */
export type BankMode = 'deduplicating' | 'repeating';

/** The deduplicating bank promises it for longer than a run. */
export const deduplicatesForMs = (mode: BankMode): number => (mode === 'deduplicating' ? 24 * HOUR_MS : 0);

export async function openBank(folder: string, mode: BankMode) {
  const postgres = await startPostgres({ dataDir: join(folder, 'bank'), fast: true });
  const bank = await startSimulatedBank({
    adminUrl: postgres.adminUrl,
    clock: systemClock,
    log: openLog('silent'),
    deduplicatesForMs: deduplicatesForMs(mode),
    settleMs: 300,
  });
  return {
    ...bank,
    mode,
    /** Repeats a payment that it made, as a program that sends twice would. Only the repeating bank does it. */
    async paysAgain(): Promise<void> {
      const [{ key, units, currency, account, name } = assert.fail('there is a payment')] = await bank.payments();
      const { ok } = await fetch(`${bank.url}/payments`, {
        method: 'POST',
        headers: { authorization: `Bearer ${bank.token}` },
        body: JSON.stringify({ key, units: String(units), currency, account, name }),
      });
      assert.ok(ok, 'the repeating bank did not pay again');
    },
    /** All credits that it has ever shown. */
    async credits(): Promise<{ text: string; units: bigint }[]> {
      const client = new pg.Client(postgres.adminUrl);
      await client.connect();
      try {
        const found = await client.query(`select text, units from simulated_bank.lines where direction = 'credit'`);
        return found.rows;
      } finally {
        await client.end();
      }
    },
    async stop() {
      await bank.stop();
      await postgres.stop();
    },
  };
}
