/**
 * Lists of what an installation collects over years beside its orders (sweeps, actions of operators, cases, findings, hits, held items)
 * stay cheap when their tables are large: their plans are looked at as those of plans.test.ts.
 *
 * Each table has few rows that are open among many that are not, and filters that let few rows through.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Client } from 'pg';
import { alertMessages } from '../src/alerts/index.ts';
import type { Tx } from '../src/base/db.ts';
import { listCases } from '../src/compliance/index.ts';
import { monitoringFindings } from '../src/monitoring/index.ts';
import { proposals, readAudit } from '../src/operators/index.ts';
import { marketChanges } from '../src/partners/index.ts';
import { listBreaks } from '../src/reports/index.ts';
import { newestTransfers, waitingTransfers } from '../src/treasury/store.ts';
import { type Fixture, freshFixture } from './support/fixture.ts';
import { filled, watching } from './support/plans.ts';

const ROWS = 20_000;
/** Of one of the open rows among so many. */
const EVERY = 1_000;
const LIMIT = 51;

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

// One in EVERY is open; the others have ended. One in a hundred is of what a filter asks for.
const KINDS = `case when i % 100 = 0 then 'dormant' else 'on_hold' end`;
const FILL = [
  `insert into partners (name, created_at) values ('One', now())`,
  `insert into operators (name, role, created_at) values ('ada', 'admin', now()), ('ben', 'admin', now())`,
  `insert into assets (code, kind, chain, decimals, coin, contract, native) values ('usdc.test', 'crypto', 'test', 6, 'usdc', '0x1', false)`,
  // Rows of orders, customers and entries are not read by these lists.
  'set session_replication_role = replica',
  `insert into own_transfers (key, kind, rail, address, index, asset, units, target, state, created_at, ended_at, booked_at)
    select 'sweep:' || i, 'sweep', case when i % 100 = 0 then 'evm.rare' else 'evm.test' end, '0x' || i, i, 'usdc.test', 1, '0xhot',
           'settled', now() - make_interval(secs => i), now(), case when i % ${EVERY} = 0 then null else now() end
      from generate_series(1, ${ROWS}) i`,
  `insert into audit (at, operator, role, address, action, subject, reason, outcome)
    select now() - make_interval(secs => ${ROWS} - i), case when i % 100 = 0 then 'ben' else 'one of ' || i % 20 end, 'admin', '',
           case when i % 100 = 0 then 'order.block' when i % 10 = 1 then 'action ' || i % 60 else 'customer.personal' end, 'customer:' || i % 500, 'asked', 'done'
      from generate_series(1, ${ROWS}) i`,
  `insert into proposals (action, subject, input, reason, proposed_by, proposed_at, expires_at, state, decided_by, decided_at)
    select 'order.refund', 'order:' || i, '{}', 'asked', 1, now() - make_interval(secs => ${ROWS} - i), now(),
           case when i % ${EVERY} = 0 then 'open' else 'confirmed' end, 2, now() from generate_series(1, ${ROWS}) i`,
  `insert into cases (kind, subject, reason, opened_at, closed_at, outcome, assignee)
    select ${KINDS}, 'order:' || i, 'waits', now() - make_interval(mins => ${ROWS} - i),
           case when i % ${EVERY} < 2 then null else now() end, 'done', case when i % 100 = 1 then 'ben' else 'ada' end
      from generate_series(1, ${ROWS}) i`,
  `insert into monitoring_rules (name, version, kind, is_on, fiat_asset, worth_units, count, days, within_bps, set_by, why, set_at)
    values ('often', 1, 'velocity', true, null, null, 5, 1, null, 'ada', 'asked', now())`,
  `insert into monitoring_findings (rule_id, order_id, customer_id, saw, found_at)
    select 1, i, 'customer ' || i % 500, '{}', now() from generate_series(1, ${ROWS}) i`,
  `insert into alert_rules (name, channel, about, created_by, created_at) values ('mail', 'mail', 'opened', 'ada', now())`,
  `insert into alert_messages (rule_id, channel, about, says, created_at, sent_at)
    select 1, 'mail', 'cases', '{}', now(), now() from generate_series(1, ${ROWS}) i`,
  `insert into reconcile_items (rail, wallet, asset, key, kind, outside_units, ledger_units, why, names, found_at, closed_at)
    select 'evm.test', 'hot', 'usdc.test', 'key ' || i, 'break_amount', 1, 2, 'differs', '[]', now(),
           case when i % ${EVERY} = 0 then null else now() end from generate_series(1, ${ROWS}) i`,
  `insert into market_changes (what, market_id, item, changed_by, why, at)
    select 'fee', i % 100 + 1, 'operator', 'ada', 'asked', now() - make_interval(mins => ${ROWS} - i) from generate_series(1, ${ROWS}) i`,
  'set session_replication_role = origin',
];

/** Each list with its filters: its first page and, where it has one, a later page. */
const LISTS: Record<string, (tx: Tx) => Promise<unknown>> = {
  'sweeps, of all rails and of one': async (tx) => {
    for (const rail of [undefined, 'evm.rare']) {
      const found = await newestTransfers(tx, { rail, limit: LIMIT });
      assert.equal(found.length, LIMIT);
      await newestTransfers(tx, { rail, below: found.at(-1)?.key, limit: LIMIT });
    }
  },
  'sweeps that are not in the ledger yet': async (tx) => {
    const found = await waitingTransfers(tx, { limit: 10 });
    assert.equal(found.length, 10);
    assert.equal((await waitingTransfers(tx, { after: found.at(-1)?.key, limit: LIMIT })).length, ROWS / EVERY - 10);
  },
  'the audit, by each filter': async (tx) => {
    const [from, until] = [new Date(Date.now() - 3_000_000), new Date(Date.now() - 2_000_000)];
    const filters = [
      {},
      { operator: 'ben' },
      { subject: 'customer:7' },
      { action: 'order.block' },
      { from, until },
      { until },
    ];
    for (const filter of filters) {
      const found = await readAudit(tx, { ...filter, limit: 10 });
      assert.equal(found.length, 10);
      await readAudit(tx, { ...filter, below: found.at(-1)?.id, limit: LIMIT });
    }
  },
  'proposals: open ones, and all': async (tx) => {
    for (const state of ['open', undefined] as const) {
      const found = await proposals(tx, { state, limit: 10 });
      assert.equal(found.length, 10);
      await proposals(tx, { state, below: found.at(-1)?.id, limit: LIMIT });
    }
  },
  'cases: open and closed, by kind, person and due time': async (tx) => {
    for (const open of [true, false])
      for (const filter of [{}, { kind: 'dormant' }, { assignee: 'ben' }, { dueBy: new Date() }]) {
        const found = await listCases(tx, { open, ...filter, limit: 10 });
        assert.ok(found.length > 0, JSON.stringify(filter));
        await listCases(tx, { open, ...filter, after: found.at(-1), limit: LIMIT });
      }
  },
  'findings of monitoring, of all and of one customer': async (tx) => {
    for (const customerId of [undefined, 'customer 7']) {
      const found = await monitoringFindings(tx, { customerId, limit: 10 });
      assert.equal(found.length, 10);
      await monitoringFindings(tx, { customerId, below: found.at(-1)?.id, limit: LIMIT });
    }
  },
  'messages of alerts': async (tx) => {
    const found = await alertMessages(tx, { limit: LIMIT });
    await alertMessages(tx, { below: found.at(-1)?.id, limit: LIMIT });
  },
  'changes of terms, of all markets and of one': async (tx) => {
    for (const marketId of [undefined, 7n]) {
      const found = await marketChanges(tx, { marketId, limit: 10 });
      assert.equal(found.length, 10);
      await marketChanges(tx, { marketId, below: found.at(-1)?.id, limit: LIMIT });
    }
  },
  'items that differ': async (tx) => {
    const { next } = await listBreaks(tx, { limit: 10 });
    assert.ok(next !== null);
    await listBreaks(tx, { after: next, kind: 'break_amount', state: 'break', limit: LIMIT });
  },
};

for (const [name, list] of Object.entries(LISTS))
  test(`costs a page of an index: ${name}`, async () => {
    const watch = watching(fixture.db, large);
    await watch.db.asSystem(list);
    watch.assertCheap();
  });

test('the tables are large here', () => {
  for (const table of ['own_transfers', 'audit', 'proposals', 'cases', 'monitoring_findings', 'alert_messages'])
    assert.ok(large.has(table), table);
});
