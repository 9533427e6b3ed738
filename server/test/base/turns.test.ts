/** Turns: who is next, and that no place is lost however a work ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Unavailable } from '../../src/base/errors.ts';
import { openTurns } from '../../src/base/turns.ts';

const BOUNDS = { name: 'works', mostEach: 2, mostOfPartner: 4, most: 8, waitMs: 60_000 };

test('the next turn goes to the partner whose last one is longest ago, and within it to who came first', async () => {
  const turns = openTurns(BOUNDS);
  const done: string[] = [];
  const asks = (one: string, partner?: string) => turns.run({ one, partner }, async () => void done.push(one));
  await Promise.all([
    asks('a1', 'a'),
    asks('a2', 'a'),
    asks('a3', 'a'),
    asks('b1', 'b'),
    asks('alone'),
    asks('b2', 'b'),
  ]);
  assert.deepEqual(done, ['a1', 'b1', 'alone', 'a2', 'b2', 'a3']);
});

test('no place is lost: by a work that fails, by one that waited too long, by one that found none', async () => {
  const turns = openTurns({ ...BOUNDS, waitMs: 20 });
  const isBusy = (error: unknown) => error instanceof Unavailable;
  for (let round = 0; round < 3; round += 1) {
    const release = Promise.withResolvers<void>();
    const first = turns.run({ one: 'first', partner: 'p' }, () => release.promise);
    const late = ['p', 'p', 'p', 'q', 'q', 'q', 'q'].map((partner, at) =>
      turns.run({ one: `late ${at}`, partner }, () => assert.fail('it had no turn')),
    );
    await assert.rejects(
      turns.run({ one: 'one more', partner: 'r' }, async () => {}),
      isBusy,
    );
    for (const one of late) await assert.rejects(one, isBusy);
    const next = turns.run({ one: 'first', partner: 'p' }, () => Promise.reject(new Error('failed')));
    await assert.rejects(
      turns.run({ one: 'first', partner: 'p' }, async () => {}),
      isBusy,
    );
    release.reject(new Error('failed too'));
    await assert.rejects(first, /failed too/);
    await assert.rejects(next, /failed/);
  }
  let atOnce = 0;
  const all = Array.from({ length: 8 }, (_, at) =>
    turns.run({ one: `${at}`, partner: `${at % 2}` }, async () => {
      atOnce += 1;
      assert.equal(atOnce, 1);
      await sleep(1);
      atOnce -= 1;
    }),
  );
  await Promise.all(all);
});
