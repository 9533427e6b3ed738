/** Delivery: whatever receivers do, each gets every event in the order of its subject, and none waits for another. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import {
  changeEndpoint,
  endpointById,
  freeEndpoints,
  holdEndpoints,
  replay,
  rotateSecret,
  testEndpoint,
} from '../../src/events/index.ts';
import { purgeLog } from '../../src/events/log.ts';
import { revokeKey, rotateKey } from '../../src/partners/index.ts';
import { hmac } from '../support/client.ts';
import { openReceiver, type Received, type Receiver } from '../support/receiver.ts';
import { deliveryEnvironment, type TestPartner } from './environment.ts';

let world: Awaited<ReturnType<typeof deliveryEnvironment>>;
const receivers: Receiver[] = [];
before(async () => {
  world = await deliveryEnvironment();
});
after(async () => await world?.stop());
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.down();
});

async function receiver(): Promise<Receiver> {
  const opened = await openReceiver();
  receivers.push(opened);
  return opened;
}

/** Subject → sequences, in the order of arrival. */
function bySubject(received: readonly Received[]): Record<string, number[]> {
  const found: Record<string, number[]> = {};
  for (const { body } of received) (found[body.subject] ??= []).push(body.sequence);
  return found;
}

const errorsOf = (endpointId: string) =>
  world.read((tx) =>
    tx.rows<{ error: string }>(
      'select distinct error from webhook_attempts where endpoint_id = $1 and error is not null',
      [endpointId],
    ),
  );
const waiting = async (endpointId: string): Promise<number> =>
  (
    await world.read((tx) =>
      tx.rows(`select from webhook_deliveries where endpoint_id = $1 and state = 'waiting'`, [endpointId]),
    )
  ).length;

/** Advances the time until an attempt at this endpoint is due. */
async function skipsAhead(endpointId: string): Promise<void> {
  const row = await world.read((tx) =>
    tx.row<{ due: Date | null }>(
      `select greatest(min(l.due_at), max(e.paused_until)) as due from webhook_endpoints e
         join webhook_ordering_keys l on l.endpoint_id = e.id where e.id = $1`,
      [endpointId],
    ),
  );
  const aheadMs = (row?.due?.getTime() ?? 0) - world.clock.now().getTime();
  if (aheadMs > 0) world.clock.advance(aheadMs);
}

/** This many events of this many orders, interleaved. */
async function happenings(partner: TestPartner, orders: number, events: number, name = 'order'): Promise<void> {
  for (let event = 1; event <= events; event += 1) {
    for (let order = 1; order <= orders; order += 1)
      await world.happens(partner, `${name}:${partner.id}${order}`, 'order.changed', { event });
  }
}
const all = (partner: TestPartner, orders: number, events: number) =>
  Object.fromEntries(
    Array.from({ length: orders }, (_, order) => [
      `order:${partner.id}${order + 1}`,
      Array.from({ length: events }, (_, event) => event + 1),
    ]),
  );

const HOUR_MS = 3_600_000;

test('a receiver that is down for a day, slow, redirecting, failing, late and rude gets every event in order; another waits for nothing', async () => {
  const [good, bad, other] = [await receiver(), await receiver(), await receiver()];
  const [mine, theirs] = [await world.partner(), await world.partner()];
  const first = await world.endpoint(mine, good.url);
  const second = await world.endpoint(mine, bad.url);
  await world.endpoint(theirs, other.url);
  await bad.down();
  const dispatcher = await world.dispatcher({ deadlineMs: 1_000 });

  let told = 0;
  /** One more event of each order: the other receivers have it while the third misbehaves. */
  const goesOn = async () => {
    told += 1;
    await happenings(mine, 3, 1);
    await happenings(theirs, 2, 1);
    await world.until(
      'both others have heard all',
      () => good.taken.length >= 3 * told && other.taken.length >= 2 * told,
    );
    assert.deepEqual(
      bySubject(good.taken),
      all(mine, 3, told),
      'a message was repeated, out of order, or sent to the redirect’s target',
    );
    assert.deepEqual(bySubject(other.taken), all(theirs, 2, told));
  };
  const triedUntil = (what: string, isSo: () => boolean | Promise<boolean>) =>
    world.until(what, async () => {
      await skipsAhead(second.endpoint.id);
      return await isSo();
    });
  const fails = async (word: string) => {
    await triedUntil(`the log says ${word}`, async () =>
      (await errorsOf(second.endpoint.id)).some(({ error }) => error === word),
    );
    await goesOn();
    assert.equal(bad.taken.length, 0);
  };
  await goesOn();
  await fails('connection_refused');
  for (let hour = 0; hour < 24; hour += 1) {
    world.clock.advance(HOUR_MS);
    if (hour === 12) await goesOn();
  }
  assert.equal(bad.seen.length, 0, 'the third endpoint received an event');

  await bad.up();
  bad.behaves((_, response) => response.writeHead(500).end('no'));
  await fails('status');
  bad.behaves((_, response) => response.writeHead(302, { location: good.url }).end());
  await fails('redirect');
  bad.behaves(() => {});
  await fails('timeout');
  bad.behaves((_, response) => response.socket?.destroy());
  await fails('connection_closed');
  bad.behaves((_, response) => response.socket?.end('not http\r\n\r\n'));
  await fails('not_http');
  bad.behaves((_, response) => response.socket?.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(70_000)}\r\n\r\n`));
  await fails('answer_too_large');

  // It accepts the event and answers after the deadline: that does not count.
  const late: Received[] = [];
  bad.behaves((received, response) =>
    response.once('close', () => {
      late.push(received);
      bad.takes(received, response, response.req);
    }),
  );
  await triedUntil('it has answered too late', () => late.length > 0);
  await goesOn();

  // A head with a 2xx status in time is enough, whatever happens to the body.
  let calls = 0;
  bad.behaves((received, response) => {
    bad.taken.push(received);
    calls += 1;
    const kind = calls % 4;
    if (kind === 0) response.writeHead(202).end();
    else if (kind === 1) setTimeout(() => response.writeHead(204).end(), 200);
    else {
      response.writeHead(200, { 'content-length': String(2 ** 30) }).write('x'.repeat(kind === 2 ? 200_000 : 10));
      if (kind === 3) response.socket?.end();
    }
  });
  await triedUntil('it has heard all', async () => (await waiting(second.endpoint.id)) === 0);
  const inTime = bad.taken.slice(late.length);
  assert.deepEqual(bySubject(inTime), all(mine, 3, told), 'an event was repeated or out of order');
  const [early] = late;
  const again = inTime.find(({ headers }) => headers['webhook-id'] === early?.headers['webhook-id']);
  assert.equal(again?.text, early?.text, 'the event answered too late was not repeated unchanged');
  await world.until('no connection is left', () => bad.connections() === 0);

  const verifier = new Webhook(second.secret);
  for (const { text, headers } of bad.taken) verifier.verify(text, headers);
  assert.throws(() => new Webhook(first.secret).verify(bad.taken[0]?.text ?? '', bad.taken[0]?.headers ?? {}));
  const ids = (received: Received[]) => received.map(({ headers }) => headers['webhook-id']).sort();
  assert.deepEqual(ids(inTime), ids(good.taken), 'the event has different ids');
  assert.deepEqual(world.dead, []);
  await dispatcher.stop();
});

test('dozens of slow and dead endpoints delay no other endpoint', async () => {
  const [slow, quick] = [await receiver(), await receiver()];
  slow.behaves(() => {});
  const [many, one] = [await world.partner(), await world.partner()];
  for (let at = 0; at < 12; at += 1) await world.endpoint(many, slow.url);
  await world.endpoint(one, quick.url);
  const dispatcher = await world.dispatcher({ deadlineMs: 2_000 });
  await happenings(many, 6, 1);
  await world.until('all that may hang hang', () => slow.seen.length >= 12 * 6);
  const before = slow.seen.length;
  await happenings(one, 5, 5);
  await world.until('the quick one has heard all', () => quick.taken.length === 25);
  assert.equal(slow.seen.length, before, 'while the first attempts at the slow ones still hang');
  assert.deepEqual(bySubject(quick.taken), all(one, 5, 5));
  await dispatcher.stop();
  await world.read((tx) => tx.run('update webhook_endpoints set enabled = false where partner_id = $1', [many.id]));
});

test('two dispatchers at once deliver each event once and in order', async () => {
  const [there, partner] = [await receiver(), await world.partner()];
  const { endpoint } = await world.endpoint(partner, there.url);
  const dispatchers = [await world.dispatcher(), await world.dispatcher()];
  await happenings(partner, 6, 8);
  await world.until('all is recorded', async () => there.taken.length >= 48 && (await waiting(endpoint.id)) === 0);
  assert.deepEqual(bySubject(there.taken), all(partner, 6, 8));
  for (const dispatcher of dispatchers) await dispatcher.stop();
});

test('a dispatcher killed between answer and record sends the same event again under the same id', async () => {
  const [there, partner] = [await receiver(), await world.partner()];
  await world.endpoint(partner, there.url);
  await happenings(partner, 1, 2);
  const masterKey = createHash('sha256').update('a master key for tests').digest('hex');
  const aheadMs = world.clock.now().getTime() - Date.now();
  const orders = JSON.stringify({ serverUrl: world.serverUrl, masterKey, aheadMs });
  const child = spawn(process.execPath, [join(import.meta.dirname, 'dispatcher.process.ts'), orders], {
    stdio: 'ignore',
  });
  const [, signal] = await once(child, 'exit');
  assert.equal(signal, 'SIGKILL');
  assert.equal(there.taken.length, 1);
  const dispatcher = await world.dispatcher();
  await world.until('all has come', () => there.taken.length >= 3);
  await dispatcher.stop();
  assert.deepEqual(Object.values(bySubject(there.taken)), [[1, 1, 2]]);
  assert.equal(there.taken[0]?.headers['webhook-id'], there.taken[1]?.headers['webhook-id']);
  assert.equal(there.taken[0]?.text, there.taken[1]?.text);
});

test('after three days an event is given up with a case, and the next has its turn', async () => {
  const [there, partner] = [await receiver(), await world.partner()];
  const { endpoint } = await world.endpoint(partner, there.url);
  there.behaves((_, response) => response.writeHead(503).end());
  const dispatcher = await world.dispatcher();
  await happenings(partner, 1, 1);
  await world.until('it was tried', () => there.seen.length > 0);
  world.clock.advance(71 * HOUR_MS);
  const tried = there.seen.length;
  await world.until('it is tried again', () => there.seen.length > tried);
  assert.equal(await waiting(endpoint.id), 1);
  world.clock.advance(2 * HOUR_MS);
  await world.until('it is given up', async () => (await waiting(endpoint.id)) === 0);
  assert.deepEqual(world.dead.splice(0), [{ partnerId: partner.id, endpointId: endpoint.id, isOff: false }]);
  there.behaves(there.takes);
  await world.happens(partner, `order:${partner.id}1`, 'order.changed');
  await world.until('the next is delivered', async () => {
    await skipsAhead(endpoint.id);
    return there.taken.length === 1;
  });
  assert.deepEqual(bySubject(there.taken), { [`order:${partner.id}1`]: [2] });

  await world.db.asPartner(partner.id, (tx) =>
    replay(tx, {
      endpointId: endpoint.id,
      partnerId: partner.id,
      subject: `order:${partner.id}1`,
      now: world.clock.now(),
    }),
  );
  await world.until('all of it is replayed', () => there.taken.length === 3);
  assert.deepEqual(bySubject(there.taken), { [`order:${partner.id}1`]: [2, 1, 2] });
  assert.equal(there.taken[0]?.headers['webhook-id'], there.taken[2]?.headers['webhook-id']);
  await dispatcher.stop();
});

test('an endpoint that accepts nothing for five days is switched off, the others are notified, and once switched on it gets the waiting events', async () => {
  const [bad, good, partner] = [await receiver(), await receiver(), await world.partner()];
  const { endpoint } = await world.endpoint(partner, bad.url, { filter: ['order.*'] });
  await world.endpoint(partner, good.url);
  const shown = () => world.db.asPartner(partner.id, (tx) => endpointById(tx, endpoint.id));
  bad.behaves((_, response) => response.writeHead(410).end());
  const dispatcher = await world.dispatcher();
  // An event each day, and each has its three days: the one of the second day is given up on the fifth.
  const tried = async (order: number) => {
    const before = bad.seen.length;
    const subject = `order:${partner.id}${order}`;
    await world.happens(partner, subject, 'order.changed');
    // An older event may be tried first; this one has to wait for the endpoint before it is switched off.
    const isPublished = () =>
      world.read((tx) =>
        tx.row('select from webhook_deliveries where endpoint_id = $1 and subject = $2', [endpoint.id, subject]),
      );
    await world.until('it waits, and the endpoint is tried', async () => {
      await skipsAhead(endpoint.id);
      return bad.seen.length > before && (await isPublished()) !== undefined;
    });
  };
  for (let day = 0; day < 4; day += 1) {
    await tried(day);
    assert.equal((await shown()).enabled, true, `on day ${day}`);
    world.clock.advance(24 * HOUR_MS);
  }
  world.clock.advance(24 * HOUR_MS);
  // An attempt that was under way when the day passed ends in a pause of the new day.
  await world.until('it is off', async () => {
    if (!(await shown()).enabled) return true;
    await skipsAhead(endpoint.id);
    return false;
  });
  const off = await shown();
  assert.ok(off.switchedOffAt !== null && off.failingSince !== null);
  assert.ok(off.switchedOffAt.getTime() - off.failingSince.getTime() >= 5 * 24 * HOUR_MS);
  // Another event may be given up at the same moment, before or after the one that switches it off.
  const switchedOff = world.dead.splice(0).filter(({ isOff }) => isOff);
  assert.deepEqual(switchedOff, [{ partnerId: partner.id, endpointId: endpoint.id, isOff: true }]);
  const news = () => good.taken.filter(({ body }) => body.type === 'webhook.switched_off');
  await world.until('the other has heard of it', () => news().length === 1);
  assert.equal(news()[0]?.body.subject, `webhook:${endpoint.id}`);
  assert.ok(news()[0]?.text.includes(`"endpointId":"${endpoint.id}"`), news()[0]?.text);

  // While it is off no event is sent to it and no new one waits for it.
  const [seen, left] = [bad.seen.length, await waiting(endpoint.id)];
  assert.ok(left > 0, 'a waiting event was dropped');
  await world.happens(partner, `order:${partner.id}9`, 'order.changed');
  await world.until('the other has it', () => good.taken.some(({ body }) => body.subject === `order:${partner.id}9`));
  assert.deepEqual([bad.seen.length, await waiting(endpoint.id)], [seen, left]);

  bad.behaves(bad.takes);
  await world.db.asPartner(partner.id, (tx) =>
    changeEndpoint(tx, endpoint.id, { enabled: true, now: world.clock.now() }),
  );
  await world.until('what waited has come', async () => (await waiting(endpoint.id)) === 0);
  assert.equal(bad.taken.length, left);
  const on = await shown();
  assert.deepEqual([on.enabled, on.failures, on.failingSince, on.switchedOffAt], [true, 0, null, null]);
  await dispatcher.stop();
});

test('while a secret is rotated both are valid, and afterwards the new one alone', async () => {
  const [there, partner] = [await receiver(), await world.partner()];
  const { endpoint, secret: old } = await world.endpoint(partner, there.url);
  const { secret } = await world.db.asPartner(partner.id, (tx) =>
    rotateSecret(tx, world.vault, { id: endpoint.id, now: world.clock.now() }),
  );
  const dispatcher = await world.dispatcher();
  await happenings(partner, 1, 1);
  await world.until('one has come', () => there.taken.length === 1);
  world.clock.advance(25 * HOUR_MS);
  await happenings(partner, 1, 1);
  await world.until('another has come', () => there.taken.length === 2);
  await dispatcher.stop();
  const [during, later] = there.taken;
  assert.ok(during && later);
  for (const one of [old, secret]) new Webhook(one).verify(during.text, during.headers);
  new Webhook(secret).verify(later.text, later.headers);
  assert.throws(() => new Webhook(old).verify(later.text, later.headers));
});

test('while a key is rotated, attempts alternate between its two secrets; a revoked key signs nothing more', async () => {
  const [there, partner] = [await receiver(), await world.partner()];
  const { endpoint } = await world.endpoint(partner, there.url, { format: 'whitelabel' });
  const { apiSecret: next } = await world.read((tx) =>
    rotateKey(tx, world.vault, { key: partner.apiKey, now: world.clock.now() }),
  );
  const knows = (secret: string) =>
    there.behaves((received, response, request) => {
      const { 'x-onramp-payload': payload = '', 'x-onramp-signature': signature } = received.headers;
      if (hmac(payload, secret) === signature) there.takes(received, response, request);
      else response.writeHead(403).end('Invalid signature');
    });
  const dispatcher = await world.dispatcher();
  const body = { orderId: '17', direction: 'offramp', state: 'settled' };
  for (const [at, secret] of [partner.apiSecret, next].entries()) {
    knows(secret);
    await world.happens(partner, `order:${partner.id}${at}`, 'order.settled', body);
    await world.until('it is accepted', async () => {
      await skipsAhead(endpoint.id);
      return there.taken.length === at + 1;
    });
  }
  await world.read((tx) => revokeKey(tx, partner.apiKey, world.clock.now()));
  await world.happens(partner, `order:${partner.id}9`, 'order.settled', body);
  await world.until('it is noted that there is no key', async () =>
    (await errorsOf(endpoint.id)).some(({ error }) => error === 'no_key'),
  );
  await dispatcher.stop();
  assert.equal(there.taken.length, 2);
});

test('an endpoint receives events of its filter, its own tests, and none of another partner', async () => {
  const [one, other, theirs] = [await receiver(), await receiver(), await receiver()];
  const [mine, stranger] = [await world.partner(), await world.partner()];
  const settled = await world.endpoint(mine, one.url, { filter: ['order.settled', 'customer.*'] });
  await world.endpoint(mine, other.url);
  await world.endpoint(stranger, theirs.url);
  for (const type of ['order.created', 'order.settled', 'customer.login', 'orderly.settled', 'order.settled_not'])
    await world.happens(mine, `thing:${mine.id}`, type);
  await world.db.asPartner(mine.id, (tx) => testEndpoint(tx, settled.endpoint, world.clock.now()));
  await world.happens(stranger, `thing:${stranger.id}`, 'order.settled');
  const dispatcher = await world.dispatcher();
  await world.until(
    'all have heard theirs',
    () => one.taken.length >= 3 && other.taken.length >= 5 && theirs.taken.length >= 1,
  );
  await dispatcher.stop();
  const types = (receiver: Receiver) => receiver.taken.map(({ body }) => body.type).sort();
  assert.deepEqual(types(one), ['customer.login', 'order.settled', 'webhook.test']);
  assert.equal(other.taken.length, 5);
  assert.deepEqual(
    theirs.taken.map(({ body }) => body.subject),
    [`thing:${stranger.id}`],
  );
  await assert.rejects(
    world.db.asPartner(stranger.id, (tx) => endpointById(tx, settled.endpoint.id)),
    { code: 'unknown_endpoint' },
  );
  await assert.rejects(
    world.db.asPartner(stranger.id, (tx) =>
      changeEndpoint(tx, settled.endpoint.id, { enabled: false, now: new Date() }),
    ),
    { code: 'unknown_endpoint' },
  );
});

test('waiting events of a disabled endpoint are sent when it is enabled, and a new address is tried at once', async () => {
  const [there, partner] = [await receiver(), await world.partner()];
  const { endpoint } = await world.endpoint(partner, 'http://localhost:9/nobody');
  const change = (to: object) =>
    world.db.asPartner(partner.id, (tx) => changeEndpoint(tx, endpoint.id, { ...to, now: world.clock.now() }));
  const dispatcher = await world.dispatcher();
  await happenings(partner, 1, 1);
  await world.until('it failed', async () => (await errorsOf(endpoint.id)).length > 0);
  await change({ enabled: false });
  await change({ url: there.url, enabled: true });
  await world.until('it has come, without a pause', () => there.taken.length === 1);
  await dispatcher.stop();
});

test('a held endpoint receives nothing meanwhile, loses nothing, and then receives everything in order', async () => {
  const [partner, hook, other] = [await world.partner(), await receiver(), await receiver()];
  const { id: partnerId } = partner;
  const [{ endpoint }, { endpoint: beside }] = [
    await world.endpoint(partner, hook.url),
    await world.endpoint(partner, other.url),
  ];
  const dispatcher = await world.dispatcher();
  await happenings(partner, 3, 1);
  await world.until('the first have come', async () => hook.taken.length === 3 && other.taken.length === 3);
  // It was switched off before, and it is unknown whether the partner did that.
  await world.read((tx) => changeEndpoint(tx, endpoint.id, { enabled: false, now: world.clock.now() }));
  await world.read((tx) => holdEndpoints(tx, { partnerId, ids: [endpoint.id], now: world.clock.now() }));
  await happenings(partner, 3, 4);
  await world.until('the other has heard all', async () => other.taken.length === 15);
  assert.equal(await waiting(endpoint.id), 12);
  world.clock.advance(40 * 86_400_000);
  await world.read((tx) => purgeLog(tx, world.clock.now()));
  await happenings(partner, 3, 1);
  await world.until('the other goes on', async () => other.taken.length === 18);
  assert.deepEqual([await waiting(endpoint.id), hook.seen.length, beside.heldAt], [15, 3, null]);
  await world.read(async (tx) => {
    await freeEndpoints(tx, { partnerId, ids: [endpoint.id], now: world.clock.now() });
    await changeEndpoint(tx, endpoint.id, { enabled: true, now: world.clock.now() });
  });
  await world.until('all of it has come', async () => hook.taken.length === 18);
  assert.deepEqual(bySubject(hook.taken), all(partner, 3, 6));
  assert.deepEqual(
    world.dead.filter((one) => one.partnerId === partnerId),
    [],
  );
  await dispatcher.stop();
});

test('a delivery that fails while its endpoint is being held is not given up', async () => {
  const [partner, hook] = [await world.partner(), await receiver()];
  const { id: partnerId } = partner;
  const { endpoint } = await world.endpoint(partner, hook.url);
  const answers: (() => void)[] = [];
  hook.behaves((_received, response) => void answers.push(() => response.writeHead(500).end()));
  const dispatcher = await world.dispatcher();
  await world.happens(partner, `order:${partnerId}1`, 'order.changed');
  await world.until('an attempt is under way', async () => answers.length === 1);
  await world.read((tx) => holdEndpoints(tx, { partnerId, ids: [endpoint.id], now: world.clock.now() }));
  world.clock.advance(10 * 86_400_000);
  answers[0]?.();
  await world.until('its failure is recorded', async () => (await errorsOf(endpoint.id)).length === 1);
  assert.deepEqual(await waiting(endpoint.id), 1);
  hook.behaves(hook.takes);
  await world.read((tx) => freeEndpoints(tx, { partnerId, ids: [endpoint.id], now: world.clock.now() }));
  await world.until('it has come', async () => hook.taken.length === 1);
  assert.deepEqual(
    world.dead.filter((one) => one.partnerId === partnerId),
    [],
  );
  await dispatcher.stop();
});
