/**
 * Operators' texts: a name in any free field of their wire is in no dump, is read back as typed, and the seals of the audit
 * detect a reason that is edited afterwards.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { cutTyped, encryptTyped, encryptTypedSame, openTyped, openTypedIn } from '../../src/base/typed.ts';
import { openCase } from '../../src/compliance/index.ts';
import { findCustomer, recordFinding, saveDetails } from '../../src/customers/index.ts';
import { sealAudit, verifyAudit } from '../../src/operators/index.ts';
import { OPERATOR_API_ACTIONS } from '../../src/protocols/operator/index.ts';
import { operatorNamed, type Person } from '../protocols/operator/people.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../protocols/whitelabel/environment.ts';
import { fetchDeclared } from '../support/declared.fetch.ts';
import { findInDump } from '../support/dump.ts';
import { operatorApi, silentBank } from '../support/operatorapi.ts';
import { until } from '../support/until.ts';

const TYPED = 'Mrs Zenobia Quagmire of DE89 3704 0044 0532 0130 00 called';
const WORDS = ['Zenobia', 'Quagmire', 'DE89370400440532013000', '3704 0044'];

/** Fields of actions that are stored unencrypted, and why they contain no personal data. */
const IN_CLEAR: Readonly<Record<string, string>> = {
  'partner.create name': 'the public name of a company, which its customers are shown',
};

let world: Environment;
let ada: Person;
let bea: Person;
let finn: Person;
let shop: TestPartner;
let owner: Client;

before(async () => {
  world = await wireEnvironment({
    production: true,
    beside: (fixture) => operatorApi(fixture, { rails: silentBank }),
  });
  ada = await operatorNamed(world, 'ada', 'admin');
  bea = await operatorNamed(world, 'bea', 'admin');
  finn = await operatorNamed(world, 'finn', 'finance');
  shop = await world.partner('Shop');
  owner = new Client({ connectionString: world.adminUrl, options: '-c search_path=cloverleaf' });
  await owner.connect();
});
after(async () => {
  await owner?.end();
  await world?.stop();
});

/** Done, or confirmed by a second person if it takes two. */
async function done(path: string, body: Record<string, unknown> = {}): Promise<void> {
  const said = await ada.does(path, { ...body, reason: `${TYPED}: first` });
  if (said.status === 202) {
    const confirmed = await bea.does(`/proposals/${said.body.proposal}/confirm`, { reason: `${TYPED}: second` });
    assert.equal(confirmed.status, 200, `${path}: ${JSON.stringify(confirmed.body)}`);
    return;
  }
  assert.equal(said.status, 200, `${path}: ${JSON.stringify(said.body)}`);
}
const openedCase = async (subject: string): Promise<string> => {
  await world.db.asSystem((tx) =>
    openCase(tx, { kind: 'on_hold', subject, reason: 'a test', facts: {}, now: world.clock.now() }),
  );
  const { body } = await ada.reads('/cases?open=true');
  return String(body.cases.find((one: { subject: string }) => one.subject === subject).id);
};
const inReview = async (name: string): Promise<{ id: string; version: number }> => {
  const id = await world.customer(shop, shop.partner, name, false);
  const now = world.clock.now();
  return await world.db.asPartner(shop.partner.id, async (tx) => {
    const customer = await findCustomer(tx, id);
    const { version } = await saveDetails(tx, world.vault, { customer, details: { firstName: 'Asha' }, now });
    const finding = { outcome: 'in_review', level: 0 } as const;
    await recordFinding(tx, { customerId: id, version, verifier: 'manual', finding, now });
    return { id, version };
  });
};

test('a name that an operator types is in no dump, for any action, and is read back in its field', async () => {
  const noted = await openedCase('order:1');
  await done(`/cases/${noted}/note`);
  await done(`/cases/${noted}/assign`, { to: 'ada' });
  await done(`/cases/${noted}/close`, { outcome: TYPED });
  await done('/kill-switches', { kind: 'payouts', subject: 'all' });
  await done('/kill-switches/lift', { kind: 'payouts', subject: 'all' });
  const other = await world.partner('Other');
  await done('/kill-switches', { kind: 'partner', subject: String(other.partner.id) });
  await done('/dormancy', { afterDays: '400', noticeDays: '30' });
  await done('/shortages/pass', { rail: 'bank.simulated', asset: 'inr', minutes: '10' });
  await done('/self/token', { label: TYPED, days: '1' });
  await done(`/partners/${shop.partner.id}/keys`, { label: TYPED, scopes: 'read' });
  await done(`/customers/${shop.customerId}/block`);
  await done(`/customers/${shop.customerId}/unblock`);
  await done(`/customers/${shop.customerId}/detach-phone`, { evidence: TYPED });
  const proposal = String(
    (await finn.does('/kill-switches/lift', { kind: 'payouts', subject: 'all', reason: TYPED })).body.proposal,
  );
  assert.equal((await ada.does(`/proposals/${proposal}/decline`, { reason: TYPED })).status, 200);
  const [failed, refused] = [await inReview('failed'), await inReview('refused')];
  await done(`/customers/${failed.id}/review/decide`, { version: failed.version, outcome: 'failed' });
  await done(`/customers/${refused.id}/review/decide`, { version: refused.version, outcome: 'refused' });

  // And every field of every action, most of which refuse it: a refused text is not stored.
  for (const action of OPERATOR_API_ACTIONS)
    for (const name of Object.keys(action.fields).filter((field) => !(`${action.name} ${field}` in IN_CLEAR)))
      await ada.does(action.path.replace(/:\w+/g, '1'), { [name]: 'Zenobia-Quagmire', reason: TYPED });

  assert.deepEqual(await findInDump(world.adminUrl, WORDS), []);

  const shown = (body: unknown) => JSON.stringify(body);
  const found = (await ada.reads(`/cases/${noted}`)).body;
  assert.equal(found.outcome, TYPED);
  assert.ok(shown(found.actions).includes(TYPED), shown(found));
  const audit = (await ada.reads('/audit?limit=500')).body.audit;
  const lifted = audit.find(
    (row: { action: string; outcome: string }) => row.action === 'kill-switch.lift' && row.outcome === 'done',
  );
  assert.equal(lifted.reason, `${TYPED}: first (proposed by ada; ${TYPED}: second)`);
  const { input } = (await ada.reads('/proposals?limit=200')).body.proposals.find(
    (row: { action: string }) => row.action === 'key.create',
  );
  assert.equal(input.label, TYPED);
  assert.ok(shown((await ada.reads(`/partners/${shop.partner.id}`)).body).includes(TYPED), 'the label of a key');
  assert.ok(shown((await ada.reads('/self')).body).includes(TYPED), 'the label of a token');
  assert.ok(shown((await ada.reads('/kill-switches')).body).includes(`${TYPED}: first`), 'the reason of a kill switch');
  const status = await shop.post('kyc/status', { customerId: failed.id });
  assert.equal(status.body.data.failedReason, `${TYPED}: first`, 'what the partner is told');
  for (const path of [
    '/audit?limit=500',
    '/proposals?limit=200',
    '/self',
    '/kill-switches',
    '/cases?open=false',
    '/changes',
  ])
    assert.ok(!shown((await ada.reads(path)).body).includes('enc:'), `${path} shows an encrypted text`);
  const csv = await fetchDeclared(`${world.baseUrl}/operator/v1/audit?format=csv`, {
    headers: { authorization: `Bearer ${ada.token}` },
  });
  const rows = await csv.text();
  assert.ok(rows.includes(TYPED) && !rows.includes('enc:'), rows.slice(0, 300));
});

test('a reason of 500 characters with the maximum number of bytes is stored', async () => {
  const reason = '語'.repeat(500);
  const noted = await openedCase('order:2');
  assert.equal((await ada.does(`/cases/${noted}/note`, { reason })).status, 200);
  const { actions } = (await ada.reads(`/cases/${noted}`)).body;
  assert.ok(JSON.stringify(actions).includes(reason));
  assert.equal((await ada.does(`/cases/${noted}/note`, { reason: `${reason}x` })).status, 400);
});

test('a reason edited in the database is found, even if another encrypted one replaces it', async () => {
  const { db, clock } = world;
  await until('the audit is sealed', async () => {
    await db.asSystem((tx) => sealAudit(tx, clock.now()));
    const sql = 'select from audit a where not exists (select from sealed_audit s where s.audit_id = a.id) limit 1';
    return (await db.asSystem((tx) => tx.row(sql))) === undefined;
  });
  const { rows } = await owner.query(`select id from audit where reason like '%enc:op1:%' order by id limit 2`);
  const [first, second] = rows.map(({ id }) => id);
  const told: string[] = [];
  const verified = () =>
    db.asSystem((tx) => verifyAudit(tx, ({ subject, why }) => void told.push(`${subject}: ${why}`), clock.now()));
  await verified();
  assert.deepEqual(told, []);
  await owner.query(`set session_replication_role = 'replica'`);
  for (const [set, id] of [
    [`(select reason from audit where id = ${second})`, first],
    [`'in clear'`, second],
  ])
    await owner.query(`update audit set reason = ${set} where id = $1`, [id]);
  await owner.query(`set session_replication_role = 'origin'`);
  await verified();
  assert.deepEqual(
    told,
    [first, second].map((id) => `audit row ${id}: it has changed since it was sealed`),
  );
});

test('an encrypted text decrypts inside a sentence, once, and a foreign one never does', () => {
  const { vault } = world;
  const encrypted = encryptTyped(vault, 'Zenobia');
  assert.notEqual(encryptTyped(vault, 'Zenobia'), encrypted);
  assert.equal(encryptTypedSame(vault, 'Zenobia'), encryptTypedSame(vault, 'Zenobia'));
  assert.equal(openTyped(vault, `${encrypted}-${encrypted}, ${encrypted}`), 'Zenobia-Zenobia, Zenobia');
  assert.equal(
    openTyped(vault, encryptTyped(vault, encrypted)),
    encrypted,
    'an encrypted text that was typed was decrypted twice',
  );
  const odd = `enc:op1:${'A'.repeat(60)}.`;
  for (const text of [odd, 'enc:op1:', 'plain', `${encrypted.slice(0, -1)}`])
    assert.equal(openTyped(vault, text), text);
  const at = new Date(0);
  assert.deepEqual(openTypedIn(vault, { a: [encrypted, 1n, at], b: null }), { a: ['Zenobia', 1n, at], b: null });
  assert.equal(cutTyped(encrypted, 5), encrypted);
  assert.equal(cutTyped('plain', 2), 'pl');
});

test('the reason of a refusal is the partner’s text on its customer', async () => {
  const { id, version } = await inReview('for the partner');
  await done(`/customers/${id}/review/decide`, { version, outcome: 'failed' });
  const { failedReason } = await world.db.asSystem((tx) => findCustomer(tx, id));
  assert.match(failedReason ?? '', /^enc:v1:/);
});
