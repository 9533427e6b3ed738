/** Bank money that can be reversed waits for as long as its market says, and only then belongs to the order. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openScreener } from '../../src/compliance/index.ts';
import { enroll, recordLogin, recordVerification } from '../../src/customers/index.ts';
import { balance, chart } from '../../src/ledger/index.ts';
import { type OrdersContext } from '../../src/orders/context.ts';
import {
  exposureOf,
  notReady,
  type Order,
  openOrders,
  orderFacts,
  orderHandlers,
  trace,
} from '../../src/orders/index.ts';
import { createPartner, marketById, type Partner, upsertAsset, upsertMarket } from '../../src/partners/index.ts';
import type { DepositFact, Rail } from '../../src/rails/rail.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { gateRules } from '../support/gate.ts';
import { fiat, marketTerms } from '../support/terms.ts';

const HOUR_MS = 3_600_000;
const CLEARING_MS = 2 * HOUR_MS;
const UNREAD_MS = 24 * HOUR_MS;
const WALLET = '0x00000000000000000000000000000000000000aa';

let fixture: Fixture;
let context: OrdersContext;
let partner: Partner;
let markets: { clearing: bigint; atOnce: bigint };
let credits = 0;
/** How far bank and chain were read: to now, unless a test says otherwise. */
let readTo: Date | undefined;

before(async () => {
  fixture = await freshFixture();
  const { db, clock } = fixture;
  const rails = new Map([rail('bank.test', 'bank'), rail('evm.test', 'chain')].map((one) => [one.code, one]));
  context = { ...fixture, rails, screener: openScreener(fixture), gate: gateRules(fixture.vault) };
  await db.asSystem(async (tx) => {
    partner = await createPartner(tx, { name: 'One', now: clock.now() });
    await upsertAsset(tx, fiat('inr'));
    await upsertAsset(tx, fiat('eur'));
    const crypto = { kind: 'crypto', chain: 'test', decimals: 6, native: false } as const;
    await upsertAsset(tx, { ...crypto, code: 'usdc.test', coin: 'usdc', contract: '0x1' });
    const terms = {
      ...marketTerms,
      direction: 'onramp',
      crypto: 'usdc.test',
      depositRail: 'bank.test',
      payoutRail: 'evm.test',
      paymentMethod: 'ACH',
      maxUnits: 10n ** 12n,
      payoutDecimals: 6,
      depositTtlMs: HOUR_MS,
      priceMaxAgeMs: 60_000,
    } as const;
    markets = {
      clearing: await upsertMarket(tx, { ...terms, fiat: 'inr', clearingMs: CLEARING_MS }),
      atOnce: await upsertMarket(tx, { ...terms, fiat: 'eur' }),
    };
    await tx.run(
      `insert into prices (source, base, quote, num, den, priced_at, fetched_at)
       values ('fixed', 'usdc', 'inr', 80, 1, now(), now()), ('fixed', 'usdc', 'eur', 1, 1, now(), now())`,
    );
  });
});
after(async () => await fixture?.stop());

function rail(code: string, kind: 'bank' | 'chain'): Rail {
  const wallets = { deposits: 'main', payouts: 'main' };
  const targets = { are: 'derived', of: (index: bigint) => `${code}:${index}` } as const;
  const some: Partial<Rail> = {
    code,
    kind,
    wallets,
    targets,
    unreadAtMostMs: UNREAD_MS,
    readTo: async () => readTo,
  };
  return some as Rail;
}

async function buys(market: bigint): Promise<Order> {
  const { db, vault, clock } = fixture;
  const now = clock.now();
  return await db.asPartner(partner.id, async (tx) => {
    const name = { partnerId: partner.id, clientCustomerId: String(Math.random()), kind: 'INDIVIDUAL' } as const;
    const customer = await enroll(tx, vault, { ...name, now });
    await recordLogin(tx, customer.id, now);
    await recordVerification(tx, { customer, verifier: 'test', outcome: 'verified', level: 2, now });
    return await openOrders({ ...context, vault: fixture.vault }).create(tx, {
      partner,
      customer,
      market: await marketById(tx, market),
      depositUnits: 80_000n,
      payoutAddress: WALLET,
      now,
    });
  });
}

const credit = (order: Order, units = order.depositUnits): DepositFact => ({
  rail: 'bank.test',
  externalId: `line:${(credits += 1)}`,
  target: order.depositTarget,
  asset: order.depositAsset,
  units,
  reference: 'UTR1',
  facts: {},
});

const hears = (fact: Parameters<ReturnType<typeof orderFacts>>[1]) =>
  fixture.db.asSystem((tx) => orderFacts(context)(tx, fact));
const confirmed = (fact: DepositFact) => hears({ type: 'deposit_confirmed', ...fact });
const moneyOf = (order: Order) => fixture.db.asSystem((tx) => trace(tx, order.id));
const stateOf = async (order: Order) => (await moneyOf(order)).order.state;
const inBank = async (asset: string) =>
  (await fixture.db.asSystem((tx) => balance(tx, chart.custody('bank.test', 'main', asset)))).units;

/** Runs the due jobs of one kind, as the workers would. */
async function falls(kind: 'clear_deposit' | 'expire_order', read: 'all' | 'nothing' | Date = 'all'): Promise<void> {
  readTo = read === 'all' ? fixture.clock.now() : read === 'nothing' ? undefined : read;
  const due = await fixture.db.asSystem((tx) =>
    tx.rows<{ subject: string }>('select subject from jobs where kind = $1 and due_at <= $2 order by id', [
      kind,
      fixture.clock.now(),
    ]),
  );
  for (const { subject } of due) await orderHandlers(context)[kind]?.(subject);
}

describe('a market with a clearing time', () => {
  test('shows a credit as seen, books nothing, and takes it when the time has passed, though the deadline is over', async () => {
    const before = await inBank('inr');
    const order = await buys(markets.clearing);
    const fact = credit(order);
    await confirmed(fact);
    await confirmed(fact);
    assert.equal(await stateOf(order), 'deposit_seen');
    assert.equal(await inBank('inr'), before);

    fixture.clock.advance(HOUR_MS);
    await falls('clear_deposit');
    await falls('expire_order');
    assert.equal(await stateOf(order), 'deposit_seen', 'the order does not wait for a deposit that came in time');

    fixture.clock.advance(HOUR_MS);
    await falls('clear_deposit');
    assert.equal(await stateOf(order), 'deposit_confirmed');
    assert.equal(await inBank('inr'), before + order.depositUnits);
    await falls('clear_deposit');
    await confirmed(fact);
    assert.equal(await inBank('inr'), before + order.depositUnits, 'taken once');
  });

  test('a credit reversed while it is waited with leaves the order as it was, and nothing in the books', async () => {
    const before = await inBank('inr');
    const order = await buys(markets.clearing);
    const fact = credit(order);
    await confirmed(fact);
    await hears({ type: 'deposit_reversed', rail: fact.rail, externalId: fact.externalId, why: 'recalled' });
    assert.equal(await stateOf(order), 'created');
    fixture.clock.advance(CLEARING_MS);
    await falls('clear_deposit');
    assert.equal(await stateOf(order), 'created');
    await falls('expire_order');
    assert.equal(await stateOf(order), 'expired');
    assert.equal(await inBank('inr'), before);
  });

  test('parts are waited with one by one, and complete the order with the last', async () => {
    const order = await buys(markets.clearing);
    await confirmed(credit(order, 30_000n));
    fixture.clock.advance(HOUR_MS / 2);
    await confirmed(credit(order, 50_000n));
    fixture.clock.advance(CLEARING_MS - HOUR_MS / 2);
    await falls('clear_deposit');
    const { order: half } = await moneyOf(order);
    assert.deepEqual([half.state, half.exception], ['deposit_seen', 'underpaid']);
    fixture.clock.advance(HOUR_MS / 2);
    await falls('clear_deposit');
    const { order: whole } = await moneyOf(order);
    assert.deepEqual([whole.state, whole.exception], ['deposit_confirmed', 'paid_in_parts']);
  });

  const notReadyNow = async (deposits: readonly Parameters<typeof notReady>[2][number][]) =>
    await fixture.db.asSystem((tx) => notReady(context, tx, deposits, fixture.clock.now()));

  test('a credit after the deadline goes to suspense at once, because no order waits for it, and is refundable once it has cleared', async () => {
    const order = await buys(markets.clearing);
    fixture.clock.advance(HOUR_MS);
    await falls('expire_order');
    await confirmed(credit(order));
    const { deposits } = await moneyOf(order);
    assert.deepEqual([await stateOf(order), deposits[0]?.state], ['expired', 'suspense']);
    const early = await notReadyNow(deposits);
    assert.deepEqual([early?.cause, early?.until], ['clearing', deposits[0]?.clearsAt]);
    fixture.clock.advance(CLEARING_MS);
    assert.equal(await notReadyNow(deposits), undefined);
  });

  test('money of no order clears by the slowest market that takes its rail and asset, seen by an older server too', async () => {
    const order = await buys(markets.clearing);
    await confirmed({ ...credit(order), target: '' });
    const read = () =>
      fixture.db.asSystem((tx) =>
        tx.rows<Parameters<typeof notReady>[2][number]>(
          'select * from deposits where order_id is null order by id desc limit 1',
        ),
      );
    const [stray] = await read();
    assert(stray);
    assert.equal(stray.clearsAt?.getTime(), stray.seenAt.getTime() + CLEARING_MS);
    await fixture.db.asSystem((tx) => tx.run('update deposits set clears_at = null where id = $1', [stray.id]));
    assert.deepEqual((await notReadyNow(await read()))?.until, stray.clearsAt);
    // A market of the same rail with another asset does not affect this one.
    const euros = { ...credit(order), target: '', asset: 'eur' };
    await confirmed(euros);
    assert.equal(await notReadyNow(await read()), undefined);
  });
});

test('a market without one takes a credit as soon as the bank shows it', async () => {
  const order = await buys(markets.atOnce);
  await confirmed(credit(order));
  assert.equal(await stateOf(order), 'deposit_confirmed');
});

describe('what counts against the cap of a partner', () => {
  const counted = async () => {
    const { units, until } = await fixture.db.asSystem((tx) =>
      exposureOf(tx, { partnerId: partner.id, fiat: 'inr', now: fixture.clock.now() }),
    );
    return { units, until };
  };
  /** The order with another policy about a moved price, and a lock of so many minutes. */
  const locked = (order: Order, then: string, lockMinutes: number) =>
    fixture.db.asSystem((tx) =>
      tx.run(
        `update orders set policy = jsonb_set(policy, '{priceMoved}', $2::jsonb),
                rate_locked_until = created_at + make_interval(mins => $3) where id = $1`,
        [order.id, JSON.stringify({ lockS: lockMinutes * 60, bps: 0, then }), lockMinutes],
      ),
    );
  /** Ends what earlier tests have left open. */
  const nothingOpen = () =>
    fixture.db.asSystem((tx) =>
      tx.run(`update orders set state = 'expired' where state in ('created', 'deposit_seen')`),
    );

  test('is an order whose deposit clears for longer than its rate lock, until it has cleared', async () => {
    await nothingOpen();
    const order = await buys(markets.clearing);
    await locked(order, 'requote', 60);
    const fact = credit(order);
    await confirmed(fact);
    const { units, until } = await counted();
    assert.deepEqual([units, until], [order.depositUnits, order.expiresAt]);
    fixture.clock.advance(HOUR_MS + 60_000);
    await falls('expire_order');
    assert.deepEqual(await counted(), { units: order.depositUnits, until: null }, 'its rate is still promised');
    fixture.clock.advance(HOUR_MS);
    await falls('clear_deposit');
    const { order: after } = await moneyOf(order);
    assert.deepEqual([after.state, after.rate], ['deposit_confirmed', order.rate]);
    assert.deepEqual(await counted(), { units: 0n, until: null });
  });

  for (const [then, lockMinutes, counts, why] of [
    ['honour', 5, true, 'a policy that honours every rate'],
    ['requote', 5, false, 'a policy that compares the price after the lock'],
    ['refund', 5, false, 'a policy that refunds after the lock'],
  ] as const)
    test(`is ${counts ? 'an' : 'no'} unpaid order whose lock ended before its deadline, under ${why}`, async () => {
      await nothingOpen();
      const order = await buys(markets.clearing);
      await locked(order, then, lockMinutes);
      assert.equal((await counted()).units, order.depositUnits, 'the lock holds');
      fixture.clock.advance(10 * 60_000);
      const now = counts ? { units: order.depositUnits, until: order.expiresAt } : { units: 0n, until: null };
      assert.deepEqual(await counted(), now);
    });

  test('is an order past its lock and deadline until its rail is read up to there, because a deposit may have come in time', async () => {
    await nothingOpen();
    const order = await buys(markets.clearing);
    await locked(order, 'requote', 60);
    fixture.clock.advance(HOUR_MS + 60_000);
    await falls('expire_order', 'nothing');
    assert.deepEqual(await counted(), { units: order.depositUnits, until: null });
    await falls('expire_order');
    assert.equal(await stateOf(order), 'expired');
    assert.deepEqual(await counted(), { units: 0n, until: null });
  });
});

describe('at its deadline an order', () => {
  const minutes = (from: Date, count: number): Date => new Date(from.getTime() + count * 60_000);
  const openCases = async (kind: string) =>
    (
      await fixture.db.asSystem((tx) =>
        tx.rows('select from cases where kind = $1 and subject = $2 and closed_at is null', [kind, 'bank.test']),
      )
    ).length;

  test('waits until its rail was read up to the deadline, and takes a credit that came in time, however late it is seen', async () => {
    const order = await buys(markets.atOnce);
    fixture.clock.advance(HOUR_MS + 60_000);
    await falls('expire_order', 'nothing');
    await falls('expire_order', minutes(order.expiresAt, -1));
    assert.equal(await stateOf(order), 'created');
    assert.throws(() => openOrders({ ...context, vault: fixture.vault }).payInstructions(order), {
      code: 'order_over',
    });
    await confirmed({ ...credit(order), at: minutes(order.expiresAt, -2) });
    assert.equal(await stateOf(order), 'deposit_confirmed');
    const { deposits } = await moneyOf(order);
    assert.deepEqual(deposits[0]?.cameAt, minutes(order.expiresAt, -2));
  });

  test('takes no credit that came after the deadline, and ends once its rail was read', async () => {
    const order = await buys(markets.atOnce);
    fixture.clock.advance(HOUR_MS + 60_000);
    const late = { ...credit(order), at: minutes(order.expiresAt, 1) };
    await hears({ type: 'deposit_seen', ...late });
    assert.equal(await stateOf(order), 'created', 'a late deposit keeps the order waiting');
    await confirmed(late);
    const { deposits } = await moneyOf(order);
    assert.deepEqual([await stateOf(order), deposits[0]?.state, deposits[0]?.why], ['created', 'suspense', 'late']);
    await falls('expire_order', order.expiresAt);
    assert.equal(await stateOf(order), 'expired');
    assert.equal(await openCases('rail_unread'), 0);
  });

  test('does not end for parts that came in time, either, as long as more of them may have come', async () => {
    const order = await buys(markets.atOnce);
    await confirmed({ ...credit(order, 30_000n), at: minutes(order.expiresAt, -50) });
    fixture.clock.advance(HOUR_MS);
    await falls('expire_order', minutes(order.expiresAt, -1));
    assert.equal(await stateOf(order), 'created');
    await confirmed({ ...credit(order, 50_000n), at: minutes(order.expiresAt, -1) });
    assert.equal(await stateOf(order), 'deposit_confirmed');
  });

  test('ends with a case if its rail was not read for too long, and a credit that comes then is late', async () => {
    const order = await buys(markets.atOnce);
    fixture.clock.advance(HOUR_MS + UNREAD_MS - 60_000);
    await falls('expire_order', 'nothing');
    assert.equal(await stateOf(order), 'created');
    fixture.clock.advance(60_000);
    await falls('expire_order', 'nothing');
    assert.equal(await stateOf(order), 'expired');
    assert.equal(await openCases('rail_unread'), 1);
    await confirmed({ ...credit(order), at: minutes(order.expiresAt, -1) });
    const { deposits } = await moneyOf(order);
    assert.deepEqual([deposits[0]?.state, deposits[0]?.why], ['suspense', 'late']);
  });

  test('a booking with only a day counts until the end of that day; one without a day counts as unknown', async () => {
    const day = (at: Date): Date => new Date(`${at.toISOString().slice(0, 10)}T00:00:00Z`);
    const [same, next, none] = [await buys(markets.atOnce), await buys(markets.atOnce), await buys(markets.atOnce)];
    fixture.clock.advance(2 * HOUR_MS);
    await confirmed({ ...credit(same), at: day(same.expiresAt), withinMs: 86_400_000 });
    assert.equal(await stateOf(same), 'deposit_confirmed');
    const tomorrow = minutes(day(next.expiresAt), 24 * 60);
    assert.deepEqual((await moneyOf(same)).deposits[0]?.cameAt, tomorrow, 'the latest possible time was not stored');
    await confirmed({ ...credit(next), at: tomorrow, withinMs: 86_400_000 });
    assert.equal((await moneyOf(next)).deposits[0]?.why, 'late');
    await confirmed(credit(none));
    assert.equal(await stateOf(none), 'deposit_confirmed');
  });
});
