/** Operators with real money: a second person for large amounts, kill switches, the timeline of an order, the terminal. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { openTyped } from '../../src/base/typed.ts';
import type { Role } from '../../src/operators/index.ts';
import { type Person, takes } from '../protocols/operator/people.ts';
import { findInDump } from '../support/dump.ts';
import { heldSale } from '../support/orders.ts';
import { operatorIn } from '../support/staffed.ts';
import { openStory, type Purchase, type Sale, type Story } from '../support/story.ts';
import { type Ended, operatorTypes } from '../support/terminal.ts';

let world: Story;
let ada: Person;
let bea: Person;
/** A new operator in every test, because the amounts that one person decides alone in a day add up. */
let finn: Person;
let vic: Person;
let finns = 0;

const named = (name: string, role: Role) => operatorIn(world, name, role);

before(async () => {
  world = await openStory({ operators: 'two' });
  ada = await named('ada', 'admin');
  bea = await named('bea', 'admin');
  vic = await named('vic', 'viewer');
  // Amounts above fifty take two people.
  await world.read(async (tx) => {
    for (const action of ['*', 'release.screening_hit', 'destination.new'])
      await takes(tx, 2, {
        action,
        asset: 'usdc.matic20',
        above: 50_000_000n,
        ...(action === '*' ? { right: 'money' } : {}),
      });
  });
});
after(async () => await world?.close());
beforeEach(async () => void (finn = await named(`finn${(finns += 1)}`, 'finance')));

const held = async (amount: string): Promise<Sale> => (await heldSale(world, amount)).order;
const auditOf = async (order: Sale) =>
  (await vic.reads(`/audit?subject=order:${order.id}`)).body.audit.map((row: Record<string, string>) => [
    row.action,
    row.outcome,
    row.operator,
  ]);

describe('an action above the limit', () => {
  test('is done once when another person confirms it, even several times at once, and never by its own proposer', async () => {
    const order = await held('100');
    const said = await finn.does(`/orders/${order.id}/release`, { reason: 'papers are in order' });
    assert.deepEqual([said.status, said.body.outcome], [202, 'proposed']);
    assert.equal(await world.stateOf(order), 'on_hold');
    assert.equal((await finn.does(`/orders/${order.id}/release`)).body.reason, 'proposal_exists');
    const confirm = `/proposals/${said.body.proposal}/confirm`;
    assert.equal((await finn.does(confirm)).body.reason, 'own_proposal');
    assert.equal((await vic.does(confirm)).body.reason, 'role_missing');
    const both = await Promise.all([ada.does(confirm), bea.does(confirm), ada.does(confirm), bea.does(confirm)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409, 409, 409]);
    await world.reaches(order, 6);
    const confirmer = both[0]?.status === 200 || both[2]?.status === 200 ? 'ada' : 'bea';
    assert.deepEqual(await auditOf(order), [
      ['order.release', 'done', confirmer],
      ['order.release', 'confirmed', confirmer],
      ['order.release', 'proposed', finn.name],
    ]);
    const release = (await world.traceOf(order)).history.find(({ event }) => event === 'released');
    assert.equal(release?.facts.by, confirmer);
    const why = openTyped(world.server.vault, String(release?.facts.why));
    assert.match(why, new RegExp(`papers are in order \\(proposed by ${finn.name}; a test\\)`));
  });

  test('is not done when the order has changed since the proposal, which becomes overtaken', async () => {
    const order = await held('100');
    const { proposal } = (await finn.does(`/orders/${order.id}/release`)).body;
    await world.rejects(order, { failure: 'other', address: world.newAddress() });
    const said = await ada.does(`/proposals/${proposal}/confirm`);
    assert.deepEqual([said.status, said.body.reason], [409, 'proposal_overtaken']);
    assert.equal((await vic.reads(`/proposals/${proposal}`)).body.state, 'overtaken');
    assert.equal((await ada.does(`/proposals/${proposal}/confirm`)).body.reason, 'proposal_over');
    await world.refundArrives(order, -2);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 0);
  });

  test('may be declined, and then proposed again', async () => {
    const order = await held('100');
    const { proposal } = (await finn.does(`/orders/${order.id}/release`)).body;
    assert.equal((await ada.does(`/proposals/${proposal}/decline`, { reason: 'no papers' })).status, 200);
    assert.equal(await world.stateOf(order), 'on_hold');
    assert.equal((await ada.does(`/orders/${order.id}/release`)).status, 202);
    assert.equal((await ada.does(`/orders/${order.id}/block`)).body.after.state, 'frozen');
    const legal = await ada.does(`/orders/${order.id}/release-blocked`, { legalAct: 'court 17/2026' });
    assert.equal(legal.status, 202, 'one person released a blocked order');
  });
});

describe('an action below the limit', () => {
  test('is done by one person: a deposit is refunded, and the audit shows it as begun and done', async () => {
    const order = await held('20');
    const address = world.newAddress();
    const nowhere = await finn.does(`/orders/${order.id}/refund`, { failure: 'name', pastHits: true });
    assert.equal(nowhere.status, 400);
    const others = await finn.does(`/orders/${order.id}/refund`, { failure: 'name', fiatAccountId: '1' });
    assert.equal(others.body.reason, 'unknown_account');
    const said = await finn.does(`/orders/${order.id}/refund`, { failure: 'name', address });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    await world.until('the refund has arrived', async () => (await world.stateOf(order)) === 'refunded');
    assert.equal(await world.tokensOf(address, 'usdc'), '20');
    assert.deepEqual(await auditOf(order), [
      ['order.refund', 'done', finn.name],
      ['order.refund', 'begun', finn.name],
    ]);
    assert.equal((await finn.does(`/orders/${order.id}/release`)).body.reason, 'order_over');
  });
});

describe('an action with an unknown outcome', () => {
  test('is in the audit only as begun, and may be done again', async () => {
    const order = await held('20');
    const { screener } = world.server.orders;
    const screen = screener.screen;
    const address = world.newAddress();
    screener.screen = async () => {
      screener.screen = screen;
      throw new Error('the connection was lost');
    };
    assert.equal((await finn.does(`/orders/${order.id}/refund`, { failure: 'name', address })).status, 500);
    const loud = world.complaints.findIndex((line) => /"msg":"operator request failed"/.test(line));
    assert.notEqual(loud, -1);
    world.complaints.splice(loud, 1);
    assert.deepEqual(await auditOf(order), [['order.refund', 'begun', finn.name]]);
    assert.equal((await finn.does(`/orders/${order.id}/refund`, { failure: 'name', address })).status, 200);
    await world.until('the refund has arrived', async () => (await world.stateOf(order)) === 'refunded');
  });
});

describe('a payout that the bank rejects', () => {
  test('is retried by an operator under a new id, and can be refunded when it is rejected again', async () => {
    const order = await world.sells('20', 'usdc', { customer: await world.verifiedCustomer({ ending: '9001' }) });
    assert.equal(
      (await finn.does(`/orders/${order.id}/retry`)).body.reason,
      'order_over',
      'a retry was accepted before the rejection',
    );
    await world.pays(order, '20');
    await world.mines(2);
    await world.until('it is refused', async () => (await world.stateOf(order)) === 'payout_held');
    const [{ id = 0 } = {}] = (await vic.reads('/cases?kind=payout_held')).body.cases;
    const said = await finn.does(`/orders/${order.id}/retry`, { reason: 'the bank says it was theirs' });
    assert.equal(said.body.after.state, 'paying_out', JSON.stringify(said.body));
    assert.match((await vic.reads(`/cases/${id}`)).body.outcome, new RegExp(`retried by ${finn.name}`));
    await world.until('it is refused again', async () => (await world.stateOf(order)) === 'payout_held');
    const { payouts } = await world.traceOf(order);
    assert.deepEqual(
      payouts.map((one) => [one.id, one.state]),
      [1, 2].map((attempt) => [`pay_${order.id}_${attempt}`, 'rejected']),
    );
    const address = world.newAddress();
    assert.equal((await finn.does(`/orders/${order.id}/refund`, { failure: 'other', address })).status, 200);
    await world.until('it is refunded', async () => (await world.stateOf(order)) === 'refunded');
    assert.equal(await world.tokensOf(address, 'usdc'), '20');
  });
});

describe('money in suspense', () => {
  test('from an overpaid order is refunded to the operator’s destination, once, and never more than is there', async () => {
    const order = await world.sells('20', 'usdc');
    await world.pays(order, '23');
    await world.mines(2);
    await world.reaches(order, 6);
    const [deposit] = (await world.traceOf(order)).deposits;
    const path = `/deposits/${deposit?.id}/refund`;
    const address = world.newAddress();
    assert.equal((await finn.does(path, { address, amount: '4' })).body.reason, 'refund_exceeds');
    assert.match((await finn.does(path, { address: '0x12' })).body.fields.address, /address on matic20/);
    assert.match((await finn.does(path, { address: order.depositAddress })).body.fields.address, /of ours/);
    assert.equal((await finn.does('/deposits/999999/refund', { address })).body.reason, 'unknown_deposit');
    const said = await finn.does(path, { address });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    await finn.does(path, { address });
    await world.until('it has arrived', async () => (await world.tokensOf(address, 'usdc')) === '3');
    const { refunds } = await world.traceOf(order);
    assert.deepEqual(
      refunds.map(({ requestedBy, netUnits }) => [requestedBy, netUnits]),
      [[finn.name, 3_000_000n]],
    );
  });
});

describe('a deposit that two operators refund at once', () => {
  test('goes back once, to the destination of one of them, and the other is refused', async () => {
    const order = await world.sells('20', 'usdc');
    await world.pays(order, '23');
    await world.mines(2);
    await world.reaches(order, 6);
    const path = `/deposits/${(await world.traceOf(order)).deposits[0]?.id}/refund`;
    const addresses = [world.newAddress(), world.newAddress()];
    const said = await Promise.all([
      finn.does(path, { address: addresses[0] }),
      ada.does(path, { address: addresses[1] }),
    ]);
    assert.deepEqual(said.map(({ status }) => status).sort(), [200, 409], JSON.stringify(said));
    const won = said.findIndex(({ status }) => status === 200);
    assert.equal(said[1 - won]?.body.reason, 'refund_under_way');
    await world.until('it has arrived', async () => (await world.tokensOf(addresses[won] ?? '', 'usdc')) === '3');
    assert.equal(await world.tokensOf(addresses[1 - won] ?? '', 'usdc'), '0');
    assert.equal((await world.traceOf(order)).refunds.length, 1);
  });
});

describe('the limit on refunds', () => {
  async function excessOf100(): Promise<{ order: Sale; path: string }> {
    const order = await world.sells('20', 'usdc');
    await world.pays(order, '120');
    await world.mines(2);
    await world.reaches(order, 6);
    return { order, path: `/deposits/${(await world.traceOf(order)).deposits[0]?.id}/refund` };
  }

  test('holds for a refund that waits, whatever amount is named with its destination, and for naming it by its order', async () => {
    const { order, path } = await excessOf100();
    const address = world.newAddress();
    const { proposal } = (await finn.does(path)).body;
    assert.equal((await ada.does(`/proposals/${proposal}/confirm`)).status, 200);
    assert.equal((await finn.does(path, { amount: '1', address })).status, 202);
    assert.equal((await finn.does(`/orders/${order.id}/destination`, { address })).status, 202);
    assert.deepEqual(
      (await world.traceOf(order)).refunds.map((one) => [one.state, one.address]),
      [['needs_destination', null]],
    );
    const whole = (await vic.reads('/proposals?state=open')).body.proposals.find(
      (one: { action: string }) => one.action === 'order.destination',
    );
    const part = await ada.does(`/proposals/${BigInt(whole.id) - 1n}/confirm`);
    assert.equal(
      part.body.reason,
      'refund_under_way',
      'a refund of another amount than the one that waits was accepted',
    );
    assert.equal((await ada.does(`/proposals/${whole.id}/confirm`)).status, 200);
    await world.until('it has arrived', async () => (await world.tokensOf(address, 'usdc')) === '100');
  });

  test('adds up the pieces of one deposit', async () => {
    const { order, path } = await excessOf100();
    const address = world.newAddress();
    assert.equal((await finn.does(path, { amount: '30', address })).status, 200);
    await world.until('a piece is there', async () => (await world.traceOf(order)).refunds[0]?.state === 'settled');
    assert.equal((await finn.does(path, { amount: '30', address })).status, 202);
    assert.equal(await world.tokensOf(address, 'usdc'), '30');
  });
});

describe('a destination', () => {
  test('is exactly one, of the rail’s kind, and for fiat an account in the currency of the deposit', async () => {
    const customer = await world.verifiedCustomer();
    const { fiatAccountId } = customer;
    const sale = await world.sells('20', 'usdc', { customer, reference: 'screen:hold' });
    await world.pays(sale, '20');
    await world.mines(2);
    await world.reaches(sale, 3);
    const refuse = (order: Sale | Purchase, to: Record<string, string>) =>
      finn.does(`/orders/${order.id}/refund`, { failure: 'other', ...to });
    assert.match((await refuse(sale, { fiatAccountId })).body.fields.fiatAccountId, /pays to addresses/);
    const both = await refuse(sale, { fiatAccountId, address: world.newAddress() });
    assert.match(both.body.fields.fiatAccountId, /given with address/);
    const [deposit] = (await world.traceOf(sale)).deposits;
    const refund = await finn.does(`/deposits/${deposit?.id}/refund`, { fiatAccountId });
    assert.match(refund.body.fields.fiatAccountId, /pays to addresses/);

    await world.read((tx) => takes(tx, 2, { right: 'money', asset: 'inr', above: 10_000_000n }));
    const purchase = await world.buys('5000', 'usdc', { customer, reference: 'screen:hold' });
    await world.credits(purchase, '5000');
    await world.until('it is held', async () => (await world.stateOf(purchase)) === 'on_hold');
    const { fiatAccountId: euros = '' } = await world.told('bank/addFiatAccount', {
      customerId: customer.id,
      iban: 'DE89370400440532013000',
    });
    assert.match((await refuse(purchase, { fiatAccountId: euros })).body.fields.fiatAccountId, /account in inr/);
    assert.deepEqual((await world.traceOf(purchase)).payouts, []);
    assert.equal((await refuse(purchase, { fiatAccountId })).status, 200);
    await world.until('it is back', async () => (await world.stateOf(purchase)) === 'refunded');
  });
});

describe('with all payouts stopped', () => {
  test('money is taken and nothing is submitted; switched on again it goes out at once', async () => {
    const all = { kind: 'payouts', subject: 'all' };
    assert.equal((await finn.does('/kill-switches', all)).status, 200);
    const order = await world.sells('30', 'usdc');
    await world.pays(order, '30');
    await world.mines(2);
    await world.until('the payout is written', async () => (await world.stateOf(order)) === 'paying_out');
    const [before] = (await world.traceOf(order)).payouts;
    assert.deepEqual([before?.state, before?.submissions], ['created', 0]);
    const ready = (await (await fetch(`${world.server.baseUrl}/readyz`)).json()) as {
      checks: Record<string, unknown>[];
    };
    const { ok, ...shown } = ready.checks.find(({ name }) => name === 'kill_switches') ?? {};
    assert.deepEqual([ok, typeof shown['payouts all']], [false, 'string']);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 0);
    assert.equal((await world.traceOf(order)).payouts[0]?.state, 'created');
    assert.equal((await finn.does('/kill-switches/lift', all)).status, 200);
    await world.reaches(order, 6);
    assert.equal((await world.bank.payments(`pay_${order.id}_1`)).length, 1);
  });
});

describe('a chain that halted by itself', () => {
  const RAIL = 'evm.erc20';
  const clear = `/rails/${RAIL}/clear`;
  const head = () =>
    world.read((tx) => tx.row<{ headNumber: bigint }>('select head_number from chains where rail = $1', [RAIL]));
  const casesOpen = async () => (await vic.reads('/cases?kind=rail_halted')).body.cases;
  const health = async () => {
    const ready = (await (await fetch(`${world.server.baseUrl}/readyz`)).json()) as {
      checks: Record<string, unknown>[];
    };
    return ready.checks.find(({ name }) => name === `rail ${RAIL}`);
  };

  test('is resumed by two people from the chain’s present state, and its case is closed', async () => {
    await world.mines(20, 'erc20');
    const newest = BigInt(await world.rpc<string>('erc20', 'eth_blockNumber'));
    await world.until('it is followed', async () => ((await head())?.headNumber ?? 0n) >= newest);
    await world.rpc('erc20', 'anvil_reorg', [15, []]);
    await world.until('it stops', async () => (await casesOpen()).length === 1);
    assert.match(String((await health())?.why), /deeper than 12 blocks/);

    await world.read((tx) => takes(tx, 2, { right: 'resume' }));
    const said = await finn.does(clear, { restart: true, reason: 'the explorer shows this chain' });
    assert.deepEqual([said.status, said.body.outcome], [202, 'proposed']);
    assert.equal((await health())?.ok, false);
    const confirm = `/proposals/${said.body.proposal}/confirm`;
    assert.equal((await finn.does(confirm)).body.reason, 'own_proposal');
    const done = await ada.does(confirm);
    assert.deepEqual([done.status, done.body.after], [200, { halted: false }]);
    // The error in the log is expected.
    const loud = world.complaints.findIndex((line) => /"msg":"rail halted"/.test(line));
    assert.notEqual(loud, -1);
    world.complaints.splice(loud, 1);
    await world.until('it is well', async () => (await health())?.ok === true);
    assert.deepEqual(await casesOpen(), []);
    const { audit } = (await vic.reads(`/audit?subject=rail:${RAIL}`)).body;
    assert.deepEqual(
      audit.map((row: Record<string, string>) => [row.action, row.outcome, row.operator]),
      [
        ['rail.clear', 'done', 'ada'],
        ['rail.clear', 'confirmed', 'ada'],
        ['rail.clear', 'proposed', finn.name],
      ],
    );
    assert.match(audit[0].before.why, /deeper than 12 blocks/);

    // The books are right on the new chain, too: a deposit there is found and settled.
    await world.read((tx) => takes(tx, 1, { right: 'resume' }));
    const order = await world.sells('20', 'usdc', { chain: 'erc20' });
    await world.pays(order, '20');
    await world.mines(13, 'erc20');
    await world.reaches(order, 6);
  });

  test('cannot be cleared where it has not halted, where the rail is no chain, or without the right', async () => {
    const running = await finn.does(clear);
    assert.deepEqual([running.status, running.body.reason], [409, 'rail_not_halted']);
    assert.match(running.body.error, /^evm\.erc20 was not halted by the server\./);
    for (const other of ['bank.simulated', 'evm.nowhere']) {
      const said = await finn.does(`/rails/${other}/clear`);
      assert.equal(said.status, 400);
      assert.match(said.body.fields.rail, /^must be one of .*evm\.erc20/);
    }
    assert.match((await finn.does(clear, { restart: 'perhaps' })).body.fields.restart, /true or false/);
    assert.equal((await vic.does(clear)).body.reason, 'role_missing');
  });
});

describe('the view of an operator', () => {
  test('finds an order by its address, hash and bank reference, with a complete timeline', async () => {
    const order = await world.sells('25', 'usdc');
    const { hash } = await world.pays(order, '25');
    await world.mines(2);
    await world.reaches(order, 6);
    const { payouts } = await world.traceOf(order);
    for (const text of [String(order.id), order.depositAddress, order.depositAddress.toUpperCase().replace('0X', '0x')])
      assert.equal((await vic.reads(`/lookup?text=${text}`)).body.orders[0]?.id, String(order.id), text);
    assert.equal((await vic.reads(`/lookup?text=${hash}`)).body.deposits[0]?.orderId, String(order.id));
    const paid = (await vic.reads(`/lookup?text=${payouts[0]?.reference}`)).body.payouts;
    assert.deepEqual([paid[0].id, paid[0].units], [`pay_${order.id}_1`, order.toAmount]);
    const told = (await vic.reads(`/orders/${order.id}/timeline`)).body;
    assert.deepEqual(
      [told.state, told.next],
      ['settled', 'nothing: it is over'],
      JSON.stringify(told) + world.complaints.join(''),
    );
    const kinds = new Set(told.lines.map(({ kind }: { kind: string }) => kind));
    assert.deepEqual([...kinds].sort(), ['decision', 'deposit', 'entry', 'event', 'order', 'payout']);
    const times = told.lines.map(({ at }: { at: string }) => at);
    assert.deepEqual(times, [...times].sort());
  });
});

test('nothing that an operator typed is in a dump of the database', async () => {
  const order = await held('20');
  assert.equal((await ada.does(`/orders/${order.id}/block`, { reason: 'Zenobia is on a list' })).status, 200);
  const legalAct = 'court-17/Zenobia';
  const { proposal } = (await ada.does(`/orders/${order.id}/release-blocked`, { legalAct })).body;
  const done = await bea.does(`/proposals/${proposal}/confirm`, { reason: 'Zenobia won' });
  assert.equal(done.status, 200, JSON.stringify(done.body));
  const { deposits } = (await vic.reads(`/lookup?text=${encodeURIComponent(legalAct)}`)).body;
  assert.deepEqual(
    deposits.map(({ orderId, reference }: Record<string, unknown>) => [orderId, reference]),
    [[String(order.id), legalAct]],
    'the released order was not found by its legal act',
  );
  const words = [
    'Zenobia',
    'papers are in order',
    'no papers',
    'the explorer shows this chain',
    'bank says it was theirs',
  ];
  assert.deepEqual(await findInDump(world.adminUrl, words), []);
  const clear = `select count(*)::int as n from audit where role <> 'machine' and reason not like 'enc:op1:%'`;
  assert.equal((await world.read((tx) => tx.row<{ n: number }>(clear)))?.n, 0, 'actions store reasons in clear');
});

describe('a terminal', () => {
  const types = (words: string[], over: Record<string, string> = {}): Promise<Ended> =>
    operatorTypes({ baseUrl: world.server.baseUrl, token: finn.token }, words, over);

  test('shows tables to people and JSON to programs, and its exit code states the outcome', async () => {
    const order = await held('100');
    const id = String(order.id);
    const [cases, json, misused, unknown, help, declined, waits, elsewhere, stranger, shown, runs] = await Promise.all([
      types(['cases', '--kind', 'on_hold']),
      types(['cases', '--json']),
      types(['order', 'release', id]),
      types(['order', 'dance', id, '--reason', 'x']),
      types(['order', 'release', '--help']),
      types(['case', 'note', '999999', '--reason', 'to see it declined']),
      types(['order', 'release', id, '--reason', 'papers are in order']),
      types(['cases'], { OPERATOR_URL: 'http://127.0.0.1:9' }),
      types(['cases'], { OPERATOR_TOKEN: 'nobody'.repeat(8) }),
      types(['order', id]),
      types(['rail', 'clear', 'evm.erc20', '--restart', 'true', '--reason', 'a try']),
    ]);
    assert.equal(cases.code, 0, cases.err);
    assert.match(cases.out, /^id +openedAt +dueAt +kind .*\n-+ .*\n\d+ .*on_hold +order:/);
    assert.ok(JSON.parse(json.out).cases.length > 0);
    assert.deepEqual([misused.code, /--reason/.test(misused.err)], [2, true]);
    assert.deepEqual([unknown.code, /no command|order/.test(unknown.err)], [2, true]);
    assert.deepEqual([help.code, /order release <order>/.test(help.out)], [0, true]);
    assert.deepEqual([declined.code, declined.err], [1, 'There is no such open case.\n']);
    assert.equal(waits.code, 3, waits.err);
    assert.match(waits.out, /Another operator has to agree: npm run operator -- confirm \d+/);
    assert.equal(elsewhere.code, 4);
    assert.match(elsewhere.err, /^The server was not reached at http:\/\/127\.0\.0\.1:9: .*OPERATOR_URL/);
    assert.deepEqual(
      [stranger.code, stranger.err],
      [1, 'The operator token or session is missing, wrong, expired or revoked.\n'],
    );
    assert.deepEqual([runs.code, /was not halted by the server/.test(runs.err)], [1, true]);
    assert.match(shown.out, /heldBy +us, for the customer/);
    const proposal = /confirm (\d+)/.exec(waits.out)?.[1] ?? '';
    const confirmed = await types(['confirm', proposal, '--reason', 'seen'], { OPERATOR_TOKEN: ada.token });
    assert.equal(confirmed.code, 0, confirmed.err);
    await world.reaches(order, 6);
  });
});
