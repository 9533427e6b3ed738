/**
 * Transfers signed by a process that ended before it broadcast them, and that have been blocked since. They wait with a case until
 * the block is lifted or two people cancel them; the chain shows which transfer left.
 */
import assert from 'node:assert/strict';
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { after, before, test } from 'node:test';
import { enqueue } from '../../src/base/jobs.ts';
import { formatUnits } from '../../src/base/money.ts';
import { oneOrTwoDo, type Person } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let bea: Person;

before(async () => {
  ({ world, ada, bea } = await openStaffedStory({ ada: 'admin', bea: 'admin' }));
});
// Closing also compares the books with bank and chains.
after(async () => await world?.close());

/** One operator proposes; the other confirms where the action takes two. */
async function agree(path: string, body: Record<string, unknown> = {}) {
  const answer = await oneOrTwoDo(ada, bea, path, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
}

/** No signed bytes reach a node meanwhile: they are stored, which is the state that a killed process leaves. */
async function beforeBroadcast(body: () => Promise<void>): Promise<void> {
  const { request } = http;
  http.request = ((...given: Parameters<typeof request>) => {
    const made = request(...given);
    const end = made.end.bind(made);
    made.end = ((...sent: Parameters<typeof end>) =>
      String(sent[0] ?? '').includes('eth_sendRawTransaction')
        ? made.destroy(new Error('the process has ended'))
        : end(...sent)) as typeof made.end;
    return made;
  }) as typeof request;
  syncBuiltinESMExports();
  try {
    await body();
  } finally {
    http.request = request;
    syncBuiltinESMExports();
  }
}

const keyOf = (order: Purchase) => `pay_${order.id}_1`;
const sends = (order: Purchase) =>
  world.read((tx) =>
    tx.rows<{ state: string; broadcastAt: Date | null }>(
      `select state, broadcast_at from chain_sends where key like 'pay_' || $1 || '_%' order by id`,
      [order.id],
    ),
  );
const looks = (order: Purchase) =>
  world.read((tx) => enqueue(tx, { kind: 'send_payout', subject: keyOf(order), dueAt: world.clock.now() }));

/** Signed and stored, and its customer is blocked before anything is broadcast. */
async function signedAndBlocked(): Promise<Purchase> {
  const order = await world.buys('500', 'usdc');
  await beforeBroadcast(async () => {
    await world.credits(order, '500');
    await world.until('it is signed', async () => (await sends(order))[0]?.state === 'signed');
    await agree(`/customers/${order.customerId}/block`);
  });
  assert.match((await world.opensCase(order, 'payout_unknown')).reason, /signed with nonce .*cancel movement [0-9]+$/);
  await world.mines(3);
  assert.deepEqual(await sends(order), [{ state: 'signed', broadcastAt: null }]);
  assert.deepEqual(await world.transfersTo(order), []);
  return order;
}

test('a signed transfer is broadcast and arrives once when the block is lifted', async () => {
  const order = await signedAndBlocked();
  await agree(`/customers/${order.customerId}/unblock`);
  await world.until('it has arrived', async () => {
    await world.mines(1);
    return (await world.stateOf(order)) === 'settled';
  });
  assert.equal((await world.transfersTo(order)).length, 1);
  assert.deepEqual(
    (await world.casesOf(order)).filter(({ open }) => open),
    [],
  );
  assert.deepEqual(await world.read((tx) => tx.rows(`select from found_movements where state = 'unread'`)), []);
});

test('a signed transfer that two people cancel never leaves; later ones go on, and a retry pays under another nonce', async () => {
  const order = await signedAndBlocked();
  const behind = await world.buys('500', 'usdc');
  await world.credits(behind, '500');
  await world.payoutIsSubmitted(behind);
  const { reason } = await world.opensCase(order, 'payout_unknown');
  await agree(`/movements/${/[0-9]+$/.exec(reason)?.[0]}/cancel`);
  await world.until('its nonce is used up', async () => {
    await world.mines(3);
    return (await sends(order))[0]?.state === 'absent';
  });
  // Waits out the time in which a submission may still be under way.
  await world.read((tx) =>
    tx.run(`update payouts set submitting_until = now() - interval '5 minutes' where id = $1`, [keyOf(order)]),
  );
  await world.until('it is held', async () => {
    await looks(order);
    return (await world.stateOf(order)) === 'payout_held';
  });
  await world.until('what was behind it has arrived', async () => {
    await world.mines(1);
    return (await world.stateOf(behind)) === 'settled';
  });
  assert.deepEqual(await world.transfersTo(order), []);
  assert.deepEqual(
    (await world.casesOf(order)).filter(({ open }) => open).map(({ kind }) => kind),
    ['payout_held'],
  );
  const [gas] = await world.read((tx) =>
    tx.rows<{ id: bigint; facts: { units: string; reference: string } }>(
      `select id, facts from cases where kind = 'unexplained_debit' and closed_at is null`,
    ),
  );
  assert.ok(gas !== undefined, 'the gas of the empty transfer has no case');
  await agree(`/cases/${gas.id}/correct`, {
    as: 'fee',
    amount: formatUnits(BigInt(gas.facts.units), 18),
    evidence: gas.facts.reference,
  });
  await agree(`/customers/${order.customerId}/unblock`);
  await agree(`/orders/${order.id}/retry`);
  await world.until('the retry has arrived', async () => {
    await world.mines(1);
    return (await world.stateOf(order)) === 'settled';
  });
  assert.equal((await world.transfersTo(order)).length, 1);
});
