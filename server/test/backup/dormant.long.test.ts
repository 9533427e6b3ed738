/** Unclaimed money while its server is restarted at every step: announced once, kept on its own account, and refunded. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { enqueue } from '../../src/base/jobs.ts';
import { balancesOf } from '../../src/ledger/index.ts';
import { setRule } from '../../src/operators/index.ts';
import { DORMANCY } from '../../src/orders/index.ts';
import { type Drills, openDrills } from '../support/drills.ts';

let w: Drills;

before(async () => {
  w = await openDrills();
});
after(async () => await w?.close());

/** A backup is made while no server runs. */
const restarts = () => w.backup();
const looks = () => w.read(async (tx) => enqueue(tx, { kind: DORMANCY, subject: 'all', dueAt: new Date() }));
const caseOf = (kind: string) =>
  w.until(`there is a case ${kind}`, async () => {
    const cases = await w.casesOf(kind);
    return cases.length > 0 && cases;
  });
const apart = async () => (await w.read((tx) => balancesOf(tx, ['dormant']))).filter(({ units }) => units !== 0n);

test('unclaimed money is announced, dormant and refunded, with a restart before each step and reconciled books after it', async () => {
  await w.sendsTokens(w.hot, '21');
  const [credit] = await caseOf('unexpected_credit');
  const deposit = credit?.subject.replace('deposit:', '');
  // This test is about restarts, so one person may set the terms.
  await w.read((tx) => setRule(tx, { action: 'dormancy.set', right: '*', asset: '*', aboveUnits: 0n, people: 1 }));
  await w.operates('/dormancy', { afterDays: 2, noticeDays: 1 });
  await w.read((tx) =>
    tx.run(
      `update deposits set confirmed_at = confirmed_at - interval '5 days', seen_at = seen_at - interval '5 days'`,
    ),
  );
  await looks();
  await caseOf('dormant_soon');
  assert.deepEqual(await apart(), [], 'the money was moved without notice');
  await restarts();
  await looks();
  assert.equal((await caseOf('dormant_soon')).length, 1);
  await w.isClean();

  // A day passes.
  await w.read((tx) => tx.run(`update dormancies set dormant_from = dormant_from - interval '1 day 1 minute'`));
  await looks();
  await caseOf('dormant');
  await restarts();
  await looks();
  assert.deepEqual(
    (await apart()).map(({ code, units }) => [code, units]),
    [['dormant:evm.base:usdc.base', 21_000_000n]],
  );
  const { money, totals } = (await (await w.asks('/dormant')).json()) as {
    money: { depositId: string; days: number; state: string; units: string }[];
    totals: { asset: string; dormantUnits: string; under1yUnits: string }[];
  };
  assert.deepEqual(
    money.map((one) => [one.depositId, one.days, one.state, one.units]),
    [[deposit, 5, 'dormant', '21']],
  );
  assert.deepEqual([totals[0]?.asset, totals[0]?.dormantUnits, totals[0]?.under1yUnits], ['usdc.base', '21', '21']);
  await w.isClean();

  const back = `0x${randomBytes(20).toString('hex')}`;
  await w.twoDo(`/deposits/${deposit}/refund`, { address: back });
  await restarts();
  await w.until('it is refunded', async () => (await w.paidTo(back)).length === 1);
  await w.isFinal();
  await w.until('no case is open', async () => (await w.openCases()).length === 0);
  assert.deepEqual(await apart(), []);
  await w.isClean();
});
