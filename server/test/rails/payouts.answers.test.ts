/** The meaning of each observation in each state of a payout, and the time after which an absent payout never arrived. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { recordRejected, returned, settled } from '../../src/rails/payouts.observed.ts';
import { type BankEnvironment, bankEnvironment, behaving } from '../support/bank.environment.ts';

const STATES = ['created', 'submitting', 'submitted', 'unknown', 'settled', 'returned', 'rejected'] as const;
const RAIL = 'bank.simulated';
const GRACE_MS = 300_000;

let world: BankEnvironment;
const make = async (options: Parameters<typeof bankEnvironment>[0] = {}) => {
  world = await bankEnvironment(options);
  return world;
};
afterEach(() => world.stop());

describe('an observation', () => {
  /** In the order of STATES: it changes the payout, or says what is known, or contradicts what was said before. */
  const TABLE = {
    settled: ['changes', 'changes', 'changes', 'changes', 'known', 'known', 'contradicts'],
    returned: ['contradicts', 'changes', 'changes', 'changes', 'changes', 'known', 'contradicts'],
    rejected: ['changes', 'changes', 'changes', 'changes', 'contradicts', 'known', 'known'],
  } as const;

  it('is applied, repeats what is known, or contradicts it, as the state of the payout says', async () => {
    const w = await make();
    const observe = { settled, returned, rejected: recordRejected };
    const found: Record<string, string[]> = {};
    for (const what of ['settled', 'returned', 'rejected'] as const)
      for (const state of STATES) {
        const key = await w.writes(5_000n);
        await w.rows.query('update payouts set state = $2, ended_at = case when $3 then now() end where id = $1', [
          key,
          state,
          ['settled', 'returned', 'rejected'].includes(state),
        ]);
        const before = await w.payout(key);
        const fact = { rail: RAIL, key, reference: 'a reference', why: 'said so', now: w.clock.now() };
        const observed = await w.db.asSystem((tx) => observe[what](tx, fact));
        const after = await w.payout(key);
        if (observed === undefined)
          assert.deepEqual(after, before, `${what} in ${state} was known, and changed the row`);
        else {
          assert.equal(observed.before, state);
          // A rejection after a settlement changes nothing: the money is gone.
          const isKept = observed.contradiction && what === 'rejected';
          assert.equal(after.state, isKept ? state : what);
        }
        const said = observed === undefined ? 'known' : observed.contradiction ? 'contradicts' : 'changes';
        found[what] = [...(found[what] ?? []), said];
      }
    assert.deepEqual(found, TABLE);
  });
});

describe('a payout that its bank does not have, and that promises nothing about keys', () => {
  it('is looked at again once no submission can be under way, and then ends as never arrived', async () => {
    const w = await make({ deduplicatesForMs: 0, submitMs: 900, graceMs: GRACE_MS });
    const id = await w.writes(5_000n);
    await w.bank.setFault({ kind: 'lose_answer_before_effect' });
    await w.looksAt(id);
    await w.isOffFor(100_000);
    const next = await w.looksAt(id);
    assert.equal((await w.payout(id)).why, 'absent, and may still be under way');
    // The submission ended at least 99 seconds ago: a busy machine only shortens what is left.
    const leftMs = next?.againInMs ?? 0;
    assert.ok(leftMs > 0 && leftMs <= GRACE_MS - 98_000, `again in ${leftMs} ms`);
    await w.isOffFor(leftMs);
    assert.equal(await w.looksAt(id), undefined, 'the named time was too short');
    const { state, why } = await w.payout(id);
    assert.deepEqual([state, why], ['rejected', 'never_arrived']);
  });

  it('stays open if the bank accepted it once, however long ago', async () => {
    const w = await make({ deduplicatesForMs: 0, submitMs: 900, graceMs: GRACE_MS });
    const id = await w.writes(5_000n);
    await w.looksAt(id);
    assert.equal(await w.state(id), 'submitted');
    await w.isOffFor(100 * GRACE_MS);
    const handled = await w.looksAt(id, behaving(w.rail, { status: async () => ({ outcome: 'absent' }) }));
    assert.ok(handled?.againInMs, 'the payout is not looked at again');
    const { state, why } = await w.payout(id);
    assert.deepEqual([state, why], ['unknown', 'accepted once, and absent now']);
  });
});

describe('a payout that is sent again and then rejected', () => {
  it('is not rejected before its bank says so of the key: the first submission may have been executed', async () => {
    const w = await make({ deduplicatesForMs: 86_400_000, submitMs: 900 });
    const id = await w.writes(5_000n);
    await w.bank.setFault({ kind: 'lose_answer_after_effect' });
    await w.looksAt(id);
    // The bank's look-up lags, and it compares the balance, from which the first submission has taken, before the key.
    const lagging = behaving(w.rail, {
      status: async () => ({ outcome: 'absent' }),
      send: async () => ({ outcome: 'rejected', why: 'insufficient_funds' }),
    });
    const handled = await w.looksAt(id, lagging);
    const { state, why, submissions } = await w.payout(id);
    assert.deepEqual([state, why, submissions], ['unknown', 'rejected when it was sent again: insufficient_funds', 2]);
    assert.ok(handled?.againInMs, 'the payout is not looked at again');
    await w.looksAt(id);
    assert.equal(await w.state(id), 'submitted');
  });

  it('is rejected once its bank says so of the key', async () => {
    const w = await make({ deduplicatesForMs: 86_400_000, submitMs: 900 });
    const id = await w.writes(5_000n);
    await w.bank.setFault({ kind: 'lose_answer_before_effect' });
    await w.looksAt(id);
    await w.bank.setFault({ kind: 'reject_next' });
    await w.looksAt(id);
    assert.equal(await w.state(id), 'unknown');
    await w.looksAt(id);
    const { state, why } = await w.payout(id);
    assert.deepEqual([state, why], ['rejected', 'rejected_by_bank']);
  });
});
