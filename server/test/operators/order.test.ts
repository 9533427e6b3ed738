/**
 * What an operator reads about one order beside its trace: each webhook with the state of its delivery and the next attempt, and
 * where the payout goes.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Person } from '../protocols/operator/people.ts';
import type { Came } from '../support/client.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Sale, Story, StoryCustomer } from '../support/story.ts';
import { readCsv } from '../support/terminal.ts';

let world: Story;
let vic: Person;
let customer: StoryCustomer;
let sale: Sale;
let bought: Purchase;
let endpoint = '';

const reads = async (path: string): Promise<Came> => {
  const { status, body } = await vic.reads(path);
  assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
  return body;
};
const hooks = async (of: { id: bigint | string } = sale): Promise<Came[]> =>
  (await reads(`/orders/${of.id}/webhooks`)).webhooks;
/** By sequence: state, next attempt or what it waits for. */
const states = async (): Promise<Record<number, unknown[]>> =>
  Object.fromEntries(
    (await hooks()).map((one) => [one.sequence, [one.state, one.waitsFor ?? (one.nextAttemptAt !== null && 'a time')]]),
  );
const sets = (text: string, values: unknown[] = []) => world.read((tx) => tx.run(text, values));

before(async () => {
  ({ world, vic } = await openStaffedStory({ vic: 'viewer' }));
  customer = await world.verifiedCustomer();
  bought = await world.buys('5000', 'usdc', { customer });
  await world.until('its event is published', async () => (await hooks(bought))[0]?.position !== null);
  // Nobody listens there.
  const made = await world.partner.post('/v1/webhooks', { url: 'http://localhost:65013/down?secret=s3cr3t' });
  endpoint = made.body.data.id;
  sale = await world.sells('20', 'usdc', { customer });
  await world.until('its first webhook was tried', async () => (await hooks()).at(-1)?.attempts > 0);
  await world.pays(sale, '20');
  await world.mines(2);
  await world.until('it is settled', async () => (await world.stateOf(sale)) === 'settled');
  await world.until('its last webhook waits', async () => (await hooks())[0]?.type === 'order.settled');
});
after(async () => await world?.close());

describe('the webhooks of an order', () => {
  test('are listed newest first; only the first waiting one has a time', async () => {
    const all = await hooks();
    const sequences = all.map(({ sequence }) => sequence);
    assert.deepEqual(
      sequences,
      sequences.toSorted((a, b) => b - a),
    );
    const first = all.at(-1) ?? assert.fail('no webhook');
    assert.deepEqual(
      [first.sequence, first.endpointId, first.url, first.state, first.waitsFor, first.endedAt],
      [1, endpoint, 'localhost:65013/down', 'waiting', null, null],
    );
    assert.ok(Date.parse(first.nextAttemptAt) > world.clock.now().getTime(), first.nextAttemptAt);
    assert.ok(String(first.lastError).length > 0);
    assert.ok(all.slice(0, -1).every((one) => one.waitsFor === 'earlier_event' && one.nextAttemptAt === null));
    assert.ok(!JSON.stringify(all).includes('s3cr3t'), 'a query of an endpoint is shown');
  });

  test('the link of each leads to its delivery', async () => {
    const { position, attempts } = (await hooks()).at(-1) ?? assert.fail('no webhook');
    const { deliveries } = await reads(`/endpoints/${endpoint}/deliveries?limit=100`);
    const there = deliveries.find((one: Came) => one.position === position);
    assert.deepEqual([there.subject, there.sequence, there.attempts], [`order:${sale.id}`, 1, attempts]);
  });

  test('a page begins after the last one of the page before, and the CSV has exactly its rows', async () => {
    const all = await hooks();
    const first = await reads(`/orders/${sale.id}/webhooks?limit=1`);
    const second = await reads(`/orders/${sale.id}/webhooks?limit=1&below=${first.next}`);
    assert.deepEqual([...first.webhooks, ...second.webhooks], all.slice(0, 2));
    assert.equal((await reads(`/orders/${sale.id}/webhooks?limit=200`)).next, null);
    const url = `${world.server.baseUrl}/operator/v1/orders/${sale.id}/webhooks?format=csv`;
    const csv = readCsv(await (await fetch(url, { headers: { authorization: `Bearer ${vic.token}` } })).text());
    const columns = Object.keys(csv[0] ?? {});
    assert.deepEqual(
      csv.map((row) => columns.map((name) => row[name])),
      all.map((row) => columns.map((name) => (row[name] === null ? '' : String(row[name])))),
    );
  });

  test('an endpoint that is held, switched off or removed is named as what they wait for', async () => {
    for (const [column, value, waitsFor] of [
      ['held_at', 'now()', 'endpoint_held'],
      ['enabled', 'false', 'endpoint_off'],
      ['removed_at', 'now()', 'endpoint_removed'],
    ] as const) {
      await sets(`update webhook_endpoints set ${column} = ${value} where id = $1`, [endpoint]);
      const all = await hooks();
      await sets('update webhook_endpoints set held_at = null, enabled = true, removed_at = null where id = $1', [
        endpoint,
      ]);
      assert.ok(
        all.every((one) => one.waitsFor === waitsFor && one.nextAttemptAt === null),
        JSON.stringify(all),
      );
    }
  });

  test('one that was delivered or given up has ended, and the next one has a time', async () => {
    const ends = (state: string, sequence: number) =>
      sets(
        `update webhook_deliveries set state = $1, ended_at = now() where endpoint_id = $2 and subject = $3 and subject_seq = $4`,
        [state, endpoint, `order:${sale.id}`, sequence],
      );
    await ends('delivered', 1);
    await ends('dead', 2);
    const { 1: first, 2: second, 3: third } = await states();
    assert.deepEqual(
      [first, second, third],
      [
        ['delivered', false],
        ['dead', false],
        ['waiting', 'a time'],
      ],
    );
    assert.ok((await hooks()).at(-1)?.endedAt);
  });

  test('an event that no endpoint received is listed without a delivery', async () => {
    const first = (await hooks(bought)).at(-1);
    assert.deepEqual([first?.endpointId, first?.state, first?.attempts], [null, null, 0]);
  });

  test('of an unknown order are an error', async () => {
    for (const part of ['webhooks', 'payout-destination'])
      assert.equal((await vic.reads(`/orders/4/${part}`)).body.reason, 'unknown_order');
  });
});

describe('the destination of an order', () => {
  test('of a sale is the account by its last characters, and nothing else of it', async () => {
    const goesTo = await reads(`/orders/${sale.id}/payout-destination`);
    const { accounts } = (await reads(`/customers/${sale.customerId}`)) as { accounts: Came[] };
    const [account] = accounts;
    assert.deepEqual(goesTo, {
      ...{ kind: 'account', rail: 'bank.simulated', asset: 'inr', address: null, fiatAccountId: account?.id },
      ...{ fiat: 'inr', hint: account?.hint, waitsUntil: null },
    });
    assert.equal(goesTo.hint.length, 4);
  });

  test('of a purchase is the address', async () => {
    const goesTo = await reads(`/orders/${bought.id}/payout-destination`);
    assert.equal(goesTo.kind, 'address');
    assert.equal(goesTo.address, (await world.traceOf(bought)).order.payoutAddress);
    assert.deepEqual([goesTo.fiatAccountId, goesTo.hint], [null, null]);
  });
});
