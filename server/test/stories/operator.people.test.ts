/**
 * One dishonest or mistaken operator with real money: pieces below the limit add up; releases past a hit or block and unnamed
 * destinations take two people whatever the amount; and the sandbox needs one operator until it is configured otherwise.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Client } from 'pg';
import { declareInstallation, peopleNeeded, setRule } from '../../src/operators/index.ts';
import { type Person, takes, withToken } from '../protocols/operator/people.ts';
import type { Came } from '../support/client.ts';
import { heldSale } from '../support/orders.ts';
import { operatorIn } from '../support/staffed.ts';
import { openStory, type Sale, type Story } from '../support/story.ts';
import { operatorTypes } from '../support/terminal.ts';

let world: Story;
let ada: Person;
let finn: Person;
let finns = 0;

before(async () => {
  world = await openStory({ operators: 'two' });
  ada = await named('ada', 'admin');
});
after(async () => await world?.close());
/** A new operator in every test, because the amounts that one person decides alone in a day add up. */
beforeEach(async () => void (finn = await named(`finn${(finns += 1)}`, 'finance')));

const named = (name: string, role: 'admin' | 'finance') => operatorIn(world, name, role);

const held = async (amount: string, how: Parameters<typeof heldSale>[2] = {}): Promise<Sale> =>
  (await heldSale(world, amount, how)).order;
const releases = async (person: Person, order: Sale) => (await person.does(`/orders/${order.id}/release`)).status;
const confirmed = async (proposal: unknown) => (await ada.does(`/proposals/${proposal}/confirm`)).status;

describe('the daily limit of one person', () => {
  before(async () => {
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

  test('adds up, whichever token it comes with and wherever the clock has stepped', async () => {
    const orders = [await held('30'), await held('30'), await held('15')];
    const [first, second, third] = orders as [Sale, Sale, Sale];
    assert.equal(await releases(finn, first), 200);
    const { token } = (await finn.does('/self/token', { label: 'second', days: 1 })).body;
    assert.equal(
      await releases(withToken(world.server.baseUrl, token), second),
      202,
      'one person released 60 in pieces of 30',
    );
    assert.equal(await releases(finn, third), 200, '45 was over the limit, or a proposal that waits was counted');
    const other = await named(`other${finns}`, 'finance');
    assert.equal(await releases(other, await held('30')), 200, 'the amounts of another person were counted');
    const fourth = await held('30');
    // A server whose clock steps a day ahead: the database still knows that it is the same day.
    const now = new Date(world.clock.now().getTime() + 25 * 3_600_000);
    const { id } = (await ada.reads(`/operators/${finn.name}`)).body;
    const need = { action: 'order.release', asset: 'usdc.matic20', units: 30_000_000n, operator: BigInt(id) };
    assert.equal(await world.read((tx) => peopleNeeded(tx, { ...need, now })), 2);
    await aDayPasses(finn.name);
    assert.equal(
      await world.read((tx) => peopleNeeded(tx, { ...need, now })),
      1,
      'the day is not over although both clocks say so',
    );
    assert.equal(await releases(finn, fourth), 202, 'the day is over although the server’s clock says otherwise');
  });

  test('adds up of actions that are done at once', async () => {
    const orders = await Promise.all([held('30'), held('30'), held('30')]);
    const said = await Promise.all(orders.map((order) => releases(finn, order)));
    assert.deepEqual(said.sort(), [200, 202, 202]);
  });

  test('holds also for refunds to an address that was not named before', async () => {
    const order = await held('40');
    const address = world.newAddress();
    assert.equal((await finn.does(`/orders/${order.id}/refund`, { failure: 'other', address })).status, 200);
    await world.until('it is refunded', async () => (await world.stateOf(order)) === 'refunded');
    const next = await held('20');
    const again = await finn.does(`/orders/${next.id}/refund`, { failure: 'other', address: world.newAddress() });
    assert.equal(again.status, 202);
    assert.equal(await confirmed(again.body.proposal), 200);
    await world.until('it is refunded', async () => (await world.stateOf(next)) === 'refunded');
  });

  /** Runs as the owner of the table, with the trigger off: no other role can. */
  async function aDayPasses(name: string): Promise<void> {
    const admin = new Client({ connectionString: world.adminUrl, options: '-c search_path=cloverleaf' });
    await admin.connect();
    await admin.query(`set session_replication_role = 'replica'`);
    await admin.query(
      `update alone_amounts set recorded_at = recorded_at - interval '1 day'
        where operator_id = (select id from operators where name = $1)`,
      [name],
    );
    await admin.end();
  }
});

describe('a limit for three people', () => {
  let cleo: Person;
  const rules = ['order.release', 'release.screening_hit'];
  const limits = [0n, 50_000_000n];
  before(async () => {
    cleo = await named('cleo', 'admin');
    await world.read(async (tx) => {
      for (const action of rules)
        for (const [at, above] of limits.entries()) await takes(tx, 2 + at, { action, asset: 'usdc.matic20', above });
    });
  });
  after(async () => {
    await world.read(async (tx) => {
      for (const action of rules)
        for (const aboveUnits of limits)
          await setRule(tx, { action, right: '*', asset: 'usdc.matic20', aboveUnits, people: null });
    });
  });
  const proposes = async (person: Person, order: Sale): Promise<Came> => {
    const said = await person.does(`/orders/${order.id}/release`);
    assert.equal(said.status, 202, JSON.stringify(said.body));
    return said.body;
  };
  const confirms = async (person: Person, { proposal }: Came): Promise<[number, number?]> => {
    const { status, body } = await person.does(`/proposals/${proposal}/confirm`);
    return body.people === undefined ? [status] : [status, body.people];
  };
  /** Two who have approved nothing today, beside the proposer of each test. */
  const two = async (): Promise<[Person, Person]> => [
    await named(`one${finns}`, 'finance'),
    await named(`two${finns}`, 'finance'),
  ];

  test('is not split by two: what both approved adds up for the proposer', async () => {
    const [first, second, third] = [await held('30'), await held('30'), await held('30')];
    const [one, other] = await two();
    assert.deepEqual(await confirms(one, await proposes(finn, first)), [200]);
    const again = await proposes(finn, second);
    assert.equal(again.people, 3, 'two people released 60 in pieces of 30');
    assert.deepEqual(await confirms(one, again), [202, 3]);
    assert.deepEqual(await confirms(cleo, again), [200]);
    // What three approved is not counted, and other people have a day of their own.
    assert.deepEqual(await confirms(ada, await proposes(other, third)), [200]);
  });

  test('is not split among proposers: what one has confirmed adds up, too', async () => {
    const [first, second] = [await held('30'), await held('30')];
    const [one, other] = await two();
    const third = await named(`three${finns}`, 'finance');
    assert.deepEqual(await confirms(one, await proposes(finn, first)), [200]);
    const again = await proposes(other, second);
    assert.equal(again.people, 2);
    assert.deepEqual(await confirms(one, again), [202, 3], 'one confirmed 60 in pieces of two proposers');
    assert.deepEqual(await confirms(third, again), [200]);
  });

  test('adds up of proposals that are confirmed at once', async () => {
    const [first, second] = [await held('30'), await held('30')];
    const [one, other] = await two();
    const proposed = [await proposes(finn, first), await proposes(finn, second)] as const;
    const said = await Promise.all([confirms(one, proposed[0]), confirms(other, proposed[1])]);
    assert.deepEqual(said.map(([status]) => status).toSorted(), [200, 202], 'both were counted without the other');
    const waits = proposed[said.findIndex(([status]) => status === 202)];
    assert.ok(waits !== undefined);
    assert.deepEqual(await confirms(await named(`four${finns}`, 'finance'), waits), [200]);
  });
});

describe('without a rule', () => {
  before(async () => {
    await world.read(async (tx) => {
      for (const action of ['release.screening_hit', 'release.customer_blocked', 'destination.new'])
        await takes(tx, 2, { action, asset: 'usdc.matic20' });
      await takes(tx, 2, { action: '*', right: 'money', asset: 'usdc.matic20', above: 10_000_000_000n });
    });
  });

  test('a release past screening takes two, however small the amount', async () => {
    const order = await held('5');
    const said = await finn.does(`/orders/${order.id}/release`);
    assert.equal(said.status, 202, JSON.stringify(said.body));
    assert.equal(await world.stateOf(order), 'on_hold');
    assert.equal(await confirmed(said.body.proposal), 200);
    await world.reaches(order, 6);
  });

  test('a release for a blocked customer takes two, also where a rule lets one pass screening hits', async () => {
    const hit = { action: 'release.screening_hit', asset: 'usdc.matic20' };
    await world.read((tx) => takes(tx, 1, hit));
    const [free, blocked] = [await held('5'), await held('5')];
    assert.equal((await finn.does(`/customers/${blocked.customerId}/block`)).status, 200);
    const said = await finn.does(`/orders/${blocked.id}/release`);
    assert.deepEqual([said.status, said.body.people], [202, 2], JSON.stringify(said.body));
    assert.equal(await world.stateOf(blocked), 'on_hold');
    assert.equal((await finn.does(`/proposals/${said.body.proposal}/decline`)).status, 200);
    assert.equal((await finn.does(`/orders/${free.id}/release`)).status, 200, 'a hit without a block took two people');
    await world.reaches(free, 6);
    await world.read((tx) => takes(tx, 2, hit));
  });

  test('an address that no customer or partner named takes two, and one that the customer named takes one', async () => {
    const address = world.newAddress();
    const order = await held('5', { refundAddress: address });
    const elsewhere = await finn.does(`/orders/${order.id}/refund`, { failure: 'other', address: world.newAddress() });
    assert.equal(elsewhere.status, 202);
    assert.equal((await finn.does(`/proposals/${elsewhere.body.proposal}/decline`)).status, 200);
    const named = await finn.does(`/orders/${order.id}/refund`, {
      failure: 'other',
      address: address.toUpperCase().replace('0X', '0x'),
    });
    assert.equal(named.status, 200, JSON.stringify(named.body));
    await world.until('it is refunded', async () => (await world.stateOf(order)) === 'refunded');
    assert.equal(await world.tokensOf(address, 'usdc'), '5');
  });
});

describe('a deposit without an order', () => {
  test('takes as many people as the rules for its amount and destination require, and two without a rule', async () => {
    await world.read(async (tx) => {
      await takes(tx, 3, { action: 'deposit.refund', asset: 'inr', above: 50_000n });
      await takes(tx, 1, { action: 'destination.new', asset: 'inr' });
    });
    const strays = async (amount: string): Promise<bigint> => {
      const order = await world.buys('1000', 'usdc');
      const line = await world.credits(order, amount, { text: 'for a friend' });
      const { id } = await world.until('the money is in suspense', async () => {
        const [row] = await world.read((tx) =>
          tx.rows<{ id: bigint }>(`select id from deposits where external_id = $1 and state = 'suspense'`, [line]),
        );
        return row;
      });
      return id;
    };
    const { customerId } = await world.buys('1000', 'usdc');
    const { fiatAccountId } = await world.verifiedAccount(customerId);
    const back = async (deposit: bigint) =>
      (await finn.does(`/deposits/${deposit}/refund`, { fiatAccountId })).body.people;
    assert.equal(await back(await strays('500')), 2);
    assert.equal(await back(await strays('501')), 3);
    await world.read((tx) => takes(tx, 3, { action: 'destination.new', asset: 'inr' }));
    assert.equal(await back(await strays('400')), 3, 'the rule for an unnamed account was not applied');
    const order = await world.buys('1000', 'usdc');
    const assigns = async (deposit: bigint) =>
      (await finn.does(`/deposits/${deposit}/assign`, { order: String(order.id) })).body.people;
    await world.read((tx) => takes(tx, 3, { action: 'deposit.assign', asset: 'inr', above: 50_000n }));
    assert.equal(await assigns(await strays('300')), 2);
    assert.equal(await assigns(await strays('600')), 3);
  });
});

describe('the sandbox', () => {
  const types = (words: string[], token: string) => operatorTypes({ baseUrl: world.server.baseUrl, token }, words);
  const declare = (operators: 'one' | 'two', delayS: number) =>
    world.read((tx) => declareInstallation(tx, { operators, delayS, now: world.clock.now() }));
  const ready = async () => {
    const { checks } = (await (await fetch(`${world.server.baseUrl}/readyz`)).json()) as {
      checks: Record<string, unknown>[];
    };
    const { ok, declared, delayS } = checks.find(({ name }) => name === 'operators') ?? {};
    return { ok, declared, delayS };
  };
  after(async () => await declare('two', 0));

  test('admits an operator by the hash of a token created at that person’s terminal', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'token-'));
    try {
      const file = join(folder, 'kim.first');
      const made = await types(['new', 'token', '--token-file', file], '');
      assert.equal(made.code, 0, made.err);
      const token = readFileSync(file, 'utf8').trim();
      const sha256 = /^tokenSha256 +([0-9a-f]{64})$/m.exec(made.out)?.[1] ?? '';
      assert.equal(sha256, createHash('sha256').update(token).digest('hex'));
      assert.deepEqual([made.out.includes(token), statSync(file).mode & 0o777], [false, 0o600]);
      assert.equal((await types(['new', 'token', '--token-file', file], '')).code, 2, 'a token file was overwritten');
      const asked = await types(['operator', 'create', 'kim', 'viewer', sha256, '--reason', 'new here'], ada.token);
      assert.deepEqual([asked.code, asked.out.includes('clo_')], [0, false], asked.out + asked.err);
      assert.match((await types(['self'], token)).out, /kim/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('needs one operator by default, which readiness and the terminal show', async () => {
    const order = await held('5');
    assert.match((await types(['rules'], finn.token)).out, /operators +two/);
    assert.equal(await releases(finn, order), 202);
    await declare('one', 0);
    assert.equal((await finn.does(`/orders/${order.id}/release`)).body.outcome, 'done');
    await world.reaches(order, 6);
    await world.until('readiness shows it', async () => (await ready()).declared === 'one');
    assert.deepEqual(await ready(), { ok: true, declared: 'one', delayS: 0 });
    await declare('one', 7_200);
    const told = await types(['rules'], finn.token);
    assert.deepEqual([/operators +one/.test(told.out), /delayS +7200/.test(told.out)], [true, true], told.out);
    const next = await held('5');
    const waits = await types(['order', 'release', String(next.id), '--reason', 'papers'], finn.token);
    assert.deepEqual(
      [waits.code, /You may confirm it yourself from /.test(waits.out)],
      [3, true],
      waits.out + waits.err,
    );
    const cases = await types(['cases', '--kind', 'action_delayed'], ada.token);
    assert.match(cases.out, /order\.release of order:\d+, proposed by finn\d+/);
    const proposal = /confirm (\d+)/.exec(waits.out)?.[1] ?? '';
    assert.equal((await types(['decline', proposal, '--reason', 'not mine'], ada.token)).code, 0);
    assert.equal(await world.stateOf(next), 'on_hold');
    const loud = world.complaints.findIndex((line) => line.includes('waits out its delay'));
    assert.notEqual(loud, -1, 'the log has no line about the action that waits');
    world.complaints.splice(loud, 1);
  });
});
