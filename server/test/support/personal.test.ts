/** The search that ends each test with a database: what it finds, and where. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { openVault } from '../../src/base/crypto.ts';
import { type FreshDatabase, freshDatabase } from './database.ts';
import { findInText } from './dump.ts';
import { freshFolder } from './folder.ts';
import { JPEG_MARK, jpeg } from './pictures.ts';

const PHONE = '+91 98765 04711';
const DETAILS = { firstName: 'Zebulona', dob: '1931-03-29', sourceOfFunds: 'inherited money', account: '000000000000' };

/** A database whose test has encrypted these values, after `body`. @returns what is found in it, as the drop says */
async function foundAfter(
  body: (database: FreshDatabase, run: pg.Client['query']) => Promise<unknown>,
): Promise<string[]> {
  const database = await freshDatabase({ isEmpty: true });
  const vault = openVault(createHash('sha256').update('a key').digest());
  database.personal.of(vault);
  vault.encrypt(PHONE, 'customers.phone:1');
  vault.encrypt(JSON.stringify(DETAILS), 'customer_details.details:1');
  vault.encrypt('a secret of a partner', 'webhook_endpoints.secret:1');
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  client.on('error', () => {});
  await client.query('create table said (id int, text text, more jsonb, bytes bytea)');
  await client.query('create schema simulated_bank');
  await client.query('create table simulated_bank.lines (payer text)');
  await body(database, client.query.bind(client) as pg.Client['query']);
  try {
    await database.drop();
    return [];
  } catch (error) {
    return (error as assert.AssertionError).actual as string[];
  }
}

test('a value that was encrypted and is also in clear fails the drop, with table and column', async () => {
  const hex = Buffer.from('Zebulona').toString('hex');
  const found = await foundAfter(async (_, run) => {
    await run(`insert into said values (1, 'called +919876504711'), (2, 'nothing')`);
    await run(`insert into said (more, bytes) values ('{"at": ["1931-03-29"]}', decode($1, 'hex'))`, [`00${hex}00`]);
  });
  assert.deepEqual(found.toSorted(), [
    `public.said.bytes: ${DETAILS.firstName}`,
    `public.said.more: ${DETAILS.dob}`,
    `public.said.text: ${PHONE}`,
  ]);
});

test('a few letters within a ciphertext are chance, and beside it they are a value in clear', () => {
  const random = createHash('sha512').update('random').digest('base64url');
  const encrypted = `enc:op1:${random.slice(0, 20)}aPayEr${random.slice(20)}.`;
  assert.deepEqual(findInText(`because of ${encrypted}, he said`, ['A Payer']), []);
  for (const clear of [`${encrypted} a payer`, `apayer ${encrypted}`, 'enc:op1:apayer.'])
    assert.notEqual(findInText(clear, ['A Payer']).length, 0, clear);
  const long = 'Zebulona';
  assert.notEqual(findInText(`enc:op1:${random}${long}.`, [long]).length, 0);
});

test('so does one in the log, in a file and in its name, and a picture of a document', async () => {
  const folder = freshFolder('personal-found');
  const found = await foundAfter(async ({ personal }) => {
    personal.says('the log', () => '{"msg":"zebulona is late"}');
    personal.keeps(folder);
    writeFileSync(join(folder, 'Zebulona.txt'), 'of 1931-03-29');
    writeFileSync(join(folder, 'stored'), jpeg());
  });
  assert.deepEqual(
    found.toSorted(),
    [
      `${folder}/Zebulona.txt: ${DETAILS.dob}`,
      `${folder}/Zebulona.txt: ${DETAILS.firstName}`,
      `${folder}/stored: ${JPEG_MARK}`,
      `the log: ${DETAILS.firstName}`,
    ].toSorted(),
  );
});

test('words of forms, secrets and numbers that may be amounts are not looked for, nor the books of the played bank', async () => {
  const found = await foundAfter(async (_, run) => {
    await run(`insert into said values (1, 'inherited money, a secret of a partner, 000000000000')`);
    await run(`insert into simulated_bank.lines values ('Zebulona')`);
  });
  assert.deepEqual(found, []);
});

test('the search for many words finds what a search for each finds, in every spelling', () => {
  const words = ['Zebulona', 'Ōtakivrbl Rao', '+91-98765', 'Rao', 'a\tb "c"'];
  for (const word of words)
    for (const text of [
      ...[word, `x${word.toUpperCase()}x`, JSON.stringify(word), encodeURIComponent(word), word.replace(/[\s-]/g, '')],
      ...[Buffer.from(word).toString('hex'), new URLSearchParams({ '': word }).toString()],
    ])
      assert.ok(
        findInText(`before ${text} after`, words).some((hit) => hit.word === word),
        text,
      );
  for (let skip = 0; skip < 3; skip += 1) {
    const base64 = Buffer.from(`${'.'.repeat(skip)}Ōtakivrbl Rao and more`).toString('base64');
    assert.ok(findInText(base64, words).some((hit) => hit.word === 'Ōtakivrbl Rao'));
  }
  assert.deepEqual(findInText('nothing of it', words), []);
});
