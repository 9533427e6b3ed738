/**
 * The desk of a manual bank over HTTP: a payout leaves in a file and is settled by a statement, each action is recorded with its
 * operator, and each refusal states its reason. Long because its tests share one desk and its files.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setRule } from '../../../src/operators/index.ts';
import { createServer } from '../../../src/protocols/whitelabel/index.ts';
import { injectDeclared } from '../../support/declared.fetch.ts';
import { type ManualEnvironment, manualEnvironment } from '../../support/manual.environment.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { camt, germanCsv } from '../../support/statements.ts';
import { oneOpensGates, operatorNamed, type Person, takes } from './people.ts';

let w: ManualEnvironment;
let app: ReturnType<typeof createServer>;
let ada: Person;
let bob: Person;
let vic: Person;

before(async () => {
  w = await manualEnvironment();
  app = createServer({ log: w.log });
  await app.register(operatorApi(w, { bank: w.desk, rails: new Map([[w.rail.code, w.rail]]) }));
  await w.db.asSystem(oneOpensGates);
  ada = await operatorNamed({ ...w, baseUrl: '' }, 'ada', 'finance');
  bob = await operatorNamed({ ...w, baseUrl: '' }, 'bob', 'finance');
  vic = await operatorNamed({ ...w, baseUrl: '' }, 'vic', 'viewer');
});
after(async () => {
  await app.close();
  await w.stop();
});

const get = async (path: string, person = vic) => {
  const headers = { authorization: `Bearer ${person.token}` };
  const reply = await injectDeclared(app, { url: `/operator/v1/bank/${path}`, headers });
  return { status: reply.statusCode, body: reply.json() };
};
const post = async (path: string, payload: object | string | Buffer, person = ada, type?: string) => {
  const reply = await injectDeclared(app, {
    method: 'POST',
    url: `/operator/v1/${path}`,
    headers: { authorization: `Bearer ${person.token}`, ...(type === undefined ? {} : { 'content-type': type }) },
    payload,
  });
  return reply;
};
/** Ada proposes the action and Bob confirms it. */
async function both(path: string, payload: object) {
  const said = await post(path, payload);
  assert.equal(said.statusCode, 202, said.body);
  return await post(`proposals/${said.json().proposal}/confirm`, { reason: 'looked at' }, bob);
}
const actions = async (): Promise<string[]> => {
  const reply = await injectDeclared(app, {
    url: '/operator/v1/audit',
    headers: { authorization: `Bearer ${vic.token}` },
  });
  const audit = reply.json().audit as { operator: string; action: string; subject: string; reason: string }[];
  return audit.map(({ operator: by, action, subject, reason }) => `${by} ${action} ${subject} ${reason}`).toReversed();
};

test('a payout waits, leaves in a file that is downloaded, and is settled by the statement that is taken in', async () => {
  const id = await w.pays(12_345n);
  const waiting = await get('payouts?asset=eur');
  assert.deepEqual(waiting.body.payouts[0].units, '123.45');
  const closed = await both('bank/files', { asset: 'eur', reason: 'the day is over' });
  assert.equal(closed.statusCode, 200, closed.body);
  const { id: file, sha256 } = closed.json();
  const submitted = await both(`bank/files/${file}/download`, { reason: 'to be uploaded' });
  assert.equal(submitted.headers['content-disposition'], `attachment; filename="CLOVERLEAF-${file}.xml"`);
  assert.equal(submitted.headers['x-content-sha256'], sha256);
  assert.match(submitted.body, /<InstdAmt Ccy="EUR">123.45</);
  const statement = w.nextStatement([{ units: -12_345n, endToEnd: id.replaceAll('_', '-'), ref: 'D1' }]);
  const taken = await post('bank/statements?asset=eur', statement, ada, 'application/xml');
  assert.deepEqual([taken.statusCode, taken.json().taken, taken.json().import.newLines], [200, 'taken', 1], taken.body);
  await w.rail.observe();
  assert.equal((await get(`files/${file}`)).body.list[0].state, 'settled');
  const sha = createHash('sha256').update(statement).digest('hex');
  assert.deepEqual(await actions(), [
    'ada bank.close_file bank.manual:eur the day is over',
    'bob bank.close_file bank.manual:eur looked at',
    'bob bank.close_file bank.manual:eur the day is over (proposed by ada; looked at)',
    `ada bank.download_file bank.manual:${file} to be uploaded`,
    `bob bank.download_file bank.manual:${file} looked at`,
    // The file has the name and the account of each of its payees.
    'bob personal.read customer:rows_1 to be uploaded (proposed by ada; looked at)',
    `bob bank.download_file bank.manual:${file} to be uploaded (proposed by ada; looked at)`,
    // The statement has no credits, so one person is enough.
    `ada bank.take_statement bank.manual:${sha} a statement of the bank`,
  ]);
  const ofCustomer = await injectDeclared(app, {
    url: '/operator/v1/audit?subject=customer:rows_1',
    headers: { authorization: `Bearer ${vic.token}` },
  });
  assert.deepEqual(
    ofCustomer.json().audit.map(({ operator: by, after: seen }: Record<string, unknown>) => [by, seen]),
    [['bob', { file: `bank.manual:${file}` }]],
  );
  const { from, closing } = (await get(`statements?asset=eur&from=${w.today()}&to=${w.today()}`)).body.statements[0];
  assert.deepEqual([from, closing], [w.today(), '-123.45']);
  assert.equal((await get('imports')).body.imports.length, 1);
  assert.equal((await get('accounts')).body.accounts.length, 2);
  assert.ok(!JSON.stringify([waiting.body, await get('files'), await get(`files/${file}`)]).includes('DE89'));
});

test('a file downloaded twice and its statement taken in twice after settling pay and book once', async () => {
  const id = await w.pays(7_700n);
  const { id: file, sha256 } = (await both('bank/files', { asset: 'eur', reason: 'the day is over' })).json();
  const download = () => both(`bank/files/${file}/download`, { reason: 'to be uploaded' });
  const [first, second] = [await download(), await download()];
  assert.deepEqual(
    [second.body, second.headers['x-content-sha256']],
    [first.body, sha256],
    'the second download differs',
  );
  const statement = w.nextStatement([{ units: -7_700n, endToEnd: id.replaceAll('_', '-'), ref: 'D77' }]);
  const takes = () => post('bank/statements?asset=eur', statement, ada, 'application/xml');
  assert.equal((await takes()).json().import.newLines, 1);
  await w.rail.observe();
  const books = async () => ({
    list: (await get(`files/${file}`)).body.list,
    lines: await w.db.asSystem((tx) => tx.rows(`select meaning, key, units from bank_lines order by external_id`)),
    cases: await w.db.asSystem((tx) => tx.rows('select kind, subject, closed_at from cases order by id')),
  });
  const once = await books();
  assert.equal(once.list[0].state, 'settled');

  const again = await takes();
  assert.equal(again.statusCode, 200, again.body);
  assert.equal(again.json().taken, 'known', again.body);
  await w.rail.observe();
  assert.deepEqual(await books(), once);
  // Nobody needs the file any more, and not every bank recognises it by its id.
  const late = await post(`bank/files/${file}/download`, { reason: 'to be uploaded' });
  assert.deepEqual(
    [late.statusCode, late.json()],
    [
      409,
      {
        error: `1 of its payouts were paid: ${id} (settled). The file must not be uploaded any more.`,
        reason: 'batch_refused',
      },
    ],
  );
  assert.deepEqual(await books(), once);
});

test('a refused action states the reason, changes nothing and is not recorded', async () => {
  const before = await actions();
  const wrong = await post(
    'bank/statements?asset=eur',
    germanCsv([{ units: 5n }], { iban: 'DE75512108001245126199' }),
    ada,
    'text/csv',
  );
  assert.deepEqual(
    [wrong.statusCode, wrong.json()],
    [400, { error: 'Line 4 belongs to another account.', reason: 'file_refused' }],
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
  assert.equal((await injectDeclared(app, { url: '/operator/v1/bank/files' })).statusCode, 401);
  assert.equal(
    (await get('statements?asset=eur&from=yesterday&to=2026-01-01')).body.fields.from,
    'must be a day, YYYY-MM-DD',
  );
  const february = (await get('statements?asset=eur&from=2026-02-01&to=2026-02-31')).body;
  assert.equal(february.fields?.to, 'must be a day, YYYY-MM-DD', JSON.stringify(february));
  assert.deepEqual(await actions(), before);
});

test('a payout is taken off the list, and a file that was not uploaded is withdrawn with its reason', async () => {
  const id = await w.pays(500n);
  assert.equal((await post(`bank/payouts/${id}/take-off`, { reason: 'the customer asked' })).statusCode, 200);
  const other = await w.pays(600n);
  const { id: file } = (await both('bank/files', { asset: 'eur', reason: 'evening' })).json();
  const withdrawn = await both(`bank/files/${file}/withdraw`, { reason: 'The bank showed an error and took nothing.' });
  assert.match(withdrawn.json().withdrawnWhy, /^The bank showed an error and took nothing\. \(proposed by ada/);
  for (const key of [id, other]) {
    await w.looksAt(key);
    assert.equal(await w.state(key), 'rejected');
  }
  assert.equal((await post(`bank/files/${file}/download`, { reason: 'to be sure' })).statusCode, 409);
});

test('two people settle a file by one debit of another amount; one alone, a stale proposal and a file that never left do not', async () => {
  const file = async (units: readonly bigint[]) => {
    const ids: string[] = [];
    for (const one of units) ids.push(await w.pays(one));
    return { ids, id: (await both('bank/files', { asset: 'eur', reason: 'the day is over' })).json().id as string };
  };
  const shows = async (units: bigint, text: string, ref: string) => {
    const taken = await post('bank/statements?asset=eur', w.nextStatement([{ units, text, ref }]), ada, 'text/xml');
    assert.equal(taken.statusCode, 200, taken.body);
    await w.rail.observe();
    return w.of('unexplained_debit').at(-1)?.externalId ?? '';
  };
  const confirms = async (proposal: string, person = bob) =>
    await post(`proposals/${proposal}/confirm`, { reason: 'looked at' }, person);
  const { ids, id } = await file([4_001n, 4_002n]);
  const path = `bank/files/${id}/settle-by`;
  const unnamed = await shows(-8_000n, 'SAMMLER', 'UNNAMED');
  const never = await post(path, { line: unnamed, reason: 'the bank says so' });
  assert.deepEqual([never.statusCode, never.json().reason], [409, 'batch_refused'], never.body);
  assert.match(never.json().error, /never downloaded/);
  const line = await shows(-8_050n, `SAMMLER CLOVERLEAF-${id}`, 'NAMED');
  const asked = { line, reason: 'the bank named both payments' };
  assert.equal((await post(path, asked, vic)).statusCode, 403);

  const stale = await post(path, asked);
  assert.equal(stale.statusCode, 202, stale.body);
  assert.equal((await confirms(stale.json().proposal, ada)).json().reason, 'own_proposal');
  const shown = await injectDeclared(app, {
    url: `/operator/v1/proposals/${stale.json().proposal}`,
    headers: { authorization: `Bearer ${vic.token}` },
  });
  const { seen } = shown.json();
  assert.deepEqual(seen, {
    ...{ file: id, line, asset: 'eur', explained: false, named: true, debitUnits: '80.5', chargeUnits: '0' },
    ...{ units: '80.03', differenceUnits: '0.47' },
    payouts: [
      { key: ids[0], asset: 'eur', units: '40.01', state: 'open' },
      { key: ids[1], asset: 'eur', units: '40.02', state: 'open' },
    ],
  });
  // A payout's own line comes in between.
  const own = w.nextStatement([{ units: -4_002n, endToEnd: ids[1]?.replaceAll('_', '-') ?? '', ref: 'OWN' }]);
  await post('bank/statements?asset=eur', own, ada, 'text/xml');
  await w.rail.observe();
  const late = await confirms(stale.json().proposal);
  assert.deepEqual([late.statusCode, late.json().reason], [409, 'proposal_overtaken'], late.body);
  assert.deepEqual([await w.state(ids[0] ?? ''), await w.state(ids[1] ?? '')], ['submitted', 'settled']);

  const done = await both(path, { ...asked, payouts: [ids[0]] });
  assert.equal(done.statusCode, 200, done.body);
  assert.deepEqual([done.json().after.explained, done.json().after.differenceUnits], [true, '40.49']);
  assert.equal(await w.state(ids[0] ?? ''), 'settled');
  const again = await post(path, { ...asked, payouts: [ids[0]] });
  assert.deepEqual([again.statusCode, again.json().reason], [409, 'does_not_fit'], again.body);
  // A debit without any name is taken for a file that was downloaded, also under the earlier name of the action.
  const downloads = (id: string) => both(`bank/files/${id}/download`, { reason: 'to be uploaded' });
  const downloaded = (id: string) =>
    w.rows.query(
      `insert into audit (at, operator, role, address, action, subject, reason, outcome)
       values (now(), 'ada', 'treasury', '::1', 'bank.hand_out_file', $1, 'uploaded', 'done')`,
      [`bank.manual:${id}`],
    );
  for (const [units, leaves] of [[4_003n, downloads] as const, [4_004n, downloaded] as const]) {
    const other = await file([units]);
    await leaves(other.id);
    const another = units === 4_003n ? unnamed : await shows(-8_010n, 'SAMMLER', 'UNNAMED 2');
    const settled = await both(`bank/files/${other.id}/settle-by`, { line: another, reason: 'the bank says so' });
    assert.equal(settled.statusCode, 200, settled.body);
    assert.deepEqual([settled.json().after.named, await w.state(other.ids[0] ?? '')], [false, 'settled']);
  }
});

test('no file is closed or downloaded while submission is switched off', async () => {
  await w.pays(700n);
  const { id: file } = (await both('bank/files', { asset: 'eur', reason: 'evening' })).json();
  await w.pays(701n);
  const stop = { kind: 'rail', subject: w.rail.code, reason: 'it burns' };
  assert.equal((await post('kill-switches', stop)).statusCode, 200);
  for (const path of ['bank/files', `bank/files/${file}/download`]) {
    const refused = await post(path, { ...(path === 'bank/files' ? { asset: 'eur' } : {}), reason: 'now' });
    assert.deepEqual(
      [refused.statusCode, refused.json().error],
      [409, 'Submission of payouts is switched off, so no payout file can be closed or downloaded.'],
    );
  }
  assert.equal((await post('kill-switches/lift', stop)).statusCode, 200);
  assert.equal((await both(`bank/files/${file}/download`, { reason: 'now' })).statusCode, 200);
});

test('a file with a payout that may not leave yet is not downloaded; the refusal names the payout and the reason, and it is checked again at once', async () => {
  const key = await w.pays(750n);
  const { id: file } = (await both('bank/files', { asset: 'eur', reason: 'evening' })).json();
  const enqueued = async () => (await w.rows.query(`select enqueued from jobs where subject = $1`, [key]))[0]?.enqueued;
  const before = Number(await enqueued());
  w.gateSays(key, {
    outcome: 'wait',
    why: 'its screening result is too old and is requested again',
    againInMs: 30_000,
  });
  const refused = await post(`bank/files/${file}/download`, { reason: 'now' });
  assert.deepEqual([refused.statusCode, refused.json().reason], [409, 'batch_refused'], refused.body);
  assert.match(refused.json().error, new RegExp(`${key} \\(its screening result is too old`));
  assert.equal(Number(await enqueued()), before + 1, 'no job asks the screener again');
  w.gateSays(key, { outcome: 'pay' });
  const proposed = await post(`bank/files/${file}/download`, { reason: 'now' });
  assert.equal(proposed.statusCode, 202, proposed.body);
  w.gateSays(key, { outcome: 'wait', why: 'not cleared', againInMs: 30_000 });
  const confirm = `proposals/${proposed.json().proposal}/confirm`;
  const late = await post(confirm, { reason: 'looked at' }, bob);
  assert.deepEqual([late.statusCode, late.json().reason], [409, 'batch_refused'], late.body);
  assert.equal(Number(await enqueued()), before + 2);
  w.gateSays(key, { outcome: 'pay' });
});

test('a payout that is listed after a file was proposed is left for the next one', async () => {
  const first = await w.pays(800n);
  const proposed = await post('bank/files', { asset: 'eur', reason: 'noon' });
  w.clock.advance(1_000);
  const second = await w.pays(801n);
  const closed = await post(`proposals/${proposed.json().proposal}/confirm`, { reason: 'looked at' }, bob);
  assert.equal(closed.statusCode, 200, closed.body);
  const list = (await get(`files/${closed.json().id}`)).body.list.map(({ key }: { key: string }) => key);
  assert.ok(list.includes(first) && !list.includes(second), JSON.stringify(list));
  const next = await post('bank/files', { asset: 'eur', reason: 'evening' });
  await post(`bank/payouts/${second}/take-off`, { reason: 'the customer asked' });
  const late = await post(`proposals/${next.json().proposal}/confirm`, { reason: 'looked at' }, bob);
  assert.equal(late.json().reason, 'proposal_overtaken', 'a list other than the proposed one was confirmed');
});

test('a file holds exactly the payouts that were shown when it was proposed, or is not closed', async () => {
  const [goes, waits, held] = [await w.pays(810n), await w.pays(811n), await w.pays(812n)];
  w.gateSays(waits, { outcome: 'wait', why: 'not cleared', againInMs: 60_000 });
  const propose = async () => {
    const said = await post('bank/files', { asset: 'eur', reason: 'noon' });
    const { seen } = (await get(`../proposals/${said.json().proposal}`)).body;
    return { confirm: `proposals/${said.json().proposal}/confirm`, seen };
  };
  const first = await propose();
  assert.deepEqual(
    [first.seen.payouts.includes(goes), first.seen.payouts.includes(waits), first.seen.payouts.includes(held)],
    [true, false, true],
    'the proposal shows a payout that the gate holds',
  );
  w.gateSays(held, { outcome: 'hold', why: 'held: customer_blocked' });
  const files = (await get('files')).body.files.length;
  const late = await post(first.confirm, { reason: 'looked at' }, bob);
  assert.deepEqual([late.statusCode, late.json().reason], [409, 'batch_refused'], late.body);
  assert.match(late.json().error, new RegExp(`Payout ${held} .*held: customer_blocked.*No file was closed`));
  assert.equal((await get('files')).body.files.length, files, 'a file other than the shown one was created');
  await w.looksAt(held);
  const leaves = await propose();
  const stays = await post(leaves.confirm, { reason: 'looked at' }, bob);
  assert.deepEqual(stays.json().leftOut, [{ key: waits, why: 'not cleared' }], stays.body);
  await w.pays(813n);
  const second = await propose();
  w.gateSays(waits, { outcome: 'pay' });
  const closed = await post(second.confirm, { reason: 'looked at' }, bob);
  assert.equal(closed.statusCode, 200, closed.body);
  const list = (await get(`files/${closed.json().id}`)).body.list.map(({ key }: { key: string }) => key);
  assert.deepEqual(list.toSorted(), second.seen.payouts.toSorted());
  assert.deepEqual(closed.json().leftOut, []);
  assert.ok(!list.includes(waits), 'a payout that became free meanwhile is in the file');
  const third = await propose();
  assert.ok(third.seen.payouts.includes(waits));
  const done = await post(third.confirm, { reason: 'looked at' }, bob);
  assert.equal(done.statusCode, 200, done.body);
  const named = await post('bank/files', { asset: 'eur', payouts: goes, reason: 'again' });
  assert.deepEqual(
    [named.statusCode, named.json().reason],
    [409, 'batch_refused'],
    'a payout that is in a file already was accepted',
  );
});

test('a statement that credits above the limit is taken in when another uploads the same file, to the byte', async () => {
  await w.db.asSystem((tx) => takes(tx, 2, { right: 'treasury', asset: 'eur', above: 10_000n }));
  const before = await w.db.asSystem((tx) => w.desk.imports(tx));
  const small = w.nextStatement([{ units: 9_000n, text: 'a', ref: 'C1' }]);
  assert.equal((await post('bank/statements?asset=eur', small, ada, 'application/xml')).statusCode, 200);
  const large = w.nextStatement([{ units: 2_000n, text: 'b', ref: 'C2' }]);
  const said = await post('bank/statements?asset=eur', large, ada, 'application/xml');
  assert.equal(said.statusCode, 202, 'credits that one person took in on one day were not added up');
  const confirm = `proposals/${said.json().proposal}/confirm`;
  const bare = await post(confirm, { reason: 'surely' }, bob);
  assert.deepEqual([bare.statusCode, bare.json().reason], [409, 'file_needed']);
  const own = await post('bank/statements?asset=eur', large, ada, 'application/xml');
  assert.deepEqual([own.statusCode, own.json().reason], [403, 'own_proposal']);
  const other = await post('bank/statements?asset=eur', `${large} `, bob, 'application/xml');
  // A person who took in nothing today is below the limit, but this is a different file.
  assert.equal(other.statusCode, 200, other.body);
  const same = await post('bank/statements?asset=eur', large, bob, 'application/xml');
  assert.equal(same.json().reason, 'proposal_overtaken', 'a statement whose lines are booked by now was confirmed');
  const third = w.nextStatement([{ units: 20_000n, text: 'c', ref: 'C3' }]);
  const waits = await post('bank/statements?asset=eur', third, ada, 'application/xml');
  const shown = (await get(`../proposals/${waits.json().proposal}`)).body;
  assert.deepEqual([shown.seen.creditUnits, shown.seen.lines], ['200', 1], JSON.stringify(shown));
  const { now, problem } = (await get(`../proposals/${waits.json().proposal}/subject`)).body;
  assert.deepEqual([now, problem], [null, 'not_comparable'], 'compared with a file that was sent in another request');
  const taken = await post('bank/statements?asset=eur&reason=compared', third, bob, 'application/xml');
  assert.deepEqual([taken.statusCode, taken.json().taken], [200, 'taken'], taken.body);
  const imports = await w.db.asSystem((tx) => w.desk.imports(tx));
  assert.equal(imports.length - before.length, 3);
});

test('a statement is agreed to by somebody of a role that a rule names, who may not take one in alone', async () => {
  const carol = await operatorNamed({ ...w, baseUrl: '' }, 'carol', 'compliance');
  const limit = { action: 'bank.take_statement', right: '*', asset: 'eur', aboveUnits: 0n };
  const takesIn = (file: string, person: Person) => post('bank/statements?asset=eur', file, person, 'application/xml');
  const [first, second] = ['R1', 'R2'].map((ref) => w.nextStatement([{ units: 3_000n, text: 'd', ref }]));
  const said = () => post('bank/statements/preview?asset=eur', second ?? '', carol, 'application/xml');
  assert.equal((await said()).json().reason, 'role_missing', 'no rule names her role');
  await w.db.asSystem((tx) => setRule(tx, { ...limit, people: 2, roles: ['compliance'] }));
  try {
    const waits = await takesIn(first ?? '', ada);
    assert.deepEqual([waits.statusCode, waits.json().awaits], [202, ['compliance']], waits.body);
    assert.equal((await takesIn(first ?? '', bob)).json().reason, 'approver_role');
    assert.equal((await takesIn(second ?? '', carol)).json().reason, 'role_missing', 'she proposed one');
    assert.equal((await said()).statusCode, 200, 'she cannot see what she is asked to agree to');
    const taken = await takesIn(first ?? '', carol);
    assert.deepEqual([taken.statusCode, taken.json().taken], [200, 'taken'], taken.body);
  } finally {
    await w.db.asSystem((tx) => setRule(tx, { ...limit, people: null }));
  }
});

test('a rule for every action lets no one close, hand out or withdraw a file alone', async () => {
  await w.db.asSystem((tx) => takes(tx, 1, { right: 'treasury', asset: 'eur' }));
  await w.pays(700n);
  const closed = await both('bank/files', { asset: 'eur', reason: 'evening' });
  assert.equal(closed.statusCode, 200, closed.body);
  for (const what of ['download', 'withdraw']) {
    const said = await post(`bank/files/${closed.json().id}/${what}`, { reason: 'alone' });
    assert.deepEqual([said.statusCode, said.json().people], [202, 2], `${what}: ${said.body.slice(0, 200)}`);
  }
});

test('a limit for payout files holds: each file counts, and the same file once', async () => {
  for (const action of ['bank.close_file', 'bank.download_file', 'bank.withdraw_file'])
    await w.db.asSystem((tx) => takes(tx, 2, { action, asset: 'eur', above: 1_000n }));
  if ((await w.asks((desk, tx) => desk.waiting(tx, 'eur'))).length > 0) await w.closes();
  await w.rail.observe();
  const cleo = await operatorNamed({ ...w, baseUrl: '' }, 'cleo', 'finance');
  const closes = async (units: bigint) => {
    w.clock.advance(1_000);
    await w.pays(units);
    return await post('bank/files', { asset: 'eur', reason: 'evening' }, cleo);
  };
  const first = await closes(900n);
  assert.equal(first.statusCode, 200, first.body);
  const second = await closes(200n);
  assert.deepEqual(
    [second.statusCode, second.json().people],
    [202, 2],
    'one person closed files of 900 and 200, together 1,100',
  );
  const agreed = await post(`proposals/${second.json().proposal}/confirm`, { reason: 'looked at' }, bob);
  assert.equal(agreed.statusCode, 200, agreed.body);
  const does = async (what: string, id: string) =>
    (await post(`bank/files/${id}/${what}`, { reason: 'the bank took none of it' }, cleo)).statusCode;
  const [one, two] = [first.json().id, agreed.json().id];
  assert.deepEqual(
    [await does('download', one), await does('download', one), await does('download', two)],
    [200, 200, 202],
  );
  assert.deepEqual([await does('withdraw', one), await does('withdraw', two)], [200, 202]);
});

test('the opening balance of the first statement of an account counts like a credit', async () => {
  await w.db.asSystem((tx) => takes(tx, 2, { right: 'treasury', asset: 'inr', above: 10_000n }));
  const first = camt({ currency: 'INR', number: '000100020003', from: w.today(), opening: 5_000_000n, entries: [] });
  const said = await post('bank/statements?asset=inr', first, ada, 'application/xml');
  assert.equal(said.statusCode, 202, said.body);
  const { seen } = (await get(`../proposals/${said.json().proposal}`)).body;
  assert.deepEqual([seen.creditUnits, seen.lines], ['50000', 0]);
  const taken = await post('bank/statements?asset=inr&reason=compared', first, bob, 'application/xml');
  assert.deepEqual([taken.statusCode, taken.json().taken], [200, 'taken'], taken.body);
});

test('a statement of days that have not come needs a reason', async () => {
  const day = new Date(w.clock.now().getTime() + 3 * 86_400_000).toISOString().slice(0, 10);
  const file = camt({
    id: 'future',
    currency: 'INR',
    number: '000100020003',
    from: day,
    opening: 5_000_000n,
    entries: [],
  });
  const send = (reason: string) => post(`bank/statements?asset=inr${reason}`, file, ada, 'application/xml');
  const refused = await send('');
  assert.deepEqual([refused.statusCode, refused.json().reason], [400, 'file_refused'], refused.body);
  assert.match(refused.json().error, new RegExp(`ends on ${day}, which is in the future: give a reason`));
  assert.equal((await send('&reason=the%20bank%20dates%20it%20so')).statusCode, 200);

  const [from, to] = [day, day.replace(/^..../, '2099')];
  const far = camt({ id: 'far', currency: 'INR', number: '000100020003', from, to, opening: 5_000_000n, entries: [] });
  const misdated = await post('bank/statements?asset=inr&reason=typed%20so', far, ada, 'application/xml');
  assert.deepEqual(
    [misdated.statusCode, misdated.json().reason],
    [400, 'file_refused'],
    'a statement with a wrong year was taken in',
  );
  assert.match(misdated.json().error, new RegExp(`ends on ${to}: it may end at most 14 days in the future`));
});
