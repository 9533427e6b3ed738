/**
 * The export and the erasure of a customer reach every table that refers to one. A new table, or a new encrypted column, fails here
 * until the export or the erasure has it, or the lists below say why not.
 *
 * What they reach is seen in the statements that they send for a customer who has a row of each kind that they go through.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openFolder } from '../../src/base/blobs.ts';
import type { Database, Tx } from '../../src/base/db.ts';
import { openErasureList } from '../../src/base/erasurelist.ts';
import { encryptTyped } from '../../src/base/typed.ts';
import { requestsErasing } from '../../src/composition/erasing.ts';
import * as customers from '../../src/customers/index.ts';
import { erase, exportCustomer } from '../../src/erasure/index.ts';
import { PARTS } from '../../src/rotation/parts.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../protocols/whitelabel/environment.ts';
import { jpeg } from '../support/pictures.ts';

const OF_OPERATORS = 'what operators did and typed';
const BOOKS = 'the books: amounts and ids, which the order, its deposits and payouts show';
const IDS = 'ids and times only';
const OF_PARTNERS = 'of a partner, not of a person';
const FILES = 'files of a bank without an API are records of the books';

/** Tables and columns that are not in the export, each with the reason. */
const NOT_EXPORTED: Readonly<Record<string, string>> = {
  accounts: BOOKS,
  address_hits: 'a hit is not disclosed',
  alert_messages: 'numbers and kinds of cases, for operators',
  alert_rules: OF_OPERATORS,
  alert_told: IDS,
  alone_amounts: OF_OPERATORS,
  api_keys: OF_PARTNERS,
  approval_uses: OF_OPERATORS,
  approvals: OF_OPERATORS,
  audit: OF_OPERATORS,
  bank_lines: 'a payer may be another person',
  bank_odd_lines: 'a payer may be another person',
  case_actions: OF_OPERATORS,
  case_attachments: 'files that operators attach to cases',
  checkouts: 'ids, and hashes of numbers that were entered through a link',
  customer_changes: BOOKS,
  customer_days: BOOKS,
  customer_keys: 'a key, without data',
  decisions: 'outcomes of screening, and the verifier’s own words: they may tell of a suspicion',
  deposit_addresses: 'the address is the target of the deposit',
  deposit_erasures: 'of money of nobody',
  dormancies: 'the deposit and its cases say so',
  entries: BOOKS,
  erasure_requests: OF_OPERATORS,
  held_deposits: 'may tell of a suspicion',
  held_items: 'what a leaked key of a partner has made',
  idempotency_records: 'replies to a partner’s program, of the same data, for a day',
  jobs: 'due work, by ids',
  kill_switch_layers: OF_OPERATORS,
  kill_switches: OF_OPERATORS,
  legal_holds: 'may tell of an investigation',
  manual_batches: FILES,
  manual_lines: FILES,
  manual_payouts: FILES,
  monitoring_cursor: IDS,
  monitoring_findings: 'a finding is not disclosed',
  names_to_compare: IDS,
  order_counts: 'a number of orders',
  order_history: 'steps of the order, with what operators typed',
  partner_activity: 'requests of a partner’s keys, by ids and addresses on chains',
  planned_changes: 'terms, and no customer’s',
  proposal_approvals: OF_OPERATORS,
  proposals: OF_OPERATORS,
  quotes: 'the order has the amounts that were agreed',
  refunds: 'its payout is in it, and the order has its destination',
  request_log: 'requests of a partner’s program, for thirty days, without personal data',
  return_links: 'the refund’s payout has the address that was confirmed',
  sanctions_hits: 'a hit is not disclosed',
  short_refunds: IDS,
  travel_waits: IDS,
  webhook_attempts: OF_PARTNERS,
  webhook_deliveries: IDS,
  webhook_endpoints: OF_PARTNERS,
  webhook_ordering_keys: IDS,
};

/** Tables and columns that an erasure does not change, each with the reason. */
const NOT_ERASED: Readonly<Record<string, string>> = {
  accounts: BOOKS,
  alert_messages: 'numbers and kinds of cases',
  alert_rules: OF_OPERATORS,
  alert_told: IDS,
  alone_amounts: 'amounts that an operator approved, by ids',
  api_keys: OF_PARTNERS,
  approval_uses: IDS,
  'bank_lines.payer_index': 'a trigger erases it with the details',
  'bank_lines.text_index': 'a trigger erases it with the details',
  bank_odd_lines: 'lines that no deposit and no payout is known of',
  customer_changes: BOOKS,
  customer_days: BOOKS,
  deposit_addresses: 'addresses on chains',
  deposit_erasures: IDS,
  erasure_requests: 'ids, times, and who asked',
  held_items: 'ids and addresses on chains',
  jobs: 'due work, by ids',
  kill_switch_layers: 'of rails, assets, markets and partners',
  kill_switches: 'of rails, assets, markets and partners',
  manual_batches: FILES,
  manual_lines: FILES,
  manual_payouts: FILES,
  monitoring_cursor: IDS,
  monitoring_findings: 'amounts, and ids of orders',
  names_to_compare: IDS,
  order_counts: 'a number of orders',
  partner_activity: 'requests of a partner’s keys, by ids and addresses on chains',
  payouts: BOOKS,
  planned_changes: 'terms, and no customer’s',
  quotes: 'prices and amounts',
  return_links: 'addresses on chains',
  short_refunds: IDS,
  travel_waits: IDS,
  verifications: 'levels and times',
  webhook_attempts: OF_PARTNERS,
  webhook_deliveries: IDS,
  webhook_endpoints: OF_PARTNERS,
  webhook_ordering_keys: IDS,
};

/** What an operator typed. */
const TYPED = 'the money of Zebulona';

let world: Environment;
let shop: TestPartner;
/** Tables that refer to a customer, and those with an encrypted column. */
let tables: string[];
/** Statements of an export, and of an erasure after it. */
let ofExport: string[];
let ofErasure: string[];

before(async () => {
  world = await wireEnvironment();
  shop = await world.partner('Shop');
  const referring = (await world.query(REFERRING)).map(({ name }) => String(name));
  tables = [...new Set([...referring, ...PARTS.map(({ table }) => table)])].toSorted();
  await everyKind();
  ofExport = await statementsOf((db) => db.asSystem((tx) => exportCustomer(tx, world.vault, shop.customerId)));
  ofErasure = await statementsOf(async (db) => {
    const { vault, blobFolder } = world;
    const files = { blobs: openFolder(blobFolder), list: openErasureList(blobFolder) };
    const deps = { db, vault, ...files, backupsKeptDays: 1, eraseRequests: requestsErasing({ db, vault }) };
    await erase(deps, shop.customerId, world.clock.now());
  });
});
after(async () => await world?.stop());

/**
 * By foreign keys over any number of tables, or by the name of a column, where there is no foreign key: an id, a text such as
 * `customer:<id>`, a path.
 */
const REFERRING = `with recursive
  of_customers(id) as (
    select 'cloverleaf.customers'::regclass::oid
    union select k.conrelid from pg_constraint k join of_customers c on k.confrelid = c.id where k.contype = 'f'),
  named(id) as (
    select a.attrelid from pg_attribute a where not a.attisdropped and a.attname = any(array['customer_id', 'order_id', 'deposit_id',
      'refund_id', 'payout_id', 'case_id', 'submission_id', 'fiat_account_id', 'proposal_id', 'sender_of', 'subject', 'owner', 'about',
      'path']))
  select relname as name from pg_class where relnamespace = 'cloverleaf'::regnamespace and relkind in ('r', 'p')
    and oid in (select id from of_customers union select id from named) order by 1`;

/** Rows that the export and the erasure go through one by one. */
async function everyKind(): Promise<void> {
  const { db, vault, clock, blobFolder } = world;
  const now = clock.now();
  const { customerId: id, partner } = shop;
  const customer = { id, partnerId: partner.id };
  await db.asPartner(partner.id, async (tx) => {
    const key = await customers.customerKey(tx, vault, customer, now);
    const form = await customers.formFor(tx, { kind: 'INDIVIDUAL' }, now);
    const content = jpeg();
    const files = await customers.storeFiles(openFolder(blobFolder), vault, {
      ...{ customerId: id, key, files: [{ slot: 'selfie.jpg', type: 'image/jpeg', content, sentDigest: '' }] },
    });
    const given = { answers: { firstName: 'Zebulona' }, files };
    await customers.submit(tx, vault, { customerId: id, form, given, inParts: true, now });
  });
  const asked = { customerId: id, question: 'Where from?', dueAt: new Date(now.getTime() + 1_000), by: 'ada', now };
  const request = await db.asSystem((tx) => customers.askInformation(tx, vault, asked));
  await db.asSystem((tx) => customers.endInformation(tx, vault, { customerId: id, id: request.id, answer: 'x', now }));
  const pair = { fromCurrency: 'usdc', toCurrency: 'inr', chain: 'matic20', fromAmount: '100' };
  const made = await shop.post('offramp/createTransaction', {
    ...{ ...pair, customerId: id, fiatAccountId: shop.fiatAccountId },
  });
  assert.equal(made.status, 200, made.text);
  const [order] = await world.query(`update orders set state = 'cancelled' where customer_id = $1 returning id`, [id]);
  // A deposit that an operator held, and that the chain then took back.
  const [deposit] = await world.query(
    `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, reference, seen_at)
     values ('evm.matic20', 'of a test', 'usdc.matic20', 5, '', $1, $2, 'reversed', '', $3) returning id`,
    [order.id, partner.id, now],
  );
  await world.query('insert into held_deposits (deposit_id, by, why, at) values ($1, $2, $3, $4)', [
    ...[deposit.id, 'ada', encryptTyped(vault, TYPED), now],
  ]);
  await world.query(
    `insert into checkouts (id, partner_id, phones, order_id, customer_id, begun_at, phones_named)
     values ('a link', $1, 1, $2, $3, $4, array['\x01'::bytea])`,
    [partner.id, order.id, id, now],
  );
  await world.query(
    `insert into idempotency_records (partner_id, path, key, body, reply, kept_at) values ($1, '/v1/customers', '', '', to_jsonb($2::text), $3)`,
    [partner.id, JSON.stringify({ id }), now],
  );
}

/** The statements that `body` sends. */
async function statementsOf(body: (db: Pick<Database, 'asSystem'>) => Promise<unknown>): Promise<string[]> {
  const said: string[] = [];
  const told =
    <A extends readonly unknown[], R>(send: (text: string, ...rest: A) => R) =>
    (text: string, ...rest: A): R => {
      said.push(text.replaceAll(/\s+/g, ' '));
      return send(text, ...rest);
    };
  const listening = (tx: Tx): Tx => ({
    ...tx,
    ...{ rows: told(tx.rows) as Tx['rows'], row: told(tx.row) as Tx['row'], run: told(tx.run), defer: told(tx.defer) },
    deferLast: (key, text, ...rest) => told((all: string) => tx.deferLast(key, all, ...rest))(text),
  });
  await body({ asSystem: (work) => world.db.asSystem((tx) => work(listening(tx))) });
  return said;
}

const has = (text: string, word: string): boolean => new RegExp(`\\b${word}\\b`).test(text);

/** The part of a read that says what it shows: what its condition reads is not shown. */
const shownBy = (text: string): string => (/^select\b/.test(text) ? (text.split(/\bwhere\b/)[0] ?? '') : '');
const shows = (table: string, column = ''): boolean =>
  ofExport.map(shownBy).some((text) => new RegExp(`\\b(from|join) ${table}\\b`).test(text) && has(text, column));

/** Of a statement that changes the table: what it sets. */
const setBy = (text: string, table: string): string =>
  new RegExp(`\\bupdate ${table}\\b.*? set (.*?)( where |$)`).exec(text)?.[1] ?? '';
const erases = (table: string, column = ''): boolean =>
  ofErasure.some((text) => {
    const set = setBy(text, table);
    return has(text, `delete from ${table}`) || (set !== '' && has(set, column));
  });

/** Values that the master key encrypts: each is one column of these. */
const encrypted = PARTS.flatMap(({ table, writes }) => writes.map((column) => ({ table, column })));

/** Of tables and columns: those that are missing, and those that are listed although they are not. */
function assertComplete(
  reaches: (table: string, column?: string) => boolean,
  but: Readonly<Record<string, string>>,
  columns: readonly { table: string; column: string }[],
): void {
  assert.deepEqual(
    tables.filter((table) => !reaches(table) && !(table in but)),
    [],
    'a table is neither reached nor listed with a reason',
  );
  const missing = columns.filter(({ table, column }) => !(table in but) && !reaches(table, column));
  assert.deepEqual(
    missing.map(({ table, column }) => `${table}.${column}`).filter((name) => !(name in but)),
    [],
    'a column is neither reached nor listed with a reason',
  );
  const listed = Object.keys(but).map((name) => name.split('.') as [string, string?]);
  assert.deepEqual(
    listed.filter(([table, column]) => !tables.includes(table) || reaches(table, column)),
    [],
    'a table or column is listed, but does not exist, or is reached',
  );
}

test('an export has every table that refers to a customer, and every encrypted value, or it is listed why not', () => {
  assert.ok(tables.length > 50 && ofExport.length > 20, `${tables.length} tables, ${ofExport.length} statements`);
  // An index serves a search, and is of a value that is shown.
  const values = encrypted.filter(({ column }) => !/_(index|digest)$|^digest$/.test(column));
  assertComplete(shows, NOT_EXPORTED, values);
});

test('an erasure changes every table that refers to a customer, and every encrypted value and index, or it is listed why not', () => {
  assert.ok(ofErasure.length > 40, `${ofErasure.length} statements`);
  assertComplete(erases, NOT_ERASED, encrypted);
});

test('what an operator typed when holding a deposit is erased, and the hold stays', async () => {
  const held = await world.query('select by, why from held_deposits');
  assert.deepEqual(held, [{ by: 'ada', why: 'erased' }]);
});
