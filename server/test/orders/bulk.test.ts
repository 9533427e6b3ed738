/**
 * Bulk operations on all unpaid orders of a span: once per order, however often they are interrupted, and never for a paid one.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseRate } from '../../src/base/money.ts';
import { type OrdersContext } from '../../src/orders/context.ts';
import { beginBulk, bulkOf, orderHandlers, unpaidOrders } from '../../src/orders/index.ts';
import { findMarket, type Market, setExposureCap, upsertMarket } from '../../src/partners/index.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../protocols/whitelabel/environment.ts';
import { gateRules } from '../support/gate.ts';

let world: Environment;
let acme: TestPartner;
let other: TestPartner;
let market: Market;
let context: OrdersContext;

before(async () => {
  world = await wireEnvironment();
  acme = await world.partner('acme');
  other = await world.partner('other');
  market = await world.db.asSystem((tx) =>
    findMarket(tx, { direction: 'offramp', coin: 'usdc', fiat: 'inr', chain: 'matic20' }),
  );
  const { db, clock, log, vault } = world;
  const screener = undefined as unknown as OrdersContext['screener'];
  context = { db, clock, log, rails: new Map(), screener, vault, gate: gateRules(vault) };
});
after(async () => await world?.stop());

const PAIR = { fromCurrency: 'usdc', toCurrency: 'inr', chain: 'matic20' };
async function sells(partner: TestPartner, fromAmount = '10'): Promise<bigint> {
  const { customerId, fiatAccountId } = partner;
  const asked = { ...PAIR, fromAmount, customerId, fiatAccountId };
  const { status, body, text } = await partner.post('offramp/createTransaction', asked);
  assert.equal(status, 200, text);
  return BigInt(body.data.transactionId);
}
/** Everything made from here on, except orders made after the request. */
async function spanFrom(from: Date) {
  world.clock.advance(1);
  return { marketId: market.id, partnerId: null, from, until: world.clock.now() };
}
const now = (): Date => {
  world.clock.advance(1);
  return world.clock.now();
};
type Kind = 'cancel' | 'requote';
const begin = async (kind: Kind, from: Date, over: { partnerId?: bigint } = {}): Promise<string> => {
  const input = { ...(await spanFrom(from)), ...over, kind, by: 'ada', people: ['ada', 'bea'], why: 'a wrong price' };
  return String(await world.db.asSystem((tx) => beginBulk(tx, { ...input, now: world.clock.now() })));
};
const work = async (id: string) => await orderHandlers(context).bulk_orders?.(id);
const told = async (id: string) => {
  const bulk = await world.db.asSystem((tx) => bulkOf(tx, BigInt(id)));
  assert.ok(bulk);
  const { changed, leftAlone, refused } = bulk;
  return { changed, leftAlone, refused, isOver: bulk.endedAt !== null };
};
const states = async (ids: readonly bigint[]): Promise<string[]> => {
  const rows = await world.query('select state from orders where id = any($1) order by id', [ids.map(String)]);
  return rows.map(({ state }) => state);
};
const steps = async (event: string, ids: readonly bigint[]): Promise<number> => {
  const rows = await world.query('select from order_history where event = $1 and order_id = any($2)', [
    event,
    ids.map(String),
  ]);
  return rows.length;
};

test('a large operation is done in parts, by two concurrent workers, and each order once', async () => {
  const from = now();
  const ids: bigint[] = [];
  for (let n = 0; n < 60; n += 1) ids.push(await sells(acme));
  const id = await begin('cancel', from);
  assert.deepEqual(await work(id), { againInMs: 0 });
  assert.deepEqual(await told(id), { changed: 50, leftAlone: 0, refused: 0, isOver: false });
  assert.deepEqual(await Promise.all([work(id), work(id)]), [undefined, undefined]);
  assert.equal(await work(id), undefined, 'work is left after all parts');
  assert.deepEqual(await told(id), { changed: 60, leftAlone: 0, refused: 0, isOver: true });
  assert.deepEqual(new Set(await states(ids)), new Set(['cancelled']));
  assert.equal(await steps('cancelled', ids), 60);
  const [{ facts } = { facts: undefined }] = await world.query(
    `select facts from order_history where event = 'cancelled' and order_id = $1`,
    [String(ids[0])],
  );
  assert.deepEqual([facts.by, facts.why], ['ada', 'a wrong price']);
});

test('an order with a seen deposit is neither listed nor changed; one whose deposit was reversed is', async () => {
  const from = now();
  const [paid, back, free] = [await sells(acme), await sells(acme), await sells(acme)];
  for (const [order, state] of [
    [paid, 'confirmed'],
    [back, 'reversed'],
  ] as const)
    await world.query(
      `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, reference, seen_at)
       values ('evm.matic20', $1, 'usdc.matic20', 1, '', $2, $3, $4, '', now())`,
      [`seen ${order}`, String(order), String(acme.partner.id), state],
    );
  const span = await spanFrom(from);
  const listed = await world.db.asSystem((tx) => unpaidOrders(tx, { ...span, after: 0n, limit: 10 }));
  assert.deepEqual(
    listed.map((one) => one.id),
    [back, free],
  );
  const id = await begin('cancel', from);
  await work(id);
  assert.deepEqual(await states([paid, back, free]), ['created', 'cancelled', 'cancelled']);
});

test('covers one partner only, if one is named, and the span only', async () => {
  const early = await sells(acme);
  const from = now();
  const [mine, theirs] = [await sells(acme), await sells(other)];
  const id = await begin('cancel', from, { partnerId: other.partner.id });
  const late = await sells(other);
  await work(id);
  assert.deepEqual(await states([early, mine, theirs, late]), ['created', 'created', 'cancelled', 'created']);
});

test('are requoted at the present price; left alone if they have it already; refused if the limits forbid it', async () => {
  const from = now();
  world.source.move('usdc', 'inr', parseRate('129'));
  await world.refreshPrices();
  const [dear, small] = [await sells(acme, '100'), await sells(acme, '10')];
  world.source.move('usdc', 'inr', undefined);
  await world.refreshPrices();
  const right = await sells(acme, '100');
  const { id: _, crypto, fiat, ...terms } = market;
  const codes = { crypto: crypto.code, fiat: fiat.code };
  await world.db.asSystem((tx) => upsertMarket(tx, { ...terms, ...codes, minUnits: 50_000_000n }));
  const id = await begin('requote', from);
  await work(id);
  await world.db.asSystem((tx) => upsertMarket(tx, { ...terms, ...codes }));
  assert.deepEqual(await told(id), { changed: 1, leftAlone: 1, refused: 1, isOver: true });
  const quotes = await world.query('select id from quotes where order_id = $1', [String(right)]);
  assert.equal(quotes.length, 1, 'an order that was left alone has a quote that it does not use');
  const rows = await world.query(
    'select rate_num::text as rate, deposit_units::text as units, state from orders where id = any($1) order by id',
    [[dear, small, right].map(String)],
  );
  assert.deepEqual(rows, [
    { rate: '86', units: '100000000', state: 'created' },
    { rate: '129', units: '10000000', state: 'created' },
    { rate: '86', units: '100000000', state: 'created' },
  ]);
  const [{ taken } = { taken: '' }] = await world.query(
    'select q.order_id::text as taken from orders o join quotes q on q.id = o.quote_id where o.id = $1',
    [String(dear)],
  );
  assert.equal(taken, String(dear), 'the order has no quote of its own');
});

test('requoting waits while the price is halted, and continues from its position', async () => {
  const from = now();
  world.source.move('usdc', 'inr', parseRate('129'));
  await world.refreshPrices();
  const ids = [await sells(acme, '100'), await sells(acme, '100')];
  world.source.move('usdc', 'inr', parseRate('8600'));
  await world.refreshPrices();
  const id = await begin('requote', from);
  await assert.rejects(work(id), { reason: 'price_halted' });
  assert.deepEqual(await told(id), { changed: 0, leftAlone: 0, refused: 0, isOver: false });
  world.source.move('usdc', 'inr', undefined);
  await world.query('delete from price_levels');
  await world.refreshPrices();
  await work(id);
  assert.deepEqual(await told(id), { changed: 2, leftAlone: 0, refused: 0, isOver: true });
  assert.equal(await steps('requoted', ids), 2);
});

test('a requote that promises more fits the exposure cap of the partner, or leaves the order as it is', async () => {
  const capped = await world.partner('capped');
  const cap = (maxUnits: bigint | null) =>
    world.db.asSystem((tx) => setExposureCap(tx, { partnerId: capped.partner.id, fiat: 'inr', maxUnits }));
  const from = now();
  world.source.move('usdc', 'inr', parseRate('60'));
  await world.refreshPrices();
  const orders = [await sells(capped, '100'), await sells(capped, '100')];
  world.source.move('usdc', 'inr', undefined);
  await world.refreshPrices();
  // 12,000 are promised. At 86 each order promises 2,600 more.
  await cap(1_500_000n);
  const rates = async () =>
    (
      await world.query('select rate_num::text as rate from orders where id = any($1) order by id', [
        orders.map(String),
      ])
    ).map(({ rate }) => rate);
  const first = await begin('requote', from, { partnerId: capped.partner.id });
  await work(first);
  assert.deepEqual(await told(first), { changed: 1, leftAlone: 0, refused: 1, isOver: true });
  assert.deepEqual(await rates(), ['86', '60']);
  await cap(null);
  const second = await begin('requote', from, { partnerId: capped.partner.id });
  await work(second);
  assert.deepEqual(await told(second), { changed: 1, leftAlone: 1, refused: 0, isOver: true });
  assert.deepEqual(await rates(), ['86', '86']);
});
