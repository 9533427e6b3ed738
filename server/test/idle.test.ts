/**
 * What an idle server asks its database: counted, poll by poll, and not timed. Between two polls nothing happens here, so a poll
 * that asks more than once in a while is one that costs something while nothing happens; and what is new is still found by the
 * next poll.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Database } from '../src/base/db.ts';
import { Unavailable } from '../src/base/errors.ts';
import { enqueue, type Handlers } from '../src/base/jobs.ts';
import { startWorkers } from '../src/base/workers.ts';
import { chart, move, post } from '../src/ledger/index.ts';
import { type ChainRail, chainRail } from '../src/rails/chain.ts';
import type { Movement, Rail, RailFact } from '../src/rails/rail.ts';
import { RECONCILE, reconcileHandlers } from '../src/reconcile/index.ts';
import { levelHandlers, SWEEP, setThreshold, sweepHandlers, WATCH } from '../src/treasury/index.ts';
import { bankEnvironment } from './support/bank.environment.ts';
import { type Counted, countedDatabase } from './support/counted.ts';
import { fakeChain, TOKEN } from './support/fakechain.ts';
import { type Fixture, freshFixture } from './support/fixture.ts';
import { openRows, type Rows } from './support/rows.ts';
import { until } from './support/until.ts';

const POLLS = 20;

const opened: Counted[] = [];
after(async () => {
  for (const one of opened) await one.stop();
});

/** A database whose transactions are counted: those in which something was sent. */
function counting({ db, serverUrl }: { db: Database; serverUrl: string }): { db: Database; taken: () => number } {
  const counted = countedDatabase(db, serverUrl);
  opened.push(counted);
  return {
    db: counted.db,
    taken: () => {
      const count = counted.transactions.length;
      counted.again();
      return count;
    },
  };
}

async function times(count: number, work: () => Promise<unknown>): Promise<void> {
  for (let at = 0; at < count; at += 1) await work();
}

describe('while nothing happens', () => {
  let fixture: Fixture;
  let rows: Rows;
  before(async () => {
    fixture = await freshFixture();
    rows = await openRows(fixture.adminUrl);
    await rows.cryptoAsset('usdc.fake', 'fake', TOKEN);
    await rows.cryptoAsset('coin.fake', 'fake', null, 18);
  });
  after(async () => {
    await rows.close();
    await fixture.stop();
  });

  async function followed(db: Database, pace: { idleMs: number }): Promise<{ rail: ChainRail; mine: () => void }> {
    for (const table of ['chain_blocks', 'chains']) await rows.query(`delete from ${table}`);
    const chain = fakeChain({ finality: 12, pace });
    chain.mine();
    const rail = chainRail(chain.adapter, { ...fixture, db, report: async () => {} });
    while ((await rail.observe()).againInMs === 0);
    return { rail, mine: () => void chain.mine() };
  }

  test('only the first page of a chain’s movements looks for the first block of all', async () => {
    for (const table of ['chain_blocks', 'chains']) await rows.query(`delete from ${table}`);
    const counted = countedDatabase(fixture.db, fixture.serverUrl);
    opened.push(counted);
    const chain = fakeChain({ finality: 1, pace: { idleMs: 0 } });
    Object.assign(chain.adapter, { transfersBetween: async () => [], balancesAt: async () => [0n] });
    const rail = chainRail(chain.adapter, { ...fixture, db: counted.db, report: async () => {} });
    for (let block = 0; block < 4; block += 1) chain.mine();
    while ((await rail.observe()).againInMs === 0);
    const first = await rail.movements?.('');
    assert.ok(first !== undefined);
    assert.equal(counted.having(/min\(block\)/).length, 1);
    counted.again();
    // It reads every transfer that was ever ours: with a million orders a second and a half of a processor, each time.
    await rail.movements?.(first.upTo);
    assert.deepEqual([counted.transactions.length > 0, counted.having(/min\(block\)/).length], [true, 0]);
  });

  test('a chain whose head stays costs one query in a while, and a new block is read at once', async () => {
    const { db, taken } = counting(fixture);
    // Every poll looks at our rows.
    const { rail, mine } = await followed(db, { idleMs: 0 });
    await rail.observe();
    taken();
    await times(POLLS, () => rail.observe());
    assert.equal(taken(), POLLS);
    const before = rail.checks();
    mine();
    await rail.observe();
    assert.equal(rail.checks(), before + 1);
    assert.ok(taken() > 1, 'the new block was not read');
  });

  test('a block without news costs four transactions, and one with money or a used nonce is seen', async () => {
    for (const table of ['chain_blocks', 'chains', 'native_balances']) await rows.query(`delete from ${table}`);
    const { db, taken } = counting(fixture);
    const chain = fakeChain({ finality: 2, pace: { idleMs: 3_600_000 } });
    const node = { units: 7n, nonce: 0n };
    Object.assign(chain.adapter, { wallets: { hot: { address: '0xhot' } }, canSend: () => true });
    chain.adapter.nativeBalancesAt = async (_, addresses) => addresses.map(() => node.units);
    chain.adapter.account.nonces = async () => ({ mined: node.nonce, pending: node.nonce });
    chain.adapter.account.sentUnder = async () => undefined;
    await rows.query(`insert into native_balances (rail, address, units, block) values ('fake.chain', '0xhot', 7, 0)`);
    const facts: RailFact[] = [];
    const rail = chainRail(chain.adapter, { ...fixture, db, report: async (_, fact) => void facts.push(fact) });
    const readsBlock = async (): Promise<number> => {
      chain.mine();
      taken();
      await rail.observe();
      return taken();
    };
    chain.mineEmpty(5);
    while ((await rail.observe()).againInMs === 0);
    assert.equal(await readsBlock(), 4);
    node.units = 9n;
    assert.equal(await readsBlock(), 5);
    assert.deepEqual(
      facts.map((fact) => [fact.type, 'units' in fact && fact.units]),
      [['credit_unexpected', 2n]],
    );
    assert.equal(await readsBlock(), 4);
    chain.mineEmpty(40);
    while ((await rail.observe()).againInMs === 0);
    const [{ block } = assert.fail('the balance has a row')] = await rows.query<{ block: string }>(
      'select block from native_balances',
    );
    assert.ok(chain.height() - BigInt(block) < 40n, 'a payer would be searched for too far back');
    node.nonce = 1n;
    assert.ok((await readsBlock()) > 4);
    const found = await rows.query('select from found_movements where nonce = 0');
    assert.equal(found.length, 1, 'the used nonce was not noted');
    for (const table of ['found_movements', 'chain_nonces', 'native_balances'])
      await rows.query(`delete from ${table}`);
  });

  test('a halt by another process is seen although the head stays', async () => {
    const { rail } = await followed(fixture.db, { idleMs: 0 });
    await rail.observe();
    const before = rail.checks();
    await rows.query(`update chains set halted_why = 'another process says so'`);
    await rail.observe();
    assert.equal(rail.checks(), before + 1);
  });

  test('a native balance that could not be read is read again although the head stays', async () => {
    for (const table of ['chain_blocks', 'chains']) await rows.query(`delete from ${table}`);
    const chain = fakeChain({ finality: 12, pace: { idleMs: 3_600_000 } });
    chain.mine();
    Object.assign(chain.adapter, { wallets: { hot: { address: '0xhot' } } });
    let asked = 0;
    chain.adapter.nativeBalancesAt = async (_, addresses) => {
      asked += 1;
      if (asked === 1) throw new Unavailable('fake', 'no answer');
      return addresses.map(() => 0n);
    };
    await rows.query(`insert into native_balances (rail, address, units, block) values ('fake.chain', '0xhot', 0, -1)`);
    const rail = chainRail(chain.adapter, { ...fixture, report: async () => {} });
    await assert.rejects(async () => {
      while ((await rail.observe()).againInMs === 0);
    }, Unavailable);
    await rail.observe();
    assert.equal(asked, 2);
  });

  test('a gas price that stays is stored once in a while, and again when the clock was moved', async () => {
    const { db, taken } = counting(fixture);
    const { rail } = await followed(db, { idleMs: 3_600_000 });
    await rail.refreshGas();
    taken();
    await times(POLLS, () => rail.refreshGas());
    assert.equal(taken(), 0);
    fixture.clock.advance(60_000);
    await rail.refreshGas();
    assert.equal(taken(), 1, 'by its row the price is a minute old now, and quotes refuse it');
  });

  test('sweeping a chain of which nothing was read costs nothing', async () => {
    const { db, taken } = counting(fixture);
    const { rail, mine } = await followed(db, { idleMs: 3_600_000 });
    const sweep = sweepHandlers({ ...fixture, db, chains: new Map([[rail.code, rail]]) })[SWEEP];
    await sweep?.(rail.code);
    taken();
    await times(POLLS, async () => await sweep?.(rail.code));
    assert.equal(taken(), 0);
    mine();
    await rail.observe();
    taken();
    await sweep?.(rail.code);
    assert.equal(taken(), 1, 'the next block did not make it look');
  });

  test('a bank whose statement stays costs a note in a while, and a new line is booked at once', async () => {
    const w = await bankEnvironment();
    try {
      await w.reads();
      const { db, taken } = counting(w);
      const rail = w.railOn(db);
      await rail.observe();
      taken();
      await times(POLLS, () => rail.observe());
      // The time up to which it was read is written every few seconds; the polls above may take some on a busy machine.
      assert.ok(taken() < POLLS / 2, 'most polls asked the database');
      await w.bank.creditAccount({ currency: 'INR', units: 700n, text: 'no reference' });
      await rail.observe();
      assert.equal(w.of('deposit_confirmed').length, 1);
    } finally {
      await w.stop();
    }
  });

  test('wallets in which nothing moves are read from outside once in a while, and again when the books move', async () => {
    const hot = chart.custody('evm.idle', 'hot', 'usdc.fake');
    await fixture.db.asSystem(async (tx) => {
      await setThreshold(tx, { rail: 'evm.idle', wallet: 'hot', asset: 'usdc.fake', lowUnits: 0n, alarmUnits: 0n });
      await post(tx, { id: 'idle:1', kind: 'test', at: new Date(), lines: move(hot, chart.treasury('usdc.fake'), 5n) });
    });
    let asked = 0;
    const rail = {
      code: 'evm.idle',
      balance: async () => {
        asked += 1;
        return 5n;
      },
    } as unknown as Rail;
    const { db, taken } = counting(fixture);
    const watch = levelHandlers({ ...fixture, db, rails: new Map([[rail.code, rail]]) })[WATCH];
    await watch?.(rail.code);
    assert.deepEqual([asked, taken()], [1, 2]);
    await times(POLLS, async () => await watch?.(rail.code));
    assert.deepEqual([asked, taken()], [1, POLLS]);
    await fixture.db.asSystem((tx) =>
      post(tx, { id: 'idle:2', kind: 'test', at: new Date(), lines: move(hot, chart.treasury('usdc.fake'), 1n) }),
    );
    await watch?.(rail.code);
    assert.equal(asked, 2);
  });

  test('two sides that agreed are compared again once in a while, and at once when either moves', async () => {
    const shown: Movement[] = [];
    const rail = {
      code: 'bank.idle',
      kind: 'bank',
      wallets: { deposits: 'main', payouts: 'main' },
      movements: async (after: string) => ({
        movements: shown.slice(Number(after || 0)),
        upTo: String(shown.length),
        at: new Date(),
        more: false,
      }),
      holdings: async () => [],
    } as unknown as Rail;
    const { db, taken } = counting(fixture);
    const reconcile = reconcileHandlers({ ...fixture, db, rails: new Map([[rail.code, rail]]) })[RECONCILE];
    await reconcile?.(rail.code);
    assert.ok(taken() > 1, 'it was not compared');
    await times(POLLS, async () => await reconcile?.(rail.code));
    assert.equal(taken(), POLLS);
    await fixture.db.asSystem((tx) =>
      post(tx, {
        ...{ id: 'idle:3', kind: 'test', at: new Date() },
        lines: move(chart.custody('evm.idle', 'hot', 'usdc.fake'), chart.treasury('usdc.fake'), 1n),
      }),
    );
    await reconcile?.(rail.code);
    assert.ok(taken() > 1, 'a new entry did not make it compare');
    shown.push({ name: 'line:1', wallet: 'main', asset: 'usdc.fake', units: 3n });
    await reconcile?.(rail.code);
    taken();
    await times(2, async () => await reconcile?.(rail.code));
    assert.ok(taken() > 2, 'an item is open, and its rail was not compared again');
  });

  test('an outside that is down after both sides agreed is recorded as not compared', async () => {
    let isDown = false;
    const rail = {
      code: 'bank.down',
      kind: 'bank',
      wallets: { deposits: 'main', payouts: 'main' },
      movements: async () => {
        if (isDown) throw new Unavailable('bank.down', 'no answer');
        return { movements: [], upTo: '0', at: new Date(), more: false };
      },
      holdings: async () => [],
    } as unknown as Rail;
    const reconcile = reconcileHandlers({ ...fixture, rails: new Map([[rail.code, rail]]) })[RECONCILE];
    const why = async () =>
      (
        await rows.query<{ why: string | null }>('select failed_why as why from reconcile_rails where rail = $1', [
          rail.code,
        ])
      )[0]?.why;
    await times(2, async () => await reconcile?.(rail.code));
    assert.equal(await why(), null);
    isDown = true;
    await assert.rejects(async () => await reconcile?.(rail.code), Unavailable);
    assert.match((await why()) ?? '', /no answer/);
  });

  test('a poll that waits in its worker writes its row at the first run and not at the next', async () => {
    const { clock, log } = fixture;
    let runs = 0;
    const handlers: Handlers = {
      look_idle: async () => {
        runs += 1;
        return { againInMs: 1 };
      },
    };
    await fixture.db.asSystem((tx) => enqueue(tx, { kind: 'look_idle', subject: '1', dueAt: clock.now() }));
    const workers = await startWorkers({ db: fixture.db, clock, log, handlers, polls: ['look_idle'] });
    const version = async () => {
      const [row] = await rows.query<{ version: string }>(
        `select xmin::text as version from jobs where kind = 'look_idle'`,
      );
      return row?.version;
    };
    try {
      await until('it runs', () => runs > 0);
      const before = await version();
      await until('it has run often', () => runs > 50);
      assert.equal(await version(), before);
    } finally {
      await workers.stop();
    }
  });
});
