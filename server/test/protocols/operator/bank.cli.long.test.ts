/**
 * A day at the desk of a manual bank, from a terminal: the list of payouts, a file that two people close and that only its owner
 * can read on disk, a statement that is previewed before it is taken in. A preview changes nothing.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createServer } from '../../../src/protocols/whitelabel/index.ts';
import { makeReference } from '../../../src/rails/reference.ts';
import { type ManualEnvironment, manualEnvironment } from '../../support/manual.environment.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { camt } from '../../support/statements.ts';
import { type Ended, operatorTypes } from '../../support/terminal.ts';
import { oneOpensGates, operatorNamed, type Person } from './people.ts';

const folder = mkdtempSync(join(tmpdir(), 'desk-'));
let w: ManualEnvironment;
let app: ReturnType<typeof createServer>;
let url: string;
let ada: Person;
let bob: Person;

before(async () => {
  w = await manualEnvironment();
  app = createServer({ log: w.log });
  await app.register(operatorApi(w, { bank: w.desk, rails: new Map([[w.rail.code, w.rail]]) }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  await w.db.asSystem(oneOpensGates);
  ada = await operatorNamed({ ...w, baseUrl: url }, 'ada', 'finance');
  bob = await operatorNamed({ ...w, baseUrl: url }, 'bob', 'finance');
});
after(async () => {
  await app.close();
  await w.stop();
  rmSync(folder, { recursive: true });
});

const types = (person: Person, ...words: string[]): Promise<Ended> =>
  operatorTypes({ baseUrl: url, token: person.token, cwd: folder }, words);
async function does(person: Person, ...words: string[]): Promise<string> {
  const ended = await types(person, ...words);
  assert.equal(ended.code, 0, `${words.join(' ')}: ${ended.err}${ended.out}`);
  return ended.out;
}
/** Ada proposes the action and Bob confirms it. */
async function both(words: string[], confirm: string[] = []): Promise<string> {
  const said = await types(ada, ...words, '--reason', 'the day is over', '--json');
  assert.equal(said.code, 3, said.err);
  return await does(bob, 'confirm', JSON.parse(said.out).proposal, '--reason', 'looked at', ...confirm);
}
const at = (name: string): string => join(folder, name);
const statement = (name: string, xml: string): string => {
  writeFileSync(at(name), xml);
  return name;
};
/** The rows of the desk and the bank engine, which a preview does not change. */
const held = async (): Promise<string> =>
  JSON.stringify(
    await w.rows.query(
      `select (select count(*) from manual_lines)::text as lines, (select count(*) from manual_imports)::text as imports,
         (select count(*) from manual_statements)::text as statements, (select count(*) from manual_batches)::text as files,
         (select count(*) from bank_lines)::text as read, (select count(*) from audit)::text as audit,
         (select string_agg(key || coalesce(batch_id::text, ''), ' ' order by key) from manual_payouts) as listed`,
    ),
  );

test('a file is looked at, closed by two, written for its owner only, and settled by a statement that was previewed', async () => {
  const id = await w.pays(12_345n);
  const kept = await w.pays(5_000n);
  w.gateSays(kept, { outcome: 'wait', why: 'not cleared', againInMs: 30_000 });
  assert.match(await does(ada, 'bank', 'accounts'), /^eur +EUR/m);
  assert.match(await does(ada, 'bank', 'payouts', '--asset', 'eur'), new RegExp(`${id} +eur +123.45`));

  const before = await held();
  const preview = await does(ada, 'bank', 'close', 'eur', '--dry-run');
  assert.match(preview, /^Nothing was changed/);
  assert.match(preview, /^payouts +1$/m);
  assert.match(preview, /^units +123.45$/m);
  assert.match(preview, new RegExp(`${kept} +not cleared`));
  assert.equal(await held(), before, 'a preview changed something');

  await both(['bank', 'close', 'eur']);
  const [{ id: file, sha256 } = { id: '', sha256: '' }] = JSON.parse(await does(ada, 'bank', 'files', '--json')).files;
  const said = await both(['bank', 'download', String(file)], ['--out', 'today.xml']);
  assert.match(said, /today\.xml/);
  assert.equal(
    createHash('sha256')
      .update(readFileSync(at('today.xml')))
      .digest('hex'),
    sha256,
  );
  assert.equal(statSync(at('today.xml')).mode & 0o777, 0o600, 'other users of the machine can read the file');

  // An existing file is not overwritten, and the command does not ask for another name.
  const proposed = await types(ada, 'bank', 'download', String(file), '--reason', 'again', '--json');
  const { proposal } = JSON.parse(proposed.out);
  const there = await types(bob, 'confirm', proposal, '--reason', 'looked at', '--out', 'today.xml');
  assert.deepEqual([there.code, /exists already/.test(there.err)], [2, true], there.err);
  // Without a name the file gets the bank's name, next to the existing files.
  await does(bob, 'confirm', proposal, '--reason', 'looked at');
  assert.ok(readdirSync(folder).includes(`CLOVERLEAF-${file}.xml`), readdirSync(folder).join(' '));
  // A request for an unknown file leaves no file behind.
  const refused = await types(ada, 'bank', 'download', '999', '--reason', 'a slip', '--out', 'none.xml');
  assert.deepEqual([refused.code, readdirSync(folder).includes('none.xml')], [1, false], refused.err);

  const reference = makeReference(7n);
  const { orderId } = await w.rows.order('eur', w.rail.code, reference);
  const xml = w.nextStatement([
    { units: -12_345n, endToEnd: id.replaceAll('_', '-'), ref: 'D1' },
    { units: 2_500n, text: `for ${reference}`, ref: 'C1', name: 'Jo Doe' },
    { units: 999n, text: 'a gift', ref: 'C2' },
    { units: -100n, text: 'a charge', ref: 'D2' },
  ]);
  const name = statement('S1.xml', xml);
  const untaken = await held();
  const shown = await does(ada, 'bank', 'take', 'eur', name, '--dry-run');
  assert.match(shown, /^newLines +4$/m);
  assert.match(shown, /^creditUnits +34\.99$/m);
  assert.match(shown, new RegExp(`debit +123\\.45 +payout_settled +${id}`));
  assert.match(shown, new RegExp(`credit +25 +deposit_confirmed +order ${orderId} +created +10000`));
  assert.match(shown, /credit +9\.99 +deposit_confirmed +suspense: no reference of an order/);
  assert.match(shown, /debit +1 +unexplained_debit/);
  assert.doesNotMatch(shown, /Jo Doe/);
  assert.equal(await held(), untaken, 'a preview changed something');

  // The statement has credits, so a second person takes in the same file.
  const waits = await types(ada, 'bank', 'take', 'eur', name);
  assert.deepEqual(
    [waits.code, /Another operator has to agree: .* bank take eur S1\.xml/.test(waits.out)],
    [3, true],
    waits.out,
  );
  assert.match(await does(bob, 'bank', 'take', 'eur', name), /^taken +taken$/m);
  await w.rail.observe();
  const became = await does(ada, 'bank', 'file', String(file));
  assert.match(became, new RegExp(`${id} +123.45 +settled`));
  assert.match(await does(ada, 'bank', 'imports'), /camt\.053 +4 +4/);
  assert.match(await does(ada, 'bank', 'statements', 'eur', w.today(), w.today()), /-89\.46/);

  const again = await does(ada, 'bank', 'take', 'eur', name, '--dry-run');
  assert.match(again, /^outcome +known$/m);
  assert.match(again, /^newLines +0$/m);
});

test('a preview is refused with the same words as the action', async () => {
  const wrong = statement('W.xml', camt({ iban: 'DE75512108001245126199', from: w.today(), entries: [{ units: 5n }] }));
  const previewed = await types(ada, 'bank', 'take', 'eur', wrong, '--dry-run');
  const taken = await types(ada, 'bank', 'take', 'eur', wrong);
  assert.deepEqual([previewed.code, previewed.err], [1, taken.err]);
  assert.notEqual(previewed.err, '');
  const missing = await types(ada, 'bank', 'take', 'eur', 'not-there.xml');
  assert.deepEqual([missing.code, missing.err], [2, 'not-there.xml cannot be read\n']);
  const stop = { kind: 'rail', subject: w.rail.code };
  assert.equal((await ada.does('/kill-switches', stop)).status, 200);
  const stopped = await types(ada, 'bank', 'close', 'eur', '--dry-run');
  assert.deepEqual([stopped.code, /Submission of payouts is switched off/.test(stopped.err)], [1, true], stopped.err);
  assert.equal((await ada.does('/kill-switches/lift', stop)).status, 200);
  const none = await types(ada, 'orders', 'unpaid', '1', 'a', 'b', '--dry-run');
  assert.deepEqual([none.code, /--dry-run is not an option/.test(none.err)], [2, true], none.err);
});

test('an operator takes a payout off the list and withdraws a file that was not uploaded', async () => {
  const [off, filed] = [await w.pays(700n), await w.pays(800n)];
  await does(ada, 'bank', 'take-off', off, '--reason', 'the customer asked');
  await both(['bank', 'close', 'eur']);
  const [{ id } = { id: '' }] = JSON.parse(await does(ada, 'bank', 'files', '--json')).files;
  const reason = 'The bank showed an error and took nothing.';
  const said = await types(ada, 'bank', 'withdraw', String(id), '--reason', reason, '--json');
  assert.equal(said.code, 3, said.err);
  await does(bob, 'confirm', JSON.parse(said.out).proposal, '--reason', 'looked at');
  for (const key of [off, filed]) {
    await w.looksAt(key);
    assert.equal(await w.state(key), 'rejected');
  }
});
