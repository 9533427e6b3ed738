/** A story's chains are hurried only so far that the story sees each state between two blocks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import { openHurry } from './hurry.ts';
import { waiting } from './until.ts';

test('a block is mined when the server had read the last one before the story looked', async (t) => {
  const chain = { newest: 5, head: 4n };
  const tx = {
    rows: async () => [{ rail: 'evm.one', head: chain.head, isSent: false }],
    row: async () => undefined,
    run: async () => 0,
    defer: () => {},
  } as unknown as Tx;
  const answers = new Map<string, () => unknown>([
    ['txpool_status', () => ({ pending: '0x0' })],
    ['eth_blockNumber', () => `0x${chain.newest}`],
    ['evm_mine', () => (chain.newest += 1)],
  ]);
  const hurry = openHurry({
    ...{ chains: ['one'], bank: 'bank', clock: { now: () => new Date() }, read: async (body) => await body(tx) },
    rpc: async (_chain, method) => answers.get(method)?.() as never,
  });
  t.after(() => hurry.stop());
  let at = 0;
  t.mock.method(performance, 'now', () => at);
  const looks = async () => {
    at += 1_000;
    waiting();
    await hurry.still('another', async () => {});
    return chain.newest;
  };
  hurry.sent('one');
  assert.equal(await looks(), 5, 'the server has not read the last block');
  chain.head = 5n;
  assert.equal(await looks(), 5, 'the story has not looked since the server read the block');
  assert.equal(await looks(), 6);
  chain.head = 6n;
  await looks();
  assert.equal(await looks(), 7, 'a small amount needs two confirmations');
  chain.head = 7n;
  await looks();
  assert.equal(await looks(), 7, 'nothing waits for a block');
});
