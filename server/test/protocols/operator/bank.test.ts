/**
 * The desk of a manual bank over HTTP: a payout goes out by a file and is settled by a statement, each act is recorded with
 * who did it, and what is refused says so in a sentence.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedSecondOperatorRule } from '../../../src/operators/index.ts';
import type { OrdersContext } from '../../../src/orders/index.ts';
import { operator } from '../../../src/protocols/operator/index.ts';
import { createServer } from '../../../src/protocols/whitelabel/index.ts';
import { type ManualWorld, manualWorld } from '../../support/manualworld.ts';
import { germanCsv } from '../../support/statements.ts';
import { operatorNamed, type Person } from './people.ts';

let w: ManualWorld;
let app: ReturnType<typeof createServer>;
let ada: Person;
let vic: Person;

before(async () => {
  w = await manualWorld();
  app = createServer({ log: w.log });
  const orders = { ...w, rails: new Map([[w.rail.code, w.rail]]) } as unknown as OrdersContext;
  const chainStops = { codes: [], why: async () => null, clear: async () => {} };
  await app.register(operator({ ...w, orders, bank: w.desk, handOverAgain: async () => {}, chainStops }));
  await w.db.asSystem((tx) => seedSecondOperatorRule(tx, 'resume', 1n));
  ada = await operatorNamed({ ...w, baseUrl: '' }, 'ada', 'finance');
  vic = await operatorNamed({ ...w, baseUrl: '' }, 'vic', 'viewer');
});
after(async () => {
  await app.close();
  await w.stop();
});

const get = async (path: string, person = vic) => {
  const headers = { authorization: `Bearer ${person.token}` };
  const reply = await app.inject({ url: `/operator/v1/bank/${path}`, headers });
  return { status: reply.statusCode, body: reply.json() };
};
const post = (path: string, payload: object | string | Buffer, person = ada, type?: string) =>
  app.inject({
    method: 'POST',
    url: `/operator/v1/${path}`,
    headers: { authorization: `Bearer ${person.token}`, ...(type === undefined ? {} : { 'content-type': type }) },
    payload,
  });
const acts = async (): Promise<string[]> => {
  const reply = await app.inject({ url: '/operator/v1/audit', headers: { authorization: `Bearer ${vic.token}` } });
  const audit = reply.json().audit as { operator: string; act: string; subject: string; reason: string }[];
  return audit.map(({ operator: by, act, subject, reason }) => `${by} ${act} ${subject} ${reason}`).toReversed();
};

test('a payout waits, leaves in a file that is handed out, and is settled by the statement that is taken in', async () => {
  const id = await w.pays(12_345n);
  const waiting = await get('payouts?asset=eur');
  assert.deepEqual(waiting.body.payouts[0].units, '123.45');
  const closed = await post('bank/files', { asset: 'eur', reason: 'the day is over' });
  assert.equal(closed.statusCode, 200, closed.body);
  const { id: file, sha256 } = closed.json();
  const handed = await post(`bank/files/${file}/hand-out`, { reason: 'to be uploaded' });
  assert.equal(handed.headers['content-disposition'], `attachment; filename="CLOVERLEAF-${file}.xml"`);
  assert.equal(handed.headers['x-content-sha256'], sha256);
  assert.match(handed.body, /<InstdAmt Ccy="EUR">123.45</);
  const statement = w.nextStatement([{ units: -12_345n, endToEnd: id.replaceAll('_', '-'), ref: 'D1' }]);
  const taken = await post('bank/statements?asset=eur', statement, ada, 'application/xml');
  assert.deepEqual(
    [taken.statusCode, taken.json().outcome, taken.json().import.newLines],
    [200, 'taken', 1],
    taken.body,
  );
  await w.rail.observe();
  assert.equal((await get(`files/${file}`)).body.list[0].state, 'settled');
  assert.deepEqual(await acts(), [
    `ada bank.close_file bank.manual:${file} the day is over`,
    `ada bank.hand_out_file bank.manual:${file} to be uploaded`,
    `ada bank.take_statement bank.manual:${taken.json().import.id} taken`,
  ]);
  const { from, closing } = (await get(`statements?asset=eur&from=${w.today()}&to=${w.today()}`)).body.statements[0];
  assert.deepEqual([from, closing], [w.today(), '-123.45']);
  assert.equal((await get('imports')).body.imports.length, 1);
  assert.equal((await get('accounts')).body.accounts.length, 2);
  assert.ok(!JSON.stringify([waiting.body, await get('files'), await get(`files/${file}`)]).includes('DE89'));
});

test('what is refused says why, changes nothing and is not recorded', async () => {
  const before = await acts();
  const wrong = await post(
    'bank/statements?asset=eur',
    germanCsv([{ units: 5n }], { iban: 'DE75512108001245126199' }),
    ada,
    'text/csv',
  );
  assert.deepEqual(
    [wrong.statusCode, wrong.json()],
    [400, { error: 'Line 4 is of another account.', reason: 'file_refused' }],
  );
  const json = await post('bank/statements?asset=eur', { a: 1 });
  assert.equal(json.json().reason, 'file_refused');
  const nothing = await post('bank/files', { asset: 'eur', reason: 'again' });
  assert.deepEqual([nothing.statusCode, nothing.json().error], [409, 'No payout waits for a file.']);
  assert.deepEqual((await post('bank/files', {})).json().fields, { asset: 'is missing', reason: 'is missing' });
  assert.match(
    (await post('bank/files', { asset: 'eur', reason: 'x', colour: 1 })).json().fields.colour,
    /is not one of/,
  );
  assert.equal(
    (await post('bank/files/x/withdraw', { reason: 'it was not uploaded' })).json().reason,
    'malformed_field',
  );
  assert.equal((await post('bank/files', { asset: 'eur', reason: 'x' }, vic)).json().reason, 'role_missing');
  assert.equal((await post('bank/files', '{', ada, 'application/json')).json().reason, 'malformed_body');
  assert.equal((await app.inject({ url: '/operator/v1/bank/files' })).statusCode, 401);
  assert.equal(
    (await get('statements?asset=eur&from=yesterday&to=2026-01-01')).body.fields.from,
    'must be a day, YYYY-MM-DD',
  );
  const february = (await get('statements?asset=eur&from=2026-02-01&to=2026-02-31')).body;
  assert.equal(february.fields?.to, 'must be a day, YYYY-MM-DD', JSON.stringify(february));
  assert.deepEqual(await acts(), before);
});

test('a payout is taken off the list, and a file that was not uploaded is withdrawn with its reason', async () => {
  const id = await w.pays(500n);
  assert.equal((await post(`bank/payouts/${id}/take-off`, { reason: 'the customer asked' })).statusCode, 200);
  const other = await w.pays(600n);
  const { id: file } = (await post('bank/files', { asset: 'eur', reason: 'evening' })).json();
  const withdrawn = await post(`bank/files/${file}/withdraw`, { reason: 'The bank showed an error and took nothing.' });
  assert.equal(withdrawn.json().withdrawnWhy, 'The bank showed an error and took nothing.', withdrawn.body);
  for (const key of [id, other]) {
    await w.looksAt(key);
    assert.equal(await w.state(key), 'refused');
  }
  assert.equal((await post(`bank/files/${file}/hand-out`, { reason: 'to be sure' })).statusCode, 409);
});

test('no file is closed or handed out while handing over is stopped', async () => {
  await w.pays(700n);
  const { id: file } = (await post('bank/files', { asset: 'eur', reason: 'evening' })).json();
  await w.pays(701n);
  const stop = { kind: 'rail', subject: w.rail.code, reason: 'it burns' };
  assert.equal((await post('stops', stop)).statusCode, 200);
  for (const path of ['bank/files', `bank/files/${file}/hand-out`]) {
    const refused = await post(path, { ...(path === 'bank/files' ? { asset: 'eur' } : {}), reason: 'now' });
    assert.deepEqual([refused.statusCode, refused.json().error], [409, 'Handing over is stopped, so no file leaves.']);
  }
  assert.equal((await post('stops/lift', stop)).statusCode, 200);
  assert.equal((await post(`bank/files/${file}/hand-out`, { reason: 'now' })).statusCode, 200);
});
