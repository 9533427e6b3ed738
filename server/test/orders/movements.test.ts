/** What is known about the last unknown transaction of a rail: its cases close, and kill switches of operators stay on. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listCases, openCase } from '../../src/compliance/index.ts';
import { movementKnown } from '../../src/orders/index.ts';
import { killSwitches, liftKillSwitch, setKillSwitch } from '../../src/partners/index.ts';
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
