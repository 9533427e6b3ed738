/**
 * A customer is erased, and then the database is restored from a backup of before: the start after it erases the customer again, by the
 * list outside the database, and everything of another customer is byte for byte as it was.
 *
 * A real cluster, a real backup and a real restore, without a server.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { restoreBackup, takeBackup } from '../../src/backup/index.ts';
import { openFolder } from '../../src/base/blobs.ts';
import { openVault } from '../../src/base/crypto.ts';
import { type Database, openDatabase } from '../../src/base/db.ts';
import { openErasureList } from '../../src/base/erasurelist.ts';
import { migrate } from '../../src/base/migrate.ts';
import { type Postgres, startPostgres } from '../../src/base/postgres.ts';
import { encryptText } from '../../src/base/texts.ts';
import { encryptTyped } from '../../src/base/typed.ts';
import { attachFile, closeCases, noteCase, openCase, storeAttachment } from '../../src/compliance/index.ts';
import { requestsErasing } from '../../src/composition/erasing.ts';
import * as customers from '../../src/customers/index.ts';
import { type Erasing, erase, orderErasure, replayErasures } from '../../src/erasure/index.ts';
import { findInDump, findInFiles } from '../support/dump.ts';
import { freshFolder } from '../support/folder.ts';
import { type Given, WORDS, XANTHIPPE, ZEBULONA } from '../support/persons.ts';
import { pdf } from '../support/pictures.ts';
import { openRows, type Rows } from '../support/rows.ts';

const dataDir = freshFolder('erased');
const documents = join(dataDir, 'documents');
const [blobs, list] = [openFolder(documents), openErasureList(documents)];
const vault = openVault(createHash('sha256').update('a key of this test').digest());
const now = new Date();

let postgres: Postgres;
let db: Database;
let rows: Rows;
let erasing: Erasing;

async function starts(): Promise<void> {
  postgres = await startPostgres({ dataDir, fast: true });
  db = openDatabase(await migrate(postgres.adminUrl, vault.derive('database login')));
  rows = await openRows(postgres.adminUrl);
  erasing = { ...{ db, vault, blobs, list, backupsKeptDays: 90 }, eraseRequests: requestsErasing({ db, vault }) };
}
async function stops(): Promise<void> {
  await rows?.close();
  await db?.close();
  await postgres?.stop();
}
after(stops);

/** Of a partner's customer: what it has given, a file, a case with a note and a file, and an order that is over. */
async function enrolled(given: Given, market: { asset: string; rail: string }): Promise<string> {
  const { reference, phone, email, firstName, lastName, dob, identityNumber, addressLine, accountNumber } = given;
  const { orderId, partnerId } = await rows.order(market.asset, market.rail, `0x${orderTarget(given)}`);
  const scan = (text: string) =>
    pdf(`1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n3 0 obj\n(${text})\nendobj\n`);
  const { id } = await db.asPartner(partnerId, async (tx) => {
    const who = { clientCustomerId: reference, phone, email };
    const customer = await customers.enroll(tx, vault, { partnerId, ...who, kind: 'INDIVIDUAL', now });
    const details = { firstName, lastName, dob, identityNumber, addressLine1: addressLine };
    await customers.saveDetails(tx, vault, { customer, details, now });
    await customers.addFiatAccount(tx, vault, { customer, fiat: 'inr', details: { account: accountNumber }, now });
    const key = await customers.customerKey(tx, vault, customer, now);
    const content = scan(given.inDocument);
    const file = { slot: 'passportFront.jpg', type: 'application/pdf', content, sentDigest: 'of it' } as const;
    const files = await customers.storeFiles(blobs, vault, { customerId: customer.id, key, files: [file] });
    const form = await customers.formFor(tx, { kind: 'INDIVIDUAL' }, now);
    await customers.submit(tx, vault, {
      customerId: customer.id,
      form,
      given: { answers: details, files },
      inParts: true,
      now,
    });
    return customer;
  });
  // The order and its history belong to the customer, as if it had made it.
  await rows.query('set session_replication_role = replica');
  await rows.query(`update orders set customer_id = $1, state = 'settled', payer_reference = $2 where id = $3`, [
    ...[id, encryptText(vault, partnerId, `from ${firstName}`), orderId],
  ]);
  await rows.query(
    `insert into deposits (rail, external_id, asset, units, taken_units, target, order_id, partner_id, state, reference, seen_at)
     values ($1, $2, $3, 1000000, 1000000, '', $4, $5, 'applied', '', $6)`,
    [market.rail, `deposit of ${orderId}`, market.asset, orderId, partnerId, now],
  );
  await rows.query('reset session_replication_role');
  const subject = `customer:${id}`;
  const attached = await storeAttachment({ blobs, vault }, scan(`Letter of ${firstName}`), 'ada');
  await db.asSystem(async (tx) => {
    await openCase(tx, { kind: 'on_hold', subject, reason: 'a test', facts: {}, now });
    const [opened] = await tx.rows<{ id: bigint }>('select id from cases where subject = $1', [subject]);
    const caseId = opened?.id ?? assert.fail();
    await noteCase(tx, { id: caseId, what: 'noted', note: encryptTyped(vault, `${firstName} called`), by: 'ada', now });
    await attachFile(tx, { caseId, file: attached, label: encryptTyped(vault, `of ${firstName}`), by: 'ada', now });
    await closeCases(tx, { kind: 'on_hold', subject, outcome: 'over', now });
  });
  return id;
}
const orderTarget = ({ reference }: Given): string => createHash('sha256').update(reference).digest('hex').slice(0, 40);

/** All rows of a customer, by table: by its id, and by those of its orders, deposits and cases. */
async function rowsOf(id: string): Promise<Record<string, string[]>> {
  const columns = await rows.query<{ relname: string; attname: string }>(
    `select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'cloverleaf'::regnamespace and c.relkind = 'r' and not a.attisdropped
        and (a.attname in ('customer_id', 'order_id', 'deposit_id', 'case_id', 'subject', 'owner')
          or (c.relname in ('customers', 'orders', 'deposits', 'cases') and a.attname = 'id'))`,
  );
  const ids = async (text: string) => (await rows.query<{ id: unknown }>(text, [id])).map((one) => String(one.id));
  const orders = await ids('select id from orders where customer_id = $1');
  const deposits = await ids(
    'select id from deposits where order_id in (select id from orders where customer_id = $1)',
  );
  const cases = await ids(`select id from cases where subject = 'customer:' || $1`);
  const subjects = [
    `customer:${id}`,
    ...orders.map((one) => `order:${one}`),
    ...deposits.map((one) => `deposit:${one}`),
  ];
  const of: Record<string, readonly string[]> = {
    ...{
      customer_id: [id],
      order_id: orders,
      deposit_id: deposits,
      case_id: cases,
      subject: subjects,
      owner: subjects,
    },
    ...{ 'customers.id': [id], 'orders.id': orders, 'deposits.id': deposits, 'cases.id': cases },
  };
  const found: Record<string, string[]> = {};
  for (const { relname, attname } of columns) {
    const said = await rows.query<{ row: string }>(
      `select t::text as row from ${relname} t where ${attname}::text = any($1::text[]) order by 1`,
      [of[`${relname}.${attname}`] ?? of[attname] ?? []],
    );
    if (said.length > 0)
      found[relname] = [...new Set([...(found[relname] ?? []), ...said.map(({ row }) => row)])].toSorted();
  }
  return found;
}

/** Names and bytes of a customer's files, as stored. */
async function filesOf(id: string): Promise<Record<string, string>> {
  const stored = await rows.query<{ id: string }>(
    `select id from submission_files where customer_id = $1 union all select a.id from case_attachments a
      join cases c on c.id = a.case_id where c.subject = 'customer:' || $1`,
    [id],
  );
  const paths = readdirSync(documents, { recursive: true, encoding: 'utf8' });
  return Object.fromEntries(
    stored.map((file) => {
      const path = paths.find((one) => one.endsWith(file.id));
      return [file.id, path === undefined ? 'gone' : readFileSync(join(documents, path), 'hex')];
    }),
  );
}

test('a restore of a backup from before an erasure is erased again, and leaves all of another customer byte for byte', async () => {
  await starts();
  const market = { asset: 'usdc.matic20', rail: 'evm.matic20' };
  await rows.cryptoAsset(market.asset, 'matic20', '0x0000000000000000000000000000000000000001');
  const [gone, stays] = [await enrolled(ZEBULONA, market), await enrolled(XANTHIPPE, market)];
  const [before, files] = [await rowsOf(stays), await filesOf(stays)];
  const [ofGone, filesOfGone] = [await rowsOf(gone), await filesOf(gone)];
  assert.deepEqual(Object.keys(before), Object.keys(ofGone));
  const needed = [
    'customers',
    'customer_details',
    'customer_keys',
    'fiat_accounts',
    'submissions',
    'submission_files',
    'orders',
  ];
  for (const table of [...needed, 'deposits', 'cases', 'case_actions', 'case_attachments'])
    assert.ok(before[table] !== undefined, `${table} has no row of the customer`);
  for (const all of [files, filesOfGone])
    assert.deepEqual([Object.keys(all).length, Object.values(all).includes('gone')], [2, false]);

  const { folder } = await takeBackup({ adminUrl: postgres.adminUrl, dataDir }, freshFolder('erased-backups'), now);
  assert.deepEqual(findInFiles(folder, WORDS), []);
  await db.asSystem((tx) => orderErasure(tx, { customerId: gone, by: 'ada', now }));
  await erase(erasing, gone, new Date());
  assert.deepEqual(Object.keys(await filesOf(gone)).length, 1, 'the erasure left the row of a file');
  assert.deepEqual([await rowsOf(stays), await filesOf(stays)], [before, files]);

  // The disk with the database is lost, the folder of files is not.
  await stops();
  rmSync(join(dataDir, 'postgres'), { recursive: true });
  await restoreBackup({ backup: folder, dataDir, replace: false, now });
  await starts();
  assert.deepEqual(
    [await rowsOf(gone), await filesOf(gone)],
    [ofGone, filesOfGone],
    'the restore did not bring it back',
  );
  assert.equal(await replayErasures(erasing, new Date()), 1);

  assert.deepEqual([await rowsOf(stays), await filesOf(stays)], [before, files]);
  const contact = (id: string) => db.asSystem((tx) => customers.openContact(tx, vault, id));
  assert.deepEqual(await contact(gone), {});
  assert.deepEqual(await contact(stays), { phone: XANTHIPPE.phone, email: XANTHIPPE.email });
  // Nothing of it is left in clear, nor any of its files; the encrypted values that it had are in no row.
  const encrypted = Object.values(ofGone).flatMap((all) => all.flatMap((row) => row.match(/[0-9a-f]{80,}/g) ?? []));
  assert.ok(encrypted.length > 5, `${encrypted.length} encrypted values`);
  assert.deepEqual(await findInDump(postgres.adminUrl, [...WORDS, ...encrypted]), []);
  const names = readdirSync(documents, { recursive: true, encoding: 'utf8' });
  const left = Object.keys(filesOfGone).filter((id) => names.some((name) => name.endsWith(id)));
  assert.deepEqual(left, []);
  // A second start finds nothing to do.
  assert.equal(await replayErasures(erasing, new Date()), 0);
  assert.deepEqual([await rowsOf(stays), await filesOf(stays)], [before, files]);
});
