/** Customers, their verification and accounts, the events they cause, and the decisions of compliance about them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Refusal } from '../src/base/errors.ts';
import * as compliance from '../src/compliance/index.ts';
import * as customers from '../src/customers/index.ts';
import { emit } from '../src/events/index.ts';
import { createPartner, type Partner, upsertAsset } from '../src/partners/index.ts';
import { simulatedVerifier } from '../src/verifiers/simulated/index.ts';
import { type Fixture, freshFixture } from './support/fixture.ts';
import { fiat } from './support/terms.ts';

let fixture: Fixture;
let mine: Partner;
let other: Partner;

before(async () => {
  fixture = await freshFixture();
  const now = fixture.clock.now();
  await fixture.db.asSystem(async (tx) => {
    mine = await createPartner(tx, { name: 'Mine', now, tradeLevel: 2 });
    other = await createPartner(tx, { name: 'Other', now });
    await upsertAsset(tx, fiat('inr'));
    await upsertAsset(tx, fiat('eur'));
  });
});

after(() => fixture?.stop());

const refusal = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;
const now = () => fixture.clock.now();
let phones = 0;
const enroll = (partner: Partner, clientCustomerId: string) =>
  fixture.db.asPartner(partner.id, (tx) =>
    customers.enroll(tx, fixture.vault, {
      partnerId: partner.id,
      clientCustomerId,
      phone: `+1 555 ${(phones += 1)}`,
      kind: 'INDIVIDUAL',
      now: now(),
    }),
  );
const find = (partner: Partner, id: string) => fixture.db.asPartner(partner.id, (tx) => customers.findCustomer(tx, id));
const verify = (customer: customers.Customer, outcome: customers.Customer['verification'], level: number) =>
  fixture.db.asPartner(mine.id, (tx) =>
    customers.recordVerification(tx, { customer, verifier: simulatedVerifier.code, outcome, level, now: now() }),
  );
const addAccount = (customer: customers.Customer, details: Record<string, string>, fiat = 'inr') => {
  fixture.clock.advance(1);
  return fixture.db.asPartner(mine.id, (tx) =>
    customers.addFiatAccount(tx, fixture.vault, { customer, fiat, details, now: now() }),
  );
};
const eventsOf = (subject: string) =>
  fixture.db.asSystem((tx) =>
    tx.rows<{ seq: number; type: string; body: Record<string, unknown> }>(
      'select subject_seq as seq, type, body from events where subject = $1 order by subject_seq',
      [subject],
    ),
  );

test('a customer has ten letters or digits, an underscore and the partner', async () => {
  const customer = await enroll(mine, 'a');
  assert.match(customer.id, new RegExp(`^[0-9A-Za-z]{10}_${mine.id}$`));
  assert.deepEqual(await find(mine, customer.id), customer);
});

test('a name the partner has given before is refused, with the id it has', async () => {
  const customer = await enroll(mine, 'twice');
  await assert.rejects(
    enroll(mine, 'twice'),
    (error: unknown) =>
      error instanceof Refusal && error.code === 'customer_exists' && error.facts.customerId === customer.id,
  );
  assert.notEqual((await enroll(other, 'twice')).id, customer.id, 'another partner could not use the same name');
});

test('one of ten concurrent enrolments of the same name succeeds', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => enroll(mine, 'at once')));
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') assert.ok(refusal('customer_exists')(outcome.reason));
});

test("another partner's customer is unknown", async () => {
  const customer = await enroll(other, 'hidden');
  for (const id of [customer.id, 'AAAAAAAAAA_1', '', "x' or 1=1", 'x\0', 'a'.repeat(100_000)]) {
    await assert.rejects(find(mine, id), refusal('unknown_customer'));
  }
});

test('trading wants a login and a level, and a review of a higher level does not stop it', async () => {
  let customer = await enroll(mine, 'trader');
  const may = (code: string) => assert.throws(() => customers.requireTrading(customer, mine), refusal(code));
  may('login_required');
  await fixture.db.asPartner(mine.id, (tx) => customers.recordLogin(tx, customer.id, now()));
  customer = await find(mine, customer.id);
  may('verification_required');
  customer = await verify(customer, 'verified', 1);
  may('verification_required');
  const asked = { key: '1', customerId: customer.id, kind: customer.kind, level: 2 };
  const finding = await simulatedVerifier.finding(asked);
  customer = await verify(customer, finding.outcome, finding.level);
  customers.requireTrading(customer, mine);
  customer = await verify(customer, 'in_review', 2);
  customers.requireTrading(customer, mine);
  customer = await verify(customer, 'refused', 2);
  may('verification_required');
  assert.deepEqual([customer.previousLevel, customer.level], [1, 2]);
  await fixture.db.asSystem((tx) => customers.blockCustomer(tx, customer.id, now()));
  customer = await find(mine, customer.id);
  may('customer_blocked');
});

test('every verification is an event of the customer, numbered', async () => {
  const customer = await enroll(mine, 'events');
  await verify(customer, 'in_review', 0);
  await verify(customer, 'verified', 3);
  const events = await eventsOf(`customer:${customer.id}`);
  assert.deepEqual(
    events.map(({ seq, type, body }) => [seq, type, body.verification, body.level]),
    [
      [1, 'customer.verification', 'in_review', 0],
      [2, 'customer.verification', 'verified', 3],
    ],
  );
});

test('events of one subject written at once are numbered without a gap', async () => {
  const write = (i: number) =>
    fixture.db.asPartner(mine.id, (tx) =>
      emit(tx, { partnerId: mine.id, type: 'test', subject: 'test:1', body: { i, units: 10n ** 30n }, at: now() }),
    );
  await Promise.all(Array.from({ length: 40 }, (_, i) => write(i)));
  const events = await eventsOf('test:1');
  assert.deepEqual(
    events.map(({ seq }) => seq),
    Array.from({ length: 40 }, (_, i) => i + 1),
  );
  assert.equal(events[0]?.body.units, String(10n ** 30n), 'an amount lost digits');
});

test('an event is not there when its cause is undone', async () => {
  const write = fixture.db.asPartner(mine.id, async (tx) => {
    await emit(tx, { partnerId: mine.id, type: 'test', subject: 'test:2', body: {}, at: now() });
    throw new Error('the cause fails');
  });
  await assert.rejects(write);
  assert.deepEqual(await eventsOf('test:2'), []);
});

test('the same account details again, however spelt, are the same account', async () => {
  const customer = await enroll(mine, 'accounts');
  const account = await addAccount(customer, { account: '1234 5678 90', ifsc: 'TEST0001' });
  assert.equal(account.hint, '890');
  assert.equal((await addAccount(customer, { ifsc: 'test0001', account: '1234-567890' })).id, account.id);
  const more = [
    await addAccount(customer, { account: '1234567891', ifsc: 'TEST0001' }),
    await addAccount(customer, { account: '1234567890', ifsc: 'TEST0001' }, 'eur'),
    await addAccount(await enroll(mine, 'accounts too'), { account: '1234567890', ifsc: 'TEST0001' }),
  ];
  assert.equal(new Set([account, ...more].map(({ id }) => id)).size, 4);
  const listed = await fixture.db.asPartner(mine.id, (tx) => customers.fiatAccounts(tx, customer.id));
  assert.deepEqual(
    listed.map(({ id }) => id),
    [account, more[0], more[1]].map((one) => one?.id),
  );
});

test('an account is opened by its own partner alone', async () => {
  const account = await addAccount(await enroll(mine, 'opened'), { account: '42424242', ifsc: 'TEST0001' });
  const open = (partner: Partner, id: bigint) =>
    fixture.db.asPartner(partner.id, (tx) => customers.openFiatAccount(tx, fixture.vault, id));
  assert.deepEqual((await open(mine, account.id)).details, { account: '42424242', ifsc: 'TEST0001' });
  for (const id of [account.id, 0n, -1n, 2n ** 63n, 10n ** 40n]) {
    await assert.rejects(open(other, id), refusal('unknown_account'));
  }
});

test('a hint never shows more than a third of a short number', async () => {
  const customer = await enroll(mine, 'hints');
  assert.equal((await addAccount(customer, { account: '12' })).hint, '');
  assert.equal((await addAccount(customer, { account: '123456' })).hint, '56');
  assert.equal((await addAccount(customer, { iban: 'DE89 3704 0044 0532 0130 00' })).hint, '3000');
});

// Compliance.

const payout = async (customer: customers.Customer, to: { account: Record<string, string> } | { address: string }) => ({
  id: 1n,
  partnerId: mine.id,
  customerId: customer.id,
  merchantReference: null as string | null,
  fiatAccountId: 'account' in to ? (await addAccount(customer, to.account)).id : null,
  payoutAddress: 'address' in to ? to.address : null,
});

test('a payout to a denied destination is held, and the decision names the list', async () => {
  const { db, vault } = fixture;
  const screener = compliance.openScreener(fixture);
  const customer = await enroll(mine, 'screened');
  const toAccount = await payout(customer, { account: { account: '777 000 777', ifsc: 'TEST0001' } });
  const toAddress = await payout(customer, { address: '0xAbCd' });
  assert.equal((await screener.screen(toAccount)).outcome, 'cleared');
  const load = (version: string, destinations: { kind: 'address' | 'account'; value: string }[]) =>
    db.asSystem((tx) =>
      compliance.replaceDenyList(tx, vault, { list: 'sanctions', version, destinations, now: now() }),
    );
  await load('v1', [
    { kind: 'account', value: '777000777' },
    { kind: 'address', value: '0xABCD' },
    { kind: 'address', value: '0xABCD' },
  ]);
  for (const input of [toAccount, toAddress, { ...toAddress, purpose: 'refund' as const }]) {
    const verdict = await screener.screen(input);
    assert.deepEqual(
      [verdict.outcome, verdict.reason, verdict.rules],
      ['held', 'destination_denied', 'built-in 1, sanctions@v1'],
    );
    assert.deepEqual(verdict.inputs.foundOn, ['sanctions']);
  }
  await load('v2', []);
  const verdict = await screener.screen(toAccount);
  assert.deepEqual([verdict.outcome, verdict.rules], ['cleared', 'built-in 1, sanctions@v2']);
});

test('a customer who was blocked after ordering is held', async () => {
  const customer = await enroll(mine, 'blocked');
  const input = await payout(customer, { address: '0x1' });
  await fixture.db.asSystem((tx) => customers.blockCustomer(tx, customer.id, now()));
  const verdict = await compliance.openScreener(fixture).screen(input);
  assert.deepEqual([verdict.outcome, verdict.reason], ['held', 'customer_blocked']);
});

test('the magic reference holds a payout and lets its refund go', async () => {
  const screener = compliance.magicScreener(compliance.openScreener(fixture), fixture.vault, async () => '10');
  const input = await payout(await enroll(mine, 'magic'), { address: '0x1' });
  assert.equal((await screener.screen(input)).outcome, 'cleared');
  const magic = { ...input, merchantReference: compliance.MAGIC_HOLDS.reference };
  assert.equal((await screener.screen(magic)).reason, 'held_by_magic_value');
  assert.equal((await screener.screen({ ...magic, purpose: 'refund' as const })).outcome, 'cleared');
});

test('one case of a kind is open per subject, however often its cause recurs, and a new one after it is closed', async () => {
  const { db } = fixture;
  const open = () =>
    db.asSystem((tx) =>
      compliance.openCase(tx, {
        kind: 'overpaid',
        subject: 'case:1',
        partnerId: mine.id,
        reason: 'why',
        facts: { units: 5n },
        now: now(),
      }),
    );
  const counts = () =>
    db.asSystem(async (tx) => (await compliance.openCaseCounts(tx)).map(({ kind, count }) => [kind, count]));
  await Promise.all(Array.from({ length: 8 }, open));
  assert.deepEqual(await counts(), [['overpaid', 1n]]);
  await db.asSystem((tx) =>
    compliance.closeCases(tx, { kind: 'rail_halted', subject: 'case:1', outcome: 'no', now: now() }),
  );
  assert.deepEqual(await counts(), [['overpaid', 1n]]);
  await db.asSystem((tx) => compliance.closeCases(tx, { subject: 'case:1', outcome: 'done', now: now() }));
  assert.deepEqual(await counts(), []);
  await open();
  assert.deepEqual(await counts(), [['overpaid', 1n]]);
});
