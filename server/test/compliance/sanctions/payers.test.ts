/**
 * Payers whose hit has another finder: a name and its owner have one hit, whichever deposit or account brought it first. Each deposit of
 * that payer counts as listed as long as the hit does.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import type { Tx } from '../../../src/base/db.ts';
import {
  decideHit,
  listedPayers,
  listHits,
  openSanctions,
  RULES_VERSION,
  type Screening,
  USUAL_THRESHOLD,
} from '../../../src/compliance/index.ts';
import { addFiatAccount, findCustomer, saveDetails } from '../../../src/customers/index.ts';
import { whyNotCleared } from '../../../src/orders/deposits/listed.ts';
import { type Fixture, freshFixture } from '../../support/fixture.ts';
import { largeTables, watching } from '../../support/plans.ts';
import { openRows, type Rows } from '../../support/rows.ts';

const RAIL = 'evm.test';
const LISTED = 'HARUN KHAYALI';
let fixture: Fixture;
let rows: Rows;
let dir: string;
let sanctions: ReturnType<typeof opened>;
const now = () => fixture.clock.now();
const inTx = <T>(work: (tx: Tx) => Promise<T>) => fixture.db.asSystem(work);
const payers = new Map<bigint, string>();

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  await rows.cryptoAsset('usdc.test', 'test', '0x01');
  dir = mkdtempSync(join(tmpdir(), 'sanctions-'));
  publishes();
  sanctions = opened();
  await sanctions.handlers.refresh_sanctions?.('uk');
});
after(async () => {
  await rows?.close();
  await fixture?.stop();
  if (dir !== undefined) rmSync(dir, { recursive: true });
});

function publishes(...more: string[]): void {
  const designations = ['Khayali', ...more].map(
    (name) => `<Designation><UniqueID>${name}</UniqueID><IndividualEntityShip>Individual</IndividualEntityShip>
      <Names><Name><Name1>Harun Mustafa</Name1><Name6>${name}</Name6><NameType>Primary Name</NameType></Name></Names></Designation>`,
  );
  writeFileSync(join(dir, 'uk.xml'), `<Designations>${designations.join('')}</Designations>`);
}

const opened = ({ threshold = USUAL_THRESHOLD, rails = [RAIL] } = {}) =>
  openSanctions({
    ...{ db: fixture.db, vault: fixture.vault, clock: fixture.clock, ask: async () => assert.fail('it is a file') },
    sources: [{ list: 'uk', from: join(dir, 'uk.xml') }],
    rules: { version: RULES_VERSION, threshold },
    maxAgeMs: 86_400_000,
    payerOf: async (_tx, id) => ({ names: [payers.get(id) ?? ''], revision: 0 }),
    rails: () => rails,
    record: async () => {},
  });

let made = 0;
/** A customer with an order. */
async function customer() {
  made += 1;
  const id = `secondpaid_${made}`;
  const { orderId, partnerId } = await rows.order('usdc.test', RAIL, `0xtarget${made}`);
  await rows.query(
    `insert into customers (id, partner_id, kind, country, created_at, updated_at) values ($1, $2, 'INDIVIDUAL', 'IN', now(), now())`,
    [id, partnerId],
  );
  await rows.query('update orders set customer_id = $2 where id = $1', [orderId, id]);
  const found = await inTx(async (tx) => {
    const details = { firstName: 'Grace', lastName: 'Okafor' };
    await saveDetails(tx, fixture.vault, { customer: await findCustomer(tx, id), details, now: now() });
    return await findCustomer(tx, id);
  });
  return { id, orderId, partnerId, found };
}
type Payee = Awaited<ReturnType<typeof customer>>;

/** Money of an order in suspense. */
async function deposit({ orderId, partnerId }: Payee, payer: string): Promise<bigint> {
  made += 1;
  const [row] = await rows.query<{ id: string }>(
    `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, reference, seen_at)
     values ($1, $2, 'usdc.test', 1, '', $3, $4, 'suspense', '', now()) returning id`,
    [RAIL, `0xhash${made}`, orderId, partnerId],
  );
  const id = BigInt(row?.id ?? 0);
  payers.set(id, payer);
  return id;
}

/** What the gate reads about a payout to this customer that the deposit funds. */
const found = async (of: Payee, depositId: bigint) => {
  const input: Screening = {
    ...{ id: of.orderId, partnerId: of.partnerId, customerId: of.id, depositIds: [depositId] },
    ...{ merchantReference: null, fiatAccountId: null, payoutAddress: null },
  };
  return (await inTx((tx) => sanctions.read(tx, input))).hits.map(({ rule }) => rule);
};
const listed = (...deposits: bigint[]) => inTx(async (tx) => [...(await listedPayers(tx, deposits))].toSorted());
const screens = async () => {
  while ((await sanctions.handlers.screen_names?.('all'))?.againInMs === 0);
};
async function onlyHitOf({ id }: Payee) {
  const hits = await inTx((tx) => listHits(tx, { state: 'open', after: 0n, limit: 100 }));
  const own = hits.filter(({ owner }) => owner === `customer:${id}`);
  assert.equal(own.length, 1);
  return own[0] as (typeof own)[number];
}
const decide = (id: bigint, outcome: 'true_hit' | 'false_positive') =>
  inTx((tx) => decideHit(tx, { id, outcome, people: ['ada', 'bea'], reason: 'r', now: now() }));

for (const finder of ['another deposit', 'an account'] as const)
  for (const outcome of ['true_hit', 'false_positive'] as const)
    test(`a payer whose hit came with ${finder} is listed too, also as the payer of another customer, until it is dismissed: ${outcome}`, async () => {
      const [first, other] = [await customer(), await customer()];
      let subject: string;
      if (finder === 'an account') {
        const details = { account: `0009876543${made}`, ifsc: 'HDFC0000001', accountHolder: LISTED };
        const added = await inTx((tx) =>
          addFiatAccount(tx, fixture.vault, { customer: first.found, fiat: 'inr', details, now: now() }),
        );
        subject = `account:${added.id}`;
      } else subject = `payer:${await deposit(first, LISTED)}`;
      await screens();
      const clean = await deposit(first, 'GRACE OKAFOR');
      const second = await deposit(first, LISTED);
      await screens();
      const hit = await onlyHitOf(first);
      assert.equal(hit.subject, subject);
      assert.deepEqual(await listed(second, clean), [second]);
      // The money has become that of another customer's order.
      await rows.query('update deposits set order_id = $2 where id = any($1)', [[second, clean], other.orderId]);
      await screens();
      assert.deepEqual(await found(other, second), ['sanctions_undecided']);
      assert.deepEqual(await found(other, clean), []);
      await decide(hit.id, outcome);
      const isTrue = outcome === 'true_hit';
      assert.deepEqual(await listed(second, clean), isTrue ? [second] : []);
      assert.deepEqual(await found(other, second), isTrue ? ['sanctions_hit'] : []);
    });

test('a payer with a hit of its own that was dismissed is not held by that of another name like the same entry', async () => {
  const [first, other] = [await customer(), await customer()];
  const [one, second] = [await deposit(first, LISTED), await deposit(first, 'HARUN MUSTAFA KHAYALI')];
  await screens();
  const hits = await inTx((tx) => listHits(tx, { state: 'open', after: 0n, limit: 100 }));
  const hitOf = (id: bigint) => hits.find(({ subject }) => subject === `payer:${id}`)?.id ?? 0n;
  await decide(hitOf(one), 'true_hit');
  assert.deepEqual(await listed(one, second), [one, second]);
  await decide(hitOf(second), 'false_positive');
  assert.deepEqual(await listed(one, second), [one]);
  assert.deepEqual(await found(other, second), []);
});

test('a payer is due until it was compared with the newest lists, and only while its money lies in suspense', async () => {
  const of = await customer();
  const id = await deposit(of, 'Ophelia Sender');
  const isDue = (which = sanctions) => inTx((tx) => which.isPayerDue(tx, id));
  assert.equal(await isDue(opened({ rails: [] })), false, 'nothing compares payers of a rail that does not run');
  assert.ok(await isDue());
  await rows.query(`update deposits set state = 'applied', taken_units = units where id = $1`, [id]);
  assert.equal(await isDue(), false);
  await rows.query(`update deposits set state = 'suspense', taken_units = 0 where id = $1`, [id]);
  await screens();
  assert.equal(await isDue(), false);
  assert.ok(await isDue(opened({ threshold: USUAL_THRESHOLD + 1 })), 'it was compared under other rules');
  publishes('Another');
  await sanctions.handlers.refresh_sanctions?.('uk');
  assert.ok(await isDue());
  await screens();
  assert.equal(await isDue(), false);
});

test('a result that is stored while operators use its money counts with its hit', async () => {
  const id = await deposit(await customer(), LISTED);
  const answers: boolean[] = [];
  // The comparison is committed between the two reads, whichever is the first.
  const gate = {
    isPayerDue: async (tx: Tx, depositId: bigint) => {
      await screens();
      answers.push(await sanctions.isPayerDue(tx, depositId));
      return answers.at(-1) ?? true;
    },
  };
  assert.match((await inTx((tx) => whyNotCleared({ gate }, tx, id))) ?? 'cleared', /resembles a name/);
  assert.deepEqual(answers, [false]);
});

test('of many results and hits, those of a payer are found by indexes', async () => {
  await rows.query(`insert into sanctions_entries (list, entry, content, digest, added_in)
    select 'uk', 'MANY' || n, '{}', decode(repeat('00', 32), 'hex'), 1 from generate_series(1, 5000) n`);
  // Every fifth customer has a hit, and every payer's result of such a customer has its entry.
  await rows.query(`insert into name_screenings (subject, owner, inputs_digest, revision, names, rules, screened_to, found, first_at, at)
    select 'payer:' || (900000 + n), 'customer:many_' || (n / 2), '\\x00', 0, 1, 'r', 1,
        case when (n / 2) % 5 = 0 then jsonb_build_array(jsonb_build_object('entryId', e.id::text, 'score', 9000)) else '[]' end, now(), now()
      from generate_series(1, 60000) n join sanctions_entries e on e.entry = 'MANY' || (1 + (n / 2) % 5000)`);
  await rows.query(`insert into sanctions_hits (owner, subject, screening_id, entry_id, inputs_digest, name_digest, score, explanation, state, found_at)
    select distinct on (owner) owner, subject, id, (found -> 0 ->> 'entryId')::bigint, decode(md5(subject), 'hex'), '\\x00', 9000, '', 'open', now()
      from name_screenings where rules = 'r' and found <> '[]' order by owner, subject`);
  for (const table of ['sanctions_entries', 'name_screenings', 'sanctions_hits']) await rows.query(`analyze ${table}`);
  const admin = new Client({ connectionString: fixture.adminUrl });
  await admin.connect();
  const large = await largeTables(admin).finally(() => admin.end());
  for (const table of ['sanctions_entries', 'name_screenings', 'sanctions_hits']) assert.ok(large.has(table), table);
  const watch = watching(fixture.db, large);
  await watch.db.asSystem(async (tx) => {
    await sanctions.isPayerDue(tx, 900041n);
    assert.equal((await listedPayers(tx, [900041n, 900040n, 900042n])).size, 2);
    const input = { id: 1n, partnerId: 1n, customerId: 'many_31', depositIds: [900041n] };
    const { hits } = await sanctions.read(tx, {
      ...input,
      merchantReference: null,
      fiatAccountId: null,
      payoutAddress: null,
    });
    assert.equal(hits.length, 1);
  });
  watch.assertCheap();
});
