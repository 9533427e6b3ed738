/**
 * Payers on a sanctions list: their money is found when it comes, also without an order, and neither a policy nor a partner nor one or
 * two operators return it.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseUnits } from '../../src/base/money.ts';
import { findCustomer, saveDetails } from '../../src/customers/index.ts';
import { setDustThreshold } from '../../src/orders/index.ts';
import { oneOrTwoDo, type Person } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Story, StoryCustomer } from '../support/story.ts';
import { openV1, type V1Client } from '../support/v1.ts';

let world: Story;
let ada: Person;
let bea: Person;
let api: V1Client;
let dir: string;

const LISTED = 'HARUN KHAYALI';
const LATER = 'PETRONIUS QUILLFEATHER';
const designation = (id: string, first: string, last: string): string =>
  `<Designation><UniqueID>${id}</UniqueID><IndividualEntityShip>Individual</IndividualEntityShip>
  <Names><Name><Name1>${first}</Name1><Name6>${last}</Name6><NameType>Primary Name</NameType></Name></Names></Designation>`;
const publishes = (...designations: string[]): void =>
  writeFileSync(join(dir, 'uk.xml'), `<Designations>${designations.join('')}</Designations>`);
const FIRST = designation('XXX0002', 'Harun Mustafa', 'Khayali');

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sanctions-'));
  publishes(FIRST);
  ({ world, ada, bea } = await openStaffedStory(
    { ada: 'admin', bea: 'admin' },
    { settings: { SANCTIONS_LISTS: `uk=${join(dir, 'uk.xml')}` } },
  ));
  const [keys] = world.server.sandbox.partners;
  assert(keys);
  api = openV1(world.server.baseUrl, keys);
  await world.until('the list is read', async () => (await ada.reads('/sanctions/lists')).body.lists.length === 1);
});
after(async () => {
  await world?.close();
  if (dir !== undefined) rmSync(dir, { recursive: true });
});

async function named(): Promise<StoryCustomer> {
  const made = await world.verifiedCustomer();
  await world.read(async (tx) => {
    const customer = await findCustomer(tx, made.id);
    const details = { firstName: 'Grace', lastName: 'Okafor', dob: '1990-01-31' };
    await saveDetails(tx, world.server.vault, { customer, details, now: world.clock.now() });
  });
  return made;
}

type Ordered = Purchase & { fiatAccountId: string };

/** A purchase that names where a refund goes, so that a policy can send it at once. */
async function ordered(): Promise<Ordered> {
  const customer = await named();
  const order = await world.buys('5000', 'usdc', { customer });
  await world.read((tx) =>
    tx.run('update orders set refund_account_id = $2 where id = $1', [order.id, customer.fiatAccountId]),
  );
  return { ...order, fiatAccountId: customer.fiatAccountId };
}

/** A credit without a reference of ours. */
async function unknownCredit(amount: string, payerName: string): Promise<bigint> {
  const line = await world.bank.creditAccount({
    ...{ currency: 'INR', units: parseUnits(amount, 2), text: 'for the order, thanks' },
    ...{ payerName, payerAccount: '000987654321' },
  });
  await world.looksAtTheBank();
  return await world.until('the credit is in suspense', async () => {
    const [row] = await world.read((tx) =>
      tx.rows<{ id: bigint }>(`select id from deposits where external_id = $1 and state = 'suspense'`, [line]),
    );
    return row?.id;
  });
}

/** The hit of a deposit's payer; the job that compares names is due again. */
const hitOf = (deposit: bigint) =>
  world.until('there is a hit of its payer', async () => {
    const { hits } = (await ada.reads('/sanctions/hits')).body;
    const found = hits.find(({ subject }: { subject: string }) => subject === `payer:${deposit}`);
    if (found === undefined)
      await world.read((tx) =>
        tx.run(`update jobs set due_at = now() where kind in ('screen_names', 'refresh_sanctions') and lease is null`),
      );
    return found;
  });
const isCompared = (deposit: bigint) =>
  world.until('it is compared', async () => {
    const rows = await world.read((tx) =>
      tx.rows('select from name_screenings where subject = $1', [`payer:${deposit}`]),
    );
    if (rows.length === 0)
      await world.read((tx) => tx.run(`update jobs set due_at = now() where kind = 'screen_names' and lease is null`));
    return rows.length > 0;
  });
const refundsOf = (deposit: bigint) =>
  world.read((tx) => tx.rows<{ state: string }>('select state from refunds where deposit_id = $1', [deposit]));
/** Nothing of this deposit or its order was submitted to the bank. */
async function stays(deposit: bigint): Promise<void> {
  const left = await world.read((tx) =>
    tx.rows<{ id: string }>(
      `select p.id from payouts p left join refunds r on r.id = p.refund_id
        where r.deposit_id = $1 and p.submitted_at is not null`,
      [deposit],
    ),
  );
  assert.deepEqual(left, [], 'money of a listed payer was returned');
}
/** Neither one operator nor two can return it, whatever they say. */
async function staysFromOperators(path: string, body: Record<string, unknown>): Promise<void> {
  const alone = await ada.does(path, body);
  assert.notEqual(alone.status, 200, `one operator returned it: ${JSON.stringify(alone.body)}`);
  if (alone.status !== 202) return;
  assert.equal((await ada.does(`/proposals/${alone.body.proposal}/confirm`)).body.reason, 'own_proposal');
  await bea.does(`/proposals/${alone.body.proposal}/confirm`);
}
const asksForRefund = (order: Ordered, body: Record<string, unknown> = {}) =>
  api.post(`/orders/${order.id}/refund`, { destinationId: order.fiatAccountId, ...body });
/** A refund that the policy has requested waits for people. */
const isHeld = (deposit: bigint) =>
  world.until('its refund is held', async () => (await refundsOf(deposit)).some(({ state }) => state === 'held'));

test('a credit without an order is compared when it comes: its case is open, and no way out takes it, undecided or confirmed', async () => {
  const deposit = await unknownCredit('900', LISTED);
  const hit = await hitOf(deposit);
  assert.equal(hit.customerId, null);
  const { cases } = (await ada.reads('/cases?kind=sanctions_hit')).body;
  assert.ok(cases.some(({ subject }: { subject: string }) => subject === `sanctions:deposit:${deposit}`));
  assert.deepEqual(await refundsOf(deposit), []);

  const lost = await ordered();
  for (const what of ['undecided', 'confirmed'] as const) {
    const assigned = await oneOrTwoDo(ada, bea, `/deposits/${deposit}/assign`, { order: String(lost.id) });
    assert.equal(assigned.status, 409, `${what}: it became a customer's deposit`);
    await staysFromOperators(`/deposits/${deposit}/return`, { pastHits: true });
    await stays(deposit);
    if (what === 'undecided') assert.equal((await ada.does(`/sanctions/hits/${hit.id}/confirm`)).status, 200);
  }
  const replayed = await ada.does(`/screening/decisions/${hit.screening}/replay`);
  assert.equal(replayed.body.replay.outcome, 'same');
});

test('a second payment of a listed payer, whose name the first has brought, pays no order of another customer', async () => {
  const order = await ordered();
  await world.credits(order, '5000', { name: LISTED });
  const first = await world.until('it came', async () => (await world.traceOf(order)).deposits[0]?.id);
  const hit = await hitOf(first);
  const line = await world.credits(order, '5000', { name: LISTED });
  const second = await world.until('the second came', async () => {
    const [row] = await world.read((tx) =>
      tx.rows<{ id: bigint }>(`select id from deposits where external_id = $1 and state = 'suspense'`, [line]),
    );
    return row?.id;
  });
  await isCompared(second);
  const other = await ordered();
  for (const what of ['undecided', 'confirmed'] as const) {
    const assigned = await oneOrTwoDo(ada, bea, `/deposits/${second}/assign`, { order: String(other.id) });
    assert.equal(assigned.body.reason, 'deposit_unfit', `${what}: ${JSON.stringify(assigned.body)}`);
    if (what === 'undecided') assert.equal((await ada.does(`/sanctions/hits/${hit.id}/confirm`)).status, 200);
  }
  await stays(second);
  assert.deepEqual((await world.traceOf(other)).payouts, [], 'another customer was paid with it');
});

test('money whose payer was not compared yet pays no debt and no lost order, and is no dust', async () => {
  const order = await ordered();
  const recalled = await world.credits(order, '5000', { name: 'Grace Okafor' });
  await world.payoutIsSubmitted(order);
  await world.mines(2);
  await world.reaches(order, 4);
  await world.bank.recall(recalled);
  await world.looksAtTheBank();
  await world.opensCase(order, 'customer_owes');
  const debit = { id: 'LOST', direction: 'debit', units: 12_300n, reference: 'UTR-LOST' } as const;
  await world.bankShows(debit);
  const caseOf = (subject: string) =>
    world.until(`there is a case of ${subject}`, async () => {
      const { cases } = (await ada.reads('/cases')).body;
      return cases.find((one: { subject: string }) => one.subject === subject);
    });
  const unexplained = await caseOf('bank.simulated:LOST');

  await world.until('the job that compares waits', () =>
    world.read(async (tx) => {
      const far = `update jobs set due_at = now() + interval '10 years' where kind = 'screen_names' and lease is null`;
      return (await tx.run(far)) > 0;
    }),
  );
  const [listed, clean] = [await unknownCredit('9', LISTED), await unknownCredit('8', 'Ophelia Sender')];
  await world.read((tx) => setDustThreshold(tx, 'inr', parseUnits('10', 2)));
  const small = await unknownCredit('1', 'Ophelia Sender');
  const correct = (id: string, body: Record<string, unknown>) => oneOrTwoDo(ada, bea, `/cases/${id}/correct`, body);
  /** Each use after which nothing asks for the payer. */
  const uses = async (deposit: bigint, amount: string) => {
    const { id, facts } = await caseOf(`deposit:${deposit}`);
    return [
      await oneOrTwoDo(ada, bea, `/deposits/${deposit}/assign`, { order: String(order.id) }),
      await correct(unexplained.id, {
        as: 'lost_order',
        amount: '123',
        evidence: 'UTR-LOST',
        deposit: String(deposit),
      }),
      await correct(id, { as: 'dust', amount, evidence: facts.reference }),
    ];
  };
  const writesOff = () =>
    oneOrTwoDo(ada, bea, '/dust/write-off', { asset: 'inr', before: world.clock.now().toISOString(), most: 200 });
  const owed = await world.owed(order, 'inr');
  for (const [deposit, amount] of [
    [listed, '9'],
    [clean, '8'],
  ] as const) {
    const said = await uses(deposit, amount);
    for (const { status, body } of said) {
      assert.equal(status, 409, JSON.stringify(body));
      assert.match(body.error, /must first be compared/);
    }
  }
  assert.match((await writesOff()).body.error, /no dust/);
  for (const deposit of [listed, clean, small]) await isCompared(deposit);
  assert.equal((await writesOff()).status, 200);
  for (const { status, body } of await uses(listed, '9')) {
    assert.equal(status, 409, JSON.stringify(body));
    assert.match(body.error, /resembles a name/);
  }
  assert.equal(await world.owed(order, 'inr'), owed);
  assert.equal((await oneOrTwoDo(ada, bea, `/deposits/${clean}/assign`, { order: String(order.id) })).status, 200);
  assert.equal(await world.owed(order, 'inr'), owed - 800n);
});

test('a payer who comes onto a list while the money lies here is found', async () => {
  const deposit = await unknownCredit('800', LATER);
  await isCompared(deposit);
  publishes(FIRST, designation('XXX0009', 'Petronius', 'Quillfeather'));
  const hit = await hitOf(deposit);
  const dismissed = await oneOrTwoDo(ada, bea, `/sanctions/hits/${hit.id}/dismiss`);
  assert.equal(dismissed.status, 200);
  // Two people have decided that the payer is another person: the money can go back.
  assert.equal((await oneOrTwoDo(ada, bea, `/deposits/${deposit}/return`)).status, 200);
  await world.until('it went back', async () => (await refundsOf(deposit)).some(({ state }) => state === 'settled'));
});

test('an order of a listed payer is not refunded: not by the policy about names, a partner, or operators', async () => {
  await world.goesBy('onramp', 'usdc', { payerName: { then: 'refund' } });
  const order = await ordered();
  await world.credits(order, '5000', { name: LISTED });
  const deposit = await world.until('it came', async () => (await world.traceOf(order)).deposits[0]?.id);
  const hit = await hitOf(deposit);
  await world.goesBy('onramp', 'usdc', {});
  for (const what of ['undecided', 'confirmed'] as const) {
    await world.until('it is held', async () => /held|on_hold/.test(await world.stateOf(order)));
    assert.equal((await asksForRefund(order)).body.reason, 'under_review', what);
    const back = { failure: 'other', fiatAccountId: order.fiatAccountId, pastHits: true };
    await staysFromOperators(`/orders/${order.id}/refund`, back);
    await stays(deposit);
    assert.match(await world.stateOf(order), /held|on_hold/, what);
    if (what === 'undecided') assert.equal((await ada.does(`/sanctions/hits/${hit.id}/confirm`)).status, 200);
  }
});

for (const kind of ['late', 'second', 'excess'] as const)
  test(`a ${kind} credit of a listed payer is not refunded: not by the policy, a partner, or operators`, async () => {
    await world.goesBy('onramp', 'usdc', {
      ...{ late: { then: 'refund' }, second: { then: 'refund' } },
      overpaid: { acceptBps: 0, beyond: 'refund_excess' },
    });
    const order = await ordered();
    if (kind === 'late') {
      await world.deadlinePasses();
      await world.looksAtTheBank();
      await world.becomes(order, 'expired');
    }
    if (kind === 'second') {
      await world.credits(order, '5000', { name: 'Grace Okafor' });
      await world.payoutIsSubmitted(order);
      await world.mines(2);
      await world.reaches(order, 4);
    }
    const line = await world.credits(order, kind === 'excess' ? '7000' : '1000', { name: LISTED });
    const deposit = await world.until('it came', async () => {
      const { deposits } = await world.traceOf(order);
      const rows = await world.read((tx) =>
        tx.rows<{ id: bigint }>('select id from deposits where external_id = $1', [line]),
      );
      return deposits.find(({ id }) => id === rows[0]?.id)?.id;
    });
    await isHeld(deposit);
    await world.goesBy('onramp', 'usdc', {});
    const hit = await hitOf(deposit);
    for (const what of ['undecided', 'confirmed'] as const) {
      const asked = await asksForRefund(order, { depositId: String(deposit) });
      assert.equal(asked.body.reason, 'under_review', what);
      const back = { fiatAccountId: order.fiatAccountId, pastHits: true };
      // One operator may ask for it. It is screened again, and held again: the request approves no hit.
      for (const person of [ada, bea]) {
        const said = await person.does(`/deposits/${deposit}/refund`, back);
        assert.ok([200, 202, 409].includes(said.status), JSON.stringify(said.body));
        await isHeld(deposit);
      }
      await stays(deposit);
      if (what === 'undecided') assert.equal((await ada.does(`/sanctions/hits/${hit.id}/confirm`)).status, 200);
    }
  });
