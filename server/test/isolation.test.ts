/**
 * A forgotten `where` leaks nothing: the rows that one partner role can read and write, table by table, checked in PostgreSQL
 * itself.
 *
 * The list of tables is read from the catalogue, so a table added later is covered automatically: it has to be protected, or
 * closed to partners, or named below as shared.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { sendAll } from '../src/base/batch.ts';
import { pools, type Tx } from '../src/base/db.ts';
import { type Fixture, freshFixture } from './support/fixture.ts';

/** Tables that partners may read and whose rows belong to no partner. */
const EVERYBODYS = [
  'assets',
  'chains',
  'confirmation_policies',
  'customer_limits',
  'database_timeline',
  'gas_prices',
  'issued_targets',
  'market_limits',
  'markets',
  'price_levels',
  'prices',
];

/** Due jobs belong to no partner; a request sees the deadlines of its own orders in them (rights.test.ts). */
const OF_ITS_ORDERS = ['jobs'];

/** One row of each protected table, in the order of their references. $1 is the partner, $2 the same as text. */
const ROWS: Record<string, string> = {
  api_keys: `insert into api_keys (key, partner_id, label, scopes, secret, created_at)
    values ('key ' || $2, $1, '', '{}', '', now())`,
  idempotency_records: `insert into idempotency_records (partner_id, path, key, body, reply, kept_at) values ($1, $2, '', '', '{}', now())`,
  fee_schedules: `insert into fee_schedules (market_id, partner_id, kind) select id, $1::bigint, 'partner' from markets where $2 <> ''`,
  customers: `insert into customers (id, partner_id, kind, created_at, updated_at)
    values ('customer_' || $2, $1, 'INDIVIDUAL', now(), now())`,
  verifications: `insert into verifications (partner_id, customer_id, verifier, outcome, level, at)
    values ($1, 'customer_' || $2, 'simulated', 'verified', 1, now())`,
  login_sends: `insert into login_sends (partner_id, customer_id, session, link, network, is_open, is_sent, sent_at)
    values ($1, 'customer_' || $2, '', '', '', false, true, now())`,
  customer_details: `insert into customer_details (customer_id, partner_id, details, given_at)
    values ('customer_' || $2, $1, '', now())`,
  compared_documents: `insert into compared_documents (partner_id, customer_id, kind, value, value_index, created_at)
    values ($1, 'customer_' || $2, 'file', '', '', now())`,
  names_to_compare: `insert into names_to_compare (subject, partner_id, revision) values ('customer:other_' || $2, $1, 1)`,
  information_requests: `insert into information_requests (id, partner_id, customer_id, state, question, asked_by, asked_at, due_at)
    values ($1, $1, 'customer_' || $2, 'open', '', '', now(), now() + interval '1 day')`,
  submissions: `insert into submissions (id, partner_id, customer_id, kind, state, answers, created_at, updated_at)
    values ($1, $1, 'customer_' || $2, 'BUSINESS', 'open', '', now(), now())`,
  document_expiries: `insert into document_expiries (customer_id, partner_id, version, expires_on, items)
    values ('customer_' || $2, $1, 1, '2030-01-31', '{}')`,
  hosted_drafts: `insert into hosted_drafts (customer_id, partner_id, answers, saved_at)
    values ('customer_' || $2, $1, '', now())`,
  customer_keys: `insert into customer_keys (customer_id, partner_id, wrapped, created_at) values ('customer_' || $2, $1, '', now())`,
  submission_files: `insert into submission_files (id, partner_id, customer_id, submission_id, slot, type, bytes, digest, created_at)
    values (lpad($2, 32, '0'), $1, 'customer_' || $2, $1, 'a.jpg', 'image/jpeg', 1, '', now())`,
  fiat_accounts: `insert into fiat_accounts (id, partner_id, customer_id, fiat, details, details_index, hint, created_at)
    values ($1, $1, 'customer_' || $2, 'inr', '', '', '', now())`,
  customer_destinations: `insert into customer_destinations (id, partner_id, customer_id, chain, address, created_at, usable_at)
    values ($1, $1, 'customer_' || $2, 'test', $2, now(), now())`,
  request_log: `insert into request_log (partner_id, request_id, api_key, operation, method, path, status, took_ms, replayed, version, at)
    values ($1, $2, '', '', '', '', 200, 0, false, '', now())`,
  quotes: `insert into quotes (id, partner_id, market_id, deposit_units, payout_units, gross_units, rate_num, rate_den,
      fee_operator, fee_partner, fee_rail, fee_chain, prices, created_at, expires_at)
    select $1::bigint, $1::bigint, id, 1, 1, 1, 1, 1, 0, 0, 0, 0, '[]', now(), now() from markets where $2 <> ''`,
  orders: `insert into orders (id, partner_id, customer_id, direction, customer_seq, market_id, state, deposit_asset,
      deposit_units, payout_asset, payout_units, gross_units, fiat_asset, fee_operator, fee_partner, fee_rail, fee_chain,
      rate_num, rate_den, rate_locked_until, deposit_rail, deposit_target, payout_rail, payment_method, expires_at,
      created_at, updated_at)
    select $1::bigint, $1::bigint, 'customer_' || $2, 'offramp', 1, id, 'created', crypto_asset, 1, 'inr', 1, 1, 'inr', 0, 0, 0, 0,
      1, 1, now(), 'evm.test', $2, 'bank.test', 'bank', now(), now(), now() from markets`,
  order_counts: `insert into order_counts (partner_id, customer_id, direction, count) values ($1, 'customer_' || $2, 'offramp', 1)`,
  order_lists: `insert into order_lists (partner_id, direction, fiat_asset, count) values ($1, 'offramp', $2, 1)`,
  policies: `insert into policies (market_id, partner_id, question, answer) select id, $1::bigint, 'late', '{}' from markets where $2 <> ''`,
  exposure_caps: `insert into exposure_caps (partner_id, fiat_asset, max_units) select $1::bigint, 'inr', 1 where $2 <> ''`,
  order_history: `insert into order_history (order_id, version, partner_id, state_from, event, state_to, at)
    values ($1, 1, $1, $2, 'created', 'created', now())`,
  deposits: `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, reference, seen_at)
    values ('evm.test', $2, 'usdc.test', 1, '', $1, $1, 'seen', '', now())`,
  payouts: `insert into payouts (id, order_id, partner_id, purpose, attempt, rail, asset, units, address, created_at)
    values ('payout ' || $2, $1, $1, 'payout', 1, 'bank.test', 'inr', 1, '', now())`,
  checkouts: `insert into checkouts (id, partner_id, order_id, customer_id, begun_at)
    values ('checkout ' || $2, $1, $1, 'customer_' || $2, now())`,
  partner_branding: `insert into partner_branding (partner_id, changed_at) select $1::bigint, now() where $2 <> ''`,
  requirement_forms: `insert into requirement_forms (partner_id, kind, version, form, effective_at, set_by, set_at)
    values ($1, 'BUSINESS', 1, '{}', now(), $2, now())`,
  refunds: `insert into refunds (id, deposit_id, order_id, partner_id, purpose, rail, asset, gross_units, net_units, source, why,
      requested_by, state, created_at, updated_at)
    select $1::bigint, id, order_id, partner_id, 'refund', rail, asset, 1, 1, 'suspense', '', '', 'needs_destination', now(), now()
      from deposits where external_id = $2`,
  return_links: `insert into return_links (id, deposit_id, partner_id, customer_id, made_by, made_at, expires_at)
    select lpad($1::text, 32, '0'), id, $1::bigint, 'customer_' || $2, '', now(), now() from deposits where external_id = $2`,
  cases: `insert into cases (kind, subject, partner_id, reason, opened_at) values ('test', $2, $1, '', now())`,
  kill_switches: `insert into kill_switches (kind, subject, partner_id, by, reason, at) values ('partner', $2, $1, '', '', now())`,
  events: `insert into events (partner_id, type, subject, subject_seq, body, at) values ($1, 'test', $2, 1, '{}', now())`,
  event_feed: `insert into event_feed (event_id, partner_id, position) values ((select id from events where subject = $2), $1, 1)
    on conflict (event_id) do update set position = 1`,
  webhook_endpoints: `insert into webhook_endpoints (id, partner_id, url, format, secret, api_key, created_at, updated_at)
    values ('endpoint ' || $2, $1, '', 'standard', '', 'key ' || $2, now(), now())`,
  webhook_deliveries: `insert into webhook_deliveries (endpoint_id, event_id, partner_id, subject, subject_seq, since)
    values ('endpoint ' || $2, (select id from events where subject = $2), $1, '', 1, now())`,
  webhook_ordering_keys: `insert into webhook_ordering_keys (endpoint_id, subject, partner_id, due_at) values ('endpoint ' || $2, '', $1, now())`,
  webhook_attempts: `insert into webhook_attempts (partner_id, endpoint_id, event_id, at, took_ms)
    values ($1, 'endpoint ' || $2, (select id from events where subject = $2), now(), 1)`,
  decisions: `insert into decisions (partner_id, about, outcome, rules, inputs, at) values ($1, 'test', $2, '', '{}', now())`,
  partner_activity: `insert into partner_activity (partner_id, api_key, action, subject, at) values ($1, 'key ' || $2, 'link.made', $2, now())`,
  partner_members: `insert into partner_members (partner_id, name, role, invited_by, created_at)
    values ($1, 'ada' || $2, 'viewer', '', now())`,
  containments: `insert into containments (partner_id, since, opened_by, reason, opened_at) values ($1, now(), '', $2, now())`,
  held_items: `insert into held_items (containment_id, partner_id, kind, subject, why, made_at, held_at, held_by)
    values ((select id from containments where reason = $2), $1, 'link', $2, '', now(), now(), '')`,
  deposit_addresses: `insert into deposit_addresses (rail, address, index, order_id, partner_id, made_at)
    values ('evm.test', $2, $1, $1, $1, now())`,
};

let fixture: Fixture;
let admin: Client;
let partnerA = 0n;
let partnerB = 0n;
let guarded: string[] = [];

before(async () => {
  fixture = await freshFixture();
  admin = new Client({ connectionString: fixture.adminUrl, options: '-c search_path=cloverleaf' });
  await admin.connect();
  await admin.query(`insert into assets (code, kind, coin, chain, contract, decimals) values
    ('usdc.test', 'crypto', 'usdc', 'test', '0x1', 6), ('inr', 'fiat', 'inr', null, null, 2)`);
  await admin.query(`insert into markets (direction, crypto_asset, fiat_asset, deposit_rail, payout_rail, payment_method,
      min_units, max_units, payout_decimals, price_sources)
    values ('offramp', 'usdc.test', 'inr', 'evm.test', 'bank.test', 'bank', 1, 10, 2, '{}')`);
  const made = await admin.query<{ id: bigint }>(
    `insert into partners (name, created_at) values ('One', now()), ('Two', now()) returning id`,
  );
  [partnerA = 0n, partnerB = 0n] = made.rows.map((row) => row.id);
  for (const statement of Object.values(ROWS)) {
    for (const partner of [partnerA, partnerB]) await admin.query(statement, [partner, String(partner)]);
  }
  await admin.query(
    `insert into accounts (code, kind, asset, side) values ('a:inr', 'a', 'inr', 'debit'), ('b:inr', 'b', 'inr', 'credit')`,
  );
  await admin.query(`insert into entries (id, kind, content, at) values ('e', 'test', '', now())`);
  await admin.query(
    `insert into transfers (entry, line, debit, credit, asset, units, step) values ('e', 1, 1, 2, 'inr', 1, 'post')`,
  );
  guarded = (await protectedTables()).map(({ name }) => name);
});

after(async () => {
  await admin?.end();
  await fixture?.stop();
});

interface Table {
  name: string;
  owned: boolean;
  secured: boolean;
  readable: boolean;
  policies: string[];
}

async function tables(): Promise<Table[]> {
  const { rows } = await admin.query<Table>(
    `select c.relname as name, c.relrowsecurity as secured,
        exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'partner_id') or c.relname = 'partners' as owned,
        has_table_privilege('cloverleaf_partner', c.oid, 'select, insert, update, delete, truncate, references, trigger')
          or has_any_column_privilege('cloverleaf_partner', c.oid, 'select, insert, update, references') as readable,
        coalesce((select array_agg(p.polname::text order by p.polname) from pg_policy p
                   where p.polrelid = c.oid and p.polpermissive), '{}') as policies
      from pg_class c where c.relnamespace = 'cloverleaf'::regnamespace and c.relkind in ('r', 'p', 'f', 'm') order by 1`,
  );
  return rows;
}

const protectedTables = async () =>
  (await tables()).filter(({ secured, name }) => secured && !OF_ITS_ORDERS.includes(name));

/** PostgreSQL's error without permission: a missing right and a violated policy have the same code. */
const refused = (action: Promise<unknown>, what: string) => assert.rejects(action, { code: '42501' }, what);

const partnerColumn = (table: string) => (table === 'partners' ? 'id' : 'partner_id');

/** The rows of a table that a role sees, by partner. */
const owners = async (tx: Tx, table: string) =>
  (await tx.rows<{ partner: bigint | null }>(`select ${partnerColumn(table)} as partner from ${table}`)).map(
    (row) => row.partner,
  );

test("every table with a partner's rows is protected by both policies, or closed to partners", async () => {
  const all = await tables();
  assert.ok(all.length > 25, 'the catalogue lists the tables');
  for (const { name, owned, secured, readable, policies } of all) {
    if (owned && readable) assert.ok(secured, `${name} has rows of partners and no row-level security`);
    if (secured) assert.deepEqual(policies, ['all_rows', 'own_rows'], name);
    if (!secured && readable)
      assert.ok(
        EVERYBODYS.includes(name),
        `${name} is readable by partners, and is not on the list of tables that may be`,
      );
  }
});

test('every protected table takes part in this test', () => {
  const missing = guarded.filter((table) => table !== 'partners' && !(table in ROWS));
  assert.deepEqual(missing, [], 'tables without a row in ROWS');
});

test('a partner who reads everything gets only its own rows', async () => {
  for (const table of guarded) {
    const seen = await fixture.db.asPartner(partnerA, (tx) => owners(tx, table));
    assert.ok(seen.length > 0, `${table}: its own rows are seen`);
    assert.deepEqual([...new Set(seen)], [partnerA], table);
    const all = await fixture.db.asSystem((tx) => owners(tx, table));
    assert.ok(all.includes(partnerA) && all.includes(partnerB), `${table}: workers see all`);
  }
});

test('without a partner named, the partner role sees nothing', async () => {
  const client = new Client({
    connectionString: fixture.serverUrl,
    options: '-c role=cloverleaf_partner -c search_path=cloverleaf',
  });
  await client.connect();
  try {
    for (const setting of [undefined, '']) {
      if (setting !== undefined) await client.query(`select set_config('cloverleaf.partner', $1, false)`, [setting]);
      for (const table of guarded) {
        const { rowCount } = await client.query(`select from ${table}`);
        assert.equal(rowCount, 0, table);
      }
    }
  } finally {
    await client.end();
  }
});

test('a partner named in one transaction is forgotten in the next on the same connection', async () => {
  const client = new Client({
    connectionString: fixture.serverUrl,
    options: '-c role=cloverleaf_partner -c search_path=cloverleaf',
  });
  await client.connect();
  try {
    await client.query(`begin; set local cloverleaf.partner = '${partnerA}'`);
    assert.equal((await client.query('select from customers')).rowCount, 1);
    await client.query('commit');
    assert.equal((await client.query('select from customers')).rowCount, 0);
  } finally {
    await client.end();
  }
});

test('a role’s partner setting ends with the transaction, whether committed or rolled back', async () => {
  const client = new Client({
    connectionString: fixture.serverUrl,
    options: '-c role=cloverleaf_partner -c search_path=cloverleaf',
  });
  await client.connect();
  // One connection, as a pool would give it to the next caller.
  const connection = { send: (batch: Parameters<typeof sendAll>[1]) => sendAll(client, batch), release() {} };
  const { asPartner, readOnlyAsPartner } = pools(
    { connect: async () => connection },
    { connect: async () => connection },
  );
  const sees = async (tx: Tx) => (await tx.rows('select from customers')).length;
  const uses: Record<string, () => Promise<unknown>> = {
    'a commit': () => asPartner(partnerA, sees),
    'a look': () => readOnlyAsPartner(partnerA, sees),
    'a rollback': () =>
      asPartner(partnerA, async (tx) => {
        await sees(tx);
        throw new RollBack();
      }).catch((error: unknown) => assert.ok(error instanceof RollBack)),
    'a statement that fails': () =>
      asPartner(partnerA, (tx) => tx.rows('select 1/0')).catch(({ code }) => assert.equal(code, '22012')),
  };
  try {
    for (const [what, use] of Object.entries(uses)) {
      const seen = await use();
      if (typeof seen === 'number') assert.equal(seen, 1, `${what}: the partner does not see its own row`);
      const { rows } = await client.query(`select current_setting('cloverleaf.partner', true) as partner`);
      assert.ok((rows[0].partner ?? '') === '', `after ${what} the connection still speaks for ${rows[0].partner}`);
      assert.equal((await client.query('select from customers')).rowCount, 0, `after ${what} rows are still seen`);
    }
  } finally {
    await client.end();
  }
});

test("writing another partner's row is refused in every table", async () => {
  for (const [table, statement] of Object.entries(ROWS)) {
    const insert = fixture.db.asPartner(partnerA, (tx) =>
      tx.run(statement.replace(/\$2/g, '($2::text)'), [partnerB, String(partnerB)]),
    );
    await refused(insert, `${table}: insert as another`);
  }
  for (const table of guarded) {
    const column = partnerColumn(table);
    const give = fixture.db.asPartner(partnerA, (tx) => tx.run(`update ${table} set ${column} = $1`, [partnerB]));
    await assert.rejects(
      give,
      (error: { code?: string }) => error.code === '42501' || error.code === '428C9',
      `${table}: give away`,
    );
  }
});

test("changing or deleting everything changes only the partner's own rows", async () => {
  for (const table of guarded) {
    const { rows } = await admin.query<{ name: string }>(
      `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped
          and has_column_privilege('cloverleaf_partner', attrelid, attnum, 'update') limit 1`,
      [table],
    );
    // A column that it may change, if there is one: otherwise the right alone would refuse it.
    const column = rows[0]?.name ?? partnerColumn(table);
    for (const statement of [`update ${table} set ${column} = ${column}`, `delete from ${table}`]) {
      try {
        await fixture.db.asPartner(partnerA, async (tx) => {
          const touched = await tx.run(statement);
          const own = (await owners(tx, table)).length;
          // After a delete no row is left to count; either way there was one row of its own.
          assert.ok(touched <= Math.max(own, 1), statement);
          throw new RollBack();
        });
      } catch (error) {
        const { code } = error as { code?: string };
        assert.ok(
          error instanceof RollBack || code === '42501' || code === '23001' || code === '23503' || code === '428C9',
          `${statement}: ${error}`,
        );
      }
    }
    const all = await fixture.db.asSystem((tx) => owners(tx, table));
    assert.ok(all.includes(partnerB), `${table}: the other partner's row is still there`);
  }
});

class RollBack extends Error {}

test("the server's login has no rights of its own", async () => {
  const client = new Client({ connectionString: fixture.serverUrl });
  await client.connect();
  try {
    const { rows } = await client.query(
      `select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolinherit, rolreplication from pg_roles where rolname = current_user`,
    );
    assert.ok(
      Object.values(rows[0]).every((right) => right === false),
      JSON.stringify(rows[0]),
    );
    const owned = await client.query(
      `select relname from pg_class c join pg_namespace n on n.oid = relnamespace
        where nspname like 'cloverleaf%' and pg_get_userbyid(relowner) in (current_user, 'cloverleaf_partner', 'cloverleaf_system')`,
    );
    assert.deepEqual(owned.rows, [], 'tables owned');
    for (const { name } of await tables()) {
      await refused(client.query(`select from cloverleaf.${name}`), `${name} without a role`);
    }
    await refused(client.query('select from cloverleaf_meta.migrations'), 'the list of migrations');
    await refused(client.query('create table cloverleaf.mine ()'), 'a table of its own');
  } finally {
    await client.end();
  }
});

test('row-level security cannot be switched off', async () => {
  for (const role of ['cloverleaf_partner', 'cloverleaf_system']) {
    const client = new Client({
      connectionString: fixture.serverUrl,
      options: `-c role=${role} -c search_path=cloverleaf`,
    });
    await client.connect();
    try {
      const { rows } = await client.query(
        `select rolsuper, rolbypassrls, rolcanlogin from pg_roles where rolname = $1`,
        [role],
      );
      assert.deepEqual(rows[0], { rolsuper: false, rolbypassrls: false, rolcanlogin: false });
      await client.query('set row_security = off');
      await refused(client.query('select from customers'), `${role} reads with row_security off`);
      for (const statement of [
        'alter table customers disable row level security',
        'drop policy own_rows on customers',
      ]) {
        await refused(client.query(statement), `${role}: ${statement}`);
      }
    } finally {
      await client.end();
    }
  }
});

test('nothing in the schema runs with the rights of its owner', async () => {
  const definers = await admin.query(
    `select proname from pg_proc where pronamespace = 'cloverleaf'::regnamespace and prosecdef`,
  );
  assert.deepEqual(definers.rows, [], 'security definer functions');
  const views = await admin.query(
    `select relname from pg_class where relnamespace = 'cloverleaf'::regnamespace and relkind in ('v', 'm')
        and not coalesce('security_invoker=true' = any(reloptions), false)`,
  );
  assert.deepEqual(views.rows, [], 'views that see past the policies');
});

test('entries and transfers are neither changed nor deleted, by either role or the owner', async () => {
  const changes = ['entries set kind = kind', 'transfers set units = units'].map((change) => `update ${change}`);
  const deletions = ['entries', 'transfers'].flatMap((table) => [`delete from ${table}`, `truncate ${table} cascade`]);
  for (const statement of [...changes, ...deletions]) {
    await refused(
      fixture.db.asPartner(partnerA, (tx) => tx.run(statement)),
      `partner: ${statement}`,
    );
    await refused(
      fixture.db.asSystem((tx) => tx.run(statement)),
      `system: ${statement}`,
    );
    await assert.rejects(admin.query(statement), { code: '23001' }, `owner: ${statement}`);
  }
});
