/**
 * What the gate takes money for: whose it is, which deposits it is paid from, how much of it counts, and what people who let it
 * pass were shown. Its answers to each cause are gate.input.test.ts.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import { keepSenderAccount } from '../../src/customers/index.ts';
import type { GateContext } from '../../src/orders/context.ts';
import { lockOrder } from '../../src/orders/index.ts';
import {
  approveRefund,
  approveStanding,
  askBeforeSigning,
  askGate,
  findings,
  keepVerdict,
  seenFindings,
  uncoveredFindings,
} from '../../src/orders/payouts/gate.ts';
import {
  backedBy,
  fundingOf,
  isNewDestination,
  type Leaving,
  leavingOf,
  payoutPlanned,
  refundOf,
  suspenseRefundOf,
  weightOf,
} from '../../src/orders/payouts/leaving.ts';
import type { SeenFinding } from '../../src/orders/payouts/rules.ts';
import { findRefund } from '../../src/orders/refunds/store.ts';
import { liftKillSwitch, setKillSwitch } from '../../src/partners/index.ts';
import { findPayout } from '../../src/rails/payouts.ts';
import type { Rail } from '../../src/rails/rail.ts';
import {
  about,
  account,
  another,
  approves,
  asks,
  BANK,
  CHAIN,
  CUSTOMER,
  clock,
  context,
  ELSEWHERE,
  fixture,
  holds,
  inTx,
  MAGIC,
  type Made,
  made,
  OWN,
  pays,
  rows,
  says,
  screened,
  useGateRows,
} from './gate.rows.ts';

useGateRows();

const asSystem = <T>(work: (tx: Tx) => Promise<T>) => fixture.db.asSystem(work);
const change = (table: 'orders' | 'deposits' | 'payouts' | 'refunds', id: bigint | string, set: string) =>
  rows.query(`update ${table} set ${set} where id = $1`, [id]);

const partnerOfRows = async (): Promise<string> =>
  (await rows.query<{ id: string }>('select partner_id::text as id from customers where id = $1', [CUSTOMER]))[0]?.id ??
  '';

/** Without an order: its refund, deposit and payout belong to nobody. */
async function ofNobody(one: Made): Promise<void> {
  await rows.query('update refunds set order_id = null where deposit_id = $1', [one.depositId]);
  await change('deposits', one.depositId, 'order_id = null');
  await change('payouts', one.payoutId, 'order_id = null');
  await screened(one);
}

describe('what a rail asks before it signs', () => {
  const asked = (key: string, rail = BANK) => asSystem((tx) => askBeforeSigning(context(), tx, { rail, key }));

  test('is the gate’s answer for a payout under way, and no for one that has ended', async () => {
    const one = await made();
    assert.deepEqual(await asked(one.payoutId), { outcome: 'pay' });
    await screened(one, [MAGIC]);
    assert.deepEqual(await asked(one.payoutId), { outcome: 'hold', why: 'held: held_by_magic_value' });
    await change('payouts', one.payoutId, "state = 'rejected', ended_at = now()");
    assert.deepEqual(await asked(one.payoutId), { outcome: 'hold', why: 'its payout is rejected' });
  });

  test('of a transfer between own wallets waits for a kill switch of its rail, and for nothing else', async () => {
    assert.deepEqual(await asked('sweep:1', CHAIN), { outcome: 'pay' });
    const off = { kind: 'rail' as const, subject: CHAIN, by: 'ada', reason: 'looked at', at: clock.now() };
    await asSystem((tx) => setKillSwitch(tx, off));
    assert.deepEqual(await asked('sweep:1', CHAIN), { outcome: 'wait', why: 'a kill switch is on' });
    assert.deepEqual(await asked('sweep:1', BANK), { outcome: 'pay' });
    await asSystem((tx) => liftKillSwitch(tx, 'rail', CHAIN));
    assert.deepEqual(await asked('sweep:1', CHAIN), { outcome: 'pay' });
    assert.deepEqual(await asked('gas:1', CHAIN), { outcome: 'pay' });
  });

  test('of anything else is no, whatever it says it is', async () => {
    const why = 'it is neither a payout nor a transfer between our wallets';
    for (const key of ['transfer:1', 'pay_0_1', 'a sweep:1', ''])
      assert.deepEqual(await asked(key, CHAIN), { outcome: 'hold', why }, key);
  });
});

describe('a destination', () => {
  test('that its customer has not confirmed is checked again in half a minute, or at its due time', async () => {
    const one = await made();
    const until = (ms: number) => new Date(clock.now().getTime() + ms);
    for (const [ms, againInMs] of [
      [10_000, 10_000],
      [90_000, 30_000],
    ] as const) {
      says.unconfirmedUntil = until(ms);
      const answer = await asks(one);
      assert(answer.outcome === 'wait');
      assert.equal(answer.againInMs, againInMs);
      assert.match(answer.why, /has not confirmed/);
    }
    const of = { fiatAccountId: account, address: null, now: clock.now() };
    assert.deepEqual(about.at(-1), { customerId: CUSTOMER, ...of });
    delete says.unconfirmedUntil;
    // Clearing has an end that nobody can bring forward, however far it is.
    await change('deposits', one.depositId, `rail = '${BANK}', clears_at = '${until(90_000).toISOString()}'`);
    const cleared = await asks(one);
    assert.deepEqual(cleared.outcome === 'wait' && cleared.againInMs, 90_000);
  });

  test('of money that has no order waits for no confirmation', async () => {
    const stray = await made(ELSEWHERE);
    await ofNobody(stray);
    says.people = 1;
    says.unconfirmedUntil = new Date(clock.now().getTime() + 10_000);
    await pays(stray);
  });

  test('is looked at for its partner, whether or not it belongs to an order', async () => {
    const one = await made();
    await pays(one);
    const of = { partnerId: BigInt(await partnerOfRows()), fiatAccountId: account, address: null, now: clock.now() };
    assert.ok(about.some((asked) => 'orderId' in asked));
    assert.deepEqual(
      about.find((asked) => 'orderId' in asked),
      { ...of, orderId: one.orderId },
    );
    const stray = await made(ELSEWHERE);
    await rows.query('update refunds set address = null, fiat_account_id = $2 where deposit_id = $1', [
      stray.depositId,
      account,
    ]);
    await change(
      'payouts',
      stray.payoutId,
      `rail = '${BANK}', asset = 'inr', address = null, fiat_account_id = ${account}`,
    );
    await ofNobody(stray);
    about.length = 0;
    await asks(stray);
    assert.deepEqual(about, [{ ...of, orderId: null }]);
  });
});

test('money that an operator holds back is not refunded, and its order is paid; a frozen order’s is not refunded', async () => {
  const [one, refund, frozen] = [await made(), await made(OWN), await made(OWN)];
  for (const { depositId } of [one, refund])
    await rows.query("insert into held_deposits (deposit_id, by, why, at) values ($1, 'ada', 'why', now())", [
      depositId,
    ]);
  await pays(one);
  await holds(refund, 'deposit_held');
  await assert.rejects(approves(refund, ['ada', 'bea', 'cleo']), { code: 'order_over' });
  await pays(frozen);
  await change('orders', frozen.orderId, "state = 'frozen'");
  await holds(frozen, 'order_frozen');
  await assert.rejects(approves(frozen, ['ada', 'bea', 'cleo']), {
    code: 'order_over',
    facts: { state: 'frozen', why: 'order_frozen' },
  });
});

test('what cannot be approved names no entry, and rules that an installation does not have are not asked', async () => {
  const one = await made();
  await change('deposits', one.depositId, "state = 'lost', state_before_loss = 'applied'");
  const found = await inTx(one, (tx, leaving) => findings(context(), tx, leaving, clock.now()));
  assert.deepEqual(found, [{ rule: 'deposit_lost', entry: '', action: null }]);

  const other = await made();
  const { screenOwn, isSwitchedOff, peopleNeeded, screeningMaxAgeMs } = context().gate;
  const bare: GateContext = {
    clock,
    rails: new Map([[BANK, { code: BANK, kind: 'bank' } as unknown as Rail]]),
    gate: { screenOwn, isSwitchedOff, peopleNeeded, screeningMaxAgeMs },
  };
  const answer = await asSystem(async (tx) => {
    const payout = await findPayout(tx, other.payoutId);
    assert(payout);
    return await askGate(bare, tx, payout);
  });
  assert.deepEqual(answer, { outcome: 'pay' });
  const cases = await rows.query("select from cases where kind = 'unexplained_debit' and subject like '%undefined%'");
  assert.equal(cases.length, 0, 'a case about no debit');
});

describe('people who confirmed what they were shown', () => {
  const shown = (of: Made) => inTx(of, (tx, leaving) => seenFindings(context(), tx, leaving, clock.now()));
  const confirm = (of: Made, seen: readonly SeenFinding[]) =>
    inTx(of, (tx, leaving) => {
      const by = { people: ['ada', 'bea'], reason: 'looked at', now: clock.now(), seen };
      return approveStanding(context(), tx, leaving, by);
    });

  test('approve this hit, amount and account, and nothing that differs in one of them', async () => {
    const one = await made();
    await screened(one, [MAGIC]);
    const [seen, ...more] = await shown(one);
    assert(seen);
    assert.deepEqual(more, []);
    const { rule, entry } = MAGIC;
    assert.deepEqual(seen, { rule, entry, asset: 'inr', units: 8_000n, address: null, fiatAccountId: account });
    for (const other of [
      { rule: 'destination_denied' },
      { entry: 'another' },
      { asset: 'usdc.test' },
      { units: 7_999n },
      { address: ELSEWHERE },
      { fiatAccountId: 1n },
    ]) {
      await confirm(one, [{ ...seen, ...other }]);
      await holds(one, 'held_by_magic_value');
    }
    await confirm(one, []);
    await holds(one, 'held_by_magic_value');
    await confirm(one, [{ ...seen, entry: 'another' }, seen]);
    await pays(one);
  });

  test('approve the address that they were shown', async () => {
    const one = await made(ELSEWHERE);
    const [seen] = await shown(one);
    assert(seen);
    assert.deepEqual([seen.rule, seen.address, seen.fiatAccountId], ['destination_new', ELSEWHERE, null]);
    await confirm(one, [{ ...seen, address: OWN }]);
    await holds(one, 'destination_new');
    await confirm(one, [seen]);
    await pays(one);
  });

  test('approve one of two hits if they were shown one', async () => {
    const one = await made();
    const second = { ...MAGIC, entry: 'second' };
    await screened(one, [MAGIC]);
    const seen = await shown(one);
    await screened(one, [MAGIC, second]);
    await confirm(one, seen);
    const left = await inTx(one, (tx, leaving) => uncoveredFindings(context(), tx, leaving, clock.now()));
    assert.deepEqual(
      left.map(({ entry }) => entry),
      ['second'],
    );
  });

  test('record no approval of a finding that cannot be approved, nor of one that has become so', async () => {
    const one = await made();
    await screened(one, [{ ...MAGIC, rule: 'sanctions_undecided' }]);
    const kept = () => rows.query('select from approvals where order_id = $1', [one.orderId]);
    await inTx(one, (tx, leaving) => {
      const by = { people: ['ada', 'bea'], reason: 'looked at', now: clock.now(), pastHits: true };
      return approveRefund(context(), tx, leaving, by);
    });
    assert.equal((await kept()).length, 0);
    await screened(one, [{ ...MAGIC, rule: 'sanctions_hit' }]);
    await another(one, "origin = 'released', taken_units = 1");
    await approves(one, ['ada', 'bea']);
    await pays(one, 'of two deposits the law has released one');
    await rows.query("update deposits set origin = 'rail' where order_id = $1", [one.orderId]);
    await holds(one, 'sanctions_hit');
  });
});

test('one person names a destination where the rules ask for one, and leaves no approval behind', async () => {
  const one = await made(ELSEWHERE);
  await holds(one, 'destination_new');
  says.people = 1;
  await pays(one);
});

describe('a reversed deposit', () => {
  test('of another refund, or of its order, does not hold a refund of money that is here', async () => {
    const one = await made(OWN);
    await another(one, "state = 'lost', state_before_loss = 'applied', taken_units = 1");
    await pays(one);
    await change('deposits', one.depositId, "origin = 'compensation'");
    await holds(one, 'deposit_lost');
  });
});

test('an earlier refund that has settled is no payment of the order', async () => {
  const [one, refund] = [await made(), await made(OWN)];
  const [{ id } = { id: '' }] = await rows.query<{ id: string }>('select id::text from refunds where deposit_id = $1', [
    refund.depositId,
  ]);
  await change(
    'payouts',
    refund.payoutId,
    `order_id = ${one.orderId}, refund_id = ${id}, state = 'settled', ended_at = now()`,
  );
  await pays(one);
});

describe('the account that a deposit came from', () => {
  async function senderOf(depositId: bigint): Promise<bigint> {
    const details = { account: `77${depositId}8899`, name: 'Asha Rao' };
    return await asSystem((tx) =>
      keepSenderAccount(tx, fixture.vault, { depositId, fiat: 'inr', details, now: clock.now() }),
    );
  }
  const goesTo = async (one: Made, to: bigint) => {
    await change('payouts', one.payoutId, `rail = '${BANK}', asset = 'inr', address = null, fiat_account_id = ${to}`);
    await rows.query('update refunds set address = null, fiat_account_id = $2, source = $3 where deposit_id = $1', [
      one.depositId,
      to,
      'order',
    ]);
    await screened(one);
  };

  test('receives that deposit back, and no other refund and no payout', async () => {
    const [refund, other, order] = [await made(OWN), await made(OWN), await made()];
    const sender = await senderOf(refund.depositId);
    await goesTo(refund, sender);
    await pays(refund);
    await goesTo(other, sender);
    await holds(other, 'destination_unfit');
    await change('payouts', order.payoutId, `fiat_account_id = ${await senderOf(order.depositId)}`);
    await screened(order);
    await holds(order, 'destination_unfit');
  });

  test('receives back a deposit in suspense, which is another person’s if it has no order', async () => {
    const stray = await made(OWN);
    const sender = await senderOf(stray.depositId);
    await goesTo(stray, sender);
    await rows.query("update refunds set source = 'suspense' where deposit_id = $1", [stray.depositId]);
    await pays(stray);
    says.people = 1;
    await ofNobody(stray);
    await pays(stray);
    await inTx(stray, async (_, { customerId, suspenseId, order }) =>
      assert.deepEqual([customerId, suspenseId, order], [null, stray.depositId, undefined]),
    );
  });
});

describe('the deposits behind an order', () => {
  test('are those that it took, and those that are being refunded, without what was lost after that', async () => {
    const one = await made();
    const refunded = await another(one, 'refund_units = 1');
    await another(one, 'taken_units = 0');
    await another(one, "refund_units = 1, state = 'lost', state_before_loss = 'applied'");
    const lost = await another(one, "taken_units = 1, state = 'lost', state_before_loss = 'applied'");
    const funding = await asSystem((tx) => fundingOf(tx, { id: one.orderId }));
    assert.deepEqual(
      funding.toSorted((a, b) => Number(a - b)),
      [one.depositId, refunded, lost],
    );
    const whole = await asSystem(async (tx) => await refundOf(tx, await lockOrder(tx, one.orderId), { address: OWN }));
    assert.deepEqual(
      whole.deposits.map(({ id }) => id),
      [one.depositId, refunded],
      'what is lost is given up, and not refunded',
    );
  });

  test('count for what is its own money, and not for a refund of one deposit', async () => {
    const one = await made(OWN);
    const taken = await another(one, 'taken_units = 1');
    const backing = () =>
      inTx(one, async (tx, leaving) => {
        const ids = new Set((await backedBy(tx, leaving)).map(({ id }) => id));
        return [...ids].toSorted((a, b) => Number(a - b));
      });
    assert.deepEqual(await backing(), [one.depositId]);
    for (const origin of ['returned', 'released', 'compensation']) {
      await change('deposits', one.depositId, `origin = '${origin}'`);
      assert.deepEqual(await backing(), [one.depositId, taken], origin);
    }
    await inTx(one, async (tx, leaving) =>
      assert.deepEqual(await backedBy(tx, { ...leaving, order: undefined }), leaving.deposits),
    );
  });

  test('leave it as its payout or as a refund, from the order or from suspense', async () => {
    const [one, refund] = [await made(), await made(OWN)];
    await inTx(one, async (_, { purpose, refundId, suspenseId }) =>
      assert.deepEqual([purpose, refundId, suspenseId], ['payout', null, null]),
    );
    await inTx(refund, async (_, { purpose, suspenseId }) =>
      assert.deepEqual([purpose, suspenseId], ['refund', refund.depositId]),
    );
    await rows.query("update refunds set source = 'order' where deposit_id = $1", [refund.depositId]);
    await inTx(refund, async (_, { suspenseId, deposits }) => {
      assert.equal(suspenseId, null);
      assert.deepEqual(
        deposits.map(({ id }) => id),
        [refund.depositId],
      );
    });
    await asSystem(async (tx) => {
      const payout = await findPayout(tx, one.payoutId);
      assert(payout);
      const alone = { ...payout, orderId: null, refundId: null };
      const [row] = await tx.rows<{ refundId: bigint }>('select id as refund_id from refunds where deposit_id = $1', [
        refund.depositId,
      ]);
      const kept = row && (await findRefund(tx, row.refundId));
      assert(kept);
      const asked = await suspenseRefundOf(tx, kept, await lockOrder(tx, refund.orderId));
      const { suspenseId, refundId, ...rest } = asked;
      assert.deepEqual([suspenseId, refundId], [refund.depositId, kept.id]);
      const sent = await leavingOf(tx, (await findPayout(tx, refund.payoutId)) as typeof payout);
      assert.deepEqual({ ...sent, suspenseId, refundId }, { ...rest, suspenseId, refundId });
      await assert.rejects(leavingOf(tx, alone), /has no order and is no refund/);
      const of = { rail: BANK, state: 'paying_out', customerId: CUSTOMER };
      assert.deepEqual(await payoutPlanned(tx, one.orderId), { payoutAddress: null, ...of });
      assert.equal(await payoutPlanned(tx, 1n), undefined);
    });
  });
});

test('a screening is kept for the partner of the money, and for none if nobody knows it', async () => {
  for (const [isKnown, partner] of [
    [false, null],
    [true, await partnerOfRows()],
  ] as const) {
    const stray = await made(ELSEWHERE);
    await inTx(stray, async (tx, leaving) => {
      const verdict = { outcome: 'cleared', hits: [], rules: 'a provider', inputs: {} } as const;
      const deposits = isKnown ? leaving.deposits : [];
      keepVerdict(tx, { ...leaving, order: undefined, deposits }, verdict, clock.now());
    });
    const kept = await rows.query('select partner_id::text as partner from screenings where subject = $1', [
      `refund:refund:${stray.orderId}:address:${ELSEWHERE}`,
    ]);
    assert.deepEqual(kept, [{ partner }]);
  }
});

test('rules weigh an order’s payout by what it received, and a refund by what leaves', async () => {
  const [one, refund] = [await made(), await made(OWN)];
  await change('orders', one.orderId, 'received_units = 900000');
  await inTx(one, async (_, leaving) => {
    assert.deepEqual(weightOf(leaving), { asset: 'usdc.test', units: 900_000n });
    const order = leaving.order && { ...leaving.order, receivedUnits: null };
    assert.deepEqual(weightOf({ ...leaving, order }), { asset: 'usdc.test', units: 1_000_000n });
    assert.deepEqual(weightOf({ ...leaving, order: undefined }), { asset: 'inr', units: 8_000n });
  });
  await change('payouts', refund.payoutId, 'units = 7');
  await inTx(refund, async (_, leaving) => assert.deepEqual(weightOf(leaving), { asset: 'usdc.test', units: 7n }));
});

test('a destination is new unless it is the order’s own, or its customer or partner named it', async () => {
  const one = await made();
  await inTx(one, async (_, leaving) => {
    assert(leaving.order);
    const { order } = leaving;
    const is = (to: Partial<Leaving>): boolean => isNewDestination({ ...leaving, ...to });
    assert.equal(is({}), false);
    assert.equal(is({ fiatAccountId: 1n }), true);
    assert.equal(is({ order: undefined }), true);
    const back = { purpose: 'refund', fiatAccountId: null } as const;
    assert.equal(is({ purpose: 'refund' }), false, 'an account belongs to a customer');
    assert.equal(is({ purpose: 'refund', order: { ...order, payoutAddress: ELSEWHERE } }), false);
    assert.equal(is({ ...back, address: OWN }), false);
    assert.equal(is({ ...back, address: OWN, order: { ...order, refundToBy: 'operator' } }), true);
    assert.equal(is({ ...back, address: ELSEWHERE }), true);
    assert.equal(is({ ...back, address: ELSEWHERE, order: { ...order, payoutAddress: ELSEWHERE } }), false);
  });
});
