/**
 * Statements about an order are true: operators see who holds its money and what is next; its partner sees deposits, exceptions,
 * refunds and returned payouts, the same in every API and event.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { blockCustomer } from '../../src/customers/index.ts';
import { block, refundDeposit, releaseBlocked } from '../../src/orders/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import type { Came } from '../support/client.ts';
import { operatorIn } from '../support/staffed.ts';
import { openStory, type Purchase, type Sale, type Story } from '../support/story.ts';

let world: Story;
let ada: Person;
before(async () => {
  world = await openStory();
  ada = await operatorIn(world, 'ada', 'admin');
});
after(async () => await world?.close());

type Order = Sale | Purchase;
const side = (order: Order) => ('address' in order ? 'onramp' : 'offramp');
const asked = (order: Order) => ({ customerId: order.customerId, transactionId: String(order.id) });
/** The answer to the partner's request for the order; for a sale also its transaction. */
const asks = (order: Order) => world.told<Came>(`${side(order)}/refunds`, asked(order));
const gets = (order: Order) => world.told<Came>(`${side(order)}/transaction`, asked(order));
/** The newest event about the order from the feed, once everything that happened so far has its position there. */
async function hears(order: Order): Promise<Came> {
  await world.until('all events are published', async () =>
    world.read(async (tx) => (await tx.row('select from event_feed where position is null limit 1')) === undefined),
  );
  let found: Came;
  for (let after = ''; ; ) {
    const { body } = await world.partner.get(`/v1/events?limit=500${after === '' ? '' : `&after=${after}`}`);
    const { events, next, hasMore } = body.data;
    found = events.findLast((event: Came) => event.subject === `order:${order.id}`) ?? found;
    if (hasMore !== true) return found;
    after = next;
  }
}
const traced = async (order: Order): Promise<Came> => (await ada.reads(`/orders/${order.id}/trace`)).body;
const actions = (order: Order) => ({ orderId: order.id, by: 'a person', why: 'looked at', now: world.clock.now() });
const names = (order: Order, to: Record<string, string>) =>
  world.partner.put(`${side(order)}/refundDestination`, { ...asked(order), ...to });

async function sold(how: Parameters<Story['sells']>[2] = {}): Promise<Sale> {
  const order = await world.sells('10', 'usdc', how);
  await world.pays(order, '10');
  await world.mines(2);
  return order;
}

test('partner and operators see that we hold a returned payout until it is paid again', async () => {
  const customer = await world.verifiedCustomer({ ending: '9002' });
  const order = await sold({ customer });
  await world.opensCase(order, 'payout_returned');
  const trace = await traced(order);
  assert.equal(trace.heldBy, 'us, for the customer (the payout, which came back)');
  assert.match(trace.next, /the customer or its partner names a destination/);
  const told = await asks(order);
  assert.equal(told.reason, 'payout_returned');
  assert.equal(told.needsDestination, true);
  assert.deepEqual(
    told.returnedPayouts.map(({ amount, currency, reason }: Came) => [amount, currency, reason]),
    [[order.toAmount, 'INR', 'account_closed']],
  );
  assert.deepEqual(
    told.refunds.map(({ kind, status, amount }: Came) => [kind, status, amount]),
    [['payout', 'needs_destination', order.toAmount]],
  );
  const got = await gets(order);
  assert.equal(got.status, '6', 'the status shown went back');
  const { receivedAmount, reason, needsDestination, refunds, returnedPayouts } = got;
  assert.deepEqual(
    { receivedAmount, reason, needsDestination, refunds, returnedPayouts },
    {
      receivedAmount: '10',
      reason: told.reason,
      needsDestination: true,
      refunds: told.refunds,
      returnedPayouts: told.returnedPayouts,
    },
  );
  const { data } = await hears(order);
  assert.deepEqual(
    [data.reason, data.needsDestination, data.refunds[0].status, data.returnedPayouts[0].amount],
    ['payout_returned', true, 'needs_destination', order.toAmount],
  );
  const { fiatAccountId } = await world.verifiedAccount(customer.id);
  assert.equal((await names(order, { fiatAccountId })).status, 200);
  await world.until('the partner hears that it was paid again', async () => {
    await world.looksAtTheBank();
    const [again] = (await hears(order)).data.refunds;
    return again?.status === 'settled' && again.fiatAccountId === fiatAccountId && again.reference !== '';
  });
  const over = await traced(order);
  assert.deepEqual([over.heldBy, over.next], ['the customer (the payout)', 'nothing: it is over']);
  assert.equal((await asks(order)).needsDestination, false);
});

test('an attempt under review does not show the reference of the returned attempt before it', async () => {
  const customer = await world.verifiedCustomer({ ending: '9002' });
  const order = await sold({ customer });
  await world.opensCase(order, 'payout_returned');
  const again = async (fiatAccountId: string, status: string): Promise<Came> => {
    assert.equal((await names(order, { fiatAccountId })).status, 200);
    return await world.until(`the second payment is ${status}`, async () => {
      await world.looksAtTheBank();
      const [refund] = (await asks(order)).refunds;
      return refund.status === status ? refund : undefined;
    });
  };
  const closed = await world.told<{ fiatAccountId: string }>('bank/addFiatAccount', {
    ...{ customerId: customer.id, fiatAccount: '000123459002', ifsc: 'HDFC0000001' },
  });
  const { fiatAccountId } = await world.verifiedAccount(customer.id);
  const { reference } = await again(closed.fiatAccountId, 'returned');
  assert.notEqual(reference, '');
  await world.read((tx) => blockCustomer(tx, customer.id, world.clock.now()));
  assert.equal(
    (await again(fiatAccountId, 'under_review')).reference,
    '',
    'an attempt that has not left has a reference',
  );
  assert.equal(
    (await asks(order)).returnedPayouts.at(-1).reference,
    reference,
    'the returned payout has lost its reference',
  );
});

test('a partial deposit is shown as held by us and not as under way, and the partner sees its amount', async () => {
  const order = await world.sells('10', 'usdc');
  await world.pays(order, '4');
  await world.mines(2);
  await world.until('the part is booked', async () => (await world.traceOf(order)).order.exception === 'underpaid');
  const trace = await traced(order);
  assert.equal(trace.heldBy, 'us, for the customer (4 usdc.matic20 of 10)');
  assert.match(trace.next, /the customer pays the missing 6 usdc\.matic20 before the deadline/);
  assert.match(trace.otherwise, /the order is underpaid/);
  const told = await asks(order);
  assert.deepEqual([told.receivedAmount, told.receivedCurrency, told.reason], ['4', 'USDC', 'underpaid']);
  assert.deepEqual([(await hears(order)).data.receivedAmount, (await gets(order)).receivedAmount], ['4', '4']);
  await world.pays(order, '6');
  await world.mines(2);
  await world.reaches(order, 6);
  assert.equal((await asks(order)).receivedAmount, '10');
});

test('a second deposit in suspense is shown as held by us, and its refund with amount, destination and hash', async () => {
  const order = await sold();
  await world.reaches(order, 6);
  await world.pays(order, '7');
  await world.mines(2);
  await world.opensCase(order, 'deposit_second');
  const [, second] = (await world.traceOf(order)).deposits;
  const trace = await traced(order);
  assert.equal(
    trace.heldBy,
    `the customer (the payout); us, in suspense: 7 usdc.matic20 (deposit ${second?.id}, second)`,
  );
  assert.match(trace.next, /^a person decides about deposit \d+: see its case$/);
  assert.deepEqual([(await asks(order)).reason, (await asks(order)).receivedAmount], ['second_payment', '17']);
  await world.read((tx) => refundDeposit(world.server.orders, tx, { depositId: second?.id ?? 0n, ...actions(order) }));
  assert.match((await traced(order)).next, /the customer or its partner names a destination/);
  assert.deepEqual((await hears(order)).data.refunds[0].status, 'needs_destination');
  const address = world.newAddress();
  assert.equal((await names(order, { address })).status, 200);
  await world.until('the partner hears that it went back', async () => {
    await world.mines(1);
    return (await hears(order)).data.refunds[0]?.status === 'settled';
  });
  const [refund] = (await asks(order)).refunds;
  const limited = await world.told<Came>('offramp/refunds', { ...asked(order), before: refund.refundId, limit: '1' });
  assert.deepEqual(limited.refunds, [], 'the list has a refund older than the limit');
  const odd = await world.partner.post('offramp/refunds', { ...asked(order), before: 'x', limit: '101' });
  assert.equal(odd.status, 400, odd.text);
  assert.deepEqual(
    [refund.kind, refund.amount, refund.currency, refund.chain, refund.address],
    ['refund', '7', 'USDC', 'matic20', address],
  );
  assert.match(refund.reference, /^0x[0-9a-f]{64}$/);
  assert.equal((await traced(order)).next, 'nothing: it is over');
});

test('an order blocked by law is shown as under review, and normally once it was released', async () => {
  const held = await sold({ reference: 'screen:hold' });
  await world.reaches(held, 3);
  const before = await asks(held);
  assert.equal(before.reason, 'under_review', 'the partner can see the screening hit');
  const last = await hears(held);
  await world.read((tx) => block(world.server.orders, tx, actions(held)));
  assert.deepEqual(await asks(held), before, 'a legal block looks different from a review');
  assert.deepEqual(await hears(held), last, 'a legal block was announced');
  assert.equal(last.data.state, 'on_hold');
  await world.read((tx) => releaseBlocked(world.server.orders, tx, { ...actions(held), legalAct: 'order 12/2026' }));
  const trace = await traced(held);
  assert.equal(trace.heldBy, 'us, for the customer (released by law)');
  assert.match(trace.next, /the customer or its partner names a destination/);
  const heard = await hears(held);
  assert.deepEqual(
    [heard.type, heard.data.state, heard.data.reason, heard.data.needsDestination],
    ['order.changed', 'on_hold', 'under_review', true],
  );
  for (const spelt of [(text: string) => text, (text: string) => `0x${text.slice(2).toLowerCase()}`]) {
    const token = await names(held, { address: spelt(world.tokenAddress('usdc', 'matic20')) });
    assert.deepEqual(
      [token.status, token.body.fields],
      [400, { address: 'must not be the contract of a token' }],
      'a token contract was accepted as the destination, where the tokens would be lost',
    );
  }
  assert.equal((await names(held, { address: world.newAddress() })).status, 200);
  await world.until('it went back', async () => {
    await world.mines(1);
    return (await hears(held)).data.refunds[0]?.status === 'settled';
  });
  const over = await traced(held);
  assert.deepEqual([over.heldBy, over.next], ['the customer (released by law)', 'nothing: it is over']);
  // No event that a partner can pull tells which of its orders are blocked by law.
  const { text } = await world.partner.get('/v1/events?limit=500');
  assert.doesNotMatch(text, /frozen|screening|blocked|denied|legal/);
});

test('requests of a partner for an order blocked by law are answered as for an order under review', async () => {
  const customer = await world.verifiedCustomer();
  const bought = async () => {
    const order = await world.buys('1000', 'usdc', { customer, reference: 'screen:hold' });
    await world.credits(order, '1000');
    await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
    return order;
  };
  const sales = [await sold({ reference: 'screen:hold' }), await sold({ reference: 'screen:hold' })] as const;
  for (const sale of sales) await world.reaches(sale, 3);
  const purchases = [await bought(), await bought()] as const;
  for (const [stopped] of [sales, purchases])
    await world.read((tx) => block(world.server.orders, tx, actions(stopped)));
  const address = world.newAddress();
  const { fiatAccountId } = customer;
  const said = ({ status, body }: Came) => [status, body.reason];
  for (const [stopped, looked] of [sales, purchases]) {
    const of = (order: Order) => ('address' in order ? { fiatAccountId } : { address });
    const [named, other] = [await names(stopped, of(stopped)), await names(looked, of(looked))];
    assert.deepEqual(said(named), said(other), `naming a destination reveals a legal block: ${named.text}`);
  }
  const claims = (order: Order) =>
    world.partner.put('onramp/referenceId', { ...asked(order), referenceId: '0000111122' });
  const details = (order: Order) =>
    world.partner.post('bank/bankDetails', { ...asked(order), fromCurrency: 'INR', paymentMethodType: 'UPI' });
  for (const asks of [claims, details]) {
    const [stopped, looked] = [await asks(purchases[0]), await asks(purchases[1])];
    assert.deepEqual(said(stopped), said(looked), `the answer reveals a legal block: ${stopped.text}`);
  }

  await world.goesBy('offramp', 'usdc', { underpaid: { acceptBps: 0, beyond: 'refund' } });
  const short = await world.sells('10', 'usdc');
  await world.goesBy('offramp', 'usdc', {});
  await world.pays(short, '4');
  await world.mines(2);
  await world.until('the part is booked', async () => (await world.traceOf(short)).order.exception === 'underpaid');
  await world.deadlinePasses();
  await world.until('it waits for a destination', async () => (await asks(short)).needsDestination === true);
  const before = await asks(short);
  await world.read((tx) => block(world.server.orders, tx, actions(short)));
  assert.deepEqual(await asks(short), before, 'a legal block changed what the partner is asked for');
});

test('a refund without a destination goes to the one that the customer has named before', async () => {
  const address = world.newAddress();
  const order = await sold({ reference: 'screen:hold', refundAddress: address });
  await world.reaches(order, 3);
  const unnamed = await sold({ reference: 'screen:hold' });
  await world.reaches(unnamed, 3);
  const nowhere = await ada.does(`/orders/${unnamed.id}/refund`, { failure: 'other' });
  assert.deepEqual([nowhere.status, (await asks(unnamed)).needsDestination], [200, true]);
  const past = await ada.does(`/orders/${order.id}/refund`, { failure: 'other', pastHits: true });
  assert.equal(past.status, 400, 'hits were passed for a destination that the action does not name');
  const said = await ada.does(`/orders/${order.id}/refund`, { failure: 'other' });
  assert.equal(said.status, 200, JSON.stringify(said.body));
  await world.refundArrives(order, -2);
  assert.equal(await world.tokensOf(address, 'usdc'), '10');
  assert.deepEqual(
    (await asks(order)).refunds.map(({ status, amount, address: to }: Came) => [status, amount, to]),
    [['settled', '10', address]],
  );
});

test('the call for a purchase shows the same, and its transaction keeps the interface’s eleven fields', async () => {
  const customer = await world.verifiedCustomer();
  const order = await world.buys('5000', 'usdc', { customer });
  await world.credits(order, '2000');
  await world.until('the part is booked', async () => (await world.traceOf(order)).order.exception === 'underpaid');
  assert.equal(Object.keys(await gets(order)).length, 11);
  const told = await asks(order);
  assert.deepEqual([told.receivedAmount, told.receivedCurrency, told.reason], ['2000', 'INR', 'underpaid']);
  const other = await world.partner.post('onramp/refunds', { ...asked(order), customerId: 'ABCDEFGHIJ_1' });
  assert.equal(other.status, 404);
  assert.equal((await world.otherPartner.post('onramp/refunds', asked(order))).status, 404);
});

test('the page of an order shows an operator amounts in one scale', async () => {
  const order = await sold();
  await world.reaches(order, 6);
  const { body } = await ada.reads(`/orders/${order.id}/timeline`);
  const confirmed = body.lines.find(({ what }: Came) => what.startsWith('deposit_confirmed:'));
  assert.match(confirmed.what, /10 usdc\.matic20/);
  assert.doesNotMatch(JSON.stringify(body.lines), /10000000/);
  assert.doesNotMatch(JSON.stringify((await traced(order)).history), /10000000/);
});
