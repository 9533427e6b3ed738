/**
 * Write access in the database, with reasons: every right of the two roles, read from PostgreSQL's catalogue and compared with
 * the lists below. A right that is not listed fails, and so does a line that no longer holds.
 *
 * Requests of partners and hosted pages run as cloverleaf_partner, with the columns that their statements need. Workers, rails
 * and operators run as cloverleaf_system.
 *
 * Long because every table is one row of its lists.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import type { Tx } from '../src/base/db.ts';
import { enqueueAt } from '../src/base/jobs.ts';
import { type Fixture, freshFixture } from './support/fixture.ts';

/** Table → the columns that a partner's request may write, and why. */
const PARTNER: Readonly<Record<string, readonly [rights: string, why: string]>> = {
  checkouts: [
    'insert (id, partner_id, begun_at); update (phones, quote_id, order_id, customer_id, phones_named)',
    'a checkout link is begun, shows a price, and ends in one order',
  ],
  customer_destinations: [
    `insert (id, partner_id, customer_id, fiat_account_id, chain, address, created_at, usable_at, confirmed_at);
     update (confirmed_at)`,
    'a program adds a destination, and its customer confirms it; from when on it is usable does not change',
  ],
  names_to_compare: ['insert; update (revision)', 'triggers say that names must be compared'],
  customer_keys: [
    'insert (customer_id, partner_id, wrapped, created_at)',
    'the key of a customer’s files is made with the first of them',
  ],
  customer_details: [
    `insert (customer_id, partner_id, details, given_at, identity_index);
     update (details, version, outcome, given_at, begun_with, polls, identity_index, read_names, read_for, verified_names,
       names_revision)`,
    'a customer fills in the verification form, and the verifier answers',
  ],
  compared_documents: [
    'insert (partner_id, customer_id, kind, value, value_index, created_at)',
    'files of documents are sent, to be found under another customer',
  ],
  customers: [
    `insert (id, partner_id, client_customer_id, kind, phone, phone_index, email, country, created_at, updated_at, country_by);
     update (phone, phone_index, email, level, verification, previous_level, failed_reason, country, logged_in_at, updated_at,
       login_epoch, phone_changed_at, country_by, proof_tries, proof_tried_at, document_lapsed_at, id_told_at)`,
    'customers are enrolled, change their contact, log in, and are verified on the hosted page; blocking is not a request',
  ],
  deposit_addresses: [
    'insert (rail, address, index, order_id, partner_id, made_at)',
    'an order that is created has its address watched',
  ],
  document_expiries: [
    `insert (customer_id, partner_id, version, expires_on, items);
     update (expires_on, accepted_at, ended_at)`,
    'a customer gives a document with its last day, and the verifier accepts it; the rest is a job’s',
  ],
  issued_targets: ['delete; update (number)', 'an order takes a free target, behind a lock on its row'],
  event_feed: ['insert (event_id, partner_id)', 'a trigger adds the row with each event'],
  events: [
    'insert (partner_id, type, subject, subject_seq, body, at)',
    'what a request does is told: order created, customer logged in or verified, a test event',
  ],
  hosted_drafts: [
    'insert (customer_id, partner_id, answers, saved_at); update (answers, saved_at)',
    'a customer saves what it has filled in, and sends it',
  ],
  fiat_accounts: [
    'insert (id, partner_id, customer_id, fiat, details, details_index, hint, created_at, number_index)',
    'accounts are added; none is changed',
  ],
  idempotency_records: [
    'insert (partner_id, path, key, body, reply, kept_at)',
    'the reply to an idempotent request is kept with what it did',
  ],
  login_sends: [
    'delete; insert (partner_id, customer_id, session, link, network, is_open, is_sent, code, sent_at); update (code, tries, used_at, failed_at)',
    'codes are sent, tried, used and forgotten on the hosted pages',
  ],
  order_counts: [
    'insert (partner_id, customer_id, direction, count); update (count)',
    'an order that is created takes its number among its customer’s',
  ],
  order_history: [
    'insert (order_id, version, partner_id, state_from, event, state_to, facts, at)',
    'the first row of an order’s history',
  ],
  order_lists: [
    'insert (partner_id, direction, fiat_asset, count); update (count)',
    'a trigger gives an order its places in the lists',
  ],
  orders: [
    `insert (id, partner_id, customer_id, direction, customer_seq, market_id, quote_id, state, deposit_asset, deposit_units,
       payout_asset, payout_units, gross_units, fiat_asset, fee_operator, fee_partner, fee_rail, fee_chain, rate_num, rate_den,
       rate_locked_until, deposit_rail, deposit_target, deposit_index, payout_rail, payment_method, fiat_account_id,
       payout_address, merchant_reference, expires_at, created_at, updated_at, policy, follows, refund_address,
       refund_account_id, fee_tax);
     update (payer_reference, updated_at)`,
    'orders are created, in state created by policy, and the customer’s bank reference is noted; everything else is the system’s',
  ],
  partner_activity: [
    'insert (partner_id, api_key, link, action, subject, facts, at, member_id)',
    'each request that changes something is recorded with its key',
  ],
  quotes: [
    `insert (id, partner_id, market_id, deposit_units, payout_units, gross_units, rate_num, rate_den, fee_operator, fee_partner,
       fee_rail, fee_chain, prices, created_at, expires_at, order_id, fiat_asset, fiat_units, fee_tax, fixed_side);
     update (order_id)`,
    'quotes are made, and taken by an order',
  ],
  request_log: [
    `insert (partner_id, request_id, client_request_id, api_key, operation, method, path, status, reason, took_ms, replayed,
       version, idempotency_key, request, reply, at, why, protocol)`,
    'what a partner asked is noted for it',
  ],
  submission_files: [
    `insert (id, partner_id, customer_id, submission_id, slot, type, bytes, digest, created_at,
     information_request_id);
     update (replaced_at)`,
    'a program sends files, and others in their place',
  ],
  submissions: [
    `insert (id, partner_id, customer_id, kind, form_id, state, answers, reasons, details_version, created_at, updated_at,
     level);
     update (form_id, state, answers, reasons, details_version, updated_at)`,
    'a program submits a customer in parts, and the sandbox’s partner drives it',
  ],
  verifications: [
    'insert (partner_id, customer_id, verifier, outcome, level, at)',
    'what the verifier found on the hosted page is recorded',
  ],
  webhook_deliveries: [
    'insert (endpoint_id, event_id, partner_id, subject, subject_seq, since); update (state, since, ended_at)',
    'events are replayed; what waits for a removed endpoint is dropped',
  ],
  webhook_endpoints: [
    `insert (id, partner_id, url, format, filter, secret, api_key, is_wire, created_at, updated_at, made_by_key, payload_form);
     update (url, format, filter, secret, old_secret, old_until, api_key, enabled, failures, paused_until, updated_at, removed_at,
       failing_since, switched_off_at, payload_form)`,
    'a partner adds, changes, rotates and removes its endpoints',
  ],
  webhook_ordering_keys: [
    'insert (endpoint_id, subject, partner_id, due_at); update (due_at, tries)',
    'a changed endpoint and a replay are tried at once',
  ],
  jobs: [
    'insert (kind, subject, ordering_key, due_at); update (due_at, enqueued, attempts, dead_at)',
    'the deadline of an order that is created, and the check of a customer; by policy these alone',
  ],
};

const TERMS = 'terms of trade, changed by operators and seeds';
const RAIL = 'what a rail has read and sent';
const OUTSIDE = 'reconciliation notes what chain and bank show';
const MANUAL = 'files of a manual bank';
const REQUESTS = 'written by requests; workers and operators go on with it';
const ONCE = 'append-only';

const SYSTEM: Readonly<Record<string, readonly [rights: string, why: string]>> = {
  accounts: ['insert, update', 'balances of the ledger'],
  alone_amounts: ['insert', ONCE],
  api_keys: ['insert, update', 'operators make, rotate and revoke keys; use is noted'],
  approval_uses: ['insert', ONCE],
  approvals: ['insert; update (entry, reason)', 'inserted once; an erasure takes out indexes and what operators typed'],
  assets: ['insert, update', TERMS],
  audit: ['insert; update (reason, before, after)', 'inserted once; an erasure takes out what operators typed'],
  audit_reencrypted: ['insert; update (content, proof)', 'an erasure proves what stands for a sealed row'],
  alert_messages: ['insert, update', 'written before it is sent, then sent or failed'],
  alert_rules: ['insert, update', 'operators set and remove who is told'],
  alert_told: ['insert', ONCE],
  audit_seals: ['insert', ONCE],
  bank_cursors: ['insert, update', RAIL],
  bank_lines: ['insert, update', RAIL],
  bank_odd_lines: ['insert, update', RAIL],
  booked_movements: ['insert, update', OUTSIDE],
  bulk_orders: ['insert, update', 'orders are cancelled, requoted or compensated one after the other'],
  case_actions: ['insert; update (note)', 'inserted once; an erasure overwrites the note'],
  cases: ['insert, update', 'cases are opened, assigned and closed'],
  chain_blocks: ['insert, update, delete', 'blocks above finality; older ones are pruned'],
  chain_credits: ['insert, update, delete', `${RAIL}; a reorg takes what was not reported`],
  chain_deposits: ['insert, update', RAIL],
  chain_nonces: ['insert, update', RAIL],
  chain_slots: ['insert', 'what a send uses up; it goes with its reservation'],
  chain_sends: ['insert, update, delete', 'what rails send; a reservation that no signer was asked for is given up'],
  chains: ['insert, update', RAIL],
  checkouts: ['insert, update', REQUESTS],
  compared_documents: [
    'delete; insert (partner_id, customer_id, kind, value, value_index, created_at)',
    'a verifier reads a number; erasing a customer',
  ],
  confirmation_policies: ['insert, update, delete', TERMS],
  confirmed_restores: ['insert', ONCE],
  containments: ['insert, update', 'operators hold what a leaked key made, and end that'],
  customer_destinations: ['delete', 'erasing a customer'],
  customer_changes: ['insert', 'the journal is summed up to where all is sealed'],
  customer_days: ['insert, update', 'the journal is summed up to where all is sealed'],
  customer_details: ['insert, update, delete', 'as requests have it; erasing a customer'],
  customer_keys: ['delete', 'erasing a customer'],
  customer_limits: [
    'insert (fiat_asset, direction, market_id, level, period, version, max_units, set_by, why, set_at)',
    'a limit is set, changed and taken away by another version',
  ],
  customers: ['insert, update', `${REQUESTS}; blocked by law or for a debt`],
  daily_totals: ['insert, update', 'each seal adds to the totals of its days'],
  daily_revenue: ['insert, update', 'each seal adds to the revenue of its days'],
  journal_progress: ['update', 'each seal may note up to where all is sealed'],
  daily_totals_progress: ['update', 'each seal adds to the totals of its days'],
  decisions: ['insert; update (inputs)', 'inserted once; an erasure takes out indexes of accounts'],
  denied_destinations: ['insert, delete', 'deny lists are replaced whole'],
  deny_lists: ['insert, update', 'deny lists are replaced whole'],
  deposit_addresses: ['insert', `${REQUESTS}; an order made of late money has an address too`],
  deposit_erasures: ['insert', 'texts about money of nobody were erased after the retention time'],
  deposits: ['insert, update', 'money that came in'],
  dust_thresholds: ['insert, update, delete', TERMS],
  entries: ['insert; update (facts)', 'inserted once; an erasure takes out what operators typed'],
  erasure_requests: [
    'insert (customer_id, asked_at, people); update (looked_at, waits_for, ended_at, outcome)',
    'operators ask for erasures that wait, and a job looks at them',
  ],
  erasures: ['insert; update (erased_at, backups_end_at, erased)', 'erasing a customer'],
  event_feed: ['insert, update', 'a position is given after the commit'],
  issued_targets: ['insert, delete; update (number)', 'free targets come and are taken, behind a lock on the row'],
  target_issuers: ['insert, update', RAIL],
  events: ['insert; update (body)', 'what happened is told; an erasure takes personal texts out'],
  exposure_caps: ['insert, update, delete', TERMS],
  case_attachments: [
    'insert; update (label, wrapped, removed_at)',
    'operators attach files to cases and remove them; an erasure empties key and label',
  ],
  treasury_addresses: [
    'insert; update (label, registered_by, registered_at, usable_at, ended_at, ended_by)',
    'operators register addresses outside the server, end them and register them again',
  ],
  treasury_transfers: ['insert; update (state, why, reference, ended_at)', 'transfers to those addresses'],
  fee_schedules: ['insert, update, delete', TERMS],
  fiat_accounts: ['insert; update (details, details_index, hint, number_index)', 'a sender; erasing a customer'],
  funding_sources: ['insert, update, delete', TERMS],
  found_movements: ['insert, update, delete', 'what our wallets sent and the books do not know, until it is matched'],
  gas_prices: ['insert, update', 'what a chain charges now'],
  dormancies: ['insert, update', 'unclaimed money is announced, becomes dormant and is woken'],
  dormancy_policy: ['insert, update, delete', TERMS],
  held_deposits: ['insert, delete', 'an operator holds a deposit and releases it'],
  held_items: ['insert, update', 'what a containment holds is released or rejected'],
  holds: ['insert, update', 'a hold is settled or voided'],
  installation: ['insert, update', 'a server declares how many operators there are'],
  information_requests: [
    'insert; update (state, question, answer, ended_at)',
    'operators ask about a customer; the answer of its partner is written with the case about it; an erasure empties both',
  ],
  idempotency_records: ['insert, delete; update (body, reply)', 'old replies are forgotten; an erasure empties them'],
  legal_holds: [
    'insert (customer_id, placed_at, placed_by, reason); update (reason, lifted_at, lifted_by, lifted_why)',
    'operators place and lift legal holds; an erasure takes out what they typed',
  ],
  login_sends: ['insert, update, delete', 'a change of phone ends the codes on their way'],
  key_rotations: ['insert (old_key, new_key)', 'a server that starts with two master keys notes it'],
  manual_batches: ['insert; update (withdrawn_at, withdrawn_by, withdrawn_why)', MANUAL],
  manual_imports: ['insert', MANUAL],
  manual_lines: ['insert', MANUAL],
  manual_payouts: ['insert; update (batch_id, rejected_at, rejected_why)', MANUAL],
  manual_statements: ['insert', MANUAL],
  market_changes: ['insert', ONCE],
  market_limits: ['insert, update, delete', TERMS],
  markets: ['insert, update', TERMS],
  member_challenges: ['insert, delete', 'a challenge is used once, or forgotten'],
  member_codes: [
    'insert, delete; update (held_at)',
    'a code of an invitation or of recovery is used once, replaced, held or forgotten',
  ],
  member_passkeys: ['insert, update', 'passkeys of teams are enrolled, counted and revoked'],
  member_sessions: ['insert, update, delete', 'sessions of teams begin, are seen, end and are forgotten'],
  monitoring_cursor: ['insert; update (seen_at, deposit_id, paid_at, payout_id)', 'up to where orders were looked at'],
  monitoring_findings: ['insert (rule_id, order_id, customer_id, saw, found_at)', 'what rules found'],
  monitoring_rules: [
    'insert (name, version, kind, is_on, fiat_asset, worth_units, count, days, within_bps, set_by, why, set_at)',
    'a rule is changed and switched off by another version',
  ],
  native_balances: ['insert, update', RAIL],
  operator_challenges: ['insert, delete', 'a challenge is used once, or forgotten'],
  operator_codes: ['insert, delete', 'a recovery code is used once, or replaced'],
  operator_identities: ['insert, update', 'accounts for single sign-on are bound and ended'],
  operator_passkeys: ['insert, update', 'passkeys are enrolled, counted and revoked'],
  operator_sessions: ['insert, update, delete', 'sessions begin, are seen, end and are forgotten'],
  operator_sso_logins: ['insert, delete', 'a login at the provider is used once, or forgotten'],
  operator_tokens: ['insert, update', 'tokens are made, used and revoked'],
  operator_views: [
    'insert, delete; update (search, saved_at)',
    'operators save views of lists, replace and delete them',
  ],
  operators: ['insert, update', 'operators are added, change role and are disabled'],
  order_counts: ['insert, update', REQUESTS],
  order_history: ['insert; update (facts)', 'inserted once; an erasure takes out what operators typed'],
  order_lists: ['insert, update', REQUESTS],
  orders: ['insert, update', 'the machine of orders'],
  outside_movements: ['insert, update', OUTSIDE],
  own_transfers: ['insert, update', 'sweeps and their gas'],
  partner_activity: ['insert', ONCE],
  partner_branding: ['insert, update, delete', 'a team sets how its pages look, and operators reset it'],
  partner_members: ['insert, update', 'people of a team are invited, join, change role and are removed'],
  partners: ['insert, update', 'operators make, change, suspend and resume partners'],
  payouts: ['insert, update', 'money that goes out'],
  planned_changes: [
    'insert; update (state, ended_at, ended_by, failed_why)',
    'a change is decided, and takes effect, fails or is withdrawn once',
  ],
  people_rules: ['insert, update, delete', 'how many people an action takes'],
  policies: ['insert, update, delete', TERMS],
  price_levels: ['insert, update', 'the price breaker keeps what it has accepted, and whether it halts'],
  price_sources: ['insert, update', 'how each source of prices is doing'],
  prices: ['insert, update', 'the newest price of each source'],
  proposal_approvals: ['insert; update (reason)', 'inserted once; an erasure takes out what operators typed'],
  proposals: ['insert, update', 'proposed, then decided'],
  quotes: ['insert, update, delete', 'expired quotes are purged'],
  reconcile_balances: ['insert, update', OUTSIDE],
  reconcile_items: ['insert, update', OUTSIDE],
  reconciliation_reports: ['insert', ONCE],
  reconcile_rails: ['insert, update', OUTSIDE],
  reconcile_sums: ['insert, update', OUTSIDE],
  refunds: ['insert, update', 'what goes back'],
  request_log: [
    'delete; update (client_request_id, idempotency_key)',
    'lines older than thirty days are deleted; an erasure takes out what the caller chose',
  ],
  requirement_forms: [
    'insert (kind, fiat, country, level, version, form, needs_document, effective_at, set_by, set_at, partner_id)',
    ONCE,
  ],
  return_links: ['insert, update', 'an operator asks a customer where coins go back to, and the customer confirms'],
  released_nonces: ['insert, update', 'nonces of reservations that were given up, until a send takes them'],
  names_to_compare: ['insert, delete; update (revision)', 'names that change must be compared, until they are'],
  name_screenings: ['insert, update', 'what names were compared with, until names, rules or findings change'],
  address_hits: [
    'insert; update (state, people, reason, decided_at)',
    'addresses that are too risky are found, and people decide about them',
  ],
  address_risks: ['insert', ONCE],
  travel_records: ['insert; update (ivms)', 'the data of a transfer is written once; an erasure empties it'],
  document_expiries: [
    'insert, update, delete',
    'a job asks for a new document and ends trading after the last day, and an erasure deletes the row',
  ],
  hosted_drafts: ['update (answers)', 'an erasure empties it, and a month'],
  travel_exchanges: [
    'insert; update (state, message, peer, reason, token, tx, attempts, failure, answered_at, told_at, ended_at, outcome)',
    'what providers ask and answer about a transfer; an erasure empties it',
  ],
  travel_providers: ['insert (host, name, version, is_on, set_by, why, set_at)', 'changed by another version'],
  travel_rules: [
    'insert (jurisdiction, fiat_asset, version, is_on, threshold_units, proof_units, deadline_s, policy, set_by, why, set_at, exchange)',
    'a rule is changed and switched off by another version',
  ],
  travel_waits: ['insert; update (refused_at, refused_by)', 'at the deadline an order may be refused'],
  travel_wallets: [
    'insert; update (kind, owner, details, proven_at, declared_at)',
    'a partner says of a wallet whose it is, and proves it; an erasure empties the names',
  ],
  sanctions_entries: ['insert, update', 'an entry ends with the version that no longer has it'],
  sanctions_hits: ['insert, update', 'hits are found, and people decide about them'],
  sanctions_lists: ['insert, update', 'the newest version of each list'],
  sanctions_shrunken: ['insert, update, delete', 'a version that waits for people, until one is stored'],
  sanctions_versions: ['insert', ONCE],
  screening_extensions: ['insert', ONCE],
  screenings: ['insert, update', 'the newest screening result of each destination'],
  sealed_audit: ['insert', ONCE],
  sealed_entries: ['insert', ONCE],
  seals: ['insert', ONCE],
  servers: ['insert, update, delete', 'each server says that it is there'],
  short_refunds: ['insert, delete', 'refunds that wait for funds, as long as their jobs exist'],
  shortage_passes: ['insert, update, delete', 'an operator lets smaller orders pass, for a time'],
  submission_files: ['delete', 'erasing a customer'],
  submissions: ['update', REQUESTS],
  kill_switch_layers: ['insert', 'who laid a kill switch; its rows go with it'],
  kill_switches: ['insert, delete', 'switched off and on again'],
  sweep_minimums: ['insert, update, delete', TERMS],
  transfers: ['insert', ONCE],
  treasury_outside: ['insert, update', 'what chain and bank say is in a wallet'],
  treasury_thresholds: ['insert, update, delete', TERMS],
  verifications: ['insert', ONCE],
  webhook_attempts: ['insert, update, delete', 'attempts are purged after a month'],
  webhook_deliveries: ['insert, update, delete', 'deliveries are purged after a month'],
  webhook_endpoints: ['insert, update', 'failures are counted, dead endpoints switched off'],
  webhook_ordering_keys: ['insert, update, delete', 'an ordering_key is there while anything waits in it'],
  jobs: ['insert, update, delete', 'due work is claimed and done'],
  write_probe: ['insert, truncate', 'readiness proves that a write commits'],
};

const SEQUENCES: Readonly<Record<string, readonly string[]>> = {
  cloverleaf_partner: ['deposit_indexes usage'],
  cloverleaf_system: [
    'deposit_indexes select',
    'deposit_indexes update',
    'deposit_indexes usage',
    'job_holders usage',
    'manual_batch_ids usage',
  ],
};

let fixture: Fixture;
let admin: Client;

before(async () => {
  fixture = await freshFixture();
  admin = new Client({ connectionString: fixture.adminUrl, options: '-c search_path=cloverleaf' });
  await admin.connect();
});
after(async () => {
  await admin?.end();
  await fixture?.stop();
});

const plain = (rights: string): string => rights.replaceAll(/\s+/g, ' ');

/** The catalogue's write rights of a role, in the words of the lists; granted to it or to everyone. */
async function rightsOf(role: string): Promise<Record<string, string>> {
  const { rows } = await admin.query<{ name: string; whole: string[]; columns: { right: string; names: string }[] }>(
    `select case n.nspname when 'cloverleaf' then '' else n.nspname || '.' end || c.relname as name,
        array(select p from unnest(array['insert', 'update', 'delete', 'truncate', 'references', 'trigger']) p
               where has_table_privilege($1, c.oid, p)) as whole,
        (select coalesce(json_agg(json_build_object('right', p, 'names', names)), '[]')
           from (select p, string_agg(a.attname, ', ' order by a.attnum) as names
                   from unnest(array['insert', 'update', 'references']) p, pg_attribute a
                  where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
                    and not has_table_privilege($1, c.oid, p) and has_column_privilege($1, c.oid, a.attnum, p)
                  group by p order by p) as by_column) as columns
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname like 'cloverleaf%' and c.relkind in ('r', 'p', 'v', 'm', 'f') order by 1`,
    [role],
  );
  return Object.fromEntries(
    rows
      .map(({ name, whole, columns }) => [
        name,
        [
          ...(whole.length > 0 ? [whole.join(', ')] : []),
          ...columns.map(({ right, names }) => `${right} (${names})`),
        ].join('; '),
      ])
      .filter(([, rights]) => rights !== ''),
  );
}

for (const [role, listed] of Object.entries({ cloverleaf_partner: PARTNER, cloverleaf_system: SYSTEM })) {
  test(`${role} may write only the listed columns`, async () => {
    const expected = Object.fromEntries(Object.entries(listed).map(([table, [rights]]) => [table, plain(rights)]));
    assert.deepEqual(await rightsOf(role), expected);
    for (const [table, [, why]] of Object.entries(listed)) assert.ok(why.length > 5, `${table} has no reason`);
  });

  test(`${role}: sequences, schemas, databases and functions`, async () => {
    const { rows: sequences } = await admin.query<{ right: string }>(
      `select c.relname || ' ' || p as right from pg_class c, unnest(array['usage', 'select', 'update']) p
        where c.relkind = 'S' and c.relnamespace::regnamespace::text like 'cloverleaf%' and has_sequence_privilege($1, c.oid, p)
        order by 1`,
      [role],
    );
    assert.deepEqual(
      sequences.map(({ right }) => right),
      SEQUENCES[role],
    );
    const { rows: schemas } = await admin.query(
      `select nspname from pg_namespace where has_schema_privilege($1, oid, 'create') and nspname not like 'pg_temp%'`,
      [role],
    );
    assert.deepEqual(schemas, [], 'it may create objects in these schemas');
    const { rows: memberships } = await admin.query(
      `select r.rolname from pg_auth_members m join pg_roles r on r.oid = m.roleid where m.member = $1::regrole`,
      [role],
    );
    assert.deepEqual(memberships, [], 'it is a member of these roles');
  });
}

test('the comparison finds a right that is granted to a column, a table, or everyone', async () => {
  const before = await rightsOf('cloverleaf_partner');
  for (const [grant, table, seen] of [
    ['update (state) on orders to cloverleaf_partner', 'orders', 'update (state,'],
    ['delete on orders to cloverleaf_partner', 'orders', 'delete;'],
    ['update on payouts to public', 'payouts', 'update'],
    ['insert on cloverleaf_meta.migrations to cloverleaf_partner', 'cloverleaf_meta.migrations', 'insert'],
  ] as const) {
    await admin.query('begin');
    await admin.query(`grant ${grant}`);
    const rights = (await rightsOf('cloverleaf_partner'))[table] ?? '';
    await admin.query('rollback');
    assert.notEqual(rights, before[table], `${grant}: the rights of ${table} look the same`);
    assert.ok(rights.includes(seen), `${grant}: ${rights}`);
  }
});

describe("a partner's request", () => {
  const denied = (body: Parameters<Fixture['db']['asPartner']>[1], partnerId: bigint, what: string) =>
    assert.rejects(fixture.db.asPartner(partnerId, body), { code: '42501' }, what);

  test('changes nothing of its order except the reference that the customer states', async () => {
    const { rows } = await admin.query<{ attname: string }>(
      `select attname from pg_attribute where attrelid = 'orders'::regclass and attnum > 0 and not attisdropped
          and attname not in ('payer_reference', 'updated_at')`,
    );
    assert.ok(rows.length > 40, 'the columns are not listed');
    for (const { attname } of rows)
      await denied(
        (tx) => tx.run(`update orders set ${attname} = ${attname}`),
        1n,
        `an order's ${attname} may be changed`,
      );
  });

  test('creates orders in no other state than created, and sets the alarm of its own orders and no other', async () => {
    const { partnerId, order } = await newPartner();
    const other = await newPartner();
    await denied((tx) => order(tx, 'paying_out'), partnerId, 'an order was created in paying_out');
    const id = await fixture.db.asPartner(partnerId, (tx) => order(tx, 'created'));
    const foreign = await fixture.db.asPartner(other.partnerId, (tx) => other.order(tx, 'created'));
    const dueAt = fixture.clock.now();
    const alarm = (kind: string, subject: string) => ({ kind, subject, dueAt });
    for (const _ of ['set', 'set again'])
      await fixture.db.asPartner(partnerId, (tx) => enqueueAt(tx, alarm('expire_order', String(id))));
    await fixture.db.asPartner(other.partnerId, (tx) => enqueueAt(tx, alarm('expire_order', String(foreign))));
    await fixture.db.asSystem((tx) => enqueueAt(tx, alarm('send_payout', 'p')));
    for (const [kind, subject] of [
      ['expire_order', String(foreign)],
      ['expire_order', '1'],
      ['expire_order', 'all'],
      ['send_payout', 'p'],
      ['send_payout', String(id)],
      ['screen_order', String(id)],
    ] as const)
      await denied((tx) => enqueueAt(tx, alarm(kind, subject)), partnerId, `${kind} ${subject} was enqueued`);
    const seen = await fixture.db.asPartner(partnerId, (tx) => tx.rows('select kind, subject from jobs'));
    assert.deepEqual(seen, [{ kind: 'expire_order', subject: String(id) }]);
    const touched = await fixture.db.asPartner(partnerId, (tx) => tx.run('update jobs set due_at = due_at'));
    assert.equal(touched, 1, 'alarms of others were moved');
    await denied((tx) => tx.run('update jobs set lease = null'), partnerId, 'a lease was taken away');
    await denied((tx) => tx.run('delete from jobs'), partnerId, 'work was deleted');
  });

  test('enqueues the check of its own customers and no other', async () => {
    const { partnerId, order } = await newPartner();
    const other = await newPartner();
    await fixture.db.asPartner(partnerId, (tx) => order(tx, 'created'));
    const customers = await fixture.db.asSystem((tx) =>
      tx.rows<{ id: string; partnerId: bigint }>('select id, partner_id from customers'),
    );
    const of = (id: bigint) => customers.find(({ partnerId }) => partnerId === id)?.id ?? '';
    const alarm = (subject: string) => ({ kind: 'check_verification', subject, dueAt: fixture.clock.now() });
    await fixture.db.asPartner(partnerId, (tx) => enqueueAt(tx, alarm(of(partnerId))));
    for (const foreign of [of(other.partnerId), 'all', ''])
      await denied((tx) => enqueueAt(tx, alarm(foreign)), partnerId, `a check of ${foreign} was enqueued`);
  });
});

let made = 0;

/** A partner with a customer, and a function that creates an order like its request. */
async function newPartner() {
  made += 1;
  await admin.query(`insert into assets (code, kind, coin, chain, contract, decimals) values
    ('usdc.test', 'crypto', 'usdc', 'test', '0x1', 6), ('inr', 'fiat', 'inr', null, null, 2) on conflict do nothing`);
  await admin.query(`insert into markets (direction, crypto_asset, fiat_asset, deposit_rail, payout_rail, payment_method,
      min_units, max_units, payout_decimals, price_sources)
    values ('offramp', 'usdc.test', 'inr', 'evm.test', 'bank.test', 'bank', 1, 10, 2, '{}') on conflict do nothing`);
  const { rows } = await admin.query<{ id: string }>(
    'insert into partners (name, created_at) values ($1, now()) returning id',
    [`Partner ${made}`],
  );
  const partnerId = BigInt(rows[0]?.id ?? 0);
  await admin.query(
    `insert into customers (id, partner_id, kind, created_at, updated_at) values ('c' || $1::text, $1::bigint, 'INDIVIDUAL', now(), now())`,
    [partnerId],
  );
  let orders = 0;
  const order = async (tx: Tx, state: string): Promise<bigint> => {
    orders += 1;
    const id = partnerId * 1_000n + BigInt(orders);
    await tx.run(
      `insert into orders (id, partner_id, customer_id, direction, customer_seq, market_id, state, deposit_asset, deposit_units,
         payout_asset, payout_units, gross_units, fiat_asset, fee_operator, fee_partner, fee_rail, fee_chain, rate_num, rate_den,
         rate_locked_until, deposit_rail, deposit_target, payout_rail, payment_method, expires_at, created_at, updated_at)
       select $1::bigint, $2::bigint, 'c' || $2::bigint::text, 'offramp', $3::bigint, id, $4::text, crypto_asset, 1, 'inr', 1, 1,
         'inr', 0, 0, 0, 0, 1, 1, now(), 'evm.test', $1::bigint::text, 'bank.test', 'bank', now(), now(), now() from markets`,
      [id, partnerId, orders, state],
    );
    return id;
  };
  return { partnerId, order };
}
