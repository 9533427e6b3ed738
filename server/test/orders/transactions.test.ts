/** How many transactions our workers take for a sale, from its confirmed deposit to the bank's answer. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startWorkers } from '../../src/base/workers.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openSaleWorld } from '../support/saleworld.ts';
import { until } from '../support/until.ts';

let fixture: Fixture;
before(async () => {
  fixture = await freshFixture();
});
after(() => fixture?.stop());

const ASKS = /^update jobs set holder = \$5|^select due_at from \(|^update jobs set due_at = \$1|^with gone as/;
/** A look at the table of jobs serves all rows that are due, so it is no transaction of one sale. */
const isOfSale = (said: readonly string[]): boolean => !said.every((text) => ASKS.test(text));

test('a plain sale', async () => {
  const world = await openSaleWorld(fixture);
  const { db, handlers, transactions } = world;
  const { clock, log } = fixture;
  const workers = await startWorkers({ db, clock, log, handlers: handlers() });
  try {
    const counts: number[] = [];
    for (let sale = 0; sale < 3; sale += 1) {
      const order = await world.sells();
      transactions.length = 0;
      await world.pays(order);
      await until(
        'the bank has it',
        async () => (await world.stateOf(order)) === 'paying_out' && world.sent.length > sale,
      );
      await until('no worker holds a job', async () => {
        const jobs = await world.jobsOf(order);
        return (await world.payoutOf(order)).state === 'submitted' && jobs.every(({ lease }) => lease === null);
      });
      counts.push(transactions.filter(isOfSale).length);
    }
    // The first sale of a process also closes the case of a screener that was away.
    assert.deepEqual(counts, [5, 4, 4]);
  } finally {
    await workers.stop();
  }
});
