/** What one customer sold is what another is paid with: from the deposit address, by a sweep, out of the hot wallet. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { formatUnits, parseUnits } from '../../src/base/money.ts';
import { chart, move, post } from '../../src/ledger/index.ts';
import type { ChainRail } from '../../src/rails/chain.ts';
import { setMinimum } from '../../src/treasury/index.ts';
import { nativeOf, openStory, type Sale, type Story } from '../support/story.ts';

const RAIL = 'evm.matic20';
const USDC = 'usdc.matic20';
const MATIC = nativeOf('matic20');
const hot = (asset: string) => chart.custody(RAIL, 'hot', asset);
const deposits = (asset: string) => chart.custody(RAIL, 'deposits', asset);

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

const held = async (account: ReturnType<typeof hot>) => (await world.balance(account)).units;

/** The operator takes everything out of the hot wallet, and says so in the books. */
async function empties(asset: string): Promise<void> {
  const rail = world.server.rails.get(RAIL) as ChainRail;
  const [units, coin] = [await rail.balance('hot', asset), await rail.balance('hot', MATIC)];
  const destination = { kind: 'address', address: world.newAddress() } as const;
  const key = `sandbox:out:${asset}`;
  const sent = await rail.sendFrom('hot', { key, asset, units, destination });
  assert.equal(sent.outcome, 'accepted');
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

test('a buy that the empty hot wallet cannot pay waits, and is paid with what a sale brought once that is swept', async () => {
  await empties(USDC);
  const sale = await world.sells('100', 'usdc');
  await world.pays(sale, '100');
  await world.mines(2);
  await world.reaches(sale, 6);

  const address = world.newAddress();
  const purchase = await buys('4000', address);
  const { order } = await world.traceOf(purchase);
  await world.bank.creditAccount({ currency: 'INR', units: parseUnits('4000', 2), text: order.depositTarget });
  const waiting = await world.opensCase(purchase, 'treasury_short');
  assert.match(waiting.reason, /usdc/);
  assert.equal(await world.stateOf(purchase), 'awaiting_liquidity');
  assert.equal(await held(deposits(USDC)), 100_000_000n);

  await world.read((tx) => setMinimum(tx, USDC, 1_000_000n));
  // What was looked at and left is looked at again after a while.
  world.clock.advance(600_000);
  await world.until('the purchase is settled', async () => {
    await world.mines(3);
    return (await world.stateOf(purchase)) === 'settled';
  });
  assert.equal(await world.tokensOf(address, 'usdc'), formatUnits(order.payoutUnits, 6));
  assert.equal(await held(deposits(USDC)), 0n);
  assert.equal(await held(hot(USDC)), 100_000_000n - order.payoutUnits);
  assert.deepEqual(
    (await world.casesOf(purchase)).map(({ kind, open }) => [kind, open]),
    [['treasury_short', false]],
  );

  const rail = world.server.rails.get(RAIL) as ChainRail;
  for (const asset of [USDC, MATIC]) {
    assert.equal(await held(hot(asset)), await rail.balance('hot', asset), `hot ${asset}`);
    assert.equal(await held(deposits(asset)), await rail.balance('deposits', asset), `deposits ${asset}`);
  }
  assert.ok((await held(deposits(MATIC))) > 0n, 'what is left of the gas is still ours, and in the books');
});
