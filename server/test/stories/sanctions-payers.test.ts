/** Payers on a sanctions list whose money belongs to no order: it is found when it comes, and neither one nor two operators return it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseUnits } from '../../src/base/money.ts';
import { findCustomer, saveDetails } from '../../src/customers/index.ts';
import { oneOrTwoDo, type Person } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Story, StoryCustomer } from '../support/story.ts';

let world: Story;
let ada: Person;
let bea: Person;
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

const ordered = async (): Promise<Purchase> => await world.buys('5000', 'usdc', { customer: await named() });

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

test('a payer who comes onto a list while the money lies here is found', async () => {
  const deposit = await unknownCredit('800', LATER);
  await world.until('it is compared', async () => {
    const rows = await world.read((tx) =>
      tx.rows('select from name_screenings where subject = $1', [`payer:${deposit}`]),
    );
    if (rows.length === 0)
      await world.read((tx) => tx.run(`update jobs set due_at = now() where kind = 'screen_names' and lease is null`));
    return rows.length > 0;
  });
  publishes(FIRST, designation('XXX0009', 'Petronius', 'Quillfeather'));
  const hit = await hitOf(deposit);
  const dismissed = await oneOrTwoDo(ada, bea, `/sanctions/hits/${hit.id}/dismiss`);
  assert.equal(dismissed.status, 200);
  // Two people have decided that the payer is another person: the money can go back.
  assert.equal((await oneOrTwoDo(ada, bea, `/deposits/${deposit}/return`)).status, 200);
  await world.until('it went back', async () => (await refundsOf(deposit)).some(({ state }) => state === 'settled'));
});
