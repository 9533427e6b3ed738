/** Endpoints as operators list them: which attempt was the last. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listEndpoints } from '../../src/events/index.ts';
import { openReceiver } from '../support/receiver.ts';
import { deliveryEnvironment } from './environment.ts';

const DAY_MS = 24 * 3_600_000;

let world: Awaited<ReturnType<typeof deliveryEnvironment>>;
before(async () => {
  world = await deliveryEnvironment();
});
let bad: Awaited<ReturnType<typeof openReceiver>>;
after(async () => {
  await world?.stop();
  await bad?.down();
});

test('an endpoint that is switched off shows the attempt that made it so, although a newer event was tried before', async () => {
  bad = await openReceiver();
  const partner = await world.partner();
  const { endpoint } = await world.endpoint(partner, bad.url);
  const [older, newer] = [`order:${partner.id}1`, `order:${partner.id}2`];
  bad.behaves((_, response) => response.writeHead(410).end());
  await world.dispatcher();
  for (const subject of [older, newer]) {
    await world.happens(partner, subject, 'order.changed');
    await world.until(`the attempt at ${subject} is recorded`, () =>
      world.read((tx) =>
        tx.row('select from webhook_ordering_keys where endpoint_id = $1 and subject = $2 and tries > 0', [
          endpoint.id,
          subject,
        ]),
      ),
    );
  }
  // On the fifth day only the older event is due.
  await world.read((tx) =>
    tx.run(`update webhook_ordering_keys set due_at = due_at + interval '30 days' where subject = $1`, [newer]),
  );
  world.clock.advance(5 * DAY_MS);
  const listed = async () => {
    const { endpoints } = await world.read((tx) => listEndpoints(tx, { partnerId: partner.id, limit: 1 }));
    return endpoints[0] ?? assert.fail('it is not listed');
  };
  await world.until('it is off', async () => !(await listed()).enabled);
  const { lastAttempt, switchedOffAt } = await listed();
  assert.deepEqual(lastAttempt, { at: switchedOffAt, status: 410 });
});
