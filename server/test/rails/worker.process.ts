/**
 * A worker in a separate process, which processes one payout and then has the given accident. payouts.test.ts runs it with its
 * instructions as JSON in the first argument.
 */
import { randomBytes } from 'node:crypto';
import { systemClock } from '../../src/base/clock.ts';
import { openVault } from '../../src/base/crypto.ts';
import { openDatabase } from '../../src/base/db.ts';
import { openLog } from '../../src/base/log.ts';
import { payoutHandlers } from '../../src/rails/payouts.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { simulatedBank } from '../../src/rails/simulated/index.ts';

const orders = JSON.parse(process.argv[2] ?? '{}') as {
  serverUrl: string;
  url: string;
  token: string;
  deduplicatesForMs: number;
  id: string;
  submitMs: number;
  accident: 'freezes_before_sending' | 'dies_after_sending';
};
const db = openDatabase(orders.serverUrl);
const context = {
  db,
  clock: systemClock,
  log: openLog('silent'),
  report: async () => {},
  vault: openVault(randomBytes(32)),
};
const real = simulatedBank(orders, context);
const rail: Rail = {
  ...real,
  async send(sending) {
    // The kernel stops it: no timer of this process runs until it is continued.
    if (orders.accident === 'freezes_before_sending') process.kill(process.pid, 'SIGSTOP');
    const sent = await real.send(sending);
    if (orders.accident === 'dies_after_sending') process.kill(process.pid, 'SIGKILL');
    return sent;
  },
};
const { send_payout: handle } = payoutHandlers({
  ...context,
  rails: new Map([[rail.code, rail]]),
  openAccount: async () => ({ account: '123456780000', name: 'Asha Rao' }),
  gate: async () => ({ outcome: 'pay' }),
  submitMs: orders.submitMs,
});
await handle?.(orders.id);
await db.close();
