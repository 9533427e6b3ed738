/** Incidents with a partner's keys and endpoints: a leaked key, an endpoint that failed for days; played and shown on pages. */
import assert from 'node:assert/strict';
import { createKey } from '../../src/partners/index.ts';
import { openClient } from '../support/client.ts';
import { openReceiver } from '../support/receiver.ts';
import { pagesOf } from '../support/transcript.ts';

const DAY_MS = 24 * 3_600_000;

const plays = pagesOf({ finn: 'finance', ada: 'admin', bea: 'admin' });

plays('leaked-key', 'A leaked key: contain it, and say what it did since Tuesday', async (scene) => {
  const { world, names, says, types, calls } = scene;
  const { vault, clock, server } = world;
  const partner = await world.read((tx) =>
    tx.row<{ id: bigint }>('select partner_id as id from api_keys where key = $1', [world.partner.apiKey]),
  );
  assert(partner);
  names.partner = String(partner.id);
  const made = await world.read((tx) =>
    createKey(tx, vault, {
      partnerId: partner.id,
      label: 'shop',
      scopes: ['read', 'trade', 'customers', 'admin'],
      now: clock.now(),
    }),
  );
  const thief = openClient(server.baseUrl, made);
  names.key = made.apiKey;
  const customer = await world.verifiedCustomer();
  names.customer = customer.id;
  const sale = await world.sells('100', 'usdc', { customer, reference: 'screen:hold' });
  scene.named(sale);
  await world.pays(sale, '100');
  await world.mines(3);
  await scene.isIn(sale, 'on_hold');
  clock.advance(DAY_MS / 2);
  names.tuesday = clock.now().toISOString();
  says(`The key of a partner's shop has been in a public repository since Tuesday. A thief who found it adds an account of their own to a
customer, and names an address for the refund of an older order.`);
  const account = { customerId: '<customer>', fiatAccount: '000199998888', ifsc: 'HDFC0000001' };
  names.account = (await calls(thief, 'POST', 'bank/addFiatAccount', account)).fiatAccountId;
  names.address = world.newAddress();
  const named = { transactionId: '<order>', customerId: '<customer>', address: '<address>' };
  await calls(thief, 'PUT', 'offramp/refundDestination', named);
  const stranger = await openReceiver();
  await calls(thief, 'POST', '/v1/webhooks', { url: stranger.url });
  await stranger.down();
  clock.advance(3 * DAY_MS);
  says(`On Friday the partner calls. One operator contains the leak, at any hour. The command suspends the partner, and holds the key and
everything that it made since Tuesday.`);
  await types(
    `npm run operator -- partner suspend <partner> --since <tuesday> --key <key> --reason 'the key stood in a public repository'`,
  );
  await world.until('every server knows', async () => (await thief.get('/v1/webhooks')).status === 401);
  says('From now on the server refuses the key.');
  await calls(thief, 'GET', '/v1/webhooks', {}, 401);
  await types(`OPERATOR_TOKEN_FILE=ada.token npm run operator -- key revoke <key> --reason 'leaked'`);
  says(
    `What has the key done since Tuesday? \`activity\` lists every change that it made, newest first, for the partner to read.`,
  );
  await types('npm run operator -- activity <partner> --key <key> --since <tuesday>');
  const held = await types('npm run operator -- held <partner>');
  const items = [...held.matchAll(/^(\d+) +(\w+)/gm)];
  const item = (kind: string) => items.find(([, , of]) => of === kind)?.[1] ?? assert.fail(`no ${kind} is held`);
  names.items = ['account', 'destination', 'endpoint'].map(item).join(',');
  names.item = item('key');
  says(`The partner finds the leak, and says that none of these items are its own. Ada rejects all of them permanently, the key last. Then nothing
is held any more, and the case closes.`);
  await types(
    `OPERATOR_TOKEN_FILE=ada.token npm run operator -- held reject <partner> <items> --reason 'the partner knows none of them'`,
  );
  await types(`OPERATOR_TOKEN_FILE=ada.token npm run operator -- held reject <partner> <item> --reason 'revoked'`);
  says('The partner gets a new key. Its secret is shown once, to the operator who requests it.');
  await scene.does(
    `OPERATOR_TOKEN_FILE=ada.token npm run operator -- key create <partner> 'shop, new' read,trade,customers --reason 'in place of the one that leaked'`,
    'the hole is closed',
  );
  await scene.does(
    `OPERATOR_TOKEN_FILE=ada.token npm run operator -- partner resume <partner> --reason 'new keys, the hole is closed'`,
    'seen it',
  );
  await world.until('the partner is let in', async () => (await world.partner.get('/v1/webhooks')).status === 200);
  says(`Screening has held the older order all this time. Finn refunds it to an address that the partner asks its customer for by another channel.
The address that the thief named receives nothing.`);
  names.right = world.newAddress();
  await types(`npm run operator -- order refund <order> other --address <address> --reason 'as named'`, 1);
  await scene.does(
    `npm run operator -- order refund <order> other --address <right> --reason 'asked the customer by phone'`,
    'heard of it',
  );
  await world.refundArrives(sale, -2);
  await types('npm run operator -- order <order> --brief');
});

plays('endpoint-down-for-days', 'An endpoint that took nothing for days, and the events to replay', async (scene) => {
  const { world, names, says, types, asks, calls } = scene;
  const receiver = await openReceiver();
  names.from = world.clock.now().toISOString();
  says("A partner's endpoint accepts events until its certificate expires.");
  names.endpoint = (await asks('/v1/webhooks', { url: receiver.url })).id;
  await receiver.down();
  const first = await world.sells('100', 'usdc');
  scene.named(first);
  await world.pays(first, '100');
  await world.mines(3);
  await world.reaches(first, 6);
  const failed = (minimum: number) =>
    world.until('it was tried', async () =>
      world.read(async (tx) => {
        const row = await tx.row<{ failures: number }>('select failures from webhook_endpoints where id = $1', [
          names.endpoint,
        ]);
        return (row?.failures ?? 0) >= minimum;
      }),
    );
  await failed(1);
  says(
    'Meanwhile orders continue and settle. After three days the server gives up on the first event and opens a case.',
  );
  world.clock.advance(3 * DAY_MS);
  await scene.caseOpens('webhook_undelivered');
  await types('npm run operator -- cases');
  const second = await world.sells('50', 'usdc');
  await world.pays(second, '50');
  await world.mines(3);
  await world.reaches(second, 6);
  // An attempt under way would end in another day than it began in.
  await world.until('the endpoint pauses', async () => {
    const row = await world.read((tx) =>
      tx.row<{ pausedUntil: Date | null }>('select paused_until from webhook_endpoints where id = $1', [
        names.endpoint,
      ]),
    );
    return (row?.pausedUntil?.getTime() ?? 0) > world.clock.now().getTime();
  });
  says(
    'Two days later the endpoint has accepted nothing for five days. The server switches it off and sends nothing more there.',
  );
  world.clock.advance(3 * DAY_MS);
  await scene.caseOpens('webhook_off', 'off');
  await types('npm run operator -- case <off>');
  await types('npm run operator -- endpoint list --enabled false');
  says(
    'No money waits for this: both orders are settled. The partner renews its certificate, switches the endpoint on, and replays the days.',
  );
  await receiver.up();
  await scene.puts('/v1/webhooks/<endpoint>', { enabled: 'true' });
  await asks('/v1/webhooks/<endpoint>/replay', { from: '<from>' });
  await world.until('every event of both orders has come', async () => {
    for (const order of [first, second]) {
      const came = new Set(
        receiver.taken.filter(({ body }) => body.subject === `order:${order.id}`).map(({ body }) => body.sequence),
      );
      if (came.size < (await world.eventsOf(order)).length) return false;
    }
    return true;
  });
  says(
    'The endpoint has received every event, in order. To check this, the partner can pull the same events from the feed.',
  );
  await calls(world.partner, 'GET', '/v1/webhooks/<endpoint>', {});
  await types(`npm run operator -- case close <case> 'replayed by the partner' --reason 'the partner has all events'`);
  await types(`npm run operator -- case close <off> 'replayed by the partner' --reason 'the partner has all events'`);
  await receiver.down();
});
