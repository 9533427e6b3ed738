/** How many transactions our workers take for a sale, from its confirmed deposit to the bank's answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWorkers } from '../../src/base/workers.ts';
import { freshFixture } from '../support/fixture.ts';
import { openSaleEnvironment, type SaleEnvironmentOptions } from '../support/sale.environment.ts';
import { until } from '../support/until.ts';

const ASKS =
  /^select from pg_locks|^update jobs set holder = \$5|^select due_at from \(|^update jobs set due_at = \$1|^with gone as/;
/** A look at the table of jobs serves all rows that are due, so it is no transaction of one sale. */
const isOfSale = (said: readonly string[]): boolean => !said.every((text) => ASKS.test(text));

/** @returns the number of transactions of each of three sales */
async function counts(options: SaleEnvironmentOptions = {}): Promise<number[]> {
  const fixture = await freshFixture();
  const world = await openSaleEnvironment(fixture, options);
  const { db, handlers, transactions } = world;
  const { clock, log } = fixture;
  const workers = await startWorkers({ db, clock, log, handlers: handlers() });
  try {
    const counted: number[] = [];
    for (let sale = 0; sale < 3; sale += 1) {
      const order = await world.sells();
      transactions.length = 0;
      await world.pays(order);
      await until('it is decided on', async () => (await world.stateOf(order)) === 'paying_out');
      await until('the bank has it, and no worker holds a job', async () => {
        const jobs = await world.jobsOf(order);
        return (await world.payoutOf(order)).state === 'submitted' && jobs.every(({ lease }) => lease === null);
      });
      assert.equal(world.sent.length, sale + 1);
      counted.push(transactions.filter(isOfSale).length);
    }
    return counted;
  } finally {
    await workers.stop();
    await fixture.stop();
  }
}

test('a plain sale takes one transaction to decide and begin, and one to record the bank’s answer', async () => {
  assert.deepEqual(await counts(), [2, 2, 2]);
});

test('a sale whose screener asks outside takes two more, and the first one of a process closes the case of an outage', async () => {
  assert.deepEqual(await counts({ screener: (usual) => ({ screen: (input) => usual.screen(input) }) }), [5, 4, 4]);
});
