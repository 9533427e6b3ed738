/**
 * The case of a rail with unknown transactions, which may also have halted by itself: it closes when neither is left, and states
 * the one that is. Kill switches of operators stay on.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listCases, openCase } from '../../src/compliance/index.ts';
import type { Doing } from '../../src/operators/index.ts';
import { movementKnown } from '../../src/orders/index.ts';
import { killSwitches, liftKillSwitch, setKillSwitch } from '../../src/partners/index.ts';
import { KILL_SWITCH_ACTIONS } from '../../src/protocols/operator/actions/kill-switches.ts';
import type { OperatorDeps } from '../../src/protocols/operator/deps.ts';
import { clearHalt, whyOff } from '../../src/rails/chain.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';

const RAIL = 'evm.base';
const UNKNOWN = 'nonce 2 of wallet hot used by transactions that are not in the books';
const OPERATOR = { by: 'operator:1', reason: 'an incident' };
const SERVER = { by: 'the machine', reason: UNKNOWN };

let w: Fixture;

before(async () => {
  w = await freshFixture();
});
after(async () => await w?.stop());

for (const [name, setters, stays] of [
  ['only the server has switched the rail off', [SERVER], false],
  ['an operator switched the rail off before the server', [OPERATOR, SERVER], true],
  ['an operator switched the rail off after the server', [SERVER, OPERATOR], true],
  ['an operator has lifted the kill switch of the server', [], false],
] as const)
  test(`the last unknown transaction is matched and closes the rail's case where ${name}`, async () => {
    const at = new Date('2026-11-02T12:00:00Z');
    await w.db.asSystem(async (tx) => {
      for (const setter of setters) await setKillSwitch(tx, { kind: 'rail', subject: RAIL, ...setter, at });
      await openCase(tx, { kind: 'rail_halted', subject: RAIL, reason: UNKNOWN, facts: {}, now: at });
      const about = { rail: RAIL, movement: 1n, outcome: 'matched with pay_1', now: at };
      const open = () => listCases(tx, { open: true, limit: 10 });
      await movementKnown(tx, { ...about, left: 1n });
      assert.equal((await open()).length, 1, 'the case was closed while a transaction is unknown');
      await movementKnown(tx, { ...about, left: 0n });
      assert.deepEqual([await open(), (await killSwitches(tx)).length], [[], stays ? 1 : 0]);
      await liftKillSwitch(tx, 'rail', RAIL);
    });
  });

const DEEP = 'a reorg deeper than 12 blocks, below block 182';
const clears = KILL_SWITCH_ACTIONS.find(({ name }) => name === 'rail.clear');
const deps = { chainHalts: { codes: [RAIL], why: whyOff, clear: clearHalt } } as unknown as OperatorDeps;

for (const [name, setters, left, stays] of [
  ['the server has switched the rail off', [SERVER], 1, true],
  ['an operator switched the rail off before the server', [OPERATOR, SERVER], 1, true],
  ['an operator switched the rail off after the server', [SERVER, OPERATOR], 1, true],
  ['an operator and the server have, and every transaction is known', [OPERATOR, SERVER], 0, false],
  ['only an operator has', [OPERATOR], 0, false],
] as const)
  for (const first of ['its halt', 'its transactions'])
    test(`a case that opened for ${first} ${stays ? 'stays, for the other reason,' : 'closes'} when the halt is cleared and ${name}`, async () => {
      const at = new Date('2026-11-02T12:00:00Z');
      await w.db.asSystem(async (tx) => {
        await tx.run('delete from found_movements');
        await tx.run(
          `insert into chains (rail, chain, finality, halted_why) values ($1, 'base', 12, $2)
           on conflict (rail) do update set halted_why = excluded.halted_why`,
          [RAIL, DEEP],
        );
        if (left > 0)
          await tx.run(`insert into found_movements (rail, wallet, nonce, told_at) values ($1, 'hot', 2, now())`, [
            RAIL,
          ]);
        for (const setter of setters) await setKillSwitch(tx, { kind: 'rail', subject: RAIL, ...setter, at });
        const reason = first === 'its halt' ? DEEP : UNKNOWN;
        await openCase(tx, { kind: 'rail_halted', subject: RAIL, reason, facts: {}, now: at });
        const input = { rail: RAIL, restart: true };
        const doing = { operator: { name: 'ada' }, people: ['ada'], reason: 'a test', now: at } as unknown as Doing;
        const seen = await clears?.look(deps, tx, input);
        await clears?.perform?.(deps, tx, input, doing, seen);
        const open = async () => (await listCases(tx, { open: true, limit: 10 })).map((one) => one.reason);
        assert.deepEqual(await open(), stays ? [UNKNOWN] : []);
        await movementKnown(tx, { rail: RAIL, movement: 1n, outcome: 'matched with pay_1', now: at, left: 0n });
        assert.deepEqual(await open(), []);
        await liftKillSwitch(tx, 'rail', RAIL);
      });
    });

test('the last unknown transaction of a chain that has also halted leaves its case open for that halt', async () => {
  const at = new Date('2026-11-02T12:00:00Z');
  await w.db.asSystem(async (tx) => {
    await tx.run('update chains set halted_why = $1', [DEEP]);
    await openCase(tx, { kind: 'rail_halted', subject: RAIL, reason: UNKNOWN, facts: {}, now: at });
    await movementKnown(tx, { rail: RAIL, movement: 1n, outcome: 'matched with pay_1', now: at, left: 0n });
    const [left] = await listCases(tx, { open: true, limit: 10 });
    assert.equal(left?.reason, DEEP);
  });
});
