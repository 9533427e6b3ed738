/** The deadline of an order is judged by the chain's time: a deposit mined in time is in time, however late we read it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openStory, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

const RAIL = 'evm.matic20';
const follows = (why: string | null) =>
  world.read((tx) => tx.run('update chains set halted_why = $2 where rail = $1', [RAIL, why]));

/** The transfer is in a block whose time has passed: the clock shows a later time from now on. */
async function isMined(paid: Awaited<ReturnType<Story['pays']>>): Promise<void> {
  await world.mines(1);
  await world.until('it is mined', async () => {
    const receipt = await world.rpc<{ blockHash: string } | null>('matic20', 'eth_getTransactionReceipt', [paid.hash]);
    if (receipt === null) return false;
    const block = await world.rpc<{ timestamp: string }>('matic20', 'eth_getBlockByHash', [receipt.blockHash, false]);
    return (Number(block.timestamp) + 1) * 1000 <= Date.now();
  });
}

test('while the chain is not followed, orders wait at their deadline; one paid in time is paid out, one paid later is late', async () => {
  const [inTime, late] = [await world.sells('10', 'usdc'), await world.sells('20', 'usdc')];
  await follows('a test');
  await isMined(await world.pays(inTime, '10'));
  await world.deadlinePasses();
  await isMined(await world.pays(late, '20'));
  assert.deepEqual([await world.statusOf(inTime), await world.statusOf(late)], [0, 0]);
  await follows(null);
  await world.mines(2);
  await world.reaches(inTime, 6);
  await world.reaches(late, -1);
  await world.opensCase(late, 'deposit_late');
  assert.equal((await world.traceOf(inTime)).order.exception, null);
  const deposits = (await world.traceOf(late)).deposits.map(({ state, why, late: isLate }) => [state, why, isLate]);
  assert.deepEqual(deposits, [['suspense', 'late', true]]);
});

test('a paid order is not looked at again at its deadline', async () => {
  const order = await world.sells('10', 'usdc');
  await world.pays(order, '10');
  await world.mines(2);
  await world.reaches(order, 6);
  await world.deadlinePasses();
  await world.until('the job of its deadline has ended', async () => {
    const jobs = await world.read((tx) =>
      tx.rows(`select from jobs where kind = 'expire_order' and subject = $1`, [String(order.id)]),
    );
    return jobs.length === 0;
  });
  assert.equal(await world.stateOf(order), 'settled');
});
