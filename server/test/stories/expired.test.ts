/** A document expires while an order is under way: what was paid for is paid out, and nothing new begins. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { enqueue } from '../../src/base/jobs.ts';
import { FOLLOW_EXPIRIES } from '../../src/compliance/index.ts';
import { liftKillSwitch, setKillSwitch } from '../../src/partners/index.ts';
import { enqueueUnsubmitted } from '../../src/rails/payouts.ts';
import { openStory, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

test('an order that was paid before the last day is settled after it, and another one is refused', async () => {
  const customer = await world.verifiedCustomer();
  const order = await world.sells('10', 'usdc', { customer });
  const stopped = { kind: 'payouts', subject: 'all' } as const;
  await world.read((tx) => setKillSwitch(tx, { ...stopped, by: 'a test', reason: 'a test', at: world.clock.now() }));
  await world.pays(order, '10');
  await world.mines(2);
  await world.becomes(order, 'paying_out');

  await world.read(async (tx) => {
    const accepted = [customer.id, ['passport'], world.clock.now()];
    await tx.run(
      `insert into document_expiries (customer_id, partner_id, version, expires_on, items, accepted_at)
         select id, partner_id, 1, current_date - 2, $2, $3 from customers where id = $1`,
      accepted,
    );
    enqueue(tx, { kind: FOLLOW_EXPIRIES, subject: 'all', dueAt: world.clock.now() });
  });
  await world.until('the customer cannot trade', async () => {
    const [row] = await world.read((tx) =>
      tx.rows<{ verification: string }>('select verification from customers where id = $1', [customer.id]),
    );
    return row?.verification === 'failed';
  });
  await world.read(async (tx) => {
    await liftKillSwitch(tx, stopped.kind, stopped.subject);
    await enqueueUnsubmitted(tx, world.clock.now());
  });
  await world.becomes(order, 'settled');
  await assert.rejects(world.sells('10', 'usdc', { customer, reference: 'later' }), /verification_required/);
});
