/**
 * The desk of a manual bank over HTTP: a payout goes out by a file and is settled by a statement, each act is recorded with
 * who did it, and what is refused says so in a sentence.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import { Refusal } from '../../../src/base/errors.ts';
import { bankRoutes } from '../../../src/protocols/operator/bank.ts';
import { type ManualWorld, manualWorld } from '../../support/manualworld.ts';
import { germanCsv } from '../../support/statements.ts';

let w: ManualWorld;
let app: FastifyInstance;
const acts: string[] = [];

before(async () => {
  w = await manualWorld();
  app = fastify();
  app.setErrorHandler(async (error, _request, reply) =>
    error instanceof Refusal ? reply.code(422).send({ reason: error.code, ...error.facts }) : reply.code(500).send({}),
  );
  const door = bankRoutes({
    db: w.db,
    desk: w.desk,
    person({ headers }, may) {
      const name = String(headers['x-person'] ?? '');
      if (name === '' || (name === 'reader' && may === 'act')) throw new Refusal('scope_missing');
      return name;
    },
    async record(_tx, request, { act, subject }) {
      acts.push(`${String(request.headers['x-person'])} ${act} ${subject}`);
    },
  });
  await app.register(door, { prefix: '/operator/v1' });
});
after(async () => {
  await app.close();
  await w.stop();
});

const get = async (path: string, person = 'reader') => {
  const reply = await app.inject({ url: `/operator/v1/bank/${path}`, headers: { 'x-person': person } });
  return { status: reply.statusCode, body: reply.json() };
};
const post = (path: string, payload: object | string | Buffer, person = 'Ada', type?: string) =>
  app.inject({
    method: 'POST',
    url: `/operator/v1/bank/${path}`,
    headers: { 'x-person': person, ...(type === undefined ? {} : { 'content-type': type }) },
    payload,
  });

test('a payout waits, leaves in a file that is handed out, and is settled by the statement that is taken in', async () => {
  const id = await w.pays(12_345n);
  const waiting = await get('payouts?asset=eur');
  assert.deepEqual(waiting.body.payouts[0].units, '123.45');
  const closed = await post('files', { asset: 'eur', reason: 'the day is over' });
  assert.equal(closed.statusCode, 200, closed.body);
  const { id: file, sha256 } = closed.json();
  const handed = await post(`files/${file}/hand-out`, { reason: 'to be uploaded' });
  assert.equal(handed.headers['content-disposition'], `attachment; filename="CLOVERLEAF-${file}.xml"`);
  assert.equal(handed.headers['x-content-sha256'], sha256);
  assert.match(handed.body, /<InstdAmt Ccy="EUR">123.45</);
  const statement = w.nextStatement([{ units: -12_345n, endToEnd: id.replaceAll('_', '-'), ref: 'D1' }]);
  const taken = await post('statements?asset=eur', statement, 'Ada', 'application/xml');
  assert.deepEqual(
    [taken.statusCode, taken.json().outcome, taken.json().import.newLines],
    [200, 'taken', 1],
    taken.body,
  );
  await w.rail.observe();
  assert.equal((await get(`files/${file}`)).body.list[0].state, 'settled');
  assert.deepEqual(acts, [
    `Ada bank.close_file bank.manual:${file}`,
    `Ada bank.hand_out_file bank.manual:${file}`,
    `Ada bank.take_statement bank.manual:${taken.json().import.id}`,
  ]);
  const { from, closing } = (await get(`statements?asset=eur&from=${w.today()}&to=${w.today()}`)).body.statements[0];
  assert.deepEqual([from, closing], [w.today(), '-123.45']);
  assert.equal((await get('imports')).body.imports.length, 1);
  assert.equal((await get('accounts')).body.accounts.length, 2);
  assert.ok(!JSON.stringify([waiting.body, await get('files'), await get(`files/${file}`)]).includes('DE89'));
});

test('what is refused says why, changes nothing and is not recorded', async () => {
  const before = acts.length;
  const wrong = await post(
    'statements?asset=eur',
    germanCsv([{ units: 5n }], { iban: 'DE75512108001245126199' }),
    'Ada',
    'text/csv',
  );
  assert.deepEqual(
    [wrong.statusCode, wrong.json()],
    [400, { error: 'Line 4 is of another account.', reason: 'file_refused' }],
  );
  const json = await post('statements?asset=eur', { a: 1 });
  assert.equal(json.json().reason, 'file_refused');
  const nothing = await post('files', { asset: 'eur', reason: 'again' });
  assert.deepEqual([nothing.statusCode, nothing.json().error], [409, 'No payout waits for a file.']);
  assert.deepEqual((await post('files', { asset: 'eur' })).json().fields, {
    reason: 'must be a text of 1 to 500 characters',
  });
  assert.equal((await post('files/x/withdraw', { reason: 'it was not uploaded' })).json().reason, 'malformed_field');
  assert.equal((await post('files', { asset: 'eur', reason: 'x' }, 'reader')).json().reason, 'scope_missing');
  assert.equal((await post('files', '{', 'Ada', 'application/json')).json().reason, 'malformed_body');
  assert.equal((await get('files', '')).body.reason, 'scope_missing');
  assert.equal((await get('statements?asset=eur&from=yesterday&to=2026-01-01')).body.reason, 'malformed_field');
  assert.equal(acts.length, before);
});

test('a payout is taken off the list, and a file that was not uploaded is withdrawn with its reason', async () => {
  const id = await w.pays(500n);
  assert.equal((await post(`payouts/${id}/take-off`, { reason: 'the customer asked' })).statusCode, 200);
  const other = await w.pays(600n);
  const { id: file } = (await post('files', { asset: 'eur', reason: 'evening' })).json();
  const withdrawn = await post(`files/${file}/withdraw`, { reason: 'The bank showed an error and took nothing.' });
  assert.equal(withdrawn.json().withdrawnWhy, 'The bank showed an error and took nothing.', withdrawn.body);
  for (const key of [id, other]) {
    await w.looksAt(key);
    assert.equal(await w.state(key), 'refused');
  }
  assert.equal((await post(`files/${file}/hand-out`, { reason: 'to be sure' })).statusCode, 409);
});
