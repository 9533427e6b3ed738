/**
 * Targets that are issued one by one, on the chain of outputs in memory (test/support/outputchain.ts): what no public key derives is
 * kept in the books until an order takes it.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { markRestored } from '../../src/backup/post-restore.ts';
import type { Tx } from '../../src/base/db.ts';
import { type ChainRail, chainRail, watchAddress } from '../../src/rails/chain.ts';
import type { RailFact } from '../../src/rails/rail.ts';
import { testRail } from '../contracts/rail.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { HOT, type OutputChain, outputChain } from '../support/outputchain.ts';
import { openRows, type Rows } from '../support/rows.ts';

const RAIL = 'outputs.test';
const FINALITY = 3;
const COIN = 'coin.outputs';
const KEEP = 8;
const EMPTIED = [
  ...['issued_targets', 'target_issuers', 'chain_deposits', 'chain_credits', 'chain_sends', 'chain_blocks', 'chains'],
  ...['deposit_addresses', 'restores'],
];

interface Environment {
  fixture: Fixture;
  rows: Rows;
  chain: OutputChain;
  rail: ChainRail;
  facts: RailFact[];
  look(): Promise<void>;
  inTx<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
}

let fixture: Fixture;
let rows: Rows;
before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  await rows.cryptoAsset(COIN, 'outputs', null, 8);
  await rows.policy('outputs', COIN, 0n, 2);
});
after(async () => {
  await rows?.close();
  await fixture?.stop();
});

/** A new chain and issuer on empty tables. */
async function openEnvironment(): Promise<Environment> {
  await rows.query('alter table chain_sends disable trigger delete_unsigned');
  for (const table of EMPTIED) await rows.query(`delete from ${table}`);
  await rows.query('alter table chain_sends enable trigger delete_unsigned');
  const chain = outputChain({ finality: FINALITY, pace: { stuckMs: 0, rebroadcastMs: 0 }, keep: KEEP });
  for (const units of [50_000n, 40_000n]) chain.pay({ to: HOT, units });
  chain.mine();
  chain.mineEmpty(FINALITY + 1);
  const facts: RailFact[] = [];
  const rail = chainRail(chain.adapter, { ...fixture, report: async (_, fact) => void facts.push(fact) });
  const look = async () => {
    while ((await rail.observe()).againInMs === 0);
  };
  await look();
  return { fixture, rows, chain, rail, facts, look, inTx: (body) => fixture.db.asSystem(body) };
}

const issuedBy = ({ targets }: ChainRail) => {
  assert(targets.are === 'issued');
  return targets;
};
const take = ({ rail, fixture }: Environment): Promise<string> => fixture.db.asSystem((tx) => issuedBy(rail).take(tx));
const free = async ({ rows }: Environment): Promise<string[]> =>
  (await rows.query<{ target: string }>('select target from issued_targets order by number')).map(
    ({ target }) => target,
  );

testRail('a chain whose targets are issued one by one', async () => {
  const world = await openEnvironment();
  const { chain, rail, facts, rows, look, inTx } = world;
  const owners = new Map<string, string>();
  return {
    rail,
    facts,
    inTx,
    sending(key) {
      const to = owners.get(key) ?? `out-friend${owners.size}`;
      owners.set(key, to);
      return { key, asset: COIN, units: 1_000n, destination: { kind: 'address', address: to } };
    },
    effects: async (key) => chain.paying(owners.get(key) ?? '').length,
    charge: (key) => chain.paying(owners.get(key) ?? '').reduce((all, tx) => all + chain.costOf(tx), 0n),
    async pays(target) {
      await rows.query(
        `insert into deposit_addresses (rail, address, index, made_at) values ($1, $2, nextval('deposit_indexes'), now())`,
        [RAIL, target],
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
    async stop() {},
  };
});

describe('targets that are issued one by one', () => {
  let world: Environment;
  beforeEach(async () => {
    world = await openEnvironment();
  });

  test('orders created at the same time each get their own, in the order in which they were issued', async () => {
    const taken = await Promise.all(Array.from({ length: KEEP }, () => take(world)));
    assert.deepEqual(taken.toSorted(), world.chain.made.slice(0, KEEP).toSorted());
  });

  test('a transaction that ends without an order leaves its target free', async () => {
    await assert.rejects(
      world.inTx(async (tx) => {
        await issuedBy(world.rail).take(tx);
        throw new Error('no order');
      }),
    );
    assert.deepEqual(await free(world), world.chain.made);
  });

  test('without a free target none is assigned; the next poll issues more', async () => {
    for (let n = 0; n < KEEP; n += 1) await take(world);
    await assert.rejects(take(world), { name: 'Unavailable', message: /no free target is left/ });
    assert.match((await world.rail.health()).why ?? '', /no free target is left/);
    await world.look();
    assert.equal(await take(world), world.chain.made[KEEP]);
    assert.equal(world.chain.made.length, 2 * KEEP);
  });

  test("a partner's transaction takes one", async () => {
    const { db } = world.fixture;
    assert.equal(await db.asPartner(1n, (tx) => issuedBy(world.rail).take(tx)), world.chain.made[0]);
  });

  for (const what of ['answer', 'bytes'] as const)
    test(`when the ${what === 'answer' ? 'answer of the issuer is lost' : 'issuer is not reached'} none is lost and none is made twice`, async () => {
      for (let n = 0; n < KEEP; n += 1) await take(world);
      world.chain.loseNext(what);
      await world.look();
      await world.look();
      assert.deepEqual(await free(world), world.chain.made.slice(KEEP));
      assert.equal(world.chain.made.length, 2 * KEEP);
    });

  test('a target that the issuer makes again is not given out again', async () => {
    const first = await take(world);
    await world.inTx(async (tx) => watchAddress(tx, { ...NOBODY, rail: RAIL, address: first, index: 1_000n }));
    for (let n = 1; n < KEEP; n += 1) await take(world);
    world.chain.repeat(first);
    await world.look();
    assert.ok(!(await free(world)).includes(first), 'a target that an order has is free again');
    assert.deepEqual(await free(world), world.chain.made.slice(KEEP + 1));
  });

  test('after a restore no target that was issued before is given out, and money at one of them is reported with its number', async () => {
    const { chain, rows, fixture, facts, look } = world;
    await take(world);
    const known = chain.made.length;
    // Of the lost time: the issuer made these, and a customer was given one of them.
    await chain.adapter.issuer?.issue(5);
    const [lost = '', ...others] = chain.made.slice(known);
    await markRestored(fixture.adminUrl, { now: fixture.clock.now() });
    chain.pay({ to: lost, units: 900n });
    chain.pay({ to: chain.made[2] ?? '', units: 300n });
    chain.mine();
    await assert.rejects(take(world), { name: 'Unavailable' });
    await look();
    chain.mineEmpty(FINALITY + 1);
    await look();
    const before = new Set(chain.made.slice(0, known + 1 + others.length));
    assert.equal(before.has(await take(world)), false, 'a customer of the lost time has this target');
    const seen = facts.flatMap((fact) => (fact.type === 'deposit_seen' ? [fact] : []));
    assert.deepEqual(
      seen.map(({ target, units }) => [target, units]).toSorted(),
      [
        [lost, 900n],
        [chain.made[2], 300n],
      ].toSorted(),
    );
    const numbers = await rows.query<{ address: string; index: bigint }>(
      'select address, index from deposit_addresses where order_id is null and address = any($1)',
      [[lost, chain.made[2]]],
    );
    const numberOf = new Map(numbers.map(({ address, index }) => [address, Number(index)]));
    for (const { target, facts: about } of seen) assert.equal(about.index, numberOf.get(target));
  });

  test('money at a target that no order has taken is reported, and no order gets that target', async () => {
    const { chain, facts, look } = world;
    const [, second = ''] = chain.made;
    chain.pay({ to: second, units: 400n });
    chain.mine();
    await look();
    assert.deepEqual(
      facts.flatMap((fact) => (fact.type === 'deposit_seen' ? [[fact.target, fact.units]] : [])),
      [[second, 400n]],
    );
    const taken = await Promise.all(Array.from({ length: KEEP - 1 }, () => take(world)));
    assert.ok(!taken.includes(second), 'an order was given a target at which there is money');
  });
});

const NOBODY = { orderId: null as unknown as bigint, partnerId: null as unknown as bigint };
