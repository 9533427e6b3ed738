/**
 * The contract of every rail, of any kind. An adapter's test file calls `testRail` with a function that makes an environment around
 * the rail; the same claims are then checked for a chain and for a bank.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import type { Holding, Movement, Rail, RailFact, Sending } from '../../src/rails/rail.ts';
import { inEnvironmentOf } from './environment.ts';

export interface RailEnvironment {
  rail: Rail;
  /** In a transaction; if targets are issued one by one. */
  inTx?<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
  /** Everything reported so far, in order. */
  facts: readonly RailFact[];
  /** A payout that this rail can carry out, small enough for its funds. */
  sending(key: string): Sending;
  /** How often chain or bank really executed a key: payments made, transactions that will be mined. */
  effects(key: string): Promise<number>;
  /** A payer pays to a target. */
  pays(target: string): Promise<void>;
  /** Lets chain or bank progress as needed (settle, mine, confirm) and observes until nothing is new. */
  settles(): Promise<void>;
  /** The charge for a payout in the asset that it paid; absent if it is charged in another. */
  charge?(key: string): bigint;
  /** Ages accepted keys at the bank or chain by this much; needed if it recognises keys for a limited time. */
  ages?(ms: number): Promise<void>;
  /** From now on chain or bank does not answer. */
  goesDark(): Promise<void>;
  stop(): Promise<void>;
}

/** The target of a new order. */
async function targetFor({ targets, code }: Rail, index: bigint, inTx: RailEnvironment['inTx']): Promise<string> {
  if (targets.are === 'derived') return targets.of(index);
  assert(inTx, `${code} issues its targets: its world has a database`);
  return await inTx((tx) => targets.take(tx));
}

/** All movements from the beginning, and the balances at their end. */
async function shown(rail: Rail): Promise<{ movements: Movement[]; holdings: Holding[] }> {
  const movements: Movement[] = [];
  for (let after = ''; ; ) {
    const page = await rail.movements?.(after);
    assert.ok(page, 'the rail was never polled');
    movements.push(...page.movements);
    after = page.upTo;
    if (page.more) continue;
    const holdings = await rail.holdings?.(after, true);
    assert.ok(holdings, 'the rail moved on in between');
    return { movements, holdings };
  }
}

// Long because one function is one contract.
export function testRail(name: string, make: () => Promise<RailEnvironment>): void {
  const inEnvironment = inEnvironmentOf(make);

  describe(`rail contract: ${name}`, () => {
    inEnvironment('no two orders share a target, and a derived one is always the same', async ({ rail, inTx }) => {
      const targets = new Set<string>();
      for (let index = 0n; index < 200n; index += 1n) {
        // One by one, as the rail's poll refills them.
        if (rail.targets.are === 'issued') await rail.observe();
        const target = await targetFor(rail, index, inTx);
        if (rail.targets.are === 'derived') assert.equal(rail.targets.of(index), target);
        assert.match(target, /^\S{4,140}$/);
        targets.add(target);
      }
      assert.equal(targets.size, 200);
    });

    inEnvironment('a payout sent once has one effect, is known, and settles once', async ({ rail, ...world }) => {
      const sent = await rail.send(world.sending('pay_1_1'));
      assert.equal(sent.outcome, 'submitted');
      assert.equal(await world.effects('pay_1_1'), 1);
      assert.equal((await rail.status('pay_1_1')).outcome, 'known');
      await world.settles();
      await world.settles();
      assert.equal(await world.effects('pay_1_1'), 1);
      assert.equal((await rail.status('pay_1_1')).outcome, 'known');
    });

    inEnvironment(
      'a payout sent twice under one key has one effect, or the rail says that it does not deduplicate',
      async ({ rail, ...world }) => {
        const outcomes = [await rail.send(world.sending('pay_2_1')), await rail.send(world.sending('pay_2_1'))];
        await world.settles();
        const effects = await world.effects('pay_2_1');
        if (rail.deduplicatesForMs > 0) {
          assert.equal(effects, 1);
          assert.deepEqual(
            outcomes.map(({ outcome }) => outcome),
            ['submitted', 'submitted'],
          );
        } else {
          // An accepted send takes effect, once per acceptance; a second submission of a key need not be accepted.
          const accepted = outcomes.filter(({ outcome }) => outcome === 'submitted').length;
          assert.ok(accepted > 0 && !outcomes.some(({ outcome }) => outcome === 'rejected'));
          assert.equal(effects, accepted, 'a rail that accepts twice and pays once deduplicates, and should say so');
        }
      },
    );

    inEnvironment(
      'a key is recognised for as long as the rail says, and a bank says how long',
      async ({ rail, ...world }) => {
        const { kind, deduplicatesForMs } = rail;
        assert.ok(deduplicatesForMs >= 0, 'the promise is not a duration');
        if (kind === 'chain') assert.equal(deduplicatesForMs, Number.POSITIVE_INFINITY);
        else assert.ok(Number.isSafeInteger(deduplicatesForMs), 'a bank promises deduplication without end');
        if (deduplicatesForMs === 0 || kind === 'chain') return;
        assert.ok(world.ages, 'without time this bank promises nothing that could be tested');
        await rail.send(world.sending('pay_6_1'));
        await world.ages(deduplicatesForMs - 60_000);
        assert.equal((await rail.status('pay_6_1')).outcome, 'known');
        assert.equal((await rail.send(world.sending('pay_6_1'))).outcome, 'submitted');
        await world.settles();
        assert.equal(await world.effects('pay_6_1'), 1);
      },
    );

    inEnvironment('a key that was never sent is absent or unknown, never known or refused', async ({ rail }) => {
      assert.ok(['absent', 'unknown'].includes((await rail.status('pay_999_1')).outcome));
    });

    inEnvironment('too late a sending does nothing', async ({ rail, ...world }) => {
      const sent = await rail.send({ ...world.sending('pay_3_1'), notAfter: new Date(Date.now() - 1) });
      await world.settles();
      if (rail.deduplicatesForMs === 0) assert.notEqual(sent.outcome, 'submitted');
      assert.equal(await world.effects('pay_3_1'), sent.outcome === 'submitted' ? 1 : 0);
    });

    inEnvironment('a deposit is confirmed once, however often the rail looks', async ({ rail, facts, ...world }) => {
      const target = await targetFor(rail, 7n, world.inTx);
      await world.pays(target);
      await world.settles();
      await rail.observe();
      await rail.observe();
      const confirmed = facts.filter((fact) => fact.type === 'deposit_confirmed');
      assert.deepEqual(
        confirmed.map((fact) => fact.target),
        [target],
      );
      assert.equal((await rail.health()).healthy, true);
    });

    inEnvironment(
      'where it shows movements, each is shown once, and they come to what it holds',
      async ({ rail, ...world }) => {
        if (rail.movements === undefined || rail.holdings === undefined) return;
        const paid = world.sending('pay_5_1');
        const before = await shown(rail);
        await rail.send(paid);
        await world.pays(await targetFor(rail, 8n, world.inTx));
        await world.settles();
        const { movements, holdings } = await shown(rail);
        const names = movements.map(({ name, wallet, asset, place = '' }) => [name, wallet, asset, place].join(' '));
        assert.equal(new Set(names).size, names.length, 'each once');
        const known = new Set(before.movements.map(({ name }) => name));
        const fresh = movements.filter(({ name, asset }) => !known.has(name) && asset === paid.asset);
        // If an operator carries files it has not left yet; once it has, it is shown under its key.
        const left = fresh.filter(({ units }) => units < 0n).map(({ units, key }) => `${key} ${units}`);
        const charge = world.charge?.('pay_5_1') ?? 0n;
        const expected = [paid.units, charge].filter((units) => units > 0n).map((units) => `pay_5_1 -${units}`);
        assert.ok(left.length === 0 || left.join() === expected.join(), left.join());
        assert.ok(
          fresh.some(({ units, wallet }) => units > 0n && wallet === rail.wallets.deposits),
          'the deposit',
        );
        for (const { wallet, asset, units, remainder } of holdings) {
          if (remainder !== undefined) continue;
          const ours = movements.filter((one) => one.wallet === wallet && one.asset === asset);
          assert.equal(
            ours.reduce((sum, one) => sum + one.units, 0n),
            units,
            `${wallet} ${asset}`,
          );
        }
      },
    );

    inEnvironment(
      'an outside that does not answer makes payouts unknown, and looking Unavailable',
      async ({ rail, ...world }) => {
        const sending = world.sending('pay_4_1');
        await world.goesDark();
        // A chain's sends are rows before they leave: a key without a row was never sent, whatever the node reports.
        assert.equal((await rail.status('pay_4_2')).outcome, rail.kind === 'chain' ? 'absent' : 'unknown');
        // A chain may accept: its bytes are stored and will be broadcast. It must not be reported as rejected.
        assert.notEqual((await rail.send(sending)).outcome, 'rejected');
        await assert.rejects(rail.observe(), { name: 'Unavailable' });
        await assert.rejects(rail.balance(rail.wallets.payouts, sending.asset), { name: 'Unavailable' });
      },
    );
  });
}
