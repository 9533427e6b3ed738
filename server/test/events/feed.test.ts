/** The feed: one order per partner that never changes, in whatever order transactions commit. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { attemptsOf, emit, replay } from '../../src/events/index.ts';
import { purgeLog } from '../../src/events/log.ts';
import { eventsCheck } from '../../src/ops/checks.ts';
import { openReceiver } from '../support/receiver.ts';
import { deliveryEnvironment, type TestPartner } from './environment.ts';

let world: Awaited<ReturnType<typeof deliveryEnvironment>>;
let mine: TestPartner;
before(async () => {
  world = await deliveryEnvironment();
  mine = await world.partner();
});
after(async () => await world?.stop());

/** A transaction that has written an event and waits for the signal to commit. */
async function open(subject: string): Promise<{ commit(): Promise<void> }> {
  let commit = () => {};
  const told = new Promise<void>((resolve) => {
    commit = resolve;
  });
  let done: Promise<void> = Promise.resolve();
  await new Promise<void>((written) => {
    done = world.db.asPartner(mine.id, async (tx) => {
      await emit(tx, { partnerId: mine.id, subject, type: 'order.changed', body: {}, at: world.clock.now() });
      written();
      await told;
    });
  });
  return {
    commit: () => {
      commit();
      return done;
    },
  };
}

test('an event that commits late gets a later position, and a reader ahead of it misses nothing', async () => {
  const early = await open('order:1');
  const late = await open('order:2');
  await late.commit();
  await world.publishes();
  const first = await world.feed(mine);
  assert.deepEqual(
    first.events.map(({ subject }) => subject),
    ['order:2'],
  );
  await early.commit();
  await world.publishes();
  const second = await world.feed(mine, first.next);
  assert.deepEqual(
    second.events.map(({ subject }) => subject),
    ['order:1'],
  );
  assert.deepEqual(
    (await world.feed(mine)).events,
    [...first.events, ...second.events],
    'a reader from the start sees another order',
  );
});

test('pages have no gaps, and concurrent publishers give each event one position', async () => {
  await Promise.all(
    Array.from({ length: 30 }, async (_, at) => {
      await world.happens(mine, `order:${10 + (at % 3)}`, 'order.changed');
      await world.publishes();
    }),
  );
  while ((await world.publishes()).count > 0);
  const read: string[] = [];
  const subjects = new Map<string, number>();
  let after = 0n;
  for (let more = true; more; ) {
    const { events, next, hasMore } = await world.feed(mine, after, 7);
    for (const event of events) {
      assert.equal(event.sequence, (subjects.get(event.subject) ?? 0) + 1, `${event.subject} in its order`);
      subjects.set(event.subject, event.sequence);
      read.push(event.id);
    }
    [after, more] = [next, hasMore];
  }
  assert.deepEqual(
    read,
    read.map((_, at) => `evt_${mine.id}_${at + 1}`),
  );
  assert.equal(read.length, 32);
});

test("another partner's events are neither seen nor counted", async () => {
  const other = await world.partner();
  await world.happens(other, 'order:99', 'order.created');
  await world.publishes();
  const { events, next } = await world.feed(other);
  assert.deepEqual(
    events.map(({ subject, id }) => [subject, id]),
    [['order:99', `evt_${other.id}_1`]],
  );
  assert.equal(next, 1n);
  assert.equal((await world.feed(other, next)).events.length, 0);
});

test('events that stay unpublished raise an alarm', async () => {
  const check = eventsCheck(world.db, world.clock);
  const run = () => check.run(AbortSignal.timeout(5_000));
  await world.happens(mine, 'order:50', 'order.created');
  assert.deepEqual([(await run()).ok, (await run()).unpublished], [true, 1]);
  world.clock.advance(90_000);
  assert.equal((await run()).ok, false);
  await world.publishes();
  assert.deepEqual(await run(), { ok: true, unpublished: 0, oldestMs: 0 });
});

test('attempts and deliveries are deleted after thirty days, and their events can still be replayed', async () => {
  const [there, partner] = [await openReceiver(), await world.partner()];
  const { endpoint } = await world.endpoint(partner, there.url);
  const off = await world.endpoint(partner, there.url);
  const input = { endpointId: endpoint.id, partnerId: partner.id };
  const rows = () =>
    world.read((tx) =>
      tx.rows<{ state: string }>('select state from webhook_deliveries where partner_id = $1 order by 1', [partner.id]),
    );
  const attempts = () =>
    world.db.asPartner(partner.id, (tx) => attemptsOf(tx, world.vault, { ...input, position: 1n }));
  await world.happens(partner, 'order:60', 'order.created');
  await world.publishes();
  await world.read((tx) => tx.run('update webhook_endpoints set enabled = false where id = $1', [off.endpoint.id]));
  const dispatcher = await world.dispatcher();
  await world.until('it has come', async () => (await attempts()).length === 1);
  const purge = () => world.read((tx) => purgeLog(tx, world.clock.now()));
  world.clock.advance(29 * 24 * 3_600_000);
  await purge();
  assert.deepEqual(
    (await rows()).map(({ state }) => state),
    ['delivered', 'waiting'],
  );
  world.clock.advance(2 * 24 * 3_600_000);
  await purge();
  assert.equal((await attempts()).length, 0);
  assert.deepEqual(
    (await rows()).map(({ state }) => state),
    ['dropped'],
    'what waited for an endpoint that is switched off is dropped',
  );
  await world.db.asPartner(partner.id, (tx) => replay(tx, { ...input, position: 1n, now: world.clock.now() }));
  await world.until('it has come again', () => there.taken.length === 2);
  assert.equal(there.taken[0]?.headers['webhook-id'], there.taken[1]?.headers['webhook-id']);
  await dispatcher.stop();
  await there.down();
});
