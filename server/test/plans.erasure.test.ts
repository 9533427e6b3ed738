/**
 * What an erasure, an export and the check for legal holds read of a customer's money stays that customer's: their statements go by
 * indexes, however many orders, deposits and refunds the others have. Their plans are looked at as those of plans.test.ts.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Client } from 'pg';
import type { Tx } from '../src/base/db.ts';
import { isCaseHeld, requireErasable } from '../src/erasure/index.ts';
import { lastOrderOrRefund, moneyOf, selectOf } from '../src/orders/index.ts';
import { type Fixture, freshFixture } from './support/fixture.ts';
import { filled, watching } from './support/plans.ts';

const REFUNDS = 50_000;
/** Of each customer: orders or deposits without one, each with a refund. */
const EACH = 5;
const CUSTOMERS = REFUNDS / EACH;
/** The id of a customer, by an expression of its number. */
const idOf = (number: string): string => `lpad((${number})::text, 10, 'C') || '_1'`;
const CUSTOMER = 'CCCCCCCCC7_1';

let fixture: Fixture;
let admin: Client;
let large: Set<string>;

before(async () => {
  fixture = await freshFixture();
  ({ admin, large } = await filled(fixture, FILL));
});
after(async () => {
  await admin?.end();
  await fixture?.stop();
});

const FILL = [
  `insert into partners (name, created_at) values ('One', now())`,
  `insert into assets (code, kind, chain, decimals, coin, contract, native) values ('usdc.test', 'crypto', 'test', 6, 'usdc', '0x1', false)`,
  'set session_replication_role = replica',
  `insert into customers (id, partner_id, client_customer_id, kind, level, verification, created_at, updated_at)
    select ${idOf('i')}, 1, 'client ' || i, 'INDIVIDUAL', 1, 'verified', now(), now() from generate_series(0, ${CUSTOMERS - 1}) i`,
  `insert into fiat_accounts (id, partner_id, customer_id, fiat, details, details_index, hint, created_at)
    select i + 1, 1, ${idOf('i')}, 'inr', '', sha256(i::text::bytea), '', now() from generate_series(0, ${CUSTOMERS - 1}) i`,
  `insert into orders (id, partner_id, customer_id, direction, customer_seq, market_id, state, deposit_asset, deposit_units,
      payout_asset, payout_units, gross_units, fiat_asset, fee_operator, fee_partner, fee_rail, fee_chain, rate_num, rate_den,
      rate_locked_until, deposit_rail, deposit_target, deposit_index, payout_rail, payment_method, fiat_account_id, expires_at,
      created_at, updated_at, partner_seq, fiat_seq)
    select i, 1, ${idOf(`i % ${CUSTOMERS}`)}, 'offramp', i, 1, 'refunded', 'usdc.test', 1000000, 'inr', 8300, 8300, 'inr', 0, 0, 0,
      0, 83, 1, now(), 'evm.test', '0x' || i, i, 'bank.test', 'IMPS', null, now(), now(), now(), i, i from generate_series(1, ${REFUNDS}) i`,
  `insert into deposits (id, rail, external_id, asset, units, target, order_id, partner_id, state, reference, seen_at, refund_units)
    overriding system value
    select i, 'evm.test', 'x' || i, 'usdc.test', 1000000, '0x' || i, case when i / ${CUSTOMERS} = 3 then null else i end, 1, 'refunded', '',
      now(), 1000000 from generate_series(1, ${REFUNDS}) i`,
  // The deposits without an order went back to accounts of customers. Before, each had a refund to another one that was cancelled.
  `insert into refunds (id, deposit_id, order_id, partner_id, purpose, rail, asset, gross_units, net_units, source, why, requested_by,
      fiat_account_id, address, state, key, created_at, updated_at)
    select i, i, d.order_id, 1, 'refund', 'bank.test', 'usdc.test', 1000000, 1000000, 'suspense', '', 'ada',
      case when d.order_id is null then i % ${CUSTOMERS} + 1 end, case when d.order_id is null then null else '0x1' end, 'settled',
      'payout_' || i, now(), now() from generate_series(1, ${REFUNDS}) i join deposits d on d.id = i`,
  `insert into refunds (id, deposit_id, partner_id, purpose, rail, asset, gross_units, net_units, source, why, requested_by,
      fiat_account_id, state, key, created_at, updated_at)
    select ${REFUNDS} + id, id, 1, 'refund', 'bank.test', 'usdc.test', 1000000, 1000000, 'suspense', '', 'ada',
      (id + 1) % ${CUSTOMERS} + 1, 'cancelled', null, now(), now() from deposits where order_id is null`,
  // Each order was to be paid out first.
  `insert into payouts (id, order_id, partner_id, purpose, attempt, rail, asset, units, address, state, created_at, ended_at)
    select 'rejected_' || id, id, 1, 'payout', 1, 'bank.test', 'inr', 8300, '', 'rejected', now(), now() from orders`,
  `insert into payouts (id, order_id, deposit_id, refund_id, partner_id, purpose, attempt, rail, asset, units, address, state,
      created_at, ended_at)
    select 'payout_' || id, order_id, deposit_id, id, 1, 'refund', 1, 'bank.test', 'usdc.test', 1000000, '', 'settled', now(), now()
      from refunds where state = 'settled'`,
  // Of another customer.
  `insert into legal_holds (customer_id, placed_at, placed_by, reason) select ${idOf('8')}, now(), 'ada', 'asked'`,
  `insert into cases (kind, subject, reason, opened_at)
    select 'refund_rejected', 'refund:' || id, 'asked', now() from unnest(array[8, 9]) id`,
  'set session_replication_role = origin',
];

const READS: Record<string, (tx: Tx) => Promise<unknown>> = {
  'the money that an erasure takes': async (tx) => {
    const { refunds, payouts, deposits, ofCancelled } = await moneyOf(tx, CUSTOMER, { isLocked: true });
    assert.deepEqual([refunds.length, payouts.length], [EACH + 1, 2 * EACH]);
    assert.deepEqual([deposits.length, ofCancelled.length], [EACH, 1]);
  },
  'the newest order or refund': async (tx) => {
    assert.ok((await lastOrderOrRefund(tx, CUSTOMER)) !== undefined);
  },
  'whether anything prevents the erasure': async (tx) => {
    await requireErasable(tx, { customerId: CUSTOMER, afterDays: 0, now: new Date(Date.now() + 3_600_000) });
  },
  'whether a case is about a customer under a legal hold': async (tx) => {
    const [held, other] = await tx.rows<{ id: bigint }>('select id from cases order by id');
    assert.equal(await isCaseHeld(tx, held?.id ?? 0n), true);
    assert.equal(await isCaseHeld(tx, other?.id ?? 0n), false);
  },
  ...Object.fromEntries(
    Object.entries(selectOf).map(([kind, of]) => [
      `its ${kind}, as an export reads them`,
      async (tx: Tx) => {
        const rows = await tx.rows(`select x.id from ${kind} x where x.id in (${of()}) order by x.id limit 5001`, [
          CUSTOMER,
        ]);
        assert.ok(rows.length >= EACH);
      },
    ]),
  ),
};

for (const [name, read] of Object.entries(READS))
  test(`costs what the customer has, not what all have: ${name}`, async () => {
    const watch = watching(fixture.db, large);
    await watch.db.asSystem(read);
    watch.assertCheap();
  });

test('the tables are large here', () => {
  for (const table of ['customers', 'fiat_accounts', 'orders', 'deposits', 'refunds', 'payouts'])
    assert.ok(large.has(table), table);
});
