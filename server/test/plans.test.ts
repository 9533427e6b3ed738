/**
 * Statements of the hot paths stay cheap when the tables are large: on 100,000 analysed orders every statement of a request or an
 * order's life uses an index, sorts no more than a page and reads a handful of blocks.
 *
 * The statements are not listed here. The modules are called, and each statement is explained before it is sent (support/plans.ts).
 *
 * Long because all statements are explained on one large database.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import type { Vault } from '../src/base/crypto.ts';
import type { Tx } from '../src/base/db.ts';
import { enqueue } from '../src/base/jobs.ts';
import { spellingsOf } from '../src/base/spellings.ts';
import { encryptText } from '../src/base/texts.ts';
import { startWorkers } from '../src/base/workers.ts';
import { openScreener } from '../src/compliance/index.ts';
import { keepCompared } from '../src/customers/compared-documents.ts';
import * as customers from '../src/customers/index.ts';
import * as events from '../src/events/index.ts';
import {
  addToCustomers,
  addToDailyTotals,
  balancesAt,
  chargedOf,
  chart,
  custodyAt,
  eraseEntryTexts,
  hadBefore,
  move,
  post,
  postedFor,
} from '../src/ledger/index.ts';
import { LOOK_BACK } from '../src/ledger/seals.ts';
import { type OrdersContext } from '../src/orders/context.ts';
import {
  exposure,
  listBankLines,
  listDebts,
  listDeposits,
  listOrders,
  listPayouts,
  listSuspense,
  lockOrdersOf,
  lookUp,
  openByState,
  openOrders,
  orderFacts,
  orderHandlers,
  ordersOfAccounts,
  othersAtAccount,
  paidSince,
  usesOf,
} from '../src/orders/index.ts';
import * as partners from '../src/partners/index.ts';
import { requestLog } from '../src/protocols/request-log.store.ts';
import { createQuote } from '../src/quotes/index.ts';
import { indexPayers, indexTexts, payerIndexes, textIndexes } from '../src/rails/bank.ts';
import { watchedAnywhere } from '../src/rails/chain.addresses.store.ts';
import { findPayouts } from '../src/rails/payouts.queries.ts';
import type { Rail } from '../src/rails/rail.ts';
import { affectedOrders, partnerStatement, revenue } from '../src/reports/index.ts';
import { type Fixture, freshFixture } from './support/fixture.ts';
import { gateRules } from './support/gate.ts';
import { largeTables, PAGE_ROWS, watching } from './support/plans.ts';
import { fiat, marketTerms } from './support/terms.ts';
import { until } from './support/until.ts';

const ORDERS = 100_000;
/** Number of these that belong to one customer. */
const BIG = 60_000;
const BIG_CUSTOMER = 'Bigbigbig1_1';
const ANOTHER_CUSTOMER = '101CCCCCCC_2';

/** A step of an operator's list: five hundred rows, each in a different block, with its order in four more blocks by an index. */
const A_STEP = {
  blocks: 4 * PAGE_ROWS + 1_000,
  /** If a state has only a few more orders than a step has rows, reading and sorting all is as cheap; old versions count. */
  rows: 2_500,
};

let fixture: Fixture;
let admin: Client;
let large: Set<string>;
let partner: partners.Partner;
let context: OrdersContext & { vault: Vault };

before(async () => {
  fixture = await freshFixture();
  admin = new Client({ connectionString: fixture.adminUrl, options: '-c search_path=cloverleaf' });
  await admin.connect();
  await fill();
  large = await largeTables(admin);
  const rails = new Map([quietRail('evm.test', 'chain'), quietRail('bank.test', 'bank')].map((one) => [one.code, one]));
  context = { ...fixture, rails, screener: openScreener(fixture), gate: gateRules(fixture.vault) };
  const found = await fixture.db.asSystem((tx) => partners.findPartner(tx, { id: 1n }));
  assert.ok(found);
  partner = found;
});

after(async () => {
  await admin?.end();
  await fixture?.stop();
});

test('the tables that grow are large here', () => {
  for (const table of [
    'orders',
    'customers',
    'fiat_accounts',
    'quotes',
    'events',
    'deposits',
    'payouts',
    'jobs',
    'accounts',
  ]) {
    assert.ok(large.has(table), table);
  }
});

test('a request is let in by an index', async () => {
  const { db, vault, clock } = fixture;
  const { apiKey } = await db.asSystem((tx) =>
    partners.createKey(tx, vault, { partnerId: 1n, label: 'plans', scopes: ['read'], now: clock.now() }),
  );
  const watch = watching(db, large);
  assert.ok(await partners.openPartners({ ...fixture, db: watch.db }).credential(apiKey));
  watch.assertCheap();
});

test('a list: page 50,000 costs what page 1 costs', async () => {
  const orders = openOrders(context);
  const blocksOf = async (page: number, pageSize: number, expected: number): Promise<number> => {
    const watch = watching(fixture.db, large);
    const got = await watch.db.asPartner(1n, (tx) =>
      orders.list(tx, { customerId: BIG_CUSTOMER, direction: 'offramp', page, pageSize }),
    );
    assert.equal(got.orders.length, expected);
    assert.equal(got.total, BigInt(BIG));
    assert.ok(watch.plans.length > 0);
    watch.assertCheap();
    return Math.max(...watch.plans.map(({ blocks }) => blocks));
  };
  const first = await blocksOf(1, 1, 1);
  const far = await blocksOf(50_000, 1, 1);
  assert.ok(Math.abs(far - first) <= 3, `page 1 reads ${first} blocks, page 50,000 reads ${far}`);
  await blocksOf(1, 499, 499);
  await blocksOf(120, 499, 499);
  await blocksOf(121, 499, 60_000 - 120 * 499);
  await blocksOf(60_001, 1, 0);
});

test('a list of all of a partner’s orders: the same, of one fiat, since a time and from either end', async () => {
  const orders = openOrders(context);
  const { rows } = await admin.query<{ count: string; since: Date }>(
    `select count(*), max(created_at) filter (where partner_seq = 30000) as since from orders where partner_id = 1`,
  );
  const all = BigInt(rows[0]?.count ?? 0);
  const since = rows[0]?.since;
  assert.ok(all > 60_000n && since !== undefined);
  const blocksOf = async (input: Omit<Parameters<typeof orders.listAll>[1], 'partnerId' | 'direction'>) => {
    const watch = watching(fixture.db, large);
    const got = await watch.db.asPartner(1n, (tx) =>
      orders.listAll(tx, { partnerId: 1n, direction: 'offramp', ...input }),
    );
    assert.equal(got.orders.length, input.pageSize);
    watch.assertCheap();
    return Math.max(...watch.plans.map(({ blocks }) => blocks));
  };
  for (const way of [{}, { oldestFirst: true }, { fiat: 'inr' }, { fiat: 'inr', oldestFirst: true }]) {
    const first = await blocksOf({ ...way, page: 1, pageSize: 1 });
    const far = await blocksOf({ ...way, page: 50_000, pageSize: 1 });
    assert.ok(Math.abs(far - first) <= 3, `page 1 reads ${first} blocks, page 50,000 reads ${far}`);
    await blocksOf({ ...way, page: 1, pageSize: 500 });
    await blocksOf({ ...way, page: 120, pageSize: 500 });
    await blocksOf({ ...way, since, page: 25_000, pageSize: 1 });
    await blocksOf({ ...way, since, page: 50, pageSize: 500 });
  }
});

test('an order takes its place among all by indexes', async () => {
  // The statements of the trigger, which no Tx sees: explained as the partner, whose role runs them, and undone.
  const watch = watching(fixture.db, large);
  const undone = watch.db.asPartner(1n, async (tx) => {
    for (const fiat of ['', 'inr']) {
      await tx.row(
        `insert into order_lists as l (partner_id, direction, fiat_asset, count) values ($1, $2, $3, 1)
           on conflict (partner_id, direction, fiat_asset) do update set count = l.count + 1 returning count`,
        [1n, 'offramp', fiat],
      );
    }
    throw new Error('undone');
  });
  await assert.rejects(undone, /undone/);
  watch.assertCheap();
});

test('the recipients of many blocks are looked up by their keys', async () => {
  await admin.query(
    `insert into chains (rail, chain, finality, chain_id) values ('evm.test', 'test', 12, 1) on conflict do nothing`,
  );
  const { rows } = await admin.query<{ address: string }>(
    `select address from deposit_addresses where rail = 'evm.test' and index % 20000 = 7`,
  );
  assert.ok(rows.length > 1 && large.has('deposit_addresses'));
  const recipients = [
    ...Array.from({ length: 4_000 }, (_, at) => `0xstranger${at}`),
    ...rows.map((row) => row.address),
  ];
  const watch = watching(fixture.db, large);
  const found = await watch.db.asSystem((tx) => watchedAnywhere(tx, 'evm.test', recipients));
  assert.deepEqual([...found.keys()].toSorted(), rows.map((row) => row.address).toSorted());
  // Three or four blocks of the index for each.
  watch.assertCheap({ blocks: 4 * recipients.length, rows: recipients.length });
});

test('a list is in the order of its making, newest first, without a gap', async () => {
  const orders = openOrders(context);
  const seen: bigint[] = [];
  await fixture.db.asPartner(1n, async (tx) => {
    for (const page of [1, 2, 3]) {
      const got = await orders.list(tx, { customerId: BIG_CUSTOMER, direction: 'offramp', page, pageSize: 7 });
      // Its orders are the first of all, so that their ids equal their positions.
      seen.push(...got.orders.map(({ id }) => id));
    }
  });
  assert.deepEqual(
    seen,
    Array.from({ length: 21 }, (_, i) => BigInt(BIG - i)),
  );
});

test('looking up an order, a customer and accounts', async () => {
  const watch = watching(fixture.db, large);
  await watch.db.asPartner(1n, async (tx) => {
    await customers.findCustomer(tx, BIG_CUSTOMER);
    await openOrders(context).get(tx, { id: 50_000n, customerId: BIG_CUSTOMER });
    await customers.fiatAccounts(tx, BIG_CUSTOMER);
    await customers.openFiatAccount(tx, fixture.vault, 1n).catch(() => {});
  });
  watch.assertCheap();
});

test('listing customers, from the newest on and further back', async () => {
  const watch = watching(fixture.db, large);
  await watch.db.asPartner(1n, async (tx) => {
    const page = await customers.customersOf(tx, { partnerId: 1n, limit: 51 });
    await customers.customersOf(tx, { partnerId: 1n, after: page.at(-1), limit: 51 });
    await customers.customersOf(tx, { partnerId: 1n, verification: 'verified', limit: 51 });
    await customers.customersOf(tx, { partnerId: 1n, from: fixture.clock.now(), limit: 51 });
  });
  watch.assertCheap();
});

test('enrolling, logging in, verifying, adding an account', async () => {
  const { vault } = fixture;
  const now = fixture.clock.now();
  const watch = watching(fixture.db, large);
  await watch.db.asPartner(1n, async (tx) => {
    const customer = await customers.enroll(tx, vault, {
      partnerId: 1n,
      clientCustomerId: 'new',
      phone: '+1 555',
      kind: 'INDIVIDUAL',
      now,
    });
    await customers.recordLogin(tx, customer.id, now);
    await customers.recordVerification(tx, { customer, verifier: 'simulated', outcome: 'verified', level: 1, now });
    const details = { account: '123456789', ifsc: 'TEST' };
    await customers.addFiatAccount(tx, vault, { customer, fiat: 'inr', details, now });
    await customers.addFiatAccount(tx, vault, { customer, fiat: 'inr', details, now: new Date(now.getTime() + 1) });
  });
  await assert.rejects(
    watch.db.asPartner(1n, (tx) =>
      customers.enroll(tx, vault, { partnerId: 1n, clientCustomerId: 'new', kind: 'INDIVIDUAL', now }),
    ),
  );
  watch.assertCheap();
});

test('the life of an order, from quote to settled', async () => {
  const { clock, vault } = fixture;
  const watch = watching(fixture.db, large);
  const watched = { ...context, db: watch.db, screener: openScreener({ db: watch.db, vault }) };
  await freshPrices();
  await fixture.db.asSystem((tx) =>
    post(tx, {
      id: 'fund',
      kind: 'fund',
      at: clock.now(),
      lines: move(chart.custody('bank.test', 'main', 'inr'), chart.treasury('inr'), 10n ** 12n),
    }),
  );

  const order = await watch.db.asPartner(1n, async (tx) => {
    const now = clock.now();
    const customer = await customers.findCustomer(tx, BIG_CUSTOMER);
    const market = await partners.findMarket(tx, { direction: 'offramp', coin: 'usdc', fiat: 'inr' });
    const quote = await createQuote(tx, { partner, market, depositUnits: 123_000_000n, now });
    const { rate, payoutUnits, depositUnits } = quote;
    const account = await customers.addFiatAccount(tx, vault, {
      customer,
      fiat: 'inr',
      details: { account: 'x' },
      now,
    });
    return await openOrders(watched).create(tx, {
      partner,
      customer,
      market,
      depositUnits,
      rate,
      payoutUnits,
      fiatAccountId: account.id,
      now,
    });
  });
  assert.equal(order.customerSeq, BigInt(BIG + 1));

  const report = orderFacts(watched);
  const deposit = {
    rail: 'evm.test',
    externalId: 'plans:1',
    target: order.depositTarget,
    asset: 'usdc.test',
    units: 123_000_000n,
    reference: '0x1',
    facts: {},
  };
  const state = async () => (await fixture.db.asSystem((tx) => openOrders(context).get(tx, { id: order.id }))).state;
  await watch.db.asSystem((tx) => report(tx, { type: 'deposit_seen', ...deposit }));
  await watch.db.asSystem((tx) => report(tx, { type: 'deposit_confirmed', ...deposit }));
  await orderHandlers(watched).screen_order?.(String(order.id));
  assert.equal(await state(), 'paying_out');
  const { rows } = await admin.query<{ id: string }>('select id from payouts where order_id = $1', [order.id]);
  await watch.db.asSystem((tx) =>
    report(tx, { type: 'payout_settled', rail: 'bank.test', key: rows[0]?.id ?? '', reference: 'UTR1' }),
  );
  assert.equal(await state(), 'settled');
  watch.assertCheap();
});

test('the orders of a statement page and of a block are locked by their keys', async () => {
  const { rows } = await admin.query<{ rail: string; target: string; id: string }>(
    `select deposit_rail as rail, deposit_target as target, id from orders order by id limit 2`,
  );
  const [first, second] = rows;
  assert.ok(first !== undefined && second !== undefined);
  const watch = watching(fixture.db, large);
  const count = await watch.db.asSystem((tx) =>
    lockOrdersOf(tx, {
      rail: first.rail,
      externalIds: ['none'],
      targets: [first.target, second.target],
      payouts: ['none'],
    }),
  );
  assert.equal(count, 2);
  watch.assertCheap();
});

test('finding due work among much that is not due, and setting it down again', async () => {
  const watch = watching(fixture.db, large);
  const { clock, log } = fixture;
  const done = Promise.withResolvers<void>();
  await fixture.db.asSystem((tx) => enqueue(tx, { kind: 'plans', subject: '1', dueAt: clock.now() }));
  const workers = await startWorkers({
    db: watch.db,
    clock,
    log,
    handlers: {
      plans: async () => {
        done.resolve();
        return undefined;
      },
    },
  });
  await done.promise;
  await workers.stop();
  watch.assertCheap();
});

test('looking for orders that have waited too long reads those and no others', async () => {
  await admin.query(
    `update orders set waits_until = now() + interval '1 day' where state not in ('settled', 'refunded', 'expired', 'cancelled')`,
  );
  await admin.query('analyze orders');
  const watch = watching(fixture.db, large);
  await orderHandlers({ ...context, db: watch.db }).overdue_orders?.('all');
  watch.assertCheap();
  for (const { statement, blocks } of watch.plans) assert.ok(blocks < 10, statement);
});

test('delivering to partners, beside an endpoint with a hundred thousand waiting events', async () => {
  const watch = watching(fixture.db, large);
  const { clock, vault, log } = fixture;
  const now = clock.now();
  const formats = { standard: events.standard, whitelabel: events.standard, flat: events.standard };
  const told: string[] = [];
  await fixture.db.asPartner(1n, (tx) =>
    events.addEndpoint(tx, vault, {
      partnerId: 1n,
      url: 'http://localhost:9/',
      format: 'standard',
      filter: ['test.*'],
      apiKey: 'of 1',
      now,
    }),
  );
  await fixture.db.asPartner(1n, (tx) =>
    events.emit(tx, { partnerId: 1n, type: 'test.plan', subject: 'order:1', body: {}, at: now }),
  );
  const dispatcher = await events.startDispatcher({
    ...{ db: watch.db, clock, log, vault, formats },
    send: async ({ body }) => {
      told.push(body);
      return { ok: true, status: 200, error: null, answer: '', tookMs: 1 };
    },
    onDead: async () => {},
  });
  const isDelivered = () =>
    admin.query(`select from webhook_attempts`).then(({ rowCount }) => told.length === 1 && rowCount === 1);
  await until('it is delivered', isDelivered);
  await dispatcher.stop();
  await watch.db.asPartner(1n, async (tx) => {
    const { events: page } = await events.readFeed(tx, fixture.vault, { partnerId: 1n, after: 20_000n, limit: 50 });
    assert.equal(page.length, 50);
    const input = { endpointId: 'whe_dead', partnerId: 1n };
    assert.equal((await events.deliveries(tx, { ...input, before: 20_000n, limit: 40 })).length, 40);
    await events.attemptsOf(tx, vault, { ...input, position: 7n });
    assert.equal((await events.replay(tx, { ...input, position: 7n, now })).count, 1);
    assert.ok((await events.replay(tx, { ...input, subject: 'order:1', now })).count > 0);
    assert.equal((await events.replay(tx, { ...input, from: new Date(now.getTime() + 3_600_000), now })).count, 0);
  });
  watch.assertCheap();
});

test('counting open rows for the metrics reads only open rows', async () => {
  const watch = watching(fixture.db, large);
  await watch.db.asSystem((tx) => openByState(tx));
  assert.ok(watch.plans.length > 0);
  // Every open order is read, because the query is about them; the others, a hundred times as many, are not.
  for (const { statement, tables } of watch.plans) assert.ok(!tables.includes('Seq Scan orders'), statement);
});

describe('operators’ lists', () => {
  const span = { from: new Date(Date.now() - 60_000_000), until: new Date(Date.now() - 30_000_000) };
  const filters = {
    none: {},
    partner: { partnerId: 2n },
    customer: { customerId: BIG_CUSTOMER, partnerId: 1n },
    another: { customerId: ANOTHER_CUSTOMER, partnerId: 2n },
    market: { marketId: 1n },
    span,
    all: { ...span, customerId: BIG_CUSTOMER, partnerId: 1n, marketId: 1n },
  };

  before(async () => {
    // Money in suspense: without an owner, and the rest of orders' deposits.
    await admin.query(`insert into deposits (rail, external_id, asset, units, target, partner_id, state, reference, seen_at)
      select 'evm.test', 'lost ' || i, 'usdc.test', 5, '', 1, 'suspense', '', now() - make_interval(mins => i)
        from generate_series(1, 20000) i`);
    await admin.query(`update deposits set taken_units = units - 1 where order_id % 1000 = 1 and state = 'applied'`);
    // Half of the journal went through one fee account, which PostgreSQL takes for one with an average number of transfers.
    await admin.query(`insert into accounts (code, kind, asset, side, order_id)
      select 'order:' || id || ':inr', 'order', 'inr', 'credit', id from orders limit 50000 on conflict do nothing`);
    await admin.query(`with side as (insert into accounts (code, kind, asset, side) values
        ('fee_operator:test', 'fee_operator', 'inr', 'credit'), ('custody:evm.test:hot', 'custody', 'inr', 'debit') returning id, kind)
      insert into transfers (entry, line, debit, credit, asset, units, step)
      select e.id, line, case line when 1 then a.id else wallet.id end, case line when 1 then fee.id else a.id end, 'inr', 1, 'post'
        from accounts a join entries e on e.order_id = a.order_id cross join generate_series(1, 2) line
        join side fee on fee.kind = 'fee_operator' join side wallet on wallet.kind = 'custody'
       where a.asset = 'inr' and not exists (select from transfers t where t.entry = e.id)`);
    await admin.query('analyze deposits, payouts, accounts, transfers');
  });

  for (const [name, filter] of Object.entries(filters)) {
    test(`costs a page of an index: ${name}`, async () => {
      for (const state of [undefined, 'created'] as const) {
        const watch = watching(fixture.db, large);
        await watch.db.asSystem(async (tx) => {
          const first = await listOrders(tx, { ...filter, state, limit: 50 });
          if (first.next !== null) await listOrders(tx, { ...filter, state, limit: 50, below: first.next });
        });
        watch.assertCheap(A_STEP);
      }
      for (const state of [undefined, 'suspense'] as const) {
        const watch = watching(fixture.db, large);
        await watch.db.asSystem(async (tx) => {
          const first = await listDeposits(tx, { ...filter, state, limit: 50 });
          if (first.next !== null) await listDeposits(tx, { ...filter, state, limit: 50, below: first.next });
        });
        watch.assertCheap(A_STEP);
      }
      const watch = watching(fixture.db, large);
      await watch.db.asSystem(async (tx) => {
        const lying = await listSuspense(tx, { ...filter, limit: 50 });
        if (lying.next !== null) await listSuspense(tx, { ...filter, limit: 50, after: lying.next });
        for (const state of [undefined, 'created'] as const) {
          const paid = await listPayouts(tx, { ...filter, state, limit: 50 });
          if (paid.next !== null) await listPayouts(tx, { ...filter, state, limit: 50, below: paid.next });
        }
      });
      watch.assertCheap(A_STEP);
    });
  }

  test('an orders list that lets nothing through ends a page after a bounded number of rows', async () => {
    const watch = watching(fixture.db, large);
    const page = await watch.db.asSystem((tx) => listOrders(tx, { partnerId: 1n, state: 'expired', limit: 50 }));
    assert.deepEqual(page.rows, []);
    assert.ok(page.next !== null, 'a page before the last has no next one');
    watch.assertCheap(A_STEP);
    // Each statement is explained with either plan.
    assert.ok(watch.plans.length <= 2 * 21, `${watch.plans.length} plans`);
  });

  test('endpoints of all partners, and what was charged for orders', async () => {
    const watch = watching(fixture.db, large);
    await watch.db.asSystem((tx) => events.listEndpoints(tx, { limit: 50 }));
    watch.assertCheap();
    const reports = watching(fixture.db, large);
    await reports.db.asSystem(async (tx) => {
      await chargedOf(tx, [1n, 2n, 3n]);
    });
    reports.assertCheap();
  });

  test('an erasure costs the entries of a customer, and not the journal', async () => {
    const watch = watching(fixture.db, large);
    const account = chart.receivable('a customer', 1n, 'inr').code;
    await watch.db.asSystem((tx) => eraseEntryTexts(tx, { orders: [1n, 2n, 3n], accounts: [account] }));
    watch.assertCheap();
  });

  test('revenue of a month costs its stored sums and the days that its ends cut, whatever the journal has', async () => {
    // As after all was sealed and summed.
    await admin.query('update journal_progress set complete_to = (select max(seq) from entries)');
    await admin.query(`insert into daily_revenue (day, partner_id, market_id, asset, kind, units)
      select current_date - i, p, 1, 'inr', 'fee_operator', 5 from generate_series(1, 1000) i, generate_series(1, 4) p`);
    await admin.query('analyze daily_revenue, entries, seals');
    large = await largeTables(admin);
    assert.ok(large.has('daily_revenue'));
    const month = { from: new Date(Date.now() - 33 * 86_400_000), until: new Date(Date.now() - 2 * 86_400_000) };
    const watch = watching(fixture.db, large);
    const { rows } = await watch.db.asSystem((tx) => revenue(tx, { ...month, limit: 500 }));
    assert.equal(rows.length, 30 * 4);
    await watch.db.asSystem((tx) => revenue(tx, { ...month, partnerId: 1n, limit: 10 }));
    watch.assertCheap();
    await admin.query('update journal_progress set complete_to = 0');
  });

  test('orders under other terms cost a walk over the span, and open amounts the open orders', async () => {
    const { rows } = await admin.query<{ at: Date }>(
      'select created_at as at from orders order by id desc limit 1 offset 900',
    );
    const { at } = rows[0] ?? {};
    assert.ok(at);
    const market = await fixture.db.asSystem((tx) =>
      partners.findMarket(tx, { direction: 'offramp', coin: 'usdc', fiat: 'inr' }),
    );
    const terms = { fee: 'operator', fixedUnits: 0n, bps: 30n, minimumUnits: 0n, notFor: [] } as const;
    const watch = watching(fixture.db, large);
    const found = await watch.db.asSystem((tx) => affectedOrders(tx, { market, from: at, until: new Date(), terms }));
    assert.ok(found.orders.length > 500, `${found.orders.length} orders`);
    await watch.db.asSystem((tx) => exposure(tx));
    // A step has five hundred orders, each with its entries, their transfers and both accounts of each.
    watch.assertCheap({ blocks: 15 * PAGE_ROWS + 5_000, rows: 4 * PAGE_ROWS });
  });

  test('a page of a statement costs its lines and the day of its beginning, whatever its customer had before', async () => {
    // Of the biggest customer: an entry an hour, newest last, all summed.
    await admin.query('update daily_totals_progress set customers_to = (select max(seq) from entries)');
    await admin.query(`with custody as (
        insert into accounts (code, kind, asset, side) values ('custody:evm.test:plans:usdc.test', 'custody', 'usdc.test', 'debit') returning id)
      insert into transfers (entry, line, debit, credit, asset, units, step)
      select e.id, 1, c.id, a.id, 'usdc.test', 1000000, 'post'
        from custody c, entries e join accounts a on a.code = 'order:' || e.order_id || ':usdc.test'
       where not exists (select from transfers t where t.entry = e.id)`);
    await admin.query(`insert into customer_changes (customer_id, at, seq, account, line, asset, held_units, owed_units)
      select o.customer_id, now() - make_interval(hours => (${BIG} - o.id)::int), e.seq, '', 0, 'usdc.test', 1000000, 0
        from orders o join entries e on e.order_id = o.id where o.customer_id = '${BIG_CUSTOMER}' and o.id <= ${BIG} and o.state = 'settled'`);
    await admin.query(`insert into customer_days (customer_id, day, asset, held_units, owed_units)
      select customer_id, (at at time zone 'UTC')::date, asset, sum(held_units), 0 from customer_changes group by 1, 2, 3`);
    await admin.query(`insert into customer_days (customer_id, day, asset, held_units, owed_units)
      select id, date '2026-01-01' + i, 'usdc.test', 1, 0 from customers, generate_series(1, 20) i where id <> '${BIG_CUSTOMER}'`);
    await admin.query('analyze customer_changes, customer_days, transfers, entries, accounts');
    large = await largeTables(admin);
    assert.ok(large.has('customer_changes') && large.has('customer_days'));
    const span = { customerId: BIG_CUSTOMER, from: new Date(Date.now() - 400 * 86_400_000), until: new Date() };
    const watch = watching(fixture.db, large);
    const reads = async (tx: Tx) => {
      const from = { at: span.from, seq: 0n };
      const had = await hadBefore(tx, BIG_CUSTOMER, from);
      assert.ok((had[0]?.heldUnits ?? 0n) > 1_000_000n * 40_000n);
      const posted = await postedFor(tx, BIG_CUSTOMER, { from, until: span.until, most: PAGE_ROWS });
      assert.equal(new Set(posted.map(({ seq }) => seq)).size, PAGE_ROWS);
      await postedFor(tx, ANOTHER_CUSTOMER, { from, until: span.until, most: PAGE_ROWS });
    };
    await watch.db.asSystem(reads);
    // A row for each day of six years; each entry with its lines and both accounts of each.
    watch.assertCheap({ blocks: 30 * PAGE_ROWS, rows: 6 * PAGE_ROWS });
    // The entries of a minute or two are in no sum yet: of each only the customer is looked up.
    await admin.query('update daily_totals_progress set customers_to = (select max(seq) - 2000 from entries)');
    const lagging = watching(fixture.db, large);
    await lagging.db.asSystem(reads);
    lagging.assertCheap({ blocks: 50 * PAGE_ROWS, rows: 6 * PAGE_ROWS });
    // What is added costs what is added.
    await admin.query('update journal_progress set complete_to = (select max(seq) from entries)');
    const adding = watching(fixture.db, large);
    assert.equal(await adding.db.asSystem((tx) => addToCustomers(tx, 100)), 100);
    adding.assertCheap({ blocks: 60 * 100, rows: PAGE_ROWS });
    await admin.query('update daily_totals_progress set customers_to = 0');
    await admin.query('update journal_progress set complete_to = 0');
  });

  test('a search for a payout costs a page, whether it finds none, one, or an address that has all', async () => {
    for (const text of ['none', '0xABC', 'payout_1000001', '']) {
      const watch = watching(fixture.db, large);
      await watch.db.asSystem((tx) => findPayouts(tx, [text]));
      watch.assertCheap();
    }
  });

  test('balances of a past instant cost the entries of its day, and not the journal', async () => {
    await admin.query(`insert into accounts (code, kind, asset, side, debits)
      select 'custody:bank.test:wallet' || i || ':inr', 'custody', 'inr', 'debit', 2500 from generate_series(1, 20) i
      union all select 'suspense:bank.test:inr', 'suspense', 'inr', 'credit', 0 on conflict (code) do nothing`);
    await admin.query(`with made as (insert into entries (id, kind, content, at)
        select 'past_' || i, 'receive', '', now() - interval '4 days' from generate_series(1, 2500) i returning id)
      insert into transfers (entry, line, debit, credit, asset, units, step)
      select made.id, 1, bank.id, owner.id, 'inr', 1, 'post' from made
        join accounts bank on bank.code = 'custody:bank.test:wallet1:inr'
        join accounts owner on owner.code = 'suspense:bank.test:inr'`);
    await admin.query(`insert into seals (number, first_seq, last_seq, entries, previous, hash, sealed_at)
      select 1, min(seq), max(seq), count(*), '', '', now() from entries where id like 'past_%'`);
    await admin.query(`insert into sealed_entries (entry_seq, seal, position)
      select seq, 1, row_number() over (order by seq) from entries where id like 'past_%'`);
    await admin.query('analyze entries, transfers, seals, sealed_entries');
    assert.equal(await fixture.db.asSystem((tx) => addToDailyTotals(tx)), 1);
    const past = new Date(Date.now() - 2 * 86_400_000);
    const watch = watching(fixture.db, large);
    const found = await watch.db.asSystem(async (tx) => {
      // As PostgreSQL chooses beside a million orders, where it expects many entries on a day: a join that reads all accounts.
      await tx.row(
        `select set_config(name, 'off', true) from unnest(array['enable_nestloop', 'enable_mergejoin']) name`,
      );
      return await balancesAt(tx, past);
    });
    assert.ok(found.some(({ debits }) => debits === 2_500n));
    for (const { statement, mode, tables } of watch.plans)
      assert.ok(!tables.includes('Seq Scan accounts'), `reads all accounts (${mode} plan): ${statement}`);
    const days = Array.from({ length: 31 }, (_, n) => new Date(past.getTime() - (30 - n) * 86_400_000));
    const all = await watch.db.asSystem((tx) => custodyAt(tx, { at: days }));
    // Other tests have wallets, too.
    const wallets = all.filter(({ wallet }) => wallet.startsWith('wallet'));
    assert.deepEqual([wallets.length, wallets.at(-1)?.units, wallets.at(30)?.units], [20 * 31, 0n, 2_500n]);
    await watch.db.asSystem((tx) =>
      partnerStatement(tx, {
        partnerId: 1n,
        from: new Date(past.getTime() - 86_400_000),
        until: past,
      }),
    );
    // Entries without a seal may be that far below the newest one: they are read, and no more, however long the journal is.
    watch.assertCheap({ blocks: Number(LOOK_BACK) / 3, rows: Number(LOOK_BACK) });
  });
});

describe('operators’ lists of debts, bank lines and requests, and accounts by their number', () => {
  /** Accounts that owe something now, among those that owed something once. */
  const OWING = 600;
  const OWED = 20_000;

  before(async () => {
    await admin.query(`insert into accounts (code, kind, asset, side, partner_id, debits, credits)
      select 'receivable:debtor' || i || ':inr', 'receivable', 'inr', 'debit', i % 4 + 1, 500,
             case when i % (${OWED} / ${OWING}) = 0 then 0 else 500 end from generate_series(1, ${OWED}) i`);
    await admin.query(
      `insert into accounts (code, kind, asset, side) values ('loss:inr', 'loss', 'inr', 'debit') on conflict do nothing`,
    );
    await admin.query(`with made as (insert into entries (id, kind, content, at)
        select 'owed_' || a.id, 'deposit_lost', '', now() from accounts a where a.kind = 'receivable' returning id)
      insert into transfers (entry, line, debit, credit, asset, units, step)
      select made.id, 1, a.id, loss.id, 'inr', 500, 'post'
        from made join accounts a on made.id = 'owed_' || a.id join accounts loss on loss.code = 'loss:inr'`);
    await admin.query(`with debtor as (select code, row_number() over (order by id) as n from accounts where kind = 'receivable')
      update deposits d set lost_to = debtor.code, lost_units = 1 from debtor
       where d.order_id = debtor.n * 3 + 2 and d.state = 'applied'`);
    await admin.query(`insert into bank_lines (rail, external_id, direction, asset, units, meaning, booked_at, read_at)
      select 'bank.test', 'line ' || i, case when i % 2 = 0 then 'credit' else 'debit' end, 'inr', i,
             case when i % 2 = 0 then 'deposit' else 'unexplained' end, now() - make_interval(secs => i), now()
        from generate_series(1, 50000) i`);
    await admin.query(`insert into request_log (partner_id, request_id, client_request_id, api_key, operation, method, path, status,
        took_ms, replayed, version, at)
      select i % 4 + 1, 'req_' || i, 'mine ' || i % 1000, 'clv_test', 'orders.get', 'GET', '/v1/orders', 200, 1, false, '', now()
        from generate_series(1, 50000) i`);
    await admin.query(`update fiat_accounts set details = 'x', number_index = sha256(id::text::bytea)`);
    await admin.query(
      `update bank_lines set details = 'x', payer_index = sha256(external_id::bytea) where meaning = 'deposit'`,
    );
    // One in a thousand has a reference of its own; the others share one, as lines of one payer do, and one text.
    await admin.query(
      `update bank_lines set reference = case when units % 1000 = 0 then 'UTR ' || external_id else 'SALARY' end,
        text_index = case when units % 1000 = 0 then sha256(external_id::bytea) else $1 end`,
      [textIndexes(fixture.vault, 'salary')[0]],
    );
    // Orders of one partner share a reference, and most deposits a target.
    await admin.query(
      `update orders set merchant_reference = case when id % 1000 = 0 then 'ref ' || id else $1 end,
        payer_reference = case when id % 1000 = 0 then 'utr ' || id else $1 end`,
      [encryptText(fixture.vault, 1n, 'monthly')],
    );
    await admin.query(
      `update deposits set reference = case when id % 1000 = 0 then '0x' || md5(id::text) else 'SALARY' end`,
    );
    await admin.query(`update deposits set target = 'pool' where id % 3 = 0`);
    await admin.query('vacuum analyze orders, bank_lines');
    await admin.query('analyze accounts, entries, transfers, deposits, bank_lines, request_log, fiat_accounts');
    large = await largeTables(admin);
    for (const table of ['bank_lines', 'request_log', 'fiat_accounts', 'transfers']) assert.ok(large.has(table), table);
  });

  for (const [name, filter] of Object.entries({ none: {}, partner: { partnerId: 2n }, asset: { asset: 'inr' } }))
    test(`debts cost a walk over the accounts that have owed: ${name}`, async () => {
      const watch = watching(fixture.db, large);
      await watch.db.asSystem(async (tx) => {
        const first = await listDebts(tx, { ...filter, limit: 50 });
        assert.equal(first.debts.length, 50);
        assert.ok(first.debts[0]?.orderIds.length === 1, 'a debt has no order');
        assert.ok(first.next !== null);
        await listDebts(tx, { ...filter, limit: 50, after: first.next });
      });
      // Fifty debts, each with its transfers, their entries and its order. Balances are in no index (0034_operators_lists.sql).
      watch.assertCheap({ blocks: 2_000, rows: OWED + PAGE_ROWS });
    });

  test('the debt of one customer costs the same walk', async () => {
    const watch = watching(fixture.db, large);
    const step = OWED / OWING;
    await watch.db.asSystem(async (tx) => {
      const { debts } = await listDebts(tx, { customerId: `debtor${Math.floor(step)}`, limit: 50 });
      assert.equal(debts.length, 1);
    });
    watch.assertCheap({ blocks: 2_000, rows: OWED + PAGE_ROWS });
  });

  for (const [name, filter] of Object.entries({
    none: {},
    rail: { rail: 'bank.test' },
    unexplained: { direction: 'debit', meaning: 'unexplained' },
    amount: { asset: 'inr', minUnits: 20_000n, maxUnits: 20_100n },
    span: { from: new Date(Date.now() - 40_000_000), until: new Date(Date.now() - 20_000_000) },
    nothing: { rail: 'bank.other' },
  } as const))
    test(`bank lines cost steps of an index: ${name}`, async () => {
      const watch = watching(fixture.db, large);
      await watch.db.asSystem(async (tx) => {
        const first = await listBankLines(tx, { ...filter, limit: 50 });
        if (first.next !== null) await listBankLines(tx, { ...filter, limit: 50, below: first.next });
      });
      watch.assertCheap(A_STEP);
    });

  test('requests of a partner, and one by an id of it', async () => {
    const watch = watching(fixture.db, large);
    await watch.db.asSystem(async (tx) => {
      const first = await requestLog.page(tx, { partnerId: 2n, below: undefined, limit: 51 });
      assert.equal(first.length, 51);
      await requestLog.page(tx, { partnerId: 2n, below: first.at(-1)?.id, limit: 51 });
      const partnerIds = [1n, 2n, 3n, 4n];
      assert.equal((await requestLog.named(tx, { partnerIds, ids: ['req_49999'] })).length, 1);
      assert.equal((await requestLog.named(tx, { partnerIds, ids: ['mine 7'] })).length, 50);
    });
    watch.assertCheap();
  });

  for (const text of [
    'none',
    '50000',
    'line 7',
    'bank.test:line 7',
    'SALARY',
    'monthly',
    'pool',
    'a b',
    BIG_CUSTOMER,
    'client 7',
  ])
    test(`a search costs a page: ${text}`, async () => {
      const watch = watching(fixture.db, large);
      const partnerIds = [1n, 2n, 3n, 4n];
      await watch.db.asSystem(async (tx) => {
        const found = await lookUp(tx, { text, vault: fixture.vault, partnerIds, rails: ['evm.test', 'bank.test'] });
        const texts = spellingsOf(text);
        const customersFound = await customers.customersLike(tx, fixture.vault, { texts, partnerIds });
        const count = [...Object.values(found), customersFound].reduce((sum, { length }) => sum + length, 0);
        assert.equal(count > 0, !['none', 'a b', 'client 7'].includes(text), JSON.stringify(text));
      });
      // Fifty rows of each part, each in a different block.
      watch.assertCheap({ blocks: 1_500, rows: PAGE_ROWS });
    });

  test('who else uses a bank account, what an order has used, and lines without an index', async () => {
    const { vault } = fixture;
    const watch = watching(fixture.db, large);
    const until = new Date();
    await watch.db.asSystem(async (tx) => {
      assert.equal((await usesOf(tx, 1n)).length, 2);
      const payees = [1n, 2n, 3n, 4n].flatMap((id) => customers.numberIndexes(vault, id, { account: '000144771203' }));
      const payers = [1n, 2n, 3n, 4n].flatMap((id) => payerIndexes(vault, id, '000144771203'));
      await othersAtAccount(tx, { payees, payers, until, customerId: ANOTHER_CUSTOMER });
      const [account] = await tx.rows<{ index: Buffer }>(
        'select number_index as index from fiat_accounts where id = 7',
      );
      const [line] = await tx.rows<{ index: Buffer }>(
        `select payer_index as index from bank_lines where external_id = 'line 8'`,
      );
      const known = { payees: [account?.index ?? payees[0] ?? NONE], payers: [line?.index ?? NONE] };
      await othersAtAccount(tx, { ...known, until, customerId: ANOTHER_CUSTOMER });
      await paidSince(tx, { paidAt: new Date(until.getTime() - 30_000), payoutId: null }, until, 100);
    });
    assert.deepEqual(await indexPayers(watch.db, vault), { count: 0, isAll: true });
    assert.equal(await indexTexts(watch.db, vault), 0);
    watch.assertCheap();
  });

  test('other customers with the same document, and blocked ones with its number', async () => {
    const { vault, clock } = fixture;
    const watch = watching(fixture.db, large);
    const customer = { id: BIG_CUSTOMER, partnerId: 1n };
    await watch.db.asPartner(1n, async (tx) => {
      for (const kind of ['file', 'number'] as const)
        await keepCompared(tx, vault, { customer, kind, values: ['a value of the big one'], now: clock.now() });
    });
    await watch.db.asSystem(async (tx) => {
      assert.deepEqual(await customers.sameDocument(tx, vault, BIG_CUSTOMER), []);
      assert.deepEqual(await customers.blockedTwins(tx, vault, { customerId: BIG_CUSTOMER, partnerId: 1n }), []);
    });
    watch.assertCheap();
  });

  test('a document that very many customers have: the first of them', async () => {
    const { vault } = fixture;
    const [typed] = await fixture.db.asSystem((tx) =>
      tx.rows<{ index: Buffer }>('select value_index as index from compared_documents where customer_id = $1', [
        BIG_CUSTOMER,
      ]),
    );
    await admin.query(
      `insert into compared_documents (partner_id, customer_id, kind, value, value_index, created_at)
       select partner_id, id, 'file', '', $1, now() from customers where partner_id = 1 and id <> $2 order by id limit 20000`,
      [typed?.index, BIG_CUSTOMER],
    );
    await admin.query('analyze compared_documents');
    const watch = watching(fixture.db, large);
    const same = await watch.db.asSystem((tx) => customers.sameDocument(tx, vault, BIG_CUSTOMER));
    assert.deepEqual(
      same.map(({ by }) => by),
      Array.from({ length: 20 }, () => ['file']),
    );
    assert.deepEqual(
      same,
      same.toSorted((a, b) => (a.customerId < b.customerId ? -1 : 1)),
    );
    watch.assertCheap();
  });

  test('accounts by their number, their orders, and those without an index', async () => {
    const { vault } = fixture;
    const watch = watching(fixture.db, large);
    await watch.db.asSystem(async (tx) => {
      await customers.accountsOfNumber(tx, vault, { number: '000144771203', partnerIds: [1n, 2n, 3n, 4n] });
      await ordersOfAccounts(tx, [{ id: 2n, customerId: ANOTHER_CUSTOMER }]);
    });
    assert.equal(await customers.numberAccounts(watch.db, vault), 0);
    watch.assertCheap();
    const big = watching(fixture.db, large);
    await big.db.asSystem((tx) => ordersOfAccounts(tx, [{ id: 1n, customerId: BIG_CUSTOMER }]));
    // It looks through the newest two thousand orders of a customer.
    big.assertCheap(A_STEP);
  });
});

const NONE = Buffer.alloc(0);

/** A rail of which only deposit targets are used here. */
function quietRail(code: string, kind: 'chain' | 'bank'): Rail {
  const wallets = { deposits: 'main', payouts: 'main' };
  return { code, kind, wallets, targets: { are: 'derived', of: (index: bigint) => `${code}:${index}` } } as Rail;
}

// Filling: by SQL, past all modules.

async function freshPrices(): Promise<void> {
  await admin.query(
    `insert into prices (source, base, quote, num, den, priced_at, fetched_at)
     values ('fixed', 'usdc', 'inr', 83, 1, now(), now()), ('fixed', 'eth', 'inr', 250000, 1, now(), now())
     on conflict (base, quote, source) do update set priced_at = now(), fetched_at = now()`,
  );
  await admin.query(
    `insert into gas_prices values ('test', 30000000000, now()) on conflict (chain) do update set fetched_at = now()`,
  );
}

async function fill(): Promise<void> {
  const { db, clock } = fixture;
  const now = clock.now();
  await db.asSystem(async (tx) => {
    for (const name of ['One', 'Two', 'Three', 'Four']) await partners.createPartner(tx, { name, now });
    const asset = { kind: 'crypto', chain: 'test', decimals: 6 } as const;
    await partners.upsertAsset(tx, { ...asset, code: 'usdc.test', coin: 'usdc', contract: '0x1', native: false });
    await partners.upsertAsset(tx, {
      ...asset,
      code: 'eth.test',
      coin: 'eth',
      contract: null,
      native: true,
      decimals: 18,
    });
    await partners.upsertAsset(tx, fiat('inr'));
    const marketId = await partners.upsertMarket(tx, {
      ...marketTerms,
      crypto: 'usdc.test',
      fiat: 'inr',
      maxUnits: 10n ** 12n,
    });
    await partners.setFee(tx, { marketId, partnerId: null, kind: 'operator', bps: 25n });
    await partners.setFee(tx, { marketId, partnerId: null, kind: 'chain', gasUnits: 65_000n });
  });
  // No trigger fires: what is inserted is consistent, each of a million foreign keys would be looked up, and positions are assigned
  // here at once instead of one by one.
  await admin.query('set session_replication_role = replica');
  // The first customer is the big one; the others, of four partners in turn, share the remaining orders.
  await admin.query(`insert into customers (id, partner_id, client_customer_id, kind, level, verification, logged_in_at, created_at, updated_at)
    select case i when 0 then '${BIG_CUSTOMER}' else lpad(i::text, 10, 'C') || '_' || (i % 4 + 1) end, i % 4 + 1, 'client ' || i,
      'INDIVIDUAL', 1, 'verified', now(), now(), now() from generate_series(0, 4000) i`);
  await admin.query(`insert into fiat_accounts (id, partner_id, customer_id, fiat, details, details_index, hint, created_at)
    select row_number() over (), partner_id, id, 'inr', '', sha256(id::bytea), '', now() from customers`);
  await admin.query(`insert into compared_documents (partner_id, customer_id, kind, value, value_index, created_at)
    select partner_id, id, what, '', sha256((id || what)::bytea), now() from customers, unnest(array['file', 'number']) what
      where id <> '${BIG_CUSTOMER}'`);
  await admin.query(
    `with chosen as (
       select i, case when i <= $2 then '${BIG_CUSTOMER}' else lpad((i % 4000 + 1)::text, 10, 'C') || '_' || ((i % 4000 + 1) % 4 + 1) end as customer
         from generate_series(1, $1::int) i)
     insert into orders (id, partner_id, customer_id, direction, customer_seq, market_id, state, deposit_asset, deposit_units,
       payout_asset, payout_units, gross_units, fiat_asset, fee_operator, fee_partner, fee_rail, fee_chain, rate_num, rate_den,
       rate_locked_until, deposit_rail, deposit_target, deposit_index, payout_rail, payment_method, fiat_account_id, expires_at,
       created_at, updated_at, partner_seq, fiat_seq)
     select i, c.partner_id, c.id, 'offramp', row_number() over (partition by c.id order by i), 1,
       case when i % 100 = 0 then 'created' else 'settled' end, 'usdc.test', 1000000, 'inr', 8300, 8300, 'inr', 0, 0, 0, 0, 83, 1,
       now(), 'evm.test', '0x' || md5(i::text), i, 'bank.test', 'IMPS', null, now() + interval '1 hour',
       now() - make_interval(secs => $1 - i), now(), row_number() over all_of_it, row_number() over all_of_it
       from chosen join customers c on c.id = chosen.customer window all_of_it as (partition by c.partner_id order by i) order by i`,
    [ORDERS, BIG],
  );
  await admin.query(`insert into order_lists (partner_id, direction, fiat_asset, count)
    select partner_id, direction, coalesce(fiat_asset, ''), count(*) from orders group by 1, 2, rollup (fiat_asset)`);
  await admin.query(
    `insert into order_counts select partner_id, customer_id, direction, count(*) from orders group by 1, 2, 3`,
  );
  await admin.query(`insert into order_history (order_id, version, partner_id, state_from, event, state_to, at)
    select id, 0, partner_id, 'none', 'created', 'created', now() from orders`);
  await admin.query(`insert into events (partner_id, type, subject, subject_seq, body, at)
    select partner_id, 'order.settled', 'order:' || id, seq, '{}', now() from orders, generate_series(1, 2) seq`);
  await admin.query(`insert into event_feed (event_id, partner_id, position)
    select id, partner_id, row_number() over (partition by partner_id order by id) from events`);
  // An endpoint that is dead, with all of it still to deliver.
  await admin.query(
    `insert into api_keys (key, partner_id, label, scopes, secret, created_at) values ('of 1', 1, '', '{}', '', now())`,
  );
  await admin.query(`insert into webhook_endpoints (id, partner_id, url, format, secret, api_key, created_at, updated_at)
    values ('whe_dead', 1, '', 'standard', '', 'of 1', now(), now())`);
  await admin.query(`insert into webhook_deliveries (endpoint_id, event_id, partner_id, subject, subject_seq, since, state, ended_at)
    select 'whe_dead', id, 1, subject, subject_seq, now(), case subject_seq when 1 then 'delivered' else 'waiting' end,
      case subject_seq when 1 then now() end from events where partner_id = 1`);
  await admin.query(`insert into webhook_ordering_keys (endpoint_id, subject, partner_id, due_at)
    select endpoint_id, subject, partner_id, now() + interval '1 hour' from webhook_deliveries where state = 'waiting'`);
  await admin.query(`insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, reference, seen_at, taken_units)
    select 'evm.test', 'x' || id, 'usdc.test', 1000000, deposit_target, id, partner_id, 'applied', '', now(), 1000000 from orders where state = 'settled'`);
  await admin.query(`insert into payouts (id, order_id, partner_id, purpose, attempt, rail, asset, units, address, state, created_at, ended_at)
    select 'payout_' || id, id, partner_id, 'payout', 1, 'bank.test', 'inr', 8300, '', 'settled', now(), now() from orders where state = 'settled'`);
  await admin.query(`insert into deposit_addresses (rail, address, index, order_id, partner_id, made_at)
    select 'evm.test', deposit_target, deposit_index, id, partner_id, now() from orders`);
  await admin.query(`select setval('deposit_indexes', $1)`, [ORDERS + 1]);
  // Half of the quotes were taken; of the rest, one busy partner's are alive.
  await admin.query(`insert into quotes (id, partner_id, market_id, deposit_units, payout_units, gross_units, rate_num, rate_den,
      fee_operator, fee_partner, fee_rail, fee_chain, prices, created_at, expires_at, order_id)
    select i, case when i % 2 = 0 then 1 else i % 4 + 1 end, 1, 1000000 + i, 8300, 8300, 83, 1, 0, 0, 0, 0, '[]', now(),
      now() + interval '10 minutes', case when i % 2 = 0 then null else i end from generate_series(1, 40000) i`);
  await admin.query(
    `insert into jobs (kind, subject, due_at) select 'expire_order', id::text, now() + interval '1 hour' from orders where id <= 50000`,
  );
  await admin.query(`insert into accounts (code, kind, asset, side, order_id, partner_id)
    select 'order:' || id || ':usdc.test', 'order', 'usdc.test', 'credit', id, partner_id from orders where state = 'settled'`);
  await admin.query(
    `insert into entries (id, kind, order_id, content, at) select 'ord_' || id || ':receive', 'receive', id, '', now() from orders`,
  );
  await admin.query('analyze');
}
