/** Tokens that one customer sold pay another one's purchase: a sweep moves them from the deposit address to the hot wallet. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { formatUnits, parseUnits } from '../../src/base/money.ts';
import { chart, move, post } from '../../src/ledger/index.ts';
import type { ChainRail } from '../../src/rails/chain.ts';
import { openItems, reconcileRail } from '../../src/reconcile/index.ts';
import { setMinimum } from '../../src/treasury/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import { nativeOf, type Sale, type Story } from '../support/story.ts';

const RAIL = 'evm.matic20';
const USDC = 'usdc.matic20';
const MATIC = nativeOf('matic20');
const hot = (asset: string) => chart.custody(RAIL, 'hot', asset);
const deposits = (asset: string) => chart.custody(RAIL, 'deposits', asset);

let world: Story;
let finn: Person;
let ada: Person;
before(async () => {
  ({ world, finn, ada } = await openStaffedStory({ finn: 'finance', ada: 'admin' }));
});
after(async () => await world?.close());

const held = async (account: ReturnType<typeof hot>) => (await world.balance(account)).units;

/** The operator withdraws everything from the hot wallet and books it. */
async function empties(asset: string): Promise<void> {
  const rail = world.server.rails.get(RAIL) as ChainRail;
  const [units, coin] = [await rail.balance('hot', asset), await rail.balance('hot', MATIC)];
  const destination = { kind: 'address', address: world.newAddress() } as const;
  const key = `sandbox:out:${asset}`;
  const sent = await rail.sendFrom('hot', { key, asset, units, destination });
  assert.equal(sent.outcome, 'submitted');
  await world.mines(2);
  await world.until('it is gone', async () => (await rail.balance('hot', asset)) === 0n);
  const cost = coin - (await rail.balance('hot', MATIC));
  const lines = [...move(chart.treasury(asset), hot(asset), units), ...move(chart.cost(RAIL, MATIC), hot(MATIC), cost)];
  await world.read((tx) =>
    post(tx, { id: `out:${asset}`, kind: 'withdrawal', at: world.clock.now(), facts: { movement: key }, lines }),
  );
}

async function buys(fromAmount: string, address: string): Promise<Sale> {
  const { id: customerId } = await world.verifiedCustomer();
  const { transactionId = '' } = await world.told('onramp/createTransaction', {
    fromCurrency: 'INR',
    toCurrency: 'usdc',
    chain: 'matic20',
    fromAmount,
    customerId,
    depositAddress: address,
    paymentMethodType: 'UPI',
  });
  return { id: BigInt(transactionId), customerId, chain: 'matic20' } as Sale;
}

test('a purchase that the empty hot wallet cannot pay waits, and is paid from a sale’s deposit once that is swept', async () => {
  await empties(USDC);
  const sale = await world.sells('100', 'usdc');
  await world.pays(sale, '100');
  await world.mines(2);
  await world.reaches(sale, 6);

  const address = world.newAddress();
  const purchase = await buys('4000', address);
  const { order } = await world.traceOf(purchase);
  await world.bank.creditAccount({ currency: 'INR', units: parseUnits('4000', 2), text: order.depositTarget });
  const waiting = await world.isShort(purchase);
  assert.match(waiting.reason, /usdc/);
  assert.equal(await world.stateOf(purchase), 'awaiting_liquidity');
  assert.equal(await held(deposits(USDC)), 100_000_000n);

  await world.read((tx) => setMinimum(tx, USDC, 1_000_000n));
  // A deposit address that was checked and left is checked again after a while.
  world.clock.advance(600_000);
  await world.until('the purchase is settled', async () => {
    await world.mines(3);
    return (await world.stateOf(purchase)) === 'settled';
  });
  assert.equal(await world.tokensOf(address, 'usdc'), formatUnits(order.payoutUnits, 6));
  assert.equal(await held(deposits(USDC)), 0n);
  assert.equal(await held(hot(USDC)), 100_000_000n - order.payoutUnits);
  assert.deepEqual(await world.casesOf(purchase), []);
  await world.until('the case is closed', async () => (await world.shortages(USDC)).every(({ open }) => !open));

  const rail = world.server.rails.get(RAIL) as ChainRail;
  for (const asset of [USDC, MATIC]) {
    assert.equal(await held(hot(asset)), await rail.balance('hot', asset), `hot ${asset}`);
    assert.equal(await held(deposits(asset)), await rail.balance('deposits', asset), `deposits ${asset}`);
  }
  assert.ok((await held(deposits(MATIC))) > 0n, 'the unused gas is not in the books');
});

test('a sweep that a reorg deeper than finality removed is reversed by two operators, and is mined and booked again', async () => {
  const sale = await world.sells('40', 'usdc');
  await world.pays(sale, '40');
  await world.mines(2);
  await world.reaches(sale, 6);
  world.clock.advance(600_000);
  const sweep = await world.until('it is swept', async () => {
    await world.mines(3);
    return await world.read((tx) =>
      tx.row<{ key: string; reference: `0x${string}` }>(
        `select key, reference from own_transfers where kind = 'sweep' and booked_at is not null and units = 40000000`,
      ),
    );
  });
  const rail = world.server.rails.get(RAIL) as ChainRail;
  const before = [await held(hot(USDC)), await held(deposits(USDC))];
  // Its node forgets the blocks and their transactions.
  await world.blocksWait(async () => {
    await world.reorgsAway({ hash: sweep.reference, raw: '0x', chain: 'matic20' });
    await world.mines(14);
    await world.until('the chain has stopped by itself', async () => {
      await world.mines(1);
      const rows = await world.read((tx) =>
        tx.rows(`select from cases where kind = 'rail_halted' and closed_at is null`),
      );
      return rows.length > 0;
    });
    assert.equal(
      await rail.balance('hot', USDC),
      (before[0] ?? 0n) - 40_000_000n,
      'the sweep is still on the chain after the reorg',
    );
  });
  // The log has to contain an error about it.
  const loud = world.complaints.findIndex((line) => line.includes('a reorg deeper than'));
  assert.notEqual(loud, -1);
  world.complaints.splice(loud, 1);
  await does(`/rails/${RAIL}/clear`, { restart: true });
  const items = await world.until('the break is found', async () => {
    await world.mines(1);
    await compared(rail);
    const all = (await finn.reads(`/breaks?rail=${RAIL}`)).body.breaks as Break[];
    return all.some(({ key, transit }) => key === sweep.key && transit === null) && all;
  });
  const [one] = items.filter(({ key, asset, wallet }) => key === sweep.key && asset === USDC && wallet === 'hot');
  assert(one, JSON.stringify(items));
  const amount = one.differenceUnits.replace('-', '');
  assert.equal(amount, '40');
  await does(`/breaks/${one.id}/correct`, { as: 'sweep_undone', evidence: sweep.key, amount });
  assert.deepEqual([await held(hot(USDC)), await held(deposits(USDC))], [(before[0] ?? 0n) - 40_000_000n, 40_000_000n]);
  const open = (await finn.reads(`/breaks?rail=${RAIL}`)).body.breaks as Break[];
  assert.deepEqual(
    open.filter(({ key }) => key === sweep.key),
    [],
    'a side of the sweep is still open',
  );
  // The same bytes are broadcast again, and booked again once they are final.
  await world.until('it is swept again', async () => {
    await world.mines(3);
    return (await held(deposits(USDC))) === before[1];
  });
  assert.equal(await held(hot(USDC)), before[0]);
  // The gas was back at the address meanwhile and may have been booked as a deposit, which is dust.
  await world.until('books and chain agree', async () => {
    await world.mines(1);
    await compared(rail);
    const [left] = (await finn.reads(`/breaks?rail=${RAIL}`)).body.breaks as Break[];
    if (left === undefined) return true;
    if (left.transit === null && left.key.startsWith('native:'))
      await does(`/breaks/${left.id}/correct`, {
        as: 'dust',
        evidence: left.key,
        amount: left.differenceUnits.replace('-', ''),
      });
    return false;
  });
  assert.deepEqual(await world.read((tx) => openItems(tx, RAIL)), []);
});

interface Break {
  id: string;
  key: string;
  asset: string;
  wallet: string;
  differenceUnits: string;
  transit: string | null;
}

async function compared(rail: ChainRail): Promise<void> {
  const { db } = world.server;
  await reconcileRail({ db, clock: world.clock, graceMs: 0 }, rail, 'begin');
}

/** One operator proposes; another confirms where the action takes two. */
async function does(path: string, body: Record<string, unknown>): Promise<void> {
  const said = await finn.does(path, body);
  const done = said.status === 202 ? await ada.does(`/proposals/${said.body.proposal}/confirm`) : said;
  assert.equal(done.status, 200, `${path}: ${JSON.stringify(done.body)}`);
}
