/**
 * The chain engine on a chain without accounts: outputs are the slots of a send (test/support/outputchain.ts). Follower, sender and
 * tables are the same as for an EVM chain.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ChainRail, chainRail, clearHalt } from '../../src/rails/chain.ts';
import type { RailFact } from '../../src/rails/rail.ts';
import { testRail } from '../contracts/rail.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { HOT, type OutputChain, outputChain } from '../support/outputchain.ts';
import { openRows, type Rows } from '../support/rows.ts';
import { targetOf } from '../support/targets.ts';

const RAIL = 'outputs.test';
const FINALITY = 3;
const COIN = 'coin.outputs';
const FRIEND = 'out-friend';

let fixture: Fixture;
let rows: Rows;

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  await rows.cryptoAsset(COIN, 'outputs', null, 8);
  await rows.policy('outputs', COIN, 0n, 2);
});
after(async () => {
  await rows.close();
  await fixture.stop();
});

interface Environment {
  chain: OutputChain;
  rail: ChainRail;
  facts: RailFact[];
  /** Another process on the same rows. */
  open(): ChainRail;
  look(by?: ChainRail): Promise<void>;
  pay(key: string, units: bigint, by?: ChainRail): ReturnType<ChainRail['send']>;
}

let worlds = 0;

/** @param coins amounts of the hot wallet, each an output of its own */
async function world(coins: readonly bigint[] = [10_000n, 20_000n, 30_000n]): Promise<Environment> {
  await rows.query('alter table chain_sends disable trigger delete_unsigned');
  for (const table of ['chain_deposits', 'chain_credits', 'chain_sends', 'chain_nonces', 'chain_blocks', 'chains'])
    await rows.query(`delete from ${table}`);
  await rows.query('alter table chain_sends enable trigger delete_unsigned');
  worlds += 1;
  const chain = outputChain({ finality: FINALITY, pace: { stuckMs: 0, rebroadcastMs: 0, lowerBranchMs: 0 } });
  chain.pay(...coins.map((units) => ({ to: HOT, units })));
  chain.mine();
  chain.mineEmpty(FINALITY + 1);
  const facts: RailFact[] = [];
  const open = () => chainRail(chain.adapter, { ...fixture, report: async (_, fact) => void facts.push(fact) });
  const rail = open();
  const look = async (by = rail) => {
    while ((await by.observe()).againInMs === 0);
  };
  await look();
  return {
    chain,
    rail,
    facts,
    open,
    look,
    pay: (key, units, by = rail) =>
      by.send({ key, asset: COIN, units, destination: { kind: 'address', address: FRIEND } }),
  };
}

const typesOf = (facts: readonly RailFact[]) => facts.map(({ type }) => type);
const sends = (key: string) =>
  rows.query<{ version: number; state: string; slots: string[]; hash: string; why: string | null }>(
    'select version, state, slots, hash, why from chain_sends where key = $1 order by version',
    [key],
  );

testRail('a chain of outputs', async () => {
  const { chain, rail, facts, look } = await world([50_000n, 40_000n]);
  const owners = new Map<string, string>();
  return {
    rail,
    facts,
    sending(key) {
      const to = owners.get(key) ?? `out-friend${owners.size}w${worlds}`;
      owners.set(key, to);
      return { key, asset: COIN, units: 1_000n, destination: { kind: 'address', address: to } };
    },
    effects: async (key) => chain.paying(owners.get(key) ?? '').length,
    charge: (key) => chain.paying(owners.get(key) ?? '').reduce((all, tx) => all + chain.costOf(tx), 0n),
    async pays(target) {
      await rows.query(
        `insert into deposit_addresses (rail, address, index, made_at) values ($1, $2, $3, now()) on conflict do nothing`,
        [RAIL, target, Number(target.replace(/\D/g, ''))],
      );
      chain.pay({ to: target, units: 700n });
    },
    async settles() {
      chain.mine();
      chain.mineEmpty(FINALITY + 1);
      await look();
    },
    async goesDark() {
      chain.goDark();
    },
    async stop() {
      await rows.query('delete from deposit_addresses');
    },
  };
});

describe('sending on a chain of outputs', () => {
  test('a payout spends outputs, sends the change back, and settles with its fee as cost', async () => {
    const { chain, facts, look, pay } = await world([10_000n, 20_000n]);
    assert.equal((await pay('pay_1_1', 25_000n)).outcome, 'submitted');
    const [tx] = chain.pool;
    assert.ok(tx);
    assert.equal(tx.inputs.length, 2, 'the payout does not spend two coins, although one is too small');
    assert.deepEqual(
      tx.outputs.map(({ to }) => to),
      [FRIEND, HOT],
    );
    chain.mine();
    chain.mineEmpty(FINALITY + 1);
    await look();
    // Change is not a credit and opens no case.
    assert.deepEqual(typesOf(facts), ['payout_settled']);
    const [settled] = facts;
    assert.deepEqual(settled?.type === 'payout_settled' && settled.cost, { asset: COIN, units: chain.costOf(tx) });
    assert.equal(chain.held(FRIEND), 25_000n);
  });

  test('two payouts under way never spend the same output, and a third waits for the change', async () => {
    const { chain, look, pay } = await world([20_000n, 20_000n]);
    await Promise.all([pay('pay_1_1', 5_000n), pay('pay_2_1', 5_000n)]);
    await pay('pay_1_1', 5_000n);
    await pay('pay_2_1', 5_000n);
    const spent = chain.pool.flatMap(({ inputs }) => inputs);
    assert.deepEqual([chain.pool.length, new Set(spent).size], [2, spent.length]);
    const third = await pay('pay_3_1', 5_000n);
    assert.equal(third.outcome, 'unknown', 'coins in use were reported as a lack of money');
    chain.mine();
    chain.mineEmpty(FINALITY + 1);
    await look();
    assert.equal((await pay('pay_3_1', 5_000n)).outcome, 'submitted');
  });

  test('the table allows no two sends with the same slot', async () => {
    const { pay } = await world();
    await pay('pay_1_1', 5_000n);
    const [send] = await sends('pay_1_1');
    await assert.rejects(
      rows.query(`insert into chain_slots (rail, wallet, slot, key, version) values ($1, 'hot', $2, 'pay_1_1', 1)`, [
        RAIL,
        send?.slots[0],
      ]),
      { code: '23505' },
    );
  });

  test('a nonce is a slot, too: it belongs to one send, even if a server of the previous version writes it', async () => {
    await world();
    const write = (key: string, version: number, nonce: number) =>
      rows.query(
        `insert into chain_sends (rail, wallet, nonce, key, version, target, data, value, asset, units, fee, reserved_at)
         values ($1, 'old', $2, $3, $4, 'out-friend', '', 0, $5, 1, '{}', now())`,
        [RAIL, nonce, key, version, COIN],
      );
    await write('pay_1_1', 1, 5);
    await write('pay_1_1', 2, 5);
    await assert.rejects(write('pay_2_1', 3, 5), { code: '23505' });
    await write('pay_2_1', 1, 6);
    const slots = await rows.query('select slot, key from chain_slots where wallet = $1 order by slot', ['old']);
    assert.deepEqual(slots, [
      { slot: '5', key: 'pay_1_1' },
      { slot: '6', key: 'pay_2_1' },
    ]);
  });

  test('one transaction with several outputs is several deposits, each once', async () => {
    const { chain, rail, facts, look } = await world();
    const [one, two] = [targetOf(rail, 1n), targetOf(rail, 2n)];
    for (const [index, address] of [one, two].entries())
      await rows.query(`insert into deposit_addresses (rail, address, index, made_at) values ($1, $2, $3, now())`, [
        RAIL,
        address,
        index + 1,
      ]);
    const hash = chain.pay(
      { to: one, units: 5n },
      { to: 'out-stranger', units: 9n },
      { to: two, units: 6n },
      { to: one, units: 7n },
    );
    chain.mine();
    await look();
    chain.mine();
    await look();
    const confirmed = facts.flatMap((fact) => (fact.type === 'deposit_confirmed' ? [fact] : []));
    assert.deepEqual(confirmed.map(({ externalId, target, units }) => [externalId, target, units]).toSorted(), [
      [`${hash}:0`, one, 5n],
      [`${hash}:2`, two, 6n],
      [`${hash}:3`, one, 7n],
    ]);
    await rows.query('delete from deposit_addresses');
  });

  test('a stuck payout is replaced under the same output, and one version is mined', async () => {
    const { chain, facts, look, pay } = await world([20_000n]);
    await pay('pay_1_1', 5_000n);
    const [before] = chain.pool;
    chain.mineEmpty(1);
    await look();
    const versions = await sends('pay_1_1');
    assert.deepEqual(
      versions.map(({ version, state }) => [version, state]),
      [
        [1, 'signed'],
        [2, 'signed'],
      ],
    );
    assert.deepEqual(versions[0]?.slots, versions[1]?.slots);
    assert.equal(chain.pool.length, 1);
    assert.notEqual(chain.pool[0]?.hash, before?.hash);
    chain.mine();
    chain.mineEmpty(FINALITY + 1);
    await look();
    assert.deepEqual(typesOf(facts), ['payout_settled']);
    assert.equal(chain.held(FRIEND), 5_000n);
  });

  test('a replacement that needs another coin reserves it, and no other send gets it', async () => {
    const { chain, look, pay } = await world([5_400n, 6_000n]);
    await pay('pay_1_1', 5_600n);
    chain.mineEmpty(1);
    await look();
    const [first, second] = await sends('pay_1_1');
    assert.ok((second?.slots.length ?? 0) > (first?.slots.length ?? 0));
    for (const slot of first?.slots ?? [])
      assert.ok(second?.slots.includes(slot), 'the versions do not share an output');
    assert.equal((await pay('pay_2_1', 100n)).outcome, 'unknown');
    chain.mine();
    assert.equal(chain.held(FRIEND), 5_600n);
  });

  for (const what of ['answer', 'bytes'] as const)
    test(`a payout whose ${what === 'answer' ? 'answer is lost' : 'bytes never arrive'} is paid once by the next process`, async () => {
      const { chain, facts, open, look, pay } = await world();
      chain.loseNext(what);
      assert.equal((await pay('pay_1_1', 5_000n)).outcome, 'unknown');
      const next = open();
      chain.mineEmpty(1);
      await look(next);
      assert.equal((await pay('pay_1_1', 5_000n, next)).outcome, 'submitted');
      chain.mine();
      chain.mineEmpty(FINALITY + 1);
      await look(next);
      assert.equal(chain.held(FRIEND), 5_000n);
      assert.deepEqual(typesOf(facts), ['payout_settled']);
    });

  test('a payout that a reorg removed waits again, and is not forgotten', async () => {
    const { chain, facts, look, pay } = await world();
    await pay('pay_1_1', 5_000n);
    chain.mine();
    await look();
    chain.drop(1);
    chain.forget();
    chain.mineEmpty(2);
    await look();
    assert.equal(chain.pool.length, 1);
    chain.mine();
    chain.mineEmpty(FINALITY + 1);
    await look();
    assert.equal(chain.held(FRIEND), 5_000n);
    assert.deepEqual(typesOf(facts), ['payout_settled']);
  });

  test('an output spent by another is absent only when that is final: the rail halts, and then pays with other outputs', async () => {
    const { chain, rail, facts, look, pay } = await world([20_000n, 30_000n]);
    await pay('pay_1_1', 5_000n);
    const [slot = ''] = (await sends('pay_1_1'))[0]?.slots ?? [];
    chain.spend(slot, 'out-thief');
    chain.mine();
    chain.mineEmpty(FINALITY - 1);
    await look();
    await look();
    assert.equal(
      (await rail.status('pay_1_1')).outcome,
      'known',
      'it was absent although a reorg may still restore it',
    );
    chain.mineEmpty(2);
    const dies = chainRail(chain.adapter, {
      ...fixture,
      report: async () => {
        throw new Error('the process ends here');
      },
    });
    await assert.rejects(look(dies), /the process ends here/);
    await look();
    await look();
    assert.deepEqual(
      typesOf(facts),
      ['rail_halted'],
      'a process that ended before it halted the rail prevented the halt',
    );
    assert.equal((await rail.status('pay_1_1')).outcome, 'absent');
    assert.equal((await pay('pay_1_1', 5_000n)).outcome, 'unknown', 'a halted rail sent a payout');
    await fixture.db.asSystem((tx) => clearHalt(tx, RAIL, { restart: false }));
    assert.equal((await pay('pay_1_1', 5_000n)).outcome, 'submitted');
    const versions = await sends('pay_1_1');
    const proved = versions.filter(({ state }) => state === 'absent');
    assert.ok(
      proved.length > 0 &&
        proved.every(({ why }) => /was spent by [0-9a-f]{64} in block \d+, which is final/.test(why ?? '')),
    );
    chain.mine();
    chain.mineEmpty(FINALITY + 1);
    await look();
    assert.equal(chain.held(FRIEND), 5_000n);
  });
});
