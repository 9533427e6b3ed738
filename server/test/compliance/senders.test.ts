/**
 * Money is held while another customer who may be the same person is blocked: one with the account that a credit came from, at any
 * partner, or one with the account or document of the paid customer, at the same partner.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import { screenOwn, type Verdict } from '../../src/compliance/index.ts';
import {
  addFiatAccount,
  blockCustomer,
  enroll,
  findCustomer,
  keepSenderAccount,
  saveDetails,
  unblockCustomer,
} from '../../src/customers/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { newPhone } from '../support/client.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openRows, type Rows } from '../support/rows.ts';
import { until } from '../support/until.ts';

let fixture: Fixture;
let rows: Rows;
let partners: bigint[];
const now = () => fixture.clock.now();
const asSystem = <T>(work: (tx: Tx) => Promise<T>) => fixture.db.asSystem(work);

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  await rows.query(
    "insert into assets (code, kind, coin, decimals) values ('inr', 'fiat', 'inr', 2) on conflict do nothing",
  );
  const named = (name: string) => asSystem((tx) => createPartner(tx, { name, now: now(), tradeLevel: 1 }));
  partners = [(await named('Mine')).id, (await named('Theirs')).id];
});
after(async () => {
  await rows?.close();
  await fixture?.stop();
});

/** A customer with this account. */
async function owns(account: string, partnerId: bigint): Promise<string> {
  return await fixture.db.asPartner(partnerId, async (tx) => {
    const asked = { partnerId, clientCustomerId: `c-${newPhone()}`, phone: newPhone(), kind: 'INDIVIDUAL' as const };
    const customer = await enroll(tx, fixture.vault, { ...asked, now: now() });
    const details = { account, ifsc: 'SIMB0000001', name: 'Asha Rao' };
    await addFiatAccount(tx, fixture.vault, { customer, fiat: 'inr', details, now: now() });
    return customer.id;
  });
}

/** A credit from this account. @returns the account's id */
async function pays(account: string): Promise<bigint> {
  const [deposit] = await rows.query<{ id: string }>(
    `insert into deposits (rail, external_id, asset, units, target, state, reference, seen_at)
     values ('bank.simulated', gen_random_uuid()::text, 'inr', 500, '', 'suspense', '', now()) returning id::text`,
  );
  const details = { account, name: 'ASHA RAO' };
  const depositId = BigInt(deposit?.id ?? 0);
  return await asSystem((tx) => keepSenderAccount(tx, fixture.vault, { depositId, fiat: 'inr', details, now: now() }));
}

const hitsOf = (fiatAccountId: bigint, customerId: string | null = null): Promise<Verdict['hits']> =>
  asSystem(async (tx) => {
    const of = { id: 1n, partnerId: null, customerId, merchantReference: null, payoutAddress: null, depositIds: [] };
    const asked = { ...of, purpose: 'refund' as const, fiatAccountId, rail: 'bank.simulated' };
    return (await screenOwn(tx, fixture.vault, asked)).hits;
  });
const blocks = (id: string) => asSystem((tx) => blockCustomer(tx, id, now()));
const entryOf = async (id: string) => {
  const [row] = await rows.query<{ at: Date }>('select blocked_at as at from customers where id = $1', [id]);
  return `${id} ${row?.at.toISOString()}`;
};

test('an account of a blocked customer is found in any spelling and under any partner, until it is unblocked', async () => {
  for (const partnerId of partners) {
    const account = `9001${newPhone().slice(-8)}`;
    const owner = await owns(account, partnerId);
    const back = await pays(account.replace(/(\d{4})/g, '$1 '));
    assert.deepEqual(await hitsOf(back), [], 'the owner is not blocked');
    await blocks(owner);
    assert.deepEqual(await hitsOf(back), [{ rule: 'sender_blocked', entry: await entryOf(owner), own: true }]);
    assert.deepEqual(await hitsOf(await pays(`${account}1`)), [], 'another number is another account');
    await asSystem((tx) => unblockCustomer(tx, owner, now()));
    assert.deepEqual(await hitsOf(back), []);
  }
});

test('each blocked owner is a finding of its own, and the customer who is paid is not found twice', async () => {
  const account = `9002${newPhone().slice(-8)}`;
  const [one, two] = [await owns(account, partners[0] ?? 0n), await owns(account, partners[1] ?? 0n)];
  const back = await pays(account);
  await blocks(one);
  await blocks(two);
  const found = async (customerId: string | null) =>
    (await hitsOf(back, customerId)).map(({ rule, entry }) => [rule, entry]);
  const [ofOne, ofTwo] = [
    ['sender_blocked', await entryOf(one)],
    ['sender_blocked', await entryOf(two)],
  ];
  // Both may be blocked in one millisecond, and ids are random.
  assert.deepEqual((await found(null)).toSorted(), [ofOne, ofTwo].toSorted());
  const [own, ...others] = await found(one);
  assert.equal(own?.[0], 'customer_blocked');
  assert.deepEqual(others, [ofTwo]);
});

const accountIdOf = async (id: string): Promise<bigint> => {
  const [row] = await rows.query<{ id: string }>('select id::text from fiat_accounts where customer_id = $1', [id]);
  return BigInt(row?.id ?? 0);
};
const unblocks = (id: string) => asSystem((tx) => unblockCustomer(tx, id, now()));
/** A customer who gave this document number, with an account of its own. */
async function gave(identityNumber: string, partnerId: bigint): Promise<string> {
  const id = await owns(`9005${newPhone().slice(-8)}`, partnerId);
  await fixture.db.asPartner(partnerId, async (tx) =>
    saveDetails(tx, fixture.vault, { customer: await findCustomer(tx, id), details: { identityNumber }, now: now() }),
  );
  return id;
}
const ownHits = async (id: string) => await hitsOf(await accountIdOf(id), id);

test('an account of a customer is held while another owner at the same partner is blocked, and not at another partner', async () => {
  const account = `9003${newPhone().slice(-8)}`;
  const [mine = 0n, theirs = 0n] = partners;
  const blocked = await owns(account, mine);
  const second = await owns(account.replace(/(\d{4})/g, '$1 '), mine);
  const elsewhere = await owns(account, theirs);
  assert.deepEqual(await ownHits(second), [], 'the owner is not blocked');
  await blocks(blocked);
  assert.deepEqual(await ownHits(second), [{ rule: 'account_of_blocked', entry: await entryOf(blocked), own: true }]);
  assert.deepEqual(await ownHits(elsewhere), []);
  await unblocks(blocked);
  assert.deepEqual(await ownHits(second), []);
});

test('money of a customer is held while another customer with the document is blocked, and not at another partner', async () => {
  const number = `P${newPhone().slice(-7)}`;
  const [mine = 0n, theirs = 0n] = partners;
  const blocked = await gave(number, mine);
  const second = await gave(number.toLowerCase(), mine);
  const [elsewhere, other] = [await gave(number, theirs), await gave(`${number}0`, mine)];
  await blocks(blocked);
  const held = { rule: 'document_of_blocked', entry: await entryOf(blocked), own: true };
  assert.deepEqual(await ownHits(second), [held]);
  const wallet = { payoutAddress: '0x0000000000000000000000000000000000000001', fiatAccountId: null };
  const order = { id: 1n, partnerId: mine, customerId: second, merchantReference: null, depositIds: [], ...wallet };
  const { hits } = await asSystem((tx) => screenOwn(tx, fixture.vault, { ...order, rail: 'evm.local' }));
  assert.deepEqual(hits, [held], 'coins of a purchase are held as well');
  assert.deepEqual([await ownHits(elsewhere), await ownHits(other)], [[], []]);
  await unblocks(blocked);
  await blocks(blocked);
  assert.notDeepEqual(await ownHits(second), [held], 'an approval for one block would apply to the next');
});

test('a block of another owner waits until money that has read it has left', async () => {
  const account = `9006${newPhone().slice(-8)}`;
  const [owner, second] = [await owns(account, partners[0] ?? 0n), await owns(account, partners[0] ?? 0n)];
  let blocking: Promise<void> | undefined;
  await asSystem(async (tx) => {
    const of = { id: 1n, partnerId: null, customerId: second, merchantReference: null, payoutAddress: null };
    const asked = { ...of, depositIds: [], fiatAccountId: await accountIdOf(second), rail: 'bank.simulated' };
    assert.deepEqual((await screenOwn(tx, fixture.vault, asked)).hits, []);
    blocking = blocks(owner);
    const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'update customers%'`;
    await until('the block waits', async () => (await rows.query(waits)).length > 0);
  });
  await blocking;
  assert.equal((await ownHits(second)).length, 1);
});

test('a block waits until money that has read it has left, and is read by the next', async () => {
  const account = `9004${newPhone().slice(-8)}`;
  const owner = await owns(account, partners[0] ?? 0n);
  const back = await pays(account);
  let isBlocked = false;
  let blocking: Promise<void> | undefined;
  await asSystem(async (tx) => {
    const of = {
      id: 1n,
      partnerId: null,
      customerId: null,
      merchantReference: null,
      payoutAddress: null,
      depositIds: [],
    };
    const asked = { ...of, purpose: 'refund' as const, fiatAccountId: back, rail: 'bank.simulated' };
    assert.deepEqual((await screenOwn(tx, fixture.vault, asked)).hits, []);
    blocking = blocks(owner).then(() => {
      isBlocked = true;
    });
    const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'update customers%'`;
    await until('the block waits', async () => {
      assert(!isBlocked, 'the block did not wait');
      return (await rows.query(waits)).length > 0;
    });
  });
  await blocking;
  assert.equal((await hitsOf(back)).length, 1);
});
