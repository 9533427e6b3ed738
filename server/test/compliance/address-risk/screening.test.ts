/**
 * Address risk on a real database: answers, hits and decisions, as the gate reads them. The provider answers late, twice, wrongly
 * and never; two processes ask at once; one ends and another goes on.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Tx } from '../../../src/base/db.ts';
import { Refusal, Unavailable } from '../../../src/base/errors.ts';
import {
  type AddressRiskProvider,
  decideAddressHit,
  eraseAddressHits,
  extendScreening,
  findDecided,
  listAddressHits,
  listAnswers,
  listCases,
  openAddressRisk,
  ProviderDown,
  replayDecision,
  type Screening,
  type Sender,
  screenOwn,
} from '../../../src/compliance/index.ts';
import { type Fixture, freshFixture } from '../../support/fixture.ts';
import { openRows, type Rows } from '../../support/rows.ts';

const RAIL = 'evm.test';
const HOUR_MS = 3_600_000;
const MAX_AGE_MS = HOUR_MS;

type Level = 'low' | 'medium' | 'high' | 'severe';
type Said = { level: Level; reason?: string } | 'nothing';

let fixture: Fixture;
let rows: Rows;
let partnerId = 0n;
let customers = 0;
const senders = new Map<bigint, Sender>();
const open = new Set<string>();
/** What the provider says about each address; anything else is of low risk. */
const says = new Map<string, Said>();
let asked: string[] = [];
/** Holds answers back until it resolves. */
let pause: Promise<void> | undefined;

const now = () => fixture.clock.now();
const inTx = <T>(work: (tx: Tx) => Promise<T>) => fixture.db.asSystem(work);

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  await rows.cryptoAsset('usdc.test', 'test', '0x01');
  ({ partnerId } = await rows.order('usdc.test', RAIL, '0xfirst'));
});
after(async () => {
  await rows?.close();
  await fixture?.stop();
});
beforeEach(() => {
  says.clear();
  open.clear();
  asked = [];
  pause = undefined;
});

const provider = (more: Partial<AddressRiskProvider> = {}): AddressRiskProvider => ({
  code: 'test',
  rules: '1',
  async assess({ rail, address }) {
    asked.push(address);
    const said = says.get(address) ?? { level: 'low' };
    const waited = pause;
    await waited;
    if (said === 'nothing') throw new Unavailable('test', 'it did not answer');
    const { level, reason = '' } = said;
    return { level, score: level.toUpperCase(), reason, answer: Buffer.from(JSON.stringify({ rail, address, said })) };
  },
  ...more,
});

/** A process of its own. */
const opens = (more: { threshold?: 'medium' | 'high' | 'severe'; rules?: string } = {}) =>
  openAddressRisk({
    ...{ db: fixture.db, clock: fixture.clock, threshold: more.threshold ?? 'high', maxAgeMs: MAX_AGE_MS },
    provider: provider({ rules: more.rules ?? '1' }),
    senderOf: async (_tx, id) => senders.get(id),
    underWay: async () => [...open].map((address) => ({ rail: RAIL, address })),
  });
type Process = ReturnType<typeof opens>;

let addresses = 0;
const newAddress = (): string => `0x${(++addresses).toString(16).padStart(40, '0')}`;

async function newCustomer(): Promise<string> {
  const id = `risky_${(customers += 1)}`;
  await rows.query(
    `insert into customers (id, partner_id, kind, created_at, updated_at) values ($1, $2, 'INDIVIDUAL', now(), now())`,
    [id, partnerId],
  );
  return id;
}

const to = (customerId: string | null, address: string | null, depositIds: bigint[] = []): Screening => ({
  ...{ id: 1n, partnerId, customerId, merchantReference: null, fiatAccountId: null, rail: RAIL, depositIds },
  payoutAddress: address,
});
const waits = async (one: Process, input: Screening) => (await inTx((tx) => one.wait(tx, input))) !== undefined;
const found = async (one: Process, input: Screening) =>
  (await inTx((tx) => one.read(tx, input))).hits.map(({ rule }) => rule);
const cases = async (kind: string, subject: string) =>
  (await inTx((tx) => listCases(tx, { open: true, kind, limit: 200 }))).filter((one) => one.subject === subject).length;
const outages = () => cases('screening_unavailable', 'address risk test');
const hitsOf = async (owner: string, state: 'open' | 'true_hit' | 'false_positive' = 'open') =>
  (await inTx((tx) => listAddressHits(tx, { state, after: 0n, limit: 200 }))).filter((hit) => hit.owner === owner);
const decides = (id: bigint, outcome: 'true_hit' | 'false_positive') =>
  inTx((tx) => decideAddressHit(tx, { id, outcome, people: ['ada', 'bea'], reason: 'looked at it', now: now() }));
const only = <T>(all: readonly T[]): T => {
  assert.equal(
    all.length,
    1,
    JSON.stringify(all, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  );
  return all[0] as T;
};
const answersAbout = (address: string) => inTx((tx) => listAnswers(tx, { address, limit: 100 }));

test('an address of low risk is asked once and lets money pass; the answer is kept with all that it was read by', async () => {
  const risk = opens();
  const [customer, address] = [await newCustomer(), newAddress()];
  assert.ok(await waits(risk, to(customer, address)), 'money does not wait for an answer');
  await risk.ensure(to(customer, address));
  await risk.ensure(to(customer, address));
  assert.deepEqual(asked, [address]);
  assert.ok(!(await waits(risk, to(customer, address))));
  assert.deepEqual(await found(risk, to(customer, address)), []);
  const answer = only(await answersAbout(address));
  assert.deepEqual(
    [answer.provider, answer.rules, answer.threshold, answer.level, answer.score, answer.digest.length],
    ['test', 'addresses 1, test 1', 'high', 'low', 'LOW', 64],
  );
  const verdict = await inTx((tx) => screenOwn(tx, fixture.vault, to(customer, address), risk));
  assert.deepEqual([verdict.outcome, verdict.inputs.addressRisks], ['cleared', [`low:${answer.id}`]]);
  assert.match(verdict.rules, /addresses 1, test 1, hit from high/);
});

test('an answer stays as it was given: no role of the server changes or deletes one', async () => {
  const address = newAddress();
  await opens().ensure(to(await newCustomer(), address));
  for (const change of [`update address_risks set level = 'low'`, 'delete from address_risks'])
    await assert.rejects(
      inTx((tx) => tx.run(change)),
      /permission denied/,
    );
  await assert.rejects(rows.query(`update address_risks set level = 'low'`), /append|change|insert/i);
});

test('an address at the threshold is a hit with one case; dismissed it passes, for this owner and this finding', async () => {
  const risk = opens();
  const [customer, other, address] = [await newCustomer(), await newCustomer(), newAddress()];
  says.set(address, { level: 'high', reason: 'mixing' });
  await risk.ensure(to(customer, address));
  await risk.ensure(to(customer, address));
  assert.deepEqual(await found(risk, to(customer, address)), ['address_risk_undecided']);
  assert.equal(await cases('address_risk_hit', `address_risk:customer:${customer}`), 1);
  const hit = only(await hitsOf(`customer:${customer}`));
  assert.deepEqual([hit.subject, hit.level, hit.finding], ['destination', 'high', 'mixing']);
  await decides(hit.id, 'false_positive');
  assert.deepEqual(await found(risk, to(customer, address)), []);
  assert.ok(!(await waits(risk, to(customer, address))));
  assert.equal(await cases('address_risk_hit', `address_risk:customer:${customer}`), 0);

  // Another owner decided nothing, and needs no second answer.
  assert.ok(await waits(risk, to(other, address)), 'money of another owner left on this decision');
  await risk.ensure(to(other, address));
  assert.deepEqual(await found(risk, to(other, address)), ['address_risk_undecided']);
  assert.deepEqual(asked, [address]);

  // The same finding again is no new question; another one is.
  fixture.clock.advance(MAX_AGE_MS + 1);
  await risk.ensure(to(customer, address));
  assert.deepEqual(await found(risk, to(customer, address)), []);
  says.set(address, { level: 'severe', reason: 'sanctioned' });
  fixture.clock.advance(MAX_AGE_MS + 1);
  await risk.ensure(to(customer, address));
  assert.deepEqual(await found(risk, to(customer, address)), ['address_risk_undecided']);
});

test('a confirmed hit stays, whatever the provider says later; an undecided one does not end by itself either', async () => {
  const risk = opens();
  for (const isConfirmed of [true, false]) {
    const [customer, address] = [await newCustomer(), newAddress()];
    says.set(address, { level: 'severe', reason: 'sanctioned' });
    await risk.ensure(to(customer, address));
    const { id } = only(await hitsOf(`customer:${customer}`));
    if (isConfirmed) await decides(id, 'true_hit');
    says.set(address, { level: 'low' });
    fixture.clock.advance(MAX_AGE_MS + 1);
    await risk.ensure(to(customer, address));
    assert.equal((await answersAbout(address))[0]?.level, 'low');
    const rule = isConfirmed ? 'address_risk_hit' : 'address_risk_undecided';
    assert.deepEqual(await found(risk, to(customer, address)), [rule]);
    // Money elsewhere is not about this address.
    const elsewhere = newAddress();
    await risk.ensure(to(customer, elsewhere));
    assert.deepEqual(await found(risk, to(customer, elsewhere)), []);
    if (isConfirmed) await assert.rejects(decides(id, 'false_positive'), Refusal);
  }
});

test('the address that sent a deposit is rated too: a hit holds the payout and the refund', async () => {
  const risk = opens();
  const [customer, sender] = [await newCustomer(), newAddress()];
  senders.set(71n, { rail: RAIL, address: sender });
  says.set(sender, { level: 'high', reason: 'stolen funds' });
  await risk.ensure(to(customer, null, [71n]));
  assert.equal(only(await hitsOf(`customer:${customer}`)).subject, 'payer:71');
  for (const back of [null, sender, newAddress()]) {
    await risk.ensure(to(customer, back, [71n]));
    assert.deepEqual(await found(risk, to(customer, back, [71n])), ['address_risk_undecided'], String(back));
  }
  // Of no customer: the deposit owns its hit.
  await risk.ensure(to(null, null, [71n]));
  assert.deepEqual(await found(risk, to(null, null, [71n])), ['address_risk_undecided']);
  only(await hitsOf('deposit:71'));
});

test('a chain that does not say where a deposit came from is held; money of a bank has no such question', async () => {
  const risk = opens();
  const customer = await newCustomer();
  senders.set(72n, { rail: RAIL, address: null });
  senders.delete(73n);
  await risk.ensure(to(customer, null, [72n, 73n]));
  assert.deepEqual(asked, []);
  assert.deepEqual(await found(risk, to(customer, null, [72n])), ['sender_unknown']);
  assert.deepEqual(await found(risk, to(customer, null, [73n])), []);
  assert.ok(!(await waits(risk, to(customer, null, [73n]))));
});

test('an answer that is too old is asked again; while the provider is down money waits, with one case for all', async () => {
  const risk = opens();
  const [customer, first, second] = [await newCustomer(), newAddress(), newAddress()];
  for (const address of [first, second]) await risk.ensure(to(customer, address));
  fixture.clock.advance(MAX_AGE_MS + 1);
  for (const address of [first, second]) {
    says.set(address, 'nothing');
    assert.ok(await waits(risk, to(customer, address)));
    await assert.rejects(risk.ensure(to(customer, address)), ProviderDown);
  }
  assert.equal(await outages(), 1);
  assert.equal((await answersAbout(first)).length, 1, 'silence was kept as an answer');
  says.clear();
  await risk.ensure(to(customer, first));
  assert.ok(!(await waits(risk, to(customer, first))));
  assert.ok(await waits(risk, to(customer, second)), 'the answer about one address counted for another');
  assert.equal(await outages(), 1, 'the case ended while an address is without an answer');
  await risk.ensure(to(customer, second));
  assert.equal(await outages(), 0);
});

test('a case of a process that ended is closed by the next one that has an answer', async () => {
  const [customer, address] = [await newCustomer(), newAddress()];
  says.set(address, 'nothing');
  await assert.rejects(opens().ensure(to(customer, address)), ProviderDown);
  assert.equal(await outages(), 1);
  says.clear();
  await opens().ensure(to(customer, address));
  assert.equal(await outages(), 0);
});

test('an address that is never answered for has one case, and its own waits: the case ends once its money is gone', async () => {
  const risk = opens();
  const [customer, never] = [await newCustomer(), newAddress()];
  says.set(never, 'nothing');
  for (const other of [newAddress(), newAddress()]) {
    await assert.rejects(risk.ensure(to(customer, never)), ProviderDown);
    await risk.ensure(to(customer, other));
    assert.equal(await outages(), 1);
  }
  fixture.clock.advance(600_001);
  await risk.ensure(to(customer, newAddress()));
  assert.equal(await outages(), 0);
});

test('two people let older answers count for a time: never without any answer, never past a hit', async () => {
  const risk = opens();
  const [customer, known, unknown, risky] = [await newCustomer(), newAddress(), newAddress(), newAddress()];
  says.set(risky, { level: 'high', reason: 'mixing' });
  for (const address of [known, risky]) await risk.ensure(to(customer, address));
  fixture.clock.advance(2 * MAX_AGE_MS);
  for (const address of [known, unknown, risky]) says.set(address, 'nothing');
  await assert.rejects(risk.ensure(to(customer, known)), ProviderDown);

  const until = new Date(now().getTime() + HOUR_MS);
  const more = { maxAgeS: 3n * 3_600n, until, people: ['ada', 'bea'], reason: 'the provider is down', now: now() };
  await inTx((tx) => extendScreening(tx, more));
  await risk.ensure(to(customer, known));
  assert.equal(
    asked.filter((address) => address === known).length,
    3,
    'an extension keeps the provider from being asked',
  );
  assert.ok(!(await waits(risk, to(customer, known))));
  assert.deepEqual(await found(risk, to(customer, known)), []);
  await assert.rejects(risk.ensure(to(customer, unknown)), ProviderDown);
  assert.ok(await waits(risk, to(customer, unknown)), 'an address without any answer let money leave');
  assert.deepEqual(await found(risk, to(customer, risky)), ['address_risk_undecided']);

  fixture.clock.advance(HOUR_MS + 1);
  assert.ok(await waits(risk, to(customer, known)), 'the extension did not end');
  await assert.rejects(risk.ensure(to(customer, known)), ProviderDown);
});

test('an answer that comes late does not displace that to a later question', async () => {
  const risk = opens();
  const [customer, address] = [await newCustomer(), newAddress()];
  let goOn = () => {};
  pause = new Promise((resolve) => (goOn = resolve));
  says.set(address, { level: 'low' });
  const late = risk.ensure(to(customer, address));
  while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
  pause = undefined;
  fixture.clock.advance(1_000);
  says.set(address, { level: 'severe', reason: 'sanctioned' });
  await opens().ensure(to(customer, address));
  goOn();
  await late;
  assert.equal((await answersAbout(address)).length, 2);
  assert.equal((await answersAbout(address))[0]?.level, 'severe');
  assert.deepEqual(await found(risk, to(customer, address)), ['address_risk_undecided']);
});

test('two processes that ask at once have one hit and one case, and neither pays without it', async () => {
  const [customer, address] = [await newCustomer(), newAddress()];
  says.set(address, { level: 'high', reason: 'mixing' });
  const processes = Array.from({ length: 4 }, () => opens());
  await Promise.all(processes.map((one) => one.ensure(to(customer, address))));
  only(await hitsOf(`customer:${customer}`));
  assert.equal(await cases('address_risk_hit', `address_risk:customer:${customer}`), 1);
  for (const one of processes) assert.deepEqual(await found(one, to(customer, address)), ['address_risk_undecided']);
});

test('a lower threshold and other rules count at once, for answers of before', async () => {
  const [customer, address] = [await newCustomer(), newAddress()];
  says.set(address, { level: 'medium', reason: 'gambling' });
  await opens().ensure(to(customer, address));
  assert.ok(!(await waits(opens(), to(customer, address))));
  const strict = opens({ threshold: 'medium' });
  assert.ok(await waits(strict, to(customer, address)), 'money left on a decision under the old threshold');
  await strict.ensure(to(customer, address));
  assert.deepEqual(asked, [address], 'the provider was asked again for the same answer');
  assert.deepEqual(await found(strict, to(customer, address)), ['address_risk_undecided']);

  const newer = opens({ rules: '2' });
  assert.ok(await waits(newer, to(customer, address)), 'an answer of other rules let money leave');
  await newer.ensure(to(customer, address));
  assert.equal(asked.length, 2);
});

test('destinations of open orders are asked beforehand; a hit found so holds money as soon as its owner is known', async () => {
  const risk = opens();
  const [customer, one, risky, silent] = [await newCustomer(), newAddress(), newAddress(), newAddress()];
  const refresh = async () => await risk.handlers.refresh_address_risk?.('all');
  for (const address of [one, risky]) open.add(address);
  says.set(risky, { level: 'severe', reason: 'sanctioned' });
  assert.deepEqual(await refresh(), { againInMs: 30_000 });
  assert.deepEqual(asked.toSorted(), [one, risky]);
  await refresh();
  assert.equal(asked.length, 2, 'a young answer was asked again');
  assert.ok(!(await waits(risk, to(customer, one))), 'the answer does not count');
  // Found, and not yet a row that people decide about: it waits.
  assert.ok(await waits(risk, to(customer, risky)), 'a hit let money leave because nobody had written it down');
  await risk.ensure(to(customer, risky));
  assert.equal(asked.length, 2);
  assert.deepEqual(await found(risk, to(customer, risky)), ['address_risk_undecided']);

  fixture.clock.advance(MAX_AGE_MS / 2 + 1);
  await refresh();
  assert.equal(asked.length, 4, 'answers were not renewed before they were too old');
  const after = newAddress();
  open.add(silent).add(after);
  says.set(silent, 'nothing');
  assert.deepEqual(await refresh(), { againInMs: 60_000 });
  assert.ok(asked.includes(after), 'one address without an answer keeps others from being asked');
  assert.equal(await outages(), 1);
  says.delete(silent);
  await refresh();
  assert.equal(await outages(), 0);
});

test('an answer that a clock dated ahead hides no newer one', async () => {
  const [customer, address] = [await newCustomer(), newAddress()];
  const early = new Date(now().getTime() + HOUR_MS / 2);
  const ahead = openAddressRisk({
    ...{ db: fixture.db, clock: { ...fixture.clock, now: () => early }, threshold: 'high', maxAgeMs: MAX_AGE_MS },
    provider: provider(),
    senderOf: async () => undefined,
    underWay: async () => [],
  });
  await ahead.ensure(to(customer, address));
  says.set(address, { level: 'severe', reason: 'sanctioned' });
  await opens().ensure(to(customer, address));
  assert.deepEqual(asked, [address, address]);
  assert.deepEqual(await found(opens(), to(customer, address)), ['address_risk_undecided']);
});

test('a look at many destinations ends before the lease of its job, and the next one asks about the others', async (t) => {
  let ms = 0;
  t.mock.method(performance, 'now', () => ms);
  const all = Array.from({ length: 20 }, newAddress);
  for (const address of all) open.add(address);
  const risk = openAddressRisk({
    ...{ db: fixture.db, clock: fixture.clock, threshold: 'high', maxAgeMs: MAX_AGE_MS },
    provider: provider({
      assess: async (one) => {
        ms += 1_000;
        return await provider().assess(one);
      },
    }),
    senderOf: async () => undefined,
    underWay: async () => all.map((address) => ({ rail: RAIL, address })),
  });
  const refresh = async () => await risk.handlers.refresh_address_risk?.('all');
  assert.deepEqual(await refresh(), { againInMs: 0 });
  assert.equal(asked.length, 9);
  await refresh();
  assert.deepEqual(await refresh(), { againInMs: 30_000 });
  assert.deepEqual(asked.toSorted(), all.toSorted());
});

test('an erasure takes out what operators typed, and leaves address, finding and decision', async () => {
  const risk = opens();
  const [customer, address] = [await newCustomer(), newAddress()];
  says.set(address, { level: 'high', reason: 'mixing' });
  await risk.ensure(to(customer, address));
  const { id } = only(await hitsOf(`customer:${customer}`));
  await decides(id, 'true_hit');
  const subjects = await inTx((tx) => eraseAddressHits(tx, { owners: [`customer:${customer}`], now: now() }));
  assert.deepEqual(subjects, [`address_risk:customer:${customer}`, `address_hit:${id}`]);
  const kept = only(await hitsOf(`customer:${customer}`, 'true_hit'));
  assert.deepEqual([kept.address, kept.finding], [address, 'mixing']);
  assert.deepEqual(await found(risk, to(customer, address)), ['address_risk_hit']);
});

test('a replay applies our rule to the kept answer again, and says so', async () => {
  const risk = opens();
  const customer = await newCustomer();
  for (const [level, isHit] of [
    ['high', true],
    ['low', false],
  ] as const) {
    const address = newAddress();
    says.set(address, { level, reason: 'mixing' });
    await risk.ensure(to(customer, address));
    const { id } = only(await inTx((tx) => listAnswers(tx, { address, limit: 10 })));
    const replayed = await replayDecision(fixture, { kind: 'address_risk', id });
    assert.ok('stored' in replayed);
    assert.deepEqual(
      [replayed.outcome, replayed.basis, replayed.found],
      [...['same', 'kept_answer'], { level, score: level.toUpperCase(), threshold: 'high', isHit }],
    );
    const shown = await inTx((tx) => findDecided(tx, { kind: 'address_risk', id }));
    assert.deepEqual([shown.subject, shown.found, shown.isErased], [`${RAIL} ${address}`, isHit ? 1 : 0, false]);
  }
  const unknown = { kind: 'address_risk', id: 10n ** 15n } as const;
  await assert.rejects(replayDecision(fixture, unknown), (error: Refusal) => error.code === 'unknown_screening');
});
