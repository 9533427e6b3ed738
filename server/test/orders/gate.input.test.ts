/**
 * The gate on real rows: each cause alone, which of it a person's approval lets pass, and which it does not. The decision as a
 * table is gate.test.ts; stories test the effects of an answer (stories/gate.test.ts).
 *
 * Long because each input of the gate is one row of its table.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import { approve, decideAddressHit, listAddressHits, openAddressRisk } from '../../src/compliance/index.ts';
import { lockOrder } from '../../src/orders/index.ts';
import { approveRefund, findings, uncoveredFindings } from '../../src/orders/payouts/gate.ts';
import { payoutOf, refundOf, screeningOf, screeningSubject } from '../../src/orders/payouts/leaving.ts';
import { fitsRefund, requireFits } from '../../src/orders/refunds/destinations.ts';
import { setCustomerLimit, setLimit } from '../../src/partners/index.ts';
import { type GateAnswer, write } from '../../src/rails/payouts.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { until } from '../support/until.ts';
import {
  account,
  approves,
  asked,
  asks,
  BANK,
  CHAIN,
  CUSTOMER,
  clock,
  context,
  depths,
  doubted,
  ELSEWHERE,
  fixture,
  holds,
  inTx,
  MAX_AGE_MS,
  type Made,
  made,
  marketId,
  OWN,
  passes,
  pays,
  returns,
  rows,
  says,
  screened,
  useGateRows,
} from './gate.rows.ts';

useGateRows();

test('a payout without findings is paid, and its order is locked until the answer is used', async () => {
  const one = await made();
  await pays(one);
  const other = await made();
  await inTx(other, async () => {
    const found = await rows.query('select from orders where id = $1 for update skip locked', [other.orderId]);
    assert.equal(found.length, 0, 'another may change the order while the gate is asked');
  });
});

test('a blocked customer is held, until as many people as are asked let just this block pass', async () => {
  const one = await made();
  const [{ at } = { at: undefined }] = await rows.query<{ at: Date }>(
    `update customers set blocked_at = now() where id = '${CUSTOMER}' returning blocked_at as at`,
  );
  try {
    await holds(one, 'customer_blocked');
    const found = await inTx(one, (tx, leaving) => uncoveredFindings(context(), tx, leaving, clock.now()));
    assert.deepEqual(found, [
      { rule: 'customer_blocked', entry: at?.toISOString(), action: 'release.customer_blocked' },
    ]);
    await approves(one, ['ada']);
    await holds(one, 'customer_blocked');
    await approves(one, ['ada', 'bea']);
    await pays(one);
    assert.ok(asked.length > 0 && asked.every((action) => action === 'release.customer_blocked'));
    says.people = 3;
    await holds(one, 'customer_blocked');
    says.people = 2;
    // An approval for one order applies to no other order, no larger amount and no other destination.
    await holds(await made(), 'customer_blocked');
    await rows.query('update payouts set units = units + 1 where id = $1', [one.payoutId]);
    await holds(one, 'customer_blocked');
    await rows.query('update payouts set units = units - 1 where id = $1', [one.payoutId]);
    await pays(one);
    await rows.query(`update customers set blocked_at = blocked_at + interval '1 second' where id = '${CUSTOMER}'`);
    await holds(one, 'customer_blocked');
  } finally {
    await rows.query(`update customers set blocked_at = null where id = '${CUSTOMER}'`);
  }
});

test('money to an address is held while another customer of the partner who was paid there is blocked', async () => {
  await rows.query(`insert into customers (id, partner_id, kind, created_at, updated_at)
    select 'gatetwin_1', partner_id, 'INDIVIDUAL', now(), now() from customers where id = '${CUSTOMER}'`);
  const before = await made(OWN);
  await rows.query(`update orders set customer_id = 'gatetwin_1' where id = $1`, [before.orderId]);
  const one = await made(OWN);
  await pays(one, 'the other customer is not blocked');
  const blocks = (at: string) => rows.query(`update customers set blocked_at = ${at} where id = 'gatetwin_1'`);
  await blocks('now()');
  await holds(one, 'address_of_blocked');
  await pays(await made(), 'it goes to an account');
  await approves(one, ['ada']);
  await holds(one, 'address_of_blocked');
  await approves(one, ['ada', 'bea']);
  await pays(one);
  assert.ok(asked.length > 0 && asked.every((action) => action === 'release.customer_blocked'));
  await blocks("now() + interval '1 second'");
  await holds(one, 'address_of_blocked');
  // Two partners must not learn of each other's customers.
  await rows.query(`insert into partners (name, created_at) values ('another of the gate', now())`);
  for (const [table, column] of [
    ['customers', 'id'],
    ['orders', 'customer_id'],
  ])
    await rows.query(`update ${table} set partner_id = (select max(id) from partners) where ${column} = 'gatetwin_1'`);
  await pays(one, 'it is a customer of another partner');
});

test("an approval for one destination does not cover another account of the customer's", async () => {
  const one = await made();
  await screened(one, [{ rule: 'held_by_magic_value', entry: 'e', own: false }]);
  const bound = await inTx(one, async (tx, { order, asset, units }) => {
    const of = { partnerId: order?.partnerId ?? null, orderId: one.orderId, depositId: null, asset, units };
    const by = { people: ['ada', 'bea'], reason: '', now: clock.now() };
    await approve(tx, { ...of, ...by, destination: 'account:1', rule: 'held_by_magic_value', entry: 'e' });
    return { ...of, ...by };
  });
  await holds(one, 'held_by_magic_value');
  const right = { ...bound, destination: `account:${account}`, rule: 'held_by_magic_value' };
  await fixture.db.asSystem((tx) => approve(tx, { ...right, asset: 'usdc.test', entry: 'e' }));
  await holds(one, 'held_by_magic_value');
  await fixture.db.asSystem((tx) => approve(tx, { ...right, entry: 'another' }));
  await holds(one, 'held_by_magic_value');
  await fixture.db.asSystem((tx) => approve(tx, { ...right, entry: 'e' }));
  await pays(one);
});

test("a provider's stored hit holds; a stored hit of our own lists is checked again", async () => {
  const one = await made();
  await screened(one, [{ rule: 'destination_denied', entry: 'list 1', own: false }]);
  await holds(one, 'destination_denied');
  await approves(one, ['ada', 'bea']);
  assert.ok(asked.every((action) => action === 'release.screening_hit'));
  await pays(one);
  await screened(one, [{ rule: 'destination_denied', entry: 'list 2', own: true }]);
  await pays(one);
});

test('each hit is let pass by its own action, and one that is undecided or confirmed by none', async () => {
  const person = 'release.screening_hit';
  for (const [rule, action] of [
    ['destination_denied', person],
    ['held_by_magic_value', person],
    ['sanctions_nameless', person],
    ['sender_unknown', person],
    ['account_name_differs', person],
    ['customer_blocked', 'release.customer_blocked'],
    ['sender_blocked', 'release.customer_blocked'],
    ['account_of_blocked', 'release.customer_blocked'],
    ['document_of_blocked', 'release.customer_blocked'],
    ['sanctions_undecided', null],
    ['sanctions_hit', null],
    ['address_risk_undecided', null],
    ['address_risk_hit', null],
  ] as const) {
    const one = await made();
    await screened(one, [{ rule, entry: 'e', own: false }]);
    const found = await inTx(one, (tx, leaving) => uncoveredFindings(context(), tx, leaving, clock.now()));
    assert.deepEqual(found, [{ rule, entry: 'e', action }]);
    if (action === null) await assert.rejects(approves(one, ['ada', 'bea', 'cleo']), { code: 'order_over' }, rule);
    else await approves(one, ['ada', 'bea']);
    if (action === null) await holds(one, rule);
    else await pays(one, rule);
    // Money that the law has released may pass a confirmed hit, never one that nobody has decided about.
    await rows.query("update deposits set origin = 'released' where id = $1", [one.depositId]);
    const [released] = await inTx(one, (tx, leaving) => findings(context(), tx, leaving, clock.now()));
    const isConfirmed = rule === 'sanctions_hit' || rule === 'address_risk_hit';
    assert.equal(released?.action, isConfirmed ? person : action, rule);
  }
});

test('after a restore a payout waits for a debit that may have paid it, with one case, and is asked about as it is', async () => {
  const one = await made();
  says.debit = `line ${one.orderId}`;
  const answer = await asks(one);
  assert(answer.outcome === 'wait');
  assert.match(answer.why, new RegExp(`debit ${says.debit} may have paid it`));
  assert.equal(answer.againInMs, 5_000);
  await asks(one);
  const found = await rows.query<{ facts: { payout: string; units: string; asset: string }; hasReason: boolean }>(
    `select facts, reason <> '' as "hasReason" from cases where kind = 'unexplained_debit' and subject = $1`,
    [`${BANK}:${says.debit}`],
  );
  assert.deepEqual(found, [{ facts: { payout: one.payoutId, units: '8000', asset: 'inr' }, hasReason: true }]);
  assert.deepEqual(doubted[0], { key: one.payoutId, asset: 'inr', units: 8_000n, followOn: undefined });
  delete says.debit;
  await pays(one);
});

test('after a restore what an order was made of again waits until its rail is read; a refund, or another order, does not', async () => {
  const [first, follows, refund] = [await made(), await made(), await made(OWN)];
  for (const { orderId } of [follows, refund])
    await rows.query('update orders set follows = $2 where id = $1', [orderId, first.orderId]);
  says.lostTime = 'unread';
  const answer = await asks(follows);
  assert(answer.outcome === 'wait');
  assert.match(answer.why, /its rail must first be read up to the restore/);
  const [{ at } = { at: undefined }] = await rows.query<{ at: Date }>(
    'select created_at as at from orders where id = $1',
    [follows.orderId],
  );
  assert.deepEqual(doubted.at(-1)?.followOn, { madeAt: at });
  await pays(first);
  await pays(refund);
  assert.equal(doubted.at(-1)?.followOn, undefined, 'a refund is the same money, whatever order was made of it');
  says.lostTime = 'undecided';
  await pays(follows);
});

test('after a restore an order’s payout waits while its deposit may have been refunded; a refund, and what is decided, does not', async () => {
  const [one, refund] = [await made(), await made(OWN)];
  for (const [returned, why] of [
    ['unread', /rail of its deposit must first be read/],
    ['undecided', /may be the refund of its deposit: people must decide/],
  ] as const) {
    says.returned = returned;
    const answer = await asks(one);
    assert(answer.outcome === 'wait');
    assert.match(answer.why, why);
    assert.equal(answer.againInMs, 5_000);
  }
  const [{ at } = { at: undefined }] = await rows.query<{ at: Date }>(
    'select created_at as at from orders where id = $1',
    [one.orderId],
  );
  const order = { asset: 'usdc.test', units: 1_000_000n, createdAt: new Date(0), follows: null };
  assert.deepEqual(
    returns[0],
    { rail: CHAIN, order },
    'a deposit that operators gave to the order may be older than it',
  );
  await rows.query(
    'update deposits set target = (select deposit_target from orders where id = $1) where order_id = $1',
    [one.orderId],
  );
  await asks(one);
  assert.deepEqual(returns.at(-1), { rail: CHAIN, order: { ...order, createdAt: at } });
  await pays(refund);
  delete says.returned;
  await pays(one);
});

test('a screening result counts for its own destination and for so long, and is then asked for again', async () => {
  const one = await made();
  passes(MAX_AGE_MS);
  await pays(one, 'as old as it may be');
  passes(1);
  await rows.query("delete from jobs where kind = 'rescreen_payout'");
  const answer = await asks(one);
  assert(answer.outcome === 'wait');
  assert.match(answer.why, /screening/);
  assert.equal(answer.againInMs, 30_000);
  const enqueued = await rows.query("select subject from jobs where kind = 'rescreen_payout'");
  assert.deepEqual(enqueued, [{ subject: one.payoutId }]);
  await screened(one);
  await pays(one);
  await rows.query('update screenings set subject = $2 where subject = $1', [
    `payout:order:${one.orderId}:account:${account}`,
    `payout:order:${one.orderId}:account:1`,
  ]);
  assert.equal((await asks(one)).outcome, 'wait', 'another destination was screened, and not this one');
});

test('a hit that is stored while the gate asks does not pass: whether all is compared is read before the hits', async () => {
  const one = await made();
  let isStored = false;
  // Another process commits the result together with its hit, right after the first of the two reads.
  const readFirst = <T>(read: T): T => {
    isStored = true;
    return read;
  };
  const hit = { rule: 'sanctions_undecided', entry: 'e', own: true } as const;
  says.stored = {
    // Meanwhile, reads that did not wait for this one would be over: their statements go out on the same connection.
    async wait(tx) {
      for (let n = 0; n < 50; n += 1) await tx.rows('select');
      return readFirst(isStored ? undefined : ({ cause: 'screening', why: 'new' } as const));
    },
    read: async () => readFirst({ hits: isStored ? [hit] : [], rules: '' }),
    async ensure() {},
  };
  await holds(one, 'sanctions_undecided');
});

test('where coins came from counts by its stored answer: without one it waits, and no approval passes a hit', async () => {
  const one = await made();
  const level = { of: 'severe' as 'severe' | 'low' };
  let sender: string | null = '0xsender';
  const risk = openAddressRisk({
    ...{ db: fixture.db, clock, threshold: 'high', maxAgeMs: MAX_AGE_MS, underWay: async () => [] },
    provider: {
      ...{ code: 'test', rules: '1' },
      assess: async () => ({ level: level.of, score: level.of, reason: 'mixing', answer: Buffer.from(level.of) }),
    },
    senderOf: async () => ({ rail: CHAIN, address: sender }),
  });
  says.stored = risk;
  await rows.query("delete from jobs where kind = 'rescreen_payout'");
  assert.equal((await asks(one)).outcome, 'wait');
  assert.equal((await rows.query("select from jobs where kind = 'rescreen_payout'")).length, 1, 'nobody asks');

  const ensures = () => inTx(one, async (_, leaving) => screeningOf(leaving)).then((input) => risk.ensure(input));
  await ensures();
  await holds(one, 'address_risk_undecided');
  await assert.rejects(approves(one, ['ada', 'bea', 'cleo']), { code: 'order_over' });
  const decide = async (outcome: 'true_hit' | 'false_positive') => {
    const [hit] = await fixture.db.asSystem((tx) => listAddressHits(tx, { state: 'open', after: 0n, limit: 10 }));
    assert(hit);
    const by = { people: ['ada', 'bea'], reason: '', now: clock.now() };
    await fixture.db.asSystem((tx) => decideAddressHit(tx, { id: hit.id, outcome, ...by }));
  };
  await decide('false_positive');
  await pays(one);
  // Its next answer is another finding.
  passes(MAX_AGE_MS + 1);
  await screened(one);
  assert.equal((await asks(one)).outcome, 'wait', 'an answer that is too old let it leave');
  sender = '0xother';
  await ensures();
  await decide('true_hit');
  await holds(one, 'address_risk_hit');
  await assert.rejects(approves(one, ['ada', 'bea', 'cleo']), { code: 'order_over' });

  // A chain that does not say where coins came from: people look, and let this payout pass.
  const other = await made();
  sender = null;
  await holds(other, 'sender_unknown');
  asked.length = 0;
  await approves(other, ['ada', 'bea']);
  assert.ok(asked.every((action) => action === 'release.screening_hit'));
  await pays(other);
});

test('a kill switch makes payouts of its rail wait, without asking the screener', async () => {
  const one = await made();
  says.switchedOff = [CHAIN];
  await pays(one);
  says.switchedOff = [BANK];
  await rows.query("delete from jobs where kind = 'rescreen_payout'");
  const answer = await asks(one);
  assert(answer.outcome === 'wait');
  assert.match(answer.why, /kill switch/);
  assert.equal(answer.againInMs, 5_000);
  assert.deepEqual(await rows.query("select from jobs where kind = 'rescreen_payout'"), []);
});

test('money that its bank may recall, or that is not deep enough, makes it wait exactly until then', async () => {
  const one = await made();
  says.notDeep = 'a deposit has 2 of the 4 confirmations';
  assert.deepEqual(await asks(one), { outcome: 'wait', why: says.notDeep, againInMs: 2_000 });
  delete says.notDeep;
  const clearsAt = new Date(clock.now().getTime() + 3_000);
  await rows.query('update deposits set rail = $2, clears_at = $3 where id = $1', [one.depositId, BANK, clearsAt]);
  const answer = await asks(one);
  assert(answer.outcome === 'wait');
  assert.match(answer.why, new RegExp(clearsAt.toISOString()));
  assert.equal(answer.againInMs, 3_000);
  passes(2_990);
  assert.deepEqual(await asks(one), { ...answer, againInMs: 100 }, 'it asks a little later than it might');
  passes(10);
  await pays(one);
});

test('the chain is asked about all deposits of an order at once, because they need the depth of their sum', async () => {
  const one = await made();
  await rows.query(
    `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, reference, seen_at, taken_units)
     select rail, 'part ' || order_id, asset, 1, '', order_id, partner_id, 'applied', '', now(), 1 from deposits where id = $1`,
    [one.depositId],
  );
  await pays(one);
  assert.deepEqual(
    depths.map((names) => names.toSorted()),
    [[`part ${one.orderId}`, `tx ${one.orderId}`]],
  );
});

test('a reversed deposit, and an underpaid or overpaid order, cannot be approved', async () => {
  const one = await made();
  await rows.query(`update deposits set state = 'lost', state_before_loss = 'applied' where id = $1`, [one.depositId]);
  await holds(one, 'deposit_lost');
  await assert.rejects(approves(one, ['ada', 'bea', 'cleo']), { code: 'order_over' });
  for (const [change, why] of [
    ['- 1', 'underpaid'],
    ['+ 1', 'overpaid'],
  ]) {
    const other = await made();
    await rows.query(`update orders set received_units = deposit_units ${change} where id = $1`, [other.orderId]);
    await holds(other, String(why));
    await assert.rejects(approves(other, ['ada', 'bea', 'cleo']), { code: 'order_over' });
  }
});

test('money goes by a rail that runs, to an account in its own currency that is the customer’s', async () => {
  const one = await made();
  await rows.query("update payouts set rail = 'bank.gone' where id = $1", [one.payoutId]);
  await screened(one);
  await holds(one, 'destination_unfit');
  await assert.rejects(approves(one, ['ada', 'bea']), { code: 'order_over' });
  const other = await made();
  await rows.query("update payouts set asset = 'usdc.test' where id = $1", [other.payoutId]);
  await holds(other, 'destination_unfit');
});

test('an order above the limit of its customer’s level is held, at the limit it is not, and a refund never', async () => {
  const [one, refund] = [await made(), await made(OWN)];
  const limit = (maxUnits: bigint | null) =>
    fixture.db.asSystem((tx) => setLimit(tx, { marketId, level: 4, maxUnits }));
  try {
    await limit(1_000_000n);
    await pays(one);
    await limit(999_999n);
    await holds(one, 'over_level_limit');
    const [found] = await inTx(one, (tx, leaving) => uncoveredFindings(context(), tx, leaving, clock.now()));
    assert.deepEqual(found, { rule: 'over_level_limit', entry: '999999', action: 'release.screening_hit' });
    await pays(refund);
    await approves(one, ['ada', 'bea']);
    await pays(one);
    await limit(999_998n);
    await holds(one, 'over_level_limit');
  } finally {
    await limit(null);
  }
});

test('an order is held by a level that is lowered while the gate is asked', async () => {
  const one = await made();
  const limit = (level: number, maxUnits: bigint | null) =>
    fixture.db.asSystem((tx) => setLimit(tx, { marketId, level, maxUnits }));
  const level = (tx: Tx, to: number) => tx.run('update customers set level = $2 where id = $1', [CUSTOMER, to]);
  const before = (await rows.query<{ level: number }>(`select level from customers where id = '${CUSTOMER}'`))[0]
    ?.level;
  await limit(1, 999_999n);
  try {
    await fixture.db.asSystem((tx) => level(tx, 2));
    let answer: Promise<GateAnswer> | undefined;
    await fixture.db.asSystem(async (tx) => {
      await level(tx, 1);
      answer = asks(one);
      await until('the gate waits for the customer', async () => {
        const waiting = await rows.query(`select from pg_stat_activity where wait_event_type = 'Lock'`);
        return waiting.length > 0;
      });
    });
    assert.deepEqual(await answer, { outcome: 'hold', why: 'held: over_level_limit' });
  } finally {
    await fixture.db.asSystem((tx) => level(tx, before ?? 0));
    await limit(1, null);
  }
});

test('a limit that another server has just lowered holds at once', async () => {
  const one = await made();
  // This process has read both kinds of limits, and remembers them for two seconds.
  await pays(one);
  // Written past its memory, as by another server.
  await rows.query('insert into market_limits (market_id, level, max_units) values ($1, 4, 999999)', [marketId]);
  await holds(one, 'over_level_limit');
  await rows.query('delete from market_limits where market_id = $1 and level = 4', [marketId]);
  await pays(one);
  await rows.query(
    `insert into customer_limits (fiat_asset, level, period, version, max_units, set_by, why, set_at)
      values ('inr', 5, 'order', 1, 1, 'ada', 'a test', now())`,
  );
  try {
    await holds(one, 'over_customer_limit');
  } finally {
    await fixture.db.asSystem((tx) =>
      setCustomerLimit(
        tx,
        {
          ...{ fiatAsset: 'inr', direction: null, marketId: null, level: 5 },
          ...{ period: 'order', maxUnits: null, now: clock.now() },
        },
        { by: 'ada', why: 'a test' },
      ),
    );
  }
});

test('an order above a limit of its customer across orders is held by that limit, and older orders count before it', async () => {
  const one = await made();
  const [row] = await rows.query<{ gross: string }>('select gross_units::text as gross from orders where id = $1', [
    one.orderId,
  ]);
  const worth = BigInt(row?.gross ?? 0);
  const limit = (maxUnits: bigint | null, period: 'order' | 'day' | 'month') =>
    fixture.db.asSystem((tx) =>
      setCustomerLimit(
        tx,
        { fiatAsset: 'inr', direction: null, marketId: null, level: 5, period, maxUnits, now: clock.now() },
        { by: 'ada', why: 'a test' },
      ),
    );
  const refund = await made(OWN);
  // Other tests' orders of this customer are not in its day.
  const at = (id: bigint, hours: number) =>
    rows.query(`update orders set created_at = $2 where id = $1`, [
      id,
      new Date(clock.now().getTime() + hours * 3_600_000),
    ]);
  await at(one.orderId, 1_000);
  await at(refund.orderId, 2_000);
  try {
    for (const period of ['order', 'day'] as const) {
      await limit(worth, period);
      await pays(one);
      await limit(worth - 1n, period);
      await holds(one, 'over_customer_limit');
      const [found] = await inTx(one, (tx, leaving) => uncoveredFindings(context(), tx, leaving, clock.now()));
      const entry = `${period} inr both all ${worth - 1n}`;
      assert.deepEqual(found, { rule: 'over_customer_limit', entry, action: 'release.screening_hit' });
      await limit(null, period);
    }
    await limit(2n * worth - 1n, 'day');
    const next = await made();
    await at(next.orderId, 1_001);
    await holds(next, 'over_customer_limit');
    await pays(one, 'an order that came later does not hold it');
    await pays(refund);
    await approves(next, ['ada', 'bea']);
    await pays(next);
    await limit(2n * worth - 2n, 'day');
    await holds(next, 'over_customer_limit');
    // A day after the other it is the only one.
    await at(next.orderId, 1_025);
    await pays(next);
  } finally {
    for (const period of ['order', 'day', 'month'] as const) await limit(null, period);
  }
});

/** A returned payout is paid again as another attempt of its order's payout. @returns its id */
async function paidAgain({ orderId, payoutId }: Made): Promise<string> {
  const id = `pay_${orderId}_2`;
  await rows.query(`update refunds set purpose = 'payout', key = $2 where order_id = $1`, [orderId, id]);
  await rows.query(`update payouts set purpose = 'payout', deposit_id = null, attempt = 2, id = $2 where id = $1`, [
    payoutId,
    id,
  ]);
  return id;
}

test('no limit stops money that it has counted before: a returned payout, money released by law, a fee paid back', async () => {
  const limits = (maxUnits: bigint | null) =>
    fixture.db.asSystem(async (tx) => {
      await setLimit(tx, { marketId, level: 4, maxUnits });
      const of = { fiatAsset: 'inr', direction: null, marketId: null, level: 5, period: 'order' } as const;
      await setCustomerLimit(tx, { ...of, maxUnits, now: clock.now() }, { by: 'ada', why: 'a test' });
    });
  await limits(1n);
  try {
    await holds(await made(), 'over_level_limit');
    for (const origin of ['returned', 'released', 'compensation']) {
      const one = await made(OWN);
      await rows.query('update deposits set origin = $2 where id = $1', [one.depositId, origin]);
      if (origin === 'returned') one.payoutId = await paidAgain(one);
      await pays(one, origin);
    }
  } finally {
    await limits(null);
  }
});

test('a refund goes to the customer’s destination; to another only with the required number of approvals', async () => {
  await pays(await made(OWN));
  const one = await made(ELSEWHERE);
  await holds(one, 'destination_new');
  await approves(one, ['ada']);
  await holds(one, 'destination_new');
  says.people = 1;
  await pays(one, 'one person names a destination by doing it, where the rules ask for one');
  says.people = 2;
  await approves(one, ['ada', 'bea']);
  await pays(one);
  assert.ok(asked.every((action) => action === 'destination.new'));
  // The address that the order has from an operator does not count as the customer's.
  const other = await made(OWN);
  await rows.query("update orders set refund_to_by = 'operator' where id = $1", [other.orderId]);
  await holds(other, 'destination_new');
  await rows.query('update orders set payout_address = $2 where id = $1', [other.orderId, OWN]);
  await pays(other, 'where an order pays to is what its customer said');
  // For money without an order no customer has named a destination.
  const nobodys = await made(OWN);
  await rows.query('update refunds set order_id = null where id = $1', [nobodys.orderId]);
  await rows.query('update payouts set order_id = null where id = $1', [nobodys.payoutId]);
  await screened(nobodys);
  await holds(nobodys, 'destination_new');
  const found = await inTx(nobodys, (tx, leaving) => uncoveredFindings(context(), tx, leaving, clock.now()));
  assert.deepEqual(found, [{ rule: 'destination_new', entry: '', action: 'destination.new' }]);
  await approves(nobodys, ['ada', 'bea']);
  await pays(nobodys);
  // It is recorded under the partner whose customer paid it, if known.
  const [{ owner } = { owner: '' }] = await rows.query<{ owner: string }>(
    'select min(id)::text as owner from partners',
  );
  for (const table of ['approvals', 'screenings']) {
    const kept = await rows.query(`select partner_id::text as owner from ${table} where order_id is null`);
    assert.deepEqual(kept, [{ owner }], table);
  }
});

test('a refund by a chain goes to an address in its spelling, by a bank to an account, and a refusal names field and rule', async () => {
  const refusal = (rail: string, to: Parameters<typeof requireFits>[3], rails = context()) =>
    fixture.db
      .asSystem((tx) => requireFits(rails, tx, { rail, asset: 'inr', customerId: CUSTOMER }, to))
      .then(
        () => undefined,
        (error: { code?: string; facts?: { fields?: Record<string, string> } }) => [error.code, error.facts?.fields],
      );
  const wrong = (field: string, rule: string) => ['malformed_field', { [field]: rule }];
  assert.equal(await refusal(CHAIN, { address: OWN }), undefined);
  const noAccount = wrong('fiatAccountId', `must be left out: on ${CHAIN} there are addresses`);
  assert.deepEqual(await refusal(CHAIN, { address: OWN, fiatAccountId: account }), noAccount);
  const noAddress = wrong('address', 'must be an address on test');
  for (const address of [undefined, 'no address', ' 0xown'])
    assert.deepEqual(await refusal(CHAIN, { address }), noAddress);
  const bare = { code: CHAIN, kind: 'chain' } as unknown as Rail;
  const unnamed = { ...context(), rails: new Map([[CHAIN, bare]]) };
  assert.deepEqual(await refusal(CHAIN, { address: OWN }, unnamed), wrong('address', `must be an address on ${CHAIN}`));
  assert.equal(await refusal(BANK, { fiatAccountId: account }), undefined);
  assert.deepEqual(
    await refusal(BANK, { address: OWN, fiatAccountId: account }),
    wrong('address', `must be left out: ${BANK} pays to accounts`),
  );
  assert.deepEqual(await refusal(BANK, {}), wrong('fiatAccountId', 'is missing'));
  assert.deepEqual(await refusal(BANK, { fiatAccountId: 1n }), ['unknown_account', undefined]);
  assert.deepEqual(await refusal('bank.gone', {}), wrong('fiatAccountId', 'is missing'));
});

test('naming a destination approves it as new, and approves a hit against it only if the approvers say so', async () => {
  const names = (of: Made, pastHits?: boolean) =>
    inTx(of, (tx, leaving) => {
      const by = { people: ['ada', 'bea'], reason: 'looked at', now: clock.now() };
      return approveRefund(context(), tx, leaving, { ...by, ...(pastHits === undefined ? {} : { pastHits }) });
    });
  const one = await made(ELSEWHERE);
  await screened(one, [{ rule: 'held_by_magic_value', entry: 'e', own: false }]);
  for (const pastHits of [undefined, false]) {
    await names(one, pastHits);
    await holds(one, 'held_by_magic_value');
  }
  const open = await inTx(one, (tx, leaving) => uncoveredFindings(context(), tx, leaving, clock.now()));
  assert.deepEqual(
    open.map(({ rule }) => rule),
    ['held_by_magic_value'],
    'the destination is approved, and the hit is not',
  );
  await names(one, true);
  await pays(one);
});

test('a failed query for the account is an error, and no unfit destination', async () => {
  const money = { rail: BANK, asset: 'inr', customerId: CUSTOMER, depositId: 1n };
  const lost = new Error('the connection is lost');
  const broken = new Proxy({}, { get: () => () => Promise.reject(lost) }) as Tx;
  await assert.rejects(
    async () => fitsRefund(context(), broken, money, { fiatAccountId: account }),
    (error) => error === lost,
  );
  const fits = (asset: string) =>
    fixture.db.asSystem((tx) => fitsRefund(context(), tx, { ...money, asset }, { fiatAccountId: account }));
  assert.deepEqual([await fits('inr'), await fits('eur')], [true, false]);
});

/** A later attempt of the same payout, after the previous one has ended this way. */
async function attemptAfter(one: Made, ended: 'rejected' | 'returned', units = 'units'): Promise<Made> {
  await rows.query(`update payouts set state = $2, ended_at = now(), reference = 'r' where id = $1`, [
    one.payoutId,
    ended,
  ]);
  const payoutId = `${one.payoutId.replace(/_[0-9]+$/, '')}_${Number(one.payoutId.split('_').at(-1)) + 1}`;
  await rows.query(
    `insert into payouts (id, order_id, partner_id, purpose, attempt, deposit_id, refund_id, rail, asset, units, fiat_account_id,
       address, created_at)
     select $2, order_id, partner_id, purpose, attempt + 1, deposit_id, refund_id, rail, asset, ${units}, fiat_account_id, address, now()
       from payouts where id = $1`,
    [one.payoutId, payoutId],
  );
  const next = { ...one, payoutId };
  await screened(next);
  return next;
}

describe('an approval', () => {
  const hit = { rule: 'held_by_magic_value', entry: 'e', own: false } as const;

  test('is used up by its submission, which may be repeated, also after a rejection, and by nothing else', async () => {
    const one = await made();
    await screened(one, [hit]);
    await approves(one, ['ada', 'bea']);
    await pays(one);
    await pays(one, 'the same payout was asked for again');
    const again = await attemptAfter(one, 'rejected');
    await screened(again, [hit]);
    await pays(again, 'nothing left by the attempt before');
    const more = await attemptAfter(again, 'rejected', 'units + 1');
    await screened(more, [hit]);
    await holds(more, 'held_by_magic_value');
    await rows.query('update payouts set units = units - 1 where id = $1', [more.payoutId]);
    await pays(more);
    const after = await attemptAfter(more, 'returned');
    await screened(after, [hit]);
    await holds(after, 'held_by_magic_value');
    await approves(after, ['ada', 'bea']);
    await pays(after);
    const uses = await rows.query<{ payout_id: string }>(
      'select payout_id from approval_uses where payout_id like $1 order by payout_id',
      [`pay_${one.orderId}_%`],
    );
    assert.deepEqual(
      uses.map(({ payout_id }) => payout_id),
      [one, again, more, after].map(({ payoutId }) => payoutId),
    );
  });

  test('of an amount covers parts up to that amount together', async () => {
    const one = await made();
    await screened(one, [hit]);
    await approves(one, ['ada', 'bea']);
    await rows.query('update payouts set units = units - 3000 where id = $1', [one.payoutId]);
    await pays(one);
    // The same order pays again although nothing was returned: 3000 of the sum are left.
    const rest = await attemptAfter(one, 'returned', '3000');
    await screened(rest, [hit]);
    await pays(rest);
    const beyond = await attemptAfter(rest, 'returned', '1');
    await screened(beyond, [hit]);
    await holds(beyond, 'held_by_magic_value');
  });

  test('for one deposit in suspense does not cover another, of the same order or of none', async () => {
    for (const owner of ['none', 'one order']) {
      const [first, second] = [await made(ELSEWHERE), await made(ELSEWHERE)];
      const order_id = owner === 'none' ? null : first.orderId;
      for (const { depositId, payoutId } of [first, second]) {
        await rows.query('update payouts set order_id = $2 where id = $1', [payoutId, order_id]);
        await rows.query('update refunds set order_id = $2 where deposit_id = $1', [depositId, order_id]);
        await rows.query('update deposits set order_id = $2 where id = $1', [depositId, order_id]);
      }
      await screened(first);
      await screened(second);
      await approves(first, ['ada', 'bea']);
      await pays(first);
      await holds(second, 'destination_new');
    }
  });
});

test('an order lacks its reversed deposit, also if nothing has replaced it', async () => {
  const one = await made();
  await rows.query(
    `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, state_before_loss, reference, seen_at)
     select rail, 'gone ' || id, asset, units, target, order_id, partner_id, 'lost', 'applied', '', now()
       from deposits where id = $1`,
    [one.depositId],
  );
  await holds(one, 'deposit_lost');
});

test('an order that an earlier attempt has paid after all is not paid again, and no approval changes that', async () => {
  const one = await made();
  await rows.query(
    `insert into payouts (id, order_id, partner_id, purpose, attempt, rail, asset, units, fiat_account_id, state, created_at, ended_at)
     select 'pay_' || order_id || '_before', order_id, partner_id, purpose, 2, rail, asset, units, fiat_account_id, 'settled', now(), now()
       from payouts where id = $1`,
    [one.payoutId],
  );
  await holds(one, 'paid_before');
  await assert.rejects(approves(one, ['ada', 'bea', 'cleo']), { code: 'order_over' });
});

test('a refund is held whose deposit a cancelled refund has paid after all, unless both together are no more than it', async () => {
  const one = await made(OWN);
  await pays(one);
  const other = one.orderId + 1_000_000_000n;
  const key = `ref_${other}_1`;
  await rows.query('update deposits set units = 1400000 where id = $1', [one.depositId]);
  await rows.query(
    `insert into refunds (id, deposit_id, order_id, partner_id, purpose, rail, asset, gross_units, net_units, source, why,
     requested_by, state, address, key, attempt, created_at, updated_at)
   select $3, deposit_id, order_id, partner_id, purpose, rail, asset, 400000, 400000, source, why, requested_by, 'created',
     address, $2, 1, created_at, updated_at from refunds where id = $1`,
    [one.orderId, key, other],
  );
  await rows.query("update refunds set state = 'cancelled' where key = $1", [key]);
  await rows.query('update deposits set units = 1000000 where id = $1', [one.depositId]);
  const of = { id: key, orderId: one.orderId, depositId: one.depositId, refundId: other, attempt: 1 };
  const money = { rail: CHAIN, asset: 'usdc.test', units: 400_000n, address: OWN };
  await fixture.db.asSystem((tx) => write(tx, { ...of, ...money, purpose: 'refund', now: clock.now() }));
  await pays(one, 'a refund was held for one that was cancelled and not paid');
  await rows.query("update payouts set state = 'settled' where id = $1", [key]);
  await holds(one, 'paid_before');
  await rows.query('update payouts set units = 600000 where id = $1', [one.payoutId]);
  await pays(one);
  await rows.query('update payouts set units = 600001 where id = $1', [one.payoutId]);
  await holds(one, 'paid_before');
  // What an order took of the deposit is not there to be refunded.
  await rows.query('update deposits set units = 1400000 where id = $1', [one.depositId]);
  await pays(one);
  await rows.query('update deposits set taken_units = 400000 where id = $1', [one.depositId]);
  await holds(one, 'paid_before');
});

test('returned or released money does not leave for an order whose deposit was reversed', async () => {
  for (const origin of ['returned', 'released']) {
    const one = await made(OWN);
    await rows.query('update deposits set origin = $2 where id = $1', [one.depositId, origin]);
    await pays(one, origin);
    await rows.query(
      `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, state_before_loss, reference, seen_at)
       select rail, 'gone ' || id, asset, units, target, order_id, partner_id, 'lost', 'applied', '', now()
         from deposits where id = $1`,
      [one.depositId],
    );
    await holds(one, 'deposit_lost');
  }
});

test('the checked money is an order’s payout to its own destination, or its whole deposit to the refund destination', async () => {
  const { orderId, depositId } = await made();
  const [payout, back, asAsked] = await fixture.db.asSystem(async (tx) => {
    const order = await lockOrder(tx, orderId);
    return [
      await payoutOf(tx, order),
      await refundOf(tx, { ...order, receivedUnits: 900_000n }, { fiatAccountId: 7n }),
      await refundOf(tx, { ...order, receivedUnits: null }, { address: OWN }),
    ] as const;
  });
  const of = ({ deposits, order, ...rest }: typeof payout) => ({
    ...rest,
    order: order?.id,
    deposits: deposits.map(({ id }) => id),
  });
  const { customerId = null } = payout.order ?? {};
  const both = { order: orderId, customerId, refundId: null, suspenseId: null, deposits: [depositId] };
  assert.deepEqual(of(payout), {
    ...both,
    purpose: 'payout',
    rail: BANK,
    asset: 'inr',
    units: 8_000n,
    address: null,
    fiatAccountId: account,
  });
  const refund = { ...both, purpose: 'refund', rail: CHAIN, asset: 'usdc.test' };
  assert.deepEqual(of(back), { ...refund, units: 900_000n, address: null, fiatAccountId: 7n });
  assert.deepEqual(of(asAsked), {
    ...refund,
    units: 1_000_000n,
    address: OWN,
    fiatAccountId: null,
  });
});

test('a refund of a reversed deposit does not leave', async () => {
  const one = await made(OWN);
  await rows.query(`update deposits set state = 'lost', state_before_loss = 'suspense' where id = $1`, [one.depositId]);
  await holds(one, 'deposit_lost');
});

test('a destination that was added since its partner is distrusted is held until people let it pass', async () => {
  const one = await made();
  says.held = { since: new Date('2026-01-02T03:04:05Z'), why: 'a key leaked', isRejected: false };
  await holds(one, 'destination_held');
  await approves(one, ['ada', 'bea']);
  await pays(one);
  assert.ok(asked.every((action) => action === 'release.destination_held'));
  says.held = { ...says.held, since: new Date('2026-01-02T03:04:06Z') };
  await holds(one, 'destination_held');
});

test('a destination that containment rejected cannot be approved, even if it was approved before', async () => {
  const one = await made();
  says.held = { since: new Date('2026-01-02T03:04:05Z'), why: 'a key leaked', isRejected: false };
  await approves(one, ['ada', 'bea']);
  await pays(one);
  says.held = { ...says.held, isRejected: true };
  await holds(one, 'destination_rejected');
  await assert.rejects(approves(one, ['ada', 'bea', 'cal']), { code: 'order_over' });
  await holds(one, 'destination_rejected');
});

test('a screener is asked about the order, or about a refund without an order, and the destination', async () => {
  const [one, refund] = [await made(), await made(ELSEWHERE)];
  await inTx(one, async (_, leaving) => {
    const { id, purpose, fiatAccountId, payoutAddress, depositUnits } = screeningOf(leaving);
    assert.deepEqual(
      [id, purpose, fiatAccountId, payoutAddress, depositUnits],
      [one.orderId, 'payout', account, null, 1_000_000n],
    );
    assert.equal(screeningSubject(leaving), `payout:order:${one.orderId}:account:${account}`);
  });
  await inTx(refund, async (_, leaving) => {
    const { purpose, fiatAccountId, payoutAddress } = screeningOf(leaving);
    assert.deepEqual([purpose, fiatAccountId, payoutAddress], ['refund', null, ELSEWHERE]);
    assert.equal(screeningSubject(leaving), `refund:order:${refund.orderId}:address:${ELSEWHERE}`);
    const alone = { ...leaving, order: undefined, customerId: null };
    assert.equal(screeningSubject(alone), `refund:refund:${refund.orderId}:address:${ELSEWHERE}`);
    const asks = screeningOf(alone);
    assert.deepEqual([asks.id, asks.customerId], [refund.orderId, null]);
    assert.ok(asks.partnerId !== null && !('depositUnits' in asks));
    assert.equal(screeningOf({ ...alone, deposits: [] }).partnerId, null);
  });
  await rows.query("update orders set merchant_reference = 'sealed' where id = $1", [one.orderId]);
  await inTx(one, async (_, leaving) => {
    const { merchantReference, depositIds, partnerId } = screeningOf(leaving);
    assert.deepEqual([merchantReference, depositIds], ['sealed', [one.depositId]]);
    assert.equal(partnerId, leaving.order?.partnerId);
  });
});
