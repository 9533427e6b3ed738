/**
 * Deposits with another amount, time or price than quoted, and the policy of their order: each is accepted, requoted, refunded
 * or held, and followed to its end.
 *
 * Long because its stories share one server.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { formatUnits, parseRate } from '../../src/base/money.ts';
import { findCustomer, HIGHEST_LEVEL, saveDetails } from '../../src/customers/index.ts';
import { chart } from '../../src/ledger/index.ts';
import { lock } from '../../src/orders/store.ts';
import { findMarket, setLimit } from '../../src/partners/index.ts';
import { daiHasOwnPrices, daiIsAt } from '../support/ownprices.ts';
import { openStory, type Purchase, type Sale, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
  await daiHasOwnPrices(world);
});
after(async () => await world?.close());

const SUSPENSE = 'suspense:evm.matic20';
const orderOf = async (order: Sale | Purchase) => (await world.traceOf(order)).order;
const exceptionOf = async (order: Sale | Purchase) => (await orderOf(order)).exception;
const requotedOf = async (order: Sale | Purchase) =>
  (await world.traceOf(order)).history.find(({ event }) => event === 'requoted')?.facts;

/** A sale paid by one transfer of this amount; its deadline has passed where that was too little. */
async function soldAndPaid(amount: string, paid: string, coin = 'usdc'): Promise<Sale> {
  const order = await world.sells(amount, coin);
  await world.pays(order, paid, coin);
  await world.mines(2);
  if (Number(paid) < Number(amount)) {
    await world.until('the part is booked', async () => (await exceptionOf(order)) === 'underpaid');
    await world.deadlinePasses();
  }
  return order;
}

describe('too little, within the band', () => {
  test('continues at the new amount with the booked rate and the fees of the schedule, and the partner receives an event', async () => {
    await world.goesBy('offramp', 'usdc', { underpaid: { acceptBps: 50, beyond: 'hold' } });
    const asked = await world.sells('100', 'usdc');
    const books = await world.balances();
    await world.pays(asked, '99.5');
    await world.mines(2);
    await world.until('the part is booked', async () => (await exceptionOf(asked)) === 'underpaid');
    await world.deadlinePasses();
    await world.reaches(asked, 6);

    const order = await orderOf(asked);
    const shown = await world.shown(asked);
    assert.deepEqual([shown.fromAmount, order.depositUnits, order.receivedUnits], ['99.5', 99_500_000n, 99_500_000n]);
    const gross = 99.5 * 86;
    assert.equal(order.grossUnits, BigInt(Math.round(gross * 100)));
    const fees = order.fees.operator + order.fees.partner + order.fees.rail + order.fees.chain;
    assert.equal(order.payoutUnits, order.grossUnits - fees);
    assert.equal(order.fees.chain, asked.fees.chain, 'the chain fee changed with the amount');
    assert.ok(order.fees.operator < asked.fees.operator, 'the operator fee did not fall with the amount');

    const changes = await world.changesSince(books);
    assert.equal(changes['treasury:usdc.matic20'], 99_500_000n);
    assert.equal(changes['treasury:inr'], -order.grossUnits);
    assert.equal(changes[`${SUSPENSE}:usdc.matic20`], undefined);
    const [paid] = await world.bank.payments(`pay_${order.id}_1`);
    assert.equal(paid?.units, order.payoutUnits);
    assert.equal(shown.toAmount, formatUnits(order.payoutUnits, 2));

    const told = await requotedOf(asked);
    assert.deepEqual(
      [told?.reason, told?.depositUnits, told?.depositUnitsBefore],
      ['underpaid', '99500000', '100000000'],
    );
    assert.equal(told?.rate, undefined, 'a new rate was announced');
    const said = (await world.changesOf(asked)).map((body) => [body.exception, body.depositUnits, body.receivedUnits]);
    assert.deepEqual(said, [
      ['underpaid', '100000000', null],
      ['underpaid', '99500000', '99500000'],
    ]);
    assert.deepEqual(await world.casesOf(asked), []);
  });

  test('one unit below the band is held', async () => {
    const order = await soldAndPaid('100', '99.499999');
    await world.reaches(order, 3);
    assert.equal((await world.opensCase(order, 'on_hold')).reason, 'underpaid');
    assert.equal(await requotedOf(order), undefined);
  });

  test('an order keeps the policy it was created under, although the policy’s row changes', async () => {
    const order = await world.sells('100', 'usdc');
    await world.goesBy('offramp', 'usdc', {});
    await world.pays(order, '99.9');
    await world.mines(2);
    await world.until('the part is booked', async () => (await exceptionOf(order)) === 'underpaid');
    await world.deadlinePasses();
    await world.reaches(order, 6);
    assert.deepEqual((await orderOf(order)).policy.underpaid, { acceptBps: 50, beyond: 'hold' });
    const [created] = await world.eventBodies(order);
    const kept = created?.policy as { underpaid: unknown } | undefined;
    assert.deepEqual(kept?.underpaid, { acceptBps: 50, beyond: 'hold' });
  });

  test('a purchase goes on with the amount that the credit buys', async () => {
    await world.goesBy('onramp', 'usdc', { underpaid: { acceptBps: 100, beyond: 'hold' } });
    const asked = await world.buys('5000', 'usdc');
    await world.credits(asked, '4990');
    await world.until('the part is booked', async () => (await exceptionOf(asked)) === 'underpaid');
    await world.deadlinePasses();
    await world.payoutIsSubmitted(asked);
    await world.mines(2);
    await world.reaches(asked, 4);
    const order = await orderOf(asked);
    assert.equal(order.receivedUnits, 499_000n);
    assert.deepEqual(await world.transfersTo(asked).then((all) => all.map(({ units }) => units)), [order.payoutUnits]);
    assert.ok(order.payoutUnits < BigInt(Math.round(Number(asked.toAmount) * 1e6)));
    await world.goesBy('onramp', 'usdc', {});
  });
});

describe('too much, within the band', () => {
  test('goes on at the new amount, and nothing is left in suspense', async () => {
    await world.goesBy('offramp', 'usdc', { overpaid: { acceptBps: 100, beyond: 'hold_excess' } });
    const books = await world.balances();
    const order = await soldAndPaid('100', '101');
    await world.reaches(order, 6);
    const { depositUnits, payoutUnits, exception } = await orderOf(order);
    assert.deepEqual([depositUnits, exception], [101_000_000n, 'overpaid']);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`))[0]?.units, payoutUnits);
    const changes = await world.changesSince(books);
    assert.equal(changes['treasury:usdc.matic20'], 101_000_000n);
    assert.equal(changes[`${SUSPENSE}:usdc.matic20`], undefined);
    assert.deepEqual(await world.casesOf(order), []);
  });

  test('above the customer’s limit per order only the quoted amount is taken', async () => {
    const limit = async (maxUnits: bigint | null) =>
      await world.read(async (tx) => {
        const market = await findMarket(tx, { direction: 'offramp', coin: 'usdc', fiat: 'inr', chain: 'matic20' });
        await setLimit(tx, { marketId: market.id, level: HIGHEST_LEVEL, maxUnits });
      });
    await limit(100_000_000n);
    const order = await soldAndPaid('100', '100.5');
    await world.opensCase(order, 'overpaid');
    await world.reaches(order, 6);
    assert.equal((await orderOf(order)).depositUnits, 100_000_000n);
    await limit(null);
    await world.goesBy('offramp', 'usdc', {});
  });
});

describe('a price that has moved', () => {
  const goesBy = (priceMoved: { lockS?: number | null; bps: number; then: 'honour' | 'requote' | 'refund' }) =>
    world.goesBy('offramp', 'dai', { priceMoved: { lockS: 0, ...priceMoved } });
  /** A sale at 86, paid after the rate lock ended and confirmed at another price. */
  async function soldBefore(price: string): Promise<Sale> {
    await daiIsAt(world, '86');
    const order = await world.sells('100', 'dai');
    await daiIsAt(world, price);
    await world.pays(order, '100', 'dai');
    await world.mines(2);
    return order;
  }

  test('does not change the quoted rate where the policy honours it or the move is within the band', async () => {
    await goesBy({ bps: 100, then: 'honour' });
    const honoured = await soldBefore('80');
    await world.reaches(honoured, 6);
    await goesBy({ bps: 100, then: 'requote' });
    const near = await soldBefore('85.5');
    await world.reaches(near, 6);
    for (const order of [honoured, near]) {
      assert.equal((await world.shown(order)).toAmount, order.toAmount);
      assert.equal(await requotedOf(order), undefined);
    }
  });

  test('does not change the quoted rate while the rate is locked', async () => {
    await goesBy({ lockS: null, bps: 0, then: 'refund' });
    const order = await soldBefore('10');
    await world.reaches(order, 6);
    assert.equal((await world.shown(order)).toAmount, order.toAmount);
  });

  test('requotes the order at the current price, down and up, with a quote that names its prices', async () => {
    await goesBy({ bps: 100, then: 'requote' });
    for (const price of ['80', '90']) {
      const asked = await soldBefore(price);
      const first = await orderOf(asked);
      await world.reaches(asked, 6);
      const order = await orderOf(asked);
      assert.deepEqual(order.rate, parseRate(price));
      assert.equal(order.grossUnits, BigInt(price) * 10_000n);
      assert.equal((await world.bank.payments(`pay_${order.id}_1`))[0]?.units, order.payoutUnits);
      const facts = await requotedOf(asked);
      assert.deepEqual([facts?.reason, facts?.rate, facts?.rateBefore], ['price_moved', price, '86']);
      assert.equal((await world.changesOf(asked)).at(-1)?.rate, price);
      const [quote] = await world.read((tx) =>
        tx.rows<{ orderId: bigint; prices: { base: string; rate: string }[] }>(
          'select order_id, prices from quotes where id = $1',
          [order.quoteId],
        ),
      );
      assert.notEqual(order.quoteId, first.quoteId);
      assert.equal(quote?.orderId, order.id);
      assert.equal(quote?.prices.find(({ base }) => base === 'dai')?.rate, price);
    }
  });

  test('makes the order wait while there is no price, and go on once there is one', async () => {
    await goesBy({ bps: 100, then: 'requote' });
    await daiIsAt(world, '86');
    const order = await world.sells('100', 'dai');
    await world.read((tx) => tx.run(`update prices set fetched_at = now() - interval '1 hour' where source = 'story'`));
    await world.pays(order, '100', 'dai');
    await world.mines(2);
    await world.until('screening has failed for want of a price', async () => {
      const [row] = await world.read((tx) =>
        tx.rows<{ attempts: number }>(`select attempts from jobs where kind = 'screen_order' and subject = $1`, [
          String(order.id),
        ]),
      );
      return row !== undefined && row.attempts > 0;
    });
    assert.equal(await world.stateOf(order), 'deposit_confirmed');
    await daiIsAt(world, '86');
    await world.reaches(order, 6);
    await world.goesBy('offramp', 'dai', {});
  });
});

describe('a state that lasts too long', () => {
  const DAY_MS = 24 * 3_600_000;

  test('opens a case, reopens it when it was closed early, and closes it when the state ends', async () => {
    const order = await world.sells('100', 'usdc', { reference: 'screen:hold' });
    await world.pays(order, '100');
    await world.mines(2);
    await world.reaches(order, 3);
    const { since, by, otherwise } = await world.traceOf(order);
    assert.equal(by?.getTime(), since.getTime() + DAY_MS);
    assert.match(otherwise ?? '', /case/);
    world.clock.advance(DAY_MS);
    assert.match((await world.opensCase(order, 'overdue')).reason, /on_hold for longer than 86400 s/);
    await world.read((tx) =>
      tx.run(`update cases set closed_at = now(), outcome = 'seen' where order_id = $1 and kind = 'overdue'`, [
        order.id,
      ]),
    );
    world.clock.advance(DAY_MS);
    await world.opensCase(order, 'overdue');
    await world.releases(order);
    await world.reaches(order, 6);
    assert.deepEqual(await world.openCaseKinds(order), []);
    const ended = await world.traceOf(order);
    assert.deepEqual([ended.by, ended.otherwise], [null, null]);
  });

  test('is announced for an unpaid order, with the time when it expires', async () => {
    const order = await world.sells('10', 'usdc');
    const { by, otherwise, order: row } = await world.traceOf(order);
    assert.deepEqual([by, otherwise], [row.expiresAt, 'it expires']);
  });

  test('refunds an order that a policy holds, and never one that screening holds', async () => {
    await world.goesBy('offramp', 'usdc', { waiting: { on_hold: { afterS: 60, then: 'refund' } } });
    const screened = await world.sells('100', 'usdc', { reference: 'screen:hold' });
    const away = await goesBackTo(screened);
    await world.pays(screened, '100');
    await world.mines(2);
    await world.reaches(screened, 3);
    assert.equal((await world.traceOf(screened)).otherwise, 'a case is opened');
    const part = await world.sells('100', 'usdc');
    const address = await goesBackTo(part);
    await world.pays(part, '50');
    await world.mines(2);
    await world.until('the part is booked', async () => (await exceptionOf(part)) === 'underpaid');
    await world.deadlinePasses();
    await world.until('it is held', async () => (await orderOf(part)).state === 'on_hold');
    world.clock.advance(60_000);
    await arrives(address, '50');
    assert.match((await world.opensCase(screened, 'overdue')).reason, /on_hold for longer than 60 s/);
    assert.deepEqual([await world.stateOf(screened), await world.tokensOf(away, 'usdc')], ['on_hold', '0']);
    await world.releases(screened);
    await world.reaches(screened, 6);
    await world.goesBy('offramp', 'usdc', {});
  });

  test('an order waiting for funds goes on without its case once they come', async () => {
    await world.goesBy('offramp', 'usdc', { waiting: { awaiting_liquidity: { afterS: 60, then: 'case' } } });
    const { units } = await world.balance(chart.treasury('inr'));
    await world.setsAside('inr', 0n);
    const order = await soldAndPaid('100', '100');
    await world.isShort(order);
    world.clock.advance(60_000);
    await world.opensCase(order, 'overdue');
    await world.brings('inr', units);
    await world.reaches(order, 6);
    assert.deepEqual(await world.openCaseKinds(order), []);
    await world.goesBy('offramp', 'usdc', {});
  });
});

/** The customer names a refund address. @returns that address */
async function goesBackTo(order: Sale): Promise<string> {
  const address = world.newAddress();
  await world.read((tx) => tx.run('update orders set refund_address = $2 where id = $1', [order.id, address]));
  return address;
}

/** The amount has arrived at the customer's address on the chain. */
const arrives = (address: string, amount: string, coin = 'usdc') =>
  world.until(`${amount} ${coin} came back`, async () => {
    await world.mines(1);
    return (await world.tokensOf(address, coin)) === amount;
  });

describe('refunded by policy', () => {
  test('too little, beyond the band: it shows -4, and the customer has the deposit back', async () => {
    await world.goesBy('offramp', 'usdc', { underpaid: { acceptBps: 50, beyond: 'refund' } });
    const order = await world.sells('100', 'usdc');
    const address = await goesBackTo(order);
    const books = await world.balances();
    await world.pays(order, '99.4');
    await world.mines(2);
    await world.until('the part is booked', async () => (await exceptionOf(order)) === 'underpaid');
    await world.deadlinePasses();
    await arrives(address, '99.4');
    await world.reaches(order, -4);
    assert.deepEqual((await world.eventsOf(order)).slice(-3), ['on_hold', 'refunding', 'refunded']);
    assert.deepEqual(await world.openCaseKinds(order), []);
    const changes = await world.changesSince(books);
    assert.equal(changes['treasury:usdc.matic20'], undefined);
    assert.equal(changes[`${SUSPENSE}:usdc.matic20`], undefined);
  });

  test('too little for the limits, though within the band', async () => {
    await world.goesBy('offramp', 'usdc', { underpaid: { acceptBps: 5_000, beyond: 'hold' } });
    const order = await world.sells('1', 'usdc');
    const address = await goesBackTo(order);
    await world.pays(order, '0.9');
    await world.mines(2);
    await world.until('the part is booked', async () => (await exceptionOf(order)) === 'underpaid');
    await world.deadlinePasses();
    await arrives(address, '0.9');
    await world.reaches(order, -4);
  });

  test('without a destination the money stays with us, and a case says who has to name one', async () => {
    await world.goesBy('offramp', 'usdc', { underpaid: { acceptBps: 0, beyond: 'refund' } });
    const order = await soldAndPaid('100', '50');
    await world.opensCase(order, 'refund_destination');
    assert.equal(await world.stateOf(order), 'on_hold');
    const address = world.newAddress();
    await world.rejects(order, { failure: 'amount', address });
    await arrives(address, '50');
    await world.reaches(order, -4);
    assert.deepEqual(await world.openCaseKinds(order), []);
  });

  test('too much, of which only the excess goes back', async () => {
    await world.goesBy('offramp', 'usdc', { overpaid: { acceptBps: 0, beyond: 'refund_excess' } });
    const books = await world.balances();
    const order = await world.sells('100', 'usdc');
    const address = await goesBackTo(order);
    await world.pays(order, '130');
    await world.mines(2);
    await world.reaches(order, 6);
    await arrives(address, '30');
    assert.equal((await world.shown(order)).toAmount, order.toAmount);
    await world.until('nothing is left in suspense', async () => {
      const changes = await world.changesSince(books);
      return changes[`${SUSPENSE}:usdc.matic20`] === undefined;
    });
    assert.equal((await world.changesSince(books))['treasury:usdc.matic20'], 100_000_000n);
    assert.deepEqual(await world.openCaseKinds(order), []);
  });

  test('too much, of which all goes back', async () => {
    await world.goesBy('offramp', 'usdc', { overpaid: { acceptBps: 0, beyond: 'refund_all' } });
    const books = await world.balances();
    const order = await world.sells('100', 'usdc');
    const address = await goesBackTo(order);
    await world.pays(order, '130');
    await world.mines(2);
    await arrives(address, '130');
    await world.reaches(order, -4);
    assert.deepEqual(await world.openCaseKinds(order), []);
    assert.equal((await world.changesSince(books))['treasury:usdc.matic20'], undefined);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 0);
    await world.goesBy('offramp', 'usdc', {});
  });

  test('at a price that moved: it shows -2', async () => {
    await world.goesBy('offramp', 'dai', { priceMoved: { lockS: 0, bps: 100, then: 'refund' } });
    await daiIsAt(world, '86');
    const order = await world.sells('100', 'dai');
    const address = await goesBackTo(order);
    await daiIsAt(world, '70');
    await world.pays(order, '100', 'dai');
    await world.mines(2);
    await arrives(address, '100', 'dai');
    await world.reaches(order, -2);
    await world.goesBy('offramp', 'dai', {});
  });

  test('paid by another payer: it shows -3, and goes to the account that the customer named', async () => {
    await world.goesBy('onramp', 'usdc', { payerName: { then: 'refund' } });
    const customer = await world.verifiedCustomer();
    await world.read(async (tx) => {
      const known = await findCustomer(tx, customer.id);
      const details = { firstName: 'Asha', firstSurname: 'Rao', secondSurname: 'Menon' };
      await saveDetails(tx, world.vault, { customer: known, details, now: world.clock.now() });
    });
    const order = await world.buys('5000', 'usdc', { customer });
    await world.read((tx) =>
      tx.run('update orders set refund_account_id = $2 where id = $1', [order.id, customer.fiatAccountId]),
    );
    await world.bank.creditAccount({ currency: 'INR', units: 500_000n, text: order.reference, payerName: 'Ravi Iyer' });
    await world.looksAtTheBank();
    await world.reaches(order, -3);
    await world.goesBy('onramp', 'usdc', {});
  });

  test('having waited too long for funds', async () => {
    await world.goesBy('offramp', 'usdc', { waiting: { awaiting_liquidity: { afterS: 60, then: 'refund' } } });
    const { units } = await world.balance(chart.treasury('inr'));
    await world.setsAside('inr', 0n);
    const order = await world.sells('100', 'usdc');
    const address = await goesBackTo(order);
    await world.pays(order, '100');
    await world.mines(2);
    await world.isShort(order);
    assert.match((await world.traceOf(order)).otherwise ?? '', /the money is refunded/);
    world.clock.advance(60_000);
    await arrives(address, '100');
    await world.reaches(order, -2);
    assert.deepEqual(await world.openCaseKinds(order), []);
    await world.brings('inr', units);
    await world.goesBy('offramp', 'usdc', {});
  });

  test('an order that screening holds is not', async () => {
    await world.goesBy('offramp', 'usdc', { underpaid: { acceptBps: 0, beyond: 'refund' } });
    const order = await world.sells('100', 'usdc', { reference: 'screen:hold' });
    await goesBackTo(order);
    await world.pays(order, '50');
    await world.mines(2);
    await world.until('the part is booked', async () => (await exceptionOf(order)) === 'underpaid');
    await world.deadlinePasses();
    assert.equal((await world.opensCase(order, 'on_hold')).reason, 'underpaid');
    const enqueued = await world.read((tx) =>
      tx.rows(`select from jobs where kind = 'refund_order' and subject = $1`, [String(order.id)]),
    );
    assert.deepEqual(enqueued, []);
    await world.goesBy('offramp', 'usdc', {});
  });
});

describe('a deposit that no order waits for', () => {
  const KINDS = ['late', 'second'] as const;
  type Kind = (typeof KINDS)[number];

  /**
   * At its second change in a transaction PostgreSQL looks up the order that it follows: the lock of that order must not stop it, or
   * two decisions about both orders wait for each other.
   */
  const changesTwice = (order: Sale, followed: Sale) =>
    world.read(async (tx) => {
      await lock(tx, followed.id);
      await world.read(async (other) => {
        await lock(other, order.id);
        for (let n = 0; n < 2; n += 1)
          await other.run('update orders set updated_at = updated_at where id = $1', [order.id]);
      });
    });

  /** A sale in the state in which the next deposit is too late, or a second one. */
  async function soldUpTo(kind: Kind, then: 'hold' | 'refund' | 'new_order', coin = 'usdc'): Promise<Sale> {
    await world.goesBy('offramp', coin, { [kind]: { then } });
    if (coin === 'dai') await daiIsAt(world, '86');
    const order = await world.sells('100', coin);
    if (kind === 'late') {
      await world.deadlinePasses();
      await world.reaches(order, -1);
      return order;
    }
    await world.pays(order, '100', coin);
    await world.mines(2);
    await world.reaches(order, 6);
    return order;
  }

  for (const kind of KINDS) {
    const status = kind === 'late' ? -1 : 6;

    test(`${kind}, held: in suspense, with a case`, async () => {
      const order = await soldUpTo(kind, 'hold');
      const books = await world.balances();
      await world.pays(order, '40');
      await world.mines(2);
      await world.opensCase(order, `deposit_${kind}`);
      assert.equal((await world.changesSince(books))[`${SUSPENSE}:usdc.matic20`], 40_000_000n);
      assert.equal((await world.changesOf(order)).at(-1)?.exception, kind);
      assert.equal(await world.statusOf(order), status);
    });

    test(`${kind}, refunded: it goes back, and the order keeps its final state`, async () => {
      const order = await soldUpTo(kind, 'refund');
      const address = await goesBackTo(order);
      const books = await world.balances();
      await world.pays(order, '40');
      await world.mines(2);
      await arrives(address, '40');
      await world.until('nothing is left in suspense', async () => {
        const changes = await world.changesSince(books);
        return changes[`${SUSPENSE}:usdc.matic20`] === undefined;
      });
      assert.equal(await world.statusOf(order), status);
      assert.equal((await world.changesOf(order)).at(-1)?.exception, kind);
      assert.deepEqual(await world.openCaseKinds(order), []);
    });

    test(`${kind}, a new order: it has the current price, is paid to the same account, and both orders name each other`, async () => {
      const first = await soldUpTo(kind, 'new_order', 'dai');
      const books = await world.balances();
      await daiIsAt(world, '80');
      await world.pays(first, '40', 'dai');
      await world.mines(2);
      const [id] = await world.until('there is a new order', async () => {
        const { followedBy } = await world.traceOf(first);
        return followedBy.length > 0 && followedBy;
      });
      const next: Sale = { ...first, id: id ?? 0n };
      await world.reaches(next, 6);
      const order = await orderOf(next);
      assert.deepEqual(order.rate, parseRate('80'));
      assert.deepEqual([order.follows, order.fiatAccountId], [first.id, (await orderOf(first)).fiatAccountId]);
      assert.equal(order.depositUnits, 40n * 10n ** 18n);
      assert.deepEqual(await world.eventsOf(next), ['created', 'deposit_confirmed', 'paying_out', 'settled']);
      assert.equal((await world.eventBodies(next))[0]?.follows, String(first.id));
      assert.equal((await world.bank.payments(`pay_${id}_1`))[0]?.units, order.payoutUnits);
      assert.equal(await world.statusOf(first), status);
      assert.deepEqual(await world.openCaseKinds(first), []);
      const changes = await world.changesSince(books);
      assert.equal(changes['treasury:dai.matic20'], 40n * 10n ** 18n);
      assert.equal(changes[`${SUSPENSE}:dai.matic20`], undefined);
      const listed = await world.told<{ transactionId: string }[]>('offramp/allUserTransaction', {
        customerId: first.customerId,
        page: '1',
        pageSize: '10',
      });
      assert.equal(listed[0]?.transactionId, String(id));
      await changesTwice(next, first);
      await world.goesBy('offramp', 'dai', {});
    });
  }

  test('too little for a new order goes back', async () => {
    const order = await soldUpTo('late', 'new_order');
    const address = await goesBackTo(order);
    await world.pays(order, '0.5');
    await world.mines(2);
    await arrives(address, '0.5');
    const { followedBy } = await world.traceOf(order);
    assert.deepEqual(followedBy, []);
    await world.until('its case is closed', async () => (await world.openCaseKinds(order)).length === 0);
  });

  test('waits in suspense, with its case, while there is no price for a new order', async () => {
    const first = await soldUpTo('late', 'new_order', 'dai');
    await world.read((tx) => tx.run(`update prices set fetched_at = now() - interval '1 hour' where source = 'story'`));
    await world.pays(first, '40', 'dai');
    await world.mines(2);
    await world.opensCase(first, 'deposit_late');
    assert.deepEqual((await world.traceOf(first)).followedBy, []);
    await daiIsAt(world, '86');
    await world.until('there is a new order', async () => (await world.traceOf(first)).followedBy.length === 1);
    await world.until('its case is closed', async () => (await world.openCaseKinds(first)).length === 0);
    const [id = 0n] = (await world.traceOf(first)).followedBy;
    await world.reaches({ ...first, id }, 6);
    await world.goesBy('offramp', 'dai', {});
  });
});
