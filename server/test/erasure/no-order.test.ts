/**
 * Money that arrived without an order and was refunded to an account of a customer is that customer's: it prevents the erasure
 * while it is under way, and afterwards nothing about it can be read with any key.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { parseUnits } from '../../src/base/money.ts';
import { replaceDenyList } from '../../src/compliance/index.ts';
import { openFiatAccount } from '../../src/customers/index.ts';
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
after(async () => await world?.close());

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

test('a deposit that was refunded in parts to two customers is not erased with one while the other is under a legal hold', async () => {
  const { id } = await world.verifiedCustomer();
  const { id: held } = await world.verifiedCustomer();
  const deposit = await unknownCredit();
  for (const [customer, amount] of [
    [id, '400'],
    [held, '500'],
  ] as const) {
    const { fiatAccountId } = await world.verifiedAccount(customer);
    await twoDo(ada, bea, `/deposits/${deposit}/refund`, { fiatAccountId, amount, reason: `${NAME} called` });
    await world.until('it is paid', async () =>
      (await ada.reads(`/deposits/${deposit}`)).body.refunds.every((one: { state: string }) => one.state === 'settled'),
    );
  }
  await world.read((tx) =>
    tx.run(`update refunds set updated_at = updated_at - interval '6 years' where deposit_id = $1`, [deposit]),
  );
  const placed = await ada.does(`/customers/${held}/legal-hold`, { reason: 'order of a court' });
  assert.equal(placed.status, 200, JSON.stringify(placed.body));
  const refused = await ada.does(`/customers/${id}/erase`);
  assert.match(refused.body.error ?? '', new RegExp(`under a legal hold: ${held}`));

  await twoDo(ada, bea, `/customers/${held}/lift-legal-hold`);
  await twoDo(ada, bea, `/customers/${id}/erase`);
});
