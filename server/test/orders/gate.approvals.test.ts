/**
 * The gate on real rows: how many people an approval needs, given who they are; a payout that is only planned; and which deposits and
 * earlier refunds count against the money that would leave.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import { TOO_LATE } from '../../src/compliance/index.ts';
import type { GateContext } from '../../src/orders/context.ts';
import { approveStanding, askGate, findings, uncoveredFindings } from '../../src/orders/payouts/gate.ts';
import { fundingOf } from '../../src/orders/payouts/leaving.ts';
import { findPayout, type GateAnswer, write } from '../../src/rails/payouts.ts';
import {
  another,
  approves,
  CHAIN,
  clock,
  context,
  fixture,
  holds,
  inTx,
  MAGIC,
  type Made,
  made,
  OWN,
  pays,
  returns,
  rows,
  screened,
  useGateRows,
} from './gate.rows.ts';

useGateRows();

/** As a payout that its order is about to get, before its row is written. */
const asksPlanned = (of: Made): Promise<GateAnswer> =>
  fixture.db.asSystem(async (tx) => {
    const payout = await findPayout(tx, of.payoutId);
    assert(payout);
    return await askGate(context(), tx, { ...payout, isPlanned: true });
  });

let earlier = 2_000_000_000n;
/** A refund of its deposit that its rail has paid, though it was cancelled. */
const paidAfterCancelled = (one: Made, units: bigint) => refunded(one, units, 'cancelled');

/** @returns the id of its payout */
async function refunded(one: Made, units: bigint, state: 'settled' | 'cancelled'): Promise<string> {
  earlier += 1n;
  const id = one.orderId + earlier;
  const key = `ref_${id}_1`;
  // While it was open, the deposit had to be large enough for it as well.
  const [{ whole } = { whole: '0' }] = await rows.query<{ whole: string }>(
    'select units::text as whole from deposits where id = $1',
    [one.depositId],
  );
  await rows.query('update deposits set units = units + $2::numeric where id = $1', [one.depositId, String(units)]);
  await rows.query(
    `insert into refunds (id, deposit_id, order_id, partner_id, purpose, rail, asset, gross_units, net_units, source, why,
       requested_by, state, address, key, attempt, created_at, updated_at)
     select $1, d.id, d.order_id, d.partner_id, 'refund', d.rail, d.asset, $4::numeric, $4::numeric, 'suspense', '', '', 'created',
       $5, $2, 1, now(), now() from deposits d where d.id = $3`,
    [id, key, one.depositId, String(units), OWN],
  );
  await rows.query('update refunds set state = $2 where id = $1', [id, state]);
  await rows.query('update deposits set units = $2::numeric where id = $1', [one.depositId, whole]);
  const of = { id: key, orderId: one.orderId, depositId: one.depositId, refundId: id, attempt: 1 };
  const money = { rail: CHAIN, asset: 'usdc.test', units, address: OWN };
  await fixture.db.asSystem((tx) => write(tx, { ...of, ...money, purpose: 'refund', now: clock.now() }));
  await rows.query("update payouts set state = 'settled' where id = $1", [key]);
  return key;
}

describe('an approval', () => {
  /** Two people, three where Nora is among them; Cara needs nobody else. */
  const byRole = (): GateContext => {
    const { gate, ...others } = context();
    const peopleNeeded: GateContext['gate']['peopleNeeded'] = async (_, { by }) =>
      by?.includes('nora') ? 3 : by?.includes('cara') ? 1 : 2;
    return { ...others, gate: { ...gate, peopleNeeded } };
  };
  const left = (one: Made) =>
    inTx(one, async (tx, leaving) =>
      (await uncoveredFindings(byRole(), tx, leaving, clock.now())).map(({ rule }) => rule),
    );
  const given = (one: Made, people: string[]) =>
    inTx(one, (tx, leaving) =>
      approveStanding(byRole(), tx, leaving, { people, reason: 'looked at', now: clock.now() }),
    );

  test('takes as many people as the rule asks of those who gave it', async () => {
    const one = await made();
    await screened(one, [MAGIC]);
    assert.deepEqual(await left(one), [MAGIC.rule]);
    await given(one, ['ada', 'nora']);
    assert.deepEqual(await left(one), [MAGIC.rule], 'two were enough where three are asked');
    await given(one, ['ada']);
    assert.deepEqual(await left(one), [MAGIC.rule]);
    await given(one, ['cara']);
    assert.deepEqual(await left(one), []);
  });

  test('is not used by a payout that is only planned: its job asks again once its row exists', async () => {
    const one = await made();
    assert.deepEqual(await asksPlanned(one), { outcome: 'pay' }, 'nothing of an approval was needed');
    await screened(one, [MAGIC]);
    await approves(one, ['ada', 'bea']);
    assert.deepEqual(await asksPlanned(one), { outcome: 'wait', why: 'it uses an approval', againInMs: 0 });
    const uses = await rows.query('select 1 from approval_uses where payout_id = $1', [one.payoutId]);
    assert.equal(uses.length, 0);
    await pays(one);
  });

  test('does not pass an order that the travel rule refused, unless the law has released its money', async () => {
    const one = await made();
    await screened(one, [{ rule: TOO_LATE, entry: 'e', own: false }]);
    const action = async () =>
      (await inTx(one, (tx: Tx, leaving) => findings(context(), tx, leaving, clock.now())))[0]?.action;
    assert.equal(await action(), null);
    await assert.rejects(approves(one, ['ada', 'bea', 'cleo']), { code: 'order_over' });
    await holds(one, TOO_LATE);
    await rows.query("update deposits set origin = 'released' where id = $1", [one.depositId]);
    assert.equal(await action(), 'release.screening_hit');
  });
});

describe('after a restore', () => {
  test('money that became the order’s own again is no deposit that operators gave it: its refund cannot be older than the order', async () => {
    const one = await made();
    const [order] = await rows.query<{ at: Date; target: string }>(
      'select created_at as at, deposit_target as target from orders where id = $1',
      [one.orderId],
    );
    await rows.query('update deposits set target = $2 where id = $1', [one.depositId, order?.target]);
    await another(one, "origin = 'returned', target = '', taken_units = 1");
    await pays(one);
    assert.deepEqual(
      returns.map(({ order: asked }) => (asked as { createdAt: Date }).createdAt),
      [order?.at],
    );
  });
});

describe('a refund that was cancelled and paid', () => {
  test('counts against another refund of its deposit, in the units of that deposit, and not against the payout', async () => {
    const one = await made();
    await paidAfterCancelled(one, 995_000n);
    // Together with the 8,000 units of the payout, which are of another asset, these would be more than the deposit.
    await pays(one);
  });

  test('is the only one that counts: of one that settled, a difference to what was sent is booked by itself', async () => {
    const one = await made(OWN);
    await rows.query('update deposits set units = 1400000 where id = $1', [one.depositId]);
    const other = await refunded(one, 400_000n, 'settled');
    await rows.query('update payouts set paid_units = 400001 where id = $1', [other]);
    await pays(one);
  });

  test('may be refunded from the order’s account, too, up to the whole deposit', async () => {
    const one = await made(OWN);
    await rows.query('update deposits set units = 1400000, taken_units = 400000 where id = $1', [one.depositId]);
    await paidAfterCancelled(one, 400_000n);
    const leaves = (units: number) =>
      rows.query('update payouts set units = $2::numeric where id = $1', [one.payoutId, units]);
    await leaves(600_000);
    await pays(one);
    await leaves(600_001);
    await holds(one, 'paid_before');
    await rows.query("update refunds set source = 'order' where key = $1", [one.payoutId]);
    await screened(one);
    await pays(one, 'what the order took of the deposit is what its account refunds');
    await leaves(1_000_000);
    await pays(one);
    await leaves(1_000_001);
    await holds(one, 'paid_before');
  });
});

test('returned money that has no order is not held for a reversed deposit', async () => {
  const one = await made(OWN);
  await rows.query('update refunds set order_id = null where deposit_id = $1', [one.depositId]);
  await rows.query("update deposits set order_id = null, origin = 'returned' where id = $1", [one.depositId]);
  await rows.query('update payouts set order_id = null where id = $1', [one.payoutId]);
  await screened(one);
  const found = await inTx(one, (tx, leaving) => findings(context(), tx, leaving, clock.now()));
  assert.deepEqual(
    found.filter(({ rule }) => rule === 'deposit_lost'),
    [],
  );
});

test('what a bank returned beyond what was sent backs no order, even while it is being refunded', async () => {
  const one = await made();
  const backs = async () => {
    const funding = await fixture.db.asSystem((tx) => fundingOf(tx, { id: one.orderId }));
    return funding.toSorted((a, b) => Number(a - b));
  };
  const ordinary = await another(one, "refund_units = 1, origin = 'rail'");
  await another(one, "refund_units = 1, origin = 'credit'");
  assert.deepEqual(await backs(), [one.depositId, ordinary]);
  const accepted = await another(one, "taken_units = 1, origin = 'credit'");
  assert.deepEqual(await backs(), [one.depositId, ordinary, accepted]);
});
