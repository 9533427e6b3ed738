/**
 * Money that arrived without an order and was refunded to an account of a customer is that customer's: it prevents the erasure
 * while it is under way, and afterwards nothing about it can be read with any key.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { openFolder } from '../../src/base/blobs.ts';
import { openErasureList } from '../../src/base/erasurelist.ts';
import { parseUnits } from '../../src/base/money.ts';
import { closeCases, replaceDenyList } from '../../src/compliance/index.ts';
import { requestsErasing } from '../../src/composition/erasing.ts';
import { openFiatAccount } from '../../src/customers/index.ts';
import type { Erasing } from '../../src/erasure/index.ts';
import { eraseOwnerless } from '../../src/erasure/ownerless.ts';
import { type Person, twoDo } from '../protocols/operator/people.ts';
import { findInDump } from '../support/dump.ts';
import { readableRows } from '../support/readable.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let bea: Person;
before(async () => {
  ({ world, ada, bea } = await openStaffedStory({ ada: 'admin', bea: 'admin' }));
});
const folders: string[] = [];
after(async () => {
  await world?.close();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const DAY_MS = 86_400_000;
const NAME = 'Suspensia Quagmire';
const ACCOUNT = '000987654321';

/** A credit without a reference of ours. */
async function unknownCredit(): Promise<bigint> {
  const units = parseUnits('900', 2);
  const externalId = await world.bank.creditAccount({
    ...{ currency: 'INR', units, text: `rent of ${NAME}`, payerName: NAME, payerAccount: ACCOUNT },
  });
  await world.looksAtTheBank();
  return await world.until('it is in suspense', async () => {
    const [row] = await world.read((tx) =>
      tx.rows<{ id: bigint }>(`select id from deposits where external_id = $1 and state = 'suspense'`, [externalId]),
    );
    return row?.id;
  });
}

/** As the job of a server has it, with a folder of its own. */
function erasingOf(): Erasing {
  const { db, vault } = world.server;
  const folder = mkdtempSync(join(tmpdir(), 'ownerless-'));
  folders.push(folder);
  const at = { blobs: openFolder(folder), list: openErasureList(folder), backupsKeptDays: 90 };
  return { ...at, db, vault, eraseRequests: requestsErasing({ db, vault }) };
}

/** All rows, decrypted. */
async function readable(): Promise<string> {
  const client = new Client({ connectionString: world.adminUrl, options: '-c search_path=cloverleaf' });
  await client.connect();
  try {
    const query = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows;
    return Object.values(await readableRows({ query, vault: world.vault }))
      .flat()
      .join('\n');
  } finally {
    await client.end();
  }
}

test('a deposit without an order that was refunded to a customer is erased with the customer', async () => {
  const { id } = await world.verifiedCustomer();
  const { id: other } = await world.verifiedCustomer();
  const { fiatAccountId } = await world.verifiedAccount(id);
  const denied = await world.read(async (tx) => {
    const { details } = await openFiatAccount(tx, world.vault, BigInt(fiatAccountId));
    const destinations = [{ kind: 'account', value: details.account ?? '' }] as const;
    const list = { list: 'local', version: '1', now: world.clock.now() };
    await replaceDenyList(tx, world.vault, { ...list, destinations });
    const [row] = await tx.rows<{ index: Buffer }>(`select index from denied_destinations where list = 'local'`);
    return row?.index.toString('hex') ?? '';
  });
  const deposit = await unknownCredit();
  const unclaimed = await unknownCredit();

  const refund = { fiatAccountId, pastHits: true, reason: `${NAME} called about it` };
  await twoDo(ada, bea, `/deposits/${deposit}/refund`, refund);
  const [row] = await world.read((tx) =>
    tx.rows<{ id: bigint }>('select id from refunds where deposit_id = $1', [deposit]),
  );
  const early = await ada.does(`/customers/${id}/erase`);
  assert.match(early.body.error ?? '', new RegExp(`refunds are under way: ${row?.id}|has to be kept`));
  await world.until(
    'it is paid',
    async () => (await ada.reads(`/deposits/${deposit}`)).body.refunds[0]?.state === 'settled',
  );
  const kept = await ada.does(`/customers/${id}/erase`);
  assert.match(
    kept.body.error ?? '',
    /has to be kept until/,
    'a refund that was just paid does not prevent the erasure',
  );
  await world.read((tx) =>
    tx.run(`update refunds set updated_at = updated_at - interval '6 years' where deposit_id = $1`, [deposit]),
  );

  const before = await readable();
  for (const word of [NAME, ACCOUNT, 'called about it', `rent of ${NAME}`])
    assert.ok(before.includes(word), `${word} was not stored`);
  assert.ok((await findInDump(world.adminUrl, [denied])).length > 1, 'no blind index of the account was stored');
  const { statement } = await twoDo(ada, bea, `/customers/${id}/erase`);

  const left = await findInDump(world.adminUrl, [denied]);
  assert.deepEqual(
    left.filter(({ table }) => !table.endsWith('.denied_destinations')),
    [],
    'a blind index is left',
  );
  const now = await readable();
  assert.ok(!now.includes('called about it'), 'what an operator typed is left');
  const lines = await world.read((tx) =>
    tx.rows<{ deposit: bigint; known: boolean }>(
      `select d.id as deposit, l.details is not null as known from bank_lines l
        join deposits d on d.rail = l.rail and d.external_id = l.external_id where d.id = any($1::bigint[]) order by d.id`,
      [[deposit, unclaimed]],
    ),
  );
  assert.deepEqual(lines, [
    { deposit, known: false },
    { deposit: unclaimed, known: true },
  ]);
  assert.equal((await ada.reads(`/customers/${other}`)).body.erasedAt, null);
  const remains = statement.remains.map(({ kind }: { kind: string }) => kind);
  assert.ok(
    ['deposits', 'refunds', 'payouts'].every((kind) => remains.includes(kind)),
    remains.join(', '),
  );
});

/** Decided, paid, and older than the retention time. */
async function isOld(deposit: bigint): Promise<void> {
  await world.until('it is paid', async () =>
    (await ada.reads(`/deposits/${deposit}`)).body.refunds.every((one: { state: string }) => one.state === 'settled'),
  );
  await world.read((tx) =>
    tx.run(`update refunds set updated_at = updated_at - interval '6 years' where deposit_id = $1`, [deposit]),
  );
}

test('of a deposit that was refunded in parts to two customers, an erasure takes its own part and leaves the other’s', async () => {
  const { id: gone } = await world.verifiedCustomer();
  const { id: stays } = await world.verifiedCustomer();
  const deposit = await unknownCredit();
  for (const [customer, amount, said] of [
    [gone, '400', 'for Petronius'],
    [stays, '500', 'for Ludmila'],
  ] as const) {
    const { fiatAccountId } = await world.verifiedAccount(customer);
    await twoDo(ada, bea, `/deposits/${deposit}/refund`, { fiatAccountId, amount, reason: `${NAME} called ${said}` });
    await isOld(deposit);
  }
  const exported = (await ada.does(`/customers/${gone}/export`)).body;
  const parts = exported.export.payouts.map(({ units }: { units: string }) => units);
  assert.deepEqual(parts, ['400'], 'the export has the other customer’s part');

  // The other’s legal hold keeps what is the other’s, and does not concern this customer.
  await ada.does(`/customers/${stays}/legal-hold`, { reason: 'order of a court' });
  const { statement } = await twoDo(ada, bea, `/customers/${gone}/erase`);
  const remains = statement.remains.find(({ kind }: { kind: string }) => kind === 'shared_deposits');
  assert.deepEqual([remains?.count, remains?.personal], [1, true]);
  const now = await readable();
  assert.deepEqual(
    now.split('\n').filter((row) => row.includes('called for Petronius')),
    [],
    'what was typed about the erased customer’s part is left',
  );
  assert.ok(now.includes('called for Ludmila'), 'what was typed about the other’s part is gone');
  assert.equal(await payerIsKnown(deposit), true, 'the payer of the other’s part is gone');

  await twoDo(ada, bea, `/customers/${stays}/lift-legal-hold`);
  const last = await twoDo(ada, bea, `/customers/${stays}/erase`);
  assert.ok(!last.statement.remains.some(({ kind }: { kind: string }) => kind === 'shared_deposits'));
  assert.ok(!(await readable()).includes('called for'), 'what was typed is left after the last erasure');
  assert.equal(await payerIsKnown(deposit), false);
});

/** Whether the statement line of a credit still has its payer. */
const payerIsKnown = async (deposit: bigint): Promise<boolean | undefined> =>
  (
    await world.read((tx) =>
      tx.row<{ known: boolean }>(
        `select l.details is not null as known from bank_lines l join deposits d on d.rail = l.rail and d.external_id = l.external_id
          where d.id = $1`,
        [deposit],
      ),
    )
  )?.known;

test('a part that went back to the payer is of no customer: it goes with the last of them', async () => {
  const [gone, stays] = [(await world.verifiedCustomer()).id, (await world.verifiedCustomer()).id];
  const deposit = await unknownCredit();
  for (const [customer, amount] of [
    [gone, '400'],
    [stays, '300'],
  ] as const) {
    const { fiatAccountId } = await world.verifiedAccount(customer);
    await twoDo(ada, bea, `/deposits/${deposit}/refund`, { fiatAccountId, amount, reason: 'a part' });
    await isOld(deposit);
  }
  await twoDo(ada, bea, `/deposits/${deposit}/return`, { reason: `${NAME} called about the rest` });
  await isOld(deposit);
  const why = async () =>
    (
      await world.read((tx) =>
        tx.row<{ why: string }>('select why from refunds where deposit_id = $1 order by id desc limit 1', [deposit]),
      )
    )?.why;
  assert.match((await why()) ?? '', /enc:op1:/);
  await twoDo(ada, bea, `/customers/${gone}/erase`);
  assert.match((await why()) ?? '', /enc:op1:/, 'what was typed about the payer’s part is gone');
  await twoDo(ada, bea, `/customers/${stays}/erase`);
  assert.doesNotMatch((await why()) ?? '', /enc:op1:/);
});

test('a deposit whose rest was assigned to an order of another customer stays while that one is not erased', async () => {
  const gone = (await world.verifiedCustomer()).id;
  const { fiatAccountId } = await world.verifiedAccount(gone);
  const order = await world.buys('100', 'usdc');
  const deposit = await unknownCredit();
  await twoDo(ada, bea, `/deposits/${deposit}/refund`, { fiatAccountId, amount: '400', reason: 'a part' });
  await isOld(deposit);
  // As when it replaces money of the order that was reversed.
  await world.read((tx) =>
    tx.run(`update deposits set order_id = $2, state = 'applied', taken_units = units - refund_units where id = $1`, [
      deposit,
      order.id,
    ]),
  );
  await twoDo(ada, bea, `/customers/${gone}/erase`);
  assert.equal(await payerIsKnown(deposit), true, 'the payer of the other customer’s order is gone');
});

/** A part of it is refunded to the customer's account, the rest assigned to the order: as when it replaces money that was reversed. */
async function partedWith(customer: string, order: bigint, reason: string): Promise<bigint> {
  const { fiatAccountId } = await world.verifiedAccount(customer);
  const deposit = await unknownCredit();
  await twoDo(ada, bea, `/deposits/${deposit}/refund`, { fiatAccountId, amount: '400', reason });
  await isOld(deposit);
  await world.read((tx) =>
    tx.run(`update deposits set order_id = $2, state = 'applied', taken_units = units - refund_units where id = $1`, [
      ...[deposit, order],
    ]),
  );
  return deposit;
}

/** A purchase of a customer of its own that was cancelled before the retention time began. */
async function endedOrder(): Promise<{ id: bigint; customerId: string }> {
  const { id: customerId } = await world.verifiedCustomer();
  const { id } = await world.buys('100', 'usdc');
  assert.equal((await ada.does(`/orders/${id}/cancel`)).status, 200);
  await world.read((tx) =>
    tx.run(`update orders set customer_id = $2, updated_at = updated_at - interval '6 years' where id = $1`, [
      ...[id, customerId],
    ]),
  );
  return { id, customerId };
}

/** At a time in the past, unless it is given. */
const cancelRefunds = (deposit: bigint, at?: Date): Promise<number> =>
  world.read((tx) =>
    tx.run(`update refunds set state = 'cancelled', updated_at = coalesce($2, updated_at) where deposit_id = $1`, [
      ...[deposit, at ?? null],
    ]),
  );

const rowsWith = async (text: string): Promise<string[]> =>
  (await readable()).split('\n').filter((row) => row.includes(text));

test('a refund that is cancelled after its order’s customer was erased is reached by the other’s erasure, and the deposit by time', async () => {
  const other = (await world.verifiedCustomer()).id;
  const order = await endedOrder();
  const deposit = await partedWith(other, order.id, `${NAME} called for Cornelia`);
  await ada.does(`/deposits/${deposit}/payer`, { reason: `${NAME} called about Cornelia’s deposit` });
  await twoDo(ada, bea, `/customers/${order.customerId}/erase`);
  assert.notDeepEqual(await rowsWith('called for Cornelia'), [], 'the other’s part went with the order’s customer');
  await cancelRefunds(deposit);
  const { statement } = await twoDo(ada, bea, `/customers/${other}/erase`);
  assert.deepEqual(await rowsWith('called for Cornelia'), [], 'what was typed for the cancelled refund is left');
  const remains = statement.remains.find(({ kind }: { kind: string }) => kind === 'deposits_of_cancelled_refunds');
  assert.deepEqual([remains?.count, remains?.personal], [1, true]);

  const later = { afterDays: 30, now: new Date(world.clock.now().getTime() + 31 * DAY_MS) };
  await eraseOwnerless(erasingOf(), later);
  assert.equal(await payerIsKnown(deposit), true, 'it was erased while a part waits');
  await world.read((tx) => tx.run(`update deposits set state = 'written_off' where id = $1`, [deposit]));
  await eraseOwnerless(erasingOf(), { ...later, now: world.clock.now() });
  assert.equal(await payerIsKnown(deposit), true, 'it was erased within the retention time');
  await eraseOwnerless(erasingOf(), later);
  assert.equal(await payerIsKnown(deposit), false, 'the payer is left');
  assert.deepEqual(await rowsWith('called about Cornelia'), []);
});

test('an erasure takes what was typed for a cancelled refund, and leaves the deposit to the order’s customer', async () => {
  const other = (await world.verifiedCustomer()).id;
  const order = await endedOrder();
  const deposit = await partedWith(other, order.id, `${NAME} called for Drusilla`);
  await cancelRefunds(deposit);
  await twoDo(ada, bea, `/customers/${other}/erase`);
  assert.deepEqual(await rowsWith('called for Drusilla'), []);
  const later = { afterDays: 30, now: new Date(world.clock.now().getTime() + 31 * DAY_MS) };
  await world.read((tx) => tx.run(`update deposits set state = 'written_off' where id = $1`, [deposit]));
  await eraseOwnerless(erasingOf(), later);
  assert.equal(await payerIsKnown(deposit), true, 'the payer of the other customer’s order is gone');
  await twoDo(ada, bea, `/customers/${order.customerId}/erase`);
  assert.equal(await payerIsKnown(deposit), false);
});

test('a cancelled refund has to be kept as long as others', async () => {
  const { id } = await world.verifiedCustomer();
  const { fiatAccountId } = await world.verifiedAccount(id);
  const deposit = await unknownCredit();
  await twoDo(ada, bea, `/deposits/${deposit}/refund`, { fiatAccountId, amount: '400', reason: 'a part' });
  await isOld(deposit);
  await cancelRefunds(deposit, world.clock.now());
  assert.match((await ada.does(`/customers/${id}/erase`)).body.error ?? '', /has to be kept until/);
});

test('money that comes for an order after its customer was erased is erased by time', async () => {
  const order = await endedOrder();
  await twoDo(ada, bea, `/customers/${order.customerId}/erase`);
  const deposit = await unknownCredit();
  await world.read((tx) => tx.run('update deposits set order_id = $2 where id = $1', [deposit, order.id]));
  await ada.does(`/deposits/${deposit}/payer`, { reason: `${NAME} called about late money` });
  const later = { afterDays: 30, now: new Date(world.clock.now().getTime() + 31 * DAY_MS) };
  await eraseOwnerless(erasingOf(), later);
  assert.equal(await payerIsKnown(deposit), true, 'it was erased while it waits');
  await world.read(async (tx) => {
    await tx.run(`update deposits set state = 'written_off' where id = $1`, [deposit]);
    await closeCases(tx, { subject: `deposit:${deposit}`, outcome: 'written off', now: world.clock.now() });
  });
  await eraseOwnerless(erasingOf(), later);
  assert.equal(await payerIsKnown(deposit), false);
  assert.deepEqual(await rowsWith('called about late money'), []);
});

test('what was shared goes by time if the other’s part is cancelled after the erasure', async () => {
  const [gone, stays] = [(await world.verifiedCustomer()).id, (await world.verifiedCustomer()).id];
  const deposit = await unknownCredit();
  for (const [customer, amount] of [
    [gone, '400'],
    [stays, '500'],
  ] as const) {
    const { fiatAccountId } = await world.verifiedAccount(customer);
    await twoDo(ada, bea, `/deposits/${deposit}/refund`, { fiatAccountId, amount, reason: 'a part' });
    await isOld(deposit);
  }
  await twoDo(ada, bea, `/customers/${gone}/erase`);
  const later = { afterDays: 30, now: new Date(world.clock.now().getTime() + 31 * DAY_MS) };
  await eraseOwnerless(erasingOf(), later);
  assert.equal(await payerIsKnown(deposit), true, 'it was erased while it is the other’s');
  // Its bank returned it.
  await world.read((tx) =>
    tx.run(
      `update refunds set state = 'cancelled'
        where deposit_id = $1 and fiat_account_id in (select id from fiat_accounts where customer_id = $2)`,
      [deposit, stays],
    ),
  );
  await eraseOwnerless(erasingOf(), later);
  assert.equal(await payerIsKnown(deposit), true, 'it was erased while a part waits');
  await world.read((tx) => tx.run(`update deposits set state = 'written_off' where id = $1`, [deposit]));
  await eraseOwnerless(erasingOf(), later);
  assert.equal(await payerIsKnown(deposit), false);
});

test('of two customers of one deposit who are erased at once, the second one takes what they shared', async () => {
  const customers = [(await world.verifiedCustomer()).id, (await world.verifiedCustomer()).id];
  const deposit = await unknownCredit();
  for (const [at, customer] of customers.entries()) {
    const { fiatAccountId } = await world.verifiedAccount(customer);
    const amount = ['400', '500'][at];
    await twoDo(ada, bea, `/deposits/${deposit}/refund`, { fiatAccountId, amount, reason: `${NAME} called at once` });
    await isOld(deposit);
  }
  const proposed = await Promise.all(customers.map((id) => ada.does(`/customers/${id}/erase`)));
  await Promise.all(proposed.map(({ body }) => bea.does(`/proposals/${body.proposal}/confirm`)));
  assert.ok(!(await readable()).includes('called at once'));
});

test('what was typed about money of nobody goes after the retention time: refunded to an address, or to its payer', async () => {
  const order = await world.sells('10', 'usdc');
  const rail = world.server.rails.get('evm.matic20') as { walletAddresses?: Record<string, string> } | undefined;
  const hot = rail?.walletAddresses?.hot ?? '';
  const { hash } = await world.pays({ ...order, depositAddress: hot }, '4');
  await world.mines(13);
  const coins = await world.until('it is booked', async () => {
    const [row] = await world.read((tx) =>
      tx.rows<{ id: bigint }>(`select id from deposits where origin = 'credit' and reference = $1`, [hash]),
    );
    return row?.id;
  });
  const address = world.newAddress();
  await twoDo(ada, bea, `/deposits/${coins}/refund`, { address, reason: `${NAME} called about coins` });
  const credit = await unknownCredit();
  await twoDo(ada, bea, `/deposits/${credit}/return`, { reason: `${NAME} called about a credit` });
  const open = await unknownCredit();
  const looked = await ada.does(`/deposits/${open}/payer`, { reason: `${NAME} called about what waits` });
  assert.equal(looked.status, 200, JSON.stringify(looked.body));
  await world.until('both are paid', async () => {
    await world.mines(1);
    const states = [coins, credit].map(async (id) => (await ada.reads(`/deposits/${id}`)).body.refunds[0]?.state);
    return (await Promise.all(states)).every((state) => state === 'settled');
  });
  const erasing = erasingOf();
  const days = 30;
  const at = (ms: number) => new Date(world.clock.now().getTime() + ms);
  await eraseOwnerless(erasing, { afterDays: days, now: at(days * DAY_MS - 3_600_000) });
  assert.ok((await readable()).includes('called about coins'), 'it was erased too early');

  const count = await eraseOwnerless(erasing, { afterDays: days, now: at(days * DAY_MS + 60_000) });
  assert.ok(count >= 2, `${count} deposits`);
  const left = await readable();
  for (const gone of ['called about coins', 'called about a credit'])
    assert.ok(!left.includes(gone), `"${gone}" is left`);
  assert.ok(left.includes('called about what waits'), 'what waits was erased');
  const known = await world.read((tx) =>
    tx.rows<{ id: bigint; known: boolean }>(
      `select d.id, l.details is not null as known from bank_lines l join deposits d on d.rail = l.rail and d.external_id = l.external_id
        where d.id = any($1::bigint[]) order by d.id`,
      [[credit, open]],
    ),
  );
  assert.deepEqual(known, [
    { id: credit, known: false },
    { id: open, known: true },
  ]);
  const { audit } = (await ada.reads(`/audit?subject=deposit:${coins}`)).body;
  const last = audit.find(({ action }: { action: string }) => action === 'deposit.erase');
  assert.equal(last?.operator, 'the machine');
  assert.equal(await eraseOwnerless(erasing, { afterDays: days, now: at(days * DAY_MS + 60_000) }), 0);
});
