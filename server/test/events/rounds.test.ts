/** The dispatcher's rounds: what each publishes and claims. Nothing polls here, so a lost signal would show. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { BATCH } from '../../src/events/feed.ts';
import { emit, replay } from '../../src/events/index.ts';
import { type Counted, countedDatabase } from '../support/counted.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { deliveryEnvironment } from './environment.ts';

let world: Awaited<ReturnType<typeof deliveryEnvironment>>;
const receivers: Receiver[] = [];
before(async () => {
  world = await deliveryEnvironment();
});
after(async () => await world?.stop());
async function receiver(): Promise<Receiver> {
  const opened = await openReceiver();
  receivers.push(opened);
  return opened;
}
const waiting = async (endpointId: string): Promise<number> =>
  await world.read((tx) =>
    tx.run(`select from webhook_deliveries where endpoint_id = $1 and state = 'waiting'`, [endpointId]),
  );

const sequencesOf = (there: Receiver, subject: string | undefined): number[] =>
  there.taken.filter(({ body }) => body.subject === subject).map(({ body }) => body.sequence);

const counts: Counted[] = [];
afterEach(async () => {
  for (const counted of counts.splice(0)) await counted.stop();
  for (const one of receivers.splice(0)) await one.down();
});
const PUBLISH = /pg_try_advisory_xact_lock\(1702194540\)/;
const CLAIM = /for update of w skip locked/;

/** A dispatcher whose transactions are counted, and that waits for its first notification. */
async function counting() {
  const counted = countedDatabase(world.db, world.serverUrl);
  counts.push(counted);
  const dispatcher = await world.dispatcher({ over: counted.db, pollMs: 600_000 });
  await world.until('its first round is over', () => counted.having(CLAIM).length > 0);
  counted.again();
  return { counted, dispatcher };
}

test('an event is published once, and its delivery is neither claimed nor followed by a round', async () => {
  const [there, partner] = [await receiver(), await world.partner()];
  const { endpoint } = await world.endpoint(partner, there.url);
  const { counted, dispatcher } = await counting();
  // The second one shows what the end of the first has begun.
  for (const event of [1, 2]) {
    await world.happens(partner, `order:${partner.id}${event}`, 'order.changed');
    const isRecorded = async () => there.taken.length === event && (await waiting(endpoint.id)) === 0;
    await world.until('it is recorded', isRecorded);
  }
  await dispatcher.stop();
  assert.deepEqual([counted.having(PUBLISH).length, counted.having(CLAIM).length], [2, 0]);
  assert.equal(counted.transactions.length, 4, 'two for each event: published, recorded');
});

test('what is left by a full batch, or by an endpoint without room, is taken at once', async () => {
  const [there, partner] = [await receiver(), await world.partner()];
  const { endpoint } = await world.endpoint(partner, there.url);
  const { dispatcher } = await counting();
  // One transaction, so one notification.
  await world.db.asPartner(partner.id, async (tx) => {
    for (let event = 0; event < 2 * BATCH + 1; event += 1) {
      const subject = `order:${partner.id}${event % 30}`;
      await emit(tx, { partnerId: partner.id, subject, type: 'order.changed', body: {}, at: world.clock.now() });
    }
  });
  await world.until('all has come', () => there.taken.length === 2 * BATCH + 1);
  await world.until('all is recorded', async () => (await waiting(endpoint.id)) === 0);
  await dispatcher.stop();
});

test('an older key of the endpoint goes before a new one, and a replay is claimed', async () => {
  const [there, partner] = [await receiver(), await world.partner()];
  const { endpoint } = await world.endpoint(partner, there.url);
  const subjects = Array.from({ length: 9 }, (_, order) => `order:${partner.id}${order}`);
  for (const subject of subjects.slice(0, 8)) await world.happens(partner, subject, 'order.changed');
  await world.publishes();
  const answers: (() => void)[] = [];
  there.behaves((...seen) => void answers.push(() => there.takes(...seen)));
  const first = await world.dispatcher({ pollMs: 600_000 });
  await world.until('all that have room hang', () => answers.length === 8);
  // Neither the ninth nor another event of the first has room.
  for (const subject of [subjects[8] ?? '', subjects[0] ?? '']) await world.happens(partner, subject, 'order.changed');
  await world.until('both are published', async () => (await waiting(endpoint.id)) === 10);
  there.behaves(there.takes);
  for (const answer of answers) answer();
  await world.until('all has come', () => there.taken.length === 10);
  await world.until('all is recorded', async () => (await waiting(endpoint.id)) === 0);
  await world.db.asPartner(partner.id, (tx) =>
    replay(tx, { endpointId: endpoint.id, partnerId: partner.id, subject: subjects[8], now: world.clock.now() }),
  );
  await world.until('it has come again', () => there.taken.length === 11);
  await first.stop();
  assert.deepEqual(sequencesOf(there, subjects[0]), [1, 2]);
});

test('keys that a publisher leased and then never delivered are delivered by another once the lease has lapsed', async () => {
  const [there, partner] = [await receiver(), await world.partner()];
  await world.endpoint(partner, there.url);
  for (const event of [1, 2]) await world.happens(partner, `order:${partner.id}`, `order.changed.${event}`);
  const { count, leased } = await world.publishes({ lease: 'dies', leaseS: 1, room: 8 });
  assert.ok(count >= 2);
  assert.deepEqual(
    leased.map(({ orderingKey, item }) => [orderingKey.subject, orderingKey.lease, item?.subjectSeq]),
    [[`order:${partner.id}`, 'dies', 1]],
  );
  const dispatcher = await world.dispatcher();
  await world.until('both have come', () => there.taken.length === 2);
  await dispatcher.stop();
  assert.deepEqual(sequencesOf(there, `order:${partner.id}`), [1, 2]);
});
