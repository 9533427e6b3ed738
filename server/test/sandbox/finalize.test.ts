/** Making a chain final while its follower is slow. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksToFinalize } from '../../src/sandbox/environment.ts';

test('a chain is not extended while its follower is behind, however often the call repeats', () => {
  const finality = 16;
  let [head, followed] = [100n, 100n];
  for (let asked = 0; asked < 300; asked += 1) {
    head += BigInt(blocksToFinalize({ finality, head, followed }));
    // It reads one block for every five calls.
    if (asked % 5 === 0 && followed < head) followed += 1n;
    assert.ok(
      head - followed <= 2n * BigInt(finality) + 1n,
      `${head - followed} blocks are not read after ${asked} times`,
    );
  }
  assert.ok(followed > 150n, 'the follower got no block to read');
});

test('a chain that was never followed is made final', () => {
  assert.equal(blocksToFinalize({ finality: 16, head: 0n, followed: undefined }), 17);
});
