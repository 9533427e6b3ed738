/**
 * What stops refunds that have not left: a hold of their order stops its own parts and names those that are too late, and a reversed
 * deposit stops the refund of money that the law has released, before it is decided whether the customer owes.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findCustomer } from '../../src/customers/index.ts';
import { balance, chart } from '../../src/ledger/index.ts';
import type { Action } from '../../src/orders/context.ts';
import {
  block,
  holdBack,
  nameDestination,
  type Order,
  refundDeposit,
  refundOrder,
  releaseBlocked,
  trace,
} from '../../src/orders/index.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openSaleEnvironment } from '../support/sale.environment.ts';

const RAIL = 'evm.test';
const ASSET = 'usdc.test';
const PART = 300_000n;
const HOME = { address: '0xhome' };

let fixture: Fixture;
let sale: Awaited<ReturnType<typeof openSaleEnvironment>>;
/** Whether the rail takes an accepted payout off its list, because nobody has sent it yet. */
let isListed = false;
before(async () => {
  fixture = await freshFixture();
  sale = await openSaleEnvironment(fixture);
  const rail: Partial<Rail> = {
    chain: 'test',
    readAddress: (text) => text,
    send: async ({ key }) => ({ outcome: 'submitted', reference: key }),
    unlist: async () => isListed,
  };
  Object.assign(sale.context.rails.get(RAIL) ?? {}, rail);
  sale.gate.ask = async () => ({ outcome: 'pay' });
});
after(() => fixture?.stop());

const asSystem: Fixture['db']['asSystem'] = (work) => fixture.db.asSystem(work);
const action = ({ id }: Order): Action => ({ orderId: id, by: 'ada', why: 'a look', now: fixture.clock.now() });
const traced = ({ id }: Order) => asSystem((tx) => trace(tx, id));
const holds = (order: Order) => asSystem((tx) => holdBack(sale.context, tx, action(order)));
const unitsOn = async (account: ReturnType<typeof chart.loss>) => (await asSystem((tx) => balance(tx, account))).units;
const openCasesOf = async ({ id }: Order): Promise<string[]> =>
  (
    await asSystem((tx) =>
      tx.rows<{ kind: string }>('select kind from cases where order_id = $1 and closed_at is null order by kind', [id]),
    )
  ).map(({ kind }) => kind);

const held = async () => ({
  loss: await unitsOn(chart.loss(ASSET)),
  suspense: await unitsOn(chart.suspense(RAIL, ASSET)),
  custody: await unitsOn(chart.custody(RAIL, 'main', ASSET)),
});

/** A held sale whose deposits of this amount each make it up. */
async function heldSale(parts: number): Promise<Order> {
  const order = await sale.sells(PART * BigInt(parts));
  for (let part = 0; part < parts; part += 1) await sale.pays(order, PART);
  await holds(order);
  assert.equal(await sale.stateOf(order), 'on_hold');
  return order;
}
const refundStates = async (order: Order) => (await traced(order)).refunds.map(({ source, state }) => [source, state]);

async function screens(refundId: bigint): Promise<string> {
  await sale.handlers().screen_refund?.(String(refundId));
  const key = (await asSystem((tx) => tx.row<{ key: string }>('select key from refunds where id = $1', [refundId])))
    ?.key;
  assert(key, 'the refund was not created');
  return key;
}
const submits = async (key: string) => void (await sale.handlers().send_payout?.(key));
const settles = (key: string) =>
  asSystem((tx) => sale.report(tx, { type: 'payout_settled', rail: RAIL, key, reference: '0x2' }));
const reverses = (externalId: string | undefined) => {
  assert(externalId !== undefined);
  return asSystem((tx) => sale.report(tx, { type: 'deposit_reversed', rail: RAIL, externalId, why: 'a reorg' }));
};

test('a hold cancels the parts that are not submitted and names the submitted one; others of the order go on', async () => {
  isListed = false;
  const order = await heldSale(3);
  await sale.pays(order, PART);
  await refundOrder(sale.context, action(order), { failure: 'other', ...HOME });
  const [paid, late, stopped] = (await traced(order)).refunds;
  assert(paid?.key && late?.key && stopped?.key);
  await submits(paid.key);
  await settles(paid.key);
  await submits(late.key);
  const second = (await traced(order)).deposits.at(-1);
  assert(second?.state === 'suspense');
  const asked = { depositId: second.id, to: HOME, by: 'ada', why: 'second', now: fixture.clock.now() };
  const other = await asSystem((tx) => refundDeposit(sale.context, tx, asked));
  await screens(other.id);

  const { notCancelled } = await holds(order);
  assert.deepEqual(notCancelled, [late.key]);
  assert.deepEqual(await refundStates(order), [
    ['order', 'settled'],
    ['order', 'submitted'],
    ['order', 'rejected'],
    ['suspense', 'created'],
  ]);
  const tooLate = await asSystem((tx) =>
    tx.rows<{ subject: string }>("select subject from cases where kind = 'hold_too_late' and order_id = $1", [
      order.id,
    ]),
  );
  assert.deepEqual(tooLate, [{ subject: `refund:${late.id}` }]);
});

/** Blocks a held sale by law and releases it: its money is in suspense, with a refund to HOME. */
async function releases(order: Order) {
  await asSystem((tx) => block(sale.context, tx, action(order)));
  await asSystem((tx) => releaseBlocked(sale.context, tx, { ...action(order), legalAct: 'court 1/2026' }));
  const now = fixture.clock.now();
  await asSystem((tx) => nameDestination(sale.context, tx, { orderId: order.id, to: HOME, by: 'operator', now }));
  const { deposits, refunds } = await traced(order);
  const released = deposits.find(({ origin }) => origin === 'released');
  const refund = refunds.find(({ depositId }) => depositId === released?.id);
  assert(released !== undefined && refund !== undefined);
  return { released, refund };
}

test('a refund of released money that its rail still lists is taken off: the reversed deposit is no debt, and nobody is blocked', async () => {
  isListed = true;
  const order = await heldSale(1);
  const { refund, released } = await releases(order);
  await submits(await screens(refund.id));
  const [deposit] = (await traced(order)).deposits;
  await reverses(deposit?.externalId);
  const after = await traced(order);
  assert.deepEqual(
    after.refunds.map(({ state }) => state),
    ['cancelled'],
  );
  assert.deepEqual(
    after.deposits.map(({ state }) => state),
    ['reversed', 'reversed'],
  );
  assert.equal(released.units, PART);
  assert.equal((await asSystem((tx) => findCustomer(tx, order.customerId))).blocked, false);
  assert.equal(await unitsOn(chart.receivable(order.customerId, order.partnerId, ASSET)), 0n);
  assert.deepEqual(await openCasesOf(order), []);
});

test('released money covers the deposit that was reversed after the release, not one that was replaced or given up before', async () => {
  isListed = true;
  const order = await heldSale(3);
  const before = await held();
  const [replaced, givenUp, lost] = (await traced(order)).deposits;
  await reverses(replaced?.externalId);
  // The same transaction again: it replaces the first.
  await sale.pays(order, PART);
  await reverses(givenUp?.externalId);
  const { released, refund } = await releases(order);
  assert.equal(released.units, 2n * PART);
  await screens(refund.id);
  await reverses(lost?.externalId);

  const after = await traced(order);
  assert.deepEqual(
    after.deposits.map(({ state, lostUnits, takenUnits }) => ({ state, lostUnits, takenUnits })),
    [
      { state: 'reversed', lostUnits: 0n, takenUnits: 0n },
      { state: 'lost', lostUnits: PART, takenUnits: 0n },
      { state: 'reversed', lostUnits: 0n, takenUnits: 0n },
      { state: 'applied', lostUnits: 0n, takenUnits: PART },
      { state: 'suspense', lostUnits: 0n, takenUnits: PART },
    ],
  );
  assert.deepEqual(
    after.refunds.map(({ state, grossUnits }) => ({ state, grossUnits })),
    [
      { state: 'cancelled', grossUnits: 2n * PART },
      { state: 'needs_destination', grossUnits: PART },
    ],
  );
  const { loss, suspense, custody } = before;
  assert.deepEqual(await held(), { loss, suspense: suspense + PART, custody: custody - 2n * PART });
});
