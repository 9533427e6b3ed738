/** Sanctions lists and the travel rule: names that a provider or a partner gives are compared, whenever and however many they are. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { findCustomer, saveDetails } from '../../src/customers/index.ts';
import { oneOrTwoDo, type Person, twoDo } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story, StoryCustomer } from '../support/story.ts';
import { type Other, openOther, person, post, urlOf } from '../support/trp.ts';
import { openV1, type V1Client } from '../support/v1.ts';

let world: Story;
let ada: Person;
let bea: Person;
let api: V1Client;
let other: Other;
let dir: string;

const designation = (id: string, first: string, last: string): string =>
  `<Designation><UniqueID>${id}</UniqueID><IndividualEntityShip>Individual</IndividualEntityShip>
  <Names><Name><Name1>${first}</Name1><Name6>${last}</Name6><NameType>Primary Name</NameType></Name></Names></Designation>`;
const LIST = `<Designations>${designation('XXX0001', 'Taras Ilyich', 'ORLENKOV')}
  ${designation('XXX0002', 'Harun Mustafa', 'KHAYALI')}</Designations>`;

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sanctions-'));
  writeFileSync(join(dir, 'uk.xml'), LIST);
  other = await openOther();
  ({ world, ada, bea } = await openStaffedStory(
    { ada: 'admin', bea: 'admin' },
    {
      settings: {
        SANCTIONS_LISTS: `uk=${join(dir, 'uk.xml')}`,
        ...{ TRAVEL_PROTOCOL: 'trp', TRP_LEGAL_NAME: 'A Ramp Ltd', TRP_ASSETS: 'usdc.matic20=dti:4H95J0R2X' },
      },
    },
  ));
  const [keys] = world.server.sandbox.partners;
  assert(keys);
  api = openV1(world.server.baseUrl, keys);
  const terms = { threshold: '4000', deadlineHours: 2, policy: 'hold', exchange: 'required' };
  await twoDo(ada, bea, '/travel-rules', { jurisdiction: '*', fiat: 'inr', ...terms });
  await twoDo(ada, bea, '/travel-providers', { host: other.host, name: 'Another Ltd' });
  await world.until('the list is read', async () => (await ada.reads('/sanctions/lists')).body.lists.length === 1);
  other.answers = () => ({ status: 204 });
});
after(async () => {
  other?.server.closeAllConnections();
  other?.server.close();
  await world?.close();
  if (dir !== undefined) rmSync(dir, { recursive: true });
});

async function named(): Promise<StoryCustomer> {
  const made = await world.verifiedCustomer();
  await world.read(async (tx) => {
    const customer = await findCustomer(tx, made.id);
    const details = { firstName: 'Zebulon', lastName: 'Quagmire', dob: '1990-01-31' };
    await saveDetails(tx, world.server.vault, { customer, details, now: world.clock.now() });
  });
  return made;
}

const walletsOf = (order: Sale | Purchase) => api.does('GET', `/orders/${order.id}/wallets`);
const names = (order: Sale | Purchase, body: Record<string, unknown>) =>
  api.does('POST', `/orders/${order.id}/wallets`, { kind: 'self_hosted', owner: 'customer', ...body });
const waits = async (order: Sale | Purchase): Promise<void> => {
  await world.becomes(order, 'paying_out');
  await world.until('it says what it waits for', async () => /travel rule/.test((await world.traceOf(order)).next));
};

/** Another provider names the originators of coins for a sale, and confirms that it did. */
async function tells(sale: Sale, amount: number, originators: readonly (readonly [string, string])[]): Promise<void> {
  const ivms = {
    originator: { originatorPersons: originators.map(([first, last]) => person(first, last)) },
    beneficiary: { beneficiaryPersons: [person('Zebulon', 'Quagmire')] },
  };
  const inquiry = { asset: { dti: '4H95J0R2X' }, amount, callback: `http://${other.host}/resolve`, IVMS101: ivms };
  const url = urlOf((await walletsOf(sale)).travelAddress);
  const said = await post(url, inquiry, { 'request-identifier': `sale-${sale.id}-${originators.length}` });
  assert.equal(said.status, 200, said.text);
}

/** The order is held or paid: its state then. */
const end = (order: Sale | Purchase): Promise<string> =>
  world.until('it is held or paid', async () => {
    const state = await world.stateOf(order);
    return ['on_hold', 'payout_held', 'settled'].includes(state) && state;
  });
const hitsOf = async ({ customerId }: Sale | Purchase) =>
  (await ada.reads('/sanctions/hits')).body.hits.filter((one: { customerId: string }) => one.customerId === customerId);
const compared = (subject: string) =>
  world.read((tx) =>
    tx.rows<{ names: number }>('select names from name_screenings where subject = $1 and ended_at is null', [subject]),
  );

test('an originator who is named after the coins were compared is compared before the payout, and two dismiss the hit', async () => {
  const sale = await world.sells('61', 'usdc', { customer: await named() });
  await world.pays(sale, '61');
  await world.mines(2);
  await waits(sale);
  const [deposit] = (await world.traceOf(sale)).deposits;
  const payer = `payer:${deposit?.id}`;
  assert.deepEqual(await compared(payer), [{ names: 1 }], 'the address was not compared before the name came');

  await tells(sale, 61, [['Harun Mustafa', 'Khayali']]);
  assert.equal(await end(sale), 'payout_held', 'the money of a listed originator was paid out');
  const [hit, ...more] = await hitsOf(sale);
  assert.deepEqual([hit.subject, more], [payer, []]);
  const told = JSON.stringify([await world.eventBodies(sale), await world.changesOf(sale), await walletsOf(sale)]);
  assert.doesNotMatch(told, /sanction|XXX0002|khayali/i);
  assert.equal((await oneOrTwoDo(ada, bea, `/orders/${sale.id}/retry`)).status, 409, 'an approval let it pass the hit');
  const replayed = await ada.does(`/screening/decisions/${hit.screening}/replay`);
  assert.equal(replayed.body.replay.outcome, 'same');

  assert.equal((await oneOrTwoDo(ada, bea, `/sanctions/hits/${hit.id}/dismiss`)).status, 200);
  assert.equal((await oneOrTwoDo(ada, bea, `/orders/${sale.id}/retry`)).status, 200);
  await world.reaches(sale, 6);
});

test('of several originators each is compared, also one of a second message', async () => {
  const sale = await world.sells('62', 'usdc', { customer: await named() });
  await tells(sale, 62, [
    ['Ophelia', 'Sender'],
    ['Taras', 'Orlenkov'],
  ]);
  await world.pays(sale, '62');
  await world.mines(2);
  assert.notEqual(await end(sale), 'settled', 'the second originator was not compared');
  const [hit, ...more] = await hitsOf(sale);
  assert.match(hit.subject, /^payer:/);
  assert.deepEqual(more, []);

  const twice = await world.sells('63', 'usdc', { customer: await named() });
  await tells(twice, 63, [
    ['Ophelia', 'Sender'],
    ['Cordelia', 'Sender'],
  ]);
  await tells(twice, 63, [['Taras', 'Orlenkov']]);
  await world.until('both answers were taken', async () => {
    const [row] = await world.read((tx) =>
      tx.rows<{ count: number }>(
        'select count(*)::int as count from travel_exchanges where order_id = $1 and told_at is not null',
        [twice.id],
      ),
    );
    return row?.count === 2;
  });
  await world.pays(twice, '63');
  await world.mines(2);
  assert.notEqual(await end(twice), 'settled', 'the originator of the second message was not compared');
});

test('coins for the wallet of another person on a list stay, and another declaration does not clear them', async () => {
  const address = world.newAddress().toLowerCase();
  const order = await world.buys('5000', 'usdc', { address, customer: await named() });
  await world.credits(order, '5000', { name: 'Zebulon Quagmire' });
  await waits(order);
  await names(order, { address, owner: 'other', ownerName: 'Taras Orlenkov' });
  assert.equal(await end(order), 'payout_held', 'coins left for a listed beneficiary');
  const [hit, ...more] = await hitsOf(order);
  assert.match(hit.subject, /^wallet:/);
  assert.deepEqual(more, []);
  const shown = (await ada.does(`/sanctions/hits/${hit.id}/open`)).body;
  assert.deepEqual([shown.alert.given.names, shown.entry.id], [['Taras Orlenkov'], 'XXX0001']);

  await names(order, { address });
  assert.equal((await oneOrTwoDo(ada, bea, `/orders/${order.id}/retry`)).status, 409);
  assert.equal((await ada.does(`/screening/decisions/${hit.screening}/replay`)).body.replay.outcome, 'same');
  assert.equal((await oneOrTwoDo(ada, bea, `/sanctions/hits/${hit.id}/dismiss`)).status, 200);
  assert.equal((await oneOrTwoDo(ada, bea, `/orders/${order.id}/retry`)).status, 200);
  await world.payoutIsSubmitted(order);
  await world.mines(2);
  await world.reaches(order, 4);
});

test('coins that came from the wallet of another person on a list are not paid out, and one on no list delays nothing', async () => {
  for (const [ownerName, state] of [
    ['Harun Khayali', 'payout_held'],
    ['Ophelia Sender', 'settled'],
  ] as const) {
    const sale = await world.sells('64', 'usdc', { customer: await named() });
    await world.pays(sale, '64');
    await world.mines(2);
    await waits(sale);
    const [{ address }] = (await walletsOf(sale)).data;
    await names(sale, { address, owner: 'other', ownerName });
    assert.equal(await end(sale), state, ownerName);
  }
});

test('an owner who is named although no rule needs it is compared too', async () => {
  const address = world.newAddress().toLowerCase();
  const order = await world.buys('3000', 'usdc', { address, customer: await named() });
  await names(order, { address, owner: 'other', ownerName: 'Taras Orlenkov' });
  await world.credits(order, '3000', { name: 'Zebulon Quagmire' });
  assert.notEqual(await end(order), 'settled', 'coins left for a listed beneficiary');
});
