/** Terms stored in rows: limits by level, a cap on the open quotes of a partner, and the history of changes. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findCustomer, recordVerification } from '../../../src/customers/index.ts';
import {
  findMarket,
  type Market,
  marketChanges,
  setExposureCap,
  setFee,
  setLimit,
  upsertMarket,
} from '../../../src/partners/index.ts';
import { type Environment, type TestPartner, wireEnvironment } from './environment.ts';

let world: Environment;
let acme: TestPartner;
let other: TestPartner;
let market: Market;

before(async () => {
  world = await wireEnvironment();
  acme = await world.partner('acme');
  other = await world.partner('other');
  market = await world.db.asSystem((tx) => findMarket(tx, { direction: 'offramp', coin: 'usdc', fiat: 'inr' }));
});
after(async () => await world?.stop());

const pair = { fromCurrency: 'usdc', toCurrency: 'inr', chain: 'matic20' };

async function sells(fromAmount: string, partner = acme) {
  const { customerId, fiatAccountId } = partner;
  const { status, body } = await partner.post('offramp/createTransaction', {
    ...pair,
    fromAmount,
    customerId,
    fiatAccountId,
  });
  return [status, body.reason, body.error] as const;
}

async function reaches(level: number): Promise<void> {
  const now = world.clock.now();
  await world.db.asPartner(acme.partner.id, async (tx) => {
    const customer = await findCustomer(tx, acme.customerId);
    await recordVerification(tx, { customer, verifier: 'test', outcome: 'verified', level, now });
  });
}

describe('limits by level', () => {
  test('a customer with a lower level has a lower limit, and the refusal shows it', async () => {
    await world.db.asSystem(async (tx) => {
      await setLimit(tx, { marketId: market.id, level: 1, maxUnits: 100_000_000n });
      await setLimit(tx, { marketId: market.id, level: 2, maxUnits: 500_000_000n });
    });
    await reaches(1);
    assert.equal((await sells('100'))[0], 200);
    const [status, reason, error] = await sells('100.000001');
    assert.deepEqual([status, reason], [413, 'amount_outside_limits']);
    assert.match(error, /minimum 1, maximum 100 USDC/);
    await reaches(2);
    assert.equal((await sells('500'))[0], 200);
    assert.match((await sells('501'))[2], /minimum 1, maximum 500 USDC/);
    await reaches(3);
    assert.equal(
      (await sells('10000'))[0],
      200,
      'a level without a limit of its own has another limit than the market’s',
    );
    assert.match((await sells('10001'))[2], /minimum 1, maximum 10000 USDC/);
  });

  test('a level whose limit is below the market’s minimum needs a higher verification', async () => {
    await reaches(1);
    await world.db.asSystem((tx) => setLimit(tx, { marketId: market.id, level: 1, maxUnits: 999_999n }));
    for (const fromAmount of ['1', '10001'])
      assert.deepEqual((await sells(fromAmount)).slice(0, 2), [403, 'verification_required'], fromAmount);
    await world.db.asSystem((tx) => setLimit(tx, { marketId: market.id, level: 1, maxUnits: 1_000_000n }));
    assert.equal((await sells('1'))[0], 200);
    await world.db.asSystem((tx) => setLimit(tx, { marketId: market.id, level: 1, maxUnits: null }));
  });

  test('a limit above the market’s own changes nothing, and a removed one has no effect', async () => {
    await reaches(1);
    await world.db.asSystem((tx) => setLimit(tx, { marketId: market.id, level: 1, maxUnits: 10n ** 30n }));
    assert.match((await sells('10002'))[2], /minimum 1, maximum 10000 USDC/);
    await world.db.asSystem(async (tx) => {
      await setLimit(tx, { marketId: market.id, level: 1, maxUnits: null });
      await setLimit(tx, { marketId: market.id, level: 2, maxUnits: null });
    });
    assert.equal((await sells('9999'))[0], 200);
  });
});

describe('a cap on open quotes', () => {
  const quotes = async (partner: TestPartner, fromAmount: string) => {
    const { status, body } = await partner.post('offramp/quote', { ...pair, fromAmount });
    return [status, body.reason, body.error] as const;
  };

  test('bounds the quotes of one partner in one fiat, both directions together, and the refusal has the remainder', async () => {
    await world.query(`update quotes set expires_at = now() - interval '1 hour' where order_id is null`);
    await world.query(`update orders set state = 'expired' where state = 'created'`);
    const cap = { partnerId: acme.partner.id, fiat: 'inr', maxUnits: 2_000_000n };
    await world.db.asSystem((tx) => setExposureCap(tx, cap, { by: 'treasurer', why: 'thin market' }));
    assert.equal((await quotes(acme, '100'))[0], 200);
    const bought = await acme.post('onramp/quote', { fromCurrency: 'inr', toCurrency: 'usdc', fromAmount: '1400' });
    assert.equal(bought.status, 200);
    const [status, reason, error] = await quotes(acme, '120');
    assert.deepEqual([status, reason], [413, 'exposure_exceeded']);
    assert.match(error, /at most 10000 INR of 20000 are left/);
    assert.equal((await acme.post('offramp/quote', { ...pair, toCurrency: 'eur', fromAmount: '5000' })).status, 200);
    assert.equal((await quotes(other, '5000'))[0], 200, 'another partner’s quotes counted against the cap');
  });

  test('has room again when quotes are used or expired', async () => {
    assert.equal((await sells('110'))[0], 200);
    assert.equal((await quotes(acme, '110'))[0], 200);
    assert.equal((await quotes(acme, '110'))[0], 413);
    world.clock.advance(60_000);
    assert.equal((await quotes(acme, '110'))[0], 200);
  });

  test('counts an unpaid order at a locked rate until it is paid or over', async () => {
    world.clock.advance(60_000);
    assert.equal((await sells('110'))[0], 200);
    const [status, reason, error] = await sells('110');
    assert.deepEqual([status, reason], [413, 'exposure_exceeded']);
    assert.match(error, /at most 1080 INR of 20000 are left/);
    await world.query(`update orders set state = 'expired' where state = 'created'`);
    assert.equal((await sells('110'))[0], 200);
    await world.db.asSystem((tx) => setExposureCap(tx, { partnerId: acme.partner.id, fiat: 'inr', maxUnits: null }));
    assert.equal((await quotes(acme, '5000'))[0], 200);
  });
});

describe('a cap with many requests at once', () => {
  const cap = (maxUnits: bigint | null) =>
    world.db.asSystem((tx) => setExposureCap(tx, { partnerId: acme.partner.id, fiat: 'inr', maxUnits }));
  const AT_ONCE = 50;

  test('fifty quotes requested at the same moment get no more than the cap together', async () => {
    await world.query(`update quotes set expires_at = now() - interval '1 hour' where order_id is null`);
    await world.query(`update orders set state = 'expired' where state = 'created'`);
    await cap(10_000_00n);
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, () => acme.post('offramp/quote', { ...pair, fromAmount: '10' })),
    );
    // 860 INR each: eleven fit into 10,000 INR.
    assert.deepEqual(
      [200, 413].map((status) => answers.filter((one) => one.status === status).length),
      [11, AT_ONCE - 11],
    );
    const [{ sum } = { sum: null }] = await world.query(
      `select sum(fiat_units)::text as sum from quotes where partner_id = $1 and order_id is null and expires_at > $2`,
      [acme.partner.id, world.clock.now()],
    );
    assert.equal(sum, '946000');
  });

  test('fifty orders created at the same moment, both directions together, get no more than the cap', async () => {
    await world.query(`update quotes set expires_at = now() - interval '1 hour' where order_id is null`);
    const customers = await Promise.all(
      Array.from({ length: 5 }, (_, at) => world.customer(acme, acme.partner, `crowd-${at}`)),
    );
    const accounts = await Promise.all(
      customers.map(async (customerId, at) => {
        const details = { customerId, fiatAccount: `00011122${at}444`, ifsc: 'HDFC0001234' };
        return (await acme.post('bank/addFiatAccount', details)).body.data.fiatAccountId as string;
      }),
    );
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, at) => {
        // Two requests that are signed in the same millisecond with the same body are one request.
        const who = { customerId: customers[at % 5], merchantRecognitionId: `crowd-${at}` };
        return at % 2 === 0
          ? acme.post('offramp/createTransaction', {
              ...pair,
              ...{ fromAmount: '10', fiatAccountId: accounts[at % 5] },
              ...who,
            })
          : acme.post('onramp/createTransaction', {
              ...{
                fromCurrency: 'inr',
                toCurrency: 'usdc',
                chain: 'matic20',
                fromAmount: '860',
                paymentMethodType: 'UPI',
              },
              ...{ ...who, depositAddress: `0x${'ab'.repeat(20)}` },
            });
      }),
    );
    assert.deepEqual(
      [200, 413].map((status) => answers.filter((one) => one.status === status).length),
      [11, AT_ONCE - 11],
      JSON.stringify(answers.find(({ status }) => status !== 200 && status !== 413)?.body),
    );
    const [{ sum } = { sum: null }] = await world.query(
      `select sum(case when direction = 'onramp' then deposit_units else gross_units end)::text as sum
         from orders where partner_id = $1 and state = 'created'`,
      [acme.partner.id],
    );
    assert.equal(sum, '946000');
    await cap(null);
  });
});

describe('history', () => {
  test('keeps every change with operator and reason, skips requests that change nothing, and cannot be altered', async () => {
    const { db } = world;
    const reason = { by: 'anna', why: 'dearer bank' };
    const { crypto, fiat, id: _, ...terms } = market;
    const now = { ...terms, crypto: crypto.code, fiat: fiat.code };
    const before = await db.asSystem((tx) => marketChanges(tx, { marketId: market.id, limit: 100 }));
    await db.asSystem(async (tx) => {
      await upsertMarket(tx, now, reason);
      await upsertMarket(tx, { ...now, maxUnits: now.maxUnits + 1n }, reason);
      const fee = { marketId: market.id, partnerId: null, kind: 'rail', fixedUnits: 590n } as const;
      await setFee(tx, fee, reason);
      await setFee(tx, fee, reason);
      await setLimit(tx, { marketId: market.id, level: 3, maxUnits: 7n }, { by: 'ben', why: 'a scare' });
    });
    const changes = await db.asSystem((tx) => marketChanges(tx, { marketId: market.id, limit: 100 }));
    assert.deepEqual(
      changes.slice(0, changes.length - before.length).map((one) => [one.what, one.item, one.by, one.why]),
      [
        ['limit', '3', 'ben', 'a scare'],
        ['fee', 'rail', 'anna', 'dearer bank'],
        ['market', '', 'anna', 'dearer bank'],
      ],
    );
    const [limit, , change] = changes;
    assert.equal(limit?.before, null);
    assert.match(limit?.after ?? '', /"max_units": 7\b/);
    assert.match(change?.before ?? '', /"max_units": 10000000000\b/);
    assert.match(change?.after ?? '', /"max_units": 10000000001\b/);
    const caps = (await db.asSystem((tx) => marketChanges(tx, { limit: 100 }))).filter(
      ({ what }) => what === 'exposure',
    );
    assert.deepEqual(
      caps.map(({ item, by, partnerId, after }) => [item, by, partnerId, after === null]),
      [
        ['inr', 'the program', acme.partner.id, true],
        ['inr', 'the program', acme.partner.id, false],
        ['inr', 'the program', acme.partner.id, true],
        ['inr', 'treasurer', acme.partner.id, false],
      ],
    );
    for (const statement of ['update market_changes set why = $1', 'delete from market_changes where why <> $1']) {
      await assert.rejects(db.asSystem((tx) => tx.run(statement, ['nothing'])));
      await assert.rejects(world.query(statement, ['nothing']), /append-only/);
    }
    await assert.rejects(
      db.asPartner(acme.partner.id, (tx) => tx.rows('select from market_changes')),
      { code: '42501' },
    );
  });
});
