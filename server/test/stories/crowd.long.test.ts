/** Many sales at once, and two workers that both process all of them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { enqueue } from '../../src/base/jobs.ts';
import { parseUnits } from '../../src/base/money.ts';
import { startWorkers } from '../../src/base/workers.ts';
import { openFiatAccount } from '../../src/customers/index.ts';
import { orderFacts, orderHandlers } from '../../src/orders/index.ts';
import { payoutHandlers } from '../../src/rails/payouts.ts';
import { OBSERVE } from '../../src/rails/rail.ts';
import { BANK } from '../../src/sandbox/seed.ts';
import { openStory, type Sale, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

const SALES = 24;
const CHAINS = ['matic20', 'erc20'];
const RAILS = [...CHAINS.map((chain) => `evm.${chain}`), BANK];
/** Each round enqueues more than a hundred jobs, so a busy machine needs long for all of them. */
const WITHIN_MS = 60_000;

/** A second worker over the same rows, as in another process. */
async function secondWorker() {
  const { orders, db, rails } = world.server;
  const { clock, log } = orders;
  const report = orderFacts({ rails, clock });
  const openAccount = async (...[tx, id]: Parameters<Parameters<typeof payoutHandlers>[0]['openAccount']>) =>
    (await openFiatAccount(tx, world.vault, id)).details;
  return await startWorkers({
    db,
    clock,
    log,
    handlers: {
      ...orderHandlers(orders),
      ...payoutHandlers({ db, clock, log, rails, report, openAccount, gate: async () => ({ outcome: 'pay' }) }),
      [OBSERVE]: async (code) => await rails.get(code)?.observe(),
    },
  });
}

/** Enqueues every job there may be about these orders, whether it is due or not. */
async function enqueuedForAll(sold: readonly Sale[]): Promise<void> {
  const dueAt = world.clock.now();
  await world.read(async (tx) => {
    for (const { id } of sold) {
      for (const kind of ['screen_order', 'expire_order', 'fund_order'])
        enqueue(tx, { kind, subject: String(id), dueAt });
    }
    const payouts = await tx.rows<{ id: string }>('select id from payouts order by id');
    for (const { id } of payouts) enqueue(tx, { kind: 'send_payout', subject: id, dueAt });
    for (const subject of RAILS) enqueue(tx, { kind: OBSERVE, subject, dueAt });
  });
}

test('two workers whose jobs are enqueued again and again pay each of many sales once', async () => {
  const books = await world.balances();
  const customers = await Promise.all([1, 2, 3].map(() => world.verifiedCustomer()));
  const sold = await Promise.all(
    Array.from({ length: SALES }, (_, at) => {
      const [chain, customer] = [CHAINS[at % CHAINS.length] ?? '', customers[at % customers.length]];
      return world.sells(`${10 + at}.5`, 'usdc', { chain, ...(customer === undefined ? {} : { customer }) });
    }),
  );
  const worker = await secondWorker();
  try {
    for (const order of sold) await world.pays(order, order.fromAmount);
    for (const chain of CHAINS) await world.mines(2, chain);
    const areAllPaid = async () => {
      await enqueuedForAll(sold);
      const statuses = await Promise.all(sold.map(world.statusOf));
      return statuses.every((status) => status === 6);
    };
    await world.until('all are paid', areAllPaid, WITHIN_MS);
  } finally {
    await worker.stop();
  }
  const payments = await world.bank.payments();
  assert.deepEqual(
    payments.map(({ key, state }) => `${key} ${state}`).toSorted(),
    sold.map(({ id }) => `pay_${id}_1 settled`).toSorted(),
  );
  const paidOut = sold.reduce((sum, { toAmount }) => sum + parseUnits(toAmount, 2), 0n);
  assert.equal((await world.changesSince(books))['custody:bank.simulated:main:inr'], -paidOut);
});

test('deposits for many orders in one block are each booked to their own order', async () => {
  const customer = await world.verifiedCustomer();
  const sold = await Promise.all(Array.from({ length: 8 }, (_, at) => world.sells(`${20 + at}`, 'usdt', { customer })));
  for (const order of sold) await world.pays(order, order.fromAmount);
  await world.mines(2);
  for (const order of sold) {
    await world.reaches(order, 6);
    const { deposits } = await world.traceOf(order);
    assert.deepEqual(
      deposits.map(({ units }) => units),
      [parseUnits(order.fromAmount, 6)],
    );
  }
});
