/**
 * A dispatcher as a separate process, which dies by kill -9 after a delivery has been answered and before that is recorded. Run
 * by dispatcher.test.ts with its instructions as JSON in the first argument.
 */
import { movableClock } from '../../src/base/clock.ts';
import { openVault } from '../../src/base/crypto.ts';
import { openDatabase } from '../../src/base/db.ts';
import { openLog } from '../../src/base/log.ts';
import { openSender, outsideFor, standard, startDispatcher } from '../../src/events/index.ts';

const orders = JSON.parse(process.argv[2] ?? '{}') as { serverUrl: string; masterKey: string; aheadMs: number };
const clock = movableClock();
clock.advance(orders.aheadMs);
const send = openSender(outsideFor('sandbox'));
await startDispatcher({
  db: openDatabase(orders.serverUrl),
  clock,
  log: openLog('silent'),
  vault: openVault(Buffer.from(orders.masterKey, 'hex')),
  formats: { standard, whitelabel: standard, flat: standard },
  async send(to) {
    const outcome = await send(to);
    if (outcome.ok) process.kill(process.pid, 'SIGKILL');
    return outcome;
  },
  onDead: async () => {},
  leaseS: 1,
});
