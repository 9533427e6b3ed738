/** A check that never fails proves nothing: each check of the simulation gets a violation that it has to find. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshFixture } from '../support/fixture.ts';
import { openPayoutSide } from '../support/payoutside.ts';
import { openRows } from '../support/rows.ts';
import { unproven } from './checks.ts';

test('an attempt after one that has not provably failed is reported, and no other', async (t) => {
  const fixture = await freshFixture();
  const rows = await openRows(fixture.adminUrl);
  t.after(async () => {
    await rows.close();
    await fixture.stop();
  });
  const side = await openPayoutSide(fixture, rows, { rail: 'bank.test', asset: 'inr' });
  const [first, second] = [await side.writes(5n, {}), await side.writes(5n, {})];
  const told = async (last: string, next: string) => {
    const states = { [first]: last, [second]: next };
    for (const [id, state] of Object.entries(states))
      await rows.query('update payouts set state = $2 where id = $1', [id, state]);
    return await fixture.db.asSystem(unproven);
  };
  for (const [last, next] of [
    ['rejected', 'created'],
    ['returned', 'settled'],
    ['settled', 'rejected'],
  ] as const)
    assert.deepEqual(await told(last, next), [], `${last}, then ${next}`);
  for (const [last, next] of [
    ['created', 'created'],
    ['unknown', 'settled'],
    ['submitted', 'rejected'],
    ['settled', 'settled'],
  ] as const)
    assert.deepEqual(await told(last, next), [
      `payout ${first}, attempt 1, is ${last}, and the attempt after it is ${next}`,
    ]);
});
