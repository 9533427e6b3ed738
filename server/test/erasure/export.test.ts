/** The export is for the person it is about, so it tells of no suspicion: no finding, case of compliance, hit or outcome. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CASE_KINDS, keepScreening, listCases, openCase } from '../../src/compliance/index.ts';
import { MONITOR, monitoringHandlers } from '../../src/monitoring/index.ts';
import { oneOrTwoDo, operatorNamed, type Person } from '../protocols/operator/people.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../protocols/whitelabel/environment.ts';
import { operatorApi } from '../support/operatorapi.ts';

/** Kinds that a person may read about in an export. Add one here and in export.ts only if it tells of no suspicion. */
const SHOWN = [
  ...['payout_held', 'payout_returned', 'travel_rule_missing'],
  ...['verification_review', 'verification_overdue', 'information_overdue', 'information_answered'],
  ...['overpaid', 'deposit_wrong_asset', 'deposit_wrong_chain', 'deposit_late', 'deposit_second'],
  ...['deposit_lost', 'customer_owes', 'dormant_soon', 'dormant'],
  ...['refund_destination', 'refund_short', 'refund_rejected', 'refund_returned'],
];

/** Rows of a kind in one export. */
const MOST = 5_000;
const MOST_SUBMISSIONS = 1_000;

let world: Environment;
let ada: Person;
let bea: Person;
let shop: TestPartner;
before(async () => {
  world = await wireEnvironment({ beside: (fixture) => operatorApi(fixture) });
  ada = await operatorNamed(world, 'ada', 'admin');
  bea = await operatorNamed(world, 'bea', 'admin');
  shop = await world.partner('Shop');
});
after(async () => await world?.stop());

const exported = async () => (await ada.does(`/customers/${shop.customerId}/export`)).body.export;

/** An order whose money has arrived. */
async function trades(): Promise<bigint> {
  const { customerId, fiatAccountId } = shop;
  const pair = { fromCurrency: 'usdc', toCurrency: 'inr', chain: 'matic20', fromAmount: '100' };
  const made = await shop.post('offramp/createTransaction', { ...pair, customerId, fiatAccountId });
  assert.equal(made.status, 200, made.text);
  const [row] = await world.query('select max(id) as id from orders where customer_id = $1', [customerId]);
  await world.query(`update orders set gross_units = 1000000 where id = $1`, [row.id]);
  await world.query(
    `insert into deposits (rail, external_id, asset, units, target, reference, state, order_id, partner_id, seen_at)
     select deposit_rail, 'tx' || id, deposit_asset, 1, '', '', 'seen', id, partner_id, $2 from orders where id = $1`,
    [row.id, world.clock.now()],
  );
  return BigInt(row.id);
}

test('a customer who trades past a rule of monitoring reads nothing of it', async () => {
  const rule = { name: 'any', kind: 'velocity', fiat: 'inr', days: 1, count: 1 };
  assert.equal((await oneOrTwoDo(ada, bea, '/monitoring/rules', rule)).status, 200);
  const watch = monitoringHandlers(world)[MONITOR];
  await watch?.('all');
  await trades();
  world.clock.advance(3 * 60_000);
  await watch?.('all');
  const opened = await world.db.asSystem((tx) => listCases(tx, { open: true, kind: 'monitoring', limit: 10 }));
  assert.deepEqual(
    opened.map(({ subject }) => subject),
    [`customer:${shop.customerId}`],
    'the rule found nothing',
  );
  const shown = await exported();
  assert.deepEqual(shown.cases, []);
  assert.doesNotMatch(JSON.stringify(shown), /monitoring|velocity/);
});

test('of all kinds of cases only those are in it that tell of no suspicion', async () => {
  const now = world.clock.now();
  const orderId = await trades();
  await world.db.asSystem(async (tx) => {
    for (const kind of Object.keys(CASE_KINDS) as (keyof typeof CASE_KINDS)[]) {
      await openCase(tx, { kind, subject: `customer:${shop.customerId}`, reason: 'a test', now });
      await openCase(tx, { kind, subject: `order:${orderId}`, orderId, reason: 'a test', now });
    }
  });
  const { cases } = await exported();
  const kinds = cases.map(({ kind }: { kind: string }) => kind);
  assert.deepEqual(kinds.toSorted(), [...SHOWN, ...SHOWN].toSorted());
});

test('a screening is in it without its outcome, and an order frozen by law as on hold', async () => {
  const orderId = await trades();
  const verdict = {
    ...({ outcome: 'held', reason: 'destination_denied', rules: 'a test', inputs: {} } as const),
    hits: [{ rule: 'destination_denied', entry: 'x', own: true }],
  } as const;
  const { id: partnerId } = shop.partner;
  await world.db.asSystem(async (tx) =>
    keepScreening(tx, {
      ...{ subject: `order:${orderId}`, partnerId, orderId, now: world.clock.now() },
      verdict: { ...verdict, hits: [...verdict.hits] },
    }),
  );
  await world.query(`update orders set state = 'frozen' where id = $1`, [orderId]);
  const shown = await exported();
  assert.deepEqual(
    shown.screenings.map((one: object) => Object.keys(one).toSorted()),
    [['at', 'subject']],
  );
  assert.doesNotMatch(JSON.stringify(shown), /"held"|denied|frozen/);
  assert.equal(shown.orders.find(({ id }: { id: string }) => id === String(orderId)).state, 'on_hold');
});

test('the days on which documents expire are in it', async () => {
  const { customerId, partner } = shop;
  await world.query(
    `insert into document_expiries (customer_id, partner_id, version, expires_on, items) values ($1, $2, 1, '2031-05-06', $3)`,
    [customerId, partner.id, ['passport']],
  );
  const [{ expiresOn, items }] = (await exported()).expiries;
  assert.deepEqual([expiresOn, items], ['2031-05-06', ['passport']]);
});

test('what is cut is named, also of what is read by other ways than the tables', async () => {
  const { vault, clock } = world;
  const { customerId, partner } = shop;
  const of = [customerId, partner.id, clock.now()];
  assert.deepEqual((await exported()).more, []);
  const subject = `customer:${customerId}`;
  const inputs = vault.encrypt('[]', `name_screenings.inputs:${subject}`);
  // The version of a list that such a row refers to is not there.
  await world.query('set session_replication_role = replica');
  await world.query(
    `insert into name_screenings (subject, owner, partner_id, customer_id, inputs, inputs_digest, revision, names, rules,
       screened_to, found, first_at, at, ended_at)
     select $4, $4, $2, $1, $5, '', 1, 0, 'a test', 1, '[]', $3, $3, $3 from generate_series(1, $6)`,
    [...of, subject, inputs, MOST + 1],
  );
  await world.query(
    `insert into travel_wallets (customer_id, partner_id, rail, address, kind, owner, details, declared_at)
     select $1, $2, 'evm.matic20', n::text, 'hosted', 'customer', '', $3 from generate_series(1, $4) as n`,
    [...of, MOST + 1],
  );
  await world.query(
    `insert into submissions (id, customer_id, partner_id, kind, state, answers, created_at, updated_at)
     select n, $1, $2, 'INDIVIDUAL', 'failed', '', $3, $3 from generate_series(1, $4) as n`,
    [...of, MOST_SUBMISSIONS + 1],
  );
  await world.query('reset session_replication_role');
  const shown = await exported();
  assert.deepEqual(shown.more.toSorted(), ['compared', 'submissions', 'travelRule']);
  assert.deepEqual([shown.travelRule.wallets.length, shown.submissions.length], [MOST, MOST_SUBMISSIONS]);
  assert.deepEqual(Object.keys(shown.travelRule).toSorted(), ['exchanges', 'records', 'wallets']);
});
