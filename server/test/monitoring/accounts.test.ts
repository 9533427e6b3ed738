/**
 * Bank accounts that several customers use, of whichever partners: as payees, as payers, in both roles. Findings have counts
 * only, and the indexes in the database do not link customers of two partners.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import { listCases } from '../../src/compliance/index.ts';
import { addFiatAccount, enroll, eraseCustomerRows, findCustomer } from '../../src/customers/index.ts';
import {
  type Kind,
  MONITOR,
  monitoringFindings,
  monitoringHandlers,
  setRule,
  tryRule,
} from '../../src/monitoring/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { eraseDetails, indexPayers } from '../../src/rails/bank.ts';
import { newPhone } from '../support/client.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openRows, type Rows } from '../support/rows.ts';

let fixture: Fixture;
let rows: Rows;
let partners: bigint[];
const USDC = 'usdc.local';
const BANK = 'bank.simulated';
const MINUTE_MS = 60_000;
const now = () => fixture.clock.now();
const asSystem = <T>(work: (tx: Tx) => Promise<T>) => fixture.db.asSystem(work);

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  await rows.cryptoAsset(USDC, 'local', '0x01');
  await rows.fiatAccount();
  const named = (name: string) => asSystem((tx) => createPartner(tx, { name, now: now(), tradeLevel: 1 }));
  partners = [(await named('Mine')).id, (await named('Theirs')).id];
  await looks();
  for (const kind of ['shared_account', 'shared_wallet'] as const) await set(kind, 2);
});
after(async () => {
  await rows?.close();
  await fixture?.stop();
});

const ruleOf = (kind: Kind, count: number) => ({
  ...{ kind, count, fiat: null, worthUnits: null, days: null, withinBps: null },
});
const set = (kind: Kind, count: number) =>
  asSystem((tx) =>
    setRule(tx, {
      ...{ name: kind.replace('_', '-'), isOn: true, rule: ruleOf(kind, count), by: 'ada', why: 'a test', now: now() },
    }),
  );
async function looks(): Promise<void> {
  fixture.clock.advance(2 * MINUTE_MS);
  while ((await monitoringHandlers(fixture)[MONITOR]?.('all'))?.againInMs === 0);
}
const found = async (customerId: string) =>
  (await asSystem((tx) => monitoringFindings(tx, { customerId, limit: 50 }))).map(({ rule, orderId, saw }) => ({
    ...{ rule, orderId, customers: saw.customers, paid: saw.othersPaid, paying: saw.othersPaying },
  }));

const person = (partnerId: bigint): Promise<string> =>
  fixture.db.asPartner(partnerId, async (tx) => {
    const who = { partnerId, clientCustomerId: `c-${newPhone()}`, phone: newPhone(), kind: 'INDIVIDUAL' as const };
    return (await enroll(tx, fixture.vault, { ...who, now: now() })).id;
  });
const partnerOf = async (customerId: string) => (await asSystem((tx) => findCustomer(tx, customerId))).partnerId;
async function accountOf(customerId: string, number: string): Promise<bigint> {
  return await fixture.db.asPartner(await partnerOf(customerId), async (tx) => {
    const customer = await findCustomer(tx, customerId);
    const details = { account: number, ifsc: 'SIMB0000001', name: 'Asha Rao' };
    return (await addFiatAccount(tx, fixture.vault, { customer, fiat: 'inr', details, now: now() })).id;
  });
}

let made = 0;
/** An order for which money has arrived now: coins, or from this account. */
async function paidIn(customerId: string, from?: { account?: string }): Promise<bigint> {
  made += 1;
  const { orderId } = await rows.order(USDC, 'evm.local', `0xtarget${made}`);
  const partnerId = await partnerOf(customerId);
  await rows.query(
    `update orders set customer_id = $2, partner_id = $3, created_at = $4, state = 'settled' where id = $1`,
    [orderId, customerId, partnerId, now()],
  );
  const [rail, asset] = from === undefined ? ['evm.local', USDC] : [BANK, 'inr'];
  await rows.query(
    `insert into deposits (rail, external_id, asset, units, target, reference, state, order_id, partner_id, seen_at)
     values ($1, $2, $3, 1, '', '', 'seen', $4, $5, $6)`,
    [rail, `in${made}`, asset, orderId, partnerId, now()],
  );
  if (from !== undefined) await shows(`in${made}`, from);
  fixture.clock.advance(1_000);
  return orderId;
}
const shows = (externalId: string, free: { account?: string }) =>
  rows.query(
    `insert into bank_lines (rail, external_id, direction, asset, units, details, meaning, booked_at, read_at)
     values ($1, $2, 'credit', 'inr', 1, $3, 'deposit', $4, $4)`,
    [
      ...[BANK, externalId, fixture.vault.encrypt(JSON.stringify(free), `bank_lines.details:${BANK}:${externalId}`)],
      now(),
    ],
  );
async function paysOut(orderId: bigint, to: { account: bigint } | { address: string }): Promise<void> {
  made += 1;
  const [account, address] = 'account' in to ? [to.account, null] : [null, to.address];
  await rows.query(
    `insert into payouts (id, order_id, partner_id, purpose, attempt, rail, asset, units, fiat_account_id, address, created_at)
     select $2, id, partner_id, 'payout', $3, 'bank.simulated', 'inr', 1, $4, $5, $6 from orders where id = $1`,
    [orderId, `pay_${made}`, made, account, address, now()],
  );
  fixture.clock.advance(1_000);
}
/** The part of the deposit that goes back to an account. */
async function refunds(orderId: bigint, account: bigint): Promise<void> {
  made += 1;
  const [deposit] = await rows.query<{ id: string }>('select id::text from deposits where order_id = $1', [orderId]);
  await rows.query(
    `insert into refunds (id, deposit_id, order_id, partner_id, purpose, rail, asset, gross_units, net_units, source, why,
       requested_by, state, fiat_account_id, created_at, updated_at)
     select $1::bigint, d.id, d.order_id, d.partner_id, 'refund', d.rail, d.asset, 1, 1, 'suspense', '', '', 'held', $3::bigint, now(), now()
       from deposits d where d.id = $2`,
    [made, deposit?.id, account],
  );
  await rows.query(
    `insert into payouts (id, order_id, partner_id, purpose, attempt, deposit_id, refund_id, rail, asset, units, fiat_account_id, created_at)
     select $2, order_id, partner_id, 'refund', 1, deposit_id, id, rail, asset, 1, fiat_account_id, $3 from refunds where id = $1`,
    [made, `ref_${made}`, now()],
  );
  fixture.clock.advance(1_000);
}
let numbers = 0;
const newNumber = () => `70001000${String((numbers += 1)).padStart(4, '0')}`;
const spaced = (number: string) => number.replace(/(\d{4})/g, '$1 ');
const [mine, theirs] = [() => partners[0] ?? 0n, () => partners[1] ?? 0n];

test('customers of two partners who are paid at one account are found with the second, by counts alone', async () => {
  const number = newNumber();
  const [first, second, other] = [await person(mine()), await person(theirs()), await person(mine())];
  await paysOut(await paidIn(first), { account: await accountOf(first, number) });
  await paysOut(await paidIn(first), { account: await accountOf(first, spaced(number)) });
  await paysOut(await paidIn(other), { account: await accountOf(other, newNumber()) });
  // It has the account too, and was never paid there.
  await accountOf(other, number);
  await looks();
  assert.deepEqual(
    await found(first),
    [],
    'a customer shares an account with itself, or with one who is not paid there',
  );
  const orderId = await paidIn(second);
  await paysOut(orderId, { account: await accountOf(second, spaced(number)) });
  await looks();
  const counts = { customers: 2, paid: 1, paying: 0 };
  assert.deepEqual(await found(second), [{ rule: 'shared-account', orderId, ...counts }]);
  for (const customer of [first, other]) assert.deepEqual(await found(customer), []);
  const opened = await asSystem((tx) => listCases(tx, { open: true, kind: 'monitoring', limit: 100 }));
  const about = opened.find(({ subject }) => subject === `customer:${second}`);
  assert.deepEqual(about?.facts.saw, {
    ...{ kind: 'shared_account', orders: 1, newest: [String(orderId)] },
    ...{ customers: 2, othersPaid: 1, othersPaying: 0 },
  });
});

test('orders that are paid in together and out later are found, at an account and at a wallet', async () => {
  const number = newNumber();
  const people = [await person(mine()), await person(theirs())];
  const orders = [];
  for (const one of people) orders.push({ one, order: await paidIn(one), account: await accountOf(one, number) });
  await looks();
  for (const { order, account } of orders) await paysOut(order, { account });
  await looks();
  assert.deepEqual(await found(people[0] ?? ''), []);
  assert.equal((await found(people[1] ?? ''))[0]?.customers, 2);

  const address = '0xtogether';
  const buyers = [await person(mine()), await person(theirs())];
  const bought = [];
  for (const one of buyers) bought.push(await paidIn(one));
  await rows.query('update orders set payout_address = $2 where id = any($1)', [bought, address]);
  await looks();
  for (const order of bought) await paysOut(order, { address });
  await looks();
  assert.deepEqual(await found(buyers[0] ?? ''), []);
  assert.deepEqual(
    (await found(buyers[1] ?? '')).map(({ rule, customers }) => [rule, customers]),
    [['shared-wallet', 2]],
  );
});

test('customers whose deposits come from one account are found, also with those who are paid at it', async () => {
  const account = newNumber();
  const [first, second, third] = [await person(mine()), await person(theirs()), await person(mine())];
  await paidIn(first, { account });
  await paidIn(first, { account: spaced(account) });
  const orderId = await paidIn(second, { account: spaced(account) });
  await looks();
  assert.deepEqual(await found(first), []);
  assert.deepEqual(await found(second), [{ rule: 'shared-account', orderId, customers: 2, paid: 0, paying: 1 }]);
  const sale = await paidIn(third);
  await paysOut(sale, { account: await accountOf(third, account) });
  await looks();
  assert.deepEqual(await found(third), [{ rule: 'shared-account', orderId: sale, customers: 3, paid: 0, paying: 2 }]);
});

test('customers whose refunds go to one account are found', async () => {
  const number = newNumber();
  const [first, second] = [await person(mine()), await person(theirs())];
  const orders = [];
  for (const one of [first, second]) orders.push({ one, order: await paidIn(one, {}) });
  await looks();
  for (const { one, order } of orders) await refunds(order, await accountOf(one, number));
  await looks();
  assert.deepEqual(await found(first), []);
  assert.deepEqual(
    (await found(second)).map(({ rule, customers, paid }) => [rule, customers, paid]),
    [['shared-account', 2, 1]],
  );
});

test('a dry run finds in the past what the rule finds', async () => {
  const from = now();
  const [payee, payer] = [newNumber(), newNumber()];
  const people = [await person(mine()), await person(theirs()), await person(mine())];
  const expected: [bigint, number][] = [];
  for (const [at, one] of people.entries()) {
    const sale = await paidIn(one);
    await paysOut(sale, { account: await accountOf(one, payee) });
    const purchase = await paidIn(one, { account: payer });
    if (at === 2) expected.push([sale, 3], [purchase, 3]);
  }
  await looks();
  const rule = ruleOf('shared_account', 3);
  const tried = await asSystem((tx) => tryRule(tx, fixture.vault, { rule, from, until: now() }));
  assert.deepEqual(
    tried.found.map(({ orderId, saw }) => [orderId, saw.customers]),
    expected,
  );
});

const indexes = async (externalIds: readonly string[]) =>
  await rows.query<{ index: Buffer | null }>(
    `select payer_index as index from bank_lines where external_id = any($1) order by array_position($1, external_id)`,
    [externalIds],
  );

test('lines of an older version are indexed once, and a dump shows equal payers of one partner only', async () => {
  const account = newNumber();
  const ids = [];
  for (const partner of [mine(), mine(), theirs()]) {
    await paidIn(await person(partner), { account });
    ids.push(`in${made}`);
  }
  await paidIn(await person(mine()), {});
  await shows('stray', { account });
  ids.push(`in${made}`, 'stray');
  assert.deepEqual(
    await indexes(ids),
    ids.map(() => ({ index: null })),
  );
  assert.deepEqual(await indexPayers(fixture.db, fixture.vault), { count: ids.length, isAll: true });
  assert.deepEqual(await indexPayers(fixture.db, fixture.vault), { count: 0, isAll: true });
  const [a, b, c, none, stray] = (await indexes(ids)).map(({ index }) => index?.toString('hex'));
  assert.equal(a, b);
  assert.equal(new Set([a, c, none, stray]).size, 4, 'accounts look alike under two partners');
  assert.deepEqual([a?.length, none], [64, '']);
  const numbersOf = await rows.query<{ index: Buffer }>(
    'select number_index as index from fiat_accounts where number_index is not null',
  );
  assert.ok(!numbersOf.some(({ index }) => index.toString('hex') === a), 'a payer looks like a payee');
  await assert.rejects(
    fixture.db.asPartner(mine(), (tx) => tx.rows('select payer_index from bank_lines')),
    /permission denied/,
  );
  await assert.rejects(
    fixture.db.asPartner(mine(), (tx) => tx.rows('select * from monitoring_findings')),
    /permission denied/,
  );
});

test('a customer who is erased is counted no more, and its payer is not indexed again', async () => {
  const account = newNumber();
  const [first, second, third] = [await person(mine()), await person(mine()), await person(theirs())];
  await paidIn(first, { account });
  const line = `in${made}`;
  await paysOut(await paidIn(second), { account: await accountOf(second, account) });
  await looks();
  const deposits = (
    await rows.query<{ id: string }>('select id::text from deposits where external_id = $1', [line])
  ).map(({ id }) => BigInt(id));
  await asSystem(async (tx) => {
    for (const customerId of [first, second]) await eraseCustomerRows(tx, { customerId, deposits, now: now() });
    await eraseDetails(tx, { deposits, payouts: [] });
  });
  const orderId = await paidIn(third);
  await paysOut(orderId, { account: await accountOf(third, account) });
  await looks();
  assert.deepEqual(await found(third), []);
  assert.deepEqual(await indexes([line]), [{ index: null }]);
});

test('an order that was assigned to the customer of another partner is found under the key of the first', async () => {
  const account = newNumber();
  const [first, second] = [await person(mine()), await person(theirs())];
  await shows('assigned', { account });
  await looks();
  const orderId = await paidIn(first);
  await rows.query(`update deposits set rail = $2, external_id = 'assigned', asset = 'inr' where order_id = $1`, [
    orderId,
    BANK,
  ]);
  await paidIn(second, { account });
  await looks();
  assert.deepEqual(
    (await found(second)).map(({ customers }) => customers),
    [2],
  );
});
