/**
 * The margin of derived targets after a restore: how far beyond the last number of the books money is still found, and how a target
 * at which money was seen moves that.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { markRestored } from '../../src/backup/post-restore.ts';
import { MARGIN } from '../../src/rails/ahead.ts';
import { type ChainRail, chainRail } from '../../src/rails/chain.ts';
import type { RailFact } from '../../src/rails/rail.ts';
import { type FakeChain, fakeChain, TOKEN } from '../support/fakechain.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openRows, type Rows } from '../support/rows.ts';
import { targetOf } from '../support/targets.ts';

/** The last number that these books gave out. */
const LAST = 41n;
const FIRST_LOST = LAST + 1n;
const JUMP = 1_000_000n;

let fixture: Fixture;
let rows: Rows;
let chain: FakeChain;
let rail: ChainRail;
let facts: RailFact[];
let paid = 0;

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  await rows.cryptoAsset('usdc.fake', 'fake', TOKEN);
  await rows.policy('fake', 'usdc.fake', 0n, 2);
});
after(async () => {
  await rows?.close();
  await fixture?.stop();
});
beforeEach(async () => {
  for (const table of ['chain_deposits', 'chain_credits', 'chain_blocks', 'chains', 'deposit_addresses', 'restores'])
    await rows.query(`delete from ${table}`);
  await rows.query(`select setval('deposit_indexes', $1)`, [LAST]);
  chain = fakeChain({ finality: 3, pace: { lowerBranchMs: 0 } });
  facts = [];
  rail = open();
  chain.mine();
  await follow();
});

/** A server that has just been started. */
const open = (): ChainRail =>
  chainRail(chain.adapter, { ...fixture, report: async (_, fact) => void facts.push(fact) });
async function follow(): Promise<void> {
  while ((await rail.observe()).againInMs === 0);
}
/** Money arrives at the targets of these numbers, in one block. @returns the numbers with which it was reported */
async function found(...numbers: bigint[]): Promise<number[]> {
  facts = [];
  chain.mine(
    ...numbers.map((number) => {
      paid += 1;
      return { txHash: `0x${paid}`, to: targetOf(rail, number), units: 5n, position: 0 };
    }),
  );
  await follow();
  return facts.flatMap((fact) => (fact.type === 'deposit_seen' ? [Number(fact.facts?.index)] : []));
}
/** The number that the next order gets. */
const next = async (): Promise<bigint> => {
  const [row] = await rows.query<{ next: string }>(`select nextval('deposit_indexes') as next`);
  return BigInt(row?.next ?? 0);
};

const restores = async (): Promise<void> => {
  await markRestored(fixture.adminUrl, { now: fixture.clock.now() });
  rail = open();
};
const asNumbers = (...numbers: bigint[]): number[] => numbers.map(Number);

test('the margin is the thousand that the operators’ page names', () => {
  assert.equal(MARGIN, 1_000n);
});

describe('after a restore', () => {
  beforeEach(restores);

  test('the 999th number after the last one of the books is found', async () => {
    assert.deepEqual(await found(LAST + 999n), asNumbers(LAST + 999n));
  });

  test('the margin ends a thousand numbers above the first lost one: one past it is not found', async () => {
    assert.deepEqual(await found(FIRST_LOST + MARGIN + 1n), []);
    assert.deepEqual(await found(FIRST_LOST + MARGIN), asNumbers(FIRST_LOST + MARGIN));
  });

  test('money at a number moves the margin to a thousand above that, also for a server started later', async () => {
    const highest = FIRST_LOST + 700n;
    assert.deepEqual(await found(highest), asNumbers(highest));
    assert.deepEqual(await found(highest + MARGIN + 1n), []);
    rail = open();
    assert.deepEqual(await found(highest + MARGIN + 1n), []);
    assert.deepEqual(await found(highest + MARGIN), asNumbers(highest + MARGIN));
    assert.deepEqual(await found(FIRST_LOST), asNumbers(FIRST_LOST), 'a lower number is no longer found');
    assert.deepEqual(await found(highest + 2n * MARGIN), asNumbers(highest + 2n * MARGIN));
  });

  test('money that moves the margin counts for the other money of its block', async () => {
    const [near, far] = [FIRST_LOST + MARGIN, FIRST_LOST + 2n * MARGIN];
    assert.deepEqual((await found(far, near)).sort(), asNumbers(near, far).sort());
  });

  test('new orders get numbers a million above, and none at which money lies', async () => {
    const first = await next();
    assert.equal(first, FIRST_LOST + JUMP + 1n);
    assert.deepEqual(await found(first + MARGIN + 2n), []);
    assert.deepEqual(await found(first + 999n), asNumbers(first + 999n));
    assert.equal(await next(), first + 1_000n, 'an order got a number at which money lies');
    // The lost numbers end below the new ones: the address of a new number does not move their margin.
    rail = open();
    assert.deepEqual(await found(FIRST_LOST + MARGIN + 1n), []);
    assert.deepEqual(await found(FIRST_LOST + MARGIN), asNumbers(FIRST_LOST + MARGIN));
  });

  test('a second restore, of books made since the first, keeps the margin of each', async () => {
    const between = await next();
    await restores();
    assert.equal(await next(), between + JUMP + 2n);
    assert.deepEqual(await found(LAST + 999n), asNumbers(LAST + 999n));
    assert.deepEqual(await found(between + 999n), asNumbers(between + 999n));
  });
});

test('books that nobody marked as restored have the margin, too, and no order gets a number at which money lies', async () => {
  assert.deepEqual(await found(FIRST_LOST + MARGIN + 1n), []);
  assert.deepEqual(await found(LAST + 999n), asNumbers(LAST + 999n));
  assert.equal(await next(), LAST + 1_000n);
});
