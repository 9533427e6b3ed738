/** Sanctions lists and money: a listed person is neither paid nor refunded until people have decided. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { enqueue } from '../../src/base/jobs.ts';
import { blockOf, findCustomer, saveDetails } from '../../src/customers/index.ts';
import { oneOrTwoDo, type Person } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story, StoryCustomer } from '../support/story.ts';

let world: Story;
let ada: Person;
let bea: Person;
let dir: string;

const LIST = `<Designations><Designation><UniqueID>XXX0001</UniqueID><IndividualEntityShip>Individual</IndividualEntityShip>
  <Names><Name><Name1>Taras Ilyich</Name1><Name6>ORLENKOV</Name6><NameType>Primary Name</NameType></Name></Names></Designation>
  <Designation><UniqueID>XXX0002</UniqueID><IndividualEntityShip>Individual</IndividualEntityShip>
  <Names><Name><Name1>Harun Mustafa</Name1><Name6>KHAYALI</Name6><NameType>Primary Name</NameType></Name></Names></Designation></Designations>`;

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sanctions-'));
  writeFileSync(join(dir, 'uk.xml'), LIST);
  ({ world, ada, bea } = await openStaffedStory(
    { ada: 'admin', bea: 'admin' },
    { settings: { SANCTIONS_LISTS: `uk=${join(dir, 'uk.xml')}` } },
  ));
  await world.until('the list is read', async () => (await ada.reads('/sanctions/lists')).body.lists.length === 1);
});
after(async () => {
  await world?.close();
  if (dir !== undefined) rmSync(dir, { recursive: true });
});

/** A verified customer with this name. */
async function named(firstName: string, lastName: string): Promise<StoryCustomer> {
  const made = await world.verifiedCustomer();
  await world.read(async (tx) => {
    const customer = await findCustomer(tx, made.id);
    const details = { firstName, lastName, dob: '1990-01-31' };
    await saveDetails(tx, world.server.vault, { customer, details, now: world.clock.now() });
  });
  return made;
}

async function sold(amount: string, customer: StoryCustomer): Promise<Sale> {
  const order = await world.sells(amount, 'usdc', { customer });
  await world.pays(order, amount);
  await world.mines(2);
  return order;
}

const agree = (path: string, body: Record<string, unknown> = {}) => oneOrTwoDo(ada, bea, path, body);

const hitOf = (customer: StoryCustomer) =>
  world.until('there is a hit', async () => {
    const { hits } = (await ada.reads('/sanctions/hits')).body;
    return hits.find(({ customerId }: { customerId: string }) => customerId === customer.id);
  });

test('a customer whose name is on no list is paid, and the next order reads the result that is stored', async () => {
  const customer = await named('Asha', 'Rao');
  const order = await sold('31', customer);
  await world.reaches(order, 6);
  const stored = () =>
    world.read((tx) =>
      tx.rows<{ id: bigint; names: number; at: Date }>(
        'select id, names, at from name_screenings where subject = any($1)',
        [[`customer:${customer.id}`, `account:${customer.fiatAccountId}`]],
      ),
    );
  const first = await stored();
  assert.deepEqual(first.map(({ names }) => names).toSorted(), [0, 1]);
  await world.reaches(await sold('35', customer), 6);
  assert.deepEqual(await stored(), first, 'the customer was compared again');
});

test('a customer with a listed name is held, under review for the partner; two dismiss it, and the order goes on', async () => {
  const customer = await named('Taras', 'Orlenkov');
  const order = await sold('32', customer);
  await world.opensCase(order, 'on_hold');
  const hit = await hitOf(customer);
  // No message to the partner names a list.
  const told = JSON.stringify([await world.eventBodies(order), await world.changesOf(order)]);
  assert.doesNotMatch(told, /sanction|XXX0001|orlenkov/i);

  // Before the decision the order cannot be released or refunded: not by one person, not by two, not past hits.
  const back = { failure: 'other', address: world.newAddress(), pastHits: true };
  for (const refund of [await agree(`/orders/${order.id}/refund`, back), await agree(`/orders/${order.id}/release`)])
    assert.equal(refund.status, 409, JSON.stringify(refund.body));
  const shown = (await ada.does(`/sanctions/hits/${hit.id}/open`)).body;
  assert.deepEqual([shown.alert.given.names, shown.entry.id], [['Taras Orlenkov'], 'XXX0001']);

  const alone = await ada.does(`/sanctions/hits/${hit.id}/dismiss`);
  assert.equal(alone.status, 202, 'one person dismissed the match');
  assert.equal((await bea.does(`/proposals/${alone.body.proposal}/confirm`)).status, 200);
  assert.equal((await agree(`/orders/${order.id}/release`)).status, 200);
  await world.reaches(order, 6);

  const replayed = await ada.does(`/screening/decisions/${hit.screening}/replay`);
  assert.equal(replayed.body.replay.outcome, 'same');
  // The decision is kept: the next order of this customer is paid.
  await world.reaches(await sold('33', customer), 6);
});

test('a payer on a list freezes the purchase, and a true hit blocks the customer; the money goes nowhere', async () => {
  const customer = await named('Grace', 'Okafor');
  const order: Purchase = await world.buys('5000', 'usdc', { customer });
  await world.credits(order, '5000', { name: 'HARUN KHAYALI' });
  const hit = await hitOf(customer);
  assert.match(hit.subject, /^payer:/);
  const confirmed = await ada.does(`/sanctions/hits/${hit.id}/confirm`);
  assert.equal(confirmed.status, 200);
  assert.ok((await world.read((tx) => blockOf(tx, customer.id))) !== null);
  await world.until('it is held', async () => ['on_hold', 'payout_held'].includes(await world.stateOf(order)));
  const back = await agree(`/orders/${order.id}/refund`, {
    failure: 'other',
    fiatAccountId: customer.fiatAccountId,
    pastHits: true,
  });
  assert.equal(back.status, 409, JSON.stringify(back.body));
  assert.equal((await ada.reads('/cases?kind=sanctions_hit')).body.cases.length, 0);
});

test('while a list is older than allowed a payout waits, and goes on by itself once it is read again', async () => {
  const customer = await named('Emma', 'Johansson');
  const old = new Date(world.clock.now().getTime() - 315_360_000_000 - 60_000);
  await world.read((tx) => tx.run('update sanctions_lists set as_of = $1', [old]));
  const order = await sold('34', customer);
  await world.until('it says what it waits for', async () =>
    /older than allowed/.test((await world.traceOf(order)).next),
  );
  await world.read((tx) => tx.run('update sanctions_lists set as_of = $1', [world.clock.now()]));
  await world.read((tx) =>
    enqueue(tx, { kind: 'send_payout', subject: `pay_${order.id}_1`, dueAt: world.clock.now() }),
  );
  await world.reaches(order, 6);
});

test('a true hit opens a case about what was submitted to the customer before, and holds what waits for funds', async () => {
  const customer = await named('Miriam', 'Njoroge');
  const sale = await sold('36', customer);
  await world.reaches(sale, 6);
  // As before the bank's statement shows it.
  const payout = `pay_${sale.id}_1`;
  await world.read((tx) => tx.run(`update payouts set ended_at = null, state = 'submitted' where id = $1`, [payout]));
  await world.setsAside('inr', 0n);
  const waits = await sold('37', customer);
  await world.until('it waits for funds', async () => (await world.stateOf(waits)) === 'awaiting_liquidity');
  const order: Purchase = await world.buys('5000', 'usdc', { customer });
  await world.credits(order, '5000', { name: 'HARUN KHAYALI' });
  const hit = await hitOf(customer);
  assert.equal((await ada.does(`/sanctions/hits/${hit.id}/confirm`)).status, 200);
  const { cases } = (await ada.reads('/cases?kind=block_too_late')).body;
  const [late] = cases.filter(({ subject }: { subject: string }) => subject === `customer:${customer.id}`);
  assert.deepEqual(late?.facts.payouts, [payout]);
  // It is held at once, and not when funds come.
  await world.opensCase(waits, 'on_hold');
  await world.read((tx) =>
    tx.run(`update payouts set ended_at = submitted_at, state = 'settled' where id = $1`, [payout]),
  );
});
