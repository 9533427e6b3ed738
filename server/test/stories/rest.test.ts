/** The rest of an order whose rejected payout had left after all, with less than the order owes by then. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { allMarkets, setFee } from '../../src/partners/index.ts';
import { amountsDecide, type Person, twoDo } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let finn: Person;
before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
  await world.read(amountsDecide);
});
after(async () => await world?.close());

const feeIs = (bps: bigint) =>
  world.read(async (tx) => {
    for (const { id: marketId } of await allMarkets(tx))
      await setFee(tx, { marketId, partnerId: null, kind: 'operator', bps });
  });

test('is money that was returned: it names its payout and its reference, and is paid once', async () => {
  await feeIs(500n);
  const customer = await world.verifiedCustomer({ ending: '9001' });
  const order = await world.sells('20', 'usdc', { customer });
  await world.pays(order, '20');
  await world.mines(2);
  await world.becomes(order, 'payout_held');
  const [first] = (await world.traceOf(order)).payouts;
  assert(first);
  await feeIs(0n);
  // Fees are remembered for a moment.
  await world.until('the order owes more', async () => {
    assert.equal((await finn.does(`/orders/${order.id}/requote`)).status, 200);
    await world.until('the next attempt has ended', async () => {
      const { order: row, payouts } = await world.traceOf(order);
      return row.state === 'payout_held' && payouts.length > 1 && payouts.at(-1)?.endedAt !== null;
    });
    return (await world.traceOf(order)).order.payoutUnits > first.units;
  });
  const owed = (await world.traceOf(order)).order.payoutUnits;
  const line = {
    id: 'line-late',
    direction: 'debit',
    units: first.units,
    reference: 'UTR-LATE',
    key: first.id,
  } as const;
  await world.bankShows(line);
  await world.until('it is seen', async () => (await world.traceOf(order)).payouts[0]?.state === 'settled');
  // Its account takes payments from now on.
  const { fiatAccountId } = await world.verifiedAccount(order.customerId);
  await world.read((tx) => tx.run('update payouts set fiat_account_id = $2 where id = $1', [first.id, fiatAccountId]));
  await twoDo(finn, ada, `/orders/${order.id}/settle-by`, { payout: first.id, rest: 'pay' });
  const rest = await world.read((tx) =>
    tx.row<Record<string, unknown>>(
      `select units, state, reference, facts, payer, origin, why from deposits where external_id = $1`,
      [`rest:${first.id}`],
    ),
  );
  assert.deepEqual(rest, {
    units: owed - first.units,
    state: 'suspense',
    reference: 'UTR-LATE',
    facts: { payout: first.id },
    payer: 'unknown',
    origin: 'returned',
    why: 'paid_too_little',
  });
  await world.until('the rest is paid', async () => (await world.traceOf(order)).refunds[0]?.state === 'settled');
  const paid = (await world.traceOf(order)).payouts.filter(({ state }) => state === 'settled');
  assert.deepEqual(
    paid.map(({ units }) => units),
    [first.units, owed - first.units],
  );
  const found = (await world.traceOf(order)).history.find(({ event }) => event === 'payout_found');
  assert.deepEqual([found?.facts.payout, found?.facts.reference], [first.id, 'UTR-LATE']);
});
