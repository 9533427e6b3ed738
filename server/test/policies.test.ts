/** Policies as rows: which policy applies to which customer, the refused values, and the record of a change. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Refusal } from '../src/base/errors.ts';
import * as partners from '../src/partners/index.ts';
import { BUILT_IN_POLICY, policyFor, readPolicy, setPolicy } from '../src/partners/index.ts';
import { type Fixture, freshFixture } from './support/fixture.ts';
import { fiat, marketTerms } from './support/terms.ts';

const usdc = { code: 'usdc.test', kind: 'crypto', coin: 'usdc', decimals: 6, native: false } as const;

let fixture: Fixture;
let one: partners.Partner;
let two: partners.Partner;
let market: { id: bigint };

before(async () => {
  fixture = await freshFixture();
  const now = fixture.clock.now();
  await fixture.db.asSystem(async (tx) => {
    one = await partners.createPartner(tx, { name: 'One', now });
    two = await partners.createPartner(tx, { name: 'Two', now });
    await partners.upsertAsset(tx, fiat('inr'));
    await partners.upsertAsset(tx, { ...usdc, chain: 'test', contract: null });
    market = { id: await partners.upsertMarket(tx, { ...marketTerms, crypto: 'usdc.test', fiat: 'inr' }) };
  });
});
after(() => fixture?.stop());

type Input = Omit<Parameters<typeof setPolicy>[1], 'marketId'>;
const set = (input: Input, reason?: partners.Reason) =>
  fixture.db.asSystem((tx) => setPolicy(tx, { marketId: market.id, ...input }, reason));
const policyOf = (partner: partners.Partner) =>
  fixture.db.asPartner(partner.id, (tx) => policyFor(tx, market, partner.id));

test('a partner’s policy overrides the market’s, and that the built-in one, field by field', async () => {
  assert.deepEqual(await policyOf(one), BUILT_IN_POLICY);
  await set({ partnerId: null, question: 'underpaid', answer: { acceptBps: 50, beyond: 'refund' } });
  await set({ partnerId: one.id, question: 'underpaid', answer: { acceptBps: 10 } });
  await set({ partnerId: one.id, question: 'waiting', answer: { on_hold: { afterS: 60, then: 'refund' } } });
  assert.deepEqual((await policyOf(one)).underpaid, { acceptBps: 10, beyond: 'refund' });
  assert.deepEqual((await policyOf(two)).underpaid, { acceptBps: 50, beyond: 'refund' });
  assert.deepEqual((await policyOf(one)).waiting, {
    ...BUILT_IN_POLICY.waiting,
    on_hold: { afterS: 60, then: 'refund' },
  });
  assert.deepEqual((await policyOf(two)).waiting, BUILT_IN_POLICY.waiting);

  await set({ partnerId: one.id, question: 'underpaid', answer: null });
  assert.deepEqual((await policyOf(one)).underpaid, { acceptBps: 50, beyond: 'refund' });
  await set({ partnerId: null, question: 'underpaid', answer: null });
  assert.deepEqual((await policyOf(one)).underpaid, BUILT_IN_POLICY.underpaid);
});

test('another partner sees nothing of it', async () => {
  await set({ partnerId: two.id, question: 'late', answer: { then: 'refund' } });
  const seen = await fixture.db.asPartner(one.id, (tx) =>
    tx.rows('select question from policies where partner_id = $1', [two.id]),
  );
  assert.deepEqual(seen, []);
  await assert.rejects(
    fixture.db.asPartner(one.id, (tx) => tx.run('delete from policies')),
    { code: '42501' },
  );
});

test('an invalid policy is refused by the name of its field, with the rule', async () => {
  const refused = async (question: string, answer: unknown): Promise<[string, string] | undefined> => {
    try {
      await set({ partnerId: null, question, answer } as Input);
      return undefined;
    } catch (error) {
      assert.ok(error instanceof Refusal && error.code === 'malformed_field', String(error));
      return Object.entries(error.facts.fields as Record<string, string>)[0];
    }
  };
  const at = async (question: string, answer: unknown) => (await refused(question, answer))?.[0];
  assert.equal(await at('underpayed', { acceptBps: 1 }), 'underpayed');
  assert.equal(await at('constructor', {}), 'constructor');
  assert.equal(await at('underpaid', []), 'underpaid');
  assert.equal(await at('underpaid', { acceptBp: 1 }), 'underpaid.acceptBp');
  assert.equal(await at('underpaid', JSON.parse('{"__proto__": {"acceptBps": 1}}')), 'underpaid.__proto__');
  for (const bps of [-1, 0.5, 10_001, '50', null, Number.NaN])
    assert.equal(await at('underpaid', { acceptBps: bps }), 'underpaid.acceptBps', String(bps));
  assert.equal(await at('overpaid', { beyond: 'hold' }), 'overpaid.beyond');
  assert.equal(await at('refundFees', { keep: ['chain', 'chain'] }), 'refundFees.keep');
  assert.equal(await at('refundFees', { keep: ['all'] }), 'refundFees.keep');
  assert.equal(await at('priceMoved', { lockS: -1 }), 'priceMoved.lockS');
  for (const wrong of [60, { afterS: 60 }, { afterS: 0, then: 'case' }, { afterS: 60, then: 'refund', more: 1 }])
    assert.equal(await at('waiting', { on_hold: wrong }), 'waiting.on_hold', JSON.stringify(wrong));
  assert.equal(await at('waiting', { settled: { afterS: 60, then: 'case' } }), 'waiting.settled');
  assert.match((await refused('late', { then: 'requote' }))?.[1] ?? '', /one of hold, refund, new_order/);
});

test('no deadline may refund money that may be under way', async () => {
  for (const state of ['deposit_seen', 'deposit_confirmed', 'paying_out', 'payout_held', 'refunding', 'refund_held']) {
    const answer = { [state]: { afterS: 60, then: 'refund' } };
    await assert.rejects(set({ partnerId: null, question: 'waiting', answer } as Input), { code: 'malformed_field' });
  }
});

test('a change is recorded with the previous value, who made it and why', async () => {
  const reason = { by: 'anna', why: 'exchanges keep a little' };
  await set({ partnerId: one.id, question: 'overpaid', answer: { acceptBps: 5 } }, reason);
  await set({ partnerId: one.id, question: 'overpaid', answer: { acceptBps: 5 } }, reason);
  await set({ partnerId: one.id, question: 'overpaid', answer: null }, reason);
  const [gone, made] = await fixture.db.asSystem((tx) => partners.marketChanges(tx, { marketId: market.id, limit: 2 }));
  assert.deepEqual([made?.what, made?.item, made?.partnerId, made?.by], ['policy', 'overpaid', one.id, 'anna']);
  assert.equal(made?.before, null);
  assert.match(made?.after ?? '', /"acceptBps": 5/);
  assert.equal(gone?.before, made?.after);
  assert.equal(gone?.after, null);
});

test('a policy stored before a question existed uses its former default; an invalid policy throws', () => {
  assert.deepEqual(readPolicy({}), BUILT_IN_POLICY);
  assert.deepEqual(readPolicy({ late: { then: 'refund' } }).late, { then: 'refund' });
  assert.deepEqual(readPolicy(JSON.parse(JSON.stringify(BUILT_IN_POLICY))), BUILT_IN_POLICY);
  assert.throws(() => readPolicy({ late: { then: 'never' } }), {
    name: 'BugError',
    message: /late\.then must be one of/,
  });
  assert.deepEqual(readPolicy({ asOfTomorrow: { then: 'sing' } }), BUILT_IN_POLICY, 'of a newer version');
  assert.throws(() => readPolicy([]), { name: 'BugError' });
});
