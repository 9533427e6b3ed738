/** A proposal beside its subject now: what has changed since is marked, and is what a confirmation finds changed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createServer } from '../../../src/protocols/whitelabel/index.ts';
import type { Came } from '../../support/client.ts';
import { type Fixture, freshFixture } from '../../support/fixture.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { openRows, type Rows } from '../../support/rows.ts';
import { operatorNamed, type Person, takes } from './people.ts';

let fixture: Fixture;
let rows: Rows;
let app: ReturnType<typeof createServer>;
let ada: Person;
let bob: Person;
let cleo: Person;
let vic: Person;
let partner = 0n;

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  app = createServer({ log: fixture.log });
  await app.register(operatorApi(fixture));
  const baseUrl = await app.listen({ port: 0, host: '127.0.0.1' });
  const people = { ...fixture, baseUrl };
  ada = await operatorNamed(people, 'ada', 'admin');
  bob = await operatorNamed(people, 'bob', 'admin');
  cleo = await operatorNamed(people, 'cleo', 'admin');
  vic = await operatorNamed(people, 'vic', 'viewer');
  await rows.cryptoAsset('usdc', 'evm.one', '0xc0', 6);
  partner = (await rows.order('usdc', 'evm.one', '0xt')).partnerId;
});
after(async () => {
  await app?.close();
  await rows?.close();
  await fixture?.stop();
});

/** @returns the number of the proposal */
async function proposes(path: string, body: Record<string, unknown>): Promise<string> {
  const { status, body: said } = await ada.does(path, body);
  assert.equal(status, 202, JSON.stringify(said));
  return said.proposal;
}
async function compared(proposal: string): Promise<Came> {
  const { status, body } = await vic.reads(`/proposals/${proposal}/subject`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}
const STOP = { kind: 'payouts', subject: 'all' };

test('a subject that is unchanged is shown twice, and nothing is marked', async () => {
  assert.equal((await bob.does('/kill-switches', STOP)).status, 200);
  const proposal = await proposes('/kill-switches/lift', STOP);
  const { seen, now, changed, problem, state } = await compared(proposal);
  assert.deepEqual([state, changed, problem], ['open', [], null]);
  assert.deepEqual([seen.on, seen.laidBy], [true, ['bob']]);
  assert.deepEqual(now, seen);
  assert.equal((await ada.does(`/proposals/${proposal}/decline`)).status, 200);
});

test('what has changed since is marked, and a confirmation finds it too', async () => {
  const proposal = await proposes('/kill-switches/lift', STOP);
  fixture.clock.advance(1_000);
  assert.equal((await ada.does('/kill-switches', STOP)).status, 200);
  const { seen, now, changed } = await compared(proposal);
  assert.deepEqual(changed, ['laidBy', 'lastAt']);
  assert.deepEqual([seen.laidBy, now.laidBy], [['bob'], ['bob', 'ada']]);
  const confirmed = await bob.does(`/proposals/${proposal}/confirm`);
  assert.deepEqual([confirmed.status, confirmed.body.reason], [409, 'proposal_overtaken']);
  assert.equal((await compared(proposal)).state, 'overtaken');
});

test('amounts on both sides are decimals of their asset', async () => {
  const set = { fiat: 'inr', max: '5000' };
  const first = await proposes(`/partners/${partner}/caps`, set);
  const { seen } = await compared(first);
  assert.equal((await bob.does(`/proposals/${first}/confirm`)).status, 200);
  const { now, changed } = await compared(first);
  const amountIn = (value: unknown) => JSON.stringify(value);
  assert.ok(changed.length > 0);
  assert.ok(!amountIn(seen).includes('5000'), amountIn(seen));
  assert.ok(/"5000"/.test(amountIn(now)), amountIn(now));
});

test('a subject that cannot be read any more, or only with its file, is said to be so', async () => {
  const proposal = await proposes(`/partners/${partner}/caps`, { fiat: 'inr', max: '7000' });
  for (const [action, input, problem] of [
    ['an.older.action', {}, 'not_comparable'],
    ['cap.set', { partner: '999', fiat: 'inr', max: '1' }, 'unknown_partner'],
  ] as const) {
    await rows.query('update proposals set action = $1, input = $2 where id = $3', [
      action,
      JSON.stringify(input),
      proposal,
    ]);
    const { now, changed, problem: said } = await compared(proposal);
    assert.deepEqual([now, changed, said], [null, [], problem]);
  }
});

test('of a rule that rose since, the proposal asks for the higher number of people', async () => {
  await bob.does('/kill-switches', STOP);
  const proposal = await proposes('/kill-switches/lift', STOP);
  const people = async () => {
    const { proposals } = (await vic.reads('/proposals?state=open')).body;
    return proposals.find(({ id }: Came) => String(id) === String(proposal)).people;
  };
  assert.equal(await people(), 2);
  await fixture.db.asSystem((tx) => takes(tx, 3, { action: 'kill-switch.lift' }));
  const said = await bob.does(`/proposals/${proposal}/confirm`);
  assert.deepEqual([said.status, said.body.people], [202, 3]);
  assert.equal(await people(), 3, 'the list still asks for two');
  assert.equal((await cleo.does(`/proposals/${proposal}/confirm`)).status, 200);
});

test('of an unknown proposal is an error', async () => {
  const { status, body } = await vic.reads('/proposals/999/subject');
  assert.deepEqual([status, body.reason], [404, 'unknown_proposal']);
});
