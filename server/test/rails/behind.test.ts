/**
 * After a restore a node that lags reports less than another one reported before. Movements found by the first are not forgotten,
 * and adopted payouts are not sent again.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type ChainRail, chainRail } from '../../src/rails/chain.ts';
import type { RailFact } from '../../src/rails/rail.ts';
import { type FakeChain, fakeChain, TOKEN } from '../support/fakechain.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openRows, type Rows } from '../support/rows.ts';
import { until } from '../support/until.ts';

const RAIL = 'fake.chain';
const FINALITY = 2;

let fixture: Fixture;
let rows: Rows;
let chain: FakeChain;
let rail: ChainRail;
let facts: RailFact[];
let says: { mined: bigint; pending: bigint };
let sent: 'no state' | undefined;
/** The time by which new blocks are ahead of now. */
let aheadMs: number;

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  await rows.cryptoAsset('usdc.fake', 'fake', TOKEN);
  await rows.policy('fake', 'usdc.fake', 0n, 1);
  await rows.query('insert into restores (backup_taken_at, restored_at) values (now(), now())');
});
after(async () => {
  await rows.close();
  await fixture.stop();
});
beforeEach(async () => {
  await rows.query('alter table chain_sends disable trigger delete_unsigned');
  for (const table of ['found_movements', 'released_nonces', 'chain_sends', 'chain_nonces', 'chain_blocks', 'chains'])
    await rows.query(`delete from ${table}`);
  await rows.query('alter table chain_sends enable trigger delete_unsigned');
  chain = fakeChain({ finality: FINALITY });
  says = { mined: 0n, pending: 0n };
  sent = undefined;
  aheadMs = 0;
  const asked = { ...chain.adapter };
  Object.assign(chain.adapter, {
    wallets: { hot: { address: '0xhot' } },
    canSend: () => true,
    account: { nonces: async () => says, sentUnder: async () => sent, sentIn: async () => [] },
    blocks: async (from: bigint, to: bigint) =>
      (await asked.blocks(from, to)).map((block) => ({ ...block, at: new Date(block.at.getTime() + aheadMs) })),
  });
  facts = [];
  rail = chainRail(chain.adapter, { ...fixture, report: async (_, fact) => void facts.push(fact) });
  chain.mineEmpty(FINALITY + 1);
  await look();
});

async function look(): Promise<void> {
  while ((await rail.observe()).againInMs === 0);
}
const unread = async (): Promise<string[]> =>
  (await rows.query(`select nonce::text as nonce from found_movements where state = 'unread' order by nonce`)).map(
    (row) => String(row.nonce),
  );
const free = async (): Promise<string[]> =>
  (await rows.query('select nonce::text as nonce from released_nonces where taken_by is null order by nonce')).map(
    (row) => String(row.nonce),
  );
const next = async (): Promise<string> =>
  String((await rows.query('select next::text as next from chain_nonces'))[0]?.next);

test('nonces that one node reported as used are not forgotten when another one lags', async () => {
  says = { mined: 3n, pending: 3n };
  await look();
  assert.deepEqual([await unread(), await next()], [['0', '1', '2'], '3']);
  says = { mined: 1n, pending: 1n };
  chain.mineEmpty(5);
  await look();
  assert.deepEqual(
    [await unread(), await next()],
    [['0', '1', '2'], '3'],
    'a nonce that the lagging node does not show was forgotten',
  );
  // The same holds where the node cannot report the nonces used at the final block.
  aheadMs = 60_000;
  sent = 'no state';
  chain.mineEmpty(1);
  await look();
  assert.deepEqual([await unread(), await next()], [['0', '1', '2'], '3']);
});

test('used nonces are forgotten once a newer final block shows them as unused, because a reorg removed them', async () => {
  says = { mined: 3n, pending: 3n };
  await look();
  says = { mined: 1n, pending: 1n };
  aheadMs = 60_000;
  chain.mineEmpty(5);
  await look();
  assert.deepEqual([await unread(), await free()], [['0'], ['1', '2']]);
});

describe('nonces that were given up and that a reorg has freed again', () => {
  const PAID = '0xfriend';
  const reserved = async () =>
    (await rows.query('select nonce::text as nonce from chain_sends order by nonce')).map((row) => Number(row.nonce));
  const pays = (key: string) =>
    rail.send({ key, asset: 'usdc.fake', units: 5n, destination: { kind: 'address', address: PAID } });

  beforeEach(async () => {
    Object.assign(chain.adapter, {
      call: () => ({ target: TOKEN, value: 0n, data: Buffer.from([1]) }),
      prepare: async () => ({ fee: { price: '1' }, slots: [], deadline: null, body: null }),
      sign: async (_: string, __: unknown, { nonce }: { nonce: bigint }) => ({
        raw: Buffer.from([1]),
        hash: `0xsigned${nonce}`,
      }),
      broadcast: async () => ({ taken: true }),
      fates: async (sends: readonly unknown[]) => sends.map(() => ({ is: 'open' })),
    });
    says = { mined: 1n, pending: 1n };
    await rows.query(`update chain_nonces set next = 4 where rail = $1`, [RAIL]);
    for (const nonce of [1, 2, 3])
      await rows.query(
        `insert into released_nonces (rail, wallet, nonce, key, why) values ($1, 'hot', $2, 'nobody', 'a test')`,
        [RAIL, nonce],
      );
    await look();
  });

  /** Another program uses the nonces below `mined`, and a reorg removes its transactions. */
  async function usedAndFreed(mined: bigint): Promise<void> {
    says = { mined, pending: mined };
    chain.mine();
    await look();
    assert.equal((await pays('pay_1_1')).outcome, 'unknown');
    says = { mined: 1n, pending: 1n };
    aheadMs = 60_000;
    chain.mineEmpty(5);
    await look();
    assert.deepEqual(await unread(), []);
  }

  for (const [mined, all] of [
    [2n, 'the lowest of three'],
    [3n, 'two of three'],
    [4n, 'all three'],
  ] as const)
    test(`are taken in order, and none twice or never: ${all}`, async () => {
      await usedAndFreed(mined);
      for (const key of ['pay_1_1', 'pay_2_1', 'pay_3_1', 'pay_4_1'])
        assert.equal((await pays(key)).outcome, 'submitted', `${key} was not sent`);
      assert.deepEqual(await reserved(), [1, 2, 3, 4]);
    });

  test('block nothing where a send of ours with a later nonce waits for them', async () => {
    await rows.query(
      `insert into chain_sends (rail, wallet, nonce, key, version, target, data, value, asset, units, fee, hash, raw, state, reserved_at)
       values ($1, 'hot', 4, 'pay_9_1', 1, $2, '\\x01', 0, 'usdc.fake', 5, '{}', '0xlater', '\\x01', 'signed', now())`,
      [RAIL, TOKEN],
    );
    await rows.query('update chain_nonces set next = 5 where rail = $1', [RAIL]);
    await usedAndFreed(2n);
    for (const key of ['pay_1_1', 'pay_2_1', 'pay_3_1', 'pay_4_1'])
      assert.equal((await pays(key)).outcome, 'submitted', `${key} was not sent`);
    assert.deepEqual(await reserved(), [1, 2, 3, 4, 5]);
  });

  test('and that are used again are found although nothing is sent', async () => {
    await usedAndFreed(3n);
    says = { mined: 3n, pending: 3n };
    chain.mine();
    await look();
    assert.deepEqual(await unread(), ['1', '2']);
  });
});

test('the rail may have paid any order until the wallet was read since the restore, without a pending transaction', async () => {
  await rows.query('update chain_nonces set looked_at = null');
  const order = {
    ...{ id: 1n, payoutAsset: 'usdc.fake', payoutUnits: 1n, payoutAddress: '0xann' },
    ...{ createdAt: new Date(0), follows: null },
  };
  const mayHavePaid = () => fixture.db.asSystem(async (tx) => await rail.mayHavePaid?.(tx, order));
  says = { mined: 0n, pending: 1n };
  await look();
  assert.equal(await mayHavePaid(), 'unread', 'a pending transaction was treated as known');
  says = { mined: 1n, pending: 1n };
  await look();
  assert.equal(await mayHavePaid(), 'unread', 'an unread mined transaction was treated as known');
  await rows.query('delete from found_movements');
  assert.equal(await mayHavePaid(), undefined);
});

test('the rail may have returned what an order received by a payment that fits nothing, unless the order is from after the restore', async () => {
  const before = new Date(0);
  const received = { asset: 'usdc.fake', units: 100n, createdAt: before, follows: null };
  const mayHaveReturned = (over: object = {}) =>
    fixture.db.asSystem(async (tx) => await rail.mayHaveReturned?.(tx, { ...received, ...over }));
  const afterwards = new Date(Date.now() + 60_000);
  await rows.query('update chain_nonces set looked_at = null');
  assert.equal(await mayHaveReturned(), 'unread');
  assert.equal(await mayHaveReturned({ createdAt: afterwards }), undefined);
  assert.equal(await mayHaveReturned({ createdAt: afterwards, follows: 1n }), 'unread', 'its deposit may be older');
  await rows.query('update chain_nonces set looked_at = now()');
  assert.equal(await mayHaveReturned(), undefined);
  let nonce = 0;
  const found = (units: bigint, asset: string, state: string) =>
    rows.query(
      `insert into found_movements (rail, wallet, nonce, hash, state, block, block_at, succeeded, cost_units, target, data, value, fee,
         recipient, asset, units, told_at)
       values ($1, 'hot', $2, $3, $4, 1, now(), true, 0, '', '\\x00', 0, '{}', '0xann', $5, $6, now())`,
      [RAIL, ++nonce, `0xfound${nonce}`, state, asset, units],
    );
  await rows.cryptoAsset('other.fake', 'fake', '0x02');
  await found(101n, 'usdc.fake', 'open');
  await found(99n, 'other.fake', 'open');
  assert.equal(await mayHaveReturned(), undefined, 'of another asset, or more than the order received');
  await found(100n, 'usdc.fake', 'open');
  assert.equal(await mayHaveReturned(), 'undecided');
  assert.equal(await mayHaveReturned({ units: 99n }), undefined);
  assert.equal(await mayHaveReturned({ createdAt: afterwards }), undefined);
  await rows.query("update found_movements set state = 'foreign', ended_at = now() where units = 100");
  assert.equal(await mayHaveReturned(), undefined, 'people have decided about it');
});

test('a movement that people decide about while the rail matches it is not also adopted for another payout', async () => {
  const { orderId, partnerId } = await rows.order('usdc.fake', RAIL, 'target-1');
  const key = `pay_${orderId}_1`;
  await rows.query(
    `insert into payouts (id, order_id, partner_id, purpose, attempt, rail, asset, units, address, state, created_at)
     values ($1, $2, $3, 'payout', 1, $4, 'usdc.fake', 5, '0xann', 'created', now() - interval '1 day')`,
    [key, orderId, partnerId, RAIL],
  );
  const [movement] = await rows.query(
    `insert into found_movements (rail, wallet, nonce, hash, state, block, block_at, succeeded, cost_units, target, data, value, fee,
                                  recipient, asset, units)
     values ($1, 'hot', 0, '0xpaid', 'open', 1, now(), true, 1, '0xtoken', '\\x01', 0, '{}', '0xann', 'usdc.fake', 5) returning id`,
    [RAIL],
  );
  says = { mined: 1n, pending: 1n };
  await rows.query(
    `insert into chain_nonces (rail, wallet, next) values ($1, 'hot', 1)
                    on conflict (rail, wallet) do update set next = 1`,
    [RAIL],
  );
  // Two people declare it foreign, and their transaction is not committed when the rail reads it.
  const people = await openRows(fixture.adminUrl);
  await people.query('begin');
  await people.query('select from found_movements where id = $1 for update', [movement?.id]);
  await people.query(`update found_movements set state = 'foreign', ended_at = now() where id = $1`, [movement?.id]);
  let isOver = false;
  const looked = look().finally(() => {
    isOver = true;
  });
  const [own] = await people.query('select pg_backend_pid() as pid');
  await until('the rail waits for them, or has not asked', async () => {
    const [row] = await rows.query(
      'select exists (select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))) as waits',
      [own?.pid],
    );
    return isOver || row?.waits === true;
  });
  await people.query('commit');
  await looked;
  await people.close();
  const sends = await rows.query('select key from chain_sends');
  await rows.query('delete from payouts');
  assert.deepEqual(sends, [], 'a foreign movement was adopted for a payout, which would never be paid');
  assert.deepEqual(
    facts.map(({ type }) => type),
    [],
  );
});

test('an adopted payout is final: it is not sent again because a node does not show its receipt', async () => {
  await rows.query(
    `insert into chain_sends (rail, wallet, nonce, key, version, target, data, value, asset, units, fee, hash, state, block,
                              reserved_at, broadcast_at, found)
     values ($1, 'hot', 0, 'pay_1_1', 1, '0xtoken', '\\x01', 0, 'usdc.fake', 5, '{}', '0xfound', 'mined', 1,
             now() - interval '1 day', now() - interval '1 day', true)`,
    [RAIL],
  );
  says = { mined: 1n, pending: 1n };
  // This chain cannot sign or broadcast, so any attempt fails the test.
  chain.adapter.fates = (async () => [{ is: 'open' }]) as never;
  await look();
  const [row] = await rows.query('select state, block::int as block from chain_sends');
  assert.deepEqual(row, { state: 'mined', block: 1 });
  const receipt = { block: 1n, blockHash: chain.at(1n).hash, cost: 0n, succeeded: true };
  chain.adapter.fates = (async () => [{ is: 'included', hash: '0xfound', ...receipt }]) as never;
  await look();
  assert.deepEqual(
    facts.map(({ type }) => type),
    ['payout_settled'],
  );
});
