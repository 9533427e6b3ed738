/** Channels of alerts and senders of login codes: what is listed, and the test of each, to the message that arrives. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { alertHandlers, type Channel } from '../../../src/alerts/index.ts';
import { Unavailable } from '../../../src/base/errors.ts';
import { readConfig } from '../../../src/config.ts';
import { messengers } from '../../../src/registry.ts';
import { findInDump } from '../../support/dump.ts';
import { operatorApi, silentBank } from '../../support/operatorapi.ts';
import { type Environment, wireEnvironment } from '../whitelabel/environment.ts';
import { operatorNamed, type Person } from './people.ts';

const PHONE = '+919812345678';
const SECRET = 'https://hooks.slack.example/secret-of-slack';

let world: Environment;
let ada: Person;
let vic: Person;
const sent: string[] = [];
const codes: [string, string][] = [];
let isDown = false;

const channels = new Map<string, Channel>([
  [
    'slack',
    {
      code: 'slack',
      async send({ title, lines }) {
        if (isDown) throw new Unavailable('slack', 'it answered 503');
        sent.push([title, ...lines].join('\n'));
      },
    },
  ],
]);

before(async () => {
  const config = readConfig({ ALERT_CHANNELS: 'slack', ALERT_SLACK_URL: SECRET });
  world = await wireEnvironment({
    production: true,
    beside: (fixture) =>
      operatorApi(fixture, {
        ...{ rails: silentBank, alertChannels: ['slack'], messengers: messengers(config) },
        async sendCode(phone, code) {
          if (isDown) throw new Unavailable('code sender', 'it answered 500');
          codes.push([phone, code]);
        },
      }),
  });
  ada = await operatorNamed(world, 'ada', 'admin');
  vic = await operatorNamed(world, 'vic', 'viewer');
});
after(async () => await world?.stop());
beforeEach(() => {
  isDown = false;
  sent.length = 0;
  codes.length = 0;
});

interface Shown {
  what: string;
  code: string;
  isUsed: boolean;
  rules: number;
  settings: { name: string; isSet: boolean; isDemanded: boolean }[];
  newest: { state: string; attempts: number; lastError: string | null } | null;
}
const listed = async (): Promise<Shown[]> => (await vic.reads('/channels')).body.channels;
const slack = async () => (await listed()).find(({ code }) => code === 'slack');
/** Sends what waits, as a worker does. */
async function delivered(message: unknown): Promise<void> {
  const { db, clock } = world;
  const log = { warn: () => {} } as unknown as Parameters<typeof alertHandlers>[0]['log'];
  const handlers = alertHandlers({ db, clock, log, channels, publicUrl: undefined });
  const send = Object.entries(handlers).find(([kind]) => kind.includes('send'))?.[1];
  assert.ok(send, 'alerts have no job that sends');
  await send(String(message));
}

describe('the channels', () => {
  test('are listed with what they lack, and no value of a setting', async () => {
    const all = await listed();
    assert.deepEqual(
      all.map(({ what, code, isUsed }) => [what, code, isUsed]),
      [
        ...[
          ['alerts', 'email', false],
          ['alerts', 'slack', true],
          ['alerts', 'pagerduty', false],
        ],
        ...[
          ['alerts', 'webhook', false],
          ['codes', 'known', true],
          ['codes', 'webhook', false],
        ],
      ],
    );
    assert.deepEqual(
      (await slack())?.settings.map(({ name, isSet, isDemanded }) => [name, isSet, isDemanded]),
      [['ALERT_SLACK_URL', true, true]],
    );
    assert.doesNotMatch(JSON.stringify(all), /secret-of-slack/);
  });

  test('count the rules that use them', async () => {
    assert.equal((await slack())?.rules, 0);
    const rule = { name: 'night', channel: 'slack', about: 'opened' };
    assert.equal((await ada.does('/alerts', rule)).status, 200);
    assert.equal((await slack())?.rules, 1);
    assert.equal((await ada.does('/alerts/remove', { name: 'night' })).status, 200);
  });

  test('are tested without a rule, and show whether the message arrived', async () => {
    const { body, status } = await ada.does('/channels/test', { channel: 'slack' });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([(await slack())?.newest?.state, sent.length], ['waiting', 0]);
    await delivered(body.message);
    assert.match(sent.join(), /a test of this channel\nChannel slack: nothing has happened/);
    assert.equal((await slack())?.newest?.state, 'sent');
    const [message] = (await ada.reads('/alerts/messages')).body.messages;
    assert.deepEqual([message.id, message.rule, message.channel, message.state], [body.message, null, 'slack', 'sent']);
  });

  test('that do not accept a message say why', async () => {
    isDown = true;
    const { body } = await ada.does('/channels/test', { channel: 'slack' });
    await delivered(body.message);
    const { newest } = (await slack()) ?? {};
    assert.deepEqual([newest?.state, newest?.attempts], ['waiting', 1]);
    assert.match(String(newest?.lastError), /it answered 503/);
  });

  test('that are not used, or unknown, are refused, and so is somebody without the right', async () => {
    for (const channel of ['email', 'pigeon']) {
      const said = await ada.does('/channels/test', { channel });
      assert.deepEqual([said.status, /ALERT_CHANNELS names/.test(said.body.fields?.channel)], [400, true]);
    }
    assert.equal((await vic.does('/channels/test', { channel: 'slack' })).body.reason, 'role_missing');
    assert.equal((await vic.does('/code-sender/test', { phone: PHONE })).body.reason, 'role_missing');
    assert.deepEqual([sent, codes], [[], []]);
  });
});

describe('a test of the sender of login codes', () => {
  test('sends a code that opens nothing, and its phone is encrypted in the audit', async () => {
    assert.equal((await ada.does('/code-sender/test', { phone: PHONE })).status, 200);
    assert.deepEqual(codes, [[PHONE, '000000']]);
    const rows = (await ada.reads('/audit?action=code-sender.test')).body.audit;
    assert.deepEqual(
      rows.map(({ operator, outcome }: Record<string, string>) => [operator, outcome]),
      [
        ['ada', 'done'],
        ['ada', 'begun'],
      ],
    );
    assert.deepEqual(await findInDump(world.adminUrl, [PHONE]), []);
  });

  test('says why the service did not accept it', async () => {
    isDown = true;
    const said = await ada.does('/code-sender/test', { phone: PHONE });
    assert.deepEqual([said.status, said.body.reason], [502, 'code_not_sent']);
    assert.match(said.body.error, /it answered 500/);
    assert.equal((await ada.does('/code-sender/test', { phone: '98123' })).status, 400);
  });
});
