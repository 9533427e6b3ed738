/**
 * The engine that follows a chain, on one in memory (support/fakechain.ts): blocks, reorgs, deposits, halts.
 *
 * Long because its claims share one chain in memory.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Unavailable } from '../../src/base/errors.ts';
import { type ChainPace, type ChainRail, chainRail, clearHalt, watchAddress } from '../../src/rails/chain.ts';
import type { RailFact } from '../../src/rails/rail.ts';
import { type FakeChain, fakeChain, TOKEN } from '../support/fakechain.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openRows, type Rows } from '../support/rows.ts';
import { targetOf } from '../support/targets.ts';
import { until } from '../support/until.ts';

const RAIL = 'fake.chain';
const FINALITY = 12;

describe('following a chain', () => {
  let fixture: Fixture;
  let rows: Rows;
  let chain: FakeChain;
  let rail: ChainRail;
  let facts: RailFact[];
  let addresses = 0n;

  before(async () => {
    fixture = await freshFixture();
    rows = await openRows(fixture.adminUrl);
    await rows.cryptoAsset('usdc.fake', 'fake', TOKEN);
    await rows.cryptoAsset('coin.fake', 'fake', null, 18);
    await rows.policy('fake', 'usdc.fake', 0n, 3);
    await rows.policy('fake', 'usdc.fake', 1_000_000n, 6);
  });
  after(async () => {
    await rows.close();
    await fixture.stop();
  });
  beforeEach(async () => {
    for (const table of ['chain_deposits', 'chain_credits', 'chain_blocks', 'native_balances', 'chains'])
      await rows.query(`delete from ${table}`);
    await begin();
  });

  async function begin(pace: Partial<ChainPace> = {}): Promise<void> {
    chain = fakeChain({ finality: FINALITY, pace: { lowerBranchMs: 0, ...pace } });
    facts = [];
    rail = open();
    chain.mine();
    await follow();
  }

  /** Another process, or this one after a restart. */
  const open = (of = facts): ChainRail =>
    chainRail(chain.adapter, {
      ...fixture,
      report: async (_, fact) => {
        of.push(fact);
      },
    });

  async function follow(by = rail): Promise<void> {
    while ((await by.observe()).againInMs === 0);
  }

  async function address(): Promise<string> {
    const index = addresses;
    addresses += 1n;
    const target = targetOf(rail, index);
    const order = await rows.order('usdc.fake', RAIL, target);
    await fixture.db.asPartner(order.partnerId, (tx) =>
      watchAddress(tx, { rail: RAIL, address: target, index, ...order }),
    );
    return target;
  }

  const said = () => facts.map((fact) => `${fact.type} ${'externalId' in fact ? fact.externalId : ''}`.trim());
  const take = () => said().splice(0, facts.splice(0).length);

  test('an unchanged head causes no queries, and a new block is read at once', async () => {
    await begin({ idleMs: 3_600_000 });
    let asked = 0;
    const db: typeof fixture.db = {
      ...fixture.db,
      asSystem: async (body) => {
        asked += 1;
        return await fixture.db.asSystem(body);
      },
    };
    const counted = chainRail(chain.adapter, {
      ...fixture,
      db,
      report: async (_, fact) => {
        facts.push(fact);
      },
    });
    await follow(counted);
    assert.ok(asked > 0, 'the first check did not read our rows');
    asked = 0;
    for (let polls = 0; polls < 5; polls += 1) await counted.observe();
    assert.equal(asked, 0);
    const to = await address();
    chain.mine({ txHash: '0xidle', to, units: 5n, position: 1 });
    await follow(counted);
    assert.deepEqual(take(), ['deposit_seen 0xidle:1']);
  });

  test('a transfer to a deposit address is seen when mined and confirmed at its third block, each once', async () => {
    const to = await address();
    chain.mine({ txHash: '0xa', to, units: 5n, position: 4 });
    await follow();
    assert.deepEqual(facts.splice(0), [
      {
        type: 'deposit_seen',
        rail: RAIL,
        externalId: '0xa:4',
        target: to,
        asset: 'usdc.fake',
        units: 5n,
        reference: '0xa',
        at: chain.at(2n).at,
        withinMs: 999,
        facts: { block: 2, confirmations: 1 },
      },
    ]);
    chain.mine();
    await follow();
    assert.deepEqual(take(), []);
    chain.mine();
    await follow();
    assert.deepEqual(take(), ['deposit_confirmed 0xa:4']);
    chain.mineEmpty(30);
    await follow();
    await follow(open());
    assert.deepEqual(take(), []);
  });

  test('several transfers in one block and in one chain transaction are each seen once', async () => {
    const [one, two] = [await address(), await address()];
    chain.mine(
      { txHash: '0xa', to: one, units: 1n, position: 0 },
      { txHash: '0xa', to: one, units: 1n, position: 1 },
      { txHash: '0xa', to: two, units: 1n, position: 2 },
      { txHash: '0xb', to: two, units: 1n, position: 0 },
    );
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xa:0', 'deposit_seen 0xa:1', 'deposit_seen 0xa:2', 'deposit_seen 0xb:0']);
  });

  test('a large amount waits for more confirmations than a small one', async () => {
    const [one, two] = [await address(), await address()];
    chain.mine(
      { txHash: '0xsmall', to: one, units: 999_999n, from: '0xann' },
      { txHash: '0xlarge', to: two, units: 1_000_000n, from: '0xbob' },
    );
    chain.mineEmpty(2);
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xsmall:0', 'deposit_seen 0xlarge:0', 'deposit_confirmed 0xsmall:0']);
    chain.mineEmpty(2);
    await follow();
    assert.deepEqual(take(), []);
    chain.mine();
    await follow();
    assert.deepEqual(take(), ['deposit_confirmed 0xlarge:0']);
  });

  const notDeep = (...names: string[]) => fixture.db.asSystem(async (tx) => await rail.notDeep?.(tx, names));

  test('a large amount in parts waits as long as in one, and its confirmed small part is not deep enough any more', async () => {
    const to = await address();
    chain.mine({ txHash: '0xa', to, units: 600_000n, from: '0xann' });
    chain.mineEmpty(2);
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xa:0', 'deposit_confirmed 0xa:0']);
    assert.equal(await notDeep('0xa:0'), undefined);
    // Sent by another sender, in a later block.
    chain.mine({ txHash: '0xb', to, units: 400_000n, from: '0xbob' });
    await follow();
    assert.match((await notDeep('0xa:0')) ?? '', /4 of the 6 confirmations/);
    chain.mineEmpty(2);
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xb:0']);
    assert.equal(await notDeep('0xa:0'), undefined);
    assert.match((await notDeep('0xa:0', '0xb:0')) ?? '', /3 of the 6 confirmations/);
    chain.mineEmpty(3);
    await follow();
    assert.deepEqual(take(), ['deposit_confirmed 0xb:0']);
    assert.equal(await notDeep('0xa:0', '0xb:0'), undefined);
  });

  test('deposits at several addresses that fund one order need the depth of their sum together, and each its own alone', async () => {
    const [one, two] = [await address(), await address()];
    chain.mine({ txHash: '0xa', to: one, units: 600_000n, from: '0xann' });
    chain.mine({ txHash: '0xb', to: two, units: 400_000n, from: '0xbob' });
    chain.mineEmpty(2);
    await follow();
    assert.equal(take().filter((said) => said.startsWith('deposit_confirmed')).length, 2);
    for (const name of ['0xa:0', '0xb:0']) assert.equal(await notDeep(name), undefined);
    assert.match((await notDeep('0xa:0', '0xb:0')) ?? '', /4 of the 6 confirmations/);
    chain.mineEmpty(2);
    await follow();
    assert.match((await notDeep('0xa:0', '0xb:0')) ?? '', /5 of the 6 confirmations/);
    chain.mineEmpty(1);
    await follow();
    assert.equal(await notDeep('0xa:0', '0xb:0'), undefined);
  });

  test('payments of one sender in one block to several addresses count together, those of another sender or block separately', async () => {
    const [one, two, three, four] = [await address(), await address(), await address(), await address()];
    chain.mine(
      { txHash: '0xa', to: one, units: 500_000n, from: '0xann' },
      { txHash: '0xb', to: two, units: 500_000n, from: '0xann' },
      { txHash: '0xc', to: three, units: 500_000n, from: '0xbob' },
    );
    chain.mine({ txHash: '0xd', to: four, units: 500_000n, from: '0xann' });
    chain.mineEmpty(2);
    await follow();
    assert.deepEqual(
      take().filter((one) => one.startsWith('deposit_confirmed')),
      ['deposit_confirmed 0xc:0', 'deposit_confirmed 0xd:0'],
    );
    chain.mineEmpty(2);
    await follow();
    assert.deepEqual(take(), ['deposit_confirmed 0xa:0', 'deposit_confirmed 0xb:0']);
  });

  test('a deposit that left the chain or moved to a later block is not deep, and an unknown one is not checked', async () => {
    const to = await address();
    chain.mine({ txHash: '0xa', to, units: 5n });
    chain.mineEmpty(2);
    await follow();
    assert.equal(await notDeep('0xa:0', 'coin:7'), undefined);
    chain.drop(3);
    chain.mineEmpty(3);
    chain.mine({ txHash: '0xa', to, units: 5n });
    await follow();
    assert.match((await notDeep('0xa:0')) ?? '', /1 of the 3 confirmations/);
    chain.drop(1);
    chain.mineEmpty(2);
    await follow();
    assert.match((await notDeep('0xa:0')) ?? '', /not in the chain/);
  });

  test('an asset without a policy waits for finality', async () => {
    await rows.cryptoAsset('other.fake', 'fake', '0xother').catch(() => {});
    const to = await address();
    chain.mine({ txHash: '0xa', to, units: 5n, contract: '0xother' });
    chain.mineEmpty(FINALITY - 2);
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xa:0']);
    chain.mine();
    await follow();
    assert.deepEqual(take(), ['deposit_confirmed 0xa:0']);
  });

  test('an unlisted contract, a transfer of zero and a foreign address are ignored', async () => {
    const to = await address();
    chain.mine(
      { txHash: '0xa', to, units: 5n, contract: '0xhostile' },
      { txHash: '0xb', to, units: 0n },
      { txHash: '0xc', to: '0xstranger', units: 5n },
    );
    chain.mineEmpty(5);
    await follow();
    assert.deepEqual(take(), []);
  });

  test('a deposit to an address created between its block and our reading of it is found', async () => {
    const to = `0xdeposit${addresses}`;
    chain.mine({ txHash: '0xa', to, units: 5n });
    assert.equal(await address(), to);
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xa:0']);
  });

  test('a deposit reorged out before confirmation is reversed, and seen again under its name when mined later', async () => {
    const to = await address();
    chain.mine({ txHash: '0xa', to, units: 5n });
    await follow();
    chain.drop(1);
    chain.mineEmpty(2);
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xa:0', 'deposit_reversed 0xa:0']);
    chain.mine({ txHash: '0xa', to, units: 5n });
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xa:0']);
    chain.mineEmpty(2);
    await follow();
    assert.deepEqual(take(), ['deposit_confirmed 0xa:0']);
  });

  test('a transaction mined again in another block keeps its name and is not reversed', async () => {
    const [to, other] = [await address(), await address()];
    chain.mine({ txHash: '0xa', to, units: 5n, position: 2 });
    chain.mine();
    await follow();
    chain.drop(2);
    // Mined two blocks later, at another log index.
    chain.mineEmpty(3);
    chain.mine({ txHash: '0xb', to: other, units: 1n }, { txHash: '0xa', to, units: 5n, position: 2 });
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xa:2', 'deposit_seen 0xb:0']);
    chain.mine();
    await follow();
    assert.deepEqual(take(), [], 'its confirmations were not counted from its new block');
    chain.mine();
    await follow();
    assert.deepEqual(take().toSorted(), ['deposit_confirmed 0xa:2', 'deposit_confirmed 0xb:0']);
  });

  test('a confirmed deposit that is mined again elsewhere is not confirmed again', async () => {
    const to = await address();
    chain.mine({ txHash: '0xa', to, units: 5n });
    chain.mineEmpty(3);
    await follow();
    take();
    chain.drop(4);
    chain.mineEmpty(1);
    chain.mine({ txHash: '0xa', to, units: 5n });
    chain.mineEmpty(6);
    await follow();
    assert.deepEqual(take(), []);
  });

  test('a confirmed deposit that a reorg removes is reversed, and is a new deposit when it is mined again', async () => {
    const to = await address();
    chain.mine({ txHash: '0xa', to, units: 5n });
    chain.mineEmpty(3);
    await follow();
    take();
    chain.drop(4);
    chain.mineEmpty(5);
    await follow();
    assert.deepEqual(facts.splice(0), [
      { type: 'deposit_reversed', rail: RAIL, externalId: '0xa:0', why: 'left the chain after it was confirmed' },
    ]);
    chain.mine({ txHash: '0xa', to, units: 5n });
    chain.mineEmpty(2);
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xa:0:2', 'deposit_confirmed 0xa:0:2']);
  });

  test('a deposit made before the first step ever, however long the node did not answer, is found', async () => {
    for (const table of ['chain_blocks', 'chains']) await rows.query(`delete from ${table}`);
    const to = await address();
    chain.mine({ txHash: '0xa', to, units: 5n });
    chain.mineEmpty(3 * FINALITY);
    const fresh = open();
    await follow(fresh);
    assert.deepEqual(take(), ['deposit_seen 0xa:0', 'deposit_confirmed 0xa:0']);
  });

  test('the orders of all deposits that one step reverses or confirms are locked before the first is reported', async () => {
    const [one, two, three] = [await address(), await address(), await address()];
    const locking = chainRail(chain.adapter, {
      ...fixture,
      report: async (_, fact) => {
        facts.push(fact);
      },
      lockOrders: async (_, { externalIds }) => {
        const last = said().at(-1);
        assert.ok(last === undefined || !/reversed|confirmed/.test(last), `locked after: ${last}`);
        locked.push([...externalIds].toSorted());
      },
    });
    const locked: string[][] = [];
    chain.mine({ txHash: '0xa', to: one, units: 5n });
    chain.mine({ txHash: '0xb', to: two, units: 5n });
    await follow(locking);
    take();
    chain.drop(2);
    chain.mine({ txHash: '0xc', to: three, units: 5n });
    chain.mineEmpty(2);
    await follow(locking);
    assert.deepEqual(take().toSorted(), [
      'deposit_confirmed 0xc:0',
      'deposit_reversed 0xa:0',
      'deposit_reversed 0xb:0',
      'deposit_seen 0xc:0',
    ]);
    assert.deepEqual(locked, [['0xa:0', '0xb:0', '0xc:0']]);
  });

  test('a transaction with another effect when mined again is another deposit', async () => {
    const to = await address();
    chain.mine({ txHash: '0xa', to, units: 5n });
    await follow();
    chain.drop(1);
    chain.mine({ txHash: '0xa', to, units: 4n });
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xa:0', 'deposit_seen 0xa:0:2', 'deposit_reversed 0xa:0']);
  });

  test('a lagging node reverses nothing and moves no cursor back', async () => {
    const to = await address();
    chain.mine({ txHash: '0xa', to, units: 5n });
    chain.mine();
    await follow();
    take();
    const ahead = chain.snapshot();
    chain.drop(2);
    await follow();
    await follow();
    assert.deepEqual(take(), []);
    chain.revert(ahead);
    chain.mine();
    await follow();
    assert.deepEqual(take(), ['deposit_confirmed 0xa:0']);
  });

  test('a node that lags by more than finality reverses nothing', async () => {
    const to = await address();
    chain.mine({ txHash: '0xa', to, units: 5n });
    chain.mineEmpty(2 * FINALITY);
    await follow();
    take();
    chain.drop(2 * FINALITY);
    await follow();
    assert.deepEqual(take(), []);
  });

  test('another branch that is lower than ours is accepted only when it persists', async () => {
    await begin({ lowerBranchMs: 150 });
    const to = await address();
    chain.mine({ txHash: '0xa', to, units: 5n });
    chain.mineEmpty(1);
    await follow();
    take();
    chain.drop(2);
    chain.mine();
    await follow();
    assert.deepEqual(
      take(),
      [],
      'the lower branch was accepted at once, although the node may only lag on orphaned blocks',
    );
    const said = await until('it has stayed', async () => {
      await follow();
      const news = take();
      return news.length > 0 && news;
    });
    assert.deepEqual(said, ['deposit_reversed 0xa:0']);
  });

  test('another branch as high as ours is accepted at once', async () => {
    await begin({ lowerBranchMs: 3_600_000 });
    const to = await address();
    chain.mine({ txHash: '0xa', to, units: 5n });
    await follow();
    chain.drop(1);
    chain.mine();
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xa:0', 'deposit_reversed 0xa:0']);
  });

  test('a reorg as deep as finality is followed', async () => {
    const to = await address();
    chain.mineEmpty(FINALITY);
    chain.mine({ txHash: '0xa', to, units: 5n });
    chain.mineEmpty(FINALITY - 1);
    await follow();
    take();
    chain.drop(FINALITY);
    chain.mineEmpty(FINALITY + 1);
    await follow();
    assert.deepEqual(take(), ['deposit_reversed 0xa:0']);
    assert.equal((await rail.health()).healthy, true);
  });

  test('a reorg deeper than finality halts the rail with one error until a person clears it', async () => {
    const to = await address();
    chain.mineEmpty(FINALITY);
    chain.mine({ txHash: '0xa', to, units: 5n });
    chain.mineEmpty(FINALITY);
    await follow();
    take();
    chain.drop(FINALITY + 2);
    chain.mineEmpty(FINALITY + 4);
    const later = await address();
    chain.mine({ txHash: '0xb', to: later, units: 5n });
    await follow();
    await follow();
    await follow(open());
    assert.deepEqual(take(), ['rail_halted']);
    const health = await rail.health();
    assert.equal(health.healthy, false);
    assert.match(health.why ?? '', /deeper than 12 blocks/);

    await fixture.db.asSystem((tx) => clearHalt(tx, RAIL, { restart: true }));
    chain.mine();
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xb:0']);
    assert.equal((await rail.health()).healthy, true);
  });

  test('a deposit made while the chain was halted, however long, is found when it restarts', async () => {
    const [early, there, late] = [await address(), await address(), await address()];
    chain.mineEmpty(2 * FINALITY);
    chain.mine({ txHash: '0xthere', to: there, units: 5n });
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xthere:0']);
    chain.drop(FINALITY + 2);
    chain.mine({ txHash: '0xearly', to: early, units: 5n });
    chain.mine({ txHash: '0xthere', to: there, units: 5n });
    chain.mineEmpty(FINALITY + 2);
    chain.mine({ txHash: '0xlate', to: late, units: 5n });
    await follow();
    assert.deepEqual(take(), ['rail_halted']);
    // The chain is not read for a long time.
    chain.mineEmpty(3 * FINALITY);
    await fixture.db.asSystem((tx) => clearHalt(tx, RAIL, { restart: true }));
    await follow();
    assert.deepEqual(take().toSorted(), [
      'deposit_confirmed 0xearly:0',
      'deposit_confirmed 0xlate:0',
      'deposit_confirmed 0xthere:0',
      'deposit_seen 0xearly:0',
      'deposit_seen 0xlate:0',
    ]);
  });

  test('a credit to the hot wallet in blocks that a deep reorg removed is not reported, and reported once where it is mined again', async () => {
    chain.adapter.wallets = { hot: { address: '0xhot' } };
    chain.mineEmpty(2 * FINALITY);
    await follow();
    chain.mine({ txHash: '0xgone', to: '0xhot', units: 5n }, { txHash: '0xmoved', to: '0xhot', units: 7n });
    await follow();
    chain.drop(FINALITY + 2);
    chain.mine();
    chain.mine({ txHash: '0xmoved', to: '0xhot', units: 7n });
    chain.mineEmpty(3 * FINALITY);
    await follow();
    assert.deepEqual(take(), ['rail_halted']);
    await fixture.db.asSystem((tx) => clearHalt(tx, RAIL, { restart: true }));
    await follow();
    assert.deepEqual(take(), ['credit_unexpected 0xmoved:0']);
  });

  test('a process that resumes after a reorg and many blocks does not halt the rail because of its memory', async () => {
    chain.mineEmpty(FINALITY);
    await follow();
    const { head } = chain.adapter;
    let thaw = () => {};
    const frozen = new Promise<void>((wake) => {
      thaw = wake;
    });
    const asked = new Promise<void>((reached) => {
      chain.adapter.head = async () => {
        reached();
        await frozen;
        return await head();
      };
    });
    const looking = open().observe();
    await asked;
    chain.adapter.head = head;
    chain.drop(3);
    chain.mineEmpty(4 + 2 * FINALITY);
    await follow();
    thaw();
    await looking;
    await follow();
    assert.deepEqual(take(), []);
    assert.equal((await rail.health()).healthy, true);
  });

  describe('a step that began before an operator cleared a halt', () => {
    /** Another process's step, after the node has answered `call` and before it has used the answer. */
    async function suspended(call: 'head' | 'blocks'): Promise<{ goesOn(): Promise<unknown> }> {
      const real = chain.adapter[call] as (...asked: bigint[]) => Promise<unknown>;
      const { finalized } = await cursor();
      let calls = 0;
      const thaw = Promise.withResolvers<void>();
      const asked = Promise.withResolvers<void>();
      Object.assign(chain.adapter, {
        [call]: async (...input: bigint[]) => {
          const answer = await real(...input);
          calls += 1;
          // The first head only shows whether there is anything to read; the step reads its own.
          if (call === 'head' ? calls === 1 : input[0] !== finalized) return answer;
          asked.resolve();
          await thaw.promise;
          return answer;
        },
      });
      const looking = open().observe();
      await asked.promise;
      Object.assign(chain.adapter, { [call]: real });
      return {
        goesOn: async () => {
          thaw.resolve();
          await looking;
        },
      };
    }
    const cursor = async () => {
      const [row] = await rows.query('select finalized::text as finalized, halted_why from chains');
      return { finalized: BigInt(String(row?.finalized)), why: row?.halted_why };
    };

    for (const [what, call] of [
      ['another chain id', 'head'],
      ['another genesis block', 'head'],
      ['a reorg deeper than finality', 'blocks'],
    ] as const)
      for (const restart of [false, true])
        test(`does not halt the rail again: ${what}${restart ? ', restarted' : ''}`, async () => {
          chain.mineEmpty(2 * FINALITY);
          await follow();
          const { head } = chain.adapter;
          const before = chain.snapshot();
          if (call === 'blocks') {
            chain.drop(FINALITY + 2);
            chain.mineEmpty(FINALITY + 4);
          } else {
            const lie = what === 'another chain id' ? { chainId: 8n } : { genesisHash: '0xother' };
            chain.adapter.head = async () => ({ ...(await head()), ...lie });
          }
          const step = await suspended(call);
          await follow();
          assert.deepEqual(take(), ['rail_halted']);
          chain.adapter.head = head;
          if (!restart) chain.revert(before);
          await fixture.db.asSystem((tx) => clearHalt(tx, RAIL, { restart }));
          await step.goesOn();
          assert.deepEqual([take(), (await cursor()).why], [[], null]);
          chain.mine();
          await follow();
          assert.equal((await rail.health()).healthy, true);
        });
  });

  test('a node on another chain halts the rail', async () => {
    chain.adapter.head = async () => ({
      chainId: 8n,
      genesisHash: chain.at(0n).hash,
      newest: chain.at(chain.height()),
    });
    await follow();
    assert.deepEqual(take(), ['rail_halted']);
  });

  test('a node that lost its data halts the rail', async () => {
    chain.restart();
    chain.mineEmpty(40);
    await follow();
    assert.deepEqual(take(), ['rail_halted']);
    assert.match((await rail.health()).why ?? '', /another genesis/);
  });

  test('blocks that do not link to each other are rejected', async () => {
    const to = await address();
    const honest = chain.adapter.blocks;
    chain.adapter.blocks = async (from, upTo) =>
      (await honest(from, upTo)).map((block, at) => (at === 1 ? { ...block, parentHash: '0xother' } : block));
    chain.mine({ txHash: '0xa', to, units: 5n });
    chain.mineEmpty(3);
    await assert.rejects(follow(), Unavailable);
    assert.deepEqual(take(), []);
    chain.adapter.blocks = honest;
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xa:0', 'deposit_confirmed 0xa:0']);
  });

  test('transfers of another block than the followed one are rejected', async () => {
    const to = await address();
    const honest = chain.adapter.transfers;
    chain.adapter.transfers = async (blocks, contracts) =>
      (await honest(blocks, contracts)).map((transfer) => ({ ...transfer, blockHash: '0xother' }));
    chain.mine({ txHash: '0xa', to, units: 5n });
    await assert.rejects(follow(), Unavailable);
    assert.deepEqual(take(), []);
  });

  test('a head beyond existing blocks moves no cursor', async () => {
    const honest = chain.adapter.head;
    chain.adapter.head = async () => {
      const node = await honest();
      return { ...node, newest: { ...node.newest, number: 10n ** 9n } };
    };
    await assert.rejects(follow(), Unavailable);
    chain.adapter.head = honest;
    chain.mine();
    await follow();
    const [row] = await rows.query<{ head_number: bigint }>(`select head_number from chains`);
    assert.equal(row?.head_number, chain.height());
  });

  test('a long absence is caught up in bounded steps, and no deposit in between is missed', async () => {
    await begin({ blocksPerStep: 20 });
    const to = await address();
    for (let i = 0; i < 100; i += 1) chain.mine({ txHash: `0x${i}`, to, units: 5n });
    let steps = 1;
    while ((await rail.observe()).againInMs === 0) steps += 1;
    assert.equal(steps, 5);
    const seen = said().filter((line) => line.startsWith('deposit_seen'));
    assert.deepEqual(
      seen,
      Array.from({ length: 100 }, (_, i) => `deposit_seen 0x${i}:0`),
    );
    const [{ kept } = { kept: 0n }] = await rows.query<{ kept: bigint }>('select count(*) as kept from chain_blocks');
    assert.equal(Number(kept), FINALITY + 1, 'blocks below finality were kept');
  });

  test('a deposit that a reorg moved to the end of a long new branch is not reversed on the way there', async () => {
    await begin({ blocksPerStep: 5 });
    const to = await address();
    chain.mine({ txHash: '0xa', to, units: 5n });
    await follow();
    take();
    chain.drop(1);
    chain.mineEmpty(30);
    chain.mine({ txHash: '0xa', to, units: 5n });
    await follow();
    assert.deepEqual(take(), []);
  });

  test('two concurrent followers report each fact once', async () => {
    const to = await address();
    const other = open();
    for (let i = 0; i < 12; i += 1) {
      if (i % 4 === 3) chain.drop(2);
      chain.mine({ txHash: `0x${i}`, to, units: 5n });
      chain.mine();
      await Promise.all([rail.observe(), other.observe(), rail.observe()]);
    }
    chain.mineEmpty(4);
    await Promise.all([rail.observe(), other.observe()]);
    const lines = said();
    assert.equal(new Set(lines).size, lines.length);
    // Every fourth round removes the transfer of the previous round.
    const kept = Array.from({ length: 12 }, (_, i) => i).filter((i) => i % 4 !== 2);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('deposit_confirmed')).toSorted(),
      kept.map((i) => `deposit_confirmed 0x${i}:0`).toSorted(),
    );
  });

  test('a report that fails leaves the cursor unchanged', async () => {
    const to = await address();
    const failing = chainRail(chain.adapter, {
      ...fixture,
      report: async () => {
        throw new Error('the books refuse');
      },
    });
    chain.mine({ txHash: '0xa', to, units: 5n });
    await assert.rejects(failing.observe(), /the books refuse/);
    await follow();
    assert.deepEqual(take(), ['deposit_seen 0xa:0']);
  });

  test('the native asset at an address is found when its block is final, and only its increase is booked', async () => {
    const to = await address();
    let held = 0n;
    chain.adapter.nativeBalancesAt = async (_, of) => of.map((one) => (one === to ? held : 0n));
    await follow();
    held = 700n;
    chain.mineEmpty(FINALITY + 2);
    await follow();
    held = 1_000n;
    chain.mine();
    await follow();
    await follow();
    assert.deepEqual(
      facts.map((fact) => ('units' in fact ? [fact.type, fact.asset, fact.units, fact.externalId] : fact)),
      [
        ['deposit_confirmed', 'coin.fake', 700n, `native:${to}:3`],
        ['deposit_confirmed', 'coin.fake', 300n, `native:${to}:4`],
      ],
    );
  });

  test('no block for too long is unhealthy', async () => {
    await begin({ headAgeLimitMs: 2_000 });
    const health = await until('it is unhealthy', async () => {
      const now = await rail.health();
      return !now.healthy && now;
    });
    assert.ok((health.ageMs ?? 0) >= 2_000);
    chain.mine();
    await follow();
    assert.equal((await rail.health()).healthy, true);
  });

  for (const seed of [1, 2, 3, 4, 5, 6]) {
    test(`after any reorgs above finality the reported facts agree with the chain in the end (seed ${seed})`, async () => {
      const random = randomOf(seed);
      await begin({ blocksPerStep: 4 });
      const homes = [await address(), await address(), await address()];
      let rails = [rail, open()];
      const pool: { txHash: string; to: string; units: bigint; position: number }[] = [];
      let made = 0;
      let highest = 0;
      const mined = () => new Set(chain.blocks().flatMap((block) => block.paid.map((paid) => paid.txHash)));
      const honest = { ...chain.adapter };
      for (let round = 0; round < 120; round += 1) {
        const luck = random(10);
        if (luck < 4) {
          made += 1;
          const units = random(3) === 0 ? 2_000_000n : 5n;
          pool.push({ txHash: `0x${seed}.${made}`, to: homes[random(3)] ?? '', units, position: random(4) });
        }
        highest = Math.max(highest, Number(chain.height()));
        // Never below the block that was final when the chain was at its highest.
        const lowest = Math.max(highest - FINALITY, 1);
        if (luck === 4) chain.drop(random(Number(chain.height()) - lowest + 1));
        if (luck === 5) rails = [open(), open()];
        if (luck === 6)
          chain.adapter.head = async () => ({ ...(await honest.head()), newest: chain.at(chain.height() / 2n) });
        if (luck === 7) {
          chain.adapter.blocks = async () => {
            throw new Unavailable('fake', 'down');
          };
        }
        const there = mined();
        const waiting = pool.filter(({ txHash }) => !there.has(txHash) && random(2) === 0);
        chain.mine(...waiting);
        if (random(2) === 0) chain.mine();
        await Promise.allSettled(rails.map((one) => one.observe()));
        Object.assign(chain.adapter, honest);
      }
      chain.mineEmpty(2 * FINALITY);
      await follow(open());

      const states = new Map<string, { seen: boolean; confirmed: number }>();
      for (const fact of facts) {
        assert.notEqual(fact.type, 'rail_halted');
        if (!('externalId' in fact)) continue;
        const was = states.get(fact.externalId) ?? { seen: false, confirmed: 0 };
        if (fact.type === 'deposit_seen')
          assert.equal(was.seen, false, 'a deposit that was reported as seen was reported again');
        if (fact.type !== 'deposit_seen')
          assert.equal(was.seen, true, 'another fact was reported about a deposit that is not seen');
        states.set(fact.externalId, {
          seen: fact.type !== 'deposit_reversed',
          confirmed: was.confirmed + (fact.type === 'deposit_confirmed' ? 1 : 0),
        });
      }
      const standing = [...states].filter(([, state]) => state.seen);
      for (const [id, state] of standing) assert.equal(state.confirmed, 1, `${id} was not confirmed exactly once`);
      const there = mined();
      const expected = pool
        .filter(({ txHash }) => there.has(txHash))
        .map(({ txHash, position }) => `${txHash}:${position}`);
      assert.deepEqual(standing.map(([id]) => id.split(':').slice(0, 2).join(':')).toSorted(), expected.toSorted());
    });
  }
});

/** A small generator of its own, so that a seed gives the same run everywhere. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}
