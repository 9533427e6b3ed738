/** A sweep on Tron, with the real books: the native asset is sent ahead for energy and bandwidth, then the tokens move. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { balancesOf, chart, move, post, trialBalance } from '../../src/ledger/index.ts';
import { orderFacts } from '../../src/orders/index.ts';
import { type ChainRail, watchAddress } from '../../src/rails/chain.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { SWEEP, setMinimum, sweepHandlers, takeOwnTransfer } from '../../src/treasury/index.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openRows, type Rows } from '../support/rows.ts';
import { targetOf } from '../support/targets.ts';
import { SOLID, startTrc20, type Trc20, tronWallets } from '../support/trc20.ts';

const RAIL = 'tron.trc20';
const CHAIN = 'trc20';
const USDT = 'usdt.trc20';
const TRX = 'trx.trc20';
const OPENING = 1_000n;

let fixture: Fixture;
let rows: Rows;
let chain: Trc20;
before(async () => {
  [fixture, chain] = await Promise.all([freshFixture(), startTrc20()]);
  rows = await openRows(fixture.adminUrl);
  await rows.query(`select setval('deposit_indexes', 1000000)`);
  await rows.cryptoAsset(USDT, CHAIN, chain.token);
  await rows.cryptoAsset(TRX, CHAIN, null, 6);
  await rows.policy(CHAIN, USDT, 0n, 2);
  await fixture.db.asSystem((tx) => setMinimum(tx, USDT, 100n));
});
after(async () => {
  await rows.close();
  await chain.stop();
  await fixture.stop();
});

test('a deposit is swept to the hot wallet with native asset sent ahead, and the books agree with the chain', async () => {
  const { hot, open } = tronWallets(chain, { code: RAIL, chain: CHAIN });
  const chains = new Map<string, ChainRail>();
  const rail = open({
    ...fixture,
    report: async (tx, fact) => {
      const context = { rails: chains as ReadonlyMap<string, Rail>, clock: fixture.clock };
      await orderFacts(context, (inner, own) => takeOwnTransfer({ ...context, chains }, inner, own))(tx, fact);
    },
  });
  chains.set(RAIL, rail);
  const sweeps = sweepHandlers({ ...fixture, chains, everyMs: 1 })[SWEEP];
  const look = async () => {
    while ((await rail.observe()).againInMs === 0);
  };
  await chain.fund(hot, OPENING);
  await chain.mine(SOLID + 1);
  await look();
  const units = OPENING * 10n ** 6n;
  await fixture.db.asSystem((tx) =>
    post(tx, {
      id: `opening:${RAIL}`,
      kind: 'capital',
      at: new Date(),
      lines: move(chart.custody(RAIL, 'hot', TRX), chart.capital(TRX), units),
    }),
  );

  const target = targetOf(rail, 7n);
  const order = await rows.order(USDT, RAIL, target);
  await rows.query(`update orders set state = 'expired' where id = $1`, [order.orderId]);
  await fixture.db.asSystem((tx) => watchAddress(tx, { rail: RAIL, address: target, index: 7n, ...order }));
  await chain.mint(target, 500n);
  await chain.mine(SOLID + 1);
  await look();

  for (let round = 0; round < 4; round += 1) {
    await sweeps?.(RAIL);
    await chain.mine(SOLID + 1);
    await look();
  }
  const transfers = await rows.query<{ kind: string; state: string; cost_units: string }>(
    'select kind, state, cost_units from own_transfers where rail = $1 order by created_at, key',
    [RAIL],
  );
  assert.deepEqual(transfers.map(({ kind, state }) => `${kind} ${state}`).toSorted(), ['gas settled', 'sweep settled']);
  for (const { cost_units } of transfers) assert.ok(BigInt(cost_units) > 0n);
  assert.deepEqual([await chain.held(target), await chain.held(hot)], [0n, 500n]);
  const booked = await fixture.db.asSystem((tx) => balancesOf(tx, ['custody']));
  for (const wallet of ['deposits', 'hot'])
    for (const asset of [USDT, TRX])
      assert.equal(
        booked.find(({ code }) => code === `custody:${RAIL}:${wallet}:${asset}`)?.units ?? 0n,
        await rail.balance(wallet, asset),
        `${wallet} ${asset}`,
      );
  for (const row of await fixture.db.asSystem(trialBalance)) assert.equal(row.debits, row.credits);
});
